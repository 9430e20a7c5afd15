/* SPDX-License-Identifier: MIT */
/* pool.c: creation and destruction of a pool, its threads, frames and statistics. Lent threads of
 * the host are in lease.c, how workers look for work is in worker.c. */

#include "bits.h"
#include "calibrate.h"
#include "graph_compile.h"
#include "log.h"
#include "park.h"
#include "pool_memory.h"
#include "sized.h"
#include "text.h"
#include "trace_rows.h"
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MAX (UINT32_C(1) << 20)
#define JOB_CAPACITY_MAX (UINT32_C(1) << 24)
#define FRAME_SPIN_NS 200000u
#define STACK_LEAST ((size_t)64 << 10)

/* ---- descriptor */

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
    return value != 0 ? value : fallback;
}

static bool is_name_ok(const char *name)
{
    return name == NULL || (name[0] != '\0' && strlen(name) <= 10);
}

static uint32_t cpu_count(const weft_os *os)
{
    return os->cpu_count != NULL ? os->cpu_count(os->user) : weft__cpus_usable(); /* reads files */
}

/* WEFT_WORKERS: as many workers where the program leaves it open, and not more of them where it
 * does not. Only for pools on threads of the real system that the pool itself starts. */
static void choose_workers(weft_job_pool_desc *desc)
{
    const char *value = secure_getenv("WEFT_WORKERS"); /* not in set-uid programs */
    char *end = NULL;
    bool is_open = desc->worker_count == 0;
    bool is_asked = value != NULL && value[0] != '\0' && desc->os == weft__os_default();
    unsigned long count = is_asked && !desc->is_host_driven ? strtoul(value, &end, 10) : 0;
    bool is_good = end != NULL && *end == '\0' && count >= 1 && count <= WEFT__WORKERS_MAX;
    if (end != NULL && !is_good)
        weft__log(&desc->log, WEFT_LOG_WARNING, "WEFT_WORKERS=%s is not used: 1 to %u", value,
                  WEFT__WORKERS_MAX);
    if (is_good && (is_open || count < desc->worker_count)) desc->worker_count = (uint32_t)count;
    if (desc->worker_count == 0) desc->worker_count = cpu_count(desc->os);
}

static bool is_capacity(uint32_t count, uint32_t most)
{
    return count >= 2 && count <= most && bits_is_power_of_two(count);
}

/* What is out of range; NULL: nothing. */
static const char *mistake_in(const weft_job_pool_desc *desc)
{
    if (!is_name_ok(desc->thread_name)) return "thread_name must have 1 to 10 bytes";
    if (desc->stack_bytes != 0 && desc->stack_bytes < STACK_LEAST)
        return "stack_bytes must be 0 or at least 64 KiB";
    if (desc->worker_count > WEFT__WORKERS_MAX) return "worker_count must be at most 256";
    if (desc->job_capacity > JOB_CAPACITY_MAX) return "job_capacity must be at most 2^24";
    if (desc->edge_capacity > 4 * JOB_CAPACITY_MAX) return "edge_capacity must be at most 2^26";
    if (!is_capacity(desc->child_capacity, CAPACITY_MAX))
        return "child_capacity must be a power of two from 2 to 2^20";
    if (desc->trace_capacity != 0 && !is_capacity(desc->trace_capacity, CAPACITY_MAX * 16))
        return "trace_capacity must be 0 or a power of two from 2 to 2^24";
    return NULL;
}

/* Fills in defaults. */
static void complete_desc(weft_job_pool_desc *desc)
{
    if (desc->os == NULL) desc->os = weft__os_default();
    choose_workers(desc);
    desc->job_capacity = or_default(desc->job_capacity, 4096);
    desc->child_capacity = or_default(desc->child_capacity, 4096);
    /* too large a job capacity is refused below */
    desc->edge_capacity = or_default(desc->edge_capacity, 4 * desc->job_capacity);
    desc->frame_spin_ns = or_default(desc->frame_spin_ns, FRAME_SPIN_NS);
    uint32_t half = desc->worker_count / 2;
    desc->background_workers = or_default(desc->background_workers, half > 1 ? half : 1);
    if (desc->thread_name == NULL) desc->thread_name = "weft-w";
    if (desc->trace_file[0] != '\0') desc->trace_is_paused = false;
    bool is_inspected = desc->trace_capacity == 0 && secure_getenv("WEFT_INSPECT") != NULL;
    if (is_inspected && desc->trace_file[0] == '\0') desc->trace_is_paused = true;
    if ((is_inspected || desc->trace_file[0] != '\0') && desc->trace_capacity == 0)
        desc->trace_capacity = weft__trace_file_capacity(desc->worker_count);
}

/* ---- memory */

static weft_job_pool *alloc_pool(const weft_job_pool_desc *desc, weft_result *result)
{
    weft__memory memory;
    *result = weft__memory_init(&memory, &desc->allocator);
    if (*result != WEFT_OK) return NULL;
    *result = WEFT_OUT_OF_MEMORY;
    weft_job_pool *pool = WEFT__NEW_ZEROED(&memory, WEFT__MEMORY_JOBS, 1, *pool);
    if (pool == NULL) return NULL;
    pool->memory = memory;
    return pool;
}

static void free_pool(weft_job_pool *pool)
{
    weft__guests_free(pool);
    weft__memory memory = pool->memory;
    if (pool->workers != NULL)
        for (uint32_t i = 0; i < pool->worker_count; i++)
            weft__trace_fini(&pool->workers[i].trace, &memory, pool->os);
    weft__pool_unmap(pool);
    if (pool->loops.loops != NULL) weft__loop_table_fini(&pool->loops, &memory);
    WEFT__FREE(&memory, WEFT__MEMORY_JOBS, pool, 1);
}

static void init_worker(weft_job_pool *pool, uint32_t index)
{
    weft_job_context *worker = &pool->workers[index];
    worker->pool = pool;
    worker->head.index = index;
    worker->alive = pool->alive;
    worker->jobs = pool->table.jobs;
    worker->job = worker->next_job = WEFT__JOB_NONE;
    worker->token = &pool->tokens[index];
    worker->head.is_observed = pool->is_observed;
    worker->last_victim = index;
    bool is_alone = pool->worker_count == 1;
    weft__child_init(&worker->children, pool->children + (size_t)index * pool->child_capacity,
                     pool->child_capacity, is_alone);
    worker->frame_base = worker->children.bottom;
    at_init(&worker->x_label, NULL);
    weft__slots_cache_init(&worker->caches.jobs, &pool->table.slots);
    weft__slots_cache_init(&worker->caches.edges, &pool->table.edge_slots);
    size_t deque = (size_t)index * WEFT_JOB_CLASS_COUNT;
    for (uint32_t c = 0; c < WEFT_JOB_CLASS_COUNT; c++) {
        weft__deque_place *places = pool->deque_places + (deque + c) * pool->deque_capacity;
        weft__deque_init(&worker->deques[c], places, pool->deque_capacity);
        worker->deques[c].is_alone = is_alone;
    }
    /* what is observed has a number: its slot */
    if (!pool->is_observed)
        worker->deques[WEFT_JOB_NORMAL].plain_limit = pool->deque_capacity - pool->table.capacity;
}

static weft_result init_pool(weft_job_pool *pool, const weft_job_pool_desc *desc)
{
    weft_result result = weft__pool_map(pool, desc);
    if (result == WEFT_OK)
        result = weft__loop_table_init(&pool->loops, &pool->memory, pool->worker_count);
    if (result != WEFT_OK) return result;
    for (uint32_t i = 0; i < pool->worker_count; i++) init_worker(pool, i);
    for (uint32_t c = 0; c < WEFT_JOB_CLASS_COUNT; c++)
        at_init(&pool->x_injected[c], WEFT__JOB_NONE);
    weft__wake_init(&pool->wake, pool->os, pool->tokens, pool->worker_count);
    /* With a CPU for each worker, one that searches takes it from no other. */
    if (pool->worker_count > 2 && pool->worker_count <= cpu_count(pool->os))
        pool->wake.search_limit = pool->worker_count - 1;
    pool->workers[0].head.thread = weft__thread_self();
    weft__lock_init(&pool->users.lock, pool->os);
    weft__lock_init(&pool->graphs_lock, pool->os);
    weft__os_wipe_on_fork(pool->alive, WEFT__ALIVE_BYTES);
    at_init(pool->alive, 1);
    /* One worker shares nothing and needs no good clock; it was 43 % of a short world's life. */
    const bool is_clock_good = pool->worker_count > 1 || desc->trace_capacity != 0;
    weft__ticks_init(&pool->ticks, pool->os, is_clock_good ? 100000 : 10000);
    return WEFT_OK;
}

/* ---- threads */

static bool is_stopping(void *argument)
{
    weft_job_pool *pool = argument;
    return at_load_sc(&pool->x_stopping) != 0; /* W1 */
}

static void worker_main(void *argument)
{
    weft_job_context *worker = argument;
    weft_job_pool *pool = worker->pool;
    if (pool->is_pinned) weft__cpus_pin_self(worker->head.index);
    at_store_rlx(&worker->x_thread, weft__thread_self()); /* relaxed: for the thread itself */
    worker->thread_number = weft__os_thread_number();
    weft__zones_to(worker);
    weft__worker_serve(worker, WEFT__SCOPE_WORKER, is_stopping, pool);
}

static void stop_threads(weft_job_pool *pool)
{
    at_store_sc(&pool->x_stopping, 1u); /* W1 */
    weft__wake_all(&pool->wake);
    for (uint32_t i = 1; i <= pool->thread_count; i++)
        pool->os->thread_join(pool->os->user, pool->threads[i]);
    pool->thread_count = 0;
    for (;;) {                                      /* lent threads */
        uint32_t lent = at_load_acq(&pool->x_lent); /* P6 */
        if (lent == 0) return;
        pool->os->futex_wait(pool->os->user, &pool->x_lent, lent);
    }
}

static weft_result start_threads(weft_job_pool *pool)
{
    if (pool->is_host_driven) return WEFT_OK;
    for (uint32_t i = 1; i < pool->worker_count; i++) {
        char name[24]; /* the seam cuts it to 15 characters */
        snprintf(name, sizeof name, "%.10s%u", pool->thread_name, i);
        pool->threads[i].stack_bytes = pool->stack_bytes;
        weft_result result = pool->os->thread_start(pool->os->user, &pool->threads[i], name,
                                                    worker_main, &pool->workers[i]);
        if (result != WEFT_OK) {
            stop_threads(pool);
            return result;
        }
        pool->thread_count = i;
    }
    return WEFT_OK;
}

/* The user of a program asks for a trace without the program's help; not in set-uid programs. */
static const char *trace_file_of_environment(void)
{
    const char *path = secure_getenv("WEFT_TRACE");
    return path == NULL ? "" : path;
}

/* A trace that only the environment asks for must not make the program fail. */
static weft_result open_trace(weft_job_pool *pool, const weft_job_pool_desc *desc,
                              bool is_by_environment)
{
    weft__file_problem problem;
    if (desc->trace_file[0] == '\0') return WEFT_OK;
    pool->workers[0].thread_number = weft__os_thread_number();
    const weft__trace_file_desc file = {.path = desc->trace_file,
                                        .os = pool->os,
                                        .log = &pool->log,
                                        .memory = &pool->memory,
                                        .ring_of = weft__trace_ring_of,
                                        .thread_of = weft__trace_thread_of,
                                        .name_of = weft__trace_name_of,
                                        .user = pool,
                                        .worker_count = pool->worker_count,
                                        .capacity = desc->trace_capacity};
    weft_result result = weft__trace_file_open(&file, &problem, &pool->trace_file);
    if (result == WEFT_OK) return WEFT_OK;
    if (is_by_environment) {
        weft__log(&pool->log, WEFT_LOG_WARNING, "WEFT_TRACE=%s: no trace is written: %s",
                  desc->trace_file, problem.text);
        return WEFT_OK;
    }
    weft__error_fill(desc->error, result, "weft_job_pool_create: %s", problem.text);
    if (desc->error != NULL)
        weft__error_name(desc->error->file, sizeof desc->error->file, desc->trace_file);
    return result;
}

static weft_result create_pool(const weft_job_pool_desc *desc, bool is_by_environment,
                               weft_job_pool **out)
{
    weft_result result;
    weft_job_pool *pool = alloc_pool(desc, &result);
    if (pool == NULL) return result;
    pool->worker_count = desc->worker_count;
    pool->background_limit = desc->background_workers;
    pool->stack_bytes = desc->stack_bytes;
    pool->is_host_driven = desc->is_host_driven;
    pool->is_pinned = desc->is_pinned;
    pool->is_always_parallel = desc->is_always_parallel;
    pool->is_observed = desc->trace_capacity != 0;
    at_init(&pool->x_is_traced, !desc->trace_is_paused);
    pool->os = desc->os;
    pool->child_capacity = desc->child_capacity;
    pool->log = desc->log;
    strcpy(pool->thread_name, desc->thread_name);
    result = init_pool(pool, desc);
    if (result == WEFT_OK) result = open_trace(pool, desc, is_by_environment);
    for (uint32_t i = 0; result == WEFT_OK && i < pool->worker_count; i++)
        result = weft__trace_file_ring(pool->trace_file, i, &pool->memory, desc->trace_capacity,
                                       &pool->workers[i].trace);
    if (result == WEFT_OK) result = start_threads(pool);
    if (result != WEFT_OK) {
        if (pool->trace_file != NULL) weft__trace_file_leave(pool->trace_file, true);
        free_pool(pool);
        return result;
    }
    weft__pool_calibrate(pool, desc->spin_ns, desc->frame_spin_ns);
    *out = pool;
    return WEFT_OK;
}

weft_result weft_job_pool_create(const weft_job_pool_desc *desc, weft_job_pool **out)
{
    weft_job_pool_desc full = desc != NULL ? *desc : (weft_job_pool_desc){0};
    if (full.error != NULL) *full.error = (weft_error){0};
    if (out == NULL)
        return weft__error_fill(full.error, WEFT_INVALID_ARGUMENT,
                                "weft_job_pool_create: out is NULL: give its address");
    *out = NULL;
    bool is_by_environment = full.trace_file == NULL;
    if (is_by_environment) full.trace_file = trace_file_of_environment();
    complete_desc(&full);
    const char *mistake = mistake_in(&full);
    if (mistake != NULL)
        return weft__error_fill(full.error, WEFT_INVALID_ARGUMENT, "weft_job_pool_create: %s",
                                mistake);
    weft_result result = create_pool(&full, is_by_environment, out);
    if (result != WEFT_OK && full.error != NULL && full.error->code == WEFT_OK)
        weft__error_fill(full.error, result,
                         "weft_job_pool_create: %u workers, %u jobs: %s; nothing was made",
                         full.worker_count, full.job_capacity, weft_result_text(result));
    return result;
}

/* ---- the end */

weft_result weft_job_pool_destroy(weft_job_pool *pool)
{
    if (pool == NULL) return WEFT_OK;
    weft_result result = weft__pool_check_end(pool);
    if (result != WEFT_OK) return result;
    bool is_forked = weft__pool_is_forked(pool);
    if (!is_forked) stop_threads(pool);
    if (pool->trace_file != NULL && is_forked)
        weft__trace_file_leave(pool->trace_file, false);
    else if (pool->trace_file != NULL)
        weft__trace_file_close(pool->trace_file);
    weft__graph_free_all(pool);
    weft_job_context *zones = weft__zones_to(NULL); /* of an owner that entered and did not leave */
    if (zones != NULL && zones->pool != pool) weft__zones_to(zones);
    free_pool(pool);
    return WEFT_OK;
}

const weft_error *weft_job_pool_error(const weft_job_pool *pool)
{
    static const weft_error none = {.code = WEFT_INVALID_ARGUMENT, .text = "the pool is NULL"};
    return pool == NULL ? &none : &pool->error;
}

/* ---- small functions */

weft_job_context *weft_job_pool_owner(weft_job_pool *pool)
{
    return pool == NULL ? NULL : &pool->workers[0];
}

uint32_t weft_job_pool_worker_count(const weft_job_pool *pool)
{
    return pool == NULL ? 0 : pool->worker_count;
}

uint32_t weft_job_worker_index(const weft_job_context *worker)
{
    return worker == NULL ? 0 : worker->head.index;
}

weft_job_pool *weft_job_context_pool(const weft_job_context *worker)
{
    return worker == NULL ? NULL : worker->pool;
}

/* ---- frames */

void weft_job_frame_begin(weft_job_pool *pool)
{
    if (pool == NULL || weft__pool_is_forked(pool)) return;
    /* any order would do for all words of P5: hints, and a count that carries no data */
    uint32_t used = bits_count(at_xchg_ar(&pool->x_used, 0u)); /* P5: hints from workers */
    at_store_sc(&pool->x_in_frame, 1u);                        /* P5 */
    /* A bit of x_used may stand for several workers of a large pool. */
    uint32_t others = pool->worker_count - 1, wanted = used < 32 ? used : others;
    uint32_t asleep = weft__wake_sleeper_count(&pool->wake);
    if (asleep == 0 || wanted + asleep <= others) return;
    at_store_rel(&pool->x_to_wake, wanted + asleep - others); /* P5 */
    weft__worker_pass_on(&pool->workers[0]);
}

void weft_job_frame_end(weft_job_pool *pool)
{
    if (pool == NULL) return;
    at_store_sc(&pool->x_in_frame, 0u); /* P5: spinners see it and sleep */
    at_store_rel(&pool->x_to_wake, 0u); /* P5 */
    weft__pool_drain_trace(pool);
}

/* ---- statistics */

static void add_stats(weft_job_stats *out, const weft__worker_stats *stats)
{
    /* relaxed: statistics, a moment old */
    out->submitted += at_load_rlx(&stats->x_submitted) + at_load_rlx(&stats->x_plain_submitted);
    out->children += at_load_rlx(&stats->x_children);
    out->children_inlined += at_load_rlx(&stats->x_children_inlined);
    out->stolen += at_load_rlx(&stats->x_stolen);
    out->steals_failed += at_load_rlx(&stats->x_steals_failed);
    out->loops_parallel += at_load_rlx(&stats->x_loops_parallel);
    out->loops_inlined += at_load_rlx(&stats->x_loops_inlined);
    out->graph_runs += at_load_rlx(&stats->x_graph_runs);
    out->graph_inlined += at_load_rlx(&stats->x_graph_inlined);
    out->parked += at_load_rlx(&stats->x_parked);
    out->wakes += at_load_rlx(&stats->x_wakes);
    out->spin_ns += at_load_rlx(&stats->x_spin_ticks); /* ticks; converted below */
}

static void sum_stats(const weft_job_pool *pool, weft_job_stats *out)
{
    for (uint32_t i = 0; i < pool->worker_count; i++) add_stats(out, &pool->workers[i].stats);
    for (uint32_t i = 0; i < WEFT__GUESTS_MAX; i++) {
        const weft_job_context *guest = weft__guest_at(pool, i);
        if (guest != NULL) add_stats(out, &guest->stats);
    }
    out->submitted += at_load_rlx(&pool->x_foreign_submitted); /* relaxed: a statistic */
    out->submitted -= pool->calibration_jobs;
    out->spin_ns = weft__ticks_to_ns(&pool->ticks, out->spin_ns);
    out->jobs_high_water = at_load_rlx(&pool->table.slots.x_mark); /* relaxed: a statistic */
    uint64_t budget = at_load_rlx(&pool->x_spin_ticks);            /* relaxed: set once */
    out->spin_budget_ns = (uint32_t)weft__ticks_to_ns(&pool->ticks, budget);
    out->wake_ns = pool->wake_ns;
}

void weft_job_worker_stats_get(const weft_job_pool *pool, uint32_t worker, weft_job_stats *out,
                               size_t out_bytes)
{
    if (out == NULL) return;
    weft_job_stats stats = {0};
    if (pool != NULL && worker < pool->worker_count) {
        add_stats(&stats, &pool->workers[worker].stats);
        stats.spin_ns = weft__ticks_to_ns(&pool->ticks, stats.spin_ns);
    }
    weft__sized_fill(out, out_bytes, &stats, sizeof stats);
}

void weft_job_stats_get(const weft_job_pool *pool, weft_job_stats *out, size_t out_bytes)
{
    if (out == NULL) return;
    weft_job_stats stats = {0};
    if (pool != NULL) sum_stats(pool, &stats);
    weft__sized_fill(out, out_bytes, &stats, sizeof stats);
}
