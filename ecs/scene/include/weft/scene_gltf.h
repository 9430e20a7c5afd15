/* SPDX-License-Identifier: MIT */
/* scene_gltf.h: glTF 2.0 files (.gltf, .glb) in scenes: nodes become entities; meshes, skins and
 * animations become blobs.
 *
 *   weft_gltf_components gltf;
 *   weft_transform_create(world, NULL, &transform);
 *   weft_scene_gltf_register(world, &gltf);
 *   const weft_baker_desc bakers[] = {weft_baker_gltf(&gltf)};
 *   const weft_source_desc sources[] = {weft_source_gltf()};
 *   weft_scene_create(world, &(weft_scene_desc){.bakers = bakers, .baker_count = 1,
 *                                               .sources = sources, .source_count = 1}, &scene);
 *   weft_scene_bake(scene, (const char *[]){"Fox.glb"}, 1);
 *
 * Public, in libweft-scene. Objects are the nodes of the file's scene, below each other as in the
 * file; with several scenes, an object for each scene is above its nodes. What becomes of what:
 * docs/guide/scenes-gltf.md. Lengths are metres, times seconds, as in the file; texts UTF-8; the
 * blobs belong to the store of the scene and, once filled, of the world. Read blobs by
 * weft_blob_read with the types below. */
#ifndef WEFT_SCENE_GLTF_H
#define WEFT_SCENE_GLTF_H

#include <weft/blob.h>
#include <weft/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- limits ---- */
#define WEFT_GLTF_DEPTH_MAX 128             /* nodes below each other */
#define WEFT_GLTF_JOINTS_MAX 1024           /* of a skin */
#define WEFT_GLTF_ANIMATIONS_MAX 128        /* of a root node */
#define WEFT_GLTF_MESH_BYTES_MAX (1u << 30) /* of a mesh as a blob */
#define WEFT_GLTF_NAME_BYTES 64             /* of GltfAnimation.name, with its NUL */

/* ---- blobs ---- */

/* A place in a texture. A value. */
typedef struct weft_gltf_vec2 {
    float x, y;
} weft_gltf_vec2;
/* A position, direction or colour without opacity. A value. */
typedef struct weft_gltf_vec3 {
    float x, y, z;
} weft_gltf_vec3;
/* A tangent, a colour or weights. A value. */
typedef struct weft_gltf_vec4 {
    float x, y, z, w;
} weft_gltf_vec4;
/* Four joints, numbers in weft_gltf_skin.joints. */
typedef struct weft_gltf_joints {
    uint16_t at[4];
} weft_gltf_joints;

/* How a morph target moves vertices: added, times its weight. Empty or vertex_count elements. */
typedef struct weft_gltf_morph {
    WEFT_BLOB_ARRAY(weft_gltf_vec3) positions;
    WEFT_BLOB_ARRAY(weft_gltf_vec3) normals;
    WEFT_BLOB_ARRAY(weft_gltf_vec3) tangents;
} weft_gltf_morph;

/* What primitives are made of: numbers as in files. */
typedef enum weft_gltf_mode {
    WEFT_GLTF_POINTS = 0,
    WEFT_GLTF_LINES = 1,
    WEFT_GLTF_LINE_LOOP = 2,
    WEFT_GLTF_LINE_STRIP = 3,
    WEFT_GLTF_TRIANGLES = 4,
    WEFT_GLTF_TRIANGLE_STRIP = 5,
    WEFT_GLTF_TRIANGLE_FAN = 6,
} weft_gltf_mode;

/* A part of a mesh with one material. Arrays of vertices are empty or have vertex_count elements;
 * normalised integers of the file are fractions here. */
typedef struct weft_gltf_primitive {
    weft_blob_string material;                 /* its name; "" when it has none */
    float base_colour[4];                      /* red, green, blue, opacity: 0 to 1, linear */
    uint32_t mode;                             /* weft_gltf_mode */
    uint32_t vertex_count;                     /* of positions */
    WEFT_BLOB_ARRAY(weft_gltf_vec3) positions; /* metres */
    WEFT_BLOB_ARRAY(weft_gltf_vec3) normals;
    WEFT_BLOB_ARRAY(weft_gltf_vec4) tangents; /* w: -1 or 1, the side of the bitangent */
    WEFT_BLOB_ARRAY(weft_gltf_vec2) texcoords[2];
    WEFT_BLOB_ARRAY(weft_gltf_vec4) colours; /* opacity 1 when the file has none */
    WEFT_BLOB_ARRAY(weft_gltf_joints) joints;
    WEFT_BLOB_ARRAY(weft_gltf_vec4) weights; /* of the joints */
    WEFT_BLOB_ARRAY(uint32_t) indices;       /* below vertex_count; empty: 0, 1, 2, ... */
    WEFT_BLOB_ARRAY(weft_gltf_morph) morphs;
} weft_gltf_primitive;

/* A mesh. */
typedef struct weft_gltf_mesh {
    weft_blob_string name;
    weft_gltf_vec3 low, high; /* bounds of all positions, metres; 0 without any */
    WEFT_BLOB_ARRAY(weft_gltf_primitive) primitives;
    WEFT_BLOB_ARRAY(float) weights; /* of morph targets: the node's, or else the mesh's */
} weft_gltf_mesh;

/* A matrix, column by column. */
typedef struct weft_gltf_matrix {
    float at[16];
} weft_gltf_matrix;

/* A skin: what vertices follow. */
typedef struct weft_gltf_skin {
    weft_blob_string name;
    WEFT_BLOB_ARRAY(weft_blob_string) joints;       /* paths in the file: "root/hip/leg" */
    WEFT_BLOB_ARRAY(weft_gltf_matrix) inverse_bind; /* one for each joint */
} weft_gltf_skin;

/* What a channel changes. */
typedef enum weft_gltf_path {
    WEFT_GLTF_TRANSLATION = 0, /* 3 values for each time, metres */
    WEFT_GLTF_ROTATION = 1,    /* 4: a unit quaternion x, y, z, w */
    WEFT_GLTF_SCALE = 2,       /* 3 */
    WEFT_GLTF_WEIGHTS = 3,     /* one for each morph target */
} weft_gltf_path;

/* How values between times are found. */
typedef enum weft_gltf_interpolation {
    WEFT_GLTF_LINEAR = 0,
    WEFT_GLTF_STEP = 1,
    WEFT_GLTF_CUBIC = 2, /* for each time: in-tangent, value, out-tangent */
} weft_gltf_interpolation;

/* One curve of an animation. `values` has width values for each time, three times as many when
 * cubic. */
typedef struct weft_gltf_channel {
    weft_blob_string target; /* path of the node in the file: "root/hip" */
    uint32_t path;           /* weft_gltf_path */
    uint32_t interpolation;  /* weft_gltf_interpolation */
    uint32_t width;
    WEFT_BLOB_ARRAY(float) times; /* seconds, ascending */
    WEFT_BLOB_ARRAY(float) values;
} weft_gltf_channel;

/* An animation. */
typedef struct weft_gltf_animation {
    weft_blob_string name;
    float seconds; /* the latest time */
    WEFT_BLOB_ARRAY(weft_gltf_channel) channels;
} weft_gltf_animation;

/* The type of blobs of weft_gltf_mesh. Constant. Threads: any. */
WEFT_API_DATA extern const weft_blob_type weft_gltf_mesh_type;
/* The type of blobs of weft_gltf_skin. Constant. Threads: any. */
WEFT_API_DATA extern const weft_blob_type weft_gltf_skin_type;
/* The type of blobs of weft_gltf_animation. Constant. Threads: any. */
WEFT_API_DATA extern const weft_blob_type weft_gltf_animation_type;

/* ---- components ---- */

/* Of nodes with a mesh. */
typedef struct GltfMesh {
    weft_blob_ref mesh; /* weft_gltf_mesh */
} GltfMesh;
/* Of nodes with a skin. */
typedef struct GltfSkin {
    weft_blob_ref skin; /* weft_gltf_skin */
} GltfSkin;
/* BUFFER beside GltfSkin: the joints in the order of the skin. */
typedef struct GltfSkinJoint {
    weft_entity joint;
} GltfSkinJoint;
/* BUFFER of the root node above the first target of each animation. */
typedef struct GltfAnimation {
    char name[WEFT_GLTF_NAME_BYTES]; /* cut off when longer */
    weft_blob_ref animation;         /* weft_gltf_animation */
} GltfAnimation;

/* Handles of the components above in a world. */
typedef struct weft_gltf_components {
    weft_component mesh, skin, joint, animation;
} weft_gltf_components;

/* Registers the components, or finds them when they are. Call it before weft_scene_create, and in
 * other worlds before weft_scene_fill. Errors: those of weft_component_create; types that were
 * registered before one failed stay. Threads: owner, world idle. */
WEFT_API weft_result weft_scene_gltf_register(weft_world *world, weft_gltf_components *out);

/* ---- source and baker ---- */

/* The source of glTF files; their objects are of kind "gltf". A mistake in a file fails the file
 * and says where. A value; needs no state. Threads: any. */
WEFT_API weft_source_desc weft_source_gltf(void);
/* The baker of their objects: places (they need weft_transform_create), meshes, skins,
 * animations. The components are those of the scene's schema; `components` is what
 * weft_scene_gltf_register gave. Threads: any. */
WEFT_API weft_baker_desc weft_baker_gltf(const weft_gltf_components *components);

#ifdef __cplusplus
}
#endif
#endif
