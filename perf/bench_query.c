/* SPDX-License-Identifier: MIT */
/* bench_query.c: queries: walking many archetypes, making queries, filters, shared values, indexed
 * access. Enable bits: bench_enable.c.
 *
 * Every case runs on one thread. Worlds are made outside the timed part; `raw` is the same work on
 * plain arrays.
 */
#include "bench.h"

#include <weft/ecs.h>

#include "shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARCHETYPES = 10000, TAGS = 14 };

typedef struct vector3 {
    float x, y, z;
} vector3;

static weft_world *make_world(weft_bench *bench)
{
    weft_world *world = NULL;
    if (weft_world_create(&(weft_world_desc){.workers = 1}, &world) != WEFT_OK)
        weft_bench_fail(bench, "no world");
    return world;
}

static weft_component make_component(weft_world *world, const char *name, size_t size,
                                     uint32_t flags)
{
    return weft_component_create(
        world, &(weft_component_desc){.name = name, .size = size, .flags = flags});
}

/* ---- many archetypes ---- */

/* Archetype number i has a position and the tags of the bits of i; one entity each. */
typedef struct many_world {
    weft_world *world;
    weft_component position, tags[TAGS];
    weft_query query;
    float sum;
    float plain[ARCHETYPES];
    weft_query made;
    weft_query_desc desc;
} many_world;

static bool many_open(weft_bench *bench, many_world *m)
{
    memset(m, 0, sizeof *m);
    m->world = make_world(bench);
    if (m->world == NULL) return false;
    m->position = make_component(m->world, "position", sizeof(vector3), 0);
    for (uint32_t t = 0; t < TAGS; t++) {
        char name[8] = {'t', 'a', 'g', (char)('a' + t), 0};
        m->tags[t] = make_component(m->world, name, 0, 0);
    }
    for (uint32_t i = 0; i < ARCHETYPES; i++) {
        weft_component list[TAGS + 1] = {m->position};
        uint32_t count = 1;
        for (uint32_t t = 0; t < TAGS; t++)
            if ((i >> t & 1) != 0) list[count++] = m->tags[t];
        if (weft_entity_create_many(m->world, weft_archetype_create(m->world, list, count), 1,
                                    NULL) != WEFT_OK)
            return false;
    }
    m->query = weft_query_create(m->world, &(weft_query_desc){.terms = {{m->position}}});
    return true;
}

static void many_walk(void *data)
{
    many_world *m = data;
    float sum = 0;
    weft_cursor cursor = weft_query_begin(m->world, m->query);
    while (weft_query_next(&cursor)) {
        const vector3 *p = weft_slice_read(&cursor.slice, 0);
        for (uint32_t i = 0, n = weft_slice_count(&cursor.slice); i < n; i++) sum += p[i].x;
    }
    m->sum = sum;
    weft_bench_keep(&m->sum);
}

static void many_raw(void *data)
{
    many_world *m = data;
    float sum = 0;
    for (uint32_t i = 0; i < ARCHETYPES; i++) sum += m->plain[i];
    m->sum = sum;
    weft_bench_keep(&m->sum);
}

static void walk_archetypes(weft_bench *bench)
{
    static many_world m;
    if (many_open(bench, &m))
        weft_bench_run(bench, &(weft_bench_measure){.name = "10k",
                                                    .unit = "ns/archetype",
                                                    .items = ARCHETYPES,
                                                    .workers = 1,
                                                    .run = many_walk,
                                                    .raw = many_raw,
                                                    .data = &m});
    weft_world_destroy(m.world);
}

static void many_make(void *data)
{
    many_world *m = data;
    m->made = weft_query_create(m->world, &m->desc);
}

static void many_forget(void *data)
{
    many_world *m = data;
    if (m->made.id != 0) weft_query_destroy(m->world, m->made);
    m->made.id = 0;
}

/* A query that no other handle shares, so that it is matched each time. */
static void make_case(weft_bench *bench, many_world *m, const char *name, double items)
{
    m->made.id = 0;
    weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                .unit = "ns/archetype",
                                                .items = items,
                                                .workers = 1,
                                                .run = many_make,
                                                .prepare = many_forget,
                                                .data = m});
    many_forget(m);
}

static void make_queries(weft_bench *bench)
{
    static many_world m;
    if (many_open(bench, &m)) {
        m.desc = (weft_query_desc){.terms = {{m.position, WEFT_WRITE}}};
        make_case(bench, &m, "matching", ARCHETYPES);
        m.desc = (weft_query_desc){
            .terms = {{m.position, WEFT_WRITE}, {m.tags[0]}, {m.tags[1]}, {m.tags[2]}}};
        many_make(&m);
        double matches = (double)weft_query_archetypes(m.world, m.made, NULL, 0);
        many_forget(&m);
        make_case(bench, &m, "selective", ARCHETYPES - matches);
    }
    weft_world_destroy(m.world);
}

/* ---- filters ---- */

enum { ROWS = 4000000 };

/* Rows with a position, in big chunks; two shared values. */
typedef struct filter_world {
    weft_world *world;
    weft_component position, shared;
    weft_query query;
    uint64_t seen;
} filter_world;

static bool filter_open(weft_bench *bench, filter_world *f)
{
    memset(f, 0, sizeof *f);
    f->world = make_world(bench);
    if (f->world == NULL) return false;
    f->position = make_component(f->world, "position", sizeof(vector3), 0);
    f->shared = make_component(f->world, "shared", 4, WEFT_SHARED);
    weft_component list[2] = {f->position, f->shared};
    if (weft_entity_create_many(f->world, weft_archetype_create(f->world, list, 2), ROWS, NULL) !=
        WEFT_OK)
        return false;
    f->query =
        weft_query_create(f->world, &(weft_query_desc){.terms = {{f->position}, {f->shared}}});
    return true;
}

static void filter_walk(void *data)
{
    filter_world *f = data;
    uint64_t rows = 0;
    weft_cursor cursor = weft_query_begin(f->world, f->query);
    while (weft_query_next(&cursor)) rows += cursor.slice.count;
    f->seen = rows;
}

static double slice_count(const filter_world *f)
{
    weft_world_stats stats;
    weft_world_stats_get(f->world, &stats, sizeof stats);
    return (double)stats.slices;
}

static void filter_case(weft_bench *bench, filter_world *f, const char *name)
{
    weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                .unit = "ns/slice",
                                                .items = slice_count(f),
                                                .workers = 1,
                                                .run = filter_walk,
                                                .data = f});
    if (f->seen != 0)
        weft_bench_fail(bench, "the filter let %llu rows pass", (unsigned long long)f->seen);
}

static void filter_by_shared(weft_bench *bench)
{
    static filter_world f;
    if (filter_open(bench, &f) &&
        weft_query_filter_shared(f.world, f.query, f.shared, WEFT_FILTER_EQUAL, &(int32_t){7}, 1) ==
            WEFT_OK)
        filter_case(bench, &f, "skipped");
    weft_world_destroy(f.world);
}

static void filter_by_change(weft_bench *bench)
{
    static filter_world f;
    if (filter_open(bench, &f) &&
        weft_query_filter_changed(f.world, f.query, f.position,
                                  weft_world_advance_change_version(f.world)) == WEFT_OK)
        filter_case(bench, &f, "skipped");
    weft_world_destroy(f.world);
}

/* ---- shared values ---- */

typedef struct shared_world {
    weft_world *world;
    weft_component position, velocity, shared;
    weft_query query;
    int32_t next;
} shared_world;

static void shared_set(void *data)
{
    shared_world *s = data;
    s->next = s->next % 100 + 1;
    weft_query_set_shared(s->world, s->query, s->shared, &s->next);
}

static void shared_set_query(weft_bench *bench)
{
    shared_world s = {.world = make_world(bench)};
    if (s.world == NULL) return;
    s.position = make_component(s.world, "position", sizeof(vector3), 0);
    s.velocity = make_component(s.world, "velocity", sizeof(vector3), 0);
    s.shared = make_component(s.world, "shared", 4, WEFT_SHARED);
    weft_component list[3] = {s.position, s.velocity, s.shared};
    if (weft_entity_create_many(s.world, weft_archetype_create(s.world, list, 3), 1000000, NULL) ==
        WEFT_OK) {
        s.query = weft_query_create(s.world, &(weft_query_desc){.terms = {{s.shared}}});
        weft_world_stats before, after;
        weft_world_stats_get(s.world, &before, sizeof before);
        weft_bench_run(
            bench,
            &(weft_bench_measure){
                .name = "1M", .unit = "us/call", .workers = 1, .run = shared_set, .data = &s});
        weft_world_stats_get(s.world, &after, sizeof after);
        weft_bench_value(bench, "1M-moved", "bytes", 1,
                         (double)(after.bytes_moved - before.bytes_moved));
    }
    weft_world_destroy(s.world);
}

enum { VALUES = 65536, LOOKUPS = 100000 };

typedef struct intern_data {
    weft__memory memory;
    weft__shared shared;
    weft_component_desc desc;
    uint64_t values[LOOKUPS];
    uint64_t sum;
} intern_data;

static void intern_all(void *data)
{
    intern_data *d = data;
    uint32_t index = 0;
    for (uint32_t i = 0; i < LOOKUPS; i++) {
        weft__shared_intern(&d->shared, 1, &d->values[i], &index);
        d->sum += index;
    }
}

static void shared_intern(weft_bench *bench)
{
    static intern_data d;
    memset(&d, 0, sizeof d);
    d.desc =
        (weft_component_desc){.name = "value", .size = 8, .alignment = 8, .flags = WEFT_SHARED};
    if (weft__memory_init(&d.memory, NULL) != WEFT_OK) return;
    weft__shared_init(&d.shared, &d.memory);
    if (weft__shared_type_create(&d.shared, 1, &d.desc) == WEFT_OK) {
        uint64_t state = 1;
        uint32_t index;
        for (uint64_t v = 1; v <= VALUES; v++) weft__shared_intern(&d.shared, 1, &v, &index);
        for (uint32_t i = 0; i < LOOKUPS; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            d.values[i] = (state >> 40) % VALUES + 1;
        }
        weft_bench_run(bench, &(weft_bench_measure){.name = "64k",
                                                    .unit = "ns/value",
                                                    .items = LOOKUPS,
                                                    .workers = 1,
                                                    .run = intern_all,
                                                    .data = &d});
    }
    weft__shared_fini(&d.shared);
}

/* ---- indexed access ---- */

typedef struct indexed_data {
    weft_world *world;
    weft_component value;
    weft_query query;
    weft_indexed indexed;
    float *plain;
    uint32_t *order;
    uint64_t count;
    float sum;
} indexed_data;

static void indexed_sequential(void *data)
{
    indexed_data *d = data;
    float sum = 0;
    for (uint64_t i = 0; i < d->count; i++) {
        const float *v = weft_indexed_read(&d->indexed, i);
        sum += *v;
    }
    d->sum = sum;
    weft_bench_keep(&d->sum);
}

static void indexed_raw(void *data)
{
    indexed_data *d = data;
    float sum = 0;
    for (uint64_t i = 0; i < d->count; i++) sum += d->plain[i];
    d->sum = sum;
    weft_bench_keep(&d->sum);
}

static void indexed_random(void *data)
{
    indexed_data *d = data;
    float sum = 0;
    for (uint64_t i = 0; i < d->count; i++) {
        const float *v = weft_indexed_read(&d->indexed, d->order[i]);
        sum += *v;
    }
    d->sum = sum;
    weft_bench_keep(&d->sum);
}

/* `row_limit` 0: chunks as big as they get. */
static bool indexed_open(weft_bench *bench, indexed_data *d, uint32_t rows, uint32_t row_limit)
{
    memset(d, 0, sizeof *d);
    d->world = make_world(bench);
    d->plain = weft_bench_zeroed(rows, sizeof *d->plain);
    d->order = malloc(rows * sizeof *d->order);
    if (d->world == NULL || d->plain == NULL || d->order == NULL) return false;
    d->count = rows;
    d->value = weft_component_create(
        d->world, &(weft_component_desc){
                      .name = "value", .size = sizeof(float), .chunk_row_limit = row_limit});
    uint64_t state = 1;
    for (uint32_t i = 0; i < rows; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        d->order[i] = (uint32_t)((state >> 33) % rows);
    }
    if (weft_entity_create_many(d->world, WEFT_ARCHETYPE(d->world, d->value), rows, NULL) !=
        WEFT_OK)
        return false;
    d->query = weft_query_create(d->world, &(weft_query_desc){.terms = {{d->value}}});
    return weft_indexed_open(d->world, d->query, 0, &d->indexed) == WEFT_OK;
}

static void indexed_close(indexed_data *d)
{
    weft_indexed_close(&d->indexed);
    weft_world_destroy(d->world);
    free(d->plain);
    free(d->order);
}

static void indexed_access(weft_bench *bench)
{
    indexed_data d;
    if (weft_bench_wants(bench, "sequential")) {
        if (indexed_open(bench, &d, 1000000, 0))
            weft_bench_run(bench, &(weft_bench_measure){.name = "sequential",
                                                        .unit = "ns/element",
                                                        .items = (double)d.count,
                                                        .workers = 1,
                                                        .run = indexed_sequential,
                                                        .raw = indexed_raw,
                                                        .data = &d});
        indexed_close(&d);
    }
    if (weft_bench_wants(bench, "random")) {
        if (indexed_open(bench, &d, 200000, 20)) /* 10,000 chunks of 20 rows */
            weft_bench_run(bench, &(weft_bench_measure){.name = "random",
                                                        .unit = "ns/element",
                                                        .items = (double)d.count,
                                                        .workers = 1,
                                                        .run = indexed_random,
                                                        .data = &d});
        indexed_close(&d);
    }
}

const weft_bench_entry weft_bench_query[] = {
    {"query.archetypes", "a cached query over 10,000 archetypes of one entity, reads one float",
     walk_archetypes, false},
    {"query.make",
     "makes a query over 10,000 archetypes; selective: per archetype that does not match",
     make_queries, false},
    {"filter.shared", "4 M rows, a shared value that no chunk has, per slice skipped",
     filter_by_shared, false},
    {"filter.changed", "4 M rows, none changed, per slice skipped", filter_by_change, false},
    {"shared.set_query", "sets a shared value on 1 M entities by query: headers only",
     shared_set_query, false},
    {"shared.intern", "looks a value of 8 bytes up among 65,536", shared_intern, false},
    {"query.indexed", "1 M elements in order; any of 200,000 in 10,000 chunks", indexed_access,
     false},
    {0},
};
