/* SPDX-License-Identifier: MIT */
/* os.c: the real operating system behind the seam of os.h: mmap with huge pages, pthreads, futex,
 * CLOCK_MONOTONIC. Futexes are used directly because condition variables of glibc 2.36 can lose
 * signals. Stateless. */
#include "os.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define STACK_STEP ((size_t)64 << 10) /* the largest pages of processors */

/* Operations of the system call, in words of one process: no header but the kernel's own has
 * them. */
enum { OWN_FUTEX_WAIT = 0 | 128, OWN_FUTEX_WAKE = 1 | 128 };

static void *map_anywhere(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* A mapping with room for the alignment, from which the ends are cut off. */
static char *map_cut(size_t bytes, size_t alignment)
{
    char *raw = map_anywhere(bytes + alignment);
    if (raw == NULL) return NULL;
    size_t head = (alignment - (uintptr_t)raw % alignment) % alignment;
    if (head != 0) munmap(raw, head);
    if (alignment - head != 0) munmap(raw + head + bytes, alignment - head);
    return raw + head;
}

static void *map_real(void *user, size_t bytes, size_t alignment)
{
    (void)user;
    size_t slack = alignment > 4096 ? alignment : 0;
    if (bytes == 0 || bytes > SIZE_MAX - slack) return NULL;
    /* since 6.7 Linux aligns what may become huge pages. Then mappings also follow each other
     * without gaps: those cut out lie at every second multiple and use half the sets of a TLB */
    char *memory = map_anywhere(bytes);
    if (memory != NULL && slack != 0 && (uintptr_t)memory % alignment != 0) {
        munmap(memory, bytes);
        memory = map_cut(bytes, alignment);
    }
    if (memory != NULL && alignment >= HUGE_PAGE_BYTES) madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static void unmap_real(void *user, void *memory, size_t bytes)
{
    (void)user;
    munmap(memory, bytes);
}

static void discard_real(void *user, void *memory, size_t bytes)
{
    (void)user;
    madvise(memory, bytes, MADV_DONTNEED);
}

/* What a new thread needs; owner: thread_start until the thread runs, then the thread, which frees
 * it. */
typedef struct thread_start {
    void (*run)(void *argument);
    void *argument;
    char name[16];
} thread_start;

static void *thread_main(void *argument)
{
    thread_start start = *(thread_start *)argument;
    free(argument);
    pthread_setname_np(pthread_self(), start.name);
    start.run(start.argument);
    return NULL;
}

/* What is not left to the host's threads: signals that a thread's own instructions raise (blocked,
 * they would end the process without asking its handlers), and the one that profilers count by. */
static const int own_signals[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL,
                                  SIGTRAP, SIGSYS, SIGABRT, SIGPROF};

/* pthread_create with all other signals blocked: the thread inherits the mask before it runs, so
 * the host's handlers for the others never run on it. The caller's mask is given back as it was. */
static int create_without_signals(pthread_t *out, const pthread_attr_t *how, thread_start *start)
{
    sigset_t others, before;
    sigfillset(&others);
    for (size_t i = 0; i < sizeof own_signals / sizeof own_signals[0]; i++)
        sigdelset(&others, own_signals[i]);
    if (pthread_sigmask(SIG_BLOCK, &others, &before) != 0) return -1; /* cannot fail on Linux */
    int result = pthread_create(out, how, thread_main, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

static weft_result thread_start_real(void *user, weft__os_thread *out, const char *name,
                                     void (*run)(void *argument), void *argument)
{
    (void)user;
    thread_start *start = malloc(sizeof *start);
    if (start == NULL) return WEFT_OUT_OF_MEMORY;
    *start = (thread_start){.run = run, .argument = argument};
    for (size_t i = 0; i + 1 < sizeof start->name && name[i] != '\0'; i++) start->name[i] = name[i];
    pthread_t thread;
    pthread_attr_t how;
    bool is_started = pthread_attr_init(&how) == 0;
    size_t stack = (out->stack_bytes + STACK_STEP - 1) / STACK_STEP * STACK_STEP;
    if (is_started && stack != 0) is_started = pthread_attr_setstacksize(&how, stack) == 0;
    is_started = is_started && create_without_signals(&thread, &how, start) == 0;
    pthread_attr_destroy(&how);
    if (!is_started) {
        free(start);
        return WEFT_THREAD_FAILED;
    }
    out->handle = (uintptr_t)thread;
    return WEFT_OK;
}

static void thread_join_real(void *user, weft__os_thread thread)
{
    (void)user;
    pthread_join((pthread_t)thread.handle, NULL);
}

static void futex_wait_real(void *user, weft_a32 *word, uint32_t expected)
{
    (void)user;
    syscall(SYS_futex, word, OWN_FUTEX_WAIT, expected, NULL, NULL, 0);
}

static void futex_wake_real(void *user, weft_a32 *word, uint32_t count)
{
    (void)user;
    syscall(SYS_futex, word, OWN_FUTEX_WAKE, count, NULL, NULL, 0);
}

static uint64_t clock_ns_real(void *user)
{
    (void)user;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static const weft_os os_real = {
    .map = map_real,
    .unmap = unmap_real,
    .discard = discard_real,
    .thread_start = thread_start_real,
    .thread_join = thread_join_real,
    .futex_wait = futex_wait_real,
    .futex_wake = futex_wake_real,
    .clock_ns = clock_ns_real,
};

const weft_os *weft__os_default(void)
{
    return &os_real;
}

uint32_t weft__os_process(void)
{
    return (uint32_t)getpid();
}

uint32_t weft__os_thread_number(void)
{
    return (uint32_t)gettid();
}

void weft__os_thread_name(char name[WEFT__OS_THREAD_NAME])
{
    name[0] = '\0';
    prctl(PR_GET_NAME, name);
}

void weft__os_thread_gives_way(void)
{
    sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0}); /* 0: the calling thread */
}

void weft__os_wipe_on_fork(void *memory, size_t bytes)
{
    madvise(memory, bytes, MADV_WIPEONFORK);
}
