/* SPDX-License-Identifier: MIT */
/* gltf_bake.c: the components of glTF nodes and the baker that gives them: places (matrices are
 * taken apart into position, rotation and scale), meshes, skins and animations as blobs. Numbers of
 * accessors were checked when the file was opened; types and counts are here. See
 * weft/scene_gltf.h. */
#include "bake.h"
#include "error.h"
#include "gltf_source.h"

#include <math.h>
#include <string.h>
#include <weft/scene_gltf.h>

/* ---- places ---- */

/* A unit quaternion of a matrix of rotation, m[column][row]: from the largest of its components,
 * so that nothing small is divided by (Shepperd, 1978). */
static void quaternion_of(double m[3][3], double q[4])
{
    double trace = m[0][0] + m[1][1] + m[2][2];
    int most = trace > m[0][0] && trace > m[1][1] && trace > m[2][2] ? 3
               : m[0][0] >= m[1][1] && m[0][0] >= m[2][2]            ? 0
               : m[1][1] >= m[2][2]                                  ? 1
                                                                     : 2;
    if (most == 3) {
        q[3] = sqrt(1 + trace) / 2;
        q[0] = (m[1][2] - m[2][1]) / (4 * q[3]);
        q[1] = (m[2][0] - m[0][2]) / (4 * q[3]);
        q[2] = (m[0][1] - m[1][0]) / (4 * q[3]);
        return;
    }
    int i = most, j = (i + 1) % 3, k = (i + 2) % 3;
    q[i] = sqrt(1 + m[i][i] - m[j][j] - m[k][k]) / 2;
    q[j] = (m[i][j] + m[j][i]) / (4 * q[i]);
    q[k] = (m[i][k] + m[k][i]) / (4 * q[i]);
    q[3] = (m[j][k] - m[k][j]) / (4 * q[i]);
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Takes a matrix apart, column by column. */
static const char *take_apart(const double at[16], double position[3], double rotation[4],
                              double scale[3])
{
    double m[3][3];
    if (at[3] != 0 || at[7] != 0 || at[11] != 0 || at[15] != 1)
        return "\"matrix\": its last row should be 0, 0, 0, 1";
    for (int c = 0; c < 3; c++) {
        for (int r = 0; r < 3; r++) m[c][r] = at[4 * c + r];
        scale[c] = sqrt(dot(m[c], m[c]));
        if (!(scale[c] > 0) || !isfinite(scale[c]))
            return "\"matrix\": a scale of 0 cannot be taken apart: write \"scale\" instead";
        for (int r = 0; r < 3; r++) m[c][r] /= scale[c];
        position[c] = at[12 + c];
    }
    if (fabs(dot(m[0], m[1])) > 1e-4 || fabs(dot(m[0], m[2])) > 1e-4 ||
        fabs(dot(m[1], m[2])) > 1e-4)
        return "\"matrix\" has shear, which no place can have: apply the transform to the mesh";
    const double cross[3] = {m[1][1] * m[2][2] - m[1][2] * m[2][1],
                             m[1][2] * m[2][0] - m[1][0] * m[2][2],
                             m[1][0] * m[2][1] - m[1][1] * m[2][0]};
    if (dot(m[0], cross) < 0) { /* a mirror */
        scale[0] = -scale[0];
        for (int r = 0; r < 3; r++) m[0][r] = -m[0][r];
    }
    quaternion_of(m, rotation);
    return NULL;
}

static const char *node_place(const weft__gltf_node *node, weft__bake_place *place)
{
    double position[3] = {0}, rotation[4] = {0, 0, 0, 1}, scale[3] = {1, 1, 1}, at[16];
    const struct {
        const char *name;
        double *at;
        uint32_t count;
        const char *problem;
    } parts[] = {{"matrix", at, 16, "\"matrix\" should be 16 numbers"},
                 {"translation", position, 3, "\"translation\" should be 3 numbers"},
                 {"rotation", rotation, 4, "\"rotation\" should be 4 numbers"},
                 {"scale", scale, 3, "\"scale\" should be 3 numbers"}};
    bool is_matrix = weft__gltf_member(node->json, "matrix") != NULL;
    for (uint32_t i = 0; i < (is_matrix ? 1 : 4); i++) {
        const weft__gltf_value *part = weft__gltf_member(node->json, parts[i].name);
        if (part != NULL && !weft__gltf_numbers(part, parts[i].at, parts[i].count))
            return parts[i].problem;
    }
    const char *problem = is_matrix ? take_apart(at, position, rotation, scale) : NULL;
    if (problem != NULL) return problem;
    double length = sqrt(dot(rotation, rotation) + rotation[3] * rotation[3]);
    if (!(fabs(length - 1) < 1e-2)) return "\"rotation\" should be a unit quaternion: x, y, z, w";
    for (int i = 0; i < 4; i++) place->rotation[i] = (float)(rotation[i] / length);
    for (int i = 0; i < 3; i++) {
        place->position[i] = (float)position[i];
        place->scale[i] = (float)scale[i];
        if (!isfinite(place->position[i]) || !isfinite(place->scale[i]))
            return "\"translation\" and \"scale\" should fit into floats";
    }
    return NULL;
}

/* ---- types of blobs ---- */

static const weft_blob_field morph_fields[] = {
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_morph, positions, NULL),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_morph, normals, NULL),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_morph, tangents, NULL),
};
static const weft_blob_type morph_type = WEFT_BLOB_TYPE(weft_gltf_morph, morph_fields);
static const weft_blob_field primitive_fields[] = {
    WEFT_BLOB_FIELD_STRING(weft_gltf_primitive, material),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_primitive, positions, NULL),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_primitive, normals, NULL),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_primitive, tangents, NULL),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_primitive, texcoords[0], NULL),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_primitive, texcoords[1], NULL),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_primitive, colours, NULL),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_primitive, joints, NULL),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_primitive, weights, NULL),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_primitive, indices, NULL),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_primitive, morphs, &morph_type),
};
static const weft_blob_type primitive_type = WEFT_BLOB_TYPE(weft_gltf_primitive, primitive_fields);
static const weft_blob_field mesh_fields[] = {
    WEFT_BLOB_FIELD_STRING(weft_gltf_mesh, name),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_mesh, primitives, &primitive_type),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_mesh, weights, NULL),
};
const weft_blob_type weft_gltf_mesh_type = WEFT_BLOB_TYPE(weft_gltf_mesh, mesh_fields);
static const weft_blob_field skin_fields[] = {
    WEFT_BLOB_FIELD_STRING(weft_gltf_skin, name),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_skin, joints, &weft_blob_string_type),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_skin, inverse_bind, NULL),
};
const weft_blob_type weft_gltf_skin_type = WEFT_BLOB_TYPE(weft_gltf_skin, skin_fields);
static const weft_blob_field channel_fields[] = {
    WEFT_BLOB_FIELD_STRING(weft_gltf_channel, target),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_channel, times, NULL),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_channel, values, NULL),
};
static const weft_blob_type channel_type = WEFT_BLOB_TYPE(weft_gltf_channel, channel_fields);
static const weft_blob_field animation_fields[] = {
    WEFT_BLOB_FIELD_STRING(weft_gltf_animation, name),
    WEFT_BLOB_FIELD_ARRAY(weft_gltf_animation, channels, &channel_type),
};
const weft_blob_type weft_gltf_animation_type =
    WEFT_BLOB_TYPE(weft_gltf_animation, animation_fields);

/* ---- building blobs ---- */

/* One blob. On the stack of its function. */
typedef struct building {
    weft_bake *bake;
    const weft__gltf *file;
    weft_blob_builder *builder;
    const char *kind; /* "meshes", for messages */
    uint32_t number;
    uint32_t joint_count;            /* of the skin of a mesh; UINT32_MAX: none */
    const weft__gltf_value *weights; /* of a mesh: the node's or its own; NULL: none */
    uint64_t bytes;                  /* so far */
} building;

static bool refuse(building *b, const char *what, const char *why)
{
    weft_bake_fail(b->bake, NULL, NULL, "%s[%u]: %s %s", b->kind, b->number, what, why);
    return false;
}

/* Makes a blob by `fill`, which is false after a mistake, reported, or where memory was refused. */
static weft_result build(building *b, const weft_blob_type *type,
                         bool (*fill)(building *b, const weft__gltf_value *json),
                         const weft__gltf_value *json, weft_blob_ref *out)
{
    bool is_good =
        weft_blob_builder_create(weft_bake_blobs(b->bake), type, 0, &b->builder) == WEFT_OK &&
        fill(b, json);
    weft_result result =
        b->builder == NULL ? WEFT_OUT_OF_MEMORY : weft_blob_builder_error(b->builder)->code;
    if (result == WEFT_OK && is_good) result = weft_blob_builder_finish(b->builder, out);
    weft_blob_builder_destroy(b->builder);
    if (result != WEFT_OK) return result;
    return is_good ? weft_bake_blob(b->bake, *out, type) : WEFT_INVALID_ARGUMENT;
}

static bool set_text(building *b, weft_blob_string *string, const weft__gltf_value *json)
{
    char text[1024];
    size_t bytes = weft__gltf_string(json, text, sizeof text);
    return bytes == 0 || weft_blob_builder_string(b->builder, string, text, bytes) == WEFT_OK;
}

/* An array of `count` elements of `size` bytes; NULL: too much, which is reported, or memory. */
static void *make_array(building *b, weft_blob_array *array, uint64_t count, size_t size)
{
    b->bytes += count * size;
    if (b->bytes > WEFT_GLTF_MESH_BYTES_MAX) {
        refuse(b, "its arrays", "have more than 1 GiB: split it");
        return NULL;
    }
    return weft_blob_builder_array(b->builder, array, count);
}

/* `width` floats of each of `count` elements of an accessor; what it lacks is 1. */
static bool copy_floats(building *b, const weft__gltf_accessor *accessor, uint32_t count, float *at,
                        uint32_t width)
{
    bool is_good = true;
    for (uint32_t i = 0; i < count; i++) {
        double element[16];
        weft__gltf_element(accessor, i, element);
        for (uint32_t k = 0; k < width; k++) {
            float value = k < accessor->width ? (float)element[k] : 1.0f;
            is_good &= isfinite(value) != 0;
            at[(size_t)i * width + k] = value;
        }
    }
    if (is_good) return true;
    weft_bake_fail(b->bake, NULL, NULL, "%s[%u]: accessors[%u] holds a number that is not finite",
                   b->kind, b->number, (uint32_t)(accessor - b->file->accessor));
    return false;
}

/* Fills an array of tuples of `width` floats; 0: of single floats, all components one behind the
 * other. */
static bool fill_floats(building *b, weft_blob_array *array, const weft__gltf_accessor *accessor,
                        uint32_t width)
{
    if (accessor->count == 0) return true;
    const uint64_t count = (uint64_t)accessor->count * (width != 0 ? 1 : accessor->width);
    float *at = make_array(b, array, count, (width != 0 ? width : 1) * sizeof(float));
    return at != NULL &&
           copy_floats(b, accessor, accessor->count, at, width != 0 ? width : accessor->width);
}

static const weft__gltf_accessor *accessor_of(const building *b, const weft__gltf_value *object,
                                              const char *name)
{
    uint64_t number = weft__gltf_known(object, name, UINT64_MAX);
    return number == UINT64_MAX ? NULL : &b->file->accessor[number];
}

/* ---- meshes ---- */

/* A kind of arrays of vertices. */
typedef struct attribute {
    const char *name;
    size_t offset; /* of the weft_blob_array */
    uint32_t width, least;
} attribute;

static const attribute attributes[] = {
    {"POSITION", offsetof(weft_gltf_primitive, positions), 3, 3},
    {"NORMAL", offsetof(weft_gltf_primitive, normals), 3, 3},
    {"TANGENT", offsetof(weft_gltf_primitive, tangents), 4, 4},
    {"TEXCOORD_0", offsetof(weft_gltf_primitive, texcoords[0]), 2, 2},
    {"TEXCOORD_1", offsetof(weft_gltf_primitive, texcoords[1]), 2, 2},
    {"COLOR_0", offsetof(weft_gltf_primitive, colours), 4, 3},
    {"WEIGHTS_0", offsetof(weft_gltf_primitive, weights), 4, 4},
};
static const attribute morph_attributes[] = {
    {"POSITION", offsetof(weft_gltf_morph, positions), 3, 3},
    {"NORMAL", offsetof(weft_gltf_morph, normals), 3, 3},
    {"TANGENT", offsetof(weft_gltf_morph, tangents), 3, 3},
};

/* Fills the arrays that `json` names, in the struct at `to`, which has `vertices` vertices. */
static bool fill_attributes(building *b, const attribute *all, uint32_t count,
                            const weft__gltf_value *json, char *to, uint32_t vertices)
{
    for (uint32_t i = 0; i < count; i++) {
        const weft__gltf_accessor *accessor = accessor_of(b, json, all[i].name);
        if (accessor == NULL) continue;
        if (accessor->width > all[i].width || accessor->width < all[i].least)
            return refuse(b, all[i].name, "has another \"type\" than glTF says");
        if (accessor->count != vertices)
            return refuse(b, all[i].name, "has another \"count\" than POSITION");
        weft_blob_array *array = (weft_blob_array *)(void *)(to + all[i].offset);
        if (!fill_floats(b, array, accessor, all[i].width)) return false;
    }
    return true;
}

static bool fill_joints(building *b, weft_gltf_primitive *primitive, const weft__gltf_value *json)
{
    const weft__gltf_accessor *accessor = accessor_of(b, json, "JOINTS_0");
    if (accessor == NULL || accessor->count == 0) return true;
    bool is_small = accessor->type == WEFT__GLTF_U8 || accessor->type == WEFT__GLTF_U16;
    if (accessor->width != 4 || !is_small || accessor->is_normalised ||
        accessor->count != primitive->vertex_count)
        return refuse(b, "JOINTS_0", "should be VEC4 of unsigned bytes or shorts, one per vertex");
    weft_gltf_joints *joints =
        make_array(b, &primitive->joints.untyped, accessor->count, sizeof *joints);
    for (uint32_t i = 0; joints != NULL && i < accessor->count; i++) {
        double element[16];
        weft__gltf_element(accessor, i, element);
        for (uint32_t k = 0; k < 4; k++) {
            joints[i].at[k] = (uint16_t)element[k];
            if (joints[i].at[k] >= b->joint_count)
                return refuse(b, "JOINTS_0", "names a joint that the skin of the node lacks");
        }
    }
    return joints != NULL;
}

static bool fill_indices(building *b, weft_gltf_primitive *primitive, const weft__gltf_value *json)
{
    const weft__gltf_accessor *accessor = accessor_of(b, json, "indices");
    if (accessor == NULL || accessor->count == 0) return true;
    if (accessor->width != 1 || accessor->is_normalised || accessor->type == WEFT__GLTF_I8 ||
        accessor->type == WEFT__GLTF_I16 || accessor->type == WEFT__GLTF_F32)
        return refuse(b, "\"indices\"", "should be SCALAR, of an unsigned type");
    uint32_t *indices =
        make_array(b, &primitive->indices.untyped, accessor->count, sizeof *indices);
    for (uint32_t i = 0; indices != NULL && i < accessor->count; i++) {
        double element[16];
        weft__gltf_element(accessor, i, element);
        indices[i] = (uint32_t)element[0];
        if (indices[i] >= primitive->vertex_count)
            return refuse(b, "\"indices\"", "name a vertex that is not there");
    }
    return indices != NULL;
}

static bool fill_morphs(building *b, weft_gltf_primitive *primitive, const weft__gltf_value *json)
{
    const weft__gltf_value *targets = weft__gltf_member(json, "targets");
    if (targets == NULL || targets->count == 0) return true;
    weft_gltf_morph *morphs =
        make_array(b, &primitive->morphs.untyped, targets->count, sizeof *morphs);
    const weft__gltf_value *target = targets + 1;
    for (uint32_t i = 0; morphs != NULL && i < targets->count; i++, target += target->span)
        if (!fill_attributes(b, morph_attributes, 3, target, (char *)&morphs[i],
                             primitive->vertex_count))
            return false;
    return morphs != NULL;
}

static bool fill_material(building *b, weft_gltf_primitive *primitive, const weft__gltf_value *json)
{
    uint64_t number = weft__gltf_known(json, "material", UINT64_MAX);
    const weft__gltf_value *material = number == UINT64_MAX ? NULL : b->file->materials.at[number];
    double colour[4] = {1, 1, 1, 1};
    const weft__gltf_value *factor =
        weft__gltf_member(weft__gltf_member(material, "pbrMetallicRoughness"), "baseColorFactor");
    if (factor != NULL && !weft__gltf_numbers(factor, colour, 4))
        return refuse(b, "\"baseColorFactor\"", "should be 4 numbers");
    for (uint32_t k = 0; k < 4; k++) {
        primitive->base_colour[k] = (float)colour[k];
        if (!isfinite(primitive->base_colour[k]))
            return refuse(b, "\"baseColorFactor\"", "should fit into floats");
    }
    return set_text(b, &primitive->material, weft__gltf_member(material, "name"));
}

static bool fill_primitive(building *b, weft_gltf_primitive *primitive,
                           const weft__gltf_value *json)
{
    const weft__gltf_value *names = weft__gltf_member(json, "attributes");
    const weft__gltf_accessor *positions = accessor_of(b, names, "POSITION");
    primitive->mode = (uint32_t)weft__gltf_known(json, "mode", WEFT_GLTF_TRIANGLES);
    primitive->vertex_count = positions == NULL ? 0 : positions->count;
    return fill_material(b, primitive, json) &&
           fill_attributes(b, attributes, sizeof attributes / sizeof attributes[0], names,
                           (char *)primitive, primitive->vertex_count) &&
           fill_joints(b, primitive, names) && fill_indices(b, primitive, json) &&
           fill_morphs(b, primitive, json);
}

static void widen(weft_gltf_mesh *mesh, const weft__gltf_accessor *positions, bool *is_first)
{
    float low[3] = {mesh->low.x, mesh->low.y, mesh->low.z};
    float high[3] = {mesh->high.x, mesh->high.y, mesh->high.z};
    for (uint32_t i = 0; i < positions->count; i++, *is_first = false) {
        double element[16];
        weft__gltf_element(positions, i, element);
        for (int k = 0; k < 3; k++) {
            float at = (float)element[k];
            low[k] = *is_first || at < low[k] ? at : low[k];
            high[k] = *is_first || at > high[k] ? at : high[k];
        }
    }
    mesh->low = (weft_gltf_vec3){low[0], low[1], low[2]};
    mesh->high = (weft_gltf_vec3){high[0], high[1], high[2]};
}

static bool fill_weights(building *b, weft_gltf_mesh *mesh)
{
    const weft__gltf_value *weights = b->weights;
    if (weights == NULL || weights->kind != WEFT__JSON_ARRAY || weights->count == 0) return true;
    float *at = make_array(b, &mesh->weights.untyped, weights->count, sizeof *at);
    for (uint32_t i = 0; at != NULL && i < weights->count; i++) {
        if (weights[1 + i].kind != WEFT__JSON_NUMBER)
            return refuse(b, "\"weights\"", "should be numbers");
        at[i] = (float)weights[1 + i].number;
        if (!isfinite(at[i])) return refuse(b, "\"weights\"", "should fit into floats");
    }
    return at != NULL;
}

static bool fill_mesh(building *b, const weft__gltf_value *json)
{
    weft_gltf_mesh *mesh = weft_blob_builder_root(b->builder);
    const weft__gltf_value *list = weft__gltf_member(json, "primitives");
    bool is_first = true;
    if (!set_text(b, &mesh->name, weft__gltf_member(json, "name")) || !fill_weights(b, mesh))
        return false;
    if (list == NULL || list->count == 0) return true;
    weft_gltf_primitive *all = make_array(b, &mesh->primitives.untyped, list->count, sizeof *all);
    const weft__gltf_value *at = list + 1;
    for (uint32_t i = 0; all != NULL && i < list->count; i++, at += at->span) {
        if (!fill_primitive(b, &all[i], at)) return false;
        const weft__gltf_accessor *positions =
            accessor_of(b, weft__gltf_member(at, "attributes"), "POSITION");
        if (positions != NULL) widen(mesh, positions, &is_first);
    }
    return all != NULL;
}

/* ---- skins ---- */

static bool set_path(building *b, weft_blob_string *string, const weft__gltf_node *node)
{
    char path[WEFT__GLTF_PATH_BYTES];
    if (!weft__gltf_path(node, NULL, path))
        return refuse(b, "a node", "has a path of more than 4095 bytes: shorten its names");
    return weft_blob_builder_string(b->builder, string, path, strlen(path)) == WEFT_OK;
}

static bool fill_matrices(building *b, weft_gltf_skin *skin, const weft__gltf_value *json,
                          uint32_t count)
{
    const weft__gltf_accessor *accessor = accessor_of(b, json, "inverseBindMatrices");
    if (accessor != NULL && (accessor->width != 16 || accessor->count < count))
        return refuse(b, "\"inverseBindMatrices\"", "should be one MAT4 for each joint");
    weft_gltf_matrix *all = make_array(b, &skin->inverse_bind.untyped, count, sizeof *all);
    if (all == NULL || accessor != NULL)
        return all != NULL && copy_floats(b, accessor, count, all->at, 16);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < 16; k += 5) all[i].at[k] = 1;
    return true;
}

static bool fill_skin(building *b, const weft__gltf_value *json)
{
    weft_gltf_skin *skin = weft_blob_builder_root(b->builder);
    const weft__gltf_value *joints = weft__gltf_member(json, "joints");
    if (!set_text(b, &skin->name, weft__gltf_member(json, "name"))) return false;
    weft_blob_string *paths = make_array(b, &skin->joints.untyped, joints->count, sizeof *paths);
    for (uint32_t i = 0; paths != NULL && i < joints->count; i++)
        if (!set_path(b, &paths[i], &b->file->node[(uint32_t)joints[1 + i].number])) return false;
    return paths != NULL && fill_matrices(b, skin, json, joints->count);
}

/* ---- animations ---- */

/* The number of a word in a list; UINT32_MAX: it is none of them. */
static uint32_t find_word(const weft__gltf_value *word, const char *const *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (weft__gltf_says(word, words[i])) return i;
    return UINT32_MAX;
}

static bool check_times(building *b, const weft__gltf_accessor *times)
{
    double before = -1, element[16];
    if (times->width != 1 || times->count == 0) return refuse(b, "\"input\"", "should be SCALAR");
    for (uint32_t i = 0; i < times->count; i++) {
        weft__gltf_element(times, i, element);
        if (!(element[0] > before) || !(element[0] < 1e30))
            return refuse(b, "\"input\"", "should ascend from 0 on: it is times in seconds");
        before = element[0];
    }
    return true;
}

/* How many values there are for each time; 0: the counts do not fit. */
static uint32_t value_width(const weft_gltf_channel *channel, const weft__gltf_accessor *times,
                            const weft__gltf_accessor *values)
{
    static const uint32_t widths[] = {3, 4, 3, 1};
    uint64_t keys = (uint64_t)times->count * (channel->interpolation == WEFT_GLTF_CUBIC ? 3 : 1);
    if (values->width != widths[channel->path]) return 0;
    if (channel->path != WEFT_GLTF_WEIGHTS) return values->count == keys ? values->width : 0;
    return values->count % keys == 0 ? (uint32_t)(values->count / keys) : 0;
}

static bool fill_channel(building *b, weft_gltf_channel *channel, const weft__gltf_value *json)
{
    static const char *const paths[] = {"translation", "rotation", "scale", "weights"};
    static const char *const ways[] = {"LINEAR", "STEP", "CUBICSPLINE"};
    const weft__gltf_value *target = weft__gltf_member(json, "target");
    uint64_t number = weft__gltf_known(json, "sampler", 0);
    const weft__gltf_value *sampler = b->file->samplers[b->number].at[number];
    const weft__gltf_value *way = weft__gltf_member(sampler, "interpolation");
    const weft__gltf_accessor *times = accessor_of(b, sampler, "input");
    const weft__gltf_accessor *values = accessor_of(b, sampler, "output");
    channel->path = find_word(weft__gltf_member(target, "path"), paths, 4);
    channel->interpolation = way == NULL ? WEFT_GLTF_LINEAR : find_word(way, ways, 3);
    if (channel->path == UINT32_MAX || channel->interpolation == UINT32_MAX)
        return refuse(b, "a channel", "has an unknown \"path\" or \"interpolation\"");
    if (!check_times(b, times)) return false;
    channel->width = value_width(channel, times, values);
    if (channel->width == 0)
        return refuse(b, "\"output\"", "has another type or count than its path and times need");
    weft_gltf_animation *animation = weft_blob_builder_root(b->builder);
    double last[16];
    weft__gltf_element(times, times->count - 1, last);
    if ((float)last[0] > animation->seconds) animation->seconds = (float)last[0];
    return set_path(b, &channel->target, &b->file->node[weft__gltf_known(target, "node", 0)]) &&
           fill_floats(b, &channel->times.untyped, times, 0) &&
           fill_floats(b, &channel->values.untyped, values, 0);
}

static bool is_of_node(const weft__gltf *file, const weft__gltf_value *channel)
{
    uint64_t node = weft__gltf_known(weft__gltf_member(channel, "target"), "node", UINT64_MAX);
    return node != UINT64_MAX && file->node[node].name != NULL;
}

static bool fill_animation(building *b, const weft__gltf_value *json)
{
    weft_gltf_animation *animation = weft_blob_builder_root(b->builder);
    const weft__gltf_value *list = weft__gltf_member(json, "channels"), *at = NULL;
    uint32_t count = 0, filled = 0;
    if (!set_text(b, &animation->name, weft__gltf_member(json, "name"))) return false;
    while ((at = weft__gltf_after(list, at)) != NULL) count += is_of_node(b->file, at);
    weft_gltf_channel *all = make_array(b, &animation->channels.untyped, count, sizeof *all);
    while (all != NULL && (at = weft__gltf_after(list, at)) != NULL)
        if (is_of_node(b->file, at) && !fill_channel(b, &all[filled++], at)) return false;
    return all != NULL;
}

static const weft_field mesh_members[] = {WEFT_FIELD(GltfMesh, mesh)};
static const weft_type mesh_type = WEFT_TYPE(GltfMesh, mesh_members);
static const weft_field skin_members[] = {WEFT_FIELD(GltfSkin, skin)};
static const weft_type skin_type = WEFT_TYPE(GltfSkin, skin_members);
static const weft_field joint_members[] = {WEFT_FIELD(GltfSkinJoint, joint)};
static const weft_type joint_type = WEFT_TYPE(GltfSkinJoint, joint_members);
static const weft_field animation_members[] = {WEFT_FIELD(GltfAnimation, name),
                                               WEFT_FIELD(GltfAnimation, animation)};
static const weft_type animation_type = WEFT_TYPE(GltfAnimation, animation_members);

weft_result weft_scene_gltf_register(weft_world *world, weft_gltf_components *out)
{
    if (world == NULL || out == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__refuse_busy(world, "weft_scene_gltf_register");
    if (result != WEFT_OK) return result;
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
    weft__bake_place place;
    if (node->is_scene)
        return weft_bake_transform(bake, entity, zero, unit, one, WEFT_TRANSFORM_NONE);
    const char *problem = node_place(node, &place);
    if (problem != NULL) {
        weft_bake_fail(bake, NULL, NULL, "%s", problem);
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
            weft_bake_fail(bake, NULL, NULL, "a joint has a path of more than 4095 bytes");
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
    const weft__gltf_value *json = node->file->skins.at[number];
    building b = {.bake = bake, .file = node->file, .kind = "skins", .number = (uint32_t)number};
    weft_result result = build(&b, &weft_gltf_skin_type, fill_skin, json, &value.skin);
    if (result == WEFT_OK)
        result = weft_bake_set(bake, entity, components->skin, &value, sizeof value);
    return result != WEFT_OK ? result
                             : bake_joints(bake, node, entity, weft__gltf_member(json, "joints"),
                                           components->joint);
}

static weft_result bake_mesh(weft_bake *bake, const weft__gltf_node *node, weft_entity entity,
                             const weft_gltf_components *components)
{
    uint64_t number = weft__gltf_known(node->json, "mesh", UINT64_MAX);
    uint64_t skin = weft__gltf_known(node->json, "skin", UINT64_MAX);
    if (number == UINT64_MAX) return WEFT_OK;
    GltfMesh value;
    building b = {.bake = bake,
                  .file = node->file,
                  .kind = "meshes",
                  .number = (uint32_t)number,
                  .joint_count = UINT32_MAX};
    if (skin != UINT64_MAX)
        b.joint_count = weft__gltf_member(b.file->skins.at[skin], "joints")->count;
    const weft__gltf_value *json = b.file->meshes.at[number];
    b.weights = weft__gltf_member(node->json, "weights");
    if (b.weights == NULL) b.weights = weft__gltf_member(json, "weights");
    weft_result result = build(&b, &weft_gltf_mesh_type, fill_mesh, json, &value.mesh);
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
        const weft__gltf_value *json = node->file->animations.at[a];
        weft__gltf_string(weft__gltf_member(json, "name"), all[count].name, sizeof all[0].name);
        building b = {.bake = bake, .file = node->file, .kind = "animations", .number = a};
        weft_result result =
            build(&b, &weft_gltf_animation_type, fill_animation, json, &all[count].animation);
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
