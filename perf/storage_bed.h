/* SPDX-License-Identifier: MIT */
/* storage_bed.h: the world that the benchmarks of the storage share: entities with two 12-byte
 * components, their handles, and a shuffled order. */
#ifndef WEFT_PERF_STORAGE_BED_H
#define WEFT_PERF_STORAGE_BED_H

#include "bench.h"

#include <weft/ecs.h>

#include <stdlib.h>

typedef struct bed_vector {
    float x, y, z;
} bed_vector;

/* Owner: one benchmark. */
typedef struct storage_bed {
    weft_bench *bench;
    weft_world *world;
    weft_component position, velocity, extra, tag;
    weft_archetype moving;
    weft_query query;
    uint32_t count;
    weft_entity *entities; /* in order of creation */
    weft_entity *shuffled;
    bed_vector *positions; /* raw arrays of `count` */
    bed_vector *velocities;
    weft_entity *ids;
    bed_vector *gathered;
    bed_vector *written;
    uint64_t sum;
} storage_bed;

static inline void bed_world_open(storage_bed *bed, uint32_t workers)
{
    if (weft_world_create(&(weft_world_desc){.workers = workers}, &bed->world) != WEFT_OK)
        weft_bench_fail(bed->bench, "no world");
    bed->position = WEFT_COMPONENT(bed->world, bed_vector);
    bed->velocity = weft_component_create_plain(bed->world, "velocity", sizeof(bed_vector), 4, 0);
    bed->extra = weft_component_create_plain(bed->world, "extra", 4, 4, 0);
    bed->tag = weft_component_create_plain(bed->world, "tag", 0, 1, 0);
    bed->moving =
        weft_archetype_create(bed->world, (weft_component[]){bed->position, bed->velocity}, 2);
    bed->query = weft_query_create(
        bed->world, &(weft_query_desc){.terms = {{bed->position, WEFT_WRITE, WEFT_ALL, 0},
                                                 {bed->velocity, WEFT_READ, WEFT_ALL, 0}}});
}

static inline void bed_shuffle(storage_bed *bed)
{
    uint64_t state = 88172645463325252u;
    for (uint32_t i = 0; i < bed->count; i++) bed->shuffled[i] = bed->entities[i];
    for (uint32_t i = bed->count; i-- > 1;) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        uint32_t k = (uint32_t)(state % (i + 1));
        weft_entity swapped = bed->shuffled[i];
        bed->shuffled[i] = bed->shuffled[k];
        bed->shuffled[k] = swapped;
    }
}

/* All entities at once, zeroed. */
static inline void bed_populate(storage_bed *bed)
{
    weft_component both[] = {bed->position, bed->velocity};
    if (weft_entity_create_many(bed->world, weft_archetype_create(bed->world, both, 2), bed->count,
                                bed->entities) != WEFT_OK)
        weft_bench_fail(bed->bench, "no entities");
}

/* What comes before a sample: no entities, all of them, all of them in a shuffled order. */
static inline void bed_clear(void *data)
{
    storage_bed *bed = data;
    weft_query_destroy_entities(bed->world, bed->query);
}

static inline void bed_fill(void *data)
{
    storage_bed *bed = data;
    bed_clear(bed);
    bed_populate(bed);
}

static inline void bed_fill_shuffled(void *data)
{
    storage_bed *bed = data;
    bed_fill(bed);
    bed_shuffle(bed);
}

static inline storage_bed bed_open(weft_bench *bench, uint32_t count)
{
    storage_bed bed = {.bench = bench, .count = count};
    bed.entities = malloc(count * sizeof *bed.entities);
    bed.shuffled = malloc(count * sizeof *bed.shuffled);
    bed.positions = calloc(count, sizeof *bed.positions);
    bed.velocities = calloc(count, sizeof *bed.velocities);
    bed.ids = calloc(count, sizeof *bed.ids);
    bed.gathered = calloc(count, sizeof *bed.gathered);
    bed.written = calloc(count, sizeof *bed.written);
    for (uint32_t i = 0; i < count; i++) {
        bed.positions[i] = (bed_vector){(float)i, 1, 2};
        bed.velocities[i] = (bed_vector){1, (float)i, 3};
        bed.entities[i] = bed.ids[i] = (weft_entity){i, 1};
        bed.gathered[i].x = bed.written[i].x = 1;
    }
    bed_world_open(&bed, 1);
    return bed;
}

static inline void bed_close(storage_bed *bed)
{
    if (weft_world_validate(bed->world) != WEFT_OK)
        weft_bench_fail(bed->bench, "%s", weft_world_error(bed->world)->text);
    weft_world_destroy(bed->world);
    free(bed->entities), free(bed->shuffled), free(bed->positions), free(bed->velocities);
    free(bed->ids), free(bed->gathered), free(bed->written);
}

#endif
