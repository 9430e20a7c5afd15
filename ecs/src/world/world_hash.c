/* SPDX-License-Identifier: MIT */
/* world_hash.c: weft_world_hash: one number for the state of a world, with or without the places
 * of rows. Component types enter by their stable hash, never by id or address, buffers by their
 * elements, shared values by their bytes, described blob references by content, handles without
 * the tag of the world: those of rows and those in described fields. Owner, world idle. */
#include "world_hash.h"
#include "blob_store.h"
#include "entity_tag.h"
#include "filter.h"
#include "hash_lanes.h"
#include "world_state.h"

#include <stdio.h>
#include <weft/value.h>

#define PART_BYTES 4096u /* of values copied to take tags off; a multiple of 8 */
#define PART_ROWS 512u

/* `count` bytes of values side by side, from byte `from` of them, where handles have tags. */
static uint64_t tagged_hash(const weft_world *world, uint64_t hash, const weft__type *type,
                            const char *values, size_t from, size_t count)
{
    char part[PART_BYTES];
    hash = hash_start(hash, count);
    for (size_t done = 0; done < count; done += PART_BYTES) {
        size_t n = count - done < PART_BYTES ? count - done : PART_BYTES;
        memcpy(part, values + from + done, n);
        weft__tags_flip(&world->directory, type, values, (weft__value_bytes){part, from + done, n});
        hash = hash_part(hash, part, n);
    }
    return hash_end(hash);
}

static uint64_t plain_hash(const weft_world *world, uint64_t hash, const weft__type *type,
                           const char *values, size_t from, size_t count)
{
    return weft__type_has_tags(&world->directory, type)
               ? tagged_hash(world, hash, type, values, from, count)
               : hash_bytes(hash, values + from, count);
}

/* The next described BLOB field at or behind `from`, or `end`. */
static size_t next_blob(const weft__type *type, size_t from, size_t end)
{
    size_t next = end;
    for (uint32_t i = type->entity_offset_count; i < type->reference_count; i++) {
        size_t at = type->entity_offsets[i];
        if (at >= from && at < next) next = at;
    }
    return next;
}

/* BLOB fields count by the content of the blob: its reference is a slot of some store. */
static uint64_t blobs_hash(const weft_world *world, uint64_t hash, const weft__type *type,
                           const char *value, size_t bytes)
{
    for (size_t at = 0, next; at < bytes; at = next + sizeof(weft_blob_ref)) {
        next = next_blob(type, at, bytes);
        hash = plain_hash(world, hash, type, value, at, next - at);
        if (next >= bytes) break;
        weft_blob_ref ref;
        memcpy(&ref, value + next, sizeof ref);
        const weft__blob_header *header =
            world->blobs == NULL ? NULL : weft__blob_store_block(world->blobs, ref);
        hash = hash_word(hash, header == NULL ? 0 : header->content_hash);
    }
    return hash;
}

static uint64_t bytes_hash(const weft_world *world, uint64_t hash, const weft__type *type,
                           const void *value, size_t bytes)
{
    return weft__type_has_blobs(type) ? blobs_hash(world, hash, type, value, bytes)
                                      : plain_hash(world, hash, type, value, 0, bytes);
}

static uint64_t buffer_hash(const weft_world *world, uint64_t hash, const weft__type *type,
                            const weft_buffer *buffer)
{
    const char *elements = weft_buffer_read(buffer);
    hash = hash_word(hash, buffer->count);
    if (!weft__type_has_blobs(type))
        return plain_hash(world, hash, type, elements, 0, buffer->count * type->desc.size);
    for (uint32_t i = 0; i < buffer->count; i++)
        hash = blobs_hash(world, hash, type, elements + i * type->desc.size, type->desc.size);
    return hash;
}

static uint64_t value_hash(const weft_world *world, uint64_t hash, const weft__type *type,
                           const void *value)
{
    if ((type->desc.flags & WEFT_BUFFER) != 0) return buffer_hash(world, hash, type, value);
    return bytes_hash(world, hash, type, value, type->desc.size);
}

static bool is_enabled(const weft__chunk *chunk, uint32_t enableable, uint32_t row)
{
    const weft_a64 *x_words = weft__chunk_disabled(chunk, enableable);
    return (at_load_rlx(&x_words[row / 64]) >> row % 64 & 1) == 0; /* relaxed: the world is idle */
}

static bool is_hashed(const weft__type *type)
{
    return (type->desc.flags & WEFT_NOT_HASHED) == 0;
}

uint64_t weft__cell_hash(const weft_world *world, const weft__chunk *chunk, uint32_t row,
                         uint32_t position)
{
    const weft__type_ref *ref = &chunk->archetype->types[position];
    uint64_t hash = ref->type->hash;
    if (ref->column != 0 && is_hashed(ref->type))
        hash = value_hash(world, hash, ref->type, weft__chunk_value(chunk, ref->column, row));
    if (ref->shared != WEFT__NO_PLACE && is_hashed(ref->type))
        hash = bytes_hash(
            world, hash, ref->type,
            weft__shared_value(&world->shared, ref->component, chunk->tuple->values[ref->shared]),
            ref->type->desc.size);
    if (ref->enableable != WEFT__NO_PLACE)
        hash = hash_word(hash, is_enabled(chunk, ref->enableable, row) ? 1 : 0);
    return hash_word(hash, 1);
}

/* One entity; types are summed, so that their order (registration) does not matter. */
static uint64_t row_hash(const weft_world *world, const weft__chunk *chunk, uint32_t row)
{
    weft_entity entity = weft__chunk_entities(chunk)[row];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < chunk->archetype->type_count; i++)
        sum += weft__cell_hash(world, chunk, row, i);
    uint32_t index = entity.index ^ world->directory.tag_bits;
    return hash_word(hash_word(HASH_K0, (uint64_t)entity.version << 32 | index), sum);
}

/* Plain columns of a chunk in whole, everything else row by row. */
static uint64_t chunk_hash(const weft_world *world, const weft__chunk *chunk, uint64_t hash)
{
    hash = hash_word(hash, (uint64_t)chunk->capacity << 32 | chunk->count);
    for (uint32_t row = 0; row < chunk->count; row++)
        hash = hash_word(hash, row_hash(world, chunk, row));
    for (uint32_t i = 0; i < chunk->archetype->type_count; i++) {
        const weft__type_ref *ref = &chunk->archetype->types[i];
        if (ref->chunk_offset != WEFT__NONE && is_hashed(ref->type))
            hash = bytes_hash(world, hash, ref->type, chunk->chunk_values + ref->chunk_offset,
                              ref->type->chunk_bytes);
    }
    return hash;
}

/* Values of rows [begin, end) of a column. */
static uint64_t column_sum(const weft_world *world, const weft__chunk *chunk,
                           const weft__type_ref *ref, uint32_t begin, uint32_t end)
{
    const weft__type *type = ref->type;
    const size_t bytes = type->desc.size;
    uint64_t sum = 0;
    if ((type->desc.flags & WEFT_BUFFER) == 0 && type->reference_count == 0)
        return weft__hash_lanes_sum(begin * bytes / 64,
                                    weft__chunk_value(chunk, ref->column, begin),
                                    (end - begin) * bytes);
    for (uint32_t row = begin; row < end; row++)
        sum += value_hash(world, hash_word(HASH_K0, row), type,
                          weft__chunk_value(chunk, ref->column, row));
    return sum;
}

uint64_t weft__rows_sum(const weft_world *world, const weft__chunk *chunk, uint32_t position,
                        uint32_t begin, uint32_t end)
{
    const weft__type_ref *ref = &chunk->archetype->types[position];
    const weft__type *type = ref->type;
    uint64_t sum = 0;
    if (ref->column != 0 && is_hashed(type)) sum = column_sum(world, chunk, ref, begin, end);
    for (uint32_t i = begin; ref->enableable != WEFT__NO_PLACE && i < end; i += 64) {
        /* relaxed: as is_enabled */
        const uint64_t word = at_load_rlx(&weft__chunk_disabled(chunk, ref->enableable)[i / 64]);
        sum += hash_word(hash_word(HASH_K1, i), word);
    }
    if (begin != 0 || !is_hashed(type)) return sum;
    if (ref->shared != WEFT__NO_PLACE)
        sum += bytes_hash(
            world, HASH_K0, type,
            weft__shared_value(&world->shared, ref->component, chunk->tuple->values[ref->shared]),
            type->desc.size);
    if (ref->chunk_offset != WEFT__NONE)
        sum += bytes_hash(world, HASH_K1, type, chunk->chunk_values + ref->chunk_offset,
                          type->chunk_bytes);
    return sum;
}

uint64_t weft__rows_hash(const weft_world *world, const weft__chunk *chunk)
{
    uint64_t hash = hash_word(HASH_K0, (uint64_t)chunk->capacity << 32 | chunk->count);
    for (uint32_t row = 0; row < chunk->count; row += PART_ROWS) {
        weft_entity part[PART_ROWS];
        const weft_entity *rows = weft__chunk_entities(chunk) + row;
        const uint32_t left = chunk->count - row, count = left < PART_ROWS ? left : PART_ROWS;
        for (uint32_t i = 0; i < count && world->directory.tag_bits != 0; i++)
            part[i] = weft__entity_plain(world, rows[i]);
        if (world->directory.tag_bits != 0) rows = part;
        hash = weft__hash_lanes(hash, rows, count * sizeof *rows);
    }
    return hash;
}

uint64_t weft__handles_hash(const weft_world *world)
{
    uint64_t hash = HASH_K1;
    uint32_t end = weft__directory_end(&world->directory);
    for (uint32_t index = 0; index < end; index++) {
        uint32_t version = weft__directory_version(&world->directory, index);
        if (version != 0) hash = hash_word(hash, (uint64_t)version << 32 | index);
    }
    return hash;
}

uint64_t weft__value_hash(const weft_world *world, const weft__type *type, const void *value)
{
    return is_hashed(type) ? value_hash(world, type->hash, type, value) : 0;
}

uint64_t weft__names_hash(const weft_world *world)
{
    uint64_t sum = 0;
    for (uint32_t id = 1; id < world->chunks.end && world->names != NULL; id++) {
        const weft__chunk *chunk = world->chunks.at[id];
        if (chunk == NULL || (chunk->archetype->flags & WEFT__IS_SPARSE) != 0) continue;
        for (uint32_t row = 0; row < chunk->count; row++) {
            const weft_entity entity = weft__chunk_entities(chunk)[row];
            const char *name = weft_entity_name(world, entity);
            if (name[0] != '\0')
                sum += hash_word(hash_string(name), weft__entity_plain(world, entity).index);
        }
    }
    return sum;
}

static uint64_t resources_hash(const weft_world *world)
{
    uint64_t sum = 0;
    for (uint32_t id = 1; id <= world->types.count; id++) {
        const weft__type *type = world->types.at[id];
        if (type->resource != NULL) sum += weft__value_hash(world, type, type->resource);
    }
    return sum;
}

static uint64_t layout_hash(const weft_world *world)
{
    uint64_t hash = weft__handles_hash(world);
    for (uint32_t a = 0; a < world->archetypes.count; a++) {
        const weft__archetype *archetype = world->archetypes.at[a];
        if (archetype->chunk_count == 0) continue;
        for (uint32_t i = 0; i < archetype->chunk_count; i++)
            hash = chunk_hash(world, archetype->chunks[i], hash);
    }
    return hash_word(hash, resources_hash(world));
}

static uint64_t content_hash(const weft_world *world)
{
    uint64_t sum = resources_hash(world);
    for (uint32_t id = 1; id < world->chunks.end; id++) {
        const weft__chunk *chunk = world->chunks.at[id];
        for (uint32_t row = 0; chunk != NULL && row < chunk->count; row++)
            sum += row_hash(world, chunk, row);
    }
    return sum;
}

uint64_t weft_world_hash(weft_world *world, weft_hash_kind kind)
{
    if (world == NULL || weft__idle(world, "weft_world_hash") != WEFT_OK) return 0;
    return kind == WEFT_HASH_LAYOUT ? layout_hash(world) : content_hash(world);
}

/* ---- cells as text ---- */

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
    weft_value_format(NULL, type->desc.type, value, described, sizeof described);
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

void weft__value_text(const weft__type *type, const void *value, char text[WEFT__CELL_TEXT_BYTES])
{
    text[0] = '\0';
    if ((type->desc.flags & WEFT_BUFFER) != 0)
        append_buffer(text, 0, type, value);
    else
        append_value(text, 0, type, value);
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
