/* entity.c: changes of single entities: set a value, destroy, swap. Add, remove and set
 * archetype are in entity_change.c; arrays are in entity_many.c. */
#include "batch.h"
#include "entity_value.h"
#include "owner_loop.h"
#include "row_move.h"

#include <string.h>

weft_component weft_component_prefab(const weft_world *world)
{
    return world == NULL ? WEFT__NO_COMPONENT : world->builtin.prefab;
}

weft_component weft_component_inactive(const weft_world *world)
{
    return world == NULL ? WEFT__NO_COMPONENT : world->builtin.inactive;
}

weft_component weft_component_linked_group(const weft_world *world)
{
    return world == NULL ? WEFT__NO_COMPONENT : world->builtin.linked_group;
}

/* ---- values ---- */

/* What to call instead for a kind that has no plain value of its own. */
static const char *plain_advice(uint32_t flags)
{
    if ((flags & WEFT_SHARED) != 0) return "SHARED: use weft_entity_set_shared";
    if ((flags & WEFT_BUFFER) != 0)
        return "a BUFFER: add it, then fill it (weft_entity_write_buffer, weft_buffers_append)";
    if ((flags & WEFT_CHUNK) != 0)
        return "a CHUNK value, which no entity owns: add it, then write it in a loop over a query "
               "(weft_slice_write_chunk)";
    return "a RESOURCE, not part of entities: use weft_resource_write";
}

/* OK when `size` bytes are a value of this type; tags take size 0. */
static weft_result value_check(const weft_world *world, const weft__type *type, const void *value,
                               size_t size, const char *what)
{
    const weft_component component = weft__component(world, type->id);
    uint32_t refused = type->desc.flags & (WEFT_SHARED | WEFT_BUFFER | WEFT_RESOURCE | WEFT_CHUNK);
    if (refused != 0)
        return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
                           "%s: component \"%s\" is %s", what, type->desc.name,
                           plain_advice(refused));
    if (size != type->desc.size)
        return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
                           "%s: component \"%s\" has %zu bytes, the value %zu: pass the sizeof of "
                           "its type",
                           what, type->desc.name, type->desc.size, size);
    if (value == NULL && size != 0)
        return weft__error_argument(world, what, "value is NULL: give its address");
    return WEFT_OK;
}

static void value_set(weft_world *world, const weft__chunk *chunk, uint32_t row,
                      const weft__type_slot *slot, const void *value)
{
    const weft__type *type = chunk->archetype->types[slot->type].type;
    weft__slot_stamp(world, chunk, row, slot);
    void *to = weft__slot_value(chunk, row, slot);
    if (to == NULL) return; /* a tag */
    if (type->needs_destruct) weft__type_destruct(&world->memory, type, to, 1);
    memcpy(to, value, type->desc.size);
    if (WEFT_IS_CHECKED) weft__owner_loops_wrote(world, chunk, slot->column, row, 1);
}

weft_result weft_entity_set(weft_world *world, weft_entity entity, weft_component component,
                            const void *value, size_t size)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) return weft__error_component(world, component);
    weft_result result = value_check(world, type, value, size, "weft_entity_set");
    if (result != WEFT_OK) return result;
    if ((world->busy & WEFT__BUSY_WRITING) != 0) return weft__idle(world, "weft_entity_set");
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    if (chunk == NULL) return weft__error_stale(world, entity);
    const weft__type_slot *slot = weft__slot_find(world, chunk, component);
    if (slot == NULL) {
        result = weft_entity_add(world, entity, component);
        if (result != WEFT_OK) return result;
        chunk = weft__entity_chunk(world, entity, &row);
        slot = weft__slot_find(world, chunk, component);
    }
    value_set(world, chunk, row, slot, value);
    return WEFT_OK;
}

/* All entities are alive and have the component afterwards. */
static weft_result all_have(weft_world *world, const weft_entity *entities, uint32_t count,
                            weft_component component, const char *what)
{
    bool is_absent = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row;
        const weft__chunk *chunk = weft__entity_chunk(world, entities[i], &row);
        if (chunk == NULL) return weft__error_stale(world, entities[i]);
        is_absent = is_absent || weft__slot_find(world, chunk, component) == NULL;
    }
    return is_absent ? weft__entities_add(world, entities, count, component.id, what) : WEFT_OK;
}

weft_result weft_entity_set_many(weft_world *world, const weft_entity *entities, uint32_t count,
                                 weft_component component, const void *values, size_t size)
{
    const char *what = "weft_entity_set_many";
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) return weft__error_component(world, component);
    if (entities == NULL && count != 0)
        return weft__error_argument(world, what, "entities is NULL: give an array of `count`");
    weft_result result = value_check(world, type, count == 0 ? what : values, size, what);
    if (result != WEFT_OK) return result;
    if ((world->busy & WEFT__BUSY_WRITING) != 0) return weft__idle(world, what);
    result = all_have(world, entities, count, component, what);
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++) {
        uint32_t row;
        const weft__chunk *chunk = weft__entity_chunk(world, entities[i], &row);
        value_set(world, chunk, row, weft__slot_find(world, chunk, component),
                  size == 0 ? NULL : (const char *)values + i * size);
    }
    return result;
}

/* ---- destroy ---- */

static __attribute__((noinline)) weft_result destroy_generally(weft_world *world,
                                                               weft_entity entity)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_entity_destroy");
    if (result != WEFT_OK) return result;
    uint32_t row;
    weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    if (chunk == NULL) return weft__error_stale(world, entity);
    uint32_t slow = WEFT__HAS_CLEANUP | WEFT__HAS_LINKED_GROUP;
    if ((chunk->archetype->flags & slow) != 0) return weft__destroy_all(world, &entity, 1);
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
    if (__builtin_expect(world == NULL || world->busy != 0, 0)) return false;
    uint32_t index = entity.index ^ world->directory.tag_bits;
    weft__entity_block *block = weft__directory_block(&world->directory, index);
    if (__builtin_expect(block == NULL, 0)) return false;
    uint64_t slot = at_load_rlx(&block->x_slots[index % WEFT__BLOCK_SLOTS]); /* relaxed: idle */
    uint32_t location = (uint32_t)slot;
    if (__builtin_expect(slot >> 32 != entity.version || location == 0, 0)) return false;
    weft__chunk *chunk = world->berths.at[location >> WEFT__BERTH_SHIFT].chunk;
    return weft__row_die_plainly(world, chunk, location - chunk->location, block, index,
                                 entity.version);
}

weft_result weft_entity_destroy(weft_world *world, weft_entity entity)
{
    return destroy_leanly(world, entity) ? WEFT_OK : destroy_generally(world, entity);
}

/* ---- swap ---- */

static void bytes_swap(char *a, char *b, size_t bytes)
{
    char scratch[256];
    for (size_t done = 0; done < bytes; done += sizeof scratch) {
        size_t n = bytes - done < sizeof scratch ? bytes - done : sizeof scratch;
        memcpy(scratch, a + done, n);
        memcpy(a + done, b + done, n);
        memcpy(b + done, scratch, n);
    }
}

static void bit_swap(const weft__chunk *a, uint32_t row_a, const weft__chunk *b, uint32_t row_b,
                     uint32_t enableable)
{
    weft_a64 *x_a = &weft__chunk_disabled(a, enableable)[row_a / 64];
    weft_a64 *x_b = &weft__chunk_disabled(b, enableable)[row_b / 64];
    uint64_t bit_a = UINT64_C(1) << row_a % 64, bit_b = UINT64_C(1) << row_b % 64;
    /* relaxed: the world is idle */
    bool is_a = (at_load_rlx(x_a) & bit_a) != 0, is_b = (at_load_rlx(x_b) & bit_b) != 0;
    if (is_a == is_b) return;
    uint32_t shift = a->layout->slice_shift;
    weft_a32 *x_count_a = &weft__chunk_disabled_counts(a, enableable)[row_a >> shift];
    weft_a32 *x_count_b = &weft__chunk_disabled_counts(b, enableable)[row_b >> shift];
    at_store_rlx(x_a, at_load_rlx(x_a) ^ bit_a); /* relaxed: idle */
    at_store_rlx(x_b, at_load_rlx(x_b) ^ bit_b); /* relaxed: idle */
    uint32_t one = is_a ? 1u : UINT32_MAX;
    at_store_rlx(x_count_a, at_load_rlx(x_count_a) - one); /* relaxed: idle */
    at_store_rlx(x_count_b, at_load_rlx(x_count_b) + one); /* relaxed: idle */
}

static void rows_swap(const weft_world *world, const weft__chunk *a, uint32_t row_a,
                      const weft__chunk *b, uint32_t row_b)
{
    const weft__archetype *archetype = a->archetype;
    for (uint32_t column = 1; column < a->layout->column_count; column++)
        bytes_swap(weft__chunk_value(a, column, row_a), weft__chunk_value(b, column, row_b),
                   a->layout->columns[column].bytes);
    uint32_t shift = a->layout->slice_shift;
    for (uint32_t type = 0; type < archetype->type_count; type++) {
        weft__stamp(weft__chunk_versions(a, type) + (row_a >> shift), world->version);
        weft__stamp(weft__chunk_versions(b, type) + (row_b >> shift), world->version);
        uint32_t enableable = archetype->types[type].enableable;
        if (enableable != WEFT__NONE) bit_swap(a, row_a, b, row_b, enableable);
    }
}

weft_result weft_entity_swap(weft_world *world, weft_entity a, weft_entity b)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_entity_swap");
    if (result != WEFT_OK) return result;
    uint32_t row_a, row_b;
    const weft__chunk *chunk_a = weft__entity_chunk(world, a, &row_a);
    const weft__chunk *chunk_b = weft__entity_chunk(world, b, &row_b);
    if (chunk_a == NULL) return weft__error_stale(world, a);
    if (chunk_b == NULL) return weft__error_stale(world, b);
    if (chunk_a->tuple != chunk_b->tuple)
        return weft__error(world, WEFT_TYPE_MISMATCH, a, WEFT__NO_COMPONENT,
                           "weft_entity_swap: the entities differ in archetype or shared values: "
                           "bring both to one with weft_entity_set_archetype or "
                           "weft_entity_set_shared");
    if (chunk_a != chunk_b || row_a != row_b) rows_swap(world, chunk_a, row_a, chunk_b, row_b);
    return WEFT_OK;
}
