/* SPDX-License-Identifier: MIT */
/* private_chunk.c: creation from jobs: chunks that one recorder fills before the world knows
 * them, and the sync point that puts them into the world in a given order. Opening, filling and
 * dropping run on any thread: units come from the concurrent allocator, layouts are published by
 * CAS, and no other thread sees the chunk. Linking is the owner's. Whether a chunk is linked or
 * emptied into others depends on its counts only, never on timing; chunks that hold pieces of many
 * slices are always emptied. */
#include "private_chunk.h"
#include "archetype.h"
#include "host.h"
#include "search.h"
#include "structure.h"

/* ---- ids of many rows ---- */

weft_result weft__row_ids_prepare(weft__row_ids *ids, weft_world *world, uint64_t rows,
                                  const char *what)
{
    *ids = (weft__row_ids){.world = world, .rows = (uint32_t)rows};
    weft_result result = rows > UINT32_MAX
                             ? WEFT_LIMIT
                             : weft__directory_reserve_owner(&world->directory, (uint32_t)rows);
    if (result != WEFT_OK) return weft__error_limit(world, result, what);
    if (rows == 0) return WEFT_OK;
    ids->share_count = weft__directory_shares(&world->directory, ids->rows, NULL);
    ids->shares = WEFT__NEW(&world->memory, WEFT__MEMORY_COMMANDS, ids->share_count, *ids->shares);
    if (ids->shares == NULL) return weft__error_memory(world, what);
    weft__directory_shares(&world->directory, ids->rows, ids->shares);
    return WEFT_OK;
}

void weft__row_ids_fini(weft__row_ids *ids)
{
    WEFT__FREE(&ids->world->memory, WEFT__MEMORY_COMMANDS, ids->shares, ids->share_count);
}

static void share_fill(const weft__row_ids *ids, const weft__id_share *share)
{
    /* the last run that begins at or before the share */
    uint32_t low = WEFT__SEARCH(ids->runs, ids->run_count, first, share->first + 1) - 1;
    for (uint32_t done = 0; done < share->count; low++) {
        const weft__id_run *r = &ids->runs[low];
        uint32_t skipped = share->first + done - r->first, n = r->count - skipped;
        if (n > share->count - done) n = share->count - done;
        uint32_t row = r->row + skipped;
        weft__directory_fill(&ids->world->directory, share, n, weft__chunk_entities(r->chunk) + row,
                             r->location + skipped);
        done += n;
    }
}

static int shares_fill(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    (void)job;
    const weft__row_ids *ids = user;
    for (uint32_t i = begin; i < end; i++) share_fill(ids, &ids->shares[i]);
    return 0;
}

void weft__row_ids_give(const weft__row_ids *ids, weft_job_context *job, weft_job_cost *cost)
{
    if (ids->rows == 0) return;
    weft__directory_deal_owner(&ids->world->directory, ids->rows, ids->shares);
    weft_job_for_desc loop = {.fn = shares_fill,
                              .argument = (void *)(uintptr_t)ids,
                              .count = ids->share_count,
                              .grain = 1,
                              .cost = cost,
                              .name = "ids of creation"};
    weft__host_for(ids->world, job, &loop);
}

/* ---- any thread ---- */

static uint32_t class_for(const weft__format *format, uint32_t rows)
{
    uint32_t size_class = WEFT__UNIT_CLASS;
    if (size_class < format->smallest_class) size_class = format->smallest_class;
    while (size_class + 1 < WEFT__SIZE_CLASSES && format->row_limit == UINT32_MAX &&
           weft__format_capacity(format, size_class) < rows)
        size_class++;
    return size_class;
}

/* Where a worker looks for units first: workers begin far apart, so that each is likely to get the
 * memory that it had the frame before. Lines that the other core wrote last cost 50 ns each, ones
 * from memory 3: with homes side by side giving ids to 1 M entities of two workers took 0.3 to 2.9
 * ms, now 0.3. */
static uint32_t home_of(const weft_world *world, uint32_t worker)
{
    uint32_t workers =
        world->front.host.pool == NULL ? 1 : weft_job_pool_worker_count(world->front.host.pool);
    uint32_t apart = WEFT__SEGMENT_MEGACHUNKS / workers & ~1u; /* a reservation is two of them */
    return worker * (apart < 2 ? 2 : apart);
}

uint32_t weft__private_small(const weft__archetype *archetype)
{
    return weft__format_capacity(archetype->format, class_for(archetype->format, 1));
}

uint32_t weft__private_class(const weft__format *format, uint32_t rows)
{
    return class_for(format, rows);
}

weft_result weft__private_open(weft_world *world, uint32_t worker, weft__archetype *archetype,
                               uint32_t rows, weft__chunk **out)
{
    return weft__private_make(world, worker, archetype->tuple0, rows, out);
}

weft_result weft__private_make(weft_world *world, uint32_t worker, weft__tuple *tuple,
                               uint32_t rows, weft__chunk **out)
{
    uint32_t size_class = class_for(tuple->archetype->format, rows);
    const weft__layout *layout = weft__layout_any(world, tuple->archetype->format, size_class);
    *out = NULL;
    if (layout == NULL) return WEFT_OUT_OF_MEMORY;
    weft__run run;
    weft_result result = weft__units_take(&world->units, 1u << (size_class - WEFT__UNIT_CLASS),
                                          home_of(world, worker), &run);
    if (result != WEFT_OK) return result;
    *out = weft__chunk_make(world, tuple, layout, &run, true);
    if (*out != NULL) return WEFT_OK;
    weft__units_free(&world->units, run.first, run.count);
    return WEFT_OUT_OF_MEMORY;
}

uint32_t weft__private_rows(weft__chunk *chunk, uint32_t count, bool with_ids)
{
    uint32_t row = chunk->count;
    WEFT_ASSERT(count <= chunk->capacity - row);
    if (count == 0) return row;
    if (with_ids)
        weft__private_ids(chunk);
    else if (chunk->has_ids)
        memset(weft__chunk_entities(chunk) + row, 0, count * sizeof(weft_entity));
    chunk->count += count;
    weft__rows_construct(chunk, row, count); /* linking stamps them */
    return row;
}

void weft__private_ids(weft__chunk *chunk)
{
    static_assert(sizeof(weft_entity) == 8, "the null handle is eight zero bytes");
    if (!chunk->has_ids) memset(chunk->base, 0, chunk->count * sizeof(weft_entity));
    chunk->has_ids = true;
}

void weft__private_drop(weft_world *world, weft__chunk *chunk)
{
    WEFT_ASSERT(chunk->is_private); /* others are of lines, which are the owner's */
    weft__rows_discard(world, NULL, chunk, NULL, 0, chunk->count);
    weft__units_free(&world->units, chunk->first_unit, chunk->unit_count);
    weft__chunk_free(world, chunk);
}

/* ---- owner ---- */

/* True when the rows move into chunks with room: the chunk would be mostly air, or is not theirs
 * alone. */
static bool is_emptied(const weft__private_piece *piece)
{
    return !piece->is_whole || piece->chunk->count * 2 < piece->chunk->capacity;
}

/* Neighbouring rows that have a place in the world: those of a chunk that is linked, or some that
 * move. Owner: the list of `linking`. */
typedef struct part {
    weft__chunk *chunk;
    uint32_t first;
    weft__span to;          /* chunk and row are those above where the rows stay */
    const weft__plan *plan; /* NULL: they stay */
} part;

/* One link. Owner: the stack of weft__private_link. */
typedef struct linking {
    const weft__private_desc *desc;
    weft__spans spans; /* of the pieces that are emptied, in order */
    part *parts;
    uint32_t part_count, part_capacity;
    weft__row_ids ids;
    weft__id_run *runs;
    uint32_t run_count, run_capacity;
} linking;

/* The end of the rows from `row` on, before `end`, that all have an id, or all have none. */
static uint32_t run_end(const weft__chunk *chunk, uint32_t row, uint32_t end)
{
    if (!chunk->has_ids) return end;
    const weft_entity *entities = weft__chunk_entities(chunk);
    bool has_id = entities[row].version != 0;
    while (++row < end && (entities[row].version != 0) == has_id) {
    }
    return row;
}

static bool has_id_at(const weft__chunk *chunk, uint32_t row)
{
    return chunk->has_ids && weft__chunk_entities(chunk)[row].version != 0;
}

/* Finds the next rows of [*row, end) that have no id. Returns how many; 0: there are none. */
static uint32_t run_find(const weft__chunk *chunk, uint32_t *row, uint32_t end)
{
    for (uint32_t next; *row < end; *row = next) {
        next = run_end(chunk, *row, end);
        if (!has_id_at(chunk, *row)) return next - *row;
    }
    return 0;
}

/* Counts the runs of rows of a piece that have no id. Returns their rows. */
static uint64_t runs_count(const weft__private_piece *piece, uint32_t *runs)
{
    const uint32_t end = piece->first + piece->count;
    uint64_t rows = 0;
    for (uint32_t row = piece->first, n; (n = run_find(piece->chunk, &row, end)) != 0; row += n) {
        rows += n;
        ++*runs;
    }
    return rows;
}

/* The runs of a part; `rows` of the runs before it are counted on. */
static void runs_list(linking *l, const part *p, uint32_t *rows)
{
    const uint32_t end = p->first + p->to.count;
    for (uint32_t row = p->first, n; (n = run_find(p->chunk, &row, end)) != 0; row += n) {
        uint32_t location = weft__location(p->to.chunk, p->to.row) + (row - p->first);
        l->runs[l->run_count++] = (weft__id_run){p->chunk, row, n, *rows, location};
        *rows += n;
    }
}

/* Everything that can fail about the ids; counts the runs. */
static weft_result ids_prepare(linking *l)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < l->desc->count; i++)
        rows += runs_count(&l->desc->pieces[i], &l->run_capacity);
    return weft__row_ids_prepare(&l->ids, l->desc->world, rows, "creation from jobs");
}

/* Memory for parts and runs, each of which a span may cut. */
static weft_result lists_take(linking *l)
{
    weft__memory *memory = &l->desc->world->memory;
    l->part_capacity = l->desc->count + l->spans.count;
    l->run_capacity += l->spans.count;
    l->parts = WEFT__NEW(memory, WEFT__MEMORY_COMMANDS, l->part_capacity, *l->parts);
    l->runs = WEFT__NEW(memory, WEFT__MEMORY_COMMANDS, l->run_capacity, *l->runs);
    if (l->parts != NULL && l->runs != NULL) return WEFT_OK;
    return weft__error_memory(l->desc->world, "creation from jobs");
}

static void linking_fini(linking *l)
{
    weft_world *world = l->desc->world;
    WEFT__FREE(&world->memory, WEFT__MEMORY_COMMANDS, l->parts, l->part_capacity);
    WEFT__FREE(&world->memory, WEFT__MEMORY_COMMANDS, l->runs, l->run_capacity);
    weft__row_ids_fini(&l->ids);
    weft__spans_fini(world, &l->spans);
}

/* Locations of the rows of a part that had an id. */
static void ids_place(weft_world *world, const part *p)
{
    if (!p->chunk->has_ids) return;
    const weft_entity *entities = weft__chunk_entities(p->chunk) + p->first;
    weft__outside_settle(&world->directory, entities, p->to.count);
    const uint32_t location = weft__location(p->to.chunk, p->to.row);
    for (uint32_t row = 0; row < p->to.count; row++)
        weft__directory_place(&world->directory, entities[row], location + row);
}

static void stamp_all(const weft_world *world, const weft__chunk *chunk)
{
    for (uint32_t type = 0; type < chunk->archetype->type_count; type++)
        weft__rows_stamp(chunk, type, 0, chunk->count, world->front.version);
}

/* Everything that can fail for the chunks that are linked as they are. */
static weft_result links_reserve(weft_world *world, const weft__private_desc *desc)
{
    uint32_t linked = 0;
    uint64_t berths = 0;
    for (uint32_t i = 0; i < desc->count; i++) {
        const weft__chunk *chunk = desc->pieces[i].chunk;
        if (is_emptied(&desc->pieces[i])) continue;
        linked++;
        berths += weft__berths_of(chunk->capacity);
        chunk->archetype->arriving++;
    }
    weft_result result = weft__chunk_ids_reserve(world, linked);
    if (result == WEFT_OK) result = weft__berths_reserve(world, berths);
    for (uint32_t i = 0; i < desc->count; i++) {
        weft__archetype *archetype = desc->pieces[i].chunk->archetype;
        if (result == WEFT_OK && !weft__chunk_list_reserve(world, archetype, archetype->arriving))
            result = WEFT_OUT_OF_MEMORY;
        archetype->arriving = 0;
    }
    return result;
}

/* The next emptied piece from `i` on; desc->count: none. */
static uint32_t next_emptied(const weft__private_desc *desc, uint32_t i)
{
    while (i < desc->count && !is_emptied(&desc->pieces[i])) i++;
    return i;
}

/* Room for the rows of the pieces that are emptied, in their order. Neighbours that go to one tuple
 * take it together: how a chunk was cut into pieces must not show in the chunks that are made. */
static weft_result spans_reserve(linking *l)
{
    const weft__private_desc *desc = l->desc;
    weft_world *world = desc->world;
    weft_result result = WEFT_OK;
    for (uint32_t i = next_emptied(desc, 0); i < desc->count && result == WEFT_OK;) {
        weft__tuple *tuple = desc->pieces[i].tuple;
        uint64_t rows = 0;
        while (i < desc->count && desc->pieces[i].tuple == tuple) {
            rows += desc->pieces[i].count;
            i = next_emptied(desc, i + 1);
        }
        if (weft__plan_obtain(world, tuple->archetype, tuple->archetype) == NULL)
            result = world->error->code;
        else
            result = weft__rows_reserve(world, tuple, rows, &l->spans);
    }
    return result;
}

/* The rows of a piece go to what is left of `span` and the spans after it. */
static void parts_move(linking *l, const weft__private_piece *piece, weft__span *span,
                       const weft__span **next)
{
    weft__archetype *archetype = piece->chunk->archetype;
    const weft__plan *plan = weft__plan_obtain(l->desc->world, archetype, archetype);
    for (uint32_t done = 0; done < piece->count;) {
        if (span->count == 0) *span = *(*next)++;
        weft__span to = *span;
        if (to.count > piece->count - done) to.count = piece->count - done;
        l->parts[l->part_count++] = (part){piece->chunk, piece->first + done, to, plan};
        span->row += to.count;
        span->count -= to.count;
        done += to.count;
    }
}

/* Lists where all rows will be, and those that get an id. Whole chunks have been linked. */
static void parts_list(linking *l)
{
    weft__span span = {0};
    const weft__span *next = l->spans.at;
    for (uint32_t i = 0; i < l->desc->count; i++) {
        const weft__private_piece *piece = &l->desc->pieces[i];
        weft__span here = {piece->chunk, 0, piece->count};
        if (is_emptied(piece))
            parts_move(l, piece, &span, &next);
        else
            l->parts[l->part_count++] = (part){piece->chunk, 0, here, NULL};
    }
    uint32_t rows = 0;
    for (uint32_t i = 0; i < l->part_count; i++) runs_list(l, &l->parts[i], &rows);
    l->ids.runs = l->runs;
    l->ids.run_count = l->run_count;
}

static int parts_copy(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    (void)job;
    const linking *l = user;
    for (uint32_t i = begin; i < end; i++) {
        const part *p = &l->parts[i];
        if (p->plan != NULL)
            weft__rows_copy_placed(l->desc->world, p->plan, p->chunk, p->first, p->to);
    }
    return 0;
}

/* Copies the rows that move; their chunks end. */
static void pieces_empty(linking *l)
{
    const weft__private_desc *desc = l->desc;
    weft_world *world = desc->world;
    for (uint32_t i = next_emptied(desc, 0); i < desc->count; i = next_emptied(desc, i + 1))
        if (desc->pieces[i].brings_chunk) stamp_all(world, desc->pieces[i].chunk);
    weft_job_for_desc loop = {.fn = parts_copy,
                              .argument = l,
                              .count = l->part_count,
                              .grain = 1,
                              .cost = desc->copy_cost,
                              .name = "rows of creation"};
    weft__host_for(world, desc->job, &loop);
    for (uint32_t i = next_emptied(desc, 0); i < desc->count; i = next_emptied(desc, i + 1)) {
        weft__chunk *chunk = desc->pieces[i].chunk;
        if (!desc->pieces[i].brings_chunk) continue;
        weft__units_free(&world->units, chunk->first_unit, chunk->unit_count);
        weft__chunk_free(world, chunk);
    }
}

/* Cannot fail. Ids are filled in where the rows were made, with the places where they will be. */
static void pieces_enter(linking *l)
{
    const weft__private_desc *desc = l->desc;
    weft_world *world = desc->world;
    for (uint32_t i = 0; i < desc->count; i++)
        if (!is_emptied(&desc->pieces[i])) {
            weft__chunk *chunk = desc->pieces[i].chunk;
            weft__chunk_link(world, chunk);
            weft__chunk_count_rows(world, chunk, chunk->count);
            stamp_all(world, chunk);
        }
    parts_list(l);
    weft__row_ids_give(&l->ids, desc->job, desc->cost);
    for (uint32_t i = 0; i < l->part_count; i++) ids_place(world, &l->parts[i]);
    if (desc->named != NULL) desc->named(desc->user);
    if (l->spans.count != 0) pieces_empty(l);
}

/* Archetypes that had no rows may have left the order since the rows were made. */
static weft_result archetypes_enter(const weft__private_desc *desc)
{
    weft_result result = WEFT_OK;
    for (uint32_t i = 0; i < desc->count && result == WEFT_OK; i++)
        result = weft__archetype_enter(desc->world, desc->pieces[i].chunk->archetype);
    return result;
}

weft_result weft__private_link(const weft__private_desc *desc)
{
    weft_world *world = desc->world;
    linking l = {.desc = desc};
    weft_result result = ids_prepare(&l);
    if (result == WEFT_OK) result = archetypes_enter(desc);
    if (result == WEFT_OK) result = spans_reserve(&l);
    if (result == WEFT_OK) result = lists_take(&l);
    /* after the spans: making their chunks takes places in the lists, too */
    if (result == WEFT_OK) {
        result = links_reserve(world, desc);
        if (result != WEFT_OK) weft__error_limit(world, result, "creation from jobs");
    }
    if (result == WEFT_OK)
        pieces_enter(&l);
    else
        weft__rows_unreserve(world, &l.spans, 0);
    linking_fini(&l);
    return result;
}
