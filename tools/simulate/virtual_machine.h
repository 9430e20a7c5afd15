/* SPDX-License-Identifier: MIT */
/* virtual_machine.h: the state of the simulated machine, and the order of its workers: the one with
 * the smallest clock goes next. What operations cost: simulate_machine.c; threads, futexes and the
 * clock: virtual_threads.c. One machine per process, single-threaded. */
#ifndef WEFT_VIRTUAL_MACHINE_H
#define WEFT_VIRTUAL_MACHINE_H

#include "simulate.h"

#include "atomic.h"
#include "explore_fibre.h"
#include "os.h"

#define WORKERS_MAX 256u
#define LOOK_LINES 4096u

/* A cache line. `owners` is the set of workers that hold it. */
typedef struct sim_line {
    uint64_t key; /* address / 64; 0: free place */
    uint64_t busy_ps;
    uint64_t owners[WORKERS_MAX / 64];
} sim_line;

typedef enum sim_state { SIM_READY, SIM_FUTEX, SIM_JOIN, SIM_ENDED } sim_state;

/* A line that a look loads, and when. */
typedef struct sim_glance {
    const sim_line *line;
    uint64_t after_ps;
} sim_glance;

/* What a worker did since it read the clock. Owner: its worker. */
typedef struct sim_look {
    uint64_t begin_ps;
    uint64_t period_ps; /* of the look before; 0: it was another kind */
    uint64_t idle_ps;   /* when it began to find nothing */
    bool has_acted;     /* changed what others see, or worked */
    bool has_missed;    /* waited for a line, or saw too many */
    bool has_paused;
    bool is_asleep; /* its clock is ahead, at a look of its choice */
    uint32_t count;
    sim_glance glances[LOOK_LINES];
} sim_look;

/* A virtual worker. Only the running one changes others, when it wakes them. */
typedef struct sim_worker {
    explore_fibre fibre;
    uint64_t clock_ps;
    sim_state state;
    const weft_a32 *futex;
    uint64_t slept_ps; /* when it went to sleep */
    uint32_t joins;
    uint32_t place; /* in the heap, while ready and not running */
    void (*run)(void *argument);
    void *argument;
    sim_look look;
} sim_worker;

/* The machine: one per process, single-threaded. The hooks get no argument to find it by. */
typedef struct sim_virtual {
    sim_worker workers[WORKERS_MAX];
    uint32_t worker_count, current;
    uint32_t heap[WORKERS_MAX]; /* ready workers but the running one, by (clock, number) */
    uint32_t heap_count;
    uint32_t asleep_count;  /* looks with is_asleep */
    uint64_t budgets_ps[2]; /* how long a worker looks for work */
    sim_line *lines;
    uint64_t hit_ps, rmw_ps, transfer_ps, pause_ps, clock_ps, wake_call_ps, wake_ps, syscall_ps;
    double bus_ps_per_byte;
    uint64_t bus_ps; /* the memory bus is taken until then */
    uint64_t operations;
} sim_virtual;

extern sim_virtual sim_vm;

/* Ends the program: a bug of the job system or of the simulation. */
_Noreturn void sim_fail(const char *text);
/* Puts `worker` at place `i` of the heap or, by its clock, above it. */
void sim_rise(uint32_t i, uint32_t worker);
/* Lets the first of the heap go on; the running worker takes its place. */
void sim_yield(void);
/* The running worker has read the clock: simulate_machine.c. */
void sim_end_look(void);

static inline bool sim_is_before(uint32_t a, uint32_t b)
{
    uint64_t at = sim_vm.workers[a].clock_ps, bt = sim_vm.workers[b].clock_ps;
    return at < bt || (at == bt && a < b);
}

static inline sim_worker *sim_self(void)
{
    return &sim_vm.workers[sim_vm.current];
}

/* Lets all whose clock is behind go first. */
static inline void sim_settle(void)
{
    if (sim_vm.heap_count == 0 || sim_is_before(sim_vm.current, sim_vm.heap[0])) return;
    sim_yield();
}

/* The same for loads and pauses, which may be ahead by as long as a line takes from core to core:
 * what others wrote since would not have arrived. Without it workers that look for work switch at
 * every load: 64 of them take ten times as long to simulate. */
static inline void sim_settle_reader(void)
{
    if (sim_vm.heap_count == 0) return;
    uint64_t first_ps = sim_vm.workers[sim_vm.heap[0]].clock_ps;
    if (sim_vm.workers[sim_vm.current].clock_ps > first_ps + sim_vm.transfer_ps) sim_settle();
}

#endif
