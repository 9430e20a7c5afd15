/* SPDX-License-Identifier: MIT */
/* snapshot_check.h: what forbids taking or restoring a snapshot, besides its phase.
 *
 * Threads: owner. */
#ifndef WEFT_SNAPSHOT_CHECK_H
#define WEFT_SNAPSHOT_CHECK_H

#include "world_state.h"

/* WRONG_PHASE (error set) while entities exist that are in no row. */
weft_result weft__snapshot_check_ids(const weft_world *world, const char *what);
/* UNSUPPORTED (error set) while a type is in use whose values cannot be copied. */
weft_result weft__snapshot_check_types(const weft_world *world);

#endif
