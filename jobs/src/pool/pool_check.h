/* SPDX-License-Identifier: MIT */
/* pool_check.h: whether work is pending in a pool, by counts and by slots. Who may call what is
 * declared in jobs_engine.h: weft__pool_check_owner, _is_in_job, _check_end. */
#pragma once

#include "pool_state.h"

/* Nothing submitted is pending, and every ended job has been counted. */
bool weft__pool_is_quiescent(weft_job_pool *pool);
/* Something submitted has not ended. */
bool weft__pool_has_pending(weft_job_pool *pool);
/* Slots that were ever used. */
uint32_t weft__pool_slot_mark(weft_job_pool *pool);
/* The handle of the job that is, or was last, in a slot. */
weft_job_handle weft__pool_handle_of(weft_job_pool *pool, uint32_t slot);
