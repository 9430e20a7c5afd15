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

static bool values_visit(walk *w, char *values, uint32_t count, weft__blob_field_visit *visit)
{
    const weft__type *type = w->type;
    size_t stride = type->value_bytes != 0 ? type->value_bytes : type->desc.size;
    for (uint32_t i = 0; i < count; i++) {
        char *value = values + i * stride;
        uint32_t elements = 1;
        if ((type->desc.flags & WEFT_BUFFER) != 0) {
            weft_buffer *buffer = (weft_buffer *)(void *)value;
            elements = buffer->count;
            value = weft__buffer_data(buffer);
        }
        for (uint32_t k = 0; k < elements; k++)
            if (!weft__type_blobs(type, value + k * type->desc.size, visit, w)) return false;
    }
    return true;
}

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

static bool field_collect(void *user, weft_blob_ref *field)
{
    walk *w = user;
    weft__transfer *t = w->t;
    weft_blob_ref copy;
    if (field->id == 0) return true;
    weft__transfer_blob *entry = blob_of(t, field->id);
    if (entry == NULL) {
        w->result = blobs_reserve(t) ? blob_copy(t, *field, &copy) : WEFT_OUT_OF_MEMORY;
        if (w->result != WEFT_OK) return false;
        entry = &t->blobs.at[t->blobs.count++];
        *entry = (weft__transfer_blob){.from = field->id, .to = copy.id};
        weft__table_put(&t->blobs_from, id_hash(field->id), t->blobs.count);
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
        if (!ref->type->has_blobs) continue;
        w.type = ref->type;
        if (ref->chunk_offset != WEFT__NONE && part->is_header)
            values_visit(&w, chunk->chunk_values + ref->chunk_offset, 1, field_collect);
        for (uint32_t r = 0; r < part->count && ref->column != 0 && w.result == WEFT_OK; r++) {
            uint32_t row = rows != NULL ? rows[r] : part->first + r;
            values_visit(&w, weft__chunk_value(chunk, ref->column, row), 1, field_collect);
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

static bool field_rewrite(void *user, weft_blob_ref *field)
{
    const walk *w = user;
    if (field->id == 0) return true;
    weft_blob_ref copy = {blob_of(w->t, field->id)->to};
    if (w->type->desc.hooks.destruct != NULL && copy.id != 0) { /* the field owns a reference */
        weft_blob_acquire(w->t->to->blobs, copy);
        weft_blob_release(w->t->from->blobs, *field);
    }
    *field = copy;
    return true;
}

void weft__transfer_blobs_rewrite(weft__transfer *t, const weft__type *type, void *values,
                                  uint32_t count)
{
    if (t->blobs.count == 0 || !type->has_blobs) return;
    walk w = {.t = t, .type = type};
    values_visit(&w, values, count, field_rewrite);
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
