/* SPDX-License-Identifier: MIT */
/* ranks_error.c: the text of the last failure, kept for the process, as the ranks of a run are
 * processes. It is made in a buffer of its own: an argument may be the old text. */
#include "ranks_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <weft/ranks.h>

#include "transport.h"

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

/* ---- what one rank met, all know ----
 *
 * One message: the largest of two words: the result with the rank that has it, and a word of the
 * caller. Nothing is sent where there is one rank. */

weft_result weft__ranks_agree_on(weft_result result, uint64_t *word)
{
    if (weft__transport_count() == 1) return result;
    uint64_t most[2] = {0, *word};
    if (result != WEFT_OK) most[0] = (uint64_t)result << 32 | weft__transport_rank();
    const weft_result sent = weft__transport_max(most, 2);
    if (sent != WEFT_OK) return result != WEFT_OK ? result : sent;
    *word = most[1];
    const weft_result worst = (weft_result)(most[0] >> 32);
    return worst == result ? result : weft__ranks_other(worst, (uint32_t)most[0]);
}

weft_result weft_ranks_agree(weft_result result)
{
    uint64_t word = 0;
    return weft__ranks_agree_on(result, &word);
}
