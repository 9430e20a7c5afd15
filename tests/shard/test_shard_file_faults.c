/* SPDX-License-Identifier: MIT */
/* test_shard_file_faults.c: checkpoints of shards, of one rank, whose k-th system call fails, is
 * interrupted, cut short or never comes back: see file_faults.h. */
#include "file_faults.h"
#include "plain.h"
#include "traced.h"

#include <weft/shard.h>

#include <stdio.h>

typedef struct Place {
    float x, y;
} Place;

static int write_checkpoint(const char *path, int variant)
{
    weft_world *world;
    weft_shard *shard;
    weft_shard_info info;
    CHECK_OK(weft_ranks_start(NULL, NULL));
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .trace_file = ""}, &world));
    const weft_component place = WEFT_COMPONENT(world, Place);
    const weft_shard_desc desc = {.key = place,
                                  .grid = {.dimensions = 2, .cells = {4, 4}, .most = {100, 100}},
                                  .halo = {place}};
    CHECK_OK(weft_shard_create(world, &desc, &shard));
    weft_shard_info_get(shard, &info, sizeof info);
    for (uint32_t i = 0; i < (variant == 0 ? 20u : 300u); i++) {
        const Place at = {(float)(i * 37 % 100), (float)(i * 61 % 100)};
        const weft_entity made = weft_entity_create(world, WEFT_ARCHETYPE(world, info.gid, place));
        CHECK_OK(weft_entity_set(world, made, place, &at, sizeof at));
    }
    CHECK_OK(weft_shard_sync(shard));
    traced_begin();
    const weft_result result = weft_shard_save(shard, path);
    traced_stop();
    if (result != WEFT_OK) traced_say(weft_ranks_error()->text);
    return result == WEFT_OK ? 0 : 1;
}

PLAIN_TEST(a_checkpoint_is_the_old_one_or_the_new_one_whichever_system_call_fails)
{
    const file_writer writer = {
        .name = "weft_shard_save", .write = write_checkpoint, .left = ".partial"};
    if (!traced_works()) {
        printf("skipped: needs ptrace on x86-64\n");
        return;
    }
    CHECK(file_faults_sweep(&writer) > 50);
}
