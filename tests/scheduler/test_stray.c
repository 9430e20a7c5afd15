/* SPDX-License-Identifier: MIT */
/* test_stray.c: writes that no call announces, found by checked builds through copies of columns:
 * each kind in fused and unfused systems, in slices and whole chunks, on one worker and on more;
 * and that a world ends up the same with copies as without. */
#include "invariant.h"

#include <weft/weft.h>

#include "plain.h"

#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define IS_POISONED(at) (__asan_address_is_poisoned(at) != 0)
#else
#define IS_POISONED(at) false
#endif

#define ROWS 1000u
#define ROW 7u /* in which mistakes are made */

typedef struct triple {
    float x, y, z;
} triple;

/* How the systems are run. */
typedef struct setting {
    uint32_t workers;
    uint32_t flags;
    bool without_fusion;
    bool with_mask; /* a disabled row: slices have masks */
} setting;

static const setting settings[] = {
    {1, 0, false, false},
    {1, 0, true, false},
    {1, WEFT_SYSTEM_WHOLE_CHUNKS, false, false},
    {1, WEFT_SYSTEM_SERIAL, false, false},
    {1, WEFT_SYSTEM_MAIN_THREAD, false, false},
    {1, 0, false, true},
    {3, 0, false, false},
    {3, 0, true, false},
    {3, WEFT_SYSTEM_WHOLE_CHUNKS, false, true},
    {3, WEFT_SYSTEM_BACKGROUND, false, false},
};
#define SETTINGS (sizeof settings / sizeof settings[0])

static weft_world *world;
static weft_component a, b, list;
static weft_entity entities[ROWS];

static void begin(const setting *how)
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = how->workers}, &world));
    a = weft_component_create_plain(world, "a", sizeof(triple), 4, WEFT_ENABLEABLE);
    b = weft_component_create_plain(world, "b", 4, 4, 0);
    list = weft_component_create(
        world, &(weft_component_desc){
                   .name = "list", .size = 4, .flags = WEFT_BUFFER, .buffer_capacity = 2});
    CHECK_OK(weft_entity_create_many(
        world, weft_archetype_create(world, (weft_component[]){a, b, list}, 3), ROWS, entities));
    for (uint32_t i = 0; i < ROWS; i++) {
        WEFT_SET(world, entities[i], a, triple, {(float)i, 1, 2});
        WEFT_SET(world, entities[i], b, uint32_t, {i});
        weft_buffers buffers = weft_entity_write_buffer(world, entities[i], list);
        for (uint32_t k = 0; k < i % 5; k++) /* up to 2 inline, 3 and 4 spilled */
            CHECK_OK(weft_buffers_append(&buffers, 0, &i, 1));
    }
    if (how->with_mask) CHECK_OK(weft_entity_enable(world, entities[3], a, false));
    CHECK_OK(
        weft_schedule_set(world, &(weft_schedule_desc){.without_fusion = how->without_fusion,
                                                       .is_always_parallel = how->workers > 1}));
}

static void end(void)
{
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_world_destroy(world));
}

static void add_to_b(weft_slice *s, void *user)
{
    uint32_t *values = weft_slice_write(s, 0);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(s); i++) values[i]++;
}

/* The system that is wrong, with a right one before and after it that it can be fused with. */
static void add(const setting *how, void (*run)(weft_slice *, void *), weft_access of_a,
                weft_access of_list)
{
    weft_system_desc good = {.name = "good", .run = add_to_b, .over.rows.terms = {{b, WEFT_WRITE}}};
    weft_system_desc bad = {.name = "bad",
                            .run = run,
                            .flags = how->flags,
                            .over.rows.terms = {{a, of_a}, {b, WEFT_READ}, {list, of_list}}};
    CHECK(weft_system_create(world, &good).id != 0);
    CHECK(weft_system_create(world, &bad).id != 0);
    good.name = "better";
    CHECK(weft_system_create(world, &good).id != 0);
}

static uint64_t hash_without_b(void)
{
    for (uint32_t i = 0; i < ROWS; i++) WEFT_SET(world, entities[i], b, uint32_t, {0});
    return weft_world_hash(world, WEFT_HASH_CONTENT);
}

/* Some mistake of the last step has all of these words. */
static void expect_mistake(const char *const *words)
{
    weft_error found[16];
    uint32_t count = weft_schedule_mistakes(world, found, 16);
    for (uint32_t i = 0; i < count; i++) {
        const char *const *word = words;
        while (*word != NULL && strstr(found[i].text, *word) != NULL) word++;
        if (*word == NULL) return;
    }
    CHECK_TEXT(count == 0 ? "(none)" : found[0].text, words[1]);
    CHECK_U64(count, 99); /* not found */
}

/* Steps once; unchecked builds do not run what would harm them. */
static void expect(void (*add_all)(const setting *), const char *const *words)
{
    for (uint32_t i = 0; i < SETTINGS && WEFT_IS_CHECKED; i++) {
        begin(&settings[i]);
        uint64_t before = hash_without_b();
        add_all(&settings[i]);
        CHECK_RESULT(weft_world_step(world, 0), WEFT_UNDECLARED_ACCESS);
        expect_mistake(words);
        CHECK_U64(hash_without_b(), before); /* the mistake changed nothing */
        end();
    }
}

/* ---- what a system may not read is not changed ---- */

static bool has_entity(const weft_slice *s, weft_entity entity)
{
    for (uint32_t i = 0; i < weft_slice_count(s); i++)
        if (weft_slice_entities(s)[i].index == entity.index) return true;
    return false;
}

static void write_through_read(weft_slice *s, void *user)
{
    (void)user;
    triple *values = (triple *)(uintptr_t)weft_slice_read(s, 0);
    if (has_entity(s, entities[ROW])) values[ROW].y = 9;
}

static void add_write_through_read(const setting *how)
{
    add(how, write_through_read, WEFT_READ, WEFT_READ);
}

PLAIN_TEST(a_write_through_a_pointer_for_reading_is_named_and_undone)
{
    expect(add_write_through_read,
           (const char *const[]){"'bad'", "slice 0", "row 7", "component a", "for reading", NULL});
}

static void write_spilled(weft_slice *s, void *user)
{
    (void)user;
    weft_buffers lists = weft_slice_read_buffers(s, 2);
    if (!has_entity(s, entities[4])) return;
    uint32_t *elements = (uint32_t *)(uintptr_t)weft_buffers_read(&lists, 4);
    elements[3]++; /* 4 elements, outside the column */
}

static void add_write_spilled(const setting *how)
{
    add(how, write_spilled, WEFT_READ, WEFT_READ);
}

PLAIN_TEST(elements_of_a_buffer_for_reading_are_not_changed)
{
    expect(add_write_spilled,
           (const char *const[]){"'bad'", "row 4", "component list", "for reading", NULL});
}

static void change_buffers(weft_slice *s, void *user)
{
    (void)user;
    weft_buffers lists = weft_slice_read_buffers(s, 2);
    for (uint32_t row = 0; row < 5; row++) {
        const uint32_t *elements = weft_buffers_read(&lists, row);
        uint32_t length = weft_buffers_length(&lists, row);
        CHECK_U64(length == 0 ? 0 : elements[0],
                  length == 0 ? 0 : weft_slice_entities(s)[row].index - entities[0].index);
        CHECK_RESULT(weft_buffers_append(&lists, row, &row, 1), WEFT_UNDECLARED_ACCESS);
        CHECK_RESULT(weft_buffers_resize(&lists, row, 0), WEFT_UNDECLARED_ACCESS);
        CHECK_RESULT(weft_buffers_reserve(&lists, row, 99), WEFT_UNDECLARED_ACCESS);
        CHECK_U64(weft_buffers_length(&lists, row), length);
        CHECK(weft_buffers_read(&lists, row) == elements);
    }
}

static void add_change_buffers(const setting *how)
{
    add(how, change_buffers, WEFT_READ, WEFT_READ);
}

PLAIN_TEST(changes_of_a_buffer_for_reading_are_refused)
{
    expect(add_change_buffers, (const char *const[]){"'bad'", "component list",
                                                     "weft_buffers_append", "WEFT_WRITE", NULL});
    expect(add_change_buffers,
           (const char *const[]){"'bad'", "component list", "weft_buffers_reserve", NULL});
}

/* ---- around the slice ---- */

static void write_behind(weft_slice *s, void *user)
{
    (void)user;
    triple *values = weft_slice_write(s, 0);
    values[weft_slice_count(s)].z = 1;
}

static void add_write_behind(const setting *how)
{
    add(how, write_behind, WEFT_WRITE, WEFT_READ);
}

PLAIN_TEST(a_write_behind_the_last_row_is_named_and_undone)
{
    expect(add_write_behind,
           (const char *const[]){"'bad'", "component a", "behind the last row", NULL});
}

static void write_before(weft_slice *s, void *user)
{
    (void)user;
    triple *values = weft_slice_write(s, 0);
    values[-1].x = 1;
}

static void add_write_before(const setting *how)
{
    add(how, write_before, WEFT_WRITE, WEFT_READ);
}

PLAIN_TEST(a_write_in_front_of_the_first_row_is_named_and_undone)
{
    expect(add_write_before,
           (const char *const[]){"'bad'", "component a", "in front of row 0", NULL});
}

/* ---- after the callback ---- */

static triple *kept;

static void keep_a(weft_slice *s, void *user)
{
    (void)user;
    if (has_entity(s, entities[ROW])) kept = weft_slice_write(s, 0);
}

static void use_kept(weft_slice *s, void *user)
{
    (void)user;
    if (has_entity(s, entities[ROW]) && !IS_POISONED(&kept[ROW])) kept[ROW].x = 5;
}

static void add_keepers(const setting *how)
{
    add(how, keep_a, WEFT_WRITE, WEFT_READ);
    weft_system_desc user = {
        .name = "user", .run = use_kept, .flags = how->flags, .over.rows.terms = {{a, WEFT_WRITE}}};
    CHECK(weft_system_create(world, &user).id != 0);
}

PLAIN_TEST(a_pointer_kept_past_its_callback_is_named_and_harmless)
{
#if !defined(__SANITIZE_ADDRESS__)
    expect(add_keepers, (const char *const[]){"'bad'", "row 7", "component a", "kept", NULL});
#else /* the sanitizer would report the access itself */
    for (uint32_t i = 0; i < SETTINGS; i++) {
        begin(&settings[i]);
        add_keepers(&settings[i]);
        CHECK_OK(weft_world_step(world, 0));
        CHECK(IS_POISONED(&kept[ROW]));
        end();
    }
#endif
}

PLAIN_TEST(a_pointer_used_between_steps_is_named_by_the_next_one)
{
    for (uint32_t i = 0; i < SETTINGS && WEFT_IS_CHECKED; i++) {
        begin(&settings[i]);
        add(&settings[i], keep_a, WEFT_WRITE, WEFT_READ);
        CHECK_OK(weft_world_step(world, 0));
        uint64_t before = hash_without_b();
        bool is_written = !IS_POISONED(&kept[ROW]);
        if (is_written) kept[ROW].y = 3;
        CHECK_RESULT(weft_world_step(world, 0), is_written ? WEFT_UNDECLARED_ACCESS : WEFT_OK);
        if (is_written)
            expect_mistake((const char *const[]){"'bad'", "row 7", "component a", "kept", NULL});
        CHECK_U64(hash_without_b(), before);
        end();
    }
}

PLAIN_TEST(a_pointer_that_a_destroyed_system_kept_is_named_too)
{
    for (uint32_t i = 0; i < SETTINGS && WEFT_IS_CHECKED; i++) {
        begin(&settings[i]);
        add(&settings[i], keep_a, WEFT_WRITE, WEFT_READ);
        CHECK_OK(weft_world_step(world, 0));
        uint64_t before = hash_without_b();
        CHECK_OK(weft_system_destroy(world, weft_system_find(world, "bad")));
        bool is_written = !IS_POISONED(&kept[ROW]);
        if (is_written) kept[ROW].y = 3;
        CHECK_RESULT(weft_world_step(world, 0), is_written ? WEFT_UNDECLARED_ACCESS : WEFT_OK);
        if (is_written)
            expect_mistake((const char *const[]){"(destroyed)", "row 7", "component a", NULL});
        CHECK_U64(hash_without_b(), before);
        end();
    }
}

/* ---- reports ---- */

static void many_mistakes(weft_slice *s, void *user)
{
    triple *values = weft_slice_write(s, 0); /* declared for reading */
    (void)user;
    values[1].x = -1;
    values[weft_slice_count(s)].x = -1;
    weft_slice_read_entity(s, entities[0], b);
}

static void check_report(const setting *how, char *first)
{
    static const char *const orders[] = {"is written, but not declared", "look-ups", "behind",
                                         "row 1 (entity"};
    weft_error found[8], none;
    begin(how);
    add(how, many_mistakes, WEFT_READ, WEFT_READ);
    CHECK_U64(weft_schedule_mistakes(world, &none, 1), 0);
    CHECK_RESULT(weft_world_step(world, 0), WEFT_UNDECLARED_ACCESS);
    uint32_t count = weft_schedule_mistakes(world, found, 8);
    CHECK_U64(count, 4);
    CHECK_TEXT(weft_world_error(world)->text, found[0].text);
    for (uint32_t i = 0; i < count; i++) /* the first of its places, on any number of workers */
        CHECK(strstr(found[i].text, "system 'bad', slice 0") != NULL);
    CHECK(strstr(found[0].text, orders[0]) != NULL);
    CHECK_U64(weft_schedule_mistakes(world, NULL, 0), 4);
    char all[2048] = "";
    for (uint32_t i = 0; i < count; i++) strcat(strcat(all, found[i].text), "\n");
    if (first[0] == 0) strcpy(first, all);
    CHECK_TEXT(all, first);
    CHECK_OK(weft_system_destroy(world, weft_system_find(world, "bad")));
    CHECK_OK(weft_world_step(world, 0));
    CHECK_U64(weft_schedule_mistakes(world, found, 8), 0);
    end();
}

PLAIN_TEST(all_mistakes_of_a_step_are_listed_once_and_alike_for_any_workers)
{
    char fused[2048] = "";
    for (uint32_t workers = 1; workers < 5 && WEFT_IS_CHECKED; workers++)
        for (uint32_t k = 0; k < 2; k++)
            check_report(&(setting){.workers = workers, .without_fusion = k == 1}, fused);
}

/* ---- right programs ---- */

static void mix(weft_slice *s, void *user)
{
    const uint32_t *numbers = weft_slice_read(s, 1);
    triple *values = weft_slice_write(s, 0);
    weft_buffers lists = weft_slice_write_buffers(s, 2);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        values[i].x += (float)numbers[i];
        if (numbers[i] % 3 == 0)
            CHECK_OK(weft_buffers_append(&lists, i, &numbers[i], 1));
        else if (numbers[i] % 7 == 0)
            CHECK_OK(weft_buffers_resize(&lists, i, 0));
    }
}

/* Reaches its own rows on two ways. */
static void both_ways(weft_slice *s, void *user)
{
    triple *values = weft_slice_write(s, 0);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        values[i].y += 1;
        const triple *same = weft_slice_read_entity(s, weft_slice_entities(s)[i], a);
        values[i].z += same->y;
    }
}

PLAIN_TEST(right_systems_leave_the_same_world_in_every_setting)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < SETTINGS; i++) {
        if (settings[i].with_mask) continue; /* another world */
        begin(&settings[i]);
        add(&settings[i], mix, WEFT_WRITE, WEFT_WRITE);
        weft_system_desc ways = {.name = "ways",
                                 .run = both_ways,
                                 .flags = settings[i].flags,
                                 .lookups = {{a, WEFT_READ}},
                                 .over.rows.terms = {{a, WEFT_WRITE}}};
        CHECK(weft_system_create(world, &ways).id != 0);
        for (uint32_t frame = 0; frame < 20; frame++) CHECK_OK(weft_world_step(world, 0));
        if (i == 0) hash = weft_world_hash(world, WEFT_HASH_CONTENT);
        CHECK_U64(weft_world_hash(world, WEFT_HASH_CONTENT), hash);
        CHECK_U64(hash, UINT64_C(0x3d8e4c9b5eb4482f)); /* the same in all builds */
        end();
    }
}
