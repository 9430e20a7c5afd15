/* SPDX-License-Identifier: MIT */
/* query_change.c: the engine of query-wide structural changes: select, prepare, apply.
 *
 * What it promises and how it is used: query_change.h. It knows nothing of the kinds of changes
 * (query_structure.c does); it only brings selected rows to their destinations. */
#include "query_change.h"

#include "batch.h"
#include "bits.h"
#include "destroy.h"
#include "error.h"
#include "move.h"
#include "query_cursor.h"
#include "query_memory.h"
#include "query_read.h"
#include "sparse.h"
#include "tuple.h"

/* ---- select ---- */

bool weft__change_push_row(weft__change *change, uint32_t row)
{
    return WEFT__LIST_APPEND(&change->world->memory, WEFT__MEMORY_QUERIES, &change->rows, &row, 1);
}

static bool push_rows(weft__change *change, weft__change_part *part, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!weft__change_push_row(change, first + i)) return false;
    part->count += count;
    return true;
}

/* Adds rows [first, first + count) to a part; a run that gets a gap becomes a list. */
static bool extend_part(weft__change *change, weft__change_part *part, uint32_t first,
                        uint32_t count)
{
    if (part->rows == WEFT__NONE && part->first + part->count == first) {
        part->count += count;
        return true;
    }
    if (part->rows == WEFT__NONE) {
        uint32_t run = part->count;
        part->rows = change->rows.count;
        part->count = 0;
        if (!push_rows(change, part, part->first, run)) return false;
    }
    return push_rows(change, part, first, count);
}

static bool push_part(weft__change *change, weft__chunk *chunk, uint32_t first, uint32_t count)
{
    weft__change_part part = {
        .chunk = chunk, .first = first, .count = count, .rows = WEFT__NONE, .twin = WEFT__NONE};
    return WEFT__LIST_APPEND(&change->world->memory, WEFT__MEMORY_QUERIES, &change->parts, &part,
                             1);
}

bool weft__change_push_part(weft__change *change, weft__chunk *chunk)
{
    if (!push_part(change, chunk, 0, 0)) return false;
    change->parts.at[change->parts.count - 1].rows = change->rows.count;
    return true;
}

static bool select_run(weft__change *change, const weft_slice *slice)
{
    weft__chunk *chunk = (weft__chunk *)(uintptr_t)slice->chunk;
    uint32_t row = (uint32_t)(slice->entities - weft__chunk_entities(chunk));
    uint32_t begin = 0, end = 0;
    while (weft_slice_next_run(slice, &begin, &end)) {
        uint32_t first = row + begin, count = end - begin;
        weft__change_part *last =
            change->parts.count == 0 ? NULL : &change->parts.at[change->parts.count - 1];
        bool is_done = last != NULL && last->chunk == chunk
                           ? extend_part(change, last, first, count)
                           : push_part(change, chunk, first, count);
        if (!is_done) return false;
    }
    return true;
}

/* The query's rows are those of a SPARSE component: the entities' own rows are meant. */
static weft_result select_owners(weft__change *change, weft_query query, const char *what)
{
    weft_world *world = change->world;
    uint64_t count = weft_query_count(world, query);
    if (count > UINT32_MAX) return weft__error_limit(world, WEFT_LIMIT, what);
    weft_entity *entities = weft__alloc(&world->memory, WEFT__MEMORY_QUERIES, count + 1,
                                        sizeof *entities, _Alignof(weft_entity));
    if (entities == NULL) return weft__error_memory(world, what);
    weft_query_entities(world, query, entities, count);
    weft_result result = weft__change_select_entities(change, entities, (uint32_t)count, what);
    weft__free(&world->memory, WEFT__MEMORY_QUERIES, entities, count + 1, sizeof *entities,
               _Alignof(weft_entity));
    return result;
}

weft_result weft__change_select(weft__change *change, weft_query query, const char *what)
{
    weft_world *world = change->world;
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    weft__row_walk walk;
    result = weft__row_walk_begin(&walk, world, query);
    if (result != WEFT_OK) return result;
    if (walk.handle->query->is_of_sparse_rows) return select_owners(change, query, what);
    while (weft__source_next(&walk.source))
        if (!select_run(change, &walk.source.slice)) return weft__error_memory(world, what);
    return WEFT_OK;
}

weft_result weft__change_select_all(weft__change *change, const char *what)
{
    weft_world *world = change->world;
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    for (uint32_t a = 0; a < world->archetypes.count; a++) {
        const weft__archetype *archetype = world->archetypes.at[a];
        if ((archetype->flags & WEFT__IS_SPARSE) != 0) continue;
        for (uint32_t i = 0; i < archetype->chunk_count; i++)
            if (!push_part(change, archetype->chunks[i], 0, archetype->chunks[i]->count))
                return weft__error_memory(world, what);
    }
    return WEFT_OK;
}

/* The rows that an array operation has collected in one chunk. */
static bool select_entry(weft__change *change, const weft__batch_entry *entry)
{
    bool is_list = entry->rows != NULL;
    if (!push_part(change, entry->chunk, entry->first, is_list ? 0 : entry->count)) return false;
    weft__change_part *part = &change->parts.at[change->parts.count - 1];
    if (is_list) part->rows = change->rows.count;
    for (uint32_t i = 0; i < entry->count && is_list; i++)
        if (!push_rows(change, part, entry->rows[i], 1)) return false;
    return true;
}

weft_result weft__change_select_entities(weft__change *change, const weft_entity *entities,
                                         uint32_t count, const char *what)
{
    weft_world *world = change->world;
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    if (entities == NULL && count != 0)
        return weft__error_argument(world, what, "entities is NULL: give an array of `count`");
    weft__batch_room room;
    weft__batch batch = weft__batch_begin(world, &room, entities, count);
    result = weft__batch_select(world, &batch, entities, count, what);
    for (uint32_t i = 0; i < batch.count && result == WEFT_OK; i++)
        if (!select_entry(change, &batch.entries[i])) result = weft__error_memory(world, what);
    weft__batch_fini(world, &batch);
    return result;
}

/* ---- route ---- */

void weft__change_route(weft__change_part *part, const weft__plan *plan, weft__tuple *to)
{
    part->plan = plan;
    part->to = to;
    part->owns_hold = true;
    part->is_header = plan->is_in_place && part->count == part->chunk->count;
}

/* ---- prepare: what can fail ---- */

static bool moves(const weft__change_part *part)
{
    return part->plan != NULL && !part->is_header && !part->dies;
}

/* Destination rows of every part that moves; each chunk is made for the rows of all that go to its
 * tuple. */
static weft_result reserve_moves(weft__change *change)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < change->parts.count; i++)
        if (moves(&change->parts.at[i]))
            change->parts.at[i].to->coming += change->parts.at[i].count;
    for (uint32_t i = 0; i < change->parts.count; i++) {
        weft__change_part *part = &change->parts.at[i];
        part->pieces = change->pieces.count;
        if (!moves(part)) continue;
        part->to->coming -= part->count;
        if (result == WEFT_OK)
            result = weft__rows_reserve(change->world, part->to, part->count, &change->pieces);
    }
    return result;
}

/* All header changes at once. */
static weft_result retarget(weft__change *change)
{
    weft_world *world = change->world;
    uint32_t capacity = change->parts.count, count = 0;
    if (capacity == 0) return WEFT_OK;
    weft__chunk **chunks = weft__alloc(&world->memory, WEFT__MEMORY_QUERIES, capacity,
                                       2 * sizeof(void *), WEFT__QUERY_ALIGNMENT);
    if (chunks == NULL) return weft__error_memory(world, "a change of chunks");
    weft__tuple **tuples = (weft__tuple **)(void *)(chunks + capacity);
    for (uint32_t i = 0; i < change->parts.count; i++) {
        if (!change->parts.at[i].is_header || change->parts.at[i].dies) continue;
        chunks[count] = change->parts.at[i].chunk;
        tuples[count++] = change->parts.at[i].to;
    }
    weft_result result = count == 0 ? WEFT_OK : weft__chunks_retarget(world, chunks, tuples, count);
    weft__query_free(world, chunks, capacity, 2 * sizeof(void *));
    return result;
}

weft_result weft__change_prepare(weft__change *change)
{
    weft_result result = reserve_moves(change);
    if (result == WEFT_OK) result = retarget(change);
    if (result != WEFT_OK) weft__rows_unreserve(change->world, &change->pieces, 0);
    return result;
}

/* ---- apply: what cannot ---- */

/* Copies the rows of a part to its pieces. */
static void copy_part(const weft__change *change, const weft__change_part *part)
{
    const uint32_t *rows = weft__change_rows(change, part);
    uint32_t done = 0;
    for (uint32_t p = part->pieces; done < part->count; p++) {
        weft__span piece = change->pieces.at[p];
        weft__rows_copy(change->world, part->plan, part->chunk, rows == NULL ? NULL : rows + done,
                        part->first + done, piece);
        done += piece.count;
    }
    WEFT_ASSERT(done == part->count);
}

/* Rows that were copied leave; of a chunk with two parts all at once, or the holes of the first
 * would move the rows of the second. */
static void close_part(weft__change *change, uint32_t number)
{
    weft_world *world = change->world;
    const weft__change_part *part = &change->parts.at[number];
    const uint32_t *rows = weft__change_rows(change, part);
    uint32_t first = part->first, count = part->count;
    weft__rows_discard(world, part->plan, part->chunk, rows, first, count);
    if (part->twin != WEFT__NONE && moves(&change->parts.at[part->twin])) {
        if (part->twin > number) return;
        rows = change->rows.at + part->twin_rows;
        count = part->twin_count;
    }
    weft__rows_close(world, part->chunk, rows, first, count);
    weft__chunk_settle(world, part->chunk, count);
}

static void residues_retire(const weft__change *change)
{
    for (uint32_t i = 0; i < change->parts.count; i++) {
        const weft__change_part *part = &change->parts.at[i];
        const weft__plan *plan = part->plan;
        if (plan != NULL && (plan->to->flags & ~plan->from->flags & WEFT__IS_RESIDUE) != 0)
            weft__rows_retire(change->world, part->chunk, weft__change_rows(change, part),
                              part->first, part->count);
    }
}

void weft__change_apply(weft__change *change)
{
    weft_world *world = change->world;
    residues_retire(change);
    for (uint32_t i = 0; i < change->parts.count; i++)
        if (moves(&change->parts.at[i])) copy_part(change, &change->parts.at[i]);
    for (uint32_t i = 0; i < change->parts.count; i++) {
        const weft__change_part *part = &change->parts.at[i];
        const uint32_t *rows = weft__change_rows(change, part);
        if (part->dies) {
            weft_result result = weft__rows_die(world, part->chunk, rows, part->first, part->count);
            WEFT_ASSERT(result == WEFT_OK);
            (void)result;
        }
        if (moves(part)) close_part(change, i);
    }
}

void weft__change_each(const weft__change *change, weft__change_visit *visit, const void *user)
{
    for (uint32_t i = 0; i < change->pieces.count; i++)
        visit(change->world, change->pieces.at[i], user);
    for (uint32_t i = 0; i < change->parts.count; i++) {
        const weft__change_part *part = &change->parts.at[i];
        const uint32_t *rows = weft__change_rows(change, part);
        if (part->plan != NULL && !part->is_header) continue; /* moved to pieces */
        if (rows == NULL)
            visit(change->world, (weft__span){part->chunk, part->first, part->count}, user);
        for (uint32_t r = 0, run; rows != NULL && r < part->count; r += run) {
            for (run = 1; r + run < part->count && rows[r + run] == rows[r] + run;) run++;
            visit(change->world, (weft__span){part->chunk, rows[r], run}, user);
        }
    }
}

void weft__change_fini(weft__change *change)
{
    weft_world *world = change->world;
    for (uint32_t i = 0; i < change->parts.count; i++)
        if (change->parts.at[i].owns_hold) weft__tuple_release(world, change->parts.at[i].to);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &change->parts);
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_QUERIES, &change->rows);
    weft__spans_fini(world, &change->pieces);
    *change = (weft__change){.world = world};
}
