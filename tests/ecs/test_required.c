/* SPDX-License-Identifier: MIT */
/* test_required.c: required components: what they are refused for, by which ways they come, against
 * a model that is a set of components per entity; and checks of values. */
#include "check.h"
#include "invariant.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <weft/ecs.h>
#include <weft/value.h>

enum { KINDS = 7, ENTITIES = 200 };

/* a -> b, c; b -> d; e -> a, f. d is a tag, c SHARED, f ENABLEABLE; g requires none. */
typedef struct bed {
    weft_world *world;
    weft_component of[KINDS];
    uint32_t closure[KINDS]; /* bits of of[] */
} bed;

enum { A, B, C, D, E, F, G };

static const uint32_t direct[KINDS] = {
    [A] = 1u << B | 1u << C, [B] = 1u << D, [E] = 1u << A | 1u << F};

static bed bed_open(void)
{
    static const uint32_t order[KINDS] = {D, B, C, A, F, E, G};
    static const char *const names[KINDS] = {"a", "b", "c", "d", "e", "f", "g"};
    bed b = {0};
    CHECK_OK(weft_world_create(NULL, &b.world));
    for (uint32_t i = 0; i < KINDS; i++) {
        uint32_t kind = order[i];
        weft_component required[KINDS];
        weft_component_desc desc = {.name = names[kind],
                                    .size = kind == D ? 0 : sizeof(uint32_t),
                                    .alignment = kind == D ? 1 : 4,
                                    .required = required};
        desc.flags = kind == C ? WEFT_SHARED : kind == F ? WEFT_ENABLEABLE : 0;
        b.closure[kind] = 1u << kind;
        for (uint32_t k = 0; k < KINDS; k++) {
            if ((direct[kind] & 1u << k) == 0) continue;
            required[desc.required_count++] = b.of[k];
            b.closure[kind] |= b.closure[k];
        }
        b.of[kind] = weft_component_create(b.world, &desc);
        CHECK(b.of[kind].id != 0);
    }
    return b;
}

static void bed_close(const bed *b)
{
    CHECK_OK(weft_world_validate(b->world));
    weft_world_destroy(b->world);
}

static uint32_t has(const bed *b, weft_entity entity)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < KINDS; i++)
        if (weft_entity_has(b->world, entity, b->of[i])) bits |= 1u << i;
    return bits;
}

Test(required, an_archetype_has_what_its_components_require)
{
    bed b = bed_open();
    weft_entity entity = weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.of[E]));
    CHECK_U64(has(&b, entity), b.closure[E]);
    CHECK_U64(b.closure[E], 0x3f);
    bed_close(&b);
}

Test(required, a_value_that_is_set_goes_to_its_component_only)
{
    bed b = bed_open();
    weft_archetype none = weft_archetype_create(b.world, NULL, 0);
    for (uint32_t i = 0; i < 3; i++) { /* the second time by a known way */
        weft_entity entity = weft_entity_create(b.world, none);
        WEFT_SET(b.world, entity, b.of[A], uint32_t, {7});
        CHECK_U64(has(&b, entity), b.closure[A]);
        CHECK_U64(*(const uint32_t *)weft_entity_read(b.world, entity, b.of[A]), 7);
        CHECK_U64(*(const uint32_t *)weft_entity_read(b.world, entity, b.of[B]), 0);
    }
    bed_close(&b);
}

/* Plain components, for which the way that the last entity took is known. */
Test(required, a_value_that_is_set_by_a_known_way_goes_to_its_component_only)
{
    bed b = bed_open();
    weft_archetype none = weft_archetype_create(b.world, NULL, 0);
    weft_component wheel = weft_component_create_plain(b.world, "wheel", sizeof(uint32_t), 4, 0);
    const weft_component_desc desc = {.name = "car",
                                      .size = sizeof(uint32_t),
                                      .alignment = 4,
                                      .required = &wheel,
                                      .required_count = 1};
    weft_component car = weft_component_create(b.world, &desc);
    for (uint32_t i = 0; i < 3; i++) {
        weft_entity entity = weft_entity_create(b.world, none);
        WEFT_SET(b.world, entity, car, uint32_t, {7});
        CHECK_U64(*(const uint32_t *)weft_entity_read(b.world, entity, car), 7);
        CHECK_U64(*(const uint32_t *)weft_entity_read(b.world, entity, wheel), 0);
    }
    bed_close(&b);
}

Test(required, what_is_there_keeps_its_value_and_may_be_removed)
{
    bed b = bed_open();
    weft_entity entity = weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, b.of[B]));
    WEFT_SET(b.world, entity, b.of[B], uint32_t, {9});
    CHECK_OK(weft_entity_add(b.world, entity, b.of[A]));
    CHECK_U64(*(const uint32_t *)weft_entity_read(b.world, entity, b.of[B]), 9);
    CHECK_OK(weft_entity_remove(b.world, entity, b.of[B]));
    CHECK_U64(has(&b, entity), b.closure[A] & ~(1u << B));
    CHECK_OK(weft_entity_add(b.world, entity, b.of[A])); /* it is there: nothing comes */
    CHECK_U64(has(&b, entity), b.closure[A] & ~(1u << B));
    bed_close(&b);
}

Test(required, what_the_same_call_removes_stays_out)
{
    bed b = bed_open();
    weft_entity entity = weft_entity_create(b.world, weft_archetype_create(b.world, NULL, 0));
    const weft_change_desc desc = {
        .add = &b.of[A], .add_count = 1, .remove = &b.of[B], .remove_count = 1};
    CHECK_OK(weft_entity_change_many(b.world, &entity, 1, &desc));
    CHECK_U64(has(&b, entity), b.closure[A] & ~(1u << B));
    bed_close(&b);
}

Test(required, bad_lists_are_refused_with_what_to_do)
{
    bed b = bed_open();
    weft_component_desc desc = {.name = "h", .size = 4, .required_count = 1};
    CHECK_U64(weft_component_create(b.world, &desc).id, 0);
    CHECK_RESULT(weft_world_error(b.world)->code, WEFT_INVALID_ARGUMENT);
    const weft_component unknown = {999, 1};
    desc.required = &unknown;
    CHECK_U64(weft_component_create(b.world, &desc).id, 0);
    CHECK_RESULT(weft_world_error(b.world)->code, WEFT_BAD_HANDLE);
    CHECK(strstr(weft_world_error(b.world)->text, "required[0]") != NULL);
    weft_component sparse = weft_component_create_plain(b.world, "s", 4, 4, WEFT_SPARSE);
    desc.required = &sparse;
    CHECK_U64(weft_component_create(b.world, &desc).id, 0);
    CHECK(strstr(weft_world_error(b.world)->text, "SPARSE") != NULL);
    desc.required = &b.of[A];
    desc.flags = WEFT_SPARSE;
    CHECK_U64(weft_component_create(b.world, &desc).id, 0);
    /* d is required by b, which a requires */
    const weft_component_desc cycle = {
        .name = "d", .alignment = 1, .required = &b.of[A], .required_count = 1};
    CHECK_U64(weft_component_create(b.world, &cycle).id, 0);
    CHECK_RESULT(weft_world_error(b.world)->code, WEFT_CYCLE);
    CHECK(strstr(weft_world_error(b.world)->text, "\"d\" would require itself, by \"a\"") != NULL);
    const weft_component_desc other = {
        .name = "b", .size = 4, .required = &b.of[G], .required_count = 1};
    CHECK_U64(weft_component_create(b.world, &other).id, 0);
    CHECK_RESULT(weft_world_error(b.world)->code, WEFT_ALREADY_EXISTS);
    const weft_component_desc same = {.name = "b", .size = 4};
    CHECK_U64(weft_component_create(b.world, &same).id, b.of[B].id);
    bed_close(&b);
}

/* ---- against a model ---- */

typedef struct model {
    uint32_t bits;
    uint32_t values[KINDS];
} model;

static void model_add(const bed *b, model *m, uint32_t kind)
{
    if ((m->bits & 1u << kind) != 0) return;
    for (uint32_t i = 0; i < KINDS; i++)
        if ((b->closure[kind] & ~m->bits & 1u << i) != 0) m->values[i] = 0;
    m->bits |= b->closure[kind];
}

static bool is_plain(uint32_t kind)
{
    return kind != C && kind != D;
}

/* A change of one entity, recorded or immediate. */
static void change_one(const bed *b, model *m, weft_entity entity, weft_recorder *commands)
{
    uint32_t kind = (uint32_t)rand() % KINDS, value = (uint32_t)rand();
    weft_component component = b->of[kind];
    if (rand() % 3 == 0) {
        m->bits &= ~(1u << kind);
        CHECK_OK(commands == NULL ? weft_entity_remove(b->world, entity, component)
                                  : weft_recorder_remove(commands, entity, component));
        return;
    }
    model_add(b, m, kind);
    if (rand() % 2 == 0 && is_plain(kind)) {
        m->values[kind] = value;
        CHECK_OK(commands == NULL
                     ? weft_entity_set(b->world, entity, component, &value, sizeof value)
                     : weft_recorder_set(commands, entity, component, &value, sizeof value));
        return;
    }
    CHECK_OK(commands == NULL ? weft_entity_add(b->world, entity, component)
                              : weft_recorder_add(commands, entity, component));
}

static void compare(const bed *b, const model *m, weft_entity entity)
{
    CHECK_U64(has(b, entity), m->bits);
    for (uint32_t i = 0; i < KINDS; i++)
        if ((m->bits & 1u << i) != 0 && is_plain(i))
            CHECK_U64(*(const uint32_t *)weft_entity_read(b->world, entity, b->of[i]),
                      m->values[i]);
}

/* A run of one kind of change: immediate, a few commands (one by one), many (folded), a query. */
static void change_some(const bed *b, model *models, const weft_entity *entities, weft_query all)
{
    uint32_t way = (uint32_t)rand() % 4, kind = (uint32_t)rand() % KINDS;
    if (way == 3) {
        CHECK_OK(weft_query_add(b->world, all, b->of[kind]));
        for (uint32_t i = 0; i < ENTITIES; i++) model_add(b, &models[i], kind);
        return;
    }
    weft_recorder *commands = NULL;
    if (way != 0) CHECK_OK(weft_recorder_create(b->world, &commands));
    uint32_t count = way == 2 ? 500 : 20;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = (uint32_t)rand() % ENTITIES;
        change_one(b, &models[row], entities[row], commands);
    }
    if (commands == NULL) return;
    CHECK_OK(weft_recorder_play(commands));
    weft_recorder_destroy(commands);
}

Test(required, all_ways_of_change_agree_with_a_set_of_components)
{
    bed b = bed_open();
    model models[ENTITIES] = {0};
    weft_entity entities[ENTITIES];
    CHECK_OK(weft_entity_create_many(b.world, weft_archetype_create(b.world, NULL, 0), ENTITIES,
                                     entities));
    weft_query all = weft_query_create(b.world, &(weft_query_desc){0});
    srand(17);
    for (uint32_t round = 0; round < 300; round++) {
        change_some(&b, models, entities, all);
        for (uint32_t i = 0; i < ENTITIES; i++) compare(&b, &models[i], entities[i]);
        if (round % 20 != 0) continue; /* back to little, so that much comes again */
        for (uint32_t i = 0; i < ENTITIES; i++)
            for (uint32_t k = 0; k < KINDS; k++) {
                CHECK_OK(weft_entity_remove(b.world, entities[i], b.of[k]));
                models[i].bits = 0;
            }
    }
    bed_close(&b);
}

typedef struct speed {
    float value;
} speed;

static const weft_field speed_fields[] = {
    {.name = "value", .kind = WEFT_FIELD_F32, .least = 0, .most = 10}};
static const weft_type speed_type = {.name = "speed",
                                     .size = sizeof(speed),
                                     .alignment = 4,
                                     .fields = speed_fields,
                                     .field_count = 1};

Test(required, values_out_of_range_are_refused_where_asked)
{
    bed b = bed_open();
    const weft_component_desc desc = {.type = &speed_type, .is_checked = true};
    weft_component component = weft_component_create(b.world, &desc);
    const speed good = {3}, bad = {11};
    CHECK_OK(weft_component_check(b.world, component, &good));
    CHECK_RESULT(weft_component_check(b.world, component, &bad), WEFT_INVALID_ARGUMENT);
    CHECK(strstr(weft_world_error(b.world)->text, "value") != NULL);
    CHECK_RESULT(weft_component_check(b.world, b.of[A], &bad), WEFT_UNSUPPORTED);
    weft_entity entity = weft_entity_create(b.world, WEFT_ARCHETYPE(b.world, component));
    CHECK_OK(weft_entity_set(b.world, entity, component, &good, sizeof good));
    const weft_result refused = WEFT_IS_CHECKED ? WEFT_INVALID_ARGUMENT : WEFT_OK;
    CHECK_RESULT(weft_entity_set(b.world, entity, component, &bad, sizeof bad), refused);
    CHECK_RESULT(weft_entity_set_many(b.world, &entity, 1, component, &bad, sizeof bad), refused);
    const speed *now = weft_entity_read(b.world, entity, component);
    CHECK(now->value == (WEFT_IS_CHECKED ? 3.0f : 11.0f));
    weft_recorder *commands;
    CHECK_OK(weft_recorder_create(b.world, &commands));
    CHECK_RESULT(weft_recorder_set(commands, entity, component, &bad, sizeof bad), refused);
    CHECK_RESULT(weft_recorder_play(commands), refused);
    weft_recorder_destroy(commands);
    const weft_archetype with = WEFT_ARCHETYPE(b.world, component);
    const speed two[] = {good, bad};
    const weft_query all = weft_query_create(b.world, &(weft_query_desc){0});
    const uint64_t before = weft_query_count(b.world, all);
    CHECK_RESULT(weft_entity_create_filled(b.world, with, WEFT_VALUES({component, two}), 2, NULL),
                 refused);
    CHECK_U64(weft_query_count(b.world, all), before + (WEFT_IS_CHECKED ? 0 : 2));
    bed_close(&b);
}
