/* SPDX-License-Identifier: MIT */
/* live_bake.c: a bake, and the images of what is not as it was: entities whose output the bake has
 * replaced, and those of which the tree says something else (their signature): another parent,
 * another matrix where they are fixed, references that lead elsewhere. Of all others not even the
 * record is read, and an edit that leaves the shape of the tree is compared where it was made. See
 * live_bake.h. */
#include "live_bake.h"

#include "fill_tree.h"
#include "hash.h"
#include "live_record.h"

#include <stdio.h>
#include <string.h>

/* ---- worlds ---- */

weft_world *weft__live_world_make(const weft_live *live)
{
    weft_world *world = NULL;
    weft_world_desc desc = {.workers = 1, .name = "live", .entity_tag = WEFT_WITHOUT_ENTITY_TAG};
    if (weft_world_create(&desc, &world) != WEFT_OK) return NULL;
    bool is_made =
        weft_component_parent(world).id != 0 && weft_component_instance_of(world).id != 0;
    for (uint32_t t = 0; t < live->type_count && is_made; t++) {
        weft_component_desc own = *live->types[t].desc;
        if (weft_component_find(world, own.name).id != 0 || strcmp(own.name, "CleanupResidue") == 0)
            continue;
        own.required = NULL;
        own.required_count = 0;
        own.is_checked = false;
        if (own.type != NULL) {
            own.fields = NULL;
            own.field_count = 0;
        }
        is_made = weft_component_create(world, &own).id != 0;
    }
    if (is_made) return world;
    weft_world_destroy(world);
    return NULL;
}

/* ---- a bake ---- */

/* One bake. On the stack. */
typedef struct baking {
    weft_live *live;
    weft__live_set *set;
    uint32_t seen; /* entities that were known, and those that came */
} baking;

/* ---- what was known ---- */

static uint32_t key_hash(uint64_t key)
{
    return (uint32_t)(key >> 7);
}

/* The number of an entity, from 1; 0: it is not known. */
static uint32_t known_number(const weft_live *live, uint64_t key)
{
    uint32_t step = 0, number;
    while ((number = weft__table_next(&live->known_at, key_hash(key), &step)) != 0)
        if (live->known.at[number - 1].key == key) break;
    return number;
}

/* Room for one more. */
static bool known_grow(weft_live *live)
{
    uint32_t count = live->known.count + 1;
    return WEFT__SCENE_ROOM(&live->memory, &live->known, count) &&
           weft__table_room(&live->memory, WEFT__MEMORY_OTHER, &live->known_at, count);
}

/* ---- the set ---- */

static bool change_add(baking *b, const weft__live_change *change)
{
    weft__live_change *added = WEFT__SCENE_ADD(&b->live->memory, &b->set->changes);
    if (added != NULL) *added = *change;
    return added != NULL;
}

static const char *path_of(baking *b, uint32_t index, uint32_t number)
{
    char path[4200];
    size_t length = weft__node_path(&b->live->scene->tree, index, path, 4096);
    if (length > 4095) length = 4095;
    if (number != 0) length += (size_t)snprintf(path + length, 64, "+%u", number);
    return weft__pile_text(&b->set->pile, path, length);
}

static bool blobs_keep(weft_live *live, const weft__output *output)
{
    for (uint32_t i = 0; i < output->blob_count; i++)
        if (!weft__live_blob_keep(live, output->blobs[i].ref, output->blobs[i].type)) return false;
    return true;
}

static bool entity_compare(baking *b, uint32_t index, uint32_t number, uint64_t signature)
{
    weft_live *live = b->live;
    const weft__node *node = &live->scene->tree.nodes.at[index];
    if (!known_grow(live)) return false;
    uint64_t key = weft__live_key(node->path, number);
    uint32_t number_known = known_number(live, key);
    bool is_new = number_known == 0;
    weft__live_known *known = &live->known.at[is_new ? live->known.count : number_known - 1];
    b->seen++;
    if (!is_new && node->is_kept && !live->is_torn && known->signature == signature) {
        known->bake = live->bake;
        return true;
    }
    weft__live_change change = {.kind = WEFT__LIVE_CHANGED,
                                .key = key,
                                .path = path_of(b, index, number),
                                .image = weft__live_record_image(live, index, number)};
    if (change.path == NULL || change.image == NULL || !change_add(b, &change)) {
        weft__live_image_free(live, change.image);
        return false;
    }
    if (is_new) weft__table_put(&live->known_at, key_hash(key), ++live->known.count);
    *known = (weft__live_known){key, signature, live->bake};
    return true;
}

/* What the bake has changed, where nothing else can have become different. */
static bool changes_compare(baking *b)
{
    const weft_scene *scene = b->live->scene;
    for (uint32_t i = 0; i < scene->changes.count; i++) {
        uint32_t node = scene->changes.at[i].node;
        if (!blobs_keep(b->live, scene->tree.nodes.at[node].record->output) ||
            !entity_compare(b, node, 0, weft__live_signature(b->live, node)))
            return false;
    }
    return true;
}

static bool entities_compare(baking *b)
{
    weft_live *live = b->live;
    const weft__tree *tree = &live->scene->tree;
    if (!weft__places_room(&live->places, &live->memory, tree->nodes.count)) return false;
    for (uint32_t i = 0; i < tree->nodes.count; i++) {
        const weft__node *node = &tree->nodes.at[i];
        weft__place_node(&live->places, tree, i);
        bool is_simple = node->is_simple && node->is_kept;
        if (!is_simple && !weft__fill_has_entity(node)) continue;
        if (!is_simple && !blobs_keep(live, node->record->output)) return false;
        uint64_t signature = weft__live_signature(live, i);
        uint32_t count = is_simple ? 1 : node->record->output->entity_count;
        for (uint32_t n = 0; n < count; n++)
            if (!entity_compare(b, i, n, signature)) return false;
    }
    return true;
}

/* Entities of the last bake that this one does not have: in the order in which they came, not in
 * that of their keys, some of which follow from where the documents are. */
static bool removed_list(baking *b)
{
    weft_live *live = b->live;
    const weft__live_known *all = live->known.at;
    if (b->seen == live->known.count) return true;
    for (uint32_t i = 0; i < live->known.count; i++) {
        weft__live_change change = {.kind = WEFT__LIVE_REMOVED, .key = all[i].key, .path = ""};
        if (all[i].bake != live->bake && !change_add(b, &change)) return false;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < live->known.count; i++)
        if (all[i].bake == live->bake) live->known.at[kept++] = all[i];
    live->known.count = kept;
    weft__table_clear(&live->known_at);
    for (uint32_t i = 0; i < kept; i++)
        weft__table_put(&live->known_at, key_hash(live->known.at[i].key), i + 1);
    return true;
}

static bool errors_copy(baking *b)
{
    weft_scene *scene = b->live->scene;
    for (uint32_t i = 0; i < weft_scene_error_count(scene); i++) {
        const char *text = weft_scene_error(scene, i)->text;
        const char *copy = weft__pile_text(&b->set->pile, text, strlen(text));
        const char **added = WEFT__SCENE_ADD(&b->live->memory, &b->set->errors);
        if (copy == NULL || added == NULL) return false;
        *added = copy;
    }
    return true;
}

static bool set_make(baking *b)
{
    weft_live *live = b->live;
    b->set = weft__alloc_zeroed(&live->memory, WEFT__MEMORY_OTHER, 1, sizeof *b->set, 16);
    if (b->set == NULL) return false;
    b->set->pile.memory = &live->memory;
    if (!errors_copy(b)) return false;
    if (live->scene->tree.nodes.count == 0) return true;
    if (live->scene->is_same_shape && !live->is_torn) return changes_compare(b);
    return entities_compare(b) && removed_list(b);
}

static void set_list(weft_live *live, weft__live_set *set)
{
    pthread_mutex_lock(&live->lock);
    *live->last = set;
    live->last = &set->next;
    pthread_mutex_unlock(&live->lock);
    at_add_ar(&live->x_waiting, 1u); /* LL1 */
}

weft_result weft__live_bake(weft_live *live, uint64_t wake_ns)
{
    baking b = {.live = live};
    pthread_mutex_lock(&live->lock); /* edits look at the scene */
    weft_result result =
        weft_scene_bake(live->scene, (const char *const *)live->paths, live->desc.path_count);
    pthread_mutex_unlock(&live->lock);
    if (result == WEFT_OUT_OF_MEMORY) return result;
    live->bake++;
    bool is_made = set_make(&b);
    live->is_torn = !is_made;
    if (!is_made) {
        weft__live_set_free(live, b.set);
        return WEFT_OUT_OF_MEMORY;
    }
    b.set->wake_ns = wake_ns;
    set_list(live, b.set);
    return WEFT_OK;
}
