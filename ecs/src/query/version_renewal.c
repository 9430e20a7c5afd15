/* SPDX-License-Identifier: MIT */
/* version_renewal.c: bringing old change versions nearer: see version_renewal.h.
 *
 * What was seen and is old is sorted. Then a stamp older than all of it becomes the lowest new
 * version, one between the first and the second the next one, and so on; what was seen becomes what
 * the newest stamp that it has seen does. Cost: O(slices and types of all chunks). */
#include "version_renewal.h"
#include "entity_value.h"
#include "slice_ops.h"

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

/* ---- versions that are asked for ---- */

uint32_t weft_world_change_version(const weft_world *world)
{
    return world == NULL ? 0 : world->front.version;
}

uint32_t weft_world_advance_change_version(weft_world *world)
{
    if (world == NULL) return 0;
    const char *advice = "the step gives each system its version: call it between steps";
    if (weft__refuse_systems(world, "weft_world_advance_change_version", advice) != WEFT_OK)
        return 0;
    uint32_t old = world->front.version;
    weft__version_advance(world);
    weft__versions_check(world);
    return old;
}

static const weft_slice_context *context_of(const weft_slice *slice)
{
    return slice->context;
}

/* The newest of `count` versions. relaxed: those of rows that others stamp now are not asked for */
static uint32_t newest_of(const weft_a32 *x_versions, uint32_t count)
{
    uint32_t newest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t version = at_load_rlx(&x_versions[i]); /* relaxed: above */
        if (weft__version_is_newer(version, newest)) newest = version;
    }
    return newest;
}

/* The type of a SPARSE term of rows that are not its own; else NULL. */
static const weft__type *sparse_of(const weft_slice *slice, uint32_t term)
{
    bool is_new = (slice->calls & WEFT_SLICE_ROWS) != 0; /* rows that a recorder gave */
    return is_new ? NULL : weft__slice_query(slice)->terms[term].sparse;
}

/* The newest version of a term that may be asked for. */
static uint32_t newest_in(const weft_slice *slice, uint32_t term)
{
    const weft__place *place = (const weft__place *)slice->places + term;
    const weft__chunk *chunk = slice->chunk;
    uint32_t row = weft__slice_first_row(slice);
    const weft__type *sparse = sparse_of(slice, term);
    if (sparse != NULL) return weft__sparse_newest(sparse, chunk, row, slice->count);
    if (place->type == WEFT__NO_PLACE || slice->count == 0) return 0;
    uint32_t shift = chunk->layout->slice_shift;
    uint32_t first = row >> shift, last = (row + slice->count - 1) >> shift;
    return newest_of(weft__chunk_versions(chunk, place->type) + first, last - first + 1);
}

/* False, and reported in checked builds: there is no such term, or it may not be asked for. */
static bool may_ask(const weft_slice *slice, uint32_t term)
{
    const weft__slice_ops *ops = weft__slice_ops_of(slice);
    if (term < slice->term_count && weft__slice_is_here(slice))
        return ops->asks == NULL || ops->asks(slice, term);
    weft__slice_report(slice, term, WEFT_READ);
    return false;
}

uint32_t weft_slice_change_version(const weft_slice *slice, uint32_t term)
{
    return may_ask(slice, term) ? newest_in(slice, term) : context_of(slice)->stamp;
}

bool weft_slice_changed_since(const weft_slice *slice, uint32_t term, uint32_t version)
{
    if (!may_ask(slice, term)) return true;
    const weft__place *place = (const weft__place *)slice->places + term;
    if (place->type == WEFT__NO_PLACE && sparse_of(slice, term) == NULL) return false;
    return version == 0 || weft__version_is_newer(newest_in(slice, term), version);
}

bool weft_slice_order_changed_since(const weft_slice *slice, uint32_t version)
{
    const weft__chunk *chunk = slice->chunk;
    bool is_new = (slice->calls & WEFT_SLICE_ROWS) != 0; /* rows that a recorder gave */
    return version == 0 || !weft__slice_is_here(slice) || is_new ||
           weft__version_is_newer(chunk->order_version, version);
}

uint32_t weft_slice_since(const weft_slice *slice)
{
    return context_of(slice)->since;
}

/* Why there is no version of a value. */
static weft_result has_no_version(const weft_world *world, weft_entity entity,
                                  weft_component component)
{
    if (weft__type_at(world, component) == NULL) return weft__error_component(world, component);
    if (!weft_entity_is_alive(world, entity)) return weft__error_stale(world, entity);
    return weft__error_absent(world, entity, component);
}

uint32_t weft_entity_change_version(const weft_world *world, weft_entity entity,
                                    weft_component component)
{
    uint32_t row;
    if (world == NULL) return 0;
    weft__note_read(world, "weft_entity_change_version", component);
    const weft__chunk *chunk = weft__holder_chunk(world, entity, component, &row);
    const weft__type_slot *slot =
        chunk == NULL
            ? NULL
            : weft__archetype_slot(chunk->archetype, weft__component_id(world, component));
    if (slot == NULL) {
        has_no_version(world, entity, component);
        return 0;
    }
    uint32_t slice = row >> chunk->layout->slice_shift;
    return newest_of(weft__chunk_versions(chunk, slot->type) + slice, 1);
}
