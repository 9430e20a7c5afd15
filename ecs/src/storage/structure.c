/* SPDX-License-Identifier: MIT */
/* structure.c: the steps of every structural change on runs of rows: reserve, fill, copy, discard,
 * close, settle. The whole operations are in structure.c and destroy.c; who may run when is in
 * structure.h. Change versions and disabled bits of a chunk may be touched by several tasks of one
 * step at once, hence the atomic operations; edges:
 * C1  copy: CAS or or of a version, disabled word or count (acq_rel)
 *                         -> the next step, after its barrier; with itself: no update is lost */
#include "structure.h"
#include "archetype.h"

bool weft__spans_push(weft_world *world, weft__spans *spans, weft__span span)
{
    return WEFT__LIST_APPEND(&world->memory, WEFT__MEMORY_COMMANDS, spans, &span, 1);
}

void weft__spans_fini(weft_world *world, weft__spans *spans)
{
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_COMMANDS, spans);
    weft__growths_keep(world, &spans->growths);
    *spans = (weft__spans){0};
}

/* ---- reserve ---- */

/* Class for the growth of a population: about an eighth of what there is, 256 bytes, 4 KiB, then
 * units, so that at most an eighth of a large population is room. */
static uint32_t growth_class(const weft__tuple *tuple)
{
    const weft__format *format = tuple->archetype->format;
    uint64_t bytes = weft__tuple_rows(tuple) * format->row_bytes;
    uint32_t growth = WEFT__PART_256;
    if (bytes >= weft__class_bytes(WEFT__PART_4K))
        growth = WEFT__UNIT_CLASS;
    else if (bytes != 0)
        growth = WEFT__PART_4K;
    while (growth >= WEFT__UNIT_CLASS && growth + 1 < WEFT__SIZE_CLASSES &&
           weft__class_bytes(growth + 1) <= bytes / 8)
        growth++;
    return growth > format->smallest_class ? growth : format->smallest_class;
}

uint32_t weft__growth_capacity(const weft__tuple *tuple)
{
    const weft__format *format = tuple->archetype->format;
    bool is_fixed = format->row_limit != UINT32_MAX;
    return weft__format_capacity(format, is_fixed ? format->smallest_class : growth_class(tuple));
}

/* The class of the next chunk when `count` more rows are known to come. */
static uint32_t class_choose(const weft__tuple *tuple, uint64_t count)
{
    const weft__format *format = tuple->archetype->format;
    if (format->row_limit != UINT32_MAX) return format->smallest_class;
    uint32_t growth = growth_class(tuple), cover = growth;
    if (count == 1 || weft__format_capacity(format, growth) >= count) return growth;
    while (cover + 1 < WEFT__SIZE_CLASSES && weft__format_capacity(format, cover) < count) cover++;
    uint32_t capacity = weft__format_capacity(format, cover);
    if (cover <= WEFT__UNIT_CLASS || capacity <= count) return cover;
    bool is_wasteful = (capacity - count) * 8 > weft__tuple_rows(tuple) + count;
    return is_wasteful ? cover - 1 : cover;
}

/* A chunk of the class wished for, or a smaller one when memory is short. */
static weft__chunk *chunk_obtain(weft_world *world, weft__tuple *tuple, uint64_t count)
{
    uint32_t size_class = class_choose(tuple, count);
    uint32_t smallest = tuple->archetype->format->smallest_class;
    for (;;) {
        weft__chunk *chunk = weft__chunk_create(world, tuple, size_class);
        if (chunk != NULL || size_class <= smallest || size_class <= WEFT__UNIT_CLASS) return chunk;
        size_class--;
    }
}

/* Rows of one chunk for a request; NULL with the error set. `spans`: of the operation, or NULL. */
static weft__chunk *piece_take(weft_world *world, weft__tuple *tuple, uint64_t count,
                               weft__spans *spans, weft__span *piece)
{
    weft__chunk *chunk = tuple->room;
    uint64_t known = count + tuple->coming;
    if (chunk == NULL && tuple->chunk_count == 1) {
        weft__growth **list = spans != NULL ? &spans->growths : NULL;
        chunk = weft__chunk_grow(world, tuple, known, list, spans != NULL ? spans->count : 0);
    }
    if (chunk == NULL) chunk = chunk_obtain(world, tuple, known);
    if (chunk == NULL) return NULL;
    uint32_t room = chunk->capacity - chunk->count;
    *piece = (weft__span){chunk, chunk->count, count < room ? (uint32_t)count : room};
    chunk->count += piece->count;
    weft__chunk_count_rows(world, chunk, piece->count);
    weft__chunk_room_update(chunk);
    return chunk;
}

static void piece_return(weft_world *world, weft__span piece)
{
    WEFT_ASSERT(piece.row + piece.count == piece.chunk->count);
    piece.chunk->count = piece.row;
    weft__chunk_count_rows(world, piece.chunk, -(int64_t)piece.count);
    weft__chunk_room_update(piece.chunk);
    if (piece.row == 0) weft__chunk_release(world, piece.chunk, false);
}

weft_result weft__row_reserve(weft_world *world, weft__tuple *tuple, weft__span *place)
{
    tuple->holders++; /* a failure must not end it under us */
    bool is_reserved = piece_take(world, tuple, 1, NULL, place) != NULL;
    weft__tuple_release(world, tuple);
    return is_reserved ? WEFT_OK : world->error->code;
}

weft_result weft__rows_reserve(weft_world *world, weft__tuple *tuple, uint64_t count,
                               weft__spans *out)
{
    uint32_t start = out->count;
    tuple->holders++; /* a failure must not end it under us */
    weft_result result = WEFT_OK;
    while (count != 0 && result == WEFT_OK) {
        weft__span piece;
        if (piece_take(world, tuple, count, out, &piece) == NULL) {
            result = world->error->code;
        } else if (!weft__spans_push(world, out, piece)) {
            piece_return(world, piece);
            result = weft__error_memory(world, "structural change");
        } else {
            count -= piece.count;
        }
    }
    if (result != WEFT_OK) weft__rows_unreserve(world, out, start);
    weft__tuple_release(world, tuple);
    return result;
}

void weft__rows_unreserve(weft_world *world, weft__spans *spans, uint32_t from)
{
    /* a chunk may have come, grown and got more rows: it shrinks before its first rows go */
    weft__growths_undo(world, &spans->growths, spans->count);
    while (spans->count > from) {
        piece_return(world, spans->at[--spans->count]);
        weft__growths_undo(world, &spans->growths, spans->count);
    }
}

static inline __attribute__((always_inline)) void
values_copy(char *to, const char *from, size_t stride, size_t bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, to += bytes, from += stride) memcpy(to, from, bytes);
}

void weft__values_copy(char *to, const char *from, size_t stride, size_t bytes, uint32_t count)
{
    switch (bytes) { /* a call of memcpy costs as much as the few bytes that most values have */
    case 4:
        values_copy(to, from, stride, 4, count);
        return;
    case 8:
        values_copy(to, from, stride, 8, count);
        return;
    case 12:
        values_copy(to, from, stride, 12, count);
        return;
    case 16:
        values_copy(to, from, stride, 16, count);
        return;
    default:
        values_copy(to, from, stride, bytes, count);
    }
}

/* ---- fill and copy ---- */

void weft__rows_stamp(const weft__chunk *chunk, uint32_t type, uint32_t row, uint32_t count,
                      uint32_t version)
{
    uint32_t shift = chunk->layout->slice_shift;
    weft_a32 *x_versions = weft__chunk_versions(chunk, type);
    for (uint32_t s = row >> shift; s <= (row + count - 1) >> shift; s++)
        weft__stamp(&x_versions[s], version);
}

static void column_fill(const weft__chunk *chunk, uint32_t column, uint32_t row, uint32_t count)
{
    const weft__type *type = chunk->archetype->format->types[column];
    void *values = weft__chunk_value(chunk, column, row);
    if (chunk->is_zero)
        weft__type_construct_zeroed(type, values, count);
    else
        weft__type_construct(type, values, count);
}

void weft__rows_construct(weft__chunk *chunk, uint32_t row, uint32_t count)
{
    if (!chunk->is_zero || (chunk->archetype->flags & WEFT__NEEDS_CONSTRUCT) != 0)
        for (uint32_t column = 1; column < chunk->layout->column_count; column++)
            column_fill(chunk, column, row, count);
}

void weft__rows_fill(weft_world *world, weft__chunk *chunk, uint32_t row, uint32_t count)
{
    weft__rows_construct(chunk, row, count);
    for (uint32_t type = 0; type < chunk->archetype->type_count; type++)
        weft__rows_stamp(chunk, type, row, count, world->front.version);
}

static void column_copy(const weft__chunk *from, uint32_t from_column, const uint32_t *rows,
                        uint32_t first, weft__span to, uint32_t to_column)
{
    size_t bytes = from->layout->columns[from_column].bytes;
    const char *source = weft__chunk_column(from, from_column);
    char *target = weft__chunk_value(to.chunk, to_column, to.row);
    if (rows == NULL) {
        memcpy(target, source + first * bytes, to.count * bytes);
        return;
    }
    for (uint32_t i = 0; i < to.count; i++)
        weft__value_copy(target + i * bytes, source + rows[i] * bytes, bytes);
}

static bool is_disabled(const weft_a64 *x_words, uint32_t row)
{
    /* relaxed: no task of this step changes bits of rows that it reads */
    return (at_load_rlx(&x_words[row / 64]) >> row % 64 & 1) != 0;
}

/* Marks a row disabled that was enabled. */
static void row_disable(const weft__chunk *chunk, uint32_t enableable, uint32_t row)
{
    at_or_ar(&weft__chunk_disabled(chunk, enableable)[row / 64], UINT64_C(1) << row % 64); /* C1 */
    at_add_ar(&weft__chunk_disabled_counts(chunk, enableable)[row >> chunk->layout->slice_shift],
              1u); /* C1 */
}

/* Marks a row enabled; true when it was disabled. */
static bool row_enable(const weft__chunk *chunk, uint32_t enableable, uint32_t row)
{
    weft_a64 *x_word = &weft__chunk_disabled(chunk, enableable)[row / 64];
    uint64_t bit = UINT64_C(1) << row % 64;
    if ((at_and_ar(x_word, ~bit) & bit) == 0) return false; /* C1 */
    at_sub_ar(&weft__chunk_disabled_counts(chunk, enableable)[row >> chunk->layout->slice_shift],
              1u); /* C1 */
    return true;
}

static bool has_disabled(const weft__chunk *chunk, uint32_t enableable)
{
    const weft_a32 *x_counts = weft__chunk_disabled_counts(chunk, enableable);
    for (uint32_t s = 0; s < chunk->layout->slice_count; s++)
        if (at_load_rlx(&x_counts[s]) != 0) return true; /* relaxed: as is_disabled */
    return false;
}

static void bits_copy(const weft__chunk *from, uint32_t from_bits, const uint32_t *rows,
                      uint32_t first, weft__span to, uint32_t to_bits)
{
    if (!has_disabled(from, from_bits)) return;
    const weft_a64 *x_words = weft__chunk_disabled(from, from_bits);
    for (uint32_t i = 0; i < to.count; i++)
        if (is_disabled(x_words, rows != NULL ? rows[i] : first + i))
            row_disable(to.chunk, to_bits, to.row + i);
}

/* Newest version among the slices that the rows come from. */
static uint32_t rows_version(const weft__chunk *from, uint32_t type, const uint32_t *rows,
                             uint32_t first, uint32_t count)
{
    uint32_t shift = from->layout->slice_shift, newest = 0;
    const weft_a32 *x_versions = weft__chunk_versions(from, type);
    uint32_t s = (rows != NULL ? rows[0] : first) >> shift;
    uint32_t last = (rows != NULL ? rows[count - 1] : first + count - 1) >> shift;
    for (; s <= last; s++) {
        uint32_t version = at_load_rlx(&x_versions[s]); /* relaxed: not written in this step */
        if (weft__version_is_newer(version, newest)) newest = version;
    }
    return newest;
}

static void rows_newer(const weft__chunk *chunk, uint32_t type, uint32_t row, uint32_t count,
                       uint32_t version)
{
    uint32_t shift = chunk->layout->slice_shift;
    weft_a32 *x_versions = weft__chunk_versions(chunk, type);
    for (uint32_t s = row >> shift; s <= (row + count - 1) >> shift; s++)
        weft__stamp_newer(&x_versions[s], version);
}

/* Its part for types that are enableable or shared: enable bits, and the stamps of shared values
 * that become others. */
static void copy_marks(weft_world *world, const weft__plan *plan, const weft__chunk *from,
                       const uint32_t *rows, uint32_t first, weft__span to)
{
    for (uint32_t i = 0; i < plan->kept_count; i++) {
        uint32_t b = plan->kept[2 * i + 1];
        const weft__type_ref *ref = &plan->from->types[plan->kept[2 * i]];
        if (ref->enableable != WEFT__NO_PLACE)
            bits_copy(from, ref->enableable, rows, first, to, plan->to->types[b].enableable);
        if (ref->shared != WEFT__NO_PLACE &&
            from->tuple->values[ref->shared] != to.chunk->tuple->values[plan->to->types[b].shared])
            weft__rows_stamp(to.chunk, b, to.row, to.count, world->front.version);
    }
}

void weft__rows_versions(const weft__plan *plan, const weft__chunk *from, const uint32_t *rows,
                         uint32_t first, uint32_t count, uint32_t *out)
{
    for (uint32_t i = 0; i < plan->kept_count; i++)
        out[i] = rows_version(from, plan->kept[2 * i], rows, first, count);
}

static void types_copy(weft_world *world, const weft__plan *plan, const weft__rows_source *from,
                       weft__span to)
{
    for (uint32_t i = 0; i < plan->kept_count; i++) {
        uint32_t version = from->versions != NULL ? from->versions[i]
                                                  : rows_version(from->chunk, plan->kept[2 * i],
                                                                 from->rows, from->first, to.count);
        rows_newer(to.chunk, plan->kept[2 * i + 1], to.row, to.count, version);
    }
    copy_marks(world, plan, from->chunk, from->rows, from->first, to);
    for (uint32_t i = 0; i < plan->new_type_count; i++)
        weft__rows_stamp(to.chunk, plan->new_types[i], to.row, to.count, world->front.version);
}

/* All but the locations. */
static void rows_copy(weft_world *world, const weft__plan *plan, const weft__rows_source *from,
                      weft__span to)
{
    uint64_t bytes = 0;
    column_copy(from->chunk, 0, from->rows, from->first, to, 0);
    for (uint32_t i = 0; i < plan->copy_count; i++) {
        const weft__column_copy *copy = &plan->copies[i];
        column_copy(from->chunk, copy->from, from->rows, from->first, to, copy->to);
        bytes += copy->bytes;
    }
    for (uint32_t i = 0; i < plan->added_count; i++)
        column_fill(to.chunk, plan->added[i], to.row, to.count);
    types_copy(world, plan, from, to);
    at_add_rlx(&world->moved.x_rows, (uint64_t)to.count); /* relaxed: a statistic */
    at_add_rlx(&world->moved.x_bytes, bytes * to.count);  /* relaxed: a statistic */
}

void weft__rows_copy(weft_world *world, const weft__plan *plan, const weft__rows_source *from,
                     weft__span to)
{
    if (to.count == 0) return;
    rows_copy(world, plan, from, to);
    const weft_entity *entities = weft__chunk_entities(to.chunk) + to.row;
    uint32_t location = weft__location(to.chunk, to.row);
    for (uint32_t i = 0; i < to.count; i++)
        weft__directory_place(&world->directory, entities[i], location + i);
}

void weft__rows_copy_placed(weft_world *world, const weft__plan *plan, const weft__chunk *from,
                            uint32_t first, weft__span to)
{
    rows_copy(world, plan, &(weft__rows_source){from, NULL, first, NULL}, to);
}

/* ---- discard and close ---- */

static void column_discard(weft_world *world, const weft__chunk *chunk, uint32_t column,
                           const uint32_t *rows, uint32_t first, uint32_t count)
{
    const weft__type *type = chunk->archetype->format->types[column];
    if (!type->needs_destruct) return;
    if (rows == NULL) {
        weft__type_destruct(&world->memory, type, weft__chunk_value(chunk, column, first), count);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        weft__type_destruct(&world->memory, type, weft__chunk_value(chunk, column, rows[i]), 1);
}

void weft__rows_discard(weft_world *world, const weft__plan *plan, weft__chunk *chunk,
                        const uint32_t *rows, uint32_t first, uint32_t count)
{
    if ((chunk->archetype->flags & WEFT__NEEDS_DESTRUCT) == 0 || count == 0) return;
    if (plan != NULL) {
        for (uint32_t i = 0; i < plan->dropped_count; i++)
            column_discard(world, chunk, plan->dropped[i], rows, first, count);
        return;
    }
    for (uint32_t column = 1; column < chunk->layout->column_count; column++)
        column_discard(world, chunk, column, rows, first, count);
}

/* Moves `count` rows within a chunk from `from` to `to`, without overlap, to rows whose bits are
 * clear already; locations are written. */
static void rows_shift(weft_world *world, weft__chunk *chunk, uint32_t from, uint32_t to,
                       uint32_t count)
{
    for (uint32_t column = 0; column < chunk->layout->column_count; column++) {
        size_t bytes = chunk->layout->columns[column].bytes;
        char *values = weft__chunk_column(chunk, column);
        memcpy(values + to * bytes, values + from * bytes, count * bytes);
    }
    const weft_entity *entities = weft__chunk_entities(chunk) + to;
    for (uint32_t i = 0; i < count; i++)
        weft__directory_place(&world->directory, entities[i], weft__location(chunk, to + i));
    for (uint32_t type = 0; type < chunk->archetype->type_count; type++)
        rows_newer(chunk, type, to, count, rows_version(chunk, type, NULL, from, count));
    for (uint32_t e = 0; e < chunk->archetype->enableable_count; e++) {
        if (!has_disabled(chunk, e)) continue;
        for (uint32_t i = 0; i < count; i++)
            if (row_enable(chunk, e, from + i)) row_disable(chunk, e, to + i);
    }
}

static void bits_clear(const weft__chunk *chunk, const uint32_t *rows, uint32_t first,
                       uint32_t count)
{
    for (uint32_t e = 0; e < chunk->archetype->enableable_count; e++) {
        if (!has_disabled(chunk, e)) continue;
        for (uint32_t i = 0; i < count; i++)
            row_enable(chunk, e, rows != NULL ? rows[i] : first + i);
    }
}

enum { PAIRS = 64, AHEAD = 8 };

/* Rows of one chunk that fill holes of it, one by one. Owner: the stack of one call. Always: no row
 * is in both lists. */
typedef struct row_pairs {
    uint32_t count;
    uint32_t from[PAIRS];
    uint32_t to[PAIRS];
} row_pairs;

/* Column by column: loops so short that the cache misses of many rows overlap. */
static void column_shift(const weft__chunk *chunk, uint32_t column, const row_pairs *pairs)
{
    size_t bytes = chunk->layout->columns[column].bytes;
    char *values = weft__chunk_column(chunk, column);
    for (uint32_t i = 0; i < pairs->count; i++) {
        if (i + AHEAD < pairs->count) __builtin_prefetch(values + pairs->to[i + AHEAD] * bytes, 1);
        weft__value_copy(values + pairs->to[i] * bytes, values + pairs->from[i] * bytes, bytes);
    }
}

static void bits_shift(const weft__chunk *chunk, uint32_t enableable, const row_pairs *pairs)
{
    if (!has_disabled(chunk, enableable)) return;
    for (uint32_t i = 0; i < pairs->count; i++)
        if (row_enable(chunk, enableable, pairs->from[i]))
            row_disable(chunk, enableable, pairs->to[i]);
}

/* The slices of holes take over the versions of the slices that fill them. */
static void versions_shift(const weft__chunk *chunk, const row_pairs *pairs)
{
    uint32_t shift = chunk->layout->slice_shift, s = WEFT__NONE, t = WEFT__NONE;
    for (uint32_t i = 0; i < pairs->count; i++) {
        uint32_t from = pairs->from[i] >> shift, to = pairs->to[i] >> shift;
        if (from == s && to == t) continue;
        s = from, t = to;
        for (uint32_t type = 0; type < chunk->archetype->type_count && s != t; type++)
            rows_newer(chunk, type, pairs->to[i], 1,
                       rows_version(chunk, type, NULL, pairs->from[i], 1));
    }
}

/* As rows_shift, of rows that do not follow each other; there are none after it. */
static void pairs_shift(weft_world *world, weft__chunk *chunk, row_pairs *pairs)
{
    for (uint32_t column = 0; column < chunk->layout->column_count; column++)
        column_shift(chunk, column, pairs);
    const weft_entity *entities = weft__chunk_entities(chunk);
    for (uint32_t i = 0; i < pairs->count; i++) {
        if (i + AHEAD < pairs->count)
            __builtin_prefetch(
                weft__directory_slot(&world->directory, entities[pairs->to[i + AHEAD]].index), 1);
        weft__directory_place(&world->directory, entities[pairs->to[i]],
                              weft__location(chunk, pairs->to[i]));
    }
    versions_shift(chunk, pairs);
    for (uint32_t e = 0; e < chunk->archetype->enableable_count; e++) bits_shift(chunk, e, pairs);
    pairs->count = 0;
}

static void pairs_add(weft_world *world, weft__chunk *chunk, row_pairs *pairs, uint32_t from,
                      uint32_t to)
{
    if (pairs->count == PAIRS) pairs_shift(world, chunk, pairs);
    pairs->from[pairs->count] = from;
    pairs->to[pairs->count++] = to;
}

enum { RUN_LONG = 16 }; /* rows from which on a run is copied as one */

enum { HOLES_FEW = 16 }; /* up to which holes are filled row by row */

/* As holes_fill, without the lists: few rows, no enableable types. */
static void holes_fill_few(weft_world *world, weft__chunk *chunk, const uint32_t *rows,
                           uint32_t count)
{
    uint32_t row = chunk->count - count, high = 0; /* the tail begins there; next hole in it */
    while (high < count && rows[high] < row) high++;
    for (uint32_t low = 0, end = high; low < end; low++, row++) {
        while (high < count && rows[high] == row) high++, row++;
        weft__row_fill_hole(world, chunk, row, rows[low]);
    }
}

/* Holes in ascending `rows` are filled from the end: the i-th lowest hole gets the i-th surviving
 * row of the tail, which keeps the order of the tail. */
static void holes_fill(weft_world *world, weft__chunk *chunk, const uint32_t *rows, uint32_t count)
{
    uint32_t kept = chunk->count - count; /* rows that stay; the tail is [kept, chunk->count) */
    uint32_t low = 0, high = 0;           /* next hole to fill; next hole in the tail */
    while (high < count && rows[high] < kept) high++;
    uint32_t end = high, row = kept;
    row_pairs pairs = {.count = 0};
    while (low < end) {
        while (high < count && rows[high] == row) high++, row++;
        uint32_t stop = high < count ? rows[high] : chunk->count, run = 1;
        while (low + run < end && rows[low + run] == rows[low] + run && row + run < stop) run++;
        if (run >= RUN_LONG)
            rows_shift(world, chunk, row, rows[low], run);
        else
            for (uint32_t i = 0; i < run; i++)
                pairs_add(world, chunk, &pairs, row + i, rows[low] + i);
        low += run;
        row += run;
    }
    if (pairs.count != 0) pairs_shift(world, chunk, &pairs);
}

static void run_fill(weft_world *world, weft__chunk *chunk, uint32_t first, uint32_t count)
{
    uint32_t tail = chunk->count - (first + count);
    uint32_t moved = tail < count ? tail : count;
    if (moved != 0) rows_shift(world, chunk, chunk->count - moved, first, moved);
}

void weft__rows_close(weft_world *world, weft__chunk *chunk, const uint32_t *rows, uint32_t first,
                      uint32_t count)
{
    if (count == 0) return;
    if (count == 1 && !weft__row_has_bits(chunk, rows != NULL ? rows[0] : first)) {
        weft__row_swap_back(world, chunk, rows != NULL ? rows[0] : first);
        return;
    }
    if (chunk->archetype->enableable_count != 0) bits_clear(chunk, rows, first, count);
    if (rows != NULL && count <= HOLES_FEW && chunk->archetype->enableable_count == 0)
        holes_fill_few(world, chunk, rows, count);
    else if (rows != NULL)
        holes_fill(world, chunk, rows, count);
    else
        run_fill(world, chunk, first, count);
    chunk->count -= count;
    weft__chunk_soil(chunk);
}

/* ---- moves ----
 *
 * One row (the general way of add and remove), and whole chunks that change archetype or shared
 * values by editing their metadata only. Everything that can fail comes first. */

/* A call of its own: callers save no registers. */
__attribute__((noinline)) weft_result weft__value_put_long(char *to, const void *value,
                                                           size_t bytes)
{
    memcpy(to, value, bytes);
    return WEFT_OK;
}

/* ---- one row ---- */

/* The columns and types of one row. Fields are read into locals first: the stores of values may
 * alias anything, and would have them read again after every column. */
static inline void row_copy_types(const weft_world *world, const weft__plan *plan,
                                  const weft__chunk *from, uint32_t row, const weft__chunk *to,
                                  uint32_t to_row)
{
    const weft__layout *from_layout = from->layout, *to_layout = to->layout;
    const weft_a32 *x_from = from->x_versions + (row >> from_layout->slice_shift);
    weft_a32 *x_to = to->x_versions + (to_row >> to_layout->slice_shift);
    uint32_t from_slices = from_layout->slice_count, to_slices = to_layout->slice_count;
    const uint32_t *kept = plan->kept, *kept_end = kept + 2 * (size_t)plan->kept_count;
    for (; kept != kept_end; kept += 2)
        weft__version_follow(x_to + kept[1] * to_slices, x_from + kept[0] * from_slices);
    const uint32_t *new_types = plan->new_types;
    for (uint32_t i = 0, n = plan->new_type_count; i < n; i++)
        weft__stamp(x_to + new_types[i] * to_slices, world->front.version);
}

static inline void row_copy(weft_world *world, const weft__plan *plan, const weft__chunk *from,
                            uint32_t row, const weft__chunk *to, uint32_t to_row)
{
    char *from_base = from->base, *to_base = to->base;
    weft_entity entity = ((const weft_entity *)(const void *)from_base)[row];
    ((weft_entity *)(void *)to_base)[to_row] = entity;
    weft__directory_place(&world->directory, entity, weft__location(to, to_row));
    const weft__column *from_columns = from->layout->columns, *to_columns = to->layout->columns;
    const weft__column_copy *copy = plan->copies, *end = copy + plan->copy_count;
    uint32_t added_count = plan->added_count;
    const uint32_t *added = plan->added;
    bool is_dirty = !to->is_zero, constructs = (plan->to->flags & WEFT__NEEDS_CONSTRUCT) != 0;
    for (; copy != end; copy++) {
        size_t bytes = copy->bytes;
        weft__value_copy(to_base + to_columns[copy->to].offset + to_row * bytes,
                         from_base + from_columns[copy->from].offset + row * bytes, bytes);
    }
    for (uint32_t i = 0; i < added_count; i++) {
        const weft__column *place = &to_columns[added[i]];
        char *value = to_base + place->offset + (size_t)to_row * place->bytes;
        if (is_dirty) weft__value_zero(value, place->bytes);
        if (__builtin_expect(constructs, 0))
            weft__type_construct_zeroed(plan->to->format->types[added[i]], value, 1);
    }
    row_copy_types(world, plan, from, row, to, to_row);
    /* relaxed: statistics, and the owner is alone */
    at_store_rlx(&world->moved.x_rows, at_load_rlx(&world->moved.x_rows) + 1);
    at_store_rlx(&world->moved.x_bytes, at_load_rlx(&world->moved.x_bytes) + plan->copy_bytes);
}

void weft__row_hole_versions(const weft_world *world, weft__chunk *chunk, uint32_t s, uint32_t t)
{
    uint32_t slices = chunk->layout->slice_count, old = 0;
    weft_a32 *x_version = chunk->x_versions;
    const weft_a32 *x_end = x_version + chunk->archetype->type_count * slices;
    for (; x_version != x_end; x_version += slices) {
        weft__version_follow(x_version + s, x_version + t);
        old |= at_load_rlx(x_version + s) ^ world->front.version; /* relaxed: idle */
    }
    if (old != 0) return;
    chunk->stamped_slice = s;
    chunk->stamped_version = world->front.version;
}

enum { NEAR_ROWS = 32 };

void weft__row_last_ends(weft__chunk *chunk)
{
    uint32_t row = chunk->count, shift = chunk->layout->slice_shift;
    bool is_near = row < chunk->ready_end && chunk->ready_end - row <= NEAR_ROWS &&
                   row >> shift == (chunk->ready_end - 1) >> shift;
    if (!is_near) {
        weft__chunk_soil(chunk);
        return;
    }
    const weft__column *column = chunk->layout->columns + 1;
    const weft__column *end = chunk->layout->columns + chunk->layout->column_count;
    if (chunk->is_zero) memset(chunk->base + row * sizeof(weft_entity), 0, sizeof(weft_entity));
    for (; column < end; column++)
        weft__value_zero(chunk->base + column->offset + row * (size_t)column->bytes, column->bytes);
}

bool weft__row_die_at_edge(weft_world *world, weft__chunk *chunk, uint32_t row,
                           weft__entity_block *block, uint32_t special)
{
    if ((chunk->archetype->flags & special) != 0) return false;
    weft_entity entity = weft__chunk_entities(chunk)[row];
    uint32_t index = entity.index ^ world->directory.tag_bits;
    if (!weft__directory_kill_owner(&world->directory, block, index, entity.version)) return false;
    weft__row_swap_back(world, chunk, row);
    weft__chunk_count_rows(world, chunk, -1);
    if (chunk->count == 0)
        weft__chunk_release(world, chunk, true);
    else if (!chunk->has_room)
        weft__chunk_room_update(chunk);
    return true;
}

weft_result weft__row_move_by(weft_world *world, const weft__plan *plan, weft__chunk *from,
                              uint32_t row, weft__tuple *to)
{
    if (from->tuple == to) return WEFT_OK;
    weft__span place;
    weft_result result = weft__row_reserve(world, to, &place);
    if (result != WEFT_OK) return result;
    row_copy(world, plan, from, row, place.chunk, place.row);
    if (plan->from->shared_count != 0 || weft__row_has_bits(from, row))
        copy_marks(world, plan, from, NULL, row, place);
    weft__rows_discard(world, plan, from, NULL, row, 1);
    weft__row_end(world, from, row);
    return WEFT_OK;
}

weft_result weft__row_move(weft_world *world, weft__chunk *from, uint32_t row, weft__tuple *to)
{
    const weft__plan *plan = weft__plan_obtain(world, from->archetype, to->archetype);
    return plan == NULL ? world->error->code : weft__row_move_by(world, plan, from, row, to);
}

/* ---- whole chunks in place ---- */

static void masks_copy(const weft__plan *plan, const weft__chunk *chunk, const weft__side *side)
{
    uint32_t slices = chunk->layout->slice_count, words = chunk->layout->mask_words;
    for (uint32_t i = 0; i < plan->kept_count; i++) {
        const weft__type_ref *a = &plan->from->types[plan->kept[2 * i]];
        const weft__type_ref *b = &plan->to->types[plan->kept[2 * i + 1]];
        if (a->enableable != WEFT__NO_PLACE) {
            memcpy(side->x_disabled + (size_t)b->enableable * words,
                   chunk->x_disabled + (size_t)a->enableable * words, words * sizeof(weft_a64));
            memcpy(side->x_disabled_counts + (size_t)b->enableable * slices,
                   chunk->x_disabled_counts + (size_t)a->enableable * slices,
                   slices * sizeof(weft_a32));
        }
        if (a->chunk_offset != WEFT__NONE)
            memcpy(side->chunk_values + b->chunk_offset, chunk->chunk_values + a->chunk_offset,
                   a->type->chunk_bytes);
    }
}

/* Stamps the shared types whose value differs between the tuples (same archetype). */
static void shared_stamp(const weft_world *world, const weft__chunk *chunk, const weft__tuple *to)
{
    const weft__archetype *archetype = chunk->archetype;
    for (uint32_t type = 0; type < archetype->type_count; type++) {
        uint32_t shared = archetype->types[type].shared;
        if (shared == WEFT__NO_PLACE || chunk->tuple->values[shared] == to->values[shared])
            continue;
        for (uint32_t s = 0; s < chunk->layout->slice_count; s++)
            weft__stamp(weft__chunk_versions(chunk, type) + s, world->front.version);
    }
}

static void chunk_retarget(weft_world *world, const weft__plan *plan, weft__chunk *chunk,
                           weft__tuple *to, const weft__side *side)
{
    uint32_t rows = chunk->count;
    weft__tuple *from = chunk->tuple;
    weft__chunk_count_rows(world, chunk, -(int64_t)rows);
    weft__chunk_room_remove(chunk);
    chunk->stamped_version = 0;
    chunk->ready_end = 0;
    world->quick.from = NULL;
    if (side != NULL) {
        uint32_t slices = chunk->layout->slice_count;
        for (uint32_t i = 0; i < plan->kept_count; i++)
            memcpy(side->x_versions + (size_t)plan->kept[2 * i + 1] * slices,
                   chunk->x_versions + (size_t)plan->kept[2 * i] * slices,
                   slices * sizeof(weft_a32));
        for (uint32_t i = 0; i < plan->new_type_count; i++)
            for (uint32_t s = 0; s < slices; s++)
                at_init(&side->x_versions[(size_t)plan->new_types[i] * slices + s],
                        world->front.version);
        masks_copy(plan, chunk, side);
        weft__side_replace(&world->memory, chunk, to->archetype, chunk->layout, side);
        weft__chunk_unlist(chunk);
        chunk->archetype = to->archetype;
        chunk->list_index = to->archetype->chunk_count;
        to->archetype->chunks[to->archetype->chunk_count++] = chunk;
    } else {
        shared_stamp(world, chunk, to);
    }
    chunk->tuple = to;
    weft__tuple_enter(to, chunk);
    weft__chunk_count_rows(world, chunk, rows);
    weft__chunk_room_update(chunk);
    weft__tuple_leave(from, chunk);
    weft__tuple_release(world, from);
}

/* Room in the chunk lists of all destinations. */
static bool lists_reserve(weft_world *world, weft__tuple *const *to, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) to[i]->archetype->arriving++;
    bool is_ready = true;
    for (uint32_t i = 0; i < count && is_ready; i++)
        is_ready = weft__chunk_list_reserve(world, to[i]->archetype, to[i]->archetype->arriving);
    for (uint32_t i = 0; i < count; i++) to[i]->archetype->arriving = 0;
    return is_ready;
}

/* One change of archetype, prepared. Owner: the list of weft__chunks_retarget; `side` goes to the
 * chunk. */
typedef struct retarget {
    const weft__plan *plan;
    weft__side side; /* block NULL: the archetype stays */
    bool is_new;     /* side is to be installed */
} retarget;

static void retargets_free(weft_world *world, retarget *list, uint32_t prepared, uint32_t count)
{
    for (uint32_t i = 0; i < prepared; i++) weft__side_free(&world->memory, &list[i].side);
    WEFT__FREE(&world->memory, WEFT__MEMORY_COMMANDS, list, count);
}

static retarget *retargets_make(weft_world *world, weft__chunk *const *chunks,
                                weft__tuple *const *to, uint32_t count)
{
    retarget *list = WEFT__NEW_ZEROED(&world->memory, WEFT__MEMORY_COMMANDS, count, *list);
    if (list == NULL) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        weft__archetype *from = chunks[i]->archetype, *target = to[i]->archetype;
        if (from == target) continue;
        WEFT_ASSERT(from->format == target->format);
        list[i].is_new = true;
        list[i].plan = weft__plan_obtain(world, from, target);
        if (list[i].plan != NULL &&
            weft__side_allocate(&world->memory, target, chunks[i]->layout, &list[i].side))
            continue;
        retargets_free(world, list, i, count);
        return NULL;
    }
    return list;
}

weft_result weft__chunks_retarget(weft_world *world, weft__chunk *const *chunks,
                                  weft__tuple *const *to, uint32_t count)
{
    if (count == 0) return WEFT_OK;
    retarget *list =
        lists_reserve(world, to, count) ? retargets_make(world, chunks, to, count) : NULL;
    if (list == NULL) return weft__error_memory(world, "change of whole chunks");
    for (uint32_t i = 0; i < count; i++)
        if (chunks[i]->tuple != to[i])
            chunk_retarget(world, list[i].plan, chunks[i], to[i],
                           list[i].is_new ? &list[i].side : NULL);
    retargets_free(world, list, 0, count);
    return WEFT_OK;
}
