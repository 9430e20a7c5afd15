/* SPDX-License-Identifier: MIT */
/* stream_crew.c: jobs of the owner for threads of a stream. The protocol and its edges (SC1 to SC7)
 * are at the top of stream_crew.h.
 *
 * Threads take pieces from a list under a lock that the owner never takes, so that a thread that
 * loses its processor there cannot hold up a frame. */
#include "stream_crew.h"
#include "invariant.h"

/* ---- the list ---- */

static void list_lock(weft__crew *crew)
{
    for (;;) {
        uint32_t free = 0;
        if (at_cas_ar(&crew->x_lock, &free, 1)) return; /* SC5 */
        at_stall();
    }
}

static void list_unlock(weft__crew *crew)
{
    at_xchg_ar(&crew->x_lock, 0); /* SC5 */
}

/* The most urgent job with a piece that can be done now: where it is linked. */
static weft__crew_job **job_choose_locked(weft__crew *crew)
{
    weft__crew_job **best = NULL;
    uint32_t most = 0;
    for (weft__crew_job **link = &crew->jobs; *link != NULL; link = &(*link)->next) {
        const weft__crew_job *job = *link;
        if (job->next_piece != 0 && !job->is_begun) continue; /* piece 0 is being done */
        uint32_t priority = at_load_rlx(&job->x_priority);    /* relaxed: a wish */
        if (best != NULL && priority <= most) continue;
        best = link;
        most = priority;
    }
    return best;
}

static weft__crew_job *piece_take(weft__crew *crew, uint32_t *piece)
{
    list_lock(crew);
    /* Jobs of the inbox go to the end of the list, in the order in which they were pushed. */
    weft__crew_job *stack = at_xchg_ar(&crew->x_inbox, NULL), *first = NULL; /* SC1 */
    for (weft__crew_job *next; stack != NULL; stack = next) {
        next = stack->next;
        stack->next = first;
        first = stack;
    }
    weft__crew_job **end = &crew->jobs;
    while (*end != NULL) end = &(*end)->next;
    *end = first;
    weft__crew_job **link = job_choose_locked(crew), *job = link == NULL ? NULL : *link;
    if (job != NULL) {
        *piece = job->next_piece++;
        if (job->next_piece == job->piece_count) *link = job->next;
    }
    list_unlock(crew);
    return job;
}

static void bell_ring(weft__crew *crew)
{
    at_add_sc(&crew->x_bell, 1u); /* SC4, SC7 */
    crew->os->futex_wake(crew->os->user, &crew->x_bell, WEFT__CREW_MOST);
}

static void piece_end(weft__crew *crew, weft__crew_job *job, uint32_t piece)
{
    if (piece == 0 && job->piece_count > 1) {
        list_lock(crew);
        job->is_begun = true;
        list_unlock(crew);
        if (crew->thread_count > 1) bell_ring(crew); /* the others' pieces can be done now */
    }
    if (at_sub_ar(&job->x_left, 1u) != 1) return; /* SC2 */
    at_store_rel(&job->x_phase, WEFT__CREW_DONE); /* SC3, SC6 */
    at_add_sc(&crew->x_ended, 1u);                /* SC6 */
    crew->os->futex_wake(crew->os->user, &crew->x_ended, 1);
}

bool weft__crew_work(weft__crew *crew, uint32_t thread)
{
    uint32_t piece = 0;
    weft__crew_job *job = piece_take(crew, &piece);
    if (job == NULL) return false;
    job->run(job, piece, thread);
    piece_end(crew, job, piece);
    return true;
}

/* ---- threads ---- */

static void thread_run(void *argument)
{
    weft__crew *crew = argument;
    list_lock(crew);
    uint32_t thread = crew->names++;
    list_unlock(crew);
    weft__os_thread_gives_way(); /* to the owner that wakes it in the middle of a frame */
    for (;;) {
        uint32_t bell = at_load_sc(&crew->x_bell);   /* SC4, SC7 */
        if (at_load_acq(&crew->x_quit) != 0) return; /* SC7 */
        if (weft__crew_work(crew, thread)) continue;
        crew->os->futex_wait(crew->os->user, &crew->x_bell, bell); /* SC4 */
    }
}

weft_result weft__crew_init(weft__crew *crew, const weft_os *os, uint32_t threads)
{
    *crew = (weft__crew){.os = os};
    for (uint32_t i = 0; i < threads; i++) {
        weft_result result =
            os->thread_start(os->user, &crew->threads[i], "weft-stream", thread_run, crew);
        if (result != WEFT_OK && i == 0) return result;
        if (result != WEFT_OK) break;
        crew->thread_count++;
    }
    return WEFT_OK;
}

void weft__crew_fini(weft__crew *crew)
{
    at_store_rel(&crew->x_quit, 1); /* SC7 */
    bell_ring(crew);
    for (uint32_t i = 0; i < crew->thread_count; i++)
        crew->os->thread_join(crew->os->user, crew->threads[i]);
    WEFT_ASSERT(crew->jobs == NULL);
    crew->thread_count = 0;
}

/* ---- owner ---- */

void weft__crew_push(weft__crew *crew, weft__crew_job *job)
{
    WEFT_ASSERT(job->piece_count != 0);
    job->next_piece = 0;
    job->is_begun = false;
    /* relaxed, all three: the CAS makes them visible, and looks again */
    at_store_rlx(&job->x_left, job->piece_count);
    at_store_rlx(&job->x_phase, WEFT__CREW_BUSY);
    void *head = at_load_rlx(&crew->x_inbox);
    do job->next = head;
    while (!at_cas_ar(&crew->x_inbox, &head, job)); /* SC1 */
    bell_ring(crew);
}

uint32_t weft__crew_ended(const weft__crew *crew)
{
    return at_load_sc(&crew->x_ended); /* SC6 */
}

void weft__crew_wait(weft__crew *crew, uint32_t seen)
{
    crew->os->futex_wait(crew->os->user, &crew->x_ended, seen); /* SC6 */
}

void weft__crew_await(weft__crew *crew, const weft__crew_job *job)
{
    while (!weft__crew_is_done(job)) {
        uint32_t seen = weft__crew_ended(crew);
        if (weft__crew_is_done(job) || weft__crew_work(crew, crew->thread_count)) continue;
        if (!weft__crew_is_done(job)) weft__crew_wait(crew, seen);
    }
}
