/* SPDX-License-Identifier: MIT */
/* test_relation_fault.c: out of memory at the k-th allocation of a settling, for every k: an error,
 * and the next settling does what the naive model makes of the world as it was left. */
#include "memory_fault.h"
#include "relation_fixture.h"

#include <criterion/criterion.h>

enum { ENTITIES = 400 };

/* Owner: one test. */
typedef struct fault_world {
    test_memory memory;
    relation_fixture f;
    weft_entity e[ENTITIES];
} fault_world;

static void relate(fault_world *w, uint32_t i, uint32_t r, uint32_t target)
{
    liking value = {.whom = w->e[target]};
    size_t bytes = r == 2 ? sizeof value : sizeof value.whom;
    const void *from = r == 2 ? (const void *)&value : (const void *)&value.whom;
    CHECK_OK(weft_entity_set(w->f.world, w->e[i], w->f.of[r], from, bytes));
}

/* A settled forest, then changes of every kind. */
static void fault_open(fault_world *w)
{
    test_memory_init(&w->memory);
    w->f = relation_open_with(
        &(weft_world_desc){.workers = 1, .allocator = test_memory_hook(&w->memory)});
    CHECK_OK(weft_entity_create_many(w->f.world, WEFT_ARCHETYPE(w->f.world, w->f.weight), ENTITIES,
                                     w->e));
    for (uint32_t i = 1; i < ENTITIES; i++) relate(w, i, i % 4, (i - 1) / 3 * 2 / 3);
    CHECK_OK(weft_relation_settle(w->f.world));
    for (uint32_t i = 50; i < ENTITIES; i += 7) relate(w, i, i % 4, i / 2);
    for (uint32_t i = 20; i < 40; i++) CHECK_OK(weft_entity_destroy(w->f.world, w->e[i]));
    for (uint32_t i = 45; i < ENTITIES; i += 11)
        if (weft_entity_is_alive(w->f.world, w->e[i]))
            CHECK_OK(weft_entity_remove(w->f.world, w->e[i], w->f.of[0]));
}

Test(relation_fault, every_allocation_of_a_settling_may_fail)
{
    static fault_world w;
    uint64_t k = 1;
    for (bool has_failed = true; has_failed; k++) {
        CHECK(k < 3000);
        fault_open(&w);
        test_memory_fail(&w.memory, k, k % 2 == 0);
        weft_result result = weft_relation_settle(w.f.world);
        has_failed = w.memory.failures != 0;
        test_memory_fail(&w.memory, 0, false);
        if (result != WEFT_OK) CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        check_settling(&w.f);
        check_settling(&w.f);
        relation_close(&w.f);
        test_memory_fini(&w.memory);
    }
    CHECK(k > 10);
}

/* Also where versions make it compare rows again. */
Test(relation_fault, settling_what_did_not_change_takes_no_memory)
{
    static fault_world w;
    fault_open(&w);
    check_settling(&w.f);
    for (uint32_t frame = 0; frame < 10; frame++) {
        for (uint32_t i = 100; i < 200; i++)
            if (weft_entity_is_alive(w.f.world, w.e[i])) relate(&w, i, 1, 1 + (i + frame) % 10);
        CHECK_OK(weft_relation_settle(w.f.world));
        weft_query q =
            weft_query_create(w.f.world, &(weft_query_desc){.terms = {{w.f.of[1], WEFT_WRITE}}});
        weft_cursor c = weft_query_begin(w.f.world, q);
        while (weft_query_next(&c)) { /* stamps, and writes nothing */
        }
        uint64_t before = w.memory.allocations;
        CHECK_OK(weft_relation_settle(w.f.world));
        CHECK_OK(weft_relation_settle(w.f.world));
        if (frame != 0) CHECK_U64(w.memory.allocations, before);
        CHECK_OK(weft_query_destroy(w.f.world, q));
    }
    relation_close(&w.f);
    test_memory_fini(&w.memory);
}
