/* SPDX-License-Identifier: MIT */
/* clock.c: the time of a world: which step it is, and the rest of fixed rates. The
 * clock moves when a step begins (frame.c) and stands while systems run, so that any of them may
 * read it. */
#include "registry.h"
#include "slice_ops_system.h"

#include <float.h>

weft_frame weft_world_frame(const weft_world *world)
{
    if (world == NULL) return (weft_frame){0};
    return (weft_frame){.number = weft__front(world)->clock.steps,
                        .time = weft__front(world)->clock.time,
                        .dt = weft__front(world)->clock.dt};
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
    if (!weft__slice_is_here(slice)) return frame;
    const weft__system *system = weft__slice_system(slice);
    const weft__scheduler *scheduler = system->scheduler;
    frame.dt = system->dt;
    if (scheduler->passes_left == 0) return frame; /* alone, outside its rate */
    double rest, period = rate_of(scheduler, system, &rest);
    if (period > 0) frame.time -= rest + period * (double)(scheduler->passes_left - 1);
    return frame;
}

float weft_world_alpha(const weft_world *world, const char *name)
{
    if (world == NULL) return 0;
    if (name == NULL) name = "";
    const weft__scheduler *scheduler = weft__scheduler_of(world);
    const weft__system *system = scheduler == NULL ? NULL : weft__system_named(scheduler, name);
    uint32_t group = scheduler == NULL ? WEFT__NONE : weft__group_named(scheduler, name);
    double rest = 0, period = 0;
    if (system != NULL) {
        period = rate_of(scheduler, system, &rest);
    } else if (group != WEFT__NONE) {
        period = (double)scheduler->groups[group].period;
        rest = scheduler->groups[group].elapsed;
    } else if ((weft__front(world)->busy & WEFT__BUSY_STEPPING) == 0) {
        weft__error(world, WEFT_NOT_FOUND, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "weft_world_alpha: no system or group is named '%s'", name);
    }
    float alpha = period > 0 ? (float)(rest / period) : 0;
    return alpha < 1 ? alpha : 1 - FLT_EPSILON / 2; /* the float above 1 - 1e-9 is 1 */
}
