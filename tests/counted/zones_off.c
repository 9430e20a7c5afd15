/* SPDX-License-Identifier: MIT */
/* zones_off.c: what zones cost a program without a trace, against the shared library: counts the
 * instructions of 1,000 zones under callgrind (zones_off.py), or with an argument takes their least
 * time. No trace: the environment of the test has none. */
#include <weft/weft.h>
#include <weft/zone.h>

#include <stdio.h>
#include <time.h>

enum { ZONES = 1000, TIMES = 2000 };

__attribute__((noinline)) void zones_body(void);
__attribute__((noinline)) void zones_body(void)
{
    for (int i = 0; i < ZONES; i++) {
        WEFT_ZONE("zone");
    }
    __asm__("" ::: "memory");
}

static void run(weft_slice *slice, void *user)
{
    (void)slice;
    double *least = user;
    for (int i = 0; i < TIMES; i++) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        zones_body();
        clock_gettime(CLOCK_MONOTONIC, &b);
        const double ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
        if (ns / ZONES < *least) *least = ns / ZONES;
    }
}

int main(int argc, char **argv)
{
    weft_world *world;
    double least = 1e9;
    (void)argv;
    if (weft_world_create(&(weft_world_desc){.workers = 2}, &world) != WEFT_OK) return 1;
    zones_body(); /* what is bound lazily is bound */
    if (argc > 1)
        weft_system_create(world, &(weft_system_desc){.name = "s", .run = run, .user = &least});
    if (argc > 1 && weft_world_step(world, 1) == WEFT_OK) printf("%.2f ns a zone\n", least);
    weft_world_destroy(world);
    return 0;
}
