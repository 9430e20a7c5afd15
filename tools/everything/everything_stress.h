/* SPDX-License-Identifier: MIT */
/* everything_stress.h: what `weft stress` needs of the scenario "everything" beside its rounds.
 *
 * Private to tools/cmd_stress.c. */
#ifndef WEFT_TOOLS_EVERYTHING_STRESS_H
#define WEFT_TOOLS_EVERYTHING_STRESS_H

#include <stdbool.h>
#include <stdint.h>

/* `--shrink`: the first of these rounds that fails, as a C program on stdout; progress on stderr.
 * The status of the command: 1 when one fails. */
int weft_stress_shrink(uint64_t seed, uint32_t from, uint32_t rounds);
/* `--cells`: what was drawn in this process. */
void weft_stress_cells(bool is_json, bool are_cells);

#endif
