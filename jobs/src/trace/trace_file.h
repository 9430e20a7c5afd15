/* SPDX-License-Identifier: MIT */
/* trace_file.h: the events of a pool in a file that a viewer opens.
 *
 * The owner takes the events out of the rings at the end of each frame, whenever its own ring is
 * half full, and when the pool is destroyed, and appends them as records to a spool (FILE.raw);
 * names are copied then, so that they may go away with their system. Only destroying the pool turns
 * the spool into FILE: a running program pays 24 bytes per event. What part of the run is kept:
 * trace_window.h; the formats: trace_format.h. Two pools that write at the same time get FILE and
 * FILE with -2 before the ending.
 *
 *   who            write a ring      drain, open, close
 *   worker w       its own           never
 *   owner          its own           yes */
#ifndef WEFT_TRACE_FILE_H
#define WEFT_TRACE_FILE_H

#include <weft/jobs.h>

#include "file_problem.h"
#include "lock.h"
#include "os_file.h"
#include "trace.h"

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
    weft__trace_ring *(*ring_of)(void *user, uint32_t worker); /* called by the reader */
    uint32_t (*thread_of)(void *user, uint32_t worker);        /* the system's number; at the end */
    void *user;
    uint32_t worker_count;
} weft__trace_file_desc;

/* Begins a trace. INVALID_ARGUMENT (unknown ending, too long), OUT_OF_MEMORY, IO. Owner. */
weft_result weft__trace_file_open(const weft__trace_file_desc *desc, weft__file_problem *problem,
                                  weft__trace_file **out);
/* Takes what the rings hold. Owner, or a guest: one at a time by the file's lock. */
void weft__trace_file_drain(weft__trace_file *file);
/* The owner wrote an event: drains when its ring is half full. */
void weft__trace_file_count(weft__trace_file *file);
/* Writes the file, workers stopped, and frees it; `is_ours` false (a forked child, a failed
 * create): only frees. */
void weft__trace_file_close(weft__trace_file *file, bool is_ours);
/* Whether the file wants the cost of each slice (.slices). Threads: any. */
bool weft__trace_file_is_detailed(const weft__trace_file *file);

#endif
