/* SPDX-License-Identifier: MIT */
/* system.h: systems: functions over the slices of queries, which declare everything they touch;
 * groups, timers and the step.
 *
 * Public. Order and parallelism follow from the declarations. Two systems conflict when an
 * archetype matches both and one writes a component that the other touches, or when their
 * lookups or resources collide. Conflicting systems run in the order of their registration,
 * unless another order is declared. Systems that touch only their own rows are fused: each slice
 * runs all of them back to back. Threads: owner, between steps, unless a function says
 * otherwise. */
#ifndef WEFT_SYSTEM_H
#define WEFT_SYSTEM_H

#include <weft/commands.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- descriptions ---- */

/* A system of one world; {0, 0} is null. Stale handles are refused. */
typedef struct weft_system {
    uint32_t id;
    uint32_t world; /* private: number of the world */
} weft_system;

/* Access to a component of other entities, or to a resource. */
typedef struct weft_lookup {
    weft_component component;
    weft_access access;
} weft_lookup;

/* How a system runs. */
typedef enum weft_system_flags {
    WEFT_SYSTEM_SERIAL = 1 << 0,      /* slices run one after the other, in order, on one worker */
    WEFT_SYSTEM_MAIN_THREAD = 1 << 1, /* as SERIAL, on the thread that steps the world */
    WEFT_SYSTEM_EXCLUSIVE =
        1 << 2, /* nothing else runs; immediate structural changes are allowed */
    /* Low class: taken last, as WEFT_JOB_BACKGROUND, by as many workers at once as
     * weft_job_pool_desc.background_workers says. It runs on beside the systems behind it until
     * one collides with it, is ordered behind it by name (by groups where it has no terms and
     * the other has none or is MAIN_THREAD) or is EXCLUSIVE, and at the latest until the end of
     * the step. One that declares no effects, look-ups, queries, range, skips_unchanged and
     * ASKS_CHANGES, and whose terms are plain columns (no filter, no SHARED, BUFFER or SPARSE
     * component, none whose enable bits decide about rows), runs on beside sync points, too,
     * unless a command touches an archetype with rows that it runs over, or makes a new
     * archetype; weft_slice_recorder gives it NULL (the step fails: UNDECLARED_ACCESS). Others
     * end before the next sync point. Not with MAIN_THREAD and EXCLUSIVE. */
    WEFT_SYSTEM_BACKGROUND = 1 << 3,
    WEFT_SYSTEM_NOT_FUSED = 1 << 4,    /* its own loop, e.g. to profile it */
    WEFT_SYSTEM_WHOLE_CHUNKS = 1 << 5, /* called once per chunk, never with part of one */
    WEFT_SYSTEM_TIMER = 1 << 6,        /* runs once for each weft_timer_set; no period */
    WEFT_SYSTEM_ASKS_CHANGES =
        1 << 7,                /* calls weft_slice_changed_since and weft_slice_change_version: its
                                          stage stamps slice by slice, 1.4 ns for each */
    WEFT_SYSTEM_JOBS = 1 << 8, /* calls weft_slice_job */
} weft_system_flags;

/* Which commands a system may record. They are played back only before systems that could see
 * their effect. Other commands are played too, but maybe after systems that should see them:
 * checked builds report them. */
typedef enum weft_command_effects {
    WEFT_RECORDS_NOTHING = 0,
    WEFT_RECORDS_CREATE = 1 << 0, /* and fill what it created */
    WEFT_RECORDS_DESTROY = 1 << 1,
    WEFT_RECORDS_ADD = 1 << 2,    /* add, set, set_shared, enable, append, set_buffer, also for all
                                     rows of a query, of components in `records`; set_name */
    WEFT_RECORDS_REMOVE = 1 << 3, /* of components in `records` */
    WEFT_RECORDS_ANY = 0xff,
} weft_command_effects;

/* Entries of the lists inside a description. A list ends with its first null entry and continues at
 * the pointer beside it (more_...), which has a count and no limit. A null entry is refused
 * (BAD_HANDLE; the text names list and position) where other fields of it are set, where entries
 * follow, and where it is counted. */
#define WEFT_SYSTEM_LOOKUPS 8
#define WEFT_SYSTEM_ORDER 8

/* The member of weft_system_over that counts. */
typedef enum weft_system_over_kind {
    WEFT_OVER_ROWS = 0, /* `rows`; without terms: once per step, with an empty slice */
    WEFT_OVER_QUERY,    /* `query` */
    WEFT_OVER_COUNT,    /* `count` */
    WEFT_OVER_RANGE,    /* `range` */
} weft_system_over_kind;

/* What a system runs over: rows, or indices. For indices `run` is called once for each of
 * 0..count-1, in parallel, with slice->index set and no rows; the order of commands is (system,
 * index, sequence).
 *   .over.rows = {.terms = {{position, WEFT_WRITE}}}
 *   .over = {.kind = WEFT_OVER_COUNT, .count = 40} */
typedef struct weft_system_over {
    uint32_t kind; /* weft_system_over_kind */
    union {
        weft_query_desc rows; /* the rows of a query that the system makes for itself */
        weft_query query;     /* the rows of an existing query, with its filters */
        uint32_t count;       /* indices, not 0 */
        /* Returns the number of indices; called in each run, on the owner, when the systems before
         * it have run. It may read the world (queries, too); what changes it is WRONG_PHASE. */
        uint32_t (*range)(weft_world *world, void *user);
    };
} weft_system_over;

/* Describes a system. Zero means default. Everything is copied. */
typedef struct weft_system_desc {
    const char *name; /* 1..63 bytes of UTF-8, unique in the world; hides a group of that name */
    void (*run)(weft_slice *slice, void *user); /* called for each slice or index */
    void *user;                                 /* the caller's; must outlive the system */
    weft_system_over over;                      /* what it runs over */
    weft_lookup lookups[WEFT_SYSTEM_LOOKUPS];   /* not tags, SHARED and CHUNK */
    const weft_lookup *more_lookups;            /* continued here */
    uint32_t more_lookup_count;
    /* A system that writes a resource with BUFFER must be SERIAL, or have no rows and indices. */
    weft_lookup resources[WEFT_SYSTEM_LOOKUPS];
    const weft_lookup *more_resources;
    uint32_t more_resource_count;
    /* Queries that it iterates itself (weft_slice_query), with their access. A system with one that
     * writes must be SERIAL, or have no rows and indices. */
    weft_query queries[WEFT_SYSTEM_LOOKUPS];
    const weft_query *more_queries;
    uint32_t more_query_count;
    uint32_t flags;   /* weft_system_flags */
    uint32_t effects; /* weft_command_effects */
    /* The components that effects name, those of created archetypes and of what is instantiated
     * included (SPARSE ones, too); empty: any. */
    weft_component records[WEFT_SYSTEM_LOOKUPS];
    const weft_component *more_records;
    uint32_t more_record_count;
    /* The components that entities it destroys may have, SPARSE ones and those of linked entities
     * included; empty: any. So systems that run over none of these entities need not wait for the
     * commands. */
    weft_component destroys[WEFT_SYSTEM_LOOKUPS];
    const weft_component *more_destroys;
    uint32_t more_destroy_count;
    const char *before[WEFT_SYSTEM_ORDER]; /* systems or groups that must run later */
    const char *after[WEFT_SYSTEM_ORDER];  /* systems or groups that must run earlier */
    const char *const *more_before;
    uint32_t more_before_count;
    const char *const *more_after;
    uint32_t more_after_count;
    const char *group; /* the group it belongs to; NULL = "default" */
    /* The system runs only if this returns true. Called once in each step in which the system is
     * due, on the owner, before the first stage. It may read the world; what changes it is
     * WRONG_PHASE. */
    bool (*run_if)(weft_world *world, void *user);
    /* A fixed rate, in seconds: the system runs once for each period that passed, with dt =
     * period, at most 8 times a step (the rest is dropped). 0: every step, or the rate of the
     * group. */
    float period;
    /* Skips slices in which no READ term changed since the last run; needs at least one. */
    bool skips_unchanged;
    /* A relation by depth (relation.h), e.g. weft_component_parent: the system runs over all rows
     * of depth 0 (or without the relation), then over those of depth 1, and so on, each depth in
     * parallel. It may look up, for reading, what it writes in rows of lower depth: its parents'
     * values are final. Name the relation among its terms (OPTIONAL, so that roots match). Depths
     * are those of the last sync point. Not with SERIAL and flags that include it, nor BACKGROUND,
     * JOBS. */
    weft_component by_depth;
} weft_system_desc;

/* ---- systems ---- */

/* Registers a system. Null on failure: INVALID_ARGUMENT, BAD_HANDLE, TYPE_MISMATCH,
 * ALREADY_EXISTS, LIMIT (65,535 systems), OUT_OF_MEMORY, WRONG_PHASE (during a step, also from
 * an exclusive system). Systems may be registered in any order: CYCLE (with its path) is an error
 * of the next step. An order by a name that no system or group has waits until one has it
 * (weft_schedule_explain of the system twice says so). */
WEFT_API weft_system weft_system_create(weft_world *world, const weft_system_desc *desc);

/* Removes a system at once. Its handle is never used again. Where before/after of another system
 * names it, that order waits for another system of this name. Errors: BAD_HANDLE, WRONG_PHASE (as
 * weft_system_create). */
WEFT_API weft_result weft_system_destroy(weft_world *world, weft_system system);

/* The system of this name, or null. Threads: any while unchanged. Cost: O(systems). */
WEFT_API weft_system weft_system_find(const weft_world *world, const char *name);

/* Enables or disables a system. A disabled one is skipped; the schedule stays as it is. An
 * exclusive system without terms may call it: the change counts from the next step on. Threads:
 * owner, world idle. Errors: BAD_HANDLE, WRONG_PHASE. */
WEFT_API weft_result weft_system_enable(weft_world *world, weft_system system, bool enabled);

/* ---- timers ---- */

/* Sets the timer of a TIMER system. The system runs once, in the first step at which at least
 * `seconds` have passed: the dt of the steps since the call, that step's included, to within 1 ns
 * (0: the next step). In a group with a period it waits for the first tick at which they have
 * passed (0: the next tick). Then it waits for the next call. Setting a timer that runs replaces
 * its time. Time does not pass while the system or its group is disabled. If the run condition
 * returns false, it is asked again in the next step, tick or not. Snapshots hold the time left. An
 * exclusive system without terms may call it: the time counts from the next step on.
 * Threads: owner, world idle. Errors: BAD_HANDLE, INVALID_ARGUMENT (no TIMER system; seconds
 * negative or not finite), WRONG_PHASE. */
WEFT_API weft_result weft_timer_set(weft_world *world, weft_system system, double seconds);

/* Stops the timer: the system does not run. Does nothing if no timer is set. Errors: as
 * weft_timer_set. Threads: owner, world idle. */
WEFT_API weft_result weft_timer_stop(weft_world *world, weft_system system);

/* Seconds that are left of the timer; 0: the system waits for a tick of its group, or for its run
 * condition; negative if the timer is not set. Negative with the error set for a bad handle or a
 * system without TIMER. Threads: owner. */
WEFT_API double weft_timer_left(const weft_world *world, weft_system system);

/* ---- groups ---- */

/* Describes a group of systems: a phase of the frame. Its systems run before or after those
 * named where they conflict, and where the schedule cannot see what both do: MAIN_THREAD and
 * EXCLUSIVE systems and those without terms. Others may run together with them (an order between
 * two systems by name always holds). A group exists once it is named; weft_group_set gives it an
 * order and a rate, or disables it. A system with a period of its own keeps it. */
typedef struct weft_group_desc {
    const char *name; /* 1..63 bytes of UTF-8 */
    const char *before[WEFT_SYSTEM_ORDER];
    const char *after[WEFT_SYSTEM_ORDER];
    const char *const *more_before;
    uint32_t more_before_count;
    const char *const *more_after;
    uint32_t more_after_count;
    float period;     /* as for systems, for the whole group */
    bool is_disabled; /* a disabled group costs nothing */
} weft_group_desc;

/* Replaces all earlier settings of the group; its rate starts again, its timers keep their time.
 * Errors: INVALID_ARGUMENT, BAD_HANDLE (a null entry in a list), WRONG_PHASE, OUT_OF_MEMORY; those
 * of orders as weft_system_create. */
WEFT_API weft_result weft_group_set(weft_world *world, const weft_group_desc *desc);

/* Enables or disables a group. Its order and rate stay; while it is disabled, no time passes for
 * its rates and timers. An exclusive system without terms may call it: the change counts from
 * the next step on. Errors: NOT_FOUND (no system and no weft_group_set has named the group),
 * INVALID_ARGUMENT, WRONG_PHASE. Threads: owner, world idle. */
WEFT_API weft_result weft_group_enable(weft_world *world, const char *name, bool enabled);

/* ---- the step ---- */

/* Runs every system that is due, in the order of the schedule, and plays back their commands. `dt`:
 * seconds since the last step; finite, not negative.
 * Errors before any system ran: INVALID_ARGUMENT (dt), WRONG_PHASE, BUSY (another thread is in the
 * world), LIMIT (256 guests in the pool), CYCLE of the schedule, OUT_OF_MEMORY.
 * Errors of the step: the first error of a system's commands (earlier commands took effect, the
 * rest of that playback is dropped, later systems run); in checked builds the first mistake of a
 * system (weft_schedule_mistakes); OUT_OF_MEMORY for lists of new chunks (the systems from there on
 * did not run); FORKED (systems that need the pool of the parent process do not run); CYCLE (a
 * relation's fields had a cycle, which was cut: relation.h).
 * Threads: owner, outside of hooks. Cost: no allocation after warm-up. */
WEFT_API weft_result weft_world_step(weft_world *world, float dt);

/* Runs one system now, outside the schedule, and plays back its commands, even if it is
 * disabled, not due, or its condition would return false. Before it relations are settled, after
 * it they are again, and observers run. A system with a period gets the period as dt. Errors:
 * as weft_world_step, and BAD_HANDLE. */
WEFT_API weft_result weft_system_run(weft_world *world, weft_system system, float dt);

/* ---- inside systems ---- */

/* Begins a loop over one of the system's `queries`: all rows that pass its filters ("changed" means
 * since the last run of the system). Questions like weft_query_count work on it, too.
 *   weft_cursor c = weft_slice_query(slice, others);
 *   while (weft_query_next(&c)) { const Position *p = weft_slice_read(&c.slice, 0); ... }
 * Call weft_query_end to leave early. A query that is not declared has no rows here; checked builds
 * report it. They also report rows that other slices of the system may be writing, and loops left
 * without weft_query_end; writes through pointers for reading only where they are to the system's
 * own rows: those of a loop, and of look-ups, are not copied. When memory for a loop is exhausted
 * it has no rows, and the step returns OUT_OF_MEMORY.
 * Outside systems this is weft_query_begin. Threads: callback. */
WEFT_API weft_cursor weft_slice_query(const weft_slice *slice, weft_query query);

/* The context of the worker that runs the slice, in a system with WEFT_SYSTEM_JOBS: for
 * weft_job_for, weft_job_child, weft_job_children_wait and weft_job_graph_run in the callback.
 * It is the context of a job: waiting for handles is refused (WOULD_NEST), and jobs submitted
 * with it are not part of the step. Children that still run when the callback returns are joined
 * before the next system of a fused stage sees the rows; their result codes are dropped.
 *
 * The slice, its recorder and its look-ups belong to the thread of the callback. Pass columns and
 * counts to inner jobs by argument; each may write only rows that no other inner job touches. Let
 * inner jobs store results by row or part and record commands in the callback, so that their order
 * does not depend on timing. NULL outside systems and after the callback; NULL without the flag,
 * which checked builds report. Threads: callback. Cost: 2 ns per callback. */
WEFT_API weft_job_context *weft_slice_job(const weft_slice *slice);

/* ---- time ---- */

/* The number and the time of a step. */
typedef struct weft_frame {
    uint64_t number; /* of the step, from 1; 0 before the first one */
    double time;     /* seconds: the sum of the dt of all steps, this one included */
    float dt;        /* seconds of the step */
} weft_frame;

/* The step that runs, or the last one. Worlds without systems count their steps, too. Refused steps
 * and weft_system_run do not count. Snapshots restore it. Threads: owner or system. */
WEFT_API weft_frame weft_world_frame(const weft_world *world);

/* Private: what weft_slice_frame gives. */
WEFT_API weft_frame weft_slice_ask_frame(const weft_slice *slice);

/* As weft_world_frame, as the system of the slice sees it. At a fixed rate `dt` is its period
 * and `time` is that of its tick: behind the world's time by the time left over
 * (weft_world_alpha) and by the ticks still to come in this step. For slices of queries that the
 * owner or a system iterates, it is that of the world. Threads: callback. Cost: a few loads. */
static inline weft_frame weft_slice_frame(const weft_slice *slice)
{
    const weft_slice_context *context = (const weft_slice_context *)slice->context;
    const int is_call = (slice->calls & WEFT_SLICE_CHECKED) != 0 || context->frame == NULL;
    return __builtin_expect(is_call, 0) ? weft_slice_ask_frame(slice) : *context->frame;
}

/* The position of the time between two ticks of a fixed rate, in [0, 1): for interpolation by a
 * system that draws every step. `name`: a system or group with a period. A system without a
 * period has that of its group; a system hides a group of the same name. 0 without a rate, and
 * for an unknown name (NOT_FOUND, set outside systems). Threads: owner or system. Cost: O(systems).
 */
WEFT_API float weft_world_alpha(const weft_world *world, const char *name);

/* ---- statistics ---- */

/* Counts and times of a system. */
typedef struct weft_system_stats {
    const char *name;
    uint64_t runs;     /* since creation */
    uint64_t slices;   /* of the last run */
    uint64_t rows;     /* of the last run */
    uint64_t commands; /* recorded in the last run */
    uint64_t time_ns;  /* work of the last run, summed over workers; needs is_measured. Of fused
                          systems an estimate: over a second the share is right, in one frame not
                          always */
    uint64_t total_ns; /* the same, over all measured runs since creation */
    uint32_t stage;    /* position of its stage in the schedule */
    bool is_fused;     /* runs together with others */
} weft_system_stats;

/* Counts and times of a system. `out_bytes`: sizeof *out. Errors: BAD_HANDLE, INVALID_ARGUMENT.
 * Threads: owner. */
WEFT_API weft_result weft_system_stats_get(const weft_world *world, weft_system system,
                                           weft_system_stats *out, size_t out_bytes);

/* ---- what there is, for tools ---- */

/* The systems of the world, in no order: writes up to `capacity`, returns how many there are.
 * Threads: owner. */
WEFT_API uint32_t weft_system_list(const weft_world *world, weft_system *out, uint32_t capacity);

/* What a system is. Texts belong to it. */
typedef struct weft_system_info {
    const char *name, *group;
    uint32_t flags;   /* weft_system_flags */
    uint32_t effects; /* weft_command_effects */
    float period;     /* its own; 0: none */
    bool is_enabled;
    bool skips_unchanged;
    weft_query query; /* what it runs over; null: no rows */
    weft_component by_depth;
} weft_system_info;

/* What a system is. `out_bytes`: sizeof *out. Errors: BAD_HANDLE, INVALID_ARGUMENT. Threads: owner.
 */
WEFT_API weft_result weft_system_info_get(const weft_world *world, weft_system system,
                                          weft_system_info *out, size_t out_bytes);

/* The components that a system touches: of its rows, look-ups, resources and queries; each once,
 * with WRITE where any of them writes. Writes up to `capacity`, returns how many there are.
 * Threads: owner. */
WEFT_API uint32_t weft_system_access(const weft_world *world, weft_system system, weft_lookup *out,
                                     uint32_t capacity);

#ifdef __cplusplus
}
#endif
#endif
