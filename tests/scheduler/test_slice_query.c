/* SPDX-License-Identifier: MIT */
/* test_slice_query.c: what a system sees beside its own rows: filters of the query that it runs
 * over, and the queries that it declares and iterates itself (weft_slice_query). */
#include "invariant.h"
#include "memory_fault.h"
#include "systems_bed.h"

#include <weft/finder.h>

/* ---- filters, declared queries ---- */

static void count_rows(weft_slice *s, void *user)
{
    weft_a64 *x_rows = user;
    at_add_rlx(x_rows, (uint64_t)s->count); /* relaxed: counts */
}

static void filtered(void)
{
    weft_a64 x_rows = {0};
    const int32_t red = 1, blue = 2;
    for (uint32_t i = 0; i < 1000; i++)
        CHECK_OK(weft_entity_set_shared(t.world, t.rows[i], t.shared, i < 300 ? &red : &blue));
    weft_query coloured = weft_query_create(
        t.world,
        &(weft_query_desc){.terms = {{t.a, WEFT_READ, 0, 0}, {t.shared, WEFT_NO_ACCESS, 0, 0}}});
    CHECK_OK(weft_query_filter_shared(t.world, coloured, t.shared, WEFT_FILTER_EQUAL, &red, 1));
    make(&(weft_system_desc){.name = "red",
                             .run = count_rows,
                             .user = &x_rows,
                             .over = {.kind = WEFT_OVER_QUERY, .query = coloured}});
    CHECK_OK(weft_world_step(t.world, 0));
    CHECK_U64(at_load_rlx(&x_rows), 300); /* relaxed: no system runs */
    CHECK_OK(weft_query_filter_reset(t.world, coloured));
    CHECK_OK(weft_query_filter_shared(t.world, coloured, t.shared, WEFT_FILTER_EQUAL, &blue, 1));
    CHECK_OK(weft_world_step(t.world, 0));
    CHECK_U64(at_load_rlx(&x_rows), 1000); /* relaxed: no system runs */
}

PLAIN_TEST(a_system_over_a_filtered_query_follows_its_filters)
{
    on_workers(filtered);
}

typedef struct tourist {
    weft_query others;
    weft_a64 x_rows, x_counted, x_sum;
} tourist;

static void look_around(weft_slice *s, void *user)
{
    tourist *u = user;
    weft_cursor c = weft_slice_query(s, u->others);
    while (weft_query_next(&c)) {
        const uint32_t *values = weft_slice_read(&c.slice, 0);
        for (uint32_t i = 0; i < c.slice.count; i++)
            at_add_rlx(&u->x_sum, (uint64_t)values[i]);  /* relaxed: counts */
        at_add_rlx(&u->x_rows, (uint64_t)c.slice.count); /* relaxed: counts */
    }
    uint64_t counted = weft_query_count(weft_slice_world(s), u->others);
    at_add_rlx(&u->x_counted, counted); /* relaxed: counts */
}

static void check_tour(tourist *u, uint64_t rows, uint64_t sum)
{
    CHECK_U64(at_load_rlx(&u->x_rows), rows);    /* relaxed: no system runs */
    CHECK_U64(at_load_rlx(&u->x_counted), rows); /* relaxed: no system runs */
    CHECK_U64(at_load_rlx(&u->x_sum), sum);      /* relaxed: no system runs */
    at_store_rlx(&u->x_rows, UINT64_C(0));       /* relaxed: no system runs */
    at_store_rlx(&u->x_counted, UINT64_C(0));    /* relaxed: no system runs */
    at_store_rlx(&u->x_sum, UINT64_C(0));        /* relaxed: no system runs */
}

static void spawn(weft_slice *s, void *user)
{
    const weft_archetype *archetype = user;
    weft_recorder_create_entity(weft_slice_recorder(s), *archetype);
}

static void declared(void)
{
    static tourist u;
    weft_a32 x_slices = {0};
    weft_archetype lone = weft_archetype_create(t.world, &t.a, 1);
    u.others = t.all;
    make(&(weft_system_desc){.name = "write",
                             .run = add_one,
                             .user = &x_slices,
                             .over.rows.terms = {{t.a, WEFT_WRITE, 0, 0}}});
    make(&(weft_system_desc){.name = "spawn",
                             .run = spawn,
                             .user = &lone,
                             .effects = WEFT_RECORDS_CREATE,
                             .records = {t.a},
                             .over = {.kind = WEFT_OVER_COUNT, .count = 4}});
    make(&(weft_system_desc){.name = "tour",
                             .run = look_around,
                             .user = &u,
                             .over = {.kind = WEFT_OVER_COUNT, .count = 3},
                             .queries = {t.all}});
    for (uint32_t i = 1; i <= 3; i++) {
        CHECK_OK(weft_world_step(t.world, 0)); /* sees what was spawned in this step */
        uint64_t sum = (uint64_t)i * ROWS + (i == 2 ? 4 : i == 3 ? 4 * (2 + 1) : 0);
        check_tour(&u, UINT64_C(3) * (ROWS + 4 * i), 3 * sum);
    }
    CHECK_OK(weft_system_run(t.world, weft_system_find(t.world, "tour"), 0));
    check_tour(&u, UINT64_C(3) * (ROWS + 12), 3 * (UINT64_C(3) * ROWS + 12));
}

PLAIN_TEST(a_system_iterates_its_declared_queries_on_every_worker_after_structure_has_changed)
{
    on_workers(declared);
}

static void find_others(weft_slice *s, void *user)
{
    tourist *u = user;
    weft_cursor c = weft_slice_query(s, u->others);
    while (weft_query_next(&c)) {
        weft_finder find = weft_slice_finder(&c.slice, t.b);
        for (uint32_t i = 0; i < c.slice.count; i++)
            if (weft_finder_read(&find, c.slice.entities[i]) != NULL)
                at_add_rlx(&u->x_rows, (uint64_t)1); /* relaxed: counts */
        CHECK(weft_slice_read_entity(&c.slice, (weft_entity){0, 0}, t.b) == NULL);
    }
}

static void find_from_declared(void)
{
    static tourist u;
    uint64_t failures = weft_world_error(t.world)->number;
    u.others = t.all;
    make(&(weft_system_desc){.name = "find",
                             .run = find_others,
                             .user = &u,
                             .lookups = {{t.b, WEFT_READ}},
                             .queries = {t.all}});
    CHECK_OK(weft_world_step(t.world, 0));
    CHECK_U64(weft_world_error(t.world)->number, failures); /* look-ups by workers set none */
    CHECK_U64(at_load_rlx(&u.x_rows), ROWS);                /* relaxed: no system runs */
    at_store_rlx(&u.x_rows, UINT64_C(0));                   /* relaxed: no system runs */
}

PLAIN_TEST(slices_of_a_declared_query_have_finders_too)
{
    on_workers(find_from_declared);
}

PLAIN_TEST(a_query_that_is_not_declared_has_no_rows_in_a_system)
{
    static tourist u;
    begin(2);
    u.others = t.all;
    make(&(weft_system_desc){.name = "tour", .run = look_around, .user = &u});
    weft_query_count(t.world, t.all);
    weft_result result = weft_world_step(t.world, 0);
    CHECK_RESULT(result, WEFT_IS_CHECKED ? WEFT_UNDECLARED_ACCESS : WEFT_OK);
    if (WEFT_IS_CHECKED) check_error(result, "queries");
    CHECK_U64(at_load_rlx(&u.x_rows), 0); /* relaxed: no system runs */
    end();
}

static void write_others(weft_slice *s, void *user)
{
    const tourist *u = user;
    weft_cursor c = weft_slice_query(s, u->others);
    while (weft_query_next(&c)) {
        uint32_t *values = weft_slice_write(&c.slice, 0);
        for (uint32_t i = 0; i < c.slice.count; i++) values[i] += 10;
    }
}

static void written_declared(void)
{
    static tourist u;
    weft_a64 x_rows = {0};
    u.others = weft_query_create(t.world, &(weft_query_desc){.terms = {{t.a, WEFT_WRITE, 0, 0}}});
    make(&(weft_system_desc){
        .name = "write", .run = write_others, .user = &u, .queries = {u.others}});
    make(&(weft_system_desc){.name = "watch",
                             .run = count_rows,
                             .user = &x_rows,
                             .skips_unchanged = true,
                             .over.rows.terms = {{t.a, WEFT_READ, 0, 0}}});
    CHECK_OK(weft_world_step(t.world, 0));
    CHECK_OK(weft_world_step(t.world, 0));
    check_values(20);
    CHECK_U64(at_load_rlx(&x_rows), 2 * ROWS); /* relaxed: no system runs; the writes are stamped */
    CHECK_OK(weft_system_enable(t.world, weft_system_find(t.world, "write"), false));
    CHECK_OK(weft_world_step(t.world, 0));
    CHECK_U64(at_load_rlx(&x_rows), 2 * ROWS); /* relaxed: no system runs */
}

PLAIN_TEST(what_a_system_writes_through_a_declared_query_is_seen_as_changed_by_later_ones)
{
    on_workers(written_declared);
}

enum { MANY_TERMS = WEFT_INLINE_TERMS + 1 };

typedef struct starving {
    test_memory memory;
    weft_query wide;
    uint32_t rows;
    bool is_refused;
} starving;

static void count_wide(weft_slice *s, void *user)
{
    starving *u = user;
    if (u->is_refused) test_memory_fail(&u->memory, 1, true);
    weft_cursor c = weft_slice_query(s, u->wide);
    test_memory_fail(&u->memory, 0, false);
    while (weft_query_next(&c)) u->rows += c.slice.count;
}

PLAIN_TEST(a_declared_query_without_memory_fails_the_step)
{
    starving u = {0};
    weft_component many[MANY_TERMS];
    weft_query_desc desc = {0};
    test_memory_init(&u.memory);
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = 1, .allocator = test_memory_hook(&u.memory)}, &t.world));
    for (uint32_t i = 0; i < MANY_TERMS; i++)
        many[i] = weft_component_create_plain(t.world, (char[]){(char)('a' + i), 0}, 4, 4, 0);
    weft_term terms[MANY_TERMS];
    for (uint32_t i = 0; i < MANY_TERMS; i++) terms[i] = (weft_term){many[i], WEFT_READ, 0, 0};
    desc.more_terms = terms;
    desc.more_term_count = MANY_TERMS;
    u.wide = weft_query_create(t.world, &desc);
    CHECK(u.wide.id != 0);
    CHECK_OK(weft_entity_create_many(t.world, weft_archetype_create(t.world, many, MANY_TERMS), 5,
                                     t.rows));
    make(
        &(weft_system_desc){.name = "counter", .run = count_wide, .user = &u, .queries = {u.wide}});
    u.is_refused = true;
    CHECK_RESULT(weft_world_step(t.world, 0), WEFT_OUT_OF_MEMORY);
    check_error(WEFT_OUT_OF_MEMORY, "system counter: weft_slice_query");
    CHECK_U64(u.rows, 0);
    u.is_refused = false;
    CHECK_OK(weft_world_step(t.world, 0));
    CHECK_U64(u.rows, 5);
    u.is_refused = true; /* the next loop needs no more memory */
    CHECK_OK(weft_world_step(t.world, 0));
    CHECK_U64(u.rows, 10);
    end();
    test_memory_fini(&u.memory);
}
