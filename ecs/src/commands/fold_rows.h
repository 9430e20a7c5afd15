/* SPDX-License-Identifier: MIT */
/* fold_rows.h: the second half of a fold: per row the archetype it ends in, and the rows of each
 * end as lists that fold_move.h moves. See fold_state.h. */
#ifndef WEFT_FOLD_ROWS_H
#define WEFT_FOLD_ROWS_H

#include "fold_state.h"

/* Owner. WEFT_OK: folded, or is_impossible; else the error is set. */
weft_result weft__fold_rows(weft__fold *fold);

#endif
