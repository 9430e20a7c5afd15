/* SPDX-License-Identifier: MIT */
/* os_perf.c: the real event counters behind the seam of os_perf.h: perf_event_open, and rdpmc on
 * x86-64. Which events to open, and what to do when they are refused, is the caller's matter.
 * Stateless. */
#include "os_perf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES 4096u

static int open_real(void *user, const weft__perf_event *event, int leader)
{
    (void)user;
    struct perf_event_attr attr = {.type = event->type,
                                   .size = sizeof attr,
                                   .config = event->config,
                                   .read_format = PERF_FORMAT_GROUP |
                                                  PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                  PERF_FORMAT_TOTAL_TIME_RUNNING,
                                   .disabled = leader < 0,
                                   .exclude_kernel = event->is_user_only,
                                   .exclude_hv = event->is_user_only};
    long descriptor = syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
    return descriptor < 0 ? -errno : (int)descriptor;
}

static bool start_real(void *user, int leader)
{
    (void)user;
    return ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) == 0;
}

static bool read_real(void *user, int leader, uint64_t *words, uint32_t count)
{
    (void)user;
    size_t bytes = count * sizeof *words;
    ssize_t done = read(leader, words, bytes);
    return done == (ssize_t)bytes;
}

static const void *map_real(void *user, int descriptor)
{
    (void)user;
#if defined(__x86_64__)
    void *page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, descriptor, 0);
    return page == MAP_FAILED ? NULL : page;
#else
    (void)descriptor;
    return NULL;
#endif
}

static void unmap_real(void *user, const void *page)
{
    (void)user;
    munmap((void *)(uintptr_t)page, PAGE_BYTES);
}

static uint64_t read_register_real(void *user, uint32_t index)
{
    (void)user;
#if defined(__x86_64__)
    return (uint64_t)__builtin_ia32_rdpmc((int)index);
#else
    (void)index;
    return 0; /* map_real has no page */
#endif
}

static void close_real(void *user, int descriptor)
{
    (void)user;
    close(descriptor);
}

static int32_t paranoid_real(void *user)
{
    (void)user;
    char text[16] = {0};
    int descriptor = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return INT32_MAX;
    ssize_t bytes = read(descriptor, text, sizeof text - 1);
    close(descriptor);
    return bytes > 0 ? (int32_t)strtol(text, NULL, 10) : INT32_MAX;
}

static const weft__os_perf perf_real = {
    .open = open_real,
    .start = start_real,
    .read = read_real,
    .map = map_real,
    .unmap = unmap_real,
    .read_register = read_register_real,
    .close = close_real,
    .paranoid = paranoid_real,
};

const weft__os_perf *weft__os_perf_of(const weft_os *os)
{
    return os->perf != NULL ? os->perf : &perf_real;
}
