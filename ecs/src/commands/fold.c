/* SPDX-License-Identifier: MIT */
/* fold.c: the steps of a fold, one after the other: collect and group, fold, move (fold_rows.h).
 *
 * Collecting finds where every target is, and the commands of each chunk as a list of runs in order
 * of effect; recorded values get their deferred references replaced on the way, in place. The task
 * of a segment asks for its commands one after the other; the next target is mostly the next row.
 *
 * Workers can look for a shared value in the store but not add it, and a look-up costs more than
 * comparing with the few that their segment has shown already: so each segment lists its different
 * ones, a command has the number of its own in the list, and the owner turns lists into indices of
 * the store. */
#include "fold.h"
#include "command_shared.h"
#include "entity_value.h"
#include "scratch.h"

/* ---- targets ---- */

/* Finding the targets of one segment. Lives on a worker's stack. */
typedef struct finding {
    weft__fold *fold;
    uint32_t segment;
    weft__chunk *chunk; /* where the last target was ... */
    uint32_t row;       /* ... and its row */
} finding;

static inline bool is_same_entity(weft_entity a, weft_entity b)
{
    return memcmp(&a, &b, sizeof a) == 0; /* one comparison of 8 bytes */
}

static inline bool is_at(const weft__chunk *chunk, uint32_t row, weft_entity entity)
{
    if (row >= chunk->count) return false;
    return is_same_entity(weft__chunk_entities(chunk)[row], entity);
}

/* Finds a living target: a row that holds the handle is its place, so neighbours need no look-up.
 */
static inline bool find(finding *finder, weft_entity entity)
{
    if (finder->chunk != NULL && is_at(finder->chunk, finder->row + 1, entity)) {
        finder->row++;
        return true;
    }
    if (finder->chunk != NULL && is_at(finder->chunk, finder->row, entity)) return true;
    uint32_t row = 0;
    weft__chunk *chunk = weft__entity_chunk(finder->fold->playback->world, entity, &row);
    if (chunk == NULL) return false;
    finder->chunk = chunk;
    finder->row = row;
    return true;
}

/* Whether a command has a value with references. */
static inline bool has_references(const weft__fold *fold, const weft__command *command)
{
    if (!weft__command_kinds[command->op].has_values) return false;
    return fold->playback->world->types.at[command->subject]->entity_offset_count != 0;
}

static weft__fold_ref place_created(const finding *finder, weft__command *command)
{
    const weft__fold *fold = finder->fold;
    const weft__command_segment *segment = &fold->segments[finder->segment];
    uint32_t number =
        fold->created_bases[finder->segment] + command->entity.index - segment->created_first;
    if (command->op == WEFT__COMMAND_CREATE)
        fold->created_ids[number] =
            weft__playback_resolve(fold->playback, segment, command->entity);
    return (weft__fold_ref){command, WEFT__FOLD_PLACE_CREATED | number / WEFT__FOLD_BLOCK_ROWS,
                            number % WEFT__FOLD_BLOCK_ROWS};
}

static void patch(const weft__fold *fold, uint32_t segment, weft__command *command)
{
    const weft__type *type = fold->playback->world->types.at[command->subject];
    uint64_t *payload = weft__command_payload(command);
    const bool has_elements = weft__command_has_elements(command->op);
    weft__playback_patch(fold->playback, &fold->segments[segment], type, payload + has_elements,
                         has_elements ? (uint32_t)payload[0] : 1);
}

static void resolve(finding *finder, weft__command *command)
{
    const weft__command_segment *segment = &finder->fold->segments[finder->segment];
    bool has_instances = (segment->traits & WEFT__SEGMENT_HAS_INSTANCES) != 0;
    bool is_row = (command->entity.index & WEFT__ROW_HANDLE) != 0;
    if (!is_row && !has_instances) return;
    weft_entity entity = weft__playback_resolve(finder->fold->playback, segment, command->entity);
    if (is_row || find(finder, entity)) command->entity = entity;
}

/* Both of the above where they are needed. */
static inline void make_ready(finding *finder, weft__command *command)
{
    if (has_references(finder->fold, command)) patch(finder->fold, finder->segment, command);
    if (weft__entity_is_deferred(command->entity)) resolve(finder, command);
}

/* The place of the target of a command that is ready. False: the immediate operations must do it.
 */
static inline bool place(finding *finder, weft__command *command, weft__fold_ref *ref)
{
    if (weft__entity_is_deferred(command->entity)) {
        *ref = place_created(finder, command);
        return true;
    }
    *ref = (weft__fold_ref){command, WEFT__FOLD_PLACE_DEAD, 0};
    if (!find(finder, command->entity)) return true;
    const weft__archetype *archetype = finder->chunk->archetype;
    ref->place = finder->chunk->id;
    ref->row = finder->row;
    if ((archetype->flags & WEFT__IS_RESIDUE) != 0) return false;
    return command->op != WEFT__COMMAND_DESTROY || weft__fold_dies_alone(archetype);
}

/* ---- shared values ---- */

static_assert(WEFT__FOLD_VALUES << WEFT__FOLD_VALUE_SHIFT <= 256, "a number fits the flags");

static bool values_take(weft__fold *fold)
{
    weft_world *world = fold->playback->world;
    size_t segments = fold->segment_count, count = segments * WEFT__FOLD_VALUES;
    fold->values = weft__scratch_take(world, WEFT__SCRATCH_VALUES, count, sizeof fold->values[0]);
    fold->value_indices = weft__scratch_take(world, WEFT__SCRATCH_VALUE_INDICES, count,
                                             sizeof fold->value_indices[0]);
    fold->value_counts = weft__scratch_take(world, WEFT__SCRATCH_VALUE_COUNTS, segments,
                                            sizeof fold->value_counts[0]);
    if (fold->values == NULL || fold->value_indices == NULL || fold->value_counts == NULL)
        return false;
    memset(fold->value_counts, 0, segments * sizeof fold->value_counts[0]);
    memset(fold->value_indices, 0, count * sizeof fold->value_indices[0]); /* nothing is held */
    return true;
}

static bool is_same(const weft__fold *fold, const weft__command *a, const weft__command *b)
{
    if (a->subject != b->subject) return false;
    size_t bytes = fold->playback->world->types.at[a->subject]->desc.size;
    const void *left = weft__command_payload(a), *right = weft__command_payload(b);
    return bytes == 4 ? memcmp(left, right, 4) == 0 : memcmp(left, right, bytes) == 0;
}

/* Where the number of a value is guessed: by its first bytes. */
static uint32_t guess_of(const weft__command *command)
{
    uint32_t word = 0;
    if (command->words != 0) memcpy(&word, weft__command_payload(command), sizeof word);
    return word * UINT32_C(2654435761) >> 28;
}

static bool value_note(const weft__fold *fold, uint32_t segment, weft__command *command,
                       uint8_t *guesses)
{
    static_assert(WEFT__FOLD_VALUES == 16, "a guess has four bits");
    weft__command **known = fold->values + (size_t)segment * WEFT__FOLD_VALUES;
    uint8_t *guess = &guesses[guess_of(command)];
    uint32_t count = fold->value_counts[segment], i = *guess;
    if (i >= count || !is_same(fold, known[i], command)) i = 0;
    while (i < count && !is_same(fold, known[i], command)) i++;
    if (i == WEFT__FOLD_VALUES) return false;
    *guess = (uint8_t)i;
    if (i == count) {
        known[i] = command;
        fold->value_counts[segment]++;
    }
    command->flags = (uint8_t)((command->flags & ((1u << WEFT__FOLD_VALUE_SHIFT) - 1)) |
                               i << WEFT__FOLD_VALUE_SHIFT);
    return true;
}

static weft_result values_hold(const weft__fold *fold)
{
    weft__shared *shared = &fold->playback->world->shared;
    for (uint32_t i = 0; i < fold->segment_count; i++) {
        size_t first = (size_t)i * WEFT__FOLD_VALUES;
        for (uint32_t k = 0; k < fold->value_counts[i]; k++) {
            const weft__command *command = fold->values[first + k];
            weft_result result =
                weft__shared_intern(shared, command->subject, weft__command_payload(command),
                                    &fold->value_indices[first + k]);
            if (result != WEFT_OK) return result;
        }
    }
    return WEFT_OK;
}

static void values_release(const weft__fold *fold)
{
    for (uint32_t i = 0; i < fold->segment_count; i++) {
        size_t first = (size_t)i * WEFT__FOLD_VALUES;
        for (uint32_t k = 0; k < fold->value_counts[i]; k++)
            weft__shared_release(&fold->playback->world->shared, fold->values[first + k]->subject,
                                 fold->value_indices[first + k], 1);
    }
}

/* ---- sweeps: commands collected as runs of rows with the same commands each ---- */

/* Collecting one segment; lives on a worker's stack. */
typedef struct sweeping {
    finding finder;
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

/* Takes the commands of the next row. False: there are none. */
static bool take_row(sweeping *s)
{
    weft__command *first = weft__fold_next(&s->cursor);
    if (first == NULL) return false;
    const weft_entity recorded = first->entity;
    s->page = s->cursor.page;
    s->number += s->row.width;
    make_ready(&s->finder, first);
    s->row.commands[0] = first;
    for (s->row.width = 1; s->row.width < WEFT__FOLD_WIDTH; s->row.width++) {
        weft__command_cursor ahead = s->cursor;
        weft__command *next = weft__fold_next(&ahead);
        if (next == NULL || (!is_same_entity(next->entity, recorded) &&
                             !is_same_entity(next->entity, first->entity)))
            break;
        make_ready(&s->finder, next);
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

/* The place of run `i` of a segment. First runs lie close together: most segments have no other,
 * and the owner links them one after the other, in whatever thread they were written. */
static inline uint32_t fold_run_place(const weft__fold *fold, uint32_t segment, uint32_t i)
{
    return i == 0 ? segment : fold->segment_count + fold->first_refs[segment] + i;
}

/* A run of `width` commands. */
static void begin_run(sweeping *s, const weft__fold_ref *at, uint32_t width)
{
    const weft__fold *fold = s->finder.fold;
    s->run = &fold->runs[fold_run_place(fold, s->finder.segment, s->run_count++)];
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

/* The target after the row taken by 1 + i: the handle in the chunk, or the next one created. */
static inline weft_entity target_after(const sweeping *s, const weft_entity *there, uint32_t i)
{
    const weft_entity taken = s->row.commands[0]->entity;
    return there != NULL ? there[i] : (weft_entity){taken.index + 1 + i, taken.version};
}

/* How many of `most` rows have the commands of the run, one after the other from `next` on. */
static inline __attribute__((always_inline)) uint32_t rows_alike(const sweeping *s,
                                                                 const char *next,
                                                                 const weft_entity *there,
                                                                 uint32_t most, uint32_t width)
{
    const uint32_t bytes = s->run->stride;
    uint32_t count = 0;
    for (; count < most; count++, next += bytes) {
        const weft_entity target = target_after(s, there, count);
        for (uint32_t i = 0; i < width; i++) {
            const weft__command *other =
                (const weft__command *)(const void *)(next + s->offsets[i]);
            if (kind_of(other) != s->kinds[i] || !is_same_entity(other->entity, target))
                return count;
        }
    }
    return count;
}

/* Bytes of the commands of the row taken; 0: something lies between them, or those of a living row
 * have references, which are replaced one by one. */
static uint32_t row_bytes(const sweeping *s, bool is_created)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < s->row.width; i++) {
        if (!is_created && has_references(s->finder.fold, s->row.commands[i])) return 0;
        bytes += (uint32_t)weft__command_bytes(s->row.commands[i]);
    }
    const char *end = (const char *)s->cursor.page->data + s->cursor.offset;
    return (const char *)s->row.commands[0] + bytes == end ? bytes : 0;
}

/* The commands of the next `count` rows, which are created, are made ready. */
static void ready_created(const sweeping *s, uint32_t count)
{
    const weft__fold *fold = s->finder.fold;
    char *next = (char *)s->cursor.page->data + s->cursor.offset;
    uint32_t references = 0; /* bit by command of a row */
    for (uint32_t i = 0; i < s->row.width; i++)
        references |= (uint32_t)has_references(fold, s->row.commands[i]) << i;
    for (; count > 0; count--, next += s->run->stride) {
        place_created(&s->finder, (weft__command *)(void *)next);
        for (uint32_t left = references; left != 0; left &= left - 1)
            patch(fold, s->finder.segment,
                  (weft__command *)(void *)(next + s->offsets[__builtin_ctz(left)]));
    }
}

/* After a row: takes those that follow as long as each has the same commands, which is the usual
 * case. */
static void extend_run(sweeping *s, const weft__fold_ref *at)
{
    weft__fold_run *run = s->run;
    const bool is_created = (at->place & WEFT__FOLD_PLACE_CREATED) != 0;
    if (is_created && s->row.commands[0]->op != WEFT__COMMAND_CREATE) return;
    const weft__chunk *chunk = is_created ? NULL : s->finder.chunk;
    const uint32_t bytes = s->run_page == NULL ? 0 : row_bytes(s, is_created), width = run->width;
    if (bytes == 0 || (run->count != width && run->stride != bytes)) return;
    run->stride = bytes;
    uint32_t most = (s->cursor.page->used - s->cursor.offset) / bytes;
    uint32_t rows = (is_created ? WEFT__FOLD_BLOCK_ROWS : chunk->count) - (at->row + 1);
    if (most > s->cursor.left / width) most = s->cursor.left / width;
    if (most > rows) most = rows;
    const weft_entity *there = is_created ? NULL : weft__chunk_entities(chunk) + at->row + 1;
    const char *next = (const char *)s->cursor.page->data + s->cursor.offset;
    uint32_t count =
        width == 1 ? rows_alike(s, next, there, most, 1) : rows_alike(s, next, there, most, width);
    if (count == 0) return;
    weft__command_cursor ahead = {s->cursor.page, s->cursor.offset + count * bytes,
                                  s->cursor.left - count * width};
    const weft__command *after = weft__fold_next(&ahead);
    if (after != NULL && is_same_entity(after->entity, target_after(s, there, count - 1)))
        count--; /* that row has more commands */
    if (is_created)
        ready_created(s, count);
    else
        s->finder.row += count;
    s->cursor.offset += count * bytes;
    s->cursor.left -= count * width;
    s->number += count * width;
    run->count += count * width;
}

/* Whether a row may come after those of the last run. */
static bool ascends(const sweeping *s, const weft__fold_ref *at)
{
    const weft__fold_run *run = s->run;
    return run == NULL || run->place != at->place || weft__fold_run_end(run) <= at->row;
}

static bool collect_sweep(weft__fold *fold, uint32_t number)
{
    sweeping s; /* the arrays are filled as far as they are read */
    s.finder = (finding){.fold = fold, .segment = number};
    s.cursor = weft__command_begin(&fold->segments[number]);
    s.run = NULL;
    s.run_page = NULL;
    s.row.width = s.run_count = 0;
    s.number = fold->first_refs[number];
    while (take_row(&s)) {
        weft__fold_ref at, other;
        if (!place(&s.finder, s.row.commands[0], &at)) return false;
        for (uint32_t i = 1; i < s.row.width; i++)
            if (s.row.commands[i]->op == WEFT__COMMAND_DESTROY &&
                !place(&s.finder, s.row.commands[i], &other))
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
        extend_run(&s, &at);
    }
    fold->run_counts[number] = s.run_count;
    return true;
}

/* ---- chains ---- */

/* Collecting one segment with chains; lives on a worker's stack. */
typedef struct collecting {
    finding finder;
    uint32_t run_count;
    weft__fold_run *run;                /* the last one, NULL before the first */
    uint8_t guesses[WEFT__FOLD_VALUES]; /* of shared values: see the end of fold.c */
} collecting;

/* Extends the last run or begins one. */
static void add_to_runs(collecting *c, const weft__fold_ref *ref, uint32_t number)
{
    const weft__fold *fold = c->finder.fold;
    if (c->run != NULL && c->run->place == ref->place) {
        c->run->count++;
        return;
    }
    c->run = &fold->runs[fold_run_place(fold, c->finder.segment, c->run_count++)];
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
        make_ready(&c.finder, command);
        if (!place(&c.finder, command, ref)) return false;
        add_to_runs(&c, ref, at++);
        if (command->op == WEFT__COMMAND_SET_SHARED &&
            !value_note(fold, number, command, c.guesses))
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
        if (!(fold->has_chains ? collect_chains(fold, i) : collect_sweep(fold, i))) return 1;
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
            uint32_t number = fold_run_place(fold, segment, i);
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
    if (fold->has_shared && !values_take(fold)) return WEFT_OUT_OF_MEMORY;
    if (numbers == NULL || (fold->has_chains && fold->refs == NULL) || fold->runs == NULL ||
        fold->created_ids == NULL)
        return WEFT_OUT_OF_MEMORY;
    fold->first_refs = numbers;
    fold->run_counts = numbers + segments + 1;
    fold->created_bases = fold->run_counts + segments;
    return WEFT_OK;
}

static weft_result collect_once(weft__fold *fold)
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

/* ---- all of it ---- */

/* Additions alone, removals alone and deaths need no order within a row; everything else does. */
static bool needs_order(uint32_t traits)
{
    const uint32_t added = WEFT__SEGMENT_HAS_ADDS | WEFT__SEGMENT_HAS_CREATES;
    return (traits & (WEFT__SEGMENT_HAS_VALUES | WEFT__SEGMENT_HAS_SHARED)) != 0 ||
           ((traits & WEFT__SEGMENT_HAS_REMOVES) != 0 && (traits & added) != 0);
}

static bool are_swept(const weft__fold *fold)
{
    if (at_load_rlx(&fold->x_unswept) != 0) return false; /* relaxed: the loop has ended */
    for (uint32_t i = 0; i < fold->touched_count; i++)
        if (!weft__fold_is_swept(fold, &fold->touched[i])) return false;
    return true;
}

/* Finds the places of all commands. Where order matters they are taken for sweeps first; a place
 * that is none makes all of them be collected again, for chains. */
static weft_result collect(weft__fold *fold, uint32_t traits)
{
    const weft__fold fresh = *fold;
    uint64_t skipped = fold->playback->result.skipped;
    bool may_sweep = (traits & (WEFT__SEGMENT_HAS_ENABLES | WEFT__SEGMENT_HAS_SHARED)) == 0;
    fold->has_sweeps = needs_order(traits) && may_sweep;
    fold->has_chains = needs_order(traits) && !may_sweep;
    weft_result result = collect_once(fold);
    if (result != WEFT_OK || fold->is_impossible || !fold->has_sweeps || are_swept(fold))
        return result;
    *fold = fresh;
    fold->playback->result.skipped = skipped;
    fold->has_chains = true;
    return collect_once(fold);
}

weft_result weft__fold_play(weft__playback *playback, const weft__command_segment *segments,
                            uint32_t count, bool *is_played)
{
    uint32_t traits = 0;
    for (uint32_t i = 0; i < count; i++) traits |= segments[i].traits;
    weft__fold fold = {.playback = playback,
                       .segments = segments,
                       .segment_count = count,
                       .has_shared = (traits & WEFT__SEGMENT_HAS_SHARED) != 0};
    uint64_t skipped = playback->result.skipped;
    weft_result result = collect(&fold, traits);
    fold.has_enables = fold.has_chains && (traits & WEFT__SEGMENT_HAS_ENABLES) != 0;
    bool is_held = fold.has_shared && result == WEFT_OK && !fold.is_impossible;
    if (is_held) result = values_hold(&fold);
    if (result == WEFT_OUT_OF_MEMORY) weft__error_memory(playback->world, "playback");
    if (result == WEFT_OK && !fold.is_impossible) result = weft__fold_rows(&fold);
    *is_played = !fold.is_impossible;
    if (fold.is_impossible) {
        playback->result.skipped = skipped;
        result = WEFT_OK;
    } else if (result == WEFT_OK) {
        result = weft__fold_move(&fold);
    }
    if (is_held) values_release(&fold);
    return result;
}
