/* SPDX-License-Identifier: MIT */
/* epidemic.h: people in households who walk, infect each other where they meet and at home, fall
 * ill, get well or die, have children, and move out. Houses burn down: who lived there has no home,
 * and moves into a new one. Whatever is counted is counted in whole numbers, so no order shows. */
#ifndef WEFT_PERF_EPIDEMIC_H
#define WEFT_PERF_EPIDEMIC_H

#include "program.h"

#include <math.h>
#include <stdbool.h>
#include <weft/random.h>

enum { HOUSEHOLD = 3, SICK_DAYS = 14, IMMUNE_DAYS = 60 };

typedef struct Place {
    float x, y;
} Place;
typedef struct Person {
    uint64_t number;      /* of a child: made of its mother's and the day */
    uint32_t age, immune; /* in days; days that immunity lasts */
} Person;
typedef struct Sick {
    uint32_t days; /* left */
} Sick;
typedef struct House {
    uint64_t number;
    uint32_t sick, built; /* how many are sick here; the day */
} House;

/* What observers count. */
typedef struct epidemic_counts {
    uint64_t born, infected, dead;
} epidemic_counts;

/* The side of the square: one person on a square of 1 x 1. */
static inline float epidemic_side(uint32_t people)
{
    return sqrtf((float)people);
}

static inline float epidemic_bounce(float at, float side)
{
    return at < 0 ? -at : at > side ? side + side - at : at;
}

static inline void epidemic_walk(Place *at, uint64_t number, uint32_t day, float side)
{
    weft_random random = weft_random_of(5, number, day, 0);
    at->x = epidemic_bounce(at->x + (weft_random_float(&random) - 0.5f), side);
    at->y = epidemic_bounce(at->y + (weft_random_float(&random) - 0.5f), side);
}

static inline bool epidemic_is_near(Place a, Place b)
{
    float x = a.x - b.x, y = a.y - b.y;
    return x * x + y * y < 1;
}

/* Whether one who met so many sick outside and has so many at home is infected. */
static inline bool epidemic_catches(const Person *p, uint32_t met, uint32_t home, uint32_t day)
{
    if (met + home == 0) return false;
    weft_random random = weft_random_of(5, p->number, day, 1);
    return weft_random_float(&random) < 0.04f * (float)met + 0.06f * (float)home;
}

static inline bool epidemic_dies_of_it(const Person *p, uint32_t day)
{
    weft_random random = weft_random_of(5, p->number, day, 2);
    return weft_random_float(&random) < 0.02f;
}

/* What a day brings. */
typedef struct epidemic_fate {
    bool dies, moves, gives_birth;
} epidemic_fate;

static inline epidemic_fate epidemic_live(Person *p, bool has_home, uint32_t day)
{
    p->age++;
    if (p->immune > 0) p->immune--;
    weft_random random = weft_random_of(5, p->number, day, 3);
    epidemic_fate fate;
    fate.dies = weft_random_float(&random) < 0.01f;
    fate.moves = weft_random_float(&random) < (has_home ? 0.005f : 0.5f) && !fate.dies;
    fate.gives_birth = weft_random_float(&random) < 0.01f;
    return fate;
}

static inline uint64_t epidemic_child(uint64_t mother, uint32_t day)
{
    return program_stir(program_stir(mother, day), 1);
}

static inline uint64_t epidemic_house(uint64_t founder, uint32_t day)
{
    return program_stir(program_stir(founder, day), 2);
}

static inline bool epidemic_burns(const House *house, uint32_t day)
{
    weft_random random = weft_random_of(5, house->number, day, 4);
    return weft_random_float(&random) < 0.0005f;
}

/* Person `i` of the first ones: where, and for how long sick. */
static inline uint32_t epidemic_begin(uint32_t i, float side, Place *at, Person *p)
{
    weft_random random = weft_random_of(5, i, 0, 5);
    at->x = weft_random_float(&random) * side;
    at->y = weft_random_float(&random) * side;
    p->number = i;
    p->age = weft_random_below(&random, 100);
    p->immune = weft_random_below(&random, IMMUNE_DAYS);
    return weft_random_float(&random) < 0.05f ? 1 + weft_random_below(&random, SICK_DAYS) : 0;
}

static inline uint64_t epidemic_sum(Place at, const Person *p, uint32_t days, uint64_t house)
{
    uint64_t sum = program_stir_float(program_stir_float(p->number + 1, at.x), at.y);
    sum = program_stir(program_stir(sum, p->age), p->immune);
    return program_stir(program_stir(sum, days), house);
}

static inline uint64_t epidemic_sum_house(const House *house, uint32_t people)
{
    return program_stir(program_stir(house->number + 1, house->sick), people);
}

static inline uint64_t epidemic_sum_counts(const epidemic_counts *counts)
{
    return program_stir(program_stir(program_stir(1, counts->born), counts->infected),
                        counts->dead);
}

#endif
