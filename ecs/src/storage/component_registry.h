/* component_registry.h: the end of the component types of a world. All else that the registry does
 * is public (weft/component.h); look-ups of types are inline in world_state.h. */
#ifndef WEFT_COMPONENT_REGISTRY_H
#define WEFT_COMPONENT_REGISTRY_H

#include "world_state.h"

/* World end: destructs resources and frees the table. */
void weft__types_fini(weft_world *world);

#endif
