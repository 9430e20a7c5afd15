/* SPDX-License-Identifier: MIT */
/* structure.h: structural operations on runs of rows, the common ground of immediate changes,
 * query-wide changes and command playback.
 *
 * Serial callers use the whole operations (structure.h, destroy.h). Parallel playback takes them
 * apart, in this order, with a barrier between the steps:
 *   1. plan   (owner): weft__rows_reserve for every group; everything that can fail happens here;
 *   2. copy   (workers): weft__rows_copy, weft__rows_fill, each destination row by one task;
 *   3. close  (workers): weft__rows_discard of dropped rows, then weft__rows_close, each chunk by
 *             one task;
 *   4. settle (owner): weft__chunk_settle for every chunk closed, in a deterministic order.
 * No function here checks `busy`: callers do. All functions with a result leave the world unchanged
 * when they fail (error set). */
#pragma once

#include "chunk.h"

/* A growing list of spans; zero-initialise. Owner: the struct or the stack that holds it, which
 * ends it by weft__spans_fini. Always: count <= capacity. */
typedef struct weft__spans {
    weft__span *at;
    uint32_t count, capacity; /* as of a WEFT__LIST */
    weft__growth *growths;    /* of chunks that grew for them */
} weft__spans;

bool weft__spans_push(weft_world *world, weft__spans *spans, weft__span span);
void weft__spans_fini(weft_world *world, weft__spans *spans);

/* ---- 1. plan: owner ---- */

/* Room for one row, as weft__rows_reserve. */
weft_result weft__row_reserve(weft_world *world, weft__tuple *tuple, weft__span *place);
/* Makes room for `count` rows in chunks of the tuple, in existing chunks first, then in new ones
 * sized for the population; appends the pieces to `out` in row order. The rows count at once
 * (chunk->count, totals); their bytes are undefined until copied or filled, every type's version is
 * not stamped yet. Errors: OUT_OF_MEMORY, LIMIT. */
weft_result weft__rows_reserve(weft_world *world, weft__tuple *tuple, uint64_t count,
                               weft__spans *out);
/* Rows of the next chunk that a tuple would get, when few rows come. */
uint32_t weft__growth_capacity(const weft__tuple *tuple);
/* Gives reserved rows back that were never written, spans[from..] in reverse order, and takes back
 * how chunks grew for them. */
void weft__rows_unreserve(weft_world *world, weft__spans *spans, uint32_t from);

/* ---- 2. copy: workers, disjoint destination rows ---- */

/* Copies `count` plain values of `bytes` bytes, `stride` bytes apart (0: one for all), to
 * neighbouring rows. */
void weft__values_copy(char *to, const char *from, size_t stride, size_t bytes, uint32_t count);
/* Stamps one type over the slices of rows [row, row + count), count >= 1. */
void weft__rows_stamp(const weft__chunk *chunk, uint32_t type, uint32_t row, uint32_t count,
                      uint32_t version);
/* New rows: zeroes and constructs every column but the entity column. Reads nothing that the owner
 * of the world changes. */
void weft__rows_construct(weft__chunk *chunk, uint32_t row, uint32_t count);
/* The same, and stamps versions. */
void weft__rows_fill(weft_world *world, weft__chunk *chunk, uint32_t row, uint32_t count);
/* The change versions that the rows bring along, of the kept types of the plan: `out` has
 * plan->kept_count places. Any thread that nothing stamps these slices beside. */
void weft__rows_versions(const weft__plan *plan, const weft__chunk *from, const uint32_t *rows,
                         uint32_t first, uint32_t count, uint32_t *out);
/* Rows [first, first + count), or those listed, of a chunk. A value. */
typedef struct weft__rows_source {
    const weft__chunk *chunk;
    const uint32_t *rows; /* NULL: neighbours */
    uint32_t first;
    const uint32_t *versions; /* as weft__rows_versions gave them, where others stamp these slices;
                                 NULL: they are read now */
} weft__rows_source;

/* Copies the rows of `from` to the run `to`: common columns, entity handles, enable bits; new
 * columns are zeroed and constructed; locations are written; versions of kept types become the
 * newer of both, new types are stamped now. Dropped columns are not destructed. Source rows stay
 * until closed. */
void weft__rows_copy(weft_world *world, const weft__plan *plan, const weft__rows_source *from,
                     weft__span to);
/* The same for the run that starts at `first`, of rows that the directory knows to be at `to`
 * already. */
void weft__rows_copy_placed(weft_world *world, const weft__plan *plan, const weft__chunk *from,
                            uint32_t first, weft__span to);

/* ---- 3. close: workers, one task per chunk ---- */

/* Destructs columns of rows that end: all of them (`plan` NULL), or those the plan drops. */
void weft__rows_discard(weft_world *world, const weft__plan *plan, weft__chunk *chunk,
                        const uint32_t *rows, uint32_t first, uint32_t count);
/* Removes ascending rows[0..count) (or the run at `first`): the last rows fill the holes and
 * their locations are written; enable bits follow; count falls. Nothing is destructed, the ids of
 * the removed rows are not touched. The chunk may become empty: settle it. */
void weft__rows_close(weft_world *world, weft__chunk *chunk, const uint32_t *rows, uint32_t first,
                      uint32_t count);

/* ---- 4. settle: owner ---- */

/* After weft__rows_close: `removed` rows leave the totals; the chunk goes to the list of chunks
 * with room, or is released when it is empty. Versions of order are stamped. */
static inline void weft__chunk_settle(weft_world *world, weft__chunk *chunk, uint32_t removed)
{
    weft__chunk_count_rows(world, chunk, -(int64_t)removed);
    if (__builtin_expect(chunk->count == 0, 0))
        weft__chunk_release(world, chunk, false);
    else if (!chunk->has_room)
        weft__chunk_room_update(chunk);
}

/* ---- moves ---- */

/* Whole moves of rows and of chunks between tuples and archetypes, made of the steps of
 * structure.h. All or none. Rows that need nothing but bytes copied go by entity_change.c instead.
 * Threads: owner, world idle. */

/* Moves a row to another tuple, which may be of another archetype; `plan` leads from its archetype
 * to that of `to`. */
weft_result weft__row_move(weft_world *world, weft__chunk *from, uint32_t row, weft__tuple *to);
weft_result weft__row_move_by(weft_world *world, const weft__plan *plan, weft__chunk *from,
                              uint32_t row, weft__tuple *to);
/* Whole chunks change: chunks[i] to tuple to[i], of an archetype with the same format
 * (plan->is_in_place) or of its own: no row moves. Tags and chunk components that go are dropped,
 * new ones are zero and stamped. All or none. */
weft_result weft__chunks_retarget(weft_world *world, weft__chunk *const *chunks,
                                  weft__tuple *const *to, uint32_t count);

/* ---- rows that move ---- */

/* The steps of moving or removing one row, inline: what single add, remove, create and
 * destroy are made of. Owner, world idle, so every load and store of a shared word is relaxed. */

/* Copies one value: of 4 to 16 bytes by two words that may overlap, without a call. */
static inline void weft__value_copy(char *to, const char *from, size_t bytes)
{
    if (__builtin_expect(bytes - 8 <= 8, 1)) {
        uint64_t head, tail;
        memcpy(&head, from, 8);
        memcpy(&tail, from + bytes - 8, 8);
        memcpy(to, &head, 8);
        memcpy(to + bytes - 8, &tail, 8);
    } else if (bytes - 4 <= 4) {
        uint32_t head, tail;
        memcpy(&head, from, 4);
        memcpy(&tail, from + bytes - 4, 4);
        memcpy(to, &head, 4);
        memcpy(to + bytes - 4, &tail, 4);
    } else {
        memcpy(to, from, bytes);
    }
}

/* Writes a value of any size. OK, for a call at the end. */
weft_result weft__value_put_long(char *to, const void *value, size_t bytes);

/* The same, in line for those of 4 to 16 bytes. */
static inline weft_result weft__value_put(char *to, const void *value, size_t bytes)
{
    if (bytes == 4) { /* one store: they are what limits additions in order */
        memcpy(to, value, 4);
        return WEFT_OK;
    }
    if (__builtin_expect(bytes - 4 > 12, 0)) return weft__value_put_long(to, value, bytes);
    weft__value_copy(to, value, bytes);
    return WEFT_OK;
}

/* Zeroes one value. */
static inline void weft__value_zero(char *to, size_t bytes)
{
    if (bytes - 8 <= 8) {
        memset(to, 0, 8);
        memset(to + bytes - 8, 0, 8);
    } else if (bytes - 4 <= 4) {
        memset(to, 0, 4);
        memset(to + bytes - 4, 0, 4);
    } else {
        memset(to, 0, bytes);
    }
}

/* A slice takes over the version of another one when that is newer (wrap-safe, 0 is oldest). */
static inline void weft__version_follow(weft_a32 *x_to, const weft_a32 *x_from)
{
    uint32_t version = at_load_rlx(x_from), now = at_load_rlx(x_to); /* relaxed: idle */
    if (__builtin_expect(version == now, 1)) return;
    if (weft__version_is_newer(version, now)) at_store_rlx(x_to, version); /* relaxed: idle */
}

/* True when all types of the slice have `version`, the newest there is. */
static inline bool weft__slice_is_stamped(const weft__chunk *chunk, uint32_t slice,
                                          uint32_t version)
{
    return __builtin_expect(chunk->stamped_slice == slice, 1) &&
           __builtin_expect(chunk->stamped_version == version, 1);
}

/* True when the slices have the same versions: a row may go from one to the other as it is. */
static inline bool weft__slices_agree(const weft__chunk *chunk, uint32_t s, uint32_t t)
{
    uint32_t slices = chunk->layout->slice_count;
    const weft_a32 *x_version = chunk->x_versions;
    const weft_a32 *x_end = x_version + chunk->archetype->type_count * slices;
    for (; x_version != x_end; x_version += slices) {
        /* relaxed: idle */
        if (at_load_rlx(x_version + s) != at_load_rlx(x_version + t)) return false;
    }
    return true;
}

/* The slice `s` takes in a row of slice `t` of the same chunk. */
void weft__row_hole_versions(const weft_world *world, weft__chunk *chunk, uint32_t s, uint32_t t);

/* The last row of a chunk goes, whose count is lower already. Near the ready rows it is zeroed and
 * joins them: who creates and destroys in turn does not make a run of rows ready each time. */
void weft__row_last_ends(weft__chunk *chunk);

/* Whether a component is disabled in a row, or in the last one, which would fill its place: then
 * bits move, too. */
static inline bool weft__row_has_bits(const weft__chunk *chunk, uint32_t row)
{
    uint32_t last = chunk->count - 1;
    for (uint32_t e = 0; e < chunk->archetype->enableable_count; e++) {
        const weft_a64 *x_words = weft__chunk_disabled(chunk, e);
        /* relaxed: idle */
        uint64_t bits = at_load_rlx(&x_words[row >> 6]) >> (row & 63);
        bits |= at_load_rlx(&x_words[last >> 6]) >> (last & 63);
        if ((bits & 1) != 0) return true;
    }
    return false;
}

/* Copies row `from` to the hole `to` of the same chunk; no bits. */
static inline void weft__row_fill_hole(weft_world *world, weft__chunk *chunk, uint32_t from,
                                       uint32_t to)
{
    const weft__layout *layout = chunk->layout;
    char *base = chunk->base;
    const weft__column *column = layout->columns + 1, *end = layout->columns + layout->column_count;
    uint32_t s = to >> layout->slice_shift, t = from >> layout->slice_shift;
    if (s != t && !weft__slices_agree(chunk, s, t)) weft__row_hole_versions(world, chunk, s, t);
    uint64_t entity; /* as one word */
    memcpy(&entity, base + from * sizeof entity, sizeof entity);
    memcpy(base + to * sizeof entity, &entity, sizeof entity);
    weft__directory_place_bits(&world->directory, entity, weft__location(chunk, to));
    for (; column < end; column++) {
        size_t bytes = column->bytes;
        char *values = base + column->offset;
        weft__value_copy(values + to * bytes, values + from * bytes, bytes);
    }
}

/* Fills the hole of a removed row with the last row; no bits (weft__row_has_bits). */
static inline void weft__row_swap_back(weft_world *world, weft__chunk *chunk, uint32_t row)
{
    uint32_t last = --chunk->count;
    if (row == last) {
        weft__row_last_ends(chunk);
        return;
    }
    weft__chunk_soil(chunk);
    weft__row_fill_hole(world, chunk, last, row);
}

/* One row more or less in a chunk that has others and is of an archetype without shared values:
 * weft__chunk_count_rows without its questions. */
static inline void weft__chunk_count_plain(weft_world *world, weft__chunk *chunk, int64_t count)
{
    weft__archetype *archetype = chunk->archetype;
    world->front.structure_version++;
    chunk->order_version = archetype->order_version = world->front.version;
    archetype->entity_count += (uint64_t)count;
}

/* weft__row_die_plainly where the chunk was full, or ends with this row. */
bool weft__row_die_at_edge(weft_world *world, weft__chunk *chunk, uint32_t row,
                           weft__entity_block *block, uint32_t special);

/* The whole death of an entity whose block and row were found, where its archetype has none of the
 * flags `special`; false: it is otherwise, and nothing was done. */
static inline __attribute__((always_inline)) bool
weft__row_die_plainly(weft_world *world, weft__chunk *chunk, uint32_t row,
                      weft__entity_block *block, weft_entity entity, uint32_t special)
{
    /* a full chunk, or one row */
    if (__builtin_expect(chunk->count - 2 >= chunk->capacity - 2, 0))
        return weft__row_die_at_edge(world, chunk, row, block, special);
    if (__builtin_expect((chunk->archetype->flags & special) != 0, 0)) return false;
    uint32_t index = entity.index ^ world->directory.tag_bits;
    if (!weft__directory_kill_owner(&world->directory, block, index, entity.version)) return false;
    weft__chunk_count_plain(world, chunk, -1);
    weft__row_swap_back(world, chunk, row);
    return true;
}

/* Removes one row whose id or new place is settled already. */
static inline void weft__row_end(weft_world *world, weft__chunk *chunk, uint32_t row)
{
    if (__builtin_expect(!weft__row_has_bits(chunk, row), 1))
        weft__row_swap_back(world, chunk, row);
    else
        weft__rows_close(world, chunk, NULL, row, 1);
    weft__chunk_settle(world, chunk, 1);
}

/* ---- rows beyond the last one ---- */

/* Entities may be created, and the handle is one. */
static inline bool weft__may_create(const weft_world *world, weft_archetype handle)
{
    return __builtin_expect(world != NULL, 1) && weft__is_idle(world) &&
           __builtin_expect(weft__archetype_is(world, handle), 1);
}

/* Zeroes the rows [row, end). */
static inline void weft__rows_zero(const weft__chunk *chunk, uint32_t row, uint32_t end)
{
    for (uint32_t column = 1; column < chunk->layout->column_count; column++)
        memset(weft__chunk_value(chunk, column, row), 0,
               (size_t)(end - row) * chunk->layout->columns[column].bytes);
}

/* Rows to zero at once, up to the next multiple of a power of two: 16, but at most
 * WEFT__READY_BYTES. */
enum { WEFT__READY_ROWS = 16, WEFT__READY_BYTES = 512 };

/* Makes the next row of a chunk ready, which is not the last one that fits, and the rows behind it
 * with it where that is cheap: to the end of the slice when the chunk is fresh. */
static inline void weft__rows_ready(const weft_world *world, weft__chunk *chunk)
{
    const weft__layout *layout = chunk->layout;
    uint32_t row = chunk->count, slice = row >> layout->slice_shift;
    uint32_t end = (slice + 1) << layout->slice_shift;
    if (end > chunk->capacity - 1) end = chunk->capacity - 1;
    if (!weft__slice_is_stamped(chunk, slice, world->front.version)) {
        for (uint32_t type = 0; type < chunk->archetype->type_count; type++)
            weft__stamp(weft__chunk_versions(chunk, type) + slice, world->front.version);
        chunk->stamped_slice = slice;
        chunk->stamped_version = world->front.version;
    }
    if (!chunk->is_zero) {
        uint32_t run = WEFT__READY_ROWS;
        while (run > 1 && run * chunk->archetype->format->row_bytes > WEFT__READY_BYTES) run /= 2;
        uint32_t run_end = (row | (run - 1)) + 1;
        if (end > run_end) end = run_end;
        if (row < chunk->ready_end) row = chunk->ready_end;
        if (row < end) weft__rows_zero(chunk, row, end);
    }
    chunk->ready_end = end;
    chunk->ready_version = world->front.version;
    chunk->order_version = chunk->archetype->order_version = world->front.version;
}

/* Whether the row behind the last one is ready. */
static inline bool weft__row_is_ready(const weft_world *world, const weft__chunk *chunk)
{
    return chunk->count < chunk->ready_end && chunk->ready_version == world->front.version;
}

/* That row is the one of an entity (weft__entity_bits). The versions are those of now already. */
static inline void weft__row_ready_enter(weft_world *world, weft__chunk *chunk, uint64_t entity)
{
    /* one store of eight bytes: two of four would stall the next load of the handle */
    memcpy(weft__chunk_entities(chunk) + chunk->count, &entity, sizeof entity);
    chunk->count++;
    world->front.structure_version++;
    chunk->archetype->entity_count++;
}
