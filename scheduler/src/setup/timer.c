/* SPDX-License-Identifier: MIT */
/* timer.c: timers of systems: setting, stopping, asking.
 *
 * Time passes for them where a step decides which systems run: frame/due.c. */
#include "registry.h"

#include <float.h>

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
