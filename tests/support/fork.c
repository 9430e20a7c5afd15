/* SPDX-License-Identifier: MIT */
/* fork.c: each worker runs one job that ends only when all have arrived; after that none is in the
 * start of its thread, where the C library and sanitizers allocate; the idle loop never does.
 */
#include "fork.h"

#include "atomic.h"
#include "check.h"

#include <sched.h>
#include <unistd.h>

typedef struct meeting {
    uint32_t workers;
    weft_a32 x_arrived;
} meeting;

/* One for each worker: none ends before all have begun. */
static int meet(weft_job_context *job, void *argument)
{
    (void)job;
    meeting *self = argument;
    at_add_ar(&self->x_arrived, 1u);
    while (at_load_acq(&self->x_arrived) < self->workers) sched_yield();
    return 0;
}

pid_t test_fork(weft_job_pool *pool)
{
    weft_job_context *owner = weft_job_pool_owner(pool);
    meeting all = {.workers = weft_job_pool_worker_count(pool)};
    const weft_job_desc job = {.fn = meet, .argument = &all};
    for (uint32_t i = 0; i < all.workers; i++) CHECK_OK(weft_job_submit(owner, &job, NULL));
    CHECK_OK(weft_job_wait_all(owner, NULL));
    const pid_t child = fork();
    CHECK(child >= 0);
    return child;
}
