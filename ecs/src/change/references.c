/* SPDX-License-Identifier: MIT */
/* references.c: weft_world_clear_references: described ENTITY fields that lead to no living
 * entity become null.
 *
 * Goes slice by slice, so that only slices in which something was cleared count as changed. Types
 * without such fields are not looked at. Owner, world idle; cannot fail. */
#include "error.h"
#include "structure.h"

/* What is being cleared. Owner: the stack of the call. */
typedef struct clearing {
    const weft_world *world;
    uint64_t count;
} clearing;

static bool reference_clear(void *user, weft__reference *r)
{
    clearing *c = user;
    if (r->is_blob || r->bits == 0 || weft_entity_is_alive(c->world, r->entity)) return true;
    r->entity = WEFT__NO_ENTITY;
    c->count++;
    return true;
}

/* True when one of the values had a reference that was cleared. */
static bool values_clear(clearing *c, const weft__type *type, void *values, uint32_t count)
{
    uint64_t before = c->count;
    weft__type_references(type, values, count, reference_clear, c);
    return c->count != before;
}

static void column_clear(clearing *c, const weft__chunk *chunk, uint32_t number)
{
    const weft__type_ref *ref = &chunk->archetype->types[number];
    uint32_t most = 1u << chunk->layout->slice_shift;
    for (uint32_t row = 0; row < chunk->count; row += most) {
        uint32_t count = chunk->count - row < most ? chunk->count - row : most;
        if (values_clear(c, ref->type, weft__chunk_value(chunk, ref->column, row), count))
            weft__rows_stamp(chunk, number, row, count, c->world->front.version);
    }
}

static void chunk_clear(clearing *c, const weft__chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->archetype->type_count; i++) {
        const weft__type_ref *ref = &chunk->archetype->types[i];
        if (ref->type->entity_offset_count == 0 || chunk->count == 0) continue;
        if (ref->chunk_offset != WEFT__NONE) {
            if (values_clear(c, ref->type, chunk->chunk_values + ref->chunk_offset, 1))
                weft__rows_stamp(chunk, i, 0, chunk->count, c->world->front.version);
        } else if (ref->column != 0) {
            column_clear(c, chunk, i);
        }
    }
}

weft_result weft_world_clear_references(weft_world *world, uint64_t *cleared)
{
    if (cleared != NULL) *cleared = 0;
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_world_clear_references");
    if (result != WEFT_OK) return result;
    clearing c = {.world = world};
    for (uint32_t a = 0; a < world->archetypes.count; a++)
        for (uint32_t i = 0; i < world->archetypes.at[a]->chunk_count; i++)
            chunk_clear(&c, world->archetypes.at[a]->chunks[i]);
    for (uint32_t t = 1; t <= world->types.count; t++) {
        const weft__type *type = world->types.at[t];
        if (type->resource != NULL) values_clear(&c, type, type->resource, 1);
    }
    if (cleared != NULL) *cleared = c.count;
    return WEFT_OK;
}
