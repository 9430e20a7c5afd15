/* SPDX-License-Identifier: MIT */
/* test_heap.c: memory through the hook: aligned at every size, counted, and, with the default hook,
 * large aligned blocks that come back warm. */
#include "check.h"
#include "heap.h"

#include <criterion/criterion.h>
#include <string.h>

static const size_t sizes[] = {1, 63, 64, 4096, 65535, 65536, 65537, 1 << 20, (5 << 20) + 7};

Test(heap, every_size_comes_at_every_alignment_and_goes_back)
{
    weft__memory memory;
    CHECK_OK(weft__memory_init(&memory, NULL));
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t alignment = 1; alignment <= 64; alignment *= 2) {
            unsigned char *blocks[5];
            for (int k = 0; k < 5; k++) {
                blocks[k] = weft__alloc(&memory, WEFT__MEMORY_OTHER, sizes[i], 1, alignment);
                CHECK(blocks[k] != NULL);
                CHECK_U64((uintptr_t)blocks[k] % alignment, 0);
                memset(blocks[k], k + 1, sizes[i]);
            }
            CHECK_U64(weft__memory_bytes(&memory, WEFT__MEMORY_OTHER), 5 * sizes[i]);
            for (int k = 0; k < 5; k++) {
                CHECK_U64(blocks[k][0], k + 1);
                CHECK_U64(blocks[k][sizes[i] - 1], k + 1);
                weft__free(&memory, WEFT__MEMORY_OTHER, blocks[k], sizes[i], 1, alignment);
            }
            CHECK_U64(weft__memory_bytes(&memory, WEFT__MEMORY_OTHER), 0);
        }
    }
}

Test(heap, sizes_that_overflow_with_their_alignment_are_refused)
{
    weft__memory memory;
    CHECK_OK(weft__memory_init(&memory, NULL));
    CHECK_POINTER(weft__alloc(&memory, WEFT__MEMORY_OTHER, SIZE_MAX - 32, 1, 64), NULL);
    CHECK_POINTER(weft__alloc(&memory, WEFT__MEMORY_OTHER, SIZE_MAX / 2, 3, 64), NULL);
    CHECK_U64(weft__memory_bytes(&memory, WEFT__MEMORY_OTHER), 0);
}

Test(heap, an_empty_list_is_no_failure_and_takes_no_memory)
{
    weft__memory memory;
    CHECK_OK(weft__memory_init(&memory, NULL));
    for (size_t alignment = 1; alignment <= 64; alignment *= 2) {
        void *plain = weft__alloc(&memory, WEFT__MEMORY_OTHER, 0, 8, alignment);
        void *zeroed = weft__alloc_zeroed(&memory, WEFT__MEMORY_OTHER, 8, 0, alignment);
        CHECK(plain != NULL && zeroed != NULL);
        CHECK_U64((uintptr_t)plain % alignment, 0);
        CHECK_U64(weft__memory_bytes(&memory, WEFT__MEMORY_OTHER), 0);
        uint64_t *list = weft__realloc(&memory, WEFT__MEMORY_OTHER, plain, 0, 4, 8, 64);
        CHECK(list != NULL);
        list[3] = 3;
        list = weft__realloc(&memory, WEFT__MEMORY_OTHER, list, 4, 0, 8, 64);
        CHECK(list != NULL);
        CHECK_U64(weft__memory_bytes(&memory, WEFT__MEMORY_OTHER), 0);
        weft__free(&memory, WEFT__MEMORY_OTHER, list, 0, 8, 64);
        weft__free(&memory, WEFT__MEMORY_OTHER, zeroed, 8, 0, alignment);
    }
}

/* Of malloc of glibc; the quarantine of ASan keeps freed blocks. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
Test(heap, a_large_aligned_block_is_given_out_again)
{
    weft__memory memory;
    const size_t bytes = (4 << 20) + 1;
    CHECK_OK(weft__memory_init(&memory, NULL));
    uintptr_t places[16];
    uint32_t distinct = 0;
    for (int i = 0; i < 16; i++) {
        void *block = weft__alloc(&memory, WEFT__MEMORY_OTHER, bytes, 1, 64);
        CHECK(block != NULL);
        places[i] = (uintptr_t)block;
        weft__free(&memory, WEFT__MEMORY_OTHER, block, bytes, 1, 64);
        bool is_known = false;
        for (int k = 0; k < i; k++) is_known = is_known || places[k] == places[i];
        distinct += is_known ? 0 : 1;
    }
    CHECK(distinct <= 3); /* a mapping or two until malloc learns the size, then always the same */
}
#endif
