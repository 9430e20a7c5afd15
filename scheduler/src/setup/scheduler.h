/* SPDX-License-Identifier: MIT */
/* scheduler.h: making the scheduler of a world.
 *
 * See scheduler.c; its struct: scheduler_state.h. */
#ifndef WEFT_SCHEDULER_H
#define WEFT_SCHEDULER_H

#include "scheduler_state.h"

/* The scheduler of the world, made when there is none; the world frees it. NULL: error set. Owner,
 * between steps. */
weft__scheduler *weft__scheduler_obtain(weft_world *world);

#endif
