/* SPDX-License-Identifier: MIT */
/* relation_scan.c: what changed in the rows of a relation.
 *
 * Which rows may have is listed by row_diff.h. They are compared twice: the
 * first pass counts changes per task and page, the second puts each at its place, so that what is
 * in which order does not depend on workers. Edges that went and those that came are apart: rows
 * mostly have them in the order of the lists, each for itself. Where there are more changes than
 * rows, the index is built from nothing: that needs no removals. */
#include "relation_scan.h"

#include "error.h"
#include "relation_depth.h"
#include "relation_page.h"

void weft__relation_reset(weft__relation *relation)
{
    weft__row_diff_reset(&relation->diff);
    for (uint32_t i = 0; i < relation->pages.count; i++)
        if (relation->pages.at[i] != NULL) weft__target_page_clear(relation->pages.at[i]);
    relation->is_broken = relation->is_loose = false;
    relation->stats.sources = 0;
    relation->stats.rebuilds++;
    relation->has_all_come = true;
}

/* ---- comparison ---- */

/* Changes of one kind. Neighbours mostly go to the same page: the count of the one that was noted
 * last is in `at`. A value. */
typedef struct edge_stream {
    uint32_t kind; /* WEFT__BUCKET_ */
    uint32_t page;
    uint32_t at;
} edge_stream;

/* What a task knows: copies, so that loops keep them in registers. Owner: the stack of the task. */
typedef struct comparison {
    const weft__relation *relation;
    uint32_t *counts; /* [bucket]: how many changes, or where the next one goes */
    weft__edge_change *changes;
    uint32_t tag;
    uint32_t end; /* of the pages: what belongs to none */
    edge_stream went, came;
    bool is_second;
    bool has_depth; /* rows of the chunk have a depth that is not 0 */
} comparison;

static void stream_turn(const comparison *c, edge_stream *stream, uint32_t page)
{
    c->counts[2 * stream->page + stream->kind] = stream->at;
    stream->page = page;
    stream->at = c->counts[2 * page + stream->kind];
}

static inline __attribute__((always_inline)) void
note(const comparison *c, edge_stream *stream, uint64_t source, uint64_t target, bool is_second)
{
    uint32_t bare = (uint32_t)target ^ c->tag, page = bare / WEFT__BLOCK_SLOTS;
    if (target >> 32 == 0 || page >= c->end) page = c->end;
    if (page != stream->page) stream_turn(c, stream, page);
    uint32_t at = stream->at++;
    if (!is_second) return;
    c->changes[at] = (weft__edge_change){{(uint32_t)source, (uint32_t)(source >> 32)},
                                         {target >> 32 == 0 ? 0 : bare, (uint32_t)(target >> 32)}};
}

static inline uint64_t handle_load(const void *from)
{
    uint64_t handle;
    memcpy(&handle, from, sizeof handle);
    return handle;
}

static void rows_went(comparison *c, const weft__mirror *mirror, uint32_t first, uint32_t end)
{
    const weft_entity *targets = mirror->values;
    for (uint32_t row = first; row < end; row++) {
        uint64_t target = handle_load(&targets[row]);
        if (target >> 32 == 0) continue;
        note(c, &c->went, handle_load(&mirror->rows[row]), target, c->is_second);
    }
}

/* Rows that are in the chunk now; `is_new`: those of the mirror are not. */
static inline __attribute__((always_inline)) void rows_walk(comparison *task,
                                                            const weft__row_piece *piece,
                                                            uint32_t first, uint32_t end,
                                                            bool is_new, bool is_second)
{
    comparison c = *task;
    weft_entity *sources = piece->mirror->rows, *targets = piece->mirror->values;
    const weft__column *column = &piece->chunk->layout->columns[piece->place.column];
    const char *values = piece->chunk->base + column->offset + c.relation->offset;
    const weft_entity *entities = weft__chunk_entities(piece->chunk);
    size_t bytes = column->bytes;
    for (uint32_t row = first; row < end; row++) {
        uint64_t target = handle_load(values + row * bytes), source = handle_load(&entities[row]);
        if (target >> 32 == 0) target = 0;
        uint64_t old = is_new ? 0 : handle_load(&targets[row]);
        if (!is_new && target == old && source == handle_load(&sources[row])) continue;
        if (old >> 32 != 0) note(&c, &c.went, handle_load(&sources[row]), old, is_second);
        if (target != 0 || c.has_depth) note(&c, &c.came, source, target, is_second);
        if (!is_second) continue;
        memcpy(&sources[row], &source, sizeof source);
        memcpy(&targets[row], &target, sizeof target);
    }
    task->went = c.went;
    task->came = c.came;
}

static void rows_compare(comparison *c, const weft__row_piece *piece, uint32_t first, uint32_t end,
                         bool is_new)
{
    if (c->is_second)
        is_new ? rows_walk(c, piece, first, end, true, true)
               : rows_walk(c, piece, first, end, false, true);
    else
        is_new ? rows_walk(c, piece, first, end, true, false)
               : rows_walk(c, piece, first, end, false, false);
}

static void piece_compare(comparison *c, const weft__row_piece *piece)
{
    const weft__mirror *mirror = piece->mirror;
    uint32_t now = piece->chunk == NULL ? 0 : piece->chunk->count, old = mirror->count;
    uint32_t first = piece->first, end = piece->end, both = now < old ? now : old;
    uint32_t middle = end < both ? end : both > first ? both : first;
    if (piece->chunk != NULL) {
        c->has_depth = mirror->level != 0;
        rows_compare(c, piece, first, middle, false);
    }
    if (old > now) rows_went(c, mirror, middle, end < old ? end : old);
    if (now > old) rows_compare(c, piece, middle, end < now ? end : now, true);
}

/* Tasks are runs of pieces. Owner: the stack of the scan. */
typedef struct scan_loop {
    weft__relation *relation;
    uint32_t *tasks; /* [task_count + 1]: first piece */
    uint32_t task_count;
    uint32_t buckets;
    bool is_second;
    bool is_copy; /* rows only moved: mirrors are made current, nothing is compared */
} scan_loop;

static void piece_copy(const weft__relation *relation, const weft__row_piece *piece)
{
    const weft__chunk *chunk = piece->chunk;
    weft__mirror *mirror = piece->mirror;
    weft_entity *targets = mirror->values;
    if (chunk == NULL) return;
    const weft__column *column = &chunk->layout->columns[piece->place.column];
    const char *values = chunk->base + column->offset + relation->offset;
    uint32_t end = piece->end < chunk->count ? piece->end : chunk->count;
    for (uint32_t row = piece->first; row < end; row++) {
        weft_entity target;
        memcpy(&target, values + row * (size_t)column->bytes, sizeof target);
        if (target.version == 0) target.index = 0;
        targets[row] = target;
        mirror->rows[row] = weft__chunk_entities(chunk)[row];
    }
}

static int tasks_run(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const scan_loop *loop = argument;
    weft__relation *relation = loop->relation;
    (void)job;
    for (uint32_t t = begin; t < end && loop->is_copy; t++)
        for (uint32_t i = loop->tasks[t]; i < loop->tasks[t + 1]; i++)
            piece_copy(relation, &relation->diff.pieces.at[i]);
    for (uint32_t t = begin; t < end && !loop->is_copy; t++) {
        comparison c = {.relation = relation,
                        .counts = relation->offsets.at + (size_t)t * loop->buckets,
                        .changes = relation->changes.at,
                        .tag = relation->world->directory.tag_bits,
                        .end = relation->pages.count,
                        .is_second = loop->is_second};
        if (!loop->is_second) memset(c.counts, 0, loop->buckets * sizeof c.counts[0]);
        c.went = (edge_stream){WEFT__BUCKET_WENT, 0, c.counts[WEFT__BUCKET_WENT]};
        c.came = (edge_stream){WEFT__BUCKET_CAME, 0, c.counts[WEFT__BUCKET_CAME]};
        for (uint32_t i = loop->tasks[t]; i < loop->tasks[t + 1]; i++)
            piece_compare(&c, &relation->diff.pieces.at[i]);
        stream_turn(&c, &c.went, 0);
        stream_turn(&c, &c.came, 0);
    }
    return 0;
}

static void run(const scan_loop *loop, weft_job_context *job)
{
    weft__relation *relation = loop->relation;
    weft_job_for_desc desc = {.fn = tasks_run,
                              .argument = (void *)(uintptr_t)loop,
                              .count = loop->task_count,
                              .grain = 1,
                              .cost = &relation->scan_cost,
                              .name = "relation: scan"};
    if (job == NULL || loop->task_count < 2)
        tasks_run(job, (void *)(uintptr_t)loop, 0, loop->task_count);
    else if (weft_job_for(job, &desc, NULL) != WEFT_OK) /* a forked process: nothing was run */
        tasks_run(job, (void *)(uintptr_t)loop, 0, loop->task_count);
}

/* ---- the scan ---- */

static bool tasks_make(weft__relation *relation, scan_loop *loop)
{
    if (!WEFT__RELATION_ROOM(relation->world, &relation->tasks,
                             (size_t)relation->diff.pieces.count + 1))
        return false;
    loop->tasks = relation->tasks.at;
    uint32_t rows = WEFT__PIECE_ROWS;
    for (uint32_t i = 0; i < relation->diff.pieces.count; i++) {
        if (rows >= WEFT__PIECE_ROWS) {
            loop->tasks[loop->task_count++] = i;
            rows = 0;
        }
        rows += relation->diff.pieces.at[i].end - relation->diff.pieces.at[i].first;
    }
    loop->tasks[loop->task_count] = relation->diff.pieces.count;
    return true;
}

/* Turns counts into places; returns how many changes there are. */
static uint32_t places_make(weft__relation *relation, const scan_loop *loop)
{
    uint32_t at = 0;
    for (uint32_t b = 0; b < loop->buckets; b++) {
        relation->firsts.at[b] = at;
        for (uint32_t t = 0; t < loop->task_count; t++) {
            uint32_t *count = &relation->offsets.at[(size_t)t * loop->buckets + b], n = *count;
            *count = at;
            at += n;
        }
    }
    relation->firsts.at[loop->buckets] = at;
    return at;
}

/* Room for the results of tasks, and of pages. */
static bool rooms_make(weft__relation *relation, const scan_loop *loop)
{
    return WEFT__RELATION_ROOM(relation->world, &relation->offsets,
                               (size_t)loop->task_count * loop->buckets + 1) &&
           WEFT__RELATION_ROOM(relation->world, &relation->firsts, (size_t)loop->buckets + 1);
}

/* Whether most rows are to be compared, and most of the first ones changed. */
static bool looks_much(const scan_loop *loop)
{
    const weft__relation *relation = loop->relation;
    scan_loop first = *loop;
    uint64_t changes = 0, rows = 0;
    if (relation->diff.listed < relation->diff.rows / 2 || loop->task_count < 16) return false;
    first.task_count = loop->task_count / 16;
    tasks_run(NULL, &first, 0, first.task_count);
    for (size_t i = 0; i < (size_t)first.task_count * loop->buckets; i++)
        changes += relation->offsets.at[i];
    for (uint32_t i = 0; i < loop->tasks[first.task_count]; i++)
        rows += relation->diff.pieces.at[i].end - relation->diff.pieces.at[i].first;
    return changes > rows;
}

/* Counts the changes, then writes them. More of them than rows: the index is to be built from
 * nothing, *is_much; nothing was written. */
static bool compare(weft__relation *relation, weft_job_context *job, bool *is_much)
{
    scan_loop loop = {.relation = relation, .buckets = 2 * relation->pages.count + 2};
    bool is_done = tasks_make(relation, &loop) && rooms_make(relation, &loop);
    *is_much = is_done && relation->stats.sources != 0 && looks_much(&loop);
    if (is_done && !*is_much) {
        run(&loop, job);
        uint32_t changes = places_make(relation, &loop);
        *is_much = changes > WEFT__PIECE_ROWS && relation->stats.sources != 0 &&
                   changes > relation->diff.rows;
        if (!*is_much) {
            is_done = WEFT__RELATION_ROOM(relation->world, &relation->changes, changes) &&
                      WEFT__RELATION_ROOM(relation->world, &relation->sorted, changes);
            loop.is_second = true;
            if (is_done) run(&loop, job);
        }
    }
    return is_done;
}

void weft__relation_follow(weft__relation *relation, weft_job_context *job)
{
    scan_loop loop = {.relation = relation, .is_copy = true};
    bool is_done = weft__row_diff_look(&relation->diff) && tasks_make(relation, &loop);
    if (is_done) run(&loop, job);
    if (is_done) weft__row_diff_seen(&relation->diff, false);
    relation->is_broken = relation->is_broken || !is_done;
}

weft_result weft__relation_scan(weft__relation *relation, weft_job_context *job)
{
    bool is_much = false;
    bool is_lost = relation->is_loose || relation->desc.is_acyclic; /* what mirrors do not say */
    if (relation->is_broken || (relation->is_suspect && is_lost)) weft__relation_reset(relation);
    if (relation->is_suspect) relation->diff.seen = 0;
    relation->has_all_come = relation->has_all_come || relation->stats.sources == 0;
    bool is_done = weft__relation_pages_reserve(relation) && weft__row_diff_look(&relation->diff) &&
                   compare(relation, job, &is_much);
    if (is_done && is_much) {
        weft__relation_reset(relation);
        is_done = weft__row_diff_look(&relation->diff) && compare(relation, job, &is_much);
    }
    relation->stats.scanned = relation->diff.listed;
    if (is_done) weft__row_diff_seen(&relation->diff, false);
    if (is_done) relation->is_suspect = false;
    if (is_done) return WEFT_OK;
    relation->is_broken = true;
    return weft__error_memory(relation->world, "the index of a relation");
}
