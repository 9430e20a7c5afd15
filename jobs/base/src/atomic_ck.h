/* SPDX-License-Identifier: MIT */
/* atomic_ck.h: the Concurrency Kit back end of atomic.h, for x86-64 (total store order).
 *
 * On this memory model a plain load acquires and a plain store releases, so ck_pr_fence_acquire and
 * ck_pr_fence_release only stop the compiler, and every locked operation is sequentially
 * consistent: the ar and sc forms of a read-modify-write are the same. One function per width,
 * picked by _Generic on the wrapper. Pointers go through the 64-bit forms: the _ptr forms of 0.7.1
 * declare one-byte memory operands. Include only through atomic.h. */
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wshadow"
#include <ck_pr.h>
#pragma GCC diagnostic pop
/* Parts of 0.7.1 with known defects (docs/decisions.md): naming one of them does not compile. */
#pragma GCC poison ck_ht_put_spmc ck_ht_set_spmc ck_array_put ck_hp_reclaim ck_hp_fifo_enqueue_mpmc
#pragma GCC poison ck_fifo_mpmc_dequeue ck_stack_batch_pop_mpmc ck_rhs_put

#define AT_DEFINE_(suffix, type)                                                                   \
    static inline type at_load_acq_##suffix(const type *p)                                         \
    {                                                                                              \
        type v = ck_pr_load_##suffix(p);                                                           \
        ck_pr_fence_acquire();                                                                     \
        return v;                                                                                  \
    }                                                                                              \
    static inline void at_store_rel_##suffix(type *p, type v)                                      \
    {                                                                                              \
        ck_pr_fence_release();                                                                     \
        ck_pr_store_##suffix(p, v);                                                                \
    }                                                                                              \
    static inline type at_xchg_##suffix(type *p, type v)                                           \
    {                                                                                              \
        ck_pr_fence_release();                                                                     \
        v = ck_pr_fas_##suffix(p, v);                                                              \
        ck_pr_fence_acquire();                                                                     \
        return v;                                                                                  \
    }                                                                                              \
    static inline bool at_cas_##suffix(type *p, type *expected, type desired)                      \
    {                                                                                              \
        ck_pr_fence_release();                                                                     \
        bool ok = ck_pr_cas_##suffix##_value(p, *expected, desired, expected);                     \
        ck_pr_fence_acquire();                                                                     \
        return ok;                                                                                 \
    }                                                                                              \
    static inline type at_add_##suffix(type *p, type v)                                            \
    {                                                                                              \
        ck_pr_fence_release();                                                                     \
        v = ck_pr_faa_##suffix(p, v);                                                              \
        ck_pr_fence_acquire();                                                                     \
        return v;                                                                                  \
    }                                                                                              \
    static inline type at_or_##suffix(type *p, type v)                                             \
    {                                                                                              \
        type old = ck_pr_load_##suffix(p);                                                         \
        while (!at_cas_##suffix(p, &old, old | v)) ck_pr_stall();                                  \
        return old;                                                                                \
    }                                                                                              \
    static inline type at_and_##suffix(type *p, type v)                                            \
    {                                                                                              \
        type old = ck_pr_load_##suffix(p);                                                         \
        while (!at_cas_##suffix(p, &old, old & v)) ck_pr_stall();                                  \
        return old;                                                                                \
    }

AT_DEFINE_(32, uint32_t)
AT_DEFINE_(64, uint64_t)

static inline void *at_load_rlx_ptr(void *const *p)
{
    return (void *)(uintptr_t)ck_pr_load_64((const uint64_t *)(const void *)p);
}
static inline void *at_load_acq_ptr(void *const *p)
{
    return (void *)(uintptr_t)at_load_acq_64((const uint64_t *)(const void *)p);
}
static inline void at_store_rlx_ptr(void **p, void *v)
{
    ck_pr_store_64((uint64_t *)(void *)p, (uint64_t)(uintptr_t)v);
}
static inline void at_store_rel_ptr(void **p, void *v)
{
    at_store_rel_64((uint64_t *)(void *)p, (uint64_t)(uintptr_t)v);
}
static inline void *at_xchg_ptr(void **p, void *v)
{
    return (void *)(uintptr_t)at_xchg_64((uint64_t *)(void *)p, (uint64_t)(uintptr_t)v);
}
static inline bool at_cas_ptr(void **p, void **expected, void *desired)
{
    uint64_t old = (uint64_t)(uintptr_t)*expected;
    bool ok = at_cas_64((uint64_t *)(void *)p, &old, (uint64_t)(uintptr_t)desired);
    *expected = (void *)(uintptr_t)old;
    return ok;
}
static inline uint32_t at_load_rlx_32(const uint32_t *p)
{
    return ck_pr_load_32(p);
}
static inline uint64_t at_load_rlx_64(const uint64_t *p)
{
    return ck_pr_load_64(p);
}
static inline void at_store_rlx_32(uint32_t *p, uint32_t v)
{
    ck_pr_store_32(p, v);
}
static inline void at_store_rlx_64(uint64_t *p, uint64_t v)
{
    ck_pr_store_64(p, v);
}

#define AT_BY_WIDTH_(p, name)                                                                      \
    _Generic((p)->v_, uint32_t : name##32, uint64_t : name##64, void * : name##ptr)
#define AT_BY_INT_(p, name) _Generic((p)->v_, uint32_t : name##32, uint64_t : name##64)

#define at_load_rlx(p) AT_BY_WIDTH_(p, at_load_rlx_)(&(p)->v_)
#define at_load_acq(p) AT_BY_WIDTH_(p, at_load_acq_)(&(p)->v_)
#define at_load_sc(p)                                                                              \
    at_load_acq(p) /* every sc store is locked: a plain load completes the order */
#define at_store_rlx(p, v) AT_BY_WIDTH_(p, at_store_rlx_)(&(p)->v_, v)
#define at_store_rel(p, v) AT_BY_WIDTH_(p, at_store_rel_)(&(p)->v_, v)
#define at_store_sc(p, v) ((void)AT_BY_WIDTH_(p, at_xchg_)(&(p)->v_, v))
#define at_xchg_ar(p, v) AT_BY_WIDTH_(p, at_xchg_)(&(p)->v_, v)
#define at_xchg_sc(p, v) at_xchg_ar(p, v)
#define at_cas_ar(p, expected, desired) AT_BY_WIDTH_(p, at_cas_)(&(p)->v_, expected, desired)
#define at_cas_sc(p, expected, desired) at_cas_ar(p, expected, desired)
#define at_add_ar(p, v) AT_BY_INT_(p, at_add_)(&(p)->v_, v)
#define at_add_rlx(p, v) at_add_ar(p, v)
#define at_add_sc(p, v) at_add_ar(p, v)
#define at_sub_ar(p, v) AT_BY_INT_(p, at_add_)(&(p)->v_, 0 - (v))
#define at_sub_rlx(p, v) at_sub_ar(p, v)
#define at_sub_sc(p, v) at_sub_ar(p, v)
#define at_or_ar(p, v) AT_BY_INT_(p, at_or_)(&(p)->v_, v)
#define at_or_sc(p, v) at_or_ar(p, v)
#define at_and_ar(p, v) AT_BY_INT_(p, at_and_)(&(p)->v_, v)
#define at_and_sc(p, v) at_and_ar(p, v)
#define at_stall() ck_pr_stall()

/* The halves of an aligned 16-byte access are loads and stores of their own. Concurrency Kit has no
 * vectors. */
static inline weft_pair at_load_pair_rlx(const weft_a64 *p)
{
    weft_pair pair;
    __asm__ volatile("movdqa %1, %0" : "=x"(pair) : "m"(*(const weft_a64(*)[2])p));
    return pair;
}

static inline void at_store_pair_rlx(weft_a64 *p, weft_pair pair)
{
    __asm__ volatile("movdqa %1, %0" : "=m"(*(weft_a64(*)[2])p) : "x"(pair));
}
