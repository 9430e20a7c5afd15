/* SPDX-License-Identifier: MIT */
/* fold_shared.h: the shared values that a fold sets. Each segment lists its different ones, a
 * command has the number of its own in the list, and the owner turns lists into indices of the
 * store. See fold_state.h. */
#ifndef WEFT_FOLD_SHARED_H
#define WEFT_FOLD_SHARED_H

#include "fold_state.h"

/* Room for the lists of all segments. False: out of memory. Owner. */
bool weft__fold_values_take(weft__fold *fold);
/* Notes the value of a SET_SHARED command. `guesses`: WEFT__FOLD_VALUES numbers of values that
 * were noted, at places that their bytes say. False: the segment has too many different ones. The
 * task of the segment. */
bool weft__fold_value_note(const weft__fold *fold, uint32_t segment, weft__command *command,
                           uint8_t *guesses);
/* Holds all values that were noted, until weft__fold_values_release. Owner. Errors: OUT_OF_MEMORY;
 * then some are held, too. */
weft_result weft__fold_values_hold(const weft__fold *fold);
void weft__fold_values_release(const weft__fold *fold);

/* The value that a noted command sets. Any thread, while they are held. */
static inline weft__fold_shared weft__fold_value(const weft__fold *fold, uint32_t segment,
                                                 const weft__command *command)
{
    uint32_t number = segment * WEFT__FOLD_VALUES + (command->flags >> WEFT__FOLD_VALUE_SHIFT);
    return (weft__fold_shared){command->subject, fold->value_indices[number]};
}

#endif
