/* SPDX-License-Identifier: MIT */
/* slots.c: the slow side of slots.h: batches on the shared stack and the rising mark. Batches move
 * rarely (one in 32 operations of a worker), so one contended word is enough. The protocol is in
 * slots.h. */
#include "slots.h"

static uint64_t head_word(uint64_t old, uint32_t number)
{
    return ((old & ~(uint64_t)UINT32_MAX) + (UINT64_C(1) << 32)) | number; /* S2: a new tag */
}

void weft__slots_init(weft__slots *slots, weft_a32 *links, uint32_t capacity)
{
    *slots = (weft__slots){.capacity = capacity, .next = links, .next_batch = links + capacity};
    at_init(&slots->x_head, WEFT__SLOTS_NONE);
}

void weft__slots_cache_init(weft__slots_cache *cache, const weft__slots *slots)
{
    *cache = (weft__slots_cache){.head = WEFT__SLOTS_NONE, .next = slots->next};
}

/* The first number of a batch taken off the stack, or NONE. A batch is a list that ends in NONE. */
static uint32_t take_batch(weft__slots *slots)
{
    /* acquire is for the link below; a stale head fails the CAS, which acquires itself */
    uint64_t head = at_load_acq(&slots->x_head); /* S1 */
    for (;;) {
        uint32_t first = (uint32_t)head;
        if (first == WEFT__SLOTS_NONE) return WEFT__SLOTS_NONE;
        /* relaxed: stale when another thread took it meanwhile, and then the CAS fails (S2) */
        uint32_t below = at_load_rlx(&slots->next_batch[first]);
        if (at_cas_ar(&slots->x_head, &head, head_word(head, below))) return first; /* S1, S2 */
        at_stall();
    }
}

static void give_batch(weft__slots *slots, uint32_t first)
{
    uint64_t head = at_load_acq(&slots->x_head); /* S1: any order would do, the CAS decides */
    for (;;) {
        at_store_rlx(&slots->next_batch[first], (uint32_t)head); /* relaxed: published by S1 */
        if (at_cas_ar(&slots->x_head, &head, head_word(head, first))) return; /* S1 */
        at_stall();
    }
}

/* Up to `wanted` numbers never handed out before, as a list; their count in *count. */
static uint32_t take_fresh(weft__slots *slots, uint32_t wanted, uint32_t *count)
{
    uint32_t mark = at_load_rlx(&slots->x_mark); /* relaxed: numbers below carry no data yet */
    uint32_t taken;
    for (;;) {
        uint32_t left = slots->capacity - mark;
        taken = left < wanted ? left : wanted;
        if (taken == 0) return WEFT__SLOTS_NONE;
        /* any order would do: numbers above the mark carry no data */
        if (at_cas_ar(&slots->x_mark, &mark, mark + taken)) break; /* S2: each number once */
        at_stall();
    }
    for (uint32_t i = 0; i < taken; i++) {
        uint32_t following = i + 1 < taken ? mark + i + 1 : WEFT__SLOTS_NONE;
        at_store_rlx(&slots->next[mark + i], following); /* relaxed: ours alone until given */
    }
    *count = taken;
    return mark;
}

bool weft__slots_refill(weft__slots *slots, weft__slots_cache *cache)
{
    WEFT_ASSERT(cache->count == 0);
    cache->head = take_batch(slots);
    if (cache->head == WEFT__SLOTS_NONE) {
        cache->head = take_fresh(slots, WEFT__SLOTS_BATCH, &cache->count);
        return cache->head != WEFT__SLOTS_NONE;
    }
    /* relaxed: the list belongs to us since take_batch */
    for (uint32_t n = cache->head; n != WEFT__SLOTS_NONE; n = at_load_rlx(&slots->next[n]))
        cache->count++;
    return true;
}

void weft__slots_spill(weft__slots *slots, weft__slots_cache *cache)
{
    uint32_t first = cache->head, last = first;
    /* relaxed: the list is private until give_batch */
    for (uint32_t i = 1; i < WEFT__SLOTS_BATCH; i++) last = at_load_rlx(&slots->next[last]);
    cache->head = at_load_rlx(&slots->next[last]); /* relaxed: as above */
    cache->count -= WEFT__SLOTS_BATCH;
    at_store_rlx(&slots->next[last], WEFT__SLOTS_NONE); /* relaxed: published by S1 */
    give_batch(slots, first);
}

uint32_t weft__slots_take_any(weft__slots *slots)
{
    uint32_t count, first = take_batch(slots);
    if (first == WEFT__SLOTS_NONE) return take_fresh(slots, 1, &count);
    uint32_t rest = at_load_rlx(&slots->next[first]); /* relaxed: ours since take_batch */
    if (rest != WEFT__SLOTS_NONE) give_batch(slots, rest);
    return first;
}

void weft__slots_give_any(weft__slots *slots, uint32_t number)
{
    at_store_rlx(&slots->next[number], WEFT__SLOTS_NONE); /* relaxed: published by S1 */
    give_batch(slots, number);
}
