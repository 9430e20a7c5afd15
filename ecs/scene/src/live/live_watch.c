/* SPDX-License-Identifier: MIT */
/* live_watch.c: watching by inotify: CLOSE_WRITE and MOVED_TO on the directories of all files, so
 * that editors may write in place or rename over. A file that is written in two halves is baked
 * when it is closed the second time; until then objects keep what they were. Directories are
 * watched again after each bake: documents may use other files then. See live_watch.h. */
#include "live_watch.h"

#include "live_bake.h"
#include "scene_state.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#define QUIET_MS 2
#define LOOK_MS 200 /* some file systems tell nothing */

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

/* Reads events away; true: there were some. */
static bool events_drain(weft_live *live)
{
    _Alignas(struct inotify_event) char events[4096];
    bool had_any = false;
    while (read(live->watch, events, sizeof events) > 0) had_any = true;
    return had_any;
}

/* Waits up to `ms` for a change or the end. Returns what poll tells of the watch. */
static bool change_await(const weft_live *live, int ms, bool *is_over)
{
    struct pollfd wait[2] = {{live->watch, POLLIN, 0}, {live->quit, POLLIN, 0}};
    int got = poll(wait, 2, ms);
    *is_over = got > 0 && wait[1].revents != 0;
    return got > 0 && wait[0].revents != 0;
}

static void *watch_run(void *argument)
{
    weft_live *live = argument;
    bool is_over = false;
    int quiet = live->desc.debounce_ms == 0 ? QUIET_MS : (int)live->desc.debounce_ms;
    while (!is_over) {
        change_await(live, LOOK_MS, &is_over);
        if (is_over) break;
        uint64_t wake_ns = weft__live_now();
        while (events_drain(live) && change_await(live, quiet, &is_over) && !is_over) {
        }
        if (is_over || !weft_scene_is_stale(live->scene)) continue;
        weft__live_bake(live, wake_ns); /* without memory: the next change tries again */
        directories_watch(live);
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
