/* SPDX-License-Identifier: MIT */
/* relation_check.h: whether the lists of relations are what the mirrors say.
 *
 * For weft_world_validate: it holds at any time, settled or not. Owner, world idle. */
#ifndef WEFT_RELATION_CHECK_H
#define WEFT_RELATION_CHECK_H

#include "relation_state.h"

/* False: `text` says what is wrong. */
bool weft__relations_check(const weft_world *world, char *text, size_t bytes);

#endif
