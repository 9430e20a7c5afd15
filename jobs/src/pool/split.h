/* SPDX-License-Identifier: MIT */
/* split.h: what loops and graphs on workers have in common: whether sharing pays, who opened the
 * entry of the loop table, what its participants report, what is learned from it. */
#pragma once

#include "pool_state.h"

/* Whether splitting work predicted to take this long pays now: by itself, or for the row of loops
 * that it is one of, for which it wakes a worker. */
bool weft__worker_pays_off(weft_job_context *worker, weft__cost_state *cost, uint64_t predicted);
/* Whether work predicted to take this long is split to wake a worker for what comes after it. What
 * it takes says nothing about splits. The worker must find it: one woken beside a loop of 35 us
 * that runs inline gives up before the next loop comes, each time. */
bool weft__worker_is_alone(const weft_job_context *worker, uint64_t predicted);
/* Sets the fields of a loop that say who opens it. */
void weft__worker_fill_opener(const weft_job_context *worker, weft__loop *loop);
/* A participant ran `count` items or nodes since the tick `begun`: the last one wakes the
 * opener. */
void weft__worker_report(weft_job_context *worker, weft__loop *loop, uint32_t count,
                         uint64_t begun);
