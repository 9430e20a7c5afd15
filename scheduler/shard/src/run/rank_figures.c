/* SPDX-License-Identifier: MIT */
/* rank_figures.c: see rank_figures.h. Each rank has a line of words in a table of all; the others
 * have zeros there, so the sum of the tables is the table of all. Counts are since creation: the
 * figures of a tick are the difference of two tables over the steps between them. */
#include "rank_figures.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ranks_error.h"
#include "shard_clock.h"

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

/* Text of a limited size, whose whole length is counted. */
typedef struct told {
    char *text;
    size_t capacity, length;
} told;

__attribute__((format(printf, 2, 3))) static void add(told *out, const char *format, ...)
{
    const size_t room = out->length < out->capacity ? out->capacity - out->length : 0;
    va_list arguments;
    va_start(arguments, format);
    const int count =
        vsnprintf(room != 0 ? out->text + out->length : NULL, room, format, arguments);
    va_end(arguments);
    if (count > 0) out->length += (size_t)count;
}

/* A figure of a rank: what is there now, or a count for each tick. */
static double figure_of(const rank_figures *f, uint32_t rank, uint32_t figure)
{
    const size_t at = (size_t)rank * LINE_WORDS + figure;
    if (figure < COUNTS) return (double)f->now[at];
    return (double)(f->now[at] - f->before[at]) / (double)f->steps_between;
}

static void tell_rank(const rank_figures *f, uint32_t rank, told *out)
{
    const char *host = (const char *)&f->now[(size_t)rank * LINE_WORDS + HOST];
    add(out, "%s{\"rank\":%" PRIu32 ",\"host\":\"%s\"", rank != 0 ? "," : "", rank, host);
    for (uint32_t i = 0; i < FIGURES; i++)
        add(out, ",\"%s\":%.9g", names[i], figure_of(f, rank, i));
    add(out, "}");
}

static void tell_over_ranks(const rank_figures *f, uint32_t ranks, uint32_t figure, told *out)
{
    double sum = 0, largest = 0;
    uint32_t at = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const double value = figure_of(f, rank, figure);
        sum += value;
        if (value > largest) largest = value, at = rank;
    }
    add(out, "%s{\"figure\":\"%s\",\"per_tick\":%s,\"sum\":%.9g,\"largest\":%.9g,\"rank\":%" PRIu32,
        figure != 0 ? "," : "", names[figure], figure < COUNTS ? "false" : "true", sum, largest,
        at);
    if (sum > 0) add(out, ",\"imbalance\":%.6g", largest * ranks / sum);
    add(out, "}");
}

/* The hook's: asks for the next figures, too. */
static size_t tell(char *text, size_t capacity, void *user)
{
    weft_shard *shard = user;
    rank_figures *f = shard->figures;
    const uint32_t ranks = shard->map.ranks;
    told out = {text, capacity, 0};
    f->is_wanted = true;
    add(&out,
        "\"rank\":%" PRIu32 ",\"ranks\":%" PRIu32 ",\"sectors\":%" PRIu32 ",\"tick\":%" PRIu64
        ",\"steps\":%" PRIu64 ",\"rows\":[",
        shard->map.rank, ranks, shard->map.count, f->tick, f->steps_between);
    for (uint32_t rank = 0; rank < ranks && f->steps_between != 0; rank++) tell_rank(f, rank, &out);
    add(&out, "],\"over_ranks\":[");
    for (uint32_t i = 0; i < FIGURES && f->steps_between != 0; i++)
        tell_over_ranks(f, ranks, i, &out);
    add(&out, "]");
    return out.length;
}

/* ---- gathering ---- */

void weft__figures_ask(weft_shard *shard)
{
    const rank_figures *f = shard->figures;
    shard->figures_asked =
        f->is_wanted && (f->gathered_ns == 0 || weft__shard_now() - f->gathered_ns >= period_ns);
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

weft_result weft__figures_gather(weft_shard *shard)
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

/* A name that needs no escapes in JSON. */
static void take_host(char *host)
{
    (void)gethostname(host, HOST_BYTES - 1);
    for (char *c = host; *c != '\0'; c++)
        if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\') *c = '?';
}

weft_result weft__figures_init(weft_shard *shard)
{
    const size_t words = (size_t)shard->map.ranks * LINE_WORDS;
    rank_figures *f = shard->figures = calloc(1, sizeof *f);
    if (f == NULL) return weft__ranks_no_memory();
    f->now = calloc(words, sizeof *f->now);
    f->before = calloc(words, sizeof *f->before);
    if (f->now == NULL || f->before == NULL) return weft__ranks_no_memory();
    take_host(f->host);
    f->hook = (weft_world_hook){
        .user = shard, .name = "shards", .tell = tell, .holds = "shard (weft_shard_destroy)"};
    return weft_world_hook_add(shard->world, &f->hook);
}

void weft__figures_free(weft_shard *shard)
{
    rank_figures *f = shard->figures;
    if (f == NULL) return;
    (void)weft_world_hook_remove(shard->world, &f->hook);
    free(f->now);
    free(f->before);
    free(f);
    shard->figures = NULL;
}

/* ---- of this rank ---- */

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
