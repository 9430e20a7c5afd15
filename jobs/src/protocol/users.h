/* users.h: who runs on a pool and must end before it: the worlds it was lent to. A list of names
 * under a lock, so that weft_job_pool_destroy can refuse and say whom it waits for. Rarely touched:
 * when a world is created or destroyed, and when the pool is.
 *
 *   add, remove, describe: any thread
 *
 * Edges:
 *   U1  unlock: exchange of x_lock -> lock: CAS or exchange of x_lock (list, names, rings) */
#ifndef WEFT_USERS_H
#define WEFT_USERS_H

#include "atomic.h"
#include "jobs_engine.h"
#include "os.h"

/* Owner: the pool. */
typedef struct weft__pool_users {
    const weft_os *os; /* constant after init */
    /* guarded by x_lock */
    weft__pool_user *first; /* youngest first */
    uint32_t count;
    /* shared atomic */
    weft_a32 x_lock; /* 0 free, 1 held, 2 held and awaited */
} weft__pool_users;

/* The lock, which also makes one reader of the rings of trace events at a time (trace_file.c). */
void weft__users_lock(weft__pool_users *users);
void weft__users_unlock(weft__pool_users *users);

void weft__users_add(weft__pool_users *users, weft__pool_user *user, const char *name);
void weft__users_remove(weft__pool_users *users, weft__pool_user *user);
/* How many there are; the names of as many as fit go into `text`: 'a', 'b', ... */
uint32_t weft__users_describe(weft__pool_users *users, char *text, size_t capacity);

#endif
