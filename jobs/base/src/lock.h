/* SPDX-License-Identifier: MIT */
/* lock.h: a lock for what is rarely touched: one word and a futex. A thread that finds it held
 * announces itself, so that an uncontended lock makes no system call. It does not spin.
 *
 *   lock, unlock: any thread; not recursive
 *
 * Edges:
 *   U1  unlock: exchange of x_word -> lock: CAS or exchange of x_word (what the lock guards) */
#pragma once

#include "os.h"

/* Owner: the struct that it is a part of. Invariant: x_word is 0 free, 1 held, 2 held and maybe
 * awaited; a thread sleeps only while it is 2. */
typedef struct weft__lock {
    const weft_os *os; /* constant after init */
    weft_a32 x_word;   /* shared atomic */
} weft__lock;

void weft__lock_init(weft__lock *lock, const weft_os *os);
void weft__lock_lock(weft__lock *lock);
void weft__lock_unlock(weft__lock *lock);
