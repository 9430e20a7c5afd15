/* SPDX-License-Identifier: MIT */
/* references.c: a walk over all described references of a world, and weft_world_clear_references:
 * ENTITY fields that lead to no living entity become null.
 *
 * Goes slice by slice, so that only slices in which something was cleared count as changed. Types
 * without such fields are not looked at. Owner, world idle; cannot fail. */
#include "references.h"
#include "error.h"
#include "structure.h"

/* One walk. Owner: the stack of the call. */
typedef struct walk {
    const weft_world *world;
    weft__reference_visit *visit;
    void *user;
    uint64_t cleared;
} walk;

static bool reference_clear(void *user, weft__reference *r)
{
    walk *w = user;
    if (r->is_blob || r->bits == 0 || weft_entity_is_alive(w->world, r->entity)) return true;
    r->entity = WEFT__NO_ENTITY;
    w->cleared++;
    return true;
}

/* True when one of the values had a reference that was cleared. */
static bool values_walk(walk *w, const weft__type *type, void *values, uint32_t count)
{
    uint64_t before = w->cleared;
    weft__type_references(type, values, count, w->visit, w->user);
    return w->cleared != before;
}

static void column_walk(walk *w, const weft__chunk *chunk, uint32_t number)
{
    const weft__type_ref *ref = &chunk->archetype->types[number];
    uint32_t most = 1u << chunk->layout->slice_shift;
    for (uint32_t row = 0; row < chunk->count; row += most) {
        uint32_t count = chunk->count - row < most ? chunk->count - row : most;
        if (values_walk(w, ref->type, weft__chunk_value(chunk, ref->column, row), count))
            weft__rows_stamp(chunk, number, row, count, w->world->front.version);
    }
}

static void chunk_walk(walk *w, const weft__chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->archetype->type_count; i++) {
        const weft__type_ref *ref = &chunk->archetype->types[i];
        if (ref->type->reference_count == 0 || chunk->count == 0) continue;
        if (ref->chunk_offset != WEFT__NONE) {
            if (values_walk(w, ref->type, chunk->chunk_values + ref->chunk_offset, 1))
                weft__rows_stamp(chunk, i, 0, chunk->count, w->world->front.version);
        } else if (ref->column != 0) {
            column_walk(w, chunk, i);
        } else if (ref->shared != WEFT__NO_PLACE && w->visit != reference_clear) {
            const void *value = weft__shared_value(&w->world->shared, ref->component,
                                                   chunk->tuple->values[ref->shared]);
            values_walk(w, ref->type, (void *)(uintptr_t)value, 1);
        }
    }
}

static void world_walk(walk *w)
{
    const weft_world *world = w->world;
    for (uint32_t a = 0; a < world->archetypes.count; a++)
        for (uint32_t i = 0; i < world->archetypes.at[a]->chunk_count; i++)
            chunk_walk(w, world->archetypes.at[a]->chunks[i]);
    for (uint32_t t = 1; t <= world->types.count; t++) {
        const weft__type *type = world->types.at[t];
        if (type->resource != NULL) values_walk(w, type, type->resource, 1);
    }
}

void weft__world_references(const weft_world *world, weft__reference_visit *visit, void *user)
{
    world_walk(&(walk){.world = world, .visit = visit, .user = user});
}

weft_result weft_world_clear_references(weft_world *world, uint64_t *cleared)
{
    if (cleared != NULL) *cleared = 0;
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_world_clear_references");
    if (result != WEFT_OK) return result;
    walk w = {.world = world, .visit = reference_clear, .user = &w};
    world_walk(&w);
    if (cleared != NULL) *cleared = w.cleared;
    return WEFT_OK;
}
