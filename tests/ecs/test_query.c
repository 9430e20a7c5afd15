/* SPDX-License-Identifier: MIT */
/* test_query.c: what queries match, share, count and refuse. */
#include "query_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

Test(query, each_match_kind_selects_by_components)
{
    fixture f;
    fixture_open(&f, 0);
    FIXTURE_CREATE(&f, 1, NULL, f.a);
    FIXTURE_CREATE(&f, 2, NULL, f.a, f.b);
    FIXTURE_CREATE(&f, 4, NULL, f.b, f.t);
    FIXTURE_CREATE(&f, 8, NULL, f.c);
    CHECK_U64(weft_query_count(f.world, FIXTURE_QUERY(&f, {f.a})), 3);
    CHECK_U64(weft_query_count(f.world, FIXTURE_QUERY(&f, {f.a}, {f.b})), 2);
    CHECK_U64(weft_query_count(f.world, FIXTURE_QUERY(&f, {f.b}, {f.t, .match = WEFT_NONE})), 2);
    CHECK_U64(weft_query_count(f.world, FIXTURE_QUERY(&f, {f.b}, {f.t, .match = WEFT_ABSENT})), 2);
    CHECK_U64(weft_query_count(
                  f.world, FIXTURE_QUERY(&f, {f.a, .match = WEFT_ANY}, {f.t, .match = WEFT_ANY})),
              7);
    CHECK_U64(weft_query_count(f.world, FIXTURE_QUERY(&f, {f.b, .match = WEFT_PRESENT})), 6);
    CHECK_U64(weft_query_count(f.world, FIXTURE_QUERY(&f, {f.b}, {f.a, .match = WEFT_OPTIONAL})),
              6);
    CHECK_U64(weft_query_count(
                  f.world, FIXTURE_QUERY(&f, {f.a, .match = WEFT_NONE}, {f.b, .match = WEFT_NONE})),
              8);
    fixture_close(&f);
}

Test(query, an_empty_description_matches_everything_but_prefabs_and_disabled_entities)
{
    fixture f;
    fixture_open(&f, 0);
    weft_component prefab = weft_component_prefab(f.world);
    weft_component disabled = weft_component_inactive(f.world);
    FIXTURE_CREATE(&f, 1, NULL, f.a);
    FIXTURE_CREATE(&f, 2, NULL, f.a, prefab);
    FIXTURE_CREATE(&f, 4, NULL, f.b, disabled);
    FIXTURE_CREATE(&f, 8, NULL, f.b, disabled, prefab);
    weft_query_desc desc = {.with_prefabs = false};
    CHECK_U64(weft_query_count(f.world, fixture_query(&f, &desc)), 1);
    desc.with_prefabs = true;
    CHECK_U64(weft_query_count(f.world, fixture_query(&f, &desc)), 3);
    desc.with_inactive = true;
    CHECK_U64(weft_query_count(f.world, fixture_query(&f, &desc)), 15);
    desc.with_prefabs = false;
    CHECK_U64(weft_query_count(f.world, fixture_query(&f, &desc)), 5);
    /* naming them includes them */
    CHECK_U64(weft_query_count(f.world, FIXTURE_QUERY(&f, {prefab})), 2);
    CHECK_U64(
        weft_query_count(f.world, FIXTURE_QUERY(&f, {f.b}, {disabled, .match = WEFT_OPTIONAL})), 4);
    fixture_close(&f);
}

Test(query, descriptions_are_or_ed_and_an_archetype_in_two_of_them_counts_once)
{
    fixture f;
    fixture_open(&f, 0);
    FIXTURE_CREATE(&f, 1, NULL, f.a);
    FIXTURE_CREATE(&f, 2, NULL, f.b);
    FIXTURE_CREATE(&f, 4, NULL, f.a, f.b);
    FIXTURE_CREATE(&f, 8, NULL, f.c);
    weft_query query = FIXTURE_QUERY(&f, {f.a}, {f.b, .alternative = 7});
    CHECK_U64(weft_query_count(f.world, query), 7);
    CHECK_U64(weft_query_archetypes(f.world, query, NULL, 0), 3);
    CHECK_U64(weft_query_archetypes(f.world, query, NULL, 4), 3);
    weft_query_end(NULL);
    query = FIXTURE_QUERY(&f, {f.a}, {f.b, .match = WEFT_NONE}, {f.c, .alternative = 1});
    CHECK_U64(weft_query_count(f.world, query), 9);
    FIXTURE_CREATE(&f, 16, NULL, f.a, f.c); /* appears later, in both */
    CHECK_U64(weft_query_count(f.world, query), 25);
    CHECK_U64(fixture_iterate(&f, query).rows, 25);
    fixture_close(&f);
}

Test(query, each_description_decides_its_own_enable_bits)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[4];
    FIXTURE_CREATE(&f, 4, e, f.x, f.y);
    CHECK_OK(weft_entity_enable(f.world, e[0], f.x, false));
    CHECK_OK(weft_entity_enable(f.world, e[1], f.y, false));
    CHECK_OK(weft_entity_enable(f.world, e[2], f.x, false));
    CHECK_OK(weft_entity_enable(f.world, e[2], f.y, false));
    weft_query query = FIXTURE_QUERY(&f, {f.x}, {f.y, .alternative = 1});
    CHECK_U64(weft_query_count(f.world, query), 3);
    CHECK(weft_query_matches(f.world, query, e[0]) && weft_query_matches(f.world, query, e[1]));
    CHECK(!weft_query_matches(f.world, query, e[2]));
    fixture_close(&f);
}

Test(query, equal_descriptions_share_their_cache_and_filters_belong_to_the_handle)
{
    fixture f;
    fixture_open(&f, 0);
    weft_world_stats before, after;
    weft_world_stats_get(f.world, &before, sizeof before);
    weft_query one = FIXTURE_QUERY(&f, {f.a}, {f.s, WEFT_NO_ACCESS});
    weft_query two = FIXTURE_QUERY(&f, {f.a}, {f.s, WEFT_NO_ACCESS});
    weft_query written = FIXTURE_QUERY(&f, {f.a, WEFT_WRITE}, {f.s, WEFT_NO_ACCESS});
    weft_world_stats_get(f.world, &after, sizeof after);
    CHECK(one.id != two.id && two.id != written.id);
    CHECK_U64(after.queries - before.queries, 2); /* access counts, the second handle does not */
    weft_entity e;
    FIXTURE_CREATE(&f, 1, &e, f.a, f.s);
    int32_t five = 5;
    CHECK_OK(weft_query_filter_shared(f.world, one, f.s, WEFT_FILTER_EQUAL, &five, 1));
    CHECK_U64(weft_query_count(f.world, one), 0);
    CHECK_U64(weft_query_count(f.world, two), 1);
    CHECK_OK(weft_query_destroy(f.world, one));
    CHECK_U64(weft_query_count(f.world, two), 1); /* its share lives on */
    fixture_close(&f);
}

Test(query, options_make_queries_different)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e;
    FIXTURE_CREATE(&f, 1, &e, f.x);
    CHECK_OK(weft_entity_enable(f.world, e, f.x, false));
    weft_query_desc desc = {.terms = {{f.x}}};
    weft_query strict = fixture_query(&f, &desc);
    desc.ignores_enabled = true;
    weft_query lax = fixture_query(&f, &desc);
    CHECK_U64(weft_query_count(f.world, strict), 0);
    CHECK_U64(weft_query_count(f.world, lax), 1);
    fixture_close(&f);
}

Test(query, archetypes_that_appear_later_are_matched_also_while_they_are_empty)
{
    fixture f;
    fixture_open(&f, 0);
    weft_query query = FIXTURE_QUERY(&f, {f.a}, {f.t, .match = WEFT_NONE});
    weft_query unkeyed = FIXTURE_QUERY(&f, {f.t, .match = WEFT_NONE});
    CHECK_U64(weft_query_archetypes(f.world, query, NULL, 0), 0);
    weft_component list[3] = {f.a, f.b, f.t};
    weft_archetype ab = weft_archetype_create(f.world, list, 2);
    weft_archetype abt = weft_archetype_create(f.world, list, 3);
    CHECK(ab.id != 0 && abt.id != 0);
    weft_archetype found[4];
    CHECK_U64(weft_query_archetypes(f.world, query, found, 4), 1);
    CHECK_U64(found[0].id, ab.id);
    CHECK(weft_query_is_empty(f.world, query));
    weft_entity e = weft_entity_create(f.world, ab);
    CHECK(weft_query_matches(f.world, query, e));
    CHECK_U64(weft_query_count(f.world, unkeyed), 1);
    CHECK_OK(weft_entity_add(f.world, e, f.t));
    CHECK(weft_query_is_empty(f.world, query) && weft_query_is_empty(f.world, unkeyed));
    fixture_close(&f);
}

Test(query, many_archetypes_and_many_queries_find_each_other)
{
    fixture f;
    fixture_open(&f, 0);
    weft_component tags[8];
    weft_query queries[256];
    for (uint32_t i = 0; i < 8; i++) {
        char name[8] = {'q', (char)('0' + i), 0};
        tags[i] = fixture_component(&f, name, 0, 0);
    }
    for (uint32_t set = 0; set < 256; set++) { /* every second query before the archetypes */
        weft_query_desc desc = {.with_prefabs = false};
        for (uint32_t i = 0, n = 0; i < 8; i++)
            if ((set >> i & 1) != 0) desc.terms[n++].component = tags[i];
        if (set % 2 == 0) queries[set] = fixture_query(&f, &desc);
        weft_component list[8];
        uint32_t count = 0;
        for (uint32_t i = 0; i < 8; i++)
            if ((set >> i & 1) != 0) list[count++] = tags[i];
        CHECK_OK(
            weft_entity_create_many(f.world, weft_archetype_create(f.world, list, count), 1, NULL));
        if (set % 2 != 0) queries[set] = fixture_query(&f, &desc);
    }
    for (uint32_t set = 0; set < 256; set++) {
        uint32_t supersets = 1u << (8 - (uint32_t)__builtin_popcount(set));
        CHECK_U64(weft_query_count(f.world, queries[set]), supersets);
        CHECK_U64(fixture_iterate(&f, queries[set]).rows, supersets);
    }
    fixture_close(&f);
}

Test(query, the_list_of_chunks_follows_every_structural_change)
{
    fixture f;
    fixture_open(&f, 2);
    weft_query query = FIXTURE_QUERY(&f, {f.a});
    weft_entity e[5];
    FIXTURE_CREATE(&f, 5, e, f.a, f.l); /* 2 + 2 + 1 */
    CHECK_U64(fixture_iterate(&f, query).runs, 3);
    weft_entity more;
    FIXTURE_CREATE(&f, 1, &more, f.a, f.l); /* into an existing chunk */
    CHECK_U64(fixture_iterate(&f, query).rows, 6);
    CHECK_OK(weft_entity_destroy(f.world, e[0]));
    CHECK_OK(weft_entity_destroy(f.world, e[1]));
    CHECK_U64(fixture_iterate(&f, query).rows, 4);
    CHECK_OK(weft_entity_remove(f.world, e[2], f.a));
    CHECK_U64(weft_query_count(f.world, query), 3);
    CHECK_OK(weft_entity_instantiate(f.world, e[3], 3, NULL));
    CHECK_U64(fixture_iterate(&f, query).rows, 6);
    while (weft_world_compact(f.world, 1000) != 0) {
    }
    CHECK_U64(fixture_iterate(&f, query).rows, 6);
    fixture_close(&f);
}

Test(query, values_are_read_and_written_in_iteration_order_and_stamped_only_when_written)
{
    fixture f;
    fixture_open(&f, 3);
    weft_entity e[10];
    FIXTURE_CREATE(&f, 10, e, f.a, f.l, f.x);
    for (int32_t i = 0; i < 10; i++) CHECK_OK(weft_entity_set(f.world, e[i], f.a, &i, sizeof i));
    CHECK_OK(weft_entity_enable(f.world, e[4], f.x, false));
    weft_query query = FIXTURE_QUERY(&f, {f.a}, {f.x});
    int32_t values[10] = {0};
    weft_entity handles[10];
    CHECK_U64(weft_query_read_values(f.world, query, f.a, values, 10), 9);
    CHECK_U64(weft_query_entities(f.world, query, handles, 10), 9);
    for (uint32_t i = 0; i < 9; i++) {
        CHECK_I64(values[i], i < 4 ? (int32_t)i : (int32_t)i + 1);
        CHECK_U64(handles[i].index, e[values[i]].index);
        values[i] *= 10;
    }
    int32_t two[2];
    CHECK_U64(weft_query_read_values(f.world, query, f.a, two, 2), 9); /* writes two, says nine */
    CHECK_I64(two[1], 1);
    weft_query changed = FIXTURE_QUERY(&f, {f.a});
    CHECK_OK(weft_query_filter_changed(f.world, changed, f.a,
                                       weft_world_advance_change_version(f.world)));
    CHECK_U64(weft_query_count(f.world, changed), 0);
    CHECK_RESULT(weft_query_write_values(f.world, query, f.a, values, 8), WEFT_INVALID_ARGUMENT);
    CHECK_U64(weft_query_count(f.world, changed), 0);
    CHECK_OK(weft_query_write_values(f.world, query, f.a, values, 9));
    CHECK_U64(weft_query_count(f.world, changed), 10);
    CHECK_I64(*(const int32_t *)weft_entity_read(f.world, e[9], f.a), 90);
    CHECK_I64(*(const int32_t *)weft_entity_read(f.world, e[4], f.a), 4); /* disabled: untouched */
    fixture_close(&f);
}

Test(query, copies_refuse_what_has_no_plain_values)
{
    fixture f;
    fixture_open(&f, 0);
    FIXTURE_CREATE(&f, 1, NULL, f.a, f.t, f.s);
    weft_query query = FIXTURE_QUERY(&f, {f.a}, {f.t}, {f.s});
    int32_t value;
    CHECK_U64(weft_query_read_values(f.world, query, f.t, &value, 1), 0);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_TYPE_MISMATCH);
    CHECK_U64(weft_query_read_values(f.world, query, f.b, &value, 1), 0);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_query_write_values(f.world, query, f.s, &value, 1), WEFT_TYPE_MISMATCH);
    fixture_close(&f);
}

Test(query, single_tells_none_from_several)
{
    fixture f;
    fixture_open(&f, 0);
    weft_query query = FIXTURE_QUERY(&f, {f.x});
    CHECK_U64(weft_query_single(f.world, query).index, 0);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_NOT_FOUND);
    weft_entity e[2];
    FIXTURE_CREATE(&f, 2, e, f.x);
    CHECK_U64(weft_query_single(f.world, query).version, 0);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_INVALID_ARGUMENT);
    CHECK_OK(weft_entity_enable(f.world, e[0], f.x, false));
    CHECK_U64(weft_query_single(f.world, query).index, e[1].index);
    fixture_close(&f);
}

Test(query, slices_know_their_first_row_and_position_whatever_filters_say)
{
    fixture f;
    fixture_open(&f, 3);
    weft_entity e[9];
    FIXTURE_CREATE(&f, 9, e, f.a, f.l);
    weft_query all = FIXTURE_QUERY(&f, {f.a}), some = FIXTURE_QUERY(&f, {f.a});
    uint64_t expected = 0;
    weft_cursor cursor = weft_query_begin(f.world, all);
    for (uint32_t i = 0; weft_query_next(&cursor); i++) {
        CHECK_U64(cursor.slice.first, expected);
        CHECK_U64(cursor.slice.index, i);
        expected += cursor.slice.count;
    }
    CHECK_U64(expected, 9);
    CHECK_OK(
        weft_query_filter_changed(f.world, some, f.a, weft_world_advance_change_version(f.world)));
    CHECK(weft_entity_write(f.world, e[7], f.a) != NULL);
    cursor = weft_query_begin(f.world, some);
    CHECK(weft_query_next(&cursor));
    CHECK_U64(cursor.slice.first, 6); /* the third chunk, although it is the only one */
    CHECK_U64(cursor.slice.index, 2);
    CHECK(!weft_query_next(&cursor));
    fixture_close(&f);
}

Test(query, queries_with_more_terms_than_a_cursor_holds_work)
{
    enum { TERMS = 40 };
    fixture f;
    fixture_open(&f, 0);
    weft_component list[TERMS];
    weft_term more[TERMS] = {{.access = WEFT_READ}};
    for (uint32_t i = 0; i < TERMS; i++) {
        char name[8] = {'m', (char)('A' + i / 10), (char)('0' + i % 10), 0};
        list[i] = fixture_component(&f, name, 4, 0);
        more[i] = (weft_term){.component = list[i], .access = WEFT_WRITE};
    }
    CHECK_OK(
        weft_entity_create_many(f.world, weft_archetype_create(f.world, list, TERMS), 5, NULL));
    weft_query query =
        fixture_query(&f, &(weft_query_desc){.more_terms = more, .more_term_count = TERMS});
    weft_cursor cursor = weft_query_begin(f.world, query);
    CHECK(weft_query_next(&cursor));
    for (uint32_t i = 0; i < TERMS; i++) {
        int32_t *column = weft_slice_write(&cursor.slice, i);
        for (uint32_t row = 0; row < 5; row++) column[row] = (int32_t)i;
    }
    weft_query_end(&cursor); /* frees its columns when left early */
    int32_t values[5];
    CHECK_U64(weft_query_read_values(f.world, query, list[33], values, 5), 5);
    CHECK_I64(values[4], 33);
    fixture_close(&f);
}

Test(query, structure_cannot_change_while_a_loop_runs_and_can_after_it)
{
    fixture f;
    fixture_open(&f, 2);
    weft_entity e[4];
    FIXTURE_CREATE(&f, 4, e, f.a, f.l);
    weft_query query = FIXTURE_QUERY(&f, {f.a});
    weft_cursor outer = weft_query_begin(f.world, query);
    CHECK(weft_query_next(&outer));
    CHECK_U64(fixture_iterate(&f, query).rows, 4); /* loops nest */
    CHECK_RESULT(weft_entity_add(f.world, e[0], f.b), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_query_add(f.world, query, f.b), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_query_destroy(f.world, query), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_query_filter_reset(f.world, query), WEFT_WRONG_PHASE);
    CHECK_OK(weft_entity_set(f.world, e[0], f.a, &(int32_t){3}, 4)); /* values can */
    weft_query_end(&outer);
    weft_query_end(&outer); /* twice is fine */
    CHECK(!weft_query_next(&outer));
    CHECK_OK(weft_entity_add(f.world, e[0], f.b));
    fixture_close(&f);
}

Test(query, a_tag_change_of_all_rows_moves_nothing)
{
    fixture f;
    fixture_open(&f, 0);
    FIXTURE_CREATE(&f, 10000, NULL, f.a, f.b);
    FIXTURE_CREATE(&f, 500, NULL, f.a, f.c);
    weft_query query = FIXTURE_QUERY(&f, {f.a});
    weft_world_stats before, after;
    weft_world_stats_get(f.world, &before, sizeof before);
    CHECK_OK(weft_query_add(f.world, query, f.t));
    weft_world_stats_get(f.world, &after, sizeof after);
    CHECK_U64(after.bytes_moved - before.bytes_moved, 0);
    CHECK_U64(after.rows_moved - before.rows_moved, 0);
    CHECK_U64(weft_query_count(f.world, FIXTURE_QUERY(&f, {f.t})), 10500);
    CHECK_OK(weft_query_remove(f.world, query, f.t));
    weft_world_stats_get(f.world, &after, sizeof after);
    CHECK_U64(after.bytes_moved - before.bytes_moved, 0);
    CHECK_U64(weft_query_count(f.world, FIXTURE_QUERY(&f, {f.t})), 0);
    fixture_close(&f);
}

Test(query, a_query_wide_destruction_leaves_residues_of_cleanup_components)
{
    fixture f;
    fixture_open(&f, 0);
    weft_component cleanup = fixture_component(&f, "cleanup", 4, WEFT_CLEANUP);
    weft_entity e[3], plain[2];
    FIXTURE_CREATE(&f, 3, e, f.a, cleanup);
    FIXTURE_CREATE(&f, 2, plain, f.a);
    CHECK_OK(weft_entity_set(f.world, e[1], cleanup, &(int32_t){77}, 4));
    CHECK_OK(weft_query_destroy_entities(f.world, FIXTURE_QUERY(&f, {f.a})));
    CHECK(!weft_entity_is_alive(f.world, plain[0]) && !weft_entity_is_alive(f.world, e[1]));
    CHECK(!weft_entity_has(f.world, e[1], f.a));
    CHECK_I64(*(const int32_t *)weft_entity_read(f.world, e[1], cleanup), 77);
    weft_query residues = FIXTURE_QUERY(&f, {cleanup});
    CHECK_OK(weft_query_destroy_entities(f.world, residues)); /* again: nothing happens */
    CHECK_U64(weft_query_count(f.world, residues), 3);
    CHECK_OK(weft_query_remove(f.world, residues, cleanup));
    CHECK_U64(weft_query_count(f.world, residues), 0);
    CHECK(weft_entity_archetype(f.world, e[1]).id == 0);
    fixture_close(&f);
}

Test(query, chunk_values_are_reached_through_slices)
{
    fixture f;
    fixture_open(&f, 2);
    FIXTURE_CREATE(&f, 4, NULL, f.a, f.h, f.l);
    weft_query query = FIXTURE_QUERY(&f, {f.a}, {f.h, WEFT_WRITE});
    int32_t next = 1;
    weft_cursor cursor = weft_query_begin(f.world, query);
    while (weft_query_next(&cursor)) {
        int32_t *value = weft_slice_write_chunk(&cursor.slice, 1);
        CHECK_I64(*value, 0); /* new chunks start at zero */
        *value = next++;
    }
    CHECK_I64(next, 3);
    cursor = weft_query_begin(f.world, query);
    for (next = 1; weft_query_next(&cursor); next++)
        CHECK_I64(*(const int32_t *)weft_slice_read_chunk(&cursor.slice, 1), next);
    fixture_close(&f);
}

static void add_one(weft_slice *slice, void *user)
{
    (void)user;
    int32_t *values = weft_slice_write(slice, 0);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) values[i]++;
}

Test(query, a_loop_over_the_pool_visits_every_row_once)
{
    fixture f;
    fixture_open(&f, 0);
    FIXTURE_CREATE(&f, 5000, NULL, f.a);
    FIXTURE_CREATE(&f, 70, NULL, f.a, f.b);
    weft_query query = FIXTURE_QUERY(&f, {f.a, WEFT_WRITE});
    CHECK_OK(weft_query_each_parallel(f.world, query, add_one, NULL));
    static int32_t values[5070];
    CHECK_U64(weft_query_read_values(f.world, query, f.a, values, 5070), 5070);
    for (uint32_t i = 0; i < 5070; i++) CHECK_I64(values[i], 1);
    CHECK_RESULT(weft_query_each_parallel(f.world, query, NULL, NULL), WEFT_INVALID_ARGUMENT);
    fixture_close(&f);
}

Test(query, slices_of_a_cursor_reach_other_entities_and_resources)
{
    fixture f;
    fixture_open(&f, 0);
    weft_component resource = fixture_component(&f, "gravity", 4, WEFT_RESOURCE);
    weft_entity e[2];
    FIXTURE_CREATE(&f, 1, &e[0], f.a);
    FIXTURE_CREATE(&f, 1, &e[1], f.b);
    weft_cursor cursor = weft_query_begin(f.world, FIXTURE_QUERY(&f, {f.a}));
    CHECK(weft_query_next(&cursor));
    *(int32_t *)weft_slice_write_entity(&cursor.slice, e[1], f.b) = 12;
    CHECK_I64(*(const int32_t *)weft_slice_read_entity(&cursor.slice, e[1], f.b), 12);
    CHECK_POINTER(weft_slice_read_entity(&cursor.slice, e[1], f.a), NULL);
    *(int32_t *)weft_slice_write_resource(&cursor.slice, resource) = 9;
    CHECK_I64(*(const int32_t *)weft_slice_read_resource(&cursor.slice, resource), 9);
    weft_query_end(&cursor);
    fixture_close(&f);
}

/* The number of rows of the query in `user`, as a slice of another loop sees it. */
static void count_inside(weft_slice *slice, void *user)
{
    uint64_t *query_and_count = user;
    weft_query query = {(uint32_t)query_and_count[0], (uint32_t)(query_and_count[0] >> 32)};
    query_and_count[1] = weft_query_count(weft_slice_world(slice), query);
}

Test(query, questions_inside_a_parallel_loop_never_rebuild_a_list)
{
    fixture f;
    fixture_open(&f, 0);
    FIXTURE_CREATE(&f, 5, NULL, f.a);
    weft_query loop = FIXTURE_QUERY(&f, {f.a}), asked = FIXTURE_QUERY(&f, {f.a, WEFT_WRITE});
    uint64_t query_and_count[2] = {(uint64_t)asked.world << 32 | asked.id, 99};
    CHECK_OK(weft_query_each_parallel(f.world, loop, count_inside, query_and_count));
    CHECK_U64(query_and_count[1], 0); /* its list was never made: refused */
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_WRONG_PHASE);
    CHECK_U64(weft_query_count(f.world, asked), 5);
    CHECK_OK(weft_query_each_parallel(f.world, loop, count_inside, query_and_count));
    CHECK_U64(query_and_count[1], 5);
    fixture_close(&f);
}
