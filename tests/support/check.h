/* SPDX-License-Identifier: MIT */
/* check.h: assertions for tests that run with and without Criterion, on any thread.
 *
 * A failed check prints the expression, both values, the place and the seed in use (random.h),
 * then aborts: that ends a plain program and fails a Criterion test alike, also from a worker
 * thread, where Criterion's own assertions must not be used.
 */
#ifndef WEFT_TESTS_CHECK_H
#define WEFT_TESTS_CHECK_H

#include <weft/base.h>

#include <stdint.h>

/* Report and abort; called by the macros. */
_Noreturn void test_fail(const char *file, int line, const char *text);
void test_check_u64(const char *file, int line, const char *text, uint64_t actual,
                    uint64_t expected);
void test_check_i64(const char *file, int line, const char *text, int64_t actual, int64_t expected);
void test_check_f64(const char *file, int line, const char *text, double actual, double expected,
                    double tolerance);
void test_check_pointer(const char *file, int line, const char *text, const void *actual,
                        const void *expected);
void test_check_text(const char *file, int line, const char *text, const char *actual,
                     const char *expected);
void test_check_result(const char *file, int line, const char *text, weft_result actual,
                       weft_result expected);
/* The seed that failure reports name; 0 when the test draws nothing. Threads: owner, before
 * work. */
void test_note_seed(uint64_t seed);

#define CHECK(condition)                                                                           \
    ((condition) ? (void)0 : test_fail(__FILE__, __LINE__, "is false: " #condition))
#define CHECK_U64(actual, expected)                                                                \
    test_check_u64(__FILE__, __LINE__, #actual, (uint64_t)(actual), (uint64_t)(expected))
#define CHECK_I64(actual, expected)                                                                \
    test_check_i64(__FILE__, __LINE__, #actual, (int64_t)(actual), (int64_t)(expected))
#define CHECK_F64(actual, expected, tolerance)                                                     \
    test_check_f64(__FILE__, __LINE__, #actual, (actual), (expected), (tolerance))
#define CHECK_POINTER(actual, expected)                                                            \
    test_check_pointer(__FILE__, __LINE__, #actual, (actual), (expected))
#define CHECK_TEXT(actual, expected)                                                               \
    test_check_text(__FILE__, __LINE__, #actual, (actual), (expected))
#define CHECK_RESULT(actual, expected)                                                             \
    test_check_result(__FILE__, __LINE__, #actual, (actual), (expected))
#define CHECK_OK(actual) CHECK_RESULT(actual, WEFT_OK)

#endif
