/* SPDX-License-Identifier: MIT */
/* world_file_rows.h: rows of a world file are read.
 *
 * Owner of the new world. */
#ifndef WEFT_WORLD_FILE_ROWS_H
#define WEFT_WORLD_FILE_ROWS_H

#include "world_file_read.h"

/* One buffer, constructed and empty. On failure it has the elements read so far. */
bool weft__world_reader_buffer(weft__world_reader *r, const weft__type *type, weft_buffer *buffer);
/* Archetypes with their chunks and rows, then indices that are dead. On failure what was made is
 * still there: weft__world_wipe. */
void weft__world_reader_rows(weft__world_reader *r);
/* Residues of which all was left out (weft_save_desc.without) end. */
void weft__world_end_spent(weft_world *world);
/* Empties the world, which was new. */
void weft__world_wipe(weft_world *world);
/* WRONG_PHASE, with the error set, when an entity was ever created in the world. */
weft_result weft__world_check_new(weft_world *world, const char *what);

#endif
