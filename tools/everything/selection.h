/* SPDX-License-Identifier: MIT */
/* selection.h: a query of the script, and the entities that the model says it selects.
 *
 * A selection is of one call: changes make it old. */
#ifndef WEFT_TOOLS_SELECTION_H
#define WEFT_TOOLS_SELECTION_H

#include "everything.h"

typedef struct selection {
    everything_query *q;
    uint32_t slot, count;
    uint32_t *numbers; /* ascending */
    uint32_t driver; /* the term whose SPARSE component has the rows: in no order; or term_count */
} selection;

/* All terms are SPARSE: the first that has to be there; else the count of terms. */
uint32_t selection_driver(const model_query *asks);
static inline bool selection_is_of_sparse_rows(const selection *s)
{
    return s->driver != s->q->asks.term_count;
}
/* By c->a. False: the script has no query. */
bool selection_of(everything *e, const everything_call *c, selection *s);
/* Whether these are its entities, each once; else it fails as `what`. */
bool selection_check(everything *e, const selection *s, const weft_entity *entities, uint64_t count,
                     const char *what);
/* All of them in query order, by weft_query_entities; in memory of the model. NULL: it failed. */
weft_entity *selection_entities(everything *e, const selection *s);

/* Draws a query of at most four of these kinds into an empty one. */
void selection_draw(everything_query *q, uint64_t set, uint32_t a, uint32_t b);
/* What weft is asked for it, and the same as C: "{.terms = ...}". */
weft_query_desc selection_desc(const everything *e, const everything_query *q);
void selection_says(everything *e, const everything_query *q);

#endif
