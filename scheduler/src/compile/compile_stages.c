/* SPDX-License-Identifier: MIT */
/* compile_stages.c: the stages of a schedule, from the staging of its systems.
 *
 * Which systems are in each, what the stage must ask them, where sync points and segments lie,
 * and the change versions that a pass hands out. */
#include "compile_stages.h"

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
    for (uint32_t i = 0; i < stage->system_count && used < sizeof stage->label - 8; i++) {
        int written = snprintf(stage->label + used, sizeof stage->label - used, "%s%s",
                               i == 0 ? "" : " + ", stage->systems[i]->name);
        used += written > 0 ? (size_t)written : 0;
    }
    if (used >= sizeof stage->label) memcpy(stage->label + sizeof stage->label - 4, "...", 4);
}

weft_result weft__schedule_stages(weft__scheduler *scheduler)
{
    const weft__staging *staging = &scheduler->staging;
    uint32_t count = staging->stage_count + 1; /* the last one is the end of the frame */
    if (count > scheduler->stage_capacity) {
        weft__stage *grown =
            weft__realloc(scheduler->memory, WEFT__MEMORY_SYSTEMS, scheduler->stages,
                          scheduler->stage_capacity, count, sizeof *grown, 64);
        if (grown == NULL) return weft__error_memory(scheduler->world, "the schedule");
        scheduler->stages = grown;
        scheduler->stage_capacity = count;
    }
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
            uint32_t join = staging->join_stage[staging->stage_nodes[k]];
            if (join < stage->join_stage) stage->join_stage = join;
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
    return WEFT_OK;
}
