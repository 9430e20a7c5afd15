/* SPDX-License-Identifier: MIT */
/* test_enable.c: enable bits: defaults, setting, masks of queries, what survives a move. */
#include "query_fixture.h"
#include "random.h"

#include <criterion/criterion.h>
#include <string.h>

Test(enable, new_rows_are_enabled_and_setting_takes_effect_at_once)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[2];
    FIXTURE_CREATE(&f, 2, e, f.x, f.a);
    CHECK(weft_entity_is_enabled(f.world, e[0], f.x));
    CHECK(weft_entity_is_enabled(f.world, e[0], f.a)); /* not enableable: always */
    CHECK(!weft_entity_is_enabled(f.world, e[0], f.y));
    CHECK_OK(weft_entity_enable(f.world, e[0], f.x, false));
    CHECK(!weft_entity_is_enabled(f.world, e[0], f.x));
    CHECK(weft_entity_is_enabled(f.world, e[1], f.x));
    CHECK(weft_entity_has(f.world, e[0], f.x)); /* still there, readable, writable */
    CHECK_OK(weft_entity_set(f.world, e[0], f.x, &(int32_t){5}, 4));
    CHECK_I64(*(const int32_t *)weft_entity_read(f.world, e[0], f.x), 5);
    CHECK(!weft_entity_is_enabled(f.world, e[0], f.x));
    CHECK_OK(weft_entity_add(f.world, e[0], f.x)); /* present: stays disabled */
    CHECK(!weft_entity_is_enabled(f.world, e[0], f.x));
    CHECK_OK(weft_entity_enable(f.world, e[0], f.x, true));
    CHECK(weft_entity_is_enabled(f.world, e[0], f.x));
    fixture_close(&f);
}

Test(enable, setting_is_refused_for_plain_missing_and_dead)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e;
    FIXTURE_CREATE(&f, 1, &e, f.a);
    CHECK_RESULT(weft_entity_enable(f.world, e, f.a, false), WEFT_TYPE_MISMATCH);
    CHECK_RESULT(weft_entity_enable(f.world, e, f.x, false), WEFT_NOT_FOUND);
    CHECK_RESULT(weft_entity_enable(f.world, e, (weft_component){999}, false), WEFT_BAD_HANDLE);
    CHECK_OK(weft_entity_destroy(f.world, e));
    CHECK_RESULT(weft_entity_enable(f.world, e, f.x, false), WEFT_STALE_ENTITY);
    CHECK(!weft_entity_is_enabled(f.world, e, f.x));
    weft_query query = FIXTURE_QUERY(&f, {f.a});
    CHECK_RESULT(weft_query_enable(f.world, query, f.a, false), WEFT_TYPE_MISMATCH);
    fixture_close(&f);
}

Test(enable, bits_follow_their_rows_through_every_kind_of_move)
{
    enum { ROWS = 150 };
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[ROWS];
    FIXTURE_CREATE(&f, ROWS, e, f.x, f.y);
    for (uint32_t i = 0; i < ROWS; i++) {
        CHECK_OK(weft_entity_enable(f.world, e[i], f.x, i % 3 != 0));
        CHECK_OK(weft_entity_enable(f.world, e[i], f.y, i % 2 != 0));
    }
    for (uint32_t i = 0; i < ROWS; i += 5) CHECK_OK(weft_entity_add(f.world, e[i], f.a));
    for (uint32_t i = 0; i < ROWS; i += 7) CHECK_OK(weft_entity_add(f.world, e[i], f.t));
    for (uint32_t i = 1; i < ROWS; i += 11) CHECK_OK(weft_entity_destroy(f.world, e[i]));
    for (uint32_t i = 0; i < ROWS; i += 10)
        if (weft_entity_is_alive(f.world, e[i])) CHECK_OK(weft_entity_remove(f.world, e[i], f.y));
    int32_t value = 3;
    for (uint32_t i = 0; i < ROWS; i += 6)
        if (weft_entity_is_alive(f.world, e[i]))
            CHECK_OK(weft_entity_set_shared(f.world, e[i], f.s, &value));
    for (uint32_t i = 0; i < ROWS; i++) {
        if (i % 11 == 1) continue;
        CHECK_U64(weft_entity_is_enabled(f.world, e[i], f.x), i % 3 != 0);
        CHECK_U64(weft_entity_is_enabled(f.world, e[i], f.y), i % 2 != 0 && i % 10 != 0);
    }
    weft_entity copy;
    CHECK_OK(weft_entity_instantiate(f.world, e[3], 1, &copy));
    CHECK(!weft_entity_is_enabled(f.world, copy, f.x));
    CHECK(weft_entity_is_enabled(f.world, copy, f.y));
    fixture_close(&f);
}

/* The rows of a query by its match kinds, with enable patterns over many words and chunks. */
static void check_algebra(fixture *f, const weft_entity *e, uint32_t count, weft_match x,
                          weft_match y)
{
    weft_query query = FIXTURE_QUERY(f, {f->x, .match = x}, {f->y, .match = y});
    uint64_t expected = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool on_x = weft_entity_is_enabled(f->world, e[i], f->x);
        bool on_y = weft_entity_is_enabled(f->world, e[i], f->y);
        bool any = (x == WEFT_ANY && on_x) || (y == WEFT_ANY && on_y);
        bool wants_any = x == WEFT_ANY || y == WEFT_ANY;
        bool is_in = (x != WEFT_ALL || on_x) && (y != WEFT_ALL || on_y) &&
                     ((x != WEFT_NONE && x != WEFT_DISABLED) || !on_x) &&
                     ((y != WEFT_NONE && y != WEFT_DISABLED) || !on_y) && (!wants_any || any);
        expected += is_in;
        CHECK_U64(weft_query_matches(f->world, query, e[i]), is_in);
    }
    CHECK_U64(fixture_iterate(f, query).rows, expected);
    CHECK_OK(weft_query_destroy(f->world, query));
}

/* A row without bits that are off moves as bytes, beside rows that do not. */
Test(enable, bits_follow_single_changes_in_any_order)
{
    enum { ROWS = 300, STEPS = 20000 };
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[ROWS];
    bool is_off[ROWS] = {false};
    int32_t values[ROWS] = {0}; /* of a; 0: absent */
    test_random random = test_random_init(7);
    FIXTURE_CREATE(&f, ROWS, e, f.x);
    for (int32_t step = 1; step <= STEPS; step++) {
        uint64_t draw = test_random_next(&random);
        uint32_t i = (uint32_t)(draw >> 8) % ROWS;
        if (draw % 16 == 0) {
            is_off[i] = !is_off[i];
            CHECK_OK(weft_entity_enable(f.world, e[i], f.x, !is_off[i]));
        } else if (draw % 16 == 1) {
            CHECK_OK(weft_entity_destroy(f.world, e[i]));
            FIXTURE_CREATE(&f, 1, &e[i], f.x);
            is_off[i] = false;
            values[i] = 0;
        } else if (draw % 2 == 0) {
            CHECK_OK(weft_entity_set(f.world, e[i], f.a, &step, sizeof step));
            values[i] = step;
        } else {
            CHECK_OK(weft_entity_remove(f.world, e[i], f.a));
            values[i] = 0;
        }
        if (step % 500 != 0) continue;
        CHECK_OK(weft_world_validate(f.world));
        for (uint32_t k = 0; k < ROWS; k++) {
            CHECK(weft_entity_is_enabled(f.world, e[k], f.x) == !is_off[k]);
            const int32_t *value = weft_entity_read(f.world, e[k], f.a);
            CHECK_I64(value != NULL ? *value : 0, values[k]);
        }
    }
    fixture_close(&f);
}

Test(enable, masks_of_all_pairs_of_match_kinds_are_right)
{
    enum { ROWS = 3000 };
    const weft_match kinds[] = {WEFT_ALL,     WEFT_ANY,      WEFT_NONE,
                                WEFT_PRESENT, WEFT_OPTIONAL, WEFT_DISABLED};
    static weft_entity e[ROWS];
    fixture f;
    fixture_open(&f, 0);
    test_random random = test_random_init(77);
    FIXTURE_CREATE(&f, ROWS, e, f.x, f.y);
    for (uint32_t i = 0; i < ROWS; i++) {
        CHECK_OK(weft_entity_enable(f.world, e[i], f.x, test_random_below(&random, 3) != 0));
        CHECK_OK(weft_entity_enable(f.world, e[i], f.y, i > 1000 && i < 2900));
    }
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t j = 0; j < 6; j++) check_algebra(&f, e, ROWS, kinds[i], kinds[j]);
    fixture_close(&f);
}

Test(enable, an_any_term_that_is_not_enableable_satisfies_all_rows)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[2];
    FIXTURE_CREATE(&f, 2, e, f.x, f.a);
    CHECK_OK(weft_entity_enable(f.world, e[0], f.x, false));
    weft_query query = FIXTURE_QUERY(&f, {f.x, .match = WEFT_ANY}, {f.a, .match = WEFT_ANY});
    CHECK_U64(weft_query_count(f.world, query), 2);
    query = FIXTURE_QUERY(&f, {f.x, .match = WEFT_ANY}, {f.y, .match = WEFT_ANY});
    CHECK_U64(weft_query_count(f.world, query), 1);
    fixture_close(&f);
}

Test(enable, a_slice_without_enabled_rows_is_skipped_and_a_full_one_has_no_mask)
{
    fixture f;
    fixture_open(&f, 4);
    weft_entity e[12];
    FIXTURE_CREATE(&f, 12, e, f.x, f.l); /* three chunks of four */
    for (uint32_t i = 0; i < 4; i++) CHECK_OK(weft_entity_enable(f.world, e[i], f.x, false));
    CHECK_OK(weft_entity_enable(f.world, e[5], f.x, false));
    weft_query query = FIXTURE_QUERY(&f, {f.x});
    fixture_loop loop = fixture_iterate(&f, query);
    CHECK_U64(loop.runs, 2);
    CHECK_U64(loop.masked_runs, 1);
    CHECK_U64(loop.rows, 7);
    weft_cursor cursor = weft_query_begin(f.world, query);
    CHECK(weft_query_next(&cursor));
    CHECK_U64(cursor.slice.enabled[0], 0xD); /* row 1 off; bits beyond the rows are zero */
    weft_query_end(&cursor);
    fixture_close(&f);
}

enum { MANY_ROWS = 150000 };

/* Slice 5 is all off, slice 2 all on; else every third row is off. */
static bool is_off(uint32_t i, uint32_t slice)
{
    if (i / slice == 5) return true;
    return i / slice != 2 && i % 3 == 0;
}

Test(enable, slices_that_need_masks_come_in_one_run_as_far_as_the_mask_reaches)
{
    static weft_entity e[MANY_ROWS], copied[MANY_ROWS];
    fixture f;
    fixture_open(&f, 0);
    FIXTURE_CREATE(&f, MANY_ROWS, e, f.a, f.b, f.c, f.d, f.x, f.y, f.z);
    weft_query all = FIXTURE_QUERY(&f, {f.x, .match = WEFT_PRESENT}, {f.a, WEFT_NO_ACCESS});
    weft_world_stats stats;
    weft_world_stats_get(f.world, &stats, sizeof stats);
    uint32_t slice = 64;
    while ((MANY_ROWS + slice - 1) / slice > stats.slices) slice *= 2;
    CHECK(slice <= 512); /* so that runs can be merged */
    for (uint32_t i = 0; i < MANY_ROWS; i++)
        CHECK_OK(weft_entity_enable(f.world, e[i], f.x, !is_off(i, slice)));
    weft_query some = FIXTURE_QUERY(&f, {f.x}, {f.a, WEFT_WRITE});
    uint32_t since = weft_world_advance_change_version(f.world), row = 0, longest = 0;
    uint64_t rows = 0;
    weft_cursor cursor = weft_query_begin(f.world, some);
    while (weft_query_next(&cursor)) {
        weft_slice_walk walk = {0};
        CHECK(cursor.slice.first >= row);
        CHECK(cursor.slice.enabled == NULL || cursor.slice.count <= WEFT_MASK_WORDS * 64);
        if (cursor.slice.count > longest) longest = cursor.slice.count;
        while (weft_slice_next_row(&cursor.slice, &walk)) {
            uint32_t i = (uint32_t)(cursor.slice.first + walk.row);
            for (; row < i; row++) CHECK(is_off(row, slice));
            CHECK(!is_off(i, slice));
            CHECK_U64(cursor.slice.entities[walk.row].index, e[i].index);
            row = i + 1;
            rows++;
        }
    }
    CHECK_U64(longest, WEFT_MASK_WORDS * 64);
    CHECK_U64(weft_query_count(f.world, some), rows);
    CHECK_U64(weft_query_entities(f.world, some, copied, MANY_ROWS), rows);
    CHECK_OK(weft_query_filter_changed(f.world, all, f.a, since));
    CHECK_U64(weft_query_count(f.world, all), MANY_ROWS - slice); /* not the one that is all off */
    fixture_close(&f);
}

Test(enable, disabled_counts_stay_exact_when_bits_are_set_again_and_again)
{
    enum { ROWS = 700 };
    static weft_entity e[ROWS];
    fixture f;
    fixture_open(&f, 0);
    test_random random = test_random_init(5);
    FIXTURE_CREATE(&f, ROWS, e, f.x);
    for (int step = 0; step < 20000; step++) {
        uint32_t i = (uint32_t)test_random_below(&random, ROWS);
        CHECK_OK(weft_entity_enable(f.world, e[i], f.x, test_random_below(&random, 2) == 0));
    }
    fixture_validate(&f); /* compares counts with bits */
    weft_query query = FIXTURE_QUERY(&f, {f.x, .match = WEFT_PRESENT});
    CHECK_OK(weft_query_enable(f.world, query, f.x, true));
    CHECK_U64(fixture_iterate(&f, FIXTURE_QUERY(&f, {f.x})).masked_runs, 0);
    CHECK_U64(weft_query_count(f.world, FIXTURE_QUERY(&f, {f.x})), ROWS);
    fixture_close(&f);
}

Test(enable, a_slice_sets_bits_of_rows_and_terms_that_have_them)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[3];
    FIXTURE_CREATE(&f, 3, e, f.x, f.y, f.a);
    weft_query query = FIXTURE_QUERY(&f, {f.x, WEFT_WRITE}, {f.y}, {f.a, WEFT_WRITE});
    weft_cursor cursor = weft_query_begin(f.world, query);
    CHECK(weft_query_next(&cursor));
    weft_slice_enable(&cursor.slice, 0, 1, false);
    CHECK(!weft_entity_is_enabled(f.world, e[1], f.x));
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_OK);
    weft_slice_enable(&cursor.slice, 2, 0, false); /* has no bit */
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_UNDECLARED_ACCESS);
    weft_slice_enable(&cursor.slice, 0, 3, false); /* no such row */
    weft_slice_enable(&cursor.slice, 9, 0, false); /* no such term */
    if ((cursor.slice.calls & WEFT_SLICE_CHECKED) != 0) {
        weft_slice_enable(&cursor.slice, 1, 1, false); /* read only */
        CHECK(weft_entity_is_enabled(f.world, e[1], f.y));
    }
    weft_query_end(&cursor);
    fixture_close(&f);
}

Test(enable, query_wide_setting_honours_filters_and_enable_bits)
{
    fixture f;
    fixture_open(&f, 2);
    weft_entity e[6];
    FIXTURE_CREATE(&f, 6, e, f.x, f.y, f.s, f.l);
    int32_t red = 1;
    for (uint32_t i = 0; i < 3; i++) CHECK_OK(weft_entity_set_shared(f.world, e[i], f.s, &red));
    CHECK_OK(weft_entity_enable(f.world, e[0], f.x, false));
    weft_query query = FIXTURE_QUERY(&f, {f.x}, {f.s});
    CHECK_OK(weft_query_filter_shared(f.world, query, f.s, WEFT_FILTER_EQUAL, &red, 1));
    CHECK_OK(weft_query_enable(f.world, query, f.y, false));
    for (uint32_t i = 0; i < 6; i++)
        CHECK_U64(weft_entity_is_enabled(f.world, e[i], f.y), i == 0 || i > 2);
    fixture_close(&f);
}

Test(enable, run_iteration_finds_the_runs_of_any_pattern)
{
    const uint64_t patterns[][2] = {{0, 0},
                                    {~UINT64_C(0), ~UINT64_C(0)},
                                    {1, 0},
                                    {UINT64_C(1) << 63, 1},
                                    {0, UINT64_C(1) << 35},
                                    {0xAAAAAAAAAAAAAAAA, 0x5555555555},
                                    {0xFF00FF, 0xF}};
    for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
        weft_slice slice = {.count = 100, .enabled = patterns[p]};
        uint32_t begin = 0, end = 0, row = 0;
        while (weft_slice_next_run(&slice, &begin, &end)) {
            CHECK(begin < end && end <= 100);
            for (; row < end; row++)
                CHECK_U64(patterns[p][row >> 6] >> (row & 63) & 1, row >= begin);
        }
        for (; row < 100; row++) CHECK_U64(patterns[p][row >> 6] >> (row & 63) & 1, 0);
    }
    weft_slice full = {.count = 3};
    uint32_t begin = 0, end = 0;
    CHECK(weft_slice_next_run(&full, &begin, &end));
    CHECK_U64(end, 3);
    CHECK(!weft_slice_next_run(&full, &begin, &end));
}

Test(enable, row_iteration_finds_the_rows_of_any_pattern)
{
    const uint64_t patterns[][3] = {
        {0, 0, 0}, {~UINT64_C(0), ~UINT64_C(0), 3}, {1, 0, 0},         {UINT64_C(1) << 63, 1, 2},
        {0, 0, 2}, {0xAAAAAAAAAAAAAAAA, 0, 1},      {0xFF00FF, 0xF, 0}};
    for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
        weft_slice slice = {.count = 130, .enabled = patterns[p]};
        weft_slice_walk walk = {0};
        uint32_t row = 0;
        while (weft_slice_next_row(&slice, &walk)) {
            CHECK(walk.row >= row && walk.row < 130);
            for (; row < walk.row; row++) CHECK_U64(patterns[p][row >> 6] >> (row & 63) & 1, 0);
            CHECK_U64(patterns[p][row >> 6] >> (row & 63) & 1, 1);
            row++;
        }
        for (; row < 130; row++) CHECK_U64(patterns[p][row >> 6] >> (row & 63) & 1, 0);
        CHECK(!weft_slice_next_row(&slice, &walk)); /* and stays at its end */
    }
    const uint32_t counts[] = {0, 1, 63, 64, 65, 128, 200};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        weft_slice full = {.count = counts[c]}; /* no mask: every row */
        weft_slice_walk walk = {0};
        uint32_t rows = 0;
        for (; weft_slice_next_row(&full, &walk); rows++) CHECK_U64(walk.row, rows);
        CHECK_U64(rows, counts[c]);
    }
}
