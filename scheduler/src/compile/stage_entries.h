/* SPDX-License-Identifier: MIT */
/* stage_entries.h: which systems of a stage touch which chunk, with column pointers at hand.
 *
 * See stage_entries.c; the structs: scheduler_state.h. Owner, structure at rest. */
#pragma once

#include "scheduler_state.h"

/* Makes the entries of a stage for the chunks that there are, or, when these are the chunks that
 * there were, brings the counts of rows up to date. Owner, structure at rest. Errors:
 * OUT_OF_MEMORY; then it has none. */
weft_result weft__stage_entries_make(weft__scheduler *scheduler, weft__stage *stage);
/* Forgets them. Owner. */
void weft__stage_entries_free(weft__stage *stage);
