/* SPDX-License-Identifier: MIT */
/* trace_perfetto.c: the trace as Perfetto TrackEvent protobuf (ui.perfetto.dev, trace_processor).
 *
 * A Trace is a run of `packet` fields. We need few messages, so they are encoded here: a message
 * is built in a small buffer and wrapped by its parent with tag and length. Names and categories
 * are interned in the first packet. Times are CLOCK_MONOTONIC; a clock snapshot relates it to
 * CLOCK_BOOTTIME, so that recordings of `perf record -k mono` lie on the same time line. Numbers of
 * fields: https://perfetto.dev/docs/reference/trace-packet-proto */
#include "trace_format.h"
#include "utf8.h"

#include <errno.h>
#include <string.h>

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

static void end_packet(weft__trace_out *out, message *packet)
{
    message head;
    head.count = 0;
    put_field(packet, SEQUENCE_ID, SEQUENCE);
    put_number(&head, PACKET << 3 | 2);
    put_number(&head, packet->count);
    weft__trace_out_bytes(out, head.bytes, head.count);
    weft__trace_out_bytes(out, packet->bytes, packet->count);
}

/* ---- the beginning */

static void put_clock(message *snapshot, uint32_t id, uint64_t ns)
{
    message clock = {0};
    put_field(&clock, 1, id);
    put_field(&clock, 2, ns);
    put_message(snapshot, 1, &clock);
}

static void put_clocks(weft__trace_out *out, const weft__trace_info *info)
{
    message packet = {0}, snapshot = {0};
    put_clock(&snapshot, CLOCK_MONOTONIC_ID, info->begin_ns);
    put_clock(&snapshot, CLOCK_BOOTTIME_ID, info->boot_ns);
    put_field(&snapshot, 2, CLOCK_MONOTONIC_ID); /* primary_trace_clock */
    put_message(&packet, CLOCK_SNAPSHOT, &snapshot);
    put_field(&packet, SEQUENCE_FLAGS, 1); /* incremental state starts here */
    end_packet(out, &packet);
}

static void end_track(weft__trace_out *out, const message *descriptor)
{
    message packet = {0};
    put_message(&packet, TRACK_DESCRIPTOR, descriptor);
    end_packet(out, &packet);
}

static void put_process(weft__trace_out *out, const weft__trace_info *info)
{
    message descriptor = {0}, process = {0};
    put_field(&descriptor, 1, PROCESS_TRACK);
    put_field(&process, 1, info->process);
    put_text(&process, 6, program_invocation_short_name);
    put_message(&descriptor, 3, &process);
    end_track(out, &descriptor);
}

/* With the number of the thread a viewer puts what the kernel traced into the same row. */
static void put_row(weft__trace_out *out, const weft__trace_info *info, uint32_t row)
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

static void put_counter(weft__trace_out *out, uint64_t track, const char *name)
{
    message descriptor = {0}, none = {0};
    put_field(&descriptor, 1, track);
    put_text(&descriptor, 2, name);
    put_field(&descriptor, 5, PROCESS_TRACK); /* parent_uuid */
    put_message(&descriptor, 8, &none);
    end_track(out, &descriptor);
}

static void put_name(weft__trace_out *out, uint64_t id, const char *text)
{
    message packet = {0}, interned = {0}, name = {0};
    put_field(&name, 1, id);
    put_text(&name, 2, text);
    put_message(&interned, 2, &name); /* event_names */
    put_message(&packet, INTERNED, &interned);
    put_field(&packet, SEQUENCE_FLAGS, 2);
    end_packet(out, &packet);
}

static void begin(weft__trace_out *out, const weft__trace_info *info)
{
    put_clocks(out, info);
    put_process(out, info);
    for (uint32_t i = 0; i < info->row_count; i++) put_row(out, info, i);
    for (uint32_t i = 1; i < info->name_count; i++) {
        put_name(out, NAMES_BASE + i, info->names[i]);
        put_counter(out, COUNTER_TRACK + i, info->names[i]);
    }
    for (uint16_t kind = 1; kind <= WEFT_JOB_EVENT_COUNTER; kind++) {
        const weft__trace_record record = {.kind = kind};
        put_name(out, kind, weft__trace_kind_of(&record)->fallback);
    }
}

/* ---- events */

static void put_argument(message *event, const char *name, uint64_t value)
{
    message annotation;
    annotation.count = 0;
    put_field(&annotation, 3, value); /* uint_value */
    put_text(&annotation, 10, name);
    put_message(event, 4, &annotation);
}

static void put_meaning(message *event, const weft__trace_record *record)
{
    const weft__trace_kind *kind = weft__trace_kind_of(record);
    bool has_name = record->name != 0 && record->kind != WEFT_JOB_EVENT_STEAL;
    put_text(event, 22, kind->category);
    put_field(event, 10, has_name ? NAMES_BASE + record->name : record->kind);
    if (kind->argument != NULL && record->value != UINT32_MAX)
        put_argument(event, kind->argument, record->value);
}

static void event(weft__trace_out *out, const weft__trace_info *info,
                  const weft__trace_record *record)
{
    const weft__trace_kind *kind = weft__trace_kind_of(record);
    bool is_counter = kind->shape == WEFT__TRACE_VALUE;
    message packet, body;
    packet.count = body.count = 0;
    put_field(&body, 9, (uint64_t)kind->shape + 1); /* begin, end, instant, counter: 1 to 4 */
    put_field(&body, 11, is_counter ? COUNTER_TRACK + record->name : ROW_TRACK + record->worker);
    if (is_counter)
        put_field(&body, 30, record->value);
    else if (kind->shape != WEFT__TRACE_END)
        put_meaning(&body, record);
    put_field(&packet, TIMESTAMP, record->time_ns);
    put_field(&packet, CLOCK_ID, CLOCK_MONOTONIC_ID);
    put_message(&packet, TRACK_EVENT, &body);
    put_field(&packet, SEQUENCE_FLAGS, 2);
    end_packet(out, &packet);
    (void)info;
}

/* Losses as a counter of their own: a viewer shows it beside the others. */
static void end(weft__trace_out *out, const weft__trace_info *info)
{
    put_counter(out, COUNTER_TRACK, "events dropped");
    message packet, body;
    packet.count = body.count = 0;
    put_field(&body, 9, 4);
    put_field(&body, 11, COUNTER_TRACK);
    put_field(&body, 30, info->lost);
    put_field(&packet, TIMESTAMP, info->begin_ns);
    put_field(&packet, CLOCK_ID, CLOCK_MONOTONIC_ID);
    put_message(&packet, TRACK_EVENT, &body);
    end_packet(out, &packet);
}

const weft__trace_format weft__trace_perfetto = {".pftrace", false, begin, event, end};
