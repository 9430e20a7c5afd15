/* SPDX-License-Identifier: MIT */
/* lent.h: what must wait until the threads of streams have given back what they have of the world.
 * The books are weft_world.lent. Owner. */
#ifndef WEFT_LENT_H
#define WEFT_LENT_H

#include "world_state.h"

/* BUSY (error set) while sections are read or taken out; else WEFT_OK. */
weft_result weft__lent_refuse(const weft_world *world, const char *what);
/* Recorders outside of systems hold no ids, and get none until weft__ids_open: versions may be
 * changed. Errors: WRONG_PHASE, and nothing is closed. */
weft_result weft__ids_close(weft_world *world, const char *what);
void weft__ids_open(weft_world *world);

#endif
