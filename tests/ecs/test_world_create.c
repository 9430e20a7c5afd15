/* SPDX-License-Identifier: MIT */
/* test_world_create.c: the creation of a world while memory is refused, and what its pool gets. */
#include "memory_fault.h"
#include "plain.h"

#include <pthread.h>
#include <weft/ecs.h>

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
