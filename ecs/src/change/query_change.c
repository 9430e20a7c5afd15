/* SPDX-License-Identifier: MIT */
/* query_change.c: query-wide changes: add, remove, set, set a shared value, enable, destroy;
 * shared values of entities, one or many; changes of the Prefab tag, which follow linked groups.
 * The rows are selected first, the walk over the query ends before anything moves; then each
 * part is given a destination, and row_moves.c does the rest. Parts of the same tuple in a row
 * share the search for their destination. */
#include "query_change.h"
#include "archetype.h"
#include "destroy.h"
#include "entity_sparse.h"
#include "entity_value.h"
#include "instantiate.h"
#include "query_read.h"

#include <stdlib.h>

/* ---- linked groups ----
 *
 * The Prefab tag goes with linked groups: what adds or removes it where there is a group does so
 * for the members as well, in one change, all or none. Queries therefore need not know of groups.
 * Here is the search for the members; the rest is a change like others (row_moves.h). Owner, world
 * idle. */

/* Rows of members: chunk id << 32 | row. Owner: the stack of one search. */
typedef struct member_keys {
    uint64_t *at;
    uint32_t count, capacity; /* as of a WEFT__LIST */
} member_keys;

/* What a walk over the members of groups adds to. Owner: the stack of group_collect. */
typedef struct group_target {
    weft_world *world;
    member_keys *keys;
} group_target;

static bool member_add(void *user, weft_entity member, weft__chunk *chunk, uint32_t row)
{
    const group_target *to = user;
    (void)member;
    if ((chunk->archetype->flags & WEFT__IS_RESIDUE) != 0) return true;
    uint64_t key = (uint64_t)chunk->id << 32 | row;
    return WEFT__LIST_APPEND(&to->world->memory, WEFT__MEMORY_COMMANDS, to->keys, &key, 1);
}

/* Members of the group of one row, alive and no residues. */
static bool group_collect(weft_world *world, member_keys *keys, const weft__chunk *chunk,
                          uint32_t row)
{
    group_target to = {world, keys};
    return weft__group_each(world, chunk, row, member_add, &to);
}

static bool part_collect(const weft__change *change, member_keys *keys,
                         const weft__change_part *part)
{
    if ((part->chunk->archetype->flags & WEFT__HAS_LINKED_GROUP) == 0) return true;
    const uint32_t *rows = weft__change_rows(change, part);
    for (uint32_t i = 0; i < part->count; i++)
        if (!group_collect(change->world, keys, part->chunk,
                           rows != NULL ? rows[i] : part->first + i))
            return false;
    return true;
}

static int key_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Row i of a part, or WEFT__NONE behind the last. */
static uint32_t part_row(const weft__change *change, const weft__change_part *part, uint32_t i)
{
    if (i >= part->count) return WEFT__NONE;
    const uint32_t *rows = weft__change_rows(change, part);
    return rows != NULL ? rows[i] : part->first + i;
}

/* The ascending rows of two parts of a chunk, in one list. */
static bool twins_join(weft__change *change, uint32_t first, uint32_t second)
{
    uint32_t at = change->rows.count, i = 0, k = 0;
    for (;;) {
        uint32_t a = part_row(change, &change->parts.at[first], i);
        uint32_t b = part_row(change, &change->parts.at[second], k);
        if (a == WEFT__NONE && b == WEFT__NONE) break;
        i += a < b;
        k += b < a;
        if (!weft__change_push_row(change, a < b ? a : b)) return false;
    }
    weft__change_part *part = &change->parts.at[second];
    part->before = first;
    part->leaving = at;
    part->leaving_count = change->rows.count - at;
    return true;
}

/* A part for the members in one chunk, keys[0..count), that are not in its part `named` (or
 * WEFT__NONE). */
static bool members_add(weft__change *change, uint32_t named, const uint64_t *keys, uint32_t count)
{
    uint32_t number = change->parts.count, i = 0;
    if (!weft__change_push_part(change, change->world->chunks.at[keys[0] >> 32])) return false;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t row = (uint32_t)keys[k];
        if (k != 0 && keys[k] == keys[k - 1]) continue;
        while (named != WEFT__NONE && part_row(change, &change->parts.at[named], i) < row) i++;
        if (named != WEFT__NONE && part_row(change, &change->parts.at[named], i) == row) continue;
        if (!weft__change_push_row(change, row)) return false;
        change->parts.at[number].count++;
    }
    if (change->parts.at[number].count == 0)
        change->parts.count--;
    else if (named != WEFT__NONE)
        return twins_join(change, named, number);
    return true;
}

static bool keys_add(weft__change *change, const member_keys *keys)
{
    const weft_world *world = change->world;
    for (uint32_t first = 0, end; first < keys->count; first = end) {
        end = first + 1;
        while (end < keys->count && (keys->at[end] ^ keys->at[first]) >> 32 == 0) end++;
        uint32_t mark = world->chunks.at[keys->at[first] >> 32]->mark;
        if (!members_add(change, mark == 0 ? WEFT__NONE : mark - 1, keys->at + first, end - first))
            return false;
    }
    return true;
}

static weft_result follow_groups(weft__change *change, const char *what)
{
    weft_world *world = change->world;
    member_keys keys = {0};
    uint32_t named_count = change->parts.count;
    bool is_done = true;
    for (uint32_t i = 0; i < named_count && is_done; i++)
        is_done = part_collect(change, &keys, &change->parts.at[i]);
    if (is_done && keys.count != 0) {
        qsort(keys.at, keys.count, sizeof *keys.at, key_compare);
        for (uint32_t i = 0; i < named_count; i++) change->parts.at[i].chunk->mark = i + 1;
        is_done = keys_add(change, &keys);
        for (uint32_t i = 0; i < named_count; i++) change->parts.at[i].chunk->mark = 0;
    }
    WEFT__LIST_FREE(&world->memory, WEFT__MEMORY_COMMANDS, &keys);
    return is_done ? WEFT_OK : weft__error_memory(world, what);
}

/* Where rows of an archetype go that were named, or that are members of their groups. The former
 * may leave an archetype that the latter come to. */
static weft__archetype *target_of(weft_world *world, weft__archetype *from,
                                  const weft__prefab_request *request, bool is_named)
{
    uint32_t prefab = world->builtin.prefab.id;
    bool is_removed = request->to != NULL
                          ? (request->to->flags & WEFT__IS_PREFAB) == 0
                          : weft__ids_have(request->remove, request->remove_count, prefab);
    if (is_named && request->to != NULL) return request->to;
    if (!is_named)
        return weft__archetype_change(world, from, &prefab, !is_removed, &prefab, is_removed);
    return weft__archetype_change(world, from, request->add, request->add_count, request->remove,
                                  request->remove_count);
}

weft_result weft__prefab_change(weft_world *world, const weft_entity *entities, uint32_t count,
                                const weft__prefab_request *request, const char *what)
{
    weft__change change = {.world = world};
    weft_result result = weft__batch_select(&change, entities, count, what);
    uint32_t named_count = change.parts.count;
    if (result == WEFT_OK) result = follow_groups(&change, what);
    /* rows may have been reserved in a chunk that all of its rows leave: none changes whole */
    change.moves_whole = named_count < change.parts.count;
    for (uint32_t i = 0; i < change.parts.count && result == WEFT_OK; i++) {
        weft__change_part *part = &change.parts.at[i];
        result = weft__change_send(
            &change, part, target_of(world, part->chunk->archetype, request, i < named_count));
    }
    return weft__change_finish(&change, result);
}

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

static weft_result select_entities(weft__change *change, const weft_entity *entities,
                                   uint32_t count, const char *what)
{
    weft_world *world = change->world;
    weft_result result = weft__idle(world, what);
    if (result != WEFT_OK) return result;
    if (entities == NULL && count != 0)
        return weft__error_argument(world, what, "entities is NULL: give an array of `count`");
    return weft__batch_select(change, entities, count, what);
}

/* The query's rows are those of a SPARSE component: the entities' own rows are meant. */
static weft_result select_owners(weft__change *change, weft_query query, const char *what)
{
    weft_world *world = change->world;
    uint64_t count = weft_query_count(world, query);
    if (count > UINT32_MAX) return weft__error_limit(world, WEFT_LIMIT, what);
    weft_entity *entities = WEFT__NEW(&world->memory, WEFT__MEMORY_QUERIES, count + 1, *entities);
    if (entities == NULL) return weft__error_memory(world, what);
    weft_query_entities(world, query, entities, count);
    weft_result result = select_entities(change, entities, (uint32_t)count, what);
    WEFT__FREE(&world->memory, WEFT__MEMORY_QUERIES, entities, count + 1);
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

/* ---- one component in all selected rows ---- */

/* What a change of selected rows asks for. Owner: one call; the value is held meanwhile. */
typedef struct change_request {
    uint32_t component;
    bool is_remove; /* then has_value is false */
    bool has_value; /* shared value to set */
    uint32_t value; /* its index */
} change_request;

/* What to do instead with a component of a kind that is refused. */
static const char *kind_advice(uint32_t flags)
{
    if ((flags & WEFT_RESOURCE) != 0)
        return "a RESOURCE, not part of entities: use weft_resource_write";
    if ((flags & WEFT_SHARED) != 0)
        return "SHARED: use weft_entity_set_shared or weft_query_set_shared";
    if ((flags & WEFT_BUFFER) != 0)
        return "a BUFFER: add it, then fill it (weft_entity_write_buffer, or "
               "weft_slice_write_buffers in a loop; weft_buffers_append)";
    return "a CHUNK value, which no entity owns: add it, then write it in a loop over a query "
           "(weft_slice_write_chunk)";
}

weft_result weft__kind_check(const weft_world *world, weft_component component, uint32_t refused,
                             const char *what)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) return weft__error_component(world, component);
    if (weft__type_is_residue_tag(world, type)) return weft__error_residue_tag(world, what);
    if ((type->desc.flags & refused) == 0) return WEFT_OK;
    return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
                       "%s: component \"%s\" is %s", what, type->desc.name,
                       kind_advice(type->desc.flags & refused));
}

weft_result weft__value_check(const weft_world *world, weft_component component, const void *value,
                              size_t size, const char *what)
{
    const uint32_t refused = WEFT_RESOURCE | WEFT_SHARED | WEFT_CHUNK | WEFT_BUFFER;
    weft_result result = weft__kind_check(world, component, refused, what);
    if (result != WEFT_OK) return result;
    const weft_component_desc *desc = &weft__type_at(world, component)->desc;
    if (size != desc->size)
        return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
                           "%s: component \"%s\" has %zu bytes, the value %zu: pass the sizeof of "
                           "its type",
                           what, desc->name, desc->size, size);
    if (value == NULL && size != 0)
        return weft__error_argument(world, what, "value is NULL: give its address");
    return WEFT_OK;
}

static weft_result check_shared(const weft_world *world, weft_component component, const char *what)
{
    weft_result result = weft__kind_check(world, component, 0, what);
    if (result != WEFT_OK || weft__shared_has_type(&world->shared, component.id)) return result;
    return weft__error(world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
                       "%s: %s is not a SHARED component: register it with WEFT_SHARED, or set "
                       "values of its own (weft_entity_set, weft_query_set)",
                       what, weft__type_name(world, component.id));
}

static weft_result request_shared(weft_world *world, weft_component component, const void *value,
                                  const char *what, change_request *request)
{
    weft_result result = check_shared(world, component, what);
    if (result != WEFT_OK) return result;
    if (value == NULL && world->types.at[component.id]->desc.size != 0)
        return weft__error(world, WEFT_INVALID_ARGUMENT, WEFT__NO_ENTITY, component,
                           "%s: value is NULL: give its address", what);
    *request = (change_request){.component = component.id, .has_value = true};
    result = weft__shared_intern(&world->shared, component.id, value, &request->value);
    return result == WEFT_OK ? WEFT_OK : weft__error_memory(world, "a shared value");
}

/* Where rows of a tuple go. *plan NULL: they stay. False: error set. */
static bool find_route(weft_world *world, const weft__tuple *from, const change_request *request,
                       const weft__plan **plan, weft__tuple **to)
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

static weft_result route_all(weft__change *change, const change_request *request)
{
    weft_world *world = change->world;
    if (request->component == world->builtin.prefab.id) {
        weft_result result = follow_groups(change, "a change of the Prefab tag");
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
    if (type != WEFT__NONE && count != 0)
        weft__rows_stamp(chunk, type, first, count, world->front.version);
}

static weft_result change_selected(weft__change *change, weft_result result,
                                   const change_request *request)
{
    if (result == WEFT_OK) result = route_all(change, request);
    return weft__change_finish(change, result);
}

/* ---- add, remove, shared values ---- */

static weft_result change_all(weft_world *world, weft_query query, const change_request *request,
                              const char *what)
{
    weft__change change = {.world = world};
    return change_selected(&change, weft__change_select(&change, query, what), request);
}

weft_result weft_query_add(weft_world *world, weft_query query, weft_component component)
{
    weft_result result = weft__kind_check(world, component, WEFT_RESOURCE, "weft_query_add");
    if (result != WEFT_OK) return result;
    const weft__type *type = weft__type_sparse(world, component);
    if (type != NULL)
        return weft__sparse_change_query(
            world, query, &(weft__sparse_query_change){.type = type, .what = "weft_query_add"});
    return change_all(world, query, &(change_request){.component = component.id}, "weft_query_add");
}

weft_result weft_query_remove(weft_world *world, weft_query query, weft_component component)
{
    weft_result result = weft__kind_check(world, component, WEFT_RESOURCE, "weft_query_remove");
    if (result != WEFT_OK) return result;
    const weft__type *type = weft__type_sparse(world, component);
    if (type != NULL)
        return weft__sparse_change_query(world, query,
                                         &(weft__sparse_query_change){.type = type,
                                                                      .is_remove = true,
                                                                      .what = "weft_query_remove"});
    return change_all(world, query, &(change_request){.component = component.id, .is_remove = true},
                      "weft_query_remove");
}

weft_result weft_query_set_shared(weft_world *world, weft_query query, weft_component component,
                                  const void *value)
{
    const char *what = "weft_query_set_shared";
    change_request request;
    weft_result result = request_shared(world, component, value, what, &request);
    if (result != WEFT_OK) return result;
    result = change_all(world, query, &request, what);
    weft__shared_release(&world->shared, component.id, request.value, 1);
    return result;
}

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

weft_result weft_query_set(weft_world *world, weft_query query, weft_component component,
                           const void *value, size_t size)
{
    weft_result result = weft__value_check(world, component, value, size, "weft_query_set");
    if (result != WEFT_OK) return result;
    if (world->types.at[component.id]->is_uncopyable)
        return weft__error_uncopyable(world, WEFT__NO_ENTITY, component.id, "weft_query_set");
    const weft__type *type = weft__type_sparse(world, component);
    if (type != NULL)
        return weft__sparse_change_query(
            world, query,
            &(weft__sparse_query_change){.type = type, .value = value, .what = "weft_query_set"});
    change_request request = {.component = component.id};
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
    weft_result result = weft__kind_check(world, component, 0, "weft_query_enable");
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

/* ---- shared values of entities ----
 *
 * Setting them moves the rows. Owner, world idle where a row moves. */

/* The type position of a component on an alive entity; WEFT__NONE otherwise. */
static uint32_t locate(const weft_world *world, weft_entity entity, weft_component component,
                       weft__chunk **chunk, uint32_t *row)
{
    *chunk = weft__entity_chunk(world, entity, row);
    return *chunk == NULL
               ? WEFT__NONE
               : weft__archetype_find((*chunk)->archetype, weft__component_id(world, component));
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
    change_request request;
    weft_result result = request_shared(change->world, component, value, what, &request);
    if (result != WEFT_OK) return result;
    result = select_entities(change, entities, count, what);
    for (uint32_t i = 0; i < change->parts.count && result == WEFT_OK; i++) {
        const weft__change_part *part = &change->parts.at[i];
        if (weft__residue_lacks(part->chunk, component.id))
            result = weft__error_stale(
                change->world, weft__chunk_entities(part->chunk)[weft__change_first(change, part)]);
    }
    result = change_selected(change, result, &request);
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
