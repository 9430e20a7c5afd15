/* SPDX-License-Identifier: MIT */
/* gltf_bake.c: the components of glTF nodes and the baker that gives them. See weft/scene_gltf.h.
 */
#include "gltf_blobs.h"
#include "gltf_place.h"

#include <weft/scene_gltf.h>

#include <string.h>

/* ---- components ---- */

static const weft_field mesh_fields[] = {WEFT_FIELD(GltfMesh, mesh)};
static const weft_type mesh_type = WEFT_TYPE(GltfMesh, mesh_fields);
static const weft_field skin_fields[] = {WEFT_FIELD(GltfSkin, skin)};
static const weft_type skin_type = WEFT_TYPE(GltfSkin, skin_fields);
static const weft_field joint_fields[] = {WEFT_FIELD(GltfSkinJoint, joint)};
static const weft_type joint_type = WEFT_TYPE(GltfSkinJoint, joint_fields);
static const weft_field animation_fields[] = {WEFT_FIELD(GltfAnimation, name),
                                              WEFT_FIELD(GltfAnimation, animation)};
static const weft_type animation_type = WEFT_TYPE(GltfAnimation, animation_fields);

weft_result weft_scene_gltf_register(weft_world *world, weft_gltf_components *out)
{
    if (out == NULL) return WEFT_INVALID_ARGUMENT;
    *out = (weft_gltf_components){
        .mesh = weft_component_create(world, &(weft_component_desc){.type = &mesh_type}),
        .skin = weft_component_create(world, &(weft_component_desc){.type = &skin_type}),
        .joint = weft_component_create(
            world, &(weft_component_desc){.type = &joint_type, .flags = WEFT_BUFFER}),
        .animation = weft_component_create(
            world, &(weft_component_desc){.type = &animation_type, .flags = WEFT_BUFFER})};
    bool are_all =
        out->mesh.id != 0 && out->skin.id != 0 && out->joint.id != 0 && out->animation.id != 0;
    return are_all ? WEFT_OK : weft_world_error(world)->code;
}

/* ---- the baker ---- */

static weft_result bake_place(weft_bake *bake, const weft__gltf_node *node, weft_entity entity)
{
    static const float zero[3] = {0, 0, 0}, one[3] = {1, 1, 1}, unit[4] = {0, 0, 0, 1};
    weft__place place;
    if (node->is_scene)
        return weft_bake_transform(bake, entity, zero, unit, one, WEFT_TRANSFORM_NONE);
    const char *problem = weft__gltf_place_of(node, &place);
    if (problem != NULL) {
        weft_bake_error(bake, NULL, NULL, "%s", problem);
        return WEFT_INVALID_ARGUMENT;
    }
    return weft_bake_transform(bake, entity, place.position, place.rotation, place.scale,
                               weft__scale_is_even(place.scale) ? WEFT_TRANSFORM_DYNAMIC
                                                                : WEFT_TRANSFORM_STATIC);
}

static weft_result bake_joints(weft_bake *bake, const weft__gltf_node *node, weft_entity entity,
                               const weft__gltf_value *joints, weft_component component)
{
    GltfSkinJoint all[WEFT_GLTF_JOINTS_MAX];
    char path[WEFT__GLTF_PATH_BYTES];
    for (uint32_t i = 0; i < joints->count; i++) {
        const weft__gltf_node *joint = &node->file->node[(uint32_t)joints[1 + i].number];
        if (!weft__gltf_path(joint, node, path)) {
            weft_bake_error(bake, NULL, NULL, "a joint has a path of more than 4095 bytes");
            return WEFT_INVALID_ARGUMENT;
        }
        all[i].joint = weft_bake_entity_of(bake, path);
        if (weft_entity_is_null(all[i].joint)) return WEFT_INVALID_ARGUMENT;
    }
    return weft_bake_buffer(bake, entity, component, all, joints->count, sizeof all[0]);
}

static weft_result bake_skin(weft_bake *bake, const weft__gltf_node *node, weft_entity entity,
                             const weft_gltf_components *components)
{
    uint64_t number = weft__gltf_known(node->json, "skin", UINT64_MAX);
    if (number == UINT64_MAX) return WEFT_OK;
    GltfSkin value;
    weft_result result = weft__gltf_skin_blob(bake, node->file, (uint32_t)number, &value.skin);
    if (result == WEFT_OK)
        result = weft_bake_set(bake, entity, components->skin, &value, sizeof value);
    const weft__gltf_value *joints = weft__gltf_member(node->file->skins.at[number], "joints");
    return result != WEFT_OK ? result : bake_joints(bake, node, entity, joints, components->joint);
}

static weft_result bake_mesh(weft_bake *bake, const weft__gltf_node *node, weft_entity entity,
                             const weft_gltf_components *components)
{
    uint64_t number = weft__gltf_known(node->json, "mesh", UINT64_MAX);
    if (number == UINT64_MAX) return WEFT_OK;
    GltfMesh value;
    weft_result result = weft__gltf_mesh_blob(bake, node, (uint32_t)number, &value.mesh);
    return result != WEFT_OK ? result
                             : weft_bake_set(bake, entity, components->mesh, &value, sizeof value);
}

static weft_result bake_animations(weft_bake *bake, const weft__gltf_node *node, weft_entity entity,
                                   const weft_gltf_components *components)
{
    GltfAnimation all[WEFT_GLTF_ANIMATIONS_MAX];
    uint32_t count = 0;
    if (node->first_animation == WEFT__GLTF_NONE) return WEFT_OK;
    memset(all, 0, sizeof all);
    for (uint32_t a = node->first_animation; a != WEFT__GLTF_NONE;
         a = node->file->next_animation[a], count++) {
        weft__gltf_string(weft__gltf_member(node->file->animations.at[a], "name"), all[count].name,
                          sizeof all[count].name);
        weft_result result = weft__gltf_animation_blob(bake, node->file, a, &all[count].animation);
        if (result != WEFT_OK) return result;
    }
    return weft_bake_buffer(bake, entity, components->animation, all, count, sizeof all[0]);
}

static weft_result bake_gltf(weft_bake *bake, const weft_object *object, void *user)
{
    (void)user; /* handles of one world: a live link bakes with a schema of its own */
    const weft_gltf_components components = {.mesh = weft_bake_component(bake, mesh_type.name),
                                             .skin = weft_bake_component(bake, skin_type.name),
                                             .joint = weft_bake_component(bake, joint_type.name),
                                             .animation =
                                                 weft_bake_component(bake, animation_type.name)};
    const weft__gltf_node *node = weft_bake_data(bake, object, "gltf");
    if (node == NULL) return WEFT_OK;
    weft_entity entity = weft_bake_entity(bake, NULL);
    weft_result result = bake_place(bake, node, entity);
    if (node->is_scene) return result;
    if (result == WEFT_OK) result = bake_mesh(bake, node, entity, &components);
    if (result == WEFT_OK) result = bake_skin(bake, node, entity, &components);
    if (result == WEFT_OK) result = bake_animations(bake, node, entity, &components);
    return result;
}

weft_baker_desc weft_baker_gltf(const weft_gltf_components *components)
{
    return (weft_baker_desc){.name = "gltf",
                             .kind = "gltf",
                             .version = 1,
                             .bake = bake_gltf,
                             .user = (void *)(uintptr_t)components};
}
