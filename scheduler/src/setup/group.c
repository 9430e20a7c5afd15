/* SPDX-License-Identifier: MIT */
/* group.c: groups of systems: their order, their rate, pausing them.
 *
 * A group exists from the first system or call that names it (registry.c) until the world ends. */
#include "registry.h"
#include "run_state.h"
#include "scheduler.h"
#include "utf8.h"

#include <float.h>
#include <string.h>

/* Timers of a group with a period hold what has passed of its tick, which begins again. */
static void timers_begin_again(const weft__scheduler *scheduler, uint32_t group)
{
    const weft__group *old = &scheduler->groups[group];
    double passed = old->period > 0 ? old->elapsed : 0;
    for (uint32_t i = 0; i < scheduler->system_capacity; i++) {
        weft__system *system = scheduler->systems[i];
        if (system == NULL || system->group != group) continue;
        if (system->timer <= 0) continue; /* not set, or put off: asked again, tick or not */
        system->timer -= passed;
        if (system->timer < WEFT__TIMER_SLACK) system->timer = WEFT__TIMER_SLACK;
    }
}

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
    result = weft__lists_check_group(world, "weft_group_set", desc, &lists);
    if (result != WEFT_OK) return result;
    uint32_t group = weft__group_obtain(scheduler, desc->name);
    if (group == WEFT__NONE || weft__lists_copy(world, &lists, &changed.lists) != WEFT_OK)
        return weft__error_memory(world, "weft_group_set");
    weft__lists_free(scheduler->memory, &scheduler->groups[group].lists);
    timers_begin_again(scheduler, group);
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
