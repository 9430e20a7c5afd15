/* SPDX-License-Identifier: MIT */
/* query_flat.c: the flat list of a query's chunks, with prefix sums of slices and rows.
 *
 * Made again when structure has changed; archetypes without rows are left out. */
#include "query_flat.h"

#include "archetype_state.h"
#include "error.h"
#include "query_match.h"
#include "query_rare.h"
#include "world_state.h"

/* The first rows of a small chunk are fetched this many entries ahead. */
#define PREFETCH_ENTRIES 12

static bool is_populated(const weft_world *world, uint32_t number)
{
    return (world->archetypes.nonempty[number >> 6] >> (number & 63) & 1) != 0;
}

static bool flat_reserve(weft__query *query, uint32_t count)
{
    weft__query_flat *flat = &query->flat;
    return weft__list_room(&query->world->memory, WEFT__MEMORY_QUERIES, &flat->entries,
                           &flat->capacity, count, sizeof *flat->entries);
}

/* Appends the chunks of a match; `next` is the sentinel, with the totals so far. */
static void flat_append(weft__query *query, uint32_t match, weft__flat_entry *next)
{
    const weft__archetype *archetype = query->matches[match].archetype;
    weft__query_flat *flat = &query->flat;
    uint32_t written = WEFT__NO_PLACE; /* type position of the first written term */
    if (query->stamp_count != 0) written = weft__match_places(query, match)[query->writes[0]].type;
    for (uint32_t c = 0; c < archetype->chunk_count; c++) {
        weft__chunk *chunk = archetype->chunks[c];
        next->chunk = chunk;
        next->base = chunk->base;
        next->layout = chunk->layout;
        next->x_written = written == WEFT__NO_PLACE ? NULL : weft__chunk_versions(chunk, written);
        next->match = match;
        next->count = chunk->count;
        flat->entries[flat->count++] = *next;
        next->first_row += chunk->count;
        next->first_slice += weft__chunk_slices(chunk);
    }
}

/* The flag, when some archetype with the tag has rows. */
static uint32_t flag_in_use(const weft_world *world, uint32_t tag, uint32_t flag)
{
    const weft__component_list *list = weft__component_list_at(world, tag);
    for (uint32_t i = 0; i < list->count; i++)
        if (is_populated(world, list->at[i].archetype)) return flag;
    return 0;
}

/* SPARSE rows are in one archetype, whatever tags their entities have. */
static void hidden_update(weft__query *query)
{
    const weft_world *world = query->world;
    uint32_t flags = 0;
    if (!query->with_prefabs)
        flags |= flag_in_use(world, world->builtin.prefab.id, WEFT__IS_PREFAB);
    if (!query->with_inactive)
        flags |= flag_in_use(world, world->builtin.inactive.id, WEFT__IS_DISABLED);
    query->hidden_flags = flags;
    query->has_masking_terms = query->has_static_masks || flags != 0;
    for (uint32_t m = 0; m < query->match_count; m++)
        query->matches[m].has_masks = query->has_masking_terms;
}

weft_result weft__query_flat_prepare(weft__query *query)
{
    const weft_world *world = query->world;
    weft__query_flat *flat = &query->flat;
    if (flat->version == world->front.structure_version) return WEFT_OK;
    if (query->is_of_sparse_rows) hidden_update(query);
    flat->version = 0;
    flat->count = 0;
    weft__flat_entry next = {0};
    for (uint32_t m = 0; m < query->match_count; m++) {
        if (m + PREFETCH_ENTRIES < query->match_count)
            __builtin_prefetch(query->matches[m + PREFETCH_ENTRIES].archetype);
        if (!is_populated(world, query->matches[m].number)) continue;
        uint32_t chunks = query->matches[m].archetype->chunk_count;
        if (!flat_reserve(query, flat->count + chunks + 1))
            return weft__error_memory(world, "the list of chunks of a query");
        flat_append(query, m, &next);
    }
    if (!flat_reserve(query, flat->count + 1))
        return weft__error_memory(world, "the list of chunks of a query");
    flat->entries[flat->count] =
        (weft__flat_entry){.first_row = next.first_row, .first_slice = next.first_slice};
    if (query->has_sparse_terms && !query->is_of_sparse_rows) weft__query_rare_make(query);
    flat->version = world->front.structure_version;
    return WEFT_OK;
}

uint32_t weft__query_flat_find(const weft__query *query, uint32_t slice)
{
    uint32_t low = 0, high = query->flat.count; /* the entry is in [low, high) */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (query->flat.entries[middle].first_slice <= slice)
            low = middle;
        else
            high = middle;
    }
    return low;
}
