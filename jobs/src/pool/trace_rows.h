/* SPDX-License-Identifier: MIT */
/* trace_rows.h: the rows of a trace: workers by their index, then guests by their number. In a pool
 * that is traced a number belongs to one thread while there are numbers left (guest.c), so that a
 * row is a thread. */
#pragma once

#include "pool_state.h"

static inline uint32_t weft__trace_row_of(const weft_job_context *context)
{
    if (context->guest == 0) return context->head.index;
    return context->pool->worker_count + context->guest - 1;
}

/* The three are called with a pool, as weft__trace_file_desc asks. NULL: such a row has not been
 * used. Any thread. */
weft__trace_ring *weft__trace_ring_of(void *pool, uint32_t row);
/* The number of the thread; 0: it is not known, or there were several. The owner, at the end. */
uint32_t weft__trace_thread_of(void *pool, uint32_t row);
/* The owner, at the end. */
void weft__trace_name_of(void *pool, uint32_t row, char name[WEFT__TRACE_ROW_NAME]);
