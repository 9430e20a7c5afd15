/* SPDX-License-Identifier: MIT */
/* fold_rows.h: playback of long runs of commands: fold, then move everything at once.
 *
 *   collect  (parallel over segments)  where is each target now: chunk and row; runs of
 *                                      neighbouring rows with the same commands (sweeps);
 *   group    (owner)                   runs of commands per chunk, in order of effect;
 *   fold     (parallel over chunks)    per row, the archetype it ends in (destroyed with cleanup
 *                                      components: its residue), or its end; rows that end
 *                                      in the same archetype become one group, in row order;
 *   move     (row_moves.h)             plan, copy with the recorded values, close, settle.
 * Commands of systems mostly come row after row, and the same for each row. Collected as runs of
 * such rows they need no list per row: what becomes of the rows of a run is found out once, and
 * their values lie at fixed distances. A place whose runs ascend by rows is *swept*. Additions
 * alone, removals alone and deaths need no order within a row and are collected the same way, swept
 * or not. All others have a chain of commands for each row.
 *
 * Created entities have no chunk yet: they count as rows of blocks of BLOCK_ROWS in order of
 * effect. The result is a function of the commands and the layout, never of the number of
 * workers. */
#pragma once

#include "playback.h"
#include "row_moves.h"

/* Build-time parameters, so that the explorer can be tiny. */
#ifndef WEFT__FOLD_LEAST
#define WEFT__FOLD_LEAST 48u /* fewer commands go one by one */
#endif
#ifndef WEFT__FOLD_BLOCK_ROWS
#define WEFT__FOLD_BLOCK_ROWS 8192u /* created entities of one pseudo-chunk */
#endif

#define WEFT__FOLD_STATES 16u                        /* different ends of the rows of one chunk */
#define WEFT__FOLD_WIDTH 16u                         /* commands of a row in one run */
#define WEFT__FOLD_VALUES 16u                        /* different shared values of a segment */
#define WEFT__FOLD_PLACE_CREATED (UINT32_C(1) << 31) /* | block number */
#define WEFT__FOLD_PLACE_DEAD UINT32_MAX

/* A command with the place of its target. Owner: the fold. */
typedef struct weft__fold_ref {
    weft__command *command;
    uint32_t place; /* chunk id, CREATED | block, or DEAD */
    uint32_t row;
} weft__fold_ref;

/* Consecutive commands with the same place. Without chains: the same `width` commands for each of
 * neighbouring rows, row after row in one page; one row may be in two. Owner: the fold; written by
 * the task of its segment. count != 0; without chains count is a multiple of width. */
typedef struct weft__fold_run {
    weft__command *command;         /* the first one ... */
    const weft__command_page *page; /* ... and its page */
    uint32_t place;
    uint32_t first;  /* command number */
    uint32_t count;  /* commands */
    uint32_t next;   /* of the same place, in order of effect; WEFT__NONE ends */
    uint32_t row;    /* without chains: the first row */
    uint32_t stride; /* bytes from the commands of a row to those of the next one */
    uint16_t width;  /* commands of a row */
    uint8_t state;   /* in which the rows end: written by the task of the place */
    uint8_t op;      /* of the first command, which is not looked at again where width is 1 */
    uint32_t subject;
} weft__fold_run;

/* A shared value that a row gets; component 0: none. A value. */
typedef struct weft__fold_shared {
    uint32_t component;
    uint32_t value; /* index in the store */
} weft__fold_shared;

/* Whose rows a part of the change has: those of a place that end in one state. Owner: the fold. */
typedef struct weft__fold_group {
    uint32_t touched;
    uint32_t state;
} weft__fold_group;

/* A chunk (or block of created entities) that commands concern. Owner: the fold; in parallel
 * steps the one task that has it. Always: state_count <= WEFT__FOLD_STATES; removed <= rows and
 * <= ref_count. */
typedef struct weft__fold_touched {
    weft__chunk *chunk; /* NULL: created entities */
    uint32_t place;
    uint32_t rows;     /* of the chunk when the fold began */
    uint32_t run_head; /* runs */
    uint32_t run_tail;
    uint32_t ref_count;
    uint32_t first_row;  /* into fold->rows and fold->removed: ref_count places */
    uint32_t first_cell; /* into fold->states (and heads, tails): `rows` places */
    uint32_t state_count;
    uint32_t removed; /* rows that leave: listed behind all rows by group, at first_row */
    bool is_done;
    uint64_t skipped;
    uint64_t missing; /* transition that was not known: archetype id << 33 | key; 0 = none */
    weft__archetype *states[WEFT__FOLD_STATES];  /* [0] unused; NULL: dead, or not yet created */
    weft__fold_shared shared[WEFT__FOLD_STATES]; /* of the state; none: what the chunk has */
    uint32_t counts[WEFT__FOLD_STATES];          /* rows that end in the state */
} weft__fold_touched;

/* One fold. Lives on the owner's stack; arrays are scratch of the world. While a parallel step
 * runs, each array element is written by the one task that owns it. */
typedef struct weft__fold {
    weft__playback *playback;
    const weft__command_segment *segments;
    uint32_t segment_count;
    uint32_t *first_refs;    /* [segment + 1] */
    uint32_t *run_counts;    /* [segment] */
    uint32_t *created_bases; /* [segment] number of the first entity it creates */
    uint32_t ref_count;
    uint32_t created_count;
    bool has_chains;        /* commands are replayed per row in order */
    bool has_sweeps;        /* they need not: the rows of every place ascend: see below */
    bool has_shared;        /* shared values are set */
    bool has_enables;       /* enable bits change: done by the owner, words are shared by rows */
    bool is_impossible;     /* something only the immediate operations can do */
    weft__fold_ref *refs;   /* [command]; NULL without chains */
    weft__fold_run *runs;   /* [segment] the first one of each, [command] the others: see below */
    uint32_t *next_refs;    /* [ref] chain of a row */
    weft__command **values; /* [segment * FOLD_VALUES] has_shared: commands with different values */
    uint32_t *value_indices;  /* [the same] */
    uint32_t *value_counts;   /* [segment] */
    weft_entity *created_ids; /* [created] */
    weft__fold_touched *touched;
    uint32_t touched_count;
    uint8_t *states; /* [cell] */
    uint32_t *heads; /* [cell] first ref of the chain + 1 */
    uint32_t *tails; /* [cell] */
    uint32_t cell_count;
    uint32_t *rows; /* [ref] by group, then [ref] those that leave where groups are more */
    weft__fold_group *groups; /* [part of the change] */
    weft__change change;
    weft_a32 x_failed;  /* a recorded value could not be applied: out of memory */
    weft_a32 x_unswept; /* has_sweeps: rows of a segment do not ascend */
} weft__fold;

/* Destroying a row of other archetypes takes other rows along: the members of its linked group. */
static inline bool weft__fold_dies_alone(const weft__archetype *archetype)
{
    return (archetype->flags & WEFT__HAS_LINKED_GROUP) == 0;
}

/* The commands of one row, in order. A value. */
typedef struct weft__fold_pattern {
    uint32_t width;
    weft__command *commands[WEFT__FOLD_WIDTH];
} weft__fold_pattern;

/* The next command that was not played already, or NULL. In line, so that cursors stay in
 * registers: a copy in one load, right after its members were stored one by one, waits until these
 * stores are done, and they wait for the slots of the rows before. */
static inline __attribute__((always_inline)) weft__command *
weft__fold_next(weft__command_cursor *cursor)
{
    weft__command *next = weft__command_next(cursor);
    while (next != NULL && weft__command_is_made(next)) next = weft__command_next(cursor);
    return next;
}

static inline uint32_t weft__fold_run_rows(const weft__fold_run *run)
{
    return run->width == 1 ? run->count : run->count / run->width;
}

/* One past its last row. */
static inline uint32_t weft__fold_run_end(const weft__fold_run *run)
{
    return run->row + weft__fold_run_rows(run);
}

/* Whether a place is swept: its runs ascend by rows, so that nothing else concerns these rows, and
 * order within each row is that of the run. Any thread; without chains. */
static inline bool weft__fold_is_swept(const weft__fold *fold, const weft__fold_touched *touched)
{
    uint32_t end = 0;
    for (uint32_t i = touched->run_head; i != WEFT__NONE; i = fold->runs[i].next) {
        const weft__fold_run *run = &fold->runs[i];
        if (run->row < end) return false;
        end = weft__fold_run_end(run);
    }
    return true;
}

/* The second half of a fold: per row the archetype it ends in, and the rows of each end as lists.
 * Owner. WEFT_OK: folded, or is_impossible; else the error is set. */
weft_result weft__fold_rows(weft__fold *fold);
/* The third: plan, copy, close, settle. Owner. What fails before the copies leaves the world as it
 * was; the error is set. */
weft_result weft__fold_move(weft__fold *fold);
