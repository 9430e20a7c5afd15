/* SPDX-License-Identifier: MIT */
/* test_rows_slice.c: what the slice of rows made in place can do: its enable bits and shared
 * values work, and every other function answers without harm and is reported by playback. */
#include "invariant.h"
#include "plain.h"

#include <weft/finder.h>
#include <weft/weft.h>

#include <string.h>

typedef struct bed {
    weft_world *world;
    weft_component number, bit, second, team, mark, list, zone, global;
    weft_archetype archetype;
    weft_query all;
    weft_recorder *commands;
    weft_slice rows;
} bed;

static bed b;

enum { MOST = 6000 };

static void bed_open(void)
{
    b = (bed){0};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 2}, &b.world));
    b.number = weft_component_create_plain(b.world, "number", 4, 4, 0);
    b.bit = weft_component_create_plain(b.world, "bit", 4, 4, WEFT_ENABLEABLE);
    b.second = weft_component_create_plain(b.world, "second", 0, 1, WEFT_ENABLEABLE);
    b.team = weft_component_create_plain(b.world, "team", 4, 4, WEFT_SHARED);
    b.mark = weft_component_create_plain(b.world, "mark", 0, 1, 0);
    b.list = weft_component_create_plain(b.world, "list", 4, 4, WEFT_BUFFER);
    b.zone = weft_component_create_plain(b.world, "zone", 4, 4, WEFT_CHUNK);
    b.global = weft_component_create_plain(b.world, "global", 4, 4, WEFT_RESOURCE);
    weft_component set[] = {b.number, b.bit, b.second, b.team, b.mark, b.list, b.zone};
    b.archetype = weft_archetype_create(b.world, set, 7);
    CHECK(b.archetype.id != 0);
    b.all = weft_query_create(b.world, &(weft_query_desc){.terms = {{b.number, WEFT_READ, 0, 0},
                                                                    {b.team, WEFT_READ, 0, 0}}});
    CHECK_OK(weft_recorder_create(b.world, &b.commands));
}

static void bed_close(void)
{
    weft_recorder_destroy(b.commands);
    CHECK_OK(weft_world_validate(b.world));
    CHECK_OK(weft_world_destroy(b.world));
}

static uint32_t term_of(weft_component component)
{
    weft_component order[8];
    uint32_t count = weft_archetype_components(b.world, b.archetype, order, 8);
    for (uint32_t i = 0; i < count; i++)
        if (order[i].id == component.id) return i;
    return UINT32_MAX;
}

/* ---- what works ---- */

static bool bit_of(uint32_t number)
{
    return number % 3 != 0;
}

static bool second_of(uint32_t number)
{
    return number % 5 != 1;
}

/* Makes `count` rows of a team, in calls of at most `step`. */
static void make(uint32_t first, uint32_t count, uint32_t step, uint32_t team, bool unordered)
{
    uint32_t last = first + count;
    while (first < last) {
        uint32_t left = last - first < step ? last - first : step;
        weft_rows_desc desc = {.archetype = b.archetype, .count = left, .is_unordered = unordered};
        desc.shared_count = team == 0 ? 0 : 1; /* 0: the default */
        desc.shared = &(weft_values){b.team, &team};
        CHECK_OK(weft_recorder_create_rows_with(b.commands, &desc, &b.rows));
        CHECK_U64(*(const uint32_t *)weft_slice_read_shared(&b.rows, term_of(b.team)), team);
        uint32_t *numbers = weft_slice_write(&b.rows, term_of(b.number));
        for (uint32_t row = 0; row < b.rows.count; row++) {
            numbers[row] = first + row;
            weft_slice_enable(&b.rows, term_of(b.bit), row, bit_of(first + row));
            weft_slice_enable(&b.rows, term_of(b.second), row, second_of(first + row));
        }
        first += b.rows.count;
    }
}

static void check_bits(uint32_t expected)
{
    static weft_entity entities[MOST];
    uint64_t count = weft_query_entities(b.world, b.all, entities, MOST), sum = 0;
    CHECK_U64(count, expected);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t number = *(const uint32_t *)weft_entity_read(b.world, entities[i], b.number);
        CHECK(weft_entity_is_enabled(b.world, entities[i], b.bit) == bit_of(number));
        CHECK(weft_entity_is_enabled(b.world, entities[i], b.second) == second_of(number));
        sum += number;
    }
    CHECK_U64(sum, (uint64_t)expected * (expected - 1) / 2);
    CHECK_OK(weft_world_validate(b.world));
}

PLAIN_TEST(enable_bits_and_shared_values_of_rows_made_in_place_are_kept)
{
    for (uint32_t unordered = 0; unordered < 2; unordered++) {
        bed_open();
        make(0, 2000, 700, 0, unordered != 0); /* chunks that are linked */
        make(2000, 10, 3, 4, unordered != 0);  /* one that is emptied into another */
        CHECK_OK(weft_recorder_play(b.commands));
        check_bits(2010);
        make(2010, 7, 7, 4, unordered != 0);
        make(2017, 3000, 900, 5, unordered != 0);
        make(5017, 5, 1, 0, unordered != 0);
        CHECK_OK(weft_recorder_play(b.commands));
        check_bits(5022);
        make(5022, 100, 100, 6, unordered != 0); /* and rows that never come */
        bed_close();
    }
}

PLAIN_TEST(rows_made_in_place_know_their_recorder_and_count_as_changed)
{
    bed_open();
    CHECK_OK(weft_recorder_create_rows(b.commands, b.archetype, 3, &b.rows));
    CHECK(weft_slice_recorder(&b.rows) == b.commands);
    CHECK(weft_slice_world(&b.rows) == b.world);
    CHECK(weft_slice_changed_since(&b.rows, term_of(b.number), 1));
    CHECK(weft_slice_order_changed_since(&b.rows, 1));
    CHECK_U64(weft_slice_change_version(&b.rows, term_of(b.number)), 0);
    CHECK_U64(weft_slice_since(&b.rows), 0);
    CHECK(weft_slice_job(&b.rows) == NULL);
    CHECK_U64(weft_slice_frame(&b.rows).number, 0);
    CHECK(weft_slice_read(&b.rows, term_of(b.mark)) == NULL);
    CHECK_OK(weft_recorder_play(b.commands));
    bed_close();
}

/* ---- what does not ---- */

/* Checked builds answer a mistake with memory that stands in. */
#define CHECK_STAND_IN(value) CHECK(((value) != NULL) == WEFT_IS_CHECKED)

static void column_of_buffer(void)
{
    CHECK_STAND_IN(weft_slice_write(&b.rows, term_of(b.list)));
}

static void no_such_column(void)
{
    CHECK_STAND_IN(weft_slice_read(&b.rows, 7));
}

static void shared_of_another(void)
{
    CHECK_STAND_IN(weft_slice_read_shared(&b.rows, term_of(b.number)));
}

static void shared_beyond(void)
{
    CHECK_STAND_IN(weft_slice_read_shared(&b.rows, 7));
}

static void chunk_value(void)
{
    CHECK_STAND_IN(weft_slice_write_chunk(&b.rows, term_of(b.zone)));
}

static void chunk_value_beyond(void)
{
    CHECK_STAND_IN(weft_slice_read_chunk(&b.rows, UINT32_MAX));
}

static void enable_another(void)
{
    weft_slice_enable(&b.rows, term_of(b.number), 0, false);
}

static void enable_term_beyond(void)
{
    weft_slice_enable(&b.rows, 7, 0, false);
}

static void version_beyond(void)
{
    CHECK_U64(weft_slice_change_version(&b.rows, 7), 0);
}

static void change_beyond(void)
{
    CHECK(weft_slice_changed_since(&b.rows, 7, 1));
}

static void another_entity(void)
{
    weft_entity entity = weft_recorder_row_entity(b.commands, &b.rows, 0);
    CHECK_STAND_IN(weft_slice_read_entity(&b.rows, entity, b.number));
}

static void write_another_entity(void)
{
    CHECK_STAND_IN(weft_slice_write_entity(&b.rows, (weft_entity){1, 1}, b.number));
}

static void finder(void)
{
    weft_finder f = weft_slice_finder(&b.rows, b.number);
    CHECK(weft_finder_read(&f, (weft_entity){1, 1}) == NULL);
}

static void resource(void)
{
    CHECK_STAND_IN(weft_slice_write_resource(&b.rows, b.global));
}

static void wrong_buffers(void)
{
    weft_buffers none = weft_slice_write_buffers(&b.rows, term_of(b.number));
    CHECK_U64(none.count, 0);
    CHECK_STAND_IN(weft_buffers_write(&none, 0));
}

static void buffers_beyond(void)
{
    weft_buffers none = weft_slice_read_buffers(&b.rows, 7);
    CHECK_U64(none.count, 0);
    CHECK_STAND_IN(weft_buffers_write(&none, 0));
}

static void buffer_of_another(void)
{
    weft_buffers list = weft_slice_read_entity_buffer(&b.rows, (weft_entity){1, 1}, b.list);
    CHECK_U64(weft_buffers_length(&list, 0), 0);
}

static void another_query(void)
{
    weft_cursor c = weft_slice_query(&b.rows, b.all);
    CHECK(!weft_query_next(&c));
}

static void (*const uses[])(void) = {
    column_of_buffer, no_such_column,     shared_of_another,
    shared_beyond,    chunk_value,        chunk_value_beyond,
    enable_another,   enable_term_beyond, version_beyond,
    change_beyond,    another_entity,     write_another_entity,
    finder,           resource,           wrong_buffers,
    buffers_beyond,   buffer_of_another,  another_query,
};

PLAIN_TEST(what_rows_made_in_place_cannot_do_is_reported_by_playback)
{
    for (uint32_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        bed_open();
        CHECK_OK(weft_recorder_create_rows(b.commands, b.archetype, 3, &b.rows));
        uses[i]();
        CHECK_RESULT(weft_recorder_play(b.commands), WEFT_UNDECLARED_ACCESS);
        CHECK(strstr(weft_world_error(b.world)->text, "rows made in place") != NULL);
        CHECK(strstr(weft_world_error(b.world)->text, "the slice of the system") != NULL);
        CHECK_U64(weft_query_count(b.world, b.all), 3);
        CHECK_OK(weft_recorder_play(b.commands));
        bed_close();
    }
}

PLAIN_TEST(a_row_beyond_those_made_in_place_is_not_found_by_playback)
{
    bed_open();
    CHECK_OK(weft_recorder_create_rows(b.commands, b.archetype, 3, &b.rows));
    weft_slice_enable(&b.rows, term_of(b.bit), b.rows.count, false);
    CHECK_RESULT(weft_recorder_play(b.commands), WEFT_NOT_FOUND);
    CHECK(strstr(weft_world_error(b.world)->text, "rows count from 0 to count - 1") != NULL);
    CHECK_U64(weft_query_count(b.world, b.all), 3);
    bed_close();
}

/* ---- rows that were played ---- */

static void column_of_played(void)
{
    CHECK_STAND_IN(weft_slice_write(&b.rows, term_of(b.number)));
}

static void column_of_played_for_reading(void)
{
    CHECK_STAND_IN(weft_slice_read(&b.rows, term_of(b.number)));
}

static void buffers_of_played(void)
{
    CHECK_U64(weft_slice_write_buffers(&b.rows, term_of(b.list)).count, 0);
}

static void shared_of_played(void)
{
    CHECK_STAND_IN(weft_slice_read_shared(&b.rows, term_of(b.team)));
}

static void enable_played(void)
{
    weft_slice_enable(&b.rows, term_of(b.bit), 0, false);
}

static void entity_of_played(void)
{
    CHECK(weft_entity_is_null(weft_recorder_row_entity(b.commands, &b.rows, 0)));
}

static weft_buffers opened;

static void grow_played(void)
{
    CHECK_RESULT(weft_buffers_append(&opened, 0, &(uint32_t){1}, 1), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_buffers_resize(&opened, 1, 9), WEFT_WRONG_PHASE);
}

static void (*const uses_of_played[])(void) = {
    column_of_played,  column_of_played_for_reading,
    buffers_of_played, shared_of_played,
    enable_played,     entity_of_played,
    grow_played,       chunk_value,
    version_beyond,    resource,
    another_query,
};

/* Makes three rows whose bits are set, plays them, and makes others in the place of the command. */
static void play_three(bool unordered, bool with_others)
{
    weft_rows_desc desc = {.archetype = b.archetype, .count = 3, .is_unordered = unordered};
    weft_slice others;
    CHECK_OK(weft_recorder_create_rows_with(b.commands, &desc, &b.rows));
    opened = weft_slice_write_buffers(&b.rows, term_of(b.list));
    CHECK_OK(weft_buffers_append(&opened, 0, &(uint32_t){5}, 1));
    CHECK_OK(weft_recorder_play(b.commands));
    if (with_others) CHECK_OK(weft_recorder_create_rows_with(b.commands, &desc, &others));
}

PLAIN_TEST(rows_that_were_played_are_refused_by_name)
{
    for (uint32_t i = 0; i < 4 * (sizeof uses_of_played / sizeof uses_of_played[0]); i++) {
        bed_open();
        play_three(i % 2 == 0, i % 4 < 2);
        uint64_t before = weft_world_hash(b.world, WEFT_HASH_CONTENT);
        uses_of_played[i / 4]();
        CHECK_U64(weft_world_hash(b.world, WEFT_HASH_CONTENT), before);
        CHECK_RESULT(weft_recorder_play(b.commands), WEFT_STALE_ENTITY);
        CHECK(strstr(weft_world_error(b.world)->text, "used after playback") != NULL);
        CHECK_U64(weft_query_count(b.world, b.all), i % 4 < 2 ? 6 : 3);
        CHECK_OK(weft_recorder_play(b.commands));
        bed_close();
    }
}

PLAIN_TEST(rows_of_another_recorder_have_no_handles_here)
{
    bed_open();
    weft_recorder *other;
    CHECK_OK(weft_recorder_create(b.world, &other));
    CHECK_OK(weft_recorder_create_rows(b.commands, b.archetype, 3, &b.rows));
    CHECK(weft_entity_is_null(weft_recorder_row_entity(other, &b.rows, 1)));
    CHECK(!weft_entity_is_null(weft_recorder_row_entity(b.commands, &b.rows, 1)));
    CHECK_RESULT(weft_recorder_play(other), WEFT_STALE_ENTITY);
    CHECK_OK(weft_recorder_play(b.commands));
    weft_recorder_destroy(other);
    bed_close();
}

/* ---- rows that were refused ---- */

static void shared_of_none(void)
{
    CHECK_STAND_IN(weft_slice_read_shared(&b.rows, 0));
}

static void enable_none(void)
{
    weft_slice_enable(&b.rows, 0, 0, false);
}

static void column_of_none(void)
{
    CHECK_STAND_IN(weft_slice_write(&b.rows, 0));
}

static void chunk_value_of_none(void)
{
    CHECK_STAND_IN(weft_slice_read_chunk(&b.rows, 0));
}

static void buffers_of_none(void)
{
    CHECK_U64(weft_slice_write_buffers(&b.rows, 0).count, 0);
}

static void (*const uses_of_none[])(void) = {
    shared_of_none,  enable_none,    column_of_none, chunk_value_of_none,
    buffers_of_none, version_beyond, change_beyond,  enable_term_beyond,
};

PLAIN_TEST(rows_that_were_refused_can_be_asked_for_nothing)
{
    for (uint32_t i = 0; i < sizeof uses_of_none / sizeof uses_of_none[0]; i++) {
        bed_open();
        CHECK_RESULT(weft_recorder_create_rows(b.commands, (weft_archetype){0}, 3, &b.rows),
                     WEFT_BAD_HANDLE);
        CHECK_U64(b.rows.count, 0);
        uses_of_none[i]();
        CHECK(weft_slice_order_changed_since(&b.rows, 1));
        CHECK_RESULT(weft_recorder_play(b.commands), WEFT_BAD_HANDLE); /* the first one */
        bed_close();
    }
}
