/* SPDX-License-Identifier: MIT */
/* transfer_shared.h: shared values of rows that go over.
 *
 * Owner of both worlds, during one transfer. */
#ifndef WEFT_TRANSFER_SHARED_H
#define WEFT_TRANSFER_SHARED_H

#include "transfer_state.h"

/* The destination's tuple for a source tuple. Held. NULL: error set. */
weft__tuple *weft__transfer_tuple(weft__transfer *t, const weft__tuple *from, weft__archetype *to);
/* BUSY when a value with a release hook would live in both worlds. After all tuples. */
weft_result weft__transfer_shared_check(weft__transfer *t);
/* New values are the destination's from here on: the source lets go of them without its hook. */
void weft__transfer_shared_commit(weft__transfer *t);
/* Drops the references of the transfer. */
void weft__transfer_shared_fini(weft__transfer *t);

#endif
