/* SPDX-License-Identifier: MIT */
/* fold_rows.c: the second half of a fold: per row the archetype it ends in, then the moves. See
 * fold_rows.h.
 *
 * Every chunk has a small table of states; a command takes its row from one to another. Which
 * archetype follows from which command the edges of archetypes say, which workers only read: a
 * worker that misses one leaves its chunk undone. The owner then takes the undone chunks in
 * order, adds what each misses, and folds it to its end before it looks at the next: so the order
 * in which archetypes are made follows from the commands, not from the edges there were. After the
 * first frame nothing is missed. */
#include "fold_rows.h"
#include "archetype.h"
#include "playback_one.h"
#include "query_change.h"
#include "scratch.h"
#include "search.h"

/* ---- one chunk ---- */

#define TRANSITION_DEATH UINT32_MAX /* in place of a component: to the residue */

#define MEMO_BITS 5 /* rows get a few commands each, in the same order */
#define MEMOS (1u << MEMO_BITS)

/* A transition between states of one chunk. A value; command UINT64_MAX: none. */
typedef struct memo {
    uint64_t command; /* op and component, or those and a shared value */
    uint32_t from, to;
} memo;

/* Folding one chunk; lives on a worker's stack. */
typedef struct folding {
    weft__fold *fold;
    weft__fold_touched *touched;
    uint8_t *states;
    uint32_t *heads;
    uint32_t *tails;
    uint32_t segment; /* of the commands being folded; only where shared values are set */
    memo memos[MEMOS];
} folding;

enum {
    STATE_NONE = 0, /* not touched */
    STATE_DEAD = 1,
    STATE_HOME = 2, /* the archetype of the chunk; created rows: not yet created */
    STATE_FIRST = 3,
};

/* A shared value as it counts: none where the archetype has no such component, or the chunk has the
 * value already. */
static weft__fold_shared shared_of(const weft__fold_touched *touched,
                                   const weft__archetype *archetype, weft__fold_shared shared)
{
    const weft__fold_shared none = {0, 0};
    if (shared.component == 0) return none;
    uint32_t type = weft__archetype_find(archetype, shared.component);
    if (type == WEFT__NONE) return none;
    const weft__chunk *chunk = touched->chunk;
    bool is_home = chunk != NULL && archetype == chunk->archetype;
    return is_home && chunk->tuple->values[archetype->types[type].shared] == shared.value ? none
                                                                                          : shared;
}

/* The state of an archetype and a shared value, new when it must; 0: no room. */
static uint32_t state_of(weft__fold_touched *touched, weft__archetype *archetype,
                         weft__fold_shared shared)
{
    shared = shared_of(touched, archetype, shared);
    for (uint32_t i = STATE_HOME; i < touched->state_count; i++)
        if (touched->states[i] == archetype && touched->shared[i].component == shared.component &&
            touched->shared[i].value == shared.value)
            return i;
    if (touched->state_count == WEFT__FOLD_STATES) return 0;
    touched->states[touched->state_count] = archetype;
    touched->shared[touched->state_count] = shared;
    return touched->state_count++;
}

/* Where a command from a state is remembered. */
static inline memo *memo_of(folding *f, uint32_t state, uint64_t command)
{
    return &f->memos[(command ^ (uint64_t)state << 16) * HASH_K0 >> (64 - MEMO_BITS)];
}

/* A SHARED component that comes back begins with its default, whatever value its chunk has. False:
 * two values differ from those of the chunk. */
static bool begin_shared(const weft__fold_touched *touched, const weft__archetype *from,
                         const weft__archetype *to, weft__fold_shared *shared)
{
    const weft__chunk *chunk = touched->chunk;
    for (uint32_t i = 0; i < to->shared_count && chunk != NULL; i++) {
        const uint32_t component = to->shared_components[i];
        uint32_t type = weft__archetype_find(chunk->archetype, component);
        if (type == WEFT__NONE || weft__archetype_find(from, component) != WEFT__NONE ||
            chunk->tuple->values[chunk->archetype->types[type].shared] == 0)
            continue;
        if (shared->component != 0 && weft__archetype_find(to, shared->component) != WEFT__NONE)
            return false;
        *shared = (weft__fold_shared){component, 0};
    }
    return true;
}

/* Where a transition leads, as far as it is known; NULL: it is not. Any thread. */
static weft__archetype *transition_find(const weft__archetype *from, uint32_t component,
                                        bool is_remove)
{
    if (component == TRANSITION_DEATH) return from->residue;
    const weft__plan *plan = weft__archetype_edge_find(from, component, is_remove);
    return plan == NULL ? NULL : plan->to;
}

/* The state after a transition; 0: unknown, or no room (touched->missing says). */
static uint32_t transit(const folding *f, uint32_t state, uint32_t component, bool is_remove)
{
    const weft__archetype *from = f->touched->states[state];
    weft__fold_shared shared = f->touched->shared[state];
    weft__archetype *to = transition_find(from, component, is_remove);
    if (to == NULL) {
        f->touched->missing =
            (uint64_t)from->id << 33 | (uint64_t)component << 1 | (is_remove ? 1 : 0);
        return 0;
    }
    return begin_shared(f->touched, from, to, &shared) ? state_of(f->touched, to, shared) : 0;
}

/* The state after adding or removing a component; 0: as transit, or not by a fold. */
static uint32_t follow(const folding *f, uint32_t state, uint32_t component, bool is_remove)
{
    if (weft__prefab_follows(f->fold->playback->world, f->touched->states[state], component))
        return 0; /* other rows change, too */
    return transit(f, state, component, is_remove);
}

static void chain(folding *f, uint32_t row, uint32_t ref)
{
    f->fold->next_refs[ref] = 0;
    if (f->heads[row] == 0)
        f->heads[row] = ref + 1;
    else
        f->fold->next_refs[f->tails[row]] = ref + 1;
    f->tails[row] = ref;
}

static bool is_residue(const weft__archetype *archetype)
{
    return archetype != NULL && (archetype->flags & WEFT__IS_RESIDUE) != 0;
}

/* Destroyed where commands have brought the row to; STATE_NONE: see follow. Only rows of chunks
 * become residues: a created entity would have to be in its first place before. */
static uint32_t destroyed(const folding *f, uint32_t state)
{
    const weft__archetype *archetype = f->touched->states[state];
    if (archetype == NULL) return STATE_DEAD;
    if (!weft__fold_dies_alone(archetype)) return STATE_NONE;
    if ((archetype->flags & WEFT__HAS_CLEANUP) == 0) return STATE_DEAD;
    if (is_residue(archetype)) return state;
    return f->touched->chunk != NULL ? transit(f, state, TRANSITION_DEATH, false) : STATE_NONE;
}

/* The state after a command; STATE_NONE: see follow. */
static __attribute__((noinline)) uint32_t next_state(const folding *f, uint32_t state, uint32_t op,
                                                     uint32_t subject)
{
    if (op != WEFT__COMMAND_DESTROY && is_residue(f->touched->states[state]))
        return STATE_NONE; /* a residue has an end of its own: see entity_change.c */
    switch ((weft__command_way)weft__command_kinds[op].way) {
    case WEFT__WAY_MADE:
        return state_of(f->touched, f->fold->playback->world->archetypes.by_id[subject - 1],
                        (weft__fold_shared){0, 0});
    case WEFT__WAY_DIES:
        return destroyed(f, state);
    case WEFT__WAY_GAINS:
        return follow(f, state, subject, false);
    case WEFT__WAY_LOSES:
        return follow(f, state, subject, true);
    case WEFT__WAY_SWITCHES:
    case WEFT__WAY_SHARES: /* see share */
    case WEFT__WAY_LINKED:
    case WEFT__WAY_COPIED:
    case WEFT__WAY_ALONE:
        break;
    }
    return state;
}

/* The state one command later; STATE_NONE: see follow. What is dead stays so. */
static inline __attribute__((always_inline)) uint32_t advance(folding *f, uint32_t state,
                                                              uint32_t op, uint32_t subject)
{
    uint64_t command = (uint64_t)op << 32 | subject;
    memo *known = memo_of(f, state, command);
    if (known->command != command || known->from != state)
        *known = (memo){command, state, next_state(f, state, op, subject)};
    if (known->to == STATE_NONE) known->command = UINT64_MAX;
    return known->to;
}

/* Takes one row one command further. False: see follow. */
static inline __attribute__((always_inline)) bool fold_row(folding *f, uint32_t row, uint32_t op,
                                                           uint32_t subject)
{
    uint32_t state = f->states[row];
    if (state == STATE_DEAD) {
        if (op != WEFT__COMMAND_DESTROY) f->touched->skipped++;
        return true;
    }
    f->states[row] = (uint8_t)advance(f, state == STATE_NONE ? STATE_HOME : state, op, subject);
    return f->states[row] != STATE_NONE;
}

/* The commands of the first row of a run. */
static inline weft__fold_pattern fold_pattern_of(const weft__fold_run *run)
{
    weft__fold_pattern pattern;
    pattern.width = run->width;
    uint32_t offset = (uint32_t)((const char *)run->command - (const char *)run->page->data);
    weft__command_cursor cursor = {run->page, offset, UINT32_MAX};
    for (uint32_t i = 0; i < pattern.width; i++) pattern.commands[i] = weft__fold_next(&cursor);
    return pattern;
}

/* The state in which untouched rows of a run end; STATE_NONE: see follow. */
static uint32_t run_state(folding *f, const weft__fold_run *run)
{
    if (run->width == 1) return advance(f, STATE_HOME, run->op, run->subject);
    weft__fold_pattern pattern = fold_pattern_of(run);
    uint32_t state = STATE_HOME;
    for (uint32_t i = 0; i < pattern.width && state != STATE_NONE; i++) {
        const weft__command *command = pattern.commands[i];
        if (state != STATE_DEAD)
            state = advance(f, state, command->op, command->subject);
        else if (command->op != WEFT__COMMAND_DESTROY)
            f->touched->skipped += weft__fold_run_rows(run);
    }
    return state;
}

static bool is_untouched(const uint8_t *states, uint32_t count)
{
    uint8_t any = 0;
    for (uint32_t i = 0; i < count; i++) any |= states[i];
    return any == 0;
}

/* The same commands for each of neighbouring rows. False: see follow. */
static bool fold_uniform(folding *f, const weft__fold_run *run)
{
    uint32_t rows = weft__fold_run_rows(run);
    if (is_untouched(f->states + run->row, rows)) {
        uint32_t state = run_state(f, run);
        if (state != STATE_NONE) memset(f->states + run->row, (int)state, rows);
        return state != STATE_NONE;
    }
    weft__fold_pattern pattern = fold_pattern_of(run);
    for (uint32_t row = run->row; row < run->row + rows; row++)
        for (uint32_t i = 0; i < pattern.width; i++)
            if (!fold_row(f, row, pattern.commands[i]->op, pattern.commands[i]->subject))
                return false;
    return true;
}

/* Switching a component that the row does not have at this point means nothing, whatever is added
 * later. */
static bool is_missed(const folding *f, const weft__fold_ref *ref)
{
    uint32_t state = f->states[ref->row];
    if (ref->command->op != WEFT__COMMAND_ENABLE || state == STATE_DEAD) return false;
    const weft__archetype *archetype = f->touched->states[state == STATE_NONE ? STATE_HOME : state];
    return weft__archetype_find(archetype, ref->command->subject) == WEFT__NONE;
}

/* The state with a shared value; STATE_NONE: see follow, or one of another component is set. */
static uint32_t share(folding *f, uint32_t state, weft__fold_shared shared)
{
    const weft__fold_touched *touched = f->touched;
    uint64_t command = UINT64_C(1) << 63 | (uint64_t)shared.component << 32 | shared.value;
    memo *known = memo_of(f, state, command);
    if (known->command == command && known->from == state) return known->to;
    uint32_t with = state;
    if (is_residue(touched->states[state])) return STATE_NONE;
    if (weft__archetype_find(touched->states[state], shared.component) == WEFT__NONE)
        with = follow(f, state, shared.component, false);
    if (with == STATE_NONE) return STATE_NONE;
    uint32_t other = touched->shared[with].component;
    if (other != 0 && other != shared.component) return STATE_NONE;
    *known = (memo){command, state, state_of(f->touched, touched->states[with], shared)};
    return known->to;
}

/* The value that a noted command sets. Any thread, while they are held. */
static inline weft__fold_shared fold_value(const weft__fold *fold, uint32_t segment,
                                           const weft__command *noted)
{
    uint32_t number = segment * WEFT__FOLD_VALUES + (noted->flags >> WEFT__FOLD_VALUE_SHIFT);
    return (weft__fold_shared){noted->subject, fold->value_indices[number]};
}

/* Takes one row past a SET_SHARED command. False: see share. */
static bool fold_shared(folding *f, const weft__fold_ref *ref)
{
    uint32_t state = f->states[ref->row];
    if (state == STATE_DEAD) {
        f->touched->skipped++;
        return true;
    }
    uint32_t next = share(f, state == STATE_NONE ? STATE_HOME : state,
                          fold_value(f->fold, f->segment, ref->command));
    if (next == STATE_NONE) return false;
    f->states[ref->row] = (uint8_t)next;
    return true;
}

/* The segment of a command. */
static uint32_t segment_of(const weft__fold *fold, uint32_t number)
{
    return weft__search(fold->first_refs, fold->segment_count, sizeof *fold->first_refs, 0,
                        number + 1) -
           1;
}

static bool fold_chained(folding *f, const weft__fold_run *run)
{
    if (f->fold->has_shared) f->segment = segment_of(f->fold, run->first);
    for (uint32_t i = run->first; i < run->first + run->count; i++) {
        const weft__fold_ref *ref = &f->fold->refs[i];
        bool was_dead = f->states[ref->row] == STATE_DEAD;
        if (ref->command->op == WEFT__COMMAND_SET_SHARED) {
            if (!fold_shared(f, ref)) return false;
            continue;
        }
        if (is_missed(f, ref)) {
            f->touched->skipped++;
            continue;
        }
        if (!fold_row(f, ref->row, ref->command->op, ref->command->subject)) return false;
        if (!was_dead && weft__command_kinds[ref->command->op].is_in_a_row) chain(f, ref->row, i);
    }
    return true;
}

/* One past the last of the rows from `row` on that are in the same state. */
static uint32_t run_end(const uint8_t *states, uint32_t row, uint32_t rows)
{
    const uint64_t same = states[row] * UINT64_C(0x0101010101010101);
    uint32_t end = row + 1;
    for (uint64_t eight; end + 8 <= rows; end += 8) {
        memcpy(&eight, states + end, sizeof eight);
        if (eight != same) break;
    }
    while (end < rows && states[end] == states[row]) end++;
    return end;
}

static uint32_t *put_rows(uint32_t *out, uint32_t row, uint32_t end)
{
    for (uint32_t i = 0; i < end - row; i++) out[i] = row + i;
    return out + (end - row);
}

/* Lists the rows of every state, ascending, and those that leave. */
static void list_rows(const folding *f)
{
    weft__fold_touched *touched = f->touched;
    uint32_t at[WEFT__FOLD_STATES], first = touched->first_row, leaving_groups = 0;
    memset(touched->counts, 0, sizeof touched->counts);
    for (uint32_t row = 0, end; row < touched->rows; row = end) {
        end = run_end(f->states, row, touched->rows);
        touched->counts[f->states[row]] += end - row;
    }
    touched->counts[STATE_NONE] = 0;
    touched->removed = 0;
    for (uint32_t i = STATE_DEAD; i < touched->state_count; i++) {
        at[i] = first;
        first += touched->counts[i];
        if (i == STATE_HOME || touched->counts[i] == 0) continue;
        touched->removed += touched->counts[i];
        leaving_groups++;
    }
    uint32_t *removed = f->fold->rows + f->fold->ref_count + touched->first_row;
    for (uint32_t row = 0, end; row < touched->rows; row = end) {
        uint32_t state = f->states[row];
        end = run_end(f->states, row, touched->rows);
        if (state == STATE_NONE) continue;
        put_rows(f->fold->rows + at[state], row, end);
        at[state] += end - row;
        if (leaving_groups > 1 && state != STATE_HOME) removed = put_rows(removed, row, end);
    }
}

/* The rows of a swept place, which all end in one state. */
static void list_sweep(const folding *f, uint32_t state)
{
    weft__fold_touched *touched = f->touched;
    const weft__fold_run *runs = f->fold->runs;
    uint32_t *first = f->fold->rows + touched->first_row, *rows = first;
    for (uint32_t i = touched->run_head; i != WEFT__NONE; i = runs[i].next)
        rows = put_rows(rows, runs[i].row, runs[i].row + weft__fold_run_rows(&runs[i]));
    memset(touched->counts, 0, sizeof touched->counts);
    touched->counts[state] = (uint32_t)(rows - first);
    touched->removed = state == STATE_HOME ? 0 : touched->counts[state];
}

/* A swept place: run by run, no row is looked at. False: see follow. */
static bool fold_sweep(folding *f)
{
    const weft__fold_touched *touched = f->touched;
    weft__fold_run *runs = f->fold->runs;
    const uint32_t head = touched->run_head;
    bool is_one = true;
    for (uint32_t i = head; i != WEFT__NONE; i = runs[i].next) {
        runs[i].state = (uint8_t)run_state(f, &runs[i]);
        if (runs[i].state == STATE_NONE) return false;
        is_one &= runs[i].state == runs[head].state;
    }
    if (is_one) {
        list_sweep(f, runs[head].state);
        return true;
    }
    f->states = f->fold->states + touched->first_cell;
    memset(f->states, 0, touched->rows);
    for (uint32_t i = head; i != WEFT__NONE; i = runs[i].next)
        memset(f->states + runs[i].row, runs[i].state, weft__fold_run_rows(&runs[i]));
    list_rows(f);
    return true;
}

/* Row by row. False: see follow. */
static bool fold_each(folding *f)
{
    const weft__fold *fold = f->fold;
    const weft__fold_touched *touched = f->touched;
    f->states = fold->states + touched->first_cell;
    memset(f->states, 0, touched->rows);
    if (fold->has_chains) {
        f->heads = fold->heads + touched->first_cell;
        f->tails = fold->tails + touched->first_cell;
        memset(f->heads, 0, touched->rows * sizeof f->heads[0]);
    }
    for (uint32_t run = touched->run_head; run != WEFT__NONE; run = fold->runs[run].next) {
        const weft__fold_run *commands = &fold->runs[run];
        if (!(fold->has_chains ? fold_chained(f, commands) : fold_uniform(f, commands)))
            return false;
    }
    list_rows(f);
    return true;
}

static void fold_touched(folding *f)
{
    const weft__fold *fold = f->fold;
    weft__fold_touched *touched = f->touched;
    touched->skipped = 0;
    touched->missing = 0;
    touched->state_count = STATE_FIRST;
    touched->states[STATE_HOME] = touched->chunk == NULL ? NULL : touched->chunk->archetype;
    touched->states[STATE_DEAD] = NULL;
    touched->shared[STATE_HOME] = touched->shared[STATE_DEAD] = (weft__fold_shared){0, 0};
    bool is_swept = fold->has_sweeps || (!fold->has_chains && weft__fold_is_swept(fold, touched));
    touched->is_done = is_swept ? fold_sweep(f) : fold_each(f);
}

static void fold_one(weft__fold *fold, weft__fold_touched *touched)
{
    folding f = {.fold = fold, .touched = touched};
    for (uint32_t i = 0; i < MEMOS; i++) f.memos[i].command = UINT64_MAX;
    fold_touched(&f);
}

static int fold_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job;
    weft__fold *fold = argument;
    for (uint32_t i = begin; i < end; i++) fold_one(fold, &fold->touched[i]);
    return 0;
}

/* ---- missing transitions ---- */

/* Whether a command asks for a transition. */
static bool is_asker(uint32_t op, uint32_t subject, uint32_t component, bool is_remove)
{
    if (component == TRANSITION_DEATH) return op == WEFT__COMMAND_DESTROY;
    return subject == component && (op == WEFT__COMMAND_REMOVE) == is_remove;
}

/* The command that asks for a transition among those of a run; NULL: none of them. */
static const weft__command *find_asker(const weft__fold *fold, const weft__fold_run *run,
                                       uint32_t component, bool is_remove)
{
    weft__fold_pattern pattern = {.width = run->count};
    if (!fold->has_chains) pattern = fold_pattern_of(run);
    for (uint32_t i = 0; i < pattern.width; i++) {
        const weft__command *command =
            fold->has_chains ? fold->refs[run->first + i].command : pattern.commands[i];
        if (is_asker(command->op, command->subject, component, is_remove)) return command;
    }
    return NULL;
}

/* The segment and command that needed a transition, for the error. */
static weft_result transition_error(const weft__fold *fold, const weft__fold_touched *touched,
                                    uint32_t component, bool is_remove, weft_result code)
{
    const weft__fold_run *run;
    for (uint32_t i = touched->run_head; i != WEFT__NONE; i = run->next) {
        run = &fold->runs[i];
        const weft__command *command = find_asker(fold, run, component, is_remove);
        if (command == NULL) continue;
        const weft__command_segment *segment = &fold->segments[segment_of(fold, run->first)];
        return weft__playback_error(fold->playback, segment->key, command->op, command->entity,
                                    component == TRANSITION_DEATH ? 0 : component, code);
    }
    return code;
}

/* Makes the transition that a chunk missed. */
static weft_result add_missing(const weft__fold *fold, const weft__fold_touched *touched)
{
    weft_world *world = fold->playback->world;
    weft__archetype *from = world->archetypes.by_id[(touched->missing >> 33) - 1];
    uint32_t component = (uint32_t)(touched->missing >> 1);
    bool is_remove = (touched->missing & 1) != 0;
    bool is_known = component == TRANSITION_DEATH
                        ? weft__archetype_residue(world, from) != NULL
                        : weft__archetype_edge(world, from, component, is_remove) != NULL;
    if (is_known) return WEFT_OK;
    return transition_error(fold, touched, component, is_remove, world->error->code);
}

/* Folds a chunk to its end, or finds that it cannot be. */
static weft_result settle(weft__fold *fold, weft__fold_touched *touched)
{
    while (!touched->is_done) {
        fold->is_impossible = touched->missing == 0; /* too many states: see follow */
        if (fold->is_impossible) return WEFT_OK;
        weft_result result = add_missing(fold, touched);
        if (result != WEFT_OK) return result;
        fold_one(fold, touched);
    }
    return WEFT_OK;
}

static weft_result take_cells(weft__fold *fold)
{
    weft_world *world = fold->playback->world;
    uint32_t cells = fold->cell_count, refs = fold->ref_count;
    fold->states = weft__scratch_take(world, WEFT__SCRATCH_STATES, cells, 1);
    fold->rows =
        weft__scratch_take(world, WEFT__SCRATCH_ROWS, 2 * (size_t)refs, sizeof fold->rows[0]);
    if (fold->states == NULL || fold->rows == NULL) return weft__error_memory(world, "playback");
    if (!fold->has_chains) return WEFT_OK;
    fold->heads = weft__scratch_take(world, WEFT__SCRATCH_HEADS, cells, sizeof fold->heads[0]);
    fold->tails = weft__scratch_take(world, WEFT__SCRATCH_TAILS, cells, sizeof fold->tails[0]);
    fold->next_refs =
        weft__scratch_take(world, WEFT__SCRATCH_NEXT, refs, sizeof fold->next_refs[0]);
    bool is_complete = fold->heads != NULL && fold->tails != NULL && fold->next_refs != NULL;
    return is_complete ? WEFT_OK : weft__error_memory(world, "playback");
}

weft_result weft__fold_rows(weft__fold *fold)
{
    weft_result result = take_cells(fold);
    if (result != WEFT_OK) return result;
    weft__playback_for(fold->playback, WEFT__PLAYBACK_FOLD, fold_part, fold, fold->touched_count);
    for (uint32_t i = 0; i < fold->touched_count && !fold->is_impossible; i++) {
        result = settle(fold, &fold->touched[i]);
        if (result != WEFT_OK) return result;
    }
    return WEFT_OK;
}

/* ---- the batch takes effect ----
 *
 * A folded batch takes effect: the rows of each place that end alike are a part of one change
 * (row_moves.h), which moves or ends them and calls for their values. Chains are followed row by
 * row; the values of a sweep go command by command, each for many rows, straight from where they
 * were recorded. What fails before the copies leaves the world as it was. */

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

/* A recorded value, or what is recorded for a buffer, becomes that of a row. */
static inline weft_result give_value(weft_world *world, const weft__type *type,
                                     weft__command *command, void *value)
{
    weft_result result = WEFT_OK;
    if (weft__command_has_elements(command->op)) {
        result = weft__playback_elements(world, command, value);
    } else {
        if (type->needs_destruct) weft__type_destruct(&world->memory, type, value, 1);
        weft__value_copy(value, weft__command_payload(command), type->desc.size);
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
    const weft__fold_pattern pattern = fold_pattern_of(run);
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
