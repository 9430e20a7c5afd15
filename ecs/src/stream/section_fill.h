/* SPDX-License-Identifier: MIT */
/* section_fill.h: the work of a thread on a load: the table of a section, and its pieces, each of
 * which becomes a private chunk. The bytes are untrusted.
 *
 * Any thread of the crew; touches what the load says is the crew's, and the allocators. */
#ifndef WEFT_SECTION_FILL_H
#define WEFT_SECTION_FILL_H

#include "stream_state.h"

/* weft__crew_job.run of a load. */
void weft__section_fill(weft__crew_job *job, uint32_t piece, uint32_t thread);

#endif
