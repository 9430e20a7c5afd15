/* SPDX-License-Identifier: MIT */
/* past.h: which entity was in which archetype at two moments of the last frames, so that what a
 * query lost since is told without a list that was held before. Taken while a page is open, between
 * steps: 8 bytes an entity, a copy in 100 frames or 1 % of the time. Owner of the world. */
#ifndef WEFT_INSPECT_PAST_H
#define WEFT_INSPECT_PAST_H

#include "session.h"

/* Keeps this moment, if the last one is 100 frames ago. */
void weft__past_take(weft__session *session, uint64_t now_ns);
/* Calls `take` for each entity that was in an archetype of the query at the older moment, and is
 * dead or in another archetype now. Enable bits and filters do not count. Returns the frame of that
 * moment in *frame; false: there is none, or memory was refused. */
bool weft__past_lost(const weft__session *session, weft_query query, uint64_t *frame,
                     void (*take)(void *user, weft_entity entity), void *user);
void weft__past_free(weft__session *session);

#endif
