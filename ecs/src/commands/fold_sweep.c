/* SPDX-License-Identifier: MIT */
/* fold_sweep.c: commands collected as runs of rows with the same commands each. A row is taken
 * command by command once; those that follow with the same commands for the next rows are only
 * compared. */
#include "fold_sweep.h"

#include "fold_target.h"

/* Collecting one segment; lives on a worker's stack. */
typedef struct sweeping {
    weft__fold_finder finder;
    weft__command_cursor cursor;
    weft__fold_run *run;                /* the last one, NULL before the first */
    const weft__command_page *run_page; /* of all its commands; NULL: they are in two */
    uint64_t kinds[WEFT__FOLD_WIDTH];   /* of the commands of a row of the run ... */
    uint32_t offsets[WEFT__FOLD_WIDTH]; /* ... and where each is, from the first one on */
    weft__fold_pattern row;             /* taken last */
    const weft__command_page *page;     /* of its first command */
    uint32_t number;                    /* commands taken before it */
    uint32_t run_count;
} sweeping;

/* What follows the target in a command: component, payload size, operation and flags in one
 * word. */
static inline uint64_t kind_of(const weft__command *command)
{
    uint64_t kind;
    static_assert(offsetof(weft__command, subject) == 8, "the rest of a command is one word");
    memcpy(&kind, &command->subject, sizeof kind);
    return kind;
}

/* The next command that was not played already, or NULL. In line, so that cursors stay in
 * registers: a copy in one load, right after its members were stored one by one, waits until these
 * stores are done, and they wait for the slots of the rows before. */
static inline __attribute__((always_inline)) weft__command *
next_command(weft__command_cursor *cursor)
{
    weft__command *command = weft__command_next(cursor);
    while (command != NULL && weft__command_is_made(command)) command = weft__command_next(cursor);
    return command;
}

weft__fold_pattern weft__fold_pattern_of(const weft__fold_run *run)
{
    weft__fold_pattern pattern;
    pattern.width = run->width;
    uint32_t offset = (uint32_t)((const char *)run->command - (const char *)run->page->data);
    weft__command_cursor cursor = {run->page, offset, UINT32_MAX};
    for (uint32_t i = 0; i < pattern.width; i++) pattern.commands[i] = next_command(&cursor);
    return pattern;
}

/* Takes the commands of the next row. False: there are none. */
static bool take_row(sweeping *s)
{
    weft__command *first = next_command(&s->cursor);
    if (first == NULL) return false;
    const weft_entity recorded = first->entity;
    s->page = s->cursor.page;
    s->number += s->row.width;
    weft__fold_ready(&s->finder, first);
    s->row.commands[0] = first;
    for (s->row.width = 1; s->row.width < WEFT__FOLD_WIDTH; s->row.width++) {
        weft__command_cursor ahead = s->cursor;
        weft__command *next = next_command(&ahead);
        if (next == NULL || (!weft__fold_is_same(next->entity, recorded) &&
                             !weft__fold_is_same(next->entity, first->entity)))
            break;
        weft__fold_ready(&s->finder, next);
        s->row.commands[s->row.width] = next;
        s->cursor = ahead;
    }
    return true;
}

static uint32_t offset_of(const sweeping *s, uint32_t i)
{
    return (uint32_t)((const char *)s->row.commands[i] - (const char *)s->row.commands[0]);
}

/* Whether the row taken has the commands of the run, at the places where they are to be. */
static bool continues(const sweeping *s, const weft__fold_ref *at)
{
    const weft__fold_run *run = s->run;
    if (run == NULL || run->place != at->place || run->width != s->row.width ||
        run->count != run->width * (at->row - run->row) || s->run_page != s->page ||
        s->cursor.page != s->page)
        return false;
    for (uint32_t i = 0; i < s->row.width; i++)
        if (kind_of(s->row.commands[i]) != s->kinds[i] || offset_of(s, i) != s->offsets[i])
            return false;
    return run->count == run->width ||
           (const char *)run->command + (size_t)run->stride * (at->row - run->row) ==
               (const char *)at->command;
}

/* A run of `width` commands. */
static void begin_run(sweeping *s, const weft__fold_ref *at, uint32_t width)
{
    const weft__fold *fold = s->finder.fold;
    s->run = &fold->runs[weft__fold_run_place(fold, s->finder.segment, s->run_count++)];
    *s->run = (weft__fold_run){.command = at->command,
                               .page = s->page,
                               .place = at->place,
                               .first = s->number,
                               .count = width,
                               .next = WEFT__NONE,
                               .row = at->row,
                               .width = (uint16_t)width,
                               .op = at->command->op,
                               .subject = at->command->subject};
}

static void add_row(sweeping *s, const weft__fold_ref *at)
{
    if (continues(s, at)) {
        if (s->run->count == s->run->width)
            s->run->stride = (uint32_t)((const char *)at->command - (const char *)s->run->command);
        s->run->count += s->run->width;
        return;
    }
    begin_run(s, at, s->row.width);
    s->run_page = s->cursor.page == s->page ? s->page : NULL;
    for (uint32_t i = 0; i < s->row.width; i++) {
        s->kinds[i] = kind_of(s->row.commands[i]);
        s->offsets[i] = offset_of(s, i);
    }
}

/* Commands of the dead are only counted, by operation. */
static void add_dead(sweeping *s)
{
    for (uint32_t i = 0; i < s->row.width; i++) {
        weft__command *command = s->row.commands[i];
        const weft__fold_run *run = s->run;
        if (run != NULL && run->place == WEFT__FOLD_PLACE_DEAD && run->op == command->op)
            s->run->count++;
        else
            begin_run(s, &(weft__fold_ref){command, WEFT__FOLD_PLACE_DEAD, 0}, 1);
    }
    s->run_page = NULL;
}

/* How many of `most` rows have the commands of the run, one after the other from `next` on. */
static inline __attribute__((always_inline)) uint32_t rows_alike(const sweeping *s,
                                                                 const char *next,
                                                                 const weft_entity *there,
                                                                 uint32_t most, uint32_t width)
{
    const uint32_t bytes = s->run->stride;
    uint32_t count = 0;
    for (; count < most; count++, next += bytes)
        for (uint32_t i = 0; i < width; i++) {
            const weft__command *other =
                (const weft__command *)(const void *)(next + s->offsets[i]);
            if (kind_of(other) != s->kinds[i] || !weft__fold_is_same(other->entity, there[count]))
                return count;
        }
    return count;
}

/* Bytes of the commands of the row taken; 0: something lies between them, or they have references,
 * which are replaced one by one. */
static uint32_t row_bytes(const sweeping *s)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < s->row.width; i++) {
        if (weft__fold_has_references(s->finder.fold, s->row.commands[i])) return 0;
        bytes += (uint32_t)weft__command_bytes(s->row.commands[i]);
    }
    const char *end = (const char *)s->cursor.page->data + s->cursor.offset;
    return (const char *)s->row.commands[0] + bytes == end ? bytes : 0;
}

/* After a row of a chunk: takes those that follow as long as each has the same commands, which is
 * the usual case. */
static void extend_run(sweeping *s)
{
    weft__fold_run *run = s->run;
    const weft__chunk *chunk = s->finder.chunk;
    const uint32_t bytes = s->run_page == NULL ? 0 : row_bytes(s), width = run->width;
    if (bytes == 0 || (run->count != width && run->stride != bytes)) return;
    run->stride = bytes;
    uint32_t most = (s->cursor.page->used - s->cursor.offset) / bytes;
    uint32_t rows = chunk->count - (s->finder.row + 1);
    if (most > s->cursor.left / width) most = s->cursor.left / width;
    if (most > rows) most = rows;
    const weft_entity *there = weft__chunk_entities(chunk) + s->finder.row + 1;
    const char *next = (const char *)s->cursor.page->data + s->cursor.offset;
    uint32_t count =
        width == 1 ? rows_alike(s, next, there, most, 1) : rows_alike(s, next, there, most, width);
    if (count == 0) return;
    weft__command_cursor ahead = {s->cursor.page, s->cursor.offset + count * bytes,
                                  s->cursor.left - count * width};
    const weft__command *after = next_command(&ahead);
    if (after != NULL && weft__fold_is_same(after->entity, there[count - 1]))
        count--; /* that row has more commands */
    s->cursor.offset += count * bytes;
    s->cursor.left -= count * width;
    s->finder.row += count;
    s->number += count * width;
    run->count += count * width;
}

/* Whether a row may come after those of the last run. */
static bool ascends(const sweeping *s, const weft__fold_ref *at)
{
    const weft__fold_run *run = s->run;
    return run == NULL || run->place != at->place || run->row + weft__fold_run_rows(run) <= at->row;
}

bool weft__fold_sweep_collect(weft__fold *fold, uint32_t number)
{
    sweeping s; /* the arrays are filled as far as they are read */
    s.finder = (weft__fold_finder){.fold = fold, .segment = number};
    s.cursor = weft__command_begin(&fold->segments[number]);
    s.run = NULL;
    s.row.width = s.run_count = 0;
    s.number = fold->first_refs[number];
    while (take_row(&s)) {
        weft__fold_ref at, other;
        if (!weft__fold_place(&s.finder, s.row.commands[0], &at)) return false;
        for (uint32_t i = 1; i < s.row.width; i++)
            if (s.row.commands[i]->op == WEFT__COMMAND_DESTROY &&
                !weft__fold_place(&s.finder, s.row.commands[i], &other))
                return false;
        if (at.place == WEFT__FOLD_PLACE_DEAD) {
            add_dead(&s);
            continue;
        }
        if (fold->has_sweeps && !ascends(&s, &at)) {
            at_store_rlx(&fold->x_unswept, 1); /* relaxed: read after the barrier of the loop */
            return false;
        }
        add_row(&s, &at);
        if ((at.place & WEFT__FOLD_PLACE_CREATED) == 0) extend_run(&s);
    }
    fold->run_counts[number] = s.run_count;
    return true;
}

bool weft__fold_is_swept(const weft__fold *fold, const weft__fold_touched *touched)
{
    uint32_t end = 0;
    for (uint32_t i = touched->run_head; i != WEFT__NONE; i = fold->runs[i].next) {
        const weft__fold_run *run = &fold->runs[i];
        if (run->row < end) return false;
        end = run->row + weft__fold_run_rows(run);
    }
    return true;
}
