/* SPDX-License-Identifier: MIT */
/* stress_host.h: hosts of `weft stress threads` (stress_threads.c), the worlds that they hand to
 * each other, and the model of each world. */
#ifndef WEFT_TOOLS_STRESS_HOST_H
#define WEFT_TOOLS_STRESS_HOST_H

#include "stress.h"

#include <weft/weft.h>

#include <weft/finder.h>
#include <weft/grid.h>

#include <pthread.h>

#include "atomic.h"

enum { HOSTS = 4, PHASES = 3, ACTIONS = 10, ROWS = 700, ROWS_MOST = 8 * ROWS, JOBS = 24 };
enum { FIXED = 1000, ITEMS = 3000, HANG_SECONDS = 120 };
enum { MADE = 24, CELLS = 300, POINTS = 500 };

/* What a world should hold: values in no order. Owner: that of its world. */
typedef struct numbers {
    uint32_t at[ROWS_MOST];
    uint32_t count;
} numbers;

/* A world of the round. Owner: one host in each phase; recorders[h] and recorded[h]: host h. */
typedef struct place {
    weft_world *world;
    weft_component value;
    weft_component mark, lit, group, list; /* a tag, ENABLEABLE, SHARED, BUFFER: by commands only */
    weft_archetype archetype;
    weft_component notes; /* a resource with a buffer */
    weft_query all, all_read, none;
    weft_world_hook hook;
    uint64_t steps, told; /* done; seen by the hook */
    uint64_t sum;         /* of the last step, by a system of the main thread */
    uint64_t scratch[4];  /* of the system with jobs */
    uint32_t found;       /* every fifth row of a chunk's slices, as the last note says */
    weft_recorder *recorders[HOSTS];
    numbers recorded[HOSTS];
    weft_archetype kinds[MADE]; /* made while others record, with `value`; below x_kinds */
    weft_a32 x_kinds;
    numbers model;
} place;

/* A job that a host injected. `ran` is written by the job, the rest by the host. */
typedef struct outside_job {
    uint32_t ran;
    bool may_be_cancelled;
    weft_job_handle handle;
} outside_job;

/* A host thread. Owner: itself; x_doing and x_last are read by others. */
typedef struct host {
    struct host_round *round;
    uint32_t number;
    uint64_t script; /* one draw an action */
    uint64_t random; /* what an action draws from */
    uint32_t phase;
    place *owned;    /* in this phase */
    place *recorded; /* whose recorder it holds */
    outside_job jobs[JOBS];
    uint32_t job_count;
    uint8_t cells[CELLS]; /* of a loop that runs as a job ... */
    bool has_loop;        /* ... since it was submitted */
    uint32_t asks;        /* of a lent thread */
    weft_aptr x_doing;    /* name of its action */
    weft_a64 x_went;      /* actions so far */
    weft_a64 x_last;      /* handle of its last job, for the owner of the pool */
    pthread_t thread;
} host;

/* One round. Owner: its first host, the thread of the runner; constant but for x_. */
typedef struct host_round {
    weft_stress *stress;
    weft_job_pool *pool;
    weft_blob_store *blobs;
    uint32_t host_count, workers;
    bool is_host_driven, is_unordered; /* recorders' rows get ids at once: no snapshots then */
    place places[HOSTS];
    host hosts[HOSTS];
    /* the world that readers look at: no structural change */
    place fixed;
    weft_component tag, shared;
    weft_finder finder;
    weft_system fixed_system;
    weft_entity living[FIXED], dead[4];
    struct against *against; /* NULL: not checked */
    weft_grid *grid;         /* of POINTS points, built before the hosts begin */
    pthread_barrier_t barrier;
    weft_a32 x_waiting; /* hosts at the end of the phase: lent threads come back */
    /* the watchdog */
    pthread_mutex_t lock;
    pthread_cond_t ends;
    bool is_over;
} host_round;

#define EXPECT(h, ...)                                                                             \
    ((__VA_ARGS__) ? (void)0                                                                       \
                   : weft_stress_error((h)->round->stress, "host %u, %s: false: %s", (h)->number,  \
                                       (const char *)at_plain(&(h)->x_doing), #__VA_ARGS__))
#define EXPECT_OK(h, ...) weft_stress_expect(h, __VA_ARGS__, #__VA_ARGS__)

bool weft_stress_expect(host *h, weft_result result, const char *what);
/* A number that the host draws. */
uint32_t weft_stress_below(host *h, uint32_t bound);

/* ---- worlds and their models (stress_host.c) ---- */

void weft_stress_add(numbers *n, uint32_t value);
/* The same for the same values in any order. */
uint64_t weft_stress_sum_of(const uint32_t *values, uint64_t count);
uint64_t weft_stress_sum(const numbers *n);
/* Makes a world of `count` rows, of the values that follow from `seed`. */
void weft_stress_open(host *h, place *p, uint32_t count, uint64_t seed);
/* Gives it systems that change its rows, whose commands make and destroy some. */
bool weft_stress_systems(place *p);
/* What a step of these does to the model. */
void weft_stress_model_step(place *p);
/* The sum of what the world holds: weft_stress_sum of its model. */
uint64_t weft_stress_held(host *h, const place *p);

/* ---- what any thread may do (stress_any.c) ---- */

void weft_stress_blob(host *h);
void weft_stress_value(host *h);
void weft_stress_number(host *h);
/* The same points each time. */
bool weft_stress_grid_build(host *h, weft_grid **grid);
void weft_stress_grid(host *h);

/* ---- small worlds, and questions (stress_owner.c) ---- */

void weft_stress_scene(host *h);
void weft_stress_live(host *h);
void weft_stress_relate(host *h);
void weft_stress_ask(host *h);

/* ---- a world that is called against the rules (stress_against.c) ---- */

/* Checked builds only; others open nothing, and the actions do nothing. */
void weft_stress_against_open(host_round *r);
void weft_stress_against_close(host_round *r);
/* Hosts step the world and run loops over it as they come: who finds another in it gets BUSY. */
void weft_stress_contend(host *h);
/* While systems of that world run, calls that only its owner may make are refused. */
void weft_stress_intrude(host *h);
/* The host does not step for a while: it lends its thread, or waits for the end of the phase. */
void weft_stress_against_away(host *h, bool is_away);
/* Between phases: the world is whole, and has what the calls that were accepted did. */
void weft_stress_against_check(host *h);
/* What a pool refuses to threads that do not own it. */
void weft_stress_misuse(host *h);

#endif
