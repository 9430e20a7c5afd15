/* SPDX-License-Identifier: MIT */
/* query_create.c: making, sharing and destroying queries and their handles.
 *
 * A description is checked, brought into the internal form, and looked up by content: equal ones
 * share matches and the list of chunks. A handle is {generation, index} in one word; its slot holds
 * the filter and keeps its address, so that systems can point to it. */
#include "query_create.h"

#include "filter.h"
#include "query_cursor.h"
#include "query_handle.h"
#include "query_match.h"
#include "query_memory.h"
#include "query_rare.h"

#include <string.h>

#include "archetype_state.h"
#include "bits.h"
#include "error.h"
#include "given_list.h"

/* ---- handles ---- */

/* What is at an index whose generations are used up: no handle of it is alive again. */
static const weft__query_handle retired_handle = {.query = NULL};

static weft__query_handle *retired(void)
{
    return (weft__query_handle *)(uintptr_t)&retired_handle;
}

/* A free handle slot, made when there is none. 0: error set. */
static uint32_t handle_reserve(weft_world *world)
{
    weft__queries *queries = world->front.queries;
    if (queries->free_handle != 0) return queries->free_handle;
    uint32_t index = queries->handles.count;
    if (index > WEFT__QUERY_INDEX_MASK) {
        weft__error(world, WEFT_LIMIT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "the %u places for query handles are taken or used up: keep queries instead of "
                    "making them again and again",
                    index - 1);
        return 0;
    }
    weft__query_handle *handle = NULL;
    if (WEFT__LIST_ROOM(&world->memory, WEFT__MEMORY_QUERIES, &queries->handles, index + 1))
        handle = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_QUERIES, 1, sizeof *handle,
                                    WEFT__QUERY_ALIGNMENT);
    if (handle == NULL) {
        weft__error_memory(world, "a query handle");
        return 0;
    }
    queries->handles.at[queries->handles.count++] = handle;
    queries->free_handle = index;
    return index;
}

/* Binds a reserved slot to a query. */
static weft_query handle_take(weft_world *world, uint32_t index, weft__query *query)
{
    weft__queries *queries = world->front.queries;
    weft__query_handle *handle = queries->handles.at[index];
    queries->free_handle = handle->next_free;
    queries->handle_count++;
    handle->query = query;
    handle->each_run = NULL;
    query->references++;
    return weft__query_handle_of(world, handle->generation << WEFT__QUERY_INDEX_BITS | index);
}

/* A slot without a query is free for the next handle; after its last generation it ends. */
static void handle_release(weft_world *world, uint32_t index)
{
    weft__queries *queries = world->front.queries;
    weft__query_handle *handle = queries->handles.at[index];
    if (handle->generation == WEFT__QUERY_GENERATION_LAST) {
        weft__query_free(world, handle, 1, sizeof *handle);
        queries->handles.at[index] = retired();
        queries->retired_count++;
        return;
    }
    handle->generation++;
    handle->next_free = queries->free_handle;
    queries->free_handle = index;
}

/* ---- the shared part ---- */

/* Bytes of a query with its terms, keys and writes behind it. */
static size_t query_bytes(uint32_t term_count)
{
    return sizeof(weft__query) + term_count * (sizeof(weft__query_term) + 2 * sizeof(uint32_t)) +
           sizeof(uint32_t);
}

static weft__query *query_alloc(weft_world *world, uint32_t term_count)
{
    weft__query *query = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_QUERIES, 1,
                                            query_bytes(term_count), WEFT__QUERY_ALIGNMENT);
    if (query == NULL) return NULL;
    query->world = world;
    query->term_count = term_count;
    query->terms = (weft__query_term *)(void *)(query + 1);
    query->keys =
        (uint32_t *)(query->terms + term_count); /* at most one per description, at least one */
    query->writes = query->keys + term_count + 1;
    return query;
}

static void query_free(weft__query *query)
{
    weft_world *world = query->world;
    weft__memory *memory = &world->memory;
    weft__list_free(memory, WEFT__MEMORY_QUERIES, query->matches, query->match_capacity,
                    sizeof *query->matches);
    weft__list_free(memory, WEFT__MEMORY_QUERIES, query->places, query->place_capacity,
                    weft__query_place_bytes(query));
    weft__list_free(memory, WEFT__MEMORY_QUERIES, query->flat.entries, query->flat.capacity,
                    sizeof *query->flat.entries);
    weft__free(&world->memory, WEFT__MEMORY_QUERIES, query->flat.views, query->flat.view_capacity,
               weft__query_view_bytes(query), WEFT__FLAT_ALIGNMENT);
    weft__query_rare_free(query);
    weft__query_free(world, query, 1, query_bytes(query->term_count));
}

static bool queries_are_equal(const weft__query *a, const weft__query *b)
{
    return a->hash == b->hash && a->term_count == b->term_count &&
           a->with_prefabs == b->with_prefabs && a->with_inactive == b->with_inactive &&
           a->ignores_enabled == b->ignores_enabled && a->stamps_asked == b->stamps_asked &&
           memcmp(a->terms, b->terms, a->term_count * sizeof *a->terms) == 0;
}

/* The equal query that exists already, or NULL. */
static weft__query *bucket_find(const weft__queries *queries, const weft__query *like)
{
    if (queries->bucket_count == 0) return NULL;
    weft__query *query = queries->buckets[like->hash & (queries->bucket_count - 1)];
    while (query != NULL && !queries_are_equal(query, like)) query = query->next;
    return query;
}

static bool buckets_reserve(weft_world *world)
{
    weft__queries *queries = world->front.queries;
    if (queries->query_count < queries->bucket_count) return true;
    uint32_t count = queries->bucket_count == 0 ? 16 : queries->bucket_count * 2;
    weft__query **buckets = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_QUERIES, count,
                                               sizeof(void *), WEFT__QUERY_ALIGNMENT);
    if (buckets == NULL) return false;
    for (uint32_t i = 0; i < queries->bucket_count; i++)
        for (weft__query *query = queries->buckets[i], *next; query != NULL; query = next) {
            next = query->next;
            query->next = buckets[query->hash & (count - 1)];
            buckets[query->hash & (count - 1)] = query;
        }
    weft__query_free(world, queries->buckets, queries->bucket_count, sizeof(void *));
    queries->buckets = buckets;
    queries->bucket_count = count;
    return true;
}

/* Matches and files a new query. False: no memory. */
static bool query_enter(weft__query *query)
{
    weft__queries *queries = query->world->front.queries;
    if (!buckets_reserve(query->world) || weft__query_match_all(query) != WEFT_OK) return false;
    weft__query **bucket = &queries->buckets[query->hash & (queries->bucket_count - 1)];
    query->next = *bucket;
    *bucket = query;
    queries->query_count++;
    return true;
}

/* Drops one share; the last one frees the query. */
static void query_drop(weft__query *query)
{
    weft__queries *queries = query->world->front.queries;
    if (--query->references != 0) return;
    weft__query **link = &queries->buckets[query->hash & (queries->bucket_count - 1)];
    while (*link != query) link = &(*link)->next;
    *link = query->next;
    queries->query_count--;
    weft__query_unfile(query);
    query_free(query);
}

/* ---- descriptions ---- */

weft__given weft__query_terms_given(const weft_query_desc *desc)
{
    static_assert(sizeof(weft_term) == sizeof(weft_component) + 12, "no padding");
    return (weft__given){.name = "terms",
                         .few = desc->terms,
                         .few_limit = WEFT_INLINE_TERMS,
                         .more = desc->more_terms,
                         .more_count = desc->more_term_count,
                         .bytes = sizeof(weft_term),
                         .key_bytes = sizeof(weft_component)};
}

static weft_result bad_term(const weft_world *world, weft_component component, uint32_t index,
                            const char *text)
{
    return weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, component,
                       "weft_query_create: term %u (%s) %s", index,
                       weft__type_name(world, component.id), text);
}

/* What a term may not be, whatever the others are. */
static weft_result check_term(const weft_world *world, const weft_query_desc *desc,
                              const weft_term *term, uint32_t index)
{
    const weft__type *type = weft__type_at(world, term->component);
    if (type == NULL) return weft__error_component(world, term->component);
    uint32_t flags = type->desc.flags;
    if ((unsigned)term->match > WEFT_DISABLED)
        return bad_term(world, term->component, index,
                        "has an unknown match kind: use one of weft_match");
    if ((unsigned)term->access > WEFT_NO_ACCESS)
        return bad_term(world, term->component, index,
                        "has an unknown access: use one of weft_access");
    if ((flags & WEFT_RESOURCE) != 0)
        return bad_term(world, term->component, index,
                        "is a resource, not part of entities: declare it as a resource");
    if (term->match == WEFT_DISABLED && ((flags & WEFT_ENABLEABLE) == 0 || desc->ignores_enabled))
        return bad_term(world, term->component, index,
                        "selects disabled rows of a component whose enable bits do not count: "
                        "register it with WEFT_ENABLEABLE and leave ignores_enabled false");
    if ((flags & WEFT_SHARED) != 0 && term->access == WEFT_WRITE)
        return bad_term(world, term->component, index,
                        "would write a shared value in place: use weft_entity_set_shared");
    return WEFT_OK;
}

/* Dense number of the description a term belongs to; WEFT__NONE: too many. */
static uint32_t dense_alternative(const weft__given *terms, const weft__query *query,
                                  uint32_t index)
{
    const weft_term *term = weft__given_at(terms, index), *other;
    uint32_t next = 0;
    for (uint32_t t = 0; t < index; t++) {
        other = weft__given_at(terms, t);
        if (other->alternative == term->alternative) return query->terms[t].alternative;
        if (query->terms[t].alternative >= next) next = query->terms[t].alternative + 1u;
    }
    return next < WEFT__ALTERNATIVE_LIMIT ? next : WEFT__NONE;
}

/* A component may be named once per description, or again with the same meaning. */
static weft_result check_contradiction(const weft__query *query, uint32_t index)
{
    const weft__query_term *term = &query->terms[index];
    for (uint32_t t = 0; t < index; t++) {
        const weft__query_term *other = &query->terms[t];
        if (other->component != term->component || other->alternative != term->alternative ||
            other->match == term->match)
            continue;
        return bad_term(query->world, weft__component(query->world, term->component), index,
                        "is named before with another match kind in the same description: name it "
                        "once, or give one of the terms another alternative");
    }
    return WEFT_OK;
}

static void fill_term(weft__query *query, uint32_t index, const weft_term *given)
{
    const weft__type *type = query->world->types.at[given->component.id];
    weft__query_term *term = &query->terms[index];
    uint32_t flags = type->desc.flags;
    term->component = given->component.id;
    term->access = (uint8_t)given->access;
    term->match = (uint8_t)given->match;
    term->is_shared = (flags & WEFT_SHARED) != 0;
    term->is_buffer = (flags & WEFT_BUFFER) != 0;
    query->has_buffers = query->has_buffers || term->is_buffer;
    term->is_chunk_value = (flags & WEFT_CHUNK) != 0;
    term->is_enableable = (flags & WEFT_ENABLEABLE) != 0;
    term->has_column = type->value_bytes != 0 && given->match != WEFT_ABSENT;
    term->is_sparse = type->sparse != NULL;
    term->sparse = type->sparse != NULL ? type : NULL;
    term->is_masking = term->is_enableable && !query->ignores_enabled &&
                       (given->match == WEFT_ALL || given->match == WEFT_ANY ||
                        given->match == WEFT_NONE || given->match == WEFT_DISABLED);
    query->has_masking_terms = query->has_masking_terms || term->is_masking;
    if (given->access == WEFT_WRITE && given->match != WEFT_ABSENT) {
        query->writes[query->write_count++] = index;
        if (!query->stamps_asked) query->stamp_count++;
    }
    if (given->match == WEFT_ANY) query->any_alternatives |= UINT64_C(1) << term->alternative;
    if (term->component == query->world->builtin.prefab.id) query->with_prefabs = true;
    if (term->component == query->world->builtin.inactive.id) query->with_inactive = true;
}

static weft_result fill_terms(weft__query *query, const weft_query_desc *desc,
                              const weft__given *terms)
{
    for (uint32_t t = 0; t < query->term_count; t++) {
        const weft_term *given = weft__given_at(terms, t);
        weft_result result = check_term(query->world, desc, given, t);
        if (result != WEFT_OK) return result;
        uint32_t alternative = dense_alternative(terms, query, t);
        if (alternative == WEFT__NONE)
            return weft__error(query->world, WEFT_LIMIT, WEFT__NO_ENTITY, given->component,
                               "weft_query_create: more than %d alternatives: make several queries",
                               WEFT__ALTERNATIVE_LIMIT);
        query->terms[t].alternative = (uint8_t)alternative;
        if (alternative >= query->alternative_count) query->alternative_count = alternative + 1;
        fill_term(query, t, given);
        result = check_contradiction(query, t);
        if (result != WEFT_OK) return result;
    }
    if (query->alternative_count == 0) query->alternative_count = 1;
    return WEFT_OK;
}

/* Whose rows the query has, and which terms are asked for row by row. */
static void choose_rows(weft__query *query)
{
    uint32_t sparse_count = 0, named = WEFT__NONE;
    for (uint32_t t = query->term_count; t-- > 0;) {
        const weft__query_term *term = &query->terms[t];
        sparse_count += term->is_sparse ? 1 : 0;
        if (term->is_sparse && (term->match == WEFT_ALL || term->match == WEFT_PRESENT)) named = t;
    }
    if (sparse_count == query->term_count && named != WEFT__NONE && query->alternative_count == 1) {
        query->is_of_sparse_rows = true;
        query->terms[named].sparse = NULL;
        sparse_count--;
    }
    for (uint32_t t = 0; t < query->term_count; t++) {
        weft__query_term *term = &query->terms[t];
        if (term->sparse != NULL && term->match != WEFT_OPTIONAL) term->is_masking = true;
        if (term->sparse != NULL) term->has_column = false;
        query->has_masking_terms = query->has_masking_terms || term->is_masking;
    }
    query->has_sparse_terms = sparse_count != 0;
    query->has_static_masks = query->has_masking_terms;
}

static void hash_query(weft__query *query)
{
    uint64_t options = (uint64_t)query->with_prefabs | (uint64_t)query->with_inactive << 1 |
                       (uint64_t)query->ignores_enabled << 2 | (uint64_t)query->stamps_asked << 3;
    query->hash = hash_bytes(options, query->terms, query->term_count * sizeof *query->terms);
}

/* The internal form of a description, not yet matched. NULL: error set. */
static weft__query *query_from(weft_world *world, const weft_query_desc *desc)
{
    weft__given terms = weft__query_terms_given(desc);
    if (weft__given_check(world, "weft_query_create", &terms) != WEFT_OK) return NULL;
    if (desc->more_term_count > WEFT__NO_PLACE) {
        weft__error(world, WEFT_LIMIT, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "weft_query_create: %u terms", desc->more_term_count);
        return NULL;
    }
    weft__query *query = query_alloc(world, terms.count);
    if (query == NULL) {
        weft__error_memory(world, "a query");
        return NULL;
    }
    query->with_prefabs = desc->with_prefabs;
    query->with_inactive = desc->with_inactive;
    query->ignores_enabled = desc->ignores_enabled;
    query->stamps_asked = desc->stamps_asked;
    if (fill_terms(query, desc, &terms) != WEFT_OK) {
        query_free(query);
        return NULL;
    }
    choose_rows(query);
    hash_query(query);
    return query;
}

/* ---- public ---- */

weft_query weft_query_create(weft_world *world, const weft_query_desc *desc)
{
    const weft_query null = {0};
    if (world == NULL) return null;
    if (desc == NULL) {
        weft__error_argument(world, "weft_query_create",
                             "desc is NULL: an empty description matches everything");
        return null;
    }
    const char *advice = "make queries before the step";
    if (weft__refuse_systems(world, "weft_query_create", advice) != WEFT_OK) return null;
    weft__query *query = query_from(world, desc);
    if (query == NULL) return null;
    uint32_t index = handle_reserve(world);
    weft__query *known = bucket_find(world->front.queries, query);
    if (index == 0 || known != NULL) {
        query_free(query);
        return index == 0 ? null : handle_take(world, index, known);
    }
    if (!query_enter(query)) {
        query_free(query);
        weft__error_memory(world, "the matches of a query");
        return null;
    }
    return handle_take(world, index, query);
}

weft_result weft_query_destroy(weft_world *world, weft_query query)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_query_destroy");
    if (result != WEFT_OK) return result;
    weft__query_handle *handle = weft__query_find_checked(world, query);
    if (handle == NULL) return WEFT_BAD_HANDLE;
    if (handle->users != 0)
        return weft__error(world, WEFT_BUSY, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_query_destroy: %u system(s) use this query: destroy them first",
                           handle->users);
    weft__filter_reset(world, &handle->filter);
    query_drop(handle->query);
    handle->query = NULL;
    world->front.queries->handle_count--;
    handle_release(world, query.id & WEFT__QUERY_INDEX_MASK);
    return WEFT_OK;
}

uint32_t weft_query_archetypes(const weft_world *world, weft_query query, weft_archetype *out,
                               uint32_t capacity)
{
    if (world == NULL) return 0;
    const weft__query_handle *handle = weft__query_find_checked(world, query);
    if (handle == NULL) return 0;
    const weft__query *shared = handle->query;
    for (uint32_t m = 0; m < shared->match_count && m < capacity && out != NULL; m++)
        out[m] = weft__archetype_give(world, shared->matches[m].archetype);
    return shared->match_count;
}

/* ---- all queries of a world ---- */

/* Frees a handle with its share of the query. */
static void handle_free(weft_world *world, weft__query_handle *handle)
{
    if (handle == retired()) return;
    if (handle->query != NULL) {
        weft__filter_reset(world, &handle->filter);
        query_drop(handle->query);
    }
    weft__query_free(world, handle, 1, sizeof *handle);
}

weft_result weft__queries_create(weft_world *world)
{
    world->front.queries = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_QUERIES, 1,
                                              sizeof *world->front.queries, WEFT__QUERY_ALIGNMENT);
    if (world->front.queries == NULL) return WEFT_OUT_OF_MEMORY;
    world->front.queries->handles.count = 1; /* handle 0 is null */
    world->front.queries->loops.memory = &world->memory;
    world->matching = weft__query_matching;
    return WEFT_OK;
}

void weft__queries_destroy(weft_world *world)
{
    weft__queries *queries = world->front.queries;
    if (queries == NULL) return;
    weft__loops_free(&queries->loops);
    for (uint32_t i = 1; i < queries->handles.count; i++)
        handle_free(world, queries->handles.at[i]);
    for (uint32_t id = 0; id < queries->keyed.count; id++)
        WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &queries->keyed.at[id]);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &queries->keyed);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &queries->unkeyed);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &queries->handles);
    weft__query_free(world, queries->buckets, queries->bucket_count, sizeof *queries->buckets);
    weft__query_free(world, queries, 1, sizeof *queries);
    world->front.queries = NULL;
}
