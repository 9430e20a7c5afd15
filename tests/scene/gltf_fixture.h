/* SPDX-License-Identifier: MIT */
/* gltf_fixture.h: scenes of one glTF file in memory. */
#ifndef WEFT_TESTS_GLTF_FIXTURE_H
#define WEFT_TESTS_GLTF_FIXTURE_H

#include "memory_fault.h"
#include "scene_fixture.h"

#include <weft/scene_gltf.h>

/* A world, a scene and its files. */
typedef struct gltf_stage {
    test_memory memory;
    shelf files;
    cast cast;
    weft_world *world;
    weft_gltf_components gltf;
    weft_scene *scene;
} gltf_stage;

static inline void gltf_begin(gltf_stage *s)
{
    memset(s, 0, sizeof *s);
    test_memory_init(&s->memory);
    s->world = cast_world(1, &s->cast);
    CHECK_OK(weft_scene_gltf_register(s->world, &s->gltf));
    const weft_baker_desc baker = weft_baker_gltf(&s->gltf);
    const weft_source_desc source = weft_source_gltf();
    CHECK_OK(weft_scene_create(s->world,
                               &(weft_scene_desc){.bakers = &baker,
                                                  .baker_count = 1,
                                                  .sources = &source,
                                                  .source_count = 1,
                                                  .read = shelf_read,
                                                  .user = &s->files,
                                                  .allocator = test_memory_hook(&s->memory)},
                               &s->scene));
}

static inline void gltf_end(gltf_stage *s)
{
    weft_scene_destroy(s->scene);
    CHECK_OK(weft_world_destroy(s->world));
    test_memory_fini(&s->memory);
}

static inline weft_result gltf_bake(gltf_stage *s, const char *path)
{
    return weft_scene_bake(s->scene, (const char *[]){path}, 1);
}

/* The first mistake; "" without one. */
static inline const char *gltf_said(const gltf_stage *s)
{
    static weft_error first;
    return weft_scene_mistakes(s->scene, &first, 1) == 0 ? "" : first.text;
}

/* Makes a GLB of a JSON text and binary bytes; the caller frees it. */
static inline char *gltf_glb(const char *json, const void *binary, uint32_t bytes, uint32_t *count)
{
    uint32_t json_bytes = ((uint32_t)strlen(json) + 3) / 4 * 4;
    uint32_t padded = (bytes + 3) / 4 * 4;
    *count = 12 + 8 + json_bytes + 8 + padded;
    char *glb = calloc(1, *count);
    const uint32_t head[] = {0x46546C67, 2, *count, json_bytes, 0x4E4F534A};
    const uint32_t part[] = {padded, 0x004E4942};
    memcpy(glb, head, sizeof head);
    memset(glb + 20, ' ', json_bytes);
    memcpy(glb + 20, json, strlen(json));
    memcpy(glb + 20 + json_bytes, part, sizeof part);
    memcpy(glb + 28 + json_bytes, binary, bytes);
    return glb;
}

/* Bytes of gltf_whole: a triangle, its indices, joints, weights, a sparse change, two times and two
 * places, an inverse bind matrix. */
typedef struct gltf_binary {
    float positions[9];
    uint16_t indices[4];
    uint8_t joints[12];
    uint8_t weights[12];
    uint16_t sparse_numbers[2];
    float sparse_values[3];
    float times[2];
    float places[6];
    float matrix[16];
} gltf_binary;

static const gltf_binary gltf_numbers = {
    .positions = {0, 0, 0, 2, 0, 0, 0, 3, 0},
    .indices = {2, 1, 0, 0},
    .joints = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    .weights = {255, 0, 0, 0, 255, 0, 0, 0, 51, 0, 0, 0},
    .sparse_numbers = {1, 0},
    .sparse_values = {5, 6, 7},
    .times = {0, 1.5f},
    .places = {0, 0, 0, 1, 2, 3},
    .matrix = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 4, 5, 6, 1},
};

/* A file with every feature that is read; gltf_numbers are its bytes. */
static const char gltf_whole[] =
    "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0,3]}],\"nodes\":["
    "{\"name\":\"root\",\"children\":[1,2],\"translation\":[1,2,3]},"
    "{\"name\":\"part\",\"mesh\":0,\"skin\":0,\"scale\":[2,2,2],\"extras\":{\"weft\":{\"Shield\":"
    "{\"strength\":7}},\"Spin.speed\":3,\"other\":[1]}},"
    "{\"name\":\"part\",\"mesh\":0},"
    "{\"matrix\":[0,1,0,0,-1,0,0,0,0,0,1,0,7,8,9,1]}],"
    "\"materials\":[{\"name\":\"red\",\"pbrMetallicRoughness\":{\"baseColorFactor\":[1,0,0,0.5]}}],"
    "\"meshes\":[{\"name\":\"tri\",\"weights\":[0.5],\"primitives\":[{\"attributes\":{\"POSITION\":"
    "0,\"JOINTS_0\":2,\"WEIGHTS_0\":3},\"indices\":1,\"material\":0,\"targets\":[{\"POSITION\":4}]"
    "}]}],"
    "\"skins\":[{\"joints\":[0],\"inverseBindMatrices\":7}],"
    "\"animations\":[{\"name\":\"walk\",\"samplers\":[{\"input\":5,\"output\":6}],\"channels\":[{"
    "\"sampler\":0,\"target\":{\"node\":2,\"path\":\"translation\"}}]}],"
    "\"buffers\":[{\"byteLength\":180}],"
    "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":0,\"byteLength\":36,\"byteStride\":12},"
    "{\"buffer\":0,\"byteOffset\":36,\"byteLength\":8},{\"buffer\":0,\"byteOffset\":44,"
    "\"byteLength\":12},{\"buffer\":0,\"byteOffset\":56,\"byteLength\":12},{\"buffer\":0,"
    "\"byteOffset\":68,\"byteLength\":4},{\"buffer\":0,\"byteOffset\":72,\"byteLength\":12},{"
    "\"buffer\":0,\"byteOffset\":84,\"byteLength\":8},{\"buffer\":0,\"byteOffset\":92,"
    "\"byteLength\":24},{\"buffer\":0,\"byteOffset\":116,\"byteLength\":64}],"
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
    "{\"bufferView\":1,\"componentType\":5123,\"count\":3,\"type\":\"SCALAR\"},"
    "{\"bufferView\":2,\"componentType\":5121,\"count\":3,\"type\":\"VEC4\"},"
    "{\"bufferView\":3,\"componentType\":5121,\"count\":3,\"type\":\"VEC4\",\"normalized\":true},"
    "{\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"sparse\":{\"count\":1,\"indices\":{"
    "\"bufferView\":4,\"componentType\":5123},\"values\":{\"bufferView\":5}}},"
    "{\"bufferView\":6,\"componentType\":5126,\"count\":2,\"type\":\"SCALAR\"},"
    "{\"bufferView\":7,\"componentType\":5126,\"count\":2,\"type\":\"VEC3\"},"
    "{\"bufferView\":8,\"componentType\":5126,\"count\":1,\"type\":\"MAT4\"}]}";

#endif
