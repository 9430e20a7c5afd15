/* SPDX-License-Identifier: MIT */
/* timer.c: a timer runs a system once, later; a group can be paused, and its time stands still. */
#include <stdio.h>
#include <weft/weft.h>

static void explode(weft_slice *slice, void *user)
{
    (void)user;
    printf("boom in frame %d\n", (int)weft_slice_frame(slice).number);
}

static void burn(weft_slice *slice, void *user)
{
    (void)slice;
    ++*(int *)user;
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    int burnt = 0;
    weft_group_set(world, &(weft_group_desc){.name = "fuse"});
    weft_system_create(
        world, &(weft_system_desc){.name = "burn", .run = burn, .user = &burnt, .group = "fuse"});
    weft_system bomb = weft_system_create(
        world, &(weft_system_desc){.name = "explode", .run = explode, .flags = WEFT_SYSTEM_TIMER});
    weft_timer_set(world, bomb, 2.5);

    for (int frame = 1; frame <= 4; frame++) {
        if (frame == 2) weft_group_enable(world, "fuse", false);
        if (frame == 4) weft_group_enable(world, "fuse", true);
        weft_world_step(world, 1);
    }
    printf("burnt in %d of 4 frames\n", burnt);
    weft_world_destroy(world);
}

/* prints:
 * boom in frame 3
 * burnt in 2 of 4 frames
 */
