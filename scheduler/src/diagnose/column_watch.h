/* SPDX-License-Identifier: MIT */
/* column_watch.h: what checked builds do around the call of a system: copies of its columns.
 *
 * See column_watch.c. Unchecked builds call nothing here. */
#ifndef WEFT_COLUMN_WATCH_H
#define WEFT_COLUMN_WATCH_H

#include "ecs_engine.h"
#include "scheduler_state.h"

/* One call; on the stack of who calls. */
typedef struct weft__watch {
    const weft_slice *before; /* what the thread ran before */
    uint32_t loops;           /* of the worker that were open */
    weft__guard_frame frame;
} weft__watch;

/* Decides which columns of a new system are copied. Without memory none are. */
void weft__watch_init(weft__system *system);
void weft__watch_fini(weft__system *system);
/* Room for the copies of all slices of a stage whose entries were just made. Owner, no system runs
 * but background ones. */
void weft__watch_reserve(weft__scheduler *scheduler, const weft__stage *stage);
/* The slice for the callback. */
weft_slice *weft__watch_begin(weft__watch *watch, const weft__system *system, weft_slice *slice);
void weft__watch_end(const weft__watch *watch, const weft__system *system);
/* A slice is used that is no more (weft__slice_is_here): the mistake of the callback that this
 * thread runs, else of the one that the slice was given to. */
void weft__watch_gone(const weft_slice *slice, weft_access access);
/* The resource of a type that the system reads, inside its call: a copy, like its columns. */
void *weft__watch_resource(const weft__system *system, const weft_slice *slice,
                           const weft__type *type);
/* Keeps what the copies found as violations. Owner, no system runs. */
void weft__watch_report(weft__scheduler *scheduler);

#endif
