/* SPDX-License-Identifier: MIT */
/* stage_entries.c: the entries of a stage: which systems touch which chunk, with column pointers at
 * hand.
 *
 * Made when the chunks have changed since (O(chunks x systems)), kept otherwise, so that a frame
 * without structural change looks nothing up; where only rows came and went, their counts are
 * brought up to date. All fusable systems of a stage share one entry per
 * chunk; others have entries of their own. */
#include "stage_entries.h"

#include <stdlib.h>

/* Making the entries of one stage. Owner: weft__stage_entries_make, on its stack. */
typedef struct making {
    weft__scheduler *scheduler;
    weft__stage *stage;
} making;

static void *take(making *m, size_t count, size_t size)
{
    return weft__pile_take(&m->stage->pile, count + 1, size);
}

static bool is_failed(const making *m)
{
    return m->stage->pile.is_refused;
}

static const weft__filter *filter_of(const weft__system *system)
{
    const weft__query_handle *handle = weft__query_find(system->context.world, system->query);
    return weft__filter_is_empty(&handle->filter) ? NULL : &handle->filter;
}

/* Whether the shared conditions let the chunk pass; change conditions are asked per slice. */
static bool passes(const weft__filter *filter, const weft__query *query,
                   const weft__flat_entry *flat)
{
    if (filter == NULL) return true;
    const uint32_t everything = 0;
    return weft__filter_chunk(filter, weft__match_places(query, flat->match), flat->chunk,
                              &everything) != WEFT__FILTER_SKIP;
}

/* ---- a binding ---- */

static void bind_columns(making *m, weft__binding *binding, const weft__flat_entry *flat)
{
    const weft__query *query = binding->query;
    const weft__place *places = weft__match_places(query, flat->match);
    const weft__chunk *chunk = flat->chunk;
    void **columns = take(m, query->term_count, sizeof columns[0]);
    uint32_t *bytes = take(m, query->term_count, sizeof bytes[0]);
    weft_a32 **stamps = take(m, query->stamp_count, sizeof stamps[0]);
    if (columns == NULL || bytes == NULL || stamps == NULL) return;
    weft__query_columns(query, flat->match, chunk, 0, columns);
    for (uint32_t i = 0; i < query->term_count; i++)
        if (columns[i] != NULL) bytes[i] = chunk->layout->columns[places[i].column].bytes;
    for (uint32_t i = 0; i < query->stamp_count; i++) {
        const weft__place *place = &places[query->writes[i]];
        if (place->type == WEFT__NO_PLACE) continue;
        stamps[binding->stamp_count++] = weft__chunk_versions(chunk, place->type);
    }
    binding->slice.columns = columns;
    binding->column_bytes = bytes;
    binding->x_stamps = stamps;
}

static void bind(making *m, weft__binding *binding, weft__system *system,
                 const weft__flat_entry *flat)
{
    const weft__query *query = system->context.query;
    const weft__filter *filter = filter_of(system);
    const weft__chunk *chunk = flat->chunk;
    uint32_t shift = chunk->layout->slice_shift, rows = chunk->count;
    bool is_whole = (system->flags & WEFT_SYSTEM_WHOLE_CHUNKS) != 0;
    *binding = (weft__binding){
        .slice = {.count = is_whole || rows <= (1u << shift) ? rows : 1u << shift,
                  .term_count = query->term_count,
                  .entities = weft__chunk_entities(chunk),
                  .first = flat->first_row,
                  .index = flat->first_slice,
                  .calls = weft__query_calls(query),
                  .chunk = chunk,
                  .places = weft__match_places(query, flat->match),
                  .context = &system->context},
        .system = system,
        .query = query,
        .filter = filter != NULL && weft__filter_has_changes(filter) ? filter : NULL,
        .match = flat->match,
        .rows = rows,
        .slice_shift = shift,
        .flat = (uint32_t)(flat - query->flat.entries),
        .layout = chunk->layout,
        .has_masks = query->matches[flat->match].has_masks,
    };
    m->stage->binding_count++;
    binding->is_plain = binding->filter == NULL && !binding->has_masks &&
                        !system->skips_unchanged && (system->flags & WEFT_SYSTEM_ASKS_CHANGES) == 0;
    binding->is_direct = binding->is_plain && binding->slice.count == rows;
    bind_columns(m, binding, flat);
}

/* Binds one system to all its chunks, in order. */
static weft__binding *bind_all(making *m, weft__system *system, uint32_t *count)
{
    const weft__query *query = system->context.query;
    const weft__filter *filter = filter_of(system);
    weft__binding *bindings = take(m, query->flat.count, sizeof bindings[0]);
    *count = 0;
    for (uint32_t i = 0; i < query->flat.count && !is_failed(m); i++)
        if (passes(filter, query, &query->flat.entries[i]))
            bind(m, &bindings[(*count)++], system, &query->flat.entries[i]);
    return bindings;
}

/* ---- entries ---- */

static bool is_fused(const weft__system *system)
{
    return (system->scheduler->nodes[system->position].traits & WEFT__STAGING_FUSABLE) != 0;
}

/* Systems whose chunks are listed together: of a task, or of the stage. A value. */
typedef struct system_list {
    weft__system **systems;
    uint32_t count;
} system_list;

/* Counts, per chunk, the fused systems that touch it; makes the entries in order of first sight. */
static void list_fused_chunks(const making *m, const system_list *list, weft__entry *entries,
                              uint32_t *entry_count)
{
    weft__scheduler *scheduler = m->scheduler;
    for (uint32_t i = 0; i < list->count; i++) {
        const weft__system *system = list->systems[i];
        if (!is_fused(system)) continue;
        const weft__query *query = system->context.query;
        const weft__filter *filter = filter_of(system);
        for (uint32_t k = 0; k < query->flat.count; k++) {
            const weft__flat_entry *flat = &query->flat.entries[k];
            if (!passes(filter, query, flat)) continue;
            uint32_t *number = &scheduler->entry_of_chunk.at[flat->chunk->id];
            if (*number == 0) {
                *number = ++*entry_count;
                entries[*number - 1] = (weft__entry){.kind = WEFT__ENTRY_CHUNK};
            }
            entries[*number - 1].binding_count++;
        }
    }
}

/* What is true of an entry is true of all its bindings. */
static void sum_up(weft__entry *entry)
{
    entry->is_plain = entry->is_direct = true;
    for (uint32_t k = 0; k < entry->binding_count; k++) {
        entry->is_plain = entry->is_plain && entry->bindings[k].is_plain;
        entry->is_direct = entry->is_direct && entry->bindings[k].is_direct;
    }
}

static void bind_fused_chunks(making *m, const system_list *list, weft__entry *entries,
                              uint32_t entry_count)
{
    weft__scheduler *scheduler = m->scheduler;
    for (uint32_t i = 0; i < entry_count; i++) {
        entries[i].bindings = take(m, entries[i].binding_count, sizeof entries[i].bindings[0]);
        entries[i].binding_count = 0;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        weft__system *system = list->systems[i];
        if (!is_fused(system)) continue;
        const weft__query *query = system->context.query;
        const weft__filter *filter = filter_of(system);
        for (uint32_t k = 0; k < query->flat.count && !is_failed(m); k++) {
            const weft__flat_entry *flat = &query->flat.entries[k];
            if (!passes(filter, query, flat)) continue;
            weft__entry *entry = &entries[scheduler->entry_of_chunk.at[flat->chunk->id] - 1];
            bind(m, &entry->bindings[entry->binding_count++], system, flat);
        }
    }
    for (uint32_t i = 0; i < entry_count && !is_failed(m); i++) {
        const weft__chunk *chunk = entries[i].bindings[0].slice.chunk;
        scheduler->entry_of_chunk.at[chunk->id] = 0;
        sum_up(&entries[i]);
    }
}

static uint32_t items_of(const weft__entry *entry)
{
    if (entry->kind == WEFT__ENTRY_CHUNK) return weft__chunk_slices(entry->bindings[0].slice.chunk);
    if (entry->kind == WEFT__ENTRY_RANGE) return entry->system->range_count;
    return 1;
}

/* Numbers the items and closes the list; returns their number. */
static uint32_t number_items(weft__entry *entries, uint32_t count)
{
    uint32_t items = 0;
    for (uint32_t i = 0; i < count; i++) {
        entries[i].first_item = items;
        items += items_of(&entries[i]);
    }
    entries[count].first_item = items;
    return items;
}

static weft__entry entry_alone(weft__system *system, weft__binding *binding)
{
    bool is_whole = (system->flags & WEFT_SYSTEM_WHOLE_CHUNKS) != 0;
    return (weft__entry){.kind = is_whole ? WEFT__ENTRY_SERIES : WEFT__ENTRY_CHUNK,
                         .system = system,
                         .bindings = binding,
                         .binding_count = 1};
}

/* A chunk and its level. Owner: list_levels. */
typedef struct level_chunk {
    uint32_t level;
    uint32_t binding;
} level_chunk;

static int compare_levels(const void *a, const void *b)
{
    const level_chunk *x = a, *y = b;
    if (x->level != y->level) return x->level < y->level ? -1 : 1;
    return x->binding < y->binding ? -1 : x->binding > y->binding;
}

/* One entry with all chunks, by level. */
static uint32_t list_levels(making *m, weft__system *system, weft__binding *bindings,
                            uint32_t count, weft__entry *entry)
{
    level_chunk *order = take(m, count, sizeof order[0]);
    weft__levels *levels = take(m, 1, sizeof levels[0]);
    weft__entry *entries = take(m, count, sizeof entries[0]);
    uint32_t *first_items = take(m, count, sizeof first_items[0]);
    if (is_failed(m)) return 0;
    for (uint32_t i = 0; i < count; i++)
        order[i] = (level_chunk){
            weft__relation_level(system->by_depth, bindings[i].slice.chunk, m->scheduler->world),
            i};
    qsort(order, count, sizeof order[0], compare_levels);
    for (uint32_t i = 0; i < count; i++)
        entries[i] = entry_alone(system, &bindings[order[i].binding]);
    uint32_t items = number_items(entries, count);
    *levels = (weft__levels){.entries = entries, .entry_count = count, .first_items = first_items};
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || order[i].level != order[i - 1].level)
            first_items[levels->level_count++] = entries[i].first_item;
    first_items[levels->level_count] = items;
    *entry = (weft__entry){.kind = WEFT__ENTRY_LEVELS, .system = system, .levels = levels};
    return 1;
}

/* Entries of a system that is not fused, at `entries`; returns how many. */
static uint32_t list_alone(making *m, weft__system *system, weft__entry *entries)
{
    if (system->query.id == 0) {
        bool is_range = system->range != NULL || system->range_count != 0;
        entries[0] = (weft__entry){.kind = is_range ? WEFT__ENTRY_RANGE : WEFT__ENTRY_ONCE,
                                   .system = system};
        return 1;
    }
    uint32_t count;
    weft__binding *bindings = bind_all(m, system, &count);
    if (is_failed(m) || count == 0) return 0;
    if (weft__system_is_serial(system)) {
        entries[0] = (weft__entry){.kind = WEFT__ENTRY_SERIES,
                                   .system = system,
                                   .bindings = bindings,
                                   .binding_count = count};
        return 1;
    }
    if (system->by_depth.id != 0) return list_levels(m, system, bindings, count, entries);
    for (uint32_t i = 0; i < count; i++) entries[i] = entry_alone(system, &bindings[i]);
    return count;
}

static bool is_background(const weft__system *system)
{
    return (system->flags & WEFT_SYSTEM_BACKGROUND) != 0 && !weft__system_is_on_owner(system);
}

static uint32_t list_where(making *m, bool (*is_wanted)(const weft__system *), weft__entry *entries)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->stage->system_count && !is_failed(m); i++)
        if (is_wanted(m->stage->systems[i]))
            count += list_alone(m, m->stage->systems[i], entries + count);
    return count;
}

/* Entries of systems that pass sync points serve when archetypes have appeared, and the places of
 * matches have moved. */
static void keep_places(making *m)
{
    for (uint32_t i = 0; i < m->stage->background_entry_count && !is_failed(m); i++) {
        weft__entry *entry = &m->stage->background_entries[i];
        for (uint32_t k = 0; k < entry->binding_count; k++) {
            weft__binding *binding = &entry->bindings[k];
            if (!binding->system->passes) continue;
            size_t count = binding->query->term_count;
            weft__place *places = take(m, count, sizeof places[0]);
            if (places == NULL) return;
            memcpy(places, binding->slice.places, count * sizeof places[0]);
            binding->slice.places = places;
        }
    }
}

static bool is_alone_in_loop(const weft__system *system)
{
    return !is_fused(system) && !weft__system_is_on_owner(system) && !is_background(system);
}

/* ---- a stage ---- */

/* The queries a system iterates itself: jobs cannot make their lists. */
static weft_result prepare_declared(const making *m, const weft__system *system)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < system->lists.query_count && result == WEFT_OK; i++)
        result = weft__query_views_prepare(
            weft__query_find(m->scheduler->world, system->lists.queries[i])->query);
    return result;
}

static weft_result prepare_queries(making *m, size_t *entry_limit)
{
    *entry_limit = 0;
    for (uint32_t i = 0; i < m->stage->system_count; i++) {
        weft__system *system = m->stage->systems[i];
        *entry_limit += 1;
        if (prepare_declared(m, system) != WEFT_OK) return WEFT_OUT_OF_MEMORY;
        if (system->query.id == 0) continue;
        weft__query_handle *handle = weft__query_find(m->scheduler->world, system->query);
        weft_result result = weft__query_flat_prepare(handle->query);
        if (result != WEFT_OK) return result;
        system->filter_version = handle->filter.version;
        *entry_limit += handle->query->flat.count;
    }
    return WEFT_OK;
}

static weft_result reserve_chunk_map(weft__scheduler *scheduler)
{
    uint32_t wanted = weft__chunk_id_end(scheduler->world);
    return WEFT__LIST_REACH(scheduler->memory, WEFT__MEMORY_SYSTEMS, &scheduler->entry_of_chunk,
                            wanted)
               ? WEFT_OK
               : WEFT_OUT_OF_MEMORY;
}

/* Entries of the fused systems of a list, one for each of their chunks; returns how many. */
static uint32_t list_fused(making *m, const system_list *list, weft__entry *entries)
{
    uint32_t count = 0;
    list_fused_chunks(m, list, entries, &count);
    bind_fused_chunks(m, list, entries, count);
    return count;
}

/* Task after task, so that each has entries of its own. */
static void list_tasks(making *m)
{
    weft__stage *stage = m->stage;
    for (uint32_t i = 0; i < stage->task_count && !is_failed(m); i++) {
        weft__task *task = &stage->tasks[i];
        const system_list list = {task->systems, task->system_count};
        uint32_t *count = task->on_owner ? &stage->main_entry_count : &stage->entry_count;
        weft__entry *entries = (task->on_owner ? stage->main_entries : stage->entries) + *count;
        task->first_entry = *count;
        *count += task->is_fused ? list_fused(m, &list, entries)
                                 : list_alone(m, task->systems[0], entries);
        task->end_entry = *count;
    }
}

static void list_all(making *m)
{
    weft__stage *stage = m->stage;
    const system_list list = {stage->systems, stage->system_count};
    stage->entry_count = list_where(m, is_alone_in_loop, stage->entries);
    stage->entry_count += list_fused(m, &list, stage->entries + stage->entry_count);
    if (stage->has_main)
        stage->main_entry_count = list_where(m, weft__system_is_on_owner, stage->main_entries);
    if (stage->has_background)
        stage->background_entry_count = list_where(m, is_background, stage->background_entries);
    keep_places(m);
}

static void make_entries(making *m, size_t entry_limit)
{
    weft__stage *stage = m->stage;
    stage->entries = take(m, entry_limit, sizeof stage->entries[0]);
    stage->main_entries = take(m, stage->has_main ? entry_limit : 0, sizeof stage->entries[0]);
    stage->background_entries =
        take(m, stage->has_background ? entry_limit : 0, sizeof stage->entries[0]);
    if (is_failed(m)) return;
    if (stage->tasks != NULL)
        list_tasks(m);
    else
        list_all(m);
    if (is_failed(m)) return;
    stage->item_count = number_items(stage->entries, stage->entry_count);
    number_items(stage->main_entries, stage->main_entry_count);
    number_items(stage->background_entries, stage->background_entry_count);
}

void weft__stage_entries_free(weft__stage *stage)
{
    weft__pile_free(&stage->pile);
    stage->entries_version = 0;
}

/* ---- where only rows came and went ---- */

/* Whether a system's rows are those of all chunks of its query, in a flat list of entries that can
 * be brought up to date. */
static bool is_listed_plainly(const weft__system *system)
{
    return system->by_depth.id == 0 && !system->passes &&
           (system->query.id == 0 || filter_of(system) == NULL);
}

/* Whether each system has as many chunks as it had; they need not be the same. */
static bool has_as_many(const weft__stage *stage)
{
    uint64_t chunks = 0;
    for (uint32_t i = 0; i < stage->system_count; i++) {
        const weft__system *system = stage->systems[i];
        if (!is_listed_plainly(system)) return false;
        const weft__query *query = system->context.query;
        if (system->query.id != 0) chunks += query->flat.count;
    }
    return chunks == stage->binding_count;
}

/* Whether a binding is of the chunk that its place in the list has now. All that it points to lies
 * in the chunk's memory and in its versions, but for the places of the match. */
static bool is_bound(const weft__binding *binding)
{
    const weft__query_flat *flat = &binding->query->flat;
    if (binding->flat >= flat->count) return false;
    const weft__flat_entry *now = &flat->entries[binding->flat];
    const weft__chunk *chunk = now->chunk;
    if (chunk != binding->slice.chunk || chunk->layout != binding->layout ||
        weft__chunk_entities(chunk) != binding->slice.entities || now->match != binding->match)
        return false;
    const weft__match *match = &binding->query->matches[now->match];
    if (match->has_masks != binding->has_masks) return false;
    if (binding->stamp_count == 0) return true;
    const weft__place *places = weft__match_places(binding->query, now->match);
    for (uint32_t i = 0; i < binding->query->stamp_count; i++) {
        const weft__place *place = &places[binding->query->writes[i]];
        if (place->type != WEFT__NO_PLACE)
            return binding->x_stamps[0] == weft__chunk_versions(chunk, place->type);
    }
    return false;
}

static bool are_bound(const weft__entry *entries, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < entries[i].binding_count; k++)
            if (!is_bound(&entries[i].bindings[k])) return false;
    return true;
}

/* The places of matches move when archetypes appear, which may have no rows. */
static void count_rows(weft__binding *binding)
{
    const weft__flat_entry *now = &binding->query->flat.entries[binding->flat];
    uint32_t rows = now->count, size = 1u << binding->slice_shift;
    bool is_whole = (binding->system->flags & WEFT_SYSTEM_WHOLE_CHUNKS) != 0;
    binding->rows = rows;
    binding->slice.count = is_whole || rows <= size ? rows : size;
    binding->slice.first = now->first_row;
    binding->slice.index = now->first_slice;
    binding->slice.places = weft__match_places(binding->query, now->match);
    binding->is_direct = binding->is_plain && binding->slice.count == rows;
}

/* Counts the rows of entries again; returns the number of items. */
static uint32_t count_all(weft__entry *entries, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < entries[i].binding_count; k++) count_rows(&entries[i].bindings[k]);
        if (entries[i].is_plain) sum_up(&entries[i]);
    }
    return number_items(entries, count);
}

/* Brings the entries up to date. False: they must be made again. */
static bool refresh(weft__stage *stage)
{
    if (stage->entries_version == 0 || stage->binding_count == 0 || !has_as_many(stage) ||
        !are_bound(stage->entries, stage->entry_count) ||
        !are_bound(stage->main_entries, stage->main_entry_count) ||
        !are_bound(stage->background_entries, stage->background_entry_count))
        return false;
    stage->item_count = count_all(stage->entries, stage->entry_count);
    count_all(stage->main_entries, stage->main_entry_count);
    count_all(stage->background_entries, stage->background_entry_count);
    return true;
}

weft_result weft__stage_entries_make(weft__scheduler *scheduler, weft__stage *stage)
{
    weft_world *world = scheduler->world;
    making m = {.scheduler = scheduler, .stage = stage};
    size_t entry_limit;
    weft_result result = prepare_queries(&m, &entry_limit);
    if (result == WEFT_OK && refresh(stage)) {
        stage->entries_version = weft__front(world)->structure_version;
        return WEFT_OK;
    }
    weft__pile_empty(&stage->pile);
    stage->entries_version = 0;
    stage->entry_count = stage->main_entry_count = stage->background_entry_count = 0;
    stage->item_count = stage->binding_count = 0;
    if (result == WEFT_OK) result = reserve_chunk_map(scheduler);
    if (result != WEFT_OK) return weft__error_memory(world, "the entries of a stage");
    make_entries(&m, entry_limit);
    if (is_failed(&m)) {
        if (scheduler->entry_of_chunk.count != 0)
            memset(scheduler->entry_of_chunk.at, 0,
                   scheduler->entry_of_chunk.count * sizeof scheduler->entry_of_chunk.at[0]);
        return weft__error_memory(world, "the entries of a stage");
    }
    for (uint32_t i = 0; i < stage->system_count; i++)
        if (!is_listed_plainly(stage->systems[i])) stage->binding_count = 0;
    stage->entries_version = weft__front(world)->structure_version;
    return WEFT_OK;
}
