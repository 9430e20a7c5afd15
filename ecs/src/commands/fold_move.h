/* SPDX-License-Identifier: MIT */
/* fold_move.h: a folded batch takes effect: plan, copy, close, settle. See fold_state.h and the
 * four steps of structure.h. */
#ifndef WEFT_FOLD_MOVE_H
#define WEFT_FOLD_MOVE_H

#include "fold_state.h"

/* Owner. What fails before the copies leaves the world as it was; the error is set. */
weft_result weft__fold_move(weft__fold *fold);

#endif
