/* SPDX-License-Identifier: MIT */
/* cpus.h: how many workers this process may usefully have, and pinning. Reads the affinity mask and
 * the CPU quota of the control group (versions 1 and 2); every file may be missing. Stateless. */
#pragma once

#include <stdint.h>

#ifndef WEFT__WORKERS_MAX
#define WEFT__WORKERS_MAX 256u
#endif

/* CPUs of the affinity mask, at most the quota rounded down, at most WEFT__WORKERS_MAX, at least
 * 1. */
uint32_t weft__cpus_usable(void);
/* Quota of the control group in whole CPUs, rounded down but at least 1; 0: no limit. `root` is put
 * before /proc and /sys (tests), "" for the real ones. */
uint32_t weft__cpus_quota(const char *root);
/* The CPU the calling thread runs on at this moment. */
uint32_t weft__cpus_current(void);
/* Binds the calling thread to the `index`-th CPU of its mask (modulo their number). */
void weft__cpus_pin_self(uint32_t index);
