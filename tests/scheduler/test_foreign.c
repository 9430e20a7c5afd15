/* SPDX-License-Identifier: MIT */
/* test_foreign.c: entities of another world, given to every function that takes one, and to random
 * operations on two worlds. Checked builds refuse them without being asked, release builds where
 * worlds have an entity_tag. */
#include "buffer_append.h"
#include "invariant.h"

#include <weft/weft.h>

#include "plain.h"

#include <string.h>

typedef struct side {
    weft_world *world;
    weft_component a, tag, list, shared, parent;
    weft_archetype archetype;
    weft_query query;
    weft_entity entity, second;
} side;

static uint32_t value = 7;

/* `tag`: checked builds are asked for none, when it is 0. */
static void open_side(side *s, uint32_t tag)
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .entity_tag = tag}, &s->world));
    s->a = weft_component_create_plain(s->world, "a", 4, 4, WEFT_ENABLEABLE);
    s->tag = weft_component_create_plain(s->world, "tag", 0, 1, 0);
    s->list = weft_component_create_plain(s->world, "list", 4, 4, WEFT_BUFFER);
    s->shared = weft_component_create_plain(s->world, "shared", 4, 4, WEFT_SHARED);
    s->parent = weft_component_parent(s->world);
    const weft_component set[] = {s->a, s->list, s->shared};
    s->archetype = weft_archetype_create(s->world, set, 3);
    s->query = weft_query_create(s->world, &(weft_query_desc){.terms = {{s->a, WEFT_WRITE, 0, 0}}});
    s->entity = weft_entity_create(s->world, s->archetype);
    s->second = weft_entity_create(s->world, s->archetype);
    CHECK(s->second.version != 0 && s->query.id != 0);
}

static void open_sides(side *here, side *there)
{
    open_side(here, WEFT_IS_CHECKED ? 0 : 1);
    open_side(there, WEFT_IS_CHECKED ? 0 : 2);
    CHECK_U64(weft_entity_index(there->entity), weft_entity_index(here->entity));
    CHECK_U64(there->entity.version, here->entity.version);
    CHECK(!weft_entity_equal(there->entity, here->entity));
}

static void close_sides(side *here, side *there)
{
    CHECK_OK(weft_world_validate(here->world));
    CHECK_OK(weft_world_validate(there->world));
    CHECK_OK(weft_world_destroy(here->world));
    CHECK_OK(weft_world_destroy(there->world));
}

/* ---- every function ---- */

/* True: refused. `e` is of another world, in the place of s->entity. */
#define REFUSES(name, text)                                                                        \
    static bool name(const side *s, weft_entity e)                                                 \
    {                                                                                              \
        return text;                                                                               \
    }
#define W s->world

static weft_entity_place place;
static uint32_t out[2];

REFUSES(destroy, weft_entity_destroy(W, e) != WEFT_OK)
REFUSES(instantiate, weft_entity_instantiate(W, e, 1, NULL) != WEFT_OK)
REFUSES(place_get, weft_entity_place_get(W, e, &place, sizeof place) != WEFT_OK)
REFUSES(get, weft_entity_read(W, e, s->a) == NULL)
REFUSES(write, weft_entity_write(W, e, s->a) == NULL)
REFUSES(set, weft_entity_set(W, e, s->a, &value, 4) != WEFT_OK)
REFUSES(set_many, weft_entity_set_many(W, (weft_entity[]){s->second, e}, 2, s->a,
                                       (uint32_t[]){1, 2}, 4) != WEFT_OK)
REFUSES(gather, weft_entity_read_many(W, (weft_entity[]){s->second, e}, 2, s->a, out) != WEFT_OK)
REFUSES(add, weft_entity_add(W, e, s->tag) != WEFT_OK)
REFUSES(take, weft_entity_remove(W, e, s->a) != WEFT_OK)
REFUSES(change_add,
        weft_entity_change_many(W, (weft_entity[]){s->second, e}, 2,
                                &(weft_change_desc){.add = &s->tag, .add_count = 1}) != WEFT_OK)
REFUSES(change_take,
        weft_entity_change_many(W, (weft_entity[]){s->second, e}, 2,
                                &(weft_change_desc){.remove = &s->a, .remove_count = 1}) != WEFT_OK)
REFUSES(change_none, weft_entity_change_many(W, &e, 1, &(weft_change_desc){0}) != WEFT_OK)
REFUSES(set_archetype, weft_entity_set_archetype(W, e, s->archetype) != WEFT_OK)
REFUSES(enable, weft_entity_enable(W, e, s->a, false) != WEFT_OK)
REFUSES(set_name, weft_entity_set_name(W, e, "x") != WEFT_OK)
REFUSES(unname, weft_entity_set_name(W, e, NULL) != WEFT_OK)
REFUSES(set_name_unique, weft_entity_set_name_unique(W, e, "x") != WEFT_OK)
REFUSES(set_shared, weft_entity_set_shared(W, e, s->shared, &value) != WEFT_OK)
REFUSES(set_shared_many, weft_entity_set_shared_many(W, (weft_entity[]){s->second, e}, 2, s->shared,
                                                     &value) != WEFT_OK)
REFUSES(relation_source, weft_relation_set(W, e, s->parent, s->second) != WEFT_OK)
REFUSES(relation_target, weft_relation_set(W, s->second, s->parent, e) != WEFT_OK)
REFUSES(relation_sources, weft_relation_set_many(W, (weft_entity[]){s->second, e}, 2, s->parent,
                                                 s->entity) != WEFT_OK)
REFUSES(buffer_read, weft_entity_read_buffer(W, e, s->list).count == 0)
REFUSES(buffer_write, weft_entity_write_buffer(W, e, s->list).count == 0)

#define ROW(call)                                                                                  \
    {                                                                                              \
#call, call                                                                                \
    }
static const struct {
    const char *name;
    bool (*call)(const side *s, weft_entity e);
} calls[] = {
    ROW(destroy),
    ROW(instantiate),
    ROW(place_get),
    ROW(get),
    ROW(write),
    ROW(set),
    ROW(set_many),
    ROW(gather),
    ROW(add),
    ROW(take),
    ROW(change_add),
    ROW(change_take),
    ROW(change_none),
    ROW(set_archetype),
    ROW(enable),
    ROW(set_name),
    ROW(unname),
    ROW(set_name_unique),
    ROW(set_shared),
    ROW(buffer_read),
    ROW(buffer_write),
    ROW(set_shared_many),
    ROW(relation_source),
    ROW(relation_target),
    ROW(relation_sources),
};

/* These answer as for a dead entity, and set no error. */
static void check_questions(side *s, weft_entity e)
{
    CHECK(!weft_entity_is_alive(W, e));
    CHECK(!weft_entity_has(W, e, s->a));
    CHECK(!weft_entity_is_enabled(W, e, s->a));
    CHECK(!weft_query_matches(W, s->query, e));
    CHECK(weft_entity_read_shared(W, e, s->shared) == NULL);
    CHECK(weft_entity_is_null(weft_relation_target(W, e, s->parent)));
    CHECK(weft_relation_sources(W, s->parent, e, &(uint32_t){0}) == NULL);
    CHECK_U64(weft_relation_depth(W, s->parent, e), 0);
    CHECK_U64(weft_entity_archetype(W, e).id, 0);
    CHECK_TEXT(weft_entity_name(W, e), "");
    weft_finder finder = weft_finder_open(W, s->a);
    CHECK(weft_finder_read(&finder, s->entity) != NULL && weft_finder_read(&finder, e) == NULL);
    CHECK_RESULT(weft_world_error(W)->code, WEFT_OK);
    CHECK_U64(weft_entity_change_version(W, e, s->a), 0);
}

/* A slice of the owner's; those of systems are below. */
static void check_slice(side *s, weft_entity e)
{
    weft_cursor cursor = weft_query_begin(W, s->query);
    CHECK(weft_query_next(&cursor));
    const weft_slice *slice = &cursor.slice;
    CHECK(weft_slice_read_entity(slice, s->entity, s->a) != NULL);
    CHECK(weft_slice_read_entity(slice, e, s->a) == NULL &&
          weft_slice_write_entity(slice, e, s->a) == NULL);
    CHECK_U64(weft_slice_write_entity_buffer(slice, e, s->list).count, 0);
    weft_finder finder = weft_slice_finder(slice, s->a);
    CHECK(weft_finder_read(&finder, e) == NULL);
    weft_query_end(&cursor);
}

static void check_calls(side *s, weft_entity e)
{
    CHECK_OK(weft_entity_set_name(W, s->entity, "own"));
    uint64_t before = weft_world_hash(W, WEFT_HASH_LAYOUT);
    weft_world_error_clear(W);
    check_questions(s, e);
    for (uint32_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        weft_world_error_clear(W);
        bool is_refused = calls[i].call(s, e);
        const weft_error *error = weft_world_error(W);
        if (!is_refused || error->code != WEFT_BAD_HANDLE ||
            strstr(error->text, "is of another world than") == NULL)
            CHECK_TEXT(error->text, calls[i].name);
    }
    weft_result refused = WEFT_IS_CHECKED ? WEFT_BAD_HANDLE : WEFT_OK; /* else skipped */
    CHECK_RESULT(weft_entity_destroy_many(W, &e, 1), refused);
    if (WEFT_IS_CHECKED)
        CHECK_RESULT(weft_entity_destroy_many(W, (weft_entity[]){s->second, e}, 2), refused);
    check_slice(s, e);
    CHECK_U64(weft_world_hash(W, WEFT_HASH_LAYOUT), before);
    CHECK_TEXT(weft_entity_name(W, s->entity), "own");
}

PLAIN_TEST(every_function_refuses_entities_of_another_world)
{
    side here, there;
    open_sides(&here, &there);
    check_calls(&here, there.entity);
    check_calls(&there, here.entity);
    close_sides(&here, &there);
}

/* A system that is given an entity of another world. */
typedef struct reach {
    side *here;
    weft_entity foreign;
    uint32_t runs;
} reach;

static void reach_run(weft_slice *slice, void *user)
{
    reach *r = user;
    CHECK(weft_slice_read_entity(slice, r->here->entity, r->here->a) != NULL);
    CHECK(weft_slice_read_entity(slice, r->foreign, r->here->a) == NULL);
    CHECK(weft_slice_write_entity(slice, r->foreign, r->here->a) == NULL);
    CHECK_U64(weft_slice_write_entity_buffer(slice, r->foreign, r->here->list).count, 0);
    weft_finder finder = weft_slice_finder(slice, r->here->a);
    CHECK(weft_finder_read(&finder, r->foreign) == NULL);
    weft_result refused = WEFT_IS_CHECKED ? WEFT_BAD_HANDLE : WEFT_OK; /* else at playback */
    weft_recorder *commands = weft_slice_recorder(slice);
    CHECK_RESULT(weft_recorder_destroy_entity(commands, r->foreign), refused);
    r->runs++;
}

PLAIN_TEST(systems_reach_no_entities_of_another_world)
{
    side here, there;
    open_sides(&here, &there);
    reach r = {&here, there.entity, 0};
    weft_system_desc desc = {.name = "reach",
                             .run = reach_run,
                             .user = &r,
                             .effects = WEFT_RECORDS_ANY,
                             .lookups = {{here.a, WEFT_WRITE}, {here.list, WEFT_WRITE}}};
    CHECK(weft_system_create(here.world, &desc).id != 0);
    weft_result stepped = weft_world_step(here.world, 0.01f);
    CHECK_RESULT(stepped, WEFT_IS_CHECKED ? WEFT_BAD_HANDLE : WEFT_OK);
    CHECK_U64(r.runs, 1);
    CHECK(weft_entity_is_alive(here.world, here.entity));
    close_sides(&here, &there);
}

PLAIN_TEST(recorders_refuse_entities_of_another_world)
{
    side here, there;
    open_sides(&here, &there);
    const weft_entity e = there.entity;
    uint64_t before = weft_world_hash(here.world, WEFT_HASH_LAYOUT);
    weft_recorder *c;
    CHECK_OK(weft_recorder_create(here.world, &c));
    weft_result refused = WEFT_IS_CHECKED ? WEFT_BAD_HANDLE : WEFT_OK; /* else at playback */
    CHECK_RESULT(weft_recorder_destroy_entity(c, e), refused);
    CHECK_RESULT(weft_recorder_add(c, e, here.tag), refused);
    CHECK_RESULT(weft_recorder_remove(c, e, here.a), refused);
    CHECK_RESULT(weft_recorder_set(c, e, here.a, &value, 4), refused);
    CHECK_RESULT(weft_recorder_set_shared(c, e, here.shared, &value), refused);
    CHECK_RESULT(weft_recorder_enable(c, e, here.a, false), refused);
    CHECK_RESULT(weft_recorder_append(c, e, here.list, &value, 1), refused);
    CHECK_RESULT(weft_recorder_set_buffer(c, e, here.list, &value, 1), refused);
    CHECK_RESULT(weft_recorder_set_name(c, e, "x"), refused);
    CHECK_RESULT(weft_recorder_play(c), refused);
    if (WEFT_IS_CHECKED)
        CHECK(strstr(weft_world_error(here.world)->text, "is of another world") != NULL);
    CHECK_U64(weft_world_hash(here.world, WEFT_HASH_LAYOUT), before);
    before = weft_world_hash(here.world, WEFT_HASH_CONTENT);
    CHECK(weft_entity_is_null(weft_recorder_instantiate(c, e)) == WEFT_IS_CHECKED);
    CHECK_RESULT(weft_recorder_play(c), refused); /* a copy that is skipped uses up a handle */
    CHECK_U64(weft_world_hash(here.world, WEFT_HASH_CONTENT), before);
    CHECK_OK(weft_recorder_destroy_entity(c, here.second)); /* own ones, and deferred ones */
    weft_entity made = weft_recorder_create_entity(c, here.archetype);
    CHECK_OK(weft_recorder_set(c, made, here.a, &value, 4));
    CHECK_OK(weft_recorder_play(c));
    CHECK_U64(weft_query_count(here.world, here.query), 2);
    weft_recorder_destroy(c);
    close_sides(&here, &there);
}

PLAIN_TEST(a_transfer_follows_handles_of_its_source_only)
{
    side here, there;
    open_sides(&here, &there);
    weft_entity tracked[] = {there.second, here.entity};
    const weft_transfer_desc desc = {.tracked = tracked, .tracked_count = 2};
    uint64_t before[] = {weft_world_hash(here.world, WEFT_HASH_LAYOUT),
                         weft_world_hash(there.world, WEFT_HASH_LAYOUT)};
    if (WEFT_IS_CHECKED) {
        CHECK_RESULT(weft_world_transfer(here.world, there.world, &desc, NULL, 0), WEFT_BAD_HANDLE);
        CHECK(strstr(weft_world_error(here.world)->text, "tracked[1]") != NULL);
        CHECK(weft_entity_equal(tracked[0], there.second));
        CHECK(weft_entity_equal(tracked[1], here.entity));
        CHECK_U64(weft_world_hash(here.world, WEFT_HASH_LAYOUT), before[0]);
        CHECK_U64(weft_world_hash(there.world, WEFT_HASH_LAYOUT), before[1]);
        tracked[1] = (weft_entity){0, 0};
    }
    CHECK_OK(weft_world_transfer(here.world, there.world, &desc, NULL, 0));
    CHECK(weft_entity_is_alive(here.world, tracked[0]) && weft_entity_is_null(tracked[1]));
    CHECK(!weft_entity_is_alive(here.world, there.second));
    CHECK_U64(weft_query_count(here.world, here.query), 4);
    close_sides(&here, &there);
}

/* A member of another world is none: the entity in its place stays as it is. */
PLAIN_TEST(linked_groups_do_not_reach_into_another_world)
{
    side here, there;
    open_sides(&here, &there);
    weft_component linked = weft_component_linked_group(here.world);
    const weft_component prefab = weft_component_prefab(here.world);
    const weft_entity group[] = {here.second, there.entity};
    CHECK_OK(weft_entity_add(here.world, here.second, linked));
    CHECK_OK(test_buffer_append(here.world, linked, here.second, group, 2));
    CHECK_OK(weft_entity_add(here.world, here.second, prefab));
    CHECK(!weft_entity_has(here.world, here.entity, prefab));
    weft_entity copy;
    CHECK_OK(weft_entity_instantiate(here.world, here.second, 1, &copy));
    CHECK_U64(weft_query_count(here.world, here.query), 2); /* the copy, and the entity */
    CHECK_OK(weft_entity_destroy(here.world, here.second));
    CHECK_OK(weft_entity_destroy_many(here.world, &copy, 1));
    CHECK(weft_entity_is_alive(here.world, here.entity));
    CHECK_U64(weft_query_count(here.world, here.query), 1);
    close_sides(&here, &there);
}

PLAIN_TEST(worlds_can_ask_for_no_tag)
{
    side here, there;
    open_side(&here, WEFT_WITHOUT_ENTITY_TAG);
    open_side(&there, WEFT_WITHOUT_ENTITY_TAG);
    CHECK(weft_entity_equal(here.entity, there.entity));
    CHECK_U64(here.entity.index >> WEFT_ENTITY_TAG_SHIFT, 0);
    close_sides(&here, &there);
    weft_world *world;
    CHECK_RESULT(weft_world_create(&(weft_world_desc){.entity_tag = 17}, &world),
                 WEFT_INVALID_ARGUMENT);
}

/* ---- random operations on two worlds ---- */

#define MODEL_ENTITIES 64u

typedef struct model_entity {
    weft_entity handle;
    uint32_t value;
    bool is_alive, has_tag;
} model_entity;

/* What is known of one world. Entities are replaced, so that old handles are lost. */
typedef struct model {
    side side;
    weft_recorder *commands;
    model_entity entities[MODEL_ENTITIES];
} model;

static void model_create(model *m, model_entity *e, uint32_t number)
{
    *e = (model_entity){weft_entity_create(m->side.world, m->side.archetype), number, true, false};
    CHECK_OK(weft_entity_set(m->side.world, e->handle, m->side.a, &number, 4));
}

static void model_check(const model *m)
{
    uint32_t alive = 0;
    CHECK_OK(weft_world_validate(m->side.world));
    for (uint32_t i = 0; i < MODEL_ENTITIES; i++) {
        const model_entity *e = &m->entities[i];
        CHECK_U64(weft_entity_is_alive(m->side.world, e->handle), e->is_alive);
        if (!e->is_alive) continue;
        alive++;
        CHECK_U64(*(const uint32_t *)weft_entity_read(m->side.world, e->handle, m->side.a),
                  e->value);
        CHECK_U64(weft_entity_has(m->side.world, e->handle, m->side.tag), e->has_tag);
    }
    CHECK_U64(weft_query_count(m->side.world, m->side.query), alive);
}

/* Recorded: checked builds refuse there, others skip at playback; the dead are skipped by all. */
static weft_result model_record(model *m, model_entity *e, bool is_foreign, uint32_t kind)
{
    weft_result expected = is_foreign && WEFT_IS_CHECKED ? WEFT_BAD_HANDLE : WEFT_OK;
    weft_result result = kind == 0 ? weft_recorder_destroy_entity(m->commands, e->handle)
                                   : weft_recorder_add(m->commands, e->handle, m->side.tag);
    CHECK_RESULT(result, expected);
    CHECK_RESULT(weft_recorder_play(m->commands), expected);
    return is_foreign || !e->is_alive ? WEFT_STALE_ENTITY : WEFT_OK;
}

/* One call on `e`, which is of `m` or of the other world. Returns OK when it was done. */
static weft_result model_call(model *m, model_entity *e, bool is_foreign, uint32_t kind,
                              uint32_t number)
{
    weft_world *world = m->side.world;
    weft_result expected = is_foreign     ? WEFT_BAD_HANDLE
                           : !e->is_alive ? WEFT_STALE_ENTITY
                                          : WEFT_OK;
    weft_result result = WEFT_OK;
    switch (kind) {
    case 0:
        result = weft_entity_destroy(world, e->handle);
        break;
    case 1:
        result = weft_entity_add(world, e->handle, m->side.tag);
        break;
    case 2:
        result = weft_entity_remove(world, e->handle, m->side.tag);
        break;
    case 3:
        result = weft_entity_set(world, e->handle, m->side.a, &number, 4);
        break;
    default: /* 4, 5 */
        return model_record(m, e, is_foreign, kind - 4);
    }
    CHECK_RESULT(result, expected);
    return result;
}

static void model_operate(model *m, model_entity *e, bool is_foreign, uint32_t number,
                          test_random *random)
{
    uint32_t kind = (uint32_t)test_random_below(random, 6);
    if (model_call(m, e, is_foreign, kind, number) != WEFT_OK) return;
    if (kind == 0 || kind == 4) e->is_alive = false;
    if (kind == 1 || kind == 5) e->has_tag = true;
    if (kind == 2) e->has_tag = false;
    if (kind == 3) e->value = number;
}

/* Many at once, those of both worlds mixed: all or none in checked builds, else the own ones. */
static void model_destroy_some(model *m, model *other, bool is_mixed, test_random *random)
{
    weft_entity some[8];
    model_entity *own[8];
    for (uint32_t i = 0; i < 8; i++) {
        own[i] = &m->entities[test_random_below(random, MODEL_ENTITIES)];
        some[i] = own[i]->handle;
    }
    uint32_t at = (uint32_t)test_random_below(random, 8);
    if (is_mixed) {
        own[at] = NULL;
        some[at] = other->entities[test_random_below(random, MODEL_ENTITIES)].handle;
    }
    bool is_refused = is_mixed && WEFT_IS_CHECKED;
    CHECK_RESULT(weft_entity_destroy_many(m->side.world, some, 8),
                 is_refused ? WEFT_BAD_HANDLE : WEFT_OK);
    for (uint32_t i = 0; i < 8 && !is_refused; i++)
        if (own[i] != NULL) own[i]->is_alive = false;
}

PLAIN_TEST(random_operations_on_two_worlds_never_take_the_entities_of_the_other)
{
    test_random random = test_random_init(1310);
    static model models[2];
    open_sides(&models[0].side, &models[1].side);
    for (uint32_t w = 0; w < 2; w++) {
        CHECK_OK(weft_entity_destroy_many(
            models[w].side.world, (weft_entity[]){models[w].side.entity, models[w].side.second},
            2));
        CHECK_OK(weft_recorder_create(models[w].side.world, &models[w].commands));
        for (uint32_t i = 0; i < MODEL_ENTITIES; i++)
            model_create(&models[w], &models[w].entities[i], i);
    }
    for (uint32_t step = 0; step < 20000; step++) {
        uint32_t w = (uint32_t)test_random_below(&random, 2);
        model *m = &models[w], *other = &models[1 - w];
        bool is_foreign = test_random_below(&random, 2) == 0;
        model *of = is_foreign ? other : m;
        model_entity *e = &of->entities[test_random_below(&random, MODEL_ENTITIES)];
        if (test_random_below(&random, 20) == 0)
            model_destroy_some(m, other, is_foreign, &random);
        else if (!is_foreign && !e->is_alive)
            model_create(m, e, step);
        else
            model_operate(m, e, is_foreign, step, &random);
        if (step % 100 == 0) model_check(&models[0]), model_check(&models[1]);
    }
    for (uint32_t w = 0; w < 2; w++) weft_recorder_destroy(models[w].commands);
    close_sides(&models[0].side, &models[1].side);
}
