/* SPDX-License-Identifier: MIT */
/* entity_shared.c: shared values of entities, one or many: reading, setting (which moves the rows);
 * values in use and their order versions. Owner, world idle where a row moves. */
#include "entity_shared.h"

#include "archetype.h"
#include "entity_value.h"
#include "error.h"
#include "query_change.h"
#include "structure.h"
#include "tuple.h"

/* The type position of a component on an alive entity; WEFT__NONE otherwise. */
static uint32_t locate(const weft_world *world, weft_entity entity, weft_component component,
                       weft__chunk **chunk, uint32_t *row)
{
    *chunk = weft__entity_chunk(world, entity, row);
    return *chunk == NULL
               ? WEFT__NONE
               : weft__archetype_find((*chunk)->archetype, weft__component_id(world, component));
}

static weft_result check_shared(const weft_world *world, weft_component component, const char *what)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (weft__type_at(world, component) == NULL) return weft__error_component(world, component);
    if (weft__shared_has_type(&world->shared, component.id)) return WEFT_OK;
    return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
                       "%s: %s is not a SHARED component: register it with WEFT_SHARED", what,
                       weft__type_name(world, component.id));
}

/* Moves a row to the tuple with the value. */
static weft_result move_to_value(weft_world *world, weft__chunk *chunk, uint32_t row,
                                 uint32_t component, uint32_t value)
{
    const weft__plan *plan = weft__archetype_edge(world, chunk->archetype, component, false);
    if (plan == NULL) return world->error->code;
    weft_entity entity = weft__chunk_entities(chunk)[row];
    weft__tuple *to = weft__tuple_with_value(world, chunk->tuple, plan->to, component, value);
    if (to == NULL) return world->error->code;
    weft_result result = WEFT_OK;
    if (to != chunk->tuple) {
        result = weft__row_move(world, chunk, row, to);
        if (result == WEFT_OK) {
            uint32_t type = locate(world, entity, weft__component(world, component), &chunk, &row);
            weft__stamp(&weft__chunk_versions(chunk, type)[row >> chunk->layout->slice_shift],
                        world->front.version);
        }
    }
    weft__tuple_release(world, to);
    return result;
}

weft_result weft_entity_set_shared(weft_world *world, weft_entity entity, weft_component component,
                                   const void *value)
{
    weft_result result = check_shared(world, component, "weft_entity_set_shared");
    if (result == WEFT_OK) result = weft__idle(world, "weft_entity_set_shared");
    if (result != WEFT_OK) return result;
    if (value == NULL && world->types.at[component.id]->desc.size != 0)
        return weft__error_argument(world, "weft_entity_set_shared",
                                    "value is NULL: give its address");
    uint32_t row = 0, index = 0;
    weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    if (chunk == NULL || weft__residue_lacks(chunk, component.id))
        return weft__error_stale(world, entity);
    result = weft__shared_intern(&world->shared, component.id, value, &index);
    if (result != WEFT_OK) return weft__error_memory(world, "a shared value");
    result = move_to_value(world, chunk, row, component.id, index);
    weft__shared_release(&world->shared, component.id, index, 1);
    return result;
}

static weft_result set_many(weft__change *change, const weft_entity *entities, uint32_t count,
                            weft_component component, const void *value)
{
    const char *what = "weft_entity_set_shared_many";
    weft__change_request request;
    weft_result result =
        weft__change_request_shared(change->world, component, value, what, &request);
    if (result != WEFT_OK) return result;
    result = weft__change_select_entities(change, entities, count, what);
    for (uint32_t i = 0; i < change->parts.count && result == WEFT_OK; i++) {
        const weft__change_part *part = &change->parts.at[i];
        if (weft__residue_lacks(part->chunk, component.id))
            result = weft__error_stale(
                change->world, weft__chunk_entities(part->chunk)[weft__change_first(change, part)]);
    }
    result = weft__change_selected(change, result, &request);
    weft__shared_release(&change->world->shared, component.id, request.value, 1);
    return result;
}

weft_result weft_entity_set_shared_many(weft_world *world, const weft_entity *entities,
                                        uint32_t count, weft_component component, const void *value)
{
    weft__change change = {.world = world};
    return set_many(&change, entities, count, component, value);
}

weft_result weft__entities_group(weft_world *world, const weft_entity *entities, uint32_t count,
                                 weft_component component, const void *value)
{
    weft__change change = {.world = world, .is_merging = true};
    return set_many(&change, entities, count, component, value);
}

/* Not SHARED: checked builds say so, but for threads beside the owner, which have no error. */
static const void *read_refused(const weft_world *world, weft_component component)
{
    if (!WEFT_IS_CHECKED || weft__is_held(world, NULL)) return NULL;
    weft__error_use(world, WEFT_TYPE_MISMATCH, "weft_entity_read_shared", component,
                    ": it is not SHARED: register it with WEFT_SHARED");
    return weft__stand_in_refused(world, component.id);
}

const void *weft_entity_read_shared(const weft_world *world, weft_entity entity,
                                    weft_component component)
{
    if (world == NULL) return NULL;
    if (!weft__shared_has_type(&world->shared, weft__component_id(world, component)))
        return read_refused(world, component);
    weft__chunk *chunk;
    uint32_t row = 0;
    uint32_t type = locate(world, entity, component, &chunk, &row);
    if (type == WEFT__NONE) return NULL;
    uint32_t position = chunk->archetype->types[type].shared;
    return weft__shared_value(&world->shared, component.id, chunk->tuple->values[position]);
}

uint32_t weft_shared_values(const weft_world *world, weft_component component, const void **out,
                            uint32_t capacity)
{
    if (check_shared(world, component, "weft_shared_values") != WEFT_OK) return 0;
    return weft__shared_list(&world->shared, component.id, out, capacity);
}
