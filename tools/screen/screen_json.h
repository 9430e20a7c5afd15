/* SPDX-License-Identifier: MIT */
/* screen_json.h: --json: a line per approach, as they are found, then lines of what is known at the
 * end, the summary last. Each line is an object with a member "type".
 */
#ifndef WEFT_SCREEN_SCREEN_JSON_H
#define WEFT_SCREEN_SCREEN_JSON_H

#include "screen.h"

/* Lines "approach" of `count` approaches, in their order. */
void screen_json_approaches(const struct screen_result *result,
                            const struct screen_approach *approaches, uint32_t count);

/* Lines "at_edge", "together", "ended", then "summary". With --top: before them the lines
 * "approach" of the closest pairs. */
void screen_json_end(const struct screen_options *options, const struct screen_result *result);

#endif
