/* SPDX-License-Identifier: MIT */
/* fold_move.c: a folded batch takes effect: plan, copy, close, settle. See fold_state.h
 * and the four steps of structure.h. Whatever can fail happens in plan, which gives everything
 * back. */
#include "fold_move.h"

#include "error.h"
#include "fold_tasks.h"
#include "fold_values.h"
#include "move_plan.h"
#include "scratch.h"
#include "sparse.h"
#include "structure.h"
#include "tuple.h"

#include <string.h>

#define FREE_BATCH 256u
#define DEAD_FEW 8192u /* whose ids the owner gives back: see free_few */

/* ---- plan ---- */

static void add_group(weft__fold *fold, uint32_t number, uint32_t state, uint32_t first)
{
    weft__fold_touched *touched = &fold->touched[number];
    weft__fold_group *group = &fold->groups[fold->group_count];
    *group = (weft__fold_group){.touched = number,
                                .to = touched->states[state],
                                .shared = touched->shared[state],
                                .first = first,
                                .count = touched->counts[state],
                                .state = (uint8_t)state,
                                .target = WEFT__NONE};
    bool is_home = touched->chunk != NULL && group->to == touched->chunk->archetype &&
                   group->shared.component == 0;
    group->end = WEFT__FOLD_MOVE;
    if (group->to == NULL) group->end = WEFT__FOLD_DIE;
    if (is_home) group->end = WEFT__FOLD_STAY;
    fold->group_count++;
    touched->group_count++;
}

static weft_result list_groups(weft__fold *fold)
{
    size_t limit = (size_t)fold->touched_count * WEFT__FOLD_STATES;
    if (limit > fold->ref_count) limit = fold->ref_count;
    fold->groups = weft__scratch_take(fold->playback->world, WEFT__SCRATCH_GROUPS, limit,
                                      sizeof fold->groups[0]);
    fold->targets = weft__scratch_take(fold->playback->world, WEFT__SCRATCH_TARGETS, limit,
                                       sizeof fold->targets[0]);
    if (fold->groups == NULL || fold->targets == NULL) return WEFT_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < fold->touched_count; i++) {
        weft__fold_touched *touched = &fold->touched[i];
        uint32_t first = touched->first_row;
        touched->first_group = fold->group_count;
        touched->group_count = 0;
        for (uint32_t state = 1; state < touched->state_count; state++) {
            if (touched->counts[state] == 0) continue;
            add_group(fold, i, state, first);
            first += touched->counts[state];
        }
    }
    return WEFT_OK;
}

/* The tuple a group moves to but for a shared value that it gets, held; NULL: error set. */
static weft__tuple *tuple_before(weft__fold *fold, weft__fold_group *group)
{
    weft_world *world = fold->playback->world;
    const weft__fold_touched *touched = &fold->touched[group->touched];
    if (touched->chunk == NULL) {
        group->to->tuple0->holders++;
        return group->to->tuple0;
    }
    group->plan = weft__plan_obtain(world, touched->chunk->archetype, group->to);
    if (group->plan == NULL) return NULL;
    return weft__tuple_follow(world, touched->chunk->tuple, group->to);
}

/* The tuple a group moves to, held; NULL: error set. */
static weft__tuple *tuple_of(weft__fold *fold, weft__fold_group *group)
{
    weft__tuple *before = tuple_before(fold, group);
    if (before == NULL || group->shared.component == 0) return before;
    weft_world *world = fold->playback->world;
    weft__tuple *tuple = weft__tuple_with_value(world, before, group->to, group->shared.component,
                                                group->shared.value);
    weft__tuple_release(world, before);
    return tuple;
}

/* Targets are few; groups of neighbouring chunks have the same one, so the last is tried first. */
static uint32_t target_of(weft__fold *fold, weft__tuple *tuple)
{
    for (uint32_t i = fold->target_count; i-- > 0;)
        if (fold->targets[i].tuple == tuple) return i;
    fold->targets[fold->target_count] = (weft__fold_target){.tuple = tuple};
    return fold->target_count++;
}

static weft_result find_targets(weft__fold *fold)
{
    for (uint32_t i = 0; i < fold->group_count; i++) {
        weft__fold_group *group = &fold->groups[i];
        if (group->end != WEFT__FOLD_MOVE) continue;
        group->tuple = tuple_of(fold, group);
        if (group->tuple == NULL) return fold->playback->world->error->code;
        group->target = target_of(fold, group->tuple);
        fold->targets[group->target].rows += group->count;
    }
    return WEFT_OK;
}

static void release_tuples(weft__fold *fold)
{
    for (uint32_t i = 0; i < fold->group_count; i++)
        if (fold->groups[i].tuple != NULL)
            weft__tuple_release(fold->playback->world, fold->groups[i].tuple);
}

static weft_result reserve_targets(weft__fold *fold)
{
    for (uint32_t i = 0; i < fold->target_count; i++) {
        weft__fold_target *target = &fold->targets[i];
        target->span = fold->spans.count;
        weft_result result =
            weft__rows_reserve(fold->playback->world, target->tuple, target->rows, &fold->spans);
        if (result != WEFT_OK) return result;
    }
    return WEFT_OK;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Cuts a group into tasks along the pieces of its target. */
static void cut_group(weft__fold *fold, uint32_t number)
{
    const weft__fold_group *group = &fold->groups[number];
    bool has_values = fold->has_chains || fold->has_sweeps;
    if (group->end == WEFT__FOLD_DIE || (group->end == WEFT__FOLD_STAY && !has_values)) return;
    for (uint32_t done = 0; done < group->count;) {
        weft__span to = {NULL, 0, smaller(group->count - done, WEFT__TASK_ROWS)};
        if (group->end == WEFT__FOLD_MOVE) {
            weft__fold_target *target = &fold->targets[group->target];
            const weft__span *span = &fold->spans.at[target->span];
            to.chunk = span->chunk;
            to.row = span->row + target->used;
            to.count = smaller(to.count, span->count - target->used);
            target->used += to.count;
            if (target->used == span->count) {
                target->span++;
                target->used = 0;
            }
        }
        fold->tasks[fold->task_count++] =
            (weft__fold_task){number, group->first + done, WEFT__NONE, to};
        done += to.count;
    }
}

/* ---- versions ---- */

static const weft__fold_touched *source_of(const weft__fold *fold, const weft__fold_task *task)
{
    return &fold->touched[fold->groups[task->group].touched];
}

/* Marks the chunks that tasks stamp, or takes the marks away. */
static void mark_stamped(const weft__fold *fold, uint32_t mark)
{
    for (uint32_t i = 0; i < fold->task_count; i++) {
        const weft__fold_task *task = &fold->tasks[i];
        weft__chunk *chunk = task->to.chunk != NULL ? task->to.chunk : source_of(fold, task)->chunk;
        if (chunk != NULL) chunk->mark = mark;
    }
}

/* Whether rows of the task come from slices that others may stamp meanwhile. */
static bool is_stamped(const weft__fold *fold, const weft__fold_task *task)
{
    const weft__chunk *chunk = source_of(fold, task)->chunk;
    return task->to.chunk != NULL && chunk != NULL && chunk->mark != 0;
}

/* Rows bring the versions along that their slices had before anything was copied, whatever order
 * the tasks run in. Where no task stamps the slices they are read when the rows are copied. */
static bool keep_versions(weft__fold *fold)
{
    size_t count = 0;
    mark_stamped(fold, 1);
    for (uint32_t i = 0; i < fold->task_count; i++)
        if (is_stamped(fold, &fold->tasks[i]))
            count += fold->groups[fold->tasks[i].group].plan->kept_count;
    fold->versions = weft__scratch_take(fold->playback->world, WEFT__SCRATCH_VERSIONS, count + 1,
                                        sizeof fold->versions[0]);
    uint32_t at = 0;
    for (uint32_t i = 0; i < fold->task_count && fold->versions != NULL; i++) {
        weft__fold_task *task = &fold->tasks[i];
        const weft__plan *plan = fold->groups[task->group].plan;
        const uint32_t *rows = fold->rows + task->first;
        if (!is_stamped(fold, task)) continue;
        task->first_version = at;
        weft__rows_versions(plan, source_of(fold, task)->chunk, rows, rows[0], task->to.count,
                            fold->versions + at);
        at += plan->kept_count;
    }
    mark_stamped(fold, 0);
    return fold->versions != NULL;
}

static weft_result plan(weft__fold *fold)
{
    weft_world *world = fold->playback->world;
    if (list_groups(fold) != WEFT_OK) return weft__error_memory(world, "playback");
    weft_result result = find_targets(fold);
    if (result == WEFT_OK) result = reserve_targets(fold);
    if (result == WEFT_OK) {
        size_t limit =
            (size_t)fold->group_count + fold->spans.count + fold->ref_count / WEFT__TASK_ROWS;
        fold->tasks = weft__scratch_take(world, WEFT__SCRATCH_TASKS, limit, sizeof fold->tasks[0]);
        if (fold->tasks == NULL) result = weft__error_memory(world, "playback");
    }
    for (uint32_t i = 0; i < fold->group_count && result == WEFT_OK; i++) cut_group(fold, i);
    if (result == WEFT_OK && !keep_versions(fold)) result = weft__error_memory(world, "playback");
    if (result != WEFT_OK) {
        weft__rows_unreserve(world, &fold->spans, 0);
        release_tuples(fold);
    }
    return result;
}

/* ---- copy ---- */

static bool is_run(const uint32_t *rows, uint32_t count)
{
    return rows[count - 1] - rows[0] + 1 == count;
}

static void place_created(weft__fold *fold, const weft__fold_touched *touched, const uint32_t *rows,
                          const weft__span *to)
{
    weft_world *world = fold->playback->world;
    uint32_t block = touched->place & ~WEFT__FOLD_PLACE_CREATED;
    const weft_entity *ids = fold->created_ids + (size_t)block * WEFT__FOLD_BLOCK_ROWS;
    weft_entity *column = weft__chunk_entities(to->chunk) + to->row;
    weft__rows_fill(world, to->chunk, to->row, to->count);
    for (uint32_t i = 0; i < to->count; i++) {
        column[i] = ids[rows[i]];
        weft__directory_place(&world->directory, column[i], weft__location(to->chunk, to->row + i));
    }
}

/* The rows of a span have another shared value than before. */
static void stamp_shared(const weft__fold *fold, const weft__fold_group *group, weft__span to)
{
    uint32_t type = weft__archetype_find(group->to, group->shared.component);
    weft__rows_stamp(to.chunk, type, to.row, to.count, fold->playback->world->front.version);
}

static void copy_rows(const weft__fold *fold, const weft__fold_task *task)
{
    const uint32_t *rows = fold->rows + task->first;
    const weft__rows_source from = {.chunk = source_of(fold, task)->chunk,
                                    .rows = is_run(rows, task->to.count) ? NULL : rows,
                                    .first = rows[0],
                                    .versions = task->first_version == WEFT__NONE
                                                    ? NULL
                                                    : fold->versions + task->first_version};
    weft__rows_copy_from(fold->playback->world, fold->groups[task->group].plan, &from, task->to);
}

static int copy_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job;
    weft__fold *fold = argument;
    for (uint32_t i = begin; i < end; i++) {
        const weft__fold_task *task = &fold->tasks[i];
        const weft__fold_group *group = &fold->groups[task->group];
        const weft__fold_touched *touched = &fold->touched[group->touched];
        const uint32_t *rows = fold->rows + task->first;
        if (group->end == WEFT__FOLD_MOVE && touched->chunk == NULL)
            place_created(fold, touched, rows, &task->to);
        else if (group->end == WEFT__FOLD_MOVE)
            copy_rows(fold, task);
        if (group->shared.component != 0) stamp_shared(fold, group, task->to);
        weft_result result = WEFT_OK;
        if (fold->has_chains) result = weft__fold_values_chained(fold, task);
        if (fold->has_sweeps) result = weft__fold_values_swept(fold, task);
        if (result != WEFT_OK)
            at_store_rlx(&fold->x_failed, 1); /* relaxed: read after the barrier of the loop */
    }
    return 0; /* a loop that stops halfway would leave rows behind */
}

/* ---- close ---- */

/* The ids of the rows of a place. */
static const weft_entity *ids_of(const weft__fold *fold, const weft__fold_touched *touched)
{
    uint32_t block = touched->place & ~WEFT__FOLD_PLACE_CREATED;
    return touched->chunk != NULL ? weft__chunk_entities(touched->chunk)
                                  : fold->created_ids + (size_t)block * WEFT__FOLD_BLOCK_ROWS;
}

/* Few dead: the owner gives all ids back before the loop over chunks. In the loop each id, as their
 * blocks are scattered, takes the lock of its block, and two workers pass the blocks to and fro.
 * False: there are many. */
static bool free_few(const weft__fold *fold)
{
    uint64_t dead = 0;
    for (uint32_t i = 0; i < fold->group_count; i++)
        if (fold->groups[i].end == WEFT__FOLD_DIE) dead += fold->groups[i].count;
    if (dead > DEAD_FEW) return false;
    for (uint32_t i = 0; i < fold->group_count; i++) {
        const weft__fold_group *group = &fold->groups[i];
        if (group->end == WEFT__FOLD_DIE)
            weft__directory_free_rows_owner(&fold->playback->world->directory,
                                            ids_of(fold, &fold->touched[group->touched]),
                                            fold->rows + group->first, group->count);
    }
    return true;
}

static void free_ids(weft__fold *fold, const weft__fold_touched *touched, const uint32_t *rows,
                     uint32_t count)
{
    weft_entity batch[FREE_BATCH];
    const weft_entity *ids = ids_of(fold, touched);
    if (is_run(rows, count)) {
        weft__directory_free_any(&fold->playback->world->directory, ids + rows[0], count);
        return;
    }
    for (uint32_t done = 0; done < count;) {
        uint32_t size = smaller(count - done, FREE_BATCH);
        for (uint32_t i = 0; i < size; i++) batch[i] = ids[rows[done + i]];
        weft__directory_free_any(&fold->playback->world->directory, batch, size);
        done += size;
    }
}

static void close_groups(weft__fold *fold, const weft__fold_touched *touched)
{
    weft_world *world = fold->playback->world;
    for (uint32_t i = 0; i < touched->group_count; i++) {
        const weft__fold_group *group = &fold->groups[touched->first_group + i];
        const uint32_t *rows = fold->rows + group->first;
        if (group->end == WEFT__FOLD_STAY) continue;
        if (group->end == WEFT__FOLD_DIE && !fold->are_freed)
            free_ids(fold, touched, rows, group->count);
        if (touched->chunk != NULL)
            weft__rows_discard(world, group->plan, touched->chunk, rows, rows[0], group->count);
    }
}

static int close_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job;
    weft__fold *fold = argument;
    for (uint32_t i = begin; i < end; i++) {
        const weft__fold_touched *touched = &fold->touched[i];
        if (touched->removed == 0) continue;
        close_groups(fold, touched);
        if (touched->chunk == NULL) continue;
        const uint32_t *rows =
            (touched->is_removed_apart ? fold->removed : fold->rows) + touched->removed_first;
        weft__rows_close(fold->playback->world, touched->chunk,
                         is_run(rows, touched->removed) ? NULL : rows, rows[0], touched->removed);
    }
    return 0;
}

static bool becomes_residue(const weft__fold_group *group, const weft__fold_touched *touched)
{
    return group->end == WEFT__FOLD_MOVE &&
           (group->to->flags & ~touched->chunk->archetype->flags & WEFT__IS_RESIDUE) != 0;
}

/* The dead lose their SPARSE components, and residues are dead. Owner. */
static void rows_retire(const weft__fold *fold)
{
    weft_world *world = fold->playback->world;
    for (uint32_t i = 0; i < fold->group_count; i++) {
        const weft__fold_group *group = &fold->groups[i];
        const weft__fold_touched *touched = &fold->touched[group->touched];
        if (touched->chunk == NULL) continue;
        const uint32_t *rows = fold->rows + group->first;
        if (becomes_residue(group, touched))
            weft__rows_retire(world, touched->chunk, rows, 0, group->count);
        else if (group->end == WEFT__FOLD_DIE)
            weft__sparse_forget(world, touched->chunk, rows, 0, group->count);
    }
}

/* ---- all of it ---- */

weft_result weft__fold_move(weft__fold *fold)
{
    weft_world *world = fold->playback->world;
    weft_result result = plan(fold);
    if (result == WEFT_OK) {
        weft__fold_for(fold, WEFT__PLAYBACK_COPY, copy_part, fold->task_count);
        for (uint32_t i = 0; fold->has_enables && i < fold->task_count; i++)
            weft__fold_enables(fold, &fold->tasks[i]);
        if (world->types.sparse != NULL || world->archetypes.has_residues) rows_retire(fold);
        fold->are_freed = free_few(fold);
        weft__fold_for(fold, WEFT__PLAYBACK_CLOSE, close_part, fold->touched_count);
        for (uint32_t i = 0; i < fold->touched_count; i++) {
            const weft__fold_touched *touched = &fold->touched[i];
            fold->playback->result.skipped += touched->skipped;
            if (touched->removed != 0 && touched->chunk != NULL)
                weft__chunk_settle(world, touched->chunk, touched->removed);
        }
        release_tuples(fold);
        if (at_load_rlx(&fold->x_failed) != 0) /* relaxed: the loop has ended */
            result = weft__error_memory(world, "playback: a buffer could not grow");
    }
    weft__spans_fini(world, &fold->spans);
    return result;
}
