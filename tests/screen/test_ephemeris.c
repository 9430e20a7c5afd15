/* SPDX-License-Identifier: MIT */
/* test_ephemeris.c: propagation of a batch: states in their places, losses with their step, absence
 * from then on.
 */
#include "ephemeris.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "orbit_math.h"

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
