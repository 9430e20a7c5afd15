/* SPDX-License-Identifier: MIT */
/* simulate.h: larger machines simulated: the job system itself, compiled with hooked atomics, runs
 * a recorded frame on up to 256 virtual workers.
 *
 * Each virtual worker is a fibre with a clock. Every atomic operation, clock read and futex call of
 * the job system advances the clock of the worker that made it by what it would cost, and the
 * worker with the smallest clock always goes next: a conservative discrete-event simulation, the
 * same for every run. Bodies of jobs advance the clock by their recorded cost. What is modelled and
 * what is not: docs/design/simulation.md. */
#ifndef WEFT_SIMULATE_H
#define WEFT_SIMULATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/jobs.h>

/* ---- costs: what a recording says (simulate_costs.c) */

typedef struct sim_item {
    uint32_t ns;
    uint32_t bytes;
} sim_item;

/* The owner alone for `serial_ns`, then a stage. Owner: sim_costs. */
typedef struct sim_stage {
    uint64_t serial_ns;
    uint32_t number; /* in the schedule: stages of the same number share their prediction */
    uint32_t first;  /* items [first, first + count) */
    uint32_t count;  /* 0: only serial time (the end of a frame) */
} sim_stage;

/* A whole recording. Made by the reader, constant while simulated. Frame f consists of the stages
 * [frame_first[f], frame_first[f + 1]). */
typedef struct sim_costs {
    sim_item *items;
    sim_stage *stages;
    uint32_t *frame_first; /* [frame_count + 1] */
    uint32_t item_count, item_room;
    uint32_t stage_count, stage_room;
    uint32_t frame_count, frame_room;
    uint32_t number_end; /* stage numbers are below */
    uint64_t lost;       /* events missing in the recording */
    uint32_t workers;    /* of the recording */
} sim_costs;

/* Reads a .slices file; NULL, or what is wrong with it (line number in *line). */
const char *sim_costs_read(FILE *file, sim_costs *out, uint32_t *line);
/* One stage of `count` items of `ns` nanoseconds and `bytes` bytes, `frames` times. */
bool sim_costs_make(sim_costs *out, uint32_t frames, uint32_t count, uint32_t ns, uint32_t bytes);
void sim_costs_free(sim_costs *costs);
/* Work of all frames, and the shortest time any number of workers could need. */
uint64_t sim_costs_work(const sim_costs *costs);
uint64_t sim_costs_span(const sim_costs *costs);

/* ---- machine (simulate_machine.c) */

/* Nanoseconds; bandwidth in bytes per microsecond (= MB/s), 0: unlimited. */
typedef struct sim_machine {
    double hit_ns, rmw_ns, transfer_ns, pause_ns, clock_ns;
    double wake_call_ns, wake_ns, syscall_ns;
    double bandwidth;
} sim_machine;

extern const sim_machine sim_machine_default;

/* Begins with one worker, the caller, at time 0. */
void sim_begin(const sim_machine *machine);
/* The clock of the running worker, in picoseconds. */
uint64_t sim_now_ps(void);
/* The running worker computes: `ns` alone, longer when the memory bus is full. */
void sim_work(uint32_t ns, uint32_t bytes);
uint64_t sim_operations(void); /* hooked operations so far */
const weft_os *sim_os(void);

/* ---- runs (simulate_run.c) */

typedef struct sim_result {
    uint32_t workers;
    double frame_ns; /* mean */
    double speedup;  /* against the simulated frame on one worker; set by the caller */
    double utilisation;
    double stolen, parked, wakes; /* per frame */
} sim_result;

/* Runs all frames once after a warm-up. WEFT_OK or why the pool could not be made. */
weft_result sim_run(const sim_costs *costs, const sim_machine *machine, uint32_t workers,
                    sim_result *out);

#endif
