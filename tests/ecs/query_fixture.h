/* SPDX-License-Identifier: MIT */
/* query_fixture.h: a small world for the tests of queries: a few components of every kind, and
 * helpers that check what a query selects.
 *
 * Owner: the test. Every test ends with fixture_close, which validates the world. */
#ifndef WEFT_TESTS_QUERY_FIXTURE_H
#define WEFT_TESTS_QUERY_FIXTURE_H

#include <weft/ecs.h>

#include "check.h"
#include "memory_fault.h"

/* Components are named after what they are: `a`..`d` data of 4 bytes, `t`, `u` tags, `x`..`z`
 * enableable data of 4 bytes, `w` an enableable tag, `s` a shared int, `f` a shared flag, `h` a
 * chunk value of 4 bytes, `l` a tag that limits chunks to `row_limit` rows. */
typedef struct fixture {
    test_memory memory;
    weft_world *world;
    weft_component a, b, c, d, t, u, x, y, z, w, s, f, h, l;
} fixture;

static inline weft_component fixture_component(fixture *f, const char *name, size_t size,
                                               uint32_t flags)
{
    weft_component component = weft_component_create(
        f->world, &(weft_component_desc){.name = name, .size = size, .flags = flags});
    CHECK(component.id != 0);
    return component;
}

/* A world with all components; chunks with `l` hold `row_limit` rows at most (0: 4). */
static inline void fixture_open_on(fixture *f, uint32_t row_limit, weft_job_pool *pool)
{
    *f = (fixture){0};
    test_memory_init(&f->memory);
    weft_world_desc desc = {.workers = 1, .pool = pool, .allocator = test_memory_hook(&f->memory)};
    CHECK_OK(weft_world_create(&desc, &f->world));
    f->a = fixture_component(f, "a", 4, 0);
    f->b = fixture_component(f, "b", 4, 0);
    f->c = fixture_component(f, "c", 4, 0);
    f->d = fixture_component(f, "d", 4, 0);
    f->t = fixture_component(f, "t", 0, 0);
    f->u = fixture_component(f, "u", 0, 0);
    f->x = fixture_component(f, "x", 4, WEFT_ENABLEABLE);
    f->y = fixture_component(f, "y", 4, WEFT_ENABLEABLE);
    f->z = fixture_component(f, "z", 4, WEFT_ENABLEABLE);
    f->w = fixture_component(f, "w", 0, WEFT_ENABLEABLE);
    f->s = fixture_component(f, "s", 4, WEFT_SHARED);
    f->f = fixture_component(f, "f", 1, WEFT_SHARED);
    f->h = fixture_component(f, "h", 4, WEFT_CHUNK);
    weft_component_desc limit = {.name = "l", .chunk_row_limit = row_limit == 0 ? 4 : row_limit};
    f->l = weft_component_create(f->world, &limit);
    CHECK(f->l.id != 0);
}

static inline void fixture_open(fixture *f, uint32_t row_limit)
{
    fixture_open_on(f, row_limit, NULL);
}

static inline void fixture_validate(const fixture *f)
{
    if (weft_world_validate(f->world) != WEFT_OK)
        test_fail(__FILE__, __LINE__, weft_world_error(f->world)->text);
}

static inline void fixture_close(fixture *f)
{
    fixture_validate(f);
    CHECK_OK(weft_world_destroy(f->world));
    test_memory_fini(&f->memory);
}

/* Entities with the components of a list that ends with a null one. */
static inline void fixture_create(fixture *f, const weft_component *components, uint32_t count,
                                  weft_entity *out)
{
    uint32_t length = 0;
    while (components[length].id != 0) length++;
    CHECK_OK(weft_entity_create_many(f->world, weft_archetype_create(f->world, components, length),
                                     count, out));
}

/* FIXTURE_CREATE(&f, 3, entities, f.a, f.b): three entities with a and b. */
#define FIXTURE_CREATE(fixture_pointer, count, out, ...)                                           \
    fixture_create((fixture_pointer), (const weft_component[]){__VA_ARGS__, {0}}, (count), (out))

static inline weft_query fixture_query(fixture *f, const weft_query_desc *desc)
{
    weft_query query = weft_query_create(f->world, desc);
    if (query.id == 0) test_fail(__FILE__, __LINE__, weft_world_error(f->world)->text);
    return query;
}

/* FIXTURE_QUERY(&f, {f.a}, {f.b, WEFT_WRITE}) */
#define FIXTURE_QUERY(fixture_pointer, ...)                                                        \
    fixture_query((fixture_pointer), &(weft_query_desc){.terms = {__VA_ARGS__}})

/* Rows and runs that a loop over the query sees. */
typedef struct fixture_loop {
    uint64_t rows;
    uint32_t runs;
    uint32_t masked_runs;
} fixture_loop;

static inline fixture_loop fixture_iterate(fixture *f, weft_query query)
{
    fixture_loop loop = {0};
    weft_cursor cursor = weft_query_begin(f->world, query);
    while (weft_query_next(&cursor)) {
        uint32_t begin = 0, end = 0;
        loop.runs++;
        loop.masked_runs += cursor.slice.enabled != NULL;
        while (weft_slice_next_run(&cursor.slice, &begin, &end)) loop.rows += end - begin;
    }
    return loop;
}

#endif
