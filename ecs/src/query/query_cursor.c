/* SPDX-License-Identifier: MIT */
/* query_cursor.c: the walk over the flat list of a query's chunks that yields runs of rows.
 *
 * The same walk serves the owner's loops, jobs (each with a range of slice positions) and counts.
 * Adjacent slices of a chunk are merged into one run as long as filters pass and all of their rows
 * are enabled, or only some in each: then as many as the cursor's mask holds. */
#include "query_cursor.h"
#include "guard.h"
#include "host.h"
#include "world_state.h"

#include <stdio.h>

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

static const uint32_t *override_since(const weft__source *source)
{
    return source->has_since ? &source->since : NULL;
}

/* Decides the chunk-level filters of the entry the source has come to. */
static inline void judge_entry(weft__source *source, const weft__query *query,
                               const weft__flat_entry *entry)
{
    source->verdict =
        source->filter == NULL || entry->chunk == NULL
            ? WEFT__FILTER_PASS
            : weft__filter_chunk(source->filter, weft__match_places(query, entry->match),
                                 entry->chunk, override_since(source));
}

/* `columns` gets the pointers: [term_count]. `context` must outlive the source. Default: everything
 * merged that can be, filter's own versions. Any thread; allocates nothing. */
static void source_init(weft__source *source, const weft_slice_context *context,
                        const weft__filter *filter, void **columns)
{
    const weft__query *query = context->query;
    source->context = context;
    source->filter = filter == NULL || weft__filter_is_empty(filter) ? NULL : filter;
    source->columns = columns;
    source->run_slices = UINT32_MAX;
    source->since = 0;
    source->has_since = false;
    source->skips_columns = false;
    source->ignores_masks = !query->has_masking_terms;
    source->position = 0;
    source->end = 0;
    source->slice = (weft_slice){.term_count = query->term_count,
                                 .calls = weft__query_calls(query),
                                 .context = (void *)(uintptr_t)context};
}

void weft__source_init_rows(weft__source *source, const weft_slice_context *context,
                            const weft__filter *filter, bool ignores_masks)
{
    source_init(source, context, filter, NULL);
    source->skips_columns = true;
    source->ignores_masks = source->ignores_masks || ignores_masks;
}

void weft__source_begin(weft__source *source, uint32_t begin, uint32_t end)
{
    const weft__query *query = source->context->query;
    WEFT_ASSERT(begin <= end && end <= weft__query_slice_count(query));
    source->position = begin;
    source->end = end;
    if (begin == end) return;
    source->entry = begin == 0 ? 0 : weft__query_flat_find(query, begin);
    judge_entry(source, query, &query->flat.entries[source->entry]);
}

/* Comes to the next entry; with a filter, to the next one that it does not reject as a whole. */
static const weft__flat_entry *next_entry(weft__source *source, const weft__query *query,
                                          const weft__flat_entry *entry)
{
    do {
        entry++;
        if (source->filter == NULL) break;
        judge_entry(source, query, entry);
    } while (source->verdict == WEFT__FILTER_SKIP && entry[1].first_slice < source->end);
    source->entry = (uint32_t)(entry - query->flat.entries);
    source->position = entry->first_slice;
    return entry;
}

/* Narrows a run to the slices that the filter lets pass; false: none of them, the source moved. */
static bool narrow_by_filter(weft__source *source, const weft__flat_entry *entry,
                             const weft__place *places, slice_run *run)
{
    if (source->verdict == WEFT__FILTER_PASS) return true;
    const uint32_t *since = override_since(source);
    if (source->verdict == WEFT__FILTER_SLICES)
        run->begin =
            weft__filter_next(source->filter, places, entry->chunk, run->begin, run->end, since);
    else
        run->begin = run->end;
    source->position = entry->first_slice + run->begin;
    if (run->begin == run->end) return false;
    run->end =
        weft__filter_run_end(source->filter, places, entry->chunk, run->begin + 1, run->end, since);
    return true;
}

/* The end of the slices from `begin` on that need a mask, the first one's being there: the masks of
 * the others follow it as long as there is room. */
static uint32_t merge_masks(weft__source *source, const weft__query *query,
                            const weft__flat_entry *entry, const slice_run *run)
{
    uint32_t words = 1u << (entry->layout->slice_shift - 6), most = WEFT_MASK_WORDS / words;
    if (most > source->run_slices) most = source->run_slices;
    if (most > run->end - run->begin) most = run->end - run->begin;
    uint32_t count = 1;
    while (count < most &&
           weft__query_mask(query, entry->match, entry->chunk, run->begin + count,
                            source->mask + (size_t)count * words) == WEFT__ROWS_SOME)
        count++;
    return run->begin + count;
}

/* Narrows a run to slices whose rows are all enabled, or to slices that need a mask; false: the
 * first slice has no enabled row, the source moved past it. */
static bool narrow_by_mask(weft__source *source, const weft__query *query,
                           const weft__flat_entry *entry, slice_run *run)
{
    if (query->flat.rare != NULL) { /* every row needs it */
        run->begin = weft__query_rare_next(query, entry->chunk, run->begin, run->end);
        source->position = entry->first_slice + run->begin;
        if (run->begin == run->end) return false;
    }
    weft__rows rows = weft__query_mask(query, entry->match, entry->chunk, run->begin, source->mask);
    if (rows == WEFT__ROWS_NONE) {
        source->position++;
        return false;
    }
    uint32_t end = run->begin + 1;
    if (rows == WEFT__ROWS_SOME) {
        run->mask = source->mask;
        end = merge_masks(source, query, entry, run);
    } else {
        while (end < run->end &&
               weft__query_mask_guess(query, entry->match, entry->chunk, end) == WEFT__ROWS_ALL)
            end++;
    }
    run->end = end;
    return true;
}

static bool narrow(weft__source *source, const weft__query *query, const weft__flat_entry *entry,
                   slice_run *run)
{
    if (source->filter != NULL &&
        !narrow_by_filter(source, entry, weft__match_places(query, entry->match), run))
        return false;
    if (source->ignores_masks || !query->matches[entry->match].has_masks) return true;
    return narrow_by_mask(source, query, entry, run);
}

/* Makes the run the slice. */
static inline void emit(const weft__source *source, const weft__query *query,
                        const weft__flat_entry *entry, const slice_run *run, weft_slice *slice)
{
    const weft__layout *layout = entry->layout;
    const weft__place *places = weft__match_places(query, entry->match);
    uint32_t row = run->begin << layout->slice_shift, end_row = run->end << layout->slice_shift;
    slice->count = (end_row < entry->count ? end_row : entry->count) - row;
    slice->columns = source->columns;
    slice->entities = (const weft_entity *)(const void *)entry->base + row;
    slice->enabled = run->mask;
    slice->first = entry->first_row + row;
    slice->index = entry->first_slice + run->begin;
    slice->chunk = entry->chunk;
    slice->places = places;
    if (!source->skips_columns)
        fill_columns(places, query->term_count, entry->base, layout->columns, row, source->columns);
    if (source->context->stamp != 0)
        stamp_entry(query, entry, run->begin, run->end, source->context->stamp);
}

static inline bool next_run(weft__source *source, weft_slice *slice)
{
    const weft__query *query = source->context->query;
    while (source->position < source->end) {
        const weft__flat_entry *entry = &query->flat.entries[source->entry];
        if (source->position >= entry[1].first_slice) entry = next_entry(source, query, entry);
        uint32_t end = entry[1].first_slice < source->end ? entry[1].first_slice : source->end;
        slice_run run = {.begin = source->position - entry->first_slice,
                         .end = end - entry->first_slice};
        if ((source->filter != NULL || !source->ignores_masks) &&
            !narrow(source, query, entry, &run))
            continue;
        if (run.end - run.begin > source->run_slices) run.end = run.begin + source->run_slices;
        source->position = entry->first_slice + run.end;
        emit(source, query, entry, &run, slice);
        return true;
    }
    return false;
}

bool weft__source_next(weft__source *source)
{
    return next_run(source, &source->slice);
}

/* ---- lists of chunks for cursors ---- */

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
    if (WEFT_IS_CHECKED && weft__is_held(world, "weft_query_begin")) return NULL;
    if (__builtin_expect((world->front.busy & ~(uint32_t)WEFT__BUSY_CURSORS) != 0, 0) &&
        (query->write_count != 0 || (world->front.busy & WEFT__BUSY_STEPPING) != 0)) {
        weft__error_busy(world, "weft_query_begin");
        return NULL;
    }
    bool is_current = query->flat.view_version == world->front.structure_version;
    return is_current || weft__query_views_prepare(query) == WEFT_OK ? handle : NULL;
}

/* ---- loops ---- */

#define LOOP_ALIGNMENT ((size_t)64)

/* It is free for another: its copies have another ticket. */
static void loop_end(weft__query_loop *loop)
{
    weft__query_loops *pool = loop->pool;
    if (__builtin_expect(loop->owned != NULL, 0)) {
        WEFT__FREE(pool->memory, WEFT__MEMORY_QUERIES, loop->owned, loop->owned_count);
        loop->owned = NULL;
    }
    if (WEFT_IS_CHECKED) loop->shown = (weft_slice){0};
    loop->ticket++;
    loop->next_free = pool->free;
    pool->free = loop;
}

static __attribute__((noinline)) weft__query_loop *loop_make(weft__query_loops *pool)
{
    weft__query_loop *loop =
        weft__alloc_zeroed(pool->memory, WEFT__MEMORY_QUERIES, 1, sizeof *loop, LOOP_ALIGNMENT);
    if (loop == NULL) return NULL;
    loop->pool = pool;
    loop->next = pool->all;
    pool->all = loop;
    return loop;
}

/* Columns of a query with many terms. False: no memory. */
static __attribute__((noinline)) bool own_columns(weft__query_loop *loop, uint32_t term_count)
{
    loop->owned = WEFT__NEW(loop->pool->memory, WEFT__MEMORY_QUERIES, term_count, void *);
    loop->owned_count = term_count;
    loop->source.columns = loop->owned;
    return loop->owned != NULL;
}

/* What a loop with filters or masks needs; a plain one takes columns from the views. */
static bool begin_source(weft__query_loop *loop, const weft__query *query,
                         const weft__filter *filter)
{
    source_init(&loop->source, &loop->context, filter, loop->columns);
    loop->is_begun = false;
    if (query->term_count > WEFT_INLINE_TERMS && !own_columns(loop, query->term_count))
        return false;
    return true;
}

/* A loop of the pool for a query whose lists are current; the rest of its context is the caller's.
 * NULL: no memory. */
static inline weft__query_loop *loop_begin(weft__query_loops *pool, const weft__query *query,
                                           const weft__filter *filter)
{
    weft__query_loop *loop = pool->free;
    if (__builtin_expect(loop != NULL, 1))
        pool->free = loop->next_free;
    else if ((loop = loop_make(pool)) == NULL)
        return NULL;
    loop->context.query = query;
    loop->is_plain = !query->has_masking_terms && weft__filter_is_empty(filter);
    loop->ticket++;
    if (__builtin_expect(loop->is_plain, 1) || begin_source(loop, query, filter)) return loop;
    loop_end(loop);
    return NULL;
}

/* The address of the cursor is not taken where it is returned: so it is built in the caller's
 * place, not copied. */
static inline void show(weft_cursor *cursor, const weft__query *query, weft__query_loop *loop)
{
    cursor->slice.term_count = query->term_count;
    cursor->slice.enabled = NULL;
    cursor->slice.worker = 0;
    cursor->slice.dt = 0;
    cursor->slice.calls = weft__query_calls(query) | (WEFT_IS_CHECKED ? WEFT__SLICE_SHOWN : 0);
    cursor->slice.context = &loop->context;
    cursor->view = loop->is_plain ? query->flat.views : NULL;
    cursor->view_end = loop->is_plain ? query->flat.views + query->flat.count : NULL;
    cursor->position = 0;
    cursor->loop = loop;
    cursor->ticket = loop->ticket;
}

bool weft__loop_begin(weft__query_loops *pool, weft_cursor *cursor,
                      const weft_slice_context *context, const weft__filter *filter)
{
    weft__query_loop *loop = loop_begin(pool, context->query, filter);
    if (loop == NULL) return false;
    loop->context = *context;
    loop->source.since = context->since;
    loop->source.has_since = true;
    show(cursor, context->query, loop);
    return true;
}

uint32_t weft__loops_open(const weft__query_loops *pool)
{
    uint32_t open = 0;
    for (const weft__query_loop *loop = pool->all; loop != NULL; loop = loop->next)
        open += (uint32_t)(loop->ticket & 1);
    return open;
}

void weft__loops_end(weft__query_loops *pool)
{
    for (weft__query_loop *loop = pool->all; loop != NULL; loop = loop->next)
        if ((loop->ticket & 1) != 0) loop_end(loop);
}

void weft__loops_free(weft__query_loops *pool)
{
    weft__loops_end(pool);
    for (weft__query_loop *loop = pool->all; loop != NULL;) {
        weft__query_loop *next = loop->next;
        weft__free(pool->memory, WEFT__MEMORY_QUERIES, loop, 1, sizeof *loop, LOOP_ALIGNMENT);
        loop = next;
    }
    pool->all = pool->free = NULL;
}

/* ---- cursors ---- */

weft_cursor weft_query_begin(weft_world *world, weft_query name)
{
    weft_cursor cursor;
    cursor.view = cursor.view_end = NULL;
    cursor.loop = NULL;
    weft__query_handle *handle = world == NULL ? NULL : find_iterable(world, name);
    if (handle == NULL) return cursor;
    const weft__query *query = handle->query;
    weft__query_loop *loop = loop_begin(&world->front.queries->loops, query, &handle->filter);
    if (loop == NULL) {
        weft__error_memory(world, "a loop over a query");
        return cursor;
    }
    loop->context.ops = &weft__slice_ops_owner; /* one by one: a struct would be copied in halves
                                                   that were just stored in quarters */
    loop->context.world = world;
    loop->context.stamp = world->front.version;
    loop->context.since = 0;
    show(&cursor, query, loop);
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

/* The whole next chunk: a loop without filter and masks counts entries, not slices. */
static inline void next_chunk(weft_cursor *cursor, const weft__query_loop *loop,
                              const weft__view *view)
{
    char *slice = (char *)&cursor->slice;
    const char *from = (const char *)view;
    cursor->slice.count = view->count;
    memcpy(slice + offsetof(weft_slice, columns), from + offsetof(weft__view, columns), 16);
    memcpy(slice + offsetof(weft_slice, first), from + offsetof(weft__view, first), 16);
    memcpy(slice + offsetof(weft_slice, chunk), from + offsetof(weft__view, chunk), 16);
    uint32_t stamp = loop->context.stamp;
    if (__builtin_expect(view->stamps == 1, 1))
        weft__stamp(view->x_written, stamp);
    else if (view->stamps != 0)
        stamp_chunk(loop->context.query, view, stamp);
}

/* The next run from where the cursor is: another copy may have been elsewhere. */
static bool next_position(weft__query_loop *loop, weft_cursor *cursor)
{
    weft__source *source = &loop->source;
    if (!loop->is_begun || source->position != cursor->position)
        weft__source_begin(source, cursor->position, weft__query_slice_count(loop->context.query));
    loop->is_begun = true;
    bool is_there = next_run(source, &cursor->slice);
    cursor->position = source->position;
    return is_there;
}

/* Every other case; apart, so that the plain one saves no registers. */
static __attribute__((noinline)) bool next_otherwise(weft_cursor *cursor)
{
    weft__query_loop *loop = cursor->loop;
    if (loop == NULL || loop->ticket != cursor->ticket) return false;
    if (!loop->is_plain && next_position(loop, cursor)) {
        if (WEFT_IS_CHECKED) loop->shown = cursor->slice;
        return true;
    }
    weft_query_end(cursor);
    return false;
}

bool weft_query_next(weft_cursor *cursor)
{
    const weft__view *view = cursor->view;
    weft__query_loop *loop = cursor->loop;
    if (__builtin_expect(view == cursor->view_end, 0) ||
        __builtin_expect(loop->ticket != cursor->ticket, 0))
        return next_otherwise(cursor);
    cursor->view = view + 1;
    next_chunk(cursor, loop, view);
    if (WEFT_IS_CHECKED) loop->shown = cursor->slice;
    return true;
}

void weft_query_end(weft_cursor *cursor)
{
    weft__query_loop *loop = cursor == NULL ? NULL : cursor->loop;
    if (loop == NULL || loop->ticket != cursor->ticket) return;
    weft_world *world = loop->context.world;
    bool is_owners = loop->pool == &world->front.queries->loops;
    loop_end(loop);
    if (!is_owners) return;
    WEFT_ASSERT((world->front.busy & WEFT__BUSY_CURSORS) != 0);
    world->front.busy--;
}

bool weft__owner_loops_end(weft_world *world)
{
    if (__builtin_expect((world->front.busy & WEFT__BUSY_CURSORS) == 0, 1)) return false;
    weft__query_loop *loop = world->front.queries->loops.all;
    for (; loop != NULL; loop = loop->next) {
        weft_cursor cursor = {.loop = loop, .ticket = loop->ticket};
        if ((loop->ticket & 1) != 0) weft_query_end(&cursor);
    }
    return true;
}

/* ---- loops on the pool ---- */

/* What the parts of a loop share: lives on the caller's stack, constant while the loop runs. */
typedef struct each_loop {
    weft_slice_context context;
    const weft__filter *filter;
    void (*run)(weft_slice *slice, void *user);
    void *user;
} each_loop;

static void call(const each_loop *loop, weft_slice *slice)
{
    weft__guard *guard =
        WEFT_IS_CHECKED ? weft__guard_of(loop->context.world, slice->worker) : NULL;
    weft__guard_frame frame;
    if (WEFT_IS_CHECKED) {
        weft__guard_open(guard, slice, NULL, 0, &frame);
        slice = frame.slice;
    }
    loop->run(slice, loop->user);
    if (WEFT_IS_CHECKED) weft__guard_close(guard, &frame);
}

/* The bytes from one slice of a run to the next in each column; 0 where there is none. */
static void find_steps(const weft_slice *run, uint32_t slice_rows, size_t *steps)
{
    const weft__place *places = run->places;
    const weft__layout *layout = ((const weft__chunk *)run->chunk)->layout;
    for (uint32_t t = 0; t < run->term_count; t++) {
        uint32_t column = places[t].column;
        steps[t] = column == WEFT__NO_PLACE ? 0 : layout->columns[column].bytes * slice_rows;
    }
}

/* Calls for a run of slices of a chunk. From one slice to the next by additions: nothing but the
 * columns is touched in between, neither the list of chunks nor versions (stamped for the whole
 * run before; a callback may ask for those of its own slice only). */
static void sweep(const each_loop *loop, weft__source *source, size_t *steps)
{
    weft_slice *slice = &source->slice;
    const uint32_t slice_rows = 1u << ((const weft__chunk *)slice->chunk)->layout->slice_shift;
    uint32_t rows = slice->count;
    if (rows > slice_rows) find_steps(slice, slice_rows, steps);
    for (; rows > slice_rows; rows -= slice_rows) {
        slice->count = slice_rows;
        call(loop, slice);
        slice->entities += slice_rows;
        slice->first += slice_rows;
        slice->index++;
        for (uint32_t t = 0; t < slice->term_count; t++) /* NULL: 0 bytes */
            source->columns[t] = (void *)((uintptr_t)source->columns[t] + steps[t]);
    }
    slice->count = rows;
    call(loop, slice);
}

static int each_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const each_loop *loop = argument;
    const weft__query *query = loop->context.query;
    void *few[WEFT_INLINE_TERMS * 4], **columns = few;
    if (query->term_count > sizeof few / sizeof few[0])
        columns = WEFT__NEW(&query->world->memory, WEFT__MEMORY_QUERIES, query->term_count, void *);
    if (columns == NULL) return WEFT_OUT_OF_MEMORY;
    size_t steps[sizeof few / sizeof few[0]];
    weft__source source;
    source_init(&source, &loop->context, loop->filter, columns);
    if (query->has_masking_terms || columns != few) source.run_slices = 1;
    source.slice.worker = weft_job_worker_index(job);
    weft__callback_error *record = &query->world->callback_errors[source.slice.worker];
    const uint32_t *outer = record->current;
    record->current = &source.slice.index;
    weft__callback_error *before = weft__error_divert(record);
    weft__source_begin(&source, begin, end);
    while (weft__source_next(&source)) sweep(loop, &source, steps);
    weft__error_divert(before);
    record->current = outer;
    if (columns != few)
        WEFT__FREE(&query->world->memory, WEFT__MEMORY_QUERIES, columns, query->term_count);
    return 0;
}

/* The cost of a loop of this query with this function; another function starts from zero. A loop
 * that did not know its cost would measure itself slice by slice each time, and never learn that
 * a split does not gain. */
static weft_job_cost *each_cost(weft__query_handle *handle, void (*run)(weft_slice *, void *))
{
    if (handle->each_run != run) handle->each_cost = (weft_job_cost){0};
    handle->each_run = run;
    return &handle->each_cost;
}

/* Room for the copies of the largest slice. */
static void reserve_copies(weft_world *world, const weft__query *query)
{
    size_t most = 0;
    for (uint32_t i = 0; i < query->flat.count; i++) {
        const weft__flat_entry *entry = &query->flat.entries[i];
        uint32_t rows = 1u << entry->layout->slice_shift;
        size_t bytes =
            weft__guard_bytes(entry->layout, rows < entry->count ? rows : entry->count,
                              weft__match_places(query, entry->match), query->term_count);
        if (bytes > most) most = bytes;
    }
    weft__guards_reserve(world, most);
}

/* ---- mistakes ---- */

static weft__callback_error *errors_make(weft_world *world)
{
    uint32_t count = weft_job_pool_worker_count(world->front.host.pool);
    weft__callback_error *errors =
        WEFT__NEW_ZEROED(&world->memory, WEFT__MEMORY_QUERIES, count, *errors);
    for (uint32_t i = 0; i < count && errors != NULL; i++) errors[i].world = world;
    return errors;
}

void weft__callback_errors_free(weft_world *world)
{
    if (world->callback_errors == NULL) return;
    WEFT__FREE(&world->memory, WEFT__MEMORY_QUERIES, world->callback_errors,
               weft_job_pool_worker_count(world->front.host.pool));
    world->callback_errors = NULL;
}

/* The error of the lowest slice becomes the world's. Returns it when it is a declaration that was
 * broken; else the callback was told by what it called. */
static weft_result take_errors(weft_world *world)
{
    const weft__callback_error *first = NULL;
    uint32_t count = weft_job_pool_worker_count(world->front.host.pool);
    for (uint32_t i = 0; i < count; i++) {
        const weft__callback_error *record = &world->callback_errors[i];
        if (record->error.number == 0) continue;
        if (first == NULL || record->slice < first->slice) first = record;
    }
    if (first == NULL) return WEFT_OK;
    uint32_t slice = first->slice;
    weft_error error = first->error;
    for (uint32_t i = 0; i < count; i++) world->callback_errors[i].error.number = 0;
    weft__error(world, error.code, error.entity, error.component,
                "weft_query_each_parallel, slice %u: %s", slice, error.text);
    bool is_broken = error.code == WEFT_UNDECLARED_ACCESS || error.code == WEFT_TYPE_MISMATCH;
    return WEFT_IS_CHECKED && is_broken ? error.code : WEFT_OK;
}

/* Takes what the loop's copies have found; the first one by slice and row is the error. */
static weft_result take_strays(weft_world *world)
{
    weft__stray first = {.slice = UINT32_MAX};
    weft__guards *guards = world->guards;
    for (uint32_t i = 0; guards != NULL && i < guards->count; i++) {
        weft__guard *guard = &guards->guards[i];
        uint32_t kept = 0;
        weft__guard_sweep(guard);
        for (uint32_t k = 0; k < guard->strays.count; k++) {
            const weft__stray stray = guard->strays.at[k];
            bool is_before =
                stray.slice < first.slice || (stray.slice == first.slice && stray.row < first.row);
            if (stray.owner != 0)
                guard->strays.at[kept++] = stray; /* of a system: for the end of its step */
            else if (first.places == 0 || is_before)
                first = stray;
        }
        guard->strays.count = kept;
    }
    if (first.places == 0) return WEFT_OK;
    char row[32] = "";
    if (first.row != WEFT__STRAY_NO_ROW) snprintf(row, sizeof row, ", row %u", first.row);
    return weft__error(world, WEFT_UNDECLARED_ACCESS, first.entity,
                       weft__component(world, first.component),
                       "weft_query_each_parallel, slice %u%s: component %s %s", first.slice, row,
                       weft__type_name(world, first.component), weft__stray_text(first.kind));
}

/* The calling thread is the world's host. */
static weft_result each(weft_world *world, weft_query query,
                        void (*run)(weft_slice *slice, void *user), void *user)
{
    if (run == NULL)
        return weft__error_argument(world, "weft_query_each_parallel",
                                    "run is NULL: give a function");
    weft_result result = weft__idle(world, "weft_query_each_parallel");
    if (result != WEFT_OK) return result;
    weft__query_handle *handle = weft__query_find_checked(world, query);
    if (handle == NULL) return WEFT_BAD_HANDLE;
    result = weft__query_flat_prepare(handle->query);
    if (result != WEFT_OK) return result;
    each_loop loop = {.context = {.ops = &weft__slice_ops_owner,
                                  .world = world,
                                  .query = handle->query,
                                  .stamp = world->front.version},
                      .filter = &handle->filter,
                      .run = run,
                      .user = user};
    if (world->callback_errors == NULL) world->callback_errors = errors_make(world);
    if (world->callback_errors == NULL) return weft__error_memory(world, "a loop on the pool");
    weft_job_for_desc desc = {.fn = each_part,
                              .argument = &loop,
                              .count = weft__query_slice_count(handle->query),
                              .cost = each_cost(handle, run),
                              .name = "weft_query_each_parallel"};
    int code = 0;
    if (WEFT_IS_CHECKED) reserve_copies(world, handle->query);
    world->front.busy |= WEFT__BUSY_STEPPING;
    result = weft_job_for(world->front.host.context, &desc, &code);
    world->front.busy &= ~(uint32_t)WEFT__BUSY_STEPPING;
    weft_result mistake = take_errors(world);
    if (WEFT_IS_CHECKED && result == WEFT_OK) {
        weft_result stray = take_strays(world);
        return stray == WEFT_OK ? mistake : stray;
    }
    if (result == WEFT_OK) return WEFT_OK;
    if (result == WEFT_JOB_FAILED) return weft__error_memory(world, "the columns of a loop");
    return weft__error(world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                       "weft_query_each_parallel: the loop could not run on the pool: %s",
                       weft_result_text(result));
}

weft_result weft_query_each_parallel(weft_world *world, weft_query query,
                                     void (*run)(weft_slice *slice, void *user), void *user)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__host_begin(world, "weft_query_each_parallel");
    if (result != WEFT_OK) return result;
    result = each(world, query, run, user);
    weft__host_end(world);
    return result;
}
