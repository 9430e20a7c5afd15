/* SPDX-License-Identifier: MIT */
/* test_version_random.c: random single changes beside a model that knows for each entity in which
 * version each of its components changed last: no change is lost when rows move, fill holes and
 * come to slices of other versions, in order and at random.
 */
#include "check.h"
#include "plain.h"
#include "random.h"

#include <weft/ecs.h>

#include <string.h>

enum { ENTITIES = 900, TYPES = 4, OPERATIONS = 12000, CHECK_EVERY = 100 };

static const uint32_t bytes[TYPES] = {4, 8, 12, 4};

typedef struct model {
    weft_world *world;
    weft_component types[TYPES]; /* the first one stays */
    weft_entity entities[ENTITIES];
    bool has[ENTITIES][TYPES];
    uint32_t versions[ENTITIES][TYPES];
    uint32_t values[ENTITIES][TYPES];
    uint32_t next; /* the entity of a run */
    test_random random;
} model;

static uint32_t version_of(const model *m, uint32_t i, uint32_t type)
{
    return weft_entity_change_version(m->world, m->entities[i], m->types[type]);
}

/* The component of the entity has just changed. */
static void note(model *m, uint32_t i, uint32_t type)
{
    m->versions[i][type] = version_of(m, i, type);
    CHECK(m->versions[i][type] >= weft_world_change_version(m->world));
}

static void make(model *m, uint32_t i)
{
    m->entities[i] = weft_entity_create(m->world, weft_archetype_create(m->world, &m->types[0], 1));
    memset(m->has[i], 0, sizeof m->has[i]);
    m->has[i][0] = true;
    m->values[i][0] = 0;
    note(m, i, 0);
}

static void open_model(model *m, uint64_t seed)
{
    *m = (model){.random = test_random_init(seed)};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &m->world));
    for (uint32_t k = 0; k < TYPES; k++) {
        const char name[2] = {(char)('a' + k), 0};
        m->types[k] = weft_component_create_plain(m->world, name, bytes[k], 4, 0);
    }
    for (uint32_t i = 0; i < ENTITIES; i++) make(m, i);
}

static void set_value(model *m, uint32_t i, uint32_t type)
{
    uint32_t value[3] = {(uint32_t)test_random_next(&m->random)};
    CHECK_OK(weft_entity_set(m->world, m->entities[i], m->types[type], value, bytes[type]));
    m->has[i][type] = true;
    m->values[i][type] = value[0];
    note(m, i, type);
}

static void change(model *m, uint32_t i, uint32_t type, uint32_t way)
{
    if (m->has[i][type] && way < 5) {
        CHECK_OK(weft_entity_remove(m->world, m->entities[i], m->types[type]));
        m->has[i][type] = false;
    } else if (way % 2 == 0 || m->has[i][type]) {
        set_value(m, i, type);
    } else {
        CHECK_OK(weft_entity_add(m->world, m->entities[i], m->types[type]));
        m->has[i][type] = true;
        m->values[i][type] = 0;
        note(m, i, type);
    }
}

static void check_all(const model *m)
{
    for (uint32_t i = 0; i < ENTITIES; i++)
        for (uint32_t k = 0; k < TYPES; k++) {
            const uint32_t *value = weft_entity_read(m->world, m->entities[i], m->types[k]);
            CHECK_U64(value != NULL, m->has[i][k]);
            if (value == NULL) continue;
            CHECK_U64(*value, m->values[i][k]);
            CHECK(version_of(m, i, k) >= m->versions[i][k]);
        }
    CHECK_OK(weft_world_validate(m->world));
}

/* One step: a version goes by, one entity changes or is replaced, or a run of neighbours makes the
 * same change. */
static void step(model *m)
{
    uint32_t kind = (uint32_t)test_random_below(&m->random, 100);
    uint32_t i = (uint32_t)test_random_below(&m->random, ENTITIES);
    uint32_t type = 1 + (uint32_t)test_random_below(&m->random, TYPES - 1);
    uint32_t way = (uint32_t)test_random_below(&m->random, 10);
    if (kind < 3) {
        weft_world_advance_change_version(m->world);
    } else if (kind < 6) {
        CHECK_OK(weft_entity_destroy(m->world, m->entities[i]));
        make(m, i);
    } else if (kind < 16) {
        set_value(m, i, 0);
    } else if (kind < 18) {
        for (uint32_t n = 0; n < 60; n++) {
            m->next = (m->next + 1) % ENTITIES;
            change(m, m->next, type, way);
        }
    } else {
        change(m, i, type, way);
    }
}

PLAIN_TEST(single_changes_lose_no_change_version)
{
    static model m;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        open_model(&m, seed);
        for (uint32_t n = 0; n < OPERATIONS; n++) {
            step(&m);
            if (n % CHECK_EVERY == 0) check_all(&m);
        }
        check_all(&m);
        CHECK_OK(weft_world_destroy(m.world));
    }
}
