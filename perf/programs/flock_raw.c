/* SPDX-License-Identifier: MIT */
/* flock_raw.c: the flock in plain C: two arrays, and a counting sort into cells each step. Strips
 * of cells are in the order of weft_grid_runs, so that sums have the same bits. */
#include "flock.h"

#include <stdlib.h>

typedef struct plain_flock {
    uint32_t count, cells, tick; /* cells along each axis */
    float side;
    Position *at, *sorted;
    Heading *going, *sorted_going;
    uint32_t *bird; /* by place */
    uint32_t *begin;
} plain_flock;

static uint32_t cell_of(const plain_flock *f, Position at)
{
    return (uint32_t)at.y * f->cells + (uint32_t)at.x;
}

static void sort_birds(plain_flock *f)
{
    uint32_t cells = f->cells * f->cells;
    memset(f->begin, 0, (cells + 2) * sizeof *f->begin);
    for (uint32_t i = 0; i < f->count; i++) f->begin[cell_of(f, f->at[i]) + 2]++;
    for (uint32_t c = 2; c < cells + 2; c++) f->begin[c] += f->begin[c - 1];
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t place = f->begin[cell_of(f, f->at[i]) + 1]++;
        f->sorted[place] = f->at[i];
        f->sorted_going[place] = f->going[i];
        f->bird[place] = i;
    }
}

/* Birds of the cells from `first` to `last` of a row, which lies `x`, `y` beside. */
typedef struct strip {
    uint32_t begin, end;
    float x, y;
} strip;

static uint32_t strips_around(const plain_flock *f, uint32_t x, uint32_t y, strip out[9])
{
    uint32_t n = 0, last = f->cells - 1;
    for (int dy = -1; dy <= 1; dy++) {
        uint32_t row = (y + (uint32_t)dy) & last; /* a power of two */
        float shift = y == 0 && dy < 0 ? -f->side : y == last && dy > 0 ? f->side : 0;
        const uint32_t *begin = f->begin + (size_t)row * f->cells;
        if (x == 0) out[n++] = (strip){begin[last], begin[last + 1], -f->side, shift};
        out[n++] = (strip){begin[x > 0 ? x - 1 : 0], begin[x < last ? x + 2 : x + 1], 0, shift};
        if (x == last) out[n++] = (strip){begin[0], begin[1], f->side, shift};
    }
    return n;
}

static void steer_cell(plain_flock *f, uint32_t x, uint32_t y)
{
    uint32_t cell = y * f->cells + x;
    if (f->begin[cell] == f->begin[cell + 1]) return;
    strip strips[9];
    uint32_t count = strips_around(f, x, y, strips);
    for (uint32_t place = f->begin[cell]; place < f->begin[cell + 1]; place++) {
        Position at = f->sorted[place];
        Heading way = f->sorted_going[place];
        flock_view view = {{0, 0}, {0, 0}, {0, 0}};
        for (uint32_t s = 0; s < count; s++) {
            float dx = strips[s].x - at.x, dy = strips[s].y - at.y;
            for (uint32_t k = strips[s].begin; k < strips[s].end; k++)
                flock_see(&view, f->sorted[k].x + dx, f->sorted[k].y + dy, f->sorted_going[k]);
        }
        uint32_t bird = f->bird[place];
        flock_turn(&view, bird, f->tick, &way);
        flock_fly(&at, way, f->side);
        f->at[bird] = at;
        f->going[bird] = way;
    }
}

static void flock_step(void *side)
{
    plain_flock *f = side;
    f->tick++;
    sort_birds(f);
    for (uint32_t y = 0; y < f->cells; y++)
        for (uint32_t x = 0; x < f->cells; x++) steer_cell(f, x, y);
}

static void flock_close(void *side)
{
    plain_flock *f = side;
    free(f->at);
    free(f->sorted);
    free(f->going);
    free(f->sorted_going);
    free(f->bird);
    free(f->begin);
    free(f);
}

static void *flock_open(uint32_t size, uint32_t workers)
{
    (void)workers;
    plain_flock *f = calloc(1, sizeof *f);
    if (f == NULL) return NULL;
    f->count = size;
    f->cells = flock_side(size);
    f->side = (float)f->cells;
    f->at = calloc(size, sizeof *f->at);
    f->sorted = calloc(size, sizeof *f->sorted);
    f->going = calloc(size, sizeof *f->going);
    f->sorted_going = calloc(size, sizeof *f->sorted_going);
    f->bird = calloc(size, sizeof *f->bird);
    f->begin = calloc((size_t)f->cells * f->cells + 2, sizeof *f->begin);
    if (!f->at || !f->sorted || !f->going || !f->sorted_going || !f->bird || !f->begin) {
        flock_close(f);
        return NULL;
    }
    for (uint32_t i = 0; i < size; i++) flock_hatch(i, f->side, &f->at[i], &f->going[i]);
    return f;
}

static uint64_t flock_content(void *side)
{
    const plain_flock *f = side;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < f->count; i++) sum += flock_sum(i, f->at[i], f->going[i]);
    return sum;
}

const program_side flock_raw = {flock_open, flock_step, flock_content, NULL, flock_close};
