/* SPDX-License-Identifier: MIT */
/* transfer_blobs.c: blobs that moved values refer to through described BLOB fields: copied into the
 * destination's store before the commit, and the fields rewritten after it. */
#include "transfer_blobs.h"
#include "blob_store.h"
#include "error.h"
#include "transfer_state.h"

#include <string.h>

#define CATEGORY WEFT__MEMORY_COMMANDS

/* One walk over BLOB fields; lives on the stack of its caller. */
typedef struct walk {
    weft__transfer *t;
    const weft__type *type;
    weft_result result;
} walk;

/* ---- the table ---- */

static uint32_t id_hash(uint64_t id)
{
    return (uint32_t)hash_fold(id ^ HASH_K0, HASH_K1);
}

/* NULL: it is not listed. */
static weft__transfer_blob *blob_of(const weft__transfer *t, uint64_t id)
{
    uint32_t step = 0, number;
    while ((number = weft__table_next(&t->blobs_from, id_hash(id), &step)) != 0)
        if (t->blobs.at[number - 1].from == id) return &t->blobs.at[number - 1];
    return NULL;
}

/* Room for one more. */
static bool blobs_reserve(weft__transfer *t)
{
    uint32_t count = t->blobs.count + 1;
    return WEFT__LIST_ROOM(&t->to->memory, CATEGORY, &t->blobs, count) &&
           weft__table_room(&t->to->memory, CATEGORY, &t->blobs_from, count);
}

/* ---- collecting: may fail ---- */

static weft_result blob_copy(weft__transfer *t, weft_blob_ref from, weft_blob_ref *out)
{
    out->id = 0;
    const weft__blob_header *header = weft__blob_store_block(t->from->blobs, from);
    const weft_blob_type *type = weft__blob_store_type(t->from->blobs, from);
    if (header == NULL) return WEFT_OK; /* stale here: null there, where it might mean another */
    weft__blob_block block = {0};
    weft_result result = weft__blob_block_create(t->to->blobs, header->total_bytes, &block);
    if (result != WEFT_OK) return result;
    memcpy(block.memory, header, header->total_bytes);
    result = weft__blob_store_insert(t->to->blobs, &block, type, out);
    if (result != WEFT_OK) weft__blob_block_destroy(t->to->blobs, &block);
    return result;
}

static bool field_collect(void *user, weft__reference *r)
{
    walk *w = user;
    weft__transfer *t = w->t;
    weft_blob_ref copy;
    if (!r->is_blob || r->bits == 0) return true;
    weft__transfer_blob *entry = blob_of(t, r->bits);
    if (entry == NULL) {
        w->result = blobs_reserve(t) ? blob_copy(t, r->blob, &copy) : WEFT_OUT_OF_MEMORY;
        if (w->result != WEFT_OK) return false;
        entry = &t->blobs.at[t->blobs.count++];
        *entry = (weft__transfer_blob){.from = r->bits, .to = copy.id};
        weft__table_put(&t->blobs_from, id_hash(r->bits), t->blobs.count);
    }
    entry->is_kept = entry->is_kept || w->type->desc.hooks.destruct == NULL;
    return true;
}

static weft_result part_collect(weft__transfer *t, const weft__change_part *part)
{
    const weft__chunk *chunk = part->chunk;
    const uint32_t *rows = weft__change_rows(&t->change, part);
    walk w = {.t = t};
    for (uint32_t i = 0; i < chunk->archetype->type_count && w.result == WEFT_OK; i++) {
        const weft__type_ref *ref = &chunk->archetype->types[i];
        if (!weft__type_has_blobs(ref->type)) continue;
        w.type = ref->type;
        if (ref->chunk_offset != WEFT__NONE && part->is_header)
            weft__type_references(ref->type, chunk->chunk_values + ref->chunk_offset, 1,
                                  field_collect, &w);
        for (uint32_t r = 0; r < part->count && ref->column != 0 && w.result == WEFT_OK; r++) {
            uint32_t row = rows != NULL ? rows[r] : part->first + r;
            weft__type_references(ref->type, weft__chunk_value(chunk, ref->column, row), 1,
                                  field_collect, &w);
        }
    }
    return w.result;
}

weft_result weft__transfer_blobs_collect(weft__transfer *t)
{
    if (t->from->blobs == NULL) return WEFT_OK;
    weft_result result = weft_world_blobs(t->to) == NULL ? WEFT_OUT_OF_MEMORY : WEFT_OK;
    for (uint32_t i = 0; i < t->change.parts.count && result == WEFT_OK; i++)
        result = part_collect(t, &t->change.parts.at[i]);
    return result == WEFT_OK ? WEFT_OK : weft__error_memory(t->to, "weft_world_transfer: a blob");
}

/* ---- after the commit ---- */

void weft__transfer_blob_follow(const weft__transfer *t, const weft__type *type,
                                weft_blob_ref *field)
{
    if (t->blobs.count == 0) return;
    weft_blob_ref copy = {blob_of(t, field->id)->to};
    if (type->desc.hooks.destruct != NULL && copy.id != 0) { /* the field owns a reference */
        weft_blob_acquire(t->to->blobs, copy);
        weft_blob_release(t->from->blobs, *field);
    }
    *field = copy;
}

void weft__transfer_blobs_fini(weft__transfer *t, bool is_done)
{
    for (uint32_t i = 0; i < t->blobs.count; i++) {
        const weft__transfer_blob *entry = &t->blobs.at[i];
        if (entry->to != 0 && !(is_done && entry->is_kept))
            weft_blob_release(t->to->blobs, (weft_blob_ref){entry->to});
    }
    WEFT__LIST_FREE(&t->to->memory, CATEGORY, &t->blobs);
    weft__table_free(&t->to->memory, CATEGORY, &t->blobs_from);
}
