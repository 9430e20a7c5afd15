/* SPDX-License-Identifier: MIT */
/* gid_table.h: the entity of this world that has a gid: a hash table with linear probing, made
 * again when it is asked after structure changed. */
#ifndef WEFT_GID_TABLE_H
#define WEFT_GID_TABLE_H

#include "shard_state.h"

/* Makes the table current. Errors: OUT_OF_MEMORY. Cost: O(entities) after structure changed. */
weft_result weft__gid_table_refresh(weft_shard *shard);
/* Of the table as it is; null: none. A row counts before a stub, a stub before a ghost. */
weft_entity weft__gid_table_find(const weft_shard *shard, uint64_t gid);
/* Adds an entity, or puts it in the place of the one that there is. False: memory is refused. */
bool weft__gid_table_put(weft_shard *shard, uint64_t gid, weft_entity entity);
void weft__gid_table_free(weft_shard *shard);

#endif
