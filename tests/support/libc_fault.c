/* SPDX-License-Identifier: MIT */
/* libc_fault.c: see libc_fault.h. In programs without --wrap nothing comes here. */
#include "libc_fault.h"

#include "atomic.h"

#include <stddef.h>

static weft_a64 x_at, x_last, x_calls;

__attribute__((weak)) void *__real_malloc(size_t bytes);
__attribute__((weak)) void *__real_calloc(size_t count, size_t size);
__attribute__((weak)) void *__real_realloc(void *block, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t bytes);

static bool is_refused(void)
{
    const uint64_t at = at_load_rlx(&x_at); /* rlx: set while nothing else runs */
    if (at == 0) return false;
    const uint64_t call = at_add_rlx(&x_calls, UINT64_C(1)) + 1; /* rlx: a count */
    return call >= at && call <= at_load_rlx(&x_last);           /* rlx: as x_at */
}

void *__wrap_malloc(size_t bytes)
{
    return is_refused() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t bytes)
{
    return is_refused() ? NULL : __real_realloc(block, bytes);
}

static void refuse(uint64_t at, uint64_t last)
{
    at_store_rlx(&x_calls, UINT64_C(0)); /* rlx: nothing else runs */
    at_store_rlx(&x_last, last);         /* rlx: nothing else runs */
    at_store_rlx(&x_at, at);             /* rlx: nothing else runs */
}

static void fail(uint64_t at)
{
    refuse(at, at);
}

static void fail_from(uint64_t at)
{
    refuse(at, UINT64_MAX);
}

static bool has_failed(void)
{
    const uint64_t at = at_load_rlx(&x_at);        /* rlx: nothing else runs */
    return at != 0 && at_load_rlx(&x_calls) >= at; /* rlx: nothing else runs */
}

const test_libc *test_libc_faults(void)
{
    static const test_libc faults = {fail, fail_from, has_failed};
    return &faults;
}
