/* SPDX-License-Identifier: MIT */
/* validate.c: weft_world_validate: every invariant of the storage, the first broken one in words.
 * Leaves everything as it was but the error, needs no memory, and looks at each thing a fixed
 * number of times, so that its cost is that of reading the world. Owner, world idle. */
#include "entity_value.h"
#include "query_state.h"
#include "relation_state.h"

#include <stdio.h>

/* Reports; always false, so that checks can end with it. */
#define broken(world, ...)                                                                         \
    (weft__error(world, WEFT_CORRUPT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,                         \
                 "weft_world_validate: " __VA_ARGS__),                                             \
     false)

/* The slots lead to the rows of a SPARSE type, and their entities are alive and no residues. */
static bool sparse_rows_check(const weft_world *world, const weft__chunk *chunk)
{
    const weft_entity *entities = weft__chunk_entities(chunk);
    const weft__type *type = weft__sparse_type(chunk->archetype);
    for (uint32_t row = 0; row < chunk->count; row++) {
        uint32_t own_row, at;
        const weft__chunk *own = weft__entity_chunk(world, entities[row], &own_row);
        if (own == NULL || (own->archetype->flags & WEFT__IS_RESIDUE) != 0)
            return broken(world,
                          "row %u of SPARSE chunk %u is of entity %s, which is no living one", row,
                          chunk->id, weft__entity_say(world, entities[row]).text);
        if (weft__sparse_find(world, type, entities[row], &at) != chunk || at != row)
            return broken(world, "the slot of entity %s does not lead to row %u of SPARSE chunk %u",
                          weft__entity_say(world, entities[row]).text, row, chunk->id);
    }
    return true;
}

static bool rows_check(const weft_world *world, const weft__chunk *chunk)
{
    const weft_entity *entities = weft__chunk_entities(chunk);
    if ((chunk->archetype->flags & WEFT__IS_SPARSE) != 0) return sparse_rows_check(world, chunk);
    for (uint32_t row = 0; row < chunk->count; row++) {
        uint32_t location = 0;
        if (!weft__directory_find(&world->directory, entities[row], &location))
            return broken(world, "chunk %u row %u holds dead entity %s", chunk->id, row,
                          weft__entity_say(world, entities[row]).text);
        if (location != weft__location(chunk, row))
            return broken(world, "entity %s is in chunk %u row %u, the directory says %u, not %u",
                          weft__entity_say(world, entities[row]).text, chunk->id, row, location,
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
        if (chunk->ready_version == world->front.version && version != world->front.version)
            return broken(world, "chunk %u type %u: the slice of a ready row is old", chunk->id,
                          type);
    }
    return true;
}

static bool is_in_room_list(const weft__chunk *chunk)
{
    const weft__chunk *before = chunk->room_prev;
    return before != NULL ? before->room_next == chunk : chunk->tuple->room == chunk;
}

static bool chunk_check(const weft_world *world, const weft__archetype *archetype, uint32_t index)
{
    const weft__chunk *chunk = archetype->chunks[index];
    if (chunk->archetype != archetype || chunk->list_index != index)
        return broken(world, "chunk %u is not where its archetype lists it", chunk->id);
    if (chunk->id == 0 || chunk->id >= world->chunks.end || world->chunks.at[chunk->id] != chunk)
        return broken(world, "chunk %u is not in the table of chunks", chunk->id);
    for (uint32_t row = 0; row < chunk->capacity; row += 1u << WEFT__BERTH_SHIFT) {
        uint32_t berth = weft__location(chunk, row) >> WEFT__BERTH_SHIFT;
        if (berth == 0 || berth >= world->berths.end || world->berths.at[berth].chunk != chunk)
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
    if (chunk->has_room && !is_in_room_list(chunk))
        return broken(world, "chunk %u is not in the list of chunks with room", chunk->id);
    if (!weft__side_check(chunk))
        return broken(world, "chunk %u: its side memory is not where it belongs", chunk->id);
    if (chunk->mark != 0) return broken(world, "chunk %u: a mark was left", chunk->id);
    if (chunk->tuple->archetype != archetype)
        return broken(world, "chunk %u: its tuple is of another archetype", chunk->id);
    for (uint32_t e = 0; e < archetype->enableable_count; e++)
        if (!disabled_check(world, chunk, e)) return false;
    return zero_check(world, chunk) && ready_check(world, chunk) && rows_check(world, chunk);
}

typedef bool (*tuple_fn)(const weft_world *world, weft__tuple *tuple);

/* Visits tuple0, then those of the table, until `visit` returns false. */
static bool tuples_each(const weft_world *world, const weft__archetype *archetype, tuple_fn visit)
{
    if (!visit(world, archetype->tuple0)) return false;
    for (uint32_t i = 0; i < archetype->tuples.count; i++)
        if (archetype->tuples.at[i]->place != i || !visit(world, archetype->tuples.at[i]))
            return false;
    return archetype->tuples.count == archetype->tuple_places.count ||
           broken(world, "archetype %u: wrong number of tuples", archetype->id);
}

/* The chunks of the archetype leave the totals of their tuples, or join them again. */
static void totals_change(const weft__archetype *archetype, bool is_leaving)
{
    for (uint32_t i = 0; i < archetype->chunk_count; i++) {
        const weft__chunk *chunk = archetype->chunks[i];
        if (archetype->shared_count != 0)
            chunk->tuple->rows += is_leaving ? -(uint64_t)chunk->count : chunk->count;
        chunk->tuple->chunk_count += is_leaving ? UINT32_MAX : 1;
    }
}

/* While all chunks have left. */
static bool tuple_totals_check(const weft_world *world, weft__tuple *tuple)
{
    return (tuple->rows == 0 && tuple->chunk_count == 0) ||
           broken(world, "archetype %u: the totals of a tuple are wrong", tuple->archetype->id);
}

/* The list of chunks with room, which holds no other chunks, and the holders of a tuple. */
static bool tuple_check(const weft_world *world, weft__tuple *tuple)
{
    const weft__archetype *archetype = tuple->archetype;
    uint32_t left = tuple->chunk_count;
    for (const weft__chunk *chunk = tuple->room; chunk != NULL; chunk = chunk->room_next) {
        if (chunk->tuple != tuple || !chunk->has_room || left-- == 0)
            return broken(world, "archetype %u: its list of chunks with room is wrong",
                          archetype->id);
    }
    if (tuple->some != NULL && tuple->some->tuple != tuple)
        return broken(world, "archetype %u: a tuple has a chunk of another one", archetype->id);
    uint32_t holders = tuple->chunk_count + (tuple == archetype->tuple0 ? 1 : 0);
    bool has_loads = world->lent.loads != 0 && tuple->holders > holders; /* of streams */
    if (tuple->holders != holders && !has_loads)
        return broken(world, "archetype %u: a tuple has %u holders instead of %u", archetype->id,
                      tuple->holders, holders);
    return true;
}

static bool tuples_check(const weft_world *world, const weft__archetype *archetype)
{
    totals_change(archetype, true);
    bool is_right = tuples_each(world, archetype, tuple_totals_check);
    totals_change(archetype, false);
    return is_right && tuples_each(world, archetype, tuple_check);
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
    if (archetype->number == WEFT__NONE)
        return (archetype->chunk_count == 0 ||
                broken(world, "archetype %u has chunks, but no place in the order",
                       archetype->id)) &&
               tuples_check(world, archetype);
    if (archetype->number >= world->archetypes.count ||
        world->archetypes.at[archetype->number] != archetype)
        return broken(world, "archetype %u is not where the order has it", archetype->id);
    uint64_t word = world->archetypes.nonempty.at[archetype->number / 64];
    if ((word >> archetype->number % 64 & 1) != (rows != 0 ? 1u : 0u))
        return broken(world, "archetype %u: wrong about being empty", archetype->id);
    for (uint32_t i = 1; i < archetype->type_count; i++)
        if (archetype->types[i - 1].component >= archetype->types[i].component)
            return broken(world, "archetype %u: its types are not ascending", archetype->id);
    return archetype->arriving == 0 && tuples_check(world, archetype);
}

/* ---- references on shared values: one per tuple and per filter, and those of snapshots ---- */

/* Visits every reference that is held. */
static void references_visit(const weft_world *world, weft__shared_visit_fn visit, void *user)
{
    weft__queries_shared_visit(world, visit, user);
    for (uint32_t i = 0; i < WEFT__EXTENSION_COUNT; i++) {
        const weft__extension *extension = &world->front.extensions[i];
        if (extension->data != NULL && extension->shared_visit != NULL)
            extension->shared_visit(extension->data, visit, user);
    }
    for (uint32_t a = 0; a < world->archetypes.id_count; a++) {
        const weft__archetype *archetype = world->archetypes.by_id[a];
        if (archetype == NULL) continue;
        for (uint32_t i = 0; i < archetype->tuples.count; i++)
            for (uint32_t s = 0; s < archetype->shared_count; s++)
                visit(user, archetype->shared_components[s], archetype->tuples.at[i]->values[s]);
    }
}

static void reference_take(void *user, uint32_t component, uint32_t value)
{
    weft_world *world = user;
    if (value < weft__shared_end(&world->shared, component))
        weft__shared_adjust(&world->shared, component, value, UINT32_MAX); /* -1 */
}

static void reference_give(void *user, uint32_t component, uint32_t value)
{
    weft_world *world = user;
    if (value < weft__shared_end(&world->shared, component))
        weft__shared_adjust(&world->shared, component, value, 1);
}

/* The lists of values themselves. */
static bool shared_types_check(const weft_world *world)
{
    for (uint32_t id = 1; id <= world->types.count; id++)
        if ((world->types.at[id]->desc.flags & WEFT_SHARED) != 0 &&
            !weft__shared_check(&world->shared, id))
            return broken(world, "the shared values of \"%s\": slots, free list and table differ",
                          weft__type_name(world, id));
    return true;
}

/* Takes every reference that is held off the counts, which must come to zero, and gives them back:
 * one pass over the references, whatever the number of values, and no memory. */
static bool shared_check(weft_world *world)
{
    uint32_t component = 0, value = 0, rest = 0;
    references_visit(world, reference_take, world);
    for (uint32_t id = 1; id <= world->types.count && rest == 0; id++) {
        if ((world->types.at[id]->desc.flags & WEFT_SHARED) == 0) continue;
        component = id;
        uint32_t end = weft__shared_end(&world->shared, id);
        for (value = 0; value + 1 < end && rest == 0;)
            rest = weft__shared_references(&world->shared, id, ++value);
    }
    references_visit(world, reference_give, world);
    if (rest == 0) return true;
    uint32_t counted = weft__shared_references(&world->shared, component, value);
    return broken(world, "shared value %u of \"%s\" has %u references instead of %u", value,
                  weft__type_name(world, component), counted, counted - rest);
}

/* Entities that live in the archetype: those that have rows of a SPARSE type live elsewhere. */
static inline uint64_t archetype_entities(const weft__archetype *archetype)
{
    return (archetype->flags & WEFT__IS_SPARSE) != 0 ? 0 : archetype->entity_count;
}

static bool totals_check(const weft_world *world)
{
    uint64_t rows = 0;
    uint32_t chunks = 0;
    for (uint32_t i = 0; i < world->archetypes.count; i++) {
        rows += archetype_entities(world->archetypes.at[i]);
        chunks += world->archetypes.at[i]->chunk_count;
    }
    uint64_t alive = weft__directory_alive(&world->directory);
    if (rows != alive)
        return broken(world, "%llu rows, %llu entities alive", (unsigned long long)rows,
                      (unsigned long long)alive);
    return chunks == world->chunks.count ||
           broken(world, "%u chunks in archetypes, %u in all", chunks, world->chunks.count);
}

/* The table of chunks: ids in use, and the lowest free one. */
static bool chunk_ids_check(const weft_world *world)
{
    const weft__chunk_table *chunks = &world->chunks;
    uint32_t count = 0;
    if (chunks->capacity == 0) return true;
    if (chunks->end > chunks->capacity)
        return broken(world, "the table of chunks ends beyond its capacity");
    for (uint32_t id = 1; id < chunks->capacity; id++) {
        bool is_used = (chunks->ids[id / 64] >> id % 64 & 1) != 0;
        if (is_used != (chunks->at[id] != NULL) || (is_used && id >= chunks->end))
            return broken(world, "the table of chunks is wrong about id %u", id);
        if (!is_used && id / 64 < chunks->id_word)
            return broken(world, "id_word passes over the free chunk id %u", id);
        count += is_used ? 1 : 0;
    }
    return count == chunks->count ||
           broken(world, "%u chunks have an id, the count is %u", count, chunks->count);
}

/* Each berth below the end is one of a chunk or of a free run. */
static bool berths_check(const weft_world *world)
{
    const weft__berth_table *berths = &world->berths;
    uint64_t sum = 1 + world->lent.berths; /* berth 0 */
    for (uint32_t id = 1; id < world->chunks.end; id++)
        if (world->chunks.at[id] != NULL) sum += weft__berths_of(world->chunks.at[id]->capacity);
    for (uint32_t size = 0; size < WEFT__BERTH_CLASSES; size++) {
        uint32_t run = berths->free[size];
        for (; run != 0 && run < berths->end && sum <= berths->end;
             run = (uint32_t)berths->at[run].next_free)
            sum += UINT64_C(1) << size;
        if (run != 0) return broken(world, "a free run of berths does not end");
    }
    return sum == berths->end ||
           broken(world, "%u berths were used, chunks and free runs have %llu", berths->end,
                  (unsigned long long)sum);
}

/* Where the memory of chunks is. A value. */
typedef struct memory_count {
    uint64_t units;
    uint64_t parts;
    uint64_t small_bytes;
} memory_count;

static void memory_add(memory_count *count, const weft__chunk *chunk)
{
    if (chunk == NULL) return;
    if (chunk->first_unit == WEFT__SMALL_UNIT)
        count->small_bytes += weft__class_bytes(chunk->layout->size_class);
    else if (chunk->unit_count == 0)
        count->parts++;
    else
        count->units += chunk->unit_count;
}

/* Units in use are exactly those of chunks and parts, parts in use those of small chunks. */
static bool units_check(const weft_world *world)
{
    char text[200];
    memory_count has = {.units = world->parts.all.count};
    uint64_t used = weft__units_used(&world->units), parts = 0;
    for (uint32_t id = 1; id < world->chunks.end; id++) memory_add(&has, world->chunks.at[id]);
    for (uint32_t i = 0; i < WEFT__SPARES; i++) memory_add(&has, world->spares.ring[i]);
    if (used != has.units && (world->lent.loads == 0 || used < has.units))
        return broken(world, "%llu units in use, chunks have %llu", (unsigned long long)used,
                      (unsigned long long)has.units);
    if (weft__small_used(&world->small) != has.small_bytes)
        return broken(world, "%zu bytes of small memory in use, chunks have %llu",
                      weft__small_used(&world->small), (unsigned long long)has.small_bytes);
    if (!weft__parts_check(&world->parts, &parts, text, sizeof text))
        return broken(world, "%s", text);
    return parts == has.parts || broken(world, "%llu parts of units in use, chunks have %llu",
                                        (unsigned long long)parts, (unsigned long long)has.parts);
}

/* What finds archetypes, rows and queries. */
static bool tables_check(const weft_world *world)
{
    char text[200];
    bool is_alone = world->lent.loads == 0; /* threads of streams make layouts and take units */
    if (is_alone && !weft__formats_check(world))
        return broken(world, "a format or its layout is wrong");
    if (!weft__component_index_check(world))
        return broken(world, "the component index is not that of the archetypes");
    if (!weft__queries_check(world, text, sizeof text)) return broken(world, "%s", text);
    if (!weft__relations_check(world, text, sizeof text)) return broken(world, "%s", text);
    return chunk_ids_check(world) && berths_check(world);
}

weft_result weft_world_validate(weft_world *world)
{
    weft_result result = weft__idle(world, "weft_world_validate");
    if (result != WEFT_OK) return result;
    char text[200];
    if (!weft__directory_check(&world->directory, text, sizeof text) ||
        (world->lent.loads == 0 && !weft__units_check(&world->units, text, sizeof text))) {
        (void)broken(world, "%s", text);
        return WEFT_CORRUPT;
    }
    for (uint32_t i = 0; i < world->archetypes.id_count; i++)
        if (world->archetypes.by_id[i] != NULL &&
            !archetype_check(world, world->archetypes.by_id[i]))
            return WEFT_CORRUPT;
    bool is_right = shared_types_check(world) && shared_check(world) && totals_check(world) &&
                    units_check(world) && tables_check(world);
    return is_right ? WEFT_OK : WEFT_CORRUPT;
}
