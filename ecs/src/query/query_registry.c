/* query_registry.c: the queries of a world, and the way a new archetype finds those it matches.
 *
 * A query is filed under one component per description: one that every archetype it can match has,
 * the rarest when the query was made. Queries without such a component (only NONE, ANY, ABSENT or
 * OPTIONAL terms) are asked about every new archetype. */
#include "query_match.h"

#include <string.h>

void *weft__query_grow(weft_world *world, void *old, uint32_t *capacity, uint32_t needed,
                       size_t size)
{
    if (needed <= *capacity && old != NULL) return old;
    uint32_t count = *capacity < 4 ? 4 : *capacity * 2;
    if (count < needed) count = needed;
    void *items = weft__realloc(&world->memory, WEFT__MEMORY_QUERIES, old, *capacity, count, size,
                                WEFT__QUERY_ALIGNMENT);
    if (items != NULL) *capacity = count;
    return items;
}

void weft__query_free(weft_world *world, void *items, uint32_t capacity, size_t size)
{
    weft__free(&world->memory, WEFT__MEMORY_QUERIES, items, capacity, size, WEFT__QUERY_ALIGNMENT);
}

/* ---- lists ---- */

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

/* ---- new archetypes ---- */

static bool list_reserve_matches(const weft__query_list *list, uint32_t type_count)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (!weft__query_match_reserve(list->items[i], type_count)) return false;
    return true;
}

/* The queries filed under a component. */
static const weft__query_list *keyed_at(const weft__queries *queries, uint32_t component)
{
    static const weft__query_list none = {0};
    return component < queries->keyed_capacity ? &queries->keyed[component] : &none;
}

/* Room for one more match in every query that may match the archetype. */
static bool archetype_reserve(weft_world *world, const weft__archetype *archetype)
{
    const weft__queries *queries = world->queries;
    uint32_t count = archetype->type_count;
    bool is_done = list_reserve_matches(&queries->unkeyed, count);
    for (uint32_t i = 0; i < count && is_done; i++)
        is_done = list_reserve_matches(keyed_at(queries, archetype->types[i].component), count);
    return is_done;
}

/* Adds the archetype to a query if it matches; a query filed twice takes it once. */
static void query_offer(weft__query *query, weft__archetype *archetype)
{
    uint32_t number = archetype->number;
    if (query->match_count != 0 && query->matches[query->match_count - 1].number == number) return;
    if (weft__query_excludes(query, archetype)) return;
    weft__place *places = query->places + (size_t)query->match_count * query->term_count;
    for (uint32_t t = 0; t < query->term_count; t++)
        places[t] = weft__place_find(archetype, query->terms[t].component);
    weft__query_match_append(query, archetype, number, places);
}

static void list_offer(const weft__query_list *list, weft__archetype *archetype)
{
    for (uint32_t i = 0; i < list->count; i++) query_offer(list->items[i], archetype);
}

static void archetype_enter(weft_world *world, weft__archetype *archetype)
{
    const weft__queries *queries = world->queries;
    for (uint32_t type = 0; type < archetype->type_count; type++)
        list_offer(keyed_at(queries, archetype->types[type].component), archetype);
    list_offer(&queries->unkeyed, archetype);
}

static void query_cut(weft__query *query, uint32_t count)
{
    while (query->match_count != 0 && query->matches[query->match_count - 1].number >= count)
        query->override_count = query->matches[--query->match_count].override_first;
}

static void archetypes_cut(weft_world *world, uint32_t count)
{
    weft__queries *queries = world->queries;
    for (uint32_t i = 0; i < queries->bucket_count; i++)
        for (weft__query *query = queries->buckets[i]; query != NULL; query = query->next)
            query_cut(query, count);
}

/* ---- life ---- */

weft_result weft__queries_create(weft_world *world)
{
    world->queries = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_QUERIES, 1,
                                        sizeof *world->queries, WEFT__QUERY_ALIGNMENT);
    if (world->queries == NULL) return WEFT_OUT_OF_MEMORY;
    world->queries->handle_end = 1; /* handle 0 is null */
    world->matching = (weft__matching){
        .reserve = archetype_reserve, .enter = archetype_enter, .cut = archetypes_cut};
    return WEFT_OK;
}

void weft__queries_destroy(weft_world *world)
{
    weft__queries *queries = world->queries;
    if (queries == NULL) return;
    for (uint32_t i = 1; i < queries->handle_end; i++)
        weft__query_handle_free(world, queries->handles[i]);
    for (uint32_t id = 0; id < queries->keyed_capacity; id++)
        weft__query_free(world, queries->keyed[id].items, queries->keyed[id].capacity,
                         sizeof *queries->keyed[id].items);
    weft__query_free(world, queries->keyed, queries->keyed_capacity, sizeof *queries->keyed);
    weft__query_free(world, queries->unkeyed.items, queries->unkeyed.capacity,
                     sizeof *queries->unkeyed.items);
    weft__query_free(world, queries->handles, queries->handle_capacity, sizeof *queries->handles);
    weft__query_free(world, queries->buckets, queries->bucket_count, sizeof *queries->buckets);
    weft__query_free(world, queries, 1, sizeof *queries);
    world->queries = NULL;
}

uint32_t weft__queries_count(const weft_world *world)
{
    return world->queries->query_count;
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
