/* SPDX-License-Identifier: MIT */
/* frame_stats.c: figures of the last step, and the least time its stages could have taken.
 *
 * The critical path adds up, over the stages, the largest of: all work divided by the workers,
 * the systems of the owner one after the other, the longest SERIAL system. A segment that ran as a
 * graph counts as one stage. */
#include "frame_stats.h"

#include "registry.h"
#include "sized.h"

static uint64_t time_of(const weft__scheduler *scheduler, const weft__system *system)
{
    weft__system_tally tally;
    weft__system_tally_get(scheduler, system, &tally);
    return tally.time_ns;
}

static bool is_on_owner(const weft__system *system)
{
    return (system->flags & (WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE)) != 0;
}

/* The least time of a stage: all of its work on all workers, the owner's systems one after the
 * other, a system that runs on one worker. */
static uint64_t least_time(const weft__scheduler *scheduler, const weft__stage *stage)
{
    uint64_t work = 0, owner = 0, longest = 0;
    for (uint32_t i = 0; i < stage->system_count; i++) {
        const weft__system *system = stage->systems[i];
        uint64_t time = time_of(scheduler, system);
        work += time;
        if (is_on_owner(system))
            owner += time;
        else if ((system->flags & WEFT_SYSTEM_SERIAL) != 0 && time > longest)
            longest = time;
    }
    work /= scheduler->worker_count;
    if (owner > longest) longest = owner;
    return work > longest ? work : longest;
}

/* Of a graph: all of its work on all workers, or the owner's systems one after the other. Chains:
 * weft_schedule_chain. */
static uint64_t graph_time(const weft__scheduler *scheduler, const weft__segment *segment)
{
    uint64_t work = 0, owner = 0;
    for (uint32_t i = segment->first_stage; i < segment->end_stage; i++)
        for (uint32_t k = 0; k < scheduler->stages[i].system_count; k++) {
            const weft__system *system = scheduler->stages[i].systems[k];
            uint64_t time = time_of(scheduler, system);
            work += time;
            if (is_on_owner(system)) owner += time;
        }
    work /= scheduler->worker_count;
    return work > owner ? work : owner;
}

static uint64_t segment_time(const weft__scheduler *scheduler, const weft__segment *segment)
{
    if (weft__segment_ran_as_graph(scheduler, segment)) return graph_time(scheduler, segment);
    uint64_t total = 0;
    for (uint32_t i = segment->first_stage; i < segment->end_stage; i++)
        total += least_time(scheduler, &scheduler->stages[i]);
    return total;
}

uint64_t weft__schedule_critical_path(const weft__scheduler *scheduler)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < scheduler->segment_count; i++)
        total += segment_time(scheduler, &scheduler->segments[i]);
    return total;
}

void weft_frame_stats_get(const weft_world *world, weft_frame_stats *out, size_t out_bytes)
{
    if (out == NULL) return;
    weft_frame_stats stats = {0};
    const weft__scheduler *scheduler = world == NULL ? NULL : weft__scheduler_of(world);
    if (scheduler != NULL) {
        stats = scheduler->stats;
        stats.systems = scheduler->ordered_count;
        stats.stages = scheduler->stage_count;
        stats.sync_points = scheduler->staging.sync_count + 1;
        stats.critical_path_ns = weft__schedule_critical_path(scheduler);
    }
    weft__sized_fill(out, out_bytes, &stats, sizeof stats);
}
