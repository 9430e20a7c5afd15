/* SPDX-License-Identifier: MIT */
/* system_free.h: giving back what a system owns: for weft_system_destroy, for a system that could
 * not be made, and for the end of the world. */
#ifndef WEFT_SYSTEM_FREE_H
#define WEFT_SYSTEM_FREE_H

#include "scheduler_state.h"

/* Takes a registered system out of the registry and frees it. No schedule may name it. Owner. */
void weft__system_free(weft__system *system);
/* Frees a system that was never registered, with what it has taken so far. Owner. */
void weft__system_abandon(weft__system *system);

#endif
