/* SPDX-License-Identifier: MIT */
/* staging.h: from systems in order to sync points and stages. Pure: works on access sets only.
 *
 * Private. The order of systems is cut into *segments* at sync points (a later system could see
 * what commands of an earlier one do) and around exclusive systems. Within a segment each system
 * goes to the earliest stage that no conflict forbids: after the stage of an earlier system with
 * which it collides far, in the stage of one with which it collides only near and both can be
 * fused. A stage is one loop over slices; nodes of a stage are listed in the order in which a
 * slice runs them. */
#ifndef WEFT_STAGING_H
#define WEFT_STAGING_H

#include <weft/base.h>

#include "access.h"
#include "heap.h"
#include "ordering.h"

typedef enum weft__staging_traits {
    WEFT__STAGING_FUSABLE = 1 << 0,   /* runs once per slice of its own rows, on any worker */
    WEFT__STAGING_EXCLUSIVE = 1 << 1, /* nothing beside it; may change structure itself */
    WEFT__STAGING_BACKGROUND = 1 << 2,
    WEFT__STAGING_SEES_ROWS = 1 << 3, /* has queries or lookups: can see structure at all */
    WEFT__STAGING_ROWS_ONLY =
        1 << 4,                   /* the rows of one query with one alternative are all it sees */
    WEFT__STAGING_STAYS = 1 << 5, /* asks the host something when it is its turn */
    WEFT__STAGING_PASSES =
        1 << 6, /* BACKGROUND, records nothing, and what it sees lies ready before it begins: it may
                   go on beside sync points that spare its rows */
} weft__staging_traits;

/* A system as the planner sees it. Owner: the compiled schedule, or a test. All arrays are
 * borrowed; component arrays are sorted. */
typedef struct weft__staging_node {
    weft__access_set access;
    uint32_t traits;          /* weft__staging_traits */
    uint32_t effects;         /* weft_command_effects */
    const uint32_t *records;  /* components named by effects; none = any */
    const uint32_t *destroys; /* what entities that it destroys may have; none = anything */
    const uint32_t *mentions; /* components whose presence or value it can see */
    const uint32_t *required; /* components that every row it runs over has */
    uint32_t record_count;
    uint32_t destroy_count;
    uint32_t mention_count;
    uint32_t required_count;
} weft__staging_node;

/* What of the commands of one system another could see. */
typedef enum weft__visible {
    WEFT__VISIBLE_NOTHING,
    WEFT__VISIBLE_TO_EXCLUSIVE, /* which sees everything */
    WEFT__VISIBLE_DESTROYED,    /* an entity is gone */
    WEFT__VISIBLE_CHANGED,      /* components come, go or have another value */
    WEFT__VISIBLE_CREATED,      /* an entity is new */
} weft__visible;

/* What is planned: lives on the caller's stack, borrowed for the call. */
typedef struct weft__staging_input {
    const weft__staging_node *nodes; /* in order of effect */
    uint32_t node_count;
    const weft__order_edge
        *barriers; /* explicit orders between nodes (positions), sorted by `after`;
                      `before` < `after`. Or to and from gates, numbered from node_count on:
                      all nodes that lead to a gate are before all that it leads to */
    uint32_t barrier_count;
    uint32_t gate_count;
    uint32_t component_limit; /* component ids are below it */
    bool without_fusion;
    uint64_t shuffle_seed;
} weft__staging_input;

/* A place where recorded commands are played back, or a barrier around an exclusive system. A
 * value; listed by weft__staging. */
typedef struct weft__sync_point {
    uint32_t before_stage;
    uint32_t recorder; /* node whose commands must be visible ... */
    uint32_t observer; /* ... to this one; both UINT32_MAX at the end of the frame */
} weft__sync_point;

/* Owned by the compiled schedule; constant until the next compile. */
typedef struct weft__staging {
    uint32_t *stage_of;    /* [node] */
    uint32_t *join_stage;  /* [node] background nodes: must have ended before this stage */
    uint32_t *stage_first; /* [stage + 1] into stage_nodes */
    uint32_t *stage_nodes; /* nodes in the order in which a slice runs them */
    uint8_t *is_sync;      /* [stage] play back commands before it */
    weft__sync_point *syncs;
    uint32_t node_count;
    uint32_t stage_count;
    uint32_t sync_count;
} weft__staging;

weft_result weft__staging_make(const weft__staging_input *input, weft__memory *memory,
                               weft__staging *out);
void weft__staging_free(weft__staging *plan, weft__memory *memory);

/* What `observer` could see of commands of `recorder`, the first that applies. */
weft__visible weft__staging_visible(const weft__staging_node *recorder,
                                    const weft__staging_node *observer);
/* All of weft_command_effects of `recorder` that `observer` could see by what it names; 0: none, or
 * the observer is exclusive. */
uint32_t weft__staging_visible_effects(const weft__staging_node *recorder,
                                       const weft__staging_node *observer);
/* The conflict of two nodes as the planner counts it: near only when both can be fused. */
weft__conflict weft__staging_conflict(const weft__staging_node *a, const weft__staging_node *b,
                                      uint32_t *component);

#endif
