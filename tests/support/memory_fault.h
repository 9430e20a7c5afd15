/* SPDX-License-Identifier: MIT */
/* memory_fault.h: a memory hook that counts, checks and fails on command.
 *
 * Every block carries a header and a guard behind it: releasing with another size or alignment,
 * twice, or after a write past the end aborts with a report. The k-th allocation can be made to
 * fail, once or for ever, which is how the fault tests sweep every k. Threads: any (one mutex);
 * the mutex makes it no place to look for races.
 */
#ifndef WEFT_TESTS_MEMORY_FAULT_H
#define WEFT_TESTS_MEMORY_FAULT_H

#include <weft/base.h>

#include <pthread.h>

/* Owner: the test. All fields are guarded by `lock` while the hook is in use.
 * Invariant: live_blocks = allocations - releases; failures counts the refused allocations only. */
typedef struct test_memory {
    pthread_mutex_t lock;
    uint64_t allocations, releases, failures;
    uint64_t live_blocks, live_bytes, peak_bytes;
    uint64_t fail_at;   /* refuse the fail_at-th allocation from now (1 = the next); 0 = never */
    bool fails_forever; /* ... and all that follow */
} test_memory;

void test_memory_init(test_memory *memory);
/* Aborts with a report when blocks are still live. */
void test_memory_fini(test_memory *memory);
/* The hook; valid as long as `memory`. */
weft_allocator test_memory_hook(test_memory *memory);
/* Arms the fault: see fail_at and fails_forever. */
void test_memory_fail(test_memory *memory, uint64_t fail_at, bool fails_forever);

#endif
