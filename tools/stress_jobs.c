/* SPDX-License-Identifier: MIT */
/* stress_jobs.c: `weft stress jobs`: children, loops, dependent jobs and graphs at once, with exact
 * counts.
 *
 * A round makes random work from its seed, runs it on the pool, checks that every piece ran
 * exactly once and after what it depends on, and hashes the results; the hash does not depend on
 * the number of workers or on timing. Plain words written by jobs are the point: under
 * ThreadSanitizer an order that is promised but not kept is reported.
 */
#include "stress.h"

#include <weft/jobs.h>

#include <stdlib.h>

#include "hash.h"

enum { ITEMS = 20000, JOBS = 1000, NODES = 500, AFTER_MAX = 3 };

/* One job of a random acyclic order. Owner: the state; `value` is written by its job. */
typedef struct work_job {
    struct jobs_state *state;
    uint32_t after[AFTER_MAX], after_count;
    uint64_t value;
    weft_job_handle handle;
} work_job;

/* One node of a random graph. Owner: the state; `value` is written by the node. */
typedef struct work_node {
    struct jobs_state *state;
    uint32_t index, before, after; /* one edge into it, or NODES */
    uint64_t value;
} work_node;

/* Owner: the scenario. Written by jobs while a round runs. */
typedef struct jobs_state {
    weft_job_pool *pool;
    weft_job_context *owner;
    weft_job_cost cost;
    uint64_t items[ITEMS];
    work_job jobs[JOBS];
    work_node nodes[NODES];
    weft_job_graph_node graph_nodes[NODES];
    uint32_t edges[NODES][2];
} jobs_state;

static void *jobs_create(weft_stress *stress)
{
    jobs_state *state = calloc(1, sizeof *state);
    const weft_job_pool_desc desc = {.worker_count = stress->workers,
                                     .job_capacity = JOBS,
                                     .child_capacity = 64,
                                     .is_always_parallel = stress->with_faults,
                                     .spin_ns = stress->with_faults ? 1 : 0,
                                     .allocator = stress->allocator,
                                     .os = stress->os};
    weft_result result =
        state == NULL ? WEFT_OUT_OF_MEMORY : weft_job_pool_create(&desc, &state->pool);
    if (result == WEFT_OK) {
        state->owner = weft_job_pool_owner(state->pool);
        return state;
    }
    weft_stress_error(stress, "no pool: %s", weft_result_text(result));
    free(state);
    return NULL;
}

static void jobs_destroy(void *data)
{
    jobs_state *state = data;
    weft_job_pool_destroy(state->pool);
    free(state);
}

/* ---- children and loops */

/* A subtree. Owner: its parent's stack frame. */
typedef struct subtree {
    uint64_t seed, sum;
    uint32_t depth;
} subtree;

static int grow(weft_job_context *job, void *argument)
{
    subtree *self = argument, below[4];
    uint64_t random = self->seed;
    uint32_t fan = self->depth == 0 ? 0 : (uint32_t)(weft_stress_random(&random) % 5);
    self->sum = weft_stress_random(&random);
    for (uint32_t i = 0; i < fan; i++) {
        below[i] = (subtree){.seed = weft_stress_random(&random), .depth = self->depth - 1};
        weft_job_child(job, grow, &below[i]);
    }
    weft_job_children_wait(job);
    for (uint32_t i = 0; i < fan; i++) self->sum = hash_word(self->sum, below[i].sum);
    return 0;
}

static int fill(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    jobs_state *state = argument;
    for (uint32_t i = begin; i < end; i++) {
        subtree tree = {.seed = i, .depth = i % 97 == 0 ? 3 : 0};
        weft_job_child(job, grow, &tree);
        weft_job_children_wait(job);
        state->items[i] += tree.sum;
    }
    return 0;
}

static uint64_t run_loops(weft_stress *stress, jobs_state *state)
{
    uint64_t hash = stress->seed;
    subtree tree = {.seed = stress->seed, .depth = 6};
    const weft_job_for_desc loop = {
        .fn = fill, .argument = state, .count = ITEMS, .cost = &state->cost};
    for (uint32_t i = 0; i < ITEMS; i++) state->items[i] = 0;
    if (weft_job_for(state->owner, &loop, NULL) != WEFT_OK)
        weft_stress_error(stress, "loop failed");
    weft_job_child(state->owner, grow, &tree);
    weft_job_children_wait(state->owner);
    for (uint32_t i = 0; i < ITEMS; i++) hash = hash_word(hash, state->items[i]);
    return hash_word(hash, tree.sum);
}

/* ---- dependent jobs */

static int visit(weft_job_context *job, void *argument)
{
    work_job *self = argument;
    uint64_t value = self->value + 1;
    (void)job;
    for (uint32_t i = 0; i < self->after_count; i++)
        value = hash_word(value, self->state->jobs[self->after[i]].value);
    self->value = value;
    return 0;
}

static void submit_one(weft_stress *stress, jobs_state *state, uint32_t index, uint64_t *random)
{
    work_job *self = &state->jobs[index];
    weft_job_handle after[AFTER_MAX];
    *self = (work_job){.state = state, .value = index};
    uint32_t count = index == 0 ? 0 : (uint32_t)(weft_stress_random(random) % (AFTER_MAX + 1));
    for (uint32_t i = 0; i < count; i++) {
        self->after[i] = (uint32_t)(weft_stress_random(random) % index);
        after[i] = state->jobs[self->after[i]].handle;
    }
    self->after_count = count;
    const weft_job_desc desc = {.fn = visit,
                                .argument = self,
                                .after = after,
                                .after_count = count,
                                .class_ = (weft_job_class)(weft_stress_random(random) % 3)};
    weft_result result = weft_job_submit(state->owner, &desc, &self->handle);
    if (result != WEFT_OK) weft_stress_error(stress, "submit: %s", weft_result_text(result));
}

static uint64_t run_jobs(weft_stress *stress, jobs_state *state)
{
    uint64_t random = stress->seed, hash = stress->seed;
    for (uint32_t i = 0; i < JOBS; i++) submit_one(stress, state, i, &random);
    weft_result result = weft_job_wait_all(state->owner, NULL);
    if (result != WEFT_OK) weft_stress_error(stress, "wait_all: %s", weft_result_text(result));
    for (uint32_t i = 0; i < JOBS; i++) hash = hash_word(hash, state->jobs[i].value);
    return hash;
}

/* ---- graphs */

static int pass(weft_job_context *job, void *argument)
{
    work_node *self = argument;
    uint64_t before = self->before < NODES ? self->state->nodes[self->before].value : 1;
    (void)job;
    self->value = hash_word(self->value, before);
    return 0;
}

static uint64_t run_graph(weft_stress *stress, jobs_state *state)
{
    uint64_t random = stress->seed, hash = stress->seed;
    uint32_t edge_count = 0;
    for (uint32_t i = 0; i < NODES; i++) {
        work_node *node = &state->nodes[i];
        *node = (work_node){.state = state, .index = i, .before = NODES, .value = i};
        if (i > 0 && weft_stress_random(&random) % 8 != 0) {
            node->before = (uint32_t)(weft_stress_random(&random) % i);
            state->edges[edge_count][0] = node->before;
            state->edges[edge_count++][1] = i;
        }
        state->graph_nodes[i] = (weft_job_graph_node){.fn = pass, .argument = node};
    }
    const weft_job_graph_desc desc = {state->graph_nodes, NODES, edge_count,
                                      (const uint32_t(*)[2])state->edges};
    weft_job_graph *graph;
    weft_result result = weft_job_graph_create(state->pool, &desc, &graph);
    for (uint32_t run = 0; run < 3 && result == WEFT_OK; run++)
        result = weft_job_graph_run(state->owner, graph, NULL);
    if (result == WEFT_OK) result = weft_job_graph_destroy(graph);
    if (result != WEFT_OK) weft_stress_error(stress, "graph: %s", weft_result_text(result));
    for (uint32_t i = 0; i < NODES; i++) hash = hash_word(hash, state->nodes[i].value);
    return hash;
}

static uint64_t jobs_round(weft_stress *stress, void *data)
{
    jobs_state *state = data;
    uint64_t hash = run_loops(stress, state);
    hash = hash_word(hash, run_jobs(stress, state));
    return hash_word(hash, run_graph(stress, state));
}

const weft_stress_scenario weft_stress_scenarios_jobs[] = {
    {"jobs", "children, loops, dependent jobs and graphs at once, exact counts", jobs_create,
     jobs_round, jobs_destroy, 8, true, true},
    {0},
};
