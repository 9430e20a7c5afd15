/* SPDX-License-Identifier: MIT */
/* memory_reuse.h: memory hooks that differ in when a freed block comes back: code that takes an
 * address for the identity of what lived there is found by the first, code that reads freed memory
 * by both (freed blocks are filled with a pattern).
 *
 * Threads: any (one mutex).
 */
#ifndef WEFT_TESTS_MEMORY_REUSE_H
#define WEFT_TESTS_MEMORY_REUSE_H

#include <weft/base.h>

typedef enum test_reuse {
    TEST_REUSE_SYSTEM,     /* malloc and free, as they please */
    TEST_REUSE_LAST_FIRST, /* of the same size and alignment, the block freed last comes first */
    TEST_REUSE_NEVER,      /* no block comes back before test_reuse_end */
    TEST_REUSE_COUNT,
} test_reuse;

typedef struct test_reuse_memory test_reuse_memory;

test_reuse_memory *test_reuse_begin(test_reuse kind);
/* The hook; valid until test_reuse_end. */
weft_allocator test_reuse_hook(test_reuse_memory *memory);
/* Aborts with a report when blocks are still live. */
void test_reuse_end(test_reuse_memory *memory);

#endif
