/* SPDX-License-Identifier: MIT */
/* relation_scan.h: finding the edges that came and went since the last scan, by change versions.
 *
 * Owner, world idle; loops over the pool where there is a context. */
#ifndef WEFT_RELATION_SCAN_H
#define WEFT_RELATION_SCAN_H

#include "relation_state.h"

/* Compares what may have changed with the mirrors and makes these current. The changes are in
 * relation->changes, those of bucket b in [firsts[b], firsts[b + 1]), in any order; in the last
 * two are edges to what no entity can be, and rows without a target that have a depth. `job`:
 * the context for loops, or NULL. On OUT_OF_MEMORY the relation is broken: it is built from
 * nothing the next time. */
weft_result weft__relation_scan(weft__relation *relation, weft_job_context *job);

/* After rows moved and no field changed: mirrors follow. */
void weft__relation_follow(weft__relation *relation, weft_job_context *job);

/* Forgets all mirrors and lists: the next scan finds every edge. */
void weft__relation_reset(weft__relation *relation);

#endif
