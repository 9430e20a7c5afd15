/* SPDX-License-Identifier: MIT */
/* split_ranks.c: the processes of an MPI program in two runs of their own, each with the same
 * world; the first rank of each prints "hash", as those of one run do. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/shard.h>

#ifdef __SANITIZE_ADDRESS__ /* what MPI leaks is not ours: ranks_leaks.h */
int __lsan_do_recoverable_leak_check(void);
void __lsan_disable(void);
void __lsan_enable(void);
#else
#define __lsan_do_recoverable_leak_check() 0
#define __lsan_disable() (void)0
#define __lsan_enable() (void)0
#endif

typedef struct Place {
    float x, y;
} Place;

static void check(weft_result result)
{
    if (result == WEFT_OK) return;
    fprintf(stderr, "rank %u: %s\n", weft_ranks_rank(), weft_ranks_error()->text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void walk(weft_slice *slice, void *user)
{
    Place *places = WEFT_WRITE_COLUMN(slice, 1, Place);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        places[i].x = places[i].x < 80 ? places[i].x + 17 : places[i].x - 80;
}

static void run(void)
{
    weft_world *world;
    weft_shard *shard;
    weft_shard_info info;
    uint64_t hash[2];
    check(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    const weft_component place = WEFT_COMPONENT(world, Place);
    const weft_shard_desc desc = {.key = place,
                                  .grid = {.dimensions = 2, .cells = {10, 10}, .most = {100, 100}}};
    check(weft_shard_create(world, &desc, &shard));
    weft_shard_info_get(shard, &info, sizeof info);
    for (int i = 0; i < 40; i++) {
        const Place at = {(float)(i * 37 % 100), (float)(i * 61 % 100)};
        if (!weft_shard_is_mine(shard, &at)) continue;
        const weft_entity e = weft_entity_create(world, WEFT_ARCHETYPE(world, info.gid, place));
        check(weft_entity_set(world, e, place, &at, sizeof at));
    }
    check(weft_shard_sync(shard));
    const weft_system_desc system = {
        .name = "walk", .run = walk, .over.rows.terms = {{info.gid}, {place, WEFT_WRITE}}};
    if (weft_system_create(world, &system).id == 0) check(WEFT_INVALID_ARGUMENT);
    for (int step = 0; step < 5; step++) check(weft_shard_step(shard, 1));
    check(weft_shard_hash(shard, hash));
    if (weft_ranks_rank() == 0)
        printf("hash %016llx ranks %u\n", (unsigned long long)hash[0], weft_ranks_count());
    weft_shard_destroy(shard);
    weft_world_destroy(world);
}

int main(int argc, char **argv)
{
    int rank = 0, level, is_over = 1;
    MPI_Comm half;
    MPI_Comm none = MPI_COMM_NULL;
    if (weft_ranks_start_in(&none) != WEFT_WRONG_PHASE) return 3; /* MPI is not there yet */
    __lsan_disable();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    if (weft_ranks_start_in(NULL) != WEFT_INVALID_ARGUMENT) MPI_Abort(MPI_COMM_WORLD, 3);
    check(weft_ranks_start_in(&half));
    __lsan_enable();
    run();
    (void)__lsan_do_recoverable_leak_check();
    weft_ranks_stop();
    MPI_Finalized(&is_over); /* MPI is the program's */
    if (is_over) return 4;
    MPI_Comm_free(&half);
    MPI_Finalize();
    fflush(NULL);
    _Exit(0); /* without the check at the end */
}
