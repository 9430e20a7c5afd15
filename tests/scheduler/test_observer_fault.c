/* SPDX-License-Identifier: MIT */
/* test_observer_fault.c: out of memory at the k-th allocation of a run of observers, for every k:
 * an error, and what was found is told by the next run, once. */
#include "check.h"
#include "memory_fault.h"

#include <criterion/criterion.h>
#include <string.h>
#include <weft/observer.h>
#include <weft/weft.h>

enum { ENTITIES = 600, LISTENERS = 7 };

/* What one observer was told. */
typedef struct told {
    uint64_t count, indices, values;
} told;

/* Owner: one test. */
typedef struct fault_world {
    test_memory memory;
    weft_world *world;
    weft_component value, tag;
    weft_entity e[ENTITIES];
    told told[LISTENERS];
    bool has_no_changes; /* no observer asks for CHANGED */
} fault_world;

static void listen(const weft_observation *o, void *user)
{
    told *t = user;
    for (uint32_t i = 0; i < o->count; i++) {
        t->count++;
        t->indices += weft_entity_index(o->entities[i]);
        t->values += o->values == NULL ? 0 : ((const uint32_t *)o->values)[i];
    }
}

static void listen_all(fault_world *w)
{
    static const char *const names[LISTENERS] = {"a", "b", "c", "d", "e", "f", "g"};
    for (uint32_t i = 0; i < LISTENERS; i++) {
        weft_observer_desc desc = {
            .name = names[i], .component = w->value, .run = listen, .user = &w->told[i]};
        desc.on = i < 5 ? WEFT_ON_ADDED + i : i == 5 ? WEFT_ON_CREATED : WEFT_ON_DESTROYED;
        if (i >= 5) desc.component = (weft_component){0};
        if (desc.on == WEFT_ON_CHANGED && w->has_no_changes) desc.on = WEFT_ON_REMOVED;
        CHECK(weft_observer_create(w->world, &desc).id != 0);
    }
}

static void fault_open(fault_world *w, bool has_no_changes)
{
    *w = (fault_world){.has_no_changes = has_no_changes};
    test_memory_init(&w->memory);
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = 1, .allocator = test_memory_hook(&w->memory)}, &w->world));
    w->value = weft_component_create_plain(w->world, "value", 4, 4, 0);
    w->tag = weft_component_create_plain(w->world, "tag", 0, 1, 0);
    CHECK_OK(weft_entity_create_many(w->world, WEFT_ARCHETYPE(w->world, w->value), 300, w->e));
    for (uint32_t i = 0; i < 300; i++)
        WEFT_SET(w->world, w->e[i], w->value, uint32_t, {1000 + i * i});
    for (uint32_t i = 0; i < 300; i += 7) CHECK_OK(weft_entity_add(w->world, w->e[i], w->tag));
    listen_all(w);
    for (uint32_t i = 0; i < 300; i++) /* values that were not there when they registered */
        WEFT_SET(w->world, w->e[i], w->value, uint32_t, {5000 + 3 * i * i});
    CHECK_OK(weft_observers_run(w->world));
    memset(w->told, 0, sizeof w->told);
}

/* Changes of every kind, beyond what the lists have room for. */
static void change(fault_world *w)
{
    for (uint32_t i = 0; i < 300; i++)
        if (i % 3 == 0) {
            CHECK_OK(weft_entity_destroy(w->world, w->e[i]));
        } else if (i % 3 == 1) {
            WEFT_SET(w->world, w->e[i], w->value, uint32_t, {i});
            if (i % 4 == 0) CHECK_OK(weft_entity_add(w->world, w->e[i], w->tag)); /* moves, too */
        } else if (i % 2 == 0) {
            CHECK_OK(weft_entity_remove(w->world, w->e[i], w->value));
        } else {
            CHECK_OK(weft_entity_add(w->world, w->e[i], w->tag));
        }
    CHECK_OK(
        weft_entity_create_many(w->world, WEFT_ARCHETYPE(w->world, w->value), 300, w->e + 300));
}

static void fault_close(fault_world *w)
{
    CHECK_OK(weft_world_validate(w->world));
    weft_world_destroy(w->world);
    test_memory_fini(&w->memory);
}

static void check_told(const fault_world *w, const fault_world *expected)
{
    for (uint32_t i = 0; i < LISTENERS; i++) {
        CHECK_U64(w->told[i].count, expected->told[i].count);
        CHECK_U64(w->told[i].indices, expected->told[i].indices);
        CHECK_U64(w->told[i].values, expected->told[i].values);
    }
}

static void fail_in_runs(bool has_no_changes)
{
    static fault_world w, expected;
    fault_open(&expected, has_no_changes);
    change(&expected);
    CHECK_OK(weft_observers_run(expected.world));
    for (uint32_t i = 0; i < LISTENERS; i++) CHECK(expected.told[i].count != 0);
    uint64_t k = 1;
    for (bool has_failed = true; has_failed; k++) {
        CHECK(k < 300);
        fault_open(&w, has_no_changes);
        change(&w);
        test_memory_fail(&w.memory, k, k % 2 == 0);
        weft_result result = weft_observers_run(w.world);
        has_failed = w.memory.failures != 0;
        test_memory_fail(&w.memory, 0, false);
        CHECK_RESULT(result, has_failed ? WEFT_OUT_OF_MEMORY : WEFT_OK);
        CHECK_OK(weft_observers_run(w.world));
        check_told(&w, &expected);
        fault_close(&w);
    }
    CHECK(k > 10);
    fault_close(&expected);
}

Test(observer_fault, every_allocation_of_a_run_may_fail)
{
    fail_in_runs(false);
    fail_in_runs(true);
}

Test(observer_fault, every_allocation_of_a_registration_may_fail)
{
    static fault_world w;
    uint64_t k = 1;
    for (bool has_failed = true; has_failed; k++) {
        CHECK(k < 100);
        fault_open(&w, false);
        test_memory_fail(&w.memory, k, k % 2 == 0);
        const weft_observer_desc desc = {.name = "more",
                                         .on = WEFT_ON_CREATED,
                                         .component = w.tag,
                                         .run = listen,
                                         .user = &w.told[0]};
        weft_observer made = weft_observer_create(w.world, &desc);
        has_failed = w.memory.failures != 0;
        test_memory_fail(&w.memory, 0, false);
        CHECK(has_failed == (made.id == 0));
        if (has_failed) CHECK_RESULT(weft_world_error(w.world)->code, WEFT_OUT_OF_MEMORY);
        if (has_failed) CHECK(weft_observer_create(w.world, &desc).id != 0);
        CHECK_OK(weft_observers_run(w.world));
        CHECK_U64(w.told[0].count, 0);
        fault_close(&w);
    }
    CHECK(k > 2);
}
