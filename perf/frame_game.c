/* SPDX-License-Identifier: MIT */
/* frame_game.c: the kernels of frame.game, and its systems in order.
 *
 * Both sides run the same functions over columns; what they do with rows that come and go is
 * theirs. */
#include "frame_game.h"

#include <string.h>

const uint32_t game_part_bytes[PARTS] = {
    [PLACE] = 8, [SPEED] = 8,  [PUSH] = 8,   [HULL] = 4,  [SHIELD] = 4, [ENERGY] = 4,
    [HEAT] = 4,  [RELOAD] = 4, [BRAIN] = 4,  [SCORE] = 4, [LIFE] = 4,   [HIT] = 4,
    [GLOW] = 4,  [SPIN] = 4,   [SHAPE] = 16, [SEEN] = 4};
const uint32_t game_kind_parts[KINDS] = {
    [SHIP] = 1u << PLACE | 1u << SPEED | 1u << PUSH | 1u << HULL | 1u << SHIELD | 1u << ENERGY |
             1u << HEAT | 1u << RELOAD | 1u << BRAIN | 1u << SCORE | 1u << SHAPE | 1u << SEEN,
    [BULLET] = 1u << PLACE | 1u << SPEED | 1u << LIFE | 1u << HIT | 1u << SHAPE | 1u << SEEN,
    [SPARK] = 1u << PLACE | 1u << SPEED | 1u << LIFE | 1u << GLOW | 1u << SHAPE | 1u << SEEN,
    [PICKUP] = 1u << PLACE | 1u << SPIN | 1u << GLOW | 1u << SHAPE | 1u << SEEN};

/* ---- kernels ---- */

static float wrap(float value)
{
    return value < 0 ? value + AREA : value >= AREA ? value - AREA : value;
}

static void k_think(void *const *c, uint32_t n)
{
    uint32_t *restrict brain = c[0];
    vec2 *restrict push = c[1];
    for (uint32_t i = 0; i < n; i++) {
        brain[i] = brain[i] * 1664525u + 1013904223u;
        push[i].x += (float)(brain[i] >> 24) - 127.5f;
        push[i].y += (float)(brain[i] >> 16 & 255) - 127.5f;
    }
}

static void k_accelerate(void *const *c, uint32_t n)
{
    vec2 *restrict speed = c[0];
    const vec2 *restrict push = c[1];
    for (uint32_t i = 0; i < n; i++) {
        speed[i].x += push[i].x * DT;
        speed[i].y += push[i].y * DT;
    }
}

static void k_drag(void *const *c, uint32_t n)
{
    vec2 *restrict speed = c[0];
    for (uint32_t i = 0; i < n; i++) {
        speed[i].x *= 0.98f;
        speed[i].y *= 0.98f;
    }
}

static void k_calm(void *const *c, uint32_t n)
{
    vec2 *restrict push = c[0];
    for (uint32_t i = 0; i < n; i++) {
        push[i].x *= 0.9f;
        push[i].y *= 0.9f;
    }
}

static void k_move(void *const *c, uint32_t n)
{
    vec2 *restrict place = c[0];
    const vec2 *restrict speed = c[1];
    for (uint32_t i = 0; i < n; i++) {
        place[i].x = wrap(place[i].x + speed[i].x * DT);
        place[i].y = wrap(place[i].y + speed[i].y * DT);
    }
}

/* A value that returns to 100, to 0, or runs down. */
static void k_recover(void *const *c, uint32_t n)
{
    float *restrict value = c[0];
    for (uint32_t i = 0; i < n; i++) value[i] += (100.0f - value[i]) * 0.01f;
}

static void k_decay(void *const *c, uint32_t n)
{
    float *restrict value = c[0];
    for (uint32_t i = 0; i < n; i++) value[i] *= 0.97f;
}

static void k_tick(void *const *c, uint32_t n)
{
    float *restrict value = c[0];
    for (uint32_t i = 0; i < n; i++) value[i] -= DT;
}

static void k_turn(void *const *c, uint32_t n)
{
    float *restrict value = c[0];
    for (uint32_t i = 0; i < n; i++) {
        value[i] += 0.05f;
        value[i] = value[i] > 6.2831853f ? value[i] - 6.2831853f : value[i];
    }
}

static void k_feed(void *const *c, uint32_t n) /* shields from energy */
{
    float *restrict shield = c[0];
    const float *restrict energy = c[1];
    for (uint32_t i = 0; i < n; i++) shield[i] += energy[i] * 0.001f;
}

static void k_warm(void *const *c, uint32_t n) /* heat from speed */
{
    float *restrict heat = c[0];
    const vec2 *restrict speed = c[1];
    for (uint32_t i = 0; i < n; i++)
        heat[i] += (speed[i].x * speed[i].x + speed[i].y * speed[i].y) * 1e-4f;
}

static void k_mend(void *const *c, uint32_t n)
{
    int32_t *restrict hull = c[0];
    for (uint32_t i = 0; i < n; i++) hull[i] += hull[i] < 1000;
}

static void k_revive(void *const *c, uint32_t n) /* a ship that is lost comes back elsewhere */
{
    int32_t *restrict hull = c[0];
    vec2 *restrict place = c[1];
    const uint32_t *restrict brain = c[2];
    for (uint32_t i = 0; i < n; i++) {
        if (hull[i] > 0) continue;
        hull[i] = 1000;
        place[i] = (vec2){(float)(brain[i] >> 22), (float)(brain[i] >> 12 & 1023)};
    }
}

static void k_earn(void *const *c, uint32_t n)
{
    float *restrict score = c[0];
    const int32_t *restrict hull = c[1];
    for (uint32_t i = 0; i < n; i++) score[i] += (float)hull[i] * 1e-3f;
}

static void k_shape(void *const *c, uint32_t n)
{
    shape *restrict out = c[0];
    const vec2 *restrict place = c[1];
    const vec2 *restrict speed = c[2];
    for (uint32_t i = 0; i < n; i++)
        out[i] = (shape){{speed[i].x * 0.01f, speed[i].y * 0.01f, place[i].x, place[i].y}};
}

static void k_shape_turned(void *const *c, uint32_t n)
{
    shape *restrict out = c[0];
    const vec2 *restrict place = c[1];
    const float *restrict spin = c[2];
    for (uint32_t i = 0; i < n; i++)
        out[i] = (shape){{spin[i], 1.0f - spin[i], place[i].x, place[i].y}};
}

static void k_cull(void *const *c, uint32_t n)
{
    uint32_t *restrict seen = c[0];
    const shape *restrict at = c[1];
    for (uint32_t i = 0; i < n; i++) { /* no branches: half of all places are seen, at random */
        uint32_t x = (at[i].m[2] > 256) & (at[i].m[2] < 768);
        uint32_t y = (at[i].m[3] > 256) & (at[i].m[3] < 768);
        seen[i] = x & y;
    }
}

/* ---- the grid, hits, births ---- */

static uint32_t cell_of(vec2 place)
{
    const float scale = CELLS / AREA;
    uint32_t x = (uint32_t)(place.x * scale) % CELLS, y = (uint32_t)(place.y * scale) % CELLS;
    return y * CELLS + x;
}

void game_grid_add(grid *g, const vec2 *place, uint32_t n, uint32_t first)
{
    if (first == 0) memset(g->head, 0, sizeof g->head);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *head = &g->head[cell_of(place[i])];
        g->place[first + i] = place[i];
        g->next[first + i] = *head;
        *head = first + i + 1;
    }
}

void game_collide(const grid *g, const vec2 *place, uint32_t *hit, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t ship = g->head[cell_of(place[i])]; ship != 0; ship = g->next[ship - 1]) {
            float x = g->place[ship - 1].x - place[i].x, y = g->place[ship - 1].y - place[i].y;
            if (x * x + y * y < 1.0f) hit[i] = ship - 1;
        }
}

bool game_fires(float *reload, const float *energy, uint32_t number)
{
    if (*reload > 0 || *energy < 10.0f) return false;
    *reload = 0.4f + (float)(number % 16) * 0.02f;
    return true;
}

void game_bullet_make(const newborn *out, uint32_t at, vec2 place, vec2 speed)
{
    float length = speed.x < 0 ? -speed.x : speed.x;
    float scale = 120.0f / (length + (speed.y < 0 ? -speed.y : speed.y) + 1.0f);
    vec2 ahead = {speed.x * scale + 60.0f, speed.y * scale - 30.0f};
    out->place[at] =
        (vec2){wrap(place.x + ahead.x * 0.05f + 1.5f), wrap(place.y + ahead.y * 0.05f)};
    out->speed[at] = ahead;
    out->life[at] = 1.0f;
    out->hit[at] = NO_HIT;
}

void game_spark_make(const newborn *out, uint32_t at, vec2 place, uint32_t number)
{
    out->place[at] = place;
    out->speed[at] = (vec2){(float)(number * 37 % 64) - 32.0f, (float)(number * 91 % 64) - 32.0f};
    out->life[at] = 0.3f;
    out->glow[at] = 1.0f;
}

uint32_t game_brain_of(uint32_t ship)
{
    return ship * 2654435761u + 12345u;
}

vec2 game_place_of(uint32_t ship)
{
    return (vec2){(float)(game_brain_of(ship) >> 22), (float)(game_brain_of(ship) >> 12 & 1023)};
}

/* ---- the systems ---- */

const game_system game_systems[SYSTEMS] = {
    {"think", k_think, {BRAIN, PUSH}, 2, 2, 0},
    {"accelerate", k_accelerate, {SPEED, PUSH}, 2, 1, 0},
    {"calm", k_calm, {PUSH}, 1, 1, 0},
    {"drag ships", k_drag, {SPEED, PUSH}, 2, 1, 0},
    {"move", k_move, {PLACE, SPEED}, 2, 1, 0},
    {"recover energy", k_recover, {ENERGY}, 1, 1, 0},
    {"feed shields", k_feed, {SHIELD, ENERGY}, 2, 1, 0},
    {"shields leak", k_decay, {SHIELD}, 1, 1, 0},
    {"warm", k_warm, {HEAT, SPEED}, 2, 1, 0},
    {"cool", k_decay, {HEAT}, 1, 1, 0},
    {"reload", k_tick, {RELOAD}, 1, 1, 0},
    {"mend", k_mend, {HULL}, 1, 1, 0},
    {"earn", k_earn, {SCORE, HULL}, 2, 1, 0},
    {"forget", k_decay, {SCORE}, 1, 1, 0},
    {"age", k_tick, {LIFE}, 1, 1, 0},
    {"sparks slow down", k_drag, {SPEED, GLOW}, 2, 1, 0},
    {"sparks fade", k_decay, {GLOW, LIFE}, 2, 1, 0},
    {"pickups turn", k_turn, {SPIN}, 1, 1, 0},
    {"pickups fade", k_decay, {GLOW, SPIN}, 2, 1, 0},
    {"grid", NULL, {PLACE, BRAIN}, 2, 0, MAPS},
    {"collide", NULL, {HIT, PLACE}, 2, 1, COLLIDES},
    {"damage", NULL, {HIT}, 1, 0, DAMAGES},
    {"revive", k_revive, {HULL, PLACE, BRAIN}, 3, 2, 0},
    {"shapes of ships", k_shape, {SHAPE, PLACE, SPEED, BRAIN}, 4, 1, 0},
    {"shapes of bullets", k_shape, {SHAPE, PLACE, SPEED, HIT}, 4, 1, 0},
    {"shapes of sparks", k_shape, {SHAPE, PLACE, SPEED, GLOW}, 4, 1, 0},
    {"shapes of pickups", k_shape_turned, {SHAPE, PLACE, SPIN}, 3, 1, 0},
    {"cull", k_cull, {SEEN, SHAPE}, 2, 1, 0},
    {"hud", NULL, {SCORE}, 1, 0, SHOWS},
    {"minimap", NULL, {SCORE, SEEN}, 2, 0, SHOWS},
    {"recover shields", k_recover, {SHIELD, HULL}, 2, 1, 0},
    {"cool guns", k_decay, {HEAT, RELOAD}, 2, 1, 0},
    {"spend energy", k_decay, {ENERGY, HEAT}, 2, 1, 0},
    {"mend again", k_mend, {HULL, SHIELD}, 2, 1, 0},
    {"boost", k_accelerate, {SPEED, PUSH, ENERGY}, 3, 1, 0},
    {"earn more", k_earn, {SCORE, HULL, SHIELD}, 3, 1, 0},
    {"fire", NULL, {RELOAD, ENERGY, PLACE, SPEED}, 4, 1, FIRES},
    {"burst", NULL, {HIT, PLACE}, 2, 0, BURSTS},
    {"bullets die", NULL, {LIFE, HIT}, 2, 0, KILLS},
    {"sparks die", NULL, {LIFE, GLOW}, 2, 0, KILLS},
};
