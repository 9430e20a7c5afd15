/* SPDX-License-Identifier: MIT */
/* frame.c: a step of the world, or of one system: passes, segments, versions.
 *
 * A step is one *pass* over the stages, or several when a fixed rate must catch up: the earlier
 * passes run only what is due more than once, so that everything else sees the newest state in
 * the last one. Change versions of a pass are handed out in order of effect, whatever the order
 * of execution is, so fusion and workers do not show in them. After a sync point new archetypes
 * may exist: then the schedule is compiled again and the pass goes on with the next segment,
 * which is the same in both. */
#include "column_watch.h"
#include "compile.h"
#include "counters_group.h"
#include "counters_report.h"
#include "diagnose.h"
#include "dispatch.h"
#include "due.h"
#include "hash_log.h"
#include "registry.h"
#include "segment_run.h"
#include "stage_entries.h"
#include "sync_point.h"

#include "ecs_engine.h"

#include <float.h>

/* ---- stages ---- */

static bool has_stale_filter(const weft__stage *stage)
{
    for (uint32_t i = 0; i < stage->system_count; i++) {
        const weft__system *system = stage->systems[i];
        if (system->query.id == 0 || system->owns_query) continue;
        const weft__query_handle *handle = weft__query_find(system->context.world, system->query);
        if (handle->filter.version != system->filter_version) return true;
    }
    return false;
}

static weft_result make_entries(weft__scheduler *scheduler, weft__stage *stage)
{
    weft_result result = weft__stage_entries_make(scheduler, stage);
    if (WEFT_IS_CHECKED && result == WEFT_OK) weft__watch_reserve(scheduler, stage);
    return result;
}

static inline weft_result refresh_entries(weft__scheduler *scheduler, weft__stage *stage)
{
    bool is_stale = stage->entries_version != weft__front(scheduler->world)->structure_version ||
                    (scheduler->has_filters && has_stale_filter(stage));
    return is_stale ? make_entries(scheduler, stage) : WEFT_OK;
}

static weft_result run_stage(weft__scheduler *scheduler, weft__stage *stage)
{
    weft_result result = refresh_entries(scheduler, stage);
    if (result != WEFT_OK) return result;
    weft_job_context *owner = weft__front(scheduler->world)->host.context;
    const char *title = stage->title;
    uint32_t number = (uint32_t)(stage - scheduler->stages);
    if (scheduler->is_traced_in_detail) { /* weft simulate goes by the number */
        weft__note(owner, WEFT_JOB_EVENT_MARK, title, number);
        title = "stage";
    }
    weft__note(owner, WEFT_JOB_EVENT_SPAN_BEGIN, title, number);
    uint64_t begin = scheduler->options.is_measured ? weft__scheduler_now(scheduler) : 0;
    weft__stage_run(scheduler, stage);
    if (scheduler->options.is_measured) {
        stage->time_ns = weft__scheduler_now(scheduler) - begin;
        stage->timed_pass = scheduler->pass;
    }
    weft__note(owner, WEFT_JOB_EVENT_SPAN_END, title, 0);
    return WEFT_OK;
}

/* Archetypes were made: compiles, and returns the first stage of the segment. */
static weft_result recompile(weft__scheduler *scheduler, uint32_t segment, uint32_t *number)
{
    weft_result result = weft__schedule_prepare(scheduler);
    if (result != WEFT_OK) return result;
    *number = segment < scheduler->segment_count ? scheduler->segments[segment].first_stage
                                                 : scheduler->stage_count;
    for (uint32_t i = 0; i < scheduler->stage_count; i++) scheduler->stages[i].active_count = 0;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++)
        scheduler->stages[scheduler->ordered[i]->stage].active_count +=
            scheduler->ordered[i]->is_active;
    return WEFT_OK;
}

static weft_result run_in_stages(weft__scheduler *scheduler, const weft__segment *segment)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = segment->first_stage; i < segment->end_stage && result == WEFT_OK; i++) {
        weft__stage *stage = &scheduler->stages[i];
        if (scheduler->is_conditional && stage->active_count == 0) continue;
        result = run_stage(scheduler, stage);
    }
    return result;
}

static weft_result run_measured(weft__scheduler *scheduler, weft__segment *segment)
{
    uint64_t begin = weft__scheduler_now(scheduler);
    weft_result result = run_in_stages(scheduler, segment);
    weft__segment_learn(scheduler, segment, WEFT__WAY_STAGES,
                        weft__scheduler_now(scheduler) - begin);
    return result;
}

static weft_result run_graph(weft__scheduler *scheduler, weft__segment *segment)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = segment->first_stage; i < segment->end_stage && result == WEFT_OK; i++)
        result = refresh_entries(scheduler, &scheduler->stages[i]);
    if (result != WEFT_OK) return result;
    weft_job_context *owner = weft__front(scheduler->world)->host.context;
    weft__note(owner, WEFT_JOB_EVENT_SPAN_BEGIN, "segment",
               (uint32_t)(segment - scheduler->segments));
    weft__segment_run(scheduler, segment);
    weft__note(owner, WEFT_JOB_EVENT_SPAN_END, "segment", 0);
    return WEFT_OK;
}

/* A segment whose stages may overlap, and that is to be looked at in this frame. */
static __attribute__((noinline)) weft_result run_asked(weft__scheduler *scheduler,
                                                       weft__segment *segment)
{
    if (scheduler->background_count != 0) weft__stage_join(scheduler, segment->end_stage - 1);
    if (scheduler->is_traced_in_detail) weft__segment_record(scheduler, segment);
    bool is_graph = weft__segment_choose(scheduler, segment);
    weft_result result =
        is_graph ? run_graph(scheduler, segment) : run_measured(scheduler, segment);
    uint32_t rest = segment->may_overlap ? segment->choice.rest + 1 : 0;
    scheduler->stages[segment->first_stage].frames_to_ask = rest;
    return result;
}

static weft_result run_stages(weft__scheduler *scheduler)
{
    weft_result result = WEFT_OK;
    uint32_t segment = 0;
    for (uint32_t i = 0; i < scheduler->stage_count && result == WEFT_OK; i++) {
        weft__stage *stage = &scheduler->stages[i];
        if (scheduler->background_count != 0) weft__stage_join(scheduler, i);
        if (stage->is_sync)
            weft__sync_point_run(scheduler, scheduler->pass_base + stage->sync_version_offset,
                                 &stage->playback_costs);
        if (stage->segment != segment) {
            segment = stage->segment;
            if (scheduler->compiled_archetypes != weft__archetype_count(scheduler->world)) {
                weft__stage_join(scheduler, UINT32_MAX); /* their stages are made again */
                result = recompile(scheduler, segment, &i);
                if (result != WEFT_OK || i == scheduler->stage_count) break;
                stage = &scheduler->stages[i];
            }
        }
        if (__builtin_expect(stage->frames_to_ask != 0, 0) && --stage->frames_to_ask == 0) {
            result = run_asked(scheduler, &scheduler->segments[segment]);
            i = scheduler->segments[segment].end_stage - 1;
            continue;
        }
        if (scheduler->is_conditional && stage->active_count == 0) continue;
        result = run_stage(scheduler, stage);
    }
    weft__stage_join(scheduler, UINT32_MAX);
    weft__sync_point_run(scheduler, scheduler->pass_base + scheduler->version_count - 1,
                         &scheduler->stages[scheduler->stage_count].playback_costs);
    return result;
}

/* After a pass that was timed: its part of weft_system_stats.total_ns. */
static void add_total(weft__scheduler *scheduler, weft__system *system)
{
    weft__system_tally tally;
    weft__system_tally_get(scheduler, system, &tally);
    if (tally.frame == scheduler->pass) system->total_ns += tally.time_ns;
}

static void add_totals(weft__scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->ordered_count; i++)
        add_total(scheduler, scheduler->ordered[i]);
}

static weft_result run_pass(weft__scheduler *scheduler, float dt, uint32_t left)
{
    weft_world *world = scheduler->world;
    scheduler->step_pass = ++scheduler->pass;
    scheduler->passes_left = left;
    if (weft__front(world)->version > UINT32_MAX - scheduler->version_count - 2)
        weft__front(world)->version = 0; /* wraps */
    scheduler->pass_base = weft__front(world)->version + 1;
    scheduler->is_conditional =
        scheduler->has_conditions; /* which an exclusive system may change */
    weft__due_begin_pass(scheduler, dt, left);
    uint32_t last = weft__front(world)->version + scheduler->version_count;
    weft__entity_maps_refresh(world);
    weft__hash_log_pass_begin(scheduler);
    weft__front(world)->busy = WEFT__BUSY_STEPPING;
    if (WEFT_IS_CHECKED) weft__diagnose_begin(scheduler);
    weft_result result = run_stages(scheduler);
    if (WEFT_IS_CHECKED) weft__diagnose_end(scheduler);
    if (scheduler->options.is_measured) add_totals(scheduler);
    weft__front(world)->busy = 0;
    weft__front(world)->version = last;
    weft__hash_log_pass_end(scheduler);
    return result;
}

/* ---- the step ---- */

static weft_result check_dt(const weft_world *world, const char *what, float dt)
{
    if (dt >= 0 && dt <= FLT_MAX) return WEFT_OK;
    return weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: dt is %g: it must be finite and not negative", what, (double)dt);
}

static void clock_advance(weft_world *world, float dt)
{
    weft__front(world)->clock.steps++;
    weft__front(world)->clock.time += (double)dt;
    weft__front(world)->clock.dt = dt;
}

static void begin_step(weft__scheduler *scheduler)
{
    const weft_job_pool *pool = weft__front(scheduler->world)->host.pool;
    weft__front(scheduler->world)->frame = WEFT__FRAME_RUNS;
    scheduler->is_traced = weft__pool_is_traced(pool);
    scheduler->is_traced_in_detail = weft__pool_is_traced_in_detail(pool);
    scheduler->is_serial = scheduler->worker_count == 1 || scheduler->options.without_parallel ||
                           scheduler->is_traced_in_detail;
    scheduler->is_counted = weft__counters_prepare(scheduler);
    scheduler->is_followed = scheduler->is_counted || scheduler->hash_log != NULL;
    scheduler->is_timed = scheduler->options.is_measured;
    scheduler->is_watched = scheduler->is_followed || scheduler->is_timed || scheduler->is_traced;
    weft__note(weft__front(scheduler->world)->host.context, WEFT_JOB_EVENT_SPAN_BEGIN, "frame",
               (uint32_t)scheduler->stats.frames);
    scheduler->error.code = WEFT_OK;
    scheduler->mistakes.count = 0;
    scheduler->stats.commands = scheduler->stats.commands_skipped = 0;
    scheduler->stats.playback_ns = 0;
}

/* The end of the frame in the trace, with the counters of the world. */
static void trace_end(weft__scheduler *scheduler)
{
    weft_job_context *owner = weft__front(scheduler->world)->host.context;
    weft__note(owner, WEFT_JOB_EVENT_SPAN_END, "frame", 0);
    if (!scheduler->is_traced) return;
    const weft_world *world = scheduler->world;
    uint64_t alive = weft__entity_count(world);
    weft__note(owner, WEFT_JOB_EVENT_COUNTER, "entities", (uint32_t)alive);
    weft__note(owner, WEFT_JOB_EVENT_COUNTER, "chunks", weft__chunk_count(world));
    weft__note(owner, WEFT_JOB_EVENT_COUNTER, "commands", (uint32_t)scheduler->stats.commands);
    if (scheduler->is_counted) weft__counters_trace(scheduler);
    weft__pool_drain_trace(weft__front(scheduler->world)->host.pool);
}

/* Makes a recorder that a system did not get the step's error. */
static void report_refused(weft__scheduler *scheduler)
{
    const weft__system *first = NULL;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        const weft__system *system = scheduler->workers[i].refused;
        scheduler->workers[i].refused = NULL;
        if (system != NULL && (first == NULL || system->position < first->position)) first = system;
    }
    if (first == NULL) return;
    weft_result result = weft__error(
        scheduler->world, WEFT_UNDECLARED_ACCESS, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
        "system %s: weft_slice_recorder gave NULL: a BACKGROUND system that declares no effects "
        "runs on beside sync points: set `effects` to what it records",
        first->name);
    weft__scheduler_fail(scheduler, result);
}

/* Makes a query that a system could not iterate the step's error. */
static void report_starved(weft__scheduler *scheduler)
{
    const weft__system *first = NULL;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        const weft__system *system = scheduler->workers[i].starved;
        scheduler->workers[i].starved = NULL;
        if (system != NULL && (first == NULL || system->position < first->position)) first = system;
    }
    if (first == NULL) return;
    weft_result result = weft__error(
        scheduler->world, WEFT_OUT_OF_MEMORY, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
        "system %s: weft_slice_query had no memory for a loop, and gave no rows: free memory",
        first->name);
    weft__scheduler_fail(scheduler, result);
}

static weft_result end_step(weft__scheduler *scheduler, weft_result result)
{
    if (scheduler->has_frame_hint) {
        weft_job_frame_end(weft__front(scheduler->world)->host.pool);
        scheduler->has_frame_hint = false;
    }
    trace_end(scheduler);
    for (uint32_t i = 0; i < scheduler->worker_count && scheduler->background_count == 0; i++)
        weft__loops_end(&scheduler->workers[i].loops);
    weft__scheduler_fail(scheduler, result);
    report_starved(scheduler);
    report_refused(scheduler);
    if (WEFT_IS_CHECKED) weft__watch_report(scheduler);
    if (WEFT_IS_CHECKED) weft__diagnose_report(scheduler);
    weft__front(scheduler->world)->frame = WEFT__FRAME_NONE;
    if (scheduler->error.code == WEFT_OK) return WEFT_OK;
    weft_error *error = weft__world_error_record(scheduler->world);
    scheduler->error.number = error->number + 1; /* the step fails after what failed in it */
    *error = scheduler->error;
    return error->code;
}

/* Relations, with what the owner changed since the last step. CYCLE does not keep the step from
 * running: it is its error. */
static inline weft_result settle_relations(weft_world *world, weft_result *cycle)
{
    *cycle = WEFT_OK;
    if (__builtin_expect(!weft__relations_any(world), 1)) return WEFT_OK;
    weft_result result = weft_relation_settle(world);
    if (result != WEFT_CYCLE) return result;
    *cycle = result;
    return WEFT_OK;
}

static inline weft_result step(weft_world *world, float dt)
{
    weft_result result = weft__outside_hooks(world, "weft_world_step");
    if (result != WEFT_OK) return result;
    result = check_dt(world, "weft_world_step", dt);
    weft_result cycle = WEFT_OK;
    if (result == WEFT_OK) result = settle_relations(world, &cycle);
    if (result != WEFT_OK) return result;
    weft__scheduler *scheduler = weft__scheduler_of(world);
    if (scheduler != NULL) result = weft__schedule_prepare(scheduler);
    if (result != WEFT_OK) return result;
    clock_advance(world, dt);
    weft__versions_check(world);
    if (scheduler == NULL) return cycle; /* no systems */
    begin_step(scheduler);
    weft__scheduler_fail(scheduler, cycle);
    uint64_t begin = scheduler->options.is_measured ? weft__scheduler_now(scheduler) : 0;
    uint32_t passes = scheduler->has_conditions ? weft__due_decide(scheduler, (double)dt) : 1;
    for (uint32_t left = passes; left > 0 && result == WEFT_OK; left--)
        result = run_pass(scheduler, dt, left);
    scheduler->stats.frames++;
    if (scheduler->options.is_measured)
        scheduler->stats.frame_ns = weft__scheduler_now(scheduler) - begin;
    return end_step(scheduler, result);
}

static void call_hooks(weft_world *world)
{
    const weft__scheduler *scheduler = weft__scheduler_of(world);
    uint64_t begin = scheduler != NULL ? weft__scheduler_now(scheduler) : 0;
    weft__world_stepped(world);
    if (scheduler != NULL) weft__front(world)->hooks_ns += weft__scheduler_now(scheduler) - begin;
}

weft_result weft_world_step(weft_world *world, float dt)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__host_begin(world, "weft_world_step");
    if (result != WEFT_OK) return result;
    uint64_t steps = weft__front(world)->clock.steps;
    result = step(world, dt);
    if (__builtin_expect(weft__world_is_asked(world), 0) &&
        weft__front(world)->clock.steps != steps) /* it was not refused */
        call_hooks(world);
    weft__host_end(world);
    return result;
}

/* One system as a stage of its own, in a pass of its own. */
static weft_result run_alone(weft__scheduler *scheduler, weft__system *system, float dt)
{
    weft_world *world = scheduler->world;
    weft__stage stage = {
        .systems = &system,
        .system_count = 1,
        .has_main = (system->flags & (WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE)) != 0,
        .has_ranges = system->range != NULL,
        .has_background = (system->flags & WEFT_SYSTEM_BACKGROUND) != 0};
    weft_result result = make_entries(scheduler, &stage);
    if (result != WEFT_OK) weft__stage_entries_free(scheduler, &stage);
    if (result != WEFT_OK) return result;
    scheduler->pass++;
    scheduler->passes_left = 0;
    if (weft__front(world)->version > UINT32_MAX - 3) weft__front(world)->version = 0; /* wraps */
    scheduler->pass_base = weft__front(world)->version + 1;
    weft__due_begin_alone(scheduler, system, dt);
    weft__entity_maps_refresh(world);
    weft__front(world)->busy = WEFT__BUSY_STEPPING;
    if (WEFT_IS_CHECKED) weft__diagnose_begin(scheduler);
    weft__stage_run(scheduler, &stage);
    if (stage.background.generation != 0) {
        result = weft_job_wait(weft__front(world)->host.context, stage.background, NULL);
        scheduler->background_count--;
    }
    weft__sync_point_run(scheduler, scheduler->pass_base + 1, &stage.playback_costs);
    if (WEFT_IS_CHECKED) weft__diagnose_end(scheduler);
    if (scheduler->options.is_measured) add_total(scheduler, system);
    weft__front(world)->busy = 0;
    weft__front(world)->version = scheduler->pass_base + 1;
    weft__stage_entries_free(scheduler, &stage);
    return result;
}

static weft_result run_system(weft_world *world, weft_system handle, float dt)
{
    weft_result result = weft__between_steps(world, "weft_system_run");
    if (result != WEFT_OK) return result;
    result = check_dt(world, "weft_system_run", dt);
    if (result != WEFT_OK) return result;
    weft__system *system = weft__system_at(world, handle);
    if (system == NULL) return WEFT_BAD_HANDLE;
    weft__scheduler *scheduler = system->scheduler;
    weft_result cycle;
    result = settle_relations(world, &cycle);
    if (result == WEFT_OK) result = weft__schedule_prepare(scheduler);
    if (result != WEFT_OK) return result;
    weft__versions_check(world);
    begin_step(scheduler);
    weft__scheduler_fail(scheduler, cycle);
    return end_step(scheduler, run_alone(scheduler, system, dt));
}

weft_result weft_system_run(weft_world *world, weft_system handle, float dt)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__host_begin(world, "weft_system_run");
    if (result != WEFT_OK) return result;
    result = run_system(world, handle, dt);
    weft__host_end(world);
    return result;
}
