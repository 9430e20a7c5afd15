/* SPDX-License-Identifier: MIT */
/* slice_ops_system.c: what a slice of a system can reach beyond its columns: other entities,
 * resources, its recorder.
 *
 * Checked builds compare each with what the system declared. */
#include "slice_ops_system.h"

#include "column_watch.h"
#include "diagnose.h"
#include "mistakes.h"

static bool is_granted(const weft__grant *grants, uint32_t count, uint32_t component,
                       weft_access access)
{
    for (uint32_t i = 0; i < count; i++)
        if (grants[i].component == component && (access == WEFT_READ || grants[i].access == access))
            return true;
    return false;
}

/* What is wrong with an access that is_granted refused; `missing`: nothing of the kind is
 * declared. */
static const char *refusal(const weft__grant *grants, uint32_t count, uint32_t component,
                           const char *missing)
{
    return is_granted(grants, count, component, WEFT_READ)
               ? "is written, but declared for reading only: give it WEFT_WRITE"
               : missing;
}

/* In place of a value that a mistake does not get: memory that stands in, in checked
 * builds, else NULL. */
static void *no_value(const weft_slice *slice, weft_component component)
{
    return weft__stand_in_values(weft__slice_system(slice)->context.world, component.id, 1);
}

static bool may_look_up(const weft_slice *slice, weft_component component, weft_access access)
{
    const weft__system *system = weft__slice_system(slice);
    if (!WEFT_IS_CHECKED) return true;
    const weft__type *type = weft__type_find(system->context.world, component);
    if (type == NULL) {
        weft__violate_in(slice, 0, access,
                         "a component is looked up that is null or of another world: check the "
                         "call that registered it");
        return false;
    }
    if (type->value_bytes == 0 ||
        (type->desc.flags & (WEFT_SHARED | WEFT_CHUNK | WEFT_RESOURCE)) != 0) {
        weft__violate_in(slice, component.id, access,
                         "is looked up, but entities have no value of it: it is a tag, SHARED, "
                         "CHUNK or RESOURCE");
        return false;
    }
    if ((system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0 ||
        is_granted(system->lists.lookups, system->lists.lookup_count, component.id, access))
        return true;
    weft__violate_in(slice, component.id, access,
                     refusal(system->lists.lookups, system->lists.lookup_count, component.id,
                             "is not among its lookups: declare it"));
    return false;
}

/* Where an entity has a component: NULL: it is dead, or has none with a value in its row. */
static weft__chunk *find_value(const weft_world *world, weft_entity entity,
                               weft_component component, uint32_t *row,
                               const weft__type_slot **slot)
{
    uint32_t id = weft__component_id(world, component);
    weft__chunk *chunk = weft__entity_row(world, entity, row);
    if (chunk == NULL) return NULL;
    *slot = weft__archetype_slot(chunk->archetype, id);
    if (__builtin_expect(*slot == NULL, 0)) {
        chunk = weft__entity_sparse_row(world, entity, component, row);
        if (chunk == NULL) return NULL;
        *slot = weft__archetype_slot(chunk->archetype, id);
    }
    return *slot == NULL || (*slot)->column == 0 ? NULL : chunk;
}

/* A value that is there is looked up: other slices of the system may have its row. */
static void watch_look(const weft_slice *slice, weft_entity entity, weft_component component,
                       weft_access access)
{
    uint32_t row;
    const weft_world *world = weft__slice_system(slice)->context.world;
    const weft__query *query = weft__slice_system(slice)->context.query;
    bool is_of_sparse = query != NULL && query->is_of_sparse_rows;
    const weft__chunk *chunk = is_of_sparse
                                   ? weft__entity_sparse_row(world, entity, component, &row)
                                   : weft__entity_row(world, entity, &row);
    if (access == WEFT_WRITE) weft__diagnose_write(slice, entity, component);
    if (chunk != NULL) weft__diagnose_look(slice, chunk, row, component, access);
}

static const void *slice_get(const weft_slice *slice, weft_entity entity, weft_component component)
{
    uint32_t row;
    const weft__type_slot *slot;
    const weft_world *world = weft__slice_system(slice)->context.world;
    if (!may_look_up(slice, component, WEFT_READ)) return no_value(slice, component);
    const void *value = /* checked builds want to know where it is */
        WEFT_IS_CHECKED ? NULL
                        : weft__entity_mapped(world, entity, weft__component_id(world, component));
    if (value != NULL) return value;
    const weft__chunk *chunk = find_value(world, entity, component, &row, &slot);
    if (chunk == NULL) return NULL;
    if (WEFT_IS_CHECKED) watch_look(slice, entity, component, WEFT_READ);
    return weft__chunk_value(chunk, slot->column, row);
}

static void *slice_get_write(const weft_slice *slice, weft_entity entity, weft_component component)
{
    uint32_t row;
    const weft__type_slot *slot;
    const weft__system *system = weft__slice_system(slice);
    if (!may_look_up(slice, component, WEFT_WRITE)) return no_value(slice, component);
    const weft__chunk *chunk = find_value(system->context.world, entity, component, &row, &slot);
    if (chunk == NULL) return NULL;
    if (WEFT_IS_CHECKED) watch_look(slice, entity, component, WEFT_WRITE);
    weft_a32 *versions = weft__chunk_versions(chunk, slot->type);
    /* relaxed: read in later stages only */
    at_store_rlx(&versions[row >> chunk->layout->slice_shift], system->context.stamp);
    return weft__chunk_value(chunk, slot->column, row);
}

/* Reading by a finder that was not declared is reported once, and goes on. */
static bool slice_may_find(const weft_slice *slice, weft_component component)
{
    may_look_up(slice, component, WEFT_READ);
    return true;
}

/* What is wrong with an access to a resource; NULL: nothing. */
static const char *resource_problem(const weft__system *system, const weft__type *type,
                                    weft_access access)
{
    const weft__lists *lists = &system->lists;
    if (type == NULL || type->resource == NULL)
        return "is asked for as a resource, but is null, of another world or no RESOURCE: check "
               "the call that registered it";
    if ((system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0 ||
        is_granted(lists->resources, lists->resource_count, type->id, access))
        return NULL;
    return refusal(lists->resources, lists->resource_count, type->id,
                   "is not among its resources: declare it");
}

static void *slice_resource(const weft_slice *slice, weft_component component, weft_access access)
{
    const weft__system *system = weft__slice_system(slice);
    const weft__type *type = weft__type_find(system->context.world, component);
    if (!WEFT_IS_CHECKED) /* its version was stamped before the stage */
        return type == NULL ? NULL : type->resource;
    const char *problem = resource_problem(system, type, access);
    if (problem != NULL) {
        weft__violate_in(slice, type == NULL ? 0 : type->id, access, problem);
        return no_value(slice, component);
    }
    return access == WEFT_WRITE ? type->resource : weft__watch_resource(system, slice, type);
}

static weft_recorder *slice_commands(const weft_slice *slice)
{
    const weft__system *system = weft__slice_system(slice);
    weft__worker *worker = &system->scheduler->workers[slice->worker];
    if (__builtin_expect(system->passes, 0)) { /* commands may be being played */
        if (worker->refused == NULL || system->position < worker->refused->position)
            worker->refused = system;
        return NULL;
    }
    weft_recorder *commands = &worker->commands;
    weft__recorder_key(commands, (uint64_t)system->position << 32 | slice->index);
    return commands;
}

static void slice_report(const weft_slice *slice, uint32_t term, weft_access access)
{
    if (!weft__slice_is_here(slice)) {
        weft__watch_gone(slice, access);
        return;
    }
    const weft__query *query = weft__slice_system(slice)->context.query;
    bool has_term = query != NULL && term < query->term_count;
    weft__violate_in(
        slice, has_term ? query->terms[term].component : 0, access,
        has_term
            ? weft__slice_problem(query, term, access)
            : "named a term that its query does not have: terms count from 0 to term_count - 1");
}

static void slice_report_row(const weft_slice *slice, uint32_t term, uint32_t row,
                             weft_access access)
{
    weft__row_missing_in(slice, weft__slice_query(slice)->terms[term].component, access, row,
                         slice->count);
}

static void slice_mistype(const weft_slice *slice, uint32_t term, weft_access access,
                          const char *type)
{
    weft__mistyped_in(slice, weft__slice_query(slice)->terms[term].component, access, type);
}

/* Slices of large chunks are stamped for all systems of the stage at once, unless one of them asks:
 * then each is stamped when its system comes to it. */
static bool slice_asks(const weft_slice *slice, uint32_t term)
{
    const weft__system *system = weft__slice_system(slice);
    const weft__query_term *asked = &weft__slice_query(slice)->terms[term];
    bool is_declared = (system->flags & WEFT_SYSTEM_ASKS_CHANGES) != 0;
    if (is_declared && asked->access != WEFT_NO_ACCESS) return true;
    if (WEFT_IS_CHECKED)
        weft__violate_in(
            slice, asked->component, WEFT_READ,
            is_declared ? "is tested for changes, but declared WEFT_NO_ACCESS: declare it WEFT_READ"
                        : "is tested for changes: give the system WEFT_SYSTEM_ASKS_CHANGES");
    return false;
}

const weft__slice_ops weft__slice_ops_system = {
    .get = slice_get,
    .get_write = slice_get_write,
    .may_find = slice_may_find,
    .resource = slice_resource,
    .commands = slice_commands,
    .report = slice_report,
    .report_row = slice_report_row,
    .mistype = slice_mistype,
    .asks = slice_asks,
};
