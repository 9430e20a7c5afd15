/* SPDX-License-Identifier: MIT */
/* query_registry.c: the queries of a world, filed by component.
 *
 * A query is filed under one component per description: one that every archetype it can match has,
 * the rarest when the query was made. Queries without such a component (only NONE, ANY, ABSENT or
 * OPTIONAL terms) are asked about every new archetype. */
#include "query_registry.h"

#include "query_memory.h"
#include "query_state.h"

#include <string.h>

bool weft__query_list_reserve(weft_world *world, weft__query_list *list)
{
    weft__query **items =
        weft__query_grow(world, list->items, &list->capacity, list->count + 1, sizeof *items);
    if (items == NULL) return false;
    list->items = items;
    return true;
}

static void query_list_remove(weft__query_list *list, const weft__query *query)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i] != query) continue;
        list->items[i] = list->items[--list->count];
        return;
    }
}

weft__query_list *weft__queries_keyed(weft_world *world, uint32_t component)
{
    weft__queries *queries = world->queries;
    uint32_t old = queries->keyed_capacity;
    if (component < old) return &queries->keyed[component];
    weft__query_list *keyed = weft__query_grow(world, queries->keyed, &queries->keyed_capacity,
                                               component + 1, sizeof *keyed);
    if (keyed == NULL) return NULL;
    memset(keyed + old, 0, (queries->keyed_capacity - old) * sizeof *keyed);
    queries->keyed = keyed;
    return &keyed[component];
}

void weft__query_unfile(weft__query *query)
{
    weft__queries *queries = query->world->queries;
    if (query->key_count == 0) query_list_remove(&queries->unkeyed, query);
    for (uint32_t k = 0; k < query->key_count; k++)
        query_list_remove(&queries->keyed[query->keys[k]], query);
}

void weft__queries_shared_visit(const weft_world *world, weft__shared_visit_fn visit, void *user)
{
    for (uint32_t i = 1; i < world->queries->handle_end; i++) {
        if (world->queries->handles[i]->query == NULL) continue;
        const weft__filter *filter = &world->queries->handles[i]->filter;
        for (uint32_t k = 0; k < filter->shared_count; k++)
            for (uint32_t v = 0; v < filter->shared[k].count; v++)
                visit(user, filter->shared[k].component, filter->shared[k].values[v]);
    }
}
