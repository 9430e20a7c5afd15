/* SPDX-License-Identifier: MIT */
/* deque.h: fixed-capacity Chase-Lev deque of jobs: of plain ones, which are a function and its
 * argument, and of slots of the others. One owner pushes and pops at the bottom, any thread steals
 * at the top.
 *
 * After Chase and Lev (SPAA 2005) and Le, Pop, Cohen and Zappa Nardelli (PPoPP 2013), without
 * resizing and without fences: the hand-shake of pop and steal is a sequentially consistent
 * exchange. Indices are 64 bits and only differences are compared, so they never wrap in practice
 * and "bottom - 1" below zero is harmless. A thief reads the two words of a place before its CAS,
 * and they count, and belong together, only if the CAS wins.
 *
 *   who         push_owner  pop_owner  steal_any  has_items_any
 *   owner       one at a time           yes        yes
 *   others      never       never       yes        yes
 *
 * Edges (-> makes visible, <-> sequentially consistent on both sides):
 *   D1  push: place stores, sc store of bottom -> steal: sc load of bottom, place loads
 *   D2  pop: sc store of bottom, load of top <-> steal: load of top, load of bottom
 *   D3  steal/pop: CAS of top                 -> push: acquire of top (the place may be reused)
 *   D4  push: sc store of bottom             <-> a sleeper's check for work (edge W1 of wake.h) */
#pragma once

#include "atomic.h"
#include "invariant.h"

#include <assert.h>
#include <stddef.h>

#define WEFT__DEQUE_NONE UINT32_MAX

/* What a steal attempt found; on STOLEN the item is in *item. */
typedef enum weft__steal {
    WEFT__STEAL_EMPTY,
    WEFT__STEAL_LOST, /* another thread took it: there may be more */
    WEFT__STEAL_GOT
} weft__steal;

/* What is pushed and taken. A value. fn 0: `argument` is the slot of a job, or DEQUE_NONE. */
typedef struct weft__deque_item {
    uint64_t fn;
    uint64_t argument;
} weft__deque_item;

/* Where an item lies. Written by the owner, read by thieves. */
typedef struct weft__deque_place {
    _Alignas(16) weft_a64 x_fn;
    weft_a64 x_argument;
} weft__deque_place;

/* Owner: one worker. Invariants: 0 <= bottom - top <= capacity at rest; places [top, bottom) hold
 * the items, each taken exactly once; capacity - plain_limit >= slots there are, so a push of a
 * slot always finds room. */
typedef struct weft__deque {
    /* shared atomic: thieves and the owner's pop of the last item */
    _Alignas(64) weft_a64 x_top;
    /* shared atomic: written by the owner only */
    _Alignas(64) weft_a64 x_bottom;
    /* owner only */
    uint64_t bottom;    /* == x_bottom outside pop, unless is_alone */
    uint64_t top_cache; /* <= x_top: saves reading the thieves' line */
    /* constant after init */
    weft__deque_place *places;
    uint64_t mask;
    uint64_t plain_limit; /* set after init: items among which a plain job may be pushed */
    bool is_alone;        /* set after init: no thief exists; x_bottom is not kept */
} weft__deque;

static_assert(offsetof(weft__deque, x_bottom) == 64, "thieves' line and owner's line are apart");

static inline weft__deque_item weft__deque_item_of_slot(uint32_t slot)
{
    return (weft__deque_item){0, slot};
}

static inline bool weft__deque_item_is_none(weft__deque_item item)
{
    return item.fn == 0 && item.argument == WEFT__DEQUE_NONE;
}

/* `places` has `capacity` elements (a power of two) and outlives the deque. */
static inline void weft__deque_init(weft__deque *deque, weft__deque_place *places,
                                    uint32_t capacity)
{
    at_init(&deque->x_top, 1);
    at_init(&deque->x_bottom, 1);
    deque->bottom = deque->top_cache = 1;
    deque->places = places;
    deque->mask = capacity - 1u;
    deque->plain_limit = 0;
    deque->is_alone = false;
}

/* Whether fewer than `limit` items are there: a push finds room. Wait-free. */
static inline bool weft__deque_has_room_owner(weft__deque *deque, uint64_t limit)
{
    if (__builtin_expect(deque->bottom - deque->top_cache < limit, 1)) return true;
    /* the order is needed against load buffering only, which the explorer does not model */
    deque->top_cache = at_load_acq(&deque->x_top); /* D3 */
    return deque->bottom - deque->top_cache < limit;
}

/* Pushes where has_room said yes. Wait-free. */
static inline void weft__deque_push_room_owner(weft__deque *deque, weft__deque_item item)
{
    uint64_t bottom = deque->bottom;
    WEFT_ASSERT(bottom - deque->top_cache <= deque->mask);
    weft__deque_place *place = &deque->places[bottom & deque->mask];
    at_store_rlx(&place->x_fn, item.fn);             /* relaxed: published by D1 */
    at_store_rlx(&place->x_argument, item.argument); /* relaxed: as above */
    deque->bottom = bottom + 1;
    if (deque->is_alone) return;               /* no thief reads x_bottom */
    at_store_sc(&deque->x_bottom, bottom + 1); /* D1, D4 */
}

/* False when full. Wait-free. */
static inline bool weft__deque_push_owner(weft__deque *deque, weft__deque_item item)
{
    if (!weft__deque_has_room_owner(deque, deque->mask + 1)) return false;
    weft__deque_push_room_owner(deque, item);
    return true;
}

/* The words of a place. Relaxed: the owner's own stores, or D1 made them visible. */
static inline weft__deque_item weft__deque_read(const weft__deque *deque, uint64_t index)
{
    const weft__deque_place *place = &deque->places[index & deque->mask];
    /* relaxed: as above */
    return (weft__deque_item){at_load_rlx(&place->x_fn), at_load_rlx(&place->x_argument)};
}

/* The youngest item, or none. Wait-free. */
static inline weft__deque_item weft__deque_pop_owner(weft__deque *deque)
{
    const weft__deque_item none = {0, WEFT__DEQUE_NONE};
    uint64_t last = deque->bottom - 1;
    /* relaxed: only a hint that avoids the exchange; top never goes back, so empty is final */
    if ((int64_t)(last - at_load_rlx(&deque->x_top)) < 0) return none;
    if (deque->is_alone) {
        deque->bottom = last;
        return weft__deque_read(deque, last);
    }
    at_store_sc(&deque->x_bottom, last);      /* D2 */
    uint64_t top = at_load_sc(&deque->x_top); /* D2 */
    int64_t left = (int64_t)(last - top);
    weft__deque_item item = weft__deque_read(deque, last);
    if (left > 0) {
        deque->bottom = last;
        return item;
    }
    /* any order would do: the sc store of bottom above carries D2, and D3 is read by the owner
     * itself; sc is what a locked operation is anyhow */
    if (left < 0 || !at_cas_sc(&deque->x_top, &top, last + 1)) item = none; /* D3 */
    /* the deque is empty now, so nothing is read through this store: relaxed would do, and a
     * release costs nothing more on x86-64 */
    at_store_rel(&deque->x_bottom, last + 1); /* D1 */
    return item;
}

/* Whether a pop would try: a hint, a thief may have the last item. */
static inline bool weft__deque_seems_filled_owner(const weft__deque *deque)
{
    /* relaxed: as in pop */
    return (int64_t)(deque->bottom - at_load_rlx(&deque->x_top)) > 0;
}

/* Whether a pop would try this slot first: a hint, a thief may have it. */
static inline bool weft__deque_is_youngest_owner(const weft__deque *deque, uint32_t slot)
{
    uint64_t last = deque->bottom - 1;
    /* relaxed: a hint, and the owner's own store */
    if ((int64_t)(last - at_load_rlx(&deque->x_top)) < 0) return false;
    weft__deque_item item = weft__deque_read(deque, last);
    return (item.fn | (item.argument ^ slot)) == 0;
}

/* Pops the item that is_youngest_owner has just confirmed; false when a thief has it. Wait-free. */
static inline bool weft__deque_pop_youngest_owner(weft__deque *deque)
{
    if (!deque->is_alone) return !weft__deque_item_is_none(weft__deque_pop_owner(deque));
    deque->bottom--;
    return true;
}

/* One attempt to take the oldest item. Wait-free. */
static inline weft__steal weft__deque_steal_any(weft__deque *deque, weft__deque_item *item)
{
    /* a stale top fails the CAS, so acquire would do; it must stay before the load of bottom
     * (steal_order in deque.pml), which only an order of loads guarantees */
    uint64_t top = at_load_sc(&deque->x_top);       /* D2 */
    uint64_t bottom = at_load_sc(&deque->x_bottom); /* D1, D2 */
    if ((int64_t)(bottom - top) <= 0) return WEFT__STEAL_EMPTY;
    weft__deque_item taken = weft__deque_read(deque, top); /* counts only if the CAS below wins */
    if (!at_cas_sc(&deque->x_top, &top, top + 1)) return WEFT__STEAL_LOST; /* D3 */
    *item = taken;
    return WEFT__STEAL_GOT;
}

/* Whether a steal could succeed now; sequentially consistent, for the check before sleeping. */
static inline bool weft__deque_has_items_any(weft__deque *deque)
{
    if (deque->is_alone) return deque->bottom != at_load_rlx(&deque->x_top); /* relaxed: constant */
    /* a stale top shows items that are gone, never hides one; the order is that of steal */
    uint64_t top = at_load_sc(&deque->x_top);                 /* D4 */
    return (int64_t)(at_load_sc(&deque->x_bottom) - top) > 0; /* D4 */
}
