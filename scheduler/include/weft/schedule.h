/* SPDX-License-Identifier: MIT */
/* schedule.h: the schedule: options, what it is and why, mistakes, statistics.
 *
 * Public. A step compiles the schedule when systems or archetypes have changed, and reuses it
 * otherwise. Threads: owner, between steps, unless a function says otherwise. Functions that write
 * text write at most `capacity` bytes with a NUL and return the length of the whole text, like
 * snprintf; `text` may be NULL with capacity 0. */
#ifndef WEFT_SCHEDULE_H
#define WEFT_SCHEDULE_H

#include <weft/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- options ---- */

/* Options of the schedule. Zero means default. */
typedef struct weft_schedule_desc {
    bool without_fusion;     /* each system in a stage of its own */
    bool without_parallel;   /* all systems on the owner, in order */
    uint64_t shuffle_seed;   /* not 0: a random legal order, for tests of determinism */
    bool is_measured;        /* measures times of systems and frames: two clock reads per part of
                                a loop; fused systems by a sample, one slice of 64 */
    bool is_always_parallel; /* small stages go to the pool, too; for tests */
    bool without_overlap;    /* stages run one after the other, also where a system could begin
                                before its stage */
    bool counts_events;      /* event counters per system; the variable WEFT_COUNTERS=1 of the
                                environment does the same */
} weft_schedule_desc;

/* Replaces all options. The next step compiles the schedule. Errors: INVALID_ARGUMENT, WRONG_PHASE,
 * OUT_OF_MEMORY. */
WEFT_API weft_result weft_schedule_set(weft_world *world, const weft_schedule_desc *desc);

/* The options of the schedule as they are; all zero before a system or option was set. `out_bytes`:
 * sizeof *out. Threads: owner. */
WEFT_API void weft_schedule_get(const weft_world *world, weft_schedule_desc *out, size_t out_bytes);

/* Compiles the schedule now instead of in the next step. Errors: CYCLE (with its path),
 * WRONG_PHASE, OUT_OF_MEMORY. */
WEFT_API weft_result weft_schedule_compile(weft_world *world);

/* ---- explanations ---- */

/* Writes why one of two systems runs before the other: who reads and who writes which component,
 * an archetype in which they meet, and what decides who is first; or that nothing orders them. The
 * same system twice: its stage, and what it waited for in the last step, with times. */
WEFT_API size_t weft_schedule_explain(weft_world *world, weft_system a, weft_system b, char *text,
                                      size_t capacity);

/* Writes the pairs of systems that conflict and are ordered by registration only: one per line,
 * with the component. */
WEFT_API size_t weft_schedule_ambiguities(weft_world *world, char *text, size_t capacity);

/* Writes the sync points, each with the pair of systems that needs it, the effects of the commands
 * that the second could see, a component and an archetype. */
WEFT_API size_t weft_schedule_sync_points(weft_world *world, char *text, size_t capacity);

/* Writes what the last step waited for: for each segment (the stages between two sync points) its
 * stages, with times if the schedule is measured, or, where it ran as a graph, the longest chain of
 * tasks with their times. Times are from the begin to the end of a stage or task; beside those of
 * stages stands their work, summed over the workers. Where fixed rates catch up, they are those
 * of the last tick. If the schedule is measured, a line follows of what the thread that steps the
 * world did beside the segments: relations, playback, observers, hashing. */
WEFT_API size_t weft_schedule_chain(weft_world *world, char *text, size_t capacity);

/* Writes the schedule as JSON (tools/weft-schedule-dot draws it). Without systems its lists are
 * empty, and where they cannot be ordered, too: then there is `error`, the reason.
 *   edges: pairs that collide (kind "access": component, archetype, from_access, to_access and all
 *     components) or that only names of systems or groups order (kind "name"); decided_by says what
 *     makes "from" the first: "name" (before, after), "group", "chain" (orders with other systems),
 *     "registration"
 *   sync_points: recorder and observer; effect, the first that the observer could see: "destroys",
 *     "adds or sets", "removes", "adds, sets or removes", "creates", or "any" where one of the two
 *     is exclusive; effects: all of "create", "destroy", "add or set", "remove"
 *   segments: of the last step; if is_graph, tasks and their edges (pairs of positions among the
 *     tasks), else stage_times. time_ns is from begin to end, work_ns summed over the workers
 *   systems: flags and figures of the last run; is_enabled (weft_system_enable) and
 *     is_group_enabled; time_ns is work, summed over the workers. Of BACKGROUND systems:
 *     passes_sync_points, and join_stage, before which they are waited for; the number of stages:
 *     at the end of the step
 *   observers: name, what each sees ("on": "added", ...), component ("": all entities), in the
 *     order in which they run
 *   frame_ns, and work: "relations", "playback", "observers", "hashing", each with its time_ns in
 *     the last step, as in weft_frame_stats */
WEFT_API size_t weft_schedule_json(weft_world *world, char *text, size_t capacity);

/* ---- mistakes ---- */

/* The mistakes that checked builds of the library found in the last step or weft_system_run:
 * what systems did against their declarations, one of a kind, by order of effect. Each text
 * names system, slice, row if there is one, component, and what to do. The first one is the
 * error of the step, unless the step had an earlier error. Writes up to `capacity`, returns how
 * many there are; 0 in unchecked builds. Threads: owner. */
WEFT_API uint32_t weft_schedule_mistakes(const weft_world *world, weft_error *out,
                                         uint32_t capacity);

/* ---- statistics ---- */

/* Counts and times of the steps of a world. Times need weft_schedule_desc.is_measured. The
 * critical path is a lower bound computed from measured times, without playback and waiting. It
 * adds up, for each stage, the largest of: the time of all its systems divided by the number of
 * workers, the time of the systems that run on the owner, the time of the longest SERIAL system. */
typedef struct weft_frame_stats {
    uint64_t frames;
    uint64_t frame_ns;         /* the last step */
    uint64_t critical_path_ns; /* of the last step, see above */
    uint64_t playback_ns;      /* of the last step, as all times here */
    uint32_t systems;
    uint32_t stages;
    uint32_t sync_points;
    uint64_t commands;         /* played back in the last step */
    uint64_t commands_skipped; /* in the last step: their entity was dead, or lacked what
                                  was to be switched */
    uint64_t relations_ns;     /* settling relations: before the first stage, at sync points */
    uint64_t observers_ns;     /* observers, and playback of what they record */
    uint64_t hashing_ns;       /* the state log's, summed over the workers */
} weft_frame_stats;

/* Counts and times of the steps. `out_bytes`: sizeof *out. All zero when the world has no
 * systems. Threads: owner. */
WEFT_API void weft_frame_stats_get(const weft_world *world, weft_frame_stats *out,
                                   size_t out_bytes);

/* ---- event counters ---- */

/* Events that the processor and the kernel count. */
typedef enum weft_counter {
    WEFT_COUNTER_CYCLES,
    WEFT_COUNTER_INSTRUCTIONS,
    WEFT_COUNTER_CACHE_MISSES, /* of the last level */
    WEFT_COUNTER_BRANCH_MISSES,
    WEFT_COUNTER_TASK_CLOCK, /* ns of processor time */
    WEFT_COUNTER_PAGE_FAULTS,
    WEFT_COUNTER_CONTEXT_SWITCHES,
    WEFT_COUNTER_CPU_MIGRATIONS,
    WEFT_COUNTER_COUNT
} weft_counter;

/* Events of a system, summed over all workers and all steps with counts_events. */
typedef struct weft_system_counters {
    const char *name;
    uint64_t calls;     /* slices, chunks or indices */
    uint32_t available; /* bit set 1 << weft_counter; the others could not be counted */
    uint64_t values[WEFT_COUNTER_COUNT];
} weft_system_counters;

/* Events of a system. `out_bytes`: sizeof *out. Errors: BAD_HANDLE. Without counters, `calls`
 * and `available` are 0; a library built with WEFT_COUNTERS=OFF has none. Cost: a system call
 * per slice, or about 60 ns where the processor's registers may be read
 * (docs/guide/profiling.md). Threads: owner. */
WEFT_API weft_result weft_system_counters_get(const weft_world *world, weft_system system,
                                              weft_system_counters *out, size_t out_bytes);

/* Writes which counters there are, why others are missing, and a line per system. */
WEFT_API size_t weft_schedule_counters(weft_world *world, char *text, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
