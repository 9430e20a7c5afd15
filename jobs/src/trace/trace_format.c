/* SPDX-License-Identifier: MIT */
/* trace_format.c: what the formats of trace_format.h share: buffered output, and how each kind of
 * event is drawn. */
#include "trace_format.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void weft__trace_out_flush(weft__trace_out *out)
{
    if (out->used != 0 && out->result == WEFT_OK) {
        errno = 0;
        out->result = out->files->write(out->files->user, out->file, out->bytes, out->used);
        out->reason = out->result == WEFT_OK ? 0 : errno;
    }
    out->used = 0;
}

void weft__trace_out_bytes(weft__trace_out *out, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count > 0) {
        size_t room = sizeof out->bytes - out->used, part = count < room ? count : room;
        memcpy(out->bytes + out->used, from, part);
        out->used += part;
        from += part;
        count -= part;
        if (out->used == sizeof out->bytes) weft__trace_out_flush(out);
    }
}

void weft__trace_out_text(weft__trace_out *out, const char *text)
{
    weft__trace_out_bytes(out, text, strlen(text));
}

void weft__trace_out_format(weft__trace_out *out, const char *format, ...)
{
    char text[200];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (length > 0) weft__trace_out_text(out, text);
}

const weft__trace_kind *weft__trace_kind_of(const weft__trace_record *record)
{
    static const weft__trace_kind kinds[] = {
        [0] = {WEFT__TRACE_INSTANT, "unknown", "?", NULL},
        [WEFT_JOB_EVENT_BEGIN] = {WEFT__TRACE_BEGIN, "job", "job", "first"},
        [WEFT_JOB_EVENT_END] = {WEFT__TRACE_END, "job", "job", NULL},
        [WEFT_JOB_EVENT_STEAL] = {WEFT__TRACE_INSTANT, "steal", "steal", "victim"},
        [WEFT_JOB_EVENT_PARK] = {WEFT__TRACE_BEGIN, "sleep", "parked", NULL},
        [WEFT_JOB_EVENT_UNPARK] = {WEFT__TRACE_END, "sleep", "parked", NULL},
        [WEFT_JOB_EVENT_WAIT_BEGIN] = {WEFT__TRACE_BEGIN, "wait", "wait", NULL},
        [WEFT_JOB_EVENT_WAIT_END] = {WEFT__TRACE_END, "wait", "wait", NULL},
        [WEFT_JOB_EVENT_MARK] = {WEFT__TRACE_INSTANT, "mark", "mark", "value"},
        [WEFT_JOB_EVENT_WAKE] = {WEFT__TRACE_INSTANT, "wake", "wake", "worker"},
        [WEFT_JOB_EVENT_SPAN_BEGIN] = {WEFT__TRACE_BEGIN, "ecs", "span", "count"},
        [WEFT_JOB_EVENT_SPAN_END] = {WEFT__TRACE_END, "ecs", "span", NULL},
        [WEFT_JOB_EVENT_COUNTER] = {WEFT__TRACE_VALUE, "counter", "counter", "value"},
        [WEFT_JOB_EVENT_SHARE] = {WEFT__TRACE_SHARE, "ecs", "share", NULL},
    };
    uint32_t kind = record->kind;
    return &kinds[kind < sizeof kinds / sizeof *kinds ? kind : 0];
}
