/* SPDX-License-Identifier: MIT */
/* query_each.h: what weft_query_each_parallel keeps between loops.
 *
 * Owner. */
#ifndef WEFT_QUERY_EACH_H
#define WEFT_QUERY_EACH_H

#include "world_state.h"

/* Frees the records of errors of callbacks. */
void weft__callback_errors_free(weft_world *world);

#endif
