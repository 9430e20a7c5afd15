/* SPDX-License-Identifier: MIT */
/* test_slice_job.c: loops and children inside the callbacks of systems: in parallel and fused
 * stages, inline, in SERIAL, MAIN_THREAD, EXCLUSIVE and BACKGROUND systems, on any thread. */
#include "atomic.h"
#include "invariant.h"
#include "os.h"
#include "running.h"
#include "systems_bed.h"

#include <pthread.h>
#include <sched.h>

/* What the inner jobs of a call get: a part of a column. */
typedef struct rows {
    uint32_t *values;
    uint32_t count;
} rows;

static int double_rows(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const rows *r = argument;
    (void)job;
    for (uint32_t i = begin; i < end; i++) r->values[i] = r->values[i] * 2 + i;
    return 0;
}

/* Halves down to 16 rows, in children. */
static int add_rows(weft_job_context *job, void *argument)
{
    const rows *r = argument;
    rows halves[2] = {{r->values, r->count / 2},
                      {r->values + r->count / 2, r->count - r->count / 2}};
    if (r->count <= 16) {
        for (uint32_t i = 0; i < r->count; i++) r->values[i] += 3;
        return 0;
    }
    weft_job_child(job, add_rows, &halves[0]);
    weft_job_child(job, add_rows, &halves[1]);
    return weft_job_children_wait(job);
}

static void run_loop(weft_slice *s, void *user)
{
    rows r = {weft_slice_write(s, 0), s->count};
    weft_job_context *job = weft_slice_job(s);
    (void)user;
    CHECK(job != NULL);
    CHECK_U64(weft_job_worker_index(job), s->worker);
    weft_job_for_desc loop = {.fn = double_rows, .argument = &r, .count = s->count, .grain = 8};
    CHECK_OK(weft_job_for(job, &loop, NULL));
    CHECK_RESULT(weft_job_wait(job, (weft_job_handle){0, 0}, NULL), WEFT_WOULD_NEST);
}

/* Children are left to the end of the callback: what they need lives on. */
static rows left[ROWS];

static void run_children(weft_slice *s, void *user)
{
    rows *r = &left[s->index];
    (void)user;
    *r = (rows){weft_slice_write(s, 0), s->count};
    weft_job_child(weft_slice_job(s), add_rows, r);
}

/* Fused with the two above: sees what their jobs wrote. */
static void check_rows(weft_slice *s, void *user)
{
    const uint32_t *values = weft_slice_read(s, 0);
    uint32_t *kept = weft_slice_write(s, 1);
    (void)user;
    for (uint32_t i = 0; i < s->count; i++) kept[i] = values[i] * 7 + kept[i];
}

static void add_systems(uint32_t flags)
{
    make(&(weft_system_desc){.name = "loop",
                             .run = run_loop,
                             .flags = WEFT_SYSTEM_JOBS | flags,
                             .over.rows.terms = {{t.a, WEFT_WRITE, 0, 0}}});
    make(&(weft_system_desc){.name = "children",
                             .run = run_children,
                             .flags = WEFT_SYSTEM_JOBS | flags,
                             .over.rows.terms = {{t.a, WEFT_WRITE, 0, 0}}});
    make(&(weft_system_desc){.name = "check",
                             .run = check_rows,
                             .flags = flags,
                             .over.rows.terms = {{t.a, WEFT_READ, 0, 0}, {t.b, WEFT_WRITE, 0, 0}}});
}

static void *step_ten(void *world)
{
    for (uint32_t i = 0; i < 10; i++) CHECK_OK(weft_world_step(world, 0));
    return NULL;
}

/* The content after ten steps on so many workers, stepped by this thread or another. */
static uint64_t run_on(uint32_t workers, uint32_t flags, bool is_elsewhere)
{
    pthread_t thread;
    begin(workers);
    add_systems(flags);
    if (is_elsewhere) {
        CHECK(pthread_create(&thread, NULL, step_ten, t.world) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    } else {
        step_ten(t.world);
    }
    uint64_t hash = weft_world_hash(t.world, WEFT_HASH_LAYOUT);
    end();
    return hash;
}

PLAIN_TEST(inner_jobs_give_the_same_world_on_any_workers_in_any_kind_of_system)
{
    const uint32_t kinds[] = {0, WEFT_SYSTEM_SERIAL, WEFT_SYSTEM_MAIN_THREAD, WEFT_SYSTEM_EXCLUSIVE,
                              WEFT_SYSTEM_BACKGROUND};
    for (uint32_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        uint64_t serial = run_on(1, kinds[kind], false);
        for (uint32_t workers = 2; workers <= 4; workers++)
            for (uint32_t i = 0; i < 3; i++)
                CHECK_U64(run_on(workers, kinds[kind], i == 2), serial);
    }
}

/* ---- what other workers do for a system counts for it */

/* A child that another worker takes while the body waits for it. Owner: the test. */
typedef struct taken {
    weft_a32 x_worker; /* that runs it, + 1 */
    const char *name;  /* of the system by the marker on its stack; NULL: there is none */
    uint64_t ns;
} taken;

/* AddressSanitizer keeps locals apart from the stack. */
#if defined(__SANITIZE_ADDRESS__)
enum { HAS_MARKERS = 0 };
#else
enum { HAS_MARKERS = 1 };
#endif

/* The marker above a function on the stack, as weft-perf finds it. */
static __attribute__((noinline, no_sanitize("address"), no_sanitize("thread"))) const char *
find_marker(void)
{
    const uint64_t *frame = __builtin_frame_address(0);
    for (uint32_t i = 0; i < 512; i++)
        if (frame[i] == (WEFT__RUNNING_MAGIC ^ (uint64_t)(uintptr_t)&frame[i]))
            return (const char *)(uintptr_t)frame[i + 1];
    return NULL;
}

static uint64_t now_ns(void)
{
    const weft_os *os = weft__os_default();
    return os->clock_ns(os->user);
}

static void be_taken(weft_job_context *job, taken *self)
{
    uint64_t begun = now_ns();
    self->name = find_marker();
    while (now_ns() - begun < 200000) sched_yield();
    self->ns = now_ns() - begun;
    at_store_rel(&self->x_worker, weft_job_worker_index(job) + 1);
}

static int take_child(weft_job_context *job, void *argument)
{
    be_taken(job, argument);
    return 0;
}

/* The item of the other worker, which this one waits for. */
static int take_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)end;
    if (weft_job_worker_index(job) != 0) be_taken(job, argument);
    while (begin == 0 && at_load_acq(&((taken *)argument)->x_worker) == 0) sched_yield();
    return 0;
}

static taken by_child, by_loop;

/* Both pieces run on the other worker: this one runs none before they have begun. */
static void give_away(weft_slice *s, void *user)
{
    weft_job_context *job = weft_slice_job(s);
    weft_job_for_desc loop = {.fn = take_part, .argument = &by_loop, .count = 2, .grain = 1};
    (void)user;
    weft_job_child(job, take_child, &by_child);
    while (at_load_acq(&by_child.x_worker) == 0) sched_yield();
    CHECK_I64(weft_job_children_wait(job), 0);
    CHECK_OK(weft_job_for(job, &loop, NULL));
}

/* Spans of the system in the row of a worker. */
static uint32_t count_spans(weft_job_pool *pool, uint32_t worker, const char *name)
{
    weft_job_event event;
    uint32_t count = 0;
    while (weft_job_trace_take(pool, worker, &event, 1, NULL) != 0)
        if (event.kind == WEFT_JOB_EVENT_SPAN_BEGIN && event.name == name) count++;
    return count;
}

PLAIN_TEST(what_others_do_for_a_system_counts_for_it_in_samples_traces_and_times)
{
    weft_job_pool *pool;
    weft_system_stats stats;
    const weft_job_pool_desc desc = {
        .worker_count = 2, .trace_capacity = 4096, .is_always_parallel = true};
    by_child = by_loop = (taken){0};
    CHECK_OK(weft_job_pool_create(&desc, &pool));
    begin_with(&(weft_world_desc){.pool = pool}, false);
    weft_system system = make(&(weft_system_desc){
        .name = "giver", .run = give_away, .flags = WEFT_SYSTEM_JOBS | WEFT_SYSTEM_MAIN_THREAD});
    CHECK_OK(weft_schedule_set(t.world, &(weft_schedule_desc){.is_measured = true}));
    CHECK_OK(weft_world_step(t.world, 0));
    CHECK_OK(weft_system_stats_get(t.world, system, &stats, sizeof stats));
    CHECK_U64(at_load_acq(&by_child.x_worker), 2);
    CHECK_U64(at_load_acq(&by_loop.x_worker), 2);
    CHECK(by_child.name == stats.name || !HAS_MARKERS);
    CHECK(by_loop.name == stats.name || !HAS_MARKERS);
    /* the body waited as long as they took */
    CHECK(stats.time_ns >= 2 * (by_child.ns + by_loop.ns));
    CHECK(count_spans(pool, 1, stats.name) >= 2);
    end();
    CHECK_OK(weft_job_pool_destroy(pool));
}

PLAIN_TEST(systems_with_jobs_are_fused_with_others)
{
    weft_system_stats stats;
    begin(2);
    add_systems(0);
    CHECK_OK(weft_world_step(t.world, 0));
    weft_system check = weft_system_find(t.world, "check");
    CHECK_OK(weft_system_stats_get(t.world, check, &stats, sizeof stats));
    CHECK(stats.is_fused);
    end();
}

static void ask_undeclared(weft_slice *s, void *user)
{
    (void)user;
    CHECK(weft_slice_job(s) == NULL);
}

PLAIN_TEST(a_system_must_declare_its_jobs)
{
    begin(2);
    make(SYSTEM_OF(ask_undeclared, .over.rows = {.terms = {{t.a, WEFT_READ, 0, 0}}}));
    weft_result result = weft_world_step(t.world, 0);
    if (WEFT_IS_CHECKED) {
        CHECK_RESULT(result, WEFT_UNDECLARED_ACCESS);
        check_error(WEFT_UNDECLARED_ACCESS, "WEFT_SYSTEM_JOBS");
    } else {
        CHECK_OK(result);
    }
    end();
}
