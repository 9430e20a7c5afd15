/* SPDX-License-Identifier: MIT */
/* transfer_values.h: values of rows that are copied.
 *
 * Owner of both worlds, during one transfer. */
#ifndef WEFT_TRANSFER_VALUES_H
#define WEFT_TRANSFER_VALUES_H

#include "transfer_state.h"

/* Copies the values of a part; on failure nothing of this part is left. */
weft_result weft__transfer_copy(weft__transfer *t, uint32_t part);
/* Undoes it. */
void weft__transfer_uncopy(weft__transfer *t, uint32_t part);
/* Heap memory, enable bits, versions, references of a part; after all ids are given. */
void weft__transfer_settle(weft__transfer *t, uint32_t part);

#endif
