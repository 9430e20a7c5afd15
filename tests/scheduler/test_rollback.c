/* SPDX-License-Identifier: MIT */
/* test_rollback.c: random worlds go back in time, again and again, and go on from files: whatever
 * happened between, the same operations lead to the same layout and content.
 *
 * Every world runs with one of three allocators (memory_reuse.h), so that a thing that is known by
 * its address, which comes back, is found out. WEFT_TEST_SEED repeats one world,
 * WEFT_TEST_ROLLBACKS=n runs n worlds per test. */
#include "invariant.h"
#include "rollback_operations.h"

#include <weft/snapshot.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || WEFT_IS_CHECKED
enum { WORLDS = 60 };
#else
enum { WORLDS = 1200 };
#endif

enum { MOMENTS = 4, RESTORES = 7 };

static bed one, two; /* large, one at a time */
static bed_state states[MOMENTS];

/* How many worlds, and the first seed. */
static uint64_t worlds_of(uint64_t *seed)
{
    const char *text = getenv("WEFT_TEST_SEED"), *count = getenv("WEFT_TEST_ROLLBACKS");
    if (text != NULL) {
        *seed = strtoull(text, NULL, 0);
        return 1;
    }
    return count != NULL ? strtoull(count, NULL, 0) : WORLDS;
}

/* Chunks of four rows that go and come between: with an allocator that gives the block freed last
 * again, chunks that are made again have the addresses of chunks that are looked for. */
PLAIN_TEST(chunks_are_not_taken_for_others_that_had_their_address)
{
    enum { ROWS = 200 };
    for (int reuse = 0; reuse < TEST_REUSE_COUNT; reuse++) {
        weft_entity e[ROWS];
        weft_world *world;
        weft_snapshot *snapshot;
        test_reuse_memory *memory = test_reuse_begin((test_reuse)reuse);
        CHECK_OK(weft_world_create(
            &(weft_world_desc){.workers = 1, .allocator = test_reuse_hook(memory)}, &world));
        weft_component small = weft_component_create(
            world, &(weft_component_desc){.name = "small", .size = 4, .chunk_row_limit = 4});
        CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, small), ROWS, e));
        for (uint32_t i = 0; i < ROWS; i++) CHECK_OK(weft_entity_set(world, e[i], small, &i, 4));
        uint64_t before = weft_world_hash(world, WEFT_HASH_LAYOUT);
        CHECK_OK(weft_snapshot_take(world, NULL, &snapshot));
        for (uint32_t round = 0; round < 3; round++) {
            CHECK_OK(weft_entity_destroy_many(world, e + 20 * round, 100));
            CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, small), 30, NULL));
            CHECK_OK(weft_snapshot_restore(world, snapshot));
            CHECK_OK(weft_world_validate(world));
            CHECK_U64(weft_world_hash(world, WEFT_HASH_LAYOUT), before);
        }
        weft_snapshot_destroy(snapshot);
        CHECK_OK(weft_world_destroy(world));
        test_reuse_end(memory);
    }
}

enum { LETTERS = 4, ROWS_EACH = 120 }; /* half of them are enough for a fold */

/* Each gets `a`, and then `b` unless that is none. */
static void letters_play(weft_recorder *commands, const weft_entity *e, uint32_t count,
                         weft_component a, weft_component b)
{
    for (uint32_t i = 0; i < count; i++) {
        weft_recorder_add(commands, e[i], a);
        if (b.id != 0) weft_recorder_add(commands, e[i], b);
    }
}

/* The first playback makes the way from a row to one with `a` known, the restore makes it unknown:
 * archetypes that another playback makes come in the same order. */
PLAIN_TEST(archetypes_come_in_the_order_of_commands_whatever_a_playback_knew)
{
    weft_entity e[2 * ROWS_EACH];
    weft_component c[LETTERS];
    weft_world *world;
    weft_recorder *commands;
    weft_snapshot *snapshot;
    uint64_t hashes[2];
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    static const char *const names[LETTERS] = {"home", "a", "b", "other"};
    for (uint32_t i = 0; i < LETTERS; i++)
        c[i] = weft_component_create_plain(world, names[i], 4, 4, 0);
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, c[0]), ROWS_EACH, e));
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, c[0], c[3]), ROWS_EACH,
                                     e + ROWS_EACH));
    CHECK_OK(weft_recorder_create(world, &commands));
    letters_play(commands, e, ROWS_EACH / 2, c[1], (weft_component){0});
    CHECK_OK(weft_recorder_play(commands));
    CHECK_OK(weft_snapshot_take(world, NULL, &snapshot));
    for (uint32_t run = 0; run < 2; run++) {
        letters_play(commands, e + ROWS_EACH / 2, ROWS_EACH / 2, c[1], c[2]);
        letters_play(commands, e + ROWS_EACH, ROWS_EACH, c[2], (weft_component){0});
        CHECK_OK(weft_recorder_play(commands));
        hashes[run] = weft_world_hash(world, WEFT_HASH_LAYOUT);
        CHECK_OK(weft_snapshot_restore(world, snapshot));
    }
    CHECK_U64(hashes[1], hashes[0]);
    weft_snapshot_destroy(snapshot);
    weft_recorder_destroy(commands);
    CHECK_OK(weft_world_destroy(world));
}

/* ---- random worlds ---- */

/* Moments of one world: snapshot i, the state then, and what the operations until i + 1 lead to. */
typedef struct moments {
    weft_snapshot *snapshots[MOMENTS];
    uint64_t hashes[MOMENTS + 1];
    uint64_t digests[MOMENTS + 1];
    uint32_t operations[MOMENTS];
} moments;

static void moments_make(moments *m, bool is_chain)
{
    for (uint32_t i = 0; i < MOMENTS; i++) {
        CHECK_OK(weft_snapshot_take(one.world, is_chain && i != 0 ? m->snapshots[i - 1] : NULL,
                                    &m->snapshots[i]));
        m->hashes[i] = bed_hash(&one);
        m->operations[i] = 1 + below(&one, 10);
        states[i] = one.state;
        m->digests[i] = one.state.digest;
        operate(&one, m->operations[i]);
    }
    m->hashes[MOMENTS] = bed_hash(&one);
    m->digests[MOMENTS] = one.state.digest;
}

/* The operations after moment i once more: the same moments come. Sometimes they are snapshots of
 * this time then. */
static void moments_replay(moments *m, uint32_t i, test_random *random)
{
    CHECK_OK(weft_snapshot_restore(one.world, m->snapshots[i]));
    one.state = states[i];
    CHECK_U64(bed_hash(&one), m->hashes[i]);
    for (uint32_t last = i + (uint32_t)test_random_below(random, MOMENTS - i); i <= last; i++) {
        uint64_t roll = test_random_below(random, 4);
        if (roll == 0) {
            weft_snapshot *fresh;
            CHECK_OK(weft_snapshot_take(one.world, m->snapshots[i], &fresh));
            weft_snapshot_destroy(m->snapshots[i]);
            m->snapshots[i] = fresh;
        }
        one.state = states[i];
        operate(&one, m->operations[i]);
        CHECK_U64(bed_hash(&one), m->hashes[i + 1]);
        CHECK_U64(one.state.digest, m->digests[i + 1]);
        if (i + 1 < MOMENTS) /* operations are drawn in between */
            one.state = states[i + 1];
    }
}

static void rollback_world(uint64_t seed, weft_job_pool *pool)
{
    moments m;
    test_random random = test_random_init(seed), other = test_random_fork(&random, 1);
    bed_begin(&one, (test_reuse)(seed % TEST_REUSE_COUNT), seed / 3 % 4 == 0 ? pool : NULL, &random,
              seed % 2 == 0);
    operate(&one, 5 + below(&one, 25));
    moments_make(&m, seed / 2 % 3 != 0);
    for (uint32_t i = 0; i < RESTORES; i++) {
        if (test_random_below(&other, 3) == 0) { /* another future, with entities of this one */
            one.state.random = test_random_fork(&random, 2 + i);
            operate(&one, 1 + below(&one, 8));
        }
        moments_replay(&m, (uint32_t)test_random_below(&other, MOMENTS), &other);
    }
    for (uint32_t i = 0; i < MOMENTS; i++) weft_snapshot_destroy(m.snapshots[(i + seed) % MOMENTS]);
    CHECK_OK(weft_world_validate(one.world));
    bed_end(&one);
}

PLAIN_TEST(the_same_operations_after_a_restore_lead_to_the_same_world)
{
    uint64_t seed = UINT64_C(0xA0000), count = worlds_of(&seed);
    weft_job_pool *pool;
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = 2}, &pool));
    for (uint64_t i = 0; i < count; i++) rollback_world(seed + i, pool);
    weft_job_pool_destroy(pool);
}

/* ---- two worlds ---- */

/* A world goes another way, once or twice, and back; then as `two`, which never did. */
static void detour(uint64_t seed, const test_random *random)
{
    weft_snapshot *snapshot, *later = NULL;
    test_random other = test_random_fork(random, 1);
    operate(&one, (uint32_t)(seed % 20));
    CHECK_OK(weft_snapshot_take(one.world, NULL, &snapshot));
    operate(&two, (uint32_t)(seed % 20));
    weft_world_advance_change_version(two.world); /* taking one does */
    states[0] = one.state;
    for (uint64_t i = 0, detours = 1 + test_random_below(&other, 2); i < detours; i++) {
        one.state.random = test_random_fork(&other, i);
        operate(&one, 1 + below(&one, 15));
        if (i == 0) CHECK_OK(weft_snapshot_take(one.world, snapshot, &later));
        CHECK_OK(weft_snapshot_restore(one.world, snapshot));
        one.state = states[0];
    }
    if (seed % 4 == 0) weft_snapshot_destroy(snapshot);
    for (uint32_t i = 0; i < 5; i++) {
        CHECK_U64(bed_hash(&one), bed_hash(&two));
        operate(&one, 3);
        operate(&two, 3);
        CHECK_U64(one.state.digest, two.state.digest);
    }
    CHECK_U64(bed_hash(&one), bed_hash(&two));
    if (seed % 4 != 0) weft_snapshot_destroy(snapshot);
    weft_snapshot_destroy(later);
}

static void detour_world(uint64_t seed)
{
    test_random random = test_random_init(seed);
    bed_begin(&one, (test_reuse)(seed % TEST_REUSE_COUNT), NULL, &random, seed % 2 == 0);
    bed_begin(&two, (test_reuse)(seed / 3 % TEST_REUSE_COUNT), NULL, &random, seed % 2 == 0);
    detour(seed, &random);
    bed_end(&one);
    bed_end(&two);
}

PLAIN_TEST(a_way_that_was_taken_back_leaves_no_trace)
{
    uint64_t seed = UINT64_C(0xD0000), count = worlds_of(&seed);
    for (uint64_t i = 0; i < count; i++) detour_world(seed + i);
}

/* Rows of an archetype that was made in a future that was taken back, in all ways that name it. */
static void handle_use(weft_world *world, weft_archetype handle, weft_component a, uint32_t way)
{
    weft_recorder *commands;
    weft_slice rows;
    weft_entity entity = weft_entity_create(world, weft_archetype_create(world, &a, 1));
    CHECK_OK(weft_recorder_create(world, &commands));
    if (way == 0) CHECK(weft_entity_create(world, handle).version != 0);
    if (way == 1) CHECK_OK(weft_entity_set_archetype(world, entity, handle));
    if (way == 2) weft_recorder_create_entity(commands, handle);
    if (way == 3) CHECK_OK(weft_recorder_create_rows(commands, handle, 1, &rows));
    if (way == 4) CHECK_OK(weft_recorder_create_rows_unordered(commands, handle, 1, &rows));
    CHECK_OK(weft_recorder_play(commands));
    weft_recorder_destroy(commands);
}

PLAIN_TEST(an_archetype_of_a_future_that_was_taken_back_can_be_used)
{
    for (uint32_t way = 0; way < 5; way++) {
        weft_world *world;
        weft_snapshot *snapshot;
        weft_archetype out[4];
        CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
        weft_component a = weft_component_create_plain(world, "a", 4, 4, 0);
        weft_component b = weft_component_create_plain(world, "b", 4, 4, 0);
        weft_query query =
            weft_query_create(world, &(weft_query_desc){.terms = {{.component = b}}});
        CHECK_OK(weft_snapshot_take(world, NULL, &snapshot));
        weft_archetype handle = weft_archetype_create(world, &b, 1);
        CHECK(weft_entity_create(world, handle).version != 0);
        CHECK_OK(weft_snapshot_restore(world, snapshot));
        CHECK_OK(weft_world_validate(world));
        CHECK_U64(weft_query_archetypes(world, query, out, 4), 0);
        CHECK_U64(weft_archetype_components(world, handle, NULL, 0), 1);
        handle_use(world, handle, a, way);
        CHECK_OK(weft_world_validate(world));
        CHECK_U64(weft_query_count(world, query), 1);
        CHECK_U64(weft_query_archetypes(world, query, out, 4), 1);
        CHECK_U64(out[0].id, handle.id);
        CHECK_U64(weft_archetype_create(world, &b, 1).id, handle.id);
        CHECK_OK(weft_snapshot_restore(world, snapshot));
        CHECK_U64(weft_query_count(world, query), 0);
        weft_snapshot_destroy(snapshot);
        CHECK_OK(weft_world_destroy(world));
    }
}

static void file_world(uint64_t seed)
{
    test_random random = test_random_init(seed);
    bed_begin(&one, (test_reuse)(seed % TEST_REUSE_COUNT), NULL, &random, false);
    bed_begin(&two, (test_reuse)(seed / 3 % TEST_REUSE_COUNT), NULL, &random, false);
    operate(&one, 5 + below(&one, 40));
    if (seed % 2 == 0) /* archetypes in another order, with and without a place in the file */
        for (uint32_t i = 0; i < 12; i++) {
            weft_component set[KINDS];
            uint32_t kinds = pick_components(&two, set);
            CHECK(weft_archetype_create(two.world, set, kinds).id != 0);
        }
    weft_world_bytes bytes;
    CHECK_OK(weft_world_save_memory(one.world, &bytes, NULL));
    CHECK_OK(weft_world_load_memory(two.world, bytes.bytes, bytes.count, NULL));
    weft_world_bytes_free(one.world, &bytes);
    two.state = one.state;
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_U64(bed_hash(&two), bed_hash(&one));
        uint32_t operations = 1 + (uint32_t)(seed + i) % 8;
        operate(&one, operations);
        operate(&two, operations);
        CHECK_U64(two.state.digest, one.state.digest);
    }
    CHECK_U64(bed_hash(&two), bed_hash(&one));
    bed_end(&one);
    bed_end(&two);
}

PLAIN_TEST(a_world_from_a_file_goes_on_like_the_one_that_was_saved)
{
    uint64_t seed = UINT64_C(0xF0000), count = worlds_of(&seed);
    for (uint64_t i = 0; i < count; i++) file_world(seed + i);
}
