/* frame.c: a step of the world: conditions, stages, sync points, versions.
 *
 * A step is one *pass* over the stages, or several when a fixed rate must catch up: the earlier
 * passes run only what is due more than once, so that everything else sees the newest state in
 * the last one. Change versions of a pass are handed out in order of effect, whatever the order
 * of execution is, so fusion and workers do not show in them. After a sync point new archetypes
 * may exist: then the schedule is compiled again and the pass goes on with the next segment,
 * which is the same in both. */
#include "diagnose.h"

#include "host.h"

#include <float.h>
#include <string.h>

const char *weft__scheduler_recorder_name(const void *user, uint64_t key)
{
    const weft__scheduler *scheduler = user;
    uint32_t position = (uint32_t)(key >> 32);
    return position < scheduler->ordered_count ? scheduler->ordered[position]->name : NULL;
}

/* ---- sync points ---- */

static bool has_commands(const weft__scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        const weft_recorder *commands = scheduler->recorders[i];
        if (commands->segment_count != 0 || commands->failure.code != WEFT_OK) return true;
    }
    return false;
}

/* Counts commands per recording system; checked builds compare with what it declared. */
static void tally_commands(weft__scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        weft_recorder *commands = scheduler->recorders[i];
        if (WEFT_IS_CHECKED) weft__commands_seal(commands);
        for (uint32_t k = 0; k < commands->segment_count; k++) {
            const weft__command_segment *segment = &commands->segments[k];
            const weft__system *system = scheduler->ordered[segment->key >> 32];
            weft__system_tally *tally = &scheduler->workers[i].tallies[weft__system_slot(system)];
            if (tally->frame != scheduler->pass)
                *tally = (weft__system_tally){.frame = scheduler->pass};
            tally->commands += segment->count;
            if (WEFT_IS_CHECKED) weft__diagnose_effects(scheduler, i, segment);
        }
    }
}

static void sync(weft__scheduler *scheduler, uint32_t version)
{
    weft_world *world = scheduler->world;
    weft_job_context *owner = world->host.context;
    weft__note(owner, WEFT_JOB_EVENT_MARK, "sync point", UINT32_MAX);
    if (!has_commands(scheduler)) return;
    weft__note(owner, WEFT_JOB_EVENT_SPAN_BEGIN, "playback", UINT32_MAX);
    tally_commands(scheduler);
    uint64_t begin = weft__scheduler_now(scheduler);
    uint32_t busy = world->busy;
    world->busy = 0;
    world->version = version;
    weft__playback_result played;
    bool is_serial = scheduler->worker_count == 1 || scheduler->options.without_parallel;
    weft__playback_desc desc = {.world = world,
                                .job = is_serial ? NULL : world->host.context,
                                .recorders = scheduler->recorders,
                                .count = scheduler->worker_count,
                                .name = weft__scheduler_recorder_name,
                                .user = scheduler};
    weft_result result = weft__commands_playback(&desc, &played);
    world->busy = busy;
    weft__scheduler_fail(scheduler, result);
    scheduler->stats.commands += played.commands;
    scheduler->stats.commands_skipped += played.skipped;
    scheduler->stats.playback_ns += weft__scheduler_now(scheduler) - begin;
    weft__note(owner, WEFT_JOB_EVENT_SPAN_END, "playback", 0);
}

/* ---- who runs, how often, with what dt ---- */

static weft_result check_dt(const weft_world *world, const char *what, float dt)
{
    if (dt >= 0 && dt <= FLT_MAX) return WEFT_OK;
    return weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: dt is %g: it must be finite and not negative", what, (double)dt);
}

static uint32_t runs_due(double *elapsed, double dt, double period)
{
    *elapsed += dt;
    double runs = *elapsed / period + 1e-9; /* 60 steps of 1/60 s are one second */
    if (runs < 1) return 0;
    if (runs < 1e15) /* else it is a whole number as it is */
        runs = (double)(uint64_t)runs;
    *elapsed -= runs * period;
    if (*elapsed < 0) *elapsed = 0;
    return runs > WEFT__CATCH_UP_LIMIT ? WEFT__CATCH_UP_LIMIT : (uint32_t)runs; /* given up */
}

/* Which tick of this step, counted from 1, sees the timer run out; 0: none. `ticks` of `period`
 * seconds pass for the system. A timer that has run out stays at 0 until its system has run. */
static uint32_t timer_tick(double *timer, uint32_t ticks, double period)
{
    if (*timer < 0) return 0;
    for (uint32_t tick = 1; tick <= ticks; tick++) {
        *timer -= period;
        if (*timer > 1e-9) continue; /* 60 steps of 1/60 s are one second */
        *timer = 0;
        return tick;
    }
    return 0;
}

/* The number of the pass that a timer's system runs in, counted from the last one; 0: none. */
static uint32_t timer_due(weft__system *system, const weft__group *group, double dt)
{
    if (!system->is_enabled) return 0; /* its time stands still; a paused group has no ticks */
    uint32_t tick =
        timer_tick(&system->timer, group->due, group->period > 0 ? (double)group->period : dt);
    return tick == 0 ? 0 : group->due - tick + 1;
}

/* Conditions look at the world: as if the owner iterated a query. */
static uint32_t ask(const weft__scheduler *scheduler, const weft__system *system, uint32_t due)
{
    weft_world *world = scheduler->world;
    if (due == 0 || system->run_if == NULL) return due;
    world->frame = WEFT__FRAME_ASKS;
    world->busy = 1;
    bool runs = system->run_if(world, system->user);
    world->busy = 0;
    world->frame = WEFT__FRAME_RUNS;
    return runs ? due : 0;
}

/* Decides how often each system runs in this step; returns the number of passes. */
static uint32_t decide(weft__scheduler *scheduler, double dt)
{
    uint32_t passes = 1;
    for (uint32_t i = 0; i < scheduler->group_count; i++) {
        weft__group *group = &scheduler->groups[i];
        group->due = group->is_disabled ? 0 : 1;
        if (group->due != 0 && group->period > 0)
            group->due = runs_due(&group->elapsed, dt, (double)group->period);
    }
    for (uint32_t i = 0; i < scheduler->ordered_count; i++) {
        weft__system *system = scheduler->ordered[i];
        const weft__group *group = &scheduler->groups[system->group];
        uint32_t due = group->due;
        if (system->period > 0 && !group->is_disabled && system->is_enabled)
            due = runs_due(&system->elapsed, dt, (double)system->period);
        if (!system->is_enabled) due = 0;
        if (weft__system_is_timer(system)) due = timer_due(system, group, dt);
        system->due = ask(scheduler, system, due);
        if (weft__system_is_timer(system) && system->due != 0) system->timer = -1;
        if (system->due > passes) passes = system->due;
    }
    return passes;
}

static float dt_of(const weft__scheduler *scheduler, const weft__system *system, float dt)
{
    if (system->period > 0) return system->period;
    float group_period = scheduler->groups[system->group].period;
    return group_period > 0 ? group_period : dt;
}

/* The version a system's own last run had becomes what its filters compare with. */
static inline void begin_system(weft__system *system, uint32_t base, bool is_active, float dt)
{
    if (system->was_active) system->context.since = system->context.stamp;
    system->was_active = system->is_active = is_active;
    system->context.stamp = base + system->version_offset;
    system->dt = dt;
    system->runs += is_active;
}

static void begin_pass_unconditional(weft__scheduler *scheduler, float dt)
{
    uint32_t base = scheduler->pass_base;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++)
        begin_system(scheduler->ordered[i], base, true, dt);
}

/* `left`: passes of this step from this one on. */
static void begin_pass(weft__scheduler *scheduler, float dt, uint32_t left)
{
    for (uint32_t i = 0; i < scheduler->stage_count; i++) scheduler->stages[i].active_count = 0;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++) {
        weft__system *system = scheduler->ordered[i];
        bool is_active = weft__system_is_timer(system) ? system->due == left : system->due >= left;
        begin_system(system, scheduler->pass_base, is_active, dt_of(scheduler, system, dt));
        scheduler->stages[system->stage].active_count += is_active;
    }
}

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

static weft_result run_stage(weft__scheduler *scheduler, weft__stage *stage)
{
    bool is_stale = stage->runs_version != scheduler->world->structure_version ||
                    (scheduler->has_filters && has_stale_filter(stage));
    if (is_stale) {
        weft_result result = weft__runs_prepare(scheduler, stage);
        if (result != WEFT_OK) return result;
    }
    weft_job_context *owner = scheduler->world->host.context;
    weft__note(owner, WEFT_JOB_EVENT_SPAN_BEGIN, "stage", (uint32_t)(stage - scheduler->stages));
    uint64_t begin = scheduler->options.measure ? weft__scheduler_now(scheduler) : 0;
    weft__stage_run(scheduler, stage);
    if (scheduler->options.measure) stage->time_ns = weft__scheduler_now(scheduler) - begin;
    weft__note(owner, WEFT_JOB_EVENT_SPAN_END, "stage", 0);
    return WEFT_OK;
}

/* Archetypes were made: compiles, and returns the first stage of the segment. */
static weft_result recompile(weft__scheduler *scheduler, uint32_t segment, uint32_t *number)
{
    weft_result result = weft__schedule_prepare(scheduler);
    if (result != WEFT_OK) return result;
    for (*number = 0; *number < scheduler->stage_count; ++*number)
        if (scheduler->stages[*number].segment >= segment) break;
    for (uint32_t i = 0; i < scheduler->stage_count; i++) scheduler->stages[i].active_count = 0;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++)
        scheduler->stages[scheduler->ordered[i]->stage].active_count +=
            scheduler->ordered[i]->is_active;
    return WEFT_OK;
}

static weft_result run_stages(weft__scheduler *scheduler)
{
    weft_result result = WEFT_OK;
    uint32_t segment = 0;
    for (uint32_t i = 0; i < scheduler->stage_count && result == WEFT_OK; i++) {
        weft__stage *stage = &scheduler->stages[i];
        if (scheduler->background_count != 0) weft__stage_join(scheduler, i);
        if (stage->is_sync) sync(scheduler, scheduler->pass_base + stage->sync_version_offset);
        if (stage->segment != segment) {
            segment = stage->segment;
            if (scheduler->compiled_archetypes != scheduler->world->archetypes.count) {
                result = recompile(scheduler, segment, &i);
                if (result != WEFT_OK || i == scheduler->stage_count) break;
                stage = &scheduler->stages[i];
            }
        }
        if (scheduler->is_conditional && stage->active_count == 0) continue;
        result = run_stage(scheduler, stage);
    }
    weft__stage_join(scheduler, UINT32_MAX);
    sync(scheduler, scheduler->pass_base + scheduler->version_count - 1);
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
    scheduler->pass++;
    scheduler->passes_left = left;
    if (world->version > UINT32_MAX - scheduler->version_count - 2) world->version = 0; /* wraps */
    scheduler->pass_base = world->version + 1;
    scheduler->is_conditional =
        scheduler->has_conditions; /* which an exclusive system may change */
    if (scheduler->is_conditional)
        begin_pass(scheduler, dt, left);
    else
        begin_pass_unconditional(scheduler, dt);
    uint32_t last = world->version + scheduler->version_count;
    weft__column_maps_refresh(world);
    world->busy = WEFT__BUSY_STEPPING;
    if (WEFT_IS_CHECKED) weft__diagnose_begin(scheduler);
    weft_result result = run_stages(scheduler);
    if (WEFT_IS_CHECKED) weft__diagnose_end(scheduler);
    if (scheduler->options.measure) add_totals(scheduler);
    world->busy = 0;
    world->version = last;
    return result;
}

/* ---- the step ---- */

static void clock_advance(weft_world *world, float dt)
{
    world->clock.steps++;
    world->clock.time += (double)dt;
    world->clock.dt = dt;
}

static void begin_step(weft__scheduler *scheduler)
{
    const weft_job_pool *pool = scheduler->world->host.pool;
    scheduler->world->frame = WEFT__FRAME_RUNS;
    scheduler->is_traced = weft__pool_is_traced(pool);
    scheduler->is_traced_in_detail = weft__pool_is_traced_in_detail(pool);
    scheduler->is_counted = weft__counters_prepare(scheduler);
    scheduler->is_measured = scheduler->is_counted || scheduler->options.measure;
    weft__note(scheduler->world->host.context, WEFT_JOB_EVENT_SPAN_BEGIN, "frame",
               (uint32_t)scheduler->stats.frames);
    scheduler->error.code = WEFT_OK;
    scheduler->mistake_count = 0;
    scheduler->stats.commands = scheduler->stats.commands_skipped = 0;
    scheduler->stats.playback_ns = 0;
}

/* The end of the frame in the trace, with the counters of the world. */
static void trace_end(weft__scheduler *scheduler)
{
    weft_job_context *owner = scheduler->world->host.context;
    weft__note(owner, WEFT_JOB_EVENT_SPAN_END, "frame", 0);
    if (!scheduler->is_traced) return;
    const weft_world *world = scheduler->world;
    uint64_t alive = weft__directory_alive(&world->directory);
    weft__note(owner, WEFT_JOB_EVENT_COUNTER, "entities", (uint32_t)alive);
    weft__note(owner, WEFT_JOB_EVENT_COUNTER, "chunks", world->chunks.count);
    weft__note(owner, WEFT_JOB_EVENT_COUNTER, "commands", (uint32_t)scheduler->stats.commands);
    if (scheduler->is_counted) weft__counters_trace(scheduler);
    weft__pool_drain_trace(scheduler->world->host.pool);
}

static weft_result end_step(weft__scheduler *scheduler, weft_result result)
{
    if (scheduler->has_frame_hint) {
        weft_job_frame_end(scheduler->world->host.pool);
        scheduler->has_frame_hint = false;
    }
    trace_end(scheduler);
    weft__scheduler_fail(scheduler, result);
    if (WEFT_IS_CHECKED) weft__diagnose_report(scheduler);
    scheduler->world->frame = WEFT__FRAME_NONE;
    if (scheduler->error.code == WEFT_OK) return WEFT_OK;
    weft_error *error = scheduler->world->error;
    scheduler->error.number = error->number + 1; /* the step fails after what failed in it */
    *error = scheduler->error;
    return error->code;
}

weft_result weft_world_step(weft_world *world, float dt)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__between_steps(world, "weft_world_step");
    if (result != WEFT_OK) return result;
    result = check_dt(world, "weft_world_step", dt);
    if (result != WEFT_OK) return result;
    weft__scheduler *scheduler = weft__scheduler_of(world);
    if (scheduler != NULL) result = weft__schedule_prepare(scheduler);
    if (scheduler != NULL && result == WEFT_OK) result = weft__host_begin(world, "weft_world_step");
    if (result != WEFT_OK) return result;
    clock_advance(world, dt);
    if (scheduler == NULL) return WEFT_OK; /* no systems */
    begin_step(scheduler);
    uint64_t begin = scheduler->options.measure ? weft__scheduler_now(scheduler) : 0;
    uint32_t passes = scheduler->has_conditions ? decide(scheduler, (double)dt) : 1;
    for (uint32_t left = passes; left > 0 && result == WEFT_OK; left--)
        result = run_pass(scheduler, dt, left);
    scheduler->stats.frames++;
    if (scheduler->options.measure)
        scheduler->stats.frame_ns = weft__scheduler_now(scheduler) - begin;
    result = end_step(scheduler, result);
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
    weft_result result = weft__runs_prepare(scheduler, &stage);
    if (result != WEFT_OK) return result;
    scheduler->pass++;
    scheduler->passes_left = 0;
    if (world->version > UINT32_MAX - 3) world->version = 0; /* wraps */
    scheduler->pass_base = world->version + 1;
    begin_system(system, scheduler->pass_base, true, dt_of(scheduler, system, dt));
    system->context.stamp = scheduler->pass_base;
    weft__column_maps_refresh(world);
    world->busy = WEFT__BUSY_STEPPING;
    if (WEFT_IS_CHECKED) weft__diagnose_begin(scheduler);
    weft__stage_run(scheduler, &stage);
    if (stage.background.generation != 0) {
        result = weft_job_wait(world->host.context, stage.background, NULL);
        scheduler->background_count--;
    }
    sync(scheduler, scheduler->pass_base + 1);
    if (WEFT_IS_CHECKED) weft__diagnose_end(scheduler);
    if (scheduler->options.measure) add_total(scheduler, system);
    world->busy = 0;
    world->version = scheduler->pass_base + 1;
    weft__runs_free(scheduler, &stage);
    return result;
}

weft_result weft_system_run(weft_world *world, weft_system handle, float dt)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__between_steps(world, "weft_system_run");
    if (result != WEFT_OK) return result;
    result = check_dt(world, "weft_system_run", dt);
    if (result != WEFT_OK) return result;
    weft__system *system = weft__system_at(world, handle);
    if (system == NULL) return WEFT_BAD_HANDLE;
    weft__scheduler *scheduler = system->scheduler;
    result = weft__schedule_prepare(scheduler);
    if (result == WEFT_OK) result = weft__host_begin(world, "weft_system_run");
    if (result != WEFT_OK) return result;
    begin_step(scheduler);
    result = end_step(scheduler, run_alone(scheduler, system, dt));
    weft__host_end(world);
    return result;
}

/* ---- statistics ---- */

weft_result weft_schedule_set(weft_world *world, const weft_schedule_desc *options)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (options == NULL)
        return weft__error_argument(world, "weft_schedule_set",
                                    "options is NULL: all zero are the defaults");
    weft_result result = weft__between_steps(world, "weft_schedule_set");
    if (result != WEFT_OK) return result;
    weft__scheduler *scheduler = weft__scheduler_obtain(world);
    if (scheduler == NULL) return WEFT_OUT_OF_MEMORY;
    scheduler->options = *options;
    scheduler->is_dirty = true;
    return WEFT_OK;
}

weft_result weft_schedule_compile(weft_world *world)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__between_steps(world, "weft_schedule_compile");
    weft__scheduler *scheduler = weft__scheduler_of(world);
    if (result != WEFT_OK || scheduler == NULL) return result;
    return weft__schedule_prepare(scheduler);
}

void weft_frame_stats_get(const weft_world *world, weft_frame_stats *out)
{
    if (out == NULL) return;
    *out = (weft_frame_stats){0};
    const weft__scheduler *scheduler = world == NULL ? NULL : weft__scheduler_of(world);
    if (scheduler == NULL) return;
    *out = scheduler->stats;
    out->systems = scheduler->ordered_count;
    out->stages = scheduler->stage_count;
    out->sync_points = scheduler->staging.sync_count + 1;
    out->critical_path_ns = weft__schedule_critical_path(scheduler);
}

void weft__system_tally_get(const weft__scheduler *scheduler, const weft__system *system,
                            weft__system_tally *out)
{
    uint32_t slot = weft__system_slot(system);
    *out = (weft__system_tally){0};
    if (slot >= scheduler->tally_capacity) return;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        const weft__system_tally *tally = &scheduler->workers[i].tallies[slot];
        if (tally->frame > out->frame) *out = (weft__system_tally){.frame = tally->frame};
        if (tally->frame < out->frame || tally->frame == 0) continue;
        out->slices += tally->slices;
        out->rows += tally->rows;
        out->commands += tally->commands;
        out->time_ns += tally->time_ns;
    }
}

weft_result weft_system_stats_get(const weft_world *world, weft_system handle,
                                  weft_system_stats *out)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (out == NULL)
        return weft__error_argument(world, "weft_system_stats_get",
                                    "out is NULL: give the address of a weft_system_stats");
    const weft__system *system = weft__system_at(world, handle);
    if (system == NULL) return WEFT_BAD_HANDLE;
    const weft__scheduler *scheduler = system->scheduler;
    weft__system_tally tally;
    weft__system_tally_get(scheduler, system, &tally);
    const weft__stage *stage =
        system->stage < scheduler->stage_count ? &scheduler->stages[system->stage] : NULL;
    bool can_fuse = (system->query.id != 0 && stage != NULL && stage->system_count > 1 &&
                     (scheduler->nodes[system->position].traits & WEFT__STAGING_FUSABLE) != 0);
    *out = (weft_system_stats){.name = system->name,
                               .runs = system->runs,
                               .slices = tally.slices,
                               .rows = tally.rows,
                               .commands = tally.commands,
                               .time_ns = tally.time_ns,
                               .total_ns = system->total_ns,
                               .stage = system->stage,
                               .is_fused = can_fuse};
    return WEFT_OK;
}
