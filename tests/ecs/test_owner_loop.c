/* SPDX-License-Identifier: MIT */
/* test_owner_loop.c: what checked builds find in loops of the owner: each mistake is named and
 * undone, and no right use is taken for one. */
#include "invariant.h"

#include <weft/ecs.h>

#include "plain.h"

#include <string.h>

enum { ROWS = 100, KINDS = 12 };

typedef struct bed {
    weft_world *world;
    weft_component position, speed, kinds[KINDS];
    weft_query moving, reading; /* position written, speed read; both read */
    weft_entity entities[KINDS][ROWS];
} bed;

static void open_bed(bed *b)
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &b->world));
    b->position = weft_component_create_plain(b->world, "position", sizeof(uint32_t), 4, 0);
    b->speed = weft_component_create_plain(b->world, "speed", sizeof(uint32_t), 4, 0);
    for (int k = 0; k < KINDS; k++) {
        char name[8] = {'k', (char)('a' + k), 0};
        b->kinds[k] = weft_component_create_plain(b->world, name, 0, 1, WEFT_ENABLEABLE);
        weft_component list[3] = {b->position, b->speed, b->kinds[k]};
        CHECK_OK(weft_entity_create_many(b->world, weft_archetype_create(b->world, list, 3), ROWS,
                                         b->entities[k]));
    }
    b->moving = weft_query_create(
        b->world, &(weft_query_desc){.terms = {{b->position, WEFT_WRITE}, {b->speed}}});
    b->reading =
        weft_query_create(b->world, &(weft_query_desc){.terms = {{b->position}, {b->speed}}});
}

static void close_bed(bed *b)
{
    CHECK_OK(weft_world_validate(b->world));
    CHECK_OK(weft_world_destroy(b->world));
}

static uint32_t *writable(const void *values)
{
    return (uint32_t *)(uintptr_t)values;
}

/* The world's error is a mistake with these words, and the content is as it was (`hash` 0: a loop
 * is open, not asked). */
static void expect(const bed *b, uint64_t hash, const char *const *words)
{
    CHECK_RESULT(weft_world_error(b->world)->code, WEFT_UNDECLARED_ACCESS);
    for (; *words != NULL; words++)
        if (strstr(weft_world_error(b->world)->text, *words) == NULL)
            CHECK_TEXT(weft_world_error(b->world)->text, *words);
    if (hash != 0) CHECK_U64(weft_world_hash(b->world, WEFT_HASH_CONTENT), hash);
}

static uint64_t errors_of(const bed *b)
{
    return weft_world_error(b->world)->number;
}

PLAIN_TEST(a_write_through_a_pointer_for_reading_is_named_and_undone)
{
    bed b;
    if (!WEFT_IS_CHECKED) return;
    open_bed(&b);
    uint64_t hash = weft_world_hash(b.world, WEFT_HASH_CONTENT);
    weft_cursor c = weft_query_begin(b.world, b.moving);
    CHECK(weft_query_next(&c));
    writable(weft_slice_read(&c.slice, 1))[7] = 1;
    CHECK(weft_query_next(&c));
    expect(&b, 0,
           (const char *const[]){"weft_query_next", "(position, speed)", "component speed",
                                 "row 7 of the slice", "only reads it", NULL});
    CHECK(weft_entity_equal(weft_world_error(b.world)->entity, b.entities[0][7]));
    writable(weft_slice_read(&c.slice, 1))[8] = 1; /* left early */
    weft_query_end(&c);
    expect(&b, hash, (const char *const[]){"weft_query_end", "component speed", "row 8", NULL});
    close_bed(&b);
}

PLAIN_TEST(a_write_behind_the_slice_or_to_its_handles_is_named_and_undone)
{
    bed b;
    if (!WEFT_IS_CHECKED) return;
    open_bed(&b);
    uint64_t hash = weft_world_hash(b.world, WEFT_HASH_CONTENT);
    weft_cursor c = weft_query_begin(b.world, b.moving);
    CHECK(weft_query_next(&c));
    uint32_t *values = weft_slice_write(&c.slice, 0);
    values[weft_slice_count(&c.slice)] = 1;
    weft_query_end(&c);
    expect(&b, hash, (const char *const[]){"component position", "behind the last row", NULL});
    c = weft_query_begin(b.world, b.moving);
    CHECK(weft_query_next(&c));
    values = weft_slice_write(&c.slice, 0);
    weft_entity *handles = (weft_entity *)(uintptr_t)c.slice.entities;
    handles[3].index++;
    weft_query_end(&c);
    expect(&b, hash, (const char *const[]){"(entity handles)", "row 3", NULL});
    close_bed(&b);
}

PLAIN_TEST(a_write_through_a_pointer_to_an_earlier_slice_is_named_and_undone)
{
    bed b;
    if (!WEFT_IS_CHECKED) return;
    open_bed(&b);
    uint64_t hash = weft_world_hash(b.world, WEFT_HASH_CONTENT);
    for (int later = 1; later < KINDS; later++) {
        weft_cursor c = weft_query_begin(b.world, b.moving);
        uint32_t *kept = NULL;
        uint64_t before = errors_of(&b);
        for (int k = 0; weft_query_next(&c); k++) {
            if (k == 0) kept = weft_slice_write(&c.slice, 0);
            if (k != later || k >= 7) continue;
            kept[9] = 1;
            if (later % 2 == 0) continue; /* found when the place of the chunk is used again */
            weft_query_end(&c);           /* found by a look at all places */
            break;
        }
        if (later >= 7) continue; /* its place was used again */
        CHECK_U64(errors_of(&b), before + 1);
        expect(&b, hash,
               (const char *const[]){"component position", "row 9 of its chunk",
                                     "valid until the next weft_query_next", NULL});
    }
    close_bed(&b);
}

/* Everything that is right leaves no error and keeps its values. */
PLAIN_TEST(other_ways_to_a_value_are_no_mistakes_in_a_loop)
{
    bed b;
    open_bed(&b);
    static uint32_t values[KINDS * ROWS];
    uint64_t before = errors_of(&b);
    uint32_t *early = weft_entity_write(b.world, b.entities[0][1], b.speed);
    weft_cursor c = weft_query_begin(b.world, b.moving);
    for (uint32_t k = 0; weft_query_next(&c); k++) {
        uint32_t *position = weft_slice_write(&c.slice, 0), set = 100 + k;
        const uint32_t *speed = weft_slice_read(&c.slice, 1);
        *early = k + 1;
        position[0] = k;
        const uint32_t *got = weft_entity_read(b.world, c.slice.entities[0], b.position);
        CHECK_U64(*got, k);
        CHECK_OK(weft_entity_set(b.world, c.slice.entities[2], b.speed, &set, sizeof set));
        CHECK_U64(speed[2], set);
        CHECK_OK(weft_entity_set(b.world, c.slice.entities[0], b.position, &set, sizeof set));
        CHECK_U64(position[0], set);
        uint32_t *late = weft_entity_write(b.world, c.slice.entities[3], b.speed);
        *late = set;
        CHECK_U64(speed[3], set);
    }
    CHECK_U64(*early, KINDS);
    CHECK_U64(weft_query_read_values(b.world, b.moving, b.speed, values, KINDS * ROWS),
              KINDS * ROWS);
    CHECK_U64(values[2], 100);
    CHECK_U64(values[3], 100);
    CHECK_U64(values[(KINDS - 1) * ROWS + 3], 100 + KINDS - 1);
    CHECK_U64(errors_of(&b), before);
    close_bed(&b);
}

PLAIN_TEST(scatter_and_indexed_access_are_no_mistakes_in_a_loop)
{
    bed b;
    open_bed(&b);
    static uint32_t values[KINDS * ROWS];
    weft_query both = weft_query_create(
        b.world, &(weft_query_desc){.terms = {{b.speed, WEFT_WRITE}, {b.position}}});
    weft_indexed indexed;
    uint64_t before = errors_of(&b);
    weft_cursor c = weft_query_begin(b.world, b.reading);
    CHECK(weft_query_next(&c));
    for (uint32_t i = 0; i < KINDS * ROWS; i++) values[i] = i;
    CHECK_OK(weft_query_write_values(b.world, both, b.speed, values, KINDS * ROWS));
    CHECK(weft_query_next(&c));
    CHECK_OK(weft_indexed_open(b.world, both, 0, &indexed));
    for (uint32_t i = 0; i < KINDS * ROWS; i++) {
        uint32_t *at = weft_indexed_write(&indexed, i);
        CHECK_U64(*at, i);
        *at = 2 * i;
    }
    while (weft_query_next(&c)) {
    }
    weft_indexed_close(&indexed);
    memset(values, 0, sizeof values);
    CHECK_U64(weft_query_read_values(b.world, both, b.speed, values, KINDS * ROWS), KINDS * ROWS);
    for (uint32_t i = 0; i < KINDS * ROWS; i++) CHECK_U64(values[i], 2 * i);
    CHECK_U64(errors_of(&b), before);
    close_bed(&b);
}

PLAIN_TEST(nested_loops_see_what_each_other_wrote)
{
    bed b;
    open_bed(&b);
    uint64_t before = errors_of(&b);
    weft_cursor outer = weft_query_begin(b.world, b.reading);
    while (weft_query_next(&outer)) {
        const uint32_t *seen = weft_slice_read(&outer.slice, 0);
        uint32_t old = seen[5];
        weft_cursor inner = weft_query_begin(b.world, b.moving);
        while (weft_query_next(&inner)) {
            uint32_t *position = weft_slice_write(&inner.slice, 0);
            for (uint32_t i = 0; i < weft_slice_count(&inner.slice); i++) position[i]++;
        }
        CHECK_U64(seen[5], old + 1);
    }
    uint32_t values[1];
    CHECK_U64(weft_query_read_values(b.world, b.moving, b.position, values, 1), KINDS * ROWS);
    CHECK_U64(values[0], KINDS);
    CHECK_U64(errors_of(&b), before);
    /* a mistake of the inner loop is found although the outer one stands on the chunk */
    uint64_t hash = weft_world_hash(b.world, WEFT_HASH_CONTENT);
    outer = weft_query_begin(b.world, b.reading);
    CHECK(weft_query_next(&outer));
    weft_cursor inner = weft_query_begin(b.world, b.moving);
    CHECK(weft_query_next(&inner));
    writable(weft_slice_read(&inner.slice, 1))[4] = 77;
    weft_query_end(&inner);
    weft_query_end(&outer);
    if (WEFT_IS_CHECKED) expect(&b, hash, (const char *const[]){"component speed", "row 4", NULL});
    close_bed(&b);
}

/* A loop left without its end: structure is refused, other loops work, and it can end later. */
PLAIN_TEST(an_abandoned_loop_does_no_harm)
{
    bed b;
    open_bed(&b);
    weft_cursor left = weft_query_begin(b.world, b.moving);
    CHECK(weft_query_next(&left));
    CHECK_RESULT(weft_entity_destroy(b.world, b.entities[0][0]), WEFT_WRONG_PHASE);
    uint64_t before = errors_of(&b);
    weft_cursor c = weft_query_begin(b.world, b.moving);
    while (weft_query_next(&c)) {
        uint32_t *position = weft_slice_write(&c.slice, 0);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++) position[i] = i;
    }
    CHECK_U64(errors_of(&b), before);
    weft_query_end(&left);
    CHECK_U64(errors_of(&b), before);
    CHECK_OK(weft_entity_destroy(b.world, b.entities[0][0]));
    close_bed(&b);
}

/* ---- the limits that query.h and entity.h name ---- */

PLAIN_TEST(columns_without_a_term_and_two_rows_behind_the_last_are_compared)
{
    bed b;
    if (!WEFT_IS_CHECKED) return;
    open_bed(&b);
    uint64_t hash = weft_world_hash(b.world, WEFT_HASH_CONTENT);
    weft_query alone =
        weft_query_create(b.world, &(weft_query_desc){.terms = {{b.position, WEFT_WRITE}}});
    const uint32_t *speed = weft_entity_read(b.world, b.entities[0][0], b.speed);
    weft_cursor c = weft_query_begin(b.world, alone);
    CHECK(weft_query_next(&c));
    writable(speed)[3] = 9; /* the loop does not name it */
    weft_query_end(&c);
    expect(&b, hash, (const char *const[]){"component speed", "row 3 of the slice", NULL});
    for (uint32_t behind = 0; behind < 3; behind++) {
        uint64_t before = errors_of(&b);
        c = weft_query_begin(b.world, alone);
        CHECK(weft_query_next(&c));
        uint32_t *value = (uint32_t *)weft_slice_write(&c.slice, 0) + ROWS + behind, old = *value;
        *value = old + 1;
        weft_query_end(&c);
        CHECK_U64(errors_of(&b) - before, behind < 2 ? 1 : 0);
        CHECK_U64(*value, behind < 2 ? old : old + 1);
        *value = old;
    }
    close_bed(&b);
}

/* As the loop's own column: no error, and the write stays. */
static void expect_unseen(bed *b, uint32_t *value, uint32_t written, uint64_t errors)
{
    CHECK_U64(errors_of(b), errors);
    CHECK_U64(*value, written);
}

PLAIN_TEST(writes_outside_of_loops_and_before_a_loop_comes_are_not_found)
{
    bed b;
    open_bed(&b);
    uint32_t *speeds[2];
    for (int k = 0; k < 2; k++)
        speeds[k] = writable(weft_entity_read(b.world, b.entities[k][0], b.speed));
    uint64_t before = errors_of(&b);
    speeds[0][1] = 5; /* no loop is open */
    weft_cursor c = weft_query_begin(b.world, b.moving);
    CHECK(weft_query_next(&c));
    speeds[1][1] = 6; /* the loop stands on chunk 0 */
    while (weft_query_next(&c)) {
    }
    expect_unseen(&b, &speeds[0][1], 5, before);
    expect_unseen(&b, &speeds[1][1], 6, before);
    close_bed(&b);
}

PLAIN_TEST(values_that_were_given_for_writing_are_not_compared)
{
    bed b;
    open_bed(&b);
    uint32_t *given = weft_entity_write(b.world, b.entities[0][4], b.speed);
    /* The row of the entity is another one's now, and the pointer is not good any more. */
    CHECK_OK(weft_entity_remove(b.world, b.entities[0][4], b.kinds[0]));
    const uint32_t *other = weft_entity_read(b.world, b.entities[0][ROWS - 1], b.speed);
    CHECK_POINTER(other, given);
    uint64_t before = errors_of(&b);
    weft_cursor c = weft_query_begin(b.world, b.reading);
    CHECK(weft_query_next(&c));
    *given = 8;
    CHECK(weft_query_next(&c));
    weft_query_end(&c);
    expect_unseen(&b, given, 8, before);
    if (WEFT_IS_CHECKED) { /* the value beside it is compared: a write behind the value is found */
        c = weft_query_begin(b.world, b.reading);
        CHECK(weft_query_next(&c));
        given[1] = 9;
        weft_query_end(&c);
        expect(&b, 0, (const char *const[]){"component speed", "row 5", NULL});
    }
    close_bed(&b);
}

PLAIN_TEST(from_6144_pointers_on_no_write_is_found_until_structure_changes)
{
    bed b;
    if (!WEFT_IS_CHECKED) return;
    open_bed(&b);
    static weft_entity many[6145];
    CHECK_OK(weft_entity_create_many(b.world, WEFT_ARCHETYPE(b.world, b.position), 6145, many));
    for (int round = 0; round < 2; round++) {
        uint64_t before = errors_of(&b);
        weft_cursor c = weft_query_begin(b.world, b.moving);
        CHECK(weft_query_next(&c));
        writable(weft_slice_read(&c.slice, 1))[2] = 3;
        weft_query_end(&c);
        CHECK_U64(errors_of(&b) - before, round == 0 ? 1 : 0);
        for (uint32_t i = 0; round == 0 && i < 6145; i++)
            CHECK(weft_entity_write(b.world, many[i], b.position) != NULL);
    }
    CHECK_OK(weft_entity_destroy(b.world, many[0]));
    CHECK(weft_entity_write(b.world, many[1], b.position) != NULL);
    uint64_t before = errors_of(&b);
    weft_cursor c = weft_query_begin(b.world, b.moving);
    CHECK(weft_query_next(&c));
    writable(weft_slice_read(&c.slice, 1))[2] = 4;
    weft_query_end(&c);
    CHECK_U64(errors_of(&b) - before, 1);
    close_bed(&b);
}
