/* SPDX-License-Identifier: MIT */
/* lj_select.c: which build of the loops this processor runs.
 */
#include "lj_force.h"

extern const lj_forces lj_forces_baseline;
#if defined(LJ_X86_KERNELS)
extern const lj_forces lj_forces_avx2;
#endif

const lj_forces *lj_forces_best(void)
{
#if defined(LJ_X86_KERNELS)
    if (__builtin_cpu_supports("avx2")) return &lj_forces_avx2;
#endif
    return &lj_forces_baseline;
}
