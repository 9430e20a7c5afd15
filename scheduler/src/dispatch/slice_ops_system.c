/* SPDX-License-Identifier: MIT */
/* slice_ops_system.c: what a slice of a system can reach beyond its columns: other entities,
 * resources, its recorder.
 *
 * Checked builds compare each with what the system declared. */
#include "slice_ops_system.h"
#include "diagnose.h"
#include "registry.h"

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

static void *slice_get(const weft_slice *slice, weft_entity entity, weft_component component)
{
    uint32_t row;
    const weft__type_slot *slot;
    const weft_world *world = weft__slice_system(slice)->context.world;
    if (!may_look_up(slice, component, WEFT_READ)) return no_value(slice, component);
    const void *value = /* checked builds want to know where it is */
        WEFT_IS_CHECKED ? NULL
                        : weft__entity_mapped(world, entity, weft__component_id(world, component));
    if (value != NULL) return (void *)(uintptr_t)value;
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

/* Kept for the end of the step: the world's error is not this thread's. */
static void note_missed(weft__worker *worker, const weft__system *system, weft__missed what)
{
    if (worker->missed[what] == NULL || system->position < worker->missed[what]->position)
        worker->missed[what] = system;
}

static weft_recorder *slice_commands(const weft_slice *slice)
{
    const weft__system *system = weft__slice_system(slice);
    weft__worker *worker = &system->scheduler->workers[slice->worker];
    if (__builtin_expect(system->passes, 0)) { /* commands may be being played */
        note_missed(worker, system, WEFT__MISSED_RECORDER);
        return NULL;
    }
    weft_recorder *commands = &worker->commands;
    weft__recorder_key(commands, (uint64_t)system->position << 32 | slice->index);
    return commands;
}

/* The slice whose system answers for the use of `slice`: it, or, of a declared query, the one of
 * the callback that this thread runs. NULL: there is none. */
static const weft_slice *blamed_for(const weft_slice *slice)
{
    if (((const weft_slice_context *)slice->context)->ops == &weft__slice_ops_system) return slice;
    const weft_slice *own = weft__diagnose_current();
    return own == NULL || own->context == NULL ? NULL : own;
}

static void slice_report(const weft_slice *slice, uint32_t term, weft_access access, uint32_t row,
                         const char *type)
{
    if (!weft__slice_is_here(slice)) {
        weft__watch_gone(slice, access);
        return;
    }
    const weft__query *query = weft__slice_query(slice);
    const weft_slice *blamed = blamed_for(slice);
    bool has_term = query != NULL && term < query->term_count;
    const uint32_t component = has_term ? query->terms[term].component : 0;
    if (blamed == NULL) return;
    if (type != NULL)
        weft__mistyped_in(blamed, component, access, type);
    else if (row != WEFT__NONE)
        weft__row_missing_in(blamed, component, access, row, slice->count);
    else
        weft__violate_in(blamed, component, access,
                         has_term || blamed != slice ? weft__slice_problem(query, term, access)
                                                     : "named a term that its query does not have: "
                                                       "terms count from 0 to term_count - 1");
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
    .asks = slice_asks,
};

/* ---- systems whose callbacks start jobs ----
 *
 * A system that declares them runs through a function that
 * makes the callback a job of its worker: children it starts are joined before the next system
 * sees the slice, also where a stage runs inline on the thread that steps the world. Children and
 * parts of loops that other workers run for it count for the system. Other systems pay nothing. */

/* One call. Owner: weft__slice_job_run, on its stack. */
typedef struct slice_call {
    const weft__system *system;
    weft_slice *slice;
    void *user;
} slice_call;

static int call_body(weft_job_context *job, void *argument)
{
    const slice_call *call = argument;
    (void)job;
    call->system->body(call->slice, call->user);
    return 0;
}

/* Work that another worker did for the system, beside the time that dispatch.c takes. */
static void add_time(void *user, uint32_t worker, uint64_t ns)
{
    const weft__system *system = user;
    const weft__scheduler *scheduler = system->scheduler;
    weft__system_tally *tally = &scheduler->workers[worker].tallies[weft__system_slot(system)];
    if (tally->frame != scheduler->pass) *tally = (weft__system_tally){.frame = scheduler->pass};
    tally->time_ns += ns;
}

void weft__slice_job_run(weft_slice *slice, void *user)
{
    slice_call call = {weft__slice_system(slice), slice, user};
    const weft__system *system = call.system;
    weft_job_context *job = weft__host_worker(system->context.world, slice->worker);
    bool is_timed = system->scheduler->is_timed && (system->flags & WEFT_SYSTEM_BACKGROUND) == 0;
    const weft__label label = {.name = system->name,
                               .took = is_timed ? add_time : NULL,
                               .user = (void *)(uintptr_t)system};
    weft__worker_call_labelled(job, &label, call_body, &call);
}

weft_job_context *weft_slice_job(const weft_slice *slice)
{
    const weft_slice_context *context = slice->context;
    if (context->ops != &weft__slice_ops_system) return NULL;
    if (!weft__slice_is_here(slice)) {
        weft__watch_gone(slice, WEFT_NO_ACCESS);
        return NULL;
    }
    const weft__system *system = weft__slice_system(slice);
    if ((system->flags & WEFT_SYSTEM_JOBS) != 0)
        return weft__host_worker(context->world, slice->worker);
    weft__violate_in(slice, WEFT__NONE, WEFT_NO_ACCESS,
                     "weft_slice_job is called without WEFT_SYSTEM_JOBS: declare the flag");
    return NULL;
}

/* ---- declared queries ----
 *
 * The owner makes their lists current with the entries of the stage (stage_entries.c); here a
 * worker only reads them, through a cursor that does not count as an iteration of the owner. Their
 * access is far: no other system writes meanwhile what they read. Slices of the same system may:
 * what its own query writes must not be read through a declared one unless slices run one after
 * the other, which checked builds find by the archetypes both match. */

/* ---- what slices of a declared query can reach ---- */

/* In place of what a slice of a declared query does not give: memory that stands in, in checked
 * builds, else NULL. */
static void *nested_refuse(const weft_slice *slice, weft_component component, const char *what)
{
    const weft_slice *blamed = WEFT_IS_CHECKED ? blamed_for(slice) : NULL;
    if (blamed != NULL) weft__violate_in(blamed, component.id, WEFT_WRITE, what);
    const weft_slice_context *context = slice->context;
    return weft__stand_in_values(context->world, component.id, 1);
}

static void *nested_get(const weft_slice *slice, weft_entity entity, weft_component component)
{
    const weft_slice_context *context = slice->context;
    if (WEFT_IS_CHECKED && weft__type_find(context->world, component) == NULL)
        return nested_refuse(slice, component,
                             "is looked up, but is null or of another world: check the call that "
                             "registered it");
    weft__note_read(context->world, "weft_slice_read_entity", component);
    return (void *)(uintptr_t)weft_finder_read_slowly(context->world, entity,
                                                      component); /* sets no error */
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
    const weft_slice *blamed = WEFT_IS_CHECKED ? blamed_for(slice) : NULL;
    if (blamed != NULL)
        weft__violate_in(blamed, 0, WEFT_NO_ACCESS,
                         "asked a slice of a declared query for a recorder, which it does not "
                         "have: use the slice of the system");
    return NULL;
}

static const weft__slice_ops nested_ops = {
    /* no system stamps what it reads while it runs */
    .get = nested_get,           .get_write = nested_get_write, .may_find = nested_may_find,
    .resource = nested_resource, .commands = nested_commands,   .report = slice_report,
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

weft_cursor weft_slice_query(const weft_slice *slice, weft_query name)
{
    weft_cursor cursor = {.loop = NULL};
    const weft_slice_context *own = slice->context;
    if ((slice->calls & WEFT_SLICE_ROWS) != 0 || (WEFT_IS_CHECKED && !weft__slice_is_here(slice))) {
        weft__slice_report(slice, WEFT__NONE, WEFT_READ);
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
        note_missed(&system->scheduler->workers[slice->worker], system, WEFT__MISSED_LOOP);
        return cursor;
    }
    cursor.slice.worker = slice->worker;
    cursor.slice.dt = slice->dt;
    return cursor;
}
