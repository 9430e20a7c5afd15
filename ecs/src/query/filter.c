/* SPDX-License-Identifier: MIT */
/* filter.c: setting and evaluating the filters of a query handle.
 *
 * A shared value of a condition is interned when the condition is made, so that evaluation compares
 * indices; filtering on a value not in use creates it. Change conditions compare version numbers,
 * wrap-safe: newer means the difference is positive as a signed number. */
#include "filter.h"

#include "archetype_state.h"
#include "error.h"
#include "query_handle.h"
#include "query_match.h"
#include "sparse.h"
#include "world_state.h"

#include <stdlib.h>

/* ---- evaluation ---- */

/* Values ascend. */
static bool has_value(const weft__filter_shared *condition, uint32_t value)
{
    uint32_t low = 0, high = condition->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (condition->values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < condition->count && condition->values[low] == value;
}

static bool passes_shared(const weft__filter_shared *condition, const weft__place *places,
                          const weft__chunk *chunk)
{
    uint32_t position = places[condition->term].shared;
    bool wants_others = condition->op == WEFT_FILTER_NOT_EQUAL;
    if (position == WEFT__NO_PLACE) return wants_others;
    return has_value(condition, chunk->tuple->values[position]) != wants_others;
}

/* Every change condition with version 0 lets everything pass. */
static bool passes_anyway(const weft__filter *filter, const uint32_t *since)
{
    if (since != NULL) return *since == 0;
    for (uint32_t i = 0; i < filter->changed.count; i++)
        if (filter->changed.at[i].since == 0) return true;
    return false;
}

weft__filter_verdict weft__filter_chunk(const weft__filter *filter, const weft__place *places,
                                        const weft__chunk *chunk, const uint32_t *since)
{
    for (uint32_t i = 0; i < filter->shared.count; i++)
        if (!passes_shared(&filter->shared.at[i], places, chunk)) return WEFT__FILTER_SKIP;
    if (!weft__filter_has_changes(filter)) return WEFT__FILTER_PASS;
    uint32_t order_since = since != NULL ? *since : filter->order_since;
    if (filter->has_order &&
        (order_since == 0 || weft__version_is_newer(chunk->order_version, order_since)))
        return WEFT__FILTER_PASS;
    if (filter->changed.count == 0) return WEFT__FILTER_SKIP;
    return passes_anyway(filter, since) ? WEFT__FILTER_PASS : WEFT__FILTER_SLICES;
}

static bool has_changed(const weft_a32 *x_version, uint32_t since)
{
    /* plain: slices of the caller's own range, which others do not stamp while it is scanned; so
     * that the compiler may compare eight at once (0.5 ns per slice; 1.2 one by one) */
    uint32_t version = at_plain(x_version);
    return version != 0 && (int32_t)(version - since) > 0;
}

enum { BLOCK = 8 };

/* How many of a block's slices have changed. */
static inline uint32_t changed_in_block(const weft_a32 *x_versions, uint32_t since)
{
    uint32_t changed = 0;
    for (uint32_t i = 0; i < BLOCK; i++) changed += has_changed(&x_versions[i], since);
    return changed;
}

uint32_t weft__versions_scan(const weft_a32 *x_versions, uint32_t slice, uint32_t end,
                             uint32_t since, bool wanted)
{
    const uint32_t passed = wanted ? 0 : BLOCK; /* nothing to find in a block like this */
    while (slice + BLOCK <= end && changed_in_block(x_versions + slice, since) == passed)
        slice += BLOCK;
    while (slice < end && has_changed(&x_versions[slice], since) != wanted) slice++;
    return slice;
}

static uint32_t since_of(const weft__filter *filter, uint32_t index, const uint32_t *since)
{
    return since != NULL ? *since : filter->changed.at[index].since;
}

uint32_t weft__filter_sparse_version(const weft__type *sparse, const weft__chunk *chunk,
                                     uint32_t slice)
{
    uint32_t shift = chunk->layout->slice_shift, first = slice << shift;
    uint32_t left = chunk->count - first;
    return weft__sparse_newest(sparse, chunk, first, left < 1u << shift ? left : 1u << shift);
}

/* The first slice in [slice, end) in which the SPARSE value of a row's entity changed. */
static uint32_t scan_sparse(const weft__type *type, const weft__chunk *chunk, uint32_t slice,
                            uint32_t end, uint32_t since)
{
    for (; slice < end; slice++)
        if (since == 0 ||
            weft__version_is_newer(weft__filter_sparse_version(type, chunk, slice), since))
            break;
    return slice;
}

uint32_t weft__filter_next(const weft__filter *filter, const weft__place *places,
                           const weft__chunk *chunk, uint32_t slice, uint32_t end,
                           const uint32_t *since)
{
    uint32_t first = end; /* changed in any column: the nearest of all */
    for (uint32_t i = 0; i < filter->changed.count; i++) {
        uint32_t type = places[filter->changed.at[i].term].type;
        if (filter->changed.at[i].sparse != NULL)
            first = scan_sparse(filter->changed.at[i].sparse, chunk, slice, first,
                                since_of(filter, i, since));
        if (type == WEFT__NO_PLACE) continue;
        first = weft__versions_scan(weft__chunk_versions(chunk, type), slice, first,
                                    since_of(filter, i, since), true);
    }
    return first;
}

static bool is_changed(const weft__filter *filter, const weft__place *places,
                       const weft__chunk *chunk, uint32_t slice, const uint32_t *since)
{
    return weft__filter_next(filter, places, chunk, slice, slice + 1, since) == slice;
}

uint32_t weft__filter_run_end(const weft__filter *filter, const weft__place *places,
                              const weft__chunk *chunk, uint32_t slice, uint32_t end,
                              const uint32_t *since)
{
    if (filter->changed.count == 1 && places[filter->changed.at[0].term].type != WEFT__NO_PLACE)
        return weft__versions_scan(
            weft__chunk_versions(chunk, places[filter->changed.at[0].term].type), slice, end,
            since_of(filter, 0, since), false);
    while (slice < end && is_changed(filter, places, chunk, slice, since)) slice++;
    return slice;
}

/* ---- setting ---- */

static void release_values(weft_world *world, const weft__filter_shared *condition, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        weft__shared_release(&world->shared, condition->component, condition->values[i], 1);
}

static void free_array(weft_world *world, void *items, uint32_t capacity, size_t size)
{
    weft__free(&world->memory, WEFT__MEMORY_QUERIES, items, capacity, size, 8);
}

void weft__filter_reset(weft_world *world, weft__filter *filter)
{
    for (uint32_t i = 0; i < filter->shared.count; i++) {
        weft__filter_shared *condition = &filter->shared.at[i];
        release_values(world, condition, condition->count);
        free_array(world, condition->values, condition->count, sizeof *condition->values);
    }
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &filter->shared);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &filter->changed);
    *filter = (weft__filter){.version = filter->version + 1};
}

static int compare_values(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Interns the values of a condition. On failure nothing is held. */
static weft_result intern_values(weft_world *world, weft__filter_shared *condition,
                                 const void *values)
{
    size_t size = world->types.at[condition->component]->desc.size;
    for (uint32_t i = 0; i < condition->count; i++) {
        const char *value = (const char *)values + i * size;
        weft_result result =
            weft__shared_intern(&world->shared, condition->component, value, &condition->values[i]);
        if (result == WEFT_OK) continue;
        release_values(world, condition, i);
        return result;
    }
    qsort(condition->values, condition->count, sizeof *condition->values, compare_values);
    return WEFT_OK;
}

static weft_result add_shared(weft_world *world, weft__filter *filter,
                              weft__filter_shared condition, const void *values)
{
    if (!WEFT__LIST_ROOM(&world->memory, WEFT__MEMORY_QUERIES, &filter->shared,
                         filter->shared.count + 1))
        return WEFT_OUT_OF_MEMORY;
    condition.values = weft__alloc(&world->memory, WEFT__MEMORY_QUERIES, condition.count,
                                   sizeof *condition.values, 8);
    if (condition.values == NULL) return WEFT_OUT_OF_MEMORY;
    weft_result result = intern_values(world, &condition, values);
    if (result != WEFT_OK) {
        free_array(world, condition.values, condition.count, sizeof *condition.values);
        return result;
    }
    filter->shared.at[filter->shared.count++] = condition;
    filter->version++;
    return WEFT_OK;
}

/* The handle and the term of a condition. On failure: error set. */
static weft_result find_term(weft_world *world, weft_query query, weft_component component,
                             const char *what, weft__query_handle **handle, uint32_t *term)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    *handle = weft__query_find_checked(world, query);
    if (*handle == NULL) return WEFT_BAD_HANDLE;
    if (weft__type_at(world, component) == NULL) return weft__error_component(world, component);
    *term = weft__query_term_find((*handle)->query, component.id);
    if (*term != WEFT__NONE) return WEFT_OK;
    return weft__error(
        world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, component,
        "%s: %s is not a component of the query: add a term for it (WEFT_NO_ACCESS is enough)",
        what, weft__type_name(world, component.id));
}

weft_result weft_query_filter_shared(weft_world *world, weft_query query, weft_component component,
                                     weft_filter_op op, const void *values, uint32_t count)
{
    weft__query_handle *handle;
    uint32_t term;
    weft_result result =
        find_term(world, query, component, "weft_query_filter_shared", &handle, &term);
    if (result != WEFT_OK) return result;
    if (!handle->query->terms[term].is_shared)
        return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
                           "weft_query_filter_shared: %s is not a SHARED component: name one that "
                           "was registered with WEFT_SHARED",
                           weft__type_name(world, component.id));
    if (values == NULL || count == 0 || (unsigned)op > WEFT_FILTER_ONE_OF ||
        (op != WEFT_FILTER_ONE_OF && count != 1))
        return weft__error_argument(world, "weft_query_filter_shared",
                                    "give one value for EQUAL and NOT_EQUAL, one or more for "
                                    "ONE_OF, and no other operation");
    weft__filter_shared condition = {
        .component = component.id, .term = term, .op = op, .count = count};
    result = add_shared(world, &handle->filter, condition, values);
    return result == WEFT_OK ? WEFT_OK : weft__error_memory(world, "a filter");
}

/* The change condition of a term, made when there is none. NULL: no memory. */
static weft__filter_changed *changed_at(weft_world *world, weft__filter *filter, uint32_t term,
                                        const weft__type *sparse)
{
    for (uint32_t i = 0; i < filter->changed.count; i++)
        if (filter->changed.at[i].term == term) return &filter->changed.at[i];
    weft__filter_changed *condition =
        WEFT__LIST_ADD(&world->memory, WEFT__MEMORY_QUERIES, &filter->changed);
    if (condition != NULL) *condition = (weft__filter_changed){.term = term, .sparse = sparse};
    return condition;
}

weft_result weft_query_filter_changed(weft_world *world, weft_query query, weft_component component,
                                      uint32_t since)
{
    weft__query_handle *handle;
    uint32_t term;
    weft_result result =
        find_term(world, query, component, "weft_query_filter_changed", &handle, &term);
    if (result != WEFT_OK) return result;
    weft__filter_changed *condition =
        changed_at(world, &handle->filter, term, handle->query->terms[term].sparse);
    if (condition == NULL) return weft__error_memory(world, "a filter");
    condition->since = since;
    handle->filter.version++;
    return WEFT_OK;
}

/* The handle of a query whose filter may be changed now. NULL: error set, code in *result. */
static weft__query_handle *find_filter(weft_world *world, weft_query query, const char *what,
                                       weft_result *result)
{
    *result = world == NULL ? WEFT_INVALID_ARGUMENT : weft__idle(world, what);
    if (*result != WEFT_OK) return NULL;
    weft__query_handle *handle = weft__query_find_checked(world, query);
    if (handle == NULL) *result = WEFT_BAD_HANDLE;
    return handle;
}

weft_result weft_query_filter_order(weft_world *world, weft_query query, uint32_t since)
{
    weft_result result;
    weft__query_handle *handle = find_filter(world, query, "weft_query_filter_order", &result);
    if (handle == NULL) return result;
    handle->filter.has_order = true;
    handle->filter.order_since = since;
    handle->filter.version++;
    return WEFT_OK;
}

weft_result weft_query_filter_reset(weft_world *world, weft_query query)
{
    weft_result result;
    weft__query_handle *handle = find_filter(world, query, "weft_query_filter_reset", &result);
    if (handle == NULL) return result;
    weft__filter_reset(world, &handle->filter);
    return WEFT_OK;
}
