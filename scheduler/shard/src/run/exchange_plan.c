/* SPDX-License-Identifier: MIT */
/* exchange_plan.c: see exchange_plan.h.
 *
 * The schedule is compiled without exchanges first: the stages of the systems are an order that
 * respects all that they declare. Exchanges are EXCLUSIVE systems between stages, ordered by name
 * against every other system, so they change nothing in the order of the others. */
#include "exchange_plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "ghost_exchange.h"
#include "ranks_error.h"

#define EXCHANGES_LIMIT 64u

/* A system of the world. A value. */
typedef struct planned_system {
    weft_system system;
    const char *name;
    uint32_t stage;
    bool may_write; /* a halo component, or structure */
    int half;       /* 0, 1: of a system that reads ghosts; -1: another */
} planned_system;

/* Owner: the shard. Always: count <= 2 * EXCHANGES_LIMIT. */
typedef struct weft__exchange_plan {
    weft_system exchanges[2 * EXCHANGES_LIMIT]; /* begin, end, begin, ... */
    uint32_t count;
    uint64_t systems; /* what the plan was made of: a hash of their handles; 0: nothing */
} exchange_plan;

/* ---- the systems ---- */

static void begin_exchange(weft_slice *slice, void *user)
{
    weft_shard *shard = user;
    (void)slice;
    shard->step_result = weft__ghosts_begin(shard, shard->step_result);
}

static void end_exchange(weft_slice *slice, void *user)
{
    weft_shard *shard = user;
    (void)slice;
    shard->step_result = weft__ghosts_end(shard, shard->step_result);
}

static bool is_exchange(const exchange_plan *plan, weft_system system)
{
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->exchanges[i].id == system.id) return true;
    return false;
}

static int half_of(const weft_shard *shard, weft_system system)
{
    for (const weft__shard_system *s = shard->systems; s != NULL; s = s->next)
        for (int half = 0; half < 2; half++)
            if (s->halves[half].id == system.id) return half;
    return -1;
}

static bool writes_halo(const weft_shard *shard, weft_system system, uint32_t effects)
{
    weft_lookup list[256];
    if (effects != WEFT_RECORDS_NOTHING) return true;
    const uint32_t count = weft_system_access(shard->world, system, list, 256);
    if (count > 256) return true;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < shard->halo_count; k++)
            if (list[i].component.id == shard->halo[k].id && list[i].access == WEFT_WRITE)
                return true;
    return false;
}

static int by_stage(const void *a, const void *b)
{
    const planned_system *left = a, *right = b;
    if (left->stage != right->stage) return left->stage < right->stage ? -1 : 1;
    return (left->system.id > right->system.id) - (left->system.id < right->system.id);
}

/* All systems but exchanges, by stage. */
static weft_result list_systems(weft_shard *shard, planned_system *out, uint32_t count)
{
    weft_system *handles = malloc((size_t)count * sizeof *handles + 1);
    if (handles == NULL) return weft__ranks_no_memory();
    (void)weft_system_list(shard->world, handles, count);
    for (uint32_t i = 0; i < count; i++) {
        weft_system_info info;
        weft_system_stats stats;
        (void)weft_system_info_get(shard->world, handles[i], &info, sizeof info);
        (void)weft_system_stats_get(shard->world, handles[i], &stats, sizeof stats);
        const bool is_exclusive = (info.flags & WEFT_SYSTEM_EXCLUSIVE) != 0;
        out[i] = (planned_system){.system = handles[i],
                                  .name = info.name,
                                  .stage = stats.stage,
                                  .may_write =
                                      is_exclusive || writes_halo(shard, handles[i], info.effects),
                                  .half = half_of(shard, handles[i])};
    }
    free(handles);
    qsort(out, count, sizeof *out, by_stage);
    return WEFT_OK;
}

/* ---- placing ---- */

/* Makes an EXCLUSIVE system after the systems of stages up to `stage` and before the others. */
static weft_result place(weft_shard *shard, const planned_system *list, uint32_t count,
                         int64_t stage, bool is_end)
{
    exchange_plan *plan = shard->plan;
    const char **names = malloc((size_t)(count + plan->count) * sizeof *names + 1);
    if (names == NULL) return weft__ranks_no_memory();
    uint32_t earlier = 0, later = 0;
    static char own[2 * EXCHANGES_LIMIT][24];
    for (uint32_t i = 0; i < plan->count; i++) names[earlier++] = own[i];
    for (uint32_t i = 0; i < count; i++)
        if ((int64_t)list[i].stage <= stage) names[earlier++] = list[i].name;
    for (uint32_t i = 0; i < count; i++)
        if ((int64_t)list[i].stage > stage) names[earlier + later++] = list[i].name;
    (void)snprintf(own[plan->count], sizeof own[0], "shard.%s %u", is_end ? "end" : "begin",
                   plan->count / 2);
    const weft_system_desc desc = {.name = own[plan->count],
                                   .run = is_end ? end_exchange : begin_exchange,
                                   .user = shard,
                                   .flags = WEFT_SYSTEM_EXCLUSIVE,
                                   .more_after = names,
                                   .more_after_count = earlier,
                                   .more_before = names + earlier,
                                   .more_before_count = later};
    const weft_system system = weft_system_create(shard->world, &desc);
    free(names);
    if (system.id == 0)
        return weft__ranks_fail(weft_world_error(shard->world)->code, "an exchange of ghosts: %s",
                                weft_world_error(shard->world)->text);
    plan->exchanges[plan->count++] = system;
    return WEFT_OK;
}

/* The stage of the last system in [from, to) that may write what ghosts have; -1: none. */
static int64_t last_writer(const planned_system *list, uint32_t from, uint32_t to)
{
    int64_t stage = -1;
    for (uint32_t i = from; i < to; i++)
        if (list[i].may_write) stage = list[i].stage;
    return stage;
}

/* The end of the stages in which interior halves begin that no writer follows: there the exchange
 * may end. */
static uint32_t interior_end(const planned_system *list, uint32_t count, uint32_t first)
{
    uint32_t end = first + 1;
    for (uint32_t i = first + 1; i < count && list[i].half != 1; i++) {
        if (list[i].may_write) break;
        end = i + 1;
    }
    return end;
}

static weft_result place_all(weft_shard *shard, const planned_system *list, uint32_t count)
{
    weft_result result = WEFT_OK;
    uint32_t since = 0;
    bool is_first = true;
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++) {
        if (list[i].half != 0) continue;
        const int64_t writer = last_writer(list, since, i);
        if (writer < 0 && !is_first) continue; /* ghosts are as they must be */
        if (shard->plan->count == 2 * EXCHANGES_LIMIT)
            return weft__ranks_fail(WEFT_LIMIT, "more than %u exchanges in a step",
                                    EXCHANGES_LIMIT);
        const uint32_t end = interior_end(list, count, i);
        result = place(shard, list, count, writer, false);
        if (result == WEFT_OK) result = place(shard, list, count, list[end - 1].stage, true);
        since = i + 1;
        is_first = false;
    }
    return result;
}

/* ---- the plan ---- */

static void drop_exchanges(weft_shard *shard)
{
    exchange_plan *plan = shard->plan;
    while (plan->count != 0)
        (void)weft_system_destroy(shard->world, plan->exchanges[--plan->count]);
    plan->systems = 0;
}

void weft__plan_free(weft_shard *shard)
{
    if (shard->plan == NULL) return;
    drop_exchanges(shard);
    free(shard->plan);
    shard->plan = NULL;
}

/* A number for the systems that there are, without exchanges: their handles are never used again.
 * 0: no memory. */
static uint64_t systems_number(const weft_shard *shard, uint32_t *count)
{
    const uint32_t there = weft_system_list(shard->world, NULL, 0);
    weft_system *list = malloc(((size_t)there + 1) * sizeof *list);
    if (list == NULL) return 0;
    weft_system_list(shard->world, list, there);
    uint64_t sum = 1;
    *count = there - (shard->plan != NULL ? shard->plan->count : 0);
    for (uint32_t i = 0; i < there; i++)
        if (shard->plan == NULL || !is_exchange(shard->plan, list[i]))
            sum += (uint64_t)list[i].id * UINT64_C(0x9E3779B97F4A7C15);
    free(list);
    return sum | 1;
}

uint32_t weft__plan_exchanges(const weft_shard *shard)
{
    const uint32_t count = shard->plan != NULL ? shard->plan->count / 2 : 0;
    return count == 0 && shard->systems != NULL ? 1 : count;
}

weft_result weft__plan_update(weft_shard *shard)
{
    uint32_t count;
    if (shard->plan == NULL) shard->plan = calloc(1, sizeof *shard->plan);
    if (shard->plan == NULL) return weft__ranks_no_memory();
    const uint64_t number = systems_number(shard, &count);
    if (number == 0) return weft__ranks_no_memory();
    if (shard->plan->systems == number) return WEFT_OK;
    drop_exchanges(shard);
    if (shard->systems == NULL) return WEFT_OK; /* no system reads ghosts */
    weft_result result = weft_schedule_compile(shard->world);
    if (result != WEFT_OK)
        return weft__ranks_fail(result, "the schedule: %s", weft_world_error(shard->world)->text);
    planned_system *list = malloc((size_t)count * sizeof *list + 1);
    if (list == NULL) return weft__ranks_no_memory();
    result = list_systems(shard, list, count);
    if (result == WEFT_OK) result = place_all(shard, list, count);
    free(list);
    if (result == WEFT_OK)
        shard->plan->systems = number;
    else
        drop_exchanges(shard);
    return result;
}
