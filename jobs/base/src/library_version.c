/* SPDX-License-Identifier: MIT */
/* library_version.c: the version of the library that runs, for programs that were compiled with
 * a header of their own. */
#include <weft/base.h>

uint32_t weft_version(void)
{
    return WEFT_VERSION;
}
