/* SPDX-License-Identifier: MIT */
/* bench_suite.c: the rust-gamedev ecs_bench_suite (2021) with its exact definitions: what every ECS
 * publishes. serialize_* is left to the snapshot benchmarks.
 *
 * Transform is a 4 x 4 matrix of floats; Position, Rotation and Velocity are three floats; A..Z,
 * Data are one. `raw` does the same work in plain C arrays, one array per component and
 * archetype, on one thread. 10,000 entities fit into L2: these measure the cost per row and per
 * call, not bandwidth.
 */
#include "bench.h"
#include "peer.h"

#include <weft/weft.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 10000, HEAVY = 1000, HEAVY_ROUNDS = 100, LETTERS = 26, PER_LETTER = 20 };

/* The components of the suite. */
typedef struct vec3 {
    float x, y, z;
} vec3;
typedef struct mat4 {
    float m[16];
} mat4;

/* A world with the suite's four components. Owner: one benchmark. */
typedef struct setup {
    weft_world *world;
    weft_component transform, position, rotation, velocity;
    weft_query query;
    weft_entity *entities;
    weft_component extra;
    vec3 *raw_position, *raw_velocity; /* [ENTITIES] */
    mat4 *raw_transform;               /* [HEAVY] */
} setup;

static bool open_world(weft_bench *bench, setup *s, uint32_t workers)
{
    *s = (setup){0};
    if (weft_world_create(&(weft_world_desc){.workers = workers}, &s->world) != WEFT_OK) {
        weft_bench_fail(bench, "cannot create a world with %u workers", workers);
        return false;
    }
    s->transform = weft_component_create_plain(s->world, "Transform", sizeof(mat4), 4, 0);
    s->position = weft_component_create_plain(s->world, "Position", sizeof(vec3), 4, 0);
    s->rotation = weft_component_create_plain(s->world, "Rotation", sizeof(vec3), 4, 0);
    s->velocity = weft_component_create_plain(s->world, "Velocity", sizeof(vec3), 4, 0);
    return true;
}

static void close_world(weft_bench *bench, setup *s)
{
    if (weft_world_error(s->world)->code != WEFT_OK) {
        weft_bench_fail(bench, "%s", weft_world_error(s->world)->text);
    }
    weft_world_destroy(s->world);
    free(s->entities);
    free(s->raw_position);
    free(s->raw_velocity);
    free(s->raw_transform);
}

static void create_four(setup *s, uint32_t count)
{
    const weft_component four[] = {s->transform, s->position, s->rotation, s->velocity};
    weft_entity_create_many(s->world, weft_archetype_create(s->world, four, 4), count, NULL);
}

/* simple_insert: a fresh world, 10,000 entities with values, and its end. */

static vec3 vec3_values[ENTITIES];
static mat4 mat4_values[ENTITIES];

static void insert_weft(void *data)
{
    setup s;
    if (!open_world(data, &s, 1)) return;
    weft_entity_create_filled(
        s.world, WEFT_ARCHETYPE(s.world, s.transform, s.position, s.rotation, s.velocity),
        WEFT_VALUES({s.transform, mat4_values}, {s.position, vec3_values},
                    {s.rotation, vec3_values}, {s.velocity, vec3_values}),
        ENTITIES, NULL);
    close_world(data, &s);
}

static void insert_raw(void *data)
{
    (void)data;
    void *columns[4] = {malloc(sizeof mat4_values), malloc(sizeof vec3_values),
                        malloc(sizeof vec3_values), malloc(sizeof vec3_values)};
    for (int i = 0; i < 4; i++) {
        if (columns[i])
            memcpy(columns[i], i ? (void *)vec3_values : mat4_values,
                   i ? sizeof vec3_values : sizeof mat4_values);
        weft_bench_keep(columns[i]);
    }
    for (int i = 0; i < 4; i++) free(columns[i]);
}

static void simple_insert(weft_bench *bench)
{
    for (int i = 0; i < ENTITIES; i++) vec3_values[i] = (vec3){1, 0, 0};
    weft_bench_run(bench, &(weft_bench_measure){.name = "10k",
                                                .unit = "us/pass",
                                                .workers = 1,
                                                .run = insert_weft,
                                                .raw = insert_raw,
                                                .data = bench});
}

/* simple_iter: position += velocity. */

static void iter_weft(void *data)
{
    setup *s = data;
    weft_cursor c = weft_query_begin(s->world, s->query);
    while (weft_query_next(&c)) {
        vec3 *restrict p = weft_slice_write(&c.slice, 0);
        const vec3 *restrict v = weft_slice_read(&c.slice, 1);
        for (uint32_t i = 0, n = weft_slice_count(&c.slice); i < n; i++) {
            p[i].x += v[i].x;
            p[i].y += v[i].y;
            p[i].z += v[i].z;
        }
    }
}

static void iter_raw(void *data)
{
    setup *s = data;
    vec3 *restrict p = s->raw_position;
    const vec3 *restrict v = s->raw_velocity;
    for (uint32_t i = 0; i < ENTITIES; i++) {
        p[i].x += v[i].x;
        p[i].y += v[i].y;
        p[i].z += v[i].z;
    }
    weft_bench_keep(p);
}

static void simple_iter(weft_bench *bench)
{
    setup s;
    if (!open_world(bench, &s, 1)) return;
    create_four(&s, ENTITIES);
    s.query = weft_query_create(
        s.world,
        &(weft_query_desc){.terms = {{s.position, WEFT_WRITE, 0, 0}, {s.velocity, 0, 0, 0}}});
    s.raw_position = weft_bench_zeroed(ENTITIES, sizeof(vec3));
    s.raw_velocity = weft_bench_zeroed(ENTITIES, sizeof(vec3));
    if (!s.raw_position || !s.raw_velocity) {
        weft_bench_fail(bench, "no memory");
        close_world(bench, &s);
        return;
    }
    const vec3 unit = {1, 0, 0};
    weft_query_set(s.world, s.query, s.position, &unit, sizeof unit);
    weft_query_set(s.world, s.query, s.velocity, &unit, sizeof unit);
    for (int i = 0; i < ENTITIES; i++) s.raw_position[i] = s.raw_velocity[i] = unit;
    weft_bench_run(bench, &(weft_bench_measure){.name = "10k",
                                                .unit = "us/pass",
                                                .workers = 1,
                                                .run = iter_weft,
                                                .raw = iter_raw,
                                                .data = &s});
    close_world(bench, &s);
}

/* frag_iter: 26 archetypes of 20 rows, data *= 2. */

static float letters[LETTERS][PER_LETTER];

static void frag_weft(void *data)
{
    setup *s = data;
    weft_cursor c = weft_query_begin(s->world, s->query);
    while (weft_query_next(&c)) {
        float *values = weft_slice_write(&c.slice, 0);
        for (uint32_t i = 0, n = weft_slice_count(&c.slice); i < n; i++) values[i] *= 2;
    }
}

static void frag_raw(void *data)
{
    (void)data;
    for (int l = 0; l < LETTERS; l++) {
        for (int i = 0; i < PER_LETTER; i++) letters[l][i] *= 2;
        weft_bench_keep(letters[l]);
    }
}

static void frag_iter(weft_bench *bench)
{
    setup s;
    if (!open_world(bench, &s, 1)) return;
    const weft_component d = weft_component_create_plain(s.world, "Data", 4, 4, 0);
    for (int l = 0; l < LETTERS; l++) {
        const char name[2] = {(char)('A' + l), 0};
        const weft_component letter = weft_component_create_plain(s.world, name, 4, 4, 0);
        weft_entity_create_many(s.world,
                                weft_archetype_create(s.world, (weft_component[]){letter, d}, 2),
                                PER_LETTER, NULL);
    }
    s.query = weft_query_create(s.world, &(weft_query_desc){.terms = {{d, WEFT_WRITE, 0, 0}}});
    weft_bench_run(bench, &(weft_bench_measure){.name = "26x20",
                                                .unit = "ns/pass",
                                                .workers = 1,
                                                .run = frag_weft,
                                                .raw = frag_raw,
                                                .data = &s});
    close_world(bench, &s);
}

/* schedule: three systems that swap two columns, by the parallel scheduler. */

enum { A, B, C, D, E, SWAPS = 3, TABLES = 4 };

static float *swap_columns[TABLES][5]; /* raw: [archetype][component], NULL where absent */

static void swap_run(weft_slice *slice, void *user)
{
    (void)user;
    float *restrict a = weft_slice_write(slice, 0), *restrict b = weft_slice_write(slice, 1);
    for (uint32_t i = 0, n = weft_slice_count(slice); i < n; i++) {
        const float value = a[i];
        a[i] = b[i];
        b[i] = value;
    }
}

static void step_world(void *data)
{
    const setup *s = data;
    weft_world_step(s->world, 1.0f / 60);
}

static void swap_raw(void *data)
{
    static const int pairs[SWAPS][2] = {{A, B}, {C, D}, {C, E}};
    (void)data;
    for (int k = 0; k < SWAPS; k++) {
        for (int t = 0; t < TABLES; t++) {
            float *restrict a = swap_columns[t][pairs[k][0]], *restrict b =
                                                                  swap_columns[t][pairs[k][1]];
            for (int i = 0; a && b && i < ENTITIES; i++) {
                const float value = a[i];
                a[i] = b[i];
                b[i] = value;
            }
            weft_bench_keep(a);
        }
    }
}

static void schedule_with(weft_bench *bench, const char *name, uint32_t workers)
{
    static const uint32_t sets[TABLES] = {1 << A | 1 << B, 1 << A | 1 << B | 1 << C,
                                          1 << A | 1 << B | 1 << C | 1 << D,
                                          1 << A | 1 << B | 1 << C | 1 << E};
    setup s;
    if (!weft_bench_wants(bench, name) || !open_world(bench, &s, workers)) return;
    weft_component all[5];
    for (int k = 0; k < 5; k++) {
        all[k] = weft_component_create_plain(s.world, (const char[]){(char)('A' + k), 0}, 4, 4, 0);
    }
    for (int t = 0; t < TABLES; t++) {
        weft_component set[5];
        uint32_t count = 0;
        for (int k = 0; k < 5; k++) {
            free(swap_columns[t][k]);
            swap_columns[t][k] =
                sets[t] >> k & 1 ? weft_bench_zeroed(ENTITIES, sizeof(float)) : NULL;
            if (sets[t] >> k & 1) set[count++] = all[k];
        }
        weft_entity_create_many(s.world, weft_archetype_create(s.world, set, count), ENTITIES,
                                NULL);
    }
    static const struct {
        const char *name;
        int a, b;
    } systems[SWAPS] = {{"ab", A, B}, {"cd", C, D}, {"ce", C, E}};
    for (int k = 0; k < SWAPS; k++) {
        weft_system_create(
            s.world,
            &(weft_system_desc){.name = systems[k].name,
                                .run = swap_run,
                                .over.rows.terms = {{all[systems[k].a], WEFT_WRITE, 0, 0},
                                                    {all[systems[k].b], WEFT_WRITE, 0, 0}}});
    }
    weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                .unit = "us/pass",
                                                .workers = workers,
                                                .run = step_world,
                                                .raw = swap_raw,
                                                .data = &s});
    close_world(bench, &s);
}

static void schedule(weft_bench *bench)
{
    schedule_with(bench, "1w", 1);
    if (weft_bench_workers(bench) > 1) schedule_with(bench, "Nw", weft_bench_workers(bench));
}

/* heavy_compute: 100 inversions of a matrix per row. */

static mat4 inverse(const mat4 *in)
{
    const float *m = in->m;
    float s[6], c[6];
    for (int i = 0, k = 0; i < 4; i++) {
        for (int j = i + 1; j < 4; j++, k++) { /* minors of the upper and the lower two rows */
            s[k] = m[i] * m[4 + j] - m[j] * m[4 + i];
            c[k] = m[8 + i] * m[12 + j] - m[8 + j] * m[12 + i];
        }
    }
    const float d =
        1 / (s[0] * c[5] - s[1] * c[4] + s[2] * c[3] + s[3] * c[2] - s[4] * c[1] + s[5] * c[0]);
    return (mat4){{(m[5] * c[5] - m[6] * c[4] + m[7] * c[3]) * d,
                   (-m[1] * c[5] + m[2] * c[4] - m[3] * c[3]) * d,
                   (m[13] * s[5] - m[14] * s[4] + m[15] * s[3]) * d,
                   (-m[9] * s[5] + m[10] * s[4] - m[11] * s[3]) * d,
                   (-m[4] * c[5] + m[6] * c[2] - m[7] * c[1]) * d,
                   (m[0] * c[5] - m[2] * c[2] + m[3] * c[1]) * d,
                   (-m[12] * s[5] + m[14] * s[2] - m[15] * s[1]) * d,
                   (m[8] * s[5] - m[10] * s[2] + m[11] * s[1]) * d,
                   (m[4] * c[4] - m[5] * c[2] + m[7] * c[0]) * d,
                   (-m[0] * c[4] + m[1] * c[2] - m[3] * c[0]) * d,
                   (m[12] * s[4] - m[13] * s[2] + m[15] * s[0]) * d,
                   (-m[8] * s[4] + m[9] * s[2] - m[11] * s[0]) * d,
                   (-m[4] * c[3] + m[5] * c[1] - m[6] * c[0]) * d,
                   (m[0] * c[3] - m[1] * c[1] + m[2] * c[0]) * d,
                   (-m[12] * s[3] + m[13] * s[1] - m[14] * s[0]) * d,
                   (m[8] * s[3] - m[9] * s[1] + m[10] * s[0]) * d}};
}

static void heavy_rows(vec3 *p, mat4 *t, uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin; i < end; i++) {
        for (int k = 0; k < HEAVY_ROUNDS; k++) t[i] = inverse(&t[i]);
        const float *m = t[i].m;
        const vec3 v = p[i];
        p[i] = (vec3){m[0] * v.x + m[1] * v.y + m[2] * v.z, m[4] * v.x + m[5] * v.y + m[6] * v.z,
                      m[8] * v.x + m[9] * v.y + m[10] * v.z};
    }
}

static void heavy_run(weft_slice *slice, void *user)
{
    (void)user;
    heavy_rows(weft_slice_write(slice, 0), weft_slice_write(slice, 1), 0, weft_slice_count(slice));
}

static void heavy_raw(void *data)
{
    setup *s = data;
    heavy_rows(s->raw_position, s->raw_transform, 0, HEAVY);
}

static void heavy_body(uint64_t begin, uint64_t end, void *user)
{
    setup *s = user;
    heavy_rows(s->raw_position, s->raw_transform, begin, end);
}

static uint32_t heavy_workers; /* of the peers; constant during a case */

static void heavy_openmp(void *data)
{
    weft_peer_openmp()->loop(heavy_workers, HEAVY, 16, heavy_body, data);
}

static void heavy_tbb(void *data)
{
    weft_peer_tbb()->loop(heavy_workers, HEAVY, 16, heavy_body, data);
}

static void heavy_fill(setup *s)
{
    const float cosine = cosf(1.2f), sine = sinf(1.2f);
    const mat4 turn = {{1, 0, 0, 0, 0, cosine, -sine, 0, 0, sine, cosine, 0, 0, 0, 0, 1}};
    weft_query_set(s->world, s->query, s->transform, &turn, sizeof turn);
    weft_query_set(s->world, s->query, s->position, &(vec3){1, 0, 0}, sizeof(vec3));
    s->raw_position = weft_bench_zeroed(HEAVY, sizeof(vec3));
    s->raw_transform = weft_bench_zeroed(HEAVY, sizeof(mat4));
    for (int i = 0; s->raw_position && s->raw_transform && i < HEAVY; i++) {
        s->raw_position[i] = (vec3){1, 0, 0};
        s->raw_transform[i] = turn;
    }
}

static void heavy_with(weft_bench *bench, const char *name, uint32_t workers)
{
    setup s;
    if (!weft_bench_wants(bench, name) || !open_world(bench, &s, workers)) return;
    create_four(&s, HEAVY);
    const weft_query_desc query = {
        .terms = {{s.position, WEFT_WRITE, 0, 0}, {s.transform, WEFT_WRITE, 0, 0}}};
    s.query = weft_query_create(s.world, &query);
    heavy_fill(&s);
    weft_system_create(s.world,
                       &(weft_system_desc){.name = "heavy", .run = heavy_run, .over.rows = query});
    heavy_workers = workers;
    weft_bench_measure measure = {.name = name,
                                  .unit = "us/pass",
                                  .workers = workers,
                                  .run = step_world,
                                  .raw = heavy_raw,
                                  .data = &s};
    uint32_t peers = 0;
    if (workers > 1 && weft_peer_openmp()) {
        measure.peers[peers++] = (weft_bench_peer){"openmp", heavy_openmp, NULL};
    }
    if (workers > 1 && weft_peer_tbb()) {
        measure.peers[peers++] = (weft_bench_peer){"tbb", heavy_tbb, NULL};
    }
    if (s.raw_position && s.raw_transform) weft_bench_run(bench, &measure);
    close_world(bench, &s);
}

static void heavy_compute(weft_bench *bench)
{
    heavy_with(bench, "1w", 1);
    if (weft_bench_workers(bench) > 1) heavy_with(bench, "Nw", weft_bench_workers(bench));
}

/* add_remove: add a component to each of 10,000 entities, then take it away, one by one. */

static void change_weft(void *data)
{
    setup *s = data;
    for (int i = 0; i < ENTITIES; i++) weft_entity_add(s->world, s->entities[i], s->extra);
    for (int i = 0; i < ENTITIES; i++) weft_entity_remove(s->world, s->entities[i], s->extra);
}

/* Rows of two tables; `where` finds a row by entity: the least that must be kept up to date. */
typedef struct raw_tables {
    float a[2][ENTITIES], b[ENTITIES];
    int owner[2][ENTITIES], where[ENTITIES], count[2];
} raw_tables;

static void raw_move(raw_tables *r, int entity, int from)
{
    const int to = !from, row = r->where[entity], last = --r->count[from], at = r->count[to]++;
    r->a[to][at] = r->a[from][row];
    if (to) r->b[at] = 0;
    if (from) r->b[row] = r->b[last];
    r->owner[to][at] = entity;
    r->where[entity] = at;
    if (row == last) return;
    r->a[from][row] = r->a[from][last];
    r->owner[from][row] = r->owner[from][last];
    r->where[r->owner[from][row]] = row;
}

static raw_tables tables;

static void change_raw(void *data)
{
    (void)data;
    for (int i = 0; i < ENTITIES; i++) raw_move(&tables, i, 0);
    for (int i = 0; i < ENTITIES; i++) raw_move(&tables, i, 1);
    weft_bench_keep(&tables);
}

static void add_remove(weft_bench *bench)
{
    setup s;
    if (!open_world(bench, &s, 1)) return;
    const weft_component a = weft_component_create_plain(s.world, "A", 4, 4, 0);
    s.extra = weft_component_create_plain(s.world, "B", 4, 4, 0);
    s.entities = calloc(ENTITIES, sizeof(weft_entity));
    if (s.entities) {
        weft_entity_create_many(s.world, WEFT_ARCHETYPE(s.world, a), ENTITIES, s.entities);
        tables.count[0] = ENTITIES;
        tables.count[1] = 0;
        for (int i = 0; i < ENTITIES; i++) tables.where[i] = tables.owner[0][i] = i;
        weft_bench_run(bench, &(weft_bench_measure){.name = "10k",
                                                    .unit = "us/pass",
                                                    .workers = 1,
                                                    .run = change_weft,
                                                    .raw = change_raw,
                                                    .data = &s});
    }
    close_world(bench, &s);
}

const weft_bench_entry weft_bench_suite[] = {
    {"suite.simple_insert", "world, 10,000 entities of 4 components with values, end",
     simple_insert, 0},
    {"suite.simple_iter", "position += velocity, 10,000 rows, one thread", simple_iter, 0},
    {"suite.frag_iter", "data *= 2 over 26 archetypes of 20 rows, one thread", frag_iter, 0},
    {"suite.schedule", "three swap systems over 40,000, 10,000 and 10,000 rows", schedule, 0},
    {"suite.heavy_compute", "100 inversions of a 4 x 4 matrix for 1,000 rows", heavy_compute, 0},
    {"suite.add_remove", "add, then remove a component, 10,000 entities one by one", add_remove, 0},
    {0},
};
