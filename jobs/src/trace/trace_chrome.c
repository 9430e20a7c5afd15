/* SPDX-License-Identifier: MIT */
/* trace_chrome.c: the trace as Chrome JSON (chrome://tracing, speedscope, Perfetto's viewer): one
 * object per event, times in microseconds, one row per worker. */
#include "trace_format.h"

#include "utf8.h"

#include <stdio.h>

static void put_text(weft__trace_out *out, const char *text)
{
    char piece[WEFT__JSON_PIECE_BYTES];
    weft__trace_out_text(out, "\"");
    while (*text != '\0') {
        text = weft__json_piece(text, piece);
        weft__trace_out_text(out, piece);
    }
    weft__trace_out_text(out, "\"");
}

static void put_metadata(weft__trace_out *out, const weft__trace_info *info, const char *what,
                         uint32_t worker, const char *name)
{
    weft__trace_out_format(out, "{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"%s\",",
                           info->process, worker, what);
    weft__trace_out_text(out, "\"args\":{\"name\":");
    put_text(out, name);
    weft__trace_out_text(out, "}},\n");
}

static void begin(weft__trace_out *out, const weft__trace_info *info)
{
    weft__trace_out_text(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    put_metadata(out, info, "process_name", 0, "weft");
    for (uint32_t i = 0; i < info->worker_count; i++) {
        char name[32];
        snprintf(name, sizeof name, i == 0 ? "worker 0 (owner)" : "worker %u", i);
        put_metadata(out, info, "thread_name", i, name);
    }
}

static void event(weft__trace_out *out, const weft__trace_info *info,
                  const weft__trace_record *record)
{
    static const char letters[] = {[WEFT__TRACE_BEGIN] = 'B',
                                   [WEFT__TRACE_END] = 'E',
                                   [WEFT__TRACE_INSTANT] = 'i',
                                   [WEFT__TRACE_VALUE] = 'C'};
    const weft__trace_kind *kind = weft__trace_kind_of(record);
    weft__trace_out_text(out, "{\"ph\":\"");
    weft__trace_out_bytes(out, &letters[kind->shape], 1);
    weft__trace_out_text(out, "\",\"pid\":");
    weft__trace_out_number(out, info->process, 1);
    weft__trace_out_text(out, ",\"tid\":");
    weft__trace_out_number(out, record->worker, 1);
    weft__trace_out_text(out, ",\"ts\":");
    weft__trace_out_number(out, record->time_ns / 1000, 1);
    weft__trace_out_text(out, ".");
    weft__trace_out_number(out, record->time_ns % 1000, 3);
    weft__trace_out_text(out, ",\"cat\":\"");
    weft__trace_out_text(out, kind->category);
    weft__trace_out_text(out, "\"");
    if (kind->shape == WEFT__TRACE_INSTANT) weft__trace_out_text(out, ",\"s\":\"t\"");
    weft__trace_out_text(out, ",\"name\":");
    put_text(out, weft__trace_name_of(info, record));
    if (kind->argument != NULL && record->value != UINT32_MAX)
        weft__trace_out_format(out, ",\"args\":{\"%s\":%u}", kind->argument, record->value);
    weft__trace_out_text(out, "},\n");
}

/* The metadata that ends the list also says what was lost. */
static void end(weft__trace_out *out, const weft__trace_info *info)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < info->worker_count; i++) lost += info->lost[i];
    weft__trace_out_format(out,
                           "{\"ph\":\"M\",\"pid\":%u,\"tid\":0,\"name\":\"process_labels\","
                           "\"args\":{\"labels\":\"%llu events dropped\"}}\n",
                           info->process, (unsigned long long)lost);
    weft__trace_out_format(out,
                           "],\"otherData\":{\"clock\":\"CLOCK_MONOTONIC\",\"dropped\":%llu}}\n",
                           (unsigned long long)lost);
}

const weft__trace_format weft__trace_chrome = {".json", false, begin, event, end};
