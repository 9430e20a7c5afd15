/* SPDX-License-Identifier: MIT */
/* hoist.h: an order of systems in which sync points delay only those that could see them.
 *
 * Private. Pure. A sync point ends a segment, and with it fusion, for every system behind it. A
 * system behind it that could see nothing of the commands before it, and that nothing orders to a
 * system behind the sync point, is moved in front of it. What is asked are components, not
 * archetypes, so that archetypes that appear in the middle of a frame do not change the order. */
#ifndef WEFT_HOIST_H
#define WEFT_HOIST_H

#include "staging.h"

/* Writes the positions of all nodes in the new order to `order` [node_count]: by segment, and in
 * the given order within each. These stay in the segment that the order gives them: systems that
 * record, exclusive and background systems, and those with WEFT__STAGING_STAYS. A system that could
 * be fused is moved only as far back as the first segment that has something to fuse it with, if
 * there is one. Barriers are sorted by `after`. Errors: OUT_OF_MEMORY. Cost: O(items + nodes *
 * recording systems). */
weft_result weft__staging_hoist(const weft__staging_input *input, weft__memory *memory,
                                uint32_t *order);

#endif
