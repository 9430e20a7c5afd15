/* SPDX-License-Identifier: MIT */
/* live_apply.c: the three-way rule, field by field: base, file, world. Values of the world are read
 * normalized, as those of the file are, so that comparing is comparing bytes; only what is written
 * is turned into handles and references of the world. See live_apply.h. */
#include "live_apply.h"

#include "error.h"
#include "field.h"
#include "hash.h"
#include "live_image.h"
#include "live_slots.h"
#include "live_told.h"
#include "unmake.h"

#include <string.h>

/* One object that changes. On the stack. */
typedef struct applying {
    weft_live *live;
    const weft_component *components; /* [type] of the world */
    const char *path;
    weft_entity entity;
    const weft__live_image *base, *file;
    bool is_instance; /* of a prefab, made by the run: nothing is asked or told */
    bool is_changed;
    weft_result result;
} applying;

/* ---- values of the world ---- */

static uint64_t key_of(const void *user, weft_entity entity)
{
    const weft__live_slot *slot = weft__live_slot_at(user, entity);
    return slot != NULL ? slot->key
                        : hash_fold((uint64_t)entity.version << 32 | entity.index, HASH_K0) & ~1ull;
}

/* The component of the world; false: it has none (or memory ended). */
static bool world_read(applying *a, uint32_t type, weft__live_value *value)
{
    weft_live *live = a->live;
    if (!weft_entity_has(live->world, a->entity, a->components[type])) return false;
    weft__live_source source = {live, live->world, a->components, key_of, live};
    if (weft__live_read(&source, a->entity, type, value)) return true;
    a->result = WEFT_OUT_OF_MEMORY;
    return false;
}

/* A normalized field becomes one of the world, at `to`; or nothing is written, and a->result says
 * why. */
static void field_bring(applying *a, const weft_field *field, char *to, const char *from)
{
    size_t many = field->count == 0 ? 1 : field->count;
    uint64_t key;
    weft_blob_ref ref;
    for (size_t i = 0; i < many && field->kind == WEFT_FIELD_BLOB && a->result == WEFT_OK; i++) {
        memcpy(&key, from + i * 8, sizeof key);
        a->result = weft__live_blob_obtain(a->live, key, &ref); /* it stays obtained */
    }
    for (size_t i = 0; i < many && a->result == WEFT_OK; i++, to += 8, from += 8) {
        memcpy(&key, from, sizeof key);
        if (field->kind == WEFT_FIELD_ENTITY) {
            const weft__live_slot *slot = key == 0 ? NULL : weft__live_slot_of(a->live, key);
            weft_entity target = slot == NULL ? (weft_entity){0} : slot->entity;
            memcpy(to, &target, sizeof target);
        } else {
            a->result = weft__live_blob_obtain(a->live, key, &ref);
            memcpy(to, &ref, sizeof ref);
        }
    }
}

static bool is_reference(const weft_field *field)
{
    return field->kind == WEFT_FIELD_ENTITY || field->kind == WEFT_FIELD_BLOB;
}

/* Normalized values in place become those of the world; or a->result says why not. */
static void values_bring(applying *a, uint32_t type, char *values, uint32_t count)
{
    const weft_component_desc *desc = a->live->types[type].desc;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t f = 0; f < desc->field_count; f++)
            if (is_reference(&desc->fields[f])) {
                char *at = values + i * desc->size + desc->fields[f].offset;
                field_bring(a, &desc->fields[f], at, at);
            }
}

static void done(applying *a, weft_result result)
{
    if (result != WEFT_OK && a->result == WEFT_OK) a->result = result;
    a->is_changed = true;
    a->live->report.values++;
}

/* Gives the entity the whole component of the file. What fails may be half done. */
static void component_set(applying *a, const weft__live_value *value)
{
    weft_live *live = a->live;
    weft_world *world = live->world;
    const weft_component_desc *desc = live->types[value->type].desc;
    weft_component component = a->components[value->type];
    weft_result result = WEFT_OK;
    if (!WEFT__SCENE_ROOM(&live->memory, &live->scratch, (uint32_t)value->bytes + 1)) {
        a->result = WEFT_OUT_OF_MEMORY;
        return;
    }
    char *bytes = live->scratch.at;
    if (value->bytes != 0) memcpy(bytes, value->at, value->bytes);
    values_bring(a, value->type, bytes, value->count);
    if (a->result != WEFT_OK) return;
    if ((desc->flags & WEFT_SHARED) != 0) {
        result = weft_entity_set_shared(world, a->entity, component, bytes);
    } else if ((desc->flags & (WEFT_BUFFER | WEFT_CHUNK)) == 0 && value->bytes != 0) {
        result = weft_entity_set(world, a->entity, component, bytes, desc->size);
    } else {
        result = weft_entity_add(world, a->entity, component);
    }
    if (result == WEFT_OK && (desc->flags & WEFT_BUFFER) != 0) {
        weft_buffers buffer = weft_entity_write_buffer(world, a->entity, component);
        result = weft_buffers_resize(&buffer, 0, 0);
        if (result == WEFT_OK && value->bytes != 0)
            result = weft_buffers_append(&buffer, 0, bytes, value->count);
    }
    if (result == WEFT_OK && (desc->flags & WEFT_ENABLEABLE) != 0)
        result = weft_entity_enable(world, a->entity, component, !value->is_disabled);
    live->half_of = result == WEFT_OK ? (weft_entity){0} : a->entity;
    live->half_type = value->type;
    done(a, result);
}

/* Whether the last call gave a part of this component only: what is there is not the run's. */
static bool is_half(const applying *a, uint32_t type)
{
    return type == a->live->half_type && weft_entity_equal(a->entity, a->live->half_of);
}

/* ---- conflicts ---- */

/* Whether the file's value comes. */
static bool is_taken(applying *a, weft_live_conflict_kind kind, uint32_t type, const char *field)
{
    weft_live *live = a->live;
    if (a->is_instance) return false;
    weft_live_conflict conflict = {.kind = kind,
                                   .path = a->path,
                                   .component =
                                       type == WEFT__NONE ? NULL : live->types[type].desc->name,
                                   .field = field,
                                   .entity = a->entity};
    conflict.is_taken = live->desc.policy == WEFT_LIVE_TAKE;
    weft__callback_begin(live->world);
    if (live->desc.policy == WEFT_LIVE_ASK && live->desc.ask != NULL)
        conflict.is_taken = live->desc.ask(&conflict, live->desc.user);
    live->report.conflicts++;
    weft__live_conflict_keep(live, &conflict);
    if (live->desc.conflict != NULL) live->desc.conflict(&conflict, live->desc.user);
    weft__callback_end(live->world);
    return conflict.is_taken;
}

/* ---- the rule ---- */

static bool is_equal(const weft__live_value *a, const weft__live_value *b)
{
    if (a->is_computed && b->is_computed) return true;
    return a->count == b->count && a->bytes == b->bytes && a->is_disabled == b->is_disabled &&
           (a->bytes == 0 || memcmp(a->at, b->at, a->bytes) == 0);
}

/* Field by field, where both have one value. `now` is in the scratch memory. */
static void fields_apply(applying *a, const weft__live_value *base, const weft__live_value *file,
                         const weft__live_value *now)
{
    weft_live *live = a->live;
    const weft_component_desc *desc = live->types[file->type].desc;
    char *value = NULL;
    for (uint32_t f = 0; f < desc->field_count; f++) {
        const weft_field *field = &desc->fields[f];
        size_t bytes = weft__field_size(field) * weft__field_count(field), at = field->offset;
        if (memcmp(base->at + at, file->at + at, bytes) == 0 ||
            memcmp(now->at + at, file->at + at, bytes) == 0)
            continue;
        if (memcmp(now->at + at, base->at + at, bytes) != 0 &&
            ((a->is_instance && field->kind == WEFT_FIELD_ENTITY) ||
             !is_taken(a, WEFT_LIVE_FIELD, file->type, field->name)))
            continue;
        if (value == NULL)
            value = weft_entity_write(live->world, a->entity, a->components[file->type]);
        if (value == NULL)
            a->result = weft_world_error(live->world)->code;
        else if (is_reference(field))
            field_bring(a, field, value + at, file->at + at);
        else
            memcpy(value + at, file->at + at, bytes);
        if (a->result != WEFT_OK) return;
        done(a, WEFT_OK);
    }
}

static bool has_fields(const weft_component_desc *desc)
{
    return (desc->flags & (WEFT_BUFFER | WEFT_SHARED | WEFT_CHUNK)) == 0 && desc->field_count != 0;
}

static void bit_apply(applying *a, const weft__live_value *base, const weft__live_value *file,
                      bool is_disabled)
{
    if (base->is_disabled == file->is_disabled || is_disabled == file->is_disabled) return;
    if (is_disabled != base->is_disabled && !is_taken(a, WEFT_LIVE_FIELD, file->type, NULL)) return;
    done(a, weft_entity_enable(a->live->world, a->entity, a->components[file->type],
                               !file->is_disabled));
}

/* A component that base and file have. */
static void component_change(applying *a, const weft__live_value *base,
                             const weft__live_value *file)
{
    weft__live_value now;
    if (base->is_computed != file->is_computed) { /* it comes to systems, or back from them */
        if (base->is_computed) component_set(a, file);
        return;
    }
    if (is_half(a, file->type)) {
        component_set(a, file);
        return;
    }
    if (is_equal(base, file)) return;
    if (!world_read(a, file->type, &now)) {
        if (a->result == WEFT_OK && is_taken(a, WEFT_LIVE_REMOVED, file->type, NULL))
            component_set(a, file);
        return;
    }
    const weft_component_desc *desc = a->live->types[file->type].desc;
    if (has_fields(desc)) {
        bool is_disabled = now.is_disabled;
        fields_apply(a, base, file, &now);
        bit_apply(a, base, file, is_disabled);
    } else if (!is_equal(&now, file) &&
               (is_equal(&now, base) || is_taken(a, WEFT_LIVE_FIELD, file->type, NULL))) {
        component_set(a, file);
    }
}

static void component_add(applying *a, const weft__live_value *file)
{
    weft__live_value now;
    if (!is_half(a, file->type) && world_read(a, file->type, &now) &&
        (file->is_computed || is_equal(&now, file) ||
         !is_taken(a, WEFT_LIVE_ADDED, file->type, NULL)))
        return;
    if (a->result == WEFT_OK) component_set(a, file);
}

static void component_remove(applying *a, const weft__live_value *base)
{
    weft__live_value now;
    if (!world_read(a, base->type, &now)) return;
    if (!base->is_computed && !is_equal(&now, base) &&
        !is_taken(a, WEFT_LIVE_CHANGED, base->type, NULL))
        return;
    done(a, weft_entity_remove(a->live->world, a->entity, a->components[base->type]));
}

/* Components of a prefab that its instances do not have, or have as their own. */
static bool is_of_prefab(const applying *a, uint32_t type)
{
    const weft_live *live = a->live;
    return a->is_instance && (type == live->prefab || type == live->linked_group ||
                              type == live->instance_of || type == live->parent);
}

static void image_apply(applying *a)
{
    static const weft__live_image none;
    const weft__live_image *base = a->base == NULL ? &none : a->base;
    for (uint32_t i = 0; i < a->file->value_count && a->result == WEFT_OK; i++) {
        const weft__live_value *file = &a->file->values[i];
        if (is_of_prefab(a, file->type)) continue;
        const weft__live_value *was = weft__live_image_find(base, file->type);
        if (was == NULL)
            component_add(a, file);
        else
            component_change(a, was, file);
    }
    for (uint32_t i = 0; i < base->value_count && a->result == WEFT_OK; i++) {
        const weft__live_value *was = &base->values[i];
        if (is_of_prefab(a, was->type)) continue;
        if (weft__live_image_find(a->file, was->type) == NULL) component_remove(a, was);
    }
    const char *name = base == &none ? "" : base->name;
    if (a->is_instance || strcmp(name, a->file->name) == 0) return;
    if (strcmp(weft_entity_name(a->live->world, a->entity), name) == 0)
        done(a, weft_entity_set_name(a->live->world, a->entity, a->file->name));
}

/* ---- instances of the run ---- */

/* Number of the member in the linked group of a prefab root; WEFT__NONE. */
static uint32_t member_of(const weft_live *live, const weft_component *components, weft_entity root,
                          weft_entity member)
{
    const weft_buffer *group = weft_entity_read(live->world, root, components[live->linked_group]);
    const weft_entity *all = group == NULL ? NULL : weft_buffer_read(group);
    for (uint32_t i = 0; group != NULL && i < group->count; i++)
        if (all[i].index == member.index && all[i].version == member.version) return i;
    return WEFT__NONE;
}

/* The entity of an instance that stands for member `number`; null. */
static weft_entity counterpart(const weft_live *live, const weft_component *components,
                               weft_entity root, weft_entity instance, uint32_t number)
{
    if (number == 0) return instance;
    const weft_buffer *from = weft_entity_read(live->world, root, components[live->linked_group]);
    const weft_buffer *own =
        weft_entity_read(live->world, instance, components[live->linked_group]);
    if (own == NULL || from == NULL || own->count != from->count) return (weft_entity){0};
    return ((const weft_entity *)weft_buffer_read(own))[number];
}

static void instances_follow(applying *of, weft_entity root, uint32_t number)
{
    weft_live *live = of->live;
    uint32_t count = 0;
    const weft_entity *sources =
        weft_relation_sources(live->world, of->components[live->instance_of], root, &count);
    weft_entity *all = weft__alloc(&live->memory, WEFT__MEMORY_OTHER, count + 1, sizeof *all, 16);
    if (all == NULL) {
        of->result = WEFT_OUT_OF_MEMORY;
        return;
    }
    if (count != 0) memcpy(all, sources, count * sizeof *all);
    for (uint32_t i = 0; i < count && of->result == WEFT_OK; i++) {
        if (weft__live_slot_at(live, all[i]) != NULL) continue; /* of the documents */
        applying a = *of;
        a.entity = counterpart(live, of->components, root, all[i], number);
        a.is_instance = true;
        a.is_changed = false;
        if (!weft_entity_is_alive(live->world, a.entity)) continue;
        image_apply(&a);
        of->result = a.result;
        live->report.instances += a.is_changed ? 1 : 0;
    }
    weft__free(&live->memory, WEFT__MEMORY_OTHER, all, count + 1, sizeof *all, 16);
}

/* Entities that the run has made of a prefab, when one of its entities has changed. */
static void prefab_follow(applying *a)
{
    weft_live *live = a->live;
    bool is_prefab = live->prefab != WEFT__NONE && live->instance_of != WEFT__NONE &&
                     live->linked_group != WEFT__NONE && a->base != NULL &&
                     weft__live_image_find(a->file, live->prefab) != NULL;
    if (is_prefab) a->result = weft_relation_settle(live->world);
    if (!is_prefab || a->result != WEFT_OK) return;
    weft_entity root = a->entity;
    uint32_t number = 0;
    while (weft__live_image_find(a->file, live->linked_group) == NULL && number == 0) {
        for (;;) { /* up to the root: it has the group */
            const weft_target *parent =
                weft_entity_read(live->world, root, a->components[live->parent]);
            if (parent == NULL || parent->entity.version == 0) break;
            root = parent->entity;
        }
        number = member_of(live, a->components, root, a->entity);
        if (number == WEFT__NONE) return;
        break;
    }
    instances_follow(a, root, number);
}

/* ---- objects ---- */

static weft_component *components_of(weft_live *live)
{
    weft_component *list =
        weft__alloc(&live->memory, WEFT__MEMORY_OTHER, live->type_count + 1, sizeof *list, 16);
    for (uint32_t t = 0; list != NULL && t < live->type_count; t++)
        list[t] = live->types[t].component;
    return list;
}

/* An entity with the components of an image; what they require comes along. */
static weft_result entity_make(weft_live *live, const weft__live_image *image, weft_entity *out)
{
    weft_component list[WEFT__LIVE_COMPONENTS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < image->value_count; i++) {
        const weft__live_type *type = &live->types[image->values[i].type];
        if ((type->desc->flags & WEFT_SPARSE) == 0) list[count++] = type->component;
    }
    weft_archetype archetype = weft_archetype_create(live->world, list, count);
    if (archetype.id == 0) return weft_world_error(live->world)->code;
    *out = weft_entity_create(live->world, archetype);
    return out->version == 0 ? weft_world_error(live->world)->code : WEFT_OK;
}

static weft_result object_come(weft_live *live, const weft__live_change *change)
{
    weft_entity entity;
    if (change->kind == WEFT__LIVE_REMOVED || weft__live_slot_of(live, change->key) != NULL)
        return WEFT_OK;
    weft_result result = entity_make(live, change->image, &entity);
    if (result != WEFT_OK) return result;
    if (weft__live_slot_add(live, change->key, entity, change->path) == NULL) {
        weft__entity_unmake(live->world, entity);
        return WEFT_OUT_OF_MEMORY;
    }
    live->report.added++;
    return WEFT_OK;
}

/* The entity was destroyed by the run: another one comes, as if it were the first. */
static void object_dead(applying *a, uint64_t key)
{
    if (!is_taken(a, WEFT_LIVE_DESTROYED, WEFT__NONE, NULL)) return;
    a->result = entity_make(a->live, a->file, &a->entity);
    if (a->result != WEFT_OK) return;
    if (!weft__live_slot_move(a->live, key, a->entity)) {
        weft__entity_unmake(a->live->world, a->entity);
        a->result = WEFT_OUT_OF_MEMORY;
        return;
    }
    weft__live_slot *slot = weft__live_slot_of(a->live, key);
    weft__live_image_free(a->live, slot->base);
    a->base = slot->base = NULL;
}

static weft_result object_change(weft_live *live, const weft_component *components,
                                 weft__live_change *change)
{
    weft__live_slot *slot =
        change->kind == WEFT__LIVE_REMOVED ? NULL : weft__live_slot_of(live, change->key);
    if (slot == NULL || change->image == NULL) return WEFT_OK;
    applying a = {.live = live,
                  .components = components,
                  .path = slot->path,
                  .entity = slot->entity,
                  .base = slot->base,
                  .file = change->image};
    const bool was_dead = !weft_entity_is_alive(live->world, slot->entity);
    if (was_dead) object_dead(&a, change->key);
    const bool is_new = a.base == NULL, is_there = weft_entity_is_alive(live->world, a.entity);
    if (is_there && is_new) {
        for (uint32_t i = 0; i < a.file->value_count && a.result == WEFT_OK; i++)
            component_set(&a, &a.file->values[i]);
        if (a.result == WEFT_OK && a.file->name[0] != '\0')
            done(&a, weft_entity_set_name(live->world, a.entity, a.file->name));
    } else if (is_there) {
        image_apply(&a);
        if (a.result == WEFT_OK) prefab_follow(&a);
    }
    if (a.result != WEFT_OK) return a.result;
    live->report.changed += a.is_changed && (!is_new || was_dead) ? 1 : 0;
    slot = weft__live_slot_of(live, change->key);
    weft__live_image_free(live, slot->base);
    slot->base = change->image;
    change->image = NULL;
    return WEFT_OK;
}

static weft_result object_leave(weft_live *live, const weft__live_change *change)
{
    weft__live_slot *slot =
        change->kind == WEFT__LIVE_REMOVED ? weft__live_slot_of(live, change->key) : NULL;
    if (slot == NULL) return WEFT_OK;
    weft_result result = WEFT_OK;
    if (weft_entity_is_alive(live->world, slot->entity))
        result = weft_entity_destroy(live->world, slot->entity);
    if (result != WEFT_OK) return result;
    weft__live_slot_remove(live, slot);
    live->report.removed++;
    return WEFT_OK;
}

weft_result weft__live_go_on(weft_live *live, uint64_t deadline)
{
    weft__live_set *set = live->current;
    weft_component *components = components_of(live);
    weft_result result = components == NULL ? WEFT_OUT_OF_MEMORY : WEFT_OK;
    for (bool is_first = true; live->phase < 3 && result == WEFT_OK; is_first = false) {
        if (live->next == set->changes.count) {
            live->next = 0;
            live->phase++;
            continue;
        }
        if (!is_first && deadline != 0 && weft__live_now() >= deadline) break;
        weft__live_change *change = &set->changes.at[live->next];
        if (live->phase == 0)
            result = object_come(live, change);
        else if (live->phase == 1)
            result = object_change(live, components, change);
        else
            result = object_leave(live, change);
        if (result == WEFT_OK) live->next++;
    }
    weft__free(&live->memory, WEFT__MEMORY_OTHER, components, live->type_count + 1,
               sizeof *components, 16);
    if (live->phase == 3) live->current = NULL;
    return result;
}
