/* transfer_blobs.c: blobs that moved values refer to through described BLOB fields: copied into the
 * destination's store before the commit, and the fields rewritten after it. */
#include "blob_store.h"
#include "transfer_private.h"

#include <string.h>

#define CATEGORY WEFT__MEMORY_COMMANDS

/* Called for every BLOB field. */
typedef weft_result field_visit(weft__transfer *t, const weft__type *type, weft_blob_ref *field);

static bool has_blobs(const weft__type *type)
{
    for (uint32_t i = 0; i < type->desc.field_count; i++)
        if (type->desc.fields[i].kind == WEFT_FIELD_BLOB) return true;
    return false;
}

/* Fields of one struct; `values` may be unaligned for the reference. */
static weft_result struct_visit(weft__transfer *t, const weft__type *type, char *value,
                                field_visit *visit)
{
    for (uint32_t i = 0; i < type->desc.field_count; i++) {
        const weft_field *field = &type->desc.fields[i];
        uint32_t count = field->count == 0 ? 1 : field->count;
        for (uint32_t k = 0; k < count && field->kind == WEFT_FIELD_BLOB; k++) {
            weft_blob_ref ref;
            char *at = value + field->offset + k * sizeof ref;
            memcpy(&ref, at, sizeof ref);
            weft_result result = ref.id == 0 ? WEFT_OK : visit(t, type, &ref);
            if (result != WEFT_OK) return result;
            memcpy(at, &ref, sizeof ref);
        }
    }
    return WEFT_OK;
}

static weft_result values_visit(weft__transfer *t, const weft__type *type, char *values,
                                uint32_t count, field_visit *visit)
{
    bool is_buffer = (type->desc.flags & WEFT_BUFFER) != 0;
    size_t stride = type->value_bytes != 0 ? type->value_bytes : type->desc.size;
    for (uint32_t i = 0; i < count; i++) {
        char *value = values + i * stride;
        uint32_t elements = 1;
        if (is_buffer) {
            weft_buffer *buffer = (weft_buffer *)(void *)value;
            elements = buffer->count;
            value = weft_buffer_data(buffer);
        }
        for (uint32_t k = 0; k < elements; k++) {
            weft_result result = struct_visit(t, type, value + k * type->desc.size, visit);
            if (result != WEFT_OK) return result;
        }
    }
    return WEFT_OK;
}

/* ---- the table ---- */

static weft__transfer_blob *slot_of(const weft__transfer *t, uint64_t id)
{
    uint32_t mask = t->blob_capacity - 1, i = (uint32_t)hash_fold(id ^ HASH_K0, HASH_K1) & mask;
    while (t->blobs[i].from != 0 && t->blobs[i].from != id) i = (i + 1) & mask;
    return &t->blobs[i];
}

static bool table_reserve(weft__transfer *t)
{
    if (2 * (t->blob_count + 1) <= t->blob_capacity) return true;
    weft__transfer old = *t;
    t->blob_capacity = old.blob_capacity == 0 ? 16 : 2 * old.blob_capacity;
    t->blobs = weft__alloc_zeroed(&t->to->memory, CATEGORY, t->blob_capacity, sizeof *t->blobs, 8);
    if (t->blobs == NULL) {
        t->blobs = old.blobs;
        t->blob_capacity = old.blob_capacity;
        return false;
    }
    for (uint32_t i = 0; i < old.blob_capacity; i++)
        if (old.blobs[i].from != 0) *slot_of(t, old.blobs[i].from) = old.blobs[i];
    weft__free(&t->to->memory, CATEGORY, old.blobs, old.blob_capacity, sizeof *t->blobs, 8);
    return true;
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

static weft_result field_collect(weft__transfer *t, const weft__type *type, weft_blob_ref *field)
{
    weft_blob_ref copy;
    if (!table_reserve(t)) return WEFT_OUT_OF_MEMORY;
    weft__transfer_blob *entry = slot_of(t, field->id);
    if (entry->from == 0) {
        weft_result result = blob_copy(t, *field, &copy);
        if (result != WEFT_OK) return result;
        *entry = (weft__transfer_blob){.from = field->id, .to = copy.id};
        t->blob_count++;
    }
    entry->is_kept = entry->is_kept || type->desc.hooks.destruct == NULL;
    return WEFT_OK;
}

static weft_result part_collect(weft__transfer *t, const weft__change_part *part)
{
    const weft__chunk *chunk = part->chunk;
    const uint32_t *rows = weft__change_rows(&t->change, part);
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < chunk->archetype->type_count && result == WEFT_OK; i++) {
        const weft__type_ref *ref = &chunk->archetype->types[i];
        if (!has_blobs(ref->type)) continue;
        if (ref->chunk_offset != WEFT__NONE && part->is_header)
            result = values_visit(t, ref->type, chunk->chunk_values + ref->chunk_offset, 1,
                                  field_collect);
        for (uint32_t r = 0; r < part->count && ref->column != 0 && result == WEFT_OK; r++) {
            uint32_t row = rows != NULL ? rows[r] : part->first + r;
            result = values_visit(t, ref->type, weft__chunk_value(chunk, ref->column, row), 1,
                                  field_collect);
        }
    }
    return result;
}

weft_result weft__transfer_blobs_collect(weft__transfer *t)
{
    if (t->from->blobs == NULL) return WEFT_OK;
    weft_result result = weft_world_blobs(t->to) == NULL ? WEFT_OUT_OF_MEMORY : WEFT_OK;
    for (uint32_t i = 0; i < t->change.part_count && result == WEFT_OK; i++)
        result = part_collect(t, &t->change.parts[i]);
    return result == WEFT_OK ? WEFT_OK : weft__error_memory(t->to, "weft_world_transfer: a blob");
}

/* ---- after the commit ---- */

static weft_result field_rewrite(weft__transfer *t, const weft__type *type, weft_blob_ref *field)
{
    weft_blob_ref copy = {slot_of(t, field->id)->to};
    if (type->desc.hooks.destruct != NULL && copy.id != 0) { /* the field owns a reference */
        weft_blob_acquire(t->to->blobs, copy);
        weft_blob_release(t->from->blobs, *field);
    }
    *field = copy;
    return WEFT_OK;
}

void weft__transfer_blobs_rewrite(weft__transfer *t, const weft__type *type, void *values,
                                  uint32_t count)
{
    if (t->blob_count == 0 || !has_blobs(type)) return;
    values_visit(t, type, values, count, field_rewrite);
}

void weft__transfer_blobs_fini(weft__transfer *t, bool is_done)
{
    for (uint32_t i = 0; i < t->blob_capacity; i++) {
        const weft__transfer_blob *entry = &t->blobs[i];
        if (entry->to != 0 && !(is_done && entry->is_kept))
            weft_blob_release(t->to->blobs, (weft_blob_ref){entry->to});
    }
    weft__free(&t->to->memory, CATEGORY, t->blobs, t->blob_capacity, sizeof *t->blobs, 8);
}
