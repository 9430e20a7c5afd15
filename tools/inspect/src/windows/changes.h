/* SPDX-License-Identifier: MIT */
/* changes.h: what a page that may write does to the world beside values: entities made, copied and
 * destroyed, components added and removed, targets of relations, a system run once, a value written
 * into its document. Owner of the world, between steps. All need is_writable. */
#ifndef WEFT_INSPECT_CHANGES_H
#define WEFT_INSPECT_CHANGES_H

#include "session.h"

/* {"components": "Position, Velocity", "name": "probe"}: an entity; the answer is that of "entity",
 * as with all of these where there is one afterwards. */
uint32_t weft__entity_create(weft__session *session, const weft__request *request, weft__wire *out);
/* {"entity": "12:3"}: another one with the same values, and its linked group. */
uint32_t weft__entity_clone(weft__session *session, const weft__request *request, weft__wire *out);
uint32_t weft__entity_destroy(weft__session *session, const weft__request *request,
                              weft__wire *out);
/* {"entity": "12:3", "name": "probe"} */
uint32_t weft__entity_rename(weft__session *session, const weft__request *request, weft__wire *out);
/* {"entity": "12:3", "add": "Velocity"} or "remove". */
uint32_t weft__entity_change(weft__session *session, const weft__request *request, weft__wire *out);
/* {"entity": "12:3", "relation": "Parent", "target": "5:1"}; without a target: none. */
uint32_t weft__entity_relate(weft__session *session, const weft__request *request, weft__wire *out);
/* {"entity": "12:3", "component": "Orbit", "path": "drag"}: the value into the document of the live
 * link that the entity comes from, in the unit that stands there; "edit" of the answer is its
 * number. */
uint32_t weft__value_write_back(weft__session *session, const weft__request *request,
                                weft__wire *out);
/* {"entity": "12:3", "edit": 1}: what the last write_back replaced returns into the document. */
uint32_t weft__value_unwrite(weft__session *session, const weft__request *request, weft__wire *out);

#endif
