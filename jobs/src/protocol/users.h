/* SPDX-License-Identifier: MIT */
/* users.h: the worlds that a pool was lent to, and that must end before it: a list of names under a
 * lock, so that weft_job_pool_destroy can refuse and say whom it waits for. Touched when a world is
 * created or destroyed, and when the pool is.
 *
 *   add, remove, describe: any thread */
#pragma once

#include "jobs_engine.h"
#include "lock.h"

/* Owner: the pool. Invariants: count == length of the list; each user is in it once. */
typedef struct weft__pool_users {
    weft__lock lock;
    /* guarded by lock */
    weft__pool_user *first; /* youngest first */
    uint32_t count;
} weft__pool_users;

void weft__users_add(weft__pool_users *users, weft__pool_user *user, const char *name);
void weft__users_remove(weft__pool_users *users, weft__pool_user *user);
/* How many there are; the names of as many as fit go into `text`: 'a', 'b', ... */
uint32_t weft__users_describe(weft__pool_users *users, char *text, size_t capacity);
