/* SPDX-License-Identifier: MIT */
/* chunk.c: making and releasing chunks: memory from units or parts, side memory, id, and the lists
 * of the archetype and the tuple. Everything that can fail comes before the first change. Owner
 * only, except side memory and chunk memory of private chunks (private_chunk.c). */

#include "chunk.h"
#include "archetype_order.h"
#include "bits.h"
#include "column_map.h"
#include "error.h"
#include "format.h"
#include "poison.h"
#include "spare_chunk.h"
#include "tuple.h"

#include <string.h>

weft_result weft__chunk_memory_allocate(weft_world *world, uint32_t size_class, weft__run *run)
{
    if (weft__small_allocate(&world->small, &world->memory, size_class, run)) return WEFT_OK;
    if (size_class < WEFT__UNIT_CLASS)
        return weft__parts_allocate(&world->parts, &world->units, size_class, run);
    return weft__units_allocate(&world->units, 1u << (size_class - WEFT__UNIT_CLASS), 0, run);
}

void weft__chunk_memory_free(weft_world *world, weft__chunk *chunk)
{
    if (chunk->base == NULL) return; /* another world has it now */
    if (chunk->first_unit == WEFT__SMALL_UNIT)
        weft__small_free(&world->small, chunk->layout->size_class, chunk->base);
    else if (chunk->unit_count == 0)
        weft__parts_free(&world->parts, &world->units, chunk->first_unit, chunk->base);
    else
        weft__units_free(&world->units, chunk->first_unit, chunk->unit_count);
}

/* Memory of a chunk object: of a chunk that ended, or new; of jobs, which have no lines, always. */
static weft__chunk *object_take(weft_world *world, bool is_private)
{
    if (is_private)
        return weft__alloc(&world->memory, WEFT__MEMORY_METADATA, 1, sizeof(weft__chunk),
                           WEFT__LINE);
    weft__chunk *chunk = world->chunks.ended;
    if (chunk == NULL) return weft__lines_take(&world->lines, &world->memory, sizeof *chunk);
    ASAN_UNPOISON_MEMORY_REGION(chunk, sizeof *chunk);
    world->chunks.ended = chunk->room_next;
    return chunk;
}

static void object_give(weft_world *world, weft__chunk *chunk, bool is_private)
{
    if (is_private) {
        weft__free(&world->memory, WEFT__MEMORY_METADATA, chunk, 1, sizeof *chunk, WEFT__LINE);
        return;
    }
    chunk->room_next = world->chunks.ended;
    world->chunks.ended = chunk;
    ASAN_POISON_MEMORY_REGION(chunk, sizeof *chunk);
}

weft__chunk *weft__chunk_make(weft_world *world, weft__tuple *tuple, const weft__layout *layout,
                              const weft__run *run, bool is_private)
{
    weft__chunk *chunk = object_take(world, is_private);
    if (chunk == NULL) return NULL;
    *chunk = (weft__chunk){.base = run->memory,
                           .layout = layout,
                           .archetype = tuple->archetype,
                           .capacity = layout->capacity,
                           .tuple = tuple,
                           .first_unit = run->first,
                           .unit_count = run->count,
                           .is_zero = run->is_zero,
                           .is_private = is_private};
    if (weft__side_begin(&world->memory, chunk)) return chunk;
    object_give(world, chunk, is_private);
    return NULL;
}

void weft__chunk_free(weft_world *world, weft__chunk *chunk)
{
    weft__side_end(&world->memory, chunk);
    object_give(world, chunk, chunk->is_private);
}

/* ---- ids and lists ---- */

void weft__chunks_init(weft_world *world)
{
    world->berths.end = 1; /* berth 0 is that of location 0 */
}

static size_t id_words(uint32_t capacity)
{
    return ((size_t)capacity + 63) / 64;
}

/* Tables with ids below `grown`. */
static weft_result ids_grow(weft_world *world, uint32_t grown)
{
    uint32_t old = world->chunks.capacity;
    weft__memory *memory = &world->memory;
    uint64_t *ids =
        weft__alloc_zeroed(memory, WEFT__MEMORY_METADATA, id_words(grown), sizeof *ids, 8);
    weft__chunk **table =
        weft__alloc_zeroed(memory, WEFT__MEMORY_METADATA, grown, sizeof *table, 8);
    if (ids == NULL || table == NULL) {
        weft__free(memory, WEFT__MEMORY_METADATA, ids, id_words(grown), sizeof *ids, 8);
        weft__free(memory, WEFT__MEMORY_METADATA, table, grown, sizeof *table, 8);
        return WEFT_OUT_OF_MEMORY;
    }
    ids[0] = 1; /* id 0 is null */
    if (old != 0) memcpy(table, world->chunks.at, old * sizeof *table);
    if (old != 0) memcpy(ids, world->chunks.ids, id_words(old) * sizeof *ids);
    weft__free(memory, WEFT__MEMORY_METADATA, world->chunks.ids, id_words(old), sizeof *ids, 8);
    weft__free(memory, WEFT__MEMORY_METADATA, world->chunks.at, old, sizeof *table, 8);
    world->chunks.ids = ids;
    world->chunks.at = table;
    world->chunks.capacity = grown;
    if (world->chunks.end == 0) world->chunks.end = 1;
    return WEFT_OK;
}

weft_result weft__chunk_ids_reserve(weft_world *world, uint32_t count)
{
    uint32_t old = world->chunks.capacity;
    uint64_t needed = (uint64_t)world->chunks.count + 1 + count, grown = old == 0 ? 16 : old;
    if (needed <= old) return WEFT_OK;
    if (needed > UINT32_MAX / 2) return WEFT_LIMIT;
    while (grown < needed) grown *= 2;
    return ids_grow(world, (uint32_t)grown);
}

/* The lowest one, so that which id comes next follows from those in use. */
static uint32_t id_lowest(weft_world *world)
{
    uint32_t word = world->chunks.id_word;
    while (~world->chunks.ids[word] == 0) word++;
    world->chunks.id_word = word;
    return word * 64 + bits_lowest(~world->chunks.ids[word]);
}

void weft__chunk_id_take(weft_world *world, weft__chunk *chunk, uint32_t id)
{
    uint64_t bit = UINT64_C(1) << id % 64;
    WEFT_ASSERT(id < world->chunks.capacity && (world->chunks.ids[id / 64] & bit) == 0);
    chunk->id = id;
    world->chunks.ids[id / 64] |= bit;
    world->chunks.at[id] = chunk;
    if (id >= world->chunks.end) world->chunks.end = id + 1;
}

void weft__chunk_id_return(weft_world *world, const weft__chunk *chunk)
{
    uint32_t word = chunk->id / 64;
    world->chunks.at[chunk->id] = NULL;
    world->chunks.ids[word] &= ~(UINT64_C(1) << chunk->id % 64);
    if (word < world->chunks.id_word) world->chunks.id_word = word;
}

weft_result weft__chunk_renumber(weft_world *world, weft__chunk *chunk, uint32_t id)
{
    if (chunk->id == id) return WEFT_OK;
    if (id == 0 || id >= WEFT__BERTH_LIMIT) return WEFT_INVALID_ARGUMENT;
    uint32_t grown = world->chunks.capacity;
    while (grown <= id) grown *= 2;
    if (grown != world->chunks.capacity && ids_grow(world, grown) != WEFT_OK)
        return WEFT_OUT_OF_MEMORY;
    if (world->chunks.at[id] != NULL) return WEFT_INVALID_ARGUMENT;
    weft__chunk_id_return(world, chunk);
    weft__chunk_id_take(world, chunk, id);
    return WEFT_OK;
}

weft_result weft__berths_reserve(weft_world *world, uint64_t berths)
{
    uint32_t old = world->berths.capacity;
    uint64_t end = (uint64_t)world->berths.end + berths, grown = old == 0 ? 16 : old;
    if (end <= old) return WEFT_OK;
    if (end > WEFT__BERTH_LIMIT) return WEFT_LIMIT;
    while (grown < end) grown *= 2;
    weft__berth *table =
        weft__alloc_zeroed(&world->memory, WEFT__MEMORY_METADATA, grown, sizeof *table, 8);
    if (table == NULL) return WEFT_OUT_OF_MEMORY;
    if (old != 0) memcpy(table, world->berths.at, world->berths.end * sizeof *table);
    weft__free(&world->memory, WEFT__MEMORY_METADATA, world->berths.at, old, sizeof *table, 8);
    world->berths.at = table;
    world->berths.capacity = (uint32_t)grown;
    weft__column_maps_grow(world);
    return WEFT_OK;
}

static uint32_t berths_obtain(weft_world *world, uint32_t capacity)
{
    uint32_t class = weft__berth_class(capacity), first = world->berths.free[class];
    if (first != 0) {
        world->berths.free[class] = (uint32_t)world->berths.at[first].next_free;
    } else {
        first = world->berths.end;
        world->berths.end += 1u << class;
    }
    WEFT_ASSERT(world->berths.end <= world->berths.capacity);
    return first << WEFT__BERTH_SHIFT;
}

static void berths_return(weft_world *world, uint32_t location, uint32_t capacity)
{
    uint32_t class = weft__berth_class(capacity), first = location >> WEFT__BERTH_SHIFT;
    world->berths.at[first].next_free = world->berths.free[class];
    world->berths.free[class] = first;
}

weft_result weft__berths_lend(weft_world *world, uint32_t capacity, uint32_t *location)
{
    weft_result result = WEFT_OK;
    if (world->berths.free[weft__berth_class(capacity)] == 0)
        result = weft__berths_reserve(world, weft__berths_of(capacity));
    if (result != WEFT_OK) return result;
    *location = berths_obtain(world, capacity);
    for (uint32_t i = 0; i < weft__berths_of(capacity); i++)
        world->berths.at[(*location >> WEFT__BERTH_SHIFT) + i].chunk = NULL;
    world->lent.berths += weft__berths_of(capacity);
    return WEFT_OK;
}

void weft__berths_take_back(weft_world *world, uint32_t location, uint32_t capacity)
{
    world->lent.berths -= weft__berths_of(capacity);
    berths_return(world, location, capacity);
}

/* The chunk has berths now: new ones, or those that were lent for it. */
static void berths_take(weft_world *world, weft__chunk *chunk)
{
    if (chunk->location == 0)
        chunk->location = berths_obtain(world, chunk->capacity);
    else
        world->lent.berths -= weft__berths_of(chunk->capacity);
    weft__berth *at = world->berths.at + (chunk->location >> WEFT__BERTH_SHIFT);
    for (uint32_t i = 0; i < weft__berths_of(chunk->capacity); i++) at[i].chunk = chunk;
}

bool weft__chunk_list_reserve(weft_world *world, weft__archetype *archetype, uint32_t count)
{
    uint32_t old = archetype->chunk_capacity;
    if (old - archetype->chunk_count >= count) return true;
    size_t grown = 2 * (size_t)old;
    while (grown < (size_t)archetype->chunk_count + count) grown *= 2;
    weft__chunk **chunks =
        weft__alloc(&world->memory, WEFT__MEMORY_METADATA, grown, sizeof *chunks, 8);
    if (chunks == NULL) return false;
    memcpy(chunks, archetype->chunks, archetype->chunk_count * sizeof *chunks);
    if (archetype->chunks != &archetype->first_chunk)
        weft__free(&world->memory, WEFT__MEMORY_METADATA, archetype->chunks, old, sizeof *chunks,
                   8);
    archetype->chunks = chunks;
    archetype->chunk_capacity = (uint32_t)grown;
    return true;
}

/* A chunk with berths can be linked, and the archetype is in the order. */
static bool lists_are_prepared(const weft_world *world, const weft__archetype *archetype)
{
    return archetype->number != WEFT__NONE && archetype->chunk_count < archetype->chunk_capacity &&
           world->chunks.count + 1 < world->chunks.capacity;
}

/* Makes sure that they are. */
static weft_result lists_prepare(weft_world *world, weft__archetype *archetype)
{
    if (lists_are_prepared(world, archetype)) return WEFT_OK;
    weft_result result = weft__archetype_enter(world, archetype);
    if (result == WEFT_OK) result = weft__chunk_ids_reserve(world, 1);
    if (result != WEFT_OK) return result;
    return weft__chunk_list_reserve(world, archetype, 1) ? WEFT_OK : WEFT_OUT_OF_MEMORY;
}

/* Makes sure weft__chunk_link cannot fail. */
static weft_result link_prepare(weft_world *world, weft__archetype *archetype, uint32_t capacity)
{
    weft_result result = lists_prepare(world, archetype);
    if (result != WEFT_OK || world->berths.free[weft__berth_class(capacity)] != 0) return result;
    return weft__berths_reserve(world, weft__berths_of(capacity));
}

void weft__chunk_link(weft_world *world, weft__chunk *chunk)
{
    weft__archetype *archetype = chunk->archetype;
    WEFT_ASSERT(archetype->number != WEFT__NONE);
    world->quick.from = NULL;
    chunk->serial = ++world->chunks.serial;
    weft__chunk_id_take(world, chunk, id_lowest(world));
    berths_take(world, chunk);
    weft__column_maps_link(world, chunk);
    world->chunks.count++;
    chunk->list_index = archetype->chunk_count;
    archetype->chunks[archetype->chunk_count++] = chunk;
    weft__tuple_enter(chunk->tuple, chunk);
    world->front.structure_version++;
    weft__chunk_room_update(chunk);
}

void weft__chunk_unlist(weft__chunk *chunk)
{
    weft__archetype *archetype = chunk->archetype;
    weft__chunk *last = archetype->chunks[--archetype->chunk_count];
    archetype->chunks[chunk->list_index] = last;
    last->list_index = chunk->list_index;
}

void weft__chunk_room_remove(weft__chunk *chunk)
{
    if (!chunk->has_room) return;
    if (chunk->room_prev != NULL)
        chunk->room_prev->room_next = chunk->room_next;
    else
        chunk->tuple->room = chunk->room_next;
    if (chunk->room_next != NULL) chunk->room_next->room_prev = chunk->room_prev;
    chunk->room_next = chunk->room_prev = NULL;
    chunk->has_room = false;
}

void weft__chunk_room_update(weft__chunk *chunk)
{
    bool has_room = chunk->count < chunk->capacity;
    if (has_room == chunk->has_room) return;
    if (!has_room) {
        weft__chunk_room_remove(chunk);
        return;
    }
    weft__tuple *tuple = chunk->tuple;
    chunk->room_prev = NULL;
    chunk->room_next = tuple->room;
    if (tuple->room != NULL) tuple->room->room_prev = chunk;
    tuple->room = chunk;
    chunk->has_room = true;
}

static void chunk_destroy(weft_world *world, weft__chunk *chunk)
{
    weft__berths_take_back(world, chunk->location, chunk->capacity);
    weft__chunk_memory_free(world, chunk);
    weft__chunk_free(world, chunk);
}

bool weft__chunk_spares_free(weft_world *world)
{
    bool has_any = world->spares.count != 0;
    for (weft__chunk *spare; (spare = weft__spare_drop(world)) != NULL;)
        chunk_destroy(world, spare);
    return has_any;
}

/* The spare chunk of the tuple, linked again; NULL: there is none of this size, or no memory. */
static weft__chunk *spare_link(weft_world *world, weft__tuple *tuple, uint32_t size_class)
{
    weft__archetype *archetype = tuple->archetype;
    if (archetype->spare == NULL || lists_prepare(world, archetype) != WEFT_OK) return NULL;
    weft__chunk *chunk = weft__spare_take(world, tuple, size_class);
    if (chunk != NULL) weft__chunk_link(world, chunk);
    return chunk;
}

weft__chunk *weft__chunk_spare(const weft_world *world, const weft__tuple *tuple)
{
    weft__chunk *chunk = weft__spare_for_one(tuple);
    return chunk != NULL && lists_are_prepared(world, tuple->archetype) ? chunk : NULL;
}

void weft__chunk_revive(weft_world *world, weft__chunk *spare)
{
    weft__spare_leave(world, spare);
    weft__chunk_link(world, spare);
}

weft__chunk *weft__chunk_create(weft_world *world, weft__tuple *tuple, uint32_t size_class)
{
    weft__chunk *spare = spare_link(world, tuple, size_class);
    if (spare != NULL) return spare;
    const weft__layout *layout = weft__layout_obtain(world, tuple->archetype->format, size_class);
    if (layout == NULL) return NULL;
    weft__run run;
    weft_result result = link_prepare(world, tuple->archetype, layout->capacity);
    if (result == WEFT_OK) result = weft__chunk_memory_allocate(world, size_class, &run);
    if (result != WEFT_OK && weft__chunk_spares_free(world))
        return weft__chunk_create(world, tuple, size_class);
    if (result != WEFT_OK) {
        weft__error_limit(world, result, "chunk");
        return NULL;
    }
    weft__chunk *chunk = weft__chunk_make(world, tuple, layout, &run, false);
    if (chunk == NULL) {
        weft__chunk gone = {
            .base = run.memory, .layout = layout, .first_unit = run.first, .unit_count = run.count};
        weft__chunk_memory_free(world, &gone);
        if (weft__chunk_spares_free(world)) return weft__chunk_create(world, tuple, size_class);
        weft__error_memory(world, "chunk");
        return NULL;
    }
    weft__chunk_link(world, chunk);
    return chunk;
}

weft__chunk *weft__chunk_adopt(weft_world *world, weft__tuple *tuple, uint32_t size_class,
                               const weft__run *run)
{
    const weft__layout *layout = weft__layout_obtain(world, tuple->archetype->format, size_class);
    if (layout == NULL) return NULL;
    weft_result result = link_prepare(world, tuple->archetype, layout->capacity);
    weft__chunk *chunk =
        result == WEFT_OK ? weft__chunk_make(world, tuple, layout, run, false) : NULL;
    if (chunk == NULL) {
        weft__error_limit(world, result == WEFT_OK ? WEFT_OUT_OF_MEMORY : result, "chunk");
        return NULL;
    }
    weft__chunk_link(world, chunk);
    return chunk;
}

/* Takes a chunk out of everything that the world knows it by; its berths are lent to it now. */
static void chunk_unlink(weft_world *world, weft__chunk *chunk)
{
    world->quick.from = NULL;
    weft__chunk_room_remove(chunk);
    weft__chunk_unlist(chunk);
    weft__chunk_id_return(world, chunk);
    weft__column_maps_unlink(world, chunk);
    world->lent.berths += weft__berths_of(chunk->capacity);
    world->chunks.count--;
    weft__tuple_leave(chunk->tuple, chunk);
    world->front.structure_version++;
}

void weft__chunk_detach(weft_world *world, weft__chunk *chunk)
{
    weft__tuple *tuple = chunk->tuple;
    weft__chunk_count_rows(world, chunk, -(int64_t)chunk->count);
    chunk_unlink(world, chunk);
    weft__berths_take_back(world, chunk->location, chunk->capacity);
    chunk->location = 0;
    weft__tuple_release(world, tuple);
}

static void let_go(weft_world *world, weft__chunk *chunk, bool is_clean)
{
    weft__tuple *tuple = chunk->tuple;
    WEFT_ASSERT(chunk->count == 0);
    chunk_unlink(world, chunk);
    weft__chunk *gone = weft__spare_keep(world, chunk);
    if (gone != chunk && !is_clean) weft__spare_forget(chunk);
    if (gone != NULL) chunk_destroy(world, gone);
    weft__tuple_release(world, tuple);
}

void weft__chunk_release(weft_world *world, weft__chunk *chunk)
{
    let_go(world, chunk, false);
}

void weft__chunk_release_clean(weft_world *world, weft__chunk *chunk)
{
    let_go(world, chunk, true);
}

static void chunk_end(weft_world *world, weft__chunk *chunk)
{
    const weft__type *const *types = chunk->archetype->format->types;
    for (uint32_t column = 1; column < chunk->layout->column_count; column++)
        if (types[column]->needs_destruct)
            weft__type_destruct(&world->memory, types[column], weft__chunk_column(chunk, column),
                                chunk->count);
    weft__chunk_free(world, chunk);
}

void weft__chunks_fini(weft_world *world)
{
    weft__chunk_spares_free(world);
    for (uint32_t id = 1; id < world->chunks.end; id++)
        if (world->chunks.at[id] != NULL) chunk_end(world, world->chunks.at[id]);
    weft__free(&world->memory, WEFT__MEMORY_METADATA, world->chunks.at, world->chunks.capacity,
               sizeof *world->chunks.at, 8);
    weft__free(&world->memory, WEFT__MEMORY_METADATA, world->berths.at, world->berths.capacity,
               sizeof *world->berths.at, 8);
    weft__column_maps_fini(world);
    weft__free(&world->memory, WEFT__MEMORY_METADATA, world->chunks.ids,
               id_words(world->chunks.capacity), sizeof *world->chunks.ids, 8);
}

void weft__stamp_newer(weft_a32 *x_version, uint32_t version)
{
    /* relaxed: read after the next sync point; several moves may raise the same slice */
    uint32_t now = at_load_rlx(x_version);
    while (weft__version_is_newer(version, now) && !at_cas_ar(x_version, &now, version)) {
    } /* C1 */
}
