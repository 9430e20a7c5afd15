/* SPDX-License-Identifier: MIT */
/* test_asked.c: systems that ask for change versions in their loops, terms that stamp when their
 * column is asked for, and columns asked for by C type: fused and not, on one worker and more. */
#include "invariant.h"

#include <weft/weft.h>

#include "plain.h"

#include <string.h>

#define ROWS 2000u

typedef struct Position {
    float x, y, z;
} Position;
typedef struct Velocity {
    float x, y, z;
} Velocity;

typedef struct setting {
    uint32_t workers;
    bool without_fusion;
    uint32_t flags;
} setting;

static const setting settings[] = {
    {1, false, 0},
    {1, true, 0},
    {1, false, WEFT_SYSTEM_WHOLE_CHUNKS},
    {1, false, WEFT_SYSTEM_SERIAL},
    {3, false, 0},
    {3, true, 0},
    {3, false, WEFT_SYSTEM_MAIN_THREAD},
};
#define SETTINGS (sizeof settings / sizeof settings[0])

static weft_world *world;
static weft_component position, velocity, level;
static weft_entity entities[ROWS];

static void begin(const setting *how)
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = how->workers}, &world));
    position = WEFT_COMPONENT(world, Position);
    velocity = WEFT_COMPONENT(world, Velocity);
    level = weft_component_create_plain(world, "level", 4, 4, 0);
    CHECK_OK(weft_entity_create_many(
        world, weft_archetype_create(world, (weft_component[]){position, velocity, level}, 3), ROWS,
        entities));
    for (uint32_t i = 0; i < ROWS; i++) WEFT_SET(world, entities[i], level, uint32_t, {i});
    CHECK_OK(
        weft_schedule_set(world, &(weft_schedule_desc){.without_fusion = how->without_fusion,
                                                       .is_always_parallel = how->workers > 1}));
}

static void end(void)
{
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_world_destroy(world));
}

/* Writes the rows of `target` only, asking for the column of no other slice. */
static uint32_t target;
static void write_few(weft_slice *s, void *user)
{
    const uint32_t *levels = weft_slice_read(s, 1);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(s); i++)
        if (levels[i] == target) WEFT_WRITE_COLUMN(s, 0, Position)[i].x += 1;
}

/* Per worker: slices seen as changed. */
typedef struct seen {
    uint32_t changed[4], order[4], visited[4];
} seen;

static void look(weft_slice *s, void *user)
{
    seen *all = user;
    uint32_t since = weft_slice_since(s), worker = weft_slice_worker(s);
    all->visited[worker] += weft_slice_count(s);
    if (weft_slice_changed_since(s, 0, since)) all->changed[worker] += weft_slice_count(s);
    if (weft_slice_order_changed_since(s, since)) all->order[worker] += weft_slice_count(s);
}

/* A later system of the same stage that stamps everything the one before it asks about. */
static void write_all(weft_slice *s, void *user)
{
    (void)user;
    CHECK(weft_slice_write(s, 0) != NULL);
}

static uint32_t sum(const uint32_t *of)
{
    return of[0] + of[1] + of[2] + of[3];
}

static seen step(seen *all)
{
    *all = (seen){0};
    CHECK_OK(weft_world_step(world, 0));
    return (seen){.changed = {sum(all->changed)}, .order = {sum(all->order)}};
}

static uint32_t rows_with(const setting *how)
{
    return how->flags == WEFT_SYSTEM_WHOLE_CHUNKS ? 0 : 300; /* of a slice, at most */
}

PLAIN_TEST(systems_see_in_their_loops_which_slices_changed)
{
    for (uint32_t i = 0; i < SETTINGS; i++) {
        const setting *how = &settings[i];
        static seen all;
        begin(how);
        weft_system_desc writer = {
            .name = "writer",
            .run = write_few,
            .flags = how->flags,
            .over.rows = {.stamps_asked = true, .terms = {{position, WEFT_WRITE}, {level}}}};
        weft_system_desc looker = {.name = "looker",
                                   .run = look,
                                   .user = &all,
                                   .flags = how->flags | WEFT_SYSTEM_ASKS_CHANGES,
                                   .over.rows.terms = {{position}}};
        CHECK(weft_system_create(world, &writer).id != 0);
        CHECK(weft_system_create(world, &looker).id != 0);
        target = ROWS;
        seen found = step(&all); /* its first run: everything */
        CHECK_U64(found.changed[0], ROWS);
        CHECK_U64(found.order[0], ROWS);
        found = step(&all); /* nothing was asked for */
        CHECK_U64(found.changed[0], 0);
        CHECK_U64(found.order[0], 0);
        target = 1234;
        found = step(&all); /* one slice */
        CHECK(found.changed[0] > 0);
        CHECK(rows_with(how) == 0 || found.changed[0] < rows_with(how));
        CHECK_U64(found.order[0], 0);
        target = ROWS;
        CHECK_U64(step(&all).changed[0], 0);
        end();
    }
}

PLAIN_TEST(a_later_writer_of_the_stage_is_seen_in_the_next_step)
{
    for (uint32_t i = 0; i < SETTINGS; i++) {
        const setting *how = &settings[i];
        static seen all;
        begin(how);
        weft_system_desc looker = {.name = "looker",
                                   .run = look,
                                   .user = &all,
                                   .flags = how->flags | WEFT_SYSTEM_ASKS_CHANGES,
                                   .over.rows.terms = {{position}}};
        weft_system_desc writer = {.name = "writer",
                                   .run = write_all,
                                   .flags = how->flags,
                                   .over.rows.terms = {{position, WEFT_WRITE}}};
        CHECK(weft_system_create(world, &looker).id != 0);
        weft_system later = weft_system_create(world, &writer);
        CHECK_U64(step(&all).changed[0], ROWS);
        CHECK_U64(step(&all).changed[0], ROWS); /* what the first step wrote after it */
        CHECK_OK(weft_system_enable(world, later, false));
        CHECK_U64(step(&all).changed[0], ROWS); /* what the second wrote */
        CHECK_U64(step(&all).changed[0], 0);
        CHECK_OK(weft_system_enable(world, later, true));
        CHECK_U64(step(&all).changed[0], 0); /* it runs after the looker */
        CHECK_U64(step(&all).changed[0], ROWS);
        end();
    }
}

PLAIN_TEST(a_system_that_is_not_declared_to_ask_gets_yes_and_a_report)
{
    static seen all;
    begin(&settings[0]);
    weft_system_desc looker = {
        .name = "looker", .run = look, .user = &all, .over.rows.terms = {{position}}};
    CHECK(weft_system_create(world, &looker).id != 0);
    for (uint32_t i = 0; i < 3; i++) {
        all = (seen){0};
        CHECK_RESULT(weft_world_step(world, 0), WEFT_IS_CHECKED ? WEFT_UNDECLARED_ACCESS : WEFT_OK);
        CHECK_U64(sum(all.changed), ROWS);
        if (WEFT_IS_CHECKED)
            CHECK(strstr(weft_world_error(world)->text, "WEFT_SYSTEM_ASKS_CHANGES") != NULL);
    }
    end();
}

static void swapped(weft_slice *s, void *user)
{
    Velocity *v = WEFT_WRITE_COLUMN(s, 0, Velocity); /* of the same size: term 0 holds Position */
    const double *d = WEFT_READ_COLUMN(s, 1, double);
    (void)user;
    if (!WEFT_IS_CHECKED) return;
    CHECK(v != NULL && d != NULL);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) v[i].x = (float)d[i] + 9;
}

PLAIN_TEST(columns_asked_for_as_another_type_are_named_and_not_changed)
{
    for (uint32_t i = 0; i < SETTINGS; i++) {
        begin(&settings[i]);
        weft_error found[4];
        uint64_t before = weft_world_hash(world, WEFT_HASH_CONTENT);
        weft_system_desc mover = {.name = "mover",
                                  .run = swapped,
                                  .flags = settings[i].flags,
                                  .over.rows.terms = {{position, WEFT_WRITE}, {velocity}}};
        CHECK(weft_system_create(world, &mover).id != 0);
        CHECK_RESULT(weft_world_step(world, 0), WEFT_IS_CHECKED ? WEFT_TYPE_MISMATCH : WEFT_OK);
        CHECK_U64(weft_world_hash(world, WEFT_HASH_CONTENT), before);
        CHECK_U64(weft_schedule_mistakes(world, found, 4), WEFT_IS_CHECKED ? 2 : 0);
        if (WEFT_IS_CHECKED) {
            CHECK(strstr(found[0].text, "'mover'") && strstr(found[0].text, "component Position") &&
                  strstr(found[0].text, "Velocity is not the C type"));
            CHECK(strstr(found[1].text, "component Velocity") &&
                  strstr(found[1].text, "double is not the C type"));
        }
        end();
    }
}
