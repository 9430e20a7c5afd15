/* SPDX-License-Identifier: MIT */
/* counted.c: fixed pieces of work whose cost is counted, not timed: instructions (by callgrind,
 * which collects inside counted_body only) and calls of the memory hook.
 *
 * `counted NAME` prepares a world with one worker, runs the piece once to warm up and once as
 * counted_body, and prints the allocations of the second run. `counted` alone lists the names.
 * counted.sh compares both with baseline.txt.
 */
#include <weft/weft.h>

#include "memory_fault.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 1000 };

typedef struct pair {
    float x, y;
} pair;

/* What the pieces work on. Owner: main. */
typedef struct scene {
    weft_world *world;
    weft_component position, velocity, extra;
    weft_query query;
    weft_archetype archetype;
    weft_entity entities[ROWS];
    weft_recorder *commands;
    double sum;
} scene;

static void iterate(scene *s)
{
    weft_cursor c = weft_query_begin(s->world, s->query);
    while (weft_query_next(&c)) {
        pair *p = weft_slice_write(&c.slice, 0);
        const pair *v = weft_slice_read(&c.slice, 1);
        for (uint32_t i = 0, n = weft_slice_count(&c.slice); i < n; i++) {
            p[i].x += v[i].x;
            p[i].y += v[i].y;
        }
    }
}

static void create_destroy(scene *s)
{
    weft_entity made[ROWS];
    for (int i = 0; i < ROWS; i++) made[i] = weft_entity_create(s->world, s->archetype);
    for (int i = 0; i < ROWS; i++) weft_entity_destroy(s->world, made[i]);
}

static void create_destroy_many(scene *s)
{
    weft_entity made[ROWS];
    const weft_component set[] = {s->position, s->velocity};
    weft_entity_create_many(s->world, weft_archetype_create(s->world, set, 2), ROWS, made);
    weft_entity_destroy_many(s->world, made, ROWS);
}

static void add_remove(scene *s)
{
    for (int i = 0; i < ROWS; i++) weft_entity_add(s->world, s->entities[i], s->extra);
    for (int i = 0; i < ROWS; i++) weft_entity_remove(s->world, s->entities[i], s->extra);
}

static void get(scene *s)
{
    for (int i = 0; i < ROWS; i++) {
        const pair *p = weft_entity_read(s->world, s->entities[i * 7 % ROWS], s->position);
        s->sum += p ? (double)p->x : 1e9;
    }
}

static void commands(scene *s)
{
    for (int i = 0; i < ROWS; i++) weft_recorder_add(s->commands, s->entities[i], s->extra);
    weft_recorder_play(s->commands);
    for (int i = 0; i < ROWS; i++) weft_recorder_remove(s->commands, s->entities[i], s->extra);
    weft_recorder_play(s->commands);
}

static void frame(scene *s)
{
    for (int i = 0; i < 10; i++) weft_world_step(s->world, 0.5f);
}

static const struct piece {
    const char *name;
    void (*run)(scene *s);
} pieces[] = {
    {"iterate", iterate},
    {"create_destroy", create_destroy},
    {"create_destroy_many", create_destroy_many},
    {"add_remove", add_remove},
    {"get", get},
    {"commands", commands},
    {"frame", frame},
};

/* The only function that callgrind collects in. */
__attribute__((noinline)) void counted_body(const struct piece *piece, scene *s);
__attribute__((noinline)) void counted_body(const struct piece *piece, scene *s)
{
    piece->run(s);
    __asm__("" ::: "memory"); /* no tail call */
}

static void move(weft_slice *slice, void *user)
{
    (void)user;
    pair *p = weft_slice_write(slice, 0);
    const pair *v = weft_slice_read(slice, 1);
    for (uint32_t i = 0, n = weft_slice_count(slice); i < n; i++) p[i].x += v[i].x;
}

static weft_result open_scene(scene *s, weft_allocator hook)
{
    const weft_world_desc desc = {.workers = 1, .allocator = hook};
    weft_result result = weft_world_create(&desc, &s->world);
    if (result != WEFT_OK) return result;
    s->position = weft_component_create_plain(s->world, "Position", sizeof(pair), 4, 0);
    s->velocity = weft_component_create_plain(s->world, "Velocity", sizeof(pair), 4, 0);
    s->extra = weft_component_create_plain(s->world, "Extra", 4, 4, 0);
    const weft_component set[] = {s->position, s->velocity};
    result = weft_entity_create_many(s->world, weft_archetype_create(s->world, set, 2), ROWS,
                                     s->entities);
    if (result != WEFT_OK) return result;
    s->archetype = weft_entity_archetype(s->world, s->entities[0]);
    const weft_query_desc query = {
        .terms = {{s->position, WEFT_WRITE, WEFT_ALL, 0}, {s->velocity, WEFT_READ, WEFT_ALL, 0}}};
    s->query = weft_query_create(s->world, &query);
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        weft_system_create(s->world,
                           &(weft_system_desc){.name = names[i], .run = move, .over.rows = query});
    }
    return weft_recorder_create(s->world, &s->commands);
}

int main(int argc, char **argv)
{
    static scene s;
    static test_memory memory;
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        if (argc < 2) puts(pieces[i].name);
        if (argc < 2 || strcmp(argv[1], pieces[i].name) != 0) continue;
        test_memory_init(&memory);
        if (open_scene(&s, test_memory_hook(&memory)) != WEFT_OK) return 1;
        pieces[i].run(&s);
        const uint64_t before = memory.allocations;
        counted_body(&pieces[i], &s);
        printf("allocations %llu\n", (unsigned long long)(memory.allocations - before));
        if (weft_world_error(s.world)->code != WEFT_OK) {
            fprintf(stderr, "%s\n", weft_world_error(s.world)->text);
            return 1;
        }
        weft_recorder_destroy(s.commands);
        weft_world_destroy(s.world);
        test_memory_fini(&memory);
        return 0;
    }
    return argc < 2 ? 0 : 2;
}
