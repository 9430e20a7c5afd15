/* SPDX-License-Identifier: MIT */
/* world_runs.h: how far rates and timers are (weft__kept_run), on its way to files and texts and
 * back. Owner, world idle. */
#ifndef WEFT_WORLD_RUNS_H
#define WEFT_WORLD_RUNS_H

#include "world_state.h"

/* A list that grows. Owner: one save or load. */
typedef struct weft__run_list {
    weft_world *world;
    weft__kept_run *at;
    uint32_t count, capacity; /* as of a WEFT__LIST */
    bool is_out_of_memory;
} weft__run_list;

/* Adds a copy, unless there is no memory. */
void weft__run_list_add(weft__run_list *list, const weft__kept_run *run);
void weft__run_list_free(weft__run_list *list);
/* Those of the systems and groups, and those that still wait for theirs: groups first, by name. */
void weft__run_list_collect(weft__run_list *list);
/* NULL, or why a run that was read cannot be. */
const char *weft__run_problem(const weft__kept_run *run);
/* Gives the list, which is empty then, to the world: systems and groups take theirs, now or when
 * they are created. */
void weft__run_list_give(weft__run_list *list);

#endif
