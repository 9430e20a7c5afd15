/* SPDX-License-Identifier: MIT */
/* invariant.c: the end of a checked build that found a bug of weft. Not linked into decisions of
 * release builds: there WEFT_ASSERT never evaluates its statement. */
#include "invariant.h"

#include <stdio.h>
#include <stdlib.h>

void weft__assert_failed(const char *file, int line, const char *statement)
{
    fprintf(stderr, "weft: %s:%d: assertion failed: %s\n", file, line, statement);
    abort();
}
