/* SPDX-License-Identifier: MIT */
/* world_text_types.h: the lines of a world as text that describe components. Part of a reading
 * (world_text_read.h). */
#ifndef WEFT_WORLD_TEXT_TYPES_H
#define WEFT_WORLD_TEXT_TYPES_H

#include "world_text_read.h"

/* What stands behind {"type": up to the end of the object: registers it where the world lacks it.
 */
bool weft__world_text_read_type(weft__world_text *t);

#endif
