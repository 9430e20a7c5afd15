/* SPDX-License-Identifier: MIT */
/* compile_nodes.c: what each system touches and sees, as the planner wants it: access items with
 * sets of archetypes, components it mentions, components its rows must have. See staging.h.
 * Everything lies in the arena of the compiled schedule. */
#include "compile_nodes.h"

#include <stdlib.h>
#include <string.h>

/* ---- access sets ---- */

/* Sets of archetypes made so far. Lives on the stack of one compilation; the sets are the plan's
 * arena's. */
typedef struct sets {
    weft__scheduler *scheduler;
    weft__archetype_set **with; /* [component] */
    uint32_t word_count;        /* in use; there is room for scheduler->growth.set_words */
    bool is_failed;
} sets;

static void *take(sets *s, size_t bytes)
{
    void *taken = weft__arena_take(s->scheduler->memory, &s->scheduler->plan_arena, bytes);
    if (taken == NULL) s->is_failed = true;
    return taken;
}

static weft__archetype_set *set_make(sets *s)
{
    weft__archetype_set *set = take(s, sizeof *set);
    if (set == NULL) return NULL;
    set->words = take(s, s->scheduler->growth.set_words * sizeof(uint64_t));
    set->word_count = set->words == NULL ? 0 : s->word_count;
    return set;
}

static void set_close(weft__archetype_set *set)
{
    while (set->first_word < set->word_count && set->words[set->first_word] == 0) set->first_word++;
}

static const weft__archetype_set *set_with(sets *s, uint32_t component)
{
    if (s->with[component] != NULL) return s->with[component];
    weft__archetype_set *set = set_make(s);
    if (set == NULL || set->words == NULL) return set;
    const weft__component_list *list = weft__component_list_at(s->scheduler->world, component);
    for (uint32_t i = 0; list != NULL && i < list->count; i++)
        set->words[list->at[i].archetype / 64] |= UINT64_C(1) << (list->at[i].archetype % 64);
    set_close(set);
    return s->with[component] = set;
}

static const weft__archetype_set *set_matching(sets *s, const weft__query *query)
{
    weft__archetype_set *set = set_make(s);
    if (set == NULL || set->words == NULL) return set;
    set->query = query;
    for (uint32_t i = 0; i < query->match_count; i++)
        set->words[query->matches[i].number / 64] |= UINT64_C(1) << (query->matches[i].number % 64);
    set_close(set);
    return set;
}

static void add_item(sets *s, weft__access_set *access, uint32_t component, uint32_t flags,
                     const weft__archetype_set *match)
{
    const weft__archetype_set *with =
        (flags & WEFT__ACCESS_RESOURCE) != 0 ? NULL : set_with(s, component);
    access->items[access->count++] = (weft__access_item){component, flags, match, with};
}

/* A term reads its column, its chunk value, or the enable bits that decide about rows. Shared
 * values change at sync points only: no access. */
static void add_query(sets *s, weft__access_set *access, const weft__query *query, uint32_t flags)
{
    const weft__archetype_set *match = set_matching(s, query);
    for (uint32_t i = 0; i < query->term_count; i++) {
        const weft__query_term *term = &query->terms[i];
        if (term->sparse != NULL) { /* in rows of its own, in any slice */
            if (term->access == WEFT_NO_ACCESS || term->sparse->value_bytes == 0) continue;
            add_item(s, access, term->component,
                     WEFT__ACCESS_FAR | (term->access == WEFT_WRITE ? WEFT__ACCESS_WRITE : 0u),
                     NULL);
            continue;
        }
        bool is_write = term->access == WEFT_WRITE &&
                        (term->has_column || term->is_chunk_value || term->is_enableable);
        bool is_read = term->access != WEFT_NO_ACCESS && (term->has_column || term->is_chunk_value);
        if (!is_write && !is_read && !term->is_masking) continue;
        add_item(s, access, term->component, flags | (is_write ? WEFT__ACCESS_WRITE : 0u), match);
    }
}

/* Terms, and two tags that hide entities. */
static uint32_t query_item_limit(const weft__query *query)
{
    return query->term_count + 2;
}

static void add_filter(sets *s, weft__access_set *access, const weft__query_handle *handle,
                       uint32_t flags)
{
    const weft__query *query = handle->query;
    const weft__archetype_set *match = NULL;
    for (uint32_t i = 0; i < handle->filter.changed.count; i++) {
        if (match == NULL) match = set_matching(s, query);
        const weft__query_term *term = &query->terms[handle->filter.changed.at[i].term];
        add_item(s, access, term->component, term->sparse == NULL ? flags : WEFT__ACCESS_FAR,
                 term->sparse == NULL ? match : NULL);
    }
}

static void add_grants(sets *s, weft__access_set *access, const weft__grant *grants, uint32_t count,
                       uint32_t flags)
{
    for (uint32_t i = 0; i < count; i++) {
        bool is_write = grants[i].access == WEFT_WRITE;
        add_item(s, access, grants[i].component, flags | (is_write ? WEFT__ACCESS_WRITE : 0u),
                 NULL);
    }
}

static weft__query_handle *handle_of(const weft__scheduler *scheduler, weft_query query)
{
    return query.id == 0 ? NULL : weft__query_find(scheduler->world, query);
}

static uint32_t item_limit(const weft__scheduler *scheduler, const weft__system *system)
{
    uint32_t limit = system->lists.lookup_count + system->lists.resource_count;
    const weft__query_handle *handle = handle_of(scheduler, system->query);
    if (handle != NULL) limit += query_item_limit(handle->query) + handle->filter.changed.count;
    for (uint32_t i = 0; i < system->lists.query_count; i++) {
        handle = handle_of(scheduler, system->lists.queries[i]);
        limit += query_item_limit(handle->query) + handle->filter.changed.count;
    }
    return limit;
}

static void make_access(sets *s, const weft__system *system, weft__access_set *access)
{
    weft__scheduler *scheduler = s->scheduler;
    access->items = take(s, item_limit(scheduler, system) * sizeof access->items[0]);
    if (access->items == NULL) return;
    const weft__query_handle *handle = handle_of(scheduler, system->query);
    if (handle != NULL) {
        add_query(s, access, handle->query, 0);
        add_filter(s, access, handle, 0);
    }
    for (uint32_t i = 0; i < system->lists.query_count; i++) {
        handle = handle_of(scheduler, system->lists.queries[i]);
        add_query(s, access, handle->query, WEFT__ACCESS_FAR);
        add_filter(s, access, handle, WEFT__ACCESS_FAR);
    }
    add_grants(s, access, system->lists.lookups, system->lists.lookup_count, WEFT__ACCESS_FAR);
    add_grants(s, access, system->lists.resources, system->lists.resource_count,
               WEFT__ACCESS_FAR | WEFT__ACCESS_RESOURCE);
    weft__access_set_normalise(access);
}

/* ---- what a system can see of structure ---- */

static int compare_ids(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static void mention_query(const weft__query *query, uint32_t *out, uint32_t *count)
{
    for (uint32_t i = 0; i < query->term_count; i++) out[(*count)++] = query->terms[i].component;
    if (!query->with_prefabs) out[(*count)++] = weft_component_prefab(query->world).id;
    if (!query->with_inactive) out[(*count)++] = weft_component_inactive(query->world).id;
}

static void make_mentions(sets *s, const weft__system *system, weft__staging_node *node)
{
    weft__scheduler *scheduler = s->scheduler;
    uint32_t *mentions = take(s, item_limit(scheduler, system) * sizeof mentions[0]);
    uint32_t *required = take(s, item_limit(scheduler, system) * sizeof required[0]);
    if (mentions == NULL || required == NULL) return;
    const weft__query_handle *handle = handle_of(scheduler, system->query);
    if (handle != NULL) mention_query(handle->query, mentions, &node->mention_count);
    for (uint32_t i = 0; i < system->lists.query_count; i++)
        mention_query(handle_of(scheduler, system->lists.queries[i])->query, mentions,
                      &node->mention_count);
    for (uint32_t i = 0; i < system->lists.lookup_count; i++)
        mentions[node->mention_count++] = system->lists.lookups[i].component;
    bool has_one_description =
        handle != NULL && handle->query->alternative_count <= 1 && system->lists.query_count == 0;
    for (uint32_t i = 0; has_one_description && i < handle->query->term_count; i++)
        if (handle->query->terms[i].match == WEFT_ALL)
            required[node->required_count++] = handle->query->terms[i].component;
    qsort(mentions, node->mention_count, sizeof mentions[0], compare_ids);
    qsort(required, node->required_count, sizeof required[0], compare_ids);
    node->mentions = mentions;
    node->required = required;
    if (handle != NULL || system->lists.query_count != 0 || system->lists.lookup_count != 0)
        node->traits |= WEFT__STAGING_SEES_ROWS;
    if (has_one_description && system->lists.lookup_count == 0)
        node->traits |= WEFT__STAGING_ROWS_ONLY;
}

static uint32_t traits_of(const weft__system *system)
{
    const uint32_t apart = WEFT_SYSTEM_SERIAL | WEFT_SYSTEM_MAIN_THREAD | WEFT_SYSTEM_EXCLUSIVE |
                           WEFT_SYSTEM_BACKGROUND | WEFT_SYSTEM_NOT_FUSED |
                           WEFT_SYSTEM_WHOLE_CHUNKS;
    uint32_t traits = 0;
    if (system->query.id != 0 && (system->flags & apart) == 0) traits |= WEFT__STAGING_FUSABLE;
    if ((system->flags & WEFT_SYSTEM_EXCLUSIVE) != 0) traits |= WEFT__STAGING_EXCLUSIVE;
    if ((system->flags & WEFT_SYSTEM_BACKGROUND) != 0) traits |= WEFT__STAGING_BACKGROUND;
    if (system->range != NULL) traits |= WEFT__STAGING_STAYS;
    return traits;
}

/* Fields of relations that it writes in place. */
static uint32_t relations_written(const weft__scheduler *scheduler, const weft__staging_node *node,
                                  uint32_t *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->access.count; i++) {
        const weft__access_item *item = &node->access.items[i];
        if ((item->flags & WEFT__ACCESS_WRITE) != 0 &&
            weft__relation_is(scheduler->world, item->component))
            out[count++] = item->component;
    }
    return count;
}

/* What settling relations makes of a system: who names a relation behind it sees its fields
 * settled, so a field written in place is as one that commands set; and what is destroyed may take
 * anything along. */
static void add_relations(sets *s, weft__staging_node *node)
{
    if (!weft__relations_any(s->scheduler->world)) return;
    node->destroy_count = 0;
    uint32_t *written = take(s, (node->access.count + node->record_count + 1) * sizeof written[0]);
    uint32_t count = written == NULL ? 0 : relations_written(s->scheduler, node, written);
    if (count == 0) return;
    bool is_any = node->effects != WEFT_RECORDS_NOTHING && node->record_count == 0;
    node->effects |= WEFT_RECORDS_ADD;
    if (is_any) return;
    for (uint32_t i = 0; i < node->record_count; i++) written[count++] = node->records[i];
    qsort(written, count, sizeof written[0], compare_ids);
    node->records = written;
    node->record_count = count;
}

static bool is_cleanup(const weft_world *world, uint32_t component)
{
    return (weft_component_info(world, weft__component(world, component))->flags & WEFT_CLEANUP) !=
           0;
}

/* Who removes a CLEANUP component may end residues, which can have all of these and nothing else:
 * as if it destroyed them. */
static void add_residues(sets *s, weft__staging_node *node)
{
    const weft_world *world = s->scheduler->world;
    bool is_destroyer = (node->effects & WEFT_RECORDS_DESTROY) != 0, ends_any = false;
    uint32_t types = weft__type_count(world), count = is_destroyer ? node->destroy_count : 0;
    if ((node->effects & WEFT_RECORDS_REMOVE) == 0 || (is_destroyer && count == 0)) return;
    for (uint32_t i = 0; i < node->record_count && !ends_any; i++)
        ends_any = is_cleanup(world, node->records[i]);
    if (!ends_any) return;
    uint32_t *destroys = take(s, (count + types) * sizeof destroys[0]);
    if (destroys == NULL) return;
    for (uint32_t i = 0; i < count; i++) destroys[i] = node->destroys[i];
    for (uint32_t id = 1; id <= types; id++)
        if (is_cleanup(world, id)) destroys[count++] = id;
    qsort(destroys, count, sizeof destroys[0], compare_ids);
    node->effects |= WEFT_RECORDS_DESTROY;
    node->destroys = destroys;
    node->destroy_count = count;
}

/* Whether entries of the query, made before a sync point, serve behind it: nothing but the chunk
 * says which rows are the system's, and where their values are. */
static bool has_steady_rows(const weft__query_handle *handle)
{
    const weft__query *query = handle->query;
    bool is_steady = weft__filter_is_empty(&handle->filter) && !query->has_masking_terms &&
                     !query->has_buffers && !query->has_sparse_terms && !query->is_of_sparse_rows;
    for (uint32_t i = 0; i < query->term_count && is_steady; i++)
        is_steady = !query->terms[i].is_shared;
    return is_steady;
}

/* When its effects are known. */
static bool passes_sync_points(const weft__scheduler *scheduler, const weft__system *system,
                               const weft__staging_node *node)
{
    const weft__query_handle *handle = handle_of(scheduler, system->query);
    bool sees_others = (node->traits & WEFT__STAGING_SEES_ROWS) != 0 &&
                       (node->traits & WEFT__STAGING_ROWS_ONLY) == 0;
    return (node->traits & WEFT__STAGING_BACKGROUND) != 0 && !sees_others &&
           node->effects == WEFT_RECORDS_NOTHING && system->range == NULL &&
           !system->skips_unchanged && (system->flags & WEFT_SYSTEM_ASKS_CHANGES) == 0 &&
           !weft__relations_any(scheduler->world) && (handle == NULL || has_steady_rows(handle));
}

weft_result weft__schedule_nodes(weft__scheduler *scheduler)
{
    const weft_world *world = scheduler->world;
    sets s = {.scheduler = scheduler, .word_count = weft__archetype_count(world) / 64 + 1};
    scheduler->growth.set_words = s.word_count + s.word_count / 4 + 1;
    s.with = take(&s, (weft__type_count(world) + 1) * sizeof s.with[0]);
    scheduler->nodes = take(&s, scheduler->ordered_count * sizeof scheduler->nodes[0]);
    for (uint32_t i = 0; i < scheduler->ordered_count && !s.is_failed; i++) {
        weft__system *system = scheduler->ordered[i];
        weft__staging_node *node = &scheduler->nodes[i];
        node->traits = traits_of(system);
        node->effects = system->effects;
        node->records = system->lists.records;
        node->record_count = system->lists.record_count;
        node->destroys = system->lists.destroys;
        node->destroy_count = system->lists.destroy_count;
        make_access(&s, system, &node->access);
        make_mentions(&s, system, node);
        add_relations(&s, node);
        add_residues(&s, node);
        system->passes = passes_sync_points(scheduler, system, node);
        if (system->passes) node->traits |= WEFT__STAGING_PASSES;
    }
    return s.is_failed ? weft__error_memory(world, "the schedule") : WEFT_OK;
}
