/* SPDX-License-Identifier: MIT */
/* stream_load.h: a section is begun, published or given up: what can fail comes first, so that
 * publishing is linking.
 *
 * Owner, world idle. */
#ifndef WEFT_STREAM_LOAD_H
#define WEFT_STREAM_LOAD_H

#include "stream_state.h"

/* Memory that rows of a section take. */
uint64_t weft__section_memory(const weft_stream *stream, uint32_t section);
/* Reserves ids, places and shared values, and hands the section to the crew. Section 0 is there, or
 * it is this one. Errors set (nothing changed): OUT_OF_MEMORY, LIMIT. */
weft_result weft__load_begin(weft_stream *stream, uint32_t section, uint64_t due);
/* Puts a section that was read into the world. Errors set (nothing changed; try again):
 * OUT_OF_MEMORY, LIMIT. Cost: O(chunks + blocks), late references, names. */
weft_result weft__load_publish(weft_stream *stream, uint32_t section);
/* Gives up a section whose job is done: its rows are taken away as those of one that leaves. Error
 * set: OUT_OF_MEMORY. */
weft_result weft__load_abandon(weft_stream *stream, uint32_t section);
/* Frees a load and, unless it was published, all that it reserved and read, at once. The crew does
 * not have it. */
void weft__load_end(weft__load *load);

#endif
