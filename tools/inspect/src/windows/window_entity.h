/* SPDX-License-Identifier: MIT */
/* window_entity.h: one entity: where it is, its components with values, units and ranges, the
 * systems that run over it, where it comes from; and changes of its values. Owner of the world,
 * between steps. */
#ifndef WEFT_INSPECT_WINDOW_ENTITY_H
#define WEFT_INSPECT_WINDOW_ENTITY_H

#include "session.h"

/* The answer about an entity. */
uint32_t weft__entity_write(weft__session *session, weft_entity entity, weft__wire *out);
/* {"entity": "12:3"} */
uint32_t weft__entity_window(weft__session *session, const weft__request *request, weft__wire *out);
/* {"entity": "12:3", "component": "Trail", "from": 0, "count": 200}: elements of a buffer. */
uint32_t weft__elements_window(weft__session *session, const weft__request *request,
                               weft__wire *out);
/* {"entity": "12:3", "component": "Orbit", "path": "drag[2]", "value": "15 rev/day"}; or
 * {"entity", "component", "enabled": false}. Needs is_writable. Answers with the entity. */
uint32_t weft__entity_edit(weft__session *session, const weft__request *request, weft__wire *out);

#endif
