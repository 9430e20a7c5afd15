/* SPDX-License-Identifier: MIT */
/* bake_properties.h: properties that bake themselves. By the worker that bakes, after the
 * bakers: what those have read is not baked again. */
#ifndef WEFT_BAKE_PROPERTIES_H
#define WEFT_BAKE_PROPERTIES_H

#include "bake.h"

/* Makes components of the properties of the node, and reports unknown ones. */
void weft__bake_properties(weft_bake *bake);

#endif
