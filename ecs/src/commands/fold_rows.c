/* SPDX-License-Identifier: MIT */
/* fold_rows.c: the second half of a fold: per row the archetype it ends in. See
 * fold_state.h.
 *
 * Every chunk has a small table of states; a command takes its row from one to another. Which
 * archetype follows from which command the edges of archetypes say, which workers only read: a
 * worker that misses one leaves its chunk undone. The owner then takes the undone chunks in
 * order, adds what each misses, and folds it to its end before it looks at the next: so the order
 * in which archetypes are made follows from the commands, not from the edges there were. After the
 * first frame nothing is missed. */
#include "fold_rows.h"

#include "archetype.h"
#include "error.h"
#include "playback_error.h"
#include "prefab.h"
#include "scratch.h"

#include <string.h>

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

/* The state in which untouched rows of a run end; STATE_NONE: see follow. */
static uint32_t run_state(folding *f, const weft__fold_run *run)
{
    if (run->width == 1) return advance(f, STATE_HOME, run->op, run->subject);
    weft__fold_pattern pattern = weft__fold_pattern_of(run);
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
    weft__fold_pattern pattern = weft__fold_pattern_of(run);
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

/* Takes one row past a SET_SHARED command. False: see share. */
static bool fold_shared(folding *f, const weft__fold_ref *ref)
{
    uint32_t state = f->states[ref->row];
    if (state == STATE_DEAD) {
        f->touched->skipped++;
        return true;
    }
    uint32_t next = share(f, state == STATE_NONE ? STATE_HOME : state,
                          weft__fold_value(f->fold, f->segment, ref->command));
    if (next == STATE_NONE) return false;
    f->states[ref->row] = (uint8_t)next;
    return true;
}

/* The segment of a command. */
static uint32_t segment_of(const weft__fold *fold, uint32_t number)
{
    uint32_t low = 0, high = fold->segment_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (fold->first_refs[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
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
    if (!fold->has_chains) pattern = weft__fold_pattern_of(run);
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
