/* trace.h: what can be seen of a worker: hooks, a ring of events, static probes.
 *
 * The ring is Concurrency Kit's single-producer single-consumer ring: the worker writes, one
 * reader takes; when it is full the event is counted as dropped. Everything is behind one flag
 * per worker (is_observed), so that it costs one predicted branch when off. Static probes
 * (provider `weft`) cost a nop each and are compiled in where <sys/sdt.h> exists.
 *
 *   who            write       read
 *   worker         own ring    -
 *   reader         -           one at a time per ring */
#ifndef WEFT_TRACE_H
#define WEFT_TRACE_H

#include <weft/jobs.h>

#include "atomic.h"
#include "heap.h"

/* Owner: the worker writes, the reader takes. */
typedef struct weft__trace_ring {
    struct weft__trace_buffer *buffer; /* constant; NULL: tracing is off */
    weft_a64 x_dropped;
} weft__trace_ring;

weft_result weft__trace_init(weft__trace_ring *ring, weft__memory *memory, uint32_t capacity);
void weft__trace_fini(weft__trace_ring *ring, weft__memory *memory);
/* Worker: never blocks. */
void weft__trace_write(weft__trace_ring *ring, const weft_job_event *event);
/* Reader: false when empty. */
bool weft__trace_read(weft__trace_ring *ring, weft_job_event *out);

/* Events the ring was made for; 0: none. */
uint32_t weft__trace_capacity(const weft__trace_ring *ring);

/* Two hooks without an event: there would be too many. Call when is_observed. */
void weft__observe_spawned(weft_job_context *worker, const char *name);
void weft__observe_inlined(weft_job_context *worker, const char *name);

#endif
