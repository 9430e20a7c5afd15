/* SPDX-License-Identifier: MIT */
/* trace.h: a ring of events, one per worker and guest: it writes, one reader takes; when it is full
 * the event is counted as dropped. The algorithm and its edges are in trace.c.
 *
 *   who            write       read
 *   worker, guest  own ring    -
 *   reader         -           one at a time per ring */
#pragma once

#include "heap.h"

#include <weft/jobs.h>

/* Owner: the worker, which writes; the reader takes. Invariant: written == read + held, and
 * x_dropped counts what was neither. */
typedef struct weft__trace_ring {
    struct weft__trace_buffer *buffer; /* constant; NULL: tracing is off */
    weft_a64 x_dropped;
    uint32_t undrained; /* worker only: events since it emptied the rings (trace_file.h) */
} weft__trace_ring;

weft_result weft__trace_init(weft__trace_ring *ring, weft__memory *memory, uint32_t capacity);
void weft__trace_fini(weft__trace_ring *ring, weft__memory *memory);
/* Worker: never blocks. */
void weft__trace_write(weft__trace_ring *ring, const weft_job_event *event);
/* Reader: false when empty. */
bool weft__trace_read(weft__trace_ring *ring, weft_job_event *out);

/* Events the ring was made for; 0: none. */
uint32_t weft__trace_capacity(const weft__trace_ring *ring);
