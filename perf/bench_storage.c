/* SPDX-License-Identifier: MIT */
/* bench_storage.c: creation, destruction, access by entity and memory, over 1 M entities of two
 * 12-byte components, one thread. "raw" is the same work on plain arrays: for creation it writes
 * the same bytes, for access it indexes an array. Moves between archetypes are in bench_move.c.
 */
#include "storage_bed.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MILLION = 1000000, SMALL = 10000 };

static void fresh_world(void *data)
{
    storage_bed *bed = data;
    weft_world_destroy(bed->world);
    bed_world_open(bed, 1);
}

/* ---- create ---- */

static void create_single(void *data)
{
    storage_bed *bed = data;
    for (uint32_t i = 0; i < bed->count; i++)
        bed->entities[i] = weft_entity_create(bed->world, bed->moving);
}

static void create_single_raw(void *data)
{
    storage_bed *bed = data;
    for (uint32_t i = 0; i < bed->count; i++) {
        bed->ids[i] = (weft_entity){i, 1};
        bed->positions[i] = (bed_vector){0, 0, 0};
        bed->velocities[i] = (bed_vector){0, 0, 0};
        weft_bench_keep(bed->ids);
    }
}

/* As programs do it: each entity with values of its own. */
static void create_written(void *data)
{
    storage_bed *bed = data;
    for (uint32_t i = 0; i < bed->count; i++) {
        weft_entity entity = bed->entities[i] = weft_entity_create(bed->world, bed->moving);
        bed_vector *position = weft_entity_write(bed->world, entity, bed->position);
        bed_vector *velocity = weft_entity_write(bed->world, entity, bed->velocity);
        if (position == NULL || velocity == NULL) continue;
        *position = bed->positions[i];
        *velocity = bed->velocities[i];
    }
}

static void create_written_raw(void *data)
{
    storage_bed *bed = data;
    for (uint32_t i = 0; i < bed->count; i++) {
        bed->ids[i] = (weft_entity){i, 1};
        bed->gathered[i] = bed->positions[i];
        bed->written[i] = bed->velocities[i];
        weft_bench_keep(bed->ids);
    }
}

static void create_bulk(void *data)
{
    storage_bed *bed = data;
    weft_archetype both = WEFT_ARCHETYPE(bed->world, bed->position, bed->velocity);
    if (weft_entity_create_filled(
            bed->world, both,
            WEFT_VALUES({bed->position, bed->positions}, {bed->velocity, bed->velocities}),
            bed->count, NULL) != WEFT_OK)
        weft_bench_fail(bed->bench, "%s", weft_world_error(bed->world)->text);
}

static void create_bulk_raw(void *data)
{
    storage_bed *bed = data;
    for (uint32_t i = 0; i < bed->count; i++) bed->ids[i] = (weft_entity){i, 1};
    memcpy(bed->gathered, bed->positions, bed->count * sizeof *bed->positions);
    memcpy(bed->gathered, bed->velocities, bed->count * sizeof *bed->velocities);
    weft_bench_keep(bed->gathered);
}

static void bench_create_case(weft_bench *bench, const char *name, weft_bench_fn *run,
                              weft_bench_fn *raw, weft_bench_fn *prepare)
{
    if (!weft_bench_wants(bench, name)) return;
    storage_bed bed = bed_open(bench, MILLION);
    weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                .unit = "ns/entity",
                                                .items = MILLION,
                                                .workers = 1,
                                                .run = run,
                                                .raw = raw,
                                                .prepare = prepare,
                                                .data = &bed});
    bed_close(&bed);
}

static void bench_create_single(weft_bench *bench)
{
    bench_create_case(bench, "warm", create_single, create_single_raw, bed_clear);
    bench_create_case(bench, "cold", create_single, create_single_raw, fresh_world);
}

static void bench_create_values(weft_bench *bench)
{
    bench_create_case(bench, "write", create_written, create_written_raw, bed_clear);
    bench_create_case(bench, "write-cold", create_written, create_written_raw, fresh_world);
}

static void bench_create_bulk(weft_bench *bench)
{
    bench_create_case(bench, "warm", create_bulk, create_bulk_raw, bed_clear);
    bench_create_case(bench, "cold", create_bulk, create_bulk_raw, fresh_world);
}

/* ---- destroy ---- */

static void destroy_in_order(void *data)
{
    storage_bed *bed = data;
    for (uint32_t i = 0; i < bed->count; i++) weft_entity_destroy(bed->world, bed->entities[i]);
}

static void destroy_random(void *data)
{
    storage_bed *bed = data;
    for (uint32_t i = 0; i < bed->count; i++) weft_entity_destroy(bed->world, bed->shuffled[i]);
}

static void destroy_array(void *data)
{
    storage_bed *bed = data;
    weft_entity_destroy_many(bed->world, bed->entities, bed->count);
}

/* In arrays of `length`: victims of one frame of a world with many others. */
static void destroy_arrays(storage_bed *bed, uint32_t length)
{
    for (uint32_t i = 0; i < bed->count; i += length) {
        uint32_t rest = bed->count - i;
        weft_entity_destroy_many(bed->world, bed->shuffled + i, rest < length ? rest : length);
    }
}

static void destroy_array_random(void *data)
{
    storage_bed *bed = data;
    destroy_arrays(bed, bed->count);
}

static void destroy_arrays_of_1000(void *data)
{
    destroy_arrays(data, 1000);
}

static void destroy_arrays_of_10(void *data)
{
    destroy_arrays(data, 10);
}

static void bench_destroy(weft_bench *bench)
{
    bench_create_case(bench, "order", destroy_in_order, NULL, bed_fill);
    bench_create_case(bench, "random", destroy_random, NULL, bed_fill_shuffled);
    bench_create_case(bench, "array", destroy_array, NULL, bed_fill);
    bench_create_case(bench, "array-random", destroy_array_random, NULL, bed_fill_shuffled);
    bench_create_case(bench, "array-random-1000", destroy_arrays_of_1000, NULL, bed_fill_shuffled);
    bench_create_case(bench, "array-random-10", destroy_arrays_of_10, NULL, bed_fill_shuffled);
    bench_create_case(bench, "query", bed_clear, NULL, bed_fill);
}

/* ---- get ---- */

/* The bits of a value as a number: a sum of floats lives in memory across calls, which costs more
 * than a look-up. */
static uint32_t bits_of(const float *value)
{
    uint32_t bits;
    memcpy(&bits, value, sizeof bits);
    return bits;
}

static void get_shuffled(void *data)
{
    storage_bed *bed = data;
    const weft_world *world = bed->world;
    const weft_entity *entities = bed->shuffled, *end = entities + bed->count;
    weft_component position = bed->position;
    uint64_t sum = 0;
    for (; entities < end; entities++) {
        const bed_vector *v = weft_entity_read(world, *entities, position);
        if (v != NULL) sum += bits_of(&v->x);
    }
    bed->sum += sum;
}

static void find_shuffled(void *data)
{
    storage_bed *bed = data;
    const weft_entity *entities = bed->shuffled, *end = entities + bed->count;
    weft_finder find = weft_finder_open(bed->world, bed->position);
    uint64_t sum = 0;
    for (; entities < end; entities++) {
        const bed_vector *v = weft_finder_read(&find, *entities);
        if (v != NULL) sum += bits_of(&v->x);
    }
    bed->sum += sum;
}

static void get_shuffled_raw(void *data)
{
    storage_bed *bed = data;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < bed->count; i++)
        sum += bits_of(&bed->positions[bed->shuffled[i].index].x);
    bed->sum += sum;
}

static void gather_shuffled(void *data)
{
    storage_bed *bed = data;
    if (weft_entity_read_many(bed->world, bed->shuffled, bed->count, bed->position,
                              bed->gathered) != WEFT_OK)
        weft_bench_fail(bed->bench, "%s", weft_world_error(bed->world)->text);
}

static void gather_shuffled_raw(void *data)
{
    storage_bed *bed = data;
    for (uint32_t i = 0; i < bed->count; i++)
        bed->gathered[i] = bed->positions[bed->shuffled[i].index];
    weft_bench_keep(bed->gathered);
}

static void bench_access(weft_bench *bench, const char *name, uint32_t count, weft_bench_fn *run,
                         weft_bench_fn *raw)
{
    if (!weft_bench_wants(bench, name)) return;
    storage_bed bed = bed_open(bench, count);
    bed_fill_shuffled(&bed);
    weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                .unit = "ns/entity",
                                                .items = count,
                                                .workers = 1,
                                                .run = run,
                                                .raw = raw,
                                                .data = &bed});
    bed_close(&bed);
}

static void bench_get(weft_bench *bench)
{
    bench_access(bench, "1M", MILLION, get_shuffled, get_shuffled_raw);
    bench_access(bench, "10k", SMALL, get_shuffled, get_shuffled_raw);
    bench_access(bench, "finder-1M", MILLION, find_shuffled, get_shuffled_raw);
    bench_access(bench, "finder-10k", SMALL, find_shuffled, get_shuffled_raw);
}

static void bench_gather(weft_bench *bench)
{
    bench_access(bench, "1M", MILLION, gather_shuffled, gather_shuffled_raw);
    bench_access(bench, "10k", SMALL, gather_shuffled, gather_shuffled_raw);
}

/* ---- memory ---- */

static void bench_memory_entity(weft_bench *bench)
{
    if (!weft_bench_wants(bench, "1M")) return;
    storage_bed bed = {.bench = bench};
    bed_world_open(&bed, 1);
    weft_world_stats before, after;
    weft_world_stats_get(bed.world, &before, sizeof before);
    weft_component both[] = {bed.position, bed.velocity};
    weft_entity_create_many(bed.world, weft_archetype_create(bed.world, both, 2), MILLION, NULL);
    weft_world_stats_get(bed.world, &after, sizeof after);
    weft_bench_value(bench, "1M", "bytes/entity", 1,
                     (double)(after.bytes_total - before.bytes_total) / MILLION);
    weft_world_destroy(bed.world);
}

/* What earlier benchmarks have freed goes back to the kernel first, so that it is not used again
 * unseen. */
static double resident_bytes(void)
{
    unsigned long all = 0, resident = 0;
    malloc_trim(0);
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%lu %lu", &all, &resident) != 2) resident = 0;
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static weft_world *small_world(weft_job_pool *pool)
{
    weft_world *world;
    if (weft_world_create(&(weft_world_desc){.workers = 1, .pool = pool}, &world) != WEFT_OK)
        return NULL;
    weft_component number = weft_component_create_plain(world, "number", 8, 8, 0);
    weft_entity_create(world, WEFT_ARCHETYPE(world, number));
    return world;
}

/* Worlds of one entity that share a pool, as the rooms of a server. */
static void bench_memory_world(weft_bench *bench)
{
    enum { WORLDS = 200 };
    static weft_world *worlds[WORLDS];
    weft_job_pool *pool;
    if (!weft_bench_wants(bench, "one")) return;
    if (weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 1}, &pool) != WEFT_OK) return;
    weft_world_destroy(small_world(pool)); /* what the process makes once */
    double before = resident_bytes();
    for (uint32_t i = 0; i < WORLDS; i++) worlds[i] = small_world(pool);
    weft_bench_value(bench, "one", "bytes/world", 1, (resident_bytes() - before) / WORLDS);
    for (uint32_t i = 0; i < WORLDS; i++) weft_world_destroy(worlds[i]);
    weft_job_pool_destroy(pool);
}

static void bench_memory_archetype(weft_bench *bench)
{
    if (!weft_bench_wants(bench, "10k")) return;
    storage_bed bed = {.bench = bench};
    bed_world_open(&bed, 1);
    weft_component tags[14], set[16];
    char name[16];
    for (uint32_t i = 0; i < 14; i++) {
        snprintf(name, sizeof name, "tag%u", i);
        tags[i] = weft_component_create_plain(bed.world, name, i < 7 ? 4 : 0, i < 7 ? 4 : 1, 0);
    }
    weft_world_stats before, after;
    weft_world_stats_get(bed.world, &before, sizeof before);
    double resident = resident_bytes();
    for (uint32_t a = 1; a <= SMALL; a++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < 14; i++)
            if ((a >> i & 1) != 0) set[n++] = tags[i];
        weft_entity_create_many(bed.world, weft_archetype_create(bed.world, set, n), 1, NULL);
    }
    weft_world_stats_get(bed.world, &after, sizeof after);
    weft_bench_value(bench, "10k", "bytes/archetype", 1,
                     (double)(after.bytes_total - before.bytes_total) / SMALL);
    weft_bench_value(bench, "10k-resident", "bytes/archetype", 1,
                     (resident_bytes() - resident) / SMALL);
    weft_world_destroy(bed.world);
}

const weft_bench_entry weft_bench_storage[] = {
    {"create.single", "one weft_entity_create per entity, two 12-byte components",
     bench_create_single, false},
    {"create.values", "creation one by one, with values that are written into the row",
     bench_create_values, false},
    {"create.bulk", "weft_entity_create_filled: 1 M entities with data", bench_create_bulk, false},
    {"destroy", "weft_entity_destroy in order, at random; in arrays; all by query", bench_destroy,
     false},
    {"get", "weft_entity_read (finder: weft_finder_read) in random order, with alive check",
     bench_get, false},
    {"get.gather", "weft_entity_read_many over a shuffled array of entities", bench_gather, false},
    {"memory.entity", "all memory of a world per entity of 24 bytes of data", bench_memory_entity,
     false},
    {"memory.world", "resident memory of a world of one entity", bench_memory_world, false},
    {"memory.archetype", "all memory of a world per archetype of one entity",
     bench_memory_archetype, false},
    {0}};
