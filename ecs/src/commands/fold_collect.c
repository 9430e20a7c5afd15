/* SPDX-License-Identifier: MIT */
/* fold_collect.c: the first half of a fold: where every target is, and the commands of each
 * chunk as a list of runs in order of effect. See fold_state.h. Recorded values get their
 * deferred references replaced on the way, in place. */
#include "fold_collect.h"

#include "archetype_state.h"
#include "entity_value.h"
#include "fold_shared.h"
#include "fold_tasks.h"
#include "playback_patch.h"
#include "playback_scratch.h"

#include <string.h>

#define SEGMENT_GRAIN 1

/* Collecting one segment; lives on a worker's stack. */
typedef struct collecting {
    weft__fold *fold;
    uint32_t segment;
    uint32_t run_count;
    weft__fold_run *run;                /* the last one, NULL before the first */
    weft__chunk *chunk;                 /* where the last target was ... */
    uint32_t row;                       /* ... and its row: the next one is often its neighbour */
    uint8_t guesses[WEFT__FOLD_VALUES]; /* of shared values: see fold_shared.h */
} collecting;

static weft__fold_ref place_created(const collecting *c, weft__command *command)
{
    const weft__fold *fold = c->fold;
    const weft__command_segment *segment = &fold->segments[c->segment];
    uint32_t number =
        fold->created_bases[c->segment] + command->entity.index - segment->created_first;
    if (command->op == WEFT__COMMAND_CREATE)
        fold->created_ids[number] =
            weft__playback_resolve(fold->playback, segment, command->entity);
    return (weft__fold_ref){command, WEFT__FOLD_PLACE_CREATED | number / WEFT__FOLD_BLOCK_ROWS,
                            number % WEFT__FOLD_BLOCK_ROWS};
}

static bool is_row(weft_entity entity)
{
    return weft__entity_is_deferred(entity) && (entity.index & WEFT__ROW_HANDLE) != 0;
}

static bool is_same(weft_entity a, weft_entity b)
{
    return memcmp(&a, &b, sizeof a) == 0; /* one comparison of 8 bytes */
}

static bool is_at(const weft__chunk *chunk, uint32_t row, weft_entity entity)
{
    if (row >= chunk->count) return false;
    return is_same(weft__chunk_entities(chunk)[row], entity);
}

/* Finds a target: a row that holds the handle is its place, so neighbours need no look-up. */
static inline __attribute__((always_inline)) bool find_row(collecting *c, weft_entity entity)
{
    if (c->chunk != NULL && is_at(c->chunk, c->row + 1, entity)) {
        c->row++;
        return true;
    }
    if (c->chunk != NULL && is_at(c->chunk, c->row, entity)) return true;
    uint32_t row = 0;
    weft__chunk *chunk = weft__entity_chunk(c->fold->playback->world, entity, &row);
    if (chunk == NULL) return false;
    c->chunk = chunk;
    c->row = row;
    return true;
}

/* False: the immediate operations must do it. */
static bool place_alive(collecting *c, weft__command *command, weft__fold_ref *ref)
{
    *ref = (weft__fold_ref){command, WEFT__FOLD_PLACE_DEAD, 0};
    if (!find_row(c, command->entity)) return true;
    ref->place = c->chunk->id;
    ref->row = c->row;
    if ((c->chunk->archetype->flags & WEFT__IS_RESIDUE) != 0) return false;
    return command->op != WEFT__COMMAND_DESTROY || weft__fold_dies_alone(c->chunk->archetype);
}

static void patch(const weft__fold *fold, uint32_t segment, weft__command *command)
{
    const weft__type *type = fold->playback->world->types.at[command->subject];
    if (type->entity_offset_count == 0) return;
    uint64_t *payload = weft__command_payload(command);
    if (command->op == WEFT__COMMAND_SET)
        weft__playback_patch(fold->playback, &fold->segments[segment], type, payload, 1);
    else
        weft__playback_patch_elements(fold->playback, &fold->segments[segment], type, payload + 1,
                                      (uint32_t)payload[0]);
}

/* Whether a command lies behind those of a run, and is as long as they are. */
static bool follows(const weft__fold_run *run, const weft__command *command)
{
    size_t bytes = weft__command_bytes(run->command);
    return (const char *)run->command + run->count * bytes == (const char *)command &&
           weft__command_bytes(command) == bytes;
}

/* Extends the last run or begins one. */
static void add_to_runs(collecting *c, const weft__fold_ref *ref, uint32_t number)
{
    const weft__command *command = ref->command;
    weft__fold_run *run = c->run;
    bool is_next = run != NULL && run->place == ref->place;
    if (is_next && !c->fold->has_chains)
        is_next = run->row + run->count == ref->row && run->subject == command->subject &&
                  run->op == command->op && (!c->fold->has_values || follows(run, command));
    if (is_next) {
        run->count++;
        return;
    }
    c->run = &c->fold->runs[weft__fold_run_place(c->fold, c->segment, c->run_count++)];
    *c->run = (weft__fold_run){ref->command, ref->place, number,           1,
                               WEFT__NONE,   ref->row,   command->subject, command->op};
}

/* What follows the target in a command: component, payload size, operation and flags in one
 * word. */
static uint64_t kind_of(const weft__command *command)
{
    uint64_t kind;
    static_assert(offsetof(weft__command, subject) == 8, "the rest of a command is one word");
    memcpy(&kind, &command->subject, sizeof kind);
    return kind;
}

/* References in values are patched one by one. */
static bool needs_patch(const collecting *c, const weft__command *command)
{
    return command->words != 0 &&
           c->fold->playback->world->types.at[command->subject]->entity_offset_count != 0;
}

/* After a command on a row of a chunk: takes those that follow as long as each is the same
 * operation on the next row, which is the usual case. Returns how many. */
static uint32_t extend_run(collecting *c, const weft__command *command,
                           weft__command_cursor *cursor)
{
    if (c->chunk == NULL || c->run->place != c->chunk->id ||
        c->run->row + c->run->count != c->row + 1 || needs_patch(c, command))
        return 0;
    const weft_entity *there = weft__chunk_entities(c->chunk) + c->row + 1;
    const uint64_t kind = kind_of(command);
    const uint32_t bytes = (uint32_t)weft__command_bytes(command);
    uint32_t most = (cursor->page->used - cursor->offset) / bytes, count = 0;
    uint32_t rows = c->chunk->count - (c->row + 1);
    if (most > cursor->left) most = cursor->left;
    if (most > rows) most = rows;
    const char *next = (const char *)command + bytes; /* in the page, when there is one */
    for (; count < most; count++, next += bytes) {
        const weft__command *other = (const weft__command *)(const void *)next;
        if (kind_of(other) != kind || !is_same(other->entity, there[count])) break;
    }
    cursor->offset += count * bytes;
    cursor->left -= count;
    c->row += count;
    c->run->count += count;
    return count;
}

/* Rows made in place and instances are in the world by now: their deferred handles become real. */
static __attribute__((noinline)) void
resolve_placed(collecting *c, const weft__command_segment *segment, weft__command *command)
{
    bool has_instances = (segment->traits & WEFT__SEGMENT_HAS_INSTANCES) != 0;
    if (!is_row(command->entity) && !has_instances) return;
    weft_entity entity = weft__playback_resolve(c->fold->playback, segment, command->entity);
    if (is_row(command->entity) || find_row(c, entity)) command->entity = entity;
}

static bool collect_segment(weft__fold *fold, uint32_t number)
{
    collecting c = {.fold = fold, .segment = number};
    const weft__command_segment *segment = &fold->segments[number];
    weft__command_cursor cursor = weft__command_begin(segment);
    uint32_t at = fold->first_refs[number];
    for (weft__command *command; (command = weft__command_next(&cursor)) != NULL;) {
        weft__fold_ref ref;
        if (weft__command_is_made(command)) continue;
        if (command->op == WEFT__COMMAND_SET || weft__command_has_elements(command->op))
            patch(fold, number, command);
        if (weft__entity_is_deferred(command->entity)) resolve_placed(&c, segment, command);
        if (weft__entity_is_deferred(command->entity))
            ref = place_created(&c, command);
        else if (!place_alive(&c, command, &ref))
            return false;
        if (fold->has_chains) fold->refs[at] = ref;
        add_to_runs(&c, &ref, at);
        if (fold->has_shared && command->op == WEFT__COMMAND_SET_SHARED &&
            !weft__fold_value_note(fold, number, command, c.guesses))
            return false;
        at += fold->has_chains ? 1 : 1 + extend_run(&c, command, &cursor);
    }
    fold->run_counts[number] = c.run_count;
    return true;
}

static int collect_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job;
    weft__fold *fold = argument;
    for (uint32_t i = begin; i < end; i++)
        if (!collect_segment(fold, i)) return 1;
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
    if (!weft__fold_for(fold, collect_part, fold->segment_count, SEGMENT_GRAIN)) {
        fold->is_impossible = true;
        return WEFT_OK;
    }
    return group(fold);
}
