/* SPDX-License-Identifier: MIT */
/* file_watch.h: waits until the files of a scene have changed and are whole: closed by their
 * writers, or renamed into place. Where the file system tells nothing (a network, a container) they
 * are looked at, and must be the same at three looks. */
#pragma once

#include "scene_file.h"

/* How long a writer is waited for that keeps a file open and writes nothing. */
#define WEFT__FILE_OPEN_NS UINT64_C(10000000000)

/* What a wait tells. */
typedef enum weft__file_news {
    WEFT__FILES_UNKNOWN, /* nothing, or they are being written */
    WEFT__FILES_REST,    /* as they were at the last looks: time to ask whether they are stale */
    WEFT__FILES_CHANGED, /* and are whole */
} weft__file_news;

/* Owner: one thread, but for weft__file_watch_quit. */
typedef struct weft__file_watch {
    int events, quit; /* descriptors; -1: closed */
    uint64_t seen;    /* stamp of all files at the last look */
    uint32_t rested;  /* looks since it last changed */
    uint64_t wake_ns; /* when the change that is told was first heard of */
    bool is_over;     /* weft__file_watch_quit was called */
} weft__file_watch;

#define WEFT__FILE_WATCH_CLOSED ((weft__file_watch){.events = -1, .quit = -1})

/* False: no descriptor is left; such a watch looks only, and cannot be ended. */
bool weft__file_watch_open(weft__file_watch *watch);
void weft__file_watch_close(weft__file_watch *watch);
/* Ends a wait. Any thread. */
void weft__file_watch_quit(weft__file_watch *watch);
/* Whether one of them is open for writing now. Cost: a file opened for each. */
bool weft__files_have_writer(const weft__files *files);
/* After a bake: these are the files, and this is how they are. */
void weft__file_watch_follow(weft__file_watch *watch, weft__files *files);
/* Waits up to `most_ms` (a fifth of a second at most), and for the end of what came in it:
 * `quiet_ms` without a change. */
weft__file_news weft__file_watch_wait(weft__file_watch *watch, weft__files *files, uint32_t most_ms,
                                      uint32_t quiet_ms);
