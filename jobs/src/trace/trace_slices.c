/* SPDX-License-Identifier: MIT */
/* trace_slices.c: the trace as a list of costs, input of `weft simulate`: text, one line per event.
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
#include "trace_format.h"

#include <string.h>

static void begin(weft__trace_out *out, const weft__trace_info *info)
{
    weft__trace_out_text(out, "weft-slices 2\n");
    weft__trace_out_format(out, "workers %u\n", info->worker_count);
}

/* A title, a task or an edge; other marks are of no interest. */
static void mark(weft__trace_out *out, const char *name, uint32_t value)
{
    if (strncmp(name, "stage ", 6) == 0)
        weft__trace_out_format(out, "title %u %.128s\n", value, name + 6);
    else if (strncmp(name, "task ", 5) == 0)
        weft__trace_out_format(out, "task %u %u %.128s\n", value >> 1, value & 1, name + 5);
    else if (strcmp(name, "edge") == 0)
        weft__trace_out_format(out, "edge %u %u\n", value >> 16, value & 0xffff);
}

static bool is_span(const char *name)
{
    static const char *const names[] = {"frame", "graph", "stage", "task", "slice", "serial"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* One line per event of interest; the reader computes durations. */
static void event(weft__trace_out *out, const weft__trace_info *info,
                  const weft__trace_record *record)
{
    bool is_begin = record->kind == WEFT_JOB_EVENT_SPAN_BEGIN;
    const char *name = record->name != 0 ? info->names[record->name] : "";
    if (record->kind == WEFT_JOB_EVENT_MARK) mark(out, name, record->value);
    if (!is_begin && record->kind != WEFT_JOB_EVENT_SPAN_END) return;
    if (!is_span(name)) return;
    weft__trace_out_format(out, "%s %s %llu %u\n", is_begin ? "begin" : "end", name,
                           (unsigned long long)(record->time_ns - info->begin_ns), record->value);
}

static void end(weft__trace_out *out, const weft__trace_info *info)
{
    weft__trace_out_format(out, "lost %llu\n", (unsigned long long)info->lost);
}

const weft__trace_format weft__trace_slices = {".slices", true, begin, event, end};
