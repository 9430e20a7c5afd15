/* SPDX-License-Identifier: MIT */
/* job.pml: model of job.c: a job ends while another thread makes a successor depend on it, and the
 * slot of the ended job is used again at once. The list word of the slot is {generation, head}; the
 * successor counts its unmet predecessors and one guard. Store buffers. The successor becomes ready
 * exactly once, after the output of the predecessor is in memory.
 *
 * run: ok   one              -DPREDECESSORS=1
 * run: ok   two              -DPREDECESSORS=2
 * run: fail no_guard         -DPREDECESSORS=2 -DBUG_NO_GUARD
 * run: fail no_generation    -DPREDECESSORS=1 -DBUG_GENERATION_NOT_COMPARED
 * run: fail attach_store     -DPREDECESSORS=1 -DBUG_ATTACH_WITHOUT_CAS
 * run: fail count_late       -DPREDECESSORS=1 -DBUG_COUNT_AFTER_ATTACH
 * run: fail close_first      -DPREDECESSORS=1 -DBUG_CLOSE_BEFORE_OUTPUT
 * run: fail close_no_xchg    -DPREDECESSORS=1 -DBUG_CLOSE_WITHOUT_EXCHANGE
 * run: fail no_undo          -DPREDECESSORS=1 -DBUG_ENDED_NOT_COUNTED_DOWN
 */
#define PROCS (PREDECESSORS + 1)
#define ATTACHER PREDECESSORS
#define LIST(i) (i)          /* generation * 4 + EMPTY, EDGE or CLOSED */
#define OUTPUT(i) (2 + (i))
#define PENDING 4
#define WORDS 5
#define EMPTY 0
#define EDGE 1
#define CLOSED 2
#include "../../../tests/models/store_buffer.pml"

byte ready;
byte running = PROCS;

/* Removes one from pending; the last one finds the outputs of all. */
inline remove_pending(p)
{
    atomic { LOCKED(p) -> assert(mem[PENDING] > 0); mem[PENDING]--; last = (mem[PENDING] == 0) };
    if
    :: last ->
        LD(p, OUTPUT(0), x);
        assert(x == 1);
#if PREDECESSORS > 1
        LD(p, OUTPUT(1), x);
        assert(x == 1);
#endif
        ready++;
        assert(ready == 1)
    :: else -> skip
    fi;
    x = 0; last = false
}

inline finish(p, generation)
{
#ifdef BUG_CLOSE_WITHOUT_EXCHANGE
    LD(p, LIST(p), head);
    ST(p, LIST(p), generation * 4 + CLOSED);
#else
    atomic { LOCKED(p) -> head = mem[LIST(p)]; mem[LIST(p)] = generation * 4 + CLOSED };
#endif
    head = head % 4;
    if :: head == EDGE -> remove_pending(p) :: else -> skip fi;
    head = 0
}

proctype runner(byte me)
{
    byte head, x;
    bool last;
#ifdef BUG_CLOSE_BEFORE_OUTPUT
    finish(me, 1);
    ST(me, OUTPUT(me), 1);
#else
    ST(me, OUTPUT(me), 1);
    finish(me, 1);
#endif
    /* The slot is used again: generation 2, without a waiter. */
    ST(me, LIST(me), 2 * 4 + EMPTY);
    atomic { LOCKED(me) -> head = mem[LIST(me)]; mem[LIST(me)] = 2 * 4 + CLOSED };
    assert(head == 2 * 4 + EMPTY);
    running--
}

inline attach(i)
{
#ifndef BUG_COUNT_AFTER_ATTACH
    atomic { LOCKED(ATTACHER) -> mem[PENDING]++ };
#endif
    attached = 0;
    do
    :: true ->
        LD(ATTACHER, LIST(i), old);
#ifdef BUG_GENERATION_NOT_COMPARED
        if :: old % 4 == CLOSED -> break :: else -> skip fi;
#else
        if :: old / 4 != 1 || old % 4 == CLOSED -> break :: else -> skip fi;
#endif
#ifdef BUG_ATTACH_WITHOUT_CAS
        ST(ATTACHER, LIST(i), (old / 4) * 4 + EDGE);
        attached = 1;
        break
#else
        atomic {
            LOCKED(ATTACHER) ->
            if
            :: mem[LIST(i)] == old -> mem[LIST(i)] = (old / 4) * 4 + EDGE; attached = 1
            :: else -> skip
            fi
        };
        if :: attached -> break :: else -> skip fi
#endif
    od;
    old = 0;
#ifdef BUG_COUNT_AFTER_ATTACH
    if :: attached -> atomic { LOCKED(ATTACHER) -> mem[PENDING]++ } :: else -> skip fi
#else
#ifndef BUG_ENDED_NOT_COUNTED_DOWN
    if :: attached -> skip :: else -> remove_pending(ATTACHER) fi
#endif
#endif
}

proctype attacher()
{
    byte old, x;
    bool last, attached;
#ifdef BUG_NO_GUARD
    attach(0);
    attach(1);
#else
    atomic { LOCKED(ATTACHER) -> mem[PENDING] = 1 };
    attach(0);
#if PREDECESSORS > 1
    attach(1);
#endif
    remove_pending(ATTACHER);
#endif
    running--
}

init {
    d_step {
        mem[LIST(0)] = 1 * 4 + EMPTY;
        mem[LIST(1)] = 1 * 4 + EMPTY
    };
    atomic {
        run runner(0);
#if PREDECESSORS > 1
        run runner(1);
#endif
        run attacher()
    };
    running == 0;
    assert(ready == 1)
}
