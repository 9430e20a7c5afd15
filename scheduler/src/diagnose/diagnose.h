/* SPDX-License-Identifier: MIT */
/* diagnose.h: what checked builds find out about systems by the calls that these make: on the
 * world instead of the slice, look-ups for writing, commands.
 *
 * See diagnose.c. */
#pragma once

#include "scheduler_state.h"

/* Commands of a segment against the effects and components that the system declared. */
void weft__diagnose_effects(weft__scheduler *scheduler, const weft__command_segment *segment);
/* A look-up of a value in row `row` of a chunk, which other slices of the system may be writing (or
 * reading, when it is for writing). */
void weft__diagnose_look(const weft_slice *slice, const weft__chunk *chunk, uint32_t row,
                         weft_component component, weft_access access);
/* What this thread runs, or NULL. */
const weft_slice *weft__diagnose_current(void);
/* An observer that is called. A value. */
typedef struct weft__observing {
    weft__scheduler *scheduler;
    const char *name;
    uint32_t worker, batch;
} weft__observing;

/* What observer this thread calls from now on, or NULL; returns what it called before. */
const weft__observing *weft__diagnose_observe(const weft__observing *observing);
/* A look-up for writing. Its worker only. */
void weft__diagnose_write(const weft_slice *slice, weft_entity entity, weft_component component);
/* The owner, when the scheduler is made: calls of the world that systems and observers may not make
 * are seen. */
void weft__diagnose_watch(const weft__scheduler *scheduler);
/* The owner, around the stages of a pass. */
void weft__diagnose_begin(weft__scheduler *scheduler);
void weft__diagnose_end(weft__scheduler *scheduler);
/* Lists all mistakes of the step, and makes the first one its error. */
void weft__diagnose_report(weft__scheduler *scheduler);
void weft__diagnose_free(weft__scheduler *scheduler);

/* ---- keeping and reporting mistakes ---- */

/* What this slice did that its system did not declare. The slice's thread. */
void weft__violate_in(const weft_slice *slice, uint32_t component, weft_access access,
                      const char *what);
/* The same: it asked for a row past the end of a slice of `count` rows. */
void weft__row_missing_in(const weft_slice *slice, uint32_t component, weft_access access,
                          uint32_t row, uint32_t count);
/* The same: it asked for a term as another C type than that of its component. */
void weft__mistyped_in(const weft_slice *slice, uint32_t component, weft_access access,
                       const char *type);
/* The same outside of steps: the first one becomes the world's error, and its code is returned. */
weft_result weft__violations_tell(weft__scheduler *scheduler);

/* ---- copies of columns around the call of a system ---- */

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
