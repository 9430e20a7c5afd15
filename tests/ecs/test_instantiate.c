/* SPDX-License-Identifier: MIT */
/* test_instantiate.c: copies of entities, and what goes with them when they are destroyed: buffers,
 * shared values, linked groups that are met whole, in part, or with dead members. */
#include <weft/snapshot.h>

#include "buffer_append.h"
#include "storage_fixture.h"

#include <criterion/criterion.h>

enum { COPIES = 3000 };

/* An entity with more elements in a buffer than fit inline. */
static weft_entity with_list(storage_fixture *f, weft_component list)
{
    weft_entity e = weft_entity_create(f->world, storage_moving(f));
    CHECK_OK(weft_entity_add(f->world, e, list));
    for (uint32_t i = 0; i < 100; i++) CHECK_OK(test_buffer_append(f->world, list, e, &i, 1));
    return e;
}

Test(instantiate, none_one_and_more_copies_than_a_chunk_holds)
{
    storage_fixture f = storage_open();
    weft_entity source = weft_entity_create(f.world, storage_moving(&f));
    static weft_entity copies[COPIES];
    CHECK_OK(WEFT_SET(f.world, source, f.velocity, vector3, {7, 8, 9}));
    uint64_t before = weft_world_hash(f.world, WEFT_HASH_LAYOUT);
    CHECK_OK(weft_entity_instantiate(f.world, source, 0, NULL));
    CHECK_U64(weft_world_hash(f.world, WEFT_HASH_LAYOUT), before);
    CHECK_OK(weft_entity_instantiate(f.world, source, 1, copies));
    CHECK_OK(weft_entity_instantiate(f.world, source, COPIES, copies));
    for (uint32_t i = 0; i < COPIES; i++) {
        const vector3 *v = weft_entity_read(f.world, copies[i], f.velocity);
        CHECK(v != NULL && v->x == 7 && v->y == 8 && v->z == 9);
    }
    CHECK_RESULT(weft_entity_instantiate(f.world, source, UINT32_MAX, NULL), WEFT_LIMIT);
    CHECK_OK(weft_entity_destroy(f.world, source));
    CHECK_RESULT(weft_entity_instantiate(f.world, source, 1, copies), WEFT_STALE_ENTITY);
    CHECK_RESULT(weft_entity_instantiate(f.world, (weft_entity){0, 0}, 1, copies),
                 WEFT_STALE_ENTITY);
    storage_close(&f);
}

Test(instantiate, copies_lack_what_only_one_entity_may_have)
{
    storage_fixture f = storage_open();
    weft_component number = weft_component_create_plain(f.world, "number", 8, 8, WEFT_NOT_COPIED);
    CHECK(weft_component_create_plain(f.world, "bad", 8, 8, WEFT_NOT_COPIED | WEFT_SPARSE).id == 0);
    weft_entity source = weft_entity_create(f.world, storage_moving(&f)), copy;
    CHECK_OK(weft_entity_add(f.world, source, number));
    CHECK_OK(weft_entity_instantiate(f.world, source, 1, &copy));
    CHECK(!weft_entity_has(f.world, copy, number) && weft_entity_has(f.world, source, number));
    CHECK(weft_entity_has(f.world, copy, f.velocity));
    CHECK_OK(weft_entity_add(f.world, copy, number));
    CHECK(*(const uint64_t *)weft_entity_read(f.world, copy, number) == 0);
    storage_close(&f);
}

Test(instantiate, a_copied_buffer_is_its_own)
{
    storage_fixture f = storage_open();
    weft_component list = weft_component_create_plain(f.world, "list", 4, 4, WEFT_BUFFER);
    weft_entity source = with_list(&f, list), copies[2];
    CHECK_OK(weft_entity_instantiate(f.world, source, 2, copies));
    weft_buffer *first = weft_entity_write(f.world, copies[0], list);
    const weft_buffer *second = weft_entity_read(f.world, copies[1], list);
    CHECK(weft_buffer_read(first) != weft_buffer_read(second));
    ((uint32_t *)(uintptr_t)weft_buffer_read(first))[5] = 1234;
    CHECK_U64(((const uint32_t *)weft_buffer_read(second))[5], 5);
    CHECK_OK(weft_entity_destroy(f.world, source));
    CHECK_OK(weft_entity_destroy(f.world, copies[0]));
    second = weft_entity_read(f.world, copies[1], list);
    CHECK_U64(second->count, 100);
    for (uint32_t i = 0; i < 100; i++)
        CHECK_U64(((const uint32_t *)weft_buffer_read(second))[i], i);
    storage_close(&f);
}

/* Root 0 and members 1 to 3, each with health; the group lists the root, too. */
static weft_component group_make(storage_fixture *f, weft_entity e[4])
{
    weft_component group = weft_component_linked_group(f->world);
    CHECK_OK(weft_entity_create_many(f->world, WEFT_ARCHETYPE(f->world, f->health), 4, e));
    CHECK_OK(weft_entity_add(f->world, e[0], group));
    CHECK_OK(test_buffer_append(f->world, group, e[0], e, 4));
    return group;
}

Test(instantiate, a_group_dies_with_its_root_but_a_query_destroys_what_it_selects_only)
{
    storage_fixture f = storage_open();
    weft_entity e[4], other[4];
    weft_component group = group_make(&f, e);
    group_make(&f, other);
    CHECK_OK(weft_entity_destroy(f.world, e[2]));
    CHECK_OK(weft_entity_destroy(f.world, e[0])); /* the dead member is passed over */
    for (uint32_t i = 0; i < 4; i++) CHECK(!weft_entity_is_alive(f.world, e[i]));
    weft_query roots =
        weft_query_create(f.world, &(weft_query_desc){.terms = {{group, WEFT_READ, WEFT_ALL, 0}}});
    CHECK_OK(weft_query_destroy_entities(f.world, roots));
    for (uint32_t i = 0; i < 4; i++) CHECK(weft_entity_is_alive(f.world, other[i]) == (i != 0));
    CHECK_OK(weft_query_destroy_entities(f.world, roots)); /* nothing is left */
    storage_close(&f);
}

Test(instantiate, a_query_that_covers_members_only_leaves_the_root)
{
    storage_fixture f = storage_open();
    weft_entity e[4];
    weft_component group = group_make(&f, e);
    weft_query members = weft_query_create(
        f.world, &(weft_query_desc){.terms = {{f.health, WEFT_READ, WEFT_ALL, 0},
                                              {group, WEFT_NO_ACCESS, WEFT_NONE, 0}}});
    CHECK_OK(weft_query_destroy_entities(f.world, members));
    CHECK(weft_entity_is_alive(f.world, e[0]) && !weft_entity_is_alive(f.world, e[3]));
    weft_entity copy;
    CHECK_OK(weft_world_validate(f.world));
    CHECK_OK(weft_entity_instantiate(f.world, e[0], 1, &copy)); /* the dead are passed over */
    CHECK_U64(weft_query_count(f.world, members), 0);
    storage_close(&f);
}

Test(instantiate, archetypes_that_are_null_unknown_or_another_worlds_create_nothing)
{
    storage_fixture f = storage_open(), other = storage_open();
    weft_archetype foreign = {0};
    for (uint32_t i = 0; i < 20; i++) { /* more archetypes there than here */
        char name[16];
        name[0] = (char)('a' + i), name[1] = 0;
        weft_component c = weft_component_create_plain(other.world, name, 4, 4, 0);
        foreign = weft_archetype_create(other.world, &c, 1);
    }
    CHECK_U64(weft_entity_create(f.world, foreign).version, 0);
    CHECK_U64(weft_entity_create(f.world, (weft_archetype){0}).version, 0);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_BAD_HANDLE);
    CHECK_U64(weft_entity_create(f.world, (weft_archetype){UINT32_MAX}).version, 0);
    CHECK_U64(weft_entity_create(NULL, foreign).version, 0);
    weft_world_stats stats;
    weft_world_stats_get(f.world, &stats, sizeof stats);
    CHECK_U64(stats.entities, 0);
    storage_close(&other);
    storage_close(&f);
}

/* A body {body, arm}, an arm {arm, hand}, a hand without a group, each with a parent. */
static void nest_make(storage_fixture *f, weft_entity e[3])
{
    weft_component group = weft_component_linked_group(f->world);
    weft_component parent = weft_component_parent(f->world);
    for (uint32_t i = 0; i < 3; i++)
        e[i] = weft_entity_create(f->world, WEFT_ARCHETYPE(f->world, f->health));
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_OK(weft_entity_add(f->world, e[i], group));
        CHECK_OK(test_buffer_append(f->world, group, e[i], &e[i], 2));
        CHECK_OK(weft_relation_set(f->world, e[i + 1], parent, e[i]));
    }
}

static uint64_t count_all(const storage_fixture *f)
{
    weft_world_stats stats;
    weft_world_stats_get(f->world, &stats, sizeof stats);
    return stats.entities;
}

Test(instantiate, groups_of_members_are_copied_and_destroyed_along)
{
    storage_fixture f = storage_open();
    weft_component group = weft_component_linked_group(f.world);
    weft_component parent = weft_component_parent(f.world);
    weft_entity e[3], copies[5];
    nest_make(&f, e);
    CHECK_OK(weft_entity_instantiate(f.world, e[0], 5, copies));
    CHECK_U64(count_all(&f), 18);
    CHECK_OK(weft_relation_settle(f.world));
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t count;
        const weft_entity *arm = weft_relation_sources(f.world, parent, copies[i], &count);
        CHECK_U64(count, 1);
        const weft_buffer *parts = weft_entity_read(f.world, arm[0], group);
        const weft_entity *listed = weft_buffer_read(parts);
        CHECK_U64(listed[0].index, arm[0].index); /* its own group, of its own hand */
        const weft_entity *hand = weft_relation_sources(f.world, parent, arm[0], &count);
        CHECK(count == 1 && hand[0].index == listed[1].index);
    }
    CHECK_OK(weft_entity_destroy(f.world, copies[0]));
    CHECK_U64(count_all(&f), 15);
    CHECK_OK(weft_entity_destroy_many(f.world, copies + 1, 4));
    CHECK_U64(count_all(&f), 3);
    storage_close(&f);
}

Test(instantiate, the_prefab_tag_goes_with_groups_of_members)
{
    storage_fixture f = storage_open();
    weft_component prefab = weft_component_prefab(f.world);
    weft_entity e[3], copy;
    nest_make(&f, e);
    CHECK_OK(weft_entity_add(f.world, e[0], prefab));
    for (uint32_t i = 0; i < 3; i++) CHECK(weft_entity_has(f.world, e[i], prefab));
    CHECK_OK(weft_entity_instantiate(f.world, e[0], 1, &copy));
    weft_query seen = weft_query_create(f.world, &(weft_query_desc){.terms = {{f.health}}});
    CHECK_U64(weft_query_count(f.world, seen), 3); /* the instance, all of it */
    CHECK_OK(weft_entity_remove(f.world, e[0], prefab));
    CHECK_U64(weft_query_count(f.world, seen), 6);
    storage_close(&f);
}

Test(instantiate, groups_that_hold_each_other_end)
{
    storage_fixture f = storage_open();
    weft_component group = weft_component_linked_group(f.world);
    weft_entity e[3], copy;
    nest_make(&f, e);
    CHECK_OK(test_buffer_append(f.world, group, e[1], &e[0], 1)); /* the arm has the body, too */
    CHECK_OK(weft_entity_instantiate(f.world, e[0], 1, &copy));
    CHECK_U64(count_all(&f), 6);
    CHECK_OK(weft_entity_destroy(f.world, e[1]));
    CHECK_U64(count_all(&f), 3);
    storage_close(&f);
}

Test(instantiate, groups_of_members_go_along_in_commands)
{
    storage_fixture f = storage_open();
    weft_recorder *recorder;
    weft_entity e[3];
    nest_make(&f, e);
    CHECK_OK(weft_relation_settle(f.world));
    CHECK_OK(weft_recorder_create(f.world, &recorder));
    for (uint32_t i = 0; i < 100; i++) weft_recorder_instantiate(recorder, e[0]);
    CHECK_OK(weft_recorder_play(recorder));
    CHECK_U64(count_all(&f), 303);
    CHECK_OK(weft_relation_settle(f.world));
    weft_query arms = weft_query_create(
        f.world,
        &(weft_query_desc){.terms = {{weft_component_linked_group(f.world)},
                                     {weft_component_parent(f.world), .match = WEFT_NONE}}});
    weft_entity roots[101];
    CHECK_U64(weft_query_entities(f.world, arms, roots, 101), 101);
    for (uint32_t i = 0; i < 101; i++) CHECK_OK(weft_recorder_destroy_entity(recorder, roots[i]));
    CHECK_OK(weft_recorder_play(recorder));
    CHECK_U64(count_all(&f), 0);
    weft_recorder_destroy(recorder);
    storage_close(&f);
}

/* The partner is in the second place where a hook copied the value. */
typedef struct partners {
    weft_entity of[2];
} partners;

static void partners_copy(void *to, const void *from, uint32_t count, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < count; i++) {
        partners *copy = (partners *)to + i;
        copy->of[0] = (weft_entity){0, 0};
        copy->of[1] = ((const partners *)from)[i].of[0];
    }
}

Test(instantiate, references_in_what_a_hook_copied_are_found_there)
{
    static const weft_field fields[] = {{"of", WEFT_FIELD_ENTITY, 0, 2}};
    storage_fixture f = storage_open();
    weft_component group = weft_component_linked_group(f.world);
    weft_component both =
        weft_component_create(f.world, &(weft_component_desc){.name = "partners",
                                                              .size = sizeof(partners),
                                                              .alignment = 4,
                                                              .hooks = {.copy = partners_copy},
                                                              .fields = fields,
                                                              .field_count = 1});
    weft_entity pair[2], copies[3];
    CHECK(both.id != 0);
    for (uint32_t i = 0; i < 2; i++) pair[i] = weft_entity_create(f.world, storage_moving(&f));
    for (uint32_t i = 0; i < 2; i++) {
        partners value = {{pair[1 - i], {0, 0}}};
        CHECK_OK(weft_entity_set(f.world, pair[i], both, &value, sizeof value));
    }
    CHECK_OK(weft_entity_add(f.world, pair[0], group));
    weft_buffers linked = weft_entity_write_buffer(f.world, pair[0], group);
    CHECK_OK(weft_buffers_append(&linked, 0, pair, 2));
    CHECK_OK(weft_entity_instantiate(f.world, pair[0], 3, copies));
    for (uint32_t i = 0; i < 3; i++) {
        const partners *value = weft_entity_read(f.world, copies[i], both);
        CHECK(value->of[0].version == 0 && value->of[1].index != pair[1].index);
        const partners *other = weft_entity_read(f.world, value->of[1], both);
        CHECK(other != NULL && other->of[1].index == copies[i].index);
    }
    storage_close(&f);
}

/* ---- values that two would own ---- */

static void owned_end(void *values, uint32_t count, void *user)
{
    (void)values;
    *(uint32_t *)user += count;
}

static void owned_copy(void *to, const void *from, uint32_t count, void *user)
{
    (void)user;
    memcpy(to, from, count * sizeof(uint32_t));
}

/* What a component with a destruct hook does, by its kind and by whether it has a copy hook. */
static void try_owned(uint32_t flags, bool has_copy, weft_result expected)
{
    storage_fixture f = storage_open();
    uint32_t ended = 0, value = 5;
    weft_component owned = weft_component_create(
        f.world, &(weft_component_desc){.name = "owned",
                                        .size = sizeof value,
                                        .alignment = 4,
                                        .flags = flags,
                                        .hooks = {.destruct = owned_end,
                                                  .copy = has_copy ? owned_copy : NULL,
                                                  .user = &ended}});
    weft_component group = weft_component_linked_group(f.world);
    weft_entity pair[2], copies[3];
    CHECK(owned.id != 0);
    for (uint32_t i = 0; i < 2; i++) pair[i] = weft_entity_create(f.world, storage_moving(&f));
    CHECK_OK(weft_entity_add(f.world, pair[0], group));
    weft_buffers linked = weft_entity_write_buffer(f.world, pair[0], group);
    CHECK_OK(weft_buffers_append(&linked, 0, pair, 2));
    CHECK_OK(weft_entity_add(f.world, pair[1], owned)); /* of a member of the group */
    if ((flags & WEFT_BUFFER) != 0) {
        weft_buffers elements = weft_entity_write_buffer(f.world, pair[1], owned);
        CHECK_OK(weft_buffers_append(&elements, 0, &value, 1));
    }
    uint64_t before = weft_world_hash(f.world, WEFT_HASH_LAYOUT);
    uint64_t rows = count_all(&f);
    CHECK(weft_entity_instantiate(f.world, pair[0], 3, copies) == expected);
    CHECK_U64(count_all(&f), rows + (expected == WEFT_OK ? 6 : 0));
    weft_query all =
        weft_query_create(f.world, &(weft_query_desc){.terms = {{owned, .match = WEFT_ALL}}});
    const weft_result set = weft_query_set(f.world, all, owned, &value, sizeof value);
    CHECK(set == ((flags & WEFT_BUFFER) != 0 ? WEFT_TYPE_MISMATCH
                  : has_copy                 ? WEFT_OK
                                             : WEFT_UNSUPPORTED));
    weft_snapshot *taken = NULL;
    CHECK(weft_snapshot_take(f.world, NULL, &taken) == (has_copy ? WEFT_OK : WEFT_UNSUPPORTED));
    weft_snapshot_destroy(taken);
    if (expected != WEFT_OK) {
        CHECK(weft_entity_instantiate(f.world, pair[0], 1, copies) == expected);
        CHECK(weft_world_hash(f.world, WEFT_HASH_LAYOUT) == before);
        CHECK(strstr(weft_world_error(f.world)->text, "\"owned\" has a destruct hook") != NULL);
        weft_recorder *recorder;
        CHECK_OK(weft_recorder_create(f.world, &recorder));
        CHECK(!weft_entity_is_null(weft_recorder_instantiate(recorder, pair[0])));
        CHECK(weft_recorder_play(recorder) == expected);
        weft_recorder_destroy(recorder);
    }
    ended = 0;
    CHECK_OK(weft_entity_destroy(f.world, pair[1]));
    CHECK_U64(ended, (flags & WEFT_CLEANUP) != 0 ? 0 : 1);
    storage_close(&f);
}

Test(instantiate, a_value_that_two_would_own_is_refused)
{
    try_owned(0, false, WEFT_UNSUPPORTED);
    try_owned(WEFT_SPARSE, false, WEFT_UNSUPPORTED);
    try_owned(WEFT_BUFFER, false, WEFT_UNSUPPORTED);
    try_owned(WEFT_ENABLEABLE, false, WEFT_UNSUPPORTED);
    try_owned(0, true, WEFT_OK);
    try_owned(WEFT_SPARSE, true, WEFT_OK);
    try_owned(WEFT_NOT_COPIED, false, WEFT_OK);
    try_owned(WEFT_CLEANUP, false, WEFT_OK);
}

/* What the source has; each is one bit of a variant. */
enum {
    SOURCE_OFF = 1 << 0, /* a component is switched off */
    SOURCE_PREFAB = 1 << 1,
    SOURCE_NAME = 1 << 2,
    SOURCE_SPARSE = 1 << 3,
    SOURCE_SHARED = 1 << 4,
    SOURCE_LIST = 1 << 5,   /* a buffer */
    SOURCE_SELF = 1 << 6,   /* a reference to itself */
    SOURCE_NUMBER = 1 << 7, /* a component that is not copied */
    SOURCE_ALL = 1 << 8,
};

/* A world with a source and 100 copies of it, made at once or one by one. */
static void copies_open(storage_fixture *f, uint32_t has, bool is_each)
{
    static const weft_field fields[] = {{"to", WEFT_FIELD_ENTITY, 0, 1}};
    static const weft_type type = {
        .name = "Self", .size = 8, .alignment = 4, .fields = fields, .field_count = 1};
    *f = storage_open();
    weft_world *world = f->world;
    weft_component switched = weft_component_create_plain(world, "switched", 4, 4, WEFT_ENABLEABLE);
    weft_component sparse = weft_component_create_plain(world, "sparse", 4, 4, WEFT_SPARSE);
    weft_component shared = weft_component_create_plain(world, "shared", 4, 4, WEFT_SHARED);
    weft_component list = weft_component_create_plain(world, "list", 4, 4, WEFT_BUFFER);
    weft_component number = weft_component_create_plain(world, "number", 4, 4, WEFT_NOT_COPIED);
    weft_component self = weft_component_create(world, &(weft_component_desc){.type = &type});
    weft_component instance_of = weft_component_instance_of(world);
    weft_entity source = weft_entity_create(world, storage_moving(f)), copies[100];
    const uint32_t five = 5;
    CHECK_OK(WEFT_SET(world, source, f->velocity, vector3, {7, 8, 9}));
    CHECK_OK(weft_entity_set(world, source, switched, &five, sizeof five));
    CHECK_OK(weft_entity_enable(world, source, switched, (has & SOURCE_OFF) == 0));
    if ((has & SOURCE_PREFAB) != 0)
        CHECK_OK(weft_entity_add(world, source, weft_component_prefab(world)));
    if ((has & SOURCE_NAME) != 0) CHECK_OK(weft_entity_set_name(world, source, "source"));
    if ((has & SOURCE_SPARSE) != 0) CHECK_OK(weft_entity_set(world, source, sparse, &five, 4));
    if ((has & SOURCE_SHARED) != 0) CHECK_OK(weft_entity_set_shared(world, source, shared, &five));
    if ((has & SOURCE_LIST) != 0) {
        CHECK_OK(weft_entity_add(world, source, list));
        CHECK_OK(test_buffer_append(world, list, source, &five, 1));
    }
    if ((has & SOURCE_SELF) != 0) CHECK_OK(weft_entity_set(world, source, self, &source, 8));
    if ((has & SOURCE_NUMBER) != 0) CHECK_OK(weft_entity_set(world, source, number, &five, 4));
    if (is_each)
        for (uint32_t i = 0; i < 100; i++)
            CHECK_OK(weft_entity_instantiate(world, source, 1, &copies[i]));
    else
        CHECK_OK(weft_entity_instantiate(world, source, 100, copies));
    for (uint32_t i = 0; i < 100; i++) {
        const weft_entity *prefab = weft_entity_has(world, copies[i], instance_of)
                                        ? weft_entity_read(world, copies[i], instance_of)
                                        : NULL;
        CHECK((prefab != NULL) == ((has & SOURCE_PREFAB) != 0));
        CHECK(prefab == NULL || weft_entity_equal(*prefab, source));
        CHECK(weft_entity_is_enabled(world, copies[i], switched) == ((has & SOURCE_OFF) == 0));
        CHECK((weft_entity_name(world, copies[i])[0] != 0) == ((has & SOURCE_NAME) != 0));
    }
}

Test(instantiate, copies_made_one_by_one_are_those_made_at_once)
{
    for (uint32_t has = 0; has < SOURCE_ALL; has++) {
        storage_fixture at_once, each;
        copies_open(&at_once, has, false);
        copies_open(&each, has, true);
        CHECK_U64(weft_world_hash(each.world, WEFT_HASH_CONTENT),
                  weft_world_hash(at_once.world, WEFT_HASH_CONTENT));
        CHECK_OK(weft_world_validate(each.world));
        storage_close(&each);
        storage_close(&at_once);
    }
}
