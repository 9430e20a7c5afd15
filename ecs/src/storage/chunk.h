/* SPDX-License-Identifier: MIT */
/* chunk.h: making, linking and releasing chunks.
 *
 * Whole operations come first; their steps are for chunks that jobs make (private_chunk.c) and that
 * change archetype in place (structure.c). */
#pragma once

#include "format.h"

/* ---- whole operations: owner ---- */

/* A new, empty chunk of a tuple, linked. NULL: error set. */
weft__chunk *weft__chunk_create(weft_world *world, weft__tuple *tuple, uint32_t size_class);
/* Unlinks and frees an empty chunk. `is_clean`: the last row died by itself; ready rows are zero,
 * enable bits clear. */
void weft__chunk_release(weft_world *world, weft__chunk *chunk, bool is_clean);
/* The spare chunk of a tuple without rows, if one row would get a new chunk like it and nothing has
 * to be reserved for its return. NULL: there is none. */
weft__chunk *weft__chunk_spare(const weft_world *world, const weft__tuple *tuple);
/* Links it again, without rows: the caller adds one at once. Cannot fail. */
void weft__chunk_revive(weft_world *world, weft__chunk *spare);
/* Frees the chunks that are kept for later (chunk.h). False: there were none. */
bool weft__chunk_spares_free(weft_world *world);
/* Unlinks a chunk with its rows, which are none of the world's any more; its memory is the
 * caller's. Its tuple may end. */
void weft__chunk_detach(weft_world *world, weft__chunk *chunk);
/* Puts the chunk in or out of its tuple's list of chunks with room, as its count says. */
void weft__chunk_room_update(weft__chunk *chunk);
/* `count` rows came (or, negative, went): totals, nonempty, order versions. */
static inline void weft__chunk_count_rows(weft_world *world, weft__chunk *chunk, int64_t count)
{
    weft__archetype *archetype = chunk->archetype;
    uint64_t before = archetype->entity_count, after = before + (uint64_t)count;
    archetype->entity_count = after;
    chunk->order_version = archetype->order_version = world->front.version;
    world->front.structure_version++;
    if (__builtin_expect((before == 0) != (after == 0), 0) && archetype->number != WEFT__NONE)
        world->archetypes.nonempty.at[archetype->number / 64] ^= UINT64_C(1)
                                                                 << archetype->number % 64;
    if (__builtin_expect(archetype->shared_count != 0, 0)) chunk->tuple->rows += (uint64_t)count;
}
/* World begin: the table of chunks has chunk 0. */
void weft__chunks_init(weft_world *world);
/* World end: destructs every row and frees all chunks. */
void weft__chunks_fini(weft_world *world);

/* ---- their steps ---- */

/* An unlinked chunk around memory. Owner; private ones, also when they are freed: any thread. NULL:
 * out of memory. */
weft__chunk *weft__chunk_make(weft_world *world, weft__tuple *tuple, const weft__layout *layout,
                              const weft__run *run, bool is_private);
/* Frees struct and side memory only. */
void weft__chunk_free(weft_world *world, weft__chunk *chunk);

/* Room for `count` more chunks in the archetype's list. Owner. */
bool weft__chunk_list_reserve(weft_world *world, weft__archetype *archetype, uint32_t count);
/* Ids for `count` more chunks, berths for as many rows in them. Owner. Errors: LIMIT,
 * OUT_OF_MEMORY; none is set. */
weft_result weft__chunk_ids_reserve(weft_world *world, uint32_t count);
/* Gives back the id of a chunk that lives on, and gives it a free one below chunk_capacity.
 * Owner. */
void weft__chunk_id_return(weft_world *world, const weft__chunk *chunk);
void weft__chunk_id_take(weft_world *world, weft__chunk *chunk, uint32_t id);
/* Gives a chunk the id that it had in another world. Owner. Errors: INVALID_ARGUMENT (0, taken, or
 * above all possible), OUT_OF_MEMORY; none is set. */
weft_result weft__chunk_renumber(weft_world *world, weft__chunk *chunk, uint32_t id);
weft_result weft__berths_reserve(weft_world *world, uint64_t berths);
/* Berths for a chunk of this capacity that is not linked yet: its location, which its maker writes
 * into it. Owner. Errors: LIMIT, OUT_OF_MEMORY; none is set. */
weft_result weft__berths_lend(weft_world *world, uint32_t capacity, uint32_t *location);
void weft__berths_take_back(weft_world *world, uint32_t location, uint32_t capacity);
/* Gives the chunk its id, and berths unless it has a location already, and puts it into the lists;
 * all reserved. Owner. */
void weft__chunk_link(weft_world *world, weft__chunk *chunk);
/* Takes it out of its archetype's list; out of its tuple's list of chunks with room. Owner. */
void weft__chunk_unlist(weft__chunk *chunk);
void weft__chunk_room_remove(weft__chunk *chunk);

/* A tuple has one chunk more, or less: it holds the tuple until weft__tuple_release. */
static inline void weft__tuple_enter(weft__tuple *tuple, weft__chunk *chunk)
{
    tuple->chunk_count++;
    tuple->holders++;
    tuple->some = chunk;
}

static inline void weft__tuple_leave(weft__tuple *tuple, const weft__chunk *chunk)
{
    tuple->chunk_count--;
    if (tuple->some == chunk) tuple->some = NULL;
}

/* Makes the newer of two versions stand (wrap-safe); `version` 0 is older than everything. */
void weft__stamp_newer(weft_a32 *x_version, uint32_t version);

/* ---- side memory ---- */

/* Side memory of a chunk, not yet installed. Owner: the caller, until weft__side_replace gives
 * `block` to the chunk. */
typedef struct weft__side {
    void *block;
    char *chunk_values;
    weft_a64 *x_disabled;
    weft_a32 *x_versions;
    weft_a32 *x_disabled_counts;
    uint32_t bytes;
} weft__side;

/* Zeroed side memory. Threads: any. */
bool weft__side_allocate(weft__memory *memory, const weft__archetype *archetype,
                         const weft__layout *layout, weft__side *out);
/* Frees side memory that was not installed. */
void weft__side_free(weft__memory *memory, const weft__side *side);
/* weft__side_put; what it had goes. */
void weft__side_replace(weft__memory *memory, weft__chunk *chunk, const weft__archetype *archetype,
                        const weft__layout *layout, const weft__side *side);

/* Whether it is within the chunk if it fits, else a block. */
bool weft__side_check(const weft__chunk *chunk);

/* ---- spare chunks ---- */

/* The world goes back in time, and comes to the versions of spare chunks once more. */
void weft__spares_forget_versions(weft_world *world);

/* ---- growth in place ---- */

/* A growth that can be taken back: what the chunk had is kept. A list, the last one first. Owner:
 * the spans of the operation (structure.h). */
typedef struct weft__growth weft__growth;

/* Gives the only chunk of a tuple, which is full, room for `count` more rows, or as many as a unit
 * holds. With `list` the growth can be taken back until it is kept; `first`: spans that there were
 * before. NULL: it cannot grow, or there is no memory; nothing has changed, and no error is set. */
weft__chunk *weft__chunk_grow(weft_world *world, weft__tuple *tuple, uint64_t count,
                              weft__growth **list, uint32_t first);
/* The chunks stay as they are; frees the list. */
void weft__growths_keep(weft_world *world, weft__growth **list);
/* Takes back growths from the first one with `first` >= from; the rows that came have gone. */
void weft__growths_undo(weft_world *world, weft__growth **list, uint32_t from);
