/* SPDX-License-Identifier: MIT */
/* trace_ring.h: the single-producer single-consumer ring of trace events.
 *
 * The shipping build uses Concurrency Kit's ck_ring (SPSC is one of its sound parts). Its assembly
 * is invisible to ThreadSanitizer and to the schedule explorer, so builds for those use the same
 * algorithm on the atomics door. Include only from trace.c.
 *
 * Edges:
 *   T1  write: event, release of tail -> read: acquire of tail, event
 *   T2  read: release of head -> write: acquire of head (the place is free)
 * Wait-free both ways. */
#ifndef WEFT_TRACE_RING_H
#define WEFT_TRACE_RING_H

#include <weft/jobs.h>

#include "atomic.h"

#if defined(WEFT_ATOMICS_BUILTIN) || defined(WEFT_ATOMICS_HOOKED) || !defined(__x86_64__)

/* The positions of a ring whose events lie beside it. Owner: one worker's trace. Always:
 * x_tail - x_head <= mask (modulo 2^32). */
typedef struct trace_ring {
    _Alignas(64) weft_a32 x_head; /* reader */
    _Alignas(64) weft_a32 x_tail; /* writer */
    uint32_t mask;                /* constant */
} trace_ring;

static void trace_ring_init(trace_ring *ring, uint32_t capacity)
{
    at_init(&ring->x_head, 0);
    at_init(&ring->x_tail, 0);
    ring->mask = capacity - 1;
}

static bool trace_ring_write(trace_ring *ring, weft_job_event *events, const weft_job_event *event)
{
    uint32_t tail = at_load_rlx(&ring->x_tail);                        /* relaxed: own word */
    if (tail - at_load_acq(&ring->x_head) >= ring->mask) return false; /* T2 */
    events[tail & ring->mask] = *event;
    at_store_rel(&ring->x_tail, tail + 1); /* T1 */
    return true;
}

static bool trace_ring_read(trace_ring *ring, weft_job_event *events, weft_job_event *out)
{
    uint32_t head = at_load_rlx(&ring->x_head);           /* relaxed: own word */
    if (head == at_load_acq(&ring->x_tail)) return false; /* T1 */
    *out = events[head & ring->mask];
    at_store_rel(&ring->x_head, head + 1); /* T2 */
    return true;
}

#else

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <ck_ring.h>

typedef struct ck_ring trace_ring;
CK_RING_PROTOTYPE(trace, weft_job_event)
#pragma GCC diagnostic pop
#pragma GCC poison ck_ring_valid /* wrong after 2^32 operations in 0.7.1 */

static void trace_ring_init(trace_ring *ring, uint32_t capacity)
{
    ck_ring_init(ring, capacity);
}

static bool trace_ring_write(trace_ring *ring, weft_job_event *events, const weft_job_event *event)
{
    weft_job_event copy = *event;
    return ck_ring_enqueue_spsc_trace(ring, events, &copy);
}

static bool trace_ring_read(trace_ring *ring, weft_job_event *events, weft_job_event *out)
{
    return ck_ring_dequeue_spsc_trace(ring, events, out);
}

#endif
#endif
