/* SPDX-License-Identifier: MIT */
/* stream_load.c: how a section comes and how it leaves, as the owner does it.
 *
 * Everything that can fail is reserved before threads begin; publishing links what they filled. A
 * chunk whose order version is that of its publication holds exactly the rows that it came with; so
 * an entity block that only such chunks fill can be withdrawn as a whole, which ends all its
 * entities for the world at once.
 *
 * Late references: for each field what was written there last is kept, so that a value of the run
 * is told from one of the file. Found by the section of the target: they are sorted by it. */
#include "stream_load.h"
#include "archetype.h"
#include "entity_value.h"
#include "name_table.h"
#include "query_change.h"
#include "search.h"
#include "text.h"
#include "utf8.h"

#include <stdio.h>
#include <weft/snapshot.h>
#include <weft/type.h>

static const weft_field section_fields[] = {WEFT_FIELD(weft_section, scene),
                                            WEFT_FIELD(weft_section, instance),
                                            WEFT_FIELD(weft_section, section)};
static const weft_type section_type = {.name = "Section",
                                       .size = sizeof(weft_section),
                                       .alignment = _Alignof(weft_section),
                                       .fields = section_fields,
                                       .field_count = 3};
static const weft_field request_fields[] = {WEFT_FIELD(weft_section_request, instance),
                                            WEFT_FIELD(weft_section_request, section),
                                            WEFT_FIELD(weft_section_request, priority)};
static const weft_type request_type = {.name = "SectionRequest",
                                       .size = sizeof(weft_section_request),
                                       .alignment = _Alignof(weft_section_request),
                                       .fields = request_fields,
                                       .field_count = 3};

weft_component weft_component_section(weft_world *world)
{
    if (world == NULL) return WEFT__NO_COMPONENT;
    weft_component found = weft_component_find(world, section_type.name);
    if (found.id != 0) return found;
    return weft_component_create(
        world, &(weft_component_desc){.type = &section_type, .flags = WEFT_SHARED});
}

weft_component weft_component_section_request(weft_world *world)
{
    if (world == NULL) return WEFT__NO_COMPONENT;
    weft_component found = weft_component_find(world, request_type.name);
    if (found.id != 0) return found;
    return weft_component_create(world, &(weft_component_desc){.type = &request_type});
}

/* ---- state ---- */

weft__streams *weft__streams_of(const weft_world *world)
{
    return world == NULL ? NULL : world->front.extensions[WEFT__EXTENSION_STREAMS].data;
}

/* The value that Section has for entities of a section, while they are known to the world; the
 * section holds one reference. Error set: OUT_OF_MEMORY. */
static weft_result section_value_obtain(weft_stream *stream, uint32_t section)
{
    weft_world *world = stream->world;
    weft_section value = {stream->front.header.scene, stream->number, section};
    weft_result result = weft__shared_intern(&world->shared, stream->streams->section.id, &value,
                                             &stream->sections[section].index);
    return result == WEFT_OK ? WEFT_OK : weft__error_memory(world, "weft_stream_step");
}

static void section_value_release(weft_stream *stream, uint32_t section)
{
    weft__stream_section *s = &stream->sections[section];
    weft__shared_release(&stream->world->shared, stream->streams->section.id, s->index, 1);
    s->index = 0;
}

/* A section came or left. */
static void sections_pin(weft_world *world)
{
    world->front.pins[WEFT__PIN_SECTIONS] =
        (weft__pin){weft_world_moment(world), "sections came or left, and streams do not go back: "
                                              "restore a snapshot that was taken since"};
}

static bool is_there(const weft_stream *stream, uint32_t section)
{
    return stream->sections[section].state == WEFT_SECTION_LOADED;
}

/* Where the field is now; NULL: the entity, the component or the element is gone. */
static char *field_of(weft_world *world, const weft__loaded_late *late, weft__chunk **chunk,
                      uint32_t *row)
{
    *chunk = weft__entity_chunk(world, late->source, row);
    if (*chunk == NULL) return NULL;
    const uint32_t number = weft__archetype_find((*chunk)->archetype, late->component);
    if (number == WEFT__NONE) return NULL;
    const weft__type_ref *ref = &(*chunk)->archetype->types[number];
    const weft__type *type = ref->type;
    if (ref->chunk_offset != WEFT__NONE)
        return (*chunk)->chunk_values + ref->chunk_offset + late->offset;
    if (ref->column == 0) return NULL;
    char *value = weft__chunk_value(*chunk, ref->column, *row);
    if ((type->desc.flags & WEFT_BUFFER) == 0) return value + late->offset;
    const weft_buffer *buffer = (const void *)value;
    if (late->element >= buffer->count) return NULL;
    return (char *)weft__buffer_data(buffer) + late->element * type->desc.size + late->offset;
}

/* Writes a handle where the field still is as it was left. */
static void late_write(weft_world *world, weft__loaded_late *late, weft_entity handle)
{
    weft__chunk *chunk;
    uint32_t row;
    char *field = field_of(world, late, &chunk, &row);
    if (field == NULL || memcmp(field, &late->written, sizeof handle) != 0) return;
    memcpy(field, &handle, sizeof handle);
    weft__component_stamp(world, chunk, late->component, row, 1);
    late->written = handle;
}

static void range_write(weft_stream *stream, uint32_t from, uint32_t target, bool is_cleared)
{
    weft__loaded *loaded = &stream->sections[from].loaded;
    const weft_entity *exports = stream->sections[target].loaded.exports;
    for (uint32_t i = WEFT__SEARCH(loaded->lates, loaded->late_count, section, target);
         i < loaded->late_count && loaded->lates[i].section == target; i++) {
        weft__loaded_late *late = &loaded->lates[i];
        late_write(stream->world, late, is_cleared ? WEFT__NO_ENTITY : exports[late->target]);
    }
}

/* References of others to a section that came, or, so that they become null, is about to leave. */
static void lates_of_others(weft_stream *stream, uint32_t section, bool is_cleared)
{
    if (stream->sections[section].loaded.export_count == 0) return;
    for (uint32_t other = 0; other < stream->front.header.section_count; other++)
        if (other != section && is_there(stream, other))
            range_write(stream, other, section, is_cleared);
}

/* A section was published: its references, and those of others to it. */
static void lates_arrive(weft_stream *stream, uint32_t section)
{
    const weft__loaded *own = &stream->sections[section].loaded;
    for (uint32_t i = 0; i < own->late_count;) { /* of each target once */
        uint32_t target = own->lates[i].section;
        if (is_there(stream, target)) range_write(stream, section, target, false);
        while (i < own->late_count && own->lates[i].section == target) i++;
    }
    lates_of_others(stream, section, false);
}

uint64_t weft__lates_waiting(const weft_stream *stream)
{
    uint64_t waiting = 0;
    for (uint32_t s = 0; s < stream->front.header.section_count; s++) {
        const weft__loaded *loaded = &stream->sections[s].loaded;
        for (uint32_t i = 0; i < loaded->late_count && is_there(stream, s); i++)
            waiting += is_there(stream, loaded->lates[i].section) ? 0 : 1;
    }
    return waiting;
}

#define BLOCKS_PER_PIECE 32u

static void leave_run(weft__crew_job *job, uint32_t piece, uint32_t thread)
{
    const weft__leave *leave = (const weft__leave *)(const void *)job;
    (void)thread;
    if (piece == 0) return; /* others may begin */
    piece--;
    if (piece < leave->chunk_count) {
        weft__private_drop(leave->stream->world, leave->chunks[piece]);
        return;
    }
    uint32_t first = (piece - leave->chunk_count) * BLOCKS_PER_PIECE;
    for (uint32_t i = first; i < leave->block_count && i < first + BLOCKS_PER_PIECE; i++)
        weft__lent_kill(leave->blocks[i].block);
}

/* An empty one with room for so many chunks and blocks; NULL: no memory. */
static weft__leave *leave_make(weft_stream *stream, uint32_t section, uint32_t chunks,
                               uint32_t blocks)
{
    weft__pile pile = weft__stream_pile(stream->world);
    weft__leave *leave = weft__pile_take(&pile, 1, sizeof *leave);
    if (leave == NULL) return NULL;
    leave->stream = stream;
    leave->section = section;
    leave->chunks = weft__pile_take(&pile, chunks, sizeof *leave->chunks);
    leave->blocks = weft__pile_take(&pile, blocks, sizeof *leave->blocks);
    leave->intact = weft__pile_take(&pile, blocks / 64 + 1, sizeof *leave->intact);
    leave->pile = pile;
    if (!pile.is_refused) return leave;
    weft__pile_free(&pile);
    return NULL;
}

/* Hands it to the crew: the section is LEAVING. The books of what is lent count it already. */
static void leave_push(weft__leave *leave)
{
    weft__stream_section *s = &leave->stream->sections[leave->section];
    sections_pin(leave->stream->world);
    s->state = WEFT_SECTION_LEAVING;
    s->leave = leave;
    leave->job.run = leave_run;
    leave->job.piece_count =
        1 + leave->chunk_count + (leave->block_count + BLOCKS_PER_PIECE - 1) / BLOCKS_PER_PIECE;
    weft__crew_push(&leave->stream->streams->crew, &leave->job);
}

/* ---- the rest ---- */

/* Chunks of an archetype with this value of Section: their rows end here. */
static weft_result archetype_clear(weft_stream *stream, weft__archetype *archetype, uint32_t index)
{
    uint32_t type = weft__archetype_find(archetype, stream->streams->section.id);
    uint32_t shared = archetype->types[type].shared;
    weft_result result = WEFT_OK;
    for (uint32_t c = archetype->chunk_count; c-- > 0 && result == WEFT_OK;) {
        if (c >= archetype->chunk_count) continue; /* another one went with it */
        weft__chunk *chunk = archetype->chunks[c];
        if (chunk->tuple->values[shared] == index)
            result = weft__chunk_destroy_rows(stream->world, chunk);
    }
    return result;
}

/* Ends all rows with the section that are left: came later, or are not as they came. */
static weft_result rest_clear(weft_stream *stream, uint32_t section)
{
    weft_world *world = stream->world;
    uint32_t component = stream->streams->section.id, index = stream->sections[section].index;
    if (weft__shared_references(&world->shared, component, index) <= 1) return WEFT_OK;
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < world->archetypes.count && result == WEFT_OK; i++) {
        weft__archetype *archetype = world->archetypes.at[i];
        if (archetype->chunk_count != 0 && (archetype->flags & WEFT__IS_RESIDUE) == 0 &&
            weft__archetype_find(archetype, component) != WEFT__NONE)
            result = archetype_clear(stream, archetype, index);
    }
    return result;
}

weft_result weft__leave_end(weft__leave *leave)
{
    weft_stream *stream = leave->stream;
    weft__stream_section *s = &stream->sections[leave->section];
    weft_result result = rest_clear(stream, leave->section);
    if (result != WEFT_OK) return result;
    for (uint32_t i = 0; i < leave->block_count; i++) {
        weft__directory_put_back(&stream->world->directory, &leave->blocks[i]);
        weft__column_maps_block(stream->world, leave->blocks[i].index);
    }
    section_value_release(stream, leave->section);
    s->leave = NULL;
    s->state = s->result == WEFT_OK ? WEFT_SECTION_ABSENT : WEFT_SECTION_FAILED;
    stream->streams->bytes -= s->bytes;
    stream->world->lent.loads--;
    weft__pile pile = leave->pile; /* `leave` is in it */
    weft__pile_free(&pile);
    return WEFT_OK;
}

/* ---- what is as it came ---- */

/* The chunk of a record if it holds exactly its rows; else NULL. One that a restore made again is
 * the owner's to free. */
static weft__chunk *chunk_as_it_came(const weft_world *world, const weft__loaded_chunk *known)
{
    weft__chunk *chunk = known->id < world->chunks.end ? world->chunks.at[known->id] : NULL;
    bool is_same = chunk != NULL && chunk->is_private && chunk->serial == known->serial &&
                   chunk->order_version == known->version && chunk->count == known->rows &&
                   (chunk->archetype->flags & WEFT__HAS_CLEANUP) == 0;
    return is_same ? chunk : NULL;
}

/* A section that leaves, on the stack. */
typedef struct leaving {
    weft_world *world;
    const weft__loaded *loaded;
    uint32_t rows;    /* that it came with */
    uint64_t *intact; /* bit per block */
} leaving;

static bool is_intact(const leaving *l, uint32_t block)
{
    return (l->intact[block / 64] >> block % 64 & 1) != 0;
}

/* Blocks in which nothing lives but rows that are as they came. */
static void blocks_look(const leaving *l)
{
    const weft__directory *directory = &l->world->directory;
    for (uint32_t b = 0; b < l->loaded->block_count; b++) {
        const weft__entity_block *block =
            weft__directory_block(directory, l->loaded->blocks[b] * WEFT__BLOCK_SLOTS);
        uint32_t left = l->rows - b * WEFT__BLOCK_SLOTS;
        uint32_t own = left < WEFT__BLOCK_SLOTS ? left : WEFT__BLOCK_SLOTS;
        if (at_load_rlx(&block->x_count) == own) /* relaxed: idle */
            l->intact[b / 64] |= UINT64_C(1) << b % 64;
    }
    for (uint32_t i = 0; i < l->loaded->chunk_count; i++) {
        const weft__loaded_chunk *known = &l->loaded->chunks[i];
        if (known->rows == 0 || chunk_as_it_came(l->world, known) != NULL) continue;
        uint32_t last = (known->first + known->rows - 1) / WEFT__BLOCK_SLOTS;
        for (uint32_t b = known->first / WEFT__BLOCK_SLOTS; b <= last; b++)
            l->intact[b / 64] &= ~(UINT64_C(1) << b % 64);
    }
}

/* Hands over what is as it came. Cannot fail. */
static void chunks_withdraw(const leaving *l, weft__leave *leave)
{
    const weft__loaded *loaded = l->loaded;
    for (uint32_t i = 0; i < loaded->chunk_count; i++) {
        weft__chunk *chunk = chunk_as_it_came(l->world, &loaded->chunks[i]);
        if (chunk == NULL) continue;
        weft__sparse_forget(l->world, chunk, NULL, 0, chunk->count);
        /* Ends the entities of a chunk whose blocks stay. */
        const weft_entity *entities = weft__chunk_entities(chunk);
        for (uint32_t done = 0; done < chunk->count;) {
            uint32_t row = loaded->chunks[i].first + done,
                     count = WEFT__BLOCK_SLOTS - row % WEFT__BLOCK_SLOTS;
            if (count > chunk->count - done) count = chunk->count - done;
            if (!is_intact(l, row / WEFT__BLOCK_SLOTS))
                weft__directory_free_many_owner(&l->world->directory, entities + done, count);
            done += count;
        }
        weft__chunk_detach(l->world, chunk);
        leave->chunks[leave->chunk_count++] = chunk;
    }
    for (uint32_t b = 0; b < loaded->block_count; b++) {
        if (!is_intact(l, b)) {
            weft__directory_leave(&l->world->directory, loaded->blocks[b]);
            continue;
        }
        leave->blocks[leave->block_count++] =
            weft__directory_withdraw(&l->world->directory, loaded->blocks[b]);
        weft__column_maps_block(l->world, loaded->blocks[b]);
    }
}

/* Blobs that entities elsewhere may still refer to stay in the store. */
static void blobs_leave(const leaving *l, const weft__leave *leave)
{
    if (leave->chunk_count != l->loaded->chunk_count) return;
    for (uint32_t i = 0; i < l->loaded->blob_count; i++)
        weft_blob_release(l->world->blobs, l->loaded->blobs[i]);
}

weft_result weft__leave_begin(weft_stream *stream, uint32_t section)
{
    weft__stream_section *s = &stream->sections[section];
    weft_world *world = stream->world;
    leaving l = {
        .world = world, .loaded = &s->loaded, .rows = weft__section_of(stream, section)->rows};
    weft__leave *leave = leave_make(stream, section, s->loaded.chunk_count, s->loaded.block_count);
    if (leave == NULL) return weft__error_memory(world, "weft_stream_step");
    l.intact = leave->intact;
    lates_of_others(stream, section, true);
    blocks_look(&l);
    chunks_withdraw(&l, leave);
    blobs_leave(&l, leave);
    weft__pile_free(&s->loaded.pile);
    s->loaded = (weft__loaded){0};
    world->lent.loads++;
    stream->streams->stats.unloads++;
    stream->streams->stats.loaded--;
    leave_push(leave);
    return rest_clear(stream, section);
}

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
static weft__tuple *tuple_make(weft__load *load, const weft__front_run *run)
{
    weft_stream *stream = load->stream;
    weft_world *world = stream->world;
    const weft__front_shape *shape = &stream->front.shapes[run->shape];
    weft__archetype *archetype = shape->archetype;
    uint32_t *values = weft__pile_take(&load->pile, archetype->shared_count, sizeof *values);
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
    values[own->shared] = stream->sections[load->section].index;
    weft__shared_acquire(&world->shared, own->component, values[own->shared], 1);
    weft__tuple *tuple = is_made ? weft__tuple_obtain(world, archetype, values) : NULL;
    if (!is_made) weft__error_memory(world, "weft_stream_step");
    for (uint32_t i = 0; i < archetype->shared_count; i++)
        weft__shared_release(&world->shared, archetype->shared_components[i], values[i], 1);
    return tuple;
}

static weft_result tuples_hold(weft__load *load)
{
    const weft__front_section *s = weft__section_of(load->stream, load->section);
    for (uint32_t r = 0; r < s->run_count; r++) {
        const weft__front_run *run = &load->stream->front.runs[s->first_run + r];
        load->tuples[r] = tuple_make(load, run);
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

/* NULL: no memory. */
static weft__load *load_make(weft_stream *stream, uint32_t section)
{
    const weft__front_section *s = weft__section_of(stream, section);
    uint32_t blocks = (uint32_t)(((uint64_t)s->rows + WEFT__BLOCK_SLOTS - 1) / WEFT__BLOCK_SLOTS);
    weft__pile pile = weft__stream_pile(stream->world), kept = pile;
    weft__load *load = weft__pile_take(&pile, 1, sizeof *load);
    if (load == NULL) return NULL;
    load->stream = stream;
    load->section = section;
    load->tuples = weft__pile_take(&pile, s->run_count, sizeof *load->tuples);
    load->locations = weft__pile_take(&pile, s->piece_count, sizeof *load->locations);
    load->blocks = weft__pile_take(&pile, blocks, sizeof *load->blocks);
    load->handles = weft__pile_take(&pile, blocks, sizeof *load->handles);
    load->chunks = weft__pile_take(&pile, s->piece_count, sizeof *load->chunks);
    load->loaded.blocks = weft__pile_take(&kept, blocks, sizeof(uint32_t));
    load->loaded.chunks = weft__pile_take(&kept, s->piece_count, sizeof *load->loaded.chunks);
    load->loaded.block_count = blocks;
    load->loaded.chunk_count = s->piece_count;
    load->loaded.pile = kept;
    load->pile = pile;
    if (!pile.is_refused && !kept.is_refused) return load;
    weft__pile_free(&kept);
    weft__pile_free(&pile);
    return NULL;
}

/* Frees the load itself. */
static void load_free(weft__load *load)
{
    const weft__front_section *s = weft__section_of(load->stream, load->section);
    for (uint32_t r = 0; r < s->run_count; r++)
        if (load->tuples[r] != NULL) weft__tuple_release(load->stream->world, load->tuples[r]);
    weft__pile_free(&load->loaded.pile);
    weft__pile pile = load->pile; /* `load` is in it */
    weft__pile_free(&pile);
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
    for (uint32_t i = s->piece_count; i-- > 0;)
        if (load->locations[i] != 0)
            weft__berths_take_back(
                stream->world, load->locations[i],
                piece_capacity(stream, &stream->front.pieces[s->first_piece + i]));
}

/* Frees a load and, unless it was published, all that it reserved and read, at once. The crew does
 * not have it. */
static void load_end(weft__load *load)
{
    weft_world *world = load->stream->world;
    berths_take_back(load);
    for (uint32_t i = 0; i < load->loaded.chunk_count; i++)
        if (load->chunks[i] != NULL) weft__private_drop(world, load->chunks[i]);
    for (uint32_t i = 0; i < load->loaded.block_count; i++) {
        if (load->blocks[i].block == NULL) continue;
        weft__lent_kill(load->blocks[i].block);
        weft__directory_put_back(&world->directory, &load->blocks[i]);
        weft__column_maps_block(world, load->blocks[i].index);
    }
    blobs_release(world, &load->loaded);
    load_free(load);
}

weft_result weft__load_begin(weft_stream *stream, uint32_t section, uint64_t due)
{
    weft_world *world = stream->world;
    if (weft__section_of(stream, section)->blob_count != 0 && weft_world_blobs(world) == NULL)
        return world->error->code;
    weft_result result = section_value_obtain(stream, section);
    if (result != WEFT_OK) return result;
    weft__load *load = load_make(stream, section);
    result = load == NULL ? weft__error_memory(world, "weft_stream_step") : tuples_hold(load);
    if (result == WEFT_OK) result = places_lend(load);
    if (result != WEFT_OK) {
        if (load != NULL) load_end(load);
        section_value_release(stream, section);
        return result;
    }
    load->due = due;
    if (section != 0) {
        load->exports = stream->sections[0].loaded.exports;
        load->export_count = stream->sections[0].loaded.export_count;
    }
    load->job.run = weft__section_fill;
    load->job.piece_count = 1 + weft__section_of(stream, section)->piece_count;
    weft__stream_section *s = &stream->sections[load->section];
    s->state = WEFT_SECTION_READING;
    s->load = load;
    stream->streams->bytes += s->bytes;
    stream->world->lent.loads++;
    weft__crew_push(&stream->streams->crew, &load->job);
    return WEFT_OK;
}

/* ---- publishing ---- */

/* Everything that can fail. */
static weft_result links_reserve(weft__load *load)
{
    weft_world *world = load->stream->world;
    uint32_t count = load->loaded.chunk_count;
    uint32_t names = weft__section_of(load->stream, load->section)->name_count;
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
    weft__in in = load->names;
    uint32_t count = weft__section_of(load->stream, load->section)->name_count;
    for (uint32_t i = 0; i < count; i++) {
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
    load->loaded = (weft__loaded){0};
    load_free(load);
    s->load = NULL;
    s->state = WEFT_SECTION_LOADED;
    stream->world->lent.loads--;
    sections_pin(stream->world);
    weft_stream_stats *stats = &stream->streams->stats;
    stats->loads++;
    stats->loaded++;
    stats->rows_loaded += weft__section_of(stream, section)->rows;
    stats->bytes_read += weft__section_of(stream, section)->bytes;
    lates_arrive(stream, section);
    return WEFT_OK;
}

weft_result weft__load_abandon(weft_stream *stream, uint32_t section)
{
    weft__stream_section *s = &stream->sections[section];
    weft__load *load = s->load;
    weft_world *world = stream->world;
    uint32_t chunks = load->loaded.chunk_count, blocks = load->loaded.block_count;
    weft__leave *leave = leave_make(stream, section, chunks, blocks);
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
    leave_push(leave); /* one book entry of the load goes on as that of the leave */
    return WEFT_OK;
}
