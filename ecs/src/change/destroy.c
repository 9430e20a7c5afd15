/* SPDX-License-Identifier: MIT */
/* destroy.c: death of rows: ids, destructors, holes; rows with cleanup components move to their
 * residue instead; linked groups are followed. Arrays of entities go through a batch, so
 * that nothing has happened when memory runs out. Owner, serial. */
#include "destroy.h"

#include "batch.h"
#include "directory.h"
#include "entity_tag.h"
#include "entity_value.h"
#include "error.h"
#include "linked_group.h"
#include "name_table.h"
#include "sparse.h"
#include "structure.h"
#include "unmake.h"

/* Rows end for good, whatever cleanup components they have. */
weft_result weft__rows_die(weft_world *world, weft__chunk *chunk, const uint32_t *rows,
                           uint32_t first, uint32_t count)
{
    const weft_entity *entities = weft__chunk_entities(chunk);
    weft__sparse_forget(world, chunk, rows, first, count);
    if (rows == NULL)
        weft__directory_free_many_owner(&world->directory, entities + first, count);
    else
        weft__directory_free_rows_owner(&world->directory, entities, rows, count);
    weft__rows_discard(world, NULL, chunk, rows, first, count);
    weft__rows_close(world, chunk, rows, first, count);
    weft__chunk_settle(world, chunk, count);
    return WEFT_OK;
}

static bool member_add(void *user, weft_entity member, weft__chunk *chunk, uint32_t row)
{
    (void)member;
    return weft__batch_add(user, (weft__row_run){chunk, row, row + 1});
}

/* Adds entities with the members of their linked groups; dead ones are skipped. *flags: all those
 * of the roots' archetypes. */
static bool roots_add(weft__batch *batch, const weft_entity *entities, uint32_t count,
                      uint32_t *flags)
{
    weft_world *world = batch->change->world;
    weft__row_run run = {0};
    weft__directory_prefetch_first(&world->directory, entities, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row;
        weft__directory_prefetch(&world->directory, entities, count, i);
        weft__chunk *chunk = weft__entity_chunk(world, entities[i], &row);
        if (chunk == NULL) continue;
        if (!weft__batch_join(batch, &run, chunk, row)) return false;
        uint32_t own = chunk->archetype->flags;
        *flags |= own;
        if ((own & WEFT__HAS_LINKED_GROUP) != 0 &&
            !weft__group_each(world, chunk, row, member_add, batch))
            return false;
    }
    return weft__batch_add(batch, run);
}

static bool row_die_plainly(weft_world *world, weft__chunk *chunk, uint32_t row)
{
    weft_entity entity = weft__chunk_entities(chunk)[row];
    uint32_t index = entity.index ^ world->directory.tag_bits;
    weft__entity_block *block = weft__directory_block(&world->directory, index);
    uint32_t special = WEFT__IS_SPECIAL;
    if (weft__row_has_bits(chunk, row)) special |= WEFT__HAS_BITS;
    weft__sparse_forget(world, chunk, NULL, row, 1);
    return weft__row_die_plainly(world, chunk, row, block, entity, special);
}

/* The rows of a short array that all end for good: chunk by chunk, without parts. */
static weft_result keys_die(weft__batch *batch)
{
    weft__change *change = batch->change;
    weft_world *world = change->world;
    if (!weft__batch_sort(batch)) return weft__error_memory(world, "destruction of entities");
    const uint64_t *keys = batch->sorted;
    while (change->rows.count < batch->key_count) {
        uint64_t key = keys[change->rows.count];
        bool is_last = change->rows.count + 1 == batch->key_count;
        if ((is_last || (keys[change->rows.count + 1] ^ key) >> 32 != 0) &&
            row_die_plainly(world, world->chunks.at[key >> 32], (uint32_t)key)) {
            change->rows.count++;
            continue;
        }
        weft__change_part part = weft__batch_next(batch);
        weft__rows_die(world, part.chunk, weft__change_rows(change, &part), part.first, part.count);
    }
    return WEFT_OK;
}

static weft_result parts_die(weft__batch *batch)
{
    weft__change *change = batch->change;
    weft_result result = WEFT_OK;
    if (!weft__batch_finish(batch))
        return weft__error_memory(change->world, "destruction of entities");
    for (uint32_t i = 0; i < change->parts.count && result == WEFT_OK; i++)
        result = weft__change_destroy(change, &change->parts.at[i]);
    return weft__change_finish(change, result);
}

/* Alive ones among the entities, with their linked groups. All or none. */
static weft_result destroy_all(weft_world *world, const weft_entity *entities, uint32_t count)
{
    weft__change_room room;
    weft__change change = {.world = world, .room = &room, .moves_whole = true};
    weft__batch batch;
    weft__batch_begin(&batch, &change, entities, count);
    weft_result result;
    uint32_t flags = 0;
    if (!roots_add(&batch, entities, count, &flags))
        result = weft__error_memory(world, "destruction of entities");
    else if (batch.keys != NULL && (flags & WEFT__HAS_CLEANUP) == 0)
        result = keys_die(&batch);
    else
        result = parts_die(&batch);
    weft__batch_fini(&batch);
    weft__change_fini(&change);
    return result;
}

/* ---- entities ---- */

void weft__entity_unmake(weft_world *world, weft_entity entity)
{
    const weft__name_key none = {.text = ""};
    uint32_t row, index = entity.index ^ world->directory.tag_bits;
    weft__chunk *chunk = weft__living_chunk(world, entity, &row);
    if (chunk == NULL) return;
    weft__name_set(world, entity, &none); /* cannot fail */
    weft__rows_die(world, chunk, NULL, row, 1);
    weft__directory_force(&world->directory, index, entity.version - 1, 0);
}

static __attribute__((noinline)) weft_result destroy_generally(weft_world *world,
                                                               weft_entity entity)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_entity_destroy");
    if (result != WEFT_OK) return result;
    uint32_t row;
    weft__chunk *chunk = weft__living_chunk(world, entity, &row);
    if (chunk == NULL) return weft__error_stale(world, entity);
    uint32_t slow = WEFT__HAS_CLEANUP | WEFT__HAS_LINKED_GROUP;
    if ((chunk->archetype->flags & slow) != 0) return destroy_all(world, &entity, 1);
    if (row_die_plainly(world, chunk, row)) return WEFT_OK;
    uint32_t index = entity.index ^ world->directory.tag_bits;
    weft__entity_block *block = weft__directory_block(&world->directory, index);
    if (!weft__directory_kill_owner(&world->directory, block, index, entity.version))
        weft__directory_free_owner(&world->directory, entity);
    if ((chunk->archetype->flags & WEFT__NEEDS_DESTRUCT) != 0)
        weft__rows_discard(world, NULL, chunk, NULL, row, 1);
    weft__row_end(world, chunk, row);
    return WEFT_OK;
}

/* The whole destruction where nothing is special; false: it is, and nothing was done. */
static inline __attribute__((always_inline)) bool destroy_leanly(weft_world *world,
                                                                 weft_entity entity)
{
    if (__builtin_expect(world == NULL, 0) || !weft__is_idle(world)) return false;
    if (__builtin_expect(world->types.sparse != NULL, 0)) return false;
    uint32_t index = entity.index ^ world->directory.tag_bits;
    weft__entity_block *block = weft__directory_block(&world->directory, index);
    if (__builtin_expect(block == NULL, 0)) return false;
    uint64_t slot = at_load_rlx(&block->x_slots[index % WEFT__BLOCK_SLOTS]); /* relaxed: idle */
    uint32_t location = (uint32_t)slot;
    if (__builtin_expect(slot >> 32 != entity.version || location == 0, 0)) return false;
    weft__chunk *chunk = world->berths.at[location >> WEFT__BERTH_SHIFT].chunk;
    return weft__row_die_plainly(world, chunk, location - chunk->location, block, entity,
                                 WEFT__IS_SPECIAL | WEFT__HAS_BITS);
}

weft_result weft_entity_destroy(weft_world *world, weft_entity entity)
{
    return destroy_leanly(world, entity) ? WEFT_OK : destroy_generally(world, entity);
}

weft_result weft_entity_destroy_many(weft_world *world, const weft_entity *entities, uint32_t count)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_entity_destroy_many");
    if (result != WEFT_OK) return result;
    if (entities == NULL && count != 0)
        return weft__error_argument(world, "weft_entity_destroy_many",
                                    "entities is NULL: give an array of `count`");
    uint32_t foreign = weft__foreign_find(&world->directory, entities, count);
    if (foreign != count) return weft__error_stale(world, entities[foreign]);
    return destroy_all(world, entities, count);
}
