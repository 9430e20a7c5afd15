/* SPDX-License-Identifier: MIT */
/* test_inspect.c: handles compared, entities by their position in a query, where entities are and
 * what archetypes take. */
#include "query_fixture.h"

#include <criterion/criterion.h>

Test(inspect, handles_are_equal_in_both_fields_and_null_in_none)
{
    weft_entity a = {3, 1}, b = {3, 3}, c = {4, 1};
    CHECK(weft_entity_equal(a, a) && !weft_entity_equal(a, b) && !weft_entity_equal(a, c));
    CHECK(weft_entity_is_null((weft_entity){0}) && !weft_entity_is_null(a));
    CHECK(!weft_entity_is_null((weft_entity){0, 1}) && !weft_entity_is_null((weft_entity){1, 0}));
}

Test(inspect, an_element_of_indexed_access_has_a_handle)
{
    fixture f;
    fixture_open(&f, 3);
    weft_entity e[40], list[40];
    FIXTURE_CREATE(&f, 20, e, f.a);
    FIXTURE_CREATE(&f, 20, e + 20, f.a, f.l);
    weft_query query = FIXTURE_QUERY(&f, {f.a, WEFT_WRITE});
    CHECK_U64(weft_query_entities(f.world, query, list, 40), 40);
    weft_indexed indexed;
    CHECK_OK(weft_indexed_open(f.world, query, 0, &indexed));
    for (uint64_t i = 0; i < 40; i++) {
        uint64_t at = i * 17 % 40;
        CHECK(weft_entity_equal(weft_indexed_entity(&indexed, at), list[at]));
        CHECK_POINTER(weft_indexed_read(&indexed, at), weft_entity_read(f.world, list[at], f.a));
    }
    CHECK(weft_entity_is_null(weft_indexed_entity(&indexed, 40)));
    CHECK_OK(weft_entity_destroy(f.world, e[0]));
    CHECK(weft_entity_is_null(weft_indexed_entity(&indexed, 1)));
    weft_indexed_close(&indexed);
    CHECK(weft_entity_is_null(weft_indexed_entity(&indexed, 0)));
    fixture_close(&f);
}

Test(inspect, a_place_says_chunk_and_row)
{
    fixture f;
    fixture_open(&f, 4);
    weft_entity e[10];
    FIXTURE_CREATE(&f, 10, e, f.a, f.l);
    for (uint32_t i = 0; i < 10; i++) {
        weft_entity_place place;
        CHECK_OK(weft_entity_place_get(f.world, e[i], &place, sizeof place));
        CHECK_U64(place.archetype.id, weft_entity_archetype(f.world, e[i]).id);
        CHECK_U64(place.chunk, i / 4);
        CHECK_U64(place.row, i % 4);
        CHECK_U64(place.chunk_capacity, 4);
        CHECK_U64(place.chunk_rows, i < 8 ? 4 : 2);
    }
    weft_entity_place place;
    CHECK_OK(weft_entity_destroy(f.world, e[0]));
    CHECK_RESULT(weft_entity_place_get(f.world, e[0], &place, sizeof place), WEFT_STALE_ENTITY);
    CHECK_U64(place.archetype.id, 0);
    CHECK_RESULT(weft_entity_place_get(f.world, e[1], NULL, sizeof place), WEFT_INVALID_ARGUMENT);
    fixture_close(&f);
}

Test(inspect, figures_of_archetypes_add_up)
{
    fixture f;
    fixture_open(&f, 4);
    weft_entity e[10];
    FIXTURE_CREATE(&f, 10, e, f.a, f.b, f.s, f.l);
    int32_t team = 3;
    CHECK_OK(weft_entity_set_shared_many(f.world, e, 3, f.s, &team));
    weft_archetype_stats stats;
    weft_archetype archetype = weft_entity_archetype(f.world, e[0]);
    CHECK_OK(weft_archetype_stats_get(f.world, archetype, &stats, sizeof stats));
    CHECK_U64(stats.entities, 10);
    CHECK_U64(stats.row_bytes, 16); /* the handle and two times four bytes */
    CHECK_U64(stats.bytes_used, 160);
    CHECK_U64(stats.bytes_used + stats.bytes_wasted, stats.bytes);
    CHECK_U64(stats.tuples, 2);
    CHECK_U64(stats.capacity, UINT64_C(4) * stats.chunks);
    CHECK(stats.chunks >= 3 && stats.bytes >= stats.chunks * 256 && stats.bytes_metadata != 0);
    CHECK_OK(weft_entity_destroy_many(f.world, e, 10));
    CHECK_OK(weft_archetype_stats_get(f.world, archetype, &stats, sizeof stats));
    CHECK_U64(stats.entities + stats.capacity + stats.bytes + stats.chunks + stats.tuples, 0);
    CHECK_RESULT(weft_archetype_stats_get(f.world, (weft_archetype){999}, &stats, sizeof stats),
                 WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_archetype_stats_get(f.world, archetype, NULL, 0), WEFT_INVALID_ARGUMENT);
    weft_world_stats all;
    weft_world_stats_get(f.world, &all, sizeof all);
    for (uint32_t i = 0; i < all.archetypes; i++)
        CHECK_OK(
            weft_archetype_stats_get(f.world, weft_archetype_at(f.world, i), &stats, sizeof stats));
    CHECK_U64(weft_archetype_at(f.world, (uint32_t)all.archetypes).id, 0);
    fixture_close(&f);
}

Test(set_many, values_reach_their_entities_whether_they_had_the_component_or_not)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[100];
    int32_t values[101];
    FIXTURE_CREATE(&f, 50, e, f.a);
    FIXTURE_CREATE(&f, 50, e + 50, f.a, f.b);
    for (int32_t i = 0; i < 100; i++) values[i] = 1000 + i;
    CHECK_OK(weft_entity_set_many(f.world, e, 100, f.b, values, sizeof values[0]));
    for (uint32_t i = 0; i < 100; i++)
        CHECK_I64(*(const int32_t *)weft_entity_read(f.world, e[i], f.b), values[i]);
    weft_entity twice[] = {e[3], e[4], e[3]};
    CHECK_OK(weft_entity_set_many(f.world, twice, 3, f.c, values, sizeof values[0]));
    CHECK_I64(*(const int32_t *)weft_entity_read(f.world, e[3], f.c), 1002);
    CHECK_I64(*(const int32_t *)weft_entity_read(f.world, e[4], f.c), 1001);
    CHECK_OK(weft_entity_set_many(f.world, e, 100, f.t, NULL, 0));
    CHECK(weft_entity_has(f.world, e[99], f.t));
    CHECK_OK(weft_entity_set_many(f.world, NULL, 0, f.b, NULL, sizeof values[0]));
    fixture_close(&f);
}

Test(set_many, a_refused_call_changes_nothing)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[4];
    int32_t values[4] = {1, 2, 3, 4};
    FIXTURE_CREATE(&f, 4, e, f.a);
    weft_world *world = f.world;
    uint64_t before = weft_world_hash(world, WEFT_HASH_CONTENT);
    weft_entity dead[] = {e[0], e[1], {77, 1}};
    CHECK_RESULT(weft_entity_set_many(world, dead, 3, f.b, values, 4), WEFT_STALE_ENTITY);
    CHECK_RESULT(weft_entity_set_many(world, dead, 3, f.a, values, 4), WEFT_STALE_ENTITY);
    CHECK_RESULT(weft_entity_set_many(world, e, 4, f.b, values, 8), WEFT_TYPE_MISMATCH);
    CHECK_RESULT(weft_entity_set_many(world, e, 4, f.b, NULL, 4), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_entity_set_many(world, NULL, 4, f.b, values, 4), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_entity_set_many(world, e, 4, f.s, values, 4), WEFT_TYPE_MISMATCH);
    CHECK_RESULT(weft_entity_set_many(world, e, 4, (weft_component){99}, values, 4),
                 WEFT_BAD_HANDLE);
    weft_cursor cursor = weft_query_begin(world, FIXTURE_QUERY(&f, {f.a}));
    CHECK(weft_query_next(&cursor)); /* adding is refused in a loop, setting is fine */
    CHECK_RESULT(weft_entity_set_many(world, e, 4, f.b, values, 4), WEFT_WRONG_PHASE);
    weft_query_end(&cursor);
    CHECK_U64(weft_world_hash(world, WEFT_HASH_CONTENT), before);
    cursor = weft_query_begin(world, FIXTURE_QUERY(&f, {f.a}));
    CHECK_OK(weft_entity_set_many(world, e, 4, f.a, values, 4));
    weft_query_end(&cursor);
    CHECK(weft_world_hash(world, WEFT_HASH_CONTENT) != before);
    fixture_close(&f);
}

/* ---- what there is, for tools ---- */

Test(inspect, occupancy_counts_chunks_by_how_full_they_are)
{
    fixture f;
    uint32_t bands[4];
    fixture_open(&f, 4);
    weft_entity e[11];
    FIXTURE_CREATE(&f, 11, e, f.a, f.l); /* chunks of 4, 4 and 3 rows */
    weft_archetype archetype = weft_entity_archetype(f.world, e[0]);
    CHECK_U64(weft_archetype_occupancy(f.world, archetype, bands, 4), 3);
    CHECK(bands[0] == 0 && bands[1] == 0 && bands[2] == 0 && bands[3] == 3);
    CHECK_OK(weft_entity_destroy(f.world, e[10]));
    CHECK_U64(weft_archetype_occupancy(f.world, archetype, bands, 4), 3);
    CHECK(bands[2] == 1 && bands[3] == 2);
    CHECK_U64(weft_archetype_occupancy(f.world, (weft_archetype){99}, bands, 4), 0);
    fixture_close(&f);
}

Test(inspect, a_part_of_a_name_finds_the_living_that_have_it)
{
    fixture f;
    fixture_open(&f, 4);
    weft_entity e[4], found[4];
    FIXTURE_CREATE(&f, 4, e, f.a);
    CHECK_U64(weft_entity_search(f.world, "", found, 4), 0);
    CHECK_OK(weft_entity_set_name(f.world, e[0], "Sun"));
    CHECK_OK(weft_entity_set_name(f.world, e[1], "sunflower"));
    CHECK_OK(weft_entity_set_name(f.world, e[2], "Moon"));
    CHECK_OK(weft_entity_set_name(f.world, e[3], "Sun"));
    CHECK_U64(weft_entity_search(f.world, "sUN", NULL, 0), 3);
    CHECK_U64(weft_entity_search(f.world, "oo", found, 4), 1);
    CHECK(weft_entity_equal(found[0], e[2]));
    CHECK_U64(weft_entity_search(f.world, "", found, 4), 4);
    CHECK_OK(weft_entity_destroy(f.world, e[1]));
    CHECK_U64(weft_entity_search(f.world, "sun", found, 1), 2);
    fixture_close(&f);
}

Test(inspect, queries_can_be_listed_with_their_terms)
{
    fixture f;
    fixture_open(&f, 4);
    weft_entity e[10];
    weft_query list[2];
    weft_term terms[2];
    weft_query_info info;
    FIXTURE_CREATE(&f, 10, e, f.a, f.x);
    CHECK_U64(weft_query_list(f.world, list, 2), 0);
    weft_query first = FIXTURE_QUERY(&f, {f.a, WEFT_WRITE}, {f.x, WEFT_READ, WEFT_NONE});
    weft_query second = FIXTURE_QUERY(&f, {f.a, WEFT_WRITE}, {f.x, WEFT_READ, WEFT_NONE});
    CHECK_U64(weft_query_list(f.world, list, 2), 2);
    CHECK(list[0].id == first.id && list[1].id == second.id);
    CHECK_U64(weft_query_terms(f.world, first, terms, 2), 2);
    CHECK(terms[0].component.id == f.a.id && terms[0].access == WEFT_WRITE);
    CHECK(terms[1].component.id == f.x.id && terms[1].match == WEFT_NONE);
    CHECK_OK(weft_query_filter_order(f.world, second, 1));
    CHECK_OK(weft_query_info_get(f.world, second, &info, sizeof info));
    CHECK(info.archetypes == 1 && info.rows == 10 && info.handles == 2 && info.change_filters == 1);
    CHECK_OK(weft_query_destroy(f.world, first));
    CHECK_U64(weft_query_list(f.world, list, 2), 1);
    CHECK_RESULT(weft_query_info_get(f.world, first, &info, sizeof info), WEFT_BAD_HANDLE);
    CHECK_U64(weft_query_terms(f.world, first, terms, 2), 0);
    fixture_close(&f);
}
