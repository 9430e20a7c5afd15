/* SPDX-License-Identifier: MIT */
/* query_cursor.c: the walk over the flat list of a query's chunks that yields runs of rows.
 *
 * The same walk serves the owner's loops, jobs (each with a range of slice positions), counts and
 * gathers. Adjacent slices of a chunk are merged into one run as long as filters pass and all of
 * their rows are enabled, or only some in each: then as many as the cursor's mask holds. */
#include "query_cursor.h"

#include "enable.h"
#include "owner_loop.h"
#include "query_handle.h"
#include "query_match.h"
#include "query_memory.h"
#include "query_rare.h"
#include "slice_ops.h"

#include "bits.h"
#include "error.h"

#include <string.h>

/* ---- columns and stamps ---- */

static inline void fill_columns(const weft__place *places, uint32_t term_count, char *base,
                                const weft__column *layout, uint32_t row, void **columns)
{
    for (uint32_t t = 0; t < term_count; t++) {
        uint32_t column = places[t].column;
        columns[t] = column == WEFT__NO_PLACE
                         ? NULL
                         : base + layout[column].offset + (size_t)row * layout[column].bytes;
    }
}

void weft__query_columns(const weft__query *query, uint32_t match, const weft__chunk *chunk,
                         uint32_t row, void **columns)
{
    fill_columns(weft__match_places(query, match), query->term_count, chunk->base,
                 chunk->layout->columns, row, columns);
}

/* Stamps slices [first, end) of the written terms behind the first one. */
static void stamp_others(const weft__query *query, const weft__flat_entry *entry, uint32_t first,
                         uint32_t end, uint32_t stamp)
{
    const weft__place *places = weft__match_places(query, entry->match);
    for (uint32_t w = 1; w < query->stamp_count; w++) {
        uint32_t type = places[query->writes[w]].type;
        if (type == WEFT__NO_PLACE) continue;
        weft_a32 *x_versions = weft__chunk_versions(entry->chunk, type);
        for (uint32_t slice = first; slice < end; slice++) weft__stamp(&x_versions[slice], stamp);
    }
}

/* Stamps all written terms of an entry; queries write one component more often than not. */
static inline void stamp_entry(const weft__query *query, const weft__flat_entry *entry,
                               uint32_t first, uint32_t end, uint32_t stamp)
{
    weft_a32 *x_written = entry->x_written;
    for (uint32_t slice = first; slice < end && x_written != NULL; slice++)
        weft__stamp(&x_written[slice], stamp);
    if (query->stamp_count > 1) stamp_others(query, entry, first, end, stamp);
}

/* ---- the walk ---- */

/* Slices [begin, end) of a chunk. A value. */
typedef struct slice_run {
    uint32_t begin;
    uint32_t end;
    const uint64_t *mask;
} slice_run;

static const uint32_t *override_since(const weft_cursor *cursor)
{
    return cursor->has_since ? &cursor->since : NULL;
}

/* Decides the chunk-level filters of the entry the cursor has come to. */
static void judge_entry(weft_cursor *cursor, const weft__query *query)
{
    const weft__flat_entry *entry = &query->flat.entries[cursor->entry];
    cursor->verdict =
        cursor->filter == NULL || entry->chunk == NULL
            ? WEFT__FILTER_PASS
            : weft__filter_chunk(cursor->filter, weft__match_places(query, entry->match),
                                 entry->chunk, override_since(cursor));
}

void weft__source_init(weft_cursor *cursor, const weft_slice_context *context,
                       const weft__filter *filter, void **columns)
{
    const weft__query *query = context->query;
    cursor->context = context;
    cursor->filter = filter == NULL || weft__filter_is_empty(filter) ? NULL : filter;
    cursor->columns = columns;
    cursor->owned = NULL;
    cursor->run_slices = UINT32_MAX;
    cursor->since = 0;
    cursor->has_since = false;
    cursor->is_open = false;
    cursor->is_plain = false;
    cursor->view = cursor->view_end = NULL;
    cursor->skips_columns = false;
    cursor->ignores_masks = !query->has_masking_terms;
    cursor->position = 0;
    cursor->end = 0;
    cursor->slice = (weft_slice){.term_count = query->term_count,
                                 .calls = weft__query_calls(query),
                                 .context = (void *)(uintptr_t)context};
}

void weft__source_init_rows(weft_cursor *cursor, const weft_slice_context *context,
                            const weft__filter *filter, bool ignores_masks)
{
    weft__source_init(cursor, context, filter, NULL);
    cursor->skips_columns = true;
    cursor->ignores_masks = cursor->ignores_masks || ignores_masks;
}

void weft__source_begin(weft_cursor *cursor, uint32_t begin, uint32_t end)
{
    const weft__query *query = cursor->context->query;
    WEFT_ASSERT(begin <= end && end <= weft__query_slice_count(query));
    cursor->position = begin;
    cursor->end = end;
    if (begin == end) return;
    cursor->entry = begin == 0 ? 0 : weft__query_flat_find(query, begin);
    judge_entry(cursor, query);
}

/* Narrows a run to the slices that the filter lets pass; false: none of them, the cursor moved. */
static bool narrow_by_filter(weft_cursor *cursor, const weft__flat_entry *entry,
                             const weft__place *places, slice_run *run)
{
    if (cursor->verdict == WEFT__FILTER_PASS) return true;
    const uint32_t *since = override_since(cursor);
    if (cursor->verdict == WEFT__FILTER_SLICES)
        run->begin =
            weft__filter_next(cursor->filter, places, entry->chunk, run->begin, run->end, since);
    else
        run->begin = run->end;
    cursor->position = entry->first_slice + run->begin;
    if (run->begin == run->end) return false;
    run->end =
        weft__filter_run_end(cursor->filter, places, entry->chunk, run->begin + 1, run->end, since);
    return true;
}

/* The end of the slices from `begin` on that need a mask, the first one's being there: the masks of
 * the others follow it as long as there is room. */
static uint32_t merge_masks(weft_cursor *cursor, const weft__query *query,
                            const weft__flat_entry *entry, const slice_run *run)
{
    uint32_t words = 1u << (entry->layout->slice_shift - 6), most = WEFT_MASK_WORDS / words;
    if (most > cursor->run_slices) most = cursor->run_slices;
    if (most > run->end - run->begin) most = run->end - run->begin;
    uint32_t count = 1;
    while (count < most &&
           weft__query_mask(query, entry->match, entry->chunk, run->begin + count,
                            cursor->mask + (size_t)count * words) == WEFT__ROWS_SOME)
        count++;
    return run->begin + count;
}

/* Narrows a run to slices whose rows are all enabled, or to slices that need a mask; false: the
 * first slice has no enabled row, the cursor moved past it. */
static bool narrow_by_mask(weft_cursor *cursor, const weft__query *query,
                           const weft__flat_entry *entry, slice_run *run)
{
    if (query->flat.rare != NULL) { /* every row needs it */
        run->begin = weft__query_rare_next(query, entry->chunk, run->begin, run->end);
        cursor->position = entry->first_slice + run->begin;
        if (run->begin == run->end) return false;
    }
    weft__rows rows = weft__query_mask(query, entry->match, entry->chunk, run->begin, cursor->mask);
    if (rows == WEFT__ROWS_NONE) {
        cursor->position++;
        return false;
    }
    uint32_t end = run->begin + 1;
    if (rows == WEFT__ROWS_SOME) {
        run->mask = cursor->mask;
        end = merge_masks(cursor, query, entry, run);
    } else {
        while (end < run->end &&
               weft__query_mask_guess(query, entry->match, entry->chunk, end) == WEFT__ROWS_ALL)
            end++;
    }
    run->end = end;
    return true;
}

static bool narrow(weft_cursor *cursor, const weft__query *query, const weft__flat_entry *entry,
                   slice_run *run)
{
    if (cursor->filter != NULL &&
        !narrow_by_filter(cursor, entry, weft__match_places(query, entry->match), run))
        return false;
    if (cursor->ignores_masks || !query->matches[entry->match].has_masks) return true;
    return narrow_by_mask(cursor, query, entry, run);
}

/* Makes the run the current slice. */
static inline void emit(weft_cursor *cursor, const weft__query *query,
                        const weft__flat_entry *entry, const slice_run *run)
{
    const weft__layout *layout = entry->layout;
    const weft__place *places = weft__match_places(query, entry->match);
    uint32_t row = run->begin << layout->slice_shift, end_row = run->end << layout->slice_shift;
    weft_slice *slice = &cursor->slice;
    slice->count = (end_row < entry->count ? end_row : entry->count) - row;
    slice->columns = cursor->columns;
    slice->entities = (const weft_entity *)(const void *)entry->base + row;
    slice->enabled = run->mask;
    slice->first = entry->first_row + row;
    slice->index = entry->first_slice + run->begin;
    slice->chunk = entry->chunk;
    slice->places = places;
    if (!cursor->skips_columns)
        fill_columns(places, query->term_count, entry->base, layout->columns, row, cursor->columns);
    if (cursor->context->stamp != 0)
        stamp_entry(query, entry, run->begin, run->end, cursor->context->stamp);
}

static inline bool next_run(weft_cursor *cursor)
{
    const weft__query *query = cursor->context->query;
    while (cursor->position < cursor->end) {
        const weft__flat_entry *entry = &query->flat.entries[cursor->entry];
        if (cursor->position >= entry[1].first_slice) {
            entry++;
            cursor->entry++;
            if (cursor->filter != NULL) judge_entry(cursor, query);
        }
        uint32_t end = entry[1].first_slice < cursor->end ? entry[1].first_slice : cursor->end;
        slice_run run = {.begin = cursor->position - entry->first_slice,
                         .end = end - entry->first_slice};
        if ((cursor->filter != NULL || !cursor->ignores_masks) &&
            !narrow(cursor, query, entry, &run))
            continue;
        if (run.end - run.begin > cursor->run_slices) run.end = run.begin + cursor->run_slices;
        cursor->position = entry->first_slice + run.end;
        emit(cursor, query, entry, &run);
        return true;
    }
    return false;
}

bool weft__source_next(weft_cursor *cursor)
{
    return next_run(cursor);
}

/* ---- cursors of the owner ---- */

/* Points a cursor to its own parts: at its first step, and again after it was copied. */
static void settle(weft_cursor *cursor)
{
    bool is_first = cursor->context == NULL;
    cursor->context = &cursor->own_context;
    cursor->slice.context = &cursor->own_context;
    cursor->columns = cursor->owned != NULL ? (void **)cursor->owned : cursor->columns_inline;
    cursor->slice.columns = cursor->columns;
    if (is_first && !cursor->is_plain) weft__source_begin(cursor, 0, cursor->end);
}

static bool views_reserve(weft__query *query)
{
    weft__query_flat *flat = &query->flat;
    if (flat->view_capacity >= flat->capacity) return true;
    weft__memory *memory = &query->world->memory;
    size_t bytes = weft__query_view_bytes(query);
    weft__view *views =
        weft__alloc(memory, WEFT__MEMORY_QUERIES, flat->capacity, bytes, WEFT__FLAT_ALIGNMENT);
    if (views == NULL) return false;
    weft__free(memory, WEFT__MEMORY_QUERIES, flat->views, flat->view_capacity, bytes,
               WEFT__FLAT_ALIGNMENT);
    flat->views = views;
    flat->view_capacity = flat->capacity;
    return true;
}

weft_result weft__query_views_prepare(weft__query *query)
{
    weft__query_flat *flat = &query->flat;
    weft_result result = weft__query_flat_prepare(query);
    if (result != WEFT_OK) return result;
    if (!views_reserve(query))
        return weft__error_memory(query->world, "the list of chunks of a query");
    void **columns = (void **)(void *)(flat->views + flat->view_capacity);
    for (uint32_t i = 0; i < flat->count; i++, columns += query->term_count) {
        const weft__flat_entry *entry = &flat->entries[i];
        uint32_t slices = entry[1].first_slice - entry->first_slice;
        uint32_t stamps = entry->x_written != NULL && slices != 0 ? 1 : 0;
        weft__query_columns(query, entry->match, entry->chunk, 0, columns);
        flat->views[i] = (weft__view){
            .columns = columns,
            .entities = weft__chunk_entities(entry->chunk),
            .first = entry->first_row,
            .index = entry->first_slice,
            .chunk = entry->chunk,
            .places = weft__match_places(query, entry->match),
            .x_written = entry->x_written,
            .count = entry->count,
            .stamps = query->stamp_count > 1 || (stamps != 0 && slices > 1) ? 2 : stamps};
    }
    flat->view_version = flat->version;
    return WEFT_OK;
}

/* The query of a loop that may begin now, its list of chunks current. NULL: error set. */
static inline weft__query_handle *find_iterable(weft_world *world, weft_query name)
{
    weft__query_handle *handle = weft__query_find(world, name);
    if (__builtin_expect(handle == NULL, 0)) return weft__query_find_checked(world, name);
    weft__query *query = handle->query;
    const uint32_t never = (uint32_t)(WEFT__BUSY_STEPPING | WEFT__BUSY_PLAYBACK);
    if (__builtin_expect((world->front.busy & ~(uint32_t)WEFT__BUSY_CURSORS) != 0, 0) &&
        (query->write_count != 0 || (world->front.busy & never) != 0)) {
        weft__error_busy(world, "weft_query_begin");
        return NULL;
    }
    bool is_current = query->flat.view_version == world->front.structure_version;
    return is_current || weft__query_views_prepare(query) == WEFT_OK ? handle : NULL;
}

/* Columns of a query with many terms; in checked builds part of what watches the loop. NULL: no
 * memory. */
static void *alloc_columns(const weft__query *query)
{
    if (WEFT_IS_CHECKED) return weft__owner_loop_open(query);
    return weft__alloc(&query->world->memory, WEFT__MEMORY_QUERIES, query->term_count,
                       sizeof(void *), WEFT__QUERY_ALIGNMENT);
}

/* The address of the result is not taken: so it is built in the caller's place, not copied (400
 * bytes, 25 ns). Its inner pointers are set by settle. */
weft_cursor weft_query_begin(weft_world *world, weft_query name)
{
    weft_cursor cursor;
    cursor.is_open = false;
    cursor.is_plain = false;
    cursor.context = NULL;
    cursor.view = cursor.view_end = NULL;
    cursor.position = cursor.end = 0;
    weft__query_handle *handle = world == NULL ? NULL : find_iterable(world, name);
    if (handle == NULL) return cursor;
    const weft__query *query = handle->query;
    cursor.owned = NULL;
    if (WEFT_IS_CHECKED || query->term_count > WEFT_INLINE_TERMS) {
        cursor.owned = alloc_columns(query);
        if (cursor.owned == NULL && query->term_count > WEFT_INLINE_TERMS) {
            weft__error_memory(world, "the columns of a cursor");
            return cursor;
        }
    }
    cursor.filter = weft__filter_is_empty(&handle->filter) ? NULL : &handle->filter;
    cursor.ignores_masks = !query->has_masking_terms;
    cursor.is_plain = cursor.filter == NULL && cursor.ignores_masks;
    if (cursor.is_plain) {
        cursor.view = query->flat.views;
        cursor.view_end = query->flat.views + query->flat.count;
    } else {
        cursor.end = weft__query_slice_count(query);
    }
    cursor.run_slices = UINT32_MAX;
    cursor.has_since = false;
    cursor.skips_columns = false;
    cursor.is_in_system = false;
    cursor.own_context.ops = &weft__slice_ops_owner;
    cursor.own_context.world = world;
    cursor.own_context.query = query;
    cursor.own_context.stamp = world->front.version;
    cursor.own_context.since = 0;
    cursor.slice.term_count = query->term_count;
    cursor.slice.enabled = NULL;
    cursor.slice.worker = 0;
    cursor.slice.dt = 0;
    cursor.slice.calls = weft__query_calls(query);
    cursor.is_open = true;
    world->front.busy++;
    return cursor;
}

/* The stamps of a chunk with several slices, or of several terms; apart, so that small chunks save
 * no registers. */
static __attribute__((noinline)) void stamp_chunk(const weft__query *query, const weft__view *view,
                                                  uint32_t stamp)
{
    const weft__flat_entry *entry = &query->flat.entries[view - query->flat.views];
    stamp_entry(query, entry, 0, entry[1].first_slice - entry->first_slice, stamp);
}

static_assert(offsetof(weft_slice, entities) == offsetof(weft_slice, columns) + 8 &&
                  offsetof(weft_slice, index) == offsetof(weft_slice, first) + 8 &&
                  offsetof(weft_slice, worker) == offsetof(weft_slice, first) + 12 &&
                  offsetof(weft_slice, places) == offsetof(weft_slice, chunk) + 8 &&
                  offsetof(weft__view, entities) == offsetof(weft__view, columns) + 8 &&
                  offsetof(weft__view, worker) == offsetof(weft__view, first) + 12 &&
                  offsetof(weft__view, places) == offsetof(weft__view, chunk) + 8,
              "a view is copied in pairs");

/* The whole next chunk: a cursor without filter and masks counts entries, not slices. */
static inline void next_chunk(weft_cursor *cursor, const weft__view *view)
{
    char *slice = (char *)&cursor->slice;
    const char *from = (const char *)view;
    cursor->slice.count = view->count;
    memcpy(slice + offsetof(weft_slice, columns), from + offsetof(weft__view, columns), 16);
    memcpy(slice + offsetof(weft_slice, first), from + offsetof(weft__view, first), 16);
    memcpy(slice + offsetof(weft_slice, chunk), from + offsetof(weft__view, chunk), 16);
    uint32_t stamp = cursor->own_context.stamp;
    if (__builtin_expect(view->stamps == 1, 1))
        weft__stamp(view->x_written, stamp);
    else if (view->stamps != 0)
        stamp_chunk(cursor->own_context.query, view, stamp);
}

/* Every other case; apart, so that the plain one saves no registers. */
static __attribute__((noinline)) bool next_otherwise(weft_cursor *cursor)
{
    if (!cursor->is_open) return false;
    if (cursor->context != &cursor->own_context) {
        settle(cursor);
        return weft_query_next(cursor);
    }
    if (!cursor->is_plain && next_run(cursor)) {
        if (WEFT_IS_CHECKED) weft__owner_loop_enter(cursor);
        return true;
    }
    weft_query_end(cursor);
    return false;
}

bool weft_query_next(weft_cursor *cursor)
{
    if (WEFT_IS_CHECKED && cursor->is_open) weft__owner_loop_leave(cursor, "weft_query_next");
    const weft__view *view = cursor->view;
    if (__builtin_expect(view == cursor->view_end || cursor->context != &cursor->own_context, 0))
        return next_otherwise(cursor);
    cursor->view = view + 1;
    next_chunk(cursor, view);
    if (WEFT_IS_CHECKED) weft__owner_loop_enter(cursor);
    return true;
}

void weft_query_end(weft_cursor *cursor)
{
    if (cursor == NULL || !cursor->is_open) return;
    const weft__query *query = cursor->own_context.query;
    if (WEFT_IS_CHECKED && !cursor->is_in_system)
        weft__owner_loop_close(cursor);
    else
        weft__query_free(query->world, cursor->owned, query->term_count, sizeof(void *));
    cursor->owned = NULL;
    cursor->is_open = false;
    cursor->is_plain = false;
    cursor->view = cursor->view_end = NULL;
    if (cursor->is_in_system) return;
    WEFT_ASSERT((query->world->front.busy & WEFT__BUSY_CURSORS) != 0);
    query->world->front.busy--;
}
