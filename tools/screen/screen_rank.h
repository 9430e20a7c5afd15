/* SPDX-License-Identifier: MIT */
/* screen_rank.h: the approaches as a person wants to see them first: one line per pair, the closest
 * pairs first, with the geometry of the encounter and what is known of its cause.
 *
 * Pairs that are together (screen_edges.h) are not ranked: they are a list of their own.
 */
#ifndef WEFT_SCREEN_SCREEN_RANK_H
#define WEFT_SCREEN_SCREEN_RANK_H

#include "screen.h"

enum { SCREEN_WORDS_BYTES = 96 };

/* A pair and its closest approach of the window. */
struct screen_ranked {
    const struct screen_approach *approach; /* of the result */
    uint32_t times;                         /* approaches of the pair */
    double age_days_a, age_days_b;          /* days since epoch at the approach */
    struct approach_view view;
};

/* Owner: the caller; valid while the result is. */
struct screen_ranking {
    struct screen_ranked *pairs; /* [count]: the closest first */
    uint32_t count;
    uint32_t pair_count; /* all pairs, also those beyond `count` */
};

/* Ranks at most `most` pairs. Returns 0, or -1 without memory (nothing to free then). */
int screen_rank(const struct screen_result *result, uint32_t most, struct screen_ranking *ranking);
void screen_ranking_fini(struct screen_ranking *ranking);

/* "head-on 171°", "crossing 88°", "same way 3°", in UTF-8. */
void screen_rank_direction(const struct screen_ranked *pair, char text[SCREEN_WORDS_BYTES]);
/* Why they meet, as far as the elements tell: "both of STARLINK", "fly together, 14 times", "orbits
 * cross"; and "old elements" when the answer hangs on them. */
void screen_rank_reason(const struct screen_result *result, const struct screen_ranked *pair,
                        char text[SCREEN_WORDS_BYTES]);

/* 0.0231 km as "23 m", 3.21 km as "3.21 km". */
void screen_rank_distance(double km, char text[SCREEN_WORDS_BYTES]);

#endif
