/* SPDX-License-Identifier: MIT */
/* row_block.c: columns are copied as they are, then references in the copy become gids. Reading
 * keeps pointers into the bytes, all of them checked against the end. */
#include "row_block.h"

#include <assert.h>
#include <stdlib.h>

#include "archetype_state.h"
#include "hash.h"
#include "ranks_error.h"
#include "world_front.h"

/* ---- writing ---- */

static bool to_gid(void *user, weft__reference *r)
{
    r->bits = weft_shard_gid(user, r->entity);
    return true;
}

static void translate(const weft_shard *shard, const weft__row_component *type, void *values,
                      uint64_t count)
{
    weft__elements_references(weft__type_of(type->desc), values, count, to_gid,
                              (void *)(uintptr_t)shard);
}

/* The values of rows one after the other. Neighbours in the list are mostly of one chunk. */
static void gather_column(const weft__row_list *rows, const weft__row_component *type,
                          unsigned char *to)
{
    const uint32_t size = type->size, count = rows->count;
    const weft__row_place *places = rows->places;
    if (count == 0) return;
    const weft__chunk *chunk = NULL;
    const uint32_t column =
        weft__archetype_slot(places->chunk->archetype, type->component.id)->column;
    const char *from = NULL;
#define GATHER(size)                                                                               \
    for (uint32_t i = 0; i < count; i++) {                                                         \
        if (places[i].chunk != chunk) {                                                            \
            chunk = places[i].chunk;                                                               \
            from = weft__chunk_column(chunk, column);                                              \
        }                                                                                          \
        memcpy(to + (size_t)i * (size), from + (size_t)places[i].row * (size), (size));            \
    }
    if (size == 4)
        GATHER(4)
    else if (size == 8)
        GATHER(8)
    else if (size == 12)
        GATHER(12)
    else if (size == 16)
        GATHER(16)
    else if (size == 24)
        GATHER(24)
    else
        GATHER(size)
#undef GATHER
}

static weft_result write_plain(const weft_shard *shard, const weft__row_list *rows,
                               const weft__row_component *type, weft__bytes *out)
{
    void *values = weft__bytes_add(out, (uint64_t)rows->count * type->size);
    if (values == NULL) return weft__ranks_no_memory();
    gather_column(rows, type, values);
    translate(shard, type, values, rows->count);
    return WEFT_OK;
}

static weft_result write_shared(const weft_shard *shard, const weft__row_list *rows,
                                const weft__row_component *type, weft__bytes *out)
{
    unsigned char *values = weft__bytes_add(out, (uint64_t)rows->count * type->size);
    if (values == NULL) return weft__ranks_no_memory();
    for (uint32_t i = 0; i < rows->count; i++)
        memcpy(values + (size_t)i * type->size,
               weft_entity_read_shared(shard->world, weft__row_entity(rows->places[i]),
                                       type->component),
               type->size);
    translate(shard, type, values, rows->count);
    return WEFT_OK;
}

static weft_result write_buffer(const weft_shard *shard, const weft__row_list *rows,
                                const weft__row_component *type, weft__bytes *out)
{
    const uint64_t lengths_at = out->count;
    if (weft__bytes_add(out, (uint64_t)rows->count * 4) == NULL) return weft__ranks_no_memory();
    uint64_t total = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const weft_buffers buffer = weft_entity_read_buffer(
            shard->world, weft__row_entity(rows->places[i]), type->component);
        const uint32_t length = weft_buffers_length(&buffer, 0);
        memcpy(out->at + lengths_at + i * UINT64_C(4), &length, sizeof length);
        total += length;
    }
    unsigned char *elements = weft__bytes_add(out, total * type->size);
    if (elements == NULL) return weft__ranks_no_memory();
    unsigned char *to = elements;
    for (uint32_t i = 0; i < rows->count; i++) {
        const weft_buffers buffer = weft_entity_read_buffer(
            shard->world, weft__row_entity(rows->places[i]), type->component);
        const size_t bytes = (size_t)weft_buffers_length(&buffer, 0) * type->size;
        if (bytes != 0) memcpy(to, weft_buffers_read(&buffer, 0), bytes);
        to += bytes;
    }
    translate(shard, type, elements, total);
    return WEFT_OK;
}

static weft_result write_bits(const weft_shard *shard, const weft__row_list *rows,
                              const weft__row_component *type, weft__bytes *out)
{
    unsigned char *bits = weft__bytes_add(out, rows->count);
    if (bits == NULL) return weft__ranks_no_memory();
    for (uint32_t i = 0; i < rows->count; i++)
        bits[i] = weft_entity_is_enabled(shard->world, weft__row_entity(rows->places[i]),
                                         type->component);
    return WEFT_OK;
}

static weft_result write_component(const weft_shard *shard, const weft__row_list *rows,
                                   const weft__row_component *type, weft__bytes *out)
{
    const uint64_t word =
        type->component.id | (uint64_t)type->kind << 32 | (uint64_t)type->has_bits << 40;
    if (!weft__bytes_word(out, word)) return weft__ranks_no_memory();
    weft_result result = WEFT_OK;
    if (type->kind == WEFT__VALUE_PLAIN) result = write_plain(shard, rows, type, out);
    if (type->kind == WEFT__VALUE_SHARED) result = write_shared(shard, rows, type, out);
    if (type->kind == WEFT__VALUE_BUFFER) result = write_buffer(shard, rows, type, out);
    if (result == WEFT_OK && type->has_bits) result = write_bits(shard, rows, type, out);
    return result;
}

weft_result weft__block_write(const weft_shard *shard, const weft__row_list *rows, weft__bytes *out)
{
    weft__row_component list[WEFT__ROW_COMPONENTS];
    uint32_t count = 0;
    weft_result result = weft__row_components(shard, rows->archetype, list, &count);
    if (result != WEFT_OK) return result;
    if (!weft__bytes_word(out, rows->count | (uint64_t)count << 32) ||
        !weft__bytes_put(out, rows->gids, (uint64_t)rows->count * sizeof *rows->gids) ||
        !weft__bytes_put(out, rows->sectors, (uint64_t)rows->count * sizeof *rows->sectors))
        return weft__ranks_no_memory();
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++)
        result = write_component(shard, rows, &list[i], out);
    return result;
}

/* ---- reading ---- */

static weft_result is_corrupt(const char *what)
{
    return weft__ranks_fail(WEFT_CORRUPT, "%s: the bytes of rows are damaged", what);
}

static weft_result read_component(const weft_shard *shard, weft__reader *in, uint32_t rows,
                                  weft_component component, uint64_t word, weft__block_column *out)
{
    weft_result result = weft__row_component_of(shard, component, &out->type);
    if (result != WEFT_OK) return result;
    const weft__row_component *type = &out->type;
    if (type->kind != (word >> 32 & 0xFF) || type->has_bits != (word >> 40 & 1))
        return weft__ranks_fail(WEFT_TYPE_MISMATCH,
                                "component %s is of another kind than when it was written",
                                type->desc->name);
    uint64_t values = 0;
    if (type->kind == WEFT__VALUE_PLAIN || type->kind == WEFT__VALUE_SHARED)
        values = (uint64_t)rows * type->size;
    if (type->kind == WEFT__VALUE_BUFFER) {
        out->lengths = weft__reader_take(in, rows * UINT64_C(4));
        if (out->lengths == NULL) return is_corrupt("lengths of buffers are missing");
        out->starts = malloc((size_t)rows * sizeof *out->starts + 1);
        if (out->starts == NULL) return weft__ranks_no_memory();
        for (uint32_t i = 0; i < rows; i++) {
            out->starts[i] = values;
            values += out->lengths[i];
        }
        values *= type->size;
    }
    out->values = weft__reader_take(in, values);
    if (out->values == NULL) return is_corrupt("values are missing");
    if (!type->has_bits) return WEFT_OK;
    out->enabled = weft__reader_take(in, rows);
    return out->enabled != NULL ? WEFT_OK : is_corrupt("enable bits are missing");
}

static weft_result read_columns(const weft_shard *shard, weft__reader *in,
                                weft__component_map_fn *map, const void *user, weft__block *out)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < out->column_count; i++) {
        uint64_t word;
        if (!weft__reader_word(in, &word)) return is_corrupt("a component is missing");
        const uint32_t id = (uint32_t)word;
        if (id <= last) return is_corrupt("components are out of order");
        last = id;
        const weft_component component =
            map != NULL ? map(shard, id, user) : weft__component(shard->world, id);
        if (component.id == 0) return is_corrupt("a component is not in the table");
        weft_result result =
            read_component(shard, in, out->count, component, word, &out->columns[i]);
        if (result != WEFT_OK) return result;
    }
    return WEFT_OK;
}

weft_result weft__block_read(const weft_shard *shard, weft__reader *in, weft__component_map_fn *map,
                             const void *user, weft__block *out)
{
    uint64_t word;
    *out = (weft__block){0};
    if (!weft__reader_word(in, &word)) return is_corrupt("the head of a block is missing");
    out->count = (uint32_t)word;
    out->column_count = (uint32_t)(word >> 32);
    out->gids = weft__reader_take(in, out->count * UINT64_C(8));
    out->sectors = weft__reader_take(in, out->count * UINT64_C(4));
    if (out->gids == NULL || out->sectors == NULL) return is_corrupt("gids are missing");
    if (out->column_count > WEFT__ROW_COMPONENTS) return is_corrupt("too many components");
    for (uint32_t i = 0; i < out->count; i++)
        if (out->sectors[i] >= shard->map.count) return is_corrupt("there is no such sector");
    out->columns = calloc(out->column_count + UINT64_C(1), sizeof *out->columns);
    if (out->columns == NULL) return weft__ranks_no_memory();
    weft_result result = read_columns(shard, in, map, user, out);
    if (result != WEFT_OK) weft__block_free(out);
    return result;
}

void weft__block_free(weft__block *block)
{
    for (uint32_t i = 0; block->columns != NULL && i < block->column_count; i++)
        free(block->columns[i].starts);
    free(block->columns);
    *block = (weft__block){0};
}

/* ---- hashes ---- */

/* The bytes of a row's value. */
static const unsigned char *value_of(const weft__block_column *column, uint32_t row, size_t *bytes)
{
    const size_t size = column->type.size;
    *bytes = 0;
    if (!column->type.is_hashed || column->type.kind == WEFT__VALUE_TAG) return column->values;
    *bytes = size;
    if (column->type.kind != WEFT__VALUE_BUFFER) return column->values + row * size;
    *bytes = column->lengths[row] * size;
    return column->values + column->starts[row] * size;
}

static void hash_column(const weft_shard *shard, const weft__block_column *column, uint32_t rows,
                        uint64_t (*out)[2])
{
    const uint64_t type = weft_component_hash(shard->world, column->type.component);
    for (uint32_t row = 0; row < rows; row++) {
        size_t bytes;
        const unsigned char *value = value_of(column, row, &bytes);
        uint64_t hash = hash_part(hash_start(type, bytes), value, bytes);
        if (column->enabled != NULL) hash = hash_word(hash, column->enabled[row]);
        out[row][0] += hash_end(hash);
        out[row][1] += hash_end(hash_word(hash, HASH_K1));
    }
}

void weft__block_hash(const weft_shard *shard, const weft__block *block, uint64_t (*out)[2])
{
    for (uint32_t row = 0; row < block->count; row++) out[row][0] = out[row][1] = 0;
    for (uint32_t i = 0; i < block->column_count; i++)
        hash_column(shard, &block->columns[i], block->count, out);
}
