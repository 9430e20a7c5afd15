/* SPDX-License-Identifier: MIT */
/* transfer_sparse.h: the rows of SPARSE components that entities of a transfer have: parts like
 * those of the entities, behind them, whose rows get no ids of their own. */
#ifndef WEFT_TRANSFER_SPARSE_H
#define WEFT_TRANSFER_SPARSE_H

#include "transfer_state.h"

/* Selects the rows of the entities that move (t->sources is noted). Errors: OUT_OF_MEMORY. */
weft_result weft__transfer_sparse_select(weft__transfer *t);
/* Room for the slots of the new ids, which are reserved. Errors: OUT_OF_MEMORY. */
weft_result weft__transfer_sparse_reserve(weft__transfer *t);
/* The rows of a part belong to the new ids; the slots of the old ones are empty. Sources are
 * marked. */
void weft__transfer_sparse_commit(weft__transfer *t, uint32_t part);
/* The rows of a part end in the source; nothing is destructed. */
void weft__transfer_sparse_end(const weft__transfer *t, const weft__change_part *part);

static inline bool weft__transfer_is_sparse(const weft__change_part *part)
{
    return (part->chunk->archetype->flags & WEFT__IS_SPARSE) != 0;
}

#endif
