/* SPDX-License-Identifier: MIT */
/* owner_loop.h: what checked builds do in loops of the owner (weft_query_begin, _next, _end): stray
 * writes are found, named and undone. Unchecked builds call nothing here.
 *
 * The owner may reach a value on many ways at once (a slice, a slice of a nested loop,
 * weft_entity_write, indexed access), so its loops have the columns themselves, not copies as
 * callbacks have (guard.h). Instead a shadow is kept of each chunk that a loop comes to. When the
 * loop goes on, the chunk is compared with its shadow. A difference is right
 *   - in a row and a column that a loop writes which stands there now,
 *   - in a value of which weft_entity_write or a function like it has given a pointer
 *     (given_values.h), and
 *   - where a function of the library wrote, which tells (weft__owner_loops_wrote).
 * Everything else is a mistake: the old bytes are put back, and the world's error says where. The
 * shadows of chunks that were left stay for a while, and are compared once more when their place is
 * needed or a loop ends; so writes through a pointer to an earlier slice are found.
 *
 * Structure cannot change while a loop is open, so chunks and rows stay where they are. Without
 * memory for a shadow nothing is found. Threads: owner. */
#ifndef WEFT_OWNER_LOOP_H
#define WEFT_OWNER_LOOP_H

#include "query_cursor.h"

/* Notes a loop that begins. */
void weft__owner_loop_open(weft__query_loop *loop);
/* The cursor has come to a slice. */
void weft__owner_loop_enter(weft_cursor *cursor);
/* It leaves the slice, if it is on one; `what`: the function that is called. */
void weft__owner_loop_leave(weft_cursor *cursor, const char *what);
/* The loop ends; its room is freed. */
void weft__owner_loop_close(weft_cursor *cursor);

/* Values of a column were written by the library. */
void weft__owner_loops_wrote(const weft_world *world, const weft__chunk *chunk, uint32_t column,
                             uint32_t row, uint32_t count);
/* Frees what is there, loops that were never ended too. */
void weft__owner_loops_free(weft_world *world);

#endif
