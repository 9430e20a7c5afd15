/* SPDX-License-Identifier: MIT */
/* fold_values.h: what a fold's commands mean for the values of rows that are where they belong. The
 * task that copies the rows does it, after the copy. See fold_state.h. Errors: OUT_OF_MEMORY, when
 * a buffer could not grow; the other rows have their values. */
#ifndef WEFT_FOLD_VALUES_H
#define WEFT_FOLD_VALUES_H

#include "fold_state.h"

/* With chains, without enable bits. */
weft_result weft__fold_values_chained(const weft__fold *fold, const weft__fold_task *task);
/* With sweeps. */
weft_result weft__fold_values_swept(const weft__fold *fold, const weft__fold_task *task);
/* Enable bits, with chains: of neighbouring rows they share words. Owner, after the copies. */
void weft__fold_enables(const weft__fold *fold, const weft__fold_task *task);

#endif
