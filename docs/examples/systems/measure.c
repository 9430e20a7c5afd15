/* SPDX-License-Identifier: MIT */
/* measure.c: what a step did: rows, calls and times per system, and whether anything was
 * declared wrongly. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    double value;
} Number;

static void work(weft_slice *slice, void *user)
{
    (void)user;
    Number *n = WEFT_WRITE_COLUMN(slice, 0, Number);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) n[i].value = n[i].value * 0.5 + 1;
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component number = WEFT_COMPONENT(world, Number);
    weft_entity_create_many(world, WEFT_ARCHETYPE(world, number), 50000, NULL);
    weft_system system = weft_system_create(
        world, &(weft_system_desc){
                   .name = "work", .run = work, .over.rows.terms = {{number, WEFT_WRITE}}});
    weft_schedule_set(world, &(weft_schedule_desc){.is_measured = true});
    weft_world_step(world, 1);

    weft_system_stats stats;
    weft_system_stats_get(world, system, &stats, sizeof stats);
    printf("%d rows; took time: %d\n", (int)stats.rows, stats.time_ns > 0);
    weft_world_destroy(world);
}

/* prints:
 * 50000 rows; took time: 1
 */
