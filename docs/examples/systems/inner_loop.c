/* SPDX-License-Identifier: MIT */
/* inner_loop.c: a system that runs a parallel loop of its own, over things that are not
 * entities. */
#include <stdio.h>
#include <weft/weft.h>

enum { SIDE = 512 };
static float now[SIDE][SIDE], next[SIDE][SIDE];

static int blur_rows(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job;
    (void)argument;
    for (uint32_t y = begin; y < end; y++)
        for (uint32_t x = 0; x < SIDE; x++)
            next[y][x] =
                (now[y][x] * 2 + now[(y + 1) % SIDE][x] + now[(y + SIDE - 1) % SIDE][x]) / 4;
    return 0;
}

static void blur(weft_slice *slice, void *user)
{
    (void)user;
    static weft_job_cost cost;
    weft_job_for(
        weft_slice_job(slice),
        &(weft_job_for_desc){.fn = blur_rows, .count = SIDE, .cost = &cost, .name = "blur"}, NULL);
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_system_create(world,
                       &(weft_system_desc){.name = "blur", .run = blur, .flags = WEFT_SYSTEM_JOBS});
    now[100][7] = 8;
    weft_world_step(world, 1);
    printf("%g %g %g\n", (double)next[99][7], (double)next[100][7], (double)next[101][7]);
    weft_world_destroy(world);
}

/* prints:
 * 2 4 2
 */
