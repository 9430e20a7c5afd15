/* SPDX-License-Identifier: MIT */
/* system.c: creating and destroying systems: checking a description, taking what it names.
 *
 * Systems keep their address while they live. Registering or destroying one marks the schedule
 * dirty; it is compiled again at the next step. Names in before/after are resolved then, so systems
 * may come in any order. */
#include "compile.h"
#include "diagnose.h"
#include "registry.h"
#include "scheduler.h"
#include "slice_ops_system.h"
#include "utf8.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

/* ---- creating and destroying ---- */

static weft_result bad(weft_world *world, weft_result code, const weft_system_desc *desc,
                       weft_component component, const char *what)
{
    return weft__error(world, code, WEFT__NO_ENTITY, component, "weft_system_create('%s'): %s",
                       desc->name == NULL ? "" : desc->name, what);
}

static weft_result check_grants(weft_world *world, const weft_system_desc *desc,
                                const weft__given *grants, bool is_resource)
{
    for (uint32_t i = 0; i < grants->count; i++) {
        const weft_lookup *grant = weft__given_at(grants, i);
        const weft__type *type = weft__type_find(world, grant->component);
        if (type == NULL)
            return bad(world, WEFT_BAD_HANDLE, desc, grant->component,
                       "a lookup or resource names a component that is null or of another world: "
                       "use what weft_component_create of this world returned");
        if (grant->access != WEFT_READ && grant->access != WEFT_WRITE)
            return bad(world, WEFT_INVALID_ARGUMENT, desc, grant->component,
                       "the access of a lookup or resource must be WEFT_READ or WEFT_WRITE");
        if (((type->desc.flags & WEFT_RESOURCE) != 0) != is_resource)
            return bad(world, WEFT_TYPE_MISMATCH, desc, grant->component,
                       is_resource ? "resources must be RESOURCE components"
                                   : "lookups cannot name RESOURCE components: use resources");
        if (!is_resource &&
            (type->value_bytes == 0 || (type->desc.flags & (WEFT_SHARED | WEFT_CHUNK)) != 0))
            return bad(world, WEFT_TYPE_MISMATCH, desc, grant->component,
                       "lookups need components with a value per entity: no tags, SHARED or CHUNK "
                       "components");
    }
    return WEFT_OK;
}

static bool has_terms(const weft_system_desc *desc)
{
    const weft_query_desc *rows = &desc->over.rows;
    return desc->over.kind == WEFT_OVER_ROWS &&
           (rows->terms[0].component.id != 0 || rows->more_term_count != 0);
}

static bool is_range(const weft_system_desc *desc)
{
    return desc->over.kind == WEFT_OVER_COUNT || desc->over.kind == WEFT_OVER_RANGE;
}

/* What cannot be right about what it runs over; NULL: nothing. */
static const char *problem_of_over(const weft_system_over *over)
{
    if (over->kind > WEFT_OVER_RANGE)
        return "over.kind is unknown: use one of weft_system_over_kind";
    if (over->kind == WEFT_OVER_COUNT && over->count == 0)
        return "over.count is 0: give a count, or WEFT_OVER_RANGE with a function";
    if (over->kind == WEFT_OVER_RANGE && over->range == NULL)
        return "over.range is NULL: give the function that returns the count";
    return NULL;
}

/* What cannot be right whatever the components are; NULL: nothing. */
static const char *problem_of(const weft_system_desc *desc)
{
    const uint32_t all = WEFT_SYSTEM_SERIAL | WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE |
                         WEFT_SYSTEM_BACKGROUND | WEFT_SYSTEM_NOT_FUSED | WEFT_SYSTEM_WHOLE_CHUNKS |
                         WEFT_SYSTEM_TIMER | WEFT_SYSTEM_ASKS_CHANGES | WEFT_SYSTEM_JOBS;
    const uint32_t on_owner = WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE;
    bool has_rows = has_terms(desc) || desc->over.kind == WEFT_OVER_QUERY;
    if (desc->run == NULL) return "run is NULL";
    if (!weft__name_fits(desc->name, WEFT__NAME_LIMIT - 1) ||
        (desc->group != NULL && !weft__name_fits(desc->group, WEFT__NAME_LIMIT - 1)))
        return "names must have 1..63 bytes of UTF-8";
    if (!(desc->period >= 0 && desc->period <= FLT_MAX))
        return "the period must be finite and not negative";
    if ((desc->flags & ~all) != 0) return "flags has unknown bits: use those of weft_system_flags";
    if ((desc->effects & ~(uint32_t)WEFT_RECORDS_ANY) != 0)
        return "effects has unknown bits: use those of weft_command_effects";
    if ((desc->flags & WEFT_SYSTEM_BACKGROUND) != 0 && (desc->flags & on_owner) != 0)
        return "BACKGROUND excludes MAIN_THREAD and EXCLUSIVE, which run on the owner: leave one "
               "of the flags out";
    if ((desc->flags & WEFT_SYSTEM_TIMER) != 0 && desc->period > 0)
        return "a TIMER runs once for each weft_timer_set: leave the period 0";
    const uint32_t no_levels =
        on_owner | WEFT_SYSTEM_SERIAL | WEFT_SYSTEM_BACKGROUND | WEFT_SYSTEM_JOBS;
    if (desc->by_depth.id != 0 && (!has_rows || (desc->flags & no_levels) != 0))
        return "by_depth needs rows, and excludes SERIAL, MAIN_THREAD, EXCLUSIVE, BACKGROUND and "
               "JOBS: leave one of them out";
    if (desc->skips_unchanged && !has_rows)
        return "skips_unchanged needs a query: give the system one, or leave it false";
    return problem_of_over(&desc->over);
}

/* A list of terms that begins with a null component is taken for none by mistake only. */
static weft_result check_terms(const weft_world *world, const char *what,
                               const weft_system_desc *desc)
{
    if (desc->over.kind != WEFT_OVER_ROWS) return WEFT_OK;
    weft__given terms = weft__query_terms_given(&desc->over.rows);
    return weft__given_check(world, what, &terms);
}

/* The lists of components that effects name. */
static weft_result check_effects(weft_world *world, const weft_system_desc *desc,
                                 const weft__lists_given *lists)
{
    const weft_component none = WEFT__NO_COMPONENT;
    const weft__given *given[] = {&lists->records, &lists->destroys};
    if (lists->records.count != 0 && desc->effects == 0)
        return bad(world, WEFT_INVALID_ARGUMENT, desc, none,
                   "`records` without `effects`: declare what it records, e.g. WEFT_RECORDS_ADD");
    if (lists->destroys.count != 0 && (desc->effects & WEFT_RECORDS_DESTROY) == 0)
        return bad(world, WEFT_INVALID_ARGUMENT, desc, none,
                   "`destroys` without WEFT_RECORDS_DESTROY: add it to `effects`");
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t i = 0; i < given[k]->count; i++) {
            const weft_component *component = weft__given_at(given[k], i);
            if (weft__type_find(world, *component) == NULL)
                return bad(world, WEFT_BAD_HANDLE, desc, *component,
                           k == 0
                               ? "`records` names a component that is null or of another world: "
                                 "use what weft_component_create of this world returned"
                               : "`destroys` names a component that is null or of another world: "
                                 "use what weft_component_create of this world returned");
        }
    return WEFT_OK;
}

static weft_result check_desc(weft_world *world, const weft_system_desc *desc,
                              weft__lists_given *lists)
{
    const weft_component none = WEFT__NO_COMPONENT;
    const weft__scheduler *scheduler = weft__scheduler_of(world);
    const char *problem = problem_of(desc);
    if (problem != NULL) return bad(world, WEFT_INVALID_ARGUMENT, desc, none, problem);
    if (weft__system_named(scheduler, desc->name) != NULL)
        return bad(world, WEFT_ALREADY_EXISTS, desc, none,
                   "a system of this name exists: use another name");
    char what[32 + WEFT__NAME_LIMIT];
    snprintf(what, sizeof what, "weft_system_create('%s')", desc->name);
    weft_result result = weft__lists_check(world, what, desc, lists);
    if (result == WEFT_OK) result = check_terms(world, what, desc);
    if (result != WEFT_OK) return result;
    result = check_effects(world, desc, lists);
    if (result != WEFT_OK) return result;
    if (desc->by_depth.id != 0 && weft_component_info(world, desc->by_depth) == NULL)
        return weft__error_component(world, desc->by_depth);
    if (desc->by_depth.id != 0 && weft_relation_depth_component(world, desc->by_depth).id == 0)
        return bad(world, WEFT_TYPE_MISMATCH, desc, desc->by_depth,
                   "by_depth names no relation by depth: declare the component so "
                   "(weft_relation_declare), or use weft_component_parent");
    result = check_grants(world, desc, &lists->lookups, false);
    return result != WEFT_OK ? result : check_grants(world, desc, &lists->resources, true);
}

/* Queries: its own is made, foreign ones are held so that they cannot be destroyed meanwhile. */
static weft_result take_queries(weft_world *world, weft__system *system,
                                const weft_system_desc *desc)
{
    const weft__lists *lists = &system->lists;
    for (uint32_t i = 0; i < lists->query_count; i++)
        if (weft__query_find_checked(world, lists->queries[i]) == NULL)
            return weft_world_error(world)->code;
    if (has_terms(desc)) {
        system->query = weft_query_create(world, &desc->over.rows);
        if (system->query.id == 0) return weft_world_error(world)->code;
        system->owns_query = true;
    } else if (desc->over.kind == WEFT_OVER_QUERY) {
        if (weft__query_find_checked(world, desc->over.query) == NULL)
            return weft_world_error(world)->code;
        system->query = desc->over.query;
    }
    if (system->query.id != 0) {
        weft__query_acquire(world, system->query);
        system->context.query = weft__query_find(world, system->query)->query;
    }
    for (; system->held_count < lists->query_count; system->held_count++)
        weft__query_acquire(world, lists->queries[system->held_count]);
    return WEFT_OK;
}

/* What slices at once and the queries make impossible. */
static weft_result check_queries(weft_world *world, const weft__system *system,
                                 const weft_system_desc *desc)
{
    const weft__query *query = system->context.query;
    bool reads = !system->skips_unchanged;
    for (uint32_t i = 0; query != NULL && i < query->term_count; i++)
        reads = reads || query->terms[i].access == WEFT_READ;
    if (!reads)
        return bad(world, WEFT_INVALID_ARGUMENT, desc, WEFT__NO_COMPONENT,
                   "skips_unchanged needs a term with WEFT_READ: add one, or leave it false");
    bool is_parallel = (query != NULL || is_range(desc)) && !weft__system_is_serial(system);
    for (uint32_t i = 0; is_parallel && i < system->lists.query_count; i++) {
        const weft__query *declared = weft__query_find(world, system->lists.queries[i])->query;
        for (uint32_t k = 0; k < declared->term_count; k++)
            if (declared->terms[k].access == WEFT_WRITE)
                return bad(world, WEFT_INVALID_ARGUMENT, desc,
                           weft__component(world, declared->terms[k].component),
                           "one of `queries` writes, and slices that run at once would collide: "
                           "make the system SERIAL");
    }
    for (uint32_t i = 0; is_parallel && i < system->lists.resource_count; i++) {
        weft__grant resource = system->lists.resources[i];
        uint32_t flags =
            weft__type_find(world, weft__component(world, resource.component))->desc.flags;
        if (resource.access == WEFT_WRITE && (flags & WEFT_BUFFER) != 0)
            return bad(world, WEFT_INVALID_ARGUMENT, desc,
                       weft__component(world, resource.component),
                       "one of its resources is a BUFFER that it writes, and slices that run at "
                       "once would collide: make the system SERIAL");
    }
    return WEFT_OK;
}

/* A query that writes a CHUNK component must get whole chunks: slices of one chunk would
 * collide. Levels are loops of one system. */
static uint32_t implied_flags(const weft__system *system)
{
    const weft__query *query = system->context.query;
    uint32_t flags = system->flags;
    if (system->by_depth.id != 0) flags |= WEFT_SYSTEM_NOT_FUSED;
    for (uint32_t i = 0; query != NULL && i < query->term_count; i++)
        if (query->terms[i].is_chunk_value && query->terms[i].access == WEFT_WRITE)
            flags |= WEFT_SYSTEM_WHOLE_CHUNKS;
    return flags;
}

static weft_result fill_system(weft__scheduler *scheduler, weft__system *system,
                               const weft_system_desc *desc, const weft__lists_given *lists)
{
    weft_world *world = scheduler->world;
    system->scheduler = scheduler;
    const char *group = desc->group == NULL ? "default" : desc->group;
    memcpy(system->name, desc->name, strlen(desc->name) + 1);
    snprintf(system->commands_title, sizeof system->commands_title, "%s: commands", desc->name);
    system->group = weft__group_obtain(scheduler, group);
    if (system->group == WEFT__NONE ||
        weft__lists_copy(scheduler->world, lists, &system->lists) != WEFT_OK)
        return weft__error_memory(world, "weft_system_create");
    system->context.ops = &weft__slice_ops_system;
    system->context.frame = &system->frame;
    system->context.world = world;
    system->body = desc->run;
    system->run = (desc->flags & WEFT_SYSTEM_JOBS) != 0 ? weft__slice_job_run : desc->run;
    system->user = desc->user;
    system->flags = desc->flags;
    system->effects = desc->effects;
    if (desc->over.kind == WEFT_OVER_COUNT) system->range_count = desc->over.count;
    if (desc->over.kind == WEFT_OVER_RANGE) system->range = desc->over.range;
    system->run_if = desc->run_if;
    system->period = desc->period;
    system->skips_unchanged = desc->skips_unchanged;
    system->by_depth = desc->by_depth;
    system->is_enabled = true;
    system->timer = -1;
    for (uint32_t i = 0; i < system->lists.lookup_count; i++)
        weft__entity_map_open(world, weft__component(world, system->lists.lookups[i].component));
    weft_result result = take_queries(world, system, desc);
    if (result == WEFT_OK) result = check_queries(world, system, desc);
    if (result == WEFT_OK) system->flags = implied_flags(system);
    return result;
}

weft_system weft_system_create(weft_world *world, const weft_system_desc *desc)
{
    const weft_system none = {0};
    if (world == NULL) return none;
    if (desc == NULL) {
        weft__error_argument(world, "weft_system_create", "desc is NULL: describe the system");
        return none;
    }
    if (weft__between_steps(world, "weft_system_create") != WEFT_OK) return none;
    weft__scheduler *scheduler = weft__scheduler_obtain(world);
    weft__lists_given lists;
    if (scheduler == NULL || check_desc(world, desc, &lists) != WEFT_OK) return none;
    uint32_t slot;
    weft__system *system = NULL;
    weft_result result = weft__slot_reserve(scheduler, &slot);
    if (result == WEFT_LIMIT) {
        bad(world, WEFT_LIMIT, desc, WEFT__NO_COMPONENT,
            "all 65,535 handles of systems are in use or used up: destroy systems that do not run");
        return none;
    }
    if (result != WEFT_OK || (system = weft__alloc_zeroed(scheduler->memory, WEFT__MEMORY_SYSTEMS,
                                                          1, sizeof *system, 64)) == NULL) {
        weft__error_memory(world, "weft_system_create");
        return none;
    }
    if (fill_system(scheduler, system, desc, &lists) != WEFT_OK) {
        weft__system_abandon(system);
        return none;
    }
    system->handle = (scheduler->generations[slot]++ << WEFT__SLOT_BITS) | (slot + 1);
    system->rank = scheduler->next_rank++;
    weft__watch_init(system);
    scheduler->systems[slot] = system;
    scheduler->system_count++;
    scheduler->is_dirty = true;
    weft__system_takes_run(system);
    return (weft_system){system->handle, weft__front(world)->number};
}

weft_result weft_system_destroy(weft_world *world, weft_system handle)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__between_steps(world, "weft_system_destroy");
    if (result != WEFT_OK) return result;
    weft__system *system = weft__system_at(world, handle);
    if (system == NULL) return WEFT_BAD_HANDLE;
    weft__schedule_free(system->scheduler); /* it names the system */
    weft__system_free(system);
    return WEFT_OK;
}

weft_system weft_system_find(const weft_world *world, const char *name)
{
    const weft__scheduler *scheduler = world == NULL ? NULL : weft__scheduler_of(world);
    const weft__system *system =
        scheduler == NULL || name == NULL ? NULL : weft__system_named(scheduler, name);
    if (system == NULL) return (weft_system){0};
    return (weft_system){system->handle, weft__front(world)->number};
}

weft_result weft_system_enable(weft_world *world, weft_system handle, bool enabled)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_system_enable");
    if (result != WEFT_OK) return result;
    weft__system *system = weft__system_at(world, handle);
    if (system == NULL) return WEFT_BAD_HANDLE;
    system->is_enabled = enabled; /* a pass that is going on has decided who runs */
    if (!enabled) system->scheduler->has_conditions = true;
    return WEFT_OK;
}

/* ---- timers ----
 *
 * Time passes for them where a step decides which systems run (frame.c). */

/* The TIMER system of a handle, or NULL (error set). */
static weft__system *timer_at(const weft_world *world, weft_system handle, const char *what)
{
    weft__system *system = weft__system_at(world, handle);
    if (system == NULL || weft__system_is_timer(system)) return system;
    weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                "%s: system '%s' has no timer: give it WEFT_SYSTEM_TIMER", what, system->name);
    return NULL;
}

/* What has passed of the group's next tick: a timer in a group with a period counts ticks. */
static double rest_of(const weft__system *system)
{
    const weft__group *group = &system->scheduler->groups[system->group];
    return group->period > 0 ? group->elapsed : 0;
}

static weft_result timer_change(weft_world *world, weft_system handle, double seconds,
                                const char *what)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    weft__system *system = timer_at(world, handle, what);
    if (system == NULL) return weft_world_error(world)->code;
    system->timer = seconds < 0 ? seconds : seconds + rest_of(system);
    if (system->timer == 0) system->timer = WEFT__TIMER_SLACK;
    return WEFT_OK;
}

weft_result weft_timer_set(weft_world *world, weft_system system, double seconds)
{
    if (world != NULL && !(seconds >= 0 && seconds <= DBL_MAX))
        return weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_timer_set: %g seconds: they must be finite and not negative; "
                           "weft_timer_stop stops a timer",
                           seconds);
    return timer_change(world, system, seconds, "weft_timer_set");
}

weft_result weft_timer_stop(weft_world *world, weft_system system)
{
    return timer_change(world, system, -1, "weft_timer_stop");
}

double weft_timer_left(const weft_world *world, weft_system handle)
{
    const weft__system *system = world == NULL ? NULL : timer_at(world, handle, "weft_timer_left");
    if (system == NULL || system->timer < 0) return -1;
    double left = system->timer - rest_of(system);
    return left > WEFT__TIMER_SLACK ? left : 0; /* 0: it waits for its tick, or for its condition */
}
