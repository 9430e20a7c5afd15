/* SPDX-License-Identifier: MIT */
/* bench_game.c: frame.game: a frame of 40 systems over 20,000 ships, their bullets, the sparks of
 * hits, and pickups: moving, aiming, firing, colliding through a grid, dying, spawning, timers,
 * transforms, what is drawn. Raw: the same kernels in order over arrays in plain C, where what dies
 * is filled by the last row. After the warm-up both have the same populations.
 */
#include "bench.h"

#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHIPS = 20000, PICKUPS = 2000, CELLS = 128, SPARKS = 4, WARM_UP = 90, TERMS = 4 };
#define AREA 1024.0f
#define DT (1.0f / 60.0f)
#define NO_HIT UINT32_MAX

/* Components; all ships have the first ones. */
enum {
    PLACE,
    SPEED,
    PUSH,
    HULL,
    SHIELD,
    ENERGY,
    HEAT,
    RELOAD,
    BRAIN,
    SCORE,
    LIFE,
    HIT,
    GLOW,
    SPIN,
    SHAPE,
    SEEN,
    PARTS
};
enum { SHIP, BULLET, SPARK, PICKUP, KINDS };

typedef struct vec2 {
    float x, y;
} vec2;

typedef struct shape {
    float m[4];
} shape;

static const uint32_t part_bytes[PARTS] = {
    [PLACE] = 8, [SPEED] = 8,  [PUSH] = 8,   [HULL] = 4,  [SHIELD] = 4, [ENERGY] = 4,
    [HEAT] = 4,  [RELOAD] = 4, [BRAIN] = 4,  [SCORE] = 4, [LIFE] = 4,   [HIT] = 4,
    [GLOW] = 4,  [SPIN] = 4,   [SHAPE] = 16, [SEEN] = 4};
static const uint32_t kind_parts[KINDS] = {
    [SHIP] = 1u << PLACE | 1u << SPEED | 1u << PUSH | 1u << HULL | 1u << SHIELD | 1u << ENERGY |
             1u << HEAT | 1u << RELOAD | 1u << BRAIN | 1u << SCORE | 1u << SHAPE | 1u << SEEN,
    [BULLET] = 1u << PLACE | 1u << SPEED | 1u << LIFE | 1u << HIT | 1u << SHAPE | 1u << SEEN,
    [SPARK] = 1u << PLACE | 1u << SPEED | 1u << LIFE | 1u << GLOW | 1u << SHAPE | 1u << SEEN,
    [PICKUP] = 1u << PLACE | 1u << SPIN | 1u << GLOW | 1u << SHAPE | 1u << SEEN};

/* ---- what both sides run: kernels over columns ---- */

typedef void kernel_fn(void *const *columns, uint32_t rows);

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

/* Which ship is where. Owner: a side of the benchmark. */
typedef struct grid {
    uint32_t head[CELLS * CELLS]; /* number of a ship + 1 */
    uint32_t next[SHIPS];
    vec2 place[SHIPS];
} grid;

static uint32_t cell_of(vec2 place)
{
    const float scale = CELLS / AREA;
    uint32_t x = (uint32_t)(place.x * scale) % CELLS, y = (uint32_t)(place.y * scale) % CELLS;
    return y * CELLS + x;
}

static void grid_add(grid *g, const vec2 *place, uint32_t n, uint32_t first)
{
    if (first == 0) memset(g->head, 0, sizeof g->head);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *head = &g->head[cell_of(place[i])];
        g->place[first + i] = place[i];
        g->next[first + i] = *head;
        *head = first + i + 1;
    }
}

static void collide(const grid *g, const vec2 *place, uint32_t *hit, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t ship = g->head[cell_of(place[i])]; ship != 0; ship = g->next[ship - 1]) {
            float x = g->place[ship - 1].x - place[i].x, y = g->place[ship - 1].y - place[i].y;
            if (x * x + y * y < 1.0f) hit[i] = ship - 1;
        }
}

/* The columns of rows that are born. */
typedef struct newborn {
    vec2 *place, *speed;
    float *life, *glow;
    uint32_t *hit;
} newborn;

static bool fires(float *reload, const float *energy, uint32_t number)
{
    if (*reload > 0 || *energy < 10.0f) return false;
    *reload = 0.4f + (float)(number % 16) * 0.02f;
    return true;
}

static void bullet_make(const newborn *out, uint32_t at, vec2 place, vec2 speed)
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

static void spark_make(const newborn *out, uint32_t at, vec2 place, uint32_t number)
{
    out->place[at] = place;
    out->speed[at] = (vec2){(float)(number * 37 % 64) - 32.0f, (float)(number * 91 % 64) - 32.0f};
    out->life[at] = 0.3f;
    out->glow[at] = 1.0f;
}

/* ---- the frame, as both sides read it ---- */

/* What a system does that no kernel says. */
typedef enum game_deed {
    MAPS = 1, /* ships into the grid */
    COLLIDES,
    DAMAGES,
    SHOWS, /* on the main thread */
    FIRES,
    BURSTS,
    KILLS,
} game_deed;

typedef struct game_system {
    const char *name;
    kernel_fn *kernel; /* NULL: what `deed` says */
    uint8_t parts[TERMS];
    uint8_t part_count;
    uint8_t written; /* of the parts, the first ones */
    uint8_t deed;    /* game_deed */
} game_system;

static const game_system game_systems[] = {
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
enum { SYSTEMS = sizeof game_systems / sizeof game_systems[0] };
_Static_assert(SYSTEMS == 40, "as promised");

/* ---- plain C ---- */

/* Rows of a kind. Owner: raw_side. */
typedef struct table {
    void *columns[PARTS];
    uint32_t count, capacity;
} table;

typedef struct raw_side {
    table tables[KINDS];
    grid *grid;
    double shown;
} raw_side;

static void table_reserve(table *t, uint32_t kind, uint32_t rows)
{
    if (rows <= t->capacity) return;
    t->capacity = rows * 2;
    for (uint32_t part = 0; part < PARTS; part++)
        if ((kind_parts[kind] >> part & 1) != 0)
            t->columns[part] = realloc(t->columns[part], (size_t)t->capacity * part_bytes[part]);
}

/* Rows at the end, zeroed. */
static newborn table_add(table *t, uint32_t kind, uint32_t count)
{
    table_reserve(t, kind, t->count + count);
    for (uint32_t part = 0; part < PARTS; part++)
        if (t->columns[part] != NULL)
            memset((char *)t->columns[part] + (size_t)t->count * part_bytes[part], 0,
                   (size_t)count * part_bytes[part]);
    uint32_t first = t->count;
    t->count += count;
    return (newborn){(vec2 *)t->columns[PLACE] + first, (vec2 *)t->columns[SPEED] + first,
                     t->columns[LIFE] == NULL ? NULL : (float *)t->columns[LIFE] + first,
                     t->columns[GLOW] == NULL ? NULL : (float *)t->columns[GLOW] + first,
                     t->columns[HIT] == NULL ? NULL : (uint32_t *)t->columns[HIT] + first};
}

static void table_remove(table *t, uint32_t row)
{
    uint32_t last = --t->count;
    for (uint32_t part = 0; part < PARTS; part++)
        if (t->columns[part] != NULL)
            memcpy((char *)t->columns[part] + (size_t)row * part_bytes[part],
                   (char *)t->columns[part] + (size_t)last * part_bytes[part], part_bytes[part]);
}

static void raw_fire(raw_side *side)
{
    table *ships = &side->tables[SHIP], *bullets = &side->tables[BULLET];
    float *reload = ships->columns[RELOAD], *energy = ships->columns[ENERGY];
    const vec2 *place = ships->columns[PLACE], *speed = ships->columns[SPEED];
    for (uint32_t i = 0; i < ships->count; i++) {
        if (!fires(&reload[i], &energy[i], i)) continue;
        newborn out = table_add(bullets, BULLET, 1);
        bullet_make(&out, 0, place[i], speed[i]);
    }
}

static void raw_burst(raw_side *side)
{
    table *bullets = &side->tables[BULLET];
    const uint32_t *hit = bullets->columns[HIT];
    const vec2 *place = bullets->columns[PLACE];
    for (uint32_t i = 0; i < bullets->count; i++) {
        if (hit[i] == NO_HIT) continue;
        newborn out = table_add(&side->tables[SPARK], SPARK, SPARKS);
        for (uint32_t k = 0; k < SPARKS; k++) spark_make(&out, k, place[i], hit[i] + k);
    }
}

static void raw_kill(table *t)
{
    const float *life = t->columns[LIFE];
    const uint32_t *hit = t->columns[HIT];
    for (uint32_t i = 0; i < t->count;) {
        if (life[i] <= 0 || (hit != NULL && hit[i] != NO_HIT))
            table_remove(t, i);
        else
            i++;
    }
}

static void raw_deed(raw_side *side, const game_system *system, const table *t)
{
    const uint32_t *hit = t->columns[HIT];
    const float *score = t->columns[SCORE];
    int32_t *hull = side->tables[SHIP].columns[HULL];
    switch ((game_deed)system->deed) {
    case MAPS:
        grid_add(side->grid, t->columns[PLACE], t->count, 0);
        break;
    case COLLIDES:
        collide(side->grid, t->columns[PLACE], t->columns[HIT], t->count);
        break;
    case DAMAGES:
        for (uint32_t i = 0; i < t->count; i++)
            if (hit[i] != NO_HIT) hull[hit[i]] -= 100;
        break;
    case SHOWS:
        for (uint32_t i = 0; i < t->count; i++) side->shown += (double)score[i];
        break;
    case FIRES:
        raw_fire(side);
        break;
    case BURSTS:
        raw_burst(side);
        break;
    case KILLS:
        raw_kill((table *)(uintptr_t)t);
        break;
    }
}

static void raw_step(void *data)
{
    raw_side *side = data;
    for (uint32_t s = 0; s < SYSTEMS; s++) {
        const game_system *system = &game_systems[s];
        uint32_t wanted = 0;
        for (uint32_t p = 0; p < system->part_count; p++) wanted |= 1u << system->parts[p];
        for (uint32_t kind = 0; kind < KINDS; kind++) {
            const table *t = &side->tables[kind];
            void *columns[TERMS];
            if ((kind_parts[kind] & wanted) != wanted) continue;
            for (uint32_t p = 0; p < system->part_count; p++)
                columns[p] = t->columns[system->parts[p]];
            if (system->kernel != NULL)
                system->kernel(columns, t->count);
            else
                raw_deed(side, system, t);
        }
    }
}

/* ---- weft ---- */

typedef struct weft_side weft_side;

/* What a system of the world gets. Owner: weft_side. */
typedef struct bound_system {
    const game_system *system;
    weft_side *side;
} bound_system;

struct weft_side {
    weft_world *world;
    weft_component parts[PARTS], map;
    weft_archetype kinds[KINDS];
    uint32_t column_of[KINDS][PARTS]; /* in rows made by weft_recorder_create_rows */
    bound_system systems[SYSTEMS];
    weft_entity ships[SHIPS];
    grid *grid;
    double shown;
};

static void run_kernel(weft_slice *slice, void *user)
{
    const game_system *system = ((const bound_system *)user)->system;
    void *columns[TERMS];
    for (uint32_t p = 0; p < system->part_count; p++)
        columns[p] = p < system->written ? weft_slice_write(slice, p)
                                         : (void *)(uintptr_t)weft_slice_read(slice, p);
    system->kernel(columns, slice->count);
}

static void run_map(weft_slice *slice, void *user)
{
    weft_side *side = ((bound_system *)user)->side;
    grid_add(side->grid, weft_slice_read(slice, 0), slice->count, (uint32_t)slice->first);
}

static void run_collide(weft_slice *slice, void *user)
{
    weft_side *side = ((bound_system *)user)->side;
    collide(side->grid, weft_slice_read(slice, 1), weft_slice_write(slice, 0), slice->count);
}

static void run_damage(weft_slice *slice, void *user)
{
    weft_side *side = ((bound_system *)user)->side;
    const uint32_t *hit = weft_slice_read(slice, 0);
    for (uint32_t i = 0; i < slice->count; i++) {
        if (hit[i] == NO_HIT) continue;
        int32_t *hull = weft_slice_write_entity(slice, side->ships[hit[i]], side->parts[HULL]);
        *hull -= 100;
    }
}

static void run_show(weft_slice *slice, void *user)
{
    weft_side *side = ((bound_system *)user)->side;
    const float *score = weft_slice_read(slice, 0);
    for (uint32_t i = 0; i < slice->count; i++) side->shown += (double)score[i];
}

static newborn newborn_of(const weft_side *side, uint32_t kind, weft_slice *rows)
{
    const uint32_t *column = side->column_of[kind];
    bool is_bullet = kind == BULLET;
    return (newborn){weft_slice_write(rows, column[PLACE]), weft_slice_write(rows, column[SPEED]),
                     weft_slice_write(rows, column[LIFE]),
                     is_bullet ? NULL : weft_slice_write(rows, column[GLOW]),
                     is_bullet ? weft_slice_write(rows, column[HIT]) : NULL};
}

static void run_fire(weft_slice *slice, void *user)
{
    weft_side *side = ((bound_system *)user)->side;
    float *reload = weft_slice_write(slice, 0);
    float *energy = (float *)(uintptr_t)weft_slice_read(slice, 1);
    const vec2 *place = weft_slice_read(slice, 2), *speed = weft_slice_read(slice, 3);
    uint32_t firing[SHIPS], count = 0;
    for (uint32_t i = 0; i < slice->count; i++)
        if (fires(&reload[i], &energy[i], (uint32_t)slice->first + i)) firing[count++] = i;
    for (uint32_t done = 0; done < count;) {
        weft_slice rows;
        if (weft_recorder_create_rows(weft_slice_recorder(slice), side->kinds[BULLET], count - done,
                                      &rows) != WEFT_OK)
            return;
        newborn out = newborn_of(side, BULLET, &rows);
        for (uint32_t k = 0; k < rows.count; k++, done++)
            bullet_make(&out, k, place[firing[done]], speed[firing[done]]);
    }
}

static void run_burst(weft_slice *slice, void *user)
{
    weft_side *side = ((bound_system *)user)->side;
    const uint32_t *hit = weft_slice_read(slice, 0);
    const vec2 *place = weft_slice_read(slice, 1);
    for (uint32_t i = 0; i < slice->count; i++) {
        if (hit[i] == NO_HIT) continue;
        for (uint32_t done = 0; done < SPARKS;) {
            weft_slice rows;
            if (weft_recorder_create_rows(weft_slice_recorder(slice), side->kinds[SPARK],
                                          SPARKS - done, &rows) != WEFT_OK)
                return;
            newborn out = newborn_of(side, SPARK, &rows);
            for (uint32_t k = 0; k < rows.count; k++, done++)
                spark_make(&out, k, place[i], hit[i] + done);
        }
    }
}

static void run_kill(weft_slice *slice, void *user)
{
    const bound_system *self = user;
    bool has_hits = self->system->parts[1] == HIT;
    const weft_entity *entities = weft_slice_entities(slice);
    const float *life = weft_slice_read(slice, 0);
    const uint32_t *hit = has_hits ? weft_slice_read(slice, 1) : NULL;
    for (uint32_t i = 0; i < slice->count; i++)
        if (life[i] <= 0 || (hit != NULL && hit[i] != NO_HIT))
            weft_recorder_destroy_entity(weft_slice_recorder(slice), entities[i]);
}

static void name_records(const weft_side *side, uint32_t kind, weft_system_desc *desc)
{
    uint32_t count = 0;
    desc->effects = WEFT_RECORDS_CREATE;
    for (uint32_t part = 0; part < PARTS; part++)
        if ((kind_parts[kind] >> part & 1) != 0) desc->records[count++] = side->parts[part];
}

static void describe_deed(const weft_side *side, const game_system *system, weft_system_desc *desc)
{
    switch ((game_deed)system->deed) {
    case MAPS:
        desc->run = run_map;
        desc->flags = WEFT_SYSTEM_SERIAL;
        desc->resources[0] = (weft_lookup){side->map, WEFT_WRITE};
        break;
    case COLLIDES:
        desc->run = run_collide;
        desc->resources[0] = (weft_lookup){side->map, WEFT_READ};
        break;
    case DAMAGES:
        desc->run = run_damage;
        desc->flags = WEFT_SYSTEM_SERIAL;
        desc->lookups[0] = (weft_lookup){side->parts[HULL], WEFT_WRITE};
        break;
    case SHOWS:
        desc->run = run_show;
        desc->flags = WEFT_SYSTEM_MAIN_THREAD;
        break;
    case FIRES:
        desc->run = run_fire;
        name_records(side, BULLET, desc);
        break;
    case BURSTS:
        desc->run = run_burst;
        name_records(side, SPARK, desc);
        break;
    case KILLS:
        desc->run = run_kill;
        desc->effects = WEFT_RECORDS_DESTROY;
        break;
    }
}

static bool add_systems(weft_side *side)
{
    for (uint32_t s = 0; s < SYSTEMS; s++) {
        const game_system *system = &game_systems[s];
        side->systems[s] = (bound_system){system, side};
        weft_system_desc desc = {
            .name = system->name, .run = run_kernel, .user = &side->systems[s]};
        for (uint32_t p = 0; p < system->part_count; p++)
            desc.over.rows.terms[p] =
                (weft_term){side->parts[system->parts[p]],
                            p < system->written ? WEFT_WRITE : WEFT_READ, WEFT_ALL, 0};
        if (system->kernel == NULL) describe_deed(side, system, &desc);
        if (weft_system_create(side->world, &desc).id == 0) return false;
    }
    return true;
}

static bool add_kinds(weft_side *side)
{
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        weft_component set[PARTS], listed[PARTS];
        uint32_t count = 0;
        for (uint32_t part = 0; part < PARTS; part++)
            if ((kind_parts[kind] >> part & 1) != 0) set[count++] = side->parts[part];
        side->kinds[kind] = weft_archetype_create(side->world, set, count);
        uint32_t known = weft_archetype_components(side->world, side->kinds[kind], listed, PARTS);
        for (uint32_t i = 0; i < known; i++)
            for (uint32_t part = 0; part < PARTS; part++)
                if (listed[i].id == side->parts[part].id) side->column_of[kind][part] = i;
    }
    return weft_entity_create_many(side->world, side->kinds[SHIP], SHIPS, side->ships) == WEFT_OK &&
           weft_entity_create_many(side->world, side->kinds[PICKUP], PICKUPS, NULL) == WEFT_OK;
}

/* What a ship begins with. */
static uint32_t brain_of(uint32_t ship)
{
    return ship * 2654435761u + 12345u;
}

static vec2 place_of(uint32_t ship)
{
    return (vec2){(float)(brain_of(ship) >> 22), (float)(brain_of(ship) >> 12 & 1023)};
}

static bool weft_side_open(weft_side *side, uint32_t workers)
{
    static const char *const names[PARTS] = {
        "place", "speed", "push", "hull", "shield", "energy", "heat",  "reload",
        "brain", "score", "life", "hit",  "glow",   "spin",   "shape", "seen"};
    if (weft_world_create(&(weft_world_desc){.workers = workers}, &side->world) != WEFT_OK)
        return false;
    for (uint32_t part = 0; part < PARTS; part++)
        side->parts[part] =
            weft_component_create_plain(side->world, names[part], part_bytes[part], 4, 0);
    side->map = weft_component_create_plain(side->world, "map", 4, 4, WEFT_RESOURCE);
    side->grid = calloc(1, sizeof *side->grid);
    if (side->grid == NULL || !add_kinds(side) || !add_systems(side)) return false;
    for (uint32_t i = 0; i < SHIPS; i++) {
        uint32_t brain = brain_of(i);
        vec2 place = place_of(i);
        int32_t hull = 1000;
        float reload = (float)(i % 30) * DT;
        weft_entity_set(side->world, side->ships[i], side->parts[BRAIN], &brain, sizeof brain);
        weft_entity_set(side->world, side->ships[i], side->parts[PLACE], &place, sizeof place);
        weft_entity_set(side->world, side->ships[i], side->parts[HULL], &hull, sizeof hull);
        weft_entity_set(side->world, side->ships[i], side->parts[RELOAD], &reload, sizeof reload);
    }
    return true;
}

static void raw_side_open(raw_side *side)
{
    side->grid = calloc(1, sizeof *side->grid);
    table *ships = &side->tables[SHIP];
    table_add(ships, SHIP, SHIPS);
    table_add(&side->tables[PICKUP], PICKUP, PICKUPS);
    for (uint32_t i = 0; i < SHIPS; i++) {
        ((uint32_t *)ships->columns[BRAIN])[i] = brain_of(i);
        ((vec2 *)ships->columns[PLACE])[i] = place_of(i);
        ((int32_t *)ships->columns[HULL])[i] = 1000;
        ((float *)ships->columns[RELOAD])[i] = (float)(i % 30) * DT;
    }
}

static void raw_side_close(raw_side *side)
{
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (uint32_t part = 0; part < PARTS; part++) free(side->tables[kind].columns[part]);
    free(side->grid);
}

/* ---- the benchmark ---- */

/* Both sides, stepped in turn by the harness: a sample of one is as old as one of the other. */
typedef struct game_bed {
    weft_side weft;
    raw_side raw;
} game_bed;

static void step_weft(void *data)
{
    weft_world_step(((game_bed *)data)->weft.world, DT);
}

static void step_raw(void *data)
{
    raw_step(&((game_bed *)data)->raw);
}

static void check_populations(weft_bench *bench, const game_bed *bed)
{
    weft_world_stats stats;
    uint64_t raw = 0;
    weft_world_stats_get(bed->weft.world, &stats, sizeof stats);
    for (uint32_t kind = 0; kind < KINDS; kind++) raw += bed->raw.tables[kind].count;
    if (stats.entities != raw)
        weft_bench_fail(bench, "frame.game: %llu entities, %llu rows in plain C",
                        (unsigned long long)stats.entities, (unsigned long long)raw);
}

static void game_case(weft_bench *bench, const char *name, uint32_t workers)
{
    if (!weft_bench_wants(bench, name)) return;
    game_bed *bed = calloc(1, sizeof *bed);
    if (bed == NULL) return;
    raw_side_open(&bed->raw);
    if (weft_side_open(&bed->weft, workers)) {
        for (uint32_t i = 0; i < WARM_UP; i++) {
            step_weft(bed);
            step_raw(bed);
        }
        check_populations(bench, bed);
        weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                    .unit = "us/frame",
                                                    .workers = workers,
                                                    .run = step_weft,
                                                    .raw = step_raw,
                                                    .data = bed});
    } else {
        weft_bench_fail(bench, "frame.game: the world could not be made");
    }
    weft_world_destroy(bed->weft.world);
    free(bed->weft.grid);
    raw_side_close(&bed->raw);
    free(bed);
}

static void bench_game(weft_bench *bench)
{
    game_case(bench, "40", 1);
    game_case(bench, "40-2", 2);
}

const weft_bench_entry weft_bench_game[] = {
    {"frame.game", "40 systems of a game over 20,000 ships and what they fire; raw: plain C",
     bench_game, false},
    {0}};
