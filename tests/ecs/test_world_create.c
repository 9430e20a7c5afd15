/* SPDX-License-Identifier: MIT */
/* test_world_create.c: the creation of a world while memory is refused; what its pool gets; what
 * holds it at its end. */
#include "memory_fault.h"
#include "plain.h"

#include <pthread.h>
#include <weft/blob.h>
#include <weft/ecs.h>

#include <stdio.h>
#include <string.h>

/* A world as made with the k-th allocation refused; false when there is none. */
static bool is_made_whole(uint64_t k)
{
    test_memory memory;
    test_memory_init(&memory);
    test_memory_fail(&memory, k, false);
    weft_world *world;
    weft_result result = weft_world_create(
        &(weft_world_desc){.workers = 1, .allocator = test_memory_hook(&memory)}, &world);
    if (result == WEFT_OK) {
        CHECK_U64(weft_component_prefab(world).id, weft_component_find(world, "Prefab").id);
        CHECK(weft_component_prefab(world).id != 0);
        CHECK(weft_component_inactive(world).id != 0);
        CHECK(weft_component_linked_group(world).id != 0);
        CHECK_OK(weft_world_validate(world));
        CHECK_OK(weft_world_destroy(world));
    } else {
        CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
        CHECK(world == NULL);
    }
    CHECK_U64(memory.live_blocks, 0);
    test_memory_fini(&memory);
    return result == WEFT_OK;
}

PLAIN_TEST(a_world_is_made_whole_or_not_at_all)
{
    uint64_t k = 1;
    while (k < 1000 && !is_made_whole(k)) k++;
    CHECK(k > 4 && k < 1000); /* none was refused: all before it were needed */
    for (uint64_t more = k; more < k + 20; more++) CHECK(is_made_whole(more));
}

static int read_stack(weft_job_context *job, void *argument)
{
    pthread_attr_t is;
    void *begin;
    if (weft_job_worker_index(job) == 0 || pthread_getattr_np(pthread_self(), &is) != 0) return 1;
    pthread_attr_getstack(&is, &begin, argument);
    pthread_attr_destroy(&is);
    return 0;
}

PLAIN_TEST(a_world_that_is_not_made_says_why)
{
    weft_error error;
    static const struct {
        weft_world_desc desc;
        weft_result result;
        const char *word;
    } wrong[] = {
        {{.workers = 257}, WEFT_INVALID_ARGUMENT, "workers"},
        {{.entity_tag = 17}, WEFT_INVALID_ARGUMENT, "entity_tag"},
        {{.component_limit = 65535}, WEFT_INVALID_ARGUMENT, "component_limit"},
        {{.name = "\xff"}, WEFT_INVALID_ARGUMENT, "UTF-8"},
        {{.stack_bytes = 1}, WEFT_INVALID_ARGUMENT, "stack_bytes"},
        {{.trace_file = "no_such_folder/a.slices"}, WEFT_IO, "No such file"},
    };
    weft_world *world;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        weft_world_desc desc = wrong[i].desc;
        desc.error = &error;
        CHECK_RESULT(weft_world_create(&desc, &world), wrong[i].result);
        CHECK_POINTER(world, NULL);
        CHECK_RESULT(error.code, wrong[i].result);
        CHECK(strstr(error.text, wrong[i].word) != NULL);
        CHECK_U64(error.file[0] != '\0', wrong[i].result == WEFT_IO);
    }
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .error = &error}, &world));
    CHECK_OK(error.code);
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(threads_of_a_world_get_the_stack_that_is_asked_for)
{
    weft_world *world;
    weft_job_handle handle;
    size_t bytes = 0;
    const weft_job_desc job = {.fn = read_stack, .argument = &bytes, .class_ = WEFT_JOB_BACKGROUND};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 2, .stack_bytes = 1 << 20}, &world));
    weft_job_context *owner = weft_job_pool_owner(weft_world_pool(world));
    CHECK_OK(weft_job_submit(owner, &job, &handle));
    CHECK_OK(weft_job_wait(owner, handle, NULL)); /* background jobs are left to worker 1 */
    CHECK_U64(bytes, 1 << 20);
    CHECK_OK(weft_world_destroy(world));
}

static void check_held(weft_world *world, const char *text)
{
    CHECK_RESULT(weft_world_destroy(world), WEFT_BUSY);
    CHECK(strstr(weft_world_error(world)->text, text) != NULL);
    weft_world_validate(world); /* it lives on; refused where rows are given out */
}

/* What lives on a world and has a call that ends it. Streams: test_stream.c; live links, scenes,
 * shards and inspectors: the tests of their libraries. */
typedef struct held {
    weft_world *world;
    weft_component a;
    weft_query query;
    weft_snapshot *snapshot;
    weft_recorder *recorder;
    weft_indexed indexed;
    weft_blob_builder *builder;
    weft_world_hook hook;
} held;

static weft_result take_snapshot(held *h)
{
    return weft_snapshot_take(h->world, NULL, &h->snapshot);
}
static void end_snapshot(held *h)
{
    weft_snapshot_destroy(h->snapshot);
}
static weft_result make_recorder(held *h)
{
    return weft_recorder_create(h->world, &h->recorder);
}
static void end_recorder(held *h)
{
    weft_recorder_destroy(h->recorder);
}
static weft_result open_indexed(held *h)
{
    return weft_indexed_open(h->world, h->query, 0, &h->indexed);
}
static void end_indexed(held *h)
{
    weft_indexed_close(&h->indexed);
}
static weft_result make_builder(held *h)
{
    static const weft_blob_type root = {.name = "root", .bytes = 8, .alignment = 8};
    return weft_blob_builder_create(weft_world_blobs(h->world), &root, 0, &h->builder);
}
static void end_builder(held *h)
{
    weft_blob_builder_destroy(h->builder);
}
static weft_result add_hook(held *h)
{
    h->hook = (weft_world_hook){.holds = "table (table_free)"};
    return weft_world_hook_add(h->world, &h->hook);
}
static void end_hook(held *h)
{
    CHECK_OK(weft_world_hook_remove(h->world, &h->hook));
}

static const struct {
    weft_result (*begin)(held *);
    void (*end)(held *);
    const char *text; /* in the order in which they are named */
} kinds[] = {
    {take_snapshot, end_snapshot, "snapshots: 1 (weft_snapshot_destroy)"},
    {make_recorder, end_recorder, "recorders: 1 (weft_recorder_destroy)"},
    {open_indexed, end_indexed, "indexed accesses: 1 (weft_indexed_close)"},
    {make_builder, end_builder, "blob builders: 1 (weft_blob_builder_destroy)"},
    {add_hook, end_hook, "table (table_free)"},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* A world with the kinds of a set on it. */
static void hold(uint32_t set)
{
    held h = {0};
    char text[400] = "weft_world_destroy: end first what lives on the world: ";
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &h.world));
    h.a = weft_component_create_plain(h.world, "a", 4, 4, 0);
    CHECK(weft_entity_create(h.world, WEFT_ARCHETYPE(h.world, h.a)).version != 0);
    h.query = weft_query_create(h.world, &(weft_query_desc){.terms = {{h.a}}});
    for (size_t i = 0, count = 0; i < KINDS; i++) {
        if ((set >> i & 1) == 0) continue;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", count++ == 0 ? "" : ", ",
                 kinds[i].text);
    }
    for (size_t i = KINDS; i-- > 0;)
        if ((set >> i & 1) != 0) CHECK_OK(kinds[i].begin(&h));
    if (set != 0) check_held(h.world, text);
    for (size_t i = 0; i < KINDS; i++)
        if ((set >> i & 1) != 0) kinds[i].end(&h);
    CHECK_OK(weft_world_destroy(h.world));
}

PLAIN_TEST(a_world_waits_for_what_lives_on_it_and_names_it)
{
    for (uint32_t set = 0; set < 1u << KINDS; set++) hold(set);
}

PLAIN_TEST(several_of_a_kind_are_counted)
{
    weft_world *world;
    weft_snapshot *snapshots[2];
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    for (int i = 0; i < 2; i++) CHECK_OK(weft_snapshot_take(world, NULL, &snapshots[i]));
    check_held(world, "world: snapshots: 2 (weft_snapshot_destroy)");
    weft_snapshot_destroy(snapshots[0]);
    check_held(world, "world: snapshots: 1 (weft_snapshot_destroy)");
    weft_snapshot_destroy(snapshots[1]);
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(the_pool_of_a_world_waits_for_the_world)
{
    weft_world *world;
    for (uint32_t workers = 1; workers <= 2; workers++) {
        CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers, .name = "own"}, &world));
        weft_job_pool *pool = weft_world_pool(world);
        CHECK_RESULT(weft_job_pool_destroy(pool), WEFT_BUSY);
        CHECK(strstr(weft_job_pool_error(pool)->text, "destroy it first: 'own'") != NULL);
        weft_world *guest;
        CHECK_OK(weft_world_create(&(weft_world_desc){.pool = pool, .name = "guest"}, &guest));
        CHECK_RESULT(weft_world_destroy(world), WEFT_BUSY);
        CHECK(strstr(weft_world_error(world)->text, "'guest'") != NULL);
        CHECK(strstr(weft_world_error(world)->text, "'own'") == NULL);
        CHECK_RESULT(weft_job_pool_destroy(pool), WEFT_BUSY);
        CHECK_OK(weft_world_destroy(guest));
        CHECK_OK(weft_world_destroy(world));
    }
}
