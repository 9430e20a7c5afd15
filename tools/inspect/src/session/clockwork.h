/* SPDX-License-Identifier: MIT */
/* clockwork.h: pause, step and speed. They decide when the program's next step may begin, never
 * what it does: the dt of steps is the program's, and results stay the same. Owner of the world. */
#ifndef WEFT_INSPECT_CLOCKWORK_H
#define WEFT_INSPECT_CLOCKWORK_H

#include "session.h"

/* {"paused": true} */
uint32_t weft__pause(weft__session *session, const weft__request *request, weft__wire *out);
/* {"count": 1}: runs steps of a paused world. */
uint32_t weft__step(weft__session *session, const weft__request *request, weft__wire *out);
/* {"speed": 10}: at most as many steps a second; 0: as fast as they go. */
uint32_t weft__speed(weft__session *session, const weft__request *request, weft__wire *out);

/* A step has ended: counts it, and sets when the next may begin. */
void weft__clockwork_stepped(weft__session *session, uint64_t now_ns);
/* Whether the world must wait now, until *until_ns at the latest. */
bool weft__clockwork_waits(const weft__session *session, uint64_t now_ns, uint64_t *until_ns);

#endif
