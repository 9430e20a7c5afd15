/* SPDX-License-Identifier: MIT */
/* fold_move.c: a folded batch takes effect: the rows of each place that end alike are a part of one
 * change (row_moves.h), which moves or ends them and calls for their values. What fails before the
 * copies leaves the world as it was. */
#include "fold_move.h"

#include "error.h"
#include "fold_values.h"
#include "move_plan.h"
#include "scratch.h"
#include "tuple.h"

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
                       .values = fold->has_chains || fold->has_sweeps ? weft__fold_values : NULL,
                       .user = fold};
    weft_result result = list_parts(fold);
    if (result == WEFT_OK) result = weft__change_prepare(change);
    if (result == WEFT_OK) {
        weft__change_copy(change);
        for (uint32_t i = 0; fold->has_enables && i < change->tasks.count; i++)
            weft__fold_enables(fold, &change->tasks.at[i]);
        weft__change_close(change);
        for (uint32_t i = 0; i < fold->touched_count; i++)
            fold->playback->result.skipped += fold->touched[i].skipped;
        if (at_load_rlx(&fold->x_failed) != 0) /* relaxed: the loop has ended */
            result = weft__error_memory(world, "playback: a buffer could not grow");
    }
    weft__change_fini(change);
    return result;
}
