/* SPDX-License-Identifier: MIT */
/* fill_values.c: what records say of entities, done to those of a world; then what the tree says:
 * parents, prefabs of instances, linked groups of prefabs. See fill_values.h. */
#include "fill_values.h"

#include <weft/transform.h>

#include <string.h>

/* ---- values ---- */

weft_entity weft__fill_entity_of(const weft__fill *f, uint32_t node)
{
    const weft_entity none = {0, 0};
    if (node == WEFT__NONE || f->first[node] == WEFT__NONE) return none;
    return f->entities.at[f->first[node]];
}

static weft_entity resolve(const weft__fill *f, uint32_t node, uint32_t number)
{
    const weft__tree *tree = &f->scene->tree;
    const weft__reference *r = &tree->nodes.at[node].record->output->references[number];
    if (r->kind == WEFT__REFERENCE_OWN) return f->entities.at[f->first[node] + r->path];
    if (r->kind == WEFT__REFERENCE_OBJECT)
        return weft__fill_entity_of(f, weft__tree_find(tree, r->path));
    uint32_t root = weft__tree_find_root(tree, r->path);
    return weft__fill_entity_of(f, root == WEFT__NONE ? WEFT__NONE : tree->roots.at[root].node);
}

static weft_blob_ref copy_blob(weft__fill *f, const weft__record_blob *blob, bool is_owned)
{
    const weft_blob_ref none = {0};
    weft_blob_info info;
    if (f->blobs == NULL) f->blobs = weft_world_blobs(f->world);
    if (f->blobs == NULL) return weft__fill_world_refused(f), none;
    uint32_t i = 0;
    while (i < f->copies.count && f->copies.at[i].from != blob->ref.id) i++;
    if (i == f->copies.count) {
        weft__fill_blob *added = WEFT__SCENE_ADD(f->memory, &f->copies);
        weft_result result =
            added == NULL ? WEFT_OUT_OF_MEMORY
                          : weft_blob_info_get(f->scene->blobs, blob->ref, &info, sizeof info);
        const weft_blob_load_desc desc = {.type = blob->type};
        if (added != NULL) *added = (weft__fill_blob){blob->ref.id, none};
        if (result == WEFT_OK)
            result = weft_blob_adopt(f->blobs, info.block, info.block_bytes, &desc, &added->to);
        if (result != WEFT_OK) {
            if (added != NULL) f->copies.count--;
            return weft__fill_refuse(f, result), none;
        }
    }
    weft_blob_ref to = f->copies.at[i].to;
    if (is_owned && weft_blob_acquire(f->blobs, to) != WEFT_OK) weft__fill_refuse(f, WEFT_LIMIT);
    return to;
}

/* Leads references of one value to the world. */
static void translate(weft__fill *f, uint32_t node, const weft__schema_component *known,
                      char *value)
{
    bool is_owned = known->desc->hooks.destruct != NULL;
    for (uint32_t i = 0; i < known->desc->field_count; i++) {
        const weft_field *field = &known->desc->fields[i];
        bool is_entity = field->kind == WEFT_FIELD_ENTITY;
        uint32_t count = field->count == 0 ? 1 : field->count;
        for (uint32_t k = 0; k < count && (is_entity || field->kind == WEFT_FIELD_BLOB); k++) {
            char *at = value + field->offset + 8 * k;
            uint64_t bits;
            memcpy(&bits, at, sizeof bits);
            if (bits == 0) continue;
            if (is_entity) {
                weft_entity to;
                memcpy(&to, at, sizeof to);
                to = resolve(f, node, to.index);
                memcpy(at, &to, sizeof to);
            } else {
                const weft__output *output = f->scene->tree.nodes.at[node].record->output;
                weft_blob_ref to = copy_blob(f, &output->blobs[bits - 1], is_owned);
                memcpy(at, &to, sizeof to);
            }
        }
    }
}

/* The values of a step, ready for the world. */
static const char *values_of(weft__fill *f, uint32_t node, const weft__step *step,
                             const weft__schema_component *known)
{
    const char *values = (const char *)(step + 1);
    if (!known->has_references) return values;
    if (!WEFT__SCENE_ROOM(f->memory, &f->scratch, (uint32_t)step->bytes + 64)) {
        weft__fill_refuse(f, WEFT_OUT_OF_MEMORY);
        return NULL;
    }
    memcpy(f->scratch.at, values, step->bytes);
    for (uint32_t i = 0; i < step->count; i++)
        translate(f, node, known, f->scratch.at + i * known->desc->size);
    return f->scratch.at;
}

static bool set_buffer(weft__fill *f, weft_entity entity, weft_component component,
                       const char *elements, uint32_t count, size_t size)
{
    weft_buffers buffers = weft_entity_write_buffer(f->world, entity, component);
    if (weft_buffers_resize(&buffers, 0, count) != WEFT_OK) return weft__fill_world_refused(f);
    if (count != 0) memcpy(weft_buffers_write(&buffers, 0), elements, (size_t)count * size);
    return true;
}

static bool set_values(weft__fill *f, uint32_t node, weft_entity entity, const weft__step *step)
{
    const weft__schema_component *known = &f->scene->schema.components.at[step->component - 1];
    weft_component component = f->map[step->component - 1];
    const char *values = values_of(f, node, step, known);
    weft_result result;
    if (f->result != WEFT_OK) return false;
    if (step->kind == WEFT__STEP_BUFFER)
        return set_buffer(f, entity, component, values, step->count, known->desc->size);
    if ((known->desc->flags & WEFT_SHARED) != 0)
        result = weft_entity_set_shared(f->world, entity, component, values);
    else if (known->desc->size == 0)
        result = (known->desc->flags & WEFT_SPARSE) != 0
                     ? weft_entity_add(f->world, entity, component)
                     : WEFT_OK;
    else
        result = weft_entity_set(f->world, entity, component, values, known->desc->size);
    return result == WEFT_OK || weft__fill_refuse(f, result);
}

static bool set_place(weft__fill *f, uint32_t node, weft_entity entity, const weft__step *step)
{
    weft__placed v;
    weft_world *world = f->world;
    weft_transform_usage usage = weft__place_usage(&f->places, node, step);
    if (usage == WEFT_TRANSFORM_NONE) return true;
    bool is_stretched = weft__place_values(&f->places, &f->scene->tree, node, step, &v);
    weft_result result = weft_entity_set(world, entity, f->placed, &v.world, sizeof v.world);
    if (result == WEFT_OK && usage == WEFT_TRANSFORM_DYNAMIC)
        result = weft_entity_set(world, entity, f->local, &v.local, sizeof v.local);
    if (result == WEFT_OK && usage == WEFT_TRANSFORM_DYNAMIC && is_stretched)
        result = weft_entity_set(world, entity, f->stretch, &v.stretch, sizeof v.stretch);
    return result == WEFT_OK || weft__fill_refuse(f, result);
}

/* The entity's name: what a baker said, else that of its object. */
static bool set_name(weft__fill *f, weft_entity entity, const char *name, size_t bytes)
{
    char text[WEFT__FILL_NAME_BYTES];
    return weft__fill_name_copy(text, name, bytes) == 0 ||
           weft_entity_set_name(f->world, entity, text) == WEFT_OK || weft__fill_world_refused(f);
}

static bool set_steps(weft__fill *f, uint32_t index)
{
    const weft__node *node = &f->scene->tree.nodes.at[index];
    const weft__output *output = node->record->output;
    const char *end = output->steps + output->step_bytes;
    const weft_entity *entities = f->entities.at + f->first[index];
    bool is_set = true, has_name = false;
    for (const weft__step *s = weft__output_steps(output); (const char *)s < end && is_set;
         s = weft__step_next(s)) {
        weft_entity entity = entities[s->entity];
        switch (s->kind) {
        case WEFT__STEP_SET:
        case WEFT__STEP_BUFFER:
            is_set = set_values(f, index, entity, s);
            break;
        case WEFT__STEP_DISABLE:
            is_set =
                weft_entity_enable(f->world, entity, f->map[s->component - 1], false) == WEFT_OK ||
                weft__fill_world_refused(f);
            break;
        case WEFT__STEP_NAME:
            has_name |= s->entity == 0;
            is_set = set_name(f, entity, (const char *)(s + 1), s->bytes - 1);
            break;
        case WEFT__STEP_TRANSFORM:
            is_set = set_place(f, index, entity, s);
            break;
        }
    }
    if (!is_set || has_name) return is_set;
    const char *name;
    size_t bytes = weft__fill_name(&f->scene->tree, index, &name);
    return set_name(f, entities[0], name, bytes);
}

/* ---- relations ---- */

static bool set_target(weft__fill *f, weft_entity entity, weft_component component,
                       weft_entity target)
{
    const weft_target value = {target};
    return weft_entity_set(f->world, entity, component, &value, sizeof value) == WEFT_OK ||
           weft__fill_world_refused(f);
}

static bool set_relations(weft__fill *f, uint32_t index)
{
    const weft__tree *tree = &f->scene->tree;
    const weft__node *node = &tree->nodes.at[index];
    const weft__output *output = node->record->output;
    const weft_entity *entities = f->entities.at + f->first[index];
    for (uint32_t i = 0; i < output->entity_count; i++) {
        uint32_t parent = weft__fill_parent(&f->places, tree, index, i);
        if (parent != WEFT__NONE && !weft__fill_has_step(output, i, f->scene->schema.parent) &&
            !set_target(f, entities[i], f->parent, weft__fill_entity_of(f, parent)))
            return false;
    }
    if (node->prefab == NULL || weft__fill_has_step(output, 0, f->scene->schema.instance_of))
        return true;
    weft_entity prefab = weft__fill_entity_of(f, weft__fill_prefab(tree, index));
    return set_target(f, entities[0], f->instance_of, prefab);
}

/* The linked group of a prefab: all entities of the root, its own first. */
static bool set_group(weft__fill *f, uint32_t root)
{
    const weft__tree *tree = &f->scene->tree;
    uint32_t node = tree->roots.at[root].node;
    uint32_t begin = WEFT__NONE, end = 0;
    if (!weft__fill_has_entity(&tree->nodes.at[node])) return true;
    /* The nodes of a root were made in one go. */
    for (uint32_t i = node; i < tree->nodes.count && tree->nodes.at[i].root == root; i++) {
        if (f->first[i] == WEFT__NONE) continue;
        if (begin == WEFT__NONE) begin = f->first[i];
        end = f->first[i] + tree->nodes.at[i].record->output->entity_count;
    }
    return set_buffer(f, f->entities.at[begin], f->linked_group,
                      (const char *)(f->entities.at + begin), end - begin, sizeof(weft_entity));
}

bool weft__fill_values(weft__fill *f)
{
    const weft__tree *tree = &f->scene->tree;
    for (uint32_t i = 0; i < tree->nodes.count; i++)
        if (f->first[i] != WEFT__NONE && !(set_steps(f, i) && set_relations(f, i))) return false;
    for (uint32_t r = 1; r < tree->roots.count; r++)
        if (!set_group(f, r)) return false;
    return true;
}
