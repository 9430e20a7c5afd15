/* SPDX-License-Identifier: MIT */
/* weft.h: storage, systems, schedule, and through them the job system.
 *
 * Public. Parts of it stand alone: <weft/jobs.h> without the rest, <weft/ecs.h> without systems.
 * Not included, as few programs need them: <weft/observer.h>, <weft/state_log.h>,
 * <weft/transform.h>. */
#ifndef WEFT_H
#define WEFT_H

#include <weft/ecs.h>
#include <weft/schedule.h>
#include <weft/system.h>

#endif
