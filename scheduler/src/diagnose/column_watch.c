/* SPDX-License-Identifier: MIT */
/* column_watch.c: what checked builds do around the call of a system: the columns of its slice
 * are handed out as copies (guard.h), and what these found becomes violations (mistakes.c).
 *
 * A column is not copied where the system may reach its values on another way as well, which would
 * not see the copy: components among its look-ups and in its declared queries, when it or they
 * write; and everything of EXCLUSIVE systems, which may use the whole world. */
#include "column_watch.h"

#include "diagnose.h"
#include "mistakes.h"
#include "registry.h"

/* ---- what is copied ---- */

/* How the system reaches a component beside its own rows. */
static weft_access other_access(const weft__system *system, uint32_t component)
{
    weft_access access = WEFT_NO_ACCESS;
    for (uint32_t i = 0; i < system->lists.lookup_count; i++) {
        if (system->lists.lookups[i].component != component) continue;
        if (access != WEFT_WRITE) access = system->lists.lookups[i].access;
    }
    for (uint32_t i = 0; i < system->lists.query_count; i++) {
        const weft__query_handle *handle =
            weft__query_find(system->context.world, system->lists.queries[i]);
        for (uint32_t k = 0; k < handle->query->term_count; k++) {
            const weft__query_term *term = &handle->query->terms[k];
            if (term->component == component && access != WEFT_WRITE) access = term->access;
        }
    }
    return access;
}

static weft__guard_mode mode_of(const weft__system *system, const weft__query_term *term)
{
    weft_access other = other_access(system, term->component);
    if ((system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0) return WEFT__GUARD_NOT;
    if (term->access == WEFT_NO_ACCESS || other == WEFT_WRITE) return WEFT__GUARD_NOT;
    if (term->access == WEFT_READ) return WEFT__GUARD_READ;
    return other == WEFT_NO_ACCESS ? WEFT__GUARD_WRITE : WEFT__GUARD_NOT;
}

void weft__watch_init(weft__system *system)
{
    const weft__query *query = system->context.query;
    if (!WEFT_IS_CHECKED || query == NULL) return;
    system->guard_modes = weft__alloc(system->scheduler->memory, WEFT__MEMORY_SYSTEMS,
                                      query->term_count, sizeof system->guard_modes[0], 8);
    for (uint32_t i = 0; i < query->term_count && system->guard_modes != NULL; i++)
        system->guard_modes[i] = (uint8_t)mode_of(system, &query->terms[i]);
}

void weft__watch_fini(weft__system *system)
{
    const weft__query *query = system->context.query;
    if (system->guard_modes == NULL) return;
    weft__free(system->scheduler->memory, WEFT__MEMORY_SYSTEMS, system->guard_modes,
               query->term_count, sizeof system->guard_modes[0], 8);
    system->guard_modes = NULL;
}

/* Bytes that copies of the resources take which a system reads. */
static size_t resource_bytes(const weft__system *system)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < system->lists.resource_count; i++) {
        const weft__grant *grant = &system->lists.resources[i];
        const weft__type *type = weft__type_find(
            system->context.world, weft__component(system->context.world, grant->component));
        size_t own = type == NULL ? 0 : weft__type_bytes(type);
        if (grant->access == WEFT_READ && own <= WEFT__GUARD_VALUE_MOST)
            bytes += own + WEFT__GUARD_MARGINS;
    }
    return bytes;
}

static size_t most_bytes(const weft__entry *entries, uint32_t count)
{
    size_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (entries[i].system != NULL && resource_bytes(entries[i].system) > most)
            most = resource_bytes(entries[i].system);
        const weft__levels *levels = entries[i].levels;
        size_t below = levels == NULL ? 0 : most_bytes(levels->entries, levels->entry_count);
        if (below > most) most = below;
        for (uint32_t k = 0; k < entries[i].binding_count; k++) {
            const weft__binding *binding = &entries[i].bindings[k];
            const weft__chunk *chunk = binding->slice.chunk;
            size_t bytes = weft__guard_bytes(chunk->layout, binding->slice.count,
                                             binding->slice.places, binding->slice.term_count) +
                           resource_bytes(binding->system);
            if (binding->system->guard_modes != NULL && bytes > most) most = bytes;
        }
    }
    return most;
}

void weft__watch_reserve(weft__scheduler *scheduler, const weft__stage *stage)
{
    if (scheduler->background_count != 0) return; /* its workers use their rings */
    size_t loop = most_bytes(stage->entries, stage->entry_count);
    size_t owner = most_bytes(stage->main_entries, stage->main_entry_count);
    size_t background = most_bytes(stage->background_entries, stage->background_entry_count);
    size_t most = loop > owner ? loop : owner;
    if (background > most) most = background;
    weft__guards_reserve(scheduler->world, most);
}

/* ---- a call ---- */

static weft__guard *guard_of(const weft__system *system, const weft_slice *slice)
{
    if (system->context.query != NULL && system->guard_modes == NULL) return NULL;
    return weft__guard_of(system->context.world, slice->worker);
}

weft_slice *weft__watch_begin(weft__watch *watch, const weft__system *system, weft_slice *slice)
{
    watch->loops = weft__loops_open(&system->scheduler->workers[slice->worker].loops);
    weft__guard_open(guard_of(system, slice), slice, system->guard_modes, system->handle,
                     &watch->frame);
    watch->before = weft__diagnose_enter(watch->frame.slice);
    return watch->frame.slice;
}

/* The system writes it as well, or reaches it through the whole world: it is not copied. Nor for a
 * job that the callback started, on another thread. */
void *weft__watch_resource(const weft__system *system, const weft_slice *slice,
                           const weft__type *type)
{
    bool is_other = (system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0;
    for (uint32_t i = 0; i < system->lists.resource_count; i++)
        if (system->lists.resources[i].component == type->id)
            is_other = is_other || system->lists.resources[i].access == WEFT_WRITE;
    const weft_slice *current = weft__diagnose_current();
    if (is_other || current == NULL || current->context != slice->context) return type->resource;
    return weft__guard_value(guard_of(system, slice), type, system->handle, slice);
}

void weft__watch_end(const weft__watch *watch, const weft__system *system)
{
    const weft_slice *slice = watch->frame.slice;
    if (weft__loops_open(&system->scheduler->workers[slice->worker].loops) > watch->loops)
        weft__violate_in(slice, 0, WEFT_NO_ACCESS,
                         "left a loop of weft_slice_query before its end: call weft_query_end");
    if (!system->passes) system->scheduler->workers[slice->worker].commands.is_closed = true;
    weft__guard_close(guard_of(system, slice), &watch->frame);
    weft__diagnose_enter(watch->before);
}

/* ---- the report ---- */

/* The position of the system with this handle, or WEFT__NONE: it was destroyed since. */
static uint32_t position_of(const weft__scheduler *scheduler, uint32_t handle)
{
    for (uint32_t i = 0; i < scheduler->ordered_count; i++)
        if (scheduler->ordered[i]->handle == handle) return i;
    return WEFT__NONE;
}

void weft__watch_gone(const weft_slice *slice, weft_access access)
{
    const weft_slice_context *context = slice->context;
    weft__scheduler *scheduler = weft__scheduler_of(context->world);
    const weft_slice *current = weft__diagnose_current();
    if (current != NULL && current->context != NULL &&
        weft__slice_system(current)->scheduler == scheduler) {
        weft__violate_in(current, 0, access, WEFT__SLICE_GONE);
        return;
    }
    bool is_given = (slice->calls & WEFT__SLICE_GIVEN) != 0;
    uint32_t owner = is_given ? ((const weft__given_slice *)context)->owner : 0;
    weft__violate(&scheduler->workers[slice->worker],
                  &(weft__violation){.code = WEFT_UNDECLARED_ACCESS,
                                     .position = position_of(scheduler, owner),
                                     .slice = slice->index,
                                     .access = access,
                                     .what = WEFT__SLICE_GONE});
}

static void keep_stray(weft__scheduler *scheduler, const weft__stray *stray)
{
    weft__violation violation = {.code = WEFT_UNDECLARED_ACCESS,
                                 .position = position_of(scheduler, stray->owner),
                                 .slice = stray->slice,
                                 .component = stray->component,
                                 .access = WEFT_WRITE,
                                 .what = weft__stray_text(stray->kind),
                                 .phase = WEFT__VIOLATION_STRAYED,
                                 .has_row = stray->row != WEFT__STRAY_NO_ROW,
                                 .row = stray->row,
                                 .entity = stray->entity,
                                 .places = stray->places};
    weft__violate(&scheduler->workers[0], &violation);
}

void weft__watch_report(weft__scheduler *scheduler)
{
    if (scheduler->background_count != 0) return;
    for (uint32_t i = 0; i < scheduler->worker_count; i++) {
        weft__guard *guard = weft__guard_of(scheduler->world, i);
        if (guard == NULL || guard->ring == NULL) continue;
        weft__guard_sweep(guard);
        for (uint32_t k = 0; k < guard->strays.count; k++)
            keep_stray(scheduler, &guard->strays.at[k]);
        guard->strays.count = 0;
    }
}
