/* SPDX-License-Identifier: MIT */
/* sheep.c: wolves and sheep on weft. What lies on the patches are three resources, so that the
 * scheduler knows who reads and writes which; births and deaths are commands. */
#include "sheep.h"

#include <stdlib.h>
#include <weft/type.h>
#include <weft/weft.h>

static const weft_field tag_fields[] = {WEFT_FIELD(Tag, number)};
static const weft_type tag_type = WEFT_TYPE(Tag, tag_fields);
static const weft_field place_fields[] = {WEFT_FIELD(Place, x), WEFT_FIELD(Place, y)};
static const weft_type place_type = WEFT_TYPE(Place, place_fields);
static const weft_field energy_fields[] = {WEFT_FIELD(Energy, left)};
static const weft_type energy_type = WEFT_TYPE(Energy, energy_fields);

enum { PARTS = 64 }; /* of the patches, which are cleared in parallel */

typedef struct Meadow {
    weft_world *world;
    weft_component tag, place, energy, sheep, wolf;
    weft_component sheep_on, wolf_on, grass; /* resources: what is on the patches */
    weft_archetype sheep_kind, wolf_kind;
    weft_query all_sheep, all_wolves;
    meadow ground;
} Meadow;

static void clear(weft_slice *s, void *user) /* called for each of PARTS indices */
{
    const Meadow *m = user;
    size_t patches = (size_t)m->ground.side * m->ground.side;
    sheep_clear(&m->ground, patches * s->index / PARTS, patches * (s->index + 1) / PARTS);
}

/* Slices meet on patches: the lowest number stays, in any order. */
static void stand(uint64_t *lowest, uint64_t number)
{
    uint64_t seen = __atomic_load_n(lowest, __ATOMIC_RELAXED);
    while (number < seen && !__atomic_compare_exchange_n(lowest, &seen, number, true,
                                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static void walk(weft_slice *s, const meadow *ground, uint64_t *lowest)
{
    Place *at = WEFT_WRITE_COLUMN(s, 0, Place);
    Energy *energy = WEFT_WRITE_COLUMN(s, 1, Energy);
    const Tag *tag = WEFT_READ_COLUMN(s, 2, Tag);
    uint32_t tick = (uint32_t)weft_slice_frame(s).number;
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        sheep_walk(ground, tag[i].number, tick, &at[i], &energy[i]);
        stand(&lowest[sheep_patch(ground, at[i])], tag[i].number);
    }
}

static void walk_sheep(weft_slice *s, void *user)
{
    const Meadow *m = user;
    walk(s, &m->ground, m->ground.sheep);
}

static void walk_wolves(weft_slice *s, void *user)
{
    const Meadow *m = user;
    walk(s, &m->ground, m->ground.wolf);
}

/* What births of a slice need. */
typedef struct births {
    const Meadow *meadow;
    weft_recorder *recorder;
    weft_archetype kind;
    uint32_t tick, percent;
} births;

static births births_of(weft_slice *s, const Meadow *m, weft_archetype kind, uint32_t percent)
{
    uint32_t tick = (uint32_t)weft_slice_frame(s).number;
    return (births){m, weft_slice_recorder(s), kind, tick, percent};
}

/* The young one gets half of the mother's energy. */
static void breed(const births *b, Tag mother, Place at, Energy *energy)
{
    if (!sheep_breeds(mother.number, b->tick, b->percent, energy->left)) return;
    Tag tag = sheep_young(mother.number, b->tick);
    Energy half = {energy->left / 2};
    energy->left -= half.left;
    weft_entity young = weft_recorder_create_entity(b->recorder, b->kind);
    weft_recorder_set(b->recorder, young, b->meadow->tag, &tag, sizeof tag);
    weft_recorder_set(b->recorder, young, b->meadow->place, &at, sizeof at);
    weft_recorder_set(b->recorder, young, b->meadow->energy, &half, sizeof half);
}

static void hunt(weft_slice *s, void *user)
{
    const Meadow *m = user;
    const Place *at = WEFT_READ_COLUMN(s, 0, Place);
    Energy *energy = WEFT_WRITE_COLUMN(s, 1, Energy);
    const Tag *tag = WEFT_READ_COLUMN(s, 2, Tag);
    births b = births_of(s, m, m->wolf_kind, WOLF_BREED);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        sheep_hunt(&m->ground, sheep_patch(&m->ground, at[i]), tag[i].number, &energy[i]);
        if (energy[i].left < 0)
            weft_recorder_destroy_entity(b.recorder, weft_slice_entities(s)[i]);
        else
            breed(&b, tag[i], at[i], &energy[i]);
    }
}

static void graze(weft_slice *s, void *user)
{
    const Meadow *m = user;
    const Place *at = WEFT_READ_COLUMN(s, 0, Place);
    Energy *energy = WEFT_WRITE_COLUMN(s, 1, Energy);
    const Tag *tag = WEFT_READ_COLUMN(s, 2, Tag);
    births b = births_of(s, m, m->sheep_kind, SHEEP_BREED);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        size_t patch = sheep_patch(&m->ground, at[i]);
        if (!sheep_graze(&m->ground, patch, tag[i].number, &energy[i]) || energy[i].left < 0)
            weft_recorder_destroy_entity(b.recorder, weft_slice_entities(s)[i]);
        else
            breed(&b, tag[i], at[i], &energy[i]);
    }
}

/* A system of those that eat, breed and die. */
static void add_life(Meadow *m, const char *name, void (*run)(weft_slice *, void *),
                     weft_component kind, const weft_lookup resources[3])
{
    weft_system_create(
        m->world, &(weft_system_desc){
                      .name = name,
                      .run = run,
                      .user = m,
                      .over.rows.terms = {{m->place}, {m->energy, WEFT_WRITE}, {m->tag}, {kind}},
                      .resources = {resources[0], resources[1], resources[2]},
                      .effects = WEFT_RECORDS_CREATE | WEFT_RECORDS_DESTROY,
                      .records = {m->tag, m->place, m->energy, kind},
                      .destroys = {m->tag, m->place, m->energy, kind}});
}

static void add_systems(Meadow *m)
{
    weft_lookup write_sheep = {m->sheep_on, WEFT_WRITE}, read_sheep = {m->sheep_on, WEFT_READ};
    weft_lookup write_wolf = {m->wolf_on, WEFT_WRITE}, read_wolf = {m->wolf_on, WEFT_READ};
    weft_lookup write_grass = {m->grass, WEFT_WRITE};
    weft_system_create(m->world,
                       &(weft_system_desc){.name = "clear",
                                           .run = clear,
                                           .user = m,
                                           .over = {.kind = WEFT_OVER_COUNT, .count = PARTS},
                                           .resources = {write_sheep, write_wolf, write_grass}});
    weft_system_create(m->world, &(weft_system_desc){.name = "walk sheep",
                                                     .run = walk_sheep,
                                                     .user = m,
                                                     .over.rows.terms = {{m->place, WEFT_WRITE},
                                                                         {m->energy, WEFT_WRITE},
                                                                         {m->tag},
                                                                         {m->sheep}},
                                                     .resources = {write_sheep}});
    weft_system_create(m->world, &(weft_system_desc){.name = "walk wolves",
                                                     .run = walk_wolves,
                                                     .user = m,
                                                     .over.rows.terms = {{m->place, WEFT_WRITE},
                                                                         {m->energy, WEFT_WRITE},
                                                                         {m->tag},
                                                                         {m->wolf}},
                                                     .resources = {write_wolf}});
    add_life(m, "hunt", hunt, m->wolf, (weft_lookup[3]){read_sheep, read_wolf, write_grass});
    add_life(m, "graze", graze, m->sheep, (weft_lookup[3]){read_sheep, write_grass});
}

static void add_types(Meadow *m)
{
    weft_world *world = m->world;
    uint32_t resource = WEFT_RESOURCE;
    m->tag = weft_component_create(world, &(weft_component_desc){.type = &tag_type});
    m->place = weft_component_create(world, &(weft_component_desc){.type = &place_type});
    m->energy = weft_component_create(world, &(weft_component_desc){.type = &energy_type});
    m->sheep = WEFT_TAG(world, Sheep);
    m->wolf = WEFT_TAG(world, Wolf);
    m->sheep_on = weft_component_create_plain(world, "sheep on", 1, 1, resource);
    m->wolf_on = weft_component_create_plain(world, "wolf on", 1, 1, resource);
    m->grass = weft_component_create_plain(world, "grass", 1, 1, resource);
    m->sheep_kind = WEFT_ARCHETYPE(world, m->tag, m->place, m->energy, m->sheep);
    m->wolf_kind = WEFT_ARCHETYPE(world, m->tag, m->place, m->energy, m->wolf);
    m->all_sheep = weft_query_create(
        world, &(weft_query_desc){.terms = {{m->tag}, {m->place}, {m->energy}, {m->sheep}}});
    m->all_wolves = weft_query_create(
        world, &(weft_query_desc){.terms = {{m->tag}, {m->place}, {m->energy}, {m->wolf}}});
}

static void sheep_close(void *side)
{
    Meadow *m = side;
    weft_world_destroy(m->world);
    sheep_free_meadow(&m->ground);
    free(m);
}

static void *sheep_open(uint32_t size, uint32_t workers)
{
    Meadow *m = calloc(1, sizeof *m);
    if (m == NULL) return NULL;
    if (!sheep_make_meadow(&m->ground, size) ||
        weft_world_create(&(weft_world_desc){.workers = workers}, &m->world) != WEFT_OK) {
        sheep_close(m);
        return NULL;
    }
    add_types(m);
    for (uint32_t i = 0; i < size; i++) {
        Tag tag;
        Place at;
        Energy energy;
        sheep_begin(i, m->ground.side, &tag, &at, &energy);
        weft_entity e =
            weft_entity_create(m->world, sheep_is_wolf(i) ? m->wolf_kind : m->sheep_kind);
        weft_entity_set(m->world, e, m->tag, &tag, sizeof tag);
        weft_entity_set(m->world, e, m->place, &at, sizeof at);
        weft_entity_set(m->world, e, m->energy, &energy, sizeof energy);
    }
    add_systems(m);
    return m;
}

static void sheep_step(void *side)
{
    weft_world_step(((Meadow *)side)->world, 1);
}

static uint64_t sum_of(const Meadow *m, weft_query query, bool is_wolf)
{
    uint64_t sum = 0;
    weft_cursor c = weft_query_begin(m->world, query);
    while (weft_query_next(&c)) {
        const Tag *tag = WEFT_READ_COLUMN(&c.slice, 0, Tag);
        const Place *at = WEFT_READ_COLUMN(&c.slice, 1, Place);
        const Energy *energy = WEFT_READ_COLUMN(&c.slice, 2, Energy);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++)
            sum += sheep_sum(is_wolf, tag[i].number, at[i], energy[i].left);
    }
    return sum;
}

static uint64_t sheep_content(void *side)
{
    const Meadow *m = side;
    return sheep_sum_grass(&m->ground) + sum_of(m, m->all_sheep, false) +
           sum_of(m, m->all_wolves, true);
}

static uint64_t sheep_hash(void *side)
{
    return weft_world_hash(((Meadow *)side)->world, WEFT_HASH_CONTENT);
}

const program_side sheep_weft = {sheep_open, sheep_step, sheep_content, sheep_hash, sheep_close};
