/* SPDX-License-Identifier: MIT */
/* bench_enable.c: enable bits: loops over slices half of whose rows are disabled, and setting bits.
 *
 * One thread. Bodies of three weights are run over all rows and over the enabled half, with the row
 * iteration of slice.h where the rows are scattered at random, with its runs where they come in
 * stretches; what counts is the cost of a visited row against a row of the dense loop.
 */
#include "bench.h"

#include <weft/ecs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct vector3 {
    float x, y, z;
} vector3;

enum { BIT_ROWS = 100000 };

/* Rows with an enableable vector, half of them off at random; small enough for the caches. */
typedef struct enable_world {
    weft_world *world;
    weft_component value;
    weft_query query, everything;
    weft_entity *entities;
} enable_world;

static bool enable_open(weft_bench *bench, enable_world *w)
{
    memset(w, 0, sizeof *w);
    w->world = NULL;
    if (weft_world_create(&(weft_world_desc){.workers = 1}, &w->world) != WEFT_OK)
        weft_bench_fail(bench, "no world");
    w->entities = malloc(BIT_ROWS * sizeof *w->entities);
    if (w->world == NULL || w->entities == NULL) return false;
    w->value = WEFT_COMPONENT_FLAGS(w->world, vector3, WEFT_ENABLEABLE);
    if (weft_entity_create_many(w->world, WEFT_ARCHETYPE(w->world, w->value), BIT_ROWS,
                                w->entities) != WEFT_OK)
        return false;
    weft_query_desc desc = {.terms = {{w->value, WEFT_WRITE}}};
    w->query = weft_query_create(w->world, &desc);
    desc.ignores_enabled = true;
    w->everything = weft_query_create(w->world, &desc);
    const vector3 start = {1, 2, 3};
    return weft_query_set(w->world, w->everything, w->value, &start, sizeof start) == WEFT_OK;
}

static void enable_close(enable_world *w)
{
    weft_world_destroy(w->world);
    free(w->entities);
}

static void enable_half(enable_world *w)
{
    uint64_t state = 88172645463325252u;
    for (uint32_t i = 0; i < BIT_ROWS; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        weft_entity_enable(w->world, w->entities[i], w->value, (state >> 20 & 1) != 0);
    }
}

/* About 3 ns: the length of a vector, and three divisions. */
static inline void normalise(vector3 *v)
{
    float length = __builtin_sqrtf(v->x * v->x + v->y * v->y + v->z * v->z);
    v->x = v->x / length + 0.5f;
    v->y = v->y / length + 0.5f;
    v->z = v->z / length + 0.5f;
    __asm__("" : : "r"(v) : "memory"); /* one row at a time, in the dense loop too */
}

/* About 1.3 ns: eleven multiplications and additions. */
static inline void pull(vector3 *v)
{
    float away = (v->x * v->x + v->y * v->y + v->z * v->z) * 1e-6f;
    v->x = v->x * 0.5f + away + 1.0f;
    v->y = v->y * 0.5f + away + 1.0f;
    v->z = v->z * 0.5f + away + 1.0f;
    __asm__("" : : "r"(v) : "memory");
}

/* About 0.3 ns: one cycle. */
static inline void halve(vector3 *v)
{
    v->x = v->x * 0.5f + 1.0f;
    __asm__("" : : "r"(v) : "memory");
}

/* Disables every second stretch of 128 rows. */
static void enable_stretches(enable_world *w)
{
    for (uint32_t i = 0; i < BIT_ROWS; i++)
        weft_entity_enable(w->world, w->entities[i], w->value, (i & 128) == 0);
}

/* Calls `body` for every enabled row of a slice; inlined, the body too. */
static inline __attribute__((always_inline)) void for_enabled(const weft_slice *slice,
                                                              void (*body)(vector3 *))
{
    vector3 *v = weft_slice_write(slice, 0);
    if (slice->enabled != NULL) {
        weft_slice_walk walk = {0};
        while (weft_slice_next_row(slice, &walk)) body(&v[walk.row]);
    } else {
        for (uint32_t i = 0, count = weft_slice_count(slice); i < count; i++) body(&v[i]);
    }
}

static inline __attribute__((always_inline)) void run_all(const enable_world *w,
                                                          void (*body)(vector3 *))
{
    weft_cursor cursor = weft_query_begin(w->world, w->everything);
    while (weft_query_next(&cursor)) for_enabled(&cursor.slice, body);
}

static inline __attribute__((always_inline)) void run_half(const enable_world *w,
                                                           void (*body)(vector3 *))
{
    weft_cursor cursor = weft_query_begin(w->world, w->query);
    while (weft_query_next(&cursor)) for_enabled(&cursor.slice, body);
}

/* The same by runs of rows. */
static inline __attribute__((always_inline)) void run_stretches(const enable_world *w,
                                                                void (*body)(vector3 *))
{
    weft_cursor cursor = weft_query_begin(w->world, w->query);
    while (weft_query_next(&cursor)) {
        vector3 *v = weft_slice_write(&cursor.slice, 0);
        uint32_t begin = 0, end = 0;
        while (weft_slice_next_run(&cursor.slice, &begin, &end))
            for (uint32_t i = begin; i < end; i++) body(&v[i]);
    }
}

static void normalise_all(void *data)
{
    run_all(data, normalise);
}

static void normalise_half(void *data)
{
    run_half(data, normalise);
}

static void pull_all(void *data)
{
    run_all(data, pull);
}

static void pull_half(void *data)
{
    run_half(data, pull);
}

static void halve_all(void *data)
{
    run_all(data, halve);
}

static void halve_half(void *data)
{
    run_half(data, halve);
}

static void halve_stretches(void *data)
{
    run_stretches(data, halve);
}

#ifdef __x86_64__
/* With the instruction that clears the lowest bit, which processors since 2013 have. */
static __attribute__((target("bmi"))) void halve_half_bmi(void *data)
{
    run_half(data, halve);
}
#endif

/* `all` and `half` per visited row, and their ratio. */
static void enable_pair(weft_bench *bench, enable_world *w, const char *name, weft_bench_fn *all,
                        weft_bench_fn *half)
{
    char label[48];
    double visited = (double)weft_query_count(w->world, w->query);
    weft_bench_measure measure = {
        .name = label, .unit = "ns/row", .items = BIT_ROWS, .workers = 1, .run = all, .data = w};
    snprintf(label, sizeof label, "%s-all", name);
    weft_bench_result dense = weft_bench_run(bench, &measure);
    measure.run = half;
    measure.items = visited;
    snprintf(label, sizeof label, "%s-half", name);
    weft_bench_result masked = weft_bench_run(bench, &measure);
    if (dense.min <= 0 || masked.min <= 0) return;
    snprintf(label, sizeof label, "%s-half-to-all", name);
    weft_bench_value(bench, label, "ratio", 1, masked.min / dense.min);
}

static void enable_iterate(weft_bench *bench)
{
    enable_world w;
    if (enable_open(bench, &w)) {
        enable_half(&w);
        enable_pair(bench, &w, "normalise", normalise_all, normalise_half);
        enable_pair(bench, &w, "pull", pull_all, pull_half);
        enable_pair(bench, &w, "light", halve_all, halve_half);
#ifdef __x86_64__
        if (__builtin_cpu_supports("bmi"))
            enable_pair(bench, &w, "light-bmi", halve_all, halve_half_bmi);
#endif
        enable_stretches(&w);
        enable_pair(bench, &w, "light-128-on-128-off", halve_all, halve_stretches);
    }
    enable_close(&w);
}

/* Flips the bit of every row of every slice. */
static void enable_flip(void *data)
{
    enable_world *w = data;
    static bool is_on;
    weft_cursor cursor = weft_query_begin(w->world, w->everything);
    while (weft_query_next(&cursor))
        for (uint32_t i = 0, n = cursor.slice.count; i < n; i++)
            weft_slice_enable(&cursor.slice, 0, i, is_on);
    is_on = !is_on;
}

static void enable_toggle(weft_bench *bench)
{
    enable_world w;
    if (enable_open(bench, &w))
        weft_bench_run(bench, &(weft_bench_measure){.name = "slice",
                                                    .unit = "ns/row",
                                                    .items = BIT_ROWS,
                                                    .workers = 1,
                                                    .run = enable_flip,
                                                    .data = &w});
    enable_close(&w);
}

const weft_bench_entry weft_bench_enable[] = {
    {"enable.iter", "100 k rows, half of them disabled, per row visited; against all rows",
     enable_iterate, false},
    {"enable.toggle", "flips the enable bit of each of 100 k rows through its slice", enable_toggle,
     false},
    {0},
};
