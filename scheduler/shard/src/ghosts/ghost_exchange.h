/* SPDX-License-Identifier: MIT */
/* ghost_exchange.h: sending the packs that other ranks see, and receiving theirs.
 *
 * One message to each rank that is near, each time: for each sector that it sees, in the order of
 * numbers, a word, then what changed since the last message: gids and presence where rows came or
 * left, and the columns that were written. Both sides know from the map which sectors these are.
 *
 *     word: columns that follow (bits 0 to 15), whether rows follow (bit 16), rows (bits 32 to 63)
 *
 * The others wait for a rank that has failed, so it says so, once to each of them: a message of one
 * word (bit 17, the result in bits 32 to 63). From then on, until the next start, the two send each
 * other nothing; who is told has failed too, and tells its own neighbours in the next exchange.
 *
 * Owner. Order: start, then as often as there are exchanges: begin, poll any number of times, end;
 * then finish. */
#pragma once

#include "shard_state.h"

/* The memory of exchanges by the map that there is. False: it was refused. */
bool weft__ghosts_make(weft_shard *shard);
/* Who sees what by another map, which is not set yet: all ranks or none take it over. False: memory
 * was refused. */
bool weft__ghosts_prepare(weft_shard *shard, const uint32_t *rank_of);
/* Sets the map that was prepared. */
void weft__ghosts_set_map(weft_shard *shard, const uint32_t *rank_of);

/* Exchanges follow, in a step or of their own. */
void weft__ghosts_start(weft_shard *shard);
/* Makes the packs of this rank current and sends. `result`, also of the next two: what this rank
 * has met so far; they return it where it is an error. Errors: OUT_OF_MEMORY, IO, LIMIT. */
weft_result weft__ghosts_begin(weft_shard *shard, weft_result result);
/* Receives what came, between begin and end. */
void weft__ghosts_poll(weft_shard *shard);
/* Waits for all messages, takes them over into packs and ghosts. Structure may change: nothing else
 * runs. Errors: OUT_OF_MEMORY, IO, CORRUPT. */
weft_result weft__ghosts_end(weft_shard *shard, weft_result result);
/* After the exchanges of a step, of which there are `planned` on all ranks. One that has failed
 * before the last of them may not have made it, and others wait. */
weft_result weft__ghosts_finish(weft_shard *shard, uint32_t planned, weft_result result);
void weft__ghosts_free(weft_shard *shard);
