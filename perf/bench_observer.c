/* SPDX-License-Identifier: MIT */
/* bench_observer.c: observers: one million entities get a component, and an observer is told. Raw:
 * the handles copied to a list and walked once. */
#include "bench.h"

#include <weft/observer.h>

#include <stdlib.h>
#include <string.h>

/* Owner: one benchmark. */
typedef struct observer_bed {
    weft_bench *bench;
    weft_world *world;
    weft_component tag;
    weft_query all;
    weft_entity *entities, *copy;
    uint32_t count;
    uint64_t sum;
} observer_bed;

static void check(const observer_bed *bed, weft_result result)
{
    if (result != WEFT_OK) weft_bench_fail(bed->bench, "%s", weft_world_error(bed->world)->text);
}

static uint64_t sum_of(const weft_entity *entities, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += entities[i].index;
    return sum;
}

static void observe(const weft_observation *observation, void *user)
{
    observer_bed *bed = user;
    bed->sum += sum_of(observation->entities, observation->count);
}

static void batch_prepare(void *data)
{
    observer_bed *bed = data;
    check(bed, weft_query_remove(bed->world, bed->all, bed->tag));
    check(bed, weft_observers_run(bed->world));
    check(bed, weft_query_add(bed->world, bed->all, bed->tag));
}

static void batch_run(void *data)
{
    observer_bed *bed = data;
    check(bed, weft_observers_run(bed->world));
}

static void batch_raw(void *data)
{
    observer_bed *bed = data;
    memcpy(bed->copy, bed->entities, bed->count * sizeof *bed->copy);
    weft_bench_keep(bed->copy);
    bed->sum += sum_of(bed->copy, bed->count);
}

static void batch(weft_bench *bench)
{
    if (!weft_bench_wants(bench, "1M-added")) return;
    observer_bed bed = {.bench = bench, .count = 1000000};
    uint32_t workers = weft_bench_workers(bench);
    check(&bed, weft_world_create(&(weft_world_desc){.workers = workers}, &bed.world));
    weft_component position = weft_component_create_plain(bed.world, "position", 12, 4, 0);
    bed.tag = weft_component_create_plain(bed.world, "tag", 0, 1, 0);
    bed.all = weft_query_create(bed.world, &(weft_query_desc){.terms = {{position, WEFT_READ}}});
    bed.entities = calloc(bed.count, sizeof *bed.entities);
    bed.copy = weft_bench_zeroed(bed.count, sizeof *bed.copy);
    check(&bed, weft_entity_create_many(bed.world, WEFT_ARCHETYPE(bed.world, position), bed.count,
                                        bed.entities));
    const weft_observer_desc desc = {
        .name = "sum", .on = WEFT_ON_ADDED, .component = bed.tag, .run = observe, .user = &bed};
    if (weft_observer_create(bed.world, &desc).id == 0)
        weft_bench_fail(bench, "%s", weft_world_error(bed.world)->text);
    weft_bench_run(bench, &(weft_bench_measure){.name = "1M-added",
                                                .unit = "ns/entity",
                                                .items = (double)bed.count,
                                                .workers = workers,
                                                .run = batch_run,
                                                .raw = batch_raw,
                                                .prepare = batch_prepare,
                                                .data = &bed});
    weft_world_destroy(bed.world);
    free(bed.entities), free(bed.copy);
}

const weft_bench_entry weft_bench_observer[] = {
    {"observer.batch", "run observers after a component was added to all", batch, false}, {0}};
