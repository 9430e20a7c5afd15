/* SPDX-License-Identifier: MIT */
/* atomic.h: the one door for atomics. Nothing outside this file and its back ends may name ck_pr_*,
 * __atomic_*, volatile or fences (tools/tidy checks it).
 *
 * Shared words have wrapper types, so a plain access does not compile. Each operation names its
 * order; there are no stand-alone fences: an order rides on an operation. The StoreLoad hand-shakes
 * of the library (deque, sleep/wake) use at_xchg_sc or at_store_sc, one locked exchange (2 ns;
 * `mfence` 16).
 *
 * Three back ends of the same source:
 *   Concurrency Kit (default)       what ships: ck_pr_* on x86-64 (atomic_ck.h);
 *   builtin (WEFT_ATOMICS_BUILTIN)  __atomic_*: for ThreadSanitizer, which sees neither assembly
 *                                   nor fences, and for targets other than x86-64;
 *   hooked (WEFT_ATOMICS_HOOKED)    every operation is a call (tests/explore/atomic_hook.h): the
 *                                   schedule explorer with its store buffers and order mutants,
 *                                   and the virtual-time simulator.
 *
 * Vocabulary; `p` points to a wrapper, and a32, a64 and aptr read the same:
 *   at_load_rlx/acq/sc(p)           at_store_rlx/rel/sc(p, v)
 *   at_xchg_ar/sc(p, v)             the old value
 *   at_add_rlx/ar/sc(p, v)          fetch-and-add: the old value; at_sub_* likewise
 *   at_or_ar/sc, at_and_ar/sc(p, v) the old value
 *   at_cas_ar/sc(p, &expected, v)   strong; true on success, else `expected` is updated
 *   at_load_pair_rlx(p), at_store_pair_rlx(p, pair)
 *                                   two a64 from a multiple of 16 bytes on: long runs, in registers
 *   at_stall()                      one beat of a retry loop (`pause`); the explorer blocks the
 *                                   thread until another thread has written
 *   at_init(p, v), at_plain(p)      before or after other threads can reach the object */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Words and a pointer that several threads touch: owned with the struct that they are in.
 * Touched by the functions of this header only. */
typedef struct {
    uint32_t v_;
} weft_a32;
typedef struct {
    uint64_t v_;
} weft_a64;
typedef struct {
    void *v_;
} weft_aptr;

/* Two neighbouring words in a register: each is atomic, the two together are not. */
typedef uint64_t weft_pair __attribute__((vector_size(16)));

#define at_init(p, v) ((void)((p)->v_ = (v)))
#define at_plain(p) ((p)->v_)

#if defined(WEFT_ATOMICS_HOOKED)
#include "atomic_hook.h"
#elif defined(WEFT_ATOMICS_BUILTIN) || !defined(__x86_64__)

#define at_load_rlx(p) __atomic_load_n(&(p)->v_, __ATOMIC_RELAXED)
#define at_load_acq(p) __atomic_load_n(&(p)->v_, __ATOMIC_ACQUIRE)
#define at_load_sc(p) __atomic_load_n(&(p)->v_, __ATOMIC_SEQ_CST)
#define at_store_rlx(p, v) __atomic_store_n(&(p)->v_, (v), __ATOMIC_RELAXED)
#define at_store_rel(p, v) __atomic_store_n(&(p)->v_, (v), __ATOMIC_RELEASE)
#define at_store_sc(p, v) __atomic_store_n(&(p)->v_, (v), __ATOMIC_SEQ_CST)
#define at_xchg_ar(p, v) __atomic_exchange_n(&(p)->v_, (v), __ATOMIC_ACQ_REL)
#define at_xchg_sc(p, v) __atomic_exchange_n(&(p)->v_, (v), __ATOMIC_SEQ_CST)
#define at_add_rlx(p, v) __atomic_fetch_add(&(p)->v_, (v), __ATOMIC_RELAXED)
#define at_add_ar(p, v) __atomic_fetch_add(&(p)->v_, (v), __ATOMIC_ACQ_REL)
#define at_add_sc(p, v) __atomic_fetch_add(&(p)->v_, (v), __ATOMIC_SEQ_CST)
#define at_sub_rlx(p, v) __atomic_fetch_sub(&(p)->v_, (v), __ATOMIC_RELAXED)
#define at_sub_ar(p, v) __atomic_fetch_sub(&(p)->v_, (v), __ATOMIC_ACQ_REL)
#define at_sub_sc(p, v) __atomic_fetch_sub(&(p)->v_, (v), __ATOMIC_SEQ_CST)
#define at_or_ar(p, v) __atomic_fetch_or(&(p)->v_, (v), __ATOMIC_ACQ_REL)
#define at_or_sc(p, v) __atomic_fetch_or(&(p)->v_, (v), __ATOMIC_SEQ_CST)
#define at_and_ar(p, v) __atomic_fetch_and(&(p)->v_, (v), __ATOMIC_ACQ_REL)
#define at_and_sc(p, v) __atomic_fetch_and(&(p)->v_, (v), __ATOMIC_SEQ_CST)
#define at_cas_ar(p, expected, desired)                                                            \
    __atomic_compare_exchange_n(&(p)->v_, (expected), (desired), false, __ATOMIC_ACQ_REL,          \
                                __ATOMIC_ACQUIRE)
#define at_cas_sc(p, expected, desired)                                                            \
    __atomic_compare_exchange_n(&(p)->v_, (expected), (desired), false, __ATOMIC_SEQ_CST,          \
                                __ATOMIC_SEQ_CST)
#if defined(__x86_64__)
#define at_stall() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define at_stall() __asm__ __volatile__("isb" ::: "memory")
#elif defined(__riscv)
#define at_stall() __asm__ __volatile__(".4byte 0x0100000f" ::: "memory") /* pause: a fence hint */
#else
#define at_stall() __asm__ __volatile__("" ::: "memory")
#endif

#else
#include "atomic_ck.h"
#endif

#if defined(WEFT_ATOMICS_HOOKED) || defined(WEFT_ATOMICS_BUILTIN) || !defined(__x86_64__)
static inline weft_pair at_load_pair_rlx(const weft_a64 *p)
{
    return (weft_pair){at_load_rlx(p), at_load_rlx(p + 1)};
}
static inline void at_store_pair_rlx(weft_a64 *p, weft_pair pair)
{
    at_store_rlx(p, pair[0]);
    at_store_rlx(p + 1, pair[1]);
}
#endif
