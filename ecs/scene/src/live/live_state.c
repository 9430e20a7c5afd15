/* SPDX-License-Identifier: MIT */
/* live_state.c: what baker and owner of a live link share: the end of images and sets, and blobs
 * of the scene, which are kept by content until the owner first needs them in its world's store.
 * Then what the owner knows of entities of documents, by key and by entity: two tables of numbers,
 * at most half full. A slot of an object that is gone, or got another entity, has key 0 until the
 * tables are made again. */
#include "live_state.h"

#include "error.h"
#include "hash.h"
#include "world_front.h"

#include <string.h>

weft_result weft__live_refuse(const weft_live *live, const char *what)
{
    if (weft__callback_runs(live->world)) return weft__error_busy(live->world, what);
    return weft__refuse_systems(live->world, what, "do it after the step");
}

void weft__live_image_free(weft_live *live, weft__live_image *image)
{
    if (image != NULL)
        weft__free(&live->memory, WEFT__MEMORY_OTHER, image, 1, image->block_bytes, 16);
}

void weft__live_set_free(weft_live *live, weft__live_set *set)
{
    if (set == NULL) return;
    for (uint32_t i = 0; i < set->changes.count; i++)
        weft__live_image_free(live, set->changes.at[i].image);
    WEFT__SCENE_FREE(&live->memory, &set->changes);
    WEFT__SCENE_FREE(&live->memory, &set->errors);
    weft__pile_free(&set->pile);
    weft__free(&live->memory, WEFT__MEMORY_OTHER, set, 1, sizeof *set, 16);
}

void weft__live_edit_free(weft_live *live, const weft__live_edit *edit)
{
    weft__free(&live->memory, WEFT__MEMORY_OTHER, edit->path, edit->block_bytes, 1, 16);
}

/* ---- blobs ---- */

uint64_t weft__live_content(weft_blob_store *store, weft_blob_ref ref)
{
    weft_blob_info info;
    if (store == NULL || weft_blob_info_get(store, ref, &info, sizeof info) != WEFT_OK) return 0;
    return info.content_hash | 1;
}

static weft__live_blob *blob_find(weft_live *live, uint64_t content)
{
    for (uint32_t i = 0; i < live->blobs.count; i++)
        if (live->blobs.at[i].content == content) return &live->blobs.at[i];
    return NULL;
}

bool weft__live_blob_keep(weft_live *live, weft_blob_ref ref, const weft_blob_type *type)
{
    weft_blob_info info;
    if (weft_blob_info_get(live->scene->blobs, ref, &info, sizeof info) != WEFT_OK) return false;
    pthread_mutex_lock(&live->lock);
    bool is_kept = blob_find(live, info.content_hash | 1) != NULL;
    weft__live_blob *added = is_kept ? NULL : WEFT__SCENE_ADD(&live->memory, &live->blobs);
    if (added != NULL) {
        is_kept = weft_blob_acquire(live->scene->blobs, ref) == WEFT_OK;
        *added = (weft__live_blob){.content = info.content_hash | 1, .type = type, .from = ref};
        live->blobs.count -= !is_kept;
    }
    pthread_mutex_unlock(&live->lock);
    return is_kept;
}

weft_result weft__live_blob_obtain(weft_live *live, uint64_t content, weft_blob_ref *out)
{
    *out = (weft_blob_ref){0};
    if (content == 0) return WEFT_OK;
    weft_blob_store *store = weft_world_blobs(live->world);
    if (store == NULL) return weft_world_error(live->world)->code;
    weft_result result = WEFT_OK;
    pthread_mutex_lock(&live->lock);
    weft__live_blob *blob = blob_find(live, content);
    if (blob != NULL && blob->ref.id == 0) {
        const weft_blob_load_desc desc = {.type = blob->type};
        weft_blob_info info;
        result = weft_blob_info_get(live->scene->blobs, blob->from, &info, sizeof info);
        if (result == WEFT_OK)
            result = weft_blob_adopt(store, info.block, info.block_bytes, &desc, &blob->ref);
    }
    if (blob != NULL) *out = blob->ref;
    pthread_mutex_unlock(&live->lock);
    return result;
}

/* ---- slots ---- */

static uint32_t place_of_key(uint64_t key)
{
    return (uint32_t)(key >> 7);
}

static uint32_t place_of_entity(weft_entity entity)
{
    return (uint32_t)hash_fold((uint64_t)entity.version << 32 | entity.index, HASH_K1);
}

/* There is room in the tables. */
static void enter(weft_live *live, uint32_t number)
{
    const weft__live_slot *slot = &live->slots.at[number];
    weft__table_put(&live->by_key, place_of_key(slot->key), number + 1);
    weft__table_put(&live->by_entity, place_of_entity(slot->entity), number + 1);
}

void weft__live_slots_free(weft_live *live)
{
    weft__table_free(&live->memory, WEFT__MEMORY_OTHER, &live->by_key);
    weft__table_free(&live->memory, WEFT__MEMORY_OTHER, &live->by_entity);
}

/* Tables without slots that are gone, a quarter full at most. */
static bool tables_make(weft_live *live)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < live->slots.count; i++) kept += live->slots.at[i].key != 0;
    if (!weft__table_room(&live->memory, WEFT__MEMORY_OTHER, &live->by_key, 2 * (kept + 1)) ||
        !weft__table_room(&live->memory, WEFT__MEMORY_OTHER, &live->by_entity, 2 * (kept + 1)))
        return false;
    weft__table_clear(&live->by_key);
    weft__table_clear(&live->by_entity);
    kept = 0;
    for (uint32_t i = 0; i < live->slots.count; i++)
        if (live->slots.at[i].key != 0) live->slots.at[kept++] = live->slots.at[i];
    live->slots.count = kept;
    for (uint32_t i = 0; i < kept; i++) enter(live, i);
    return true;
}

/* A place for a slot, in no table yet; other slots may have other places afterwards. */
static weft__live_slot *slot_place(weft_live *live)
{
    if (live->slots.count + 1 >= live->by_entity.capacity / 2 && !tables_make(live)) return NULL;
    return WEFT__SCENE_ADD(&live->memory, &live->slots);
}

weft__live_slot *weft__live_slot_add(weft_live *live, uint64_t key, weft_entity entity,
                                     const char *path)
{
    size_t bytes = strlen(path) + 1;
    char *copy = weft__alloc(&live->memory, WEFT__MEMORY_OTHER, bytes, 1, 16);
    weft__live_slot *slot = copy == NULL ? NULL : slot_place(live);
    if (slot == NULL) {
        weft__free(&live->memory, WEFT__MEMORY_OTHER, copy, bytes, 1, 16);
        return NULL;
    }
    *slot = (weft__live_slot){.key = key, .entity = entity, .path = memcpy(copy, path, bytes)};
    enter(live, live->slots.count - 1);
    return slot;
}

void weft__live_slot_remove(weft_live *live, weft__live_slot *slot)
{
    weft__free(&live->memory, WEFT__MEMORY_OTHER, slot->path, strlen(slot->path) + 1, 1, 16);
    weft__live_image_free(live, slot->base);
    *slot = (weft__live_slot){.entity = slot->entity}; /* the tables pass over it */
}

bool weft__live_slot_move(weft_live *live, uint64_t key, weft_entity entity)
{
    weft__live_slot *made = slot_place(live);
    if (made == NULL) return false;
    weft__live_slot *slot = weft__live_slot_of(live, key);
    *made = *slot;
    made->entity = entity;
    *slot = (weft__live_slot){.entity = slot->entity};
    enter(live, live->slots.count - 1);
    return true;
}

weft__live_slot *weft__live_slot_of(const weft_live *live, uint64_t key)
{
    uint32_t step = 0, number;
    while ((number = weft__table_next(&live->by_key, place_of_key(key), &step)) != 0)
        if (live->slots.at[number - 1].key == key) return &live->slots.at[number - 1];
    return NULL;
}

weft__live_slot *weft__live_slot_at(const weft_live *live, weft_entity entity)
{
    uint32_t step = 0, number;
    while ((number = weft__table_next(&live->by_entity, place_of_entity(entity), &step)) != 0) {
        weft__live_slot *slot = &live->slots.at[number - 1];
        if (slot->key != 0 && slot->entity.index == entity.index &&
            slot->entity.version == entity.version)
            return slot;
    }
    return NULL;
}
