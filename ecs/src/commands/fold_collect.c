/* SPDX-License-Identifier: MIT */
/* fold_collect.c: the first half of a fold: where every target is, and the commands of each
 * chunk as a list of runs in order of effect. See fold_state.h. Recorded values get their
 * deferred references replaced on the way, in place. */
#include "fold_collect.h"

#include "fold_shared.h"
#include "fold_sweep.h"
#include "fold_target.h"
#include "scratch.h"

#include <string.h>

/* Collecting one segment with chains; lives on a worker's stack. */
typedef struct collecting {
    weft__fold_finder finder;
    uint32_t run_count;
    weft__fold_run *run;                /* the last one, NULL before the first */
    uint8_t guesses[WEFT__FOLD_VALUES]; /* of shared values: see fold_shared.h */
} collecting;

/* Extends the last run or begins one. */
static void add_to_runs(collecting *c, const weft__fold_ref *ref, uint32_t number)
{
    const weft__fold *fold = c->finder.fold;
    if (c->run != NULL && c->run->place == ref->place) {
        c->run->count++;
        return;
    }
    c->run = &fold->runs[weft__fold_run_place(fold, c->finder.segment, c->run_count++)];
    *c->run = (weft__fold_run){.command = ref->command,
                               .place = ref->place,
                               .first = number,
                               .count = 1,
                               .next = WEFT__NONE};
}

static bool collect_chains(weft__fold *fold, uint32_t number)
{
    collecting c = {.finder = {.fold = fold, .segment = number}};
    weft__command_cursor cursor = weft__command_begin(&fold->segments[number]);
    uint32_t at = fold->first_refs[number];
    for (weft__command *command; (command = weft__command_next(&cursor)) != NULL;) {
        weft__fold_ref *ref = &fold->refs[at];
        if (weft__command_is_made(command)) continue;
        weft__fold_ready(&c.finder, command);
        if (!weft__fold_place(&c.finder, command, ref)) return false;
        add_to_runs(&c, ref, at++);
        if (command->op == WEFT__COMMAND_SET_SHARED &&
            !weft__fold_value_note(fold, number, command, c.guesses))
            return false;
    }
    fold->run_counts[number] = c.run_count;
    return true;
}

static int collect_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job;
    weft__fold *fold = argument;
    for (uint32_t i = begin; i < end; i++)
        if (!(fold->has_chains ? collect_chains(fold, i) : weft__fold_sweep_collect(fold, i)))
            return 1;
    return 0;
}

/* ---- group ---- */

static weft__fold_touched *touch(weft__fold *fold, uint32_t *map, uint32_t place)
{
    if (*map == 0) {
        *map = ++fold->touched_count;
        weft__fold_touched *fresh = &fold->touched[*map - 1];
        memset(fresh, 0, offsetof(weft__fold_touched, states));
        fresh->place = place;
        fresh->run_head = fresh->run_tail = WEFT__NONE;
        bool is_created = (place & WEFT__FOLD_PLACE_CREATED) != 0;
        fresh->chunk = is_created ? NULL : fold->playback->world->chunks.at[place];
        fresh->rows = is_created ? WEFT__FOLD_BLOCK_ROWS : fresh->chunk->count;
    }
    return &fold->touched[*map - 1];
}

static bool counts_as_skipped(uint32_t op)
{
    return op != WEFT__COMMAND_DESTROY && op != WEFT__COMMAND_ROWS;
}

static void skip_dead(weft__fold *fold, const weft__fold_run *run)
{
    uint64_t *skipped = &fold->playback->result.skipped;
    if (!fold->has_chains) *skipped += counts_as_skipped(run->op) ? run->count : 0;
    for (uint32_t i = 0; fold->has_chains && i < run->count; i++)
        *skipped += counts_as_skipped(fold->refs[run->first + i].command->op);
}

/* Links the runs of every place. `map` is all zero, and again at the end. */
static void link_runs(weft__fold *fold, uint32_t *map, uint32_t created_map)
{
    for (uint32_t segment = 0; segment < fold->segment_count; segment++)
        for (uint32_t i = 0; i < fold->run_counts[segment]; i++) {
            uint32_t number = weft__fold_run_place(fold, segment, i);
            weft__fold_run *run = &fold->runs[number];
            if (run->place == WEFT__FOLD_PLACE_DEAD) {
                skip_dead(fold, run);
                continue;
            }
            bool is_created = (run->place & WEFT__FOLD_PLACE_CREATED) != 0;
            uint32_t slot = run->place & ~WEFT__FOLD_PLACE_CREATED;
            weft__fold_touched *touched =
                touch(fold, &map[is_created ? created_map + slot : slot], run->place);
            if (touched->run_tail == WEFT__NONE)
                touched->run_head = number;
            else
                fold->runs[touched->run_tail].next = number;
            touched->run_tail = number;
            touched->ref_count += run->count;
        }
}

/* Upper bound of the number of places: runs, and chunks plus blocks. */
static uint32_t place_limit(const weft__fold *fold, uint32_t map_count)
{
    uint64_t runs = 0;
    for (uint32_t i = 0; i < fold->segment_count; i++) runs += fold->run_counts[i];
    return runs < map_count ? (uint32_t)runs : map_count;
}

static weft_result group(weft__fold *fold)
{
    weft_world *world = fold->playback->world;
    uint32_t blocks = fold->created_count / WEFT__FOLD_BLOCK_ROWS + 1;
    uint32_t map_count = world->chunks.end + blocks;
    uint32_t *map = weft__scratch_take(world, WEFT__SCRATCH_MAP, map_count, sizeof map[0]);
    fold->touched = weft__scratch_take(world, WEFT__SCRATCH_TOUCHED, place_limit(fold, map_count),
                                       sizeof fold->touched[0]);
    if (map == NULL || fold->touched == NULL) return WEFT_OUT_OF_MEMORY;
    memset(map, 0, map_count * sizeof map[0]);
    link_runs(fold, map, world->chunks.end);
    uint32_t row = 0;
    uint64_t cell = 0;
    for (uint32_t i = 0; i < fold->touched_count; i++) {
        weft__fold_touched *touched = &fold->touched[i];
        touched->first_row = row;
        touched->first_cell = (uint32_t)cell;
        row += touched->ref_count;
        cell += touched->rows;
    }
    if (cell > UINT32_MAX) return WEFT_OUT_OF_MEMORY;
    fold->cell_count = (uint32_t)cell;
    return WEFT_OK;
}

/* ---- memory ---- */

static weft_result take_arrays(weft__fold *fold)
{
    weft_world *world = fold->playback->world;
    uint32_t segments = fold->segment_count, refs = fold->ref_count;
    uint32_t *numbers = weft__scratch_take(world, WEFT__SCRATCH_NUMBERS, 3 * (size_t)segments + 1,
                                           sizeof numbers[0]);
    if (fold->has_chains)
        fold->refs = weft__scratch_take(world, WEFT__SCRATCH_REFS, refs, sizeof fold->refs[0]);
    fold->runs = weft__scratch_take(world, WEFT__SCRATCH_RUNS, (size_t)segments + refs,
                                    sizeof fold->runs[0]);
    fold->created_ids = weft__scratch_take(world, WEFT__SCRATCH_CREATED, fold->created_count,
                                           sizeof fold->created_ids[0]);
    if (fold->has_shared && !weft__fold_values_take(fold)) return WEFT_OUT_OF_MEMORY;
    if (numbers == NULL || (fold->has_chains && fold->refs == NULL) || fold->runs == NULL ||
        fold->created_ids == NULL)
        return WEFT_OUT_OF_MEMORY;
    fold->first_refs = numbers;
    fold->run_counts = numbers + segments + 1;
    fold->created_bases = fold->run_counts + segments;
    return WEFT_OK;
}

weft_result weft__fold_collect(weft__fold *fold)
{
    for (uint32_t i = 0; i < fold->segment_count; i++) {
        fold->ref_count += fold->segments[i].count;
        fold->created_count += fold->segments[i].created_count;
    }
    weft_result result = take_arrays(fold);
    if (result != WEFT_OK) return result;
    uint32_t refs = 0, created = 0;
    for (uint32_t i = 0; i < fold->segment_count; i++) {
        fold->first_refs[i] = refs;
        fold->created_bases[i] = created;
        refs += fold->segments[i].count;
        created += fold->segments[i].created_count;
    }
    fold->first_refs[fold->segment_count] = refs;
    if (!weft__playback_for(fold->playback, WEFT__PLAYBACK_COLLECT, collect_part, fold,
                            fold->segment_count)) {
        fold->is_impossible = at_load_rlx(&fold->x_unswept) == 0; /* relaxed: the loop has ended */
        return WEFT_OK;
    }
    return group(fold);
}
