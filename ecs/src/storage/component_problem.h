/* SPDX-License-Identifier: MIT */
/* component_problem.h: what is wrong with the description of a component: its kind, size, fields
 * and lists. Handles in its lists are looked up, and refused by name, by the registration. Any
 * thread, while the owner registers nothing. */
#ifndef WEFT_COMPONENT_PROBLEM_H
#define WEFT_COMPONENT_PROBLEM_H

#include "world_state.h"

/* The sentence that says what is wrong with a description and what to do, or NULL: nothing is, but
 * for handles in its lists. */
const char *weft__component_problem(const weft_world *world, const weft_component_desc *desc);

#endif
