/* SPDX-License-Identifier: MIT */
/* stress_faults.c: the memory hook and the operating system of stress_faults.h.
 *
 * The counters publish nothing: each decides by its value alone, so all of them are relaxed.
 * Delays are real sleeps: the point is that all other threads go on meanwhile. Threads are never
 * refused here (a pool that cannot be made is a test of its own) and mapped memory rarely, because
 * a world maps some MiB at once.
 */
#include "stress_faults.h"

#include "stress.h"

#include <stdlib.h>
#include <time.h>

enum { REFUSE_EVERY = 64, REFUSE_MAP_EVERY = 8, DELAY_EVERY = 512, SPURIOUS_EVERY = 8 };
enum { DELAY_NS_MOST = 400000 };

static uint64_t draw(uint64_t seed, uint64_t number)
{
    uint64_t state = seed ^ number * UINT64_C(0xd1342543de82ef95);
    return weft_stress_random(&state);
}

static bool is_refused(weft_stress_faults *f, uint32_t every)
{
    if (at_load_rlx(&f->x_refuses) == 0) return false; /* rlx: changed while no thread allocates */
    const uint64_t number = at_add_rlx(&f->x_requests, 1); /* rlx: a counter */
    const uint64_t seed = at_load_rlx(&f->x_refuse_seed);  /* rlx: as x_refuses */
    if (draw(seed, number) % every != 0) return false;
    at_add_rlx(&f->x_refused, 1); /* rlx: statistics */
    return true;
}

/* Holds the calling thread up, one time in `every`. */
static void delay(weft_stress_faults *f, uint32_t every)
{
    const uint64_t number = at_add_rlx(&f->x_delays, 1); /* rlx: a counter */
    const uint64_t roll = draw(f->delay_seed, number);
    if (roll % every != 0) return;
    at_add_rlx(&f->x_delayed, 1); /* rlx: statistics */
    const struct timespec pause = {.tv_nsec = (long)((roll >> 32) % DELAY_NS_MOST)};
    nanosleep(&pause, NULL);
}

static void *allocate(void *user, size_t bytes, size_t alignment)
{
    const size_t whole = (bytes + alignment - 1) / alignment * alignment;
    if (is_refused(user, REFUSE_EVERY)) return NULL;
    return alignment <= 16 ? malloc(bytes) : aligned_alloc(alignment, whole);
}

static void release(void *user, void *memory, size_t bytes, size_t alignment)
{
    (void)user;
    (void)bytes;
    (void)alignment;
    free(memory);
}

static void *map(void *user, size_t bytes, size_t alignment)
{
    const weft_stress_faults *f = user;
    if (is_refused(user, REFUSE_MAP_EVERY)) return NULL;
    return f->real->map(f->real->user, bytes, alignment);
}

static void unmap(void *user, void *memory, size_t bytes)
{
    const weft_stress_faults *f = user;
    f->real->unmap(f->real->user, memory, bytes);
}

static void discard(void *user, void *memory, size_t bytes)
{
    const weft_stress_faults *f = user;
    f->real->discard(f->real->user, memory, bytes);
}

static weft_result thread_start(void *user, weft__os_thread *out, const char *name,
                                void (*run)(void *argument), void *argument)
{
    const weft_stress_faults *f = user;
    return f->real->thread_start(f->real->user, out, name, run, argument);
}

static void thread_join(void *user, weft__os_thread thread)
{
    const weft_stress_faults *f = user;
    f->real->thread_join(f->real->user, thread);
}

static void futex_wait(void *user, weft_a32 *word, uint32_t expected)
{
    weft_stress_faults *f = user;
    delay(f, SPURIOUS_EVERY);
    /* rlx: a counter; a refused sleeper looks again, as after any spurious wake-up */
    if (draw(f->delay_seed, at_add_rlx(&f->x_delays, 1)) % SPURIOUS_EVERY == 0) return;
    f->real->futex_wait(f->real->user, word, expected);
}

static void futex_wake(void *user, weft_a32 *word, uint32_t count)
{
    weft_stress_faults *f = user;
    delay(f, SPURIOUS_EVERY);
    f->real->futex_wake(f->real->user, word, count);
}

static uint64_t clock_ns(void *user)
{
    weft_stress_faults *f = user;
    delay(f, DELAY_EVERY);
    return f->real->clock_ns(f->real->user);
}

void weft_stress_faults_init(weft_stress_faults *faults, uint64_t seed)
{
    *faults = (weft_stress_faults){.real = weft__os_default(), .delay_seed = seed};
    faults->allocator = (weft_allocator){allocate, release, faults};
    faults->table = (weft_os){
        .user = faults,
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

void weft_stress_faults_refuse(weft_stress_faults *faults, uint64_t seed, bool is_allowed)
{
    at_store_rlx(&faults->x_refuse_seed, seed);   /* rlx: no other thread allocates */
    at_store_rlx(&faults->x_requests, 0);         /* rlx: as above */
    at_store_rlx(&faults->x_refuses, is_allowed); /* rlx: as above */
}
