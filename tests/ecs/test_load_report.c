/* SPDX-License-Identifier: MIT */
/* test_load_report.c: every reason why the load of a world or a blob is refused reaches the report
 * of the caller: the result, the byte, the numbers, the type and a sentence. */
#include "blob_fixture.h"
#include "blob_format.h"
#include "blob_type.h"
#include "check.h"
#include "hash_lanes.h"
#include "memory_fault.h"
#include "plain.h"
#include "world_file_write.h"

#include <errno.h>
#include <weft/type.h>

typedef struct Number {
    uint64_t number;
} Number;

enum { COUNT = 10 };

/* A saved world, and one to load into. Owner: one test. */
typedef struct bed {
    weft_world *from, *world;
    weft_component number;
    weft_world_bytes saved;
    char *bytes; /* a copy, to damage */
    weft_load_report report;
    weft_load_desc desc;
} bed;

static const weft_world_desc one_worker = {.workers = 1};

static void bed_open(bed *b)
{
    *b = (bed){0};
    CHECK_OK(weft_world_create(&one_worker, &b->from));
    CHECK_OK(weft_world_create(&one_worker, &b->world));
    b->number = WEFT_COMPONENT(b->from, Number);
    CHECK_OK(weft_entity_create_many(b->from, WEFT_ARCHETYPE(b->from, b->number), COUNT, NULL));
    CHECK_OK(weft_world_save_memory(b->from, &b->saved, NULL));
    b->bytes = malloc(b->saved.count);
    memcpy(b->bytes, b->saved.bytes, b->saved.count);
    b->desc = (weft_load_desc){.report = &b->report, .report_bytes = sizeof b->report};
    memset(&b->report, 0xEE, sizeof b->report);
}

static void bed_close(bed *b)
{
    weft_world_bytes_free(b->from, &b->saved);
    free(b->bytes);
    CHECK_OK(weft_world_destroy(b->from));
    CHECK_OK(weft_world_destroy(b->world));
}

/* The report says what the call returned; its sentence is the world's last error. */
static void check_report(const bed *b, weft_result result, weft_load_reason reason, uint64_t offset)
{
    CHECK_RESULT(b->report.result, result);
    CHECK_U64(b->report.reason, reason);
    CHECK_U64(b->report.offset, offset);
    CHECK_TEXT(b->report.text, weft_world_error(b->world)->text);
}

static void check_numbers(const bed *b, uint64_t found, uint64_t expected)
{
    CHECK_U64(b->report.found, found);
    CHECK_U64(b->report.expected, expected);
}

static weft__world_header *header_of(const bed *b)
{
    return (weft__world_header *)(void *)b->bytes;
}

static weft_result load(bed *b)
{
    return weft_world_load_memory(b->world, b->bytes, b->saved.count, &b->desc);
}

static void hash_again(bed *b)
{
    const size_t behind = offsetof(weft__world_header, version);
    header_of(b)->content_hash =
        weft__hash_lanes(WORLD_FILE_SEED, b->bytes + behind, b->saved.count - behind);
}

PLAIN_TEST(a_load_that_succeeds_leaves_a_report_of_zeroes)
{
    static const weft_load_report zero;
    bed b;
    bed_open(&b);
    CHECK_OK(load(&b));
    CHECK(memcmp(&b.report, &zero, sizeof zero) == 0);
    bed_close(&b);
}

PLAIN_TEST(headers_of_worlds_are_refused_by_name)
{
    bed b;
    bed_open(&b);
    b.bytes[0] ^= 1;
    CHECK_RESULT(load(&b), WEFT_CORRUPT);
    check_report(&b, WEFT_CORRUPT, WEFT_LOAD_NOT_WEFT, 0);
    b.bytes[0] ^= 1;
    header_of(&b)->byte_order = 0x04030201;
    CHECK_RESULT(load(&b), WEFT_UNSUPPORTED);
    check_report(&b, WEFT_UNSUPPORTED, WEFT_LOAD_BYTE_ORDER, 0);
    header_of(&b)->byte_order = WORLD_FILE_BYTE_ORDER;
    header_of(&b)->version = WORLD_FILE_VERSION + 7;
    CHECK_RESULT(load(&b), WEFT_UNSUPPORTED);
    check_report(&b, WEFT_UNSUPPORTED, WEFT_LOAD_VERSION, 0);
    check_numbers(&b, WORLD_FILE_VERSION + 7, WORLD_FILE_VERSION);
    CHECK(strstr(b.report.text, "later format version") != NULL);
    bed_close(&b);
}

PLAIN_TEST(worlds_that_end_too_early_say_at_which_byte)
{
    bed b;
    bed_open(&b);
    const size_t least = sizeof(weft__world_header);
    for (size_t count = 0; count < b.saved.count; count++) {
        CHECK_RESULT(weft_world_load_memory(b.world, b.bytes, count, &b.desc), WEFT_CORRUPT);
        check_report(&b, WEFT_CORRUPT, WEFT_LOAD_TRUNCATED, count);
        check_numbers(&b, count, count < least ? least : b.saved.count);
    }
    bed_close(&b);
}

PLAIN_TEST(damage_is_told_from_bytes_that_never_were_a_world)
{
    bed b;
    bed_open(&b);
    b.bytes[b.saved.count - 9] ^= 16;
    uint64_t written = header_of(&b)->content_hash;
    CHECK_RESULT(load(&b), WEFT_CORRUPT);
    check_report(&b, WEFT_CORRUPT, WEFT_LOAD_CHECKSUM, 0);
    hash_again(&b);
    check_numbers(&b, header_of(&b)->content_hash, written);
    b.bytes[b.saved.count - 9] ^= 16;
    memset(b.bytes + sizeof(weft__world_header), 0xff, 4); /* the number of types */
    hash_again(&b);
    CHECK_RESULT(load(&b), WEFT_CORRUPT);
    check_report(&b, WEFT_CORRUPT, WEFT_LOAD_MALFORMED, sizeof(weft__world_header) + 4);
    CHECK_TEXT(b.report.check, "a count larger than the file");
    bed_close(&b);
}

PLAIN_TEST(types_that_differ_are_named_with_their_sizes)
{
    bed b;
    bed_open(&b);
    weft_component_create_plain(b.world, "Number", 4, 4, 0);
    CHECK_RESULT(load(&b), WEFT_TYPE_MISMATCH);
    CHECK_U64(b.report.reason, WEFT_LOAD_TYPE_SIZE);
    CHECK_TEXT(b.report.type, "Number");
    check_numbers(&b, 8, 4);
    CHECK_TEXT(b.report.text, weft_world_error(b.world)->text);
    CHECK_OK(weft_world_destroy(b.world));
    CHECK_OK(weft_world_create(&one_worker, &b.world));
    weft_component_create_plain(b.world, "Number", 8, 8, WEFT_SHARED);
    CHECK_RESULT(load(&b), WEFT_TYPE_MISMATCH);
    CHECK_U64(b.report.reason, WEFT_LOAD_TYPE_LAYOUT);
    CHECK_TEXT(b.report.type, "Number");
    check_numbers(&b, 0, 0);
    bed_close(&b);
}

static size_t save_number(const void *value, void *out, size_t capacity, void *user)
{
    (void)user;
    if (capacity >= sizeof(Number)) memcpy(out, value, sizeof(Number));
    return sizeof(Number);
}

static bool load_number(void *value, const void *bytes, size_t count, void *user)
{
    (void)user;
    if (count == sizeof(Number)) memcpy(value, bytes, sizeof(Number));
    return count == sizeof(Number);
}

/* Saves `from` again with one more type in use. */
static void save_again(bed *b)
{
    weft_world_bytes_free(b->from, &b->saved);
    CHECK_OK(weft_world_save_memory(b->from, &b->saved, NULL));
    b->bytes = realloc(b->bytes, b->saved.count);
    memcpy(b->bytes, b->saved.bytes, b->saved.count);
}

PLAIN_TEST(types_that_the_caller_must_give_are_unknown_until_then)
{
    bed b;
    bed_open(&b);
    weft_component hooked = weft_component_create(
        b.from, &(weft_component_desc){.name = "Hooked",
                                       .size = sizeof(Number),
                                       .hooks = {.save = save_number, .load = load_number}});
    weft_entity_create(b.from, WEFT_ARCHETYPE(b.from, hooked));
    save_again(&b);
    CHECK_RESULT(load(&b), WEFT_TYPE_MISMATCH);
    CHECK_U64(b.report.reason, WEFT_LOAD_TYPE_UNKNOWN);
    CHECK_TEXT(b.report.type, "Hooked");
    CHECK(strstr(b.report.text, "save and load") != NULL);
    bed_close(&b);
}

/* A world whose file holds one scene. */
static void open_with_blob(bed *b)
{
    static const weft_field field = {"scene", WEFT_FIELD_BLOB, 0, 1};
    weft_blob_ref scene;
    bed_open(b);
    weft_component model = weft_component_create(
        b->from,
        &(weft_component_desc){.name = "Model", .size = 8, .fields = &field, .field_count = 1});
    CHECK_OK(blob_build_scene(weft_world_blobs(b->from), 4, 0, &scene));
    weft_entity e = weft_entity_create(b->from, WEFT_ARCHETYPE(b->from, model));
    CHECK_OK(weft_entity_set(b->from, e, model, &scene, sizeof scene));
    save_again(b);
}

PLAIN_TEST(blobs_inside_a_world_report_as_blobs_do)
{
    static const weft_blob_type *const types[] = {&scene_type};
    weft__blob_plan plan;
    bed b;
    open_with_blob(&b);
    CHECK_OK(weft__blob_plan_init(&plan, &scene_type));
    CHECK_RESULT(load(&b), WEFT_TYPE_MISMATCH);
    CHECK_U64(b.report.reason, WEFT_LOAD_TYPE_UNKNOWN);
    check_numbers(&b, plan.type_hash, 0);
    b.desc.blob_types = types;
    b.desc.blob_type_count = 1;
    b.bytes[b.saved.count - 1] ^= 1; /* in the table of the blob */
    hash_again(&b);
    CHECK_RESULT(load(&b), WEFT_CORRUPT);
    CHECK_U64(b.report.reason, WEFT_LOAD_CHECKSUM);
    CHECK(b.report.found != b.report.expected);
    CHECK_TEXT(b.report.check, "content hash");
    b.bytes[b.saved.count - 1] ^= 1;
    hash_again(&b);
    CHECK_OK(load(&b));
    CHECK_U64(b.report.reason, WEFT_LOAD_NOT_REFUSED);
    bed_close(&b);
}

PLAIN_TEST(limits_and_missing_memory_have_reasons_of_their_own)
{
    bed b;
    bed_open(&b);
    b.desc.bytes_max = b.saved.count - 1;
    CHECK_RESULT(load(&b), WEFT_LIMIT);
    check_report(&b, WEFT_LIMIT, WEFT_LOAD_LIMIT, 0);
    check_numbers(&b, b.saved.count, b.saved.count - 1);
    b.desc.bytes_max = 0;
    test_memory memory;
    test_memory_init(&memory);
    weft_world_desc desc = {.workers = 1, .allocator = test_memory_hook(&memory)};
    CHECK_OK(weft_world_destroy(b.world));
    CHECK_OK(weft_world_create(&desc, &b.world));
    memory.fail_at = 1;
    CHECK_RESULT(load(&b), WEFT_OUT_OF_MEMORY);
    CHECK_U64(b.report.reason, WEFT_LOAD_MEMORY);
    bed_close(&b);
    test_memory_fini(&memory);
}

PLAIN_TEST(calls_that_read_nothing_report_themselves)
{
    bed b;
    bed_open(&b);
    CHECK_RESULT(weft_world_load_memory(b.world, NULL, 4, &b.desc), WEFT_INVALID_ARGUMENT);
    check_report(&b, WEFT_INVALID_ARGUMENT, WEFT_LOAD_CALL, 0);
    CHECK_RESULT(weft_world_load_memory(NULL, b.bytes, 4, &b.desc), WEFT_INVALID_ARGUMENT);
    CHECK_U64(b.report.reason, WEFT_LOAD_CALL);
    CHECK_OK(load(&b));
    CHECK_RESULT(load(&b), WEFT_WRONG_PHASE); /* not new any more */
    check_report(&b, WEFT_WRONG_PHASE, WEFT_LOAD_CALL, 0);
    b.desc.report_bytes = 0;
    CHECK_RESULT(load(&b), WEFT_INVALID_ARGUMENT);
    CHECK(strstr(weft_world_error(b.world)->text, "report_bytes") != NULL);
    bed_close(&b);
}

PLAIN_TEST(files_that_fail_are_sources)
{
    bed b;
    bed_open(&b);
    CHECK_RESULT(weft_world_load(b.world, "/nonexistent-weft", &b.desc), WEFT_NOT_FOUND);
    check_report(&b, WEFT_NOT_FOUND, WEFT_LOAD_SOURCE, 0);
    CHECK(strstr(b.report.text, strerror(ENOENT)) != NULL);
    bed_close(&b);
}

/* ---- blobs ---- */

/* A scene of a store as bytes. Owner: one test. */
typedef struct blob_bed {
    weft_blob_store *store;
    weft__blob_header *block; /* a copy, to damage */
    size_t count;
    weft_load_report report;
    weft_blob_load_desc desc;
} blob_bed;

static void blob_open(blob_bed *b)
{
    weft_blob_ref ref;
    weft_blob_info info;
    *b = (blob_bed){0};
    CHECK_OK(weft_blob_store_create(NULL, &b->store));
    CHECK_OK(blob_build_scene(b->store, 4, 0, &ref));
    CHECK_OK(weft_blob_info_get(b->store, ref, &info, sizeof info));
    b->count = info.block_bytes;
    b->block = malloc(b->count);
    memcpy(b->block, info.block, b->count);
    b->desc = (weft_blob_load_desc){&scene_type, WEFT_BLOB_LOAD, &b->report, sizeof b->report};
}

static void blob_close(blob_bed *b)
{
    free(b->block);
    weft_blob_store_destroy(b->store);
}

/* Adopts `count` of the bytes; the call and the report agree. */
static void adopt(blob_bed *b, size_t count, weft_load_reason reason, weft_result result)
{
    weft_blob_ref ref = {1};
    memset(&b->report, 0xEE, sizeof b->report);
    CHECK_RESULT(weft_blob_adopt(b->store, b->block, count, &b->desc, &ref), result);
    CHECK_RESULT(b->report.result, result);
    CHECK_U64(b->report.reason, reason);
    CHECK((ref.id == 0) == (result != WEFT_OK));
    CHECK((b->report.text[0] == '\0') == (result == WEFT_OK));
}

PLAIN_TEST(every_reason_of_a_refused_blob_is_reported)
{
    blob_bed b;
    blob_open(&b);
    adopt(&b, b.count, WEFT_LOAD_NOT_REFUSED, WEFT_OK);
    for (size_t count = 0; count < b.count; count += 7) {
        adopt(&b, count, WEFT_LOAD_TRUNCATED, WEFT_CORRUPT);
        CHECK_U64(b.report.offset, count);
        CHECK_U64(b.report.found, count);
    }
    b.block->magic++;
    adopt(&b, b.count, WEFT_LOAD_NOT_WEFT, WEFT_CORRUPT);
    b.block->magic--, b.block->byte_order++;
    adopt(&b, b.count, WEFT_LOAD_BYTE_ORDER, WEFT_UNSUPPORTED);
    b.block->byte_order--, b.block->version += 2;
    adopt(&b, b.count, WEFT_LOAD_VERSION, WEFT_UNSUPPORTED);
    CHECK_U64(b.report.found, b.report.expected + 2);
    b.block->version -= 2, b.block->content_hash++;
    adopt(&b, b.count, WEFT_LOAD_CHECKSUM, WEFT_CORRUPT);
    CHECK_U64(b.report.expected, b.report.found + 1);
    b.block->content_hash--, b.block->reserved = 1;
    adopt(&b, b.count, WEFT_LOAD_MALFORMED, WEFT_CORRUPT);
    CHECK_TEXT(b.report.check, "reserved field is not zero");
    b.block->reserved = 0;
    b.desc.type = &node_type;
    adopt(&b, b.count, WEFT_LOAD_TYPE_LAYOUT, WEFT_TYPE_MISMATCH);
    CHECK_TEXT(b.report.type, "Node");
    b.desc.type = NULL;
    adopt(&b, b.count, WEFT_LOAD_CALL, WEFT_INVALID_ARGUMENT);
    blob_close(&b);
}

PLAIN_TEST(blob_files_and_calls_report_as_worlds_do)
{
    blob_bed b;
    weft_blob_ref ref;
    blob_open(&b);
    CHECK_RESULT(weft_blob_load(b.store, "/nonexistent-weft", &b.desc, &ref), WEFT_NOT_FOUND);
    CHECK_U64(b.report.reason, WEFT_LOAD_SOURCE);
    CHECK_RESULT(b.report.result, WEFT_NOT_FOUND);
    CHECK(strstr(b.report.text, strerror(ENOENT)) != NULL);
    CHECK_RESULT(weft_blob_load(b.store, NULL, &b.desc, &ref), WEFT_INVALID_ARGUMENT);
    CHECK_U64(b.report.reason, WEFT_LOAD_CALL);
    CHECK_RESULT(weft_blob_load(b.store, "x", NULL, &ref), WEFT_INVALID_ARGUMENT);
    b.desc.report_bytes = 0;
    CHECK_RESULT(weft_blob_adopt(b.store, b.block, b.count, &b.desc, &ref), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_blob_validate(b.block, b.count, &scene_type, &b.report, 0),
                 WEFT_INVALID_ARGUMENT);
    weft_blob_store *other;
    test_memory memory;
    test_memory_init(&memory);
    CHECK_OK(weft_blob_store_create(&(weft_blob_store_desc){.allocator = test_memory_hook(&memory)},
                                    &other));
    memory.fail_at = 1;
    b.desc.report_bytes = sizeof b.report;
    CHECK_RESULT(weft_blob_adopt(other, b.block, b.count, &b.desc, &ref), WEFT_OUT_OF_MEMORY);
    CHECK_U64(b.report.reason, WEFT_LOAD_MEMORY);
    weft_blob_store_destroy(other);
    test_memory_fini(&memory);
    blob_close(&b);
}
