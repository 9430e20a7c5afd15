/* SPDX-License-Identifier: MIT */
/* world_file_evolve.h: types of a world file whose layout is another than the world's. Part of a
 * load (world_file_read.h). */
#ifndef WEFT_WORLD_FILE_EVOLVE_H
#define WEFT_WORLD_FILE_EVOLVE_H

#include "world_file_read.h"

/* Makes the plan of the type that is listed next, whose record is `desc` with `hash`; none when the
 * bytes are the same. */
bool weft__world_reader_evolve(weft__world_reader *r, const weft__type *type,
                               const weft_component_desc *desc, uint64_t hash);
/* The plan of a listed type; NULL: its bytes are the same. Cost: O(types of the file) when some
 * type has one. */
const weft__evolution *weft__world_reader_evolution(const weft__world_reader *r,
                                                    const weft__type *type);
/* Reads values of a type with a plan; `bytes` of the world's layout. References are still those of
 * the file. */
bool weft__world_reader_convert(weft__world_reader *r, const weft__type *type, char *value,
                                size_t bytes);
void weft__world_reader_evolutions_free(weft__world_reader *r);

#endif
