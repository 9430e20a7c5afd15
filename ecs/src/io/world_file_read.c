/* SPDX-License-Identifier: MIT */
/* world_file_read.c: a world out of bytes: header, types, blobs, rows, names, resources. Chunks are
 * made in the shape they had, values put in place, handles entered into the directory. Untrusted
 * input: every count is compared with the bytes that are left before anything is made for it. Rows
 * and blobs are made while reading and taken back when something is wrong; names and resources,
 * which cannot be, come when all else is right. Owner of a new world. */
#include "world_file_read.h"
#include "archetype.h"
#include "blob_type.h"
#include "component_registry.h"
#include "destroy.h"
#include "entity_tag.h"
#include "entity_value.h"
#include "evolution.h"
#include "hash_lanes.h"
#include "name_table.h"
#include "relation_registry.h"
#include "search.h"
#include "text.h"
#include "utf8.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#define CATEGORY WEFT__MEMORY_COMMANDS
#define TYPE_BYTES_MIN 37u /* of a record of version 4 */

/* On the stack of weft__world_read; owner of the world, which is new. The first failure is kept:
 * everything after it reads zeroes. */
typedef struct reader {
    weft_world *world;
    weft__pile pile; /* of the arrays here, and of layouts */
    const char *start;
    weft__in in; /* what may be read now; short from the first failure on */
    const weft_load_desc *desc;
    weft__world_header header;
    weft_result result;
    weft_load_report *report; /* why it is not WEFT_OK */
    const weft__type **types; /* [number in the file] */
    uint32_t *relations;      /* [number in the file] weft__relation_word */
    uint32_t type_count, type_limit;
    weft__evolution *evolutions; /* [number in the file]; those that are needed */
    uint32_t evolution_count;    /* of these */
    bool is_reshaped;     /* rows of a type have another size: chunks cannot be as they were */
    char **resources;     /* [number in the file]: read, not yet the world's; NULL: none */
    weft_blob_ref *blobs; /* [number in the file] */
    bool *is_kept;        /* [number in the file]: the store keeps the reference */
    uint32_t blob_count, blob_limit;
    weft__run_list runs;
    const weft__type *type; /* of the value whose BLOB fields are visited */
} reader;

/* ---- bytes ---- */

/* Notes a reason, at the byte that was read last. */
static void note(const reader *r, weft_load_reason reason)
{
    r->report->reason = reason;
    r->report->offset = (uint64_t)(r->in.at - r->start);
}

static void note_numbers(const reader *r, uint64_t found, uint64_t expected)
{
    r->report->found = found;
    r->report->expected = expected;
}

/* Keeps the first failure: `check` says which. Returns false. */
static bool reader_fail(reader *r, weft_load_reason reason, const char *check)
{
    if (r->result != WEFT_OK) return false;
    if (r->in.is_short) {
        reason = WEFT_LOAD_MALFORMED;
        check = "the file ends within a record";
    }
    note(r, reason);
    r->in.is_short = true;
    r->report->check = check;
    const char *advice = reason == WEFT_LOAD_TRUNCATED || reason == WEFT_LOAD_CHECKSUM ||
                                 reason == WEFT_LOAD_MALFORMED
                             ? ": the file is damaged, take another copy"
                             : "";
    r->result = weft__error(r->world, weft__load_result(reason), WEFT__NO_ENTITY,
                            WEFT__NO_COMPONENT, "weft_world_load: %s, at byte %zu%s", check,
                            (size_t)(r->in.at - r->start), advice);
    return false;
}

/* Whether nothing failed: bytes that end too early are a failure, too. */
static bool reader_ok(reader *r)
{
    return !r->in.is_short || reader_fail(r, WEFT_LOAD_MALFORMED, "");
}

/* The same when the world's error is set already. */
static bool reader_failed(reader *r)
{
    if (r->result != WEFT_OK) return false;
    r->in.is_short = true;
    r->result = r->world->error->code;
    note(r, weft__load_reason(r->result));
    return false;
}

/* A count of things that take at least `bytes` each; 0 when there is no room for them. */
static uint32_t reader_count(reader *r, size_t bytes)
{
    uint32_t count = weft__in_u32(&r->in);
    if (reader_ok(r) && (uint64_t)count * bytes > (uint64_t)(r->in.end - r->in.at)) {
        reader_fail(r, WEFT_LOAD_MALFORMED, "a count larger than the file");
        return 0;
    }
    return reader_ok(r) ? count : 0;
}

/* A text of 1 to 255 bytes without NUL into `out` (256 bytes). */
static void name_read(reader *r, char *out)
{
    if (!weft__in_name(&r->in, out, 1))
        reader_fail(r, WEFT_LOAD_MALFORMED, "a name that cannot be one");
}

static bool reader_no_memory(reader *r)
{
    weft__error_memory(r->world, "weft_world_load");
    return reader_failed(r);
}

static void *allocate(reader *r, size_t count, size_t size)
{
    void *items = weft__pile_take(&r->pile, count, size);
    if (items == NULL) reader_no_memory(r);
    return items;
}

/* ---- values ---- */

/* A component that cannot be loaded: `why` goes behind its name. Returns false. */
static bool reader_type_differs(reader *r, weft_load_reason reason, const char *name,
                                const char *why)
{
    if (r->result != WEFT_OK) return false;
    note(r, reason);
    r->in.is_short = true;
    snprintf(r->report->type, sizeof r->report->type, "%s", name);
    r->result = weft__error(r->world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY,
                            weft_component_find(r->world, name),
                            "weft_world_load: component \"%s\" %s", name, why);
    return false;
}

/* The number of a blob becomes a reference. */
static bool resolve_blob(void *user, weft__reference *reference)
{
    reader *r = user;
    if (!reference->is_blob || reference->bits == 0) return true;
    if (reference->bits > r->blob_count)
        return reader_fail(r, WEFT_LOAD_MALFORMED, "a blob that is not there");
    uint64_t number = reference->bits - 1;
    reference->blob = r->blobs[number];
    if (r->type->desc.hooks.destruct == NULL)
        r->is_kept[number] = true;
    else
        weft_blob_acquire(r->world->blobs, reference->blob);
    return true;
}

/* The plan of a listed type from its layout in the file; NULL: its bytes are the same. Cost:
 * O(types of the file) when some type has one. */
static const weft__evolution *evolution_of(const reader *r, const weft__type *type)
{
    for (uint32_t i = 0; i < r->type_count && r->evolution_count != 0; i++)
        if (r->types[i] == type) return r->evolutions[i].is_needed ? &r->evolutions[i] : NULL;
    return NULL;
}

/* Bytes that a value of the type, or an element, has in the file. */
static size_t reader_bytes(const reader *r, const weft__type *type)
{
    const weft__evolution *evolution = evolution_of(r, type);
    return evolution == NULL ? type->desc.size : evolution->from_bytes;
}

/* Values by a plan; `bytes` of the world's layout. References are still those of the file. */
static bool convert(reader *r, const weft__evolution *evolution, const weft__type *type,
                    char *value, size_t bytes)
{
    size_t count = evolution->to_bytes == 0 ? 1 : bytes / evolution->to_bytes;
    const char *from = weft__in_take(&r->in, count * evolution->from_bytes);
    char text[400];
    weft__callback_begin(r->world); /* migrate */
    for (size_t i = 0; i < count && from != NULL; i++) {
        if (weft__evolution_apply(evolution, from + i * evolution->from_bytes,
                                  value + i * evolution->to_bytes, text))
            continue;
        reader_type_differs(r, WEFT_LOAD_TYPE_LAYOUT, type->desc.name, text);
        break;
    }
    weft__callback_end(r->world);
    if (!reader_ok(r) && bytes != 0) memset(value, 0, bytes);
    return reader_ok(r);
}

/* One value (of a buffer: element) of zeroed, or with hooks constructed, memory. */
static bool reader_value(reader *r, const weft__type *type, char *value, size_t bytes)
{
    if (weft__type_is_hooked(type)) {
        weft__callback_begin(r->world);
        const char *problem = weft__hooked_get(&r->in, type, value);
        weft__callback_end(r->world);
        if (problem != NULL) return reader_fail(r, WEFT_LOAD_MALFORMED, problem);
        weft__tags_flip(&r->world->directory, type, value,
                        (weft__value_bytes){value, 0, type->desc.size});
        return true;
    }
    const weft__evolution *evolution = evolution_of(r, type);
    if (evolution != NULL) {
        if (!convert(r, evolution, type, value, bytes)) return false;
    } else {
        const char *from = weft__in_take(&r->in, bytes);
        if (from == NULL) return false;
        if (bytes != 0) memcpy(value, from, bytes);
    }
    r->type = type;
    weft__tags_flip(&r->world->directory, type, value, (weft__value_bytes){value, 0, bytes});
    if (!weft__type_has_blobs(type) || weft__elements_references(type, value, 1, resolve_blob, r))
        return true;
    memset(value, 0, bytes); /* no number may be taken for a reference */
    return false;
}

/* ---- entities ---- */

/* Most blocks of entities without a mention, so that few bytes cannot ask for much memory. */
#define BLOCKS_WITHOUT_MENTION 512u
#define MENTIONS_PER_BLOCK 64u

bool weft__index_fits(uint32_t index, uint64_t mentions)
{
    return index / WEFT__BLOCK_SLOTS < BLOCKS_WITHOUT_MENTION + mentions / MENTIONS_PER_BLOCK;
}

/* Enters a handle that was never given; `location` 0: dead. */
static bool entity_enter(reader *r, uint32_t index, uint32_t version, uint32_t location)
{
    weft__directory *directory = &r->world->directory;
    if (!weft__index_fits(index, r->header.entity_count))
        return reader_fail(r, WEFT_LOAD_MALFORMED, "an entity index far beyond all others");
    if (index < weft__directory_end(directory) && weft__directory_version(directory, index) != 0)
        return reader_fail(r, WEFT_LOAD_MALFORMED, "an entity is there twice");
    weft_result result = weft__directory_force(directory, index, version, location);
    if (result == WEFT_OK) return true;
    weft__error_limit(r->world, result, "weft_world_load");
    return reader_failed(r);
}

static bool entities_read(reader *r, weft__chunk *chunk, uint32_t count)
{
    const char *bytes = weft__in_take(&r->in, (size_t)count * sizeof(weft_entity));
    if (bytes == NULL) return false;
    weft_entity *entities = weft__chunk_entities(chunk);
    memcpy(entities, bytes, count * sizeof *entities);
    for (uint32_t row = 0; row < count; row++) {
        uint32_t index = entities[row].index;
        entities[row].index ^= r->world->directory.tag_bits;
        if ((entities[row].version & 1) == 0)
            return reader_fail(r, WEFT_LOAD_MALFORMED, "an entity that is not alive");
        if ((chunk->archetype->flags & WEFT__IS_SPARSE) != 0) continue; /* when all are there */
        if (!entity_enter(r, index, entities[row].version, weft__location(chunk, row)))
            return false;
    }
    return true;
}

/* One buffer, constructed and empty. On failure it has the elements read so far. */
static bool reader_buffer(reader *r, const weft__type *type, weft_buffer *buffer)
{
    uint32_t count = reader_count(r, weft__type_is_hooked(type) ? 4 : reader_bytes(r, type));
    if (!reader_ok(r)) return false;
    if (count > buffer->capacity && type->desc.size != 0) {
        void *heap =
            weft__alloc(&r->world->memory, WEFT__MEMORY_BUFFERS, count, type->desc.size, 16);
        if (heap == NULL) return reader_no_memory(r);
        buffer->heap = heap;
        buffer->capacity = count;
    }
    for (; buffer->count < count && type->desc.size != 0; buffer->count++) {
        char *element = (char *)weft__buffer_data(buffer) + buffer->count * type->desc.size;
        memset(element, 0, type->desc.size);
        if (weft__type_is_hooked(type)) weft__elements_construct(type, element, 1);
        if (reader_value(r, type, element, type->desc.size)) continue;
        buffer->count++; /* it is constructed */
        return false;
    }
    buffer->count = count;
    return true;
}

static bool column_read(reader *r, const weft__chunk *chunk, const weft__type_ref *ref)
{
    const weft__type *type = ref->type;
    bool is_whole = !weft__type_is_hooked(type) && !weft__type_has_blobs(type);
    if ((type->desc.flags & WEFT_BUFFER) == 0 && is_whole)
        return reader_value(r, type, weft__chunk_column(chunk, ref->column),
                            (size_t)chunk->count * type->value_bytes);
    for (uint32_t row = 0; row < chunk->count; row++) {
        char *value = weft__chunk_value(chunk, ref->column, row);
        bool is_read = (type->desc.flags & WEFT_BUFFER) != 0
                           ? reader_buffer(r, type, (weft_buffer *)(void *)value)
                           : reader_value(r, type, value, type->value_bytes);
        if (!is_read) return false;
    }
    return true;
}

/* ---- chunks ---- */

/* Types of one archetype, in the order of the file. Lives on the stack of the function that
 * reads an archetype. */
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
static bool shared_read(reader *r, const shape *s, const weft__type *type)
{
    uint32_t *index = &s->values[ref_of(s->archetype, type)->shared];
    uint8_t has_value = weft__in_u8(&r->in);
    if (has_value > 1) return reader_fail(r, WEFT_LOAD_MALFORMED, "a flag above 1");
    if (has_value == 0 || !reader_ok(r)) return reader_ok(r);
    size_t bytes = type->desc.size;
    char *value = weft__alloc_zeroed(&r->world->memory, CATEGORY, bytes + 1, 1, 64);
    bool is_read = value != NULL && reader_value(r, type, value, bytes);
    if (value == NULL ||
        (is_read && weft__shared_intern(&r->world->shared, type->id, value, index) != WEFT_OK))
        is_read = reader_no_memory(r);
    weft__free(&r->world->memory, CATEGORY, value, bytes + 1, 1, 64);
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

static weft__chunk *chunk_make(reader *r, const shape *s, uint32_t size_class, uint32_t count)
{
    const weft__format *format = s->archetype->format;
    bool is_possible = size_class < WEFT__SIZE_CLASSES && size_class >= format->smallest_class &&
                       count != 0 && count <= weft__format_capacity(format, size_class);
    if (!is_possible)
        return reader_fail(r, WEFT_LOAD_MALFORMED, "a chunk of an impossible size"), NULL;
    weft__tuple *tuple = weft__tuple_obtain(r->world, s->archetype, s->values);
    weft__chunk *chunk = tuple == NULL ? NULL : weft__chunk_create(r->world, tuple, size_class);
    if (tuple != NULL) weft__tuple_release(r->world, tuple);
    if (chunk == NULL) return reader_failed(r), NULL;
    rows_prepare(r->world, chunk, count);
    return chunk;
}

/* ---- chunks of another shape ----
 *
 * Where rows have another size, the rows of a chunk of the file may need several: its pieces, the
 * last chunks of the archetype from `first` on. They get new ids, and room lists in their order. */

/* Makes the pieces, with their entities. */
static bool pieces_make(reader *r, const shape *s, uint32_t size_class, uint32_t count)
{
    const weft__format *format = s->archetype->format;
    bool is_possible = size_class < WEFT__SIZE_CLASSES && count != 0 &&
                       count <= (size_t)(r->in.end - r->in.at) / sizeof(weft_entity);
    if (!is_possible) return reader_fail(r, WEFT_LOAD_MALFORMED, "a chunk of an impossible size");
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
static bool column_skip(reader *r, const weft__type *type, uint32_t rows)
{
    const uint32_t without = WEFT_SHARED | WEFT_CHUNK | WEFT_BUFFER;
    size_t bytes = reader_bytes(r, type);
    return (type->desc.flags & without) != 0 || bytes == 0 ||
           weft__in_take(&r->in, bytes * rows) != NULL;
}

static bool pieces_read(reader *r, const shape *s, uint32_t first, uint32_t rows)
{
    weft__chunk *const *pieces = s->archetype->chunks + first;
    uint32_t count = s->archetype->chunk_count - first;
    for (uint32_t i = 0; i < s->count && reader_ok(r); i++) {
        const weft__type_ref *ref = ref_of(s->archetype, s->types[i]);
        const char *at = r->in.at;
        for (uint32_t p = 0; p < count && ref->chunk_offset != WEFT__NONE; p++) {
            r->in.at = at; /* each has the value */
            reader_value(r, ref->type, pieces[p]->chunk_values + ref->chunk_offset,
                         ref->type->chunk_bytes);
        }
        const char *problem = ref->enableable == WEFT__NO_PLACE
                                  ? NULL
                                  : weft__disabled_get(&r->in, ref->enableable, pieces, count);
        if (problem != NULL) reader_fail(r, WEFT_LOAD_MALFORMED, problem);
        for (uint32_t p = 0; p < count && ref->column != 0 && reader_ok(r); p++)
            column_read(r, pieces[p], ref);
        if (ref->column == 0) column_skip(r, ref->type, rows);
    }
    return reader_ok(r);
}

/* ---- chunks as they were ---- */

/* Chunks keep their ids: array operations take them in this order. */
static bool id_read(reader *r, weft__chunk *chunk, uint32_t id)
{
    weft_result result = weft__chunk_renumber(r->world, chunk, id);
    if (result == WEFT_OK) return true;
    if (result == WEFT_INVALID_ARGUMENT)
        return reader_fail(r, WEFT_LOAD_MALFORMED, "a chunk with a wrong number");
    return reader_no_memory(r);
}

/* One chunk; its shared values come first. */
static bool chunk_read(reader *r, const shape *s)
{
    uint32_t id = weft__in_u32(&r->in);
    uint32_t size_class = weft__in_u32(&r->in), count = weft__in_u32(&r->in);
    bool is_read = reader_ok(r);
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
static bool rooms_read(reader *r, const weft__archetype *archetype, uint32_t chunks)
{
    weft__chunk **list = archetype->chunks + (archetype->chunk_count - chunks);
    uint32_t count = reader_count(r, 4), with_room = 0;
    for (uint32_t i = 0; i < chunks; i++) {
        with_room += list[i]->has_room ? 1 : 0;
        weft__chunk_room_remove(list[i]);
    }
    bool is_right = reader_ok(r) && count <= with_room;
    for (uint32_t i = 0; i < count && is_right; i++) {
        uint32_t position = weft__in_u32(&r->in);
        is_right = reader_ok(r) && position < chunks && !list[position]->has_room;
        if (is_right) weft__chunk_room_update(list[position]);
        is_right = is_right && list[position]->has_room;
    }
    for (uint32_t i = 0; i < chunks && is_right; i++) weft__chunk_room_update(list[i]);
    return is_right || reader_fail(r, WEFT_LOAD_MALFORMED, "a wrong list of chunks with room");
}

/* ---- archetypes ---- */

/* The types in the order of the file, and their ids in order; they differ where the world
 * registered types in another order than the saved one. False: not a set of types that entities can
 * have. */
static bool types_list(reader *r, shape *s, uint32_t *ids)
{
    bool is_sorted = true;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t number = weft__in_u32(&r->in);
        if (!reader_ok(r) || number >= r->type_count ||
            (r->types[number]->desc.flags & WEFT_RESOURCE) != 0)
            return false;
        s->types[i] = r->types[number];
        ids[i] = s->types[i]->id;
        is_sorted = is_sorted && (i == 0 || ids[i - 1] < ids[i]);
    }
    for (uint32_t i = 0; i < s->count && s->count != 1; i++)
        if (s->types[i]->sparse != NULL) return false;
    if (is_sorted) return true;
    qsort(ids, s->count, sizeof *ids, weft__compare_u32);
    for (uint32_t i = 1; i < s->count; i++)
        if (ids[i - 1] == ids[i]) return false;
    return true;
}

static bool shape_read(reader *r, shape *s)
{
    uint32_t *ids = allocate(r, s->count, sizeof *ids);
    if (ids == NULL) return false;
    if (!types_list(r, s, ids))
        return reader_fail(r, WEFT_LOAD_MALFORMED, "an archetype with a wrong type");
    s->archetype = weft__archetype_obtain(r->world, ids, s->count);
    return s->archetype != NULL || reader_failed(r);
}

static bool archetype_read(reader *r)
{
    shape s = {.count = reader_count(r, 4)};
    if (s.count > r->type_count)
        return reader_fail(r, WEFT_LOAD_MALFORMED, "more types than there are");
    s.types = allocate(r, s.count, sizeof *s.types);
    s.values = allocate(r, s.count, sizeof *s.values);
    if (reader_ok(r) && shape_read(r, &s)) {
        uint32_t chunks = reader_count(r, 20);
        for (uint32_t i = 0; i < chunks && reader_ok(r); i++) chunk_read(r, &s);
        if (reader_ok(r) && r->is_reshaped)
            weft__in_take(&r->in, (size_t)4 * reader_count(r, 4));
        else if (reader_ok(r))
            rooms_read(r, s.archetype, chunks);
    }
    return reader_ok(r);
}

static bool dead_read(reader *r)
{
    uint32_t count = reader_count(r, 8);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = weft__in_u32(&r->in), version = weft__in_u32(&r->in);
        if (!weft__dead_is_right(version))
            return reader_fail(r, WEFT_LOAD_MALFORMED, "a dead entity with a wrong version");
        if (!entity_enter(r, index, version, 0)) return false;
        if (version != WEFT__VERSION_LAST) continue;
        weft_entity last = {index ^ r->world->directory.tag_bits, version};
        weft__directory_free_owner(&r->world->directory, last); /* retires it */
    }
    return reader_ok(r);
}

/* Archetypes with their chunks and rows, then indices that are dead. On failure what was made is
 * still there. */
static void reader_rows(reader *r)
{
    uint32_t count = reader_count(r, 8);
    for (uint32_t i = 0; i < count && reader_ok(r); i++) archetype_read(r);
    if (reader_ok(r)) dead_read(r);
    for (uint32_t id = 1; id < r->world->chunks.end && reader_ok(r); id++) {
        const weft__chunk *chunk = r->world->chunks.at[id];
        if (chunk != NULL && (chunk->archetype->flags & WEFT__IS_SPARSE) != 0) {
            /* The rows of a SPARSE component find their entities, which have one each. */
            const weft__type *type = weft__sparse_type(chunk->archetype);
            const weft_entity *entities = weft__chunk_entities(chunk);
            if (!weft__sparse_reserve_all(r->world, type)) reader_no_memory(r);
            for (uint32_t row = 0; row < chunk->count && reader_ok(r); row++) {
                uint32_t own_row;
                const weft__chunk *own = weft__entity_chunk(r->world, entities[row], &own_row);
                if (own != NULL && (own->archetype->flags & WEFT__IS_RESIDUE) == 0 &&
                    !weft__sparse_has(type, entities[row]))
                    weft__sparse_enter(chunk, row, 1);
                else
                    reader_fail(r, WEFT_LOAD_MALFORMED,
                                "a SPARSE component of an entity that cannot have it");
            }
        }
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

/* Residues of which all was left out (weft_save_desc.without) end. */
static void spent_end(weft_world *world)
{
    for (uint32_t id = 1; id < world->chunks.end; id++) {
        weft__chunk *chunk = world->chunks.at[id];
        if (chunk != NULL && weft__archetype_is_spent(world, chunk->archetype))
            weft__rows_die(world, chunk, NULL, 0, chunk->count);
    }
}

static void wipe(weft_world *world)
{
    for (uint32_t id = 1; id < world->chunks.end; id++) {
        weft__chunk *chunk = world->chunks.at[id];
        if (chunk == NULL) continue;
        if ((chunk->archetype->flags & WEFT__IS_SPARSE) != 0)
            weft__sparse_leave(chunk, 0, chunk->count);
        weft__rows_discard(world, NULL, chunk, NULL, 0, chunk->count);
        weft__chunk_count_rows(world, chunk, -(int64_t)chunk->count);
        chunk->count = 0;
        weft__chunk_release(world, chunk, false);
    }
    weft__directory_forget(&world->directory);
}

void weft__load_end(weft__run_list *runs, const weft__clock *clock)
{
    weft_world *world = runs->world;
    if (clock != NULL) {
        world->front.clock = *clock;
        weft__run_list_give(runs);
        spent_end(world);
    } else {
        wipe(world);
    }
    weft__ids_open(world);
    weft__run_list_free(runs);
}

/* ---- header ---- */

/* What marks a world file that this version reads; NULL, or what is wrong. */
static const char *header_problem(const weft__world_header *header, weft_load_report *report)
{
    report->reason = WEFT_LOAD_NOT_WEFT;
    if (header->magic != WORLD_FILE_MAGIC)
        return "not a world file: give one that weft_world_save wrote";
    report->reason = WEFT_LOAD_BYTE_ORDER;
    if (header->byte_order != WORLD_FILE_BYTE_ORDER)
        return "a file of the other byte order: save it on a machine of this byte order";
    report->reason = WEFT_LOAD_VERSION;
    report->found = header->version;
    report->expected = WORLD_FILE_VERSION;
    if (header->version < WORLD_FILE_VERSION_LEAST)
        return "a file of a format version that is no longer read: load and save it with a version "
               "of weft between";
    if (header->version > WORLD_FILE_VERSION)
        return "a file of a later format version: load it with the version of weft that wrote it, "
               "or a later one";
    report->found = report->expected = 0;
    report->reason = WEFT_LOAD_MALFORMED;
    if (header->blobs_at < sizeof *header || header->blobs_at > header->total_bytes)
        return "a size in the header is wrong";
    report->reason = WEFT_LOAD_NOT_REFUSED;
    return NULL;
}

static bool truncated(reader *r, size_t count, uint64_t expected)
{
    r->in.at = r->start + count;
    note_numbers(r, count, expected);
    return reader_fail(r, WEFT_LOAD_TRUNCATED, "the bytes end too early");
}

static bool header_read(reader *r, size_t count, bool with_hash)
{
    const size_t behind = offsetof(weft__world_header, version);
    if (count < sizeof r->header) return truncated(r, count, sizeof r->header);
    memcpy(&r->header, r->start, sizeof r->header);
    const weft__world_header *header = &r->header;
    const char *problem = header_problem(header, r->report);
    if (problem != NULL) return reader_fail(r, r->report->reason, problem);
    if (header->total_bytes > count) return truncated(r, count, header->total_bytes);
    if (header->total_bytes != count || header->reserved != 0)
        return reader_fail(r, WEFT_LOAD_MALFORMED, "a size in the header is wrong");
    if (!(header->time >= 0 && header->time <= DBL_MAX && header->dt >= 0 && header->dt <= FLT_MAX))
        return reader_fail(r, WEFT_LOAD_MALFORMED, "the clock is not a time");
    uint64_t hash = with_hash ? weft__hash_lanes(WORLD_FILE_SEED, r->start + behind, count - behind)
                              : header->content_hash;
    if (hash != header->content_hash) {
        note_numbers(r, hash, header->content_hash);
        return reader_fail(r, WEFT_LOAD_CHECKSUM, "the content hash differs");
    }
    r->in.at = r->start + sizeof *header;
    r->in.end = r->start + header->blobs_at;
    return true;
}

/* ---- types ---- */

static bool is_listed(const reader *r, const weft__type *type)
{
    for (uint32_t i = 0; i < r->type_count; i++)
        if (r->types[i] == type) return true;
    return false;
}

/* Another layout: a plan from the one in the file. */
static bool evolve(reader *r, const weft__type *type, const weft_component_desc *desc,
                   uint64_t hash)
{
    weft__evolution *evolution = &r->evolutions[r->type_count];
    char text[400];
    weft__evolution_ends ends = {desc, &type->desc, hash};
    weft__callback_begin(r->world); /* changed */
    bool is_made = weft__evolution_init(&r->pile, r->desc, &ends, evolution, text);
    weft__callback_end(r->world);
    r->is_reshaped = r->is_reshaped || desc->size != type->desc.size ||
                     desc->alignment != type->desc.alignment ||
                     desc->buffer_capacity != type->desc.buffer_capacity;
    if (is_made) r->evolution_count += evolution->is_needed;
    if (is_made) return true;
    if (text[0] == '\0') return reader_no_memory(r);
    bool is_size = desc->size != type->desc.size;
    if (is_size) note_numbers(r, desc->size, type->desc.size);
    return reader_type_differs(r, is_size ? WEFT_LOAD_TYPE_SIZE : WEFT_LOAD_TYPE_LAYOUT,
                               type->desc.name, text);
}

/* The type of the world for a record, registered when it is missing. */
static bool type_settle(reader *r, const weft_component_desc *desc, uint64_t hash, bool is_hooked)
{
    weft_world *world = r->world;
    const char *name = weft__evolution_name(r->desc, desc->name);
    weft_component found = weft__component_named(world, name);
    if (found.id == 0 && is_hooked)
        return reader_type_differs(
            r, WEFT_LOAD_TYPE_UNKNOWN, desc->name,
            "was saved by a hook: register it with save and load before loading");
    /* of any size, but it follows; the elements of a buffer may be none */
    bool is_resource = (desc->flags & (WEFT_RESOURCE | WEFT_BUFFER)) == WEFT_RESOURCE;
    if (found.id == 0 && is_resource && desc->size > (size_t)(r->in.end - r->in.at))
        return reader_fail(r, WEFT_LOAD_MALFORMED, "a resource longer than the file");
    if (found.id == 0) {
        found = weft_component_create(world, desc);
        weft_result code = world->error->code;
        if (found.id == 0 && (code == WEFT_LIMIT || code == WEFT_OUT_OF_MEMORY))
            return reader_failed(r);
        if (found.id == 0 || world->types.at[found.id]->hash != hash)
            return reader_fail(r, WEFT_LOAD_MALFORMED, "a component that cannot be");
    }
    const weft__type *type = world->types.at[found.id];
    const char *why = NULL;
    if (type->hash != hash && (is_hooked || weft__type_is_hooked(type)))
        why = "is saved or loaded by a hook and has another layout in the file: "
              "register the layout that was saved, or use another name";
    else if (type->hash != hash && !evolve(r, type, desc, hash))
        return false;
    else if (weft__type_is_hooked(type) != is_hooked)
        why = is_hooked ? "was saved by a hook: register it with save and load"
                        : "was saved as bytes, but is registered with a load hook";
    else
        why = weft__type_save_problem(type);
    if (why != NULL) return reader_type_differs(r, WEFT_LOAD_TYPE_LAYOUT, desc->name, why);
    if ((r->evolution_count != 0 || name != desc->name) && is_listed(r, type))
        return reader_type_differs(r, WEFT_LOAD_TYPE_LAYOUT, name,
                                   "has two layouts in the file: rename one of them only");
    r->types[r->type_count++] = type;
    return true;
}

static bool relation_read(reader *r)
{
    if (r->header.version < 5) return true;
    uint32_t word = r->relations[r->type_count] = weft__in_u32(&r->in);
    return weft__relation_word_is_right(word) ||
           reader_fail(r, WEFT_LOAD_MALFORMED, "what a relation does");
}

/* What a type requires, for the case that it must be registered. */
static void required_read(reader *r, weft_component_desc *desc)
{
    if (r->header.version < 5) return;
    uint32_t count = desc->required_count = reader_count(r, 4);
    weft_component *required = count == 0 ? NULL : allocate(r, count, sizeof *required);
    for (uint32_t i = 0; i < count && required != NULL && reader_ok(r); i++) {
        uint32_t number = weft__in_u32(&r->in);
        if (number < r->type_count)
            required[i] = weft__component(r->world, r->types[number]->id);
        else
            reader_fail(r, WEFT_LOAD_MALFORMED, "a required type that is not there");
    }
    desc->required = required;
}

/* Relations that the loader did not declare. */
static void relations_revive(reader *r)
{
    for (uint32_t i = 0; i < r->type_count && reader_ok(r); i++) {
        uint32_t word =
            r->header.version < 5 ? weft__relation_word_built_in(r->types[i]) : r->relations[i];
        if (weft__relation_revive(r->world, weft__component(r->world, r->types[i]->id), word) !=
            WEFT_OK)
            reader_failed(r);
    }
}

static bool type_read(reader *r)
{
    weft__file_type file;
    const char *problem = weft__file_type_get(&r->in, &r->pile, &file);
    if (problem != NULL && problem[0] == '\0') {
        reader_no_memory(r);
    } else if (problem != NULL) {
        reader_fail(r, WEFT_LOAD_MALFORMED, problem);
    } else if (relation_read(r)) {
        required_read(r, &file.desc);
        if (reader_ok(r)) type_settle(r, &file.desc, file.hash, file.is_hooked);
    }
    return reader_ok(r);
}

static void types_read(reader *r)
{
    r->type_limit = reader_count(r, TYPE_BYTES_MIN);
    if (r->type_limit == 0 || !reader_ok(r)) return;
    r->types = allocate(r, r->type_limit, sizeof *r->types);
    r->evolutions = allocate(r, r->type_limit, sizeof *r->evolutions);
    r->relations = allocate(r, r->type_limit, sizeof *r->relations);
    for (uint32_t i = 0; i < r->type_limit && reader_ok(r); i++) type_read(r);
    relations_revive(r);
}

/* ---- blobs ---- */

static bool blob_read(reader *r)
{
    uint64_t hash = weft__in_u64(&r->in), bytes = weft__in_u64(&r->in);
    const char *block = weft__in_take(&r->in, bytes);
    if (block == NULL) return false;
    const weft_blob_type *type =
        weft__blob_type_of(r->desc->blob_types, r->desc->blob_type_count, hash);
    if (type == NULL) note_numbers(r, hash, 0);
    if (type == NULL)
        return reader_fail(r, WEFT_LOAD_TYPE_UNKNOWN,
                           "a blob of a type that is not among blob_types: add it to "
                           "weft_load_desc");
    weft_load_report report;
    weft_blob_load_desc desc = {type, WEFT_BLOB_LOAD, &report, sizeof report};
    if (weft_blob_adopt(r->world->blobs, block, bytes, &desc, &r->blobs[r->blob_count]) ==
        WEFT_OK) {
        r->blob_count++;
        return true;
    }
    note_numbers(r, report.found, report.expected);
    r->in.at = block + report.offset;
    return reader_fail(r, report.reason,
                       report.check == NULL ? "a blob was refused" : report.check);
}

/* They lie at the end, and come before what refers to them. */
static void blobs_read(reader *r)
{
    const char *at = r->in.at, *end = r->in.end;
    r->in.at = end;
    r->in.end = r->start + r->header.total_bytes;
    r->blob_limit = reader_count(r, 16);
    if (r->blob_limit != 0) {
        r->blobs = allocate(r, r->blob_limit, sizeof *r->blobs);
        r->is_kept = allocate(r, r->blob_limit, sizeof *r->is_kept);
        if (reader_ok(r) && weft_world_blobs(r->world) == NULL) reader_failed(r);
    }
    for (uint32_t i = 0; i < r->blob_limit && reader_ok(r); i++) blob_read(r);
    if (r->in.at != r->in.end) reader_fail(r, WEFT_LOAD_MALFORMED, "bytes behind the end");
    r->in.at = at;
    r->in.end = end;
}

static void blobs_release(reader *r)
{
    for (uint32_t i = 0; i < r->blob_count; i++)
        if (r->result != WEFT_OK || !r->is_kept[i]) weft_blob_release(r->world->blobs, r->blobs[i]);
}

/* ---- names and resources: looked at first, then applied ---- */

static void names_read(reader *r, bool is_applied)
{
    uint32_t count = reader_count(r, 13);
    if (!is_applied && count != 0 && weft__names_reserve(r->world, count, count) != WEFT_OK)
        reader_no_memory(r);
    for (uint32_t i = 0; i < count && reader_ok(r); i++) {
        char name[256];
        weft_entity entity = {0};
        uint32_t location;
        weft__in_get(&r->in, &entity, sizeof entity);
        entity.index ^= r->world->directory.tag_bits;
        name_read(r, name);
        if (!weft__directory_find(&r->world->directory, entity, &location))
            reader_fail(r, WEFT_LOAD_MALFORMED, "a name of a dead entity");
        /* names of older versions that are not UTF-8 are left out */
        if (is_applied && weft__entity_lives(r->world, entity) && weft__name_fits(name, 255))
            weft_entity_set_name(r->world, entity, name);
    }
}

/* Reads into a value of its own, so that a failure, here or later, changes nothing. */
static bool resource_read(reader *r, uint32_t number)
{
    const weft__type *type = r->types[number];
    size_t size = weft__type_bytes(type);
    weft_world *world = r->world;
    bool is_buffer = (type->desc.flags & WEFT_BUFFER) != 0, is_hooked = weft__type_is_hooked(type);
    if (!is_buffer && !is_hooked && weft__in_u32(&r->in) != reader_bytes(r, type))
        return reader_fail(r, WEFT_LOAD_MALFORMED, "a resource of another size");
    char *value = weft__alloc_zeroed(&world->memory, CATEGORY, size + 1, 1, 64);
    if (value == NULL) return reader_no_memory(r);
    r->resources[number] = value;
    if (is_buffer || is_hooked) weft__type_construct_zeroed(type, value, 1);
    return is_buffer ? reader_buffer(r, type, (weft_buffer *)(void *)value)
                     : reader_value(r, type, value, size);
}

/* Gives the resources that were read to the world, or ends them. Cannot fail. */
static void resources_settle(reader *r)
{
    for (uint32_t i = 0; i < r->type_count && r->resources != NULL; i++) {
        const weft__type *type = r->types[i];
        char *value = r->resources[i];
        if (value == NULL) continue;
        char *ended = r->result == WEFT_OK ? type->resource : value;
        weft__type_destruct(&r->world->memory, type, ended, 1);
        if (ended != value) memcpy(ended, value, weft__type_bytes(type));
        weft__free(&r->world->memory, CATEGORY, value, weft__type_bytes(type) + 1, 1, 64);
    }
}

static void runs_read(reader *r)
{
    uint32_t count = r->header.version < 5 ? 0 : reader_count(r, 22);
    for (uint32_t i = 0; i < count && reader_ok(r); i++) {
        char name[256];
        weft__kept_run run = {.is_group = weft__in_u8(&r->in) == 1};
        name_read(r, name);
        weft__in_get(&r->in, &run.elapsed, sizeof run.elapsed);
        weft__in_get(&r->in, &run.timer, sizeof run.timer);
        if (strlen(name) < sizeof run.name) memcpy(run.name, name, strlen(name) + 1);
        const char *problem = weft__run_problem(&run);
        if (problem != NULL) reader_fail(r, WEFT_LOAD_MALFORMED, problem);
        weft__run_list_add(&r->runs, &run);
    }
    if (r->runs.is_out_of_memory) reader_no_memory(r);
}

static void tail_read(reader *r)
{
    const char *names = r->in.at;
    names_read(r, false);
    if (r->type_count != 0 && reader_ok(r))
        r->resources = allocate(r, r->type_limit, sizeof *r->resources);
    for (uint32_t i = 0; i < r->type_count && reader_ok(r); i++)
        if (r->types[i]->resource != NULL) resource_read(r, i);
    runs_read(r);
    if (r->in.at != r->in.end) reader_fail(r, WEFT_LOAD_MALFORMED, "bytes between the sections");
    r->in.at = names;
    if (reader_ok(r)) names_read(r, true);
}

weft_result weft__world_read(weft_world *world, const void *bytes, size_t count,
                             const weft_load_desc *desc, bool with_hash, weft_load_report *report)
{
    weft_load_report unwanted = {0};
    reader r = {.world = world, .start = bytes, .in.at = bytes, .desc = desc};
    r.report = report == NULL ? &unwanted : report;
    r.pile = (weft__pile){.memory = &world->memory, .category = CATEGORY};
    r.runs.world = world;
    weft__archetype_list before, none = {0};
    weft_result result = weft__world_check_new(world, "weft_world_load");
    if (result == WEFT_OK) result = weft__archetypes_note(world, &before);
    if (result == WEFT_OK && (result = weft__ids_close(world, "weft_world_load")) != WEFT_OK)
        weft__archetype_list_free(world, &before);
    if (result != WEFT_OK) return result;
    if (header_read(&r, count, with_hash)) {
        weft__archetypes_arrange(world, &none); /* those of the file come first; cannot fail */
        types_read(&r);
        blobs_read(&r);
        reader_rows(&r);
        tail_read(&r);
        reader_ok(&r);
    }
    weft__clock clock = {.steps = r.header.steps, .time = r.header.time, .dt = r.header.dt};
    weft__load_end(&r.runs, r.result == WEFT_OK ? &clock : NULL);
    if (r.result != WEFT_OK) weft__archetypes_arrange(world, &before); /* were there: cannot fail */
    weft__archetype_list_free(world, &before);
    resources_settle(&r);
    blobs_release(&r);
    weft__pile_free(&r.pile);
    return r.result;
}
