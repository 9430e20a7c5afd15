/* SPDX-License-Identifier: MIT */
/* stub.h: entities that stand for rows of other ranks and for dead ones, where references lead to.
 *
 * A row that leaves becomes its stub, so references to it stay as they are; a row that comes takes
 * the place of its stub. A row that dies here stays as a residue with its gid (ShardGid is CLEANUP
 * then): so a reference keeps its gid on every rank, whether the target was there or elsewhere.
 * Worlds without ENTITY fields have neither. */
#ifndef WEFT_STUB_H
#define WEFT_STUB_H

#include "shard_state.h"

/* Turns `count` rows into their stubs. Called again after an error it does the rest. */
weft_result weft__stubs_leave(weft_shard *shard, const weft_entity *entities, const uint64_t *gids,
                              uint32_t count);
/* Turns stubs into rows of an archetype, zeroed. */
weft_result weft__stubs_return(weft_shard *shard, const weft_entity *stubs, uint32_t count,
                               weft_archetype archetype);
/* The entity with the gid, of the table; a stub is made where there is none. Null: it failed. */
weft_entity weft__stub_reach(weft_shard *shard, uint64_t gid);
/* Ends stubs and residues that no ENTITY field leads to, where there are many more than after
 * the last time. Errors: OUT_OF_MEMORY. */
weft_result weft__stubs_sweep(weft_shard *shard);

#endif
