/* SPDX-License-Identifier: MIT */
/* test_snapshot.c: a restored world has the same past and the same future, shares what did not
 * change, and gives all its memory back. */
#include "directory.h"
#include "world_state.h"

#include <weft/snapshot.h>
#include <weft/weft.h>

#include "memory_fault.h"
#include "plain.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

/* A world whose population changes with every step. */
typedef struct fixture {
    weft_world *world;
    weft_component value, name, list, mode, counter;
    weft_archetype spawned;
} fixture;

static void advance(weft_slice *s, void *user)
{
    const fixture *f = user;
    uint64_t *values = weft_slice_write(s, 0);
    weft_recorder *commands = weft_slice_recorder(s);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        values[i] = values[i] * 6364136223846793005u + weft_slice_entities(s)[i].index + 1;
        weft_entity self = weft_slice_entities(s)[i];
        uint32_t roll = (uint32_t)(values[i] >> 40) % 64;
        if (roll == 0) weft_recorder_destroy_entity(commands, self);
        if (roll == 1) weft_recorder_create_entity(commands, f->spawned);
        if (roll == 2) weft_recorder_append(commands, self, f->list, &values[i], 1);
        if (roll == 3) weft_recorder_add(commands, self, f->name);
        if (roll == 4) weft_recorder_set_shared(commands, self, f->mode, &(uint32_t){roll + 3});
    }
}

static void count_changes(weft_slice *s, void *user)
{
    const fixture *f = user;
    uint64_t *total = weft_slice_write_resource(s, f->counter);
    *total += weft_slice_count(s);
}

static fixture begin(uint32_t entities)
{
    fixture f;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 2}, &f.world));
    f.value = weft_component_create_plain(f.world, "value", 8, 8, 0);
    f.name = weft_component_create_plain(f.world, "name", 16, 8, 0);
    f.list = weft_component_create(
        f.world, &(weft_component_desc){
                     .name = "list", .size = 8, .flags = WEFT_BUFFER, .buffer_capacity = 2});
    f.mode = weft_component_create_plain(f.world, "mode", 4, 4, WEFT_SHARED);
    f.counter = weft_component_create_plain(f.world, "counter", 8, 8, WEFT_RESOURCE);
    f.spawned = weft_archetype_create(f.world, &f.value, 1);
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.value), entities, NULL));
    return f;
}

static void add_systems(fixture *f)
{
    weft_system a = weft_system_create(
        f->world, &(weft_system_desc){.name = "advance",
                                      .run = advance,
                                      .user = f,
                                      .effects = WEFT_RECORDS_ANY,
                                      .over.rows.terms = {{f->value, WEFT_WRITE, 0, 0}}});
    weft_system b = weft_system_create(
        f->world, &(weft_system_desc){.name = "count",
                                      .run = count_changes,
                                      .user = f,
                                      .flags = WEFT_SYSTEM_SERIAL,
                                      .skips_unchanged = true,
                                      .resources = {{f->counter, WEFT_WRITE}},
                                      .over.rows.terms = {{f->name, WEFT_READ, 0, 0}}});
    CHECK(a.id != 0 && b.id != 0);
}

static uint64_t state(const fixture *f)
{
    CHECK_OK(weft_world_validate(f->world));
    const uint64_t *counted = weft_resource_read(f->world, f->counter);
    return weft_world_hash(f->world, WEFT_HASH_LAYOUT) ^ *counted;
}

static void steps(const fixture *f, uint64_t *states, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        CHECK_OK(weft_world_step(f->world, 0));
        states[i] = state(f);
    }
}

PLAIN_TEST(a_restored_world_has_the_same_future)
{
    fixture f = begin(3000);
    add_systems(&f);
    uint64_t warm[3], first[6], again[6], before;
    steps(&f, warm, 3);
    weft_snapshot *snapshot;
    CHECK_OK(weft_snapshot_take(f.world, NULL, &snapshot));
    before = state(&f);
    steps(&f, first, 6);
    for (uint32_t round = 0; round < 3; round++) {
        CHECK_OK(weft_snapshot_restore(f.world, snapshot));
        CHECK_U64(state(&f), before);
        steps(&f, again, 6);
        for (uint32_t i = 0; i < 6; i++) CHECK_U64(again[i], first[i]);
    }
    weft_snapshot_destroy(snapshot);
    CHECK_OK(weft_world_destroy(f.world));
}

PLAIN_TEST(snapshots_of_several_moments_and_futures_do_not_mix)
{
    fixture f = begin(2000);
    add_systems(&f);
    weft_snapshot *chain[6];
    uint64_t states[6], next, one_line;
    CHECK_OK(weft_snapshot_take(f.world, NULL, &chain[0]));
    weft_snapshot_destroy(chain[0]);
    one_line = weft__memory_bytes(&f.world->memory, WEFT__MEMORY_SNAPSHOTS);
    for (uint32_t i = 0; i < 6; i++) { /* restore 1 in between: another timeline */
        CHECK_OK(weft_snapshot_take(f.world, i == 0 ? NULL : chain[i - 1], &chain[i]));
        states[i] = state(&f);
        steps(&f, &next, 1);
        if (i == 3) CHECK_OK(weft_snapshot_restore(f.world, chain[1]));
        if (i == 3) CHECK(weft_entity_create(f.world, f.spawned).version != 0);
    }
    static const uint32_t order[] = {5, 0, 3, 4, 1, 2, 5};
    for (uint32_t i = 0; i < 7; i++) {
        CHECK_OK(weft_snapshot_restore(f.world, chain[order[i]]));
        CHECK_U64(state(&f), states[order[i]]);
    }
    for (uint32_t i = 0; i < 6; i++) weft_snapshot_destroy(chain[i]);
    CHECK_U64(weft__memory_bytes(&f.world->memory, WEFT__MEMORY_SNAPSHOTS),
              one_line); /* the others were cut out */
    CHECK_OK(weft_world_destroy(f.world));
}

PLAIN_TEST(a_change_far_from_the_first_slice_is_not_shared)
{
    enum { COUNT = 20000 };
    static weft_entity all[COUNT];
    fixture f = begin(COUNT);
    weft_snapshot *first, *second;
    weft_query query =
        weft_query_create(f.world, &(weft_query_desc){.terms = {{f.value, WEFT_READ, 0, 0}}});
    CHECK(weft_query_entities(f.world, query, all, COUNT) == COUNT);
    CHECK_OK(weft_snapshot_take(f.world, NULL, &first));
    for (uint32_t i = COUNT / 2; i < COUNT; i += 700)
        CHECK_OK(weft_entity_set(f.world, all[i], f.value, &(uint64_t){i}, 8));
    uint64_t changed = state(&f);
    CHECK_OK(weft_snapshot_take(f.world, first, &second));
    CHECK_OK(weft_snapshot_restore(f.world, first));
    CHECK_U64(*(const uint64_t *)weft_entity_read(f.world, all[COUNT / 2], f.value), 0);
    CHECK_OK(weft_snapshot_restore(f.world, second));
    CHECK_U64(state(&f), changed);
    weft_snapshot_destroy(first);
    weft_snapshot_destroy(second);
    CHECK_OK(weft_world_destroy(f.world));
}

PLAIN_TEST(as_many_rows_but_other_entities_are_not_shared)
{
    fixture f = begin(1000);
    weft_snapshot *first, *second;
    weft_entity some[2], fresh;
    weft_query query =
        weft_query_create(f.world, &(weft_query_desc){.terms = {{f.value, WEFT_READ, 0, 0}}});
    CHECK(weft_query_entities(f.world, query, some, 2) == 1000);
    CHECK_OK(weft_snapshot_take(f.world, NULL, &first));
    uint64_t before = state(&f);
    CHECK_OK(weft_entity_destroy(f.world, some[1]));
    fresh = weft_entity_create(f.world, f.spawned);
    uint64_t after = state(&f);
    CHECK(after != before);
    CHECK_OK(weft_snapshot_take(f.world, first, &second));
    for (uint32_t round = 0; round < 2; round++) {
        CHECK_OK(weft_snapshot_restore(f.world, first));
        CHECK_U64(state(&f), before);
        CHECK(weft_entity_is_alive(f.world, some[1]) && !weft_entity_is_alive(f.world, fresh));
        CHECK_OK(weft_snapshot_restore(f.world, second));
        CHECK_U64(state(&f), after);
        CHECK(!weft_entity_is_alive(f.world, some[1]) && weft_entity_is_alive(f.world, fresh));
    }
    weft_snapshot_destroy(first);
    weft_snapshot_destroy(second);
    CHECK_OK(weft_world_destroy(f.world));
}

PLAIN_TEST(only_changed_slices_are_copied)
{
    fixture f = begin(100000);
    weft_snapshot *first, *second, *third;
    CHECK_OK(weft_snapshot_take(f.world, NULL, &first));
    weft_snapshot_destroy(first);
    uint64_t none = weft__memory_bytes(&f.world->memory, WEFT__MEMORY_SNAPSHOTS);
    CHECK_OK(weft_snapshot_take(f.world, NULL, &first));
    uint64_t all = weft__memory_bytes(&f.world->memory, WEFT__MEMORY_SNAPSHOTS);
    weft_query query =
        weft_query_create(f.world, &(weft_query_desc){.terms = {{f.value, WEFT_READ, 0, 0}}});
    weft_entity some;
    CHECK(weft_query_entities(f.world, query, &some, 1) == 100000);
    CHECK_OK(weft_entity_set(f.world, some, f.value, &(uint64_t){7}, 8));
    CHECK_OK(weft_snapshot_take(f.world, first, &second));
    uint64_t more = weft__memory_bytes(&f.world->memory, WEFT__MEMORY_SNAPSHOTS) - all;
    CHECK(more < all / 10); /* metadata and one slice */
    CHECK_OK(weft_snapshot_take(f.world, second, &third));
    uint64_t still = weft__memory_bytes(&f.world->memory, WEFT__MEMORY_SNAPSHOTS) - all - more;
    CHECK(still + 512 < more); /* neither a slice nor the list of a column's slices */
    CHECK_OK(weft_snapshot_restore(f.world, first));
    CHECK_U64(*(const uint64_t *)weft_entity_read(f.world, some, f.value), 0);
    CHECK_OK(weft_snapshot_restore(f.world, second));
    CHECK_U64(*(const uint64_t *)weft_entity_read(f.world, some, f.value), 7);
    CHECK_OK(weft_entity_set(f.world, some, f.value, &(uint64_t){9}, 8));
    weft_snapshot_destroy(first);
    weft_snapshot_destroy(second);
    CHECK_OK(weft_snapshot_restore(f.world, third)); /* what it shared lives on */
    CHECK_U64(*(const uint64_t *)weft_entity_read(f.world, some, f.value), 7);
    weft_snapshot_destroy(third);
    CHECK_U64(weft__memory_bytes(&f.world->memory, WEFT__MEMORY_SNAPSHOTS), none);
    CHECK_OK(weft_world_validate(f.world));
    CHECK_OK(weft_world_destroy(f.world));
}

/* ---- values that own something ---- */

/* A number in memory of its own, as aligned as can be. */
typedef struct owned {
    _Alignas(64) uint32_t *number; /* of malloc; NULL: none */
} owned;

static void owned_destruct(void *values, uint32_t count, void *user)
{
    int64_t *live = user;
    owned *o = values;
    for (uint32_t i = 0; i < count; i++) {
        *live -= o[i].number != NULL ? 1 : 0;
        free(o[i].number);
        o[i].number = NULL;
    }
}

static void owned_set(owned *to, uint32_t number, int64_t *live)
{
    owned_destruct(to, 1, live);
    to->number = malloc(sizeof *to->number);
    CHECK(to->number != NULL);
    *to->number = number;
    *live += 1;
}

static void owned_copy(void *to, const void *from, uint32_t count, void *user)
{
    const owned *o = from;
    CHECK_U64((uintptr_t)to % _Alignof(owned), 0);
    memset(to, 0, count * sizeof *o);
    for (uint32_t i = 0; i < count; i++)
        if (o[i].number != NULL) owned_set((owned *)to + i, *o[i].number, user);
}

static weft_component register_owned(weft_world *world, const char *name, uint32_t flags,
                                     bool has_copy, int64_t *live)
{
    weft_component c = weft_component_create(
        world, &(weft_component_desc){.name = name,
                                      .size = sizeof(owned),
                                      .alignment = _Alignof(owned),
                                      .flags = flags,
                                      .hooks.destruct = owned_destruct,
                                      .hooks.copy = has_copy ? owned_copy : NULL,
                                      .hooks.user = live});
    CHECK(c.id != 0);
    return c;
}

PLAIN_TEST(values_and_resources_with_hooks_are_copied_restored_and_freed)
{
    int64_t live = 0;
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    weft_component row = register_owned(world, "row", 0, true, &live);
    weft_component one = register_owned(world, "one", WEFT_RESOURCE, true, &live);
    weft_entity some[100];
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, row), 100, some));
    for (uint32_t i = 0; i < 100; i++) owned_set(weft_entity_write(world, some[i], row), i, &live);
    owned_set(weft_resource_write(world, one), 7, &live);
    weft_snapshot *snapshot;
    CHECK_OK(weft_snapshot_take(world, NULL, &snapshot));
    CHECK_I64(live, 202);
    for (uint32_t round = 0; round < 2; round++) {
        owned_set(weft_entity_write(world, some[40], row), 1000, &live);
        CHECK_OK(weft_entity_destroy(world, some[60]));
        owned_set(weft_resource_write(world, one), 8, &live);
        CHECK_OK(weft_snapshot_restore(world, snapshot));
        for (uint32_t i = 0; i < 100; i++) {
            const owned *value = weft_entity_read(world, some[i], row);
            CHECK(value != NULL && value->number != NULL);
            CHECK_U64(*value->number, i);
        }
        CHECK_U64(*((const owned *)weft_resource_read(world, one))->number, 7);
        CHECK_I64(live, 202);
    }
    weft_snapshot_destroy(snapshot);
    CHECK_I64(live, 101);
    CHECK_OK(weft_world_destroy(world));
    CHECK_I64(live, 0);
}

PLAIN_TEST(a_type_that_frees_but_cannot_copy_is_refused)
{
    int64_t live = 0;
    weft_world *world;
    weft_snapshot *snapshot;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    weft_component row = register_owned(world, "row", 0, false, &live);
    CHECK_OK(weft_snapshot_take(world, NULL, &snapshot)); /* no entity has it yet */
    weft_snapshot_destroy(snapshot);
    weft_entity entity;
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, row), 1, &entity));
    CHECK_RESULT(weft_snapshot_take(world, NULL, &snapshot), WEFT_UNSUPPORTED);
    CHECK(snapshot == NULL && strstr(weft_world_error(world)->text, "\"row\"") != NULL);
    CHECK_OK(weft_entity_destroy(world, entity));
    CHECK_OK(weft_snapshot_take(world, NULL, &snapshot));
    weft_snapshot_destroy(snapshot);
    register_owned(world, "one", WEFT_RESOURCE, false, &live);
    CHECK_RESULT(weft_snapshot_take(world, NULL, &snapshot), WEFT_UNSUPPORTED);
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(ids_that_a_recorder_holds_are_in_the_way_of_a_restore)
{
    fixture f = begin(100);
    weft_snapshot *snapshot, *meanwhile;
    weft_recorder *commands;
    weft_slice rows;
    CHECK_OK(weft_snapshot_take(f.world, NULL, &snapshot));
    CHECK_OK(weft_recorder_create(f.world, &commands));
    CHECK_OK(weft_recorder_create_rows_unordered(commands, f.spawned, 3, &rows));
    weft_entity held = rows.entities[2];
    CHECK_OK(weft_snapshot_take(f.world, NULL, &meanwhile));
    CHECK_RESULT(weft_snapshot_restore(f.world, snapshot), WEFT_WRONG_PHASE);
    CHECK(strstr(weft_world_error(f.world)->text, "play or destroy it first") != NULL);
    CHECK_OK(weft_recorder_play(commands));
    CHECK(weft_entity_is_alive(f.world, held));
    CHECK_OK(weft_snapshot_restore(f.world, meanwhile));
    CHECK(!weft_entity_is_alive(f.world, held));
    CHECK_OK(weft_snapshot_restore(f.world, snapshot));
    CHECK_OK(weft_world_validate(f.world));
    CHECK_OK(weft_recorder_create_rows_unordered(commands, f.spawned, 3, &rows));
    CHECK(rows.entities[2].index == held.index && rows.entities[2].version == held.version);
    weft_recorder_destroy(commands);
    CHECK_OK(weft_snapshot_restore(f.world, meanwhile));
    weft_snapshot_destroy(meanwhile);
    weft_snapshot_destroy(snapshot);
    CHECK_OK(weft_world_destroy(f.world));
}

/* ---- no memory ---- */

PLAIN_TEST(a_snapshot_that_finds_no_memory_leaves_nothing)
{
    test_memory memory;
    test_memory_init(&memory);
    int64_t live = 0;
    weft_world *world;
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = 1, .allocator = test_memory_hook(&memory)}, &world));
    weft_component row = register_owned(world, "row", 0, true, &live);
    register_owned(world, "one", WEFT_RESOURCE, true, &live);
    weft_component team = weft_component_create_plain(world, "team", 4, 4, WEFT_SHARED);
    weft_entity some[50];
    CHECK_OK(weft_entity_create_many(
        world, weft_archetype_create(world, (weft_component[]){row, team}, 2), 50, some));
    for (uint32_t i = 0; i < 50; i++) {
        owned_set(weft_entity_write(world, some[i], row), i, &live);
        CHECK_OK(weft_entity_set_shared(world, some[i], team, &(uint32_t){i % 3}));
    }
    weft_snapshot *first;
    CHECK_OK(weft_snapshot_take(world, NULL, &first));
    CHECK_OK(weft_entity_set_shared(world, some[0], team, &(uint32_t){5}));
    uint64_t before = memory.live_blocks, refused = 0;
    weft_snapshot *snapshot = NULL;
    for (uint64_t k = 1; snapshot == NULL; k++, refused++) {
        test_memory_fail(&memory, k, false);
        weft_result result = weft_snapshot_take(world, first, &snapshot);
        test_memory_fail(&memory, 0, false);
        if (result == WEFT_OK) break;
        CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        CHECK_U64(memory.live_blocks, before);
        CHECK_I64(live, 100);
    }
    CHECK(refused > 5);
    weft_snapshot_destroy(snapshot);
    weft_snapshot_destroy(first);
    CHECK_OK(weft_world_validate(world));
    CHECK_OK(weft_world_destroy(world));
    test_memory_fini(&memory);
}

/* The buffer of an entity: `count` elements, none of which is 0. */
static void spill(weft_world *world, weft_entity entity, weft_component list, uint32_t count)
{
    weft_buffers buffer = weft_entity_write_buffer(world, entity, list);
    CHECK_OK(weft_buffers_resize(&buffer, 0, count));
    uint32_t *elements = weft_buffers_write(&buffer, 0);
    for (uint32_t i = 0; i < count; i++) elements[i] = count + i;
}

/* Restores with each call of the allocator refused in turn, until none is. */
static void restore_refused(weft_world *world, const weft_snapshot *snapshot, test_memory *memory)
{
    uint64_t changed = weft_world_hash(world, WEFT_HASH_LAYOUT), blocks = memory->live_blocks;
    for (uint64_t k = 1;; k++) {
        test_memory_fail(memory, k, false);
        weft_result result = weft_snapshot_restore(world, snapshot);
        test_memory_fail(memory, 0, false);
        if (result == WEFT_OK) return;
        CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        CHECK_OK(weft_world_validate(world));
        CHECK_U64(weft_world_hash(world, WEFT_HASH_LAYOUT), changed);
        CHECK_U64(memory->live_blocks, blocks);
    }
}

PLAIN_TEST(a_restore_that_finds_no_memory_changes_nothing)
{
    test_memory memory;
    test_memory_init(&memory);
    weft_world *world;
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = 1, .allocator = test_memory_hook(&memory)}, &world));
    weft_component types[] = {weft_component_create_plain(world, "value", 8, 8, 0),
                              weft_component_create_plain(world, "team", 4, 4, WEFT_SHARED),
                              weft_component_create_plain(world, "list", 4, 4, WEFT_BUFFER)};
    weft_entity some[300];
    weft_snapshot *empty;
    CHECK_OK(weft_snapshot_take(world, NULL, &empty));
    CHECK_OK(weft_entity_create_many(world, weft_archetype_create(world, types, 3), 300, some));
    for (uint32_t i = 0; i < 300; i++)
        CHECK_OK(weft_entity_set_shared(world, some[i], types[1], &(uint32_t){i % 7}));
    for (uint32_t i = 0; i < 300; i += 60) spill(world, some[i], types[2], 40 + i);
    weft_snapshot *snapshot;
    CHECK_OK(weft_snapshot_take(world, NULL, &snapshot));
    uint64_t saved = weft_world_hash(world, WEFT_HASH_LAYOUT), refused = 0;
    spill(world, some[60], types[2], 4); /* values alone differ: the rows of this chunk stay */
    restore_refused(world, snapshot, &memory);
    CHECK_U64(weft_world_hash(world, WEFT_HASH_LAYOUT), saved);
    CHECK_OK(weft_snapshot_restore(world, empty)); /* archetypes leave the order, */
    CHECK_OK(weft_entity_create_many(world, weft_archetype_create(world, types, 1), 10,
                                     NULL)); /* another comes first */
    weft_result result = WEFT_OUT_OF_MEMORY;
    uint64_t changed = weft_world_hash(world, WEFT_HASH_LAYOUT);
    for (uint64_t k = 1; result != WEFT_OK; k++, refused++) {
        test_memory_fail(&memory, k, false);
        result = weft_snapshot_restore(world, snapshot);
        test_memory_fail(&memory, 0, false);
        if (result == WEFT_OK) break;
        CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        CHECK_OK(weft_world_validate(world));
        CHECK_U64(weft_world_hash(world, WEFT_HASH_LAYOUT), changed);
        weft_component first[2] = {{0}};
        CHECK_U64(weft_archetype_components(world, weft_archetype_at(world, 0), first, 2), 1);
        CHECK_U64(first[0].id, types[0].id);
        CHECK_U64(weft_archetype_at(world, 1).id, 0);
    }
    CHECK(refused > 5);
    CHECK_U64(weft_world_hash(world, WEFT_HASH_LAYOUT), saved);
    weft_snapshot_destroy(snapshot);
    weft_snapshot_destroy(empty);
    CHECK_OK(weft_world_destroy(world));
    test_memory_fini(&memory);
}

/* ---- systems ---- */

static void count_up(weft_slice *s, void *user)
{
    (void)s;
    ++*(uint32_t *)user;
}

/* Slices that `watch` sees as changed in a step. */
static uint32_t seen_in_a_step(const fixture *f, uint32_t *seen)
{
    *seen = 0;
    CHECK_OK(weft_world_step(f->world, 0));
    return *seen;
}

PLAIN_TEST(an_entity_whose_index_was_retired_since_comes_back)
{
    fixture f = begin(5);
    weft_entity last = weft_entity_create(f.world, f.spawned);
    CHECK_OK(weft_entity_destroy(f.world, last));
    CHECK_OK(weft__directory_force(&f.world->directory, last.index, WEFT__VERSION_LAST - 1, 0));
    last = weft_entity_create(f.world, f.spawned);
    CHECK_U64(last.version, WEFT__VERSION_LAST);
    weft_snapshot *snapshot;
    weft_world_stats stats;
    CHECK_OK(weft_snapshot_take(f.world, NULL, &snapshot));
    for (uint32_t round = 0; round < 2; round++) {
        CHECK_OK(weft_entity_destroy(f.world, last));
        weft_world_stats_get(f.world, &stats, sizeof stats);
        CHECK_U64(stats.entities, 5);
        CHECK_OK(weft_snapshot_restore(f.world, snapshot));
        CHECK(weft_entity_is_alive(f.world, last));
        weft_world_stats_get(f.world, &stats, sizeof stats);
        CHECK_U64(stats.entities, 6);
        CHECK_OK(weft_world_validate(f.world));
    }
    weft_snapshot_destroy(snapshot);
    CHECK_OK(weft_world_destroy(f.world));
}

PLAIN_TEST(later_rows_go_to_the_same_chunks_after_a_restore)
{
    enum { ROWS = 40, CHUNK = 4 };
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    weft_component small = weft_component_create(
        world, &(weft_component_desc){.name = "small", .size = 4, .chunk_row_limit = CHUNK});
    weft_entity e[ROWS];
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, small), ROWS, e));
    const uint32_t holes[] = {17, 1, 33, 9, 25}; /* chunks get room in another order than theirs */
    for (uint32_t i = 0; i < 5; i++) CHECK_OK(weft_entity_destroy(world, e[holes[i]]));
    weft_snapshot *snapshot;
    CHECK_OK(weft_snapshot_take(world, NULL, &snapshot));
    uint64_t first = 0;
    for (uint32_t round = 0; round < 3; round++) {
        CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, small), 3, NULL));
        uint64_t hash = weft_world_hash(world, WEFT_HASH_LAYOUT);
        if (round == 0) first = hash;
        CHECK_U64(hash, first);
        CHECK_OK(weft_snapshot_restore(world, snapshot));
        CHECK_OK(weft_world_validate(world));
    }
    weft_snapshot_destroy(snapshot);
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(rates_go_on_from_where_they_were)
{
    fixture f = begin(10);
    uint32_t runs[2] = {0};
    weft_snapshot *snapshot;
    CHECK_OK(weft_group_set(f.world, &(weft_group_desc){.name = "slow", .period = 1}));
    CHECK(
        weft_system_create(
            f.world,
            &(weft_system_desc){.name = "tick", .run = count_up, .user = &runs[0], .group = "slow"})
            .id != 0);
    CHECK(weft_system_create(
              f.world,
              &(weft_system_desc){.name = "tock", .run = count_up, .user = &runs[1], .period = 1})
              .id != 0);
    CHECK_OK(weft_world_step(f.world, 0.75f));
    CHECK_OK(weft_snapshot_take(f.world, NULL, &snapshot));
    for (uint32_t i = 1; i <= 3; i++) { /* 1.25 seconds: both are due, every time */
        CHECK_OK(weft_world_step(f.world, 0.5f));
        CHECK_U64(runs[0], i);
        CHECK_U64(runs[1], i);
        CHECK_OK(weft_snapshot_restore(f.world, snapshot));
    }
    weft_snapshot_destroy(snapshot);
    CHECK_OK(weft_world_destroy(f.world));
}

PLAIN_TEST(a_system_younger_than_the_snapshot_sees_everything_after_it_is_restored)
{
    fixture f = begin(1000);
    uint32_t seen = 0;
    weft_snapshot *snapshot;
    CHECK_OK(weft_snapshot_take(f.world, NULL, &snapshot));
    weft_system_desc desc = {.name = "watch",
                             .run = count_up,
                             .user = &seen,
                             .flags = WEFT_SYSTEM_SERIAL,
                             .skips_unchanged = true,
                             .over.rows.terms = {{f.value, WEFT_READ, 0, 0}}};
    CHECK(weft_system_create(f.world, &desc).id != 0);
    for (uint32_t i = 0; i < 20; i++) weft_world_advance_change_version(f.world);
    uint32_t all = seen_in_a_step(&f, &seen);
    CHECK(all > 1);
    CHECK_U64(seen_in_a_step(&f, &seen), 0);
    CHECK_OK(weft_snapshot_restore(f.world, snapshot));
    CHECK_U64(seen_in_a_step(&f, &seen), all);
    CHECK_U64(seen_in_a_step(&f, &seen), 0);
    weft_snapshot_destroy(snapshot);
    CHECK_OK(weft_world_destroy(f.world));
}

/* The moments that the past of a state has, told by a list beside it. */
PLAIN_TEST(moments_are_in_the_past_of_the_states_that_were_after_them)
{
    enum { TAKEN = 12, ROUNDS = 400 };
    fixture f = begin(1);
    test_random random = test_random_init(0x3035);
    weft_snapshot *snapshots[TAKEN] = {0};
    static bool past[TAKEN + 1][ROUNDS + 1]; /* [TAKEN]: of the world */
    uint64_t last = 0;
    CHECK(!weft_world_has_moment(f.world, 0) && !weft_world_has_moment(f.world, 1));
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t at = (uint32_t)test_random_below(&random, TAKEN);
        switch (test_random_below(&random, 3)) {
        case 0:
            CHECK_U64(weft_world_moment(f.world), ++last);
            past[TAKEN][last] = true;
            break;
        case 1:
            weft_snapshot_destroy(snapshots[at]);
            CHECK_OK(weft_snapshot_take(f.world, NULL, &snapshots[at]));
            memcpy(past[at], past[TAKEN], sizeof past[at]);
            break;
        default:
            if (snapshots[at] == NULL) break;
            CHECK_OK(weft_snapshot_restore(f.world, snapshots[at]));
            memcpy(past[TAKEN], past[at], sizeof past[at]);
        }
        for (uint64_t m = 1; m <= last; m++)
            CHECK(weft_world_has_moment(f.world, m) == past[TAKEN][m]);
    }
    for (int i = 0; i < TAKEN; i++) weft_snapshot_destroy(snapshots[i]);
    CHECK_OK(weft_world_destroy(f.world));
}
