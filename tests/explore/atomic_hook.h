/* SPDX-License-Identifier: MIT */
/* atomic_hook.h: the hooked back end of atomic.h: every operation is a call with the address, the
 * width, the order and the site ("file:line operation"). It holds no state: who links a program
 * built with WEFT_ATOMICS_HOOKED supplies the weft__hook_* functions. The schedule explorer
 * (tests/explore) implements them over fibres and a memory model of its choice; a virtual-time
 * simulator can implement the same few.
 *
 * Mixed builds are fine: files that are not under test use another back end on other words.
 * Include only through atomic.h. */
#pragma once

typedef enum weft__hook_order { HOOK_RLX, HOOK_ACQ, HOOK_REL, HOOK_AR, HOOK_SC } weft__hook_order;

typedef enum weft__hook_rmw { HOOK_XCHG, HOOK_ADD, HOOK_OR, HOOK_AND } weft__hook_rmw;

/* `width` is 4 or 8 bytes; narrower values are zero-extended. */
uint64_t weft__hook_load(const void *p, uint32_t width, weft__hook_order order, const char *site);
void weft__hook_store(void *p, uint32_t width, weft__hook_order order, uint64_t v,
                      const char *site);
/* Returns the old value. */
uint64_t weft__hook_rmw_do(void *p, uint32_t width, uint32_t kind_and_order, uint64_t v,
                           const char *site);
/* True on success; else *expected becomes the value found. */
bool weft__hook_cas(void *p, uint32_t width, weft__hook_order order, uint64_t *expected, uint64_t v,
                    const char *site);
/* One beat of a retry loop. */
void weft__hook_stall(const char *site);
/* at_init and at_plain: no scheduling point; the caller is alone with the word. */
void weft__hook_init(void *p, uint32_t width, uint64_t v, const char *site);
uint64_t weft__hook_plain(const void *p, uint32_t width, const char *site);
/* The running thread: what stands in for its name, and for storage of threads, which are fibres of
 * one. In the explorer below HOOK_THREADS. */
uint32_t weft__hook_thread(void);
#define HOOK_THREADS 16

/* The value after a read-modify-write; of 4-byte words the caller keeps the lower half. */
static inline uint64_t hook_rmw_apply(weft__hook_rmw kind, uint64_t old, uint64_t v)
{
    switch (kind) {
    case HOOK_XCHG:
        return v;
    case HOOK_ADD:
        return old + v;
    case HOOK_OR:
        return old | v;
    case HOOK_AND:
        return old & v;
    }
    return v;
}

#define HOOK_KIND_(kind, order) ((uint32_t)(kind) << 8 | (uint32_t)(order))

/* Typed fronts, so that a wrapper of one width cannot be given a value of another silently. */
#define HOOK_DEFINE_(suffix, type, to_word, to_type)                                               \
    static inline type hook_load_##suffix(type const *p, weft__hook_order o, const char *site)     \
    {                                                                                              \
        return to_type weft__hook_load(p, (uint32_t)sizeof(type), o, site);                        \
    }                                                                                              \
    static inline void hook_store_##suffix(type *p, weft__hook_order o, type v, const char *site)  \
    {                                                                                              \
        weft__hook_store(p, (uint32_t)sizeof(type), o, to_word v, site);                           \
    }                                                                                              \
    static inline type hook_rmw_##suffix(type *p, uint32_t kind, type v, const char *site)         \
    {                                                                                              \
        return to_type weft__hook_rmw_do(p, (uint32_t)sizeof(type), kind, to_word v, site);        \
    }                                                                                              \
    static inline bool hook_cas_##suffix(type *p, weft__hook_order o, type *expected, type v,      \
                                         const char *site)                                         \
    {                                                                                              \
        uint64_t old = to_word * expected;                                                         \
        bool ok = weft__hook_cas(p, (uint32_t)sizeof(type), o, &old, to_word v, site);             \
        *expected = to_type old;                                                                   \
        return ok;                                                                                 \
    }                                                                                              \
    static inline void hook_init_##suffix(type *p, type v, const char *site)                       \
    {                                                                                              \
        weft__hook_init(p, (uint32_t)sizeof(type), to_word v, site);                               \
    }                                                                                              \
    static inline type hook_plain_##suffix(type const *p, const char *site)                        \
    {                                                                                              \
        return to_type weft__hook_plain(p, (uint32_t)sizeof(type), site);                          \
    }

typedef void *hook_ptr_;
HOOK_DEFINE_(32, uint32_t, (uint64_t), (uint32_t))
HOOK_DEFINE_(64, uint64_t, (uint64_t), (uint64_t))
HOOK_DEFINE_(ptr, hook_ptr_, (uint64_t)(uintptr_t), (void *)(uintptr_t))

#define HOOK_STRING_(x) #x
#define HOOK_LINE_(x) HOOK_STRING_(x)
#define HOOK_SITE_(name) __FILE__ ":" HOOK_LINE_(__LINE__) " " name
#define HOOK_BY_(p, name)                                                                          \
    _Generic((p)->v_, uint32_t : name##32, uint64_t : name##64, void * : name##ptr)
#define HOOK_LOAD_(p, o, name) HOOK_BY_(p, hook_load_)(&(p)->v_, o, HOOK_SITE_(name))
#define HOOK_STORE_(p, o, v, name) HOOK_BY_(p, hook_store_)(&(p)->v_, o, v, HOOK_SITE_(name))
#define HOOK_RMW_(p, k, o, v, name)                                                                \
    HOOK_BY_(p, hook_rmw_)(&(p)->v_, HOOK_KIND_(k, o), v, HOOK_SITE_(name))
#define HOOK_CAS_(p, o, e, v, name) HOOK_BY_(p, hook_cas_)(&(p)->v_, o, e, v, HOOK_SITE_(name))

#undef at_init
#undef at_plain
#define at_init(p, v) HOOK_BY_(p, hook_init_)(&(p)->v_, v, HOOK_SITE_("init"))
#define at_plain(p) HOOK_BY_(p, hook_plain_)(&(p)->v_, HOOK_SITE_("plain"))

#define at_load_rlx(p) HOOK_LOAD_(p, HOOK_RLX, "load_rlx")
#define at_load_acq(p) HOOK_LOAD_(p, HOOK_ACQ, "load_acq")
#define at_load_sc(p) HOOK_LOAD_(p, HOOK_SC, "load_sc")
#define at_store_rlx(p, v) HOOK_STORE_(p, HOOK_RLX, v, "store_rlx")
#define at_store_rel(p, v) HOOK_STORE_(p, HOOK_REL, v, "store_rel")
#define at_store_sc(p, v) HOOK_STORE_(p, HOOK_SC, v, "store_sc")
#define at_xchg_ar(p, v) HOOK_RMW_(p, HOOK_XCHG, HOOK_AR, v, "xchg_ar")
#define at_xchg_sc(p, v) HOOK_RMW_(p, HOOK_XCHG, HOOK_SC, v, "xchg_sc")
#define at_add_rlx(p, v) HOOK_RMW_(p, HOOK_ADD, HOOK_RLX, v, "add_rlx")
#define at_add_ar(p, v) HOOK_RMW_(p, HOOK_ADD, HOOK_AR, v, "add_ar")
#define at_add_sc(p, v) HOOK_RMW_(p, HOOK_ADD, HOOK_SC, v, "add_sc")
#define at_sub_rlx(p, v) HOOK_RMW_(p, HOOK_ADD, HOOK_RLX, 0 - (v), "sub_rlx")
#define at_sub_ar(p, v) HOOK_RMW_(p, HOOK_ADD, HOOK_AR, 0 - (v), "sub_ar")
#define at_sub_sc(p, v) HOOK_RMW_(p, HOOK_ADD, HOOK_SC, 0 - (v), "sub_sc")
#define at_or_ar(p, v) HOOK_RMW_(p, HOOK_OR, HOOK_AR, v, "or_ar")
#define at_or_sc(p, v) HOOK_RMW_(p, HOOK_OR, HOOK_SC, v, "or_sc")
#define at_and_ar(p, v) HOOK_RMW_(p, HOOK_AND, HOOK_AR, v, "and_ar")
#define at_and_sc(p, v) HOOK_RMW_(p, HOOK_AND, HOOK_SC, v, "and_sc")
#define at_cas_ar(p, expected, v) HOOK_CAS_(p, HOOK_AR, expected, v, "cas_ar")
#define at_cas_sc(p, expected, v) HOOK_CAS_(p, HOOK_SC, expected, v, "cas_sc")
#define at_stall() weft__hook_stall(HOOK_SITE_("stall"))
