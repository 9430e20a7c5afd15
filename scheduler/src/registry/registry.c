/* SPDX-License-Identifier: MIT */
/* registry.c: where the systems and groups of a world stand: looking them up, and room for new
 * ones.
 *
 * A handle is slot | generation << 16. What a system is made of and who frees it:
 * setup/system.c. */
#include "registry.h"

#include "os.h"

#include <assert.h>
#include <string.h>

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
    uint32_t *generations = weft__realloc(scheduler->memory, WEFT__MEMORY_SYSTEMS, NULL, 0,
                                          capacity, sizeof *generations, 8);
    weft__system **systems =
        generations == NULL ? NULL
                            : weft__realloc(scheduler->memory, WEFT__MEMORY_SYSTEMS,
                                            scheduler->systems, old, capacity, sizeof *systems, 8);
    if (systems == NULL) {
        weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, generations, capacity,
                   sizeof *generations, 8);
        return WEFT_OUT_OF_MEMORY;
    }
    memset(generations, 0, capacity * sizeof *generations);
    if (old != 0) memcpy(generations, scheduler->generations, old * sizeof *generations);
    weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, scheduler->generations, old,
               sizeof *generations, 8);
    memset(systems + old, 0, (capacity - old) * sizeof *systems);
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
