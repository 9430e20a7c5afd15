/* SPDX-License-Identifier: MIT */
/* ghost_rows.h: the entities that are ghosts, made from packs that came.
 *
 * A ghost has ShardGhost (the gid), ShardSector, Inactive and the halo components of its row. The
 * ghosts of a sector that have the same components are the rows of the pack in its order; where
 * rows come and leave, entities are added and taken at the end and all values written again. So a
 * ghost's handle means nothing from one exchange to the next. */
#ifndef WEFT_GHOST_ROWS_H
#define WEFT_GHOST_ROWS_H

#include "shard_state.h"

/* Brings ghosts in line with packs that changed. Owner, structure may change. Errors: those of
 * creating and destroying entities. */
weft_result weft__ghost_rows_apply(weft_shard *shard);

#endif
