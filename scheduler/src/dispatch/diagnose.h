/* diagnose.h: what checked builds find out about systems while they run: violations of what was
 * declared, look-ups for writing, and copies of columns around each call. Unchecked builds call
 * nothing here. diagnose.c keeps and reports, column_watch.c makes the copies. */
#ifndef WEFT_DIAGNOSE_H
#define WEFT_DIAGNOSE_H

#include "guard.h"
#include "scheduler_state.h"

/* When a mistake is found: order of report of those of one slice. */
typedef enum weft__violation_phase {
    WEFT__VIOLATION_CALLED,   /* by a call that it made */
    WEFT__VIOLATION_COMPARED, /* by comparing all look-ups for writing */
    WEFT__VIOLATION_STRAYED,  /* by comparing copies of columns */
} weft__violation_phase;

/* A mistake of a system, kept by the worker that met it until the end of the step, one of a kind:
 * the first by slice. */
typedef struct weft__violation {
    weft_result code;
    uint32_t position; /* of the system */
    uint32_t slice;
    uint32_t component;
    weft_access access;
    const char *function; /* that was called, or NULL */
    const char *what;
    weft__violation_phase phase;
    bool has_row;
    uint32_t row; /* of the slice */
    weft_entity entity;
    uint32_t places;   /* slices in which it was found; kept by weft__violate */
    uint64_t sequence; /* of the worker; kept by weft__violate */
} weft__violation;

/* A value a slice asked to write by look-up. Kept in checked builds until the end of the pass. */
typedef struct weft__far_write {
    uint32_t position; /* of the system */
    uint32_t component;
    weft_entity entity;
    uint32_t slice;
} weft__far_write;

/* ---- diagnose.c: what checked builds find ---- */

/* Keeps a broken declaration for the report at the end of the step. Its worker only. */
void weft__violate(weft__worker *worker, const weft__violation *violation);
/* Commands of a segment against the effects and components that the system declared. */
void weft__diagnose_effects(weft__scheduler *scheduler, uint32_t worker,
                            const weft__command_segment *segment);
/* A look-up of a value in row `row` of a chunk, which other slices of the system may be writing (or
 * reading, when it is for writing). */
void weft__diagnose_look(const weft_slice *slice, const weft__chunk *chunk, uint32_t row,
                         weft_component component, weft_access access);
/* What this thread runs, or NULL. */
const weft_slice *weft__diagnose_current(void);
/* A look-up for writing. Its worker only. */
void weft__diagnose_write(const weft_slice *slice, weft_entity entity, weft_component component);
/* The owner, around the stages of a pass. */
void weft__diagnose_begin(weft__scheduler *scheduler);
void weft__diagnose_end(weft__scheduler *scheduler);
/* What this thread runs from now on; returns what it ran before. */
const weft_slice *weft__diagnose_enter(const weft_slice *slice);
/* Lists all mistakes of the step, and makes the first one its error. */
void weft__diagnose_report(weft__scheduler *scheduler);
void weft__diagnose_free(weft__scheduler *scheduler);

/* ---- column_watch.c: what checked builds do around the call of a system ---- */

/* One call; on the stack of who calls. */
typedef struct weft__watch {
    const weft_slice *before; /* what the thread ran before */
    weft__guard_frame frame;
} weft__watch;

/* Decides which columns of a new system are copied. Without memory none are. */
void weft__watch_init(weft__system *system);
void weft__watch_fini(weft__system *system);
/* Room for the copies of all slices of a stage. Owner, no system runs. */
void weft__watch_reserve(weft__scheduler *scheduler, const weft__entry *entries, uint32_t count);
void weft__watch_begin(weft__watch *watch, const weft__system *system, weft_slice *slice);
void weft__watch_end(const weft__watch *watch, const weft__system *system, weft_slice *slice);
/* Keeps what the copies found as violations. Owner, no system runs. */
void weft__watch_report(weft__scheduler *scheduler);

#endif
