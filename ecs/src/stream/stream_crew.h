/* SPDX-License-Identifier: MIT */
/* stream_crew.h: the threads that read and end sections: jobs of many pieces, which the owner hands
 * over and gets back, without ever waiting for a thread unless it wants to.
 *
 * The threads are not workers of the pool: they block in the file system, and a frame must never
 * find itself doing their work. A job belongs to the owner until it is pushed, to the crew until
 * its phase is DONE, then to the owner again. A crew of 0 threads runs jobs in the calls of the
 * owner.
 *
 * Edges:
 * SC1  push: job filled, CAS of x_inbox      ->  take: exchange of x_inbox, job read
 * SC2  piece: its writes, sub of x_left      ->  sub of x_left by the thread that ends the last
 * SC3  end: x_phase = DONE (release)         ->  owner: load of x_phase (acquire), results used
 * SC4  sleep: load of x_bell, look for work, futex wait while it is the same
 *                                           <->  push: CAS of x_inbox, add of x_bell, futex wake
 * SC5  lock of the list: CAS of x_lock to 1 <->  unlock: exchange to 0. Among the threads only
 * SC6  owner waits: load of x_ended, phases, futex wait while it is the same
 *                                           <->  end: x_phase = DONE, add of x_ended, futex wake
 * SC7  quit: x_quit set, add of x_bell       ->  thread: load of x_bell, load of x_quit */
#pragma once

#include "os.h"

#define WEFT__CREW_MOST 16u

typedef enum weft__crew_phase {
    WEFT__CREW_IDLE, /* the owner's */
    WEFT__CREW_BUSY, /* the crew's */
    WEFT__CREW_DONE, /* the owner's again */
} weft__crew_phase;

/* A job: `run` is called once for each piece 0..piece_count-1; piece 0 before, and apart from, the
 * others. Owner and threads as above; part of what the work is about. Always, while it is BUSY:
 * x_left = pieces that have not ended. */
typedef struct weft__crew_job {
    /* constant while it is BUSY */
    void (*run)(struct weft__crew_job *job, uint32_t piece, uint32_t thread);
    uint32_t piece_count; /* at least 1 */
    /* shared atomic */
    weft_a32 x_phase;
    weft_a32 x_left;
    weft_a32 x_cancelled; /* a hint: pieces may end at once */
    weft_a32 x_priority;  /* higher first; may change at any time */
    /* of the inbox, then guarded by the lock */
    struct weft__crew_job *next;
    uint32_t next_piece;
    bool is_begun; /* piece 0 has ended */
} weft__crew_job;

/* Owner: the streams of a world. */
typedef struct weft__crew {
    /* constant after init */
    const weft_os *os;
    uint32_t thread_count;
    weft__os_thread threads[WEFT__CREW_MOST];
    /* shared atomic */
    weft_aptr x_inbox; /* pushed jobs, a stack */
    weft_a32 x_bell, x_ended, x_quit;
    weft_a32 x_lock; /* 0 free, 1 held */
    /* guarded by the lock */
    weft__crew_job *jobs; /* with pieces that no thread has taken, in order of pushing */
    uint32_t names;       /* numbers of threads given so far */
} weft__crew;

/* Starts the threads; fewer when the system refuses, but one at least. Errors: THREAD_FAILED,
 * OUT_OF_MEMORY. */
weft_result weft__crew_init(weft__crew *crew, const weft_os *os, uint32_t threads);
/* Ends the threads; all jobs are the owner's. */
void weft__crew_fini(weft__crew *crew);
/* Hands a job over. Owner. */
void weft__crew_push(weft__crew *crew, weft__crew_job *job);
/* Whether a job is the owner's again. Owner. */
static inline bool weft__crew_is_done(const weft__crew_job *job)
{
    return at_load_acq(&job->x_phase) == WEFT__CREW_DONE; /* SC3 */
}
/* How many jobs ended so far: what weft__crew_wait waits to change. Owner. */
uint32_t weft__crew_ended(const weft__crew *crew);
/* Waits until the number differs from `seen`. Owner. */
void weft__crew_wait(weft__crew *crew, uint32_t seen);
/* Works, or waits, until a job is done. Owner. */
void weft__crew_await(weft__crew *crew, const weft__crew_job *job);
/* One piece of work, if there is any: what a thread of the crew does. */
bool weft__crew_work(weft__crew *crew, uint32_t thread);
