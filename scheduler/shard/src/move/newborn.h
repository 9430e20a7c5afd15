/* SPDX-License-Identifier: MIT */
/* newborn.h: gids for rows that have none.
 *
 * The rank that has the sector in which a row begins gives the gid: sector << 40 | counter. New
 * rows of a sector get theirs in the order of hashes of their values, wherever they were
 * created: so a gid depends on neither ranks nor the places of rows. Rows with equal values are
 * alike, so it does not matter which of them gets which. */
#ifndef WEFT_NEWBORN_H
#define WEFT_NEWBORN_H

#include "mover_list.h"

/* Gives gids to the new ones of the list: in the world and in the list. Collective. `result`: what
 * this rank has met so far; all ranks return the worst of all. Errors: UNSUPPORTED, OUT_OF_MEMORY,
 * LIMIT, IO. */
weft_result weft__newborn_name(weft_shard *shard, weft__mover_list *list, weft_result result);

#endif
