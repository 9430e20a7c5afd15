/* snapshot_restore.c: putting a world back. See snapshot.h.
 *
 * Chunks that still exist with the same memory and shared values are used again, and only the
 * slices whose versions differ are copied; others are made first, so that running out of memory
 * leaves the world as it was. After that nothing can fail, except deep copies of buffers: a
 * value that cannot be copied becomes empty, and the result says so. */
#include "snapshot.h"

#include "chunk_memory.h"

#include <string.h>

/* One restore; lives on the owner's stack. */
typedef struct restoring {
    weft_world *world;
    const weft_snapshot *snapshot;
    weft__chunk **chunks; /* [snapshot chunk] where it goes */
    bool is_comparable;   /* equal versions mean equal rows */
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
    weft__chunk *chunk = saved->id < world->chunk_end ? world->chunk_table[saved->id] : NULL;
    bool is_same = chunk != NULL && chunk == saved->chunk && chunk->archetype == archetype &&
                   chunk->layout->size_class == saved->size_class &&
                   chunk->side_bytes == saved->side_bytes && has_values(chunk, saved);
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

/* Everything that can fail. On failure the chunks made go again. */
static weft_result find_or_make(restoring *r)
{
    const weft_snapshot *snapshot = r->snapshot;
    uint32_t done = 0;
    for (uint32_t i = 0; i < snapshot->archetype_count; i++)
        for (uint32_t k = 0; k < snapshot->archetypes[i].chunk_count; k++, done++) {
            const weft__snapshot_chunk *saved = &snapshot->chunks[done];
            weft__archetype *archetype = r->world->archetypes[i];
            weft__chunk *chunk = find_chunk(r->world, archetype, saved);
            if (chunk == NULL) chunk = make_chunk(r->world, archetype, saved);
            r->chunks[done] = chunk;
            if (chunk != NULL) continue;
            weft_result result = r->world->error->code;
            while (done-- > 0)
                if (r->chunks[done]->count == 0) weft__chunk_release(r->world, r->chunks[done]);
            return result;
        }
    return WEFT_OK;
}

/* ---- removing what is not in the snapshot ---- */

static void end_rows(weft_world *world, weft__chunk *chunk)
{
    if (chunk->count == 0) return;
    weft__rows_discard(world, NULL, chunk, NULL, 0, chunk->count);
    weft__chunk_count_rows(world, chunk, -(int64_t)chunk->count);
    chunk->count = 0;
}

static void drop_others(restoring *r, uint8_t *is_kept)
{
    weft_world *world = r->world;
    for (uint32_t i = 0; i < r->snapshot->chunk_count; i++) is_kept[r->chunks[i]->id] = 1;
    for (uint32_t id = 1; id < world->chunk_end; id++) {
        weft__chunk *chunk = world->chunk_table[id];
        if (chunk == NULL || is_kept[id]) continue;
        end_rows(world, chunk);
        weft__chunk_release(world, chunk);
    }
}

/* ---- rows ---- */

/* Whether a slice of a column is as saved. Column 0: only the order counts. */
static bool is_current(const restoring *r, const weft__snapshot_chunk *saved,
                       const weft__chunk *chunk, uint32_t type, uint32_t slice)
{
    if (!r->is_comparable || chunk->order_version != saved->order_version ||
        chunk->count != saved->count)
        return false;
    if (type == WEFT__NONE) return true;
    size_t at = (size_t)type * chunk->layout->slice_count + slice;
    size_t offset = (size_t)((const char *)chunk->x_versions - (const char *)chunk->side);
    const weft_a32 *versions = (const weft_a32 *)(const void *)((const char *)saved->side + offset);
    return at_plain(&chunk->x_versions[at]) == at_plain(&versions[at]);
}

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

static void put_column(restoring *r, const weft__snapshot_chunk *saved, weft__chunk *chunk,
                       uint32_t column)
{
    uint32_t type = WEFT__NONE, shift = chunk->layout->slice_shift;
    for (uint32_t i = 0; column != 0 && i < chunk->archetype->type_count; i++)
        if (chunk->archetype->types[i].column == column) type = i;
    const weft__type *value = chunk->archetype->format->types[column];
    for (uint32_t slice = 0; slice < saved->slice_count; slice++) {
        if (is_current(r, saved, chunk, type, slice)) continue;
        const weft__snapshot_block *block = saved->columns[column]->blocks[slice];
        bool has_rows = chunk->count != 0; /* then as many as saved: see put_chunk */
        if (has_rows && value != NULL && value->needs_destruct)
            weft__type_destruct(&r->world->memory, value,
                                weft__chunk_value(chunk, column, slice << shift), block->count);
        put_block(r, chunk, column, slice << shift, block);
    }
}

static void put_chunk(restoring *r, const weft__snapshot_chunk *saved, weft__chunk *chunk)
{
    bool has_same_rows = chunk->count == saved->count &&
                         chunk->order_version == saved->order_version && r->is_comparable;
    if (!has_same_rows) end_rows(r->world, chunk);
    for (uint32_t column = 0; column < chunk->layout->column_count; column++)
        put_column(r, saved, chunk, column);
    if (chunk->count == 0) {
        chunk->count = saved->count;
        weft__chunk_count_rows(r->world, chunk, saved->count);
    }
    if (saved->side_bytes != 0) memcpy(chunk->side, saved->side, saved->side_bytes);
    chunk->order_version = saved->order_version;
    chunk->stamped_version = 0; /* the world comes to these versions once more */
    weft__chunk_soil(chunk);
}

/* The order of chunks, and of the lists of chunks with room. */
static void order_archetype(restoring *r, uint32_t number)
{
    const weft__snapshot_archetype *list = &r->snapshot->archetypes[number];
    weft__archetype *archetype = r->world->archetypes[number];
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

/* ---- entities ---- */

static void put_entities(restoring *r)
{
    weft__directory *directory = &r->world->directory;
    const weft_snapshot *snapshot = r->snapshot;
    uint32_t end = weft__directory_end(directory), dead = 0;
    for (uint32_t index = 0; index < end; index++) { /* free indices; later ones are new again */
        const weft__entity_block *block = weft__directory_block(directory, index);
        uint32_t slot = index % WEFT__BLOCK_SLOTS;
        bool is_used = (block->used[slot / 64] >> (slot % 64) & 1) != 0;
        if (is_used && (weft__directory_version(directory, index) & 1) == 0) continue; /* retired */
        bool is_saved = dead < snapshot->dead_count && snapshot->dead[dead].index == index;
        uint32_t version = is_saved ? snapshot->dead[dead++].version : 0;
        weft__directory_force(directory, index, version, 0);
    }
    for (uint32_t i = 0; i < snapshot->chunk_count; i++) {
        const weft__chunk *chunk = r->chunks[i];
        const weft_entity *entities = weft__chunk_entities(chunk);
        for (uint32_t row = 0; row < chunk->count; row++)
            weft__directory_force(directory, entities[row].index ^ directory->tag_bits,
                                  entities[row].version, weft__location(chunk, row));
    }
}

/* ---- the rest ---- */

/* As if they had not run yet: systems that are younger than the snapshot stay so. */
static void forget_runs(const weft__scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->system_capacity; i++) {
        weft__system *system = scheduler->systems[i];
        if (system == NULL) continue;
        system->context.since = 0;
        system->was_active = false;
        system->elapsed = 0;
        system->timer = -1;
    }
    for (uint32_t i = 0; i < scheduler->group_count; i++) scheduler->groups[i].elapsed = 0;
}

static void put_systems(const restoring *r)
{
    const weft__scheduler *scheduler = weft__scheduler_of(r->world);
    if (scheduler == NULL) return;
    forget_runs(scheduler);
    for (uint32_t i = 0; i < r->snapshot->group_count; i++)
        scheduler->groups[i].elapsed = r->snapshot->group_elapsed[i];
    for (uint32_t i = 0; i < r->snapshot->system_count; i++) {
        const weft__snapshot_system *saved = &r->snapshot->systems[i];
        uint32_t slot = (saved->handle & WEFT__SLOT_LIMIT) - 1;
        if (slot >= scheduler->system_capacity) continue;
        weft__system *system = scheduler->systems[slot];
        if (system == NULL || system->handle != saved->handle) continue;
        system->context.since = saved->since;
        system->context.stamp = saved->stamp;
        system->was_active = saved->was_active;
        system->elapsed = saved->elapsed;
        system->timer = saved->timer;
    }
}

static void put_singletons(const restoring *r)
{
    weft_world *world = r->world;
    for (uint32_t i = 1; i <= r->snapshot->type_count; i++) {
        const void *saved = r->snapshot->singletons[i];
        const weft__type *type = world->types[i];
        if (saved == NULL) continue;
        weft__type_destruct(&world->memory, type, type->singleton, 1);
        weft__type_replicate(&world->memory, type, type->singleton, saved, 1); /* cannot fail */
    }
}

static void put_all(restoring *r, uint8_t *is_kept)
{
    weft_world *world = r->world;
    const weft_snapshot *snapshot = r->snapshot;
    drop_others(r, is_kept);
    for (uint32_t i = 0; i < snapshot->chunk_count; i++)
        put_chunk(r, &snapshot->chunks[i], r->chunks[i]);
    for (uint32_t i = 0; i < snapshot->archetype_count; i++) order_archetype(r, i);
    put_entities(r);
    put_singletons(r);
    put_systems(r);
    for (uint32_t i = 0; i < snapshot->chunk_count; i++) /* counting rows stamped them */
        r->chunks[i]->order_version = snapshot->chunks[i].order_version;
    world->version = snapshot->version;
    world->steps = snapshot->steps;
    world->time = snapshot->time;
    world->dt = snapshot->dt;
    world->structure_version++;
}

weft_result weft_snapshot_restore(weft_world *world, const weft_snapshot *snapshot)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (snapshot == NULL || snapshot->world != world)
        return weft__error_argument(world, "weft_snapshot_restore",
                                    "the snapshot is NULL or of another world: give one that "
                                    "weft_snapshot_take made of this world");
    weft_result result = weft__between_steps(world, "weft_snapshot_restore");
    if (result != WEFT_OK) return result;
    weft__timelines *timelines = weft__timelines_obtain(world);
    restoring r = {.world = world,
                   .snapshot = snapshot,
                   .is_comparable = weft__snapshot_is_comparable(snapshot)};
    weft__memory *memory = &world->memory;
    size_t count = (size_t)snapshot->chunk_count + 1;
    r.chunks = weft__alloc_zeroed(memory, WEFT__MEMORY_SNAPSHOTS, count, sizeof r.chunks[0], 8);
    if (r.chunks == NULL) return weft__error_memory(world, "weft_snapshot_restore");
    result = find_or_make(&r);
    size_t ids = world->chunk_end + 1u;
    uint8_t *is_kept =
        result != WEFT_OK ? NULL : weft__alloc_zeroed(memory, WEFT__MEMORY_SNAPSHOTS, ids, 1, 8);
    if (result == WEFT_OK && is_kept == NULL) {
        for (uint32_t i = 0; i < snapshot->chunk_count; i++)
            if (r.chunks[i]->count == 0) weft__chunk_release(world, r.chunks[i]);
        result = weft__error_memory(world, "weft_snapshot_restore");
    }
    if (result == WEFT_OK) {
        put_all(&r, is_kept);
        timelines->current = ++timelines->last;
        timelines->origin = snapshot;
        if (r.is_lossy) result = weft__error_memory(world, "weft_snapshot_restore: a buffer");
    }
    weft__free(memory, WEFT__MEMORY_SNAPSHOTS, is_kept, ids, 1, 8);
    weft__free(memory, WEFT__MEMORY_SNAPSHOTS, r.chunks, count, sizeof r.chunks[0], 8);
    return result;
}
