/* SPDX-License-Identifier: MIT */
/* state_log.h: the state log: what each system of each step wrote, as hashes, to find where two
 * runs begin to differ.
 *
 * Public. Two runs of one program (on other machines, with other workers, before and after a
 * change) write a log each; `weft diverge A.log B.log` names the first step, system, component
 * and entity that differ, with both values. The lines are the same for any number of workers,
 * fused or not. The environment asks as well: WEFT_STATE_LOG=FILE,
 * WEFT_STATE_LOG_ROWS=FIRST-LAST (docs/guide/determinism.md). */
#ifndef WEFT_STATE_LOG_H
#define WEFT_STATE_LOG_H

#include <weft/schedule.h>
#include <weft/world_file.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the state log ---- */

/* What is logged. Zero means default. */
typedef struct weft_state_log_desc {
    weft_writer writer; /* gets text, in pieces, on the thread that steps the world; must stay valid
                           until the log has ended */
    bool keeps_graphs;  /* what runs as a graph still does, so that its order can be wrong; then no
                          line tells what systems write elsewhere than in their rows */
    uint64_t rows_first, rows_last; /* steps (weft_world_frame, from 1) whose log has a line per
                                       written row and command, with its value; 0, 0: none */
} weft_state_log_desc;

/* From the next step on the world writes a log. Steps run stage by stage, in slices as before,
 * unless it keeps graphs, and each is a few times slower. Threads: owner, between steps. Errors:
 * INVALID_ARGUMENT (no writer), WRONG_PHASE, BUSY (a log is being written), OUT_OF_MEMORY. */
WEFT_API weft_result weft_state_log_begin(weft_world *world, const weft_state_log_desc *desc);

/* Ends it. Threads: owner, between steps. Returns what went wrong while it was written: what the
 * writer returned, or OUT_OF_MEMORY; a log ends at its first failure, steps go on. Nothing
 * without a log. */
WEFT_API weft_result weft_state_log_end(weft_world *world);

#ifdef __cplusplus
}
#endif
#endif
