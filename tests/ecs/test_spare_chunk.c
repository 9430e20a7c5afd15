/* SPDX-License-Identifier: MIT */
/* test_spare_chunk.c: small chunks that became empty are kept, few of them, for the next row of
 * their archetype, and given back when memory is wanted. */
#include "memory_fault.h"
#include "storage_fixture.h"
#include "world_state.h"

#include <criterion/criterion.h>
#include <stdio.h>

static uint64_t allocations_of(const weft_world *world)
{
    weft_world_stats stats;
    weft_world_stats_get(world, &stats, sizeof stats);
    return stats.allocations;
}

Test(spare_chunk, the_only_entity_comes_and_goes_without_memory)
{
    storage_fixture f = storage_open();
    weft_archetype moving = storage_moving(&f);
    weft_entity e = weft_entity_create(f.world, moving);
    weft_entity other = weft_entity_create(f.world, WEFT_ARCHETYPE(f.world, f.health));
    CHECK_OK(weft_entity_add(f.world, other, f.tag));
    CHECK_OK(weft_entity_remove(f.world, other, f.tag));
    CHECK_OK(weft_entity_destroy(f.world, e));
    uint64_t before = allocations_of(f.world);
    for (uint32_t i = 0; i < 100; i++) {
        e = weft_entity_create(f.world, moving);
        const vector3 *p = weft_entity_read(f.world, e, f.position);
        CHECK(p->x == 0 && p->y == 0 && p->z == 0);
        CHECK_OK(WEFT_SET(f.world, e, f.position, vector3, {1, 2, 3}));
        CHECK_OK(weft_entity_destroy(f.world, e));
        CHECK_OK(weft_entity_add(f.world, other, f.tag));
        CHECK_OK(weft_entity_remove(f.world, other, f.tag));
        CHECK_OK(weft_world_validate(f.world));
    }
    CHECK_U64(allocations_of(f.world), before);
    storage_close(&f);
}

/* One entity in each of many archetypes, then none. */
static void fill_and_empty(storage_fixture *f, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "own %u", i);
        weft_component own = weft_component_create_plain(f->world, name, 4, 4, 0);
        weft_entity e = weft_entity_create(f->world, WEFT_ARCHETYPE(f->world, own));
        CHECK_OK(weft_entity_destroy(f->world, e));
    }
}

Test(spare_chunk, few_are_kept_and_none_after_compaction)
{
    storage_fixture f = storage_open();
    fill_and_empty(&f, 100);
    CHECK_U64(f.world->spares.count, WEFT__SPARES);
    CHECK_OK(weft_world_validate(f.world));
    weft_world_compact(f.world, 1);
    CHECK_U64(f.world->spares.count, 0);
    weft_world_stats stats;
    weft_world_stats_get(f.world, &stats, sizeof stats);
    CHECK_U64(stats.units_used, 0);
    fill_and_empty(&f, 100);
    storage_close(&f);
}

/* The last unit there may be is full of spares: they make room for a chunk. */
Test(spare_chunk, they_go_when_there_is_no_memory_for_a_chunk)
{
    storage_fixture f = storage_open_with(&(weft_world_desc){.megachunk_limit = 1});
    fill_and_empty(&f, 20);
    CHECK(f.world->spares.count != 0);
    weft_archetype moving = storage_moving(&f);
    uint32_t made = 0;
    while (made < 200000 && weft_entity_create_many(f.world, moving, 100, NULL) == WEFT_OK)
        made += 100;
    CHECK(made > 30000 && made < 200000);
    CHECK_U64(f.world->spares.count, 0);
    CHECK_OK(weft_world_validate(f.world));
    storage_close(&f);
}
