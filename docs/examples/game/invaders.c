/* SPDX-License-Identifier: MIT */
/* invaders.c: a small game without a screen: a cannon, shots, invaders; systems, commands, a
 * resource, random numbers. */
#include <stdio.h>
#include <weft/random.h>
#include <weft/weft.h>

typedef struct {
    int x, y;
} Place;
typedef struct {
    int score, shots;
} Game;

static weft_component place, shot, invader, game;
static weft_archetype shots;
static weft_query invaders;

static void fire(weft_slice *slice, void *user) /* once per step */
{
    (void)user;
    Game *g = weft_slice_write_resource(slice, game);
    weft_random random = weft_random_of(7, 0, (uint32_t)weft_slice_frame(slice).number, 0);
    weft_recorder *r = weft_slice_recorder(slice);
    weft_entity e = weft_recorder_create_entity(r, shots);
    weft_recorder_set(r, e, place, &(Place){(int)weft_random_below(&random, 20), 0}, sizeof(Place));
    g->shots++;
}

static void rise(weft_slice *slice, void *user)
{
    (void)user;
    Place *p = WEFT_WRITE_COLUMN(slice, 0, Place);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) p[i].y++;
}

static void hit(weft_slice *slice, void *user) /* each shot looks at all invaders */
{
    (void)user;
    Game *g = weft_slice_write_resource(slice, game);
    const Place *p = WEFT_READ_COLUMN(slice, 0, Place);
    weft_recorder *r = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        if (p[i].y > 12) weft_recorder_destroy_entity(r, weft_slice_entities(slice)[i]);
        weft_cursor c = weft_slice_query(slice, invaders);
        while (weft_query_next(&c)) {
            const Place *them = WEFT_READ_COLUMN(&c.slice, 0, Place);
            for (uint32_t k = 0; k < weft_slice_count(&c.slice); k++) {
                if (them[k].x != p[i].x || them[k].y != p[i].y) continue;
                weft_recorder_destroy_entity(r, weft_slice_entities(&c.slice)[k]);
                g->score += 10;
            }
        }
    }
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    place = WEFT_COMPONENT(world, Place);
    shot = WEFT_TAG(world, Shot);
    invader = WEFT_TAG(world, Invader);
    game = WEFT_COMPONENT_FLAGS(world, Game, WEFT_RESOURCE);
    shots = WEFT_ARCHETYPE(world, place, shot);
    invaders = weft_query_create(world, &(weft_query_desc){.terms = {{place}, {invader}}});
    Place rows[40];
    for (int i = 0; i < 40; i++) rows[i] = (Place){i % 20, 8 + i / 20};
    weft_entity_create_filled(world, WEFT_ARCHETYPE(world, place, invader),
                              WEFT_VALUES({place, rows}), 40, NULL);

    weft_system_create(world, &(weft_system_desc){.name = "fire",
                                                  .run = fire,
                                                  .resources = {{game, WEFT_WRITE}},
                                                  .effects = WEFT_RECORDS_CREATE,
                                                  .records = {place, shot}});
    weft_system_create(world, &(weft_system_desc){.name = "rise",
                                                  .run = rise,
                                                  .over.rows.terms = {{place, WEFT_WRITE},
                                                                      {shot, WEFT_NO_ACCESS}}});
    weft_system_create(world,
                       &(weft_system_desc){.name = "hit",
                                           .run = hit,
                                           .over.rows.terms = {{place}, {shot, WEFT_NO_ACCESS}},
                                           .queries = {invaders},
                                           .resources = {{game, WEFT_WRITE}},
                                           .flags = WEFT_SYSTEM_SERIAL,
                                           .effects = WEFT_RECORDS_DESTROY});
    for (int frame = 0; frame < 100; frame++)
        if (weft_world_step(world, 1 / 60.0f) != WEFT_OK) puts(weft_world_error(world)->text);

    const Game *g = weft_resource_read(world, game);
    int left = (int)weft_query_count(world, invaders);
    printf("%d shots, score %d, %d invaders left\n", g->shots, g->score, left);
    weft_world_destroy(world);
}

/* prints:
 * 100 shots, score 400, 0 invaders left
 */
