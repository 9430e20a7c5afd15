/* SPDX-License-Identifier: MIT */
/* image.c: an image is gathered from the steps of the record, then from the tree: what a place and
 * the objects above add. Two passes of a fill ask for it, so nothing is copied. See image.h. */
#include "image.h"

#include "utf8.h"

#include <string.h>

bool weft__node_has_entity(const weft__node *node)
{
    return !node->is_removed && !node->is_group && node->record != NULL &&
           node->record->output != NULL;
}

uint32_t weft__node_above(const weft__tree *tree, uint32_t node)
{
    uint32_t at = tree->nodes.at[node].parent;
    while (at != WEFT__NONE && !weft__node_has_entity(&tree->nodes.at[at]))
        at = tree->nodes.at[at].parent;
    return at;
}

bool weft__imaging_begin(weft__imaging *m)
{
    return WEFT__SCENE_ROOM(m->memory, &m->places, m->scene->tree.nodes.count) &&
           WEFT__SCENE_ROOM(m->memory, &m->values, WEFT__IMAGE_VALUES);
}

void weft__imaging_free(weft__imaging *m)
{
    WEFT__SCENE_FREE(m->memory, &m->places);
    WEFT__SCENE_FREE(m->memory, &m->values);
}

/* ---- references ---- */

uint32_t weft__reference_node(const weft__tree *tree, uint32_t node, uint32_t reference,
                              uint32_t *number)
{
    const weft__record_reference *r = &tree->nodes.at[node].record->output->references[reference];
    *number = r->kind == WEFT__REFERENCE_OWN ? (uint32_t)r->path : 0;
    if (r->kind == WEFT__REFERENCE_OWN) return node;
    uint32_t root = r->kind == WEFT__REFERENCE_OBJECT ? 0 : weft__tree_find_root(tree, r->path);
    uint32_t found = r->kind == WEFT__REFERENCE_OBJECT ? weft__tree_find(tree, r->path)
                     : root == WEFT__NONE              ? WEFT__NONE
                                                       : tree->roots.at[root].node;
    return found == WEFT__NONE || !weft__node_has_entity(&tree->nodes.at[found]) ? WEFT__NONE
                                                                                 : found;
}

/* ---- places ---- */

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
static const weft__standing *standing_above(const weft__imaging *m, uint32_t node)
{
    uint32_t parent = m->scene->tree.nodes.at[node].parent;
    return parent == WEFT__NONE ? &standing_none : &m->places.at[parent];
}

/* The place of the own entity of a record; NULL: it has none. */
static const weft__step *place_of(const weft__output *output)
{
    for (const weft__step *s = NULL; (s = weft__step_after(output, s)) != NULL;)
        if (s->kind == WEFT__STEP_TRANSFORM && s->entity == 0) return s;
    return NULL;
}

void weft__image_place(weft__imaging *m, uint32_t index)
{
    const weft__node *node = &m->scene->tree.nodes.at[index];
    weft__standing *spot = &m->places.at[index];
    *spot = *standing_above(m, index);
    const weft__step *step =
        !node->is_simple && weft__node_has_entity(node) ? place_of(node->record->output) : NULL;
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

/* What the entity of a TRANSFORM step gets. Returns whether its stretch is needed. Always: what the
 * system of transforms makes of local and stretch is the world place, while nothing moves. */
static bool place_values(weft__imaging *out, const weft__step *step)
{
    const weft__standing *outer =
        step->entity == 0 ? standing_above(out, out->node) : &out->places.at[out->node];
    weft__place place;
    float own[12], world[12];
    memcpy(&place, step + 1, sizeof place);
    out->local = (weft_local_transform){.scale = place.scale[0]};
    memcpy(out->local.position, place.position, sizeof place.position);
    memcpy(out->local.rotation, place.rotation, sizeof place.rotation);
    out->stretch = (weft_local_stretch){
        .rows[0][0] = place.scale[0], .rows[1][1] = place.scale[1], .rows[2][2] = place.scale[2]};
    bool is_direct = memcmp(outer->within, standing_none.within, sizeof outer->within) == 0;
    if (step->entity != 0 || !is_direct) matrix_of(own, &place);
    if (step->entity != 0) multiply(world, outer->matrix, own);
    memcpy(out->world.rows, step->entity != 0 ? world : out->places.at[out->node].matrix,
           sizeof world);
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

/* The node whose entity is the Parent of an entity with the place `step` (NULL: without one);
 * WEFT__NONE. Static ones have none, they are folded; those that move have one with a place, if
 * there is any above. */
static uint32_t parent_of(const weft__imaging *m, const weft__step *step, uint32_t number)
{
    const weft__tree *tree = &m->scene->tree;
    if (step == NULL) return number == 0 ? weft__node_above(tree, m->node) : WEFT__NONE;
    const weft__standing *outer = number == 0 ? standing_above(m, m->node) : &m->places.at[m->node];
    if (number == 0 && m->places.at[m->node].usage == WEFT_TRANSFORM_STATIC) return WEFT__NONE;
    if (step->component != WEFT_TRANSFORM_NONE && outer->placed != WEFT__NONE) return outer->placed;
    return number == 0 ? weft__node_above(tree, m->node) : m->node;
}

/* ---- values ---- */

static weft__image_value *find(const weft__imaging *m, uint32_t component)
{
    return weft__image_find(m->values.at, m->values.count, component);
}

static weft__image_value *put(weft__imaging *m, uint32_t component, uint32_t count, const void *at,
                              size_t bytes)
{
    if (m->values.count >= WEFT__IMAGE_VALUES) {
        m->result = WEFT_LIMIT;
        m->values.count--;
    }
    weft__image_value *value = &m->values.at[m->values.count++];
    *value = (weft__image_value){.component = component, .count = count, .at = at, .bytes = bytes};
    return value;
}

/* What the tree says of a component, unless the record does. */
static void put_entities(weft__imaging *m, weft_component component, uint32_t target,
                         uint32_t count)
{
    if (find(m, component.id) == NULL)
        put(m, component.id, count, NULL, count * sizeof(weft_entity))->target = target;
}

/* The place stands, whatever a baker has said before. */
static void put_placed(weft__imaging *m, weft_component component, const void *at, size_t bytes)
{
    weft__image_value *known = find(m, component.id);
    if (known == NULL) known = put(m, component.id, 1, at, bytes);
    known->at = at;
    known->is_step = false;
}

static void put_place(weft__imaging *m, const weft__step *step)
{
    const weft__schema *schema = &m->scene->schema;
    if (step->component == WEFT_TRANSFORM_NONE) return;
    bool is_stretched = place_values(m, step);
    put_placed(m, schema->placed, &m->world, sizeof m->world);
    if (step->component != WEFT_TRANSFORM_DYNAMIC &&
        m->places.at[m->node].usage != WEFT_TRANSFORM_DYNAMIC)
        return;
    put_placed(m, schema->local, &m->local, sizeof m->local);
    if (is_stretched) put_placed(m, schema->stretch, &m->stretch, sizeof m->stretch);
}

/* The name that the tree gives to the own entity of a node; none: it is of an "each". */
static void take_name(weft__imaging *m, const weft__node *node)
{
    if (node->is_record) return;
    m->name = node->name;
    m->name_bytes = node->name_bytes;
    if (node->parent != WEFT__NONE) return;
    const char *key = m->scene->tree.roots.at[node->root].key, *mark = strrchr(key, '#');
    const char *slash = strrchr(key, '/');
    m->name = slash > mark ? slash + 1 : mark == NULL ? key : mark + 1;
    m->name_bytes = strlen(m->name);
}

size_t weft__image_name(const weft__imaging *m, char out[WEFT__IMAGE_NAME_BYTES])
{
    size_t bytes = weft__utf8_cut(m->name, m->name_bytes, WEFT__IMAGE_NAME_BYTES - 1);
    memcpy(out, m->name, bytes);
    out[bytes] = '\0';
    return bytes;
}

/* ---- images ---- */

/* What the record says; returns the place of the entity. */
static const weft__step *take_steps(weft__imaging *m, const weft__output *output, uint32_t number)
{
    const weft__step *place = NULL;
    weft__image_value *at;
    for (const weft__step *s = NULL; (s = weft__step_after(output, s)) != NULL;) {
        if (s->entity != number) continue;
        switch (s->kind) {
        case WEFT__STEP_SET:
        case WEFT__STEP_BUFFER: /* once, but for what a place has said before */
            at = place == NULL ? NULL : find(m, s->component);
            if (at == NULL)
                at = put(m, s->component, s->count, s + 1, s->bytes);
            else
                at->at = (const char *)(s + 1);
            at->is_step = true;
            break;
        case WEFT__STEP_DISABLE: /* its value is there */
            at = find(m, s->component);
            if (at != NULL) at->is_disabled = true;
            break;
        case WEFT__STEP_NAME:
            m->name = (const char *)(s + 1);
            m->name_bytes = s->bytes - 1;
            break;
        case WEFT__STEP_TRANSFORM:
            put_place(m, place = s);
            break;
        }
    }
    return place;
}

/* How many entities a root has. Its nodes were made in one go. */
static uint32_t group_count(const weft__tree *tree, uint32_t index)
{
    uint32_t count = 0, root = tree->nodes.at[index].root;
    for (uint32_t i = index; i < tree->nodes.count && tree->nodes.at[i].root == root; i++)
        if (weft__node_has_entity(&tree->nodes.at[i]))
            count += tree->nodes.at[i].record->output->entity_count;
    return count;
}

static void take_tree(weft__imaging *m, const weft__node *node, const weft__step *place,
                      uint32_t number)
{
    const weft__tree *tree = &m->scene->tree;
    const weft__schema *schema = &m->scene->schema;
    uint32_t parent = parent_of(m, place, number);
    if (node->root != 0) put_entities(m, schema->prefab, WEFT__NONE, 0);
    if (parent != WEFT__NONE) put_entities(m, schema->parent, parent, 1);
    if (number != 0) return;
    if (node->prefab != NULL) {
        uint32_t root = weft__tree_find_root(tree, weft__prefab_hash(node->prefab));
        uint32_t target = root == WEFT__NONE ? WEFT__NONE : tree->roots.at[root].node;
        if (target != WEFT__NONE && !weft__node_has_entity(&tree->nodes.at[target]))
            target = WEFT__NONE;
        put_entities(m, schema->instance_of, target, 1);
    }
    if (node->root != 0 && node->parent == WEFT__NONE)
        put_entities(m, schema->linked_group, m->node, group_count(tree, m->node));
}

weft_result weft__image_make(weft__imaging *m, uint32_t index, uint32_t number)
{
    const weft__node *node = &m->scene->tree.nodes.at[index];
    m->node = index;
    m->values.count = 0;
    m->name = NULL;
    m->name_bytes = 0;
    m->result = WEFT_OK;
    const weft__step *place = take_steps(m, node->record->output, number);
    take_tree(m, node, place, number);
    if (m->name == NULL && number == 0) take_name(m, node);
    return m->result;
}
