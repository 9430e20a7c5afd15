/* SPDX-License-Identifier: MIT */
/* ranks_error.c: the text of the last failure, kept for the process, as the ranks of a run are
 * processes. It is made in a buffer of its own: an argument may be the old text. */
#include "ranks_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <weft/ranks.h>

static char text[640];

weft_result weft__ranks_fail(weft_result code, const char *format, ...)
{
    char made[sizeof text]; /* an argument may be the old text */
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(made, sizeof made, format, arguments);
    va_end(arguments);
    (void)snprintf(text, sizeof text, "%s", made);
    return code;
}

weft_result weft__ranks_no_memory(void)
{
    return weft__ranks_fail(WEFT_OUT_OF_MEMORY,
                            "memory was refused: use more ranks, or fewer rows");
}

weft_result weft__ranks_other(weft_result code, uint32_t rank)
{
    return weft__ranks_fail(code, "rank %u failed (%s): its own text says why", rank,
                            weft_result_name(code));
}

const char *weft_ranks_error(void)
{
    return text;
}
