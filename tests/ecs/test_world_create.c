/* SPDX-License-Identifier: MIT */
/* test_world_create.c: the creation of a world while memory is refused; what its pool gets; what
 * holds it at its end. */
#include "memory_fault.h"
#include "plain.h"

#include <pthread.h>
#include <weft/ecs.h>

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
    CHECK_OK(weft_world_validate(world)); /* it lives on */
}

PLAIN_TEST(a_world_waits_for_what_lives_on_it_and_names_it)
{
    weft_world *world;
    weft_snapshot *snapshots[2];
    weft_recorder *recorder;
    weft_gather gather;
    weft_world_hook hook = {.holds = "table (table_free)"};
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    weft_component a = weft_component_create_plain(world, "a", 4, 4, 0);
    CHECK(weft_entity_create(world, WEFT_ARCHETYPE(world, a)).version != 0);
    weft_query query = weft_query_create(world, &(weft_query_desc){.terms = {{a}}});
    for (int i = 0; i < 2; i++) CHECK_OK(weft_snapshot_take(world, NULL, &snapshots[i]));
    CHECK_OK(weft_recorder_create(world, &recorder));
    CHECK_OK(weft_world_hook_add(world, &hook));
    check_held(world, "world: snapshots: 2 (weft_snapshot_destroy), recorders: 1 "
                      "(weft_recorder_destroy), table (table_free)");
    weft_snapshot_destroy(snapshots[0]);
    weft_recorder_destroy(recorder);
    CHECK_OK(weft_world_hook_remove(world, &hook));
    check_held(world, "world: snapshots: 1 (weft_snapshot_destroy)");
    weft_snapshot_destroy(snapshots[1]);
    CHECK_OK(weft_gather_begin(world, query, &(weft_gather_desc){.component = a}, &gather));
    CHECK_RESULT(weft_world_destroy(world), WEFT_BUSY);
    CHECK(strstr(weft_world_error(world)->text, "world: gathers: 1 (weft_gather_end)") != NULL);
    CHECK_OK(weft_gather_end(&gather));
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(the_pool_of_a_world_waits_for_the_world)
{
    weft_world *world;
    for (uint32_t workers = 1; workers <= 2; workers++) {
        CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers, .name = "own"}, &world));
        weft_job_pool *pool = weft_world_pool(world);
        CHECK_RESULT(weft_job_pool_destroy(pool), WEFT_BUSY);
        CHECK(strstr(weft_job_pool_error(pool), "destroy it first: 'own'") != NULL);
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
