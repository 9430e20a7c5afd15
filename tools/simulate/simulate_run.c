/* SPDX-License-Identifier: MIT */
/* simulate_run.c: steps the recorded frames on a pool of virtual workers. The decisions of the
 * scheduler about a stage (scheduler/src/dispatch/stage_run.c: one item or a small stage runs
 * inline, else a loop of the pool) are repeated here; everything below is the job system itself. */
#include "simulate.h"

#include <stdlib.h>

#define INLINE_NS 6000u
#define WARM_UP 3u

/* What a loop body needs. Owner: run_stage, on the owner's stack. */
typedef struct body {
    const sim_costs *costs;
    const sim_stage *stage;
} body;

static int run_items(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const body *b = argument;
    for (uint32_t i = begin; i < end; i++) {
        const sim_item *item = &b->costs->items[b->stage->first + i];
        sim_work(item->ns, item->bytes);
    }
    (void)job;
    return 0;
}

/* A stage number's prediction. */
typedef struct memory {
    weft_job_cost cost;
    uint64_t measured_ns; /* 0: not yet */
    uint32_t measured_items;
} memory;

static bool is_inline(const memory *known, uint32_t count, uint32_t workers)
{
    if (workers == 1 || count == 1) return true;
    if (known->measured_items == 0) return count <= 4;
    return known->measured_ns * count < (uint64_t)INLINE_NS * known->measured_items;
}

static void run_stage(const sim_costs *costs, const sim_stage *stage, memory *known,
                      weft_job_pool *pool, bool *has_hint)
{
    if (stage->count == 0) return;
    body b = {costs, stage};
    weft_job_context *owner = weft_job_pool_owner(pool);
    uint64_t begin_ps = sim_now_ps();
    if (is_inline(known, stage->count, weft_job_pool_worker_count(pool))) {
        run_items(owner, &b, 0, stage->count);
        known->measured_ns = (sim_now_ps() - begin_ps) / 1000 + 1;
        known->measured_items = stage->count;
        return;
    }
    if (!*has_hint) weft_job_frame_begin(pool);
    *has_hint = true;
    weft_job_for_desc desc = {
        .fn = run_items, .argument = &b, .count = stage->count, .cost = &known->cost};
    weft_job_for(owner, &desc, NULL);
    uint64_t ns = (sim_now_ps() - begin_ps) / 1000;
    if (ns >= INLINE_NS / 2) return;
    known->measured_ns = ns;
    known->measured_items = stage->count;
}

static void run_frame(const sim_costs *costs, uint32_t frame, memory *known, weft_job_pool *pool,
                      uint64_t *stage_ps)
{
    bool has_hint = false;
    for (uint32_t s = costs->frame_first[frame]; s < costs->frame_first[frame + 1]; s++) {
        const sim_stage *stage = &costs->stages[s];
        if (stage->serial_ns != 0) sim_work((uint32_t)stage->serial_ns, 0);
        uint64_t begin_ps = sim_now_ps();
        run_stage(costs, stage, &known[stage->number], pool, &has_hint);
        if (stage_ps != NULL) stage_ps[stage->number] += sim_now_ps() - begin_ps;
    }
    if (has_hint) weft_job_frame_end(pool);
}

static void fill(sim_result *out, const sim_costs *costs, const weft_job_stats *before,
                 const weft_job_stats *after, uint64_t ps)
{
    double frames = costs->frame_count;
    out->frame_ns = (double)ps / 1000 / frames;
    out->utilisation = (double)sim_costs_work(costs) * 1000 / ((double)ps * out->workers);
    out->stolen = (double)(after->stolen - before->stolen) / frames;
    out->parked = (double)(after->parked - before->parked) / frames;
    out->wakes = (double)(after->wakes - before->wakes) / frames;
}

weft_result sim_run(const sim_costs *costs, const sim_machine *machine,
                    void (*progress)(void *user, uint32_t done, uint32_t count), void *user,
                    sim_result *out)
{
    const uint32_t workers = out->workers;
    weft_job_pool *pool;
    weft_job_stats before, after;
    memory *known = calloc(costs->number_end, sizeof *known);
    if (known == NULL) return WEFT_OUT_OF_MEMORY;
    sim_machine full = *machine;
    if (full.spin_ns <= 0) full.spin_ns = 2 * machine->wake_ns;
    sim_begin(&full);
    const weft_job_pool_desc desc = {.worker_count = workers,
                                     .spin_ns = (uint32_t)full.spin_ns,
                                     .frame_spin_ns = (uint32_t)full.frame_spin_ns,
                                     .os = sim_os(),
                                     .trace_file = ""};
    weft_result result = weft_job_pool_create(&desc, &pool);
    if (result == WEFT_OK) {
        for (uint32_t f = 0; f < WARM_UP; f++)
            run_frame(costs, f % costs->frame_count, known, pool, NULL);
        weft_job_stats_get(pool, &before, sizeof before);
        uint64_t begin_ps = sim_now_ps();
        for (uint32_t f = 0; f < costs->frame_count; f++) {
            run_frame(costs, f, known, pool, out->stage_ps);
            progress(user, f + 1, costs->frame_count);
        }
        uint64_t ps = sim_now_ps() - begin_ps;
        weft_job_stats_get(pool, &after, sizeof after);
        fill(out, costs, &before, &after, ps);
        weft_job_pool_destroy(pool);
    }
    free(known);
    return result;
}
