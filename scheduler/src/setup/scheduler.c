/* SPDX-License-Identifier: MIT */
/* scheduler.c: the scheduler of a world: made with the first system, group or option, freed with
 * the world.
 *
 * It lies in the extension of the world; queries are freed by the storage after it. */
#include "scheduler.h"
#include "compile.h"
#include "counters.h"
#include "diagnose.h"
#include "dispatch.h"
#include "hash_log.h"
#include "part_order.h"
#include "registry.h"
#include "sized.h"
#include "utf8.h"

#include <float.h>

/* ---- lists of descriptions ----
 *
 * What handles stand for is checked by system.c;
 * the copies are one block, so that a system has one allocation more, and none when its lists are
 * empty. */

#define GIVEN(list_name, entry_type, desc, limit, pointer, number)                                 \
    (weft__given)                                                                                  \
    {                                                                                              \
        .name = #list_name, .few = (desc)->list_name, .few_limit = (limit), .more = (pointer),     \
        .more_count = (number), .bytes = sizeof(entry_type), .key_bytes = sizeof(void *)           \
    }

static_assert(sizeof(weft_component) == sizeof(void *) && sizeof(weft_query) == sizeof(void *) &&
                  sizeof(weft_lookup) == sizeof(weft_component) + sizeof(weft_access),
              "keys of entries, no padding");

/* A null pointer to a name is no handle. */
static weft_result names_check(const weft_world *world, const char *what, weft__given *list)
{
    weft_result result = weft__given_check(world, what, list);
    for (uint32_t i = 0; i < list->count && result == WEFT_OK; i++) {
        const char *name = *(const char *const *)weft__given_at(list, i);
        bool is_more = i >= list->few_count;
        if (!weft__name_fits(name, WEFT__NAME_LIMIT - 1))
            result =
                weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                            "%s: %s%s[%u]: names must have 1..63 bytes of UTF-8", what,
                            is_more ? "more_" : "", list->name, is_more ? i - list->few_count : i);
    }
    return result;
}

static weft_result lists_check_group(const weft_world *world, const char *what,
                                     const weft_group_desc *desc, weft__lists_given *out)
{
    *out = (weft__lists_given){0};
    out->before = GIVEN(before, const char *, desc, WEFT_SYSTEM_ORDER, desc->more_before,
                        desc->more_before_count);
    out->after = GIVEN(after, const char *, desc, WEFT_SYSTEM_ORDER, desc->more_after,
                       desc->more_after_count);
    weft_result result = names_check(world, what, &out->before);
    return result == WEFT_OK ? names_check(world, what, &out->after) : result;
}

weft_result weft__lists_check(const weft_world *world, const char *what,
                              const weft_system_desc *desc, weft__lists_given *out)
{
    out->lookups = GIVEN(lookups, weft_lookup, desc, WEFT_SYSTEM_LOOKUPS, desc->more_lookups,
                         desc->more_lookup_count);
    out->resources = GIVEN(resources, weft_lookup, desc, WEFT_SYSTEM_LOOKUPS, desc->more_resources,
                           desc->more_resource_count);
    out->queries = GIVEN(queries, weft_query, desc, WEFT_SYSTEM_LOOKUPS, desc->more_queries,
                         desc->more_query_count);
    out->records = GIVEN(records, weft_component, desc, WEFT_SYSTEM_LOOKUPS, desc->more_records,
                         desc->more_record_count);
    out->destroys = GIVEN(destroys, weft_component, desc, WEFT_SYSTEM_LOOKUPS, desc->more_destroys,
                          desc->more_destroy_count);
    out->before = GIVEN(before, const char *, desc, WEFT_SYSTEM_ORDER, desc->more_before,
                        desc->more_before_count);
    out->after = GIVEN(after, const char *, desc, WEFT_SYSTEM_ORDER, desc->more_after,
                       desc->more_after_count);
    weft__given *handles[] = {&out->lookups, &out->resources, &out->queries, &out->records,
                              &out->destroys};
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < sizeof handles / sizeof handles[0] && result == WEFT_OK; i++)
        result = weft__given_check(world, what, handles[i]);
    if (result == WEFT_OK) result = names_check(world, what, &out->before);
    return result == WEFT_OK ? names_check(world, what, &out->after) : result;
}

/* ---- copies ---- */

static uint32_t copy_grants(weft__grant *to, const weft__given *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const weft_lookup *lookup = weft__given_at(from, i);
        to[i] = (weft__grant){lookup->component.id, lookup->access};
    }
    return from->count;
}

static uint32_t copy_names(char (*to)[WEFT__NAME_LIMIT], const weft__given *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const char *name = *(const char *const *)weft__given_at(from, i);
        memcpy(to[i], name, strlen(name) + 1);
    }
    return from->count;
}

static uint32_t copy_components(uint32_t *to, const weft__given *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        uint32_t at = i, id = ((const weft_component *)weft__given_at(from, i))->id;
        for (; at > 0 && to[at - 1] > id; at--) to[at] = to[at - 1];
        to[at] = id;
    }
    return from->count;
}

/* Components that commands bring, and with them what these require. Returns their number; `to`
 * NULL: a bound of it. */
static uint32_t copy_records(const weft_world *world, uint32_t *to, const weft__given *from)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < from->count; i++) {
        const weft_component *component = weft__given_at(from, i);
        const weft__type *type = weft__type_find(world, *component);
        if (to == NULL) count += 1 + type->required_count;
        if (to != NULL) weft__ids_insert(to, &count, component->id);
        for (uint32_t k = 0; to != NULL && k < type->required_count; k++)
            weft__ids_insert(to, &count, type->required[k]);
    }
    return count;
}

weft_result weft__lists_copy(weft_world *world, const weft__lists_given *given, weft__lists *out)
{
    *out = (weft__lists){.pile = {weft__world_memory(world), WEFT__MEMORY_SYSTEMS}};
    weft__pile *pile = &out->pile;
    uint32_t records = copy_records(world, NULL, &given->records);
    out->queries = weft__pile_take(pile, given->queries.count, sizeof out->queries[0]);
    out->lookups = weft__pile_take(pile, given->lookups.count, sizeof out->lookups[0]);
    out->resources = weft__pile_take(pile, given->resources.count, sizeof out->resources[0]);
    out->before = weft__pile_take(pile, given->before.count, sizeof out->before[0]);
    out->after = weft__pile_take(pile, given->after.count, sizeof out->after[0]);
    out->records = weft__pile_take(pile, records, sizeof out->records[0]);
    out->destroys = weft__pile_take(pile, given->destroys.count, sizeof out->destroys[0]);
    if (pile->is_refused) {
        weft__pile_free(pile);
        return WEFT_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < given->queries.count; i++)
        out->queries[i] = *(const weft_query *)weft__given_at(&given->queries, i);
    out->query_count = given->queries.count;
    out->lookup_count = copy_grants(out->lookups, &given->lookups);
    out->resource_count = copy_grants(out->resources, &given->resources);
    out->before_count = copy_names(out->before, &given->before);
    out->after_count = copy_names(out->after, &given->after);
    out->record_count = copy_records(world, out->records, &given->records);
    out->destroy_count = copy_components(out->destroys, &given->destroys);
    return WEFT_OK;
}

/* ---- what a system owns, given back ---- */

static void drop_queries(weft_world *world, weft__system *system)
{
    for (uint32_t i = 0; i < system->held_count; i++)
        weft__query_release(world, system->lists.queries[i]);
    if (system->query.id == 0) return;
    weft__query_release(world, system->query);
    if (system->owns_query) weft_query_destroy(world, system->query);
}

void weft__system_abandon(weft__system *system)
{
    drop_queries(system->scheduler->world, system);
    weft__pile_free(&system->lists.pile);
    weft__free(system->scheduler->memory, WEFT__MEMORY_SYSTEMS, system, 1, sizeof *system, 64);
}

void weft__system_free(weft__system *system)
{
    weft__watch_fini(system);
    weft__slot_free(system->scheduler, weft__system_slot(system));
    weft__system_abandon(system);
}

/* ---- making and freeing ---- */

/* With the world: queries are freed by the storage after this. */
static void scheduler_destroy(void *data)
{
    weft__scheduler *scheduler = data;
    weft__memory *memory = scheduler->memory;
    if (scheduler->observers != NULL) scheduler->observers_free(scheduler);
    weft__counters_free(scheduler);
    weft__system_list_close(scheduler);
    weft__hash_log_close(scheduler);
    weft__order_close(scheduler);
    weft__schedule_free(scheduler);
    for (uint32_t i = 0; i < scheduler->system_capacity; i++)
        if (scheduler->systems[i] != NULL) weft__system_free(scheduler->systems[i]);
    WEFT__LIST_FREE(memory, WEFT__MEMORY_SYSTEMS, &scheduler->entry_of_chunk);
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        weft__worker *worker = &scheduler->workers[i];
        weft__recorder_fini(&worker->commands);
        weft__loops_free(&worker->loops);
        weft__free(memory, WEFT__MEMORY_SYSTEMS, worker->tallies, scheduler->tally_capacity,
                   sizeof *worker->tallies, 64);
        weft__free(memory, WEFT__MEMORY_SYSTEMS, worker->mask, scheduler->mask_words,
                   sizeof *worker->mask, 64);
    }
    weft__diagnose_free(scheduler);
    WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, scheduler->workers, scheduler->worker_count);
    WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, scheduler->recorders, scheduler->worker_count);
    WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, scheduler->systems, scheduler->system_capacity);
    WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, scheduler->generations, scheduler->system_capacity);
    for (uint32_t i = 0; i < scheduler->group_count; i++)
        weft__pile_free(&scheduler->groups[i].lists.pile);
    weft__list_free(memory, WEFT__MEMORY_SYSTEMS, scheduler->groups, scheduler->group_capacity,
                    sizeof scheduler->groups[0]);
    weft__free(memory, WEFT__MEMORY_SYSTEMS, scheduler, 1, sizeof *scheduler, 64);
}

static weft_result make_workers(weft__scheduler *scheduler)
{
    weft_job_pool *pool = weft__front(scheduler->world)->host.pool;
    uint32_t count = pool == NULL ? 1 : weft_job_pool_worker_count(pool);
    scheduler->workers =
        WEFT__NEW_ZEROED(scheduler->memory, WEFT__MEMORY_SYSTEMS, count, scheduler->workers[0]);
    scheduler->recorders =
        WEFT__NEW_ZEROED(scheduler->memory, WEFT__MEMORY_SYSTEMS, count, scheduler->recorders[0]);
    if (scheduler->workers == NULL || scheduler->recorders == NULL) {
        WEFT__FREE(scheduler->memory, WEFT__MEMORY_SYSTEMS, scheduler->workers, count);
        WEFT__FREE(scheduler->memory, WEFT__MEMORY_SYSTEMS, scheduler->recorders, count);
        return WEFT_OUT_OF_MEMORY;
    }
    scheduler->worker_count = count;
    for (uint32_t i = 0; i < count; i++) {
        scheduler->workers[i].scheduler = scheduler;
        scheduler->workers[i].index = i;
        scheduler->workers[i].loops.memory = scheduler->memory;
        weft__recorder_init(&scheduler->workers[i].commands, scheduler->world, i, i);
        scheduler->workers[i].commands.in_set = true;
        scheduler->recorders[i] = &scheduler->workers[i].commands;
    }
    return WEFT_OK;
}

weft__scheduler *weft__scheduler_obtain(weft_world *world)
{
    weft__scheduler *scheduler = weft__scheduler_of(world);
    if (scheduler != NULL) return scheduler;
    scheduler = weft__alloc_zeroed(weft__world_memory(world), WEFT__MEMORY_SYSTEMS, 1,
                                   sizeof *scheduler, 64);
    if (scheduler != NULL) {
        scheduler->world = world;
        scheduler->memory = weft__world_memory(world);
        scheduler->pile = weft__systems_pile(scheduler);
        scheduler->is_dirty = true;
        scheduler->counter_wish =
            weft__counters_asked(&weft__world_desc(world)->log, &scheduler->counter_share.percent);
        if (make_workers(scheduler) == WEFT_OK) {
            weft__front(world)->extensions[WEFT__EXTENSION_SCHEDULER] =
                (weft__extension){.data = scheduler,
                                  .destroy = scheduler_destroy,
                                  .state_keep = weft__run_state_keep,
                                  .state_put = weft__run_state_put,
                                  .state_drop = weft__run_state_drop,
                                  .runs_visit = weft__runs_visit,
                                  .runs_take = weft__runs_take,
                                  .renew = weft__run_state_renew};
            if (WEFT_IS_CHECKED) weft__diagnose_watch(scheduler);
            weft__hash_log_obey(scheduler);
            weft__order_obey(scheduler);
            return scheduler;
        }
        weft__free(weft__world_memory(world), WEFT__MEMORY_SYSTEMS, scheduler, 1, sizeof *scheduler,
                   64);
    }
    weft__error_memory(world, "the scheduler");
    return NULL;
}

/* ---- options, and compiling before the next step does ---- */

weft_result weft_schedule_set(weft_world *world, const weft_schedule_desc *options)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (options == NULL)
        return weft__error_argument(
            world, "weft_schedule_set",
            "desc is NULL: give a weft_schedule_desc, {0} for the defaults");
    weft_result result = weft__between_steps(world, "weft_schedule_set");
    if (result != WEFT_OK) return result;
    weft__scheduler *scheduler = weft__scheduler_obtain(world);
    if (scheduler == NULL) return WEFT_OUT_OF_MEMORY;
    scheduler->options = *options;
    scheduler->is_dirty = true;
    return WEFT_OK;
}

void weft_schedule_get(const weft_world *world, weft_schedule_desc *out, size_t out_bytes)
{
    static const weft_schedule_desc defaults;
    const weft__scheduler *scheduler = world == NULL ? NULL : weft__scheduler_of(world);
    if (out == NULL) return;
    weft__sized_fill(out, out_bytes, scheduler == NULL ? &defaults : &scheduler->options,
                     sizeof defaults);
}

weft_result weft_schedule_compile(weft_world *world)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__between_steps(world, "weft_schedule_compile");
    weft__scheduler *scheduler = weft__scheduler_of(world);
    if (result != WEFT_OK || scheduler == NULL) return result;
    return weft__schedule_prepare(scheduler);
}

/* ---- the state log: checks; the log itself is record/hash_log.c ---- */

weft_result weft_state_log_begin(weft_world *world, const weft_state_log_desc *desc)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__between_steps(world, "weft_state_log_begin");
    if (result != WEFT_OK) return result;
    if (desc == NULL || desc->writer.write == NULL)
        return weft__error_argument(world, "weft_state_log_begin",
                                    "there is no writer: set desc.writer.write");
    weft__scheduler *scheduler = weft__scheduler_obtain(world);
    if (scheduler == NULL) return WEFT_OUT_OF_MEMORY;
    if (scheduler->hash_log != NULL)
        return weft__error(world, WEFT_BUSY, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_state_log_begin: a log is being written: end it first");
    return weft__hash_log_open(scheduler, desc);
}

weft_result weft_state_log_end(weft_world *world)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__between_steps(world, "weft_state_log_end");
    if (result != WEFT_OK) return result;
    weft__scheduler *scheduler = weft__scheduler_of(world);
    return scheduler == NULL ? WEFT_OK : weft__hash_log_close(scheduler);
}

weft_result weft_order_begin(weft_world *world, const char *order)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__between_steps(world, "weft_order_begin");
    if (result != WEFT_OK) return result;
    if (order == NULL) return weft__error_argument(world, "weft_order_begin", "the order is NULL");
    weft__scheduler *scheduler = weft__scheduler_obtain(world);
    if (scheduler == NULL) return WEFT_OUT_OF_MEMORY;
    return weft__order_open(scheduler, order);
}

weft_result weft_order_end(weft_world *world)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__between_steps(world, "weft_order_end");
    if (result != WEFT_OK) return result;
    weft__scheduler *scheduler = weft__scheduler_of(world);
    return scheduler == NULL ? WEFT_OK : weft__order_close(scheduler);
}

/* ---- groups ----
 *
 * A group exists from the first system or call that names it (registry.c) until the world ends. */

weft_result weft_group_set(weft_world *world, const weft_group_desc *desc)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (desc == NULL || !weft__name_fits(desc->name, WEFT__NAME_LIMIT - 1))
        return weft__error_argument(world, "weft_group_set",
                                    "the name must have 1..63 bytes of UTF-8");
    if (!(desc->period >= 0 && desc->period <= FLT_MAX))
        return weft__error_argument(world, "weft_group_set",
                                    "the period must be finite, not negative");
    weft_result result = weft__between_steps(world, "weft_group_set");
    if (result != WEFT_OK) return result;
    weft__scheduler *scheduler = weft__scheduler_obtain(world);
    if (scheduler == NULL) return WEFT_OUT_OF_MEMORY;
    weft__group changed = {.period = desc->period, .is_disabled = desc->is_disabled};
    memcpy(changed.name, desc->name, strlen(desc->name) + 1);
    weft__lists_given lists;
    result = lists_check_group(world, "weft_group_set", desc, &lists);
    if (result != WEFT_OK) return result;
    uint32_t group = weft__group_obtain(scheduler, desc->name);
    if (group == WEFT__NONE || weft__lists_copy(world, &lists, &changed.lists) != WEFT_OK)
        return weft__error_memory(world, "weft_group_set");
    weft__pile_free(&scheduler->groups[group].lists.pile);
    /* Timers of a group with a period hold what has passed of its tick, which begins again. */
    const weft__group *old = &scheduler->groups[group];
    double passed = old->period > 0 ? old->elapsed : 0;
    for (uint32_t i = 0; i < scheduler->system_capacity; i++) {
        weft__system *system = scheduler->systems[i];
        if (system == NULL || system->group != group) continue;
        if (system->timer <= 0) continue; /* not set, or put off: asked again, tick or not */
        system->timer -= passed;
        if (system->timer < WEFT__TIMER_SLACK) system->timer = WEFT__TIMER_SLACK;
    }
    scheduler->groups[group] = changed;
    weft__group_takes_run(&scheduler->groups[group], world);
    scheduler->is_dirty = true;
    return WEFT_OK;
}

weft_result weft_group_enable(weft_world *world, const char *name, bool enabled)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (name == NULL)
        return weft__error_argument(world, "weft_group_enable", "name is NULL: name a group");
    weft_result result = weft__idle(world, "weft_group_enable");
    if (result != WEFT_OK) return result;
    weft__scheduler *scheduler = weft__scheduler_of(world);
    uint32_t group = scheduler == NULL ? WEFT__NONE : weft__group_named(scheduler, name);
    if (group == WEFT__NONE)
        return weft__error(world, WEFT_NOT_FOUND, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_group_enable: there is no group '%s': name it in a system's "
                           "description or in weft_group_set first",
                           name);
    scheduler->groups[group].is_disabled = !enabled; /* a pass that is going on has decided */
    if (!enabled) scheduler->has_conditions = true;
    return WEFT_OK;
}
