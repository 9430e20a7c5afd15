/* SPDX-License-Identifier: MIT */
/* level_run.c: a system by depth: a loop over the slices of each level, inside the item that the
 * system is in its stage. The loop's end is the barrier between two levels: what a slice reads of
 * lower levels was written before the loop began. Order of effect (versions, keys of commands) goes
 * by slices as for any system, so it does not depend on levels or workers. */
#include "level_run.h"

#include "dispatch.h"
#include "part_order.h"

#include "ecs_engine.h"

/* Owner: the stack of weft__levels_run; constant while a loop runs. */
typedef struct level_loop {
    weft__scheduler *scheduler;
    const weft__levels *levels;
    uint32_t first;
} level_loop;

static int run_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const level_loop *loop = argument;
    weft__dispatch(&loop->scheduler->workers[weft_job_worker_index(job)], loop->levels->entries,
                   loop->levels->entry_count, loop->first + begin, loop->first + end);
    return 0;
}

void weft__levels_run(const weft__worker *worker, const weft__entry *entry)
{
    weft__scheduler *scheduler = worker->scheduler;
    weft_job_context *job = weft__host_worker(scheduler->world, worker->index);
    const weft__levels *levels = entry->levels;
    bool is_serial = scheduler->is_serial || weft__part_order_rules(scheduler->part_order);
    if (!entry->system->is_active) return;
    for (uint32_t i = 0; i < levels->level_count; i++) {
        level_loop loop = {scheduler, levels, levels->first_items[i]};
        uint32_t count = levels->first_items[i + 1] - loop.first;
        const weft_job_for_desc desc = {.fn = run_part,
                                        .argument = &loop,
                                        .count = count,
                                        .cost = &entry->system->level_cost,
                                        .name = entry->system->name};
        if (is_serial || count == 1)
            run_part(job, &loop, 0, count);
        else if (weft_job_for(job, &desc, NULL) != WEFT_OK) /* a forked process: nothing was run */
            run_part(job, &loop, 0, count);
    }
}
