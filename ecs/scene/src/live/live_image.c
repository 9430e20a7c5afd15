/* SPDX-License-Identifier: MIT */
/* live_image.c: reading components into normalized bytes. Handles become keys and blobs the hash of
 * their content, in place in a copy of the value. See live_image.h. */
#include "live_image.h"

#include <string.h>

#define MOST 256u /* components of an entity that images have */

/* Memory for a value: baker and owner have each their own. */
static char *scratch_room(const weft__live_source *source, size_t bytes)
{
    weft_live *live = source->live;
    bool is_owner = source->world == live->world;
    char **at = is_owner ? &live->scratch.at : &live->baker_scratch.at;
    uint32_t *room = is_owner ? &live->scratch.room : &live->baker_scratch.room;
    if (bytes >= UINT32_MAX ||
        !weft__list_room(&live->memory, (void **)at, room, (uint32_t)bytes, 1))
        return NULL;
    return *at;
}

static void normalize(const weft__live_source *source, uint32_t type, char *values, uint32_t count)
{
    const weft_component_desc *desc = source->live->types[type].desc;
    for (uint32_t f = 0; f < desc->field_count; f++) {
        const weft_field *field = &desc->fields[f];
        if (field->kind != WEFT_FIELD_ENTITY && field->kind != WEFT_FIELD_BLOB) continue;
        uint32_t many = field->count == 0 ? 1 : field->count;
        for (uint32_t i = 0; i < count * many; i++) {
            char *at = values + i / many * desc->size + field->offset + i % many * 8;
            uint64_t key = 0;
            if (field->kind == WEFT_FIELD_ENTITY) {
                weft_entity target;
                memcpy(&target, at, sizeof target);
                key = target.version == 0 ? 0 : source->key_of(source->user, target);
            } else {
                weft_blob_ref ref;
                memcpy(&ref, at, sizeof ref);
                if (ref.id != 0) key = weft__live_content(weft_world_blobs(source->world), ref);
            }
            memcpy(at, &key, sizeof key);
        }
    }
}

bool weft__live_read(const weft__live_source *source, weft_entity entity, uint32_t type,
                     weft__live_value *value)
{
    weft_live *live = source->live;
    const weft_component_desc *desc = live->types[type].desc;
    weft_component component = source->components[type];
    const void *from = NULL;
    *value = (weft__live_value){.type = type, .count = 1, .bytes = desc->size};
    if ((desc->flags & WEFT_BUFFER) != 0) {
        const weft_buffer *buffer = weft_entity_read(source->world, entity, component);
        value->count = buffer == NULL ? 0 : buffer->count;
        value->bytes = value->count * desc->size;
        from = buffer == NULL ? NULL : weft_buffer_read(buffer);
    } else if ((desc->flags & WEFT_SHARED) != 0) {
        from = weft_entity_read_shared(source->world, entity, component);
    } else if (desc->size != 0) {
        from = weft_entity_read(source->world, entity, component);
    }
    if ((desc->flags & WEFT_ENABLEABLE) != 0)
        value->is_disabled = !weft_entity_is_enabled(source->world, entity, component);
    value->at = scratch_room(source, value->bytes + 1);
    if (value->at == NULL) return false;
    if (from == NULL)
        value->bytes = 0;
    else
        memcpy(value->at, from, value->bytes);
    if (from != NULL) normalize(source, type, value->at, value->count);
    return true;
}

/* Whether images have the component: systems compute the WorldTransform of what has a local one. */
static bool is_imaged(const weft__live_source *source, weft_entity entity, uint32_t type)
{
    const weft_live *live = source->live;
    if (live->types[type].is_skipped ||
        !weft_entity_has(source->world, entity, source->components[type]))
        return false;
    return type != live->placed || live->local == UINT32_MAX ||
           !weft_entity_has(source->world, entity, source->components[live->local]);
}

/* The bytes of an image, one block: itself, its values, their bytes, its name. */
weft__live_image *weft__live_image_make(const weft__live_source *source, weft_entity entity)
{
    weft_live *live = source->live;
    uint32_t types[MOST], count = 0;
    size_t bytes = sizeof(weft__live_image);
    weft__live_value value;
    for (uint32_t t = 0; t < live->type_count && count < MOST; t++) {
        if (!is_imaged(source, entity, t)) continue;
        if (!weft__live_read(source, entity, t, &value)) return NULL;
        types[count++] = t;
        bytes += sizeof value + ((value.bytes + 15) & ~(size_t)15);
    }
    const char *name = weft_entity_name(source->world, entity);
    bytes += strlen(name) + 1;
    weft__live_image *image = weft__alloc_zeroed(&live->memory, WEFT__MEMORY_OTHER, 1, bytes, 16);
    if (image == NULL) return NULL;
    *image = (weft__live_image){.block_bytes = bytes, .value_count = count};
    image->values = (weft__live_value *)(void *)(image + 1);
    char *at = (char *)(image->values + count);
    for (uint32_t i = 0; i < count; i++) {
        weft__live_read(source, entity, types[i], &value); /* has room: it was read before */
        memcpy(at, value.at, value.bytes);
        value.at = at;
        image->values[i] = value;
        at += (value.bytes + 15) & ~(size_t)15;
    }
    image->name = strcpy(at, name);
    return image;
}

const weft__live_value *weft__live_image_find(const weft__live_image *image, uint32_t type)
{
    for (uint32_t i = 0; i < image->value_count; i++)
        if (image->values[i].type == type) return &image->values[i];
    return NULL;
}
