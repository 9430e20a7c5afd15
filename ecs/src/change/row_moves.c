/* SPDX-License-Identifier: MIT */
/* row_moves.c: changes of many rows: plan, copy, close, settle. See row_moves.h.
 *
 * It knows nothing of what is changed; it only brings rows to their destinations. */
#include "row_moves.h"

#include "archetype.h"
#include "entity_value.h"
#include "error.h"
#include "move.h"
#include "move_plan.h"
#include "scratch.h"
#include "sparse.h"
#include "tuple.h"

/* ---- parts ---- */

bool weft__change_push(weft__change *change, weft__change_part part)
{
    return WEFT__LIST_APPEND(&change->world->memory, WEFT__MEMORY_COMMANDS, &change->parts, &part,
                             1);
}

bool weft__change_push_part(weft__change *change, weft__chunk *chunk)
{
    weft__change_part part = weft__change_run(chunk, 0, 0);
    part.rows = change->rows.count;
    return weft__change_push(change, part);
}

bool weft__change_push_row(weft__change *change, uint32_t row)
{
    return WEFT__LIST_APPEND(&change->world->memory, WEFT__MEMORY_COMMANDS, &change->rows, &row, 1);
}

void weft__change_route(weft__change *change, weft__change_part *part, const weft__plan *plan,
                        weft__tuple *to)
{
    const weft__chunk *chunk = part->chunk;
    bool is_thin = change->is_merging && part->count < chunk->capacity / 4 * 3;
    part->plan = plan;
    part->to = to;
    part->owns_hold = true;
    part->is_header =
        plan->is_in_place && part->count == chunk->count && !change->moves_whole && !is_thin;
}

const weft__plan *weft__change_plan(const weft__change *change, const weft__change_part *part,
                                    weft__archetype *to)
{
    const weft__chunk *chunk = part->chunk;
    const weft__plan *plan = weft__plan_obtain(change->world, chunk->archetype, to);
    if (plan == NULL || !weft__is_residue(chunk) || plan->new_type_count == 0) return plan;
    weft__error_stale(change->world, weft__chunk_entities(chunk)[weft__change_first(change, part)]);
    return NULL;
}

weft_result weft__change_send(weft__change *change, weft__change_part *part, weft__archetype *to)
{
    weft_world *world = change->world;
    if (to == NULL) return world->error->code;
    if (to == part->chunk->archetype) return WEFT_OK;
    part->dies = weft__archetype_is_spent(world, to);
    if (part->dies) return WEFT_OK;
    const weft__plan *plan = weft__change_plan(change, part, to);
    weft__tuple *tuple = plan == NULL ? NULL : weft__tuple_follow(world, part->chunk->tuple, to);
    if (tuple == NULL) return world->error->code;
    weft__change_route(change, part, plan, tuple);
    return WEFT_OK;
}

weft_result weft__change_destroy(weft__change *change, weft__change_part *part)
{
    weft__archetype *archetype = part->chunk->archetype;
    part->dies = (archetype->flags & WEFT__HAS_CLEANUP) == 0;
    if (part->dies) return WEFT_OK;
    return weft__change_send(change, part, weft__archetype_residue(change->world, archetype));
}

static bool moves(const weft__change_part *part)
{
    return part->to != NULL && !part->is_header && !part->dies;
}

static bool leaves(const weft__change_part *part)
{
    return part->dies || moves(part);
}

/* ---- plan: what can fail ---- */

/* Destination rows of every part that moves; each chunk is made for the rows of all that go to its
 * tuple. */
static weft_result reserve(weft__change *change)
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

/* Cuts the pieces of a part into tasks. */
static void cut(weft__change *change, uint32_t number)
{
    const weft__change_part *part = &change->parts.at[number];
    if (!moves(part)) return;
    for (uint32_t p = part->pieces, done = 0; done < part->count; p++) {
        weft__span piece = change->pieces.at[p];
        for (uint32_t end = done + piece.count; done < end;) {
            uint32_t rows = end - done < WEFT__TASK_ROWS ? end - done : WEFT__TASK_ROWS;
            change->tasks.at[change->tasks.count++] =
                (weft__change_task){number, done, WEFT__NONE, {piece.chunk, piece.row, rows}};
            done += rows;
            piece.row += rows;
        }
    }
}

/* Marks the chunks that tasks stamp, or takes the marks away. */
static void mark_stamped(const weft__change *change, uint32_t mark)
{
    for (uint32_t i = 0; i < change->tasks.count; i++) change->tasks.at[i].to.chunk->mark = mark;
}

static weft__rows_source source_of(const weft__change *change, const weft__change_task *task)
{
    const weft__change_part *part = &change->parts.at[task->part];
    const uint32_t *rows = weft__change_rows(change, part);
    weft__rows_source from = {part->chunk, NULL, part->first + task->done, NULL};
    if (rows != NULL) {
        rows += task->done;
        from.first = rows[0];
        if (rows[task->to.count - 1] - rows[0] != task->to.count - 1) from.rows = rows;
    }
    if (task->versions != WEFT__NONE) from.versions = change->versions + task->versions;
    return from;
}

/* Rows bring the versions along that their slices had before anything was copied, whatever order
 * the tasks run in. Where no task stamps the slices they are read when the rows are copied. */
static bool keep_versions(weft__change *change)
{
    size_t count = 0;
    mark_stamped(change, 1);
    for (uint32_t i = 0; i < change->tasks.count; i++) {
        const weft__change_part *part = &change->parts.at[change->tasks.at[i].part];
        if (part->chunk->mark == 0) continue;
        change->tasks.at[i].versions = (uint32_t)count;
        count += part->plan->kept_count;
    }
    mark_stamped(change, 0);
    if (count == 0) return true;
    change->versions = weft__scratch_take(change->world, WEFT__SCRATCH_VERSIONS, count,
                                          sizeof change->versions[0]);
    for (uint32_t i = 0; i < change->tasks.count && change->versions != NULL; i++) {
        const weft__change_task *task = &change->tasks.at[i];
        if (task->versions == WEFT__NONE) continue;
        weft__rows_source from = source_of(change, task);
        weft__rows_versions(change->parts.at[task->part].plan, from.chunk, from.rows, from.first,
                            task->to.count, change->versions + task->versions);
    }
    return change->versions != NULL;
}

static weft_result plan_tasks(weft__change *change)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < change->parts.count; i++)
        if (moves(&change->parts.at[i])) rows += change->parts.at[i].count;
    if (rows == 0) return WEFT_OK;
    change->tasks.at = weft__scratch_take(change->world, WEFT__SCRATCH_TASKS,
                                          change->pieces.count + rows / WEFT__TASK_ROWS,
                                          sizeof change->tasks.at[0]);
    if (change->tasks.at == NULL) return weft__error_memory(change->world, "structural change");
    for (uint32_t i = 0; i < change->parts.count; i++) cut(change, i);
    return keep_versions(change) ? WEFT_OK : weft__error_memory(change->world, "structural change");
}

/* All header changes at once. */
static weft_result retarget(weft__change *change)
{
    weft_world *world = change->world;
    uint32_t capacity = 0, count = 0;
    for (uint32_t i = 0; i < change->parts.count; i++) capacity += change->parts.at[i].is_header;
    if (capacity == 0) return WEFT_OK;
    weft__chunk **chunks = weft__alloc(&world->memory, WEFT__MEMORY_COMMANDS, capacity,
                                       2 * sizeof(void *), _Alignof(weft__chunk *));
    if (chunks == NULL) return weft__error_memory(world, "a change of chunks");
    weft__tuple **tuples = (weft__tuple **)(void *)(chunks + capacity);
    for (uint32_t i = 0; i < change->parts.count; i++) {
        if (!change->parts.at[i].is_header || change->parts.at[i].dies) continue;
        chunks[count] = change->parts.at[i].chunk;
        tuples[count++] = change->parts.at[i].to;
    }
    weft_result result = weft__chunks_retarget(world, chunks, tuples, count);
    weft__free(&world->memory, WEFT__MEMORY_COMMANDS, chunks, capacity, 2 * sizeof(void *),
               _Alignof(weft__chunk *));
    return result;
}

weft_result weft__change_prepare(weft__change *change)
{
    weft_result result = reserve(change);
    if (result == WEFT_OK) result = plan_tasks(change);
    if (result == WEFT_OK) result = retarget(change);
    if (result != WEFT_OK) weft__rows_unreserve(change->world, &change->pieces, 0);
    return result;
}

/* ---- copy ---- */

/* Rows have another value of a SHARED component than before. */
static void stamp_shared(const weft__change *change, const weft__change_part *part, weft__span rows)
{
    if (part->stamps == 0) return;
    uint32_t type = weft__archetype_find(part->to->archetype, part->stamps);
    weft__rows_stamp(rows.chunk, type, rows.row, rows.count, change->world->front.version);
}

static void task_copy(const weft__change *change, const weft__change_task *task)
{
    const weft__change_part *part = &change->parts.at[task->part];
    weft__rows_source from = source_of(change, task);
    weft__rows_copy_from(change->world, part->plan, &from, task->to);
    stamp_shared(change, part, task->to);
}

/* ---- close and settle ---- */

static void ids_free(weft_world *world, const weft__chunk *chunk, const uint32_t *rows,
                     uint32_t first, uint32_t count)
{
    const weft_entity *entities = weft__chunk_entities(chunk);
    if (rows == NULL && count > 1)
        weft__directory_free_many_owner(&world->directory, entities + first, count);
    else
        weft__directory_free_rows_owner(&world->directory, entities, rows != NULL ? rows : &first,
                                        count);
}

/* What is left of rows that become residues or end: no SPARSE components, no ids. */
static void part_retire(const weft__change *change, const weft__change_part *part)
{
    weft_world *world = change->world;
    const uint32_t *rows = weft__change_rows(change, part);
    if (part->dies) {
        weft__sparse_forget(world, part->chunk, rows, part->first, part->count);
        ids_free(world, part->chunk, rows, part->first, part->count);
    } else if (part->plan != NULL &&
               (part->plan->to->flags & ~part->plan->from->flags & WEFT__IS_RESIDUE) != 0) {
        weft__rows_retire(world, part->chunk, rows, part->first, part->count);
    }
}

/* Rows that were copied or end leave; of a chunk with more parts all at once, or the holes of the
 * first would move the rows of the others. */
static void part_close(const weft__change *change, const weft__change_part *part)
{
    const uint32_t *rows = weft__change_rows(change, part);
    uint32_t first = part->first, count = part->count;
    weft__rows_discard(change->world, part->dies ? NULL : part->plan, part->chunk, rows, first,
                       count);
    if (part->is_behind) return;
    if (part->before != WEFT__NONE) {
        rows = change->rows.at + part->leaving;
        count = part->leaving_count;
    }
    weft__rows_close(change->world, part->chunk, rows, first, count);
    weft__chunk_settle(change->world, part->chunk, count);
}

/* Parts of one chunk close together where both leave. */
static void join(const weft__change *change)
{
    for (uint32_t i = 0; i < change->parts.count; i++) {
        weft__change_part *part = &change->parts.at[i];
        if (part->before == WEFT__NONE) continue;
        if (leaves(part) && leaves(&change->parts.at[part->before]))
            change->parts.at[part->before].is_behind = true;
        else
            part->before = WEFT__NONE;
    }
}

void weft__change_apply(weft__change *change)
{
    for (uint32_t i = 0; i < change->tasks.count; i++) task_copy(change, &change->tasks.at[i]);
    join(change);
    for (uint32_t i = 0; i < change->parts.count; i++) {
        const weft__change_part *part = &change->parts.at[i];
        part_retire(change, part);
        if (leaves(part)) part_close(change, part);
        if (part->is_header)
            stamp_shared(change, part, (weft__span){part->chunk, 0, part->chunk->count});
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

weft_result weft__change_finish(weft__change *change, weft_result result)
{
    if (result == WEFT_OK) result = weft__change_prepare(change);
    if (result == WEFT_OK) weft__change_apply(change);
    weft__change_fini(change);
    return result;
}

void weft__change_fini(weft__change *change)
{
    weft_world *world = change->world;
    for (uint32_t i = 0; i < change->parts.count; i++)
        if (change->parts.at[i].owns_hold) weft__tuple_release(world, change->parts.at[i].to);
    if (change->parts.capacity != 0)
        WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_COMMANDS, &change->parts);
    if (change->rows.capacity != 0)
        WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_COMMANDS, &change->rows);
    weft__spans_fini(world, &change->pieces);
    *change = (weft__change){.world = world};
}
