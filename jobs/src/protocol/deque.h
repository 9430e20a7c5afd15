/* SPDX-License-Identifier: MIT */
/* deque.h: fixed-capacity Chase-Lev deque of 32-bit items (job slots). One owner pushes and pops at
 * the bottom, any thread steals at the top.
 *
 * After Chase and Lev (SPAA 2005) and Le, Pop, Cohen and Zappa Nardelli (PPoPP 2013), without
 * resizing and without fences: the hand-shake of pop and steal is a sequentially consistent
 * exchange. Indices are 64 bits and only differences are compared, so they never wrap in practice
 * and "bottom - 1" below zero is harmless. A thief reads the slot before its CAS, and the value
 * counts only if the CAS wins.
 *
 *   who         push_owner  pop_owner  steal_any  has_items_any
 *   owner       one at a time           yes        yes
 *   others      never       never       yes        yes
 *
 * Edges (-> makes visible, <-> sequentially consistent on both sides):
 *   D1  push: slot store, sc store of bottom  -> steal: sc load of bottom, slot load
 *   D2  pop: sc store of bottom, load of top <-> steal: load of top, load of bottom
 *   D3  steal/pop: CAS of top                 -> push: acquire of top (the slot may be reused)
 *   D4  push: sc store of bottom             <-> a sleeper's check for work (edge W1 of wake.h) */
#ifndef WEFT_DEQUE_H
#define WEFT_DEQUE_H

#include <assert.h>

#include <weft/base.h>

#include "atomic.h"
#include "invariant.h"

#define WEFT__DEQUE_NONE UINT32_MAX

/* What a steal attempt found; on STOLEN the item is in *item. */
typedef enum weft__steal {
    WEFT__STEAL_EMPTY,
    WEFT__STEAL_LOST, /* another thread took it: there may be more */
    WEFT__STEAL_GOT
} weft__steal;

/* Owner: one worker. Invariants: 0 <= bottom - top <= capacity at rest; slots [top, bottom) hold
 * the items, each taken exactly once. */
typedef struct weft__deque {
    /* shared atomic: thieves and the owner's pop of the last item */
    _Alignas(64) weft_a64 x_top;
    /* shared atomic: written by the owner only */
    _Alignas(64) weft_a64 x_bottom;
    /* owner only */
    uint64_t bottom;    /* == x_bottom outside pop, unless is_alone */
    uint64_t top_cache; /* <= x_top: saves reading the thieves' line */
    /* constant after init */
    weft_a32 *slots; /* x_ content: written by the owner, read by thieves */
    uint64_t mask;
    bool is_alone; /* set after init: no thief exists; x_bottom is not kept */
} weft__deque;

static_assert(offsetof(weft__deque, x_bottom) == 64, "thieves' line and owner's line are apart");

/* `slots` has `capacity` elements (a power of two) and outlives the deque. */
static inline void weft__deque_init(weft__deque *deque, weft_a32 *slots, uint32_t capacity)
{
    at_init(&deque->x_top, 1);
    at_init(&deque->x_bottom, 1);
    deque->bottom = deque->top_cache = 1;
    deque->slots = slots;
    deque->mask = capacity - 1u;
    deque->is_alone = false;
}

/* Whether a push is sure to succeed; may say no when a thief has made room meanwhile. */
static inline bool weft__deque_has_room_owner(const weft__deque *deque)
{
    return deque->bottom - deque->top_cache <= deque->mask;
}

/* Pushes where has_room said yes. Wait-free. */
static inline void weft__deque_push_room_owner(weft__deque *deque, uint32_t item)
{
    uint64_t bottom = deque->bottom;
    WEFT_ASSERT(bottom - deque->top_cache <= deque->mask);
    at_store_rlx(&deque->slots[bottom & deque->mask], item); /* relaxed: published by D1 */
    deque->bottom = bottom + 1;
    if (deque->is_alone) return;               /* no thief reads x_bottom */
    at_store_sc(&deque->x_bottom, bottom + 1); /* D1, D4 */
}

/* False when full. Wait-free. */
static inline bool weft__deque_push_owner(weft__deque *deque, uint32_t item)
{
    if (!weft__deque_has_room_owner(deque)) {
        /* the order is needed against load buffering only, which the explorer does not model */
        deque->top_cache = at_load_acq(&deque->x_top); /* D3 */
        if (!weft__deque_has_room_owner(deque)) return false;
    }
    weft__deque_push_room_owner(deque, item);
    return true;
}

/* The youngest item, or WEFT__DEQUE_NONE. Wait-free. */
static inline uint32_t weft__deque_pop_owner(weft__deque *deque)
{
    uint64_t last = deque->bottom - 1;
    /* relaxed: only a hint that avoids the exchange; top never goes back, so empty is final */
    if ((int64_t)(last - at_load_rlx(&deque->x_top)) < 0) return WEFT__DEQUE_NONE;
    if (deque->is_alone) {
        deque->bottom = last;
        return at_load_rlx(&deque->slots[last & deque->mask]); /* relaxed: own store */
    }
    at_store_sc(&deque->x_bottom, last);      /* D2 */
    uint64_t top = at_load_sc(&deque->x_top); /* D2 */
    int64_t left = (int64_t)(last - top);
    /* relaxed: the owner wrote the slot itself */
    uint32_t item = at_load_rlx(&deque->slots[last & deque->mask]);
    if (left > 0) {
        deque->bottom = last;
        return item;
    }
    /* any order would do: the sc store of bottom above carries D2, and D3 is read by the owner
     * itself; sc is what a locked operation is anyhow */
    if (left < 0 || !at_cas_sc(&deque->x_top, &top, last + 1)) item = WEFT__DEQUE_NONE; /* D3 */
    /* the deque is empty now, so nothing is read through this store: relaxed would do, and a
     * release costs nothing more on x86-64 */
    at_store_rel(&deque->x_bottom, last + 1); /* D1 */
    return item;
}

/* Whether a pop would try this item first: a hint, a thief may have it. */
static inline bool weft__deque_is_youngest_owner(const weft__deque *deque, uint32_t item)
{
    uint64_t last = deque->bottom - 1;
    /* relaxed: a hint, and the owner's own store */
    if ((int64_t)(last - at_load_rlx(&deque->x_top)) < 0) return false;
    return at_load_rlx(&deque->slots[last & deque->mask]) == item; /* relaxed: as above */
}

/* Pops the item that is_youngest_owner has just confirmed; false when a thief has it. Wait-free. */
static inline bool weft__deque_pop_youngest_owner(weft__deque *deque)
{
    if (!deque->is_alone) return weft__deque_pop_owner(deque) != WEFT__DEQUE_NONE;
    deque->bottom--;
    return true;
}

/* One attempt to take the oldest item. Wait-free. */
static inline weft__steal weft__deque_steal_any(weft__deque *deque, uint32_t *item)
{
    /* a stale top fails the CAS, so acquire would do; it must stay before the load of bottom
     * (steal_order in deque.pml), which only an order of loads guarantees */
    uint64_t top = at_load_sc(&deque->x_top);       /* D2 */
    uint64_t bottom = at_load_sc(&deque->x_bottom); /* D1, D2 */
    if ((int64_t)(bottom - top) <= 0) return WEFT__STEAL_EMPTY;
    /* relaxed: D1 made it visible; counts only if the CAS below wins */
    uint32_t taken = at_load_rlx(&deque->slots[top & deque->mask]);
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

#endif
