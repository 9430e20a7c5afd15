/* SPDX-License-Identifier: MIT */
/* compile.h: keeping the compiled schedule current: order, stages, graphs of segments, entries.
 *
 * See compile.c. Everything that a step or a report needs of it is in weft__scheduler. Owner,
 * between segments. */
#pragma once

#include "scheduler_state.h"

/* Compiles when systems, groups, options or archetypes changed. Owner, between segments. Errors:
 * CYCLE, NOT_FOUND, OUT_OF_MEMORY; then there is no schedule. */
weft_result weft__schedule_prepare(weft__scheduler *scheduler);
void weft__schedule_free(weft__scheduler *scheduler);
/* Whether a system, by its position, must run before another by name, or by groups where the
 * schedule cannot see what they do. */
bool weft__schedule_has_barrier(const weft__scheduler *scheduler, uint32_t before, uint32_t after);
/* With the world: the list that WEFT_SYSTEMS asks for. */
void weft__system_list_close(weft__scheduler *scheduler);
