/* SPDX-License-Identifier: MIT */
/* ticks.c: finds the rate of the time-stamp counter by comparing it with the clock of the OS seam
 * over a short while. A clock that does not behave (goes backwards, absurd rate) falls back to the
 * seam's clock, which is slower but always right. */
#include "ticks.h"

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

void weft__ticks_init(weft__ticks *ticks, const weft_os *os, uint32_t calibration_ns)
{
    *ticks = (weft__ticks){.os = os};
    use_seam_clock(ticks);
    (void)calibration_ns;
#if WEFT__TICKS_TSC
    /* A replaced clock is virtual time: the counter of the processor would contradict it. */
    if (os->clock_ns != weft__os_default()->clock_ns) return;
    uint64_t begin_ns = clock_ns(os), begin = __builtin_ia32_rdtsc(), now_ns = begin_ns;
    while (now_ns - begin_ns < calibration_ns) now_ns = clock_ns(os);
    uint64_t passed = __builtin_ia32_rdtsc() - begin;
    uint64_t rate = passed == 0 ? 0 : ((now_ns - begin_ns) << 32) / passed;
    bool is_sane = rate > (UINT64_C(1) << 28) && rate < (UINT64_C(1) << 36); /* 62 MHz..16 GHz */
    if (!is_sane) return;
    ticks->is_tsc = true;
    ticks->ns_per_tick = rate;
    ticks->origin_ticks = begin;
    ticks->origin_ns = begin_ns;
#endif
}
