/* SPDX-License-Identifier: MIT */
/* fork.h: forking beside the threads of a pool.
 *
 * A child of fork() has the locks of sanitizers as they were: the allocator of ASan, held by a
 * thread that is just starting, stays held, and the child hangs in its first call of malloc.
 * test_fork waits until no thread of the pool can be there.
 */
#ifndef WEFT_TESTS_FORK_H
#define WEFT_TESTS_FORK_H

#include <weft/jobs.h>

#include <sys/types.h>

/* fork() when all threads of the pool have begun to work; -1 never. Threads: the pool's owner,
 * outside of jobs. */
pid_t test_fork(weft_job_pool *pool);

#endif
