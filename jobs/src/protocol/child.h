/* SPDX-License-Identifier: MIT */
/* child.h: the stack of a worker's structured children: a Chase-Lev deque whose slots hold the
 * child itself.
 *
 * Children are joined in the reverse order of their start, before their parent ends, so the child
 * needs no slot of its own: it lives at its index until it is joined. The owner pushes and pops at
 * the bottom; thieves take the oldest. A taken child stays in its slot: the thief runs it, stores
 * its code and marks it done; the owner finds every index below top taken, waits for the marks and
 * leaves the indices behind (top never goes back). `floor` is the oldest index that may still be
 * unjoined: a push needs bottom - floor < capacity, else the parent runs the child at once.
 *
 * Helping while waiting ("leapfrogging", Wagner and Calder 1993) may only take descendants of
 * the awaited child. A worker takes a child only while its own stack has nothing to take, so
 * whatever is in the thief's stack while it runs our child descends from it. steal_from checks
 * in the order top, bottom, "our child is not done", CAS of top: the entry existed before the
 * check, and removing it changes top.
 *
 *   who        push  pop  join   steal   finish (the taken child)
 *   owner      yes   yes  yes    never   never
 *   others     -     -    -      yes     the thief, once
 *
 * Edges:
 *   C1  push: child fields, release of bottom   -> steal: acquire of bottom; the thief reads fields
 *   C2  pop: sc store of bottom, load of top   <-> steal: load of top, load of bottom
 *   C3  steal/pop: CAS of top                  ->  owner: load of top (index n is taken)
 *   C4  finish: code, exchange of x_state DONE  -> join: acquire of x_state (results visible; the
 *       slot belongs to the owner again: the thief does not touch it after C4)
 *   C5  join: CAS x_state READY -> WAITED      <-> finish: exchange of x_state sees WAITED, wakes
 *   C6  thief: release of x_thief               -> owner: acquire of x_thief (whom to help)
 *   C7  x_hosted set before a push (C1), cleared (release) after the last join -> worker 0's steal:
 *       acquire of x_hosted between top and the CAS of top. The children of a stack belong to one
 *       guest or to none (guest.h), and the last of them leaves it by a change of top: so who reads
 *       "not hosted" and then takes the entry took none of a guest's */
#pragma once

#include "deque.h"

#include <weft/jobs.h>

enum { WEFT__CHILD_READY, WEFT__CHILD_WAITED, WEFT__CHILD_DONE };
#define WEFT__CHILD_NO_THIEF UINT32_MAX

/* Owner: the parent's worker, except fn..job between steal and C4: read by the thief. */
typedef struct weft__child {
    weft_job_fn fn;
    void *argument;
    uint32_t job;     /* slot of the submitted job above it, for cancellation; or NONE */
    int32_t code;     /* result: written by who ran it, before C4 */
    weft_a32 x_state; /* READY, WAITED, DONE */
    weft_a32 x_thief; /* worker that took it */
} weft__child;

static_assert(sizeof(weft__child) == 32, "two children in a cache line");

/* Owner: the worker. Invariants, outside of push, pop and join:
 *   floor <= x_top <= bottom == x_bottom, bottom - floor <= mask + 1
 *   children [x_top, bottom) can be taken; [floor, x_top) are taken, and joined or to be joined */
typedef struct weft__child_stack {
    /* shared atomic: thieves, and the owner's pop of the last child */
    _Alignas(64) weft_a64 x_top;
    /* shared atomic: written by the owner only */
    _Alignas(64) weft_a64 x_bottom;
    /* owner only */
    uint64_t bottom;     /* == x_bottom outside pop */
    uint64_t floor;      /* indices below are joined */
    uint64_t joined_low; /* indices [joined_low, joined_high) are joined */
    uint64_t joined_high;
    /* constant after init */
    weft__child *children;
    uint64_t mask;
    bool is_alone;     /* no other thread takes from it: plain stores do */
    weft_a32 x_hosted; /* written by the owner: what lies here is part of what a guest runs */
} weft__child_stack;

static inline void weft__child_init(weft__child_stack *stack, weft__child *children,
                                    uint32_t capacity, bool is_alone)
{
    *stack = (weft__child_stack){
        .bottom = 1, .floor = 1, .children = children, .mask = capacity - 1u, .is_alone = is_alone};
    at_init(&stack->x_top, 1);
    at_init(&stack->x_bottom, 1);
    at_init(&stack->x_hosted, 0);
}

static inline weft__child *weft__child_at(const weft__child_stack *stack, uint64_t index)
{
    return &stack->children[index & stack->mask];
}

/* Moves `floor` over children that are done without an error; true when a push has room then. */
static inline bool weft__child_make_room(weft__child_stack *stack)
{
    uint64_t top = at_load_acq(&stack->x_top); /* C3 */
    while ((int64_t)(top - stack->floor) > 0) {
        weft__child *oldest = weft__child_at(stack, stack->floor);
        if (at_load_acq(&oldest->x_state) != WEFT__CHILD_DONE || oldest->code != 0) break; /* C4 */
        stack->floor++;
    }
    return stack->bottom - stack->floor <= stack->mask;
}

/* False when there is no room: the caller runs the child itself. Wait-free but for make_room. */
static inline bool weft__child_push_owner(weft__child_stack *stack, weft_job_fn fn, void *argument,
                                          uint32_t job)
{
    uint64_t bottom = stack->bottom;
    if (__builtin_expect(bottom - stack->floor > stack->mask, 0)) return false;
    weft__child *child = weft__child_at(stack, bottom);
    child->fn = fn;
    child->argument = argument;
    child->job = job;
    child->code = 0;
    at_store_rlx(&child->x_state, (uint32_t)WEFT__CHILD_READY); /* relaxed: published by C1 */
    at_store_rlx(&child->x_thief, WEFT__CHILD_NO_THIEF);        /* relaxed: published by C1 */
    stack->bottom = bottom + 1;
    at_store_rel(&stack->x_bottom, bottom + 1); /* C1 */
    return true;
}

typedef enum weft__child_pop {
    WEFT__CHILD_POPPED,      /* run it; its index is free */
    WEFT__CHILD_POPPED_LAST, /* run it, then mark it done: its index counts as taken */
    WEFT__CHILD_TAKEN        /* it and all older ones are taken */
} weft__child_pop;

/* Takes back the youngest child; the stack above the frame is not empty. Wait-free. */
static inline weft__child_pop weft__child_pop_owner(weft__child_stack *stack)
{
    uint64_t last = stack->bottom - 1;
    if (stack->is_alone) {
        stack->bottom = last;
        at_store_rlx(&stack->x_bottom, last); /* relaxed: no thief exists */
        return WEFT__CHILD_POPPED;
    }
    at_store_sc(&stack->x_bottom, last);      /* C2 */
    uint64_t top = at_load_sc(&stack->x_top); /* C2, C3 */
    int64_t left = (int64_t)(last - top);
    if (left > 0) {
        stack->bottom = last;
        return WEFT__CHILD_POPPED;
    }
    /* any order would do, as in deque.h: C2 is carried by the sc store above */
    bool is_ours = left == 0 && at_cas_sc(&stack->x_top, &top, last + 1); /* C3 */
    /* everything below is taken: relaxed would do, a release costs nothing more on x86-64 */
    at_store_rel(&stack->x_bottom, last + 1); /* C1 */
    return is_ours ? WEFT__CHILD_POPPED_LAST : WEFT__CHILD_TAKEN;
}

/* One attempt to take the oldest child. `awaited` (may be NULL) must not be done, else nothing is
 * taken: see leapfrogging above. The thief owns *out until weft__child_finish. Wait-free. */
static inline weft__steal weft__child_steal_any(weft__child_stack *stack, weft__child *awaited,
                                                uint32_t thief, weft__child **out)
{
    /* a stale top fails the CAS; what counts is that it is loaded first, as in deque.h */
    uint64_t top = at_load_sc(&stack->x_top);       /* C2 */
    uint64_t bottom = at_load_sc(&stack->x_bottom); /* C1, C2 */
    if ((int64_t)(bottom - top) <= 0) return WEFT__STEAL_EMPTY;
    /* only whether it is done matters here, no result is read: acquire keeps the order of the
     * checks before the CAS, which orders them anyhow */
    if (awaited != NULL && at_load_acq(&awaited->x_state) == WEFT__CHILD_DONE) /* C4 */
        return WEFT__STEAL_EMPTY;
    if (thief == 0 && at_load_acq(&stack->x_hosted) != 0) return WEFT__STEAL_EMPTY; /* C7 */
    if (!at_cas_sc(&stack->x_top, &top, top + 1)) return WEFT__STEAL_LOST;          /* C3 */
    weft__child *child = weft__child_at(stack, top);
    /* names a worker, whose stack is constant memory: no data travels with it */
    at_store_rel(&child->x_thief, thief); /* C6 */
    *out = child;
    return WEFT__STEAL_GOT;
}

/* Marks a taken child done; true when the parent sleeps on it and must be woken. Afterwards the
 * caller must not touch the child. */
static inline bool weft__child_finish(weft__child *child, int code)
{
    child->code = code;
    return at_xchg_ar(&child->x_state, (uint32_t)WEFT__CHILD_DONE) ==
           WEFT__CHILD_WAITED; /* C4, C5 */
}

/* The owner begins (its stack is empty) or has ended a piece of what a guest runs. */
static inline void weft__child_set_hosted_owner(weft__child_stack *stack, bool is_hosted)
{
    at_store_rel(&stack->x_hosted, (uint32_t)is_hosted); /* C7 */
}

/* Whether worker 0 must leave alone what lies here. Weaker orders would do, as below. */
static inline bool weft__child_is_hosted_any(weft__child_stack *stack)
{
    return at_load_acq(&stack->x_hosted) != 0; /* C7 */
}

/* Whether a steal could succeed: the look before sleeping. Weaker orders would do: a miss loses a
 * helper, never the child, which its parent runs. */
static inline bool weft__child_has_items_any(weft__child_stack *stack)
{
    uint64_t top = at_load_sc(&stack->x_top);                 /* C2 */
    return (int64_t)(at_load_sc(&stack->x_bottom) - top) > 0; /* C1 */
}
