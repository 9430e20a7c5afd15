/* SPDX-License-Identifier: MIT */
/* lent.h: what must wait until the threads of streams have given back what they have of the world.
 * The books are weft_world.lent. Owner. */
#ifndef WEFT_LENT_H
#define WEFT_LENT_H

#include "world_state.h"

/* BUSY (error set) while sections are read or taken out; else WEFT_OK. */
weft_result weft__lent_refuse(const weft_world *world, const char *what);

#endif
