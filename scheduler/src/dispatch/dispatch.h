/* SPDX-License-Identifier: MIT */
/* dispatch.h: running items of a stage: slices, chunks, indices.
 *
 * See dispatch.c. Any worker, each with its own weft__worker. */
#ifndef WEFT_DISPATCH_H
#define WEFT_DISPATCH_H

#include "scheduler_state.h"

/* Runs items [begin, end) of the entries. Any worker. */
void weft__dispatch(weft__worker *worker, weft__entry *entries, uint32_t entry_count,
                    uint32_t begin, uint32_t end);
/* The frame in stacks between the engine and a system. */
void weft__system_call(const weft__system *system, weft_slice *slice);
/* The same for the worker's sweep, of one system at least: all systems of a slice, then the next
 * slice. */
void weft__system_calls(weft__worker *worker, uint32_t member_count, uint32_t column_count,
                        uint32_t rows, uint32_t slice_rows);

#endif
