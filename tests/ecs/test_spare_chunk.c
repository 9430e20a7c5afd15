/* SPDX-License-Identifier: MIT */
/* test_spare_chunk.c: small chunks that became empty are kept, few of them, for the next row of
 * their archetype, and given back when memory is wanted. */
#include "archetype_state.h"
#include "chunk.h"
#include "memory_fault.h"
#include "random.h"
#include "storage_fixture.h"
#include "world_state.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <weft/transfer.h>

static uint64_t allocations_of(const weft_world *world)
{
    weft_world_stats stats;
    weft_world_stats_get(world, &stats, sizeof stats);
    return stats.allocations;
}

Test(spare_chunk, the_only_entity_comes_and_goes_without_memory)
{
    storage_fixture f = storage_open();
    weft_archetype moving = storage_moving(&f);
    weft_entity e = weft_entity_create(f.world, moving);
    weft_entity other = weft_entity_create(f.world, WEFT_ARCHETYPE(f.world, f.health));
    CHECK_OK(weft_entity_add(f.world, other, f.tag));
    CHECK_OK(weft_entity_remove(f.world, other, f.tag));
    CHECK_OK(weft_entity_destroy(f.world, e));
    uint64_t before = allocations_of(f.world);
    for (uint32_t i = 0; i < 100; i++) {
        e = weft_entity_create(f.world, moving);
        const vector3 *p = weft_entity_read(f.world, e, f.position);
        CHECK(p->x == 0 && p->y == 0 && p->z == 0);
        CHECK_OK(WEFT_SET(f.world, e, f.position, vector3, {1, 2, 3}));
        CHECK_OK(weft_entity_destroy(f.world, e));
        CHECK_OK(weft_entity_add(f.world, other, f.tag));
        CHECK_OK(weft_entity_remove(f.world, other, f.tag));
        CHECK_OK(weft_world_validate(f.world));
    }
    CHECK_U64(allocations_of(f.world), before);
    storage_close(&f);
}

/* One entity in each of many archetypes, then none. */
static void fill_and_empty(storage_fixture *f, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "own %u", i);
        weft_component own = weft_component_create_plain(f->world, name, 4, 4, 0);
        weft_entity e = weft_entity_create(f->world, WEFT_ARCHETYPE(f->world, own));
        CHECK_OK(weft_entity_destroy(f->world, e));
    }
}

Test(spare_chunk, few_are_kept_and_none_after_compaction)
{
    storage_fixture f = storage_open();
    fill_and_empty(&f, 100);
    CHECK_U64(f.world->spares.count, WEFT__SPARES);
    CHECK_OK(weft_world_validate(f.world));
    weft_world_compact(f.world, 1);
    CHECK_U64(f.world->spares.count, 0);
    weft_world_stats stats;
    weft_world_stats_get(f.world, &stats, sizeof stats);
    CHECK_U64(stats.units_used, 0);
    fill_and_empty(&f, 100);
    storage_close(&f);
}

/* The last unit there may be is full of spares: they make room for a chunk. */
Test(spare_chunk, they_go_when_there_is_no_memory_for_a_chunk)
{
    storage_fixture f = storage_open_with(&(weft_world_desc){.megachunk_limit = 1});
    fill_and_empty(&f, 20);
    CHECK(f.world->spares.count != 0);
    weft_archetype moving = storage_moving(&f);
    uint32_t made = 0;
    while (made < 200000 && weft_entity_create_many(f.world, moving, 100, NULL) == WEFT_OK)
        made += 100;
    CHECK(made > 30000 && made < 200000);
    CHECK_U64(f.world->spares.count, 0);
    CHECK_OK(weft_world_validate(f.world));
    storage_close(&f);
}

/* ---- two worlds, one of which has no spare chunks ---- */

enum { KINDS = 20, LIVE = 12, ROUNDS = 4000 };

/* Two worlds that get the same operations. Owner: one test. */
typedef struct twins {
    weft_world *world[2];
    weft_component component[2][6];
    weft_archetype archetype[2][KINDS];
    weft_entity live[LIVE]; /* the same handles in both */
    weft_snapshot *snapshot[2];
    test_random random;
} twins;

/* Plain ones, a tag, an enableable one, one in the chunk, one of at most 150 rows a chunk. */
static void twin_open(twins *t, int k)
{
    static const weft_component_desc descs[] = {
        {.name = "a", .size = 12, .alignment = 4},
        {.name = "b", .size = 4, .alignment = 4},
        {.name = "tag"},
        {.name = "switch", .size = 4, .alignment = 4, .flags = WEFT_ENABLEABLE},
        {.name = "of chunk", .size = 8, .alignment = 8, .flags = WEFT_CHUNK},
        {.name = "few", .size = 4, .alignment = 4, .chunk_row_limit = 150},
    };
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = 1, .entity_tag = WEFT_WITHOUT_ENTITY_TAG}, &t->world[k]));
    for (uint32_t i = 0; i < 6; i++)
        t->component[k][i] = weft_component_create(t->world[k], &descs[i]);
    for (uint32_t set = 0; set < KINDS; set++) {
        weft_component chosen[6];
        uint32_t count = 0;
        for (uint32_t i = 0; i < 6; i++)
            if (((3 * set + 1) >> i & 1) != 0) chosen[count++] = t->component[k][i];
        t->archetype[k][set] = weft_archetype_create(t->world[k], chosen, count);
    }
}

static void value_set(weft_world *world, weft_entity e, weft_component c, uint32_t value)
{
    if (weft_entity_has(world, e, c)) CHECK_OK(weft_entity_set(world, e, c, &value, sizeof value));
}

/* Writes the value of every chunk that has one. */
static void chunk_values_set(weft_world *world, weft_component c, uint64_t value)
{
    weft_query query =
        weft_query_create(world, &(weft_query_desc){.terms = {{c, WEFT_WRITE, WEFT_ALL, 0}}});
    weft_cursor cursor = weft_query_begin(world, query);
    while (weft_query_next(&cursor)) *(uint64_t *)weft_slice_write_chunk(&cursor.slice, 0) = value;
    CHECK_OK(weft_query_destroy(world, query));
}

/* One operation in one of the worlds; returns the entity that it made. */
static weft_entity twin_change(twins *t, int k, uint32_t what, uint32_t kind, uint32_t slot)
{
    weft_world *world = t->world[k];
    weft_entity e = t->live[slot], made = e;
    bool is_alive = weft_entity_is_alive(world, e);
    if (what < 5 && is_alive) {
        CHECK_OK(weft_entity_destroy(world, e));
        made = (weft_entity){0, 0};
    } else if (what < 5) {
        made = weft_entity_create(world, t->archetype[k][kind]);
        if (what < 2) value_set(world, made, t->component[k][1], kind + 1);
    } else if (what == 5 && is_alive) {
        weft_component tag = t->component[k][2];
        CHECK_OK(weft_entity_has(world, e, tag) ? weft_entity_remove(world, e, tag)
                                                : weft_entity_add(world, e, tag));
    } else if (what == 6) {
        weft_entity many[70];
        CHECK_OK(weft_entity_create_many(world, t->archetype[k][kind], 70, many));
        CHECK_OK(weft_entity_destroy_many(world, many, 70));
    } else if (what == 7 && is_alive && weft_entity_has(world, e, t->component[k][3])) {
        CHECK_OK(weft_entity_enable(world, e, t->component[k][3], false));
    }
    if (what == 1) chunk_values_set(world, t->component[k][4], kind + 1);
    return made;
}

static void chunk_check(const weft__chunk *a, const weft__chunk *b)
{
    CHECK((a == NULL) == (b == NULL));
    if (a == NULL) return;
    CHECK_U64(a->serial, b->serial);
    CHECK_U64(a->archetype->id, b->archetype->id);
    CHECK_U64(a->layout->size_class, b->layout->size_class);
    CHECK_U64(a->count, b->count);
    CHECK_U64(a->order_version, b->order_version);
    CHECK_U64(a->side_bytes, b->side_bytes);
    if (a->side_bytes != 0)
        CHECK(memcmp(weft__chunk_side(a), weft__chunk_side(b), a->side_bytes) == 0);
}

/* The same ids, serials, versions, bits, chunk values and rows. */
static void twins_check(const twins *t)
{
    weft_world *a = t->world[0], *b = t->world[1];
    uint32_t end = a->chunks.end > b->chunks.end ? a->chunks.end : b->chunks.end;
    for (uint32_t id = 1; id < end; id++)
        chunk_check(id < a->chunks.end ? a->chunks.at[id] : NULL,
                    id < b->chunks.end ? b->chunks.at[id] : NULL);
    CHECK_U64(weft_world_hash(a, WEFT_HASH_LAYOUT), weft_world_hash(b, WEFT_HASH_LAYOUT));
    if (weft_world_validate(a) != WEFT_OK) test_fail(__FILE__, __LINE__, weft_world_error(a)->text);
    CHECK(a->spares.count <= WEFT__SPARES);
    CHECK(a->lent.berths <= WEFT__SPARES);
}

static void twins_snapshot(twins *t, bool restores)
{
    for (int k = 0; k < 2; k++) {
        if (restores && t->snapshot[k] != NULL)
            CHECK_OK(weft_snapshot_restore(t->world[k], t->snapshot[k]));
        if (restores) continue;
        weft_snapshot_destroy(t->snapshot[k]);
        CHECK_OK(weft_snapshot_take(t->world[k], NULL, &t->snapshot[k]));
    }
}

/* What a chunk is left with by a restore, which drops it with its rows, or by a transfer must not
 * be found in new rows. */
Test(spare_chunk, a_new_row_has_no_value_and_no_version_of_before)
{
    for (int way = 0; way < 3; way++) {
        storage_fixture f = storage_open(), g = storage_open();
        weft_archetype moving = storage_moving(&f);
        weft_snapshot *snapshot;
        CHECK_OK(weft_entity_destroy(f.world, weft_entity_create(f.world, moving)));
        CHECK_OK(weft_snapshot_take(f.world, NULL, &snapshot));
        uint32_t versions[2];
        for (int life = 0; life < 2; life++) {
            weft_entity e = weft_entity_create(f.world, moving);
            const vector3 *p = weft_entity_read(f.world, e, f.position);
            CHECK(p->x == 0 && p->y == 0 && p->z == 0);
            versions[life] = weft_entity_change_version(f.world, e, f.position);
            if (way != 2) weft_world_advance_change_version(f.world);
            CHECK_OK(WEFT_SET(f.world, e, f.position, vector3, {1, 2, 3}));
            if (way == 1) CHECK_OK(weft_entity_destroy(f.world, e));
            if (way == 2)
                CHECK_OK(weft_world_transfer(g.world, f.world, NULL, NULL, 0));
            else
                CHECK_OK(weft_snapshot_restore(f.world, snapshot));
        }
        CHECK(way == 2 || versions[1] == versions[0]);
        weft_snapshot_destroy(snapshot);
        storage_close(&f);
        storage_close(&g);
    }
}

Test(spare_chunk, nothing_but_memory_depends_on_them)
{
    static twins t;
    t.random = test_random_init(20);
    for (int k = 0; k < 2; k++) twin_open(&t, k);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t what = (uint32_t)test_random_below(&t.random, 9);
        uint32_t kind = (uint32_t)test_random_below(&t.random, KINDS);
        uint32_t slot = (uint32_t)test_random_below(&t.random, LIVE);
        uint32_t later = (uint32_t)test_random_below(&t.random, 3) / 2;
        weft_entity made[2];
        for (int k = 0; k < 2; k++) {
            t.world[k]->front.version += later;
            made[k] = twin_change(&t, k, what, kind, slot);
            if (k == 1) weft__chunk_spares_free(t.world[k]);
        }
        CHECK(weft_entity_equal(made[0], made[1]));
        t.live[slot] = made[0];
        if (what == 8 && kind < 4) twins_snapshot(&t, kind != 0);
        twins_check(&t);
    }
    for (int k = 0; k < 2; k++) {
        weft_snapshot_destroy(t.snapshot[k]);
        CHECK_OK(weft_world_destroy(t.world[k]));
    }
}
