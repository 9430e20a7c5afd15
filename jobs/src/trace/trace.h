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

#if defined(__has_include)
#if __has_include(<sys/sdt.h>) && !defined(WEFT_ATOMICS_HOOKED)
#include <sys/sdt.h>
#define WEFT_PROBE2(name, a, b) DTRACE_PROBE2(weft, name, a, b)
#endif
#endif
#ifndef WEFT_PROBE2
#define WEFT_PROBE2(name, a, b) ((void)(a), (void)(b))
#endif

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

/* Reports an event of a worker to its ring and to the hooks; call through weft__note (pool.h). */
void weft__observe(weft_job_context *worker, weft_job_event_kind kind, const char *name,
                   uint32_t value);

/* Two hooks without an event: there would be too many. Call when is_observed. */
void weft__observe_spawned(weft_job_context *worker, const char *name);
void weft__observe_inlined(weft_job_context *worker, const char *name);

#if defined(__clang__) /* sdt.h passes empty variadic arguments */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif
/* Fires the static probe of an event; `kind` is a constant, so one nop is left. */
static inline __attribute__((always_inline)) void
weft__fire_probe(weft_job_event_kind kind, uint32_t worker, const char *name, uint32_t value)
{
    switch (kind) {
    case WEFT_JOB_EVENT_BEGIN:
        WEFT_PROBE2(job_begin, worker, name);
        break;
    case WEFT_JOB_EVENT_END:
        WEFT_PROBE2(job_end, worker, name);
        break;
    case WEFT_JOB_EVENT_STEAL:
        WEFT_PROBE2(steal, worker, value);
        break;
    case WEFT_JOB_EVENT_PARK:
        WEFT_PROBE2(park, worker, value);
        break;
    case WEFT_JOB_EVENT_UNPARK:
        WEFT_PROBE2(unpark, worker, value);
        break;
    case WEFT_JOB_EVENT_WAIT_BEGIN:
        WEFT_PROBE2(wait_begin, worker, value);
        break;
    case WEFT_JOB_EVENT_WAIT_END:
        WEFT_PROBE2(wait_end, worker, value);
        break;
    case WEFT_JOB_EVENT_MARK:
        WEFT_PROBE2(mark, worker, name);
        break;
    case WEFT_JOB_EVENT_WAKE:
        WEFT_PROBE2(wake, worker, value);
        break;
    case WEFT_JOB_EVENT_SPAN_BEGIN:
        WEFT_PROBE2(span_begin, worker, name);
        break;
    case WEFT_JOB_EVENT_SPAN_END:
        WEFT_PROBE2(span_end, worker, name);
        break;
    case WEFT_JOB_EVENT_COUNTER:
        WEFT_PROBE2(counter, name, value);
        break;
    }
    (void)name, (void)value, (void)worker;
}
/* A system is called for one slice: a nop unless somebody traces the probe. */
static inline __attribute__((always_inline)) void weft__fire_system(uint32_t worker,
                                                                    const char *name)
{
    WEFT_PROBE2(system, worker, name);
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
