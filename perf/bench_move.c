/* SPDX-License-Identifier: MIT */
/* bench_move.c: a 4-byte component is added and removed, which moves entities of two 12-byte
 * components between archetypes; one thread. "raw" is the move in plain C: two tables of rows, and
 * an array that leads from the entity to its row. It asks nothing: no versions, no liveness.
 */
#include "storage_bed.h"

enum { MILLION = 1000000, MANY = 100000 };

/* Rows of one table, column by column. */
typedef struct raw_rows {
    weft_entity *entities;
    bed_vector *positions, *velocities;
    float *extra;
    uint32_t count;
} raw_rows;

/* Owner: one case. `bed` comes first: the functions that prepare a bed take this, too. */
typedef struct move_bed {
    storage_bed bed;
    bool is_shuffled;
    uint32_t *places; /* raw: row by entity index, in the table that has it */
    raw_rows without, with;
} move_bed;

static raw_rows rows_open(uint32_t count)
{
    return (raw_rows){.entities = weft_bench_zeroed(count, sizeof(weft_entity)),
                      .positions = weft_bench_zeroed(count, sizeof(bed_vector)),
                      .velocities = weft_bench_zeroed(count, sizeof(bed_vector)),
                      .extra = weft_bench_zeroed(count, sizeof(float))};
}

static void rows_close(raw_rows *rows)
{
    free(rows->entities), free(rows->positions), free(rows->velocities), free(rows->extra);
}

/* ---- prepare ---- */

static void raw_fill(move_bed *move, raw_rows *full, raw_rows *empty)
{
    for (uint32_t i = 0; i < move->bed.count; i++) {
        full->entities[i] = (weft_entity){i, 1};
        move->places[i] = i;
    }
    full->count = move->bed.count;
    empty->count = 0;
}

/* All entities without the component. */
static void fill(void *data)
{
    move_bed *move = data;
    bed_fill(&move->bed);
    if (move->is_shuffled) bed_shuffle(&move->bed);
    raw_fill(move, &move->without, &move->with);
}

static void add_array(void *data)
{
    storage_bed *bed = data;
    weft_entity_change_many(bed->world, bed->entities, bed->count,
                            &(weft_change_desc){.add = &bed->extra, .add_count = 1});
}

/* All with it. */
static void fill_extra(void *data)
{
    move_bed *move = data;
    fill(move);
    add_array(&move->bed);
    raw_fill(move, &move->with, &move->without);
}

/* ---- the work ---- */

static const weft_entity *order_of(const move_bed *move)
{
    return move->is_shuffled ? move->bed.shuffled : move->bed.entities;
}

static void add_each(void *data)
{
    storage_bed *bed = data;
    const weft_entity *order = order_of(data);
    for (uint32_t i = 0; i < bed->count; i++) weft_entity_add(bed->world, order[i], bed->extra);
}

static void set_each(void *data)
{
    storage_bed *bed = data;
    const weft_entity *order = order_of(data);
    for (uint32_t i = 0; i < bed->count; i++) {
        float value = (float)i;
        weft_entity_set(bed->world, order[i], bed->extra, &value, sizeof value);
    }
}

/* As one array, for which slots are fetched ahead; any floats do as values. */
static void set_array(void *data)
{
    storage_bed *bed = data;
    weft_entity_set_many(bed->world, order_of(data), bed->count, bed->extra, bed->positions,
                         sizeof(float));
}

static void remove_each(void *data)
{
    storage_bed *bed = data;
    const weft_entity *order = order_of(data);
    for (uint32_t i = 0; i < bed->count; i++) weft_entity_remove(bed->world, order[i], bed->extra);
}

static void remove_array(void *data)
{
    storage_bed *bed = data;
    weft_entity_change_many(bed->world, bed->entities, bed->count,
                            &(weft_change_desc){.remove = &bed->extra, .remove_count = 1});
}

/* The row goes behind the last one of `to`; the last one of `from` fills the gap. */
static inline uint32_t raw_move(uint32_t *places, raw_rows *from, raw_rows *to, uint32_t index)
{
    uint32_t row = places[index], last = --from->count, next = to->count++;
    to->entities[next] = from->entities[row];
    to->positions[next] = from->positions[row];
    to->velocities[next] = from->velocities[row];
    places[from->entities[last].index] = row;
    from->entities[row] = from->entities[last];
    from->positions[row] = from->positions[last];
    from->velocities[row] = from->velocities[last];
    places[index] = next;
    return row;
}

/* In the order of the world's calls; its shuffled indexes are below count. */
static void raw_set_each(void *data)
{
    move_bed *move = data;
    const weft_entity *order = move->is_shuffled ? move->bed.shuffled : move->bed.ids;
    for (uint32_t i = 0; i < move->bed.count; i++) {
        raw_move(move->places, &move->without, &move->with, order[i].index);
        move->with.extra[move->with.count - 1] = (float)i;
        weft_bench_keep(move->places);
    }
}

static void raw_remove_each(void *data)
{
    move_bed *move = data;
    const weft_entity *order = move->is_shuffled ? move->bed.shuffled : move->bed.ids;
    for (uint32_t i = 0; i < move->bed.count; i++) {
        uint32_t row = raw_move(move->places, &move->with, &move->without, order[i].index);
        move->with.extra[row] = move->with.extra[move->with.count];
        weft_bench_keep(move->places);
    }
}

static void tag_add(void *data)
{
    storage_bed *bed = data;
    weft_query_add(bed->world, bed->query, bed->tag);
}

static void tag_remove(void *data)
{
    storage_bed *bed = data;
    weft_query_remove(bed->world, bed->query, bed->tag);
}

typedef struct move_case {
    const char *name;
    uint32_t count;
    bool is_shuffled;
    weft_bench_fn *run, *raw, *prepare;
} move_case;

static void bench_case(weft_bench *bench, const move_case *c)
{
    if (!weft_bench_wants(bench, c->name)) return;
    move_bed move = {.bed = bed_open(bench, c->count),
                     .is_shuffled = c->is_shuffled,
                     .places = weft_bench_zeroed(c->count, sizeof(uint32_t)),
                     .without = rows_open(c->count),
                     .with = rows_open(c->count)};
    weft_bench_run(bench, &(weft_bench_measure){.name = c->name,
                                                .unit = "ns/entity",
                                                .items = c->count,
                                                .workers = 1,
                                                .run = c->run,
                                                .raw = c->raw,
                                                .prepare = c->prepare,
                                                .data = &move});
    bed_close(&move.bed);
    rows_close(&move.without), rows_close(&move.with);
    free(move.places);
}

static void bench_cases(weft_bench *bench, const move_case *cases)
{
    for (; cases->name != NULL; cases++) bench_case(bench, cases);
}

static void bench_move_add(weft_bench *bench)
{
    static const move_case cases[] = {
        {"single", MILLION, false, add_each, NULL, fill},
        {"array", MILLION, false, add_array, NULL, fill},
        {"tag_query", MILLION, false, tag_add, NULL, fill},
        {"value", MILLION, false, set_each, raw_set_each, fill},
        {"value-100k", MANY, false, set_each, raw_set_each, fill},
        {"shuffled", MILLION, true, set_each, raw_set_each, fill},
        {"shuffled-100k", MANY, true, set_each, raw_set_each, fill},
        {"array-shuffled", MILLION, true, set_array, raw_set_each, fill},
        {0}};
    bench_cases(bench, cases);
}

static void bench_move_remove(weft_bench *bench)
{
    static const move_case cases[] = {
        {"single", MILLION, false, remove_each, NULL, fill_extra},
        {"array", MILLION, false, remove_array, NULL, fill_extra},
        {"tag_query", MILLION, false, tag_remove, NULL, fill},
        {"single-100k", MANY, false, remove_each, raw_remove_each, fill_extra},
        {"shuffled", MILLION, true, remove_each, raw_remove_each, fill_extra},
        {"shuffled-100k", MANY, true, remove_each, raw_remove_each, fill_extra},
        {0}};
    bench_cases(bench, cases);
}

const weft_bench_entry weft_bench_move[] = {
    {"move.add", "add a 4-byte component: one by one, as array, with its value; a tag by query",
     bench_move_add, false},
    {"move.remove", "remove it again", bench_move_remove, false},
    {0}};
