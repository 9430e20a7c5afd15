/* SPDX-License-Identifier: MIT */
/* trace_window.c: the variables that choose a part of the run (trace_window.h).
 *
 * A window of frames is found in the events themselves: spans named "frame" carry their number. A
 * value that cannot be read is told and left out; it must not keep a trace from being written. */
#include "trace_window.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MB_DEFAULT 256u
#define MB_MAX 1000000u
#define SECONDS_MAX 1e6

/* A whole number at the beginning of a text; *end: behind it. */
static bool read_number(const char *text, uint64_t *out, const char **end)
{
    char *last;
    errno = 0;
    *out = isdigit((unsigned char)text[0]) ? strtoull(text, &last, 10) : 0;
    if (!isdigit((unsigned char)text[0]) || errno != 0) return false;
    *end = last;
    return true;
}

static bool read_frames(const char *text, uint64_t *first, uint64_t *last)
{
    const char *end;
    if (!read_number(text, first, &end)) return false;
    *last = *first;
    if (*end == '\0') return true;
    if (*end != '-') return false;
    *last = UINT64_MAX;
    if (end[1] == '\0') return true;
    return read_number(end + 1, last, &end) && *end == '\0' && *first <= *last;
}

static bool read_seconds(const char *text, uint64_t *ns)
{
    char *end;
    double seconds = strtod(text, &end);
    bool is_good = end != text && *end == '\0' && seconds > 0 && seconds <= SECONDS_MAX;
    if (is_good) *ns = (uint64_t)(seconds * 1e9) + 1;
    return is_good;
}

static bool read_megabytes(const char *text, uint64_t *bytes)
{
    const char *end;
    uint64_t count;
    bool is_good = read_number(text, &count, &end) && *end == '\0' && count >= 1 && count <= MB_MAX;
    if (is_good) *bytes = count * 1000000u;
    return is_good;
}

const char *weft__trace_window_init(weft__trace_window *window)
{
    const char *problem = NULL;
    *window = (weft__trace_window){.spool_bytes = UINT64_C(1000000) * MB_DEFAULT,
                                   .last_frame = UINT64_MAX,
                                   .end_ns = UINT64_MAX};
    const char *frames = secure_getenv("WEFT_TRACE_FRAMES");
    const char *last = secure_getenv("WEFT_TRACE_LAST"), *mb = secure_getenv("WEFT_TRACE_MB");
    if (frames != NULL && frames[0] != '\0') {
        if (read_frames(frames, &window->first_frame, &window->last_frame))
            window->begin_ns = UINT64_MAX;
        else
            problem = "WEFT_TRACE_FRAMES is not FIRST-LAST, such as 100-120";
    }
    if (last != NULL && last[0] != '\0' && !read_seconds(last, &window->last_ns))
        problem = "WEFT_TRACE_LAST is not a number of seconds, such as 2.5";
    if (mb != NULL && mb[0] != '\0' && !read_megabytes(mb, &window->spool_bytes))
        problem = "WEFT_TRACE_MB is not a number of megabytes, such as 64";
    return problem;
}

void weft__trace_window_see(weft__trace_window *window, const weft_job_event *event)
{
    if (window->begin_ns == 0 || event->kind != WEFT_JOB_EVENT_SPAN_BEGIN) return;
    if (event->name == NULL || strcmp(event->name, "frame") != 0) return;
    bool is_inside = event->value >= window->first_frame && event->value <= window->last_frame;
    if (is_inside && window->begin_ns == UINT64_MAX) window->begin_ns = event->time_ns;
    bool is_behind = window->begin_ns != UINT64_MAX && event->value > window->last_frame;
    if (is_behind && window->end_ns == UINT64_MAX) window->end_ns = event->time_ns;
}
