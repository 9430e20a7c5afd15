/* SPDX-License-Identifier: MIT */
/* test_query_errors.c: what queries refuse: wrong descriptions, handles and calls, each with a text
 * that says what to do. */
#include "invariant.h"
#include "query_fixture.h"
#include "query_state.h"
#include "world_state.h"

#include <criterion/criterion.h>
#include <string.h>

static void check_text(const fixture *f, const char *part)
{
    const char *text = weft_world_error(f->world)->text;
    if (strstr(text, part) == NULL) test_fail(__FILE__, __LINE__, text);
}

static void ignore_slice(weft_slice *slice, void *user)
{
    (void)slice;
    (void)user;
}

Test(query_errors, wrong_descriptions_are_refused_with_the_reason)
{
    fixture f;
    fixture_open(&f, 0);
    weft_component resource = fixture_component(&f, "resource", 4, WEFT_RESOURCE);
    const struct {
        weft_query_desc desc;
        weft_result code;
    } cases[] = {
        {{.terms = {{{.id = 9999}}}}, WEFT_BAD_HANDLE},
        {{.terms = {{f.a}, {f.a, .match = WEFT_NONE}}}, WEFT_INVALID_ARGUMENT},
        {{.terms = {{f.a, .match = WEFT_DISABLED}}}, WEFT_INVALID_ARGUMENT},
        {{.terms = {{f.x, .match = WEFT_DISABLED}}, .ignores_enabled = true},
         WEFT_INVALID_ARGUMENT},
        {{.terms = {{f.s, WEFT_WRITE}}}, WEFT_INVALID_ARGUMENT},
        {{.terms = {{resource}}}, WEFT_INVALID_ARGUMENT},
        {{.terms = {{f.a, .match = (weft_match)77}}}, WEFT_INVALID_ARGUMENT},
        {{.terms = {{f.a, (weft_access)5}}}, WEFT_INVALID_ARGUMENT},
        {{.more_term_count = 1}, WEFT_INVALID_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_U64(weft_query_create(f.world, &cases[i].desc).id, 0);
        CHECK_RESULT(weft_world_error(f.world)->code, cases[i].code);
        CHECK(weft_world_error(f.world)->text[0] != 0);
    }
    CHECK_U64(weft_query_create(f.world, NULL).id, 0);
    /* the same component in different descriptions is fine */
    CHECK(FIXTURE_QUERY(&f, {f.a}, {f.a, .match = WEFT_NONE, .alternative = 1}).id != 0);
    fixture_close(&f);
}

Test(query_errors, too_many_alternatives_are_refused)
{
    fixture f;
    fixture_open(&f, 0);
    weft_term terms[65] = {{.access = WEFT_READ}};
    for (uint32_t i = 0; i < 65; i++)
        terms[i] = (weft_term){.component = f.a, .alternative = 1000 + i};
    weft_query_desc desc = {.more_terms = terms, .more_term_count = 64};
    CHECK(weft_query_create(f.world, &desc).id != 0);
    desc.more_term_count = 65;
    CHECK_U64(weft_query_create(f.world, &desc).id, 0);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_LIMIT);
    fixture_close(&f);
}

Test(query_errors, null_stale_and_foreign_handles_are_refused_everywhere)
{
    fixture f, other;
    fixture_open(&f, 0);
    fixture_open(&other, 0);
    weft_query gone = FIXTURE_QUERY(&f, {f.a}), foreign = FIXTURE_QUERY(&other, {other.a});
    foreign = FIXTURE_QUERY(&other, {other.b});
    CHECK_OK(weft_query_destroy(f.world, gone));
    const weft_query bad[] = {{0}, gone, foreign, {UINT32_MAX}};
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_RESULT(weft_query_destroy(f.world, bad[i]), WEFT_BAD_HANDLE);
        CHECK_U64(weft_query_count(f.world, bad[i]), 0);
        CHECK_RESULT(weft_world_error(f.world)->code, WEFT_BAD_HANDLE);
        CHECK(weft_query_is_empty(f.world, bad[i]));
        CHECK_U64(fixture_iterate(&f, bad[i]).runs, 0);
        CHECK_RESULT(weft_query_add(f.world, bad[i], f.a), WEFT_BAD_HANDLE);
        CHECK_RESULT(weft_query_destroy_entities(f.world, bad[i]), WEFT_BAD_HANDLE);
        CHECK_RESULT(weft_query_filter_order(f.world, bad[i], 0), WEFT_BAD_HANDLE);
        weft_indexed indexed;
        CHECK_RESULT(weft_indexed_open(f.world, bad[i], 0, &indexed), WEFT_BAD_HANDLE);
    }
    weft_query again = FIXTURE_QUERY(&f, {f.a}); /* takes the slot, not the name */
    CHECK(again.id != gone.id);
    CHECK_RESULT(weft_query_destroy(f.world, gone), WEFT_BAD_HANDLE);
    fixture_close(&other);
    fixture_close(&f);
}

Test(query_errors, a_handle_never_comes_back_when_the_generations_of_its_place_end)
{
    fixture f;
    fixture_open(&f, 0);
    weft_query first = FIXTURE_QUERY(&f, {f.a}), last, next;
    CHECK_OK(weft_query_destroy(f.world, first));
    weft__query_handle *place =
        f.world->front.queries->handles.at[first.id & WEFT__QUERY_INDEX_MASK];
    place->generation = WEFT__QUERY_GENERATION_LAST;
    last = FIXTURE_QUERY(&f, {f.b});
    CHECK_U64(last.id & WEFT__QUERY_INDEX_MASK, first.id & WEFT__QUERY_INDEX_MASK);
    CHECK_OK(weft_query_destroy(f.world, last));
    for (uint32_t i = 0; i < 3; i++) {
        next = FIXTURE_QUERY(&f, {f.b});
        CHECK((next.id & WEFT__QUERY_INDEX_MASK) != (first.id & WEFT__QUERY_INDEX_MASK));
        CHECK_RESULT(weft_query_destroy_entities(f.world, first), WEFT_BAD_HANDLE);
        CHECK_RESULT(weft_query_destroy(f.world, last), WEFT_BAD_HANDLE);
        CHECK_OK(weft_query_destroy(f.world, next));
    }
    fixture_close(&f);
}

Test(query_errors, one_handle_a_frame_for_ever_names_one_query_each)
{
    fixture f;
    fixture_open(&f, 0);
    weft_query stale = FIXTURE_QUERY(&f, {f.a}), next;
    CHECK_OK(weft_query_destroy(f.world, stale));
    for (uint32_t i = 0; i < 10000; i++) {
        next = FIXTURE_QUERY(&f, {f.b});
        CHECK(next.id != stale.id);
        CHECK_OK(weft_query_destroy(f.world, next));
    }
    CHECK_U64(f.world->front.queries->retired_count, 2);
    fixture_close(&f);
}

Test(query_errors, the_first_query_of_another_world_is_not_taken_for_ones_own)
{
    enum { WORLDS = 6 };
    weft_world *worlds[WORLDS];
    weft_query queries[WORLDS];
    uint32_t refused = 0;
    for (uint32_t i = 0; i < WORLDS; i++) {
        CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &worlds[i]));
        queries[i] = weft_query_create(worlds[i], &(weft_query_desc){0});
        CHECK(queries[i].id != 0);
    }
    for (uint32_t i = 1; i < WORLDS; i++)
        refused += weft_query_destroy(worlds[0], queries[i]) == WEFT_BAD_HANDLE;
    CHECK_U64(refused, WORLDS - 1);
    for (uint32_t i = 0; i < WORLDS; i++) CHECK_OK(weft_world_destroy(worlds[i]));
}

Test(query_errors, a_null_component_between_terms_is_an_error_not_the_end)
{
    fixture f;
    fixture_open(&f, 0);
    const weft_component missing = {0};
    const weft_query_desc gaps[] = {
        {.terms = {{f.a}, {missing}, {f.b}}},
        {.terms = {{missing, WEFT_WRITE}}},
        {.terms = {{f.a}, {missing, .match = WEFT_NONE}}},
        {.terms = {{f.a}, {missing, .alternative = 1}}},
    };
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_U64(weft_query_create(f.world, &gaps[i]).id, 0);
        CHECK_RESULT(weft_world_error(f.world)->code, WEFT_BAD_HANDLE);
        check_text(&f, "is null");
    }
    fixture_close(&f);
}

Test(query_errors, wrong_calls_say_what_to_do)
{
    fixture f;
    fixture_open(&f, 0);
    FIXTURE_CREATE(&f, 2, NULL, f.a, f.b);
    weft_component single = fixture_component(&f, "single", 4, WEFT_RESOURCE);
    weft_component buffer = fixture_component(&f, "buffer", 4, WEFT_BUFFER);
    weft_query query = FIXTURE_QUERY(&f, {f.a});
    int32_t values[3] = {0};
    CHECK_RESULT(weft_query_each_parallel(f.world, query, NULL, NULL), WEFT_INVALID_ARGUMENT);
    check_text(&f, "weft_query_each_parallel: run");
    CHECK_OK(weft_query_each_parallel(f.world, query, ignore_slice, NULL));
    CHECK_RESULT(weft_indexed_open(f.world, query, 0, NULL), WEFT_INVALID_ARGUMENT);
    check_text(&f, "weft_indexed_open: out");
    CHECK_RESULT(weft_query_write_values(f.world, query, f.a, NULL, 2), WEFT_INVALID_ARGUMENT);
    check_text(&f, "values is NULL");
    CHECK_RESULT(weft_query_write_values(f.world, query, f.a, values, 3), WEFT_INVALID_ARGUMENT);
    check_text(&f, "weft_query_count");
    CHECK_RESULT(weft_query_write_values(f.world, query, f.b, values, 2), WEFT_INVALID_ARGUMENT);
    check_text(&f, "add a term");
    CHECK_U64(weft_query_single(f.world, query).index, 0);
    check_text(&f, "narrow the query");
    CHECK_U64(weft_query_single(f.world, FIXTURE_QUERY(&f, {f.d})).index, 0);
    check_text(&f, "create it first");
    CHECK_RESULT(weft_query_set(f.world, query, f.s, values, 4), WEFT_TYPE_MISMATCH);
    check_text(&f, "weft_query_set_shared");
    CHECK_RESULT(weft_query_set(f.world, query, f.h, values, 4), WEFT_TYPE_MISMATCH);
    check_text(&f, "weft_slice_write_chunk");
    CHECK_RESULT(weft_query_set(f.world, query, buffer, values, 4), WEFT_TYPE_MISMATCH);
    check_text(&f, "weft_buffers_append");
    CHECK_RESULT(weft_query_add(f.world, query, single), WEFT_TYPE_MISMATCH);
    check_text(&f, "weft_resource_write");
    weft_cursor cursor = weft_query_begin(f.world, query);
    CHECK(weft_query_next(&cursor));
    CHECK((weft_slice_read_shared(&cursor.slice, 0) != NULL) == WEFT_IS_CHECKED);
    check_text(&f, "weft_slice_read_shared");
    CHECK((weft_slice_read_chunk(&cursor.slice, 0) != NULL) == WEFT_IS_CHECKED);
    check_text(&f, "weft_slice_read_chunk");
    CHECK((weft_slice_read_shared(&cursor.slice, 4) != NULL) == WEFT_IS_CHECKED);
    check_text(&f, "term 4 of 1");
    weft_slice_enable(&cursor.slice, 0, 0, false);
    check_text(&f, "WEFT_WRITE");
    weft_query_end(&cursor);
    fixture_close(&f);
}

Test(query_errors, buffers_of_the_owner_say_why_they_do_not_change)
{
    fixture f;
    fixture_open(&f, 0);
    weft_component list = fixture_component(&f, "list", 4, WEFT_BUFFER);
    int32_t value = 1;
    weft_entity e;
    FIXTURE_CREATE(&f, 1, &e, f.a, list);
    weft_buffers rows = weft_entity_write_buffer(f.world, e, list);
    CHECK_RESULT(weft_buffers_append(&rows, 0, NULL, 1), WEFT_INVALID_ARGUMENT);
    check_text(&f, "elements NULL");
    CHECK_RESULT(weft_buffers_resize(&rows, 1, 1), WEFT_INVALID_ARGUMENT);
    check_text(&f, "weft_buffers_resize: a buffer of component \"list\" is not there");
    CHECK_RESULT(weft_buffers_reserve(&rows, 0, UINT32_MAX), WEFT_LIMIT);
    check_text(&f, "weft_buffers_reserve");
    test_memory_fail(&f.memory, 1, false);
    CHECK_RESULT(weft_buffers_resize(&rows, 0, 1000), WEFT_OUT_OF_MEMORY);
    check_text(&f, "out of memory");
    CHECK_OK(weft_entity_add(f.world, e, f.b));
    CHECK_RESULT(weft_buffers_append(&rows, 0, &value, 1), WEFT_WRONG_PHASE);
    check_text(&f, "open it again");
    const weft_buffers none = {0};
    CHECK_RESULT(weft_buffers_append(&none, 0, &value, 1), WEFT_INVALID_ARGUMENT);
    CHECK_POINTER(weft_buffers_write(&none, 0), NULL);
    CHECK_RESULT(weft_recorder_create(f.world, NULL), WEFT_INVALID_ARGUMENT);
    check_text(&f, "weft_recorder_create: out");
    fixture_close(&f);
}

Test(query_errors, checked_builds_name_access_that_is_not_declared)
{
    fixture f;
    fixture_open(&f, 0);
    FIXTURE_CREATE(&f, 1, NULL, f.a, f.b);
    weft_query query = FIXTURE_QUERY(&f, {f.a}, {f.b, WEFT_NO_ACCESS});
    weft_cursor cursor = weft_query_begin(f.world, query);
    CHECK(weft_query_next(&cursor));
    CHECK(weft_slice_read(&cursor.slice, 0) != NULL);
    CHECK_RESULT(weft_world_error(f.world)->code, WEFT_OK);
    if ((cursor.slice.calls & WEFT_SLICE_CHECKED) != 0) {
        weft_slice_write(&cursor.slice, 0); /* declared for reading */
        CHECK_RESULT(weft_world_error(f.world)->code, WEFT_UNDECLARED_ACCESS);
        CHECK_U64(weft_world_error(f.world)->component.id, f.a.id);
        weft_slice_read(&cursor.slice, 1);
        CHECK_U64(weft_world_error(f.world)->component.id, f.b.id);
        CHECK(weft_slice_read(&cursor.slice, 2) != NULL); /* no such term */
    }
    CHECK_POINTER(weft_slice_recorder(&cursor.slice), NULL);
    CHECK_POINTER(weft_slice_world(&cursor.slice), f.world);
    weft_query_end(&cursor);
    fixture_close(&f);
}
