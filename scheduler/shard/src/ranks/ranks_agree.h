/* SPDX-License-Identifier: MIT */
/* ranks_agree.h: weft_ranks_agree with a word that goes along.
 *
 * For a wish of one rank that all must know in the same step, without a message of its own. */
#ifndef WEFT_RANKS_AGREE_H
#define WEFT_RANKS_AGREE_H

#include <weft/base.h>

/* weft_ranks_agree, and in the same message the largest *word of all ranks (unchanged where MPI
 * fails, or there is one rank). Collective. */
weft_result weft__ranks_agree_on(weft_result result, uint64_t *word);

#endif
