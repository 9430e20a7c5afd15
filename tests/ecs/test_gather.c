/* SPDX-License-Identifier: MIT */
/* test_gather.c: copies of a query's rows made by jobs and written back: the same values as the
 * copy made at once, nothing to see before the end, only the gathered rows changed. Every test runs
 * on one worker, where a job runs in the wait, and on four. Runs under every sanitizer. */
#include "host.h"
#include "plain.h"
#include "query_fixture.h"

#include <pthread.h>
#include <string.h>

enum { ROWS = 30000 };

/* Rows in four archetypes (with and without b, with x partly disabled, with shared values). */
typedef struct gather_world {
    fixture f;
    weft_job_pool *pool;
    weft_entity *entities;
    weft_query all, some; /* everything with a; some: x enabled, shared not 7 */
} gather_world;

static void open_world(gather_world *w, uint32_t workers)
{
    static weft_entity entities[ROWS];
    weft_job_pool_desc pool = {.worker_count = workers, .is_always_parallel = true};
    CHECK_OK(weft_job_pool_create(&pool, &w->pool));
    fixture_open_on(&w->f, 500, w->pool);
    fixture *f = &w->f;
    w->entities = entities;
    FIXTURE_CREATE(f, ROWS / 4, entities, f->a);
    FIXTURE_CREATE(f, ROWS / 4, entities + ROWS / 4, f->a, f->b, f->x, f->s);
    FIXTURE_CREATE(f, ROWS / 4, entities + ROWS / 2, f->a, f->x, f->s, f->l);
    FIXTURE_CREATE(f, ROWS / 4, entities + 3 * (ROWS / 4), f->a, f->b, f->s);
    for (uint32_t i = 0; i < ROWS; i++) {
        CHECK_OK(weft_entity_set(f->world, entities[i], f->a, &i, sizeof i));
        bool has_bit = i >= ROWS / 4 && i < 3 * (ROWS / 4);
        if (has_bit) CHECK_OK(weft_entity_enable(f->world, entities[i], f->x, i % 5 < 2));
    }
    for (uint32_t i = ROWS / 4; i < ROWS; i += 3)
        CHECK_OK(weft_entity_set_shared(f->world, entities[i], f->s, &(int32_t){7}));
    w->all = FIXTURE_QUERY(f, {f->a}, {f->b, .match = WEFT_OPTIONAL});
    w->some = FIXTURE_QUERY(f, {f->a}, {f->x}, {f->s});
    CHECK_OK(
        weft_query_filter_shared(f->world, w->some, f->s, WEFT_FILTER_NOT_EQUAL, &(int32_t){7}, 1));
}

static void close_world(gather_world *w)
{
    fixture_close(&w->f);
    CHECK_OK(weft_job_pool_destroy(w->pool));
}

static void on_workers(void (*test)(gather_world *w))
{
    for (uint32_t workers = 1; workers <= 4; workers += 3) {
        gather_world w;
        open_world(&w, workers);
        test(&w);
        close_world(&w);
    }
}

static void check_text(const fixture *f, const char *part)
{
    const char *text = weft_world_error(f->world)->text;
    if (strstr(text, part) == NULL) test_fail(__FILE__, __LINE__, text);
}

/* ---- the copy ---- */

static void check_copy(gather_world *w, weft_query query, weft_component component)
{
    static uint32_t expected[ROWS];
    uint64_t rows = weft_query_read_values(w->f.world, query, component, expected, ROWS);
    weft_gather g;
    void *values;
    uint64_t count;
    CHECK_OK(weft_gather_begin(w->f.world, query, &(weft_gather_desc){.component = component}, &g));
    CHECK_OK(weft_gather_wait(&g));
    CHECK_OK(weft_gather_values(&g, &values, &count));
    CHECK_U64(count, rows);
    CHECK(rows != 0 && memcmp(values, expected, rows * 4) == 0);
    CHECK_OK(weft_gather_end(&g));
    CHECK(g.state == NULL);
}

static void copies(gather_world *w)
{
    check_copy(w, w->all, w->f.a);
    check_copy(w, w->all, w->f.b); /* zero where there is none */
    check_copy(w, w->some, w->f.a);
    check_copy(w, w->some, w->f.x);
    weft_query changed = FIXTURE_QUERY(&w->f, {w->f.a});
    CHECK_OK(weft_query_filter_changed(w->f.world, changed, w->f.a,
                                       weft_world_advance_change_version(w->f.world)));
    for (uint32_t i = 0; i < ROWS; i += 997)
        CHECK(weft_entity_write(w->f.world, w->entities[i], w->f.a) != NULL);
    check_copy(w, changed, w->f.a);
}

PLAIN_TEST(a_copy_made_by_a_job_equals_the_one_made_at_once)
{
    on_workers(copies);
}

static void entity_handles(gather_world *w)
{
    static weft_entity expected[ROWS], out[ROWS];
    uint64_t rows = weft_query_entities(w->f.world, w->some, expected, ROWS), count;
    void *values;
    weft_gather g;
    weft_gather_desc desc = {.gathers_entities = true, .values = out, .capacity = ROWS};
    CHECK_OK(weft_gather_begin(w->f.world, w->some, &desc, &g));
    CHECK_OK(weft_gather_wait(&g));
    CHECK_OK(weft_gather_values(&g, &values, &count));
    CHECK(values == out);
    CHECK_U64(count, rows);
    CHECK(memcmp(out, expected, rows * sizeof out[0]) == 0);
    CHECK_U64(weft_gather_scatter(&g), WEFT_TYPE_MISMATCH);
    check_text(&w->f, "cannot be written back");
    CHECK_OK(weft_gather_end(&g));
}

PLAIN_TEST(entity_handles_are_copied_into_the_callers_room)
{
    on_workers(entity_handles);
}

static void nothing(gather_world *w)
{
    weft_query none = FIXTURE_QUERY(&w->f, {w->f.a}, {w->f.d});
    weft_gather g;
    void *values;
    uint64_t count = 1;
    CHECK_OK(weft_gather_begin(w->f.world, none, &(weft_gather_desc){.component = w->f.d}, &g));
    CHECK_OK(weft_gather_wait(&g));
    CHECK_OK(weft_gather_values(&g, &values, &count));
    CHECK_U64(count, 0);
    CHECK_OK(weft_gather_scatter(&g));
    CHECK_OK(weft_gather_end(&g));
    int32_t seven = 7; /* rows, but the filter lets none pass */
    CHECK_OK(weft_query_filter_shared(w->f.world, w->some, w->f.s, WEFT_FILTER_EQUAL, &seven, 1));
    CHECK_OK(weft_gather_begin(w->f.world, w->some, &(weft_gather_desc){.component = w->f.a}, &g));
    CHECK_OK(weft_gather_wait(&g));
    CHECK_OK(weft_gather_values(&g, NULL, &count));
    CHECK_U64(count, 0);
    CHECK_OK(weft_gather_end(&g));
}

PLAIN_TEST(a_query_without_rows_gives_none)
{
    on_workers(nothing);
}

/* ---- before the end ---- */

PLAIN_TEST(values_cannot_be_used_before_the_job_has_ended)
{
    gather_world w;
    open_world(&w, 1); /* no worker runs the job before the wait */
    weft_gather g;
    void *values = &w;
    uint64_t count = 1;
    CHECK_OK(weft_gather_begin(w.f.world, w.some, &(weft_gather_desc){.component = w.f.a}, &g));
    CHECK_U64(weft_gather_values(&g, &values, &count), WEFT_WRONG_PHASE);
    check_text(&w.f, "weft_gather_wait");
    CHECK(values == NULL);
    CHECK_U64(count, 0);
    CHECK_U64(weft_gather_scatter(&g), WEFT_WRONG_PHASE);
    CHECK_OK(weft_gather_wait(&g));
    CHECK_OK(weft_gather_values(&g, &values, &count));
    CHECK(values != NULL && count != 0);
    CHECK_OK(weft_gather_wait(&g)); /* again: nothing to wait for */
    CHECK_OK(weft_gather_end(&g));
    CHECK_U64(weft_gather_values(&g, &values, &count), WEFT_BAD_HANDLE);
    CHECK_U64(weft_gather_wait(&g), WEFT_BAD_HANDLE);
    CHECK_U64(weft_gather_scatter(&g), WEFT_BAD_HANDLE);
    CHECK_OK(weft_gather_end(&g)); /* not open: fine */
    close_world(&w);
}

/* A job that uses the values of a gather it comes after. */
typedef struct summing {
    const weft_gather *gather;
    uint64_t sum;
    weft_result result;
} summing;

static int sum_values(weft_job_context *job, void *argument)
{
    summing *s = argument;
    void *values;
    uint64_t count;
    (void)job;
    s->result = weft_gather_values(s->gather, &values, &count);
    for (uint64_t i = 0; i < count; i++) s->sum += ((uint32_t *)values)[i];
    return 0;
}

static void sums(gather_world *w)
{
    weft_gather g;
    weft_job_context *owner = weft_job_pool_owner(w->pool);
    CHECK_OK(weft_gather_begin(w->f.world, w->all, &(weft_gather_desc){.component = w->f.a}, &g));
    summing s = {.gather = &g};
    weft_job_handle job;
    weft_job_desc desc = {.fn = sum_values, .argument = &s, .after = &g.job, .after_count = 1};
    CHECK_OK(weft_job_submit(owner, &desc, &job));
    CHECK_OK(weft_job_wait(owner, job, NULL));
    CHECK_OK(s.result);
    CHECK_U64(s.sum, (uint64_t)ROWS * (ROWS - 1) / 2);
    CHECK_OK(weft_gather_end(&g));
}

PLAIN_TEST(a_job_that_comes_after_it_uses_the_values)
{
    on_workers(sums);
}

PLAIN_TEST(a_cancelled_gather_has_no_values_and_ends)
{
    gather_world w;
    open_world(&w, 1);
    weft_gather g;
    CHECK_OK(weft_gather_begin(w.f.world, w.all, &(weft_gather_desc){.component = w.f.a}, &g));
    CHECK_OK(weft_job_cancel(w.pool, g.job));
    CHECK_U64(weft_gather_wait(&g), WEFT_CANCELLED);
    CHECK_U64(weft_world_error(w.f.world)->code, WEFT_CANCELLED);
    check_text(&w.f, "weft_gather_wait: the copy was cancelled");
    CHECK_U64(weft_gather_values(&g, NULL, NULL), WEFT_CANCELLED);
    CHECK_U64(weft_gather_scatter(&g), WEFT_CANCELLED);
    check_text(&w.f, "weft_gather_scatter: the copy was cancelled");
    CHECK_OK(weft_gather_end(&g));
    CHECK_OK(weft_query_destroy_entities(w.f.world, w.all));
    close_world(&w);
}

/* ---- the world meanwhile ---- */

static void count_slices(weft_slice *slice, void *user)
{
    (void)slice;
    (void)user;
}

static void check_read_only(gather_world *w)
{
    weft_world *world = w->f.world;
    weft_component a = w->f.a;
    weft_query writes = FIXTURE_QUERY(&w->f, {a, WEFT_WRITE});
    weft_gather g;
    weft_gather_desc desc = {.component = a};
    weft_cursor cursor = weft_query_begin(world, w->all);
    CHECK(weft_query_next(&cursor));
    CHECK_U64(weft_gather_begin(world, w->all, &desc, &g), WEFT_WRONG_PHASE);
    weft_query_end(&cursor);
    CHECK_OK(weft_gather_begin(world, w->all, &desc, &g));
    CHECK_U64(weft_entity_destroy(world, w->entities[0]), WEFT_WRONG_PHASE);
    check_text(&w->f, "weft_gather_end");
    uint32_t value = 1;
    CHECK(weft_entity_write(world, w->entities[0], a) == NULL);
    CHECK_U64(weft_entity_set(world, w->entities[0], a, &value, 4), WEFT_WRONG_PHASE);
    CHECK_U64(weft_entity_enable(world, w->entities[ROWS / 2], w->f.x, true), WEFT_WRONG_PHASE);
    CHECK_U64(weft_query_enable(world, w->some, w->f.x, true), WEFT_WRONG_PHASE);
    CHECK_U64(weft_query_write_values(world, w->all, a, &value, 1), WEFT_WRONG_PHASE);
    check_text(&w->f, "weft_gather_end");
    CHECK_U64(weft_query_filter_reset(world, w->some), WEFT_WRONG_PHASE);
    CHECK_U64(weft_query_destroy(world, w->all), WEFT_WRONG_PHASE);
    CHECK_U64(weft_query_each_parallel(world, w->all, count_slices, NULL), WEFT_WRONG_PHASE);
    CHECK_U64(weft_world_destroy(world), WEFT_BUSY);
    weft_indexed indexed;
    CHECK_U64(weft_indexed_open(world, writes, 0, &indexed), WEFT_WRONG_PHASE);
    cursor = weft_query_begin(world, writes);
    CHECK(!weft_query_next(&cursor));
    check_text(&w->f, "weft_gather_end");
    /* reading goes on */
    CHECK_OK(weft_indexed_open(world, w->all, 0, &indexed));
    CHECK_U64(indexed.count, ROWS);
    weft_indexed_close(&indexed);
    CHECK_U64(fixture_iterate(&w->f, w->some).rows, weft_query_count(world, w->some));
    CHECK(weft_entity_read(world, w->entities[0], a) != NULL);
    CHECK_OK(weft_gather_end(&g)); /* without a wait before */
    CHECK_OK(weft_entity_destroy(world, w->entities[0]));
}

PLAIN_TEST(the_world_is_only_read_until_the_end)
{
    on_workers(check_read_only);
}

static void several(gather_world *w)
{
    enum { COUNT = 5 };
    weft_gather g[COUNT];
    const weft_component components[COUNT] = {w->f.a, w->f.b, w->f.a, w->f.b, w->f.a};
    for (uint32_t i = 0; i < COUNT; i++)
        CHECK_OK(weft_gather_begin(w->f.world, w->all,
                                   &(weft_gather_desc){.component = components[i]}, &g[i]));
    const uint32_t order[COUNT] = {2, 0, 4, 1, 3};
    for (uint32_t i = 0; i < COUNT; i++) {
        CHECK_U64(weft_query_remove(w->f.world, w->all, w->f.s), WEFT_WRONG_PHASE);
        CHECK_OK(weft_gather_end(&g[order[i]]));
    }
    CHECK_OK(weft_query_remove(w->f.world, w->all, w->f.s));
}

PLAIN_TEST(several_may_be_open_and_end_in_any_order)
{
    on_workers(several);
}

PLAIN_TEST(more_than_511_open_ones_are_refused)
{
    enum { COUNT = 511 };
    static weft_gather g[COUNT];
    gather_world w;
    open_world(&w, 1);
    weft_query none = FIXTURE_QUERY(&w.f, {w.f.d});
    weft_gather_desc desc = {.component = w.f.d};
    for (uint32_t i = 0; i < COUNT; i++) CHECK_OK(weft_gather_begin(w.f.world, none, &desc, &g[i]));
    weft_gather one_more;
    CHECK_U64(weft_gather_begin(w.f.world, none, &desc, &one_more), WEFT_LIMIT);
    for (uint32_t i = 0; i < COUNT; i++) CHECK_OK(weft_gather_end(&g[i]));
    close_world(&w);
}

/* ---- back to the rows ---- */

static void scatter(gather_world *w)
{
    static uint32_t expected[ROWS];
    weft_world *world = w->f.world;
    uint64_t rows = weft_query_count(world, w->some), count;
    weft_query changed = FIXTURE_QUERY(&w->f, {w->f.a});
    CHECK_OK(weft_query_filter_changed(world, changed, w->f.a,
                                       weft_world_advance_change_version(world)));
    for (uint32_t i = 0; i < ROWS; i++) {
        bool is_in = weft_query_matches(world, w->some, w->entities[i]);
        expected[i] = is_in ? i * 2 + 1 : i;
    }
    weft_gather g, other;
    CHECK_OK(weft_gather_begin(world, w->some, &(weft_gather_desc){.component = w->f.a}, &g));
    CHECK_OK(weft_gather_wait(&g));
    CHECK_U64(weft_query_count(world, changed), 0); /* gathering stamps nothing */
    void *values;
    CHECK_OK(weft_gather_values(&g, &values, &count));
    CHECK_U64(count, rows);
    for (uint64_t i = 0; i < count; i++) ((uint32_t *)values)[i] = ((uint32_t *)values)[i] * 2 + 1;
    CHECK_OK(weft_gather_begin(world, w->all, &(weft_gather_desc){.component = w->f.a}, &other));
    CHECK_OK(weft_gather_scatter(&g)); /* waits for the other one, which has the old values */
    CHECK_OK(weft_gather_values(&other, &values, &count));
    for (uint64_t i = 0; i < count; i++) CHECK(((uint32_t *)values)[i] < ROWS);
    CHECK_OK(weft_gather_end(&g));
    CHECK_OK(weft_gather_end(&other));
    for (uint32_t i = 0; i < ROWS; i++) {
        const uint32_t *value = weft_entity_read(world, w->entities[i], w->f.a);
        CHECK_U64(*value, expected[i]);
        bool is_stamped = weft_query_matches(world, changed, w->entities[i]);
        if (expected[i] != i) CHECK(is_stamped);
        /* the first archetype has no x: none of its slices was written */
        if (i < ROWS / 4) CHECK(!is_stamped);
    }
}

PLAIN_TEST(changed_values_go_back_to_their_rows_and_stamp_their_slices)
{
    on_workers(scatter);
}

/* Rows of one slice pass: the others of its chunk are not written, so they have not changed. */
static void scatter_filtered(gather_world *w)
{
    weft_world *world = w->f.world;
    weft_query few = FIXTURE_QUERY(&w->f, {w->f.a});
    weft_query written = FIXTURE_QUERY(&w->f, {w->f.a});
    CHECK_OK(
        weft_query_filter_changed(world, few, w->f.a, weft_world_advance_change_version(world)));
    CHECK(weft_entity_write(world, w->entities[0], w->f.a) != NULL);
    CHECK_OK(weft_query_filter_changed(world, written, w->f.a,
                                       weft_world_advance_change_version(world)));
    uint64_t rows = weft_query_count(world, few);
    CHECK(rows != 0 && rows < ROWS / 4);
    weft_gather g;
    CHECK_OK(weft_gather_begin(world, few, &(weft_gather_desc){.component = w->f.a}, &g));
    CHECK_OK(weft_gather_wait(&g));
    CHECK_OK(weft_gather_scatter(&g));
    CHECK_OK(weft_gather_end(&g));
    CHECK_U64(weft_query_count(world, written), rows);
}

PLAIN_TEST(slices_without_a_gathered_row_are_not_stamped)
{
    on_workers(scatter_filtered);
}

static void scatter_optional(gather_world *w)
{
    weft_world *world = w->f.world;
    weft_gather g;
    void *values;
    uint64_t count;
    CHECK_OK(weft_gather_begin(world, w->all, &(weft_gather_desc){.component = w->f.b}, &g));
    CHECK_OK(weft_gather_wait(&g));
    CHECK_OK(weft_gather_values(&g, &values, &count));
    CHECK_U64(count, ROWS);
    for (uint64_t i = 0; i < count; i++) ((uint32_t *)values)[i] = 9;
    CHECK_OK(weft_gather_scatter(&g));
    CHECK_OK(weft_gather_end(&g));
    for (uint32_t i = 0; i < ROWS; i++) {
        bool has_b = weft_entity_has(world, w->entities[i], w->f.b);
        if (has_b) CHECK_U64(*(const uint32_t *)weft_entity_read(world, w->entities[i], w->f.b), 9);
        CHECK_U64(*(const uint32_t *)weft_entity_read(world, w->entities[i], w->f.a), i);
    }
}

PLAIN_TEST(values_of_an_absent_optional_component_go_nowhere)
{
    on_workers(scatter_optional);
}

/* ---- what is refused ---- */

static void refused(gather_world *w, weft_query query, weft_gather_desc desc, weft_result code,
                    const char *text)
{
    weft_gather g = {.state = w};
    CHECK_U64(weft_gather_begin(w->f.world, query, &desc, &g), code);
    CHECK(g.state == NULL);
    check_text(&w->f, text);
}

PLAIN_TEST(wrong_arguments_are_refused_and_leave_nothing_open)
{
    gather_world w;
    open_world(&w, 1);
    fixture *f = &w.f;
    uint32_t room[1];
    weft_gather g;
    CHECK_U64(weft_gather_begin(NULL, w.all, &(weft_gather_desc){.component = f->a}, &g),
              WEFT_INVALID_ARGUMENT);
    CHECK_U64(weft_gather_begin(f->world, w.all, NULL, &g), WEFT_INVALID_ARGUMENT);
    CHECK_U64(weft_gather_begin(f->world, w.all, &(weft_gather_desc){.component = f->a}, NULL),
              WEFT_INVALID_ARGUMENT);
    CHECK_U64(weft_gather_values(NULL, NULL, NULL), WEFT_BAD_HANDLE);
    CHECK_OK(weft_gather_end(NULL));
    refused(&w, w.all, (weft_gather_desc){.component = f->c}, WEFT_INVALID_ARGUMENT,
            "not a component of the query");
    refused(&w, w.all, (weft_gather_desc){.component = {0}}, WEFT_BAD_HANDLE, "component");
    refused(&w, w.all, (weft_gather_desc){.component = {9999}}, WEFT_BAD_HANDLE, "9999");
    refused(&w, w.some, (weft_gather_desc){.component = f->s}, WEFT_TYPE_MISMATCH, "plain values");
    refused(&w, w.all, (weft_gather_desc){.component = f->a, .values = room, .capacity = 1},
            WEFT_INVALID_ARGUMENT, "30000 rows");
    refused(&w, w.some, (weft_gather_desc){.component = f->a, .values = room, .capacity = 1},
            WEFT_INVALID_ARGUMENT, "leave values NULL"); /* whatever would pass */
    weft_query gone = FIXTURE_QUERY(f, {f->a}, {f->b});
    CHECK_OK(weft_query_destroy(f->world, gone));
    refused(&w, gone, (weft_gather_desc){.component = f->a}, WEFT_BAD_HANDLE, "destroyed");
    refused(&w, (weft_query){0}, (weft_gather_desc){.component = f->a}, WEFT_BAD_HANDLE, "null");
    CHECK_OK(weft_query_destroy_entities(f->world, w.some)); /* nothing is open */
    close_world(&w);
}

/* A second thread that begins a gather while the first one is in the world. */
static void *begin_beside(void *argument)
{
    gather_world *w = argument;
    weft_gather g;
    weft_gather_desc desc = {.component = w->f.a};
    CHECK_RESULT(weft_gather_begin(w->f.world, w->some, &desc, &g), WEFT_BUSY);
    CHECK(g.state == NULL);
    CHECK_RESULT(weft_gather_begin(w->f.world, (weft_query){0}, &desc, &g), WEFT_BUSY);
    CHECK_RESULT(weft_gather_begin(w->f.world, w->some, NULL, &g), WEFT_BUSY);
    return NULL;
}

PLAIN_TEST(a_thread_beside_the_worlds_own_is_refused_before_anything_changes)
{
    gather_world w;
    open_world(&w, 1);
    weft_world *world = w.f.world;
    CHECK_RESULT(weft_entity_destroy(world, (weft_entity){0}), WEFT_STALE_ENTITY);
    weft_error error = *weft_world_error(world);
    uint64_t allocations = w.f.memory.allocations;
    CHECK_OK(weft__host_begin(world, "test"));
    pthread_t thread;
    CHECK_U64((uint64_t)pthread_create(&thread, NULL, begin_beside, &w), 0);
    CHECK_U64((uint64_t)pthread_join(thread, NULL), 0);
    weft__host_end(world);
    CHECK_U64(w.f.memory.allocations, allocations);
    CHECK_RESULT(weft_world_error(world)->code, error.code);
    CHECK_TEXT(weft_world_error(world)->text, error.text);
    CHECK_U64(weft__front(world)->busy, 0);
    check_copy(&w, w.some, w.f.a);
    close_world(&w);
}

static uint32_t ended[3];

static void count_end(void *values, uint32_t count, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < count; i++) ended[((uint32_t *)values)[i]]++;
}

PLAIN_TEST(values_with_a_destruct_hook_are_copied_but_not_written_back)
{
    fixture f;
    fixture_open(&f, 0);
    weft_component_desc desc = {.name = "owner", .size = 4, .hooks.destruct = count_end};
    weft_component owner = weft_component_create(f.world, &desc);
    weft_entity entities[2];
    memset(ended, 0, sizeof ended);
    FIXTURE_CREATE(&f, 2, entities, owner);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_OK(weft_entity_set(f.world, entities[i], owner, &(uint32_t){i + 1}, 4));
    weft_query query = FIXTURE_QUERY(&f, {owner});
    weft_gather g;
    void *values;
    uint64_t count;
    memset(ended, 0, sizeof ended);
    CHECK_OK(weft_gather_begin(f.world, query, &(weft_gather_desc){.component = owner}, &g));
    CHECK_OK(weft_gather_wait(&g));
    CHECK_OK(weft_gather_values(&g, &values, &count));
    CHECK_U64(count, 2);
    CHECK_U64(((uint32_t *)values)[1], 2);
    ((uint32_t *)values)[1] = 0;
    CHECK_U64(weft_gather_scatter(&g), WEFT_TYPE_MISMATCH);
    check_text(&f, "weft_query_write_values");
    CHECK_OK(weft_gather_end(&g));
    CHECK_U64(*(const uint32_t *)weft_entity_read(f.world, entities[1], owner), 2);
    CHECK_U64(ended[1] + ended[2], 0);
    fixture_close(&f);
    CHECK_U64(ended[1], 1); /* each value ends once */
    CHECK_U64(ended[2], 1);
}

PLAIN_TEST(a_pool_without_room_for_the_job_is_an_error)
{
    weft_job_pool *pool;
    CHECK_OK(
        weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 1, .job_capacity = 1}, &pool));
    fixture f;
    fixture_open_on(&f, 0, pool);
    weft_query query = FIXTURE_QUERY(&f, {f.a});
    static weft_gather g[511]; /* the pool has fewer slots, in batches */
    uint32_t open = 0;
    weft_result result = WEFT_OK;
    while (result == WEFT_OK && open < 511) {
        result = weft_gather_begin(f.world, query, &(weft_gather_desc){.component = f.a}, &g[open]);
        open += result == WEFT_OK;
    }
    CHECK_U64(result, WEFT_POOL_FULL);
    check_text(&f, "job_capacity");
    for (uint32_t i = 0; i < open; i++) CHECK_OK(weft_gather_end(&g[i]));
    CHECK_OK(weft_gather_begin(f.world, query, &(weft_gather_desc){.component = f.a}, &g[0]));
    CHECK_OK(weft_gather_end(&g[0]));
    fixture_close(&f);
    CHECK_OK(weft_job_pool_destroy(pool));
}
