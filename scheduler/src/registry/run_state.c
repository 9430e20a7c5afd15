/* SPDX-License-Identifier: MIT */
/* run_state.c: see run_state.h. One block: the systems that there were, then the groups, which are
 * never removed. */
#include "run_state.h"

#include "invariant.h"
#include "registry.h"

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
