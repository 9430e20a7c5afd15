/* SPDX-License-Identifier: MIT */
/* screen_filter.h: which pairs are told: those of some objects, of a group, not of a group, below a
 * distance. The search and the check by brute force do not know of it.
 */
#ifndef WEFT_SCREEN_SCREEN_FILTER_H
#define WEFT_SCREEN_SCREEN_FILTER_H

#include "screen.h"

/* Made of the options and the catalogue. Owner: the caller. */
struct screen_filter {
    uint8_t *is_named;             /* [objects]; NULL: all are */
    double max_km;                 /* 0: no limit */
    uint32_t group, without_group; /* 0: none */
    const uint32_t *group_of;      /* of the result */
};

/* Returns WEFT_CLI_OK, or the status to exit with, after saying which name is not known. */
int screen_filter_init(struct screen_filter *filter, const struct screen_options *options,
                       const struct screen_result *result);
void screen_filter_fini(struct screen_filter *filter);

/* Whether a pair is told that comes as near as `km`. */
bool screen_filter_takes(const struct screen_filter *filter, uint32_t object_a, uint32_t object_b,
                         double km);

/* Leaves out of the result what is not told; counts the approaches. */
void screen_filter_apply(const struct screen_filter *filter, struct screen_result *result);

#endif
