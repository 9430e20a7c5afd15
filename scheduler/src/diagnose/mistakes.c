/* SPDX-License-Identifier: MIT */
/* mistakes.c: the mistakes of systems that checked builds find, from where they are met to the
 * report.
 *
 * Every worker keeps the violations it meets, one of a kind, and the owner joins the lists at the
 * end of the step and reports them by order of effect: the same ones on any number of workers. */
#include "mistakes.h"

#include "registry.h"

#include "ecs_engine.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- keeping ---- */

static bool is_same_kind(const weft__violation *a, const weft__violation *b)
{
    return a->position == b->position && a->component == b->component && a->code == b->code &&
           a->access == b->access && a->what == b->what && a->function == b->function &&
           a->observer == b->observer;
}

static bool is_earlier(const weft__violation *a, const weft__violation *b)
{
    if (a->slice != b->slice) return a->slice < b->slice;
    return a->has_row && b->has_row && a->row < b->row;
}

/* Without memory it is lost. */
void weft__violate(weft__worker *worker, const weft__violation *found)
{
    weft__violation violation = *found;
    if (violation.places == 0) violation.places = 1;
    violation.sequence = worker->violation_sequence++;
    for (uint32_t i = 0; i < worker->violations.count; i++) {
        weft__violation *known = &worker->violations.at[i];
        if (!is_same_kind(known, &violation)) continue;
        uint32_t places = known->places + violation.places;
        if (is_earlier(&violation, known)) *known = violation;
        known->places = places;
        return;
    }
    (void)WEFT__LIST_APPEND(weft__world_memory(worker->commands.world), WEFT__MEMORY_SYSTEMS,
                            &worker->violations, &violation, 1);
}

/* A violation of the system of a slice, in it. */
static void violate_slice(const weft_slice *slice, weft__violation violation)
{
    const weft__system *system = weft__slice_system(slice);
    violation.position = system->position;
    violation.slice = slice->index;
    weft__violate(&system->scheduler->workers[slice->worker], &violation);
}

void weft__violate_in(const weft_slice *slice, uint32_t component, weft_access access,
                      const char *what)
{
    violate_slice(slice, (weft__violation){.code = WEFT_UNDECLARED_ACCESS,
                                           .component = component == WEFT__NONE ? 0 : component,
                                           .access = access,
                                           .what = what});
}

void weft__row_missing_in(const weft_slice *slice, uint32_t component, weft_access access,
                          uint32_t row, uint32_t count)
{
    violate_slice(slice, (weft__violation){.code = WEFT_NOT_FOUND,
                                           .component = component,
                                           .access = access,
                                           .what = WEFT__ROW_PAST_END,
                                           .has_row = true,
                                           .row = row,
                                           .row_limit = count});
}

void weft__mistyped_in(const weft_slice *slice, uint32_t component, weft_access access,
                       const char *type)
{
    violate_slice(slice, (weft__violation){.code = WEFT_TYPE_MISMATCH,
                                           .component = component,
                                           .access = access,
                                           .function = type,
                                           .what = WEFT__MISTYPED});
}

/* ---- the report ---- */

static int compare_violations(const void *left, const void *right)
{
    const weft__violation *a = left, *b = right;
    if (a->position != b->position) return a->position < b->position ? -1 : 1;
    if (a->slice != b->slice) return a->slice < b->slice ? -1 : 1;
    if (a->phase != b->phase) return a->phase < b->phase ? -1 : 1;
    if (a->phase == WEFT__VIOLATION_STRAYED && a->row != b->row) return a->row < b->row ? -1 : 1;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static weft_result report_violation(weft__scheduler *scheduler, const weft__violation *violation)
{
    const weft_world *world = scheduler->world;
    const char *action = violation->access == WEFT_WRITE ? " (write)" : " (read)";
    const char *unknown =
        violation->phase == WEFT__VIOLATION_STRAYED ? "(destroyed)" : "(not known)";
    const char *name =
        violation->position == WEFT__NONE ? unknown : scheduler->ordered[violation->position]->name;
    if (violation->observer != NULL)
        return weft__error(world, violation->code, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "observer '%s': %s%s", violation->observer, violation->function,
                           violation->what);
    char row[128] = "", more[32] = "";
    if (violation->row_limit != 0)
        snprintf(row, sizeof row, ", row %u of a slice of %u row%s", violation->row,
                 violation->row_limit, violation->row_limit == 1 ? "" : "s");
    else if (violation->has_row && violation->entity.version == 0)
        snprintf(row, sizeof row, ", row %u", violation->row);
    else if (violation->has_row)
        snprintf(row, sizeof row, ", row %u (entity %s)", violation->row,
                 weft__entity_say(world, violation->entity).text);
    if (violation->places > 1)
        snprintf(more, sizeof more, " (%u time%s more)", violation->places - 1,
                 violation->places == 2 ? "" : "s");
    return weft__error(
        world, violation->code, violation->entity, weft__component(world, violation->component),
        "system '%s', slice %u%s%s%s%s: %s%s%s", name, violation->slice, row,
        violation->component == 0 ? "" : ": component ",
        violation->component == 0 ? "" : weft__type_name(world, violation->component),
        violation->access == WEFT_NO_ACCESS ? "" : action,
        violation->function == NULL ? "" : violation->function, violation->what, more);
}

void weft__mistake_list(weft__scheduler *scheduler)
{
    const weft_log *log = &weft__world_desc(scheduler->world)->log;
    if (log->write != NULL)
        log->write(log->user, WEFT_LOG_MISTAKE, weft_world_error(scheduler->world)->text);
    (void)WEFT__LIST_APPEND(scheduler->memory, WEFT__MEMORY_SYSTEMS, &scheduler->mistakes,
                            weft_world_error(scheduler->world), 1);
}

/* Joins the lists of all workers in that of the first. */
static void join_violations(weft__scheduler *scheduler)
{
    weft__worker *first = &scheduler->workers[0];
    for (uint32_t i = 1; i < scheduler->worker_count; i++) {
        weft__worker *worker = &scheduler->workers[i];
        for (uint32_t k = 0; k < worker->violations.count; k++)
            weft__violate(first, &worker->violations.at[k]);
        worker->violations.count = 0;
    }
}

void weft__violations_report(weft__scheduler *scheduler)
{
    weft__worker *all = &scheduler->workers[0];
    join_violations(scheduler);
    if (all->violations.count == 0) return;
    qsort(all->violations.at, all->violations.count, sizeof *all->violations.at,
          compare_violations);
    for (uint32_t i = 0; i < all->violations.count; i++) {
        weft__scheduler_fail(scheduler, report_violation(scheduler, &all->violations.at[i]));
        weft__mistake_list(scheduler);
    }
    all->violations.count = 0;
}

weft_result weft__violations_tell(weft__scheduler *scheduler)
{
    scheduler->error.code = WEFT_OK;
    scheduler->mistakes.count = 0;
    weft__violations_report(scheduler);
    if (scheduler->error.code != WEFT_OK)
        *weft__world_error_record(scheduler->world) = scheduler->error;
    return scheduler->error.code;
}

uint32_t weft_schedule_mistakes(const weft_world *world, weft_error *out, uint32_t capacity)
{
    const weft__scheduler *scheduler = world == NULL ? NULL : weft__scheduler_of(world);
    if (scheduler == NULL) return 0;
    for (uint32_t i = 0; i < scheduler->mistakes.count && i < capacity; i++)
        out[i] = scheduler->mistakes.at[i];
    return scheduler->mistakes.count;
}
