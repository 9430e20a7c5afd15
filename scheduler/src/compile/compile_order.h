/* SPDX-License-Identifier: MIT */
/* compile_order.h: the order of effect of systems, and the orders between two of them by name.
 *
 * See compile_order.c. Owner, between segments. */
#ifndef WEFT_COMPILE_ORDER_H
#define WEFT_COMPILE_ORDER_H

#include "scheduler_state.h"

/* Fills scheduler->ordered. Errors: CYCLE, OUT_OF_MEMORY. */
weft_result weft__schedule_order(weft__scheduler *scheduler);
/* Fills scheduler->barriers, from the order. Errors: OUT_OF_MEMORY. */
weft_result weft__schedule_barriers(weft__scheduler *scheduler);
/* Moves systems in front of sync points that need not delay them (hoist.h): the order of effect,
 * the nodes and the barriers are those of the new order. Errors: OUT_OF_MEMORY. */
weft_result weft__schedule_hoist(weft__scheduler *scheduler, const weft__staging_input *input);
/* Whether a system, by its position, must run before another by name, or by groups where the
 * schedule cannot see what they do. */
bool weft__schedule_has_barrier(const weft__scheduler *scheduler, uint32_t before, uint32_t after);

#endif
