/* SPDX-License-Identifier: MIT */
/* test_cursor.c: cursors and their slices are copied and moved: a copy goes on from where it was
 * taken; the loop ends once, for all copies, and is not mistaken for a later one. Plain loops, and
 * loops with enable masks, filters, SPARSE terms and more terms than a cursor holds. */
#include "invariant.h"
#include "plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

#define ROWS 5000u
#define MANY (WEFT_INLINE_TERMS + 4u)

enum way { PLAIN, MASKED, FILTERED, SPARSE, MANY_PLAIN, MANY_MASKED, WAYS };

static weft_world *world;
static weft_component value, switched, rare, team, more[MANY];
static weft_entity entities[ROWS];
static weft_query query;
static uint32_t selected;

static void begin(enum way way)
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    value = weft_component_create_plain(world, "value", 4, 4, 0);
    switched = weft_component_create_plain(world, "switched", 4, 4, WEFT_ENABLEABLE);
    rare = weft_component_create_plain(world, "rare", 4, 4, WEFT_SPARSE);
    team = weft_component_create_plain(world, "team", 4, 4, WEFT_SHARED);
    weft_component all[MANY + 3] = {value, switched, team};
    weft_term terms[MANY + 1] = {{value, WEFT_WRITE}};
    for (uint32_t i = 0; i < MANY; i++) {
        char name[8];
        snprintf(name, sizeof name, "more%u", i);
        all[i + 3] = more[i] = weft_component_create_plain(world, name, 4, 4, 0);
        terms[i + 1] = (weft_term){.component = more[i]};
    }
    CHECK_OK(weft_entity_create_many(world, weft_archetype_create(world, all, MANY + 3), ROWS,
                                     entities));
    for (uint32_t i = 0; i < ROWS; i += 7)
        CHECK_OK(weft_entity_enable(world, entities[i], switched, false));
    for (uint32_t i = 0; i < ROWS; i += 3) CHECK_OK(weft_entity_add(world, entities[i], rare));
    weft_query_desc desc = {.terms = {{value, WEFT_WRITE}}};
    if (way == MASKED || way == MANY_MASKED) desc.terms[1].component = switched;
    if (way == SPARSE) desc.terms[1].component = rare;
    if (way == FILTERED) desc.terms[1] = (weft_term){.component = team};
    desc.more_terms = terms + 1;
    desc.more_term_count = way >= MANY_PLAIN ? MANY : 0;
    query = weft_query_create(world, &desc);
    CHECK(query.id != 0);
    if (way == FILTERED)
        CHECK_OK(
            weft_query_filter_shared(world, query, team, WEFT_FILTER_EQUAL, &(uint32_t){0}, 1));
    selected = (uint32_t)weft_query_count(world, query);
    CHECK(selected != 0);
}

static void end(void)
{
    CHECK_OK(weft_entity_add(world, entities[0], WEFT_TAG(world, changed))); /* no loop is open */
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_world_destroy(world));
}

/* Adds `by` to the selected rows of a slice; how many. */
static uint32_t add(const weft_slice *slice, uint32_t by)
{
    uint32_t *values = weft_slice_write(slice, 0), rows = 0, first = 0, last = 0;
    CHECK(values != NULL);
    while (weft_slice_next_run(slice, &first, &last))
        for (uint32_t i = first; i < last; i++, rows++) values[i] += by;
    return rows;
}

static void expect_sum(uint64_t sum)
{
    uint64_t found = 0;
    for (uint32_t i = 0; i < ROWS; i++)
        found += *(const uint32_t *)weft_entity_read(world, entities[i], value);
    CHECK_U64(found, sum);
}

static weft_cursor begun(void)
{
    weft_cursor cursor = weft_query_begin(world, query);
    CHECK(weft_query_next(&cursor));
    return cursor;
}

/* A copy on the heap; where it came from is overwritten. */
static weft_cursor *moved(weft_cursor *from)
{
    weft_cursor *to = malloc(sizeof *to);
    CHECK(to != NULL);
    memcpy(to, from, sizeof *to);
    memset(from, 0xCC, sizeof *from);
    return to;
}

PLAIN_TEST(a_cursor_that_moves_between_and_within_runs_visits_every_row_once)
{
    for (enum way way = 0; way < WAYS; way++) {
        begin(way);
        weft_cursor first = weft_query_begin(world, query);
        weft_cursor *cursor = moved(&first);
        uint32_t rows = 0;
        while (weft_query_next(cursor)) {
            weft_cursor *next = moved(cursor);
            free(cursor);
            cursor = next;
            weft_slice slice = cursor->slice; /* a copy of the slice, too */
            rows += add(&slice, 1);
        }
        CHECK(!weft_query_next(cursor));
        weft_query_end(cursor);
        free(cursor);
        CHECK_U64(rows, selected);
        expect_sum(selected);
        end();
    }
}

PLAIN_TEST(a_copy_goes_on_from_where_it_was_taken_and_the_loop_ends_once)
{
    for (enum way way = 0; way < WAYS; way++) {
        begin(way);
        weft_cursor one = begun();
        uint32_t first = add(&one.slice, 1), rows = first, others = first;
        weft_cursor copies[40];
        uint32_t count = 0;
        do copies[count++] = one;
        while (count < 40 && rows < selected && weft_query_next(&one) &&
               (rows += add(&one.slice, 1)) != 0);
        weft_cursor other = copies[0];
        while (weft_query_next(&other)) {
            others += add(&other.slice, 1);
            if (others == selected) break;
        }
        CHECK_U64(others, selected);
        weft_query_end(&other);
        for (uint32_t i = 0; i < count; i++) CHECK(!weft_query_next(&copies[i]));
        weft_query_end(&one);
        expect_sum(rows + others - first);
        end();
    }
}

PLAIN_TEST(a_copy_of_a_loop_that_has_ended_is_not_mistaken_for_a_later_loop)
{
    for (enum way way = 0; way < WAYS; way++) {
        begin(way);
        weft_cursor one = begun(), copy = one;
        weft_query_end(&one);
        weft_query_end(&copy);
        weft_cursor later = begun(); /* in the place of the first */
        CHECK(!weft_query_next(&copy));
        weft_query_end(&copy);
        CHECK_RESULT(weft_entity_remove(world, entities[1], value), WEFT_WRONG_PHASE);
        uint32_t rows = 0;
        do rows += add(&later.slice, 1);
        while (weft_query_next(&later));
        CHECK_U64(rows, selected);
        end();
    }
}

PLAIN_TEST(loops_in_each_other_end_in_any_order)
{
    for (enum way way = 0; way < WAYS; way++) {
        begin(way);
        weft_cursor open[5];
        for (uint32_t i = 0; i < 5; i++) open[i] = begun();
        static const uint32_t order[] = {3, 0, 4, 1, 2};
        for (uint32_t i = 0; i < 5; i++) {
            weft_cursor copy = open[order[i]];
            uint32_t rows = 0;
            do rows += add(&copy.slice, 1);
            while (weft_query_next(&copy));
            CHECK_U64(rows, selected);
        }
        expect_sum(5 * (uint64_t)selected);
        end();
    }
}

/* ---- in systems ---- */

static weft_cursor opened_by(const weft_slice *slice)
{
    weft_cursor cursor = weft_slice_query(slice, query);
    CHECK(weft_query_next(&cursor));
    return cursor;
}

static void walk(weft_slice *slice, void *user)
{
    uint32_t *rows = user;
    weft_cursor outer = opened_by(slice), inner = opened_by(slice), copy = inner;
    do rows[0] += add(&copy.slice, 1);
    while (weft_query_next(&copy));
    CHECK(!weft_query_next(&inner));
    weft_cursor *heap = moved(&outer);
    do rows[1] += add(&heap->slice, 1);
    while (weft_query_next(heap));
    weft_query_end(heap);
    free(heap);
    weft_cursor early = opened_by(slice);
    weft_query_end(&early);
}

PLAIN_TEST(cursors_of_systems_move_as_well)
{
    for (enum way way = 0; way < WAYS; way++) {
        begin(way);
        uint32_t rows[2] = {0, 0};
        weft_system_desc desc = {.name = "walker", .run = walk, .user = rows, .queries = {query}};
        CHECK(weft_system_create(world, &desc).id != 0);
        for (uint32_t step = 1; step < 4; step++) {
            CHECK_OK(weft_world_step(world, 0));
            CHECK_U64(rows[0], step * selected);
            CHECK_U64(rows[1], step * selected);
        }
        expect_sum(6 * (uint64_t)selected);
        end();
    }
}

static void leave(weft_slice *slice, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < 100; i++) opened_by(slice);
}

PLAIN_TEST(loops_that_a_system_leaves_end_with_the_step_and_are_named)
{
    begin(MASKED);
    weft_system_desc desc = {.name = "leaver", .run = leave, .queries = {query}};
    CHECK(weft_system_create(world, &desc).id != 0);
    for (uint32_t step = 0; step < 3; step++) {
        weft_result result = weft_world_step(world, 0);
        CHECK_RESULT(result, WEFT_IS_CHECKED ? WEFT_UNDECLARED_ACCESS : WEFT_OK);
        if (!WEFT_IS_CHECKED) continue;
        CHECK(strstr(weft_world_error(world)->text, "'leaver'") != NULL);
        CHECK(strstr(weft_world_error(world)->text, "weft_query_end") != NULL);
    }
    end();
}
