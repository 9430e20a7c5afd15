/* SPDX-License-Identifier: MIT */
/* live_bake.c: a bake, a fill of an empty world, and the images of what is not as it was. The
 * signature of an entity covers its record and what the tree adds: parent, prefab, and the matrix
 * where it is fixed; entities with the same signature are not read. See live_bake.h. */
#include "live_bake.h"

#include "fill_entities.h"
#include "hash.h"
#include "live_image.h"

#include <weft/transform.h>

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
        own.required = own.write_groups = NULL;
        own.required_count = own.write_group_count = 0;
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
    weft_world *world;          /* filled from the scene */
    weft_component *components; /* [type] of it */
    uint64_t *keys;             /* [entity index] */
    uint32_t key_count;
    weft__live_set *set;
    bool is_whole; /* something came: references are looked at everywhere */
} baking;

static uint64_t key_of(const void *user, weft_entity entity)
{
    const baking *b = user;
    return entity.index < b->key_count ? b->keys[entity.index] : 0;
}

static uint64_t key_make(uint64_t path, uint32_t number)
{
    return hash_end(hash_word(path, number)) | 1;
}

/* What an entity is made of, but for the values themselves. */
static uint64_t signature_of(const baking *b, uint32_t index, weft_entity entity)
{
    const weft__tree *tree = &b->live->scene->tree;
    const weft__node *node = &tree->nodes.at[index];
    uint64_t hash = hash_word(HASH_K0, node->record->output->hash);
    uint32_t above = weft__fill_above(tree, index);
    hash = hash_word(hash, above == WEFT__NONE ? 0 : tree->nodes.at[above].path);
    hash = hash_word(hash, node->prefab == NULL ? 0 : weft__prefab_hash(node->prefab));
    const weft_live *live = b->live;
    weft_component local = live->scene->schema.local, placed = live->scene->schema.placed;
    if (placed.id == 0 || local.id == 0) return hash_end(hash);
    placed = weft_component_find(b->world, "WorldTransform");
    local = weft_component_find(b->world, "LocalTransform");
    const void *matrix = weft_entity_read(b->world, entity, placed);
    if (matrix == NULL || weft_entity_has(b->world, entity, local)) return hash_end(hash);
    return hash_bytes(hash_end(hash), matrix, sizeof(weft_world_transform));
}

/* ---- what was known ---- */

static bool known_grow(weft_live *live)
{
    if (2 * (live->known_count + 1) < live->known_room) return true;
    uint32_t room = live->known_room == 0 ? 256 : 2 * live->known_room;
    weft__live_known *grown =
        weft__alloc_zeroed(&live->memory, WEFT__MEMORY_OTHER, room, sizeof *grown, 16);
    if (grown == NULL) return false;
    for (uint32_t i = 0; i < live->known_room; i++) {
        if (live->known[i].key == 0) continue;
        uint32_t at = (uint32_t)(live->known[i].key >> 7);
        while (grown[at & (room - 1)].key != 0) at++;
        grown[at & (room - 1)] = live->known[i];
    }
    weft__free(&live->memory, WEFT__MEMORY_OTHER, live->known, live->known_room, sizeof *grown, 16);
    live->known = grown;
    live->known_room = room;
    return true;
}

static weft__live_known *known_of(weft_live *live, uint64_t key)
{
    uint32_t at = (uint32_t)(key >> 7);
    while (live->known[at & (live->known_room - 1)].key != 0 &&
           live->known[at & (live->known_room - 1)].key != key)
        at++;
    return &live->known[at & (live->known_room - 1)];
}

/* ---- the set ---- */

static bool change_add(baking *b, const weft__live_change *change)
{
    weft__live_change *added = WEFT__LIST_ADD(&b->live->memory, &b->set->changes);
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

static bool entity_compare(baking *b, uint32_t index, uint32_t number, weft_entity entity)
{
    weft_live *live = b->live;
    const weft__node *node = &live->scene->tree.nodes.at[index];
    uint64_t key = key_make(node->path, number), signature = signature_of(b, index, entity);
    if (!known_grow(live)) return false;
    weft__live_known *known = known_of(live, key);
    bool is_new = known->key == 0, is_same = !is_new && known->signature == signature;
    if (is_same && !b->is_whole) {
        known->bake = live->bake;
        return true;
    }
    for (uint32_t i = 0; i < node->record->output->blob_count; i++) {
        const weft__record_blob *blob = &node->record->output->blobs[i];
        if (!weft__live_blob_keep(live, blob->ref, blob->type)) return false;
    }
    weft__live_source source = {live, b->world, b->components, key_of, b};
    weft__live_change change = {.kind = is_new ? WEFT__LIVE_ADDED : WEFT__LIVE_CHANGED,
                                .key = key,
                                .path = path_of(b, index, number),
                                .image = weft__live_image_make(&source, entity)};
    if (change.path == NULL || change.image == NULL || !change_add(b, &change)) return false;
    live->known_count += is_new ? 1 : 0;
    *known = (weft__live_known){key, signature, live->bake};
    return true;
}

static bool entities_compare(baking *b)
{
    weft_scene *scene = b->live->scene;
    for (uint32_t i = 0; i < scene->tree.nodes.count; i++) {
        if (!weft__fill_has_entity(&scene->tree.nodes.at[i])) continue;
        uint32_t count = scene->tree.nodes.at[i].record->output->entity_count;
        for (uint32_t n = 0; n < count; n++)
            if (!entity_compare(b, i, n, scene->made.at[scene->firsts.at[i] + n])) return false;
    }
    return true;
}

/* Keys of all entities, by their index in the filled world. */
static bool keys_note(baking *b)
{
    weft_scene *scene = b->live->scene;
    b->key_count = 0;
    for (uint32_t i = 0; i < scene->made.count; i++)
        if (scene->made.at[i].index >= b->key_count) b->key_count = scene->made.at[i].index + 1;
    b->keys = weft__alloc_zeroed(&b->live->memory, WEFT__MEMORY_OTHER, b->key_count + 1,
                                 sizeof *b->keys, 16);
    if (b->keys == NULL) return false;
    for (uint32_t i = 0; i < scene->tree.nodes.count; i++) {
        if (!weft__fill_has_entity(&scene->tree.nodes.at[i])) continue;
        uint32_t count = scene->tree.nodes.at[i].record->output->entity_count;
        for (uint32_t n = 0; n < count; n++) {
            uint64_t key = key_make(scene->tree.nodes.at[i].path, n);
            b->keys[scene->made.at[scene->firsts.at[i] + n].index] = key;
            if (b->live->known_room == 0 || known_of(b->live, key)->key == 0) b->is_whole = true;
        }
    }
    return true;
}

/* Entities of the last bake that this one does not have. The table is made again without them. */
static bool removed_list(baking *b)
{
    weft_live *live = b->live;
    uint32_t gone = 0;
    for (uint32_t i = 0; i < live->known_room; i++) {
        weft__live_known *known = &live->known[i];
        if (known->key == 0 || known->bake == live->bake) continue;
        weft__live_change change = {.kind = WEFT__LIVE_REMOVED, .key = known->key, .path = ""};
        if (!change_add(b, &change)) return false;
        gone++;
    }
    if (gone == 0) return true;
    weft__live_known *all = live->known;
    uint32_t room = live->known_room;
    live->known = NULL;
    live->known_room = live->known_count = 0;
    for (uint32_t i = 0; i < room; i++) {
        if (all[i].key == 0 || all[i].bake != live->bake) continue;
        if (!known_grow(live)) break;
        *known_of(live, all[i].key) = all[i];
        live->known_count++;
    }
    weft__free(&live->memory, WEFT__MEMORY_OTHER, all, room, sizeof *all, 16);
    return true;
}

static bool errors_copy(baking *b)
{
    weft_scene *scene = b->live->scene;
    for (uint32_t i = 0; i < weft_scene_error_count(scene); i++) {
        const char *text = weft_scene_error(scene, i)->text;
        const char *copy = weft__pile_text(&b->set->pile, text, strlen(text));
        const char **added = WEFT__LIST_ADD(&b->live->memory, &b->set->errors);
        if (copy == NULL || added == NULL) return false;
        *added = copy;
    }
    return true;
}

static bool set_make(baking *b)
{
    weft_live *live = b->live;
    b->set = weft__alloc_zeroed(&live->memory, WEFT__MEMORY_OTHER, 1, sizeof *b->set, 16);
    b->world = weft__live_world_make(live);
    b->components = weft__alloc_zeroed(&live->memory, WEFT__MEMORY_OTHER, live->type_count + 1,
                                       sizeof *b->components, 16);
    if (b->set == NULL || b->world == NULL || b->components == NULL) return false;
    b->set->pile.memory = &live->memory;
    for (uint32_t t = 0; t < live->type_count; t++)
        b->components[t] = weft_component_find(b->world, live->types[t].desc->name);
    return errors_copy(b) && (live->scene->tree.nodes.count == 0 ||
                              (weft_scene_fill(live->scene, b->world) == WEFT_OK && keys_note(b) &&
                               entities_compare(b) && removed_list(b)));
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
    weft__free(&live->memory, WEFT__MEMORY_OTHER, b.keys, b.key_count + 1, sizeof *b.keys, 16);
    weft__free(&live->memory, WEFT__MEMORY_OTHER, b.components, live->type_count + 1,
               sizeof *b.components, 16);
    weft_world_destroy(b.world);
    if (!is_made) {
        if (b.set != NULL) weft__live_set_free(live, b.set);
        return WEFT_OUT_OF_MEMORY;
    }
    b.set->wake_ns = wake_ns;
    set_list(live, b.set);
    return WEFT_OK;
}
