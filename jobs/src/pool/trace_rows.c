/* SPDX-License-Identifier: MIT */
/* trace_rows.c: rows by their number: reading one, and what a trace file asks of its pool about
 * each: its ring, and at the end the number and the name of its thread. A viewer shows rows in
 * this order: the owner, the workers by their index, and then the host's threads that were
 * guests. */
#include "trace_rows.h"

#include <stdio.h>

static weft_job_context *context_of(weft_job_pool *pool, uint32_t row)
{
    if (row < pool->worker_count) return &pool->workers[row];
    if (row >= pool->worker_count + WEFT__GUESTS_MAX) return NULL;
    return weft__guest_at(pool, row - pool->worker_count);
}

weft__trace_ring *weft__trace_ring_of(void *pool, uint32_t row)
{
    weft_job_context *context = context_of(pool, row);
    return context != NULL && context->trace.buffer != NULL ? &context->trace : NULL;
}

uint32_t weft__trace_thread_of(void *pool, uint32_t row)
{
    const weft_job_pool *self = pool;
    if (row < self->worker_count) return self->workers[row].thread_number;
    char name[WEFT__OS_THREAD_NAME];
    return weft__guest_thread(self, row - self->worker_count, name);
}

void weft__trace_name_of(void *pool, uint32_t row, char name[WEFT__TRACE_ROW_NAME])
{
    const weft_job_pool *self = pool;
    char thread[WEFT__OS_THREAD_NAME];
    if (row == 0)
        snprintf(name, WEFT__TRACE_ROW_NAME, "worker 0 (owner)");
    else if (row < self->worker_count)
        snprintf(name, WEFT__TRACE_ROW_NAME, "worker %u", row);
    else if (weft__guest_thread(self, row - self->worker_count, thread) == 0)
        snprintf(name, WEFT__TRACE_ROW_NAME, "guest %u", row - self->worker_count);
    else
        snprintf(name, WEFT__TRACE_ROW_NAME, "guest %u (%s)", row - self->worker_count, thread);
}

uint32_t weft_job_trace_take(weft_job_pool *pool, uint32_t worker, weft_job_event *out,
                             uint32_t capacity, uint64_t *dropped)
{
    if (dropped != NULL) *dropped = 0;
    if (pool == NULL || out == NULL) return 0;
    if (pool->trace_file != NULL) return 0; /* it is the one reader */
    weft__trace_ring *ring = weft__trace_ring_of(pool, worker);
    if (ring == NULL) return 0;
    uint32_t count = 0;
    while (count < capacity && weft__trace_read(ring, &out[count])) count++;
    if (dropped != NULL) *dropped = at_load_rlx(&ring->x_dropped); /* relaxed: a statistic */
    return count;
}
