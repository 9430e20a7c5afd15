/* SPDX-License-Identifier: MIT */
/* test_private.c: chunks made by jobs, put into the world by one thread or by several: the same
 * ids, rows and hashes; out of memory at any allocation leaves the world as it was. */
#include "memory_fault.h"
#include "plain.h"
#include "private_chunk.h"
#include "structure.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 9, OLD = 30000 };

/* Full ones, tiny ones (emptied into others), and in between. */
static const uint32_t rows_of[CHUNKS] = {8000, 3, 16000, 700, 1, 12000, 9, 20000, 500};

/* A world whose directory has holes, with private chunks not yet linked. */
typedef struct bed {
    weft_world *world;
    weft_component value;
    weft__chunk *chunks[CHUNKS];
    uint32_t home;
    test_memory memory;
} bed;

/* Chunk 2 has ids in its rows from 100 on, chunk 5 in every row of the first half. */
static void ids_take(bed *b, uint32_t c, uint32_t row, uint32_t count)
{
    weft__private_ids(b->chunks[c]);
    CHECK_OK(weft__directory_allocate_any(&b->world->directory, &b->home, count,
                                          weft__chunk_entities(b->chunks[c]) + row));
}

static void bed_open(bed *b, uint32_t workers)
{
    memset(b, 0, sizeof *b);
    test_memory_init(&b->memory);
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = workers, .allocator = test_memory_hook(&b->memory)},
        &b->world));
    b->value = weft_component_create_plain(b->world, "value", 4, 4, 0);
    static weft_entity old[OLD];
    CHECK_OK(weft_entity_create_many(b->world, WEFT_ARCHETYPE(b->world, b->value), OLD, old));
    for (uint32_t i = 0; i < OLD; i += 3) CHECK_OK(weft_entity_destroy(b->world, old[i]));
    weft_archetype archetype = weft_archetype_create(b->world, &b->value, 1);
    for (uint32_t c = 0; c < CHUNKS; c++) {
        uint32_t half = rows_of[c] / 2;
        CHECK_OK(weft__private_open(b->world, c, b->world->archetypes.by_id[archetype.id - 1],
                                    rows_of[c] > 600 ? rows_of[c] : 600, &b->chunks[c]));
        CHECK_U64(weft__private_rows(b->chunks[c], half, false), 0);
        if (c == 5) ids_take(b, c, 0, half);
        CHECK_U64(weft__private_rows(b->chunks[c], rows_of[c] - half, false), half);
        if (c == 2) ids_take(b, c, 100, rows_of[c] - 100);
        uint32_t *values = (uint32_t *)(void *)weft__chunk_column(b->chunks[c], 1);
        for (uint32_t r = 0; r < rows_of[c]; r++) values[r] = c * 100000 + r;
    }
}

static void bed_close(bed *b)
{
    if (weft_world_validate(b->world) != WEFT_OK)
        test_fail(__FILE__, __LINE__, weft_world_error(b->world)->text);
    CHECK_OK(weft_world_destroy(b->world));
    test_memory_fini(&b->memory);
}

static weft_result link(const bed *b, weft_job_context *job)
{
    weft__private_piece pieces[CHUNKS];
    for (uint32_t c = 0; c < CHUNKS; c++) pieces[c] = weft__private_whole(b->chunks[c]);
    return weft__private_link(
        &(weft__private_desc){.world = b->world, .job = job, .pieces = pieces, .count = CHUNKS});
}

PLAIN_TEST(chunks_of_jobs_are_linked_alike_by_one_thread_and_by_several)
{
    bed *alone = malloc(sizeof *alone), *together = malloc(sizeof *together);
    for (uint32_t workers = 1; workers <= 4; workers++) {
        bed_open(alone, 1);
        bed_open(together, workers);
        weft_job_context *owner = weft_job_pool_owner(weft_world_pool(together->world));
        CHECK_OK(link(alone, NULL));
        CHECK_OK(link(together, owner));
        CHECK_U64(weft_world_hash(together->world, WEFT_HASH_LAYOUT),
                  weft_world_hash(alone->world, WEFT_HASH_LAYOUT));
        weft_world_stats stats;
        weft_world_stats_get(together->world, &stats, sizeof stats);
        CHECK_U64(stats.entities, OLD - OLD / 3 + 57213);
        bed_close(alone);
        bed_close(together);
    }
    free(alone);
    free(together);
}

PLAIN_TEST(chunks_of_jobs_stay_private_when_memory_runs_out)
{
    bed *b = malloc(sizeof *b);
    bed_open(b, 2);
    weft_job_context *owner = weft_job_pool_owner(weft_world_pool(b->world));
    uint64_t before = weft_world_hash(b->world, WEFT_HASH_LAYOUT);
    for (uint32_t k = 1;; k++) {
        CHECK(k < 100);
        test_memory_fail(&b->memory, k, false);
        weft_result result = link(b, owner);
        test_memory_fail(&b->memory, 0, false);
        if (result == WEFT_OK) break;
        CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        CHECK_U64(weft_world_hash(b->world, WEFT_HASH_LAYOUT), before);
    }
    weft_world_stats stats;
    weft_world_stats_get(b->world, &stats, sizeof stats);
    CHECK_U64(stats.entities, OLD - OLD / 3 + 57213);
    bed_close(b);
    free(b);
}
