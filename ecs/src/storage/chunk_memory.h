/* chunk_memory.h: the steps of making, linking and releasing a chunk, for chunk.c, private_chunk.c
 * (chunks made by jobs) and move.c (chunks that change archetype in place). */
#ifndef WEFT_CHUNK_MEMORY_H
#define WEFT_CHUNK_MEMORY_H

#include "world_state.h"

/* Side memory of a chunk, not yet installed. */
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
void weft__side_free(weft__memory *memory, const weft__archetype *archetype, void *block,
                     uint32_t bytes);
void weft__side_install(weft__chunk *chunk, const weft__side *side);

/* An unlinked chunk around memory. Threads: any. NULL: out of memory. */
weft__chunk *weft__chunk_make(weft__memory *memory, weft__tuple *tuple, const weft__layout *layout,
                              const weft__run *run);
/* Frees struct and side memory only. Threads: any. */
void weft__chunk_free(weft__memory *memory, weft__chunk *chunk);
/* Gives the rows' memory back. Owner (parts), any thread (units). */
void weft__chunk_memory_free(weft_world *world, weft__chunk *chunk);

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
/* Berths that a chunk of this capacity takes. */
uint32_t weft__berths_of(uint32_t capacity);
/* Gives the chunk its id and berths and puts it into the lists; all reserved. Owner. */
void weft__chunk_link(weft_world *world, weft__chunk *chunk);
/* Takes it out of its archetype's list; out of its tuple's list of chunks with room. Owner. */
void weft__chunk_unlist(weft__chunk *chunk);
void weft__chunk_room_remove(weft__chunk *chunk);

#endif
