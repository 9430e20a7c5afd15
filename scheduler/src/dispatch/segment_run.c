/* SPDX-License-Identifier: MIT */
/* segment_run.c: a segment as a graph of tasks: a system begins when those that it depends on have
 * ended, beside whatever else runs.
 *
 * A segment that takes less than OVERLAP_NS runs stage after stage, at the price of one count. One
 * that takes longer is run as a graph; if that turns out slower than its stages did, they are
 * measured again, and if it still is, the graph rests for a while. The graph is ranked by the times
 * of its tasks, so that the longest chain begins first. What a task does to the world does not
 * depend on the way: change versions and commands are numbered by the order of effect. */
#include "segment_run.h"

#include "part_order.h"
#include "registry.h"
#include "segment_graph.h"
#include "stage_run.h"

#define OVERLAP_NS 30000u
#define REMEASURE 64u /* frames */
#define RANK_RUNS 128u
#define PATIENCE 256u /* frames, doubled up to 16 times as many */

static bool has_active(const weft__task *task)
{
    for (uint32_t i = 0; i < task->system_count; i++)
        if (task->systems[i]->is_active) return true;
    return false;
}

static int run_task(weft_job_context *job, void *argument)
{
    weft__task *task = argument;
    const weft__scheduler *scheduler = task->scheduler;
    task->result = WEFT_OK;
    task->time_ns = 0;
    if (scheduler->is_conditional && !has_active(task)) return 0;
    uint64_t begin = weft__scheduler_now(scheduler);
    task->result = weft__task_run(job, task);
    task->time_ns = weft__scheduler_now(scheduler) - begin;
    return 0; /* a system cannot fail, and no other one is skipped if the pool does */
}

/* ---- the decision ---- */

static bool is_ready(weft__scheduler *scheduler, weft__segment *segment)
{
    return segment->graph != NULL || weft__segment_graph_make(scheduler, segment, run_task);
}

bool weft__segment_choose(weft__scheduler *scheduler, weft__segment *segment)
{
    segment->rest = 0;
    if (scheduler->is_traced_in_detail) return false; /* weft simulate reads stages */
    if (segment->is_overlapping) return true;
    bool is_long = scheduler->options.is_always_parallel || segment->stages_ns >= OVERLAP_NS;
    segment->is_overlapping = is_long && is_ready(scheduler, segment);
    return segment->is_overlapping;
}

void weft__segment_learn(weft__segment *segment, uint64_t stages_ns)
{
    bool was_slower = segment->patience != 0 && segment->graph_ns > stages_ns + stages_ns / 8;
    segment->stages_ns = stages_ns;
    if (stages_ns < OVERLAP_NS) {
        segment->rest = REMEASURE;
    } else if (was_slower) { /* than the stages were now: not by what the frame had to do */
        segment->rest = segment->patience;
        if (segment->patience < 16 * PATIENCE) segment->patience *= 2;
    }
}

/* After a run of the graph. */
static void judge(weft__segment *segment, uint64_t ns)
{
    segment->graph_ns = ns;
    bool is_slower = ns > segment->stages_ns + segment->stages_ns / 8;
    if (!is_slower && ns >= OVERLAP_NS / 2) return;
    segment->is_overlapping = false;
    segment->rest = 0;
    segment->stages_ns = 0; /* measured in the next frame */
    if (segment->patience == 0) segment->patience = PATIENCE;
}

/* Whether some task takes another part of the whole than when the graph was ranked. */
static bool has_changed(const weft__segment *segment)
{
    uint64_t now = 0, then = 0;
    for (uint32_t i = 0; i < segment->task_count; i++) {
        now += segment->tasks[i].time_ns;
        then += segment->tasks[i].ranked_ns;
    }
    for (uint32_t i = 0; i < segment->task_count; i++) {
        uint64_t a = segment->tasks[i].time_ns, b = segment->tasks[i].ranked_ns;
        if ((a > 2 * b || b > 2 * a) && (a > now / 16 || b > then / 16)) return true;
    }
    return false;
}

void weft__segment_run(weft__scheduler *scheduler, weft__segment *segment)
{
    weft_world *world = scheduler->world;
    weft_job_context *owner = weft__front(world)->host.context;
    if (!scheduler->has_frame_hint && owner == weft__front(world)->host.owner) {
        weft_job_frame_begin(weft__front(world)->host.pool);
        scheduler->has_frame_hint = true;
    }
    if (segment->graph_runs == 2 ||
        (segment->graph_runs % RANK_RUNS == RANK_RUNS - 1 && has_changed(segment)))
        weft__segment_graph_rank(scheduler, segment, run_task);
    segment->graph_runs++;
    if (weft__part_order_rules(scheduler->part_order)) {
        weft__part_order_run(scheduler, segment->first_stage, segment->end_stage, segment);
        return;
    }
    uint64_t begin = weft__scheduler_now(scheduler);
    weft_result result = weft_job_graph_run(owner, segment->graph, NULL);
    if (!scheduler->options.is_always_parallel)
        judge(segment, weft__scheduler_now(scheduler) - begin);
    for (uint32_t i = 0; i < segment->task_count && result == WEFT_OK; i++)
        result = segment->tasks[i].result;
    if (result == WEFT_OK) return;
    weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                "the systems of a step could not run on the pool: %s", weft_result_text(result));
    weft__scheduler_fail(scheduler, result);
}
