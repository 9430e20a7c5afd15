/* SPDX-License-Identifier: MIT */
/* lock.c: the futex lock of lock.h.
 *
 * A thread that had to wait takes the lock as "awaited", because others may wait as well: at worst
 * one wake-up too many. */
#include "lock.h"

void weft__lock_init(weft__lock *lock, const weft_os *os)
{
    lock->os = os;
    at_init(&lock->x_word, 0);
}

void weft__lock_lock(weft__lock *lock)
{
    uint32_t state = 0;
    if (at_cas_ar(&lock->x_word, &state, 1u)) return; /* U1 */
    while (at_xchg_ar(&lock->x_word, 2u) != 0) {      /* U1 */
        lock->os->futex_wait(lock->os->user, &lock->x_word, 2);
    }
}

void weft__lock_unlock(weft__lock *lock)
{
    if (at_xchg_ar(&lock->x_word, 0u) != 2) return; /* U1 */
    lock->os->futex_wake(lock->os->user, &lock->x_word, 1);
}
