/* SPDX-License-Identifier: MIT */
/* hash_log.h: the state log (weft/state_log.h) inside. What dispatch, sync points, passes tell it.
 *
 * Lines, fields separated by tabs; numbers of systems are positions in the order of effect:
 *
 *   S step pass                                  a pass begins
 *   W system name component rows hash            what a system wrote of a component, in all
 *   R system name component entity hash value    the same per row
 *   C system name commands hash                  what it recorded
 *   K system name slice number op component entity hash      the same per command
 *   B 0 name hash                                the world before the first pass of a step
 *   P system name hash                           after playback before this system, or at the end
 *   O system name hash                           after relations and observers at that place
 *   X system name hash                           after this EXCLUSIVE system
 *   E system name hash                           after the pass
 *   V system point component entity hash value   per value; point: which of B, P, O, X, E
 *
 * Sums over rows, so that neither slices nor workers show in them. Written at the end of a pass
 * by the owner, but the world at points, commands, and what systems write elsewhere than in the
 * rows of their slices (W for all values of the component), which are written by the owner as they
 * happen: lines of a step are in no order. Systems run stage by stage, so that this is possible; in
 * a log that keeps graphs they do not, and W has no such values. The hash of a point covers names,
 * too.
 *
 * A worker adds to memory of its own while its slice is still its own; nothing is shared. */
#pragma once

#include "scheduler_state.h"

#include <weft/state_log.h>

/* Owner, world idle. The result of _close is that of weft_state_log_end. */
weft_result weft__hash_log_open(weft__scheduler *scheduler, const weft_state_log_desc *desc);
weft_result weft__hash_log_close(weft__scheduler *scheduler);
/* Opens the log that the environment asks for, if it does and none is open. Owner. */
void weft__hash_log_obey(weft__scheduler *scheduler);
/* Owner, around a pass, with a log. */
void weft__hash_log_begin(weft__scheduler *scheduler);
void weft__hash_log_end(weft__scheduler *scheduler);
/* After a system was called for a slice, on its worker. */
void weft__hash_log_take(weft__scheduler *scheduler, uint32_t worker, const weft__system *system,
                         const weft_slice *slice);
/* After a stage: what its systems wrote beyond the rows of their slices; `is_joined`: after its
 * background systems. Owner. */
void weft__hash_log_stage(weft__scheduler *scheduler, const weft__stage *stage, bool is_joined);
/* Whether segments run stage by stage, so that the log can look behind each. */
bool weft__hash_log_needs_stages(const weft__scheduler *scheduler);
/* Whether rows go by keys (log_engine.h): lines of ranks add up, so all have those of points. */
bool weft__hash_log_is_keyed(const weft__scheduler *scheduler);
/* Before playback, and behind it (P) and behind relations and observers (O). Owner. */
void weft__hash_log_commands(weft__scheduler *scheduler);
void weft__hash_log_point(weft__scheduler *scheduler, char kind, uint32_t version);
