/* SPDX-License-Identifier: MIT */
/* segment_run.c: a segment as a graph of tasks: a system begins when those that it depends on have
 * ended, beside whatever else runs.
 *
 * Whether it is run so is decided by run_choice.h. The graph is ranked by the times of its tasks,
 * so that the longest chain begins first. What a task does to the world does not depend on the
 * way: change versions and commands are numbered by the order of effect. */
#include "segment_run.h"

#include "dispatch.h"
#include "registry.h"
#include "segment_graph.h"

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

/* Makes a plan the one of the segment; false: there is none, which the segment notes. */
static bool use(weft__scheduler *scheduler, weft__segment *segment, weft__plan_kind kind)
{
    bool is_made = weft__segment_plan_make(scheduler, segment, kind, run_task);
    if (is_made)
        weft__segment_plan_use(scheduler, segment, kind);
    else if (kind == WEFT__PLAN_SPLIT)
        segment->has_no_split = true;
    else
        segment->may_overlap = false;
    return is_made;
}

/* What is_always_parallel asks for: each kind of graph in turn. */
static weft__way way_for_tests(const weft__scheduler *scheduler, const weft__segment *segment)
{
    bool is_split = segment->plan != NULL && !segment->has_no_split && scheduler->pass % 2 == 0;
    return is_split ? WEFT__WAY_SPLIT : WEFT__WAY_GRAPH;
}

/* The way of this run, where that with a split was asked for: its match begins again without it. */
static weft__way without_split(const weft__scheduler *scheduler, weft__segment *segment)
{
    segment->choice.match_runs = 0;
    return scheduler->options.is_always_parallel ? WEFT__WAY_GRAPH
                                                 : weft__segment_choice_way(&segment->choice);
}

bool weft__segment_choose(weft__scheduler *scheduler, weft__segment *segment)
{
    segment->choice.rest = 0;
    weft__way way = scheduler->options.is_always_parallel
                        ? way_for_tests(scheduler, segment)
                        : weft__segment_choice_way(&segment->choice);
    if (scheduler->is_traced_in_detail) way = WEFT__WAY_STAGES; /* weft simulate reads stages */
    if (way == WEFT__WAY_SPLIT && !segment->has_no_split &&
        use(scheduler, segment, WEFT__PLAN_SPLIT))
        return true;
    if (way == WEFT__WAY_SPLIT) way = without_split(scheduler, segment);
    bool has_whole =
        way != WEFT__WAY_STAGES ? use(scheduler, segment, WEFT__PLAN_WHOLE) : segment->plan != NULL;
    if (has_whole) weft__segment_plan_use(scheduler, segment, WEFT__PLAN_WHOLE);
    return has_whole && way != WEFT__WAY_STAGES;
}

void weft__segment_record(weft__scheduler *scheduler, weft__segment *segment)
{
    if (!use(scheduler, segment, WEFT__PLAN_WHOLE)) return;
    const weft__task_plan *plan = segment->plan;
    weft_job_context *owner = weft__front(scheduler->world)->host.context;
    uint32_t number = (uint32_t)(segment - scheduler->segments);
    weft__note(owner, WEFT_JOB_EVENT_SPAN_BEGIN, "graph", number);
    for (uint32_t i = 0; i < plan->task_count; i++)
        weft__note(owner, WEFT_JOB_EVENT_MARK, plan->tasks[i].title,
                   i << 1 | plan->tasks[i].on_owner);
    for (uint32_t i = 0; i < plan->edge_count; i++)
        weft__note(owner, WEFT_JOB_EVENT_MARK, "edge", plan->edges[i][0] << 16 | plan->edges[i][1]);
    weft__note(owner, WEFT_JOB_EVENT_SPAN_END, "graph", number);
}

void weft__segment_learn(weft__scheduler *scheduler, weft__segment *segment, weft__way way,
                         uint64_t ns)
{
    weft__segment_choice *choice = &segment->choice;
    const uint32_t ways = segment->has_no_split ? WEFT__WAY_GRAPH + 1 : WEFT__WAY_SPLIT + 1;
    if (!scheduler->options.is_always_parallel) weft__segment_choice_learn(choice, way, ns, ways);
    /* the next frame may run stages without a look, and these are loops over all their tasks */
    if (choice->rest != 0 && segment->plan != NULL)
        weft__segment_plan_use(scheduler, segment, WEFT__PLAN_WHOLE);
}

/* Whether some task takes another part of the whole than when the graph was ranked. */
static bool has_changed(const weft__task_plan *plan)
{
    uint64_t now = 0, then = 0;
    for (uint32_t i = 0; i < plan->task_count; i++) {
        now += plan->tasks[i].time_ns;
        then += plan->tasks[i].ranked_ns;
    }
    for (uint32_t i = 0; i < plan->task_count; i++) {
        const weft__task *task = &plan->tasks[i];
        if (weft__task_has_shifted(task->time_ns, task->ranked_ns, now, then)) return true;
    }
    return false;
}

void weft__segment_run(weft__scheduler *scheduler, weft__segment *segment)
{
    weft__task_plan *plan = segment->plan;
    weft__way way = plan == &segment->plans[WEFT__PLAN_SPLIT] ? WEFT__WAY_SPLIT : WEFT__WAY_GRAPH;
    weft_world *world = scheduler->world;
    weft_job_context *owner = weft__front(world)->host.context;
    if (!scheduler->has_frame_hint && owner == weft__front(world)->host.owner) {
        weft_job_frame_begin(weft__front(world)->host.pool);
        scheduler->has_frame_hint = true;
    }
    bool in_question;
    if (weft__graph_ranks(plan->runs, &in_question) || (in_question && has_changed(plan)))
        weft__segment_graph_rank(scheduler, plan, run_task);
    plan->runs++;
    segment->graph_pass = scheduler->pass;
    segment->graph_plan = plan;
    segment->graph_ns = 0;
    if (weft__part_order_rules(scheduler->part_order)) {
        weft__part_order_run(scheduler, segment->first_stage, segment->end_stage, segment);
        return;
    }
    uint64_t begin = weft__scheduler_now(scheduler);
    weft_result result = weft_job_graph_run(owner, plan->graph, NULL);
    const uint64_t ns = weft__scheduler_now(scheduler) - begin;
    for (uint32_t i = 0; i < plan->task_count && result == WEFT_OK; i++)
        result = plan->tasks[i].result;
    segment->graph_ns = ns;
    weft__segment_learn(scheduler, segment, way, ns);
    if (result == WEFT_OK) return;
    weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                "the systems of a step could not run on the pool: %s", weft_result_text(result));
    weft__scheduler_fail(scheduler, result);
}
