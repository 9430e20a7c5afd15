/* SPDX-License-Identifier: MIT */
/* test_guest.c: threads that are no workers run loops, graphs, children and jobs over one pool,
 * beside its owner and each other. */
#include "atomic.h"
#include "plain.h"

#include <weft/jobs.h>

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { HOSTS = 6, ITEMS = 64 };

/* One guest's loops. `x_inside` has a place for each worker index: two threads with the same one
 * must never meet in this guest's work. */
typedef struct host {
    weft_job_pool *pool;
    uint32_t rounds;
    pthread_t thread;
    weft_a32 x_inside[8];
    weft_a32 x_items[ITEMS];
    weft_a32 x_leaves;
} host;

static void come_in(host *self, weft_job_context *job)
{
    CHECK_U64(at_xchg_ar(&self->x_inside[weft_job_worker_index(job)], 1u), 0);
}

static void go_out(host *self, weft_job_context *job)
{
    at_store_rel(&self->x_inside[weft_job_worker_index(job)], 0u);
}

static int leaf(weft_job_context *job, void *argument)
{
    host *self = argument;
    come_in(self, job);
    at_add_ar(&self->x_leaves, 1u);
    go_out(self, job);
    return 0;
}

static int inner_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    host *self = argument;
    come_in(self, job);
    at_add_ar(&self->x_leaves, end - begin);
    go_out(self, job);
    return 0;
}

static int part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    host *self = argument;
    come_in(self, job);
    for (uint32_t i = begin; i < end; i++) at_add_rlx(&self->x_items[i], 1u);
    go_out(self, job);
    if (begin % 16 != 0) return 0;
    weft_job_child(job, leaf, self);
    weft_job_child(job, leaf, self);
    weft_job_for_desc inner = {.fn = inner_part, .argument = self, .count = 8, .grain = 1};
    CHECK_OK(weft_job_for(job, &inner, NULL));
    return weft_job_children_wait(job);
}

static int node(weft_job_context *job, void *argument)
{
    return leaf(job, argument);
}

static void run_rounds(host *self, weft_job_context *job)
{
    weft_job_for_desc loop = {.fn = part, .argument = self, .count = ITEMS, .grain = 1};
    for (uint32_t round = 1; round <= self->rounds; round++) {
        CHECK_OK(weft_job_for(job, &loop, NULL));
        for (uint32_t i = 0; i < ITEMS; i++) CHECK_U64(at_load_rlx(&self->x_items[i]), round);
        weft_job_child(job, leaf, self);
        CHECK_I64(weft_job_children_wait(job), 0);
    }
}

static void *run_host(void *argument)
{
    host *self = argument;
    weft_job_context *job;
    CHECK_OK(weft_job_pool_enter(self->pool, &job));
    CHECK_U64(weft_job_worker_index(job), 0);
    CHECK(weft_job_context_pool(job) == self->pool);
    CHECK(job != weft_job_pool_owner(self->pool));
    run_rounds(self, job);
    CHECK_OK(weft_job_pool_leave(job));
    return NULL;
}

static weft_job_pool *open_pool(uint32_t workers)
{
    weft_job_pool *pool;
    const weft_job_pool_desc desc = {
        .worker_count = workers, .is_always_parallel = true, .spin_ns = 2000};
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    return pool;
}

/* The owner runs loops of its own, and sleeps in waits, where it looks for any work. */
static void beside(weft_job_pool *pool, uint32_t rounds)
{
    static host hosts[HOSTS + 1];
    memset(hosts, 0, sizeof hosts);
    for (uint32_t i = 0; i <= HOSTS; i++) hosts[i] = (host){.pool = pool, .rounds = rounds};
    for (uint32_t i = 0; i < HOSTS; i++)
        CHECK(pthread_create(&hosts[i].thread, NULL, run_host, &hosts[i]) == 0);
    weft_job_context *owner = weft_job_pool_owner(pool);
    host *own = &hosts[HOSTS];
    for (uint32_t i = 0; i < rounds; i++) {
        weft_job_handle handle;
        CHECK_OK(weft_job_submit(owner, &(weft_job_desc){.fn = leaf, .argument = own}, &handle));
        CHECK_OK(weft_job_wait(owner, handle, NULL));
    }
    run_rounds(own, owner);
    for (uint32_t i = 0; i < HOSTS; i++) CHECK(pthread_join(hosts[i].thread, NULL) == 0);
    uint32_t begins = 0;
    for (uint32_t i = 0; i < HOSTS; i++) begins += at_load_rlx(&hosts[i].x_leaves) != 0;
    CHECK_U64(begins, HOSTS);
}

PLAIN_TEST(guests_and_the_owner_run_loops_over_one_pool)
{
    for (uint32_t workers = 1; workers <= 8; workers = workers < 2 ? 2 : workers * 2) {
        weft_job_pool *pool = open_pool(workers);
        beside(pool, 60);
        CHECK_OK(weft_job_pool_destroy(pool));
    }
}

/* ---- graphs */

typedef struct graph_host {
    host host;
    weft_job_graph *graph;
} graph_host;

static void *run_graphs(void *argument)
{
    graph_host *self = argument;
    weft_job_context *job;
    CHECK_OK(weft_job_pool_enter(self->host.pool, &job));
    for (uint32_t i = 1; i <= 200; i++) {
        CHECK_OK(weft_job_graph_run(job, self->graph, NULL));
        CHECK_U64(at_load_rlx(&self->host.x_leaves), 8 * i);
    }
    CHECK_OK(weft_job_pool_leave(job));
    return NULL;
}

PLAIN_TEST(guests_run_graphs)
{
    static graph_host hosts[3];
    weft_job_pool *pool = open_pool(3);
    const uint32_t edges[4][2] = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
    for (uint32_t i = 0; i < 3; i++) {
        weft_job_graph_node nodes[8];
        hosts[i] = (graph_host){.host.pool = pool};
        for (uint32_t k = 0; k < 8; k++)
            nodes[k] = (weft_job_graph_node){.fn = node, .argument = &hosts[i].host};
        weft_job_graph_desc desc = {nodes, 8, 4, edges};
        CHECK_OK(weft_job_graph_create(pool, &desc, &hosts[i].graph));
    }
    for (uint32_t i = 0; i < 3; i++)
        CHECK(pthread_create(&hosts[i].host.thread, NULL, run_graphs, &hosts[i]) == 0);
    for (uint32_t i = 0; i < 3; i++) CHECK(pthread_join(hosts[i].host.thread, NULL) == 0);
    CHECK_OK(weft_job_pool_destroy(pool));
}

/* ---- rules */

static int count_run(weft_job_context *job, void *argument)
{
    (void)job;
    at_add_ar((weft_a32 *)argument, 1u);
    return 0;
}

static void *follow_rules(void *argument)
{
    weft_job_pool *pool = argument;
    weft_job_context *job, *second;
    weft_job_handle handle, next;
    static weft_a32 x_runs;
    CHECK_OK(weft_job_pool_enter(pool, &job));
    CHECK_OK(weft_job_pool_enter(pool, &second)); /* a guest inside a guest is another one */
    CHECK(second != job);
    CHECK_OK(weft_job_pool_leave(second));
    weft_job_desc desc = {.fn = count_run, .argument = &x_runs};
    CHECK_OK(weft_job_submit(job, &desc, &handle));
    desc.after = &handle;
    desc.after_count = 1;
    CHECK_OK(weft_job_submit(job, &desc, &next));
    CHECK_RESULT(weft_job_wait(job, next, NULL), WEFT_WRONG_THREAD);
    CHECK_RESULT(weft_job_wait_all(job, NULL), WEFT_WRONG_THREAD);
    while (!weft_job_is_done(pool, next)) sched_yield();
    CHECK_U64(at_load_acq(&x_runs), 2);
    CHECK(!weft_job_is_cancelled(job));
    for (uint32_t i = 0; i < 300; i++) weft_job_child(job, count_run, &x_runs); /* more than fit */
    CHECK_I64(weft_job_children_wait(job), 0);
    weft_job_child(job, count_run, &x_runs);
    CHECK_RESULT(weft_job_pool_destroy(pool), WEFT_WRONG_THREAD);
    CHECK_OK(weft_job_pool_leave(job)); /* joins the last child */
    CHECK_U64(at_load_acq(&x_runs), 303);
    return NULL;
}

PLAIN_TEST(a_guest_submits_but_does_not_wait)
{
    pthread_t thread;
    weft_job_pool *pool = open_pool(2);
    CHECK(pthread_create(&thread, NULL, follow_rules, pool) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_OK(weft_job_pool_destroy(pool));
}

PLAIN_TEST(the_owner_enters_as_itself)
{
    weft_job_pool *pool = open_pool(2);
    weft_job_context *job;
    CHECK_OK(weft_job_pool_enter(pool, &job));
    CHECK(job == weft_job_pool_owner(pool));
    CHECK_OK(weft_job_pool_leave(job));
    CHECK_RESULT(weft_job_pool_enter(NULL, &job), WEFT_INVALID_ARGUMENT);
    CHECK(job == NULL);
    CHECK_RESULT(weft_job_pool_enter(pool, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_job_pool_leave(NULL), WEFT_INVALID_ARGUMENT);
    CHECK_OK(weft_job_pool_destroy(pool));
}

static weft_a32 x_entered[2]; /* by worker */

/* Whichever worker runs it. */
static int enter_in_job(weft_job_context *job, void *argument)
{
    weft_job_pool *pool = argument;
    weft_job_context *guest;
    CHECK_RESULT(weft_job_pool_leave(job), WEFT_WRONG_PHASE);
    CHECK_OK(weft_job_pool_enter(pool, &guest));
    CHECK(guest != job && guest != weft_job_pool_owner(pool));
    CHECK_OK(weft_job_pool_leave(guest));
    CHECK_RESULT(weft_job_pool_leave(job), WEFT_WRONG_PHASE);
    at_add_ar(&x_entered[weft_job_worker_index(job)], 1u);
    return 0;
}

PLAIN_TEST(inside_a_job_every_worker_enters_as_a_guest)
{
    weft_job_pool *pool = open_pool(2);
    weft_job_context *owner = weft_job_pool_owner(pool);
    const weft_job_desc desc = {.fn = enter_in_job, .argument = pool};
    weft_job_handle handle;
    while (at_load_acq(&x_entered[0]) == 0) { /* the owner runs what lies on top */
        CHECK_OK(weft_job_submit(owner, &desc, &handle));
        CHECK_OK(weft_job_wait(owner, handle, NULL));
    }
    while (at_load_acq(&x_entered[1]) == 0) { /* the owner does not help */
        CHECK_OK(weft_job_submit(owner, &desc, &handle));
        while (!weft_job_is_done(pool, handle)) sched_yield();
    }
    CHECK_OK(weft_job_wait_all(owner, NULL));
    CHECK_OK(weft_job_pool_leave(owner));
    CHECK_OK(weft_job_pool_destroy(pool));
}

/* A thread that marks what it runs in the trace. Owner: the test. */
typedef struct marker {
    weft_job_pool *pool;
    pthread_t thread;
    uint32_t value;
} marker;

enum { ENTRIES = 50 };

static void *enter_and_mark(void *argument)
{
    const marker *self = argument;
    for (uint32_t i = 0; i < ENTRIES; i++) {
        weft_job_context *job;
        CHECK_OK(weft_job_pool_enter(self->pool, &job));
        weft_job_trace_mark(job, "here", self->value);
        CHECK_OK(weft_job_pool_leave(job));
        sched_yield();
    }
    return NULL;
}

/* Reads what the rows of guests hold: `values`: of the one thread of each; returns the events. */
static uint32_t read_rows(weft_job_pool *pool, uint32_t first, uint32_t *values)
{
    weft_job_event events[16];
    uint64_t dropped;
    uint32_t count, all = 0;
    for (uint32_t row = first; row < first + HOSTS; row++) {
        while ((count = weft_job_trace_take(pool, row, events, 16, &dropped)) != 0) {
            for (uint32_t i = 0; i < count; i++) {
                if (values[row - first] == 0) values[row - first] = events[i].value;
                CHECK_U64(events[i].value, values[row - first]);
                CHECK_U64(events[i].worker, row);
                CHECK_U64(events[i].kind, WEFT_JOB_EVENT_MARK);
            }
            all += count;
        }
        CHECK_U64(dropped, 0);
    }
    return all;
}

PLAIN_TEST(each_thread_has_a_row_of_its_own_in_traces)
{
    marker markers[HOSTS];
    uint32_t values[HOSTS] = {0}, count = 0;
    weft_job_pool *pool;
    const weft_job_pool_desc desc = {.worker_count = 2, .trace_capacity = 1024};
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    for (uint32_t i = 0; i < HOSTS; i++) {
        markers[i] = (marker){.pool = pool, .value = i + 1};
        CHECK(pthread_create(&markers[i].thread, NULL, enter_and_mark, &markers[i]) == 0);
    }
    while (count < HOSTS * ENTRIES / 2) count += read_rows(pool, 2, values);
    for (uint32_t i = 0; i < HOSTS; i++) CHECK(pthread_join(markers[i].thread, NULL) == 0);
    count += read_rows(pool, 2, values);
    CHECK_U64(count, HOSTS * ENTRIES);
    for (uint32_t i = 0; i < HOSTS; i++) CHECK(values[i] != 0);
    CHECK_U64(weft_job_trace_take(pool, 2 + HOSTS, &(weft_job_event){0}, 1, NULL), 0);
    CHECK_U64(weft_job_trace_take(pool, 2 + 256, &(weft_job_event){0}, 1, NULL), 0);
    CHECK_OK(weft_job_pool_destroy(pool));
}

static weft_job_context *last_inside;

static void *fill_up(void *argument)
{
    weft_job_pool *pool = argument;
    static weft_job_context *jobs[256];
    weft_job_context *more;
    for (uint32_t i = 0; i < 256; i++) CHECK_OK(weft_job_pool_enter(pool, &jobs[i]));
    CHECK_RESULT(weft_job_pool_enter(pool, &more), WEFT_LIMIT);
    CHECK(more == NULL);
    CHECK_OK(weft_job_pool_leave(jobs[100]));
    CHECK_OK(weft_job_pool_enter(pool, &more));
    CHECK(more == jobs[100]);
    for (uint32_t i = 0; i < 255; i++) CHECK_OK(weft_job_pool_leave(jobs[i]));
    last_inside = jobs[255];
    return NULL;
}

PLAIN_TEST(guests_inside_are_limited_and_keep_the_pool)
{
    pthread_t thread;
    weft_job_pool *pool = open_pool(2);
    CHECK(pthread_create(&thread, NULL, fill_up, pool) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_RESULT(weft_job_pool_destroy(pool), WEFT_BUSY);
    CHECK(strstr(weft_job_pool_error(pool)->text, "weft_job_pool_leave") != NULL);
    CHECK_OK(weft_job_pool_leave(last_inside)); /* its thread has ended: handed over by the join */
    CHECK_OK(weft_job_pool_destroy(pool));
}

static void *make_small(void *argument)
{
    (void)argument;
    for (uint32_t i = 0; i < 300; i++) {
        weft_job_pool *pools[2] = {open_pool(1), open_pool(1)};
        CHECK_OK(weft_job_pool_destroy(pools[0]));
        CHECK_OK(weft_job_pool_destroy(pools[1]));
    }
    return NULL;
}

/* Their mappings are kept for the next ones of any thread. */
PLAIN_TEST(small_pools_come_and_go_in_several_threads)
{
    pthread_t threads[3];
    for (uint32_t i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, make_small, NULL) == 0);
    for (uint32_t i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}
