/* SPDX-License-Identifier: MIT */
/* diverge_program.c: a program whose two runs differ in one place that the caller names, for
 * check_diverge.py: diverge_program PLACE IS_OTHER. All that is around the place is innocent. The
 * places "worker" and "address" are faults of both runs, which WEFT_ORDER and WEFT_ADDRESSES show.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

typedef struct {
    uint32_t value;
} Number;
typedef struct {
    uint32_t shots;
} Total;
typedef struct {
    uint32_t count;
} Rare;
typedef struct {
    uint32_t heat;
} Zone;
typedef struct {
    uint32_t age;
} Shot;

static const char *place;
static uint32_t other; /* 1 in the second run */
static weft_component number, total, rare, shot;
static weft_archetype shots;
static weft_entity first;

static uint32_t extra(const char *name)
{
    return strcmp(place, name) == 0 ? other : 0;
}

/* Whether rows lie behind those of `first`. */
static uint32_t is_behind(const void *rows, const weft_world *world)
{
    return (uintptr_t)rows > (uintptr_t)weft_entity_read(world, first, number);
}

/* Innocent: writes its rows alike. */
static void count(weft_slice *s, void *user)
{
    (void)user;
    Number *n = WEFT_WRITE_COLUMN(s, 0, Number);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) n[i].value += 1 + extra("rows");
    for (uint32_t i = 0; i < weft_slice_count(s) && strcmp(place, "worker") == 0; i++)
        n[i].value += s->worker;
    if (strcmp(place, "address") == 0) n[0].value += is_behind(n, weft_slice_world(s));
}

static void settle(weft_slice *s, void *user)
{
    (void)user;
    Total *t = weft_slice_write_resource(s, total);
    t->shots += 1 + extra("resource");
}

static void look(weft_slice *s, void *user)
{
    (void)user;
    Number *n = weft_slice_write_entity(s, first, number);
    if (n != NULL) n->value += 10 + extra("look-up");
}

static void mark(weft_slice *s, void *user)
{
    (void)user;
    Rare *r = WEFT_WRITE_COLUMN(s, 0, Rare);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) r[i].count += 1 + extra("sparse");
}

static void heat(weft_slice *s, void *user)
{
    (void)user;
    Zone *z = weft_slice_write_chunk(s, 0);
    z->heat += 1 + extra("chunk");
}

static void alone(weft_slice *s, void *user)
{
    (void)user;
    weft_world *world = weft_slice_world(s);
    if (extra("exclusive")) weft_entity_set_name(world, first, "other");
    if (extra("exclusive-resource")) ((Total *)weft_resource_write(world, total))->shots += 5;
}

/* Innocent: commands, played back behind all the others. */
static void spawn(weft_slice *s, void *user)
{
    (void)user;
    weft_recorder_create_entity(weft_slice_recorder(s), shots);
}

static void late(weft_slice *s, void *user)
{
    (void)user;
    *(uint32_t *)WEFT_WRITE_COLUMN(s, 0, Shot) += 1 + extra("background");
}

static void add(weft_world *world, const weft_system_desc *desc)
{
    weft_system system;
    if (weft_system_create(world, desc).id == 0) {
        puts(weft_world_error(world)->text);
        exit(3);
    }
    (void)system;
}

static weft_world *make(void)
{
    weft_world *world;
    if (weft_world_create(&(weft_world_desc){.workers = 2}, &world) != WEFT_OK) exit(3);
    number = WEFT_COMPONENT(world, Number);
    total = WEFT_COMPONENT_FLAGS(world, Total, WEFT_RESOURCE);
    rare = WEFT_COMPONENT_FLAGS(world, Rare, WEFT_SPARSE);
    const weft_component zone = WEFT_COMPONENT_FLAGS(world, Zone, WEFT_CHUNK);
    shot = WEFT_COMPONENT(world, Shot);
    shots = WEFT_ARCHETYPE(world, shot);
    weft_entity made[300];
    weft_entity_create_many(world, WEFT_ARCHETYPE(world, number, zone), 300, made);
    weft_entity_create(world, shots);
    first = made[0];
    if (strcmp(place, "address") == 0) {
        first = weft_entity_create(world, WEFT_ARCHETYPE(world, number));
        weft_entity_create_many(world, WEFT_ARCHETYPE(world, number), 4999, NULL);
        weft_entity_create_many(world, WEFT_ARCHETYPE(world, number, shot), 5000, NULL);
    }
    for (int i = 0; i < 300; i += 50) weft_entity_add(world, made[i], rare);
    add(world, &(weft_system_desc){
                   .name = "count", .run = count, .over.rows.terms = {{number, WEFT_WRITE}}});
    add(world,
        &(weft_system_desc){.name = "settle", .run = settle, .resources = {{total, WEFT_WRITE}}});
    add(world, &(weft_system_desc){.name = "look", .run = look, .lookups = {{number, WEFT_WRITE}}});
    add(world,
        &(weft_system_desc){.name = "mark", .run = mark, .over.rows.terms = {{rare, WEFT_WRITE}}});
    add(world,
        &(weft_system_desc){.name = "heat", .run = heat, .over.rows.terms = {{zone, WEFT_WRITE}}});
    add(world, &(weft_system_desc){.name = "late",
                                   .run = late,
                                   .flags = WEFT_SYSTEM_BACKGROUND,
                                   .over.rows.terms = {{shot, WEFT_WRITE}}});
    add(world, &(weft_system_desc){.name = "alone", .run = alone, .flags = WEFT_SYSTEM_EXCLUSIVE});
    add(world,
        &(weft_system_desc){
            .name = "spawn", .run = spawn, .effects = WEFT_RECORDS_CREATE, .records = {shot}});
    return world;
}

static void step(weft_world *world, int frame)
{
    if (frame == 1 && extra("host")) ((Total *)weft_resource_write(world, total))->shots += 7;
    if (frame == 1 && extra("name")) weft_entity_set_name(world, first, "host's");
    if (weft_world_step(world, 1) == WEFT_OK) return;
    puts(weft_world_error(world)->text);
    exit(3);
}

int main(int argc, char **argv)
{
    if (argc != 3) return 3;
    place = argv[1];
    other = (uint32_t)atoi(argv[2]);
    weft_world *world = make(), *second = NULL;
    for (int frame = 0; frame < 3; frame++) {
        if (frame == 2 && extra("world-before"))
            ((Total *)weft_resource_write(world, total))->shots = 0;
        step(world, frame);
    }
    if (strcmp(place, "world-before") == 0) {
        weft_world_destroy(world);
        world = NULL;
    }
    if (strncmp(place, "world", 5) == 0 && !extra("world-lost")) {
        second = make();
        for (int frame = 0; frame < 3; frame++) {
            if (frame == 2 && extra("world-two"))
                ((Total *)weft_resource_write(second, total))->shots = 0;
            step(second, frame);
        }
        weft_world_destroy(second);
    }
    weft_world_destroy(world);
    return 0;
}
