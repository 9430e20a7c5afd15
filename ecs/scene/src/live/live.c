/* SPDX-License-Identifier: MIT */
/* live.c: live links begin and end, and what they tell. The baker's bakes come as a list of sets,
 * which the owner applies one after the other.
 *
 * Edge:
 * LL1  list: set linked under the lock, add of x_waiting -> apply: load of x_waiting, then the
 *      lock. The load alone only says whether to look */
#include "error.h"
#include "hash.h"
#include "live_apply.h"
#include "live_bake.h"
#include "live_edit.h"
#include "live_record.h"
#include "live_slots.h"
#include "live_told.h"
#include "live_watch.h"
#include "scene_state.h"
#include "sized.h"
#include "unmake.h"

#include <string.h>

/* ---- begin and end ---- */

static weft_result paths_copy(weft_live *live, const weft_live_desc *desc)
{
    live->paths = weft__alloc_zeroed(&live->memory, WEFT__MEMORY_OTHER, desc->path_count + 1,
                                     sizeof *live->paths, 16);
    if (live->paths == NULL) return WEFT_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < desc->path_count; i++) {
        size_t bytes = strlen(desc->paths[i]) + 1;
        live->paths[i] = weft__alloc(&live->memory, WEFT__MEMORY_OTHER, bytes, 1, 16);
        if (live->paths[i] == NULL) return WEFT_OUT_OF_MEMORY;
        memcpy(live->paths[i], desc->paths[i], bytes);
    }
    return WEFT_OK;
}

static bool is_derived(const weft_world *world, const char *name)
{
    char base[256];
    const char *dot = strrchr(name, '.');
    if (strcmp(name, "CleanupResidue") == 0) return true;
    if (dot == NULL || strcmp(dot, ".depth") != 0 || (size_t)(dot - name) >= sizeof base)
        return false;
    memcpy(base, name, (size_t)(dot - name));
    base[dot - name] = '\0';
    return weft_component_find(world, base).id != 0;
}

/* The components that the world has now. */
static weft_result types_list(weft_live *live)
{
    weft_world *world = live->world;
    if (weft_component_parent(world).id == 0 || weft_component_instance_of(world).id == 0)
        return weft_world_error(world)->code;
    weft_component at = weft_component_prefab(world);
    uint32_t count = 0;
    for (at.id = 1; weft_component_info(world, at) != NULL; at.id++) count++;
    live->types =
        weft__alloc_zeroed(&live->memory, WEFT__MEMORY_OTHER, count + 1, sizeof *live->types, 16);
    if (live->types == NULL) return WEFT_OUT_OF_MEMORY;
    live->type_count = count;
    live->prefab = live->linked_group = live->instance_of = live->parent = WEFT__NONE;
    live->local = live->placed = live->stretch = WEFT__NONE;
    for (uint32_t t = 0; t < count; t++) {
        at.id = t + 1;
        const weft_component_desc *desc = weft_component_info(world, at);
        live->types[t] = (weft__live_type){.component = at, .desc = desc};
        live->types[t].is_skipped =
            (desc->flags & (WEFT_RESOURCE | WEFT_CHUNK)) != 0 || is_derived(world, desc->name);
        if (at.id == weft_component_prefab(world).id) live->prefab = t;
        if (strcmp(desc->name, "LocalTransform") == 0) live->local = t;
        if (strcmp(desc->name, "WorldTransform") == 0) live->placed = t;
        if (strcmp(desc->name, "LocalStretch") == 0) live->stretch = t;
        if (at.id == weft_component_linked_group(world).id) live->linked_group = t;
        if (at.id == weft_component_instance_of(world).id) live->instance_of = t;
        if (at.id == weft_component_parent(world).id) live->parent = t;
    }
    weft_world_error_clear(world); /* of the question beyond the last */
    return WEFT_OK;
}

static weft_result begin(weft_live *live, weft_world *world, const weft_live_desc *desc)
{
    live->world = world;
    live->desc = *desc;
    live->last = &live->first;
    live->watch = live->quit = -1;
    pthread_mutex_init(&live->lock, NULL);
    live->hook.holds = "live link (weft_live_stop)";
    weft_result result = weft_world_hook_add(world, &live->hook);
    if (result == WEFT_OK) result = paths_copy(live, desc);
    if (result == WEFT_OK) result = types_list(live);
    if (result != WEFT_OK) return result;
    live->schema = weft__live_world_make(live);
    if (live->schema == NULL) return WEFT_OUT_OF_MEMORY;
    result = weft_scene_create(live->schema, desc->scene, &live->scene);
    if (result == WEFT_OK && !weft__live_numbers_make(live)) result = WEFT_OUT_OF_MEMORY;
    if (result == WEFT_OK) result = weft__live_bake(live, 0);
    if (result == WEFT_OK) result = weft_live_apply(live, 0, NULL, 0);
    if (result == WEFT_OK && !desc->without_thread) result = weft__live_watch_start(live);
    return result;
}

/* The world as it was, after a start that failed. */
static void take_back(weft_live *live)
{
    for (uint32_t i = live->slots.count; i-- > 0;)
        if (live->slots.at[i].key != 0) weft__entity_unmake(live->world, live->slots.at[i].entity);
    for (uint32_t i = 0; i < live->blobs.count; i++)
        if (live->blobs.at[i].ref.id != 0)
            weft_blob_release(weft_world_blobs(live->world), live->blobs.at[i].ref);
}

weft_result weft_live_start(weft_world *world, const weft_live_desc *desc, weft_live **out)
{
    if (out != NULL) *out = NULL;
    if (world == NULL || out == NULL || desc == NULL || desc->path_count == 0 ||
        desc->paths == NULL || (desc->policy == WEFT_LIVE_ASK && desc->ask == NULL))
        return WEFT_INVALID_ARGUMENT;
    weft__memory memory;
    weft_allocator none = {0};
    weft_result result =
        weft__memory_init(&memory, desc->scene == NULL ? &none : &desc->scene->allocator);
    if (result != WEFT_OK) return result;
    weft_live *live = weft__alloc_zeroed(&memory, WEFT__MEMORY_OTHER, 1, sizeof *live, 64);
    if (live == NULL) return weft__error_memory(world, "weft_live_start");
    weft__memory_init(&live->memory, &memory.hook);
    uint64_t errors = weft_world_error(world)->number;
    result = begin(live, world, desc);
    if (result == WEFT_OK) {
        weft__live_list_add(*out = live);
        return WEFT_OK;
    }
    const weft_error *error = weft_world_error(world); /* the world's part, if that failed */
    if (error->number == errors || error->code == WEFT_OK)
        weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "weft_live_start: %s; nothing was made", weft_result_text(result));
    take_back(live);
    weft_live_stop(live);
    return result;
}

static void sets_free(weft_live *live)
{
    for (weft__live_set *set = live->first, *next; set != NULL; set = next) {
        next = set->next;
        weft__live_set_free(live, set);
    }
    weft__live_set_free(live, live->told);
}

void weft_live_stop(weft_live *live)
{
    if (live == NULL) return;
    weft__memory *memory = &live->memory;
    if (weft_world_hook_remove(live->world, &live->hook) == WEFT_WRONG_PHASE) return;
    weft__live_list_remove(live);
    weft__live_watch_stop(live);
    sets_free(live);
    for (uint32_t i = 0; i < live->slots.count; i++)
        if (live->slots.at[i].key != 0) weft__live_slot_remove(live, &live->slots.at[i]);
    WEFT__SCENE_FREE(memory, &live->slots);
    weft__live_slots_free(live);
    for (uint32_t i = 0; i < live->blobs.count; i++)
        weft__free(memory, WEFT__MEMORY_OTHER, live->blobs.at[i].bytes, live->blobs.at[i].count, 1,
                   64);
    WEFT__SCENE_FREE(memory, &live->blobs);
    weft__live_edits_free(live);
    WEFT__SCENE_FREE(memory, &live->scratch);
    WEFT__SCENE_FREE(memory, &live->baker_scratch);
    WEFT__SCENE_FREE(memory, &live->items);
    weft__places_free(&live->places, memory);
    weft__free(memory, WEFT__MEMORY_OTHER, live->numbers, live->number_count, 4, 16);
    weft_scene_destroy(live->scene);
    weft_world_destroy(live->schema);
    WEFT__SCENE_FREE(memory, &live->known);
    weft__table_free(memory, WEFT__MEMORY_OTHER, &live->known_at);
    weft__free(memory, WEFT__MEMORY_OTHER, live->types, live->type_count + 1, sizeof *live->types,
               16);
    for (uint32_t i = 0; i < live->desc.path_count && live->paths != NULL; i++)
        if (live->paths[i] != NULL)
            weft__free(memory, WEFT__MEMORY_OTHER, live->paths[i], strlen(live->paths[i]) + 1, 1,
                       16);
    weft__free(memory, WEFT__MEMORY_OTHER, live->paths, live->desc.path_count + 1,
               sizeof *live->paths, 16);
    pthread_mutex_destroy(&live->lock);
    weft__memory hook;
    weft__memory_init(&hook, &memory->hook);
    weft__free(&hook, WEFT__MEMORY_OTHER, live, 1, sizeof *live, 64);
}

/* ---- applying ---- */

/* A snapshot put the world back to before the last change that the link made: what it knows of
 * entities may be true of others. */
static bool is_undone(const weft_live *live)
{
    return live->moment != 0 && !weft_world_has_moment(live->world, live->moment);
}

/* The next set of the list; NULL: there is none. */
static weft__live_set *set_take(weft_live *live)
{
    if (at_load_acq(&live->x_waiting) == 0) return NULL; /* LL1 */
    pthread_mutex_lock(&live->lock);
    weft__live_set *set = live->first;
    live->first = set->next;
    if (live->first == NULL) live->last = &live->first;
    pthread_mutex_unlock(&live->lock);
    at_sub_ar(&live->x_waiting, 1u); /* LL1 */
    return set;
}

/* The set was applied to its end. */
static void set_end(weft_live *live, weft__live_set *set)
{
    live->report.bakes++;
    if (set->wake_ns != 0) live->report.latency_ns = weft__live_now() - set->wake_ns;
}

static weft_result sets_apply(weft_live *live, uint64_t deadline)
{
    weft_result result = WEFT_OK;
    while (result == WEFT_OK) {
        if (live->current == NULL) {
            weft__live_set *set = set_take(live);
            if (set == NULL) return WEFT_OK;
            weft__live_set_free(live, live->told);
            live->told = live->current = set;
            live->phase = live->next = 0;
        }
        result = weft__live_go_on(live, deadline);
        if (live->current != NULL) return result; /* the budget is spent, or it failed */
        set_end(live, live->told);
        if (deadline != 0 && weft__live_now() >= deadline) return result;
    }
    return result;
}

weft_result weft_live_apply(weft_live *live, uint64_t budget_ns, weft_live_report *report,
                            size_t report_bytes)
{
    if (live == NULL) return WEFT_INVALID_ARGUMENT;
    if (weft__callback_runs(live->world)) return weft__error_busy(live->world, "weft_live_apply");
    weft_result result =
        weft__refuse_systems(live->world, "weft_live_apply", "do it after the step");
    if (result != WEFT_OK) return result;
    live->report = (weft_live_report){0};
    const weft_error *error = weft_world_error(live->world);
    const uint64_t errors = error->number;
    result = is_undone(live) ? WEFT_UNSUPPORTED : WEFT_OK;
    bool is_due = live->current != NULL || at_load_acq(&live->x_waiting) != 0; /* LL1 */
    if (result == WEFT_OK && is_due) {
        result = sets_apply(live, budget_ns == 0 ? 0 : weft__live_now() + budget_ns);
        live->moment = weft_world_moment(live->world);
    }
    if (live->current != NULL)
        live->report.pending = live->current->changes.count - (live->phase == 1 ? live->next : 0);
    live->report.errors = is_undone(live) ? 1 : live->told == NULL ? 0 : live->told->errors.count;
    if (report != NULL) weft__sized_fill(report, report_bytes, &live->report, sizeof live->report);
    if (result != WEFT_OK && (error->number == errors || error->code != result))
        weft__error(live->world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT, "weft_live_apply: %s",
                    is_undone(live) ? weft_live_error(live, 0) : weft_result_text(result));
    return result;
}

weft_result weft_live_refresh(weft_live *live)
{
    if (live == NULL) return WEFT_INVALID_ARGUMENT;
    if (weft__callback_runs(live->world)) return weft__error_busy(live->world, "weft_live_refresh");
    if (live->has_thread)
        return weft__error(live->world, WEFT_UNSUPPORTED, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_live_refresh: the thread of the link looks: without_thread");
    bool is_due = live->is_torn || weft_scene_is_stale(live->scene);
    weft_result result = is_due ? weft__live_bake(live, weft__live_now()) : WEFT_OK;
    return result == WEFT_OK ? result : weft__error_memory(live->world, "weft_live_refresh");
}

/* ---- questions ---- */

const char *weft_live_error(weft_live *live, uint32_t index)
{
    if (live != NULL && is_undone(live))
        return index != 0 ? NULL
                          : "the world was put back by a snapshot that was taken before the last "
                            "change from the documents: restore a later one, or stop the link, "
                            "clear the world and start another";
    bool is_there = live != NULL && live->told != NULL && index < live->told->errors.count;
    return is_there ? live->told->errors.at[index] : NULL;
}

weft_entity weft_live_entity(const weft_live *live, const char *path)
{
    if (live == NULL || path == NULL || is_undone(live)) return (weft_entity){0};
    for (uint32_t i = 0; i < live->slots.count; i++)
        if (live->slots.at[i].key != 0 && strcmp(live->slots.at[i].path, path) == 0)
            return live->slots.at[i].entity;
    return (weft_entity){0};
}

const char *weft_live_path(const weft_live *live, weft_entity entity)
{
    bool is_known = live != NULL && !is_undone(live);
    const weft__live_slot *slot = is_known ? weft__live_slot_at(live, entity) : NULL;
    return slot == NULL ? NULL : slot->path;
}
