/* SPDX-License-Identifier: MIT */
/* snapshot.c: taking and destroying snapshots. See snapshot_state.h. Cost: the metadata of all
 * chunks (one pointer per column and slice), and the bytes of what changed since `previous`. Where
 * rows came, went or moved in a chunk, its entities are compared slice by slice. */
#include "chunk_pair.h"
#include "directory_dead.h"
#include "error.h"
#include "format.h"
#include "lent.h"
#include "snapshot_check.h"
#include "version_renewal.h"

#include <string.h>

#define CATEGORY WEFT__MEMORY_SNAPSHOTS

/* ---- blocks ---- */

static void block_drop(weft_world *world, weft__snapshot_block *block)
{
    if (block == NULL || --block->references != 0) return;
    if (block->type != NULL && block->type->needs_destruct)
        weft__type_destruct(&world->memory, block->type, block->data, block->count);
    weft__free(&world->memory, CATEGORY, block, 1, sizeof *block + block->bytes, 64);
}

static size_t column_bytes(uint32_t slice_count)
{
    return sizeof(weft__snapshot_column) + slice_count * sizeof(weft__snapshot_block *);
}

static void column_drop(weft_world *world, weft__snapshot_column *column)
{
    if (column == NULL || --column->references != 0) return;
    for (uint32_t i = 0; i < column->slice_count; i++) block_drop(world, column->blocks[i]);
    weft__free(&world->memory, CATEGORY, column, 1, column_bytes(column->slice_count), 8);
}

/* Copies rows of a column; NULL: out of memory. */
static weft__snapshot_block *block_make(weft_world *world, const weft__chunk *chunk,
                                        uint32_t column, uint32_t row, uint32_t count)
{
    uint32_t row_bytes = chunk->layout->columns[column].bytes, bytes = row_bytes * count;
    const weft__type *type = chunk->archetype->format->types[column];
    weft__snapshot_block *block =
        weft__alloc(&world->memory, CATEGORY, 1, sizeof *block + bytes, 64);
    if (block == NULL) return NULL;
    *block = (weft__snapshot_block){1, bytes, count, type};
    const char *from = weft__chunk_value(chunk, column, row);
    if (type == NULL || !type->needs_copy) {
        memcpy(block->data, from, bytes);
        return block;
    }
    for (block->count = 0; block->count < count; block->count++)
        if (weft__type_replicate(&world->memory, type,
                                 block->data + (size_t)block->count * row_bytes,
                                 from + (size_t)block->count * row_bytes, 1) != WEFT_OK) {
            block_drop(world, block);
            return NULL;
        }
    return block;
}

/* ---- chunks ---- */

static bool chunk_copy_side(weft_world *world, weft__snapshot_chunk *saved,
                            const weft__chunk *chunk)
{
    const weft__tuple *tuple = chunk->tuple;
    uint32_t shared = chunk->archetype->shared_count;
    *saved = (weft__snapshot_chunk){.serial = chunk->serial,
                                    .id = chunk->id,
                                    .size_class = chunk->layout->size_class,
                                    .count = chunk->count,
                                    .slice_count = weft__chunk_slices(chunk),
                                    .order_version = chunk->order_version};
    saved->columns = weft__alloc_zeroed(&world->memory, CATEGORY, chunk->layout->column_count,
                                        sizeof saved->columns[0], 8);
    if (saved->columns == NULL) return false;
    if (chunk->side_bytes != 0) {
        saved->side = weft__alloc(&world->memory, CATEGORY, 1, chunk->side_bytes, 64);
        if (saved->side == NULL) return false;
        saved->side_bytes = chunk->side_bytes;
        memcpy(saved->side, weft__chunk_side(chunk), chunk->side_bytes);
    }
    if (shared == 0) return true;
    saved->values = weft__alloc(&world->memory, CATEGORY, shared, sizeof(uint32_t), 4);
    if (saved->values == NULL) return false;
    saved->value_count = shared;
    for (uint32_t i = 0; i < shared; i++) {
        saved->values[i] = tuple->values[i];
        weft__shared_keep(&world->shared, chunk->archetype->shared_components[i], saved->values[i]);
    }
    return true;
}

/* Whether a slice of a column is shared with the previous snapshot; its entities come first, and
 * are shared when they are the same. */
static bool is_shared(const weft__chunk_pair *pair, const weft__snapshot_chunk *saved,
                      uint32_t column, uint32_t type, uint32_t slice)
{
    const weft__snapshot_chunk *old = pair->saved;
    if (old == NULL) return false;
    if (column == 0) return weft__slice_has_same_rows(pair, slice);
    if (pair->has_same_rows) return weft__slice_has_same_values(pair, type, slice);
    return pair->is_comparable && slice < old->slice_count &&
           saved->columns[0]->blocks[slice] == old->columns[0]->blocks[slice] &&
           weft__slice_has_same_values(pair, type, slice);
}

static bool chunk_copy_column(weft_world *world, weft__snapshot_chunk *saved,
                              const weft__chunk_pair *pair, uint32_t column, uint32_t type)
{
    const weft__chunk *chunk = pair->chunk;
    uint32_t shift = chunk->layout->slice_shift, count = saved->slice_count;
    if (pair->has_same_rows && (column == 0 || weft__chunk_has_same_values(pair, type))) {
        saved->columns[column] = pair->saved->columns[column];
        saved->columns[column]->references++;
        return true;
    }
    weft__snapshot_column *fresh =
        weft__alloc_zeroed(&world->memory, CATEGORY, 1, column_bytes(count), 8);
    if (fresh == NULL) return false;
    fresh->references = 1;
    fresh->slice_count = count;
    saved->columns[column] = fresh;
    for (uint32_t slice = 0; slice < count; slice++) {
        if (is_shared(pair, saved, column, type, slice)) {
            fresh->blocks[slice] = pair->saved->columns[column]->blocks[slice];
            fresh->blocks[slice]->references++;
            continue;
        }
        fresh->blocks[slice] = block_make(world, chunk, column, slice << shift,
                                          weft__slice_rows(chunk, chunk->count, slice));
        if (fresh->blocks[slice] == NULL) return false;
    }
    return true;
}

static bool chunk_copy(weft_world *world, weft__snapshot_chunk *saved, const weft__chunk_pair *pair)
{
    const weft__archetype *archetype = pair->chunk->archetype;
    if (!chunk_copy_side(world, saved, pair->chunk)) return false;
    if (!chunk_copy_column(world, saved, pair, 0, WEFT__NONE)) return false;
    for (uint32_t type = 0; type < archetype->type_count; type++) {
        uint32_t column = archetype->types[type].column;
        if (column != 0 && !chunk_copy_column(world, saved, pair, column, type)) return false;
    }
    return true;
}

/* One snapshot being taken; on the stack of weft_snapshot_take. */
typedef struct taking {
    weft_snapshot *snapshot;
    const weft_snapshot *previous; /* or NULL */
    uint32_t common;               /* see weft__timeline_common */
    uint32_t *places; /* [chunk id] of a chunk of `previous`: its number there + 1; NULL until the
                         first one is looked for */
    uint32_t id_end;  /* of places */
} taking;

/* Where the chunks of the previous snapshot are. */
static bool list_places(taking *t)
{
    const weft_snapshot *previous = t->previous;
    for (uint32_t i = 0; i < previous->chunk_count; i++)
        if (previous->chunks[i].id >= t->id_end) t->id_end = previous->chunks[i].id + 1;
    t->places = weft__alloc_zeroed(&previous->world->memory, CATEGORY, (size_t)t->id_end + 1,
                                   sizeof t->places[0], 4);
    if (t->places == NULL) return false;
    for (uint32_t i = 0; i < previous->chunk_count; i++) t->places[previous->chunks[i].id] = i + 1;
    return true;
}

/* The record of a chunk in the previous snapshot, or of another one, or NULL: nearly always at the
 * same position. False: no memory. */
static bool find_previous(taking *t, uint32_t archetype, uint32_t position,
                          const weft__chunk *chunk, const weft__snapshot_chunk **found)
{
    const weft_snapshot *previous = t->previous;
    *found = NULL;
    if (previous == NULL || archetype >= previous->archetype_count ||
        previous->order.items[archetype] != chunk->archetype)
        return true;
    const weft__snapshot_archetype *list = &previous->archetypes[archetype];
    uint32_t place = list->first_chunk + position;
    bool is_there = position < list->chunk_count && previous->chunks[place].serial == chunk->serial;
    if (!is_there) {
        if (t->places == NULL && !list_places(t)) return false;
        if (chunk->id >= t->id_end || t->places[chunk->id] == 0) return true;
        place = t->places[chunk->id] - 1;
        if (place - list->first_chunk >= list->chunk_count) return true; /* of another archetype */
    }
    *found = &previous->chunks[place];
    return true;
}

/* Room lists: their order decides where later rows go. Each from its end, as they are made. */
static void note_rooms(weft_snapshot *snapshot, const weft__archetype *archetype, uint32_t first)
{
    uint32_t noted = 0;
    for (uint32_t i = 0; i < archetype->chunk_count; i++) {
        const weft__chunk *chunk = archetype->chunks[i];
        if (chunk->room_next != NULL || !chunk->has_room) continue;
        for (; chunk != NULL; chunk = chunk->room_prev)
            snapshot->chunks[first + noted++].room = chunk->list_index;
    }
    if (noted < archetype->chunk_count) snapshot->chunks[first + noted].room = WEFT__NONE;
}

static bool copy_archetype(taking *t, uint32_t number)
{
    weft_snapshot *snapshot = t->snapshot;
    weft_world *world = snapshot->world;
    const weft__archetype *archetype = world->archetypes.at[number];
    weft__snapshot_archetype *list = &snapshot->archetypes[number];
    *list = (weft__snapshot_archetype){archetype->chunk_count, snapshot->chunk_count,
                                       archetype->order_version};
    for (uint32_t i = 0; i < archetype->chunk_count; i++) {
        const weft__chunk *chunk = archetype->chunks[i];
        const weft__snapshot_chunk *old;
        weft__snapshot_chunk *saved = &snapshot->chunks[snapshot->chunk_count++];
        if (!find_previous(t, number, i, chunk, &old)) return false;
        weft__chunk_pair pair = weft__chunk_pair_make(chunk, old, t->previous, t->common);
        if (!chunk_copy(world, saved, &pair)) return false;
    }
    note_rooms(snapshot, archetype, list->first_chunk);
    return true;
}

/* ---- the rest ---- */

static bool copy_dead(weft_snapshot *snapshot)
{
    const weft__directory *directory = &snapshot->world->directory;
    weft__dead dead;
    for (uint32_t from = 0; weft__directory_dead_next(directory, &from, &dead);)
        if (!WEFT__LIST_APPEND(&snapshot->world->memory, CATEGORY, &snapshot->dead, &dead, 1))
            return false;
    return true;
}

static bool copy_resources(weft_snapshot *snapshot)
{
    weft_world *world = snapshot->world;
    snapshot->type_count = world->types.count;
    snapshot->resources = weft__alloc_zeroed(&world->memory, CATEGORY,
                                             (size_t)world->types.count + 1, sizeof(void *), 8);
    if (snapshot->resources == NULL) return false;
    for (uint32_t i = 1; i <= world->types.count; i++) {
        const weft__type *type = world->types.at[i];
        size_t bytes = weft__type_bytes(type);
        if (type->resource == NULL || bytes == 0) continue;
        void *copy = weft__alloc(&world->memory, CATEGORY, 1, bytes, 64);
        if (copy == NULL) return false;
        if (weft__type_replicate(&world->memory, type, copy, type->resource, 1) != WEFT_OK) {
            weft__free(&world->memory, CATEGORY, copy, 1, bytes, 64);
            return false;
        }
        snapshot->resources[i] = copy;
    }
    return true;
}

/* What the parts above keep of the past: the same future needs it. */
static bool keep_states(weft_snapshot *snapshot)
{
    const weft_world *world = snapshot->world;
    for (uint32_t i = 0; i < WEFT__EXTENSION_COUNT; i++) {
        const weft__extension *extension = &world->front.extensions[i];
        if (extension->data == NULL || extension->state_keep == NULL) continue;
        if (!extension->state_keep(extension->data, &snapshot->states[i])) return false;
    }
    return true;
}

static void unlist(weft_snapshot *snapshot)
{
    weft__timelines *timelines = snapshot->world->front.extensions[WEFT__EXTENSION_SNAPSHOTS].data;
    weft_snapshot **link = &timelines->snapshots;
    while (*link != NULL && *link != snapshot) link = &(*link)->next;
    if (*link != snapshot) return; /* it was not handed out */
    *link = snapshot->next;
    weft__hold(snapshot->world, WEFT__HOLDER_SNAPSHOTS, -1);
}

static bool copy_world(taking *t)
{
    weft_snapshot *snapshot = t->snapshot;
    weft_world *world = snapshot->world;
    weft__memory *memory = &world->memory;
    uint32_t archetypes = world->archetypes.count;
    snapshot->archetype_limit = archetypes;
    snapshot->chunk_limit = world->chunks.count;
    snapshot->archetypes =
        weft__alloc_zeroed(memory, CATEGORY, archetypes + 1, sizeof snapshot->archetypes[0], 8);
    snapshot->chunks = weft__alloc_zeroed(memory, CATEGORY, world->chunks.count + 1,
                                          sizeof snapshot->chunks[0], 8);
    if (snapshot->archetypes == NULL || snapshot->chunks == NULL ||
        weft__archetypes_note(world, &snapshot->order) != WEFT_OK)
        return false;
    snapshot->archetype_count = archetypes;
    for (uint32_t i = 0; i < archetypes; i++)
        if (!copy_archetype(t, i)) return false;
    return copy_dead(snapshot) && copy_resources(snapshot) && keep_states(snapshot) &&
           weft__names_keep(world, &snapshot->names);
}

static weft_result take(taking *t, weft__timelines *timelines)
{
    weft_world *world = timelines->world;
    weft_snapshot *snapshot = t->snapshot;
    snapshot->world = world;
    snapshot->timeline = timelines->current;
    snapshot->timeline->holders++;
    snapshot->steps = world->front.clock.steps;
    snapshot->time = world->front.clock.time;
    snapshot->dt = world->front.clock.dt;
    snapshot->renewed = world->front.renewed;
    snapshot->renewal = world->front.renewal;
    if (t->previous != NULL)
        t->common = weft__timeline_common(timelines, t->previous->timeline, t->previous->version);
    bool is_done = weft__past_keep(timelines, &snapshot->past) && copy_world(t);
    weft__free(&world->memory, CATEGORY, t->places, (size_t)t->id_end + 1, sizeof t->places[0], 4);
    if (is_done) return WEFT_OK;
    weft_snapshot_destroy(snapshot);
    return weft__error_memory(world, "weft_snapshot_take");
}

weft_result weft_snapshot_take(weft_world *world, const weft_snapshot *previous,
                               weft_snapshot **out)
{
    if (out != NULL) *out = NULL;
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (out == NULL || (previous != NULL && previous->world != world))
        return weft__error_argument(world, "weft_snapshot_take",
                                    "out is NULL, or `previous` is of another world: give a "
                                    "snapshot of this world, or NULL");
    weft_result result = weft__between_steps(world, "weft_snapshot_take");
    if (result == WEFT_OK) result = weft__lent_refuse(world, "weft_snapshot_take");
    if (result == WEFT_OK) result = weft__snapshot_check_types(world);
    if (result != WEFT_OK) return result;
    weft__timelines *timelines = weft__timelines_obtain(world);
    weft_snapshot *snapshot =
        timelines == NULL ? NULL
                          : weft__alloc_zeroed(&world->memory, CATEGORY, 1, sizeof *snapshot, 8);
    if (snapshot == NULL) return weft__error_memory(world, "weft_snapshot_take");
    weft__versions_check(world);
    taking t = {.snapshot = snapshot, .previous = previous};
    result = take(&t, timelines);
    if (result != WEFT_OK) return result;
    weft__version_advance(world); /* later writes get newer versions than any copied */
    snapshot->version = world->front.version;
    snapshot->next = timelines->snapshots;
    timelines->snapshots = snapshot;
    weft__hold(world, WEFT__HOLDER_SNAPSHOTS, 1);
    *out = snapshot;
    return WEFT_OK;
}

/* ---- destruction ---- */

static void chunk_free(weft_snapshot *snapshot, const weft__archetype *archetype,
                       weft__snapshot_chunk *saved)
{
    weft_world *world = snapshot->world;
    weft__memory *memory = &world->memory;
    uint32_t columns = archetype->format->column_count;
    for (uint32_t i = 0; saved->columns != NULL && i < columns; i++)
        column_drop(world, saved->columns[i]);
    for (uint32_t i = 0; i < saved->value_count; i++)
        weft__shared_let_go(&world->shared, archetype->shared_components[i], saved->values[i]);
    weft__free(memory, CATEGORY, saved->columns, columns, sizeof saved->columns[0], 8);
    weft__free(memory, CATEGORY, saved->side, 1, saved->side_bytes, 64);
    weft__free(memory, CATEGORY, saved->values, saved->value_count, sizeof(uint32_t), 4);
}

static void free_chunks(weft_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->archetype_count; i++) {
        const weft__snapshot_archetype *list = &snapshot->archetypes[i];
        for (uint32_t k = 0; k < list->chunk_count; k++)
            if (list->first_chunk + k < snapshot->chunk_count)
                chunk_free(snapshot, snapshot->order.items[i],
                           &snapshot->chunks[list->first_chunk + k]);
    }
}

static void free_resources(weft_snapshot *snapshot)
{
    weft_world *world = snapshot->world;
    for (uint32_t i = 1; snapshot->resources != NULL && i <= snapshot->type_count; i++) {
        if (snapshot->resources[i] == NULL) continue;
        weft__type_destruct(&world->memory, world->types.at[i], snapshot->resources[i], 1);
        weft__free(&world->memory, CATEGORY, snapshot->resources[i], 1,
                   weft__type_bytes(world->types.at[i]), 64);
    }
    weft__free(&world->memory, CATEGORY, snapshot->resources, (size_t)snapshot->type_count + 1,
               sizeof(void *), 8);
}

static void drop_states(weft_snapshot *snapshot)
{
    for (uint32_t i = 0; i < WEFT__EXTENSION_COUNT; i++) {
        const weft__extension *extension = &snapshot->world->front.extensions[i];
        if (snapshot->states[i] != NULL)
            extension->state_drop(extension->data, snapshot->states[i]);
    }
}

/* Sizes of arrays are those of the moment of taking: kept where they cannot be derived. */
void weft_snapshot_destroy(weft_snapshot *snapshot)
{
    if (snapshot == NULL) return;
    weft_world *world = snapshot->world;
    const char *advice = "destroy the snapshot when the step has returned";
    if (weft__refuse_systems(world, "weft_snapshot_destroy", advice) != WEFT_OK) return;
    weft__memory *memory = &world->memory;
    unlist(snapshot);
    weft__timeline_drop(world->front.extensions[WEFT__EXTENSION_SNAPSHOTS].data,
                        snapshot->timeline);
    if (snapshot->chunks != NULL) free_chunks(snapshot);
    weft__archetype_list_free(world, &snapshot->order);
    weft__free(memory, CATEGORY, snapshot->archetypes, snapshot->archetype_limit + 1,
               sizeof snapshot->archetypes[0], 8);
    weft__free(memory, CATEGORY, snapshot->chunks, snapshot->chunk_limit + 1,
               sizeof snapshot->chunks[0], 8);
    WEFT__LIST_FREE(memory, CATEGORY, &snapshot->dead);
    free_resources(snapshot);
    drop_states(snapshot);
    weft__names_let_go(world, snapshot->names);
    weft__past_free(world, &snapshot->past);
    weft__free(memory, CATEGORY, snapshot, 1, sizeof *snapshot, 8);
}
