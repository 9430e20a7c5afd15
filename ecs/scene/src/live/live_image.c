/* SPDX-License-Identifier: MIT */
/* live_image.c: reading components of the followed world into normalized bytes. Handles become keys
 * and blobs the hash of their content, in place in a copy of the value. See live_image.h. */
#include "live_image.h"

#include <string.h>

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
    if (value->bytes >= UINT32_MAX ||
        !WEFT__SCENE_ROOM(&live->memory, &live->scratch, (uint32_t)value->bytes + 1))
        return false;
    value->at = live->scratch.at;
    if (from == NULL)
        value->bytes = 0;
    else
        memcpy(value->at, from, value->bytes);
    if (from != NULL) normalize(source, type, value->at, value->count);
    return true;
}

const weft__live_value *weft__live_image_find(const weft__live_image *image, uint32_t type)
{
    for (uint32_t i = 0; i < image->value_count; i++)
        if (image->values[i].type == type) return &image->values[i];
    return NULL;
}
