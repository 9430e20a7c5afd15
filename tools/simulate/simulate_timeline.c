/* SPDX-License-Identifier: MIT */
/* simulate_timeline.c: who did what when in the last frame of a run, for a viewer of traces: a row
 * for each worker, a span for each part of a loop, each task, and the owner's own time. Times are
 * simulated microseconds from the begin of the frame. */
#include "simulate.h"

#include <stdlib.h>

#include "json.h"

void sim_timeline_add(sim_timeline *timeline, const sim_part *part)
{
    if (!timeline->is_kept || timeline->has_failed) return;
    if (timeline->count == timeline->room) {
        uint32_t room = timeline->room == 0 ? 1024 : 2 * timeline->room;
        sim_part *parts = realloc(timeline->parts, room * sizeof *parts);
        timeline->has_failed = parts == NULL;
        if (parts == NULL) return;
        timeline->parts = parts;
        timeline->room = room;
    }
    timeline->parts[timeline->count++] = *part;
}

/* The row of a worker. */
static void write_name(FILE *file, uint32_t worker)
{
    fprintf(file,
            "{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":"
            "\"worker %u%s\"}},\n",
            worker, worker, worker == 0 ? " (owner)" : "");
}

static void write_part(FILE *file, const sim_timeline *timeline, const sim_part *part)
{
    weft_json json;
    weft_json_begin(&json, file);
    weft_json_text(&json, "ph", "X");
    weft_json_text(&json, "name", part->title);
    weft_json_count(&json, "pid", 1);
    weft_json_count(&json, "tid", part->worker);
    weft_json_number(&json, "ts", (double)(part->begin_ps - timeline->begin_ps) / 1e6);
    weft_json_number(&json, "dur", (double)(part->end_ps - part->begin_ps) / 1e6);
    if (part->slices != 0) weft_json_count(&json, "slices", part->slices);
    weft_json_end(&json);
}

void sim_timeline_write(const sim_timeline *timeline, uint32_t workers, FILE *file)
{
    fprintf(file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    for (uint32_t i = 0; i < workers; i++) write_name(file, i);
    for (uint32_t i = 0; i < timeline->count; i++) {
        write_part(file, timeline, &timeline->parts[i]);
        fputs(",", file); /* weft_json_end wrote a line */
    }
    fprintf(file,
            "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":"
            "\"simulated: %u workers\"}}\n]}\n",
            workers);
}
