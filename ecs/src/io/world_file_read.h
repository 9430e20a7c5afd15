/* SPDX-License-Identifier: MIT */
/* world_file_read.h: a world out of bytes, and what reading a world as text needs, too.
 *
 * Owner of a new world. */
#pragma once

#include "world_file_write.h"

/* Fills a new world. Without the hash: for fuzzing, which must get past it. Error and report (may
 * be NULL) set; its text is that of the error. */
weft_result weft__world_read(weft_world *world, const void *bytes, size_t count,
                             const weft_load_desc *desc, bool with_hash, weft_load_report *report);

/* The end of a load: the clock and the runs are the world's; NULL: it failed, and the world is
 * empty again. Frees the runs. */
void weft__load_end(weft__run_list *runs, const weft__clock *clock);
/* Whether an index may be entered where `mentions` entities are mentioned: few bytes cannot ask
 * for much memory. */
bool weft__index_fits(uint32_t index, uint64_t mentions);
/* WRONG_PHASE, with the error set, when an entity was ever created in the world. */
weft_result weft__world_check_new(weft_world *world, const char *what);
