/* SPDX-License-Identifier: MIT */
/* test_query_fault.c: out of memory at the k-th allocation, for every k, once and for ever, over
 * the operations of queries: an error, the world unchanged, nothing leaked. */
#include "query_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

/* A world in which every operation has something to do. */
typedef struct fault_world {
    fixture f;
    weft_entity e[40];
    weft_query all, masked, unused;
} fault_world;

static void fault_open(fault_world *w)
{
    fixture_open(&w->f, 4);
    fixture *f = &w->f;
    FIXTURE_CREATE(f, 12, w->e, f->a, f->x, f->l);
    FIXTURE_CREATE(f, 12, w->e + 12, f->a, f->x, f->s);
    FIXTURE_CREATE(f, 16, w->e + 24, f->a, f->b, f->x);
    for (int32_t i = 0; i < 40; i++) {
        CHECK_OK(weft_entity_set(f->world, w->e[i], f->a, &i, sizeof i));
        CHECK_OK(weft_entity_enable(f->world, w->e[i], f->x, i % 3 != 0));
        if (i % 4 == 0) CHECK_OK(weft_entity_set_shared(f->world, w->e[i], f->s, &i));
    }
    w->all = FIXTURE_QUERY(f, {f->a});
    w->masked = FIXTURE_QUERY(f, {f->x});
    w->unused = FIXTURE_QUERY(f, {f->a}, {f->s});
}

static weft_result make_query(fault_world *w)
{
    weft_query_desc desc = {.terms = {{w->f.a}, {w->f.b, .match = WEFT_ANY}, {w->f.x}}};
    weft_query query = weft_query_create(w->f.world, &desc);
    return query.id != 0 ? WEFT_OK : weft_world_error(w->f.world)->code;
}

static weft_result make_archetype(fault_world *w)
{
    weft_component list[5] = {w->f.a, w->f.c, w->f.x, w->f.y, w->f.w};
    weft_archetype archetype = weft_archetype_create(w->f.world, list, 5);
    if (archetype.id == 0) return weft_world_error(w->f.world)->code;
    CHECK_U64(weft_query_archetypes(w->f.world, w->all, NULL, 0),
              weft_query_archetypes(w->f.world, w->masked, NULL, 0));
    return WEFT_OK;
}

static weft_result filter_query(fault_world *w)
{
    const int32_t values[] = {4, 8, 1000, 1001};
    return weft_query_filter_shared(w->f.world, w->unused, w->f.s, WEFT_FILTER_ONE_OF, values, 4);
}

static weft_result filter_changes(fault_world *w)
{
    return weft_query_filter_changed(w->f.world, w->unused, w->f.a, 1);
}

static weft_result open_index(fault_world *w)
{
    weft_indexed indexed;
    weft_result result = weft_indexed_open(w->f.world, w->all, 0, &indexed);
    if (result == WEFT_OK) CHECK(indexed.count == 40 && weft_indexed_read(&indexed, 39) != NULL);
    weft_indexed_close(&indexed);
    return result;
}

static weft_result set_shared_many(fault_world *w)
{
    weft_entity some[14];
    for (uint32_t i = 0; i < 14; i++) some[i] = w->e[i * 2];
    return weft_entity_set_shared_many(w->f.world, some, 14, w->f.s, &(int32_t){77});
}

static weft_result add_column(fault_world *w)
{
    return weft_query_add(w->f.world, w->masked, w->f.c);
}

static weft_result add_tag(fault_world *w)
{
    return weft_query_add(w->f.world, w->all, w->f.t);
}

static weft_result remove_column(fault_world *w)
{
    return weft_query_remove(w->f.world, w->all, w->f.b);
}

static weft_result set_shared_all(fault_world *w)
{
    return weft_query_set_shared(w->f.world, w->all, w->f.s, &(int32_t){123});
}

static weft_result set_shared_some(fault_world *w)
{
    return weft_query_set_shared(w->f.world, w->masked, w->f.s, &(int32_t){123});
}

static weft_result set_values(fault_world *w)
{
    return weft_query_set(w->f.world, w->masked, w->f.b, &(int32_t){5}, 4);
}

static weft_result destroy_some(fault_world *w)
{
    return weft_query_destroy_entities(w->f.world, w->masked);
}

static weft_result set_shared_one(fault_world *w)
{
    return weft_entity_set_shared(w->f.world, w->e[1], w->f.s, &(int32_t){321});
}

/* Runs an operation with the k-th allocation refused until it needs fewer than k. */
static void sweep(weft_result (*operation)(fault_world *), bool is_for_ever)
{
    for (uint64_t k = 1;; k++) {
        fault_world w;
        fault_open(&w);
        uint64_t hash = weft_world_hash(w.f.world, WEFT_HASH_LAYOUT);
        test_memory_fail(&w.f.memory, k, is_for_ever);
        uint64_t before = w.f.memory.failures;
        weft_result result = operation(&w);
        bool has_failed = w.f.memory.failures != before;
        test_memory_fail(&w.f.memory, 0, false);
        fixture_validate(&w.f);
        if (result != WEFT_OK) {
            CHECK(has_failed);
            CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
            CHECK_U64(weft_world_hash(w.f.world, WEFT_HASH_LAYOUT), hash);
            CHECK_OK(operation(&w)); /* works once there is memory */
        }
        fixture_close(&w.f);
        if (!has_failed) break;
        CHECK(k < 1000);
    }
}

static void sweep_both(weft_result (*operation)(fault_world *))
{
    sweep(operation, false);
    sweep(operation, true);
}

Test(query_fault, making_queries_and_archetypes)
{
    sweep_both(make_query);
    sweep_both(make_archetype);
}

Test(query_fault, filters)
{
    sweep_both(filter_query);
    sweep_both(filter_changes);
}

Test(query_fault, indexed_access)
{
    sweep_both(open_index);
}

Test(query_fault, adding_and_removing_by_query)
{
    sweep_both(add_column);
    sweep_both(add_tag);
    sweep_both(remove_column);
}

Test(query_fault, values_and_shared_values)
{
    sweep_both(set_shared_all);
    sweep_both(set_shared_some);
    sweep_both(set_values);
    sweep_both(set_shared_one);
    sweep_both(set_shared_many);
}

Test(query_fault, destruction_by_query)
{
    sweep_both(destroy_some);
}

Test(query_fault, a_loop_that_has_no_memory_has_no_rows_and_says_so)
{
    fault_world w;
    fault_open(&w);
    test_memory_fail(&w.f.memory, 1, true);
    CHECK_U64(fixture_iterate(&w.f, w.all).rows, 0);
    CHECK_RESULT(weft_world_error(w.f.world)->code, WEFT_OUT_OF_MEMORY);
    test_memory_fail(&w.f.memory, 0, false);
    CHECK_U64(fixture_iterate(&w.f, w.all).rows, 40);
    fixture_close(&w.f);
}
