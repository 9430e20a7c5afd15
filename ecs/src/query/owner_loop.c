/* SPDX-License-Identifier: MIT */
/* owner_loop.c: shadows of the chunks that loops of the owner stand on or have left.
 *
 * What is compared with what, and which difference is right: owner_loop.h. Pointers that were given
 * are in given_values.h. */
#include "owner_loop.h"

#include "archetype_state.h"
#include "error.h"
#include "format.h"
#include "given_values.h"
#include "query_match.h"
#include "query_memory.h"

#include <stdio.h>
#include <string.h>

#define SHADOWS 8u /* of the chunks last come to; more loops than that in each other: unwatched */
#define MARGIN_ROWS 2 /* compared behind the last row, where there is room */

/* A loop that is open. Owner: weft__owner_loops, from open to close. */
typedef struct watched {
    struct watched *next;
    const weft__chunk *chunk; /* of its slice; NULL: between slices */
    uint32_t first, count;    /* rows of it */
    uint32_t term_count;
    uint32_t written_count;
    uint32_t written[]; /* [written_count] columns of the chunk; room for term_count */
} watched;

/* A chunk as it should be. Owner: weft__owner_loops. */
typedef struct shadow {
    const weft__chunk *chunk; /* NULL: none */
    char *bytes;              /* columns at the same offsets */
    size_t size;
    uint64_t used;      /* when a loop last came to it */
    uint64_t structure; /* version of the world it was made for; of no use in another one */
} shadow;

/* Owner: the world. Only the owner touches it. open == NULL: no shadow has a chunk. */
typedef struct weft__owner_loops {
    watched *open;
    shadow shadows[SHADOWS];
    uint64_t uses;
    bool has_reported; /* in the call that is going on: the first mistake stays */
} weft__owner_loops;

static weft__owner_loops *loops_of(weft_world *world)
{
    if (world->owner_loops == NULL)
        world->owner_loops = weft__alloc_zeroed(&world->memory, WEFT__MEMORY_QUERIES, 1,
                                                sizeof *world->owner_loops, 8);
    return world->owner_loops;
}

static const weft_slice_context *context_of(const weft_cursor *cursor)
{
    return &((const weft__query_loop *)cursor->loop)->context;
}

/* NULL: it is not watched, or has ended. */
static watched *watched_of(const weft_cursor *cursor)
{
    const weft__query_loop *loop = cursor->loop;
    return loop == NULL || loop->ticket != cursor->ticket ? NULL : loop->watch;
}

/* ---- what may differ ---- */

static bool is_in_slice(const watched *at, const weft__chunk *chunk, uint32_t row)
{
    return at != NULL && at->chunk == chunk && row - at->first < at->count;
}

static bool may_differ(const weft_world *world, const weft__chunk *chunk, uint32_t column,
                       uint32_t row)
{
    if (column == 0) return false; /* entity handles */
    for (const watched *at = world->owner_loops->open; at != NULL; at = at->next) {
        if (!is_in_slice(at, chunk, row)) continue;
        for (uint32_t i = 0; i < at->written_count; i++)
            if (at->written[i] == column) return true;
    }
    const weft__type *type = chunk->archetype->format->types[column];
    return weft__given_values_has(world, chunk, row, type->id);
}

/* ---- the report ---- */

/* The query of a loop by its terms: "a, b, ...". */
static void say_query(const weft_world *world, const weft__query *query, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < query->term_count && at + 1 < size; i++) {
        int more = snprintf(text + at, size - at, "%s%s", i == 0 ? "" : ", ",
                            weft__type_name(world, query->terms[i].component));
        at += more < 0 ? 0 : (size_t)more;
    }
}

/* `row` may be beyond the rows: behind the last one. `entities` as they should be. */
static void report(weft_cursor *cursor, const char *what, const weft__chunk *chunk, uint32_t column,
                   uint32_t row, const weft_entity *entities)
{
    weft_world *world = context_of(cursor)->world;
    const watched *at = watched_of(cursor);
    bool is_own = is_in_slice(at, chunk, row);
    weft_entity entity = row < chunk->count ? entities[row] : WEFT__NO_ENTITY;
    uint32_t id = column == 0 ? 0 : chunk->archetype->format->types[column]->id;
    char query[80], place[64];
    if (world->owner_loops->has_reported) return;
    world->owner_loops->has_reported = true;
    say_query(world, context_of(cursor)->query, query, sizeof query);
    if (is_own)
        snprintf(place, sizeof place, "row %u of the slice", row - at->first);
    else if (row < chunk->count)
        snprintf(place, sizeof place, "row %u of its chunk", row);
    else
        snprintf(place, sizeof place, "behind the last row of its chunk");
    weft__error(
        world, WEFT_UNDECLARED_ACCESS, entity, weft__component(world, id),
        "%s, loop over (%s): component %s, %s, %s", what, query,
        column == 0 ? "(entity handles)" : weft__type_name(world, id), place,
        is_own ? "was written, and the loop only reads it (undone): give it a term with "
                 "WEFT_WRITE, and write no row behind the last one of another column"
               : "was written outside of the slice (undone): rows are 0 to weft_slice_count - 1, "
                 "and a pointer is valid until the next weft_query_next or weft_query_end");
}

/* ---- shadows ---- */

/* Bytes of a column that are compared: its rows, and a little more where there is room. */
static size_t column_bytes(const weft__chunk *chunk, uint32_t column)
{
    const weft__layout *layout = chunk->layout;
    const weft__column *place = &layout->columns[column];
    uint32_t rows = chunk->count + MARGIN_ROWS;
    return (size_t)place->bytes * (rows < chunk->capacity ? rows : chunk->capacity);
}

static shadow *shadow_of(const weft_world *world, const weft__chunk *chunk)
{
    for (uint32_t i = 0; i < SHADOWS; i++) {
        shadow *kept = &world->owner_loops->shadows[i];
        if (kept->chunk == chunk && kept->structure == world->front.structure_version) return kept;
    }
    return NULL;
}

/* Makes a row of the shadow that of the chunk where it may differ, else the other way round. */
static void compare_row(weft_cursor *cursor, const char *what, const shadow *kept, uint32_t column,
                        uint32_t row)
{
    const weft__chunk *chunk = kept->chunk;
    const weft_world *world = context_of(cursor)->world;
    size_t bytes = chunk->layout->columns[column].bytes;
    char *now = weft__chunk_value(chunk, column, row);
    char *before = kept->bytes + (now - chunk->base);
    if (memcmp(now, before, bytes) == 0) return;
    if (row < chunk->count && may_differ(world, chunk, column, row)) {
        memcpy(before, now, bytes);
        return;
    }
    memcpy(now, before, bytes);
    report(cursor, what, chunk, column, row, (const weft_entity *)(const void *)kept->bytes);
}

static void compare(weft_cursor *cursor, const char *what, const shadow *kept)
{
    const weft__chunk *chunk = kept->chunk;
    if (chunk == NULL || kept->structure != context_of(cursor)->world->front.structure_version)
        return;
    for (uint32_t c = 0; c < chunk->layout->column_count; c++) {
        const weft__column *place = &chunk->layout->columns[c];
        size_t bytes = column_bytes(chunk, c);
        if (bytes == 0 ||
            memcmp(chunk->base + place->offset, kept->bytes + place->offset, bytes) == 0)
            continue;
        for (uint32_t row = 0; row < bytes / place->bytes; row++)
            compare_row(cursor, what, kept, c, row);
    }
}

static bool is_stood_on(const weft__owner_loops *loops, const weft__chunk *chunk)
{
    for (const watched *at = loops->open; at != NULL; at = at->next)
        if (at->chunk == chunk) return true;
    return false;
}

/* The shadow that was not used for the longest time; NULL: all are in use. */
static shadow *oldest(weft__owner_loops *loops)
{
    shadow *found = NULL;
    for (uint32_t i = 0; i < SHADOWS; i++) {
        shadow *kept = &loops->shadows[i];
        if (kept->chunk == NULL) return kept;
        if (is_stood_on(loops, kept->chunk)) continue;
        if (found == NULL || kept->used < found->used) found = kept;
    }
    return found;
}

/* Makes the shadow of a chunk; false: no memory. */
static bool cast(weft_world *world, shadow *kept, const weft__chunk *chunk)
{
    size_t size = weft__class_bytes(chunk->layout->size_class);
    if (kept->size < size) {
        char *bytes = weft__alloc(&world->memory, WEFT__MEMORY_QUERIES, size, 1, 64);
        if (bytes == NULL) return false;
        weft__free(&world->memory, WEFT__MEMORY_QUERIES, kept->bytes, kept->size, 1, 64);
        kept->bytes = bytes;
        kept->size = size;
    }
    for (uint32_t c = 0; c < chunk->layout->column_count; c++) {
        size_t offset = chunk->layout->columns[c].offset;
        memcpy(kept->bytes + offset, chunk->base + offset, column_bytes(chunk, c));
    }
    kept->chunk = chunk;
    kept->structure = world->front.structure_version;
    return true;
}

void weft__owner_loops_wrote(const weft_world *world, const weft__chunk *chunk, uint32_t column,
                             uint32_t row, uint32_t count)
{
    const shadow *kept = world->owner_loops == NULL ? NULL : shadow_of(world, chunk);
    if (kept == NULL) return;
    const char *from = weft__chunk_value(chunk, column, row);
    memcpy(kept->bytes + (from - chunk->base), from,
           (size_t)count * chunk->layout->columns[column].bytes);
}

/* ---- loops ---- */

static size_t watched_bytes(uint32_t term_count)
{
    return sizeof(watched) + term_count * sizeof(uint32_t);
}

void weft__owner_loop_open(weft__query_loop *loop)
{
    weft_world *world = loop->context.world;
    uint32_t term_count = ((const weft__query *)loop->context.query)->term_count;
    weft__owner_loops *loops = loops_of(world);
    watched *opened = loops == NULL ? NULL
                                    : weft__alloc_zeroed(&world->memory, WEFT__MEMORY_QUERIES, 1,
                                                         watched_bytes(term_count), 8);
    loop->watch = opened;
    if (opened == NULL) return;
    opened->term_count = term_count;
    opened->next = loops->open;
    loops->open = opened;
    loops->has_reported = false;
}

void weft__owner_loop_enter(weft_cursor *cursor)
{
    watched *at = watched_of(cursor);
    ((weft__query_loop *)cursor->loop)->shown = cursor->slice;
    if (at == NULL) return;
    weft_world *world = context_of(cursor)->world;
    weft__owner_loops *loops = world->owner_loops;
    const weft__query *query = context_of(cursor)->query;
    const weft__chunk *chunk = cursor->slice.chunk;
    const weft__place *places = cursor->slice.places;
    shadow *kept = shadow_of(world, chunk);
    if (kept == NULL) {
        kept = oldest(loops);
        if (kept == NULL) return;
        compare(cursor, "weft_query_next", kept);
        kept->chunk = NULL;
        if (!cast(world, kept, chunk)) return;
    }
    kept->used = ++loops->uses;
    at->written_count = 0;
    for (uint32_t i = 0; i < query->term_count; i++)
        if (query->terms[i].access == WEFT_WRITE && places[i].column != WEFT__NO_PLACE)
            at->written[at->written_count++] = places[i].column;
    at->first = (uint32_t)(cursor->slice.entities - weft__chunk_entities(chunk));
    at->count = cursor->slice.count;
    at->chunk = chunk;
}

void weft__owner_loop_leave(weft_cursor *cursor, const char *what)
{
    watched *at = watched_of(cursor);
    if (at == NULL || at->chunk == NULL) return;
    const weft_world *world = context_of(cursor)->world;
    const shadow *kept = shadow_of(world, at->chunk);
    world->owner_loops->has_reported = false;
    if (kept != NULL) compare(cursor, what, kept);
    at->chunk = NULL;
}

static void watched_free(weft_world *world, watched *ended)
{
    weft__free(&world->memory, WEFT__MEMORY_QUERIES, ended, 1, watched_bytes(ended->term_count), 8);
}

void weft__owner_loop_close(weft_cursor *cursor)
{
    watched *ended = watched_of(cursor);
    if (ended == NULL) return;
    weft_world *world = context_of(cursor)->world;
    weft__owner_loops *loops = world->owner_loops;
    const char *what = ended->chunk == NULL ? "weft_query_next" : "weft_query_end";
    weft__owner_loop_leave(cursor, what);
    for (uint32_t i = 0; i < SHADOWS; i++) compare(cursor, what, &loops->shadows[i]);
    watched **link = &loops->open;
    while (*link != ended) link = &(*link)->next;
    *link = ended->next;
    watched_free(world, ended);
    ((weft__query_loop *)cursor->loop)->watch = NULL;
    for (uint32_t i = 0; i < SHADOWS && loops->open == NULL; i++) loops->shadows[i].chunk = NULL;
}

void weft__owner_loops_free(weft_world *world)
{
    weft__owner_loops *loops = world->owner_loops;
    if (loops == NULL) return;
    while (loops->open != NULL) {
        watched *open = loops->open;
        loops->open = open->next;
        watched_free(world, open);
    }
    for (uint32_t i = 0; i < SHADOWS; i++)
        weft__free(&world->memory, WEFT__MEMORY_QUERIES, loops->shadows[i].bytes,
                   loops->shadows[i].size, 1, 64);
    weft__free(&world->memory, WEFT__MEMORY_QUERIES, loops, 1, sizeof *loops, 8);
    world->owner_loops = NULL;
}
