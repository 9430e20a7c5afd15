/* SPDX-License-Identifier: MIT */
/* rank_figures.h: figures of all ranks, for tools that look at the world of one: a hook of the
 * world, "shards", tells them (weft_world_hook_find). The inspector shows them as its window
 * Shards.
 *
 * Nothing is sent while nothing looks. A rank whose hook is asked says so in the agreement that
 * ends every sync anyway, so all ranks know in the same step, and add their figures up at its
 * end: one sum over all ranks, at most once in 250 ms. Results never depend on it. */
#ifndef WEFT_RANK_FIGURES_H
#define WEFT_RANK_FIGURES_H

#include "shard_state.h"

/* Adds the hook. Errors: OUT_OF_MEMORY, those of weft_world_hook_add. */
weft_result weft__figures_init(weft_shard *shard);
void weft__figures_free(weft_shard *shard);
/* Says in shard->figures_asked whether this rank wants figures now. */
void weft__figures_ask(weft_shard *shard);
/* Brings the figures of all ranks to all; collective. Errors: IO. */
weft_result weft__figures_gather(weft_shard *shard);

#endif
