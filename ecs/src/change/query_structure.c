/* SPDX-License-Identifier: MIT */
/* query_structure.c: the public query-wide changes: add, remove, set, set a shared value, enable,
 * destroy. Each gives every selected part a destination and lets the engine (query_change.h) do it.
 */
#include "query_structure.h"
#include "change_request.h"
#include "enable.h"
#include "entity_sparse.h"
#include "entity_value.h"
#include "error.h"
#include "query_change.h"

/* ---- add, remove, shared values ---- */

static weft_result change_all(weft_world *world, weft_query query,
                              const weft__change_request *request, const char *what)
{
    weft__change change = {.world = world};
    return weft__change_selected(&change, weft__change_select(&change, query, what), request);
}

weft_result weft_query_add(weft_world *world, weft_query query, weft_component component)
{
    weft_result result = weft__component_check(world, component, WEFT_RESOURCE, "weft_query_add");
    if (result != WEFT_OK) return result;
    const weft__type *type = weft__type_sparse(world, component);
    if (type != NULL)
        return weft__sparse_change_query(
            world, query, &(weft__sparse_query_change){.type = type, .what = "weft_query_add"});
    return change_all(world, query, &(weft__change_request){.component = component.id},
                      "weft_query_add");
}

weft_result weft_query_remove(weft_world *world, weft_query query, weft_component component)
{
    weft_result result =
        weft__component_check(world, component, WEFT_RESOURCE, "weft_query_remove");
    if (result != WEFT_OK) return result;
    const weft__type *type = weft__type_sparse(world, component);
    if (type != NULL)
        return weft__sparse_change_query(world, query,
                                         &(weft__sparse_query_change){.type = type,
                                                                      .is_remove = true,
                                                                      .what = "weft_query_remove"});
    return change_all(world, query,
                      &(weft__change_request){.component = component.id, .is_remove = true},
                      "weft_query_remove");
}

weft_result weft_query_set_shared(weft_world *world, weft_query query, weft_component component,
                                  const void *value)
{
    const char *what = "weft_query_set_shared";
    weft__change_request request;
    weft_result result = weft__change_request_shared(world, component, value, what, &request);
    if (result != WEFT_OK) return result;
    result = change_all(world, query, &request, what);
    weft__shared_release(&world->shared, component.id, request.value, 1);
    return result;
}

/* ---- values ---- */

/* A value of a component for many rows. On the stack of weft_query_set. */
typedef struct assigning {
    uint32_t component;
    const void *value;
} assigning;

/* Writes a value to a run of rows: what was there ends, copies of the value take its place. */
static void assign_rows(weft_world *world, weft__span rows, const void *user)
{
    const assigning *a = user;
    const weft__type_slot *slot = weft__archetype_slot(rows.chunk->archetype, a->component);
    const weft__type *type = world->types.at[a->component];
    if (slot == NULL || slot->column == 0 || rows.count == 0) return;
    char *at = weft__chunk_value(rows.chunk, slot->column, rows.row);
    if (type->needs_destruct) weft__type_destruct(&world->memory, type, at, rows.count);
    weft_result result = weft__type_replicate(&world->memory, type, at, a->value, rows.count);
    WEFT_ASSERT(result == WEFT_OK); /* only buffers allocate, and they are refused */
    (void)result;
    weft__component_stamp(world, rows.chunk, a->component, rows.row, rows.count);
}

static weft_result check_value(weft_world *world, weft_component component, const void *value,
                               size_t size)
{
    uint32_t refused = WEFT_RESOURCE | WEFT_SHARED | WEFT_CHUNK | WEFT_BUFFER;
    weft_result result = weft__component_check(world, component, refused, "weft_query_set");
    if (result != WEFT_OK) return result;
    size_t expected = world->types.at[component.id]->desc.size;
    if (size != expected)
        return weft__error(
            world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
            "weft_query_set: %s has %zu bytes, the value %zu: pass the sizeof of its "
            "type",
            weft__type_name(world, component.id), expected, size);
    if (value == NULL && size != 0)
        return weft__error_argument(world, "weft_query_set", "value is NULL: give its address");
    return WEFT_OK;
}

weft_result weft_query_set(weft_world *world, weft_query query, weft_component component,
                           const void *value, size_t size)
{
    weft_result result = check_value(world, component, value, size);
    if (result != WEFT_OK) return result;
    const weft__type *type = weft__type_sparse(world, component);
    if (type != NULL)
        return weft__sparse_change_query(
            world, query,
            &(weft__sparse_query_change){.type = type, .value = value, .what = "weft_query_set"});
    weft__change_request request = {.component = component.id};
    weft__change change = {.world = world};
    result = weft__change_select(&change, query, "weft_query_set");
    if (result == WEFT_OK) result = weft__change_route_all(&change, &request);
    if (result == WEFT_OK) result = weft__change_prepare(&change);
    if (result == WEFT_OK) {
        weft__change_apply(&change);
        weft__change_each(&change, assign_rows, &(assigning){component.id, value});
    }
    weft__change_fini(&change);
    return result;
}

/* ---- destroy ---- */

/* Ends the rows that are selected, or could not be (`result`). */
static weft_result destroy_selected(weft__change *change, weft_result result)
{
    for (uint32_t i = 0; i < change->parts.count && result == WEFT_OK; i++)
        result = weft__change_destroy(change, &change->parts.at[i]);
    return weft__change_finish(change, result);
}

weft_result weft_query_destroy_entities(weft_world *world, weft_query query)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft__change change = {.world = world};
    return destroy_selected(&change,
                            weft__change_select(&change, query, "weft_query_destroy_entities"));
}

weft_result weft__chunk_destroy_rows(weft_world *world, weft__chunk *chunk)
{
    weft__change change = {.world = world};
    bool is_selected = weft__change_push(&change, weft__change_run(chunk, 0, chunk->count));
    return destroy_selected(
        &change, is_selected ? WEFT_OK : weft__error_memory(world, "destruction of entities"));
}

/* ---- enable bits ---- */

/* The bits of a component in many rows. On the stack of weft_query_enable. */
typedef struct enabling {
    uint32_t component;
    bool is_enabled;
} enabling;

/* Sets the bits of rows that have the component; others have none. */
static void enable_rows(weft_world *world, weft__span rows, const void *user)
{
    const enabling *e = user;
    const weft__archetype *archetype = rows.chunk->archetype;
    uint32_t type = weft__archetype_find(archetype, e->component);
    if (type == WEFT__NONE) return;
    for (uint32_t i = 0; i < rows.count; i++)
        weft__chunk_enable(rows.chunk, archetype->types[type].enableable, rows.row + i,
                           e->is_enabled);
    weft__component_stamp(world, rows.chunk, e->component, rows.row, rows.count);
}

weft_result weft_query_enable(weft_world *world, weft_query query, weft_component component,
                              bool enabled)
{
    weft_result result = weft__component_check(world, component, 0, "weft_query_enable");
    if (result != WEFT_OK) return result;
    if ((world->types.at[component.id]->desc.flags & WEFT_ENABLEABLE) == 0)
        return weft__error(
            world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
            "weft_query_enable: %s is not ENABLEABLE: register it with WEFT_ENABLEABLE",
            weft__type_name(world, component.id));
    weft__change change = {.world = world};
    result = weft__change_select(&change, query, "weft_query_enable");
    if (result == WEFT_OK)
        weft__change_each(&change, enable_rows, &(enabling){component.id, enabled});
    weft__change_fini(&change);
    return result;
}
