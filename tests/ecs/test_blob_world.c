/* SPDX-License-Identifier: MIT */
/* test_blob_world.c: the blob store of a world: its memory is the world's, it outlives the
 * components that refer to it, and it survives every failing allocation. */
#include "blob_fixture.h"
#include "memory_fault.h"
#include "plain.h"

#include <weft/ecs.h>

#include <string.h>

typedef struct Model {
    weft_blob_ref scene;
} Model;

static weft_world *open_world(test_memory *memory)
{
    weft_world *world;
    test_memory_init(memory);
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = 1, .allocator = test_memory_hook(memory)}, &world));
    return world;
}

static weft_world_stats stats_of(const weft_world *world)
{
    weft_world_stats stats;
    weft_world_stats_get(world, &stats, sizeof stats);
    return stats;
}

PLAIN_TEST(a_world_makes_its_blob_store_when_it_is_asked_for)
{
    test_memory memory;
    weft_world *world = open_world(&memory);
    CHECK_POINTER(weft_world_blobs(NULL), NULL);
    CHECK_U64(stats_of(world).bytes_blobs, 0);
    weft_blob_store *store = weft_world_blobs(world);
    CHECK(store != NULL);
    CHECK_POINTER(weft_world_blobs(world), store);
    CHECK(stats_of(world).bytes_blobs != 0);
    CHECK_OK(weft_world_destroy(world));
    test_memory_fini(&memory);
}

static void expect_busy(weft_blob_store *store, const char *words)
{
    weft_error error;
    CHECK_RESULT(weft_blob_store_destroy(store), WEFT_BUSY);
    weft_blob_store_error(store, &error);
    CHECK_RESULT(error.code, WEFT_BUSY);
    CHECK(strstr(error.text, words) != NULL);
}

PLAIN_TEST(a_store_with_builders_or_of_a_world_is_not_destroyed)
{
    test_memory memory;
    weft_world *world = open_world(&memory);
    weft_blob_store *store = weft_world_blobs(world);
    weft_blob_ref ref;
    expect_busy(store, "weft_world_destroy");
    CHECK_POINTER(weft_world_blobs(world), store);
    CHECK_OK(blob_build_scene(store, 1, 0, &ref));
    CHECK_OK(weft_world_destroy(world));
    test_memory_fini(&memory);

    weft_blob_builder *builder;
    CHECK_OK(weft_blob_store_create(NULL, &store));
    CHECK_OK(weft_blob_builder_create(store, &scene_type, 0, &builder));
    expect_busy(store, "weft_blob_builder_destroy");
    CHECK_OK(weft_blob_builder_finish(builder, &ref));
    expect_busy(store, "weft_blob_builder_destroy");
    weft_blob_builder_destroy(builder);
    CHECK_OK(weft_blob_store_destroy(store));
    CHECK_OK(weft_blob_store_destroy(NULL));
}

PLAIN_TEST(the_memory_of_blobs_is_counted_in_the_world)
{
    test_memory memory;
    weft_world *world = open_world(&memory);
    weft_blob_store *store = weft_world_blobs(world);
    weft_blob_ref ref;
    weft_blob_info info;
    CHECK_OK(blob_build_scene(store, 1, 0, &ref)); /* tables grow now */
    CHECK_OK(weft_blob_release(store, ref));
    weft_world_stats before = stats_of(world);
    CHECK_OK(blob_build_scene(store, 500, 0, &ref));
    CHECK_OK(weft_blob_info_get(store, ref, &info, sizeof info));
    weft_world_stats during = stats_of(world);
    CHECK(during.bytes_blobs >= before.bytes_blobs + info.block_bytes);
    CHECK_U64(during.bytes_total - during.bytes_blobs, before.bytes_total - before.bytes_blobs);
    CHECK_U64(during.bytes_other, before.bytes_other);
    CHECK_OK(weft_blob_release(store, ref));
    CHECK_U64(stats_of(world).bytes_blobs, before.bytes_blobs);
    CHECK_OK(weft_world_destroy(world));
    test_memory_fini(&memory);
}

static void release_scenes(void *values, uint32_t count, void *user)
{
    Model *models = values;
    weft_world *const *world = user;
    for (uint32_t i = 0; i < count; i++)
        CHECK_OK(weft_blob_release(weft_world_blobs(*world), models[i].scene));
}

PLAIN_TEST(destructors_of_components_may_release_blobs_when_the_world_ends)
{
    test_memory memory;
    weft_world *world = open_world(&memory);
    weft_blob_store *store = weft_world_blobs(world);
    const weft_field field = {"scene", WEFT_FIELD_BLOB, 0, 1};
    weft_component model = weft_component_create(
        world, &(weft_component_desc){.name = "Model",
                                      .size = sizeof(Model),
                                      .fields = &field,
                                      .field_count = 1,
                                      .hooks = {.destruct = release_scenes, .user = &world}});
    for (int i = 0; i < 10; i++) {
        Model value;
        weft_entity entity;
        CHECK_OK(blob_build_scene(store, 3, 0, &value.scene)); /* equal content: one blob */
        CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, model), 1, &entity));
        *(Model *)weft_entity_write(world, entity, model) = value;
    }
    weft_blob_store_stats stats;
    CHECK_OK(weft_blob_store_stats_get(store, &stats, sizeof stats));
    CHECK_U64(stats.blob_count, 1);
    CHECK_U64(stats.shared_count, 9);
    CHECK_OK(weft_world_destroy(world));
    test_memory_fini(&memory);
}

PLAIN_TEST(every_failing_allocation_leaves_world_and_store_as_they_were)
{
    for (int forever = 0; forever < 2; forever++) {
        for (uint64_t k = 1;; k++) {
            test_memory memory;
            weft_world *world = open_world(&memory);
            weft_blob_ref ref = {0};
            weft_world_stats before = stats_of(world);
            test_memory_fail(&memory, k, forever != 0);
            weft_blob_store *store = weft_world_blobs(world);
            bool has_store = store != NULL;
            if (!has_store) CHECK_RESULT(weft_world_error(world)->code, WEFT_OUT_OF_MEMORY);
            weft_result result =
                has_store ? blob_build_scene(store, 16, 0, &ref) : WEFT_OUT_OF_MEMORY;
            test_memory_fail(&memory, 0, false);
            if (!has_store) CHECK_U64(stats_of(world).bytes_total, before.bytes_total);
            CHECK_OK(weft_world_validate(world));
            if (result != WEFT_OK) { /* the next try goes well */
                CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
                CHECK_OK(blob_build_scene(weft_world_blobs(world), 16, 0, &ref));
            }
            CHECK(weft_blob_read(weft_world_blobs(world), ref, &scene_type) != NULL);
            CHECK_OK(weft_world_destroy(world));
            test_memory_fini(&memory);
            if (result == WEFT_OK) break;
        }
    }
}
