/* SPDX-License-Identifier: MIT */
/* run_log.h: one state log of a run, by gid: what WEFT_STATE_LOG_BY=gid asks for. Each rank logs
 * its rows to memory, rank 0 writes the lines of all behind each step, and a line "Z". Sums of
 * ranks add up to those of any other number of ranks; `weft diverge` adds them. */
#pragma once

#include "shard_state.h"

/* Opens it where rank 0 is asked to. Collective. Errors, on all ranks: IO, those of
 * weft_state_log_begin. */
weft_result weft__run_log_open(weft_shard *shard);
/* Behind a step. Collective. Errors, on all ranks: IO, OUT_OF_MEMORY. */
weft_result weft__run_log_write(weft_shard *shard);
void weft__run_log_close(weft_shard *shard);
