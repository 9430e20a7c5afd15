/* SPDX-License-Identifier: MIT */
/* bench_observer.c: observers: one million entities get a component, lose it, or have other values,
 * and an observer is told; and nothing changed. Raw: the handles copied to a list and walked
 * once. */
#include "bench.h"

#include <weft/observer.h>
#include <weft/weft.h>

#include <stdlib.h>
#include <string.h>

/* Owner: one benchmark. */
typedef struct observer_bed {
    weft_bench *bench;
    weft_world *world;
    weft_component tag;
    weft_query all, writes;
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

/* ---- what is told ---- */

static void added_prepare(void *data)
{
    observer_bed *bed = data;
    check(bed, weft_query_remove(bed->world, bed->all, bed->tag));
    check(bed, weft_observers_run(bed->world));
    check(bed, weft_query_add(bed->world, bed->all, bed->tag));
}

static void removed_prepare(void *data)
{
    observer_bed *bed = data;
    check(bed, weft_query_add(bed->world, bed->all, bed->tag));
    check(bed, weft_observers_run(bed->world));
    check(bed, weft_query_remove(bed->world, bed->all, bed->tag));
}

static void changed_prepare(void *data)
{
    observer_bed *bed = data;
    weft_cursor c = weft_query_begin(bed->world, bed->writes);
    while (weft_query_next(&c)) {
        float *values = weft_slice_write(&c.slice, 0);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++) values[i]++;
    }
}

/* Two steps: what came in a version is looked at again as long as it lasts. */
static void unchanged_prepare(void *data)
{
    observer_bed *bed = data;
    check(bed, weft_world_step(bed->world, 0.1f));
    check(bed, weft_world_step(bed->world, 0.1f));
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

static const struct {
    const char *name;
    uint32_t on;
    void (*prepare)(void *data);
} cases[] = {{"1M-added", WEFT_ON_ADDED, added_prepare},
             {"1M-removed", WEFT_ON_REMOVED, removed_prepare},
             {"1M-changed", WEFT_ON_CHANGED, changed_prepare},
             {"1M-unchanged", WEFT_ON_CHANGED, unchanged_prepare}};

static void batch_case(weft_bench *bench, uint32_t number)
{
    observer_bed bed = {.bench = bench, .count = 1000000};
    uint32_t workers = weft_bench_workers(bench);
    check(&bed, weft_world_create(&(weft_world_desc){.workers = workers}, &bed.world));
    weft_component value = weft_component_create_plain(bed.world, "value", 4, 4, 0);
    bed.tag = weft_component_create_plain(bed.world, "tag", 0, 1, 0);
    bed.all = weft_query_create(bed.world, &(weft_query_desc){.terms = {{value, WEFT_READ}}});
    bed.writes = weft_query_create(bed.world, &(weft_query_desc){.terms = {{value, WEFT_WRITE}}});
    bed.entities = calloc(bed.count, sizeof *bed.entities);
    bed.copy = weft_bench_zeroed(bed.count, sizeof *bed.copy);
    check(&bed, weft_entity_create_many(bed.world, WEFT_ARCHETYPE(bed.world, value), bed.count,
                                        bed.entities));
    bool is_of_value = cases[number].on == WEFT_ON_CHANGED;
    const weft_observer_desc desc = {.name = "sum",
                                     .on = cases[number].on,
                                     .component = is_of_value ? value : bed.tag,
                                     .run = observe,
                                     .user = &bed};
    if (weft_observer_create(bed.world, &desc).id == 0)
        weft_bench_fail(bench, "%s", weft_world_error(bed.world)->text);
    weft_bench_run(bench, &(weft_bench_measure){.name = cases[number].name,
                                                .unit = "ns/entity",
                                                .items = (double)bed.count,
                                                .workers = workers,
                                                .run = batch_run,
                                                .raw = batch_raw,
                                                .prepare = cases[number].prepare,
                                                .data = &bed});
    weft_world_destroy(bed.world);
    free(bed.entities), free(bed.copy);
}

static void batch(weft_bench *bench)
{
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (weft_bench_wants(bench, cases[i].name)) batch_case(bench, i);
}

const weft_bench_entry weft_bench_observer[] = {
    {"observer.batch", "observers of what was added to, removed from, changed of all entities",
     batch, false},
    {0}};
