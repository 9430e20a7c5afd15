/* SPDX-License-Identifier: MIT */
/* entity_create.c: creation of entities: one, many, with values.
 *
 * All or none: room is reserved before anything is written. One entity goes to the first chunk with
 * room, whose next rows are zeroed and stamped in advance; what that cannot do goes the general
 * way. Owner, world idle. */
#include "archetype.h"
#include "component_registry.h"
#include "entity_value.h"

#include <string.h>

/* Ids and components of reserved rows; `out` may be NULL. */
static void spans_fill(weft_world *world, const weft__spans *spans, weft_entity *out)
{
    for (uint32_t i = 0; i < spans->count; i++) {
        weft__span span = spans->at[i];
        weft__directory_allocate_owner(&world->directory, span.count,
                                       weft__chunk_entities(span.chunk) + span.row, out,
                                       weft__location(span.chunk, span.row));
        weft__rows_fill(world, span.chunk, span.row, span.count);
        if (out != NULL) out += span.count;
    }
}

static weft_result rows_prepare(weft_world *world, weft__tuple *tuple, uint32_t count,
                                weft__spans *spans)
{
    weft_result result = weft__directory_reserve_owner(&world->directory, count);
    if (result != WEFT_OK) return weft__error_limit(world, result, "creation of entities");
    return weft__rows_reserve(world, tuple, count, spans);
}

/* Entities in chunks of a tuple, zeroed and constructed; `out` may be NULL. */
static weft_result rows_create(weft_world *world, weft__tuple *tuple, uint32_t count,
                               weft_entity *out)
{
    weft__spans spans = {0};
    weft_result result = rows_prepare(world, tuple, count, &spans);
    if (result == WEFT_OK) spans_fill(world, &spans, out);
    weft__spans_fini(world, &spans);
    return result;
}

/* The archetype of a call; NULL with the error set. */
static const weft__archetype *archetype_of(const weft_world *world, weft_archetype handle,
                                           const char *what)
{
    const weft__archetype *archetype = weft__archetype_given(world, handle);
    if (archetype == NULL || (archetype->flags & WEFT__IS_RESIDUE) == 0) return archetype;
    weft__error_residue_tag(world, what);
    return NULL;
}

/* One id, not of the last slot of a block; 0: there is none. */
static inline uint64_t id_obtain(weft_world *world, uint32_t location)
{
    uint64_t entity = weft__directory_allocate_one_owner(&world->directory, location);
    if (entity == 0 && weft__directory_room_find(&world->directory))
        entity = weft__directory_allocate_one_owner(&world->directory, location);
    return entity;
}

/* One entity in a chunk with room, or a new one. */
static weft_entity row_create(weft_world *world, weft__tuple *tuple)
{
    weft_entity entity = {0, 0};
    weft__span place;
    weft_result result = weft__directory_reserve_owner(&world->directory, 1);
    if (result != WEFT_OK) weft__error_limit(world, result, "creation of entities");
    if (result != WEFT_OK || weft__row_reserve(world, tuple, &place) != WEFT_OK) return entity;
    weft_entity *row = weft__chunk_entities(place.chunk) + place.row;
    uint32_t location = weft__location(place.chunk, place.row);
    uint64_t bits = id_obtain(world, location);
    if (bits != 0)
        memcpy(row, &bits, sizeof bits);
    else
        weft__directory_allocate_owner(&world->directory, 1, row, NULL, location);
    weft__rows_fill(world, place.chunk, place.row, 1);
    return *row;
}

static __attribute__((noinline)) weft_entity create_generally(weft_world *world,
                                                              weft_archetype handle)
{
    weft_entity entity = {0, 0};
    if (world == NULL || weft__idle(world, "weft_entity_create") != WEFT_OK) return entity;
    const weft__archetype *archetype = archetype_of(world, handle, "weft_entity_create");
    if (archetype != NULL) entity = row_create(world, archetype->tuple0);
    return entity;
}

static inline weft_entity entity_of(uint64_t bits)
{
    return (weft_entity){(uint32_t)bits, (uint32_t)(bits >> 32)};
}

/* The first entity of an archetype, in its spare chunk; null: it goes the general way, and nothing
 * was done. */
static weft_entity create_first(weft_world *world, weft__archetype *archetype)
{
    weft__chunk *chunk = weft__chunk_spare(world, archetype->tuple0);
    uint64_t entity = chunk == NULL ? 0 : id_obtain(world, 0);
    if (entity == 0) return (weft_entity){0, 0};
    weft__chunk_revive(world, chunk);
    weft__directory_place_bits(&world->directory, entity, chunk->location);
    if (chunk->ready_end == 0 || chunk->ready_version != world->front.version)
        weft__rows_ready(world, chunk);
    memcpy(weft__chunk_entities(chunk), &entity, sizeof entity);
    chunk->count = 1;
    weft__chunk_count_rows(world, chunk, 1);
    return entity_of(entity);
}

/* The chunk is a spare one, the row is made ready first, or the id is in another word. */
static __attribute__((noinline)) weft_entity create_slowly(weft_world *world, weft_archetype handle)
{
    if (!weft__may_create(world, handle)) return create_generally(world, handle);
    weft__archetype *archetype = world->archetypes.by_id[handle.id - 1];
    if ((archetype->flags & WEFT__IS_SPECIAL) != 0) return create_generally(world, handle);
    weft__chunk *chunk = archetype->tuple0->room;
    if (chunk == NULL) {
        weft_entity first = create_first(world, archetype);
        return first.version != 0 ? first : create_generally(world, handle);
    }
    if (chunk->count + 1 == chunk->capacity) return create_generally(world, handle);
    uint64_t entity = id_obtain(world, weft__location(chunk, chunk->count));
    if (entity == 0) return create_generally(world, handle);
    if (!weft__row_is_ready(world, chunk)) weft__rows_ready(world, chunk);
    weft__row_ready_enter(world, chunk, entity);
    return entity_of(entity);
}

/* The first chunk with room of the archetype; NULL: none, or it must not be used. */
static inline weft__chunk *chunk_for_one(const weft_world *world, weft_archetype handle)
{
    if (!weft__may_create(world, handle)) return NULL;
    return world->archetypes.by_id[handle.id - 1]->tuple0->room;
}

/* Where the next row is ready. Nothing is called but at the end, so that no registers are saved. */
weft_entity weft_entity_create(weft_world *world, weft_archetype handle)
{
    weft__chunk *chunk = chunk_for_one(world, handle);
    if (__builtin_expect(chunk == NULL || !weft__row_is_ready(world, chunk), 0))
        return create_slowly(world, handle);
    uint64_t entity =
        weft__directory_allocate_one_owner(&world->directory, weft__location(chunk, chunk->count));
    if (__builtin_expect(entity == 0, 0)) return create_slowly(world, handle);
    weft__row_ready_enter(world, chunk, entity);
    return entity_of(entity);
}

weft_result weft_entity_create_many(weft_world *world, weft_archetype handle, uint32_t count,
                                    weft_entity *out)
{
    weft_result result = weft__idle(world, "weft_entity_create_many");
    if (result != WEFT_OK) return result;
    const weft__archetype *archetype = archetype_of(world, handle, "weft_entity_create_many");
    if (archetype == NULL) return world->error->code;
    return rows_create(world, archetype->tuple0, count, out);
}

/* ---- with values ---- */

/* Values of one type of the archetype: where they go, and the caller's (NULL: zeroes, of a SHARED
 * one the default). Lives for one call, at the position of the type. */
typedef struct source {
    const weft__type *type;
    uint32_t column;
    uint32_t shared; /* position in the tuple; WEFT__NO_PLACE: none */
    uint32_t value;  /* index of the shared value, which is held; 0: the default */
    bool is_listed;
    const char *values;
} source;

static weft_result source_set(const weft_world *world, const weft__archetype *archetype,
                              const weft_values *filled, source *sources)
{
    const weft__type *type = weft__type_at(world, filled->component);
    if (type == NULL) return weft__error_component(world, filled->component);
    uint32_t position = weft__archetype_find(archetype, type->id);
    if (position == WEFT__NONE)
        return weft__error_use(
            world, WEFT_INVALID_ARGUMENT, "weft_entity_create_filled", filled->component,
            " is not in the archetype: leave it out, or take an archetype with it");
    source *s = &sources[position];
    if (s->is_listed)
        return weft__error_use(world, WEFT_INVALID_ARGUMENT, "weft_entity_create_filled",
                               filled->component, " is listed twice");
    const bool has_values =
        s->shared != WEFT__NO_PLACE || (s->column != 0 && (type->desc.flags & WEFT_BUFFER) == 0);
    if (filled->values != NULL && !has_values)
        return weft__error_use(world, WEFT_TYPE_MISMATCH, "weft_entity_create_filled",
                               filled->component,
                               " has no plain column: leave it out, or pass NULL for its values");
    s->is_listed = true;
    s->values = filled->values;
    return WEFT_OK;
}

/* The sources of all types of the archetype. */
static weft_result sources_make(const weft_world *world, const weft__archetype *archetype,
                                const weft_values *filled, uint32_t filled_count, source *sources)
{
    for (uint32_t i = 0; i < archetype->type_count; i++) {
        const weft__type *type = archetype->types[i].type;
        uint32_t column = weft__archetype_slot(archetype, type->id)->column;
        sources[i] = (source){.type = type, .column = column, .shared = archetype->types[i].shared};
    }
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < filled_count && result == WEFT_OK; i++)
        result = source_set(world, archetype, &filled[i], sources);
    return result;
}

static void span_fill_values(weft_world *world, const source *sources, uint32_t source_count,
                             weft__span span, size_t done)
{
    weft__chunk *chunk = span.chunk;
    for (uint32_t i = 0; i < source_count; i++) {
        const source *s = &sources[i];
        if (s->column == 0) continue;
        char *to = weft__chunk_value(chunk, s->column, span.row);
        size_t bytes = s->type->value_bytes;
        if (s->values != NULL)
            memcpy(to, s->values + done * bytes, span.count * bytes);
        else if (chunk->is_zero)
            weft__type_construct_zeroed(s->type, to, span.count);
        else
            weft__type_construct(s->type, to, span.count);
    }
    for (uint32_t i = 0; i < source_count; i++)
        weft__rows_stamp(chunk, i, span.row, span.count, world->front.version);
}

static weft_result rows_create_filled(weft_world *world, weft__tuple *tuple, const source *sources,
                                      uint32_t source_count, uint32_t count, weft_entity *out)
{
    weft__spans spans = {0};
    weft_result result = rows_prepare(world, tuple, count, &spans);
    size_t done = 0;
    for (uint32_t i = 0; i < spans.count && result == WEFT_OK; i++) {
        weft__span span = spans.at[i];
        weft__directory_allocate_owner(
            &world->directory, span.count, weft__chunk_entities(span.chunk) + span.row,
            out == NULL ? NULL : out + done, weft__location(span.chunk, span.row));
        span_fill_values(world, sources, source_count, span, done);
        done += span.count;
    }
    weft__spans_fini(world, &spans);
    return result;
}

/* Holds the shared values that are listed, and finds their tuple, which is held. */
static weft_result tuple_of(weft_world *world, const weft__archetype *archetype, source *sources,
                            weft__tuple **out)
{
    *out = archetype->tuple0;
    (*out)->holders++;
    for (uint32_t i = 0; i < archetype->type_count; i++) {
        source *s = &sources[i];
        if (s->shared == WEFT__NO_PLACE || s->values == NULL) continue;
        const uint32_t id = s->type->id;
        if (weft__shared_intern(&world->shared, id, s->values, &s->value) != WEFT_OK) {
            s->values = NULL; /* not held */
            return weft__error_memory(world, "a shared value");
        }
        weft__tuple *before = *out;
        *out = weft__tuple_with_value(world, before, before->archetype, id, s->value);
        weft__tuple_release(world, before);
        if (*out == NULL) return world->error->code;
    }
    return WEFT_OK;
}

static weft_result filled_create(weft_world *world, const weft__archetype *archetype,
                                 source *sources, uint32_t count, weft_entity *out)
{
    const uint32_t types = archetype->type_count;
    if (archetype->shared_count == 0)
        return rows_create_filled(world, archetype->tuple0, sources, types, count, out);
    weft__tuple *tuple;
    weft_result result = tuple_of(world, archetype, sources, &tuple);
    if (result == WEFT_OK) result = rows_create_filled(world, tuple, sources, types, count, out);
    if (tuple != NULL) weft__tuple_release(world, tuple);
    for (uint32_t i = 0; i < types; i++)
        if (sources[i].shared != WEFT__NO_PLACE && sources[i].values != NULL)
            weft__shared_release(&world->shared, sources[i].type->id, sources[i].value, 1);
    return result;
}

weft_result weft_entity_create_filled(weft_world *world, weft_archetype handle,
                                      const weft_values *filled, uint32_t filled_count,
                                      uint32_t count, weft_entity *out)
{
    static const char what[] = "weft_entity_create_filled";
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (filled == NULL && filled_count != 0)
        return weft__error_argument(world, what,
                                    "filled is NULL: give a list (WEFT_VALUES), or a count of 0");
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    const weft__archetype *archetype = archetype_of(world, handle, what);
    if (archetype == NULL) return world->error->code;
    uint32_t type_count = archetype->type_count;
    source inline_sources[16], *sources = inline_sources;
    if (type_count > 16)
        sources = WEFT__NEW(&world->memory, WEFT__MEMORY_OTHER, type_count, *sources);
    if (sources == NULL) return weft__error_memory(world, what);
    result = sources_make(world, archetype, filled, filled_count, sources);
    for (uint32_t i = 0; i < type_count && WEFT_IS_CHECKED && result == WEFT_OK; i++)
        if (sources[i].values != NULL)
            result = weft__values_check(world, sources[i].type, sources[i].values,
                                        sources[i].shared == WEFT__NO_PLACE ? count : 1);
    if (result == WEFT_OK) result = filled_create(world, archetype, sources, count, out);
    if (sources != inline_sources)
        WEFT__FREE(&world->memory, WEFT__MEMORY_OTHER, sources, type_count);
    return result;
}
