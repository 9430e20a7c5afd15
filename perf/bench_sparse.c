/* SPDX-License-Identifier: MIT */
/* bench_sparse.c: a SPARSE component of 4 bytes beside a sparse set in plain C, laid out as EnTT
 * does (pages of 32-bit places by entity index, entities and values side by side, the last one
 * fills a hole), inlined into the loop; one thread. Peer "calls": the same set as a library has
 * it: a call for each entity that finds the set by the id of its component and refuses entities
 * that are not alive. Every second entity of the world has another archetype. */
#include "bench.h"

#include <weft/ecs.h>

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, RAW_SETS = 4 };

/* A sparse set in plain C: places in pages by index, 0: none. Owner: one benchmark. */
typedef struct raw_set {
    uint32_t **pages;
    uint32_t page_count;
    weft_entity *entities;
    float *values;
    uint32_t count;
} raw_set;

/* Owner: one benchmark. */
typedef struct sparse_bed {
    weft_bench *bench;
    weft_world *world;
    weft_component position, tag, heat; /* heat: SPARSE */
    weft_query alone, join;
    weft_entity *entities, *order; /* [count] as made; as they are visited */
    uint32_t count;
    uint32_t members; /* entities that have it when the bed is filled */
    raw_set raw;
    raw_set *sets[RAW_SETS]; /* calls: by id; the last one is `raw` */
    uint32_t *versions;      /* calls: of those alive, by index */
    float *positions;        /* raw: [index] */
    double sum;
} sparse_bed;

static void check(const sparse_bed *bed, weft_result result)
{
    if (result != WEFT_OK) weft_bench_fail(bed->bench, "%s", weft_world_error(bed->world)->text);
}

static void shuffle(sparse_bed *bed)
{
    uint64_t state = 88172645463325252u;
    for (uint32_t i = bed->count; i-- > 1;) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        uint32_t k = (uint32_t)(state % (i + 1));
        weft_entity swapped = bed->order[i];
        bed->order[i] = bed->order[k];
        bed->order[k] = swapped;
    }
}

static inline uint32_t *raw_place(const raw_set *set, weft_entity entity)
{
    return &set->pages[entity.index / PAGE][entity.index % PAGE];
}

static void raw_open(sparse_bed *bed)
{
    raw_set *raw = &bed->raw;
    raw->page_count = bed->count / PAGE + 1;
    raw->pages = calloc(raw->page_count, sizeof *raw->pages);
    for (uint32_t i = 0; i < raw->page_count; i++)
        raw->pages[i] = calloc(PAGE, sizeof *raw->pages[i]);
    raw->entities = weft_bench_zeroed(bed->count + 1, sizeof *raw->entities);
    raw->values = weft_bench_zeroed(bed->count + 1, sizeof *raw->values);
    bed->versions = weft_bench_zeroed(bed->count, sizeof *bed->versions);
    for (uint32_t i = 0; i < bed->count; i++)
        bed->versions[bed->entities[i].index] = bed->entities[i].version;
}

static sparse_bed bed_open(weft_bench *bench, uint32_t count, bool is_shuffled)
{
    sparse_bed bed = {.bench = bench, .count = count, .members = count};
    check(&bed, weft_world_create(&(weft_world_desc){.workers = 1}, &bed.world));
    bed.position = weft_component_create_plain(bed.world, "position", 4, 4, 0);
    bed.tag = weft_component_create_plain(bed.world, "tag", 0, 1, 0);
    bed.heat = weft_component_create_plain(bed.world, "heat", 4, 4, WEFT_SPARSE);
    bed.alone = weft_query_create(bed.world, &(weft_query_desc){.terms = {{bed.heat, WEFT_WRITE}}});
    bed.join = weft_query_create(
        bed.world, &(weft_query_desc){.terms = {{bed.position, WEFT_WRITE}, {bed.heat}}});
    bed.entities = calloc(count, sizeof *bed.entities);
    bed.order = calloc(count, sizeof *bed.order);
    for (uint32_t i = 0; i < count; i++)
        bed.entities[i] = bed.order[i] = weft_entity_create(
            bed.world, i % 2 == 0 ? WEFT_ARCHETYPE(bed.world, bed.position)
                                  : WEFT_ARCHETYPE(bed.world, bed.position, bed.tag));
    if (is_shuffled) shuffle(&bed);
    raw_open(&bed);
    bed.positions = weft_bench_zeroed(count, sizeof *bed.positions);
    return bed;
}

static void bed_close(sparse_bed *bed)
{
    check(bed, weft_world_validate(bed->world));
    weft_world_destroy(bed->world);
    free(bed->entities), free(bed->order), free(bed->positions);
    for (uint32_t i = 0; i < bed->raw.page_count; i++) free(bed->raw.pages[i]);
    free(bed->raw.pages), free(bed->raw.entities), free(bed->raw.values), free(bed->versions);
}

/* ---- prepare ---- */

static void bed_empty(void *data)
{
    sparse_bed *bed = data;
    check(bed, weft_query_remove(bed->world, bed->alone, bed->heat));
    for (uint32_t i = 0; i < bed->raw.page_count; i++)
        memset(bed->raw.pages[i], 0, PAGE * sizeof *bed->raw.pages[i]);
    bed->raw.count = 0;
    bed->sets[RAW_SETS - 1] = &bed->raw; /* the bed lies where it stays */
}

static void raw_add(raw_set *set, weft_entity entity, float value)
{
    uint32_t at = ++set->count;
    *raw_place(set, entity) = at;
    set->entities[at] = entity;
    set->values[at] = value;
}

static void bed_fill(void *data)
{
    sparse_bed *bed = data;
    bed_empty(bed);
    uint32_t step = bed->count / bed->members;
    for (uint32_t i = 0; i < bed->members; i++) {
        float value = (float)i;
        check(bed, weft_entity_set(bed->world, bed->entities[i * step], bed->heat, &value, 4));
        raw_add(&bed->raw, bed->entities[i * step], value);
    }
}

/* ---- the work ---- */

static void add_all(void *data)
{
    sparse_bed *bed = data;
    for (uint32_t i = 0; i < bed->count; i++) weft_entity_add(bed->world, bed->order[i], bed->heat);
}

static void set_all(void *data)
{
    sparse_bed *bed = data;
    for (uint32_t i = 0; i < bed->count; i++) {
        float value = (float)i;
        weft_entity_set(bed->world, bed->order[i], bed->heat, &value, sizeof value);
    }
}

static void raw_add_all(void *data)
{
    sparse_bed *bed = data;
    bed->raw.count = 0;
    for (uint32_t i = 0; i < bed->count; i++) {
        if (*raw_place(&bed->raw, bed->order[i]) != 0) continue;
        raw_add(&bed->raw, bed->order[i], (float)i);
    }
    weft_bench_keep(bed->raw.values);
}

static void remove_all(void *data)
{
    sparse_bed *bed = data;
    for (uint32_t i = 0; i < bed->count; i++)
        weft_entity_remove(bed->world, bed->order[i], bed->heat);
}

static inline bool raw_remove(raw_set *set, weft_entity entity)
{
    uint32_t *place = raw_place(set, entity), at = *place;
    if (at == 0 || set->entities[at].version != entity.version) return false;
    uint32_t last = set->count--;
    set->entities[at] = set->entities[last];
    set->values[at] = set->values[last];
    *raw_place(set, set->entities[at]) = at;
    *place = 0;
    return true;
}

static void raw_remove_all(void *data)
{
    sparse_bed *bed = data;
    raw_set *set = &bed->raw;
    for (uint32_t i = 0; i < bed->count; i++) {
        raw_remove(set, bed->order[i]);
    }
    weft_bench_keep(set->values);
}

/* ---- the set behind calls ---- */

static raw_set *set_of(const sparse_bed *bed, weft_entity entity, uint32_t id)
{
    if (id >= RAW_SETS || bed->sets[id] == NULL || entity.index >= bed->count) return NULL;
    return bed->versions[entity.index] == entity.version ? bed->sets[id] : NULL;
}

static __attribute__((noinline)) bool call_add(sparse_bed *bed, weft_entity entity, uint32_t id,
                                               const float *value)
{
    raw_set *set = set_of(bed, entity, id);
    if (set == NULL || *raw_place(set, entity) != 0) return false;
    raw_add(set, entity, *value);
    return true;
}

static __attribute__((noinline)) bool call_remove(sparse_bed *bed, weft_entity entity, uint32_t id)
{
    raw_set *set = set_of(bed, entity, id);
    return set != NULL && raw_remove(set, entity);
}

static void call_add_all(void *data)
{
    sparse_bed *bed = data;
    for (uint32_t i = 0; i < bed->count; i++) {
        float value = (float)i;
        call_add(bed, bed->order[i], RAW_SETS - 1, &value);
    }
}

static void call_remove_all(void *data)
{
    sparse_bed *bed = data;
    for (uint32_t i = 0; i < bed->count; i++) call_remove(bed, bed->order[i], RAW_SETS - 1);
}

static void add_array(void *data)
{
    sparse_bed *bed = data;
    check(bed, weft_entity_change_many(bed->world, bed->order, bed->count,
                                       &(weft_change_desc){.add = &bed->heat, .add_count = 1}));
}

static void remove_array(void *data)
{
    sparse_bed *bed = data;
    check(bed,
          weft_entity_change_many(bed->world, bed->order, bed->count,
                                  &(weft_change_desc){.remove = &bed->heat, .remove_count = 1}));
}

static void get_all(void *data)
{
    sparse_bed *bed = data;
    double sum = 0;
    for (uint32_t i = 0; i < bed->count; i++) {
        const float *value = weft_entity_read(bed->world, bed->order[i], bed->heat);
        if (value != NULL) sum += (double)*value;
    }
    bed->sum += sum;
}

static void raw_get_all(void *data)
{
    sparse_bed *bed = data;
    const raw_set *set = &bed->raw;
    double sum = 0;
    for (uint32_t i = 0; i < bed->count; i++) {
        uint32_t at = *raw_place(set, bed->order[i]);
        if (at != 0 && set->entities[at].version == bed->order[i].version)
            sum += (double)set->values[at];
    }
    bed->sum += sum;
}

static void iterate(void *data)
{
    sparse_bed *bed = data;
    weft_cursor c = weft_query_begin(bed->world, bed->alone);
    while (weft_query_next(&c)) {
        float *heat = weft_slice_write(&c.slice, 0);
        for (uint32_t i = 0; i < c.slice.count; i++) heat[i] *= 0.5f;
    }
}

static void raw_iterate(void *data)
{
    raw_set *set = &((sparse_bed *)data)->raw;
    for (uint32_t i = 1; i <= set->count; i++) set->values[i] *= 0.5f;
    weft_bench_keep(set->values);
}

static void join(void *data)
{
    sparse_bed *bed = data;
    weft_cursor c = weft_query_begin(bed->world, bed->join);
    while (weft_query_next(&c)) {
        float *position = weft_slice_write(&c.slice, 0);
        weft_slice_walk walk = {0};
        while (weft_slice_next_row(&c.slice, &walk)) {
            const float *heat = weft_slice_read_row(&c.slice, 1, (uint32_t)walk.row);
            position[walk.row] += *heat;
        }
    }
}

static void raw_join(void *data)
{
    sparse_bed *bed = data;
    for (uint32_t i = 1; i <= bed->raw.count; i++)
        bed->positions[bed->raw.entities[i].index] += bed->raw.values[i];
    weft_bench_keep(bed->positions);
}

/* ---- cases ---- */

/* What one case is. */
typedef struct sparse_case {
    const char *name;
    uint32_t count;
    uint32_t members; /* 0: all */
    bool is_shuffled;
    weft_bench_fn *run, *raw, *prepare, *fill; /* fill: once, before all */
    weft_bench_fn *calls;                      /* or NULL */
} sparse_case;

static void run_cases(weft_bench *bench, const sparse_case *cases, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const sparse_case *c = &cases[i];
        if (!weft_bench_wants(bench, c->name)) continue;
        sparse_bed bed = bed_open(bench, c->count, c->is_shuffled);
        if (c->members != 0) bed.members = c->members;
        if (c->fill != NULL) c->fill(&bed);
        weft_bench_run(bench, &(weft_bench_measure){
                                  .name = c->name,
                                  .unit = "ns/entity",
                                  .items = bed.members,
                                  .workers = 1,
                                  .run = c->run,
                                  .raw = c->raw,
                                  .prepare = c->prepare,
                                  .data = &bed,
                                  .peers = {{c->calls != NULL ? "calls" : NULL, c->calls, NULL}}});
        bed_close(&bed);
    }
}

enum { FEW = 100000, MANY = 1000000 };

/* As the four cases in order and shuffled. */
static void run_four(weft_bench *bench, weft_bench_fn *run, weft_bench_fn *raw,
                     weft_bench_fn *calls, weft_bench_fn *prepare, weft_bench_fn *fill)
{
    const sparse_case cases[] = {{"100k", FEW, 0, false, run, raw, prepare, fill, calls},
                                 {"100k-shuffled", FEW, 0, true, run, raw, prepare, fill, calls},
                                 {"1M", MANY, 0, false, run, raw, prepare, fill, calls},
                                 {"1M-shuffled", MANY, 0, true, run, raw, prepare, fill, calls}};
    run_cases(bench, cases, 4);
}

static void bench_add(weft_bench *bench)
{
    const sparse_case array = {"array-1M",  MANY,      0,    true, add_array,
                               raw_add_all, bed_empty, NULL, NULL};
    run_four(bench, add_all, raw_add_all, call_add_all, bed_empty, NULL);
    run_cases(bench, &array, 1);
}

static void bench_set(weft_bench *bench)
{
    run_four(bench, set_all, raw_add_all, call_add_all, bed_empty, NULL);
}

static void bench_remove(weft_bench *bench)
{
    const sparse_case array = {"array-1M",     MANY,     0,    true, remove_array,
                               raw_remove_all, bed_fill, NULL, NULL};
    run_four(bench, remove_all, raw_remove_all, call_remove_all, bed_fill, NULL);
    run_cases(bench, &array, 1);
}

static void bench_get(weft_bench *bench)
{
    run_four(bench, get_all, raw_get_all, NULL, NULL, bed_fill);
}

static void bench_iterate(weft_bench *bench)
{
    const sparse_case cases[] = {
        {"100k", FEW, 0, false, iterate, raw_iterate, NULL, bed_fill, NULL},
        {"1M", MANY, 0, false, iterate, raw_iterate, NULL, bed_fill, NULL}};
    run_cases(bench, cases, 2);
}

static void bench_join(weft_bench *bench)
{
    const sparse_case cases[] = {
        {"all", MANY, 0, false, join, raw_join, NULL, bed_fill, NULL},
        {"tenth", MANY, MANY / 10, false, join, raw_join, NULL, bed_fill, NULL},
        {"1000", MANY, 1000, false, join, raw_join, NULL, bed_fill, NULL}};
    run_cases(bench, cases, 3);
}

const weft_bench_entry weft_bench_sparse[] = {
    {"sparse.add", "add a SPARSE component one by one; raw: a sparse set", bench_add, false},
    {"sparse.set", "add it with its value", bench_set, false},
    {"sparse.remove", "remove it again", bench_remove, false},
    {"sparse.get", "read it by entity", bench_get, false},
    {"sparse.iterate", "all its values; raw: an array", bench_iterate, false},
    {"sparse.join", "with a component of 1 M entities; per entity that has both", bench_join,
     false},
    {0},
};
