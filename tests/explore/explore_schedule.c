/* SPDX-License-Identifier: MIT */
/* explore_schedule.c: which thread runs next. A thread that could go on but is replaced was
 * preempted: the depth-first search bounds those; where the running thread blocks, every other
 * choice is free. A stall (one beat of a retry loop) blocks until another thread has written; if
 * no other thread can run it ends anyway, as a bounded spin would, with time moving on. */
#include "explore_engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STEPS_MAX 200000u
#define IMPATIENCE 12u
/* PCT: fresh threads before changed ones before those that yielded. */
#define PRIORITY_FRESH (UINT64_C(1) << 40)
#define PRIORITY_CHANGED (UINT64_C(1) << 36)
#define PRIORITY_YIELDED (UINT64_C(1) << 32)
#define QUANTUM_NS 1000000u /* what a spin that ends for lack of others has cost */

engine_globals engine;

static uint32_t ready_list(uint32_t *list, uint32_t from)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i <= engine.thread_count; i++) {
        uint32_t t = (from + i) % engine.thread_count;
        if (t != from && engine.threads[t].state == ENGINE_READY) list[count++] = t;
    }
    return count;
}

static uint32_t pending_list(uint32_t *list, uint32_t except)
{
    uint32_t count = 0;
    if (engine.model != EXPLORE_TSO && engine.model != EXPLORE_PSO) return 0;
    for (uint32_t t = 0; t < engine.thread_count; t++) {
        if (t != except && engine.threads[t].pending_count) list[count++] = t;
    }
    return count;
}

static void switch_to(uint32_t next)
{
    uint32_t old = engine.current;
    if (next == old) return;
    if (engine.threads[old].pending_count) engine_hold(old);
    engine.current = next;
    explore_fibre_switch(&engine.threads[old].fibre, &engine.threads[next].fibre);
}

/* The candidate of highest priority; PCT lowers the running thread at its change points. */
static uint32_t by_priority(const uint32_t *list, uint32_t count)
{
    for (uint32_t i = 0; i + 1 < engine.bound && i < 16; i++) {
        if (engine.change_points[i] == engine.steps) {
            engine.threads[engine.current].priority = PRIORITY_CHANGED - i;
        }
    }
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (engine.threads[list[i]].priority > engine.threads[list[best]].priority) best = i;
    }
    return best;
}

static uint32_t suggest(const uint32_t *list, uint32_t count, bool can_stay)
{
    if (engine.strategy == EXPLORE_PCT) return by_priority(list, count);
    if (engine.strategy != EXPLORE_RANDOM) return 0;
    if (can_stay && (engine_random() & ((1u << engine.switch_shift) - 1))) return 0;
    return (uint32_t)(engine_random() % count);
}

/* In random strategies the buffers of other threads empty now and then by themselves. */
static void flush_at_random(const uint32_t *list, uint32_t count)
{
    if (!count) return;
    uint32_t pick = engine_odds(4) ? 1 + (uint32_t)(engine_random() % count) : 0;
    pick = engine_choose(count + 1, NULL, pick);
    if (pick) engine_flush_one(list[pick - 1]);
}

static void note_step(const char *site)
{
    engine.threads[engine.current].site = site;
    /* what is not explored is not counted: change points of PCT would be lost in it */
    uint64_t *steps = engine.is_quiet ? &engine.quiet_steps : &engine.steps;
    if (++*steps > STEPS_MAX) {
        explore_fail("livelock: more than %u steps in one execution", STEPS_MAX);
    }
}

void engine_point(const char *site)
{
    note_step(site);
    if (engine.is_quiet || engine.thread_count == 1) return;
    for (;;) {
        uint32_t list[2 * ENGINE_THREADS];
        list[0] = engine.current;
        uint32_t ready = 1 + ready_list(list + 1, engine.current);
        uint32_t flushes = pending_list(list + ready, engine.current);
        if (engine.strategy != EXPLORE_DFS) {
            flush_at_random(list + ready, flushes);
            flushes = 0;
        }
        if (ready + flushes == 1) return;
        uint32_t pick =
            engine_choose(ready + flushes, &engine.preemptions_left, suggest(list, ready, true));
        if (pick < ready) {
            switch_to(list[pick]);
            return;
        }
        engine_flush_one(list[pick]);
    }
}

static void release_stalled(void)
{
    for (uint32_t t = 0; t < engine.thread_count; t++) {
        engine_thread *thread = &engine.threads[t];
        if (thread->state != ENGINE_STALLED) continue;
        thread->state = ENGINE_READY;
        thread->stall_seen = engine.writes - thread->own_writes;
    }
}

static void report_stuck(void)
{
    char text[400];
    size_t used = 0;
    for (uint32_t t = 0; t < engine.thread_count && used < sizeof text - 1; t++) {
        const engine_thread *thread = &engine.threads[t];
        if (thread->state == ENGINE_DONE || thread->state == ENGINE_FREE) continue;
        const char *what = thread->state == ENGINE_FUTEX     ? "futex"
                           : thread->state == ENGINE_STALLED ? "stall"
                                                             : "join";
        int n = snprintf(text + used, sizeof text - used, " [thread %u: %s after %s]", t, what,
                         thread->site ? thread->site : "start");
        used += n > 0 ? (size_t)n : 0;
    }
    explore_fail("%s:%s", engine.idle_rounds ? "livelock" : "deadlock", text);
}

/* No thread can run: hardware and time move on. */
static void unstick(void)
{
    for (uint32_t t = 0; t < engine.thread_count; t++) {
        if (engine_flush_one(t)) return;
    }
    bool any_stalled = false;
    for (uint32_t t = 0; t < engine.thread_count; t++) {
        any_stalled |= engine.threads[t].state == ENGINE_STALLED;
    }
    if (!any_stalled) {
        engine.idle_rounds = 0;
        report_stuck();
    }
    if (++engine.idle_rounds > ENGINE_IDLE_ROUNDS) report_stuck();
    engine.clock_ns += QUANTUM_NS;
    release_stalled();
}

/* Runs others; the running thread is among the candidates only if it is ready again. */
static void run_others(void)
{
    uint32_t list[2 * ENGINE_THREADS], count, flushes;
    for (;;) {
        count = ready_list(list, engine.current);
        if (engine.threads[engine.current].state == ENGINE_READY) list[count++] = engine.current;
        if (!count) {
            unstick();
            continue;
        }
        flushes = engine.is_quiet ? 0 : pending_list(list + count, engine.current);
        if (engine.strategy != EXPLORE_DFS) {
            flush_at_random(list + count, flushes);
            flushes = 0;
        }
        uint32_t pick = 0;
        if (!engine.is_quiet) {
            pick = flushes ? engine_choose(2, &engine.preemptions_left, 0) : 0;
            if (pick) {
                engine_flush_one(list[count + engine_choose(flushes, NULL, 0)]);
                continue;
            }
            pick = engine_choose(count, NULL, suggest(list, count, false));
        }
        switch_to(list[pick]);
        return;
    }
}

void engine_block(engine_state state)
{
    engine.threads[engine.current].state = state;
    run_others();
}

void engine_wrote(uint32_t writer)
{
    engine.writes++;
    engine.threads[writer].own_writes++;
    engine.idle_rounds = 0;
    for (uint32_t t = 0; t < engine.thread_count; t++) {
        engine_thread *thread = &engine.threads[t];
        if (t == writer || thread->state != ENGINE_STALLED) continue;
        thread->state = ENGINE_READY;
        thread->stall_seen = engine.writes - thread->own_writes;
    }
}

/* In random strategies some threads end their spins at once, a few times. */
static bool gives_up(engine_thread *self)
{
    if (!self->impatience) return engine_odds(8);
    self->impatience--;
    return true;
}

void weft__hook_stall(const char *site)
{
    engine_thread *self = &engine.threads[engine.current];
    note_step(site);
    engine_trace(site, NULL, "stall", 0);
    bool is_new = engine_memory_refresh(engine.current);
    uint64_t seen = engine.writes - self->own_writes;
    is_new |= seen != self->stall_seen;
    self->stall_seen = seen;
    self->priority = --engine.yield_priority; /* PCT: behind all others */
    if (is_new) {
        run_others(); /* still ready: the last candidate */
        return;
    }
    /* A bounded spin may end before another thread writes. */
    if (!engine.is_quiet && engine_choose(2, &engine.preemptions_left, gives_up(self))) {
        engine.clock_ns += QUANTUM_NS;
        return;
    }
    engine_block(ENGINE_STALLED);
}

static void thread_main(void)
{
    engine_thread *self = &engine.threads[engine.current];
    self->run(self->argument);
    uint32_t index = engine.current;
    if (index == 0) {
        for (uint32_t t = 1; t < engine.thread_count; t++) {
            if (engine.threads[t].state != ENGINE_DONE) {
                explore_fail("thread %u still runs at the end of the scenario", t);
            }
        }
        engine.is_over = true;
        engine_leave();
    }
    for (uint32_t t = 0; t < engine.thread_count; t++) {
        engine_thread *other = &engine.threads[t];
        if (other->state == ENGINE_JOINING && other->target == index) other->state = ENGINE_READY;
    }
    engine_block(ENGINE_DONE);
    __builtin_unreachable();
}

uint32_t engine_thread_create(void (*run)(void *argument), void *argument)
{
    uint32_t index = engine.thread_count;
    for (uint32_t t = 1; t < engine.thread_count; t++) {
        if (engine.threads[t].state == ENGINE_FREE) index = t;
    }
    if (index == ENGINE_THREADS) explore_fail("more than %d threads", ENGINE_THREADS);
    engine_thread *thread = &engine.threads[index];
    explore_fibre fibre = thread->fibre;
    memset(thread, 0, sizeof *thread);
    thread->fibre = fibre;
    thread->run = run;
    thread->argument = argument;
    thread->state = ENGINE_READY;
    thread->priority = PRIORITY_FRESH + engine_random() % 1000000;
    thread->impatience = engine_odds(2) ? IMPATIENCE : 0;
    explore_fibre_prepare(&thread->fibre, thread_main);
    if (index == engine.thread_count) engine.thread_count++;
    if (index) engine_memory_inherit(index, engine.current);
    return index;
}

void engine_join(uint32_t target)
{
    engine_thread *self = &engine.threads[engine.current];
    engine_drain(engine.current);
    if (engine.threads[target].state != ENGINE_DONE) {
        self->target = target;
        engine_block(ENGINE_JOINING);
    }
    engine_drain(target);
    engine_memory_join(engine.current, target);
}

_Noreturn void engine_leave(void)
{
    explore_fibre_switch(&engine.threads[engine.current].fibre, &engine.host);
    __builtin_unreachable();
}

_Noreturn void explore_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(engine.message, sizeof engine.message, format, arguments);
    va_end(arguments);
    engine.is_failed = true;
    engine_leave();
}

void engine_reset(void)
{
    engine.thread_count = 0;
    engine.current = 0;
    engine.is_quiet = true;
    engine.is_failed = engine.is_over = false;
    engine.steps = engine.quiet_steps = engine.writes = 0;
    engine.clock_ns = 1000;
    engine.idle_rounds = 0;
    engine.yield_priority = PRIORITY_YIELDED;
    engine.live_bytes = 0;
    engine.ignored_count = 0;
    engine.threads[0].pending_count = 0;
    engine_choices_start();
    engine_memory_reset();
    engine_race_reset();
    engine_arena_reset();
}
