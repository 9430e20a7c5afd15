/* SPDX-License-Identifier: MIT */
/* mailbox.c: letters and streams, under one mutex that is never held for longer than a copy takes.
 */
#include "mailbox.h"

#include "hash.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

bool weft__mailbox_init(weft__mailbox *mailbox, void (*wake)(void *user, void *connection),
                        void *user)
{
    pthread_condattr_t monotonic;
    memset(mailbox, 0, sizeof *mailbox);
    mailbox->last = &mailbox->first;
    mailbox->wake = wake;
    mailbox->user = user;
    if (pthread_mutex_init(&mailbox->lock, NULL) != 0) return false;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    bool is_made = pthread_cond_init(&mailbox->arrived, &monotonic) == 0;
    pthread_condattr_destroy(&monotonic);
    if (!is_made) pthread_mutex_destroy(&mailbox->lock);
    return is_made;
}

static void stream_clear(weft__stream *stream)
{
    for (uint32_t i = 0; i < WEFT__WATCHES_MAX; i++) {
        weft__wire_free(&stream->watches[i].request);
        weft__wire_free(&stream->watches[i].event);
    }
    weft__wire_free(&stream->sending);
    *stream = (weft__stream){0};
}

void weft__mailbox_fini(weft__mailbox *mailbox)
{
    for (uint32_t i = 0; i < WEFT__STREAMS_MAX; i++) stream_clear(&mailbox->streams[i]);
    pthread_cond_destroy(&mailbox->arrived);
    pthread_mutex_destroy(&mailbox->lock);
}

/* ---- letters ---- */

static void want(weft__mailbox *mailbox, uint32_t more)
{
    at_add_rlx(&mailbox->x_wanted, more); /* relaxed: a hint; the mutex orders the rest */
}

void weft__mailbox_hold(weft__mailbox *mailbox, bool is_held)
{
    want(mailbox, is_held ? 1 : UINT32_MAX);
}

bool weft__mail_put(weft__mailbox *mailbox, weft__letter *letter)
{
    pthread_mutex_lock(&mailbox->lock);
    bool is_open = !mailbox->is_closed;
    if (is_open) {
        letter->next = NULL;
        *mailbox->last = letter;
        mailbox->last = &letter->next;
        want(mailbox, 1);
        pthread_cond_signal(&mailbox->arrived);
    }
    pthread_mutex_unlock(&mailbox->lock);
    return is_open;
}

/* Under the mutex. */
static weft__letter *unlink_first(weft__mailbox *mailbox)
{
    weft__letter *letter = mailbox->first;
    if (letter == NULL) return NULL;
    mailbox->first = letter->next;
    if (mailbox->first == NULL) mailbox->last = &mailbox->first;
    letter->is_taken = true;
    return letter;
}

weft__letter *weft__mail_take(weft__mailbox *mailbox, uint64_t now_ns)
{
    pthread_mutex_lock(&mailbox->lock);
    mailbox->taken_ns = now_ns;
    weft__letter *letter = unlink_first(mailbox);
    pthread_mutex_unlock(&mailbox->lock);
    return letter;
}

/* Under the mutex. */
static void answer(weft__mailbox *mailbox, weft__letter *letter)
{
    letter->is_answered = true;
    want(mailbox, UINT32_MAX); /* one less */
    mailbox->wake(mailbox->user, letter->connection);
}

void weft__mail_answer(weft__mailbox *mailbox, weft__letter *letter)
{
    pthread_mutex_lock(&mailbox->lock);
    answer(mailbox, letter);
    pthread_mutex_unlock(&mailbox->lock);
}

bool weft__mail_is_answered(weft__mailbox *mailbox, const weft__letter *letter)
{
    pthread_mutex_lock(&mailbox->lock);
    bool is_answered = letter->is_answered;
    pthread_mutex_unlock(&mailbox->lock);
    return is_answered;
}

static void refuse(weft__mailbox *mailbox, weft__letter *letter, const char *why)
{
    weft__wire_clear(&letter->reply);
    weft__wire_open(&letter->reply, NULL, '{');
    weft__wire_text(&letter->reply, "error", why);
    weft__wire_close(&letter->reply, '}');
    letter->status = 503;
    answer(mailbox, letter);
}

void weft__mail_expire(weft__mailbox *mailbox, uint64_t before_ns)
{
    pthread_mutex_lock(&mailbox->lock);
    while (mailbox->first != NULL && mailbox->first->since_ns < before_ns)
        refuse(mailbox, unlink_first(mailbox),
               "the world has not stepped for 5 s: its program is busy, or waits");
    pthread_mutex_unlock(&mailbox->lock);
}

void weft__mailbox_wait(weft__mailbox *mailbox, uint64_t until_ns)
{
    struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000u),
                             .tv_nsec = (long)(until_ns % 1000000000u)};
    pthread_mutex_lock(&mailbox->lock);
    if (mailbox->first == NULL && !mailbox->is_closed)
        pthread_cond_timedwait(&mailbox->arrived, &mailbox->lock, &until);
    pthread_mutex_unlock(&mailbox->lock);
}

void weft__mailbox_close(weft__mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    mailbox->is_closed = true;
    for (weft__letter *letter; (letter = unlink_first(mailbox)) != NULL;)
        refuse(mailbox, letter, "the inspector has stopped");
    for (uint32_t i = 0; i < WEFT__STREAMS_MAX; i++) {
        weft__stream *stream = &mailbox->streams[i];
        if (stream->number == 0 || !stream->is_suspended) continue;
        stream->is_suspended = false;
        mailbox->wake(mailbox->user, stream->connection);
    }
    pthread_mutex_unlock(&mailbox->lock);
}

void weft__letter_free(weft__letter *letter)
{
    if (letter == NULL) return;
    weft__wire_free(&letter->body);
    weft__wire_free(&letter->reply);
    free(letter);
}

/* ---- streams ---- */

/* Under the mutex; NULL: none has this number. */
static weft__stream *find_stream(weft__mailbox *mailbox, uint32_t number)
{
    for (uint32_t i = 0; i < WEFT__STREAMS_MAX; i++)
        if (mailbox->streams[i].number == number) return &mailbox->streams[i];
    return NULL;
}

/* Under the mutex. */
static void stream_wake(weft__mailbox *mailbox, weft__stream *stream)
{
    if (!stream->is_suspended) return;
    stream->is_suspended = false;
    mailbox->wake(mailbox->user, stream->connection);
}

/* Under the mutex. */
static void stream_end(weft__mailbox *mailbox, weft__stream *stream)
{
    stream_clear(stream);
    want(mailbox, UINT32_MAX); /* one less */
}

/* Under the mutex: ends a stream whose page has left; NULL: all are there. A beat would find it,
 * too, but only after seconds: the first write to a closed connection succeeds. */
static weft__stream *end_dead(weft__mailbox *mailbox, bool (*has_left)(void *connection))
{
    for (uint32_t i = 0; i < WEFT__STREAMS_MAX; i++) {
        weft__stream *stream = &mailbox->streams[i];
        if (!has_left(stream->connection)) continue;
        stream_wake(mailbox, stream); /* its connection asks for more, and is told the end */
        stream_end(mailbox, stream);
        return stream;
    }
    return NULL;
}

uint32_t weft__stream_open(weft__mailbox *mailbox, void *connection,
                           bool (*has_left)(void *connection), uint64_t now_ns)
{
    uint32_t number = 0;
    pthread_mutex_lock(&mailbox->lock);
    weft__stream *found = mailbox->is_closed ? NULL : find_stream(mailbox, 0);
    if (found == NULL && !mailbox->is_closed) found = end_dead(mailbox, has_left);
    if (found != NULL)
        weft__wire_format(&found->sending, "event: open\ndata: {\"stream\":%u}\n\n",
                          mailbox->last_number + 1);
    if (found != NULL && found->sending.has_failed)
        stream_clear(found);
    else if (found != NULL) {
        number = found->number = ++mailbox->last_number;
        found->opened_ns = now_ns;
        found->connection = connection;
        want(mailbox, 1);
    }
    pthread_mutex_unlock(&mailbox->lock);
    return number;
}

void weft__stream_close(weft__mailbox *mailbox, uint32_t number)
{
    pthread_mutex_lock(&mailbox->lock);
    weft__stream *stream = find_stream(mailbox, number);
    if (stream != NULL) stream_end(mailbox, stream);
    pthread_mutex_unlock(&mailbox->lock);
}

/* Under the mutex: the next thing to send. */
static void gather_events(weft__stream *stream)
{
    weft__wire_clear(&stream->sending);
    stream->sent = 0;
    for (uint32_t i = 0; i < stream->watch_count; i++) {
        weft__wire *event = &stream->watches[i].event;
        if (event->count == 0) continue;
        weft__wire_format(&stream->sending, "event: %u.%u\ndata: ", stream->serial, i);
        weft__wire_raw(&stream->sending, event->bytes, event->count);
        weft__wire_raw(&stream->sending, "\n\n", 2);
    }
    if (stream->sending.has_failed) { /* the events stay for the next time: at a beat */
        stream->sending.count = 0;
        return;
    }
    for (uint32_t i = 0; i < stream->watch_count; i++) weft__wire_clear(&stream->watches[i].event);
    if (stream->sending.count == 0 && stream->wants_beat && stream->still_seconds != 0)
        weft__wire_format(&stream->sending, "event: still\ndata: {\"seconds\":%u}\n\n",
                          stream->still_seconds);
    else if (stream->sending.count == 0 && stream->wants_beat)
        weft__wire_raw(&stream->sending, ":\n\n", 3);
    stream->wants_beat = false;
}

/* Under the mutex. */
static long take_some(weft__stream *stream, char *out, size_t capacity,
                      void (*suspend)(void *connection))
{
    if (stream->sent == stream->sending.count) gather_events(stream);
    size_t left = stream->sending.count - stream->sent;
    size_t count = left < capacity ? left : capacity;
    if (count == 0) {
        stream->is_suspended = true;
        suspend(stream->connection);
        return 0;
    }
    memcpy(out, stream->sending.bytes + stream->sent, count);
    stream->sent += count;
    return (long)count;
}

long weft__stream_take(weft__mailbox *mailbox, uint32_t number, char *out, size_t capacity,
                       void (*suspend)(void *connection))
{
    pthread_mutex_lock(&mailbox->lock);
    weft__stream *stream = mailbox->is_closed ? NULL : find_stream(mailbox, number);
    long result = stream == NULL ? -1 : take_some(stream, out, capacity, suspend);
    pthread_mutex_unlock(&mailbox->lock);
    return result;
}

void weft__streams_beat(weft__mailbox *mailbox, uint64_t now_ns)
{
    pthread_mutex_lock(&mailbox->lock);
    for (uint32_t i = 0; i < WEFT__STREAMS_MAX; i++) {
        weft__stream *stream = &mailbox->streams[i];
        if (stream->number == 0) continue;
        uint64_t looked_ns = /* the owner looks only where a page is open */
            mailbox->taken_ns > stream->opened_ns ? mailbox->taken_ns : stream->opened_ns;
        stream->still_seconds =
            now_ns > looked_ns ? (uint32_t)((now_ns - looked_ns) / 1000000000u) : 0;
        stream->wants_beat = true;
        stream_wake(mailbox, stream);
    }
    pthread_mutex_unlock(&mailbox->lock);
}

bool weft__stream_watch(weft__mailbox *mailbox, const weft__watch_list *list, bool *has_failed)
{
    if (list->count > WEFT__WATCHES_MAX || list->number == 0) return false;
    pthread_mutex_lock(&mailbox->lock);
    weft__stream *found = find_stream(mailbox, list->number);
    if (found != NULL && list->serial < found->serial) found = NULL; /* a later one came first */
    for (uint32_t i = 0; found != NULL && i < list->count; i++) {
        weft__watch *watch = &found->watches[i];
        weft__wire_clear(&watch->request);
        weft__wire_clear(&watch->event);
        weft__wire_raw(&watch->request, list->texts[i], list->lengths[i]);
        *has_failed |= watch->request.has_failed;
        watch->hash = watch->due_ns = watch->cost_ns = 0;
    }
    if (found != NULL) found->watch_count = *has_failed ? 0 : list->count;
    if (found != NULL) found->serial = list->serial;
    pthread_mutex_unlock(&mailbox->lock);
    return found != NULL;
}

/* Under the mutex. Goes on to the next watch that there is, or to the next place for a stream. */
static weft__watch *next_watch(weft__mailbox *mailbox, weft__watch_place *place)
{
    weft__stream *stream = &mailbox->streams[place->stream];
    if (stream->number == 0 || ++place->index >= stream->watch_count) {
        place->stream = (place->stream + 1) % WEFT__STREAMS_MAX;
        place->index = UINT32_MAX; /* one before the first */
        return NULL;
    }
    place->number = stream->number;
    place->serial = stream->serial;
    return &stream->watches[place->index];
}

bool weft__stream_due(weft__mailbox *mailbox, uint64_t now_ns, weft__watch_place *place,
                      weft__wire *request)
{
    const weft__watch *due = NULL;
    pthread_mutex_lock(&mailbox->lock);
    for (uint32_t streams = 0; due == NULL && streams <= WEFT__STREAMS_MAX;) {
        const weft__watch *watch = next_watch(mailbox, place);
        if (watch == NULL)
            streams++;
        else if (watch->due_ns <= now_ns)
            due = watch;
    }
    weft__wire_clear(request);
    if (due != NULL) weft__wire_raw(request, due->request.bytes, due->request.count);
    pthread_mutex_unlock(&mailbox->lock);
    return due != NULL && !request->has_failed; /* it stays due */
}

/* Under the mutex: the watch is the one that was asked for. */
static bool is_there(const weft__mailbox *mailbox, const weft__watch_place *place)
{
    const weft__stream *stream = &mailbox->streams[place->stream];
    return stream->number == place->number && stream->serial == place->serial &&
           place->index < stream->watch_count;
}

uint64_t weft__stream_cost(weft__mailbox *mailbox, const weft__watch_place *place, uint64_t took_ns)
{
    uint64_t sum = 0;
    pthread_mutex_lock(&mailbox->lock);
    if (is_there(mailbox, place))
        mailbox->streams[place->stream].watches[place->index].cost_ns = took_ns;
    for (uint32_t i = 0; i < WEFT__STREAMS_MAX; i++)
        for (uint32_t j = 0; j < mailbox->streams[i].watch_count; j++)
            sum += mailbox->streams[i].watches[j].cost_ns;
    pthread_mutex_unlock(&mailbox->lock);
    return sum;
}

void weft__stream_event(weft__mailbox *mailbox, const weft__watch_place *place,
                        const weft__wire *answer, uint64_t due_ns)
{
    uint64_t hash = answer == NULL ? 0 : hash_bytes(1, answer->bytes, answer->count) | 1;
    pthread_mutex_lock(&mailbox->lock);
    weft__stream *stream = &mailbox->streams[place->stream];
    weft__watch *watch = &stream->watches[place->index];
    if (!is_there(mailbox, place)) answer = NULL;
    if (is_there(mailbox, place)) watch->due_ns = due_ns;
    if (answer != NULL && watch->hash != hash) {
        weft__wire_clear(&watch->event);
        weft__wire_raw(&watch->event, answer->bytes, answer->count);
        watch->hash = watch->event.has_failed ? 0 : hash; /* the next answer is another try */
        stream_wake(mailbox, stream);
    }
    pthread_mutex_unlock(&mailbox->lock);
}
