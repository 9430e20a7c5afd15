/* SPDX-License-Identifier: MIT */
/* jobs_engine.c: what jobs_engine.h says of a pool as a whole: its contexts, its owner, its users.
 *
 * The rest of that header is where its subject is: pool_check.c, observe.c, worker_child.c. */
#include "jobs_engine.h"

#include "invariant.h"
#include "pool_state.h"

weft_job_context *weft__pool_worker(weft_job_pool *pool, uint32_t index)
{
    WEFT_ASSERT(index < pool->worker_count);
    return &pool->workers[index];
}

uintptr_t weft__pool_take_over(weft_job_pool *pool, uintptr_t thread)
{
    uintptr_t old = pool->workers[0].head.thread;
    pool->workers[0].head.thread = thread;
    return old;
}

void weft__pool_add_user(weft_job_pool *pool, weft__pool_user *user, const char *name)
{
    weft__users_add(&pool->users, user, name);
}

void weft__pool_remove_user(weft_job_pool *pool, weft__pool_user *user)
{
    weft__users_remove(&pool->users, user);
}
