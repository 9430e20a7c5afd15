/* SPDX-License-Identifier: MIT */
/* fuzz_world.c: fuzz target of world files (libFuzzer interface; replayed without it by
 * fuzz_replay.c).
 *
 * The input is a world file behind one byte; its header is repaired so that it gets past the first
 * checks. First byte even: loaded into a world that knows nothing; odd: into one that has the
 * types, with hooks and blobs. What is refused must leave an empty, valid world; what is accepted
 * must be valid, save again, and load to the same hash, and all of it must move to another world.
 */
#include "../ecs/blob_fixture.h"
#include "../ecs/text_fixture.h"
#include "buffer_append.h"
#include "check.h"
#include "fuzz.h"
#include "world_file_read.h"
#include "world_file_write.h"

#include <weft/ecs.h>

static const weft_field link_field = {"target", WEFT_FIELD_ENTITY, 0, 1};
static const weft_field scene_field = {"scene", WEFT_FIELD_BLOB, 0, 1};
static const weft_component_desc known[] = {
    {.name = "value", .size = 12, .alignment = 4},
    {.name = "link", .size = 8, .fields = &link_field, .field_count = 1},
    {.name = "lever", .size = 4, .flags = WEFT_ENABLEABLE},
    {.name = "mark", .flags = WEFT_ENABLEABLE},
    {.name = "team", .size = 4, .flags = WEFT_SHARED},
    {.name = "list", .size = 8, .flags = WEFT_BUFFER, .fields = &link_field, .field_count = 1},
    {.name = "chunk", .size = 8, .flags = WEFT_CHUNK},
    {.name = "clean", .size = 4, .flags = WEFT_CLEANUP},
    {.name = "capped", .size = 64, .chunk_row_limit = 3},
    {.name = "config", .size = 8, .flags = WEFT_RESOURCE},
    {.name = "scene", .size = 8, .fields = &scene_field, .field_count = 1},
    {.name = "text",
     .size = sizeof(Text),
     .hooks = {.destruct = text_destruct, .save = text_save, .load = text_load}},
    {.name = "texts",
     .size = sizeof(Text),
     .flags = WEFT_BUFFER,
     .hooks = {.destruct = text_destruct, .save = text_save, .load = text_load}},
};
enum { KNOWN = sizeof known / sizeof known[0], PLAIN = 10 };

static weft_world *make_world(bool knows)
{
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1,
                                                  .without_huge_pages = true,
                                                  .entity_block_limit = 8,
                                                  .megachunk_limit = 16,
                                                  .trace_file = ""},
                               &world));
    for (int i = 0; i < KNOWN && knows; i++) CHECK(weft_component_create(world, &known[i]).id != 0);
    return world;
}

static const weft_blob_type *const blob_types[] = {&scene_type};
static const weft_load_desc load_desc = {.blob_types = blob_types, .blob_type_count = 1};

/* An accepted world saves, loads again to the same, and moves. */
static void check_accepted(weft_world *world, bool knows)
{
    weft_world_bytes bytes;
    CHECK_OK(weft__world_write(world, &(weft_save_desc){0}, &bytes));
    weft_world *again = make_world(knows), *target = make_world(false);
    CHECK_OK(weft__world_read(again, bytes.bytes, bytes.count, &load_desc, true, NULL));
    CHECK_OK(weft_world_validate(again));
    if (!knows) /* hooked values hold addresses */
        CHECK_U64(weft_world_hash(again, WEFT_HASH_CONTENT),
                  weft_world_hash(world, WEFT_HASH_CONTENT));
    weft_world_stats before, after;
    weft_world_stats_get(world, &before, sizeof before);
    weft_result result = weft_world_transfer(target, world, NULL, NULL, 0);
    weft_world_stats_get(target, &after, sizeof after);
    CHECK(result == WEFT_OK || result == WEFT_LIMIT);
    CHECK_U64(after.entities, result == WEFT_OK ? before.entities : 0);
    CHECK_OK(weft_world_validate(target));
    CHECK_OK(weft_world_validate(world));
    weft_world_bytes_free(world, &bytes);
    CHECK_OK(weft_world_destroy(target));
    CHECK_OK(weft_world_destroy(again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 + sizeof(weft__world_header)) return 0;
    bool knows = (data[0] & 1) != 0;
    size_t count = size - 1;
    char *bytes = malloc(count);
    weft__world_header header;
    CHECK(bytes != NULL);
    memcpy(bytes, data + 1, count);
    memcpy(&header, bytes, sizeof header);
    header.magic = WORLD_FILE_MAGIC;
    header.version = WORLD_FILE_VERSION;
    header.byte_order = WORLD_FILE_BYTE_ORDER;
    header.total_bytes = count;
    header.reserved = 0;
    memcpy(bytes, &header, sizeof header);
    weft_world *world = make_world(knows);
    weft_result result = weft__world_read(world, bytes, count, &load_desc, false, NULL);
    CHECK_OK(weft_world_validate(world));
    if (result == WEFT_OK) {
        check_accepted(world, knows);
    } else {
        weft_world_stats stats;
        weft_world_stats_get(world, &stats, sizeof stats);
        CHECK_U64(stats.entities, 0);
        CHECK(weft_world_error(world)->code == result);
    }
    CHECK_OK(weft_world_destroy(world));
    free(bytes);
    return 0;
}

/* ---- seeds ---- */

static void add_hooked(weft_world *world, weft_entity entity, uint32_t i)
{
    weft_component text = weft_component_find(world, "text");
    weft_component texts = weft_component_find(world, "texts");
    CHECK_OK(weft_entity_add(world, entity, text));
    ((Text *)weft_entity_write(world, entity, text))->text = strdup("some text");
    CHECK_OK(weft_entity_add(world, entity, texts));
    for (uint32_t k = 0; k < i % 4; k++) {
        Text element = {strdup("more")};
        CHECK_OK(test_buffer_append(world, texts, entity, &element, 1));
    }
    weft_component scene = weft_component_find(world, "scene");
    weft_blob_ref ref;
    CHECK_OK(blob_build_scene(weft_world_blobs(world), i % 2, 0, &ref));
    CHECK_OK(weft_entity_set(world, entity, scene, &ref, sizeof ref));
}

static void add_some(weft_world *world, weft_entity entity, weft_entity other, uint32_t i)
{
    weft_component list = weft_component_find(world, "list");
    int32_t team = (int32_t)(i % 3);
    for (uint32_t k = 0; k < PLAIN - 1; k++)
        if ((i * 7 >> k & 1) != 0)
            CHECK_OK(weft_entity_add(world, entity, weft_component_find(world, known[k].name)));
    if (i % 2 == 0)
        CHECK_OK(weft_entity_set_shared(world, entity, weft_component_find(world, "team"), &team));
    if (i % 3 == 0) {
        weft_component lever = weft_component_find(world, "lever");
        CHECK_OK(weft_entity_add(world, entity, lever));
        CHECK_OK(weft_entity_enable(world, entity, lever, false));
    }
    if (i % 4 == 0) {
        CHECK_OK(weft_entity_add(world, entity, list));
        for (uint32_t k = 0; k < i; k++)
            CHECK_OK(test_buffer_append(world, list, entity, &other, 1));
    }
    if (i % 5 == 0) CHECK_OK(weft_entity_set_name(world, entity, "name"));
}

size_t fuzz_seed(uint32_t index, uint8_t *out, size_t capacity)
{
    if (index >= 12) return 0;
    weft_world *world = make_world(true);
    weft_component value = weft_component_find(world, "value");
    weft_entity last = {0};
    for (uint32_t i = 0; i < index * 2; i++) {
        weft_entity entity;
        CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, value), 1, &entity));
        add_some(world, entity, last, i);
        if (index % 2 == 1) add_hooked(world, entity, i);
        if (i % 7 == 6) CHECK_OK(weft_entity_destroy(world, last));
        last = entity;
    }
    weft_world_bytes bytes;
    CHECK_OK(weft__world_write(world, &(weft_save_desc){0}, &bytes));
    size_t size = bytes.count + 1;
    CHECK(size <= capacity);
    out[0] = (uint8_t)(index % 2);
    memcpy(out + 1, bytes.bytes, bytes.count);
    weft_world_bytes_free(world, &bytes);
    CHECK_OK(weft_world_destroy(world));
    return size;
}
