/* SPDX-License-Identifier: MIT */
/* rollback.c: go back in time: snapshots copy only what changed, and the same future follows. */
#include <stdio.h>
#include <weft/snapshot.h>
#include <weft/weft.h>

typedef struct {
    uint32_t seed;
} Dice;

static void roll(weft_slice *slice, void *user)
{
    (void)user;
    Dice *d = WEFT_WRITE_COLUMN(slice, 0, Dice);
    const weft_entity *e = weft_slice_entities(slice);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        d[i].seed = d[i].seed * 1664525u + 1013904223u;
        if (d[i].seed >> 28 == 0) weft_recorder_destroy_entity(weft_slice_recorder(slice), e[i]);
    }
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component dice = WEFT_COMPONENT(world, Dice);
    Dice start[1000];
    for (uint32_t i = 0; i < 1000; i++) start[i].seed = i * 7919;
    weft_entity_create_filled(world, WEFT_ARCHETYPE(world, dice), WEFT_VALUES({dice, start}), 1000,
                              NULL);
    weft_system_create(world, &(weft_system_desc){.name = "roll",
                                                  .run = roll,
                                                  .over.rows.terms = {{dice, WEFT_WRITE}},
                                                  .effects = WEFT_RECORDS_DESTROY,
                                                  .destroys = {dice}});
    for (int i = 0; i < 5; i++) weft_world_step(world, 1);

    weft_snapshot *before;
    if (weft_snapshot_take(world, NULL, &before) != WEFT_OK) return 1;
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 10; i++) weft_world_step(world, 1);
        hash[k] = weft_world_hash(world, WEFT_HASH_LAYOUT);
        weft_snapshot_restore(world, before); /* the dead live again, with their handles */
    }
    printf("the same ten steps: %d\n", hash[0] == hash[1]);
    weft_snapshot_destroy(before);
    weft_world_destroy(world);
}

/* prints:
 * the same ten steps: 1
 */
