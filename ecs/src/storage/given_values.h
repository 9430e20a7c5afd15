/* SPDX-License-Identifier: MIT */
/* given_values.h: the values that a caller may write at any time, because weft_entity_write or a
 * function like it gave a pointer to them. Checked builds ask when they watch loops (owner_loop.h).
 *
 * Unchecked builds call nothing here. Without memory nothing is noted. Threads: owner. */
#ifndef WEFT_GIVEN_VALUES_H
#define WEFT_GIVEN_VALUES_H

#include "world_state.h"

/* A pointer for writing was given to one value; to all values of a component. */
void weft__given_values_note(weft_world *world, const weft__chunk *chunk, uint32_t row,
                             uint32_t component);
void weft__given_values_note_all(weft_world *world, uint32_t component);
/* Whether a pointer to the value may be in use. */
bool weft__given_values_has(const weft_world *world, const weft__chunk *chunk, uint32_t row,
                            uint32_t component);
void weft__given_values_free(weft_world *world);

#endif
