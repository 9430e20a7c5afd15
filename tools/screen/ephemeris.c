/* SPDX-License-Identifier: MIT */
/* ephemeris.c: propagation of rows through a batch of steps, 32 at a time: a block stays in the
 * first-level cache for the whole batch, with the two states between which others are interpolated.
 */
#include "ephemeris.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { quantities = 6, lanes = SGP4_LANES };

/* Places are padded so that a block of 32 may be written whole. */
static size_t stride_of(const struct ephemeris *e)
{
    return ((size_t)e->object_capacity + 2 * lanes - 1) / lanes * lanes;
}

int ephemeris_init(struct ephemeris *e, uint32_t step_capacity, uint32_t object_capacity)
{
    *e = (struct ephemeris){.step_capacity = step_capacity, .object_capacity = object_capacity};
    e->values = aligned_alloc(64, sizeof(float) * quantities * step_capacity * stride_of(e));
    return e->values ? 0 : -1;
}

void ephemeris_fini(struct ephemeris *e)
{
    free(e->values);
    *e = (struct ephemeris){.values = NULL};
}

struct sky ephemeris_sky(const struct ephemeris *e, uint32_t step)
{
    const size_t stride = stride_of(e);
    float *at = e->values + quantities * stride * step;
    return (struct sky){.count = e->object_count,
                        .x = at,
                        .y = at + stride,
                        .z = at + 2 * stride,
                        .vx = at + 3 * stride,
                        .vy = at + 4 * stride,
                        .vz = at + 5 * stride};
}

/* A block under way. `is_noted` marks lanes whose loss has its step. */
struct progress {
    _Alignas(64) double error[lanes];
    float fastest[lanes];
    uint32_t lost_step[lanes], is_noted[lanes];
    uint32_t propagations; /* of each lane */
};

static void fill_minutes(const struct ephemeris *e, uint32_t step, double *minutes)
{
    const double t = approach_step_middle(e->window, e->first_step + step) / 60.0;
    for (uint32_t i = 0; i < lanes; i++) minutes[i] = t;
}

/* Stores one step of a block, noting the step of new losses (rare). */
static void store_step(const struct ephemeris *e, uint32_t step, const struct sgp4_states *states,
                       uint32_t first, uint32_t count, struct progress *progress)
{
    const struct sky sky = ephemeris_sky(e, step);
    if (!e->sky_kernels->store(states, progress->error, progress->fastest, &sky, first, count))
        return;
    for (uint32_t i = 0; i < lanes; i++) {
        if (progress->error[i] == 0.0 || progress->is_noted[i]) continue;
        progress->lost_step[i] = e->first_step + step;
        progress->is_noted[i] = 1;
    }
}

static void report(const struct progress *progress, uint32_t count, struct ephemeris_fate *fates)
{
    for (uint32_t i = 0; i < count; i++) {
        fates[i] = (struct ephemeris_fate){.error = (uint32_t)progress->error[i],
                                           .step = progress->lost_step[i],
                                           .fastest_km_s = progress->fastest[i],
                                           .propagations = progress->propagations};
    }
}

/* The states of a block at a step, from the theory. */
struct source {
    const struct ephemeris *e;
    struct sgp4_near_block *near; /* one of the two */
    struct sgp4_deep_block *deep;
};

static void states_at(const struct source *s, uint32_t step, struct progress *progress,
                      struct sgp4_states *out)
{
    double minutes[lanes];
    fill_minutes(s->e, step, minutes);
    progress->propagations++;
    if (s->near)
        s->e->kernels->near_states(s->near, minutes, out);
    else
        s->e->kernels->deep_states(s->deep, minutes, out);
}

static bool is_in_doubt(const struct sgp4_states *from, const struct sgp4_states *to)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < lanes; i++) sum += from->doubt[i] + to->doubt[i];
    return sum != 0.0;
}

/* Steps from one state of the theory to the next. */
static uint32_t steps_of_span(const struct ephemeris *e)
{
    const double steps = SKY_SPAN_S / e->window->step_s;
    return steps < 2.0 ? 1 : steps > e->step_capacity ? e->step_capacity : (uint32_t)steps;
}

/* All steps of the batch, in order: what is lost stays lost. */
static void run_block(const struct source *s, uint32_t first, uint32_t count, struct progress *p)
{
    const struct ephemeris *e = s->e;
    const uint32_t span = steps_of_span(e);
    struct sgp4_states at[2], between;
    states_at(s, 0, p, &at[0]);
    store_step(e, 0, &at[0], first, count, p);
    for (uint32_t step = 0, turn = 0, end; step + 1 < e->step_count; step = end, turn ^= 1) {
        const struct sgp4_states *from = &at[turn];
        end = step + span < e->step_count ? step + span : e->step_count - 1;
        states_at(s, end, p, &at[turn ^ 1]);
        const bool is_asked = end - step > 1 && is_in_doubt(from, &at[turn ^ 1]);
        for (uint32_t k = step + 1; k < end; k++) {
            if (is_asked)
                states_at(s, k, p, &between);
            else
                e->sky_kernels->blend(from, &at[turn ^ 1], (end - step) * e->window->step_s,
                                      (double)(k - step) / (end - step), &between);
            store_step(e, k, &between, first, count, p);
        }
        store_step(e, end, &at[turn ^ 1], first, count, p);
    }
}

void ephemeris_near(const struct ephemeris *e, const struct sgp4_near *rows, uint32_t count,
                    uint32_t first, struct ephemeris_fate *fates)
{
    const struct moment start = e->window->start;
    struct sgp4_near_block block;
    for (uint32_t begin = 0; begin < count; begin += lanes) {
        const uint32_t part = count - begin < lanes ? count - begin : lanes;
        const struct sgp4_near *row[lanes];
        struct progress progress = {.error = {0.0}};
        for (uint32_t i = 0; i < part; i++) row[i] = &rows[begin + i];
        sgp4_near_block_load(&block, row, part, start.day, start.fraction);
        run_block(&(struct source){.e = e, .near = &block}, first + begin, part, &progress);
        report(&progress, part, fates + begin);
    }
}

void ephemeris_deep(const struct ephemeris *e, struct sgp4_deep *rows, uint32_t count,
                    uint32_t first, struct ephemeris_fate *fates)
{
    const struct moment start = e->window->start;
    struct sgp4_deep_block block;
    for (uint32_t begin = 0; begin < count; begin += lanes) {
        const uint32_t part = count - begin < lanes ? count - begin : lanes;
        struct sgp4_deep *row[lanes];
        const struct sgp4_deep *source[lanes];
        struct progress progress = {.error = {0.0}};
        for (uint32_t i = 0; i < part; i++) source[i] = row[i] = &rows[begin + i];
        sgp4_deep_block_load(&block, source, part, start.day, start.fraction);
        run_block(&(struct source){.e = e, .deep = &block}, first + begin, part, &progress);
        sgp4_deep_block_keep(&block, row, part);
        report(&progress, part, fates + begin);
    }
}
