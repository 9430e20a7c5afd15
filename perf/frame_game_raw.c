/* SPDX-License-Identifier: MIT */
/* frame_game_raw.c: frame.game in plain C: tables of columns, kernels in order, and what dies is
 * filled by the last row.
 */
#include "frame_game.h"

#include <stdlib.h>
#include <string.h>

/* Rows of a kind. Owner: raw_side. */
typedef struct table {
    void *columns[PARTS];
    uint32_t count, capacity;
} table;

struct raw_side {
    table tables[KINDS];
    grid *grid;
    double shown;
};

static void table_reserve(table *t, uint32_t kind, uint32_t rows)
{
    if (rows <= t->capacity) return;
    t->capacity = rows * 2;
    for (uint32_t part = 0; part < PARTS; part++)
        if ((game_kind_parts[kind] >> part & 1) != 0)
            t->columns[part] =
                realloc(t->columns[part], (size_t)t->capacity * game_part_bytes[part]);
}

/* Rows at the end, zeroed. */
static newborn table_add(table *t, uint32_t kind, uint32_t count)
{
    table_reserve(t, kind, t->count + count);
    for (uint32_t part = 0; part < PARTS; part++)
        if (t->columns[part] != NULL)
            memset((char *)t->columns[part] + (size_t)t->count * game_part_bytes[part], 0,
                   (size_t)count * game_part_bytes[part]);
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
            memcpy((char *)t->columns[part] + (size_t)row * game_part_bytes[part],
                   (char *)t->columns[part] + (size_t)last * game_part_bytes[part],
                   game_part_bytes[part]);
}

static void raw_fire(raw_side *side)
{
    table *ships = &side->tables[SHIP], *bullets = &side->tables[BULLET];
    float *reload = ships->columns[RELOAD], *energy = ships->columns[ENERGY];
    const vec2 *place = ships->columns[PLACE], *speed = ships->columns[SPEED];
    for (uint32_t i = 0; i < ships->count; i++) {
        if (!game_fires(&reload[i], &energy[i], i)) continue;
        newborn out = table_add(bullets, BULLET, 1);
        game_bullet_make(&out, 0, place[i], speed[i]);
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
        for (uint32_t k = 0; k < SPARKS; k++) game_spark_make(&out, k, place[i], hit[i] + k);
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
        game_grid_add(side->grid, t->columns[PLACE], t->count, 0);
        break;
    case COLLIDES:
        game_collide(side->grid, t->columns[PLACE], t->columns[HIT], t->count);
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

void game_raw_step(raw_side *side)
{
    for (uint32_t s = 0; s < SYSTEMS; s++) {
        const game_system *system = &game_systems[s];
        uint32_t wanted = 0;
        for (uint32_t p = 0; p < system->part_count; p++) wanted |= 1u << system->parts[p];
        for (uint32_t kind = 0; kind < KINDS; kind++) {
            const table *t = &side->tables[kind];
            void *columns[TERMS];
            if ((game_kind_parts[kind] & wanted) != wanted) continue;
            for (uint32_t p = 0; p < system->part_count; p++)
                columns[p] = t->columns[system->parts[p]];
            if (system->kernel != NULL)
                system->kernel(columns, t->count);
            else
                raw_deed(side, system, t);
        }
    }
}

raw_side *game_raw_open(void)
{
    raw_side *side = calloc(1, sizeof *side);
    if (side == NULL) return NULL;
    side->grid = calloc(1, sizeof *side->grid);
    table *ships = &side->tables[SHIP];
    table_add(ships, SHIP, SHIPS);
    table_add(&side->tables[PICKUP], PICKUP, PICKUPS);
    for (uint32_t i = 0; i < SHIPS; i++) {
        ((uint32_t *)ships->columns[BRAIN])[i] = game_brain_of(i);
        ((vec2 *)ships->columns[PLACE])[i] = game_place_of(i);
        ((int32_t *)ships->columns[HULL])[i] = 1000;
        ((float *)ships->columns[RELOAD])[i] = (float)(i % 30) * DT;
    }
    return side;
}

void game_raw_close(raw_side *side)
{
    if (side == NULL) return;
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (uint32_t part = 0; part < PARTS; part++) free(side->tables[kind].columns[part]);
    free(side->grid);
    free(side);
}

uint64_t game_raw_rows(const raw_side *side)
{
    uint64_t rows = 0;
    for (uint32_t kind = 0; kind < KINDS; kind++) rows += side->tables[kind].count;
    return rows;
}
