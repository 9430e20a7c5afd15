/* SPDX-License-Identifier: MIT */
/* frame.c: a step of the world, or of one system: passes, segments, versions.
 *
 * A step is one *pass* over the stages, or several when a fixed rate must catch up: the earlier
 * passes run only what is due more than once, so that everything else sees the newest state in
 * the last one. Change versions of a pass are handed out in order of effect, whatever the order
 * of execution is, so fusion and workers do not show in them. After a sync point new archetypes
 * may exist: then the schedule is compiled again and the pass goes on with the next segment,
 * which is the same in both. */
#include "compile.h"
#include "counters.h"
#include "diagnose.h"
#include "dispatch.h"
#include "hash_log.h"
#include "observers.h"
#include "part_order.h"
#include "registry.h"
#include "segment_graph.h"
#include "slice_ops_system.h"
#include "stage_entries.h"

#include <float.h>
#include <string.h>

/* ---- the clock ----
 *
 * It moves when a step begins and stands while systems run, so that any of them may read it. */

weft_frame weft_world_frame(const weft_world *world)
{
    if (world == NULL) return (weft_frame){0};
    return (weft_frame){.number = weft__front(world)->clock.steps,
                        .time = weft__front(world)->clock.time,
                        .dt = weft__front(world)->clock.dt};
}

/* The rate that a system runs at, and what is left over of it; 0: every step. */
static double rate_of(const weft__scheduler *scheduler, const weft__system *system, double *rest)
{
    const weft__group *group = &scheduler->groups[system->group];
    *rest = system->period > 0 ? system->elapsed : group->elapsed;
    return (double)(system->period > 0 ? system->period : group->period);
}

weft_frame weft_slice_ask_frame(const weft_slice *slice)
{
    const weft_slice_context *context = slice->context;
    if (context->ops != &weft__slice_ops_system || !weft__slice_is_here(slice))
        return weft_world_frame(context->world);
    return weft__slice_system(slice)->frame;
}

float weft_world_alpha(const weft_world *world, const char *name)
{
    if (world == NULL) return 0;
    if (name == NULL) name = "";
    const weft__scheduler *scheduler = weft__scheduler_of(world);
    const weft__system *system = scheduler == NULL ? NULL : weft__system_named(scheduler, name);
    uint32_t group = scheduler == NULL ? WEFT__NONE : weft__group_named(scheduler, name);
    double rest = 0, period = 0;
    if (system != NULL) {
        period = rate_of(scheduler, system, &rest);
    } else if (group != WEFT__NONE) {
        period = (double)scheduler->groups[group].period;
        rest = scheduler->groups[group].elapsed;
    } else if ((weft__front(world)->busy & WEFT__BUSY_STEPPING) == 0) {
        weft__error(world, WEFT_NOT_FOUND, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "weft_world_alpha: no system or group is named '%s'", name);
    }
    float alpha = period > 0 ? (float)(rest / period) : 0;
    return alpha < 1 ? alpha : 1 - FLT_EPSILON / 2; /* the float above 1 - 1e-9 is 1 */
}

/* ---- what is due ----
 *
 * Rates, timers, conditions, disabled systems and groups decide.
 *
 * A fixed rate that must catch up makes several passes of a step. A system runs in the last `due`
 * of them; a timer's system in the one pass whose tick sees the timer run out. */

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
        if (*timer > WEFT__TIMER_SLACK) continue; /* 60 steps of 1/60 s are one second */
        *timer = 0;
        return tick;
    }
    return 0;
}

/* The time of a disabled system stands still, while its group ticks on. */
static void timer_hold(weft__system *system, const weft__group *group)
{
    if (system->timer <= 0 || group->period <= 0) return;
    system->timer += group->elapsed - group->elapsed_before;
    if (system->timer < WEFT__TIMER_SLACK) system->timer = WEFT__TIMER_SLACK;
}

/* The number of the pass that a timer's system runs in, counted from the last one; 0: none. */
static uint32_t timer_due(weft__system *system, const weft__group *group, double dt)
{
    if (!system->is_enabled) timer_hold(system, group);
    if (!system->is_enabled || group->is_disabled) return 0;
    /* put off by its condition: the next step, whether its group ticks or not */
    if (system->timer == 0) return group->due > 1 ? group->due : 1;
    uint32_t tick =
        timer_tick(&system->timer, group->due, group->period > 0 ? (double)group->period : dt);
    return tick == 0 ? 0 : group->due - tick + 1;
}

/* Conditions look at the world. */
static uint32_t ask(weft__scheduler *scheduler, const weft__system *system, uint32_t due)
{
    weft_world *world = scheduler->world;
    if (due == 0 || system->run_if == NULL) return due;
    weft__front(world)->frame = WEFT__FRAME_ASKS;
    weft__front(world)->busy = WEFT__BUSY_CALLBACK;
    bool runs = system->run_if(world, system->user);
    weft__left_loops_end(scheduler, "run_if of system", system->name);
    weft__front(world)->busy = 0;
    weft__front(world)->frame = WEFT__FRAME_RUNS;
    return runs ? due : 0;
}

static uint32_t due_decide(weft__scheduler *scheduler, double dt)
{
    uint32_t passes = 1;
    for (uint32_t i = 0; i < scheduler->group_count; i++) {
        weft__group *group = &scheduler->groups[i];
        group->due = group->is_disabled ? 0 : 1;
        group->elapsed_before = group->elapsed;
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
static inline void begin_system(weft__system *system, uint32_t base, bool is_active,
                                weft_frame frame)
{
    if (system->was_active) system->context.since = system->context.stamp;
    system->was_active = system->is_active = is_active;
    system->context.stamp = base + system->version_offset;
    system->frame = frame;
    system->runs += is_active;
}

static void due_begin_pass(weft__scheduler *scheduler, float dt, uint32_t left)
{
    const uint32_t base = scheduler->pass_base;
    const weft_frame now = weft_world_frame(scheduler->world);
    if (!scheduler->is_conditional) {
        for (uint32_t i = 0; i < scheduler->ordered_count; i++)
            begin_system(scheduler->ordered[i], base, true, now);
        return;
    }
    for (uint32_t i = 0; i < scheduler->stage_count; i++) scheduler->stages[i].active_count = 0;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++) {
        weft__system *system = scheduler->ordered[i];
        bool is_active = weft__system_is_timer(system) ? system->due == left : system->due >= left;
        weft_frame frame = now;
        double rest, period = rate_of(scheduler, system, &rest);
        if (period > 0) frame.time -= rest + period * (double)(left - 1);
        frame.dt = dt_of(scheduler, system, dt);
        begin_system(system, base, is_active, frame);
        scheduler->stages[system->stage].active_count += is_active;
    }
}

static void due_begin_alone(const weft__scheduler *scheduler, weft__system *system, float dt)
{
    weft_frame frame = weft_world_frame(scheduler->world);
    frame.dt = dt_of(scheduler, system, dt);
    begin_system(system, scheduler->pass_base, true, frame);
    system->context.stamp = scheduler->pass_base; /* its offset is that of a whole pass */
}

/* ---- sync points ----
 *
 * Playback of what systems recorded, between stages and at the end of a pass; then relations are
 * settled and observers run.
 *
 * Commands are counted for the systems that recorded them; checked builds compare them with what
 * these declared. */

#define PASSING_MOST 32u /* background systems under way that a sync point is compared with */

/* The name behind the key of a command, for errors. `user`: the scheduler. */
static const char *recorder_name(const void *user, uint64_t key)
{
    const weft__scheduler *scheduler = user;
    uint32_t position = (uint32_t)(key >> 32);
    return position < scheduler->ordered_count ? scheduler->ordered[position]->name : NULL;
}

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
        if (WEFT_IS_CHECKED) weft__recorder_seal(commands);
        for (uint32_t k = 0; k < commands->segment_count; k++) {
            const weft__command_segment *segment = &commands->segments[k];
            const uint32_t position = (uint32_t)(segment->key >> 32);
            if (position >= scheduler->ordered_count) continue; /* by a recorder that was kept */
            const weft__system *system = scheduler->ordered[position];
            weft__system_tally *tally = &scheduler->workers[i].tallies[weft__system_slot(system)];
            if (tally->frame != scheduler->pass)
                *tally = (weft__system_tally){.frame = scheduler->pass};
            tally->commands += segment->count;
            if (WEFT_IS_CHECKED) weft__diagnose_effects(scheduler, segment);
        }
    }
}

static weft__playback_desc describe(const weft__scheduler *scheduler, weft__playback_costs *costs)
{
    bool is_serial = scheduler->is_serial || weft__parts_are_ruled(scheduler);
    return (weft__playback_desc){.world = scheduler->world,
                                 .job =
                                     is_serial ? NULL : weft__front(scheduler->world)->host.context,
                                 .recorders = scheduler->recorders,
                                 .count = scheduler->worker_count,
                                 .costs = costs,
                                 .name = recorder_name,
                                 .user = scheduler};
}

static weft_result play_commands(weft__scheduler *scheduler, weft__playback_costs *costs)
{
    weft__playback_result played;
    const weft__playback_desc desc = describe(scheduler, costs);
    weft_result result = weft__playback_run(&desc, &played);
    scheduler->stats.commands += played.commands;
    scheduler->stats.commands_skipped += played.skipped;
    return result;
}

/* What follows from fields that systems and commands wrote. */
static weft_result play_relations(weft__scheduler *scheduler, weft__playback_costs *costs)
{
    (void)costs;
    weft_world *world = scheduler->world;
    weft_job_context *owner = scheduler->is_serial ? NULL : weft__front(world)->host.context;
    return weft__relations_settle_all(world, owner, false);
}

static weft_result run_observers(weft__scheduler *scheduler, weft__playback_costs *costs)
{
    (void)costs;
    return weft__observers_play(scheduler);
}

/* What a sync point does: the world is at rest, and what is written gets `version`. */
static void do_at_rest(weft__scheduler *scheduler, weft__work work, uint32_t version,
                       weft_result (*fn)(weft__scheduler *scheduler, weft__playback_costs *costs),
                       weft__playback_costs *costs)
{
    weft__world_front *front = weft__front(scheduler->world);
    const uint64_t begin = weft__work_begin(scheduler, work);
    uint32_t busy = front->busy;
    front->busy = 0;
    front->version = version;
    weft_result result = fn(scheduler, costs);
    front->busy = busy;
    weft__scheduler_fail(scheduler, result);
    weft__work_end(scheduler, work, begin);
}

/* The state log's lines around a pass and at a sync point: C is what was recorded, S and E are the
 * begin and end of the pass. */
static void log_state(weft__scheduler *scheduler, char kind, uint32_t version)
{
    if (__builtin_expect(scheduler->hash_log == NULL, 1)) return;
    const uint64_t begin = weft__work_begin(scheduler, WEFT__WORK_HASHING);
    if (kind == 'S')
        weft__hash_log_begin(scheduler);
    else if (kind == 'E')
        weft__hash_log_end(scheduler);
    else if (kind == 'C')
        weft__hash_log_commands(scheduler);
    else
        weft__hash_log_point(scheduler, kind, version);
    weft__work_end(scheduler, WEFT__WORK_HASHING, begin);
}

/* ---- background systems that pass it ---- */

/* The queries of the background systems that are under way; false: more than `capacity`. */
static bool list_queries(const weft__scheduler *scheduler, const weft__query **queries,
                         uint32_t capacity, uint32_t *count)
{
    for (uint32_t i = 0; i < scheduler->stage_count; i++) {
        const weft__stage *stage = &scheduler->stages[i];
        for (uint32_t k = 0; k < stage->system_count; k++) {
            const weft__system *system = stage->systems[k];
            if (stage->background.generation == 0 || !system->passes || system->query.id == 0)
                continue;
            if (*count == capacity) return false;
            queries[(*count)++] = system->context.query;
        }
    }
    return true;
}

/* Waits for them unless what is played leaves their rows as they are. What observers record and
 * what relations lead to is not known before, and the log hashes the world. */
static void let_pass(weft__scheduler *scheduler)
{
    const weft__playback_desc desc = describe(scheduler, NULL);
    const weft__query *queries[PASSING_MOST];
    uint32_t count = 0;
    bool is_open = scheduler->observers != NULL || scheduler->hash_log != NULL ||
                   weft__relations_any(scheduler->world);
    if (is_open || !list_queries(scheduler, queries, PASSING_MOST, &count) ||
        !weft__playback_spares(&desc, queries, count))
        weft__stage_join(scheduler, UINT32_MAX);
}

static void sync_point_run(weft__scheduler *scheduler, uint32_t version,
                           weft__playback_costs *costs)
{
    weft_world *world = scheduler->world;
    weft__note(weft__front(world)->host.context, WEFT_JOB_EVENT_MARK, "sync point", UINT32_MAX);
    if (scheduler->background_count != 0) let_pass(scheduler);
    if (has_commands(scheduler)) {
        log_state(scheduler, 'C', version);
        tally_commands(scheduler);
        do_at_rest(scheduler, WEFT__WORK_PLAYBACK, version, play_commands, costs);
        log_state(scheduler, 'P', version);
    } else if (weft__hash_log_is_keyed(scheduler)) { /* other ranks may have had some */
        log_state(scheduler, 'P', version);
    }
    if (weft__relations_any(world))
        do_at_rest(scheduler, WEFT__WORK_RELATIONS, version, play_relations, NULL);
    if (scheduler->observers != NULL)
        do_at_rest(scheduler, WEFT__WORK_OBSERVERS, version, run_observers, NULL);
    if (scheduler->observers != NULL || weft__relations_any(world))
        log_state(scheduler, 'O', version);
}

/* ---- segments ----
 *
 * As a graph of tasks: a system begins when those that it depends on have ended, beside
 * whatever else runs.
 *
 * Whether it is run so is decided by run_choice.h. The graph is ranked by the times of its tasks,
 * so that the longest chain begins first. What a task does to the world does not depend on the
 * way: change versions and commands are numbered by the order of effect. */

static bool has_active(const weft__task *task)
{
    for (uint32_t i = 0; i < task->system_count; i++)
        if (task->systems[i]->is_active) return true;
    return false;
}

static int run_task(weft_job_context *job, void *argument)
{
    weft__task *task = argument;
    const weft__scheduler *scheduler = task->scheduler;
    task->result = WEFT_OK;
    task->time_ns = 0;
    if (scheduler->is_conditional && !has_active(task)) return 0;
    uint64_t begin = weft__scheduler_now(scheduler);
    task->result = weft__task_run(job, task);
    task->time_ns = weft__scheduler_now(scheduler) - begin;
    return 0; /* a system cannot fail, and no other one is skipped if the pool does */
}

/* ---- the decision ---- */

/* Makes a plan the one of the segment; false: there is none, which the segment notes. */
static bool use(weft__scheduler *scheduler, weft__segment *segment, weft__plan_kind kind)
{
    bool is_made = weft__segment_plan_make(scheduler, segment, kind, run_task);
    if (is_made)
        weft__segment_plan_use(scheduler, segment, kind);
    else if (kind == WEFT__PLAN_SPLIT)
        segment->has_no_split = true;
    else
        segment->may_overlap = false;
    return is_made;
}

/* What is_always_parallel asks for: each kind of graph in turn. */
static weft__way way_for_tests(const weft__scheduler *scheduler, const weft__segment *segment)
{
    bool is_split = segment->plan != NULL && !segment->has_no_split && scheduler->pass % 2 == 0;
    return is_split ? WEFT__WAY_SPLIT : WEFT__WAY_GRAPH;
}

/* The way of this run, where that with a split was asked for: its match begins again without it. */
static weft__way without_split(const weft__scheduler *scheduler, weft__segment *segment)
{
    segment->choice.match_runs = 0;
    return weft__is_always_parallel(scheduler) ? WEFT__WAY_GRAPH
                                               : weft__segment_choice_way(&segment->choice);
}

static bool segment_choose(weft__scheduler *scheduler, weft__segment *segment)
{
    segment->choice.rest = 0;
    weft__way way = weft__is_always_parallel(scheduler)
                        ? way_for_tests(scheduler, segment)
                        : weft__segment_choice_way(&segment->choice);
    if (scheduler->is_traced_in_detail || weft__hash_log_needs_stages(scheduler))
        way = WEFT__WAY_STAGES; /* weft simulate reads stages, the log looks behind each */
    if (way == WEFT__WAY_SPLIT && !segment->has_no_split &&
        use(scheduler, segment, WEFT__PLAN_SPLIT))
        return true;
    if (way == WEFT__WAY_SPLIT) way = without_split(scheduler, segment);
    bool has_whole =
        way != WEFT__WAY_STAGES ? use(scheduler, segment, WEFT__PLAN_WHOLE) : segment->plan != NULL;
    if (has_whole) weft__segment_plan_use(scheduler, segment, WEFT__PLAN_WHOLE);
    return has_whole && way != WEFT__WAY_STAGES;
}

static void segment_record(weft__scheduler *scheduler, weft__segment *segment)
{
    if (!use(scheduler, segment, WEFT__PLAN_WHOLE)) return;
    const weft__task_plan *plan = segment->plan;
    weft_job_context *owner = weft__front(scheduler->world)->host.context;
    uint32_t number = (uint32_t)(segment - scheduler->segments);
    weft__note(owner, WEFT_JOB_EVENT_SPAN_BEGIN, "graph", number);
    for (uint32_t i = 0; i < plan->task_count; i++)
        weft__note(owner, WEFT_JOB_EVENT_MARK, plan->tasks[i].title,
                   i << 1 | plan->tasks[i].on_owner);
    for (uint32_t i = 0; i < plan->edge_count; i++)
        weft__note(owner, WEFT_JOB_EVENT_MARK, "edge", plan->edges[i][0] << 16 | plan->edges[i][1]);
    weft__note(owner, WEFT_JOB_EVENT_SPAN_END, "graph", number);
}

static void segment_learn(weft__scheduler *scheduler, weft__segment *segment, weft__way way,
                          uint64_t ns)
{
    weft__segment_choice *choice = &segment->choice;
    const uint32_t ways = segment->has_no_split ? WEFT__WAY_GRAPH + 1 : WEFT__WAY_SPLIT + 1;
    if (!weft__is_always_parallel(scheduler)) weft__segment_choice_learn(choice, way, ns, ways);
    /* the next frame may run stages without a look, and these are loops over all their tasks */
    if (choice->rest != 0 && segment->plan != NULL)
        weft__segment_plan_use(scheduler, segment, WEFT__PLAN_WHOLE);
}

/* Whether some task takes another part of the whole than when the graph was ranked. */
static bool has_changed(const weft__task_plan *plan)
{
    uint64_t now = 0, then = 0;
    for (uint32_t i = 0; i < plan->task_count; i++) {
        now += plan->tasks[i].time_ns;
        then += plan->tasks[i].ranked_ns;
    }
    for (uint32_t i = 0; i < plan->task_count; i++) {
        const weft__task *task = &plan->tasks[i];
        if (weft__task_has_shifted(task->time_ns, task->ranked_ns, now, then)) return true;
    }
    return false;
}

static void segment_run(weft__scheduler *scheduler, weft__segment *segment)
{
    weft__task_plan *plan = segment->plan;
    weft__way way = plan == &segment->plans[WEFT__PLAN_SPLIT] ? WEFT__WAY_SPLIT : WEFT__WAY_GRAPH;
    weft_world *world = scheduler->world;
    weft_job_context *owner = weft__front(world)->host.context;
    if (!scheduler->has_frame_hint && owner == weft__front(world)->host.owner) {
        weft_job_frame_begin(weft__front(world)->host.pool);
        scheduler->has_frame_hint = true;
    }
    bool in_question;
    if (weft__graph_ranks(plan->runs, &in_question) || (in_question && has_changed(plan)))
        weft__segment_graph_rank(scheduler, plan, run_task);
    plan->runs++;
    segment->graph_pass = scheduler->pass;
    segment->graph_plan = plan;
    segment->graph_ns = 0;
    if (weft__parts_are_ruled(scheduler)) {
        weft__parts_run(scheduler, segment->first_stage, segment->end_stage, plan, weft__part_run);
        return;
    }
    uint64_t begin = weft__scheduler_now(scheduler);
    weft_result result = weft_job_graph_run(owner, plan->graph, NULL);
    const uint64_t ns = weft__scheduler_now(scheduler) - begin;
    for (uint32_t i = 0; i < plan->task_count && result == WEFT_OK; i++)
        result = plan->tasks[i].result;
    segment->graph_ns = ns;
    segment_learn(scheduler, segment, way, ns);
    if (result == WEFT_OK) return;
    weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                "the systems of a step could not run on the pool: %s", weft_result_text(result));
    weft__scheduler_fail(scheduler, result);
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
    weft__stage_hash(scheduler, stage, false);
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
    segment_learn(scheduler, segment, WEFT__WAY_STAGES, weft__scheduler_now(scheduler) - begin);
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
    segment_run(scheduler, segment);
    weft__note(owner, WEFT_JOB_EVENT_SPAN_END, "segment", 0);
    return WEFT_OK;
}

/* A segment whose stages may overlap, and that is to be looked at in this frame. */
static __attribute__((noinline)) weft_result run_asked(weft__scheduler *scheduler,
                                                       weft__segment *segment)
{
    if (scheduler->background_count != 0) weft__stage_join(scheduler, segment->end_stage - 1);
    if (scheduler->is_traced_in_detail) segment_record(scheduler, segment);
    bool is_graph = segment_choose(scheduler, segment);
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
            sync_point_run(scheduler, scheduler->pass_base + stage->sync_version_offset,
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
    /* without stages: a schedule that was to be made again, and could not be */
    weft__stage *last =
        scheduler->stages == NULL ? NULL : &scheduler->stages[scheduler->stage_count];
    sync_point_run(scheduler, scheduler->pass_base + scheduler->version_count - 1,
                   last == NULL ? NULL : &last->playback_costs);
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
    due_begin_pass(scheduler, dt, left);
    uint32_t last = weft__front(world)->version + scheduler->version_count;
    weft__entity_maps_refresh(world);
    log_state(scheduler, 'S', 0);
    weft__front(world)->busy = WEFT__BUSY_STEPPING;
    if (WEFT_IS_CHECKED) weft__diagnose_begin(scheduler);
    weft_result result = run_stages(scheduler);
    if (WEFT_IS_CHECKED) weft__diagnose_end(scheduler);
    if (scheduler->options.is_measured) add_totals(scheduler);
    weft__front(world)->busy = 0;
    weft__front(world)->version = last;
    log_state(scheduler, 'E', 0);
    return result;
}

/* ---- the step ---- */

static weft_result check_dt(const weft_world *world, const char *what, float dt)
{
    if (dt >= 0 && dt <= FLT_MAX) return WEFT_OK;
    return weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: dt is %g: it must be finite and not negative", what, (double)dt);
}

/* ---- which frames are traced, which counted ---- */

#define SKIPS_MOST 10000u
#define ROW_MOST 256u /* then one is skipped, to see again what a frame takes */

/* Whether a frame that begins is one of them. */
static bool share_begin(const weft__scheduler *scheduler, weft__frame_share *share)
{
    const bool is_taken = share->left == 0;
    share->of++;
    share->begin_ns = is_taken ? weft__scheduler_now(scheduler) : 0;
    if (is_taken)
        share->taken++;
    else
        share->left--;
    return is_taken;
}

/* Behind a frame: the next ones that are not taken, so that its cost is a share of the time. */
static void share_end(const weft__scheduler *scheduler, weft__frame_share *share)
{
    if (share->begin_ns == 0) return;
    const uint64_t now = weft__scheduler_now(scheduler);
    const uint64_t between = share->begin_ns - share->end_ns, took = now - share->begin_ns;
    const uint64_t alone = share->skips == 0 ? 0 : between / share->skips + 1;
    uint64_t skips = ++share->row < ROW_MOST ? 0 : 1;
    if (alone != 0 && took > alone) skips = (took - alone) * 100 / (share->percent * alone);
    if (share->end_ns == 0) skips = 1;
    if (skips != 0) share->row = 0;
    share->skips = share->left = skips < SKIPS_MOST ? (uint32_t)skips : SKIPS_MOST;
    share->end_ns = now;
}

static void trace_share_begin(weft__scheduler *scheduler, weft_job_pool *pool)
{
    scheduler->trace_share.percent = weft__pool_trace_share(pool);
    if (scheduler->trace_share.percent == 0 || share_begin(scheduler, &scheduler->trace_share))
        return;
    scheduler->is_traced = false;
    weft__pool_skip_trace(pool, true);
}

static void shares_end(weft__scheduler *scheduler)
{
    share_end(scheduler, &scheduler->counter_share);
    share_end(scheduler, &scheduler->trace_share);
    if (scheduler->trace_share.percent != 0)
        weft__pool_skip_trace(weft__front(scheduler->world)->host.pool, false);
}

/* Decides who follows the frame `number`, before anything is done in it. */
static void begin_look(weft__scheduler *scheduler, uint64_t number)
{
    weft_job_pool *pool = weft__front(scheduler->world)->host.pool;
    scheduler->is_traced = weft__pool_is_traced(pool);
    scheduler->trace_share.percent = 0; /* a trace that the host has paused is not resumed */
    scheduler->trace_share.begin_ns = 0;
    if (__builtin_expect(scheduler->is_traced, 0)) trace_share_begin(scheduler, pool);
    if (__builtin_expect(scheduler->is_traced, 0))
        scheduler->zones_before = weft__zones_to(weft__front(scheduler->world)->host.context);
    scheduler->is_traced_in_detail = weft__pool_is_traced_in_detail(pool);
    scheduler->is_serial = scheduler->worker_count == 1 || scheduler->options.without_parallel ||
                           scheduler->is_traced_in_detail;
    scheduler->is_counted =
        weft__counters_prepare(scheduler) && (scheduler->counter_share.percent == 0 ||
                                              share_begin(scheduler, &scheduler->counter_share));
    if (scheduler->is_counted) weft__counters_frame(scheduler, true);
    scheduler->is_followed = scheduler->is_counted || scheduler->hash_log != NULL;
    scheduler->is_timed = scheduler->options.is_measured;
    scheduler->is_watched = scheduler->is_followed || scheduler->is_timed || scheduler->is_traced;
    weft__note(weft__front(scheduler->world)->host.context, WEFT_JOB_EVENT_SPAN_BEGIN, "frame",
               (uint32_t)number);
    memset(scheduler->work_ns, 0, sizeof scheduler->work_ns);
    for (uint32_t i = 0; i < scheduler->worker_count && scheduler->hash_log != NULL; i++)
        scheduler->workers[i].hashed_ns = 0;
}

static void begin_step(weft__scheduler *scheduler)
{
    weft__front(scheduler->world)->frame = WEFT__FRAME_RUNS;
    scheduler->error.code = WEFT_OK;
    scheduler->mistakes.count = 0;
    scheduler->stats.commands = scheduler->stats.commands_skipped = 0;
}

/* The end of the frame in the trace, with the counters of the world. */
static void trace_end(weft__scheduler *scheduler)
{
    weft_job_context *owner = weft__front(scheduler->world)->host.context;
    weft__note(owner, WEFT_JOB_EVENT_SPAN_END, "frame", 0);
    if (!scheduler->is_traced) return;
    weft__zones_to(scheduler->zones_before);
    const weft_world *world = scheduler->world;
    uint64_t alive = weft__entity_count(world);
    weft__note(owner, WEFT_JOB_EVENT_COUNTER, "entities", (uint32_t)alive);
    weft__note(owner, WEFT_JOB_EVENT_COUNTER, "chunks", weft__chunk_count(world));
    weft__note(owner, WEFT_JOB_EVENT_COUNTER, "commands", (uint32_t)scheduler->stats.commands);
    for (uint32_t i = 0; i < scheduler->ordered_count; i++) {
        const weft__system *system = scheduler->ordered[i];
        weft__system_tally tally = {0};
        if (system->effects != 0) weft__system_tally_get(scheduler, system, &tally);
        if (tally.frame == scheduler->pass && tally.commands != 0)
            weft__note(owner, WEFT_JOB_EVENT_COUNTER, system->commands_title,
                       (uint32_t)tally.commands);
    }
    if (scheduler->is_counted) weft__counters_trace(scheduler);
    weft__pool_drain_trace(weft__front(scheduler->world)->host.pool);
}

/* Makes what a system asked for and did not get the step's error. */
static void report_missed(weft__scheduler *scheduler, weft__missed what, weft_result code,
                          const char *text)
{
    const weft__system *first = NULL;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        const weft__system *system = scheduler->workers[i].missed[what];
        scheduler->workers[i].missed[what] = NULL;
        if (system != NULL && (first == NULL || system->position < first->position)) first = system;
    }
    if (first == NULL) return;
    weft_result result = weft__error(scheduler->world, code, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                                     "system %s: %s", first->name, text);
    weft__scheduler_fail(scheduler, result);
}

/* Of a step, or of one that was refused. */
static void end_look(weft__scheduler *scheduler)
{
    if (scheduler->is_counted) weft__counters_frame(scheduler, false);
    trace_end(scheduler);
    if (__builtin_expect((scheduler->trace_share.percent | scheduler->counter_share.percent) != 0,
                         0))
        shares_end(scheduler);
}

static weft_result end_step(weft__scheduler *scheduler, weft_result result)
{
    if (scheduler->has_frame_hint) {
        weft_job_frame_end(weft__front(scheduler->world)->host.pool);
        scheduler->has_frame_hint = false;
    }
    end_look(scheduler);
    for (uint32_t i = 0; i < scheduler->worker_count && scheduler->background_count == 0; i++)
        weft__loops_end(&scheduler->workers[i].loops);
    weft__scheduler_fail(scheduler, result);
    report_missed(scheduler, WEFT__MISSED_LOOP, WEFT_OUT_OF_MEMORY,
                  "weft_slice_query had no memory for a loop, and gave no rows: free memory");
    report_missed(
        scheduler, WEFT__MISSED_RECORDER, WEFT_UNDECLARED_ACCESS,
        "weft_slice_recorder gave NULL: a BACKGROUND system that declares no effects runs "
        "on beside sync points: set `effects` to what it records");
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
static inline weft_result settle_relations(weft_world *world, weft__scheduler *scheduler,
                                           weft_result *cycle)
{
    *cycle = WEFT_OK;
    if (__builtin_expect(!weft__relations_any(world), 1)) return WEFT_OK;
    uint64_t begin = scheduler == NULL ? 0 : weft__work_begin(scheduler, WEFT__WORK_RELATIONS);
    weft_result result = weft_relation_settle(world);
    if (scheduler != NULL) weft__work_end(scheduler, WEFT__WORK_RELATIONS, begin);
    if (result != WEFT_CYCLE) return result;
    *cycle = result;
    return WEFT_OK;
}

static inline weft_result step(weft_world *world, float dt)
{
    weft_result result = weft__outside_hooks(world, "weft_world_step");
    if (result != WEFT_OK) return result;
    result = check_dt(world, "weft_world_step", dt);
    if (result != WEFT_OK) return result;
    weft_result cycle;
    weft__scheduler *scheduler = weft__scheduler_of(world);
    if (scheduler != NULL) begin_look(scheduler, weft__front(world)->clock.steps + 1);
    uint64_t begin = scheduler != NULL && scheduler->is_timed ? weft__scheduler_now(scheduler) : 0;
    result = settle_relations(world, scheduler, &cycle);
    if (result == WEFT_OK && scheduler != NULL) result = weft__schedule_prepare(scheduler);
    if (result != WEFT_OK && scheduler != NULL) end_look(scheduler);
    if (result != WEFT_OK) return result;
    weft__front(world)->clock.steps++;
    weft__front(world)->clock.time += (double)dt;
    weft__front(world)->clock.dt = dt;
    weft__versions_check(world);
    if (scheduler == NULL) return cycle; /* no systems */
    begin_step(scheduler);
    weft__scheduler_fail(scheduler, cycle);
    uint32_t passes = scheduler->has_conditions ? due_decide(scheduler, (double)dt) : 1;
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
    weft__stage stage = {.pile = weft__systems_pile(scheduler),
                         .systems = &system,
                         .system_count = 1,
                         .has_main = weft__system_is_on_owner(system),
                         .has_ranges = system->range != NULL,
                         .has_background = (system->flags & WEFT_SYSTEM_BACKGROUND) != 0};
    weft_result result = make_entries(scheduler, &stage);
    if (result != WEFT_OK) weft__stage_entries_free(&stage);
    if (result != WEFT_OK) return result;
    scheduler->pass++;
    scheduler->passes_left = 0;
    if (weft__front(world)->version > UINT32_MAX - 3) weft__front(world)->version = 0; /* wraps */
    scheduler->pass_base = weft__front(world)->version + 1;
    due_begin_alone(scheduler, system, dt);
    weft__entity_maps_refresh(world);
    weft__front(world)->busy = WEFT__BUSY_STEPPING;
    if (WEFT_IS_CHECKED) weft__diagnose_begin(scheduler);
    struct weft__part_order *order = scheduler->part_order; /* of stages of the schedule */
    scheduler->part_order = NULL;
    weft__stage_run(scheduler, &stage);
    if (stage.background.generation != 0) {
        result = weft_job_wait(weft__front(world)->host.context, stage.background, NULL);
        scheduler->background_count--;
    }
    scheduler->part_order = order;
    sync_point_run(scheduler, scheduler->pass_base + 1, &stage.playback_costs);
    if (WEFT_IS_CHECKED) weft__diagnose_end(scheduler);
    if (scheduler->options.is_measured) add_total(scheduler, system);
    weft__front(world)->busy = 0;
    weft__front(world)->version = scheduler->pass_base + 1;
    weft__stage_entries_free(&stage);
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
    begin_look(scheduler, weft__front(world)->clock.steps);
    result = settle_relations(world, scheduler, &cycle);
    if (result == WEFT_OK) result = weft__schedule_prepare(scheduler);
    if (result != WEFT_OK) end_look(scheduler);
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
