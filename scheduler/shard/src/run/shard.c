/* SPDX-License-Identifier: MIT */
/* shard.c: a shard as programs see it: its components, queries and tables, systems in two halves,
 * steps with their exchanges, balance, the figures of all ranks.
 *
 * The ranks compare what they were given before a shard is handed out. The schedule is compiled
 * without exchanges first: the stages of the systems are an order that respects all that they
 * declare. Exchanges are EXCLUSIVE systems between stages, ordered by name against every other
 * system, so they change nothing in the order of the others. Their errors wait in step_result until
 * the ranks agree in weft__rows_sync. Every rank decides about balance from the same sums of costs,
 * so all take the same new map without asking. */
#include "archetype_state.h"
#include "checkpoint.h"
#include "ghost_exchange.h"
#include "hash.h"
#include "messages.h"
#include "os.h"
#include "row_pack.h"
#include "run_log.h"
#include "sector_move.h"
#include "shard_clock.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weft/schedule.h>

/* ---- where a step exchanges ghosts ----
 *
 * By systems of the library, "shard.begin N" and "shard.end N". A system that reads ghosts needs an
 * exchange before it if, since the last exchange, a system may have written a halo component or
 * recorded commands. It begins after the last of these, ends before the first border half, and
 * interior halves run between. Both halves see the same world: a writer in the stage of an interior
 * half goes before the exchange, and none may come between the halves. */

#define EXCHANGES_LIMIT 64u

/* A system of the world. A value. */
typedef struct planned_system {
    weft_system system;
    const char *name;
    uint32_t stage;
    bool may_write;               /* a halo component, or structure */
    bool is_before;               /* it runs before the begin of the last exchange */
    int half;                     /* 0, 1: of a system that reads ghosts; -1: another */
    const weft__shard_system *of; /* the system of the half */
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

static int half_of(const weft_shard *shard, weft_system system, const weft__shard_system **of)
{
    for (const weft__shard_system *s = *of = shard->systems; s != NULL; s = *of = s->next)
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
                                      is_exclusive || writes_halo(shard, handles[i], info.effects)};
        out[i].half = half_of(shard, handles[i], &out[i].of);
    }
    free(handles);
    qsort(out, count, sizeof *out, by_stage);
    return WEFT_OK;
}

/* ---- placing ---- */

/* Makes an EXCLUSIVE system after the systems of stages up to `stage`, and those that run before
 * the exchange, and before the others. */
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
        if ((int64_t)list[i].stage <= stage || list[i].is_before) names[earlier++] = list[i].name;
    for (uint32_t i = 0; i < count; i++)
        if ((int64_t)list[i].stage > stage && !list[i].is_before)
            names[earlier + later++] = list[i].name;
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

/* Marks what runs before an exchange for an interior half: systems up to the last that may write
 * what ghosts have, or that still sees what the exchange before brought. *stage: its stage, -1:
 * none. False: nothing was written since the last exchange. */
static bool mark_earlier(planned_system *list, uint32_t count, uint32_t half, int64_t *stage)
{
    const uint32_t last = list[half].stage;
    bool is_written = false;
    *stage = -1;
    for (uint32_t i = 0; i < count && list[i].stage <= last; i++) {
        const planned_system *s = &list[i];
        if (s->is_before || !(s->may_write || s->half == 1)) continue;
        if (s->stage == last && s->half == 0) continue;
        is_written |= s->may_write;
        *stage = s->stage == last ? (int64_t)last - 1 : (int64_t)s->stage;
    }
    if (!is_written) *stage = -1;
    for (uint32_t i = 0; i < count && is_written && list[i].stage <= last; i++) {
        const bool is_beside = list[i].stage == last && list[i].half != 0;
        if ((int64_t)list[i].stage <= *stage ||
            (is_beside && (list[i].may_write || list[i].half == 1)))
            list[i].is_before = true;
    }
    return is_written;
}

/* The last stage in which the exchange may end: before the first border half that it is for, and
 * before the next writer. */
static uint32_t end_stage(const planned_system *list, uint32_t count, uint32_t half)
{
    uint32_t border = UINT32_MAX, end = list[half].stage;
    for (uint32_t i = 0; i < count; i++)
        if (list[i].half == 1 && !list[i].is_before && list[i].stage < border)
            border = list[i].stage;
    for (uint32_t i = half + 1; i < count && list[i].stage < border; i++) {
        if (list[i].may_write) break;
        end = list[i].stage;
    }
    return end;
}

static const planned_system *other_half(const planned_system *list, const planned_system *half)
{
    while (list->of != half->of || list->half != 1 - half->half) list++;
    return list;
}

/* The halves of a system see the same exchange, and nothing that may write runs between them. */
static weft_result check_between(const planned_system *list, uint32_t count, uint32_t half)
{
    const planned_system *first = &list[half], *border = other_half(list, first), *found = NULL;
    for (const planned_system *s = list; s < list + count && found == NULL; s++) {
        if (s->half < 0 && s->may_write && s->stage > first->stage && s->stage < border->stage)
            found = s;
        if (s->half == 1 && !s->is_before && other_half(list, s)->is_before)
            first = other_half(list, s), border = s, found = &list[half];
    }
    if (found == NULL) return WEFT_OK;
    return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                            "system %s runs between %s and %s, and they would see another world: "
                            "where it has an order (before, after) name both",
                            found->name, first->name, border->name);
}

static weft_result place_all(weft_shard *shard, planned_system *list, uint32_t count)
{
    weft_result result = WEFT_OK;
    bool is_first = true;
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++) {
        if (list[i].half != 0) continue;
        int64_t stage;
        const bool is_needed = mark_earlier(list, count, i, &stage) || is_first;
        result = check_between(list, count, i);
        if (!is_needed) continue; /* ghosts are as they must be */
        if (shard->plan->count == 2 * EXCHANGES_LIMIT)
            return weft__ranks_fail(WEFT_LIMIT, "more than %u exchanges in a step",
                                    EXCHANGES_LIMIT);
        const uint32_t end = end_stage(list, count, i);
        if (result == WEFT_OK) result = place(shard, list, count, stage, false);
        if (result == WEFT_OK) result = place(shard, list, count, end, true);
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

static void plan_free(weft_shard *shard)
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

/* How many exchanges a step has; 1 where there are some, and the plan could not be made. */
static uint32_t plan_exchanges(const weft_shard *shard)
{
    const uint32_t count = shard->plan != NULL ? shard->plan->count / 2 : 0;
    return count == 0 && shard->systems != NULL ? 1 : count;
}

/* Makes the exchanges again where systems came or left. Errors: those of the schedule,
 * OUT_OF_MEMORY.
 */
static weft_result plan_update(weft_shard *shard)
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

/* ---- figures of all ranks ----
 *
 * For tools that look at the world of one: a hook of the world, "shards", tells them
 * (weft_world_hook_find). Nothing is sent while nothing looks. A rank whose hook is asked says
 * so in the agreement that ends every sync anyway, so all ranks know in the same step, and add
 * their figures up at its end: one sum over all ranks, at most once in 250 ms. Results never
 * depend on it.
 *
 * Each rank has a line of words in a table of all; the others have zeros there, so the sum of
 * the tables is the table of all. Counts are since creation: the figures of a tick are the
 * difference of two tables over the steps between them. */

static const uint64_t period_ns = UINT64_C(250000000);

/* The words of a line: what is there now, then counts since creation. */
enum {
    ENTITIES,
    SECTORS,
    GHOSTS,
    STUBS,
    BORDER,
    COUNTS, /* the first of the counts */
    SENT = COUNTS,
    RECEIVED,
    LEFT,
    ARRIVED,
    MOVED,
    TIME,
    WORK,
    WAIT,
    SYNC,
    FIGURES,
    HOST = FIGURES, /* a name of HOST_BYTES */
    HOST_BYTES = 32,
    LINE_WORDS = HOST + HOST_BYTES / 8
};

static const char *const names[FIGURES] = {
    [ENTITIES] = "entities", [SECTORS] = "sectors", [GHOSTS] = "ghosts",     [STUBS] = "stubs",
    [BORDER] = "border",     [SENT] = "sent",       [RECEIVED] = "received", [LEFT] = "left",
    [ARRIVED] = "arrived",   [MOVED] = "moved",     [TIME] = "time",         [WORK] = "work",
    [WAIT] = "wait",         [SYNC] = "sync"};

/* Owner: the shard. Tables: [rank * LINE_WORDS + word]. */
typedef struct weft__rank_figures {
    weft_world_hook hook;
    bool is_wanted;         /* the hook was asked since the last gather */
    uint64_t gathered_ns;   /* when; 0: never */
    uint64_t tick, steps;   /* of the last gather */
    uint64_t steps_between; /* and how many steps after the one before; 0: never gathered */
    uint64_t *now, *before; /* tables */
    char host[HOST_BYTES];  /* constant */
} rank_figures;

/* ---- telling ---- */

/* A figure of a rank: what is there now, or a count for each tick. */
static double figure_of(const rank_figures *f, uint32_t rank, uint32_t figure)
{
    const size_t at = (size_t)rank * LINE_WORDS + figure;
    if (figure < COUNTS) return (double)f->now[at];
    return (double)(f->now[at] - f->before[at]) / (double)f->steps_between;
}

static void tell_rank(const rank_figures *f, uint32_t rank, weft__text *out)
{
    const char *host = (const char *)&f->now[(size_t)rank * LINE_WORDS + HOST];
    weft__text_add(out, "%s{\"rank\":%" PRIu32 ",\"host\":\"%s\"", rank != 0 ? "," : "", rank,
                   host);
    for (uint32_t i = 0; i < FIGURES; i++)
        weft__text_add(out, ",\"%s\":%.9g", names[i], figure_of(f, rank, i));
    weft__text_add(out, "}");
}

static void tell_over_ranks(const rank_figures *f, uint32_t ranks, uint32_t figure, weft__text *out)
{
    double sum = 0, largest = 0;
    uint32_t at = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const double value = figure_of(f, rank, figure);
        sum += value;
        if (value > largest) largest = value, at = rank;
    }
    weft__text_add(
        out, "%s{\"figure\":\"%s\",\"per_tick\":%s,\"sum\":%.9g,\"largest\":%.9g,\"rank\":%" PRIu32,
        figure != 0 ? "," : "", names[figure], figure < COUNTS ? "false" : "true", sum, largest,
        at);
    if (sum > 0) weft__text_add(out, ",\"imbalance\":%.6g", largest * ranks / sum);
    weft__text_add(out, "}");
}

/* The hook's: asks for the next figures, too. */
static size_t tell(char *text, size_t capacity, void *user)
{
    weft_shard *shard = user;
    rank_figures *f = shard->figures;
    const uint32_t ranks = shard->map.ranks;
    weft__text out = {text, capacity, 0};
    f->is_wanted = true;
    weft__text_add(&out,
                   "\"rank\":%" PRIu32 ",\"ranks\":%" PRIu32 ",\"sectors\":%" PRIu32
                   ",\"tick\":%" PRIu64 ",\"steps\":%" PRIu64 ",\"rows\":[",
                   shard->map.rank, ranks, shard->map.count, f->tick, f->steps_between);
    for (uint32_t rank = 0; rank < ranks && f->steps_between != 0; rank++) tell_rank(f, rank, &out);
    weft__text_add(&out, "],\"over_ranks\":[");
    for (uint32_t i = 0; i < FIGURES && f->steps_between != 0; i++)
        tell_over_ranks(f, ranks, i, &out);
    weft__text_add(&out, "]");
    return out.length;
}

static void write_line(const weft_shard *shard, uint64_t *line)
{
    weft_shard_stats s;
    weft_shard_stats_get(shard, &s, sizeof s);
    weft_shard_info info;
    weft_shard_info_get(shard, &info, sizeof info);
    const uint64_t figures[FIGURES] = {
        [ENTITIES] = s.rows,
        [SECTORS] = info.sectors_mine,
        [GHOSTS] = s.ghosts,
        [STUBS] = s.stubs,
        [BORDER] = s.border_rows,
        [SENT] = s.value_bytes + s.header_bytes + s.moved_bytes,
        [RECEIVED] = s.received_bytes,
        [LEFT] = s.rows_left,
        [ARRIVED] = s.rows_arrived,
        [MOVED] = s.rows_moved,
        [TIME] = s.step_ns,
        [WORK] = s.work_ns,
        [WAIT] = s.wait_ns,
        [SYNC] = s.sync_ns,
    };
    memcpy(line, figures, sizeof figures);
    memcpy(line + HOST, shard->figures->host, HOST_BYTES);
}

/* Brings the figures of all ranks to all; collective. Errors: IO. */
static weft_result figures_gather(weft_shard *shard)
{
    rank_figures *f = shard->figures;
    const uint64_t words = (uint64_t)shard->map.ranks * LINE_WORDS;
    uint64_t *const table = f->before;
    f->before = f->now;
    f->now = table;
    memset(table, 0, words * sizeof *table);
    write_line(shard, table + (size_t)shard->map.rank * LINE_WORDS);
    f->steps_between = shard->stats.steps - f->steps;
    f->steps = shard->stats.steps;
    f->tick = shard->tick;
    f->is_wanted = false;
    f->gathered_ns = weft__shard_now();
    return weft__transport_sum(table, words);
}

/* ---- begin and end ---- */

/* Adds the hook. Errors: OUT_OF_MEMORY, those of weft_world_hook_add. */
static weft_result figures_init(weft_shard *shard)
{
    const size_t words = (size_t)shard->map.ranks * LINE_WORDS;
    rank_figures *f = shard->figures = calloc(1, sizeof *f);
    if (f == NULL) return weft__ranks_no_memory();
    f->now = calloc(words, sizeof *f->now);
    f->before = calloc(words, sizeof *f->before);
    if (f->now == NULL || f->before == NULL) return weft__ranks_no_memory();
    /* A name that needs no escapes in JSON. */
    (void)gethostname(f->host, HOST_BYTES - 1);
    for (char *c = f->host; *c != '\0'; c++)
        if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\') *c = '?';
    f->hook = (weft_world_hook){
        .user = shard, .name = "shards", .tell = tell, .holds = "shard (weft_shard_destroy)"};
    return weft_world_hook_add(shard->world, &f->hook);
}

static void figures_free(weft_shard *shard)
{
    rank_figures *f = shard->figures;
    if (f == NULL) return;
    (void)weft_world_hook_remove(shard->world, &f->hook);
    free(f->now);
    free(f->before);
    free(f);
    shard->figures = NULL;
}

void weft_shard_info_get(const weft_shard *shard, weft_shard_info *out, size_t bytes)
{
    weft_shard_info info = {.gid = shard->gid,
                            .sector = shard->sector,
                            .ghost = shard->ghost,
                            .stub = shard->stub,
                            .rank = shard->map.rank,
                            .ranks = shard->map.ranks,
                            .sectors = shard->map.count,
                            .seed = shard->seed};
    for (uint32_t i = 0; i < shard->map.count; i++)
        info.sectors_mine += weft__sector_is_mine(shard, i);
    memcpy(out, &info, bytes < sizeof info ? bytes : sizeof info);
}

void weft_shard_stats_get(const weft_shard *shard, weft_shard_stats *out, size_t bytes)
{
    weft_shard_stats stats = shard->stats;
    stats.rows = weft_query_count(shard->world, shard->rows_query);
    stats.ghosts = weft_query_count(shard->world, shard->ghost_query);
    stats.stubs = weft_query_count(shard->world, shard->stub_query);
    for (uint32_t i = 0; i < shard->map.count; i++)
        if ((shard->map.visibility[i] & WEFT__SECTOR_BORDER) != 0)
            stats.border_rows += shard->packs[i].count;
    memcpy(out, &stats, bytes < sizeof stats ? bytes : sizeof stats);
}

weft_result weft_shard_sync(weft_shard *shard)
{
    const uint64_t start = weft__shard_now();
    weft_result result = weft__rows_sync(shard, WEFT_OK);
    shard->stats.sync_ns += weft__shard_now() - start;
    return result;
}

weft_result weft_shard_exchange(weft_shard *shard)
{
    weft_result result = weft__rows_resume(shard);
    if (result != WEFT_OK) return result;
    weft__ghosts_start(shard);
    result = weft__ghosts_begin(shard, WEFT_OK);
    result = weft_ranks_agree(weft__ghosts_end(shard, result));
    weft__shard_pin(shard);
    (void)weft_world_advance_change_version(shard->world); /* later writes are changes */
    if (result != WEFT_OK) weft__packs_forget_sent(shard); /* what others have is not known */
    return result;
}

/* ---- balance ---- */

/* Takes a new map over, with the counters of the sectors: the next sync moves rows. */
static weft_result map_take(weft_shard *shard, const uint32_t *rank_of)
{
    const uint32_t count = shard->map.count;
    for (uint32_t i = 0; i < count; i++) {
        if (!weft__sector_is_mine(shard, i))
            shard->counters[i] = 0;
        else if (rank_of[i] != shard->map.rank)
            shard->stats.sectors_moved++;
    }
    const weft_result result = weft__transport_sum(shard->counters, count);
    if (result == WEFT_OK) weft__ghosts_set_map(shard, rank_of);
    return result;
}

static weft_result cut(weft_shard *shard, uint64_t *costs, uint32_t *rank_of, bool *moved)
{
    /* Measured costs of all sectors; where nothing is measured, rows. */
    const uint32_t count = shard->map.count;
    for (uint32_t i = 0; i < count; i++) {
        if (!weft__sector_is_mine(shard, i)) continue;
        for (uint32_t worker = 0; worker < shard->cost_workers; worker++)
            costs[i] += shard->costs[(uint64_t)worker * count + i];
        costs[i] += shard->packs[i].count;
    }
    weft_result result = weft__transport_sum(costs, count);
    if (result != WEFT_OK) return result;
    memset(shard->costs, 0, (size_t)shard->cost_workers * shard->map.count * sizeof *shard->costs);
    const double now = weft__sector_imbalance(&shard->map, costs, shard->map.rank_of);
    shard->stats.imbalance = now;
    if (now <= shard->balance_above) return WEFT_OK;
    weft__sector_cut(&shard->map, costs, rank_of);
    if (weft__sector_imbalance(&shard->map, costs, rank_of) >= now) return WEFT_OK;
    const bool is_prepared = weft__ghosts_prepare(shard, rank_of);
    result = weft_ranks_agree(is_prepared ? WEFT_OK : weft__ranks_no_memory());
    if (result != WEFT_OK) return result;
    *moved = true;
    return map_take(shard, rank_of);
}

/* Before a sync, in which observers are called while rows are where they were. `result`: what this
 * rank has met; returns the same on all ranks. */
static weft_result balance(weft_shard *shard, weft_result result, bool *moved)
{
    *moved = false;
    if (shard->map.ranks == 1) return result;
    uint64_t *costs = calloc(shard->map.count, sizeof *costs);
    uint32_t *rank_of = calloc(shard->map.count, sizeof *rank_of);
    if (result == WEFT_OK && (costs == NULL || rank_of == NULL)) result = weft__ranks_no_memory();
    result = weft_ranks_agree(result);
    if (result == WEFT_OK) result = cut(shard, costs, rank_of, moved);
    free(costs);
    free(rank_of);
    return result;
}

weft_result weft_shard_balance(weft_shard *shard, bool *moved)
{
    bool has_moved = false;
    weft_result result = weft__rows_resume(shard);
    if (result == WEFT_OK) result = balance(shard, WEFT_OK, &has_moved);
    if (result == WEFT_OK) result = weft__rows_sync(shard, WEFT_OK);
    if (moved != NULL) *moved = has_moved;
    return result;
}

/* ---- steps ---- */

/* The systems, with exchanges of ghosts between them. */
static weft_result run_systems(weft_shard *shard, float dt)
{
    weft__ghosts_start(shard);
    shard->step_result = WEFT_OK;
    weft_result result = plan_update(shard);
    if (result == WEFT_OK) {
        result = weft_world_step(shard->world, dt);
        if (result != WEFT_OK)
            result = weft__ranks_fail(result, "the step: %s", weft_world_error(shard->world)->text);
        if (shard->step_result != WEFT_OK) result = shard->step_result;
    }
    return weft__ghosts_finish(shard, plan_exchanges(shard), result);
}

/* Time that is not the work of systems: waiting for ghosts, and hooks. */
static uint64_t idle_ns(const weft_shard *shard)
{
    return shard->stats.wait_ns + weft__front(shard->world)->hooks_ns;
}

weft_result weft_shard_step(weft_shard *shard, float dt)
{
    const uint64_t start = weft__shard_now(), idle = idle_ns(shard);
    shard->owner_thread = weft__os_thread_number();
    weft_result result = weft__rows_resume(shard);
    if (result != WEFT_OK) return result;
    result = run_systems(shard, dt);
    const uint64_t done = weft__shard_now();
    shard->stats.work_ns += done - start - (idle_ns(shard) - idle);
    /* Says in shard->figures_asked whether this rank wants figures now. */
    const rank_figures *f = shard->figures;
    shard->figures_asked =
        f->is_wanted && (f->gathered_ns == 0 || weft__shard_now() - f->gathered_ns >= period_ns);
    bool moved;
    if (shard->balance_every != UINT32_MAX && (shard->stats.steps + 1) % shard->balance_every == 0)
        result = balance(shard, result, &moved);
    result = weft__rows_sync(shard, result);
    shard->stats.sync_ns += weft__shard_now() - done;
    shard->stats.steps++;
    shard->tick++;
    const bool is_asked = result == WEFT_OK && shard->figures_asked != 0;
    shard->stats.step_ns += weft__shard_now() - start;
    if (result == WEFT_OK && is_asked) result = figures_gather(shard);
    if (result == WEFT_OK) result = weft__run_log_write(shard);
    return result;
}

#define TERMS_LIMIT 64u
#define LISTS_LIMIT 64u /* of more_lookups and more_after */

/* What a call of a half measures and whether it lets messages on. */
static void run_half(weft_slice *slice, void *user)
{
    const struct weft__shard_half *half = user;
    const weft__shard_system *system = half->system;
    weft_shard *shard = system->shard;
    uint32_t stored;
    memcpy(&stored, weft_slice_read_shared(slice, system->sector_term), sizeof stored);
    if (stored == 0) return; /* new: it has no place yet */
    const uint32_t sector = stored - 1;
    const bool is_border = (shard->map.visibility[sector] & WEFT__SECTOR_BORDER) != 0;
    if (is_border != half->is_border) return;
    const uint64_t start = weft__shard_now();
    system->run(slice, system->user);
    const uint64_t worker = weft_slice_worker(slice);
    if (worker < shard->cost_workers)
        shard->costs[worker * shard->map.count + sector] += weft__shard_now() - start;
    if (!half->is_border && shard->owner_thread == weft__os_thread_number())
        weft__ghosts_poll(shard); /* MPI goes on only while it is called */
}

/* ---- creating ---- */

static uint32_t term_count(const weft_query_desc *query)
{
    uint32_t count = 0;
    while (count < WEFT_INLINE_TERMS && query->terms[count].component.id != 0) count++;
    return count + query->more_term_count;
}

static const weft_term *term_at(const weft_query_desc *query, uint32_t position)
{
    uint32_t inline_count = 0;
    while (inline_count < WEFT_INLINE_TERMS && query->terms[inline_count].component.id != 0)
        inline_count++;
    return position < inline_count ? &query->terms[position]
                                   : &query->more_terms[position - inline_count];
}

static weft_result check(const weft_shard *shard, const weft_system_desc *desc)
{
    const uint32_t refused = WEFT_SYSTEM_SERIAL | WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE |
                             WEFT_SYSTEM_TIMER | WEFT_SYSTEM_BACKGROUND;
    const char *name = desc->name != NULL ? desc->name : "?";
    if (desc->run == NULL || desc->name == NULL)
        return weft__ranks_fail(WEFT_INVALID_ARGUMENT, "system %s: name and run are needed", name);
    if (desc->over.kind != WEFT_OVER_ROWS || desc->skips_unchanged || desc->by_depth.id != 0 ||
        (desc->flags & refused) != 0)
        return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                "system %s reads ghosts: it runs over rows (over.rows), in "
                                "parallel, without SERIAL, MAIN_THREAD, EXCLUSIVE, TIMER, "
                                "BACKGROUND, skips_unchanged and by_depth",
                                name);
    const uint32_t count = term_count(&desc->over.rows);
    if (count + 1 > TERMS_LIMIT)
        return weft__ranks_fail(WEFT_LIMIT, "system %s: more than %u terms", name, TERMS_LIMIT - 1);
    if (desc->more_lookup_count > LISTS_LIMIT || desc->more_after_count > LISTS_LIMIT)
        return weft__ranks_fail(WEFT_LIMIT, "system %s: more than %u of more_lookups or more_after",
                                name, LISTS_LIMIT);
    bool names_gid = false;
    for (uint32_t i = 0; i < count; i++) {
        const weft_term *term = term_at(&desc->over.rows, i);
        names_gid |= term->component.id == shard->gid.id && term->match == WEFT_ALL &&
                     term->access == WEFT_READ;
        for (uint32_t k = 0; k < shard->halo_count; k++)
            if (term->component.id == shard->halo[k].id && term->access == WEFT_WRITE)
                return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                        "system %s reads ghosts and writes halo component %s: "
                                        "write another component, and copy it in a system behind",
                                        name,
                                        weft_component_info(shard->world, shard->halo[k])->name);
    }
    if (!names_gid)
        return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                "system %s reads ghosts: name ShardGid (weft_shard_info) among "
                                "its terms, for reading",
                                name);
    return WEFT_OK;
}

/* One half: the description with ShardSector as the last term, the halo as look-ups. */
static weft_system create_half(weft_shard *shard, weft__shard_system *system,
                               const weft_system_desc *desc, bool is_border)
{
    weft_term terms[TERMS_LIMIT];
    weft_lookup lookups[WEFT_SHARD_HALO_LIMIT + LISTS_LIMIT];
    char name[80];
    const uint32_t count = term_count(&desc->over.rows);
    for (uint32_t i = 0; i < count; i++) terms[i] = *term_at(&desc->over.rows, i);
    terms[count] = (weft_term){shard->sector, .match = WEFT_PRESENT};
    system->sector_term = count;
    weft_system_desc half = *desc;
    (void)snprintf(name, sizeof name, "%s%s", desc->name, is_border ? ".border" : "");
    half.name = name;
    half.run = run_half;
    half.user = &system->half[is_border];
    memset(half.over.rows.terms, 0, sizeof half.over.rows.terms);
    half.over.rows.more_terms = terms;
    half.over.rows.more_term_count = count + 1;
    half.flags |= WEFT_SYSTEM_NOT_FUSED;
    const char *after[LISTS_LIMIT + 1];
    for (uint32_t i = 0; i < desc->more_after_count; i++) after[i] = desc->more_after[i];
    after[desc->more_after_count] = desc->name; /* in a later stage, also where it only reads */
    half.more_after = after;
    half.more_after_count += is_border;
    uint32_t lookup_count = 0;
    for (uint32_t i = 0; i < desc->more_lookup_count; i++)
        lookups[lookup_count++] = desc->more_lookups[i];
    for (uint32_t i = 0; i < shard->halo_count; i++)
        lookups[lookup_count++] = (weft_lookup){shard->halo[i], WEFT_READ};
    half.more_lookups = lookups;
    half.more_lookup_count = lookup_count;
    return weft_system_create(shard->world, &half);
}

weft_result weft_shard_system_create(weft_shard *shard, const weft_system_desc *desc)
{
    if (shard == NULL || desc == NULL)
        return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                "weft_shard_system_create: an argument is NULL");
    weft_result result = check(shard, desc);
    if (result != WEFT_OK) return result;
    weft__shard_system *system = calloc(1, sizeof *system);
    if (system == NULL) return weft__ranks_no_memory();
    system->shard = shard;
    system->run = desc->run;
    system->user = desc->user;
    for (uint32_t i = 0; i < 2; i++) {
        system->half[i] = (struct weft__shard_half){system, i == 1};
        system->halves[i] = create_half(shard, system, desc, i == 1);
        if (system->halves[i].id != 0) continue;
        result = weft__ranks_fail(weft_world_error(shard->world)->code, "%s",
                                  weft_world_error(shard->world)->text);
        if (i == 1) (void)weft_system_destroy(shard->world, system->halves[0]);
        free(system);
        return result;
    }
    system->next = shard->systems;
    shard->systems = system;
    return WEFT_OK;
}

/* The system that the slice is of: its query has ShardSector as its last term. */
uint32_t weft_shard_slice_sector(const weft_shard *shard, const weft_slice *slice)
{
    (void)shard;
    uint32_t stored;
    memcpy(&stored, weft_slice_read_shared(slice, slice->term_count - 1), sizeof stored);
    return stored - 1;
}

/* ---- components and queries ---- */

static weft_result failed(const weft_shard *shard, const char *what)
{
    const weft_error *error = weft_world_error(shard->world);
    return weft__ranks_fail(error->code != WEFT_OK ? error->code : WEFT_INVALID_ARGUMENT, "%s: %s",
                            what, error->text);
}

/* What entities with a new component are to observers and relations. */
static void mark(weft_world *world, weft_component component, uint32_t flags)
{
    const weft__type *type = weft__type_of(weft_component_info(world, component));
    ((weft__type *)(uintptr_t)type)->archetype_flags = flags;
}

static weft_result register_components(weft_shard *shard)
{
    weft_world *world = shard->world;
    shard->has_references = weft__world_has_references(shard);
    shard->sector = weft_component_create_plain(world, "ShardSector", sizeof(uint32_t),
                                                _Alignof(uint32_t), WEFT_SHARED | WEFT_NOT_COPIED);
    if (shard->sector.id == 0) return failed(shard, "ShardSector");
    const weft_component_desc gid = {.name = "ShardGid",
                                     .size = sizeof(uint64_t),
                                     .flags = WEFT_NOT_COPIED |
                                              (shard->has_references ? WEFT_CLEANUP : 0),
                                     .required = &shard->sector,
                                     .required_count = 1};
    /* in this order, also by a call after a refused one: it is that of all ranks */
    shard->gid = weft_component_create(world, &gid);
    if (shard->gid.id == 0) return failed(shard, "ShardGid");
    mark(world, shard->gid, WEFT__IS_SHARDED);
    shard->ghost =
        weft_component_create_plain(world, "ShardGhost", sizeof(uint64_t), _Alignof(uint64_t), 0);
    if (shard->ghost.id == 0) return failed(shard, "ShardGhost");
    mark(world, shard->ghost, WEFT__IS_STAND_IN);
    shard->stub =
        weft_component_create_plain(world, "ShardStub", sizeof(uint64_t), _Alignof(uint64_t), 0);
    if (shard->stub.id == 0) return failed(shard, "ShardStub");
    mark(world, shard->stub, WEFT__IS_STAND_IN);
    shard->stub_archetype = weft_archetype_create(world, &shard->stub, 1);
    return shard->stub_archetype.id != 0 ? WEFT_OK : failed(shard, "stubs");
}

/* Plain values without hooks only. */
static weft_result check_plain(const weft_shard *shard, weft_component component, const char *role)
{
    const weft_component_desc *desc = weft_component_info(shard->world, component);
    if (desc == NULL)
        return weft__ranks_fail(WEFT_BAD_HANDLE, "%s: no component of this world", role);
    const uint32_t others =
        WEFT_SHARED | WEFT_BUFFER | WEFT_CHUNK | WEFT_CLEANUP | WEFT_RESOURCE | WEFT_SPARSE;
    if (desc->size == 0 || (desc->flags & others) != 0 || desc->hooks.destruct != NULL ||
        desc->hooks.copy != NULL)
        return weft__ranks_fail(WEFT_TYPE_MISMATCH,
                                "%s %s: only a component with plain values and without hooks", role,
                                desc->name);
    return WEFT_OK;
}

static weft_result take_components(weft_shard *shard, const weft_shard_desc *desc)
{
    weft_result result = check_plain(shard, desc->key, "key");
    if (result != WEFT_OK) return result;
    shard->key = desc->key;
    const weft_shard_grid *grid = &shard->map.grid;
    const size_t size = weft_component_info(shard->world, desc->key)->size;
    for (uint32_t axis = 0; axis < grid->dimensions; axis++)
        if (grid->at[axis] + (grid->is_double ? 8u : 4u) > size)
            return weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                    "grid.at[%u] is beyond the %zu bytes of the key", axis, size);
    for (uint32_t i = 0; i < WEFT_SHARD_HALO_LIMIT && desc->halo[i].id != 0; i++) {
        result = check_plain(shard, desc->halo[i], "halo");
        if (result != WEFT_OK) return result;
        for (uint32_t k = 0; k < i; k++)
            if (desc->halo[k].id == desc->halo[i].id)
                return weft__ranks_fail(WEFT_INVALID_ARGUMENT, "halo: a component is there twice");
        shard->halo[i] = desc->halo[i];
        shard->halo_bytes[i] = (uint32_t)weft_component_info(shard->world, desc->halo[i])->size;
        shard->halo_count = i + 1;
    }
    return WEFT_OK;
}

/* `first`, ShardSector, then the halo components where they are there. */
static weft_query halo_query(weft_shard *shard, weft_component first, weft_access access)
{
    weft_term more[WEFT_SHARD_HALO_LIMIT];
    weft_query_desc desc = {
        .terms = {{first, access}, {shard->sector, .match = WEFT_PRESENT}},
        .more_terms = more,
        .more_term_count = shard->halo_count,
        .with_inactive = true,
        .ignores_enabled = true,
        .stamps_asked = access == WEFT_WRITE,
    };
    for (uint32_t i = 0; i < shard->halo_count; i++)
        more[i] = (weft_term){shard->halo[i], .access = access, .match = WEFT_OPTIONAL};
    return weft_query_create(shard->world, &desc);
}

static weft_result make_queries(weft_shard *shard)
{
    shard->rows_query = halo_query(shard, shard->gid, WEFT_READ);
    shard->ghost_query = halo_query(shard, shard->ghost, WEFT_WRITE);
    const weft_query_desc keys = {.terms = {{shard->gid},
                                            {shard->sector, .match = WEFT_PRESENT},
                                            {shard->key, .match = WEFT_PRESENT}},
                                  .with_inactive = true,
                                  .ignores_enabled = true};
    shard->key_query = weft_query_create(shard->world, &keys);
    const weft_query_desc stubs = {.terms = {{shard->stub}}, .with_inactive = true};
    shard->stub_query = weft_query_create(shard->world, &stubs);
    const weft_query_desc dead = {.terms = {{shard->gid}, {shard->sector, .match = WEFT_ABSENT}},
                                  .with_inactive = true};
    if (shard->has_references) shard->dead_query = weft_query_create(shard->world, &dead);
    if ((shard->has_references && shard->dead_query.id == 0) || shard->rows_query.id == 0 ||
        shard->ghost_query.id == 0 || shard->key_query.id == 0 || shard->stub_query.id == 0)
        return failed(shard, "the queries of shards cannot be made");
    return WEFT_OK;
}

/* ---- create ---- */

/* Refuses a run whose ranks describe different shards. */
static weft_result compare_ranks(weft_shard *shard, weft_result result)
{
    result = weft_ranks_agree(result);
    if (result != WEFT_OK) return result;
    uint64_t hash = weft__components_hash(shard);
    hash = hash_bytes(hash, shard->halo_bytes, sizeof shard->halo_bytes);
    hash = hash_bytes(hash, shard->map.near_begin,
                      (shard->map.count + UINT64_C(1)) * sizeof *shard->map.near_begin);
    hash = hash_bytes(hash, shard->map.near,
                      shard->map.near_begin[shard->map.count] * sizeof *shard->map.near);
    hash = hash_word(hash_word(hash, shard->key.id), shard->seed);
    for (uint32_t i = 0; i < shard->halo_count; i++) hash = hash_word(hash, shard->halo[i].id);
    for (uint32_t i = 0; i < shard->kept_count; i++) hash = hash_word(hash, shard->kept[i].id);
    uint64_t first = hash;
    result = weft__transport_broadcast(&first, sizeof first);
    if (result != WEFT_OK) return result;
    if (first != hash)
        result = weft__ranks_fail(WEFT_UNSUPPORTED,
                                  "rank %u differs from rank 0 in its components or in the "
                                  "description of the shard: register the same components in the "
                                  "same order on all ranks",
                                  shard->map.rank);
    return weft_ranks_agree(result);
}

static weft_result make_tables(weft_shard *shard)
{
    const uint64_t sectors = shard->map.count;
    shard->cost_workers = weft_job_pool_worker_count(weft_world_pool(shard->world));
    shard->packs = calloc(sectors, sizeof *shard->packs);
    shard->counters = calloc(sectors, sizeof *shard->counters);
    shard->costs = calloc(sectors * shard->cost_workers, sizeof *shard->costs);
    if (!weft__moving_make(shard) || !weft__ghosts_make(shard) || shard->packs == NULL ||
        shard->counters == NULL || shard->costs == NULL)
        return weft__ranks_no_memory();
    return WEFT_OK;
}

static weft_result init(weft_shard *shard, weft_world *world, const weft_shard_desc *desc)
{
    shard->world = world;
    shard->seed = desc->seed;
    shard->balance_above = desc->balance_above > 0 ? desc->balance_above : 1.15;
    shard->balance_every = desc->balance_every != 0 ? desc->balance_every : 64;
    weft_result result = weft__sector_map_init(&shard->map, desc);
    if (result == WEFT_OK && !(desc->balance_above >= 0))
        result = weft__ranks_fail(WEFT_INVALID_ARGUMENT,
                                  "balance_above is %g: give 0 or more; 0 is the default",
                                  desc->balance_above);
    if (result == WEFT_OK) result = register_components(shard);
    if (result == WEFT_OK) result = take_components(shard, desc);
    if (result == WEFT_OK) result = make_queries(shard);
    if (result == WEFT_OK) result = weft__kept_make(shard, desc->kept);
    if (result == WEFT_OK) result = make_tables(shard);
    return result == WEFT_OK ? figures_init(shard) : result;
}

weft_result weft_shard_create(weft_world *world, const weft_shard_desc *desc, weft_shard **out)
{
    if (world == NULL || desc == NULL || out == NULL)
        return weft__ranks_fail(WEFT_INVALID_ARGUMENT, "weft_shard_create: an argument is NULL");
    *out = NULL;
    if (!weft__transport_is_started())
        return weft__ranks_fail(WEFT_WRONG_PHASE, "call weft_ranks_start before "
                                                  "weft_shard_create");
    weft_shard *shard = calloc(1, sizeof *shard);
    weft_result result = shard != NULL ? init(shard, world, desc) : weft__ranks_no_memory();
    result = compare_ranks(shard, result);
    if (result == WEFT_OK) result = weft__run_log_open(shard);
    if (result == WEFT_OK)
        *out = shard;
    else
        weft_shard_destroy(shard);
    return result;
}

static void end_query(weft_shard *shard, weft_query query, bool ends_entities)
{
    if (query.id == 0) return;
    if (ends_entities) (void)weft_query_destroy_entities(shard->world, query);
    (void)weft_query_destroy(shard->world, query);
}

void weft_shard_destroy(weft_shard *shard)
{
    if (shard == NULL) return;
    const weft__world_front *front = weft__front(shard->world);
    if (front->is_told || (front->busy | front->frame) != 0) {
        (void)weft__ranks_fail(WEFT_WRONG_PHASE,
                               "weft_shard_destroy: a step of the world goes on, or calls its "
                               "hooks: destroy the shard when weft_shard_step has returned");
        return;
    }
    weft__front(shard->world)->pins[WEFT__PIN_SHARD].moment = 0;
    weft__run_log_close(shard);
    plan_free(shard);
    while (shard->systems != NULL) {
        weft__shard_system *system = shard->systems;
        shard->systems = system->next;
        for (uint32_t i = 0; i < 2; i++) (void)weft_system_destroy(shard->world, system->halves[i]);
        free(system);
    }
    end_query(shard, shard->rows_query, false);
    end_query(shard, shard->key_query, false);
    end_query(shard, shard->dead_query, false);
    end_query(shard, shard->ghost_query, true);
    end_query(shard, shard->stub_query, true);
    for (uint32_t i = 0; i < shard->kept_count; i++) end_query(shard, shard->kept_rows[i], false);
    weft__packs_free(shard);
    weft__ghosts_free(shard);
    weft__gid_table_free(shard);
    figures_free(shard);
    weft__moving_free(shard);
    free(shard->counters);
    free(shard->costs);
    weft__sector_map_free(&shard->map);
    free(shard);
}

/* ---- what it is ---- */

uint32_t weft_shard_sector_of(const weft_shard *shard, const void *key)
{
    return weft__sector_at(&shard->map, key);
}

uint32_t weft_shard_rank_of(const weft_shard *shard, uint32_t sector)
{
    return sector < shard->map.count ? shard->map.rank_of[sector] : 0;
}

bool weft_shard_is_mine(const weft_shard *shard, const void *key)
{
    return weft__sector_is_mine(shard, weft__sector_at(&shard->map, key));
}

uint32_t weft_shard_near(const weft_shard *shard, uint32_t sector, const uint32_t **out)
{
    *out = NULL;
    if (sector >= shard->map.count) return 0;
    *out = shard->map.near + shard->map.near_begin[sector];
    return shard->map.near_begin[sector + 1] - shard->map.near_begin[sector];
}

bool weft_shard_rows_get(const weft_shard *shard, uint32_t sector, weft_shard_rows *out)
{
    *out = (weft_shard_rows){.sector = sector};
    if (sector >= shard->map.count || shard->map.visibility[sector] == 0) return false;
    const weft__pack *pack = &shard->packs[sector];
    out->count = pack->count;
    out->is_ghost = !weft__sector_is_mine(shard, sector);
    out->gids = pack->gids;
    out->entities = pack->entities;
    out->present = pack->present;
    for (uint32_t i = 0; i < shard->halo_count; i++) out->columns[i] = pack->columns[i];
    return true;
}

uint32_t weft_shard_rows_find(const weft_shard_rows *rows, uint64_t gid)
{
    uint32_t begin = 0, end = rows->count;
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        if (rows->gids[middle] < gid)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < rows->count && rows->gids[begin] == gid ? begin : rows->count;
}

uint64_t weft_shard_tick(const weft_shard *shard)
{
    return shard->tick;
}
