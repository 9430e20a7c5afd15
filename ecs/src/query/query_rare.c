/* SPDX-License-Identifier: MIT */
/* query_rare.c: making the bit map of rows with a rare SPARSE component.
 *
 * It is made with the flat list: both are good as long as no row comes or goes anywhere. Bits are
 * numbered by location, so that those of a chunk lie side by side, as its rows do. Owner. */
#include "query_rare.h"

#include "archetype_state.h"
#include "entity_value.h"
#include "query_flat.h"
#include "query_memory.h"

#include <string.h>

enum { RARE = 16 }; /* rows per entity that has it, from which on looking these up is quicker */

static uint64_t members_of(const weft__type *type)
{
    const weft__archetype *archetype = type->sparse->archetype;
    return archetype == NULL ? 0 : archetype->entity_count;
}

/* The rarest SPARSE type that every row needs; NULL: none. */
static const weft__type *rarest(const weft__query *query)
{
    const weft__type *found = NULL;
    for (uint32_t t = 0; t < query->term_count && query->alternative_count == 1; t++) {
        const weft__query_term *term = &query->terms[t];
        bool is_needed = term->match == WEFT_ALL || term->match == WEFT_PRESENT;
        if (term->sparse == NULL || !is_needed) continue;
        if (found == NULL || members_of(term->sparse) < members_of(found)) found = term->sparse;
    }
    return found;
}

void weft__query_rare_make(weft__query *query)
{
    const weft_world *world = query->world;
    weft__query_flat *flat = &query->flat;
    const weft__type *type = rarest(query);
    uint32_t words = world->berths.end << (WEFT__BERTH_SHIFT - 6);
    flat->rare = NULL;
    if (type == NULL || members_of(type) >= weft__query_row_count(query) / RARE) return;
    if (!weft__list_room(&query->world->memory, WEFT__MEMORY_QUERIES, &flat->rare_words,
                         &flat->rare_capacity, words, sizeof *flat->rare_words))
        return;
    memset(flat->rare_words, 0, words * sizeof *flat->rare_words);
    const weft__archetype *members = type->sparse->archetype;
    for (uint32_t c = 0; members != NULL && c < members->chunk_count; c++) {
        const weft_entity *entities = weft__chunk_entities(members->chunks[c]);
        for (uint32_t i = 0; i < members->chunks[c]->count; i++) {
            uint32_t location = 0;
            weft__directory_find(&world->directory, entities[i], &location);
            flat->rare_words[location / 64] |= UINT64_C(1) << location % 64;
        }
    }
    flat->rare = type;
}

uint32_t weft__query_rare_next(const weft__query *query, const weft__chunk *chunk, uint32_t slice,
                               uint32_t end)
{
    const uint64_t *words = query->flat.rare_words + chunk->location / 64;
    uint32_t shift = chunk->layout->slice_shift - 6, last = (chunk->count + 63) / 64;
    uint32_t word = slice << shift, stop = end << shift < last ? end << shift : last;
    while (word + 4 <= stop &&
           (words[word] | words[word + 1] | words[word + 2] | words[word + 3]) == 0)
        word += 4;
    while (word < stop && words[word] == 0) word++;
    return word < stop ? word >> shift : end;
}

void weft__query_rare_free(weft__query *query)
{
    weft__list_free(&query->world->memory, WEFT__MEMORY_QUERIES, query->flat.rare_words,
                    query->flat.rare_capacity, sizeof *query->flat.rare_words);
}
