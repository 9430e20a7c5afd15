/* SPDX-License-Identifier: MIT */
/* test_query_each.c: loops over a query on several workers: every row once, stamps and enable bits
 * exact. Runs under every sanitizer. */
#include "invariant.h"

#include <weft/ecs.h>

#include "fork.h"
#include "plain.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 40000, KINDS = 5, WORKERS = 4 };

/* A world on several workers that always splits, with rows in several archetypes. */
typedef struct each_world {
    weft_job_pool *pool;
    weft_world *world;
    weft_component value, bit, tags[KINDS];
    weft_query query;
} each_world;

static void open_world(each_world *w)
{
    weft_job_pool_desc pool = {.worker_count = WORKERS, .is_always_parallel = true};
    CHECK_OK(weft_job_pool_create(&pool, &w->pool));
    CHECK_OK(weft_world_create(&(weft_world_desc){.pool = w->pool}, &w->world));
    w->value = weft_component_create_plain(w->world, "value", sizeof(uint32_t), 4, 0);
    w->bit = weft_component_create_plain(w->world, "bit", 0, 1, WEFT_ENABLEABLE);
    for (int k = 0; k < KINDS; k++) {
        char name[8] = {'k', (char)('0' + k), 0};
        w->tags[k] = weft_component_create_plain(w->world, name, 0, 1, 0);
        weft_component list[3] = {w->value, w->bit, w->tags[k]};
        CHECK_OK(weft_entity_create_many(w->world, weft_archetype_create(w->world, list, 3),
                                         ROWS / KINDS, NULL));
    }
    w->query = weft_query_create(
        w->world, &(weft_query_desc){.terms = {{w->value, WEFT_WRITE},
                                               {w->bit, WEFT_WRITE, .match = WEFT_PRESENT}}});
    CHECK(w->query.id != 0);
}

static void close_world(each_world *w)
{
    CHECK_OK(weft_world_validate(w->world)); /* disabled counts are compared with the bits */
    CHECK_OK(weft_world_destroy(w->world));
    CHECK_OK(weft_job_pool_destroy(w->pool));
}

/* Adds one to each value and disables the rows whose number is a multiple of three. */
static void visit(weft_slice *slice, void *user)
{
    (void)user;
    uint32_t *values = weft_slice_write(slice, 0);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        values[i] += 1 + (uint32_t)(slice->first + i) * 2;
        if ((slice->first + i) % 3 == 0) weft_slice_enable(slice, 1, i, false);
    }
}

PLAIN_TEST(every_row_is_visited_once_with_its_own_number)
{
    static uint32_t values[ROWS];
    each_world w;
    open_world(&w);
    CHECK_OK(weft_query_each_parallel(w.world, w.query, visit, NULL));
    CHECK_U64(weft_query_read_values(w.world, w.query, w.value, values, ROWS), ROWS);
    for (uint32_t i = 0; i < ROWS; i++) CHECK_U64(values[i], 1 + i * 2);
    close_world(&w);
}

PLAIN_TEST(bits_set_from_many_slices_leave_exact_counts)
{
    each_world w;
    open_world(&w);
    weft_query on = weft_query_create(w.world, &(weft_query_desc){.terms = {{w.bit}}});
    CHECK_U64(weft_query_count(w.world, on), ROWS);
    CHECK_OK(weft_query_each_parallel(w.world, w.query, visit, NULL));
    CHECK_U64(weft_query_count(w.world, on), ROWS - (ROWS + 2) / 3);
    close_world(&w);
}

PLAIN_TEST(a_parallel_loop_stamps_what_it_writes_and_honours_change_filters)
{
    each_world w;
    open_world(&w);
    weft_query changed = weft_query_create(w.world, &(weft_query_desc){.terms = {{w.value}}});
    CHECK_OK(weft_query_filter_changed(w.world, changed, w.value,
                                       weft_world_advance_change_version(w.world)));
    CHECK_U64(weft_query_count(w.world, changed), 0);
    CHECK_OK(weft_query_each_parallel(w.world, w.query, visit, NULL));
    CHECK_U64(weft_query_count(w.world, changed), ROWS);
    CHECK_OK(weft_query_filter_changed(w.world, w.query, w.value,
                                       weft_world_advance_change_version(w.world)));
    CHECK_OK(weft_query_each_parallel(w.world, w.query, visit,
                                      NULL)); /* nothing changed since: no slice */
    uint32_t first;
    CHECK_OK(weft_query_filter_reset(w.world, w.query));
    CHECK_U64(weft_query_read_values(w.world, w.query, w.value, &first, 1), ROWS);
    CHECK_U64(first, 1);
    close_world(&w);
}

/* Checks that the rows have the value of their chunk. */
static void compare_value(weft_slice *slice, void *user)
{
    const uint32_t *values = weft_slice_read(slice, 0);
    const uint32_t *shared = weft_slice_read_shared(slice, 1);
    (void)user;
    CHECK(shared != NULL);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) CHECK_U64(values[i], *shared);
}

PLAIN_TEST(the_shared_value_is_read_in_jobs)
{
    each_world w;
    open_world(&w);
    weft_component group = weft_component_create_plain(w.world, "group", 4, 4, WEFT_SHARED);
    for (uint32_t k = 0; k < KINDS; k++) {
        weft_query kind = weft_query_create(w.world, &(weft_query_desc){.terms = {{w.tags[k]}}});
        CHECK_OK(weft_query_set(w.world, kind, w.value, &k, sizeof k));
        CHECK_OK(weft_query_set_shared(w.world, kind, group, &k)); /* 0: the default */
    }
    weft_query query =
        weft_query_create(w.world, &(weft_query_desc){.terms = {{w.value}, {group}}});
    CHECK_U64(weft_query_count(w.world, query), ROWS);
    CHECK_OK(weft_query_each_parallel(w.world, query, compare_value, NULL));
    close_world(&w);
}

/* ---- mistakes, which checked builds find: the columns are copies there ---- */

static void write_for_reading(weft_slice *slice, void *user)
{
    uint32_t *values = (uint32_t *)(uintptr_t)weft_slice_read(slice, 0);
    (void)user;
    if (slice->index == 3) values[5] = 1;
}

static void write_behind(weft_slice *slice, void *user)
{
    uint32_t *values = weft_slice_write(slice, 0);
    (void)user;
    if (slice->index >= 2) values[weft_slice_count(slice)] = 1;
}

static void ask_for_writing(weft_slice *slice, void *user)
{
    (void)user;
    if (slice->index >= 4) weft_slice_write(slice, 0);
}

/* A component that no row has, and a change of values in a loop that only lends its slice. */
static void ask_the_world(weft_slice *slice, void *user)
{
    const weft_component *absent = user;
    float value = 0;
    if (slice->index < 6) return;
    CHECK(weft_slice_read_entity(slice, slice->entities[0], *absent) == NULL);
    CHECK((weft_slice_write_entity(slice, slice->entities[0], *absent) != NULL) == WEFT_IS_CHECKED);
    CHECK_RESULT(weft_entity_set(weft_slice_world(slice), slice->entities[0], *absent, &value, 4),
                 WEFT_WRONG_PHASE);
}

/* Looks its own rows up, which must be what it has written. */
static void look_up_own(weft_slice *slice, void *user)
{
    const weft_component *value = user;
    uint32_t *values = weft_slice_write(slice, 0);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        values[i] = 1000 + i;
        const uint32_t *same = weft_slice_read_entity(slice, slice->entities[i], *value);
        CHECK_U64(*same, 1000 + i);
    }
}

static void expect_mistake(each_world *w, weft_query query, void (*run)(weft_slice *, void *),
                           const char *const *words)
{
    uint64_t before = weft_world_hash(w->world, WEFT_HASH_CONTENT);
    CHECK_RESULT(weft_query_each_parallel(w->world, query, run, NULL), WEFT_UNDECLARED_ACCESS);
    for (; *words != NULL; words++)
        if (strstr(weft_world_error(w->world)->text, *words) == NULL)
            CHECK_TEXT(weft_world_error(w->world)->text, *words);
    CHECK_U64(weft_world_hash(w->world, WEFT_HASH_CONTENT), before);
}

PLAIN_TEST(writes_outside_of_what_was_given_are_named_and_undone)
{
    each_world w;
    open_world(&w);
    weft_query reading = weft_query_create(w.world, &(weft_query_desc){.terms = {{w.value}}});
    if (WEFT_IS_CHECKED) {
        expect_mistake(
            &w, reading, write_for_reading,
            (const char *const[]){"slice 3", "row 5", "component value", "for reading", NULL});
        expect_mistake(
            &w, w.query, write_behind,
            (const char *const[]){"slice 2", "component value", "behind the last row", NULL});
    }
    CHECK_OK(weft_query_each_parallel(w.world, w.query, look_up_own, &w.value));
    close_world(&w);
}

/* What the forked child sees; 0 when every refusal is told by a text of its own. */
static int look_from_child(each_world *w)
{
    uint64_t failures = weft_world_error(w->world)->number;
    if (weft_query_each_parallel(w->world, w->query, visit, NULL) != WEFT_FORKED) return 1;
    const weft_error *error = weft_world_error(w->world);
    if (error->number != failures + 1 || error->code != WEFT_FORKED) return 2;
    if (strstr(error->text, "weft_query_each_parallel") == NULL ||
        strstr(error->text, "parent") == NULL)
        return 3;
    if (weft_query_count(w->world, w->query) != ROWS) return 4;
    if (weft_world_validate(w->world) != WEFT_OK) return 5;
    return weft_world_destroy(w->world) == WEFT_OK ? 0 : 6;
}

PLAIN_TEST(a_forked_child_is_told_why_its_loops_do_not_run)
{
    each_world w;
    open_world(&w);
    pid_t child = test_fork(w.pool);
    if (child == 0) _exit(look_from_child(&w));
    int status;
    CHECK_I64(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_I64(WEXITSTATUS(status), 0);
    close_world(&w);
}

/* All workers make it: it is one text, of the first slice. */
PLAIN_TEST(mistakes_of_several_workers_are_one_error_of_the_first_slice)
{
    each_world w;
    open_world(&w);
    weft_query reading = weft_query_create(w.world, &(weft_query_desc){.terms = {{w.value}}});
    weft_component absent = weft_component_create_plain(w.world, "absent", 4, 4, 0);
    for (int i = 0; i < 50; i++) {
        if (WEFT_IS_CHECKED)
            expect_mistake(&w, reading, ask_for_writing,
                           (const char *const[]){"slice 4", "value", "give it WEFT_WRITE", NULL});
        uint64_t number = weft_world_error(w.world)->number;
        CHECK_OK(weft_query_each_parallel(w.world, reading, ask_the_world, &absent));
        CHECK_RESULT(weft_world_error(w.world)->code, WEFT_NOT_FOUND);
        CHECK_U64(weft_world_error(w.world)->number, number + 1);
        CHECK(strstr(weft_world_error(w.world)->text, "slice 6: entity") != NULL);
    }
    close_world(&w);
}
