/* SPDX-License-Identifier: MIT */
/* fill_tree.c: where the entities of records stand, what is above them, and how they are called.
 * See fill_tree.h. */
#include "fill_tree.h"

#include <string.h>

bool weft__fill_has_entity(const weft__node *node)
{
    return !node->is_removed && !node->is_group && node->record != NULL &&
           node->record->output != NULL;
}

/* The nearest node above that is an entity; WEFT__NONE. */
uint32_t weft__fill_above(const weft__tree *tree, uint32_t node)
{
    uint32_t at = tree->nodes.at[node].parent;
    while (at != WEFT__NONE && !weft__fill_has_entity(&tree->nodes.at[at]))
        at = tree->nodes.at[at].parent;
    return at;
}

const weft__step *weft__fill_place_of(const weft__output *output, uint32_t entity)
{
    const char *end = output->steps + output->step_bytes;
    for (const weft__step *s = weft__output_steps(output); (const char *)s < end;
         s = weft__step_next(s))
        if (s->kind == WEFT__STEP_TRANSFORM && s->entity == entity) return s;
    return NULL;
}

static void multiply(float out[12], const float a[12], const float b[12])
{
    float result[12];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++)
            result[4 * i + k] = a[4 * i] * b[k] + a[4 * i + 1] * b[4 + k] +
                                a[4 * i + 2] * b[8 + k] + (k == 3 ? a[4 * i + 3] : 0);
    memcpy(out, result, sizeof result);
}

static void matrix_of(float out[12], const weft__place *p)
{
    float x = p->rotation[0], y = p->rotation[1], z = p->rotation[2], w = p->rotation[3];
    const float turn[9] = {
        1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),
        2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
        2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y)};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) out[4 * i + k] = turn[3 * i + k] * p->scale[k];
        out[4 * i + 3] = p->position[i];
    }
}

static const float unit_matrix[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

void weft__place_node(weft__places *places, const weft__tree *tree, uint32_t index)
{
    const weft__node *node = &tree->nodes.at[index];
    bool has_parent = node->parent != WEFT__NONE;
    weft_transform_usage outer = has_parent ? places->usage[node->parent] : WEFT_TRANSFORM_NONE;
    memcpy(places->matrix[index], has_parent ? places->matrix[node->parent] : unit_matrix,
           sizeof unit_matrix);
    places->usage[index] = (uint8_t)outer;
    const weft__step *step = !node->is_simple && weft__fill_has_entity(node)
                                 ? weft__fill_place_of(node->record->output, 0)
                                 : NULL;
    if (step == NULL) return;
    weft__place place;
    float own[12];
    memcpy(&place, step + 1, sizeof place);
    matrix_of(own, &place);
    multiply(places->matrix[index], places->matrix[index], own);
    if (step->component == WEFT_TRANSFORM_NONE) return;
    places->usage[index] =
        (uint8_t)(outer == WEFT_TRANSFORM_DYNAMIC ? WEFT_TRANSFORM_DYNAMIC : step->component);
}

weft_transform_usage weft__place_usage(const weft__places *places, uint32_t node,
                                       const weft__step *step)
{
    bool is_moved =
        step->component != WEFT_TRANSFORM_NONE && places->usage[node] == WEFT_TRANSFORM_DYNAMIC;
    return is_moved ? WEFT_TRANSFORM_DYNAMIC : step->component;
}

void weft__place_values(const weft__places *places, uint32_t node, const weft__step *step,
                        weft_world_transform *world, weft_local_transform *local)
{
    weft__place place;
    float own[12];
    memcpy(&place, step + 1, sizeof place);
    *local = (weft_local_transform){.scale = place.scale[0]};
    memcpy(local->position, place.position, sizeof local->position);
    memcpy(local->rotation, place.rotation, sizeof local->rotation);
    memcpy(world->rows, places->matrix[node], sizeof world->rows);
    if (step->entity == 0) return;
    matrix_of(own, &place);
    multiply(own, places->matrix[node], own);
    memcpy(world->rows, own, sizeof world->rows);
}

bool weft__fill_is_child(const weft__places *places, const weft__tree *tree, uint32_t node)
{
    return weft__fill_above(tree, node) != WEFT__NONE &&
           !(weft__fill_place_of(tree->nodes.at[node].record->output, 0) != NULL &&
             places->usage[node] == WEFT_TRANSFORM_STATIC);
}

bool weft__places_room(weft__places *places, weft__memory *memory, uint32_t nodes)
{
    if (nodes <= places->room) return true;
    weft__places_free(places, memory);
    places->usage = weft__alloc(memory, WEFT__MEMORY_OTHER, nodes, sizeof *places->usage, 16);
    places->matrix = weft__alloc(memory, WEFT__MEMORY_OTHER, nodes, sizeof *places->matrix, 16);
    places->room = nodes;
    if (places->usage != NULL && places->matrix != NULL) return true;
    weft__places_free(places, memory);
    return false;
}

void weft__places_free(weft__places *places, weft__memory *memory)
{
    weft__free(memory, WEFT__MEMORY_OTHER, places->usage, places->room, sizeof *places->usage, 16);
    weft__free(memory, WEFT__MEMORY_OTHER, places->matrix, places->room, sizeof *places->matrix,
               16);
    *places = (weft__places){0};
}

/* ---- parents, prefabs, names ---- */

bool weft__fill_has_step(const weft__output *output, uint32_t entity, weft_component component)
{
    const char *end = output->steps + output->step_bytes;
    for (const weft__step *s = weft__output_steps(output); (const char *)s < end;
         s = weft__step_next(s))
        if (s->kind == WEFT__STEP_SET && s->entity == entity && s->component == component.id)
            return true;
    return false;
}

uint32_t weft__fill_prefab(const weft__tree *tree, uint32_t node)
{
    uint32_t root = weft__tree_find_root(tree, weft__prefab_hash(tree->nodes.at[node].prefab));
    return root == WEFT__NONE ? WEFT__NONE : tree->roots.at[root].node;
}

size_t weft__fill_name(const weft__tree *tree, uint32_t index, const char **name)
{
    const weft__node *node = &tree->nodes.at[index];
    *name = node->name;
    if (node->is_record) return 0;
    if (node->parent != WEFT__NONE) return node->name_bytes;
    const char *key = tree->roots.at[node->root].key, *mark = strrchr(key, '#');
    const char *slash = strrchr(key, '/');
    *name = slash > mark ? slash + 1 : mark == NULL ? key : mark + 1;
    return strlen(*name);
}
