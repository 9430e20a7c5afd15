/* SPDX-License-Identifier: MIT */
/* trace_file.c: from the rings to the spool while the pool runs, from the spool to the file when it
 * ends (trace_file.h). Draining copies a record and looks its name up; everything that costs more,
 * nesting and the text or protobuf, waits for the end.
 *
 * A *format* gets records one after the other, per worker in the order of time, and appends
 * bytes to an output. Records of spans are repaired before: an end without a begin (its begin
 * was dropped) is left out, an open span is ended with the trace, so every format sees proper
 * nesting. The shares that stand before the end of a span become spans inside of it, one after
 * the other, each as long as its part of them all: so a viewer adds up the time of each system,
 * although a fused slice is too short for a span each.
 *
 * The *spool*: one file, FILE.raw, while it has room; then two that take turns, FILE.raw and
 * FILE.old.raw: when one is full the other is emptied, so that at least half of the room holds the
 * newest records. The records of a worker stay in their order. Nothing is read before the end.
 *
 * A program that dies leaves FILE.raw, FILE.names.raw, which has what the records need, and
 * FILE.rings.raw; tools/profile/perfetto.py reads them. An event stays in its ring until the ring
 * has gone round, so records may wait in memory as long as they are less than a quarter of a ring:
 * the reader takes from a ring what is younger than the records of its row. */
#include "trace_file.h"
#include "hash.h"
#include "list.h"
#include "log.h"
#include "table.h"
#include "text.h"
#include "utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One event in the spool. A value. */
typedef struct trace_record {
    uint64_t time_ns;
    uint32_t name; /* index of names; 0: none */
    uint32_t value;
    uint16_t kind;   /* weft_job_event_kind */
    uint16_t worker; /* row: of a worker, or behind these of a guest */
    uint32_t spare;  /* 0 */
} trace_record;

/* Buffered output. Owner: the one writer; the first failure is kept and ends writing. */
typedef struct trace_out {
    const weft__os_files *files;
    weft__os_file file;
    weft_result result;
    int reason; /* errno of the write that failed */
    size_t used;
    char bytes[1 << 16];
} trace_out;

/* What a format knows of the whole trace. Owner: the writer of the file; constant while it
 * writes. */
typedef struct trace_info {
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
} trace_info;

/* How a record is drawn. */
typedef enum trace_shape {
    TRACE_BEGIN,
    TRACE_END,
    TRACE_INSTANT,
    TRACE_VALUE,
    TRACE_SHARE /* of the span around it; formats never see it */
} trace_shape;

/* A kind of event as the formats show it. A constant of trace_file.c. */
typedef struct trace_kind {
    trace_shape shape;
    const char *category;
    const char *fallback; /* the name of an event that has none */
    const char *argument; /* what `value` means; NULL: nothing worth showing */
} trace_kind;

/* A format of the file. A constant of its source, stateless: all it keeps is in `out`. */
typedef struct trace_format {
    const char *ending;
    bool is_detailed; /* wants a span per slice */
    void (*begin)(trace_out *out, const trace_info *info);
    void (*event)(trace_out *out, const trace_info *info, const trace_record *record);
    void (*end)(trace_out *out, const trace_info *info);
} trace_format;

#define TRACE_PATH_MAX 4000

/* One of the two files. Owner: the spool. */
typedef struct trace_part {
    char path[TRACE_PATH_MAX + 48];
    uint64_t count;    /* records in it */
    uint64_t begin_ns; /* time of its first record */
} trace_part;

/* Owner: the trace file. Invariants: what is written goes to parts[current], if is_open; the other
 * one holds older records, or none. */
typedef struct trace_spool {
    const weft__os_files *files; /* constant after open, as the next two */
    uint64_t limit;              /* records of a part */
    uint64_t last_ns;            /* only what is so young is wanted; 0: all */
    trace_part parts[2];
    uint32_t current;
    bool is_open, has_names, has_rings;
    uint64_t newest_ns;
    uint64_t cut; /* records that made room for newer ones */
    trace_out out;
    trace_out names; /* text: "weft-names 2 ...", then number and bytes of a name, and the name */
    weft__os_file rings;
} trace_spool;
/* Hands every record that is wanted to `take`, older ones first. `records` has room for
 * TRACE_READ_RECORDS. */
#define TRACE_READ_RECORDS 2048u

/* Owner: the trace file. Invariants: first_frame <= last_frame; nothing is kept before begin_ns
 * (UINT64_MAX: the first frame has not begun) and from end_ns on. */
typedef struct trace_window {
    uint64_t spool_bytes; /* constant after init, as the next four */
    uint64_t last_ns;     /* 0: from the beginning */
    uint64_t first_frame, last_frame;
    uint64_t share; /* percent; 0: all frames */
    uint64_t begin_ns, end_ns;
} trace_window;

static inline bool trace_window_has(const trace_window *window, uint64_t time_ns)
{
    return time_ns >= window->begin_ns && time_ns < window->end_ns;
}

#define NESTING_MAX 64

/* Spans open on one worker. Invariant: shares is empty or open[depth - 1] is the span they are
 * shares of. */
typedef struct trace_stack {
    uint32_t depth;
    bool is_leaf; /* the innermost open span has no other in it */
    uint64_t last_ns;
    trace_record open[NESTING_MAX];
    WEFT__LIST(trace_record) shares;
} trace_stack;

/* Where records go. Constant but for the stacks and is_refused. */
typedef struct trace_nest {
    const trace_format *format;
    trace_out *out;
    const trace_info *info;
    trace_stack *stacks; /* [info->row_count], zeroed */
    weft__memory *memory;
    bool is_refused; /* memory for a share */
} trace_nest;

/* ---- output, and how each kind of event is drawn ---- */

static void trace_out_flush(trace_out *out)
{
    if (out->used != 0 && out->result == WEFT_OK) {
        errno = 0;
        out->result = out->files->write(out->files->user, out->file, out->bytes, out->used);
        out->reason = out->result == WEFT_OK ? 0 : errno;
    }
    out->used = 0;
}

static void trace_out_bytes(trace_out *out, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count > 0) {
        size_t room = sizeof out->bytes - out->used, part = count < room ? count : room;
        memcpy(out->bytes + out->used, from, part);
        out->used += part;
        from += part;
        count -= part;
        if (out->used == sizeof out->bytes) trace_out_flush(out);
    }
}

static void trace_out_text(trace_out *out, const char *text)
{
    trace_out_bytes(out, text, strlen(text));
}

/* At most 200 bytes. */
static void trace_out_format(trace_out *out, const char *format, ...)
{
    char text[200];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (length > 0) trace_out_text(out, text);
}

static const trace_kind *trace_kind_of(const trace_record *record)
{
    static const trace_kind kinds[] = {
        [0] = {TRACE_INSTANT, "unknown", "?", NULL},
        [WEFT_JOB_EVENT_BEGIN] = {TRACE_BEGIN, "job", "job", "first"},
        [WEFT_JOB_EVENT_END] = {TRACE_END, "job", "job", NULL},
        [WEFT_JOB_EVENT_STEAL] = {TRACE_INSTANT, "steal", "steal", "victim"},
        [WEFT_JOB_EVENT_PARK] = {TRACE_BEGIN, "sleep", "parked", NULL},
        [WEFT_JOB_EVENT_UNPARK] = {TRACE_END, "sleep", "parked", NULL},
        [WEFT_JOB_EVENT_WAIT_BEGIN] = {TRACE_BEGIN, "wait", "wait", NULL},
        [WEFT_JOB_EVENT_WAIT_END] = {TRACE_END, "wait", "wait", NULL},
        [WEFT_JOB_EVENT_MARK] = {TRACE_INSTANT, "mark", "mark", "value"},
        [WEFT_JOB_EVENT_WAKE] = {TRACE_INSTANT, "wake", "wake", "worker"},
        [WEFT_JOB_EVENT_SPAN_BEGIN] = {TRACE_BEGIN, "ecs", "span", "count"},
        [WEFT_JOB_EVENT_SPAN_END] = {TRACE_END, "ecs", "span", NULL},
        [WEFT_JOB_EVENT_COUNTER] = {TRACE_VALUE, "counter", "counter", "value"},
        [WEFT_JOB_EVENT_SHARE] = {TRACE_SHARE, "ecs", "share", NULL},
    };
    uint32_t kind = record->kind;
    return &kinds[kind < sizeof kinds / sizeof *kinds ? kind : 0];
}

/* ---- Perfetto ----
 *
 * The trace as TrackEvent protobuf (ui.perfetto.dev, trace_processor).
 *
 * A Trace is a run of `packet` fields. We need few messages, so they are encoded here: a message
 * is built in a small buffer and wrapped by its parent with tag and length. Names and categories
 * are interned in the first packet. Times are CLOCK_MONOTONIC; a clock snapshot relates it to
 * CLOCK_BOOTTIME, so that recordings of `perf record -k mono` lie on the same time line. Numbers of
 * fields: https://perfetto.dev/docs/reference/trace-packet-proto */

#define SEQUENCE 1u
#define CLOCK_MONOTONIC_ID 3u
#define CLOCK_BOOTTIME_ID 6u
#define NAMES_BASE 100u /* interned ids of names; below: fallback names */
#define PROCESS_TRACK 1u
#define ROW_TRACK 16u
#define COUNTER_TRACK 65536u

enum { PACKET = 1 }; /* of Trace */
enum {
    CLOCK_SNAPSHOT = 6,
    TIMESTAMP = 8,
    SEQUENCE_ID = 10,
    TRACK_EVENT = 11,
    INTERNED = 12,
    SEQUENCE_FLAGS = 13,
    CLOCK_ID = 58,
    TRACK_DESCRIPTOR = 60
}; /* of TracePacket */

enum { TEXT_BYTES_MAX = 200 };

/* A message being built; too long a text is cut, so it never overflows. Owner: the stack. */
typedef struct message {
    size_t count;
    uint8_t bytes[512];
} message;

static void put_number(message *m, uint64_t value)
{
    for (; value >= 128; value >>= 7) m->bytes[m->count++] = (uint8_t)(value | 128);
    m->bytes[m->count++] = (uint8_t)value;
}

static void put_field(message *m, uint32_t field, uint64_t value)
{
    put_number(m, (uint64_t)field << 3);
    put_number(m, value);
}

static void put_bytes(message *m, uint32_t field, const void *bytes, size_t count)
{
    put_number(m, (uint64_t)field << 3 | 2);
    put_number(m, count);
    memcpy(m->bytes + m->count, bytes, count);
    m->count += count;
}

/* Strings of a message are UTF-8: a byte that is not becomes U+FFFD, and no character is cut. */
static void put_text(message *m, uint32_t field, const char *text)
{
    char clean[TEXT_BYTES_MAX];
    size_t count = 0;
    while (*text != '\0') {
        const size_t bytes = weft__utf8_sequence((const unsigned char *)text, strnlen(text, 4));
        const char *from = bytes != 0 ? text : "\xEF\xBF\xBD";
        const size_t length = bytes != 0 ? bytes : 3;
        if (count + length > sizeof clean) break;
        memcpy(clean + count, from, length);
        count += length;
        text += bytes != 0 ? bytes : 1;
    }
    put_bytes(m, field, clean, count);
}

static void put_message(message *m, uint32_t field, const message *inner)
{
    put_bytes(m, field, inner->bytes, inner->count);
}

static void end_packet(trace_out *out, message *packet)
{
    message head;
    head.count = 0;
    put_field(packet, SEQUENCE_ID, SEQUENCE);
    put_number(&head, PACKET << 3 | 2);
    put_number(&head, packet->count);
    trace_out_bytes(out, head.bytes, head.count);
    trace_out_bytes(out, packet->bytes, packet->count);
}

/* ---- the beginning */

static void put_clock(message *snapshot, uint32_t id, uint64_t ns)
{
    message clock = {0};
    put_field(&clock, 1, id);
    put_field(&clock, 2, ns);
    put_message(snapshot, 1, &clock);
}

static void end_track(trace_out *out, const message *descriptor)
{
    message packet = {0};
    put_message(&packet, TRACK_DESCRIPTOR, descriptor);
    end_packet(out, &packet);
}

/* With the number of the thread a viewer puts what the kernel traced into the same row. */
static void put_row(trace_out *out, const trace_info *info, uint32_t row)
{
    char name[WEFT__TRACE_ROW_NAME];
    message descriptor = {0}, thread = {0};
    uint32_t number = info->thread_of(info->user, row);
    info->name_of(info->user, row, name);
    put_field(&descriptor, 1, ROW_TRACK + row);
    put_text(&descriptor, 2, name);
    put_field(&descriptor, 5, PROCESS_TRACK); /* parent_uuid */
    put_field(&thread, 1, info->process);
    put_field(&thread, 2, number);
    put_text(&thread, 5, name);
    if (number != 0) put_message(&descriptor, 4, &thread);
    end_track(out, &descriptor);
}

static void put_counter(trace_out *out, uint64_t track, const char *name)
{
    message descriptor = {0}, none = {0};
    put_field(&descriptor, 1, track);
    put_text(&descriptor, 2, name);
    put_field(&descriptor, 5, PROCESS_TRACK); /* parent_uuid */
    put_message(&descriptor, 8, &none);
    end_track(out, &descriptor);
}

static void put_name(trace_out *out, uint64_t id, const char *text)
{
    message packet = {0}, interned = {0}, name = {0};
    put_field(&name, 1, id);
    put_text(&name, 2, text);
    put_message(&interned, 2, &name); /* event_names */
    put_message(&packet, INTERNED, &interned);
    put_field(&packet, SEQUENCE_FLAGS, 2);
    end_packet(out, &packet);
}

static void perfetto_begin(trace_out *out, const trace_info *info)
{
    message packet = {0}, snapshot = {0};
    put_clock(&snapshot, CLOCK_MONOTONIC_ID, info->begin_ns);
    put_clock(&snapshot, CLOCK_BOOTTIME_ID, info->boot_ns);
    put_field(&snapshot, 2, CLOCK_MONOTONIC_ID); /* primary_trace_clock */
    put_message(&packet, CLOCK_SNAPSHOT, &snapshot);
    put_field(&packet, SEQUENCE_FLAGS, 1); /* incremental state starts here */
    end_packet(out, &packet);
    message descriptor = {0}, process = {0};
    put_field(&descriptor, 1, PROCESS_TRACK);
    put_field(&process, 1, info->process);
    put_text(&process, 6, program_invocation_short_name);
    put_message(&descriptor, 3, &process);
    end_track(out, &descriptor);
    for (uint32_t i = 0; i < info->row_count; i++) put_row(out, info, i);
    for (uint32_t i = 1; i < info->name_count; i++) {
        put_name(out, NAMES_BASE + i, info->names[i]);
        put_counter(out, COUNTER_TRACK + i, info->names[i]);
    }
    for (uint16_t kind = 1; kind <= WEFT_JOB_EVENT_COUNTER; kind++) {
        const trace_record record = {.kind = kind};
        put_name(out, kind, trace_kind_of(&record)->fallback);
    }
}

/* ---- events */

static void put_meaning(message *event, const trace_record *record)
{
    const trace_kind *kind = trace_kind_of(record);
    bool has_name = record->name != 0 && record->kind != WEFT_JOB_EVENT_STEAL;
    put_text(event, 22, kind->category);
    put_field(event, 10, has_name ? NAMES_BASE + record->name : record->kind);
    if (kind->argument != NULL && record->value != UINT32_MAX) {
        message annotation;
        annotation.count = 0;
        put_field(&annotation, 3, record->value); /* uint_value */
        put_text(&annotation, 10, kind->argument);
        put_message(event, 4, &annotation);
    }
}

static void end_event(trace_out *out, const message *body, uint64_t time_ns)
{
    message packet;
    packet.count = 0;
    put_field(&packet, TIMESTAMP, time_ns);
    put_field(&packet, CLOCK_ID, CLOCK_MONOTONIC_ID);
    put_message(&packet, TRACK_EVENT, body);
    put_field(&packet, SEQUENCE_FLAGS, 2);
    end_packet(out, &packet);
}

static void perfetto_event(trace_out *out, const trace_info *info, const trace_record *record)
{
    const trace_kind *kind = trace_kind_of(record);
    bool is_counter = kind->shape == TRACE_VALUE;
    message body;
    body.count = 0;
    put_field(&body, 9, (uint64_t)kind->shape + 1); /* begin, end, instant, counter: 1 to 4 */
    put_field(&body, 11, is_counter ? COUNTER_TRACK + record->name : ROW_TRACK + record->worker);
    if (is_counter)
        put_field(&body, 30, record->value);
    else if (kind->shape != TRACE_END)
        put_meaning(&body, record);
    end_event(out, &body, record->time_ns);
    (void)info;
}

/* Losses as a counter of their own: a viewer shows it beside the others. */
static void perfetto_end(trace_out *out, const trace_info *info)
{
    put_counter(out, COUNTER_TRACK, "events dropped");
    message body = {0};
    put_field(&body, 9, 4);
    put_field(&body, 11, COUNTER_TRACK);
    put_field(&body, 30, info->lost);
    end_event(out, &body, info->begin_ns);
}

static const trace_format trace_perfetto = {".pftrace", false, perfetto_begin, perfetto_event,
                                            perfetto_end};

/* ---- slices ----
 *
 * The trace as a list of costs, input of `weft simulate`: text, one line per event.
 *
 *   weft-slices 2
 *   workers N             of the pool; the owner alone runs systems
 *   begin frame NS N      and end frame NS N: what lies in no stage, the owner does alone
 *   begin graph NS N      and end graph NS N: the tasks of segment N, whose stages come next
 *   task N OWNER TEXT     in a graph: the systems of a task; OWNER is 1: of the main thread, else 0
 *   edge A B              in a graph: task A ends before B begins
 *   begin stage NS N      and end stage NS N: its tasks or slices lie between
 *   title N TEXT          the systems of the stage that begins next
 *   begin task NS N       and end task NS N: its slices lie between, in a stage of a graph
 *   begin slice NS BYTES  and end slice NS BYTES: all systems of the stage, or task, over one slice
 *   begin serial NS N     and end serial NS N: a system of the owner, in a stage or task
 *   lost N                events dropped
 *
 * NS counts from the begin of the trace; BYTES is what the slice touches, written columns twice. */

static void slices_begin(trace_out *out, const trace_info *info)
{
    trace_out_text(out, "weft-slices 2\n");
    trace_out_format(out, "workers %u\n", info->worker_count);
}

/* A title, a task or an edge; other marks are of no interest. */
static void mark(trace_out *out, const char *name, uint32_t value)
{
    if (strncmp(name, "stage ", 6) == 0)
        trace_out_format(out, "title %u %.128s\n", value, name + 6);
    else if (strncmp(name, "task ", 5) == 0)
        trace_out_format(out, "task %u %u %.128s\n", value >> 1, value & 1, name + 5);
    else if (strcmp(name, "edge") == 0)
        trace_out_format(out, "edge %u %u\n", value >> 16, value & 0xffff);
}

static bool is_span(const char *name)
{
    static const char *const names[] = {"frame", "graph", "stage", "task", "slice", "serial"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* One line per event of interest; the reader computes durations. */
static void slices_event(trace_out *out, const trace_info *info, const trace_record *record)
{
    bool is_begin = record->kind == WEFT_JOB_EVENT_SPAN_BEGIN;
    const char *name = record->name != 0 ? info->names[record->name] : "";
    if (record->kind == WEFT_JOB_EVENT_MARK) mark(out, name, record->value);
    if (!is_begin && record->kind != WEFT_JOB_EVENT_SPAN_END) return;
    if (!is_span(name)) return;
    trace_out_format(out, "%s %s %llu %u\n", is_begin ? "begin" : "end", name,
                     (unsigned long long)(record->time_ns - info->begin_ns), record->value);
}

static void slices_end(trace_out *out, const trace_info *info)
{
    trace_out_format(out, "lost %llu\n", (unsigned long long)info->lost);
}

static const trace_format trace_slices = {".slices", true, slices_begin, slices_event, slices_end};

/* ---- nesting ---- */

static bool is_same_span(const trace_record *begin, const trace_record *end)
{
    return begin->kind + 1 == end->kind && begin->name == end->name;
}

static void pass(trace_nest *nest, const trace_record *record)
{
    nest->format->event(nest->out, nest->info, record);
}

/* A span for each share, by its part of the time of `span`. */
static void draw_shares(trace_nest *nest, const trace_stack *stack, const trace_record *span,
                        uint64_t end_ns)
{
    uint64_t whole = 0, passed = 0;
    double length = (double)(end_ns - span->time_ns);
    for (uint32_t i = 0; i < stack->shares.count; i++) whole += stack->shares.at[i].value;
    for (uint32_t i = 0; i < stack->shares.count && whole > 0; i++) {
        trace_record begin = *span, end = *span;
        begin.name = end.name = stack->shares.at[i].name;
        begin.time_ns += (uint64_t)(length * (double)passed / (double)whole);
        passed += stack->shares.at[i].value;
        end.time_ns += (uint64_t)(length * (double)passed / (double)whole);
        end.kind++; /* each end follows its begin in weft_job_event_kind */
        pass(nest, &begin);
        pass(nest, &end);
    }
}

static void end_span(trace_nest *nest, trace_stack *stack, uint64_t time_ns)
{
    const trace_record begin = stack->open[--stack->depth];
    trace_record end = begin;
    end.kind++; /* as above */
    end.time_ns = time_ns;
    if (stack->is_leaf) draw_shares(nest, stack, &begin, time_ns);
    stack->is_leaf = false;
    stack->shares.count = 0;
    pass(nest, &end);
}

static void begin_span(trace_nest *nest, trace_stack *stack, const trace_record *record)
{
    if (stack->depth == NESTING_MAX) return;
    stack->open[stack->depth++] = *record;
    stack->is_leaf = true;
    stack->shares.count = 0;
    pass(nest, record);
}

/* Passes a record on. `nest` is a trace_nest. */
static void trace_nest_take(void *user, const trace_record *record)
{
    trace_nest *nest = user;
    trace_stack *stack = &nest->stacks[record->worker];
    uint32_t depth = stack->depth;
    stack->last_ns = record->time_ns;
    switch (trace_kind_of(record)->shape) {
    case TRACE_BEGIN:
        begin_span(nest, stack, record);
        break;
    case TRACE_END:
        while (depth > 0 && !is_same_span(&stack->open[depth - 1], record)) depth--;
        while (depth > 0 && stack->depth >= depth) end_span(nest, stack, record->time_ns);
        break;
    case TRACE_SHARE:
        if (depth > 0 &&
            !WEFT__LIST_APPEND(nest->memory, WEFT__MEMORY_JOBS, &stack->shares, record, 1))
            nest->is_refused = true;
        break;
    case TRACE_INSTANT:
    case TRACE_VALUE:
        pass(nest, record);
        break;
    }
}

/* Ends what is open, and gives the memory of shares back. */
static void trace_nest_end(trace_nest *nest)
{
    for (uint32_t i = 0; i < nest->info->row_count; i++) {
        trace_stack *stack = &nest->stacks[i];
        while (stack->depth > 0) end_span(nest, stack, stack->last_ns);
        WEFT__LIST_FREE(nest->memory, WEFT__MEMORY_JOBS, &stack->shares);
    }
}

/* ---- the spool ---- */

/* FILE.names.raw or FILE.rings.raw; a trace that ends well needs none. */
typedef struct beside {
    char path[TRACE_PATH_MAX + 56];
} beside;

static beside beside_of(const trace_spool *spool, const char *what)
{
    beside b;
    const char *raw = spool->parts[0].path;
    snprintf(b.path, sizeof b.path, "%.*s.%s.raw", (int)strlen(raw) - 4, raw, what);
    return b;
}

static weft_result open_beside(const trace_spool *spool, const char *what, weft__os_file *out)
{
    return spool->files->open_write(spool->files->user, beside_of(spool, what).path, out);
}

static void close_beside(const trace_spool *spool, const char *what, weft__os_file file,
                         bool is_removed)
{
    spool->files->close(spool->files->user, file);
    if (is_removed) spool->files->remove(spool->files->user, beside_of(spool, what).path);
}

/* Creates `path`.raw. The path has at most TRACE_PATH_MAX bytes. IO, BUSY. */
static weft_result trace_spool_open(trace_spool *spool, const weft__os_files *files,
                                    const char *path, uint64_t bytes, uint64_t last_ns)
{
    spool->files = spool->out.files = spool->names.files = files;
    spool->limit = bytes / 2 / sizeof(trace_record);
    spool->last_ns = last_ns;
    snprintf(spool->parts[0].path, sizeof spool->parts[0].path, "%s.raw", path);
    snprintf(spool->parts[1].path, sizeof spool->parts[1].path, "%s.old.raw", path);
    files->remove(files->user, spool->parts[1].path); /* of a run that died */
    errno = 0;
    weft_result result = files->open_write(files->user, spool->parts[0].path, &spool->out.file);
    spool->is_open = result == WEFT_OK;
    if (!spool->is_open) return result;
    spool->names.result = open_beside(spool, "names", &spool->names.file);
    spool->has_names = spool->names.result == WEFT_OK;
    spool->has_rings = open_beside(spool, "rings", &spool->rings) == WEFT_OK;
    return result;
}

/* Goes on in the other file, whose records are given up. */
static void turn(trace_spool *spool)
{
    trace_out *out = &spool->out;
    trace_out_flush(out);
    if (out->result != WEFT_OK) return;
    spool->current ^= 1;
    trace_part *part = &spool->parts[spool->current];
    spool->cut += part->count;
    part->count = 0;
    spool->files->close(spool->files->user, out->file);
    errno = 0;
    out->result = spool->files->open_write(spool->files->user, part->path, &out->file);
    out->reason = errno;
    spool->is_open = out->result == WEFT_OK;
}

/* A write that fails is kept in out.result. */
static void trace_spool_add(trace_spool *spool, const trace_record *record)
{
    const trace_part *part = &spool->parts[spool->current];
    bool is_old = spool->last_ns != 0 && part->count != 0 &&
                  record->time_ns > part->begin_ns + spool->last_ns;
    if (part->count >= spool->limit || is_old) turn(spool);
    trace_part *now = &spool->parts[spool->current];
    if (now->count++ == 0) now->begin_ns = record->time_ns;
    if (record->time_ns > spool->newest_ns) spool->newest_ns = record->time_ns;
    trace_out_bytes(&spool->out, record, sizeof *record);
}

static weft_result read_part(trace_spool *spool, const trace_part *part, trace_record *records,
                             void (*take)(void *user, const trace_record *record), void *user)
{
    const weft__os_files *files = spool->files;
    weft__os_file file;
    uint64_t bytes, oldest = 0;
    if (spool->last_ns != 0 && spool->newest_ns > spool->last_ns)
        oldest = spool->newest_ns - spool->last_ns;
    weft_result result = files->open_read(files->user, part->path, &file, &bytes);
    if (result != WEFT_OK) return result;
    for (uint64_t at = 0; at < part->count && result == WEFT_OK; at += TRACE_READ_RECORDS) {
        uint64_t left = part->count - at;
        uint32_t count = left < TRACE_READ_RECORDS ? (uint32_t)left : TRACE_READ_RECORDS;
        result =
            files->read(files->user, file, records, count * sizeof *records, at * sizeof *records);
        for (uint32_t i = 0; i < count && result == WEFT_OK; i++)
            if (records[i].time_ns >= oldest) take(user, &records[i]);
    }
    files->close(files->user, file);
    return result;
}

static weft_result trace_spool_read(trace_spool *spool, trace_record *records,
                                    void (*take)(void *user, const trace_record *record),
                                    void *user)
{
    weft_result result = WEFT_OK;
    trace_out_flush(&spool->out);
    if (spool->out.result != WEFT_OK) return spool->out.result;
    for (uint32_t i = 1; i <= 2 && result == WEFT_OK; i++) {
        const trace_part *part = &spool->parts[(spool->current + i) & 1];
        if (part->count != 0) result = read_part(spool, part, records, take, user);
    }
    return result;
}

/* Closes the files, and removes them unless they are the only account of the trace. */
static void trace_spool_close(trace_spool *spool, bool is_removed)
{
    const weft__os_files *files = spool->files;
    if (spool->is_open) files->close(files->user, spool->out.file);
    for (uint32_t i = 0; i < 2 && is_removed; i++) {
        bool was_used = i == 0 || spool->parts[1].count != 0 || spool->cut != 0;
        if (was_used) files->remove(files->user, spool->parts[i].path);
    }
    if (spool->has_names) close_beside(spool, "names", spool->names.file, is_removed);
    if (spool->has_rings) close_beside(spool, "rings", spool->rings, is_removed);
}

/* ---- the part of the run that is kept ----
 *
 * Some frames, the last seconds, at most so many bytes on disk while it runs. The user of the
 * program asks by the environment:
 *
 *   WEFT_TRACE_FRAMES=A-B   frames A to B (A: one; A-: to the end), by the number of the span
 *   WEFT_TRACE_LAST=S       what happened in the last S seconds
 *   WEFT_TRACE_MB=M         at most M MB of spool, the newest events (default 256)
 *   WEFT_TRACE_SHARE=P      only so many frames that tracing takes P percent of the time
 *
 * A window of frames is found in the events themselves: spans named "frame" carry their number. A
 * value that cannot be read is told and left out; it must not keep a trace from being written. */

#define MB_DEFAULT 256u
#define MB_MAX 1000000u
#define SECONDS_MAX 1e6

/* A whole number from 1 to `limit`. */
static bool read_count(const char *text, uint64_t limit, uint64_t *out)
{
    uint64_t first, last;
    const bool is_good = weft__text_range(text, &first, &last) && first == last;
    if (!is_good || first - 1 >= limit) return false;
    *out = first;
    return true;
}

static bool read_seconds(const char *text, uint64_t *ns)
{
    char *end;
    double seconds = strtod(text, &end);
    bool is_good = end != text && *end == '\0' && seconds > 0 && seconds <= SECONDS_MAX;
    if (is_good) *ns = (uint64_t)(seconds * 1e9) + 1;
    return is_good;
}

/* NULL: not set, or a set-uid program. */
static const char *asked(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Reads the environment. NULL, or what cannot be read: the variable counts as not set. */
static const char *trace_window_init(trace_window *window)
{
    const char *problem = NULL;
    *window = (trace_window){.last_frame = UINT64_MAX, .end_ns = UINT64_MAX};
    const char *frames = asked("WEFT_TRACE_FRAMES"), *last = asked("WEFT_TRACE_LAST");
    const char *mb = asked("WEFT_TRACE_MB"), *share = asked("WEFT_TRACE_SHARE");
    uint64_t megabytes = MB_DEFAULT;
    if (frames != NULL && weft__text_range(frames, &window->first_frame, &window->last_frame))
        window->begin_ns = UINT64_MAX;
    else if (frames != NULL)
        problem = "WEFT_TRACE_FRAMES is not FIRST-LAST, such as 100-120";
    if (last != NULL && !read_seconds(last, &window->last_ns))
        problem = "WEFT_TRACE_LAST is not a number of seconds, such as 2.5";
    if (mb != NULL && !read_count(mb, MB_MAX, &megabytes))
        problem = "WEFT_TRACE_MB is not a number of megabytes, such as 64";
    if (share != NULL && !read_count(share, 100, &window->share))
        problem = "WEFT_TRACE_SHARE is not a number of percent, such as 10";
    window->spool_bytes = megabytes * 1000000u;
    return problem;
}

/* Looks at an event: a frame may begin or end the window. Events of one worker in their order,
 * worker 0 first. */
static void trace_window_see(trace_window *window, const weft_job_event *event)
{
    if (window->begin_ns == 0 || event->kind != WEFT_JOB_EVENT_SPAN_BEGIN) return;
    if (event->name == NULL || strcmp(event->name, "frame") != 0) return;
    bool is_inside = event->value >= window->first_frame && event->value <= window->last_frame;
    if (is_inside && window->begin_ns == UINT64_MAX) window->begin_ns = event->time_ns;
    bool is_behind = window->begin_ns != UINT64_MAX && event->value > window->last_frame;
    if (is_behind && window->end_ns == UINT64_MAX) window->end_ns = event->time_ns;
}

/* ---- the file ---- */

#define CAPACITY (UINT32_C(1) << 15)
#define RING_BYTES_MAX (UINT64_C(64) << 20)
#define POOLS_MAX 64

/* Owner: the pool. The owner's thread, but what drains: the holder of the lock. Invariants:
 * names.at[0] is none. */
struct weft__trace_file {
    weft__trace_file_desc desc; /* constant after open */
    weft__lock lock;            /* one reader of the rings at a time: guests drain, too */
    const trace_format *format;
    const weft__os_files *files;
    char path[TRACE_PATH_MAX + 32];
    size_t waiting;   /* bytes of records that may stay in memory; by the lock, as the next */
    uint32_t row_end; /* behind the last row that was used */
    uint64_t begin_ns, boot_ns;
    WEFT__LIST(char *) names; /* copied when their first event was drained */
    weft__table numbers;      /* of names */
    trace_window window;
    trace_spool spool;
    trace_out out; /* the file */
};

uint32_t weft__trace_file_capacity(uint32_t worker_count)
{
    uint32_t capacity = CAPACITY;
    while (sizeof(weft_job_event) * capacity * worker_count > RING_BYTES_MAX) capacity /= 2;
    return capacity;
}

bool weft__trace_file_is_detailed(const weft__trace_file *file)
{
    return file != NULL && file->format->is_detailed;
}

/* ---- names */

/* The number of a name; 0 when there is none, or no memory. */
static uint32_t intern(weft__trace_file *file, const char *text)
{
    weft__memory *memory = file->desc.memory;
    if (text == NULL || text[0] == '\0') return 0;
    uint32_t hash = (uint32_t)hash_string(text), step = 0, number;
    while ((number = weft__table_next(&file->numbers, hash, &step)) != 0)
        if (strcmp(file->names.at[number], text) == 0) return number;
    size_t bytes = strlen(text) + 1;
    number = file->names.count;
    if (!WEFT__LIST_ROOM(memory, WEFT__MEMORY_JOBS, &file->names, number + 1) ||
        !weft__table_room(memory, WEFT__MEMORY_JOBS, &file->numbers, number))
        return 0;
    char *copy = weft__alloc(memory, WEFT__MEMORY_JOBS, bytes, 1, 1);
    if (copy == NULL) return 0;
    file->names.at[file->names.count++] = memcpy(copy, text, bytes);
    weft__table_put(&file->numbers, hash, number);
    trace_out_format(&file->spool.names, "%u %zu ", number, bytes - 1);
    trace_out_text(&file->spool.names, text);
    trace_out_text(&file->spool.names, "\n");
    trace_out_flush(&file->spool.names);
    return number;
}

/* ---- opening */

static const trace_format *format_of(const char *path)
{
    static const trace_format *const formats[] = {&trace_perfetto, &trace_slices};
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending != NULL && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(ending, formats[i]->ending) == 0) return formats[i];
    return NULL;
}

/* What is in the way may be of another kind than a regular file: then that is told. */
static weft_result open_failed(const weft__trace_file *file, weft_result result, const char *path,
                               weft__file_problem *problem)
{
    char place[TRACE_PATH_MAX + 64];
    weft__os_kind kind;
    weft__file_failed(problem, result, "create the trace", path);
    if (result != WEFT_IO) return result;
    bool is_known =
        file->files->locate(file->files->user, path, place, sizeof place, &kind) == WEFT_OK;
    if (is_known && kind != WEFT__OS_NOTHING && kind != WEFT__OS_REGULAR_FILE)
        weft__file_refused(problem, kind, "write a trace to", path);
    return result;
}

/* Opens the first of FILE, FILE-2, ... that no other pool writes. */
static weft_result open_output(weft__trace_file *file, const char *path,
                               weft__file_problem *problem)
{
    int stem = (int)(strrchr(path, '.') - path);
    weft_result result = WEFT_BUSY;
    for (uint32_t i = 1; i <= POOLS_MAX && result == WEFT_BUSY; i++) {
        if (i == 1)
            snprintf(file->path, sizeof file->path, "%s", path);
        else
            snprintf(file->path, sizeof file->path, "%.*s-%u%s", stem, path, i, path + stem);
        errno = 0;
        result = file->files->open_write(file->files->user, file->path, &file->out.file);
    }
    return result == WEFT_OK ? WEFT_OK : open_failed(file, result, path, problem);
}

static weft_result open_files(weft__trace_file *file, const char *path, weft__file_problem *problem)
{
    weft_result result = open_output(file, path, problem);
    if (result != WEFT_OK) return result;
    result = trace_spool_open(&file->spool, file->files, file->path, file->window.spool_bytes,
                              file->window.last_ns);
    if (result == WEFT_OK) return WEFT_OK;
    open_failed(file, result, file->spool.parts[0].path, problem);
    file->files->remove(file->files->user, file->path);
    file->files->close(file->files->user, file->out.file);
    return result;
}

static void free_file(weft__trace_file *file)
{
    weft__memory *memory = file->desc.memory;
    const weft__memory_category jobs = WEFT__MEMORY_JOBS;
    for (uint32_t i = 1; i < file->names.count; i++)
        weft__free(file->desc.memory, jobs, file->names.at[i], strlen(file->names.at[i]) + 1, 1, 1);
    WEFT__LIST_FREE(file->desc.memory, jobs, &file->names);
    weft__table_free(file->desc.memory, jobs, &file->numbers);
    weft__free(memory, WEFT__MEMORY_JOBS, file, 1, sizeof *file, 64);
}

static uint64_t boot_time_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

weft_result weft__trace_file_open(const weft__trace_file_desc *desc, weft__file_problem *problem,
                                  weft__trace_file **out)
{
    const trace_format *format = format_of(desc->path);
    if (format == NULL || strlen(desc->path) > TRACE_PATH_MAX) {
        snprintf(problem->text, sizeof problem->text,
                 "the name must end in .pftrace (of which weft-trace-json makes .json) or "
                 ".slices, and have at most %d bytes",
                 TRACE_PATH_MAX);
        return WEFT_INVALID_ARGUMENT;
    }
    snprintf(problem->text, sizeof problem->text, "out of memory");
    const weft__memory_category jobs = WEFT__MEMORY_JOBS;
    weft__trace_file *file = weft__alloc_zeroed(desc->memory, jobs, 1, sizeof *file, 64);
    if (file == NULL) return WEFT_OUT_OF_MEMORY;
    file->desc = *desc;
    file->desc.path = file->path;
    file->format = format;
    file->files = file->out.files = weft__os_files_of(desc->os);
    const char *mistake = trace_window_init(&file->window);
    if (mistake != NULL) weft__log(desc->log, WEFT_LOG_WARNING, "%s: it is not used", mistake);
    file->waiting = sizeof file->out.bytes;
    weft__lock_init(&file->lock, desc->os);
    weft_result result = WEFT_OUT_OF_MEMORY;
    if (WEFT__LIST_REACH(desc->memory, WEFT__MEMORY_JOBS, &file->names, 1)) {
        result = open_files(file, desc->path, problem);
    }
    if (result != WEFT_OK) {
        free_file(file);
        return result;
    }
    file->begin_ns = desc->os->clock_ns(desc->os->user);
    file->boot_ns = boot_time_ns();
    trace_out_format(
        &file->spool.names,
        "weft-names 2 workers %u process %u begin %llu last %llu first %llu end %llu "
        "ring %zu\n",
        desc->worker_count, weft__os_process(), (unsigned long long)file->begin_ns,
        (unsigned long long)file->window.last_ns, (unsigned long long)file->window.first_frame,
        (unsigned long long)file->window.last_frame, weft__trace_bytes(desc->capacity));
    trace_out_flush(&file->spool.names);
    *out = file;
    return WEFT_OK;
}

weft_result weft__trace_file_ring(weft__trace_file *file, uint32_t row, weft__memory *memory,
                                  uint32_t capacity, weft__trace_ring *ring)
{
    void *mapped;
    if (file != NULL) {
        const size_t waiting = sizeof(trace_record) * (capacity / 4);
        weft__lock_lock(&file->lock);
        if (file->waiting > waiting) file->waiting = waiting;
        if (file->row_end <= row) file->row_end = row + 1;
        weft__lock_unlock(&file->lock);
    }
    if (file != NULL && file->spool.has_rings &&
        file->files->map_shared(file->files->user, file->spool.rings,
                                (uint64_t)row * weft__trace_bytes(file->desc.capacity),
                                weft__trace_bytes(capacity), &mapped) == WEFT_OK) {
        weft__trace_init_mapped(ring, mapped, capacity);
        return WEFT_OK;
    }
    return weft__trace_init(ring, memory, capacity);
}

/* ---- draining */

static void drain_ring(weft__trace_file *file, uint32_t row)
{
    weft_job_event event;
    weft__trace_ring *ring = file->desc.ring_of(file->desc.user, row);
    if (ring == NULL) return;
    /* At most what the ring holds: a worker that writes as fast as we read must not keep us. */
    for (uint32_t i = 0; i < file->desc.capacity && weft__trace_read(ring, &event); i++) {
        uint32_t none = 0, *number = weft__trace_name(ring, &event);
        if (number == NULL) number = &none;
        trace_window_see(&file->window, &event);
        if (!trace_window_has(&file->window, event.time_ns)) continue;
        if (*number == 0) *number = intern(file, event.name);
        trace_record record = {.time_ns = event.time_ns,
                               .name = *number,
                               .value = event.value,
                               .kind = event.kind,
                               .worker = event.worker};
        trace_spool_add(&file->spool, &record);
    }
}

void weft__trace_file_drain(weft__trace_file *file)
{
    weft__lock_lock(&file->lock);
    /* first who steps worlds: its spans of frames are the window (trace_file.h) */
    drain_ring(file, 0);
    for (uint32_t i = file->desc.worker_count; i < file->row_end; i++) drain_ring(file, i);
    for (uint32_t i = 1; i < file->desc.worker_count; i++) drain_ring(file, i);
    if (file->spool.out.used > file->waiting) trace_out_flush(&file->spool.out);
    weft__lock_unlock(&file->lock);
}

void weft__trace_file_count(weft__trace_file *file, weft__trace_ring *ring)
{
    if (++ring->undrained <= weft__trace_capacity(ring) / 2) return;
    ring->undrained = 0;
    weft__trace_file_drain(file);
}

/* ---- writing */

/* The owner's program has ended its pool: no call is left that could tell it. */
static void report_incomplete(const weft__trace_file *file, weft_result result)
{
    weft__file_problem problem;
    const trace_spool *spool = &file->spool;
    const bool is_spool = spool->out.result != WEFT_OK;
    errno = is_spool ? spool->out.reason : file->out.reason;
    weft__file_failed(&problem, is_spool ? spool->out.result : result, "write",
                      is_spool ? spool->parts[spool->current].path : file->path);
    weft__log(file->desc.log, WEFT_LOG_WARNING, "the trace %s is incomplete: %s", file->path,
              problem.text);
}

/* Events that found a ring full. */
static uint64_t lost_of(const weft__trace_file *file)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < file->row_end; i++) {
        weft__trace_ring *ring = file->desc.ring_of(file->desc.user, i);
        if (ring != NULL) lost += at_load_rlx(&ring->x_dropped); /* relaxed: all have ended */
    }
    return lost;
}

/* What is not in the file although nothing failed. */
static void report_cut(const weft__trace_file *file)
{
    const trace_window *window = &file->window;
    if (window->begin_ns == UINT64_MAX)
        weft__log(file->desc.log, WEFT_LOG_WARNING,
                  "the trace %s is empty: frame %llu (WEFT_TRACE_FRAMES) was not reached",
                  file->path, (unsigned long long)window->first_frame);
    if (file->spool.cut != 0 && window->last_ns == 0)
        weft__log(file->desc.log, WEFT_LOG_WARNING,
                  "the trace %s has the last events only, %llu did not fit into %llu MB: "
                  "WEFT_TRACE_MB",
                  file->path, (unsigned long long)file->spool.cut,
                  (unsigned long long)window->spool_bytes / 1000000u);
}

static weft_result write_events(weft__trace_file *file, const trace_info *info, trace_stack *stacks,
                                trace_record *records)
{
    trace_nest nest = {file->format, &file->out, info, stacks, file->desc.memory, false};
    file->format->begin(&file->out, info);
    weft_result result = trace_spool_read(&file->spool, records, trace_nest_take, &nest);
    trace_nest_end(&nest);
    file->format->end(&file->out, info);
    trace_out_flush(&file->out);
    return result == WEFT_OK && nest.is_refused ? WEFT_OUT_OF_MEMORY : result;
}

/* Closes the file. */
static void write_file(weft__trace_file *file)
{
    const weft__memory_category jobs = WEFT__MEMORY_JOBS;
    const uint32_t rows = file->row_end;
    const trace_info info = {.names = file->names.at,
                             .name_count = file->names.count,
                             .worker_count = file->desc.worker_count,
                             .row_count = rows,
                             .process = weft__os_process(),
                             .thread_of = file->desc.thread_of,
                             .name_of = file->desc.name_of,
                             .user = file->desc.user,
                             .begin_ns = file->begin_ns,
                             .boot_ns = file->boot_ns,
                             .lost = lost_of(file)};
    trace_stack *stacks = weft__alloc_zeroed(file->desc.memory, jobs, rows, sizeof *stacks, 8);
    trace_record *records =
        weft__alloc(file->desc.memory, jobs, TRACE_READ_RECORDS, sizeof *records, 8);
    weft_result result = WEFT_OUT_OF_MEMORY;
    if (stacks != NULL && records != NULL) result = write_events(file, &info, stacks, records);
    weft__free(file->desc.memory, jobs, records, TRACE_READ_RECORDS, sizeof *records, 8);
    weft__free(file->desc.memory, jobs, stacks, rows, sizeof *stacks, 8);
    if (result == WEFT_OK) result = file->out.result;
    errno = 0;
    weft_result closed = file->files->close(file->files->user, file->out.file);
    if (result == WEFT_OK && closed != WEFT_OK) {
        result = closed;
        file->out.reason = errno;
    }
    trace_spool_close(&file->spool, true); /* only this file could have read it */
    if (result == WEFT_OK)
        report_cut(file);
    else
        report_incomplete(file, result);
}

void weft__trace_file_close(weft__trace_file *file)
{
    weft__trace_file_drain(file);
    write_file(file);
    free_file(file);
}

void weft__trace_file_leave(weft__trace_file *file, bool is_removed)
{
    if (is_removed) file->files->remove(file->files->user, file->path);
    file->files->close(file->files->user, file->out.file);
    trace_spool_close(&file->spool, is_removed);
    free_file(file);
}

uint32_t weft__trace_file_share(const weft__trace_file *file)
{
    return file == NULL ? 0 : (uint32_t)file->window.share;
}
