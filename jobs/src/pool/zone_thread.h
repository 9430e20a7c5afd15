/* SPDX-License-Identifier: MIT */
/* zone_thread.h: which context the calling thread uses now, for zones (weft/zone.h), which have no
 * argument to tell. */
#pragma once

#include <weft/jobs.h>

/* That keeps events; NULL: none. Of the calling thread. */
weft_job_context *weft__zones_context(void);
