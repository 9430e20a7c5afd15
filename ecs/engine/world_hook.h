/* SPDX-License-Identifier: MIT */
/* world_hook.h: calling the hooks of a world (weft_world_hook).
 *
 * See world_hook.c. Owner, world idle. */
#ifndef WEFT_WORLD_HOOK_H
#define WEFT_WORLD_HOOK_H

#include "world_front.h"

/* At the end of a step, where there are hooks. The world's error stays as it is. */
void weft__world_stepped(weft_world *world);
/* The world is about to be destroyed: each is told, and removed. */
void weft__world_ended(weft_world *world);

#endif
