/* SPDX-License-Identifier: MIT */
/* test_indexed.c: a query as one flat array: cached spans, seeks in all directions, filters. */
#include "query_fixture.h"
#include "random.h"

#include "invariant.h"

#include <criterion/criterion.h>

/* The twelve entities: archetype A with chunks of 3 and 2 rows, B with 4 and 3. */
typedef struct twelve {
    fixture f;
    weft_entity e[12];
    weft_query query;
    weft_indexed indexed;
} twelve;

static weft_component limited(fixture *f, const char *name, uint32_t rows)
{
    weft_component_desc desc = {.name = name, .chunk_row_limit = rows};
    weft_component component = weft_component_create(f->world, &desc);
    CHECK(component.id != 0);
    return component;
}

static void twelve_open(twelve *t, weft_access access)
{
    fixture_open(&t->f, 0);
    weft_component three = limited(&t->f, "three", 3), four = limited(&t->f, "four", 4);
    FIXTURE_CREATE(&t->f, 5, t->e, t->f.a, three);
    FIXTURE_CREATE(&t->f, 7, t->e + 5, t->f.a, four);
    weft_query all = FIXTURE_QUERY(&t->f, {t->f.a, WEFT_WRITE});
    int32_t values[12];
    for (int32_t i = 0; i < 12; i++) values[i] = i * 11;
    CHECK_OK(weft_query_write_values(t->f.world, all, t->f.a, values, 12));
    t->query = FIXTURE_QUERY(&t->f, {t->f.a, access});
    CHECK_OK(weft_indexed_open(t->f.world, t->query, 0, &t->indexed));
}

static void twelve_close(twelve *t)
{
    weft_indexed_close(&t->indexed);
    weft_indexed_close(&t->indexed); /* twice is fine */
    fixture_close(&t->f);
}

static void check_element(weft_indexed *indexed, uint64_t i, int32_t expected)
{
    const int32_t *element = weft_indexed_read(indexed, i);
    CHECK(element != NULL);
    CHECK_I64(*element, expected);
    if (WEFT_IS_CHECKED) return; /* where no span is cached */
    CHECK(indexed->span_begin <= i && i < indexed->span_end);
    CHECK_POINTER((char *)indexed->span_base + i * indexed->stride, element);
}

Test(indexed, element_five_of_the_twelve_is_row_zero_of_the_third_chunk)
{
    twelve t;
    twelve_open(&t, WEFT_READ);
    CHECK_U64(t.indexed.count, 12);
    const int32_t *element = weft_indexed_read(&t.indexed, 5);
    CHECK_I64(*element, 55);
    CHECK_U64(t.indexed.span_begin, WEFT_IS_CHECKED ? 0 : 5);
    CHECK_U64(t.indexed.span_end, WEFT_IS_CHECKED ? 0 : 9);
    CHECK_POINTER(element, weft_entity_read(t.f.world, t.e[5], t.f.a)); /* row 0 of B's first */
    if (!WEFT_IS_CHECKED)                                               /* biased by 5 */
        CHECK_POINTER((const int32_t *)t.indexed.span_base + 5, element);
    twelve_close(&t);
}

Test(indexed, elements_are_found_forwards_backwards_and_at_random)
{
    twelve t;
    twelve_open(&t, WEFT_READ);
    for (uint64_t i = 0; i < 12; i++) check_element(&t.indexed, i, (int32_t)i * 11);
    for (uint64_t i = 12; i-- > 0;) check_element(&t.indexed, i, (int32_t)i * 11);
    test_random random = test_random_init(3);
    for (int step = 0; step < 1000; step++) {
        uint64_t i = test_random_below(&random, 12);
        check_element(&t.indexed, i, (int32_t)i * 11);
    }
    twelve_close(&t);
}

Test(indexed, indices_beyond_the_end_give_null_and_keep_the_span)
{
    twelve t;
    twelve_open(&t, WEFT_READ);
    check_element(&t.indexed, 3, 33);
    CHECK_POINTER(weft_indexed_read(&t.indexed, 12), NULL);
    CHECK_POINTER(weft_indexed_read(&t.indexed, UINT64_MAX), NULL);
    CHECK_U64(t.indexed.span_begin, WEFT_IS_CHECKED ? 0 : 3);
    twelve_close(&t);
}

Test(indexed, filters_are_honoured_and_empty_archetypes_stepped_over)
{
    twelve t;
    twelve_open(&t, WEFT_READ);
    weft_component list[2] = {t.f.a, t.f.b};
    CHECK(weft_archetype_create(t.f.world, list, 2).id != 0); /* matches, is empty */
    weft_query query = FIXTURE_QUERY(&t.f, {t.f.a});
    CHECK_OK(weft_query_filter_changed(t.f.world, query, t.f.a,
                                       weft_world_advance_change_version(t.f.world)));
    weft_indexed none;
    CHECK_OK(weft_indexed_open(t.f.world, query, 0, &none));
    CHECK_U64(none.count, 0);
    CHECK_POINTER(weft_indexed_read(&none, 0), NULL);
    weft_indexed_close(&none);
    CHECK(weft_entity_write(t.f.world, t.e[4], t.f.a) != NULL);
    CHECK(weft_entity_write(t.f.world, t.e[11], t.f.a) != NULL);
    weft_indexed some;
    CHECK_OK(weft_indexed_open(t.f.world, query, 0, &some));
    CHECK_U64(some.count, 5); /* A's second chunk, B's second chunk */
    const int32_t expected[5] = {33, 44, 99, 110, 121};
    for (uint64_t i = 5; i-- > 0;) check_element(&some, i, expected[i]);
    weft_indexed_close(&some);
    twelve_close(&t);
}

Test(indexed, elements_of_a_term_for_reading_cannot_be_written)
{
    twelve t;
    twelve_open(&t, WEFT_READ);
    CHECK((weft_indexed_write(&t.indexed, 3) != NULL) == WEFT_IS_CHECKED);
    const weft_error *error = weft_world_error(t.f.world);
    CHECK_RESULT(error->code, WEFT_UNDECLARED_ACCESS);
    CHECK_U64(error->component.id, t.f.a.id);
    CHECK(strstr(error->text, "weft_indexed_read") != NULL);
    check_element(&t.indexed, 3, 33);
    weft_indexed closed = {0};
    CHECK_POINTER(weft_indexed_write(&closed, 0), NULL);
    twelve_close(&t);
}

Test(indexed, opening_for_writing_stamps_and_for_reading_does_not)
{
    twelve t;
    twelve_open(&t, WEFT_READ);
    weft_query changed = FIXTURE_QUERY(&t.f, {t.f.a});
    CHECK_OK(weft_query_filter_changed(t.f.world, changed, t.f.a,
                                       weft_world_advance_change_version(t.f.world)));
    weft_query written = FIXTURE_QUERY(&t.f, {t.f.a, WEFT_WRITE});
    weft_indexed indexed;
    CHECK_OK(weft_indexed_open(t.f.world, t.query, 0, &indexed));
    weft_indexed_close(&indexed);
    CHECK_U64(weft_query_count(t.f.world, changed), 0);
    CHECK_OK(weft_indexed_open(t.f.world, written, 0, &indexed));
    *(int32_t *)weft_indexed_write(&indexed, 9) = -1;
    weft_indexed_close(&indexed);
    CHECK_U64(weft_query_count(t.f.world, changed), 12);
    CHECK_I64(*(const int32_t *)weft_entity_read(t.f.world, t.e[9], t.f.a), -1);
    twelve_close(&t);
}

Test(indexed, an_optional_component_gives_null_where_it_is_absent)
{
    fixture f;
    fixture_open(&f, 0);
    FIXTURE_CREATE(&f, 2, NULL, f.a);
    FIXTURE_CREATE(&f, 3, NULL, f.a, f.b);
    weft_query query =
        FIXTURE_QUERY(&f, {f.a}, {f.b, .match = WEFT_OPTIONAL}, {f.t, .match = WEFT_NONE});
    weft_indexed indexed;
    CHECK_OK(weft_indexed_open(f.world, query, 1, &indexed));
    CHECK_U64(indexed.count, 5);
    CHECK_POINTER(weft_indexed_read(&indexed, 1), NULL);
    CHECK(weft_indexed_read(&indexed, 2) != NULL);
    weft_indexed_close(&indexed);
    CHECK_RESULT(weft_indexed_open(f.world, query, 2, &indexed), WEFT_INVALID_ARGUMENT); /* tag */
    CHECK_RESULT(weft_indexed_open(f.world, query, 3, &indexed), WEFT_INVALID_ARGUMENT);
    fixture_close(&f);
}

Test(indexed, seeks_after_a_structural_change_give_null)
{
    fixture f;
    fixture_open(&f, 2);
    weft_entity e[6];
    FIXTURE_CREATE(&f, 6, e, f.a, f.l); /* three chunks of two */
    weft_query query = FIXTURE_QUERY(&f, {f.a});
    weft_indexed x;
    CHECK_OK(weft_indexed_open(f.world, query, 0, &x));
    CHECK(weft_indexed_read(&x, 0) != NULL);
    CHECK_OK(weft_entity_destroy(f.world, e[5]));
    CHECK(weft_indexed_read(&x, 4) == NULL);
    CHECK(weft_indexed_read(&x, 2) == NULL);
    weft_indexed_close(&x);
    CHECK_OK(weft_indexed_open(f.world, query, 0, &x));
    CHECK_U64(x.count, 5);
    CHECK(weft_indexed_read(&x, 4) != NULL);
    weft_indexed_close(&x);
    fixture_close(&f);
}

Test(indexed, one_large_and_many_tiny_chunks_are_all_found)
{
    enum { TINY = 300, LARGE = 40000, ALL = TINY + LARGE };
    fixture f;
    fixture_open(&f, 1);
    FIXTURE_CREATE(&f, TINY, NULL, f.a, f.l);
    FIXTURE_CREATE(&f, LARGE, NULL, f.a);
    weft_query query = FIXTURE_QUERY(&f, {f.a, WEFT_WRITE});
    weft_indexed indexed, copy;
    CHECK_OK(weft_indexed_open(f.world, query, 0, &indexed));
    CHECK_U64(indexed.count, ALL);
    for (uint64_t i = 0; i < ALL; i++) *(int32_t *)weft_indexed_write(&indexed, i) = (int32_t)i;
    copy = indexed; /* a cursor of its own over the same table */
    test_random random = test_random_init(9);
    for (int step = 0; step < 20000; step++) {
        uint64_t i = test_random_below(&random, step % 2 == 0 ? TINY + 10 : ALL);
        check_element(&copy, i, (int32_t)i);
    }
    static int32_t values[ALL];
    CHECK_U64(weft_query_read_values(f.world, query, f.a, values, ALL), ALL);
    for (int32_t i = 0; i < ALL; i++) CHECK_I64(values[i], i);
    weft_indexed_close(&indexed);
    fixture_close(&f);
}
