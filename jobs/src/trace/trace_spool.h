/* SPDX-License-Identifier: MIT */
/* trace_spool.h: the records of a trace on disk, until the end of the pool makes a file of them.
 *
 * One file, FILE.raw, while it has room; then two that take turns, FILE.raw and FILE.old.raw: when
 * one is full the other is emptied, so that at least half of the room holds the newest records.
 * The records of a worker stay in their order. Owner: the trace file, under its lock. */
#ifndef WEFT_TRACE_SPOOL_H
#define WEFT_TRACE_SPOOL_H

#include "trace_format.h"

#define WEFT__TRACE_PATH_MAX 4000

/* One of the two files. Owner: the spool. */
typedef struct weft__trace_part {
    char path[WEFT__TRACE_PATH_MAX + 48];
    uint64_t count;    /* records in it */
    uint64_t begin_ns; /* time of its first record */
} weft__trace_part;

/* Owner: the trace file. Invariants: what is written goes to parts[current], if is_open; the other
 * one holds older records, or none. */
typedef struct weft__trace_spool {
    const weft__os_files *files; /* constant after open, as the next two */
    uint64_t limit;              /* records of a part */
    uint64_t last_ns;            /* only what is so young is wanted; 0: all */
    weft__trace_part parts[2];
    uint32_t current;
    bool is_open;
    uint64_t newest_ns;
    uint64_t cut; /* records that made room for newer ones */
    weft__trace_out out;
} weft__trace_spool;

/* Creates `path`.raw. The path has at most WEFT__TRACE_PATH_MAX bytes. IO, BUSY. */
weft_result weft__trace_spool_open(weft__trace_spool *spool, const weft__os_files *files,
                                   const char *path, uint64_t bytes, uint64_t last_ns);
/* A write that fails is kept in out.result. */
void weft__trace_spool_add(weft__trace_spool *spool, const weft__trace_record *record);
/* Hands every record that is wanted to `take`, older ones first. `records` has room for
 * WEFT__TRACE_READ_RECORDS. */
#define WEFT__TRACE_READ_RECORDS 2048u
weft_result weft__trace_spool_read(weft__trace_spool *spool, weft__trace_record *records,
                                   void (*take)(void *user, const weft__trace_record *record),
                                   void *user);
/* Closes the files, and removes them unless they are the only account of the trace. */
void weft__trace_spool_close(weft__trace_spool *spool, bool is_removed);

#endif
