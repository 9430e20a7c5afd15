/* SPDX-License-Identifier: MIT */
/* os_fault.c: the faulty operating system of os_fault.h.
 *
 * The counters guard nothing but themselves and publish no other memory:
 * T1  CAS of a countdown -> CAS of the same countdown: exactly one caller takes it from 1 to 0.
 */
#include "os_fault.h"

/* Counts down to zero; true for the one caller that reaches it. */
static bool is_due(weft_a64 *counter)
{
    uint64_t value = at_load_rlx(counter); /* rlx: a counter, publishes nothing */
    while (value > 0) {
        if (at_cas_ar(counter, &value, value - 1)) return value == 1; /* T1: with itself */
        at_stall();
    }
    return false;
}

static void *map(void *user, size_t bytes, size_t alignment)
{
    test_os *os = user;
    if (is_due(&os->x_fail_map_at)) return NULL;
    at_add_rlx(&os->x_maps, 1); /* rlx: statistics */
    return os->real->map(os->real->user, bytes, alignment);
}

static void unmap(void *user, void *memory, size_t bytes)
{
    test_os *os = user;
    at_add_rlx(&os->x_unmaps, 1); /* rlx: statistics */
    os->real->unmap(os->real->user, memory, bytes);
}

static void discard(void *user, void *memory, size_t bytes)
{
    const test_os *os = user;
    os->real->discard(os->real->user, memory, bytes);
}

static weft_result thread_start(void *user, weft__os_thread *out, const char *name,
                                void (*run)(void *argument), void *argument)
{
    test_os *os = user;
    if (is_due(&os->x_fail_thread_at)) return WEFT_THREAD_FAILED;
    at_add_rlx(&os->x_threads, 1); /* rlx: statistics */
    return os->real->thread_start(os->real->user, out, name, run, argument);
}

static void thread_join(void *user, weft__os_thread thread)
{
    const test_os *os = user;
    os->real->thread_join(os->real->user, thread);
}

static void futex_wait(void *user, weft_a32 *word, uint32_t expected)
{
    test_os *os = user;
    const uint64_t count = at_add_rlx(&os->x_waits, 1) + 1; /* rlx: statistics */
    if (os->spurious_every && count % os->spurious_every == 0) return;
    os->real->futex_wait(os->real->user, word, expected);
}

static void futex_wake(void *user, weft_a32 *word, uint32_t count)
{
    const test_os *os = user;
    os->real->futex_wake(os->real->user, word, count);
}

static uint64_t clock_ns(void *user)
{
    const test_os *os = user;
    return os->real->clock_ns(os->real->user);
}

void test_os_init(test_os *os)
{
    *os = (test_os){.real = weft__os_default()};
    os->table = (weft_os){
        .user = os,
        .map = map,
        .unmap = unmap,
        .discard = discard,
        .thread_start = thread_start,
        .thread_join = thread_join,
        .futex_wait = futex_wait,
        .futex_wake = futex_wake,
        .clock_ns = clock_ns,
    };
}

void test_os_fail_map(test_os *os, uint64_t at)
{
    at_store_rlx(&os->x_fail_map_at, at); /* rlx: a counter, publishes nothing */
}

void test_os_fail_thread(test_os *os, uint64_t at)
{
    at_store_rlx(&os->x_fail_thread_at, at); /* rlx: a counter, publishes nothing */
}
