/* SPDX-License-Identifier: MIT */
/* component_registry.h: what the registry of component types does beside its public calls
 * (weft/component.h); look-ups of types are inline in world_state.h. Owner. */
#pragma once

#include "world_state.h"

/* As weft_component_find, and finds the tag of residues, too: files and transfers name it. */
weft_component weft__component_named(const weft_world *world, const char *name);
/* World end: destructs resources and frees the table. */
void weft__types_fini(weft_world *world);

/* WEFT_OK, or what weft_component_check says of the first of `count` values that it refuses. OK
 * where the component does not ask, and in builds that are not checked. */
static inline weft_result weft__values_check(const weft_world *world, const weft__type *type,
                                             const void *values, uint32_t count)
{
    weft_result result = WEFT_OK;
    if (!WEFT_IS_CHECKED || !type->desc.is_checked) return WEFT_OK;
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++)
        result = weft_component_check(world, weft__component(world, type->id),
                                      (const char *)values + i * type->desc.size);
    return result;
}
