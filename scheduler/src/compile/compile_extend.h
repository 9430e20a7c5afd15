/* SPDX-License-Identifier: MIT */
/* compile_extend.h: adding archetypes to a compiled schedule. See compile_extend.c. Owner, between
 * segments. */
#ifndef WEFT_COMPILE_EXTEND_H
#define WEFT_COMPILE_EXTEND_H

#include "scheduler_state.h"

/* Adds the archetypes that appeared to the schedule. False: it must be compiled again. */
bool weft__schedule_extend(weft__scheduler *scheduler);

#endif
