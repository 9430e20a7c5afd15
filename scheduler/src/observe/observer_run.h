/* SPDX-License-Identifier: MIT */
/* observer_run.h: the observers of a world in their order, and their rounds.
 *
 * Owner, world idle. A world without observers has none of this: one comparison per sync point. */
#ifndef WEFT_OBSERVER_RUN_H
#define WEFT_OBSERVER_RUN_H

#include <weft/observer.h>

#include "observer_watch.h"
#include "scheduler_state.h"

#define WEFT__OBSERVER_ROUNDS 8u
#define WEFT__OBSERVER_BATCH 4096u

/* One observer. Owner: weft__observers. */
typedef struct weft__observer {
    weft_observer_desc desc; /* name is `name`; before is NULL */
    char name[WEFT__NAME_LIMIT];
    weft__observer_watch *watch;
    weft_job_cost cost; /* of a batch */
    uint32_t id;
} weft__observer;

/* Owner: the scheduler. count <= capacity; watch_count <= watch_capacity. */
typedef struct weft__observers {
    WEFT__LIST(weft__observer *) all;           /* in the order in which they run */
    WEFT__LIST(weft__observer_watch *) watches; /* that of all entities, where it is, is first */
    uint32_t last_id;
} weft__observers;

/* Runs all rounds. `scheduler->observers` is not NULL. Errors: as weft_observers_run. */
weft_result weft__observers_play(weft__scheduler *scheduler);
/* All of them and what they know. */
void weft__observers_free(weft__scheduler *scheduler);

#endif
