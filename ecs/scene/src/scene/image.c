/* SPDX-License-Identifier: MIT */
/* image.c: images of entities, and what they become in a world.
 *
 * An image is gathered from the steps of the record, then from the tree: what a place and the
 * objects above add. Two passes of a fill ask for it, so nothing is copied. A fill makes all
 * entities first, in the order of the tree, in runs of the same components; then they get their
 * values, with references led to the new entities and blobs. A fill that fails takes back what it
 * made. */
#include "image.h"
#include "error.h"
#include "unmake.h"
#include "utf8.h"

#include <weft/buffers.h>
#include <weft/relation.h>
#include <weft/snapshot.h>

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

static void matrix_of(float out[12], const weft__bake_place *p)
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

void weft__image_place(weft__imaging *m, uint32_t index)
{
    const weft__node *node = &m->scene->tree.nodes.at[index];
    weft__standing *spot = &m->places.at[index];
    *spot = *standing_above(m, index);
    const weft__bake_step *step = NULL;
    if (node->is_simple || !weft__node_has_entity(node)) return;
    while ((step = weft__step_after(node->record->output, step)) != NULL &&
           (step->kind != WEFT__STEP_TRANSFORM || step->entity != 0)) {
    }
    if (step == NULL) return;
    weft__bake_place place;
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
static bool place_values(weft__imaging *out, const weft__bake_step *step)
{
    const weft__standing *outer =
        step->entity == 0 ? standing_above(out, out->node) : &out->places.at[out->node];
    weft__bake_place place;
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
static uint32_t parent_of(const weft__imaging *m, const weft__bake_step *step, uint32_t number)
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

static void put_place(weft__imaging *m, const weft__bake_step *step)
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
static const weft__bake_step *take_steps(weft__imaging *m, const weft__output *output,
                                         uint32_t number)
{
    const weft__bake_step *place = NULL;
    weft__image_value *at;
    for (const weft__bake_step *s = NULL; (s = weft__step_after(output, s)) != NULL;) {
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

static void take_tree(weft__imaging *m, const weft__node *node, const weft__bake_step *place,
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
    if (node->root == 0 || node->parent != WEFT__NONE) return;
    uint32_t count = 0; /* entities of the root, whose nodes were made in one go */
    for (uint32_t i = m->node; i < tree->nodes.count && tree->nodes.at[i].root == node->root; i++)
        if (weft__node_has_entity(&tree->nodes.at[i]))
            count += tree->nodes.at[i].record->output->entity_count;
    put_entities(m, schema->linked_group, m->node, count);
}

weft_result weft__image_make(weft__imaging *m, uint32_t index, uint32_t number)
{
    const weft__node *node = &m->scene->tree.nodes.at[index];
    m->node = index;
    m->values.count = 0;
    m->name = NULL;
    m->name_bytes = 0;
    m->result = WEFT_OK;
    const weft__bake_step *place = take_steps(m, node->record->output, number);
    take_tree(m, node, place, number);
    if (m->name == NULL && number == 0) take_name(m, node);
    return m->result;
}

weft_result weft__value_give(weft_world *world, weft_entity entity, weft_component component,
                             const weft__image_value *value, const char *bytes, bool is_made)
{
    const uint32_t flags = weft_component_info(world, component)->flags;
    weft_result result = WEFT_OK;
    if ((flags & WEFT_SHARED) != 0)
        result = weft_entity_set_shared(world, entity, component, bytes);
    else if ((flags & WEFT_BUFFER) == 0 && value->bytes != 0)
        result = weft_entity_set(world, entity, component, bytes, value->bytes);
    else if (!is_made || (flags & WEFT_SPARSE) != 0)
        result = weft_entity_add(world, entity, component);
    if (result == WEFT_OK && (flags & WEFT_BUFFER) != 0) {
        weft_buffers buffer = weft_entity_write_buffer(world, entity, component);
        result = weft_buffers_resize(&buffer, 0, 0);
        if (result == WEFT_OK && value->count != 0)
            result = weft_buffers_append(&buffer, 0, bytes, value->count);
    }
    if (result == WEFT_OK && (value->is_disabled || (!is_made && (flags & WEFT_ENABLEABLE) != 0)))
        result = weft_entity_enable(world, entity, component, !value->is_disabled);
    return result;
}

/* ---- fills ---- */

/* A blob of the scene in the world's store. Owner: the fill. */
typedef struct blob_copy {
    uint64_t from;
    weft_blob_ref to;
} blob_copy;

/* A fill. On the stack of weft_scene_fill. */
typedef struct fill {
    weft_scene *scene;
    weft__memory *memory;
    weft_world *world;
    weft_blob_store *blobs; /* of the world; NULL: not needed yet */
    weft__pile pile;
    weft_component *map; /* component of the world by id of the schema - 1; null: not needed yet */
    uint32_t *first;     /* [nodes]: first entity of the node; WEFT__NONE */
    weft__imaging imaging;
    WEFT__LIST(weft_entity) entities;
    WEFT__LIST(blob_copy) copies;
    WEFT__LIST(char) scratch;
    bool is_owned; /* the value that is led has references of its own */
    weft_result result;
} fill;

/* Always false: keeps the first reason. */
static bool refuse(fill *f, weft_result result)
{
    if (f->result == WEFT_OK) f->result = result;
    return false;
}

static bool world_refused(fill *f)
{
    return refuse(f, weft_world_error(f->world)->code);
}

static bool map_component(fill *f, uint32_t id)
{
    if (f->map[id - 1].id != 0) return true;
    const weft__schema *schema = &f->scene->schema;
    const weft__schema_component *known = &schema->components.at[id - 1];
    weft_component found = f->world == schema->world
                               ? known->component
                               : weft_component_find(f->world, known->desc->name);
    const char *name = known->desc->name;
    if (found.id == 0) {
        bool is_place =
            id == schema->placed.id || id == schema->local.id || id == schema->stretch.id;
        weft__error(f->world, WEFT_NOT_FOUND, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                    "weft_scene_fill: the world has no component \"%s\", which the scene gives: %s",
                    name,
                    is_place ? "call weft_transform_create there"
                             : "register it as in the world of the scene");
        return refuse(f, WEFT_NOT_FOUND);
    }
    if (weft_component_hash(f->world, found) != known->hash) {
        weft__error(f->world, WEFT_TYPE_MISMATCH, WEFT__NO_ENTITY, found,
                    "weft_scene_fill: \"%s\" has another layout here than in the world of the "
                    "scene: register it alike in both",
                    name);
        return refuse(f, WEFT_TYPE_MISMATCH);
    }
    f->map[id - 1] = found;
    return true;
}

/* ---- entities ---- */

/* The archetype of entity number `number` of a node. */
static weft_archetype kind_of(fill *f, uint32_t index, uint32_t number)
{
    const weft_archetype none = {0, 0};
    weft_component list[WEFT__IMAGE_VALUES];
    uint32_t count = 0;
    if (weft__image_make(&f->imaging, index, number) != WEFT_OK)
        return refuse(f, f->imaging.result), none;
    for (uint32_t i = 0; i < f->imaging.values.count; i++) {
        uint32_t id = f->imaging.values.at[i].component;
        if (!map_component(f, id)) return none;
        if ((f->scene->schema.components.at[id - 1].desc->flags & WEFT_SPARSE) == 0)
            list[count++] = f->map[id - 1];
    }
    weft_archetype made = weft_archetype_create(f->world, list, count);
    if (made.id == 0) world_refused(f);
    return made;
}

static bool make_run(fill *f, weft_archetype archetype, uint32_t begin, uint32_t end)
{
    return begin == end ||
           weft_entity_create_many(f->world, archetype, end - begin, f->entities.at + begin) ==
               WEFT_OK ||
           world_refused(f);
}

static bool make_entities(fill *f)
{
    const weft__tree *tree = &f->scene->tree;
    weft_archetype run = {0, 0};
    uint32_t begin = 0, count = 0;
    for (uint32_t i = 0; i < tree->nodes.count; i++) {
        weft__image_place(&f->imaging, i);
        f->first[i] = WEFT__NONE;
        if (!weft__node_has_entity(&tree->nodes.at[i])) continue;
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

/* ---- values ---- */

/* An entity of a node; null: there is none. */
static weft_entity entity_of(const fill *f, uint32_t node, uint32_t number)
{
    const weft_entity none = {0, 0};
    if (node == WEFT__NONE || f->first[node] == WEFT__NONE) return none;
    return f->entities.at[f->first[node] + number];
}

static weft_blob_ref copy_blob(fill *f, const weft__record_blob *blob)
{
    const weft_blob_ref none = {0};
    weft_blob_info info;
    if (f->blobs == NULL) f->blobs = weft_world_blobs(f->world);
    if (f->blobs == NULL) return world_refused(f), none;
    uint32_t i = 0;
    while (i < f->copies.count && f->copies.at[i].from != blob->ref.id) i++;
    if (i == f->copies.count) {
        blob_copy added = {blob->ref.id, none};
        const weft_blob_load_desc desc = {.type = blob->type};
        if (!WEFT__SCENE_ROOM(f->memory, &f->copies, i + 1))
            return refuse(f, WEFT_OUT_OF_MEMORY), none;
        weft_result result = weft_blob_info_get(f->scene->blobs, blob->ref, &info, sizeof info);
        if (result == WEFT_OK)
            result = weft_blob_adopt(f->blobs, info.block, info.block_bytes, &desc, &added.to);
        if (result != WEFT_OK) return refuse(f, result), none;
        f->copies.at[f->copies.count++] = added;
    }
    weft_blob_ref to = f->copies.at[i].to;
    if (f->is_owned && weft_blob_acquire(f->blobs, to) != WEFT_OK) refuse(f, WEFT_LIMIT);
    return to;
}

/* A reference of a record becomes one of the world. */
static bool lead(void *user, weft__reference *reference)
{
    fill *f = user;
    const weft__tree *tree = &f->scene->tree;
    const weft__output *output = tree->nodes.at[f->imaging.node].record->output;
    if (reference->bits == 0) return true;
    if (reference->is_blob) {
        reference->blob = copy_blob(f, &output->blobs[reference->bits - 1]);
    } else {
        uint32_t number;
        uint32_t node =
            weft__reference_node(tree, f->imaging.node, reference->entity.index, &number);
        reference->entity = entity_of(f, node, number);
    }
    return f->result == WEFT_OK;
}

/* A value ready for the world; f->result: whether. */
static const char *value_of(fill *f, const weft__image_value *value,
                            const weft__schema_component *known)
{
    static const weft_entity none;
    if (value->at == NULL && value->bytes != 0)
        return (const char *)(value->target == WEFT__NONE
                                  ? &none
                                  : f->entities.at + f->first[value->target]);
    if (!value->is_step || weft__type_of(known->desc)->reference_count == 0) return value->at;
    if (!WEFT__SCENE_ROOM(f->memory, &f->scratch, (uint32_t)value->bytes + 64))
        return refuse(f, WEFT_OUT_OF_MEMORY), NULL;
    memcpy(f->scratch.at, value->at, value->bytes);
    f->is_owned = known->desc->hooks.destruct != NULL;
    weft__elements_references(weft__type_of(known->desc), f->scratch.at, value->count, lead, f);
    return f->scratch.at;
}

static bool set_value(fill *f, weft_entity entity, const weft__image_value *value)
{
    const weft__schema_component *known = &f->scene->schema.components.at[value->component - 1];
    const char *bytes = value_of(f, value, known);
    if (f->result != WEFT_OK) return false;
    weft_result result =
        weft__value_give(f->world, entity, f->map[value->component - 1], value, bytes, true);
    return result == WEFT_OK || refuse(f, result);
}

static bool set_values(fill *f, uint32_t index, uint32_t number)
{
    char name[WEFT__IMAGE_NAME_BYTES];
    weft_entity entity = f->entities.at[f->first[index] + number];
    if (weft__image_make(&f->imaging, index, number) != WEFT_OK)
        return refuse(f, f->imaging.result);
    for (uint32_t i = 0; i < f->imaging.values.count; i++)
        if (!set_value(f, entity, &f->imaging.values.at[i])) return false;
    return f->imaging.name_bytes == 0 || weft__image_name(&f->imaging, name) == 0 ||
           weft_entity_set_name(f->world, entity, name) == WEFT_OK || world_refused(f);
}

static bool begin(fill *f)
{
    weft_scene *scene = f->scene;
    uint32_t nodes = scene->tree.nodes.count;
    f->pile = WEFT__SCENE_PILE(f->memory);
    f->map = weft__pile_take(&f->pile, scene->schema.components.count, sizeof *f->map);
    f->first = weft__pile_take(&f->pile, nodes, sizeof *f->first);
    bool has_room = weft__imaging_begin(&f->imaging) &&
                    WEFT__SCENE_ROOM(f->memory, &f->entities, scene->stats.entities + 1) &&
                    WEFT__SCENE_ROOM(f->memory, &scene->entities, nodes + 1);
    if (f->pile.is_refused || !has_room) return refuse(f, WEFT_OUT_OF_MEMORY);
    const weft__schema *schema = &scene->schema; /* these a world makes when it is asked */
    f->map[schema->prefab.id - 1] = weft_component_prefab(f->world);
    f->map[schema->linked_group.id - 1] = weft_component_linked_group(f->world);
    f->map[schema->parent.id - 1] = weft_component_parent(f->world);
    f->map[schema->instance_of.id - 1] = weft_component_instance_of(f->world);
    if (f->map[schema->parent.id - 1].id == 0 || f->map[schema->instance_of.id - 1].id == 0)
        return world_refused(f);
    return true;
}

static void end(fill *f)
{
    weft__pile_free(&f->pile);
    weft__imaging_free(&f->imaging);
    WEFT__SCENE_FREE(f->memory, &f->entities);
    WEFT__SCENE_FREE(f->memory, &f->copies);
    WEFT__SCENE_FREE(f->memory, &f->scratch);
}

weft_result weft_scene_fill(weft_scene *scene, weft_world *world)
{
    if (scene == NULL || world == NULL) return WEFT_INVALID_ARGUMENT;
    if (weft__scene_bakes(scene)) return WEFT_WRONG_PHASE;
    weft_result result = weft__refuse_systems(world, "weft_scene_fill", "do it after the step");
    if (result != WEFT_OK) return result;
    if (scene->tree.nodes.count == 0) return WEFT_OK; /* nothing was baked */
    fill f = {.scene = scene,
              .memory = &scene->memory,
              .world = world,
              .imaging = {.scene = scene, .memory = &scene->memory}};
    uint64_t errors = weft_world_error(world)->number;
    bool is_made = begin(&f) && make_entities(&f);
    for (uint32_t i = 0; is_made && i < scene->tree.nodes.count; i++) {
        const weft__node *node = &scene->tree.nodes.at[i];
        uint32_t own = f.first[i] == WEFT__NONE ? 0 : node->record->output->entity_count;
        for (uint32_t number = 0; is_made && number < own; number++)
            is_made = set_values(&f, i, number);
    }
    if (is_made) {
        for (uint32_t i = 0; i < scene->tree.nodes.count; i++)
            scene->entities.at[i] = entity_of(&f, i, 0);
        scene->entities.count = scene->tree.nodes.count;
        scene->filled = scene->baked;
        scene->filled_moment = world == scene->schema.world ? weft_world_moment(world) : 0;
    } else {
        if (weft_world_error(world)->number == errors)
            weft__error(world, f.result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT,
                        "weft_scene_fill: %s; nothing was made", weft_result_text(f.result));
        /* the world as it was: entities in the order in which they came, the last one first */
        for (uint32_t i = f.entities.count; i-- > 0;) weft__entity_unmake(world, f.entities.at[i]);
        for (uint32_t i = 0; i < f.copies.count; i++) weft_blob_release(f.blobs, f.copies.at[i].to);
    }
    end(&f);
    return f.result;
}
