/* SPDX-License-Identifier: MIT */
/* query_registry.c: the queries of a world, filed by component.
 *
 * A query is filed under one component per description: one that every archetype it can match has,
 * the rarest when the query was made. Queries without such a component (only NONE, ANY, ABSENT or
 * OPTIONAL terms) are asked about every new archetype. */
#include "query_registry.h"

#include "archetype_state.h"
#include "query_memory.h"
#include "query_state.h"

#include <stdio.h>
#include <string.h>

static void query_list_remove(weft__query_list *list, const weft__query *query)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->at[i] != query) continue;
        list->at[i] = list->at[--list->count];
        return;
    }
}

weft__query_list *weft__queries_keyed(weft_world *world, uint32_t component)
{
    weft__queries *queries = world->front.queries;
    if (!WEFT__LIST_REACH(&world->memory, WEFT__MEMORY_QUERIES, &queries->keyed, component + 1))
        return NULL;
    return &queries->keyed.at[component];
}

void weft__query_unfile(weft__query *query)
{
    weft__queries *queries = query->world->front.queries;
    if (query->key_count == 0) query_list_remove(&queries->unkeyed, query);
    for (uint32_t k = 0; k < query->key_count; k++)
        query_list_remove(&queries->keyed.at[query->keys[k]], query);
}

void weft__queries_shared_visit(const weft_world *world, weft__shared_visit_fn visit, void *user)
{
    for (uint32_t i = 1; i < world->front.queries->handles.count; i++) {
        if (world->front.queries->handles.at[i]->query == NULL) continue;
        const weft__filter *filter = &world->front.queries->handles.at[i]->filter;
        for (uint32_t k = 0; k < filter->shared.count; k++)
            for (uint32_t v = 0; v < filter->shared.at[k].count; v++)
                visit(user, filter->shared.at[k].component, filter->shared.at[k].values[v]);
    }
}

/* ---- the books, for weft_world_validate ---- */

static const char *matches_check(const weft__query *query)
{
    if (query->match_count > query->match_capacity || query->match_count > query->place_capacity)
        return "more matches than there is room for";
    if (query->key_count > query->alternative_count) return "more keys than descriptions";
    if (query->stamp_count != 0 && query->stamp_count != query->write_count)
        return "stamp_count is not write_count or 0";
    for (uint32_t m = 0; m < query->match_count; m++) {
        const weft__match *match = &query->matches[m];
        if (match->number != match->archetype->number) return "a match has an old number";
        if (m != 0 && match[-1].number >= match->number) return "its matches do not ascend";
        if (match->alternatives == 0) return "a match satisfies no description";
        if (match->sole_mask != WEFT__NONE && !match->has_masks) return "wrong about its only mask";
    }
    return NULL;
}

/* The list of chunks, while it is valid: the sentinel holds the totals. */
static const char *flat_check(const weft__query *query)
{
    const weft__query_flat *flat = &query->flat;
    if (flat->version == 0 || flat->version != query->world->front.structure_version) return NULL;
    if (flat->count >= flat->capacity) return "its list of chunks has no sentinel";
    if (flat->entries[flat->count].chunk != NULL) return "its list of chunks does not end";
    for (uint32_t i = 0; i < flat->count; i++) {
        const weft__flat_entry *entry = &flat->entries[i];
        if (entry->count != entry->chunk->count ||
            entry[1].first_row - entry->first_row != entry->count)
            return "wrong about the rows of a chunk";
        if (entry[1].first_slice - entry->first_slice != weft__chunk_slices(entry->chunk))
            return "wrong about the slices of a chunk";
    }
    return NULL;
}

static const char *handles_check(const weft__queries *queries, uint64_t references)
{
    uint32_t taken = 0, empty = 0,
             used = queries->handles.count == 0 ? 0 : queries->handles.count - 1;
    for (uint32_t i = 1; i < queries->handles.count; i++) {
        const weft__query_handle *handle = queries->handles.at[i];
        taken += handle->query != NULL ? 1 : 0;
        if (handle->query == NULL && handle->users != 0) return "a free handle has users";
    }
    for (uint32_t i = queries->free_handle; i != 0 && empty <= used;
         i = queries->handles.at[i]->next_free)
        empty++;
    if (taken != queries->handle_count) return "handle_count is not the handles with a query";
    if (taken + empty + queries->retired_count != used)
        return "a handle is neither taken, free nor used up";
    return references == taken ? NULL : "references are not the handles";
}

bool weft__queries_check(const weft_world *world, char *text, size_t text_bytes)
{
    const weft__queries *queries = world->front.queries;
    const char *broken = NULL;
    uint64_t references = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < queries->bucket_count; i++) {
        for (const weft__query *query = queries->buckets[i]; query != NULL; query = query->next) {
            if (broken == NULL) broken = matches_check(query);
            if (broken == NULL) broken = flat_check(query);
            references += query->references;
            count++;
        }
    }
    if (broken == NULL && count != queries->query_count)
        broken = "query_count is not the queries in the buckets";
    if (broken == NULL) broken = handles_check(queries, references);
    if (broken != NULL) snprintf(text, text_bytes, "queries: %s", broken);
    return broken == NULL;
}
