/* SPDX-License-Identifier: MIT */
/* test_prefab.c: the Prefab tag goes with linked groups in every form of change, and instances
 * come without it. In random order against a naive model, and with every allocation refused. */
#include "buffer_append.h"
#include "memory_fault.h"
#include "plain.h"

#include <weft/ecs.h>

#include <string.h>

enum { MEMBERS = 5, GROUPS = 30 };

/* A world of groups: root and members of different archetypes, some of them the same. */
typedef struct bed {
    test_memory memory;
    weft_world *world;
    weft_component a, b, mark, prefab, group;
    weft_query visible, all, roots;
    weft_entity root[GROUPS], member[GROUPS][MEMBERS];
} bed;

static void group_fill(const bed *t, weft_entity root, const weft_entity *members, uint32_t count)
{
    CHECK_OK(test_buffer_append(t->world, t->group, root, &root, 1));
    CHECK_OK(test_buffer_append(t->world, t->group, root, members, count));
}

static void begin(bed *t, uint32_t groups)
{
    *t = (bed){0};
    test_memory_init(&t->memory);
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = 1, .allocator = test_memory_hook(&t->memory)}, &t->world));
    t->a = weft_component_create_plain(t->world, "a", 4, 4, 0);
    t->b = weft_component_create_plain(t->world, "b", 4, 4, 0);
    t->mark = weft_component_create_plain(t->world, "mark", 0, 1, 0);
    t->prefab = weft_component_prefab(t->world);
    t->group = weft_component_linked_group(t->world);
    t->visible = weft_query_create(t->world, &(weft_query_desc){.terms = {{.component = t->a}}});
    t->all = weft_query_create(
        t->world, &(weft_query_desc){.terms = {{.component = t->a}}, .with_prefabs = true});
    t->roots = weft_query_create(
        t->world, &(weft_query_desc){.terms = {{.component = t->group}}, .with_prefabs = true});
    for (uint32_t g = 0; g < groups; g++) {
        CHECK_OK(weft_entity_create_many(
            t->world, weft_archetype_create(t->world, (weft_component[]){t->a, t->group}, 2), 1,
            &t->root[g]));
        for (uint32_t m = 0; m < MEMBERS; m++)
            CHECK_OK(weft_entity_create_many(
                t->world,
                weft_archetype_create(t->world, (weft_component[]){t->a, t->b, t->group},
                                      1 + m % 3),
                1, &t->member[g][m]));
        group_fill(t, t->root[g], t->member[g], MEMBERS);
    }
}

static void end(bed *t)
{
    if (weft_world_validate(t->world) != WEFT_OK) CHECK_TEXT(weft_world_error(t->world)->text, "");
    CHECK_OK(weft_world_destroy(t->world));
    test_memory_fini(&t->memory);
}

static void check_group(const bed *t, uint32_t g, bool is_hidden)
{
    CHECK(weft_entity_has(t->world, t->root[g], t->prefab) == is_hidden);
    for (uint32_t m = 0; m < MEMBERS; m++)
        CHECK(weft_entity_has(t->world, t->member[g][m], t->prefab) == is_hidden);
}

/* ---- the forms ---- */

PLAIN_TEST(single_changes_go_for_the_members)
{
    bed t;
    begin(&t, 2);
    CHECK_OK(weft_entity_add(t.world, t.root[0], t.prefab));
    check_group(&t, 0, true);
    check_group(&t, 1, false);
    CHECK_U64(weft_query_count(t.world, t.visible), 1 + MEMBERS);
    CHECK_U64(weft_query_count(t.world, t.all), 2 * (1 + MEMBERS));
    CHECK_OK(weft_entity_remove(t.world, t.root[0], t.prefab));
    check_group(&t, 0, false);
    CHECK_OK(weft_entity_set(t.world, t.root[1], t.prefab, NULL, 0));
    check_group(&t, 1, true);
    CHECK_OK(weft_entity_add(t.world, t.member[0][3], t.prefab)); /* no root: no group */
    CHECK(!weft_entity_has(t.world, t.root[0], t.prefab));
    end(&t);
}

PLAIN_TEST(a_member_that_comes_late_gets_the_tag_when_it_is_added_again)
{
    bed t;
    weft_entity late;
    begin(&t, 1);
    CHECK_OK(weft_entity_add(t.world, t.root[0], t.prefab));
    CHECK_OK(weft_entity_create_many(t.world, WEFT_ARCHETYPE(t.world, t.a), 1, &late));
    CHECK_OK(test_buffer_append(t.world, t.group, t.root[0], &late, 1));
    CHECK(!weft_entity_has(t.world, late, t.prefab));
    CHECK_OK(weft_entity_add(t.world, t.root[0], t.prefab));
    CHECK(weft_entity_has(t.world, late, t.prefab));
    check_group(&t, 0, true);
    for (uint32_t by_many = 0; by_many < 2; by_many++) { /* any call that adds */
        CHECK_OK(weft_entity_create_many(t.world, WEFT_ARCHETYPE(t.world, t.a), 1, &late));
        CHECK_OK(test_buffer_append(t.world, t.group, t.root[0], &late, 1));
        CHECK_OK(by_many ? weft_entity_set_many(t.world, t.root, 1, t.prefab, NULL, 0)
                         : weft_entity_set(t.world, t.root[0], t.prefab, NULL, 0));
        CHECK(weft_entity_has(t.world, late, t.prefab));
    }
    end(&t);
}

PLAIN_TEST(arrays_and_archetypes_go_for_the_members)
{
    bed t;
    begin(&t, 3);
    const weft_component add[] = {t.prefab, t.mark}, b = t.b;
    CHECK_OK(weft_entity_change_many(
        t.world, t.root, 2,
        &(weft_change_desc){.add = add, .add_count = 2, .remove = &b, .remove_count = 1}));
    check_group(&t, 0, true);
    check_group(&t, 1, true);
    check_group(&t, 2, false);
    CHECK(weft_entity_has(t.world, t.root[1], t.mark)); /* the rest is for those named only */
    CHECK(!weft_entity_has(t.world, t.member[1][0], t.mark));
    CHECK(weft_entity_has(t.world, t.member[1][1], t.b));
    CHECK_OK(weft_entity_change_many(t.world, t.root, 2,
                                     &(weft_change_desc){.remove = add, .remove_count = 2}));
    check_group(&t, 0, false);
    CHECK_OK(weft_entity_set_many(t.world, t.root, 3, t.prefab, NULL, 0));
    for (uint32_t g = 0; g < 3; g++) check_group(&t, g, true);
    weft_component list[] = {t.a, t.group, t.prefab};
    CHECK_OK(
        weft_entity_set_archetype(t.world, t.root[0], weft_archetype_create(t.world, list, 2)));
    check_group(&t, 0, false);
    CHECK_OK(
        weft_entity_set_archetype(t.world, t.root[0], weft_archetype_create(t.world, list, 3)));
    check_group(&t, 0, true);
    end(&t);
}

PLAIN_TEST(query_wide_changes_go_for_the_members)
{
    bed t;
    begin(&t, 4);
    CHECK_OK(weft_query_add(t.world, t.roots, t.prefab));
    for (uint32_t g = 0; g < 4; g++) check_group(&t, g, true);
    CHECK_OK(weft_query_remove(t.world, t.roots, t.prefab));
    for (uint32_t g = 0; g < 4; g++) check_group(&t, g, false);
    CHECK_OK(weft_query_set(t.world, t.roots, t.prefab, NULL, 0));
    for (uint32_t g = 0; g < 4; g++) check_group(&t, g, true);
    CHECK_U64(weft_query_count(t.world, t.visible), 0);
    end(&t);
}

/* `count` commands decide whether they are folded. */
static void record_and_check(uint32_t groups, uint32_t others)
{
    bed t;
    weft_recorder *commands;
    weft_entity extra;
    begin(&t, groups);
    CHECK_OK(weft_recorder_create(t.world, &commands));
    for (uint32_t g = 0; g < groups; g++)
        CHECK_OK(weft_recorder_add(commands, t.root[g], t.prefab));
    for (uint32_t i = 0; i < others; i++) {
        CHECK_OK(weft_entity_create_many(t.world, WEFT_ARCHETYPE(t.world, t.a), 1, &extra));
        CHECK_OK(weft_recorder_add(commands, extra, t.mark));
    }
    CHECK_OK(weft_recorder_play(commands));
    for (uint32_t g = 0; g < groups; g++) check_group(&t, g, true);
    for (uint32_t g = 0; g < groups; g += 2)
        CHECK_OK(weft_recorder_remove(commands, t.root[g], t.prefab));
    for (uint32_t i = 0; i < others; i++) CHECK_OK(weft_recorder_remove(commands, extra, t.mark));
    CHECK_OK(weft_recorder_query_add(commands, t.visible, t.mark));
    CHECK_OK(weft_recorder_play(commands));
    for (uint32_t g = 0; g < groups; g++) check_group(&t, g, g % 2 != 0);
    CHECK_OK(weft_recorder_query_add(commands, t.roots, t.prefab));
    CHECK_OK(weft_recorder_play(commands));
    for (uint32_t g = 0; g < groups; g++) check_group(&t, g, true);
    weft_recorder_destroy(commands);
    end(&t);
}

PLAIN_TEST(recorded_changes_go_for_the_members_few_or_many)
{
    record_and_check(2, 0);
    record_and_check(GROUPS, 200);
}

PLAIN_TEST(a_group_made_by_commands_follows_when_it_is_filled_first)
{
    bed t;
    weft_recorder *commands;
    begin(&t, 0);
    CHECK_OK(weft_recorder_create(t.world, &commands));
    weft_archetype plain = weft_archetype_create(t.world, &t.a, 1);
    for (uint32_t g = 0; g < 60; g++) {
        weft_entity group[3];
        for (uint32_t i = 0; i < 3; i++) group[i] = weft_recorder_create_entity(commands, plain);
        CHECK_OK(weft_recorder_append(commands, group[0], t.group, group, 3));
        CHECK_OK(weft_recorder_add(commands, group[0], t.prefab));
    }
    CHECK_OK(weft_recorder_play(commands));
    CHECK_U64(weft_query_count(t.world, t.visible), 0);
    CHECK_U64(weft_query_count(t.world, t.all), 180);
    weft_recorder_destroy(commands);
    end(&t);
}

PLAIN_TEST(instances_are_visible_with_all_their_members)
{
    bed t;
    weft_entity copies[7];
    begin(&t, 1);
    CHECK_OK(weft_entity_add(t.world, t.root[0], t.prefab));
    CHECK_OK(weft_entity_instantiate(t.world, t.root[0], 7, copies));
    CHECK_U64(weft_query_count(t.world, t.visible), 7 * (1 + MEMBERS));
    for (uint32_t i = 0; i < 7; i++) {
        const weft_buffer *group = weft_entity_read(t.world, copies[i], t.group);
        const weft_entity *members = weft_buffer_read(group);
        CHECK_U64(group->count, 1 + MEMBERS);
        for (uint32_t m = 0; m < group->count; m++)
            CHECK(!weft_entity_has(t.world, members[m], t.prefab));
    }
    check_group(&t, 0, true);
    end(&t);
}

/* ---- a naive model ---- */

enum { POOL = 60 };

typedef struct model {
    weft_entity entity[POOL];
    bool has_group[POOL], is_prefab[POOL], has_mark[POOL], is_alive[POOL];
    uint32_t group[POOL][8], group_count[POOL];
} model;

/* Groups of members, too, each once. */
static void model_follow(model *m, uint32_t e, bool is_added, bool seen[POOL])
{
    if (seen[e] || !m->is_alive[e]) return;
    seen[e] = true;
    m->is_prefab[e] = is_added;
    for (uint32_t i = 0; m->has_group[e] && i < m->group_count[e]; i++)
        model_follow(m, m->group[e][i], is_added, seen);
}

static void model_tag(model *m, uint32_t e, bool is_added)
{
    bool seen[POOL] = {false};
    model_follow(m, e, is_added, seen);
}

static void model_open(bed *t, model *m, test_random *random)
{
    for (uint32_t e = 0; e < POOL; e++) {
        weft_component list[3] = {t->a, t->b, t->group};
        uint32_t count = 1 + (uint32_t)test_random_below(random, 3);
        CHECK_OK(weft_entity_create_many(t->world, weft_archetype_create(t->world, list, count), 1,
                                         &m->entity[e]));
        m->has_group[e] = count == 3;
        m->is_alive[e] = true;
    }
    for (uint32_t e = 0; e < POOL; e++) {
        if (!m->has_group[e]) continue;
        m->group_count[e] = (uint32_t)test_random_below(random, 8);
        for (uint32_t i = 0; i < m->group_count[e]; i++) {
            m->group[e][i] = i == 0 ? e : (uint32_t)test_random_below(random, POOL);
            CHECK_OK(test_buffer_append(t->world, t->group, m->entity[e],
                                        &m->entity[m->group[e][i]], 1));
        }
    }
}

static void check_model(const bed *t, const model *m)
{
    uint64_t visible = 0;
    for (uint32_t e = 0; e < POOL; e++) {
        CHECK(weft_entity_is_alive(t->world, m->entity[e]) == m->is_alive[e]);
        if (!m->is_alive[e]) continue;
        CHECK(weft_entity_has(t->world, m->entity[e], t->prefab) == m->is_prefab[e]);
        CHECK(weft_entity_has(t->world, m->entity[e], t->mark) == m->has_mark[e]);
        visible += !m->is_prefab[e];
    }
    CHECK_U64(weft_query_count(t->world, t->visible), visible);
    CHECK_OK(weft_world_validate(t->world));
}

/* Tags some living entities in an array, with the mark or without. */
static void change_array(const bed *t, model *m, test_random *random)
{
    weft_entity list[10];
    uint32_t chosen[10], count = 0;
    bool is_added = test_random_below(random, 2) == 0,
         is_marked = test_random_below(random, 2) == 0;
    for (uint32_t i = 0; i < 10; i++) {
        uint32_t e = (uint32_t)test_random_below(random, POOL);
        if (!m->is_alive[e]) continue;
        chosen[count] = e;
        list[count++] = m->entity[e];
    }
    weft_component two[] = {t->prefab, t->mark};
    CHECK_OK(
        weft_entity_change_many(t->world, list, count,
                                &(weft_change_desc){.add = two,
                                                    .add_count = is_added ? 1 + is_marked : 0,
                                                    .remove = two,
                                                    .remove_count = is_added ? 0 : 1 + is_marked}));
    for (uint32_t i = 0; i < count; i++) {
        model_tag(m, chosen[i], is_added);
        if (is_marked) m->has_mark[chosen[i]] = is_added;
    }
}

static void change_query(const bed *t, model *m, bool is_added)
{
    if (is_added)
        CHECK_OK(weft_query_add(t->world, t->roots, t->prefab));
    else
        CHECK_OK(weft_query_remove(t->world, t->roots, t->prefab));
    for (uint32_t e = 0; e < POOL; e++)
        if (m->is_alive[e] && m->has_group[e]) model_tag(m, e, is_added);
}

static void change_one(const bed *t, model *m, uint32_t e, uint32_t what)
{
    if (!m->is_alive[e]) return;
    if (what == 0) {
        CHECK_OK(weft_entity_add(t->world, m->entity[e], t->prefab));
        model_tag(m, e, true);
    } else if (what == 1) {
        CHECK_OK(weft_entity_remove(t->world, m->entity[e], t->prefab));
        model_tag(m, e, false);
    } else if (!m->has_group[e]) { /* destroying a root would take its members along */
        CHECK_OK(weft_entity_destroy(t->world, m->entity[e]));
        m->is_alive[e] = false;
    }
}

static void run_model(uint64_t seed)
{
    test_random random = test_random_init(seed);
    bed t;
    model m = {0};
    begin(&t, 0);
    model_open(&t, &m, &random);
    for (uint32_t step = 0; step < 40; step++) {
        uint32_t e = (uint32_t)test_random_below(&random, POOL);
        uint32_t what = (uint32_t)test_random_below(&random, 10);
        if (what < 6)
            change_one(&t, &m, e, what % 2);
        else if (what == 6)
            change_one(&t, &m, e, 2);
        else if (what == 7)
            change_query(&t, &m, e % 2 == 0);
        else
            change_array(&t, &m, &random);
        check_model(&t, &m);
    }
    end(&t);
}

PLAIN_TEST(random_tags_are_where_a_naive_model_has_them)
{
    for (uint64_t seed = 1; seed <= 40; seed++) run_model(seed);
}

static weft_result tag_all(const bed *t)
{
    const weft_component add[] = {t->prefab, t->mark};
    return weft_entity_change_many(t->world, t->root, GROUPS,
                                   &(weft_change_desc){.add = add, .add_count = 2});
}

PLAIN_TEST(a_refused_allocation_leaves_all_groups_as_they_were)
{
    for (uint64_t k = 1;; k++) {
        bed t;
        begin(&t, GROUPS);
        uint64_t before = weft_world_hash(t.world, WEFT_HASH_CONTENT);
        test_memory_fail(&t.memory, k, false);
        weft_result result = tag_all(&t);
        test_memory_fail(&t.memory, 0, false);
        if (result != WEFT_OK) {
            CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
            CHECK_U64(weft_world_hash(t.world, WEFT_HASH_CONTENT), before);
        }
        for (uint32_t g = 0; g < GROUPS; g++) check_group(&t, g, result == WEFT_OK);
        end(&t);
        if (result == WEFT_OK) break;
    }
}
