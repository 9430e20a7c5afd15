/* SPDX-License-Identifier: MIT */
/* world_file_read.h: a world out of bytes, and what reading a world as text needs, too.
 *
 * Owner of a new world. */
#pragma once

#include "world_file_write.h"

/* Fills a new world. Without the hash: for fuzzing, which must get past it. Error and report (may
 * be NULL) set; its text is that of the error. */
weft_result weft__world_read(weft_world *world, const void *bytes, size_t count,
                             const weft_load_desc *desc, bool with_hash, weft_load_report *report);

/* Residues of which all was left out (weft_save_desc.without) end. */
void weft__world_end_spent(weft_world *world);
/* Empties the world, which was new. */
void weft__world_wipe(weft_world *world);
/* WRONG_PHASE, with the error set, when an entity was ever created in the world. */
weft_result weft__world_check_new(weft_world *world, const char *what);
