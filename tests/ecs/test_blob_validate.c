/* SPDX-License-Identifier: MIT */
/* test_blob_validate.c: bytes that are not what they claim are refused, and nothing is read outside
 * them, with and without a content hash that matches. */
#include "blob_fixture.h"
#include "blob_format.h"
#include "blob_type.h"
#include "blob_validate.h"
#include "check.h"
#include "random.h"

#include <criterion/criterion.h>

/* A valid block of about 4 KiB, and a copy to damage, exactly as long as the block so that
 * AddressSanitizer sees the first byte too far. */
static weft_blob_store *store;
static const char *original;
static size_t bytes;
static char *damaged;
static weft__blob_plan plan;

static void *aligned_block(size_t size)
{
    void *memory = NULL;
    CHECK(posix_memalign(&memory, 64, size == 0 ? 1 : size) == 0);
    return memory;
}

static void make_block(void)
{
    weft_blob_ref ref;
    weft_blob_info info;
    CHECK_OK(weft_blob_store_create(&(weft_blob_store_desc){0}, &store));
    CHECK_OK(blob_build_scene(store, 16, 0, &ref));
    CHECK_OK(weft_blob_info_get(store, ref, &info, sizeof info));
    CHECK_OK(weft__blob_plan_init(&plan, &scene_type));
    original = info.block;
    bytes = info.block_bytes;
    CHECK_U64(bytes, 4160);
    damaged = aligned_block(bytes);
    memcpy(damaged, original, bytes);
}

static void drop_block(void)
{
    free(damaged);
    weft_blob_store_destroy(store);
}

TestSuite(blob_validate, .init = make_block, .fini = drop_block);

static Scene *damaged_scene(void)
{
    return (Scene *)(void *)(damaged + WEFT_BLOB_HEADER_BYTES);
}

/* Result without the hash; what passes is read whole. */
static weft_result check_and_walk(weft_load_report *report)
{
    weft_result result = weft__blob_check(damaged, bytes, &plan, false, report);
    if (result == WEFT_OK) blob_walk(0, damaged_scene(), &scene_type);
    return result;
}

Test(blob_validate, a_built_block_is_valid_wherever_it_lies)
{
    uint64_t sum = blob_walk(0, original + WEFT_BLOB_HEADER_BYTES, &scene_type);
    CHECK_OK(weft_blob_validate(damaged, bytes, &scene_type, NULL, 0));
    CHECK_U64(blob_walk(0, damaged_scene(), &scene_type), sum);
    CHECK(memcmp(original, damaged, bytes) == 0);
}

Test(blob_validate, every_truncation_is_refused)
{
    for (size_t size = 0; size < bytes; size++) {
        char *cut = aligned_block(size);
        weft_load_report report;
        memcpy(cut, original, size);
        CHECK(weft_blob_validate(cut, size, &scene_type, &report, sizeof report) != WEFT_OK);
        CHECK(report.check != NULL);
        if (size >= sizeof(weft__blob_header)) { /* an honest size in the header does not help */
            ((weft__blob_header *)(void *)cut)->total_bytes = size;
            CHECK(weft__blob_check(cut, size, &plan, false, NULL) != WEFT_OK);
        }
        free(cut);
    }
}

Test(blob_validate, every_bit_flip_is_refused_by_the_hash_and_harmless_without_it)
{
    size_t harmless = 0;
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        damaged[bit / 8] ^= (char)(1 << bit % 8);
        CHECK(weft_blob_validate(damaged, bytes, &scene_type, NULL, 0) != WEFT_OK);
        harmless += check_and_walk(NULL) == WEFT_OK;
        damaged[bit / 8] ^= (char)(1 << bit % 8);
    }
    CHECK(harmless > 0 && harmless < 8 * bytes / 2); /* only plain data may change unnoticed */
}

Test(blob_validate, hostile_words_everywhere_are_harmless)
{
    static const uint64_t hostile[] = {0,
                                       1,
                                       2,
                                       7,
                                       8,
                                       63,
                                       64,
                                       255,
                                       256,
                                       0x7fffffff,
                                       0x80000000,
                                       0xffffffff,
                                       UINT64_C(1) << 32,
                                       UINT64_C(1) << 61,
                                       UINT64_C(1) << 62,
                                       INT64_MAX,
                                       UINT64_C(1) << 63,
                                       UINT64_MAX - 63,
                                       UINT64_MAX - 8,
                                       UINT64_MAX - 1,
                                       UINT64_MAX};
    for (size_t at = 0; at + 8 <= bytes; at += 4) {
        uint64_t kept, word;
        memcpy(&kept, damaged + at, 8);
        for (size_t i = 0; i < 2 * sizeof hostile / sizeof hostile[0]; i++) {
            word = i % 2 ? hostile[i / 2] : kept + hostile[i / 2];
            memcpy(damaged + at, &word, 8);
            check_and_walk(NULL);
        }
        memcpy(damaged + at, &kept, 8);
    }
    CHECK(memcmp(original, damaged, bytes) == 0);
}

Test(blob_validate, random_damage_is_harmless)
{
    test_random random = test_random_init(0xb10b);
    for (int round = 0; round < 20000; round++) {
        memcpy(damaged, original, bytes);
        for (uint64_t i = test_random_below(&random, 4) + 1; i != 0; i--) {
            uint64_t from = test_random_below(&random, bytes / 8) * 8;
            uint64_t to = test_random_below(&random, bytes / 8) * 8;
            memcpy(damaged + to, original + from, 8); /* plausible words in wrong places */
        }
        check_and_walk(NULL);
    }
}

/* ---- one damage, one named check ---- */

static void check_refused(weft_result expected, const char *check)
{
    weft_load_report report;
    CHECK_RESULT(check_and_walk(&report), expected);
    CHECK_TEXT(report.check, check);
    memcpy(damaged, original, bytes);
}

static weft__blob_extent *damaged_table(void)
{
    return (weft__blob_extent *)(uintptr_t)weft__blob_table(damaged);
}

Test(blob_validate, headers_name_what_is_wrong_with_them)
{
    weft__blob_header *header = (weft__blob_header *)(void *)damaged;
    header->magic++;
    check_refused(WEFT_CORRUPT, "not a blob");
    header->byte_order = 0x04030201;
    check_refused(WEFT_UNSUPPORTED, "byte order");
    static const uint32_t versions[] = {0, BLOB_VERSION + 1, UINT32_MAX};
    for (size_t i = 0; i < 3; i++) {
        header->version = versions[i];
        check_refused(WEFT_UNSUPPORTED, "format version");
    }
    header->type_hash++;
    check_refused(WEFT_TYPE_MISMATCH, "type hash");
    header->total_bytes--;
    check_refused(WEFT_CORRUPT, "size: bytes behind the blob");
    header->reserved = 1;
    check_refused(WEFT_CORRUPT, "reserved field is not zero");
    header->extent_count = 0;
    check_refused(WEFT_CORRUPT, "number of extents");
    header->extent_count = UINT64_MAX / 32 + 2;
    check_refused(WEFT_CORRUPT, "number of extents");
    header->data_end -= 8;
    check_refused(WEFT_CORRUPT, "end of data");
}

Test(blob_validate, references_name_what_is_wrong_with_them)
{
    Scene *scene = damaged_scene();
    Node *nodes = (Node *)(uintptr_t)WEFT_BLOB_DATA(&scene->nodes);
    scene->nodes.untyped.offset = -65; /* the header */
    check_refused(WEFT_CORRUPT, "array leads to what is not its own");
    scene->nodes.untyped.offset = -1; /* itself */
    check_refused(WEFT_CORRUPT, "array leads to what is not its own");
    scene->nodes.untyped.offset += 8;
    check_refused(WEFT_CORRUPT, "array leads to what is not its own");
    scene->nodes.untyped.count++;
    check_refused(WEFT_CORRUPT, "count");
    scene->nodes.untyped.count = 0;
    check_refused(WEFT_CORRUPT, "offset of an empty array");
    scene->title.bytes = UINT64_MAX;
    check_refused(WEFT_CORRUPT, "count");
    scene->self.untyped.offset = (int64_t)bytes;
    check_refused(WEFT_CORRUPT, "pointer leads to nothing of its type");
    scene->self.untyped.offset = INT64_MIN;
    check_refused(WEFT_CORRUPT, "pointer leads to nothing of its type");
    nodes[1].alias.untyped.offset += 8; /* between two strings */
    check_refused(WEFT_CORRUPT, "pointer leads to nothing of its type");
    nodes[1].shade.untyped.offset += 2; /* unaligned */
    check_refused(WEFT_CORRUPT, "pointer leads to nothing of its type");
    char *title = (char *)(uintptr_t)weft_blob_string_text(&scene->title);
    title[scene->title.bytes] = 'x';
    check_refused(WEFT_CORRUPT, "string without NUL");
    title[0] = (char)0xff;
    check_refused(WEFT_CORRUPT, "UTF-8");
}

Test(blob_validate, an_array_cannot_be_shared_or_contain_itself)
{
    Scene *scene = damaged_scene();
    Node *nodes = (Node *)(uintptr_t)WEFT_BLOB_DATA(&scene->nodes);
    const int64_t between = (char *)&nodes[1].weights - (char *)&nodes[2].weights;
    nodes[2].weights.untyped.offset = nodes[1].weights.untyped.offset + between;
    nodes[2].weights.untyped.count = nodes[1].weights.untyped.count;
    check_refused(WEFT_CORRUPT, "array leads to what is not its own");
    /* the children of node 0 become the nodes themselves, and the table agrees */
    uint64_t owner = (uint64_t)((char *)&nodes[0].children - damaged);
    weft__blob_extent *table = damaged_table();
    for (uint64_t i = 0; i < ((weft__blob_header *)(void *)damaged)->extent_count; i++) {
        if (table[i].position != (uint64_t)((char *)nodes - damaged)) continue;
        table[i].owner = owner;
        table[i].depth = 2;
        nodes[0].children.untyped.offset = (int64_t)(table[i].position - owner - 1);
        nodes[0].children.untyped.count = table[i].count;
        scene->nodes.untyped = (weft_blob_array){0};
    }
    check_refused(WEFT_CORRUPT, "nesting");
}

Test(blob_validate, tables_that_do_not_tile_the_data_are_refused)
{
    weft__blob_extent *table = damaged_table();
    table[2].position += 8;
    check_refused(WEFT_CORRUPT, "position of an extent");
    table[2].position = table[1].position; /* overlap */
    check_refused(WEFT_CORRUPT, "position of an extent");
    table[1].kind = 99;
    check_refused(WEFT_CORRUPT, "kind of an extent");
    table[1].count = 0;
    check_refused(WEFT_CORRUPT, "size of an extent");
    table[1].count = UINT64_MAX;
    check_refused(WEFT_CORRUPT, "size of an extent");
    table[1].depth = WEFT_BLOB_DEPTH_MAX + 1;
    check_refused(WEFT_CORRUPT, "depth of arrays");
    table[1].owner = 0;
    check_refused(WEFT_CORRUPT, "owner");
    table[0].owner = 64, table[0].depth = 1;
    check_refused(WEFT_CORRUPT, "root");
}

Test(blob_validate, arguments_are_checked)
{
    weft_load_report report;
    CHECK_RESULT(weft_blob_validate(NULL, 100, &scene_type, &report, sizeof report),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_validate(damaged + 8, bytes - 8, &scene_type, &report, sizeof report),
                 WEFT_INVALID_ARGUMENT);
    CHECK_U64(report.reason, WEFT_LOAD_CALL);
    CHECK_RESULT(weft_blob_validate(damaged, bytes, NULL, &report, sizeof report),
                 WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_validate(damaged, bytes, &node_type, NULL, 0), WEFT_TYPE_MISMATCH);
}

Test(blob_validate, the_same_description_in_two_places_is_one_type)
{
    static const weft_blob_field fields[] = {WEFT_BLOB_FIELD_STRING(Node, name)};
    static const weft_blob_type first = WEFT_BLOB_TYPE(Node, fields);
    static const weft_blob_type second = WEFT_BLOB_TYPE(Node, fields);
    static const weft_blob_type plain = WEFT_BLOB_TYPE_PLAIN(Node);
    weft__blob_plan a, b, c;
    CHECK_OK(weft__blob_plan_init(&a, &first));
    CHECK_OK(weft__blob_plan_init(&b, &second));
    CHECK_OK(weft__blob_plan_init(&c, &plain));
    CHECK_U64(a.type_hash, b.type_hash);
    CHECK(a.type_hash != c.type_hash);
}
