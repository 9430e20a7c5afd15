/* SPDX-License-Identifier: MIT */
/* system_stats.c: figures of one system: its last run, and totals.
 *
 * The figures of a run are summed over workers when they are asked for (registry.c). */
#include "registry.h"
#include "sized.h"

weft_result weft_system_stats_get(const weft_world *world, weft_system handle,
                                  weft_system_stats *out, size_t out_bytes)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (out == NULL)
        return weft__error_argument(world, "weft_system_stats_get",
                                    "out is NULL: give the address of a weft_system_stats");
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
