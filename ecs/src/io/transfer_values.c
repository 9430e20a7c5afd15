/* SPDX-License-Identifier: MIT */
/* transfer_values.c: the values of a transfer: columns, heap memory of buffers, enable bits, chunk
 * values, references. Values move as bytes: no hook of theirs runs. */
#include "transfer_values.h"
#include "enable.h"
#include "error.h"
#include "transfer_blobs.h"
#include "transfer_memory.h"
#include "transfer_state.h"
#include "transfer_world.h"

#include <string.h>

static const weft__change_part *part_at(const weft__transfer *t, uint32_t part)
{
    return &t->change.parts.at[part];
}

/* The source row of row `i` of the part. */
static uint32_t source_row(const weft__transfer *t, const weft__change_part *part, uint32_t i)
{
    const uint32_t *rows = weft__change_rows(&t->change, part);
    return rows != NULL ? rows[i] : part->first + i;
}

/* Position in the destination's archetype of type `i` of a part's archetype. */
static const weft__type_ref *target_of(const weft__transfer *t, const weft__change_part *part,
                                       uint32_t i, const weft__archetype *to)
{
    uint32_t component = part->chunk->archetype->types[i].component;
    return &to->types[weft__archetype_find(to, t->types[component])];
}

static bool is_spilling(const weft__type_ref *ref)
{
    return (ref->type->desc.flags & WEFT_BUFFER) != 0 && ref->type->desc.size != 0;
}

static weft_buffer *buffer_at(const weft__chunk *chunk, uint32_t column, uint32_t row)
{
    return (weft_buffer *)(void *)weft__chunk_value(chunk, column, row);
}

/* ---- copying: may fail ---- */

static void column_copy(const weft__transfer *t, const weft__change_part *part, uint32_t column,
                        uint32_t done, weft__span to, uint32_t to_column)
{
    const weft__chunk *from = part->chunk;
    size_t bytes = from->layout->columns[column].bytes;
    char *target = weft__chunk_value(to.chunk, to_column, to.row);
    if (part->rows == WEFT__NONE) {
        memcpy(target, weft__chunk_value(from, column, part->first + done), to.count * bytes);
        return;
    }
    for (uint32_t i = 0; i < to.count; i++)
        memcpy(target + i * bytes, weft__chunk_value(from, column, source_row(t, part, done + i)),
               bytes);
}

/* Gives the copies of spilled buffers memory of the destination. */
static bool heaps_copy(weft__transfer *t, const weft__change_part *part, const weft__type_ref *ref,
                       uint32_t done, weft__span to, uint32_t to_column)
{
    size_t size = ref->type->desc.size;
    for (uint32_t i = 0; i < to.count; i++) {
        weft_buffer *copy = buffer_at(to.chunk, to_column, to.row + i);
        const weft_buffer *buffer =
            buffer_at(part->chunk, ref->column, source_row(t, part, done + i));
        if (buffer->heap == NULL) continue;
        copy->heap = weft__alloc(&t->to->memory, WEFT__MEMORY_BUFFERS, buffer->capacity, size, 16);
        if (copy->heap == NULL) return false;
        memcpy(copy->heap, buffer->heap, buffer->count * size);
    }
    return true;
}

static bool span_copy(weft__transfer *t, uint32_t number, weft__span to, uint32_t done)
{
    const weft__change_part *part = part_at(t, number);
    const weft__archetype *archetype = part->chunk->archetype;
    for (uint32_t i = 0; i < archetype->type_count; i++) {
        const weft__type_ref *ref = &archetype->types[i];
        if (ref->column == 0) continue;
        uint32_t column = target_of(t, part, i, to.chunk->archetype)->column;
        column_copy(t, part, ref->column, done, to, column);
        for (uint32_t r = 0; r < to.count && is_spilling(ref) && !t->shares_memory; r++)
            buffer_at(to.chunk, column, to.row + r)->heap = NULL;
    }
    return true;
}

static bool span_copy_heaps(weft__transfer *t, uint32_t number, weft__span to, uint32_t done)
{
    const weft__change_part *part = part_at(t, number);
    const weft__archetype *archetype = part->chunk->archetype;
    for (uint32_t i = 0; i < archetype->type_count; i++) {
        const weft__type_ref *ref = &archetype->types[i];
        if (!is_spilling(ref)) continue;
        uint32_t column = target_of(t, part, i, to.chunk->archetype)->column;
        if (!heaps_copy(t, part, ref, done, to, column)) return false;
    }
    return true;
}

static bool span_uncopy(weft__transfer *t, uint32_t number, weft__span to, uint32_t done)
{
    const weft__archetype *archetype = to.chunk->archetype;
    (void)number, (void)done;
    for (uint32_t i = 0; i < archetype->type_count; i++) {
        const weft__type_ref *ref = &archetype->types[i];
        for (uint32_t r = 0; r < to.count && is_spilling(ref); r++) {
            weft_buffer *copy = buffer_at(to.chunk, ref->column, to.row + r);
            weft__free(&t->to->memory, WEFT__MEMORY_BUFFERS, copy->heap, copy->capacity,
                       ref->type->desc.size, 16);
        }
    }
    return true;
}

weft_result weft__transfer_copy(weft__transfer *t, uint32_t part)
{
    weft__run run;
    if (weft__transfer_memory_run(t, part_at(t, part)->chunk, &run)) return WEFT_OK;
    weft__transfer_spans(t, part, span_copy);
    if (t->shares_memory || weft__transfer_spans(t, part, span_copy_heaps)) return WEFT_OK;
    weft__transfer_uncopy(t, part);
    return weft__error_memory(t->to, "weft_world_transfer: a buffer");
}

void weft__transfer_uncopy(weft__transfer *t, uint32_t part)
{
    if (!t->shares_memory) weft__transfer_spans(t, part, span_uncopy);
}

/* ---- settling: cannot fail ---- */

/* Memory of spilled buffers: counted in its new world, or freed in the old one. */
static void heaps_settle(weft__transfer *t, const weft__change_part *part,
                         const weft__type_ref *ref, uint32_t row)
{
    weft_buffer *buffer = buffer_at(part->chunk, ref->column, row);
    if (buffer->heap == NULL) return;
    int64_t bytes = (int64_t)(buffer->capacity * ref->type->desc.size);
    if (!t->shares_memory) {
        weft__free(&t->from->memory, WEFT__MEMORY_BUFFERS, buffer->heap, buffer->capacity,
                   ref->type->desc.size, 16);
        return;
    }
    weft__memory_count(&t->from->memory, WEFT__MEMORY_BUFFERS, -bytes);
    weft__memory_count(&t->to->memory, WEFT__MEMORY_BUFFERS, bytes);
}

/* Whose references are followed. On the stack. */
typedef struct following {
    weft__transfer *t;
    const weft__type *type; /* of the destination */
} following;

/* A reference to a source entity becomes its new handle, or null; one to a blob leads to the copy.
 */
static bool reference_follow(void *user, weft__reference *r)
{
    const following *f = user;
    weft__transfer *t = f->t;
    uint32_t location;
    if (r->bits == 0) return true;
    if (r->is_blob) {
        weft__transfer_blob_follow(t, f->type, &r->blob);
        return true;
    }
    bool moves = weft__directory_find(&t->from->directory, r->entity, &location) &&
                 (location & WEFT__TRANSFER_MOVES) != 0;
    r->entity = moves ? t->ids[location & ~WEFT__TRANSFER_MOVES] : WEFT__NO_ENTITY;
    t->report.references_cleared += moves ? 0 : 1;
    return true;
}

static void references_follow(weft__transfer *t, const weft__type *type, void *values,
                              uint32_t count)
{
    following f = {t, type};
    weft__type_references(type, values, count, reference_follow, &f);
}

static bool span_settle(weft__transfer *t, uint32_t number, weft__span to, uint32_t done)
{
    const weft__change_part *part = part_at(t, number);
    const weft__archetype *archetype = part->chunk->archetype;
    for (uint32_t i = 0; i < archetype->type_count; i++) {
        const weft__type_ref *ref = &archetype->types[i];
        const weft__type_ref *target = target_of(t, part, i, to.chunk->archetype);
        weft__rows_stamp(to.chunk, (uint32_t)(target - to.chunk->archetype->types), to.row,
                         to.count, t->to->front.version);
        for (uint32_t r = 0; r < to.count && is_spilling(ref); r++)
            heaps_settle(t, part, ref, source_row(t, part, done + r));
        for (uint32_t r = 0; r < to.count && ref->enableable != WEFT__NO_PLACE; r++)
            if (!weft__chunk_is_enabled(part->chunk, ref->enableable,
                                        source_row(t, part, done + r)))
                weft__chunk_enable(to.chunk, target->enableable, to.row + r, false);
        if (target->column != 0) {
            void *values = weft__chunk_value(to.chunk, target->column, to.row);
            references_follow(t, target->type, values, to.count);
        }
    }
    return true;
}

static void chunk_values_settle(weft__transfer *t, const weft__change_part *part,
                                const weft__chunk *to)
{
    const weft__archetype *archetype = part->chunk->archetype;
    for (uint32_t i = 0; i < archetype->type_count; i++) {
        const weft__type_ref *ref = &archetype->types[i];
        if (ref->chunk_offset == WEFT__NONE) continue;
        const weft__type_ref *target = target_of(t, part, i, to->archetype);
        char *value = to->chunk_values + target->chunk_offset;
        memcpy(value, part->chunk->chunk_values + ref->chunk_offset, ref->type->chunk_bytes);
        references_follow(t, target->type, value, 1);
    }
}

void weft__transfer_settle(weft__transfer *t, uint32_t part)
{
    const weft__change_part *p = part_at(t, part);
    weft__transfer_spans(t, part, span_settle);
    if (p->is_header) chunk_values_settle(t, p, t->spans.at[p->pieces].chunk);
}
