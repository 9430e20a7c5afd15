/* SPDX-License-Identifier: MIT */
/* shard_clock.h: the time for figures and costs of sectors.
 *
 * Results never depend on it: costs decide where sectors are, and nothing else. */
#pragma once

#include <stdint.h>
#include <time.h>

/* Nanoseconds of the monotonic clock. Any thread. Cost: 20 ns. */
static inline uint64_t weft__shard_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
