/* SPDX-License-Identifier: MIT */
/* snapshot.c: taking snapshots, putting a world back, and what versions of both mean the same.
 *
 * Rows are kept in blocks: the values of one column in one slice of one chunk. A block is shared
 * by all snapshots between which the slice did not change. That is seen by the chunk's serial
 * number, its entities, and the change version, as far as versions mean the same: never by an
 * address, and by looking at entities only where rows came, went or moved.
 *
 * Versions tell times apart only along one line of events, and every restore begins a new line
 * where the snapshot was taken. Lines are a tree: a snapshot and the world have in common what was
 * written before their lines parted, and know that by the version at which they did. Owner only. */
#include "archetype.h"
#include "name_table.h"
#include "sparse.h"
#include "version_renewal.h"

#include <string.h>
#include <weft/snapshot.h>

/* From a restore, or the beginning, to the next restore. Owned by its holders; changed by the owner
 * of the world only. */
typedef struct weft__timeline {
    struct weft__timeline *parent; /* held; NULL: the first one */
    uint32_t fork;    /* what `parent` wrote before it began has versions before this one */
    uint32_t holders; /* its snapshots, the lines that began in it, one while it is current */
} weft__timeline;

/* Which moments (weft_world_moment) are in the past of a state: those of closed spans, and those
 * after `after`. Owner: a snapshot, or the timelines. */
typedef struct weft__past {
    struct weft__past_span {
        uint64_t after, last; /* moments after < m <= last */
    } * spans;                /* ascending, [capacity] */
    uint32_t count;
    uint32_t capacity;
    uint64_t after;
} weft__past;

/* Owned by the world, in its snapshots extension. current != NULL; `snapshots` lists each
 * snapshot of the world once. */
typedef struct weft__timelines {
    weft_world *world;
    weft__timeline *current;  /* held */
    weft_snapshot *snapshots; /* all there are, by `next` */
    weft__past past;
} weft__timelines;

/* Whether a version is before another one (wraps). */
static inline bool is_before(uint32_t version, uint32_t other)
{
    return (int32_t)(version - other) < 0;
}

/* Values of a slice of a column. Reference counted by the owner. */
typedef struct weft__snapshot_block {
    uint32_t references;
    uint32_t bytes;           /* of data */
    uint32_t count;           /* values */
    const weft__type *type;   /* NULL: entities */
    _Alignas(64) char data[]; /* as aligned as any component: hooks write here */
} weft__snapshot_block;

/* The blocks of a column of a chunk. Reference counted by the owner: a column in which no slice
 * changed is shared as a whole, so its blocks are not touched. */
typedef struct weft__snapshot_column {
    uint32_t references;
    uint32_t slice_count;
    weft__snapshot_block *blocks[]; /* [slice]; a reference on each */
} weft__snapshot_column;

/* A chunk as it was. `side` is its side memory: versions, disabled bits and counts, chunk
 * values. Owner: the snapshot. Always: count != 0; each column has slice_count blocks, and the
 * counts of its blocks sum up to `count`. */
typedef struct weft__snapshot_chunk {
    uint64_t serial;
    uint32_t id;
    uint32_t size_class;
    uint32_t count;
    uint32_t slice_count; /* that hold rows */
    uint32_t order_version;
    uint32_t side_bytes;
    uint32_t room; /* of the archetype's list: which chunk goes to the head of its tuple's list of
                      chunks with room as the n-th; WEFT__NONE: no further one */
    uint32_t value_count;
    uint32_t *values; /* of the tuple; a reference on each is held */
    void *side;
    weft__snapshot_column **columns; /* [column]; a reference on each */
} weft__snapshot_chunk;

/* The chunks of an archetype of `order` in list order: chunks[first_chunk, first_chunk +
 * chunk_count). A value. */
typedef struct weft__snapshot_archetype {
    uint32_t chunk_count;
    uint32_t first_chunk;
    uint32_t order_version;
} weft__snapshot_archetype;

/* Owned by the caller that took it; constant once taken; used by the owner of the world only.
 * Always:
 *   archetype_count == order.count;
 *   archetypes[i].first_chunk = sum of chunk_count of archetypes before i;
 *   chunk_count = sum of chunk_count of all archetypes. */
struct weft_snapshot {
    weft_world *world;
    weft__pile pile;          /* of it, its chunks, and what these have of their own */
    weft_snapshot *next;      /* of the world, see weft__timelines */
    weft__timeline *timeline; /* held */
    uint32_t version;         /* the world's, after taking it */
    uint32_t renewed;         /* the world's: where its versions ... */
    uint64_t renewal;         /* were renewed last */
    uint64_t steps;           /* the world's clock */
    double time;
    float dt;
    weft__archetype_list order;           /* of archetypes, as it was */
    weft__snapshot_archetype *archetypes; /* [place in the order] */
    uint32_t archetype_count;
    weft__snapshot_chunk *chunks; /* by archetype, in list order */
    uint32_t chunk_count;
    WEFT__LIST(weft__dead)
    dead;             /* indices that are not alive; alive ones are known from the
                                    rows */
    void **resources; /* [type id] copies, NULL */
    uint32_t type_count;
    void *states[WEFT__EXTENSION_COUNT]; /* of the world's extensions; NULL: none */
    weft__names_kept *names;             /* of entities; held, NULL: none */
    weft__past past;
};

/* A chunk of the world and what a snapshot says of one. A value; of the stack. */
typedef struct weft__chunk_pair {
    const weft__chunk *chunk;
    const weft__snapshot_chunk *saved; /* of the same serial, archetype, size class; or NULL */
    uint32_t common;                   /* equal versions before this one mean the same ... */
    bool is_comparable;                /* no renewal of versions lies between the two; else none
                                          means the same */
    bool is_all_common;                /* ... and all that the snapshot has are before it */
    bool has_same_rows;                /* no row came, went or moved */
} weft__chunk_pair;

/* Rows of a slice of a chunk that has `count`. */
static inline uint32_t rows_of_slice(const weft__chunk *chunk, uint32_t count, uint32_t slice)
{
    uint32_t shift = chunk->layout->slice_shift, first = slice << shift;
    if (count <= first) return 0;
    return count - first < 1u << shift ? count - first : 1u << shift;
}
/* Versions of a type position in saved side memory. */
static inline const weft_a32 *saved_versions(const weft__chunk_pair *pair, uint32_t type)
{
    const weft__chunk *chunk = pair->chunk;
    size_t offset = (size_t)((const char *)chunk->x_versions - weft__chunk_side(chunk));
    const char *versions = (const char *)pair->saved->side + offset;
    return (const weft_a32 *)(const void *)versions + (size_t)type * chunk->layout->slice_count;
}
/* Whether the values of a type in a slice with the same rows are the same. The pair is comparable;
 * one that has the same rows is. */
static inline bool slice_has_same_values(const weft__chunk_pair *pair, uint32_t type,
                                         uint32_t slice)
{
    uint32_t version = at_plain(&weft__chunk_versions(pair->chunk, type)[slice]);
    return at_plain(&saved_versions(pair, type)[slice]) == version &&
           is_before(version, pair->common);
}

/* ---- the tree of timelines ----
 *
 * Lines that are only on the way from the current one to the first are cut out, so that a world
 * that goes back once a frame for ever has as many as it has snapshots. */

#define CATEGORY WEFT__MEMORY_SNAPSHOTS

static void drop(weft_world *world, weft__timeline *timeline)
{
    while (timeline != NULL && --timeline->holders == 0) {
        weft__timeline *parent = timeline->parent;
        WEFT__FREE(&world->memory, CATEGORY, timeline, 1);
        timeline = parent;
    }
}

static weft__timeline *timeline_begin(weft_world *world, weft__timeline *parent, uint32_t version)
{
    weft__timeline *timeline = WEFT__NEW_ZEROED(&world->memory, CATEGORY, 1, *timeline);
    if (timeline == NULL) return NULL;
    *timeline = (weft__timeline){parent, version, 1};
    if (parent != NULL) parent->holders++;
    return timeline;
}

static void timeline_drop(const weft__timelines *timelines, weft__timeline *timeline)
{
    drop(timelines->world, timeline);
    /* Cuts out the parents that only lead to their child. */
    weft__timeline *child = timelines->current;
    for (weft__timeline *parent; (parent = child->parent) != NULL;) {
        if (parent->holders != 1) {
            child = parent;
            continue;
        }
        child->parent = parent->parent;
        child->fork = parent->fork;
        WEFT__FREE(&timelines->world->memory, CATEGORY, parent, 1);
    }
}

static uint32_t timeline_common(const weft__timelines *timelines, const weft__timeline *timeline,
                                uint32_t version)
{
    for (; timeline != NULL; version = timeline->fork, timeline = timeline->parent) {
        const weft__timeline *line = timelines->current;
        if (line == timeline) return version;
        for (; line->parent != NULL; line = line->parent)
            if (line->parent == timeline)
                return is_before(version, line->fork) ? version : line->fork;
    }
    return version; /* not reached: all lines begin in one */
}

/* ---- moments ---- */

static void past_free(weft_world *world, weft__past *past)
{
    WEFT__FREE(&world->memory, CATEGORY, past->spans, past->capacity);
    *past = (weft__past){0};
}

static bool past_copy(weft_world *world, const weft__past *from, uint32_t more, weft__past *out)
{
    *out = (weft__past){.count = from->count, .capacity = from->count + more, .after = from->after};
    if (out->capacity == 0) return true;
    out->spans = WEFT__NEW(&world->memory, CATEGORY, out->capacity, *out->spans);
    if (out->spans == NULL) return false;
    if (from->count != 0) memcpy(out->spans, from->spans, from->count * sizeof *out->spans);
    return true;
}

static bool past_keep(const weft__timelines *timelines, weft__past *out)
{
    uint64_t now = timelines->world->front.moments;
    if (!past_copy(timelines->world, &timelines->past, 1, out)) return false;
    if (out->after != now) out->spans[out->count++] = (struct weft__past_span){out->after, now};
    out->after = UINT64_MAX;
    return true;
}

static bool past_fork(const weft__timelines *timelines, const weft__past *kept, weft__past *out)
{
    if (!past_copy(timelines->world, kept, 0, out)) return false;
    out->after = timelines->world->front.moments;
    if (out->count != 0 && out->spans[out->count - 1].last == out->after)
        out->after = out->spans[--out->count].after; /* no moment is undone */
    return true;
}

static bool past_has(const weft__past *past, uint64_t moment)
{
    bool is_past = moment > past->after;
    for (uint32_t i = 0; i < past->count && !is_past; i++)
        is_past = moment > past->spans[i].after && moment <= past->spans[i].last;
    return is_past;
}

uint64_t weft_world_moment(weft_world *world)
{
    const char *advice = "mark the state between steps";
    if (world == NULL || weft__refuse_systems(world, "weft_world_moment", advice) != WEFT_OK)
        return 0;
    return ++world->front.moments;
}

bool weft_world_has_moment(const weft_world *world, uint64_t moment)
{
    if (world == NULL || moment == 0 || moment > world->front.moments) return false;
    const weft__timelines *timelines = world->front.extensions[WEFT__EXTENSION_SNAPSHOTS].data;
    return timelines == NULL || past_has(&timelines->past, moment);
}

/* ---- of a world ---- */

/* For the checker of invariants: every chunk of a snapshot holds a reference on each value. */
static void visit_shared(const void *data, weft__shared_visit_fn visit, void *user)
{
    const weft__timelines *timelines = data;
    for (const weft_snapshot *s = timelines->snapshots; s != NULL; s = s->next)
        for (uint32_t a = 0; a < s->archetype_count; a++) {
            const weft__archetype *archetype = s->order.items[a];
            const weft__snapshot_archetype *list = &s->archetypes[a];
            for (uint32_t c = 0; c < list->chunk_count; c++)
                for (uint32_t i = 0; i < archetype->shared_count; i++)
                    visit(user, archetype->shared_components[i],
                          s->chunks[list->first_chunk + c].values[i]);
        }
}

static void timelines_destroy(void *data)
{
    weft__timelines *timelines = data;
    drop(timelines->world, timelines->current);
    past_free(timelines->world, &timelines->past);
    WEFT__FREE(&timelines->world->memory, CATEGORY, timelines, 1);
}

static weft__timelines *timelines_obtain(weft_world *world)
{
    weft__extension *extension = &world->front.extensions[WEFT__EXTENSION_SNAPSHOTS];
    if (extension->data != NULL) return extension->data;
    weft__timelines *timelines = WEFT__NEW_ZEROED(&world->memory, CATEGORY, 1, *timelines);
    weft__timeline *first = timelines == NULL ? NULL : timeline_begin(world, NULL, 0);
    if (first == NULL) {
        WEFT__FREE(&world->memory, CATEGORY, timelines, 1);
        return NULL;
    }
    timelines->world = world;
    timelines->current = first;
    *extension = (weft__extension){
        .data = timelines, .destroy = timelines_destroy, .shared_visit = visit_shared};
    return timelines;
}

/* ---- which rows and values of a chunk are those of a snapshot ----
 *
 * Rows of a chunk in which none came, went or moved are known by its versions; else the entities
 * of a slice are compared. What versions mean the same: the tree above. */

static weft__chunk_pair chunk_pair_make(const weft__chunk *chunk, const weft__snapshot_chunk *saved,
                                        const weft_snapshot *snapshot, uint32_t common)
{
    if (saved != NULL &&
        (saved->serial != chunk->serial || saved->side_bytes != chunk->side_bytes ||
         saved->size_class != chunk->layout->size_class))
        saved = NULL;
    weft__chunk_pair pair = {.chunk = chunk, .saved = saved, .common = common};
    if (saved == NULL) return pair;
    pair.is_comparable = snapshot->renewal == snapshot->world->front.renewal;
    pair.is_all_common = snapshot->version == common;
    pair.has_same_rows = pair.is_comparable && saved->count == chunk->count &&
                         saved->order_version == chunk->order_version &&
                         is_before(saved->order_version, common);
    return pair;
}

/* Whether the rows of a slice are of the same entities, in order. */
static bool slice_has_same_rows(const weft__chunk_pair *pair, uint32_t slice)
{
    if (pair->has_same_rows) return true;
    const weft__chunk *chunk = pair->chunk;
    uint32_t rows = rows_of_slice(chunk, chunk->count, slice);
    if (rows == 0 || rows != rows_of_slice(chunk, pair->saved->count, slice)) return false;
    const weft_entity *entities =
        weft__chunk_entities(chunk) + ((size_t)slice << chunk->layout->slice_shift);
    return memcmp(entities, pair->saved->columns[0]->blocks[slice]->data,
                  rows * sizeof *entities) == 0;
}

/* slice_has_same_values of all slices of a chunk with the same rows. */
static bool chunk_has_same_values(const weft__chunk_pair *pair, uint32_t type)
{
    uint32_t count = pair->saved->slice_count;
    const weft_a32 *x_versions = weft__chunk_versions(pair->chunk, type);
    bool is_same =
        memcmp(x_versions, saved_versions(pair, type), count * sizeof x_versions[0]) == 0;
    for (uint32_t i = 0; i < count && is_same && !pair->is_all_common; i++)
        is_same = is_before(at_plain(&x_versions[i]), pair->common);
    return is_same;
}

/* ---- what forbids taking ----
 *
 * Values that would be owned twice, by the world and by the copy; beside the phase and sections
 * that are read. */

/* A type whose values own something that the bytes of a copy would own as well. */
static bool is_owned_here(const weft_world *world, const weft__type *type)
{
    if (!type->is_uncopyable) return false;
    if (type->resource != NULL) return true;
    for (uint32_t i = 0; i < world->archetypes.count; i++)
        if (world->archetypes.at[i]->entity_count != 0 &&
            weft__archetype_find(world->archetypes.at[i], type->id) != WEFT__NONE)
            return true;
    return false;
}

static weft_result snapshot_check_types(const weft_world *world)
{
    for (uint32_t i = 1; i <= world->types.count; i++)
        if (is_owned_here(world, world->types.at[i]))
            return weft__error_uncopyable(world, WEFT__NO_ENTITY, i, "weft_snapshot_take");
    return WEFT_OK;
}

/* ---- taking ----
 *
 * Cost: the metadata of all chunks (one pointer per column and slice), and the bytes of what
 * changed since `previous`. Where rows came, went or moved in a chunk, its entities are compared
 * slice by slice. */

static void block_drop(weft_world *world, weft__snapshot_block *block)
{
    if (block == NULL || --block->references != 0) return;
    if (block->type != NULL && block->type->needs_destruct)
        weft__type_destruct(&world->memory, block->type, block->data, block->count);
    weft__free(&world->memory, CATEGORY, block, 1, sizeof *block + block->bytes, 64);
}

static size_t column_bytes(uint32_t slice_count)
{
    return sizeof(weft__snapshot_column) + slice_count * sizeof(weft__snapshot_block *);
}

static void column_drop(weft_world *world, weft__snapshot_column *column)
{
    if (column == NULL || --column->references != 0) return;
    for (uint32_t i = 0; i < column->slice_count; i++) block_drop(world, column->blocks[i]);
    weft__free(&world->memory, CATEGORY, column, 1, column_bytes(column->slice_count), 8);
}

/* Copies rows of a column; NULL: out of memory. */
static weft__snapshot_block *block_make(weft_world *world, const weft__chunk *chunk,
                                        uint32_t column, uint32_t row, uint32_t count)
{
    uint32_t row_bytes = chunk->layout->columns[column].bytes, bytes = row_bytes * count;
    const weft__type *type = chunk->archetype->format->types[column];
    weft__snapshot_block *block =
        weft__alloc(&world->memory, CATEGORY, 1, sizeof *block + bytes, 64);
    if (block == NULL) return NULL;
    *block = (weft__snapshot_block){1, bytes, count, type};
    const char *from = weft__chunk_value(chunk, column, row);
    if (type == NULL || !type->needs_copy) {
        memcpy(block->data, from, bytes);
        return block;
    }
    for (block->count = 0; block->count < count; block->count++)
        if (weft__type_replicate(&world->memory, type,
                                 block->data + (size_t)block->count * row_bytes,
                                 from + (size_t)block->count * row_bytes, 1) != WEFT_OK) {
            block_drop(world, block);
            return NULL;
        }
    return block;
}

/* ---- chunks ---- */

static bool chunk_copy_side(weft_snapshot *snapshot, weft__snapshot_chunk *saved,
                            const weft__chunk *chunk)
{
    weft__pile *pile = &snapshot->pile;
    const weft__tuple *tuple = chunk->tuple;
    uint32_t shared = chunk->archetype->shared_count;
    *saved = (weft__snapshot_chunk){.serial = chunk->serial,
                                    .id = chunk->id,
                                    .size_class = chunk->layout->size_class,
                                    .count = chunk->count,
                                    .slice_count = weft__chunk_slices(chunk),
                                    .order_version = chunk->order_version,
                                    .side_bytes = chunk->side_bytes};
    saved->columns = weft__pile_take(pile, chunk->layout->column_count, sizeof saved->columns[0]);
    saved->side = weft__pile_take(pile, chunk->side_bytes, 1);
    saved->values = weft__pile_take(pile, shared, sizeof(uint32_t));
    if (pile->is_refused) return false;
    if (chunk->side_bytes != 0) memcpy(saved->side, weft__chunk_side(chunk), chunk->side_bytes);
    saved->value_count = shared;
    for (uint32_t i = 0; i < shared; i++) {
        saved->values[i] = tuple->values[i];
        weft__shared_keep(&snapshot->world->shared, chunk->archetype->shared_components[i],
                          saved->values[i]);
    }
    return true;
}

/* Whether a slice of a column is shared with the previous snapshot; its entities come first, and
 * are shared when they are the same. */
static bool is_shared(const weft__chunk_pair *pair, const weft__snapshot_chunk *saved,
                      uint32_t column, uint32_t type, uint32_t slice)
{
    const weft__snapshot_chunk *old = pair->saved;
    if (old == NULL) return false;
    if (column == 0) return slice_has_same_rows(pair, slice);
    if (pair->has_same_rows) return slice_has_same_values(pair, type, slice);
    return pair->is_comparable && slice < old->slice_count &&
           saved->columns[0]->blocks[slice] == old->columns[0]->blocks[slice] &&
           slice_has_same_values(pair, type, slice);
}

static bool chunk_copy_column(weft_world *world, weft__snapshot_chunk *saved,
                              const weft__chunk_pair *pair, uint32_t column, uint32_t type)
{
    const weft__chunk *chunk = pair->chunk;
    uint32_t shift = chunk->layout->slice_shift, count = saved->slice_count;
    if (pair->has_same_rows && (column == 0 || chunk_has_same_values(pair, type))) {
        saved->columns[column] = pair->saved->columns[column];
        saved->columns[column]->references++;
        return true;
    }
    weft__snapshot_column *fresh =
        weft__alloc_zeroed(&world->memory, CATEGORY, 1, column_bytes(count), 8);
    if (fresh == NULL) return false;
    fresh->references = 1;
    fresh->slice_count = count;
    saved->columns[column] = fresh;
    for (uint32_t slice = 0; slice < count; slice++) {
        if (is_shared(pair, saved, column, type, slice)) {
            fresh->blocks[slice] = pair->saved->columns[column]->blocks[slice];
            fresh->blocks[slice]->references++;
            continue;
        }
        fresh->blocks[slice] = block_make(world, chunk, column, slice << shift,
                                          rows_of_slice(chunk, chunk->count, slice));
        if (fresh->blocks[slice] == NULL) return false;
    }
    return true;
}

static bool chunk_copy(weft_snapshot *snapshot, weft__snapshot_chunk *saved,
                       const weft__chunk_pair *pair)
{
    weft_world *world = snapshot->world;
    const weft__archetype *archetype = pair->chunk->archetype;
    if (!chunk_copy_side(snapshot, saved, pair->chunk)) return false;
    if (!chunk_copy_column(world, saved, pair, 0, WEFT__NONE)) return false;
    for (uint32_t type = 0; type < archetype->type_count; type++) {
        uint32_t column = archetype->types[type].column;
        if (column != 0 && !chunk_copy_column(world, saved, pair, column, type)) return false;
    }
    return true;
}

/* One snapshot being taken; on the stack of weft_snapshot_take. */
typedef struct taking {
    weft_snapshot *snapshot;
    const weft_snapshot *previous; /* or NULL */
    uint32_t common;               /* see timeline_common */
    uint32_t *places; /* [chunk id] of a chunk of `previous`: its number there + 1; NULL until the
                         first one is looked for */
    uint32_t id_end;  /* of places */
} taking;

/* Where the chunks of the previous snapshot are. */
static bool list_places(taking *t)
{
    const weft_snapshot *previous = t->previous;
    for (uint32_t i = 0; i < previous->chunk_count; i++)
        if (previous->chunks[i].id >= t->id_end) t->id_end = previous->chunks[i].id + 1;
    t->places =
        WEFT__NEW_ZEROED(&previous->world->memory, CATEGORY, (size_t)t->id_end + 1, t->places[0]);
    if (t->places == NULL) return false;
    for (uint32_t i = 0; i < previous->chunk_count; i++) t->places[previous->chunks[i].id] = i + 1;
    return true;
}

/* The record of a chunk in the previous snapshot, or of another one, or NULL: nearly always at the
 * same position. False: no memory. */
static bool find_previous(taking *t, uint32_t archetype, uint32_t position,
                          const weft__chunk *chunk, const weft__snapshot_chunk **found)
{
    const weft_snapshot *previous = t->previous;
    *found = NULL;
    if (previous == NULL || archetype >= previous->archetype_count ||
        previous->order.items[archetype] != chunk->archetype)
        return true;
    const weft__snapshot_archetype *list = &previous->archetypes[archetype];
    uint32_t place = list->first_chunk + position;
    bool is_there = position < list->chunk_count && previous->chunks[place].serial == chunk->serial;
    if (!is_there) {
        if (t->places == NULL && !list_places(t)) return false;
        if (chunk->id >= t->id_end || t->places[chunk->id] == 0) return true;
        place = t->places[chunk->id] - 1;
        if (place - list->first_chunk >= list->chunk_count) return true; /* of another archetype */
    }
    *found = &previous->chunks[place];
    return true;
}

/* Room lists: their order decides where later rows go. Each from its end, as they are made. */
static void note_rooms(weft_snapshot *snapshot, const weft__archetype *archetype, uint32_t first)
{
    uint32_t noted = 0;
    for (uint32_t i = 0; i < archetype->chunk_count; i++) {
        const weft__chunk *chunk = archetype->chunks[i];
        if (chunk->room_next != NULL || !chunk->has_room) continue;
        for (; chunk != NULL; chunk = chunk->room_prev)
            snapshot->chunks[first + noted++].room = chunk->list_index;
    }
    if (noted < archetype->chunk_count) snapshot->chunks[first + noted].room = WEFT__NONE;
}

static bool copy_archetype(taking *t, uint32_t number)
{
    weft_snapshot *snapshot = t->snapshot;
    weft_world *world = snapshot->world;
    const weft__archetype *archetype = world->archetypes.at[number];
    weft__snapshot_archetype *list = &snapshot->archetypes[number];
    *list = (weft__snapshot_archetype){archetype->chunk_count, snapshot->chunk_count,
                                       archetype->order_version};
    for (uint32_t i = 0; i < archetype->chunk_count; i++) {
        const weft__chunk *chunk = archetype->chunks[i];
        const weft__snapshot_chunk *old;
        weft__snapshot_chunk *saved = &snapshot->chunks[snapshot->chunk_count++];
        if (!find_previous(t, number, i, chunk, &old)) return false;
        weft__chunk_pair pair = chunk_pair_make(chunk, old, t->previous, t->common);
        if (!chunk_copy(snapshot, saved, &pair)) return false;
    }
    note_rooms(snapshot, archetype, list->first_chunk);
    return true;
}

/* ---- the rest ---- */

static void resources_free(weft_world *world, uint32_t count, void **copies)
{
    for (uint32_t i = 1; copies != NULL && i <= count; i++) {
        if (copies[i] == NULL) continue;
        weft__type_destruct(&world->memory, world->types.at[i], copies[i], 1);
        weft__free(&world->memory, CATEGORY, copies[i], 1, weft__type_bytes(world->types.at[i]),
                   64);
    }
    WEFT__FREE(&world->memory, CATEGORY, copies, (size_t)count + 1);
}

static bool copy_dead(weft_snapshot *snapshot)
{
    const weft__directory *directory = &snapshot->world->directory;
    weft__dead dead;
    for (uint32_t from = 0; weft__directory_dead_next(directory, &from, &dead);)
        if (!WEFT__LIST_APPEND(&snapshot->world->memory, CATEGORY, &snapshot->dead, &dead, 1))
            return false;
    return true;
}

/* Copies of resources, by type id. NULL: memory is refused. With `saved` those of them that are
 * buffers, else those of the world. */
static void **resources_copy(weft_world *world, uint32_t count, void *const *saved)
{
    weft__memory *memory = &world->memory;
    void **copies = WEFT__NEW_ZEROED(memory, CATEGORY, (size_t)count + 1, *copies);
    bool is_made = copies != NULL;
    for (uint32_t i = 1; i <= count && is_made; i++) {
        const weft__type *type = world->types.at[i];
        const void *from = saved == NULL ? type->resource : saved[i];
        size_t bytes = weft__type_bytes(type);
        bool is_wanted = saved == NULL || (type->desc.flags & WEFT_BUFFER) != 0;
        if (from == NULL || bytes == 0 || !is_wanted) continue;
        void *copy = weft__alloc(memory, CATEGORY, 1, bytes, 64);
        is_made = copy != NULL && weft__type_replicate(memory, type, copy, from, 1) == WEFT_OK;
        if (is_made)
            copies[i] = copy;
        else
            weft__free(memory, CATEGORY, copy, 1, bytes, 64);
    }
    if (is_made) return copies;
    resources_free(world, count, copies);
    return NULL;
}

/* What the parts above keep of the past: the same future needs it. */
static bool keep_states(weft_snapshot *snapshot)
{
    const weft_world *world = snapshot->world;
    for (uint32_t i = 0; i < WEFT__EXTENSION_COUNT; i++) {
        const weft__extension *extension = &world->front.extensions[i];
        if (extension->data == NULL || extension->state_keep == NULL) continue;
        if (!extension->state_keep(extension->data, &snapshot->states[i])) return false;
    }
    return true;
}

static void unlist(weft_snapshot *snapshot)
{
    weft__timelines *timelines = snapshot->world->front.extensions[WEFT__EXTENSION_SNAPSHOTS].data;
    weft_snapshot **link = &timelines->snapshots;
    while (*link != NULL && *link != snapshot) link = &(*link)->next;
    if (*link != snapshot) return; /* it was not handed out */
    *link = snapshot->next;
    weft__hold(snapshot->world, WEFT__HOLDER_SNAPSHOTS, -1);
}

static bool copy_world(taking *t)
{
    weft_snapshot *snapshot = t->snapshot;
    weft_world *world = snapshot->world;
    weft__pile *pile = &snapshot->pile;
    uint32_t archetypes = world->archetypes.count;
    snapshot->archetypes = weft__pile_take(pile, archetypes, sizeof snapshot->archetypes[0]);
    snapshot->chunks = weft__pile_take(pile, world->chunks.count, sizeof snapshot->chunks[0]);
    if (pile->is_refused || weft__archetypes_note(world, &snapshot->order) != WEFT_OK) return false;
    snapshot->archetype_count = archetypes;
    for (uint32_t i = 0; i < archetypes; i++)
        if (!copy_archetype(t, i)) return false;
    snapshot->type_count = world->types.count;
    snapshot->resources = resources_copy(world, world->types.count, NULL);
    return snapshot->resources != NULL && copy_dead(snapshot) && keep_states(snapshot) &&
           weft__names_keep(world, &snapshot->names);
}

static weft_result take(taking *t, weft__timelines *timelines)
{
    weft_world *world = timelines->world;
    weft_snapshot *snapshot = t->snapshot;
    snapshot->world = world;
    snapshot->timeline = timelines->current;
    snapshot->timeline->holders++;
    snapshot->steps = world->front.clock.steps;
    snapshot->time = world->front.clock.time;
    snapshot->dt = world->front.clock.dt;
    snapshot->renewed = world->front.renewed;
    snapshot->renewal = world->front.renewal;
    if (t->previous != NULL)
        t->common = timeline_common(timelines, t->previous->timeline, t->previous->version);
    bool is_done = past_keep(timelines, &snapshot->past) && copy_world(t);
    WEFT__FREE(&world->memory, CATEGORY, t->places, (size_t)t->id_end + 1);
    if (is_done) return WEFT_OK;
    weft_snapshot_destroy(snapshot);
    return weft__error_memory(world, "weft_snapshot_take");
}

weft_result weft_snapshot_take(weft_world *world, const weft_snapshot *previous,
                               weft_snapshot **out)
{
    if (out != NULL) *out = NULL;
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (out == NULL || (previous != NULL && previous->world != world))
        return weft__error_argument(world, "weft_snapshot_take",
                                    "out is NULL, or `previous` is of another world: give a "
                                    "snapshot of this world, or NULL");
    weft_result result = weft__between_steps(world, "weft_snapshot_take");
    if (result == WEFT_OK) result = weft__lent_refuse(world, "weft_snapshot_take");
    if (result == WEFT_OK) result = snapshot_check_types(world);
    if (result != WEFT_OK) return result;
    weft__timelines *timelines = timelines_obtain(world);
    weft__pile pile = {.memory = &world->memory, .category = CATEGORY};
    weft_snapshot *snapshot =
        timelines == NULL ? NULL : weft__pile_take(&pile, 1, sizeof *snapshot);
    if (snapshot != NULL) snapshot->pile = pile;
    if (snapshot == NULL) return weft__error_memory(world, "weft_snapshot_take");
    weft__versions_check(world);
    taking t = {.snapshot = snapshot, .previous = previous};
    result = take(&t, timelines);
    if (result != WEFT_OK) return result;
    weft__version_advance(world); /* later writes get newer versions than any copied */
    snapshot->version = world->front.version;
    snapshot->next = timelines->snapshots;
    timelines->snapshots = snapshot;
    weft__hold(world, WEFT__HOLDER_SNAPSHOTS, 1);
    *out = snapshot;
    return WEFT_OK;
}

/* ---- destruction ---- */

static void chunk_free(weft_snapshot *snapshot, const weft__archetype *archetype,
                       weft__snapshot_chunk *saved)
{
    weft_world *world = snapshot->world;
    uint32_t columns = archetype->format->column_count;
    for (uint32_t i = 0; saved->columns != NULL && i < columns; i++)
        column_drop(world, saved->columns[i]);
    for (uint32_t i = 0; i < saved->value_count; i++)
        weft__shared_let_go(&world->shared, archetype->shared_components[i], saved->values[i]);
}

static void free_chunks(weft_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->archetype_count; i++) {
        const weft__snapshot_archetype *list = &snapshot->archetypes[i];
        for (uint32_t k = 0; k < list->chunk_count; k++)
            if (list->first_chunk + k < snapshot->chunk_count)
                chunk_free(snapshot, snapshot->order.items[i],
                           &snapshot->chunks[list->first_chunk + k]);
    }
}

void weft_snapshot_destroy(weft_snapshot *snapshot)
{
    if (snapshot == NULL) return;
    weft_world *world = snapshot->world;
    const char *advice = "destroy the snapshot when the step has returned";
    if (weft__refuse_systems(world, "weft_snapshot_destroy", advice) != WEFT_OK) return;
    unlist(snapshot);
    timeline_drop(world->front.extensions[WEFT__EXTENSION_SNAPSHOTS].data, snapshot->timeline);
    if (snapshot->chunks != NULL) free_chunks(snapshot);
    weft__archetype_list_free(world, &snapshot->order);
    WEFT__LIST_FREE(&world->memory, CATEGORY, &snapshot->dead);
    resources_free(world, snapshot->type_count, snapshot->resources);
    for (uint32_t i = 0; i < WEFT__EXTENSION_COUNT; i++) {
        const weft__extension *extension = &snapshot->world->front.extensions[i];
        if (snapshot->states[i] != NULL)
            extension->state_drop(extension->data, snapshot->states[i]);
    }
    weft__names_let_go(world, snapshot->names);
    past_free(world, &snapshot->past);
    weft__pile pile = snapshot->pile; /* `snapshot` is in it */
    weft__pile_free(&pile);
}

/* ---- putting back ----
 *
 * Chunks that still exist with the same shared values are used again: only slices whose rows or
 * versions differ are copied, and only their entities are entered into the directory. Others, and
 * copies of values that take memory of their own, are made first, so that running out of it leaves
 * the world as it was; after that nothing can fail. Whatever decides what comes next is put back,
 * too: ids and order of chunks, the lists of those with room, the versions of indices that are not
 * alive. */

/* One restore; lives on the owner's stack. */
typedef struct restoring {
    weft_world *world;
    const weft_snapshot *snapshot;
    weft__chunk **chunks; /* [snapshot chunk] where it goes; one without rows was made for it */
    void **buffers;       /* [type id] resources that are buffers: copies, until they are put */
    uint32_t common;      /* see timeline_common */
    char *copies;         /* of values that need more than their bytes, in the order of putting; */
    size_t copies_bytes;  /* the last ones are not there yet while copies_used is less */
    size_t copies_used;
    bool is_refused; /* making the copies ran out of memory */
} restoring;

/* Values of a slice that a restore puts. A value. */
typedef struct placing {
    weft__chunk *chunk;
    uint32_t column, slice;
    const weft__snapshot_block *block;
    bool has_rows; /* the rows stay: their old values end */
} placing;

static bool has_values(const weft__chunk *chunk, const weft__snapshot_chunk *saved)
{
    for (uint32_t i = 0; i < saved->value_count; i++)
        if (chunk->tuple->values[i] != saved->values[i]) return false;
    return true;
}

/* The chunk a record came from, if it is still what it was. */
static weft__chunk *find_chunk(const weft_world *world, const weft__archetype *archetype,
                               const weft__snapshot_chunk *saved)
{
    weft__chunk *chunk = saved->id < world->chunks.end ? world->chunks.at[saved->id] : NULL;
    bool is_same = chunk != NULL && chunk->serial == saved->serial &&
                   chunk->archetype == archetype && has_values(chunk, saved);
    WEFT_ASSERT(!is_same || chunk->layout->size_class == saved->size_class);
    return is_same ? chunk : NULL;
}

static weft__chunk *make_chunk(weft_world *world, weft__archetype *archetype,
                               const weft__snapshot_chunk *saved)
{
    weft__tuple *tuple = saved->value_count == 0
                             ? archetype->tuple0
                             : weft__tuple_obtain(world, archetype, saved->values);
    if (tuple == NULL) return NULL;
    weft__chunk *chunk = weft__chunk_create(world, tuple, saved->size_class);
    if (saved->value_count != 0) weft__tuple_release(world, tuple);
    return chunk;
}

/* Releases the chunks that were made. */
static void drop_made(const restoring *r)
{
    for (uint32_t i = 0; i < r->snapshot->chunk_count; i++)
        if (r->chunks[i] != NULL && r->chunks[i]->count == 0)
            weft__chunk_release(r->world, r->chunks[i], false);
}

/* Everything that can fail. On failure the chunks made go again. What is there is found before
 * anything is made: new chunks get ids that records may name. */
static weft_result find_or_make(restoring *r)
{
    const weft_snapshot *snapshot = r->snapshot;
    weft__archetype **archetypes = r->world->archetypes.at;
    uint32_t n = 0;
    for (uint32_t i = 0; i < snapshot->archetype_count; i++)
        for (uint32_t k = 0; k < snapshot->archetypes[i].chunk_count; k++, n++)
            r->chunks[n] = find_chunk(r->world, archetypes[i], &snapshot->chunks[n]);
    n = 0;
    for (uint32_t i = 0; i < snapshot->archetype_count; i++)
        for (uint32_t k = 0; k < snapshot->archetypes[i].chunk_count; k++, n++) {
            if (r->chunks[n] != NULL) continue;
            r->chunks[n] = make_chunk(r->world, archetypes[i], &snapshot->chunks[n]);
            if (r->chunks[n] != NULL) continue;
            weft_result result = r->world->error->code;
            drop_made(r);
            return result;
        }
    return WEFT_OK;
}

/* ---- removing what is not in the snapshot ---- */

/* Ends rows: their ids become new, until the dead ones and the rows of the snapshot are put. */
static void end_rows(weft_world *world, weft__chunk *chunk, uint32_t first, uint32_t count)
{
    weft__directory *directory = &world->directory;
    const weft_entity *entities = weft__chunk_entities(chunk) + first;
    bool is_sparse = (chunk->archetype->flags & WEFT__IS_SPARSE) != 0;
    if (is_sparse) weft__sparse_leave(chunk, first, count);
    for (uint32_t i = 0; i < count && !is_sparse; i++)
        weft__directory_force(directory, entities[i].index ^ directory->tag_bits, 0, 0);
    weft__rows_discard(world, NULL, chunk, NULL, first, count);
}

static void drop_others(const restoring *r)
{
    weft_world *world = r->world;
    for (uint32_t i = 0; i < r->snapshot->chunk_count; i++) r->chunks[i]->mark = 1;
    for (uint32_t id = 1; id < world->chunks.end; id++) {
        weft__chunk *chunk = world->chunks.at[id];
        if (chunk == NULL || chunk->mark != 0) continue;
        end_rows(world, chunk, 0, chunk->count);
        weft__chunk_count_rows(world, chunk, -(int64_t)chunk->count);
        chunk->count = 0;
        weft__chunk_release(world, chunk, false);
    }
    for (uint32_t i = 0; i < r->snapshot->chunk_count; i++) r->chunks[i]->mark = 0;
}

static weft__chunk_pair pair_of(const restoring *r, uint32_t i)
{
    return chunk_pair_make(r->chunks[i], &r->snapshot->chunks[i], r->snapshot, r->common);
}

/* The rows of all slices that will not stay as they are. Of a chunk that was made there are
 * none. */
static void drop_rows(const restoring *r)
{
    for (uint32_t i = 0; i < r->snapshot->chunk_count; i++) {
        weft__chunk_pair pair = pair_of(r, i);
        weft__chunk *chunk = r->chunks[i];
        for (uint32_t s = 0, end = weft__chunk_slices(chunk); s < end && !pair.has_same_rows; s++)
            if (!slice_has_same_rows(&pair, s))
                end_rows(r->world, chunk, s << chunk->layout->slice_shift,
                         rows_of_slice(chunk, chunk->count, s));
    }
}

/* Calls `visit` for all that a restore puts into a chunk, always in the same order. */
static void chunk_visit(restoring *r, uint32_t number, void (*visit)(restoring *, placing))
{
    const weft__snapshot_chunk *saved = &r->snapshot->chunks[number];
    weft__chunk *chunk = r->chunks[number];
    weft__chunk_pair pair = pair_of(r, number);
    const weft__archetype *archetype = chunk->archetype;
    for (uint32_t s = 0; s < saved->slice_count && !pair.has_same_rows; s++) {
        bool has_rows = slice_has_same_rows(&pair, s);
        for (uint32_t column = 0; column < chunk->layout->column_count && !has_rows; column++)
            visit(r, (placing){chunk, column, s, saved->columns[column]->blocks[s], false});
        for (uint32_t type = 0; type < archetype->type_count && has_rows; type++) {
            uint32_t column = archetype->types[type].column;
            if (column == 0) continue;
            if (!pair.is_comparable || !slice_has_same_values(&pair, type, s))
                visit(r, (placing){chunk, column, s, saved->columns[column]->blocks[s], true});
        }
    }
    if (!pair.has_same_rows) return;
    for (uint32_t type = 0; type < archetype->type_count; type++) { /* mostly none changed */
        uint32_t column = archetype->types[type].column;
        if (column == 0 || chunk_has_same_values(&pair, type)) continue;
        for (uint32_t s = 0; s < saved->slice_count; s++)
            if (!slice_has_same_values(&pair, type, s))
                visit(r, (placing){chunk, column, s, saved->columns[column]->blocks[s], true});
    }
}

/* ---- copies ---- */

static bool needs_copy(const weft__snapshot_block *block)
{
    return block->type != NULL && block->type->needs_copy;
}

/* Room of a block among the copies. */
static size_t copy_bytes(const weft__snapshot_block *block)
{
    return bits_align_up((size_t)block->bytes, 64);
}

static void copy_count(restoring *r, placing at)
{
    if (needs_copy(at.block)) r->copies_bytes += copy_bytes(at.block);
}

static void copy_make(restoring *r, placing at)
{
    weft__memory *memory = &r->world->memory;
    const weft__snapshot_block *block = at.block;
    if (!needs_copy(block) || r->is_refused) return;
    char *to = r->copies + r->copies_used;
    size_t bytes = block->type->value_bytes;
    for (uint32_t i = 0; i < block->count && !r->is_refused; i++) {
        r->is_refused = weft__type_replicate(memory, block->type, to + i * bytes,
                                             block->data + i * bytes, 1) != WEFT_OK;
        if (r->is_refused) weft__type_destruct(memory, block->type, to, i);
    }
    if (!r->is_refused) r->copies_used += copy_bytes(block);
}

/* Ends copies up to copies_bytes, which were not put. */
static void copy_drop(restoring *r, placing at)
{
    if (!needs_copy(at.block) || r->copies_used == r->copies_bytes) return;
    weft__type_destruct(&r->world->memory, at.block->type, r->copies + r->copies_used,
                        at.block->count);
    r->copies_used += copy_bytes(at.block);
}

static void visit_all(restoring *r, void (*visit)(restoring *, placing))
{
    for (uint32_t i = 0; i < r->snapshot->chunk_count; i++) chunk_visit(r, i, visit);
}

static void copies_free(restoring *r)
{
    weft__free(&r->world->memory, WEFT__MEMORY_SNAPSHOTS, r->copies, r->copies_bytes, 1, 64);
}

/* Copies the values that need more than their bytes, before anything changes. */
static weft_result make_copies(restoring *r)
{
    bool is_needed = false;
    for (uint32_t i = 1; i <= r->snapshot->type_count; i++)
        is_needed = is_needed || r->world->types.at[i]->needs_copy;
    if (is_needed) visit_all(r, copy_count);
    if (r->copies_bytes == 0) return WEFT_OK;
    r->copies = weft__alloc(&r->world->memory, WEFT__MEMORY_SNAPSHOTS, r->copies_bytes, 1, 64);
    r->is_refused = r->copies == NULL;
    visit_all(r, copy_make);
    size_t end = r->copies_used, all = r->copies_bytes;
    r->copies_used = 0;
    if (!r->is_refused) return WEFT_OK;
    r->copies_bytes = end;
    visit_all(r, copy_drop);
    r->copies_bytes = all;
    copies_free(r);
    return weft__error_memory(r->world, "weft_snapshot_restore");
}

/* ---- rows ---- */

/* Enters the rows of a slice into the directory, after their entities were put. */
static void enter_rows(const restoring *r, placing at)
{
    weft__directory *directory = &r->world->directory;
    uint32_t row = at.slice << at.chunk->layout->slice_shift;
    if ((at.chunk->archetype->flags & WEFT__IS_SPARSE) != 0) {
        weft__sparse_enter(at.chunk, row, at.block->count);
        return;
    }
    const weft_entity *entities = weft__chunk_entities(at.chunk) + row;
    for (uint32_t i = 0; i < at.block->count; i++)
        weft__directory_force(directory, entities[i].index ^ directory->tag_bits,
                              entities[i].version, weft__location(at.chunk, row + i));
}

static void put_block(restoring *r, placing at)
{
    const weft__snapshot_block *block = at.block;
    const char *from = block->data;
    char *to = weft__chunk_value(at.chunk, at.column, at.slice << at.chunk->layout->slice_shift);
    if (at.has_rows && block->type->needs_destruct)
        weft__type_destruct(&r->world->memory, block->type, to, block->count);
    if (needs_copy(block)) {
        from = r->copies + r->copies_used;
        r->copies_used += copy_bytes(block);
    }
    memcpy(to, from, block->bytes);
    if (at.column == 0) enter_rows(r, at);
}

static void put_chunk(restoring *r, uint32_t number)
{
    const weft__snapshot_chunk *saved = &r->snapshot->chunks[number];
    weft__chunk *chunk = r->chunks[number];
    bool is_made = chunk->count == 0;
    if (is_made) chunk->serial = saved->serial;
    bool has_same_rows = pair_of(r, number).has_same_rows;
    chunk_visit(r, number, put_block);
    if (has_same_rows) {
        chunk->ready_end = 0; /* their slices have other versions now */
    } else {
        weft__chunk_count_rows(r->world, chunk, (int64_t)saved->count - chunk->count);
        chunk->count = saved->count;
        weft__chunk_soil(chunk);
    }
    if (saved->side_bytes != 0) memcpy(weft__chunk_side(chunk), saved->side, saved->side_bytes);
    chunk->stamped_version = 0; /* the world comes to these versions once more */
}

/* Chunks that were made get the ids that they had. */
static void put_ids(const restoring *r)
{
    weft_world *world = r->world;
    for (uint32_t i = 0; i < r->snapshot->chunk_count; i++)
        if (r->chunks[i]->id != r->snapshot->chunks[i].id)
            weft__chunk_id_return(world, r->chunks[i]);
    for (uint32_t i = 0; i < r->snapshot->chunk_count; i++)
        if (r->chunks[i]->id != r->snapshot->chunks[i].id)
            weft__chunk_id_take(world, r->chunks[i], r->snapshot->chunks[i].id);
}

/* The order of chunks, and of the lists of chunks with room. */
static void order_archetype(restoring *r, uint32_t number)
{
    const weft__snapshot_archetype *list = &r->snapshot->archetypes[number];
    weft__archetype *archetype = r->world->archetypes.at[number];
    WEFT_ASSERT(archetype->chunk_count == list->chunk_count);
    const weft__snapshot_chunk *saved = &r->snapshot->chunks[list->first_chunk];
    for (uint32_t i = 0; i < list->chunk_count; i++) {
        weft__chunk *chunk = r->chunks[list->first_chunk + i];
        archetype->chunks[i] = chunk;
        chunk->list_index = i;
        weft__chunk_room_remove(chunk);
    }
    for (uint32_t i = 0; i < list->chunk_count && saved[i].room != WEFT__NONE; i++)
        weft__chunk_room_update(r->chunks[list->first_chunk + saved[i].room]); /* to the head */
    archetype->order_version = list->order_version;
}

/* ---- the rest ---- */

static void put_states(const restoring *r)
{
    for (uint32_t i = 0; i < WEFT__EXTENSION_COUNT; i++) {
        const weft__extension *extension = &r->world->front.extensions[i];
        if (extension->data != NULL && extension->state_put != NULL)
            extension->state_put(extension->data, r->snapshot->states[i]);
    }
}

static void put_resources(const restoring *r)
{
    weft__memory *memory = &r->world->memory;
    for (uint32_t i = 1; i <= r->snapshot->type_count; i++) {
        const void *saved = r->snapshot->resources[i];
        const weft__type *type = r->world->types.at[i];
        if (saved == NULL) continue;
        weft__type_destruct(memory, type, type->resource, 1);
        if (r->buffers[i] == NULL) {
            weft__type_replicate(memory, type, type->resource, saved, 1); /* cannot fail */
            continue;
        }
        memcpy(type->resource, r->buffers[i], type->value_bytes);
        weft__free(memory, WEFT__MEMORY_SNAPSHOTS, r->buffers[i], 1, type->value_bytes, 64);
        r->buffers[i] = NULL;
    }
}

static void put_all(restoring *r)
{
    weft_world *world = r->world;
    const weft_snapshot *snapshot = r->snapshot;
    drop_others(r);
    drop_rows(r);
    weft__directory_dead_put(&world->directory, snapshot->dead.at, snapshot->dead.count);
    for (uint32_t i = 0; i < snapshot->chunk_count; i++) put_chunk(r, i);
    put_ids(r);
    for (uint32_t i = 0; i < snapshot->archetype_count; i++) order_archetype(r, i);
    put_resources(r);
    put_states(r);
    weft__names_put(world, snapshot->names);
    for (uint32_t i = 0; i < snapshot->chunk_count; i++) /* counting rows stamped them */
        r->chunks[i]->order_version = snapshot->chunks[i].order_version;
    world->front.version = snapshot->version;
    world->front.renewed = snapshot->renewed;
    world->front.renewal = snapshot->renewal;
    weft__spares_forget_versions(world);
    world->quick.run_rows = 0; /* the world comes to these versions once more */
    world->front.clock.steps = snapshot->steps;
    world->front.clock.time = snapshot->time;
    world->front.clock.dt = snapshot->dt;
    world->front.structure_version++;
}

static weft_result restore(restoring *r, weft__timelines *timelines)
{
    weft_world *world = r->world;
    const weft_snapshot *snapshot = r->snapshot;
    r->common = timeline_common(timelines, snapshot->timeline, snapshot->version);
    weft__timeline *timeline = timeline_begin(world, snapshot->timeline, snapshot->version);
    weft__past past = {0};
    weft__archetype_list before = {0};
    weft_result result = WEFT_OK;
    if (timeline == NULL || !past_fork(timelines, &snapshot->past, &past) ||
        weft__names_put_reserve(world, snapshot->names) != WEFT_OK)
        result = weft__error_memory(world, "weft_snapshot_restore");
    if (result == WEFT_OK) result = weft__archetypes_note(world, &before);
    if (result == WEFT_OK) result = weft__archetypes_arrange(world, &snapshot->order);
    if (result == WEFT_OK) { /* before anything changes: memory may be refused */
        r->buffers = resources_copy(world, snapshot->type_count, snapshot->resources);
        if (r->buffers == NULL) result = weft__error_memory(world, "weft_snapshot_restore");
    }
    if (result == WEFT_OK) result = find_or_make(r);
    if (result == WEFT_OK && (result = make_copies(r)) != WEFT_OK) drop_made(r);
    if (result == WEFT_OK)
        put_all(r);
    else if (before.items != NULL)
        weft__archetypes_arrange(world, &before); /* cannot fail: there is room for it */
    weft__archetype_list_free(world, &before);
    resources_free(world, snapshot->type_count, r->buffers);
    if (result != WEFT_OK) {
        past_free(world, &past);
        timeline_drop(timelines, timeline);
        return result;
    }
    copies_free(r);
    weft__timeline *old = timelines->current;
    timelines->current = timeline;
    timeline_drop(timelines, old);
    past_free(world, &timelines->past);
    timelines->past = past;
    return WEFT_OK;
}

/* Whether something would not go back with the world. */
static weft_result pins_check(const weft_world *world, const weft_snapshot *snapshot)
{
    for (uint32_t i = 0; i < WEFT__PIN_COUNT; i++) {
        const weft__pin *pin = &world->front.pins[i];
        if (pin->moment == 0 || past_has(&snapshot->past, pin->moment)) continue;
        return weft__error(world, WEFT_UNSUPPORTED, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                           "weft_snapshot_restore: after the snapshot was taken %s", pin->why);
    }
    return WEFT_OK;
}

weft_result weft_snapshot_restore(weft_world *world, const weft_snapshot *snapshot)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (snapshot == NULL || snapshot->world != world)
        return weft__error_argument(world, "weft_snapshot_restore",
                                    "the snapshot is NULL or of another world: give one that "
                                    "weft_snapshot_take made of this world");
    weft_result result = weft__between_steps(world, "weft_snapshot_restore");
    if (result == WEFT_OK) result = weft__lent_refuse(world, "weft_snapshot_restore");
    if (result == WEFT_OK) result = pins_check(world, snapshot);
    if (result == WEFT_OK) result = weft__ids_close(world, "weft_snapshot_restore");
    if (result != WEFT_OK) return result;
    restoring r = {.world = world, .snapshot = snapshot};
    weft__memory *memory = &world->memory;
    size_t count = (size_t)snapshot->chunk_count + 1;
    r.chunks = WEFT__NEW_ZEROED(memory, WEFT__MEMORY_SNAPSHOTS, count, r.chunks[0]);
    if (r.chunks == NULL)
        result = weft__error_memory(world, "weft_snapshot_restore");
    else
        result = restore(&r, timelines_obtain(world)); /* it is there: so is a snapshot */
    weft__ids_open(world);
    WEFT__FREE(memory, WEFT__MEMORY_SNAPSHOTS, r.chunks, count);
    return result;
}
