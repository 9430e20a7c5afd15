/* SPDX-License-Identifier: MIT */
/* entity_set.c: values given to entities, one or many: the component is added where it is absent,
 * then the value takes the place of the old one, which is destructed.
 *
 * Owner, world idle. The value itself is checked before anything changes. */
#include "component_check.h"
#include "entity_change.h"
#include "entity_change_many.h"
#include "entity_sparse.h"
#include "entity_value.h"
#include "error.h"
#include "prefab.h"
#include "slice_ops.h"
#include "structure.h"

#include <string.h>

/* What to call instead for a kind that has no plain value of its own. */
static const char *plain_advice(uint32_t flags)
{
    if ((flags & WEFT_RESOURCE) != 0)
        return "a RESOURCE, not part of entities: use weft_resource_write";
    if ((flags & WEFT_SHARED) != 0) return "SHARED: use weft_entity_set_shared";
    if ((flags & WEFT_BUFFER) != 0)
        return "a BUFFER: add it, then fill it (weft_entity_write_buffer, weft_buffers_append)";
    return "a CHUNK value, which no entity owns: add it, then write it in a loop over a query "
           "(weft_slice_write_chunk)";
}

/* OK when `size` bytes are a value of this type; tags take size 0. */
static weft_result value_check(const weft_world *world, const weft__type *type, const void *value,
                               size_t size, const char *what)
{
    const weft_component component = weft__component(world, type->id);
    if (weft__type_is_residue_tag(world, type)) return weft__error_residue_tag(world, what);
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
}

/* Sets of any kind, with every check and every error. */
static __attribute__((noinline)) weft_result set_generally(weft_world *world, weft_entity entity,
                                                           weft_component component,
                                                           const void *value, size_t size)
{
    const weft__type *type = world->types.at[component.id];
    weft_result result = value_check(world, type, value, size, "weft_entity_set");
    if (result == WEFT_OK) result = weft__values_check(world, type, value, 1);
    if (result == WEFT_OK) result = weft__may_write(world, "weft_entity_set");
    if (result != WEFT_OK) return result;
    if (type->sparse != NULL) return weft__sparse_set(world, entity, type, value);
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    if (chunk == NULL) return weft__error_stale(world, entity);
    const weft__type_slot *slot = weft__slot_find(world, chunk, component);
    if (slot == NULL || weft__prefab_follows(world, chunk->archetype, component.id)) {
        result = weft_entity_add(world, entity, component);
        if (result != WEFT_OK) return result;
        chunk = weft__entity_chunk(world, entity, &row);
        slot = weft__slot_find(world, chunk, component);
    }
    value_set(world, chunk, row, slot, value);
    return WEFT_OK;
}

/* Sets that are no more than bytes over bytes in no way. */
static __attribute__((noinline)) weft_result set_otherwise(weft_world *world, weft_entity entity,
                                                           weft_component component,
                                                           const void *value, size_t size)
{
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) return weft__error_component(world, component);
    weft_result result;
    bool is_plain = size == type->plain_bytes && size != 0 && value != NULL;
    if (is_plain && !(WEFT_IS_CHECKED && type->desc.is_checked) &&
        weft__entity_add_value(world, weft__entity_bits(entity), weft__change_key(component), value,
                               size, &result))
        return result;
    return set_generally(world, entity, component, value, size);
}

/* Bytes over those of a component that the entity has in its row, where it is that simple. */
static __attribute__((noinline)) weft_result set_in_row(weft_world *world, weft_entity entity,
                                                        weft_component component, const void *value,
                                                        size_t size)
{
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    const weft__type_slot *slot =
        chunk == NULL ? NULL : weft__archetype_slot(chunk->archetype, component.id);
    if (__builtin_expect(slot == NULL, 0))
        return set_otherwise(world, entity, component, value, size);
    weft__slot_stamp(world, chunk, row, slot);
    return weft__value_put(weft__chunk_value(chunk, slot->column, row), value, size);
}

/* By the kind of the component. Calls come last here and below, so that no registers are saved. */
static __attribute__((noinline)) weft_result set_by_kind(weft_world *world, weft_entity entity,
                                                         weft_component component,
                                                         const void *value, size_t size)
{
    const weft__type *type = weft__type_at(world, component);
    if (WEFT_IS_CHECKED || __builtin_expect(type == NULL || value == NULL, 0))
        return set_otherwise(world, entity, component, value, size);
    if (type->sparse != NULL && size == type->value_bytes && size != 0)
        return weft__sparse_entity_set(world, entity, type->sparse, value);
    if (size != type->plain_bytes || size == 0 ||
        __builtin_expect((world->front.busy & WEFT__BUSY_WRITING) != 0, 0))
        return set_otherwise(world, entity, component, value, size);
    return set_in_row(world, entity, component, value, size);
}

/* A value that goes with its row, as the last one did, or any other. */
static inline __attribute__((always_inline)) weft_result
set(weft_world *world, weft_entity entity, weft_component component, const void *value, size_t size)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    const uint64_t key = weft__change_key(component);
    if (!WEFT_IS_CHECKED && world->quick.key == key && size == world->quick.bytes &&
        value != NULL) {
        weft_a64 *x_slot;
        uint64_t slot;
        weft__chunk *from = weft__changed_chunk(world, weft__entity_bits(entity), &x_slot, &slot);
        if (__builtin_expect(from != NULL, 1) && weft__quick_leads(&world->quick, from))
            return weft__row_leave(world, x_slot, slot, value);
    }
    return set_by_kind(world, entity, component, value, size);
}

weft_result weft_entity_set(weft_world *world, weft_entity entity, weft_component component,
                            const void *value, size_t size)
{
    return set(world, entity, component, value, size);
}

weft_result weft_entity_set_as(weft_world *world, weft_entity entity, weft_component component,
                               const void *value, size_t size, const char *type)
{
    const weft__type *held =
        WEFT_IS_CHECKED && world != NULL ? weft__type_at(world, component) : NULL;
    if (held != NULL && held->value_bytes == size && (held->desc.flags & WEFT_BUFFER) == 0 &&
        !weft__slice_is_type(held, size, type))
        return weft__error(world, WEFT_TYPE_MISMATCH, entity, component,
                           "WEFT_SET: component \"%s\" is set with a %s, another type of the same "
                           "size: name the type that it was registered with",
                           held->desc.name, type);
    return set(world, entity, component, value, size);
}

/* All entities are alive and have the component afterwards. */
static weft_result all_have(weft_world *world, const weft_entity *entities, uint32_t count,
                            weft_component component, const char *what)
{
    bool is_absent = false;
    weft__directory_prefetch_first(&world->directory, entities, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row;
        weft__directory_prefetch(&world->directory, entities, count, i);
        const weft__chunk *chunk = weft__entity_chunk(world, entities[i], &row);
        if (chunk == NULL) return weft__error_stale(world, entities[i]);
        is_absent = is_absent || weft__slot_find(world, chunk, component) == NULL ||
                    weft__prefab_follows(world, chunk->archetype, component.id);
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
    if (result == WEFT_OK) result = weft__values_check(world, type, values, count);
    if (result == WEFT_OK) result = weft__may_write(world, what);
    if (result != WEFT_OK) return result;
    if (type->sparse != NULL) return weft__sparse_set_many(world, entities, count, type, values);
    result = all_have(world, entities, count, component, what);
    weft__directory_prefetch_first(&world->directory, entities, count);
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++) {
        uint32_t row;
        weft__directory_prefetch(&world->directory, entities, count, i);
        const weft__chunk *chunk = weft__entity_chunk(world, entities[i], &row);
        value_set(world, chunk, row, weft__slot_find(world, chunk, component),
                  size == 0 ? NULL : (const char *)values + i * size);
    }
    return result;
}
