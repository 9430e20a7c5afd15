/* SPDX-License-Identifier: MIT */
/* game.h: two teams of fighters on a square. A fighter keeps away from those beside it, chooses the
 * nearest of the other team and hits it from time to time; who has lost much may burn; who is at
 * the end of its points or of its life dies, and a new one comes. What several do to one are sums
 * of integers, so that no order counts. */
#ifndef WEFT_PERF_GAME_H
#define WEFT_PERF_GAME_H

#include "program.h"

#include <math.h>
#include <stdbool.h>
#include <weft/random.h>

enum { HEALTH = 100, WEAK = 60, DAMAGE = 9, PAUSE = 12 };
#define REACH 1.5f /* of eyes and weapons */
#define ARM 0.7f   /* nearer is too near */

typedef struct Place {
    float x, y;
} Place;
typedef struct Speed { /* a step */
    float x, y;
} Speed;
typedef struct Push { /* a step, in units of 1/4096 */
    int32_t x, y;
} Push;
typedef struct Fighter { /* teams are even and odd numbers */
    uint64_t number;
} Fighter;
typedef struct Health {
    uint32_t points;
} Health;
typedef struct Life { /* steps that are left */
    uint32_t left;
} Life;

/* The state of play. */
typedef struct Score {
    uint64_t born, killed[2], of_age; /* so far; killed: of each team */
    uint64_t dead;                    /* in this step */
} Score;

static inline float game_side(uint32_t fighters)
{
    return sqrtf((float)fighters);
}

static inline float game_square(Place a, Place b)
{
    float x = a.x - b.x, y = a.y - b.y;
    return x * x + y * y;
}

/* What one at `other` (itself, too) adds to the push of one at `at`. */
static inline void game_push(Push *push, Place at, Place other)
{
    if (game_square(at, other) >= ARM * ARM) return;
    push->x += (int32_t)((at.x - other.x) * 256.0f);
    push->y += (int32_t)((at.y - other.y) * 256.0f);
}

static inline void game_move(Place *at, Speed speed, Push push)
{
    at->x += speed.x + (float)push.x * (1.0f / 4096);
    at->y += speed.y + (float)push.y * (1.0f / 4096);
}

static inline void game_bounce(float *at, float *speed, float side)
{
    if (*at < 0) {
        *at = -*at;
        *speed = -*speed;
    } else if (*at > side) {
        *at = side + side - *at;
        *speed = -*speed;
    }
}

/* The opponent that a fighter chooses: the nearest in reach, of two the one with the lower
 * number. */
typedef struct game_choice {
    float square;
    uint64_t number;
    uint32_t index; /* the caller's; UINT32_MAX: none */
} game_choice;

static inline void game_consider(game_choice *best, const Fighter *of, Place at, Fighter other,
                                 Place there, uint32_t index)
{
    float square = game_square(at, there);
    if (square > best->square || (of->number ^ other.number) % 2 == 0) return;
    if (square == best->square && other.number >= best->number) return;
    best->square = square;
    best->number = other.number;
    best->index = index;
}

static inline void game_hurt(Health *health, uint32_t damage)
{
    health->points -= health->points < damage ? health->points : damage;
}

/* Whether one that does not burn begins to, and whether one that burns stops. */
static inline bool game_ignites(Fighter fighter, Health health, uint32_t tick)
{
    if (health.points >= WEAK) return false;
    weft_random random = weft_random_of(5, fighter.number, tick, 1);
    return weft_random_below(&random, 16) == 0;
}

static inline bool game_goes_out(Fighter fighter, uint32_t tick)
{
    weft_random random = weft_random_of(5, fighter.number, tick, 2);
    return weft_random_below(&random, 8) == 0;
}

static inline bool game_dies(Health health, Life life)
{
    return health.points == 0 || life.left == 0;
}

/* Counts one that dies. */
static inline void game_count(Score *score, Fighter fighter, Health health)
{
    score->dead++;
    if (health.points == 0)
        score->killed[fighter.number % 2]++;
    else
        score->of_age++;
}

/* How a fighter begins. */
static inline void game_begin(uint64_t number, float side, Place *at, Speed *speed, Life *life)
{
    weft_random random = weft_random_of(5, number, 0, 0);
    at->x = weft_random_float(&random) * side;
    at->y = weft_random_float(&random) * side;
    speed->x = (weft_random_float(&random) - 0.5f) * 0.1f;
    speed->y = (weft_random_float(&random) - 0.5f) * 0.1f;
    life->left = 40 + weft_random_below(&random, 160);
}

/* ---- the content; a target that is gone has the number UINT64_MAX ---- */

/* Of a fighter, but for its weapon and fire. */
static inline uint64_t game_sum(Fighter fighter, Place at, Speed speed, Health health, Life life)
{
    uint64_t sum = program_stir_float(program_stir_float(fighter.number + 1, at.x), at.y);
    sum = program_stir_float(program_stir_float(sum, speed.x), speed.y);
    return program_stir(program_stir(sum, health.points), life.left);
}

static inline uint64_t game_sum_weapon(uint64_t sum, uint32_t pause, uint64_t target,
                                       bool is_burning)
{
    return program_stir(program_stir(program_stir(sum, pause), target), is_burning);
}

static inline uint64_t game_sum_score(const Score *score)
{
    uint64_t sum = program_stir(program_stir(score->born, score->killed[0]), score->killed[1]);
    return program_stir(sum, score->of_age);
}

#endif
