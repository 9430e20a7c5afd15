/* SPDX-License-Identifier: MIT */
/* references.h: a walk over all references of a world: what else leads to an entity.
 *
 * Owner, world idle. */
#ifndef WEFT_REFERENCES_H
#define WEFT_REFERENCES_H

#include "component_type.h"
#include "door.h"

/* Visits the described references of all values, of SHARED and CHUNK ones and resources, too, to
 * look at them only. Owner, world idle. */
WEFT__DOOR void weft__world_references(const weft_world *world, weft__reference_visit *visit,
                                       void *user);

#endif
