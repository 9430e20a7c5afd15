/* SPDX-License-Identifier: MIT */
/* counters_state.h: what is counted: a group of events per worker, sums per system and worker.
 *
 * The ladder, tried from the top, with the reason kept for the report:
 *   hardware   cycles, instructions, cache and branch misses; read from registers (rdpmc, no system
 *              call) where the kernel allows it, else with the software events by one read()
 *   software   processor time, page faults, context switches, migrations
 *   none       refused, or out of descriptors
 * Each rung is tried with the kernel's share first, then without; what one may not see then, or
 * what the machine does not have, is missing, never 0.
 *
 *   who            its group, its counts      other groups, tracks
 *   worker w       reads and writes           never
 *   owner          reads, world at rest       the same */
#ifndef WEFT_COUNTERS_STATE_H
#define WEFT_COUNTERS_STATE_H

#include <weft/schedule.h>

#include "os_perf.h"

typedef enum weft__rung {
    WEFT__RUNG_UNTRIED, /* the worker has run nothing */
    WEFT__RUNG_NONE,
    WEFT__RUNG_SOFTWARE,
    WEFT__RUNG_HARDWARE
} weft__rung;

/* What a group shows at one moment, or the difference of two. A value. */
typedef struct weft__sample {
    uint64_t enabled_ns, running_ns; /* running < enabled: it took turns with other users */
    uint64_t values[WEFT_COUNTER_COUNT];
} weft__sample;

/* The sum of a system on one worker. Owner: weft__counters; written by its worker only. */
typedef struct weft__counts {
    _Alignas(64) uint32_t system; /* handle it counts for; another one: it starts from 0 */
    uint64_t calls;
    weft__sample sum;
} weft__counts;

/* The counters of one worker. Owner: its thread. */
typedef struct weft__counter_group {
    _Alignas(64) uintptr_t thread; /* that opened them; 0: none yet */
    weft__rung rung;
    bool has_registers;
    bool is_user_only;
    uint32_t count; /* open events; event i belongs to column columns[i], event 0 leads */
    uint32_t columns[WEFT_COUNTER_COUNT];
    int descriptors[WEFT_COUNTER_COUNT];
    const void *pages[WEFT_COUNTER_COUNT]; /* mapped; NULL: none */
    uint32_t available;                    /* bit set of weft_counter */
    int hardware_error;                    /* why it is not the hardware rung; 0: it is */
    int error;                             /* why the rung is none; 0: it is not */
    weft__sample last;
} weft__counter_group;

/* A system's lines in a trace. Owner: the scheduler. */
typedef struct weft__counter_track {
    uint32_t system; /* handle; names are made for it */
    uint64_t before[WEFT_COUNTER_COUNT];
    char names[WEFT_COUNTER_COUNT][96];
} weft__counter_track;

/* Owner: the scheduler. */
typedef struct weft__counters {
    const weft__os_perf *perf;   /* constant */
    bool is_software_only;       /* constant */
    uint32_t worker_count;       /* constant */
    uint32_t capacity;           /* systems there is room for */
    weft__counts *counts;        /* [worker][capacity] by slot of the system */
    weft__counter_track *tracks; /* [capacity] */
    weft__counter_group groups[];
} weft__counters;

static inline weft__counts *weft__counts_of(const weft__counters *counters, uint32_t worker,
                                            uint32_t slot)
{
    return &counters->counts[(size_t)worker * counters->capacity + slot];
}

#endif
