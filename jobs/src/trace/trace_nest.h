/* SPDX-License-Identifier: MIT */
/* trace_nest.h: from records in the order of each worker to spans that nest, for the formats.
 *
 * An end without a begin (dropped, or before the window) is left out; what is open at the end of
 * the trace, or when an outer span ends, is ended. The shares that stand before the end of a span
 * become spans inside of it, one after the other, each as long as its part of them all: so a
 * viewer adds up the time of each system, although a fused slice is too short for a span each.
 * Owner: the writer of the file, on its stack or in its memory. */
#ifndef WEFT_TRACE_NEST_H
#define WEFT_TRACE_NEST_H

#include "trace_format.h"

#define WEFT__NESTING_MAX 64
#define WEFT__SHARES_MAX 64 /* systems of a fused stage; more are left out */

/* Spans open on one worker. Invariant: share_count == 0 or open[depth - 1] is the span they are
 * shares of. */
typedef struct weft__trace_stack {
    uint32_t depth, share_count;
    bool is_leaf; /* the innermost open span has no other in it */
    uint64_t last_ns;
    weft__trace_record open[WEFT__NESTING_MAX];
    weft__trace_record shares[WEFT__SHARES_MAX];
} weft__trace_stack;

/* Where records go. Constant but for the stacks. */
typedef struct weft__trace_nest {
    const weft__trace_format *format;
    weft__trace_out *out;
    const weft__trace_info *info;
    weft__trace_stack *stacks; /* [info->row_count], zeroed */
} weft__trace_nest;

/* Passes a record on. `nest` is a weft__trace_nest. */
void weft__trace_nest_take(void *nest, const weft__trace_record *record);
/* Ends what is open. */
void weft__trace_nest_end(weft__trace_nest *nest);

#endif
