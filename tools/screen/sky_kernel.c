/* SPDX-License-Identifier: MIT */
/* sky_kernel.c: the pair search itself, compiled once per instruction set like the propagator;
 * and the store between the two.
 *
 * One step: number row and column of every object, sort by column, then by row, and walk the
 * bodies in that order. A body meets those after it in its own row up to four columns on, and
 * those of the next row from four columns before to four after it; both are one run of memory
 * each, and move along with it. Distances first, on positions only; the few that are near enough
 * to meet are then tested along their relative motion, taken as a straight line over half a
 * step.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "sky.h"

enum { batch_pairs = 512, BLOCK = 8 };

/* Vectors of gcc and clang: the loop over a block would be unrolled, not vectorised. */
typedef float floats __attribute__((vector_size(4 * BLOCK)));
typedef int32_t masks __attribute__((vector_size(4 * BLOCK)));

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

enum { NEAR = SKY_COLUMNS_NEAR, LAST_COLUMN = SKY_COLUMNS - 1, FAST_ROW = SKY_ROWS };

/* Folding onto the torus is a mask; its seam is far from the Earth. Truncation brings two numbers
 * together, never apart. */
static uint32_t row_at(float y, const struct sky_rules *rules)
{
    return (uint32_t)(int32_t)(y * rules->per_row + 2048.0f) & (SKY_ROWS - 1);
}

static uint32_t column_at(float z, const struct sky_rules *rules)
{
    return (uint32_t)(int32_t)(z * ((float)NEAR * rules->per_row) + 8192.0f +
                               (float)(SKY_COLUMNS / 2)) &
           LAST_COLUMN;
}

/* Fast and absent objects get two rows after the last. */
static void number_cells(const struct sky *sky, const struct sky_rules *rules,
                         struct sky_grid *grid)
{
    const struct sky_rules r = *rules;
    const float slow2 = r.slow * r.slow;
    const float *restrict x = sky->x, *restrict y = sky->y, *restrict z = sky->z;
    const float *restrict vx = sky->vx, *restrict vy = sky->vy, *restrict vz = sky->vz;
    uint32_t *restrict cell_of = grid->cell_of;
    const uint32_t count = sky->count;
    for (uint32_t i = 0; i < count; i++) {
        const float here = x[i] < 1e9f ? 1.0f : 0.0f;
        const uint32_t row = row_at(y[i] * here, &r), column = column_at(z[i] * here, &r);
        const float speed2 = vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i];
        const uint32_t found = speed2 <= slow2 ? row : FAST_ROW;
        cell_of[i] = (here != 0.0f ? found : FAST_ROW + 1) * SKY_COLUMNS + column;
    }
}

/* Counts become where each begins. */
static void sum_up(uint32_t *counts, uint32_t count)
{
    for (uint32_t i = 0, sum = 0; i < count; i++) {
        const uint32_t begin = sum;
        sum += counts[i];
        counts[i] = begin;
    }
}

/* Radix sort: placing moves each begin to its end, which is the begin of the next; absent
 * objects come last, beyond the bodies that count. */
static void sort_into_rows(const struct sky *sky, struct sky_grid *grid)
{
    const uint32_t count = sky->count;
    const float *restrict x = sky->x, *restrict y = sky->y, *restrict z = sky->z;
    const float *restrict vx = sky->vx, *restrict vy = sky->vy, *restrict vz = sky->vz;
    const uint32_t *restrict cell_of = grid->cell_of;
    uint32_t *restrict by_column = grid->by_column, *restrict row_end = grid->row_end;
    struct sky_body *restrict bodies = grid->bodies;
    uint32_t column_end[SKY_COLUMNS] = {0};
    memset(row_end, 0, sizeof grid->row_end);
    for (uint32_t i = 0; i < count; i++) {
        column_end[cell_of[i] & LAST_COLUMN]++;
        row_end[cell_of[i] / SKY_COLUMNS]++;
    }
    sum_up(column_end, SKY_COLUMNS);
    sum_up(row_end, SKY_ROWS + 2);
    for (uint32_t i = 0; i < count; i++) by_column[column_end[cell_of[i] & LAST_COLUMN]++] = i;
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t i = by_column[k], cell = cell_of[i];
        bodies[row_end[cell / SKY_COLUMNS]++] = (struct sky_body){.x = x[i],
                                                                  .y = y[i],
                                                                  .z = z[i],
                                                                  .object = i,
                                                                  .vx = vx[i],
                                                                  .vy = vy[i],
                                                                  .vz = vz[i],
                                                                  .cell = cell};
    }
    grid->slow_count = row_end[SKY_ROWS - 1];
    grid->body_count = row_end[FAST_ROW];
}

/* The bodies of a row. */
static uint32_t row_begin(const struct sky_grid *grid, uint32_t row)
{
    return row == 0 ? 0 : grid->row_end[row - 1];
}

static int32_t column_of(const struct sky_body *body)
{
    return (int32_t)(body->cell & LAST_COLUMN);
}

/* The first body of [begin, end), all of one row, that is in this column or after it. */
static uint32_t find_column(const struct sky_grid *grid, uint32_t begin, uint32_t end,
                            uint32_t column)
{
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        if ((uint32_t)column_of(&grid->bodies[middle]) < column)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
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

/* Body p against the columns of a row from `first` to `last`, which may reach over the seam of the
 * torus. */
static int compare_columns(struct search *s, uint32_t p, uint32_t row, int32_t first, int32_t last,
                           float reach)
{
    const uint32_t begin = row_begin(s->grid, row), end = s->grid->row_end[row];
    if (first < 0) {
        if (compare_columns(s, p, row, first + SKY_COLUMNS, LAST_COLUMN, reach)) return -1;
        first = 0;
    }
    if (last > LAST_COLUMN) {
        if (compare_columns(s, p, row, 0, last - SKY_COLUMNS, reach)) return -1;
        last = LAST_COLUMN;
    }
    const uint32_t from = find_column(s->grid, begin, end, (uint32_t)first);
    return compare_run(s, p, from, find_column(s->grid, from, end, (uint32_t)last + 1), reach);
}

/* A body near the seam. In its own row a pair is looked at from the side with the higher column. */
static int compare_at_seam(struct search *s, uint32_t p, uint32_t row)
{
    const struct sky_grid *grid = s->grid;
    const float reach = s->rules->reach;
    const int32_t first = column_of(&grid->bodies[p]) - NEAR, last = first + 2 * NEAR;
    const uint32_t after = find_column(grid, p + 1, grid->row_end[row], (uint32_t)last + 1);
    if (compare_run(s, p, p + 1, after, reach)) return -1;
    if (last > LAST_COLUMN && compare_columns(s, p, row, 0, last - SKY_COLUMNS, reach)) return -1;
    return compare_columns(s, p, (row + 1) % SKY_ROWS, first, last, reach);
}

/* Neighbours in a row, side by side: a loop over them becomes vector code. */
struct block {
    floats x, y, z;
    uint32_t first, count;
};

static void block_load(struct block *b, const struct sky_body *bodies, uint32_t first, uint32_t end)
{
    b->first = first;
    b->count = end - first < BLOCK ? end - first : BLOCK;
    float to[3][BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++) {
        const bool is_there = i < b->count;
        const struct sky_body *body = &bodies[first + (is_there ? i : 0)];
        to[0][i] = is_there ? body->x : SKY_ABSENT; /* near nothing: its square is infinite */
        to[1][i] = body->y;
        to[2][i] = body->z;
    }
    memcpy(&b->x, to[0], sizeof b->x);
    memcpy(&b->y, to[1], sizeof b->y);
    memcpy(&b->z, to[2], sizeof b->z);
}

/* The bodies of a block against each of [begin, end), but those of the same row only against
 * later ones. */
static int compare_block(struct search *s, const struct block *b, uint32_t begin, uint32_t end,
                         bool is_same_row)
{
    const struct sky_body *bodies = s->grid->bodies;
    const float reach2 = s->rules->reach * s->rules->reach;
    for (uint32_t q = begin; q < end; q++) {
        const float x = bodies[q].x, y = bodies[q].y, z = bodies[q].z;
        const floats dx = x - b->x, dy = y - b->y, dz = z - b->z;
        const masks near = dx * dx + dy * dy + dz * dz < reach2;
        uint64_t halves[BLOCK / 2], any = 0;
        memcpy(halves, &near, sizeof halves);
        for (uint32_t i = 0; i < BLOCK / 2; i++) any |= halves[i];
        if (any == 0) continue;
        uint32_t count = s->batch.count;
        for (uint32_t i = 0; i < BLOCK; i++) {
            s->batch.pair[count].p = b->first + i;
            s->batch.pair[count].q = q;
            count += near[i] != 0 && (!is_same_row || b->first + i < q) ? 1 : 0;
        }
        s->batch.count = count;
        if (count >= batch_pairs && flush(s)) return -1;
    }
    return 0;
}

/* The bodies of a row, each against the later ones of its row and those of the next one. */
static int sweep_row(struct search *s, uint32_t row)
{
    const struct sky_grid *grid = s->grid;
    const struct sky_body *bodies = grid->bodies;
    const uint32_t next = (row + 1) % SKY_ROWS;
    const uint32_t end = grid->row_end[row], next_end = grid->row_end[next];
    uint32_t after = row_begin(grid, row), from = row_begin(grid, next), to = from;
    struct block block;
    for (uint32_t p = after; p < end; p += block.count) {
        block_load(&block, bodies, p, end);
        const int32_t first = column_of(&bodies[p]) - NEAR;
        const int32_t last = column_of(&bodies[p + block.count - 1]) + NEAR;
        if (first < 0 || last > LAST_COLUMN) {
            for (uint32_t i = 0; i < block.count; i++)
                if (compare_at_seam(s, p + i, row)) return -1;
            continue;
        }
        while (after < end && column_of(&bodies[after]) <= last) after++;
        while (from < next_end && column_of(&bodies[from]) < first) from++;
        while (to < next_end && column_of(&bodies[to]) <= last) to++;
        s->found->tested += block.count * (uint64_t)(after - p + to - from);
        if (compare_block(s, &block, p + 1, after, true) ||
            compare_block(s, &block, from, to, false))
            return -1;
    }
    return 0;
}

static int pair_slow(struct search *s)
{
    for (uint32_t row = 0; row < SKY_ROWS; row++)
        if (sweep_row(s, row)) return -1;
    return 0;
}

/* Fast bodies: twice as far each way among the slow ones, then the fast ones after them. */
static int pair_fast(struct search *s)
{
    const struct sky_grid *grid = s->grid;
    for (uint32_t p = grid->slow_count; p < grid->body_count; p++) {
        const struct sky_body *body = &grid->bodies[p];
        const float speed = sqrtf(body->vx * body->vx + body->vy * body->vy + body->vz * body->vz);
        const float reach = s->rules->reach + s->rules->half_step * (speed - s->rules->slow);
        const uint32_t row = row_at(body->y, s->rules) + SKY_ROWS - 2;
        const int32_t column = (int32_t)column_at(body->z, s->rules);
        for (uint32_t r = row; r < row + 5; r++)
            if (compare_columns(s, p, r % SKY_ROWS, column - 2 * NEAR, column + 2 * NEAR, reach))
                return -1;
        /* Two fast ones: at most escape speed each. */
        const float both = reach + s->rules->half_step * (11.5f - s->rules->slow);
        if (compare_run(s, p, p + 1, grid->body_count, both)) return -1;
    }
    return 0;
}

static void hash(const struct sky *sky, const struct sky_rules *rules, struct sky_grid *grid)
{
    number_cells(sky, rules, grid);
    sort_into_rows(sky, grid);
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
    if (count == SGP4_LANES)
        for (int c = 0; c < 6; c++) memcpy(column[c] + first, to[c], sizeof to[c]);
    else
        for (int c = 0; c < 6; c++) memcpy(column[c] + first, to[c], count * sizeof(float));
    return (uint32_t)lost;
}

/* Cubic Hermite interpolation: the values of the four base polynomials, and their slopes. */
static void blend(const struct sgp4_states *from, const struct sgp4_states *to, double seconds,
                  double part, struct sgp4_states *out)
{
    const double u = part, u2 = u * u, u3 = u2 * u;
    const double p1 = 3.0 * u2 - 2.0 * u3, p0 = 1.0 - p1;
    const double v0 = (u3 - 2.0 * u2 + u) * seconds, v1 = (u3 - u2) * seconds;
    const double q1 = 6.0 * (u - u2) / seconds;
    const double w0 = 3.0 * u2 - 4.0 * u + 1.0, w1 = 3.0 * u2 - 2.0 * u;
    for (int i = 0; i < SGP4_LANES; i++) {
        out->x[i] = p0 * from->x[i] + p1 * to->x[i] + (v0 * from->vx[i] + v1 * to->vx[i]);
        out->y[i] = p0 * from->y[i] + p1 * to->y[i] + (v0 * from->vy[i] + v1 * to->vy[i]);
        out->z[i] = p0 * from->z[i] + p1 * to->z[i] + (v0 * from->vz[i] + v1 * to->vz[i]);
        out->vx[i] = q1 * (to->x[i] - from->x[i]) + (w0 * from->vx[i] + w1 * to->vx[i]);
        out->vy[i] = q1 * (to->y[i] - from->y[i]) + (w0 * from->vy[i] + w1 * to->vy[i]);
        out->vz[i] = q1 * (to->z[i] - from->z[i]) + (w0 * from->vz[i] + w1 * to->vz[i]);
        out->error[i] = out->doubt[i] = 0.0;
    }
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
                                                                .blend = blend,
                                                                .store = store,
                                                                .hash = hash,
                                                                .find_pairs = find_pairs,
                                                                .neighbours = neighbours};
