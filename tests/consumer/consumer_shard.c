/* SPDX-License-Identifier: MIT */
/* consumer_shard.c: a stranger's sharded program: public headers only, strict C11. Prints WEFT_OK
 * on rank 0 when a step over any number of ranks went as it should. */
#include <stdio.h>
#include <weft/shard.h>

typedef struct Spot {
    float x, y;
} Spot;

static int fail(const char *what)
{
    printf("%s: %s\n", what, weft_ranks_error()->text);
    weft_ranks_abort(1);
    return 1;
}

int main(int argc, char **argv)
{
    weft_world *world;
    weft_shard *shard;
    uint64_t hash[2], spots = 0;
    if (weft_ranks_start(&argc, &argv) != WEFT_OK) return fail("start");
    if (weft_world_create(NULL, &world) != WEFT_OK) return fail("world");
    const weft_component spot = WEFT_COMPONENT(world, Spot);
    const weft_shard_desc desc = {
        .key = spot,
        .halo = {spot},
        .grid = {.dimensions = 2, .cells = {4, 4}, .most = {8, 8}},
    };
    if (weft_shard_create(world, &desc, &shard) != WEFT_OK) return fail("shard");
    weft_shard_info info;
    weft_shard_info_get(shard, &info, sizeof info);
    const weft_archetype archetype = WEFT_ARCHETYPE(world, info.gid, spot);
    for (int i = 0; i < 64; i++) {
        const Spot at = {(float)(i % 8), (float)(i / 8)};
        if (!weft_shard_is_mine(shard, &at)) continue;
        const weft_entity entity = weft_entity_create(world, archetype);
        if (weft_entity_set(world, entity, spot, &at, sizeof at) != WEFT_OK) return fail("set");
        spots++;
    }
    if (weft_shard_sync(shard) != WEFT_OK || weft_shard_step(shard, 1) != WEFT_OK ||
        weft_shard_hash(shard, hash) != WEFT_OK || weft_ranks_sum(&spots, 1) != WEFT_OK)
        return fail("step");
    if (weft_ranks_rank() == 0) puts(spots == 64 && hash[0] != 0 ? "WEFT_OK" : "not all are there");
    weft_shard_destroy(shard);
    if (weft_world_destroy(world) != WEFT_OK) return 1;
    weft_ranks_stop();
    return 0;
}
