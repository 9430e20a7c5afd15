/* SPDX-License-Identifier: MIT */
/* faulty_main.c: `weft stress everything --shrink` on a library with the fault of fault.c. Prints
 * the C program of the first seed that fails; status 1 when one does, as the command. With a seed:
 * prints its program as it was drawn.
 *
 * Not a test by itself: shrink.sh. */
#include "everything.h"
#include "everything_stress.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc > 1) return everything_print(strtoull(argv[1], NULL, 0), stdout), 0;
    return weft_stress_shrink(6, 0, 2000);
}
