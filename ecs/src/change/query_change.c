/* SPDX-License-Identifier: MIT */
/* query_change.c: query-wide changes: add, remove, set, set a shared value, enable, destroy. The
 * rows are selected first, the walk over the query ends before anything moves; then each part is
 * given a destination, and row_moves.c does the rest. Parts of the same tuple in a row share the
 * search for their destination. */
#include "query_change.h"

#include "archetype.h"
#include "batch.h"
#include "enable.h"
#include "entity_sparse.h"
#include "entity_value.h"
#include "error.h"
#include "prefab.h"
#include "query_cursor.h"
#include "query_memory.h"
#include "query_read.h"
#include "tuple.h"

/* ---- select ---- */

static bool push_rows(weft__change *change, weft__change_part *part, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!weft__change_push_row(change, first + i)) return false;
    part->count += count;
    return true;
}

/* Adds rows [first, first + count) to a part; a run that gets a gap becomes a list. */
static bool extend_part(weft__change *change, weft__change_part *part, uint32_t first,
                        uint32_t count)
{
    if (part->rows == WEFT__NONE && part->first + part->count == first) {
        part->count += count;
        return true;
    }
    if (part->rows == WEFT__NONE) {
        uint32_t run = part->count;
        part->rows = change->rows.count;
        part->count = 0;
        if (!push_rows(change, part, part->first, run)) return false;
    }
    return push_rows(change, part, first, count);
}

static bool select_run(weft__change *change, const weft_slice *slice)
{
    weft__chunk *chunk = (weft__chunk *)(uintptr_t)slice->chunk;
    uint32_t row = (uint32_t)(slice->entities - weft__chunk_entities(chunk));
    uint32_t begin = 0, end = 0;
    while (weft_slice_next_run(slice, &begin, &end)) {
        uint32_t first = row + begin, count = end - begin;
        weft__change_part *last =
            change->parts.count == 0 ? NULL : &change->parts.at[change->parts.count - 1];
        bool is_done = last != NULL && last->chunk == chunk
                           ? extend_part(change, last, first, count)
                           : weft__change_push(change, weft__change_run(chunk, first, count));
        if (!is_done) return false;
    }
    return true;
}

/* The query's rows are those of a SPARSE component: the entities' own rows are meant. */
static weft_result select_owners(weft__change *change, weft_query query, const char *what)
{
    weft_world *world = change->world;
    uint64_t count = weft_query_count(world, query);
    if (count > UINT32_MAX) return weft__error_limit(world, WEFT_LIMIT, what);
    weft_entity *entities = weft__alloc(&world->memory, WEFT__MEMORY_QUERIES, count + 1,
                                        sizeof *entities, _Alignof(weft_entity));
    if (entities == NULL) return weft__error_memory(world, what);
    weft_query_entities(world, query, entities, count);
    weft_result result = weft__change_select_entities(change, entities, (uint32_t)count, what);
    weft__free(&world->memory, WEFT__MEMORY_QUERIES, entities, count + 1, sizeof *entities,
               _Alignof(weft_entity));
    return result;
}

weft_result weft__change_select(weft__change *change, weft_query query, const char *what)
{
    weft_world *world = change->world;
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    weft__row_walk walk;
    result = weft__row_walk_begin(&walk, world, query);
    if (result != WEFT_OK) return result;
    if (walk.handle->query->is_of_sparse_rows) return select_owners(change, query, what);
    while (weft__source_next(&walk.source))
        if (!select_run(change, &walk.source.slice)) return weft__error_memory(world, what);
    return WEFT_OK;
}

weft_result weft__change_select_all(weft__change *change, const char *what)
{
    weft_world *world = change->world;
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    for (uint32_t a = 0; a < world->archetypes.count; a++) {
        const weft__archetype *archetype = world->archetypes.at[a];
        if ((archetype->flags & WEFT__IS_SPARSE) != 0) continue;
        for (uint32_t i = 0; i < archetype->chunk_count; i++)
            if (!weft__change_push(
                    change, weft__change_run(archetype->chunks[i], 0, archetype->chunks[i]->count)))
                return weft__error_memory(world, what);
    }
    return WEFT_OK;
}

weft_result weft__change_select_entities(weft__change *change, const weft_entity *entities,
                                         uint32_t count, const char *what)
{
    weft_world *world = change->world;
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    if (entities == NULL && count != 0)
        return weft__error_argument(world, what, "entities is NULL: give an array of `count`");
    return weft__batch_select(change, entities, count, what);
}

/* ---- one component in all selected rows ---- */

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

static weft_result route_all(weft__change *change, const weft__change_request *request)
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
    if (result == WEFT_OK) result = route_all(change, request);
    return weft__change_finish(change, result);
}

/* ---- add, remove, shared values ---- */

static weft_result change_all(weft_world *world, weft_query query,
                              const weft__change_request *request, const char *what)
{
    weft__change change = {.world = world};
    return weft__change_selected(&change, weft__change_select(&change, query, what), request);
}

weft_result weft_query_add(weft_world *world, weft_query query, weft_component component)
{
    weft_result result = weft__component_check(world, component, WEFT_RESOURCE, "weft_query_add");
    if (result != WEFT_OK) return result;
    const weft__type *type = weft__type_sparse(world, component);
    if (type != NULL)
        return weft__sparse_change_query(
            world, query, &(weft__sparse_query_change){.type = type, .what = "weft_query_add"});
    return change_all(world, query, &(weft__change_request){.component = component.id},
                      "weft_query_add");
}

weft_result weft_query_remove(weft_world *world, weft_query query, weft_component component)
{
    weft_result result =
        weft__component_check(world, component, WEFT_RESOURCE, "weft_query_remove");
    if (result != WEFT_OK) return result;
    const weft__type *type = weft__type_sparse(world, component);
    if (type != NULL)
        return weft__sparse_change_query(world, query,
                                         &(weft__sparse_query_change){.type = type,
                                                                      .is_remove = true,
                                                                      .what = "weft_query_remove"});
    return change_all(world, query,
                      &(weft__change_request){.component = component.id, .is_remove = true},
                      "weft_query_remove");
}

weft_result weft_query_set_shared(weft_world *world, weft_query query, weft_component component,
                                  const void *value)
{
    const char *what = "weft_query_set_shared";
    weft__change_request request;
    weft_result result = weft__change_request_shared(world, component, value, what, &request);
    if (result != WEFT_OK) return result;
    result = change_all(world, query, &request, what);
    weft__shared_release(&world->shared, component.id, request.value, 1);
    return result;
}

/* ---- values ---- */

/* A value of a component for many rows. On the stack of weft_query_set. */
typedef struct assigning {
    uint32_t component;
    const void *value;
} assigning;

/* Writes a value to a run of rows: what was there ends, copies of the value take its place. */
static void assign_rows(weft_world *world, weft__span rows, const void *user)
{
    const assigning *a = user;
    const weft__type_slot *slot = weft__archetype_slot(rows.chunk->archetype, a->component);
    const weft__type *type = world->types.at[a->component];
    if (slot == NULL || slot->column == 0 || rows.count == 0) return;
    char *at = weft__chunk_value(rows.chunk, slot->column, rows.row);
    if (type->needs_destruct) weft__type_destruct(&world->memory, type, at, rows.count);
    weft_result result = weft__type_replicate(&world->memory, type, at, a->value, rows.count);
    WEFT_ASSERT(result == WEFT_OK); /* only buffers allocate, and they are refused */
    (void)result;
    weft__component_stamp(world, rows.chunk, a->component, rows.row, rows.count);
}

static weft_result check_value(weft_world *world, weft_component component, const void *value,
                               size_t size)
{
    uint32_t refused = WEFT_RESOURCE | WEFT_SHARED | WEFT_CHUNK | WEFT_BUFFER;
    weft_result result = weft__component_check(world, component, refused, "weft_query_set");
    if (result != WEFT_OK) return result;
    size_t expected = world->types.at[component.id]->desc.size;
    if (size != expected)
        return weft__error(
            world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
            "weft_query_set: %s has %zu bytes, the value %zu: pass the sizeof of its "
            "type",
            weft__type_name(world, component.id), expected, size);
    if (value == NULL && size != 0)
        return weft__error_argument(world, "weft_query_set", "value is NULL: give its address");
    return WEFT_OK;
}

weft_result weft_query_set(weft_world *world, weft_query query, weft_component component,
                           const void *value, size_t size)
{
    weft_result result = check_value(world, component, value, size);
    if (result != WEFT_OK) return result;
    const weft__type *type = weft__type_sparse(world, component);
    if (type != NULL)
        return weft__sparse_change_query(
            world, query,
            &(weft__sparse_query_change){.type = type, .value = value, .what = "weft_query_set"});
    weft__change_request request = {.component = component.id};
    weft__change change = {.world = world};
    result = weft__change_select(&change, query, "weft_query_set");
    if (result == WEFT_OK) result = route_all(&change, &request);
    if (result == WEFT_OK) result = weft__change_prepare(&change);
    if (result == WEFT_OK) {
        weft__change_apply(&change);
        weft__change_each(&change, assign_rows, &(assigning){component.id, value});
    }
    weft__change_fini(&change);
    return result;
}

/* ---- destroy ---- */

/* Ends the rows that are selected, or could not be (`result`). */
static weft_result destroy_selected(weft__change *change, weft_result result)
{
    for (uint32_t i = 0; i < change->parts.count && result == WEFT_OK; i++)
        result = weft__change_destroy(change, &change->parts.at[i]);
    return weft__change_finish(change, result);
}

weft_result weft_query_destroy_entities(weft_world *world, weft_query query)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    weft__change change = {.world = world};
    return destroy_selected(&change,
                            weft__change_select(&change, query, "weft_query_destroy_entities"));
}

weft_result weft__chunk_destroy_rows(weft_world *world, weft__chunk *chunk)
{
    weft__change change = {.world = world};
    bool is_selected = weft__change_push(&change, weft__change_run(chunk, 0, chunk->count));
    return destroy_selected(
        &change, is_selected ? WEFT_OK : weft__error_memory(world, "destruction of entities"));
}

/* ---- enable bits ---- */

/* The bits of a component in many rows. On the stack of weft_query_enable. */
typedef struct enabling {
    uint32_t component;
    bool is_enabled;
} enabling;

/* Sets the bits of rows that have the component; others have none. */
static void enable_rows(weft_world *world, weft__span rows, const void *user)
{
    const enabling *e = user;
    const weft__archetype *archetype = rows.chunk->archetype;
    uint32_t type = weft__archetype_find(archetype, e->component);
    if (type == WEFT__NONE) return;
    for (uint32_t i = 0; i < rows.count; i++)
        weft__chunk_enable(rows.chunk, archetype->types[type].enableable, rows.row + i,
                           e->is_enabled);
    weft__component_stamp(world, rows.chunk, e->component, rows.row, rows.count);
}

weft_result weft_query_enable(weft_world *world, weft_query query, weft_component component,
                              bool enabled)
{
    weft_result result = weft__component_check(world, component, 0, "weft_query_enable");
    if (result != WEFT_OK) return result;
    if ((world->types.at[component.id]->desc.flags & WEFT_ENABLEABLE) == 0)
        return weft__error(
            world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
            "weft_query_enable: %s is not ENABLEABLE: register it with WEFT_ENABLEABLE",
            weft__type_name(world, component.id));
    weft__change change = {.world = world};
    result = weft__change_select(&change, query, "weft_query_enable");
    if (result == WEFT_OK)
        weft__change_each(&change, enable_rows, &(enabling){component.id, enabled});
    weft__change_fini(&change);
    return result;
}
