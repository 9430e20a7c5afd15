/* SPDX-License-Identifier: MIT */
/* decided.h: what decides which of two systems that collide is first.
 *
 * See decided.c. Owner, between steps. */
#ifndef WEFT_DECIDED_H
#define WEFT_DECIDED_H

#include "scheduler_state.h"
#include "text.h"

typedef enum weft__decided {
    WEFT__DECIDED_BY_NAME,        /* one of them names the other */
    WEFT__DECIDED_BY_GROUP,       /* orders of groups, or of a system and a group */
    WEFT__DECIDED_BY_CHAIN,       /* orders with other systems */
    WEFT__DECIDED_BY_REGISTRATION /* no order leads from one to the other */
} weft__decided;

/* The shortest ways of orders from one system to all others. Owner: the caller, who frees it.
 *   edges: pairs of places, sorted by `before`; node order_nodes[place] has this place
 *   previous[place] == WEFT__NONE: not reached, or the source */
typedef struct weft__orders {
    const weft__scheduler *scheduler;
    weft__order_edge *edges;
    uint32_t *places;   /* [node] */
    uint32_t *previous; /* [place] */
    uint32_t *lengths;  /* [place] edges of the way; UINT32_MAX: not reached */
    const weft__system *source;
} weft__orders;

/* False: no memory; the caller frees it all the same. */
bool weft__orders_init(weft__orders *orders, const weft__scheduler *scheduler);
void weft__orders_free(weft__orders *orders);

/* `a` is at an earlier position than `b`. Cost: O(orders) when `a` is not that of the last call. */
weft__decided weft__orders_decided(weft__orders *orders, const weft__system *a,
                                   const weft__system *b);
/* "name", "group", "chain", "registration" */
const char *weft__decided_word(weft__decided decided);
/* "who is first is decided by name: 'after' of 'b' names 'a'" */
void weft__decided_add(weft__text *t, weft__orders *orders, const weft__system *a,
                       const weft__system *b);

#endif
