/* SPDX-License-Identifier: MIT */
/* world_view.c: what layers above read of a world.
 *
 * Calls in place of fields: the structs of ecs/src stay private. Nothing is decided here. */
#include "world_view.h"
#include "archetype.h"
#include "entity_value.h"
#include "sized.h"

weft__memory *weft__world_memory(weft_world *world)
{
    return &world->memory;
}

weft_error *weft__world_error_record(const weft_world *world)
{
    return world->error;
}

const weft_world_desc *weft__world_desc(const weft_world *world)
{
    return &world->desc;
}

uint32_t weft__type_count(const weft_world *world)
{
    return world->types.count;
}

const weft__type *weft__type_find(const weft_world *world, weft_component component)
{
    return weft__type_at(world, component);
}

uint32_t weft__archetype_count(const weft_world *world)
{
    return world->archetypes.count;
}

uint64_t weft__archetype_order(const weft_world *world)
{
    return world->archetypes.order_version;
}

weft__archetype *weft__archetype_numbered(const weft_world *world, uint32_t number)
{
    WEFT_ASSERT(number < world->archetypes.count);
    return world->archetypes.at[number];
}

weft__archetype *weft__archetype_of_id(const weft_world *world, uint32_t id)
{
    WEFT_ASSERT(id - 1 < world->archetypes.id_count);
    return world->archetypes.by_id[id - 1];
}

uint32_t weft__chunk_count(const weft_world *world)
{
    return world->chunks.count;
}

uint32_t weft__chunk_id_end(const weft_world *world)
{
    return world->chunks.capacity;
}

uint64_t weft__entity_count(const weft_world *world)
{
    return weft__directory_alive(&world->directory);
}

weft__chunk *weft__entity_row(const weft_world *world, weft_entity entity, uint32_t *row)
{
    return weft__entity_chunk(world, entity, row);
}

weft__chunk *weft__entity_sparse_row(const weft_world *world, weft_entity entity,
                                     weft_component component, uint32_t *row)
{
    const weft__type *type = weft__type_sparse(world, component);
    return type == NULL ? NULL : weft__sparse_find(world, type, entity, row);
}

const void *weft__entity_mapped(const weft_world *world, weft_entity entity, uint32_t component)
{
    return weft__value_quickly(world, weft__entity_bits(entity), component);
}

void weft__entity_maps_refresh(weft_world *world)
{
    weft__column_maps_refresh(world);
}

void weft__entity_map_open(weft_world *world, weft_component component)
{
    weft__column_map_obtain(world, component.id);
}

/* ---- hooks ---- */

weft_result weft_world_hook_add(weft_world *world, weft_world_hook *hook)
{
    weft_result result = weft__between_steps(world, "weft_world_hook_add");
    if (result == WEFT_OK && world->front.is_ending)
        result = weft__error_told(world, "weft_world_hook_add");
    if (result != WEFT_OK) return result;
    if (hook == NULL)
        return weft__error_argument(world, "weft_world_hook_add",
                                    "hook is NULL: give the address of a weft_world_hook that "
                                    "stays until it is removed");
    if (world->hook_error == NULL)
        world->hook_error = WEFT__NEW_ZEROED(&world->memory, WEFT__MEMORY_OTHER, 1, weft_error);
    if (world->hook_error == NULL) return weft__error_memory(world, "weft_world_hook_add");
    weft_world_hook **link = &world->front.hooks;
    while (*link != NULL && *link != hook) link = &(*link)->next;
    if (*link == hook)
        return weft__error_argument(world, "weft_world_hook_add",
                                    "the hook was added before: remove it first, or give another");
    hook->next = NULL;
    *link = hook;
    if (world->front.is_told && world->front.hook_new == NULL) world->front.hook_new = hook;
    return WEFT_OK;
}

weft_result weft_world_hook_remove(weft_world *world, weft_world_hook *hook)
{
    if (world == NULL || hook == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__idle(world, "weft_world_hook_remove");
    if (result != WEFT_OK) return result;
    weft_world_hook **link = &world->front.hooks;
    while (*link != NULL && *link != hook) link = &(*link)->next;
    if (*link == NULL) return WEFT_NOT_FOUND;
    *link = hook->next;
    if (world->front.hook_next == hook) world->front.hook_next = hook->next;
    if (world->front.hook_new == hook) world->front.hook_new = hook->next;
    return WEFT_OK;
}

const weft_world_hook *weft_world_hook_find(const weft_world *world, const char *name)
{
    if (world == NULL || name == NULL) return NULL;
    const weft_world_hook *hook = world->front.hooks;
    while (hook != NULL && (hook->name == NULL || strcmp(hook->name, name) != 0)) hook = hook->next;
    return hook;
}

void weft__world_stepped(weft_world *world)
{
    world->front.is_told = true;
    world->front.hook_new = NULL;
    for (weft_world_hook *hook = world->front.hooks; hook != NULL && hook != world->front.hook_new;
         hook = world->front.hook_next) {
        world->front.hook_next = hook->next;
        if (!weft__hook_is_wanted(hook)) continue;
        weft_error *of_step = world->error;
        world->error = world->hook_error;
        hook->stepped(world, hook->user);
        world->error = of_step;
    }
    world->front.is_told = false;
}

void weft__world_ended(weft_world *world)
{
    for (weft_world_hook *hook; (hook = world->front.hooks) != NULL;) {
        world->front.hooks = hook->next;
        if (hook->ended != NULL) hook->ended(world, hook->user);
    }
}

/* ---- for tools ---- */

weft_result weft_entity_place_get(const weft_world *world, weft_entity entity,
                                  weft_entity_place *out, size_t out_bytes)
{
    if (out != NULL && out_bytes != 0) memset(out, 0, out_bytes);
    const weft_result refused = weft__error_out(world, out, "weft_entity_place");
    if (refused != WEFT_OK) return refused;
    uint32_t row;
    const weft__chunk *chunk = weft__entity_chunk(world, entity, &row);
    if (chunk == NULL) return weft__error_stale(world, entity);
    weft_entity_place place = {.archetype = weft__archetype_give(world, chunk->archetype),
                               .chunk = chunk->list_index,
                               .row = row,
                               .chunk_rows = chunk->count,
                               .chunk_capacity = chunk->capacity};
    weft__sized_fill(out, out_bytes, &place, sizeof place);
    return WEFT_OK;
}

weft_archetype weft_archetype_at(const weft_world *world, uint32_t index)
{
    bool is_there = world != NULL && index < world->archetypes.count;
    return is_there ? weft__archetype_give(world, world->archetypes.at[index])
                    : (weft_archetype){0};
}

/* Tuples with chunks. */
static uint32_t tuples_used(const weft__archetype *archetype)
{
    uint32_t used = archetype->tuple0->chunk_count != 0;
    for (uint32_t i = 0; i < archetype->tuples.count; i++)
        used += archetype->tuples.at[i]->chunk_count != 0;
    return used;
}

weft_result weft_archetype_stats_get(const weft_world *world, weft_archetype handle,
                                     weft_archetype_stats *out, size_t out_bytes)
{
    if (out != NULL && out_bytes != 0) memset(out, 0, out_bytes);
    const weft_result refused = weft__error_out(world, out, "weft_archetype_stats");
    if (refused != WEFT_OK) return refused;
    const weft__archetype *archetype = weft__archetype_at(world, handle);
    if (archetype == NULL) return WEFT_BAD_HANDLE;
    weft_archetype_stats stats = {.entities = archetype->entity_count,
                                  .chunks = archetype->chunk_count,
                                  .tuples = tuples_used(archetype),
                                  .row_bytes = archetype->format->row_bytes};
    for (uint32_t i = 0; i < archetype->chunk_count; i++) {
        const weft__chunk *chunk = archetype->chunks[i];
        stats.capacity += chunk->capacity;
        stats.bytes += weft__class_bytes(chunk->layout->size_class);
        bool is_own_side = weft__chunk_side(chunk) == chunk->own_side;
        stats.bytes_metadata += sizeof *chunk + (is_own_side ? 0 : chunk->side_bytes);
    }
    stats.bytes_used = stats.entities * stats.row_bytes;
    stats.bytes_wasted = stats.bytes - stats.bytes_used;
    weft__sized_fill(out, out_bytes, &stats, sizeof stats);
    return WEFT_OK;
}

uint32_t weft_archetype_occupancy(const weft_world *world, weft_archetype handle, uint32_t *bands,
                                  uint32_t count)
{
    const weft__archetype *archetype = world == NULL ? NULL : weft__archetype_at(world, handle);
    if (archetype == NULL || bands == NULL || count == 0) return 0;
    memset(bands, 0, count * sizeof bands[0]);
    for (uint32_t i = 0; i < archetype->chunk_count; i++) {
        const weft__chunk *chunk = archetype->chunks[i];
        uint64_t band = (uint64_t)chunk->count * count / chunk->capacity;
        bands[band < count ? band : count - 1]++;
    }
    return archetype->chunk_count;
}

/* ---- references ---- */

/* One walk. Owner: the stack of the call. */
typedef struct walk {
    const weft_world *world;
    weft__reference_visit *visit;
    void *user;
    uint64_t cleared;
} walk;

static bool reference_clear(void *user, weft__reference *r)
{
    walk *w = user;
    if (r->is_blob || r->bits == 0 || weft_entity_is_alive(w->world, r->entity)) return true;
    r->entity = WEFT__NO_ENTITY;
    w->cleared++;
    return true;
}

/* True when one of the values had a reference that was cleared. */
static bool values_walk(walk *w, const weft__type *type, void *values, uint32_t count)
{
    uint64_t before = w->cleared;
    weft__type_references(type, values, count, w->visit, w->user);
    return w->cleared != before;
}

static void column_walk(walk *w, const weft__chunk *chunk, uint32_t number)
{
    const weft__type_ref *ref = &chunk->archetype->types[number];
    uint32_t most = 1u << chunk->layout->slice_shift;
    for (uint32_t row = 0; row < chunk->count; row += most) {
        uint32_t count = chunk->count - row < most ? chunk->count - row : most;
        if (values_walk(w, ref->type, weft__chunk_value(chunk, ref->column, row), count))
            weft__rows_stamp(chunk, number, row, count, w->world->front.version);
    }
}

static void chunk_walk(walk *w, const weft__chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->archetype->type_count; i++) {
        const weft__type_ref *ref = &chunk->archetype->types[i];
        if (ref->type->reference_count == 0 || chunk->count == 0) continue;
        if (ref->chunk_offset != WEFT__NONE) {
            if (values_walk(w, ref->type, chunk->chunk_values + ref->chunk_offset, 1))
                weft__rows_stamp(chunk, i, 0, chunk->count, w->world->front.version);
        } else if (ref->column != 0) {
            column_walk(w, chunk, i);
        } else if (ref->shared != WEFT__NO_PLACE && w->visit != reference_clear) {
            const void *value = weft__shared_value(&w->world->shared, ref->component,
                                                   chunk->tuple->values[ref->shared]);
            values_walk(w, ref->type, (void *)(uintptr_t)value, 1);
        }
    }
}

static void world_walk(walk *w)
{
    const weft_world *world = w->world;
    for (uint32_t a = 0; a < world->archetypes.count; a++)
        for (uint32_t i = 0; i < world->archetypes.at[a]->chunk_count; i++)
            chunk_walk(w, world->archetypes.at[a]->chunks[i]);
    for (uint32_t t = 1; t <= world->types.count; t++) {
        const weft__type *type = world->types.at[t];
        if (type->resource != NULL) values_walk(w, type, type->resource, 1);
    }
}

void weft__world_references(const weft_world *world, weft__reference_visit *visit, void *user)
{
    world_walk(&(walk){.world = world, .visit = visit, .user = user});
}

weft_result weft_world_clear_references(weft_world *world, uint64_t *cleared)
{
    if (cleared != NULL) *cleared = 0;
    weft_result result = weft__idle(world, "weft_world_clear_references");
    if (result != WEFT_OK) return result;
    walk w = {.world = world, .visit = reference_clear, .user = &w};
    world_walk(&w);
    if (cleared != NULL) *cleared = w.cleared;
    return WEFT_OK;
}
