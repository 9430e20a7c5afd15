/* SPDX-License-Identifier: MIT */
/* test_names.c: names of entities: both ways, unique on request, copied to instances, in error
 * texts, in random order against a naive model, with refused allocations. */
#include "buffer_append.h"
#include "name_table.h"
#include "query_fixture.h"
#include "random.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static bool is_named(const fixture *f, weft_entity entity, const char *name)
{
    return strcmp(weft_entity_name(f->world, entity), name) == 0;
}

Test(names, an_entity_is_found_by_its_name_while_it_lives)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[3];
    FIXTURE_CREATE(&f, 3, e, f.a);
    CHECK(weft_entity_is_null(weft_entity_find(f.world, "hero")));
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_NOT_FOUND);
    CHECK_OK(weft_entity_set_name(f.world, e[2], "hero"));
    CHECK_OK(weft_entity_set_name(f.world, e[1], "hero"));
    CHECK(weft_entity_equal(weft_entity_find(f.world, "hero"), e[1])); /* the lowest index */
    CHECK_OK(weft_entity_destroy(f.world, e[1]));
    CHECK(weft_entity_equal(weft_entity_find(f.world, "hero"), e[2]));
    CHECK_OK(weft_entity_set_name(f.world, e[2], weft_entity_name(f.world, e[2])));
    CHECK(is_named(&f, e[2], "hero"));
    CHECK_OK(weft_entity_set_name(f.world, e[2], ""));
    CHECK(weft_entity_is_null(weft_entity_find(f.world, "hero")));
    CHECK(weft_entity_is_null(weft_entity_find(f.world, "")));
    CHECK(weft_entity_is_null(weft_entity_find(f.world, NULL)));
    char longer[100];
    memset(longer, 'x', sizeof longer);
    longer[99] = '\0';
    CHECK_OK(weft_entity_set_name(f.world, e[0], longer));
    CHECK(weft_entity_equal(weft_entity_find(f.world, longer), e[0])); /* cut alike */
    fixture_close(&f);
}

Test(names, a_unique_name_is_refused_while_another_living_entity_has_it)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[2];
    FIXTURE_CREATE(&f, 2, e, f.a);
    CHECK_OK(weft_entity_set_name_unique(f.world, e[0], "one"));
    CHECK_OK(weft_entity_set_name_unique(f.world, e[0], "one")); /* its own */
    CHECK_OK(weft_entity_set_name(f.world, e[1], "other"));
    CHECK_RESULT(weft_entity_set_name_unique(f.world, e[1], "one"), WEFT_ALREADY_EXISTS);
    CHECK(weft_entity_equal(weft_world_error(f.world)->entity, e[0]));
    CHECK(is_named(&f, e[1], "other"));
    CHECK_OK(weft_entity_destroy(f.world, e[0]));
    CHECK_OK(weft_entity_set_name_unique(f.world, e[1], "one"));
    CHECK_OK(weft_entity_set_name_unique(f.world, e[1], NULL));
    CHECK(is_named(&f, e[1], ""));
    CHECK_RESULT(weft_entity_set_name_unique(f.world, e[0], "two"), WEFT_STALE_ENTITY);
    fixture_close(&f);
}

Test(names, instances_have_the_names_of_their_originals)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity group[3], copies[50];
    weft_component linked = weft_component_linked_group(f.world);
    FIXTURE_CREATE(&f, 3, group, f.a);
    CHECK_OK(weft_entity_add(f.world, group[0], linked));
    CHECK_OK(test_buffer_append(f.world, linked, group[0], group, 3));
    CHECK_OK(weft_entity_set_name(f.world, group[0], "tank"));
    CHECK_OK(weft_entity_set_name(f.world, group[2], "barrel"));
    CHECK_OK(weft_entity_instantiate(f.world, group[0], 50, copies));
    for (uint32_t i = 0; i < 50; i++) {
        const weft_buffer *buffer = weft_entity_read(f.world, copies[i], linked);
        const weft_entity *members = weft_buffer_read(buffer);
        CHECK(is_named(&f, copies[i], "tank"));
        CHECK(is_named(&f, members[1], ""));
        CHECK(is_named(&f, members[2], "barrel"));
    }
    CHECK(weft_entity_equal(weft_entity_find(f.world, "tank"), group[0]));
    fixture_close(&f);
}

Test(names, error_texts_say_the_name_beside_the_handle)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e;
    FIXTURE_CREATE(&f, 1, &e, f.a);
    CHECK_OK(weft_entity_set_name(f.world, e, "Ada"));
    CHECK_POINTER(weft_entity_read(f.world, e, f.b), NULL);
    CHECK(strstr(weft_world_error(f.world)->text, "0:1 \"Ada\"") != NULL);
    CHECK_OK(weft_entity_destroy(f.world, e));
    CHECK_RESULT(weft_entity_destroy(f.world, e), WEFT_STALE_ENTITY); /* what it was called */
    CHECK(strstr(weft_world_error(f.world)->text, "0:1 \"Ada\"") != NULL);
    fixture_close(&f);
}

Test(names, names_may_be_given_in_a_loop_of_the_owner)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e;
    FIXTURE_CREATE(&f, 1, &e, f.a);
    weft_cursor cursor = weft_query_begin(f.world, FIXTURE_QUERY(&f, {f.a}));
    CHECK_OK(weft_entity_set_name(f.world, e, "fine")); /* the owner may, no row moves */
    weft_query_end(&cursor);
    fixture_close(&f);
}

/* ---- a naive model ---- */

enum { POOL = 120, NAMES = 12 };

typedef struct model {
    weft_entity entity[POOL];
    uint32_t name[POOL]; /* 0: none */
} model;

static const char *text_of(uint32_t name, char *text)
{
    sprintf(text, "name %u", name);
    return name == 0 ? "" : text;
}

static void check_model(const fixture *f, const model *m)
{
    char text[32];
    for (uint32_t i = 0; i < POOL; i++) CHECK(is_named(f, m->entity[i], text_of(m->name[i], text)));
    for (uint32_t name = 1; name <= NAMES; name++) {
        weft_entity lowest = {0};
        for (uint32_t i = 0; i < POOL; i++)
            if (m->name[i] == name && (lowest.version == 0 || m->entity[i].index < lowest.index))
                lowest = m->entity[i];
        CHECK(weft_entity_equal(weft_entity_find(f->world, text_of(name, text)), lowest));
    }
}

static bool has_other(const model *m, uint32_t i, uint32_t name)
{
    for (uint32_t k = 0; k < POOL && name != 0; k++)
        if (k != i && m->name[k] == name) return true;
    return false;
}

static void change_model(fixture *f, model *m, test_random *random)
{
    char text[32];
    uint32_t i = (uint32_t)test_random_below(random, POOL);
    uint32_t name = (uint32_t)test_random_below(random, NAMES + 1);
    weft_entity copy;
    switch (test_random_below(random, 5)) {
    case 0:
        CHECK_OK(weft_entity_destroy(f->world, m->entity[i]));
        m->name[i] = 0;
        FIXTURE_CREATE(f, 1, &m->entity[i], f->a);
        break;
    case 1:
        CHECK_OK(weft_entity_instantiate(f->world, m->entity[i], 1, &copy));
        CHECK_OK(weft_entity_destroy(f->world, m->entity[name]));
        m->entity[name] = copy;
        m->name[name] = m->name[i];
        break;
    case 2:
        CHECK_RESULT(weft_entity_set_name_unique(f->world, m->entity[i], text_of(name, text)),
                     has_other(m, i, name) ? WEFT_ALREADY_EXISTS : WEFT_OK);
        if (!has_other(m, i, name)) m->name[i] = name;
        break;
    default:
        CHECK_OK(weft_entity_set_name(f->world, m->entity[i], text_of(name, text)));
        m->name[i] = name;
    }
}

Test(names, random_names_are_what_a_naive_model_says)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        test_random random = test_random_init(seed);
        fixture f;
        model m = {0};
        fixture_open(&f, 0);
        FIXTURE_CREATE(&f, POOL, m.entity, f.a);
        for (uint32_t i = 0; i < 300; i++) {
            change_model(&f, &m, &random);
            if (i % 10 == 0) check_model(&f, &m);
        }
        check_model(&f, &m);
        fixture_close(&f);
    }
}

Test(names, many_names_come_and_go)
{
    fixture f;
    char text[32];
    static weft_entity e[5000];
    fixture_open(&f, 0);
    for (uint32_t round = 0; round < 3; round++) {
        FIXTURE_CREATE(&f, 5000, e, f.a);
        for (uint32_t i = 0; i < 5000; i++)
            CHECK_OK(weft_entity_set_name(f.world, e[i], text_of(1 + i + round, text)));
        for (uint32_t i = 0; i < 5000; i += 7)
            CHECK(weft_entity_equal(weft_entity_find(f.world, text_of(1 + i + round, text)), e[i]));
        CHECK_OK(weft_entity_destroy_many(f.world, e, 5000));
        CHECK(weft_entity_is_null(weft_entity_find(f.world, text_of(100, text))));
    }
    fixture_close(&f);
}

/* Every allocation refused in turn, while a named group is instantiated. */
Test(names, a_refused_allocation_leaves_no_instance_and_no_name)
{
    for (uint64_t k = 1;; k++) {
        fixture f;
        weft_entity e, copies[20];
        fixture_open(&f, 0);
        FIXTURE_CREATE(&f, 1, &e, f.a);
        CHECK_OK(weft_entity_set_name(f.world, e, "original"));
        test_memory_fail(&f.memory, k, false);
        weft_result result = weft_entity_instantiate(f.world, e, 20, copies);
        bool is_over = f.memory.fail_at != 0;
        test_memory_fail(&f.memory, 0, false);
        weft_world_stats stats;
        weft_world_stats_get(f.world, &stats, sizeof stats);
        CHECK_U64(stats.entities, result == WEFT_OK ? 21 : 1);
        CHECK(is_named(&f, e, "original"));
        for (uint32_t i = 0; i < 20 && result == WEFT_OK; i++)
            CHECK(is_named(&f, copies[i], "original"));
        fixture_close(&f);
        if (is_over) break;
    }
}

Test(names, a_restore_gives_names_back_and_takes_later_ones_away)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[4], later, next;
    weft_snapshot *empty, *named, *same;
    CHECK_OK(weft_snapshot_take(f.world, NULL, &empty));
    FIXTURE_CREATE(&f, 4, e, f.a);
    CHECK_OK(weft_entity_set_name(f.world, e[0], "boss"));
    CHECK_OK(weft_entity_set_name(f.world, e[1], "boss"));
    CHECK_OK(weft_entity_set_name(f.world, e[2], "gate"));
    CHECK_OK(weft_snapshot_take(f.world, NULL, &named));
    CHECK_OK(weft_snapshot_take(f.world, named, &same));
    for (int round = 0; round < 3; round++) {
        const weft_snapshot *back = round == 1 ? same : named;
        CHECK_OK(weft_entity_set_name(f.world, e[0], round == 0 ? "renamed" : ""));
        CHECK_OK(weft_entity_destroy(f.world, e[1]));
        FIXTURE_CREATE(&f, 1, &later, f.a);
        CHECK_OK(weft_entity_set_name_unique(f.world, later, "bullet"));
        CHECK_OK(weft_entity_set_name(f.world, e[3], "bullet"));
        CHECK_OK(weft_snapshot_restore(f.world, back));
        CHECK(is_named(&f, e[0], "boss") && is_named(&f, e[1], "boss"));
        CHECK(is_named(&f, e[2], "gate") && is_named(&f, e[3], ""));
        CHECK(weft_entity_equal(weft_entity_find(f.world, "boss"), e[0]));
        CHECK(weft_entity_is_null(weft_entity_find(f.world, "bullet")));
        CHECK_U64(weft_entity_search(f.world, "", NULL, 0), 3);
        FIXTURE_CREATE(&f, 1, &next, f.a); /* has the handle of `later` */
        CHECK(is_named(&f, next, ""));
        CHECK_OK(weft_entity_set_name_unique(f.world, next, "bullet"));
        CHECK_OK(weft_entity_destroy(f.world, next));
    }
    CHECK_OK(weft_snapshot_restore(f.world, empty));
    CHECK_U64(weft_entity_search(f.world, "", NULL, 0), 0);
    CHECK_OK(weft_snapshot_restore(f.world, same));
    CHECK(is_named(&f, e[1], "boss"));
    weft_snapshot_destroy(empty);
    weft_snapshot_destroy(named);
    weft_snapshot_destroy(same);
    fixture_close(&f);
}

Test(names, names_of_the_dead_come_back_after_the_table_has_grown)
{
    for (uint32_t way = 0; way < 2; way++) {
        fixture f;
        char text[16];
        static weft_entity e[1000];
        weft_snapshot *snapshot;
        fixture_open(&f, 0);
        FIXTURE_CREATE(&f, 1000, e, f.a);
        for (uint32_t i = 0; i < 500; i++)
            CHECK_OK(weft_entity_set_name(f.world, e[i], text_of(i + 1, text)));
        CHECK_OK(weft_snapshot_take(f.world, NULL, &snapshot));
        CHECK_OK(weft_entity_destroy_many(f.world, e, 400));
        if (way == 0) CHECK_OK(weft__names_reserve(f.world, 5000, 0)); /* and no name is set */
        for (uint32_t i = 500; i < 1000 && way == 1; i++)
            CHECK_OK(weft_entity_set_name(f.world, e[i], text_of(i + 1, text)));
        CHECK_OK(weft_snapshot_restore(f.world, snapshot));
        for (uint32_t i = 0; i < 1000; i++)
            CHECK(is_named(&f, e[i], i < 500 ? text_of(i + 1, text) : ""));
        for (uint32_t i = 0; i < 500; i++)
            CHECK(weft_entity_equal(weft_entity_find(f.world, text_of(i + 1, text)), e[i]));
        weft_snapshot_destroy(snapshot);
        fixture_close(&f);
    }
}

/* Every allocation refused in turn, while names are put back. */
Test(names, a_refused_restore_leaves_the_names)
{
    for (uint64_t k = 1;; k++) {
        fixture f;
        weft_entity e[3];
        weft_snapshot *snapshot;
        fixture_open(&f, 0);
        FIXTURE_CREATE(&f, 3, e, f.a);
        CHECK_OK(weft_entity_set_name(f.world, e[0], "first"));
        CHECK_OK(weft_entity_set_name(f.world, e[1], "second"));
        CHECK_OK(weft_snapshot_take(f.world, NULL, &snapshot));
        CHECK_OK(weft_entity_set_name(f.world, e[0], "third"));
        test_memory_fail(&f.memory, k, false);
        weft_result result = weft_snapshot_restore(f.world, snapshot);
        bool is_over = f.memory.fail_at != 0;
        test_memory_fail(&f.memory, 0, false);
        CHECK(is_named(&f, e[0], result == WEFT_OK ? "first" : "third"));
        CHECK(is_named(&f, e[1], "second"));
        weft_snapshot_destroy(snapshot);
        fixture_close(&f);
        if (is_over) break;
    }
}
