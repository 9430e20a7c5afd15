/* SPDX-License-Identifier: MIT */
/* ticks.h: the cheap clock of the job system: the time-stamp counter where it is usable (9 ns here,
 * clock_gettime 24 ns), the clock of the OS seam otherwise (explorer, simulator, other processors).
 *
 * A tick has no unit of its own: everything in the job system is kept in ticks and converted at the
 * edges. Owned by the pool; constant after create; read by any thread. */
#pragma once

#include "os.h"

#if defined(__x86_64__) && !defined(WEFT_ATOMICS_HOOKED)
#define WEFT__TICKS_TSC 1
#else
#define WEFT__TICKS_TSC 0
#endif

/* Owner: the pool. Constant after init. */
typedef struct weft__ticks {
    const weft_os *os;
    bool is_tsc;           /* else ticks are nanoseconds of os->clock_ns */
    uint64_t ns_per_tick;  /* fixed point, 32 fraction bits */
    uint64_t origin_ticks; /* the two clocks read together */
    uint64_t origin_ns;
} weft__ticks;

/* Finds the tick rate; takes `calibration_ns` when the counter is usable, unless it was measured
 * from as long a while before in this process. The rate may be wrong by two reads of the clock
 * (50 ns) in that time. */
void weft__ticks_init(weft__ticks *ticks, const weft_os *os, uint32_t calibration_ns);

static inline uint64_t weft__ticks_now(const weft__ticks *ticks)
{
#if WEFT__TICKS_TSC
    if (__builtin_expect(ticks->is_tsc, 1)) return __builtin_ia32_rdtsc();
#endif
    return ticks->os->clock_ns(ticks->os->user);
}

__extension__ typedef unsigned __int128 weft__ticks_wide;

/* Duration in nanoseconds. */
static inline uint64_t weft__ticks_to_ns(const weft__ticks *ticks, uint64_t duration)
{
    return (uint64_t)(((weft__ticks_wide)duration * ticks->ns_per_tick) >> 32);
}

/* Duration in ticks. */
static inline uint64_t weft__ticks_from_ns(const weft__ticks *ticks, uint64_t ns)
{
    return (uint64_t)(((weft__ticks_wide)ns << 32) / ticks->ns_per_tick);
}

/* A moment on the clock of the OS seam. */
static inline uint64_t weft__ticks_moment_ns(const weft__ticks *ticks, uint64_t moment)
{
    return ticks->origin_ns + weft__ticks_to_ns(ticks, moment - ticks->origin_ticks);
}
