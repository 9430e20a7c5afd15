/* SPDX-License-Identifier: MIT */
/* slots.h: hands out the numbers 0..capacity-1 (of jobs, of edges) to many threads.
 *
 * Every worker has a private last-in-first-out list; lists exchange batches through one shared
 * stack of batches, whose head carries a tag against ABA. Numbers never handed out before come from
 * a rising mark, so a big capacity costs no memory until it is used. The links are apart from the
 * objects.
 *
 *   take, give with a cache: the cache's worker      take_any, give_any: any thread
 *
 * Edges:
 *   S1  give_batch: links, CAS of head  -> take_batch: load of head (acquire), links
 *   S2  take_batch: CAS with a new tag -> another taker of the same head: its CAS fails
 * Lock-free; take and give of a worker are wait-free except when a batch moves. */
#pragma once

#include "atomic.h"
#include "invariant.h"

#define WEFT__SLOTS_NONE UINT32_MAX
#ifndef WEFT__SLOTS_BATCH
#define WEFT__SLOTS_BATCH 32u /* numbers moved at once; models use 1 or 2 */
#endif

/* Owner: one worker. Invariant: count numbers are linked from head; count <= 2 batches. */
typedef struct weft__slots_cache {
    uint32_t head;
    uint32_t count;
    weft_a32 *next; /* constant: that of the slots, one load nearer */
} weft__slots_cache;

/* Owner: the table that it is a part of. Invariants: x_mark <= capacity; each number in [0,
 * x_mark) is in use, in one cache, or in one batch of the shared stack. */
typedef struct weft__slots {
    /* constant after init */
    uint32_t capacity;
    weft_a32 *next;       /* [capacity] link inside a list or batch */
    weft_a32 *next_batch; /* [capacity] link between batches, at the first number of a batch */
    /* shared atomic */
    _Alignas(64) weft_a64 x_head; /* {tag:32 | first number of the top batch:32} */
    _Alignas(64) weft_a32 x_mark; /* numbers [x_mark, capacity) were never handed out */
} weft__slots;

/* `links` has 2 * `capacity` elements with any content, and outlives the slots. */
void weft__slots_init(weft__slots *slots, weft_a32 *links, uint32_t capacity);
void weft__slots_cache_init(weft__slots_cache *cache, const weft__slots *slots);

/* Refills an empty cache with up to a batch; false when nothing is left. */
bool weft__slots_refill(weft__slots *slots, weft__slots_cache *cache);
/* Moves one batch from a full cache to the shared stack. */
void weft__slots_spill(weft__slots *slots, weft__slots_cache *cache);
/* For threads without a cache. */
uint32_t weft__slots_take_any(weft__slots *slots);
void weft__slots_give_any(weft__slots *slots, uint32_t number);

/* A number that no other thread has, out of a cache that is not empty. */
static inline uint32_t weft__slots_take_cached(weft__slots_cache *cache)
{
    uint32_t number = cache->head;
    cache->head = at_load_rlx(&cache->next[number]); /* relaxed: ours, or acquired by S1 */
    cache->count--;
    return number;
}

/* A number that no other thread has, or WEFT__SLOTS_NONE. */
static inline uint32_t weft__slots_take(weft__slots *slots, weft__slots_cache *cache)
{
    if (cache->count == 0 && !weft__slots_refill(slots, cache)) return WEFT__SLOTS_NONE;
    return weft__slots_take_cached(cache);
}

/* Gives a number back; the caller must not touch its object afterwards. */
static inline void weft__slots_give(weft__slots *slots, weft__slots_cache *cache, uint32_t number)
{
    uint32_t count = ++cache->count; /* before the link: apart, or two words become one vector */
    at_store_rlx(&cache->next[number], cache->head); /* relaxed: published by S1 when it moves */
    cache->head = number;
    if (count >= 2 * WEFT__SLOTS_BATCH) weft__slots_spill(slots, cache);
}
