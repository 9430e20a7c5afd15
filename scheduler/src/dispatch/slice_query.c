/* SPDX-License-Identifier: MIT */
/* slice_query.c: the queries that a system iterates beside its own rows (`queries`).
 *
 * The owner makes their lists current with the entries of the stage (stage_entries.c); here a
 * worker only reads them, through a cursor that does not count as an iteration of the owner.
 * Their access is far: no other system writes meanwhile what they read. Slices of the same
 * system may: what its own query writes must not be read through a declared one unless slices run
 * one after the other, which checked builds find by the archetypes both match. */
#include "column_watch.h"
#include "diagnose.h"
#include "mistakes.h"
#include "slice_ops_system.h"

#include "ecs_engine.h"

/* ---- what slices of a declared query can reach ---- */

/* In place of what a slice of a declared query does not give: memory that stands in, in checked
 * builds, else NULL. */
static void *nested_refuse(const weft_slice *slice, weft_component component, const char *what)
{
    const weft_slice *own = weft__diagnose_current();
    if (WEFT_IS_CHECKED && own != NULL && own->context != NULL)
        weft__violate_in(own, component.id, WEFT_WRITE, what);
    const weft_slice_context *context = slice->context;
    return weft__stand_in_values(context->world, component.id, 1);
}

static const void *nested_get(const weft_slice *slice, weft_entity entity, weft_component component)
{
    const weft_slice_context *context = slice->context;
    if (WEFT_IS_CHECKED && weft__type_find(context->world, component) == NULL)
        return nested_refuse(slice, component,
                             "is looked up, but is null or of another world: check the call that "
                             "registered it");
    weft__note_read(context->world, "weft_slice_read_entity", component);
    return weft_finder_read_slowly(context->world, entity, component); /* sets no error */
}

static void *nested_get_write(const weft_slice *slice, weft_entity entity, weft_component component)
{
    (void)entity;
    return nested_refuse(slice, component,
                         "is looked up through a slice of a declared query: use the slice of the "
                         "system");
}

static bool nested_may_find(const weft_slice *slice, weft_component component)
{
    const weft_slice_context *context = slice->context;
    weft__note_read(context->world, "weft_slice_finder", component);
    return true;
}

static void *nested_resource(const weft_slice *slice, weft_component component, weft_access access)
{
    const weft_slice_context *context = slice->context;
    if (access == WEFT_WRITE)
        return nested_refuse(
            slice, component,
            "is asked of a slice of a declared query: use the slice of the system");
    return (void *)(uintptr_t)weft_resource_read(context->world, component);
}

static weft_recorder *nested_commands(const weft_slice *slice)
{
    const weft_slice *own = weft__diagnose_current();
    (void)slice;
    if (WEFT_IS_CHECKED && own != NULL && own->context != NULL)
        weft__violate_in(own, 0, WEFT_NO_ACCESS,
                         "asked a slice of a declared query for a recorder, which it does not "
                         "have: use the slice of the system");
    return NULL;
}

/* The slice of the system stands behind that of its cursor. */
static void nested_report(const weft_slice *slice, uint32_t term, weft_access access)
{
    if (!weft__slice_is_here(slice)) {
        weft__watch_gone(slice, access);
        return;
    }
    const weft__query *query = weft__slice_query(slice);
    const weft_slice *own = weft__diagnose_current();
    if (own == NULL || own->context == NULL) return;
    weft__violate_in(own, term < query->term_count ? query->terms[term].component : 0, access,
                     weft__slice_problem(query, term, access));
}

static void nested_report_row(const weft_slice *slice, uint32_t term, uint32_t row,
                              weft_access access)
{
    const weft_slice *own = weft__diagnose_current();
    if (own != NULL && own->context != NULL)
        weft__row_missing_in(own, weft__slice_query(slice)->terms[term].component, access, row,
                             slice->count);
}

static void nested_mistype(const weft_slice *slice, uint32_t term, weft_access access,
                           const char *type)
{
    const weft_slice *own = weft__diagnose_current();
    if (own != NULL && own->context != NULL)
        weft__mistyped_in(own, weft__slice_query(slice)->terms[term].component, access, type);
}

/* No system stamps what it reads while it runs. */
static bool nested_asks(const weft_slice *slice, uint32_t term)
{
    (void)slice;
    (void)term;
    return true;
}

static const weft__slice_ops nested_ops = {
    .get = nested_get,
    .get_write = nested_get_write,
    .may_find = nested_may_find,
    .resource = nested_resource,
    .commands = nested_commands,
    .report = nested_report,
    .report_row = nested_report_row,
    .mistype = nested_mistype,
    .asks = nested_asks,
};

/* ---- what checked builds find ---- */

/* The component that the system's own rows are written in and the declared query touches, where
 * both match the archetype; 0: none. */
static uint32_t common_write(const weft__query *own, const weft__query *declared,
                             const weft__archetype *archetype)
{
    for (uint32_t i = 0; i < own->term_count; i++) {
        const weft__query_term *write = &own->terms[i];
        if (write->access != WEFT_WRITE) continue;
        if (weft__archetype_slot(archetype, write->component) == NULL) continue;
        for (uint32_t k = 0; k < declared->term_count; k++)
            if (declared->terms[k].component == write->component &&
                declared->terms[k].access != WEFT_NO_ACCESS)
                return write->component;
    }
    return 0;
}

static void check_rows(const weft_slice *slice, const weft__query *declared)
{
    const weft__query *own =
        slice->context == NULL ? NULL : weft__slice_system(slice)->context.query;
    if (own == NULL || weft__system_is_serial(weft__slice_system(slice))) return;
    const weft_world *world = own->world;
    for (uint32_t i = 0; i < own->match_count; i++)
        for (uint32_t k = 0; k < declared->match_count; k++) {
            if (own->matches[i].number != declared->matches[k].number) continue;
            uint32_t component = common_write(
                own, declared, weft__archetype_numbered(world, own->matches[i].number));
            if (component == 0) continue;
            weft__violate_in(
                slice, component, WEFT_READ,
                "of a declared query is written by other slices of the system: slices may run "
                "at once; make it SERIAL, or write in a system of its own");
            return;
        }
}

/* ---- the cursor ---- */

static bool is_declared(const weft__system *system, weft_query query)
{
    for (uint32_t i = 0; i < system->lists.query_count; i++)
        if (system->lists.queries[i].id == query.id &&
            system->lists.queries[i].world == query.world)
            return true;
    return false;
}

/* Kept for the end of the step: the world's error is not this thread's. */
static void note_starved(const weft_slice *slice, const weft__system *system)
{
    weft__worker *worker = &system->scheduler->workers[slice->worker];
    if (worker->starved == NULL || system->position < worker->starved->position)
        worker->starved = system;
}

weft_cursor weft_slice_query(const weft_slice *slice, weft_query name)
{
    weft_cursor cursor = {.loop = NULL};
    const weft_slice_context *own = slice->context;
    if ((slice->calls & WEFT_SLICE_ROWS) != 0) {
        ((const weft__slice_ops *)own->ops)->report(slice, WEFT__NONE, WEFT_READ);
        return cursor;
    }
    if (WEFT_IS_CHECKED && !weft__slice_is_here(slice)) {
        ((const weft__slice_ops *)own->ops)->report(slice, WEFT__NONE, WEFT_READ);
        return cursor;
    }
    if (own->ops != &weft__slice_ops_system) return weft_query_begin(own->world, name);
    const weft__system *system = weft__slice_system(slice);
    if (!is_declared(system, name)) {
        if (WEFT_IS_CHECKED)
            weft__violate_in(slice, 0, WEFT_READ,
                             "iterates a query that is not among its `queries`: declare it");
        return cursor;
    }
    const weft__query_handle *handle = weft__query_find(own->world, name);
    if (WEFT_IS_CHECKED) check_rows(slice, handle->query);
    const weft_slice_context context = {.ops = &nested_ops,
                                        .world = own->world,
                                        .query = handle->query,
                                        .stamp = own->stamp,
                                        .since = own->since};
    weft__query_loops *loops = &system->scheduler->workers[slice->worker].loops;
    if (!weft__loop_begin(loops, &cursor, &context, &handle->filter)) {
        note_starved(slice, system);
        return cursor;
    }
    cursor.slice.worker = slice->worker;
    cursor.slice.dt = slice->dt;
    return cursor;
}
