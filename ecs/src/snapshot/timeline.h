/* SPDX-License-Identifier: MIT */
/* timeline.h: what versions of a snapshot and of the world mean the same. Private to the snapshots.
 *
 * Versions tell times apart only along one line of events, and every restore begins a new line
 * where the snapshot was taken. Lines are a tree: a snapshot and the world have in common what was
 * written before their lines parted, and know that by the version at which they did. */
#ifndef WEFT_TIMELINE_H
#define WEFT_TIMELINE_H

#include "world_state.h"

#include <weft/snapshot.h>

/* From a restore, or the beginning, to the next restore. Owned by its holders; changed by the owner
 * of the world only. */
typedef struct weft__timeline {
    struct weft__timeline *parent; /* held; NULL: the first one */
    uint32_t fork;    /* what `parent` wrote before it began has versions before this one */
    uint32_t holders; /* its snapshots, the lines that began in it, one while it is current */
} weft__timeline;

/* Which moments (weft_world_moment) are in the past of a state: those of closed spans, and those
 * after `after`. Owner: a snapshot, or the timelines. */
typedef struct weft__past {
    struct weft__past_span {
        uint64_t after, last; /* moments after < m <= last */
    } * spans;                /* ascending, [capacity] */
    uint32_t count;
    uint32_t capacity;
    uint64_t after;
} weft__past;

/* Owned by the world, in its snapshots extension. current != NULL; `snapshots` lists each
 * snapshot of the world once. */
typedef struct weft__timelines {
    weft_world *world;
    weft__timeline *current;  /* held */
    weft_snapshot *snapshots; /* all there are, by `next` */
    weft__past past;
} weft__timelines;

/* NULL: out of memory. */
weft__timelines *weft__timelines_obtain(weft_world *world);
/* Drops a hold. */
void weft__timeline_drop(const weft__timelines *timelines, weft__timeline *timeline);
/* A line that will begin at `version` of `parent`; not current yet. NULL: out of memory. */
weft__timeline *weft__timeline_begin(const weft__timelines *timelines, weft__timeline *parent,
                                     uint32_t version);
/* Makes it the current one. */
void weft__timeline_enter(weft__timelines *timelines, weft__timeline *timeline);
/* What was written before this version is common to the current line and to the state of `timeline`
 * before `version`: what has an equal version there, before this one, is the same. */
uint32_t weft__timeline_common(const weft__timelines *timelines, const weft__timeline *timeline,
                               uint32_t version);

/* The past of the world with all moments until now in closed spans, to keep. False: no memory. */
bool weft__past_keep(const weft__timelines *timelines, weft__past *out);
/* What the past of the world is when a state is put whose past is `kept`. False: no memory. */
bool weft__past_fork(const weft__timelines *timelines, const weft__past *kept, weft__past *out);
void weft__past_free(weft_world *world, weft__past *past);
bool weft__past_has(const weft__past *past, uint64_t moment);

/* Whether a version is before another one (wraps). */
static inline bool weft__version_is_before(uint32_t version, uint32_t other)
{
    return (int32_t)(version - other) < 0;
}

#endif
