/* SPDX-License-Identifier: MIT */
/* explore.h: the schedule explorer: runs a small concurrent program under every interleaving up
 * to a preemption bound, or under many random ones, with the atomics of the real source hooked
 * (atomic_hook.h). What it checks and what it cannot see:
 * docs/design/verification.md.
 *
 * A scenario is a function that builds its objects, starts threads, calls explore_begin(), joins
 * them, calls explore_end(), and checks. It runs from scratch for every schedule, so it must be
 * deterministic: no clock but the seam's, no rand(), no address-dependent decisions, and every
 * static variable it uses is set at its start. Before begin and after end nothing is explored.
 *
 *     static void run(void)
 *     {
 *         at_init(&counter, 0);
 *         explore_thread(add_one, NULL);
 *         explore_thread(add_one, NULL);
 *         explore_begin();
 *         explore_join_all();
 *         explore_end();
 *         EXPLORE_CHECK(at_plain(&counter) == 2, "counter %u", at_plain(&counter));
 *     }
 *
 * One process explores one schedule at a time; all state of the explorer is static. */
#ifndef WEFT_EXPLORE_H
#define WEFT_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>

#include "os.h"

#define EXPLORE_PLANS_MAX 8

/* How loads and stores behave. */
typedef enum explore_model {
    EXPLORE_SC,  /* one memory, in order: fastest */
    EXPLORE_TSO, /* a store buffer per thread (x86-64) */
    EXPLORE_PSO, /* a store buffer per thread and address; release stores keep their place */
    EXPLORE_C11  /* orders as declared: loads may return old values, and plain accesses that no
                    release/acquire chain orders are reported as data races */
} explore_model;

typedef enum explore_strategy {
    EXPLORE_DFS,   /* every schedule with at most `bound` preemptions */
    EXPLORE_PCT,   /* random priorities, `bound` - 1 change points */
    EXPLORE_RANDOM /* random switches */
} explore_strategy;

/* One way to run a scenario. `weak` bounds, in DFS, the delayed stores (TSO, PSO) or the loads of
 * old values (C11) of one execution; random strategies ignore it unless it is 0, which means none.
 * `faults` bounds the injected faults of one execution (map fails, futex returns early). `runs` is
 * the number of schedules at which a plan stops (DFS may end before; `must_complete` demands it);
 * `deep_runs` replaces it under --deep, 0 = same. Long plans also end after a budget of processor
 * time (--budget). */
typedef struct explore_plan {
    explore_model model;
    explore_strategy strategy;
    uint32_t bound, weak, faults;
    uint64_t runs, deep_runs;
    bool must_complete, only_deep;
} explore_plan;

typedef struct explore_scenario {
    const char *name;
    void (*run)(void);
    explore_plan plans[EXPLORE_PLANS_MAX]; /* ends at the first with runs == 0 */
    const char *must_fail; /* self-tests: a failure with this text in it must be found */
} explore_scenario;

/* Of an explorer program, whose command line explore_main.c is; a NULL name ends them. */
extern const explore_scenario explore_scenarios[];

/* ---- inside a scenario ---- */

/* Starts a thread; it runs when the caller blocks, or at once when explored. Returns its index.
 * The number of threads at a time is at most 9 besides the scenario's own. */
uint32_t explore_thread(void (*run)(void *argument), void *argument);
/* Waits for one thread, or all that were started by explore_thread. */
void explore_join(uint32_t thread);
void explore_join_all(void);
/* From here on / up to here every interleaving counts. */
void explore_begin(void);
void explore_end(void);
/* The running thread's index: 0 is the scenario's own. */
uint32_t explore_self(void);
/* Under C11: a load may be older than an operation that has ended, so histories of operations that
 * are not sequentially consistent have no order in real time to respect. */
bool explore_is_weak(void);
/* A choice of the test itself: a value below `count`, every one of them explored. */
uint32_t explore_choose(uint32_t count);

/* The operating system of the explorer: mappings, threads, futexes and a clock (1 us a reading). */
const weft_os *explore_os(void);
/* The memory hook: never reuses an address within an execution, so that a use after release is
 * found, and demands that everything is released at the end. Fails by choice if a plan allows
 * faults. */
const weft_allocator *explore_allocator(void);
/* Memory from the same arena without fault injection, zeroed, released with the execution. */
void *explore_scratch(size_t bytes, size_t alignment);

/* Atomics in this range are no scheduling points: for statistics that nothing depends on. At
 * most 16 ranges, until the end of the execution. */
void explore_ignore(const void *address, size_t bytes);

/* Ends the execution as a failure and prints what replays it. */
_Noreturn void explore_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define EXPLORE_CHECK(condition, ...) ((condition) ? (void)0 : explore_fail(__VA_ARGS__))

/* ---- linearisability of histories (explore_history.c) ---- */

#define EXPLORE_HISTORY_MAX 24
#define EXPLORE_STATE_MAX 256

typedef struct explore_operation {
    uint32_t kind;
    uint64_t argument, result;
    uint64_t begin, end; /* logical times; end 0 = still running */
    uint32_t thread;
} explore_operation;

typedef struct explore_history {
    uint32_t count;
    uint64_t clock;
    explore_operation operations[EXPLORE_HISTORY_MAX];
} explore_history;

/* Applies an operation to the state; false if its result is impossible there. */
typedef bool (*explore_apply_fn)(void *state, const explore_operation *operation);

void explore_history_init(explore_history *history);
/* Notes the start (returns its index) and the end of an operation. */
uint32_t explore_history_begin(explore_history *history, uint32_t kind, uint64_t argument);
void explore_history_end(explore_history *history, uint32_t index, uint64_t result);
/* Whether some order that respects real time explains all results (Wing and Gong, with the memo of
 * Lowe). `initial` is `bytes` long, at most EXPLORE_STATE_MAX. */
bool explore_history_is_linearisable(const explore_history *history, explore_apply_fn apply,
                                     const void *initial, size_t bytes);

#endif
