/* SPDX-License-Identifier: MIT */
/* traffic.c: traffic on weft. The lane of a car is a shared value, so cars of a lane lie
 * together; to change lanes a car records a command. Two maps of cells are resources: what a
 * system declares of them says in which order they are read and written; each slice writes cells
 * of its own cars. */
#include "traffic.h"

#include <stdlib.h>
#include <weft/type.h>
#include <weft/weft.h>

static const weft_field car_fields[] = {WEFT_FIELD(Car, cell), WEFT_FIELD(Car, speed)};
static const weft_type car_type = WEFT_TYPE(Car, car_fields);
static const weft_field lane_fields[] = {WEFT_FIELD(Lane, number)};
static const weft_type lane_type = WEFT_TYPE(Lane, lane_fields);

typedef struct Traffic {
    weft_world *world;
    weft_component car, lane;
    weft_component before, now; /* resources: maps at the begin of a step, after changes of lane */
    weft_query cars;
    road_map maps[2];
} Traffic;

static void change(weft_slice *slice, void *user)
{
    const Traffic *t = user;
    const road_map *before = weft_slice_read_resource(slice, t->before);
    const Car *cars = WEFT_READ_COLUMN(slice, 0, Car);
    const Lane *lane = weft_slice_read_shared(slice, 1);
    const weft_entity *e = weft_slice_entities(slice);
    weft_recorder *r = weft_slice_recorder(slice);
    uint32_t tick = (uint32_t)weft_slice_frame(slice).number;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        uint32_t number = weft_entity_index(e[i]);
        Lane to = {traffic_choose(before, &cars[i], lane->number, number, tick)};
        if (to.number != lane->number) weft_recorder_set_shared(r, e[i], t->lane, &to);
    }
}

static void clear(weft_slice *slice, void *user)
{
    Traffic *t = user;
    road_map *before = weft_slice_write_resource(slice, t->before);
    road_map *now = weft_slice_write_resource(slice, t->now);
    memset(before->busy, 0, (size_t)before->cells * LANES);
    memset(now->busy, 0, (size_t)now->cells * LANES);
}

static void mark(weft_slice *slice, void *user)
{
    const Traffic *t = user;
    const road_map *now = weft_slice_read_resource(slice, t->now);
    const Car *cars = WEFT_READ_COLUMN(slice, 0, Car);
    const Lane *lane = weft_slice_read_shared(slice, 1);
    uint8_t *busy = traffic_lane(now, lane->number);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) busy[cars[i].cell] = 1;
}

static void drive(weft_slice *slice, void *user)
{
    const Traffic *t = user;
    const road_map *now = weft_slice_read_resource(slice, t->now);
    const road_map *next = weft_slice_read_resource(slice, t->before);
    Car *cars = WEFT_WRITE_COLUMN(slice, 0, Car);
    const Lane *lane = weft_slice_read_shared(slice, 1);
    const weft_entity *e = weft_slice_entities(slice);
    uint8_t *busy = traffic_lane(next, lane->number);
    uint32_t tick = (uint32_t)weft_slice_frame(slice).number;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        traffic_drive(now, &cars[i], lane->number, weft_entity_index(e[i]), tick);
        busy[cars[i].cell] = 1;
    }
}

static void add_systems(Traffic *t)
{
    weft_lookup read_before = {t->before, WEFT_READ}, write_before = {t->before, WEFT_WRITE};
    weft_lookup read_now = {t->now, WEFT_READ}, write_now = {t->now, WEFT_WRITE};
    weft_system_create(t->world, &(weft_system_desc){.name = "change",
                                                     .run = change,
                                                     .user = t,
                                                     .over.rows.terms = {{t->car}, {t->lane}},
                                                     .resources = {read_before},
                                                     .effects = WEFT_RECORDS_ADD,
                                                     .records = {t->lane}});
    weft_system_create(t->world, &(weft_system_desc){.name = "clear",
                                                     .run = clear,
                                                     .user = t,
                                                     .resources = {write_before, write_now}});
    weft_system_create(t->world, &(weft_system_desc){.name = "mark",
                                                     .run = mark,
                                                     .user = t,
                                                     .over.rows.terms = {{t->car}, {t->lane}},
                                                     .resources = {write_now}});
    weft_system_create(t->world,
                       &(weft_system_desc){.name = "drive",
                                           .run = drive,
                                           .user = t,
                                           .over.rows.terms = {{t->car, WEFT_WRITE}, {t->lane}},
                                           .resources = {read_now, write_before}});
}

static void traffic_close(void *side)
{
    Traffic *t = side;
    weft_world_destroy(t->world);
    free(t->maps[0].busy);
    free(t->maps[1].busy);
    free(t);
}

static void *traffic_open(uint32_t size, uint32_t workers)
{
    Traffic *t = calloc(1, sizeof *t);
    if (t == NULL) return NULL;
    uint32_t cells = traffic_cells(size);
    for (int i = 0; i < 2; i++) t->maps[i] = (road_map){calloc(LANES, cells), cells};
    if (weft_world_create(&(weft_world_desc){.workers = workers}, &t->world) != WEFT_OK) {
        traffic_close(t);
        return NULL;
    }
    t->car = weft_component_create(t->world, &(weft_component_desc){.type = &car_type});
    t->lane = weft_component_create(
        t->world, &(weft_component_desc){.type = &lane_type, .flags = WEFT_SHARED});
    uint32_t flags = WEFT_RESOURCE | WEFT_NOT_HASHED; /* pointers */
    t->before = weft_component_create_plain(t->world, "before", sizeof(road_map), 8, flags);
    t->now = weft_component_create_plain(t->world, "now", sizeof(road_map), 8, flags);
    *(road_map *)weft_resource_write(t->world, t->before) = t->maps[0];
    *(road_map *)weft_resource_write(t->world, t->now) = t->maps[1];
    t->cars = weft_query_create(t->world, &(weft_query_desc){.terms = {{t->car}, {t->lane}}});
    for (uint32_t i = 0; i < size; i++) {
        Car car = traffic_start(i);
        Lane lane = {i % LANES};
        weft_entity e = weft_entity_create(t->world, WEFT_ARCHETYPE(t->world, t->car, t->lane));
        weft_entity_set(t->world, e, t->car, &car, sizeof car);
        weft_entity_set_shared(t->world, e, t->lane, &lane);
        traffic_lane(&t->maps[0], lane.number)[car.cell] = 1;
    }
    add_systems(t);
    return t;
}

static void traffic_step(void *side)
{
    weft_world_step(((Traffic *)side)->world, 1);
}

static uint64_t traffic_content(void *side)
{
    Traffic *t = side;
    uint64_t sum = 0;
    weft_cursor c = weft_query_begin(t->world, t->cars);
    while (weft_query_next(&c)) {
        const Car *cars = WEFT_READ_COLUMN(&c.slice, 0, Car);
        const Lane *lane = weft_slice_read_shared(&c.slice, 1);
        const weft_entity *e = weft_slice_entities(&c.slice);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++)
            sum += traffic_sum(weft_entity_index(e[i]), cars[i], lane->number);
    }
    return sum;
}

static uint64_t traffic_hash(void *side)
{
    return weft_world_hash(((Traffic *)side)->world, WEFT_HASH_CONTENT);
}

const program_side traffic_weft = {traffic_open, traffic_step, traffic_content, traffic_hash,
                                   traffic_close};
