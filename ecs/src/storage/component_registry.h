/* SPDX-License-Identifier: MIT */
/* component_registry.h: the end of the component types of a world. All else that the registry does
 * is public (weft/component.h); look-ups of types are inline in world_state.h. */
#ifndef WEFT_COMPONENT_REGISTRY_H
#define WEFT_COMPONENT_REGISTRY_H

#include "world_state.h"

/* As weft_component_find, and finds the tag of residues, too: files and transfers name it. */
weft_component weft__component_named(const weft_world *world, const char *name);
/* World end: destructs resources and frees the table. */
void weft__types_fini(weft_world *world);

#endif
