/* SPDX-License-Identifier: MIT */
/* test_directory.c: entity ids alone: versions, wrap, block boundaries, limits, double frees. */
#include "directory.h"
#include "storage_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* A directory without a world. Owner: one test. */
typedef struct directory_bed {
    weft__memory memory;
    weft__directory directory;
} directory_bed;

static void directory_open(directory_bed *b, uint32_t block_limit)
{
    CHECK_OK(weft__memory_init(&b->memory, NULL));
    weft__directory_init(&b->directory, &b->memory, weft__os_default(),
                         &(weft_world_desc){.entity_block_limit = block_limit});
}

static void directory_close(directory_bed *b)
{
    char text[200];
    if (!weft__directory_check(&b->directory, text, sizeof text))
        test_fail(__FILE__, __LINE__, text);
    weft__directory_fini(&b->directory);
    CHECK_U64(weft__memory_bytes(&b->memory, WEFT__MEMORY_ENTITIES), 0);
}

Test(directory, batches_cross_block_boundaries_with_ascending_indices)
{
    directory_bed b;
    directory_open(&b, 0);
    uint32_t count = 3 * WEFT__BLOCK_SLOTS + 5;
    weft_entity *ids = malloc(count * sizeof *ids);
    CHECK_OK(weft__directory_reserve_owner(&b.directory, count));
    weft__directory_allocate_owner(&b.directory, count, ids, NULL, 1000);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t location;
        CHECK_U64(ids[i].index, i);
        CHECK(weft__directory_find(&b.directory, ids[i], &location));
        CHECK_U64(location, 1000 + i);
    }
    CHECK_U64(weft__directory_alive(&b.directory), count);
    weft__directory_free_many_owner(&b.directory, ids, count);
    CHECK_U64(weft__directory_alive(&b.directory), 0);
    free(ids);
    directory_close(&b);
}

Test(directory, freed_indices_are_reused_lowest_first_with_a_new_version)
{
    directory_bed b;
    directory_open(&b, 0);
    weft_entity ids[100], again[2];
    CHECK_OK(weft__directory_reserve_owner(&b.directory, 100));
    weft__directory_allocate_owner(&b.directory, 100, ids, NULL, 0);
    weft__directory_free_owner(&b.directory, ids[70]);
    weft__directory_free_owner(&b.directory, ids[3]);
    weft__directory_allocate_owner(&b.directory, 2, again, NULL, 0);
    CHECK_U64(again[0].index, 3);
    CHECK_U64(again[0].version, 3);
    CHECK_U64(again[1].index, 70);
    directory_close(&b);
}

/* Words with runs of one, with long runs, and with both. */
Test(directory, scattered_indices_are_reused_lowest_first_with_their_locations)
{
    enum { ALL = 640 };
    directory_bed b;
    directory_open(&b, 0);
    weft_entity ids[ALL], again[ALL];
    CHECK_OK(weft__directory_reserve_owner(&b.directory, ALL));
    weft__directory_allocate_owner(&b.directory, ALL, ids, NULL, 0);
    for (uint32_t some = 1; some < 5; some++) {
        uint32_t freed[ALL], count = 0, location = 0;
        for (uint32_t i = 0; i < ALL; i++)
            if (i % (some + 1) == 0 || (i / 100 == some && i % 7 != 0)) freed[count++] = i;
        for (uint32_t i = 0; i < count; i++)
            weft__directory_free_many_owner(&b.directory, &ids[freed[i]], 1);
        const uint32_t first = count / 2 - some; /* two calls, that meet within a word */
        CHECK_OK(weft__directory_reserve_owner(&b.directory, count));
        weft__directory_allocate_owner(&b.directory, first, again, NULL, 1000);
        weft__directory_allocate_owner(&b.directory, count - first, again + first, NULL,
                                       1000 + first);
        for (uint32_t i = 0; i < count; i++) {
            CHECK_U64(again[i].index, freed[i]);
            CHECK_U64(again[i].version, ids[freed[i]].version + 2);
            cr_assert(weft__directory_find(&b.directory, again[i], &location));
            CHECK_U64(location, 1000 + i);
            ids[freed[i]] = again[i];
        }
        CHECK_U64(weft__directory_alive(&b.directory), ALL);
    }
    directory_close(&b);
}

Test(directory, an_index_whose_version_ends_is_retired_and_never_given_out_again)
{
    directory_bed b;
    directory_open(&b, 0);
    weft_entity id, next;
    uint32_t location;
    CHECK_OK(weft__directory_force(&b.directory, 0, WEFT__VERSION_LAST - 1, 0));
    CHECK_OK(weft__directory_reserve_owner(&b.directory, 2));
    weft__directory_allocate_owner(&b.directory, 1, &id, NULL, 7);
    CHECK_U64(id.index, 0);
    CHECK_U64(id.version, WEFT__VERSION_LAST);
    weft__directory_free_owner(&b.directory, id);
    CHECK(!weft__directory_find(&b.directory, id, &location));
    weft__directory_allocate_owner(&b.directory, 1, &next, NULL, 7);
    CHECK_U64(next.index, 1);
    CHECK_U64(weft__directory_alive(&b.directory), 1);
    directory_close(&b);
}

Test(directory, versions_around_half_range_keep_their_parity)
{
    directory_bed b;
    directory_open(&b, 0);
    weft_entity id;
    CHECK_OK(weft__directory_force(&b.directory, 0, UINT32_C(0x7ffffffe), 0));
    CHECK_OK(weft__directory_reserve_owner(&b.directory, 1));
    weft__directory_allocate_owner(&b.directory, 1, &id, NULL, 0);
    CHECK_U64(id.version, 0x7fffffff);
    weft__directory_free_owner(&b.directory, id);
    weft__directory_allocate_owner(&b.directory, 1, &id, NULL, 0);
    CHECK_U64(id.version, UINT32_C(0x80000001));
    directory_close(&b);
}

Test(directory, of_two_frees_of_one_entity_one_counts)
{
    directory_bed b;
    directory_open(&b, 0);
    weft_entity ids[3];
    uint32_t home = 0;
    CHECK_OK(weft__directory_allocate_any(&b.directory, &home, 3, ids));
    weft_entity twice[] = {ids[1], ids[1], ids[0]};
    CHECK_U64(weft__directory_free_any(&b.directory, twice, 3), 2);
    CHECK_U64(weft__directory_free_any(&b.directory, twice, 3), 0);
    CHECK_U64(weft__directory_free_any(&b.directory, (weft_entity[]){{0, 0}, {99, 1}}, 2), 0);
    CHECK_U64(weft__directory_alive(&b.directory), 1);
    directory_close(&b);
}

Test(directory, a_batch_passes_over_stale_repeated_and_null_handles_among_neighbours)
{
    directory_bed b;
    directory_open(&b, 0);
    weft_entity ids[200];
    uint32_t home = 0;
    for (uint32_t wrong = 1; wrong < 200; wrong += 7) {
        CHECK_OK(weft__directory_allocate_any(&b.directory, &home, 200, ids));
        CHECK_U64(weft__directory_free_any(&b.directory, &ids[wrong], 1), 1);
        CHECK_U64(weft__directory_free_any(&b.directory, ids, 200), 199);
        CHECK_U64(weft__directory_alive(&b.directory), 0);
        CHECK_OK(weft__directory_allocate_any(&b.directory, &home, 200, ids));
        weft_entity kept = ids[wrong];
        ids[wrong].version = 0;
        CHECK_U64(weft__directory_free_any(&b.directory, ids + 1, 150),
                  wrong - 1 < 150 ? 149 : 150);
        CHECK_U64(weft__directory_free_any(&b.directory, ids, 200), wrong - 1 < 150 ? 50 : 49);
        CHECK_U64(weft__directory_free_any(&b.directory, &kept, 1), 1);
        CHECK_U64(weft__directory_free_any(&b.directory, ids, 200), 0);
    }
    directory_close(&b);
}

Test(directory, a_batch_retires_neighbours_whose_version_ends)
{
    directory_bed b;
    directory_open(&b, 0);
    weft_entity ids[64], next, none[64];
    uint32_t home = 0;
    for (uint32_t i = 10; i < 30; i++)
        CHECK_OK(weft__directory_force(&b.directory, i, WEFT__VERSION_LAST - 1, 0));
    CHECK_OK(weft__directory_allocate_any(&b.directory, &home, 64, ids));
    CHECK_U64(ids[10].version, WEFT__VERSION_LAST);
    CHECK_U64(weft__directory_free_any(&b.directory, ids, 64), 64);
    for (uint32_t i = 0; i < 64; i++) none[i] = (weft_entity){i, 0};
    CHECK_U64(weft__directory_free_any(&b.directory, none, 64), 0);
    CHECK_U64(weft__directory_free_any(&b.directory, ids, 64), 0);
    CHECK_OK(weft__directory_allocate_any(&b.directory, &home, 11, ids));
    CHECK_U64(ids[10].index, 30);
    CHECK_OK(weft__directory_allocate_any(&b.directory, &home, 1, &next));
    CHECK_U64(next.index, 31);
    directory_close(&b);
}

Test(directory, a_batch_beyond_the_limit_creates_nothing)
{
    directory_bed b;
    directory_open(&b, 1);
    weft_entity *ids = malloc((WEFT__BLOCK_SLOTS + 1) * sizeof *ids);
    uint32_t home = 0;
    CHECK_RESULT(weft__directory_reserve_owner(&b.directory, WEFT__BLOCK_SLOTS + 1), WEFT_LIMIT);
    CHECK_RESULT(weft__directory_allocate_any(&b.directory, &home, WEFT__BLOCK_SLOTS + 1, ids),
                 WEFT_LIMIT);
    CHECK_U64(weft__directory_alive(&b.directory), 0);
    CHECK_OK(weft__directory_allocate_any(&b.directory, &home, WEFT__BLOCK_SLOTS, ids));
    CHECK_RESULT(weft__directory_allocate_any(&b.directory, &home, 1, ids), WEFT_LIMIT);
    free(ids);
    directory_close(&b);
}

Test(directory, a_million_random_handles_are_refused_without_harm)
{
    storage_fixture f = storage_open();
    weft_entity e = weft_entity_create(f.world, storage_moving(&f));
    uint64_t state = 12345;
    for (int i = 0; i < 1000000; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        weft_entity forged = {(uint32_t)(state >> 32), (uint32_t)state};
        if (forged.index == e.index && forged.version == e.version) continue;
        CHECK(!weft_entity_is_alive(f.world, forged));
        CHECK(weft_entity_read(f.world, forged, f.position) == NULL);
    }
    weft_entity ones = {UINT32_MAX, UINT32_MAX}, future = {e.index, e.version + 2};
    CHECK(!weft_entity_is_alive(f.world, ones) && !weft_entity_is_alive(f.world, future));
    CHECK_RESULT(weft_entity_destroy(f.world, (weft_entity){0, 0}), WEFT_STALE_ENTITY);
    storage_close(&f);
}

Test(directory, worlds_with_different_tags_refuse_each_others_entities)
{
    storage_fixture a = storage_open_with(&(weft_world_desc){.entity_tag = 3});
    storage_fixture b = storage_open_with(&(weft_world_desc){.entity_tag = 9});
    weft_entity e = weft_entity_create(a.world, storage_moving(&a));
    weft_entity own = weft_entity_create(b.world, storage_moving(&b));
    CHECK(weft_entity_is_alive(a.world, e) && weft_entity_is_alive(b.world, own));
    CHECK(!weft_entity_is_alive(b.world, e));
    CHECK_RESULT(weft_entity_destroy(b.world, e), WEFT_BAD_HANDLE);
    CHECK_RESULT(weft_entity_add(a.world, own, a.health), WEFT_BAD_HANDLE);
    storage_close(&a);
    storage_close(&b);
}

Test(directory, large_slabs_fill_whole_huge_pages_and_their_room_is_used)
{
    const size_t huge_page = (size_t)2 << 20;
    directory_bed b;
    directory_open(&b, 400);
    CHECK_U64(weft__directory_ahead(&b.directory, 60), 60); /* less than a page: not mapped */
    uint32_t blocks = weft__directory_ahead(&b.directory, 246);
    CHECK(blocks >= 246 && (blocks + 1) * sizeof(weft__entity_block) > 4 * huge_page);
    CHECK_U64(weft__directory_ahead(&b.directory, 400), 400); /* the limit */
    CHECK_OK(weft__directory_reserve_owner(&b.directory, 246 * WEFT__BLOCK_SLOTS));
    CHECK_U64(weft__directory_end(&b.directory), blocks * WEFT__BLOCK_SLOTS);
    const weft__entity_block *block = weft__directory_block(&b.directory, 0);
    CHECK_U64((uintptr_t)block % huge_page, 0);
    uint64_t bytes = weft__memory_bytes(&b.memory, WEFT__MEMORY_ENTITIES);
    CHECK(bytes >= 4 * huge_page && bytes < 4 * huge_page + 4096);
    directory_close(&b);
}
