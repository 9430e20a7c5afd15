/* SPDX-License-Identifier: MIT */
/* trace.c: the single-producer single-consumer ring of trace events: made, written, read. Only
 * reached when a pool is traced: without a buffer nothing is written.
 *
 * A ring with one writer and one reader. Wait-free both ways.
 *
 * Edges:
 *   T1  write: event, release of tail -> read: acquire of tail, event
 *   T2  read: release of head -> write: acquire of head (the place is free) */
#include "trace.h"

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

/* Ring and events in one block. Owner: the worker's ring; constant but for the ring's content. */
struct weft__trace_buffer {
    trace_ring ring;
    uint32_t capacity;
    weft_job_event events[];
};

static size_t buffer_bytes(uint32_t capacity)
{
    return sizeof(struct weft__trace_buffer) + (size_t)capacity * sizeof(weft_job_event);
}

weft_result weft__trace_init(weft__trace_ring *ring, weft__memory *memory, uint32_t capacity)
{
    if (capacity == 0) return WEFT_OK;
    ring->buffer = weft__alloc_zeroed(memory, WEFT__MEMORY_JOBS, 1, buffer_bytes(capacity), 64);
    if (ring->buffer == NULL) return WEFT_OUT_OF_MEMORY;
    ring->buffer->capacity = capacity;
    trace_ring_init(&ring->buffer->ring, capacity);
    return WEFT_OK;
}

void weft__trace_fini(weft__trace_ring *ring, weft__memory *memory)
{
    if (ring->buffer == NULL) return;
    weft__free(memory, WEFT__MEMORY_JOBS, ring->buffer, 1, buffer_bytes(ring->buffer->capacity),
               64);
    ring->buffer = NULL;
}

void weft__trace_write(weft__trace_ring *ring, const weft_job_event *event)
{
    if (ring->buffer == NULL) return;
    if (!trace_ring_write(&ring->buffer->ring, ring->buffer->events, event))
        at_store_rlx(&ring->x_dropped, at_load_rlx(&ring->x_dropped) + 1); /* relaxed: one writer */
}

bool weft__trace_read(weft__trace_ring *ring, weft_job_event *out)
{
    return ring->buffer != NULL && trace_ring_read(&ring->buffer->ring, ring->buffer->events, out);
}

uint32_t weft__trace_capacity(const weft__trace_ring *ring)
{
    return ring->buffer == NULL ? 0 : ring->buffer->capacity;
}
