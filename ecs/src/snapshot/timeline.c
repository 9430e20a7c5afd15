/* SPDX-License-Identifier: MIT */
/* timeline.c: the tree of timelines of a world. See timeline.h. Lines that are only on the way
 * from the current one to the first are cut out, so that a world that goes back once a frame for
 * ever has as many as it has snapshots. Owner only. */
#include "timeline.h"

#include "error.h"
#include "snapshot_state.h"

#include <string.h>

#define CATEGORY WEFT__MEMORY_SNAPSHOTS

static void drop(weft_world *world, weft__timeline *timeline)
{
    while (timeline != NULL && --timeline->holders == 0) {
        weft__timeline *parent = timeline->parent;
        weft__free(&world->memory, CATEGORY, timeline, 1, sizeof *timeline, 8);
        timeline = parent;
    }
}

static weft__timeline *begin(weft_world *world, weft__timeline *parent, uint32_t version)
{
    weft__timeline *timeline = weft__alloc_zeroed(&world->memory, CATEGORY, 1, sizeof *timeline, 8);
    if (timeline == NULL) return NULL;
    *timeline = (weft__timeline){parent, version, 1};
    if (parent != NULL) parent->holders++;
    return timeline;
}

weft__timeline *weft__timeline_begin(const weft__timelines *timelines, weft__timeline *parent,
                                     uint32_t version)
{
    return begin(timelines->world, parent, version);
}

/* Cuts out the parents that only lead to their child. */
static void cut_parents(weft_world *world, weft__timeline *child)
{
    for (weft__timeline *parent; (parent = child->parent) != NULL;) {
        if (parent->holders != 1) {
            child = parent;
            continue;
        }
        child->parent = parent->parent;
        child->fork = parent->fork;
        weft__free(&world->memory, CATEGORY, parent, 1, sizeof *parent, 8);
    }
}

void weft__timeline_drop(const weft__timelines *timelines, weft__timeline *timeline)
{
    drop(timelines->world, timeline);
    cut_parents(timelines->world, timelines->current);
}

void weft__timeline_enter(weft__timelines *timelines, weft__timeline *timeline)
{
    weft__timeline *old = timelines->current;
    timelines->current = timeline;
    weft__timeline_drop(timelines, old);
}

static uint32_t earlier(uint32_t a, uint32_t b)
{
    return weft__version_is_before(a, b) ? a : b;
}

uint32_t weft__timeline_common(const weft__timelines *timelines, const weft__timeline *timeline,
                               uint32_t version)
{
    for (; timeline != NULL; version = timeline->fork, timeline = timeline->parent) {
        const weft__timeline *line = timelines->current;
        if (line == timeline) return version;
        for (; line->parent != NULL; line = line->parent)
            if (line->parent == timeline) return earlier(version, line->fork);
    }
    return version; /* not reached: all lines begin in one */
}

/* ---- moments ---- */

void weft__past_free(weft_world *world, weft__past *past)
{
    weft__free(&world->memory, CATEGORY, past->spans, past->capacity, sizeof *past->spans, 8);
    *past = (weft__past){0};
}

static bool past_copy(weft_world *world, const weft__past *from, uint32_t more, weft__past *out)
{
    *out = (weft__past){.count = from->count, .capacity = from->count + more, .after = from->after};
    if (out->capacity == 0) return true;
    out->spans = weft__alloc(&world->memory, CATEGORY, out->capacity, sizeof *out->spans, 8);
    if (out->spans == NULL) return false;
    if (from->count != 0) memcpy(out->spans, from->spans, from->count * sizeof *out->spans);
    return true;
}

bool weft__past_keep(const weft__timelines *timelines, weft__past *out)
{
    uint64_t now = timelines->world->front.moments;
    if (!past_copy(timelines->world, &timelines->past, 1, out)) return false;
    if (out->after != now) out->spans[out->count++] = (struct weft__past_span){out->after, now};
    out->after = UINT64_MAX;
    return true;
}

bool weft__past_fork(const weft__timelines *timelines, const weft__past *kept, weft__past *out)
{
    if (!past_copy(timelines->world, kept, 0, out)) return false;
    out->after = timelines->world->front.moments;
    if (out->count != 0 && out->spans[out->count - 1].last == out->after)
        out->after = out->spans[--out->count].after; /* no moment is undone */
    return true;
}

bool weft__past_has(const weft__past *past, uint64_t moment)
{
    bool is_past = moment > past->after;
    for (uint32_t i = 0; i < past->count && !is_past; i++)
        is_past = moment > past->spans[i].after && moment <= past->spans[i].last;
    return is_past;
}

uint64_t weft_world_moment(weft_world *world)
{
    const char *advice = "mark the state between steps";
    if (world == NULL || weft__refuse_systems(world, "weft_world_moment", advice) != WEFT_OK)
        return 0;
    return ++world->front.moments;
}

bool weft_world_has_moment(const weft_world *world, uint64_t moment)
{
    if (world == NULL || moment == 0 || moment > world->front.moments) return false;
    const weft__timelines *timelines = world->front.extensions[WEFT__EXTENSION_SNAPSHOTS].data;
    return timelines == NULL || weft__past_has(&timelines->past, moment);
}

/* ---- of a world ---- */

/* For the checker of invariants: every chunk of a snapshot holds a reference on each value. */
static void visit_shared(const void *data, weft__shared_visit_fn visit, void *user)
{
    const weft__timelines *timelines = data;
    for (const weft_snapshot *s = timelines->snapshots; s != NULL; s = s->next)
        for (uint32_t a = 0; a < s->archetype_count; a++) {
            const weft__archetype *archetype = s->order.items[a];
            const weft__snapshot_archetype *list = &s->archetypes[a];
            for (uint32_t c = 0; c < list->chunk_count; c++)
                for (uint32_t i = 0; i < archetype->shared_count; i++)
                    visit(user, archetype->shared_components[i],
                          s->chunks[list->first_chunk + c].values[i]);
        }
}

static void timelines_destroy(void *data)
{
    weft__timelines *timelines = data;
    drop(timelines->world, timelines->current);
    weft__past_free(timelines->world, &timelines->past);
    weft__free(&timelines->world->memory, CATEGORY, timelines, 1, sizeof *timelines, 8);
}

weft__timelines *weft__timelines_obtain(weft_world *world)
{
    weft__extension *extension = &world->front.extensions[WEFT__EXTENSION_SNAPSHOTS];
    if (extension->data != NULL) return extension->data;
    weft__timelines *timelines =
        weft__alloc_zeroed(&world->memory, CATEGORY, 1, sizeof *timelines, 8);
    weft__timeline *first = timelines == NULL ? NULL : begin(world, NULL, 0);
    if (first == NULL) {
        weft__free(&world->memory, CATEGORY, timelines, 1, sizeof *timelines, 8);
        return NULL;
    }
    timelines->world = world;
    timelines->current = first;
    *extension = (weft__extension){
        .data = timelines, .destroy = timelines_destroy, .shared_visit = visit_shared};
    return timelines;
}
