/* SPDX-License-Identifier: MIT */
/* cell_text.c: a value as text for the state log (cell_text.h).
 *
 * Values without a description are words of four bytes, or bytes. */
#include "cell_text.h"

#include "archetype_state.h"
#include "enable.h"
#include "shared.h"
#include "world_state.h"

#include <weft/value.h>

#include <stdio.h>
#include <string.h>

/* Appends; returns the new length, at most WEFT__CELL_TEXT_BYTES - 1. */
static size_t append(char *text, size_t length, const char *more)
{
    const size_t room = WEFT__CELL_TEXT_BYTES - 1 - length, count = strnlen(more, room);
    memcpy(text + length, more, count);
    text[length + count] = '\0';
    return length + count;
}

static size_t append_bytes(char *text, size_t length, const void *value, size_t bytes)
{
    const size_t step = bytes % 4 == 0 ? 4 : 1;
    for (size_t at = 0; at < bytes && length < WEFT__CELL_TEXT_BYTES - 1; at += step) {
        uint32_t word = 0;
        char piece[16];
        memcpy(&word, (const char *)value + at, step);
        snprintf(piece, sizeof piece, at == 0 ? "%#x" : " %#x", word);
        length = append(text, length, piece);
    }
    return length;
}

static size_t append_value(char *text, size_t length, const weft__type *type, const void *value)
{
    char described[WEFT__CELL_TEXT_BYTES];
    if (type->desc.type == NULL) return append_bytes(text, length, value, type->desc.size);
    weft_value_write(NULL, type->desc.type, value, described, sizeof described);
    described[sizeof described - 1] = '\0';
    return append(text, length, described);
}

static size_t append_buffer(char *text, size_t length, const weft__type *type, const void *value)
{
    const weft_buffer *buffer = value;
    const char *elements = weft_buffer_read(buffer);
    length = append(text, length, "[");
    for (uint32_t i = 0; i < buffer->count && length < WEFT__CELL_TEXT_BYTES - 1; i++) {
        if (i > 0) length = append(text, length, ", ");
        length = append_value(text, length, type, elements + (size_t)i * type->desc.size);
    }
    return append(text, length, "]");
}

void weft__cell_text(const weft_world *world, const weft__chunk *chunk, uint32_t row,
                     uint32_t position, char text[WEFT__CELL_TEXT_BYTES])
{
    const weft__type_ref *ref = &chunk->archetype->types[position];
    const weft__type *type = ref->type;
    size_t length = 0;
    text[0] = '\0';
    if (ref->column != 0 && (type->desc.flags & WEFT_BUFFER) != 0)
        length = append_buffer(text, length, type, weft__chunk_value(chunk, ref->column, row));
    else if (ref->column != 0)
        length = append_value(text, length, type, weft__chunk_value(chunk, ref->column, row));
    if (ref->shared != WEFT__NO_PLACE)
        length = append_value(
            text, length, type,
            weft__shared_value(&world->shared, ref->component, chunk->tuple->values[ref->shared]));
    if (ref->enableable != WEFT__NO_PLACE) {
        if (length > 0) length = append(text, length, " ");
        append(text, length,
               weft__chunk_is_enabled(chunk, ref->enableable, row) ? "enabled" : "disabled");
    } else if (length == 0) {
        append(text, length, "present");
    }
}

weft_entity weft__entity_plain(const weft_world *world, weft_entity entity)
{
    if ((entity.version & 1) != 0) entity.index ^= world->directory.tag_bits;
    return entity;
}
