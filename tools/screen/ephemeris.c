/* SPDX-License-Identifier: MIT */
/* ephemeris.c: propagation of rows through a batch of steps, 32 at a time: a block stays in the
 * first-level cache for the whole batch.
 */
#include "ephemeris.h"

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
                                           .fastest_km_s = progress->fastest[i]};
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
        for (uint32_t step = 0; step < e->step_count; step++) {
            struct sgp4_states states;
            double minutes[lanes];
            fill_minutes(e, step, minutes);
            e->kernels->near_states(&block, minutes, &states);
            store_step(e, step, &states, first + begin, part, &progress);
        }
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
        for (uint32_t step = 0; step < e->step_count; step++) {
            struct sgp4_states states;
            double minutes[lanes];
            fill_minutes(e, step, minutes);
            e->kernels->deep_states(&block, minutes, &states);
            store_step(e, step, &states, first + begin, part, &progress);
        }
        sgp4_deep_block_keep(&block, row, part);
        report(&progress, part, fates + begin);
    }
}
