/* SPDX-License-Identifier: MIT */
/* live.c: live links begin and end, and what they tell. The baker's bakes come as a list of sets,
 * which the owner applies one after the other. What tools ask of links that they did not start is
 * here: a list of those of the process under a lock of its own, because worlds have different
 * owners, and the last conflicts as text, because what a conflict points to lives as long as the
 * call that tells it. */
#include "live_bake.h"

#include "error.h"
#include "unmake.h"

#include <string.h>

/* ---- which there are ---- */

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static weft_live *list; /* guarded by list_lock; in order of their start */

static void list_add(weft_live *live)
{
    pthread_mutex_lock(&list_lock);
    weft_live **link = &list;
    while (*link != NULL) link = &(*link)->next_link;
    *link = live;
    pthread_mutex_unlock(&list_lock);
}

static void list_remove(weft_live *live)
{
    pthread_mutex_lock(&list_lock);
    weft_live **link = &list;
    while (*link != NULL && *link != live) link = &(*link)->next_link;
    if (*link != NULL) *link = live->next_link;
    pthread_mutex_unlock(&list_lock);
}

/* ---- begin and end ---- */

static weft_result paths_copy(weft_live *live, const weft_live_desc *desc)
{
    live->texts.memory = &live->memory;
    live->paths = weft__pile_take(&live->texts, desc->path_count * sizeof *live->paths);
    for (uint32_t i = 0; i < desc->path_count && live->paths != NULL; i++) {
        live->paths[i] = weft__pile_text(&live->texts, desc->paths[i], strlen(desc->paths[i]));
        if (live->paths[i] == NULL) live->paths = NULL;
    }
    return live->paths == NULL ? WEFT_OUT_OF_MEMORY : WEFT_OK;
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

/* The components of the scene's schema in the world. */
static weft_result types_list(weft_live *live)
{
    const weft__schema *schema = &live->scene->schema;
    live->type_count = schema->components.count + 1;
    live->types = weft__alloc_zeroed(&live->memory, WEFT__MEMORY_OTHER, live->type_count,
                                     sizeof *live->types, 16);
    if (live->types == NULL) return WEFT_OUT_OF_MEMORY;
    for (uint32_t id = 1; id < live->type_count; id++) {
        weft__live_type *type = &live->types[id];
        const weft_component_desc *known = schema->components.at[id - 1].desc;
        if (known != NULL) type->component = weft_component_find(live->world, known->name);
        type->is_skipped = type->component.id == 0 ||
                           (known->flags & (WEFT_RESOURCE | WEFT_CHUNK)) != 0 ||
                           is_derived(live->world, known->name);
        if (type->component.id != 0) type->desc = weft_component_info(live->world, type->component);
    }
    return WEFT_OK;
}

/* A world with the types of the followed one; NULL: memory. Its components are copied now. */
static weft_world *world_make(const weft_live *live)
{
    weft_world *world = NULL;
    weft_world_desc desc = {.workers = 1, .name = "live", .entity_tag = WEFT_WITHOUT_ENTITY_TAG};
    if (weft_world_create(&desc, &world) != WEFT_OK) return NULL;
    bool is_made =
        weft_component_parent(world).id != 0 && weft_component_instance_of(world).id != 0;
    weft_component at = weft_component_prefab(live->world);
    const weft_component_desc *desc_of;
    for (at.id = 1; is_made && (desc_of = weft_component_info(live->world, at)) != NULL; at.id++) {
        weft_component_desc own = *desc_of;
        if (weft_component_find(world, own.name).id != 0 || strcmp(own.name, "CleanupResidue") == 0)
            continue;
        own.required = NULL;
        own.required_count = 0;
        own.is_checked = false;
        if (own.type != NULL) {
            own.fields = NULL;
            own.field_count = 0;
        }
        is_made = weft_component_create(world, &own).id != 0;
    }
    weft_world_error_clear(live->world); /* of the question beyond the last */
    if (is_made) return world;
    weft_world_destroy(world);
    return NULL;
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
    if (result != WEFT_OK) return result;
    if (weft_component_parent(world).id == 0 || weft_component_instance_of(world).id == 0)
        return weft_world_error(world)->code;
    live->schema = world_make(live);
    if (live->schema == NULL) return WEFT_OUT_OF_MEMORY;
    result = weft_scene_create(live->schema, desc->scene, &live->scene);
    if (result != WEFT_OK) return result;
    live->imaging = (weft__imaging){.scene = live->scene, .memory = &live->memory};
    result = types_list(live);
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

static void sets_free(weft_live *live)
{
    for (weft__live_set *set = live->first, *next; set != NULL; set = next) {
        next = set->next;
        weft__live_set_free(live, set);
    }
    weft__live_set_free(live, live->told);
}

static void live_free(weft_live *live)
{
    weft__memory *memory = &live->memory;
    list_remove(live);
    weft__live_watch_stop(live);
    sets_free(live);
    for (uint32_t i = 0; i < live->slots.count; i++)
        if (live->slots.at[i].key != 0) weft__live_slot_remove(live, &live->slots.at[i]);
    WEFT__SCENE_FREE(memory, &live->slots);
    weft__live_slots_free(live);
    for (uint32_t i = 0; i < live->blobs.count; i++)
        weft_blob_release(live->scene->blobs, live->blobs.at[i].from);
    WEFT__SCENE_FREE(memory, &live->blobs);
    for (uint32_t i = 0; i < live->edits.count; i++) weft__live_edit_free(live, &live->edits.at[i]);
    WEFT__SCENE_FREE(memory, &live->edits);
    WEFT__SCENE_FREE(memory, &live->scratch);
    if (live->imaging.memory != NULL) weft__imaging_free(&live->imaging);
    weft_scene_destroy(live->scene);
    weft_world_destroy(live->schema);
    WEFT__SCENE_FREE(memory, &live->known);
    weft__table_free(memory, WEFT__MEMORY_OTHER, &live->known_at);
    weft__free(memory, WEFT__MEMORY_OTHER, live->types, live->type_count, sizeof *live->types, 16);
    weft__pile_free(&live->texts);
    pthread_mutex_destroy(&live->lock);
    weft__memory hook;
    weft__memory_init(&hook, &memory->hook);
    weft__free(&hook, WEFT__MEMORY_OTHER, live, 1, sizeof *live, 64);
}

weft_result weft_live_start(weft_world *world, const weft_live_desc *desc, weft_live **out)
{
    if (out != NULL) *out = NULL;
    if (world == NULL || out == NULL || desc == NULL || desc->path_count == 0 ||
        desc->paths == NULL || (desc->policy == WEFT_LIVE_ASK && desc->ask == NULL))
        return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__refuse_steps(world, "weft_live_start");
    if (result != WEFT_OK) return result;
    weft__memory memory;
    weft_allocator none = {0};
    result = weft__memory_init(&memory, desc->scene == NULL ? &none : &desc->scene->allocator);
    if (result != WEFT_OK) return result;
    weft_live *live = weft__alloc_zeroed(&memory, WEFT__MEMORY_OTHER, 1, sizeof *live, 64);
    if (live == NULL) return weft__error_memory(world, "weft_live_start");
    weft__memory_init(&live->memory, &memory.hook);
    uint64_t errors = weft_world_error(world)->number;
    result = begin(live, world, desc);
    if (result == WEFT_OK) {
        list_add(*out = live);
        return WEFT_OK;
    }
    const weft_error *error = weft_world_error(world); /* the world's part, if that failed */
    if (error->number == errors || error->code == WEFT_OK)
        weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "weft_live_start: %s; nothing was made", weft_result_text(result));
    take_back(live);
    weft_world_hook_remove(world, &live->hook); /* if it came so far */
    live_free(live);
    return result;
}

void weft_live_stop(weft_live *live)
{
    if (live != NULL && weft_world_hook_remove(live->world, &live->hook) == WEFT_OK)
        live_free(live);
}

weft_result weft_live_refresh(weft_live *live)
{
    if (live == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__live_refuse(live, "weft_live_refresh");
    if (result != WEFT_OK) return result;
    if (live->has_thread)
        return weft__error(live->world, WEFT_UNSUPPORTED, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_live_refresh: the thread of the link looks: without_thread");
    bool is_due = live->is_torn || weft_scene_is_stale(live->scene);
    if (is_due) result = weft__live_bake(live, weft__scene_now());
    return result == WEFT_OK ? result : weft__error_memory(live->world, "weft_live_refresh");
}

/* ---- questions ---- */

weft_entity weft_live_entity(const weft_live *live, const char *path)
{
    if (live == NULL || path == NULL || weft__live_is_undone(live)) return (weft_entity){0};
    for (uint32_t i = 0; i < live->slots.count; i++)
        if (live->slots.at[i].key != 0 && strcmp(live->slots.at[i].path, path) == 0)
            return live->slots.at[i].entity;
    return (weft_entity){0};
}

const char *weft_live_path(const weft_live *live, weft_entity entity)
{
    bool is_known = live != NULL && !weft__live_is_undone(live);
    const weft__live_slot *slot = is_known ? weft__live_slot_at(live, entity) : NULL;
    return slot == NULL ? NULL : slot->path;
}

uint32_t weft_live_list(const weft_world *world, weft_live **out, uint32_t capacity)
{
    uint32_t count = 0;
    pthread_mutex_lock(&list_lock);
    for (weft_live *live = list; live != NULL; live = live->next_link) {
        if (live->world != world) continue;
        if (out != NULL && count < capacity) out[count] = live;
        count++;
    }
    pthread_mutex_unlock(&list_lock);
    return count;
}

const char *weft_live_document(const weft_live *live, uint32_t index)
{
    return live == NULL || index >= live->desc.path_count ? NULL : live->paths[index];
}

/* ---- conflicts ---- */

const char *weft_live_conflict_text(const weft_live *live, uint32_t index)
{
    if (live == NULL || index >= live->conflict_count || index >= WEFT__CONFLICTS_KEPT) return NULL;
    return live->conflicts[(live->conflict_count - 1 - index) % WEFT__CONFLICTS_KEPT];
}

/* ---- objects ---- */

size_t weft_live_explain(weft_live *live, const char *path, bool is_json, char *text,
                         size_t capacity)
{
    if (live == NULL || pthread_mutex_trylock(&live->lock) != 0) return 0; /* it bakes: not now */
    size_t length = weft_scene_explain(live->scene, path, is_json, text, capacity);
    pthread_mutex_unlock(&live->lock);
    return length;
}
