/* SPDX-License-Identifier: MIT */
/* snapshot_check.c: what forbids taking a snapshot: values that would be owned twice, by the world
 * and by the copy. What else forbids it, its phase and sections that are read, is asked by
 * snapshot.c. */
#include "snapshot_check.h"

#include "archetype_state.h"
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
