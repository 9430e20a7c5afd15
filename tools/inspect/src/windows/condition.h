/* SPDX-License-Identifier: MIT */
/* condition.h: pausing by itself: after the step in which a number passes a bound, an entity dies,
 * or an archetype gets or loses entities. Looked at after each step while a page is open. Owner of
 * the world. */
#ifndef WEFT_INSPECT_CONDITION_H
#define WEFT_INSPECT_CONDITION_H

#include "session.h"

/* {"entity": "12:3", "component": "Orbit", "path": "height", "is": "<", "number": 200}, with "<",
 * ">" or "changed"; {"entity": "12:3", "is": "dead"}; {"archetype": 3}; {}: none. Answers with what
 * the status says of it. */
uint32_t weft__condition_set(weft__session *session, const weft__request *request, weft__wire *out);
/* After a step: pauses the world when it holds, and forgets it. */
void weft__condition_check(weft__session *session);
/* "condition": what is waited for; "reached": what the world was paused for. */
void weft__condition_write(const weft__session *session, weft__wire *out);
void weft__condition_free(weft__session *session);

#endif
