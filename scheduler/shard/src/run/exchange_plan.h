/* SPDX-License-Identifier: MIT */
/* exchange_plan.h: where in a step ghosts are exchanged: systems of the library, "shard.begin N"
 * and "shard.end N", placed by what the other systems declare.
 *
 * A system that reads ghosts needs an exchange before it if, since the last exchange, a system
 * may have written a halo component or recorded commands. It begins after the last of these,
 * ends before the first border half, and interior halves run between. */
#ifndef WEFT_EXCHANGE_PLAN_H
#define WEFT_EXCHANGE_PLAN_H

#include "shard_state.h"

/* Makes the exchanges again where systems came or left. Errors: those of the schedule,
 * OUT_OF_MEMORY.
 */
weft_result weft__plan_update(weft_shard *shard);
/* How many exchanges a step has; 1 where there are some, and the plan could not be made. */
uint32_t weft__plan_exchanges(const weft_shard *shard);
void weft__plan_free(weft_shard *shard);

#endif
