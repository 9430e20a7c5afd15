/* SPDX-License-Identifier: MIT */
/* label.h: what the work of a body counts for, wherever it runs (weft__label of jobs_engine.h).
 *
 * A context that calls a labelled body shows the label to others until the body has ended, which
 * joins all that it began. A worker that takes a child finds the label at its victim; loops and
 * graphs take it along. Who runs such a piece puts a marker for profilers beside it (running.h), a
 * span into the trace, and tells the label how long it took.
 *
 * A context shows one label at a time, the outermost, and begins to only where it has no unjoined
 * child: so a child that is taken while a label is shown was begun under it, and the label lives
 * until that child is joined.
 *
 * Order: a label is shown before the child is pushed, and its thief looks after the steal (C1); it
 * is hidden after the join (C4 of child.h). A loop has it among its fields (L1), and it is looked
 * into only for a part that is not reported yet (L4). */
#pragma once

#include "pool_state.h"
#include "running.h"

/* One piece that runs under a label. Owner: the function that runs it, on its stack. */
typedef struct weft__labelled {
    weft__running running;
    const weft__label *label;
    uint64_t begun; /* ns, where it is timed */
    bool is_shown;  /* its own children find the label here */
} weft__labelled;

/* The label that a context shows, for the thief of a child of it; NULL: none. */
static inline const weft__label *weft__label_of(const weft_job_context *context)
{
    return at_load_rlx(&context->x_label); /* relaxed: ordered by the child, above */
}

/* The label of a part or node of a loop that the worker helps with; NULL: none, or the worker runs
 * below it anyhow. */
static inline const weft__label *weft__label_beside(const weft_job_context *worker,
                                                    const weft__loop *loop)
{
    return loop->label == weft__label_of(worker) ? NULL : loop->label;
}

/* Shows a label; false: the context does not, because it shows one, or has unjoined children. */
bool weft__label_show(weft_job_context *context, const weft__label *label);
void weft__label_hide(weft_job_context *context);

/* Around a piece. End it before others learn that it has ended: then the label may go away. */
void weft__label_begin(weft_job_context *worker, weft__labelled *piece, const weft__label *label);
void weft__label_end(weft_job_context *worker, weft__labelled *piece);
