/* SPDX-License-Identifier: MIT */
/* approach.c: refinement: the root of the range rate between the ends of a step, for a block of
 * pairs in lockstep.
 *
 * Each side of the pairs is loaded into a near and a deep block once; every iteration evaluates
 * both sides at one time per pair. The root finder keeps a bracket and combines the secant
 * through it with the Illinois rule (an end that stays twice counts half), which is fast on the
 * nearly straight range rate of fast pairs and safe on any other. A pair that is done keeps its
 * time, so its result does not depend on who shares its block.
 */
#include "approach.h"

#include <math.h>
#include <string.h>

enum { lanes = SGP4_LANES, rounds_max = 60 };

/* Seconds: 0.1 us, at 15 km/s a millimetre and a half along the track, and a picometre in the
 * miss. */
static const double tolerance_s = 1e-7;

/* One side of the pairs: lane i is in the near or in the deep block. */
struct side {
    struct sgp4_near_block near;
    struct sgp4_deep_block deep;
    uint32_t near_count, deep_count;
    int is_deep[lanes];
};

struct relative {
    double rate[lanes], distance[lanes], speed[lanes];
    int is_valid[lanes];
};

struct bracket {
    double low[lanes], high[lanes];           /* seconds */
    double low_rate[lanes], high_rate[lanes]; /* km^2/s; weights of the Illinois rule included */
    double time[lanes];
    int side[lanes]; /* which end moved last: -1, 0, 1 */
    int is_open[lanes];
};

struct block {
    const struct sgp4_kernels *kernels;
    struct side a, b;
};

static void side_load(struct side *side, const struct approach_suspect *suspects, uint32_t count,
                      int is_b, struct moment start)
{
    const struct sgp4_near *near[lanes] = {NULL};
    const struct sgp4_deep *deep[lanes] = {NULL};
    side->near_count = side->deep_count = 0;
    const struct sgp4_near *any_near = NULL;
    const struct sgp4_deep *any_deep = NULL;
    for (uint32_t i = 0; i < lanes; i++) {
        const struct approach_suspect *s = &suspects[i < count ? i : 0];
        const struct approach_object *object = is_b ? &s->b : &s->a;
        near[i] = object->near;
        deep[i] = object->deep;
        side->is_deep[i] = object->deep != NULL;
        any_near = object->near ? object->near : any_near;
        any_deep = object->deep ? object->deep : any_deep;
    }
    for (uint32_t i = 0; i < lanes; i++) {
        near[i] = near[i] ? near[i] : any_near;
        deep[i] = deep[i] ? deep[i] : any_deep;
    }
    if (any_near) sgp4_near_block_load(&side->near, near, lanes, start.day, start.fraction);
    if (any_deep) sgp4_deep_block_load(&side->deep, deep, lanes, start.day, start.fraction);
    side->near_count = any_near != NULL;
    side->deep_count = any_deep != NULL;
}

static void side_states(struct side *side, const struct sgp4_kernels *kernels,
                        const double *minutes, struct sgp4_states *out)
{
    struct sgp4_states deep;
    if (side->near_count) kernels->near_states(&side->near, minutes, out);
    if (!side->deep_count) return;
    kernels->deep_states(&side->deep, minutes, &deep);
    for (uint32_t i = 0; i < lanes; i++) {
        if (!side->is_deep[i]) continue;
        out->x[i] = deep.x[i], out->y[i] = deep.y[i], out->z[i] = deep.z[i];
        out->vx[i] = deep.vx[i], out->vy[i] = deep.vy[i], out->vz[i] = deep.vz[i];
        out->error[i] = deep.error[i];
    }
}

static void relative_at(struct block *block, const double *seconds, struct relative *out)
{
    struct sgp4_states a, b;
    double minutes[lanes];
    for (uint32_t i = 0; i < lanes; i++) minutes[i] = seconds[i] / 60.0;
    side_states(&block->a, block->kernels, minutes, &a);
    side_states(&block->b, block->kernels, minutes, &b);
    for (uint32_t i = 0; i < lanes; i++) {
        const double x = b.x[i] - a.x[i], y = b.y[i] - a.y[i], z = b.z[i] - a.z[i];
        const double vx = b.vx[i] - a.vx[i], vy = b.vy[i] - a.vy[i], vz = b.vz[i] - a.vz[i];
        out->rate[i] = x * vx + y * vy + z * vz;
        out->distance[i] = sqrt(x * x + y * y + z * z);
        out->speed[i] = sqrt(vx * vx + vy * vy + vz * vz);
        out->is_valid[i] = a.error[i] == 0.0 && b.error[i] == 0.0;
    }
}

/* Range rates at both ends of the steps; open where there is a closest approach in between. */
static uint32_t bracket_open(struct block *block, const struct approach_window *window,
                             const struct approach_suspect *suspects, uint32_t count,
                             struct bracket *bracket)
{
    struct relative low, high;
    for (uint32_t i = 0; i < lanes; i++) {
        const uint32_t step = suspects[i < count ? i : 0].step;
        bracket->low[i] = approach_step_begin(window, step);
        bracket->high[i] = approach_step_begin(window, step + 1);
    }
    relative_at(block, bracket->low, &low);
    relative_at(block, bracket->high, &high);
    uint32_t open = 0;
    for (uint32_t i = 0; i < lanes; i++) {
        bracket->low_rate[i] = low.rate[i];
        bracket->high_rate[i] = high.rate[i];
        bracket->time[i] = bracket->high[i];
        bracket->side[i] = 0;
        bracket->is_open[i] = i < count && low.is_valid[i] && high.is_valid[i] &&
                              low.rate[i] < 0.0 && high.rate[i] >= 0.0;
        open += bracket->is_open[i] ? 1 : 0;
    }
    return open;
}

/* The next time to look at: the secant; the middle when it has not worked for long. */
static double bracket_guess(const struct bracket *b, uint32_t i, uint32_t round)
{
    const double width = b->high[i] - b->low[i];
    if (round >= rounds_max / 2) return b->low[i] + 0.5 * width;
    return b->low[i] + width * (b->low_rate[i] / (b->low_rate[i] - b->high_rate[i]));
}

static void bracket_narrow(struct bracket *b, uint32_t i, double time, double rate)
{
    if (rate < 0.0) {
        b->low[i] = time;
        b->low_rate[i] = rate;
        if (b->side[i] == -1) b->high_rate[i] *= 0.5;
        b->side[i] = -1;
    } else {
        b->high[i] = time;
        b->high_rate[i] = rate;
        if (b->side[i] == 1) b->low_rate[i] *= 0.5;
        b->side[i] = 1;
    }
}

static void bracket_close(struct block *block, struct bracket *bracket)
{
    uint32_t open = 1;
    for (uint32_t round = 0; open > 0 && round < rounds_max; round++) {
        double time[lanes];
        struct relative at;
        for (uint32_t i = 0; i < lanes; i++) {
            time[i] = bracket->is_open[i] ? bracket_guess(bracket, i, round) : bracket->time[i];
        }
        relative_at(block, time, &at);
        open = 0;
        for (uint32_t i = 0; i < lanes; i++) {
            if (!bracket->is_open[i]) continue;
            bracket_narrow(bracket, i, time[i], at.rate[i]);
            const int is_done = fabs(time[i] - bracket->time[i]) < tolerance_s ||
                                bracket->high[i] - bracket->low[i] < tolerance_s ||
                                at.rate[i] == 0.0;
            bracket->time[i] = time[i];
            bracket->is_open[i] = !is_done;
            open += is_done ? 0 : 1;
        }
    }
}

static void block_load(struct block *block, const struct approach_window *window,
                       const struct approach_suspect *pairs, uint32_t count)
{
    side_load(&block->a, pairs, count, 0, window->start);
    side_load(&block->b, pairs, count, 1, window->start);
}

static void refine_block(struct block *block, const struct approach_window *window,
                         const struct approach_suspect *suspects, uint32_t count,
                         struct approach *approaches)
{
    struct bracket bracket;
    struct relative at;
    block_load(block, window, suspects, count);
    memset(approaches, 0, count * sizeof *approaches);
    if (bracket_open(block, window, suspects, count, &bracket) == 0) return;
    int has_approach[lanes];
    memcpy(has_approach, bracket.is_open, sizeof has_approach);
    bracket_close(block, &bracket);
    relative_at(block, bracket.time, &at);
    for (uint32_t i = 0; i < count; i++) {
        approaches[i] =
            (struct approach){.tca_s = bracket.time[i],
                              .miss_km = at.distance[i],
                              .vrel_km_s = at.speed[i],
                              .is_below_threshold = has_approach[i] && at.is_valid[i] &&
                                                    at.distance[i] < window->threshold_km};
    }
}

void approach_refine(const struct sgp4_kernels *kernels, const struct approach_window *window,
                     const struct approach_suspect *suspects, uint32_t count,
                     struct approach *approaches)
{
    struct block block;
    block.kernels = kernels;
    for (uint32_t begin = 0; begin < count; begin += lanes) {
        const uint32_t part = count - begin < lanes ? count - begin : lanes;
        refine_block(&block, window, suspects + begin, part, approaches + begin);
    }
}

/* ---- a pair over the window, and at a moment ---- */

static void span_extend(struct approach_span *span, const struct relative *at, uint32_t i,
                        int is_first)
{
    if (is_first) {
        span->is_valid = 1;
        span->nearest_km = span->farthest_km = span->first_km = at->distance[i];
        span->first_rate = at->rate[i];
        span->first_vrel_km_s = at->speed[i];
    }
    span->is_valid = span->is_valid && at->is_valid[i];
    span->nearest_km = fmin(span->nearest_km, at->distance[i]);
    span->farthest_km = fmax(span->farthest_km, at->distance[i]);
    span->last_km = at->distance[i];
    span->last_rate = at->rate[i];
    span->last_vrel_km_s = at->speed[i];
}

void approach_follow(const struct sgp4_kernels *kernels, const struct approach_window *window,
                     const struct approach_suspect *pairs, uint32_t count,
                     struct approach_span *spans)
{
    struct block block;
    struct relative at;
    double seconds[lanes];
    block.kernels = kernels;
    for (uint32_t begin = 0; begin < count; begin += lanes) {
        const uint32_t part = count - begin < lanes ? count - begin : lanes;
        block_load(&block, window, pairs + begin, part);
        for (uint32_t step = 0; step <= window->step_count; step++) {
            for (uint32_t i = 0; i < lanes; i++) seconds[i] = approach_step_begin(window, step);
            relative_at(&block, seconds, &at);
            for (uint32_t i = 0; i < part; i++) span_extend(&spans[begin + i], &at, i, step == 0);
        }
    }
}

/* The frame of a's orbit: up, across (along the angular momentum, left of the flight) and along. */
static struct approach_view view_of(const struct sgp4_states *a, const struct sgp4_states *b,
                                    uint32_t i)
{
    const double r[3] = {a->x[i], a->y[i], a->z[i]}, v[3] = {a->vx[i], a->vy[i], a->vz[i]};
    const double w[3] = {b->vx[i], b->vy[i], b->vz[i]};
    const double d[3] = {b->x[i] - r[0], b->y[i] - r[1], b->z[i] - r[2]};
    const double h[3] = {r[1] * v[2] - r[2] * v[1], r[2] * v[0] - r[0] * v[2],
                         r[0] * v[1] - r[1] * v[0]};
    const double f[3] = {h[1] * r[2] - h[2] * r[1], h[2] * r[0] - h[0] * r[2],
                         h[0] * r[1] - h[1] * r[0]};
    double rr = 0, vv = 0, ww = 0, hh = 0, ff = 0, vw = 0, dr = 0, dh = 0, df = 0;
    for (int k = 0; k < 3; k++) {
        rr += r[k] * r[k], vv += v[k] * v[k], ww += w[k] * w[k];
        hh += h[k] * h[k], ff += f[k] * f[k], vw += v[k] * w[k];
        dr += d[k] * r[k], dh += d[k] * h[k], df += d[k] * f[k];
    }
    const double cosine = fmax(-1.0, fmin(1.0, vw / sqrt(vv * ww)));
    return (struct approach_view){.angle_degrees = acos(cosine) * 57.29577951308232,
                                  .radial_km = dr / sqrt(rr),
                                  .along_km = df / sqrt(ff),
                                  .cross_km = dh / sqrt(hh),
                                  .x = r[0],
                                  .y = r[1],
                                  .z = r[2]};
}

void approach_look(const struct sgp4_kernels *kernels, const struct approach_window *window,
                   const struct approach_suspect *pairs, const double *seconds, uint32_t count,
                   struct approach_view *views)
{
    struct block block;
    struct sgp4_states a, b;
    double minutes[lanes];
    block.kernels = kernels;
    for (uint32_t begin = 0; begin < count; begin += lanes) {
        const uint32_t part = count - begin < lanes ? count - begin : lanes;
        block_load(&block, window, pairs + begin, part);
        for (uint32_t i = 0; i < lanes; i++)
            minutes[i] = seconds[begin + (i < part ? i : 0)] / 60.0;
        side_states(&block.a, kernels, minutes, &a);
        side_states(&block.b, kernels, minutes, &b);
        for (uint32_t i = 0; i < part; i++) views[begin + i] = view_of(&a, &b, i);
    }
}
