/* SPDX-License-Identifier: MIT */
/* due.c: which systems run in a step, how often and with what dt: rates, timers, conditions,
 * disabled systems and groups.
 *
 * A fixed rate that must catch up makes several passes of a step. A system runs in the last
 * `due` of them; a timer's system in the one pass whose tick sees the timer run out. */
#include "due.h"

#include "registry.h"

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

uint32_t weft__due_decide(weft__scheduler *scheduler, double dt)
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
static inline void begin_system(weft__system *system, uint32_t base, bool is_active, float dt)
{
    if (system->was_active) system->context.since = system->context.stamp;
    system->was_active = system->is_active = is_active;
    system->context.stamp = base + system->version_offset;
    system->dt = dt;
    system->runs += is_active;
}

void weft__due_begin_pass(weft__scheduler *scheduler, float dt, uint32_t left)
{
    uint32_t base = scheduler->pass_base;
    if (!scheduler->is_conditional) {
        for (uint32_t i = 0; i < scheduler->ordered_count; i++)
            begin_system(scheduler->ordered[i], base, true, dt);
        return;
    }
    for (uint32_t i = 0; i < scheduler->stage_count; i++) scheduler->stages[i].active_count = 0;
    for (uint32_t i = 0; i < scheduler->ordered_count; i++) {
        weft__system *system = scheduler->ordered[i];
        bool is_active = weft__system_is_timer(system) ? system->due == left : system->due >= left;
        begin_system(system, base, is_active, dt_of(scheduler, system, dt));
        scheduler->stages[system->stage].active_count += is_active;
    }
}

void weft__due_begin_alone(const weft__scheduler *scheduler, weft__system *system, float dt)
{
    begin_system(system, scheduler->pass_base, true, dt_of(scheduler, system, dt));
    system->context.stamp = scheduler->pass_base; /* its offset is that of a whole pass */
}
