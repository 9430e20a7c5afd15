/* SPDX-License-Identifier: MIT */
/* test_diagnose.c: what checked builds say about systems that break their declarations, and
 * what every build says about wrong use of systems, orders and commands. */
#include "mistakes_bed.h"

#include <pthread.h>
#include <string.h>
#include <weft/finder.h>

static void write_a_read_term(weft_slice *s, void *user)
{
    (void)user;
    weft_slice_write(s, 0);
}
static void look_up(weft_slice *s, void *user)
{
    (void)user;
    weft_slice_read_entity(s, first, b);
}
static void find(weft_slice *s, void *user)
{
    weft_finder finder = weft_slice_finder(s, b);
    const void **found = user;
    *found = weft_finder_read(&finder, first);
}
static void use_resource(weft_slice *s, void *user)
{
    (void)user;
    weft_slice_write_resource(s, resource);
}
static void write_both(weft_slice *s, void *user)
{
    (void)user;
    CHECK(weft_slice_write_entity(s, first, b) != NULL);
    weft_slice_write_resource(s, resource);
}
static void record(weft_slice *s, void *user)
{
    (void)user;
    CHECK_OK(weft_recorder_add(weft_slice_recorder(s), weft_slice_entities(s)[0], b));
}
static void change_structure(weft_slice *s, void *user)
{
    (void)user;
    CHECK_RESULT(weft_entity_remove(weft_slice_world(s), first, b), WEFT_WRONG_PHASE);
}
static void nothing(weft_slice *s, void *user)
{
    (void)s;
    (void)user;
}

static void read_past_the_end(weft_slice *s, void *user)
{
    (void)user;
    CHECK(weft_slice_read_row(s, 0, weft_slice_count(s) - 1) != NULL);
    CHECK((weft_slice_read_row(s, 0, weft_slice_count(s) + 6) != NULL) == WEFT_IS_CHECKED);
}

PLAIN_TEST(a_row_past_the_end_of_a_slice_is_named_with_the_number_of_rows)
{
    begin();
    CHECK(add("reader", read_past_the_end, 0).id != 0);
    expect(WEFT_NOT_FOUND,
           (const char *const[]){"'reader', slice 0, row 7 of a slice of 1 row: component a (read)",
                                 "past its end", "weft_slice_count - 1", NULL});
    weft_query query =
        weft_query_create(world, &(weft_query_desc){.terms = {{a, WEFT_READ, 0, 0}}});
    weft_cursor cursor = weft_query_begin(world, query);
    CHECK(weft_query_next(&cursor));
    CHECK((weft_slice_read_row(&cursor.slice, 0, 3) != NULL) == WEFT_IS_CHECKED);
    CHECK_RESULT(weft_world_error(world)->code, WEFT_NOT_FOUND);
    static const char *const words[] = {
        "row 3 of a slice of 1 row, whose term 0 (a) is to be read, is past its end",
        "rows count from 0"};
    for (size_t i = 0; i < 2; i++)
        if (strstr(weft_world_error(world)->text, words[i]) == NULL)
            CHECK_TEXT(weft_world_error(world)->text, words[i]);
    weft_query_end(&cursor);
    end();
}

PLAIN_TEST(writing_a_column_declared_as_read_is_named)
{
    begin();
    CHECK(add("writer", write_a_read_term, 0).id != 0);
    expect(WEFT_UNDECLARED_ACCESS, (const char *const[]){"'writer'", "component a", "write", NULL});
    end();
}

PLAIN_TEST(an_undeclared_look_up_is_named)
{
    begin();
    CHECK(add("seeker", look_up, 0).id != 0);
    expect(WEFT_UNDECLARED_ACCESS,
           (const char *const[]){"'seeker'", "component b", "lookups", NULL});
    end();
}

PLAIN_TEST(a_write_of_what_is_declared_for_reading_says_so)
{
    static const char *const parts[] = {"'both'", "declared for reading only", "WEFT_WRITE", NULL};
    begin();
    weft_system_desc desc = {.name = "both",
                             .run = write_both,
                             .lookups = {{b, WEFT_READ}},
                             .resources = {{resource, WEFT_WRITE}}};
    CHECK(weft_system_create(world, &desc).id != 0);
    expect(WEFT_UNDECLARED_ACCESS, parts);
    CHECK_OK(weft_system_destroy(world, weft_system_find(world, "both")));
    desc.lookups[0].access = WEFT_WRITE;
    desc.resources[0].access = WEFT_READ;
    desc.run = use_resource;
    CHECK(weft_system_create(world, &desc).id != 0);
    expect(WEFT_UNDECLARED_ACCESS, parts);
    end();
}

PLAIN_TEST(an_undeclared_finder_is_named)
{
    begin();
    static const void *found;
    CHECK(weft_system_create(world, &(weft_system_desc){.name = "finder",
                                                        .run = find,
                                                        .user = &found,
                                                        .over.rows.terms = {{a, WEFT_READ, 0, 0}}})
              .id != 0);
    expect(WEFT_UNDECLARED_ACCESS,
           (const char *const[]){"'finder'", "component b", "lookups", NULL});
    CHECK(found != NULL);
    end();
}

PLAIN_TEST(a_declared_finder_finds_the_value)
{
    begin();
    static const void *found;
    CHECK(weft_system_create(world, &(weft_system_desc){.name = "finder",
                                                        .run = find,
                                                        .user = &found,
                                                        .lookups = {{b, WEFT_READ}},
                                                        .over.rows.terms = {{a, WEFT_READ, 0, 0}}})
              .id != 0);
    CHECK_OK(weft_world_step(world, 0));
    CHECK(found != NULL && found == weft_entity_read(world, first, b));
    end();
}

PLAIN_TEST(an_undeclared_resource_is_named)
{
    begin();
    CHECK(add("user", use_resource, 0).id != 0);
    expect(WEFT_UNDECLARED_ACCESS, (const char *const[]){"'user'", "component res", NULL});
    end();
}

PLAIN_TEST(undeclared_commands_are_named)
{
    begin();
    CHECK(add("recorder", record, WEFT_RECORDS_NOTHING).id != 0);
    expect(WEFT_UNDECLARED_ACCESS, (const char *const[]){"'recorder'", "effects", NULL});
    end();
}

PLAIN_TEST(structure_cannot_change_while_systems_run)
{
    begin();
    weft_system system =
        weft_system_create(world, &(weft_system_desc){.name = "changer",
                                                      .run = change_structure,
                                                      .flags = WEFT_SYSTEM_MAIN_THREAD,
                                                      .over.rows.terms = {{a, WEFT_READ, 0, 0}}});
    CHECK(system.id != 0);
    CHECK_RESULT(weft_world_step(world, 0), WEFT_IS_CHECKED ? WEFT_WRONG_PHASE : WEFT_OK);
    CHECK(!WEFT_IS_CHECKED || strstr(weft_world_error(world)->text, "system 'changer'") != NULL);
    CHECK(weft_entity_has(world, first, b));
    end();
}

PLAIN_TEST(a_cycle_of_orders_is_printed_as_its_path)
{
    begin();
    static const char *const names[] = {"x", "y", "z"};
    for (uint32_t i = 0; i < 3; i++)
        CHECK(weft_system_create(world, &(weft_system_desc){.name = names[i],
                                                            .run = nothing,
                                                            .before = {names[(i + 1) % 3]}})
                  .id != 0);
    CHECK_RESULT(weft_world_step(world, 0), WEFT_CYCLE);
    CHECK(strstr(weft_world_error(world)->text, "x -> y -> z -> x") != NULL ||
          strstr(weft_world_error(world)->text, "y -> z -> x -> y") != NULL ||
          strstr(weft_world_error(world)->text, "z -> x -> y -> z") != NULL);
    CHECK_OK(weft_system_destroy(world, weft_system_find(world, "y")));
    CHECK_OK(weft_world_step(world, 0)); /* x still names y: that order waits */
    end();
}

PLAIN_TEST(names_are_unique_and_handles_are_checked)
{
    begin();
    weft_system one = add("one", nothing, 0);
    CHECK(one.id != 0);
    CHECK_U64(add("one", nothing, 0).id, 0);
    CHECK_RESULT(weft_world_error(world)->code, WEFT_ALREADY_EXISTS);
    CHECK_OK(weft_system_destroy(world, one));
    CHECK_RESULT(weft_system_destroy(world, one), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_system_run(world, (weft_system){0}, 0), WEFT_BAD_HANDLE);
    CHECK(add("one", nothing, 0).id != one.id);
    end();
}

PLAIN_TEST(recorders_refuse_what_cannot_be_right)
{
    begin();
    weft_recorder *one, *two;
    CHECK_OK(weft_recorder_create(world, &one));
    CHECK_OK(weft_recorder_create(world, &two));
    weft_archetype archetype = weft_archetype_create(world, &a, 1);
    weft_entity deferred = weft_recorder_create_entity(one, archetype);
    CHECK(!weft_entity_is_alive(world, deferred));
    CHECK_RESULT(weft_recorder_add(one, first, (weft_component){0}), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_recorder_set(one, first, a, &(uint64_t){0}, 8), WEFT_TYPE_MISMATCH);
    CHECK_RESULT(weft_recorder_enable(one, first, a, true), WEFT_TYPE_MISMATCH);
    CHECK_OK(weft_recorder_set(one, deferred, a, &(uint32_t){5}, 4));
    CHECK_RESULT(weft_recorder_play(one), WEFT_BAD_HANDLE); /* the first of them; the rest played */
    CHECK_RESULT(weft_recorder_add(one, deferred, b), WEFT_STALE_ENTITY); /* of the last round */
    weft_world_stats stats;
    weft_world_stats_get(world, &stats, sizeof stats);
    CHECK_U64(stats.entities, 2);
    weft_recorder_destroy(one);
    weft_recorder_destroy(two);
    end();
}

static uint64_t units_used(void)
{
    weft_world_stats stats;
    weft_world_stats_get(world, &stats, sizeof stats);
    return stats.units_used;
}

PLAIN_TEST(what_a_recorder_holds_that_is_never_played_goes_back)
{
    begin();
    weft_archetype archetype = weft_archetype_create(world, &a, 1);
    uint64_t before = units_used();
    weft_recorder *commands;
    weft_slice rows;
    CHECK_OK(weft_recorder_create(world, &commands));
    for (uint32_t i = 0; i < 20; i++)
        CHECK_OK(weft_recorder_create_rows(commands, archetype, 300, &rows));
    CHECK_OK(weft_recorder_create_rows_unordered(commands, archetype, 10, &rows));
    weft_entity id = rows.entities[3];
    CHECK(units_used() > before);
    weft_recorder_destroy(commands);
    CHECK_U64(units_used(), before);
    CHECK(!weft_entity_is_alive(world, id));
    end();
}

PLAIN_TEST(the_last_of_several_commands_on_an_entity_wins)
{
    begin();
    weft_entity entities[100];
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, a), 100, entities));
    weft_recorder *commands;
    CHECK_OK(weft_recorder_create(world, &commands));
    for (uint32_t i = 0; i < 100; i++) {
        CHECK_OK(weft_recorder_set(commands, entities[i], b, &(uint32_t){7}, 4));
        CHECK_OK(weft_recorder_remove(commands, entities[i], b));
        if (i % 2 == 0) CHECK_OK(weft_recorder_add(commands, entities[i], b));
        if (i % 5 == 0) CHECK_OK(weft_recorder_set(commands, entities[i], a, &i, 4));
        if (i % 10 == 9) CHECK_OK(weft_recorder_destroy_entity(commands, entities[i]));
    }
    CHECK_OK(weft_recorder_play(commands));
    for (uint32_t i = 0; i < 100; i++) {
        CHECK_U64(weft_entity_is_alive(world, entities[i]), i % 10 != 9);
        if (i % 10 == 9) continue;
        CHECK_U64(weft_entity_has(world, entities[i], b), i % 2 == 0);
        if (i % 2 == 0) CHECK_U64(*(const uint32_t *)weft_entity_read(world, entities[i], b), 0);
        if (i % 5 == 0) CHECK_U64(*(const uint32_t *)weft_entity_read(world, entities[i], a), i);
    }
    weft_recorder_destroy(commands);
    end();
}

static uint32_t run_count;
static void count_run(weft_slice *s, void *user)
{
    (void)s;
    (void)user;
    run_count++;
}
static bool never(weft_world *w, void *user)
{
    (void)w;
    (void)user;
    return false;
}

PLAIN_TEST(rates_conditions_and_switches_decide_who_runs)
{
    begin();
    weft_system fixed = weft_system_create(
        world, &(weft_system_desc){.name = "fixed", .run = count_run, .period = 0.5f});
    CHECK(fixed.id != 0);
    CHECK(weft_system_create(world,
                             &(weft_system_desc){.name = "no", .run = count_run, .run_if = never})
              .id != 0);
    CHECK_OK(weft_world_step(world, 0.25f));
    CHECK_U64(run_count, 0);
    CHECK_OK(weft_world_step(world, 0.25f));
    CHECK_U64(run_count, 1);
    CHECK_OK(weft_world_step(world, 1.5f));
    CHECK_U64(run_count, 4);
    CHECK_OK(weft_world_step(world, 1000));
    CHECK_U64(run_count, 12); /* catches up by 8 at most */
    CHECK_OK(weft_system_enable(world, fixed, false));
    CHECK_OK(weft_world_step(world, 1));
    CHECK_U64(run_count, 12);
    end();
}

/* ---- calls on the world, and two writers ---- */

static void write_through_world(weft_slice *s, void *user)
{
    (void)user;
    if (WEFT_IS_CHECKED) CHECK(weft_entity_write(weft_slice_world(s), first, b) != NULL);
}

static void remove_through_world(weft_slice *s, void *user)
{
    (void)user;
    if (!WEFT_IS_CHECKED) return; /* there it is an error text written by two threads */
    CHECK_RESULT(weft_entity_remove(weft_slice_world(s), first, b), WEFT_WRONG_PHASE);
}

PLAIN_TEST(calls_on_the_world_in_a_job_name_the_system_and_the_function)
{
    begin();
    CHECK_OK(weft_schedule_set(world, &(weft_schedule_desc){.is_always_parallel = true}));
    weft_system system = add("remover", remove_through_world, 0);
    expect(WEFT_WRONG_PHASE,
           (const char *const[]){"'remover'", "slice 0", "weft_entity_remove", NULL});
    CHECK(weft_entity_has(world, first, b));
    CHECK_OK(weft_system_destroy(world, system));
    CHECK(add("scribbler", write_through_world, 0).id != 0);
    expect(WEFT_WRONG_PHASE, (const char *const[]){"'scribbler'", "weft_entity_write", NULL});
    end();
}

static void *call_from_a_thread(void *user)
{
    (void)user;
    CHECK_RESULT(weft_entity_destroy(world, first), WEFT_WRONG_PHASE);
    return NULL;
}

static void start_a_thread(weft_slice *s, void *user)
{
    (void)s;
    (void)user;
    pthread_t thread;
    CHECK_U64(pthread_create(&thread, NULL, call_from_a_thread, NULL), 0);
    CHECK_U64(pthread_join(thread, NULL), 0);
}

PLAIN_TEST(calls_from_a_thread_that_runs_no_system_are_named)
{
    begin();
    weft_system system = add("starter", start_a_thread, 0);
    expect(WEFT_WRONG_PHASE, (const char *const[]){"weft_entity_destroy", "thread", NULL});
    CHECK(weft_entity_is_alive(world, first));
    CHECK_OK(weft_system_destroy(world, system));
    CHECK_OK(weft_world_step(world, 0));
    end();
}

static void write_one(weft_slice *s, void *user)
{
    const bool *is_shared = user;
    weft_entity target = *is_shared ? first : weft_slice_entities(s)[0];
    CHECK(!WEFT_IS_CHECKED || weft_slice_write_entity(s, target, b) != NULL);
}

static void add_writer(const char *name, uint32_t flags, const bool *is_shared)
{
    weft_system_desc desc = {.name = name,
                             .run = write_one,
                             .user = (void *)(uintptr_t)is_shared,
                             .flags = flags,
                             .lookups = {{b, WEFT_WRITE}},
                             .over.rows.terms = {{a, WEFT_READ, 0, 0}}};
    CHECK(weft_system_create(world, &desc).id != 0);
}

PLAIN_TEST(two_slices_that_write_the_same_entity_are_named)
{
    begin();
    CHECK_OK(weft_entity_create_many(
        world, weft_archetype_create(world, (weft_component[]){a, b}, 2), 3000, NULL));
    static const bool yes = true, no = false;
    add_writer("apart", 0, &no);
    add_writer("serial", WEFT_SYSTEM_SERIAL, &yes);
    CHECK_OK(weft_world_step(world, 0));
    add_writer("crowd", 0, &yes);
    for (uint32_t i = 0; i < 3; i++) /* the same report every time */
        expect(WEFT_UNDECLARED_ACCESS,
               (const char *const[]){"'crowd'", "slice 1:", "component b", "another slice", NULL});
    end();
}
