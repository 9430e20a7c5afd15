/* SPDX-License-Identifier: MIT */
/* zones.c: zones (weft/zone.h): a word per thread, written where a thread begins or ends to use a
 * context, says where its events go. In the shared library that word costs 4 ns to read, so a flag
 * of the process goes before it: set with the first context that keeps events, and never reset. */
#include "jobs_engine.h"

#include <weft/zone.h>

#ifdef WEFT_ATOMICS_HOOKED /* threads are fibres of one */
#define ZONE_STORAGE static
#else
#define ZONE_STORAGE static _Thread_local /* no model: the library may be opened late */
#endif

static weft_job_context **zones(void)
{
    ZONE_STORAGE weft_job_context *context;
    return &context;
}

static weft_a32 *was_used(void)
{
    static weft_a32 x_was_used;
    return &x_was_used;
}

weft_job_context *weft__zones_to(weft_job_context *context)
{
    weft_job_context *before = *zones();
    const bool is_kept = context != NULL && weft__context_head_of(context)->is_observed;
#ifdef WEFT_ATOMICS_HOOKED
    (void)is_kept;
#else
    if (is_kept) at_store_rlx(was_used(), 1); /* relaxed: for this thread, which reads it later */
    *zones() = is_kept ? context : NULL;
#endif
    return before;
}

static __attribute__((noinline)) bool note(weft_job_event_kind kind, const char *name,
                                           uint32_t value)
{
    weft_job_context *context = *zones();
    if (context != NULL) weft__note(context, kind, name, value);
    return context != NULL;
}

bool weft_zone_begin(const char *name)
{
    return __builtin_expect(at_load_rlx(was_used()) != 0, 0) && /* relaxed: as above */
           note(WEFT_JOB_EVENT_SPAN_BEGIN, name, UINT32_MAX);
}

void weft_zone_end(void)
{
    if (__builtin_expect(at_load_rlx(was_used()) != 0, 0)) /* relaxed: as above */
        note(WEFT_JOB_EVENT_SPAN_END, NULL, 0);
}

void weft_plot(const char *name, uint32_t value)
{
    if (__builtin_expect(at_load_rlx(was_used()) != 0, 0)) /* relaxed: as above */
        note(WEFT_JOB_EVENT_COUNTER, name, value);
}
