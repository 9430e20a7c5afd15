/* SPDX-License-Identifier: MIT */
/* explore_seam.c: what stands in for the operating system and the heap, the scenario's calls, and
 * the trace. Futex calls are locked operations to the store buffers, as in the kernel; they order
 * nothing by themselves. A fault plan makes mappings, allocations and thread starts fail and futex
 * waits return early, each as a choice. */
#include "explore_engine.h"
#include "invariant.h"

#include <stdio.h>
#include <string.h>

static bool fault(void)
{
    if (engine.is_quiet || !engine.faults_left) return false;
    return engine_choose(2, &engine.faults_left, engine_odds(6)) != 0;
}

/* Fresh memory was written (cleared) by its allocator: who finds it through a pointer must
 * acquire. */
static void *written(void *memory, size_t bytes)
{
    if (engine.model == EXPLORE_C11 && !engine.is_quiet) {
        engine_race_check(memory, bytes < 4096 ? (uint32_t)bytes : 4096, ENGINE_WRITE);
    }
    engine.live_bytes += bytes;
    return memory;
}

static void *seam_map(void *user, size_t bytes, size_t alignment)
{
    (void)user;
    engine_point("os map");
    if (fault()) return NULL;
    const bool is_reserve = bytes >= ENGINE_RESERVE_BYTES;
    void *memory = is_reserve ? engine_reserve_take(bytes)
                              : engine_arena_take(bytes, alignment < 4096 ? alignment : 4096);
    if (!is_reserve) memset(memory, 0, bytes);
    return written(memory, bytes);
}

static void seam_unmap(void *user, void *memory, size_t bytes)
{
    (void)user;
    engine_point("os unmap");
    if (bytes >= ENGINE_RESERVE_BYTES)
        engine_reserve_give(memory, bytes);
    else
        engine_arena_give(memory, bytes);
    engine.live_bytes -= bytes;
}

static void seam_discard(void *user, void *memory, size_t bytes)
{
    (void)user;
    engine_point("os discard");
    memset(memory, 0, bytes);
}

static weft_result seam_thread_start(void *user, weft__os_thread *out, const char *name,
                                     void (*run)(void *argument), void *argument)
{
    (void)user, (void)name;
    engine_point("os thread start");
    if (fault()) return WEFT_THREAD_FAILED;
    engine_drain(engine.current);
    out->handle = engine_thread_create(run, argument);
    return WEFT_OK;
}

static void seam_thread_join(void *user, weft__os_thread thread)
{
    (void)user;
    engine_point("os thread join");
    engine_join((uint32_t)thread.handle);
}

static void seam_futex_wait(void *user, weft_a32 *word, uint32_t expected)
{
    (void)user;
    engine_point("os futex wait");
    engine_arena_check(word, "os futex wait");
    engine_drain(engine.current);
    engine_trace("os futex wait", word, "waits while", expected);
    if ((uint32_t)engine_memory_latest(word, 4) != expected || fault()) return;
    engine.threads[engine.current].futex = word;
    engine_block(ENGINE_FUTEX);
}

static void seam_futex_wake(void *user, weft_a32 *word, uint32_t count)
{
    (void)user;
    engine_point("os futex wake");
    engine_drain(engine.current);
    engine_trace("os futex wake", word, "wakes", count);
    for (uint32_t i = 1; i <= engine.thread_count && count; i++) {
        engine_thread *thread = &engine.threads[(engine.current + i) % engine.thread_count];
        if (thread->state != ENGINE_FUTEX || thread->futex != word) continue;
        thread->state = ENGINE_READY;
        count--;
    }
    engine_wrote(engine.current); /* progress, for those who stall */
}

static uint64_t seam_clock_ns(void *user)
{
    (void)user;
    engine.clock_ns += 1000;
    return engine.clock_ns;
}

/* The same on every machine. */
static uint32_t seam_cpu_count(void *user)
{
    (void)user;
    return 1;
}

const weft_os *explore_os(void)
{
    static weft_os os;
    os = *weft__os_default();
    os.user = NULL;
    os.map = seam_map;
    os.unmap = seam_unmap;
    os.discard = seam_discard;
    os.thread_start = seam_thread_start;
    os.thread_join = seam_thread_join;
    os.futex_wait = seam_futex_wait;
    os.futex_wake = seam_futex_wake;
    os.clock_ns = seam_clock_ns;
    os.cpu_count = seam_cpu_count;
    return &os;
}

static void *heap_allocate(void *user, size_t bytes, size_t alignment)
{
    (void)user;
    if (fault()) return NULL;
    void *memory = engine_arena_take(bytes, alignment);
    memset(memory, 0xA5, bytes);
    return written(memory, bytes);
}

static void heap_release(void *user, void *memory, size_t bytes, size_t alignment)
{
    (void)user, (void)alignment;
    engine_arena_give(memory, bytes);
    engine.live_bytes -= bytes;
}

const weft_allocator *explore_allocator(void)
{
    static const weft_allocator allocator = {heap_allocate, heap_release, NULL};
    return &allocator;
}

void *explore_scratch(size_t bytes, size_t alignment)
{
    void *memory = engine_arena_take(bytes, alignment);
    memset(memory, 0, bytes);
    return memory;
}

/* ---- the scenario's calls ---- */

uint32_t explore_thread(void (*run)(void *argument), void *argument)
{
    uint32_t index = engine_thread_create(run, argument);
    engine.threads[index].is_body = true;
    return index;
}

void explore_join(uint32_t thread)
{
    engine_point("join");
    engine_join(thread);
}

void explore_join_all(void)
{
    for (uint32_t t = 1; t < engine.thread_count; t++) {
        if (engine.threads[t].is_body) explore_join(t);
    }
}

void explore_begin(void)
{
    engine.is_quiet = false;
}

void explore_end(void)
{
    engine.is_quiet = true;
    for (uint32_t t = 0; t < engine.thread_count; t++) engine_drain(t);
    engine_memory_refresh(engine.current);
}

uint32_t explore_self(void)
{
    return engine.current;
}

uint32_t weft__hook_thread(void)
{
    return engine.current;
}

bool explore_is_weak(void)
{
    return engine.model == EXPLORE_C11;
}

/* A broken invariant of the code under test is a failure of the schedule. */
void weft__assert_failed(const char *file, int line, const char *statement)
{
    explore_fail("%s:%d: assertion failed: %s", file, line, statement);
}

void engine_trace(const char *site, const void *address, const char *what, uint64_t value)
{
    if (__builtin_expect(!engine.is_tracing, true)) return;
    if (engine.is_quiet || engine.steps < engine.trace_from) return;
    printf("  %5u thread %u  %-44s %p %s %#llx\n", (unsigned)engine.steps, engine.current,
           site ? site : "(store buffer)", address, what, (unsigned long long)value);
}
