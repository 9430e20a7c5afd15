/* SPDX-License-Identifier: MIT */
/* zone_thread.c: see zone_thread.h: a word per thread, written where a thread begins or ends to use
 * a context; weft__zones_to is declared in jobs_engine.h. */
#include "zone_thread.h"
#include "jobs_engine.h"

static weft_job_context **zones(void)
{
#ifdef WEFT_ATOMICS_HOOKED /* threads are fibres of one */
    static weft_job_context *none;
    none = NULL;
    return &none;
#else
    static _Thread_local weft_job_context *context; /* no model: the library may be opened late */
    return &context;
#endif
}

weft_job_context *weft__zones_to(weft_job_context *context)
{
    weft_job_context *before = *zones();
    const bool is_kept = context != NULL && weft__context_head_of(context)->is_observed;
    *zones() = is_kept ? context : NULL;
    return before;
}

weft_job_context *weft__zones_context(void)
{
    return *zones();
}
