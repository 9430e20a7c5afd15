/* SPDX-License-Identifier: MIT */
/* compile_stages.c: the stages of a schedule, from the staging of its systems.
 *
 * Which systems are in each, what the stage must ask them, where sync points and segments lie,
 * and the change versions that a pass hands out. */
#include "compile_stages.h"

#include "registry.h"

#include <stdio.h>
#include <string.h>

static void set_stage_flags(weft__stage *stage)
{
    for (uint32_t i = 0; i < stage->system_count; i++) {
        const weft__system *system = stage->systems[i];
        if ((system->flags & (WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE)) != 0)
            stage->has_main = true;
        if ((system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0) stage->is_exclusive = true;
        if (system->range != NULL) stage->has_ranges = true;
        if ((system->flags & WEFT_SYSTEM_BACKGROUND) != 0) stage->has_background = true;
    }
}

/* The name of a stage in traces: its systems, as many as fit. */
static void label(weft__stage *stage)
{
    size_t used = 0;
    for (uint32_t i = 0; i < stage->system_count && used < sizeof stage->title - 8; i++) {
        int written = snprintf(stage->title + used, sizeof stage->title - used, "%s%s",
                               i == 0 ? WEFT__STAGE_TITLE : " + ", stage->systems[i]->name);
        used += written > 0 ? (size_t)written : 0;
    }
    if (used >= sizeof stage->title) memcpy(stage->title + sizeof stage->title - 4, "...", 4);
}

/* What asks for stage after stage: sizes that are asked for when the stages before have ended,
 * loops that go on beside several stages, systems that nothing may run beside. */
static bool allows_overlap(const weft__stage *stage)
{
    return !stage->has_ranges && !stage->has_background && !stage->is_exclusive;
}

static weft_result make_segments(weft__scheduler *scheduler)
{
    uint32_t stages = scheduler->stage_count;
    scheduler->segment_count = stages == 0 ? 0 : scheduler->stages[stages - 1].segment + 1;
    scheduler->segments =
        weft__arena_take(scheduler->memory, &scheduler->plan_arena,
                         scheduler->segment_count * sizeof scheduler->segments[0]);
    if (scheduler->segments == NULL) {
        scheduler->segment_count = 0;
        return weft__error_memory(scheduler->world, "the schedule");
    }
    bool is_recorded = weft__pool_is_traced_in_detail(weft__front(scheduler->world)->host.pool);
    bool is_shared = (scheduler->worker_count > 1 || is_recorded) &&
                     !scheduler->options.without_parallel && !scheduler->options.without_overlap;
    for (uint32_t i = 0; i < stages; i++) {
        const weft__stage *stage = &scheduler->stages[i];
        weft__segment *segment = &scheduler->segments[stage->segment];
        if (segment->end_stage == 0) {
            segment->first_stage = i;
            segment->may_overlap = is_shared;
        }
        segment->end_stage = i + 1;
        segment->may_overlap = segment->may_overlap && allows_overlap(stage);
    }
    for (uint32_t i = 0; i < scheduler->segment_count; i++) {
        weft__segment *segment = &scheduler->segments[i];
        bool has_one = segment->end_stage - segment->first_stage == 1 &&
                       scheduler->stages[segment->first_stage].system_count == 1;
        if (has_one) segment->may_overlap = false;
        if (segment->may_overlap) scheduler->stages[segment->first_stage].frames_to_ask = 1;
    }
    return WEFT_OK;
}

weft_result weft__schedule_stages(weft__scheduler *scheduler)
{
    const weft__staging *staging = &scheduler->staging;
    uint32_t count = staging->stage_count + 1; /* the last one is the end of the frame */
    if (!weft__list_room(scheduler->memory, WEFT__MEMORY_SYSTEMS, &scheduler->stages,
                         &scheduler->stage_capacity, count, sizeof *scheduler->stages))
        return weft__error_memory(scheduler->world, "the schedule");
    memset(scheduler->stages, 0, count * sizeof scheduler->stages[0]);
    scheduler->stage_count = staging->stage_count;
    scheduler->stage_systems =
        weft__arena_take(scheduler->memory, &scheduler->plan_arena,
                         scheduler->ordered_count * sizeof scheduler->stage_systems[0]);
    if (scheduler->stage_systems == NULL)
        return weft__error_memory(scheduler->world, "the schedule");
    uint32_t offset = 0; /* versions: systems in order of effect, each sync point its own */
    for (uint32_t i = 0; i < staging->stage_count; i++) {
        weft__stage *stage = &scheduler->stages[i];
        uint32_t first = staging->stage_first[i], end = staging->stage_first[i + 1];
        stage->systems = scheduler->stage_systems + first;
        stage->system_count = end - first;
        stage->is_sync = staging->is_sync[i] != 0;
        for (uint32_t k = first; k < end; k++) {
            weft__system *system = scheduler->ordered[staging->stage_nodes[k]];
            system->stage = i;
            scheduler->stage_systems[k] = system;
        }
        set_stage_flags(stage);
        label(stage);
        stage->join_stage = UINT32_MAX;
        for (uint32_t k = first; k < end; k++) {
            const weft__system *system = stage->systems[k - first];
            uint32_t join = staging->join_stage[system->position];
            if ((system->flags & WEFT_SYSTEM_BACKGROUND) != 0 && join < stage->join_stage)
                stage->join_stage = join;
        }
        bool is_boundary =
            i > 0 && (stage->is_sync || stage->is_exclusive || stage[-1].is_exclusive);
        stage->segment = i == 0 ? 0 : stage[-1].segment + is_boundary;
    }
    uint32_t sync = 0;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++) {
        for (; sync < staging->sync_count && staging->syncs[sync].observer == i; sync++)
            scheduler->stages[staging->syncs[sync].before_stage].sync_version_offset = offset++;
        scheduler->ordered[i]->version_offset = offset++;
    }
    scheduler->stages[staging->stage_count].is_sync = true;
    scheduler->stages[staging->stage_count].sync_version_offset = offset++;
    scheduler->version_count = offset;
    return make_segments(scheduler);
}
