/* SPDX-License-Identifier: MIT */
/* bench_storm.c: structural change at scale, from jobs: spawn storm, playback, many archetypes.
 *
 * storm.spawn       64 jobs create 1 M entities of three components with values inside a frame;
 *                   the next frame destroys them all by a query command. raw: three arrays
 *                   filled.
 * storm.playback    1 M entities: each row records one add, the sync point plays all back; the next
 *                   frame removes them the same way. raw: rows copied between two plain tables.
 * storm.archetypes  4,096 entities, each in an archetype of its own (a subset of 12 tags): world
 *                   made, filled, destroyed. No raw.
 */
#include "bench.h"

#include <weft/weft.h>

#include <stdlib.h>
#include <string.h>

enum { ROWS = 1000000, JOBS = 64, TAGS = 12, SETS = 1 << TAGS };

typedef struct vec3 {
    float x, y, z;
} vec3;

/* One world and the plain arrays beside it. Owner: the benchmark; systems read it. */
typedef struct storm {
    weft_world *world;
    weft_component components[3], extra;
    weft_archetype archetype;
    weft_query all;
    weft_bench *bench;
    vec3 *tables[2][3];
    float *raw_extra;
    uint64_t step;
} storm;

static bool is_even(weft_world *world, void *user)
{
    (void)world;
    return ((storm *)user)->step % 2 == 0;
}

static bool is_odd(weft_world *world, void *user)
{
    (void)world;
    return ((storm *)user)->step % 2 != 0;
}

static void two_steps(void *data)
{
    storm *s = data;
    for (int i = 0; i < 2; i++) {
        if (weft_world_step(s->world, 1) != WEFT_OK) {
            weft_bench_fail(s->bench, "%s", weft_world_error(s->world)->text);
        }
        s->step++;
    }
}

/* One even and one odd step: after the even one there must be `even` entities, then `odd`. */
static void check_steps(storm *s, uint64_t even, uint64_t odd)
{
    for (int i = 0; i < 2; i++) {
        weft_world_step(s->world, 1);
        s->step++;
        weft_world_stats stats;
        weft_world_stats_get(s->world, &stats, sizeof stats);
        const uint64_t expected = i ? odd : even;
        if (stats.entities != expected) {
            weft_bench_fail(s->bench, "%llu entities after the step, expected %llu",
                            (unsigned long long)stats.entities, (unsigned long long)expected);
        }
    }
}

static void fill(uint32_t n, vec3 *a, vec3 *b, vec3 *c, uint32_t first)
{
    for (uint32_t i = 0; i < n; i++) {
        a[i] = (vec3){(float)(first + i), 0, 0};
        b[i] = (vec3){1, 0, 0};
        c[i] = (vec3){0, 1, 0};
    }
}

static void spawn(weft_slice *slice, void *user)
{
    const storm *s = user;
    const uint32_t share = ROWS / JOBS;
    for (uint32_t done = 0; done < share;) {
        weft_slice rows;
        if (weft_recorder_create_rows(weft_slice_recorder(slice), s->archetype, share - done,
                                      &rows)) {
            return;
        }
        fill(rows.count, rows.columns[0], rows.columns[1], rows.columns[2],
             slice->index * share + done);
        done += rows.count;
    }
}

static void kill_all(weft_slice *slice, void *user)
{
    const storm *s = user;
    weft_recorder_query_destroy_entities(weft_slice_recorder(slice), s->all);
}

static void add_each(weft_slice *slice, void *user)
{
    const storm *s = user;
    const weft_entity *e = weft_slice_entities(slice);
    weft_recorder *c = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) weft_recorder_add(c, e[i], s->extra);
}

static void remove_each(weft_slice *slice, void *user)
{
    const storm *s = user;
    const weft_entity *e = weft_slice_entities(slice);
    weft_recorder *c = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) weft_recorder_remove(c, e[i], s->extra);
}

/* The values, into arrays that are there: the allocator's pages are not the question. */
static void spawn_raw(void *data)
{
    storm *s = data;
    vec3 *a = s->tables[0][0], *b = s->tables[0][1], *c = s->tables[0][2];
    if (a && b && c) fill(ROWS, a, b, c, 0);
    weft_bench_keep(a);
    weft_bench_keep(b);
    weft_bench_keep(c);
}

/* What playback has to do at least: copy each row to the other table and write the new value. */
static void playback_raw(void *data)
{
    storm *s = data;
    for (int to = 1; to >= 0; to--) {
        for (int k = 0; k < 3; k++) {
            memcpy(s->tables[to][k], s->tables[!to][k], ROWS * sizeof(vec3));
            weft_bench_keep(s->tables[to][k]);
        }
        if (to) memset(s->raw_extra, 0, ROWS * sizeof(float));
    }
}

static bool open_storm(weft_bench *bench, storm *s, uint32_t workers)
{
    static const char *const names[3] = {"Position", "Velocity", "Force"};
    *s = (storm){.bench = bench};
    if (weft_world_create(&(weft_world_desc){.workers = workers}, &s->world) != WEFT_OK) {
        weft_bench_fail(bench, "cannot create a world with %u workers", workers);
        return false;
    }
    for (int i = 0; i < 3; i++) {
        s->components[i] = weft_component_create_plain(s->world, names[i], sizeof(vec3), 4, 0);
    }
    s->extra = weft_component_create_plain(s->world, "Extra", 4, 4, 0);
    weft_entity first;
    weft_entity_create_many(s->world, weft_archetype_create(s->world, s->components, 3), 1, &first);
    s->archetype = weft_entity_archetype(s->world, first);
    weft_entity_destroy(s->world, first);
    s->all = weft_query_create(
        s->world, &(weft_query_desc){.terms = {{s->components[0], WEFT_READ, WEFT_ALL, 0}}});
    return true;
}

static void close_storm(storm *s)
{
    weft_world_destroy(s->world);
    free(s->raw_extra);
    for (int i = 0; i < 6; i++) free(s->tables[i / 3][i % 3]);
}

static void spawn_with(weft_bench *bench, const char *name, uint32_t workers)
{
    storm s;
    if (!weft_bench_wants(bench, name) || !open_storm(bench, &s, workers)) return;
    weft_system_create(s.world,
                       &(weft_system_desc){.name = "spawn",
                                           .run = spawn,
                                           .user = &s,
                                           .over = {.kind = WEFT_OVER_COUNT, .count = JOBS},
                                           .effects = WEFT_RECORDS_CREATE,
                                           .run_if = is_even});
    weft_system_create(s.world, &(weft_system_desc){.name = "kill",
                                                    .run = kill_all,
                                                    .user = &s,
                                                    .effects = WEFT_RECORDS_DESTROY,
                                                    .run_if = is_odd});
    check_steps(&s, ROWS, 0);
    for (int i = 0; i < 3; i++) s.tables[0][i] = weft_bench_zeroed(ROWS, sizeof(vec3));
    weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                .unit = "ns/entity",
                                                .items = ROWS,
                                                .workers = workers,
                                                .run = two_steps,
                                                .raw = spawn_raw,
                                                .data = &s});
    close_storm(&s);
}

static bool fill_playback(storm *s)
{
    weft_values values[3];
    for (int i = 0; i < 6; i++) {
        s->tables[i / 3][i % 3] = weft_bench_zeroed(ROWS, sizeof(vec3));
        if (!s->tables[i / 3][i % 3]) return false;
    }
    s->raw_extra = weft_bench_zeroed(ROWS, sizeof(float));
    for (int i = 0; i < 3; i++) values[i] = (weft_values){s->components[i], s->tables[0][i]};
    weft_archetype three = weft_archetype_create(s->world, s->components, 3);
    return s->raw_extra &&
           weft_entity_create_filled(s->world, three, values, 3, ROWS, NULL) == WEFT_OK;
}

static void playback_with(weft_bench *bench, const char *name, uint32_t workers)
{
    storm s;
    if (!weft_bench_wants(bench, name) || !open_storm(bench, &s, workers)) return;
    if (fill_playback(&s)) {
        const weft_term position = {s.components[0], WEFT_READ, WEFT_ALL, 0};
        weft_system_create(s.world, &(weft_system_desc){.name = "add",
                                                        .run = add_each,
                                                        .user = &s,
                                                        .effects = WEFT_RECORDS_ADD,
                                                        .run_if = is_even,
                                                        .over.rows.terms = {position}});
        weft_system_create(s.world, &(weft_system_desc){.name = "remove",
                                                        .run = remove_each,
                                                        .user = &s,
                                                        .effects = WEFT_RECORDS_REMOVE,
                                                        .run_if = is_odd,
                                                        .over.rows.terms = {position}});
        check_steps(&s, ROWS, ROWS);
        weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                    .unit = "ns/command",
                                                    .items = 2 * ROWS,
                                                    .workers = workers,
                                                    .run = two_steps,
                                                    .raw = playback_raw,
                                                    .data = &s});
    } else {
        weft_bench_fail(bench, "no memory for 1 M rows");
    }
    close_storm(&s);
}

static void spawn_storm(weft_bench *bench)
{
    spawn_with(bench, "1M,1w", 1);
    if (weft_bench_workers(bench) > 1) spawn_with(bench, "1M,Nw", weft_bench_workers(bench));
}

static void playback(weft_bench *bench)
{
    playback_with(bench, "1M,1w", 1);
    if (weft_bench_workers(bench) > 1) playback_with(bench, "1M,Nw", weft_bench_workers(bench));
}

static void many_archetypes(void *data)
{
    storm *s = data;
    weft_component tags[TAGS];
    if (!open_storm(s->bench, s, 1)) return;
    for (int i = 0; i < TAGS; i++) {
        const char name[3] = {'T', (char)('a' + i), 0};
        tags[i] = weft_component_create_plain(s->world, name, i % 2 ? 4 : 0, i % 2 ? 4 : 1, 0);
    }
    for (uint32_t set = 0; set < SETS; set++) {
        weft_component components[TAGS + 1] = {s->components[0]};
        uint32_t count = 1;
        for (int i = 0; i < TAGS; i++) {
            if (set >> i & 1) components[count++] = tags[i];
        }
        if (weft_entity_create_many(s->world, weft_archetype_create(s->world, components, count), 1,
                                    NULL) != WEFT_OK) {
            weft_bench_fail(s->bench, "%s", weft_world_error(s->world)->text);
            break;
        }
    }
    close_storm(s);
}

static void archetypes(weft_bench *bench)
{
    storm s = {.bench = bench};
    weft_bench_run(bench, &(weft_bench_measure){.name = "4096",
                                                .unit = "ns/archetype",
                                                .items = SETS,
                                                .workers = 1,
                                                .run = many_archetypes,
                                                .data = &s});
}

const weft_bench_entry weft_bench_storm[] = {
    {"storm.spawn", "jobs create 1 M entities of 3 components; all destroyed next frame",
     spawn_storm, 1},
    {"storm.playback", "1 M adds recorded by jobs and played back; then 1 M removes", playback, 1},
    {"storm.archetypes", "a world of 4,096 archetypes of one entity, made and destroyed",
     archetypes, 0},
    {0},
};
