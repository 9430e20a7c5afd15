/* SPDX-License-Identifier: MIT */
/* deque.pml: model of deque.h: capacity 2, one owner, THIEVES thieves, store buffers. The owner pushes
 * ITEMS items with pops in between, in every order, then pops until empty. Each item is taken exactly
 * once. Each -D variant seeds a fault that must be found.
 *
 * run: ok   one_thief      -DTHIEVES=1 -DITEMS=4
 * run: ok   two_thieves    -DTHIEVES=2 -DITEMS=3
 * run: fail pop_buffered   -DTHIEVES=1 -DITEMS=3 -DBUG_POP_BUFFERED
 * run: fail last_no_cas    -DTHIEVES=1 -DITEMS=2 -DBUG_LAST_WITHOUT_CAS
 * run: fail steal_order    -DTHIEVES=2 -DITEMS=3 -DBUG_BOTTOM_BEFORE_TOP
 * run: fail slot_after     -DTHIEVES=2 -DITEMS=4 -DBUG_SLOT_AFTER_CAS
 * run: fail full_ignored   -DTHIEVES=1 -DITEMS=4 -DBUG_NO_FULL_CHECK
 * run: fail publish_first  -DTHIEVES=1 -DITEMS=2 -DBUG_BOTTOM_BEFORE_SLOT
 */
#define WORDS 4
#define PROCS (THIEVES + 1)
#define TOP 0
#define BOTTOM 1
#define SLOT(i) (2 + (i) % 2)
#include "../../../tests/models/store_buffer.pml"

byte taken[ITEMS + 1];
byte left = ITEMS, running = PROCS;

inline take(item)
{
    d_step {
        assert(item >= 1 && item <= ITEMS);
        taken[item]++;
        assert(taken[item] == 1);
        left--
    }
}

/* p is 0: the owner. `bottom` is its private copy. */
inline push()
{
    LD(0, TOP, t);
#ifdef BUG_NO_FULL_CHECK
    if
    :: true ->
#else
    if
    :: bottom - t < 2 ->
#endif
        pushed++;
#ifdef BUG_BOTTOM_BEFORE_SLOT
        atomic { LOCKED(0) -> mem[BOTTOM] = bottom + 1 };
        ST(0, SLOT(bottom), pushed);
        bottom++
#else
        ST(0, SLOT(bottom), pushed);
        bottom++;
        atomic { LOCKED(0) -> mem[BOTTOM] = bottom } /* sc */
#endif
#ifndef BUG_NO_FULL_CHECK
    :: else -> skip
#endif
    fi
}

inline pop()
{
    LD(0, TOP, t);
    if
    :: bottom <= t -> got = 0
    :: else ->
        last = bottom - 1;
#ifdef BUG_POP_BUFFERED
        ST(0, BOTTOM, last);
#else
        atomic { LOCKED(0) -> mem[BOTTOM] = last }; /* sc */
#endif
        LD(0, TOP, t);
        LD(0, SLOT(last), got);
        if
        :: t < last -> bottom = last; take(got)
        :: t == last ->
#ifdef BUG_LAST_WITHOUT_CAS
            mem[TOP] = last + 1; take(got);
#else
            atomic {
                LOCKED(0) ->
                if
                :: mem[TOP] == t -> mem[TOP] = last + 1; take(got)
                :: else -> skip
                fi
            };
#endif
            ST(0, BOTTOM, last + 1)
        :: t > last -> ST(0, BOTTOM, last + 1)
        fi
    fi
}

active proctype owner()
{
    byte bottom = 1, t, got, last, pushed;
    atomic { mem[TOP] == 1 };
    do
    :: pushed < ITEMS -> push()
    :: pop()
    :: pushed == ITEMS -> break
    od;
    do
    :: LD(0, TOP, t); if :: bottom <= t -> break :: else -> pop() fi
    od;
    running--
}

proctype thief(byte me)
{
    byte t, b, item, tries;
    do
    :: tries < 2 ->
        tries++;
#ifdef BUG_BOTTOM_BEFORE_TOP
        LD(me, BOTTOM, b);
        LD(me, TOP, t);
#else
        LD(me, TOP, t);
        LD(me, BOTTOM, b);
#endif
        if
        :: t >= b -> skip
        :: else ->
#ifdef BUG_SLOT_AFTER_CAS
            atomic { LOCKED(me) -> if :: mem[TOP] == t -> mem[TOP] = t + 1; b = 1 :: else -> b = 0 fi };
            if :: b -> LD(me, SLOT(t), item); take(item) :: else -> skip fi
#else
            LD(me, SLOT(t), item);
            atomic {
                LOCKED(me) ->
                if
                :: mem[TOP] == t -> mem[TOP] = t + 1; take(item)
                :: else -> skip
                fi
            }
#endif
        fi;
        t = 0; b = 0; item = 0
    :: break
    od;
    running--
}

init {
    atomic {
        mem[TOP] = 1; mem[BOTTOM] = 1;
        byte i = 1;
        do :: i <= THIEVES -> run thief(i); i++ :: else -> break od
    };
    running == 0;
    assert(left == 0)
}
