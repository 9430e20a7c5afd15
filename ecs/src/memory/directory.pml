/* SPDX-License-Identifier: MIT */
/* directory.pml: model of directory.c's _any family: blocks of 2 slots made on demand, the count word
 * of a block as its lock, THREADS threads that create an entity and destroy it twice, by its handle
 * and by the same handle again. Versions are modulo 16. No slot has two owners, a handle never
 * repeats, LIMIT only when all slots are taken, blocks are not made without end.
 * Locked operations only, and stores that release: the lock makes buffers invisible, but the last
 * store (unlock) is buffered.
 *
 * run: ok   two_threads      -DTHREADS=2 -DBLOCKS=1
 * run: ok   three_threads    -DTHREADS=3 -DBLOCKS=1 -DROUNDS=1
 * run: ok   three_twice      -DTHREADS=3 -DBLOCKS=1 deep
 * run: ok   two_blocks       -DTHREADS=3 -DBLOCKS=2 -DROUNDS=1 deep
 * run: fail version_reset    -DTHREADS=2 -DBLOCKS=1 -DBUG_VERSION_RESET
 * run: fail wrong_index      -DTHREADS=2 -DBLOCKS=2 -DBUG_BUSY_RELEASED_ON_WRONG_BLOCK
 * run: fail busy_is_full     -DTHREADS=2 -DBLOCKS=1 -DBUG_BUSY_IS_FULL
 * run: fail lock_no_cas      -DTHREADS=2 -DBLOCKS=1 -DBUG_LOCK_WITHOUT_CAS
 * run: fail no_version_check -DTHREADS=2 -DBLOCKS=1 -DBUG_DESTROY_WITHOUT_VERSION
 * run: fail make_unbounded   -DTHREADS=2 -DBLOCKS=1 -DBUG_END_NOT_HELPED
 */
#define PROCS THREADS
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define BUSY 9
#define COUNT(b) (b)
#define MADE(b) (2 + (b)) /* the block's pointer */
#define END 4
#define WORDS 5
#if THREADS > 2
#define ALL_DRAINED LOCKED(0) && LOCKED(1) && LOCKED(2)
#else
#define ALL_DRAINED LOCKED(0) && LOCKED(1)
#endif
#include "../../../tests/models/store_buffer.pml"

byte version[4];      /* guarded by the lock of the block */
bool used[4], owned[4];
bool handle_used[64]; /* slot * 16 + version */
byte free_slots = 2 * BLOCKS; /* never negative: slots that no thread owns or is taking */
byte slabs, running = THREADS;

inline unlock(p, b, n)
{
    ST(p, COUNT(b), n)
}

/* Makes the block at END; slabs counts the memory spent. */
inline make_block(p)
{
    LD(p, END, e);
    if
    :: e >= BLOCKS -> skip
    :: else ->
#ifndef BUG_END_NOT_HELPED
        LD(p, MADE(e), m);
        if
        :: m -> skip
        :: else ->
#endif
            slabs++;
            assert(slabs <= THREADS * BLOCKS);
            atomic { LOCKED(p) -> if :: mem[MADE(e)] == 0 -> mem[MADE(e)] = 1; m = 1 :: else -> m = 0 fi };
#ifdef BUG_END_NOT_HELPED
        if :: m -> atomic { LOCKED(p) -> if :: mem[END] == e -> mem[END]++ :: else -> skip fi } :: else -> skip fi
#else
        fi;
        atomic { LOCKED(p) -> if :: mem[END] == e -> mem[END]++ :: else -> skip fi }
#endif
    fi;
    e = 0; m = 0
}

/* Takes the lowest free slot of block b, which is held with count n. */
inline take_slot(p, b, n)
{
    d_step {
        slot = 2 * b + (used[2 * b] -> 1 : 0);
        assert(!used[slot] && !owned[slot]);
        used[slot] = true;
        owned[slot] = true;
        version[slot] = (version[slot] + 1) % 16;
        handle = slot * 16 + version[slot];
        assert(!handle_used[handle]);
        handle_used[handle] = true
    };
    unlock(p, b, n + 1);
    got = true
}

inline create(p)
{
    got = false;
    do
    :: !got ->
        met_busy = false;
        LD(p, END, end_seen);
        b = 0;
        do
        :: b < end_seen && !got ->
            LD(p, COUNT(b), n);
            if
            :: n == 2 -> skip
            :: n == BUSY -> met_busy = true
            :: else ->
#ifdef BUG_LOCK_WITHOUT_CAS
                atomic { LOCKED(p) -> mem[COUNT(b)] = BUSY; m = 1 };
#else
                atomic { LOCKED(p) -> if :: mem[COUNT(b)] == n -> mem[COUNT(b)] = BUSY; m = 1 :: else -> m = 0 fi };
#endif
                if :: m -> take_slot(p, b, n) :: else -> met_busy = true fi;
                m = 0
            fi;
            b++
        :: else -> break
        od;
        n = 0;
        if
        :: got -> skip
        :: !got && end_seen < BLOCKS -> make_block(p)
#ifdef BUG_BUSY_IS_FULL
        :: !got && end_seen == BLOCKS -> break
#else
        :: !got && end_seen == BLOCKS && met_busy -> skip
        :: !got && end_seen == BLOCKS && !met_busy -> break
#endif
        fi
    :: else -> break
    od;
    b = 0; met_busy = false; end_seen = 0;
    /* With fewer threads than slots there is always room. */
    assert(got || THREADS > 2 * BLOCKS)
}

/* Destroys by handle; `died`: by this call. */
inline destroy(p)
{
    b = slot / 2;
    died = false;
    do
    :: true ->
        LD(p, COUNT(b), n);
        if
        :: n == 0 -> break
        :: n == BUSY -> mem[COUNT(b)] != BUSY
        :: else ->
            atomic { LOCKED(p) -> if :: mem[COUNT(b)] == n -> mem[COUNT(b)] = BUSY; m = 1 :: else -> m = 0 fi };
            if :: m -> break :: else -> skip fi
        fi
    od;
    if
    :: m ->
#ifdef BUG_DESTROY_WITHOUT_VERSION
        if
        :: used[slot] ->
#else
        if
        :: used[slot] && version[slot] == handle % 16 ->
#endif
            d_step {
                owned[slot] = false;
                used[slot] = false;
#ifdef BUG_VERSION_RESET
                version[slot] = (n == 1 -> 0 : version[slot] + 1);
#else
                version[slot] = (version[slot] + 1) % 16;
#endif
                died = true
            };
            n--
        :: else -> skip
        fi;
#ifdef BUG_BUSY_RELEASED_ON_WRONG_BLOCK
        if :: died -> skip :: else -> b = slot % 2 fi;
        unlock(p, b, n)
#else
        unlock(p, b, n)
#endif
    :: else -> skip
    fi;
    b = 0; n = 0; m = 0
}

proctype thread(byte me)
{
    byte b, n, e, m, slot, handle, end_seen, rounds;
    bool got, met_busy, died;
    do
    :: rounds < ROUNDS ->
        rounds++;
        create(me);
        if
        :: got ->
            assert(owned[slot]);
            destroy(me);
            assert(died);
            destroy(me); /* a stale handle */
            assert(!died)
        :: else -> skip
        fi;
        slot = 0; handle = 0; got = false; died = false
    :: else -> break
    od;
    running--
}

init {
    byte i;
    atomic { do :: i < THREADS -> run thread(i); i++ :: else -> break od };
    running == 0;
    ALL_DRAINED;
    assert(mem[COUNT(0)] == 0 && !used[0] && !used[1])
}
