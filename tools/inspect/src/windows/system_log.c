/* SPDX-License-Identifier: MIT */
/* system_log.c: a ring of times for each system, and one for frames. Averages and percentiles are
 * computed when they are asked for. */
#include "system_log.h"

#include <stdlib.h>
#include <string.h>
#include <weft/schedule.h>
#include <weft/system.h>

enum { REST = 400 }; /* a look rests so many times as long as it took: 0.25 % */

/* Owner: the session. items[0] is of frames. */
struct weft__system_log {
    uint64_t due_ns;
    weft__system_times *items;
    uint32_t count, capacity;
};

/* Times of systems that were destroyed make room. */
static void times_drop(struct weft__system_log *log, const weft_world *world)
{
    uint32_t kept = 1;
    weft_system_stats stats;
    for (uint32_t i = 1; i < log->count; i++)
        if (weft_system_stats_get(world, log->items[i].system, &stats, sizeof stats) == WEFT_OK)
            log->items[kept++] = log->items[i];
    log->count = kept;
}

/* `likely`: where it was the last time: systems are listed in an order that stays. */
static weft__system_times *times_of(struct weft__system_log *log, const weft_world *world,
                                    weft_system system, uint32_t likely)
{
    if (likely < log->count && log->items[likely].system.id == system.id)
        return &log->items[likely];
    for (uint32_t i = 0; i < log->count; i++)
        if (log->items[i].system.id == system.id) return &log->items[i];
    if (log->count == log->capacity && log->count > 0) times_drop(log, world);
    if (log->count == log->capacity) {
        uint32_t capacity = 2 * log->capacity + 32;
        weft__system_times *grown = realloc(log->items, capacity * sizeof *grown);
        if (grown == NULL) return NULL;
        log->items = grown;
        log->capacity = capacity;
    }
    weft__system_times *made = &log->items[log->count++];
    *made = (weft__system_times){.system = system};
    return made;
}

static void add_time(weft__system_times *times, uint64_t ns)
{
    times->ns[times->next] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
    times->next = (times->next + 1) % WEFT__TIMES_KEPT;
    if (times->count < WEFT__TIMES_KEPT) times->count++;
}

void weft__system_log_take(weft__session *session)
{
    weft_frame_stats frame;
    uint32_t count;
    weft__wire none = {0}; /* without the list it takes the times of the next step */
    if (session->system_log == NULL) session->system_log = calloc(1, sizeof *session->system_log);
    struct weft__system_log *log = session->system_log;
    uint64_t begin_ns = weft__session_now();
    if (log == NULL || begin_ns < log->due_ns) return;
    weft_frame_stats_get(session->world, &frame, sizeof frame);
    weft__system_times *frames = times_of(log, session->world, (weft_system){0}, 0);
    if (frames != NULL && frame.frame_ns != 0) add_time(frames, frame.frame_ns);
    weft_system *list = weft__session_systems(session, &count, &none);
    for (uint32_t i = 0; i < count; i++) {
        weft_system_stats stats;
        weft__system_times *times = times_of(log, session->world, list[i], i + 1);
        if (times == NULL ||
            weft_system_stats_get(session->world, list[i], &stats, sizeof stats) != WEFT_OK ||
            stats.runs == times->runs)
            continue;
        times->runs = stats.runs;
        add_time(times, stats.time_ns);
    }
    free(list);
    uint64_t end_ns = weft__session_now();
    log->due_ns = end_ns + REST * (end_ns - begin_ns);
}

static int compare_ns(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static weft__times summarise(const weft__system_times *times)
{
    uint32_t sorted[WEFT__TIMES_KEPT];
    uint64_t sum = 0;
    if (times->count == 0) return (weft__times){0};
    memcpy(sorted, times->ns, times->count * sizeof sorted[0]);
    qsort(sorted, times->count, sizeof sorted[0], compare_ns);
    for (uint32_t i = 0; i < times->count; i++) sum += sorted[i];
    uint32_t last = (times->next + WEFT__TIMES_KEPT - 1) % WEFT__TIMES_KEPT;
    return (weft__times){.last = times->ns[last],
                         .average = sum / times->count,
                         .p99 = sorted[(times->count - 1) * 99 / 100],
                         .most = sorted[times->count - 1]};
}

weft__times weft__system_log_of(const weft__session *session, weft_system system)
{
    const struct weft__system_log *log = session->system_log;
    for (uint32_t i = 0; log != NULL && i < log->count; i++)
        if (log->items[i].system.id == system.id) return summarise(&log->items[i]);
    return (weft__times){0};
}

weft__times weft__system_log_frames(const weft__session *session)
{
    return weft__system_log_of(session, (weft_system){0});
}

void weft__system_log_free(weft__session *session)
{
    if (session->system_log != NULL) free(session->system_log->items);
    free(session->system_log);
    session->system_log = NULL;
}
