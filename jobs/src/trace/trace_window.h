/* SPDX-License-Identifier: MIT */
/* trace_window.h: which part of a run a trace file keeps: some frames, the last seconds, at most so
 * many bytes on disk while it runs. The user of the program asks by the environment:
 *
 *   WEFT_TRACE_FRAMES=A-B   frames A to B (A: one; A-: to the end), by the number of the span
 *   WEFT_TRACE_LAST=S       what happened in the last S seconds
 *   WEFT_TRACE_MB=M         at most M MB of spool, the newest events (default 256)
 *
 * Owner of the file; under its lock. */
#ifndef WEFT_TRACE_WINDOW_H
#define WEFT_TRACE_WINDOW_H

#include <weft/jobs.h>

/* Owner: the trace file. Invariants: first_frame <= last_frame; nothing is kept before begin_ns
 * (UINT64_MAX: the first frame has not begun) and from end_ns on. */
typedef struct weft__trace_window {
    uint64_t spool_bytes; /* constant after init, as the next three */
    uint64_t last_ns;     /* 0: from the beginning */
    uint64_t first_frame, last_frame;
    uint64_t begin_ns, end_ns;
} weft__trace_window;

/* Reads the environment, which set-uid programs ignore. NULL, or what cannot be read: the variable
 * counts as not set. */
const char *weft__trace_window_init(weft__trace_window *window);
/* Looks at an event: a frame may begin or end the window. Events of one worker in their order,
 * worker 0 first. */
void weft__trace_window_see(weft__trace_window *window, const weft_job_event *event);

static inline bool weft__trace_window_has(const weft__trace_window *window, uint64_t time_ns)
{
    return time_ns >= window->begin_ns && time_ns < window->end_ns;
}

#endif
