/* SPDX-License-Identifier: MIT */
/* mistakes_bed.h: a small world for tests of what checked builds say about systems: one entity of
 * two components, a resource, and a step whose error names words. One per program. */
#ifndef WEFT_TESTS_MISTAKES_BED_H
#define WEFT_TESTS_MISTAKES_BED_H

#include "invariant.h"

#include <weft/weft.h>

#include "plain.h"

#include <string.h>

static weft_world *world;
static weft_component a, b, resource;
static weft_entity first;

static inline void begin(void)
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 2}, &world));
    a = weft_component_create_plain(world, "a", 4, 4, 0);
    b = weft_component_create_plain(world, "b", 4, 4, 0);
    resource = weft_component_create_plain(world, "res", 4, 4, WEFT_RESOURCE);
    CHECK_OK(weft_entity_create_many(
        world, weft_archetype_create(world, (weft_component[]){a, b}, 2), 1, &first));
}

static inline void end(void)
{
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_world_destroy(world));
}

static inline weft_system add(const char *name, void (*run)(weft_slice *, void *), uint32_t effects)
{
    return weft_system_create(world,
                              &(weft_system_desc){.name = name,
                                                  .run = run,
                                                  .effects = effects,
                                                  .over.rows.terms = {{a, WEFT_READ, 0, 0}}});
}

/* Steps; checked builds must return `code` and name everything in `words`. */
static inline void expect(weft_result code, const char *const *words)
{
    weft_result result = weft_world_step(world, 0);
    if (!WEFT_IS_CHECKED) return;
    CHECK_RESULT(result, code);
    for (; *words != NULL; words++)
        if (strstr(weft_world_error(world)->text, *words) == NULL)
            CHECK_TEXT(weft_world_error(world)->text, *words);
}

#endif
