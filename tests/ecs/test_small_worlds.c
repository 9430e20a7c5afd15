/* SPDX-License-Identifier: MIT */
/* test_small_worlds.c: thousands of worlds of one entity in a process (rooms of a server): what
 * each takes, and that one of them grows past small pages without a changed value. */
#include "check.h"
#include "plain.h"

#include <stdio.h>
#include <unistd.h>
#include <weft/weft.h>

enum { WORLDS = 2000, GROWN = 200000 };

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define BYTES_MOST 1e9 /* shadow memory and redzones */
enum { MAPPINGS_MOST = 60000 };
#else
#define BYTES_MOST 65536.0
enum { MAPPINGS_MOST = WORLDS }; /* a process may have 65,530 */
#endif

static double resident_bytes(void)
{
    unsigned long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%lu %lu", &all, &resident) == 2);
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static uint32_t mapping_count(void)
{
    uint32_t lines = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    CHECK(file != NULL);
    for (int c; (c = getc(file)) != EOF;) lines += c == '\n';
    fclose(file);
    return lines;
}

static weft_world *small_world(weft_job_pool *pool, uint32_t value)
{
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .pool = pool}, &world));
    weft_component number = weft_component_create_plain(world, "number", 4, 4, 0);
    weft_entity one = weft_entity_create(world, WEFT_ARCHETYPE(world, number));
    CHECK_OK(weft_entity_set(world, one, number, &value, sizeof value));
    return world;
}

PLAIN_TEST(a_world_of_one_entity_takes_at_most_64_KiB_and_few_mappings)
{
    static weft_world *worlds[WORLDS];
    weft_job_pool *pool;
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 1}, &pool));
    CHECK_OK(weft_world_destroy(small_world(pool, 0))); /* what the process makes once */
    double bytes = resident_bytes();
    uint32_t mappings = mapping_count();
    for (uint32_t i = 0; i < WORLDS; i++) worlds[i] = small_world(pool, i);
    double each = (resident_bytes() - bytes) / WORLDS;
    if (each > BYTES_MOST) fprintf(stderr, "a world takes %.0f bytes\n", each);
    CHECK(each <= BYTES_MOST);
    CHECK(mapping_count() - mappings < MAPPINGS_MOST);
    for (uint32_t i = 0; i < WORLDS; i++) {
        weft_component number = weft_component_find(worlds[i], "number");
        weft_query all = weft_query_create(
            worlds[i], &(weft_query_desc){.terms = {{number, WEFT_READ, WEFT_ALL, 0}}});
        weft_entity one = weft_query_single(worlds[i], all);
        CHECK_U64(*(const uint32_t *)weft_entity_read(worlds[i], one, number), i);
        CHECK_OK(weft_world_destroy(worlds[i]));
    }
    CHECK_OK(weft_job_pool_destroy(pool));
}

PLAIN_TEST(a_world_that_grows_past_small_pages_keeps_its_values)
{
    weft_world *world = small_world(NULL, 77);
    weft_component number = weft_component_find(world, "number");
    static weft_entity entities[GROWN];
    weft_archetype archetype = WEFT_ARCHETYPE(world, number);
    for (uint32_t i = 0; i < GROWN; i++) {
        entities[i] = weft_entity_create(world, archetype);
        CHECK_OK(weft_entity_set(world, entities[i], number, &i, sizeof i));
    }
    for (uint32_t i = 0; i < GROWN; i++)
        CHECK_U64(*(const uint32_t *)weft_entity_read(world, entities[i], number), i);
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_world_destroy(world));
}
