/* SPDX-License-Identifier: MIT */
/* fuzz_blob.c: fuzz target of blobs (libFuzzer interface; replayed without it by fuzz_replay.c).
 *
 * First byte even: the rest is a block, its header repaired so that the input gets past the first
 * checks; what the validator accepts is read whole (AddressSanitizer watches) and must load. First
 * byte odd: the rest is a program for the builder, run beside a naive model of a tree; afterwards
 * both must agree.
 */
#include "../ecs/blob_fixture.h"
#include "blob_format.h"
#include "blob_type.h"
#include "blob_validate.h"
#include "check.h"
#include "fuzz.h"
#include "utf8.h"

enum { NODES_MAX = 64, WEIGHTS_MAX = 40000 };

static weft_blob_store *make_store(void)
{
    weft_blob_store *store;
    CHECK_OK(weft_blob_store_create(&(weft_blob_store_desc){0}, &store));
    return store;
}

static void *aligned_copy(const uint8_t *data, size_t size)
{
    void *memory = NULL;
    CHECK(posix_memalign(&memory, 64, size) == 0);
    memcpy(memory, data, size);
    return memory;
}

static void fuzz_bytes(const uint8_t *data, size_t size)
{
    weft__blob_plan plan;
    if (size < sizeof(weft__blob_header)) return;
    CHECK_OK(weft__blob_plan_init(&plan, &scene_type));
    weft__blob_header *header = aligned_copy(data, size);
    header->magic = BLOB_MAGIC;
    header->version = BLOB_VERSION;
    header->byte_order = BLOB_BYTE_ORDER;
    header->type_hash = plan.type_hash;
    header->total_bytes = size;
    header->reserved = 0;
    weft_load_report report;
    if (weft__blob_check(header, size, &plan, false, &report) == WEFT_OK) {
        weft_blob_store *store = make_store();
        weft_blob_ref ref;
        header->content_hash = weft__blob_content_hash(header, NULL, 0);
        uint64_t sum = blob_walk(0, header + 1, &scene_type);
        CHECK_OK(weft_blob_adopt(store, header, size, &(weft_blob_load_desc){.type = &scene_type},
                                 &ref));
        CHECK_U64(blob_walk(0, weft_blob_read(store, ref, &scene_type), &scene_type), sum);
        weft_blob_store_destroy(store);
    } else {
        CHECK(report.check != NULL);
    }
    free(header);
}

/* ---- builder against a model ---- */

/* What a node should be. Indices are of the model's nodes; -1: none. */
typedef struct model_node {
    Node *built;      /* in the builder */
    const Node *read; /* in the blob */
    int first_child, child_count, parent, alias;
    uint32_t weight_count, id;
    uint8_t weight_seed;
    char name[16];
    uint8_t name_bytes;
} model_node;

/* A builder, the model, and the input that is left. On the stack of fuzz_builder. */
typedef struct program {
    weft_blob_builder *builder;
    const uint8_t *data;
    size_t left;
    int node_count;
    weft_result expected; /* the first error the model expects */
    model_node nodes[NODES_MAX];
} program;

static uint8_t next_byte(program *p)
{
    if (p->left == 0) return 0;
    p->left--;
    return *p->data++;
}

static int next_node(program *p)
{
    return next_byte(p) % p->node_count;
}

static void add_nodes(program *p, Node *built, int count)
{
    for (int i = 0; i < count; i++) {
        p->nodes[p->node_count++] =
            (model_node){.built = &built[i], .first_child = -1, .parent = -1, .alias = -1};
    }
}

static void op_children(program *p, model_node *node)
{
    int count = next_byte(p) % 5;
    if (p->node_count + count > NODES_MAX) return;
    Node *children = WEFT_BLOB_BUILD_ARRAY(p->builder, &node->built->children, (uint64_t)count);
    if (node->child_count != 0 && count != 0) p->expected = WEFT_ALREADY_EXISTS;
    CHECK_RESULT(weft_blob_builder_error(p->builder)->code, p->expected);
    if (p->expected != WEFT_OK || count == 0) return;
    node->first_child = p->node_count;
    node->child_count = count;
    add_nodes(p, children, count);
}

static void op_weights(program *p, model_node *node)
{
    static uint16_t values[WEIGHTS_MAX];
    const uint8_t size = next_byte(p), seed = next_byte(p);
    const uint32_t count = size < 250 ? size : WEIGHTS_MAX - 256u + size;
    for (uint32_t i = 0; i < count; i++) values[i] = (uint16_t)(seed * i);
    WEFT_BLOB_BUILD_COPY(p->builder, &node->built->weights, values, count);
    if (node->weight_count != 0 && count != 0) p->expected = WEFT_ALREADY_EXISTS;
    if (node->weight_count == 0) node->weight_count = count, node->weight_seed = seed;
}

static void op_name(program *p, model_node *node)
{
    char name[16];
    const uint8_t bytes = next_byte(p) % 16;
    for (uint8_t i = 0; i < bytes; i++) name[i] = (char)next_byte(p);
    weft_result result = weft_blob_builder_string(p->builder, &node->built->name, name, bytes);
    if (bytes == 0) {
        CHECK_OK(result);
    } else if (weft__utf8_span(name, bytes) != bytes) {
        p->expected = WEFT_INVALID_ARGUMENT;
    } else if (node->name_bytes != 0) {
        p->expected = WEFT_ALREADY_EXISTS;
    } else {
        memcpy(node->name, name, bytes);
        node->name_bytes = bytes;
    }
}

/* Fields and targets that no builder may accept. */
static void op_misuse(program *p, model_node *node)
{
    Node copy = *node->built;
    switch (next_byte(p) % 4) {
    case 0:
        weft_blob_builder_array(p->builder, &copy.children.untyped, 1);
        break;
    case 1:
        weft_blob_builder_point(p->builder, &node->built->parent.untyped, &copy);
        break;
    case 2:
        weft_blob_builder_point(p->builder, &node->built->parent.untyped, &node->built->id);
        break;
    default:
        weft_blob_builder_array(p->builder, (weft_blob_array *)(void *)&node->built->name, 1);
        break;
    }
    p->expected = WEFT_INVALID_ARGUMENT;
}

static void step(program *p)
{
    const uint8_t op = next_byte(p);
    const int index = next_node(p), other = next_node(p);
    model_node *node = &p->nodes[index];
    if (op < 60) op_children(p, node);
    if (op >= 60 && op < 110) op_weights(p, node);
    if (op >= 110 && op < 160) op_name(p, node);
    if (op >= 160 && op < 200) {
        node->parent = op == 160 ? -1 : other;
        Node *target = op == 160 ? NULL : p->nodes[other].built;
        CHECK_OK(WEFT_BLOB_BUILD_POINT(p->builder, &node->built->parent, target));
    }
    if (op >= 200 && op < 230) {
        node->alias = other;
        CHECK_OK(
            WEFT_BLOB_BUILD_POINT(p->builder, &node->built->alias, &p->nodes[other].built->name));
    }
    if (op >= 230 && op < 254) node->id = node->built->id = (uint32_t)op * 7u + 1u;
    if (op >= 254) op_misuse(p, node);
    CHECK_RESULT(weft_blob_builder_error(p->builder)->code, p->expected);
}

/* Where the nodes of the model lie in the blob: children follow their parents in both. */
static void locate_nodes(program *p, const Scene *scene)
{
    for (int i = 0; i < 2; i++) p->nodes[i].read = WEFT_BLOB_AT(&scene->nodes, (uint64_t)i);
    p->nodes[2].read = WEFT_BLOB_TARGET(&scene->spare);
    for (int i = 0; i < p->node_count; i++) {
        const model_node *node = &p->nodes[i];
        CHECK_U64(WEFT_BLOB_COUNT(&node->read->children), node->child_count);
        for (int k = 0; k < node->child_count; k++) {
            p->nodes[node->first_child + k].read = WEFT_BLOB_AT(&node->read->children, (uint64_t)k);
        }
    }
}

static void check_node(const program *p, const model_node *node)
{
    const Node *read = node->read;
    CHECK_U64(read->id, node->id);
    CHECK_U64(read->name.bytes, node->name_bytes);
    CHECK(memcmp(weft_blob_string_text(&read->name), node->name, node->name_bytes) == 0);
    CHECK_U64(WEFT_BLOB_COUNT(&read->weights), node->weight_count);
    for (uint32_t i = 0; i < node->weight_count; i++) {
        CHECK_U64(*WEFT_BLOB_AT(&read->weights, i), (uint16_t)(node->weight_seed * i));
    }
    CHECK_POINTER(WEFT_BLOB_TARGET(&read->parent),
                  node->parent < 0 ? NULL : p->nodes[node->parent].read);
    CHECK_POINTER(WEFT_BLOB_TARGET(&read->alias),
                  node->alias < 0 ? NULL : &p->nodes[node->alias].read->name);
}

static void check_blob(program *p, weft_blob_store *store, weft_blob_ref ref)
{
    weft_blob_info info;
    weft_blob_ref again;
    CHECK_OK(weft_blob_info_get(store, ref, &info, sizeof info));
    CHECK_OK(weft_blob_validate(info.block, info.block_bytes, &scene_type, NULL, 0));
    CHECK_OK(weft_blob_adopt(store, info.block, info.block_bytes,
                             &(weft_blob_load_desc){.type = &scene_type}, &again));
    CHECK_U64(again.id, ref.id);
    locate_nodes(p, weft_blob_read(store, ref, &scene_type));
    for (int i = 0; i < p->node_count; i++) check_node(p, &p->nodes[i]);
}

static void fuzz_builder(const uint8_t *data, size_t size)
{
    weft_blob_store *store = make_store();
    weft_blob_ref ref;
    program p = {.data = data, .left = size};
    CHECK_OK(weft_blob_builder_create(store, &scene_type, next_byte(&p) * 700u, &p.builder));
    Scene *scene = weft_blob_builder_root(p.builder);
    add_nodes(&p, WEFT_BLOB_BUILD_ARRAY(p.builder, &scene->nodes, 2), 2);
    add_nodes(&p, WEFT_BLOB_BUILD_OBJECT(p.builder, &scene->spare), 1);
    while (p.left != 0 && p.expected == WEFT_OK) step(&p);
    CHECK_RESULT(weft_blob_builder_finish(p.builder, &ref), p.expected);
    if (p.expected == WEFT_OK) check_blob(&p, store, ref);
    weft_blob_builder_destroy(p.builder);
    weft_blob_store_destroy(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    if (data[0] % 2 == 0) fuzz_bytes(data + 1, size - 1);
    if (data[0] % 2 == 1) fuzz_builder(data + 1, size - 1);
    return 0;
}

size_t fuzz_seed(uint32_t index, uint8_t *out, size_t capacity)
{
    weft_blob_store *store = make_store();
    weft_blob_ref ref;
    weft_blob_info info;
    CHECK_OK(blob_build_scene(store, index, 0, &ref));
    CHECK_OK(weft_blob_info_get(store, ref, &info, sizeof info));
    size_t size = info.block_bytes + 1;
    if (index < 8 && size <= capacity) {
        out[0] = 0;
        memcpy(out + 1, info.block, info.block_bytes);
    } else {
        size = index < 12 ? 200 * (index - 7) : 0;
        for (size_t i = 0; i < size; i++)
            out[i] = (uint8_t)(i * i * (index + 3) / 7 % 250 | (i == 0));
    }
    weft_blob_store_destroy(store);
    return size;
}
