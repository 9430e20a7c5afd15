/* SPDX-License-Identifier: MIT */
/* trace_file.h: the events of a pool in a file that a viewer opens.
 *
 * The owner, or a guest that steps a world, takes the events out of all rings at the end of each
 * frame and whenever its own is half full, the owner also when the pool is destroyed; they are
 * appended as records to a spool (FILE.raw); names are copied then, so that they may go away
 * with their system (FILE.names.raw). Only destroying the pool turns the spool into FILE: a running
 * program pays 24 bytes per event. The rings lie in a shared mapping (FILE.rings.raw): a program
 * that dies in whatever way loses the events that it was writing, one per thread. Two pools that
 * write at the same time get FILE and FILE with -2 before the ending.
 *
 * A row is what a viewer shows as a thread: workers by their index, behind them guests.
 *
 *   who            write a ring      drain       open, close
 *   worker w       its own           never       never
 *   owner          its own           yes         yes
 *   guest          its own           yes         never */
#pragma once

#include "file_problem.h"
#include "lock.h"
#include "trace.h"

#define WEFT__TRACE_ROW_NAME 48 /* bytes, at most */

typedef struct weft__trace_file weft__trace_file;

/* Events per worker: 2^15, less for many workers (64 MiB of rings in all). */
uint32_t weft__trace_file_capacity(uint32_t worker_count);
/* What a trace file needs of its pool. Owner: the caller; copied. The pointers stay valid until
 * close. */
typedef struct weft__trace_file_desc {
    const char *path;
    const weft_os *os;
    const weft_log *log;
    weft__memory *memory;
    weft__trace_ring *(*ring_of)(void *user, uint32_t row); /* NULL: not used yet; by the reader */
    uint32_t (*thread_of)(void *user, uint32_t row);        /* the system's number; at the end */
    void (*name_of)(void *user, uint32_t row, char name[WEFT__TRACE_ROW_NAME]); /* at the end */
    void *user;
    uint32_t worker_count;
    uint32_t capacity; /* of the largest ring; a power of two */
} weft__trace_file_desc;

/* Begins a trace. INVALID_ARGUMENT (unknown ending, too long), OUT_OF_MEMORY, IO. Owner. */
weft_result weft__trace_file_open(const weft__trace_file_desc *desc, weft__file_problem *problem,
                                  weft__trace_file **out);
/* Makes the ring of a row, of at most desc.capacity events; in memory where the file has no room.
 * `file` may be NULL. OUT_OF_MEMORY. Who has the row. */
weft_result weft__trace_file_ring(weft__trace_file *file, uint32_t row, weft__memory *memory,
                                  uint32_t capacity, weft__trace_ring *ring);
/* Takes what the rings hold. Owner, or a guest: one at a time by the file's lock. */
void weft__trace_file_drain(weft__trace_file *file);
/* The owner, or a guest, wrote an event to its ring: drains when that is half full. */
void weft__trace_file_count(weft__trace_file *file, weft__trace_ring *ring);
/* Writes the file, workers stopped, and frees it. */
void weft__trace_file_close(weft__trace_file *file);
/* Frees it unwritten, in a forked child; `is_removed` (a failed create): nothing of it stays. */
void weft__trace_file_leave(weft__trace_file *file, bool is_removed);
/* Whether the file wants the cost of each slice (.slices). Threads: any. */
bool weft__trace_file_is_detailed(const weft__trace_file *file);
/* WEFT_TRACE_SHARE, percent; 0: all frames, or no file. Threads: any. */
uint32_t weft__trace_file_share(const weft__trace_file *file);
