/* SPDX-License-Identifier: MIT */
/* screen_shards.h: the job over several processes (`--shards`): each has a part of the window.
 *
 * Rank 0 reads the catalogue and tells the others; each rank screens its batches of steps; what
 * was found comes to rank 0, which does the rest of the job alone. An approach belongs to exactly
 * one step, so the parts have nothing to agree on but objects that end: those that ended in an
 * earlier part are left out of the later ones.
 *
 * The result is that of one process to the bit, the counts of the summary included: parts are cut
 * between batches, because the bounds of the search are those of a batch.
 */
#ifndef WEFT_SCREEN_SCREEN_SHARDS_H
#define WEFT_SCREEN_SCREEN_SHARDS_H

#include "screen.h"

/* Gives all ranks the catalogue and the window of rank 0, or its exit status when it could not be
 * read, and sets this rank's part. Collective, as are the others. */
int screen_shards_begin(const struct screen_options *options, int status,
                        struct screen_result *result);

/* Finds objects with low perigees that end before this rank's part, where there are any to find:
 * screen_shards_join finds all, at the price of screening again. */
int screen_shards_look_ahead(const struct screen_options *options, struct screen_result *result);

/* Whether objects that this part was screened with ended in an earlier part: they are in
 * result->is_gone then, and the part must be screened again. */
int screen_shards_settle(const struct screen_options *options, int status,
                         struct screen_result *result, bool *again);

/* Brings approaches, losses and counts to rank 0. */
int screen_shards_join(const struct screen_options *options, int status,
                       struct screen_result *result);

#endif
