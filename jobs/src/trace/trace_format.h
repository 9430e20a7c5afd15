/* SPDX-License-Identifier: MIT */
/* trace_format.h: the formats of a trace file: Perfetto TrackEvent for viewers, slice costs for
 * `weft simulate`.
 *
 * A format gets records one after the other, per worker in the order of time, and appends bytes to
 * a weft__trace_out. Records of spans are repaired before: an end without a begin (its begin was
 * dropped) is left out, an open span is ended with the trace, so every format sees proper nesting.
 * Shares of a span have become spans of their own.
 * Threads: the owner of the pool, at its end. */
#ifndef WEFT_TRACE_FORMAT_H
#define WEFT_TRACE_FORMAT_H

#include <weft/jobs.h>

#include "os_file.h"

#define WEFT__TRACE_ROW_NAME 48 /* bytes, at most */

/* One event in the spool. A value. */
typedef struct weft__trace_record {
    uint64_t time_ns;
    uint32_t name; /* index of names; 0: none */
    uint32_t value;
    uint16_t kind;   /* weft_job_event_kind */
    uint16_t worker; /* row: of a worker, or behind these of a guest */
    uint32_t spare;  /* 0 */
} weft__trace_record;

/* Buffered output. Owner: the one writer; the first failure is kept and ends writing. */
typedef struct weft__trace_out {
    const weft__os_files *files;
    weft__os_file file;
    weft_result result;
    int reason; /* errno of the write that failed */
    size_t used;
    char bytes[1 << 16];
} weft__trace_out;

void weft__trace_out_bytes(weft__trace_out *out, const void *bytes, size_t count);
void weft__trace_out_text(weft__trace_out *out, const char *text);
/* At most 200 bytes. */
void weft__trace_out_format(weft__trace_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void weft__trace_out_flush(weft__trace_out *out);

/* What a format knows of the whole trace. Owner: the writer of the file; constant while it
 * writes. */
typedef struct weft__trace_info {
    char *const *names; /* [name of a record] */
    uint32_t name_count;
    uint32_t worker_count;
    uint32_t row_count; /* workers, then guests */
    uint32_t process;
    uint32_t (*thread_of)(void *user, uint32_t row); /* the system's number; 0: unknown */
    void (*name_of)(void *user, uint32_t row, char name[WEFT__TRACE_ROW_NAME]);
    void *user;
    uint64_t begin_ns; /* CLOCK_MONOTONIC when the trace began */
    uint64_t boot_ns;  /* CLOCK_BOOTTIME at the same moment */
    uint64_t lost;     /* events dropped because a ring was full, of all workers */
} weft__trace_info;

/* How a record is drawn. */
typedef enum weft__trace_shape {
    WEFT__TRACE_BEGIN,
    WEFT__TRACE_END,
    WEFT__TRACE_INSTANT,
    WEFT__TRACE_VALUE,
    WEFT__TRACE_SHARE /* of the span around it; formats never see it */
} weft__trace_shape;

/* A kind of event as the formats show it. A constant of trace_format.c. */
typedef struct weft__trace_kind {
    weft__trace_shape shape;
    const char *category;
    const char *fallback; /* the name of an event that has none */
    const char *argument; /* what `value` means; NULL: nothing worth showing */
} weft__trace_kind;

const weft__trace_kind *weft__trace_kind_of(const weft__trace_record *record);

/* A format of the file. A constant of its source, stateless: all it keeps is in `out`. */
typedef struct weft__trace_format {
    const char *ending;
    bool is_detailed; /* wants a span per slice */
    void (*begin)(weft__trace_out *out, const weft__trace_info *info);
    void (*event)(weft__trace_out *out, const weft__trace_info *info,
                  const weft__trace_record *record);
    void (*end)(weft__trace_out *out, const weft__trace_info *info);
} weft__trace_format;

extern const weft__trace_format weft__trace_perfetto;
extern const weft__trace_format weft__trace_slices;

#endif
