/* SPDX-License-Identifier: MIT */
/* entity_value.c: look-up of one entity: whether it is alive, what it has, and its values.
 *
 * Nothing here changes which components an entity has. Reading takes the map of the component first
 * (column_map.h), and counts where there is none yet. */
#include "entity_value.h"

#include "column_map.h"
#include "error.h"
#include "sparse.h"
#include "world_state.h"

/* ---- questions ---- */

bool weft_entity_is_alive(const weft_world *world, weft_entity entity)
{
    return world != NULL && weft__entity_lives(world, entity);
}

weft_archetype weft_entity_archetype(const weft_world *world, weft_entity entity)
{
    uint32_t row;
    const weft__chunk *chunk = world == NULL ? NULL : weft__entity_chunk(world, entity, &row);
    return weft__archetype_give(world, chunk == NULL ? NULL : chunk->archetype);
}

bool weft_entity_has(const weft_world *world, weft_entity entity, weft_component component)
{
    uint32_t row;
    const weft__chunk *chunk = world == NULL ? NULL : weft__entity_chunk(world, entity, &row);
    if (chunk == NULL) return false;
    uint32_t id = weft__component_id(world, component);
    return weft__archetype_find(chunk->archetype, id) != WEFT__NONE ||
           weft__sparse_has_any(world, entity, component);
}

/* ---- values ---- */

/* Says why there is no value. NULL, or for a system that named no such component memory that stands
 * in (its look-up is reported). */
static void *no_value(const weft_world *world, weft_entity entity, weft_component component)
{
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) {
        weft__error_use(world, WEFT_BAD_HANDLE, "weft_entity_read", component,
                        ": it is null or of another world: check the call that registered it");
        return weft__stand_in_refused(world, component.id);
    }
    if (!weft_entity_has(world, entity, component)) {
        if (!weft_entity_is_alive(world, entity))
            weft__error_stale(world, entity);
        else
            weft__error_absent(world, entity, component);
        return NULL;
    }
    const char *why = "is a tag and has no value: ask weft_entity_has";
    if ((type->desc.flags & WEFT_SHARED) != 0)
        why = "is SHARED: use weft_entity_read_shared and weft_entity_set_shared";
    else if ((type->desc.flags & WEFT_CHUNK) != 0)
        why = "is a CHUNK value, which no entity owns: use weft_slice_write_chunk in a loop over a "
              "query with a term for it";
    weft__error(world, WEFT_TYPE_MISMATCH, entity, component, "component \"%s\" %s",
                type->desc.name, why);
    return NULL;
}

/* The rest of it: components without a map yet, and errors. */
static __attribute__((noinline, cold)) const void *
get_slowly(const weft_world *world, weft_entity entity, weft_component component)
{
    const void *value = weft_finder_read_slowly(world, entity, component);
    if (value == NULL) return no_value(world, entity, component);
    if ((world->front.busy & WEFT__BUSY_WRITING) == 0) /* a cache of the owner's, not the world */
        weft__column_map_miss((weft_world *)(uintptr_t)world, component.id, 1);
    return value;
}

const void *weft_entity_read_slowly(const weft_world *world, weft_entity entity,
                                    weft_component component)
{
    if (__builtin_expect(world == NULL, 0)) return NULL;
    weft__note_read(world, "weft_entity_read", component);
    const void *value =
        weft__value_quickly(world, weft__entity_bits(entity), weft__component_id(world, component));
    return __builtin_expect(value != NULL, 1) ? value : get_slowly(world, entity, component);
}

/* For callers that do not take the definition of finder.h. */
const void *weft_entity_read(const weft_world *world, weft_entity entity, weft_component component)
{
    return weft_entity_read_slowly(world, entity, component);
}

/* What a write gets that has no place, and why. */
static __attribute__((noinline, cold)) void *
write_refused(const weft_world *world, weft_entity entity, weft_component component)
{
    if (weft__may_write(world, "weft_entity_write") != WEFT_OK)
        return weft__stand_in_refused(world, component.id);
    return no_value(world, entity, component);
}

void *weft_entity_write(weft_world *world, weft_entity entity, weft_component component)
{
    uint32_t row;
    const weft__chunk *chunk = NULL;
    if (world == NULL) return NULL;
    if (weft__is_writable(world)) chunk = weft__holder_chunk(world, entity, component, &row);
    const weft__type_slot *slot = chunk == NULL ? NULL : weft__slot_find(world, chunk, component);
    void *value = slot == NULL ? NULL : weft__slot_value(chunk, row, slot);
    if (value == NULL) return write_refused(world, entity, component);
    weft__slot_stamp(world, chunk, row, slot);
    return value;
}

/* ---- finders ---- */

/* A finder is the map of a component with the blocks of entities (column_map.h). What slices may
 * find is checked in slice.c. */

/* Whether the owner may make a map now: no other thread reads them. */
static bool may_make(const weft_world *world)
{
    return (world->front.busy & WEFT__BUSY_WRITING) == 0;
}

weft_finder weft_finder_open(weft_world *world, weft_component component)
{
    if (world == NULL) return (weft_finder){0};
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) {
        weft__error_component(world, component);
        return (weft_finder){0};
    }
    weft__note_read(world, "weft_finder_open", component);
    if (may_make(world)) weft__column_map_obtain(world, component.id);
    return weft__finder_make(world, component);
}

const void *weft_finder_read_slowly(const weft_world *world, weft_entity entity,
                                    weft_component component)
{
    uint32_t row;
    const weft__chunk *chunk =
        world == NULL ? NULL : weft__holder_chunk(world, entity, component, &row);
    if (chunk == NULL) return NULL;
    const weft__type_slot *slot =
        weft__archetype_slot(chunk->archetype, weft__component_id(world, component));
    return slot == NULL || slot->column == 0 ? NULL : weft__chunk_value(chunk, slot->column, row);
}
