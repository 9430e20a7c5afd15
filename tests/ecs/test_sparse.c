/* SPDX-License-Identifier: MIT */
/* test_sparse.c: SPARSE components: what they do, what they refuse, hooks. Beside a model:
 * test_sparse_random.c. */
#include "sparse_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

Test(sparse, comes_and_goes_without_moving_the_entity)
{
    sparse_fixture s = sparse_open();
    weft_world *world = s.f.world;
    weft_entity e = weft_entity_create(world, storage_moving(&s.f));
    weft_entity_place before, after;
    CHECK_OK(weft_entity_place_get(world, e, &before, sizeof before));
    CHECK(!weft_entity_has(world, e, s.burning));
    CHECK(weft_entity_read(world, e, s.burning) == NULL);
    CHECK_RESULT(weft_world_error(world)->code, WEFT_NOT_FOUND);
    CHECK_OK(weft_entity_add(world, e, s.burning));
    CHECK_OK(weft_entity_add(world, e, s.burning));
    CHECK_OK(weft_entity_add(world, e, s.marked));
    CHECK(weft_entity_has(world, e, s.burning) && weft_entity_has(world, e, s.marked));
    CHECK_U64(*(const uint32_t *)weft_entity_read(world, e, s.burning), 0);
    CHECK_OK(WEFT_SET(world, e, s.burning, uint32_t, {7}));
    CHECK_U64(*(const uint32_t *)weft_entity_read(world, e, s.burning), 7);
    *(uint32_t *)weft_entity_write(world, e, s.burning) = 8;
    weft_finder find = weft_finder_open(world, s.burning);
    CHECK_U64(*(const uint32_t *)weft_finder_read(&find, e), 8);
    CHECK(weft_entity_read(world, e, s.marked) == NULL);
    CHECK_RESULT(weft_world_error(world)->code, WEFT_TYPE_MISMATCH);
    CHECK_OK(weft_entity_place_get(world, e, &after, sizeof after));
    CHECK_U64(before.archetype.id, after.archetype.id);
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_entity_remove(world, e, s.burning));
    CHECK_OK(weft_entity_remove(world, e, s.burning));
    CHECK(!weft_entity_has(world, e, s.burning));
    CHECK_POINTER(weft_finder_read(&find, e), NULL);
    CHECK_OK(weft_entity_destroy(world, e));
    CHECK_RESULT(weft_entity_add(world, e, s.burning), WEFT_STALE_ENTITY);
    CHECK_RESULT(weft_entity_remove(world, e, s.marked), WEFT_STALE_ENTITY);
    weft_entity next = weft_entity_create(world, storage_moving(&s.f));
    CHECK_U64(next.index, e.index);
    CHECK(!weft_entity_has(world, next, s.marked));
    storage_close(&s.f);
}

Test(sparse, says_what_it_is_not)
{
    sparse_fixture s = sparse_open();
    weft_world *world = s.f.world;
    CHECK(weft_component_create_plain(world, "a", 4, 4, WEFT_SPARSE | WEFT_ENABLEABLE).id == 0);
    CHECK(strstr(weft_world_error(world)->text, "SPARSE goes with NOT_HASHED only") != NULL);
    CHECK(WEFT_ARCHETYPE(world, s.f.position, s.burning).id == 0);
    CHECK_RESULT(weft_world_error(world)->code, WEFT_TYPE_MISMATCH);
    CHECK(strstr(weft_world_error(world)->text, "weft_entity_add") != NULL);
    weft_component handle = weft_component_create_plain(world, "handle", 4, 4, WEFT_CLEANUP);
    weft_entity e = weft_entity_create(world, WEFT_ARCHETYPE(world, s.f.position, handle));
    CHECK_OK(weft_entity_add(world, e, s.burning));
    CHECK_OK(weft_entity_destroy(world, e)); /* a residue, which has nothing sparse */
    CHECK(weft_entity_is_alive(world, e) && !weft_entity_has(world, e, s.burning));
    CHECK_RESULT(weft_entity_add(world, e, s.burning), WEFT_INVALID_ARGUMENT);
    CHECK(strstr(weft_world_error(world)->text, "residue") != NULL);
    storage_close(&s.f);
}

static uint32_t ended;

static void count_ends(void *values, uint32_t count, void *user)
{
    (void)values, (void)user;
    ended += count;
}

static void make_five(void *values, uint32_t count, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < count; i++) ((uint32_t *)values)[i] = 5;
}

Test(sparse, values_are_constructed_and_end_once)
{
    storage_fixture f = storage_open();
    weft_component owned = weft_component_create(
        f.world, &(weft_component_desc){.name = "owned",
                                        .size = 4,
                                        .flags = WEFT_SPARSE,
                                        .hooks = {.construct = make_five, .destruct = count_ends}});
    weft_entity e[300];
    CHECK_OK(weft_entity_create_many(f.world, storage_moving(&f), 300, e));
    ended = 0;
    for (uint32_t i = 0; i < 300; i++) CHECK_OK(weft_entity_add(f.world, e[i], owned));
    for (uint32_t i = 0; i < 300; i++)
        CHECK_U64(*(const uint32_t *)weft_entity_read(f.world, e[i], owned), 5);
    CHECK_OK(weft_entity_remove(f.world, e[7], owned));
    CHECK_U64(ended, 1);
    CHECK_OK(WEFT_SET(f.world, e[8], owned, uint32_t, {9}));
    CHECK_U64(ended, 2);
    CHECK_OK(weft_entity_destroy(f.world, e[8]));
    CHECK_U64(ended, 3);
    CHECK_OK(weft_entity_destroy_many(f.world, e, 100));
    CHECK_U64(ended, 101);
    storage_close(&f);
    CHECK_U64(ended, 301);
}
