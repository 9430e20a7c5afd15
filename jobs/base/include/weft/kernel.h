/* SPDX-License-Identifier: MIT */
/* kernel.h: loops over columns, compiled once per instruction set.
 *
 *   WEFT_KERNEL static void move(float *restrict p, const float *restrict v, size_t n, float dt)
 *   {
 *       for (size_t i = 0; i < n; i++) p[i] += v[i] * dt;
 *   }
 *
 * Public; needs nothing of the library. docs/guide/kernels.md: which loops vectorise, how to see
 * it, why floats stay equal to the bit. */
#ifndef WEFT_KERNEL_H
#define WEFT_KERNEL_H

#include <stdint.h> /* says which C library this is */

/* ---- kernels ---- */

/* In front of a function: the compiler makes one version for the processor of the build and one
 * for AVX2, twice as wide, and the loader takes the better one (an indirect function: a call costs
 * as much as one of a shared library). Neither has fused multiply-add, which rounds once where the
 * other version rounds twice: all versions give the same bits. It is not inlined into its callers,
 * so give it a whole slice, not a row. Keep the function static: clang with -flto does not link
 * one that other sources call.
 *
 * One version only where there is no such choice: other processors than x86-64, C libraries
 * without indirect functions, builds that have AVX2 anyway (-march=...), and sanitizers, which
 * start after the loader. WEFT_KERNEL_PLAIN, defined before the include, has the same effect. */
#define WEFT_KERNEL __attribute__((noinline))

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__AVX2__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__has_attribute) && \
    !defined(WEFT_KERNEL_PLAIN)
#if __has_attribute(target_clones)
#undef WEFT_KERNEL
#define WEFT_KERNEL __attribute__((target_clones("avx2", "default")))
#endif
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) /* as clang says it */
#undef WEFT_KERNEL
#define WEFT_KERNEL __attribute__((noinline))
#endif
#endif

#endif
