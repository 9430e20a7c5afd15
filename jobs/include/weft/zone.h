/* SPDX-License-Identifier: MIT */
/* zone.h: spans and plots of your own in the trace, from any function, without a context.
 *
 * Public. A zone is a span of the thread that begins it: inside of the system, job or guest that it
 * runs. It is recorded on the workers of a pool that keeps events, on the thread that steps a world
 * while it does, and on a thread between weft_job_pool_enter and weft_job_pool_leave, which the
 * owner of a pool may call, too. Elsewhere, and without a trace, nothing is recorded.
 *
 *     static void think(Crowd *crowd)
 *     {
 *         WEFT_ZONE("think"); // until the block ends
 *         weft_plot("agents", crowd->count);
 *
 * Names must stay where they are until the end of the frame: they are copied then. */
#ifndef WEFT_ZONE_H
#define WEFT_ZONE_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- zones and plots ---- */

/* Begins a span on the calling thread. Returns whether it is recorded: else it needs no end, though
 * one does no harm. Threads: any. Cost: 1.6 ns without a trace in the shared library (Zen 5). */
WEFT_API bool weft_zone_begin(const char *name);
/* Ends the span that the thread began last. Threads: any. */
WEFT_API void weft_zone_end(void);
/* A point of a line, which is known by its name. Threads: any. */
WEFT_API void weft_plot(const char *name, uint32_t value);

/* Begins what WEFT_ZONE is. Threads: any. */
static inline const char *weft_zone_enter(const char *name)
{
    const char *told = name != NULL ? name : "";
    return weft_zone_begin(name) ? told : NULL;
}
/* Ends what WEFT_ZONE is. Threads: any. */
static inline void weft_zone_leave(const char **name)
{
    if (*name != NULL) weft_zone_end();
}
#define WEFT_ZONE_JOIN_(a, b) a##b
#define WEFT_ZONE_NAME_(line) WEFT_ZONE_JOIN_(weft_zone_of_line_, line)
/* A zone until the end of the block, in whatever way it is left. */
#define WEFT_ZONE(name)                                                                            \
    __attribute__((cleanup(weft_zone_leave), unused)) const char *WEFT_ZONE_NAME_(__LINE__) =      \
        weft_zone_enter(name)

#ifdef __cplusplus
}
#endif
#endif
