/* SPDX-License-Identifier: MIT */
/* trace.h: a ring of events, one per worker and guest: it writes, one reader takes; when it is full
 * the event is counted as dropped. The algorithm and its edges are in trace.c.
 *
 * A ring of a trace file lies in a shared mapping of FILE.rings.raw, with the names of its events,
 * and outlives the process however that ends: tools/profile/perfetto.py reads it.
 *
 *   who            write       read
 *   worker, guest  own ring    -
 *   reader         -           one at a time per ring */
#pragma once

#include "heap.h"
#include "os.h"

#include <weft/jobs.h>

/* Owner: the worker, which writes; the reader takes. Invariant: written == read + held, and
 * x_dropped counts what was neither. */
typedef struct weft__trace_ring {
    struct weft__trace_buffer *buffer; /* constant; NULL: tracing is off */
    struct weft__trace_names *names;   /* constant; NULL: events have pointers, in no file */
    weft_a64 x_dropped;
    uint64_t last_ns;   /* worker only: of its last event, which shares have, too */
    uint32_t undrained; /* worker only: events since it emptied the rings (trace_file.h) */
} weft__trace_ring;

weft_result weft__trace_init(weft__trace_ring *ring, weft__memory *memory, uint32_t capacity);
/* In `mapped`, weft__trace_bytes(capacity) zeroed bytes, which fini unmaps. */
void weft__trace_init_mapped(weft__trace_ring *ring, void *mapped, uint32_t capacity);
/* Bytes of a ring in a file, a multiple of the page. */
size_t weft__trace_bytes(uint32_t capacity);
void weft__trace_fini(weft__trace_ring *ring, weft__memory *memory, const weft_os *os);
/* Worker: never blocks. */
void weft__trace_write(weft__trace_ring *ring, const weft_job_event *event);
/* Reader: false when empty. */
bool weft__trace_read(weft__trace_ring *ring, weft_job_event *out);
/* Reader: makes the name of an event that it has read a text again. Returns the place of a number
 * that the reader keeps of the name, 0 at first; NULL: there is none. */
uint32_t *weft__trace_name(const weft__trace_ring *ring, weft_job_event *event);

/* Events the ring was made for; 0: none. */
uint32_t weft__trace_capacity(const weft__trace_ring *ring);
