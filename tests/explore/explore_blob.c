/* SPDX-License-Identifier: MIT */
/* explore_blob.c: ecs/blob/src/blob_store.c under every schedule: references taken and given
 * while the last one goes, equal content found while it is being freed, slots used again under
 * stale handles. The memory of a block is poisoned by the explorer when it is released, so
 * reading a freed blob, or one without edge S2 or S3, is found. */
#include "blob_store.h"
#include "explore_plans.h"

typedef struct Value {
    uint64_t value;
} Value;

static const weft_blob_type value_type = WEFT_BLOB_TYPE_PLAIN(Value);

static weft_blob_store *store;
static weft_blob_ref shared, refs[3];

/* A block that holds one value; the store looks at its header only. */
static weft_blob_ref insert(uint64_t value)
{
    weft__blob_block block;
    weft_blob_ref ref = {0};
    const size_t bytes = sizeof(weft__blob_header) + sizeof value;
    if (weft__blob_block_create(store, bytes, &block) != WEFT_OK) return ref;
    weft__blob_header *header = block.memory;
    *header = (weft__blob_header){.content_hash = value, .type_hash = 1, .total_bytes = bytes};
    *(uint64_t *)(void *)(header + 1) = value;
    if (weft__blob_store_insert(store, &block, &value_type, &ref) != WEFT_OK) {
        weft__blob_block_destroy(store, &block);
    }
    return ref;
}

static void check_value(weft_blob_ref ref, uint64_t value)
{
    const Value *read = weft_blob_read(store, ref, &value_type);
    EXPLORE_CHECK(read != NULL, "a held blob is gone");
    EXPLORE_CHECK(read->value == value, "value %llu", (unsigned long long)read->value);
}

static void let_go(weft_blob_ref ref)
{
    EXPLORE_CHECK(weft_blob_release(store, ref) == WEFT_OK, "a held reference was not there");
}

static void start(void)
{
    const weft_blob_store_desc desc = {.allocator = *explore_allocator(),
                                       .os = explore_os(),
                                       .protection = WEFT_BLOB_PROTECT_NEVER};
    EXPLORE_CHECK(weft_blob_store_create(&desc, &store) == WEFT_OK, "create");
    shared = insert(7);
    for (int i = 0; i < 3; i++) refs[i].id = 0;
}

static void finish(void)
{
    weft_blob_store_stats stats;
    explore_join_all();
    explore_end();
    EXPLORE_CHECK(weft_blob_store_stats_get(store, &stats, sizeof stats) == WEFT_OK, "stats");
    EXPLORE_CHECK(stats.blob_count == 0, "%u blobs left", (unsigned)stats.blob_count);
    EXPLORE_CHECK(stats.block_bytes == 0, "%u bytes left", (unsigned)stats.block_bytes);
    EXPLORE_CHECK(weft_blob_read(store, shared, NULL) == NULL, "a stale handle resolves");
    weft_blob_store_destroy(store);
}

/* Succeeds only while a reference is held; then the value is there. */
static void try_shared(void *argument)
{
    (void)argument;
    if (weft_blob_acquire(store, shared) != WEFT_OK) return;
    check_value(shared, 7);
    let_go(shared);
}

static void acquire_against_last_release(void)
{
    start();
    explore_thread(try_shared, NULL);
    explore_thread(try_shared, NULL);
    explore_begin();
    let_go(shared);
    finish();
}

static void insert_equal(void *argument)
{
    (void)argument;
    weft_blob_ref ref = insert(7);
    check_value(ref, 7);
    let_go(ref);
}

static void equal_content_against_last_release(void)
{
    start();
    explore_thread(insert_equal, NULL);
    explore_thread(try_shared, NULL);
    explore_begin();
    let_go(shared);
    finish();
}

static void insert_and_hold(void *argument)
{
    weft_blob_ref *out = argument;
    *out = insert(9);
    check_value(*out, 9);
}

static void equal_content_twice(void)
{
    start();
    let_go(shared);
    explore_thread(insert_and_hold, &refs[0]);
    explore_thread(insert_and_hold, &refs[1]);
    explore_begin();
    insert_and_hold(&refs[2]);
    explore_join_all();
    EXPLORE_CHECK(refs[0].id == refs[1].id && refs[1].id == refs[2].id, "equal content twice");
    for (int i = 0; i < 3; i++) let_go(refs[i]);
    finish();
}

/* The slot of the stale handle is filled with something else meanwhile. */
static void slot_reuse(void)
{
    start();
    explore_thread(try_shared, NULL);
    explore_begin();
    let_go(shared);
    weft_blob_ref next = insert(8);
    check_value(next, 8);
    let_go(next);
    finish();
}

/* The handle of the first blob of a store is known in advance: readers that got it without any
 * synchronisation see either nothing or the whole blob. */
static weft_blob_ref first_of_store(void)
{
    return (weft_blob_ref){(uint64_t)(store->number << 16 | store->first_count) << 32};
}

static void guess(void *argument)
{
    const weft_blob_ref first = first_of_store();
    (void)argument;
    if (weft_blob_read(store, first, NULL) != NULL) check_value(first, 7);
}

static void guess_and_hold(void *argument)
{
    const weft_blob_ref first = first_of_store();
    (void)argument;
    if (weft_blob_acquire(store, first) != WEFT_OK) return;
    check_value(first, 7);
    let_go(first);
}

static void insert_against_readers(void)
{
    const weft_blob_store_desc desc = {.allocator = *explore_allocator(),
                                       .os = explore_os(),
                                       .protection = WEFT_BLOB_PROTECT_NEVER};
    EXPLORE_CHECK(weft_blob_store_create(&desc, &store) == WEFT_OK, "create");
    explore_thread(guess, NULL);
    explore_thread(guess_and_hold, NULL);
    explore_begin();
    shared = insert(7);
    explore_join_all();
    EXPLORE_CHECK(shared.id == first_of_store().id, "the readers ask for another handle");
    let_go(shared);
    finish();
}

/* Two releases of one reference: exactly one of them is refused. */
static uint32_t refused;

static void release_any(void *argument)
{
    (void)argument;
    weft_result result = weft_blob_release(store, shared);
    EXPLORE_CHECK(result == WEFT_OK || result == WEFT_BAD_HANDLE, "result %u", (unsigned)result);
    refs[explore_self()].id = result != WEFT_OK;
}

static void one_release_too_many(void)
{
    start();
    explore_thread(release_any, NULL);
    explore_begin();
    release_any(NULL);
    explore_join_all();
    refused = (uint32_t)(refs[0].id + refs[1].id);
    EXPLORE_CHECK(refused == 1, "%u of 2 releases refused", refused);
    finish();
}

/* The first blobs of a store, while memory is refused: who is refused leaves nothing behind. */
static void insert_if_possible(void *argument)
{
    weft_blob_ref ref = insert((uintptr_t)argument);
    if (ref.id == 0) return;
    check_value(ref, (uintptr_t)argument);
    let_go(ref);
}

static void refused_inserts(void)
{
    const weft_blob_store_desc desc = {.allocator = *explore_allocator(),
                                       .os = explore_os(),
                                       .protection = WEFT_BLOB_PROTECT_NEVER};
    EXPLORE_CHECK(weft_blob_store_create(&desc, &store) == WEFT_OK, "create");
    shared.id = 0;
    explore_thread(insert_if_possible, (void *)8);
    explore_begin();
    insert_if_possible((void *)9);
    finish();
}

#define PLANS                                                                                      \
    {                                                                                              \
        PLAN_ALL(EXPLORE_SC, 3, 0), PLAN_ALL(EXPLORE_TSO, 2, 1), PLAN_ALL(EXPLORE_C11, 2, 1),      \
            PLAN_PCT(EXPLORE_C11, 4, 10000, 2000000), PLAN_ALL_DEEP(EXPLORE_SC, 5, 0),             \
            PLAN_ALL_DEEP(EXPLORE_C11, 3, 2)                                                       \
    }

const explore_scenario explore_scenarios[] = {
    {"blob_acquire_against_last_release", acquire_against_last_release, PLANS, NULL},
    {"blob_equal_content_against_last_release", equal_content_against_last_release, PLANS, NULL},
    {"blob_equal_content_twice", equal_content_twice, PLANS, NULL},
    {"blob_slot_reuse", slot_reuse, PLANS, NULL},
    {"blob_insert_against_readers", insert_against_readers, PLANS, NULL},
    {"blob_refused_inserts", refused_inserts, {PLAN_ALL_FAULTS(EXPLORE_SC, 2, 1)}, NULL},
    {"blob_one_release_too_many", one_release_too_many, PLANS, NULL},
    {NULL, NULL, {{0}}, NULL},
};
