/* SPDX-License-Identifier: MIT */
/* wake.pml: model of wake.c: WORKERS workers with the serving loop of worker.c, one publisher, store
 * buffers, futexes. Work is two counts, published and taken. A lost wake-up is an invalid end state;
 * at the end everything was taken and the counts are balanced. With BARRIER a piece of work ends only
 * when all have begun: a worker is woken for each, not merely one for all.
 *
 * run: ok   one_worker       -DWORKERS=1 -DWORK=3
 * run: ok   two_workers      -DWORKERS=2 -DWORK=2
 * run: ok   two_barrier      -DWORKERS=2 -DWORK=2 -DBARRIER
 * run: ok   three_workers    -DWORKERS=3 -DWORK=2 deep
 * run: fail no_recheck       -DWORKERS=1 -DWORK=1 -DBUG_NO_RECHECK
 * run: fail publish_buffered -DWORKERS=1 -DWORK=1 -DBUG_PUBLISH_BUFFERED
 * run: fail look_first       -DWORKERS=1 -DWORK=1 -DBUG_LOOK_BEFORE_PUBLISH
 * run: fail leave_late       -DWORKERS=2 -DWORK=2 -DBUG_LEAVE_SEARCH_LATE
 * run: fail no_compare       -DWORKERS=1 -DWORK=1 -DBUG_FUTEX_WITHOUT_COMPARE
 * run: fail two_wakers       -DWORKERS=1 -DWORK=2 -DBUG_BIT_NOT_OWNED
 * run: fail no_pass_on       -DWORKERS=2 -DWORK=2 -DBARRIER -DBUG_LAST_SEARCHER_SILENT
 * run: fail no_count         -DWORKERS=2 -DWORK=2 -DBUG_WOKEN_NOT_COUNTED
 */
#define PROCS (WORKERS + 1)
#define PUBLISHER WORKERS
#define PUBLISHED 0
#define TAKEN 1
#define SLEEPERS 2
#define SEARCHING 3
#define STOP 4
#define DONE 5
#define TOKEN(w) (6 + (w))
#define WORDS (6 + WORKERS)
#include "../../../tests/models/store_buffer.pml"

bool asleep[WORKERS]; /* in the kernel's queue */
byte running = WORKERS + 1;

inline has_work(p, answer)
{
    LD(p, PUBLISHED, x);
    LD(p, TAKEN, y);
    LD(p, STOP, z);
    d_step { answer = (x > y || z); x = 0; y = 0; z = 0 }
}

/* Takes the bit of worker w; `answer`: it was set. */
inline take_bit(p, w, answer)
{
    atomic {
        LOCKED(p) ->
        answer = (mem[SLEEPERS] >> (w)) & 1;
        mem[SLEEPERS] = mem[SLEEPERS] & (255 - (1 << (w)))
    }
}

inline wake_one(p, w)
{
    take_bit(p, w, hit);
#ifdef BUG_BIT_NOT_OWNED
    hit = 1;
#endif
    if
    :: hit ->
#ifndef BUG_WOKEN_NOT_COUNTED
        atomic { LOCKED(p) -> mem[SEARCHING]++ };
#endif
        ST(p, TOKEN(w), 1);
        atomic { LOCKED(p) -> asleep[w] = false } /* futex wake: a locked operation */
    :: else -> skip
    fi
}

inline notify(p)
{
    do
    :: true ->
        LD(p, SLEEPERS, x);
        if :: x == 0 -> break :: else -> skip fi;
        LD(p, SEARCHING, y);
        if :: y != 0 -> break :: else -> skip fi;
        LD(p, SLEEPERS, x);
        if
        :: x == 0 -> break
        :: x & 1 -> wake_one(p, 0)
#if WORKERS > 1
        :: x & 2 -> wake_one(p, 1)
#endif
#if WORKERS > 2
        :: x & 4 -> wake_one(p, 2)
#endif
        fi;
        if :: hit -> break :: else -> skip fi
    od;
    atomic { x = 0; y = 0; hit = 0 }
}

inline try_take(p)
{
    LD(p, PUBLISHED, x);
    LD(p, TAKEN, y);
    got = 0;
    if
    :: x > y -> atomic { LOCKED(p) -> if :: mem[TAKEN] == y -> mem[TAKEN]++; got = 1 :: else -> got = 2 fi }
    :: else -> skip
    fi;
    d_step { x = 0; y = 0 }
}

inline end_search(p)
{
    if
    :: searching ->
        searching = false;
        atomic { LOCKED(p) -> mem[SEARCHING]--; hit = (mem[SEARCHING] == 0) };
        if
#ifdef BUG_LAST_SEARCHER_SILENT
        :: false -> skip
#else
        :: hit -> has_work(p, hit); if :: hit -> hit = 0; notify(p) :: else -> skip fi
#endif
        :: else -> skip
        fi;
        hit = 0
    :: else -> skip
    fi
}

inline run_it(p)
{
    end_search(p);
#ifdef BARRIER
    mem[TAKEN] == WORK;
#endif
    atomic { LOCKED(p) -> mem[DONE]++ }
}

inline begin_search(p)
{
    if
    :: searching -> skip
    :: else ->
        LD(p, SEARCHING, x);
        if
        :: 2 * x < WORKERS -> atomic { LOCKED(p) -> mem[SEARCHING]++ }; searching = true
        :: else -> skip
        fi;
        x = 0
    fi
}

inline token_wait(p)
{
    do
    :: true ->
        LD(p, TOKEN(p), x);
        if :: x -> break :: else -> skip fi;
#ifdef BUG_FUTEX_WITHOUT_COMPARE
        atomic { LOCKED(p) -> asleep[p] = true };
#else
        atomic { LOCKED(p) -> if :: mem[TOKEN(p)] == 0 -> asleep[p] = true :: else -> skip fi };
#endif
        !asleep[p]
    od;
    ST(p, TOKEN(p), 0);
    x = 0
}

inline sleep_once(p)
{
    atomic { LOCKED(p) -> mem[SLEEPERS] = mem[SLEEPERS] | (1 << p) };
#ifdef BUG_LEAVE_SEARCH_LATE
    has_work(p, got);
    if :: searching -> atomic { LOCKED(p) -> mem[SEARCHING]-- } :: else -> skip fi;
#else
    if :: searching -> atomic { LOCKED(p) -> mem[SEARCHING]-- } :: else -> skip fi;
    has_work(p, got);
#endif
#ifdef BUG_NO_RECHECK
    got = 0;
#endif
    hit = 0;
    if :: got -> take_bit(p, p, hit) :: else -> skip fi;
    if
    :: hit -> atomic { LOCKED(p) -> mem[SEARCHING]++ }
    :: else -> token_wait(p)
    fi;
    atomic { searching = true; hit = 0; got = 0 }
}

proctype worker(byte me)
{
    byte x, y, z, got, hit;
    bool searching;
    begin_search(me);
    do
    :: true ->
        LD(me, STOP, z);
        if :: z -> break :: else -> skip fi;
        try_take(me);
        if
        :: got == 1 -> run_it(me)
        :: got == 2 -> skip
        :: else ->
            begin_search(me);
            try_take(me);
            if
            :: got == 1 -> run_it(me)
            :: got == 2 -> skip
            :: else -> sleep_once(me)
            fi
        fi;
        got = 0
    od;
    if :: searching -> atomic { LOCKED(me) -> mem[SEARCHING]-- } :: else -> skip fi;
    running--
}

proctype publisher()
{
    byte x, y, z, hit, n;
    do
    :: n < WORK ->
        n++;
#ifdef BUG_LOOK_BEFORE_PUBLISH
        LD(PUBLISHER, SLEEPERS, z);
        atomic { LOCKED(PUBLISHER) -> mem[PUBLISHED] = n };
        if :: z -> notify(PUBLISHER) :: else -> skip fi;
        z = 0
#else
#ifdef BUG_PUBLISH_BUFFERED
        ST(PUBLISHER, PUBLISHED, n);
#else
        atomic { LOCKED(PUBLISHER) -> mem[PUBLISHED] = n }; /* W1 */
#endif
        notify(PUBLISHER)
#endif
    :: else -> break
    od;
    mem[DONE] == WORK;
    atomic { LOCKED(PUBLISHER) -> mem[STOP] = 1 };
    n = 0;
    do
    :: n < WORKERS -> wake_one(PUBLISHER, n); n++
    :: else -> break
    od;
    running--
}

init {
    byte i;
    atomic {
        do :: i < WORKERS -> run worker(i); i++ :: else -> break od;
        run publisher()
    };
    running == 0;
    assert(mem[TAKEN] == WORK && mem[SEARCHING] == 0 && mem[SLEEPERS] == 0)
}
