/* SPDX-License-Identifier: MIT */
/* run_state.c: see run_state.h. One block: the systems that there were, then the groups, which are
 * never removed. */
#include "run_state.h"

#include "invariant.h"
#include "registry.h"

#include <string.h>

/* Of one system. A value. */
typedef struct system_runs {
    uint32_t handle;
    uint32_t since;
    uint32_t stamp;
    bool was_active;
    double elapsed;
    double timer;
} system_runs;

/* Owned by a snapshot; constant once made. Followed by the `elapsed` of each group. */
typedef struct run_state {
    uint32_t system_count;
    uint32_t group_count;
    system_runs systems[];
} run_state;

static size_t state_bytes(uint32_t system_count, uint32_t group_count)
{
    return sizeof(run_state) + system_count * sizeof(system_runs) + group_count * sizeof(double);
}

bool weft__run_state_keep(const void *data, void **state)
{
    const weft__scheduler *scheduler = data;
    uint32_t system_count = scheduler->system_count, group_count = scheduler->group_count;
    run_state *kept = weft__alloc(scheduler->memory, WEFT__MEMORY_SNAPSHOTS, 1,
                                  state_bytes(system_count, group_count), 8);
    if (kept == NULL) return false;
    *kept = (run_state){0, group_count};
    for (uint32_t i = 0; i < scheduler->system_capacity; i++) {
        const weft__system *system = scheduler->systems[i];
        if (system == NULL) continue;
        kept->systems[kept->system_count++] =
            (system_runs){system->handle,     system->context.since, system->context.stamp,
                          system->was_active, system->elapsed,       system->timer};
    }
    WEFT_ASSERT(kept->system_count == system_count);
    double *elapsed = (double *)(void *)(kept->systems + system_count);
    for (uint32_t i = 0; i < group_count; i++) elapsed[i] = scheduler->groups[i].elapsed;
    *state = kept;
    return true;
}

void weft__run_state_drop(const void *data, void *state)
{
    const weft__scheduler *scheduler = data;
    const run_state *kept = state;
    weft__free(scheduler->memory, WEFT__MEMORY_SNAPSHOTS, state, 1,
               state_bytes(kept->system_count, kept->group_count), 8);
}

static void forget_runs(const weft__scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->system_capacity; i++) {
        weft__system *system = scheduler->systems[i];
        if (system == NULL) continue;
        system->context.since = 0;
        system->was_active = false;
        system->elapsed = 0;
        system->timer = -1;
    }
    for (uint32_t i = 0; i < scheduler->group_count; i++) scheduler->groups[i].elapsed = 0;
}

void weft__run_state_put(void *data, const void *state)
{
    weft__scheduler *scheduler = data;
    const run_state *kept = state;
    scheduler->is_restored = true;
    forget_runs(scheduler);
    if (kept == NULL) return;
    const double *elapsed = (const double *)(const void *)(kept->systems + kept->system_count);
    for (uint32_t i = 0; i < kept->group_count; i++) scheduler->groups[i].elapsed = elapsed[i];
    for (uint32_t i = 0; i < kept->system_count; i++) {
        const system_runs *saved = &kept->systems[i];
        uint32_t slot = (saved->handle & WEFT__SLOT_LIMIT) - 1;
        if (slot >= scheduler->system_capacity) continue;
        weft__system *system = scheduler->systems[slot];
        if (system == NULL || system->handle != saved->handle) continue;
        system->context.since = saved->since;
        system->context.stamp = saved->stamp;
        system->was_active = saved->was_active;
        system->elapsed = saved->elapsed;
        system->timer = saved->timer;
    }
}

/* ---- world files ---- */

void weft__runs_visit(const void *data, void (*visit)(void *user, const weft__kept_run *run),
                      void *user)
{
    const weft__scheduler *scheduler = data;
    for (uint32_t i = 0; i < scheduler->group_count; i++) {
        const weft__group *group = &scheduler->groups[i];
        weft__kept_run run = {.is_group = true, .elapsed = group->elapsed, .timer = -1};
        memcpy(run.name, group->name, sizeof run.name);
        if (group->period > 0) visit(user, &run);
    }
    for (uint32_t i = 0; i < scheduler->system_capacity; i++) {
        const weft__system *system = scheduler->systems[i];
        if (system == NULL || (system->period <= 0 && !weft__system_is_timer(system))) continue;
        weft__kept_run run = {.elapsed = system->elapsed, .timer = system->timer};
        memcpy(run.name, system->name, sizeof run.name);
        visit(user, &run);
    }
}

/* The run of a name, which is taken then; NULL: there is none. */
static const weft__kept_run *take(const weft_world *world, const char *name, bool is_group)
{
    const weft__world_front *front = weft__front(world);
    for (uint32_t i = 0; i < front->run_count; i++) {
        weft__kept_run *run = &front->runs[i];
        if (run->is_group != is_group || strcmp(run->name, name) != 0) continue;
        run->name[0] = '\0';
        return run;
    }
    return NULL;
}

/* The rate may be another now. */
static double within(double elapsed, float period)
{
    return elapsed < (double)period ? elapsed : (double)period;
}

void weft__system_takes_run(weft__system *system)
{
    const weft__kept_run *run = take(system->scheduler->world, system->name, false);
    if (run == NULL) return;
    system->elapsed = within(run->elapsed, system->period);
    if (weft__system_is_timer(system)) system->timer = run->timer;
}

void weft__group_takes_run(weft__group *group, weft_world *world)
{
    if (group->period <= 0) return; /* it may get one */
    const weft__kept_run *run = take(world, group->name, true);
    if (run != NULL) group->elapsed = within(run->elapsed, group->period);
}

void weft__runs_take(void *data)
{
    const weft__scheduler *scheduler = data;
    for (uint32_t i = 0; i < scheduler->group_count; i++)
        weft__group_takes_run(&scheduler->groups[i], scheduler->world);
    for (uint32_t i = 0; i < scheduler->system_capacity; i++)
        if (scheduler->systems[i] != NULL) weft__system_takes_run(scheduler->systems[i]);
}

void weft__run_state_renew(void *data, struct weft__renewal *renewal)
{
    weft__scheduler *scheduler = data;
    scheduler->is_restored |= renewal->is_put; /* observers compare all once */
    for (uint32_t i = 0; i < scheduler->system_capacity; i++) {
        weft__system *system = scheduler->systems[i];
        if (system == NULL) continue;
        weft__renew_seen(renewal, &system->context.since);
        weft__renew_seen(renewal, &system->context.stamp); /* its next `since` */
    }
}
