/* SPDX-License-Identifier: MIT */
/* os_fault.h: an operating system (jobs/base/src/os.h) that refuses memory and threads on command
 * and wakes sleepers for no reason.
 *
 * Everything else goes to the real one. Threads: any; the counters are atomic.
 */
#ifndef WEFT_TESTS_OS_FAULT_H
#define WEFT_TESTS_OS_FAULT_H

#include "os.h"

/* Owner: the test; must outlive what was created with &os->table. The settings are constant while
 * the table is in use, except fail_map_at / fail_thread_at, which count down. */
typedef struct test_os {
    weft_os table;           /* hand this to descriptors */
    const weft_os *real;     /* constant */
    uint32_t spurious_every; /* every n-th futex_wait returns at once; 0 = never; constant */
    weft_a64 x_fail_map_at;  /* the n-th map from now is refused (1 = the next); 0 = never */
    weft_a64 x_fail_thread_at;
    weft_a64 x_maps, x_unmaps, x_threads, x_waits; /* calls that reached the real system */
} test_os;

void test_os_init(test_os *os);
void test_os_fail_map(test_os *os, uint64_t at);
void test_os_fail_thread(test_os *os, uint64_t at);

#endif
