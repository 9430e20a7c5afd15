/* SPDX-License-Identifier: MIT */
/* query_match.c: which archetypes a query matches.
 *
 * A new query merges the ascending archetype lists of its terms: the candidates come from the
 * rarest list that every match must be in, the other lists are searched by galloping from where the
 * last search ended. Archetypes themselves are read only when they match. */
#include "query_match.h"

#include "archetype_state.h"
#include "bits.h"
#include "query_memory.h"

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
                           count, weft__query_place_bytes(query));
}

/* Gives back what more than half of the capacity is; harmless when there is no memory for it. */
static void trim_matches(weft__query *query)
{
    weft__memory *memory = &query->world->memory;
    uint32_t count = query->match_count;
    weft__list_trim(memory, WEFT__MEMORY_QUERIES, &query->matches, &query->match_capacity, count,
                    sizeof *query->matches);
    weft__list_trim(memory, WEFT__MEMORY_QUERIES, &query->places, &query->place_capacity, count,
                    weft__query_place_bytes(query));
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
    uint32_t low = 0, high = query->match_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (query->matches[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
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

/* A matching in progress; lives on the stack of weft__query_match_all. */
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

static void place_candidate(matching *m, uint32_t number, weft__place *places)
{
    for (uint32_t t = 0; t < m->query->term_count; t++) {
        list_walk *walk = &m->terms[t];
        places[t] = walk_to(walk, number) ? walk->entries[walk->at].place : weft__place_none();
    }
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
        place_candidate(m, number, places);
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
        weft__query_list *list = weft__queries_keyed(world, query->keys[k]);
        if (list == NULL || !list_reserve(world, list)) return false;
    }
    return true;
}

static void file_query(weft__query *query)
{
    weft__queries *queries = query->world->front.queries;
    if (query->key_count == 0) queries->unkeyed.at[queries->unkeyed.count++] = query;
    for (uint32_t k = 0; k < query->key_count; k++) {
        weft__query_list *list = &queries->keyed.at[query->keys[k]];
        list->at[list->count++] = query;
    }
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
    trim_matches(query);
    return true;
}

weft_result weft__query_match_all(weft__query *query)
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
    if (many != few) weft__query_free(world, many, walks, bytes);
    if (!is_done) return WEFT_OUT_OF_MEMORY;
    file_query(query);
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
    for (uint32_t i = 0; i < queries->bucket_count; i++)
        for (weft__query *query = queries->buckets[i]; query != NULL; query = query->next)
            query_cut(query, count);
}

const weft__matching weft__query_matching = {
    .reserve = archetype_reserve, .enter = archetype_enter, .cut = archetypes_cut};
