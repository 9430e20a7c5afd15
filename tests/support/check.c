/* SPDX-License-Identifier: MIT */
/* check.c: reports of failed checks (check.h).
 *
 * Everything goes to stderr in one line per fact, so that reports of two threads stay readable.
 */
#include "check.h"

#include "folder.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t noted_seed;

void test_note_seed(uint64_t seed)
{
    noted_seed = seed;
}

static _Noreturn void stop(void)
{
    if (noted_seed) {
        fprintf(stderr, "  repeat with: WEFT_TEST_SEED=0x%" PRIx64 "\n", noted_seed);
    }
    fflush(stderr);
    test_folder_leave();
    abort();
}

_Noreturn void test_fail(const char *file, int line, const char *text)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, text);
    stop();
}

void test_check_u64(const char *file, int line, const char *text, uint64_t actual,
                    uint64_t expected)
{
    if (actual == expected) return;
    fprintf(stderr,
            "%s:%d: %s is %" PRIu64 " (0x%" PRIx64 "), expected %" PRIu64 " (0x%" PRIx64 ")\n",
            file, line, text, actual, actual, expected, expected);
    stop();
}

void test_check_i64(const char *file, int line, const char *text, int64_t actual, int64_t expected)
{
    if (actual == expected) return;
    fprintf(stderr, "%s:%d: %s is %" PRId64 ", expected %" PRId64 "\n", file, line, text, actual,
            expected);
    stop();
}

void test_check_f64(const char *file, int line, const char *text, double actual, double expected,
                    double tolerance)
{
    if (fabs(actual - expected) <= tolerance) return;
    fprintf(stderr, "%s:%d: %s is %.17g, expected %.17g within %g\n", file, line, text, actual,
            expected, tolerance);
    stop();
}

void test_check_pointer(const char *file, int line, const char *text, const void *actual,
                        const void *expected)
{
    if (actual == expected) return;
    fprintf(stderr, "%s:%d: %s is %p, expected %p\n", file, line, text, actual, expected);
    stop();
}

void test_check_text(const char *file, int line, const char *text, const char *actual,
                     const char *expected)
{
    if (actual && expected && strcmp(actual, expected) == 0) return;
    if (!actual && !expected) return;
    fprintf(stderr, "%s:%d: %s is \"%s\", expected \"%s\"\n", file, line, text,
            actual ? actual : "(null)", expected ? expected : "(null)");
    stop();
}

void test_check_result(const char *file, int line, const char *text, weft_result actual,
                       weft_result expected)
{
    if (actual == expected) return;
    fprintf(stderr, "%s:%d: %s is %s, expected %s\n", file, line, text, weft_result_name(actual),
            weft_result_name(expected));
    stop();
}
