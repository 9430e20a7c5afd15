/* SPDX-License-Identifier: MIT */
/* scheduler.h: making the scheduler of a world.
 *
 * See scheduler.c; its struct: scheduler_state.h. And what systems and groups have in common: the
 * lists of their descriptions, checked, and copied into one block that belongs to the system or
 * group. Owner, world idle. */
#pragma once

#include "scheduler_state.h"

/* The scheduler of the world, made when there is none; the world frees it. NULL: error set. Owner,
 * between steps. */
weft__scheduler *weft__scheduler_obtain(weft_world *world);

/* Takes a registered system out of the registry and frees it. No schedule may name it. Owner. */
void weft__system_free(weft__system *system);
/* Frees a system that was never registered, with what it has taken so far. Owner. */
void weft__system_abandon(weft__system *system);

/* The lists as the caller gave them; on the stack of the call. */
typedef struct weft__lists_given {
    weft__given lookups, resources, queries, records, destroys, before, after;
} weft__lists_given;

/* Counts the entries. Errors: BAD_HANDLE, INVALID_ARGUMENT (a null entry, a NULL pointer with a
 * count, a name without 1..63 bytes); the text names list and position. */
weft_result weft__lists_check(const weft_world *world, const char *what,
                              const weft_system_desc *desc, weft__lists_given *out);
/* Copies lists that were checked, and whose handles are good. OUT_OF_MEMORY (no text). */
weft_result weft__lists_copy(weft_world *world, const weft__lists_given *given, weft__lists *out);
