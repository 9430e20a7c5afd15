/* SPDX-License-Identifier: MIT */
/* libc_fault.h: refused memory of the C library, for what the library asks it for by itself: a
 * program that includes this is linked with --wrap (tests/CMakeLists.txt), so that malloc, calloc
 * and realloc of its objects come here first. The C library's own calls do not. Threads: any.
 */
#ifndef WEFT_TESTS_LIBC_FAULT_H
#define WEFT_TESTS_LIBC_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* What refused.h needs of it. */
typedef struct test_libc {
    void (*fail)(uint64_t at);      /* the at-th call from now is refused (1: the next); 0: none */
    void (*fail_from)(uint64_t at); /* and all behind it */
    bool (*has_failed)(void);       /* whether that call came */
} test_libc;

const test_libc *test_libc_faults(void);

#endif
