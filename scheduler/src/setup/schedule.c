/* SPDX-License-Identifier: MIT */
/* schedule.c: the options of a schedule, and compiling it before the next step does.
 *
 * How it is compiled: compile.c. What it came to: report/. */
#include "compile.h"
#include "registry.h"
#include "scheduler.h"
#include "sized.h"

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
