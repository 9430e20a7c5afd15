/* SPDX-License-Identifier: MIT */
/* system_list.h: the systems of a world as a list in a file, for tools that see addresses of names
 * only (running.h). See system_list.c. Owner. */
#ifndef WEFT_SYSTEM_LIST_H
#define WEFT_SYSTEM_LIST_H

#include "scheduler_state.h"

typedef struct weft__system_list weft__system_list;

/* Appends the systems of the schedule that was just compiled, if WEFT_SYSTEMS names a folder. */
void weft__system_list_write(weft__scheduler *scheduler);
void weft__system_list_close(weft__scheduler *scheduler);

#endif
