/* SPDX-License-Identifier: MIT */
/* plain.h: tests as a plain program, which runs under every sanitizer (Criterion aborts under
 * ThreadSanitizer).
 *
 * A file tests/<layer>/test_<name>.c includes this header and writes its tests as
 *
 *     PLAIN_TEST(two_thieves_never_take_the_same_job) { ... CHECK_U64(taken, pushed); }
 *
 * CMake compiles it into test_<name>, which runs all tests, or those whose names are arguments.
 * Use check.h for assertions.
 */
#ifndef WEFT_TESTS_PLAIN_H
#define WEFT_TESTS_PLAIN_H

#include "check.h"
#include "random.h"

/* One test of the program, linked into a list before main starts. */
typedef struct test_plain {
    const char *name;
    void (*run)(void);
    struct test_plain *next;
} test_plain;

void test_plain_add(test_plain *test);

#define PLAIN_TEST(test_name)                                                                      \
    static void run_##test_name(void);                                                             \
    static test_plain entry_##test_name = {.name = #test_name, .run = run_##test_name};            \
    __attribute__((constructor)) static void add_##test_name(void)                                 \
    {                                                                                              \
        test_plain_add(&entry_##test_name);                                                        \
    }                                                                                              \
    static void run_##test_name(void)

#endif
