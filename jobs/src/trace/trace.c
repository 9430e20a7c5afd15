/* SPDX-License-Identifier: MIT */
/* trace.c: rings of events: made, written, read.
 *
 * Only reached when a pool is traced: without a buffer nothing is written. */
#include "trace.h"

#include "trace_ring.h"

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
