/* SPDX-License-Identifier: MIT */
/* section_table.c: reading the table of a section: rows that others refer to, fields that refer to
 * other sections, blobs, names. The bytes are untrusted: every row and field is checked. See
 * section_table.h. */
#include "section_table.h"
#include "blob_store.h"
#include "blob_type.h"
#include "hash_lanes.h"

#include <stdlib.h>
#include <string.h>

static weft_entity handle_of(const weft__load *load, uint32_t row)
{
    return weft__lent_handle(&load->stream->world->directory,
                             &load->blocks[row / WEFT__BLOCK_SLOTS], row % WEFT__BLOCK_SLOTS);
}

static bool wrong(weft__load *load, const char *what)
{
    return weft__load_fail(load, WEFT_CORRUPT, what);
}

static bool exports_read(weft__load *load, weft__in *in, const weft__front_section *section)
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
    return is_field && type->value_bytes != 0;
}

static int by_section(const void *a, const void *b)
{
    const weft__loaded_late *x = a, *y = b;
    return x->section < y->section ? -1 : x->section > y->section;
}

static bool lates_read(weft__load *load, weft__in *in, const weft__front_section *section)
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

static bool blobs_read(weft__load *load, weft__in *in, uint32_t count)
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
            return weft__load_fail(load, WEFT_TYPE_MISMATCH,
                                   "a blob of a type that is not among blob_types: add it to "
                                   "weft_stream_desc");
        weft_result result = weft_blob_adopt(load->stream->world->blobs, block, bytes, &desc,
                                             &loaded->blobs[loaded->blob_count]);
        if (result != WEFT_OK) return weft__load_fail(load, result, "a blob was refused");
        loaded->blob_count++;
    }
    return true;
}

/* Names stay as they are; they are only looked at. */
static bool names_read(weft__load *load, weft__in *in, const weft__front_section *section)
{
    weft__loaded *loaded = &load->loaded;
    const char *begin = in->at;
    for (uint32_t i = 0; i < section->name_count; i++) {
        uint32_t row = weft__in_u32(in), bytes = weft__in_u32(in);
        const char *text = weft__in_take(in, bytes);
        if (text == NULL || row >= section->rows || bytes == 0 || bytes > 255 ||
            memchr(text, '\0', bytes) != NULL)
            return wrong(load, "a name is wrong");
    }
    if (in->at != in->end) return wrong(load, "its table has another length");
    loaded->names = weft__stream_alloc(load->stream->world, (size_t)(in->at - begin), 1);
    if (loaded->names == NULL)
        return weft__load_fail(load, WEFT_OUT_OF_MEMORY, "no memory for names");
    loaded->name_bytes = (size_t)(in->at - begin);
    memcpy(loaded->names, begin, loaded->name_bytes);
    loaded->name_count = section->name_count;
    return true;
}

static bool room_make(weft__load *load, const weft__front_section *section)
{
    weft_world *world = load->stream->world;
    weft__loaded *loaded = &load->loaded;
    loaded->export_count = section->export_count;
    loaded->late_count = section->late_count;
    loaded->blob_room = section->blob_count;
    loaded->exports = weft__stream_alloc(world, loaded->export_count, sizeof *loaded->exports);
    loaded->lates = weft__stream_alloc(world, loaded->late_count, sizeof *loaded->lates);
    loaded->blobs = weft__stream_alloc(world, loaded->blob_room, sizeof *loaded->blobs);
    return loaded->exports != NULL && loaded->lates != NULL && loaded->blobs != NULL;
}

void weft__section_table_fill(weft__load *load)
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
    char *bytes = weft__stream_alloc(stream->world, section->table_bytes, 1);
    weft__file_source own = stream->front.file;
    weft_result result = WEFT_OK;
    if (bytes == NULL || !room_make(load, section))
        weft__load_fail(load, WEFT_OUT_OF_MEMORY, "no memory for its table");
    else
        result = weft__file_read(&own, bytes, section->table_bytes, section->at);
    if (result != WEFT_OK) weft__load_fail(load, result, own.problem.text);
    if (at_load_rlx(&load->x_failed) == WEFT_OK) { /* relaxed: this thread's own */
        weft__in in = {.at = bytes, .end = bytes + section->table_bytes};
        uint64_t hash = weft__hash_lanes(WEFT__SECTION_SEED, bytes, section->table_bytes);
        if (hash != section->table_hash)
            wrong(load, "the hash of its table differs");
        else if (exports_read(load, &in, section) && lates_read(load, &in, section) &&
                 blobs_read(load, &in, section->blob_count))
            names_read(load, &in, section);
    }
    weft__stream_free(stream->world, bytes, section->table_bytes, 1);
}
