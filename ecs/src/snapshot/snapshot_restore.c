/* SPDX-License-Identifier: MIT */
/* snapshot_restore.c: putting a world back. See snapshot_state.h.
 *
 * Chunks that still exist with the same shared values are used again: only slices whose rows or
 * versions differ are copied, and only their entities are entered into the directory. Others are
 * made first, so that running out of memory leaves the world as it was. After that nothing can
 * fail, except deep copies of buffers: a value that cannot be copied becomes empty, and the result
 * says so. Whatever decides what comes next is put back, too: ids and order of chunks, the lists of
 * those with room, the versions of indices that are not alive. */
#include "chunk.h"
#include "chunk_pair.h"
#include "directory_check.h"
#include "directory_dead.h"
#include "error.h"
#include "lent.h"
#include "snapshot_check.h"
#include "sparse.h"
#include "structure.h"
#include "tuple.h"

#include <string.h>

/* One restore; lives on the owner's stack. */
typedef struct restoring {
    weft_world *world;
    const weft_snapshot *snapshot;
    weft__chunk **chunks;  /* [snapshot chunk] where it goes; one without rows was made for it */
    weft_buffer **buffers; /* [type id] resources that are buffers: copies, until they are put */
    uint32_t common;       /* see weft__timeline_common */
    bool is_lossy;
} restoring;

static bool has_values(const weft__chunk *chunk, const weft__snapshot_chunk *saved)
{
    for (uint32_t i = 0; i < saved->value_count; i++)
        if (chunk->tuple->values[i] != saved->values[i]) return false;
    return true;
}

/* The chunk a record came from, if it is still what it was. */
static weft__chunk *find_chunk(const weft_world *world, const weft__archetype *archetype,
                               const weft__snapshot_chunk *saved)
{
    weft__chunk *chunk = saved->id < world->chunks.end ? world->chunks.at[saved->id] : NULL;
    bool is_same = chunk != NULL && chunk->serial == saved->serial &&
                   chunk->archetype == archetype && has_values(chunk, saved);
    WEFT_ASSERT(!is_same || chunk->layout->size_class == saved->size_class);
    return is_same ? chunk : NULL;
}

static weft__chunk *make_chunk(weft_world *world, weft__archetype *archetype,
                               const weft__snapshot_chunk *saved)
{
    weft__tuple *tuple = saved->value_count == 0
                             ? archetype->tuple0
                             : weft__tuple_obtain(world, archetype, saved->values);
    if (tuple == NULL) return NULL;
    weft__chunk *chunk = weft__chunk_create(world, tuple, saved->size_class);
    if (saved->value_count != 0) weft__tuple_release(world, tuple);
    return chunk;
}

/* Releases the chunks that were made. */
static void drop_made(const restoring *r)
{
    for (uint32_t i = 0; i < r->snapshot->chunk_count; i++)
        if (r->chunks[i] != NULL && r->chunks[i]->count == 0)
            weft__chunk_release(r->world, r->chunks[i]);
}

/* Everything that can fail. On failure the chunks made go again. What is there is found before
 * anything is made: new chunks get ids that records may name. */
static weft_result find_or_make(restoring *r)
{
    const weft_snapshot *snapshot = r->snapshot;
    weft__archetype **archetypes = r->world->archetypes.at;
    uint32_t n = 0;
    for (uint32_t i = 0; i < snapshot->archetype_count; i++)
        for (uint32_t k = 0; k < snapshot->archetypes[i].chunk_count; k++, n++)
            r->chunks[n] = find_chunk(r->world, archetypes[i], &snapshot->chunks[n]);
    n = 0;
    for (uint32_t i = 0; i < snapshot->archetype_count; i++)
        for (uint32_t k = 0; k < snapshot->archetypes[i].chunk_count; k++, n++) {
            if (r->chunks[n] != NULL) continue;
            r->chunks[n] = make_chunk(r->world, archetypes[i], &snapshot->chunks[n]);
            if (r->chunks[n] != NULL) continue;
            weft_result result = r->world->error->code;
            drop_made(r);
            return result;
        }
    return WEFT_OK;
}

/* ---- removing what is not in the snapshot ---- */

/* Ends rows: their ids become new, until the dead ones and the rows of the snapshot are put. */
static void end_rows(weft_world *world, weft__chunk *chunk, uint32_t first, uint32_t count)
{
    weft__directory *directory = &world->directory;
    const weft_entity *entities = weft__chunk_entities(chunk) + first;
    bool is_sparse = (chunk->archetype->flags & WEFT__IS_SPARSE) != 0;
    if (is_sparse) weft__sparse_leave(chunk, first, count);
    for (uint32_t i = 0; i < count && !is_sparse; i++)
        weft__directory_force(directory, entities[i].index ^ directory->tag_bits, 0, 0);
    weft__rows_discard(world, NULL, chunk, NULL, first, count);
}

static void drop_others(const restoring *r)
{
    weft_world *world = r->world;
    for (uint32_t i = 0; i < r->snapshot->chunk_count; i++) r->chunks[i]->mark = 1;
    for (uint32_t id = 1; id < world->chunks.end; id++) {
        weft__chunk *chunk = world->chunks.at[id];
        if (chunk == NULL || chunk->mark != 0) continue;
        end_rows(world, chunk, 0, chunk->count);
        weft__chunk_count_rows(world, chunk, -(int64_t)chunk->count);
        chunk->count = 0;
        weft__chunk_release(world, chunk);
    }
    for (uint32_t i = 0; i < r->snapshot->chunk_count; i++) r->chunks[i]->mark = 0;
}

static weft__chunk_pair pair_of(const restoring *r, uint32_t i)
{
    return weft__chunk_pair_make(r->chunks[i], &r->snapshot->chunks[i], r->snapshot, r->common);
}

/* The rows of all slices that will not stay as they are. Of a chunk that was made there are
 * none. */
static void drop_rows(const restoring *r)
{
    for (uint32_t i = 0; i < r->snapshot->chunk_count; i++) {
        weft__chunk_pair pair = pair_of(r, i);
        weft__chunk *chunk = r->chunks[i];
        for (uint32_t s = 0, end = weft__chunk_slices(chunk); s < end && !pair.has_same_rows; s++)
            if (!weft__slice_has_same_rows(&pair, s))
                end_rows(r->world, chunk, s << chunk->layout->slice_shift,
                         weft__slice_rows(chunk, chunk->count, s));
    }
}

/* ---- rows ---- */

static void put_block(restoring *r, weft__chunk *chunk, uint32_t column, uint32_t row,
                      const weft__snapshot_block *block)
{
    char *to = weft__chunk_value(chunk, column, row);
    const weft__type *type = block->type;
    if (type == NULL || !type->needs_copy) {
        memcpy(to, block->data, block->bytes);
        return;
    }
    uint32_t bytes = chunk->layout->columns[column].bytes;
    for (uint32_t i = 0; i < block->count; i++) {
        char *value = to + (size_t)i * bytes;
        if (weft__type_replicate(&r->world->memory, type, value, block->data + (size_t)i * bytes,
                                 1) == WEFT_OK)
            continue;
        weft__type_construct(type, value, 1);
        r->is_lossy = true;
    }
}

/* The values of a type in a slice whose rows stay. */
static void put_values(restoring *r, const weft__chunk_pair *pair, weft__chunk *chunk,
                       uint32_t type, uint32_t slice)
{
    uint32_t column = chunk->archetype->types[type].column;
    uint32_t row = slice << chunk->layout->slice_shift;
    const weft__type *value = chunk->archetype->types[type].type;
    const weft__snapshot_block *block = pair->saved->columns[column]->blocks[slice];
    if (value->needs_destruct)
        weft__type_destruct(&r->world->memory, value, weft__chunk_value(chunk, column, row),
                            block->count);
    put_block(r, chunk, column, row, block);
}

/* All rows of a slice, entered into the directory. */
static void put_rows(restoring *r, const weft__snapshot_chunk *saved, weft__chunk *chunk,
                     uint32_t slice)
{
    weft__directory *directory = &r->world->directory;
    uint32_t row = slice << chunk->layout->slice_shift;
    for (uint32_t column = 0; column < chunk->layout->column_count; column++)
        put_block(r, chunk, column, row, saved->columns[column]->blocks[slice]);
    if ((chunk->archetype->flags & WEFT__IS_SPARSE) != 0) {
        weft__sparse_enter(chunk, row, saved->columns[0]->blocks[slice]->count);
        return;
    }
    const weft_entity *entities = weft__chunk_entities(chunk) + row;
    for (uint32_t i = 0; i < saved->columns[0]->blocks[slice]->count; i++)
        weft__directory_force(directory, entities[i].index ^ directory->tag_bits,
                              entities[i].version, weft__location(chunk, row + i));
}

static void put_slices(restoring *r, const weft__chunk_pair *pair, weft__chunk *chunk)
{
    const weft__archetype *archetype = chunk->archetype;
    for (uint32_t s = 0; s < pair->saved->slice_count; s++) {
        if (!weft__slice_has_same_rows(pair, s)) {
            put_rows(r, pair->saved, chunk, s);
            continue;
        }
        for (uint32_t type = 0; type < archetype->type_count; type++)
            if (archetype->types[type].column != 0 && !weft__slice_has_same_values(pair, type, s))
                put_values(r, pair, chunk, type, s);
    }
}

/* A chunk in which no row came, went or moved: mostly no slice changed, either. */
static void put_changed(restoring *r, const weft__chunk_pair *pair, weft__chunk *chunk)
{
    const weft__archetype *archetype = chunk->archetype;
    for (uint32_t type = 0; type < archetype->type_count; type++) {
        if (archetype->types[type].column == 0 || weft__chunk_has_same_values(pair, type)) continue;
        for (uint32_t s = 0; s < pair->saved->slice_count; s++)
            if (!weft__slice_has_same_values(pair, type, s)) put_values(r, pair, chunk, type, s);
    }
}

static void put_chunk(restoring *r, uint32_t number)
{
    const weft__snapshot_chunk *saved = &r->snapshot->chunks[number];
    weft__chunk *chunk = r->chunks[number];
    bool is_made = chunk->count == 0;
    if (is_made) chunk->serial = saved->serial;
    weft__chunk_pair pair = pair_of(r, number);
    if (pair.has_same_rows) {
        put_changed(r, &pair, chunk);
        chunk->ready_end = 0; /* their slices have other versions now */
    } else {
        put_slices(r, &pair, chunk);
        weft__chunk_count_rows(r->world, chunk, (int64_t)saved->count - chunk->count);
        chunk->count = saved->count;
        weft__chunk_soil(chunk);
    }
    if (saved->side_bytes != 0) memcpy(chunk->side, saved->side, saved->side_bytes);
    chunk->stamped_version = 0; /* the world comes to these versions once more */
}

/* Chunks that were made get the ids that they had. */
static void put_ids(const restoring *r)
{
    weft_world *world = r->world;
    for (uint32_t i = 0; i < r->snapshot->chunk_count; i++)
        if (r->chunks[i]->id != r->snapshot->chunks[i].id)
            weft__chunk_id_return(world, r->chunks[i]);
    for (uint32_t i = 0; i < r->snapshot->chunk_count; i++)
        if (r->chunks[i]->id != r->snapshot->chunks[i].id)
            weft__chunk_id_take(world, r->chunks[i], r->snapshot->chunks[i].id);
}

/* The order of chunks, and of the lists of chunks with room. */
static void order_archetype(restoring *r, uint32_t number)
{
    const weft__snapshot_archetype *list = &r->snapshot->archetypes[number];
    weft__archetype *archetype = r->world->archetypes.at[number];
    WEFT_ASSERT(archetype->chunk_count == list->chunk_count);
    const weft__snapshot_chunk *saved = &r->snapshot->chunks[list->first_chunk];
    for (uint32_t i = 0; i < list->chunk_count; i++) {
        weft__chunk *chunk = r->chunks[list->first_chunk + i];
        archetype->chunks[i] = chunk;
        chunk->list_index = i;
        weft__chunk_room_remove(chunk);
    }
    for (uint32_t i = 0; i < list->chunk_count && saved[i].room != WEFT__NONE; i++)
        weft__chunk_room_update(r->chunks[list->first_chunk + saved[i].room]); /* to the head */
    archetype->order_version = list->order_version;
}

/* ---- the rest ---- */

static void put_states(const restoring *r)
{
    for (uint32_t i = 0; i < WEFT__EXTENSION_COUNT; i++) {
        const weft__extension *extension = &r->world->front.extensions[i];
        if (extension->data != NULL && extension->state_put != NULL)
            extension->state_put(extension->data, r->snapshot->states[i]);
    }
}

/* Copies the buffers of resources, before anything changes: memory may be refused. */
static weft_result copy_buffers(restoring *r)
{
    weft__memory *memory = &r->world->memory;
    r->buffers = weft__alloc_zeroed(memory, WEFT__MEMORY_SNAPSHOTS,
                                    (size_t)r->snapshot->type_count + 1, sizeof r->buffers[0], 8);
    weft_result result = r->buffers == NULL ? WEFT_OUT_OF_MEMORY : WEFT_OK;
    for (uint32_t i = 1; i <= r->snapshot->type_count && result == WEFT_OK; i++) {
        const void *saved = r->snapshot->resources[i];
        const weft__type *type = r->world->types.at[i];
        if (saved == NULL || (type->desc.flags & WEFT_BUFFER) == 0) continue;
        weft_buffer *copy = weft__alloc(memory, WEFT__MEMORY_SNAPSHOTS, 1, type->value_bytes, 64);
        result =
            copy == NULL ? WEFT_OUT_OF_MEMORY : weft__type_replicate(memory, type, copy, saved, 1);
        if (result == WEFT_OK)
            r->buffers[i] = copy;
        else
            weft__free(memory, WEFT__MEMORY_SNAPSHOTS, copy, 1, type->value_bytes, 64);
    }
    return result == WEFT_OK ? WEFT_OK : weft__error_memory(r->world, "weft_snapshot_restore");
}

/* Ends the copies that were not put. */
static void drop_buffers(restoring *r)
{
    weft__memory *memory = &r->world->memory;
    for (uint32_t i = 1; r->buffers != NULL && i <= r->snapshot->type_count; i++) {
        const weft__type *type = r->world->types.at[i];
        if (r->buffers[i] == NULL) continue;
        weft__type_destruct(memory, type, r->buffers[i], 1);
        weft__free(memory, WEFT__MEMORY_SNAPSHOTS, r->buffers[i], 1, type->value_bytes, 64);
    }
    weft__free(memory, WEFT__MEMORY_SNAPSHOTS, r->buffers, (size_t)r->snapshot->type_count + 1,
               sizeof r->buffers[0], 8);
}

static void put_resources(const restoring *r)
{
    weft__memory *memory = &r->world->memory;
    for (uint32_t i = 1; i <= r->snapshot->type_count; i++) {
        const void *saved = r->snapshot->resources[i];
        const weft__type *type = r->world->types.at[i];
        if (saved == NULL) continue;
        weft__type_destruct(memory, type, type->resource, 1);
        if (r->buffers[i] == NULL) {
            weft__type_replicate(memory, type, type->resource, saved, 1); /* cannot fail */
            continue;
        }
        memcpy(type->resource, r->buffers[i], type->value_bytes);
        weft__free(memory, WEFT__MEMORY_SNAPSHOTS, r->buffers[i], 1, type->value_bytes, 64);
        r->buffers[i] = NULL;
    }
}

static void put_all(restoring *r)
{
    weft_world *world = r->world;
    const weft_snapshot *snapshot = r->snapshot;
    drop_others(r);
    drop_rows(r);
    weft__directory_dead_put(&world->directory, snapshot->dead, snapshot->dead_count);
    for (uint32_t i = 0; i < snapshot->chunk_count; i++) put_chunk(r, i);
    put_ids(r);
    for (uint32_t i = 0; i < snapshot->archetype_count; i++) order_archetype(r, i);
    put_resources(r);
    put_states(r);
    for (uint32_t i = 0; i < snapshot->chunk_count; i++) /* counting rows stamped them */
        r->chunks[i]->order_version = snapshot->chunks[i].order_version;
    world->front.version = snapshot->version;
    world->front.clock.steps = snapshot->steps;
    world->front.clock.time = snapshot->time;
    world->front.clock.dt = snapshot->dt;
    world->front.structure_version++;
}

static weft_result restore(restoring *r, weft__timelines *timelines)
{
    weft_world *world = r->world;
    const weft_snapshot *snapshot = r->snapshot;
    r->common = weft__timeline_common(timelines, snapshot->timeline, snapshot->version);
    weft__timeline *timeline =
        weft__timeline_begin(timelines, snapshot->timeline, snapshot->version);
    if (timeline == NULL) return weft__error_memory(world, "weft_snapshot_restore");
    weft__archetype_list before;
    weft_result result = weft__archetypes_note(world, &before);
    if (result == WEFT_OK) result = weft__archetypes_arrange(world, &snapshot->order);
    if (result == WEFT_OK) result = copy_buffers(r);
    if (result == WEFT_OK) result = find_or_make(r);
    if (result == WEFT_OK)
        put_all(r);
    else if (before.items != NULL)
        weft__archetypes_arrange(world, &before); /* cannot fail: there is room for it */
    weft__archetype_list_free(world, &before);
    drop_buffers(r);
    if (result != WEFT_OK) {
        weft__timeline_drop(timelines, timeline);
        return result;
    }
    weft__timeline_enter(timelines, timeline);
    return r->is_lossy ? weft__error_memory(world, "weft_snapshot_restore: a buffer") : WEFT_OK;
}

weft_result weft_snapshot_restore(weft_world *world, const weft_snapshot *snapshot)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (snapshot == NULL || snapshot->world != world)
        return weft__error_argument(world, "weft_snapshot_restore",
                                    "the snapshot is NULL or of another world: give one that "
                                    "weft_snapshot_take made of this world");
    weft_result result = weft__between_steps(world, "weft_snapshot_restore");
    if (result == WEFT_OK) result = weft__lent_refuse(world, "weft_snapshot_restore");
    if (result == WEFT_OK) result = weft__snapshot_check_ids(world, "weft_snapshot_restore");
    if (result != WEFT_OK) return result;
    restoring r = {.world = world, .snapshot = snapshot};
    weft__memory *memory = &world->memory;
    size_t count = (size_t)snapshot->chunk_count + 1;
    r.chunks = weft__alloc_zeroed(memory, WEFT__MEMORY_SNAPSHOTS, count, sizeof r.chunks[0], 8);
    if (r.chunks == NULL) return weft__error_memory(world, "weft_snapshot_restore");
    result = restore(&r, weft__timelines_obtain(world)); /* it is there: so is a snapshot */
    weft__free(memory, WEFT__MEMORY_SNAPSHOTS, r.chunks, count, sizeof r.chunks[0], 8);
    return result;
}
