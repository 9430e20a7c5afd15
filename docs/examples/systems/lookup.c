/* SPDX-License-Identifier: MIT */
/* lookup.c: read another entity in a system: declare the look-up, then use a finder. */
#include <stdio.h>
#include <weft/finder.h>
#include <weft/type.h>
#include <weft/weft.h>

typedef struct {
    float x;
} Position;
typedef struct {
    weft_entity target;
} Homing;

static weft_component position, homing;

static void chase(weft_slice *slice, void *user)
{
    (void)user;
    const Homing *h = WEFT_READ_COLUMN(slice, 0, Homing);
    const weft_entity *e = weft_slice_entities(slice);
    weft_finder find = weft_slice_finder(slice, position);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        const Position *goal = weft_finder_read(&find, h[i].target); /* NULL: dead, or has none */
        Position *mine = weft_slice_write_entity(slice, e[i], position);
        if (goal != NULL && mine != NULL) mine->x += (goal->x - mine->x) / 2;
    }
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    position = WEFT_COMPONENT(world, Position);
    homing = weft_component_create(
        world,
        &(weft_component_desc){.name = "Homing",
                               .size = sizeof(Homing),
                               .alignment = _Alignof(Homing),
                               .field_count = 1,
                               .fields = (weft_field[]){WEFT_FIELD(
                                   Homing, target)}}); /* described: saved and copied right */

    weft_entity plane = weft_entity_create(world, WEFT_ARCHETYPE(world, position));
    weft_entity rocket = weft_entity_create(world, WEFT_ARCHETYPE(world, position, homing));
    WEFT_SET(world, plane, position, Position, {64});
    WEFT_SET(world, rocket, homing, Homing, {plane});
    weft_system_create(
        world,
        &(weft_system_desc){.name = "chase",
                            .run = chase,
                            .over.rows.terms = {{homing}},
                            .lookups = {{position, WEFT_WRITE}},
                            .flags = WEFT_SYSTEM_SERIAL}); /* slices may write the same entity */

    for (int i = 0; i < 3; i++) {
        weft_world_step(world, 1);
        const Position *p = weft_entity_read(world, rocket, position);
        printf("rocket at %g\n", (double)p->x);
    }
    weft_world_destroy(world);
}

/* prints:
 * rocket at 32
 * rocket at 48
 * rocket at 56
 */
