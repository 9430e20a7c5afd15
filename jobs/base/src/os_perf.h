/* SPDX-License-Identifier: MIT */
/* os_perf.h: the event-counter part of the operating-system seam: perf_event_open and what belongs
 * to it.
 *
 * Reached through weft_os.perf (NULL: the real one), so that tests refuse events as kernels,
 * containers and virtual machines do, and stand in for hardware that is not there. A counter
 * belongs to the thread that opened it and counts that thread only; reading and closing are allowed
 * from any thread, read_register from the counted one only. */
#pragma once

#include "os.h"

/* An event as perf_event_attr names it. A value. */
typedef struct weft__perf_event {
    uint32_t type;
    uint64_t config;
    bool is_user_only; /* without the kernel's share */
} weft__perf_event;

/* A table of functions. Owner: as weft_os; constant. */
struct weft__os_perf {
    void *user;
    /* Opens a counter of the calling thread in the group of `leader` (-1: a new one, at rest, read
     * as nr, time enabled, time running, values). The descriptor, or -errno. */
    int (*open)(void *user, const weft__perf_event *event, int leader);
    /* Starts a complete group. An event that joins a running group would not count before the
     * thread is scheduled again, and show 0 until then. */
    bool (*start)(void *user, int leader);
    /* Exactly `count` words of a group; false when there are others. */
    bool (*read)(void *user, int leader, uint64_t *words, uint32_t count);
    /* The page that a counter shares with its thread, read-only; NULL where `read_register` does
     * not exist. */
    const void *(*map)(void *user, int descriptor);
    void (*unmap)(void *user, const void *page);
    /* The counter register `index` (rdpmc). Only while a page says that it may be read. */
    uint64_t (*read_register)(void *user, uint32_t index);
    void (*close)(void *user, int descriptor);
    /* kernel.perf_event_paranoid; INT32_MAX when unknown. */
    int32_t (*paranoid)(void *user);
};

/* The counter table of a seam; never NULL. */
const weft__os_perf *weft__os_perf_of(const weft_os *os);
