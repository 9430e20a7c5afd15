/* SPDX-License-Identifier: MIT */
/* guest.h: threads that are no workers of a pool and run loops, graphs and children on it.
 *
 * A thread of the host enters the pool and gets a context, a *guest*, until it leaves. It opens
 * loops that workers join; it helps with these only, and never looks for other work. So any number
 * of threads step worlds of their own over one pool, beside its owner.
 *
 * Numbers: what belongs together (a loop and all inside it; a step) has per-worker places 0..N-1.
 * The guest stands at place 0. Worker 0, the owner of the pool, therefore keeps out of whatever a
 * guest began: it joins no hosted loop (loop.h) and steals no hosted child (child.h, C7). `job` of
 * a worker says what it works on: WEFT__JOB_HOSTED goes on to the loops and children begun in it.
 * Two threads with the same place never meet in one piece.
 *
 * Children of a guest are not offered to workers, it runs them itself; its jobs are injected.
 *
 * Sleeping: a guest waits for its loop on a token of its own; it is not in the bitmap of sleepers.
 * Work of guests is announced as other work is (W1), but worker 0 is neither woken for it nor
 * counts it; before worker 0 sleeps it wakes another worker for hosted work it sees, because a
 * publisher that saw it searching has woken none (H3).
 *
 *   who                enter     leave     use of the context
 *   a thread           any       its own   from enter to leave
 *   worker 0's thread  gets its own context instead, and leave does nothing
 *
 * Edges:
 *   H1  leave: and of x_inside (release) -> enter: or of x_inside (acquire): the guest's fields,
 *       and its side of its ring of events (trace.h)
 *   H2  enter: guest made, release of x_guests -> statistics, reader of its ring: acquire of
 *       x_guests
 *   H3  publisher of hosted work: sc load of searching, no wake-up <-> worker 0, last to search:
 *       leaves the count (W3), then looks for hosted work (L2) and wakes another worker
 *   H4  leave: and of x_inside (release), its last touch -> destroy: acquire of x_inside == 0; then
 *       names and numbers of its threads are read, for the trace
 *
 * Traces: each guest has a ring of events. Where there are rings, a thread gets the number that it
 * had before, or one that no thread had, while there are some: so rows of a trace are threads.
 *
 * Memory is type-stable: a guest is made by the first thread that gets its number, and freed with
 * the pool. */
#pragma once

#include "atomic.h"

#include <weft/jobs.h>

#ifndef WEFT__GUESTS_MAX
#define WEFT__GUESTS_MAX 256u /* guests inside at once */
#endif
#define WEFT__GUEST_WORDS ((WEFT__GUESTS_MAX + 63u) / 64u)
#define WEFT__GUEST_CHILDREN 64u /* unjoined children; more run at once, in place */
#define WEFT__GUEST_EVENTS 4096u /* of its ring, 96 KiB; fewer where workers have fewer */

/* Owner: the pool. */
typedef struct weft__guests {
    /* shared atomic */
    weft_a64 x_inside[WEFT__GUEST_WORDS]; /* numbers in use */
    weft_aptr x_guests[WEFT__GUESTS_MAX]; /* NULL: never used */
} weft__guests;

/* Whether a guest is inside. */
bool weft__guests_are_inside(weft_job_pool *pool);
/* The guest of a number, for statistics; NULL: never used. Any thread. */
weft_job_context *weft__guest_at(const weft_job_pool *pool, uint32_t number);
/* The system's number of the one thread that was this guest, and its name; 0 and no name: there
 * were several, or it is not traced. The owner, when no guest is inside. */
uint32_t weft__guest_thread(const weft_job_pool *pool, uint32_t number, char name[16]);
void weft__guests_free(weft_job_pool *pool);
