/* clock.c: the time of a world: which step it is, the rest of fixed rates, timers of systems. The
 * clock moves when a step begins (frame.c) and stands while systems run, so that any of them may
 * read it. */
#include "scheduler_state.h"

#include <float.h>

weft_frame weft_world_frame(const weft_world *world)
{
    if (world == NULL) return (weft_frame){0};
    return (weft_frame){
        .number = world->clock.steps, .time = world->clock.time, .dt = world->clock.dt};
}

/* The rate that a system runs at, and what is left over of it; 0: every step. */
static double rate_of(const weft__scheduler *scheduler, const weft__system *system, double *rest)
{
    const weft__group *group = &scheduler->groups[system->group];
    *rest = system->period > 0 ? system->elapsed : group->elapsed;
    return (double)(system->period > 0 ? system->period : group->period);
}

weft_frame weft_slice_frame(const weft_slice *slice)
{
    const weft_slice_context *context = slice->context;
    weft_frame frame = weft_world_frame(context->world);
    if (context->ops != &weft__slice_ops_system) return frame;
    const weft__system *system = (const weft__system *)context;
    const weft__scheduler *scheduler = system->scheduler;
    frame.dt = system->dt;
    if (scheduler->passes_left == 0) return frame; /* alone, outside its rate */
    double rest, period = rate_of(scheduler, system, &rest);
    if (period > 0) frame.time -= rest + period * (double)(scheduler->passes_left - 1);
    return frame;
}

float weft_world_alpha(const weft_world *world, const char *name)
{
    if (world == NULL || name == NULL) return 0;
    const weft__scheduler *scheduler = weft__scheduler_of(world);
    const weft__system *system = scheduler == NULL ? NULL : weft__system_named(scheduler, name);
    uint32_t group = scheduler == NULL ? WEFT__NONE : weft__group_named(scheduler, name);
    double rest = 0, period = 0;
    if (system != NULL) {
        period = rate_of(scheduler, system, &rest);
    } else if (group != WEFT__NONE) {
        period = (double)scheduler->groups[group].period;
        rest = scheduler->groups[group].elapsed;
    } else if ((world->busy & WEFT__BUSY_STEPPING) == 0) {
        weft__error(world, WEFT_NOT_FOUND, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "weft_world_alpha: no system or group is named '%s'", name);
    }
    float alpha = period > 0 ? (float)(rest / period) : 0;
    return alpha < 1 ? alpha : 1 - FLT_EPSILON / 2; /* the float above 1 - 1e-9 is 1 */
}

/* ---- timers ---- */

/* The TIMER system of a handle, or NULL (error set). */
static weft__system *timer_at(const weft_world *world, weft_system handle, const char *what)
{
    weft__system *system = weft__system_at(world, handle);
    if (system == NULL || weft__system_is_timer(system)) return system;
    weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                "%s: system '%s' has no timer: give it WEFT_SYSTEM_TIMER", what, system->name);
    return NULL;
}

static weft_result timer_change(weft_world *world, weft_system handle, double seconds,
                                const char *what)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    weft__system *system = timer_at(world, handle, what);
    if (system == NULL) return world->error->code;
    system->timer = seconds;
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
    return system == NULL ? -1 : system->timer;
}
