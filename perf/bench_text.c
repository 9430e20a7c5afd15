/* SPDX-License-Identifier: MIT */
/* bench_text.c: described values as text: reading (with positions) and writing, beside jansson,
 * which parses into a tree of its own; registering types. No raw: plain C has no such work.
 */
#include "bench.h"

#ifdef WEFT_PEER_JANSSON
#include <jansson.h>
#endif

#include <weft/ecs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CRAFTS = 2000, TYPES = 1000, TEXT_BYTES = 1 << 20 };

typedef struct craft {
    double rate, height, phase;
    float drag[3];
    int32_t count;
    uint32_t norad;
    char name[24];
    bool is_open;
} craft;

static const weft_field craft_fields[] = {WEFT_FIELD(craft, rate),  WEFT_FIELD(craft, height),
                                          WEFT_FIELD(craft, phase), WEFT_FIELD(craft, drag),
                                          WEFT_FIELD(craft, count), WEFT_FIELD(craft, norad),
                                          WEFT_FIELD(craft, name),  WEFT_FIELD(craft, is_open)};
static const weft_type craft_type = WEFT_TYPE(craft, craft_fields);

typedef struct fleet {
    craft crafts[CRAFTS];
} fleet;

static const weft_field fleet_fields[] = {
    WEFT_FIELD_OF(fleet, crafts, WEFT_FIELD_STRUCT, &craft_type)};
static const weft_type fleet_type = WEFT_TYPE(fleet, fleet_fields);

/* What both readers get, and where they put it. */
typedef struct value_bed {
    fleet from, to;
    char text[TEXT_BYTES];
    size_t bytes;
    char written[TEXT_BYTES];
    bool is_failed;
} value_bed;

static void read_weft(void *data)
{
    value_bed *bed = data;
    weft_text text = {bed->text, bed->bytes, NULL};
    if (weft_value_parse(NULL, &text, &fleet_type, &bed->to, NULL) != WEFT_OK)
        bed->is_failed = true;
}

static void write_weft(void *data)
{
    value_bed *bed = data;
    weft_value_format(NULL, &fleet_type, &bed->from, bed->written, TEXT_BYTES);
}

#ifdef WEFT_PEER_JANSSON
/* The tree into the same structs. */
static void read_jansson(void *data)
{
    value_bed *bed = data;
    json_error_t error;
    json_t *root = json_loadb(bed->text, bed->bytes, 0, &error);
    const json_t *crafts = json_object_get(root, "crafts");
    for (size_t i = 0; i < json_array_size(crafts); i++) {
        const json_t *from = json_array_get(crafts, i);
        craft *to = &bed->to.crafts[i];
        to->rate = json_number_value(json_object_get(from, "rate"));
        to->height = json_number_value(json_object_get(from, "height"));
        to->phase = json_number_value(json_object_get(from, "phase"));
        for (size_t k = 0; k < 3; k++)
            to->drag[k] =
                (float)json_number_value(json_array_get(json_object_get(from, "drag"), k));
        to->count = (int32_t)json_integer_value(json_object_get(from, "count"));
        to->norad = (uint32_t)json_integer_value(json_object_get(from, "norad"));
        snprintf(to->name, sizeof to->name, "%s", json_string_value(json_object_get(from, "name")));
        to->is_open = json_is_true(json_object_get(from, "is_open"));
    }
    json_decref(root);
}
#endif

static bool fill(value_bed *bed)
{
    for (uint32_t i = 0; i < CRAFTS; i++) {
        craft *c = &bed->from.crafts[i];
        *c = (craft){.rate = 0.05 + i * 1e-5,
                     .height = 400.125 + i,
                     .phase = i * 0.123456789,
                     .drag = {0.5f, (float)i * 0.25f, 1e-4f},
                     .count = (int32_t)i - 1000,
                     .norad = 20000 + i,
                     .is_open = i % 3 == 0};
        snprintf(c->name, sizeof c->name, "STARLINK-%u", i);
    }
    weft_value_io io = {.indent = 2};
    bed->bytes = weft_value_format(&io, &fleet_type, &bed->from, bed->text, TEXT_BYTES);
    read_weft(bed);
    return bed->bytes < TEXT_BYTES && !bed->is_failed &&
           weft_value_diff(&fleet_type, &bed->from, &bed->to, NULL, 0) == 0;
}

static void value_cases(weft_bench *bench, weft_bench_fn *run, bool has_peer)
{
    value_bed *bed = calloc(1, sizeof *bed);
    if (bed == NULL) return;
    weft_bench_measure measure = {
        .name = "crafts", .unit = "ns/byte", .workers = 1, .run = run, .data = bed};
#ifdef WEFT_PEER_JANSSON
    if (has_peer) measure.peers[0] = (weft_bench_peer){.name = "jansson", .run = read_jansson};
#else
    (void)has_peer;
#endif
    if (fill(bed)) {
        measure.items = (double)bed->bytes;
        weft_bench_run(bench, &measure);
    } else {
        weft_bench_fail(bench, "value.read: what was written was not read");
    }
    free(bed);
}

static void bench_read(weft_bench *bench)
{
    value_cases(bench, read_weft, true);
}

static void bench_write(weft_bench *bench)
{
    value_cases(bench, write_weft, false);
}

/* ---- registration ---- */

/* Worlds are made outside of the time. */
typedef struct type_bed {
    weft_world *world;
    char names[TYPES][16];
} type_bed;

static void make_world(void *data)
{
    type_bed *bed = data;
    weft_world_destroy(bed->world);
    bed->world = NULL;
    weft_world_create(&(weft_world_desc){.workers = 1}, &bed->world);
}

static void register_types(void *data)
{
    type_bed *bed = data;
    for (uint32_t i = 0; i < TYPES; i++)
        weft_component_create(bed->world,
                              &(weft_component_desc){.name = bed->names[i], .type = &craft_type});
}

static void bench_register(weft_bench *bench)
{
    type_bed *bed = calloc(1, sizeof *bed);
    if (bed == NULL) return;
    for (uint32_t i = 0; i < TYPES; i++) snprintf(bed->names[i], sizeof bed->names[i], "type%u", i);
    weft_bench_run(bench, &(weft_bench_measure){.name = "1000",
                                                .unit = "ms",
                                                .workers = 1,
                                                .run = register_types,
                                                .prepare = make_world,
                                                .data = bed});
    weft_world_destroy(bed->world);
    free(bed);
}

/* ---- worlds ---- */

enum { ENTITIES = 1000000 };

typedef struct point {
    float x, y, z;
} point;
static const weft_field point_fields[] = {WEFT_FIELD(point, x), WEFT_FIELD(point, y),
                                          WEFT_FIELD(point, z)};
static const weft_type point_type = WEFT_TYPE(point, point_fields);

/* A world, its text, and a world to read it into. */
typedef struct world_bed {
    weft_world *from, *to;
    weft_component position;
    char *text;
    size_t count, capacity;
    bool is_failed;
} world_bed;

static weft_result keep_text(void *user, const void *bytes, size_t count)
{
    world_bed *bed = user;
    if (bed->capacity - bed->count < count) return WEFT_LIMIT;
    memcpy(bed->text + bed->count, bytes, count);
    bed->count += count;
    return WEFT_OK;
}

static void write_world(void *data)
{
    world_bed *bed = data;
    bed->count = 0;
    if (weft_world_save_json(bed->from, &(weft_writer){keep_text, bed}, NULL) != WEFT_OK)
        bed->is_failed = true;
}

static weft_world *point_world(weft_component *position)
{
    weft_world *world = NULL;
    weft_world_create(&(weft_world_desc){.workers = 1}, &world);
    if (world != NULL)
        *position = weft_component_create(world, &(weft_component_desc){.type = &point_type});
    return world;
}

static void make_reader(void *data)
{
    world_bed *bed = data;
    weft_component position;
    weft_world_destroy(bed->to);
    bed->to = point_world(&position);
}

static void read_world(void *data)
{
    world_bed *bed = data;
    weft_text text = {bed->text, bed->count, NULL};
    if (weft_world_load_json(bed->to, &text, NULL, NULL) != WEFT_OK) bed->is_failed = true;
}

static bool fill_world(world_bed *bed)
{
    bed->capacity = (size_t)ENTITIES * 128;
    bed->text = malloc(bed->capacity);
    bed->from = point_world(&bed->position);
    if (bed->text == NULL || bed->from == NULL) return false;
    weft_archetype points = WEFT_ARCHETYPE(bed->from, bed->position);
    for (uint32_t i = 0; i < ENTITIES; i++) {
        weft_entity e = weft_entity_create(bed->from, points);
        point at = {(float)i * 0.25f, (float)(i % 1000), -1.5f};
        weft_entity_set(bed->from, e, bed->position, &at, sizeof at);
    }
    write_world(bed);
    return !bed->is_failed;
}

static void bench_world(weft_bench *bench)
{
    world_bed *bed = calloc(1, sizeof *bed);
    if (bed == NULL) return;
    weft_bench_measure measure = {
        .unit = "ns/entity", .workers = 1, .items = ENTITIES, .data = bed};
    bool is_filled = fill_world(bed);
    measure.name = "write-1M";
    measure.run = write_world;
    if (is_filled) weft_bench_run(bench, &measure);
    measure.name = "read-1M";
    measure.run = read_world;
    measure.prepare = make_reader;
    if (is_filled) weft_bench_run(bench, &measure);
    if (!is_filled || bed->is_failed)
        weft_bench_fail(bench, "world.text: no text, or it is refused");
    weft_world_destroy(bed->to);
    weft_world_destroy(bed->from);
    free(bed->text);
    free(bed);
}

const weft_bench_entry weft_bench_text[] = {
    {"value.read", "text of 2,000 structs into described values, with positions in errors",
     bench_read, false},
    {"value.write", "the same values as text", bench_write, false},
    {"type.register", "1,000 component types of eight described fields", bench_register, false},
    {"world.text", "a world of a million entities with a described value as text, and back",
     bench_world, false},
    {0}};
