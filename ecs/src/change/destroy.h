/* SPDX-License-Identifier: MIT */
/* destroy.h: death of rows.
 *
 * Residues and linked groups are for the functions on entities (destroy.c). Owner, world idle. */
#ifndef WEFT_DESTROY_H
#define WEFT_DESTROY_H

#include "world_state.h"

/* Rows end for good, cleanup components or not: ids, destructors, holes. Cannot fail. */
weft_result weft__rows_die(weft_world *world, weft__chunk *chunk, const uint32_t *rows,
                           uint32_t first, uint32_t count);

#endif
