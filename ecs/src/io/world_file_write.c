/* SPDX-License-Identifier: MIT */
/* world_file_write.c: a world as bytes (world_file_write.h says which). Values that hold blob
 * references are written with the numbers of the blobs instead, handles without tags. Owner,
 * world idle; reads only. */
#include "world_file_write.h"
#include "entity_tag.h"
#include "evolution.h"
#include "format.h"
#include "hash_lanes.h"
#include "relation_registry.h"

#include <float.h>
#include <stdlib.h>

/* ---- times left of systems and groups ----
 *
 * The scheduler's part is its weft__extension (world_front.h): io knows no systems. Runs that
 * wait for a system or group are written again, so that a program without systems, as weft dump,
 * loses none. */

void weft__run_list_add(weft__run_list *list, const weft__kept_run *run)
{
    bool is_added = WEFT__LIST_APPEND(&list->world->memory, WEFT__MEMORY_OTHER, list, run, 1);
    list->is_out_of_memory |= !is_added;
}

void weft__run_list_free(weft__run_list *list)
{
    WEFT__LIST_FREE(&list->world->memory, WEFT__MEMORY_OTHER, list);
    list->is_out_of_memory = false;
}

static void add(void *list, const weft__kept_run *run)
{
    weft__run_list_add(list, run);
}

static int compare(const void *a, const void *b)
{
    const weft__kept_run *left = a, *right = b;
    if (left->is_group != right->is_group) return left->is_group ? -1 : 1;
    return strcmp(left->name, right->name);
}

void weft__run_list_collect(weft__run_list *list)
{
    const weft__world_front *front = &list->world->front;
    const weft__extension *scheduler = &front->extensions[WEFT__EXTENSION_SCHEDULER];
    if (scheduler->data != NULL) scheduler->runs_visit(scheduler->data, add, list);
    for (uint32_t i = 0; i < front->run_count; i++)
        if (front->runs[i].name[0] != '\0') weft__run_list_add(list, &front->runs[i]);
    if (list->count != 0) qsort(list->at, list->count, sizeof *list->at, compare);
}

const char *weft__run_problem(const weft__kept_run *run)
{
    if (run->name[0] == '\0') return "a system or group without a name";
    bool is_right = run->elapsed >= 0 && run->elapsed <= DBL_MAX && run->timer <= DBL_MAX &&
                    (run->timer >= 0 || run->timer == -1);
    return is_right ? NULL : "a time left of a system or group that is no time";
}

void weft__run_list_give(weft__run_list *list)
{
    weft__world_front *front = &list->world->front;
    const weft__extension *scheduler = &front->extensions[WEFT__EXTENSION_SCHEDULER];
    weft__list_free(&list->world->memory, WEFT__MEMORY_OTHER, front->runs, front->run_capacity,
                    sizeof *front->runs);
    front->runs = list->at;
    front->run_count = list->count;
    front->run_capacity = list->capacity;
    *list = (weft__run_list){.world = list->world};
    if (scheduler->data != NULL) scheduler->runs_take(scheduler->data);
}

/* ---- one save ---- */

#define CATEGORY WEFT__MEMORY_COMMANDS

/* One save; on the stack of weft__world_write. The first failure is kept. */
typedef struct writer {
    weft_world *world;
    weft__out out;
    uint32_t *numbers; /* [type id]: number in the file + 1; 0: not in it */
    uint8_t *left_out; /* [type id]: not 0: the caller does not want it */
    weft__pile pile;   /* of both */
    uint32_t type_count;
    WEFT__LIST(uint64_t) blobs; /* ids of those that were mentioned */
    weft__table mentions;       /* of their places in the list, from 1 */
    weft__world_header header;
} writer;

/* A reference becomes the number of its blob from 1, or 0 when it is null or stale. */
static bool number_blob(void *user, weft__reference *r)
{
    writer *w = user;
    const weft_blob_store *store = w->world->blobs;
    if (!r->is_blob || r->bits == 0) return true;
    if (store == NULL || weft__blob_store_block(store, r->blob) == NULL) {
        r->bits = 0;
        return true;
    }
    uint32_t hash = (uint32_t)hash_fold(r->bits ^ HASH_K0, HASH_K1), step = 0, number;
    while ((number = weft__table_next(&w->mentions, hash, &step)) != 0)
        if (w->blobs.at[number - 1] == r->bits) break;
    if (number == 0) {
        weft__memory *memory = &w->world->memory;
        w->out.is_refused = !weft__table_room(memory, CATEGORY, &w->mentions, w->blobs.count + 1) ||
                            !WEFT__LIST_APPEND(memory, CATEGORY, &w->blobs, &r->bits, 1);
        if (w->out.is_refused) return false;
        number = w->blobs.count;
        weft__table_put(&w->mentions, hash, number);
    }
    r->bits = number;
    return true;
}

static void put_blobs(writer *w)
{
    w->header.blobs_at = w->out.count;
    weft__out_u32(&w->out, w->blobs.count);
    for (uint32_t i = 0; i < w->blobs.count; i++)
        weft__blob_put(&w->out, w->world->blobs, w->blobs.at[i]);
}

/* ---- values ---- */

static void put_entities(writer *w, const weft_entity *entities, uint32_t count)
{
    size_t at = w->out.count;
    uint32_t tag_bits = w->world->directory.tag_bits;
    weft__out_put(&w->out, entities, count * sizeof *entities);
    for (uint32_t i = 0; i < count && tag_bits != 0 && !w->out.is_refused; i++) {
        uint32_t index = entities[i].index ^ tag_bits;
        memcpy(w->out.at + at + i * sizeof *entities, &index, sizeof index);
    }
}

/* Values of one type side by side: column values, elements, a chunk value. */
static void put_values(writer *w, const weft__type *type, const char *values, uint32_t count,
                       size_t stride)
{
    size_t at = w->out.count;
    for (uint32_t i = 0; i < count && weft__type_is_hooked(type); i++)
        weft__hooked_put(&w->out, &w->world->directory, type, values + i * stride);
    if (weft__type_is_hooked(type)) return;
    weft__out_put(&w->out, values, count * stride);
    if (!w->out.is_refused)
        weft__tags_flip(&w->world->directory, type, values,
                        (weft__value_bytes){w->out.at + at, 0, count * stride});
    if (!w->out.is_refused && weft__type_has_blobs(type))
        weft__elements_references(type, w->out.at + at, count, number_blob, w);
}

static void put_buffer(writer *w, const weft__type *type, const void *header)
{
    const weft_buffer *buffer = header;
    weft__out_u32(&w->out, buffer->count);
    put_values(w, type, weft__buffer_data(buffer), buffer->count, type->desc.size);
}

static void put_column(writer *w, const weft__chunk *chunk, const weft__type_ref *ref)
{
    const weft__type *type = ref->type;
    const char *values = weft__chunk_column(chunk, ref->column);
    if ((type->desc.flags & WEFT_BUFFER) == 0) {
        put_values(w, type, values, chunk->count, type->value_bytes);
        return;
    }
    for (uint32_t row = 0; row < chunk->count; row++)
        put_buffer(w, type, values + (size_t)row * type->value_bytes);
}

/* ---- rows ---- */

static void put_shared(writer *w, const weft__chunk *chunk, const weft__type_ref *ref)
{
    uint32_t index = chunk->tuple->values[ref->shared];
    weft__out_u8(&w->out, index != 0);
    if (index == 0) return;
    put_values(w, ref->type, weft__shared_value(&w->world->shared, ref->component, index), 1,
               ref->type->desc.size);
}

static void put_chunk(writer *w, weft__chunk *chunk)
{
    const weft__span all = {chunk, 0, chunk->count};
    const weft__archetype *archetype = chunk->archetype;
    weft__out_u32(&w->out, chunk->id);
    weft__out_u32(&w->out, chunk->layout->size_class);
    weft__out_u32(&w->out, chunk->count);
    for (uint32_t i = 0; i < archetype->type_count; i++) {
        const weft__type_ref *ref = &archetype->types[i];
        if (w->numbers[ref->component] != 0 && ref->shared != WEFT__NO_PLACE)
            put_shared(w, chunk, ref);
    }
    put_entities(w, weft__chunk_entities(chunk), chunk->count);
    for (uint32_t i = 0; i < archetype->type_count; i++) {
        const weft__type_ref *ref = &archetype->types[i];
        if (w->numbers[ref->component] == 0) continue;
        if (ref->chunk_offset != WEFT__NONE)
            put_values(w, ref->type, chunk->chunk_values + ref->chunk_offset, 1,
                       ref->type->chunk_bytes);
        if (ref->enableable != WEFT__NO_PLACE) weft__disabled_put(&w->out, ref->component, &all, 1);
        if (ref->column != 0) put_column(w, chunk, ref);
    }
    if ((archetype->flags & WEFT__IS_SPARSE) == 0) w->header.entity_count += chunk->count;
}

/* Room lists, each from its end, as they are made again: their order decides where rows go. */
static void put_rooms(writer *w, const weft__archetype *archetype)
{
    size_t at = weft__out_later(&w->out);
    uint32_t count = 0;
    for (uint32_t i = 0; i < archetype->chunk_count; i++) {
        const weft__chunk *chunk = archetype->chunks[i];
        if (chunk->room_next != NULL || !chunk->has_room) continue;
        for (; chunk != NULL; chunk = chunk->room_prev, count++)
            weft__out_u32(&w->out, chunk->list_index);
    }
    weft__out_now(&w->out, at, count);
}

/* Archetypes without rows are written for their place in the order. */
static bool is_written(const writer *w, const weft__archetype *archetype)
{
    if ((archetype->flags & WEFT__IS_SPARSE) != 0 &&
        w->left_out[archetype->types[0].component] != 0)
        return false; /* its rows are those of the component */
    for (uint32_t i = 0; i < archetype->type_count && archetype->chunk_count == 0; i++)
        if (w->left_out[archetype->types[i].component] == 0 &&
            weft__type_save_problem(archetype->types[i].type) != NULL)
            return false;
    return true;
}

static void put_archetypes(writer *w)
{
    size_t at = weft__out_later(&w->out);
    uint32_t count = 0;
    for (uint32_t a = 0; a < w->world->archetypes.count; a++) {
        const weft__archetype *archetype = w->world->archetypes.at[a];
        if (!is_written(w, archetype)) continue;
        count++;
        size_t types_at = weft__out_later(&w->out);
        uint32_t types = 0;
        for (uint32_t i = 0; i < archetype->type_count; i++) {
            uint32_t number = w->numbers[archetype->types[i].component];
            if (number == 0) continue;
            weft__out_u32(&w->out, number - 1);
            types++;
        }
        weft__out_now(&w->out, types_at, types);
        weft__out_u32(&w->out, archetype->chunk_count);
        for (uint32_t i = 0; i < archetype->chunk_count; i++) put_chunk(w, archetype->chunks[i]);
        put_rooms(w, archetype);
    }
    weft__out_now(&w->out, at, count);
}

static void put_dead(writer *w)
{
    size_t at = weft__out_later(&w->out);
    uint32_t count = 0;
    weft__dead dead;
    for (uint32_t from = 0; weft__directory_dead_next(&w->world->directory, &from, &dead);) {
        weft__out_u32(&w->out, dead.index);
        weft__out_u32(&w->out, dead.version);
        count++;
    }
    weft__out_now(&w->out, at, count);
    w->header.entity_count += count;
}

static void put_names(writer *w)
{
    size_t at = weft__out_later(&w->out);
    uint32_t count = 0;
    for (uint32_t a = 0; a < w->world->archetypes.count && w->world->names != NULL; a++) {
        const weft__archetype *archetype = w->world->archetypes.at[a];
        if ((archetype->flags & WEFT__IS_SPARSE) != 0) continue;
        for (uint32_t i = 0; i < archetype->chunk_count; i++) {
            const weft_entity *entities = weft__chunk_entities(archetype->chunks[i]);
            for (uint32_t row = 0; row < archetype->chunks[i]->count; row++) {
                const char *name = weft_entity_name(w->world, entities[row]);
                if (name[0] == '\0') continue;
                put_entities(w, &entities[row], 1);
                weft__out_text(&w->out, name);
                count++;
            }
        }
    }
    weft__out_now(&w->out, at, count);
}

static void put_resources(writer *w)
{
    for (uint32_t id = 1; id <= w->type_count; id++) {
        const weft__type *type = w->world->types.at[id];
        if (type->resource == NULL || w->numbers[id] == 0) continue;
        if ((type->desc.flags & WEFT_BUFFER) != 0) {
            put_buffer(w, type, type->resource);
            continue;
        }
        if (!weft__type_is_hooked(type)) weft__out_u32(&w->out, (uint32_t)type->desc.size);
        put_values(w, type, type->resource, 1, type->desc.size);
    }
}

static void put_runs(writer *w)
{
    weft__run_list list = {.world = w->world};
    weft__run_list_collect(&list);
    w->out.is_refused = w->out.is_refused || list.is_out_of_memory;
    weft__out_u32(&w->out, list.count);
    for (uint32_t i = 0; i < list.count; i++) {
        weft__out_u8(&w->out, list.at[i].is_group);
        weft__out_text(&w->out, list.at[i].name);
        weft__out_put(&w->out, &list.at[i].elapsed, sizeof(double));
        weft__out_put(&w->out, &list.at[i].timer, sizeof(double));
    }
    weft__run_list_free(&list);
}

/* ---- types ---- */

const char *weft__type_save_problem(const weft__type *type)
{
    const weft_component_hooks *hooks = &type->desc.hooks;
    if (weft__type_is_hooked(type)) return NULL;
    if (type->desc.size > UINT32_MAX)
        return "is a resource of more than 4 GiB: give it the hooks save and load";
    if (type->desc.shared_release != NULL)
        return "has a shared_release hook, so its values are more than bytes";
    bool has_hooks = hooks->destruct != NULL || hooks->copy != NULL;
    if (!has_hooks || (weft__type_has_blobs(type) && hooks->construct == NULL)) return NULL;
    return "has hooks that copy or destruct, so its values are more than bytes: give it the hooks "
           "save and load";
}

static weft_result leave_out(writer *w, const weft_save_desc *desc)
{
    weft_world *world = w->world;
    weft_result result =
        weft__check_listed(world, "weft_world_save", "without", desc->without, desc->without_count);
    if (result != WEFT_OK) return result;
    w->type_count = world->types.count;
    size_t count = (size_t)w->type_count + 1;
    w->numbers = weft__pile_take(&w->pile, count, sizeof *w->numbers);
    w->left_out = weft__pile_take(&w->pile, count, 1);
    if (w->pile.is_refused) return weft__error_memory(world, "weft_world_save");
    for (uint32_t i = 0; i < desc->without_count; i++) w->left_out[desc->without[i].id] = 1;
    return WEFT_OK;
}

/* Relations are part of what a world does, also while no entity has them; and what comes with a
 * type in use. */
static void use_with(writer *w, uint32_t id)
{
    weft_world *world = w->world;
    const weft_component_desc *desc = &world->types.at[id]->desc;
    bool is_relation = weft__relation_word(world, weft__component(world, id)) != 0;
    if (is_relation && w->left_out[id] == 0 && !weft__type_is_hooked(world->types.at[id]))
        w->numbers[id] = 1;
    if (w->numbers[id] == 0 || w->left_out[id] != 0) return;
    weft_component depth = weft_relation_depth_component(world, weft__component(world, id));
    if (depth.id != 0) w->numbers[depth.id] = 1;
    for (uint32_t i = 0; i < desc->required_count; i++) {
        const weft__type *type = world->types.at[desc->required[i].id];
        if (!weft__type_is_hooked(type) && weft__type_save_problem(type) == NULL)
            w->numbers[type->id] = 1; /* a lower id: it was registered before */
    }
}

/* Numbers the types in use, but for those left out. */
static weft_result number_types(writer *w)
{
    weft_world *world = w->world;
    for (uint32_t a = 0; a < world->archetypes.count; a++) {
        const weft__archetype *archetype = world->archetypes.at[a];
        for (uint32_t i = 0; i < archetype->type_count && is_written(w, archetype); i++)
            w->numbers[archetype->types[i].component] = 1;
    }
    for (uint32_t id = w->type_count; id != 0; id--) use_with(w, id);
    uint32_t count = 0;
    for (uint32_t id = 1; id <= w->type_count; id++) {
        const weft__type *type = world->types.at[id];
        bool is_used = w->numbers[id] != 0 || type->resource != NULL;
        w->numbers[id] = is_used && w->left_out[id] == 0 ? ++count : 0;
        if (w->numbers[id] == 0 || weft__type_save_problem(type) == NULL) continue;
        return weft__error(world, WEFT_UNSUPPORTED, WEFT__NO_ENTITY, (weft_component){id},
                           "weft_world_save: component \"%s\" %s%s leave it out (without)",
                           type->desc.name, weft__type_save_problem(type), weft__save_advice(type));
    }
    return WEFT_OK;
}

static void put_required(writer *w, const weft_component_desc *desc)
{
    size_t at = weft__out_later(&w->out);
    uint32_t count = 0;
    for (uint32_t i = 0; i < desc->required_count; i++) {
        uint32_t number = w->numbers[desc->required[i].id];
        if (number == 0) continue; /* left out, or it needs hooks and nothing has it */
        weft__out_u32(&w->out, number - 1);
        count++;
    }
    weft__out_now(&w->out, at, count);
}

static void put_types(writer *w)
{
    size_t at = weft__out_later(&w->out);
    uint32_t count = 0;
    for (uint32_t id = 1; id <= w->type_count; id++) {
        if (w->numbers[id] == 0) continue;
        const weft_component_desc *desc = &w->world->types.at[id]->desc;
        count++;
        weft__file_type_put(&w->out, desc);
        weft__out_u32(&w->out, weft__relation_word(w->world, weft__component(w->world, id)));
        put_required(w, desc);
    }
    weft__out_now(&w->out, at, count);
}

/* ---- the whole ---- */

static void finish(writer *w)
{
    weft__world_header *header = &w->header;
    header->magic = WORLD_FILE_MAGIC;
    header->version = WORLD_FILE_VERSION;
    header->byte_order = WORLD_FILE_BYTE_ORDER;
    header->total_bytes = w->out.count;
    header->steps = w->world->front.clock.steps;
    header->time = w->world->front.clock.time;
    header->dt = w->world->front.clock.dt;
    memcpy(w->out.at, header, sizeof *header);
    const size_t behind = offsetof(weft__world_header, version);
    header->content_hash =
        weft__hash_lanes(WORLD_FILE_SEED, w->out.at + behind, w->out.count - behind);
    memcpy(w->out.at, header, sizeof *header);
}

/* About the bytes of the file, so that they need not move while it grows. */
static size_t estimate(const weft_world *world)
{
    size_t bytes = 4096;
    for (uint32_t a = 0; a < world->archetypes.count; a++) {
        const weft__archetype *archetype = world->archetypes.at[a];
        bytes += archetype->entity_count * archetype->format->row_bytes +
                 archetype->chunk_count * (size_t)(64 + archetype->chunk_value_bytes);
    }
    return bytes + bytes / 16;
}

weft_result weft__world_write(weft_world *world, const weft_save_desc *desc, weft_world_bytes *out)
{
    writer w = {.world = world,
                .out.memory = &world->memory,
                .pile = {.memory = &world->memory, .category = CATEGORY}};
    weft_result result = leave_out(&w, desc);
    if (result == WEFT_OK) result = number_types(&w);
    if (result == WEFT_OK) {
        weft__out_space(&w.out, estimate(world));
        weft__out_put(&w.out, &w.header, sizeof w.header);
        put_types(&w);
        put_archetypes(&w);
        put_dead(&w);
        put_names(&w);
        put_resources(&w);
        put_runs(&w);
        put_blobs(&w);
        if (w.out.is_refused) result = weft__error_memory(world, "weft_world_save");
    }
    if (result == WEFT_OK) finish(&w);
    weft__memory *memory = &world->memory;
    weft__pile_free(&w.pile);
    weft__table_free(memory, CATEGORY, &w.mentions);
    WEFT__LIST_FREE(memory, CATEGORY, &w.blobs);
    *out = (weft_world_bytes){w.out.at, w.out.count, w.out.capacity};
    if (result != WEFT_OK) weft_world_bytes_free(world, out);
    return result;
}

void weft_world_bytes_free(weft_world *world, weft_world_bytes *bytes)
{
    if (world == NULL || bytes == NULL) return;
    weft__free(&world->memory, CATEGORY, bytes->bytes, bytes->capacity, 1, 16);
    *bytes = (weft_world_bytes){0};
}
