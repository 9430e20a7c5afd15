/* SPDX-License-Identifier: MIT */
/* frame_game.h: what both sides of frame.game share: the parts of entities, the kernels over
 * columns, the list of systems, the grid of ships, and the rows that are born. frame_game.c has the
 * kernels and the list, frame_game_raw.c the side in plain C, bench_game.c weft and the benchmark.
 */
#ifndef WEFT_PERF_FRAME_GAME_H
#define WEFT_PERF_FRAME_GAME_H

#include <stdbool.h>
#include <stdint.h>

enum { SHIPS = 20000, PICKUPS = 2000, CELLS = 128, SPARKS = 4, TERMS = 4, SYSTEMS = 40 };
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

extern const uint32_t game_part_bytes[PARTS];
extern const uint32_t game_kind_parts[KINDS]; /* bit per part */

typedef void kernel_fn(void *const *columns, uint32_t rows);

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

extern const game_system game_systems[SYSTEMS];

/* ---- the grid, hits, births ---- */

/* Which ship is where. Owner: a side of the benchmark. */
typedef struct grid {
    uint32_t head[CELLS * CELLS]; /* number of a ship + 1 */
    uint32_t next[SHIPS];
    vec2 place[SHIPS];
} grid;

void game_grid_add(grid *g, const vec2 *place, uint32_t n, uint32_t first);
void game_collide(const grid *g, const vec2 *place, uint32_t *hit, uint32_t n);

/* The columns of rows that are born. */
typedef struct newborn {
    vec2 *place, *speed;
    float *life, *glow;
    uint32_t *hit;
} newborn;

/* Whether a ship fires now; then it reloads. */
bool game_fires(float *reload, const float *energy, uint32_t number);
void game_bullet_make(const newborn *out, uint32_t at, vec2 place, vec2 speed);
void game_spark_make(const newborn *out, uint32_t at, vec2 place, uint32_t number);
/* What a ship begins with. */
uint32_t game_brain_of(uint32_t ship);
vec2 game_place_of(uint32_t ship);

/* ---- plain C ---- */

typedef struct raw_side raw_side;
raw_side *game_raw_open(void); /* NULL: no memory */
void game_raw_close(raw_side *side);
void game_raw_step(raw_side *side);
uint64_t game_raw_rows(const raw_side *side);

#endif
