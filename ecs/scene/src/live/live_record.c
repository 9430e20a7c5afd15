/* SPDX-License-Identifier: MIT */
/* live_record.c: steps of records as normalized values, and what the tree adds, as fill_values.c
 * does it for a world. Values are collected in the baker's scratch memory, at offsets, because it
 * moves when it grows. See live_record.h. */
#include "live_record.h"

#include "fill_tree.h"
#include "hash.h"

#include <string.h>

/* One image, whose components are live->items. On the stack. */
typedef struct imaging {
    weft_live *live;
    const weft__tree *tree;
    uint32_t node, number;
    char name[WEFT__FILL_NAME_BYTES];
    size_t used;
    bool is_refused;
} imaging;

uint64_t weft__live_key(uint64_t path, uint32_t number)
{
    return hash_end(hash_word(path, number)) | 1;
}

bool weft__live_numbers_make(weft_live *live)
{
    const weft__schema *schema = &live->scene->schema;
    uint32_t count = schema->components.count;
    live->numbers = weft__alloc(&live->memory, WEFT__MEMORY_OTHER, count, 4, 16);
    if (live->numbers == NULL) return false;
    live->number_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const weft_component_desc *desc = schema->components.at[i].desc;
        live->numbers[i] = WEFT__NONE;
        for (uint32_t t = 0; t < live->type_count && desc != NULL; t++)
            if (!live->types[t].is_skipped && strcmp(live->types[t].desc->name, desc->name) == 0)
                live->numbers[i] = t;
    }
    return true;
}

/* The key of the own entity of a node; 0: it has none. */
static uint64_t key_of(const weft__tree *tree, uint32_t node)
{
    bool is_there = node != WEFT__NONE && weft__fill_has_entity(&tree->nodes.at[node]);
    return is_there ? weft__live_key(tree->nodes.at[node].path, 0) : 0;
}

static uint64_t reference_key(const weft__tree *tree, const weft__node *node, uint32_t number)
{
    const weft__reference *r = &node->record->output->references[number];
    if (r->kind == WEFT__REFERENCE_OWN) return weft__live_key(node->path, (uint32_t)r->path);
    if (r->kind == WEFT__REFERENCE_OBJECT) return key_of(tree, weft__tree_find(tree, r->path));
    uint32_t root = weft__tree_find_root(tree, r->path);
    return root == WEFT__NONE ? 0 : key_of(tree, tree->roots.at[root].node);
}

/* ---- signatures ---- */

/* What places give to the entities, and what is above each. */
static uint64_t places_hash(const weft_live *live, uint32_t index, uint64_t hash)
{
    const weft__tree *tree = &live->scene->tree;
    const weft__output *output = tree->nodes.at[index].record->output;
    const char *end = output->steps + output->step_bytes;
    weft__placed v;
    for (const weft__step *s = weft__output_steps(output); (const char *)s < end;
         s = weft__step_next(s)) {
        if (s->kind != WEFT__STEP_TRANSFORM) continue;
        weft_transform_usage usage = weft__place_usage(&live->places, index, s);
        hash = hash_word(hash, usage);
        weft__place_values(&live->places, tree, index, s, &v);
        if (usage == WEFT_TRANSFORM_STATIC) hash = hash_bytes(hash, &v.world, sizeof v.world);
        if (usage == WEFT_TRANSFORM_DYNAMIC)
            hash = hash_bytes(hash_bytes(hash, &v.local, sizeof v.local), &v.stretch,
                              sizeof v.stretch);
        uint32_t parent = weft__fill_parent(&live->places, tree, index, s->entity);
        hash = hash_word(hash, key_of(tree, parent));
    }
    return hash;
}

/* The entities of a prefab root, in the order of its linked group. */
static uint64_t group_hash(const weft__tree *tree, uint32_t index, uint64_t hash)
{
    uint32_t root = tree->nodes.at[index].root;
    for (uint32_t i = index; i < tree->nodes.count && tree->nodes.at[i].root == root; i++)
        if (weft__fill_has_entity(&tree->nodes.at[i]))
            hash = hash_word(hash_word(hash, tree->nodes.at[i].path),
                             tree->nodes.at[i].record->output->entity_count);
    return hash;
}

static bool is_group_root(const weft__node *node)
{
    return node->root != 0 && node->parent == WEFT__NONE;
}

uint64_t weft__live_signature(const weft_live *live, uint32_t index)
{
    const weft__tree *tree = &live->scene->tree;
    const weft__node *node = &tree->nodes.at[index];
    uint64_t hash = hash_word(HASH_K0, key_of(tree, weft__fill_above(tree, index)));
    hash = hash_word(hash, node->is_record);
    if (node->is_simple) return hash_end(hash);
    if (node->prefab != NULL)
        hash = hash_word(hash, key_of(tree, weft__fill_prefab(tree, index)) | 1);
    for (uint32_t r = 0; r < node->record->output->reference_count; r++)
        hash = hash_word(hash, reference_key(tree, node, r));
    hash = places_hash(live, index, hash);
    if (is_group_root(node)) hash = group_hash(tree, index, hash);
    return hash_end(hash);
}

/* ---- values ---- */

static weft__live_item *item_of(const weft_live *live, uint32_t type)
{
    weft__live_item *items = live->items.at;
    uint32_t i = 0;
    while (i < live->items.count && items[i].type != type) i++;
    return i < live->items.count ? &items[i] : NULL;
}

/* Room for a value of a type; NULL: memory, or images do not have it. */
static char *value_put(imaging *m, uint32_t type, uint32_t count, size_t bytes)
{
    weft_live *live = m->live;
    if (type == WEFT__NONE || live->types[type].is_skipped || m->is_refused) return NULL;
    weft__live_item *item = item_of(live, type);
    if (item == NULL && live->items.count < WEFT__LIVE_COMPONENTS) {
        item = WEFT__SCENE_ADD(&live->memory, &live->items);
        if (item != NULL) *item = (weft__live_item){.type = type};
    }
    m->is_refused =
        item == NULL || bytes >= UINT32_MAX - m->used - 16 ||
        !WEFT__SCENE_ROOM(&live->memory, &live->baker_scratch, (uint32_t)(m->used + bytes + 16));
    if (m->is_refused) return NULL;
    item->count = count;
    item->bytes = bytes;
    item->at = m->used;
    m->used += (bytes + 15) & ~(size_t)15;
    return live->baker_scratch.at + item->at;
}

static void value_copy(imaging *m, uint32_t type, const void *value, size_t bytes)
{
    char *to = value_put(m, type, 1, bytes);
    if (to != NULL) memcpy(to, value, bytes);
}

/* Handles become keys and blobs the hash of their content. */
static void normalize(const imaging *m, const weft__schema_component *known, char *value)
{
    const weft__node *node = &m->tree->nodes.at[m->node];
    for (uint32_t f = 0; f < known->desc->field_count; f++) {
        const weft_field *field = &known->desc->fields[f];
        bool is_entity = field->kind == WEFT_FIELD_ENTITY;
        uint32_t many = field->count == 0 ? 1 : field->count;
        for (uint32_t i = 0; i < many && (is_entity || field->kind == WEFT_FIELD_BLOB); i++) {
            char *at = value + field->offset + 8 * i;
            uint64_t bits;
            weft_entity target;
            memcpy(&bits, at, sizeof bits);
            memcpy(&target, at, sizeof target);
            if (bits == 0) continue;
            bits = is_entity ? reference_key(m->tree, node, target.index)
                             : weft__live_content(m->live->scene->blobs,
                                                  node->record->output->blobs[bits - 1].ref);
            memcpy(at, &bits, sizeof bits);
        }
    }
}

static void value_set(imaging *m, const weft__step *step)
{
    const weft__schema_component *known =
        &m->live->scene->schema.components.at[step->component - 1];
    uint32_t count = step->kind == WEFT__STEP_BUFFER ? step->count : 1;
    size_t size = known->desc->size;
    char *to = value_put(m, m->live->numbers[step->component - 1], count, count * size);
    if (to == NULL) return;
    if (count * size != 0) memcpy(to, step + 1, count * size);
    for (uint32_t i = 0; i < count && known->has_references; i++)
        normalize(m, known, to + i * size);
}

static void place_set(imaging *m, const weft__step *step)
{
    weft__placed v;
    weft_live *live = m->live;
    weft_transform_usage usage = weft__place_usage(&live->places, m->node, step);
    if (usage == WEFT_TRANSFORM_NONE) return;
    bool is_stretched = weft__place_values(&live->places, m->tree, m->node, step, &v);
    value_copy(m, live->placed, &v.world, sizeof v.world);
    if (usage != WEFT_TRANSFORM_DYNAMIC) return;
    value_copy(m, live->local, &v.local, sizeof v.local);
    if (is_stretched) value_copy(m, live->stretch, &v.stretch, sizeof v.stretch);
}

static void disable(imaging *m, const weft__step *step)
{
    weft__live_item *item = item_of(m->live, m->live->numbers[step->component - 1]);
    if (item != NULL) item->is_disabled = true;
}

static void steps_take(imaging *m)
{
    const weft__output *output = m->tree->nodes.at[m->node].record->output;
    const char *end = output->steps + output->step_bytes, *name = NULL;
    bool has_name = false;
    for (const weft__step *s = weft__output_steps(output); (const char *)s < end;
         s = weft__step_next(s)) {
        if (s->entity != m->number) continue;
        if (s->kind <= WEFT__STEP_BUFFER) value_set(m, s);
        if (s->kind == WEFT__STEP_TRANSFORM) place_set(m, s);
        if (s->kind != WEFT__STEP_NAME) continue;
        weft__fill_name_copy(m->name, (const char *)(s + 1), s->bytes - 1);
        has_name = true;
    }
    for (const weft__step *s = weft__output_steps(output); (const char *)s < end;
         s = weft__step_next(s))
        if (s->entity == m->number && s->kind == WEFT__STEP_DISABLE) disable(m, s);
    if (has_name || m->number != 0) return;
    size_t bytes = weft__fill_name(m->tree, m->node, &name);
    weft__fill_name_copy(m->name, name, bytes);
}

/* ---- what the tree adds ---- */

static void group_put(imaging *m)
{
    const weft__node *nodes = m->tree->nodes.at;
    uint32_t root = nodes[m->node].root, count = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        char *to = pass == 0 ? NULL : value_put(m, m->live->linked_group, count, 8ull * count);
        if (pass == 1 && to == NULL) return;
        for (uint32_t i = m->node; i < m->tree->nodes.count && nodes[i].root == root; i++) {
            if (!weft__fill_has_entity(&nodes[i])) continue;
            uint32_t own = nodes[i].record->output->entity_count;
            if (pass == 0) count += own;
            for (uint32_t n = 0; n < own && pass == 1; n++, to += 8) {
                uint64_t key = weft__live_key(nodes[i].path, n);
                memcpy(to, &key, sizeof key);
            }
        }
    }
}

static void tree_take(imaging *m)
{
    const weft_live *live = m->live;
    const weft__schema *schema = &live->scene->schema;
    const weft__node *node = &m->tree->nodes.at[m->node];
    const weft__output *output = node->record->output;
    uint32_t parent = weft__fill_parent(&live->places, m->tree, m->node, m->number);
    uint64_t key = key_of(m->tree, parent);
    if (node->root != 0) value_put(m, live->prefab, 1, 0);
    if (parent != WEFT__NONE && !weft__fill_has_step(output, m->number, schema->parent))
        value_copy(m, live->parent, &key, sizeof key);
    if (m->number != 0) return;
    key = node->prefab == NULL ? 0 : key_of(m->tree, weft__fill_prefab(m->tree, m->node));
    if (node->prefab != NULL && !weft__fill_has_step(output, 0, schema->instance_of))
        value_copy(m, live->instance_of, &key, sizeof key);
    if (is_group_root(node)) group_put(m);
}

/* ---- images ---- */

/* Ascending types. */
static void items_sort(weft_live *live)
{
    weft__live_item *items = live->items.at;
    for (uint32_t i = 1; i < live->items.count; i++) {
        weft__live_item next = items[i];
        uint32_t at = i;
        for (; at > 0 && items[at - 1].type > next.type; at--) items[at] = items[at - 1];
        items[at] = next;
    }
}

weft__live_image *weft__live_record_image(weft_live *live, uint32_t node, uint32_t number)
{
    imaging m = {.live = live, .tree = &live->scene->tree, .node = node, .number = number};
    live->items.count = 0;
    steps_take(&m);
    tree_take(&m);
    if (m.is_refused) return NULL;
    items_sort(live);
    const uint32_t count = live->items.count;
    size_t head = sizeof(weft__live_image) + count * sizeof(weft__live_value);
    size_t bytes = head + m.used + strlen(m.name) + 1;
    weft__live_image *image = weft__alloc_zeroed(&live->memory, WEFT__MEMORY_OTHER, 1, bytes, 16);
    if (image == NULL) return NULL;
    *image = (weft__live_image){.block_bytes = bytes, .value_count = count};
    image->values = (weft__live_value *)(void *)(image + 1);
    char *values = (char *)image + head;
    if (m.used != 0) memcpy(values, live->baker_scratch.at, m.used);
    bool is_moving = item_of(live, live->local) != NULL;
    for (uint32_t i = 0; i < count; i++) {
        const weft__live_item *item = &live->items.at[i];
        image->values[i] =
            (weft__live_value){.type = item->type,
                               .count = item->count,
                               .is_disabled = item->is_disabled,
                               .is_computed = is_moving && item->type == live->placed,
                               .at = values + item->at,
                               .bytes = item->bytes};
    }
    image->name = strcpy(values + m.used, m.name);
    return image;
}
