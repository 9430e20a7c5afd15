/* SPDX-License-Identifier: MIT */
/* fill_tree.c: where the entities of records stand, what is above them, and how they are called.
 * See fill_tree.h. */
#include "fill_tree.h"

#include "utf8.h"

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

static const weft__standing standing_none = {.matrix = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                             .within = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                             .placed = WEFT__NONE};

/* Where what is above a node stands. */
static const weft__standing *standing_above(const weft__places *places, const weft__tree *tree,
                                            uint32_t node)
{
    uint32_t parent = tree->nodes.at[node].parent;
    return parent == WEFT__NONE ? &standing_none : &places->at[parent];
}

void weft__place_node(weft__places *places, const weft__tree *tree, uint32_t index)
{
    const weft__node *node = &tree->nodes.at[index];
    weft__standing *spot = &places->at[index];
    *spot = *standing_above(places, tree, index);
    const weft__step *step = !node->is_simple && weft__fill_has_entity(node)
                                 ? weft__fill_place_of(node->record->output, 0)
                                 : NULL;
    if (step == NULL) return;
    weft__place place;
    float own[12];
    memcpy(&place, step + 1, sizeof place);
    matrix_of(own, &place);
    multiply(spot->matrix, spot->matrix, own);
    multiply(spot->within, spot->within, own);
    if (step->component == WEFT_TRANSFORM_NONE) return;
    if (spot->usage != WEFT_TRANSFORM_DYNAMIC) spot->usage = (weft_transform_usage)step->component;
    spot->placed = index;
    memcpy(spot->within, standing_none.within, sizeof spot->within);
}

weft_transform_usage weft__place_usage(const weft__places *places, uint32_t node,
                                       const weft__step *step)
{
    bool is_moved =
        step->component != WEFT_TRANSFORM_NONE && places->at[node].usage == WEFT_TRANSFORM_DYNAMIC;
    return is_moved ? WEFT_TRANSFORM_DYNAMIC : step->component;
}

bool weft__place_values(const weft__places *places, const weft__tree *tree, uint32_t node,
                        const weft__step *step, weft__placed *out)
{
    const weft__standing *outer =
        step->entity == 0 ? standing_above(places, tree, node) : &places->at[node];
    weft__place place;
    float own[12], world[12];
    memcpy(&place, step + 1, sizeof place);
    matrix_of(own, &place);
    multiply(world, outer->matrix, own);
    memcpy(out->world.rows, world, sizeof world);
    out->local = (weft_local_transform){.scale = place.scale[0]};
    memcpy(out->local.position, place.position, sizeof place.position);
    memcpy(out->local.rotation, place.rotation, sizeof place.rotation);
    out->stretch = (weft_local_stretch){
        .rows[0][0] = place.scale[0], .rows[1][1] = place.scale[1], .rows[2][2] = place.scale[2]};
    bool is_direct = memcmp(outer->within, standing_none.within, sizeof outer->within) == 0;
    if (is_direct && weft__scale_is_even(place.scale)) return false;
    out->local.scale = 1;
    if (is_direct) return true;
    multiply(own, outer->within, own); /* it may shear */
    out->local = weft_local_transform_none();
    for (int i = 0; i < 3; i++) {
        out->local.position[i] = own[4 * i + 3];
        memcpy(out->stretch.rows[i], own + 4 * i, sizeof out->stretch.rows[i]);
    }
    return true;
}

uint32_t weft__fill_parent(const weft__places *places, const weft__tree *tree, uint32_t node,
                           uint32_t number)
{
    const weft__step *step = weft__fill_place_of(tree->nodes.at[node].record->output, number);
    if (step == NULL) return number == 0 ? weft__fill_above(tree, node) : WEFT__NONE;
    const weft__standing *outer =
        number == 0 ? standing_above(places, tree, node) : &places->at[node];
    if (number == 0 && places->at[node].usage == WEFT_TRANSFORM_STATIC) return WEFT__NONE;
    if (step->component != WEFT_TRANSFORM_NONE && outer->placed != WEFT__NONE) return outer->placed;
    return number == 0 ? weft__fill_above(tree, node) : node;
}

bool weft__places_room(weft__places *places, weft__memory *memory, uint32_t nodes)
{
    return WEFT__SCENE_ROOM(memory, places, nodes);
}

void weft__places_free(weft__places *places, weft__memory *memory)
{
    WEFT__SCENE_FREE(memory, places);
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

size_t weft__fill_name_copy(char out[WEFT__FILL_NAME_BYTES], const char *name, size_t bytes)
{
    bytes = weft__utf8_cut(name, bytes, WEFT__FILL_NAME_BYTES - 1);
    memcpy(out, name, bytes);
    out[bytes] = '\0';
    return bytes;
}
