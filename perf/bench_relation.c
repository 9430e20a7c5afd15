/* SPDX-License-Identifier: MIT */
/* bench_relation.c: relations: children under one parent, iteration of a forest, the index of
 * sources after all, 1 % of or no fields changed, and destruction of a forest by its roots. Raw:
 * the same in plain C with arrays of indices (parent of each, and counts and lists of children). */
#include "bench.h"

#include <weft/ecs.h>

#include <stdlib.h>
#include <string.h>

enum { TREE = 10 };

/* Owner: one benchmark. */
typedef struct relation_bed {
    weft_bench *bench;
    weft_world *world;
    weft_component position, velocity, relation;
    weft_query flat, fields;
    weft_entity *targets, *sources;
    uint32_t target_count, count;
    uint32_t round;
    /* raw */
    uint32_t *parents, *firsts, *children;
    bool *alive;
} relation_bed;

typedef struct bed_vector {
    float x, y, z;
} bed_vector;

static void check(const relation_bed *bed, weft_result result)
{
    if (result != WEFT_OK) weft_bench_fail(bed->bench, "%s", weft_world_error(bed->world)->text);
}

static relation_bed bed_open(weft_bench *bench, uint32_t workers)
{
    relation_bed bed = {.bench = bench};
    check(&bed, weft_world_create(&(weft_world_desc){.workers = workers}, &bed.world));
    bed.position = weft_component_create_plain(bed.world, "position", sizeof(bed_vector), 4, 0);
    bed.velocity = weft_component_create_plain(bed.world, "velocity", sizeof(bed_vector), 4, 0);
    bed.flat = weft_query_create(
        bed.world,
        &(weft_query_desc){.terms = {{bed.position, WEFT_WRITE}, {bed.velocity, WEFT_READ}}});
    return bed;
}

/* Targets, then sources, which have no target yet. */
static void bed_fill(relation_bed *bed, weft_component relation, uint32_t targets, uint32_t sources)
{
    bed->relation = relation;
    bed->target_count = targets;
    bed->count = sources;
    bed->targets = calloc(targets, sizeof *bed->targets);
    bed->sources = calloc(sources, sizeof *bed->sources);
    bed->fields =
        weft_query_create(bed->world, &(weft_query_desc){.terms = {{relation, WEFT_WRITE}}});
    check(bed, weft_entity_create_many(bed->world,
                                       WEFT_ARCHETYPE(bed->world, bed->position, bed->velocity),
                                       targets, bed->targets));
    check(bed, weft_entity_create_many(bed->world,
                                       WEFT_ARCHETYPE(bed->world, bed->position, bed->velocity),
                                       sources, bed->sources));
    bed->parents = weft_bench_zeroed(sources, sizeof *bed->parents);
    bed->firsts = weft_bench_zeroed(targets + 2, sizeof *bed->firsts);
    bed->children = weft_bench_zeroed(sources, sizeof *bed->children);
    bed->alive = weft_bench_zeroed(targets + sources, sizeof *bed->alive);
}

static void bed_close(relation_bed *bed)
{
    check(bed, weft_world_validate(bed->world));
    weft_world_destroy(bed->world);
    free(bed->targets), free(bed->sources);
    free(bed->parents), free(bed->firsts), free(bed->children), free(bed->alive);
}

/* ---- children under one parent ---- */

static void children_prepare(void *data)
{
    relation_bed *bed = data;
    check(bed, weft_query_remove(bed->world, bed->fields, bed->relation));
    check(bed, weft_relation_settle(bed->world));
}

static void children_run(void *data)
{
    relation_bed *bed = data;
    check(bed, weft_relation_set_many(bed->world, bed->sources, bed->count, bed->relation,
                                      bed->targets[0]));
    check(bed, weft_relation_settle(bed->world));
}

static void children_raw(void *data)
{
    relation_bed *bed = data;
    for (uint32_t i = 0; i < bed->count; i++) {
        bed->parents[i] = 0;
        bed->children[i] = i;
    }
    weft_bench_keep(bed->parents);
    weft_bench_keep(bed->children);
}

static void children(weft_bench *bench)
{
    if (!weft_bench_wants(bench, "320k")) return;
    uint32_t workers = weft_bench_workers(bench);
    relation_bed bed = bed_open(bench, workers);
    bed_fill(&bed, weft_component_parent(bed.world), 1, 320000);
    weft_bench_run(bench, &(weft_bench_measure){.name = "320k",
                                                .unit = "ms",
                                                .workers = workers,
                                                .run = children_run,
                                                .raw = children_raw,
                                                .prepare = children_prepare,
                                                .data = &bed});
    bed_close(&bed);
}

/* ---- a forest ---- */

/* Trees of TREE nodes: a root, three below it, and six below these. */
static void forest_relate(relation_bed *bed, uint32_t trees)
{
    for (uint32_t t = 0; t < trees; t++) {
        const weft_entity *nodes = bed->sources + (size_t)t * (TREE - 1);
        for (uint32_t i = 0; i < TREE - 1; i++) {
            weft_entity target = i < 3 ? bed->targets[t] : nodes[(i - 3) / 2];
            check(bed, weft_relation_set(bed->world, nodes[i], bed->relation, target));
        }
    }
    check(bed, weft_relation_settle(bed->world));
}

static void iterate_run(void *data)
{
    const relation_bed *bed = data;
    weft_cursor c = weft_query_begin(bed->world, bed->flat);
    while (weft_query_next(&c)) {
        bed_vector *restrict p = weft_slice_write(&c.slice, 0);
        const bed_vector *restrict v = weft_slice_read(&c.slice, 1);
        for (uint32_t i = 0, n = weft_slice_count(&c.slice); i < n; i++) {
            p[i].x += v[i].x;
            p[i].y += v[i].y;
            p[i].z += v[i].z;
        }
    }
}

/* The same over as many entities without relations. Owner: the benchmark. */
typedef struct iterate_pair {
    relation_bed forest, flat;
    uint64_t *elsewhere; /* [ELSEWHERE] more than the caches hold */
} iterate_pair;

enum { ELSEWHERE = 8 << 20 };

/* The data of either side are in no cache when its pass begins: both together are more than the
 * last cache holds, so that how much of them it has would depend on how many passes a sample has,
 * and on what else the machine does. */
static void caches_fill(void *data)
{
    uint64_t *elsewhere = ((iterate_pair *)data)->elsewhere;
    for (uint32_t i = 0; i < ELSEWHERE; i += 8) elsewhere[i]++;
    weft_bench_keep(elsewhere);
}

static void iterate_forest(void *data)
{
    iterate_run(&((iterate_pair *)data)->forest);
}

static void iterate_flat(void *data)
{
    iterate_run(&((iterate_pair *)data)->flat);
}

/* Every source gets 8 bytes of another component, one by one, as the forest gets its parents. */
static void bytes_add(relation_bed *bed)
{
    weft_component bytes = weft_component_create_plain(bed->world, "bytes", 8, 8, 0);
    for (uint64_t i = 0; i < bed->count; i++)
        check(bed, weft_entity_set(bed->world, bed->sources[i], bytes, &i, sizeof i));
}

static void iterate_case(weft_bench *bench, const char *name, bool is_beside_bytes)
{
    if (!weft_bench_wants(bench, name)) return;
    iterate_pair pair = {.forest = bed_open(bench, 1), .flat = bed_open(bench, 1)};
    uint32_t trees = 100000;
    bed_fill(&pair.flat, pair.flat.position, trees, trees * (TREE - 1));
    bed_fill(&pair.forest, weft_component_parent(pair.forest.world), trees, trees * (TREE - 1));
    if (is_beside_bytes) bytes_add(&pair.flat);
    forest_relate(&pair.forest, trees);
    pair.elsewhere = weft_bench_zeroed(ELSEWHERE, sizeof *pair.elsewhere);
    weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                .unit = "ns/entity",
                                                .items = (double)trees * TREE,
                                                .workers = 1,
                                                .run = iterate_forest,
                                                .raw = iterate_flat,
                                                .prepare = caches_fill,
                                                .data = &pair});
    free(pair.elsewhere);
    bed_close(&pair.forest);
    bed_close(&pair.flat);
}

static void iterate(weft_bench *bench)
{
    iterate_case(bench, "1M-in-100k-trees", false);
    iterate_case(bench, "1M-beside-8-bytes", true);
}

/* ---- the index ---- */

/* Writes the fields of `count` rows, from `first`, `stride` rows apart, with targets of this
 * round. */
static void fields_write(relation_bed *bed, uint32_t count, uint32_t stride)
{
    bed->round++;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i * stride, to = (at + bed->round * 7) / 4 % bed->target_count;
        weft_target *value = weft_entity_write(bed->world, bed->sources[at], bed->relation);
        value->entity = bed->targets[to];
        bed->parents[at] = to;
    }
}

static void index_all(void *data)
{
    relation_bed *bed = data;
    fields_write(bed, bed->count, 1);
}

static void index_first(void *data)
{
    relation_bed *bed = data;
    check(bed, weft_query_remove(bed->world, bed->fields, bed->relation));
    check(bed, weft_relation_settle(bed->world));
    check(bed, weft_entity_change_many(bed->world, bed->sources, bed->count,
                                       &(weft_change_desc){.add = &bed->relation, .add_count = 1}));
    fields_write(bed, bed->count, 1);
}

static void index_percent(void *data)
{
    relation_bed *bed = data;
    fields_write(bed, bed->count / 100, 1);
}

static void index_scattered(void *data)
{
    relation_bed *bed = data;
    fields_write(bed, bed->count / 100, 100);
}

static void index_none(void *data)
{
    (void)data;
}

static void index_run(void *data)
{
    relation_bed *bed = data;
    check(bed, weft_relation_settle(bed->world));
}

/* Counting sort. */
static void index_raw(void *data)
{
    relation_bed *bed = data;
    uint32_t *at = bed->firsts + 1;
    memset(bed->firsts, 0, (bed->target_count + 2) * sizeof *bed->firsts);
    for (uint32_t i = 0; i < bed->count; i++) at[bed->parents[i] + 1]++;
    for (uint32_t i = 0; i < bed->target_count; i++) at[i + 1] += at[i];
    for (uint32_t i = 0; i < bed->count; i++) bed->children[at[bed->parents[i]]++] = i;
    weft_bench_keep(bed->children);
}

static void index_case(relation_bed *bed, const char *name, weft_bench_fn *prepare,
                       uint32_t workers)
{
    if (!weft_bench_wants(bed->bench, name)) return;
    weft_bench_run(bed->bench, &(weft_bench_measure){.name = name,
                                                     .unit = "ms",
                                                     .workers = workers,
                                                     .run = index_run,
                                                     .raw = index_raw,
                                                     .prepare = prepare,
                                                     .data = bed});
}

static void index_of_sources(weft_bench *bench)
{
    uint32_t workers = weft_bench_workers(bench);
    relation_bed bed = bed_open(bench, workers);
    bed_fill(&bed, weft_component_instance_of(bed.world), 250000, 1000000);
    check(&bed,
          weft_relation_set_many(bed.world, bed.sources, bed.count, bed.relation, bed.targets[0]));
    fields_write(&bed, bed.count, 1);
    check(&bed, weft_relation_settle(bed.world));
    index_case(&bed, "1M", index_all, workers);
    index_case(&bed, "1M-first", index_first, workers);
    index_case(&bed, "1M-1percent", index_percent, workers);
    index_case(&bed, "1M-1percent-scattered", index_scattered, workers);
    index_case(&bed, "1M-unchanged", index_none, workers);
    bed_close(&bed);
}

/* ---- destruction ---- */

static void destroy_prepare(void *data)
{
    relation_bed *bed = data;
    weft_archetype archetype = WEFT_ARCHETYPE(bed->world, bed->position, bed->velocity);
    check(bed, weft_query_destroy_entities(bed->world, bed->flat));
    check(bed, weft_relation_settle(bed->world));
    check(bed, weft_entity_create_many(bed->world, archetype, bed->target_count, bed->targets));
    check(bed, weft_entity_create_many(bed->world, archetype, bed->count, bed->sources));
    forest_relate(bed, bed->target_count);
    memset(bed->alive, 1, bed->target_count + bed->count);
}

static void destroy_run(void *data)
{
    relation_bed *bed = data;
    check(bed, weft_entity_destroy_many(bed->world, bed->targets, bed->target_count));
    check(bed, weft_relation_settle(bed->world));
}

/* Roots die, then entities whose parent is dead, in order of depth. */
static void destroy_raw(void *data)
{
    relation_bed *bed = data;
    uint32_t trees = bed->target_count;
    memset(bed->alive, 0, trees);
    for (uint32_t i = 0; i < bed->count; i++) {
        uint32_t tree = i / (TREE - 1), node = i % (TREE - 1);
        uint32_t up = node < 3 ? tree : trees + tree * (TREE - 1) + (node - 3) / 2;
        bed->alive[trees + i] = bed->alive[trees + i] && bed->alive[up];
    }
    weft_bench_keep(bed->alive);
}

static void destroy(weft_bench *bench)
{
    if (!weft_bench_wants(bench, "1M")) return;
    uint32_t workers = weft_bench_workers(bench), trees = 100000;
    relation_bed bed = bed_open(bench, workers);
    bed_fill(&bed, weft_component_parent(bed.world), trees, trees * (TREE - 1));
    check(&bed, weft_query_destroy_entities(bed.world, bed.flat));
    weft_bench_run(bench, &(weft_bench_measure){.name = "1M",
                                                .unit = "ns/entity",
                                                .items = (double)trees * TREE,
                                                .workers = workers,
                                                .run = destroy_run,
                                                .raw = destroy_raw,
                                                .prepare = destroy_prepare,
                                                .data = &bed});
    bed_close(&bed);
}

const weft_bench_entry weft_bench_relation[] = {
    {"relation.children", "set the same parent for all, and settle", children, false},
    {"relation.iterate",
     "position += velocity over a forest; raw: over flat entities, bare or with 8 bytes more",
     iterate, false},
    {"relation.index", "settle after fields changed; raw: counting sort of all", index_of_sources,
     false},
    {"relation.destroy", "destroy the roots of a forest, and settle", destroy, true},
    {0}};
