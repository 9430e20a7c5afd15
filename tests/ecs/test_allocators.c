/* SPDX-License-Identifier: MIT */
/* test_allocators.c: entity ids and units taken and given back by four threads at once, as plain
 * functions, so that they run under every sanitizer: nothing is given out twice, counts are exact,
 * of two frees of one id one counts. */
#include "directory.h"
#include "plain.h"
#include "units.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, TURNS = 2000, BATCH = 48 };

/* What all threads share. Owner: the test; x_died is summed by all. */
typedef struct arena {
    weft__memory memory;
    weft__directory directory;
    weft__units units;
    weft_entity contested[BATCH]; /* freed by every thread */
    weft_a32 x_died;
} arena;

/* One thread's part; `random` is its own. */
typedef struct visitor {
    arena *shared;
    uint32_t index;
    test_random random;
} visitor;

static void arena_open(arena *a)
{
    static const weft_world_desc limits = {.entity_block_limit = 4};
    CHECK_OK(weft__memory_init(&a->memory, NULL));
    weft__directory_init(&a->directory, &a->memory, weft__os_default(), &limits);
    weft__units_init(&a->units, &a->memory, weft__os_default(), 16, true);
    at_init(&a->x_died, 0);
}

static void arena_close(arena *a)
{
    char text[200];
    if (!weft__directory_check(&a->directory, text, sizeof text) ||
        !weft__units_check(&a->units, text, sizeof text))
        test_fail(__FILE__, __LINE__, text);
    weft__directory_fini(&a->directory);
    weft__units_fini(&a->units);
}

static void visitors_run(arena *a, void *(*run)(void *))
{
    pthread_t threads[THREADS];
    visitor visitors[THREADS];
    test_random random = test_random_init(42);
    for (uint32_t i = 0; i < THREADS; i++) {
        visitors[i] = (visitor){a, i, test_random_fork(&random, i)};
        CHECK(pthread_create(&threads[i], NULL, run, &visitors[i]) == 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

static void *ids_visit(void *argument)
{
    visitor *v = argument;
    weft__directory *directory = &v->shared->directory;
    uint32_t home = v->index, count;
    weft_entity ids[BATCH];
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        count = 1 + (uint32_t)test_random_below(&v->random, BATCH);
        CHECK_OK(weft__directory_allocate_any(directory, &home, count, ids));
        for (uint32_t i = 0; i < count; i++) {
            uint32_t location;
            CHECK(weft__directory_find(directory, ids[i], &location));
            CHECK_U64(location, 0); /* no other call placed it */
            weft__directory_place(directory, ids[i], v->index + 1);
        }
        for (uint32_t i = 0; i < count; i++) {
            uint32_t location;
            CHECK(weft__directory_find(directory, ids[i], &location));
            CHECK_U64(location, v->index + 1);
        }
        CHECK_U64(weft__directory_free_any(directory, ids, count), count);
    }
    return NULL;
}

PLAIN_TEST(four_threads_never_hold_one_id_at_once)
{
    arena *a = malloc(sizeof *a);
    arena_open(a);
    visitors_run(a, ids_visit);
    CHECK_U64(weft__directory_alive(&a->directory), 0);
    arena_close(a);
    free(a);
}

static void *contested_visit(void *argument)
{
    visitor *v = argument;
    arena *a = v->shared;
    /* relaxed: a sum read after the threads have ended */
    at_add_rlx(&a->x_died, weft__directory_free_any(&a->directory, a->contested, BATCH));
    return NULL;
}

PLAIN_TEST(of_four_destroyers_one_wins_each_entity)
{
    arena *a = malloc(sizeof *a);
    arena_open(a);
    for (uint32_t round = 0; round < 200; round++) {
        uint32_t home = 0;
        CHECK_OK(weft__directory_allocate_any(&a->directory, &home, BATCH, a->contested));
        at_init(&a->x_died, 0);
        visitors_run(a, contested_visit);
        CHECK_U64(at_plain(&a->x_died), BATCH);
    }
    arena_close(a);
    free(a);
}

static void *units_visit(void *argument)
{
    visitor *v = argument;
    weft__units *units = &v->shared->units;
    for (uint32_t turn = 0; turn < TURNS / 10; turn++) {
        weft__run run;
        uint32_t count = 1u << test_random_below(&v->random, 7);
        weft_result result = weft__units_allocate(units, count, 2 * v->index, &run);
        if (result == WEFT_LIMIT) continue; /* the others hold what is left */
        CHECK_OK(result);
        unsigned char *first = run.memory, *last = first + count * WEFT__UNIT_BYTES - 1;
        if (run.is_zero) CHECK(*first == 0 && *last == 0);
        *first = *last = (unsigned char)(v->index + 1);
        CHECK(*first == v->index + 1 && *last == v->index + 1);
        CHECK_OK(weft__units_free(units, run.first, run.count));
    }
    return NULL;
}

PLAIN_TEST(four_threads_never_hold_one_unit_at_once)
{
    arena *a = malloc(sizeof *a);
    arena_open(a);
    visitors_run(a, units_visit);
    CHECK_U64(weft__units_used(&a->units), 0);
    arena_close(a);
    free(a);
}
