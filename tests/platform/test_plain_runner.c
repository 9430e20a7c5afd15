/* SPDX-License-Identifier: MIT */
/* test_plain_runner.c: the helper for concurrent tests: threads, faults and counts from several
 * threads.
 */
#include "memory_fault.h"
#include "plain.h"

#include <pthread.h>

enum { THREADS = 4, BLOCKS = 2000 };

static void *churn(void *user)
{
    const weft_allocator *hook = user;
    for (int i = 0; i < BLOCKS; i++) {
        const size_t bytes = (size_t)(1 + i % 97);
        hook->release(hook->user, hook->allocate(hook->user, bytes, 16), bytes, 16);
    }
    return NULL;
}

PLAIN_TEST(memory_hook_counts_the_blocks_of_all_threads)
{
    test_memory memory;
    test_memory_init(&memory);
    weft_allocator hook = test_memory_hook(&memory);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, churn, &hook) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_U64(memory.allocations, THREADS * BLOCKS);
    CHECK_U64(memory.releases, THREADS * BLOCKS);
    test_memory_fini(&memory);
}
