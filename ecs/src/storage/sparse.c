/* SPDX-License-Identifier: MIT */
/* sparse.c: rows of SPARSE components come and go.
 *
 * A row goes to the first chunk with room, as everywhere; one that leaves is replaced by the last
 * one of that chunk, so that all others stay full, and what changes but for the place of the row is
 * known before the place is (entity_sparse.c). Owner, world idle. */
#include "sparse.h"
#include "archetype.h"
#include "world_view.h"

/* ---- slots ---- */

static weft_a64 *slot_of(const weft__sparse *sparse, weft_entity entity)
{
    return &sparse->blocks[entity.index / WEFT__BLOCK_SLOTS]
                ->x_slots[entity.index % WEFT__BLOCK_SLOTS];
}

static void slot_set(const weft__sparse *sparse, weft_entity entity, uint32_t location)
{
    /* relaxed: the world is idle */
    at_store_rlx(slot_of(sparse, entity), (uint64_t)entity.version << 32 | location);
}

static void slot_clear(const weft__sparse *sparse, weft_entity entity)
{
    at_store_rlx(slot_of(sparse, entity), 0); /* relaxed: the world is idle */
}

/* The block of a handle's index is there. */
static bool block_make(weft_world *world, weft__sparse *sparse, weft_entity entity)
{
    weft__entity_block *block = WEFT__NEW_ZEROED(&world->memory, WEFT__MEMORY_METADATA, 1, *block);
    if (block == NULL) return false;
    sparse->blocks[entity.index / WEFT__BLOCK_SLOTS] = block;
    sparse->block_count++;
    return true;
}

static inline bool block_reserve(weft_world *world, weft__sparse *sparse, weft_entity entity)
{
    bool is_there = sparse->blocks[entity.index / WEFT__BLOCK_SLOTS] != NULL;
    return __builtin_expect(is_there, 1) || block_make(world, sparse, entity);
}

/* ---- types ---- */

bool weft__sparse_create(weft_world *world, weft__type *type)
{
    const weft_os *os = world->desc.os;
    weft__sparse *sparse = WEFT__NEW_ZEROED(&world->memory, WEFT__MEMORY_TYPES, 1, *sparse);
    if (sparse == NULL) return false;
    sparse->blocks = os->map(os->user, WEFT__SEEN_BYTES, 4096);
    static weft__tuple without_room;
    sparse->world = world;
    sparse->type = type;
    sparse->value_bytes = type->value_bytes;
    sparse->tuple = &without_room;
    type->sparse = sparse; /* it is freed with the type */
    return sparse->blocks != NULL;
}

void weft__sparse_enlist(weft_world *world, const weft__type *type)
{
    type->sparse->next = world->types.sparse;
    world->types.sparse = type;
    weft__sparse_near *near = &world->types.near[type->id % WEFT__SPARSE_NEAR];
    if (near->sparse == NULL)
        *near =
            (weft__sparse_near){weft__sparse_key(weft__component(world, type->id)), type->sparse};
}

static bool has_rows(const weft__type *type)
{
    const weft__archetype *archetype = type->sparse->archetype;
    return archetype != NULL && archetype->entity_count != 0;
}

void weft__sparse_destroy(weft_world *world, weft__sparse *sparse)
{
    const weft_os *os = world->desc.os;
    if (sparse == NULL) return;
    uint32_t first = world->directory.tag_bits / WEFT__BLOCK_SLOTS; /* of indices in handles */
    for (uint64_t i = first; sparse->block_count != 0; i++) {
        if (sparse->blocks[i] == NULL) continue;
        WEFT__FREE(&world->memory, WEFT__MEMORY_METADATA, sparse->blocks[i], 1);
        sparse->block_count--;
    }
    if (sparse->blocks != NULL) os->unmap(os->user, sparse->blocks, WEFT__SEEN_BYTES);
    WEFT__FREE(&world->memory, WEFT__MEMORY_TYPES, sparse, 1);
}

/* The archetype of the type's rows is made, and in the order. */
static weft__archetype *archetype_obtain(weft_world *world, const weft__type *type)
{
    weft__archetype *archetype = type->sparse->archetype;
    if (archetype == NULL) return weft__archetype_obtain(world, &type->id, 1); /* notes it */
    return weft__archetype_enter(world, archetype) == WEFT_OK ? archetype : NULL;
}

uint32_t weft__sparse_newest(const weft__type *type, const weft__chunk *chunk, uint32_t first,
                             uint32_t count)
{
    const weft_entity *entities = weft__chunk_entities(chunk) + first;
    uint32_t newest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row;
        const weft__chunk *own = weft__sparse_find(type->sparse->world, type, entities[i], &row);
        if (own == NULL) continue;
        const weft_a32 *x_version =
            weft__chunk_versions(own, 0) + (row >> own->layout->slice_shift);
        uint32_t version = at_load_rlx(x_version); /* relaxed: as weft__sparse_find */
        if (weft__version_is_newer(version, newest)) newest = version;
    }
    return newest;
}

/* ---- add ---- */

/* Copies a handle in one piece: two stores of four bytes would stall its next load. */
static inline void value_copy8(void *to, const void *from)
{
    uint64_t value;
    memcpy(&value, from, 8);
    memcpy(to, &value, 8);
}

static void row_enter(const weft__sparse *sparse, weft__chunk *chunk, uint32_t row,
                      weft_entity entity)
{
    value_copy8(&weft__chunk_entities(chunk)[row], &entity);
    slot_set(sparse, entity, weft__location(chunk, row));
}

static weft__sparse_row add_generally(weft_world *world, const weft__type *type, weft_entity entity)
{
    weft__span span;
    weft__archetype *archetype = archetype_obtain(world, type);
    if (archetype == NULL || weft__row_reserve(world, archetype->tuple0, &span) != WEFT_OK)
        return (weft__sparse_row){0};
    weft__rows_fill(world, span.chunk, span.row, 1);
    row_enter(type->sparse, span.chunk, span.row, entity);
    if (type->value_bytes != 0) weft__column_map_obtain(world, type->id); /* may fail */
    return (weft__sparse_row){span.chunk, span.row, true};
}

weft__sparse_row weft__sparse_add(weft_world *world, const weft__type *type, weft_entity entity)
{
    weft__sparse_row found = {0};
    if (!block_reserve(world, type->sparse, entity)) {
        weft__error_memory(world, "a sparse component");
        return found;
    }
    found.chunk = weft__sparse_find(world, type, entity, &found.row);
    return found.chunk != NULL ? found : add_generally(world, type, entity);
}

/* Marks the slots of the entities without a row, so that none is counted twice. False: no memory;
 * *count is how many are marked. */
static bool slots_mark(weft_world *world, weft__sparse *sparse, const weft_entity *entities,
                       uint32_t entity_count, uint32_t *count)
{
    for (uint32_t i = 0; i < entity_count; i++) {
        weft__sparse_prefetch(sparse, entities, entity_count, i);
        if (!block_reserve(world, sparse, entities[i])) return false;
        weft_a64 *x_slot = slot_of(sparse, entities[i]);
        if (at_load_rlx(x_slot) != 0) continue; /* relaxed: the world is idle */
        slot_set(sparse, entities[i], 0);
        ++*count;
    }
    return true;
}

/* Whether the slot was marked. */
static bool is_marked(const weft__sparse *sparse, weft_entity entity)
{
    return sparse->blocks[entity.index / WEFT__BLOCK_SLOTS] != NULL &&
           at_load_rlx(slot_of(sparse, entity)) == (uint64_t)entity.version
                                                       << 32; /* relaxed: idle */
}

static void marks_clear(const weft__sparse *sparse, const weft_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_marked(sparse, entities[i])) slot_clear(sparse, entities[i]);
}

weft_result weft__sparse_prepare(weft_world *world, const weft__type *type,
                                 const weft_entity *entities, uint32_t count,
                                 weft__sparse_addition *out)
{
    uint32_t marked = 0;
    *out = (weft__sparse_addition){.type = type};
    weft__archetype *archetype = archetype_obtain(world, type);
    if (archetype == NULL) return world->error->code;
    weft_result result = slots_mark(world, type->sparse, entities, count, &marked)
                             ? WEFT_OK
                             : weft__error_memory(world, "a sparse component");
    if (result == WEFT_OK)
        result = weft__rows_reserve(world, archetype->tuple0, marked, &out->spans);
    if (result == WEFT_OK) return WEFT_OK;
    marks_clear(type->sparse, entities, count);
    weft__spans_fini(world, &out->spans);
    return result;
}

void weft__sparse_commit(weft_world *world, weft__sparse_addition *addition,
                         const weft_entity *entities)
{
    const weft__sparse *sparse = addition->type->sparse;
    for (uint32_t i = 0; i < addition->spans.count; i++) {
        weft__span span = addition->spans.at[i];
        weft__rows_fill(world, span.chunk, span.row, span.count);
        for (uint32_t done = 0; done < span.count; entities++) {
            if (!is_marked(sparse, *entities)) continue;
            row_enter(sparse, span.chunk, span.row + done, *entities);
            done++;
        }
    }
    weft__spans_fini(world, &addition->spans);
    if (addition->type->value_bytes != 0) weft__column_map_obtain(world, addition->type->id);
}

void weft__sparse_cancel(weft_world *world, weft__sparse_addition *addition,
                         const weft_entity *entities, uint32_t count)
{
    marks_clear(addition->type->sparse, entities, count);
    weft__rows_unreserve(world, &addition->spans, 0);
    weft__spans_fini(world, &addition->spans);
}

weft_result weft__sparse_prepare_new(weft_world *world, const weft__type *type,
                                     const weft_entity *named, const weft__row_ids *ids,
                                     uint32_t count, weft__sparse_addition *out)
{
    *out = (weft__sparse_addition){.type = type};
    weft__archetype *archetype = archetype_obtain(world, type);
    if (archetype == NULL) return world->error->code;
    for (uint32_t i = 0; i < (named != NULL ? count : ids->share_count); i++) {
        const uint32_t index = named == NULL ? ids->shares[i].block * WEFT__BLOCK_SLOTS : 0;
        const weft_entity first = {index ^ world->directory.tag_bits, 1};
        if (!block_reserve(world, type->sparse, named != NULL ? named[i] : first))
            return weft__error_memory(world, "a sparse component");
    }
    return weft__rows_reserve(world, archetype->tuple0, count, &out->spans);
}

void weft__sparse_commit_new(weft_world *world, weft__sparse_addition *addition,
                             const weft_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) slot_set(addition->type->sparse, entities[i], 0);
    weft__sparse_commit(world, addition, entities);
}

weft_result weft__sparse_add_many(weft_world *world, const weft__type *type,
                                  const weft_entity *entities, uint32_t count)
{
    weft__sparse_addition addition;
    weft_result result = weft__sparse_prepare(world, type, entities, count, &addition);
    if (result == WEFT_OK) weft__sparse_commit(world, &addition, entities);
    return result;
}

/* ---- remove ---- */

/* The last row of `tail` fills the hole of a row of `chunk`, if it is another one. */
static void hole_fill(const weft_world *world, weft__chunk *chunk, uint32_t row, weft__chunk *tail)
{
    const weft__sparse *sparse = weft__sparse_type(chunk->archetype)->sparse;
    uint32_t last = --tail->count, shift = sparse->slice_shift;
    weft__chunk_soil(tail);
    if (chunk == tail && row == last) return;
    weft__version_follow(&chunk->x_versions[row >> shift], &tail->x_versions[last >> shift]);
    chunk->order_version = world->front.version;
    row_enter(sparse, chunk, row, weft__chunk_entities(tail)[last]);
    if (sparse->value_bytes != 0)
        weft__value_copy(weft__chunk_value(chunk, 1, row), weft__chunk_value(tail, 1, last),
                         sparse->value_bytes);
}

bool weft__sparse_remove(weft_world *world, const weft__type *type, weft_entity entity)
{
    uint32_t row;
    weft__chunk *chunk = weft__sparse_find(world, type, entity, &row);
    if (chunk == NULL) return false;
    slot_clear(type->sparse, entity);
    if (__builtin_expect(type->needs_destruct, 0))
        weft__rows_discard(world, NULL, chunk, NULL, row, 1);
    weft__chunk *tail = chunk->tuple->room != NULL ? chunk->tuple->room : chunk;
    /* neither full nor alone: lists and bits of the archetype stay */
    bool is_plain = tail->count - 2 < tail->capacity - 2;
    hole_fill(world, chunk, row, tail);
    if (__builtin_expect(is_plain, 1))
        weft__chunk_count_plain(world, tail, -1);
    else
        weft__chunk_settle(world, tail, 1);
    return true;
}

void weft__sparse_forget_rows(weft_world *world, const weft__chunk *chunk, const uint32_t *rows,
                              uint32_t first, uint32_t count)
{
    const weft_entity *entities = weft__chunk_entities(chunk);
    const weft__type *type;
    for (type = world->types.sparse; type != NULL; type = type->sparse->next)
        for (uint32_t i = 0; i < count && has_rows(type); i++)
            weft__sparse_remove(world, type, entities[rows != NULL ? rows[i] : first + i]);
}

void weft__rows_retire(weft_world *world, const weft__chunk *chunk, const uint32_t *rows,
                       uint32_t first, uint32_t count)
{
    const weft_entity *entities = weft__chunk_entities(chunk);
    /* only relations ask which blocks had deaths, and new ones look at all their targets */
    bool is_asked = world->front.extensions[WEFT__EXTENSION_RELATIONS].data != NULL;
    for (uint32_t i = is_asked ? 0 : count, last = UINT32_MAX; i < count; i++) {
        uint32_t index = entities[rows != NULL ? rows[i] : first + i].index;
        if (index / WEFT__BLOCK_SLOTS == last) continue; /* neighbours share blocks */
        last = index / WEFT__BLOCK_SLOTS;
        weft__entity_block *block =
            weft__directory_block(&world->directory, index ^ world->directory.tag_bits);
        at_store_rlx(&block->x_had_deaths, 1u); /* relaxed: idle */
    }
    weft__sparse_forget(world, chunk, rows, first, count);
}

/* ---- files, snapshots, transfers ---- */

bool weft__sparse_reserve_all(weft_world *world, const weft__type *type)
{
    const weft__directory *directory = &world->directory;
    uint32_t end = at_load_rlx(&directory->x_block_end); /* relaxed: the world is idle */
    for (uint32_t block = 0; block < end; block++) {
        weft_entity first = {(block * WEFT__BLOCK_SLOTS) ^ directory->tag_bits, 1};
        if (!block_reserve(world, type->sparse, first)) return false;
    }
    return true;
}

void weft__sparse_clear(const weft__chunk *chunk, weft_entity entity)
{
    slot_clear(weft__sparse_type(chunk->archetype)->sparse, entity);
}

void weft__sparse_close_row(weft_world *world, weft__chunk *chunk, uint32_t row)
{
    hole_fill(world, chunk, row, chunk);
}

void weft__sparse_enter(const weft__chunk *chunk, uint32_t first, uint32_t count)
{
    const weft__sparse *sparse = weft__sparse_type(chunk->archetype)->sparse;
    const weft_entity *entities = weft__chunk_entities(chunk);
    for (uint32_t row = first; row < first + count; row++)
        slot_set(sparse, entities[row], weft__location(chunk, row));
}

void weft__sparse_leave(const weft__chunk *chunk, uint32_t first, uint32_t count)
{
    const weft__sparse *sparse = weft__sparse_type(chunk->archetype)->sparse;
    const weft_entity *entities = weft__chunk_entities(chunk);
    for (uint32_t row = first; row < first + count; row++) {
        const weft__entity_block *block = sparse->blocks[entities[row].index / WEFT__BLOCK_SLOTS];
        /* relaxed: the world is idle */
        if (block != NULL &&
            (uint32_t)at_load_rlx(slot_of(sparse, entities[row])) == weft__location(chunk, row))
            slot_clear(sparse, entities[row]);
    }
}

const weft__type *weft__entity_next_sparse(const weft_world *world, weft_entity entity,
                                           const weft__type *type)
{
    type = type == NULL ? world->types.sparse : type->sparse->next;
    while (type != NULL && !weft__sparse_has(type, entity)) type = type->sparse->next;
    return type;
}
