/* SPDX-License-Identifier: MIT */
/* staging.h: from systems in order to sync points and stages. Pure: works on access sets only.
 *
 * Private. The order of systems is cut into *segments* at sync points (a later system could see
 * what commands of an earlier one do) and around exclusive systems. Within a segment each system
 * goes to the earliest stage that no conflict forbids: after the stage of an earlier system with
 * which it collides far, in the stage of one with which it collides only near and both can be
 * fused. A stage is one loop over slices; nodes of a stage are listed in the order in which a
 * slice runs them. */
#pragma once

#include "pile.h"

/* ---- the order of nodes ----
 *
 * A directed graph of "must come before", its topological order and its cycles. Among nodes that
 * are free the one with the lowest rank comes first, so that the order is a function of the graph
 * alone; or a random one, for tests of determinism. */

/* `before` comes first. A value. */
typedef struct weft__order_edge {
    uint32_t before;
    uint32_t after;
} weft__order_edge;

/* Whether such edges have this one, or the two over a gate: a number above all that it leads to.
 * Cost: O(log count + edges of `after` and of its gates). */
bool weft__order_edges_have(const weft__order_edge *edges, uint32_t count, uint32_t before,
                            uint32_t after);

/* A graph to be sorted: lives on the caller's stack; the arrays are borrowed for the call.
 * Always: before, after < node_count. */
typedef struct weft__ordering {
    uint32_t node_count;
    const uint32_t *ranks;         /* [node] ties are broken by it */
    const weft__order_edge *edges; /* duplicates are fine */
    uint32_t edge_count;
    uint64_t shuffle_seed; /* not 0: a random topological order */
} weft__ordering;

/* Writes the order of all nodes to `out` (node_count numbers). WEFT_CYCLE: `out` holds the nodes
 * of one cycle in order and *cycle_length their number. OUT_OF_MEMORY. Its scratch stays in the
 * pile. Cost: O((nodes + edges) log nodes). */
weft_result weft__ordering_sort(const weft__ordering *graph, weft__pile *pile, uint32_t *out,
                                uint32_t *cycle_length);

/* ---- access sets ----
 *
 * What a system touches, and whether two systems collide. An access item says "this component,
 * read or written, in the rows of these archetypes". Sets of archetypes are bit sets, filled by
 * code that knows the storage (tests use a fake). Two items collide when they name the same
 * component, one writes, and some archetype that contains the component is in both sets. A
 * *near* item touches only the row it was given; two systems that collide by near items alone
 * may share a stage, because each slice runs them in order; any other collision (lookups,
 * resources, declared queries) needs a barrier between them. */

/* A set of archetypes; bits beyond `word_count` words are 0. Owned by the compiled schedule. */
typedef struct weft__archetype_set {
    uint64_t *words;
    uint32_t word_count;
    uint32_t first_word; /* no bit below this word */
} weft__archetype_set;

typedef enum weft__access_flags {
    WEFT__ACCESS_WRITE = 1 << 0,
    WEFT__ACCESS_FAR = 1 << 1,      /* beyond the own rows: lookup, resource, declared query */
    WEFT__ACCESS_RESOURCE = 1 << 2, /* a value of the world, not of rows */
} weft__access_flags;

/* Owner: the set. Always: RESOURCE: with == NULL. */
typedef struct weft__access_item {
    uint32_t component;
    uint32_t flags;                   /* weft__access_flags */
    const weft__archetype_set *match; /* rows touched; NULL = any archetype (lookups) */
    const weft__archetype_set *with;  /* archetypes that contain the component; NULL: resource */
} weft__access_item;

/* Sorted by component; at most one item per (component, match, FAR). Owned by the compiled
 * schedule. */
typedef struct weft__access_set {
    weft__access_item *items;
    uint32_t count;
} weft__access_set;

typedef enum weft__conflict {
    WEFT__CONFLICT_NONE,
    WEFT__CONFLICT_NEAR, /* per slice, in order, is enough */
    WEFT__CONFLICT_FAR,  /* the earlier one must have ended */
} weft__conflict;

/* Whether two items of the same component collide. */
weft__conflict weft__access_item_conflict(const weft__access_item *a, const weft__access_item *b);
/* Sorts the items by component and drops duplicates (the stronger one stays). */
void weft__access_set_normalise(weft__access_set *set);
/* An archetype in all three sets (NULL = all archetypes), or UINT32_MAX. */
uint32_t weft__archetype_sets_meet(const weft__archetype_set *a, const weft__archetype_set *b,
                                   const weft__archetype_set *c);

/* ---- stages ---- */

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

/* Owned by the compiled schedule, lists by its pile; constant until the next compile. */
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

weft_result weft__staging_make(const weft__staging_input *input, weft__pile *pile,
                               weft__staging *out);

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

/* ---- systems in front of sync points ----
 *
 * A sync point ends a segment, and with it fusion, for every system behind it. A system behind it
 * that could see nothing of the commands before it, and that nothing orders to a system behind the
 * sync point, is moved in front of it. What is asked are components, not archetypes, so that
 * archetypes that appear in the middle of a frame do not change the order. */

/* Writes the positions of all nodes in the new order to `order` [node_count]: by segment, and in
 * the given order within each. These stay in the segment that the order gives them: systems that
 * record, exclusive and background systems, and those with WEFT__STAGING_STAYS. A system that could
 * be fused is moved only as far back as the first segment that has something to fuse it with, if
 * there is one. Barriers are sorted by `after`. Errors: OUT_OF_MEMORY. Cost: O(items + nodes *
 * recording systems). */
weft_result weft__staging_hoist(const weft__staging_input *input, weft__pile *pile,
                                uint32_t *order);
