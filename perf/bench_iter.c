/* SPDX-License-Identifier: MIT */
/* bench_iter.c: the scaling of loops over workers, from cache-sized to memory-sized worlds.
 *
 * iter.parallel: position += velocity by weft_query_each_parallel on all workers, memory-bound
 * at 10 M; raw: two plain arrays in huge pages, as weft's chunks are, on one thread; peers: weft
 * on one worker ("1worker"), OpenMP over the plain arrays on as many threads. "speedup" is weft
 * on one worker against all, "speedup-raw" raw against OpenMP: what the machine's memory had to
 * give at the time.
 *
 * iter.compute: 64 rounds of a dependent multiply-add chain per row: compute-bound; same peers.
 */
#include "bench.h"
#include "peer.h"

#include <weft/ecs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CHAIN = 64 };

typedef struct vec3 {
    float x, y, z;
} vec3;

/* Two worlds of the same rows (with one worker and with all) and plain arrays. Owner: the
 * benchmark. */
typedef struct rows {
    weft_world *worlds[2]; /* [0]: one worker, [1]: all */
    weft_query queries[2];
    vec3 *position, *velocity;
    uint64_t count;
    uint32_t workers;
} rows;

static void move_rows(uint64_t n, vec3 *restrict p, const vec3 *restrict v)
{
    for (uint64_t i = 0; i < n; i++) {
        p[i].x += v[i].x;
        p[i].y += v[i].y;
        p[i].z += v[i].z;
    }
}

static void chain_rows(uint64_t n, vec3 *restrict p, const vec3 *restrict v)
{
    for (uint64_t i = 0; i < n; i++) {
        vec3 a = p[i];
        for (int k = 0; k < CHAIN; k++) {
            a.x = a.x * 0.999f + v[i].x;
            a.y = a.y * 0.999f + v[i].y;
            a.z = a.z * 0.999f + v[i].z;
        }
        p[i] = a;
    }
}

static void move_slice(weft_slice *s, void *user)
{
    (void)user;
    move_rows(weft_slice_count(s), weft_slice_write(s, 0), weft_slice_read(s, 1));
}

static void chain_slice(weft_slice *s, void *user)
{
    (void)user;
    chain_rows(weft_slice_count(s), weft_slice_write(s, 0), weft_slice_read(s, 1));
}

static void move_each(void *data)
{
    const rows *r = data;
    weft_query_each_parallel(r->worlds[1], r->queries[1], move_slice, NULL);
}

static void move_each_alone(void *data)
{
    const rows *r = data;
    weft_query_each_parallel(r->worlds[0], r->queries[0], move_slice, NULL);
}

static void chain_each(void *data)
{
    const rows *r = data;
    weft_query_each_parallel(r->worlds[1], r->queries[1], chain_slice, NULL);
}

static void chain_each_alone(void *data)
{
    const rows *r = data;
    weft_query_each_parallel(r->worlds[0], r->queries[0], chain_slice, NULL);
}

static void move_raw(void *data)
{
    rows *r = data;
    move_rows(r->count, r->position, r->velocity);
    weft_bench_keep(r->position);
}

static void chain_raw(void *data)
{
    rows *r = data;
    chain_rows(r->count, r->position, r->velocity);
    weft_bench_keep(r->position);
}

static void move_body(uint64_t begin, uint64_t end, void *user)
{
    rows *r = user;
    move_rows(end - begin, r->position + begin, r->velocity + begin);
}

static void chain_body(uint64_t begin, uint64_t end, void *user)
{
    rows *r = user;
    chain_rows(end - begin, r->position + begin, r->velocity + begin);
}

static void move_openmp(void *data)
{
    rows *r = data;
    weft_peer_openmp()->loop(r->workers, r->count, 0, move_body, r);
}

static void chain_openmp(void *data)
{
    rows *r = data;
    weft_peer_openmp()->loop(r->workers, r->count, 0, chain_body, r);
}

static bool open_world(weft_bench *bench, rows *r, int which, uint32_t workers)
{
    if (weft_world_create(&(weft_world_desc){.workers = workers}, &r->worlds[which]) != WEFT_OK) {
        weft_bench_fail(bench, "cannot create a world with %u workers", workers);
        return false;
    }
    weft_world *world = r->worlds[which];
    const weft_component set[] = {
        weft_component_create_plain(world, "Position", sizeof(vec3), 4, 0),
        weft_component_create_plain(world, "Velocity", sizeof(vec3), 4, 0)};
    if (weft_entity_create_filled(world, weft_archetype_create(world, set, 2),
                                  WEFT_VALUES({set[0], r->position}, {set[1], r->velocity}),
                                  (uint32_t)r->count, NULL) != WEFT_OK) {
        weft_bench_fail(bench, "%s", weft_world_error(world)->text);
        return false;
    }
    const weft_query_desc query = {
        .terms = {{set[0], WEFT_WRITE, WEFT_ALL, 0}, {set[1], WEFT_READ, WEFT_ALL, 0}}};
    r->queries[which] = weft_query_create(world, &query);
    return true;
}

static void close_rows(rows *r)
{
    for (int i = 0; i < 2; i++) weft_world_destroy(r->worlds[i]);
    free(r->position);
    free(r->velocity);
}

/* Zeroed, in huge pages where the kernel has some. */
static vec3 *plain_array(uint64_t count)
{
    const size_t huge = (size_t)2 << 20, bytes = (count * sizeof(vec3) + huge - 1) / huge * huge;
    vec3 *array = aligned_alloc(huge, bytes);
    if (array == NULL) return NULL;
    madvise(array, bytes, MADV_HUGEPAGE);
    memset(array, 0, bytes);
    return array;
}

static bool open_rows(weft_bench *bench, rows *r, uint64_t count)
{
    *r = (rows){.count = count, .workers = weft_bench_workers(bench)};
    r->position = plain_array(count);
    r->velocity = plain_array(count);
    bool is_ready = r->position && r->velocity;
    for (uint64_t i = 0; is_ready && i < count; i++) {
        r->position[i] = (vec3){(float)i, 0, 1};
        r->velocity[i] = (vec3){0.001f, 0.002f, 0.003f};
    }
    return is_ready && open_world(bench, r, 0, 1) && open_world(bench, r, 1, r->workers);
}

static const struct size_case {
    const char *name;
    uint64_t count;
} size_cases[] = {{"10k", 10000}, {"100k", 100000}, {"1M", 1000000}, {"10M", 10000000}};

static void report_speedup(weft_bench *bench, const char *label, const char *what, const rows *r,
                           double value)
{
    char name[32];
    snprintf(name, sizeof name, "%s %s", label, what);
    if (value > 0) weft_bench_value(bench, name, "ratio", r->workers, value);
}

static void scaling(weft_bench *bench, weft_bench_measure m, weft_bench_fn *alone,
                    weft_bench_fn *openmp)
{
    for (size_t i = 0; i < sizeof size_cases / sizeof size_cases[0]; i++) {
        rows r;
        if (!weft_bench_wants(bench, size_cases[i].name)) continue;
        if (open_rows(bench, &r, size_cases[i].count)) {
            m.name = size_cases[i].name;
            m.unit = "ns/entity";
            m.items = (double)r.count;
            m.data = &r;
            m.peers[0] = (weft_bench_peer){"1worker", alone, NULL};
            if (weft_peer_openmp()) m.peers[1] = (weft_bench_peer){"openmp", openmp, NULL};
            const weft_bench_result found = weft_bench_run(bench, &m);
            report_speedup(bench, size_cases[i].name, "speedup", &r,
                           found.median > 0 ? found.peers[0] / found.median : 0);
            report_speedup(bench, size_cases[i].name, "speedup-raw", &r,
                           found.peers[1] > 0 ? found.raw / found.peers[1] : 0);
        }
        close_rows(&r);
    }
}

static void parallel(weft_bench *bench)
{
    const weft_bench_measure m = {.run = move_each, .raw = move_raw};
    scaling(bench, m, move_each_alone, move_openmp);
}

static void compute(weft_bench *bench)
{
    const weft_bench_measure m = {.run = chain_each, .raw = chain_raw};
    scaling(bench, m, chain_each_alone, chain_openmp);
}

const weft_bench_entry weft_bench_iter[] = {
    {"iter.parallel", "position += velocity on all workers: memory-bound scaling", parallel, 0},
    {"iter.compute", "64 dependent multiply-adds per row, all workers", compute, 1},
    {0},
};
