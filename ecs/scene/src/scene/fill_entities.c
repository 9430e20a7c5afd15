/* SPDX-License-Identifier: MIT */
/* fill_entities.c: the entities of a fill, in the order of the tree, made in runs of the same
 * components. An archetype is looked up by the list of its components, in a table of the fill.
 * See fill_entities.h. */
#include "fill_entities.h"

#include "error.h"
#include "hash.h"

#include <weft/transform.h>

#include <string.h>

#define COMPONENTS_MOST 1024u /* of one entity */

bool weft__fill_refuse(weft__fill *f, weft_result result)
{
    if (f->result == WEFT_OK) f->result = result;
    return false;
}

bool weft__fill_world_refused(weft__fill *f)
{
    return weft__fill_refuse(f, weft_world_error(f->world)->code);
}

/* ---- components of the world ---- */

static bool map_component(weft__fill *f, uint32_t id)
{
    if (f->map[id - 1].id != 0) return true;
    const weft__schema_component *known = &f->scene->schema.components.at[id - 1];
    weft_component found = f->world == f->scene->schema.world
                               ? known->component
                               : weft_component_find(f->world, known->desc->name);
    const char *name = known->desc->name;
    if (found.id == 0) {
        weft__error(f->world, WEFT_NOT_FOUND, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "weft_scene_fill: the world has no component \"%s\", which the scene gives: "
                    "register it as in the world of the scene",
                    name);
        return weft__fill_refuse(f, WEFT_NOT_FOUND);
    }
    if (weft_component_hash(f->world, found) != known->hash) {
        weft__error(f->world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, found,
                    "weft_scene_fill: \"%s\" has another layout here than in the world of the "
                    "scene: register it alike in both",
                    name);
        return weft__fill_refuse(f, WEFT_TYPE_MISMATCH);
    }
    f->map[id - 1] = found;
    return true;
}

/* ---- archetypes ---- */

static int by_id(const void *a, const void *b)
{
    const weft_component *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The archetype of a list of components, which may be in any order. */
static weft_archetype archetype_of(weft__fill *f, weft_component *components, uint32_t count)
{
    const weft_archetype none = {0, 0};
    for (uint32_t i = 1; i < count; i++) /* short, and nearly sorted */
        for (uint32_t k = i; k > 0 && by_id(&components[k - 1], &components[k]) > 0; k--) {
            weft_component other = components[k];
            components[k] = components[k - 1];
            components[k - 1] = other;
        }
    uint64_t hash = HASH_K0;
    for (uint32_t i = 0; i < count; i++) hash = hash_word(hash, components[i].id);
    hash = hash_end(hash);
    uint32_t step = 0, number, kinds = f->kinds.count + 1;
    while ((number = weft__table_next(&f->kind_at, (uint32_t)hash, &step)) != 0)
        if (f->kinds.at[number - 1].hash == hash) return f->kinds.at[number - 1].archetype;
    if (!WEFT__SCENE_ROOM(f->memory, &f->kinds, kinds) ||
        !weft__table_room(f->memory, WEFT__MEMORY_OTHER, &f->kind_at, kinds)) {
        weft__fill_refuse(f, WEFT_OUT_OF_MEMORY);
        return none;
    }
    weft_archetype made = weft_archetype_create(f->world, components, count);
    if (made.id == 0) {
        weft__fill_world_refused(f);
        return none;
    }
    f->kinds.at[f->kinds.count++] = (weft__fill_kind){hash, made};
    weft__table_put(&f->kind_at, (uint32_t)hash, kinds);
    return made;
}

/* ---- entities ---- */

static bool add_places(weft__fill *f, uint32_t node, const weft__step *step, weft_component *to,
                       uint32_t *count)
{
    weft_transform_usage usage = weft__place_usage(&f->places, node, step);
    if (usage == WEFT_TRANSFORM_NONE) return true;
    weft__placed values;
    bool is_moving = usage == WEFT_TRANSFORM_DYNAMIC;
    bool is_stretched =
        is_moving && weft__place_values(&f->places, &f->scene->tree, node, step, &values);
    if (f->placed.id == 0 || f->local.id == 0 || (is_stretched && f->stretch.id == 0)) {
        weft__error(f->world, WEFT_NOT_FOUND, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "weft_scene_fill: the scene has places, and the world lacks their components: "
                    "call weft_transform_create there");
        return weft__fill_refuse(f, WEFT_NOT_FOUND);
    }
    to[(*count)++] = f->placed;
    if (is_moving) to[(*count)++] = f->local;
    if (is_stretched) to[(*count)++] = f->stretch;
    return true;
}

/* The archetype of entity number `number` of a node. */
static weft_archetype kind_of(weft__fill *f, uint32_t index, uint32_t number)
{
    const weft_archetype none = {0, 0};
    weft_component list[COMPONENTS_MOST + 8];
    const weft__node *node = &f->scene->tree.nodes.at[index];
    const weft__output *output = node->record->output;
    const char *end = output->steps + output->step_bytes;
    uint32_t count = 0;
    for (const weft__step *s = weft__output_steps(output); (const char *)s < end;
         s = weft__step_next(s)) {
        if (s->entity != number) continue;
        if (count > COMPONENTS_MOST) return weft__fill_refuse(f, WEFT_LIMIT), none;
        if (s->kind == WEFT__STEP_TRANSFORM && !add_places(f, index, s, list, &count)) return none;
        if (s->kind > WEFT__STEP_BUFFER) continue;
        if (!map_component(f, s->component)) return none;
        const weft__schema_component *known = &f->scene->schema.components.at[s->component - 1];
        if ((known->desc->flags & WEFT_SPARSE) == 0) list[count++] = f->map[s->component - 1];
    }
    if (node->root != 0) list[count++] = f->prefab;
    if (number == 0) {
        if (node->root != 0 && node->parent == WEFT__NONE) list[count++] = f->linked_group;
        if (node->prefab != NULL) list[count++] = f->instance_of;
    }
    if (weft__fill_parent(&f->places, &f->scene->tree, index, number) != WEFT__NONE)
        list[count++] = f->parent;
    uint32_t kept = 0; /* a baker may have set Parent or InstanceOf itself */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = 0;
        while (k < kept && list[k].id != list[i].id) k++;
        if (k == kept) list[kept++] = list[i];
    }
    return archetype_of(f, list, kept);
}

static bool make_run(weft__fill *f, weft_archetype archetype, uint32_t begin, uint32_t end)
{
    return begin == end ||
           weft_entity_create_many(f->world, archetype, end - begin, f->entities.at + begin) ==
               WEFT_OK ||
           weft__fill_world_refused(f);
}

bool weft__fill_entities(weft__fill *f)
{
    const weft__tree *tree = &f->scene->tree;
    weft_archetype run = {0, 0};
    uint32_t begin = 0, count = 0;
    for (uint32_t i = 0; i < tree->nodes.count; i++) {
        weft__place_node(&f->places, tree, i);
        f->first[i] = WEFT__NONE;
        if (!weft__fill_has_entity(&tree->nodes.at[i])) continue;
        f->first[i] = count;
        uint32_t own = tree->nodes.at[i].record->output->entity_count;
        for (uint32_t number = 0; number < own; number++, count++) {
            weft_archetype next = kind_of(f, i, number);
            if (f->result != WEFT_OK) break;
            if (next.id == run.id) continue;
            if (!make_run(f, run, begin, count)) break;
            f->entities.count = begin = count;
            run = next;
        }
        if (f->result != WEFT_OK) return false;
    }
    if (!make_run(f, run, begin, count)) return false;
    f->entities.count = count;
    return true;
}
