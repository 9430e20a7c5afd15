/* SPDX-License-Identifier: MIT */
/* screen_edges.h: pairs within the threshold at an end of the window: those that have no closest
 * approach of the definition in approach.h although they are close.
 *
 *   together   within the threshold at the begin of every step and at the window's end: modules of
 *              a station, formations
 *   at edge    within it at the start and moving apart, or at the end and still closing: the
 *              minimum lies beyond the window
 *
 * A pair that is together is not at the edge as well.
 */
#ifndef WEFT_SCREEN_SCREEN_EDGES_H
#define WEFT_SCREEN_SCREEN_EDGES_H

#include "screen.h"

/* Fills result->togethers and result->edges, by numbers. Returns 0, or -1 without memory. Cost:
 * the pairs found, times the steps. */
int screen_edges_find(struct screen_result *result);

#endif
