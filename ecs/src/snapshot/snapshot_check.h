/* SPDX-License-Identifier: MIT */
/* snapshot_check.h: what forbids taking a snapshot, besides its phase.
 *
 * Threads: owner. */
#ifndef WEFT_SNAPSHOT_CHECK_H
#define WEFT_SNAPSHOT_CHECK_H

#include "world_state.h"

/* UNSUPPORTED (error set) while a type is in use whose values cannot be copied. */
weft_result weft__snapshot_check_types(const weft_world *world);

#endif
