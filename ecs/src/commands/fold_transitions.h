/* SPDX-License-Identifier: MIT */
/* fold_transitions.h: which archetype follows from which command, as far as folds asked. Owned by
 * the world's scratch: the owner adds between the parallel steps of a fold, workers only look. */
#ifndef WEFT_FOLD_TRANSITIONS_H
#define WEFT_FOLD_TRANSITIONS_H

#include "archetype_state.h"
#include "world_state.h"

/* In place of a component: from what is destroyed to its residue. */
#define WEFT__TRANSITION_DEATH UINT32_MAX

typedef struct weft__transitions weft__transitions;

static inline uint64_t weft__transition_key(const weft__archetype *from, uint32_t component,
                                            bool is_remove)
{
    return (uint64_t)from->id << 33 | (uint64_t)component << 1 | is_remove;
}

/* The table, with room for one more; NULL: out of memory, no error set. Owner. */
weft__transitions *weft__transitions_obtain(weft_world *world);
/* The table as it was obtained. Any thread. */
const weft__transitions *weft__transitions_known(weft_world *world);
/* The archetype of a transition, or NULL. Any thread. */
weft__archetype *weft__transition_find(const weft__transitions *table, uint64_t key);
/* Adds one, or replaces it. Owner. */
void weft__transition_put(weft__transitions *table, uint64_t key, weft__archetype *to);

#endif
