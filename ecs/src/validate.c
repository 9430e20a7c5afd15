/* validate.c: weft_world_validate: every invariant of the storage, the first broken one in words.
 * Reads everything, changes nothing but the error. Owner, world idle. */
#include "bits.h"
#include "query_private.h"
#include "query_registry.h"
#include "structure.h"

#include <stdarg.h>
#include <stdio.h>

/* Reports; always false, so that checks can end with it. */
__attribute__((format(printf, 2, 3))) static bool broken(const weft_world *world,
                                                         const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    weft__error(world, WEFT_CORRUPT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT, "weft_world_validate: %s",
                text);
    return false;
}

static bool rows_check(const weft_world *world, const weft__chunk *chunk)
{
    const weft_entity *entities = weft__chunk_entities(chunk);
    for (uint32_t row = 0; row < chunk->count; row++) {
        uint32_t location = 0;
        if (!weft__directory_find(&world->directory, entities[row], &location))
            return broken(world, "chunk %u row %u holds dead entity %u:%u", chunk->id, row,
                          entities[row].index, entities[row].version);
        if (location != weft__location(chunk, row))
            return broken(world,
                          "entity %u:%u is in chunk %u row %u, the directory says %u, not %u",
                          entities[row].index, entities[row].version, chunk->id, row, location,
                          weft__location(chunk, row));
    }
    return true;
}

static bool disabled_check(const weft_world *world, const weft__chunk *chunk, uint32_t enableable)
{
    const weft_a64 *x_words = weft__chunk_disabled(chunk, enableable);
    const weft_a32 *x_counts = weft__chunk_disabled_counts(chunk, enableable);
    uint32_t words_per_slice = 1u << (chunk->layout->slice_shift - 6);
    for (uint32_t s = 0; s < chunk->layout->slice_count; s++) {
        uint32_t count = 0;
        for (uint32_t w = s * words_per_slice;
             w < (s + 1) * words_per_slice && w < chunk->layout->mask_words; w++) {
            uint64_t word = at_load_rlx(&x_words[w]); /* relaxed: the world is idle */
            uint32_t live = chunk->count > w * 64 ? chunk->count - w * 64 : 0;
            if ((word & ~bits_mask(live > 64 ? 64 : live)) != 0)
                return broken(world, "chunk %u: a disabled bit beyond the rows", chunk->id);
            count += bits_count(word);
        }
        if (count != at_load_rlx(&x_counts[s])) /* relaxed: the world is idle */
            return broken(world, "chunk %u slice %u: %u rows disabled, the count says %u",
                          chunk->id, s, count, at_load_rlx(&x_counts[s])); /* relaxed: idle */
    }
    return true;
}

/* Rows at and beyond the count read as zero when the chunk says so: all, or the ready ones. */
static bool zero_check(const weft_world *world, const weft__chunk *chunk)
{
    uint32_t end = chunk->is_zero ? chunk->capacity : chunk->ready_end;
    for (uint32_t column = chunk->is_zero ? 0 : 1; column < chunk->layout->column_count; column++) {
        size_t bytes = chunk->layout->columns[column].bytes;
        const char *values = weft__chunk_column(chunk, column);
        for (size_t i = chunk->count * bytes; i < end * bytes; i++)
            if (values[i] != 0)
                return broken(world, "chunk %u column %u: bytes beyond the rows of a %s chunk",
                              chunk->id, column, chunk->is_zero ? "fresh" : "ready");
    }
    return true;
}

/* The next row is one that single creation may take as it is. */
static bool ready_check(const weft_world *world, const weft__chunk *chunk)
{
    if (chunk->count >= chunk->ready_end) return true;
    uint32_t shift = chunk->layout->slice_shift;
    if (chunk->ready_end >= chunk->capacity ||
        chunk->count >> shift != (chunk->ready_end - 1) >> shift ||
        (chunk->archetype->flags & WEFT__IS_SPECIAL) != 0)
        return broken(world, "chunk %u: wrong about ready rows", chunk->id);
    for (uint32_t type = 0; type < chunk->archetype->type_count; type++) {
        const weft_a32 *x_version = weft__chunk_versions(chunk, type) + (chunk->count >> shift);
        uint32_t version = at_load_rlx(x_version); /* relaxed: the world is idle */
        if (chunk->ready_version == world->version && version != world->version)
            return broken(world, "chunk %u type %u: the slice of a ready row is old", chunk->id,
                          type);
    }
    return true;
}

static bool chunk_check(const weft_world *world, const weft__archetype *archetype, uint32_t index)
{
    const weft__chunk *chunk = archetype->chunks[index];
    if (chunk->archetype != archetype || chunk->list_index != index)
        return broken(world, "chunk %u is not where its archetype lists it", chunk->id);
    if (chunk->id == 0 || chunk->id >= world->chunk_end || world->chunk_table[chunk->id] != chunk)
        return broken(world, "chunk %u is not in the table of chunks", chunk->id);
    for (uint32_t row = 0; row < chunk->capacity; row += 1u << WEFT__BERTH_SHIFT) {
        uint32_t berth = weft__location(chunk, row) >> WEFT__BERTH_SHIFT;
        if (berth == 0 || berth >= world->berth_end || world->berths[berth].chunk != chunk)
            return broken(world, "chunk %u does not own berth %u", chunk->id, berth);
    }
    if (!weft__column_maps_check(world, chunk))
        return broken(world, "chunk %u: a column map is wrong", chunk->id);
    if (chunk->count == 0 || chunk->count > chunk->capacity ||
        chunk->capacity != chunk->layout->capacity ||
        chunk->capacity > archetype->format->row_limit)
        return broken(world, "chunk %u has %u rows of %u", chunk->id, chunk->count,
                      chunk->capacity);
    if (chunk->has_room != (chunk->count < chunk->capacity))
        return broken(world, "chunk %u: wrong about room", chunk->id);
    if (chunk->mark != 0) return broken(world, "chunk %u: a mark was left", chunk->id);
    if (chunk->tuple->archetype != archetype)
        return broken(world, "chunk %u: its tuple is of another archetype", chunk->id);
    for (uint32_t e = 0; e < archetype->enableable_count; e++)
        if (!disabled_check(world, chunk, e)) return false;
    return zero_check(world, chunk) && ready_check(world, chunk) && rows_check(world, chunk);
}

/* The list of chunks with room and the totals of a tuple. */
static bool tuple_check(const weft_world *world, const weft__archetype *archetype,
                        const weft__tuple *tuple)
{
    uint64_t rows = 0;
    uint32_t chunks = 0, with_room = 0;
    for (uint32_t i = 0; i < archetype->chunk_count; i++) {
        const weft__chunk *chunk = archetype->chunks[i];
        if (chunk->tuple != tuple) continue;
        rows += chunk->count;
        chunks++;
        with_room += chunk->has_room ? 1 : 0;
    }
    for (const weft__chunk *chunk = tuple->room; chunk != NULL; chunk = chunk->room_next) {
        if (chunk->tuple != tuple || !chunk->has_room || with_room-- == 0)
            return broken(world, "archetype %u: its list of chunks with room is wrong",
                          archetype->id);
    }
    if (with_room != 0 || rows != tuple->rows || chunks != tuple->chunk_count)
        return broken(world, "archetype %u: the totals of a tuple are wrong", archetype->id);
    uint32_t holders = chunks + (tuple == archetype->tuple0 ? 1 : 0);
    if (tuple->holders != holders)
        return broken(world, "archetype %u: a tuple has %u holders instead of %u", archetype->id,
                      tuple->holders, holders);
    return true;
}

static bool tuples_check(const weft_world *world, const weft__archetype *archetype)
{
    uint32_t count = 0;
    if (!tuple_check(world, archetype, archetype->tuple0)) return false;
    for (uint32_t i = 0; archetype->tuples != NULL && i <= archetype->tuple_mask; i++) {
        for (const weft__tuple *tuple = archetype->tuples[i]; tuple != NULL; tuple = tuple->next) {
            count++;
            if (!tuple_check(world, archetype, tuple)) return false;
        }
    }
    return count == archetype->tuple_count ||
           broken(world, "archetype %u: wrong number of tuples", archetype->id);
}

static bool archetype_check(const weft_world *world, const weft__archetype *archetype)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < archetype->chunk_count; i++) {
        if (!chunk_check(world, archetype, i)) return false;
        rows += archetype->chunks[i]->count;
    }
    if (rows != archetype->entity_count)
        return broken(world, "archetype %u has %llu rows, its total says %llu", archetype->id,
                      (unsigned long long)rows, (unsigned long long)archetype->entity_count);
    uint64_t word = world->nonempty[(archetype->id - 1) / 64];
    if ((word >> (archetype->id - 1) % 64 & 1) != (rows != 0 ? 1u : 0u))
        return broken(world, "archetype %u: wrong about being empty", archetype->id);
    for (uint32_t i = 1; i < archetype->type_count; i++)
        if (archetype->types[i - 1].component >= archetype->types[i].component)
            return broken(world, "archetype %u: its types are not ascending", archetype->id);
    return archetype->arriving == 0 && tuples_check(world, archetype);
}

static uint32_t extension_references(const weft_world *world, uint32_t component, uint32_t value)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < WEFT__EXTENSION_COUNT; i++) {
        const weft__extension *extension = &world->extensions[i];
        if (extension->data != NULL && extension->shared_references != NULL)
            count += extension->shared_references(extension->data, component, value);
    }
    return count;
}

/* References on shared values: one per tuple and per filter, and those of snapshots. */
static bool shared_check(const weft_world *world, uint32_t component)
{
    uint32_t end = weft__shared_end(&world->shared, component);
    for (uint32_t value = 1; value < end; value++) {
        uint32_t expected = weft__queries_shared_references(world, component, value) +
                            extension_references(world, component, value);
        for (uint32_t a = 0; a < world->archetype_count; a++) {
            const weft__archetype *archetype = world->archetypes[a];
            uint32_t type = weft__archetype_find(archetype, component);
            if (type == WEFT__NONE || archetype->tuples == NULL) continue;
            for (uint32_t i = 0; i <= archetype->tuple_mask; i++)
                for (const weft__tuple *t = archetype->tuples[i]; t != NULL; t = t->next)
                    expected += t->values[archetype->types[type].shared] == value ? 1 : 0;
        }
        uint32_t counted = weft__shared_references(&world->shared, component, value);
        if (counted != expected)
            return broken(world, "shared value %u of \"%s\" has %u references instead of %u", value,
                          weft__type_name(world, component), counted, expected);
    }
    return true;
}

static bool totals_check(const weft_world *world)
{
    uint64_t rows = 0;
    uint32_t chunks = 0;
    for (uint32_t i = 0; i < world->archetype_count; i++) {
        rows += world->archetypes[i]->entity_count;
        chunks += world->archetypes[i]->chunk_count;
    }
    uint64_t alive = weft__directory_alive(&world->directory);
    if (rows != alive)
        return broken(world, "%llu rows, %llu entities alive", (unsigned long long)rows,
                      (unsigned long long)alive);
    return chunks == world->chunk_count ||
           broken(world, "%u chunks in archetypes, %u in all", chunks, world->chunk_count);
}

/* Units in use are exactly those of chunks and parts. */
static bool units_check(const weft_world *world)
{
    uint64_t units = world->parts.count;
    for (uint32_t id = 1; id < world->chunk_end; id++)
        if (world->chunk_table[id] != NULL) units += world->chunk_table[id]->unit_count;
    uint64_t used = weft__units_used(&world->units);
    return used == units || broken(world, "%llu units in use, chunks have %llu",
                                   (unsigned long long)used, (unsigned long long)units);
}

weft_result weft_world_validate(weft_world *world)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_world_validate");
    if (result != WEFT_OK) return result;
    char text[200];
    if (!weft__directory_check(&world->directory, text, sizeof text) ||
        !weft__units_check(&world->units, text, sizeof text)) {
        broken(world, "%s", text);
        return WEFT_CORRUPT;
    }
    for (uint32_t i = 0; i < world->archetype_count; i++)
        if (!archetype_check(world, world->archetypes[i])) return WEFT_CORRUPT;
    for (uint32_t id = 1; id <= world->type_count; id++)
        if ((world->types[id]->desc.flags & WEFT_SHARED) != 0 && !shared_check(world, id))
            return WEFT_CORRUPT;
    return totals_check(world) && units_check(world) ? WEFT_OK : WEFT_CORRUPT;
}
