/* SPDX-License-Identifier: MIT */
/* segment_run.c: a segment as a graph of tasks: a system begins when those that it depends on have
 * ended, beside whatever else runs.
 *
 * Whether it is run so is decided by run_choice.h. The graph is ranked by the times of its tasks,
 * so that the longest chain begins first. What a task does to the world does not depend on the
 * way: change versions and commands are numbered by the order of effect. */
#include "segment_run.h"

#include "part_order.h"
#include "registry.h"
#include "segment_graph.h"
#include "stage_run.h"

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
    weft__segment_choice *choice = &segment->choice;
    choice->rest = 0;
    if (scheduler->is_traced_in_detail) return false; /* weft simulate reads stages */
    if (!scheduler->options.is_always_parallel &&
        weft__segment_choice_way(choice) == WEFT__WAY_STAGES)
        return false;
    return is_ready(scheduler, segment);
}

void weft__segment_record(weft__scheduler *scheduler, weft__segment *segment)
{
    if (!is_ready(scheduler, segment)) return;
    weft_job_context *owner = weft__front(scheduler->world)->host.context;
    uint32_t number = (uint32_t)(segment - scheduler->segments);
    weft__note(owner, WEFT_JOB_EVENT_SPAN_BEGIN, "graph", number);
    for (uint32_t i = 0; i < segment->task_count; i++)
        weft__note(owner, WEFT_JOB_EVENT_MARK, segment->tasks[i].title,
                   i << 1 | segment->tasks[i].on_owner);
    for (uint32_t i = 0; i < segment->edge_count; i++)
        weft__note(owner, WEFT_JOB_EVENT_MARK, "edge",
                   segment->edges[i][0] << 16 | segment->edges[i][1]);
    weft__note(owner, WEFT_JOB_EVENT_SPAN_END, "graph", number);
}

void weft__segment_learn(weft__scheduler *scheduler, weft__segment *segment, weft__way way,
                         uint64_t ns)
{
    weft__segment_choice *choice = &segment->choice;
    if (!scheduler->options.is_always_parallel) {
        weft__segment_choice_learn(choice, way, ns, WEFT__WAYS);
    } else {
        choice->last_way = way;
        choice->last_ns = ns;
    }
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
        const weft__task *task = &segment->tasks[i];
        if (weft__task_has_shifted(task->time_ns, task->ranked_ns, now, then)) return true;
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
    bool in_question;
    if (weft__segment_choice_ranks(&segment->choice, &in_question) ||
        (in_question && has_changed(segment)))
        weft__segment_graph_rank(scheduler, segment, run_task);
    segment->choice.graph_runs++;
    if (weft__part_order_rules(scheduler->part_order)) {
        weft__part_order_run(scheduler, segment->first_stage, segment->end_stage, segment);
        return;
    }
    uint64_t begin = weft__scheduler_now(scheduler);
    weft_result result = weft_job_graph_run(owner, segment->graph, NULL);
    weft__segment_learn(scheduler, segment, WEFT__WAY_GRAPH,
                        weft__scheduler_now(scheduler) - begin);
    for (uint32_t i = 0; i < segment->task_count && result == WEFT_OK; i++)
        result = segment->tasks[i].result;
    if (result == WEFT_OK) return;
    weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                "the systems of a step could not run on the pool: %s", weft_result_text(result));
    weft__scheduler_fail(scheduler, result);
}
