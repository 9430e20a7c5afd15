/* SPDX-License-Identifier: MIT */
/* roll.h: a list of pointers that only grows. Its owner adds to it while any thread reads it:
 * threads that record look up component types and archetypes while the owner makes more.
 *
 * A list that is full is followed by one twice as large that begins with the same entries. It
 * stays readable until the roll ends, so a reader never meets memory that was freed.
 *
 * Edges:
 * R1  add: entry written, then store of x_end (release) -> look up: load of x_end (acquire), entry
 * R2  grow: list filled, then store of x_list (release) -> look up: load of x_list (acquire). The
 *     list that a reader finds has all entries below an end that it loaded before: x_end passes
 *     the capacity of a list only after the larger one was stored, which R1 makes visible */
#pragma once

#include "heap.h"

/* Owner: the world. Zero-initialise. Always: x_end <= capacity; entries below x_end never
 * change. */
typedef struct weft__roll {
    /* shared atomic: written by the owner */
    weft_aptr x_list; /* entries of the newest list; NULL: there is none */
    weft_a32 x_end;   /* entries that other threads may read */
    /* owner only */
    uint32_t capacity;
} weft__roll;

/* Makes sure that there is room for entry `index`. False: no memory, and nothing changed. The list
 * may be another one now. Owner. */
bool weft__roll_reserve(weft__roll *roll, weft__memory *memory, weft__memory_category category,
                        uint32_t index);
void weft__roll_fini(weft__roll *roll, weft__memory *memory, weft__memory_category category);

/* Entries below `end` are written, and read by others from now on. Owner. */
static inline void weft__roll_publish(weft__roll *roll, uint32_t end)
{
    at_store_rel(&roll->x_end, end); /* R1 */
}

/* Entry `index`; NULL: there is none. Any thread. */
static inline void *weft__roll_at(const weft__roll *roll, uint32_t index)
{
    if (index >= at_load_acq(&roll->x_end)) return NULL; /* R1 */
    void *const *list = at_load_acq(&roll->x_list);      /* R2 */
    return list[index];
}
