/* SPDX-License-Identifier: MIT */
/* counters.c: the part of the counters that every library has: the environment's wish, the figures
 * of a system, the report at the end of a world. */
#include "counters.h"
#include "log.h"
#include "registry.h"
#include "sized.h"

#include <stdio.h>
#include <stdlib.h>

weft__counter_wish weft__counters_asked(const weft_log *log, uint32_t *percent)
{
    const char *share = secure_getenv("WEFT_COUNTERS_SHARE");
    char *end = NULL;
    const unsigned long number = share == NULL ? 0 : strtoul(share, &end, 10);
    *percent = number <= 100 && end != NULL && end[0] == '\0' ? (uint32_t)number : 0;
    if (share != NULL && share[0] != '\0' && *percent == 0)
        weft__log(log, WEFT_LOG_WARNING,
                  "WEFT_COUNTERS_SHARE=%s is not a number of percent, such as 25", share);
    const char *value = secure_getenv("WEFT_COUNTERS"); /* not in set-uid programs */
    if (value == NULL || value[0] == '\0' || strcmp(value, "0") == 0)
        return WEFT__COUNTER_WISH_NONE;
    if (strcmp(value, "software") == 0) return WEFT__COUNTER_WISH_SOFTWARE;
    if (strcmp(value, "1") == 0) return WEFT__COUNTER_WISH_BEST;
    weft__log(log, WEFT_LOG_WARNING, "WEFT_COUNTERS=%s is not used: 1 or software", value);
    return WEFT__COUNTER_WISH_NONE;
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
    const weft_result refused = weft__error_out(world, out, "weft_system_counters");
    if (refused != WEFT_OK) return refused;
    const weft__system *system = weft__system_at(world, handle);
    if (system == NULL) return WEFT_BAD_HANDLE;
    weft_system_counters sum;
    weft__counters_sum(system->scheduler, system, &sum);
    weft__sized_fill(out, out_bytes, &sum, sizeof sum);
    return WEFT_OK;
}
