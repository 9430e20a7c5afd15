/* SPDX-License-Identifier: MIT */
/* test_version.c: change versions that loops ask for, terms that stamp when their column is asked
 * for, and columns asked for by C type. */
#include "query_fixture.h"

#include "invariant.h"

#include <criterion/criterion.h>
#include <string.h>

/* A query that writes `a`, stamping when asked, and reads `b`. */
static weft_query asking(fixture *f)
{
    weft_query query = weft_query_create(
        f->world, &(weft_query_desc){.stamps_asked = true, .terms = {{f->a, WEFT_WRITE}, {f->b}}});
    CHECK(query.id != 0);
    return query;
}

Test(version, a_loop_sees_what_changed_since_a_version)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[3000];
    FIXTURE_CREATE(&f, 3000, e, f.a, f.b);
    weft_query query = FIXTURE_QUERY(&f, {f.a}, {f.b}, {f.c, .match = WEFT_OPTIONAL});
    uint32_t since = weft_world_advance_change_version(f.world);
    CHECK(weft_entity_write(f.world, e[1500], f.a) != NULL);
    weft_cursor c = weft_query_begin(f.world, query);
    uint32_t changed = 0, rows = 0;
    while (weft_query_next(&c)) {
        bool has_written = false;
        for (uint32_t i = 0; i < c.slice.count; i++)
            has_written = has_written || c.slice.entities[i].index == e[1500].index;
        rows += c.slice.count;
        changed += weft_slice_changed_since(&c.slice, 0, since);
        CHECK_U64(weft_slice_changed_since(&c.slice, 0, since), has_written);
        CHECK_U64(weft_slice_change_version(&c.slice, 0), has_written ? since + 1 : since);
        CHECK_U64(weft_slice_change_version(&c.slice, 1), since);
        CHECK(!weft_slice_changed_since(&c.slice, 1, since));
        CHECK(weft_slice_changed_since(&c.slice, 1, since - 1) || since == 1);
        CHECK(weft_slice_changed_since(&c.slice, 1, 0));
        CHECK(!weft_slice_changed_since(&c.slice, 2, 0)); /* absent */
        CHECK_U64(weft_slice_change_version(&c.slice, 2), 0);
        CHECK(!weft_slice_order_changed_since(&c.slice, since));
        CHECK(weft_slice_order_changed_since(&c.slice, 0));
        CHECK_U64(weft_slice_since(&c.slice), 0);
    }
    CHECK_U64(rows, 3000);
    CHECK_U64(changed, 1);
    CHECK_OK(weft_entity_destroy(f.world, e[7]));
    c = weft_query_begin(f.world, query);
    CHECK(weft_query_next(&c));
    CHECK(weft_slice_order_changed_since(&c.slice, since));
    weft_query_end(&c);
    fixture_close(&f);
}

Test(version, values_and_components_have_versions)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[2];
    FIXTURE_CREATE(&f, 1, &e[0], f.a, f.b);
    FIXTURE_CREATE(&f, 1, &e[1], f.a, f.t);
    uint32_t first = weft_world_advance_change_version(f.world), second = first + 1;
    CHECK(weft_entity_write(f.world, e[1], f.a) != NULL);
    CHECK_U64(weft_entity_change_version(f.world, e[0], f.a), first);
    CHECK_U64(weft_entity_change_version(f.world, e[1], f.a), second);
    CHECK_U64(weft_entity_change_version(f.world, e[1], f.t), first);
    CHECK_U64(weft_entity_change_version(f.world, e[1], f.b), 0);
    CHECK_U64(weft_entity_change_version(f.world, (weft_entity){0}, f.a), 0);
    CHECK_U64(weft_entity_change_version(NULL, e[0], f.a), 0);
    fixture_close(&f);
}

/* The error that a question without an answer left. */
static weft_result error_of(fixture *f)
{
    weft_result code = weft_world_error(f->world)->code;
    weft_world_error_clear(f->world);
    return code;
}

Test(version, where_there_is_none_the_error_says_why)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e;
    FIXTURE_CREATE(&f, 1, &e, f.a);
    weft_entity_change_version(f.world, e, f.b);
    CHECK_RESULT(error_of(&f), WEFT_NOT_FOUND);
    weft_entity_change_version(f.world, (weft_entity){0}, f.a);
    CHECK_RESULT(error_of(&f), WEFT_STALE_ENTITY);
    weft_entity_change_version(f.world, e, (weft_component){0});
    CHECK_RESULT(error_of(&f), WEFT_BAD_HANDLE);
    fixture_close(&f);
}

Test(version, a_term_can_stamp_when_its_column_is_asked_for)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity few[5], many[3000];
    FIXTURE_CREATE(&f, 5, few, f.a, f.b);
    FIXTURE_CREATE(&f, 3000, many, f.a, f.b, f.t);
    uint32_t since = weft_world_advance_change_version(f.world);
    weft_query query = asking(&f);
    weft_cursor c = weft_query_begin(f.world, query);
    while (weft_query_next(&c)) CHECK(WEFT_READ_COLUMN(&c.slice, 1, int32_t) != NULL);
    CHECK_U64(weft_entity_change_version(f.world, few[0], f.a), since); /* visited, not asked for */
    c = weft_query_begin(f.world, query);
    while (weft_query_next(&c))
        if (c.slice.count == 5) CHECK(weft_slice_write(&c.slice, 0) != NULL);
    CHECK_U64(weft_entity_change_version(f.world, few[0], f.a), since + 1);
    CHECK_U64(weft_entity_change_version(f.world, many[0], f.a), since);
    /* another query with the same terms is another one */
    CHECK_U64(fixture_iterate(&f, FIXTURE_QUERY(&f, {f.a, WEFT_WRITE}, {f.b})).rows, 3005);
    CHECK_U64(weft_entity_change_version(f.world, many[0], f.a), since + 1);
    fixture_close(&f);
}

static void write_from_row_5(weft_slice *s, void *user)
{
    const weft_entity *wanted = user;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->entities[i].index == wanted->index) ((int32_t *)weft_slice_write(s, 0))[i] = 9;
}

Test(version, slices_of_a_parallel_loop_stamp_when_asked_too)
{
    fixture f;
    fixture_open(&f, 0);
    weft_entity e[3000];
    FIXTURE_CREATE(&f, 3000, e, f.a, f.b);
    uint32_t since = weft_world_advance_change_version(f.world);
    CHECK_OK(weft_query_each_parallel(f.world, asking(&f), write_from_row_5, &e[1800]));
    CHECK_U64(weft_entity_change_version(f.world, e[1800], f.a), since + 1);
    CHECK_U64(weft_entity_change_version(f.world, e[0], f.a), since);
    CHECK_U64(weft_entity_change_version(f.world, e[2999], f.a), since);
    fixture_close(&f);
}

typedef struct Position {
    float x, y, z;
} Position;
typedef struct Velocity {
    float x, y, z;
} Velocity;

Test(version, columns_asked_for_as_another_type_are_reported)
{
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    weft_component p = WEFT_COMPONENT(world, Position), v = WEFT_COMPONENT(world, struct Velocity);
    weft_component free_name = weft_component_create_plain(world, "speed", sizeof(Velocity), 4, 0);
    CHECK_U64(WEFT_COMPONENT(world, Position).id, p.id);
    CHECK_OK(weft_entity_create_many(
        world, weft_archetype_create(world, (weft_component[]){p, v, free_name}, 3), 10, NULL));
    weft_query query =
        weft_query_create(world, &(weft_query_desc){.terms = {{p, WEFT_WRITE}, {v}, {free_name}}});
    weft_cursor c = weft_query_begin(world, query);
    CHECK(weft_query_next(&c));
    CHECK_POINTER(WEFT_WRITE_COLUMN(&c.slice, 0, Position), c.slice.columns[0]);
    CHECK(WEFT_READ_COLUMN(&c.slice, 1, Velocity) == c.slice.columns[1]); /* without `struct` */
    CHECK(WEFT_READ_COLUMN(&c.slice, 2, Position) == c.slice.columns[2]); /* only its size counts */
    if (WEFT_IS_CHECKED) {
        CHECK(WEFT_READ_COLUMN(&c.slice, 1, Position) != c.slice.columns[1]);
        CHECK_RESULT(weft_world_error(world)->code, WEFT_TYPE_MISMATCH);
        CHECK(strstr(weft_world_error(world)->text, "Velocity) of a query is read as Position"));
        CHECK_U64(weft_world_error(world)->component.id, v.id);
        CHECK(WEFT_READ_COLUMN(&c.slice, 2, double) != c.slice.columns[2]);
        CHECK(WEFT_WRITE_COLUMN(&c.slice, 3, Position) != NULL); /* there is no such term */
    }
    weft_query_end(&c);
    CHECK_OK(weft_world_destroy(world));
}
