/* SPDX-License-Identifier: MIT */
/* line_trip.c: how long a cache line takes to another CPU and back.
 *
 * Two CPUs of a virtual machine may share a last-level cache or not, and the hypervisor may change
 * that between two runs, or within one: 55 and 330 ns were met on one machine. What workers share
 * costs accordingly, so each run prints it.
 */
#include "bench.h"
#include "harness.h"

#include "atomic.h"

#include <pthread.h>
#include <sched.h>

enum { TRIPS = 4, BATCHES = 2000 };
#define LONGEST_NS 300000000u /* beside other programs a trip may take a time slice, */
#define MOST_NS 5000.0        /* and no figure comes of it */

/* The line. Edge: each side acquires the number the other released. */
typedef struct ball {
    weft_a32 x_number; /* odd: the other thread's turn; UINT32_MAX: it ends */
} ball;

static void *give_back(void *data)
{
    ball *b = data;
    for (;;) {
        const uint32_t number = at_load_acq(&b->x_number);
        if (number == UINT32_MAX) return NULL;
        if (number % 2 == 1)
            at_store_rel(&b->x_number, number + 1);
        else
            at_stall();
    }
}

static double batch(ball *b)
{
    const uint64_t begin = weft_bench_now();
    for (uint32_t i = 0; i < TRIPS; i++) {
        at_store_rel(&b->x_number, 1u);
        while (at_load_acq(&b->x_number) == 1) at_stall();
    }
    return (double)(weft_bench_now() - begin) / TRIPS;
}

static void pin_to(pthread_t thread, uint32_t cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(thread, sizeof one, &one);
}

double weft_bench_line_trip(void)
{
    cpu_set_t allowed;
    uint32_t cpus[2], count = 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE && count < 2; cpu++)
        if (CPU_ISSET(cpu, &allowed)) cpus[count++] = cpu;
    ball b = {0};
    pthread_t other;
    if (count < 2 || pthread_create(&other, NULL, give_back, &b) != 0) return 0;
    pin_to(other, cpus[1]);
    pin_to(pthread_self(), cpus[0]);
    const uint64_t begin = weft_bench_now();
    double least = batch(&b);
    for (uint32_t i = 1; i < BATCHES && weft_bench_now() - begin < LONGEST_NS; i++) {
        const double ns = batch(&b);
        if (ns < least) least = ns;
    }
    at_store_rel(&b.x_number, UINT32_MAX);
    pthread_join(other, NULL);
    pthread_setaffinity_np(pthread_self(), sizeof allowed, &allowed);
    return least < MOST_NS ? least : 0;
}
