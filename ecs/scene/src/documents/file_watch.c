/* SPDX-License-Identifier: MIT */
/* file_watch.c: events of the directories of the files, and looks beside them.
 *
 * A writer that pauses leaves half a file behind, which is a good one when it pauses between two
 * records. So a file that was written to is left alone until it is closed; a writer that keeps it
 * open without writing is waited for WEFT__FILE_OPEN_NS. */
#include "file_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#define GONE_MS 5
#define LOOK_MS 200
#define RESTED_LOOKS 2 /* after the one that saw the change */

/* What events tell of the files of the scene. */
typedef enum news {
    NEWS_NONE,
    NEWS_GONE,
    NEWS_WRITTEN,
} news;

bool weft__file_watch_open(weft__file_watch *watch)
{
    *watch = WEFT__FILE_WATCH_CLOSED;
    watch->events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    watch->quit = eventfd(0, EFD_CLOEXEC);
    if (watch->events >= 0 && watch->quit >= 0) return true;
    weft__file_watch_close(watch);
    return false;
}

void weft__file_watch_close(weft__file_watch *watch)
{
    if (watch->events >= 0) close(watch->events);
    if (watch->quit >= 0) close(watch->quit);
    *watch = WEFT__FILE_WATCH_CLOSED;
}

void weft__file_watch_quit(weft__file_watch *watch)
{
    const uint64_t one = 1;
    while (write(watch->quit, &one, sizeof one) != (ssize_t)sizeof one) {
    }
}

/* No lease of reading is given on a file that is open for writing. A writer that comes just now is
 * let in at once by the close, and told of by a signal that is ignored where nothing else is said.
 * A file of another user, or of no disk, counts as closed. */
static bool has_writer(const char *path)
{
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return false;
    bool is_written = fcntl(file, F_SETSIG, SIGURG) == 0 && fcntl(file, F_SETLEASE, F_RDLCK) != 0 &&
                      errno == EAGAIN;
    close(file);
    return is_written;
}

bool weft__files_have_writer(const weft__files *files)
{
    for (const weft__scene_file *file = files->first; file != NULL; file = file->next)
        if (has_writer(file->path)) return true;
    return false;
}

/* The same directory twice is one watch. */
static void directory_watch(const weft__file_watch *watch, const char *path)
{
    const uint32_t events = IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE;
    char directory[WEFT__PATH_BYTES];
    const char *slash = strrchr(path, '/');
    size_t bytes = slash == NULL ? 0 : (size_t)(slash - path);
    if (bytes >= sizeof directory) return;
    memcpy(directory, path, bytes);
    directory[bytes] = '\0';
    inotify_add_watch(watch->events, slash == NULL ? "." : bytes == 0 ? "/" : directory, events);
}

void weft__file_watch_follow(weft__file_watch *watch, weft__files *files)
{
    for (const weft__scene_file *file = files->first; file != NULL; file = file->next)
        directory_watch(watch, file->path);
    watch->seen = weft__files_stamp(files);
    watch->rested = 0;
}

/* An event tells of a file of this name, in whatever directory. */
static news event_take(weft__files *files, const struct inotify_event *event)
{
    bool is_open = (event->mask & IN_MODIFY) != 0, is_ours = false;
    for (weft__scene_file *file = files->first; file != NULL; file = file->next) {
        const char *slash = strrchr(file->path, '/');
        if (strcmp(slash == NULL ? file->path : slash + 1, event->name) != 0) continue;
        is_ours = true;
        file->open_ns = is_open ? weft__scene_now() : 0;
    }
    if (!is_ours || is_open) return NEWS_NONE;
    return (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0 ? NEWS_WRITTEN : NEWS_GONE;
}

/* Reads events away. An overrun queue may have lost any. */
static news events_drain(const weft__file_watch *watch, weft__files *files)
{
    _Alignas(struct inotify_event) char events[8192];
    news found = NEWS_NONE;
    for (ssize_t got; (got = read(watch->events, events, sizeof events)) > 0;) {
        const struct inotify_event *event;
        for (ssize_t at = 0; at < got; at += (ssize_t)(sizeof *event + event->len)) {
            event = (const struct inotify_event *)(void *)(events + at);
            news is = event->len == 0 ? NEWS_NONE : event_take(files, event);
            if ((event->mask & IN_Q_OVERFLOW) != 0) is = NEWS_WRITTEN;
            if (is > found) found = is;
        }
    }
    return found;
}

/* Whether one of the files is being written. */
static bool is_open(const weft__files *files)
{
    uint64_t now = weft__scene_now();
    for (const weft__scene_file *file = files->first; file != NULL; file = file->next)
        if (file->open_ns != 0 && now - file->open_ns < WEFT__FILE_OPEN_NS) return true;
    return false;
}

/* Waits up to `ms` for an event or the end. */
static bool event_await(weft__file_watch *watch, int ms)
{
    struct pollfd wait[2] = {{watch->events, POLLIN, 0}, {watch->quit, POLLIN, 0}};
    int got = poll(wait, 2, ms);
    watch->is_over = got > 0 && wait[1].revents != 0;
    return got > 0 && wait[0].revents != 0;
}

/* Waits for the end of what came with the first events. */
static void quiet_await(weft__file_watch *watch, weft__files *files, news found, int quiet_ms)
{
    while (!watch->is_over) {
        int ms = found == NEWS_GONE && quiet_ms < GONE_MS ? GONE_MS : quiet_ms;
        if (ms == 0 || !event_await(watch, ms)) return;
        news more = events_drain(watch, files);
        if (more == NEWS_WRITTEN) found = more;
    }
}

static weft__file_news look(weft__file_watch *watch, weft__files *files)
{
    const uint64_t last = watch->seen;
    watch->seen = weft__files_stamp(files);
    watch->rested = watch->seen == last ? watch->rested + 1 : 0;
    return watch->rested < RESTED_LOOKS ? WEFT__FILES_UNKNOWN : WEFT__FILES_REST;
}

weft__file_news weft__file_watch_wait(weft__file_watch *watch, weft__files *files, uint32_t most_ms,
                                      uint32_t quiet_ms)
{
    bool has_events = event_await(watch, most_ms < LOOK_MS ? (int)most_ms : LOOK_MS);
    watch->wake_ns = weft__scene_now();
    news found = watch->is_over ? NEWS_NONE : events_drain(watch, files);
    if (found != NEWS_NONE) quiet_await(watch, files, found, (int)quiet_ms);
    if (watch->is_over || is_open(files)) return WEFT__FILES_UNKNOWN;
    if (found == NEWS_NONE && has_events) return WEFT__FILES_UNKNOWN; /* of other files */
    return found != NEWS_NONE ? WEFT__FILES_CHANGED : look(watch, files);
}
