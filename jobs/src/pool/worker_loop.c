/* SPDX-License-Identifier: MIT */
/* worker_loop.c: loops on workers: the decision between inline and parallel, the parts, the wait
 * for parts that others took. The table and its protocol are in loop.h, the predictions in cost.h.
 *
 * An unknown loop measures itself: it runs growing parts inline, and what is left is split as soon
 * as it is predicted to pay. */
#include "worker_loop.h"
#include "label.h"
#include "park.h"
#include "split.h"
#include "worker_child.h"

/* One loop as its opener sees it. Owner: the opener, on its stack. */
typedef struct loop_run {
    const weft_job_for_desc *desc;
    weft__cost_state *cost;
    weft__cost_state own_cost; /* when the caller has none */
    uint64_t grain_ticks;
    int code;          /* of the failed part with the lowest begin */
    bool is_cancelled; /* by the surrounding job */
} loop_run;

static inline __attribute__((always_inline)) int
run_part_here(weft_job_context *worker, const weft_job_for_desc *desc, uint32_t begin, uint32_t end)
{
    uint64_t base = worker->frame_base;
    weft__first_error error = worker->error;
    worker->frame_base = worker->children.bottom;
    worker->error.code = 0;
    worker->depth++;
    weft__note(worker, WEFT_JOB_EVENT_BEGIN, desc->name, begin);
    int code = desc->fn(worker, desc->argument, begin, end);
    /* one branch for both, not taken: see weft_job_for */
    uint64_t to_join = worker->children.bottom - worker->frame_base;
    if (__builtin_expect((to_join | (uint32_t)worker->error.code) != 0, 0)) {
        int child_code = weft_job_children_wait(worker);
        if (code == 0) code = child_code;
    }
    weft__note(worker, WEFT_JOB_EVENT_END, desc->name, begin);
    worker->depth--;
    worker->frame_base = base;
    worker->error = error;
    return code;
}

static __attribute__((noinline)) int
run_part(weft_job_context *worker, const weft_job_for_desc *desc, uint32_t begin, uint32_t end)
{
    return run_part_here(worker, desc, begin, end);
}

/* ---- parallel */

static bool is_stopped(weft_job_context *worker, weft__loop *loop)
{
    /* relaxed: a part that was begun meanwhile is allowed */
    if (at_load_rlx(&loop->x_stop) != 0) return true;
    if (!weft_job_is_cancelled(worker)) return false;
    at_store_rlx(&loop->x_stop, 1u); /* relaxed: as above */
    return true;
}

/* A part of a labelled loop that another worker opened. */
static __attribute__((noinline)) int run_labelled(weft_job_context *worker,
                                                  const weft__label *label,
                                                  const weft_job_for_desc *desc, uint32_t begin,
                                                  uint32_t end)
{
    weft__labelled piece;
    weft__label_begin(worker, &piece, label);
    int code = run_part_here(worker, desc, begin, end);
    weft__label_end(worker, &piece);
    return code;
}

/* Claims and runs parts of the own range until it is empty; returns the items accounted for. */
static uint32_t run_own_range(weft_job_context *worker, weft__loop *loop,
                              const weft_job_for_desc *desc)
{
    const weft__label *label = weft__label_beside(worker, loop);
    uint32_t begin, end, count = 0;
    for (;;) {
        bool is_skipping = is_stopped(worker, loop);
        uint32_t wanted = is_skipping ? UINT32_MAX : loop->grain;
        if (!weft__loop_claim(loop, worker->head.index, wanted, &begin, &end)) return count;
        count += end - begin;
        if (is_skipping) continue;
        int code = __builtin_expect(label == NULL, 1)
                       ? run_part(worker, desc, begin, end)
                       : run_labelled(worker, label, desc, begin, end);
        if (code == 0) continue;
        weft__loop_fail(loop, begin, code);
        at_store_rlx(&loop->x_stop, 1u); /* relaxed: parts begun meanwhile are allowed */
    }
}

/* Runs parts, own and stolen, until every range is empty, and reports them. */
void weft__worker_run_parts(weft_job_context *worker, weft__loop *loop)
{
    const weft_job_for_desc desc = {.fn = loop->fn, .argument = loop->argument, .name = loop->name};
    uint64_t begun = weft__ticks_now(&worker->pool->ticks);
    uint32_t count = 0;
    for (;;) {
        count += run_own_range(worker, loop, &desc);
        uint32_t victim = weft__loop_steal(loop, worker->head.index);
        if (victim == UINT32_MAX) break;
        weft__stat_add(&worker->stats.x_stolen, 1);
        weft__note(worker, WEFT_JOB_EVENT_STEAL, desc.name, victim);
    }
    weft__loop_hide(&worker->pool->loops, loop);
    weft__worker_report(worker, loop, count, begun);
}

/* Waits until every part has been run: takes what can still be stolen, spins, then sleeps. */
static void await_loop(weft_job_context *worker, weft__loop *loop)
{
    weft__spin spin = {0};
    while (!weft__loop_is_finished(loop)) {
        if (weft__worker_spin(worker, &spin)) {
            if (weft__loop_steal(loop, worker->head.index) != UINT32_MAX)
                weft__worker_run_parts(worker, loop);
            continue;
        }
        if (!weft__loop_announce_wait(loop)) return;
        weft__worker_await_token(worker);
    }
}

static uint32_t grain_of(const loop_run *run, uint32_t count, uint32_t participants)
{
    uint64_t item = at_load_rlx(&run->cost->x_item); /* relaxed: an estimate */
    uint64_t most = count / (participants * 4u) + 1;
    uint64_t grain = most;
    if (item != 0) {
        grain = (run->grain_ticks << WEFT__COST_FRACTION_BITS) / item + 1;
        if (grain > most) grain = most;
    }
    if (grain < run->desc->grain) grain = run->desc->grain;
    return grain > count ? count : (uint32_t)grain;
}

/* Splits [begin, count); false when no entry of the table is vacant. */
static bool run_parallel(weft_job_context *worker, loop_run *run, uint32_t begin)
{
    weft_job_pool *pool = worker->pool;
    const weft_job_for_desc *desc = run->desc;
    uint32_t count = desc->count - begin;
    weft__loop *loop = weft__loop_acquire(&pool->loops);
    if (loop == NULL) return false;
    uint64_t predicted = weft__cost_predict(run->cost, count);
    uint64_t wanted = predicted / (pool->limits.awake_ticks + 1) + 1;
    if (wanted < 2) wanted = 2;
    if (pool->is_always_parallel || wanted > pool->worker_count) wanted = pool->worker_count;
    uint32_t participants = (uint32_t)wanted;
    loop->fn = desc->fn;
    loop->argument = desc->argument;
    loop->name = desc->name;
    loop->graph = NULL;
    loop->class_ = desc->class_;
    loop->grain = grain_of(run, count, participants);
    loop->limit = participants - 1;
    weft__worker_fill_opener(worker, loop);
    bool is_alone = weft__worker_is_alone(worker, predicted);
    uint64_t opened = weft__ticks_now(&pool->ticks);
    weft__loop_open(&pool->loops, loop, begin, desc->count);
    weft__worker_notify(worker);
    weft__worker_run_parts(worker, loop);
    await_loop(worker, loop);
    uint64_t closed = weft__ticks_now(&pool->ticks);
    weft__loop_close(&pool->loops, loop);
    uint64_t busy = at_load_rlx(&loop->x_busy);   /* relaxed: L4 made it visible */
    uint64_t error = at_load_rlx(&loop->x_error); /* relaxed: L4 made it visible */
    if (error != UINT64_MAX) run->code = (int)(uint32_t)error;
    run->is_cancelled = error == UINT64_MAX && at_load_rlx(&loop->x_stop) != 0; /* as above */
    if (run->code == 0 && !run->is_cancelled && !is_alone) {
        /* What this very run began with says too little to judge by: the rest may find its memory
         * untouched and take three times as long, which is no fault of the split. */
        bool is_judged = begin == 0;
        if (!is_judged) weft__cost_forget(run->cost);
        const weft__cost_split split = {.is_short = weft__cost_is_short(predicted, &pool->limits),
                                        .predicted = is_judged ? predicted : 0,
                                        .wall = closed - opened,
                                        .busy = busy,
                                        .now = closed,
                                        .count = count};
        weft__cost_learn_split(run->cost, &split);
    }
    weft__stat_add(&worker->stats.x_loops_parallel, 1);
    return true;
}

/* ---- inline */

/* Size of the first part of a loop that runs inline in parts of `aim` ticks. */
static uint32_t first_part(const loop_run *run, bool may_split, uint64_t aim)
{
    uint64_t item = at_load_rlx(&run->cost->x_item); /* relaxed: an estimate */
    uint64_t part = 1;
    if (!may_split && item != 0) part = (aim << WEFT__COST_FRACTION_BITS) / item + 1;
    if (part < run->desc->grain) part = run->desc->grain;
    return part < run->desc->count ? (uint32_t)part : run->desc->count;
}

/* Runs growing parts from 0, timed, until the rest is predicted to pay; returns where the rest
 * begins. Parts of a loop that stays inline end only to see a cancellation: they may be long. */
static uint32_t run_inline(weft_job_context *worker, loop_run *run, bool may_split)
{
    const weft_job_for_desc *desc = run->desc;
    const weft__ticks *ticks = &worker->pool->ticks;
    uint64_t now = weft__ticks_now(ticks), worked = 0;
    uint64_t aim = may_split ? run->grain_ticks : run->grain_ticks * 32;
    uint32_t begin = 0, part = first_part(run, may_split, aim);
    while (begin < desc->count) {
        if (weft_job_is_cancelled(worker)) {
            run->is_cancelled = true;
            break;
        }
        uint32_t end = desc->count - begin < part ? desc->count : begin + part;
        run->code = run_part(worker, desc, begin, end);
        if (run->code != 0) break;
        uint64_t before = now;
        now = weft__ticks_now(ticks);
        uint64_t passed = now - before;
        worked += passed;
        begin = end;
        if (begin == desc->count) break;
        uint64_t rest = worked * (desc->count - begin) / begin;
        if (may_split && begin > 1 && weft__worker_pays_off(worker, run->cost, rest)) {
            weft__cost_learn(run->cost, worked, begin);
            return begin;
        }
        if (passed < aim && part <= desc->count / 2) part *= 2;
    }
    if (run->code == 0 && !run->is_cancelled) weft__cost_learn(run->cost, worked, begin);
    return desc->count;
}

static void run_loop(weft_job_context *worker, loop_run *run)
{
    weft_job_pool *pool = worker->pool;
    const weft_job_for_desc *desc = run->desc;
    uint64_t predicted = weft__cost_predict(run->cost, desc->count);
    bool may_split = pool->worker_count > 1 && desc->count > 1;
    if (may_split && pool->is_always_parallel) {
        if (run_parallel(worker, run, 0)) return;
    } else if (may_split && predicted != 0 && weft__worker_pays_off(worker, run->cost, predicted)) {
        if (run_parallel(worker, run, 0)) return;
    }
    uint32_t begin = run_inline(worker, run, may_split && predicted == 0);
    if (begin < desc->count) {
        if (run_parallel(worker, run, begin)) return;
        run->code = run_part(worker, desc, begin, desc->count);
    }
    weft__stat_add(&worker->stats.x_loops_inlined, 1);
}

/* Everything but small loops whose cost is known: parts are timed, or the loop is split. */
static __attribute__((noinline)) weft_result run_any(weft_job_context *worker,
                                                     const weft_job_for_desc *desc, int *code)
{
    if (desc->count == 0) return WEFT_OK;
    if (weft_job_is_cancelled(worker)) return WEFT_CANCELLED;
    loop_run run = {.desc = desc, .grain_ticks = worker->pool->limits.grain_ticks};
    run.cost = desc->cost != NULL ? weft__cost_state_of(desc->cost) : &run.own_cost;
    if (desc->grain_ns != 0)
        run.grain_ticks = weft__ticks_from_ns(&worker->pool->ticks, desc->grain_ns);
    run_loop(worker, &run);
    if (code != NULL && run.code != 0) *code = run.code;
    if (run.code != 0) return WEFT_JOB_FAILED;
    return run.is_cancelled ? WEFT_CANCELLED : WEFT_OK;
}

/* A loop known to be small: one part, timed now and then. */
static inline __attribute__((always_inline)) int
run_small(weft_job_context *worker, const weft_job_for_desc *desc, uint64_t predicted)
{
    weft__cost_state *cost = weft__cost_state_of(desc->cost);
    bool is_timed = weft__cost_is_timed(cost, predicted, worker->small_ticks);
    uint64_t begun = 0;
    if (__builtin_expect(is_timed, 0)) begun = weft__ticks_now(&worker->pool->ticks);
    int code = run_part_here(worker, desc, 0, desc->count);
    if (__builtin_expect(is_timed, 0) && code == 0)
        weft__cost_learn(cost, weft__ticks_now(&worker->pool->ticks) - begun, desc->count);
    weft__stat_add(&worker->stats.x_loops_inlined, 1);
    return code;
}

static __attribute__((noinline, cold)) weft_result failed_small(int own_code, int *code)
{
    if (code != NULL) *code = own_code;
    return WEFT_JOB_FAILED;
}

/* Asks for what the next calls on the owner will read; harmless on any other worker. */
static inline void worker_prefetch(const weft_job_context *worker)
{
    __builtin_prefetch((const char *)worker - WEFT__ALIVE_BYTES);
    __builtin_prefetch(&worker->children.bottom);
    __builtin_prefetch(&worker->stats.x_loops_inlined);
}

/* The way of a small loop is a straight line in one page: after 20 ms of idleness the processor
 * has forgotten code, data, translations and branches. Each new page costs 330 ns
 * (docs/notes/jobs.md), and a jump that was not expected waits for the memory it depends on
 * before the code behind it is fetched. */
__attribute__((aligned(1024))) weft_result weft_job_for(weft_job_context *worker,
                                                        const weft_job_for_desc *desc, int *code)
{
    if (__builtin_expect(worker == NULL, 0)) return WEFT_INVALID_ARGUMENT;
    worker_prefetch(worker);
    bool is_wrong =
        desc == NULL || desc->fn == NULL || (unsigned)desc->class_ >= WEFT_JOB_CLASS_COUNT;
    if (__builtin_expect(is_wrong, 0)) return WEFT_INVALID_ARGUMENT;
    if (__builtin_expect(weft__worker_is_forked(worker), 0)) return WEFT_FORKED;
    if (__builtin_expect(desc->cost == NULL, 0)) return run_any(worker, desc, code);
    uint64_t predicted = weft__cost_predict(weft__cost_state_of(desc->cost), desc->count);
    bool is_small = predicted - 1 < worker->small_ticks; /* 0: unknown */
    if (__builtin_expect(!is_small, 0)) return run_any(worker, desc, code);
    bool is_in_job = worker->job != WEFT__JOB_NONE;
    if (__builtin_expect(is_in_job, 0) && weft_job_is_cancelled(worker)) return WEFT_CANCELLED;
    int own_code = run_small(worker, desc, predicted);
    return __builtin_expect(own_code == 0, 1) ? WEFT_OK : failed_small(own_code, code);
}
