/* SPDX-License-Identifier: MIT */
/* access.h: access sets: what a system touches, and whether two systems collide.
 *
 * Private. Pure: no storage, no threads. An access item says "this component, read or written,
 * in the rows of these archetypes". Sets of archetypes are bit sets, filled by code that knows the
 * storage (tests use a fake). Two items collide when they name the same component, one writes,
 * and some archetype that contains the component is in both sets. A *near* item touches only the
 * row it was given; two systems that collide by near items alone may share a stage, because each
 * slice runs them in order; any other collision (lookups, resources, declared queries) needs a
 * barrier between them. */
#ifndef WEFT_ACCESS_H
#define WEFT_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

/* A set of archetypes; bits beyond `word_count` words are 0. Owned by the compiled schedule. */
typedef struct weft__archetype_set {
    uint64_t *words;
    uint32_t word_count;
    uint32_t first_word;             /* no bit below this word */
    const struct weft__query *query; /* whose matches they are; NULL: those with a component */
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

/* The strongest conflict of two sets; *component (may be NULL) gets the component that causes
 * it. */
weft__conflict weft__access_conflict(const weft__access_set *a, const weft__access_set *b,
                                     uint32_t *component);
/* Whether two items of the same component collide. */
weft__conflict weft__access_item_conflict(const weft__access_item *a, const weft__access_item *b);
/* Sorts the items by component and drops duplicates (the stronger one stays). */
void weft__access_set_normalise(weft__access_set *set);
/* An archetype in all three sets (NULL = all archetypes), or UINT32_MAX. */
uint32_t weft__archetype_sets_meet(const weft__archetype_set *a, const weft__archetype_set *b,
                                   const weft__archetype_set *c);

#endif
