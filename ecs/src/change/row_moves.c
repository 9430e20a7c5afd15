/* SPDX-License-Identifier: MIT */
/* row_moves.c: changes of many rows: plan, copy, close, settle. See row_moves.h.
 *
 * It knows nothing of what is changed; it only brings rows to their destinations. */
#include "row_moves.h"
#include "archetype.h"
#include "entity_value.h"
#include "host.h"
#include "scratch.h"

#define FREE_BATCH 256u
#define DEAD_FEW 8192u      /* whose ids the owner gives back: see free_few */
#define WORKERS_LEAST 8192u /* rows of arrays and queries that the pool takes part in moving */

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
    weft__change_part *parts = change->parts.at;
    const uint32_t count = change->parts.count;
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < count; i++)
        if (moves(&parts[i])) parts[i].to->coming += parts[i].count;
    for (uint32_t i = 0; i < count; i++) {
        weft__tuple *to = moves(&parts[i]) ? parts[i].to : NULL;
        const uint32_t end = change->by_tuple ? count : i + 1;
        for (uint32_t k = i; k < end && to != NULL && to->coming != 0; k++) {
            if (parts[k].to != to || !moves(&parts[k])) continue;
            parts[k].pieces = change->pieces.count;
            to->coming -= parts[k].count;
            if (result == WEFT_OK)
                result = weft__rows_reserve(change->world, to, parts[k].count, &change->pieces);
        }
    }
    return result;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Cuts a part into tasks, along the pieces of its destination. */
static void cut(weft__change *change, uint32_t number)
{
    const weft__change_part *part = &change->parts.at[number];
    const bool is_moved = moves(part);
    if (!is_moved && (change->values == NULL || part->dies)) return;
    for (uint32_t p = part->pieces, done = 0; done < part->count; p++) {
        weft__span piece = {part->chunk, 0, part->count};
        if (is_moved) piece = change->pieces.at[p];
        for (uint32_t end = done + piece.count, rows; done < end; done += rows) {
            rows = smaller(end - done, WEFT__TASK_ROWS);
            change->tasks.at[change->tasks.count++] =
                (weft__change_task){number, done, WEFT__NONE, {piece.chunk, piece.row, rows}};
            piece.row += rows;
        }
    }
}

/* Marks the chunks that tasks stamp, or takes the marks away. */
static void mark_stamped(const weft__change *change, uint32_t mark)
{
    for (uint32_t i = 0; i < change->tasks.count; i++) change->tasks.at[i].to.chunk->mark = mark;
}

/* Rows [done, done + count) of a part; neighbours need no list. */
static weft__rows_source rows_of(const weft__change *change, const weft__change_part *part,
                                 uint32_t done, uint32_t count)
{
    const uint32_t *rows = weft__change_rows(change, part);
    weft__rows_source from = {part->chunk, NULL, part->first + done, NULL};
    if (rows == NULL) return from;
    rows += done;
    from.first = rows[0];
    if (rows[count - 1] - rows[0] != count - 1) from.rows = rows;
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
        if (part->chunk == NULL || part->chunk->mark == 0 || !moves(part)) continue;
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
        const weft__change_part *part = &change->parts.at[task->part];
        weft__rows_source from = rows_of(change, part, task->done, task->to.count);
        weft__rows_versions(part->plan, from.chunk, from.rows, from.first, task->to.count,
                            change->versions + task->versions);
    }
    return change->versions != NULL;
}

static weft_result plan_tasks(weft__change *change)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < change->parts.count; i++)
        if (moves(&change->parts.at[i]) || change->values != NULL)
            rows += change->parts.at[i].count;
    if (rows == 0) return WEFT_OK;
    size_t limit = (size_t)change->parts.count + change->pieces.count + rows / WEFT__TASK_ROWS;
    change->tasks.at =
        weft__scratch_take(change->world, WEFT__SCRATCH_TASKS, limit, sizeof change->tasks.at[0]);
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

/* Rows that were in no chunk are made. */
static void rows_make(const weft__change *change, const weft__change_part *part,
                      const weft__change_task *task)
{
    weft_world *world = change->world;
    const weft__span to = task->to;
    const uint32_t *rows = weft__change_rows(change, part) + task->done;
    weft_entity *column = weft__chunk_entities(to.chunk) + to.row;
    weft__rows_fill(world, to.chunk, to.row, to.count);
    for (uint32_t i = 0; i < to.count; i++) {
        column[i] = part->ids[rows[i]];
        weft__directory_place(&world->directory, column[i], weft__location(to.chunk, to.row + i));
    }
}

static void task_copy(const weft__change *change, const weft__change_task *task)
{
    const weft__change_part *part = &change->parts.at[task->part];
    if (!moves(part)) return;
    weft__rows_source from = rows_of(change, part, task->done, task->to.count);
    if (task->versions != WEFT__NONE) from.versions = change->versions + task->versions;
    if (part->chunk == NULL)
        rows_make(change, part, task);
    else
        weft__rows_copy(change->world, part->plan, &from, task->to);
    stamp_shared(change, part, task->to);
}

static int tasks_copy(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    (void)job;
    const weft__change *change = user;
    for (uint32_t i = begin; i < end; i++) {
        task_copy(change, &change->tasks.at[i]);
        if (change->values != NULL) change->values(change->user, &change->tasks.at[i]);
    }
    return 0; /* a loop that stops halfway would leave rows behind */
}

void weft__change_copy(weft__change *change)
{
    weft__host_for(change->world, change->job,
                   &(weft_job_for_desc){.fn = tasks_copy,
                                        .argument = change,
                                        .count = change->tasks.count,
                                        .grain = 1,
                                        .cost = change->copy_cost,
                                        .name = "rows that move"});
}

/* ---- close and settle ---- */

/* The entities of the rows of a part. */
static const weft_entity *entities_of(const weft__change_part *part)
{
    return part->ids != NULL ? part->ids : weft__chunk_entities(part->chunk);
}

/* The dead lose their SPARSE components, and residues are dead. */
static void retire(const weft__change *change)
{
    weft_world *world = change->world;
    if (world->types.sparse == NULL && !world->archetypes.has_residues) return;
    for (uint32_t i = 0; i < change->parts.count; i++) {
        const weft__change_part *part = &change->parts.at[i];
        if (part->chunk == NULL) continue;
        const uint32_t *rows = weft__change_rows(change, part);
        const weft__plan *plan = part->plan; /* a whole chunk has its new archetype by now */
        if (part->dies)
            weft__sparse_forget(world, part->chunk, rows, part->first, part->count);
        else if (plan != NULL && (plan->to->flags & ~plan->from->flags & WEFT__IS_RESIDUE) != 0)
            weft__rows_retire(world, part->chunk, rows, part->first, part->count);
    }
}

/* Few dead: the owner gives all ids back before the loop over chunks. In the loop each id, as their
 * blocks are scattered, takes the lock of its block, and two workers pass the blocks to and fro.
 * False: there are many, and workers. */
static bool free_few(const weft__change *change)
{
    weft__directory *directory = &change->world->directory;
    uint64_t dead = 0;
    for (uint32_t i = 0; i < change->parts.count; i++)
        if (change->parts.at[i].dies) dead += change->parts.at[i].count;
    if (dead > DEAD_FEW && change->job != NULL) return false;
    for (uint32_t i = 0; i < change->parts.count && dead != 0; i++) {
        const weft__change_part *part = &change->parts.at[i];
        if (!part->dies) continue;
        const weft_entity *entities = entities_of(part);
        weft__rows_source from = rows_of(change, part, 0, part->count);
        if (from.rows == NULL)
            weft__directory_free_many_owner(directory, entities + from.first, part->count);
        else
            weft__directory_free_rows_owner(directory, entities, from.rows, part->count);
    }
    return true;
}

static void ids_free(const weft__change *change, const weft__change_part *part)
{
    weft_entity batch[FREE_BATCH];
    const weft_entity *ids = entities_of(part);
    weft__rows_source from = rows_of(change, part, 0, part->count);
    if (from.rows == NULL)
        weft__directory_free_any(&change->world->directory, ids + from.first, part->count);
    for (uint32_t done = 0, size; from.rows != NULL && done < part->count; done += size) {
        size = smaller(part->count - done, FREE_BATCH);
        for (uint32_t i = 0; i < size; i++) batch[i] = ids[from.rows[done + i]];
        weft__directory_free_any(&change->world->directory, batch, size);
    }
}

/* What rows that leave have, and nothing else gets, goes; of the parts before it first. */
static void part_discard(const weft__change *change, const weft__change_part *part)
{
    if (part->before != WEFT__NONE) part_discard(change, &change->parts.at[part->before]);
    if (part->dies && !change->are_freed) ids_free(change, part);
    if (part->chunk != NULL)
        weft__rows_discard(change->world, part->dies ? NULL : part->plan, part->chunk,
                           weft__change_rows(change, part), part->first, part->count);
}

static uint32_t leaving_count(const weft__change_part *part)
{
    return part->before != WEFT__NONE ? part->leaving_count : part->count;
}

/* Rows that were copied or end leave; of a chunk with more parts all at once, or the holes of the
 * first would move the rows of the others. */
static int parts_close(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    (void)job;
    const weft__change *change = user;
    for (uint32_t i = begin; i < end; i++) {
        weft__change_part part = change->parts.at[i];
        if (!leaves(&part) || part.is_behind) continue;
        part_discard(change, &part);
        if (part.chunk == NULL) continue;
        if (part.before != WEFT__NONE) part.rows = part.leaving;
        part.count = leaving_count(&part);
        weft__rows_source from = rows_of(change, &part, 0, part.count);
        weft__rows_close(change->world, part.chunk, from.rows, from.first, part.count);
    }
    return 0;
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

void weft__change_close(weft__change *change)
{
    join(change);
    retire(change);
    change->are_freed = free_few(change);
    weft__host_for(change->world, change->job,
                   &(weft_job_for_desc){.fn = parts_close,
                                        .argument = change,
                                        .count = change->parts.count,
                                        .grain = 1,
                                        .cost = change->close_cost,
                                        .name = "rows that leave"});
    for (uint32_t i = 0; i < change->parts.count; i++) {
        const weft__change_part *part = &change->parts.at[i];
        if (leaves(part) && !part->is_behind && part->chunk != NULL)
            weft__chunk_settle(change->world, part->chunk, leaving_count(part));
        if (part->is_header && !part->dies)
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

/* ---- on the pool ---- */

/* Whether rows of an archetype come or go without a call for each value. */
static bool is_plain(const weft__archetype *archetype)
{
    return (archetype->flags & (WEFT__NEEDS_CONSTRUCT | WEFT__NEEDS_DESTRUCT)) == 0;
}

/* Whether workers are to take part: there is enough to do, and no hook that they would call, which
 * they do in playback only. */
static bool are_many(const weft__change *change)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < change->parts.count; i++) {
        const weft__change_part *part = &change->parts.at[i];
        if (!leaves(part)) continue;
        if (!is_plain(part->chunk->archetype)) return false;
        if (!part->dies && !is_plain(part->to->archetype)) return false;
        rows += part->count;
    }
    return rows >= WORKERS_LEAST;
}

void weft__change_apply(weft__change *change)
{
    weft_world *world = change->world;
    const bool is_shared =
        are_many(change) && weft__host_begin(world, "a change of many rows") == WEFT_OK;
    if (is_shared) change->job = world->front.host.context;
    weft__change_copy(change);
    weft__change_close(change);
    change->job = NULL;
    if (is_shared) weft__host_end(world);
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
