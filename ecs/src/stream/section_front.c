/* SPDX-License-Identifier: MIT */
/* section_front.c: reading and checking the front of a section file: header, types, shapes,
 * sections. Nothing is allocated for more things than the bytes of the file can describe. See
 * section_front.h. */
#include "section_front.h"
#include "archetype.h"
#include "component_registry.h"
#include "error.h"
#include "evolution.h"
#include "format.h"
#include "hash_lanes.h"
#include "private_chunk.h"
#include "world_file_format.h"

#include <math.h>
#include <string.h>

#define CATEGORY WEFT__MEMORY_OTHER

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

static void *zeroed(const weft__file_front *front, uint64_t count, size_t size)
{
    return weft__alloc_zeroed(&front->world->memory, CATEGORY, count + 1, size, 16);
}

static void release(const weft__file_front *front, const void *block, uint64_t count, size_t size)
{
    weft__free(&front->world->memory, CATEGORY, (void *)(uintptr_t)block, count + 1, size, 16);
}

/* ---- header ---- */

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

static weft_result bytes_read(weft__file_front *front)
{
    weft__section_header *h = &front->header;
    if (front->file.bytes < sizeof *h) return malformed(front, "is too short");
    weft_result result = weft__file_read(&front->file, h, sizeof *h, 0);
    if (result == WEFT_OK) {
        result = header_check(front);
        if (result != WEFT_OK) return result;
        front->bytes = zeroed(front, h->front_bytes, 1);
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
             !weft__section_holds(type) || weft__type_is_hooked(type) != file->is_hooked)
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
    const char *problem = weft__file_type_get(in, &front->world->memory, &file);
    if (problem == NULL)
        result = type_find(front, &file, number);
    else
        result = problem[0] == '\0' ? refused(front) : malformed(front, problem);
    weft__file_type_free(&front->world->memory, &file);
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
    weft__components_free(front->world, ids, count);
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
    *shape = (weft__front_shape){.types = front->shape_types + front->shape_type_count,
                                 .type_count = count};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t type;
        memcpy(&type, types + (size_t)i * 4, 4);
        if (type >= front->header.type_count)
            return malformed(front, "an entity has a component that is not there");
        front->shape_types[front->shape_type_count++] = type;
    }
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
    weft_result result = bytes_read(front);
    if (result != WEFT_OK) return result;
    const weft__section_header *h = &front->header;
    front->types = zeroed(front, h->type_count, sizeof *front->types);
    front->shapes = zeroed(front, h->shape_count, sizeof *front->shapes);
    front->shape_types = zeroed(front, h->front_bytes / 4, sizeof *front->shape_types);
    front->sections = zeroed(front, h->section_count, sizeof *front->sections);
    front->runs = zeroed(front, h->run_count, sizeof *front->runs);
    front->pieces = zeroed(front, h->piece_count, sizeof *front->pieces);
    if (front->types == NULL || front->shapes == NULL || front->shape_types == NULL ||
        front->sections == NULL || front->runs == NULL || front->pieces == NULL)
        return refused(front);
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
    result = front_read(front);
    if (result != WEFT_OK) weft__front_close(front);
    return result;
}

void weft__front_close(weft__file_front *front)
{
    const weft__section_header *h = &front->header;
    weft__file_close(&front->file);
    release(front, front->types, h->type_count, sizeof *front->types);
    release(front, front->shapes, h->shape_count, sizeof *front->shapes);
    release(front, front->shape_types, h->front_bytes / 4, sizeof *front->shape_types);
    release(front, front->sections, h->section_count, sizeof *front->sections);
    release(front, front->runs, h->run_count, sizeof *front->runs);
    release(front, front->pieces, h->piece_count, sizeof *front->pieces);
    release(front, front->bytes, h->front_bytes, 1);
}
