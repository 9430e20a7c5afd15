/* SPDX-License-Identifier: MIT */
/* version.c: change versions that loops and tools ask for: of the world, of a term in a slice, of a
 * chunk's rows, of a value.
 *
 * They are only asked for here. What writes stamps its slice by weft__stamp (chunk_state.h):
 * loops and systems in query_cursor.c and slice.c, single entities in entity_value.h, rows that
 * come or move in structure.c; docs/guide/queries.md has the rules. Filters,
 * which compare many at a time, are in filter.c. Version 0 is older than everything; others
 * compare by distance. */
#include "archetype_state.h"
#include "entity_value.h"
#include "error.h"
#include "query_state.h"
#include "slice_ops.h"
#include "sparse.h"
#include "version_renewal.h"

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

static const weft__slice_ops *ops_of(const weft_slice *slice)
{
    return context_of(slice)->ops;
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
    if (term < slice->term_count && weft__slice_is_here(slice))
        return ops_of(slice)->asks(slice, term);
    ops_of(slice)->report(slice, term, WEFT_READ);
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
