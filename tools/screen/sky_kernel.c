/* SPDX-License-Identifier: MIT */
/* sky_kernel.c: the pair search itself, compiled once per instruction set like the propagator;
 * and the store between the two.
 *
 * One step: number the cell of every object, count, sum, place (a counting sort), then walk the
 * bodies in cell order. A body meets those after it in its own cell and the next one, and three
 * cells of the next row; in cell order both are one run of memory each. Distances first, on
 * positions only; the few that are near enough to meet are then tested along their relative
 * motion, taken as a straight line over half a step.
 */
#include <math.h>
#include <string.h>

#include "sky.h"

enum { batch_pairs = 512 };

/* Pairs of bodies within reach that wait for the second test. */
struct batch {
    uint32_t count;
    struct {
        uint32_t p, q;
    } pair[2 * batch_pairs];
};

struct search {
    const struct sky_rules *rules;
    const struct sky_grid *grid;
    struct sky_pairs *found;
    struct batch batch;
};

/* Cells are counted from far out so that truncation rounds down; folding onto the torus is a
 * mask. Fast and absent objects get the two numbers after the last cell. */
static void number_cells(const struct sky *sky, const struct sky_rules *rules,
                         struct sky_grid *grid)
{
    const float per_cell = rules->per_cell, slow2 = rules->slow * rules->slow;
    const uint32_t bits = grid->bits, mask = (1u << bits) - 1, outside = 1u << (2 * bits);
    const float *restrict x = sky->x, *restrict y = sky->y, *restrict z = sky->z;
    const float *restrict vx = sky->vx, *restrict vy = sky->vy, *restrict vz = sky->vz;
    uint32_t *restrict cell_of = grid->cell_of;
    const uint32_t count = sky->count;
    for (uint32_t i = 0; i < count; i++) {
        const float here = x[i] < 1e9f ? 1.0f : 0.0f;
        const uint32_t row = (uint32_t)(int32_t)(y[i] * here * per_cell + 2048.0f) & mask;
        const uint32_t column = (uint32_t)(int32_t)(z[i] * here * per_cell + 2048.0f) & mask;
        const float speed2 = vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i];
        const uint32_t cell = speed2 <= slow2 ? (row << bits) + column : outside;
        cell_of[i] = here != 0.0f ? cell : outside + 1;
    }
}

/* How many objects of each cell; then where each cell begins. */
static void count_cells(const uint32_t *restrict cell_of, uint32_t count,
                        uint32_t *restrict cell_end, uint32_t outside)
{
    memset(cell_end, 0, ((size_t)outside + 2) * sizeof *cell_end);
    for (uint32_t i = 0; i < count; i++) cell_end[cell_of[i]]++;
    uint32_t sum = 0;
    for (uint32_t c = 0; c <= outside + 1; c++) {
        const uint32_t begin = sum;
        sum += cell_end[c];
        cell_end[c] = begin;
    }
}

/* Counting sort by cell. Placing moves each cell's begin to its end, which is the begin of the
 * next; absent objects come last, beyond the bodies that count. */
static void sort_into_cells(const struct sky *sky, struct sky_grid *grid)
{
    const uint32_t outside = 1u << (2 * grid->bits), count = sky->count;
    const float *restrict x = sky->x, *restrict y = sky->y, *restrict z = sky->z;
    const float *restrict vx = sky->vx, *restrict vy = sky->vy, *restrict vz = sky->vz;
    const uint32_t *restrict cell_of = grid->cell_of;
    uint32_t *restrict cell_end = grid->cell_end;
    struct sky_body *restrict bodies = grid->bodies;
    count_cells(cell_of, count, cell_end, outside);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t cell = cell_of[i];
        /* Bodies of a cell are anywhere in memory: 5 % of the whole job. */
        if (i + 16 < count) __builtin_prefetch(&bodies[cell_end[cell_of[i + 16]]], 1);
        bodies[cell_end[cell]++] = (struct sky_body){.x = x[i],
                                                     .y = y[i],
                                                     .z = z[i],
                                                     .object = i,
                                                     .vx = vx[i],
                                                     .vy = vy[i],
                                                     .vz = vz[i],
                                                     .cell = cell};
    }
    grid->slow_count = cell_end[outside - 1];
    grid->body_count = cell_end[outside];
}

static uint32_t cell_begin(const struct sky_grid *grid, uint32_t cell)
{
    return cell == 0 ? 0 : grid->cell_end[cell - 1];
}

/* The smallest distance of two bodies along their relative motion against the limit. */
static int may_meet(const struct sky_body *a, const struct sky_body *b,
                    const struct sky_rules *rules)
{
    const float x = b->x - a->x, y = b->y - a->y, z = b->z - a->z;
    const float vx = b->vx - a->vx, vy = b->vy - a->vy, vz = b->vz - a->vz;
    const float speed2 = vx * vx + vy * vy + vz * vz + 1e-20f;
    float t = -(x * vx + y * vy + z * vz) / speed2;
    t = t > rules->half_step ? rules->half_step : t;
    t = t < -rules->half_step ? -rules->half_step : t;
    const float dx = x + vx * t, dy = y + vy * t, dz = z + vz * t;
    const float rounding = 3e-7f * (fabsf(a->x) + fabsf(a->y) + fabsf(a->z));
    const float limit = rules->limit + rounding;
    return dx * dx + dy * dy + dz * dz < limit * limit;
}

static int flush(struct search *s)
{
    struct sky_pairs *found = s->found;
    if (sky_pairs_reserve(found, s->batch.count)) return -1;
    uint32_t count = found->count;
    for (uint32_t k = 0; k < s->batch.count; k++) {
        const struct sky_body *a = &s->grid->bodies[s->batch.pair[k].p],
                              *b = &s->grid->bodies[s->batch.pair[k].q];
        const uint32_t low = a->object < b->object ? a->object : b->object;
        const uint32_t high = a->object < b->object ? b->object : a->object;
        found->pairs[count] = (struct sky_pair){.a = low, .b = high};
        count += may_meet(a, b, s->rules) ? 1 : 0;
    }
    found->count = count;
    s->batch.count = 0;
    return 0;
}

/* Body p against the run [begin, end): within `reach` of each other goes into the batch. */
static int compare_run(struct search *s, uint32_t p, uint32_t begin, uint32_t end, float reach)
{
    const struct sky_body *bodies = s->grid->bodies;
    const float x = bodies[p].x, y = bodies[p].y, z = bodies[p].z, reach2 = reach * reach;
    s->found->tested += end - begin;
    while (begin < end) {
        const uint32_t stop = end - begin < batch_pairs ? end : begin + batch_pairs;
        uint32_t count = s->batch.count;
        for (uint32_t q = begin; q < stop; q++) {
            const float dx = bodies[q].x - x, dy = bodies[q].y - y, dz = bodies[q].z - z;
            s->batch.pair[count].p = p;
            s->batch.pair[count].q = q;
            count += dx * dx + dy * dy + dz * dz < reach2 ? 1 : 0;
        }
        s->batch.count = count;
        if (count >= batch_pairs && flush(s)) return -1;
        begin = stop;
    }
    return 0;
}

/* Body p against the cells of a row from `first` to `last` columns, which may reach over the
 * seam of the torus. */
static int compare_cells(struct search *s, uint32_t p, uint32_t row, int32_t first, int32_t last,
                         float reach)
{
    const uint32_t bits = s->grid->bits;
    const int32_t columns = 1 << bits;
    const uint32_t base = (row & ((1u << bits) - 1)) << bits;
    if (first < 0) {
        if (compare_cells(s, p, row, first + columns, columns - 1, reach)) return -1;
        first = 0;
    }
    if (last >= columns) {
        if (compare_cells(s, p, row, 0, last - columns, reach)) return -1;
        last = columns - 1;
    }
    return compare_run(s, p, cell_begin(s->grid, base + (uint32_t)first),
                       s->grid->cell_end[base + (uint32_t)last], reach);
}

/* Slow bodies: half of the neighbourhood, so that each pair of cells is looked at once. */
static int pair_slow(struct search *s)
{
    const struct sky_grid *grid = s->grid;
    const uint32_t bits = grid->bits, mask = (1u << bits) - 1;
    const float reach = s->rules->reach;
    for (uint32_t p = 0; p < grid->slow_count; p++) {
        const uint32_t cell = grid->bodies[p].cell, row = cell >> bits;
        const int32_t column = (int32_t)(cell & mask);
        int failed;
        if (column > 0 && column < (int32_t)mask) {
            const uint32_t next = ((row + 1) & mask) << bits;
            failed = compare_run(s, p, p + 1, grid->cell_end[cell + 1], reach);
            failed |= compare_run(s, p, cell_begin(grid, next + (uint32_t)column - 1),
                                  grid->cell_end[next + (uint32_t)column + 1], reach);
        } else {
            failed = compare_run(s, p, p + 1, grid->cell_end[cell], reach);
            failed |= compare_cells(s, p, row, column + 1, column + 1, reach);
            failed |= compare_cells(s, p, row + 1, column - 1, column + 1, reach);
        }
        if (failed) return -1;
    }
    return 0;
}

/* Fast bodies: two cells each way among the slow ones, then the fast ones after them. */
static int pair_fast(struct search *s)
{
    const struct sky_grid *grid = s->grid;
    for (uint32_t p = grid->slow_count; p < grid->body_count; p++) {
        const struct sky_body *body = &grid->bodies[p];
        const float speed = sqrtf(body->vx * body->vx + body->vy * body->vy + body->vz * body->vz);
        const float reach = s->rules->reach + s->rules->half_step * (speed - s->rules->slow);
        const int32_t row = (int32_t)(body->y * s->rules->per_cell + 2048.0f);
        const int32_t column =
            (int32_t)(body->z * s->rules->per_cell + 2048.0f) & ((1 << grid->bits) - 1);
        for (int32_t r = row - 2; r <= row + 2; r++) {
            if (compare_cells(s, p, (uint32_t)r, column - 2, column + 2, reach)) return -1;
        }
        /* Two fast ones: at most escape speed each. */
        const float both = reach + s->rules->half_step * (11.5f - s->rules->slow);
        if (compare_run(s, p, p + 1, grid->body_count, both)) return -1;
    }
    return 0;
}

static void hash(const struct sky *sky, const struct sky_rules *rules, struct sky_grid *grid)
{
    number_cells(sky, rules, grid);
    sort_into_cells(sky, grid);
}

static int find_pairs(const struct sky_grid *grid, const struct sky_rules *rules,
                      struct sky_pairs *found)
{
    struct search s;
    s.rules = rules;
    s.grid = grid;
    s.found = found;
    s.batch.count = 0;
    if (pair_slow(&s) || pair_fast(&s)) return -1;
    return flush(&s);
}

static uint32_t store(const struct sgp4_states *states, double *error, float *fastest,
                      const struct sky *sky, uint32_t first, uint32_t count)
{
    _Alignas(64) float to[6][SGP4_LANES];
    int64_t lost = 0;
    for (int i = 0; i < SGP4_LANES; i++) {
        const double before = error[i], now = before != 0.0 ? before : states->error[i];
        lost += now != before ? 1 : 0;
        error[i] = now;
        to[0][i] = (float)(now != 0.0 ? (double)SKY_ABSENT : states->x[i]);
        to[1][i] = (float)(now != 0.0 ? 0.0 : states->y[i]);
        to[2][i] = (float)(now != 0.0 ? 0.0 : states->z[i]);
    }
    for (int i = 0; i < SGP4_LANES; i++) {
        const float vx = (float)states->vx[i], vy = (float)states->vy[i], vz = (float)states->vz[i];
        const float speed = sqrtf(vx * vx + vy * vy + vz * vz);
        fastest[i] = speed > fastest[i] ? speed : fastest[i];
        to[3][i] = vx;
        to[4][i] = vy;
        to[5][i] = vz;
    }
    float *const column[6] = {sky->x, sky->y, sky->z, sky->vx, sky->vy, sky->vz};
    for (int c = 0; c < 6; c++) memcpy(column[c] + first, to[c], count * sizeof(float));
    return (uint32_t)lost;
}

static uint32_t neighbours(const double *const position[3], const double *reach, uint32_t count,
                           uint32_t i, uint32_t *near)
{
    const double *restrict x = position[0], *restrict y = position[1], *restrict z = position[2];
    const double xi = x[i], yi = y[i], zi = z[i], ri = reach[i];
    uint32_t written = 0;
    for (uint32_t begin = i + 1; begin < count; begin += 256) {
        const uint32_t end = count - begin < 256 ? count : begin + 256;
        int64_t any = 0;
        for (uint32_t j = begin; j < end; j++) {
            const double dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi, r = reach[j] + ri;
            any |= dx * dx + dy * dy + dz * dz <= r * fabs(r) ? 1 : 0;
        }
        for (uint32_t j = begin; any && j < end; j++) {
            const double dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi, r = reach[j] + ri;
            if (dx * dx + dy * dy + dz * dz <= r * fabs(r)) near[written++] = j;
        }
    }
    return written;
}

#define SKY_NAME(text) SKY_NAME_OF(text)
#define SKY_NAME_OF(text) #text
#define SKY_JOIN(a, b) SKY_JOIN_OF(a, b)
#define SKY_JOIN_OF(a, b) a##b

extern const struct sky_kernels SKY_JOIN(sky_kernels_, SGP4_KERNEL);
const struct sky_kernels SKY_JOIN(sky_kernels_, SGP4_KERNEL) = {.name = SKY_NAME(SGP4_KERNEL),
                                                                .store = store,
                                                                .hash = hash,
                                                                .find_pairs = find_pairs,
                                                                .neighbours = neighbours};
