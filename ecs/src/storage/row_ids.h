/* SPDX-License-Identifier: MIT */
/* row_ids.h: ids for many new rows at once, in the order of the rows, filled in by the owner or by
 * several workers: the same ids either way. */
#ifndef WEFT_ROW_IDS_H
#define WEFT_ROW_IDS_H

#include "archetype_state.h"
#include "world_state.h"

/* Rows that have no id yet. Owner: the list of weft__row_ids. Always: row + count is within the
 * chunk; first of the next run == first + count. */
typedef struct weft__id_run {
    weft__chunk *chunk;
    uint32_t row;
    uint32_t count;
    uint32_t first;    /* rows of the runs before it */
    uint32_t location; /* of its first row, as the directory is to know it; the rest follow */
} weft__id_run;

/* Runs of rows that get ids together. Owner: one operation, on its stack; runs are the caller's. */
typedef struct weft__row_ids {
    weft_world *world;
    const weft__id_run *runs;
    uint32_t run_count;
    uint32_t rows; /* of all runs */
    weft__id_share *shares;
    uint32_t share_count;
} weft__row_ids;

/* Everything that can fail; `rows` are those that the runs will have. `what`: the operation, for
 * the error. Errors: LIMIT, OUT_OF_MEMORY. */
weft_result weft__row_ids_prepare(weft__row_ids *ids, weft_world *world, uint64_t rows,
                                  const char *what);
/* Gives the ids: into the entity columns, and where the rows are into the directory. `job`: its
 * workers do it; NULL: the caller does. `cost`: of the loop over shares; NULL: unknown. */
void weft__row_ids_give(const weft__row_ids *ids, weft_job_context *job, weft_job_cost *cost);
void weft__row_ids_fini(weft__row_ids *ids);

#endif
