/* SPDX-License-Identifier: MIT */
/* sync_point.h: playback of what systems recorded.
 *
 * At a sync point the commands of all workers take effect, in the order of systems and slices.
 * Owner. */
#ifndef WEFT_SYNC_POINT_H
#define WEFT_SYNC_POINT_H

#include "scheduler_state.h"

/* Plays back the commands of all workers, in order of effect, then settles relations and runs
 * observers; what it writes gets `version`. `costs`: of the playbacks at this point. Waits for the
 * background systems under way if that concerns their rows. Owner, no system runs that records. */
void weft__sync_point_run(weft__scheduler *scheduler, uint32_t version,
                          weft__playback_costs *costs);

#endif
