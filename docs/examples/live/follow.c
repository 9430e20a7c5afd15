/* SPDX-License-Identifier: MIT */
/* follow.c: a document is saved while the world runs: the world has the change, and keeps what the
 * run has made. */
#include <stdio.h>
#include <weft/live.h>
#include <weft/weft.h>

typedef struct {
    float speed, fuel;
} Car;
static const weft_field car_fields[] = {WEFT_FIELD(Car, speed), WEFT_FIELD(Car, fuel)};
static const weft_type car_type = WEFT_TYPE(Car, car_fields);

static void save(int speed)
{
    FILE *file = fopen("race.weft", "w");
    if (file == NULL) return;
    fprintf(file,
            "{\"weft\": 1, \"objects\": {\"car\": {\"Car\": {\"speed\": %d, \"fuel\": 60}}}}\n",
            speed);
    fclose(file);
}

static void drive(weft_slice *slice, void *user)
{
    (void)user;
    Car *car = WEFT_WRITE_COLUMN(slice, 0, Car);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) car[i].fuel -= weft_slice_dt(slice);
}

int main(void)
{
    weft_world *world;
    weft_live *live;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component type = weft_component_create(world, &(weft_component_desc){.type = &car_type});
    weft_system_create(world, &(weft_system_desc){.name = "drive",
                                                  .run = drive,
                                                  .over.rows.terms = {{type, WEFT_WRITE}}});
    save(80);
    /* A game leaves out without_thread: a thread watches the file, and refresh is not called. */
    const weft_live_desc desc = {
        .paths = (const char *[]){"race.weft"}, .path_count = 1, .without_thread = true};
    if (weft_live_start(world, &desc, &live) != WEFT_OK) return 1;
    for (int frame = 0; frame < 20; frame++) {
        if (frame == 10) {
            save(120); /* an editor, meanwhile */
            weft_live_refresh(live);
        }
        weft_live_apply(live, 500000, NULL, 0); /* at most half a millisecond */
        weft_world_step(world, 1);
        const Car *car = weft_entity_read(world, weft_live_entity(live, "car"), type);
        if (frame % 10 == 9 && car != NULL)
            printf("frame %d: speed %g, fuel %g\n", frame + 1, (double)car->speed,
                   (double)car->fuel);
    }
    weft_live_stop(live);
    weft_world_destroy(world);
    remove("race.weft");
}

/* prints:
 * frame 10: speed 80, fuel 50
 * frame 20: speed 120, fuel 40
 */
