/* SPDX-License-Identifier: MIT */
/* gltf_source.c: the source of glTF files: opens one, makes the forest of its nodes (parents from
 * children, circles by counting what is reached from the roots, names by a table of hashes; nothing
 * recurses), checks what meshes, skins and animations refer to, and adds nodes as objects and their
 * extras as properties. An object has one number for all that it depends on: JSON, accessors and
 * paths. See weft/scene_gltf.h and docs/guide/scenes-gltf.md. */
#include "gltf_source.h"

#include "hash.h"

#include <weft/scene_gltf.h>

#include <stdio.h>
#include <string.h>

/* ---- the forest of nodes ---- */

/* ---- parents ---- */

/* The number of one of `limit` things; false: it is none. */
static bool element_number(weft_source *out, const weft__gltf_value *element, uint32_t limit,
                           const char *what, uint32_t *number)
{
    bool is_one = element->kind == WEFT__JSON_NUMBER && element->number >= 0 &&
                  element->number < limit && weft__number_is_whole(element->number);
    *number = is_one ? (uint32_t)element->number : 0;
    if (!is_one)
        weft_source_error(out, element->at, "this is not the number of %s: there are %u", what,
                          limit);
    return is_one;
}

/* The array of numbers of nodes of a node or scene; false: it is none. */
static bool find_list(weft_source *out, const weft__gltf_value *json, const char *name,
                      const weft__gltf_value **list)
{
    *list = weft__gltf_member(json, name);
    if (*list == NULL || (*list)->kind == WEFT__JSON_ARRAY) return true;
    weft_source_error(out, (*list)->at, "\"%s\" should be an array of numbers", name);
    return false;
}

static bool find_parents(weft_source *out, weft__gltf *file)
{
    uint32_t child;
    const weft__gltf_value *list;
    for (uint32_t i = 0; i < file->nodes.count; i++) {
        if (!find_list(out, file->nodes.at[i], "children", &list)) return false;
        for (uint32_t k = 0; list != NULL && k < list->count; k++) {
            const weft__gltf_value *at = &list[1 + k]; /* numbers: one value each */
            if (!element_number(out, at, file->nodes.count, "a node", &child)) return false;
            if (file->node[child].parent != WEFT__GLTF_NONE) {
                weft_source_error(out, at->at, "node %u has two parents: %u and %u", child,
                                  file->node[child].parent, i);
                return false;
            }
            file->node[child].parent = i;
        }
    }
    return true;
}

/* ---- names ---- */

/* Hashes of names in use, by open addressing. On the stack of forest_make. */
typedef struct names {
    uint64_t *at;
    uint64_t mask;
} names;

/* Takes a name; false: it is taken. */
static bool take_name(names *used, uint64_t hash)
{
    hash |= 1;
    uint64_t i = hash >> 7;
    for (; used->at[i & used->mask] != 0; i++)
        if (used->at[i & used->mask] == hash) return false;
    used->at[i & used->mask] = hash;
    return true;
}

static uint64_t name_hash(uint64_t above, const char *name, size_t bytes)
{
    return hash_bytes(above ^ HASH_K1, name, bytes);
}

/* The name of a node as objects may have it; `word` and `number` when it has none. */
static size_t legal_name(const weft__gltf_node *node, const char *word, uint32_t number,
                         char out[256])
{
    size_t bytes = weft__gltf_string(weft__gltf_member(node->json, "name"), out,
                                     WEFT__GLTF_SIGNIFICANT_NAME + 1);
    if (bytes == 0) return (size_t)snprintf(out, 256, "%s%u", word, number);
    for (size_t i = 0; i < bytes; i++)
        if (out[i] == '/' || out[i] == '#' || (unsigned char)out[i] < 0x20 ||
            (i == 0 && out[i] == '.'))
            out[i] = '_';
    return bytes;
}

/* Names a node below `above`; false: memory was refused. Beyond "~15" a name takes the number of
 * its node, so that many equal names stay cheap. */
static bool name_node(weft_source *out, names *used, weft__gltf_node *node, const char *word,
                      uint32_t number)
{
    char name[256];
    size_t bytes = legal_name(node, word, number, name), first = bytes;
    uint64_t above = node->above == NULL ? HASH_K0 : node->above->path_hash;
    uint64_t hash = name_hash(above, name, bytes);
    if (!take_name(used, hash)) {
        uint32_t turn = 2;
        do {
            bytes = first + (size_t)snprintf(name + first, sizeof name - first, "~%u", turn);
            turn = turn < 15 ? turn + 1 : turn == 15 ? 16 + number : turn + 1;
            hash = name_hash(above, name, bytes);
        } while (!take_name(used, hash));
    }
    char *kept = weft_source_memory(out, bytes + 1);
    if (kept == NULL) return false;
    memcpy(kept, name, bytes + 1);
    node->name = kept;
    node->name_bytes = (uint32_t)bytes;
    node->path_hash = hash;
    return true;
}

/* ---- the order of objects ---- */

/* A walk from parents to children, by a stack in the memory of the file. */
typedef struct walk {
    weft_source *out;
    weft__gltf *file;
    names used;
    weft__gltf_node **stack;
    uint32_t count;
} walk;

static bool visit(walk *w, weft__gltf_node *node, const char *word, uint32_t number)
{
    node->depth = node->above == NULL ? 0 : node->above->depth + 1;
    if (node->depth >= WEFT_GLTF_DEPTH_MAX) {
        weft_source_error(w->out, node->json->at, "more than %d nodes below each other",
                          WEFT_GLTF_DEPTH_MAX);
        return false;
    }
    w->file->in_order[w->file->object_count++] = node;
    return name_node(w->out, &w->used, node, word, number);
}

/* Puts nodes on the stack, the last one first. */
static bool push_list(walk *w, const weft__gltf_value *list, const weft__gltf_node *above)
{
    for (uint32_t i = list == NULL ? 0 : list->count; i-- > 0;) {
        uint32_t number;
        if (!element_number(w->out, &list[1 + i], w->file->nodes.count, "a node", &number))
            return false;
        weft__gltf_node *node = &w->file->node[number];
        if (node->object != WEFT__GLTF_NONE) continue; /* a scene has it as a root */
        node->object = 0;
        node->above = above;
        w->stack[w->count++] = node;
    }
    return true;
}

static bool walk_stack(walk *w)
{
    while (w->count > 0) {
        weft__gltf_node *node = w->stack[--w->count];
        uint32_t number = (uint32_t)(node - w->file->node);
        if (!visit(w, node, "node", number) ||
            !push_list(w, weft__gltf_member(node->json, "children"), node))
            return false;
    }
    return true;
}

static bool walk_scenes(walk *w)
{
    weft__gltf *file = w->file;
    const weft__gltf_value *list;
    bool are_many = file->scenes.count > 1;
    for (uint32_t i = 0; i < file->scenes.count; i++) {
        weft__gltf_node *scene = &file->node[file->nodes.count + i];
        if (!find_list(w->out, scene->json, "nodes", &list)) return false;
        if (are_many && !visit(w, scene, "scene", i)) return false;
        if (!push_list(w, list, are_many ? scene : NULL) || !walk_stack(w)) return false;
    }
    for (uint32_t i = 0; i < file->nodes.count && file->scenes.count == 0; i++) {
        if (file->node[i].parent != WEFT__GLTF_NONE) continue;
        w->stack[w->count++] = &file->node[i];
        if (!walk_stack(w)) return false;
    }
    return true;
}

/* Whether going up from each node ends. Colours: `object` is the number of the walk that came
 * by. */
static bool find_circle(weft_source *out, weft__gltf *file)
{
    for (uint32_t i = 0; i < file->nodes.count; i++) {
        uint32_t at = i;
        while (at != WEFT__GLTF_NONE && file->node[at].object == WEFT__GLTF_NONE) {
            file->node[at].object = i;
            at = file->node[at].parent;
        }
        if (at != WEFT__GLTF_NONE && file->node[at].object == i) {
            weft_source_error(out, file->nodes.at[at]->at, "node %u is below itself", at);
            return true;
        }
    }
    for (uint32_t i = 0; i < file->nodes.count; i++) file->node[i].object = WEFT__GLTF_NONE;
    return false;
}

static bool make_room(weft_source *out, weft__gltf *file, walk *w)
{
    size_t count = (size_t)file->nodes.count + file->scenes.count;
    uint64_t slots = 16;
    while (slots < 2 * count) slots *= 2;
    file->node = weft_source_memory(out, (count + 1) * sizeof *file->node);
    file->in_order = weft_source_memory(out, (count + 1) * sizeof(void *));
    *w = (walk){.out = out, .file = file, .used.mask = slots - 1};
    w->stack = weft_source_memory(out, (count + 1) * sizeof(void *));
    w->used.at = weft_source_memory(out, slots * sizeof *w->used.at);
    if (file->node == NULL || file->in_order == NULL || w->stack == NULL || w->used.at == NULL)
        return false;
    memset(w->used.at, 0, slots * sizeof *w->used.at);
    for (size_t i = 0; i < count; i++) {
        bool is_scene = i >= file->nodes.count;
        file->node[i] = (weft__gltf_node){.file = file,
                                          .json = is_scene ? file->scenes.at[i - file->nodes.count]
                                                           : file->nodes.at[i],
                                          .parent = WEFT__GLTF_NONE,
                                          .object = WEFT__GLTF_NONE,
                                          .first_animation = WEFT__GLTF_NONE,
                                          .last_animation = WEFT__GLTF_NONE,
                                          .is_scene = is_scene};
    }
    return true;
}

/* Makes the forest and the order of objects. False: a mistake. */
static bool forest_make(weft_source *out, weft__gltf *file)
{
    walk w;
    return make_room(out, file, &w) && find_parents(out, file) && !find_circle(out, file) &&
           walk_scenes(&w);
}

bool weft__gltf_path(const weft__gltf_node *node, const weft__gltf_node *from,
                     char out[WEFT__GLTF_PATH_BYTES])
{
    const weft__gltf_node *chain[WEFT_GLTF_DEPTH_MAX + 1];
    uint32_t count = 0;
    size_t at = 0;
    for (uint32_t i = 0; from != NULL && i <= from->depth; i++, at += 3) memcpy(out + at, "../", 3);
    for (; node != NULL && count <= WEFT_GLTF_DEPTH_MAX; node = node->above) chain[count++] = node;
    while (count-- > 0) {
        if (at + chain[count]->name_bytes + 2 > WEFT__GLTF_PATH_BYTES) return false;
        memcpy(out + at, chain[count]->name, chain[count]->name_bytes);
        at += chain[count]->name_bytes;
        out[at++] = '/';
    }
    out[at - 1] = '\0';
    return true;
}

/* ---- hashes ---- */

/* Of one file. On the stack of hashes_make. */
typedef struct hashing {
    weft_source *out;
    weft__gltf *file;
    uint64_t *meshes, *skins, *animations;
} hashing;

static uint64_t hash_json(const weft__gltf_value *json)
{
    return hash_bytes(HASH_K0, json->at, (size_t)(json->end - json->at));
}

/* Mixes the accessor that a member names into a hash; false: it is none. */
static bool mix_accessor(hashing *h, const weft__gltf_value *number, uint64_t *hash)
{
    uint32_t index;
    if (!element_number(h->out, number, h->file->accessors.count, "an accessor", &index))
        return false;
    *hash = hash_word(*hash, h->file->accessor[index].hash);
    return true;
}

static bool mix_attributes(hashing *h, const weft__gltf_value *object, uint64_t *hash)
{
    if (object == NULL) return true;
    if (object->kind != WEFT__JSON_OBJECT) {
        weft_source_error(h->out, object->at, "attributes should be an object: {\"POSITION\": 0}");
        return false;
    }
    const weft__gltf_value *member = object + 1;
    for (uint32_t i = 0; i < object->count; i++, member += member->span)
        if (!mix_accessor(h, member, hash)) return false;
    return true;
}

static bool mix_primitive(hashing *h, const weft__gltf_value *primitive, uint64_t *hash)
{
    uint64_t material = UINT64_MAX, mode = WEFT_GLTF_TRIANGLES;
    const weft__gltf_value *indices = weft__gltf_member(primitive, "indices");
    const weft__gltf_value *targets = weft__gltf_member(primitive, "targets");
    if (!weft__gltf_integer(h->out, primitive, "material", h->file->materials.count, &material) ||
        !weft__gltf_integer(h->out, primitive, "mode", WEFT_GLTF_TRIANGLE_FAN + 1, &mode) ||
        !mix_attributes(h, weft__gltf_member(primitive, "attributes"), hash) ||
        (indices != NULL && !mix_accessor(h, indices, hash)))
        return false;
    if (material != UINT64_MAX)
        *hash = hash_word(*hash, hash_json(h->file->materials.at[material]));
    if (targets == NULL) return true;
    if (targets->kind != WEFT__JSON_ARRAY) {
        weft_source_error(h->out, targets->at, "\"targets\" should be an array");
        return false;
    }
    const weft__gltf_value *target = targets + 1;
    for (uint32_t i = 0; i < targets->count; i++, target += target->span)
        if (!mix_attributes(h, target, hash)) return false;
    return true;
}

static bool hash_mesh(hashing *h, uint32_t index)
{
    const weft__gltf_value *mesh = h->file->meshes.at[index];
    weft__gltf_table primitives;
    h->meshes[index] = hash_json(mesh);
    if (!weft__gltf_list(h->out, mesh, "primitives", &primitives)) return false;
    for (uint32_t i = 0; i < primitives.count; i++)
        if (!mix_primitive(h, primitives.at[i], &h->meshes[index])) return false;
    return true;
}

static bool hash_skin(hashing *h, uint32_t index)
{
    const weft__gltf_value *skin = h->file->skins.at[index];
    const weft__gltf_value *joints = weft__gltf_member(skin, "joints");
    const weft__gltf_value *matrices = weft__gltf_member(skin, "inverseBindMatrices");
    uint64_t hash = hash_json(skin);
    if (joints == NULL || joints->kind != WEFT__JSON_ARRAY || joints->count == 0 ||
        joints->count > WEFT_GLTF_JOINTS_MAX) {
        weft_source_error(h->out, skin->at, "a skin needs \"joints\": 1 to %d numbers of nodes",
                          WEFT_GLTF_JOINTS_MAX);
        return false;
    }
    for (uint32_t i = 0; i < joints->count; i++) {
        uint32_t node;
        if (!element_number(h->out, &joints[1 + i], h->file->nodes.count, "a node", &node))
            return false;
        if (h->file->node[node].name == NULL) {
            weft_source_error(h->out, joints[1 + i].at, "this node is in no scene");
            return false;
        }
        hash = hash_word(hash, h->file->node[node].path_hash);
    }
    if (matrices != NULL && !mix_accessor(h, matrices, &hash)) return false;
    h->skins[index] = hash;
    return true;
}

/* Checks a channel; *target: the node that it changes, NULL: none that is an object. */
static bool mix_channel(hashing *h, uint32_t animation, const weft__gltf_value *channel,
                        const weft__gltf_node **target, uint64_t *hash)
{
    uint64_t sampler = UINT64_MAX, node = UINT64_MAX;
    *target = NULL;
    if (!weft__gltf_integer(h->out, channel, "sampler", h->file->samplers[animation].count,
                            &sampler) ||
        !weft__gltf_integer(h->out, weft__gltf_member(channel, "target"), "node",
                            h->file->nodes.count, &node))
        return false;
    if (sampler == UINT64_MAX) {
        weft_source_error(h->out, channel->at, "a channel needs \"sampler\"");
        return false;
    }
    if (node == UINT64_MAX || h->file->node[node].name == NULL) return true;
    *target = &h->file->node[node];
    *hash = hash_word(*hash, (*target)->path_hash);
    return true;
}

static void hand_over(weft__gltf *file, uint32_t index, const weft__gltf_node *target)
{
    while (target->above != NULL && !target->above->is_scene) target = target->above;
    weft__gltf_node *root = &file->node[target - file->node];
    if (root->first_animation == WEFT__GLTF_NONE)
        root->first_animation = index;
    else
        file->next_animation[root->last_animation] = index;
    root->last_animation = index;
}

static bool hash_animation(hashing *h, uint32_t index)
{
    const weft__gltf_value *animation = h->file->animations.at[index];
    const weft__gltf_node *first = NULL, *target;
    weft__gltf_table channels, *samplers = &h->file->samplers[index];
    uint64_t hash = hash_json(animation);
    h->file->next_animation[index] = WEFT__GLTF_NONE;
    if (!weft__gltf_list(h->out, animation, "samplers", samplers) ||
        !weft__gltf_list(h->out, animation, "channels", &channels))
        return false;
    for (uint32_t i = 0; i < samplers->count; i++) {
        const weft__gltf_value *input = weft__gltf_member(samplers->at[i], "input");
        const weft__gltf_value *output = weft__gltf_member(samplers->at[i], "output");
        if (input == NULL || output == NULL) {
            weft_source_error(h->out, samplers->at[i]->at,
                              "a sampler needs \"input\" and \"output\"");
            return false;
        }
        if (!mix_accessor(h, input, &hash) || !mix_accessor(h, output, &hash)) return false;
    }
    for (uint32_t i = 0; i < channels.count; i++) {
        if (!mix_channel(h, index, channels.at[i], &target, &hash)) return false;
        if (first == NULL) first = target;
    }
    h->animations[index] = hash;
    if (first != NULL) hand_over(h->file, index, first);
    return true;
}

static bool hash_parts(hashing *h)
{
    for (uint32_t i = 0; i < h->file->meshes.count; i++)
        if (!hash_mesh(h, i)) return false;
    for (uint32_t i = 0; i < h->file->skins.count; i++)
        if (!hash_skin(h, i)) return false;
    for (uint32_t i = 0; i < h->file->animations.count; i++)
        if (!hash_animation(h, i)) return false;
    return true;
}

static bool hash_node(hashing *h, const weft__gltf_node *node, uint64_t *hash)
{
    uint64_t mesh = UINT64_MAX, skin = UINT64_MAX;
    uint32_t animations = 0;
    *hash = hash_word(hash_json(node->json), node->is_scene);
    if (!node->is_scene &&
        (!weft__gltf_integer(h->out, node->json, "mesh", h->file->meshes.count, &mesh) ||
         !weft__gltf_integer(h->out, node->json, "skin", h->file->skins.count, &skin)))
        return false;
    if (mesh != UINT64_MAX) *hash = hash_word(*hash, h->meshes[mesh]);
    if (skin != UINT64_MAX) *hash = hash_word(*hash, h->skins[skin]);
    for (uint32_t a = node->first_animation; a != WEFT__GLTF_NONE;
         a = h->file->next_animation[a], animations++)
        *hash = hash_word(*hash, h->animations[a]);
    *hash = hash_end(*hash) | 1;
    if (animations <= WEFT_GLTF_ANIMATIONS_MAX) return true;
    weft_source_error(h->out, node->json->at, "%u animations of one root node: at most %d",
                      animations, WEFT_GLTF_ANIMATIONS_MAX);
    return false;
}

static uint64_t *hashes_make(weft_source *out, weft__gltf *file)
{
    hashing h = {.out = out, .file = file};
    uint32_t animations = file->animations.count;
    h.meshes = weft_source_memory(out, (file->meshes.count + (size_t)1) * sizeof *h.meshes);
    h.skins = weft_source_memory(out, (file->skins.count + (size_t)1) * sizeof *h.skins);
    h.animations = weft_source_memory(out, (animations + (size_t)1) * sizeof *h.animations);
    file->samplers = weft_source_memory(out, (animations + (size_t)1) * sizeof *file->samplers);
    file->next_animation = weft_source_memory(out, (animations + (size_t)1) * sizeof(uint32_t));
    uint64_t *hashes = weft_source_memory(out, (file->object_count + (size_t)1) * sizeof *hashes);
    if (h.meshes == NULL || h.skins == NULL || h.animations == NULL || hashes == NULL ||
        file->samplers == NULL || file->next_animation == NULL || !hash_parts(&h))
        return NULL;
    for (uint32_t i = 0; i < file->object_count; i++)
        if (!hash_node(&h, file->in_order[i], &hashes[i])) return NULL;
    return hashes;
}

enum { EXTRAS_MOST = 1024 };

/* ---- extras ---- */

static bool refuse(weft_source *out, const char *at, const char *what)
{
    weft_source_error(out, at, "%s", what);
    return false;
}

/* Whether a member is a field of a component: "Orbit.mean_motion"; *bytes: of "Orbit". */
static bool is_flat(const weft__gltf_value *member, size_t *bytes)
{
    const char *dot = memchr(member->name, '.', (size_t)(member->name_end - member->name));
    if (dot == NULL || dot == member->name || dot + 1 == member->name_end ||
        member->name_has_escapes)
        return false;
    *bytes = (size_t)(dot - member->name);
    for (const char *at = member->name; at < dot; at++) {
        char c = *at;
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (c < '0' || c > '9' || at == member->name)) return false;
    }
    return memchr(dot + 1, '.', (size_t)(member->name_end - dot - 1)) == NULL;
}

static bool is_of(const weft__gltf_value *member, const char *name, size_t bytes)
{
    size_t own;
    return is_flat(member, &own) && own == bytes && memcmp(member->name, name, bytes) == 0;
}

/* Writes {"field": value, ...} of a component to `to`; returns its length, also when `to` is
 * NULL. */
static size_t write_flat(const weft__gltf_value *extras, const char *name, size_t bytes, char *to)
{
    size_t at = 0;
    const weft__gltf_value *member = extras + 1;
    for (uint32_t i = 0; i < extras->count; i++, member += member->span) {
        if (!is_of(member, name, bytes)) continue;
        const char *field = member->name + bytes + 1;
        size_t field_bytes = (size_t)(member->name_end - field);
        size_t value_bytes = (size_t)(member->end - member->at);
        if (to != NULL) {
            to[at] = at == 0 ? '{' : ',';
            to[at + 1] = '"';
            memcpy(to + at + 2, field, field_bytes);
            memcpy(to + at + 2 + field_bytes, "\":", 2);
            memcpy(to + at + 4 + field_bytes, member->at, value_bytes);
        }
        at += 4 + field_bytes + value_bytes;
    }
    if (to != NULL) to[at] = '}';
    return at + 1;
}

static bool add_flat(weft_source *out, uint32_t object, const weft__gltf_value *extras,
                     const weft__gltf_value *weft)
{
    const weft__gltf_value *member = extras + 1;
    for (uint32_t i = 0; i < extras->count; i++, member += member->span) {
        size_t bytes;
        bool is_first = is_flat(member, &bytes);
        const weft__gltf_value *other = extras + 1;
        for (; is_first && other < member; other += other->span)
            is_first = !is_of(other, member->name, bytes);
        if (!is_first) continue;
        other = weft == NULL ? NULL : weft + 1;
        for (uint32_t k = 0; weft != NULL && k < weft->count; k++, other += other->span)
            if ((size_t)(other->name_end - other->name) == bytes &&
                memcmp(other->name, member->name, bytes) == 0)
                return refuse(out, member->name - 1,
                              "this component stands in \"weft\", too: remove one");
        size_t length = write_flat(extras, member->name, bytes, NULL);
        char *json = weft_source_memory(out, length + 1);
        if (json == NULL) return false;
        write_flat(extras, member->name, bytes, json);
        json[length] = '\0';
        weft_source_property(out, object, member->name, bytes, json, length);
    }
    return true;
}

static bool add_member(weft_source *out, uint32_t object, const weft__gltf_value *weft,
                       const weft__gltf_value *member)
{
    size_t bytes = (size_t)(member->name_end - member->name);
    const char *name = member->name;
    for (const weft__gltf_value *other = weft + 1; other < member; other += other->span)
        if ((size_t)(other->name_end - other->name) == bytes &&
            memcmp(other->name, name, bytes) == 0)
            return refuse(out, name - 1, "this name stands twice in the object: remove one");
    if (member->name_has_escapes)
        return refuse(out, name - 1, "write the name of a property without \\ in it");
    weft_source_property(out, object, name, bytes, member->at, (size_t)(member->end - member->at));
    return true;
}

static bool add_extras(weft_source *out, uint32_t object, const weft__gltf_value *extras)
{
    if (extras == NULL || extras->kind != WEFT__JSON_OBJECT) return true;
    const weft__gltf_value *weft = weft__gltf_member(extras, "weft");
    if (weft != NULL && weft->kind != WEFT__JSON_OBJECT)
        return refuse(out, weft->at, "\"weft\" should be an object of properties");
    if (extras->count > EXTRAS_MOST || (weft != NULL && weft->count > EXTRAS_MOST))
        return refuse(out, extras->at, "more than 1024 properties of one node");
    const weft__gltf_value *member = weft == NULL ? NULL : weft + 1;
    for (uint32_t i = 0; weft != NULL && i < weft->count; i++, member += member->span)
        if (!add_member(out, object, weft, member)) return false;
    return add_flat(out, object, extras, weft);
}

/* ---- files ---- */

/* Extensions without which the file can be read, or that are read. */
static bool is_harmless(const weft__gltf_value *name)
{
    static const char materials[] = "KHR_materials_";
    return weft__gltf_says(name, "KHR_mesh_quantization") ||
           weft__gltf_says(name, "KHR_texture_transform") ||
           weft__gltf_says(name, "KHR_texture_basisu") ||
           weft__gltf_says(name, "KHR_lights_punctual") ||
           (name->kind == WEFT__JSON_STRING && name->end - name->at > 16 &&
            memcmp(name->at + 1, materials, sizeof materials - 1) == 0);
}

static bool check_version(weft_source *out, const weft__gltf_value *root)
{
    const weft__gltf_value *version =
        weft__gltf_member(weft__gltf_member(root, "asset"), "version");
    const weft__gltf_value *required = weft__gltf_member(root, "extensionsRequired");
    char name[64];
    if (version == NULL || version->kind != WEFT__JSON_STRING || version->at[1] != '2') {
        weft_source_error(out, root->at,
                          "\"asset\" should say \"version\": \"2.0\": export the file as glTF 2.0");
        return false;
    }
    if (required == NULL || required->kind != WEFT__JSON_ARRAY) return true;
    const weft__gltf_value *extension = required + 1;
    for (uint32_t i = 0; i < required->count; i++, extension += extension->span) {
        if (is_harmless(extension)) continue;
        weft__gltf_string(extension, name, sizeof name);
        weft_source_error(out, extension->at,
                          "the file needs the extension \"%s\", which is not read: export it "
                          "without it (without compression)",
                          name);
        return false;
    }
    return true;
}

static bool read_tables(weft_source *out, weft__gltf *file, weft__gltf_views *views)
{
    const weft__gltf_value *root = file->root;
    return weft__gltf_list(out, root, "nodes", &file->nodes) &&
           weft__gltf_list(out, root, "scenes", &file->scenes) &&
           weft__gltf_list(out, root, "meshes", &file->meshes) &&
           weft__gltf_list(out, root, "skins", &file->skins) &&
           weft__gltf_list(out, root, "animations", &file->animations) &&
           weft__gltf_list(out, root, "materials", &file->materials) &&
           weft__gltf_list(out, root, "accessors", &file->accessors) &&
           weft__gltf_list(out, root, "bufferViews", &views->views) &&
           weft__gltf_list(out, root, "buffers", &views->buffers);
}

static bool read_file(weft_source *out, const weft_text *text, weft__gltf *file)
{
    weft__gltf_bytes json, binary;
    weft__gltf_views views;
    if (!weft__gltf_open(out, text, &json, &binary)) return false;
    file->root = weft__gltf_parse(out, (const char *)json.at, json.count);
    if (file->root == NULL || !check_version(out, file->root) || !read_tables(out, file, &views))
        return false;
    views.bytes = weft__gltf_buffers(out, &views.buffers, binary);
    views.byte_count = text->count;
    for (uint32_t i = 0; views.bytes != NULL && i < views.buffers.count; i++)
        views.byte_count += views.bytes[i].count;
    if (views.bytes == NULL) return false;
    file->accessor = weft__gltf_accessors(out, &file->accessors, &views);
    return file->accessor != NULL && forest_make(out, file);
}

static weft_result open_gltf(weft_source *out, const weft_text *text, void *user)
{
    (void)user;
    weft__gltf *file = weft_source_memory(out, sizeof *file);
    if (file == NULL) return WEFT_OUT_OF_MEMORY;
    memset(file, 0, sizeof *file);
    const uint64_t *hashes = read_file(out, text, file) ? hashes_make(out, file) : NULL;
    if (hashes == NULL) return WEFT_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < file->object_count; i++) {
        weft__gltf_node *node = file->in_order[i];
        const weft_source_object object = {
            .name = node->name,
            .name_bytes = node->name_bytes,
            .parent = node->above == NULL ? WEFT_SOURCE_ROOT : node->above->object,
            .value = node->json->at,
            .value_bytes = (size_t)(node->json->end - node->json->at),
            .hash = hashes[i],
            .data = node};
        node->object = weft_source_add(out, &object);
        if (node->object == WEFT__GLTF_NONE) return WEFT_INVALID_ARGUMENT;
        if (!add_extras(out, node->object, weft__gltf_member(node->json, "extras")))
            return WEFT_INVALID_ARGUMENT;
    }
    return WEFT_OK;
}

weft_source_desc weft_source_gltf(void)
{
    return (weft_source_desc){.kind = "gltf", .suffixes = ".gltf .glb", .open = open_gltf};
}
