/* SPDX-License-Identifier: MIT */
/* tuple.h: the tuples of an archetype: one for each combination of shared values that rows have.
 *
 * A tuple lives while a chunk uses it or it is held. Threads: owner, world idle. */
#ifndef WEFT_TUPLE_H
#define WEFT_TUPLE_H

#include "archetype_state.h"

/* The tuple with these values (shared_count indices), made when it is new: a new tuple takes one
 * reference on each value. Held until weft__tuple_release. NULL: error set. */
weft__tuple *weft__tuple_obtain(weft_world *world, weft__archetype *archetype,
                                const uint32_t *values);
/* The tuple of `to` that a row of `from` goes to: values of shared types in both are kept, new ones
 * are default. Held. NULL: error set. */
weft__tuple *weft__tuple_follow(weft_world *world, const weft__tuple *from, weft__archetype *to);
/* The tuple of `to` for rows of `from`, with one shared value replaced. Held. NULL: error set. */
weft__tuple *weft__tuple_with_value(weft_world *world, const weft__tuple *from, weft__archetype *to,
                                    uint32_t component, uint32_t value);
/* Drops a hold; an unused tuple goes. */
void weft__tuple_release(weft_world *world, weft__tuple *tuple);

/* Bytes of a tuple, a multiple of 8. */
size_t weft__tuple_bytes(uint32_t shared_count);
/* Makes tuple0 of a new archetype in zeroed memory of its block. */
void weft__tuple_first(weft_world *world, weft__archetype *archetype, weft__tuple *tuple);
void weft__tuples_fini(weft_world *world, weft__archetype *archetype);

#endif
