/* SPDX-License-Identifier: MIT */
/* test_filter.c: shared, change and order filters, and who stamps which versions. */
#include "query_fixture.h"

#include "world_state.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>

/* A query over `a` and `b` that passes what changed in `a` since `since`. */
static weft_query changed_a(fixture *f, uint32_t since)
{
    weft_query query = FIXTURE_QUERY(f, {f->a});
    CHECK_OK(weft_query_filter_changed(f->world, query, f->a, since));
    return query;
}

Test(filter, the_first_run_sees_everything_and_own_writes_are_not_seen)
{
    fixture f;
    fixture_open(&f, 0);
    FIXTURE_CREATE(&f, 10, NULL, f.a);
    CHECK_U64(weft_query_count(f.world, changed_a(&f, 0)), 10);
    /* a run writes at the version in force, and remembers that version */
    uint32_t mine = weft_world_change_version(f.world);
    weft_cursor cursor = weft_query_begin(f.world, FIXTURE_QUERY(&f, {f.a, WEFT_WRITE}));
    while (weft_query_next(&cursor)) {
    }
    weft_query again = changed_a(&f, mine);
    CHECK_U64(weft_query_count(f.world, again), 0);
    weft_world_advance_change_version(f.world);
    cursor = weft_query_begin(f.world, FIXTURE_QUERY(&f, {f.a, WEFT_WRITE}));
    while (weft_query_next(&cursor)) {
    }
    CHECK_U64(weft_query_count(f.world, again), 10); /* another query's write */
    fixture_close(&f);
}

Test(filter, reading_stamps_nothing)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e;
    FIXTURE_CREATE(&f, 1, &e, f.a, f.b);
    weft_query query = changed_a(&f, weft_world_advance_change_version(f.world));
    weft_query both = FIXTURE_QUERY(&f, {f.a}, {f.b, WEFT_WRITE});
    CHECK_U64(fixture_iterate(&f, both).rows, 1); /* a is read, b is written */
    CHECK(weft_entity_read(f.world, e, f.a) != NULL);
    int32_t value;
    CHECK_U64(weft_query_read_values(f.world, both, f.a, &value, 1), 1);
    CHECK(weft_query_matches(f.world, both, e));
    CHECK_U64(weft_query_count(f.world, query), 0);
    fixture_close(&f);
}

Test(filter, every_writer_stamps)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e, other;
    FIXTURE_CREATE(&f, 1, &e, f.a, f.x, f.s);
    FIXTURE_CREATE(&f, 1, &other, f.a, f.b);
    weft_query query = changed_a(&f, weft_world_advance_change_version(f.world));
    CHECK_OK(weft_entity_set(f.world, e, f.a, &(int32_t){1}, 4));
    CHECK(weft_query_matches(f.world, query, e) && !weft_query_matches(f.world, query, other));
    query = changed_a(&f, weft_world_advance_change_version(f.world));
    CHECK(weft_entity_write(f.world, e, f.a) != NULL);
    CHECK(weft_query_matches(f.world, query, e));
    query = changed_a(&f, weft_world_advance_change_version(f.world));
    CHECK_OK(weft_query_set(f.world, FIXTURE_QUERY(&f, {f.s}), f.a, &(int32_t){1}, 4));
    CHECK(weft_query_matches(f.world, query, e) && !weft_query_matches(f.world, query, other));
    weft_query bits = FIXTURE_QUERY(&f, {f.x, .match = WEFT_PRESENT});
    CHECK_OK(
        weft_query_filter_changed(f.world, bits, f.x, weft_world_advance_change_version(f.world)));
    CHECK_U64(weft_query_count(f.world, bits), 0);
    CHECK_OK(weft_entity_enable(f.world, e, f.x, true)); /* also when it does not change */
    CHECK_U64(weft_query_count(f.world, bits), 1);
    weft_query shared = FIXTURE_QUERY(&f, {f.s});
    CHECK_OK(weft_query_filter_changed(f.world, shared, f.s,
                                       weft_world_advance_change_version(f.world)));
    CHECK_U64(weft_query_count(f.world, shared), 0);
    CHECK_OK(weft_entity_set_shared(f.world, e, f.s, &(int32_t){4}));
    CHECK_U64(weft_query_count(f.world, shared), 1);
    CHECK_OK(weft_query_filter_reset(f.world, shared));
    CHECK_OK(weft_query_filter_changed(f.world, shared, f.s,
                                       weft_world_advance_change_version(f.world)));
    CHECK_OK(weft_query_set_shared(f.world, bits, f.s, &(int32_t){4})); /* the same value */
    CHECK_U64(weft_query_count(f.world, shared), 0);
    CHECK_OK(weft_query_filter_reset(f.world, bits));
    CHECK_OK(weft_query_set_shared(f.world, bits, f.s, &(int32_t){5}));
    CHECK_U64(weft_query_count(f.world, shared), 1);
    fixture_close(&f);
}

Test(filter, adding_a_component_keeps_the_versions_of_the_others)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[4];
    FIXTURE_CREATE(&f, 4, e, f.a);
    weft_query query = changed_a(&f, weft_world_advance_change_version(f.world));
    weft_query everything = FIXTURE_QUERY(&f, {f.a});
    CHECK_OK(weft_entity_add(f.world, e[0], f.b));      /* a row moves */
    CHECK_OK(weft_entity_add(f.world, e[1], f.t));      /* a tag, one row */
    CHECK_OK(weft_query_add(f.world, everything, f.u)); /* a tag, header only */
    CHECK_OK(weft_query_add(f.world, everything, f.c)); /* rows move */
    CHECK_OK(weft_query_add(f.world, everything, f.s));
    CHECK_OK(weft_query_add(f.world, everything, f.h));
    CHECK_U64(weft_query_count(f.world, query), 0);
    weft_query added = FIXTURE_QUERY(&f, {f.c});
    CHECK_OK(weft_query_filter_changed(f.world, added, f.c,
                                       weft_world_advance_change_version(f.world) - 1));
    CHECK_U64(weft_query_count(f.world, added), 4); /* the new one is new */
    fixture_close(&f);
}

Test(filter, several_change_conditions_pass_when_any_component_changed)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e, other;
    FIXTURE_CREATE(&f, 1, &e, f.a, f.b);
    FIXTURE_CREATE(&f, 1, &other, f.a, f.c);
    uint32_t since = weft_world_advance_change_version(f.world);
    weft_query query = FIXTURE_QUERY(&f, {f.a}, {f.b, .match = WEFT_OPTIONAL});
    CHECK_OK(weft_query_filter_changed(f.world, query, f.a, since));
    CHECK_OK(weft_query_filter_changed(f.world, query, f.b, since));
    CHECK_U64(weft_query_count(f.world, query), 0);
    CHECK(weft_entity_write(f.world, e, f.b) != NULL);
    CHECK_U64(weft_query_count(f.world, query), 1);
    CHECK(weft_entity_write(f.world, other, f.c) != NULL); /* not asked for */
    CHECK_U64(weft_query_count(f.world, query), 1);
    CHECK(weft_entity_write(f.world, other, f.a) != NULL);
    CHECK_U64(weft_query_count(f.world, query), 2);
    fixture_close(&f);
}

Test(filter, a_change_condition_set_again_replaces_the_one_before)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e;
    FIXTURE_CREATE(&f, 1, &e, f.a, f.b);
    weft_query query = FIXTURE_QUERY(&f, {f.a}, {f.b});
    CHECK_OK(weft_query_filter_changed(f.world, query, f.a, 0));
    CHECK_U64(weft_query_count(f.world, query), 1);
    uint32_t since = weft_world_advance_change_version(f.world);
    CHECK_OK(weft_query_filter_changed(f.world, query, f.a, since));
    CHECK_U64(weft_query_count(f.world, query), 0);
    CHECK_OK(weft_query_filter_changed(f.world, query, f.b, since - 1)); /* of b: one more */
    CHECK_U64(weft_query_count(f.world, query), 1);
    CHECK_OK(weft_query_filter_changed(f.world, query, f.b, since));
    CHECK_U64(weft_query_count(f.world, query), 0);
    uint64_t bytes = weft__memory_bytes(&f.world->memory, WEFT__MEMORY_QUERIES);
    for (uint32_t i = 0; i < 1000; i++) CHECK_OK(weft_query_filter_changed(f.world, query, f.a, i));
    CHECK_U64(weft__memory_bytes(&f.world->memory, WEFT__MEMORY_QUERIES), bytes);
    fixture_close(&f);
}

Test(filter, only_slices_that_changed_pass_and_neighbours_are_merged)
{
    enum { ROWS = 8192 };
    static weft_entity e[ROWS];
    fixture f;
    fixture_open(&f, 0);
    FIXTURE_CREATE(&f, ROWS, e, f.a);
    weft_query all = FIXTURE_QUERY(&f, {f.a});
    uint32_t runs_all = fixture_iterate(&f, all).runs;
    weft_query query = changed_a(&f, weft_world_advance_change_version(f.world));
    CHECK(weft_entity_write(f.world, e[5000], f.a) != NULL);
    weft_cursor cursor = weft_query_begin(f.world, query);
    CHECK(weft_query_next(&cursor));
    CHECK(cursor.slice.count < ROWS / 4);
    CHECK(cursor.slice.first <= 5000 && cursor.slice.first + cursor.slice.count > 5000);
    CHECK(!weft_query_next(&cursor));
    for (uint32_t i = 0; i < ROWS; i++) weft_entity_write(f.world, e[i], f.a);
    CHECK_U64(fixture_iterate(&f, query).runs, runs_all);
    fixture_close(&f);
}

/* All rows of a chunk, which begins with the handles; its last column ends at `last`. */
static void protect_rows(const weft_entity *first, const char *last, int protection)
{
    uintptr_t page = 4096, begin = (uintptr_t)first, end = (uintptr_t)last;
    CHECK_U64(begin % page, 0);
    CHECK_U64(mprotect((void *)begin, (end - begin + page - 1) / page * page, protection), 0);
}

Test(filter, slices_are_judged_and_counted_without_touching_the_memory_of_chunks)
{
    enum { ROWS = 16000 }; /* one chunk */
    static weft_entity e[ROWS];
    fixture f;
    fixture_open(&f, 0);
    FIXTURE_CREATE(&f, ROWS, e, f.a, f.x, f.s);
    weft_query red = FIXTURE_QUERY(&f, {f.a, WEFT_WRITE}, {f.x}, {f.s});
    weft_query same = FIXTURE_QUERY(&f, {f.a, WEFT_WRITE}, {f.x}, {f.s});
    CHECK_OK(weft_query_filter_shared(f.world, red, f.s, WEFT_FILTER_EQUAL, &(int32_t){5}, 1));
    CHECK_OK(
        weft_query_filter_changed(f.world, same, f.a, weft_world_advance_change_version(f.world)));
    weft_query changed = FIXTURE_QUERY(&f, {f.x});
    CHECK_OK(weft_query_filter_changed(f.world, changed, f.x,
                                       weft_world_advance_change_version(f.world)));
    CHECK_OK(weft_entity_enable(f.world, e[7], f.x, false));
    weft_cursor cursor =
        weft_query_begin(f.world, FIXTURE_QUERY(&f, {f.a}, {f.x, .match = WEFT_PRESENT}));
    CHECK(weft_query_next(&cursor));
    const weft_entity *first = weft_slice_entities(&cursor.slice);
    const int32_t *a = weft_slice_read(&cursor.slice, 0), *x = weft_slice_read(&cursor.slice, 1);
    const char *last = (const char *)((a > x ? a : x) + cursor.slice.count);
    CHECK_U64(cursor.slice.count, ROWS);
    weft_query_end(&cursor);
    protect_rows(first, last, PROT_NONE); /* from here on, a look at a row is a SIGSEGV */
    uint64_t none = weft_query_count(f.world, red) + weft_query_count(f.world, same);
    uint32_t runs = fixture_iterate(&f, red).runs + fixture_iterate(&f, same).runs;
    /* checked builds keep a shadow of a chunk that a loop comes to */
    if (WEFT_IS_CHECKED) protect_rows(first, last, PROT_READ);
    fixture_loop some = fixture_iterate(&f, changed);
    if (WEFT_IS_CHECKED) protect_rows(first, last, PROT_NONE);
    bool is_empty = weft_query_is_empty(f.world, red);
    protect_rows(first, last, PROT_READ | PROT_WRITE);
    CHECK_U64(none, 0);
    CHECK_U64(runs, 0);
    CHECK(is_empty);
    CHECK(some.rows > 0 && some.rows < ROWS && some.masked_runs == 1);
    fixture_close(&f);
}

Test(filter, order_filters_see_rows_come_and_go_only_in_their_chunks)
{
    fixture f;
    fixture_open(&f, 2);
    weft_entity e[6], other;
    FIXTURE_CREATE(&f, 6, e, f.a, f.l);
    FIXTURE_CREATE(&f, 1, &other, f.a, f.b);
    weft_query query = FIXTURE_QUERY(&f, {f.a});
    CHECK_OK(weft_query_filter_order(f.world, query, weft_world_advance_change_version(f.world)));
    CHECK_U64(weft_query_count(f.world, query), 0);
    CHECK(weft_entity_write(f.world, e[0], f.a) != NULL); /* values do not count */
    CHECK_U64(weft_query_count(f.world, query), 0);
    CHECK_OK(weft_entity_destroy(f.world, e[0]));
    CHECK(weft_query_matches(f.world, query, e[1]));
    CHECK(!weft_query_matches(f.world, query, other));
    CHECK(!weft_query_matches(f.world, query, e[4]) || !weft_query_matches(f.world, query, e[2]));
    CHECK_OK(
        weft_query_filter_changed(f.world, query, f.a, weft_world_change_version(f.world) - 1));
    CHECK(weft_entity_write(f.world, other, f.a) != NULL);
    CHECK(weft_query_matches(f.world, query, other)); /* changed OR order */
    fixture_close(&f);
}

Test(filter, versions_compare_across_the_wrap)
{
    fixture f;
    fixture_open(&f, 0);
    f.world->front.version = UINT32_MAX - 1;
    weft_entity e;
    FIXTURE_CREATE(&f, 1, &e, f.a);
    weft_query query = changed_a(&f, UINT32_MAX - 1);
    CHECK_U64(weft_query_count(f.world, query), 0);
    weft_world_advance_change_version(f.world);
    weft_world_advance_change_version(f.world);
    CHECK_U64(weft_world_change_version(f.world), 1); /* 0 is never a version */
    CHECK(weft_entity_write(f.world, e, f.a) != NULL);
    CHECK_U64(weft_query_count(f.world, query), 1); /* 1 is newer than 2^32 - 2 */
    query = changed_a(&f, 1);
    CHECK_U64(weft_query_count(f.world, query), 0);
    f.world->front.version = 1 + (UINT32_C(1) << 31) - 1; /* within half of the range */
    CHECK(weft_entity_write(f.world, e, f.a) != NULL);
    CHECK_U64(weft_query_count(f.world, query), 1);
    fixture_close(&f);
}

Test(filter, a_slice_that_takes_rows_in_has_the_newer_version_across_the_wrap)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity old, young;
    f.world->front.version = UINT32_MAX - 1;
    FIXTURE_CREATE(&f, 1, &old, f.a, f.b);
    weft_query query = changed_a(&f, UINT32_MAX - 1);
    f.world->front.version = 1;
    FIXTURE_CREATE(&f, 1, &young, f.a);
    weft_query alone = FIXTURE_QUERY(&f, {f.a}, {f.b, .match = WEFT_NONE});
    CHECK_OK(weft_query_add(f.world, alone, f.b));
    CHECK_U64(weft_query_count(f.world, query), 2);
    fixture_close(&f);
}

Test(filter, shared_conditions_are_and_ed_in_any_number)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[12];
    FIXTURE_CREATE(&f, 12, e, f.s, f.f);
    for (int32_t i = 0; i < 12; i++) {
        int32_t value = i % 4;
        bool flag = i % 3 == 0;
        CHECK_OK(weft_entity_set_shared(f.world, e[i], f.s, &value));
        CHECK_OK(weft_entity_set_shared(f.world, e[i], f.f, &flag));
    }
    weft_query query = FIXTURE_QUERY(&f, {f.s}, {f.f});
    const int32_t few[] = {3, 1, 77};
    CHECK_OK(weft_query_filter_shared(f.world, query, f.s, WEFT_FILTER_ONE_OF, few, 3));
    CHECK_U64(weft_query_count(f.world, query), 6);
    CHECK_OK(weft_query_filter_shared(f.world, query, f.f, WEFT_FILTER_EQUAL, &(bool){true}, 1));
    CHECK_U64(weft_query_count(f.world, query), 2); /* 3 and 9 */
    CHECK_OK(weft_query_filter_shared(f.world, query, f.s, WEFT_FILTER_NOT_EQUAL, &few[1], 1));
    CHECK_U64(weft_query_count(f.world, query), 1);
    CHECK(weft_query_matches(f.world, query, e[3]));
    CHECK_OK(weft_query_filter_reset(f.world, query));
    CHECK_U64(weft_query_count(f.world, query), 12);
    fixture_close(&f);
}

Test(filter, shared_and_change_conditions_are_and_ed)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[2];
    FIXTURE_CREATE(&f, 2, e, f.a, f.s);
    CHECK_OK(weft_entity_set_shared(f.world, e[0], f.s, &(int32_t){1}));
    weft_query query = changed_a(&f, weft_world_advance_change_version(f.world));
    query = FIXTURE_QUERY(&f, {f.a}, {f.s});
    CHECK_OK(
        weft_query_filter_changed(f.world, query, f.a, weft_world_change_version(f.world) - 1));
    CHECK_OK(weft_query_filter_shared(f.world, query, f.s, WEFT_FILTER_EQUAL, &(int32_t){1}, 1));
    CHECK(weft_entity_write(f.world, e[1], f.a) != NULL);
    CHECK_U64(weft_query_count(f.world, query), 0);
    CHECK(weft_entity_write(f.world, e[0], f.a) != NULL);
    CHECK_U64(weft_query_count(f.world, query), 1);
    fixture_close(&f);
}

Test(filter, wrong_conditions_are_refused)
{
    fixture f;
    fixture_open(&f, 0);
    weft_query query = FIXTURE_QUERY(&f, {f.a}, {f.s}, {f.b, .match = WEFT_ABSENT});
    int32_t one = 1;
    CHECK_RESULT(weft_query_filter_shared(f.world, query, f.f, WEFT_FILTER_EQUAL, &one, 1),
                 WEFT_INVALID_ARGUMENT); /* not in the query */
    CHECK_RESULT(weft_query_filter_shared(f.world, query, f.a, WEFT_FILTER_EQUAL, &one, 1),
                 WEFT_TYPE_MISMATCH);
    CHECK_RESULT(weft_query_filter_shared(f.world, query, f.s, WEFT_FILTER_EQUAL, NULL, 1),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_query_filter_shared(f.world, query, f.s, WEFT_FILTER_EQUAL, &one, 2),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_query_filter_shared(f.world, query, f.s, WEFT_FILTER_ONE_OF, &one, 0),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_query_filter_shared(f.world, query, f.s, (weft_filter_op)9, &one, 1),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_query_filter_changed(f.world, query, f.c, 0), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_query_filter_changed(f.world, query, f.b, 0), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_query_filter_changed(f.world, query, (weft_component){0}, 0),
                 WEFT_BAD_HANDLE);
    fixture_close(&f);
}

Test(filter, structural_changes_go_through_filters)
{
    fixture f;
    fixture_open(&f, 2);
    weft_entity e[8];
    FIXTURE_CREATE(&f, 8, e, f.a, f.s, f.l);
    for (int32_t i = 0; i < 8; i++) {
        int32_t value = i % 2;
        CHECK_OK(weft_entity_set_shared(f.world, e[i], f.s, &value));
    }
    weft_query odd = FIXTURE_QUERY(&f, {f.s});
    CHECK_OK(weft_query_filter_shared(f.world, odd, f.s, WEFT_FILTER_EQUAL, &(int32_t){1}, 1));
    CHECK_OK(weft_query_add(f.world, odd, f.b));
    for (uint32_t i = 0; i < 8; i++) CHECK_U64(weft_entity_has(f.world, e[i], f.b), i % 2);
    CHECK_OK(weft_query_destroy_entities(f.world, odd));
    for (uint32_t i = 0; i < 8; i++) CHECK_U64(weft_entity_is_alive(f.world, e[i]), i % 2 == 0);
    fixture_close(&f);
}
