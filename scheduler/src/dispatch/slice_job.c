/* SPDX-License-Identifier: MIT */
/* slice_job.c: jobs inside the callbacks of systems. A system that declares them runs through a
 * function that makes the callback a job of its worker: children it starts are joined before the
 * next system sees the slice, also where a stage runs inline on the thread that steps the world.
 * Children and parts of loops that other workers run for it count for the system.
 * Other systems pay nothing. */
#include "slice_job.h"

#include "column_watch.h"
#include "mistakes.h"
#include "registry.h"
#include "slice_ops_system.h"

#include "ecs_engine.h"

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

/* Work that another worker did for the system, beside the time that dispatch_time.c takes. */
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
