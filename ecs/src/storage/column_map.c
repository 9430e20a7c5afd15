/* SPDX-License-Identifier: MIT */
/* column_map.c: making and keeping the maps of column_map.h, and what finder.h knows of them.
 *
 * Nothing here is hot: look-ups are inline, in finder.h and column_map.h. */
#include "column_map.h"
#include "sparse.h"

/* ---- one map ---- */

static inline weft__column_place *map_of(const weft_world *world, uint32_t component)
{
    return weft__column_map_of(world, component).places;
}

static uint32_t maps_end(const weft__column_maps *maps)
{
    return maps->end < WEFT__MAPS_FEW ? WEFT__MAPS_FEW : maps->end;
}

/* Address space that reads as zero; only what is written takes memory. */
static void *reserve(const weft_world *world, size_t bytes)
{
    return world->desc.os->map(world->desc.os->user, bytes, 4096);
}

static void count_memory(weft_world *world, int64_t berths)
{
    weft__memory_count(&world->memory, WEFT__MEMORY_METADATA,
                       berths * (int64_t)sizeof(weft__column_place));
}

/* What the entries of a chunk's berths are for one of its columns. */
static weft__column_place column_place(const weft__chunk *chunk, uint32_t column)
{
    uint64_t bytes = chunk->layout->columns[column].bytes;
    uint64_t origin = (uintptr_t)weft__chunk_column(chunk, column) - chunk->location * bytes;
    return origin << 16 | bytes;
}

static void map_set(weft__column_place *map, const weft__chunk *chunk, weft__column_place place)
{
    uint32_t first = chunk->location >> WEFT__BERTH_SHIFT;
    uint32_t count = weft__berths_of(chunk->capacity);
    for (uint32_t i = 0; i < count; i++) map[first + i] = place;
}

/* Makes room to note the map of a component. */
static bool maps_reserve(weft_world *world, uint32_t component)
{
    weft__column_maps *maps = &world->front.maps;
    if (component < maps_end(maps)) return true;
    uint32_t end = 2 * maps_end(maps);
    while (end <= component) end *= 2;
    weft__column_map *many = WEFT__NEW_ZEROED(&world->memory, WEFT__MEMORY_METADATA, end, *many);
    if (many == NULL) return false;
    if (maps->end != 0) memcpy(many, maps->many, maps->end * sizeof *many);
    WEFT__FREE(&world->memory, WEFT__MEMORY_METADATA, maps->many, maps->end);
    maps->many = many;
    maps->end = end;
    return true;
}

/* There is room for it. */
static void map_note(weft__column_maps *maps, uint32_t component, weft__column_map map)
{
    if (component >= WEFT__MAPS_FEW) {
        maps->many[component] = map;
        return;
    }
    maps->few[component] = map.places;
    maps->few_blocks[component] = map.blocks;
}

static bool has_map(const weft__type *type)
{
    return type->value_bytes != 0 && type->value_bytes < WEFT__MAP_BYTES_END;
}

bool weft__column_maps_see(weft_world *world)
{
    const weft__directory *directory = &world->directory;
    weft__column_maps *maps = &world->front.maps;
    uint32_t end = at_load_acq(&directory->x_block_end); /* D3 */
    if (maps->seen == NULL) maps->seen = reserve(world, WEFT__SEEN_BYTES);
    if (maps->seen == NULL) return false;
    uint32_t first = directory->tag_bits / WEFT__BLOCK_SLOTS;
    for (; maps->seen_end < end; maps->seen_end++)
        maps->seen[first + maps->seen_end] =
            weft__directory_block(directory, maps->seen_end * WEFT__BLOCK_SLOTS);
    return true;
}

void weft__column_maps_block(weft_world *world, uint32_t block)
{
    weft__column_maps *maps = &world->front.maps;
    if (maps->seen == NULL || block >= maps->seen_end) return;
    maps->seen[world->directory.tag_bits / WEFT__BLOCK_SLOTS + block] =
        weft__directory_block(&world->directory, block * WEFT__BLOCK_SLOTS);
}

const weft__column_place *weft__column_map_obtain(weft_world *world, uint32_t component)
{
    const weft__type *type = component <= world->types.count ? world->types.at[component] : NULL;
    if (type == NULL || !has_map(type) || !weft__column_maps_see(world)) return NULL;
    if (map_of(world, component) != NULL) return map_of(world, component);
    if (!maps_reserve(world, component)) return NULL;
    weft__entity_block **blocks =
        type->sparse == NULL ? world->front.maps.seen : type->sparse->blocks;
    weft__column_place *map = reserve(world, WEFT__MAP_BYTES);
    if (map == NULL) return NULL;
    for (uint32_t id = 1; id < world->chunks.end; id++) {
        const weft__chunk *chunk = world->chunks.at[id];
        if (chunk == NULL) continue;
        const weft__type_slot *slot = weft__archetype_slot(chunk->archetype, component);
        if (slot != NULL && slot->column != 0)
            map_set(map, chunk, column_place(chunk, slot->column));
    }
    map_note(&world->front.maps, component, (weft__column_map){blocks, map});
    world->front.maps.count++;
    world->front.maps.counted = world->berths.capacity;
    count_memory(world, world->berths.capacity);
    return map;
}

void weft__column_maps_refresh(weft_world *world)
{
    if (world->front.maps.count != 0) weft__column_maps_see(world);
}

void weft__column_map_miss(weft_world *world, uint32_t component, uint32_t count)
{
    weft__type *type = world->types.at[component];
    if (!has_map(type)) return;
    if (map_of(world, component) != NULL) {
        weft__column_maps_see(world);
        return;
    }
    uint64_t misses = (uint64_t)type->map_misses + count;
    type->map_misses = misses > world->berths.end ? 0 : (uint32_t)misses;
    if (misses > world->berths.end) weft__column_map_obtain(world, component);
}

/* ---- all maps ---- */

static inline void maps_set(const weft_world *world, const weft__chunk *chunk, bool is_there)
{
    if (world->front.maps.count == 0) return;
    for (uint32_t column = 1; column < chunk->layout->column_count; column++) {
        weft__column_place *map = map_of(world, chunk->archetype->format->types[column]->id);
        if (map != NULL) map_set(map, chunk, is_there ? column_place(chunk, column) : 0);
    }
}

void weft__column_maps_link(const weft_world *world, const weft__chunk *chunk)
{
    maps_set(world, chunk, true);
}

void weft__column_maps_unlink(const weft_world *world, const weft__chunk *chunk)
{
    maps_set(world, chunk, false);
}

void weft__column_maps_grow(weft_world *world)
{
    weft__column_maps *maps = &world->front.maps;
    count_memory(world, (int64_t)maps->count * (world->berths.capacity - maps->counted));
    maps->counted = world->berths.capacity;
}

void weft__column_maps_fini(weft_world *world)
{
    weft__column_maps *maps = &world->front.maps;
    const weft_os *os = world->desc.os;
    for (uint32_t component = 0; component < maps_end(maps); component++) {
        weft__column_place *map = map_of(world, component);
        if (map != NULL) os->unmap(os->user, map, WEFT__MAP_BYTES);
    }
    if (maps->seen != NULL) os->unmap(os->user, maps->seen, WEFT__SEEN_BYTES);
    count_memory(world, -(int64_t)maps->count * maps->counted);
    WEFT__FREE(&world->memory, WEFT__MEMORY_METADATA, maps->many, maps->end);
}

bool weft__column_maps_check(const weft_world *world, const weft__chunk *chunk)
{
    uint32_t first = chunk->location >> WEFT__BERTH_SHIFT;
    for (uint32_t component = 1; component < maps_end(&world->front.maps); component++) {
        const weft__column_place *map = map_of(world, component);
        if (map == NULL) continue;
        const weft__type_slot *slot = weft__archetype_slot(chunk->archetype, component);
        weft__column_place place = 0;
        if (slot != NULL && slot->column != 0) place = column_place(chunk, slot->column);
        for (uint32_t i = 0; i < weft__berths_of(chunk->capacity); i++)
            if (map[first + i] != place) return false;
    }
    return true;
}

/* What finder.h knows of blocks and locations; not so where tests make blocks tiny. */
#define IS_AS_KNOWN                                                                                \
    (WEFT__BLOCK_SLOTS == 1u << WEFT_FINDER_BLOCK_SHIFT &&                                         \
     offsetof(weft__entity_block, x_slots) == WEFT_FINDER_BLOCK_SLOTS &&                           \
     WEFT__BERTH_SHIFT == WEFT_FINDER_BERTH_SHIFT && sizeof(weft_aptr) == sizeof(void *) &&        \
     sizeof(weft_a64) == sizeof(uint64_t))
static_assert(IS_AS_KNOWN || WEFT__BLOCK_SLOTS < 4096u, "finder.h");
#if WEFT__HIDES_TABLES
#define TABLES offsetof(weft_world, front.no_tables)
#else
#define TABLES offsetof(weft_world, front.maps)
#endif
static_assert(TABLES == offsetof(weft_world_head, tables) &&
                  offsetof(weft__column_maps, few) == offsetof(weft_finder_tables, places) &&
                  offsetof(weft__column_maps, few_blocks) == offsetof(weft_finder_tables, blocks) &&
                  offsetof(weft_world, front.number) == offsetof(weft_world_head, number),
              "weft_entity_read of finder.h");

weft_finder weft__finder_make(const weft_world *world, weft_component component)
{
    weft_finder finder = {.world = world, .component = component};
    weft__column_map map = weft__column_map_of(world, component.id);
    if (!IS_AS_KNOWN || map.places == NULL) return finder;
    finder.blocks = (const void *const *)(const void *)map.blocks;
    finder.places = map.places;
    return finder;
}
