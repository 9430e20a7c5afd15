/* SPDX-License-Identifier: MIT */
/* origin.h: where an entity comes from: the program's word, a document of a live link or of a
 * scene, a section of a stream. Owner of the world. */
#ifndef WEFT_INSPECT_ORIGIN_H
#define WEFT_INSPECT_ORIGIN_H

#include "session.h"

/* Adds "origin", a text like "level.weft:3 ship/cube", where it is known; where a live link
 * knows it "live", and "conflicts" where the document and the run had different minds about it. */
void weft__origin_add(const weft__session *session, weft_entity entity, weft__wire *out);

#endif
