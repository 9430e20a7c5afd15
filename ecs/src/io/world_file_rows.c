/* SPDX-License-Identifier: MIT */
/* world_file_rows.c: the rows of a world file: chunks are made in the shape they had, values put in
 * place, handles entered into the directory. Untrusted input: every count is compared with the
 * bytes that are left before anything is made for it. Owner of a new world. */
#include "world_file_rows.h"
#include "directory_check.h"
#include "directory_dead.h"
#include "world_file_read.h"

#include "archetype.h"
#include "bits.h"
#include "chunk.h"
#include "destroy.h"
#include "entity_value.h"
#include "error.h"
#include "format.h"
#include "sparse.h"
#include "structure.h"
#include "tuple.h"

#include <stdlib.h>
#include <string.h>

/* Most blocks of entities without a mention, so that few bytes cannot ask for much memory. */
#define BLOCKS_WITHOUT_MENTION 512u
#define MENTIONS_PER_BLOCK 64u

/* ---- entities ---- */

/* Enters a handle that was never given; `location` 0: dead. */
static bool entity_enter(weft__world_reader *r, uint32_t index, uint32_t version, uint32_t location)
{
    weft__directory *directory = &r->world->directory;
    uint64_t blocks = BLOCKS_WITHOUT_MENTION + r->header.entity_count / MENTIONS_PER_BLOCK;
    if (index / WEFT__BLOCK_SLOTS >= blocks)
        return weft__world_reader_fail(r, WEFT_LOAD_MALFORMED,
                                       "an entity index far beyond all others");
    if (index < weft__directory_end(directory) && weft__directory_version(directory, index) != 0)
        return weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "an entity is there twice");
    weft_result result = weft__directory_force(directory, index, version, location);
    if (result == WEFT_OK) return true;
    weft__error_limit(r->world, result, "weft_world_load");
    return weft__world_reader_failed(r);
}

static bool entities_read(weft__world_reader *r, weft__chunk *chunk, uint32_t count)
{
    const char *bytes = weft__in_take(&r->in, (size_t)count * sizeof(weft_entity));
    if (bytes == NULL) return false;
    weft_entity *entities = weft__chunk_entities(chunk);
    memcpy(entities, bytes, count * sizeof *entities);
    for (uint32_t row = 0; row < count; row++) {
        uint32_t index = entities[row].index;
        entities[row].index ^= r->world->directory.tag_bits;
        if ((entities[row].version & 1) == 0)
            return weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "an entity that is not alive");
        if ((chunk->archetype->flags & WEFT__IS_SPARSE) != 0) continue; /* when all are there */
        if (!entity_enter(r, index, entities[row].version, weft__location(chunk, row)))
            return false;
    }
    return true;
}

/* ---- columns ---- */

bool weft__world_reader_buffer(weft__world_reader *r, const weft__type *type, weft_buffer *buffer)
{
    uint32_t count = weft__world_reader_count(
        r, weft__type_is_hooked(type) ? 4 : weft__world_reader_bytes(r, type));
    if (!weft__world_reader_ok(r)) return false;
    if (count > buffer->capacity && type->desc.size != 0) {
        void *heap =
            weft__alloc(&r->world->memory, WEFT__MEMORY_BUFFERS, count, type->desc.size, 16);
        if (heap == NULL) {
            weft__error_memory(r->world, "weft_world_load");
            return weft__world_reader_failed(r);
        }
        buffer->heap = heap;
        buffer->capacity = count;
    }
    for (; buffer->count < count && type->desc.size != 0; buffer->count++) {
        char *element = (char *)weft__buffer_data(buffer) + buffer->count * type->desc.size;
        memset(element, 0, type->desc.size);
        if (weft__type_is_hooked(type)) weft__elements_construct(type, element, 1);
        if (weft__world_reader_value(r, type, element, type->desc.size)) continue;
        buffer->count++; /* it is constructed */
        return false;
    }
    buffer->count = count;
    return true;
}

static bool column_read(weft__world_reader *r, const weft__chunk *chunk, const weft__type_ref *ref)
{
    const weft__type *type = ref->type;
    bool is_whole = !weft__type_is_hooked(type) && !weft__type_has_blobs(type);
    if ((type->desc.flags & WEFT_BUFFER) == 0 && is_whole)
        return weft__world_reader_value(r, type, weft__chunk_column(chunk, ref->column),
                                        (size_t)chunk->count * type->value_bytes);
    for (uint32_t row = 0; row < chunk->count; row++) {
        char *value = weft__chunk_value(chunk, ref->column, row);
        bool is_read = (type->desc.flags & WEFT_BUFFER) != 0
                           ? weft__world_reader_buffer(r, type, (weft_buffer *)(void *)value)
                           : weft__world_reader_value(r, type, value, type->value_bytes);
        if (!is_read) return false;
    }
    return true;
}

static bool disabled_read(weft__world_reader *r, weft__chunk *const *pieces, uint32_t count,
                          uint32_t enableable)
{
    const char *problem = weft__disabled_get(&r->in, enableable, pieces, count);
    if (problem != NULL) weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, problem);
    return weft__world_reader_ok(r);
}

/* ---- chunks ---- */

/* Types of one archetype, in the order of the file. Lives on the stack of the function that
 * reads an archetype; the arrays are its own. */
typedef struct shape {
    const weft__type **types;
    uint32_t count;
    weft__archetype *archetype;
    uint32_t *values; /* [shared position] index of the value; a reference on each */
} shape;

static const weft__type_ref *ref_of(const weft__archetype *archetype, const weft__type *type)
{
    return &archetype->types[weft__archetype_find(archetype, type->id)];
}

/* Bytes of a value that a chunk record starts with; they lie behind the entities, among others. */
static bool shared_read(weft__world_reader *r, const shape *s, const weft__type *type)
{
    uint32_t *index = &s->values[ref_of(s->archetype, type)->shared];
    uint8_t has_value = weft__in_u8(&r->in);
    if (has_value > 1) return weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "a flag above 1");
    if (has_value == 0 || !weft__world_reader_ok(r)) return weft__world_reader_ok(r);
    size_t bytes = type->desc.size;
    char *value = weft__alloc_zeroed(&r->world->memory, WEFT__MEMORY_COMMANDS, bytes + 1, 1, 64);
    bool is_read = value != NULL && weft__world_reader_value(r, type, value, bytes);
    if (value == NULL ||
        (is_read && weft__shared_intern(&r->world->shared, type->id, value, index) != WEFT_OK)) {
        weft__error_memory(r->world, "weft_world_load");
        is_read = weft__world_reader_failed(r);
    }
    weft__free(&r->world->memory, WEFT__MEMORY_COMMANDS, value, bytes + 1, 1, 64);
    return is_read;
}

/* Rows that exist, all zero, with what has hooks constructed. */
static void rows_prepare(weft_world *world, weft__chunk *chunk, uint32_t count)
{
    for (uint32_t column = 1; column < chunk->layout->column_count; column++) {
        const weft__type *type = chunk->archetype->format->types[column];
        char *values = weft__chunk_column(chunk, column);
        if (weft__type_is_hooked(type) || (type->desc.flags & WEFT_BUFFER) != 0) {
            size_t bytes = (size_t)count * type->value_bytes;
            memset(values, 0, bytes);
            for (uint32_t row = 0; row < count && (type->desc.flags & WEFT_BUFFER) != 0; row++)
                ((weft_buffer *)(void *)(values + (size_t)row * type->value_bytes))->capacity =
                    type->desc.buffer_capacity;
            if ((type->desc.flags & WEFT_BUFFER) == 0)
                weft__type_construct_zeroed(type, values, count);
        } else if (!chunk->is_zero) {
            memset(values, 0, (size_t)count * type->value_bytes);
        }
    }
    chunk->count = count;
    weft__chunk_count_rows(world, chunk, count);
    weft__chunk_room_update(chunk);
    for (uint32_t type = 0; type < chunk->archetype->type_count; type++)
        weft__rows_stamp(chunk, type, 0, count, world->front.version);
}

static weft__chunk *chunk_make(weft__world_reader *r, const shape *s, uint32_t size_class,
                               uint32_t count)
{
    const weft__format *format = s->archetype->format;
    bool is_possible = size_class < WEFT__SIZE_CLASSES && size_class >= format->smallest_class &&
                       count != 0 && count <= weft__format_capacity(format, size_class);
    if (!is_possible) {
        weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "a chunk of an impossible size");
        return NULL;
    }
    weft__tuple *tuple = weft__tuple_obtain(r->world, s->archetype, s->values);
    weft__chunk *chunk = tuple == NULL ? NULL : weft__chunk_create(r->world, tuple, size_class);
    if (tuple != NULL) weft__tuple_release(r->world, tuple);
    if (chunk == NULL) {
        weft__world_reader_failed(r);
        return NULL;
    }
    rows_prepare(r->world, chunk, count);
    return chunk;
}

/* ---- chunks of another shape ----
 *
 * Where rows have another size, the rows of a chunk of the file may need several: its pieces, the
 * last chunks of the archetype from `first` on. They get new ids, and room lists in their order. */

/* Makes the pieces, with their entities. */
static bool pieces_make(weft__world_reader *r, const shape *s, uint32_t size_class, uint32_t count)
{
    const weft__format *format = s->archetype->format;
    bool is_possible = size_class < WEFT__SIZE_CLASSES && count != 0 &&
                       count <= (size_t)(r->in.end - r->in.at) / sizeof(weft_entity);
    if (!is_possible)
        return weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "a chunk of an impossible size");
    uint32_t least = size_class > format->smallest_class ? size_class : format->smallest_class;
    while (count != 0) {
        uint32_t k = least;
        while (k + 1 < WEFT__SIZE_CLASSES && weft__format_capacity(format, k) < count) k++;
        uint32_t most = weft__format_capacity(format, k), rows = count < most ? count : most;
        weft__chunk *chunk = chunk_make(r, s, k, rows);
        if (chunk == NULL || !entities_read(r, chunk, rows)) return false;
        count -= rows;
    }
    return true;
}

/* What a tag of the world had in the file. */
static bool column_skip(weft__world_reader *r, const weft__type *type, uint32_t rows)
{
    const uint32_t without = WEFT_SHARED | WEFT_CHUNK | WEFT_BUFFER;
    size_t bytes = weft__world_reader_bytes(r, type);
    return (type->desc.flags & without) != 0 || bytes == 0 ||
           weft__in_take(&r->in, bytes * rows) != NULL;
}

static bool pieces_read(weft__world_reader *r, const shape *s, uint32_t first, uint32_t rows)
{
    weft__chunk *const *pieces = s->archetype->chunks + first;
    uint32_t count = s->archetype->chunk_count - first;
    for (uint32_t i = 0; i < s->count && weft__world_reader_ok(r); i++) {
        const weft__type_ref *ref = ref_of(s->archetype, s->types[i]);
        const char *at = r->in.at;
        for (uint32_t p = 0; p < count && ref->chunk_offset != WEFT__NONE; p++) {
            r->in.at = at; /* each has the value */
            weft__world_reader_value(r, ref->type, pieces[p]->chunk_values + ref->chunk_offset,
                                     ref->type->chunk_bytes);
        }
        if (ref->enableable != WEFT__NO_PLACE) disabled_read(r, pieces, count, ref->enableable);
        for (uint32_t p = 0; p < count && ref->column != 0 && weft__world_reader_ok(r); p++)
            column_read(r, pieces[p], ref);
        if (ref->column == 0) column_skip(r, ref->type, rows);
    }
    return weft__world_reader_ok(r);
}

/* ---- chunks as they were ---- */

/* Chunks keep their ids: array operations take them in this order. */
static bool id_read(weft__world_reader *r, weft__chunk *chunk, uint32_t id)
{
    weft_result result = weft__chunk_renumber(r->world, chunk, id);
    if (result == WEFT_OK) return true;
    if (result == WEFT_INVALID_ARGUMENT)
        return weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "a chunk with a wrong number");
    weft__error_memory(r->world, "weft_world_load");
    return weft__world_reader_failed(r);
}

/* One chunk; its shared values come first. */
static bool chunk_read(weft__world_reader *r, const shape *s)
{
    uint32_t id = weft__in_u32(&r->in);
    uint32_t size_class = weft__in_u32(&r->in), count = weft__in_u32(&r->in);
    bool is_read = weft__world_reader_ok(r);
    for (uint32_t i = 0; i < s->count && is_read; i++)
        if ((s->types[i]->desc.flags & WEFT_SHARED) != 0) is_read = shared_read(r, s, s->types[i]);
    uint32_t first = s->archetype->chunk_count;
    weft__chunk *chunk = is_read && !r->is_reshaped ? chunk_make(r, s, size_class, count) : NULL;
    if (r->is_reshaped) is_read = is_read && pieces_make(r, s, size_class, count);
    for (uint32_t i = 0; i < s->archetype->shared_count; i++) {
        weft__shared_release(&r->world->shared, s->archetype->shared_components[i], s->values[i],
                             1);
        s->values[i] = 0;
    }
    if (r->is_reshaped) return is_read && pieces_read(r, s, first, count);
    return chunk != NULL && id_read(r, chunk, id) && entities_read(r, chunk, count) &&
           pieces_read(r, s, first, count);
}

/* Chunks with room, of the last `chunks` of an archetype. Those that the list lacks were full of
 * rows that had more components (weft_save_desc.without). */
static bool rooms_read(weft__world_reader *r, const weft__archetype *archetype, uint32_t chunks)
{
    weft__chunk **list = archetype->chunks + (archetype->chunk_count - chunks);
    uint32_t count = weft__world_reader_count(r, 4), with_room = 0;
    for (uint32_t i = 0; i < chunks; i++) {
        with_room += list[i]->has_room ? 1 : 0;
        weft__chunk_room_remove(list[i]);
    }
    bool is_right = weft__world_reader_ok(r) && count <= with_room;
    for (uint32_t i = 0; i < count && is_right; i++) {
        uint32_t position = weft__in_u32(&r->in);
        is_right = weft__world_reader_ok(r) && position < chunks && !list[position]->has_room;
        if (is_right) weft__chunk_room_update(list[position]);
        is_right = is_right && list[position]->has_room;
    }
    for (uint32_t i = 0; i < chunks && is_right; i++) weft__chunk_room_update(list[i]);
    return is_right ||
           weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "a wrong list of chunks with room");
}

/* ---- archetypes ---- */

static int id_compare(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

/* The types in the order of the file, and their ids in order; they differ where the world
 * registered types in another order than the saved one. False: not a set of types that entities can
 * have. */
static bool types_list(weft__world_reader *r, shape *s, uint32_t *ids)
{
    bool is_sorted = true;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t number = weft__in_u32(&r->in);
        if (!weft__world_reader_ok(r) || number >= r->type_count ||
            (r->types[number]->desc.flags & WEFT_RESOURCE) != 0)
            return false;
        s->types[i] = r->types[number];
        ids[i] = s->types[i]->id;
        is_sorted = is_sorted && (i == 0 || ids[i - 1] < ids[i]);
    }
    for (uint32_t i = 0; i < s->count && s->count != 1; i++)
        if (s->types[i]->sparse != NULL) return false;
    if (is_sorted) return true;
    qsort(ids, s->count, sizeof *ids, id_compare);
    for (uint32_t i = 1; i < s->count; i++)
        if (ids[i - 1] == ids[i]) return false;
    return true;
}

static bool shape_read(weft__world_reader *r, shape *s)
{
    uint32_t ids[1 + 1]; /* of an archetype without types */
    weft_world *world = r->world;
    uint32_t *list = s->count == 0 ? ids
                                   : weft__alloc(&world->memory, WEFT__MEMORY_COMMANDS, s->count,
                                                 sizeof *list, 4);
    if (list == NULL) {
        weft__error_memory(world, "weft_world_load");
        return weft__world_reader_failed(r);
    }
    if (!types_list(r, s, list))
        weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "an archetype with a wrong type");
    else if ((s->archetype = weft__archetype_obtain(world, list, s->count)) == NULL)
        weft__world_reader_failed(r);
    if (s->count != 0)
        weft__free(&world->memory, WEFT__MEMORY_COMMANDS, list, s->count, sizeof *list, 4);
    return weft__world_reader_ok(r);
}

static bool archetype_read(weft__world_reader *r)
{
    weft__memory *memory = &r->world->memory;
    shape s = {.count = weft__world_reader_count(r, 4)};
    if (s.count > r->type_count)
        return weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "more types than there are");
    uint32_t room = s.count + 1; /* of both lists */
    s.types = weft__alloc_zeroed(memory, WEFT__MEMORY_COMMANDS, room, sizeof *s.types, 8);
    s.values = weft__alloc_zeroed(memory, WEFT__MEMORY_COMMANDS, room, sizeof *s.values, 4);
    if (s.types == NULL || s.values == NULL) {
        weft__error_memory(r->world, "weft_world_load");
        weft__world_reader_failed(r);
    }
    if (weft__world_reader_ok(r) && shape_read(r, &s)) {
        uint32_t chunks = weft__world_reader_count(r, 20);
        for (uint32_t i = 0; i < chunks && weft__world_reader_ok(r); i++) chunk_read(r, &s);
        if (weft__world_reader_ok(r) && r->is_reshaped)
            weft__in_take(&r->in, (size_t)4 * weft__world_reader_count(r, 4));
        else if (weft__world_reader_ok(r))
            rooms_read(r, s.archetype, chunks);
    }
    weft__free(memory, WEFT__MEMORY_COMMANDS, s.types, room, sizeof *s.types, 8);
    weft__free(memory, WEFT__MEMORY_COMMANDS, s.values, room, sizeof *s.values, 4);
    return weft__world_reader_ok(r);
}

static void dead_read(weft__world_reader *r)
{
    weft__directory *directory = &r->world->directory;
    uint32_t count = weft__world_reader_count(r, 8);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = weft__in_u32(&r->in), version = weft__in_u32(&r->in);
        if (!weft__dead_is_right(version)) {
            weft__world_reader_fail(r, WEFT_LOAD_MALFORMED, "a dead entity with a wrong version");
            return;
        }
        if (!entity_enter(r, index, version, 0)) return;
        if (version != WEFT__VERSION_LAST) continue;
        weft_entity last = {index ^ directory->tag_bits, version};
        weft__directory_free_owner(directory, last); /* retires it */
    }
}

/* The rows of a SPARSE component find their entities, which have one each. */
static void sparse_rows_enter(weft__world_reader *r, const weft__chunk *chunk)
{
    const weft__type *type = weft__sparse_type(chunk->archetype);
    const weft_entity *entities = weft__chunk_entities(chunk);
    if (!weft__sparse_reserve_all(r->world, type)) {
        weft__error_memory(r->world, "weft_world_load");
        weft__world_reader_failed(r);
        return;
    }
    for (uint32_t row = 0; row < chunk->count; row++) {
        uint32_t own_row;
        const weft__chunk *own = weft__entity_chunk(r->world, entities[row], &own_row);
        bool is_right = own != NULL && (own->archetype->flags & WEFT__IS_RESIDUE) == 0 &&
                        !weft__sparse_has(type, entities[row]);
        if (!is_right) {
            weft__world_reader_fail(r, WEFT_LOAD_MALFORMED,
                                    "a SPARSE component of an entity that cannot have it");
            return;
        }
        weft__sparse_enter(chunk, row, 1);
    }
}

void weft__world_reader_rows(weft__world_reader *r)
{
    uint32_t count = weft__world_reader_count(r, 8);
    for (uint32_t i = 0; i < count && weft__world_reader_ok(r); i++) archetype_read(r);
    if (weft__world_reader_ok(r)) dead_read(r);
    for (uint32_t id = 1; id < r->world->chunks.end && weft__world_reader_ok(r); id++) {
        const weft__chunk *chunk = r->world->chunks.at[id];
        if (chunk != NULL && (chunk->archetype->flags & WEFT__IS_SPARSE) != 0)
            sparse_rows_enter(r, chunk);
    }
}

weft_result weft__world_check_new(weft_world *world, const char *what)
{
    if (world->chunks.count == 0 && weft__directory_is_new(&world->directory)) return WEFT_OK;
    return weft__error(world, WEFT_WRONG_PHASE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: entities were created in world \"%s\" before: load into a new world, "
                       "then weft_world_transfer into this one",
                       what, world->desc.name);
}

void weft__world_end_spent(weft_world *world)
{
    for (uint32_t id = 1; id < world->chunks.end; id++) {
        weft__chunk *chunk = world->chunks.at[id];
        if (chunk != NULL && weft__archetype_is_spent(world, chunk->archetype))
            weft__rows_die(world, chunk, NULL, 0, chunk->count);
    }
}

void weft__world_wipe(weft_world *world)
{
    for (uint32_t id = 1; id < world->chunks.end; id++) {
        weft__chunk *chunk = world->chunks.at[id];
        if (chunk == NULL) continue;
        if ((chunk->archetype->flags & WEFT__IS_SPARSE) != 0)
            weft__sparse_leave(chunk, 0, chunk->count);
        weft__rows_discard(world, NULL, chunk, NULL, 0, chunk->count);
        weft__chunk_count_rows(world, chunk, -(int64_t)chunk->count);
        chunk->count = 0;
        weft__chunk_release(world, chunk);
    }
    weft__directory_forget(&world->directory);
}
