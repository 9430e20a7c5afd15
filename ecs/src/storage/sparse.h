/* SPDX-License-Identifier: MIT */
/* sparse.h: SPARSE components: rows of their own, which come and go without moving the entity.
 *
 * The values of a SPARSE component lie in chunks of an archetype of their own, {component}, whose
 * entity column names who has each value. So queries on it alone, change versions, filters,
 * snapshots and files treat them as any rows. Where the row of an entity is, a slot says: the slots
 * come in blocks as those of the entity directory (version << 32 | location, 0: has none), so that
 * look-ups by maps and finders are the same code and cost the same.
 *
 * Threads: changed by the owner while the world is idle, or by the owner in playback; read by any
 * thread otherwise. */
#pragma once

#include "column_map.h"
#include "private_chunk.h"
#include "structure.h"

/* Owned by its type; ends with the world. Always, for each entity:
 *   its slot is 0, or its version is the entity's, which is alive and no residue, and the location
 *   is that of the row of `archetype` whose entity it is;
 *   archetype == NULL: every slot is 0.
 * The table of blocks is address space for all that can be. */
typedef struct weft__sparse {
    _Alignas(64) weft__entity_block **blocks; /* [upper bits of an index], as
                                                 weft__column_maps.seen */
    const weft__tuple *tuple; /* of the rows, where one is no more than bytes; else, and until it
                                   is made, one that never has room */
    const weft__type *type;
    uint32_t value_bytes;       /* of the type */
    uint32_t slice_shift;       /* of its chunks, once `archetype` is made */
    bool is_special;            /* a row is more than bytes */
    weft__archetype *archetype; /* of its rows; NULL until it is made (archetype.c) */
    const weft_world *world;
    const weft__type *next; /* of the list of the world */
    uint32_t block_count;   /* that were made */
} weft__sparse;

/* A component as one word; 0: the null one. Copied: the compiler would put it together. */
static inline uint64_t weft__sparse_key(weft_component component)
{
    uint64_t key;
    memcpy(&key, &component, sizeof key);
    return key;
}

/* Where entities with a component of this type have their row; NULL: they have none. */
static inline weft__chunk *weft__sparse_find(const weft_world *world, const weft__type *type,
                                             weft_entity entity, uint32_t *row)
{
    weft__entity_block *const *blocks = type->sparse->blocks;
    *row = 0;
    const weft__entity_block *block = blocks[entity.index / WEFT__BLOCK_SLOTS];
    if (block == NULL) return NULL;
    /* relaxed: changed by the owner, while no other thread reads it; ordered by the next start */
    uint64_t slot = at_load_rlx(&block->x_slots[entity.index % WEFT__BLOCK_SLOTS]);
    if (slot >> 32 != entity.version || (uint32_t)slot == 0) return NULL;
    weft__chunk *chunk = world->berths.at[(uint32_t)slot >> WEFT__BERTH_SHIFT].chunk;
    *row = (uint32_t)slot - chunk->location;
    return chunk;
}

/* Whether an entity has a component of this type; a dead one has none. */
static inline bool weft__sparse_has(const weft__type *type, weft_entity entity)
{
    weft__entity_block *const *blocks = type->sparse->blocks;
    const weft__entity_block *block = blocks[entity.index / WEFT__BLOCK_SLOTS];
    if (block == NULL) return false;
    /* relaxed: as weft__sparse_find */
    uint64_t slot = at_load_rlx(&block->x_slots[entity.index % WEFT__BLOCK_SLOTS]);
    return slot >> 32 == entity.version && (uint32_t)slot != 0;
}

/* Fetches the slot that an array of entities needs 16 entities after `i`. Inlined early: gcc takes
 * a function that only prefetches for one that does nothing. */
static inline __attribute__((always_inline)) void weft__sparse_prefetch(const weft__sparse *sparse,
                                                                        const weft_entity *entities,
                                                                        uint32_t count, uint32_t i)
{
    enum { AHEAD = 16 };
    if (i + AHEAD >= count) return;
    const uint32_t index = entities[i + AHEAD].index;
    const weft__entity_block *block = sparse->blocks[index / WEFT__BLOCK_SLOTS];
    if (block != NULL) __builtin_prefetch(&block->x_slots[index % WEFT__BLOCK_SLOTS], 1);
}

/* The newest change version of the values that the entities of rows [first, first + count) have; 0:
 * they have none. Any thread that may read them. */
uint32_t weft__sparse_newest(const weft__type *type, const weft__chunk *chunk, uint32_t first,
                             uint32_t count);
/* Makes what a SPARSE type has beside its description. False: no memory. */
bool weft__sparse_create(weft_world *world, weft__type *type);
/* Frees it; its rows are freed with the chunks. NULL where the type is not SPARSE. */
void weft__sparse_destroy(weft_world *world, weft__sparse *sparse);
/* Lists it among the SPARSE types of its world. */
void weft__sparse_enlist(weft_world *world, const weft__type *type);

/* A row that an entity has, or got. A value. */
typedef struct weft__sparse_row {
    weft__chunk *chunk; /* NULL: error set */
    uint32_t row;
    bool is_new;
} weft__sparse_row;

/* The row of an alive entity, made if it has none: zeroed and constructed. Owner, world idle. Fails
 * for want of memory only, and changes nothing then. */
weft__sparse_row weft__sparse_add(weft_world *world, const weft__type *type, weft_entity entity);

/* The same for many entities, duplicates are fine, in two steps: what can fail, then what
 * cannot; or back. `entities` is the same array in both. Between them nothing of the type
 * changes. Lives on the caller's stack; commit or cancel frees `spans`. */
typedef struct weft__sparse_addition {
    const weft__type *type;
    weft__spans spans; /* of the new rows, which count already */
} weft__sparse_addition;
weft_result weft__sparse_prepare(weft_world *world, const weft__type *type,
                                 const weft_entity *entities, uint32_t count,
                                 weft__sparse_addition *out);
void weft__sparse_commit(weft_world *world, weft__sparse_addition *addition,
                         const weft_entity *entities);
void weft__sparse_cancel(weft_world *world, weft__sparse_addition *addition,
                         const weft_entity *entities, uint32_t count);
/* The same for `count` new entities: `named`, or (NULL) those that get their ids between the two
 * steps, out of these shares. Back: weft__sparse_cancel with no entities. */
weft_result weft__sparse_prepare_new(weft_world *world, const weft__type *type,
                                     const weft_entity *named, const weft__row_ids *ids,
                                     uint32_t count, weft__sparse_addition *out);
void weft__sparse_commit_new(weft_world *world, weft__sparse_addition *addition,
                             const weft_entity *entities, uint32_t count);
/* Both steps. */
weft_result weft__sparse_add_many(weft_world *world, const weft__type *type,
                                  const weft_entity *entities, uint32_t count);
/* Takes the row of an entity away; the value is destructed. False: it has none. */
bool weft__sparse_remove(weft_world *world, const weft__type *type, weft_entity entity);
/* As weft__sparse_remove for all SPARSE types, of which there are some: rows of a chunk that
 * die, or become residues. `rows` and `first` as for weft__rows_close. */
void weft__sparse_forget_rows(weft_world *world, const weft__chunk *chunk, const uint32_t *rows,
                              uint32_t first, uint32_t count);
/* The same in any world. */
static inline void weft__sparse_forget(weft_world *world, const weft__chunk *chunk,
                                       const uint32_t *rows, uint32_t first, uint32_t count)
{
    if (__builtin_expect(world->types.sparse != NULL, 0))
        weft__sparse_forget_rows(world, chunk, rows, first, count);
}

/* Rows become residues: they are dead from here on, and have nothing SPARSE. */
void weft__rows_retire(weft_world *world, const weft__chunk *chunk, const uint32_t *rows,
                       uint32_t first, uint32_t count);

/* ---- for files, snapshots and transfers: rows and slots apart ---- */

/* Slots for all entities that there may be without more blocks of the directory. False: no
 * memory. */
bool weft__sparse_reserve_all(weft_world *world, const weft__type *type);
/* Empties the slot of an entity that has a row of this chunk. */
void weft__sparse_clear(const weft__chunk *chunk, weft_entity entity);
/* Fills the hole of a row whose slot is empty; the count of the chunk falls: settle it. */
void weft__sparse_close_row(weft_world *world, weft__chunk *chunk, uint32_t row);
/* Notes the rows [first, first + count) of a chunk of a SPARSE archetype in the slots of their
 * entities, which are there; or empties the slots that lead to these rows. */
void weft__sparse_enter(const weft__chunk *chunk, uint32_t first, uint32_t count);
void weft__sparse_leave(const weft__chunk *chunk, uint32_t first, uint32_t count);

/* The type whose rows a SPARSE archetype has. */
static inline const weft__type *weft__sparse_type(const weft__archetype *archetype)
{
    return archetype->types[0].type;
}
