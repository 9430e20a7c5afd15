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

enum { SIM_TITLE_BYTES = 132 };
#define SIM_NONE UINT32_MAX

/* ---- costs: what a recording says (simulate_costs.c) */

typedef struct sim_item {
    uint32_t ns;
    uint32_t bytes;
} sim_item;

/* The slices of a task in one frame: items [first, first + count). */
typedef struct sim_task {
    uint32_t node; /* in the list of all: graphs[].first_node + its number in the graph */
    uint32_t first, count;
} sim_task;

/* The owner alone for `serial_ns`, then a stage: items [first, first + count) as a loop, then the
 * owner_count items behind them on the owner. Its tasks have the same items, in the same order. */
typedef struct sim_stage {
    uint64_t serial_ns;
    uint32_t number; /* in the schedule: stages of the same number share their prediction */
    uint32_t first;
    uint32_t count; /* with owner_count 0: only serial time (the end of a frame) */
    uint32_t owner_count;
    uint32_t graph; /* of its segment; SIM_NONE: none */
    bool has_begun; /* with graph: an earlier stage begins the segment */
    uint32_t first_task, task_count;
} sim_stage;

/* A task of a graph. */
typedef struct sim_node {
    char title[SIM_TITLE_BYTES];
    bool on_owner;
} sim_node;

/* The graph of a segment: nodes [first_node, first_node + node_count), numbered from 0 in edges
 * [first_edge, first_edge + edge_count), which ascend by their second node. */
typedef struct sim_graph {
    uint32_t number; /* of the segment */
    uint32_t first_node, node_count;
    uint32_t first_edge, edge_count;
} sim_graph;

typedef struct sim_edge {
    uint32_t before, after; /* before < after */
} sim_edge;

/* A whole recording. Made by the reader, constant while simulated. Frame f consists of the stages
 * [frame_first[f], frame_first[f + 1]). */
typedef struct sim_costs {
    sim_item *items;
    sim_stage *stages;
    sim_task *tasks;
    sim_node *nodes;
    sim_edge *edges;
    sim_graph *graphs;     /* those that differ */
    uint32_t *frame_first; /* [frame_count + 1] */
    uint32_t item_count, item_room;
    uint32_t stage_count, stage_room;
    uint32_t task_count, task_room;
    uint32_t node_count, node_room;
    uint32_t edge_count, edge_room;
    uint32_t graph_count, graph_room;
    uint32_t frame_count, frame_room;
    uint32_t number_end;             /* stage numbers are below */
    char (*titles)[SIM_TITLE_BYTES]; /* [title_room] of stage numbers; "": none */
    uint32_t title_room;
    uint64_t lost;    /* events missing in the recording */
    uint32_t workers; /* of the recording */
    uint32_t version; /* of its format; 1 has no graphs */
} sim_costs;

/* Reads a .slices file; NULL, or what is wrong with it (line number in *line). */
const char *sim_costs_read(FILE *file, sim_costs *out, uint32_t *line);
/* One stage of `count` items of `ns` nanoseconds and `bytes` bytes, `frames` times. */
bool sim_costs_make(sim_costs *out, uint32_t frames, uint32_t count, uint32_t ns, uint32_t bytes);
void sim_costs_free(sim_costs *costs);
/* The systems of a stage, or "". */
const char *sim_costs_title(const sim_costs *costs, uint32_t number);

/* ---- bounds (simulate_bound.c) */

/* The stage after the last one of the segment of stage `first`, which has a graph. */
uint32_t sim_segment_end(const sim_costs *costs, uint32_t first);
/* The chain of tasks that takes longest if each takes as long as its longest slice, and the owner's
 * tasks follow each other. `until`: room for as many nodes as the graph has. */
uint64_t sim_segment_chain(const sim_costs *costs, uint32_t first, uint32_t end, uint64_t *until);
/* Work of all frames, and the shortest time any number of workers could need (0: no memory). */
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
void sim_work(uint64_t ns, uint32_t bytes);
uint64_t sim_operations(void); /* hooked operations so far */
const weft_os *sim_os(void);

/* The number of the running worker. */
uint32_t sim_worker_now(void);

/* ---- timeline (simulate_timeline.c) */

/* What a worker did without a break: slices of a task or stage, or the owner's own time. */
typedef struct sim_part {
    const char *title; /* of the costs */
    uint64_t begin_ps, end_ps;
    uint32_t worker, slices; /* slices 0: the owner between stages */
} sim_part;

/* The last frame of a run. Owner: who runs it. */
typedef struct sim_timeline {
    sim_part *parts;
    uint32_t count, room;
    uint64_t begin_ps;
    bool is_kept, has_failed; /* is_kept: parts are added */
} sim_timeline;

void sim_timeline_add(sim_timeline *timeline, const sim_part *part);
/* Writes it in the JSON of chrome://tracing, which Perfetto and speedscope read. */
void sim_timeline_write(const sim_timeline *timeline, uint32_t workers, FILE *file);

/* ---- runs (simulate_run.c) */

typedef struct sim_result {
    uint32_t workers;
    double frame_ns; /* mean */
    double speedup;  /* against the simulated frame on one worker; set by the caller */
    double utilisation;
    double stolen, parked, wakes; /* per frame */
    /* Of all frames; the caller's, or NULL: not asked for */
    uint64_t *stage_ps;   /* [costs->number_end] stages run one after the other, without the
                             time of the owner before */
    uint64_t *node_ps;    /* [costs->node_count] tasks of graphs, from begin to end */
    uint64_t *graph_ps;   /* [costs->graph_count] segments run as graphs */
    uint32_t *graph_runs; /* [costs->graph_count] how many */
    sim_timeline *timeline;
} sim_result;

/* Runs all frames once after a warm-up; `out` has `workers` and where to put the rest. `progress`
 * is told how many frames are done of how many. WEFT_OK or why the pool could not be made. */
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

/* What keeps a stage, a graph or a task from going faster with more workers. */
typedef enum sim_limit {
    SIM_LIMIT_NONE,    /* it takes at most a quarter more than a part of the work per worker */
    SIM_LIMIT_OWNER,   /* the owner alone: sync points, its own systems, the schedule */
    SIM_LIMIT_CHAIN,   /* its longest chain of tasks */
    SIM_LIMIT_SLICE,   /* its longest slice */
    SIM_LIMIT_COUNT,   /* fewer slices than go evenly into the workers */
    SIM_LIMIT_SMALL,   /* it runs on the owner: sharing would cost more */
    SIM_LIMIT_SHARING, /* waking, joining, stealing, the memory bus */
    SIM_LIMIT_BESIDE,  /* a task: others run beside it */
} sim_limit;

typedef enum sim_row_kind {
    SIM_ROW_STAGE,
    SIM_ROW_GRAPH,
    SIM_ROW_TASK,
    SIM_ROW_OWNER
} sim_row_kind;

/* A stage, a graph, one of its tasks, or the owner between stages, over all frames; us are means
 * per frame. */
typedef struct sim_row {
    sim_row_kind kind;
    uint32_t number;           /* of the stage; the graph or the node in the costs */
    double work_us;            /* on one worker */
    double frame_us;           /* on the simulated machine, from begin to end */
    double slices, longest_us; /* longest: slice; of a graph: chain */
    sim_limit limit;
} sim_row;

/* Rows by frame_us, the largest first, tasks behind their graph; the caller frees them. `result` of
 * a run with all times asked for. NULL: out of memory. */
sim_row *sim_limits_make(const sim_costs *costs, const sim_result *result, uint32_t *count);
const char *sim_limit_text(sim_limit limit);

#endif
