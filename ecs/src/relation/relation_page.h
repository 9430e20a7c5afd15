/* SPDX-License-Identifier: MIT */
/* relation_page.h: the lists of sources, page by page: what came and went is applied to them.
 *
 * Pages are independent: tasks of one loop apply them. Owner, world idle. */
#ifndef WEFT_RELATION_PAGE_H
#define WEFT_RELATION_PAGE_H

#include "relation_state.h"

/* Room for the pages of all blocks of the directory. False: no memory. */
bool weft__relation_pages_reserve(weft__relation *relation);

/* Applies the changes of the last scan to all pages that have any or whose block had deaths
 * (`had_deaths`: [page]; NULL: take all for such). Results are in the pages relation->active.
 * OUT_OF_MEMORY: the relation is broken. */
weft_result weft__relation_pages_apply(weft__relation *relation, const bool *had_deaths,
                                       weft_job_context *job);

/* Takes the sources of a dead target out of the index, at the end of `out`. False: no memory. */
bool weft__target_take(weft__relation *relation, weft_entity target, weft__entity_list *out);

/* Forgets all targets of a page. */
void weft__target_page_clear(weft__target_page *page);
void weft__target_page_free(weft_world *world, weft__target_page *page);

#endif
