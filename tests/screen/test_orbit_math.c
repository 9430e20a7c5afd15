/* SPDX-License-Identifier: MIT */
/* test_orbit_math.c: tests of orbit_math.h: against the C library, over the angles that occur.
 *
 */
#include <criterion/criterion.h>
#include <math.h>

#include "check.h"
#include "orbit_math.h"
#include "random.h"

Test(orbit_math, sine_and_cosine_are_within_1e_15_up_to_a_million_radians)
{
    for (int i = -2000000; i < 2000000; i += 7) {
        const double x = (double)i * 0.50001234567;
        const struct orbit_angle a = orbit_angle_of(x);
        CHECK_F64(a.sine, sin(x), 1e-15);
        CHECK_F64(a.cosine, cos(x), 1e-15);
    }
}

Test(orbit_math, turning_by_a_small_angle_is_adding_it)
{
    for (int i = -30; i <= 30; i++) {
        const double d = (double)i * 1e-4, x = 0.7 * (double)i;
        const struct orbit_angle a = orbit_angle_turn(orbit_angle_of(x), d);
        CHECK_F64(a.sine, sin(x + d), 3e-15);
        CHECK_F64(a.cosine, cos(x + d), 3e-15);
    }
}

Test(orbit_math, arc_tangent_is_within_1e_13_in_every_quadrant)
{
    for (int i = 0; i < 10000; i++) {
        const double angle = -3.14159 + 6.28318e-4 * (double)i, radius = 0.01 + (double)(i % 17);
        const double y = radius * sin(angle), x = radius * cos(angle);
        CHECK_F64(orbit_atan2(y, x), atan2(y, x), 1e-13);
    }
    CHECK_F64(orbit_atan2(0.0, 0.0), 0.0, 0.0);
    CHECK_F64(orbit_atan2(0.0, -1.0), ORBIT_PI, 1e-13);
}

Test(orbit_math, two_thirds_power_agrees_with_pow)
{
    for (double x = 1e-6; x < 1e9; x *= 1.37) {
        CHECK_F64(orbit_two_thirds(x) / pow(x, 2.0 / 3.0), 1.0, 2e-15);
    }
    for (double x = 0.3; x < 3.0; x += 0.01) {
        CHECK_F64(orbit_two_thirds_near_one(x), pow(x, 2.0 / 3.0), 4e-15);
    }
}

Test(orbit_math, signed_wrap_is_the_remainder_of_c)
{
    for (int i = -5000; i < 5000; i++) {
        const double x = 0.0123 + 0.731 * (double)i;
        CHECK_F64(orbit_wrap_signed(x), fmod(x, ORBIT_TWO_PI), 1e-12);
        CHECK(fabs(orbit_wrap(x)) <= ORBIT_PI + 1e-15);
    }
}
