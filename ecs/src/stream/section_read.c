/* SPDX-License-Identifier: MIT */
/* section_read.c: the front of a section file, read and checked, and its pieces, which become
 * private chunks.
 *
 * Nothing is allocated for more things than the bytes of the file can describe. The columns of a
 * piece are read straight into their places, part by part; while a part is in cache it is hashed
 * and its stored handles become those of the world. Then the rows get their ids. */
#include "section_read.h"
#include "archetype.h"
#include "blob_type.h"
#include "component_registry.h"
#include "evolution.h"
#include "format.h"
#include "hash_lanes.h"
#include "private_chunk.h"
#include "stream_load.h"
#include "world_file_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SECTION_BYTES_MIN (4u + 24u + 4u * 8u + 7u * 4u)
#define RUN_BYTES_MIN 12u
#define PIECE_BYTES 28u

static weft_result malformed(const weft__file_front *front, const char *what)
{
    return weft__error(front->world, WEFT_CORRUPT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "weft_stream_open: %s: %s", front->file.path, what);
}

static weft_result refused(const weft__file_front *front)
{
    return weft__error_memory(front->world, "weft_stream_open");
}

static weft_result header_check(const weft__file_front *front)
{
    const weft__section_header *h = &front->header;
    if (h->magic != WEFT__SECTION_MAGIC) return malformed(front, "is no section file");
    if (h->byte_order != WEFT__SECTION_BYTE_ORDER || h->version != WEFT__SECTION_VERSION)
        return weft__error(front->world, WEFT_UNSUPPORTED, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_stream_open: %s: another format version or byte order: write it "
                           "again with this version of weft",
                           front->file.path);
    if (h->total_bytes != front->file.bytes) return malformed(front, "is cut off, or too long");
    if (h->front_bytes < sizeof *h || h->front_bytes > h->total_bytes ||
        h->front_bytes > WEFT__FRONT_BYTES_MAX || h->reserved != 0 ||
        h->section_count > WEFT_SECTION_LIMIT)
        return malformed(front, "a size in the header is wrong");
    /* each thing takes bytes, so that a short file cannot ask for much memory */
    uint64_t least = sizeof *h + (uint64_t)h->type_count * 37 + (uint64_t)h->shape_count * 4 +
                     (uint64_t)h->section_count * SECTION_BYTES_MIN +
                     (uint64_t)h->run_count * RUN_BYTES_MIN +
                     (uint64_t)h->piece_count * PIECE_BYTES;
    return least > h->front_bytes ? malformed(front, "a count in the header is wrong") : WEFT_OK;
}

static weft_result front_bytes_read(weft__file_front *front)
{
    weft__section_header *h = &front->header;
    if (front->file.bytes < sizeof *h) return malformed(front, "is too short");
    weft_result result = weft__file_read(&front->file, h, sizeof *h, 0);
    if (result == WEFT_OK) {
        result = header_check(front);
        if (result != WEFT_OK) return result;
        front->bytes = weft__pile_take(&front->pile, h->front_bytes, 1);
        if (front->bytes == NULL) return refused(front);
        result = weft__file_read(&front->file, front->bytes, h->front_bytes, 0);
    }
    if (result != WEFT_OK)
        return weft__error(front->world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_stream_open: %s", front->file.problem.text);
    const size_t behind = offsetof(weft__section_header, version);
    uint64_t hash =
        weft__hash_lanes(WEFT__SECTION_SEED, front->bytes + behind, h->front_bytes - behind);
    if (hash != h->front_hash || memcmp(h, front->bytes, sizeof *h) != 0)
        return malformed(front, "the hash of its front differs: it is damaged");
    return WEFT_OK;
}

/* ---- types and shapes ---- */

/* Whether a type of the world is in section files: all that entities have in chunks. */
static inline bool section_holds(const weft__type *type)
{
    return (type->desc.flags & (WEFT_RESOURCE | WEFT_SPARSE)) == 0;
}

/* The component of this world that a record means. */
static weft_result type_find(weft__file_front *front, const weft__file_type *file, uint32_t number)
{
    const char *name = file->desc.name, *problem = NULL;
    weft_component found = weft__component_named(front->world, name);
    const weft__type *type = weft__type_at(front->world, found);
    if (type == NULL)
        problem = "is not registered in this world: register it first";
    else if (type->hash != file->hash)
        problem = "has another layout here: write the file again";
    else if (type->desc.flags != file->desc.flags || type->desc.size != file->desc.size ||
             !section_holds(type) || weft__type_is_hooked(type) != file->is_hooked)
        problem = "is of another kind here";
    front->types[number] = type;
    return problem == NULL ? WEFT_OK
                           : weft__error(front->world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, found,
                                         "weft_stream_open: %s: component %s %s", front->file.path,
                                         name, problem);
}

static weft_result type_read(weft__file_front *front, weft__in *in, uint32_t number)
{
    weft__file_type file;
    weft_result result;
    weft__pile pile = weft__stream_pile(front->world);
    const char *problem = weft__file_type_get(in, &pile, &file);
    if (problem == NULL)
        result = type_find(front, &file, number);
    else
        result = problem[0] == '\0' ? refused(front) : malformed(front, problem);
    weft__pile_free(&pile);
    return result;
}

/* Ascending component ids, from types in the order of the file. */
static weft_result archetype_make(const weft__file_front *front, weft__front_shape *shape)
{
    weft_component list[512];
    uint32_t count = 0;
    weft_component section = weft_component_section(front->world);
    if (section.id == 0) return front->world->error->code;
    if (shape->type_count + 1 > sizeof list / sizeof *list)
        return malformed(front, "more components of one entity than there can be");
    for (uint32_t i = 0; i < shape->type_count; i++)
        list[count++] = weft__component(front->world, front->types[shape->types[i]]->id);
    list[count++] = section;
    uint32_t *ids = weft__components_sort(front->world, list, count, "weft_stream_open");
    if (ids == NULL && front->world->error->code == WEFT_OUT_OF_MEMORY) return WEFT_OUT_OF_MEMORY;
    if (ids == NULL) return malformed(front, "a list of components is wrong");
    shape->archetype = weft__archetype_obtain(front->world, ids, count);
    weft__ids_free(front->world, ids, count);
    weft__archetype_give(front->world, shape->archetype); /* the front keeps it */
    return shape->archetype == NULL ? front->world->error->code : WEFT_OK;
}

static weft_result shape_read(weft__file_front *front, weft__in *in, uint32_t number)
{
    weft__front_shape *shape = &front->shapes[number];
    uint32_t count = weft__in_u32(in);
    if (!weft__in_has(in, count, 4)) return malformed(front, "a list of components is cut off");
    const char *types = weft__in_take(in, (uint64_t)count * 4);
    if (types == NULL) return malformed(front, "a list of components is cut off");
    uint32_t *own = weft__pile_take(&front->pile, count, sizeof *own);
    if (own == NULL) return refused(front);
    memcpy(own, types, count * sizeof *own);
    for (uint32_t i = 0; i < count; i++)
        if (own[i] >= front->header.type_count)
            return malformed(front, "an entity has a component that is not there");
    *shape = (weft__front_shape){.types = own, .type_count = count};
    return archetype_make(front, shape);
}

/* ---- sections ---- */

static bool bounds_read(weft__front_section *s, weft__in *in)
{
    uint32_t has = weft__in_u32(in);
    weft__in_get(in, s->least, sizeof s->least);
    weft__in_get(in, s->most, sizeof s->most);
    s->has_bounds = has != 0;
    for (int k = 0; k < 3 && s->has_bounds; k++)
        if (!isfinite(s->least[k]) || !isfinite(s->most[k]) || s->least[k] > s->most[k])
            return false;
    return has <= 1;
}

static bool run_read(weft__file_front *front, weft__in *in, weft__front_run *run)
{
    *run = (weft__front_run){.shape = weft__in_u32(in)};
    run->rows = weft__in_u32(in);
    run->piece_count = weft__in_u32(in);
    run->shared = in->at;
    if (in->is_short || run->shape >= front->header.shape_count) return false;
    const weft__front_shape *shape = &front->shapes[run->shape];
    for (uint32_t i = 0; i < shape->type_count; i++) {
        const weft__type *type = front->types[shape->types[i]];
        if ((type->desc.flags & WEFT_SHARED) == 0) continue;
        uint8_t has_value = weft__in_u8(in);
        if (has_value > 1) return false;
        if (has_value == 1) weft__in_take(in, type->desc.size);
    }
    return !in->is_short;
}

/* Bytes that the packed columns of a row have. */
static uint64_t row_bytes(const weft__file_front *front, const weft__front_shape *shape)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < shape->type_count; i++) {
        const weft__type *type = front->types[shape->types[i]];
        if (weft__section_is_packed(type)) bytes += type->value_bytes;
    }
    return bytes;
}

static bool piece_read(const weft__file_front *front, weft__in *in, const weft__front_section *s,
                       weft__front_piece *piece)
{
    piece->rows = weft__in_u32(in);
    piece->at = weft__in_u64(in);
    piece->bytes = weft__in_u64(in);
    piece->hash = weft__in_u64(in);
    const weft__front_shape *shape = &front->shapes[front->runs[piece->run].shape];
    const weft__format *format = shape->archetype->format;
    uint32_t most = weft__format_capacity(format, weft__private_class(format, piece->rows));
    return !in->is_short && piece->rows != 0 && piece->rows <= most &&
           piece->at >= s->at + s->table_bytes && piece->at <= s->at + s->bytes &&
           piece->bytes <= s->at + s->bytes - piece->at &&
           piece->bytes / piece->rows >= row_bytes(front, shape);
}

/* Numbers the rows of a section; its runs and pieces must agree. */
static bool pieces_read(weft__file_front *front, weft__in *in, weft__front_section *s)
{
    uint32_t next = s->first_piece, end = s->first_piece + s->piece_count;
    uint64_t first = 0;
    for (uint32_t r = s->first_run; r < s->first_run + s->run_count; r++) {
        weft__front_run *run = &front->runs[r];
        uint64_t rows = 0;
        if (run->piece_count > end - next) return false;
        run->first_piece = next;
        for (uint32_t i = 0; i < run->piece_count; i++, next++) {
            weft__front_piece *piece = &front->pieces[next];
            piece->run = r;
            if (!piece_read(front, in, s, piece)) return false;
            piece->first = (uint32_t)(first + rows);
            rows += piece->rows;
        }
        if (rows != run->rows) return false;
        first += rows;
        if (first > UINT32_MAX) return false;
    }
    return next == end && first == s->rows;
}

static bool section_read(weft__file_front *front, weft__in *in, weft__front_section *s)
{
    bool is_right = bounds_read(s, in);
    s->at = weft__in_u64(in);
    s->bytes = weft__in_u64(in);
    s->table_bytes = weft__in_u64(in);
    s->table_hash = weft__in_u64(in);
    s->rows = weft__in_u32(in);
    s->run_count = weft__in_u32(in);
    s->piece_count = weft__in_u32(in);
    s->export_count = weft__in_u32(in);
    s->late_count = weft__in_u32(in);
    s->blob_count = weft__in_u32(in);
    s->name_count = weft__in_u32(in);
    const weft__section_header *h = &front->header;
    is_right = is_right && !in->is_short && s->at >= h->front_bytes && s->at <= h->total_bytes &&
               s->bytes <= h->total_bytes - s->at && s->table_bytes <= s->bytes &&
               s->run_count <= h->run_count - s->first_run &&
               s->piece_count <= h->piece_count - s->first_piece &&
               s->table_bytes / 4 >= s->export_count &&
               s->table_bytes / sizeof(weft__late) >= s->late_count &&
               s->table_bytes / 16 >= s->blob_count && s->table_bytes / 8 >= s->name_count;
    for (uint32_t r = 0; r < s->run_count && is_right; r++)
        is_right = run_read(front, in, &front->runs[s->first_run + r]);
    return is_right && pieces_read(front, in, s);
}

static weft_result sections_read(weft__file_front *front, weft__in *in)
{
    uint32_t run = 0, piece = 0;
    for (uint32_t i = 0; i < front->header.section_count; i++) {
        weft__front_section *s = &front->sections[i];
        s->first_run = run;
        s->first_piece = piece;
        if (!section_read(front, in, s)) return malformed(front, "a section is described wrongly");
        run += s->run_count;
        piece += s->piece_count;
    }
    bool is_right =
        run == front->header.run_count && piece == front->header.piece_count && in->at == in->end;
    return is_right ? WEFT_OK : malformed(front, "its front has another length");
}

/* ---- the whole ---- */

static weft_result front_read(weft__file_front *front)
{
    weft_result result = front_bytes_read(front);
    if (result != WEFT_OK) return result;
    const weft__section_header *h = &front->header;
    weft__pile *pile = &front->pile;
    front->types = weft__pile_take(pile, h->type_count, sizeof *front->types);
    front->shapes = weft__pile_take(pile, h->shape_count, sizeof *front->shapes);
    front->sections = weft__pile_take(pile, h->section_count, sizeof *front->sections);
    front->runs = weft__pile_take(pile, h->run_count, sizeof *front->runs);
    front->pieces = weft__pile_take(pile, h->piece_count, sizeof *front->pieces);
    if (pile->is_refused) return refused(front);
    weft__in in = {.at = front->bytes + sizeof *h, .end = front->bytes + h->front_bytes};
    for (uint32_t i = 0; i < h->type_count && result == WEFT_OK; i++)
        result = type_read(front, &in, i);
    for (uint32_t i = 0; i < h->shape_count && result == WEFT_OK; i++)
        result = shape_read(front, &in, i);
    return result == WEFT_OK ? sections_read(front, &in) : result;
}

weft_result weft__front_open(weft__file_front *front, const char *path)
{
    weft_result result = weft__file_open(front->world->desc.os, path, &front->file);
    if (result != WEFT_OK)
        return weft__error(front->world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_stream_open: %s", front->file.problem.text);
    front->is_open = true;
    return front_read(front);
}

#define PAGE_BYTES 4096u /* of the smallest page */

/* ---- a piece becomes a private chunk ----
 *
 * Any thread of the crew; touches what the load says is the crew's, and the allocators. */

/* A piece that is read. On the stack of the thread. */
typedef struct filling {
    weft__load *load;
    weft_world *world;
    const weft__file_front *front;
    const weft__front_piece *piece;
    const weft__front_shape *shape;
    weft__chunk *chunk;
    uint64_t at;   /* what is read next */
    bool is_wrong; /* a reference leads nowhere, or bytes are damaged */
    char *tail;    /* what is behind the packed columns */
    uint64_t tail_bytes;
} filling;

static const weft__type *type_of(const filling *f, uint32_t i)
{
    return f->front->types[f->shape->types[i]];
}

static const weft__type_ref *ref_of(const filling *f, const weft__type *type)
{
    const weft__archetype *archetype = f->shape->archetype;
    return &archetype->types[weft__archetype_find(archetype, type->id)];
}

/* Keeps the first failure of a load. Returns false. Any thread of the crew. */
static bool load_fail(weft__load *load, weft_result result, const char *text)
{
    uint32_t none = WEFT_OK;
    /* relaxed would do: the owner reads the text after SC3 */
    if (!at_cas_ar(&load->x_failed, &none, (uint32_t)result)) return false; /* SC2 */
    snprintf(load->text, sizeof load->text, "section %u: %.*s", load->section,
             (int)sizeof load->text - 24, text);
    return false;
}

static bool read_at(filling *f, void *to, uint64_t bytes, uint64_t at)
{
    weft__file_source own = f->front->file; /* its own place for what failed */
    weft_result result = weft__file_read(&own, to, bytes, at);
    return result == WEFT_OK || load_fail(f->load, result, own.problem.text);
}

/* ---- values ---- */

/* A stored handle that is none of a row becomes one of the world. False: it cannot be. */
static bool export_read(const weft__load *load, weft_entity stored, uint64_t *handle)
{
    bool is_null = stored.version == 0 && stored.index == 0;
    if (stored.version != WEFT__STORED_EXPORT || stored.index >= load->export_count) return is_null;
    memcpy(handle, &load->exports[stored.index], sizeof *handle);
    return true;
}

/* What references of a piece are read by. On the stack. */
typedef struct settling {
    const weft__load *load;
    const uint64_t *handles;
    uint64_t rows; /* of the section */
    weft_blob_store *store;
    bool is_wrong, is_counted; /* an entity cannot be; each BLOB field gets a reference */
} settling;

/* A stored handle becomes one of the world. All that is asked is in registers and one small table,
 * for there are millions; the slot is in the bits of an index that tag and block leave alone. */
static bool entity_read(void *user, weft__reference *r)
{
    settling *s = user;
    if (r->is_blob) return true;
    uint64_t handle = 0, row = r->bits - ((uint64_t)WEFT__STORED_ROW << 32);
    if (__builtin_expect(row < s->rows, 1))
        handle = s->handles[row / WEFT__BLOCK_SLOTS] ^ (row % WEFT__BLOCK_SLOTS);
    else
        s->is_wrong |= !export_read(s->load, r->entity, &handle);
    r->bits = handle;
    return true;
}

static bool blob_is_there(void *user, weft__reference *r)
{
    const settling *s = user;
    return !r->is_blob || r->bits <= s->load->loaded.blob_count;
}

static bool blob_read(void *user, weft__reference *r)
{
    const settling *s = user;
    if (!r->is_blob || r->bits == 0) return true;
    r->blob = s->load->loaded.blobs[r->bits - 1];
    if (s->is_counted && weft_blob_acquire(s->store, r->blob) != WEFT_OK) r->bits = 0;
    return true;
}

static settling settling_of(const filling *f, const weft__type *type)
{
    const weft__load *load = f->load;
    return (settling){.load = load,
                      .handles = load->handles,
                      .rows = weft__section_of(load->stream, load->section)->rows,
                      .store = f->world->blobs,
                      .is_counted = type->needs_destruct};
}

/* ENTITY fields of values, one after the other. */
static bool entities_settle(const filling *f, const weft__type *type, char *values, uint64_t count)
{
    settling s = settling_of(f, type);
    weft__elements_references(type, values, count, entity_read, &s);
    return !s.is_wrong;
}

/* Their BLOB fields. What can be wrong is looked at first, so that counted blobs are right. */
static bool blobs_settle(const filling *f, const weft__type *type, char *values, uint64_t count)
{
    settling s = settling_of(f, type);
    if (!weft__type_has_blobs(type)) return true;
    return weft__elements_references(type, values, count, blob_is_there, &s) &&
           weft__elements_references(type, values, count, blob_read, &s);
}

/* Elements that a hook saved, one by one: what is there is constructed. */
static bool hooked_elements_read(const filling *f, weft__in *in, const weft__type *type,
                                 weft_buffer *buffer)
{
    for (uint32_t left = weft__in_u32(in); left != 0 && !in->is_short; left--) {
        if (weft__buffer_resize(&f->world->memory, type, buffer, buffer->count + 1) != WEFT_OK)
            return load_fail(f->load, WEFT_OUT_OF_MEMORY, "no memory for a buffer");
        char *element = (char *)weft__buffer_data(buffer) + (buffer->count - 1) * type->desc.size;
        if (weft__hooked_get(in, type, element) != NULL) return false;
    }
    return true;
}

static bool hooked_read(const filling *f, weft__in *in, const weft__type *type)
{
    const uint32_t column = ref_of(f, type)->column;
    for (uint32_t row = 0; row < f->chunk->count; row++) {
        char *value = weft__chunk_value(f->chunk, column, row);
        const bool is_read = (type->desc.flags & WEFT_BUFFER) != 0
                                 ? hooked_elements_read(f, in, type, (weft_buffer *)(void *)value)
                                 : weft__hooked_get(in, type, value) == NULL;
        if (!is_read) return false;
    }
    return true;
}

static bool buffers_read(const filling *f, weft__in *in, const weft__type *type)
{
    if (weft__type_is_hooked(type)) return hooked_read(f, in, type);
    for (uint32_t row = 0; row < f->chunk->count; row++) {
        const uint32_t count = weft__in_u32(in);
        const char *elements = weft__in_take(in, (uint64_t)count * type->desc.size);
        if (elements == NULL) return false;
        weft_buffer *buffer = (void *)weft__chunk_value(f->chunk, ref_of(f, type)->column, row);
        if (type->desc.size == 0) {
            buffer->count = count;
            continue;
        }
        if (weft__buffer_append(&f->world->memory, type, buffer, elements, count) != WEFT_OK)
            return load_fail(f->load, WEFT_OUT_OF_MEMORY, "no memory for a buffer");
        if (!entities_settle(f, type, weft__buffer_data(buffer), count) ||
            !blobs_settle(f, type, weft__buffer_data(buffer), count))
            return false;
    }
    return true;
}

static bool tail_read(const filling *f)
{
    weft__in in = {.at = f->tail, .end = f->tail + f->tail_bytes};
    for (uint32_t i = 0; i < f->shape->type_count; i++) {
        const weft__type *type = type_of(f, i);
        const weft__type_ref *ref = ref_of(f, type);
        if (ref->chunk_offset != WEFT__NONE) {
            char *value = f->chunk->chunk_values + ref->chunk_offset;
            weft__in_get(&in, value, type->chunk_bytes);
            if (!entities_settle(f, type, value, 1) || !blobs_settle(f, type, value, 1))
                return false;
        }
        if (ref->enableable != WEFT__NO_PLACE &&
            weft__disabled_get(&in, ref->enableable, &f->chunk, 1) != NULL)
            return false;
        if ((type->desc.flags & WEFT_BUFFER) != 0 && !buffers_read(f, &in, type)) return false;
        if (weft__section_has_column(type) && weft__type_is_hooked(type) &&
            !hooked_read(f, &in, type))
            return false;
    }
    return !in.is_short && in.at == in.end;
}

/* ---- columns ---- */

/* A packed column goes to its place, part by part; *hash goes on. */
static bool column_read(filling *f, const weft__type *type, uint64_t *hash)
{
    char *column = weft__chunk_column(f->chunk, ref_of(f, type)->column);
    const uint32_t most = weft__section_part(type);
    for (uint32_t row = 0; row < f->piece->rows; row += most) {
        uint32_t rows = f->piece->rows - row < most ? f->piece->rows - row : most;
        uint64_t bytes = (uint64_t)rows * type->value_bytes;
        if (!read_at(f, column, bytes, f->at)) return false;
        *hash = weft__hash_lanes(*hash, column, bytes);
        f->is_wrong |= !entities_settle(f, type, column, rows);
        column += bytes;
        f->at += bytes;
    }
    return true;
}

/* The packed columns go to their places; the rest to memory of its own. */
static bool bytes_read(filling *f)
{
    uint64_t hash = WEFT__SECTION_SEED;
    f->at = f->piece->at;
    for (uint32_t i = 0; i < f->shape->type_count; i++)
        if (weft__section_is_packed(type_of(f, i)) && !column_read(f, type_of(f, i), &hash))
            return false;
    f->tail_bytes = f->piece->at + f->piece->bytes - f->at;
    f->tail = weft__alloc(&f->world->memory, WEFT__MEMORY_OTHER, f->tail_bytes, 1, 16);
    if (f->tail == NULL) return load_fail(f->load, WEFT_OUT_OF_MEMORY, "no memory");
    if (f->tail_bytes != 0 && !read_at(f, f->tail, f->tail_bytes, f->at)) return false;
    if (f->tail_bytes != 0) hash = weft__hash_lanes(hash, f->tail, f->tail_bytes);
    return hash == f->piece->hash || load_fail(f->load, WEFT_CORRUPT, "the hash of rows differs");
}

/* What depends on all bytes being right. */
static bool columns_settle(const filling *f)
{
    bool is_right = !f->is_wrong;
    for (uint32_t i = 0; i < f->shape->type_count && is_right; i++) {
        const weft__type *type = type_of(f, i);
        if (weft__section_is_packed(type))
            is_right = blobs_settle(f, type, weft__chunk_column(f->chunk, ref_of(f, type)->column),
                                    f->chunk->count);
    }
    return is_right;
}

/* ---- the chunk ---- */

/* Handles for the rows, and their places in the lent blocks. */
static void ids_give(const filling *f)
{
    weft_entity *entities = weft__chunk_entities(f->chunk);
    uint32_t row = f->piece->first;
    for (uint32_t done = 0; done < f->piece->rows;) {
        uint32_t slot = row % WEFT__BLOCK_SLOTS, count = WEFT__BLOCK_SLOTS - slot;
        if (count > f->piece->rows - done) count = f->piece->rows - done;
        weft__lent_fill(&f->world->directory, &f->load->blocks[row / WEFT__BLOCK_SLOTS], slot,
                        count, f->chunk->location + done, entities + done);
        row += count;
        done += count;
    }
    f->chunk->has_ids = true;
}

/* Columns that were not read, or hold stored references, must not be destructed; those of hooks
 * are constructed. */
static void columns_clear(const filling *f)
{
    for (uint32_t column = 1; column < f->chunk->layout->column_count; column++) {
        const weft__type *type = f->chunk->archetype->format->types[column];
        if (type->needs_destruct && (type->desc.flags & WEFT_BUFFER) == 0 &&
            !weft__type_is_hooked(type))
            memset(weft__chunk_column(f->chunk, column), 0,
                   (size_t)f->chunk->count * type->value_bytes);
    }
}

/* Memory that was never used gets its pages here and not within pread: a fault of the kernel's own
 * holds the lock of the address space (mmap_lock) while it clears a huge page, and where the thread
 * loses its processor then, the owner waits for it in its next mmap or brk: up to 24 ms of a frame
 * on a busy machine. A fault of this code holds only the lock of the mapping. */
static void pages_touch(const weft__chunk *chunk)
{
    char *page = chunk->base, *end = page + chunk->unit_count * (size_t)WEFT__UNIT_BYTES;
    for (; page != end; page += PAGE_BYTES)
        at_store_rlx((weft_a32 *)(void *)page, 0); /* relaxed: a store that the compiler keeps */
}

static bool chunk_make(filling *f, uint32_t piece, uint32_t thread)
{
    const weft__front_section *section = weft__section_of(f->load->stream, f->load->section);
    weft__tuple *tuple = f->load->tuples[f->piece->run - section->first_run];
    weft_result result = weft__private_make(f->world, thread, tuple, f->piece->rows, &f->chunk);
    if (result != WEFT_OK) return load_fail(f->load, result, "no memory for rows");
    if (f->chunk->is_zero) pages_touch(f->chunk);
    f->chunk->location = f->load->locations[piece];
    f->chunk->count = f->piece->rows;
    for (uint32_t column = 1; column < f->chunk->layout->column_count; column++) {
        const weft__type *type = f->chunk->archetype->format->types[column];
        if ((type->desc.flags & WEFT_BUFFER) != 0 || weft__type_is_hooked(type))
            weft__type_construct(type, weft__chunk_column(f->chunk, column), f->chunk->count);
    }
    return true;
}

static void piece_fill(weft__load *load, uint32_t piece, uint32_t thread)
{
    const weft_stream *stream = load->stream;
    const weft__front_section *section = weft__section_of(stream, load->section);
    filling f = {.load = load, .world = stream->world, .front = &stream->front};
    f.piece = &stream->front.pieces[section->first_piece + piece];
    f.shape = &stream->front.shapes[stream->front.runs[f.piece->run].shape];
    if (!chunk_make(&f, piece, thread)) return;
    bool is_read = bytes_read(&f), is_right = is_read && columns_settle(&f);
    if (is_read && !is_right) load_fail(load, WEFT_CORRUPT, "a reference leads nowhere");
    if (is_right && !tail_read(&f))
        is_right = load_fail(load, WEFT_CORRUPT, "rows are described wrongly");
    weft__free(&f.world->memory, WEFT__MEMORY_OTHER, f.tail, f.tail_bytes, 1, 16);
    if (!is_right) {
        columns_clear(&f);
        weft__private_drop(f.world, f.chunk);
        return;
    }
    ids_give(&f);
    if (stream->desc.filled != NULL) {
        weft_stream_rows rows = {load->section, f.chunk->count, weft__chunk_entities(f.chunk),
                                 f.chunk};
        stream->desc.filled(&rows, stream->desc.user);
    }
    load->chunks[piece] = f.chunk;
}

/* ---- the table: rows that others refer to, fields that refer to other sections, blobs, names ----
 */

static weft_entity handle_of(const weft__load *load, uint32_t row)
{
    return weft__lent_handle(&load->stream->world->directory,
                             &load->blocks[row / WEFT__BLOCK_SLOTS], row % WEFT__BLOCK_SLOTS);
}

static bool wrong(weft__load *load, const char *what)
{
    return load_fail(load, WEFT_CORRUPT, what);
}

static bool exports_get(weft__load *load, weft__in *in, const weft__front_section *section)
{
    for (uint32_t i = 0; i < section->export_count; i++) {
        uint32_t row = weft__in_u32(in);
        if (row >= section->rows) return wrong(load, "an export is no row");
        load->loaded.exports[i] = handle_of(load, row);
    }
    return true;
}

/* The field of a late reference in this world. False: it cannot be. */
static bool late_make(const weft__load *load, const weft__late *late, weft__loaded_late *out)
{
    const weft__file_front *front = &load->stream->front;
    if (late->row >= weft__section_of(load->stream, load->section)->rows ||
        late->type >= front->header.type_count || late->section >= front->header.section_count ||
        late->target >= front->sections[late->section].export_count)
        return false;
    const weft__type *type = front->types[late->type];
    bool is_field = false;
    for (uint32_t i = 0; i < type->entity_offset_count; i++)
        is_field |= type->entity_offsets[i] == late->offset;
    *out = (weft__loaded_late){.source = handle_of(load, late->row),
                               .component = type->id,
                               .element = late->element,
                               .offset = late->offset,
                               .section = late->section,
                               .target = late->target};
    return is_field && (type->value_bytes != 0 || type->chunk_bytes != 0);
}

static int by_section(const void *a, const void *b)
{
    const weft__loaded_late *x = a, *y = b;
    return x->section < y->section ? -1 : x->section > y->section;
}

static bool lates_get(weft__load *load, weft__in *in, const weft__front_section *section)
{
    weft__loaded *loaded = &load->loaded;
    for (uint32_t i = 0; i < section->late_count; i++) {
        weft__late late;
        weft__in_get(in, &late, sizeof late);
        if (in->is_short || !late_make(load, &late, &loaded->lates[i]))
            return wrong(load, "a late reference is no field");
    }
    if (section->late_count != 0)
        qsort(loaded->lates, section->late_count, sizeof *loaded->lates, by_section);
    return true;
}

static bool blobs_get(weft__load *load, weft__in *in, uint32_t count)
{
    const weft_stream *stream = load->stream;
    weft__loaded *loaded = &load->loaded;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t hash = weft__in_u64(in), bytes = weft__in_u64(in);
        const char *block = weft__in_take(in, bytes);
        if (block == NULL) return wrong(load, "a blob is cut off");
        weft_blob_load_desc desc = {
            weft__blob_type_of(stream->blob_types, stream->desc.blob_type_count, hash),
            WEFT_BLOB_LOAD, NULL, 0};
        if (desc.type == NULL)
            return load_fail(load, WEFT_TYPE_MISMATCH,
                             "a blob of a type that is not among blob_types: add it to "
                             "weft_stream_desc");
        weft_result result = weft_blob_adopt(load->stream->world->blobs, block, bytes, &desc,
                                             &loaded->blobs[loaded->blob_count]);
        if (result != WEFT_OK) return load_fail(load, result, "a blob was refused");
        loaded->blob_count++;
    }
    return true;
}

/* Names stay in the table; they are only looked at. */
static bool names_get(weft__load *load, weft__in *in, const weft__front_section *section)
{
    load->names = *in;
    for (uint32_t i = 0; i < section->name_count; i++) {
        uint32_t row = weft__in_u32(in), bytes = weft__in_u32(in);
        const char *text = weft__in_take(in, bytes);
        if (text == NULL || row >= section->rows || bytes == 0 || bytes > 255 ||
            memchr(text, '\0', bytes) != NULL)
            return wrong(load, "a name is wrong");
    }
    return in->at == in->end || wrong(load, "its table has another length");
}

static bool room_make(weft__load *load, const weft__front_section *section)
{
    weft__loaded *loaded = &load->loaded;
    weft__pile *pile = &loaded->pile;
    loaded->export_count = section->export_count;
    loaded->late_count = section->late_count;
    loaded->exports = weft__pile_take(pile, section->export_count, sizeof *loaded->exports);
    loaded->lates = weft__pile_take(pile, section->late_count, sizeof *loaded->lates);
    loaded->blobs = weft__pile_take(pile, section->blob_count, sizeof *loaded->blobs);
    return !pile->is_refused;
}

/* Reads the table into load->loaded, and makes the books of the lent blocks: the work of piece 0,
 * before the other pieces. */
static void table_fill(weft__load *load)
{
    weft_stream *stream = load->stream;
    const weft__front_section *section = weft__section_of(stream, load->section);
    for (uint32_t i = 0; i < load->loaded.block_count; i++) {
        uint32_t left = section->rows - i * WEFT__BLOCK_SLOTS;
        weft__lent_level(&load->blocks[i]);
        weft_entity first = weft__lent_handle(&stream->world->directory, &load->blocks[i], 0);
        memcpy(&load->handles[i], &first, sizeof first);
        weft__lent_settle(load->blocks[i].block,
                          left < WEFT__BLOCK_SLOTS ? left : WEFT__BLOCK_SLOTS);
    }
    char *bytes = weft__pile_take(&load->pile, section->table_bytes, 1);
    weft__file_source own = stream->front.file;
    weft_result result = WEFT_OK;
    if (bytes == NULL || !room_make(load, section))
        load_fail(load, WEFT_OUT_OF_MEMORY, "no memory for its table");
    else
        result = weft__file_read(&own, bytes, section->table_bytes, section->at);
    if (result != WEFT_OK) load_fail(load, result, own.problem.text);
    if (at_load_rlx(&load->x_failed) == WEFT_OK) { /* relaxed: this thread's own */
        weft__in in = {.at = bytes, .end = bytes + section->table_bytes};
        uint64_t hash = weft__hash_lanes(WEFT__SECTION_SEED, bytes, section->table_bytes);
        if (hash != section->table_hash)
            wrong(load, "the hash of its table differs");
        else if (exports_get(load, &in, section) && lates_get(load, &in, section) &&
                 blobs_get(load, &in, section->blob_count))
            names_get(load, &in, section);
    }
}

void weft__section_fill(weft__crew_job *job, uint32_t piece, uint32_t thread)
{
    weft__load *load = (weft__load *)(void *)job;
    bool is_over = at_load_rlx(&job->x_cancelled) != 0 ||   /* relaxed: a hint */
                   at_load_rlx(&load->x_failed) != WEFT_OK; /* relaxed: a hint */
    if (is_over) return;
    if (piece == 0)
        table_fill(load);
    else
        piece_fill(load, piece - 1, thread);
}
