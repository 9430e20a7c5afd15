/* SPDX-License-Identifier: MIT */
/* stream_load.c: what the owner does of a load: everything that can fail is reserved before threads
 * begin; publishing links what they filled. See stream_load.h. */
#include "stream_load.h"
#include "archetype_order.h"
#include "chunk.h"
#include "column_map.h"
#include "error.h"
#include "format.h"
#include "name_table.h"
#include "private_chunk.h"
#include "section_fill.h"
#include "stream_late.h"
#include "stream_leave.h"
#include "structure.h"
#include "tuple.h"
#include "utf8.h"

#include <string.h>

/* ---- what is reserved ---- */

static uint32_t piece_class(const weft_stream *stream, const weft__front_piece *piece)
{
    const weft__front_run *run = &stream->front.runs[piece->run];
    const weft__format *format = stream->front.shapes[run->shape].archetype->format;
    return weft__private_class(format, piece->rows);
}

static uint32_t piece_capacity(const weft_stream *stream, const weft__front_piece *piece)
{
    const weft__front_run *run = &stream->front.runs[piece->run];
    return weft__format_capacity(stream->front.shapes[run->shape].archetype->format,
                                 piece_class(stream, piece));
}

uint64_t weft__section_memory(const weft_stream *stream, uint32_t section)
{
    const weft__front_section *s = weft__section_of(stream, section);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->piece_count; i++) {
        uint32_t size_class = piece_class(stream, &stream->front.pieces[s->first_piece + i]);
        bytes += WEFT__UNIT_BYTES << (size_class - WEFT__UNIT_CLASS);
    }
    return bytes;
}

/* The tuple of a run: the values of the file, and the section. NULL: error set. */
static weft__tuple *tuple_make(weft_stream *stream, const weft__front_run *run, uint32_t section)
{
    weft_world *world = stream->world;
    const weft__front_shape *shape = &stream->front.shapes[run->shape];
    weft__archetype *archetype = shape->archetype;
    uint32_t *values = weft__stream_alloc(world, archetype->shared_count, sizeof *values);
    if (values == NULL) return weft__error_memory(world, "weft_stream_step"), NULL;
    weft__in in = {.at = run->shared,
                   .end = stream->front.bytes + stream->front.header.front_bytes};
    bool is_made = true;
    for (uint32_t i = 0; i < shape->type_count && is_made; i++) {
        const weft__type *type = stream->front.types[shape->types[i]];
        if ((type->desc.flags & WEFT_SHARED) == 0 || weft__in_u8(&in) == 0) continue;
        _Alignas(64) char few[256];
        char *value = type->desc.size <= sizeof few
                          ? few
                          : weft__alloc(&world->memory, WEFT__MEMORY_OTHER, 1, type->desc.size, 64);
        const weft__type_ref *ref = &archetype->types[weft__archetype_find(archetype, type->id)];
        if (value != NULL) weft__in_get(&in, value, type->desc.size);
        is_made = value != NULL && weft__shared_intern(&world->shared, type->id, value,
                                                       &values[ref->shared]) == WEFT_OK;
        if (value != few)
            weft__free(&world->memory, WEFT__MEMORY_OTHER, value, 1, type->desc.size, 64);
    }
    const weft__type_ref *own =
        &archetype->types[weft__archetype_find(archetype, stream->streams->section.id)];
    values[own->shared] = stream->sections[section].index;
    weft__shared_acquire(&world->shared, own->component, values[own->shared], 1);
    weft__tuple *tuple = is_made ? weft__tuple_obtain(world, archetype, values) : NULL;
    if (!is_made) weft__error_memory(world, "weft_stream_step");
    for (uint32_t i = 0; i < archetype->shared_count; i++)
        weft__shared_release(&world->shared, archetype->shared_components[i], values[i], 1);
    weft__stream_free(world, values, archetype->shared_count, sizeof *values);
    return tuple;
}

static weft_result tuples_hold(weft__load *load)
{
    const weft__front_section *s = weft__section_of(load->stream, load->section);
    for (uint32_t r = 0; r < s->run_count; r++) {
        const weft__front_run *run = &load->stream->front.runs[s->first_run + r];
        load->tuples[r] = tuple_make(load->stream, run, load->section);
        if (load->tuples[r] == NULL) return load->stream->world->error->code;
    }
    return WEFT_OK;
}

static weft_result places_lend(weft__load *load)
{
    weft_stream *stream = load->stream;
    weft_world *world = stream->world;
    const weft__front_section *s = weft__section_of(stream, load->section);
    uint32_t count = load->loaded.block_count;
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < s->piece_count && result == WEFT_OK; i++)
        result = weft__berths_lend(
            world, piece_capacity(stream, &stream->front.pieces[s->first_piece + i]),
            &load->locations[i]);
    if (result == WEFT_OK && count != 0) {
        result = weft__directory_lend(&world->directory, count, load->blocks);
        if (result != WEFT_OK) load->loaded.block_count = 0;
    }
    for (uint32_t i = 0; i < load->loaded.block_count && result == WEFT_OK; i++)
        weft__column_maps_block(world, load->blocks[i].index);
    return result == WEFT_OK ? WEFT_OK : weft__error_limit(world, result, "entities of a section");
}

/* ---- life ---- */

static weft__load *load_make(weft_stream *stream, uint32_t section)
{
    weft_world *world = stream->world;
    const weft__front_section *s = weft__section_of(stream, section);
    weft__load *load = weft__stream_alloc(world, 1, sizeof *load);
    if (load == NULL) return NULL;
    load->stream = stream;
    load->section = section;
    uint32_t blocks = (uint32_t)(((uint64_t)s->rows + WEFT__BLOCK_SLOTS - 1) / WEFT__BLOCK_SLOTS);
    load->tuples = weft__stream_alloc(world, s->run_count, sizeof *load->tuples);
    load->locations = weft__stream_alloc(world, s->piece_count, sizeof *load->locations);
    load->blocks = weft__stream_alloc(world, blocks, sizeof *load->blocks);
    load->handles = weft__stream_alloc(world, blocks, sizeof *load->handles);
    load->chunks = weft__stream_alloc(world, s->piece_count, sizeof *load->chunks);
    load->loaded.blocks = weft__stream_alloc(world, blocks, sizeof(uint32_t));
    load->loaded.chunks = weft__stream_alloc(world, s->piece_count, sizeof *load->loaded.chunks);
    load->loaded.block_count = blocks;
    load->loaded.chunk_count = s->piece_count;
    return load;
}

static bool load_is_made(const weft__load *load)
{
    return load->tuples != NULL && load->locations != NULL && load->blocks != NULL &&
           load->handles != NULL && load->chunks != NULL && load->loaded.blocks != NULL &&
           load->loaded.chunks != NULL;
}

/* Frees the load itself. */
static void load_free(weft__load *load)
{
    weft_world *world = load->stream->world;
    const weft__front_section *s = weft__section_of(load->stream, load->section);
    uint32_t blocks = (uint32_t)(((uint64_t)s->rows + WEFT__BLOCK_SLOTS - 1) / WEFT__BLOCK_SLOTS);
    for (uint32_t r = 0; r < s->run_count && load->tuples != NULL; r++)
        if (load->tuples[r] != NULL) weft__tuple_release(world, load->tuples[r]);
    weft__stream_free(world, load->tuples, s->run_count, sizeof *load->tuples);
    weft__stream_free(world, load->locations, s->piece_count, sizeof *load->locations);
    weft__stream_free(world, load->blocks, blocks, sizeof *load->blocks);
    weft__stream_free(world, load->handles, blocks, sizeof *load->handles);
    weft__stream_free(world, load->chunks, s->piece_count, sizeof *load->chunks);
    if (load->loaded.blocks != NULL) load->loaded.block_count = blocks;
    weft__loaded_free(world, &load->loaded);
    weft__stream_free(world, load, 1, sizeof *load);
}

static void blobs_release(weft_world *world, const weft__loaded *loaded)
{
    for (uint32_t i = 0; i < loaded->blob_count; i++)
        weft_blob_release(world->blobs, loaded->blobs[i]);
}

static void berths_take_back(weft__load *load)
{
    const weft_stream *stream = load->stream;
    const weft__front_section *s = weft__section_of(stream, load->section);
    for (uint32_t i = s->piece_count; i-- > 0 && load->locations != NULL;)
        if (load->locations[i] != 0)
            weft__berths_take_back(
                stream->world, load->locations[i],
                piece_capacity(stream, &stream->front.pieces[s->first_piece + i]));
}

void weft__load_end(weft__load *load)
{
    weft_world *world = load->stream->world;
    berths_take_back(load);
    for (uint32_t i = 0; i < load->loaded.chunk_count && load->chunks != NULL; i++)
        if (load->chunks[i] != NULL) weft__private_drop(world, load->chunks[i]);
    for (uint32_t i = 0; i < load->loaded.block_count && load->blocks != NULL; i++) {
        if (load->blocks[i].block == NULL) continue;
        weft__lent_kill(load->blocks[i].block);
        weft__directory_put_back(&world->directory, &load->blocks[i]);
        weft__column_maps_block(world, load->blocks[i].index);
    }
    blobs_release(world, &load->loaded);
    load_free(load);
}

static void section_begun(weft_stream *stream, weft__load *load)
{
    weft__stream_section *s = &stream->sections[load->section];
    s->state = WEFT_SECTION_READING;
    s->load = load;
    stream->streams->bytes += s->bytes;
    stream->world->lent.loads++;
}

weft_result weft__load_begin(weft_stream *stream, uint32_t section, uint64_t due)
{
    weft_world *world = stream->world;
    if (weft__section_of(stream, section)->blob_count != 0 && weft_world_blobs(world) == NULL)
        return world->error->code;
    weft_result result = weft__section_value_obtain(stream, section);
    if (result != WEFT_OK) return result;
    weft__load *load = load_make(stream, section);
    result = load == NULL || !load_is_made(load) ? weft__error_memory(world, "weft_stream_step")
                                                 : tuples_hold(load);
    if (result == WEFT_OK) result = places_lend(load);
    if (result != WEFT_OK) {
        if (load != NULL) weft__load_end(load);
        weft__section_value_release(stream, section);
        return result;
    }
    load->due = due;
    if (section != 0) {
        load->exports = stream->sections[0].loaded.exports;
        load->export_count = stream->sections[0].loaded.export_count;
    }
    load->job.run = weft__section_fill;
    load->job.piece_count = 1 + weft__section_of(stream, section)->piece_count;
    section_begun(stream, load);
    weft__crew_push(&stream->streams->crew, &load->job);
    return WEFT_OK;
}

/* ---- publishing ---- */

/* Everything that can fail. */
static weft_result links_reserve(weft__load *load)
{
    weft_world *world = load->stream->world;
    uint32_t count = load->loaded.chunk_count, names = load->loaded.name_count;
    weft_result result = weft__chunk_ids_reserve(world, count);
    if (result == WEFT_OK && names != 0) result = weft__names_reserve(world, names, names);
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++)
        result = weft__archetype_enter(world, load->chunks[i]->archetype);
    for (uint32_t i = 0; i < count; i++) load->chunks[i]->archetype->arriving++;
    for (uint32_t i = 0; i < count; i++) {
        weft__archetype *archetype = load->chunks[i]->archetype;
        if (result == WEFT_OK && !weft__chunk_list_reserve(world, archetype, archetype->arriving))
            result = WEFT_OUT_OF_MEMORY;
        archetype->arriving = 0;
    }
    return result == WEFT_OK ? WEFT_OK
                             : weft__error_limit(world, result, "chunks or names of a section");
}

static void chunk_publish(weft__load *load, uint32_t piece)
{
    weft_world *world = load->stream->world;
    weft__chunk *chunk = load->chunks[piece];
    const weft__front_section *s = weft__section_of(load->stream, load->section);
    weft__chunk_link(world, chunk);
    weft__chunk_count_rows(world, chunk, chunk->count);
    for (uint32_t type = 0; type < chunk->archetype->type_count; type++)
        weft__rows_stamp(chunk, type, 0, chunk->count, world->front.version);
    load->loaded.chunks[piece] =
        (weft__loaded_chunk){.id = chunk->id,
                             .version = chunk->order_version,
                             .serial = chunk->serial,
                             .first = load->stream->front.pieces[s->first_piece + piece].first,
                             .rows = chunk->count};
    load->chunks[piece] = NULL;
    load->locations[piece] = 0;
}

static void names_give(weft_world *world, const weft__load *load)
{
    weft__in in = {.at = load->loaded.names, .end = load->loaded.names + load->loaded.name_bytes};
    for (uint32_t i = 0; i < load->loaded.name_count; i++) {
        char name[256] = {0};
        uint32_t row = weft__in_u32(&in), bytes = weft__in_u32(&in);
        weft__in_get(&in, name, bytes);
        weft_entity entity = weft__lent_handle(
            &world->directory, &load->blocks[row / WEFT__BLOCK_SLOTS], row % WEFT__BLOCK_SLOTS);
        if (weft__name_fits(name, 255))                /* it may be one of an older version */
            weft_entity_set_name(world, entity, name); /* there is room */
    }
}

static void blocks_publish(weft__load *load)
{
    weft_world *world = load->stream->world;
    for (uint32_t i = 0; i < load->loaded.block_count; i++) {
        weft__directory_put_back(&world->directory, &load->blocks[i]);
        weft__column_maps_block(world, load->blocks[i].index);
        load->loaded.blocks[i] = load->blocks[i].index;
    }
}

/* Rows that come or move later are told apart by their version. */
weft_result weft__load_publish(weft_stream *stream, uint32_t section)
{
    weft__stream_section *s = &stream->sections[section];
    weft__load *load = s->load;
    weft_result result = links_reserve(load);
    if (result != WEFT_OK) return result;
    for (uint32_t i = 0; i < load->loaded.chunk_count; i++) chunk_publish(load, i);
    blocks_publish(load);
    names_give(stream->world, load);
    weft__version_advance(stream->world);
    s->loaded = load->loaded;
    weft__stream_free(stream->world, s->loaded.names, s->loaded.name_bytes, 1);
    s->loaded.names = NULL;
    load->loaded = (weft__loaded){0};
    load_free(load);
    s->load = NULL;
    s->state = WEFT_SECTION_LOADED;
    stream->world->lent.loads--;
    weft__sections_pin(stream->world);
    weft_stream_stats *stats = &stream->streams->stats;
    stats->loads++;
    stats->loaded++;
    stats->rows_loaded += weft__section_of(stream, section)->rows;
    stats->bytes_read += weft__section_of(stream, section)->bytes;
    weft__lates_arrive(stream, section);
    return WEFT_OK;
}

weft_result weft__load_abandon(weft_stream *stream, uint32_t section)
{
    weft__stream_section *s = &stream->sections[section];
    weft__load *load = s->load;
    weft_world *world = stream->world;
    uint32_t chunks = load->loaded.chunk_count, blocks = load->loaded.block_count;
    weft__leave *leave = weft__leave_make(stream, section, chunks, blocks);
    if (leave == NULL) return weft__error_memory(world, "weft_stream_step");
    for (uint32_t i = 0; i < chunks; i++) {
        if (load->chunks[i] != NULL) leave->chunks[leave->chunk_count++] = load->chunks[i];
        load->chunks[i] = NULL;
    }
    memcpy(leave->blocks, load->blocks, blocks * sizeof *leave->blocks);
    leave->block_count = blocks;
    berths_take_back(load);
    blobs_release(world, &load->loaded);
    load_free(load);
    s->load = NULL;
    weft__leave_push(leave); /* one book entry of the load goes on as that of the leave */
    return WEFT_OK;
}
