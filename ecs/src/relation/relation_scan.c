/* SPDX-License-Identifier: MIT */
/* relation_scan.c: what changed in the rows of a relation.
 *
 * A chunk whose order changed is compared with its mirror as a whole, else the slices whose version
 * is another one. A slice stamped with the version that the world still has may be stamped with it
 * again: it is remembered as unseen, and compared once more. The comparison is done twice: the
 * first pass counts changes per task and page, the second puts each at its place, so that what is
 * in which order does not depend on workers. Edges that went and those that came are apart: rows
 * mostly have them in the order of the lists, each for itself. Where there are more changes than
 * rows, the index is built from nothing: that needs no removals. */
#include "relation_scan.h"

#include "component_index.h"
#include "error.h"
#include "relation_depth.h"
#include "relation_page.h"

#define TASK_ROWS 8192u /* rows that a piece has at most, and a task about */

static size_t mirror_bytes(uint32_t capacity, uint32_t slice_count)
{
    return sizeof(weft__mirror) + capacity * 2 * sizeof(weft_entity) +
           slice_count * sizeof(uint32_t);
}

void weft__mirror_free(weft_world *world, weft__mirror *mirror)
{
    if (mirror == NULL) return;
    weft__free(&world->memory, WEFT__MEMORY_OTHER, mirror, 1,
               mirror_bytes(mirror->capacity, mirror->slice_count), 8);
}

static weft__mirror *mirror_make(weft_world *world, const weft__chunk *chunk, uint32_t depth)
{
    uint32_t capacity = chunk->capacity, slices = chunk->layout->slice_count;
    weft__mirror *mirror =
        weft__alloc(&world->memory, WEFT__MEMORY_OTHER, 1, mirror_bytes(capacity, slices), 8);
    if (mirror == NULL) return NULL;
    *mirror = (weft__mirror){
        .serial = chunk->serial, .depth = depth, .capacity = capacity, .slice_count = slices};
    mirror->sources = (weft_entity *)(void *)(mirror + 1);
    mirror->targets = mirror->sources + capacity;
    mirror->seen = (uint32_t *)(void *)(mirror->targets + capacity);
    memset(mirror->seen, 0, slices * sizeof mirror->seen[0]);
    return mirror;
}

void weft__relation_reset(weft__relation *relation)
{
    for (uint32_t i = 0; i < relation->mirrors.count; i++) {
        weft__mirror *mirror = relation->mirrors.at[i];
        if (mirror == NULL) continue;
        mirror->count = mirror->order_seen = 0;
        memset(mirror->seen, 0, mirror->slice_count * sizeof mirror->seen[0]);
    }
    for (uint32_t i = 0; i < relation->pages.count; i++)
        if (relation->pages.at[i] != NULL) weft__target_page_clear(relation->pages.at[i]);
    relation->rows = 0;
    relation->is_broken = relation->is_loose = false;
    relation->stats.sources = 0;
    relation->stats.rebuilds++;
    relation->has_all_come = true;
}

/* ---- pieces ---- */

static bool push_piece(weft__relation *relation, weft__scan_piece piece)
{
    if (piece.first == piece.end) return true;
    if (!WEFT__LIST_APPEND(&relation->world->memory, WEFT__MEMORY_OTHER, &relation->pieces, &piece,
                           1))
        return false;
    relation->stats.scanned += piece.end - piece.first;
    return true;
}

static bool push_rows(weft__relation *relation, weft__scan_piece piece, uint32_t end)
{
    for (uint32_t row = piece.first; row < end; row = piece.end) {
        piece.first = row;
        piece.end = end - row < TASK_ROWS ? end : row + TASK_ROWS;
        if (!push_piece(relation, piece)) return false;
    }
    return true;
}

/* The slices that may have changed: one piece for those in TASK_ROWS rows, and what is between. */
static bool push_slices(weft__relation *relation, weft__scan_piece piece, uint32_t type)
{
    const weft__chunk *chunk = piece.chunk;
    const weft_a32 *x_versions = weft__chunk_versions(chunk, type);
    uint32_t shift = chunk->layout->slice_shift, slices = weft__chunk_slices(chunk);
    piece.first = piece.end = 0;
    for (uint32_t s = 0; s < slices; s++) {
        uint32_t version = at_load_rlx(&x_versions[s]); /* relaxed: the world is idle */
        if (version == piece.mirror->seen[s] && version != 0 && !relation->is_suspect) continue;
        uint32_t row = s << shift, end = (s + 1) << shift;
        if (end > chunk->count) end = chunk->count;
        if (piece.end != 0 && end - piece.first > TASK_ROWS) {
            if (!push_piece(relation, piece)) return false;
            piece.end = 0;
        }
        if (piece.end == 0) piece.first = row;
        piece.end = end;
    }
    return push_piece(relation, piece);
}

/* Listed last: where memory is refused the mirror stays where it was, and is freed there. */
static bool keep_gone(weft__relation *relation, weft__mirror *mirror)
{
    return push_rows(relation, (weft__scan_piece){.mirror = mirror}, mirror->count) &&
           WEFT__LIST_APPEND(&relation->world->memory, WEFT__MEMORY_OTHER, &relation->gone, &mirror,
                             1);
}

/* The mirror of a chunk; an old one of its id goes. So does one of another depth: then all rows
 * moved there at once, with their chunk. NULL: no memory. */
static weft__mirror *mirror_obtain(weft__relation *relation, const weft__chunk *chunk)
{
    weft__mirror **place = &relation->mirrors.at[chunk->id];
    uint32_t depth = weft__relation_depth_of(relation, chunk);
    if (*place != NULL && (*place)->serial == chunk->serial && (*place)->depth == depth)
        return *place;
    weft__mirror *mirror = mirror_make(relation->world, chunk, depth);
    if (mirror == NULL) return NULL;
    if (*place != NULL && !keep_gone(relation, *place)) {
        weft__mirror_free(relation->world, mirror);
        return NULL;
    }
    *place = mirror;
    return mirror;
}

static bool collect_chunk(weft__relation *relation, const weft__chunk *chunk, weft__place place)
{
    weft__mirror *mirror = mirror_obtain(relation, chunk);
    if (mirror == NULL) return false;
    mirror->scan = relation->scan;
    weft__scan_piece piece = {.mirror = mirror, .chunk = chunk, .column = place.column};
    bool is_whole = relation->is_suspect || mirror->order_seen == 0 ||
                    mirror->order_seen != chunk->order_version || mirror->count != chunk->count;
    if (!is_whole) return push_slices(relation, piece, place.type);
    return push_rows(relation, piece, chunk->count > mirror->count ? chunk->count : mirror->count);
}

static bool collect(weft__relation *relation)
{
    weft_world *world = relation->world;
    const weft__component_list *list = weft__component_list_at(world, relation->component);
    relation->scan++;
    relation->pieces.count = 0;
    relation->rows = relation->stats.scanned = 0;
    if (!WEFT__LIST_REACH(&world->memory, WEFT__MEMORY_OTHER, &relation->mirrors,
                          world->chunks.end + 1))
        return false;
    for (uint32_t i = 0; i < list->count; i++) {
        const weft__archetype *archetype = world->archetypes.at[list->at[i].archetype];
        relation->rows += archetype->entity_count;
        for (uint32_t c = 0; c < archetype->chunk_count; c++)
            if (!collect_chunk(relation, archetype->chunks[c], list->at[i].place)) return false;
    }
    for (uint32_t id = 0; id < relation->mirrors.count; id++) {
        weft__mirror *mirror = relation->mirrors.at[id];
        if (mirror == NULL || mirror->scan == relation->scan) continue;
        if (!keep_gone(relation, mirror)) return false;
        relation->mirrors.at[id] = NULL;
    }
    return true;
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
    for (uint32_t row = first; row < end; row++) {
        uint64_t target = handle_load(&mirror->targets[row]);
        if (target >> 32 == 0) continue;
        note(c, &c->went, handle_load(&mirror->sources[row]), target, c->is_second);
    }
}

/* Rows that are in the chunk now; `is_new`: those of the mirror are not. */
static inline __attribute__((always_inline)) void rows_walk(comparison *task,
                                                            const weft__scan_piece *piece,
                                                            uint32_t first, uint32_t end,
                                                            bool is_new, bool is_second)
{
    comparison c = *task;
    weft_entity *sources = piece->mirror->sources, *targets = piece->mirror->targets;
    const weft__column *column = &piece->chunk->layout->columns[piece->column];
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

static void rows_compare(comparison *c, const weft__scan_piece *piece, uint32_t first, uint32_t end,
                         bool is_new)
{
    if (c->is_second)
        is_new ? rows_walk(c, piece, first, end, true, true)
               : rows_walk(c, piece, first, end, false, true);
    else
        is_new ? rows_walk(c, piece, first, end, true, false)
               : rows_walk(c, piece, first, end, false, false);
}

static void piece_compare(comparison *c, const weft__scan_piece *piece)
{
    const weft__mirror *mirror = piece->mirror;
    uint32_t now = piece->chunk == NULL ? 0 : piece->chunk->count, old = mirror->count;
    uint32_t first = piece->first, end = piece->end, both = now < old ? now : old;
    uint32_t middle = end < both ? end : both > first ? both : first;
    if (piece->chunk != NULL) {
        c->has_depth = mirror->depth != 0;
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

static void piece_copy(const weft__relation *relation, const weft__scan_piece *piece)
{
    const weft__chunk *chunk = piece->chunk;
    weft__mirror *mirror = piece->mirror;
    if (chunk == NULL) return;
    const weft__column *column = &chunk->layout->columns[piece->column];
    const char *values = chunk->base + column->offset + relation->offset;
    uint32_t end = piece->end < chunk->count ? piece->end : chunk->count;
    for (uint32_t row = piece->first; row < end; row++) {
        weft_entity target;
        memcpy(&target, values + row * (size_t)column->bytes, sizeof target);
        if (target.version == 0) target.index = 0;
        mirror->targets[row] = target;
        mirror->sources[row] = weft__chunk_entities(chunk)[row];
    }
}

static int tasks_run(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const scan_loop *loop = argument;
    weft__relation *relation = loop->relation;
    (void)job;
    for (uint32_t t = begin; t < end && loop->is_copy; t++)
        for (uint32_t i = loop->tasks[t]; i < loop->tasks[t + 1]; i++)
            piece_copy(relation, &relation->pieces.at[i]);
    for (uint32_t t = begin; t < end && !loop->is_copy; t++) {
        comparison c = {.relation = relation,
                        .counts = relation->offsets + (size_t)t * loop->buckets,
                        .changes = relation->changes,
                        .tag = relation->world->directory.tag_bits,
                        .end = relation->pages.count,
                        .is_second = loop->is_second};
        if (!loop->is_second) memset(c.counts, 0, loop->buckets * sizeof c.counts[0]);
        c.went = (edge_stream){WEFT__BUCKET_WENT, 0, c.counts[WEFT__BUCKET_WENT]};
        c.came = (edge_stream){WEFT__BUCKET_CAME, 0, c.counts[WEFT__BUCKET_CAME]};
        for (uint32_t i = loop->tasks[t]; i < loop->tasks[t + 1]; i++)
            piece_compare(&c, &relation->pieces.at[i]);
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
    loop->tasks = weft__relation_room(relation->world, relation->tasks, &relation->task_capacity,
                                      (size_t)relation->pieces.count + 1, sizeof(uint32_t));
    if (loop->tasks == NULL) return false;
    relation->tasks = loop->tasks;
    uint32_t rows = TASK_ROWS;
    for (uint32_t i = 0; i < relation->pieces.count; i++) {
        if (rows >= TASK_ROWS) {
            loop->tasks[loop->task_count++] = i;
            rows = 0;
        }
        rows += relation->pieces.at[i].end - relation->pieces.at[i].first;
    }
    loop->tasks[loop->task_count] = relation->pieces.count;
    return true;
}

/* Turns counts into places; returns how many changes there are. */
static uint32_t places_make(weft__relation *relation, const scan_loop *loop)
{
    uint32_t at = 0;
    for (uint32_t b = 0; b < loop->buckets; b++) {
        relation->firsts[b] = at;
        for (uint32_t t = 0; t < loop->task_count; t++) {
            uint32_t *count = &relation->offsets[(size_t)t * loop->buckets + b], n = *count;
            *count = at;
            at += n;
        }
    }
    relation->firsts[loop->buckets] = at;
    return at;
}

/* Room for the results of tasks, and of pages. */
static bool rooms_make(weft__relation *relation, const scan_loop *loop)
{
    weft_world *world = relation->world;
    void *offsets = weft__relation_room(world, relation->offsets, &relation->offset_capacity,
                                        (size_t)loop->task_count * loop->buckets + 1,
                                        sizeof *relation->offsets);
    if (offsets == NULL) return false;
    relation->offsets = offsets;
    void *firsts = weft__relation_room(world, relation->firsts, &relation->first_capacity,
                                       loop->buckets + 1, sizeof *relation->firsts);
    if (firsts == NULL) return false;
    relation->firsts = firsts;
    return true;
}

/* Whether most rows are to be compared, and most of the first ones changed. */
static bool looks_much(const scan_loop *loop)
{
    const weft__relation *relation = loop->relation;
    scan_loop first = *loop;
    uint64_t changes = 0, rows = 0;
    if (relation->stats.scanned < relation->rows / 2 || loop->task_count < 16) return false;
    first.task_count = loop->task_count / 16;
    tasks_run(NULL, &first, 0, first.task_count);
    for (size_t i = 0; i < (size_t)first.task_count * loop->buckets; i++)
        changes += relation->offsets[i];
    for (uint32_t i = 0; i < loop->tasks[first.task_count]; i++)
        rows += relation->pieces.at[i].end - relation->pieces.at[i].first;
    return changes > rows;
}

/* Room for changes, and for sorting them. */
static bool changes_reserve(weft__relation *relation, uint32_t count)
{
    weft_world *world = relation->world;
    void *changes = weft__relation_room(world, relation->changes, &relation->change_capacity, count,
                                        sizeof *relation->changes);
    if (changes == NULL) return false;
    relation->changes = changes;
    void *sorted = weft__relation_room(world, relation->sorted, &relation->sorted_capacity, count,
                                       sizeof *relation->sorted);
    if (sorted == NULL) return false;
    relation->sorted = sorted;
    return true;
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
        *is_much = changes > TASK_ROWS && relation->stats.sources != 0 && changes > relation->rows;
        if (!*is_much) {
            is_done = changes_reserve(relation, changes);
            loop.is_second = true;
            if (is_done) run(&loop, job);
        }
    }
    return is_done;
}

/* What is as mirrored now. A version that the world still has may be stamped again, unless
 * `is_spent`. */
static void mirror_remember(weft__relation *relation, const weft__chunk *chunk, uint32_t type,
                            bool is_spent)
{
    weft__mirror *mirror = relation->mirrors.at[chunk->id];
    const weft_a32 *x_versions = weft__chunk_versions(chunk, type);
    uint32_t hot = is_spent ? 0 : relation->world->front.version;
    uint32_t slices = weft__chunk_slices(chunk);
    mirror->count = chunk->count;
    mirror->order_seen = chunk->order_version == hot ? 0 : chunk->order_version;
    relation->has_hot |= mirror->order_seen == 0;
    for (uint32_t s = 0; s < slices; s++) {
        uint32_t version = at_load_rlx(&x_versions[s]); /* relaxed: the world is idle */
        mirror->seen[s] = version == hot ? 0 : version;
        relation->has_hot |= version == hot;
    }
}

static void remember(weft__relation *relation, bool is_spent)
{
    const weft_world *world = relation->world;
    const weft__component_list *list = weft__component_list_at(world, relation->component);
    relation->has_hot = false;
    for (uint32_t i = 0; i < list->count; i++) {
        const weft__archetype *archetype = world->archetypes.at[list->at[i].archetype];
        for (uint32_t c = 0; c < archetype->chunk_count; c++)
            mirror_remember(relation, archetype->chunks[c], list->at[i].place.type, is_spent);
    }
}

/* A word of a mirror, and the version of the world that it is compared with. */
static uint32_t seen_renewed(const weft__renewal *renewal, uint32_t seen, uint32_t version)
{
    return seen == version ? weft__renewed(renewal, seen) : 0;
}

void weft__relation_renew(weft__relation *relation, const weft__renewal *renewal)
{
    const weft_world *world = relation->world;
    const weft__component_list *list = weft__component_list_at(world, relation->component);
    for (uint32_t i = 0; i < list->count; i++) {
        const weft__archetype *archetype = world->archetypes.at[list->at[i].archetype];
        for (uint32_t c = 0; c < archetype->chunk_count; c++) {
            const weft__chunk *chunk = archetype->chunks[c];
            const weft_a32 *x_versions = weft__chunk_versions(chunk, list->at[i].place.type);
            weft__mirror *m =
                chunk->id < relation->mirrors.count ? relation->mirrors.at[chunk->id] : NULL;
            if (m == NULL) continue;
            m->order_seen = seen_renewed(renewal, m->order_seen, chunk->order_version);
            for (uint32_t s = 0; s < m->slice_count && s < chunk->layout->slice_count; s++)
                m->seen[s] =
                    seen_renewed(renewal, m->seen[s], at_load_rlx(&x_versions[s])); /* rlx: idle */
        }
    }
}

void weft__relation_seal(weft__relation *relation)
{
    if (relation->has_hot && !relation->is_broken) remember(relation, true); /* else not whole */
}

static void gone_free(weft__relation *relation)
{
    for (uint32_t i = 0; i < relation->gone.count; i++)
        weft__mirror_free(relation->world, relation->gone.at[i]);
    relation->gone.count = 0;
}

void weft__relation_follow(weft__relation *relation, weft_job_context *job)
{
    scan_loop loop = {.relation = relation, .is_copy = true};
    uint64_t scanned = relation->stats.scanned;
    bool is_done = collect(relation) && tasks_make(relation, &loop);
    if (is_done) run(&loop, job);
    if (is_done) remember(relation, false);
    gone_free(relation);
    relation->stats.scanned = scanned;
    relation->is_broken = relation->is_broken || !is_done;
}

weft_result weft__relation_scan(weft__relation *relation, weft_job_context *job)
{
    bool is_much = false;
    bool is_lost = relation->is_loose || relation->desc.is_acyclic; /* what mirrors do not say */
    if (relation->is_broken || (relation->is_suspect && is_lost)) weft__relation_reset(relation);
    relation->has_all_come = relation->has_all_come || relation->stats.sources == 0;
    bool is_done = weft__relation_pages_reserve(relation) && collect(relation) &&
                   compare(relation, job, &is_much);
    if (is_done && is_much) {
        gone_free(relation);
        weft__relation_reset(relation);
        is_done = collect(relation) && compare(relation, job, &is_much);
    }
    if (is_done) remember(relation, false);
    gone_free(relation);
    if (is_done) relation->is_suspect = false;
    if (is_done) return WEFT_OK;
    relation->is_broken = true;
    return weft__error_memory(relation->world, "the index of a relation");
}
