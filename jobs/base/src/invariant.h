/* SPDX-License-Identifier: MIT */
/* invariant.h: our bugs. WEFT_ASSERT states what must hold if weft is right; it is compiled (never
 * run) in unchecked builds, so it cannot rot. Callers' mistakes are not asserted: they are returned
 * as errors. */
#pragma once

#include <stdbool.h>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "weft tells NaN from numbers: compile it without -ffast-math, or add -fno-fast-math"
#endif

#if defined(WEFT_CHECKED)
#define WEFT_IS_CHECKED 1
#else
#define WEFT_IS_CHECKED 0
#endif

/* Prints the broken statement to stderr and aborts. Reached in checked builds only. */
_Noreturn void weft__assert_failed(const char *file, int line, const char *statement);

#define WEFT_ASSERT(statement)                                                                     \
    ((void)(WEFT_IS_CHECKED && !(statement) &&                                                     \
            (weft__assert_failed(__FILE__, __LINE__, #statement), true)))
