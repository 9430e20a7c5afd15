/* SPDX-License-Identifier: MIT */
/* test_chunk_grow.c: a small population stays in one chunk, which grows in place, with values of
 * every kind, versions, enable bits, finders and snapshots; without memory it gets a neighbour. */
#include "archetype.h"
#include "archetype_state.h"
#include "chunk.h"
#include "format.h"
#include "memory_fault.h"
#include "storage_fixture.h"
#include "world_state.h"

#include <criterion/criterion.h>
#include <string.h>
#include <weft/buffers.h>
#include <weft/finder.h>
#include <weft/snapshot.h>

enum { ROWS = 300 };

/* One archetype with values of every kind. */
typedef struct bed {
    storage_fixture f;
    weft_component wide, list, team, common, hooked, flag;
    weft_archetype archetype;
    weft_entity entities[ROWS];
    uint32_t count;
    uint32_t constructed, destructed;
} bed;

typedef struct wide_value {
    _Alignas(64) uint32_t number;
    char rest[60];
} wide_value;

static void hooked_construct(void *values, uint32_t count, void *user)
{
    memset(values, 7, 4 * (size_t)count);
    ((bed *)user)->constructed += count;
}

static void hooked_destruct(void *values, uint32_t count, void *user)
{
    (void)values;
    ((bed *)user)->destructed += count;
}

static void hooked_copy(void *to, const void *from, uint32_t count, void *user)
{
    memcpy(to, from, 4 * (size_t)count);
    ((bed *)user)->constructed += count;
}

static void bed_open_with(bed *b, const weft_world_desc *desc)
{
    memset(b, 0, sizeof *b);
    b->f = storage_open_with(desc);
    weft_world *world = b->f.world;
    b->wide = weft_component_create_plain(world, "wide", sizeof(wide_value), 64, 0);
    b->team = weft_component_create_plain(world, "team", 4, 4, WEFT_SHARED);
    b->common = weft_component_create_plain(world, "common", 4, 4, WEFT_CHUNK);
    b->flag = weft_component_create_plain(world, "flag", 4, 4, WEFT_ENABLEABLE);
    b->list = weft_component_create(
        world, &(weft_component_desc){
                   .name = "list", .size = 4, .flags = WEFT_BUFFER, .buffer_capacity = 2});
    b->hooked =
        weft_component_create(world, &(weft_component_desc){.name = "hooked",
                                                            .size = 4,
                                                            .hooks = {.construct = hooked_construct,
                                                                      .destruct = hooked_destruct,
                                                                      .copy = hooked_copy,
                                                                      .user = b}});
    b->archetype = WEFT_ARCHETYPE(world, b->f.position, b->f.tag, b->wide, b->team, b->common,
                                  b->flag, b->list, b->hooked);
    CHECK(b->archetype.id != 0);
}

static void bed_open(bed *b)
{
    bed_open_with(b, &(weft_world_desc){0});
}

/* The n-th entity, with values that say so. */
static weft_result bed_add(bed *b)
{
    weft_world *world = b->f.world;
    uint32_t n = b->count;
    weft_entity e = weft_entity_create(world, b->archetype);
    if (e.version == 0) return weft_world_error(world)->code;
    b->entities[b->count++] = e;
    CHECK_OK(WEFT_SET(world, e, b->f.position, vector3, {(float)n, 1, 2}));
    CHECK_OK(WEFT_SET(world, e, b->wide, wide_value, {.number = n}));
    CHECK_OK(weft_entity_enable(world, e, b->flag, n % 3 != 0));
    return WEFT_OK;
}

static void list_fill(bed *b, uint32_t n)
{
    weft_buffers list = weft_entity_write_buffer(b->f.world, b->entities[n], b->list);
    for (uint32_t i = 0; i < n % 5; i++) CHECK_OK(weft_buffers_append(&list, 0, &n, 1));
}

static void bed_check(bed *b)
{
    weft_world *world = b->f.world;
    if (weft_world_validate(world) != WEFT_OK)
        test_fail(__FILE__, __LINE__, weft_world_error(world)->text);
    for (uint32_t n = 0; n < b->count; n++) {
        weft_entity e = b->entities[n];
        const vector3 *position = weft_entity_read(world, e, b->f.position);
        CHECK(position->x == (float)n && position->y == 1 && position->z == 2);
        const wide_value *wide = weft_entity_read(world, e, b->wide);
        CHECK_U64(wide->number, n);
        CHECK_U64((uintptr_t)wide % 64, 0);
        CHECK(weft_entity_is_enabled(world, e, b->flag) == (n % 3 != 0));
        CHECK_U64(*(const uint32_t *)weft_entity_read(world, e, b->hooked), 0x07070707);
        weft_buffers list = weft_entity_read_buffer(world, e, b->list);
        uint32_t length = weft_buffers_length(&list, 0);
        CHECK(length == 0 || length == n % 5);
        const weft_buffer *buffer = weft_entity_read(world, e, b->list);
        const uint32_t *items = weft_buffer_read(buffer);
        for (uint32_t i = 0; i < length; i++) CHECK_U64(items[i], n);
    }
}

static void bed_close(bed *b)
{
    storage_close(&b->f);
    CHECK_U64(b->destructed, b->constructed);
}

static weft__archetype *archetype_of(const weft_world *world, weft_archetype handle)
{
    return world->archetypes.by_id[handle.id - 1];
}

static weft__chunk *chunk_of(const bed *b)
{
    return archetype_of(b->f.world, b->archetype)->chunks[0];
}

Test(chunk_grow, one_chunk_grows_to_a_unit_with_values_of_every_kind)
{
    static bed b;
    bed_open(&b);
    uint32_t sizes = 0, capacity = 0;
    for (uint32_t n = 0; n < ROWS; n++) {
        CHECK_OK(bed_add(&b));
        const weft__chunk *chunk = chunk_of(&b);
        if (n == 0) *(uint32_t *)(void *)chunk->chunk_values = 99;
        CHECK_U64(*(uint32_t *)(void *)chunk->chunk_values, 99);
        bool is_other = chunk->capacity != capacity;
        capacity = chunk->capacity;
        sizes += is_other;
        if (archetype_of(b.f.world, b.archetype)->chunk_count == 1)
            CHECK(n < capacity);
        else
            CHECK_U64(chunk->layout->size_class, WEFT__UNIT_CLASS);
        if (is_other) bed_check(&b);
        list_fill(&b, n);
    }
    bed_check(&b);
    CHECK(sizes >= 3);
    CHECK(archetype_of(b.f.world, b.archetype)->chunk_count > 1);
    bed_close(&b);
}

Test(chunk_grow, many_rows_at_once_fill_it_first)
{
    storage_fixture f = storage_open();
    weft_archetype moving = storage_moving(&f);
    const weft__archetype *archetype = archetype_of(f.world, moving);
    weft_entity first = weft_entity_create(f.world, moving);
    CHECK_OK(WEFT_SET(f.world, first, f.position, vector3, {1, 2, 3}));
    CHECK_OK(weft_entity_create_many(f.world, moving, archetype->chunks[0]->capacity - 1, NULL));
    CHECK_OK(weft_entity_create_many(f.world, moving, 300, NULL));
    CHECK_U64(archetype->chunk_count, 1);
    CHECK_OK(weft_entity_create_many(f.world, moving, 10000, NULL));
    CHECK_U64(archetype->chunks[0]->layout->size_class, WEFT__UNIT_CLASS);
    CHECK_U64(archetype->entity_count,
              10000 + 300 + weft__format_capacity(archetype->format, WEFT__PART_256));
    const vector3 *p = weft_entity_read(f.world, first, f.position);
    CHECK(p->x == 1 && p->y == 2 && p->z == 3);
    storage_close(&f);
}

/* Two types have two slices in a unit; their versions are in the chunk before and after. */
Test(chunk_grow, versions_within_the_chunk_find_their_slices)
{
    storage_fixture f = storage_open();
    weft_component small[2] = {weft_component_create_plain(f.world, "a", 152, 8, 0),
                               weft_component_create_plain(f.world, "b", 0, 1, 0)};
    weft_archetype both = weft_archetype_create(f.world, small, 2);
    const weft__archetype *archetype = archetype_of(f.world, both);
    weft_entity_create(f.world, both);
    weft__chunk *chunk = archetype->chunks[0];
    while (chunk->has_room) weft_entity_create(f.world, both);
    for (uint32_t type = 0; type < 2; type++)
        at_init(&weft__chunk_versions(chunk, type)[0], 70 + type);
    CHECK_POINTER(weft__chunk_grow(f.world, chunk->tuple, 60, NULL, 0), chunk);
    CHECK_U64(chunk->layout->slice_count, 2);
    CHECK_POINTER(weft__chunk_side(chunk), chunk->own_side);
    for (uint32_t type = 0; type < 2; type++) {
        CHECK_U64(at_plain(&weft__chunk_versions(chunk, type)[0]), 70 + type);
        CHECK_U64(at_plain(&weft__chunk_versions(chunk, type)[1]), 0);
    }
    CHECK_OK(weft_world_validate(f.world));
    storage_close(&f);
}

Test(chunk_grow, finders_lead_to_the_new_memory)
{
    static bed b;
    bed_open(&b);
    CHECK_OK(bed_add(&b));
    weft_finder position = weft_finder_open(b.f.world, b.f.position);
    weft_finder wide = weft_finder_open(b.f.world, b.wide);
    for (uint32_t n = 1; n < ROWS; n++) {
        CHECK_OK(bed_add(&b));
        const vector3 *p = weft_finder_read(&position, b.entities[n / 2]);
        const wide_value *w = weft_finder_read(&wide, b.entities[n / 2]);
        CHECK(p != NULL && p->x == (float)(n / 2));
        CHECK(w != NULL && w->number == n / 2);
        CHECK_POINTER(p, weft_entity_read(b.f.world, b.entities[n / 2], b.f.position));
    }
    bed_close(&b);
}

/* Entities of an archetype until its only chunk is full. */
static weft_entity fill_chunk(const storage_fixture *f, weft_archetype archetype)
{
    weft_entity first = weft_entity_create(f->world, archetype);
    const weft__chunk *chunk = archetype_of(f->world, archetype)->chunks[0];
    while (chunk->has_room) CHECK(weft_entity_create(f->world, archetype).version != 0);
    return first;
}

Test(chunk_grow, values_keep_their_versions)
{
    storage_fixture f = storage_open();
    weft_archetype both = WEFT_ARCHETYPE(f.world, f.position, f.health);
    weft_entity mover = weft_entity_create(f.world, WEFT_ARCHETYPE(f.world, f.position));
    weft_entity first = fill_chunk(&f, both);
    uint32_t written = f.world->front.version += 5;
    CHECK(weft_entity_write(f.world, first, f.position) != NULL);
    f.world->front.version++;
    uint64_t serial = archetype_of(f.world, both)->chunks[0]->serial;
    CHECK_OK(weft_entity_add(f.world, mover, f.health));
    CHECK_U64(archetype_of(f.world, both)->chunk_count, 1);
    CHECK(archetype_of(f.world, both)->chunks[0]->serial != serial);
    CHECK_U64(weft_entity_change_version(f.world, first, f.position), written);
    CHECK_U64(weft_entity_change_version(f.world, first, f.health), written + 1);
    storage_close(&f);
}

/* Two reservations for one change: the second lets the chunk grow above rows that the first one has
 * reserved and that are not written yet. */
Test(chunk_grow, reserved_rows_that_held_other_values_are_zeroed)
{
    enum { OTHERS = 5000, LEFT = 5 };
    static weft_entity others[OTHERS], rows[1000], moved[2 * LEFT];
    storage_fixture f = storage_open();
    weft_archetype both = WEFT_ARCHETYPE(f.world, f.position, f.health);
    CHECK_OK(weft_entity_create_many(f.world, WEFT_ARCHETYPE(f.world, f.position), OTHERS, others));
    rows[0] = weft_entity_create(f.world, both);
    weft__chunk *chunk = archetype_of(f.world, both)->chunks[0];
    uint32_t capacity = chunk->capacity;
    CHECK_OK(weft_entity_create_many(f.world, both, capacity - 1, rows + 1));
    uint32_t garbage = 0xffffffff;
    for (uint32_t i = 0; i < capacity; i++)
        CHECK_OK(weft_entity_set(f.world, rows[i], f.health, &garbage, sizeof garbage));
    CHECK_OK(weft_entity_destroy_many(f.world, rows + capacity - LEFT, LEFT));
    for (uint32_t i = 0; i < LEFT; i++) moved[i] = others[i], moved[LEFT + i] = others[4000 + i];
    weft_change_desc change = {.add = &f.health, .add_count = 1};
    CHECK_OK(weft_entity_change_many(f.world, moved, 2 * LEFT, &change));
    CHECK(chunk->capacity > capacity);
    for (uint32_t i = 0; i < 2 * LEFT; i++)
        CHECK_U64(*(const uint32_t *)weft_entity_read(f.world, moved[i], f.health), 0);
    storage_close(&f);
}

static uint64_t layout_hash(const bed *b)
{
    return weft_world_hash(b->f.world, WEFT_HASH_LAYOUT);
}

static void grow_once(bed *b)
{
    uint32_t capacity = chunk_of(b)->capacity;
    while (chunk_of(b)->capacity == capacity) CHECK_OK(bed_add(b));
}

Test(chunk_grow, snapshots_from_before_and_after_are_restored)
{
    static bed b;
    weft_snapshot *small, *larger, *again;
    bed_open(&b);
    for (uint32_t n = 0; n < 3; n++) CHECK_OK(bed_add(&b));
    CHECK_OK(weft_snapshot_take(b.f.world, NULL, &small));
    uint64_t small_hash = layout_hash(&b);
    grow_once(&b);
    CHECK_OK(weft_snapshot_take(b.f.world, small, &larger));
    uint64_t larger_hash = layout_hash(&b);
    uint32_t larger_count = b.count;
    grow_once(&b);
    CHECK_OK(weft_snapshot_take(b.f.world, larger, &again));
    uint64_t again_hash = layout_hash(&b);
    uint32_t again_count = b.count;
    for (uint32_t round = 0; round < 2; round++) {
        CHECK_OK(weft_snapshot_restore(b.f.world, small));
        b.count = 3;
        bed_check(&b);
        CHECK_U64(layout_hash(&b), small_hash);
        grow_once(&b); /* to what `larger` has, with the same calls */
        CHECK_U64(layout_hash(&b), larger_hash);
        CHECK_OK(weft_snapshot_restore(b.f.world, again));
        b.count = again_count;
        bed_check(&b);
        CHECK_U64(layout_hash(&b), again_hash);
        CHECK_OK(weft_snapshot_restore(b.f.world, larger));
        b.count = larger_count;
        bed_check(&b);
        CHECK_U64(layout_hash(&b), larger_hash);
        grow_once(&b);
        CHECK_U64(layout_hash(&b), again_hash);
    }
    weft_snapshot_destroy(small);
    weft_snapshot_destroy(larger);
    weft_snapshot_destroy(again);
    bed_close(&b);
}

/* A full chunk and one row more, with the k-th allocation from there on refused, alone or with all
 * that follow. False: all were granted. */
static bool grow_without(uint64_t k, bool fails_forever, uint32_t sizes)
{
    static bed b;
    test_memory memory;
    test_memory_init(&memory);
    bed_open_with(&b, &(weft_world_desc){.allocator = test_memory_hook(&memory)});
    CHECK_OK(bed_add(&b));
    for (uint32_t n = 0; n < sizes; n++) grow_once(&b);
    while (chunk_of(&b)->has_room) CHECK_OK(bed_add(&b));
    for (uint32_t n = 0; n < b.count; n++) list_fill(&b, n);
    uint32_t count = b.count;
    test_memory_fail(&memory, k, fails_forever);
    weft_result result = bed_add(&b);
    bool is_refused = memory.failures != 0;
    test_memory_fail(&memory, 0, false);
    CHECK(result == WEFT_OK || (result == WEFT_OUT_OF_MEMORY && is_refused));
    CHECK_U64(b.count, count + (result == WEFT_OK));
    bed_check(&b);
    for (uint32_t n = 0; n < 20; n++) CHECK_OK(bed_add(&b));
    bed_check(&b);
    bed_close(&b);
    test_memory_fini(&memory);
    return is_refused;
}

Test(chunk_grow, any_allocation_may_fail)
{
    for (uint32_t sizes = 0; sizes < 3; sizes++) {
        for (uint64_t k = 1; grow_without(k, false, sizes); k++) {
        }
        for (uint64_t k = 1; grow_without(k, true, sizes); k++) {
        }
    }
}

Test(chunk_grow, each_shared_value_has_one_chunk)
{
    enum { TEAMS = 3, MEMBERS = 100 };
    static bed b;
    static weft_entity members[TEAMS][MEMBERS];
    bed_open(&b);
    weft_archetype archetype = WEFT_ARCHETYPE(b.f.world, b.f.position, b.team);
    for (uint32_t n = 0; n < MEMBERS; n++) {
        for (uint32_t team = 0; team < TEAMS; team++) {
            uint32_t value = team + 1;
            members[team][n] = weft_entity_create(b.f.world, archetype);
            CHECK_OK(weft_entity_set_shared(b.f.world, members[team][n], b.team, &value));
            CHECK_OK(WEFT_SET(b.f.world, members[team][n], b.f.position, vector3, {(float)n}));
        }
    }
    CHECK_U64(archetype_of(b.f.world, archetype)->chunk_count, TEAMS);
    /* all of team 2 join team 1: one chunk of team 1 grows */
    uint32_t value = 1;
    CHECK_OK(weft_entity_set_shared_many(b.f.world, members[1], MEMBERS, b.team, &value));
    CHECK_OK(weft_world_validate(b.f.world));
    for (uint32_t team = 0; team < TEAMS; team++)
        for (uint32_t n = 0; n < MEMBERS; n++) {
            const vector3 *p = weft_entity_read(b.f.world, members[team][n], b.f.position);
            CHECK(p != NULL && p->x == (float)n);
        }
    bed_close(&b);
}

/* What is known of a tuple's only chunk is found again when it was lost. */
Test(chunk_grow, the_chunk_that_is_left_grows)
{
    storage_fixture f = storage_open();
    static weft_entity rows[3000];
    weft_component team = weft_component_create_plain(f.world, "team", 4, 4, WEFT_SHARED);
    weft_archetype archetype = WEFT_ARCHETYPE(f.world, f.position, team);
    const weft__archetype *a = archetype_of(f.world, archetype);
    CHECK_OK(weft_entity_create_many(f.world, archetype, 10, rows));
    uint32_t value = 5; /* whole chunks change their value, the younger one comes back */
    CHECK_OK(weft_entity_set_shared_many(f.world, rows, 10, team, &value));
    CHECK_OK(weft_entity_create_many(f.world, archetype, 20, rows + 10));
    CHECK_OK(weft_entity_set_shared_many(f.world, rows + 10, 20, team, &value));
    CHECK_OK(weft_entity_destroy_many(f.world, rows + 10, 20));
    weft__tuple *tuple = a->chunks[0]->tuple;
    tuple->some = NULL;
    uint32_t chunks = tuple->chunk_count;
    for (uint32_t i = 0; i < 200; i++) {
        rows[10 + i] = weft_entity_create(f.world, archetype);
        CHECK_OK(weft_entity_set_shared(f.world, rows[10 + i], team, &value));
    }
    CHECK_U64(tuple->chunk_count, chunks);
    CHECK_OK(weft_world_validate(f.world));
    storage_close(&f);
}

Test(chunk_grow, chunks_with_a_row_limit_do_not_grow)
{
    storage_fixture f = storage_open();
    weft_component few = weft_component_create(
        f.world, &(weft_component_desc){.name = "few", .size = 4, .chunk_row_limit = 8});
    weft_archetype archetype = WEFT_ARCHETYPE(f.world, few);
    for (uint32_t i = 0; i < 20; i++) CHECK(weft_entity_create(f.world, archetype).version != 0);
    CHECK_U64(archetype_of(f.world, archetype)->chunk_count, 3);
    storage_close(&f);
}

/* 16 KiB of handles are more rows than one berth has locations for. */
Test(chunk_grow, rows_that_need_more_locations_get_a_neighbour)
{
    storage_fixture f = storage_open();
    weft_archetype archetype = WEFT_ARCHETYPE(f.world, f.tag);
    for (uint32_t i = 0; i < 3000; i++) CHECK(weft_entity_create(f.world, archetype).version != 0);
    const weft__archetype *a = archetype_of(f.world, archetype);
    CHECK_U64(a->chunks[0]->layout->size_class, WEFT__PART_4K);
    CHECK(a->chunk_count > 1);
    storage_close(&f);
}

Test(chunk_grow, the_smallest_chunks_hold_a_few_rows_of_many_columns)
{
    enum { COLUMNS = 7 };
    storage_fixture f = storage_open();
    weft_component columns[COLUMNS];
    for (uint32_t i = 0; i < COLUMNS; i++)
        columns[i] =
            weft_component_create_plain(f.world, (char[]){'c', (char)('0' + i), 0}, 4, 4, 0);
    weft_archetype archetype = weft_archetype_create(f.world, columns, COLUMNS);
    weft_entity e = weft_entity_create(f.world, archetype);
    for (uint32_t i = 0; i < COLUMNS; i++)
        CHECK_OK(weft_entity_set(f.world, e, columns[i], &i, sizeof i));
    weft_archetype_stats stats;
    CHECK_OK(weft_archetype_stats_get(f.world, archetype, &stats, sizeof stats));
    CHECK_U64(stats.bytes, 256);
    CHECK_U64(stats.capacity, 4); /* four handles, and seven times sixteen bytes */
    for (uint32_t i = 0; i < COLUMNS; i++)
        CHECK_U64(*(const uint32_t *)weft_entity_read(f.world, e, columns[i]), i);
    storage_close(&f);
}
