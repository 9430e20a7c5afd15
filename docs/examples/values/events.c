/* SPDX-License-Identifier: MIT */
/* events.c: events: a buffer of the world that one system fills and another one empties. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    int who, damage;
} Hit;
typedef struct {
    int cooldown;
} Gun;

static weft_component hits, gun;

static void shoot(weft_slice *slice, void *user)
{
    (void)user;
    Gun *g = WEFT_WRITE_COLUMN(slice, 0, Gun);
    weft_buffers events = weft_slice_write_resource_buffer(slice, hits);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        if (--g[i].cooldown == 0)
            weft_buffers_append(&events, 0, &(Hit){(int)(slice->first + i), 5}, 1);
}

static void report(weft_slice *slice, void *user)
{
    (void)user;
    weft_buffers events = weft_slice_write_resource_buffer(slice, hits);
    const Hit *hit = weft_buffers_read(&events, 0);
    for (uint32_t i = 0; i < weft_buffers_length(&events, 0); i++)
        printf("gun %d hits for %d\n", hit[i].who, hit[i].damage);
    weft_buffers_resize(&events, 0, 0);
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    gun = WEFT_COMPONENT(world, Gun);
    hits =
        weft_component_create(world, &(weft_component_desc){.name = "hits",
                                                            .size = sizeof(Hit),
                                                            .alignment = _Alignof(Hit),
                                                            .flags = WEFT_BUFFER | WEFT_RESOURCE});
    Gun guns[] = {{3}, {1}, {3}};
    weft_entity_create_filled(world, WEFT_ARCHETYPE(world, gun), WEFT_VALUES({gun, guns}), 3, NULL);

    weft_system_create(world, &(weft_system_desc){.name = "shoot",
                                                  .run = shoot,
                                                  .flags = WEFT_SYSTEM_SERIAL,
                                                  .over.rows.terms = {{gun, WEFT_WRITE}},
                                                  .resources = {{hits, WEFT_WRITE}}});
    weft_system_create(
        world,
        &(weft_system_desc){.name = "report", .run = report, .resources = {{hits, WEFT_WRITE}}});
    for (int i = 1; i <= 3; i++) {
        printf("frame %d\n", i);
        weft_world_step(world, 1);
    }
    weft_world_destroy(world);
}

/* prints:
 * frame 1
 * gun 1 hits for 5
 * frame 2
 * frame 3
 * gun 0 hits for 5
 * gun 2 hits for 5
 */
