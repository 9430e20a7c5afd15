/* SPDX-License-Identifier: MIT */
/* worlds.h: the inspected worlds of this process, among which a page chooses. It is told of those
 * that its own key opens, and of no others. */
#ifndef WEFT_INSPECT_WORLDS_H
#define WEFT_INSPECT_WORLDS_H

#include "out.h"

#include <weft/world.h>

/* One world. Owner: its inspector; constant from add to remove, when it is in the list, except for
 * `next`, which the lock of the list guards. */
typedef struct weft__world_place {
    struct weft__world_place *next;
    const char *token; /* of its server */
    uint32_t port;
    char name[64]; /* of the world: one that runs on another thread may end meanwhile */
} weft__world_place;

/* At the end of the list. Threads: any. */
void weft__worlds_add(weft__world_place *place, const weft_world *world);
void weft__worlds_remove(weft__world_place *place);
/* "worlds": [{"name": "server", "port": 27760}, ...]: those with the token of `own`, which is among
 * them. */
void weft__worlds_write(const weft__world_place *own, weft__wire *out);
const char *weft__world_name(const weft_world *world);

#endif
