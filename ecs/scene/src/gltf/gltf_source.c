/* SPDX-License-Identifier: MIT */
/* gltf_source.c: the source of glTF files: opens one, checks what meshes, skins and animations
 * refer to, and adds its nodes as objects and their extras as properties. An object has one number
 * for all that it depends on: JSON, accessors and paths. See weft/scene_gltf.h and
 * docs/guide/scenes-gltf.md. */
#include "hash.h"

#include "gltf_nodes.h"
#include <weft/scene_gltf.h>

#include <string.h>

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
    if (number->kind != WEFT__JSON_NUMBER || number->number < 0 ||
        number->number >= h->file->accessors.count || !weft__number_is_whole(number->number)) {
        weft_source_error(h->out, number->at, "this is not the number of an accessor: there are %u",
                          h->file->accessors.count);
        return false;
    }
    *hash = hash_word(*hash, h->file->accessor[(uint32_t)number->number].hash);
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
        const weft__gltf_value *joint = &joints[1 + i];
        if (joint->kind != WEFT__JSON_NUMBER || joint->number < 0 ||
            joint->number >= h->file->nodes.count || !weft__number_is_whole(joint->number) ||
            h->file->node[(uint32_t)joint->number].name == NULL) {
            weft_source_error(h->out, joint->at, "this is not the number of a node in a scene");
            return false;
        }
        hash = hash_word(hash, h->file->node[(uint32_t)joint->number].path_hash);
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
    return file->accessor != NULL && weft__gltf_forest(out, file);
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
