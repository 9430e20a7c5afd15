/* SPDX-License-Identifier: MIT */
/* test_future_random.c: random worlds with relations, observers, residues, SPARSE components and
 * buffers. Calls that were refused memory and repeated end as calls that were not, and what comes
 * after a restore or a load is what came after the snapshot. */
#include <weft/observer.h>
#include <weft/snapshot.h>
#include <weft/weft.h>

#include "memory_fault.h"
#include "plain.h"

#include <string.h>

enum { ENTITIES = 64, KINDS = 6 };

/* One world. Owner: a test. */
typedef struct side {
    weft_world *world;
    weft_component kinds[KINDS]; /* a, b (ENABLEABLE), sparse, list, shared, rest (CLEANUP) */
    weft_component parent;
    weft_query with_b;
    weft_entity entities[ENTITIES];
    weft_snapshot *snapshot;
    uint64_t told; /* by observers: a sum, whatever the order */
} side;

/* One call. A value. */
typedef struct call {
    uint32_t kind, x, y;
} call;

enum { CALLS = 16 }; /* kinds of calls; the last two are of snapshots */

static void tell(const weft_observation *o, void *user)
{
    side *s = user;
    for (uint32_t i = 0; i < o->count; i++)
        s->told += (o->entities[i].index * UINT64_C(7919) + o->entities[i].version) * o->event;
}

static void observe(side *s, const char *name, weft_observer_event event, weft_component of)
{
    const weft_observer_desc desc = {
        .name = name, .on = event, .component = of, .run = tell, .user = s};
    CHECK(weft_observer_create(s->world, &desc).id != 0);
}

static void side_open(side *s, weft_allocator allocator)
{
    static const uint32_t flags[KINDS] = {0,           WEFT_ENABLEABLE, WEFT_SPARSE,
                                          WEFT_BUFFER, WEFT_SHARED,     WEFT_CLEANUP};
    static const char *const names[KINDS] = {"a", "b", "sparse", "list", "shared", "rest"};
    *s = (side){0};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1,
                                                  .entity_tag = WEFT_WITHOUT_ENTITY_TAG,
                                                  .allocator = allocator},
                               &s->world));
    for (uint32_t i = 0; i < KINDS; i++)
        s->kinds[i] = weft_component_create_plain(s->world, names[i], 4, 4, flags[i]);
    s->parent = weft_component_parent(s->world);
    observe(s, "changed", WEFT_ON_CHANGED, s->kinds[0]);
    observe(s, "destroyed", WEFT_ON_DESTROYED, s->kinds[0]);
    observe(s, "removed", WEFT_ON_REMOVED, s->kinds[1]);
    s->with_b = weft_query_create(s->world, &(weft_query_desc){.terms = {{s->kinds[1]}}});
}

static void side_close(side *s)
{
    weft_snapshot_destroy(s->snapshot);
    CHECK_OK(weft_world_validate(s->world));
    CHECK_OK(weft_world_destroy(s->world));
}

static weft_result create(side *s, call c)
{
    weft_entity *at = &s->entities[c.x % ENTITIES];
    if (weft_entity_is_alive(s->world, *at)) return WEFT_OK;
    weft_entity made = weft_entity_create(
        s->world, c.y % 2 == 0 ? WEFT_ARCHETYPE(s->world, s->kinds[0], s->kinds[1])
                               : WEFT_ARCHETYPE(s->world, s->kinds[0], s->kinds[4], s->kinds[5]));
    if (weft_entity_is_null(made)) return weft_world_error(s->world)->code;
    *at = made;
    return WEFT_OK;
}

static weft_result resize(side *s, weft_entity entity, uint32_t count)
{
    weft_buffers buffers = weft_entity_write_buffer(s->world, entity, s->kinds[3]);
    return buffers.count == 0 ? WEFT_OK : weft_buffers_resize(&buffers, 0, count);
}

static weft_result snapshot(side *s)
{
    weft_snapshot *next;
    weft_result result = weft_snapshot_take(s->world, s->snapshot, &next);
    if (result != WEFT_OK) return result;
    weft_snapshot_destroy(s->snapshot);
    s->snapshot = next;
    return WEFT_OK;
}

static weft_result do_call(side *s, call c)
{
    weft_world *world = s->world;
    weft_entity e = s->entities[c.x % ENTITIES], other = s->entities[c.y % ENTITIES];
    weft_component kind = s->kinds[c.y % KINDS];
    switch (c.kind) {
    case 0:
    case 1:
        return create(s, c);
    case 2:
        return weft_entity_destroy(world, e);
    case 3:
        return weft_entity_add(world, e, kind);
    case 4:
        return weft_entity_remove(world, e, kind);
    case 5:
        return weft_entity_set(world, e, s->kinds[0], &c.y, 4);
    case 6:
        return weft_entity_set(world, e, s->kinds[2], &c.y, 4);
    case 7:
        return weft_entity_set_shared(world, e, s->kinds[4], &c.y);
    case 8:
        return weft_relation_set(world, e, s->parent, other);
    case 9:
        return weft_relation_settle(world);
    case 10:
        return weft_observers_run(world);
    case 11:
        return resize(s, e, c.y % 40);
    case 12:
        return weft_query_add(world, s->with_b, s->kinds[2 + c.y % 2]);
    case 13:
        return weft_world_step(world, 0);
    case 14:
        return snapshot(s);
    default:
        return c.y % 4 != 0 || s->snapshot == NULL ? WEFT_OK
                                                   : weft_snapshot_restore(world, s->snapshot);
    }
}

static call random_call(test_random *random, uint32_t kinds)
{
    return (call){(uint32_t)test_random_below(random, kinds),
                  (uint32_t)test_random_below(random, ENTITIES),
                  (uint32_t)test_random_next(random)};
}

/* ---- refused memory ---- */

/* The call with each allocation refused in turn, until none is. */
static weft_result do_refused(side *s, call c, test_memory *memory)
{
    for (uint64_t k = 1;; k++) {
        test_memory_fail(memory, k, false);
        weft_result result = do_call(s, c);
        test_memory_fail(memory, 0, false);
        CHECK_OK(weft_world_validate(s->world));
        if (result != WEFT_OUT_OF_MEMORY) return result;
    }
}

static void run_refused(uint64_t seed)
{
    test_memory memory;
    test_memory_init(&memory);
    test_random random = test_random_init(seed);
    side calm, refused;
    side_open(&calm, (weft_allocator){0});
    side_open(&refused, test_memory_hook(&memory));
    for (uint32_t i = 0; i < 250; i++) {
        call c = random_call(&random, CALLS);
        weft_result result = do_call(&calm, c);
        CHECK_RESULT(i % 4 != 0 ? do_call(&refused, c) : do_refused(&refused, c, &memory), result);
        CHECK_U64(weft_world_hash(refused.world, WEFT_HASH_CONTENT),
                  weft_world_hash(calm.world, WEFT_HASH_CONTENT));
        CHECK_U64(refused.told, calm.told);
    }
    side_close(&calm);
    side_close(&refused);
    test_memory_fini(&memory);
}

PLAIN_TEST(calls_that_were_refused_memory_and_repeated_end_as_others)
{
    for (uint64_t seed = 1; seed <= 24; seed++) run_refused(seed);
}

/* ---- the same future ---- */

/* What a world is and what it told. A value. */
typedef struct outcome {
    uint64_t layout, content, told;
} outcome;

/* Settles, then makes calls that are a function of the seed. */
static outcome go_on(side *s, uint64_t seed, uint32_t count)
{
    test_random random = test_random_init(seed);
    weft_relation_settle(s->world);
    CHECK_OK(weft_observers_run(s->world));
    uint64_t before = s->told;
    for (uint32_t i = 0; i < count; i++) do_call(s, random_call(&random, CALLS - 2));
    weft_relation_settle(s->world);
    CHECK_OK(weft_observers_run(s->world));
    return (outcome){weft_world_hash(s->world, WEFT_HASH_LAYOUT),
                     weft_world_hash(s->world, WEFT_HASH_CONTENT), s->told - before};
}

static void check_outcome(outcome is, outcome expected)
{
    CHECK_U64(is.layout, expected.layout);
    CHECK_U64(is.content, expected.content);
    CHECK_U64(is.told, expected.told);
}

static void run_future(uint64_t seed)
{
    side one, loaded;
    weft_entity entities[ENTITIES];
    weft_world_bytes bytes;
    side_open(&one, (weft_allocator){0});
    go_on(&one, seed, 150);
    memcpy(entities, one.entities, sizeof entities);
    CHECK_OK(snapshot(&one));
    CHECK_OK(weft_world_save_memory(one.world, &bytes, NULL));
    outcome expected = go_on(&one, seed + 1000, 120);
    go_on(&one, seed + 2000, 80);
    CHECK_OK(weft_snapshot_restore(one.world, one.snapshot));
    CHECK_OK(weft_world_validate(one.world));
    memcpy(one.entities, entities, sizeof entities);
    check_outcome(go_on(&one, seed + 1000, 120), expected);
    side_open(&loaded, (weft_allocator){0});
    CHECK_OK(weft_world_load_memory(loaded.world, bytes.bytes, bytes.count, NULL));
    memcpy(loaded.entities, entities, sizeof entities);
    check_outcome(go_on(&loaded, seed + 1000, 120), expected);
    weft_world_bytes_free(one.world, &bytes);
    side_close(&one);
    side_close(&loaded);
}

PLAIN_TEST(what_follows_a_restore_or_a_load_is_what_followed_the_snapshot)
{
    for (uint64_t seed = 1; seed <= 60; seed++) run_future(seed);
}
