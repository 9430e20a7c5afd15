/* SPDX-License-Identifier: MIT */
/* query_state.c: making, sharing and destroying queries and their handles; which archetypes match,
 * and the list of their chunks.
 *
 * A description is checked, brought into the internal form, and looked up by content: equal ones
 * share matches and the list of chunks. A handle is {generation, index} in one word; its slot holds
 * the filter and keeps its address, so that systems can point to it. */
#include "query_state.h"
#include "entity_value.h"
#include "query_cursor.h"
#include "search.h"

#include <stdio.h>

static void array_free(weft_world *world, void *items, uint32_t capacity, size_t size)
{
    weft__free(&world->memory, WEFT__MEMORY_QUERIES, items, capacity, size, WEFT__QUERY_ALIGNMENT);
}

/* Bytes of the places of one match. */
static size_t place_bytes(const weft__query *query)
{
    return (query->term_count == 0 ? 1 : query->term_count) * sizeof(weft__place);
}

/* ---- filed by component ---- */

/* A query is filed under one component per description: one that every archetype it can match has,
 * the rarest when the query was made. Queries without such a component (only NONE, ANY, ABSENT or
 * OPTIONAL terms) are asked about every new archetype. */

static void query_list_remove(weft__query_list *list, const weft__query *query)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->at[i] != query) continue;
        list->at[i] = list->at[--list->count];
        return;
    }
}

/* The queries filed under a component; the list is made when it is new. NULL: no memory. */
static weft__query_list *queries_keyed(weft_world *world, uint32_t component)
{
    weft__queries *queries = world->front.queries;
    if (!WEFT__LIST_REACH(&world->memory, WEFT__MEMORY_QUERIES, &queries->keyed, component + 1))
        return NULL;
    return &queries->keyed.at[component];
}

/* Takes a query out of the lists it is filed under. */
static void query_unfile(weft__query *query)
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

/* ---- which archetypes match ---- */

/* A new query merges the ascending archetype lists of its terms: the candidates come from the
 * rarest list that every match must be in, the other lists are searched by galloping from where the
 * last search ended. Archetypes themselves are read only when they match. */

/* A list being searched in ascending order; the list is borrowed. A value. Always: at <= count;
 * entries[0 .. at) are below what is looked for. */
typedef struct list_walk {
    const weft__index_entry *entries;
    uint32_t at;
    uint32_t count;
} list_walk;

static list_walk walk_of(const weft_world *world, uint32_t component)
{
    const weft__component_list *list = weft__component_list_at(world, component);
    return (list_walk){.entries = list->at, .count = list->count};
}

/* The first entry in (low, count] at or after a number, by doubling steps, then halving. */
static uint32_t gallop(const list_walk *walk, uint32_t low, uint32_t number)
{
    uint32_t step = 1;
    while (low + step < walk->count && walk->entries[low + step].archetype < number) {
        low += step;
        step *= 2;
    }
    uint32_t high = low + step < walk->count ? low + step : walk->count; /* in (low, high] */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (walk->entries[middle].archetype < number)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Moves to the first entry at or after an archetype number; true when it is that archetype. */
static inline bool walk_to(list_walk *walk, uint32_t number)
{
    uint32_t at = walk->at;
    while (at < walk->count && at < walk->at + 4 && walk->entries[at].archetype < number) at++;
    if (at < walk->count && walk->entries[at].archetype < number) at = gallop(walk, at, number);
    walk->at = at;
    return at < walk->count && walk->entries[at].archetype == number;
}

/* ---- one archetype ---- */

/* Capacity for `count` matches. */
static bool reserve_matches(weft__query *query, uint32_t count)
{
    weft__memory *memory = &query->world->memory;
    return weft__list_room(memory, WEFT__MEMORY_QUERIES, &query->matches, &query->match_capacity,
                           count, sizeof *query->matches) &&
           weft__list_room(memory, WEFT__MEMORY_QUERIES, &query->places, &query->place_capacity,
                           count, place_bytes(query));
}

/* True for rows of SPARSE types in a query of entities, and the other way round. */
static bool has_other_rows(const weft__query *query, const weft__archetype *archetype)
{
    return ((archetype->flags & WEFT__IS_SPARSE) != 0) != query->is_of_sparse_rows;
}

/* True for prefabs and disabled entities, unless the query wants them. */
static bool excludes(const weft__query *query, const weft__archetype *archetype)
{
    return has_other_rows(query, archetype) ||
           ((archetype->flags & WEFT__IS_PREFAB) != 0 && !query->with_prefabs) ||
           ((archetype->flags & WEFT__IS_DISABLED) != 0 && !query->with_inactive);
}

/* The descriptions that match an archetype with the terms at these places. */
static uint64_t evaluate(const weft__query *query, const weft__place *places)
{
    uint64_t failed = 0, any_found = 0;
    for (uint32_t t = 0; t < query->term_count; t++) {
        const weft__query_term *term = &query->terms[t];
        uint64_t bit = UINT64_C(1) << term->alternative;
        bool is_there = places[t].type != WEFT__NO_PLACE;
        if (term->sparse != NULL) { /* judged row by row */
            if (term->match == WEFT_ANY) any_found |= bit;
            continue;
        }
        switch ((weft_match)term->match) {
        case WEFT_ALL:
        case WEFT_PRESENT:
        case WEFT_DISABLED:
            if (!is_there) failed |= bit;
            break;
        case WEFT_ABSENT:
            if (is_there) failed |= bit;
            break;
        case WEFT_NONE: /* an enableable one is judged row by row */
            if (is_there && !term->is_masking) failed |= bit;
            break;
        case WEFT_ANY:
            if (is_there) any_found |= bit;
            break;
        case WEFT_OPTIONAL:
            break;
        }
    }
    failed |= query->any_alternatives & ~any_found;
    return bits_mask(query->alternative_count) & ~failed;
}

/* How many masking terms of these descriptions the archetype has; *last is one of them. */
static uint32_t count_masks(const weft__query *query, const weft__place *places,
                            uint64_t alternatives, uint32_t *last)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < query->term_count && query->has_masking_terms; t++) {
        const weft__query_term *term = &query->terms[t];
        bool is_asked = term->sparse != NULL || places[t].type != WEFT__NO_PLACE;
        if (!term->is_masking || !is_asked || (alternatives >> term->alternative & 1) == 0)
            continue;
        *last = t;
        count++;
    }
    return count;
}

/* Appends the archetype if it matches. `places` is the tail of query->places, after reserve. */
static void match_append(weft__query *query, weft__archetype *archetype, uint32_t number,
                         const weft__place *places)
{
    uint64_t alternatives = evaluate(query, places);
    uint32_t last = WEFT__NONE;
    if (alternatives == 0) return;
    uint32_t masks = count_masks(query, places, alternatives, &last);
    bool is_sole =
        masks == 1 && bits_is_power_of_two(alternatives) && query->terms[last].match != WEFT_ANY;
    query->matches[query->match_count++] = (weft__match){.archetype = archetype,
                                                         .alternatives = alternatives,
                                                         .number = number,
                                                         .sole_mask = is_sole ? last : WEFT__NONE,
                                                         .has_masks = masks != 0};
    query->world->front.queries->match_version++;
}

uint32_t weft__query_match_find(const weft__query *query, uint32_t number)
{
    const uint32_t low = WEFT__SEARCH(query->matches, query->match_count, number, number);
    return low < query->match_count && query->matches[low].number == number ? low : WEFT__NONE;
}

uint32_t weft__query_term_find(const weft__query *query, uint32_t component)
{
    for (uint32_t t = 0; t < query->term_count; t++)
        if (query->terms[t].component == component && query->terms[t].match != WEFT_ABSENT)
            return t;
    return WEFT__NONE;
}

/* ---- all archetypes ---- */

/* A matching in progress; lives on the stack of query_match_all. */
typedef struct matching {
    weft__query *query;
    list_walk *terms;   /* [term_count], then [key_count] of the candidates */
    uint32_t *required; /* terms that every match has, by the length of their lists; only for a sole
                           description */
    uint32_t required_count;
    uint32_t number; /* next archetype number to try */
    list_walk prefab;
    list_walk disabled;
} matching;

static bool is_required(const weft__query_term *term)
{
    return term->sparse == NULL &&
           (term->match == WEFT_ALL || term->match == WEFT_PRESENT || term->match == WEFT_DISABLED);
}

/* Lists the required terms of a sole description, shortest list first. */
static void order_required(matching *m)
{
    for (uint32_t t = 0; t < m->query->term_count && m->query->alternative_count == 1; t++) {
        if (!is_required(&m->query->terms[t])) continue;
        uint32_t at = m->required_count++;
        for (; at > 0 && m->terms[m->required[at - 1]].count > m->terms[t].count; at--)
            m->required[at] = m->required[at - 1];
        m->required[at] = t;
    }
}

/* The lowest number that all required terms' lists have: each list that lacks the candidate names
 * the next one. */
static uint32_t next_common(matching *m)
{
    uint32_t number = m->number;
    for (uint32_t agreed = 0, i = 0; agreed < m->required_count;) {
        list_walk *walk = &m->terms[m->required[i]];
        i = i + 1 < m->required_count ? i + 1 : 0;
        agreed++;
        if (walk_to(walk, number)) continue;
        if (walk->at == walk->count) return WEFT__NONE;
        number = walk->entries[walk->at].archetype;
        agreed = 1;
    }
    return number;
}

/* The lowest candidate at or after `number`, or WEFT__NONE. */
static uint32_t next_candidate(matching *m)
{
    const weft__query *query = m->query;
    if (m->required_count != 0) return next_common(m);
    if (query->key_count == 0)
        return m->number < query->world->archetypes.count ? m->number : WEFT__NONE;
    uint32_t lowest = WEFT__NONE;
    for (uint32_t k = 0; k < query->key_count; k++) {
        list_walk *walk = &m->terms[query->term_count + k];
        walk_to(walk, m->number);
        if (walk->at < walk->count && walk->entries[walk->at].archetype < lowest)
            lowest = walk->entries[walk->at].archetype;
    }
    return lowest;
}

static bool is_excluded(matching *m, uint32_t number)
{
    return (!m->query->with_prefabs && walk_to(&m->prefab, number)) ||
           (!m->query->with_inactive && walk_to(&m->disabled, number));
}

static bool match_candidates(matching *m)
{
    weft__query *query = m->query;
    for (uint32_t number; (number = next_candidate(m)) != WEFT__NONE; m->number = number + 1) {
        if (is_excluded(m, number)) continue;
        weft__archetype *archetype = query->world->archetypes.at[number];
        if (query->world->types.sparse != NULL && has_other_rows(query, archetype)) continue;
        if (!reserve_matches(query, query->match_count + 1)) return false;
        weft__place *places = query->places + (size_t)query->match_count * query->term_count;
        for (uint32_t t = 0; t < m->query->term_count; t++) {
            list_walk *walk = &m->terms[t];
            places[t] = walk_to(walk, number) ? walk->entries[walk->at].place : weft__place_none();
        }
        match_append(query, archetype, number, places);
    }
    return true;
}

/* The component to file a description under: the rarest that it requires. 0: none. */
static uint32_t choose_key(const weft__query *query, uint32_t alternative)
{
    uint32_t key = 0, fewest = UINT32_MAX;
    for (uint32_t t = 0; t < query->term_count; t++) {
        const weft__query_term *term = &query->terms[t];
        if (term->alternative != alternative || !is_required(term)) continue;
        uint32_t count = weft__component_list_at(query->world, term->component)->count;
        if (key != 0 && count >= fewest) continue;
        key = term->component;
        fewest = count;
    }
    return key;
}

static void choose_keys(weft__query *query)
{
    query->key_count = 0;
    for (uint32_t a = 0; a < query->alternative_count; a++) {
        uint32_t key = choose_key(query, a);
        bool is_new = true;
        for (uint32_t k = 0; k < query->key_count; k++) is_new = is_new && query->keys[k] != key;
        if (key == 0) {
            query->key_count = 0;
            return;
        }
        if (is_new) query->keys[query->key_count++] = key;
    }
}

static bool list_reserve(weft_world *world, weft__query_list *list)
{
    return WEFT__LIST_ROOM(&world->memory, WEFT__MEMORY_QUERIES, list, list->count + 1);
}

/* Room in every list the query will be filed under. */
static bool reserve_filing(weft__query *query)
{
    weft_world *world = query->world;
    if (query->key_count == 0) return list_reserve(world, &world->front.queries->unkeyed);
    for (uint32_t k = 0; k < query->key_count; k++) {
        weft__query_list *list = queries_keyed(world, query->keys[k]);
        if (list == NULL || !list_reserve(world, list)) return false;
    }
    return true;
}

/* Walks over all lists concerned, then the archetypes. `walks`: [term_count + key_count]. */
static bool run_matching(weft__query *query, list_walk *walks, uint32_t *required)
{
    const weft_world *world = query->world;
    matching m = {.query = query,
                  .terms = walks,
                  .required = required,
                  .prefab = walk_of(world, world->builtin.prefab.id),
                  .disabled = walk_of(world, world->builtin.inactive.id)};
    for (uint32_t t = 0; t < query->term_count; t++)
        m.terms[t] = walk_of(world, query->terms[t].component);
    for (uint32_t k = 0; k < query->key_count; k++)
        m.terms[query->term_count + k] = walk_of(world, query->keys[k]);
    order_required(&m);
    /* one allocation instead of a doubling that touches twice the pages: 11 ns per match, 29 by
     * doubling */
    if (m.required_count != 0 && !reserve_matches(query, walks[m.required[0]].count)) return false;
    if (!match_candidates(&m)) return false;
    /* Gives back what more than half of the capacity is; harmless when there is no memory for
     * it. */
    weft__memory *memory = &query->world->memory;
    uint32_t count = query->match_count;
    weft__list_trim(memory, WEFT__MEMORY_QUERIES, &query->matches, &query->match_capacity, count,
                    sizeof *query->matches);
    weft__list_trim(memory, WEFT__MEMORY_QUERIES, &query->places, &query->place_capacity, count,
                    place_bytes(query));
    return true;
}

/* Matches a new query against the archetypes that exist and files it. Errors: OUT_OF_MEMORY. */
static weft_result query_match_all(weft__query *query)
{
    enum { FEW = 16 };
    weft_world *world = query->world;
    choose_keys(query);
    if (!reserve_filing(query)) return WEFT_OUT_OF_MEMORY;
    uint32_t walks = query->term_count + query->key_count, few_required[FEW];
    list_walk few[FEW], *many = few;
    size_t bytes = sizeof *many + sizeof(uint32_t); /* per walk: it, and an entry of `required` */
    if (walks > FEW)
        many =
            weft__alloc(&world->memory, WEFT__MEMORY_QUERIES, walks, bytes, WEFT__QUERY_ALIGNMENT);
    if (many == NULL) return WEFT_OUT_OF_MEMORY;
    bool is_done =
        run_matching(query, many, many == few ? few_required : (uint32_t *)(many + walks));
    if (many != few) array_free(world, many, walks, bytes);
    if (!is_done) return WEFT_OUT_OF_MEMORY;
    weft__queries *queries = query->world->front.queries;
    if (query->key_count == 0) queries->unkeyed.at[queries->unkeyed.count++] = query;
    for (uint32_t k = 0; k < query->key_count; k++) {
        weft__query_list *list = &queries->keyed.at[query->keys[k]];
        list->at[list->count++] = query;
    }
    return WEFT_OK;
}

/* ---- new archetypes ---- */

static bool list_reserve_matches(const weft__query_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (!reserve_matches(list->at[i], list->at[i]->match_count + 1)) return false;
    return true;
}

/* The queries filed under a component. */
static const weft__query_list *keyed_at(const weft__queries *queries, uint32_t component)
{
    static const weft__query_list none = {0};
    return component < queries->keyed.count ? &queries->keyed.at[component] : &none;
}

/* Room for one more match in every query that may match the archetype. */
static bool archetype_reserve(weft_world *world, const weft__archetype *archetype)
{
    const weft__queries *queries = world->front.queries;
    uint32_t count = archetype->type_count;
    bool is_done = list_reserve_matches(&queries->unkeyed);
    for (uint32_t i = 0; i < count && is_done; i++)
        is_done = list_reserve_matches(keyed_at(queries, archetype->types[i].component));
    return is_done;
}

/* Adds the archetype to a query if it matches; a query filed twice takes it once. */
static void query_offer(weft__query *query, weft__archetype *archetype)
{
    uint32_t number = archetype->number;
    if (query->match_count != 0 && query->matches[query->match_count - 1].number == number) return;
    if (excludes(query, archetype)) return;
    weft__place *places = query->places + (size_t)query->match_count * query->term_count;
    for (uint32_t t = 0; t < query->term_count; t++)
        places[t] = weft__place_find(archetype, query->terms[t].component);
    match_append(query, archetype, number, places);
}

static void list_offer(const weft__query_list *list, weft__archetype *archetype)
{
    for (uint32_t i = 0; i < list->count; i++) query_offer(list->at[i], archetype);
}

static void archetype_enter(weft_world *world, weft__archetype *archetype)
{
    const weft__queries *queries = world->front.queries;
    for (uint32_t type = 0; type < archetype->type_count; type++)
        list_offer(keyed_at(queries, archetype->types[type].component), archetype);
    list_offer(&queries->unkeyed, archetype);
}

static void query_cut(weft__query *query, uint32_t count)
{
    while (query->match_count != 0 && query->matches[query->match_count - 1].number >= count)
        query->match_count--;
}

static void archetypes_cut(weft_world *world, uint32_t count)
{
    weft__queries *queries = world->front.queries;
    for (uint32_t i = 0; i < queries->all.count; i++) query_cut(queries->all.at[i], count);
}

/* How queries follow the archetypes: world->matching. */
static const weft__matching query_matching = {
    .reserve = archetype_reserve, .enter = archetype_enter, .cut = archetypes_cut};

/* ---- rare SPARSE components ---- */

/* A query of rows that names a SPARSE component asks every row for it. Where few entities have it,
 * these are looked up instead, from the component's side, and rows are told by a bit map: a bit per
 * location, so that those of a chunk lie side by side, as its rows do. It is made with the list of
 * chunks: both are good as long as no row comes or goes anywhere. */

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

static void query_rare_make(weft__query *query)
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

/* Makes flat.rare for a query with SPARSE terms. Owner. Cost: O(terms), or O(locations / 64 +
 * entities that have the component). */
static void query_rare_free(weft__query *query)
{
    weft__list_free(&query->world->memory, WEFT__MEMORY_QUERIES, query->flat.rare_words,
                    query->flat.rare_capacity, sizeof *query->flat.rare_words);
}

/* ---- the list of chunks ---- */

/* The first rows of a small chunk are fetched this many entries ahead. */
#define PREFETCH_ENTRIES 12

static bool is_populated(const weft_world *world, uint32_t number)
{
    return (world->archetypes.nonempty.at[number >> 6] >> (number & 63) & 1) != 0;
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
    if (query->has_sparse_terms && !query->is_of_sparse_rows) query_rare_make(query);
    flat->version = world->front.structure_version;
    return WEFT_OK;
}

uint32_t weft__query_flat_find(const weft__query *query, uint32_t slice)
{
    const weft__query_flat *flat = &query->flat;
    const uint32_t next = WEFT__SEARCH(flat->entries, flat->count, first_slice, slice + 1);
    return next == 0 ? 0 : next - 1; /* 0: there are none */
}

/* ---- handles by name ---- */

weft__query_handle *weft__query_find_checked(const weft_world *world, weft_query query)
{
    weft__query_handle *handle = weft__query_find(world, query);
    if (handle == NULL)
        weft__error(world, WEFT_BAD_HANDLE, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "query 0x%08x does not exist in this world (null, destroyed or of another "
                    "world): use what weft_query_create returned",
                    query.id);
    return handle;
}

void weft__query_acquire(weft_world *world, weft_query query)
{
    weft__query_handle *handle = weft__query_find(world, query);
    WEFT_ASSERT(handle != NULL);
    handle->users++;
}

void weft__query_release(weft_world *world, weft_query query)
{
    weft__query_handle *handle = weft__query_find(world, query);
    WEFT_ASSERT(handle != NULL && handle->users != 0);
    handle->users--;
}

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
        array_free(world, handle, 1, sizeof *handle);
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
                    place_bytes(query));
    weft__list_free(memory, WEFT__MEMORY_QUERIES, query->flat.entries, query->flat.capacity,
                    sizeof *query->flat.entries);
    weft__free(&world->memory, WEFT__MEMORY_QUERIES, query->flat.views, query->flat.view_capacity,
               weft__query_view_bytes(query), WEFT__FLAT_ALIGNMENT);
    query_rare_free(query);
    array_free(world, query, 1, query_bytes(query->term_count));
}

static bool queries_are_equal(const weft__query *a, const weft__query *b)
{
    return a->hash == b->hash && a->term_count == b->term_count &&
           a->with_prefabs == b->with_prefabs && a->with_inactive == b->with_inactive &&
           a->ignores_enabled == b->ignores_enabled && a->stamps_asked == b->stamps_asked &&
           memcmp(a->terms, b->terms, a->term_count * sizeof *a->terms) == 0;
}

/* The equal query that exists already, or NULL. */
static weft__query *query_find(const weft__queries *queries, const weft__query *like)
{
    uint32_t step = 0, number;
    while ((number = weft__table_next(&queries->numbers, (uint32_t)like->hash, &step)) != 0)
        if (queries_are_equal(queries->all.at[number - 1], like))
            return queries->all.at[number - 1];
    return NULL;
}

/* Matches and files a new query. False: no memory. */
static bool query_enter(weft__query *query)
{
    weft__queries *queries = query->world->front.queries;
    weft__memory *memory = &query->world->memory;
    uint32_t number = queries->all.count + 1;
    if (!WEFT__LIST_ROOM(memory, WEFT__MEMORY_QUERIES, &queries->all, number) ||
        !weft__table_room(memory, WEFT__MEMORY_QUERIES, &queries->numbers, number) ||
        query_match_all(query) != WEFT_OK)
        return false;
    query->place = queries->all.count;
    queries->all.at[queries->all.count++] = query;
    weft__table_put(&queries->numbers, (uint32_t)query->hash, number);
    return true;
}

/* Drops one share; the last one frees the query. */
static void query_drop(weft__query *query)
{
    weft__queries *queries = query->world->front.queries;
    if (--query->references != 0) return;
    weft__query *last = queries->all.at[--queries->all.count];
    weft__table_take(&queries->numbers, (uint32_t)query->hash, query->place + 1);
    if (last != query) {
        weft__table_take(&queries->numbers, (uint32_t)last->hash, last->place + 1);
        last->place = query->place;
        queries->all.at[last->place] = last;
        weft__table_put(&queries->numbers, (uint32_t)last->hash, last->place + 1);
    }
    query_unfile(query);
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
    uint64_t options = (uint64_t)query->with_prefabs | (uint64_t)query->with_inactive << 1 |
                       (uint64_t)query->ignores_enabled << 2 | (uint64_t)query->stamps_asked << 3;
    query->hash = hash_bytes(options, query->terms, query->term_count * sizeof *query->terms);
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
    weft__query *known = query_find(world->front.queries, query);
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
    array_free(world, handle, 1, sizeof *handle);
}

weft_result weft__queries_create(weft_world *world)
{
    world->front.queries = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_QUERIES, 1,
                                              sizeof *world->front.queries, WEFT__QUERY_ALIGNMENT);
    if (world->front.queries == NULL) return WEFT_OUT_OF_MEMORY;
    world->front.queries->handles.count = 1; /* handle 0 is null */
    world->front.queries->loops.memory = &world->memory;
    world->matching = query_matching;
    return WEFT_OK;
}

void weft__queries_destroy(weft_world *world)
{
    weft__queries *queries = world->front.queries;
    if (queries == NULL) return;
    for (uint32_t i = 1; i < queries->handles.count; i++)
        handle_free(world, queries->handles.at[i]);
    for (uint32_t id = 0; id < queries->keyed.count; id++)
        WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &queries->keyed.at[id]);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &queries->keyed);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &queries->unkeyed);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &queries->handles);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &queries->all);
    weft__table_free(&world->memory, WEFT__MEMORY_QUERIES, &queries->numbers);
    array_free(world, queries, 1, sizeof *queries);
    world->front.queries = NULL;
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
    for (uint32_t i = 0; i < queries->all.count; i++) {
        const weft__query *query = queries->all.at[i];
        if (broken == NULL) broken = matches_check(query);
        if (broken == NULL) broken = flat_check(query);
        references += query->references;
    }
    if (broken == NULL && queries->all.count != queries->numbers.count)
        broken = "the queries are not those in the table";
    if (broken == NULL) broken = handles_check(queries, references);
    if (broken != NULL) snprintf(text, text_bytes, "queries: %s", broken);
    return broken == NULL;
}
