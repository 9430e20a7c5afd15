/* SPDX-License-Identifier: MIT */
/* test_blob_store.c: references: counting, staleness, one copy of equal content. */
#include "blob_fixture.h"
#include "blob_store.h"
#include "check.h"
#include "random.h"

#include <criterion/criterion.h>

static weft_blob_store *store;

static void make_store(void)
{
    CHECK_OK(weft_blob_store_create(&(weft_blob_store_desc){0}, &store));
}

static void drop_store(void)
{
    weft_blob_store_destroy(store);
}

TestSuite(blob_store, .init = make_store, .fini = drop_store);

typedef struct Number {
    uint64_t value;
} Number;
static const weft_blob_type number_type = WEFT_BLOB_TYPE_PLAIN(Number);

typedef struct OtherNumber {
    uint64_t value;
} OtherNumber;
static const weft_blob_type other_number_type = WEFT_BLOB_TYPE_PLAIN(OtherNumber);

static weft_blob_ref number(const weft_blob_type *type, uint64_t value)
{
    weft_blob_builder *builder;
    weft_blob_ref ref;
    CHECK_OK(weft_blob_builder_create(store, type, 0, &builder));
    *(uint64_t *)weft_blob_builder_root(builder) = value;
    CHECK_OK(weft_blob_builder_finish(builder, &ref));
    weft_blob_builder_destroy(builder);
    return ref;
}

static weft_blob_store_stats stats(void)
{
    weft_blob_store_stats result;
    CHECK_OK(weft_blob_store_stats_get(store, &result, sizeof result));
    return result;
}

Test(blob_store, the_last_release_frees_and_the_handle_is_stale_for_ever)
{
    weft_blob_ref ref = number(&number_type, 1);
    CHECK_OK(weft_blob_acquire(store, ref));
    CHECK_OK(weft_blob_release(store, ref));
    CHECK(weft_blob_read(store, ref, &number_type) != NULL);
    CHECK_OK(weft_blob_release(store, ref));
    for (uint64_t i = 0; i < 100; i++) { /* the slot is used again and again */
        weft_blob_info info;
        CHECK_POINTER(weft_blob_read(store, ref, NULL), NULL);
        CHECK_RESULT(weft_blob_release(store, ref), WEFT_BAD_HANDLE);
        CHECK_RESULT(weft_blob_acquire(store, ref), WEFT_BAD_HANDLE);
        CHECK_RESULT(weft_blob_info_get(store, ref, &info, sizeof info), WEFT_BAD_HANDLE);
        weft_blob_ref next = number(&number_type, i);
        CHECK_U64((uint32_t)next.id, (uint32_t)ref.id);
        CHECK(next.id != ref.id);
        CHECK_OK(weft_blob_release(store, next));
    }
    CHECK_U64(stats().blob_count, 0);
    CHECK_U64(stats().block_bytes, 0);
}

Test(blob_store, invented_handles_are_refused)
{
    test_random random = test_random_init(0x5107);
    weft_blob_ref known = number(&number_type, 1);
    static const uint64_t ids[] = {0, 1, UINT32_MAX, UINT64_MAX, UINT64_C(2) << 32};
    for (int i = 0; i < 100000; i++) {
        weft_blob_ref ref = {i < 5 ? ids[i] : test_random_next(&random)};
        if (ref.id == known.id) continue;
        CHECK_POINTER(weft_blob_read(store, ref, NULL), NULL);
        CHECK_RESULT(weft_blob_acquire(store, ref), WEFT_BAD_HANDLE);
        CHECK_RESULT(weft_blob_release(store, ref), WEFT_BAD_HANDLE);
    }
}

Test(blob_store, a_generation_that_would_wrap_retires_its_slot)
{
    weft_blob_ref first = number(&number_type, 1);
    blob_slot *slot = at_plain(&store->x_segments[0]);
    weft_blob_ref last = {first.id | UINT64_C(0xffff) << 32}; /* the last count of this store */
    at_init(&slot->x_state, last.id >> 32 << 32 | 1);
    CHECK_OK(weft_blob_release(store, last));
    CHECK_U64((uint32_t)number(&number_type, 2).id, (uint32_t)first.id + 1);
}

Test(blob_store, a_reference_of_a_store_that_is_gone_is_never_one_of_a_later_store)
{
    weft_blob_store *first = store;
    weft_blob_ref stale = number(&number_type, 1), ref;
    uint32_t repeats = 0;
    for (uint32_t i = 0; i < UINT16_MAX + 10; i++) { /* every number is given again */
        make_store();
        ref = number(&number_type, 1);
        repeats += ref.id == stale.id || weft_blob_read(store, stale, NULL) != NULL;
        if (i == 0) weft_blob_store_destroy(first);
        drop_store();
    }
    CHECK_U64(repeats, 0);
    make_store();
}

Test(blob_store, a_store_that_used_up_its_counts_ends_its_number)
{
    uint32_t number_of_it = store->number;
    store->count_end = UINT16_MAX + 1;
    drop_store();
    for (uint32_t i = 0; i < UINT16_MAX; i++) {
        make_store();
        CHECK(store->number != number_of_it);
        drop_store();
    }
    make_store();
}

Test(blob_store, the_count_of_references_cannot_overflow)
{
    weft_blob_ref ref = number(&number_type, 1);
    blob_slot *slot = at_plain(&store->x_segments[0]);
    at_init(&slot->x_state, ref.id >> 32 << 32 | UINT32_MAX);
    CHECK_RESULT(weft_blob_acquire(store, ref), WEFT_LIMIT);
    CHECK_OK(weft_blob_release(store, ref));
    CHECK_OK(weft_blob_acquire(store, ref));
}

Test(blob_store, equal_content_of_another_type_is_another_blob)
{
    weft_blob_ref a = number(&number_type, 5), b = number(&other_number_type, 5);
    CHECK(a.id != b.id);
    CHECK(weft_blob_read(store, a, &number_type) != NULL);
    CHECK_POINTER(weft_blob_read(store, a, &other_number_type), NULL);
    CHECK(weft_blob_read(store, b, NULL) != NULL);
    static const weft_blob_type again = WEFT_BLOB_TYPE_PLAIN(Number);
    CHECK_POINTER(weft_blob_read(store, a, &again), weft_blob_read(store, a, &number_type));
}

Test(blob_store, many_blobs_stay_apart_and_equal_ones_together)
{
    enum { COUNT = 3000 };
    static weft_blob_ref refs[COUNT];
    for (uint64_t i = 0; i < COUNT; i++) refs[i] = number(&number_type, i);
    CHECK_U64(stats().blob_count, COUNT);
    for (uint64_t i = 0; i < COUNT; i++) {
        const Number *read = weft_blob_read(store, refs[i], &number_type);
        CHECK_U64(read->value, i);
        CHECK_U64(number(&number_type, i).id, refs[i].id);
    }
    CHECK_U64(stats().shared_count, COUNT);
    for (uint64_t i = 0; i < COUNT; i += 2) {
        CHECK_OK(weft_blob_release(store, refs[i]));
        CHECK_OK(weft_blob_release(store, refs[i]));
    }
    CHECK_U64(stats().blob_count, COUNT / 2);
    for (uint64_t i = 1; i < COUNT; i += 2) {
        const Number *read = weft_blob_read(store, refs[i], &number_type);
        CHECK_U64(read->value, i);
    }
}

/* Two blobs made to collide: the same hash, other bytes. */
Test(blob_store, a_collision_of_hashes_does_not_merge_blobs)
{
    weft_blob_ref refs[2];
    for (int i = 0; i < 2; i++) {
        weft__blob_block block;
        weft_blob_info info;
        weft_blob_ref source = number(&number_type, (uint64_t)i);
        CHECK_OK(weft_blob_info_get(store, source, &info, sizeof info));
        CHECK_OK(weft__blob_block_create(store, info.block_bytes, &block));
        memcpy(block.memory, info.block, info.block_bytes);
        ((weft__blob_header *)block.memory)->content_hash = 42;
        CHECK_OK(weft__blob_store_insert(store, &block, &number_type, &refs[i]));
    }
    CHECK(refs[0].id != refs[1].id);
    for (uint64_t i = 0; i < 2; i++) {
        CHECK_U64(((const Number *)weft_blob_read(store, refs[i], NULL))->value, i);
    }
}

Test(blob_store, arguments_are_checked)
{
    weft_blob_store *none;
    weft_blob_info info;
    weft_blob_store_desc half = {.allocator = {.user = store}};
    weft_blob_store_desc bad = {.protection = 3};
    CHECK_OK(weft_blob_store_create(NULL, &none)); /* all defaults */
    weft_blob_store_destroy(none);
    CHECK_RESULT(weft_blob_store_create(NULL, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_store_create(&half, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_store_create(&bad, &none), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_acquire(NULL, (weft_blob_ref){1}), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_release(NULL, (weft_blob_ref){1}), WEFT_INVALID_ARGUMENT);
    CHECK_POINTER(weft_blob_read(NULL, (weft_blob_ref){1}, NULL), NULL);
    CHECK_RESULT(weft_blob_info_get(NULL, (weft_blob_ref){1}, &info, sizeof info),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_info_get(store, (weft_blob_ref){1}, NULL, 0), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_store_stats_get(NULL, NULL, 0), WEFT_INVALID_ARGUMENT);
    weft_blob_store_destroy(NULL);
}
