/* SPDX-License-Identifier: MIT */
/* entity_value.c: look-up of one entity: whether it is alive, what it has, and its values.
 *
 * Nothing here changes which components an entity has. Reading takes the map of the component first
 * (column_map.h), and counts where there is none yet. */
#include "entity_value.h"

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

/* Whether weft__may_write would be WEFT_OK. */
static inline bool is_writable(const weft_world *world)
{
    bool is_held = WEFT_IS_CHECKED && weft__is_held(world, NULL);
    bool may = (weft__front(world)->busy & WEFT__BUSY_WRITING) == 0;
    return __builtin_expect(may && !is_held, 1);
}

void *weft_entity_write(weft_world *world, weft_entity entity, weft_component component)
{
    uint32_t row;
    const weft__chunk *chunk = NULL;
    if (world == NULL) return NULL;
    if (is_writable(world)) chunk = weft__holder_chunk(world, entity, component, &row);
    const weft__type_slot *slot = chunk == NULL ? NULL : weft__slot_find(world, chunk, component);
    void *value = slot == NULL ? NULL : weft__slot_value(chunk, row, slot);
    if (value == NULL) return write_refused(world, entity, component);
    weft__slot_stamp(world, chunk, row, slot);
    return value;
}

/* A finder is the map of a component with the blocks of entities (column_map.h). What slices may
 * find is checked in slice_ops.c. */

weft_finder weft_finder_open(weft_world *world, weft_component component)
{
    if (world == NULL) return (weft_finder){0};
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) {
        weft__error_component(world, component);
        return (weft_finder){0};
    }
    weft__note_read(world, "weft_finder_open", component);
    if ((world->front.busy & WEFT__BUSY_WRITING) == 0) weft__column_map_obtain(world, component.id);
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

/* ---- resources ---- */

static const weft__type *resource_at(const weft_world *world, weft_component component,
                                     const char *what)
{
    const weft__type *type = weft__type_at(world, component);
    if (type != NULL && type->resource != NULL) return type;
    weft__error_use(world, WEFT_TYPE_MISMATCH, what, component,
                    ": it is no RESOURCE: register it with WEFT_RESOURCE");
    return NULL;
}

void *weft_resource_write(weft_world *world, weft_component component)
{
    if (world == NULL) return NULL;
    const weft__type *type = resource_at(world, component, "weft_resource_write");
    if (type == NULL) return weft__stand_in_refused(world, component.id);
    if (weft__may_write(world, "weft_resource_write") != WEFT_OK)
        return weft__stand_in_refused(world, component.id);
    return type->resource;
}

const void *weft_resource_read(const weft_world *world, weft_component component)
{
    if (world == NULL) return NULL;
    const weft__type *type = resource_at(world, component, "weft_resource_read");
    if (type == NULL) return weft__stand_in_refused(world, component.id);
    weft__note_read(world, "weft_resource_read", component);
    return type->resource;
}

/* ---- values of many entities ---- */

enum { GATHER_BATCH = 32 };

/* A read in progress, in batches that overlap: while the values of one are looked up (the slots
 * were prefetched a batch ago), those of the batch before, prefetched meanwhile, are copied. Lives
 * on the stack of the call; the arrays are borrowed. */
typedef struct reading {
    const weft_world *world;
    const weft__type *type;
    weft__column_map map; /* of the component; places NULL: none */
    const weft_entity *entities;
    uint32_t count;
    char *out;
} reading;

static uint32_t batch_size(const reading *r, uint32_t first)
{
    return r->count - first < GATHER_BATCH ? r->count - first : GATHER_BATCH;
}

/* Inlined early: gcc takes a function that only prefetches for one that does nothing. */
static inline __attribute__((always_inline)) void prefetch_slots(const reading *r, uint32_t first)
{
    if (r->map.places == NULL || first >= r->count) return;
    weft__entity_block *const *blocks = r->map.blocks;
    const weft_entity *entity = r->entities + first, *end = entity + batch_size(r, first);
    for (; entity < end; entity++) {
        const weft__entity_block *block = blocks[entity->index / WEFT__BLOCK_SLOTS];
        if (block != NULL) __builtin_prefetch(&block->x_slots[entity->index % WEFT__BLOCK_SLOTS]);
    }
}

/* The value of an entity; NULL: it has none. */
static inline __attribute__((always_inline)) const char *
find_value(const reading *r, weft__column_map map, weft_entity entity)
{
    const char *value = NULL;
    if (__builtin_expect(map.places != NULL, 1))
        value = weft__value_mapped(map, weft__entity_bits(entity));
    if (__builtin_expect(value != NULL, 1)) return value;
    return weft_finder_read_slowly(r->world, entity, weft__component(r->world, r->type->id));
}

/* Where the values of a batch are; returns how many there are before the first that has none. */
static uint32_t find_values(const reading *r, uint32_t first, const char **values)
{
    weft__column_map map = r->map; /* in locals: the copies may alias the struct */
    const weft_entity *entities = r->entities + first;
    uint32_t count = batch_size(r, first), n = 0;
    for (; n < count; n++) {
        const char *value = find_value(r, map, entities[n]);
        if (__builtin_expect(value == NULL, 0)) break;
        __builtin_prefetch(value);
        values[n] = value;
    }
    return n;
}

static void copy_values(const reading *r, uint32_t first, const char *const *values, uint32_t count)
{
    size_t bytes = r->type->value_bytes;
    char *out = r->out + first * bytes;
    if (bytes == 12)
        for (uint32_t i = 0; i < count; i++) memcpy(out + (size_t)i * 12, values[i], 12);
    else
        for (uint32_t i = 0; i < count; i++) weft__value_copy(out + i * bytes, values[i], bytes);
}

/* Returns how many values were copied, all before the first that there is not. */
static uint32_t read_run(const reading *r)
{
    const char *values[2][GATHER_BATCH];
    uint32_t before = 0; /* values of the batch before that are not copied yet */
    prefetch_slots(r, 0);
    for (uint32_t first = 0; first < r->count; first += GATHER_BATCH) {
        const char **now = values[first / GATHER_BATCH % 2];
        const char **last = values[1 - first / GATHER_BATCH % 2];
        prefetch_slots(r, first + GATHER_BATCH);
        uint32_t n = find_values(r, first, now);
        copy_values(r, first - before, last, before);
        before = n;
        if (n < batch_size(r, first)) {
            copy_values(r, first, now, n);
            return first + n;
        }
    }
    uint32_t done = r->count - before;
    copy_values(r, done, values[done / GATHER_BATCH % 2], before);
    return r->count;
}

static inline __attribute__((always_inline)) uint32_t read_values(const reading *r, size_t bytes)
{
    weft__column_map map = r->map; /* in locals: the copies may alias the struct */
    const weft_entity *entities = r->entities;
    uint32_t i = 0, count = r->count;
    char *out = r->out;
    for (; i < count; i++, out += bytes) {
        const char *value = find_value(r, map, entities[i]);
        if (__builtin_expect(value == NULL, 0)) break;
        memcpy(out, value, bytes);
    }
    return i;
}

/* The same one by one: quicker where the slots are in the cache, for the processor looks far enough
 * ahead by itself. */
static uint32_t read_near(const reading *r)
{
    size_t bytes = r->type->value_bytes;
    switch (bytes) {
    case 4:
        return read_values(r, 4);
    case 8:
        return read_values(r, 8);
    case 12:
        return read_values(r, 12);
    case 16:
        return read_values(r, 16);
    default:
        return read_values(r, bytes);
    }
}

weft_result weft_entity_read_many(const weft_world *world, const weft_entity *entities,
                                  uint32_t count, weft_component component, void *out)
{
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    const weft__type *type = weft__type_at(world, component);
    if (type == NULL) return weft__error_component(world, component);
    weft__note_read(world, "weft_entity_read_many", component);
    if ((entities == NULL || out == NULL) && count != 0)
        return weft__error_argument(world, "weft_entity_read_many",
                                    "entities or out is NULL: give arrays of `count`");
    if (type->value_bytes == 0 || (type->desc.flags & WEFT_BUFFER) != 0)
        return weft__error(
            world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, component,
            "weft_entity_read_many: component \"%s\" has no plain values: use "
            "weft_entity_read_buffer, weft_entity_read_shared or weft_slice_read_chunk",
            type->desc.name);
    if ((world->front.busy & WEFT__BUSY_WRITING) == 0) /* a cache of the owner's, not the world */
        weft__column_map_miss((weft_world *)(uintptr_t)world, component.id, count);
    reading r = {world, type, weft__column_map_of(world, component.id), entities, count, out};
    /* relaxed: a hint */
    bool is_near = at_load_rlx(&world->directory.x_block_end) < WEFT__BLOCKS_CACHED;
    uint32_t copied = is_near ? read_near(&r) : read_run(&r);
    if (copied == count) return WEFT_OK;
    if (!weft_entity_is_alive(world, entities[copied]))
        return weft__error_stale(world, entities[copied]);
    return weft__error_absent(world, entities[copied], component);
}
