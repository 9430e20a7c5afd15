/* SPDX-License-Identifier: MIT */
/* fold_collect.h: the first half of a fold: where every target is, and the commands of each chunk
 * as runs. See fold_state.h. */
#ifndef WEFT_FOLD_COLLECT_H
#define WEFT_FOLD_COLLECT_H

#include "fold_state.h"

/* Owner. WEFT_OK: collected, or is_impossible. OUT_OF_MEMORY sets no error. */
weft_result weft__fold_collect(weft__fold *fold);

#endif
