/* SPDX-License-Identifier: MIT */
/* diagnose.h: what checked builds find out about systems by the calls that these make: on the
 * world instead of the slice, look-ups for writing, commands.
 *
 * See diagnose.c. */
#ifndef WEFT_DIAGNOSE_H
#define WEFT_DIAGNOSE_H

#include "scheduler_state.h"

/* A value a slice asked to write by look-up. Kept in checked builds until the end of the pass. */
typedef struct weft__far_write {
    uint32_t position; /* of the system */
    uint32_t component;
    weft_entity entity;
    uint32_t slice;
} weft__far_write;

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
/* What this thread runs from now on; returns what it ran before. */
const weft_slice *weft__diagnose_enter(const weft_slice *slice);
/* Lists all mistakes of the step, and makes the first one its error. After weft__watch_report. */
void weft__diagnose_report(weft__scheduler *scheduler);
void weft__diagnose_free(weft__scheduler *scheduler);

#endif
