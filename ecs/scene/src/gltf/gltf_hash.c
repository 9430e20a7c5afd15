/* SPDX-License-Identifier: MIT */
/* gltf_hash.c: hashes of meshes, skins and animations, from their JSON and from the accessors and
 * paths that they name. See gltf_hash.h. */
#include "gltf_hash.h"

#include "hash.h"

#include <weft/scene_gltf.h>

/* Of one file. On the stack of weft__gltf_hashes. */
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

uint64_t *weft__gltf_hashes(weft_source *out, weft__gltf *file)
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
