/* SPDX-License-Identifier: MIT */
/* observer_watch.h: what observers know of a component: which entities had it when they last ran,
 * with their values where these are asked for, and what differs now. Owner, world idle. */
#ifndef WEFT_OBSERVER_WATCH_H
#define WEFT_OBSERVER_WATCH_H

#include "ecs_engine.h"

/* Values are as aligned as any component is. */
typedef struct weft__value_line {
    _Alignas(64) char bytes[64];
} weft__value_line;
typedef WEFT__LIST(weft__value_line) weft__value_lines; /* only its room is used */

/* Entities and, where values are kept, the value of each. Owner: its watch. */
typedef struct weft__noticed {
    WEFT__LIST(weft_entity) entities;
    weft__value_lines values; /* without room: none are kept */
} weft__noticed;

/* One observed component. Owner: the scheduler's observers. Always: members[index] is the version
 * of the entity that was there, 0 if none; unless is_lost, each member is in a mirror. */
typedef struct weft__observer_watch {
    weft_world *world;
    uint32_t component;           /* 0: all entities */
    uint32_t users;               /* observers */
    uint32_t bytes;               /* of a value that is kept; 0: none is */
    bool is_suspect;              /* a snapshot was restored: no version is believed */
    bool is_lost;                 /* a scan ran out of memory: neither are mirrors */
    uint64_t scan;                /* number of the last one */
    uint64_t told;                /* the last one that was told */
    WEFT__LIST(uint32_t) members; /* [index] */
    weft__value_lines values;     /* [index] */
    WEFT__LIST(uint64_t) born;    /* [index] of all entities: the scan in which it came */
    weft__row_diff diff;
    weft__noticed came, went; /* candidates: rows that are new or gone in their place */
    weft__noticed added, removed, changed, created, destroyed; /* not told yet */
} weft__observer_watch;

/* Appends what differs since the last scan to what is not told yet. `all`: the watch of all
 * entities, scanned before, or NULL. False: out of memory; the next scan finds the rest. */
bool weft__observer_watch_scan(weft__observer_watch *watch, const weft__observer_watch *all);
/* Forgets what was found. */
void weft__observer_watch_told(weft__observer_watch *watch);
/* Keeps the values of a component from now on, `bytes` each; removals and changes that a scan
 * without memory left untold are forgotten, for their values are not known. False: out of
 * memory. */
bool weft__observer_watch_keep(weft__observer_watch *watch, uint32_t bytes);
void weft__observer_watch_fini(weft__observer_watch *watch);

#endif
