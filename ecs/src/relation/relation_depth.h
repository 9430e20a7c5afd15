/* SPDX-License-Identifier: MIT */
/* relation_depth.h: cycles and depths of acyclic relations, and access to the field of a row.
 *
 * Depths are those of rows whose lists of sources are current. Owner, world idle. */
#ifndef WEFT_RELATION_DEPTH_H
#define WEFT_RELATION_DEPTH_H

#include "relation_state.h"

/* What was done. A value. */
typedef struct weft__depth_result {
    uint32_t cuts;    /* cycles that were cut: their fields are to be scanned once more */
    weft_entity cut;  /* a source whose field was cleared */
    bool has_changed; /* rows moved or were written */
} weft__depth_result;

/* Cuts cycles among relation->came, and gives them and all below them the depth that they have
 * now; takes the depth from those that left. The lists of sources are current. */
weft_result weft__relation_depths(weft__relation *relation, weft__depth_result *out);

/* The depth that a row's chunk says; 0: none. */
uint32_t weft__relation_depth_of(const weft__relation *relation, const weft__chunk *chunk);

/* Makes the field of a row null and stamps it. */
void weft__relation_field_clear(const weft__relation *relation, const weft__chunk *chunk,
                                uint32_t row);

/* The row of an entity that has the component; NULL: it has none. */
weft__chunk *weft__relation_row(const weft__relation *relation, weft_entity source, uint32_t *row,
                                char **value);

#endif
