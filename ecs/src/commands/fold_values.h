/* SPDX-License-Identifier: MIT */
/* fold_values.h: what a fold's commands mean for the values of rows that are where they belong. The
 * task that copies the rows does it, after the copy. See fold_state.h. Errors: OUT_OF_MEMORY, when
 * a buffer could not grow; the other rows have their values. */
#ifndef WEFT_FOLD_VALUES_H
#define WEFT_FOLD_VALUES_H

#include "fold_state.h"

/* Of a task of the change, without enable bits; `user`: the fold, whose x_failed it may set. */
void weft__fold_values(void *user, const weft__change_task *task);
/* Enable bits, with chains: of neighbouring rows they share words. Owner, after the copies. */
void weft__fold_enables(const weft__fold *fold, const weft__change_task *task);

#endif
