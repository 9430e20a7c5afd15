/* SPDX-License-Identifier: MIT */
/* bench_schedule.c: what a frame costs: dispatch of small systems, fused sweeps over memory,
 * compiling a schedule. Playback and rollback are in bench_playback.c.
 *
 * The seven systems and 16 archetypes of `frame.seven` are those of the peer comparison:
 * position, velocity, acceleration (12 bytes each), health, damage, timer, flags (4 bytes each);
 * every archetype has all of them and a different set of four tags. */
#include "bench.h"

#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARCHETYPES = 16, COLUMNS = 7 };

typedef struct vec3 {
    float x, y, z;
} vec3;

/* ---- the seven systems, once on slices and once on arrays ---- */

static void body_accelerate(vec3 *restrict v, const vec3 *restrict a, uint32_t n, float dt)
{
    for (uint32_t i = 0; i < n; i++) {
        v[i].x += a[i].x * dt;
        v[i].y += a[i].y * dt;
        v[i].z += a[i].z * dt;
    }
}

static void body_drag(vec3 *restrict v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        v[i].x *= 0.99f;
        v[i].y *= 0.99f;
        v[i].z *= 0.99f;
    }
}

static void body_hurt(float *restrict health, const float *restrict damage, uint32_t n, float dt)
{
    for (uint32_t i = 0; i < n; i++) health[i] -= damage[i] * dt;
}

static void body_tick(float *restrict timer, uint32_t n, float dt)
{
    for (uint32_t i = 0; i < n; i++) timer[i] += dt;
}

static void body_bound(vec3 *restrict p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        p[i].x = p[i].x > 1e6f ? -1e6f : p[i].x;
        p[i].y = p[i].y > 1e6f ? -1e6f : p[i].y;
        p[i].z = p[i].z > 1e6f ? -1e6f : p[i].z;
    }
}

static void body_flag(uint32_t *restrict flags, const float *restrict health, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) flags[i] = (flags[i] & ~1u) | (health[i] < 0.0f);
}

static void seven_accelerate(weft_slice *s, void *user)
{
    (void)user;
    body_accelerate(weft_slice_write(s, 0), weft_slice_read(s, 1), s->count, s->dt);
}
static void seven_drag(weft_slice *s, void *user)
{
    (void)user;
    body_drag(weft_slice_write(s, 0), s->count);
}
static void seven_hurt(weft_slice *s, void *user)
{
    (void)user;
    body_hurt(weft_slice_write(s, 0), weft_slice_read(s, 1), s->count, s->dt);
}
static void seven_tick(weft_slice *s, void *user)
{
    (void)user;
    body_tick(weft_slice_write(s, 0), s->count, s->dt);
}
static void seven_bound(weft_slice *s, void *user)
{
    (void)user;
    body_bound(weft_slice_write(s, 0), s->count);
}
static void seven_flag(weft_slice *s, void *user)
{
    (void)user;
    body_flag(weft_slice_write(s, 0), weft_slice_read(s, 1), s->count);
}

enum { POSITION, VELOCITY, ACCELERATION, HEALTH, DAMAGE, TIMER, FLAGS };

/* A world with the seven systems beside plain arrays with the same data. Owner: the benchmark. */
typedef struct seven {
    weft_world *world;
    uint64_t rows;
    vec3 *p[ARCHETYPES], *v[ARCHETYPES], *a[ARCHETYPES];
    float *health[ARCHETYPES], *damage[ARCHETYPES], *timer[ARCHETYPES];
    uint32_t *flags[ARCHETYPES];
    uint32_t counts[ARCHETYPES];
    uint32_t archetypes;
} seven;

static void add_system(seven *s, const char *name, void (*run)(weft_slice *, void *),
                       weft_component written, weft_component read)
{
    weft_system_desc desc = {.name = name, .run = run};
    desc.over.rows.terms[0] = (weft_term){written, WEFT_WRITE, WEFT_ALL, 0};
    desc.over.rows.terms[1] = (weft_term){read, WEFT_READ, WEFT_ALL, 0};
    weft_system_create(s->world, &desc);
}

static void add_seven(seven *s, const weft_component *c)
{
    const weft_component none = {0};
    add_system(s, "accelerate", seven_accelerate, c[VELOCITY], c[ACCELERATION]);
    add_system(s, "drag", seven_drag, c[VELOCITY], none);
    add_system(s, "move", seven_accelerate, c[POSITION], c[VELOCITY]);
    add_system(s, "bound", seven_bound, c[POSITION], none);
    add_system(s, "hurt", seven_hurt, c[HEALTH], c[DAMAGE]);
    add_system(s, "tick", seven_tick, c[TIMER], none);
    add_system(s, "flag", seven_flag, c[FLAGS], c[HEALTH]);
}

static void seven_components(weft_world *world, weft_component *c)
{
    static const char *const names[COLUMNS] = {"position", "velocity", "acceleration", "health",
                                               "damage",   "timer",    "flags"};
    for (uint32_t i = 0; i < COLUMNS; i++)
        c[i] = weft_component_create_plain(world, names[i], i < HEALTH ? sizeof(vec3) : 4, 4, 0);
    for (uint32_t i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "tag%u", i);
        c[COLUMNS + i] = weft_component_create_plain(world, name, 0, 1, 0);
    }
}

static bool arrays_make(seven *s, uint32_t number, uint32_t rows)
{
    s->p[number] = weft_bench_zeroed(rows, sizeof(vec3));
    s->v[number] = weft_bench_zeroed(rows, sizeof(vec3));
    s->a[number] = weft_bench_zeroed(rows, sizeof(vec3));
    s->health[number] = weft_bench_zeroed(rows, sizeof(float));
    s->damage[number] = weft_bench_zeroed(rows, sizeof(float));
    s->timer[number] = weft_bench_zeroed(rows, sizeof(float));
    s->flags[number] = weft_bench_zeroed(rows, sizeof(uint32_t));
    bool is_made = s->p[number] && s->v[number] && s->a[number] && s->health[number] &&
                   s->damage[number] && s->timer[number] && s->flags[number];
    for (uint32_t i = 0; is_made && i < rows; i++) s->health[number][i] = 1;
    return is_made;
}

static void seven_end(seven *s)
{
    for (uint32_t i = 0; i < ARCHETYPES; i++) {
        free(s->p[i]);
        free(s->v[i]);
        free(s->a[i]);
        free(s->health[i]);
        free(s->damage[i]);
        free(s->timer[i]);
        free(s->flags[i]);
    }
    if (s->world != NULL) weft_world_destroy(s->world);
}

/* `rows` entities in all; with_raw: plain arrays, too. */
static bool seven_begin(seven *s, uint64_t rows, uint32_t archetypes, uint32_t workers,
                        bool with_raw)
{
    weft_component c[COLUMNS + 4];
    memset(s, 0, sizeof *s);
    s->rows = rows;
    s->archetypes = archetypes;
    if (weft_world_create(&(weft_world_desc){.workers = workers}, &s->world) != WEFT_OK)
        return false;
    seven_components(s->world, c);
    bool is_made = true;
    for (uint32_t i = 0; i < archetypes && is_made; i++) {
        weft_component set[COLUMNS + 4];
        uint32_t count = COLUMNS;
        memcpy(set, c, COLUMNS * sizeof c[0]);
        for (uint32_t tag = 0; tag < 4; tag++)
            if ((i >> tag & 1) != 0) set[count++] = c[COLUMNS + tag];
        s->counts[i] = (uint32_t)(rows / archetypes + (i < rows % archetypes));
        if (s->counts[i] == 0) continue;
        is_made = weft_entity_create_many(s->world, weft_archetype_create(s->world, set, count),
                                          s->counts[i], NULL) == WEFT_OK &&
                  (!with_raw || arrays_make(s, i, s->counts[i]));
    }
    add_seven(s, c);
    return is_made;
}

static void seven_step(void *data)
{
    seven *s = data;
    weft_world_step(s->world, 0.01f);
}

/* System by system over all arrays: what one writes by hand first. */
static void seven_raw(void *data)
{
    seven *s = data;
    for (uint32_t i = 0; i < s->archetypes; i++)
        body_accelerate(s->v[i], s->a[i], s->counts[i], 0.01f);
    for (uint32_t i = 0; i < s->archetypes; i++) body_drag(s->v[i], s->counts[i]);
    for (uint32_t i = 0; i < s->archetypes; i++)
        body_accelerate(s->p[i], s->v[i], s->counts[i], 0.01f);
    for (uint32_t i = 0; i < s->archetypes; i++) body_bound(s->p[i], s->counts[i]);
    for (uint32_t i = 0; i < s->archetypes; i++)
        body_hurt(s->health[i], s->damage[i], s->counts[i], 0.01f);
    for (uint32_t i = 0; i < s->archetypes; i++) body_tick(s->timer[i], s->counts[i], 0.01f);
    for (uint32_t i = 0; i < s->archetypes; i++) body_flag(s->flags[i], s->health[i], s->counts[i]);
}

static void body_count(uint32_t *restrict flags, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) flags[i] += 1u;
}

/* Each byte once: every column is read, and rewritten if some system writes it. */
static void seven_touch(void *data)
{
    seven *s = data;
    for (uint32_t i = 0; i < s->archetypes; i++) {
        body_accelerate(s->v[i], s->a[i], s->counts[i], 0.01f);
        body_bound(s->p[i], s->counts[i]);
        body_hurt(s->health[i], s->damage[i], s->counts[i], 0.01f);
        body_tick(s->timer[i], s->counts[i], 0.01f);
        body_count(s->flags[i], s->counts[i]);
    }
}

static void measure_seven(weft_bench *bench, const char *name, uint64_t rows, uint32_t workers)
{
    if (!weft_bench_wants(bench, name)) return;
    seven s;
    if (seven_begin(&s, rows, ARCHETYPES, workers, true))
        weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                    .unit = "ns/entity",
                                                    .items = (double)rows,
                                                    .workers = workers,
                                                    .run = seven_step,
                                                    .raw = seven_raw,
                                                    .data = &s,
                                                    .peers = {{"touch", seven_touch, NULL}}});
    else
        weft_bench_fail(bench, "no memory");
    seven_end(&s);
}

static void frame_seven(weft_bench *bench)
{
    measure_seven(bench, "1M", 1000000, 1);
    measure_seven(bench, "1M-2", 1000000, 2);
    measure_seven(bench, "10M", 10000000, 1);
    measure_seven(bench, "10M-2", 10000000, 2);
}

/* The figure that frame.seven is compared with: each byte once over plain arrays. */
static void frame_touch(weft_bench *bench)
{
    if (!weft_bench_wants(bench, "10M")) return;
    seven s;
    if (seven_begin(&s, 10000000, ARCHETYPES, 1, true))
        weft_bench_run(bench, &(weft_bench_measure){.name = "10M",
                                                    .unit = "ns/entity",
                                                    .items = 1e7,
                                                    .workers = 1,
                                                    .run = seven_touch,
                                                    .raw = seven_raw,
                                                    .data = &s});
    seven_end(&s);
}

static void measure_small(weft_bench *bench, const char *name, uint64_t rows)
{
    if (!weft_bench_wants(bench, name)) return;
    seven one, two;
    bool is_made = seven_begin(&one, rows, 1, 1, true);
    is_made = seven_begin(&two, rows, 1, 2, true) && is_made;
    if (is_made) /* two workers against one, in turn */
        weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                    .unit = "ns/frame",
                                                    .workers = 2,
                                                    .run = seven_step,
                                                    .raw = seven_raw,
                                                    .data = &two,
                                                    .peers = {{"one-worker", seven_step, &one}}});
    seven_end(&one);
    seven_end(&two);
}

static void frame_small(weft_bench *bench)
{
    static const uint32_t rows[] = {1, 16, 64, 256, 1024, 4096};
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", rows[i]);
        measure_small(bench, name, rows[i]);
    }
}

static void frame_one(weft_bench *bench)
{
    seven s;
    if (seven_begin(&s, 1, 1, 1, true))
        weft_bench_run(bench, &(weft_bench_measure){.name = "seven",
                                                    .unit = "ns/frame",
                                                    .workers = 1,
                                                    .run = seven_step,
                                                    .raw = seven_raw,
                                                    .data = &s});
    seven_end(&s);
}

/* ---- many small systems ---- */

static void increment(weft_slice *s, void *user)
{
    (void)user;
    uint32_t *values = weft_slice_write(s, 0);
    for (uint32_t i = 0; i < s->count; i++) values[i]++;
}

static void idle(weft_slice *s, void *user)
{
    (void)s;
    (void)user;
}

/* `count` systems; with_rows: each over one entity of its own component. */
static weft_world *systems_make(uint32_t count, uint32_t workers, bool with_rows)
{
    weft_world *world;
    if (weft_world_create(&(weft_world_desc){.workers = workers}, &world) != WEFT_OK) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, "value%u", i);
        weft_system_desc desc = {.name = name, .run = with_rows ? increment : idle};
        if (with_rows) {
            weft_component c = weft_component_create_plain(world, name, 4, 4, 0);
            weft_entity_create_many(world, WEFT_ARCHETYPE(world, c), 1, NULL);
            desc.over.rows.terms[0] = (weft_term){c, WEFT_WRITE, WEFT_ALL, 0};
        }
        weft_system_create(world, &desc);
    }
    return world;
}

static void step_world(void *data)
{
    weft_world_step(data, 0.01f);
}

static uint32_t raw_values[100];

static __attribute__((noinline)) void raw_increment(uint32_t *value)
{
    ++*value;
    weft_bench_keep(value);
}

static void raw_hundred(void *data)
{
    (void)data;
    for (uint32_t i = 0; i < 100; i++) raw_increment(&raw_values[i]);
}

static void frame_systems(weft_bench *bench)
{
    weft_world *one = systems_make(100, 1, true), *two = systems_make(100, 2, true);
    weft_bench_run(bench, &(weft_bench_measure){.name = "100",
                                                .unit = "us/frame",
                                                .workers = 1,
                                                .run = step_world,
                                                .raw = raw_hundred,
                                                .data = one,
                                                .peers = {{"two-workers", step_world, two}}});
    weft_world_destroy(one);
    weft_world_destroy(two);
}

static void measure_empty(weft_bench *bench, const char *name, uint32_t count)
{
    if (!weft_bench_wants(bench, name)) return;
    weft_world *one = systems_make(count, 1, false), *two = systems_make(count, 2, false);
    weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                .unit = "ns/system",
                                                .items = count,
                                                .workers = 1,
                                                .run = step_world,
                                                .data = one,
                                                .peers = {{"two-workers", step_world, two}}});
    weft_world_destroy(one);
    weft_world_destroy(two);
}

static void frame_empty(weft_bench *bench)
{
    measure_empty(bench, "1k", 1000);
    measure_empty(bench, "10k", 10000);
}

/* ---- the schedule of ecs_bench_suite: 4 x 10,000 entities, three swapping systems ---- */

typedef struct pairs {
    weft_world *world;
    float *columns[4][5];
    uint32_t counts[4];
} pairs;

static void body_swap(float *restrict a, float *restrict b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        float swap = a[i];
        a[i] = b[i];
        b[i] = swap;
    }
}

static void swap_two(weft_slice *s, void *user)
{
    (void)user;
    body_swap(weft_slice_write(s, 0), weft_slice_write(s, 1), s->count);
}

static void pairs_raw(void *data)
{
    pairs *p = data;
    for (uint32_t i = 0; i < 4; i++) body_swap(p->columns[i][0], p->columns[i][1], p->counts[i]);
    for (uint32_t i = 0; i < 4; i++)
        if (p->columns[i][3] != NULL) body_swap(p->columns[i][2], p->columns[i][3], p->counts[i]);
    for (uint32_t i = 0; i < 4; i++)
        if (p->columns[i][4] != NULL) body_swap(p->columns[i][2], p->columns[i][4], p->counts[i]);
}

static void pairs_step(void *data)
{
    pairs *p = data;
    weft_world_step(p->world, 0.01f);
}

static void pairs_make(pairs *p, uint32_t workers)
{
    static const char *const names[5] = {"A", "B", "C", "D", "E"};
    static const uint32_t sets[4][5] = {
        {1, 1, 0, 0, 0}, {1, 1, 1, 0, 0}, {1, 1, 1, 1, 0}, {1, 1, 1, 0, 1}};
    static const uint32_t swaps[3][2] = {{0, 1}, {2, 3}, {2, 4}};
    memset(p, 0, sizeof *p);
    weft_component c[5];
    if (weft_world_create(&(weft_world_desc){.workers = workers}, &p->world) != WEFT_OK) return;
    for (uint32_t i = 0; i < 5; i++)
        c[i] = weft_component_create_plain(p->world, names[i], sizeof(float), 4, 0);
    for (uint32_t i = 0; i < 4; i++) {
        weft_component set[5];
        uint32_t count = 0;
        for (uint32_t k = 0; k < 5; k++)
            if (sets[i][k] != 0) {
                set[count++] = c[k];
                p->columns[i][k] = weft_bench_zeroed(10000, sizeof(float));
            }
        p->counts[i] = 10000;
        weft_entity_create_many(p->world, weft_archetype_create(p->world, set, count), 10000, NULL);
    }
    for (uint32_t i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "swap%u", i);
        weft_system_create(
            p->world, &(weft_system_desc){.name = name,
                                          .run = swap_two,
                                          .over.rows.terms = {{c[swaps[i][0]], WEFT_WRITE, 0, 0},
                                                              {c[swaps[i][1]], WEFT_WRITE, 0, 0}}});
    }
}

static void pairs_end(pairs *p)
{
    weft_world_destroy(p->world);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k < 5; k++) free(p->columns[i][k]);
}

static void frame_schedule(weft_bench *bench)
{
    pairs p;
    pairs_make(&p, 1);
    weft_bench_run(bench, &(weft_bench_measure){.name = "40k",
                                                .unit = "us/frame",
                                                .workers = 1,
                                                .run = pairs_step,
                                                .raw = pairs_raw,
                                                .data = &p});
    pairs_end(&p);
}

static void recompile(void *data)
{
    const weft_schedule_desc options = {0};
    weft_schedule_set(data, &options); /* makes it dirty */
    weft_schedule_compile(data);
}

/* 1,000 systems, each writing one and reading two of 60 components that 200 archetypes mix. */
static void schedule_compile(weft_bench *bench)
{
    weft_world *world;
    weft_component c[60];
    uint64_t random = 1;
    if (weft_world_create(&(weft_world_desc){.workers = 1}, &world) != WEFT_OK) return;
    for (uint32_t i = 0; i < 60; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%u", i);
        c[i] = weft_component_create_plain(world, name, 4, 4, 0);
    }
    for (uint32_t i = 0; i < 200; i++) {
        weft_component set[60];
        uint32_t count = 0;
        for (uint32_t k = 0; k < 60; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            if ((random >> 60) < 3) set[count++] = c[k];
        }
        weft_archetype_create(world, set, count);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%u", i);
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t a = (uint32_t)(random >> 33) % 20, b = 20 + (uint32_t)(random >> 40) % 20;
        weft_system_create(
            world, &(weft_system_desc){.name = name,
                                       .run = idle,
                                       .over.rows.terms = {{c[a], WEFT_WRITE, 0, 0},
                                                           {c[b], WEFT_READ, 0, 0},
                                                           {c[40 + i % 20], WEFT_READ, 0, 0}}});
    }
    weft_bench_run(bench,
                   &(weft_bench_measure){
                       .name = "1k", .unit = "ms", .workers = 1, .run = recompile, .data = world});
    weft_world_destroy(world);
}

const weft_bench_entry weft_bench_schedule[] = {
    {"frame.systems", "100 systems of one entity each", frame_systems, false},
    {"frame.seven", "seven systems over 16 archetypes", frame_seven, true},
    {"frame.touch", "each byte of frame.seven once", frame_touch, true},
    {"frame.small", "seven systems, 1..4,096 entities, two workers", frame_small, false},
    {"frame.one", "seven systems, one entity", frame_one, false},
    {"frame.schedule", "ecs_bench_suite: three swapping systems, 4 x 10,000 entities",
     frame_schedule, false},
    {"frame.empty", "systems without rows", frame_empty, false},
    {"schedule.compile", "1,000 systems, 60 components, 200 archetypes", schedule_compile, false},
    {0},
};
