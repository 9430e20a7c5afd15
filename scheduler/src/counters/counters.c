/* SPDX-License-Identifier: MIT */
/* counters.c: the part of the counters that every library has: the environment's wish, the figures
 * of a system, the report at the end of a world. */
#include "counters.h"
#include "counters_report.h"

#include "ecs_engine.h"
#include "registry.h"
#include "sized.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

weft__counter_wish weft__counters_asked(void)
{
    const char *value = secure_getenv("WEFT_COUNTERS"); /* not in set-uid programs */
    if (value != NULL && strcmp(value, "software") == 0) return WEFT__COUNTER_WISH_SOFTWARE;
    return value != NULL && strcmp(value, "1") == 0 ? WEFT__COUNTER_WISH_BEST
                                                    : WEFT__COUNTER_WISH_NONE;
}

void weft__counters_print(const weft__scheduler *scheduler)
{
    if (scheduler->counter_wish == WEFT__COUNTER_WISH_NONE) return;
    weft__text size = {0};
    weft__counters_text(scheduler, &size);
    char *text = weft__alloc(scheduler->memory, WEFT__MEMORY_SYSTEMS, size.length + 1, 1, 1);
    weft__text full = {text, size.length + 1, 0};
    if (text == NULL) return;
    weft__counters_text(scheduler, &full);
    const weft_log *log = &weft__world_desc(scheduler->world)->log;
    if (log->write != NULL)
        log->write(log->user, WEFT_LOG_REPORT, text);
    else
        fputs(text, stderr);
    weft__free(scheduler->memory, WEFT__MEMORY_SYSTEMS, text, size.length + 1, 1, 1);
}

weft_result weft_system_counters_get(const weft_world *world, weft_system handle,
                                     weft_system_counters *out, size_t out_bytes)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (out == NULL)
        return weft__error_argument(world, "weft_system_counters_get",
                                    "out is NULL: give the address of a weft_system_counters");
    const weft__system *system = weft__system_at(world, handle);
    if (system == NULL) return WEFT_BAD_HANDLE;
    weft_system_counters sum;
    weft__counters_sum(system->scheduler, system, &sum);
    weft__sized_fill(out, out_bytes, &sum, sizeof sum);
    return WEFT_OK;
}
