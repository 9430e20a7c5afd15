/* SPDX-License-Identifier: MIT */
/* live_record.h: what documents say of an entity, as an image, straight from its record and the
 * tree: what a fill would give it, without a world.
 *
 * The baker. */
#ifndef WEFT_LIVE_RECORD_H
#define WEFT_LIVE_RECORD_H

#include "live_state.h"

/* Which entity of a document. Never 0. */
uint64_t weft__live_key(uint64_t path, uint32_t number);
/* The numbers of the schema's components; false: memory. Once, after the scene was created. */
bool weft__live_numbers_make(weft_live *live);
/* All that the image of a node's entities depends on beside its output. live->places is done. */
uint64_t weft__live_signature(const weft_live *live, uint32_t node);
/* The image of entity number `number` of a node; NULL: memory. */
weft__live_image *weft__live_record_image(weft_live *live, uint32_t node, uint32_t number);

#endif
