/* SPDX-License-Identifier: MIT */
/* system_stats.c: the systems of a world, what they are and what they touch; figures of one
 * system, of its last run and in all; figures of the last step.
 *
 * The critical path adds up, over the stages, the largest of: all work divided by the workers,
 * the systems of the owner one after the other, the longest SERIAL system. A segment that ran as
 * a graph counts as one stage. Reads only. Owner. */
#include "registry.h"
#include "sized.h"

/* ---- what they are ---- */

static weft_system handle_of(const weft_world *world, const weft__system *system)
{
    return (weft_system){system->handle, weft__front(world)->number};
}

uint32_t weft_system_list(const weft_world *world, weft_system *out, uint32_t capacity)
{
    const weft__scheduler *scheduler = world == NULL ? NULL : weft__scheduler_of(world);
    uint32_t found = 0;
    if (scheduler == NULL || (out == NULL && capacity != 0)) return 0;
    for (uint32_t i = 0; i < scheduler->system_capacity; i++) {
        if (scheduler->systems[i] == NULL) continue;
        if (found < capacity) out[found] = handle_of(world, scheduler->systems[i]);
        found++;
    }
    return found;
}

weft_result weft_system_info_get(const weft_world *world, weft_system handle, weft_system_info *out,
                                 size_t out_bytes)
{
    const weft_result refused = weft__error_out(world, out, "weft_system_info");
    if (refused != WEFT_OK) return refused;
    const weft__system *system = weft__system_at(world, handle);
    if (system == NULL) return WEFT_BAD_HANDLE;
    weft_system_info info = {.name = system->name,
                             .group = system->scheduler->groups[system->group].name,
                             .flags = system->flags,
                             .effects = system->effects,
                             .period = system->period,
                             .is_enabled = system->is_enabled,
                             .skips_unchanged = system->skips_unchanged,
                             .query = system->query,
                             .by_depth = system->by_depth};
    weft__sized_fill(out, out_bytes, &info, sizeof info);
    return WEFT_OK;
}

/* The list that is being written. Owner: one call. */
typedef struct touched {
    const weft_world *world;
    weft_lookup *out;
    uint32_t count, capacity;
} touched;

static void touch(touched *t, uint32_t component, weft_access access)
{
    if (access == WEFT_NO_ACCESS) return;
    for (uint32_t i = 0; i < t->count && i < t->capacity; i++) {
        if (t->out[i].component.id != component) continue;
        if (access == WEFT_WRITE) t->out[i].access = WEFT_WRITE;
        return;
    }
    if (t->count < t->capacity)
        t->out[t->count] = (weft_lookup){weft__component(t->world, component), access};
    t->count++;
}

static void touch_query(touched *t, weft_query query)
{
    const weft__query_handle *handle = query.id == 0 ? NULL : weft__query_find(t->world, query);
    if (handle == NULL) return;
    for (uint32_t i = 0; i < handle->query->term_count; i++)
        touch(t, handle->query->terms[i].component, (weft_access)handle->query->terms[i].access);
}

static void touch_grants(touched *t, const weft__grant *grants, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) touch(t, grants[i].component, grants[i].access);
}

uint32_t weft_system_access(const weft_world *world, weft_system handle, weft_lookup *out,
                            uint32_t capacity)
{
    const weft__system *system = world == NULL ? NULL : weft__system_at(world, handle);
    if (system == NULL || (out == NULL && capacity != 0)) return 0;
    touched t = {.world = world, .out = out, .capacity = capacity};
    touch_query(&t, system->query);
    for (uint32_t i = 0; i < system->lists.query_count; i++)
        touch_query(&t, system->lists.queries[i]);
    touch_grants(&t, system->lists.lookups, system->lists.lookup_count);
    touch_grants(&t, system->lists.resources, system->lists.resource_count);
    return t.count;
}

/* ---- figures of a system ---- */

weft_result weft_system_stats_get(const weft_world *world, weft_system handle,
                                  weft_system_stats *out, size_t out_bytes)
{
    const weft_result refused = weft__error_out(world, out, "weft_system_stats");
    if (refused != WEFT_OK) return refused;
    const weft__system *system = weft__system_at(world, handle);
    if (system == NULL) return WEFT_BAD_HANDLE;
    const weft__scheduler *scheduler = system->scheduler;
    weft__system_tally tally;
    weft__system_tally_get(scheduler, system, &tally);
    const weft__stage *stage =
        system->stage < scheduler->stage_count ? &scheduler->stages[system->stage] : NULL;
    bool can_fuse = (system->query.id != 0 && stage != NULL && stage->system_count > 1 &&
                     (scheduler->nodes[system->position].traits & WEFT__STAGING_FUSABLE) != 0);
    weft_system_stats stats = {.name = system->name,
                               .runs = system->runs,
                               .slices = tally.slices,
                               .rows = tally.rows,
                               .commands = tally.commands,
                               .time_ns = tally.time_ns,
                               .total_ns = system->total_ns,
                               .stage = system->stage,
                               .is_fused = can_fuse};
    weft__sized_fill(out, out_bytes, &stats, sizeof stats);
    return WEFT_OK;
}

/* ---- figures of the last step ---- */

/* The least time of a stage: all of its work on all workers, the owner's systems one after the
 * other, a system that runs on one worker. */
static uint64_t least_time(const weft__scheduler *scheduler, const weft__stage *stage)
{
    uint64_t work = 0, owner = 0, longest = 0;
    for (uint32_t i = 0; i < stage->system_count; i++) {
        const weft__system *system = stage->systems[i];
        uint64_t time = weft__system_time(scheduler, system);
        work += time;
        if (weft__system_is_on_owner(system))
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
            uint64_t time = weft__system_time(scheduler, system);
            work += time;
            if (weft__system_is_on_owner(system)) owner += time;
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

static uint64_t schedule_critical_path(const weft__scheduler *scheduler)
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
        stats.critical_path_ns = schedule_critical_path(scheduler);
        stats.playback_ns = scheduler->work_ns[WEFT__WORK_PLAYBACK];
        stats.relations_ns = scheduler->work_ns[WEFT__WORK_RELATIONS];
        stats.observers_ns = scheduler->work_ns[WEFT__WORK_OBSERVERS];
        stats.hashing_ns = scheduler->work_ns[WEFT__WORK_HASHING];
        for (uint32_t i = 0; i < scheduler->worker_count && scheduler->hash_log != NULL; i++)
            stats.hashing_ns += scheduler->workers[i].hashed_ns;
    }
    weft__sized_fill(out, out_bytes, &stats, sizeof stats);
}
