/* SPDX-License-Identifier: MIT */
/* version_renewal.c: bringing old change versions nearer: see version_renewal.h.
 *
 * What was seen and is old is sorted. Then a stamp older than all of it becomes the lowest new
 * version, one between the first and the second the next one, and so on; what was seen becomes what
 * the newest stamp that it has seen does. Cost: O(slices and types of all chunks). */
#include "version_renewal.h"

#include "archetype_state.h"
#include "query_memory.h"

static uint32_t age_of(const weft__renewal *r, uint32_t version)
{
    return r->now - version;
}

/* What lies ahead, after a restore, is not old. */
static bool is_old(const weft__renewal *r, uint32_t version)
{
    return version != 0 && (int32_t)age_of(r, version) > (int32_t)WEFT__VERSION_KEPT;
}

uint32_t weft__renewed(const weft__renewal *r, uint32_t version)
{
    if (!is_old(r, version)) return version;
    uint32_t begin = 0, end = r->old.count; /* how many were seen before it */
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (age_of(r, r->old.at[middle]) > age_of(r, version))
            begin = middle + 1;
        else
            end = middle;
    }
    return r->newest - (r->old.count - begin);
}

void weft__renew_seen(weft__renewal *r, uint32_t *seen)
{
    if (r->is_put) {
        *seen = weft__renewed(r, *seen);
        return;
    }
    if (!is_old(r, *seen) || r->is_refused) return;
    r->is_refused = !WEFT__LIST_APPEND(&r->world->memory, WEFT__MEMORY_QUERIES, &r->old, seen, 1);
}

/* Ascending, each once. Few are old: those of systems that have not run for hours. */
static void sort_seen(weft__renewal *r)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->old.count; i++) {
        uint32_t version = r->old.at[i], at = count;
        while (at > 0 && age_of(r, r->old.at[at - 1]) < age_of(r, version)) at--;
        if (at > 0 && r->old.at[at - 1] == version) continue;
        for (uint32_t k = count++; k > at; k--) r->old.at[k] = r->old.at[k - 1];
        r->old.at[at] = version;
    }
    r->old.count = count;
}

static void visit_filters(weft__renewal *r)
{
    const weft__queries *queries = r->world->front.queries;
    for (uint32_t i = 1; i < queries->handles.count; i++) {
        weft__query_handle *handle = queries->handles.at[i];
        if (handle->query == NULL) continue;
        weft__filter *filter = &handle->filter;
        for (uint32_t c = 0; c < filter->changed.count; c++)
            weft__renew_seen(r, &filter->changed.at[c].since);
        if (filter->has_order) weft__renew_seen(r, &filter->order_since);
    }
}

static void visit_extensions(weft__renewal *r)
{
    for (uint32_t i = 0; i < WEFT__EXTENSION_COUNT; i++) {
        const weft__extension *extension = &r->world->front.extensions[i];
        if (extension->data != NULL && extension->renew != NULL)
            extension->renew(extension->data, r);
    }
}

static void renew_chunk(const weft__renewal *r, weft__chunk *chunk)
{
    uint32_t count = chunk->archetype->type_count * chunk->layout->slice_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t version = at_load_rlx(&chunk->x_versions[i]); /* relaxed: the world is idle */
        if (is_old(r, version))
            at_store_rlx(&chunk->x_versions[i], weft__renewed(r, version)); /* relaxed: as above */
    }
    chunk->order_version = weft__renewed(r, chunk->order_version);
    chunk->stamped_version = chunk->ready_version = 0; /* equal numbers come again */
    chunk->ready_end = 0;
}

static void renew_stamps(const weft__renewal *r)
{
    weft_world *world = r->world;
    for (uint32_t id = 1; id < world->chunks.end; id++)
        if (world->chunks.at[id] != NULL) renew_chunk(r, world->chunks.at[id]);
    for (uint32_t i = 0; i < WEFT__SPARES; i++)
        if (world->spares.ring[i] != NULL) renew_chunk(r, world->spares.ring[i]);
    for (uint32_t i = 0; i < world->archetypes.id_count; i++) {
        weft__archetype *archetype = world->archetypes.by_id[i];
        if (archetype != NULL)
            archetype->order_version = weft__renewed(r, archetype->order_version);
    }
    world->quick.run_rows = 0;
}

void weft__versions_renew(weft_world *world)
{
    weft__renewal r = {.world = world, .now = world->front.version};
    visit_filters(&r);
    visit_extensions(&r);
    if (!r.is_refused) {
        sort_seen(&r);
        r.newest = r.now - WEFT__VERSION_KEPT;
        if (r.newest <= r.old.count) r.newest -= r.old.count + 1; /* 0 is no version */
        r.is_put = true;
        visit_filters(&r);
        visit_extensions(&r); /* before the stamps: they compare */
        renew_stamps(&r);
        world->front.renewed = r.now;
        world->front.renewal = ++world->front.renewals;
    }
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &r.old);
}
