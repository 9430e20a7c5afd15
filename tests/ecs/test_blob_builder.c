/* SPDX-License-Identifier: MIT */
/* test_blob_builder.c: what the builder makes, in which bytes, and what it refuses. */
#include "blob_fixture.h"
#include "blob_store.h"
#include "check.h"
#include "memory_fault.h"
#include "os_fault.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>

static weft_blob_store *store;
static weft_blob_builder *builder;

static void make_store(void)
{
    CHECK_OK(weft_blob_store_create(&(weft_blob_store_desc){0}, &store));
}

static void drop_store(void)
{
    weft_blob_builder_destroy(builder);
    builder = NULL;
    weft_blob_store_destroy(store);
}

TestSuite(blob_builder, .init = make_store, .fini = drop_store);

static Scene *begin(uint64_t capacity)
{
    weft_blob_builder_destroy(builder);
    CHECK_OK(weft_blob_builder_create(store, &scene_type, capacity, &builder));
    return weft_blob_builder_root(builder);
}

static const Scene *finish(void)
{
    weft_blob_ref ref;
    CHECK_OK(weft_blob_builder_finish(builder, &ref));
    return weft_blob_read(store, ref, &scene_type);
}

Test(blob_builder, an_untouched_root_is_zero)
{
    begin(0);
    const Scene *scene = finish();
    CHECK_POINTER(WEFT_BLOB_TARGET(&scene->self), NULL);
    CHECK_U64(WEFT_BLOB_COUNT(&scene->nodes), 0);
    CHECK_POINTER(WEFT_BLOB_DATA(&scene->nodes), NULL);
    CHECK_TEXT(weft_blob_string_text(&scene->title), "");
    CHECK_F64(scene->scale, 0.0, 0.0);
    CHECK_POINTER(weft_blob_builder_root(builder), NULL);
}

Test(blob_builder, pointers_to_self_to_shared_targets_and_to_nothing)
{
    Scene *root = begin(0);
    Node *nodes = WEFT_BLOB_BUILD_ARRAY(builder, &root->nodes, 3);
    Node *spare = WEFT_BLOB_BUILD_OBJECT(builder, &root->spare);
    spare->id = 77;
    CHECK_OK(WEFT_BLOB_BUILD_POINT(builder, &root->self, root));
    CHECK_OK(WEFT_BLOB_BUILD_POINT(builder, &nodes[0].parent, spare));
    CHECK_OK(WEFT_BLOB_BUILD_POINT(builder, &nodes[1].parent, spare));
    CHECK_OK(WEFT_BLOB_BUILD_POINT(builder, &nodes[2].parent, spare));
    CHECK_OK(WEFT_BLOB_BUILD_POINT(builder, &nodes[2].parent, NULL)); /* the last call wins */
    const Scene *scene = finish();
    CHECK_POINTER(WEFT_BLOB_TARGET(&scene->self), scene);
    const Node *read = WEFT_BLOB_DATA(&scene->nodes);
    CHECK_U64(WEFT_BLOB_TARGET(&scene->spare)->id, 77);
    CHECK_POINTER(WEFT_BLOB_TARGET(&read[0].parent), WEFT_BLOB_TARGET(&scene->spare));
    CHECK_POINTER(WEFT_BLOB_TARGET(&read[1].parent), WEFT_BLOB_TARGET(&scene->spare));
    CHECK_POINTER(WEFT_BLOB_TARGET(&read[2].parent), NULL);
}

Test(blob_builder, text_of_any_length_and_script_arrives_whole)
{
    static const char *const texts[] = {"", "a", "ASCII text", "\xE4\xB8\x96\xE7\x95\x8C",
                                        "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80"};
    const size_t count = sizeof texts / sizeof texts[0], long_bytes = 3 * 100000;
    char *long_text = malloc(long_bytes + 1);
    for (size_t i = 0; i < long_bytes; i += 3) memcpy(long_text + i, texts[3], 3);
    long_text[long_bytes] = '\0';
    Scene *root = begin(0);
    weft_blob_string *tags = WEFT_BLOB_BUILD_ARRAY(builder, &root->tags, count);
    for (size_t i = 0; i < count; i++) blob_name(builder, &tags[i], texts[i]);
    blob_name(builder, &root->title, long_text);
    const Scene *scene = finish();
    for (size_t i = 0; i < count; i++) {
        CHECK_TEXT(weft_blob_string_text(WEFT_BLOB_AT(&scene->tags, i)), texts[i]);
        CHECK_U64(WEFT_BLOB_AT(&scene->tags, i)->bytes, strlen(texts[i]));
    }
    CHECK_U64(scene->title.bytes, long_bytes);
    CHECK_TEXT(weft_blob_string_text(&scene->title), long_text);
    free(long_text);
}

Test(blob_builder, text_that_is_not_utf8_is_refused)
{
    static const char *const texts[] = {"\x80",         "a\xC3",           "\xC0\xAF",
                                        "\xE0\x80\xAF", "\xED\xA0\x80",    "\xF4\x90\x80\x80",
                                        "\xFF",         "12345678\xE4\xB8"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        Scene *root = begin(0);
        CHECK_RESULT(weft_blob_builder_string(builder, &root->title, texts[i], strlen(texts[i])),
                     WEFT_INVALID_ARGUMENT);
        weft_blob_ref ref;
        CHECK_RESULT(weft_blob_builder_finish(builder, &ref), WEFT_INVALID_ARGUMENT);
        CHECK_U64(ref.id, 0);
    }
}

Test(blob_builder, everything_is_aligned_up_to_64_bytes)
{
    Scene *root = begin(0);
    for (int i = 0; i < 3; i++) blob_name(builder, &root->title, "");
    blob_name(builder, &root->title, "odd");
    Color *palette = WEFT_BLOB_BUILD_ARRAY(builder, &root->palette, 5);
    CHECK_U64((uintptr_t)palette % 64, 0);
    Node *nodes = WEFT_BLOB_BUILD_ARRAY(builder, &root->nodes, 1);
    CHECK_U64((uintptr_t)nodes % 8, 0);
    const Scene *scene = finish();
    CHECK_U64((uintptr_t)WEFT_BLOB_DATA(&scene->palette) % 64, 0);
    CHECK_U64((uintptr_t)scene % 64, 0);
}

Test(blob_builder, sizes_that_overflow_are_an_error_not_a_small_array)
{
    static const uint64_t counts[] = {UINT64_MAX, UINT64_MAX / sizeof(Node) + 1, UINT64_C(1) << 62,
                                      UINT64_C(1) << 58};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        Scene *root = begin(0);
        CHECK_POINTER(WEFT_BLOB_BUILD_ARRAY(builder, &root->nodes, counts[i]), NULL);
        CHECK_RESULT(weft_blob_builder_error(builder)->code, WEFT_LIMIT);
    }
}

/* A hook that refuses more than 1 GiB and says what it was asked for. */
static size_t refused_bytes;

static void *allocate_some(void *user, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    (void)user;
    if (bytes > (size_t)1 << 30) {
        refused_bytes = bytes;
        return NULL;
    }
    return posix_memalign(&memory, alignment < 8 ? 8 : alignment, bytes) == 0 ? memory : NULL;
}

static void release_some(void *user, void *memory, size_t bytes, size_t alignment)
{
    (void)user, (void)bytes, (void)alignment;
    free(memory);
}

Test(blob_builder, more_than_32_bits_of_bytes_are_asked_for_as_such)
{
    weft_blob_store *small;
    weft_blob_builder *b;
    weft_blob_store_desc desc = {.allocator = {allocate_some, release_some, NULL}};
    CHECK_OK(weft_blob_store_create(&desc, &small));
    CHECK_OK(weft_blob_builder_create(small, &scene_type, 0, &b));
    Scene *root = weft_blob_builder_root(b);
    CHECK_POINTER(WEFT_BLOB_BUILD_ARRAY(b, &root->palette, 150000000), NULL);
    CHECK_RESULT(weft_blob_builder_error(b)->code, WEFT_OUT_OF_MEMORY);
    CHECK(refused_bytes >= 9600000000);
    weft_blob_builder_destroy(b);
    weft_blob_store_destroy(small);
}

Test(blob_builder, fields_outside_the_builder_are_refused)
{
    Scene *root = begin(0);
    Scene copy = *root;
    CHECK_POINTER(WEFT_BLOB_BUILD_ARRAY(builder, &copy.nodes, 3), NULL);
    CHECK_RESULT(weft_blob_builder_error(builder)->code, WEFT_INVALID_ARGUMENT);
    root = begin(0);
    CHECK_POINTER(weft_blob_builder_array(builder, NULL, 3), NULL);
    root = begin(0); /* a field, of another kind */
    CHECK_POINTER(weft_blob_builder_array(builder, (weft_blob_array *)(void *)&root->title, 3),
                  NULL);
    CHECK_RESULT(weft_blob_builder_error(builder)->code, WEFT_INVALID_ARGUMENT);
    root = begin(0);
    Node outside = {0};
    CHECK_RESULT(WEFT_BLOB_BUILD_POINT(builder, &root->spare, &outside), WEFT_INVALID_ARGUMENT);
    root = begin(0); /* inside, but nothing of that type */
    CHECK_RESULT(weft_blob_builder_point(builder, &root->spare.untyped, &root->nodes),
                 WEFT_INVALID_ARGUMENT);
}

/* The text of the first error holds `word`, whatever comes after it. */
static void check_text(const char *word)
{
    const char *text = weft_blob_builder_error(builder)->text;
    if (strstr(text, word) == NULL) test_fail(__FILE__, __LINE__, text);
    weft_blob_ref ref;
    CHECK(weft_blob_builder_finish(builder, &ref) != WEFT_OK);
    CHECK_POINTER(weft_blob_builder_error(builder)->text, text);
}

Test(blob_builder, every_error_says_what_to_do)
{
    Scene *root = begin(0), copy = *root;
    CHECK_TEXT(weft_blob_builder_error(builder)->text, "");
    CHECK(strstr(weft_blob_builder_error(NULL)->text, "NULL") != NULL);
    WEFT_BLOB_BUILD_ARRAY(builder, &copy.nodes, 3);
    check_text("never of a copy");
    root = begin(0);
    weft_blob_builder_array(builder, (weft_blob_array *)(void *)&root->title, 3);
    check_text("list the field in its weft_blob_type");
    root = begin(0);
    WEFT_BLOB_BUILD_ARRAY(builder, &root->nodes, 2);
    WEFT_BLOB_BUILD_ARRAY(builder, &root->nodes, 2);
    check_text("once, with the final count");
    root = begin(0);
    Node node = {0};
    WEFT_BLOB_BUILD_COPY(builder, &root->nodes, &node, 1);
    check_text("use weft_blob_builder_array");
    root = begin(0);
    weft_blob_builder_string(builder, &root->title, "\xff", 1);
    check_text("not UTF-8");
    root = begin(0);
    WEFT_BLOB_BUILD_POINT(builder, &root->spare, &node);
    check_text("point into itself only");
    root = begin(0);
    weft_blob_builder_point(builder, &root->spare.untyped, &root->nodes);
    check_text("not of the type");
    root = begin(0);
    WEFT_BLOB_BUILD_ARRAY(builder, &root->nodes, UINT64_MAX / 2);
    check_text("check the count");
}

Test(blob_builder, reaching_through_an_unfinished_array_is_refused_for_every_index)
{
    for (uint64_t index = 0; index < 64; index++) {
        Scene *root = begin(0);
        Node *nodes = WEFT_BLOB_BUILD_ARRAY(builder, &root->nodes, 64);
        CHECK(nodes != NULL);
        CHECK_U64(WEFT_BLOB_COUNT(&root->nodes), 0);
        CHECK_POINTER(WEFT_BLOB_DATA(&root->nodes), NULL);
        uintptr_t through = (uintptr_t)&root->nodes + 1 + (uintptr_t)root->nodes.untyped.offset;
        Node *node = (Node *)(through + index * sizeof(Node));
        weft_blob_array *inner = (weft_blob_array *)((uintptr_t)node + offsetof(Node, children));
        CHECK_POINTER(weft_blob_builder_array(builder, inner, 2), NULL);
        CHECK_RESULT(weft_blob_builder_error(builder)->code, WEFT_INVALID_ARGUMENT);
    }
}

Test(blob_builder, an_array_or_string_is_given_once)
{
    Scene *root = begin(0);
    CHECK(WEFT_BLOB_BUILD_ARRAY(builder, &root->nodes, 2) != NULL);
    CHECK_POINTER(WEFT_BLOB_BUILD_ARRAY(builder, &root->nodes, 2), NULL);
    CHECK_RESULT(weft_blob_builder_error(builder)->code, WEFT_ALREADY_EXISTS);
    root = begin(0);
    blob_name(builder, &root->title, "one");
    CHECK_RESULT(weft_blob_builder_string(builder, &root->title, "two", 3), WEFT_ALREADY_EXISTS);
}

Test(blob_builder, references_cannot_be_copied_in)
{
    Scene *root = begin(0);
    Node values[2] = {0};
    CHECK_RESULT(WEFT_BLOB_BUILD_COPY(builder, &root->nodes, values, 2), WEFT_INVALID_ARGUMENT);
}

/* Three nodes, of which the first has two children. */
static Node *begin_nodes(uint64_t capacity)
{
    Scene *root = begin(capacity);
    Node *nodes = WEFT_BLOB_BUILD_ARRAY(builder, &root->nodes, 3);
    CHECK(WEFT_BLOB_BUILD_ARRAY(builder, &nodes[0].children, 2) != NULL);
    return nodes;
}

static void check_no_blob(const char *failed_check)
{
    weft_blob_ref ref = {1};
    weft_blob_store_stats stats;
    CHECK_RESULT(weft_blob_builder_finish(builder, &ref), WEFT_INVALID_ARGUMENT);
    CHECK_U64(ref.id, 0);
    CHECK_OK(weft_blob_store_stats_get(store, &stats, sizeof stats));
    CHECK_U64(stats.blob_count, 0);
    check_text(failed_check);
    check_text("leave references to the builder");
}

Test(blob_builder, references_written_by_hand_make_no_blob)
{
    for (uint64_t capacity = 0; capacity <= 4096; capacity += 4096) { /* in place, too */
        Node *nodes = begin_nodes(capacity);
        nodes[1] = nodes[0];
        check_no_blob("offset of an empty array");
        nodes = begin_nodes(capacity);
        nodes[0] = (Node){0};
        CHECK(WEFT_BLOB_BUILD_ARRAY(builder, &nodes[0].children, 7) != NULL);
        check_no_blob("extent without owner");
        nodes = begin_nodes(capacity);
        nodes[2].weights.untyped = (weft_blob_array){.offset = 4711, .count = 99};
        check_no_blob("array leads to what is not its own");
        nodes = begin_nodes(capacity);
        nodes[2].parent.typed = nodes; /* an address is no reference */
        check_no_blob("pointer leads to nothing of its type");
        nodes = begin_nodes(capacity);
        nodes[2].name.bytes = 5;
        check_no_blob("array leads to what is not its own");
    }
}

Test(blob_builder, nesting_ends_at_the_documented_depth)
{
    Scene *root = begin(0);
    Node *node = WEFT_BLOB_BUILD_ARRAY(builder, &root->nodes, 1);
    for (int depth = 2; depth <= WEFT_BLOB_DEPTH_MAX; depth++) {
        node = WEFT_BLOB_BUILD_ARRAY(builder, &node->children, 1);
        CHECK(node != NULL);
    }
    weft_blob_ref ref;
    CHECK_POINTER(WEFT_BLOB_BUILD_ARRAY(builder, &node->children, 1), NULL);
    CHECK_RESULT(weft_blob_builder_finish(builder, &ref), WEFT_LIMIT);
}

Test(blob_builder, a_chain_of_a_million_objects_is_built_and_validated_without_recursion)
{
    Scene *root = begin(0);
    Node *node = WEFT_BLOB_BUILD_OBJECT(builder, &root->spare);
    for (uint32_t i = 1; i < 1000000; i++) {
        node = WEFT_BLOB_BUILD_OBJECT(builder, &node->parent);
        node->id = i;
    }
    weft_blob_ref ref;
    weft_blob_info info;
    CHECK_OK(weft_blob_builder_finish(builder, &ref));
    CHECK_OK(weft_blob_info_get(store, ref, &info, sizeof info));
    CHECK_OK(weft_blob_validate(info.block, info.block_bytes, &scene_type, NULL, 0));
    const Scene *scene = weft_blob_read(store, ref, &scene_type);
    uint32_t last = 0;
    for (const Node *n = WEFT_BLOB_TARGET(&scene->spare); n != NULL;
         n = WEFT_BLOB_TARGET(&n->parent)) {
        last = n->id;
    }
    CHECK_U64(last, 999999);
}

Test(blob_builder, two_builds_give_identical_bytes_whatever_the_capacity)
{
    weft_blob_store *other;
    CHECK_OK(weft_blob_store_create(&(weft_blob_store_desc){0}, &other));
    static const uint64_t capacities[] = {0, 1, 70000, 1 << 20};
    for (size_t i = 0; i < 4; i++) {
        weft_blob_ref a, b;
        weft_blob_info info_a, info_b;
        CHECK_OK(blob_build_scene(store, 1000, 0, &a));
        CHECK_OK(blob_build_scene(other, 1000, capacities[i], &b));
        CHECK_OK(weft_blob_info_get(store, a, &info_a, sizeof info_a));
        CHECK_OK(weft_blob_info_get(other, b, &info_b, sizeof info_b));
        CHECK_U64(info_a.block_bytes, info_b.block_bytes);
        CHECK(memcmp(info_a.block, info_b.block, info_a.block_bytes) == 0);
        CHECK_OK(weft_blob_release(other, b));
    }
    weft_blob_store_destroy(other);
}

Test(blob_builder, another_order_of_allocation_is_another_content)
{
    weft_blob_ref refs[2];
    for (int i = 0; i < 2; i++) {
        Scene *root = begin(0);
        blob_name(builder,
                  i == 0 ? &root->title : &WEFT_BLOB_BUILD_ARRAY(builder, &root->tags, 1)[0],
                  "text");
        if (i == 0) blob_name(builder, &WEFT_BLOB_BUILD_ARRAY(builder, &root->tags, 1)[0], "text");
        if (i == 1) blob_name(builder, &root->title, "text");
        CHECK_OK(weft_blob_builder_finish(builder, &refs[i]));
    }
    CHECK(refs[0].id != refs[1].id);
}

Test(blob_builder, copied_arrays_have_the_hash_of_filled_ones)
{
    for (uint64_t count = 1; count < 5000000; count = count * 7 + 3) {
        weft_blob_ref refs[2];
        const uint64_t color_count = count / 16 + 1;
        for (int i = 0; i < 2; i++) {
            Scene *root = begin(i == 0 ? 0 : color_count * sizeof(Color) + sizeof(Scene));
            Color *filled = aligned_alloc(64, color_count * sizeof(Color));
            memset(filled, 0, color_count * sizeof(Color));
            for (uint64_t k = 0; k < color_count; k++) filled[k].rgba[k % 4] = (float)k;
            if (i == 1) {
                CHECK_OK(WEFT_BLOB_BUILD_COPY(builder, &root->palette, filled, color_count));
            } else {
                memcpy(WEFT_BLOB_BUILD_ARRAY(builder, &root->palette, color_count), filled,
                       color_count * sizeof(Color));
            }
            free(filled);
            CHECK_OK(weft_blob_builder_finish(builder, &refs[i]));
        }
        CHECK_U64(refs[0].id, refs[1].id);
    }
}

Test(blob_builder, a_root_larger_than_a_chunk_is_fine)
{
    typedef struct Huge {
        double values[40000];
        WEFT_BLOB_ARRAY(double) more;
    } Huge;
    static const weft_blob_field fields[] = {WEFT_BLOB_FIELD_ARRAY(Huge, more, NULL)};
    static const weft_blob_type type = WEFT_BLOB_TYPE(Huge, fields);
    weft_blob_ref ref;
    CHECK_OK(weft_blob_builder_create(store, &type, 0, &builder));
    Huge *root = weft_blob_builder_root(builder);
    root->values[39999] = 5;
    *WEFT_BLOB_BUILD_ARRAY(builder, &root->more, 1) = 6;
    CHECK_OK(weft_blob_builder_finish(builder, &ref));
    const Huge *huge = weft_blob_read(store, ref, &type);
    CHECK_F64(huge->values[39999], 5.0, 0.0);
    CHECK_F64(*WEFT_BLOB_AT(&huge->more, 0), 6.0, 0.0);
}

Test(blob_builder, descriptions_that_contradict_themselves_are_refused)
{
    static const weft_blob_field overlap[] = {{0, WEFT_BLOB_KIND_ARRAY, 4, 4, NULL},
                                              {8, WEFT_BLOB_KIND_POINTER, 4, 4, NULL}};
    static const weft_blob_field outside[] = {{24, WEFT_BLOB_KIND_ARRAY, 4, 4, NULL}};
    static const weft_blob_field odd[] = {{4, WEFT_BLOB_KIND_POINTER, 4, 4, NULL}};
    static const weft_blob_field kind[] = {{0, 9, 4, 4, NULL}};
    static const weft_blob_field size[] = {{0, WEFT_BLOB_KIND_ARRAY, 8, 8, &node_type}};
    const weft_blob_type types[] = {
        {"x", 32, 8, overlap, 2}, {"x", 32, 8, outside, 1}, {"x", 32, 8, odd, 1},
        {"x", 32, 8, kind, 1},    {"x", 32, 8, size, 1},    {"x", 32, 3, NULL, 0},
        {"x", 0, 8, NULL, 0},     {"x", 12, 8, NULL, 0},    {"x", 128, 128, NULL, 0},
        {NULL, 8, 8, NULL, 0},    {"x", 32, 4, overlap, 1}, {"x", 32, 8, NULL, 1}};
    static const struct {
        const char *text;
        unsigned offset;
    } why[] = {{"overlap", 8}, {"beyond", 24},      {"multiple of 8", 4},
               {"kind", 0},    {"another size", 0}, {"power of two", 0},
               {"bytes", 0},   {"multiple", 0},     {"up to 64", 0},
               {"name", 0},    {"aligned to 8", 0}, {"fields is NULL", 0}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        weft_error error;
        char place[32];
        CHECK_RESULT(weft_blob_builder_create(store, &types[i], 0, &builder),
                     WEFT_INVALID_ARGUMENT);
        CHECK_POINTER(builder, NULL);
        weft_blob_store_error(store, &error);
        CHECK_RESULT(error.code, WEFT_INVALID_ARGUMENT);
        CHECK_U64(error.number, i + 1);
        CHECK(strstr(error.text, why[i].text) != NULL);
        snprintf(place, sizeof place, "at byte %u of", why[i].offset);
        CHECK(strstr(error.text, place) != NULL);
    }
}

Test(blob_builder, null_arguments_are_errors)
{
    weft_blob_ref ref;
    Scene *root = begin(0);
    CHECK_RESULT(weft_blob_builder_create(NULL, &scene_type, 0, &builder), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_builder_create(store, NULL, 0, &builder), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_builder_create(store, &scene_type, 0, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_builder_create(store, &scene_type, UINT64_MAX, &builder),
                 WEFT_INVALID_ARGUMENT);
    CHECK_POINTER(weft_blob_builder_array(NULL, &root->nodes.untyped, 1), NULL);
    CHECK_RESULT(weft_blob_builder_copy(NULL, &root->nodes.untyped, root, 1),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_builder_string(NULL, &root->title, "", 0), WEFT_INVALID_ARGUMENT);
    CHECK_POINTER(weft_blob_builder_object(NULL, &root->spare.untyped), NULL);
    CHECK_RESULT(weft_blob_builder_point(NULL, &root->spare.untyped, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_builder_finish(NULL, &ref), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_builder_finish(builder, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_builder_error(NULL)->code, WEFT_INVALID_ARGUMENT);
    CHECK_POINTER(weft_blob_builder_root(NULL), NULL);
    CHECK_OK(weft_blob_builder_error(builder)->code);
    CHECK_RESULT(weft_blob_builder_string(builder, &root->title, NULL, 4), WEFT_INVALID_ARGUMENT);
    weft_blob_builder_destroy(NULL);
}

Test(blob_builder, a_finished_builder_makes_nothing_more)
{
    Scene *root = begin(0);
    finish();
    weft_blob_ref ref;
    CHECK_RESULT(weft_blob_builder_finish(builder, &ref), WEFT_WRONG_PHASE);
    CHECK_POINTER(weft_blob_builder_array(builder, &root->nodes.untyped, 1), NULL);
    CHECK(strstr(weft_blob_builder_error(builder)->text, "another builder") != NULL);
}

Test(blob_builder, any_failing_allocation_is_an_error_and_leaks_nothing)
{
    test_memory memory;
    for (int is_protected = 0; is_protected < 2; is_protected++) {
        for (uint64_t k = 1;; k++) {
            test_memory_init(&memory);
            weft_blob_store_desc desc = {.allocator = test_memory_hook(&memory),
                                         .protection = is_protected ? WEFT_BLOB_PROTECT_ALWAYS
                                                                    : WEFT_BLOB_PROTECT_NEVER};
            weft_blob_store *faulty;
            weft_blob_ref ref = {0};
            test_memory_fail(&memory, k, false);
            weft_result result = weft_blob_store_create(&desc, &faulty);
            if (result == WEFT_OK) {
                result = blob_build_scene(faulty, 300, 0, &ref);
                weft_blob_store_stats stats;
                CHECK_OK(weft_blob_store_stats_get(faulty, &stats, sizeof stats));
                CHECK_U64(stats.blob_count, result == WEFT_OK);
                weft_blob_store_destroy(faulty);
            }
            const bool has_failed = memory.failures != 0;
            test_memory_fini(&memory);
            if (!has_failed) {
                CHECK_OK(result);
                CHECK(k > 8); /* the sweep met failures before it ran past the last allocation */
                break;
            }
            CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        }
    }
}

Test(blob_builder, a_finish_that_ran_out_of_memory_can_be_repeated)
{
    test_memory memory;
    test_memory_init(&memory);
    weft_blob_store_desc desc = {.allocator = test_memory_hook(&memory),
                                 .protection = WEFT_BLOB_PROTECT_NEVER};
    weft_blob_store *faulty;
    weft_blob_builder *b;
    weft_blob_ref ref, again;
    CHECK_OK(weft_blob_store_create(&desc, &faulty));
    CHECK_OK(weft_blob_builder_create(faulty, &scene_type, 0, &b));
    CHECK_OK(blob_fill_scene(b, 500));
    for (uint64_t k = 1; k <= 2; k++) { /* the block, then the first slots */
        test_memory_fail(&memory, k, false);
        CHECK_RESULT(weft_blob_builder_finish(b, &ref), WEFT_OUT_OF_MEMORY);
    }
    CHECK_OK(weft_blob_builder_finish(b, &ref));
    CHECK_OK(blob_build_scene(faulty, 500, 0, &again));
    CHECK_U64(ref.id, again.id);
    weft_blob_builder_destroy(b);
    weft_blob_store_destroy(faulty);
    test_memory_fini(&memory);
}

/* Runs `body` in a child and returns its wait status. */
static int status_of_child(void (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stderr);
        body();
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

static const Scene *protected_scene;

static void write_to_blob(void)
{
    ((Scene *)(uintptr_t)protected_scene)->scale = 1.0;
}

Test(blob_builder, writing_to_a_protected_blob_is_trapped)
{
    weft_blob_store *guarded;
    weft_blob_ref ref;
    CHECK_OK(weft_blob_store_create(&(weft_blob_store_desc){.protection = WEFT_BLOB_PROTECT_ALWAYS},
                                    &guarded));
    CHECK_OK(blob_build_scene(guarded, 3, 0, &ref));
    protected_scene = weft_blob_read(guarded, ref, &scene_type);
    CHECK(status_of_child(write_to_blob) != 0);
    CHECK_F64(protected_scene->scale, 0.25, 0.0);
    weft_blob_store_destroy(guarded);
}

static weft_blob_array failing_array;

static void fail_access(void)
{
    weft_blob_access_failed(&failing_array, 4);
}

Test(blob_builder, a_failed_bounds_check_ends_the_program)
{
    CHECK(WIFSIGNALED(status_of_child(fail_access)));
    failing_array.offset = 8;
    CHECK(WIFSIGNALED(status_of_child(fail_access)));
}
