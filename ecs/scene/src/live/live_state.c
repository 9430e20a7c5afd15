/* SPDX-License-Identifier: MIT */
/* live_state.c: what baker and owner of a live link share: the end of images and sets, and blobs,
 * whose bytes are kept by content until the owner first needs them in the store of its world. See
 * live_state.h. */
#include "live_state.h"

#include "scene_state.h"

#include <string.h>
#include <time.h>

uint64_t weft__live_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
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
    if (!is_kept) {
        weft__live_blob made = {
            .content = info.content_hash | 1, .type = type, .count = info.block_bytes};
        made.bytes = weft__alloc(&live->memory, WEFT__MEMORY_OTHER, made.count, 1, 64);
        weft__live_blob *added =
            made.bytes == NULL ? NULL : WEFT__SCENE_ADD(&live->memory, &live->blobs);
        is_kept = added != NULL;
        if (is_kept) memcpy(made.bytes, info.block, made.count);
        if (is_kept)
            *added = made;
        else
            weft__free(&live->memory, WEFT__MEMORY_OTHER, made.bytes, made.count, 1, 64);
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
        result = weft_blob_adopt(store, blob->bytes, blob->count, &desc, &blob->ref);
    }
    if (blob != NULL) *out = blob->ref;
    pthread_mutex_unlock(&live->lock);
    return result;
}
