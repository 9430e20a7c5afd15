/* SPDX-License-Identifier: MIT */
/* running.h: which system a thread runs, where a profiler finds it: beside the call, on the stack.
 *
 * A sample of perf with a copy of the stack (--call-graph dwarf) holds every marker below the
 * sampled function, whatever the host was compiled with: no frame pointers and no unwinding. The
 * innermost is the system. A marker is recognised by its first word, which depends on its own
 * address, and is taken back before the frame goes away, so that memory of dead frames holds none.
 * A debugger finds it as well. What tools/weft-perf makes of it: docs/guide/profiling.md.
 * Cost: three stores a call, one per further system of a sweep. Threads: its own stack. */
#pragma once

#include <stdint.h>

#define WEFT__RUNNING_MAGIC UINT64_C(0x5745465453595354) /* tools/weft-perf knows it */

/* Owner: the frame that calls the system; read by profilers only, from copies of the stack.
 *   magic == WEFT__RUNNING_MAGIC ^ its own address, or 0: ended */
typedef struct weft__running {
    uint64_t magic;
    const char *name; /* of the system: its address tells it from others of the same name */
} weft__running;

/* The compiler keeps stores that nothing in the program reads. */
static inline __attribute__((always_inline)) void weft__running_show(const weft__running *running)
{
    __asm__("" : : "m"(*running)); /* without outputs it stays where it is */
}

static inline void weft__running_begin(weft__running *running, const char *name)
{
    running->name = name;
    running->magic = WEFT__RUNNING_MAGIC ^ (uint64_t)(uintptr_t)running;
    weft__running_show(running);
}

/* Another system from here on. */
static inline void weft__running_change(weft__running *running, const char *name)
{
    running->name = name;
    weft__running_show(running);
}

static inline void weft__running_end(weft__running *running)
{
    running->magic = 0;
    weft__running_show(running);
}
