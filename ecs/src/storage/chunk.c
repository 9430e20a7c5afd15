/* SPDX-License-Identifier: MIT */
/* chunk.c: making and releasing chunks: memory from units or parts, side memory, id, and the lists
 * of the archetype and the tuple. Everything that can fail comes before the first change. Owner
 * only, except side memory and chunk memory of private chunks (private_chunk.c). */

#include "chunk.h"
#include "archetype.h"
#include "column_map.h"

/* ---- side memory ---- */

/* Byte offsets of the parts of side memory. A value. Always: values <= disabled <= versions <=
 * counts <= bytes. */
typedef struct side_map {
    size_t values; /* 64-aligned, first */
    size_t disabled;
    size_t versions;
    size_t counts;
    size_t bytes;
} side_map;

static side_map side_map_of(const weft__archetype *archetype, const weft__layout *layout)
{
    side_map map = {0};
    map.disabled = bits_align_up(archetype->chunk_value_bytes, 8);
    map.versions =
        map.disabled + (size_t)archetype->enableable_count * layout->mask_words * sizeof(weft_a64);
    map.counts =
        map.versions + (size_t)archetype->type_count * layout->slice_count * sizeof(weft_a32);
    map.bytes =
        map.counts + (size_t)archetype->enableable_count * layout->slice_count * sizeof(weft_a32);
    return map;
}

static size_t side_alignment(bool has_chunk_values)
{
    return has_chunk_values ? 64 : 8;
}

/* Where the parts are in a block. */
static weft__side side_at(char *block, const weft__archetype *archetype, const side_map *map)
{
    return (weft__side){.block = block,
                        .chunk_values = archetype->chunk_value_bytes != 0 ? block : NULL,
                        .x_disabled = (weft_a64 *)(void *)(block + map->disabled),
                        .x_versions = (weft_a32 *)(void *)(block + map->versions),
                        .x_disabled_counts = (weft_a32 *)(void *)(block + map->counts),
                        .bytes = (uint32_t)map->bytes};
}

bool weft__side_allocate(weft__memory *memory, const weft__archetype *archetype,
                         const weft__layout *layout, weft__side *out)
{
    side_map map = side_map_of(archetype, layout);
    *out = (weft__side){0};
    if (map.bytes == 0) return true;
    char *block = weft__alloc_zeroed(memory, WEFT__MEMORY_METADATA, map.bytes, 1,
                                     side_alignment(archetype->chunk_value_bytes != 0));
    if (block != NULL) *out = side_at(block, archetype, &map);
    return block != NULL;
}

void weft__side_free(weft__memory *memory, const weft__side *side)
{
    weft__free(memory, WEFT__MEMORY_METADATA, side->block, side->bytes, 1,
               side_alignment(side->chunk_values != NULL));
}

static void side_install(weft__chunk *chunk, const weft__side *side)
{
    chunk->side_bytes = side->bytes;
    chunk->chunk_values = side->chunk_values;
    chunk->x_disabled = side->x_disabled;
    chunk->x_versions = side->x_versions;
    chunk->x_disabled_counts = side->x_disabled_counts;
}

/* Side memory of a size lies within the chunk. */
static bool is_own_side(const weft__archetype *archetype, size_t bytes)
{
    return archetype->chunk_value_bytes == 0 && bytes <= WEFT__OWN_SIDE;
}

/* Gives a new chunk, all zero but for its archetype and layout, its side memory, zeroed. False: no
 * memory. Threads: any. */
static bool side_begin(weft__memory *memory, weft__chunk *chunk)
{
    side_map map = side_map_of(chunk->archetype, chunk->layout);
    weft__side side = side_at(chunk->own_side, chunk->archetype, &map);
    if (!is_own_side(chunk->archetype, map.bytes) &&
        !weft__side_allocate(memory, chunk->archetype, chunk->layout, &side))
        return false;
    side_install(chunk, &side);
    return true;
}

/* Frees it. */
static void side_end(weft__memory *memory, const weft__chunk *chunk)
{
    weft__side side = {.block = weft__chunk_side(chunk),
                       .chunk_values = chunk->chunk_values,
                       .bytes = chunk->side_bytes};
    if (side.block != chunk->own_side) weft__side_free(memory, &side);
}

/* The chunk, which is to be of this archetype and layout, has this side memory from now on: a small
 * block is copied into the chunk and goes. What it had is the caller's. */
static void side_put(weft__memory *memory, weft__chunk *chunk, const weft__archetype *archetype,
                     const weft__layout *layout, const weft__side *side)
{
    side_map map = side_map_of(archetype, layout);
    if (!is_own_side(archetype, map.bytes)) {
        side_install(chunk, side);
        return;
    }
    if (map.bytes != 0) memcpy(chunk->own_side, side->block, map.bytes);
    weft__side_free(memory, side);
    weft__side own = side_at(chunk->own_side, archetype, &map);
    side_install(chunk, &own);
}

void weft__side_replace(weft__memory *memory, weft__chunk *chunk, const weft__archetype *archetype,
                        const weft__layout *layout, const weft__side *side)
{
    side_end(memory, chunk);
    side_put(memory, chunk, archetype, layout, side);
}

bool weft__side_check(const weft__chunk *chunk)
{
    const char *block = weft__chunk_side(chunk), *versions = (const char *)chunk->x_versions;
    if (chunk->side_bytes == 0) return true;
    return (block == chunk->own_side) == is_own_side(chunk->archetype, chunk->side_bytes) &&
           versions >= block && versions < block + chunk->side_bytes;
}

/* ---- spare chunks ---- */

/* The spare chunk of a tuple without rows, if one row would get a new chunk like it. Its only slice
 * is stamped with that row, so its side memory and its ready rows may stay as they are. NULL: there
 * is none. */
static inline weft__chunk *spare_for_one(const weft__tuple *tuple)
{
    weft__chunk *chunk = tuple->archetype->spare;
    if (chunk == NULL || tuple->chunk_count != 0 || tuple != tuple->archetype->tuple0) return NULL;
    const weft__layout *layout = chunk->layout;
    WEFT_ASSERT(layout->slice_count == 1); /* format.c: the slices of long chunks have 64 rows */
    bool is_of_size = layout->size_class == tuple->archetype->format->smallest_class;
    return is_of_size && layout->capacity != 1 && chunk->chunk_values == NULL ? chunk : NULL;
}

/* The spare chunk is one no longer. */
static inline void spare_leave(weft_world *world, weft__chunk *chunk)
{
    world->spares.ring[chunk->id % WEFT__SPARES] = NULL;
    world->spares.count--;
    chunk->archetype->spare = NULL;
    chunk->id = 0;
}

/* The chunk takes the place of a spare of another size: populations that come and go keep what they
 * began with. Returns the one that goes. */
static weft__chunk *spare_replace(weft_world *world, weft__chunk *chunk)
{
    weft__chunk *spare = chunk->archetype->spare;
    if (spare->layout == chunk->layout) return chunk;
    chunk->id = spare->id;
    world->spares.ring[chunk->id % WEFT__SPARES] = chunk->archetype->spare = chunk;
    return spare;
}

/* Keeps an unlinked, empty chunk. Returns what is to be freed: it, where it is none to keep, or the
 * oldest one, or NULL. */
static weft__chunk *spare_keep(weft_world *world, weft__chunk *chunk)
{
    weft__archetype *archetype = chunk->archetype;
    bool is_small = chunk->layout->size_class < WEFT__UNIT_CLASS;
    if (!is_small || chunk->tuple != archetype->tuple0) return chunk;
    if (archetype->spare != NULL) return spare_replace(world, chunk);
    uint32_t number = world->spares.next++;
    weft__chunk *oldest = world->spares.ring[number % WEFT__SPARES];
    if (oldest != NULL) spare_leave(world, oldest);
    world->spares.ring[number % WEFT__SPARES] = archetype->spare = chunk;
    world->spares.count++;
    chunk->id = number;
    return oldest;
}

/* An empty chunk is as new but for bytes in its rows. */
static void spare_forget(weft__chunk *chunk)
{
    if (chunk->side_bytes != 0) memset(weft__chunk_side(chunk), 0, chunk->side_bytes);
    weft__chunk_soil(chunk);
    chunk->stamped_version = chunk->ready_version = chunk->order_version = 0;
}

/* The spare chunk of a tuple, as new but for bytes in its rows; NULL: there is none of this
 * size. */
static weft__chunk *spare_take(weft_world *world, weft__tuple *tuple, uint32_t size_class)
{
    weft__chunk *chunk = tuple->archetype->spare;
    if (chunk == NULL || tuple != tuple->archetype->tuple0 ||
        chunk->layout->size_class != size_class)
        return NULL;
    spare_leave(world, chunk);
    spare_forget(chunk);
    return chunk;
}

/* A spare chunk, which is one no longer; NULL: there is none. */
static weft__chunk *spare_drop(weft_world *world)
{
    if (world->spares.count == 0) return NULL;
    uint32_t i = 0;
    while (world->spares.ring[i] == NULL) i++;
    weft__chunk *chunk = world->spares.ring[i];
    spare_leave(world, chunk);
    return chunk;
}

void weft__spares_forget_versions(weft_world *world)
{
    for (uint32_t i = 0; i < WEFT__SPARES; i++) {
        weft__chunk *chunk = world->spares.ring[i];
        if (chunk != NULL) chunk->stamped_version = chunk->ready_version = 0;
    }
}

/* Memory for rows. Owner. Errors: OUT_OF_MEMORY, LIMIT; none is set. */
static weft_result memory_allocate(weft_world *world, uint32_t size_class, weft__run *run)
{
    if (!world->units.is_mirrored &&
        weft__small_allocate(&world->small, &world->memory, size_class, run))
        return WEFT_OK;
    if (size_class < WEFT__UNIT_CLASS)
        return weft__parts_allocate(&world->parts, &world->units, size_class, run);
    return weft__units_take(&world->units, 1u << (size_class - WEFT__UNIT_CLASS), 0, run);
}

/* Gives the rows' memory back. Owner (parts), any thread (units). */
static void memory_free(weft_world *world, weft__chunk *chunk)
{
    if (chunk->first_unit == WEFT__SMALL_UNIT)
        weft__small_free(&world->small, chunk->layout->size_class, chunk->base);
    else if (chunk->unit_count == 0)
        weft__parts_free(&world->parts, &world->units, chunk->first_unit, chunk->base);
    else
        weft__units_free(&world->units, chunk->first_unit, chunk->unit_count);
}

/* Gives back memory that no chunk has. */
static void run_free(weft_world *world, const weft__layout *layout, const weft__run *run)
{
    weft__chunk gone = {
        .base = run->memory, .layout = layout, .first_unit = run->first, .unit_count = run->count};
    memory_free(world, &gone);
}

/* Memory of a chunk object: of a chunk that ended, or new; of jobs, which have no lines, always. */
static weft__chunk *object_take(weft_world *world, bool is_private)
{
    if (is_private) return WEFT__NEW(&world->memory, WEFT__MEMORY_METADATA, 1, weft__chunk);
    weft__chunk *chunk = world->chunks.ended;
    if (chunk == NULL) return weft__lines_take(&world->lines, &world->memory, sizeof *chunk);
    ASAN_UNPOISON_MEMORY_REGION(chunk, sizeof *chunk);
    world->chunks.ended = chunk->room_next;
    return chunk;
}

static void object_give(weft_world *world, weft__chunk *chunk, bool is_private)
{
    if (is_private) {
        WEFT__FREE(&world->memory, WEFT__MEMORY_METADATA, chunk, 1);
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
    if (side_begin(&world->memory, chunk)) return chunk;
    object_give(world, chunk, is_private);
    return NULL;
}

void weft__chunk_free(weft_world *world, weft__chunk *chunk)
{
    side_end(&world->memory, chunk);
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
    uint64_t *ids = WEFT__NEW_ZEROED(memory, WEFT__MEMORY_METADATA, id_words(grown), *ids);
    weft__chunk **table = WEFT__NEW_ZEROED(memory, WEFT__MEMORY_METADATA, grown, *table);
    if (ids == NULL || table == NULL) {
        WEFT__FREE(memory, WEFT__MEMORY_METADATA, ids, id_words(grown));
        WEFT__FREE(memory, WEFT__MEMORY_METADATA, table, grown);
        return WEFT_OUT_OF_MEMORY;
    }
    ids[0] = 1; /* id 0 is null */
    if (old != 0) memcpy(table, world->chunks.at, old * sizeof *table);
    if (old != 0) memcpy(ids, world->chunks.ids, id_words(old) * sizeof *ids);
    WEFT__FREE(memory, WEFT__MEMORY_METADATA, world->chunks.ids, id_words(old));
    WEFT__FREE(memory, WEFT__MEMORY_METADATA, world->chunks.at, old);
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
    weft__berth *table = WEFT__NEW_ZEROED(&world->memory, WEFT__MEMORY_METADATA, grown, *table);
    if (table == NULL) return WEFT_OUT_OF_MEMORY;
    if (old != 0) memcpy(table, world->berths.at, world->berths.end * sizeof *table);
    WEFT__FREE(&world->memory, WEFT__MEMORY_METADATA, world->berths.at, old);
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
    uint32_t class = weft__berth_class(capacity), first = location >> WEFT__BERTH_SHIFT;
    world->berths.at[first].next_free = world->berths.free[class];
    world->berths.free[class] = first;
}

bool weft__chunk_list_reserve(weft_world *world, weft__archetype *archetype, uint32_t count)
{
    uint32_t old = archetype->chunk_capacity;
    if (old - archetype->chunk_count >= count) return true;
    size_t grown = 2 * (size_t)old;
    while (grown < (size_t)archetype->chunk_count + count) grown *= 2;
    weft__chunk **chunks = WEFT__NEW(&world->memory, WEFT__MEMORY_METADATA, grown, *chunks);
    if (chunks == NULL) return false;
    memcpy(chunks, archetype->chunks, archetype->chunk_count * sizeof *chunks);
    if (archetype->chunks != &archetype->first_chunk)
        WEFT__FREE(&world->memory, WEFT__MEMORY_METADATA, archetype->chunks, old);
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
    /* The chunk has berths now: new ones, or those that were lent for it. */
    if (chunk->location == 0)
        chunk->location = berths_obtain(world, chunk->capacity);
    else
        world->lent.berths -= weft__berths_of(chunk->capacity);
    weft__berth *at = world->berths.at + (chunk->location >> WEFT__BERTH_SHIFT);
    for (uint32_t i = 0; i < weft__berths_of(chunk->capacity); i++) at[i].chunk = chunk;
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
    memory_free(world, chunk);
    weft__chunk_free(world, chunk);
}

bool weft__chunk_spares_free(weft_world *world)
{
    bool has_any = world->spares.count != 0;
    for (weft__chunk *spare; (spare = spare_drop(world)) != NULL;) chunk_destroy(world, spare);
    return has_any;
}

/* The spare chunk of the tuple, linked again; NULL: there is none of this size, or no memory. */
static weft__chunk *spare_link(weft_world *world, weft__tuple *tuple, uint32_t size_class)
{
    weft__archetype *archetype = tuple->archetype;
    if (archetype->spare == NULL || lists_prepare(world, archetype) != WEFT_OK) return NULL;
    weft__chunk *chunk = spare_take(world, tuple, size_class);
    if (chunk != NULL) weft__chunk_link(world, chunk);
    return chunk;
}

weft__chunk *weft__chunk_spare(const weft_world *world, const weft__tuple *tuple)
{
    weft__chunk *chunk = spare_for_one(tuple);
    return chunk != NULL && lists_are_prepared(world, tuple->archetype) ? chunk : NULL;
}

void weft__chunk_revive(weft_world *world, weft__chunk *spare)
{
    spare_leave(world, spare);
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
    if (result == WEFT_OK) result = memory_allocate(world, size_class, &run);
    if (result != WEFT_OK && weft__chunk_spares_free(world))
        return weft__chunk_create(world, tuple, size_class);
    if (result != WEFT_OK) {
        weft__error_limit(world, result, "chunk");
        return NULL;
    }
    weft__chunk *chunk = weft__chunk_make(world, tuple, layout, &run, false);
    if (chunk == NULL) {
        run_free(world, layout, &run);
        if (weft__chunk_spares_free(world)) return weft__chunk_create(world, tuple, size_class);
        weft__error_memory(world, "chunk");
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

void weft__chunk_release(weft_world *world, weft__chunk *chunk, bool is_clean)
{
    weft__tuple *tuple = chunk->tuple;
    WEFT_ASSERT(chunk->count == 0);
    chunk_unlink(world, chunk);
    weft__chunk *gone = spare_keep(world, chunk);
    if (gone != chunk && !is_clean) spare_forget(chunk);
    if (gone != NULL) chunk_destroy(world, gone);
    weft__tuple_release(world, tuple);
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
    WEFT__FREE(&world->memory, WEFT__MEMORY_METADATA, world->chunks.at, world->chunks.capacity);
    WEFT__FREE(&world->memory, WEFT__MEMORY_METADATA, world->berths.at, world->berths.capacity);
    weft__column_maps_fini(world);
    WEFT__FREE(&world->memory, WEFT__MEMORY_METADATA, world->chunks.ids,
               id_words(world->chunks.capacity));
}

void weft__stamp_newer(weft_a32 *x_version, uint32_t version)
{
    /* relaxed: read after the next sync point; several moves may raise the same slice */
    uint32_t now = at_load_rlx(x_version);
    while (weft__version_is_newer(version, now) && !at_cas_ar(x_version, &now, version)) {
    } /* C1 */
}

/* ---- growth in place ---- */

/* What a growth replaced. Owner: the list of the operation. */
struct weft__growth {
    weft__growth *next;
    weft__chunk *chunk;
    weft__chunk was; /* its fields before: memory, layout, side memory and rows as they were */
    uint32_t first;
};

/* A function of the layout of the world, not of how it came to be: worlds that were restored do the
 * same as those that were not. */
static weft__chunk *only_chunk(weft__tuple *tuple)
{
    if (tuple->chunk_count != 1) return NULL;
    weft__chunk *const *chunks = tuple->archetype->chunks;
    for (uint32_t i = 0; tuple->some == NULL; i++)
        if (chunks[i]->tuple == tuple) tuple->some = chunks[i];
    return tuple->some;
}

/* The smallest class with room for `count` more rows, or the largest one that the chunk can have;
 * its own: it cannot grow. The rows keep their locations, so there are as many berths. */
static uint32_t class_for(const weft__chunk *chunk, uint64_t count)
{
    const weft__format *format = chunk->archetype->format;
    uint32_t size_class = chunk->layout->size_class;
    if (format->row_limit != UINT32_MAX) return size_class;
    while (size_class < WEFT__UNIT_CLASS &&
           weft__format_capacity(format, size_class) < chunk->count + count &&
           weft__berths_of(weft__format_capacity(format, size_class + 1)) ==
               weft__berths_of(chunk->capacity))
        size_class++;
    return size_class;
}

/* Slices and words of rows begin at the same rows in all layouts of a format. */
static void side_copy(const weft__chunk *from, const weft__layout *layout, const weft__side *to)
{
    const weft__archetype *archetype = from->archetype;
    size_t slices = from->layout->slice_count, words = from->layout->mask_words;
    if (archetype->chunk_value_bytes != 0)
        memcpy(to->chunk_values, from->chunk_values, archetype->chunk_value_bytes);
    for (uint32_t type = 0; type < archetype->type_count; type++)
        memcpy(to->x_versions + (size_t)type * layout->slice_count,
               weft__chunk_versions(from, type), slices * sizeof(weft_a32));
    for (uint32_t e = 0; e < archetype->enableable_count; e++) {
        memcpy(to->x_disabled + (size_t)e * layout->mask_words, weft__chunk_disabled(from, e),
               words * sizeof(weft_a64));
        memcpy(to->x_disabled_counts + (size_t)e * layout->slice_count,
               weft__chunk_disabled_counts(from, e), slices * sizeof(weft_a32));
    }
}

/* The chunk takes the memory over. Rows that are reserved but not written yet are below its count:
 * they read as zero only if they did so before. */
static void memory_install(weft__chunk *chunk, const weft__layout *layout, const weft__run *run)
{
    chunk->base = run->memory;
    chunk->layout = layout;
    chunk->capacity = layout->capacity;
    chunk->first_unit = run->first;
    chunk->unit_count = run->count;
    chunk->is_zero = chunk->is_zero && run->is_zero;
    chunk->ready_end = 0;
}

/* `was`: gets what the chunk had; NULL: that goes. */
static bool memory_grow(weft_world *world, weft__chunk *chunk, uint32_t size_class,
                        weft__chunk *was)
{
    const weft__layout *layout = weft__layout_any(world, chunk->archetype->format, size_class);
    weft__run run;
    weft__side side;
    if (layout == NULL || memory_allocate(world, size_class, &run) != WEFT_OK) return false;
    if (!weft__side_allocate(&world->memory, chunk->archetype, layout, &side)) {
        run_free(world, layout, &run);
        return false;
    }
    for (uint32_t column = 0; column < layout->column_count; column++)
        memcpy((char *)run.memory + layout->columns[column].offset,
               weft__chunk_column(chunk, column),
               (size_t)chunk->count * layout->columns[column].bytes);
    side_copy(chunk, layout, &side);
    if (was != NULL) {
        *was = *chunk;
    } else {
        memory_free(world, chunk);
        side_end(&world->memory, chunk);
    }
    memory_install(chunk, layout, &run);
    side_put(&world->memory, chunk, chunk->archetype, layout, &side);
    return true;
}

/* The rows are in other memory. */
static void chunk_moved(weft_world *world, weft__chunk *chunk)
{
    chunk->serial = ++world->chunks.serial; /* no snapshot has these rows in this layout */
    world->quick.from = NULL;
    world->front.structure_version++;
    weft__column_maps_link(world, chunk);
    weft__chunk_room_update(chunk);
}

static void growth_free(weft_world *world, weft__growth *growth)
{
    WEFT__FREE(&world->memory, WEFT__MEMORY_COMMANDS, growth, 1);
}

weft__chunk *weft__chunk_grow(weft_world *world, weft__tuple *tuple, uint64_t count,
                              weft__growth **list, uint32_t first)
{
    weft__chunk *chunk = only_chunk(tuple);
    if (chunk == NULL || chunk->count != chunk->capacity) return NULL;
    uint32_t size_class = class_for(chunk, count);
    if (size_class == chunk->layout->size_class) return NULL;
    weft__growth *growth =
        list != NULL ? WEFT__NEW(&world->memory, WEFT__MEMORY_COMMANDS, 1, weft__growth) : NULL;
    if ((list != NULL && growth == NULL) ||
        !memory_grow(world, chunk, size_class, growth != NULL ? &growth->was : NULL)) {
        growth_free(world, growth);
        return NULL;
    }
    if (growth != NULL) {
        growth->chunk = chunk;
        growth->next = *list;
        growth->first = first;
        *list = growth;
    }
    chunk_moved(world, chunk);
    return chunk;
}

void weft__growths_keep(weft_world *world, weft__growth **list)
{
    for (weft__growth *growth; (growth = *list) != NULL;) {
        weft__chunk *was = &growth->was;
        weft__side side = {.block = weft__chunk_side(was),
                           .chunk_values = was->chunk_values,
                           .bytes = was->side_bytes};
        memory_free(world, was);
        if (side.block != growth->chunk->own_side) weft__side_free(&world->memory, &side);
        *list = growth->next;
        growth_free(world, growth);
    }
}

void weft__growths_undo(weft_world *world, weft__growth **list, uint32_t from)
{
    for (weft__growth *growth; (growth = *list) != NULL && growth->first >= from;) {
        weft__chunk *chunk = growth->chunk;
        const weft__chunk *was = &growth->was;
        memory_free(world, chunk);
        side_end(&world->memory, chunk);
        chunk->base = was->base;
        chunk->layout = was->layout;
        chunk->capacity = was->capacity;
        chunk->first_unit = was->first_unit;
        chunk->unit_count = was->unit_count;
        chunk->is_zero = was->is_zero;
        chunk->ready_end = was->ready_end;
        chunk->ready_version = was->ready_version;
        chunk->x_versions = was->x_versions;
        chunk->x_disabled = was->x_disabled;
        chunk->x_disabled_counts = was->x_disabled_counts;
        chunk->chunk_values = was->chunk_values;
        chunk->side_bytes = was->side_bytes;
        memcpy(chunk->own_side, was->own_side, sizeof chunk->own_side);
        chunk_moved(world, chunk);
        *list = growth->next;
        growth_free(world, growth);
    }
}
