/* SPDX-License-Identifier: MIT */
/* mistakes.h: mistakes of systems against their declarations: keeping and reporting them.
 * Checked builds only. Who finds them: slice_ops_system.c and slice_query.c (calls on the
 * slice), diagnose.c (calls on the world, commands, look-ups), column_watch.c (copies of
 * columns). */
#ifndef WEFT_MISTAKES_H
#define WEFT_MISTAKES_H

#include "scheduler_state.h"

/* When a mistake is found: order of report of those of one slice. */
typedef enum weft__violation_phase {
    WEFT__VIOLATION_CALLED,   /* by a call that it made */
    WEFT__VIOLATION_RECORDED, /* among its commands, before they are played */
    WEFT__VIOLATION_COMPARED, /* by comparing all look-ups for writing */
    WEFT__VIOLATION_STRAYED,  /* by comparing copies of columns */
} weft__violation_phase;

/* A mistake of a system, kept by the worker that met it until the end of the step, one of a kind:
 * the first by slice. Owner: the list of that worker; RECORDED: that of the first worker. */
typedef struct weft__violation {
    weft_result code;
    uint32_t position; /* of the system */
    uint32_t slice;
    uint32_t component;
    weft_access access;
    const char *observer; /* whose mistake it is, in batch `slice`; NULL: of the system */
    const char *function; /* that was called, or NULL */
    const char *what;
    weft__violation_phase phase;
    bool has_row;
    uint32_t row;       /* of the slice */
    uint32_t row_limit; /* rows of the slice, where the row is past its end; else 0 */
    weft_entity entity;
    uint32_t places;   /* slices in which it was found; kept by weft__violate */
    uint64_t sequence; /* of the worker; kept by weft__violate */
} weft__violation;

/* Keeps a broken declaration for the report at the end of the step. Its worker only. Without memory
 * it is lost. */
void weft__violate(weft__worker *worker, const weft__violation *violation);
/* What this slice did that its system did not declare. The slice's thread. */
void weft__violate_in(const weft_slice *slice, uint32_t component, weft_access access,
                      const char *what);
/* The same: it asked for a row past the end of a slice of `count` rows. */
void weft__row_missing_in(const weft_slice *slice, uint32_t component, weft_access access,
                          uint32_t row, uint32_t count);
/* The same: it asked for a term as another C type than that of its component. */
void weft__mistyped_in(const weft_slice *slice, uint32_t component, weft_access access,
                       const char *type);
/* Lists the violations of the step, and makes the first one its error. Owner, no system runs. */
void weft__violations_report(weft__scheduler *scheduler);
/* The same outside of steps: the first one becomes the world's error, and its code is returned. */
weft_result weft__violations_tell(weft__scheduler *scheduler);
/* Logs the world's error and adds it to the list of the step. Without memory it is not listed. */
void weft__mistake_list(weft__scheduler *scheduler);

#endif
