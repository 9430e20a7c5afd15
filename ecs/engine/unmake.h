/* SPDX-License-Identifier: MIT */
/* unmake.h: entities that a call made and takes back because it fails.
 *
 * Destroying one uses its id up: its version is for its handles. Where no handle was given out, the
 * world can be as it was, ids included. The layers above make entities one by one, and need it. */
#pragma once

#include "door.h"

#include <weft/entity.h>

/* Ends an entity that only the caller knows, as if it had never been: its row with all components,
 * its name; its id comes again, with the same version. Those made last are unmade first. Cannot
 * fail. Owner, world idle. */
WEFT__DOOR void weft__entity_unmake(weft_world *world, weft_entity entity);
