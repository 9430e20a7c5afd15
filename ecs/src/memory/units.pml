/* SPDX-License-Identifier: MIT */
/* units.pml: model of units.c: 2 megachunks of 3 units that share one reservation, none kept mapped
 * when empty; THREADS threads take a unit (or two) and give it back; mapping may fail. No unit has
 * two owners, memory is there as long as a unit is in use, LIMIT only when every megachunk was full,
 * a failure leaves everything as it was, and at rest nothing is busy and nothing is mapped.
 *
 * run: ok   two_threads      -DTHREADS=2 -DTAKES=2
 * run: ok   two_apart        -DTHREADS=2 -DTAKES=2 -DAPART
 * run: ok   two_failing      -DTHREADS=2 -DTAKES=1 -DMAP_MAY_FAIL
 * run: ok   three_threads    -DTHREADS=3 -DTAKES=1
 * run: ok   three_failing    -DTHREADS=3 -DTAKES=1 -DMAP_MAY_FAIL deep
 * run: fail rollback         -DTHREADS=2 -DTAKES=1 -DMAP_MAY_FAIL -DBUG_ROLLBACK_OWN_BITS_ONLY
 * run: fail claim_then_map   -DTHREADS=2 -DTAKES=1 -DBUG_NOT_BUSY_WHILE_MAPPING
 * run: fail unmap_one_half   -DTHREADS=2 -DTAKES=2 -DAPART -DBUG_UNMAP_HOLDING_ONE_HALF
 * run: fail reopen_first     -DTHREADS=2 -DTAKES=2 -DAPART -DBUG_REOPEN_BEFORE_UNMAP
 * run: fail free_no_cas      -DTHREADS=2 -DTAKES=1 -DBUG_FREE_WITHOUT_CAS
 * run: fail stale_mask       -DTHREADS=2 -DTAKES=1 -DBUG_STALE_MASK_AFTER_CAS
 * run: fail two_maps         -DTHREADS=2 -DTAKES=1 -DAPART -DBUG_MAP_WITHOUT_CAS
 */
#define PROCS THREADS
#ifdef APART
#define HOME(p) ((p) % 2)
#else
#define HOME(p) 0
#endif
#define FULL 7
#define MASK(m) (m)
#define MEMORY 2
#define WORDS 3
#if THREADS > 2
#define ALL_DRAINED LOCKED(0) && LOCKED(1) && LOCKED(2)
#else
#define ALL_DRAINED LOCKED(0) && LOCKED(1)
#endif
#include "../../../tests/models/store_buffer.pml"

byte owner[6];
byte mapped;            /* reservations mapped: 0 or 1, but for a moment 2 */
byte running = THREADS;

inline cas(p, a, old, new, ok)
{
    atomic { LOCKED(p) -> if :: mem[a] == (old) -> mem[a] = new; ok = true :: else -> ok = false fi }
}

/* The caller holds megachunk m busy. ok: there is memory. */
inline obtain(p)
{
    LD(p, MEMORY, x);
    if
    :: x -> ok = true
    :: else ->
        if
        :: true ->
            mapped++;
#ifdef BUG_MAP_WITHOUT_CAS
            ST(p, MEMORY, 1);
            ok = true
#else
            cas(p, MEMORY, 0, 1, ok);
            if :: ok -> skip :: else -> mapped--; ok = true fi
#endif
#ifdef MAP_MAY_FAIL
        :: true -> LD(p, MEMORY, x); ok = (x != 0)
#endif
        fi
    fi;
    x = 0
}

inline own(p, unit)
{
    d_step {
        assert(owner[unit] == 0);
        owner[unit] = p + 1;
        assert(mapped >= 1) /* else the address is null */
    }
}

/* Takes one unit of megachunk m if it can; `got` tells, `refused`: no memory. */
inline claim(p)
{
    do
    :: true ->
        LD(p, MASK(m), mask);
        if
        :: mask == FULL -> break
        :: mask == 0 ->
#ifdef BUG_NOT_BUSY_WHILE_MAPPING
            cas(p, MASK(m), 0, 1, ok);
            if :: ok -> own(p, 3 * m); obtain(p); unit = 3 * m; got = true; break :: else -> skip fi
#else
            cas(p, MASK(m), 0, FULL, ok);
            if
            :: ok ->
                obtain(p);
                if
                :: ok -> unit = 3 * m; own(p, unit); ST(p, MASK(m), 1); got = true
                :: else ->
                    refused = true;
#ifdef BUG_ROLLBACK_OWN_BITS_ONLY
                    ST(p, MASK(m), FULL - 1)
#else
                    ST(p, MASK(m), 0)
#endif
                fi;
                break
            :: else -> skip
            fi
#endif
        :: else ->
            unit = (mask & 1 -> (mask & 2 -> 2 : 1) : 0);
#ifdef BUG_STALE_MASK_AFTER_CAS
            cas(p, MASK(m), mask, mask | (1 << unit), ok);
            if
            :: ok -> skip
            :: else -> atomic { LOCKED(p) -> mem[MASK(m)] = mask | (1 << unit); ok = true }
            fi;
#else
            cas(p, MASK(m), mask, mask | (1 << unit), ok);
#endif
            if :: ok -> unit = unit + 3 * m; own(p, unit); got = true; break :: else -> skip fi
        fi
    od;
    mask = 0; ok = false
}

/* The caller holds megachunk m busy: it is empty. Unmaps if the other half is empty too. */
inline became_empty(p)
{
#ifdef BUG_REOPEN_BEFORE_UNMAP
    ST(p, MASK(m), 0);
#endif
#ifdef BUG_UNMAP_HOLDING_ONE_HALF
    LD(p, MASK(1 - m), mask);
    ok = (mask == 0);
#else
    cas(p, MASK(1 - m), 0, FULL, ok);
#endif
    if
    :: ok ->
        atomic { LOCKED(p) -> x = mem[MEMORY]; mem[MEMORY] = 0 };
        if :: x -> mapped-- :: else -> skip fi;
#ifndef BUG_UNMAP_HOLDING_ONE_HALF
        ST(p, MASK(1 - m), 0)
#endif
    :: else -> skip
    fi;
#ifndef BUG_REOPEN_BEFORE_UNMAP
    ST(p, MASK(m), 0);
#endif
    x = 0; mask = 0; ok = false
}

inline give(p, u)
{
    m = u / 3;
    d_step { assert(owner[u] == p + 1); assert(mapped >= 1); owner[u] = 0 };
    do
    :: true ->
        LD(p, MASK(m), mask);
        assert(mask & (1 << (u % 3)));
        if
        :: mask == (1 << (u % 3)) ->
            cas(p, MASK(m), mask, FULL, ok);
            if :: ok -> became_empty(p); break :: else -> skip fi
        :: else ->
#ifdef BUG_FREE_WITHOUT_CAS
            atomic { LOCKED(p) -> mem[MASK(m)] = mask - (1 << (u % 3)); ok = true };
#else
            cas(p, MASK(m), mask, mask - (1 << (u % 3)), ok);
#endif
            if :: ok -> break :: else -> skip fi
        fi
    od;
    m = 0; mask = 0; ok = false
}

/* One round over both megachunks from `start`; a busy one is not full: again. */
inline take(p)
{
    got = false; refused = false;
    m = HOME(p);
    claim(p);
    if :: !got -> m = 1 - m; claim(p) :: else -> skip fi;
    m = 0; refused = false
}

proctype thread(byte me)
{
    byte m, mask, x, unit, first, n;
    bool ok, got, refused;
    do
    :: n < TAKES ->
        n++;
        take(me);
        if
        :: got -> first = unit; give(me, first)
        :: else -> skip
        fi;
        first = 0; unit = 0; got = false
    :: else -> break
    od;
    running--
}

init {
    byte i;
    atomic { do :: i < THREADS -> run thread(i); i++ :: else -> break od };
    running == 0;
    ALL_DRAINED;
    assert(mem[MASK(0)] == 0 && mem[MASK(1)] == 0);
    assert(mapped == mem[MEMORY])
}
