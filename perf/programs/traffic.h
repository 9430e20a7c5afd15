/* SPDX-License-Identifier: MIT */
/* traffic.h: cars on roads of four lanes that are rings, after Nagel and Schreckenberg (1992) with
 * changes of lane by Rickert and others (1996): a lane is a row of cells, a cell holds one car, and
 * a car drives 0 to 5 cells a step. Steps of even number change to the left, odd ones to the right,
 * so no two cars change to one cell. */
#ifndef WEFT_PERF_TRAFFIC_H
#define WEFT_PERF_TRAFFIC_H

#include "program.h"

#include <stdbool.h>
#include <weft/random.h>

enum { LANES = 32, ROAD_LANES = 4, FASTEST = 5, CELLS_PER_CAR = 6 };

typedef struct Car {
    uint32_t cell, speed;
} Car;
typedef struct Lane {
    uint32_t number;
} Lane;

/* Which cells hold a car: `cells` bytes for each lane. */
typedef struct road_map {
    uint8_t *busy;
    uint32_t cells;
} road_map;

static inline uint32_t traffic_cells(uint32_t cars)
{
    return (cars / LANES + 1) * CELLS_PER_CAR;
}

static inline uint8_t *traffic_lane(const road_map *map, uint32_t lane)
{
    return map->busy + (size_t)lane * map->cells;
}

/* Free cells in front, at most FASTEST. */
static inline uint32_t traffic_gap(const uint8_t *lane, uint32_t cells, uint32_t cell)
{
    uint32_t gap = 0;
    while (gap < FASTEST) {
        cell = cell + 1 < cells ? cell + 1 : 0;
        if (lane[cell] != 0) break;
        gap++;
    }
    return gap;
}

/* Whether the cell and those behind it, from where a car could come, are free. */
static inline bool traffic_is_clear(const uint8_t *lane, uint32_t cells, uint32_t cell)
{
    for (uint32_t i = 0; i <= FASTEST; i++) {
        if (lane[cell] != 0) return false;
        cell = cell > 0 ? cell - 1 : cells - 1;
    }
    return true;
}

/* The lane that a car drives in from now on. */
static inline uint32_t traffic_choose(const road_map *map, const Car *car, uint32_t lane,
                                      uint32_t number, uint32_t tick)
{
    bool is_left = tick % 2 == 0;
    uint32_t edge = is_left ? 0 : ROAD_LANES - 1, beside = is_left ? lane - 1 : lane + 1;
    if (lane % ROAD_LANES == edge) return lane;
    uint32_t gap = traffic_gap(traffic_lane(map, lane), map->cells, car->cell);
    if (gap > car->speed || gap == FASTEST) return lane;
    const uint8_t *other = traffic_lane(map, beside);
    if (!traffic_is_clear(other, map->cells, car->cell)) return lane;
    if (traffic_gap(other, map->cells, car->cell) <= gap) return lane;
    weft_random random = weft_random_of(3, number, tick, 0);
    return weft_random_float(&random) < 0.3f ? beside : lane;
}

static inline void traffic_drive(const road_map *map, Car *car, uint32_t lane, uint32_t number,
                                 uint32_t tick)
{
    uint32_t gap = traffic_gap(traffic_lane(map, lane), map->cells, car->cell);
    uint32_t speed = car->speed + (car->speed < FASTEST);
    if (speed > gap) speed = gap;
    weft_random random = weft_random_of(3, number, tick, 1);
    if (speed > 0 && weft_random_float(&random) < 0.2f) speed--;
    car->speed = speed;
    car->cell += speed;
    if (car->cell >= map->cells) car->cell -= map->cells;
}

/* Where a car is at first. */
static inline Car traffic_start(uint32_t number)
{
    Car car = {number / LANES * CELLS_PER_CAR, number % (FASTEST + 1)};
    return car;
}

/* What a car adds to the content. */
static inline uint64_t traffic_sum(uint32_t number, Car car, uint32_t lane)
{
    uint64_t sum = program_stir(program_stir(number + 1, car.cell), car.speed);
    return program_stir(sum, lane);
}

#endif
