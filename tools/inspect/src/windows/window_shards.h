/* SPDX-License-Identifier: MIT */
/* window_shards.h: the Shards window: the ranks of a sharded world, and sums over them. Owner of
 * the world. */
#ifndef WEFT_INSPECT_WINDOW_SHARDS_H
#define WEFT_INSPECT_WINDOW_SHARDS_H

#include "session.h"

/* {}: "there": whether the world is sharded; "shards": what its hook tells of all ranks. */
uint32_t weft__shards_window(weft__session *session, const weft__request *request, weft__wire *out);

#endif
