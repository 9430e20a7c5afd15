/* SPDX-License-Identifier: MIT */
/* ticks.c: finds the rate of the time-stamp counter by comparing it with the clock of the OS seam
 * over a short while. A clock that does not behave (goes backwards, absurd rate) falls back to the
 * seam's clock, which is slower but always right. */
#include "ticks.h"

#include <pthread.h>

static uint64_t clock_ns(const weft_os *os)
{
    return os->clock_ns(os->user);
}

static void use_seam_clock(weft__ticks *ticks)
{
    ticks->is_tsc = false;
    ticks->ns_per_tick = UINT64_C(1) << 32;
    ticks->origin_ns = ticks->origin_ticks = clock_ns(ticks->os);
}

#if WEFT__TICKS_TSC
/* Both clocks at one time. */
typedef struct moment {
    uint64_t ns, ticks;
} moment;

/* The counter is read on both sides of the clock: of a few tries the one that took least, so that a
 * thread that loses its processor in between gets no wrong rate. */
static moment moment_read(const weft_os *os)
{
    enum { TRIES = 4 };
    moment best = {0};
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < TRIES; i++) {
        const uint64_t before = __builtin_ia32_rdtsc(), ns = clock_ns(os);
        const uint64_t took = __builtin_ia32_rdtsc() - before;
        if (took >= least) continue;
        least = took;
        best = (moment){ns, before + took / 2};
    }
    return best;
}

/* Ticks to nanoseconds, 32 fraction bits; 0: absurd. */
static uint64_t rate_measure(const weft_os *os, uint32_t calibration_ns)
{
    const moment begin = moment_read(os);
    while (clock_ns(os) - begin.ns < calibration_ns) continue;
    const moment end = moment_read(os);
    const uint64_t passed = end.ticks - begin.ticks;
    const uint64_t rate = passed == 0 ? 0 : ((end.ns - begin.ns) << 32) / passed;
    bool is_sane = rate > (UINT64_C(1) << 28) && rate < (UINT64_C(1) << 36); /* 62 MHz..16 GHz */
    return is_sane ? rate : 0;
}

/* The rate is that of the machine: it is measured once in the process, and again for who wants it
 * from a longer while. Who finds the lock taken, or was forked while it was, measures alone. */
static uint64_t rate_of(const weft_os *os, uint32_t calibration_ns)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t known;
    static uint32_t known_from_ns;
    if (pthread_mutex_trylock(&lock) != 0) return rate_measure(os, calibration_ns);
    if (known_from_ns < calibration_ns) {
        known = rate_measure(os, calibration_ns);
        known_from_ns = calibration_ns;
    }
    const uint64_t rate = known;
    pthread_mutex_unlock(&lock);
    return rate;
}
#endif

void weft__ticks_init(weft__ticks *ticks, const weft_os *os, uint32_t calibration_ns)
{
    *ticks = (weft__ticks){.os = os};
    use_seam_clock(ticks);
    (void)calibration_ns;
#if WEFT__TICKS_TSC
    /* A replaced clock is virtual time: the counter of the processor would contradict it. */
    if (os->clock_ns != weft__os_default()->clock_ns) return;
    const uint64_t rate = rate_of(os, calibration_ns);
    if (rate == 0) return;
    const moment begin = moment_read(os);
    ticks->is_tsc = true;
    ticks->ns_per_tick = rate;
    ticks->origin_ticks = begin.ticks;
    ticks->origin_ns = begin.ns;
#endif
}
