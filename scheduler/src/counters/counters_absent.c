/* SPDX-License-Identifier: MIT */
/* counters_absent.c: stands in for counters_group.c in a library that is
 * built with WEFT_COUNTERS=OFF: no step counts, and the report says why. */
#include "counters.h"

bool weft__counters_reserve(weft__scheduler *scheduler)
{
    (void)scheduler;
    return false;
}

void weft__counters_frame(weft__scheduler *scheduler, bool is_begin)
{
    (void)scheduler;
    (void)is_begin;
}

void weft__counters_begin(weft__scheduler *scheduler, uint32_t worker)
{
    (void)scheduler;
    (void)worker;
}

void weft__counters_take(weft__scheduler *scheduler, uint32_t worker, const weft__system *system,
                         weft__work work)
{
    (void)work;
    (void)scheduler;
    (void)worker;
    (void)system;
}

void weft__counters_free(weft__scheduler *scheduler)
{
    weft__counters_print(scheduler);
}

void weft__counters_sum(const weft__scheduler *scheduler, const weft__system *system,
                        weft_system_counters *out)
{
    (void)scheduler;
    *out = (weft_system_counters){.name = system->name};
}

void weft__counters_text(const weft__scheduler *scheduler, weft__text *t)
{
    (void)scheduler;
    weft__text_add(t, "counters: this library is built without them: configure it with "
                      "-DWEFT_COUNTERS=ON\n");
}

void weft__counters_json(const weft__scheduler *scheduler, const weft__system *system,
                         weft__work work, weft__text *t)
{
    (void)work;
    (void)scheduler;
    (void)system;
    (void)t;
}

void weft__counters_trace(weft__scheduler *scheduler)
{
    (void)scheduler;
}
