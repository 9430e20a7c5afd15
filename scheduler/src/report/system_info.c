/* SPDX-License-Identifier: MIT */
/* system_info.c: the systems of a world, what they are and what they touch, for tools.
 *
 * Reads only. Owner. */
#include "registry.h"
#include "sized.h"

static weft_system handle_of(const weft_world *world, const weft__system *system)
{
    return (weft_system){system->handle, weft__front(world)->number};
}

uint32_t weft_system_list(const weft_world *world, weft_system *out, uint32_t capacity)
{
    const weft__scheduler *scheduler = world == NULL ? NULL : weft__scheduler_of(world);
    uint32_t found = 0;
    if (scheduler == NULL || (out == NULL && capacity != 0)) return 0;
    for (uint32_t i = 0; i < scheduler->system_capacity; i++) {
        if (scheduler->systems[i] == NULL) continue;
        if (found < capacity) out[found] = handle_of(world, scheduler->systems[i]);
        found++;
    }
    return found;
}

weft_result weft_system_info_get(const weft_world *world, weft_system handle, weft_system_info *out,
                                 size_t out_bytes)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (out == NULL)
        return weft__error_argument(world, "weft_system_info_get",
                                    "out is NULL: give the address of a weft_system_info");
    const weft__system *system = weft__system_at(world, handle);
    if (system == NULL) return WEFT_BAD_HANDLE;
    weft_system_info info = {.name = system->name,
                             .group = system->scheduler->groups[system->group].name,
                             .flags = system->flags,
                             .effects = system->effects,
                             .period = system->period,
                             .is_enabled = system->is_enabled,
                             .skips_unchanged = system->skips_unchanged,
                             .query = system->query,
                             .by_depth = system->by_depth};
    weft__sized_fill(out, out_bytes, &info, sizeof info);
    return WEFT_OK;
}

/* The list that is being written. Owner: one call. */
typedef struct touched {
    const weft_world *world;
    weft_lookup *out;
    uint32_t count, capacity;
} touched;

static void touch(touched *t, uint32_t component, weft_access access)
{
    if (access == WEFT_NO_ACCESS) return;
    for (uint32_t i = 0; i < t->count && i < t->capacity; i++) {
        if (t->out[i].component.id != component) continue;
        if (access == WEFT_WRITE) t->out[i].access = WEFT_WRITE;
        return;
    }
    if (t->count < t->capacity)
        t->out[t->count] = (weft_lookup){weft__component(t->world, component), access};
    t->count++;
}

static void touch_query(touched *t, weft_query query)
{
    const weft__query_handle *handle = query.id == 0 ? NULL : weft__query_find(t->world, query);
    if (handle == NULL) return;
    for (uint32_t i = 0; i < handle->query->term_count; i++)
        touch(t, handle->query->terms[i].component, (weft_access)handle->query->terms[i].access);
}

static void touch_grants(touched *t, const weft__grant *grants, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) touch(t, grants[i].component, grants[i].access);
}

uint32_t weft_system_access(const weft_world *world, weft_system handle, weft_lookup *out,
                            uint32_t capacity)
{
    const weft__system *system = world == NULL ? NULL : weft__system_at(world, handle);
    if (system == NULL || (out == NULL && capacity != 0)) return 0;
    touched t = {.world = world, .out = out, .capacity = capacity};
    touch_query(&t, system->query);
    for (uint32_t i = 0; i < system->lists.query_count; i++)
        touch_query(&t, system->lists.queries[i]);
    touch_grants(&t, system->lists.lookups, system->lists.lookup_count);
    touch_grants(&t, system->lists.resources, system->lists.resource_count);
    return t.count;
}
