/* SPDX-License-Identifier: MIT */
/* version_renewal.h: change versions that do not end.
 *
 * Versions have 32 bits and are compared by distance, which is right up to 2^31. So before any is
 * as old as that, all that are older than WEFT__VERSION_KEPT are brought nearer: a *renewal*, every
 * WEFT__VERSION_RENEWAL versions. Two kinds of words hold versions. *Stamps* say when something
 * was written (slices, the order of chunks); what was *seen* says up to where a system, a filter or
 * a relation has looked. A renewal keeps the answer of every comparison of a stamp with what was
 * seen: old
 * stamps become equal where nothing seen lies between them. Parts that compare stamps for equality
 * look at both before the stamps change (streams), or believe none from before the renewal
 * (snapshots, observers). Owner, world idle. */
#pragma once

#include "list.h"
#include "world_front.h"

#define WEFT__VERSION_KEPT (UINT32_C(1) << 30)
#define WEFT__VERSION_RENEWAL (UINT32_C(1) << 29)

/* One renewal; on the stack. Extensions are called twice: to tell what they have seen, then, with
 * is_put, for the new versions. */
typedef struct weft__renewal {
    weft_world *world;
    uint32_t now;
    uint32_t newest;          /* what the newest old stamps become */
    WEFT__LIST(uint32_t) old; /* what was seen and is old: ascending once is_put, each once */
    bool is_put;
    bool is_refused; /* memory ended: nothing changes, the next one comes soon */
} weft__renewal;

/* The version that a stamp gets, or the same word as it was seen. */
uint32_t weft__renewed(const weft__renewal *renewal, uint32_t version);
/* A word that was seen: it is noted, then renewed. */
void weft__renew_seen(weft__renewal *renewal, uint32_t *seen);
/* Renews all versions of the world. */
void weft__versions_renew(weft_world *world);

/* Where a step begins, and where versions advance between steps. */
static inline void weft__versions_check(weft_world *world)
{
    const weft__world_front *front = weft__front(world);
    if (__builtin_expect(front->version - front->renewed >= WEFT__VERSION_RENEWAL, 0) &&
        front->busy == 0)
        weft__versions_renew(world);
}
