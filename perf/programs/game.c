/* SPDX-License-Identifier: MIT */
/* game.c: the game on weft. To burn is a tag that comes and goes, a target is a handle that may be
 * dead, the score is a resource. Arrays hold what the grid and the choice of targets need. */
#include "game.h"

#include <stdlib.h>
#include <weft/finder.h>
#include <weft/grid.h>
#include <weft/type.h>
#include <weft/weft.h>

typedef struct Weapon {
    weft_entity target;
    uint32_t pause; /* steps until it hits again */
} Weapon;
static const weft_field weapon_fields[] = {WEFT_FIELD(Weapon, target), WEFT_FIELD(Weapon, pause)};
static const weft_type weapon_type = WEFT_TYPE(Weapon, weapon_fields);

typedef struct Game {
    weft_world *world;
    weft_component place, speed, push, fighter, health, life, weapon, burning, score;
    weft_archetype fighters;
    weft_query all;
    weft_grid *grid;
    weft_grid_view view;
    uint32_t count;
    float side;
    Place *at, *sorted; /* of fighters, by row; by place in the grid */
    Fighter *number;    /* by row */
    weft_entity *who;
} Game;

/* ---- who is where, and who is whose target ---- */

static void age(weft_slice *s, void *user)
{
    (void)user;
    Life *life = WEFT_WRITE_COLUMN(s, 0, Life);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) life[i].left--;
}

static void collect(weft_slice *s, void *user)
{
    Game *g = user;
    const Place *at = WEFT_READ_COLUMN(s, 0, Place);
    const Fighter *fighter = WEFT_READ_COLUMN(s, 1, Fighter);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        g->at[s->first + i] = at[i];
        g->number[s->first + i] = fighter[i];
        g->who[s->first + i] = weft_slice_entities(s)[i];
    }
}

static void sort(weft_slice *s, void *user)
{
    Game *g = user;
    weft_grid_points points = {
        .positions = g->at, .stride = sizeof(Place), .count = g->count, .sorted = g->sorted};
    weft_grid_build(g->grid, weft_slice_job(s), &points);
    weft_grid_view_get(g->grid, &g->view, sizeof g->view);
}

static void separate(weft_slice *s, void *user)
{
    const Game *g = user;
    Push *push = WEFT_WRITE_COLUMN(s, 0, Push);
    const Place *at = WEFT_READ_COLUMN(s, 1, Place);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        Push sum = {0, 0};
        weft_grid_run runs[WEFT_GRID_MAX_RUNS];
        uint32_t count = weft_grid_runs(g->grid, g->view.cell_of[s->first + i], runs);
        for (uint32_t r = 0; r < count; r++)
            for (uint32_t k = runs[r].begin; k < runs[r].end; k++)
                game_push(&sum, at[i], g->sorted[k]);
        push[i] = sum;
    }
}

static weft_entity nearest(const Game *g, uint32_t cell, const Fighter *fighter, Place at)
{
    weft_grid_run runs[WEFT_GRID_MAX_RUNS];
    uint32_t count = weft_grid_runs(g->grid, cell, runs);
    game_choice best = {REACH * REACH, UINT64_MAX, UINT32_MAX};
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t k = runs[r].begin; k < runs[r].end; k++) {
            uint32_t i = g->view.points[k];
            game_consider(&best, fighter, at, g->number[i], g->sorted[k], i);
        }
    return best.index == UINT32_MAX ? (weft_entity){0, 0} : g->who[best.index];
}

static void choose(weft_slice *s, void *user)
{
    const Game *g = user;
    Weapon *weapon = WEFT_WRITE_COLUMN(s, 0, Weapon);
    const Place *at = WEFT_READ_COLUMN(s, 1, Place);
    const Fighter *fighter = WEFT_READ_COLUMN(s, 2, Fighter);
    weft_finder places = weft_slice_finder(s, g->place);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        const Place *target = weft_finder_read(&places, weapon[i].target);
        if (target == NULL || game_square(at[i], *target) > REACH * REACH)
            weapon[i].target = nearest(g, g->view.cell_of[s->first + i], &fighter[i], at[i]);
    }
}

static void move(weft_slice *s, void *user)
{
    (void)user;
    Place *at = WEFT_WRITE_COLUMN(s, 0, Place);
    const Speed *speed = WEFT_READ_COLUMN(s, 1, Speed);
    const Push *push = WEFT_READ_COLUMN(s, 2, Push);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) game_move(&at[i], speed[i], push[i]);
}

static void bounce(weft_slice *s, void *user)
{
    const Game *g = user;
    Place *at = WEFT_WRITE_COLUMN(s, 0, Place);
    Speed *speed = WEFT_WRITE_COLUMN(s, 1, Speed);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        game_bounce(&at[i].x, &speed[i].x, g->side);
        game_bounce(&at[i].y, &speed[i].y, g->side);
    }
}

static void cool(weft_slice *s, void *user)
{
    (void)user;
    Weapon *weapon = WEFT_WRITE_COLUMN(s, 0, Weapon);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) weapon[i].pause -= weapon[i].pause > 0;
}

static void hit(weft_slice *s, void *user) /* SERIAL: two may have one target, which may be dead */
{
    const Game *g = user;
    Weapon *weapon = WEFT_WRITE_COLUMN(s, 0, Weapon);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        if (weapon[i].pause > 0) continue;
        Health *health = weft_slice_write_entity(s, weapon[i].target, g->health);
        if (health == NULL) continue;
        game_hurt(health, DAMAGE);
        weapon[i].pause = PAUSE;
    }
}

static void burn(weft_slice *s, void *user)
{
    const Game *g = user;
    Health *health = WEFT_WRITE_COLUMN(s, 0, Health);
    const Fighter *fighter = WEFT_READ_COLUMN(s, 1, Fighter);
    uint32_t tick = (uint32_t)weft_slice_frame(s).number;
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        game_hurt(&health[i], 1);
        if (game_goes_out(fighter[i], tick))
            weft_recorder_remove(weft_slice_recorder(s), weft_slice_entities(s)[i], g->burning);
    }
}

static void ignite(weft_slice *s, void *user) /* those that do not burn, or no longer */
{
    const Game *g = user;
    const Health *health = WEFT_READ_COLUMN(s, 0, Health);
    const Fighter *fighter = WEFT_READ_COLUMN(s, 1, Fighter);
    uint32_t tick = (uint32_t)weft_slice_frame(s).number;
    for (uint32_t i = 0; i < weft_slice_count(s); i++)
        if (game_ignites(fighter[i], health[i], tick))
            weft_recorder_add(weft_slice_recorder(s), weft_slice_entities(s)[i], g->burning);
}

static void die(weft_slice *s, void *user) /* SERIAL: all count in one score */
{
    const Game *g = user;
    const Health *health = WEFT_READ_COLUMN(s, 0, Health);
    const Life *life = WEFT_READ_COLUMN(s, 1, Life);
    const Fighter *fighter = WEFT_READ_COLUMN(s, 2, Fighter);
    Score *score = weft_slice_write_resource(s, g->score);
    for (uint32_t i = 0; i < weft_slice_count(s); i++)
        if (game_dies(health[i], life[i])) {
            game_count(score, fighter[i], health[i]);
            weft_recorder_destroy_entity(weft_slice_recorder(s), weft_slice_entities(s)[i]);
        }
}

static void bear(const Game *g, weft_recorder *r, uint32_t count, uint64_t *born)
{
    weft_slice rows;
    for (; count > 0; count -= rows.count) { /* of a refused call the step returns the error */
        if (weft_recorder_create_rows(r, g->fighters, count, &rows) != WEFT_OK) return;
        Place *at = WEFT_WRITE_COLUMN(&rows, 0, Place);
        Speed *speed = WEFT_WRITE_COLUMN(&rows, 1, Speed);
        Fighter *fighter = WEFT_WRITE_COLUMN(&rows, 3, Fighter);
        Health *health = WEFT_WRITE_COLUMN(&rows, 4, Health);
        Life *life = WEFT_WRITE_COLUMN(&rows, 5, Life);
        for (uint32_t i = 0; i < rows.count; i++) {
            fighter[i].number = (*born)++;
            health[i].points = HEALTH;
            game_begin(fighter[i].number, g->side, &at[i], &speed[i], &life[i]);
        }
    }
}

static void spawn(weft_slice *s, void *user) /* one for each that died */
{
    const Game *g = user;
    Score *score = weft_slice_write_resource(s, g->score);
    bear(g, weft_slice_recorder(s), (uint32_t)score->dead, &score->born);
    score->dead = 0;
}

/* ---- the world ---- */

static void add_eyes(Game *g)
{
    weft_system_create(
        g->world,
        &(weft_system_desc){.name = "age", .run = age, .over.rows.terms = {{g->life, WEFT_WRITE}}});
    weft_system_create(g->world,
                       &(weft_system_desc){.name = "collect",
                                           .run = collect,
                                           .user = g,
                                           .over.rows.terms = {{g->place}, {g->fighter}}});
    weft_system_create(g->world, &(weft_system_desc){.name = "sort",
                                                     .run = sort,
                                                     .user = g,
                                                     .flags = WEFT_SYSTEM_JOBS,
                                                     .after = {"collect"}});
    weft_system_create(g->world,
                       &(weft_system_desc){.name = "separate",
                                           .run = separate,
                                           .user = g,
                                           .over.rows.terms = {{g->push, WEFT_WRITE}, {g->place}},
                                           .after = {"sort"}});
    weft_system_create(
        g->world,
        &(weft_system_desc){.name = "choose",
                            .run = choose,
                            .user = g,
                            .over.rows.terms = {{g->weapon, WEFT_WRITE}, {g->place}, {g->fighter}},
                            .lookups = {{g->place, WEFT_READ}},
                            .after = {"sort"}});
}

static void add_moves(Game *g)
{
    weft_system_create(
        g->world,
        &(weft_system_desc){.name = "move",
                            .run = move,
                            .over.rows.terms = {{g->place, WEFT_WRITE}, {g->speed}, {g->push}}});
    weft_system_create(g->world, &(weft_system_desc){.name = "bounce",
                                                     .run = bounce,
                                                     .user = g,
                                                     .over.rows.terms = {{g->place, WEFT_WRITE},
                                                                         {g->speed, WEFT_WRITE}}});
    weft_system_create(g->world, &(weft_system_desc){.name = "cool",
                                                     .run = cool,
                                                     .over.rows.terms = {{g->weapon, WEFT_WRITE}}});
    weft_system_create(g->world, &(weft_system_desc){.name = "hit",
                                                     .run = hit,
                                                     .user = g,
                                                     .flags = WEFT_SYSTEM_SERIAL,
                                                     .over.rows.terms = {{g->weapon, WEFT_WRITE}},
                                                     .lookups = {{g->health, WEFT_WRITE}}});
}

static void add_fates(Game *g)
{
    weft_system_create(g->world,
                       &(weft_system_desc){.name = "burn",
                                           .run = burn,
                                           .user = g,
                                           .over.rows.terms = {{g->health, WEFT_WRITE},
                                                               {g->fighter},
                                                               {g->burning, WEFT_NO_ACCESS}},
                                           .effects = WEFT_RECORDS_REMOVE,
                                           .records = {g->burning}});
    weft_system_create(
        g->world,
        &(weft_system_desc){
            .name = "ignite",
            .run = ignite,
            .user = g,
            .over.rows.terms = {{g->health}, {g->fighter}, {g->burning, .match = WEFT_NONE}},
            .effects = WEFT_RECORDS_ADD,
            .records = {g->burning}});
    weft_system_create(
        g->world, &(weft_system_desc){.name = "die",
                                      .run = die,
                                      .user = g,
                                      .flags = WEFT_SYSTEM_SERIAL,
                                      .over.rows.terms = {{g->health}, {g->life}, {g->fighter}},
                                      .resources = {{g->score, WEFT_WRITE}},
                                      .effects = WEFT_RECORDS_DESTROY});
    weft_system_create(g->world, &(weft_system_desc){.name = "spawn",
                                                     .run = spawn,
                                                     .user = g,
                                                     .resources = {{g->score, WEFT_WRITE}},
                                                     .effects = WEFT_RECORDS_CREATE});
}

static void add_types(Game *g)
{
    weft_world *world = g->world;
    g->place = WEFT_COMPONENT(world, Place);
    g->speed = WEFT_COMPONENT(world, Speed);
    g->push = WEFT_COMPONENT(world, Push);
    g->fighter = WEFT_COMPONENT(world, Fighter);
    g->health = WEFT_COMPONENT(world, Health);
    g->life = WEFT_COMPONENT(world, Life);
    g->weapon = weft_component_create(world, &(weft_component_desc){.type = &weapon_type});
    g->burning = WEFT_TAG(world, Burning);
    g->score = WEFT_COMPONENT_FLAGS(world, Score, WEFT_RESOURCE);
    g->fighters = WEFT_ARCHETYPE(world, g->place, g->speed, g->push, g->fighter, g->health, g->life,
                                 g->weapon);
    weft_query_desc all = {
        .terms = {{g->fighter}, {g->place}, {g->speed}, {g->health}, {g->life}, {g->weapon}}};
    g->all = weft_query_create(world, &all);
}

static void add_fighters(Game *g)
{
    Score *score = weft_resource_write(g->world, g->score);
    weft_recorder *r;
    if (weft_recorder_create(g->world, &r) != WEFT_OK) return;
    bear(g, r, g->count, &score->born);
    weft_recorder_play(r);
    weft_recorder_destroy(r);
}

static void game_close(void *side)
{
    Game *g = side;
    weft_world_destroy(g->world);
    weft_grid_destroy(g->grid);
    free(g->at);
    free(g->sorted);
    free(g->number);
    free(g->who);
    free(g);
}

static void *game_open(uint32_t size, uint32_t workers)
{
    Game *g = calloc(1, sizeof *g);
    if (g == NULL) return NULL;
    g->count = size;
    g->side = game_side(size);
    g->at = calloc(size, sizeof *g->at);
    g->sorted = calloc(size, sizeof *g->sorted);
    g->number = calloc(size, sizeof *g->number);
    g->who = calloc(size, sizeof *g->who);
    double side = (double)g->side;
    weft_grid_desc box = {.dimensions = 2, .most = {side, side}, .reach = (double)REACH};
    if (weft_grid_create(&box, &g->grid) != WEFT_OK ||
        weft_world_create(&(weft_world_desc){.workers = workers}, &g->world) != WEFT_OK) {
        game_close(g);
        return NULL;
    }
    add_types(g);
    add_fighters(g);
    add_eyes(g);
    add_moves(g);
    add_fates(g);
    return g;
}

static void game_step(void *side)
{
    weft_world_step(((Game *)side)->world, 1);
}

static uint64_t game_content(void *side)
{
    Game *g = side;
    uint64_t sum = game_sum_score(weft_resource_read(g->world, g->score));
    weft_cursor c = weft_query_begin(g->world, g->all);
    while (weft_query_next(&c)) {
        const Fighter *fighter = WEFT_READ_COLUMN(&c.slice, 0, Fighter);
        const Place *at = WEFT_READ_COLUMN(&c.slice, 1, Place);
        const Speed *speed = WEFT_READ_COLUMN(&c.slice, 2, Speed);
        const Health *health = WEFT_READ_COLUMN(&c.slice, 3, Health);
        const Life *life = WEFT_READ_COLUMN(&c.slice, 4, Life);
        const Weapon *weapon = WEFT_READ_COLUMN(&c.slice, 5, Weapon);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++) {
            const Fighter *target = weft_entity_read(g->world, weapon[i].target, g->fighter);
            sum += game_sum_weapon(
                game_sum(fighter[i], at[i], speed[i], health[i], life[i]), weapon[i].pause,
                target != NULL ? target->number : UINT64_MAX,
                weft_entity_has(g->world, weft_slice_entities(&c.slice)[i], g->burning));
        }
    }
    return sum;
}

static uint64_t game_hash(void *side)
{
    return weft_world_hash(((Game *)side)->world, WEFT_HASH_CONTENT);
}

const program_side game_weft = {game_open, game_step, game_content, game_hash, game_close};
