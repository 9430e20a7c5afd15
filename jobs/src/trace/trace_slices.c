/* SPDX-License-Identifier: MIT */
/* trace_slices.c: the trace as a list of costs, input of `weft simulate`: text, one line per event.
 *
 *   weft-slices 1
 *   workers N             of the recording; costs are undisturbed with one
 *   begin frame NS N      and end frame NS N: what lies in no stage, the owner does alone
 *   begin stage NS N      and end stage NS N: its slices lie between
 *   title N TEXT          the systems of the stage that begins next
 *   begin slice NS BYTES  and end slice NS BYTES: all systems of the stage over one slice
 *   begin serial NS N     and end serial NS N: a system of the owner, in a stage
 *   lost N                events dropped
 *
 * NS counts from the begin of the trace; BYTES is what the slice touches, written columns twice. */
#include "trace_format.h"

#include <string.h>

static void begin(weft__trace_out *out, const weft__trace_info *info)
{
    weft__trace_out_text(out, "weft-slices 1\n");
    weft__trace_out_format(out, "workers %u\n", info->worker_count);
}

/* One line per event of interest; the reader computes durations. */
static void event(weft__trace_out *out, const weft__trace_info *info,
                  const weft__trace_record *record, const weft__trace_record *begin_record)
{
    (void)begin_record;
    bool is_begin = record->kind == WEFT_JOB_EVENT_SPAN_BEGIN;
    const char *name = record->name != 0 ? info->names[record->name] : "";
    if (record->kind == WEFT_JOB_EVENT_MARK && strncmp(name, "stage ", 6) == 0)
        weft__trace_out_format(out, "title %u %.128s\n", record->value, name + 6);
    if (!is_begin && record->kind != WEFT_JOB_EVENT_SPAN_END) return;
    bool is_known = strcmp(name, "frame") == 0 || strcmp(name, "stage") == 0 ||
                    strcmp(name, "slice") == 0 || strcmp(name, "serial") == 0;
    if (!is_known) return;
    weft__trace_out_format(out, "%s %s %llu %u\n", is_begin ? "begin" : "end", name,
                           (unsigned long long)(record->time_ns - info->begin_ns), record->value);
}

static void end(weft__trace_out *out, const weft__trace_info *info)
{
    weft__trace_out_format(out, "lost %llu\n", (unsigned long long)info->lost);
}

const weft__trace_format weft__trace_slices = {".slices", true, begin, event, end};
