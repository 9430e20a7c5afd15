/* SPDX-License-Identifier: MIT */
/* explore_engine.h: private state of the explorer, shared by its files.
 *
 * Everything runs on fibres of one OS thread: exactly one is running, and it calls into the engine
 * before each visible operation. `engine.threads[0]` is the scenario's own thread; the host (the
 * loop over schedules) has a fibre of its own. All fields are reset for every execution but those
 * marked "run". */
#ifndef WEFT_EXPLORE_ENGINE_H
#define WEFT_EXPLORE_ENGINE_H

#include "explore.h"
#include "explore_fibre.h"

#define ENGINE_THREADS 10 /* at most HOOK_THREADS */
#define ENGINE_CHOICES 65536
#define ENGINE_BUFFER 6
#define ENGINE_IDLE_ROUNDS 300
#define ENGINE_UNBOUNDED UINT32_MAX

typedef enum engine_state {
    ENGINE_FREE,
    ENGINE_READY,
    ENGINE_STALLED, /* in at_stall: until another thread writes */
    ENGINE_FUTEX,   /* in futex_wait on `futex` */
    ENGINE_JOINING, /* until `target` is done */
    ENGINE_DONE
} engine_state;

/* A store that other threads do not see yet (TSO, PSO). */
typedef struct engine_pending {
    void *address;
    uint64_t value;
    uint32_t width;
    bool is_release;
} engine_pending;

typedef struct engine_thread {
    explore_fibre fibre;
    engine_state state;
    void (*run)(void *argument);
    void *argument;
    const void *futex;
    uint32_t target;
    uint64_t own_writes, stall_seen; /* writes of all minus own, at the last stall */
    uint64_t priority;               /* PCT: larger runs first */
    uint32_t pending_count;
    engine_pending pending[ENGINE_BUFFER];
    const char *site;    /* last operation */
    bool is_body;        /* started by explore_thread */
    uint32_t impatience; /* random strategies: spins that it ends at once */
} engine_thread;

typedef struct engine_choice {
    uint16_t chosen, count;
} engine_choice;

/* A site that has executed, with what weakening it means. */
typedef struct engine_site {
    const char *name;
    uint64_t hits;
    uint64_t scenarios; /* bit per scenario of the program that executes it */
    uint8_t order, is_rmw;
} engine_site;

typedef struct engine_globals {
    /* run: what is explored and how */
    const explore_scenario *scenario;
    explore_model model;
    explore_strategy strategy;
    uint32_t bound, weak, faults;
    bool is_replay, is_tracing, is_collecting;
    uint64_t trace_from; /* first step to print */
    uint32_t scenario_index;
    const char *mutant_site;
    uint32_t mutant_order;
    uint64_t random, seed;
    double budget_seconds; /* of processor time, for each long plan */
    uint64_t runs, steps_max, steps_sum;
    explore_fibre host;
    /* choice stack: the first `prefix` entries are imposed */
    engine_choice choices[ENGINE_CHOICES];
    uint32_t prefix, depth;
    /* one execution */
    engine_thread threads[ENGINE_THREADS];
    uint32_t thread_count, current;
    bool is_quiet, is_failed, is_over;
    char message[512];
    uint32_t preemptions_left, weak_left, faults_left;
    uint64_t steps, quiet_steps, writes, clock_ns, yield_priority;
    uint32_t idle_rounds, switch_shift;
    uint64_t change_points[16];
    uint64_t live_bytes;
    struct {
        const char *begin, *end;
    } ignored[16];
    uint32_t ignored_count;
} engine_globals;

extern engine_globals engine;

/* ---- explore_schedule.c: who runs ---- */
void engine_reset(void);
/* Before a visible operation of the running thread: may switch to others first. */
void engine_point(const char *site);
/* The running thread cannot go on: sets its state and runs others until it is ready again. */
void engine_block(engine_state state);
/* After a write of `thread` became visible: stalled threads may try again. */
void engine_wrote(uint32_t thread);
uint32_t engine_thread_create(void (*run)(void *argument), void *argument);
void engine_join(uint32_t thread);
_Noreturn void engine_leave(void);
_Noreturn void engine_fail_text(void);

/* ---- explore_choice.c: choices, strategies, tokens ---- */
uint64_t engine_random(void);
/* One of `count` alternatives, 0 the default. `budget` NULL = free, else any but 0 costs one.
 * Random strategies take `suggestion`. */
uint32_t engine_choose(uint32_t count, uint32_t *budget, uint32_t suggestion);
/* True with the given odds in random strategies. */
bool engine_odds(uint32_t one_in);
void engine_choices_start(void);
/* Moves to the next schedule of the DFS; false when all are done. */
bool engine_choices_next(void);
void engine_token_print(char *text, size_t bytes);
/* Sets scenario options and the choice prefix; returns the name's length, 0 when malformed. */
size_t engine_token_parse(const char *token);

/* ---- explore_memory.c: what loads and stores do ---- */
void engine_memory_reset(void);
/* Makes all pending stores of a thread visible (futex calls, joins, locked operations). */
void engine_drain(uint32_t thread);
/* A plain access of the running thread: its own stores to the same place come first. */
void engine_meet(const void *p, uint32_t bytes);
/* The running thread is about to stop running: which of its stores stay pending? */
void engine_hold(uint32_t thread);
/* Makes the oldest pending store of some thread visible; false when there is none. */
bool engine_flush_one(uint32_t thread);
uint64_t engine_memory_latest(const void *address, uint32_t width);
void engine_memory_inherit(uint32_t child, uint32_t parent);
void engine_memory_join(uint32_t parent, uint32_t child);
/* In at_stall: old values do not last for ever. True when something newer has become visible. */
bool engine_memory_refresh(uint32_t thread);
extern const char *const engine_order_names[];
extern const char *const engine_model_names[];

/* ---- explore_sites.c: the sites seen, for order mutants ---- */
void engine_site_note(const char *site, uint32_t order, uint32_t is_rmw);
uint32_t engine_sites(const engine_site **out);
bool engine_site_is(const char *site, const char *wanted);

/* ---- explore_race.c: data races, arena, use after release ---- */
typedef enum engine_access {
    ENGINE_READ,
    ENGINE_WRITE,
    ENGINE_ATOMIC_READ,
    ENGINE_ATOMIC_WRITE
} engine_access;
void engine_race_reset(void);
void engine_race_check(const void *address, uint32_t bytes, engine_access access);
/* The happens-before clock of the running thread (explore_memory.c). */
const uint32_t *engine_clock(uint32_t thread);
void engine_clock_tick(uint32_t thread);
/* Address space of which little is touched, outside the arena: mappings of so many bytes or more.
 * What is released is unmapped. */
#define ENGINE_RESERVE_BYTES ((size_t)32 << 20)
void *engine_reserve_take(size_t bytes);
void engine_reserve_give(void *memory, size_t bytes);
void *engine_arena_take(size_t bytes, size_t alignment);
void engine_arena_give(void *memory, size_t bytes);
void engine_arena_reset(void);
void engine_arena_check(const void *address, const char *site);

/* ---- explore_seam.c ---- */
void engine_trace(const char *site, const void *address, const char *what, uint64_t value);

/* ---- explore_plan.c: runs scenarios ---- */
typedef struct engine_verdict {
    bool is_failed, is_complete;
    uint64_t runs;
    double seconds;
    char message[512], token[4096];
} engine_verdict;
/* Runs one plan until it fails, completes or has made its runs. */
void engine_run_plan(const explore_scenario *scenario, const explore_plan *plan, bool is_deep,
                     engine_verdict *verdict);
/* Replays a token with a trace of its last steps. */
void engine_replay(const explore_scenario *scenario, const char *token, uint64_t trace_steps);
extern const char *const engine_strategy_names[];

/* ---- explore_mutants.c: weakens each ordered site in turn ---- */
/* `program` names its entries in the list of allowed survivors. */
int engine_mutants(const explore_scenario *scenarios, const char *program, const char *allowed_path,
                   bool is_deep);

#endif
