/* SPDX-License-Identifier: MIT */
/* live_watch.c: watching by inotify: CLOSE_WRITE and MOVED_TO on the directories of all files, so
 * that editors may write in place or rename over; both are acted on at once. A file that is gone
 * mostly comes again: it is given a moment. A file that is written in two halves is baked when it
 * is closed the second time; until then objects keep what they were. Directories are watched again
 * after each bake: documents may use other files then. Some file systems tell nothing, so the
 * thread also looks from time to time; a file that it finds changed must have rested since the look
 * before, for its writer may be in the middle of it. See live_watch.h. */
#include "live_watch.h"

#include "live_bake.h"
#include "scene_state.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#define GONE_MS 5
#define LOOK_MS 200

/* What events tell of the files of the scene. */
typedef enum news {
    NEWS_NONE,
    NEWS_GONE,
    NEWS_WRITTEN,
} news;

/* Watches the directory of every file of the last bake. The same directory twice is one watch. */
static void directories_watch(weft_live *live)
{
    const uint32_t events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE;
    for (const weft__scene_file *file = live->scene->files.first; file != NULL; file = file->next) {
        char directory[WEFT__PATH_BYTES];
        const char *slash = strrchr(file->path, '/');
        size_t bytes = slash == NULL ? 0 : (size_t)(slash - file->path);
        if (bytes >= sizeof directory) continue;
        memcpy(directory, file->path, bytes);
        directory[bytes] = '\0';
        inotify_add_watch(live->watch, slash == NULL ? "." : bytes == 0 ? "/" : directory, events);
    }
}

/* Whether a file of the scene has this name, in whatever directory. */
static bool is_ours(const weft_live *live, const char *name)
{
    for (const weft__scene_file *file = live->scene->files.first; file != NULL; file = file->next) {
        const char *slash = strrchr(file->path, '/');
        if (strcmp(slash == NULL ? file->path : slash + 1, name) == 0) return true;
    }
    return false;
}

/* Reads events away. An overrun queue may have lost any. */
static news events_drain(const weft_live *live)
{
    _Alignas(struct inotify_event) char events[8192];
    news found = NEWS_NONE;
    for (ssize_t got; (got = read(live->watch, events, sizeof events)) > 0;) {
        const struct inotify_event *event;
        for (ssize_t at = 0; at < got; at += (ssize_t)(sizeof *event + event->len)) {
            event = (const struct inotify_event *)(void *)(events + at);
            if ((event->mask & IN_Q_OVERFLOW) != 0) found = NEWS_WRITTEN;
            if (event->len == 0 || !is_ours(live, event->name)) continue;
            bool is_written = (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0;
            if (is_written || found == NEWS_NONE) found = is_written ? NEWS_WRITTEN : NEWS_GONE;
        }
    }
    return found;
}

/* Waits up to `ms` for a change or the end. Returns what poll tells of the watch. */
static bool change_await(const weft_live *live, int ms, bool *is_over)
{
    struct pollfd wait[2] = {{live->watch, POLLIN, 0}, {live->quit, POLLIN, 0}};
    int got = poll(wait, 2, ms);
    *is_over = got > 0 && wait[1].revents != 0;
    return got > 0 && wait[0].revents != 0;
}

/* Waits for the end of what came with the first events. */
static void quiet_await(const weft_live *live, news found, bool *is_over)
{
    int quiet = (int)live->desc.debounce_ms;
    while (!*is_over) {
        int ms = found == NEWS_GONE && quiet < GONE_MS ? GONE_MS : quiet;
        if (ms == 0 || !change_await(live, ms, is_over)) return;
        news more = events_drain(live);
        if (more == NEWS_WRITTEN) found = more;
    }
}

/* A look without news: true, when files have changed and rest, or the last bake had no memory. */
static bool is_changed_at_rest(const weft_live *live, uint64_t *seen)
{
    uint64_t last = *seen;
    *seen = weft__files_stamp(&live->scene->files);
    return live->is_torn || (*seen == last && weft_scene_is_stale(live->scene));
}

static void *watch_run(void *argument)
{
    weft_live *live = argument;
    bool is_over = false;
    uint64_t seen = weft__files_stamp(&live->scene->files);
    while (!is_over) {
        bool has_news = change_await(live, LOOK_MS, &is_over);
        uint64_t wake_ns = weft__live_now();
        news found = is_over ? NEWS_NONE : events_drain(live);
        if (found != NEWS_NONE) quiet_await(live, found, &is_over);
        if (is_over) break;
        if (found == NEWS_NONE && (has_news || !is_changed_at_rest(live, &seen))) continue;
        weft__live_bake(live, wake_ns); /* without memory: the next look tries again */
        directories_watch(live);
        seen = weft__files_stamp(&live->scene->files);
    }
    return NULL;
}

weft_result weft__live_watch_start(weft_live *live)
{
    live->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    live->quit = eventfd(0, EFD_CLOEXEC);
    if (live->watch < 0 || live->quit < 0) return WEFT_THREAD_FAILED;
    directories_watch(live);
    live->has_thread = pthread_create(&live->thread, NULL, watch_run, live) == 0;
    return live->has_thread ? WEFT_OK : WEFT_THREAD_FAILED;
}

void weft__live_watch_stop(weft_live *live)
{
    const uint64_t one = 1;
    if (live->has_thread) {
        while (write(live->quit, &one, sizeof one) != (ssize_t)sizeof one) {
        }
        pthread_join(live->thread, NULL);
    }
    if (live->watch >= 0) close(live->watch);
    if (live->quit >= 0) close(live->quit);
    live->has_thread = false;
}
