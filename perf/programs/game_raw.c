/* SPDX-License-Identifier: MIT */
/* game_raw.c: the game in plain C: fighters in slots with versions, the slots of the dead in a
 * list, places sorted into a grid. */
#include "game.h"

#include <stdlib.h>

/* A fighter, if its slot still has this version; version 0: none. */
typedef struct fighter_handle {
    uint32_t slot, version;
} fighter_handle;

typedef struct plain_game {
    uint32_t count, tick;
    float side;
    Score score;
    Place *at; /* all by slot */
    Speed *speed;
    Push *push;
    Fighter *fighter;
    Health *health;
    Life *life;
    fighter_handle *target;
    uint32_t *pause, *version;
    bool *is_burning;
    uint32_t *dead; /* slots */
    uint32_t cells; /* along each axis, of REACH or more */
    float per_cell;
    uint32_t *begin, *sorted; /* slots by cell */
    Place *sorted_at;
} plain_game;

static bool is_alive(const plain_game *g, fighter_handle handle)
{
    return g->version[handle.slot] == handle.version;
}

/* ---- who is where ---- */

static uint32_t cell_along(const plain_game *g, float at)
{
    if (!(at > 0)) return 0;
    uint32_t cell = (uint32_t)(at * g->per_cell);
    return cell < g->cells ? cell : g->cells - 1;
}

static uint32_t cell_of(const plain_game *g, Place at)
{
    return cell_along(g, at.y) * g->cells + cell_along(g, at.x);
}

static void sort_fighters(plain_game *g)
{
    uint32_t cells = g->cells * g->cells;
    memset(g->begin, 0, (cells + 2) * sizeof *g->begin);
    for (uint32_t i = 0; i < g->count; i++) g->begin[cell_of(g, g->at[i]) + 2]++;
    for (uint32_t c = 2; c < cells + 2; c++) g->begin[c] += g->begin[c - 1];
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t k = g->begin[cell_of(g, g->at[i]) + 1]++;
        g->sorted[k] = i;
        g->sorted_at[k] = g->at[i];
    }
}

/* Places in the order of cells: `count` runs of begin and end, of a cell and those beside it. */
typedef struct around {
    uint32_t count, begin[3], end[3];
} around;

static around around_cell(const plain_game *g, uint32_t x, uint32_t y)
{
    uint32_t left = x > 0 ? x - 1 : 0, right = x + 1 < g->cells ? x + 1 : x;
    uint32_t last = y + 1 < g->cells ? y + 1 : y;
    around a = {0, {0}, {0}};
    for (uint32_t row = y > 0 ? y - 1 : 0; row <= last; row++) {
        const uint32_t *begin = g->begin + (size_t)row * g->cells;
        a.begin[a.count] = begin[left];
        a.end[a.count++] = begin[right + 1];
    }
    return a;
}

static Push push_of(const plain_game *g, const around *a, Place at)
{
    Push push = {0, 0};
    for (uint32_t r = 0; r < a->count; r++)
        for (uint32_t k = a->begin[r]; k < a->end[r]; k++) game_push(&push, at, g->sorted_at[k]);
    return push;
}

static fighter_handle nearest(const plain_game *g, const around *a, uint32_t of)
{
    game_choice best = {REACH * REACH, UINT64_MAX, UINT32_MAX};
    for (uint32_t r = 0; r < a->count; r++)
        for (uint32_t k = a->begin[r]; k < a->end[r]; k++) {
            uint32_t i = g->sorted[k];
            game_consider(&best, &g->fighter[of], g->at[of], g->fighter[i], g->sorted_at[k], i);
        }
    if (best.index == UINT32_MAX) return (fighter_handle){0, 0};
    return (fighter_handle){best.index, g->version[best.index]};
}

static void look_around(plain_game *g)
{
    for (uint32_t y = 0; y < g->cells; y++)
        for (uint32_t x = 0; x < g->cells; x++) {
            around a = around_cell(g, x, y);
            uint32_t cell = y * g->cells + x;
            for (uint32_t k = g->begin[cell]; k < g->begin[cell + 1]; k++) {
                uint32_t i = g->sorted[k];
                fighter_handle target = g->target[i];
                g->push[i] = push_of(g, &a, g->at[i]);
                if (!is_alive(g, target) ||
                    game_square(g->at[i], g->at[target.slot]) > REACH * REACH)
                    g->target[i] = nearest(g, &a, i);
            }
        }
}

static void move_all(plain_game *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        game_move(&g->at[i], g->speed[i], g->push[i]);
        game_bounce(&g->at[i].x, &g->speed[i].x, g->side);
        game_bounce(&g->at[i].y, &g->speed[i].y, g->side);
    }
}

static void hit_all(plain_game *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        g->pause[i] -= g->pause[i] > 0;
        if (g->pause[i] > 0 || !is_alive(g, g->target[i])) continue;
        game_hurt(&g->health[g->target[i].slot], DAMAGE);
        g->pause[i] = PAUSE;
    }
}

/* ---- fire, death and birth ---- */

static void burn_all(plain_game *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        if (g->is_burning[i]) {
            game_hurt(&g->health[i], 1);
            if (game_goes_out(g->fighter[i], g->tick)) g->is_burning[i] = false;
        }
        if (!g->is_burning[i])
            g->is_burning[i] = game_ignites(g->fighter[i], g->health[i], g->tick);
    }
}

static void begin_fighter(plain_game *g, uint32_t i)
{
    g->fighter[i].number = g->score.born++;
    g->health[i].points = HEALTH;
    g->target[i] = (fighter_handle){0, 0};
    g->push[i] = (Push){0, 0};
    g->pause[i] = 0;
    g->is_burning[i] = false;
    game_begin(g->fighter[i].number, g->side, &g->at[i], &g->speed[i], &g->life[i]);
}

static void replace_dead(plain_game *g)
{
    uint32_t dead = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        if (!game_dies(g->health[i], g->life[i])) continue;
        game_count(&g->score, g->fighter[i], g->health[i]);
        g->version[i]++;
        g->dead[dead++] = i;
    }
    while (dead > 0) begin_fighter(g, g->dead[--dead]);
    g->score.dead = 0;
}

static void game_step(void *side)
{
    plain_game *g = side;
    g->tick++;
    for (uint32_t i = 0; i < g->count; i++) g->life[i].left--;
    sort_fighters(g);
    look_around(g);
    move_all(g);
    hit_all(g);
    burn_all(g);
    replace_dead(g);
}

/* ---- begin and end ---- */

static void game_close(void *side)
{
    plain_game *g = side;
    free(g->at);
    free(g->speed);
    free(g->push);
    free(g->fighter);
    free(g->health);
    free(g->life);
    free(g->target);
    free(g->pause);
    free(g->version);
    free(g->is_burning);
    free(g->dead);
    free(g->begin);
    free(g->sorted);
    free(g->sorted_at);
    free(g);
}

static void *zeros(size_t count, size_t bytes)
{
    void *array = calloc(count, bytes);
    if (array == NULL) abort();
    return array;
}

static void *game_open(uint32_t size, uint32_t workers)
{
    (void)workers;
    plain_game *g = calloc(1, sizeof *g);
    if (g == NULL) return NULL;
    g->count = size;
    g->side = game_side(size);
    g->cells = (uint32_t)(g->side / REACH * 0.999f);
    g->per_cell = (float)g->cells / g->side;
    g->at = zeros(size, sizeof *g->at);
    g->speed = zeros(size, sizeof *g->speed);
    g->push = zeros(size, sizeof *g->push);
    g->fighter = zeros(size, sizeof *g->fighter);
    g->health = zeros(size, sizeof *g->health);
    g->life = zeros(size, sizeof *g->life);
    g->target = zeros(size, sizeof *g->target);
    g->pause = zeros(size, sizeof *g->pause);
    g->version = zeros(size, sizeof *g->version);
    g->is_burning = zeros(size, sizeof *g->is_burning);
    g->dead = zeros(size, sizeof *g->dead);
    g->begin = zeros((size_t)g->cells * g->cells + 2, sizeof *g->begin);
    g->sorted = zeros(size, sizeof *g->sorted);
    g->sorted_at = zeros(size, sizeof *g->sorted_at);
    for (uint32_t i = 0; i < size; i++) {
        g->version[i] = 1;
        begin_fighter(g, i);
    }
    return g;
}

static uint64_t game_content(void *side)
{
    const plain_game *g = side;
    uint64_t sum = game_sum_score(&g->score);
    for (uint32_t i = 0; i < g->count; i++) {
        fighter_handle target = g->target[i];
        sum += game_sum_weapon(
            game_sum(g->fighter[i], g->at[i], g->speed[i], g->health[i], g->life[i]), g->pause[i],
            is_alive(g, target) ? g->fighter[target.slot].number : UINT64_MAX, g->is_burning[i]);
    }
    return sum;
}

const program_side game_raw = {game_open, game_step, game_content, NULL, game_close};
