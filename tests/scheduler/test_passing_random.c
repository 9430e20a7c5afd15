/* SPDX-License-Identifier: MIT */
/* test_passing_random.c: random frames with background systems, and commands of others at each sync
 * point, have the same world after each step on one worker as on three. */
#include <weft/weft.h>

#include "plain.h"
#include "random.h"

#include <stdio.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__) /* fifty times slower */
enum { SEEDS = 4 };
#else
enum { SEEDS = 40 };
#endif
enum { COMPONENTS = 5, ARCHETYPES = 6, SYSTEMS = 14, STEPS = 6, ENTITIES = 900, CALLS = 4 };

/* What random systems share. Owner: the test. */
typedef struct frame {
    weft_world *world;
    weft_component components[COMPONENTS];
    weft_archetype archetypes[ARCHETYPES];
    weft_entity entities[ENTITIES];
    uint32_t step;
} frame;

/* A system of a random frame. Owner: the test. */
typedef struct actor {
    frame *frame;
    char name[8];
    uint32_t number;
    uint32_t effects;
    weft_component component; /* that it records */
    weft_archetype archetype; /* that it creates */
} actor;

static uint32_t mix(uint32_t a, uint32_t b)
{
    uint32_t x = (a ^ (b * 0x9e3779b9u)) * 0x85ebca6bu;
    return x ^ x >> 15;
}

static void change_rows(weft_slice *slice, void *user)
{
    const actor *self = user;
    uint32_t *values = weft_slice_write(slice, 0);
    for (uint32_t i = 0; i < slice->count; i++)
        values[i] = mix(values[i] + self->number, weft_slice_entities(slice)[i].index);
}

static void record_any(weft_slice *slice, void *user)
{
    const actor *self = user;
    const frame *f = self->frame;
    weft_recorder *recorder = weft_slice_recorder(slice);
    uint32_t draw = mix(self->number * 64 + f->step, slice->index);
    for (uint32_t i = 0; i < 12; i++, draw = mix(draw, i)) {
        weft_entity target = f->entities[draw % ENTITIES];
        bool comes = (draw >> 20 & 1) == 0;
        if (self->effects == WEFT_RECORDS_DESTROY)
            CHECK_OK(weft_recorder_destroy_entity(recorder, target));
        else if (self->effects == WEFT_RECORDS_CREATE)
            CHECK(weft_recorder_create_entity(recorder, self->archetype).version != 0);
        else if (comes)
            CHECK_OK(weft_recorder_set(recorder, target, self->component, &draw, sizeof draw));
        else
            CHECK_OK(weft_recorder_remove(recorder, target, self->component));
    }
}

static void draw_recorder(actor *self, test_random *random, weft_system_desc *desc)
{
    static const uint32_t effects[] = {WEFT_RECORDS_DESTROY, WEFT_RECORDS_CREATE,
                                       WEFT_RECORDS_ADD | WEFT_RECORDS_REMOVE};
    desc->run = record_any;
    desc->over = (weft_system_over){.kind = WEFT_OVER_COUNT, .count = CALLS};
    desc->effects = self->effects = effects[test_random_below(random, 3)];
    if (self->effects != WEFT_RECORDS_DESTROY && self->effects != WEFT_RECORDS_CREATE)
        desc->records[0] = self->component;
}

static void draw_system(frame *f, test_random *random, actor *self, uint32_t number)
{
    const uint32_t kind = (uint32_t)test_random_below(random, 3);
    const weft_component of_rows = f->components[test_random_below(random, COMPONENTS)];
    *self = (actor){.frame = f, .number = number};
    self->component = f->components[test_random_below(random, COMPONENTS)];
    self->archetype = f->archetypes[test_random_below(random, ARCHETYPES)];
    snprintf(self->name, sizeof self->name, "s%u", number);
    weft_system_desc desc = {.name = self->name, .run = change_rows, .user = self};
    if (kind == 0)
        draw_recorder(self, random, &desc);
    else
        desc.over.rows.terms[0] = (weft_term){of_rows, WEFT_WRITE, WEFT_ALL, 0};
    if (kind == 1) desc.flags = WEFT_SYSTEM_BACKGROUND;
    CHECK(weft_system_create(f->world, &desc).id != 0);
}

static void run_frames(uint64_t seed, uint32_t workers, uint64_t *hashes)
{
    static frame f;
    static actor actors[SYSTEMS];
    test_random random = test_random_init(seed);
    memset(&f, 0, sizeof f);
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &f.world));
    for (uint32_t i = 0; i < COMPONENTS; i++) {
        const char name[] = {(char)('a' + i), 0};
        f.components[i] = weft_component_create_plain(f.world, name, 4, 4, 0);
    }
    for (uint32_t i = 0; i < ARCHETYPES; i++) {
        const weft_component some[] = {f.components[i % COMPONENTS],
                                       f.components[(i + 1 + i / COMPONENTS) % COMPONENTS]};
        f.archetypes[i] = weft_archetype_create(f.world, some, i % 2 == 0 ? 1 : 2);
        CHECK_OK(weft_entity_create_many(f.world, f.archetypes[i], ENTITIES / ARCHETYPES,
                                         f.entities + (size_t)i * (ENTITIES / ARCHETYPES)));
    }
    CHECK_OK(weft_schedule_set(f.world, &(weft_schedule_desc){.is_always_parallel = workers > 1}));
    for (uint32_t i = 0; i < SYSTEMS; i++) draw_system(&f, &random, &actors[i], i);
    for (f.step = 0; f.step < STEPS; f.step++) {
        CHECK_OK(weft_world_step(f.world, 0));
        hashes[f.step] = weft_world_hash(f.world, WEFT_HASH_LAYOUT);
    }
    CHECK_OK(weft_world_validate(f.world));
    CHECK_OK(weft_world_destroy(f.world));
}

PLAIN_TEST(random_frames_are_the_same_whatever_goes_on_beside_sync_points)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t expected[STEPS], hashes[STEPS];
        run_frames(seed, 1, expected);
        run_frames(seed, 3, hashes);
        for (uint32_t i = 0; i < STEPS; i++) CHECK_U64(hashes[i], expected[i]);
    }
}
