/* SPDX-License-Identifier: MIT */
/* systems_bed.h: a small world for tests of systems: 3,000 rows of two components, a tag, a
 * shared component, a resource, and a query that reads the first. One per program; every test
 * opens its own. */
#ifndef WEFT_TESTS_SYSTEMS_BED_H
#define WEFT_TESTS_SYSTEMS_BED_H

#include <weft/weft.h>

#include "atomic.h"
#include "plain.h"

#include <string.h>

enum { ROWS = 3000 };

typedef struct bed {
    weft_world *world;
    weft_component a, b, tag, shared, resource;
    weft_query all; /* reads a */
    weft_entity rows[ROWS];
} bed;

static bed t;

static inline void begin_with(const weft_world_desc *desc, bool is_parallel)
{
    CHECK_OK(weft_world_create(desc, &t.world));
    t.a = weft_component_create_plain(t.world, "a", 4, 4, 0);
    t.b = weft_component_create_plain(t.world, "b", 4, 4, 0);
    t.tag = WEFT_TAG(t.world, tag);
    t.shared = weft_component_create_plain(t.world, "shared", 4, 4, WEFT_SHARED);
    t.resource = weft_component_create_plain(t.world, "resource", 4, 4, WEFT_RESOURCE);
    t.all = weft_query_create(t.world, &(weft_query_desc){.terms = {{t.a, WEFT_READ, 0, 0}}});
    CHECK_OK(weft_entity_create_many(
        t.world, weft_archetype_create(t.world, (weft_component[]){t.a, t.b}, 2), ROWS, t.rows));
    CHECK_OK(weft_schedule_set(t.world, &(weft_schedule_desc){.is_always_parallel = is_parallel}));
}

static inline void begin(uint32_t workers)
{
    begin_with(&(weft_world_desc){.workers = workers}, workers > 1);
}

static inline void end(void)
{
    CHECK_OK(weft_world_validate(t.world));
    CHECK_OK(weft_world_destroy(t.world));
}

static inline void on_workers(void (*test)(void))
{
    for (uint32_t workers = 1; workers <= 3; workers += 2) {
        begin(workers);
        test();
        end();
    }
}

static inline weft_system make(const weft_system_desc *desc)
{
    weft_system system = weft_system_create(t.world, desc);
    if (system.id == 0) CHECK_TEXT(weft_world_error(t.world)->text, "");
    return system;
}

static inline void check_error(weft_result code, const char *word)
{
    CHECK_RESULT(weft_world_error(t.world)->code, code);
    if (strstr(weft_world_error(t.world)->text, word) == NULL)
        CHECK_TEXT(weft_world_error(t.world)->text, word);
}

static inline void nothing(weft_slice *s, void *user)
{
    (void)s;
    (void)user;
}

/* A description of system "x" with this much in it. */
#define SYSTEM_OF(function, ...)                                                                   \
    &(weft_system_desc)                                                                            \
    {                                                                                              \
        .name = "x", .run = (function), __VA_ARGS__                                                \
    }
#define SYSTEM(...) SYSTEM_OF(nothing, __VA_ARGS__)

static inline void add_one(weft_slice *s, void *user)
{
    uint32_t *values = weft_slice_write(s, 0);
    weft_a32 *x_slices = user;
    for (uint32_t i = 0; i < s->count; i++) values[i]++;
    at_add_rlx(x_slices, 1u); /* relaxed: counts */
}

static inline void check_values(uint32_t expected)
{
    for (uint32_t i = 0; i < ROWS; i++)
        CHECK_U64(*(const uint32_t *)weft_entity_read(t.world, t.rows[i], t.a), expected);
}

#endif
