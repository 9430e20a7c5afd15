/* SPDX-License-Identifier: MIT */
/* level_run.h: running a system by depth.
 *
 * Any worker, which waits for its helpers level by level. */
#ifndef WEFT_LEVEL_RUN_H
#define WEFT_LEVEL_RUN_H

#include "scheduler_state.h"

/* Runs all levels of an entry of kind LEVELS, one after the other. */
void weft__levels_run(const weft__worker *worker, const weft__entry *entry);

#endif
