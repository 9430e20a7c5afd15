/* SPDX-License-Identifier: MIT */
/* bench_storage_alloc.c: the two concurrent allocators alone (entity ids, units), creation from
 * jobs, and iteration over contiguous and fragmented storage.
 */
#include "storage_bed.h"

#include "private_chunk.h"
#include "structure.h"

#include <stdio.h>
#include <weft/jobs.h>

enum { PAIRS = 100000, BATCH = 256, MILLION = 1000000, FRAGMENTS = 26, ROWS = 20 };

/* ---- allocators ---- */

static void id_pairs(storage_bed *bed, uint32_t *home, uint32_t pairs)
{
    weft_entity entity;
    for (uint32_t i = 0; i < pairs; i++) {
        if (weft__directory_allocate_any(&bed->world->directory, home, 1, &entity) != WEFT_OK)
            return;
        weft__directory_free_any(&bed->world->directory, &entity, 1);
    }
}

static void id_single(void *data)
{
    uint32_t home = 0;
    id_pairs(data, &home, PAIRS);
}

static void id_batch(void *data)
{
    storage_bed *bed = data;
    weft_entity ids[BATCH];
    uint32_t home = 0;
    for (uint32_t i = 0; i < PAIRS / BATCH; i++) {
        if (weft__directory_allocate_any(&bed->world->directory, &home, BATCH, ids) != WEFT_OK)
            return;
        weft__directory_free_any(&bed->world->directory, ids, BATCH);
    }
}

static void unit_pairs(storage_bed *bed, uint32_t home, uint32_t pairs)
{
    weft__run run;
    for (uint32_t i = 0; i < pairs; i++) {
        if (weft__units_allocate(&bed->world->units, 1, home, &run) != WEFT_OK) return;
        weft__units_free(&bed->world->units, run.first, run.count);
    }
}

static void unit_single(void *data)
{
    unit_pairs(data, 0, PAIRS);
}

/* Every participant of the loop does its share of the pairs on its own home. */
static int id_part(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    uint32_t home = weft_job_worker_index(job);
    id_pairs(user, &home, end - begin);
    return 0;
}

static int unit_part(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    unit_pairs(user, 2 * weft_job_worker_index(job), end - begin);
    return 0;
}

static void contended(storage_bed *bed, weft_job_for_fn part)
{
    weft_job_context *owner = weft_job_pool_owner(weft_world_pool(bed->world));
    weft_job_for(owner,
                 &(weft_job_for_desc){.fn = part, .argument = bed, .count = PAIRS, .grain = 2048},
                 NULL);
}

static void id_contended(void *data)
{
    contended(data, id_part);
}

static void unit_contended(void *data)
{
    contended(data, unit_part);
}

static void measure(storage_bed *bed, const char *name, uint32_t workers, weft_bench_fn *run,
                    weft_bench_fn *raw)
{
    weft_bench_run(bed->bench, &(weft_bench_measure){.name = name,
                                                     .unit = "ns/pair",
                                                     .items = PAIRS,
                                                     .workers = workers,
                                                     .run = run,
                                                     .raw = raw,
                                                     .data = bed});
}

/* A world in which block 0 and a megachunk per worker are in use, as in a world that lives. */
static storage_bed alloc_open(weft_bench *bench, uint32_t workers)
{
    storage_bed bed = {.bench = bench};
    weft__run run;
    bed_world_open(&bed, workers);
    weft_entity_create(bed.world, bed.moving);
    for (uint32_t i = 0; i < workers; i++)
        if (weft__units_allocate(&bed.world->units, 1, 2 * i, &run) != WEFT_OK)
            weft_bench_fail(bench, "no units");
    return bed;
}

static void bench_alloc_id(weft_bench *bench)
{
    storage_bed one = alloc_open(bench, 1), two = alloc_open(bench, 2);
    measure(&one, "single", 1, id_single, NULL);
    measure(&one, "batch", 1, id_batch, NULL);
    measure(&two, "contended", 2, id_contended, id_single);
    weft_world_destroy(one.world);
    weft_world_destroy(two.world);
}

static void bench_alloc_unit(weft_bench *bench)
{
    storage_bed one = alloc_open(bench, 1), two = alloc_open(bench, 2);
    measure(&one, "single", 1, unit_single, NULL);
    measure(&two, "contended", 2, unit_contended, unit_single);
    weft_world_destroy(one.world);
    weft_world_destroy(two.world);
}

/* ---- creation from jobs ---- */

enum { CHUNK_ROWS = 8192, CHUNKS = (MILLION + CHUNK_ROWS - 1) / CHUNK_ROWS };

typedef struct jobs_bed {
    storage_bed bed;
    weft__chunk *chunks[CHUNKS];
} jobs_bed;

static int chunks_fill(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    jobs_bed *b = user;
    weft__archetype *archetype = b->bed.world->archetypes.at[b->bed.moving.id - 1];
    for (uint32_t i = begin; i < end; i++) {
        uint32_t rows = CHUNK_ROWS;
        if (weft__private_open(b->bed.world, weft_job_worker_index(job), archetype, rows,
                               &b->chunks[i]) != WEFT_OK)
            return 1;
        if (rows > b->chunks[i]->capacity) rows = b->chunks[i]->capacity;
        weft__private_rows(b->chunks[i], rows, false);
        bed_vector *positions = (bed_vector *)(void *)weft__chunk_column(b->chunks[i], 1);
        bed_vector *velocities = (bed_vector *)(void *)weft__chunk_column(b->chunks[i], 2);
        for (uint32_t r = 0; r < rows; r++) {
            positions[r] = (bed_vector){(float)r, 1, 2};
            velocities[r] = (bed_vector){1, (float)r, 3};
        }
    }
    return 0;
}

static void create_from_jobs(void *data)
{
    jobs_bed *b = data;
    int code = 0;
    weft_job_context *owner = weft_job_pool_owner(weft_world_pool(b->bed.world));
    weft_job_for(
        owner, &(weft_job_for_desc){.fn = chunks_fill, .argument = b, .count = CHUNKS, .grain = 1},
        &code);
    static weft__private_piece pieces[CHUNKS];
    for (uint32_t i = 0; i < CHUNKS; i++) pieces[i] = weft__private_whole(b->chunks[i]);
    weft__private_desc link = {
        .world = b->bed.world, .job = owner, .pieces = pieces, .count = CHUNKS};
    if (code != 0 || weft__private_link(&link) != WEFT_OK)
        weft_bench_fail(b->bed.bench, "creation from jobs failed");
}

static void jobs_clear(void *data)
{
    jobs_bed *b = data;
    weft_query_destroy_entities(b->bed.world, b->bed.query);
}

static void bench_create_jobs(weft_bench *bench)
{
    static const char *const names[] = {"one", "two"};
    for (uint32_t workers = 1; workers <= 2; workers++) {
        if (!weft_bench_wants(bench, names[workers - 1])) continue;
        jobs_bed *b = calloc(1, sizeof *b);
        b->bed.bench = bench;
        bed_world_open(&b->bed, workers);
        weft_bench_run(bench, &(weft_bench_measure){.name = names[workers - 1],
                                                    .unit = "ns/entity",
                                                    .items = (double)CHUNKS * CHUNK_ROWS,
                                                    .workers = workers,
                                                    .run = create_from_jobs,
                                                    .prepare = jobs_clear,
                                                    .data = b});
        if (weft_world_validate(b->bed.world) != WEFT_OK)
            weft_bench_fail(bench, "%s", weft_world_error(b->bed.world)->text);
        weft_world_destroy(b->bed.world);
        free(b);
    }
}

/* ---- iteration ---- */

static void move_run(bed_vector *restrict p, const bed_vector *v, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        p[i].x += v[i].x;
        p[i].y += v[i].y;
        p[i].z += v[i].z;
    }
}

static void iterate(void *data)
{
    storage_bed *bed = data;
    weft_cursor cursor = weft_query_begin(bed->world, bed->query);
    while (weft_query_next(&cursor))
        move_run(weft_slice_write(&cursor.slice, 0), weft_slice_read(&cursor.slice, 1),
                 weft_slice_count(&cursor.slice));
}

static void iterate_raw(void *data)
{
    storage_bed *bed = data;
    move_run(bed->positions, bed->velocities, bed->count);
    weft_bench_keep(bed->positions);
}

static void bench_iter_move3(weft_bench *bench)
{
    static const struct {
        const char *name;
        uint32_t count;
    } cases[] = {{"10k", 10000}, {"1M", MILLION}, {"10M", 10 * MILLION}};
    for (uint32_t i = 0; i < 3; i++) {
        if (!weft_bench_wants(bench, cases[i].name)) continue;
        storage_bed bed = bed_open(bench, cases[i].count);
        bed_populate(&bed);
        weft_bench_run(bench, &(weft_bench_measure){.name = cases[i].name,
                                                    .unit = "ns/entity",
                                                    .items = cases[i].count,
                                                    .workers = 1,
                                                    .run = iterate,
                                                    .raw = iterate_raw,
                                                    .data = &bed});
        bed_close(&bed);
    }
}

/* 26 archetypes of 20 entities, each with a component of its own. */
static void bench_iter_frag(weft_bench *bench)
{
    if (!weft_bench_wants(bench, "26x20")) return;
    storage_bed bed = bed_open(bench, FRAGMENTS * ROWS);
    for (uint32_t i = 0; i < FRAGMENTS; i++) {
        char name[8];
        snprintf(name, sizeof name, "f%u", i);
        weft_component own = weft_component_create_plain(bed.world, name, 4, 4, 0);
        weft_entity_create_many(
            bed.world,
            weft_archetype_create(bed.world, (weft_component[]){bed.position, bed.velocity, own},
                                  3),
            ROWS, NULL);
    }
    weft_bench_run(bench, &(weft_bench_measure){.name = "26x20",
                                                .unit = "ns/pass",
                                                .items = 1,
                                                .workers = 1,
                                                .run = iterate,
                                                .raw = iterate_raw,
                                                .data = &bed});
    bed_close(&bed);
}

/* The frag_iter of ecs_bench_suite, which is what the peers' figures are of: 26 archetypes of 20
 * entities with a float of their own and a float in common, which is doubled. */
static void double_run(float *data, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) data[i] *= 2;
}

static void double_all(void *data)
{
    storage_bed *bed = data;
    weft_cursor cursor = weft_query_begin(bed->world, bed->query);
    while (weft_query_next(&cursor))
        double_run(weft_slice_write(&cursor.slice, 0), weft_slice_count(&cursor.slice));
}

static void double_all_raw(void *data)
{
    storage_bed *bed = data;
    for (uint32_t i = 0; i < FRAGMENTS; i++) double_run(&bed->positions[i * ROWS].x, ROWS);
    weft_bench_keep(bed->positions);
}

static void bench_iter_frag_float(weft_bench *bench)
{
    if (!weft_bench_wants(bench, "26x20-float")) return;
    storage_bed bed = bed_open(bench, FRAGMENTS * ROWS);
    bed.query = weft_query_create(
        bed.world, &(weft_query_desc){.terms = {{bed.extra, WEFT_WRITE, WEFT_ALL, 0}}});
    for (uint32_t i = 0; i < FRAGMENTS; i++) {
        char name[8];
        snprintf(name, sizeof name, "f%u", i);
        weft_component own = weft_component_create_plain(bed.world, name, 4, 4, 0);
        weft_entity_create_many(
            bed.world, weft_archetype_create(bed.world, (weft_component[]){bed.extra, own}, 2),
            ROWS, NULL);
    }
    weft_bench_run(bench, &(weft_bench_measure){.name = "26x20-float",
                                                .unit = "ns/pass",
                                                .items = 1,
                                                .workers = 1,
                                                .run = double_all,
                                                .raw = double_all_raw,
                                                .data = &bed});
    bed_close(&bed);
}

/* Rows that were split by a shared value, put together again and compacted; raw: never split. */
static void bench_iter_rejoined(weft_bench *bench)
{
    enum { COUNT = 200000, VALUES = 2500 };
    if (!weft_bench_wants(bench, "200k")) return;
    storage_bed bed = bed_open(bench, COUNT), fresh = bed_open(bench, COUNT);
    weft_component team = weft_component_create_plain(bed.world, "team", 4, 4, WEFT_SHARED);
    uint32_t none = 0;
    bed_populate(&bed);
    bed_populate(&fresh);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t value = 1 + i % VALUES;
        weft_entity_set_shared(bed.world, bed.entities[i], team, &value);
    }
    weft_entity_set_shared_many(bed.world, bed.entities, COUNT, team, &none);
    while (weft_world_compact(bed.world, UINT64_MAX) != 0) {
    }
    weft_bench_run(bench, &(weft_bench_measure){.name = "200k",
                                                .unit = "ns/entity",
                                                .items = COUNT,
                                                .workers = 1,
                                                .run = iterate,
                                                .data = &bed,
                                                .peers = {{"fresh", iterate, &fresh}}});
    bed_close(&bed);
    bed_close(&fresh);
}

static void bench_iter_frags(weft_bench *bench)
{
    bench_iter_frag(bench);
    bench_iter_frag_float(bench);
}

/* ---- churn ---- */

/* Raw: a row is written, and its place given back. */
static void churn_raw(void *data)
{
    storage_bed *bed = data;
    for (uint32_t i = 0; i < PAIRS; i++) {
        bed->ids[0] = (weft_entity){0, 2 * i + 1};
        bed->positions[0] = (bed_vector){0, 0, 0};
        bed->velocities[0] = (bed_vector){0, 0, 0};
        weft_bench_keep(bed->ids);
    }
}

static void churn_create(void *data)
{
    storage_bed *bed = data;
    for (uint32_t i = 0; i < PAIRS; i++)
        weft_entity_destroy(bed->world, weft_entity_create(bed->world, bed->moving));
}

static void churn_tag(void *data)
{
    storage_bed *bed = data;
    for (uint32_t i = 0; i < PAIRS / 2; i++) {
        weft_entity_add(bed->world, bed->entities[0], bed->tag);
        weft_entity_remove(bed->world, bed->entities[0], bed->tag);
    }
}

/* `population`: entities of the archetype beside the one that comes and goes. */
static void churn_case(weft_bench *bench, const char *name, weft_bench_fn *run, uint32_t population)
{
    if (!weft_bench_wants(bench, name)) return;
    storage_bed bed = bed_open(bench, 16);
    for (uint32_t i = 0; i < population; i++) weft_entity_create(bed.world, bed.moving);
    bed.entities[0] = weft_entity_create(bed.world, WEFT_ARCHETYPE(bed.world, bed.extra));
    weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                .unit = "ns/change",
                                                .items = PAIRS,
                                                .workers = 1,
                                                .run = run,
                                                .raw = churn_raw,
                                                .data = &bed});
    bed_close(&bed);
}

static void bench_churn_lone(weft_bench *bench)
{
    churn_case(bench, "create-destroy", churn_create, 0);
    churn_case(bench, "beside-another", churn_create, 1);
    churn_case(bench, "tag", churn_tag, 0);
}

const weft_bench_entry weft_bench_storage_alloc[] = {
    {"churn.lone", "the only entity of its archetype created and destroyed; its tag added, removed",
     bench_churn_lone, false},
    {"alloc.id", "allocate and free an entity id: single, batches of 256, two threads",
     bench_alloc_id, false},
    {"alloc.unit", "allocate and free a 16 KiB unit: one thread, two threads", bench_alloc_unit,
     false},
    {"create.jobs", "1 M entities written in place by jobs, linked at the sync point",
     bench_create_jobs, false},
    {"iter.move3", "position += velocity by query", bench_iter_move3, false},
    {"iter.rejoined",
     "after rows were split by a shared value, joined, compacted; peer: never split",
     bench_iter_rejoined, false},
    {"iter.frag", "the same over 26 archetypes of 20 entities; a float doubled instead",
     bench_iter_frags, false},
    {0}};
