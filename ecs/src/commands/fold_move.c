/* SPDX-License-Identifier: MIT */
/* fold_move.c: a folded batch takes effect: the rows of each place that end alike are a part of one
 * change (row_moves.h), which moves or ends them and calls for their values. Chains are followed
 * row by row; the values of a sweep go command by command, each for many rows, straight from where
 * they were recorded. What fails before the copies leaves the world as it was. */
#include "fold_move.h"

#include "archetype.h"
#include "enable.h"
#include "error.h"
#include "playback_one.h"
#include "scratch.h"
#include "tuple.h"

#include <string.h>

/* ---- recorded values ---- */

static void stamp(const weft_world *world, weft__chunk *chunk, uint32_t type, uint32_t row)
{
    weft_a32 *versions = weft__chunk_versions(chunk, type);
    /* relaxed: tasks of one slice store the same value; read after the barrier */
    at_store_rlx(&versions[row >> chunk->layout->slice_shift], world->front.version);
}

/* Gives a component back its first value: it was removed in between. */
static void reset_value(weft_world *world, weft__chunk *chunk, const weft__type_ref *ref,
                        uint32_t type, uint32_t row)
{
    stamp(world, chunk, type, row);
    if (ref->column == 0) return;
    void *value = weft__chunk_value(chunk, ref->column, row);
    weft__type_destruct(&world->memory, ref->type, value, 1);
    weft__type_construct(ref->type, value, 1);
}

/* A call of memcpy costs as much as the few bytes that most values have. */
static inline void copy_value(void *to, const void *from, size_t bytes)
{
    if (bytes == 4)
        memcpy(to, from, 4);
    else if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 12)
        memcpy(to, from, 12);
    else if (bytes == 16)
        memcpy(to, from, 16);
    else
        memcpy(to, from, bytes);
}

/* A recorded value, or what is recorded for a buffer, becomes that of a row. */
static inline weft_result give_value(weft_world *world, const weft__type *type,
                                     weft__command *command, void *value)
{
    weft_result result = WEFT_OK;
    if (weft__command_has_elements(command->op)) {
        result = weft__playback_elements(world, command, value);
    } else {
        if (type->needs_destruct) weft__type_destruct(&world->memory, type, value, 1);
        copy_value(value, weft__command_payload(command), type->desc.size);
    }
    /* the command's cache line is written only where it is read */
    if (result == WEFT_OK && type->needs_destruct) command->flags = WEFT__VALUE_IS_TAKEN;
    return result;
}

#define KNOWN_TYPES 4u

/* Applying the chains of one task: its chunk, and where components are in it. On a worker's stack.
 */
typedef struct applying {
    weft_world *world;
    weft__chunk *chunk;
    uint32_t components[KNOWN_TYPES]; /* 0: none */
    uint32_t types[KNOWN_TYPES];
} applying;

static inline uint32_t type_of(applying *a, uint32_t component)
{
    uint32_t place = component % KNOWN_TYPES;
    if (a->components[place] != component) {
        a->components[place] = component;
        a->types[place] = weft__archetype_find(a->chunk->archetype, component);
    }
    return a->types[place];
}

/* Applies one recorded value to a row that is where it belongs. */
static weft_result apply(applying *a, weft__command *command, uint32_t row)
{
    weft_world *world = a->world;
    weft__chunk *chunk = a->chunk;
    uint32_t type = type_of(a, command->subject);
    if (type == WEFT__NONE) return WEFT_OK; /* removed later */
    const weft__type_ref *ref = &chunk->archetype->types[type];
    if (command->op == WEFT__COMMAND_REMOVE) {
        reset_value(world, chunk, ref, type, row);
        return WEFT_OK;
    }
    if (!weft__command_kinds[command->op].has_values) return WEFT_OK; /* see apply_enable */
    void *value = weft__chunk_value(chunk, ref->column, row);
    stamp(world, chunk, type, row);
    return give_value(world, ref->type, command, value);
}

/* Enable bits of neighbouring rows share words: the owner sets them, after the copies. */
static weft_result apply_enable(applying *a, weft__command *command, uint32_t row)
{
    weft__chunk *chunk = a->chunk;
    uint32_t type = type_of(a, command->subject);
    bool is_concerned = command->op == WEFT__COMMAND_ENABLE || command->op == WEFT__COMMAND_REMOVE;
    if (!is_concerned || type == WEFT__NONE) return WEFT_OK;
    uint32_t enableable = chunk->archetype->types[type].enableable;
    if (enableable == WEFT__NO_PLACE) return WEFT_OK;
    bool is_enabled = command->op == WEFT__COMMAND_REMOVE || command->flags != 0;
    weft__chunk_enable(chunk, enableable, row, is_enabled);
    stamp(a->world, chunk, type, row);
    return WEFT_OK;
}

/* Applies the chains of a task's rows in order of recording. */
static weft_result apply_chains(const weft__fold *fold, const weft__change_task *task,
                                weft_result (*apply_one)(applying *a, weft__command *command,
                                                         uint32_t row))
{
    const weft__change_part *part = &fold->change.parts.at[task->part];
    const weft__fold_touched *touched = &fold->touched[fold->groups[task->part].touched];
    const uint32_t *heads = fold->heads + touched->first_cell;
    const bool stays = part->to == NULL;
    applying a = {.world = fold->playback->world, .chunk = task->to.chunk};
    weft_result worst = WEFT_OK;
    for (uint32_t i = 0; i < task->to.count; i++) {
        uint32_t row = fold->rows[part->rows + task->done + i];
        for (uint32_t ref = heads[row]; ref != 0; ref = fold->next_refs[ref - 1]) {
            weft_result result =
                apply_one(&a, fold->refs[ref - 1].command, stays ? row : task->to.row + i);
            if (result != WEFT_OK) worst = result;
        }
    }
    return worst;
}

static void give_enables(const weft__fold *fold, const weft__change_task *task)
{
    apply_chains(fold, task, apply_enable);
}

/* ---- sweeps ---- */

#define BLOCK_ROWS 64u /* so many rows at a time: their commands stay in the nearest cache */

/* One command of each row of a run, `stride` bytes apart: what it means for rows of a chunk. */
static weft_result apply_column(applying *a, weft__command *command, size_t stride, uint32_t row,
                                uint32_t count)
{
    uint32_t type = type_of(a, command->subject);
    if (!weft__command_kinds[command->op].is_in_a_row || type == WEFT__NONE) return WEFT_OK;
    const weft__type *is = a->chunk->archetype->types[type].type;
    const uint32_t column = a->chunk->archetype->types[type].column;
    bool is_plain = command->op == WEFT__COMMAND_SET && !is->needs_destruct &&
                    command->words != WEFT__PAYLOAD_APART;
    weft_result worst = WEFT_OK;
    if (is_plain) {
        weft__rows_stamp(a->chunk, type, row, count, a->world->front.version);
        weft__values_copy(weft__chunk_value(a->chunk, column, row), (const char *)(command + 1),
                          stride, is->desc.size, count);
        return WEFT_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        weft__command *one = (weft__command *)(void *)((char *)command + i * stride);
        weft_result result = apply(a, one, row + i);
        if (result != WEFT_OK) worst = result;
    }
    return worst;
}

/* The commands of rows [skip, skip + count) of a run, for the rows of a chunk from `row` on. */
static weft_result apply_run(applying *a, const weft__fold_run *run, uint32_t skip, uint32_t row,
                             uint32_t count)
{
    const weft__fold_pattern pattern = weft__fold_pattern_of(run);
    weft_result worst = WEFT_OK;
    for (uint32_t done = 0; done < count; done += BLOCK_ROWS) {
        uint32_t rows = count - done < BLOCK_ROWS ? count - done : BLOCK_ROWS;
        size_t distance = (size_t)run->stride * (skip + done);
        for (uint32_t i = 0; i < pattern.width; i++) {
            char *command = (char *)pattern.commands[i] + distance;
            weft_result result =
                apply_column(a, (weft__command *)(void *)command, run->stride, row + done, rows);
            if (result != WEFT_OK) worst = result;
        }
    }
    return worst;
}

static weft_result apply_sweep(const weft__fold *fold, const weft__change_task *task)
{
    const weft__fold_group *group = &fold->groups[task->part];
    const weft__fold_touched *touched = &fold->touched[group->touched];
    const bool stays = fold->change.parts.at[task->part].to == NULL;
    applying a = {.world = fold->playback->world, .chunk = task->to.chunk};
    uint32_t skip = task->done; /* rows of earlier tasks */
    weft_result worst = WEFT_OK;
    for (uint32_t i = touched->run_head, done = 0; done < task->to.count; i = fold->runs[i].next) {
        const weft__fold_run *run = &fold->runs[i];
        uint32_t rows = run->state == group->state ? weft__fold_run_rows(run) : 0;
        if (rows <= skip) {
            skip -= rows;
            continue;
        }
        rows = rows - skip < task->to.count - done ? rows - skip : task->to.count - done;
        uint32_t row = stays ? run->row + skip : task->to.row + done;
        weft_result result = apply_run(&a, run, skip, row, rows);
        if (result != WEFT_OK) worst = result;
        done += rows;
        skip = 0;
    }
    return worst;
}

static void give_values(void *user, const weft__change_task *task)
{
    weft__fold *fold = user;
    weft_result result =
        fold->has_chains ? apply_chains(fold, task, apply) : apply_sweep(fold, task);
    if (result != WEFT_OK)
        at_store_rlx(&fold->x_failed, 1); /* relaxed: read after the barrier of the loop */
}

/* ---- parts ---- */

/* The tuple a part moves to but for a shared value that it gets, held; NULL: error set. */
static weft__tuple *tuple_before(weft_world *world, weft__change_part *part, weft__archetype *to)
{
    if (part->chunk == NULL) {
        to->tuple0->holders++;
        return to->tuple0;
    }
    part->plan = weft__plan_obtain(world, part->chunk->archetype, to);
    return part->plan == NULL ? NULL : weft__tuple_follow(world, part->chunk->tuple, to);
}

/* The tuple a part moves to, held; NULL: error set. */
static weft__tuple *tuple_of(weft_world *world, weft__change_part *part, weft__archetype *to,
                             weft__fold_shared shared)
{
    weft__tuple *before = tuple_before(world, part, to);
    if (before == NULL || shared.component == 0) return before;
    weft__tuple *tuple = weft__tuple_with_value(world, before, to, shared.component, shared.value);
    weft__tuple_release(world, before);
    return tuple;
}

/* The rows of a place that end in one state, fold->rows[first, ...). */
static weft_result part_add(weft__fold *fold, uint32_t number, uint32_t state, uint32_t first)
{
    const weft__fold_touched *touched = &fold->touched[number];
    weft__change *change = &fold->change;
    weft__archetype *to = touched->states[state];
    weft__fold_shared shared = touched->shared[state];
    uint32_t block = touched->place & ~WEFT__FOLD_PLACE_CREATED, before = WEFT__NONE;
    fold->groups[change->parts.count] = (weft__fold_group){number, state};
    weft__change_part *part = &change->parts.at[change->parts.count++];
    *part = weft__change_run(touched->chunk, 0, touched->counts[state]);
    part->rows = first;
    part->stamps = shared.component;
    if (touched->chunk == NULL)
        part->ids = fold->created_ids + (size_t)block * WEFT__FOLD_BLOCK_ROWS;
    else if (to == touched->chunk->archetype && shared.component == 0)
        return WEFT_OK; /* they stay */
    for (uint32_t i = change->parts.count - 1;
         i-- > 0 && fold->groups[i].touched == number && before == WEFT__NONE;)
        if (change->parts.at[i].dies || change->parts.at[i].to != NULL) before = i;
    part->before = before;
    part->leaving = fold->ref_count + touched->first_row;
    part->leaving_count = touched->removed;
    part->dies = to == NULL;
    if (part->dies) return WEFT_OK;
    part->to = tuple_of(fold->playback->world, part, to, shared);
    part->owns_hold = part->to != NULL;
    return part->owns_hold ? WEFT_OK : fold->playback->world->error->code;
}

static weft_result list_parts(weft__fold *fold)
{
    weft_world *world = fold->playback->world;
    size_t limit = (size_t)fold->touched_count * WEFT__FOLD_STATES;
    if (limit > fold->ref_count) limit = fold->ref_count;
    fold->groups = weft__scratch_take(world, WEFT__SCRATCH_GROUPS, limit, sizeof fold->groups[0]);
    fold->change.parts.at =
        weft__scratch_take(world, WEFT__SCRATCH_PARTS, limit, sizeof fold->change.parts.at[0]);
    if (fold->groups == NULL || fold->change.parts.at == NULL)
        return weft__error_memory(world, "playback");
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < fold->touched_count; i++) {
        const weft__fold_touched *touched = &fold->touched[i];
        uint32_t first = touched->first_row;
        for (uint32_t state = 1; state < touched->state_count && result == WEFT_OK; state++) {
            if (touched->counts[state] == 0) continue;
            result = part_add(fold, i, state, first);
            first += touched->counts[state];
        }
    }
    return result;
}

weft_result weft__fold_move(weft__fold *fold)
{
    weft_world *world = fold->playback->world;
    weft__change *change = &fold->change;
    *change =
        (weft__change){.world = world,
                       .rows = {fold->rows, 2 * fold->ref_count, 0},
                       .by_tuple = true,
                       .job = fold->playback->job,
                       .copy_cost = weft__playback_cost(fold->playback, WEFT__PLAYBACK_COPY),
                       .close_cost = weft__playback_cost(fold->playback, WEFT__PLAYBACK_CLOSE),
                       .values = fold->has_chains || fold->has_sweeps ? give_values : NULL,
                       .user = fold};
    weft_result result = list_parts(fold);
    if (result == WEFT_OK) result = weft__change_prepare(change);
    if (result == WEFT_OK) {
        weft__change_copy(change);
        for (uint32_t i = 0; fold->has_enables && i < change->tasks.count; i++)
            give_enables(fold, &change->tasks.at[i]);
        weft__change_close(change);
        for (uint32_t i = 0; i < fold->touched_count; i++)
            fold->playback->result.skipped += fold->touched[i].skipped;
        if (at_load_rlx(&fold->x_failed) != 0) /* relaxed: the loop has ended */
            result = weft__error_memory(world, "playback: a buffer could not grow");
    }
    weft__change_fini(change);
    return result;
}
