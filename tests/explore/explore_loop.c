/* SPDX-License-Identifier: MIT */
/* explore_loop.c: jobs/src/protocol/loop.c under every schedule, with a table of one entry, so
 * that an opener finds the entry of the loop before. Participants do what worker_loop.c does:
 * claim, steal, report once, leave. Each item is a plain word: run twice, or read by the opener
 * before its writer has reported, is a data race. */
#include "explore_plans.h"
#include "heap.h"
#include "loop.h"

#define WORKERS 3u
#define ITEMS 6u
#define FAIL_ALL (UINT32_MAX - 1)

static weft__memory memory;
static weft__loop_table table;
static uint32_t ran[2][ITEMS];
static weft_a32 token, opened;
static uint32_t fail_at, grain;

static int part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    uint32_t *items = argument;
    (void)job;
    for (uint32_t i = begin; i < end; i++) {
        EXPLORE_CHECK(i < ITEMS && items[i] == 0, "item %u ran twice", i);
        items[i] = 1;
    }
    if (fail_at == FAIL_ALL) return (int)begin + 1;
    return begin <= fail_at && fail_at < end ? 42 : 0;
}

/* Runs parts until nothing is left; returns how many items to report. */
static uint32_t participate(weft__loop *loop, uint32_t worker)
{
    uint32_t begin, end, count = 0;
    for (;;) {
        while (weft__loop_claim(loop, worker, loop->grain, &begin, &end)) {
            count += end - begin;
            if (at_load_rlx(&loop->x_stop)) continue;
            int code = loop->fn(NULL, loop->argument, begin, end);
            if (!code) continue;
            weft__loop_fail(loop, begin, code);
            at_store_rlx(&loop->x_stop, 1u);
        }
        if (weft__loop_steal(loop, worker) == UINT32_MAX) return count;
    }
}

static void report(weft__loop *loop, uint32_t count)
{
    const weft_os *os = explore_os();
    if (!weft__loop_finish(loop, count)) return;
    at_store_rel(&token, 1);
    os->futex_wake(os->user, &token, 1);
}

static void participant(void *argument)
{
    uint32_t worker = explore_self();
    for (uintptr_t i = 0; i < (uintptr_t)argument; i++) {
        weft__loop *loop = weft__loop_join(&table, WEFT_JOB_NORMAL, 1);
        if (!loop) continue;
        report(loop, participate(loop, worker));
        weft__loop_leave(&table, loop, explore_os());
    }
}

static void await(weft__loop *loop)
{
    const weft_os *os = explore_os();
    if (!weft__loop_is_finished(loop) && weft__loop_announce_wait(loop)) {
        while (!at_load_acq(&token)) os->futex_wait(os->user, &token, 0);
        at_store_rlx(&token, 0);
    }
    EXPLORE_CHECK(weft__loop_is_finished(loop), "woken before the loop had finished");
}

static void run_loop(uint32_t round, uint32_t count, uint32_t limit)
{
    weft__loop *loop = weft__loop_acquire(&table);
    if (!loop) { /* a participant of the last loop is still inside: run inline */
        part(NULL, ran[round], 0, count);
        return;
    }
    loop->fn = part;
    loop->argument = ran[round];
    loop->grain = grain;
    loop->limit = limit;
    loop->opener = 0;
    loop->class_ = WEFT_JOB_NORMAL;
    weft__loop_open(&table, loop, 0, count);
    uint32_t mine = participate(loop, 0);
    weft__loop_hide(&table, loop);
    weft__loop_finish(loop, mine);
    await(loop);
    uint64_t error = at_load_rlx(&loop->x_error);
    bool is_failed = fail_at < count || fail_at == FAIL_ALL;
    EXPLORE_CHECK((error != UINT64_MAX) == is_failed, "error %#llx", (unsigned long long)error);
    uint32_t lowest = 0;
    while (lowest < count && !ran[round][lowest]) lowest++;
    EXPLORE_CHECK(fail_at != FAIL_ALL || error >> 32 == lowest,
                  "not the error of the first part that ran: %#llx", (unsigned long long)error);
    weft__loop_close(&table, loop);
    for (uint32_t i = 0; i < count && !is_failed; i++) {
        EXPLORE_CHECK(ran[round][i] == 1, "item %u did not run", i);
    }
}

static void start(void)
{
    weft__memory_init(&memory, explore_allocator());
    EXPLORE_CHECK(weft__loop_table_init(&table, &memory, WORKERS) == WEFT_OK, "init");
    for (uint32_t i = 0; i < ITEMS; i++) ran[0][i] = ran[1][i] = 0;
    at_init(&token, 0);
    at_init(&opened, 0);
    fail_at = UINT32_MAX;
    grain = 1;
}

static void finish(void)
{
    explore_join_all();
    explore_end();
    EXPLORE_CHECK(at_plain(&table.x_free) == 1, "the entry was not recycled");
    EXPLORE_CHECK(at_plain(&table.x_open[WEFT_JOB_NORMAL]) == 0, "still offered");
    weft__loop_table_fini(&table, &memory);
}

static void one_loop(void)
{
    start();
    explore_thread(participant, (void *)1);
    explore_begin();
    run_loop(0, 4, 2);
    finish();
}

static void two_participants(void)
{
    start();
    explore_thread(participant, (void *)1);
    explore_thread(participant, (void *)1);
    explore_begin();
    run_loop(0, 3, 2);
    finish();
}

/* Parts of two, and a last one of what is left. */
static void parts(void)
{
    start();
    grain = 2;
    explore_thread(participant, (void *)1);
    explore_begin();
    run_loop(0, 5, 1);
    finish();
}

/* Opened again while a late participant of the first run may be anywhere. */
static void recycled(void)
{
    start();
    explore_thread(participant, (void *)2);
    explore_begin();
    run_loop(0, 2, 1);
    run_loop(1, 3, 1);
    finish();
}

static void busy(void)
{
    start();
    explore_thread(participant, (void *)2);
    explore_thread(participant, (void *)2);
    explore_begin();
    run_loop(0, 3, 2);
    run_loop(1, 4, 2);
    finish();
}

static void failing_at(uint32_t item)
{
    start();
    fail_at = item;
    explore_thread(participant, (void *)1);
    explore_begin();
    run_loop(0, 3, 1);
    finish();
}

static void failing(void)
{
    failing_at(1);
}

/* All parts fail: the error of the first one is kept. */
static void failing_all(void)
{
    failing_at(FAIL_ALL);
}

const explore_scenario explore_scenarios[] = {
    {"loop_one",
     one_loop,
     {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_TSO, 3, 2), PLAN_ALL(EXPLORE_C11, 3, 1)},
     NULL},
    {"loop_two_participants",
     two_participants,
     {PLAN_ALL(EXPLORE_SC, 2, 0), PLAN_ALL(EXPLORE_C11, 1, 1),
      PLAN_PCT(EXPLORE_C11, 5, 30000, 5000000), PLAN_ALL_DEEP(EXPLORE_SC, 4, 0),
      PLAN_ALL_DEEP(EXPLORE_TSO, 3, 2), PLAN_ALL_DEEP(EXPLORE_C11, 3, 1)},
     NULL},
    {"loop_parts", parts, {PLAN_ALL(EXPLORE_SC, 3, 0), PLAN_ALL(EXPLORE_C11, 2, 1)}, NULL},
    {"loop_recycled",
     recycled,
     {PLAN_ALL(EXPLORE_SC, 3, 0), PLAN_ALL(EXPLORE_TSO, 2, 2), PLAN_ALL(EXPLORE_C11, 2, 1),
      PLAN_PCT(EXPLORE_C11, 5, 30000, 5000000), PLAN_ALL_DEEP(EXPLORE_SC, 5, 0),
      PLAN_ALL_DEEP(EXPLORE_C11, 3, 2)},
     NULL},
    {"loop_busy", busy, {PLAN_PCT(EXPLORE_C11, 5, 20000, 5000000)}, NULL},
    {"loop_failing", failing, {PLAN_ALL(EXPLORE_SC, 4, 0), PLAN_ALL(EXPLORE_C11, 2, 1)}, NULL},
    {"loop_failing_all",
     failing_all,
     {PLAN_ALL(EXPLORE_SC, 3, 0), PLAN_ALL(EXPLORE_C11, 2, 1)},
     NULL},
    {NULL, NULL, {{0}}, NULL},
};
