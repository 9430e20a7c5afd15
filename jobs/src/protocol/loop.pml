/* SPDX-License-Identifier: MIT */
/* loop.pml: model of loop.c: one table entry that its opener opens ROUNDS times, PARTS participants
 * that join, claim, steal, report and leave, store buffers. Every item of every round runs exactly
 * once, for the round whose function the participant read, and the entry is recycled exactly when
 * no thread is inside. If the entry is still occupied the opener runs the round inline.
 *
 * run: ok   one_part         -DPARTS=1 -DROUNDS=2 -DITEMS=3
 * run: ok   two_parts        -DPARTS=2 -DROUNDS=1 -DITEMS=2
 * run: ok   three_items      -DPARTS=2 -DROUNDS=1 -DITEMS=3 deep
 * run: ok   two_rounds       -DPARTS=2 -DROUNDS=2 -DITEMS=2 deep
 * run: fail early_recycle    -DPARTS=1 -DROUNDS=2 -DITEMS=2 -DBUG_CLOSE_ALWAYS_RECYCLES
 * run: fail never_recycled   -DPARTS=1 -DROUNDS=1 -DITEMS=2 -DBUG_LEAVE_NEVER_RECYCLES
 * run: fail join_closed      -DPARTS=1 -DROUNDS=2 -DITEMS=2 -DBUG_JOIN_CLOSED
 * run: fail claim_no_cas     -DPARTS=1 -DROUNDS=1 -DITEMS=3 -DBUG_CLAIM_WITHOUT_CAS
 * run: fail steal_no_cas     -DPARTS=1 -DROUNDS=1 -DITEMS=3 -DBUG_STEAL_WITHOUT_CAS
 * run: fail open_first       -DPARTS=1 -DROUNDS=1 -DITEMS=2 -DBUG_OPEN_BEFORE_RANGES
 * run: fail wait_no_check    -DPARTS=1 -DROUNDS=1 -DITEMS=2 -DBUG_WAIT_WITHOUT_CHECK
 */
#define PROCS (PARTS + 1)
#define CTL 0    /* CLOSED + participants inside */
#define LEFT 1   /* WAITING + items not yet reported */
#define FREE 2
#define ROUND 3  /* stands for fn and argument */
#define TOKEN 4
#define RANGE(w) (5 + (w)) /* begin * 8 + end */
#define WORDS (6 + PARTS)
#define CLOSED 16
#define WAITING 64
#include "../../../tests/models/store_buffer.pml"

byte ran[ROUNDS * ITEMS];
byte running = PROCS;

inline cas(p, a, old, new, ok)
{
    atomic { LOCKED(p) -> if :: mem[a] == (old) -> mem[a] = new; ok = 1 :: else -> ok = 0 fi }
}

/* Claims one item of its own range; item 255 when it is empty. */
inline claim(p)
{
    do
    :: true ->
        LD(p, RANGE(p), r);
        if
        :: (r / 8) >= (r % 8) -> item = 255; break
        :: else -> skip
        fi;
#ifdef BUG_CLAIM_WITHOUT_CAS
        ST(p, RANGE(p), r + 8);
        item = r / 8;
        break
#else
        cas(p, RANGE(p), r, r + 8, ok);
        if :: ok -> item = r / 8; break :: else -> skip fi
#endif
    od;
    r = 0
}

/* Moves the upper half of the victim's range into its own empty one. */
inline steal(p, victim)
{
    LD(p, RANGE(victim), r);
    if
    :: (r / 8) >= (r % 8) -> ok = 0
    :: else ->
        half = (r / 8) + ((r % 8) - (r / 8)) / 2;
#ifdef BUG_STEAL_WITHOUT_CAS
        ST(p, RANGE(victim), (r / 8) * 8 + half);
        ok = 1;
#else
        cas(p, RANGE(victim), r, (r / 8) * 8 + half, ok);
#endif
        if :: ok -> ST(p, RANGE(p), half * 8 + (r % 8)) :: else -> ok = 2 fi
    fi;
    r = 0
}

inline participate(p)
{
    done = 0;
    do
    :: true ->
        claim(p);
        if
        :: item != 255 ->
            d_step { ran[round * ITEMS + item]++; assert(ran[round * ITEMS + item] == 1) };
            done++
        :: else ->
            victim = 0;
            got = 0;
            do
            :: victim <= PARTS && !got ->
                if
                :: victim != p -> steal(p, victim); if :: ok -> got = 1 :: else -> skip fi
                :: else -> skip
                fi;
                victim++
            :: else -> break
            od;
            if :: got -> skip :: else -> break fi
        fi
    od;
    item = 0; got = 0; victim = 0; half = 0
}

/* Reports what it ran; the last finisher wakes a waiting opener. */
inline report(p)
{
    if
    :: done ->
        atomic { LOCKED(p) -> mem[LEFT] = mem[LEFT] - done; ok = (mem[LEFT] == WAITING) };
        if :: ok -> ST(p, TOKEN, 1) :: else -> skip fi
    :: else -> skip
    fi;
    done = 0
}

inline leave(p)
{
    atomic { LOCKED(p) -> mem[CTL]--; ok = (mem[CTL] == CLOSED) };
#ifndef BUG_LEAVE_NEVER_RECYCLES
    if :: ok -> atomic { LOCKED(p) -> assert(mem[FREE] == 0); mem[FREE] = 1 } :: else -> skip fi
#endif
}

proctype participant(byte me)
{
    byte r, item, half, done, round, ctl, tries, victim;
    bool got;
    byte ok;
    do
    :: tries < ROUNDS ->
        tries++;
        LD(me, CTL, ctl);
#ifdef BUG_JOIN_CLOSED
        ctl = ctl % CLOSED;
        atomic { LOCKED(me) -> mem[CTL]++; ok = 1 };
#else
        if
        :: ctl < CLOSED -> cas(me, CTL, ctl, ctl + 1, ok)
        :: else -> ok = 0
        fi;
#endif
        ctl = 0;
        if
        :: ok ->
            LD(me, ROUND, round);
            participate(me);
            report(me);
            leave(me)
        :: else -> skip
        fi;
        ok = 0; round = 0
    :: break
    od;
    running--
}

/* Own ranges first: worker 0 is the opener. */
inline split()
{
    ST(0, RANGE(0), (ITEMS + 1) / 2);
    ST(0, RANGE(1), ((ITEMS + 1) / 2) * 8 + ITEMS)
#if PARTS > 1
    ;
    ST(0, RANGE(2), 0)
#endif
}

inline open_it()
{
    ST(0, ROUND, round);
#ifdef BUG_OPEN_BEFORE_RANGES
    ST(0, LEFT, ITEMS);
    ST(0, CTL, 0);
    split()
#else
    split();
    ST(0, LEFT, ITEMS);
    ST(0, CTL, 0)
#endif
}

proctype opener()
{
    byte r, item, half, done, round, n, victim;
    bool got;
    byte ok;
    do
    :: n < ROUNDS ->
        round = n;
        n++;
        cas(0, FREE, 1, 0, ok);
        if
        :: ok ->
            open_it();
            participate(0);
            report(0);
            LD(0, LEFT, r);
            if
            :: r != 0 ->
                atomic { LOCKED(0) -> ok = mem[LEFT]; mem[LEFT] = mem[LEFT] + WAITING };
#ifdef BUG_WAIT_WITHOUT_CHECK
                ok = 1;
#endif
                if :: ok -> mem[TOKEN] == 1; mem[TOKEN] = 0 :: else -> skip fi
            :: else -> skip
            fi;
            r = 0;
            for (item : 0 .. ITEMS - 1) { assert(ran[round * ITEMS + item] == 1) };
            item = 0;
            atomic { LOCKED(0) -> ok = (mem[CTL] % CLOSED == 0); mem[CTL] = mem[CTL] + CLOSED };
#ifdef BUG_CLOSE_ALWAYS_RECYCLES
            ok = 1;
#endif
            if :: ok -> atomic { LOCKED(0) -> mem[FREE] = 1 } :: else -> skip fi
        :: else -> skip /* inline */
        fi;
        ok = 0
    :: else -> break
    od;
    running--
}

init {
    byte i = 1;
    d_step { mem[FREE] = 1; mem[CTL] = CLOSED };
    atomic {
        run opener();
        do :: i <= PARTS -> run participant(i); i++ :: else -> break od
    };
    running == 0;
    assert(mem[FREE] == 1 && mem[CTL] == CLOSED)
}
