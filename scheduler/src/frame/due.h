/* SPDX-License-Identifier: MIT */
/* due.h: which systems run in a step, how often and with what dt.
 *
 * Rates, timers, conditions and paused groups decide; a step may have several passes, in which
 * fixed rates catch up. Owner, no system runs. */
#ifndef WEFT_DUE_H
#define WEFT_DUE_H

#include "scheduler_state.h"

/* Lets `dt` seconds pass for rates and timers and asks the run conditions: sets `due` of every
 * system. Returns the number of passes of the step, at least 1. */
uint32_t weft__due_decide(weft__scheduler *scheduler, double dt);
/* Before a pass: which systems are active in it, with their dt and their change versions. `left`:
 * passes of this step from this one on. Counts active systems per stage if the pass is conditional.
 */
void weft__due_begin_pass(weft__scheduler *scheduler, float dt, uint32_t left);
/* The same for a pass of one system (weft_system_run). */
void weft__due_begin_alone(const weft__scheduler *scheduler, weft__system *system, float dt);

#endif
