/* SPDX-License-Identifier: MIT */
/* ranks_agree.c: what one rank met, all know: one message, the largest of two words: the result
 * with the rank that has it, and a word of the caller. Nothing is sent where there is one rank.
 */
#include "ranks_agree.h"

#include <weft/ranks.h>

#include "ranks_error.h"
#include "transport.h"

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
