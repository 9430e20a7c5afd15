/* SPDX-License-Identifier: MIT */
/* simulate_limits.c: what limits the speed-up, stage by stage: bounds that no schedule can beat are
 * compared with what the simulated pool needed. */
#include "simulate.h"

#include <stdlib.h>

#define SMALL_NS 6000u /* INLINE_NS of simulate_run.c */

/* Sums of a stage number over all frames. */
typedef struct sums {
    double work_ns, longest_ns, rounds_ns; /* rounds: as many slices as the worker with most gets */
    uint64_t runs, slices;
} sums;

static void add_stage(const sim_costs *costs, const sim_stage *stage, uint32_t workers, sums *s)
{
    uint64_t work = 0, longest = 0;
    for (uint32_t i = 0; i < stage->count; i++) {
        uint64_t ns = costs->items[stage->first + i].ns;
        work += ns;
        if (ns > longest) longest = ns;
    }
    s->runs++;
    s->slices += stage->count;
    s->work_ns += (double)work;
    s->longest_ns += (double)longest;
    uint32_t rounds = (stage->count + workers - 1) / workers;
    s->rounds_ns += (double)work / stage->count * rounds;
}

/* The bound that is nearest below what the stage took; none reaches half of it: the pool itself. */
static sim_limit limit_of(const sums *s, double took_ns, uint32_t workers)
{
    double even = s->work_ns / workers;
    if (workers == 1 || took_ns <= 1.25 * even) return SIM_LIMIT_NONE;
    if (s->work_ns / (double)s->runs < SMALL_NS) return SIM_LIMIT_SMALL;
    bool is_slice = s->longest_ns >= s->rounds_ns;
    double bound = is_slice ? s->longest_ns : s->rounds_ns;
    if (bound < took_ns / 2 || bound <= 1.1 * even) return SIM_LIMIT_SHARING;
    return is_slice ? SIM_LIMIT_SLICE : SIM_LIMIT_COUNT;
}

static int compare(const void *a, const void *b)
{
    const sim_stage_limit *x = a, *y = b;
    return (x->frame_us < y->frame_us) - (x->frame_us > y->frame_us);
}

sim_stage_limit *sim_limits_make(const sim_costs *costs, const sim_result *result, uint32_t *count)
{
    double frames = costs->frame_count, owner_ns = 0;
    sums *all = calloc(costs->number_end, sizeof *all);
    sim_stage_limit *rows = calloc((size_t)costs->number_end + 1, sizeof *rows);
    *count = 0;
    if (all == NULL || rows == NULL) {
        free(all);
        free(rows);
        return NULL;
    }
    for (uint32_t i = 0; i < costs->stage_count; i++) {
        const sim_stage *stage = &costs->stages[i];
        owner_ns += (double)stage->serial_ns;
        if (stage->count != 0) add_stage(costs, stage, result->workers, &all[stage->number]);
    }
    for (uint32_t i = 0; i < costs->number_end; i++) {
        const sums *s = &all[i];
        double took_ns = (double)result->stage_ps[i] / 1000;
        if (s->runs == 0) continue;
        rows[(*count)++] = (sim_stage_limit){.number = i,
                                             .work_us = s->work_ns / 1000 / frames,
                                             .frame_us = took_ns / 1000 / frames,
                                             .slices = (double)s->slices / (double)s->runs,
                                             .longest_us = s->longest_ns / 1000 / (double)s->runs,
                                             .limit = limit_of(s, took_ns, result->workers)};
    }
    double owner_us = owner_ns / 1000 / frames;
    rows[(*count)++] = (sim_stage_limit){
        .is_owner = true, .work_us = owner_us, .frame_us = owner_us, .limit = SIM_LIMIT_OWNER};
    qsort(rows, *count, sizeof *rows, compare);
    free(all);
    return rows;
}

const char *sim_limit_text(sim_limit limit)
{
    static const char *const texts[] = {
        [SIM_LIMIT_NONE] = "none",
        [SIM_LIMIT_OWNER] = "the owner alone",
        [SIM_LIMIT_SLICE] = "its longest slice",
        [SIM_LIMIT_COUNT] = "too few slices",
        [SIM_LIMIT_SMALL] = "too small to share",
        [SIM_LIMIT_SHARING] = "waking, joining, memory",
    };
    return texts[limit];
}
