/* SPDX-License-Identifier: MIT */
/* flock.h: birds on a square that wraps around: they turn the way of the birds around them, towards
 * their middle, away from those that are too near, and a little at random. */
#ifndef WEFT_PERF_FLOCK_H
#define WEFT_PERF_FLOCK_H

#include "program.h"

#include <math.h>
#include <weft/random.h>

typedef struct Position {
    float x, y;
} Position;
typedef struct Heading {
    float x, y;
} Heading;

/* What a bird sees: birds nearer than 1, itself too. */
typedef struct flock_view {
    Heading way;       /* sum of headings */
    Position middle;   /* sum of places, seen from the bird */
    Position too_near; /* the same of those nearer than 0.5 */
} flock_view;

/* The side of the square: a power of two, so that cells of 1 x 1 fit exactly. */
static inline uint32_t flock_side(uint32_t birds)
{
    uint32_t side = 8;
    while (side * side * 2 < birds) side *= 2;
    return side;
}

static inline void flock_see(flock_view *view, float dx, float dy, Heading way)
{
    float square = dx * dx + dy * dy;
    if (square >= 1) return;
    view->way.x += way.x;
    view->way.y += way.y;
    view->middle.x += dx;
    view->middle.y += dy;
    if (square >= 0.25f) return;
    view->too_near.x += dx;
    view->too_near.y += dy;
}

static inline float flock_wrap(float at, float side)
{
    if (at < 0) at += side;
    return at >= side ? at - side : at; /* what is hardly below 0 becomes `side` first */
}

static inline void flock_turn(const flock_view *view, uint32_t bird, uint32_t tick, Heading *way)
{
    weft_random random = weft_random_of(7, bird, tick, 0);
    float noise_x = weft_random_float(&random) - 0.5f, noise_y = weft_random_float(&random) - 0.5f;
    float x = way->x + view->way.x * 0.1f + view->middle.x * 0.02f - view->too_near.x * 0.6f;
    float y = way->y + view->way.y * 0.1f + view->middle.y * 0.02f - view->too_near.y * 0.6f;
    x += noise_x * 0.2f;
    y += noise_y * 0.2f;
    float length = sqrtf(x * x + y * y);
    if (length <= 0) return;
    way->x = x / length;
    way->y = y / length;
}

static inline void flock_fly(Position *at, Heading way, float side)
{
    at->x = flock_wrap(at->x + way.x * 0.1f, side);
    at->y = flock_wrap(at->y + way.y * 0.1f, side);
}

static inline void flock_hatch(uint32_t bird, float side, Position *at, Heading *way)
{
    weft_random random = weft_random_of(7, bird, 0, 1);
    at->x = weft_random_float(&random) * side;
    at->y = weft_random_float(&random) * side;
    way->x = weft_random_float(&random) < 0.5f ? 0.6f : -0.6f;
    way->y = weft_random_float(&random) < 0.5f ? 0.8f : -0.8f;
}

/* What a bird adds to the content. */
static inline uint64_t flock_sum(uint64_t bird, Position at, Heading way)
{
    uint64_t sum = program_stir_float(program_stir_float(bird + 1, at.x), at.y);
    return program_stir_float(program_stir_float(sum, way.x), way.y);
}

#endif
