/* SPDX-License-Identifier: MIT */
/* test_buffers.c: dynamic buffers of rows, through cursors, systems, look-ups, in-place rows and
 * by entity: what is read and changed is what was meant, and nothing else can be. */
#include "systems_bed.h"

#include "invariant.h"

typedef struct item {
    uint32_t owner, number, extra;
} item;

static weft_component items, wide;
static weft_entity listed[100];

/* 100 rows with three values: a, a list of items (inline up to 3), a list of 48 byte elements. */
static void lists_begin(uint32_t workers)
{
    begin(workers);
    items = weft_component_create(t.world, &(weft_component_desc){.name = "items",
                                                                  .size = sizeof(item),
                                                                  .alignment = 4,
                                                                  .flags = WEFT_BUFFER,
                                                                  .buffer_capacity = 3});
    wide = weft_component_create(t.world, &(weft_component_desc){.name = "wide",
                                                                 .size = 48,
                                                                 .alignment = 16,
                                                                 .flags = WEFT_BUFFER,
                                                                 .buffer_capacity = 1});
    weft_component set[] = {t.a, items, wide};
    CHECK_OK(weft_entity_create_many(t.world, weft_archetype_create(t.world, set, 3), 100, listed));
}

/* Row i gets i % 7 more items. */
static void append_items(weft_slice *slice, void *user)
{
    (void)user;
    weft_buffers rows = weft_slice_write_buffers(slice, 0);
    CHECK_U64(rows.count, weft_slice_count(slice));
    CHECK(weft_slice_entities(slice) != NULL);
    for (uint32_t row = 0; row < rows.count; row++) {
        uint32_t owner = weft_slice_entities(slice)[row].index;
        for (uint32_t k = 0; k < owner % 7; k++)
            CHECK_OK(weft_buffers_append(&rows, row, &(item){owner, k, ~owner}, 1));
    }
}

static void items_check(uint32_t rounds)
{
    for (uint32_t i = 0; i < 100; i++) {
        weft_buffers one = weft_entity_read_buffer(t.world, listed[i], items);
        uint32_t owner = listed[i].index;
        CHECK_U64(one.count, 1);
        CHECK_U64(weft_buffers_length(&one, 0), owner % 7 * rounds);
        const item *of = weft_buffers_read(&one, 0);
        for (uint32_t k = 0; k < weft_buffers_length(&one, 0); k++) {
            CHECK_U64(of[k].owner, owner);
            CHECK_U64(of[k].number, k % (owner % 7));
            CHECK_U64(of[k].extra, ~owner);
        }
        weft_buffers other = weft_entity_read_buffer(t.world, listed[i], wide);
        CHECK_U64(weft_buffers_length(&other, 0), 0);
    }
    CHECK_OK(weft_world_validate(t.world));
}

PLAIN_TEST(rows_of_cursors_and_systems_have_their_own_elements)
{
    for (uint32_t workers = 1; workers <= 3; workers += 2) {
        lists_begin(workers);
        weft_query_desc desc = {.terms = {{items, WEFT_WRITE, 0, 0}, {wide, WEFT_READ, 0, 0}}};
        weft_query query = weft_query_create(t.world, &desc);
        weft_cursor c = weft_query_begin(t.world, query);
        while (weft_query_next(&c)) append_items(&c.slice, NULL);
        items_check(1);
        make(&(weft_system_desc){.name = "filler", .run = append_items, .over.rows = desc});
        CHECK_OK(weft_world_step(t.world, 0));
        items_check(2);
        CHECK_OK(weft_query_each_parallel(t.world, query, append_items, NULL));
        items_check(3);
        end();
    }
}

PLAIN_TEST(a_buffer_has_no_column_that_could_be_indexed)
{
    lists_begin(1);
    weft_query query = weft_query_create(
        t.world, &(weft_query_desc){.terms = {{items, WEFT_WRITE, 0, 0}, {t.a, WEFT_READ, 0, 0}}});
    weft_cursor c = weft_query_begin(t.world, query);
    while (weft_query_next(&c)) {
        CHECK(weft_slice_read(&c.slice, 1) != NULL);
        CHECK((weft_slice_write(&c.slice, 0) != NULL) == WEFT_IS_CHECKED);
        CHECK((weft_slice_read(&c.slice, 0) != NULL) == WEFT_IS_CHECKED);
    }
    if (WEFT_IS_CHECKED) check_error(WEFT_UNDECLARED_ACCESS, "weft_slice_write_buffers");
    weft_indexed indexed;
    CHECK_RESULT(weft_indexed_open(t.world, query, 0, &indexed), WEFT_INVALID_ARGUMENT);
    check_error(WEFT_INVALID_ARGUMENT, "weft_slice_write_buffers");
    end();
}

PLAIN_TEST(another_component_is_refused_and_neighbours_keep_their_values)
{
    lists_begin(1);
    weft_world *there;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &there));
    weft_component foreign = items;
    foreign.world++;
    weft_buffers rows = weft_entity_write_buffer(t.world, listed[5], t.a);
    CHECK_U64(rows.count, 0);
    check_error(WEFT_TYPE_MISMATCH, "no BUFFER");
    CHECK_RESULT(weft_buffers_append(&rows, 0, &(item){0}, 1), WEFT_INVALID_ARGUMENT);
    CHECK_U64(weft_entity_write_buffer(t.world, listed[5], foreign).count, 0);
    check_error(WEFT_BAD_HANDLE, "another world");
    CHECK_U64(weft_entity_write_buffer(t.world, t.rows[0], items).count, 0);
    check_error(WEFT_NOT_FOUND, "items");
    rows = weft_entity_write_buffer(t.world, listed[5], items);
    CHECK_RESULT(weft_buffers_append(&rows, 1, &(item){0}, 1), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_buffers_append(&rows, 0, NULL, 1), WEFT_INVALID_ARGUMENT);
    CHECK((weft_buffers_write(&rows, 1) != NULL) == WEFT_IS_CHECKED);
    CHECK_U64(weft_buffers_length(&rows, 1), 0);
    CHECK_U64(weft_buffers_length(&rows, 0), 0);
    CHECK_OK(weft_world_destroy(there));
    end();
}

static void append_through_read(weft_slice *slice, void *user)
{
    (void)user;
    weft_buffers rows = weft_slice_read_buffers(slice, 0);
    CHECK(rows.count != 0);
    CHECK_RESULT(weft_buffers_append(&rows, 0, &(item){0}, 1), WEFT_UNDECLARED_ACCESS);
    CHECK_RESULT(weft_buffers_resize(&rows, 0, 9), WEFT_UNDECLARED_ACCESS);
    CHECK((weft_buffers_write(&rows, 0) != NULL) == WEFT_IS_CHECKED);
    CHECK_U64(weft_slice_write_buffers(slice, 0).writable_count, 0);
    CHECK_U64(weft_slice_read_buffers(slice, 7).count, 0);
}

PLAIN_TEST(what_was_opened_or_declared_for_reading_is_not_changed)
{
    for (uint32_t workers = 1; workers <= 3; workers += 2) {
        lists_begin(workers);
        weft_query_desc desc = {.terms = {{items, WEFT_READ, 0, 0}}};
        weft_cursor c = weft_query_begin(t.world, weft_query_create(t.world, &desc));
        while (weft_query_next(&c)) append_through_read(&c.slice, NULL);
        check_error(WEFT_UNDECLARED_ACCESS, "does not exist");
        make(&(weft_system_desc){.name = "sneak", .run = append_through_read, .over.rows = desc});
        weft_result result = weft_world_step(t.world, 0);
        if (WEFT_IS_CHECKED) CHECK_RESULT(result, WEFT_UNDECLARED_ACCESS);
        weft_buffers one = weft_entity_read_buffer(t.world, listed[3], items);
        CHECK_RESULT(weft_buffers_append(&one, 0, &(item){0}, 1), WEFT_UNDECLARED_ACCESS);
        check_error(WEFT_UNDECLARED_ACCESS, "WEFT_WRITE");
        items_check(0);
        end();
    }
}

PLAIN_TEST(buffers_opened_before_structure_changed_are_refused)
{
    lists_begin(1);
    weft_buffers rows = weft_entity_write_buffer(t.world, listed[7], items);
    CHECK_OK(weft_buffers_append(&rows, 0, &(item){7, 0, 0}, 1));
    CHECK_OK(weft_entity_add(t.world, listed[7], t.tag));
    CHECK_RESULT(weft_buffers_append(&rows, 0, &(item){7, 1, 0}, 1), WEFT_WRONG_PHASE);
    rows = weft_entity_write_buffer(t.world, listed[7], items);
    CHECK_U64(weft_buffers_length(&rows, 0), 1);
    CHECK_OK(weft_buffers_append(&rows, 0, &(item){7, 1, 0}, 1));
    end();
}

PLAIN_TEST(rows_of_a_recorder_have_buffers_that_live_on)
{
    lists_begin(1);
    weft_recorder *commands;
    CHECK_OK(weft_recorder_create(t.world, &commands));
    weft_component set[] = {t.a, items};
    weft_archetype archetype = weft_archetype_create(t.world, set, 2);
    weft_component order[2];
    CHECK_U64(weft_archetype_components(t.world, archetype, order, 2), 2);
    uint32_t position = order[0].id == items.id ? 0 : 1;
    weft_slice made;
    CHECK_OK(weft_recorder_create_rows(commands, archetype, 10, &made));
    weft_buffers rows = weft_slice_write_buffers(&made, position);
    CHECK_U64(rows.count, 10);
    CHECK_U64(weft_slice_write_buffers(&made, 1 - position).count, 0);
    for (uint32_t row = 0; row < 10; row++)
        for (uint32_t k = 0; k < row; k++)
            CHECK_OK(weft_buffers_append(&rows, row, &(item){row, k, 1}, 1));
    CHECK_RESULT(weft_recorder_play(commands), WEFT_UNDECLARED_ACCESS); /* no BUFFER */
    weft_recorder_destroy(commands);
    weft_query query = weft_query_create(
        t.world,
        &(weft_query_desc){.terms = {{items, WEFT_READ, 0, 0}, {wide, 0, WEFT_ABSENT, 0}}});
    CHECK_U64(weft_query_count(t.world, query), 10);
    weft_cursor c = weft_query_begin(t.world, query);
    while (weft_query_next(&c)) {
        rows = weft_slice_read_buffers(&c.slice, 0);
        for (uint32_t row = 0; row < rows.count; row++) {
            CHECK_U64(weft_buffers_length(&rows, row), row);
            const item *of = weft_buffers_read(&rows, row);
            for (uint32_t k = 0; k < row; k++) CHECK(of[k].owner == row && of[k].number == k);
        }
    }
    end();
}

static void append_far(weft_slice *slice, void *user)
{
    (void)user;
    weft_buffers far = weft_slice_write_entity_buffer(slice, listed[9], items);
    CHECK_U64(far.count, 1);
    CHECK_OK(weft_buffers_append(&far, 0, &(item){9, 9, 9}, 1));
    CHECK_U64(weft_slice_read_entity_buffer(slice, listed[9], t.a).count, 0); /* no BUFFER */
    CHECK_U64(weft_slice_read_entity_buffer(slice, t.rows[0], items).count, 0);
}

PLAIN_TEST(buffers_of_other_entities_are_reached_as_declared)
{
    lists_begin(1);
    make(&(weft_system_desc){
        .name = "far", .run = append_far, .lookups = {{items, WEFT_WRITE}, {t.a, WEFT_READ}}});
    CHECK_RESULT(weft_world_step(t.world, 0), WEFT_IS_CHECKED ? WEFT_TYPE_MISMATCH : WEFT_OK);
    weft_buffers one = weft_entity_read_buffer(t.world, listed[9], items);
    CHECK_U64(weft_buffers_length(&one, 0), 1);
    end();
}

/* ---- checked builds: buffers that are kept ---- */

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define IS_POISONED(at) (__asan_address_is_poisoned(at) != 0)
#else
#define IS_POISONED(at) false
#endif

typedef weft_buffers (*opener)(const weft_slice *slice);

static weft_buffers kept;

static weft_buffers open_rows(const weft_slice *slice)
{
    return weft_slice_write_buffers(slice, 0);
}

static weft_buffers open_entity(const weft_slice *slice)
{
    return weft_slice_write_entity_buffer(slice, listed[9], items);
}

static void keep(weft_slice *slice, void *user)
{
    kept = (*(const opener *)user)(slice);
    CHECK_OK(weft_buffers_append(&kept, 0, &(item){0}, 1));
}

static void use_kept(weft_slice *slice, void *user)
{
    (void)slice, (void)user;
    CHECK_RESULT(weft_buffers_append(&kept, 0, &(item){1, 1, 1}, 1), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_buffers_resize(&kept, 0, 9), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_buffers_reserve(&kept, 0, 9), WEFT_WRONG_PHASE);
}

static void look_at_kept(weft_slice *slice, void *user)
{
    (void)slice, (void)user;
    if (IS_POISONED(kept.rows)) return;
    CHECK_U64(weft_buffers_length(&kept, 0), 0);
    CHECK(weft_buffers_read(&kept, 0) != NULL);
    *(item *)weft_buffers_write(&kept, 0) = (item){1, 1, 1};
}

/* A system opens what the next one uses. */
static void expect_kept(opener open, void (*use)(weft_slice *, void *), const char *words)
{
    lists_begin(1);
    make(&(weft_system_desc){.name = "keeper",
                             .run = keep,
                             .user = &open,
                             .over.rows.terms = {{items, WEFT_WRITE, 0, 0}},
                             .lookups = {{open == open_entity ? items : t.a, WEFT_WRITE}},
                             .flags = WEFT_SYSTEM_SERIAL});
    make(&(weft_system_desc){.name = "user", .run = use});
    weft_result result = weft_world_step(t.world, 0);
    bool is_named = use == use_kept || !IS_POISONED(kept.rows);
    CHECK_RESULT(result, is_named ? WEFT_UNDECLARED_ACCESS : WEFT_OK);
    CHECK(!is_named || strstr(weft_world_error(t.world)->text, words) != NULL);
    for (uint32_t i = 0; i < 100; i++) {
        weft_buffers one = weft_entity_read_buffer(t.world, listed[i], items);
        const item *of = weft_buffers_read(&one, 0);
        for (uint32_t k = 0; k < weft_buffers_length(&one, 0); k++) CHECK_U64(of[k].number, 0);
    }
    end();
}

PLAIN_TEST(buffers_kept_past_their_callback_are_named_and_harmless)
{
    if (!WEFT_IS_CHECKED) return;
    expect_kept(open_rows, use_kept, "'user', slice 0 (write): used a slice, or buffers of it");
    expect_kept(open_entity, use_kept, "'user', slice 0 (write): used a slice, or buffers of it");
    expect_kept(open_rows, look_at_kept, "component items (write): was written through a pointer");
}
