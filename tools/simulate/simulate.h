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

enum { SIM_TITLE_BYTES = 132 };

/* A whole recording. Made by the reader, constant while simulated. Frame f consists of the stages
 * [frame_first[f], frame_first[f + 1]). */
typedef struct sim_costs {
    sim_item *items;
    sim_stage *stages;
    uint32_t *frame_first; /* [frame_count + 1] */
    uint32_t item_count, item_room;
    uint32_t stage_count, stage_room;
    uint32_t frame_count, frame_room;
    uint32_t number_end;             /* stage numbers are below */
    char (*titles)[SIM_TITLE_BYTES]; /* [title_room] of stage numbers; "": none */
    uint32_t title_room;
    uint64_t lost;    /* events missing in the recording */
    uint32_t workers; /* of the recording */
} sim_costs;

/* Reads a .slices file; NULL, or what is wrong with it (line number in *line). */
const char *sim_costs_read(FILE *file, sim_costs *out, uint32_t *line);
/* One stage of `count` items of `ns` nanoseconds and `bytes` bytes, `frames` times. */
bool sim_costs_make(sim_costs *out, uint32_t frames, uint32_t count, uint32_t ns, uint32_t bytes);
void sim_costs_free(sim_costs *costs);
/* The systems of a stage, or "". */
const char *sim_costs_title(const sim_costs *costs, uint32_t number);
/* Work of all frames, and the shortest time any number of workers could need. */
uint64_t sim_costs_work(const sim_costs *costs);
uint64_t sim_costs_span(const sim_costs *costs);

/* ---- what a recording is worth (simulate_worth.c) */

/* A cost that the machine disturbed: much longer than the same slice in the other frames. */
typedef struct sim_outlier {
    uint32_t frame, number, index; /* of a slice; UINT32_MAX: the owner's time before the stage */
    uint32_t recording;            /* of several, from 0 */
    uint64_t ns, usual_ns;
} sim_outlier;

enum { SIM_OUTLIERS_SHOWN = 3 };

typedef struct sim_worth {
    uint64_t outlier_count, excess_ns;     /* above what is usual */
    sim_outlier worst[SIM_OUTLIERS_SHOWN]; /* by excess */
    uint32_t worst_count;
} sim_worth;

/* Takes the least of each cost of two recordings of the same run, and counts those of both that
 * were much longer than the other. NULL, or why they are not the same run. */
const char *sim_costs_least(sim_costs *costs, const sim_costs *other, uint32_t recording,
                            sim_worth *worth);
/* Counts the costs that are far above the median over all frames of the same slice. False: out of
 * memory. */
bool sim_costs_judge(const sim_costs *costs, sim_worth *worth);

/* ---- machine (simulate_machine.c) */

/* Nanoseconds; bandwidth in bytes per microsecond (= MB/s), 0: unlimited. */
typedef struct sim_machine {
    double hit_ns, rmw_ns, transfer_ns, pause_ns, clock_ns;
    double wake_call_ns, wake_ns, syscall_ns;
    double spin_ns, frame_spin_ns; /* how long a worker looks for work; 0: twice wake_ns */
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
    uint64_t *stage_ps; /* [costs->number_end] of all frames, without the time of the owner
                                     before; the caller's, or NULL: not asked for */
} sim_result;

/* Runs all frames once after a warm-up; `out` has `workers` and `stage_ps`. `progress` is told how
 * many frames are done of how many. WEFT_OK or why the pool could not be made. */
weft_result sim_run(const sim_costs *costs, const sim_machine *machine,
                    void (*progress)(void *user, uint32_t done, uint32_t count), void *user,
                    sim_result *out);

/* ---- ranks (simulate_ranks.c) */

/* Between machines. */
typedef struct sim_network {
    double latency_ns;
    double bandwidth;  /* bytes per microsecond (= MB/s) of one rank; 0: unlimited */
    double reach;      /* how far systems look: part of the side of the recorded world */
    double imbalance;  /* the slowest rank's work above the mean: 0.15 is 15 % */
    double halo_bytes; /* of all rows of the recorded world, each step */
    bool is_weak;      /* each rank has a world as the recorded one; else they share it */
} sim_network;

typedef struct sim_rank_result {
    uint32_t ranks;
    double frame_ns, speedup;
    double border;      /* part of a rank's rows that others see */
    double exchange_ns; /* of ghosts, if nothing hid it */
    double hidden;      /* part of it behind interior work */
} sim_rank_result;

/* `frame_ns`: of the recorded world on one rank with its workers. */
void sim_ranks(const sim_network *network, double frame_ns, uint32_t ranks, sim_rank_result *out);
/* Bytes that the stage which touches most touches in a frame: all rows, once. */
double sim_costs_widest(const sim_costs *costs);

/* ---- limits (simulate_limits.c) */

/* What keeps a stage from going faster with more workers. */
typedef enum sim_limit {
    SIM_LIMIT_NONE,    /* it takes at most a quarter more than a part of the work per worker */
    SIM_LIMIT_OWNER,   /* the owner alone: sync points, its own systems, the schedule */
    SIM_LIMIT_SLICE,   /* its longest slice */
    SIM_LIMIT_COUNT,   /* fewer slices than go evenly into the workers */
    SIM_LIMIT_SMALL,   /* it runs on the owner: sharing would cost more */
    SIM_LIMIT_SHARING, /* waking, joining, stealing, the memory bus */
} sim_limit;

/* A stage over all frames; us are means per frame. */
typedef struct sim_stage_limit {
    uint32_t number;
    bool is_owner;   /* the time before all stages, and behind the last */
    double work_us;  /* on one worker */
    double frame_us; /* on the simulated machine */
    double slices, longest_us;
    sim_limit limit;
} sim_stage_limit;

/* Rows by frame_us, the largest first; the caller frees them. `stage_ps` of a run with `workers`.
 * NULL: out of memory. */
sim_stage_limit *sim_limits_make(const sim_costs *costs, const sim_result *result, uint32_t *count);
const char *sim_limit_text(sim_limit limit);

#endif
