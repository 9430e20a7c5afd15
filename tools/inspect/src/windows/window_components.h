/* SPDX-License-Identifier: MIT */
/* window_components.h: the types of the world: what they are, who reads and writes them, where they
 * are; and the values of resources. Owner of the world, between steps. */
#ifndef WEFT_INSPECT_WINDOW_COMPONENTS_H
#define WEFT_INSPECT_WINDOW_COMPONENTS_H

#include "session.h"

/* {}: all types, with counts. */
uint32_t weft__components_window(weft__session *session, const weft__request *request,
                                 weft__wire *out);
/* {"component": "Orbit"}: fields, systems, archetypes; of a resource its value. */
uint32_t weft__component_window(weft__session *session, const weft__request *request,
                                weft__wire *out);
/* {"component": "Gravity", "path": "y", "value": "-9.81"}: a value of a resource. Needs
 * is_writable. Answers with the component. */
uint32_t weft__resource_edit(weft__session *session, const weft__request *request, weft__wire *out);

#endif
