/* SPDX-License-Identifier: MIT */
/* mailbox.h: what the HTTP thread and the owner of the world hand each other: letters (a request,
 * then its answer) and streams (what a page watches, then events). A mutex guards all of it; only
 * the question whether there is anything at all is asked without it.
 *
 *   who           letters                          streams
 *   HTTP thread   put; after `is_answered` reads    open, set what is watched, take events, close
 *   owner         takes all, answers               reads what is watched, puts events
 *
 * A letter belongs to the HTTP thread but between weft__mail_take and weft__mail_answer, when it is
 * the owner's. A stream belongs to the HTTP thread; the owner touches it under the mutex only. */
#ifndef WEFT_INSPECT_MAILBOX_H
#define WEFT_INSPECT_MAILBOX_H

#include "atomic.h"
#include "out.h"

#include <pthread.h>

enum { WEFT__STREAMS_MAX = 8, WEFT__WATCHES_MAX = 64, WEFT__BODY_MAX = 1 << 16 };

/* A request on its way. Owner: see above. */
typedef struct weft__letter {
    struct weft__letter *next;
    void *connection; /* of the HTTP thread: whom to wake */
    weft__wire body;
    weft__wire reply;
    uint64_t since_ns;
    uint32_t status;
    bool is_answered, is_taken;
} weft__letter;

/* One thing that a page watches: a request that is answered again and again, sent when the answer
 * differs. Guarded by the mutex; `hash` and `due_ns` are the owner's.
 *   event.count != 0: an answer that was not sent yet; a newer one replaces it */
typedef struct weft__watch {
    weft__wire request; /* JSON */
    weft__wire event;
    uint64_t hash;    /* of the last answer */
    uint64_t due_ns;  /* when it is answered again: the more all of them cost, the later */
    uint64_t cost_ns; /* of the last answer */
} weft__watch;

/* A page. Guarded by the mutex. */
typedef struct weft__stream {
    uint32_t number; /* 0: free */
    void *connection;
    bool is_suspended; /* waits for events */
    bool wants_beat;
    uint64_t opened_ns;
    uint32_t still_seconds; /* since the owner looked, at the last beat */
    uint32_t serial; /* of the list of watches, given by the page: events of an older one are told
                        from those of this one */
    uint32_t watch_count;
    weft__watch watches[WEFT__WATCHES_MAX];
    weft__wire sending; /* of the HTTP thread: bytes that were taken */
    size_t sent;
} weft__stream;

/* Owner: the inspector. */
typedef struct weft__mailbox {
    weft_a32 x_wanted; /* letters, streams and holds: 0, the pump returns at once */
    pthread_mutex_t lock;
    pthread_cond_t arrived; /* for an owner that waits */
    /* guarded by lock */
    weft__letter *first, **last;
    weft__stream streams[WEFT__STREAMS_MAX];
    uint32_t last_number;
    uint64_t taken_ns; /* when the owner last looked for letters: in steps while a page is open */
    bool is_closed;    /* nothing is taken any more */
    void (*wake)(void *user, void *connection); /* constant: resumes a connection; called under the
                                                   mutex */
    void *user;
} weft__mailbox;

bool weft__mailbox_init(weft__mailbox *mailbox, void (*wake)(void *user, void *connection),
                        void *user);
void weft__mailbox_fini(weft__mailbox *mailbox);
/* How many letters, streams and holds there are for the owner: one load. */
static inline uint32_t weft__mailbox_wanted(const weft__mailbox *mailbox)
{
    return at_load_rlx(&mailbox->x_wanted); /* relaxed: a hint; the mutex orders the rest */
}
/* The word that is not 0 when the owner is wanted (weft_world_hook.asks). */
static inline const uint32_t *weft__mailbox_word(const weft__mailbox *mailbox)
{
    return &at_plain(&mailbox->x_wanted);
}
/* Owner: counts itself as wanted, or no longer: it has switched something on. */
void weft__mailbox_hold(weft__mailbox *mailbox, bool is_held);

/* ---- letters ---- */

/* HTTP thread. False: closed. */
bool weft__mail_put(weft__mailbox *mailbox, weft__letter *letter);
/* Owner: the first letter; NULL: none. `now_ns` is told to pages that get no answers. */
weft__letter *weft__mail_take(weft__mailbox *mailbox, uint64_t now_ns);
/* Owner: reply and status are set; the letter is the HTTP thread's from here on. */
void weft__mail_answer(weft__mailbox *mailbox, weft__letter *letter);
/* HTTP thread: whether the answer is there. */
bool weft__mail_is_answered(weft__mailbox *mailbox, const weft__letter *letter);
/* HTTP thread: letters that the owner has not taken since `before_ns` are answered with 503. */
void weft__mail_expire(weft__mailbox *mailbox, uint64_t before_ns);
/* Owner: waits until something arrives, or until the time of the monotonic clock. */
void weft__mailbox_wait(weft__mailbox *mailbox, uint64_t until_ns);
/* Owner: answers everything with 503 and ends streams; afterwards nothing is taken. */
void weft__mailbox_close(weft__mailbox *mailbox);

void weft__letter_free(weft__letter *letter);

/* ---- streams ---- */

/* HTTP thread: the number of a new stream; 0: there are 8, or the mailbox is closed. Of 8 one whose
 * page has left, as `has_left` says, ends for the new one. */
uint32_t weft__stream_open(weft__mailbox *mailbox, void *connection,
                           bool (*has_left)(void *connection), uint64_t now_ns);
/* HTTP thread: nothing happens where the stream has ended. */
void weft__stream_close(weft__mailbox *mailbox, uint32_t number);
/* HTTP thread: up to `capacity` bytes to send; 0: nothing now, and the stream counts as suspended
 * (`suspend` was called, under the mutex); -1: the end. */
long weft__stream_take(weft__mailbox *mailbox, uint32_t number, char *out, size_t capacity,
                       void (*suspend)(void *connection));
/* HTTP thread: a comment to every page, so that the death of one is noticed; where the owner has
 * looked at nothing for some time, an event "still" with the seconds. */
void weft__streams_beat(weft__mailbox *mailbox, uint64_t now_ns);
/* What a page watches from now on. Owner: one call. */
typedef struct weft__watch_list {
    uint32_t number, serial; /* of the stream, and what events of this list are told by */
    uint32_t count;
    const char *texts[WEFT__WATCHES_MAX]; /* requests */
    size_t lengths[WEFT__WATCHES_MAX];
} weft__watch_list;

/* Owner: replaces what the page of the stream watches; all of it is due at once. False: no such
 * stream, or it has a list of a later serial: two requests come in any order. *has_failed becomes
 * true where memory was refused: it watches nothing. */
bool weft__stream_watch(weft__mailbox *mailbox, const weft__watch_list *list, bool *has_failed);

/* A watch, found again under the mutex. */
typedef struct weft__watch_place {
    uint32_t stream, index;  /* where the next search begins */
    uint32_t number, serial; /* of the stream and of its list: gone when they differ */
} weft__watch_place;

/* Owner: the next watch behind *place that is due, its request copied; false: none. */
bool weft__stream_due(weft__mailbox *mailbox, uint64_t now_ns, weft__watch_place *place,
                      weft__wire *request);
/* Owner: the answer of that watch, sent where it differs from the last one; NULL: it failed. */
/* What the last answers of all watches took, this one's being `took_ns`. */
uint64_t weft__stream_cost(weft__mailbox *mailbox, const weft__watch_place *place,
                           uint64_t took_ns);
void weft__stream_event(weft__mailbox *mailbox, const weft__watch_place *place,
                        const weft__wire *answer, uint64_t due_ns);

#endif
