/* SPDX-License-Identifier: MIT */
/* entity_sparse.c: SPARSE components of entities: one by one, in lists, by query, and of copies.
 *
 * What can fail comes before what cannot. It knows who may have them; how their rows lie is
 * known to sparse.c. */
#include "entity_sparse.h"
#include "entity_value.h"
#include "query_read.h"
#include "world_view.h"

/* ---- single rows whose values are plain bytes, where nothing has to be made ----
 *
 * Inline, for the calls of users. Additions take rows that are ready (structure.h). Functions
 * around these call others at their end only, so that they save no register. The world is idle, so
 * every load and store of a shared word is relaxed. `entity`: weft__entity_bits; may be dead. */

/* The slot of an entity whose block is there, of a table as weft__sparse.blocks. */
static inline weft_a64 *sparse_slot_in(weft__entity_block *const *blocks, uint64_t entity)
{
    weft__entity_block *block = blocks[(uint32_t)entity / WEFT__BLOCK_SLOTS];
    return &block->x_slots[(uint32_t)entity % WEFT__BLOCK_SLOTS];
}

/* The same of any entity; NULL: there is no block. */
static inline weft_a64 *sparse_slot_at(weft__entity_block *const *blocks, uint64_t entity)
{
    if (__builtin_expect(blocks[(uint32_t)entity / WEFT__BLOCK_SLOTS] == NULL, 0)) return NULL;
    return sparse_slot_in(blocks, entity);
}

/* Whether the entity is alive and has a row. False also where that is not seen quickly. */
static inline bool sparse_is_alive(const weft_world *world, uint64_t entity)
{
    weft__entity_block *const *seen = world->front.maps.seen;
    if (__builtin_expect(seen == NULL, 0)) return false;
    const weft_a64 *x_own = sparse_slot_at(seen, entity);
    if (__builtin_expect(x_own == NULL, 0)) return false;
    uint64_t own = at_load_rlx(x_own); /* relaxed: idle */
    if (__builtin_expect((own ^ entity) >> 32 != 0, 0)) return false;
    return __builtin_expect((uint32_t)own != 0, 1);
}

/* The chunk whose next row is ready; NULL: there is none. */
static inline weft__chunk *sparse_chunk_ready(const weft_world *world, const weft__sparse *sparse)
{
    weft__chunk *chunk = sparse->tuple->room;
    return chunk != NULL && weft__row_is_ready(world, chunk) ? chunk : NULL;
}

/* The next row, which is ready, is the entity's, whose slot this is, empty. */
static inline void sparse_row_enter(weft_world *world, weft__chunk *chunk, weft_a64 *x_slot,
                                    uint64_t entity)
{
    uint32_t location = weft__location(chunk, chunk->count);
    at_store_rlx(x_slot, entity >> 32 << 32 | location); /* relaxed: idle */
    weft__row_ready_enter(world, chunk, entity);
}

/* The location that a slot leads to; 0: the entity has none. */
static inline uint32_t sparse_location(const weft_a64 *x_slot, uint64_t entity)
{
    if (__builtin_expect(x_slot == NULL, 0)) return 0;
    uint64_t slot = at_load_rlx(x_slot); /* relaxed: idle */
    return __builtin_expect((slot ^ entity) >> 32 == 0, 1) ? (uint32_t)slot : 0;
}

/* The chunk of a location that is in use. */
static inline weft__chunk *sparse_chunk(const weft_world *world, uint32_t location)
{
    return world->berths.at[location >> WEFT__BERTH_SHIFT].chunk;
}

/* Whether rows of a chunk are ready, or would be without being zeroed: in one load. */
static inline bool sparse_may_be_ready(const weft__chunk *chunk)
{
    uint64_t both;
    _Static_assert(offsetof(weft__chunk, is_zero) == offsetof(weft__chunk, ready_end) + 4, "");
    memcpy(&both, (const char *)chunk + offsetof(weft__chunk, ready_end), sizeof both);
    return both != 0;
}

/* A row of `chunk` goes, and the last one of `tail`, row `last`, takes its place. */
static inline void sparse_row_leave(weft_world *world, weft__chunk *chunk, weft__chunk *tail,
                                    uint32_t last)
{
    chunk->order_version = world->front.version;
    tail->count = last;
    weft__chunk_count_plain(world, tail, -1);
}

/* ---- one entity ---- */

/* OK for an entity that may get SPARSE components. */
static inline weft_result entity_check(const weft_world *world, weft_entity entity)
{
    uint32_t location = 0;
    bool is_alive = weft__directory_find(&world->directory, entity, &location) && location != 0 &&
                    !weft__is_residue_at(world, location);
    return is_alive ? WEFT_OK : weft__error_stale(world, entity);
}

/* OK for an entity that SPARSE components may be removed from, also what is left of one. */
static weft_result entity_check_removal(const weft_world *world, weft_entity entity)
{
    uint32_t row;
    return weft__entity_chunk(world, entity, &row) != NULL ? WEFT_OK
                                                           : weft__error_stale(world, entity);
}

/* The next row is ready now, and was not before; false: there is none that can be. */
static bool next_row_ready(weft_world *world, const weft__sparse *sparse)
{
    weft__chunk *chunk = sparse->tuple->room;
    weft__column_maps_see(world); /* where it fails, additions go the general way */
    if (chunk == NULL || chunk->count + 1 >= chunk->capacity || weft__row_is_ready(world, chunk))
        return false;
    weft__rows_ready(world, chunk);
    return true;
}

static __attribute__((noinline)) weft_result add_slowly(weft_world *world, weft_entity entity,
                                                        const weft__sparse *sparse)
{
    weft_result result = weft__idle(world, "weft_entity_add");
    if (result == WEFT_OK) result = entity_check(world, entity);
    if (result != WEFT_OK) return result;
    if (!weft__sparse_has(sparse->type, entity) && next_row_ready(world, sparse))
        return weft__sparse_entity_add(world, entity, sparse);
    return weft__sparse_add(world, sparse->type, entity).chunk != NULL ? WEFT_OK
                                                                       : world->error->code;
}

static __attribute__((noinline)) weft_result remove_slowly(weft_world *world, weft_entity entity,
                                                           const weft__sparse *sparse)
{
    weft_result result = weft__idle(world, "weft_entity_remove");
    if (result != WEFT_OK) return result;
    if (weft__sparse_remove(world, sparse->type, entity)) return WEFT_OK;
    return entity_check_removal(world, entity);
}

weft_result weft__sparse_entity_add(weft_world *world, weft_entity handle,
                                    const weft__sparse *sparse)
{
    uint64_t entity = weft__entity_bits(handle);
    if (!weft__is_idle(world) || __builtin_expect(world->archetypes.has_residues, 0))
        return add_slowly(world, handle, sparse);
    if (__builtin_expect(!sparse_is_alive(world, entity), 0))
        return add_slowly(world, handle, sparse);
    weft_a64 *x_slot = sparse_slot_at(sparse->blocks, entity);
    if (__builtin_expect(x_slot == NULL, 0)) return add_slowly(world, handle, sparse);
    if (__builtin_expect(at_load_rlx(x_slot) != 0, 0))
        return WEFT_OK; /* relaxed: idle; it has one */
    weft__chunk *chunk = sparse_chunk_ready(world, sparse);
    if (__builtin_expect(chunk == NULL, 0)) return add_slowly(world, handle, sparse);
    sparse_row_enter(world, chunk, x_slot, entity);
    return WEFT_OK;
}

/* The last row of a chunk, not counted any more, fills a hole with a value of any size, and may
 * become ready. */
static __attribute__((noinline)) weft_result
last_row_ends(const weft__sparse *sparse, const weft__chunk *chunk, uint32_t row, weft__chunk *tail)
{
    if ((chunk != tail || row != tail->count) && sparse->value_bytes != 0)
        weft__value_copy(weft__chunk_value(chunk, 1, row), weft__chunk_value(tail, 1, tail->count),
                         sparse->value_bytes);
    if (sparse_may_be_ready(tail)) weft__row_last_ends(tail);
    return WEFT_OK;
}

/* In an order that keeps few values at once: instructions are what limits it. */
weft_result weft__sparse_entity_remove(weft_world *world, weft_entity handle,
                                       const weft__sparse *sparse)
{
    uint64_t entity = weft__entity_bits(handle), moved;
    weft_a64 *x_slot = sparse_slot_at(sparse->blocks, entity);
    uint32_t location = sparse_location(x_slot, entity);
    weft__chunk *tail = sparse->tuple->room;
    if (__builtin_expect(location == 0 || tail == NULL, 0) || !weft__is_idle(world))
        return remove_slowly(world, handle, sparse);
    uint32_t last = tail->count - 1;
    if (__builtin_expect(last == 0, 0)) return remove_slowly(world, handle, sparse);
    weft__chunk *chunk = sparse_chunk(world, location);
    at_store_rlx(x_slot, 0); /* relaxed: idle */
    sparse_row_leave(world, chunk, tail, last);
    memcpy(&moved, tail->base + last * sizeof moved, sizeof moved);
    uint32_t row = location - chunk->location;
    bool may_be_ready = sparse_may_be_ready(tail);
    if (moved == entity)
        return __builtin_expect(may_be_ready, 0) ? last_row_ends(sparse, chunk, row, tail)
                                                 : WEFT_OK;
    uint32_t shift = sparse->slice_shift;
    weft__version_follow(&chunk->x_versions[row >> shift], &tail->x_versions[last >> shift]);
    /* relaxed: idle */
    at_store_rlx(sparse_slot_in(sparse->blocks, moved), moved >> 32 << 32 | location);
    memcpy(chunk->base + row * sizeof moved, &moved, sizeof moved);
    size_t bytes = sparse->value_bytes;
    if (__builtin_expect(may_be_ready, 0) || bytes - 4 > 12)
        return may_be_ready || bytes != 0 ? last_row_ends(sparse, chunk, row, tail) : WEFT_OK;
    char *to = weft__chunk_column(chunk, 1), *from = weft__chunk_column(tail, 1);
    return weft__value_put(to + row * bytes, from + last * bytes, bytes);
}

static __attribute__((noinline)) weft_result
set_slowly(weft_world *world, weft_entity entity, const weft__sparse *sparse, const void *value)
{
    weft_result result = weft__may_write(world, "weft_entity_set");
    if (result != WEFT_OK) return result;
    if (world->front.busy == 0 && entity_check(world, entity) == WEFT_OK &&
        !weft__sparse_has(sparse->type, entity) && next_row_ready(world, sparse))
        return weft__sparse_entity_set(world, entity, sparse, value);
    return weft__sparse_set(world, entity, sparse->type, value);
}

/* Plain bytes over those of the row at a location. A function of its own: the other one needs no
 * saved registers then. */
static __attribute__((noinline)) weft_result
set_present(weft_world *world, const weft__sparse *sparse, uint32_t location, const void *value)
{
    const weft__chunk *chunk = sparse_chunk(world, location);
    uint32_t row = location - chunk->location;
    weft__stamp(&chunk->x_versions[row >> sparse->slice_shift], world->front.version);
    char *to = weft__chunk_column(chunk, 1);
    return weft__value_put(to + row * (size_t)sparse->value_bytes, value, sparse->value_bytes);
}

weft_result weft__sparse_entity_set(weft_world *world, weft_entity handle,
                                    const weft__sparse *sparse, const void *value)
{
    uint64_t entity = weft__entity_bits(handle);
    weft_a64 *x_slot = sparse_slot_at(sparse->blocks, entity);
    size_t bytes = sparse->value_bytes;
    if (!weft__is_idle(world) || __builtin_expect(x_slot == NULL, 0) || sparse->is_special ||
        bytes == 0)
        return set_slowly(world, handle, sparse, value);
    uint64_t slot = at_load_rlx(x_slot); /* relaxed: idle */
    if (slot != 0)
        return (slot ^ entity) >> 32 == 0 ? set_present(world, sparse, (uint32_t)slot, value)
                                          : set_slowly(world, handle, sparse, value);
    weft__chunk *chunk = sparse_chunk_ready(world, sparse);
    if (__builtin_expect(chunk == NULL || world->archetypes.has_residues, 0) ||
        __builtin_expect(!sparse_is_alive(world, entity), 0))
        return set_slowly(world, handle, sparse, value);
    char *to = (char *)weft__chunk_column(chunk, 1) + chunk->count * bytes;
    sparse_row_enter(world, chunk, x_slot, entity);
    return weft__value_put(to, value, bytes);
}

/* ---- values ---- */

/* The value of a row is written; what was there ends. */
static void row_set(weft_world *world, const weft__type *type, weft__sparse_row place,
                    const void *value)
{
    weft__stamp(
        &weft__chunk_versions(place.chunk, 0)[place.row >> place.chunk->layout->slice_shift],
        world->front.version);
    if (type->value_bytes == 0) return;
    void *to = weft__chunk_value(place.chunk, 1, place.row);
    if (type->needs_destruct) weft__type_destruct(&world->memory, type, to, 1);
    weft__value_copy(to, value, type->value_bytes);
}

weft_result weft__sparse_set(weft_world *world, weft_entity entity, const weft__type *type,
                             const void *value)
{
    weft__sparse_row place = {0};
    place.chunk = weft__sparse_find(world, type, entity, &place.row);
    if (place.chunk == NULL) {
        weft_result result = weft__idle(world, "weft_entity_set");
        if (result == WEFT_OK) result = entity_check(world, entity);
        if (result != WEFT_OK) return result;
        place = weft__sparse_add(world, type, entity);
        if (place.chunk == NULL) return world->error->code;
    }
    row_set(world, type, place, value);
    return WEFT_OK;
}

weft_result weft__sparse_set_many(weft_world *world, const weft_entity *entities, uint32_t count,
                                  const weft__type *type, const void *values)
{
    weft_result result = WEFT_OK;
    bool is_absent = false;
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++) {
        result = entity_check(world, entities[i]);
        is_absent = is_absent || !weft__sparse_has(type, entities[i]);
    }
    if (result == WEFT_OK && is_absent) result = weft__idle(world, "weft_entity_set_many");
    if (result == WEFT_OK && is_absent)
        result = weft__sparse_add_many(world, type, entities, count);
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++) {
        weft__sparse_row place = {0};
        place.chunk = weft__sparse_find(world, type, entities[i], &place.row);
        row_set(world, type, place, (const char *)values + i * (size_t)type->value_bytes);
    }
    return result;
}

/* ---- lists of components ---- */

uint32_t weft__sparse_part(const weft_world *world, uint32_t *list, uint32_t *count)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < *count && world->types.sparse != NULL;) {
        uint32_t component = list[i];
        if (world->types.at[component]->sparse == NULL) {
            i++;
            continue;
        }
        memmove(list + i, list + i + 1, (*count - i - 1) * sizeof *list);
        memmove(list + *count - 1, list + *count, found * sizeof *list);
        list[--*count + found++] = component;
    }
    return found;
}

/* All entities may be changed. */
static weft_result entities_check(const weft_world *world, const weft_entity *entities,
                                  uint32_t count, bool is_added)
{
    weft_result result = WEFT_OK;
    weft__directory_prefetch_first(&world->directory, entities, count);
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++) {
        weft__directory_prefetch(&world->directory, entities, count, i);
        result =
            is_added ? entity_check(world, entities[i]) : entity_check_removal(world, entities[i]);
    }
    return result;
}

static void additions_free(weft_world *world, weft__sparse_changes *changes)
{
    WEFT__FREE(&world->memory, WEFT__MEMORY_COMMANDS, changes->additions, changes->add_count);
    changes->additions = NULL;
}

weft_result weft__sparse_changes_prepare(weft_world *world, const weft_entity *entities,
                                         uint32_t count, const uint32_t *add, uint32_t add_count,
                                         weft__sparse_changes *changes)
{
    bool is_added = false;
    for (uint32_t i = 0; i < add_count; i++)
        is_added = is_added || !weft__ids_have(changes->remove, changes->remove_count, add[i]);
    changes->additions = NULL;
    changes->add_count = add_count;
    weft_result result = entities_check(world, entities, count, is_added);
    if (result != WEFT_OK || add_count == 0) return result;
    changes->additions =
        WEFT__NEW_ZEROED(&world->memory, WEFT__MEMORY_COMMANDS, add_count, *changes->additions);
    if (changes->additions == NULL) return weft__error_memory(world, "sparse components");
    for (uint32_t i = 0; i < add_count && result == WEFT_OK; i++) {
        bool is_kept = !weft__ids_have(changes->remove, changes->remove_count, add[i]);
        result = weft__sparse_prepare(world, world->types.at[add[i]], entities, is_kept ? count : 0,
                                      &changes->additions[i]);
        if (result != WEFT_OK) changes->additions[i].type = NULL;
    }
    if (result != WEFT_OK) weft__sparse_changes_cancel(world, entities, count, changes);
    return result;
}

void weft__sparse_changes_commit(weft_world *world, const weft_entity *entities, uint32_t count,
                                 weft__sparse_changes *changes)
{
    for (uint32_t i = 0; i < changes->add_count; i++)
        weft__sparse_commit(world, &changes->additions[i], entities);
    for (uint32_t k = 0; k < changes->remove_count; k++) {
        const weft__type *type = world->types.at[changes->remove[k]];
        for (uint32_t i = 0; i < count; i++) {
            weft__sparse_prefetch(type->sparse, entities, count, i);
            if (weft__sparse_has(type, entities[i]))
                weft__sparse_entity_remove(world, entities[i], type->sparse);
        }
    }
    additions_free(world, changes);
}

void weft__sparse_changes_cancel(weft_world *world, const weft_entity *entities, uint32_t count,
                                 weft__sparse_changes *changes)
{
    for (uint32_t i = 0; i < changes->add_count && changes->additions[i].type != NULL; i++)
        weft__sparse_cancel(world, &changes->additions[i], entities, count);
    additions_free(world, changes);
}

/* ---- queries ---- */

/* The entities of a query's rows; *count is how many. NULL: error set, or none (WEFT_OK). */
static weft_entity *entities_of(weft_world *world, weft_query query, const char *what,
                                uint64_t *count, weft_result *result)
{
    weft__row_walk walk;
    *count = 0;
    *result = weft__idle(world, what);
    if (*result == WEFT_OK) *result = weft__row_walk_begin(&walk, world, query);
    if (*result != WEFT_OK) return NULL;
    *count = weft_query_count(world, query);
    if (*count > UINT32_MAX) *result = weft__error_limit(world, WEFT_LIMIT, what);
    if (*count == 0 || *result != WEFT_OK) return NULL;
    weft_entity *entities = WEFT__NEW(&world->memory, WEFT__MEMORY_COMMANDS, *count, *entities);
    if (entities == NULL) *result = weft__error_memory(world, what);
    if (entities != NULL) weft_query_entities(world, query, entities, *count);
    return entities;
}

/* Without those that were destroyed: they get nothing. Returns how many stay. */
static uint64_t living_keep(const weft_world *world, weft_entity *entities, uint64_t count)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++)
        if (weft__entity_lives(world, entities[i])) entities[kept++] = entities[i];
    return kept;
}

static void all_set(weft_world *world, const weft_entity *entities, uint32_t count,
                    const weft__type *type, const void *value)
{
    for (uint32_t i = 0; i < count; i++) {
        weft__sparse_row place = {0};
        place.chunk = weft__sparse_find(world, type, entities[i], &place.row);
        row_set(world, type, place, value);
    }
}

weft_result weft__sparse_change_query(weft_world *world, weft_query query,
                                      const weft__sparse_query_change *change)
{
    uint64_t count;
    weft_result result;
    weft_entity *entities = entities_of(world, query, change->what, &count, &result);
    if (entities == NULL) return result;
    const uint64_t room = count;
    if (!change->is_remove) count = living_keep(world, entities, count);
    weft__sparse_changes changes = {.remove = &change->type->id,
                                    .remove_count = change->is_remove ? 1 : 0};
    result = weft__sparse_changes_prepare(world, entities, (uint32_t)count, &change->type->id,
                                          change->is_remove ? 0 : 1, &changes);
    if (result == WEFT_OK) {
        weft__sparse_changes_commit(world, entities, (uint32_t)count, &changes);
        if (change->value != NULL)
            all_set(world, entities, (uint32_t)count, change->type, change->value);
    }
    WEFT__FREE(&world->memory, WEFT__MEMORY_COMMANDS, entities, room);
    return result;
}

/* ---- copies ---- */

weft_result weft__sparse_copies_prepare(weft_world *world, weft_entity source, uint32_t count,
                                        const weft_entity *named, const weft__row_ids *ids,
                                        weft__sparse_copies *out)
{
    const weft__type *type = NULL;
    while ((type = weft__entity_next_sparse(world, source, type)) != NULL) out->type_count++;
    if (out->type_count == 0) return WEFT_OK;
    out->items =
        WEFT__NEW_ZEROED(&world->memory, WEFT__MEMORY_COMMANDS, out->type_count, *out->items);
    if (out->items == NULL) return weft__error_memory(world, "weft_entity_instantiate");
    weft_result result = WEFT_OK;
    while ((type = weft__entity_next_sparse(world, source, type)) != NULL && result == WEFT_OK)
        result =
            weft__sparse_prepare_new(world, type, named, ids, count, &out->items[out->count++]);
    return result;
}

/* The rows are new, zeroed and constructed: they become copies of the value of `source`. */
static void values_copy(weft_world *world, const weft__type *type, weft_entity source,
                        const weft_entity *copies, uint32_t count)
{
    uint32_t row, at;
    const weft__chunk *from = weft__sparse_find(world, type, source, &row);
    for (uint32_t i = 0; i < count; i++) {
        const weft__chunk *to = weft__sparse_find(world, type, copies[i], &at);
        void *value = weft__chunk_value(to, 1, at);
        if (type->needs_destruct) weft__type_destruct(&world->memory, type, value, 1);
        weft__type_replicate(&world->memory, type, value, weft__chunk_value(from, 1, row), 1);
    }
}

static void copies_free(weft_world *world, weft__sparse_copies *copies)
{
    WEFT__FREE(&world->memory, WEFT__MEMORY_COMMANDS, copies->items, copies->type_count);
    *copies = (weft__sparse_copies){0};
}

void weft__sparse_copies_commit(weft_world *world, weft__sparse_copies *copies, weft_entity source,
                                const weft_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < copies->count; i++) {
        const weft__type *type = copies->items[i].type;
        weft__sparse_commit_new(world, &copies->items[i], entities, count);
        if (type->value_bytes != 0) values_copy(world, type, source, entities, count);
    }
    copies_free(world, copies);
}

void weft__sparse_copies_cancel(weft_world *world, weft__sparse_copies *copies)
{
    while (copies->count != 0) weft__sparse_cancel(world, &copies->items[--copies->count], NULL, 0);
    copies_free(world, copies);
}
