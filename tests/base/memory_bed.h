/* SPDX-License-Identifier: MIT */
/* memory_bed.h: memory of a hook, which may refuse it and says when it is released with another
 * size: for tests of what grows. */
#ifndef WEFT_TEST_MEMORY_BED_H
#define WEFT_TEST_MEMORY_BED_H

#include "check.h"
#include "heap.h"
#include "memory_fault.h"

typedef struct bed {
    test_memory hook;
    weft__memory memory;
} bed;

static inline void bed_open(bed *b)
{
    test_memory_init(&b->hook);
    weft_allocator hook = test_memory_hook(&b->hook);
    CHECK_OK(weft__memory_init(&b->memory, &hook));
}

#endif
