/* SPDX-License-Identifier: MIT */
/* scheduler_state.h: what the files of the scheduler share: systems, the compiled schedule,
 * the entries of a stage, workers. Structs only; what finds them: registry.h.
 *
 * One weft__scheduler per world, made with its first system, kept in the world's extension.
 * All of it is changed by the owner, world idle or between stages; while a stage runs, workers
 * read it, and write only their own weft__worker, columns they were given and change versions. */
#pragma once

#include "ecs_engine.h"
#include "run_choice.h"
#include "staging.h"
#include "text.h"

#include <weft/schedule.h>

#define WEFT__NAME_LIMIT 64
#define WEFT__CATCH_UP_LIMIT 8 /* runs of a fixed-rate system per step at most */
#define WEFT__TIMER_SLACK 1e-9 /* seconds: it runs out with the next tick */

typedef struct weft__scheduler weft__scheduler;

/* A declared look-up or resource. A value. */
typedef struct weft__grant {
    uint32_t component;
    weft_access access;
} weft__grant;

/* The copies. Part of a system or group; constant after its creation. */
typedef struct weft__lists {
    weft__grant *lookups;
    weft__grant *resources;
    weft_query *queries;
    uint32_t *records;                /* sorted, with what they require */
    uint32_t *destroys;               /* sorted */
    char (*before)[WEFT__NAME_LIMIT]; /* names of systems or groups */
    char (*after)[WEFT__NAME_LIMIT];
    uint32_t lookup_count, resource_count, query_count, record_count, destroy_count;
    uint32_t before_count, after_count;
    weft__pile pile; /* holds all of them */
} weft__lists;

/* ---- segments ---- */

/* A part of a stage that runs by itself in the graph of its segment: fused systems that belong
 * together, or one other system. Owner: the segment (its pile); run by one worker at a time, which
 * writes time_ns and result.
 *   entries [first_entry, end_entry) of the stage are its own: of main_entries with on_owner */
typedef struct weft__task {
    struct weft__scheduler *scheduler;
    struct weft__system **systems; /* in the order in which a slice runs them */
    uint32_t system_count;
    uint32_t stage;
    bool is_fused;
    bool on_owner;
    uint32_t first_entry, end_entry; /* current with the entries of the stage */
    uint64_t time_ns;                /* of the last run; 0: it did not run */
    uint64_t ranked_ns;              /* the time that the graph was ranked by */
    weft_result result;              /* of the last run */
    weft_job_cost cost;
    char title[69]; /* "task " and their names, for traces */
} weft__task;

/* Tasks of a segment and which must have ended before which. Owner: the segment; its arrays lie in
 * the pile.
 *   graph != NULL, and all else is made, or nothing is
 *   bit a of reach[b * reach_words ...] is set  <=>  a chain of edges leads from task a to task b
 *   task_of[system->number] is the task of a system of the segment */
typedef struct weft__task_plan {
    weft__pile pile;
    weft__task *tasks; /* in an order that respects every edge; those of a stage in a row */
    uint32_t task_count;
    uint32_t (*edges)[2]; /* tasks: before, after; none that a chain of others implies */
    uint32_t edge_count;
    uint64_t *reach;
    uint32_t reach_words;
    uint32_t *task_of;
    uint64_t runs;
    weft_job_graph *graph;
} weft__task_plan;

/* Plans of a segment: fused systems of a stage are one task, or those that a serial system of a
 * later stage waits for are a task of their own, which goes first. */
typedef enum weft__plan_kind { WEFT__PLAN_WHOLE, WEFT__PLAN_SPLIT, WEFT__PLANS } weft__plan_kind;

/* The stages between two sync points, and what of them may overlap. Owner: the compiled schedule
 * (segments[]); changed by the thread that owns the world, between segments.
 *   plan == NULL: none was made; else it is one of plans[], and stages[].tasks are its tasks
 *   plan is plans[WEFT__PLAN_SPLIT] only from a look at the segment to the next frame, which looks
 *   again: a loop over a stage would run tasks at once that wait for each other
 *   graph_pass != 0: graph_plan != NULL */
typedef struct weft__segment {
    uint32_t first_stage, end_stage;
    bool may_overlap;  /* several workers, or recorded; several systems, nothing asks for stages */
    bool has_no_split; /* the second plan was tried in vain: mostly it is the first one */
    weft__segment_choice choice;
    weft__task_plan plans[WEFT__PLANS];
    weft__task_plan *plan;
    uint64_t graph_pass; /* the last one in which it ran as a graph; 0: it never did */
    uint64_t graph_ns;   /* of that run, from its begin to its end */
    const weft__task_plan *graph_plan; /* of that run */
} weft__segment;

/* ---- systems ---- */

/* A group: named by systems or by weft_group_set, until the world ends. Owner: the scheduler
 * (groups[]); changed by the thread that owns the world.
 *   0 <= elapsed <= period between steps; due <= WEFT__CATCH_UP_LIMIT; is_disabled: due == 0 */
typedef struct weft__group {
    char name[WEFT__NAME_LIMIT];
    weft__lists lists;     /* before, after */
    double elapsed;        /* seconds not yet used up by runs of `period` */
    double elapsed_before; /* the same before this step */
    float period;
    bool is_disabled;
    uint32_t due; /* runs in this step */
} weft__group;

/* A system. Owner: the scheduler (systems[]), from weft_system_create to weft_system_destroy or the
 * end of the world. Never moves; workers only read it.
 *   scheduler->systems[slot] == this, handle == generation << WEFT__SLOT_BITS | (slot + 1)
 *   compiled: ordered[position] == this, stages[stage] lists it
 *   in a pass of a step: context.stamp == pass_base + version_offset; due <= WEFT__CATCH_UP_LIMIT
 *   context.query == NULL  <=>  query.id == 0; owns_query: query.id != 0
 *   timer < 0: not set; timer == 0: run out, its run is still to come */
typedef struct weft__system {
    weft_slice_context context; /* first: weft_slice.context points here */
    weft__scheduler *scheduler;
    void (*run)(weft_slice *slice, void *user);
    void *user;
    /* constant after create */
    void (*body)(weft_slice *slice, void *user); /* of a system with JOBS: what `run` calls */
    char name[WEFT__NAME_LIMIT];
    char commands_title[WEFT__NAME_LIMIT + 10]; /* for traces */
    weft__lists lists;
    weft_query query;        /* 0: no rows */
    weft_component by_depth; /* null: in any order */
    weft_job_cost level_cost;
    bool owns_query;
    bool skips_unchanged;
    bool passes;          /* WEFT__STAGING_PASSES; set when the schedule is compiled */
    uint8_t *guard_modes; /* [terms of the query] weft__guard_mode; NULL: nothing is copied */
    uint32_t held_count;  /* of lists.queries: acquired */
    uint32_t flags;
    uint32_t effects;
    uint32_t range_count;
    uint32_t (*range)(weft_world *world, void *user);
    bool (*run_if)(weft_world *world, void *user);
    float period;
    uint32_t group; /* index in groups */
    uint32_t rank;  /* order of registration */
    uint32_t handle;
    /* changed by the owner */
    bool is_enabled;
    bool is_active;    /* runs in this pass */
    bool was_active;   /* ran in the pass before */
    uint32_t position; /* in the order of effect */
    uint32_t stage;
    uint32_t due; /* runs in this step */
    double elapsed;
    double timer;     /* TIMER: seconds until it runs, and what has passed of the group's tick;
                     0: put off by its condition, to the next step; negative: not set */
    weft_frame frame; /* of this pass */
    uint32_t version_offset;
    uint32_t filter_version; /* of the filter the runs were made with */
    uint64_t runs;
    uint64_t total_ns; /* of the runs that were measured */
    uint32_t number;   /* in its segment, where that has a plan */
} weft__system;

/* Columns of one system in one chunk. `slice` is ready for slice 0 but for dt and worker. Owner:
 * the stage (its pile), for one structure version; the worker that runs its only slice writes
 * `slice`.
 *   slice.count == rows for systems with WHOLE_CHUNKS, else min(rows, 1 << slice_shift)
 *   column_bytes[t] == 0 where slice.columns[t] == NULL
 *   is_plain: filter == NULL, no masks, no skips_unchanged, no ASKS_CHANGES
 *   is_direct == (is_plain && slice.count == rows) */
typedef struct weft__binding {
    weft_slice slice;
    weft__system *system;
    const weft__query *query;
    const weft__filter *filter;   /* NULL: no condition that must be asked per slice */
    const uint32_t *column_bytes; /* [term] bytes per row */
    weft_a32 *const *x_stamps;    /* [stamp_count] version arrays of the written terms */
    uint32_t stamp_count;
    uint32_t match, flat;       /* of the query: match, entry of its list */
    uint32_t rows, slice_shift; /* of the chunk */
    const weft__layout *layout; /* of the chunk when it was bound */
    bool has_masks;
    bool is_plain;  /* every row of every slice is for the system */
    bool is_direct; /* plain, and the system gets the whole chunk: `slice` can be used as it is */
} weft__binding;

typedef enum weft__entry_kind {
    WEFT__ENTRY_CHUNK,  /* items are slices; all bindings run on each */
    WEFT__ENTRY_ONCE,   /* one item, no rows */
    WEFT__ENTRY_RANGE,  /* items are indices */
    WEFT__ENTRY_SERIES, /* one item: all bindings, slice after slice or by whole chunks */
    WEFT__ENTRY_LEVELS, /* one item: a system by depth, level after level */
} weft__entry_kind;

/* The rows of a system by depth. Owner: the stage (its pile).
 *   items of level i: [first_items[i], first_items[i + 1]) of the entries; none is empty
 *   entries[entry_count] is a sentinel, first_items[level_count] its first_item */
typedef struct weft__levels {
    struct weft__entry *entries;
    uint32_t entry_count;
    uint32_t *first_items;
    uint32_t level_count;
} weft__levels;

/* Items of a stage that are run in the same way. Owner: the stage (its pile); made by
 * stage_entries.c, read by workers.
 *   its items are [this->first_item, this[1].first_item); the last entry is a sentinel
 *   binding_count > 0  <=>  kind is CHUNK or SERIES; levels != NULL  <=>  kind is LEVELS
 *   CHUNK: all bindings have the same chunk; is_direct: is_plain, and it has one item */
typedef struct weft__entry {
    uint32_t first_item;
    uint32_t kind; /* weft__entry_kind */
    weft__binding *bindings;
    uint32_t binding_count;
    weft__system *system; /* ONCE, RANGE, SERIES, LEVELS */
    weft__levels *levels; /* LEVELS */
    bool is_plain;        /* CHUNK: all bindings are */
    bool is_direct;       /* CHUNK: all bindings are, so it has one slice */
} weft__entry;

/* Systems that run beside each other, with their entries. Owner: the compiled schedule (stages[]);
 * changed by the thread that owns the world, between stages.
 *   active_count <= system_count; counted only in conditional passes
 *   entries are current  <=>  entries_version is that of the structure and no filter changed
 *   item_count == entries[entry_count].first_item
 *   background.generation != 0: its loop was started and not joined yet
 *   has_main, has_ranges, has_background, is_exclusive: of one system at least */
typedef struct weft__stage {
    weft__system **systems; /* into scheduler->stage_systems */
    char title[136];        /* "stage " and their names, for traces */
    uint32_t system_count;
    uint32_t active_count; /* in this pass */
    uint32_t segment;      /* sync points and exclusive systems lie between segments */
    uint32_t join_stage;   /* its background systems must have ended before this stage */
    bool is_exclusive;
    bool has_main; /* some system must run on the owner */
    bool has_ranges, has_background;
    bool is_sync; /* commands are played back before it */
    uint32_t sync_version_offset;
    uint32_t frames_to_ask; /* first of a segment that may overlap: until weft__segment_choose is
                               asked; else 0 */
    /* entries */
    uint64_t entries_version; /* 0 = never made */
    uint32_t binding_count;   /* in them; 0: they cannot be refreshed, only made */
    weft__pile pile;
    weft__entry *entries; /* in `pile`; entries[entry_count] is a sentinel */
    uint32_t entry_count;
    weft__entry *main_entries; /* run by the owner, in order */
    uint32_t main_entry_count;
    weft__entry *background_entries;
    uint32_t background_entry_count;
    uint32_t item_count;
    weft_job_handle background; /* running; null when not */
    /* cost */
    weft_job_cost cost;
    weft__stage_cost probe;
    weft__playback_costs playback_costs; /* is_sync, or the end of the frame: of the playback */
    uint64_t time_ns;    /* of the last run, when measured: from its begin to its end */
    uint64_t timed_pass; /* the pass of that run */
    weft__task *tasks;   /* of its segment's plan; NULL: none was made */
    uint32_t task_count;
} weft__stage;

/* What one system did on one worker in one pass. Owner: the worker (tallies[slot]).
 *   frame < scheduler->pass: an older pass, it starts from 0 when the system runs again */
typedef struct weft__system_tally {
    uint64_t frame; /* pass it counts */
    uint64_t slices;
    uint64_t rows;
    uint64_t commands;
    uint64_t time_ns;
    uint64_t sampled_ns; /* of the part of a fused stage that runs: its sampled slices */
} weft__system_tally;

typedef struct weft__violation weft__violation; /* diagnose.c */
typedef struct weft__far_write weft__far_write; /* the same */

/* A system of a sweep over the slices of one chunk: its slice, which moves on, and what to call.
 * Owner: the worker, for one call of weft__system_calls. */
typedef struct weft__sweep_member {
    weft_slice slice;
    void (*run)(weft_slice *slice, void *user);
    void *user;
    const weft__system *system;
} weft__sweep_member;

/* What a system asked for and did not get. */
typedef enum weft__missed {
    WEFT__MISSED_LOOP,     /* memory for a loop of weft_slice_query */
    WEFT__MISSED_RECORDER, /* while it passes sync points */
    WEFT__MISSED_COUNT
} weft__missed;

/* What one worker writes while stages run, on cache lines of its own. Owner: the scheduler
 * (workers[]); while a stage runs its worker alone touches it, between stages the owner.
 *   this == &scheduler->workers[index], scheduler->recorders[index] == &commands
 * tallies, mask, violations and far_writes are its own memory; columns, sweep, sweep_columns and
 * sweep_steps lie in the pile of the compiled schedule. */
typedef struct weft__worker {
    _Alignas(64) weft_recorder commands;
    weft__scheduler *scheduler;  /* constant, as the index */
    uint32_t index;              /* this one is scheduler->workers[index] */
    weft__system_tally *tallies; /* [slot of the system]; kept over compilations */
    uint64_t *mask;              /* of a slice, or of a whole chunk */
    void **columns;              /* of a slice that is not the first of its chunk */
    weft_slice slice;
    weft__query_loops loops;   /* of its systems over their declared queries */
    uint64_t hashed_ns;        /* of this step, by the state log behind calls of systems */
    uint64_t sampled_hash_ns;  /* of the part of a fused stage that runs: as sampled_ns */
    bool is_sharing;           /* that part runs: hashing is a share of its span */
    weft__sweep_member *sweep; /* [most systems of a stage] */
    void **sweep_columns; /* [terms of all systems of a stage] columns of all members in a row */
    size_t *sweep_steps;  /* the same: bytes from slice to slice */
    const weft__system
        *missed[WEFT__MISSED_COUNT];        /* of this step: the earliest that did; or NULL */
    WEFT__LIST(weft__violation) violations; /* checked builds, of this step */
    uint64_t violation_sequence;
    WEFT__LIST(weft__far_write) far_writes; /* checked builds, see diagnose.c */
} weft__worker;

#define WEFT__SLOT_BITS 16
#define WEFT__SLOT_LIMIT ((1u << WEFT__SLOT_BITS) - 1)

static inline uint32_t weft__system_slot(const weft__system *system)
{
    return (system->handle & WEFT__SLOT_LIMIT) - 1;
}

/* Its slices run one after the other. */
static inline bool weft__system_is_serial(const weft__system *system)
{
    return (system->flags &
            (WEFT_SYSTEM_SERIAL | WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE)) != 0;
}

/* The thread that steps the world runs it. */
static inline bool weft__system_is_on_owner(const weft__system *system)
{
    return (system->flags & (WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE)) != 0;
}

/* It runs when its timer has run out. */
static inline bool weft__system_is_timer(const weft__system *system)
{
    return (system->flags & WEFT_SYSTEM_TIMER) != 0;
}

/* Which frames are traced with WEFT_TRACE_SHARE, or counted with WEFT_COUNTERS_SHARE: one, then
 * `skips` that are not, whose time tells what the one cost. Owner: the scheduler. */
typedef struct weft__frame_share {
    uint32_t percent; /* of the time; 0: all frames */
    uint32_t skips, left;
    uint32_t row;              /* frames one after the other */
    uint64_t begin_ns, end_ns; /* of the last one */
    uint64_t taken, of;        /* frames */
} weft__frame_share;

/* The orders that were declared, kept for the reports. Owner: the compiled schedule (its pile).
 *   nodes below system_limit are slots of systems, system_limit + 2 * i is the begin of group i,
 *   the next one its end
 *   nodes[] has all of them, in an order that respects every edge */
typedef struct weft__order_graph {
    const weft__order_edge *edges; /* between nodes */
    const uint32_t *nodes;
    uint32_t edge_count, node_count;
    uint32_t system_limit;
} weft__order_graph;

/* What the environment asks for (WEFT_COUNTERS). */
typedef enum weft__counter_wish {
    WEFT__COUNTER_WISH_NONE,
    WEFT__COUNTER_WISH_BEST,    /* "1" */
    WEFT__COUNTER_WISH_SOFTWARE /* "software": without the hardware rung */
} weft__counter_wish;

typedef struct weft__counters weft__counters; /* counters_group.c */

/* What a step does beside calling systems; a row each in times, counters and traces. */
typedef enum weft__work {
    WEFT__WORK_REST, /* none of the others; counted, not timed */
    WEFT__WORK_RELATIONS,
    WEFT__WORK_PLAYBACK,
    WEFT__WORK_OBSERVERS,
    WEFT__WORK_HASHING, /* by the state log */
    WEFT__WORKS
} weft__work;

/* Owner: the world (its extension). Changed by the thread that owns the world; while a stage runs,
 * workers read it and write their own weft__worker.
 *   workers and recorders: [worker_count], constant; systems and generations: [system_capacity]
 *   system_count + retired_count <= system_capacity <= WEFT__SLOT_LIMIT
 *   !is_dirty: ordered_count == system_count == the sum of stages[].system_count
 *              version_count == ordered_count + staging.sync_count + 1
 *              ordered[i]->position == i; barriers are sorted by (after, before)
 *   in a step: is_followed == (is_counted || hash_log != NULL); is_timed == options.is_measured;
 *              is_watched == (is_followed || is_timed || is_traced); is_counted: counters != NULL
 *   background_count == the number of stages with background.generation != 0 */
struct weft__scheduler {
    weft_world *world;
    weft__memory *memory;
    weft_schedule_desc options;

    weft__system **systems; /* [slot]; NULL = free */
    uint32_t *generations;  /* [slot] */
    uint32_t system_capacity;
    uint32_t system_count;
    uint32_t retired_count; /* slots whose handles are used up: so none ever comes back */
    uint32_t next_rank;
    weft__group *groups;
    uint32_t group_count, group_capacity;

    /* compiled */
    bool is_dirty;                /* systems, groups or options changed */
    uint32_t compiled_relations;  /* declared when it was compiled */
    uint32_t compiled_archetypes; /* archetype count it was compiled for */
    uint64_t compiled_order;      /* the world's order_version then */
    weft__system **ordered;       /* [position] order of effect */
    weft__system **stage_systems;
    uint32_t ordered_count;
    weft__staging staging;
    weft__staging_node *nodes;  /* [position]; kept for explain and export */
    weft__order_edge *barriers; /* as in weft__staging_input */
    uint32_t barrier_count;
    uint32_t gate_count;
    weft__order_graph order_graph;
    weft__stage *stages;
    uint32_t stage_count; /* stages[stage_count] is the end of the frame */
    uint32_t stage_capacity;
    weft__segment *segments; /* in `pile` */
    uint32_t segment_count;
    uint32_t version_count; /* change versions one pass uses */
    bool has_conditions;    /* a run condition, a rate, a disabled system or group */
    bool has_filters;       /* a system with a filter: its version is checked every pass */
    weft__pile pile;        /* access sets, archetype sets */

    WEFT__LIST(uint32_t)
    entry_of_chunk; /* stage_entries.c: [chunk id] entry index + 1; all 0
                                            between uses */

    /* workers */
    weft__worker *workers;
    weft_recorder **recorders; /* [worker] */
    uint32_t worker_count;
    uint32_t tally_capacity;
    uint32_t mask_words;

    struct weft__observers *observers;                  /* observers.c; NULL: never was */
    void (*observers_free)(weft__scheduler *scheduler); /* of them; set with them */
    void (*observers_json)(weft__text *t, const weft__scheduler *scheduler); /* the same */
    uint32_t restores; /* of snapshots, and renewals of versions: none that was seen is believed */
    /* frames */
    uint64_t pass;             /* number of the pass that runs, from 1 */
    uint64_t step_pass;        /* the last pass of a step: weft_system_run is none */
    uint32_t passes_left;      /* of this step, with the one that runs; 0: a system runs alone */
    uint32_t pass_base;        /* the version at offset 0 of this pass */
    uint32_t background_count; /* stages whose background loop was not joined yet */
    bool is_conditional;       /* of the pass: has_conditions when it began */
    bool has_frame_hint;       /* weft_job_frame_begin was called in this frame */
    weft_error error;          /* the first one of this step */
    WEFT__LIST(weft_error) mistakes; /* checked builds: all that the last step found */
    weft_frame_stats stats;
    uint64_t work_ns[WEFT__WORKS]; /* of the last step, by the thread that steps; is_measured */
    weft__counters *counters;      /* NULL: never counted */
    weft__frame_share trace_share, counter_share;
    weft_job_context *zones_before;      /* the step: of its thread */
    struct weft__hash_log *hash_log;     /* hash_log.h; NULL: none is written */
    struct weft__part_order *part_order; /* part_order.h; NULL: slices run as they come */
    weft__counter_wish counter_wish;
    bool is_counted;          /* in this step; begin_step decides */
    bool is_followed;         /* in this step: something is taken after each call of a system */
    bool is_timed;            /* in this step: parts are timed */
    bool is_traced;           /* events of this step are kept: begin_step asks the pool */
    bool is_watched;          /* one of these; dispatch looks at nothing else first */
    bool is_traced_in_detail; /* the cost of each slice, too: a recording for weft simulate */
    bool is_serial;           /* in this step: all systems run on the owner */
    struct weft__system_list *system_list; /* compile.c; NULL: nothing was written */
};

/* An empty pile of the scheduler's memory. */
static inline weft__pile weft__systems_pile(const weft__scheduler *scheduler)
{
    return (weft__pile){
        .memory = scheduler->memory, .category = WEFT__MEMORY_SYSTEMS, .least = 4096};
}

/* Everything goes to the pool, as an order of slices (part_order.h) asks, too. */
static inline bool weft__is_always_parallel(const weft__scheduler *scheduler)
{
    return scheduler->options.is_always_parallel || scheduler->part_order != NULL;
}

/* The system of a slice whose callback runs: its context is the first field of it. */
static inline const weft__system *weft__slice_system(const weft_slice *slice)
{
    return (const weft__system *)weft__slice_origin(slice);
}
