/* SPDX-License-Identifier: MIT */
/* os.h: the operating-system seam. Every mapping, thread, futex and clock call that decides
 * anything goes through this table, so that tests inject faults and the explorer and the
 * simulator replace time and threads.
 *
 * A weft_os must outlive everything created with it. All functions may be called from any thread.
 */
#pragma once

#include "atomic.h"
#include "door.h"

#include <weft/base.h>

/* A thread as the seam sees it; the real one stores a pthread_t in `handle`. A value;
 * joined once by who started it. */
typedef struct weft__os_thread {
    uintptr_t handle;
    size_t stack_bytes; /* asked for before it is started; 0: the system's default */
} weft__os_thread;

/* File operations and page protection: os_file.h. */
typedef struct weft__os_files weft__os_files;
/* Event counters: os_perf.h. */
typedef struct weft__os_perf weft__os_perf;

/* What is asked of the operating system. Owner: who made it, a program or a test; the real one is a
 * constant. Constant while anything uses it; any thread. */
struct weft_os {
    void *user;
    const weft__os_files *files; /* NULL: the real ones */
    const weft__os_perf *perf;   /* NULL: the real ones */
    /* Zeroed, readable and writable memory; `bytes` is a multiple of the page size, `alignment` a
     * power of two (asks for huge pages when it is at least 2 MiB). NULL when the OS refuses. */
    void *(*map)(void *user, size_t bytes, size_t alignment);
    void (*unmap)(void *user, void *memory, size_t bytes);
    /* Gives the physical pages of a range back; the range stays mapped and reads as zero. */
    void (*discard)(void *user, void *memory, size_t bytes);
    /* WEFT_OK, WEFT_THREAD_FAILED or WEFT_OUT_OF_MEMORY; sets out->handle. `name` has at most 15
     * characters. The real one blocks on the new thread all signals but SEGV, BUS, FPE, ILL,
     * TRAP, SYS, ABRT and PROF, for which the caller's mask holds; the caller's mask stays as it
     * is. */
    weft_result (*thread_start)(void *user, weft__os_thread *out, const char *name,
                                void (*run)(void *argument), void *argument);
    void (*thread_join)(void *user, weft__os_thread thread);
    /* Sleeps while *word == expected. May return early (spurious wake-up): callers loop. */
    void (*futex_wait)(void *user, weft_a32 *word, uint32_t expected);
    void (*futex_wake)(void *user, weft_a32 *word, uint32_t count);
    /* CPUs this process may use; NULL: the affinity mask and the quota say. */
    uint32_t (*cpu_count)(void *user);
    /* Monotonic nanoseconds. */
    uint64_t (*clock_ns)(void *user);
};

/* The real operating system. Constant, stateless. */
WEFT__DOOR const weft_os *weft__os_default(void);

/* Makes mapped pages read as zero in a forked child, to notice fork() with a plain load. Not every
 * memory can: then a child simply sees the parent's bytes. */
void weft__os_wipe_on_fork(void *memory, size_t bytes);

/* The calling thread does not take the processor of one that wakes it (SCHED_BATCH), where no other
 * is free. Its share of the processors stays the same. */
void weft__os_thread_gives_way(void);

/* Identifies the process, to notice fork() (getpid is a cheap system call; call it at API grain).
 */
uint32_t weft__os_process(void);
/* The system's number of the calling thread, as other tools show it. */
WEFT__DOOR uint32_t weft__os_thread_number(void);
/* The name of the calling thread, as other tools show it. */
#define WEFT__OS_THREAD_NAME 16 /* bytes, with the end */
void weft__os_thread_name(char name[WEFT__OS_THREAD_NAME]);
