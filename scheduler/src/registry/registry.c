/* SPDX-License-Identifier: MIT */
/* registry.c: where the systems and groups of a world stand: looking them up, and room for new
 * ones.
 *
 * A handle is slot | generation << 16. What a system is made of and who frees it:
 * setup/system.c. */
#include "registry.h"
#include "os.h"

static_assert(WEFT__SLOT_BITS == 16, "a handle has 16 bits of generation");

weft__scheduler *weft__scheduler_of(const weft_world *world)
{
    return weft__front(world)->extensions[WEFT__EXTENSION_SCHEDULER].data;
}

weft__system *weft__system_at(const weft_world *world, weft_system handle)
{
    const weft__scheduler *scheduler = world == NULL ? NULL : weft__scheduler_of(world);
    uint32_t slot = (handle.id & WEFT__SLOT_LIMIT) - 1;
    if (scheduler != NULL && handle.world == weft__front(world)->number &&
        slot < scheduler->system_capacity && scheduler->systems[slot] != NULL &&
        scheduler->systems[slot]->handle == handle.id)
        return scheduler->systems[slot];
    if (world != NULL)
        weft__error(world, WEFT_BAD_HANDLE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "system handle %#x names no system of this world: it is null, was destroyed or "
                    "belongs to another world",
                    handle.id);
    return NULL;
}

weft__system *weft__system_named(const weft__scheduler *scheduler, const char *name)
{
    for (uint32_t i = 0; i < scheduler->system_capacity; i++)
        if (scheduler->systems[i] != NULL && strcmp(scheduler->systems[i]->name, name) == 0)
            return scheduler->systems[i];
    return NULL;
}

uint32_t weft__group_named(const weft__scheduler *scheduler, const char *name)
{
    for (uint32_t i = 0; i < scheduler->group_count; i++)
        if (strcmp(scheduler->groups[i].name, name) == 0) return i;
    return WEFT__NONE;
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

uint64_t weft__system_time(const weft__scheduler *scheduler, const weft__system *system)
{
    weft__system_tally tally;
    weft__system_tally_get(scheduler, system, &tally);
    return tally.time_ns;
}

uint64_t weft__scheduler_now(const weft__scheduler *scheduler)
{
    const weft_os *os = weft__world_desc(scheduler->world)->os;
    if (os == NULL) os = weft__os_default();
    return os->clock_ns(os->user);
}

void weft__scheduler_fail(weft__scheduler *scheduler, weft_result result)
{
    if (result != WEFT_OK && scheduler->error.code == WEFT_OK)
        scheduler->error = *weft_world_error(scheduler->world);
}

weft_result weft__left_loops_end(weft__scheduler *scheduler, const char *whose, const char *name)
{
    if (!weft__owner_loops_end(scheduler->world)) return WEFT_OK;
    weft_result result =
        weft__error(scheduler->world, WEFT_WRONG_PHASE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "%s %s left a loop of weft_query_begin open, which was ended: call "
                    "weft_query_end before it returns",
                    whose, name);
    weft__scheduler_fail(scheduler, result);
    return result;
}

/* ---- making room ---- */

uint32_t weft__group_obtain(weft__scheduler *scheduler, const char *name)
{
    uint32_t found = weft__group_named(scheduler, name);
    if (found != WEFT__NONE) return found;
    if (!weft__list_room(scheduler->memory, WEFT__MEMORY_SYSTEMS, &scheduler->groups,
                         &scheduler->group_capacity, scheduler->group_count + 1,
                         sizeof *scheduler->groups))
        return WEFT__NONE;
    weft__group *group = &scheduler->groups[scheduler->group_count];
    memset(group, 0, sizeof *group);
    memcpy(group->name, name, strlen(name) + 1);
    return scheduler->group_count++;
}

weft_result weft__slot_reserve(weft__scheduler *scheduler, uint32_t *slot)
{
    uint32_t unusable = scheduler->system_count + scheduler->retired_count;
    for (uint32_t i = 0; unusable < scheduler->system_capacity; i++)
        if (scheduler->systems[i] == NULL && scheduler->generations[i] <= UINT16_MAX) {
            *slot = i;
            return WEFT_OK;
        }
    uint32_t old = scheduler->system_capacity, capacity = old == 0 ? 16 : old * 2;
    if (old >= WEFT__SLOT_LIMIT) return WEFT_LIMIT;
    if (capacity > WEFT__SLOT_LIMIT) capacity = WEFT__SLOT_LIMIT;
    weft__memory *memory = scheduler->memory;
    uint32_t *generations = WEFT__NEW_ZEROED(memory, WEFT__MEMORY_SYSTEMS, capacity, *generations);
    weft__system **systems = WEFT__NEW_ZEROED(memory, WEFT__MEMORY_SYSTEMS, capacity, *systems);
    if (generations == NULL || systems == NULL) {
        WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, generations, capacity);
        WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, systems, capacity);
        return WEFT_OUT_OF_MEMORY;
    }
    if (old != 0) memcpy(generations, scheduler->generations, old * sizeof *generations);
    if (old != 0) memcpy(systems, scheduler->systems, old * sizeof *systems);
    WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, scheduler->generations, old);
    WEFT__FREE(memory, WEFT__MEMORY_SYSTEMS, scheduler->systems, old);
    scheduler->systems = systems;
    scheduler->generations = generations;
    scheduler->system_capacity = capacity;
    *slot = old;
    return WEFT_OK;
}

void weft__slot_free(weft__scheduler *scheduler, uint32_t slot)
{
    scheduler->systems[slot] = NULL;
    scheduler->system_count--;
    if (scheduler->generations[slot] > UINT16_MAX)
        scheduler->retired_count++; /* handles are used up */
    scheduler->is_dirty = true;
}

/* ---- what snapshots and world files keep ----
 *
 * One block: the systems that there were, then the groups, which are never removed. */

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
    scheduler->restores++;
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
    scheduler->restores += renewal->is_put;
    for (uint32_t i = 0; i < scheduler->system_capacity; i++) {
        weft__system *system = scheduler->systems[i];
        if (system == NULL) continue;
        weft__renew_seen(renewal, &system->context.since);
        weft__renew_seen(renewal, &system->context.stamp); /* its next `since` */
    }
}
