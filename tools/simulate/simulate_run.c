/* SPDX-License-Identifier: MIT */
/* simulate_run.c: steps the recorded frames on a pool of virtual workers, as the scheduler does it
 * (dispatch.c and frame.c of the scheduler): a stage runs inline or as a loop, a
 * segment as its stages or as a graph of tasks. The decisions are those of run_choice.h, and
 * everything below is the job system itself. */
#include "simulate.h"

#include <stdlib.h>
#include <string.h>

#include "jobs_engine.h"
#include "run_choice.h"

#define WAYS 2u /* of a segment: stages, or the graph that was recorded */
#define WARM_UP (2u * WEFT__MATCH_RUNS + 1) /* frames: the ways of segments have been compared */

/* What is known of the stages of a number. */
typedef struct stage_state {
    weft_job_cost cost;
    weft__stage_cost probe;
} stage_state;

/* A task of a graph. Owner: the runner; `time_ns` is written by the worker that runs it. */
typedef struct node_state {
    struct runner *runner;
    const sim_task *task; /* in this frame; NULL: it does not run */
    uint32_t node;
    weft_job_cost cost;
    uint64_t time_ns, ranked_ns;
} node_state;

typedef struct segment_state {
    weft__segment_choice choice;
    uint32_t frames_to_ask;
    uint64_t graph_runs;
    weft_job_graph *graph;
} segment_state;

/* A run. Owner: sim_run, on its stack; arrays by number of stage, node, graph. */
typedef struct runner {
    const sim_costs *costs;
    weft_job_pool *pool;
    uint32_t workers;
    stage_state *stages;
    node_state *nodes;
    segment_state *segments;
    bool has_hint;
    bool is_measured;
    sim_result *out;
} runner;

/* Items that are run one after the other. Owner: the stack of who runs them. */
typedef struct body {
    runner *runner;
    uint32_t first;
    const char *title;
} body;

/* ---- items */

static void note(const runner *r, const char *title, uint64_t begin_ps, uint32_t slices)
{
    if (r->out->timeline == NULL || sim_now_ps() == begin_ps) return;
    sim_timeline_add(r->out->timeline, &(sim_part){.title = title,
                                                   .begin_ps = begin_ps,
                                                   .end_ps = sim_now_ps(),
                                                   .worker = sim_worker_now(),
                                                   .slices = slices});
}

static int run_items(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const body *b = argument;
    uint64_t begin_ps = sim_now_ps();
    for (uint32_t i = begin; i < end; i++) {
        const sim_item *item = &b->runner->costs->items[b->first + i];
        sim_work(item->ns, item->bytes);
    }
    note(b->runner, b->title, begin_ps, end - begin);
    (void)job;
    return 0;
}

static int run_items_of_task(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    weft__worker_run_caller_nodes(job);
    return run_items(job, argument, begin, end);
}

static void run_serial(const runner *r, uint64_t ns)
{
    uint64_t begin_ps = sim_now_ps();
    if (ns != 0) sim_work(ns, 0);
    note(r, "(owner)", begin_ps, 0);
}

static void hint_frame(runner *r)
{
    if (!r->has_hint) weft_job_frame_begin(r->pool);
    r->has_hint = true;
}

/* ---- a stage */

static void run_loop(runner *r, body *b, uint32_t first, uint32_t count, stage_state *state)
{
    hint_frame(r);
    body rest = {r, b->first + first, b->title};
    weft_job_for_desc desc = {
        .fn = run_items, .argument = &rest, .count = count - first, .cost = &state->cost};
    weft_job_for(weft_job_pool_owner(r->pool), &desc, NULL);
}

static void run_probed(runner *r, body *b, uint32_t count, stage_state *state)
{
    uint64_t begin_ps = sim_now_ps(), ns = 0;
    uint32_t done = 0;
    for (uint32_t burst = 1; done < count && ns < WEFT__STAGE_PROBE_NS; burst *= 2) {
        uint32_t end = burst < count - done ? done + burst : count;
        run_items(NULL, b, done, end);
        done = end;
        ns = (sim_now_ps() - begin_ps) / 1000;
    }
    weft__stage_cost_learn(&state->probe, ns, done);
    if (done == count) return;
    if (weft__stage_cost_is_small(&state->probe, count))
        run_items(NULL, b, done, count);
    else
        run_loop(r, b, done, count, state);
}

static void run_shared(runner *r, body *b, uint32_t count, stage_state *state)
{
    if (state->probe.frames_to_measure == 0) {
        run_probed(r, b, count, state);
        return;
    }
    state->probe.frames_to_measure--;
    if (weft__stage_cost_is_small(&state->probe, count))
        run_items(NULL, b, 0, count);
    else
        run_loop(r, b, 0, count, state);
}

static void run_stage(runner *r, const sim_stage *stage)
{
    body b = {r, stage->first, sim_costs_title(r->costs, stage->number)};
    run_serial(r, stage->serial_ns);
    uint64_t begin_ps = sim_now_ps();
    if (r->workers == 1 || stage->count <= 1)
        run_items(NULL, &b, 0, stage->count);
    else
        run_shared(r, &b, stage->count, &r->stages[stage->number]);
    run_items(NULL, &b, stage->count, stage->count + stage->owner_count);
    if (r->is_measured && r->out->stage_ps != NULL)
        r->out->stage_ps[stage->number] += sim_now_ps() - begin_ps;
}

static void run_stages(runner *r, uint32_t first, uint32_t end)
{
    for (uint32_t s = first; s < end; s++) run_stage(r, &r->costs->stages[s]);
}

/* ---- a graph */

static int run_task(weft_job_context *job, void *argument)
{
    node_state *state = argument;
    runner *r = state->runner;
    const sim_task *task = state->task;
    state->time_ns = 0;
    if (task == NULL) return 0;
    const sim_node *node = &r->costs->nodes[state->node];
    body b = {r, task->first, node->title};
    uint64_t begin_ps = sim_now_ps();
    const weft_job_for_desc desc = {
        .fn = run_items_of_task, .argument = &b, .count = task->count, .cost = &state->cost};
    if (node->on_owner || task->count <= 1)
        run_items(job, &b, 0, task->count);
    else
        weft_job_for(job, &desc, NULL);
    state->time_ns = (sim_now_ps() - begin_ps) / 1000;
    if (r->is_measured && r->out->node_ps != NULL)
        r->out->node_ps[state->node] += sim_now_ps() - begin_ps;
    return 0;
}

/* The graph, ranked by the times of the last run. False: no memory. */
static bool make_graph(runner *r, const sim_graph *graph, segment_state *segment)
{
    weft_job_graph_node *nodes = calloc(graph->node_count, sizeof *nodes);
    if (nodes == NULL) return false;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        node_state *state = &r->nodes[graph->first_node + i];
        state->ranked_ns = state->time_ns;
        nodes[i] =
            (weft_job_graph_node){.fn = run_task,
                                  .argument = state,
                                  .cost_ns = state->time_ns,
                                  .on_caller = r->costs->nodes[graph->first_node + i].on_owner};
    }
    const sim_edge *edges = r->costs->edges + graph->first_edge;
    const weft_job_graph_desc desc = {.nodes = nodes,
                                      .node_count = graph->node_count,
                                      .edges = (const uint32_t(*)[2])(const void *)edges,
                                      .edge_count = graph->edge_count,
                                      .is_shared = true};
    weft_job_graph *made = NULL;
    weft_job_graph_create(r->pool, &desc, &made);
    free(nodes);
    if (made == NULL) return false;
    weft_job_graph_destroy(segment->graph);
    segment->graph = made;
    return true;
}

static bool has_changed(const runner *r, const sim_graph *graph)
{
    const node_state *nodes = r->nodes + graph->first_node;
    uint64_t now = 0, then = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        now += nodes[i].time_ns;
        then += nodes[i].ranked_ns;
    }
    for (uint32_t i = 0; i < graph->node_count; i++)
        if (weft__task_has_shifted(nodes[i].time_ns, nodes[i].ranked_ns, now, then)) return true;
    return false;
}

/* Says which tasks run in the stages [first, end), and runs what the owner does before. */
static void prepare_tasks(runner *r, const sim_graph *graph, uint32_t first, uint32_t end)
{
    uint64_t serial_ns = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) r->nodes[graph->first_node + i].task = NULL;
    for (uint32_t s = first; s < end; s++) {
        const sim_stage *stage = &r->costs->stages[s];
        serial_ns += stage->serial_ns;
        for (uint32_t i = 0; i < stage->task_count; i++) {
            const sim_task *task = &r->costs->tasks[stage->first_task + i];
            r->nodes[task->node].task = task;
        }
    }
    run_serial(r, serial_ns);
}

static void run_graph(runner *r, uint32_t first, uint32_t end)
{
    uint32_t number = r->costs->stages[first].graph;
    const sim_graph *graph = &r->costs->graphs[number];
    segment_state *segment = &r->segments[number];
    prepare_tasks(r, graph, first, end);
    hint_frame(r);
    bool in_question;
    if (weft__graph_ranks(segment->graph_runs, &in_question) ||
        (in_question && has_changed(r, graph)))
        make_graph(r, graph, segment);
    segment->graph_runs++;
    uint64_t begin_ps = sim_now_ps();
    weft_job_graph_run(weft_job_pool_owner(r->pool), segment->graph, NULL);
    uint64_t ps = sim_now_ps() - begin_ps;
    weft__segment_choice_learn(&segment->choice, WEFT__WAY_GRAPH, ps / 1000, WAYS);
    if (!r->is_measured || r->out->graph_ps == NULL) return;
    r->out->graph_ps[number] += ps;
    r->out->graph_runs[number]++;
}

/* A segment that is to be looked at in this frame. */
static void run_asked(runner *r, uint32_t first, uint32_t end)
{
    uint32_t number = r->costs->stages[first].graph;
    segment_state *segment = &r->segments[number];
    weft__segment_choice *choice = &segment->choice;
    if (weft__segment_choice_way(choice) == WEFT__WAY_GRAPH &&
        (segment->graph != NULL || make_graph(r, &r->costs->graphs[number], segment))) {
        run_graph(r, first, end);
    } else {
        uint64_t begin_ps = sim_now_ps();
        run_stages(r, first, end);
        weft__segment_choice_learn(choice, WEFT__WAY_STAGES, (sim_now_ps() - begin_ps) / 1000,
                                   WAYS);
    }
    segment->frames_to_ask = choice->rest + 1;
}

/* ---- a frame */

static void run_frame(runner *r, uint32_t frame)
{
    const sim_costs *costs = r->costs;
    uint32_t s = costs->frame_first[frame], frame_end = costs->frame_first[frame + 1];
    r->has_hint = false;
    while (s < frame_end) {
        uint32_t graph = costs->stages[s].graph;
        uint32_t end = graph == SIM_NONE ? s + 1 : sim_segment_end(costs, s);
        if (graph != SIM_NONE && r->workers > 1 && --r->segments[graph].frames_to_ask == 0)
            run_asked(r, s, end);
        else
            run_stages(r, s, end);
        s = end;
    }
    if (r->has_hint) weft_job_frame_end(r->pool);
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

static void run_frames(runner *r, void (*progress)(void *user, uint32_t done, uint32_t count),
                       void *user)
{
    const sim_costs *costs = r->costs;
    sim_timeline *timeline = r->out->timeline;
    weft_job_stats before, after;
    for (uint32_t f = 0; f < WARM_UP; f++) run_frame(r, f % costs->frame_count);
    weft_job_stats_get(r->pool, &before, sizeof before);
    uint64_t begin_ps = sim_now_ps();
    r->is_measured = true;
    for (uint32_t f = 0; f < costs->frame_count; f++) {
        if (timeline != NULL && f + 1 == costs->frame_count) {
            timeline->is_kept = true;
            timeline->begin_ps = sim_now_ps();
        }
        run_frame(r, f);
        progress(user, f + 1, costs->frame_count);
    }
    uint64_t ps = sim_now_ps() - begin_ps;
    weft_job_stats_get(r->pool, &after, sizeof after);
    fill(r->out, costs, &before, &after, ps);
}

static bool make_state(runner *r)
{
    const sim_costs *costs = r->costs;
    r->stages = calloc(costs->number_end + 1u, sizeof *r->stages);
    r->nodes = calloc(costs->node_count + 1u, sizeof *r->nodes);
    r->segments = calloc(costs->graph_count + 1u, sizeof *r->segments);
    if (r->stages == NULL || r->nodes == NULL || r->segments == NULL) return false;
    for (uint32_t i = 0; i < costs->node_count; i++)
        r->nodes[i] = (node_state){.runner = r, .node = i};
    for (uint32_t i = 0; i < costs->graph_count; i++) r->segments[i].frames_to_ask = 1;
    return true;
}

weft_result sim_run(const sim_costs *costs, const sim_machine *machine,
                    void (*progress)(void *user, uint32_t done, uint32_t count), void *user,
                    sim_result *out)
{
    runner r = {.costs = costs, .workers = out->workers, .out = out};
    sim_machine full = *machine;
    if (full.spin_ns <= 0) full.spin_ns = 2 * machine->wake_ns;
    sim_begin(&full);
    const weft_job_pool_desc desc = {.worker_count = out->workers,
                                     .spin_ns = (uint32_t)full.spin_ns,
                                     .frame_spin_ns = (uint32_t)full.frame_spin_ns,
                                     .os = sim_os(),
                                     .trace_file = ""};
    weft_result result = make_state(&r) ? WEFT_OK : WEFT_OUT_OF_MEMORY;
    if (result == WEFT_OK) result = weft_job_pool_create(&desc, &r.pool);
    if (result == WEFT_OK) {
        run_frames(&r, progress, user);
        weft_job_pool_destroy(r.pool);
    }
    free(r.stages);
    free(r.nodes);
    free(r.segments);
    return result;
}
