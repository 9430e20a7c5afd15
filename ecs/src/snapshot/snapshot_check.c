/* SPDX-License-Identifier: MIT */
/* snapshot_check.c: what forbids taking or restoring a snapshot.
 *
 * Entities without a row, which a recorder holds, and values that would be owned twice. */
#include "snapshot_check.h"

#include "archetype_state.h"
#include "directory_check.h"
#include "error.h"

/* A type whose values own something that the bytes of a copy would own as well. */
static bool is_uncopyable(const weft_world *world, const weft__type *type)
{
    if (type->desc.hooks.destruct == NULL || type->desc.hooks.copy != NULL) return false;
    if (type->resource != NULL) return true;
    for (uint32_t i = 0; i < world->archetypes.count; i++)
        if (world->archetypes.at[i]->entity_count != 0 &&
            weft__archetype_find(world->archetypes.at[i], type->id) != WEFT__NONE)
            return true;
    return false;
}

weft_result weft__snapshot_check_types(const weft_world *world)
{
    for (uint32_t i = 1; i <= world->types.count; i++)
        if (is_uncopyable(world, world->types.at[i]))
            return weft__error(world, WEFT_UNSUPPORTED, WEFT__NO_ENTITY, weft__component(world, i),
                               "weft_snapshot_take: component \"%s\" has a destruct hook but no "
                               "copy hook, so its values cannot be copied: give it a copy hook",
                               world->types.at[i]->desc.name);
    return WEFT_OK;
}

weft_result weft__snapshot_check_ids(const weft_world *world, const char *what)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < world->archetypes.count; i++)
        rows += weft__archetype_entities(world->archetypes.at[i]);
    if (weft__directory_alive(&world->directory) == rows) return WEFT_OK;
    return weft__error(world, WEFT_WRONG_PHASE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "%s: a recorder holds entities that weft_recorder_create_rows_unordered "
                       "gave: play or destroy it first",
                       what);
}
