/* SPDX-License-Identifier: MIT */
/* faulty_main.c: `weft stress everything --shrink` on a library with the fault of fault.c. Prints
 * the C program of the first seed that fails; status 1 when one does, as the command.
 *
 * Not a test by itself: shrink.sh. */
#include "everything_stress.h"

int main(void)
{
    return weft_stress_shrink(1, 0, 2000);
}
