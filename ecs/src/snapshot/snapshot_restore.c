/* SPDX-License-Identifier: MIT */
/* snapshot_restore.c: putting a world back. See snapshot_state.h.
 *
 * Chunks that still exist with the same shared values are used again: only slices whose rows or
 * versions differ are copied, and only their entities are entered into the directory. Others, and
 * copies of values that take memory of their own, are made first, so that running out of it leaves
 * the world as it was; after that nothing can fail. Whatever decides what comes next is put back,
 * too: ids and order of chunks, the lists of those with room, the versions of indices that are not
 * alive. */
#include "chunk.h"
#include "chunk_pair.h"
#include "directory.h"
#include "directory_dead.h"
#include "error.h"
#include "lent.h"
#include "spare_chunk.h"
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
    char *copies;          /* of values that need more than their bytes, in the order of putting; */
    size_t copies_bytes;   /* the last ones are not there yet while copies_used is less */
    size_t copies_used;
    bool is_refused; /* making the copies ran out of memory */
} restoring;

/* Values of a slice that a restore puts. A value. */
typedef struct placing {
    weft__chunk *chunk;
    uint32_t column, slice;
    const weft__snapshot_block *block;
    bool has_rows; /* the rows stay: their old values end */
} placing;

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

/* ---- what is put ---- */

/* Calls `visit` for all that a restore puts into a chunk, always in the same order. */
static void chunk_visit(restoring *r, uint32_t number, void (*visit)(restoring *, placing))
{
    const weft__snapshot_chunk *saved = &r->snapshot->chunks[number];
    weft__chunk *chunk = r->chunks[number];
    weft__chunk_pair pair = pair_of(r, number);
    const weft__archetype *archetype = chunk->archetype;
    for (uint32_t s = 0; s < saved->slice_count && !pair.has_same_rows; s++) {
        bool has_rows = weft__slice_has_same_rows(&pair, s);
        for (uint32_t column = 0; column < chunk->layout->column_count && !has_rows; column++)
            visit(r, (placing){chunk, column, s, saved->columns[column]->blocks[s], false});
        for (uint32_t type = 0; type < archetype->type_count && has_rows; type++) {
            uint32_t column = archetype->types[type].column;
            if (column == 0) continue;
            if (!pair.is_comparable || !weft__slice_has_same_values(&pair, type, s))
                visit(r, (placing){chunk, column, s, saved->columns[column]->blocks[s], true});
        }
    }
    if (!pair.has_same_rows) return;
    for (uint32_t type = 0; type < archetype->type_count; type++) { /* mostly none changed */
        uint32_t column = archetype->types[type].column;
        if (column == 0 || weft__chunk_has_same_values(&pair, type)) continue;
        for (uint32_t s = 0; s < saved->slice_count; s++)
            if (!weft__slice_has_same_values(&pair, type, s))
                visit(r, (placing){chunk, column, s, saved->columns[column]->blocks[s], true});
    }
}

/* ---- copies ---- */

static bool needs_copy(const weft__snapshot_block *block)
{
    return block->type != NULL && block->type->needs_copy;
}

/* Room of a block among the copies. */
static size_t copy_bytes(const weft__snapshot_block *block)
{
    return bits_align_up((size_t)block->bytes, 64);
}

static void copy_count(restoring *r, placing at)
{
    if (needs_copy(at.block)) r->copies_bytes += copy_bytes(at.block);
}

static void copy_make(restoring *r, placing at)
{
    weft__memory *memory = &r->world->memory;
    const weft__snapshot_block *block = at.block;
    if (!needs_copy(block) || r->is_refused) return;
    char *to = r->copies + r->copies_used;
    size_t bytes = block->type->value_bytes;
    for (uint32_t i = 0; i < block->count && !r->is_refused; i++) {
        r->is_refused = weft__type_replicate(memory, block->type, to + i * bytes,
                                             block->data + i * bytes, 1) != WEFT_OK;
        if (r->is_refused) weft__type_destruct(memory, block->type, to, i);
    }
    if (!r->is_refused) r->copies_used += copy_bytes(block);
}

/* Ends copies up to copies_bytes, which were not put. */
static void copy_drop(restoring *r, placing at)
{
    if (!needs_copy(at.block) || r->copies_used == r->copies_bytes) return;
    weft__type_destruct(&r->world->memory, at.block->type, r->copies + r->copies_used,
                        at.block->count);
    r->copies_used += copy_bytes(at.block);
}

static void visit_all(restoring *r, void (*visit)(restoring *, placing))
{
    for (uint32_t i = 0; i < r->snapshot->chunk_count; i++) chunk_visit(r, i, visit);
}

static void copies_free(restoring *r)
{
    weft__free(&r->world->memory, WEFT__MEMORY_SNAPSHOTS, r->copies, r->copies_bytes, 1, 64);
}

/* Copies the values that need more than their bytes, before anything changes. */
static weft_result make_copies(restoring *r)
{
    bool is_needed = false;
    for (uint32_t i = 1; i <= r->snapshot->type_count; i++)
        is_needed = is_needed || r->world->types.at[i]->needs_copy;
    if (is_needed) visit_all(r, copy_count);
    if (r->copies_bytes == 0) return WEFT_OK;
    r->copies = weft__alloc(&r->world->memory, WEFT__MEMORY_SNAPSHOTS, r->copies_bytes, 1, 64);
    r->is_refused = r->copies == NULL;
    visit_all(r, copy_make);
    size_t end = r->copies_used, all = r->copies_bytes;
    r->copies_used = 0;
    if (!r->is_refused) return WEFT_OK;
    r->copies_bytes = end;
    visit_all(r, copy_drop);
    r->copies_bytes = all;
    copies_free(r);
    return weft__error_memory(r->world, "weft_snapshot_restore");
}

/* ---- rows ---- */

/* Enters the rows of a slice into the directory, after their entities were put. */
static void enter_rows(const restoring *r, placing at)
{
    weft__directory *directory = &r->world->directory;
    uint32_t row = at.slice << at.chunk->layout->slice_shift;
    if ((at.chunk->archetype->flags & WEFT__IS_SPARSE) != 0) {
        weft__sparse_enter(at.chunk, row, at.block->count);
        return;
    }
    const weft_entity *entities = weft__chunk_entities(at.chunk) + row;
    for (uint32_t i = 0; i < at.block->count; i++)
        weft__directory_force(directory, entities[i].index ^ directory->tag_bits,
                              entities[i].version, weft__location(at.chunk, row + i));
}

static void put_block(restoring *r, placing at)
{
    const weft__snapshot_block *block = at.block;
    const char *from = block->data;
    char *to = weft__chunk_value(at.chunk, at.column, at.slice << at.chunk->layout->slice_shift);
    if (at.has_rows && block->type->needs_destruct)
        weft__type_destruct(&r->world->memory, block->type, to, block->count);
    if (needs_copy(block)) {
        from = r->copies + r->copies_used;
        r->copies_used += copy_bytes(block);
    }
    memcpy(to, from, block->bytes);
    if (at.column == 0) enter_rows(r, at);
}

static void put_chunk(restoring *r, uint32_t number)
{
    const weft__snapshot_chunk *saved = &r->snapshot->chunks[number];
    weft__chunk *chunk = r->chunks[number];
    bool is_made = chunk->count == 0;
    if (is_made) chunk->serial = saved->serial;
    bool has_same_rows = pair_of(r, number).has_same_rows;
    chunk_visit(r, number, put_block);
    if (has_same_rows) {
        chunk->ready_end = 0; /* their slices have other versions now */
    } else {
        weft__chunk_count_rows(r->world, chunk, (int64_t)saved->count - chunk->count);
        chunk->count = saved->count;
        weft__chunk_soil(chunk);
    }
    if (saved->side_bytes != 0) memcpy(weft__chunk_side(chunk), saved->side, saved->side_bytes);
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
    weft__directory_dead_put(&world->directory, snapshot->dead.at, snapshot->dead.count);
    for (uint32_t i = 0; i < snapshot->chunk_count; i++) put_chunk(r, i);
    put_ids(r);
    for (uint32_t i = 0; i < snapshot->archetype_count; i++) order_archetype(r, i);
    put_resources(r);
    put_states(r);
    weft__names_put(world, snapshot->names);
    for (uint32_t i = 0; i < snapshot->chunk_count; i++) /* counting rows stamped them */
        r->chunks[i]->order_version = snapshot->chunks[i].order_version;
    world->front.version = snapshot->version;
    world->front.renewed = snapshot->renewed;
    world->front.renewal = snapshot->renewal;
    weft__spares_forget_versions(world);
    world->quick.run_rows = 0; /* the world comes to these versions once more */
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
    weft__past past = {0};
    weft__archetype_list before = {0};
    weft_result result = WEFT_OK;
    if (timeline == NULL || !weft__past_fork(timelines, &snapshot->past, &past) ||
        weft__names_put_reserve(world, snapshot->names) != WEFT_OK)
        result = weft__error_memory(world, "weft_snapshot_restore");
    if (result == WEFT_OK) result = weft__archetypes_note(world, &before);
    if (result == WEFT_OK) result = weft__archetypes_arrange(world, &snapshot->order);
    if (result == WEFT_OK) result = copy_buffers(r);
    if (result == WEFT_OK) result = find_or_make(r);
    if (result == WEFT_OK && (result = make_copies(r)) != WEFT_OK) drop_made(r);
    if (result == WEFT_OK)
        put_all(r);
    else if (before.items != NULL)
        weft__archetypes_arrange(world, &before); /* cannot fail: there is room for it */
    weft__archetype_list_free(world, &before);
    drop_buffers(r);
    if (result != WEFT_OK) {
        weft__past_free(world, &past);
        weft__timeline_drop(timelines, timeline);
        return result;
    }
    copies_free(r);
    weft__timeline_enter(timelines, timeline);
    weft__past_free(world, &timelines->past);
    timelines->past = past;
    return WEFT_OK;
}

/* Whether something would not go back with the world. */
static weft_result pins_check(const weft_world *world, const weft_snapshot *snapshot)
{
    for (uint32_t i = 0; i < WEFT__PIN_COUNT; i++) {
        const weft__pin *pin = &world->front.pins[i];
        if (pin->moment == 0 || weft__past_has(&snapshot->past, pin->moment)) continue;
        return weft__error(world, WEFT_UNSUPPORTED, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_snapshot_restore: after the snapshot was taken %s", pin->why);
    }
    return WEFT_OK;
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
    if (result == WEFT_OK) result = pins_check(world, snapshot);
    if (result == WEFT_OK) result = weft__ids_close(world, "weft_snapshot_restore");
    if (result != WEFT_OK) return result;
    restoring r = {.world = world, .snapshot = snapshot};
    weft__memory *memory = &world->memory;
    size_t count = (size_t)snapshot->chunk_count + 1;
    r.chunks = weft__alloc_zeroed(memory, WEFT__MEMORY_SNAPSHOTS, count, sizeof r.chunks[0], 8);
    if (r.chunks == NULL)
        result = weft__error_memory(world, "weft_snapshot_restore");
    else
        result = restore(&r, weft__timelines_obtain(world)); /* it is there: so is a snapshot */
    weft__ids_open(world);
    weft__free(memory, WEFT__MEMORY_SNAPSHOTS, r.chunks, count, sizeof r.chunks[0], 8);
    return result;
}
