/* SPDX-License-Identifier: MIT */
/* trace_program.c: a small world whose trace check_trace.py reads: fused systems, a range, a system
 * of the owner, commands. Run as: trace_program WORKERS CAPACITY FRAMES [FILE]; without FILE the
 * environment decides, and FILE "-" forbids it. */
#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Place {
    float x;
} Place;
typedef struct Speed {
    float x;
} Speed;

static void move(weft_slice *slice, void *user)
{
    Place *place = weft_slice_write(slice, 0);
    const Speed *speed = weft_slice_read(slice, 1);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) place[i].x += speed[i].x;
    (void)user;
}

static void slow(weft_slice *slice, void *user)
{
    Speed *speed = weft_slice_write(slice, 0);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) speed[i].x *= 0.999f;
    (void)user;
}

static void nothing(weft_slice *slice, void *user)
{
    (void)slice, (void)user;
}

static void spawn(weft_slice *slice, void *user)
{
    const weft_archetype *archetype = user;
    weft_recorder_create_entity(weft_slice_recorder(slice), *archetype);
}

static int run(weft_job_pool *pool, const weft_world_desc *desc, int frames)
{
    weft_world *world;
    weft_result result = weft_world_create(desc, &world);
    if (result != WEFT_OK) {
        fprintf(stderr, "world: %s\n", weft_result_name(result));
        return 1;
    }
    weft_component place = WEFT_COMPONENT(world, Place), speed = WEFT_COMPONENT(world, Speed);
    weft_archetype archetype = weft_archetype_create(world, &place, 1);
    weft_entity_create_many(
        world, weft_archetype_create(world, (weft_component[]){place, speed}, 2), 50000, NULL);
    weft_system_create(
        world, &(weft_system_desc){.name = "move \"quoted\"",
                                   .run = move,
                                   .over.rows.terms = {{place, WEFT_WRITE}, {speed, WEFT_READ}}});
    weft_system_create(world, &(weft_system_desc){.name = "slow \xff",
                                                  .run = slow,
                                                  .over.rows.terms = {{speed, WEFT_WRITE}}});
    weft_system_create(world, &(weft_system_desc){.name = "indices",
                                                  .run = nothing,
                                                  .over = {.kind = WEFT_OVER_COUNT, .count = 40}});
    weft_system_create(world, &(weft_system_desc){.name = "spawn",
                                                  .run = spawn,
                                                  .user = &archetype,
                                                  .flags = WEFT_SYSTEM_MAIN_THREAD,
                                                  .effects = WEFT_RECORDS_CREATE});
    for (int i = 0; i < frames && result == WEFT_OK; i++) result = weft_world_step(world, 0.1f);
    if (result != WEFT_OK) fprintf(stderr, "step: %s\n", weft_world_error(world)->text);
    weft_world_destroy(world);
    weft_job_pool_destroy(pool);
    return result == WEFT_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    const char *file = argc > 4 ? argv[4] : NULL;
    if (file != NULL && strcmp(file, "-") == 0) file = "";
    const weft_job_pool_desc desc = {.worker_count = (uint32_t)atoi(argv[1]),
                                     .trace_capacity = (uint32_t)atoi(argv[2]),
                                     .is_always_parallel = true,
                                     .trace_file = file};
    weft_job_pool *pool;
    weft_result result = weft_job_pool_create(&desc, &pool);
    if (result != WEFT_OK) {
        fprintf(stderr, "pool: %s\n", weft_result_name(result));
        return 1;
    }
    return run(pool, &(weft_world_desc){.pool = pool}, atoi(argv[3]));
}
