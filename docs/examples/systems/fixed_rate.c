/* SPDX-License-Identifier: MIT */
/* fixed_rate.c: physics at a fixed rate below frames of any length, and the rest of time for
 * drawing. */
#include <stdio.h>
#include <weft/weft.h>

static void tick(weft_slice *slice, void *user)
{
    ++*(int *)user;
    if (*(int *)user == 1) printf("a tick is %g s long\n", (double)weft_slice_dt(slice));
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    int ticks = 0;
    weft_group_set(world, &(weft_group_desc){.name = "physics", .period = 0.25f});
    weft_system_create(world, &(weft_system_desc){.name = "tick",
                                                  .run = tick,
                                                  .user = &ticks,
                                                  .group = "physics"}); /* no rows: once per tick */

    const float frames[] = {0.1f, 0.1f, 0.1f, 0.75f}; /* a stutter at the end */
    for (int i = 0; i < 4; i++) {
        weft_world_step(world, frames[i]);
        printf("%d ticks, %.2f of the next\n", ticks, (double)weft_world_alpha(world, "physics"));
    }
    weft_world_destroy(world);
}

/* prints:
 * 0 ticks, 0.40 of the next
 * 0 ticks, 0.80 of the next
 * a tick is 0.25 s long
 * 1 ticks, 0.20 of the next
 * 4 ticks, 0.20 of the next
 */
