/* SPDX-License-Identifier: MIT */
/* store_buffer.pml: shared memory with a two-entry store buffer per process (x86-64), for the models
 * beside the code. A model defines WORDS and PROCS before including it, and starts drain() once.
 *
 * LD, ST: plain load (own buffer first) and buffered store. LOCKED(p): guard of a locked operation:
 * true when p's buffer is empty; put it at the head of an atomic block that reads and writes mem[].
 * A sequentially consistent store is atomic { LOCKED(p) -> mem[a] = v }. */
byte mem[WORDS];
byte sb_count[PROCS], sb_a0[PROCS], sb_v0[PROCS], sb_a1[PROCS], sb_v1[PROCS];

#define LOCKED(p) (sb_count[p] == 0)

inline LD(p, a, r)
{
    d_step {
        if
        :: sb_count[p] == 2 && sb_a1[p] == (a) -> r = sb_v1[p]
        :: !(sb_count[p] == 2 && sb_a1[p] == (a)) && sb_count[p] >= 1 && sb_a0[p] == (a) -> r = sb_v0[p]
        :: else -> r = mem[a]
        fi
    }
}

inline ST(p, a, v)
{
    atomic {
        sb_count[p] < 2 ->
        if
        :: sb_count[p] == 0 -> sb_a0[p] = a; sb_v0[p] = v
        :: else -> sb_a1[p] = a; sb_v1[p] = v
        fi;
        sb_count[p]++
    }
}

/* The hardware: any buffer may give up its oldest entry at any time. */
active proctype drain()
{
    byte i;
end:
    do
    :: d_step {
           sb_count[0] > 0 -> i = 0;
           mem[sb_a0[i]] = sb_v0[i]; sb_a0[i] = sb_a1[i]; sb_v0[i] = sb_v1[i]; sb_a1[i] = 0;
           sb_v1[i] = 0; sb_count[i]--; i = 0
       }
#if PROCS > 1
    :: d_step {
           sb_count[1] > 0 -> i = 1;
           mem[sb_a0[i]] = sb_v0[i]; sb_a0[i] = sb_a1[i]; sb_v0[i] = sb_v1[i]; sb_a1[i] = 0;
           sb_v1[i] = 0; sb_count[i]--; i = 0
       }
#endif
#if PROCS > 2
    :: d_step {
           sb_count[2] > 0 -> i = 2;
           mem[sb_a0[i]] = sb_v0[i]; sb_a0[i] = sb_a1[i]; sb_v0[i] = sb_v1[i]; sb_a1[i] = 0;
           sb_v1[i] = 0; sb_count[i]--; i = 0
       }
#endif
#if PROCS > 3
    :: d_step {
           sb_count[3] > 0 -> i = 3;
           mem[sb_a0[i]] = sb_v0[i]; sb_a0[i] = sb_a1[i]; sb_v0[i] = sb_v1[i]; sb_a1[i] = 0;
           sb_v1[i] = 0; sb_count[i]--; i = 0
       }
#endif
    od
}
