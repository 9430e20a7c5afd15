/* SPDX-License-Identifier: MIT */
/* test_blob.c: blobs and threads: read by jobs at another address, filled by several, made, found,
 * shared and freed by all at once. */
#include "blob_fixture.h"
#include "plain.h"

#include <weft/jobs.h>

enum { WORKERS = 8 };

static weft_job_pool *make_pool(void)
{
    weft_job_pool *pool;
    CHECK_OK(weft_job_pool_create(
        &(weft_job_pool_desc){.worker_count = WORKERS, .is_always_parallel = true}, &pool));
    return pool;
}

static void run(weft_job_pool *pool, weft_job_for_fn fn, void *argument, uint32_t count)
{
    CHECK_OK(weft_job_for(
        weft_job_pool_owner(pool),
        &(weft_job_for_desc){.fn = fn, .argument = argument, .count = count, .grain = 1}, NULL));
}

static weft_blob_store *make_store(void)
{
    weft_blob_store *store;
    CHECK_OK(weft_blob_store_create(&(weft_blob_store_desc){0}, &store));
    return store;
}

/* What the reading jobs share. Constant while they run. */
typedef struct reading {
    weft_blob_store *store;
    weft_blob_ref ref;
    uint64_t sum;
} reading;

static int read_blob(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const reading *r = argument;
    (void)job;
    for (uint32_t i = begin; i < end; i++) {
        CHECK_OK(weft_blob_acquire(r->store, r->ref));
        const Scene *scene = weft_blob_read(r->store, r->ref, &scene_type);
        CHECK(scene != NULL);
        CHECK_U64(blob_walk(0, scene, &scene_type), r->sum);
        CHECK_OK(weft_blob_release(r->store, r->ref));
    }
    return 0;
}

PLAIN_TEST(eight_jobs_read_the_same_values_from_a_blob_mapped_at_another_address)
{
    blob_directory directory;
    blob_directory_create(&directory);
    weft_blob_store *built = make_store(), *mapped = make_store();
    weft_job_pool *pool = make_pool();
    weft_blob_ref ref;
    reading r = {.store = mapped};
    CHECK_OK(blob_build_scene(built, 2000, 0, &ref));
    CHECK_OK(weft_blob_save(built, ref, directory.path));
    CHECK_OK(weft_blob_load(mapped, directory.path,
                            &(weft_blob_load_desc){.type = &scene_type, .mode = WEFT_BLOB_MAP},
                            &r.ref));
    r.sum = blob_walk(0, weft_blob_read(built, ref, &scene_type), &scene_type);
    CHECK(weft_blob_read(built, ref, NULL) != weft_blob_read(mapped, r.ref, NULL));
    run(pool, read_blob, &r, 64);
    CHECK_OK(weft_job_pool_destroy(pool));
    weft_blob_store_destroy(mapped);
    weft_blob_store_destroy(built);
    blob_directory_destroy(&directory);
}

static int fill_colors(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    Color *colors = argument;
    (void)job;
    for (uint32_t i = begin; i < end; i++) colors[i].rgba[i % 4] = (float)i;
    return 0;
}

PLAIN_TEST(jobs_fill_an_array_while_the_builder_goes_on)
{
    enum { COUNT = 10000 };
    weft_job_pool *pool = make_pool();
    weft_blob_store *store = make_store();
    weft_blob_ref refs[2];
    for (int i = 0; i < 2; i++) {
        weft_blob_builder *builder;
        CHECK_OK(weft_blob_builder_create(store, &scene_type, 0, &builder));
        Scene *root = weft_blob_builder_root(builder);
        Color *colors = WEFT_BLOB_BUILD_ARRAY(builder, &root->palette, COUNT);
        if (i == 0) run(pool, fill_colors, colors, COUNT);
        if (i == 1) fill_colors(NULL, colors, 0, COUNT);
        blob_name(builder, &root->title, "filled");
        CHECK_OK(weft_blob_builder_finish(builder, &refs[i]));
        weft_blob_builder_destroy(builder);
    }
    CHECK_U64(refs[0].id, refs[1].id);
    weft_blob_store_destroy(store);
    CHECK_OK(weft_job_pool_destroy(pool));
}

/* Makes one of three blobs, reads it, gives it back: equal ones appear and vanish all the time. */
static int make_and_drop(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    weft_blob_store *store = argument;
    (void)job;
    for (uint32_t i = begin; i < end; i++) {
        weft_blob_ref ref, second;
        const uint32_t nodes = 1 + i % 3;
        CHECK_OK(blob_build_scene(store, nodes, 0, &ref));
        CHECK_OK(weft_blob_acquire(store, ref));
        CHECK_OK(blob_build_scene(store, nodes, 0, &second));
        CHECK_U64(second.id, ref.id); /* alive, so it was found */
        const Scene *scene = weft_blob_read(store, ref, &scene_type);
        CHECK_U64(WEFT_BLOB_COUNT(&scene->nodes), nodes);
        for (int k = 0; k < 3; k++) CHECK_OK(weft_blob_release(store, ref));
    }
    return 0;
}

PLAIN_TEST(equal_blobs_made_and_freed_by_all_workers_are_never_lost_or_doubled)
{
    weft_job_pool *pool = make_pool();
    weft_blob_store *store = make_store();
    weft_blob_store_stats stats;
    run(pool, make_and_drop, store, 4000);
    CHECK_OK(weft_blob_store_stats_get(store, &stats, sizeof stats));
    CHECK_U64(stats.blob_count, 0);
    CHECK_U64(stats.block_bytes, 0);
    CHECK(stats.shared_count >= 4000);
    weft_blob_store_destroy(store);
    CHECK_OK(weft_job_pool_destroy(pool));
}
