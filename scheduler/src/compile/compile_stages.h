/* SPDX-License-Identifier: MIT */
/* compile_stages.h: the stages of a schedule, ready to be filled with entries.
 *
 * See compile_stages.c. Owner, between segments. */
#ifndef WEFT_COMPILE_STAGES_H
#define WEFT_COMPILE_STAGES_H

#include "scheduler_state.h"

/* Fills scheduler->stages from scheduler->staging. Errors: OUT_OF_MEMORY. */
weft_result weft__schedule_stages(weft__scheduler *scheduler);

#endif
