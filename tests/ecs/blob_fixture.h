/* SPDX-License-Identifier: MIT */
/* blob_fixture.h: blob types that use every kind of reference, builders for them, and a walker that
 * reads every byte a type can reach. Shared by the blob tests, the fuzz target and the benchmark.
 */
#ifndef WEFT_TESTS_BLOB_FIXTURE_H
#define WEFT_TESTS_BLOB_FIXTURE_H

#include <weft/blob.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A scene: recursive nodes, text, shared and self pointers, plain and aligned data. */
typedef struct Color {
    _Alignas(64) float rgba[4];
} Color;

typedef struct Node Node;
struct Node {
    weft_blob_string name;
    WEFT_BLOB_ARRAY(Node) children;
    WEFT_BLOB_ARRAY(uint16_t) weights;
    WEFT_BLOB_POINTER(Node) parent;
    WEFT_BLOB_POINTER(weft_blob_string) alias;
    WEFT_BLOB_POINTER(float) shade;
    uint32_t id;
};

typedef struct Scene {
    WEFT_BLOB_POINTER(struct Scene) self;
    WEFT_BLOB_ARRAY(Node) nodes;
    WEFT_BLOB_ARRAY(Color) palette;
    WEFT_BLOB_ARRAY(weft_blob_string) tags;
    weft_blob_string title;
    WEFT_BLOB_POINTER(Node) spare; /* an object of its own */
    double scale;
} Scene;

static const weft_blob_type node_type;
static const weft_blob_type scene_type;
static const weft_blob_field node_fields[] = {
    WEFT_BLOB_FIELD_STRING(Node, name),
    WEFT_BLOB_FIELD_ARRAY(Node, children, &node_type),
    WEFT_BLOB_FIELD_ARRAY(Node, weights, NULL),
    WEFT_BLOB_FIELD_POINTER(Node, parent, &node_type),
    WEFT_BLOB_FIELD_POINTER(Node, alias, &weft_blob_string_type),
    WEFT_BLOB_FIELD_POINTER(Node, shade, NULL),
};
static const weft_blob_field scene_fields[] = {
    WEFT_BLOB_FIELD_POINTER(Scene, self, &scene_type),
    WEFT_BLOB_FIELD_ARRAY(Scene, nodes, &node_type),
    WEFT_BLOB_FIELD_ARRAY(Scene, palette, NULL),
    WEFT_BLOB_FIELD_ARRAY(Scene, tags, &weft_blob_string_type),
    WEFT_BLOB_FIELD_STRING(Scene, title),
    WEFT_BLOB_FIELD_POINTER(Scene, spare, &node_type),
};
static const weft_blob_type node_type = WEFT_BLOB_TYPE(Node, node_fields);
static const weft_blob_type scene_type = WEFT_BLOB_TYPE(Scene, scene_fields);

/* ---- walker ---- */

/* FNV-1a over bytes: reads each of them. */
static inline uint64_t blob_sum(uint64_t sum, const void *bytes, uint64_t count)
{
    const unsigned char *p = bytes;
    for (uint64_t i = 0; i < count; i++) sum = (sum ^ p[i]) * UINT64_C(0x100000001B3);
    return sum;
}

/* Sum of everything that arrays and strings of `value` contain and of what pointers lead to,
 * without following pointers of pointers. Does not depend on addresses. */
static inline uint64_t blob_walk(uint64_t sum, const void *value, const weft_blob_type *type)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const weft_blob_field *field = &type->fields[i];
        const char *address = (const char *)value + field->offset;
        sum = blob_sum(sum, (const char *)value + at, field->offset - at);
        at = field->offset + (field->kind == WEFT_BLOB_KIND_POINTER ? 8u : 16u);
        if (field->kind == WEFT_BLOB_KIND_POINTER) {
            const void *target = weft_blob_pointer_target((const void *)address);
            if (target != NULL && field->type == NULL) sum = blob_sum(sum, target, field->bytes);
            if (target != NULL && field->type != NULL)
                sum = blob_sum(sum + 1, target, field->bytes);
        } else if (field->kind == WEFT_BLOB_KIND_STRING) {
            const weft_blob_string *string = (const void *)address;
            sum = blob_sum(sum + string->bytes, weft_blob_string_text(string), string->bytes + 1);
        } else {
            const weft_blob_array *array = (const void *)address;
            sum += array->count;
            for (uint64_t k = 0; k < array->count; k++) {
                const void *element = weft_blob_array_at(array, k, field->bytes);
                sum = field->type == NULL ? blob_sum(sum, element, field->bytes)
                                          : blob_walk(sum, element, field->type);
            }
        }
    }
    return blob_sum(sum, (const char *)value + at, type->bytes - at);
}

/* ---- builders ---- */

static inline void blob_name(weft_blob_builder *builder, weft_blob_string *string, const char *text)
{
    weft_blob_builder_string(builder, string, text, strlen(text));
}

/* Fills a scene of about `node_count` * 200 bytes. Returns the builder's error. */
static inline weft_result blob_fill_scene(weft_blob_builder *builder, uint32_t node_count)
{
    Scene *scene = weft_blob_builder_root(builder);
    scene->scale = 0.25;
    WEFT_BLOB_BUILD_POINT(builder, &scene->self, scene);
    blob_name(builder, &scene->title, "Szene \xF0\x9F\x8C\x8D \xE4\xB8\x96\xE7\x95\x8C");
    Color *palette = WEFT_BLOB_BUILD_ARRAY(builder, &scene->palette, 3);
    for (int i = 0; palette != NULL && i < 3; i++) palette[i].rgba[i] = 1.0f;
    Node *nodes = WEFT_BLOB_BUILD_ARRAY(builder, &scene->nodes, node_count);
    for (uint32_t i = 0; nodes != NULL && i < node_count; i++) {
        char name[32];
        uint16_t weights[7] = {(uint16_t)i, 2, 3, 4, 5, 6, 7};
        snprintf(name, sizeof name, "node %u", i);
        nodes[i].id = i;
        blob_name(builder, &nodes[i].name, name);
        WEFT_BLOB_BUILD_COPY(builder, &nodes[i].weights, weights, i % 8);
        WEFT_BLOB_BUILD_POINT(builder, &nodes[i].alias, &nodes[i / 2].name);
        WEFT_BLOB_BUILD_POINT(builder, &nodes[i].shade, &palette[i % 3].rgba[i % 4]);
        Node *child = WEFT_BLOB_BUILD_ARRAY(builder, &nodes[i].children, i % 3 == 0);
        if (i % 3 != 0 || child == NULL) continue;
        WEFT_BLOB_BUILD_POINT(builder, &child->parent, &nodes[i]);
        blob_name(builder, &child->name, "child");
    }
    weft_blob_string *tags = WEFT_BLOB_BUILD_ARRAY(builder, &scene->tags, 4);
    if (tags != NULL) blob_name(builder, &tags[2], "tag");
    Node *spare = WEFT_BLOB_BUILD_OBJECT(builder, &scene->spare);
    if (spare != NULL) WEFT_BLOB_BUILD_POINT(builder, &spare->parent, spare);
    return weft_blob_builder_error(builder)->code;
}

static inline weft_result blob_build_scene(weft_blob_store *store, uint32_t node_count,
                                           uint64_t capacity, weft_blob_ref *out)
{
    weft_blob_builder *builder;
    out->id = 0;
    weft_result result = weft_blob_builder_create(store, &scene_type, capacity, &builder);
    if (result != WEFT_OK) return result;
    result = blob_fill_scene(builder, node_count);
    if (result == WEFT_OK) result = weft_blob_builder_finish(builder, out);
    weft_blob_builder_destroy(builder);
    return result;
}

/* ---- files ---- */

/* A directory of its own for one test, in $TMPDIR; `path` names a file in it. */
typedef struct blob_directory {
    char name[64], path[96];
} blob_directory;

static inline void blob_directory_create(blob_directory *directory)
{
    const char *base = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    snprintf(directory->name, sizeof directory->name, "%.40s/weft-XXXXXX", base);
    if (mkdtemp(directory->name) == NULL) abort();
    snprintf(directory->path, sizeof directory->path, "%s/a.blob", directory->name);
}

static inline void blob_directory_destroy(blob_directory *directory)
{
    unlink(directory->path);
    if (rmdir(directory->name) != 0) abort(); /* a temporary file was left behind */
}

#endif
