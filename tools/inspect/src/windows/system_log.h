/* SPDX-License-Identifier: MIT */
/* system_log.h: the last times of each system: what averages and percentiles are made of. Kept
 * while the Systems window is open. Owner of the world, after each step. */
#ifndef WEFT_INSPECT_SYSTEM_LOG_H
#define WEFT_INSPECT_SYSTEM_LOG_H

#include "session.h"

#include <weft/system.h>

enum { WEFT__TIMES_KEPT = 128 };

/* Times of one system; ns. */
typedef struct weft__system_times {
    weft_system system;
    uint64_t runs;  /* when it was last looked at */
    uint32_t count; /* of `ns`, up to WEFT__TIMES_KEPT */
    uint32_t next;
    uint32_t ns[WEFT__TIMES_KEPT];
} weft__system_times;

/* What is said of them. */
typedef struct weft__times {
    uint64_t last, average, p99, most;
} weft__times;

/* Takes the times of the last step; makes the log when there is none. Where 400 systems make that
 * dear, not of every step: 0.25 % of the time. */
void weft__system_log_take(weft__session *session);
weft__times weft__system_log_of(const weft__session *session, weft_system system);
/* The same of whole frames. */
weft__times weft__system_log_frames(const weft__session *session);
void weft__system_log_free(weft__session *session);

#endif
