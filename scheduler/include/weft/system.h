/* SPDX-License-Identifier: MIT */
/* system.h: systems: functions over the slices of queries, with everything they touch declared.
 *
 * Public. The scheduler derives order and parallelism from the declarations: two systems conflict
 * when some archetype matches both and one writes a component the other touches, or when their
 * lookups or resources collide; conflicting systems without an explicit order run in the order of
 * their registration. Systems that touch only the rows they are given (no lookups) are fused: each
 * slice runs all of them back to back. Threads: owner, world idle, unless said otherwise. */
#ifndef WEFT_SYSTEM_H
#define WEFT_SYSTEM_H

#include <weft/ecs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A system of one world; {0, 0} is null. A handle that has gone stale is detected. */
typedef struct weft_system {
    uint32_t id;
    uint32_t world; /* private: number of the world */
} weft_system;

/* Random access to other entities, or to a resource (RESOURCE component). */
typedef struct weft_lookup {
    weft_component component;
    weft_access access;
} weft_lookup;

typedef enum weft_system_flags {
    WEFT_SYSTEM_SERIAL = 1 << 0,      /* slices run one after the other, in order, on one worker */
    WEFT_SYSTEM_MAIN_THREAD = 1 << 1, /* like SERIAL, on the thread that steps the world */
    WEFT_SYSTEM_EXCLUSIVE =
        1 << 2, /* nothing else runs; immediate structural changes are allowed */
    WEFT_SYSTEM_BACKGROUND = 1 << 3,   /* low class: never picked up by a waiting thread; not with
                                          MAIN_THREAD and EXCLUSIVE */
    WEFT_SYSTEM_NOT_FUSED = 1 << 4,    /* its own loop, e.g. to profile it */
    WEFT_SYSTEM_WHOLE_CHUNKS = 1 << 5, /* called once per chunk, never with part of one */
    WEFT_SYSTEM_TIMER = 1 << 6,        /* runs once for each weft_timer_set, see there; no period */
    WEFT_SYSTEM_ASKS_CHANGES =
        1 << 7,                /* calls weft_slice_changed_since and weft_slice_change_version: its
                                          stage stamps slice by slice, 1.4 ns for each */
    WEFT_SYSTEM_JOBS = 1 << 8, /* calls weft_slice_job */
} weft_system_flags;

/* What commands a system may record; a sync point is placed only before systems that could see the
 * effect. Commands of other kinds are played, too, but maybe after systems that should see them:
 * checked builds report them. */
typedef enum weft_command_effects {
    WEFT_RECORDS_NOTHING = 0,
    WEFT_RECORDS_CREATE = 1 << 0, /* and fill what it created */
    WEFT_RECORDS_DESTROY = 1 << 1,
    WEFT_RECORDS_ADD = 1 << 2,    /* add, set, set_shared, enable, append, set_buffer, also for all
                                     rows of a query: of those in `records`; names: of any */
    WEFT_RECORDS_REMOVE = 1 << 3, /* of the components in `records` */
    WEFT_RECORDS_ANY = 0xff,
} weft_command_effects;

/* Entries of the lists inside a description. A list ends with its first null entry and goes on
 * behind the pointer beside it (more_...), which has a count, so that it has no limit. A null entry
 * is refused (BAD_HANDLE; the text names list and position) where the rest of it is set, where
 * entries follow, and where it is counted. */
#define WEFT_SYSTEM_LOOKUPS 8
#define WEFT_SYSTEM_ORDER 8

/* What a system runs over: which member of weft_system_over counts. */
typedef enum weft_system_over_kind {
    WEFT_OVER_ROWS = 0, /* `rows`; without terms: once per step, with an empty slice */
    WEFT_OVER_QUERY,    /* `query` */
    WEFT_OVER_COUNT,    /* `count` */
    WEFT_OVER_ASKED,    /* `range` */
} weft_system_over_kind;

/* Rows, or an index range: then `run` is called once per index 0..count-1, in parallel, with
 * slice->index set and no rows; the order of its commands is (system, index, sequence).
 *   .over.rows = {.terms = {{position, WEFT_WRITE}}}
 *   .over = {.kind = WEFT_OVER_COUNT, .count = 40} */
typedef struct weft_system_over {
    uint32_t kind; /* weft_system_over_kind */
    union {
        weft_query_desc rows; /* of a query that the system makes for itself */
        weft_query query;     /* rows of an existing query, with its filters */
        uint32_t count;       /* indices, not 0 */
        /* How many indices: asked in each run, on the owner, when what it follows is done. It may
         * look at the world (queries, too), not change it. */
        uint32_t (*range)(weft_world *world, void *user);
    };
} weft_system_over;

/* Zero means default. Everything is copied. */
typedef struct weft_system_desc {
    const char *name; /* 1..63 bytes, unique in the world; hides a group of the same name */
    void (*run)(weft_slice *slice,
                void *user); /* once per slice; with no terms: once per step, empty slice */
    void *user;              /* the caller's; must outlive the system */
    weft_system_over over;   /* what it runs over */
    weft_lookup lookups[WEFT_SYSTEM_LOOKUPS]; /* not tags, SHARED and CHUNK */
    const weft_lookup *more_lookups;          /* continued here */
    uint32_t more_lookup_count;
    /* Resources. Writing one that is a BUFFER wants SERIAL, or a system without rows and range. */
    weft_lookup resources[WEFT_SYSTEM_LOOKUPS];
    const weft_lookup *more_resources;
    uint32_t more_resource_count;
    /* Queries that it iterates itself (weft_slice_query), with their access. One that writes needs
     * SERIAL, or a system without rows and range. */
    weft_query queries[WEFT_SYSTEM_LOOKUPS];
    const weft_query *more_queries;
    uint32_t more_query_count;
    uint32_t flags;   /* weft_system_flags */
    uint32_t effects; /* weft_command_effects */
    /* Components named by effects, those of created archetypes included; empty = any. */
    weft_component records[WEFT_SYSTEM_LOOKUPS];
    const weft_component *more_records;
    uint32_t more_record_count;
    const char *before[WEFT_SYSTEM_ORDER]; /* names of systems or groups that must come later */
    const char *after[WEFT_SYSTEM_ORDER];  /* names of systems or groups that must come earlier */
    const char *const *more_before;
    uint32_t more_before_count;
    const char *const *more_after;
    uint32_t more_after_count;
    const char *group; /* the group it belongs to; NULL = "default" */
    /* Asked once in each step in which the system is due, on the owner, before the first stage. It
     * may look at the world, as `range`. */
    bool (*run_if)(weft_world *world, void *user);
    /* Seconds; 0 = every step, or the rate of the group. Fixed rate: run as often as the time that
     * passed demands, at most 8 times a step (the rest is given up), dt = period. */
    float period;
    /* Skip slices in which no READ term, of one at least, changed since the last run. */
    bool skips_unchanged;
} weft_system_desc;

/* Registers a system. Null on failure: see weft_world_error (INVALID_ARGUMENT, BAD_HANDLE,
 * TYPE_MISMATCH, ALREADY_EXISTS, LIMIT (65,535 systems), OUT_OF_MEMORY). CYCLE (with its path) and
 * NOT_FOUND (an unknown name in before/after) are reported by the next step, so systems may be
 * registered in any order. Not during a step, nor from an exclusive system: WRONG_PHASE. */
WEFT_API weft_system weft_system_create(weft_world *world, const weft_system_desc *desc);
/* Removes a system at once. Its handle is never used again. If before/after of another system names
 * it, the next step fails with NOT_FOUND. Errors: BAD_HANDLE, WRONG_PHASE (as
 * weft_system_create). */
WEFT_API weft_result weft_system_destroy(weft_world *world, weft_system system);
/* The system of this name, or null. Threads: any, while no system is created or destroyed. Cost:
 * O(systems). */
WEFT_API weft_system weft_system_find(const weft_world *world, const char *name);
/* Switches a system on or off; a disabled one is skipped, the schedule stays as it is. An exclusive
 * system without terms may call it: the change counts from the next step on. Errors: BAD_HANDLE,
 * WRONG_PHASE. */
WEFT_API weft_result weft_system_enable(weft_world *world, weft_system system, bool enabled);

/* Sets the timer of a TIMER system. The system runs once, in the step in which the dt of the steps
 * add up to `seconds` (0: in the next step), then waits for the next call. Setting a running timer
 * replaces its time. In a group with a period, the ticks of the group are added up, and the system
 * runs with the tick that is due. Time does not pass while the system or its group is disabled. If
 * the run condition returns false, the system is asked again in the next step. Snapshots hold the
 * time left. An exclusive system without terms may call it: the time counts from the next step on.
 * Errors: BAD_HANDLE, INVALID_ARGUMENT (no TIMER system; seconds negative or not finite),
 * WRONG_PHASE. */
WEFT_API weft_result weft_timer_set(weft_world *world, weft_system system, double seconds);
/* Stops the timer; the system does not run. Does nothing if no timer is set. Errors as
 * weft_timer_set. */
WEFT_API weft_result weft_timer_stop(weft_world *world, weft_system system);
/* Seconds until the system runs; negative if the timer is not set. Negative with the error set for
 * a bad handle or a system without TIMER. Threads: owner. */
WEFT_API double weft_timer_left(const weft_world *world, weft_system system);

/* A group of systems: a phase of the frame. Its systems run before/after those named, where they
 * conflict; systems that do not conflict may still run together (an order between two systems by
 * name always holds). A group exists once it is named; weft_group_set gives it an order and a rate,
 * or disables it. A system with a period of its own keeps that period. */
typedef struct weft_group_desc {
    const char *name;
    const char *before[WEFT_SYSTEM_ORDER];
    const char *after[WEFT_SYSTEM_ORDER];
    const char *const *more_before;
    uint32_t more_before_count;
    const char *const *more_after;
    uint32_t more_after_count;
    float period;     /* as for systems, for the whole group */
    bool is_disabled; /* a disabled group costs nothing */
} weft_group_desc;
/* Replaces all earlier settings of the group; its rate starts again. Errors: INVALID_ARGUMENT,
 * BAD_HANDLE (a null entry in a list), WRONG_PHASE, OUT_OF_MEMORY; those of orders as
 * weft_system_create. */
WEFT_API weft_result weft_group_set(weft_world *world, const weft_group_desc *desc);
/* Pauses a group or resumes it. Its order and rate stay; the time of a pause does not count for
 * its rates and timers. An exclusive system without terms may call it: the change counts from the
 * next step on. Errors: NOT_FOUND (no system and no weft_group_set has named the group),
 * INVALID_ARGUMENT, WRONG_PHASE. */
WEFT_API weft_result weft_group_enable(weft_world *world, const char *name, bool enabled);

/* Runs every system that is due, in schedule order, and plays back commands. `dt`: seconds since
 * the last step; finite, not negative.
 * Errors before anything ran: INVALID_ARGUMENT (dt), WRONG_PHASE, BUSY (another thread is in the
 * world), LIMIT (256 guests in the pool), CYCLE and NOT_FOUND of the schedule, OUT_OF_MEMORY.
 * Errors of the step: the first error of a system's commands (earlier commands took effect, the
 * rest of that playback is dropped, later systems run); in checked builds the first mistake of a
 * system (weft_schedule_mistakes); OUT_OF_MEMORY for lists of new chunks (the systems from there on
 * did not run); FORKED (systems that need the pool of the parent process do not run).
 * Threads: owner. Cost: no allocation after warm-up. */
WEFT_API weft_result weft_world_step(weft_world *world, float dt);
/* Runs one system now, outside the schedule, and plays back its commands, even if it is disabled,
 * not due, or its condition would return false. A system with a period gets that as dt. Errors as
 * weft_world_step, and BAD_HANDLE. */
WEFT_API weft_result weft_system_run(weft_world *world, weft_system system, float dt);

/* Inside a system: iterates one of its `queries`: all rows that pass its filters ("changed"
 * means since the last run of the system). weft_query_count and the like work on it, too.
 *   weft_cursor c = weft_slice_query(slice, others);
 *   while (weft_query_next(&c)) { const Position *p = weft_slice_read(&c.slice, 0); ... }
 * Call weft_query_end to leave early. A query that is not declared has no rows here; checked builds
 * report it. They also report rows that other slices of the system may be writing. A query of more
 * than WEFT_INLINE_TERMS terms has no rows when memory is out, and the step returns OUT_OF_MEMORY.
 * Outside systems this is weft_query_begin. Threads: that of the slice. */
WEFT_API weft_cursor weft_slice_query(const weft_slice *slice, weft_query query);

/* Inside a system with WEFT_SYSTEM_JOBS: the context of the worker that runs the slice, for
 * weft_job_for, weft_job_child, weft_job_children_wait and weft_job_graph_run in the callback.
 * It is the context of a job: waiting for handles is refused (WOULD_NEST), and jobs submitted
 * with it are not part of the step. Children that still run when the callback returns are joined
 * before the next system of a fused stage sees the rows; their result codes are dropped. The
 * slice, its recorder and its look-ups belong to the thread of the callback. Pass columns and
 * counts to inner jobs by argument; each may write only rows that no other inner job touches.
 * Results that become commands go into places by row or part, and the callback records them, so
 * that the order of commands does not depend on timing. NULL outside systems and after the
 * callback; NULL without the flag, which checked builds report. Threads: that of the slice.
 * Cost: 2 ns per callback. */
WEFT_API weft_job_context *weft_slice_job(const weft_slice *slice);

/* ---- time ---- */

/* Which step it is, and when. */
typedef struct weft_frame {
    uint64_t number; /* of the step, from 1; 0 before the first one */
    double time;     /* seconds: the sum of the dt of all steps, this one included */
    float dt;        /* seconds of the step */
} weft_frame;
/* The step that runs, or the last one. Worlds without systems count their steps, too. Refused steps
 * and weft_system_run do not count. Snapshots restore it. Threads: any while systems run
 * (weft_slice_world), else owner. */
WEFT_API weft_frame weft_world_frame(const weft_world *world);
/* The same as the system of the slice sees it. At a fixed rate `dt` is its period and `time` is
 * that of its tick: behind the world's time by the time left over (weft_world_alpha) and by the
 * ticks still to come in this step. For slices of queries that the owner or a system iterates,
 * it is that of the world. Threads: that of the slice. */
WEFT_API weft_frame weft_slice_frame(const weft_slice *slice);
/* Where the time is between the last tick of a fixed rate and the next, in [0, 1): for
 * interpolation by a system that draws every step. `name`: a system or group with a period. A
 * system without a period has that of its group; a system hides a group of the same name. 0
 * without a rate, and for an unknown name (NOT_FOUND, set outside systems). Threads: any while
 * systems run (weft_slice_world), else owner. Cost: O(systems). */
WEFT_API float weft_world_alpha(const weft_world *world, const char *name);

/* Figures of the last run and totals. */
typedef struct weft_system_stats {
    const char *name;
    uint64_t runs;     /* since creation */
    uint64_t slices;   /* of the last run */
    uint64_t rows;     /* of the last run */
    uint64_t commands; /* recorded in the last run */
    uint64_t time_ns;  /* work of the last run, summed over workers; needs options.is_measured */
    uint64_t total_ns; /* the same, over all measured runs since creation */
    uint32_t stage;    /* position of its stage in the schedule */
    bool is_fused;     /* runs together with others */
} weft_system_stats;
/* `out_bytes`: sizeof *out. Errors: BAD_HANDLE, INVALID_ARGUMENT. */
WEFT_API weft_result weft_system_stats_get(const weft_world *world, weft_system system,
                                           weft_system_stats *out, size_t out_bytes);

#ifdef __cplusplus
}
#endif
#endif
