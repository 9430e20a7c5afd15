/* SPDX-License-Identifier: MIT */
/* change_request.c: see change_request.h. Parts of the same tuple in a row share the search for
 * their destination.
 *
 * Does not know how the rows were selected. */
#include "change_request.h"

#include "archetype.h"
#include "entity_value.h"
#include "error.h"
#include "move_plan.h"
#include "prefab.h"
#include "tuple.h"

/* What to do instead with a component of a kind that is refused. */
static const char *kind_advice(uint32_t flags)
{
    if ((flags & WEFT_RESOURCE) != 0)
        return "a RESOURCE, not part of entities: use weft_resource_write";
    if ((flags & WEFT_SHARED) != 0) return "SHARED: use weft_query_set_shared";
    if ((flags & WEFT_BUFFER) != 0)
        return "a BUFFER: add it, then fill the buffers in a loop (weft_slice_write_buffers, "
               "weft_buffers_append)";
    if ((flags & WEFT_CHUNK) != 0)
        return "a CHUNK value: add it, then write it in a loop (weft_slice_write_chunk)";
    return "of a kind that this function does not change";
}

weft_result weft__component_check(weft_world *world, weft_component component, uint32_t refused,
                                  const char *what)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) return weft__error_component(world, component);
    if (weft__type_is_residue_tag(world, type)) return weft__error_residue_tag(world, what);
    if ((type->desc.flags & refused) == 0) return WEFT_OK;
    return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component, "%s: %s is %s", what,
                       weft__type_name(world, component.id),
                       kind_advice(type->desc.flags & refused));
}

weft_result weft__change_request_shared(weft_world *world, weft_component component,
                                        const void *value, const char *what,
                                        weft__change_request *request)
{
    weft_result result = weft__component_check(world, component, 0, what);
    if (result != WEFT_OK) return result;
    if (!weft__shared_has_type(&world->shared, component.id))
        return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
                           "%s: %s is not a SHARED component: register it with WEFT_SHARED, or set "
                           "the rows' own values (weft_query_set)",
                           what, weft__type_name(world, component.id));
    if (value == NULL && world->types.at[component.id]->desc.size != 0)
        return weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, component,
                           "%s: value is NULL: give its address", what);
    *request = (weft__change_request){.component = component.id, .has_value = true};
    result = weft__shared_intern(&world->shared, component.id, value, &request->value);
    return result == WEFT_OK ? WEFT_OK : weft__error_memory(world, "a shared value");
}

/* Where rows of a tuple go. *plan NULL: they stay. False: error set. */
static bool find_route(weft_world *world, const weft__tuple *from,
                       const weft__change_request *request, const weft__plan **plan,
                       weft__tuple **to)
{
    *plan = weft__archetype_edge(world, from->archetype, request->component, request->is_remove);
    if (*plan == NULL) return false;
    *to = request->has_value
              ? weft__tuple_with_value(world, from, (*plan)->to, request->component, request->value)
              : weft__tuple_follow(world, from, (*plan)->to);
    if (*to == NULL) return false;
    if (*to != from) return true;
    weft__tuple_release(world, *to);
    *plan = NULL;
    return true;
}

weft_result weft__change_route_all(weft__change *change, const weft__change_request *request)
{
    weft_world *world = change->world;
    if (request->component == world->builtin.prefab.id) {
        weft_result result = weft__change_follow_groups(change, "a change of the Prefab tag");
        if (result != WEFT_OK) return result;
    }
    const weft__tuple *known = NULL;
    const weft__plan *plan = NULL;
    weft__tuple *to = NULL;
    for (uint32_t i = 0; i < change->parts.count; i++) {
        weft__change_part *part = &change->parts.at[i];
        bool is_new = part->chunk->tuple != known;
        if (!request->is_remove && weft__residue_lacks(part->chunk, request->component)) continue;
        if (is_new && !find_route(world, part->chunk->tuple, request, &plan, &to))
            return world->error->code;
        known = part->chunk->tuple;
        if (plan == NULL) continue;
        weft__change_route(change, part, plan, to);
        part->owns_hold = is_new;
        if (request->has_value) part->stamps = request->component;
        /* a residue that loses its last CLEANUP component has nothing left and ends */
        part->dies = request->is_remove && weft__archetype_is_spent(world, plan->to) &&
                     plan->to != plan->from;
    }
    return WEFT_OK;
}

void weft__component_stamp(const weft_world *world, const weft__chunk *chunk, uint32_t component,
                           uint32_t first, uint32_t count)
{
    uint32_t type = weft__archetype_find(chunk->archetype, component);
    uint32_t shift = chunk->layout->slice_shift;
    if (type == WEFT__NONE || count == 0) return;
    weft_a32 *x_versions = weft__chunk_versions(chunk, type);
    for (uint32_t s = first >> shift; s <= (first + count - 1) >> shift; s++)
        weft__stamp(&x_versions[s], world->front.version);
}

weft_result weft__change_selected(weft__change *change, weft_result result,
                                  const weft__change_request *request)
{
    if (result == WEFT_OK) result = weft__change_route_all(change, request);
    return weft__change_finish(change, result);
}
