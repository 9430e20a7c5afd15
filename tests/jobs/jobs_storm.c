/* SPDX-License-Identifier: MIT */
/* jobs_storm.c: everything the job system can do at once, on pools of 1 to 32 workers, with exact
 * counts: every child, item, node and job runs exactly once and after what it depends on.
 *
 * A plain program, built under every sanitizer. Rounds are seeded; a failure prints the seed.
 *
 *     jobs_storm [--seconds N] [--workers P] [--seed S]
 *
 * Without --seconds it makes one round per pool. Plain fields written by jobs are the point: an
 * order that the job system promises but does not keep is a data race that ThreadSanitizer reports.
 */
#include "check.h"
#include "random.h"

#include <weft/jobs.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "atomic.h"

/* What one round works with. Owner: the main thread; jobs get pointers into it. */
typedef struct round_state {
    weft_job_pool *pool;
    weft_job_context *owner;
    test_random random;
} round_state;

/* ---- children */

/* One node of a random tree. Owner: its parent's stack frame. */
typedef struct tree {
    uint64_t seed;
    uint32_t depth;
    uint64_t count; /* nodes below and with this one */
    int error;      /* result this node must produce */
} tree;

static int grow(weft_job_context *job, void *argument)
{
    tree *node = argument;
    test_random random = test_random_fork(&(test_random){{node->seed, 1, 2, 3}}, 0);
    uint32_t fan = node->depth == 0 ? 0 : (uint32_t)test_random_below(&random, 5);
    tree below[5];
    node->count = 1;
    for (uint32_t i = 0; i < fan; i++) {
        below[i] = (tree){.seed = test_random_next(&random), .depth = node->depth - 1};
        weft_job_child(job, grow, &below[i]);
        if (i == 2) CHECK_I64(weft_job_children_wait(job), 0); /* a wait in the middle */
    }
    CHECK_I64(weft_job_children_wait(job), 0);
    for (uint32_t i = 0; i < fan; i++) node->count += below[i].count;
    return 0;
}

static uint64_t grow_alone(uint64_t seed, uint32_t depth)
{
    test_random random = test_random_fork(&(test_random){{seed, 1, 2, 3}}, 0);
    uint32_t fan = depth == 0 ? 0 : (uint32_t)test_random_below(&random, 5);
    uint64_t count = 1;
    for (uint32_t i = 0; i < fan; i++) count += grow_alone(test_random_next(&random), depth - 1);
    return count;
}

static void check_children(round_state *round)
{
    tree root = {.seed = test_random_next(&round->random), .depth = 7};
    weft_job_child(round->owner, grow, &root);
    CHECK_I64(weft_job_children_wait(round->owner), 0);
    CHECK_U64(root.count, grow_alone(root.seed, root.depth));
}

static int fail_with(weft_job_context *job, void *argument)
{
    (void)job;
    return *(int *)argument;
}

static int spawn_failing(weft_job_context *job, void *argument)
{
    static const int codes[4] = {0, 0, 7, 9};
    (void)argument;
    for (uint32_t i = 0; i < 4; i++) weft_job_child(job, fail_with, (void *)&codes[i]);
    return 0; /* joined by the end of the job: its result becomes the child's */
}

static void check_child_errors(round_state *round)
{
    int own = 0;
    weft_job_child(round->owner, spawn_failing, NULL);
    weft_job_child(round->owner, fail_with, &own);
    CHECK_I64(weft_job_children_wait(round->owner), 7);
    CHECK_I64(weft_job_children_wait(round->owner), 0);
}

/* ---- loops */

enum { ITEM_COUNT = 3000 };

/* Cells of an outer loop; each runs an inner loop and some children. Owner: the round. */
typedef struct grid {
    uint32_t items[ITEM_COUNT];
    uint32_t inner;
    weft_job_cost cost;
} grid;

static int mark_cells(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    uint32_t *cells = argument;
    (void)job;
    for (uint32_t i = begin; i < end; i++) cells[i]++;
    return 0;
}

static int mark_one(weft_job_context *job, void *argument)
{
    (void)job;
    ++*(uint32_t *)argument;
    return 0;
}

static int mark_items(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    grid *g = argument;
    uint32_t cells[40] = {0}, children[6] = {0};
    for (uint32_t i = begin; i < end; i++) g->items[i]++;
    for (uint32_t i = 0; i < 6; i++) weft_job_child(job, mark_one, &children[i]);
    const weft_job_for_desc inner = {.fn = mark_cells, .argument = cells, .count = g->inner};
    CHECK_OK(weft_job_for(job, &inner, NULL));
    CHECK_I64(weft_job_children_wait(job), 0);
    for (uint32_t i = 0; i < g->inner; i++) CHECK_U64(cells[i], 1);
    for (uint32_t i = 0; i < 6; i++) CHECK_U64(children[i], 1);
    return 0;
}

static void check_loops(round_state *round)
{
    static grid g;
    memset(&g, 0, sizeof g);
    g.inner = 1 + (uint32_t)test_random_below(&round->random, 40);
    const weft_job_for_desc outer = {.fn = mark_items,
                                     .argument = &g,
                                     .count = ITEM_COUNT,
                                     .grain = 1 + (uint32_t)test_random_below(&round->random, 64),
                                     .cost = &g.cost};
    for (uint32_t run = 1; run <= 3; run++) {
        CHECK_OK(weft_job_for(round->owner, &outer, NULL));
        for (uint32_t i = 0; i < ITEM_COUNT; i++) CHECK_U64(g.items[i], run);
    }
}

static int fail_at(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    uint32_t bad = *(uint32_t *)argument;
    (void)job;
    return begin <= bad && bad < end ? (int)bad + 1 : 0;
}

static void check_loop_errors(round_state *round)
{
    uint32_t bad = (uint32_t)test_random_below(&round->random, 500);
    int code = 0;
    const weft_job_for_desc loop = {.fn = fail_at, .argument = &bad, .count = 500, .grain = 3};
    CHECK_RESULT(weft_job_for(round->owner, &loop, &code), WEFT_JOB_FAILED);
    CHECK_I64(code, (int)bad + 1);
}

/* ---- jobs with dependencies */

enum { JOB_COUNT = 600, AFTER_MAX = 4 };

/* One job of a random acyclic graph. Owner: the round; written by its job. */
typedef struct node {
    struct web *web;
    uint32_t after[AFTER_MAX], after_count;
    uint32_t runs;
    weft_job_handle handle;
} node;

typedef struct web {
    node nodes[JOB_COUNT];
} web;

static int visit(weft_job_context *job, void *argument)
{
    node *self = argument;
    (void)job;
    for (uint32_t i = 0; i < self->after_count; i++)
        CHECK_U64(self->web->nodes[self->after[i]].runs, 1); /* plain reads: J4 must order them */
    self->runs++;
    return 0;
}

static void submit_node(round_state *round, web *w, uint32_t index)
{
    node *self = &w->nodes[index];
    *self = (node){.web = w};
    weft_job_handle after[AFTER_MAX];
    uint32_t count = index == 0 ? 0 : (uint32_t)test_random_below(&round->random, AFTER_MAX + 1);
    for (uint32_t i = 0; i < count; i++) {
        self->after[i] = (uint32_t)test_random_below(&round->random, index);
        after[i] = w->nodes[self->after[i]].handle;
    }
    self->after_count = count;
    weft_job_desc desc = {.fn = visit,
                          .argument = self,
                          .after = after,
                          .after_count = count,
                          .class_ = (weft_job_class)test_random_below(&round->random, 3)};
    CHECK_OK(weft_job_submit(round->owner, &desc, &self->handle));
}

static void check_dependencies(round_state *round)
{
    static web w;
    for (uint32_t i = 0; i < JOB_COUNT; i++) submit_node(round, &w, i);
    for (uint32_t i = 0; i < JOB_COUNT; i += 97)
        CHECK_OK(weft_job_wait(round->owner, w.nodes[i].handle, NULL));
    CHECK_OK(weft_job_wait_all(round->owner, NULL));
    for (uint32_t i = 0; i < JOB_COUNT; i++) {
        CHECK_U64(w.nodes[i].runs, 1);
        CHECK(weft_job_is_done(round->pool, w.nodes[i].handle));
    }
}

/* ---- a job that submits jobs, from a worker */

typedef struct relay {
    uint32_t left;
    uint32_t *hops; /* written by one job of the chain at a time */
} relay;

static int hop(weft_job_context *job, void *argument)
{
    relay *self = argument;
    ++*self->hops;
    if (self->left == 0) return 0;
    self->left--;
    const weft_job_desc next = {.fn = hop, .argument = self};
    CHECK_OK(weft_job_submit(job, &next, NULL));
    return 0;
}

static void check_relays(round_state *round)
{
    enum { RELAYS = 8, HOPS = 200 };
    uint32_t hops[RELAYS] = {0};
    relay relays[RELAYS];
    for (uint32_t i = 0; i < RELAYS; i++) {
        relays[i] = (relay){.left = HOPS - 1, .hops = &hops[i]};
        const weft_job_desc desc = {.fn = hop, .argument = &relays[i]};
        CHECK_OK(weft_job_submit(round->owner, &desc, NULL));
    }
    CHECK_OK(weft_job_wait_all(round->owner, NULL));
    for (uint32_t i = 0; i < RELAYS; i++) CHECK_U64(hops[i], HOPS);
}

/* ---- injection from foreign threads, with cancellation */

enum { INJECTED = 300 };

/* One foreign thread. Owner: check_injection. */
typedef struct foreigner {
    weft_job_pool *pool;
    weft_a32 x_runs; /* counted by its jobs */
    uint32_t cancelled;
} foreigner;

static int count_run(weft_job_context *job, void *argument)
{
    foreigner *self = argument;
    (void)job;
    at_add_rlx(&self->x_runs, 1u); /* relaxed: a count, read after the wait */
    return 0;
}

static void *inject_all(void *argument)
{
    foreigner *self = argument;
    weft_job_handle last = {0, 0};
    for (uint32_t i = 0; i < INJECTED; i++) {
        const weft_job_desc desc = {
            .fn = count_run, .argument = self, .after = &last, .after_count = i % 3 == 0 ? 1 : 0};
        while (weft_job_inject(self->pool, &desc, &last) == WEFT_POOL_FULL) at_stall();
    }
    return NULL;
}

static void check_injection(round_state *round)
{
    enum { THREADS = 2 };
    foreigner foreigners[THREADS];
    pthread_t threads[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        foreigners[i] = (foreigner){.pool = round->pool};
        CHECK_I64(pthread_create(&threads[i], NULL, inject_all, &foreigners[i]), 0);
    }
    CHECK_OK(weft_job_wait_all(round->owner, NULL)); /* while they inject */
    for (uint32_t i = 0; i < THREADS; i++) CHECK_I64(pthread_join(threads[i], NULL), 0);
    CHECK_OK(weft_job_wait_all(round->owner, NULL));
    for (uint32_t i = 0; i < THREADS; i++) CHECK_U64(at_plain(&foreigners[i].x_runs), INJECTED);
}

static void check_cancellation(round_state *round)
{
    enum { CHAINS = 50 };
    weft_job_handle heads[CHAINS], tails[CHAINS];
    uint32_t runs[CHAINS][2];
    memset(runs, 0, sizeof runs);
    for (uint32_t i = 0; i < CHAINS; i++) {
        const weft_job_desc head = {.fn = mark_one, .argument = &runs[i][0]};
        const weft_job_desc tail = {
            .fn = mark_one, .argument = &runs[i][1], .after = &heads[i], .after_count = 1};
        CHECK_OK(weft_job_submit(round->owner, &head, &heads[i]));
        CHECK_OK(weft_job_submit(round->owner, &tail, &tails[i]));
        if (i % 2 == 0) CHECK_OK(weft_job_cancel(round->pool, heads[i]));
    }
    for (uint32_t i = 0; i < CHAINS; i++) {
        weft_result head = weft_job_wait(round->owner, heads[i], NULL);
        weft_result tail = weft_job_wait(round->owner, tails[i], NULL);
        CHECK(head == WEFT_OK || (i % 2 == 0 && head == WEFT_CANCELLED));
        CHECK_RESULT(tail, head);
        CHECK_U64(runs[i][0], head == WEFT_OK);
        CHECK_U64(runs[i][1], tail == WEFT_OK);
    }
    CHECK_OK(weft_job_wait_all(round->owner, NULL));
}

/* ---- graphs */

enum { NODE_COUNT = 400, EDGE_COUNT = 900, RUNS = 5 };

/* A compiled graph and what its nodes saw. Owner: check_graphs. */
typedef struct lattice {
    uint32_t edges[EDGE_COUNT][2];
    uint32_t runs[NODE_COUNT]; /* written by the node */
    struct lattice_node {
        struct lattice *lattice;
        uint32_t index;
    } nodes[NODE_COUNT];
} lattice;

static int pass(weft_job_context *job, void *argument)
{
    struct lattice_node *self = argument;
    lattice *l = self->lattice;
    (void)job;
    uint32_t run = ++l->runs[self->index];
    for (uint32_t i = 0; i < EDGE_COUNT; i++)
        if (l->edges[i][1] == self->index) CHECK_U64(l->runs[l->edges[i][0]], run); /* plain: G1 */
    return 0;
}

static void check_graphs(round_state *round)
{
    static lattice l;
    static weft_job_graph_node nodes[NODE_COUNT];
    memset(&l, 0, sizeof l);
    for (uint32_t i = 0; i < NODE_COUNT; i++) {
        l.nodes[i] = (struct lattice_node){&l, i};
        nodes[i] = (weft_job_graph_node){.fn = pass, .argument = &l.nodes[i]};
    }
    for (uint32_t i = 0; i < EDGE_COUNT; i++) {
        uint32_t after = 1 + (uint32_t)test_random_below(&round->random, NODE_COUNT - 1);
        l.edges[i][1] = NODE_COUNT - 1 - (after - 1); /* numbers do not follow the order */
        l.edges[i][0] = NODE_COUNT - 1 - (uint32_t)test_random_below(&round->random, after);
        uint32_t low = l.edges[i][1], high = l.edges[i][0];
        if (low == high) l.edges[i][0] = high == NODE_COUNT - 1 ? 0 : high + 1;
        if (l.edges[i][0] < l.edges[i][1]) {
            low = l.edges[i][0];
            l.edges[i][0] = l.edges[i][1];
            l.edges[i][1] = low;
        }
    }
    const weft_job_graph_desc desc = {nodes, NODE_COUNT, EDGE_COUNT, (const uint32_t(*)[2])l.edges};
    weft_job_graph *graph;
    CHECK_OK(weft_job_graph_create(round->pool, &desc, &graph));
    for (uint32_t run = 1; run <= RUNS; run++) {
        CHECK_OK(weft_job_graph_run(round->owner, graph, NULL));
        for (uint32_t i = 0; i < NODE_COUNT; i++) CHECK_U64(l.runs[i], run);
    }
    CHECK_OK(weft_job_graph_destroy(graph));
}

/* ---- driver */

static void (*const checks[])(round_state *) = {
    check_children, check_child_errors, check_loops,        check_loop_errors, check_dependencies,
    check_relays,   check_injection,    check_cancellation, check_graphs,
};
enum { CHECK_COUNT = sizeof checks / sizeof *checks };

/* All checks in a random order, on one pool, sometimes inside a frame. */
static void run_round(uint32_t workers, uint64_t seed, bool is_always_parallel)
{
    round_state round = {.random = test_random_init(seed)};
    const weft_job_pool_desc desc = {
        .worker_count = workers,
        .is_always_parallel = is_always_parallel,
        .spin_ns = 1 + (uint32_t)test_random_below(&round.random, 20000),
        .child_capacity = 1u << (1 + test_random_below(&round.random, 8)),
        .job_capacity = JOB_COUNT + (uint32_t)test_random_below(&round.random, 1000),
        .trace_capacity = test_random_below(&round.random, 2) == 0 ? 0 : 64,
    };
    CHECK_OK(weft_job_pool_create(&desc, &round.pool));
    round.owner = weft_job_pool_owner(round.pool);
    for (uint32_t i = 0; i < 2 * CHECK_COUNT; i++) {
        bool is_framed = test_random_below(&round.random, 3) == 0;
        if (is_framed) weft_job_frame_begin(round.pool);
        checks[test_random_below(&round.random, CHECK_COUNT)](&round);
        if (is_framed) weft_job_frame_end(round.pool);
    }
    CHECK_OK(weft_job_pool_destroy(round.pool));
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t option(int count, char **arguments, const char *name, uint64_t fallback)
{
    for (int i = 1; i + 1 < count; i++)
        if (strcmp(arguments[i], name) == 0) return strtoull(arguments[i + 1], NULL, 10);
    return fallback;
}

int main(int count, char **arguments)
{
    static const uint32_t pools[] = {1, 2, 3, 5, 8, 32};
    double until = now_s() + (double)option(count, arguments, "--seconds", 0);
    uint32_t only = (uint32_t)option(count, arguments, "--workers", 0);
    uint64_t seed = option(count, arguments, "--seed", 1), rounds = 0;
    do {
        for (uint32_t i = 0; i < sizeof pools / sizeof *pools; i++) {
            if (only != 0 && i != 0) break;
            run_round(only != 0 ? only : pools[i], seed, rounds % 2 == 0);
            rounds++;
            seed++;
        }
    } while (now_s() < until);
    printf("jobs_storm: %llu rounds, all counts exact\n", (unsigned long long)rounds);
    return 0;
}
