/* SPDX-License-Identifier: MIT */
/* ghost_exchange.h: sending the packs that other ranks see, and receiving theirs.
 *
 * One message to each rank that is near, each time: for each sector that it sees, in the order of
 * numbers, a word, then what changed since the last message: gids and presence where rows came or
 * left, and the columns that were written. Both sides know from the map which sectors these are.
 *
 *     word: columns that follow (bits 0 to 15), whether rows follow (bit 16), rows (bits 32 to 63)
 *
 * Owner. Order: begin, poll any number of times, end. */
#ifndef WEFT_GHOST_EXCHANGE_H
#define WEFT_GHOST_EXCHANGE_H

#include "shard_state.h"

/* Makes the packs of this rank current and sends. Errors: OUT_OF_MEMORY, IO, LIMIT. */
weft_result weft__ghosts_begin(weft_shard *shard);
/* Receives what came, between begin and end. */
void weft__ghosts_poll(weft_shard *shard);
/* Waits for all messages, takes them over into packs and ghosts. Structure may change: nothing else
 * runs. Errors: OUT_OF_MEMORY, IO, CORRUPT. */
weft_result weft__ghosts_end(weft_shard *shard);
void weft__ghosts_free(weft_shard *shard);

#endif
