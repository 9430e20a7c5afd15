/* SPDX-License-Identifier: MIT */
/* sgp4_select.c: which builds of the kernels this processor can run. The list is made by CMake:
 * baseline everywhere, AVX2 and AVX-512 where the target is x86-64.
 */
#include "sgp4.h"

extern const struct sgp4_kernels sgp4_kernels_baseline;
#ifdef SGP4_X86_KERNELS
extern const struct sgp4_kernels sgp4_kernels_avx2, sgp4_kernels_avx512;
#endif

uint32_t sgp4_kernels_available(const struct sgp4_kernels **kernels, uint32_t capacity)
{
    uint32_t count = 0;
    if (count < capacity) kernels[count++] = &sgp4_kernels_baseline;
#ifdef SGP4_X86_KERNELS
    __builtin_cpu_init();
    if (count < capacity && __builtin_cpu_supports("avx2")) kernels[count++] = &sgp4_kernels_avx2;
    if (count < capacity && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        kernels[count++] = &sgp4_kernels_avx512;
    }
#endif
    return count;
}

const struct sgp4_kernels *sgp4_kernels_best(void)
{
    const struct sgp4_kernels *kernels[3];
    return kernels[sgp4_kernels_available(kernels, 3) - 1];
}
