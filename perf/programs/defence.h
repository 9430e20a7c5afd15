/* SPDX-License-Identifier: MIT */
/* defence.h: ships with four turrets each shoot at raiders. A turret keeps its target until that is
 * gone or out of reach, shells follow theirs, a hit takes points, and for each raider that is gone
 * another one comes. Ships are lost by chance, with their turrets, and replaced. */
#ifndef WEFT_PERF_DEFENCE_H
#define WEFT_PERF_DEFENCE_H

#include "program.h"

#include <math.h>
#include <stdbool.h>
#include <weft/random.h>

enum { TURRETS = 4, RELOAD = 3, SHELL_LIFE = 30, HULL = 100, DAMAGE = 10 };
#define REACH 5.0f

typedef struct Spot {
    float x, y;
} Spot;
typedef struct Course { /* a step */
    float x, y;
} Course;
typedef struct
    Badge { /* ships and raiders have numbers: of those that come, made of the old one's */
    uint64_t number;
} Badge;
typedef struct Hull {
    uint32_t points;
} Hull;
typedef struct Mount { /* of a turret on its ship */
    float x, y;
    uint32_t slot;
} Mount;
typedef struct Muzzle { /* of a turret, on the map */
    float x, y;
} Muzzle;

static inline uint32_t defence_ships(uint32_t size)
{
    return size / 20 + 1;
}

static inline uint32_t defence_raiders(uint32_t size)
{
    return size / 5 * 2 + 1;
}

/* The side of the square: five units of area for each raider. */
static inline float defence_side(uint32_t size)
{
    return sqrtf((float)(defence_raiders(size) * 5));
}

static inline void defence_move(Spot *at, Course course)
{
    at->x += course.x;
    at->y += course.y;
}

static inline void defence_bounce(float *at, float *course, float side)
{
    if (*at < 0) {
        *at = -*at;
        *course = -*course;
    } else if (*at > side) {
        *at = side + side - *at;
        *course = -*course;
    }
}

static inline float defence_square(float ax, float ay, float bx, float by)
{
    float x = ax - bx, y = ay - by;
    return x * x + y * y;
}

/* The course of a shell to its target. */
static inline void defence_steer(Spot at, Spot target, Course *course)
{
    float x = target.x - at.x, y = target.y - at.y, length = sqrtf(x * x + y * y);
    if (length <= 0) return;
    course->x = x / length * 0.12f;
    course->y = y / length * 0.12f;
}

static inline bool defence_is_hit(Spot at, Spot target)
{
    return defence_square(at.x, at.y, target.x, target.y) < 0.01f;
}

static inline Mount defence_mount(uint32_t slot)
{
    Mount mount = {(slot & 1) != 0 ? 0.5f : -0.5f, (slot & 2) != 0 ? 0.5f : -0.5f, slot};
    return mount;
}

/* The raider that a turret chooses: the nearest in reach, of two the one with the lower number. */
typedef struct defence_choice {
    float square;
    uint64_t number;
    uint32_t index; /* the caller's; UINT32_MAX: none */
} defence_choice;

static inline void defence_consider(defence_choice *best, Muzzle muzzle, Spot at, uint64_t number,
                                    uint32_t index)
{
    float square = defence_square(muzzle.x, muzzle.y, at.x, at.y);
    if (square > best->square || (square == best->square && number >= best->number)) return;
    best->square = square;
    best->number = number;
    best->index = index;
}

/* Where a ship or raider of this number begins, and its course. */
static inline void defence_begin(uint64_t number, float side, Spot *at, Course *course)
{
    weft_random random = weft_random_of(11, number, 0, 0);
    at->x = weft_random_float(&random) * side;
    at->y = weft_random_float(&random) * side;
    course->x = (weft_random_float(&random) - 0.5f) * 0.06f;
    course->y = (weft_random_float(&random) - 0.5f) * 0.06f;
}

static inline bool defence_is_lost(uint64_t ship, uint32_t tick)
{
    weft_random random = weft_random_of(11, ship, tick, 1);
    return weft_random_float(&random) < 0.002f;
}

static inline uint64_t defence_next(uint64_t number, uint32_t tick)
{
    return program_stir(program_stir(number, tick), 3);
}

/* Numbers of the first ones. */
static inline uint64_t defence_ship(uint32_t i)
{
    return i;
}

static inline uint64_t defence_raider(uint32_t i)
{
    return (uint64_t)1 << 32 | i;
}

/* ---- the content; a target that is gone has the number 0 ---- */

static inline uint64_t defence_sum(uint64_t number, Spot at, Course course, uint32_t points)
{
    uint64_t sum = program_stir_float(program_stir_float(number + 1, at.x), at.y);
    sum = program_stir_float(program_stir_float(sum, course.x), course.y);
    return program_stir(sum, points);
}

static inline uint64_t defence_sum_turret(uint64_t ship, const Mount *mount, Muzzle muzzle,
                                          uint32_t reload, uint64_t target)
{
    uint64_t sum = program_stir(program_stir(ship + 1, mount->slot), reload);
    sum = program_stir_float(program_stir_float(sum, muzzle.x), muzzle.y);
    return program_stir(sum, target);
}

#endif
