/* SPDX-License-Identifier: MIT */
/* test_support.c: the test helpers themselves: a check that cannot fail would prove nothing.
 */
#include "check.h"
#include "folder.h"
#include "memory_fault.h"
#include "os_fault.h"
#include "random.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

Test(support, a_folder_goes_with_all_in_it_and_not_by_a_child)
{
    char before[256], inside[256], now[256];
    CHECK(getcwd(before, sizeof before) != NULL);
    test_folder_enter();
    CHECK(getcwd(inside, sizeof inside) != NULL && strcmp(before, inside) != 0);
    CHECK(mkdir("deep", 0777) == 0);
    FILE *file = fopen("deep/file", "w");
    CHECK(file != NULL && fclose(file) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        test_folder_leave();
        _exit(access("deep/file", F_OK) != 0);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    test_folder_leave();
    CHECK(getcwd(now, sizeof now) != NULL);
    CHECK_TEXT(now, before);
    CHECK(access(inside, F_OK) != 0);
}

Test(support, unequal_values_abort, .signal = SIGABRT)
{
    CHECK_U64(1, 2);
}

Test(support, wrong_result_aborts, .signal = SIGABRT)
{
    CHECK_OK(WEFT_LIMIT);
}

Test(support, different_text_aborts, .signal = SIGABRT)
{
    CHECK_TEXT("a", "b");
}

Test(support, equal_values_pass)
{
    CHECK(true);
    CHECK_U64(2, 2);
    CHECK_I64(-2, -2);
    CHECK_F64(1.0, 1.05, 0.1);
    CHECK_TEXT("a", "a");
    CHECK_POINTER(NULL, NULL);
    CHECK_OK(WEFT_OK);
}

Test(support, the_same_seed_gives_the_same_numbers_and_another_seed_others)
{
    test_random a = test_random_init(1), b = test_random_init(1), c = test_random_init(2);
    const uint64_t first = test_random_next(&a);
    CHECK_U64(first, test_random_next(&b));
    CHECK(first != test_random_next(&c));
    test_random fork0 = test_random_fork(&a, 0), fork1 = test_random_fork(&a, 1);
    CHECK(test_random_next(&fork0) != test_random_next(&fork1));
    for (int i = 0; i < 1000; i++) CHECK(test_random_below(&a, 7) < 7);
}

Test(support, memory_hook_counts_and_fails_the_kth_allocation)
{
    test_memory memory;
    test_memory_init(&memory);
    const weft_allocator hook = test_memory_hook(&memory);
    test_memory_fail(&memory, 2, false);
    void *a = hook.allocate(hook.user, 10, 8);
    void *b = hook.allocate(hook.user, 10, 8);
    void *c = hook.allocate(hook.user, 100, 64);
    CHECK(a != NULL && c != NULL && ((uintptr_t)c & 63) == 0);
    CHECK_POINTER(b, NULL);
    CHECK_U64(memory.failures, 1);
    CHECK_U64(memory.live_bytes, 110);
    hook.release(hook.user, a, 10, 8);
    hook.release(hook.user, c, 100, 64);
    CHECK_U64(memory.peak_bytes, 110);
    test_memory_fini(&memory);
}

Test(support, memory_hook_can_fail_for_ever)
{
    test_memory memory;
    test_memory_init(&memory);
    const weft_allocator hook = test_memory_hook(&memory);
    test_memory_fail(&memory, 1, true);
    for (int i = 0; i < 3; i++) CHECK_POINTER(hook.allocate(hook.user, 1, 1), NULL);
    CHECK_U64(memory.failures, 3);
    test_memory_fini(&memory);
}

Test(support, a_leak_aborts, .signal = SIGABRT)
{
    static test_memory memory;
    test_memory_init(&memory);
    const weft_allocator hook = test_memory_hook(&memory);
    CHECK(hook.allocate(hook.user, 1, 1) != NULL);
    test_memory_fini(&memory);
}

Test(support, a_write_past_the_end_aborts, .signal = SIGABRT)
{
    static test_memory memory;
    test_memory_init(&memory);
    const weft_allocator hook = test_memory_hook(&memory);
    char *block = hook.allocate(hook.user, 8, 8);
    block[8] = 0;
    hook.release(hook.user, block, 8, 8);
}

Test(support, release_with_another_size_aborts, .signal = SIGABRT)
{
    static test_memory memory;
    test_memory_init(&memory);
    const weft_allocator hook = test_memory_hook(&memory);
    void *block = hook.allocate(hook.user, 8, 8);
    hook.release(hook.user, block, 16, 8);
}

Test(support, faulty_system_refuses_the_kth_mapping_only)
{
    test_os os;
    test_os_init(&os);
    test_os_fail_map(&os, 2);
    void *a = os.table.map(os.table.user, 4096, 4096);
    void *b = os.table.map(os.table.user, 4096, 4096);
    void *c = os.table.map(os.table.user, 4096, 4096);
    CHECK(a != NULL && c != NULL);
    CHECK_POINTER(b, NULL);
    os.table.unmap(os.table.user, a, 4096);
    os.table.unmap(os.table.user, c, 4096);
    CHECK_U64(at_plain(&os.x_maps), at_plain(&os.x_unmaps));
}

static void do_nothing(void *argument)
{
    (void)argument;
}

Test(support, faulty_system_refuses_a_thread_and_wakes_for_no_reason)
{
    test_os os;
    test_os_init(&os);
    test_os_fail_thread(&os, 1);
    weft__os_thread thread = {0};
    CHECK_RESULT(os.table.thread_start(os.table.user, &thread, "weft-t", do_nothing, NULL),
                 WEFT_THREAD_FAILED);
    CHECK_OK(os.table.thread_start(os.table.user, &thread, "weft-t", do_nothing, NULL));
    os.table.thread_join(os.table.user, thread);
    os.spurious_every = 1;
    weft_a32 word = {0};
    os.table.futex_wait(os.table.user, &word, 0); /* would sleep for ever on the real system */
}
