/* SPDX-License-Identifier: MIT */
/* fill_values.h: the values of the entities that a fill has made, with their references led to
 * the new entities and blobs. By the owner of scene and world. */
#ifndef WEFT_FILL_VALUES_H
#define WEFT_FILL_VALUES_H

#include "fill_entities.h"

bool weft__fill_values(weft__fill *f);
/* The own entity of a node; null: it has none. */
weft_entity weft__fill_entity_of(const weft__fill *f, uint32_t node);

#endif
