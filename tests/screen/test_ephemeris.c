/* SPDX-License-Identifier: MIT */
/* test_ephemeris.c: propagation of a batch: states in their places, losses with their step, absence
 * from then on; what is interpolated, against the theory.
 */
#include "ephemeris.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "orbit_math.h"
#include "tle.h"

enum { rows = 70, steps = 20 };

/* A circular orbit of so many turns a day, with drag. */
static struct sgp4_elements elements_of(double turns, double bstar)
{
    return (struct sgp4_elements){.epoch_day = 2458140.5,
                                  .mean_motion = turns * ORBIT_TWO_PI / 1440.0,
                                  .eccentricity = 1e-4,
                                  .inclination = 1.0,
                                  .bstar = bstar};
}

/* Seventy rows of which row 40 falls down within a batch of steps of 2,400 s. */
static void make_rows(struct sgp4_near *near)
{
    for (int i = 0; i < rows; i++) {
        struct sgp4_elements e = elements_of(15.0, 1e-4);
        e.mean_anomaly = 0.05 * (double)i;
        if (i == 40) e = elements_of(16.4, 0.006);
        sgp4_near_init(&e, &near[i]);
    }
}

Test(ephemeris, a_lost_object_has_its_step_and_is_absent_from_it_on)
{
    struct sgp4_near near[rows];
    struct ephemeris_fate fates[rows];
    struct ephemeris e;
    const struct approach_window window = {
        .start = {.day = 2458140.5}, .step_s = 2400.0, .step_count = 40, .threshold_km = 5.0};
    make_rows(near);
    CHECK(ephemeris_init(&e, steps, rows) == 0);
    e.kernels = sgp4_kernels_best();
    e.sky_kernels = sky_kernels_best();
    e.window = &window;
    e.first_step = 4;
    e.step_count = steps;
    e.object_count = rows;
    ephemeris_near(&e, near, rows, 0, fates);
    CHECK(fates[40].error != 0);
    CHECK(fates[40].step > 4 && fates[40].step < 24);
    for (uint32_t i = 0; i < rows; i++) {
        CHECK(i == 40 || fates[i].error == 0);
        CHECK(fates[i].fastest_km_s > 7.0f && fates[i].fastest_km_s < 9.0f);
    }
    for (uint32_t k = 0; k < steps; k++) {
        const struct sky sky = ephemeris_sky(&e, k);
        CHECK_U64(sky.count, rows);
        CHECK((sky.x[40] >= SKY_ABSENT) == (4 + k >= fates[40].step));
        for (uint32_t i = 0; i < rows; i++) {
            const double x = (double)sky.x[i], y = (double)sky.y[i], z = (double)sky.z[i];
            CHECK(i == 40 || fabs(sqrt(x * x + y * y + z * z) - 6940.0) < 60.0);
        }
    }
    ephemeris_fini(&e);
}

/* ---- interpolation ---- */

enum { span_steps = 7, spans = 24 };

/* A batch of one object from `first` on, at steps of 10 s. */
struct one {
    struct ephemeris e;
    struct approach_window window;
    struct sgp4_near near;
    struct sgp4_deep deep;
    bool is_deep;
};

static void one_init(struct one *o, const struct sgp4_elements *elements)
{
    o->window = (struct approach_window){.start = {.day = elements->epoch_day},
                                         .step_s = 10.0,
                                         .step_count = 1u << 20,
                                         .threshold_km = 5.0};
    o->is_deep = sgp4_is_deep(elements) != 0;
    if (o->is_deep)
        sgp4_deep_init(elements, &o->deep);
    else
        sgp4_near_init(elements, &o->near);
    CHECK(ephemeris_init(&o->e, span_steps, 1) == 0);
    o->e.kernels = sgp4_kernels_best();
    o->e.sky_kernels = sky_kernels_best();
    o->e.window = &o->window;
    o->e.object_count = 1;
}

static struct ephemeris_fate one_run(struct one *o, uint32_t first, uint32_t count)
{
    struct ephemeris_fate fate;
    o->e.first_step = first;
    o->e.step_count = count;
    if (o->is_deep)
        ephemeris_deep(&o->e, &o->deep, 1, 0, &fate);
    else
        ephemeris_near(&o->e, &o->near, 1, 0, &fate);
    return fate;
}

/* Position and velocity at a step of the batch. */
static void one_state(const struct one *o, uint32_t step, double out[6])
{
    const struct sky sky = ephemeris_sky(&o->e, step);
    const float *const columns[6] = {sky.x, sky.y, sky.z, sky.vx, sky.vy, sky.vz};
    for (int i = 0; i < 6; i++) out[i] = (double)columns[i][0];
}

static double distance(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

/* Batches of a step have their state from the theory: those of a span against them. Returns the
 * states that were interpolated; raises the errors, as parts of their bounds. */
static uint32_t compare_spans(struct one *o, double *place, double *speed)
{
    uint32_t count = 0;
    for (uint32_t span = 0; span < spans; span++) {
        double wrong[span_steps][6], right[6];
        const uint32_t first = span * 47;
        const struct ephemeris_fate fate = one_run(o, first, span_steps);
        if (fate.error != 0 || fate.propagations > 2) continue;
        for (uint32_t k = 0; k < span_steps; k++) one_state(o, k, wrong[k]);
        for (uint32_t k = 1; k + 1 < span_steps; k++, count++) {
            CHECK_U64(one_run(o, first + k, 1).propagations, 1);
            one_state(o, 0, right);
            const double rounding = 1.2e-7 * (fabs(right[0]) + fabs(right[1]) + fabs(right[2]));
            *place = fmax(*place, (distance(wrong[k], right) - rounding) / sky_blend_km(10.0));
            *speed = fmax(*speed, distance(wrong[k] + 3, right + 3) / 0.008);
        }
    }
    return count;
}

Test(ephemeris, interpolated_states_are_right_within_the_bound_of_the_search)
{
    char path[400];
    struct tle_catalogue catalogue;
    struct one o;
    double place = 0.0, speed = 0.0;
    uint32_t count = 0;
    const char *root = getenv("WEFT_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tools/screen/catalogue.tle", root ? root : ".");
    CHECK(tle_read(path, NULL, NULL, &catalogue) == TLE_OK);
    for (uint32_t i = 0; i < catalogue.count; i++) {
        one_init(&o, &catalogue.objects[i].elements);
        count += compare_spans(&o, &place, &speed);
        ephemeris_fini(&o.e);
    }
    CHECK(count > 979 * 5 * (spans - 4)); /* nearly all of them are interpolated */
    /* every eccentricity, from perigees of 150 km on, through the perigee */
    for (int i = 0; i < 17; i++)
        for (int k = 0; k < 16; k++) {
            struct sgp4_elements e = elements_of(1.0, 0.0);
            e.eccentricity = 0.05 * i;
            const double axis = (6528.0 + 40.0 * k) / (1.0 - e.eccentricity);
            e.mean_motion = sqrt(398600.8 / (axis * axis * axis)) * 60.0;
            e.inclination = 0.2 * k;
            e.mean_anomaly = -e.mean_motion * (5.0 + k);
            one_init(&o, &e);
            count += compare_spans(&o, &place, &speed);
            ephemeris_fini(&o.e);
        }
    fprintf(stderr, "%u states, %.3f and %.3f of their bounds\n", count, place, speed);
    CHECK(place < 0.8 && speed < 0.8);
    tle_catalogue_fini(&catalogue);
}

Test(ephemeris, an_object_ends_at_the_step_at_which_the_theory_says_so)
{
    for (int i = 0; i < 12; i++) {
        struct sgp4_elements elements = elements_of(16.40 + 0.02 * (i % 4), 0.002 + 0.001 * i);
        elements.eccentricity = 0.002 * (i % 3);
        struct one o;
        one_init(&o, &elements);
        uint32_t right = 0, wrong = 0;
        for (uint32_t k = 0; right == 0 && k < 60000; k++)
            if (one_run(&o, k, 1).error != 0) right = k;
        for (uint32_t k = 0; wrong == 0 && k < 60000; k += span_steps - 1) {
            const struct ephemeris_fate fate = one_run(&o, k, span_steps);
            if (fate.error != 0) wrong = fate.step;
        }
        CHECK(right != 0);
        CHECK_U64(wrong, right);
        ephemeris_fini(&o.e);
    }
}
