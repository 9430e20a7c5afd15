/* SPDX-License-Identifier: MIT */
/* test_sparse_fault.c: out of memory at the k-th allocation, for every k, over the operations on
 * SPARSE components: an error and the world as it was, or all of it. */
#include "memory_fault.h"
#include "sparse_fixture.h"

#include <criterion/criterion.h>

enum { ENTITIES = 300 };

/* A world in which every operation has something to do. */
typedef struct fault_world {
    test_memory memory;
    sparse_fixture s;
    weft_component held; /* SPARSE, refers to an entity */
    weft_entity e[ENTITIES];
    weft_query moving;
} fault_world;

static void fault_open(fault_world *w)
{
    static const weft_field reference = {"entity", WEFT_FIELD_ENTITY, 0, 1};
    test_memory_init(&w->memory);
    w->s.f = storage_open_with(&(weft_world_desc){.allocator = test_memory_hook(&w->memory)});
    weft_world *world = w->s.f.world;
    w->s.burning = weft_component_create_plain(world, "burning", 4, 4, WEFT_SPARSE);
    w->s.marked = weft_component_create_plain(world, "marked", 0, 1, WEFT_SPARSE);
    w->held = weft_component_create(world, &(weft_component_desc){.name = "held",
                                                                  .size = sizeof(weft_entity),
                                                                  .alignment = 4,
                                                                  .flags = WEFT_SPARSE,
                                                                  .fields = &reference,
                                                                  .field_count = 1});
    CHECK_OK(weft_entity_create_many(world, storage_moving(&w->s.f), ENTITIES, w->e));
    for (uint32_t i = 0; i < 20; i++) CHECK_OK(weft_entity_add(world, w->e[i], w->s.marked));
    CHECK_OK(weft_entity_set(world, w->e[0], w->held, &w->e[0], sizeof w->e[0]));
    w->moving = weft_query_create(world, &(weft_query_desc){.terms = {{w->s.f.velocity}}});
    CHECK_U64(weft_query_count(world, w->moving), ENTITIES);
}

static void fault_close(fault_world *w)
{
    storage_close(&w->s.f);
    test_memory_fini(&w->memory);
}

static weft_result add_one(fault_world *w)
{
    return weft_entity_add(w->s.f.world, w->e[7], w->s.burning);
}

static weft_result set_one(fault_world *w)
{
    return WEFT_SET(w->s.f.world, w->e[7], w->s.burning, uint32_t, {3});
}

static weft_result set_many(fault_world *w)
{
    static const uint32_t values[ENTITIES];
    return weft_entity_set_many(w->s.f.world, w->e, ENTITIES, w->s.burning, values, 4);
}

static weft_result change_many(fault_world *w)
{
    weft_component add[] = {w->s.burning, w->s.f.health, w->held};
    return weft_entity_change_many(
        w->s.f.world, w->e, ENTITIES,
        &(weft_change_desc){.add = add, .add_count = 3, .remove = &w->s.marked, .remove_count = 1});
}

static weft_result add_by_query(fault_world *w)
{
    return weft_query_add(w->s.f.world, w->moving, w->s.burning);
}

static weft_result instantiate(fault_world *w)
{
    weft_entity copies[200];
    weft_result result = weft_entity_instantiate(w->s.f.world, w->e[0], 200, copies);
    if (result != WEFT_OK) return result;
    CHECK(weft_entity_has(w->s.f.world, copies[199], w->s.marked));
    const weft_entity *held = weft_entity_read(w->s.f.world, copies[199], w->held);
    CHECK_U64(held->index, copies[199].index);
    return WEFT_OK;
}

static weft_result make_type(fault_world *w)
{
    weft_component made = weft_component_create_plain(w->s.f.world, "new", 8, 8, WEFT_SPARSE);
    return made.id != 0 ? WEFT_OK : weft_world_error(w->s.f.world)->code;
}

typedef weft_result operation(fault_world *w);

static void sweep(operation *run)
{
    static fault_world w;
    for (uint64_t k = 1; k < 200; k++) {
        fault_open(&w);
        uint64_t before = weft_world_hash(w.s.f.world, WEFT_HASH_CONTENT);
        test_memory_fail(&w.memory, k, true);
        weft_result result = run(&w);
        bool has_failed = w.memory.failures != 0;
        test_memory_fail(&w.memory, 0, false);
        if (result != WEFT_OK) {
            CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
            CHECK_U64(weft_world_hash(w.s.f.world, WEFT_HASH_CONTENT), before);
            if (weft_world_validate(w.s.f.world) != WEFT_OK)
                test_fail(__FILE__, __LINE__, weft_world_error(w.s.f.world)->text);
            CHECK_OK(run(&w));
        }
        fault_close(&w);
        if (!has_failed) return;
    }
    test_fail(__FILE__, __LINE__, "an operation without end");
}

Test(sparse_fault, every_allocation_may_fail)
{
    operation *operations[] = {add_one,      set_one,     set_many, change_many,
                               add_by_query, instantiate, make_type};
    for (uint32_t i = 0; i < sizeof operations / sizeof operations[0]; i++) sweep(operations[i]);
}
