/* SPDX-License-Identifier: MIT */
/* peer_openmp.c: the OpenMP side of peer.h; compiled only when CMake finds OpenMP.
 */
#include "peer.h"

#include <omp.h>
#include <sched.h>

static size_t nth_cpu(const cpu_set_t *allowed, int n)
{
    n %= CPU_COUNT(allowed);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, allowed) && n-- == 0) return cpu;
    return 0;
}

static void start(uint32_t workers)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
#pragma omp parallel num_threads((int)workers)
    if (omp_get_thread_num() != 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(nth_cpu(&allowed, omp_get_thread_num()), &one);
        sched_setaffinity(0, sizeof one, &one);
    }
}

static void loop(uint32_t workers, uint64_t count, uint64_t grain, weft_peer_body *body, void *user)
{
    if (grain == 0) {
        const uint64_t piece = (count + workers - 1) / workers;
#pragma omp parallel for schedule(static, 1) num_threads((int)workers)
        for (uint32_t i = 0; i < workers; i++) {
            const uint64_t begin = i * piece < count ? i * piece : count;
            body(begin, begin + piece < count ? begin + piece : count, user);
        }
        return;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)workers)
    for (uint64_t begin = 0; begin < count; begin += grain) {
        body(begin, begin + grain < count ? begin + grain : count, user);
    }
}

static void spawn(uint32_t workers, uint32_t count, weft_peer_task *task, void *user)
{
#pragma omp parallel num_threads((int)workers)
#pragma omp single
    for (uint32_t i = 0; i < count; i++) {
#pragma omp task
        task(user);
    }
}

static uint64_t fib_task(uint32_t n)
{
    if (n < 2) return n;
    uint64_t a, b;
#pragma omp task shared(a)
    a = fib_task(n - 1);
    b = fib_task(n - 2);
#pragma omp taskwait
    return a + b;
}

static uint64_t fib(uint32_t workers, uint32_t n)
{
    uint64_t result = 0;
#pragma omp parallel num_threads((int)workers)
#pragma omp single
    result = fib_task(n);
    return result;
}

const weft_peer *weft_peer_openmp(void)
{
    static const weft_peer peer = {"openmp", start, loop, spawn, fib};
    return &peer;
}
