/* SPDX-License-Identifier: MIT */
/* window_shards.c: see window_shards.h. The inspector does not know libweft-shard: the world has a
 * hook of the name "shards" where it is sharded, and asking it makes the ranks gather their figures
 * at the end of a step. */
#include "window_shards.h"

uint32_t weft__shards_window(weft__session *session, const weft__request *request, weft__wire *out)
{
    const weft_world_hook *hook = weft_world_hook_find(session->world, "shards");
    (void)request;
    weft__wire_bool(out, "there", hook != NULL && hook->tell != NULL);
    if (hook != NULL && hook->tell != NULL) weft__wire_told(out, "shards", hook->tell, hook->user);
    return 200;
}
