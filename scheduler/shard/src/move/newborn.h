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
 * this rank has met so far. Where a rank has an error, all ask nothing and return the same one. A
 * rank that cannot answer says so to those that asked, which have its error then: not yet all.
 * Errors: UNSUPPORTED, OUT_OF_MEMORY, LIMIT, IO. */
weft_result weft__newborn_name(weft_shard *shard, weft__mover_list *list, weft_result result);
/* The memory of namings, as long as the shard. False: it was refused. */
bool weft__naming_make(weft_shard *shard);
/* Gives back what grows with the rows that are new. */
void weft__naming_shrink(weft_shard *shard);
void weft__naming_free(weft_shard *shard);

#endif
