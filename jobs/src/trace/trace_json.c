/* SPDX-License-Identifier: MIT */
/* trace_json.c: the trace in Chrome's JSON format, which speedscope, ui.perfetto.dev and
 * chrome://tracing open: one complete event (X) per span, written when it ends.
 *
 * Spans have no arguments: speedscope takes them for a part of the name, and every frame would be a
 * function of its own. Numbers of frames, slices and indices are in the other format (.pftrace).
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU */
#include "trace_format.h"

#include "utf8.h"

#include <errno.h>

static void put_string(weft__trace_out *out, const char *text)
{
    char piece[WEFT__JSON_PIECE_BYTES];
    weft__trace_out_text(out, "\"");
    while (*text != '\0') {
        text = weft__json_piece(text, piece);
        weft__trace_out_text(out, piece);
    }
    weft__trace_out_text(out, "\"");
}

static uint32_t thread_of(const weft__trace_info *info, uint32_t row)
{
    uint32_t thread = info->thread_of(info->user, row);
    return thread != 0 ? thread : row + 1;
}

static void put_row(weft__trace_out *out, const weft__trace_info *info, uint32_t row)
{
    char name[WEFT__TRACE_ROW_NAME];
    uint32_t process = info->process, thread = thread_of(info, row);
    info->name_of(info->user, row, name);
    weft__trace_out_format(out, ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_name\"",
                           process, thread);
    weft__trace_out_text(out, ",\"args\":{\"name\":");
    put_string(out, name);
    weft__trace_out_text(out, "}}");
    weft__trace_out_format(out, ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":", process,
                           thread);
    weft__trace_out_format(out, "\"thread_sort_index\",\"args\":{\"sort_index\":%u}}", row);
}

static void begin(weft__trace_out *out, const weft__trace_info *info)
{
    weft__trace_out_format(out, "{\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,",
                           info->process, thread_of(info, 0));
    weft__trace_out_text(out, "\"name\":\"process_name\",\"args\":{\"name\":");
    put_string(out, program_invocation_short_name);
    weft__trace_out_text(out, "}}");
    for (uint32_t i = 0; i < info->row_count; i++) put_row(out, info, i);
}

/* Times in 1/64 us: a viewer adds begin and duration as doubles, and only sums of exact numbers
 * meet the begin of the next span, or the end of the outer one. */
static uint64_t ticks_of(uint64_t ns)
{
    return ns * 8 / 125;
}

/* Microseconds. */
static void put_time(weft__trace_out *out, const char *field, uint64_t ticks)
{
    weft__trace_out_format(out, ",\"%s\":%llu.%06llu", field, (unsigned long long)(ticks / 64),
                           (unsigned long long)(ticks % 64 * 15625));
}

static void event(weft__trace_out *out, const weft__trace_info *info,
                  const weft__trace_record *record, const weft__trace_record *begin_record)
{
    static const char phases[] = {
        [WEFT__TRACE_END] = 'X', [WEFT__TRACE_INSTANT] = 'i', [WEFT__TRACE_VALUE] = 'C'};
    const weft__trace_kind *kind = weft__trace_kind_of(record);
    const weft__trace_record *first = begin_record != NULL ? begin_record : record;
    if (kind->shape == WEFT__TRACE_BEGIN) return;
    bool has_name = record->name != 0 && record->kind != WEFT_JOB_EVENT_STEAL;
    weft__trace_out_format(out, ",\n{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u", phases[kind->shape],
                           info->process, thread_of(info, record->worker));
    uint64_t first_ticks = ticks_of(first->time_ns - info->begin_ns);
    put_time(out, "ts", first_ticks);
    if (begin_record != NULL)
        put_time(out, "dur", ticks_of(record->time_ns - info->begin_ns) - first_ticks);
    if (kind->shape == WEFT__TRACE_INSTANT) weft__trace_out_text(out, ",\"s\":\"t\"");
    weft__trace_out_format(out, ",\"cat\":\"%s\",\"name\":", kind->category);
    put_string(out, has_name ? info->names[record->name] : kind->fallback);
    if (kind->shape == WEFT__TRACE_VALUE)
        weft__trace_out_format(out, ",\"args\":{\"value\":%u}", record->value);
    weft__trace_out_text(out, "}");
}

static void end(weft__trace_out *out, const weft__trace_info *info)
{
    weft__trace_out_format(out, "\n],\"displayTimeUnit\":\"ns\",\"otherData\":");
    weft__trace_out_format(out, "{\"dropped\":%llu}}\n", (unsigned long long)info->lost);
}

const weft__trace_format weft__trace_json = {".json", false, begin, event, end};
