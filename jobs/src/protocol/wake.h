/* SPDX-License-Identifier: MIT */
/* wake.h: how workers go to sleep and are woken. Nothing polls: an idle pool makes no system call.
 *
 * Every worker has a futex word (its token). A worker that finds nothing for its spin budget
 * announces itself in the sleeper bitmap, leaves the searching count, looks once more, and sleeps
 * until a waker takes its bit out of the bitmap and sets its token. A publisher of work wakes
 * one sleeper, unless a worker is searching already: a searcher that finds work and was the last
 * one passes the wake-up on, so wake-ups spread as a tree while there is work (the rule of the Go
 * and tokio schedulers). A worker that waits for one event (its child, its loop) is not in the
 * bitmap: the thread that makes the event happen sets its token directly.
 *
 *   who            announce, retract, sleep    notify, wake_one_of
 *   worker w       for itself                  yes
 *   others         never                       yes
 *
 * Edges:
 *   W1  publisher: sc store of work     <-> sleeper: sc look for work after announcing
 *   W2  sleeper: sc or of its bit       <-> publisher: sc load of the bitmap after publishing
 *   W3  searcher: sc sub of searching   <-> publisher: sc load of searching
 *   W4  taker of a bit: sc and of the bitmap -> the one and only waker of that sleep
 *   W5  waker: release of the token, futex wake -> sleeper: acquire of the token
 *   W6  wake all: exchange of the bitmap <-> sleeper: or of its bit (W2): both change one word, so
 *       the later of the two sees what was written before the earlier: the bit is taken, or the
 *       last look sees the reason of the call
 * Lost wake-up is impossible: either the publisher sees the searcher (who looks after W3), or sees
 * the bit (and wakes), or neither, and then the sleeper's last look (W1) sees the work. */
#pragma once

#include "cpus.h"
#include "os.h"

#define WEFT__WAKE_WORDS ((WEFT__WORKERS_MAX + 63u) / 64u)

/* The token of a worker, or of a guest (guest.h). Set by the one waker, cleared by its owner. */
typedef struct weft__wake_token {
    _Alignas(64) weft_a32 x_set;
} weft__wake_token;

/* Owner: the pool. Invariants: a bit of x_sleepers is set by its worker only, and cleared once,
 * by that worker or by the one that wakes it; x_searching <= workers. */
typedef struct weft__wake {
    /* constant after init */
    const weft_os *os;
    weft__wake_token *tokens; /* [worker_count] */
    uint32_t worker_count;
    uint32_t word_count;   /* words of the bitmap in use */
    uint32_t search_limit; /* most workers that search at once; half of them after init */
    /* shared atomic; read on every publish, written when a worker sleeps or wakes */
    _Alignas(64) weft_a64 x_sleepers[WEFT__WAKE_WORDS];
    weft_a32 x_searching;
} weft__wake;

void weft__wake_init(weft__wake *wake, const weft_os *os, weft__wake_token *tokens,
                     uint32_t worker_count);

/* Counts the caller as searching, unless the limit is reached; false then. */
bool weft__wake_begin_search(weft__wake *wake);
/* Ends it; true when the caller was the last searcher: if it found work it looks for more and
 * notifies. */
bool weft__wake_end_search(weft__wake *wake);

/* Sleeps until woken, unless `has_work` says there is something after the announcement. Call with
 * `is_searching` as begin_search returned; on return the caller is searching in any case. True if
 * it slept. */
bool weft__wake_sleep(weft__wake *wake, uint32_t worker, bool is_searching,
                      bool (*has_work)(void *), void *argument);

/* Wakes one sleeper if no worker searches; true if it did. `near` is the preferred worker; with
 * `for_host` the work is none for worker 0 (guest.h), which is left asleep. */
bool weft__wake_notify_slow(weft__wake *wake, uint32_t near, bool for_host);
/* Wakes this worker if it sleeps in weft__wake_sleep. */
bool weft__wake_one(weft__wake *wake, uint32_t worker);
/* Wakes one sleeper, at or after `near` if there is one; false when none sleeps. `for_host`: as
 * above. */
bool weft__wake_next(weft__wake *wake, uint32_t near, bool for_host);
/* A moment old. */
uint32_t weft__wake_sleeper_count(weft__wake *wake);
/* Wakes every sleeper. Whatever the caller wrote before, in any order, a worker that is woken sees,
 * and so does one that announces itself later (W6). */
void weft__wake_all(weft__wake *wake);

/* Sleeps on the own token until weft__wake_token_set: for one awaited event. */
void weft__wake_token_wait(weft__wake *wake, weft__wake_token *token);
void weft__wake_token_set(weft__wake *wake, weft__wake_token *token);

/* Whether no worker sleeps; a hint unless the caller published with an sc operation before (W2). */
static inline bool weft__wake_is_awake(weft__wake *wake)
{
    uint64_t sleepers = at_load_sc(&wake->x_sleepers[0]); /* W2 */
    for (uint32_t i = 1; i < wake->word_count; i++)
        sleepers |= at_load_sc(&wake->x_sleepers[i]); /* W2 */
    return sleepers == 0;
}

/* After publishing work (edge W1). One load when all workers are awake. */
static inline bool weft__wake_notify(weft__wake *wake, uint32_t near)
{
    if (__builtin_expect(weft__wake_is_awake(wake), 1)) return false;
    return weft__wake_notify_slow(wake, near, false);
}
