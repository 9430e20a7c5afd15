/* SPDX-License-Identifier: MIT */
/* test_screen_edges.c: pairs at the ends of the window: together, at the start, at the end, and the
 * window that holds their minimum.
 */
#include "screen_edges.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "check.h"
#include "orbit_math.h"

/* Circular orbits of 90 minutes; the second one `degrees` ahead, and `tilt` degrees out of
 * plane. */
static struct tle_object object_of(uint32_t number, double degrees, double tilt)
{
    const double radians = ORBIT_PI / 180.0;
    struct tle_object o = {.number = number};
    o.elements = (struct sgp4_elements){.epoch_day = 2461263.5,
                                        .mean_motion = 16.0 * ORBIT_TWO_PI / 1440.0,
                                        .inclination = (50.0 + tilt) * radians,
                                        .mean_anomaly = degrees * radians};
    return o;
}

static void find(struct screen_result *r, struct tle_object objects[2], double start_s,
                 uint32_t steps)
{
    const struct moment epoch = {.day = 2461263.5};
    *r = (struct screen_result){.approaches = NULL};
    r->catalogue.objects = objects;
    r->catalogue.count = 2;
    r->window = (struct approach_window){.start = moment_add_seconds(epoch, start_s),
                                         .step_s = 10.0,
                                         .step_count = steps,
                                         .threshold_km = 5.0};
    CHECK(screen_edges_find(r) == 0);
}

static void end(const struct screen_result *r)
{
    free(r->togethers);
    free(r->edges);
}

Test(screen_edges, modules_and_followers_are_together)
{
    struct screen_result r;
    struct tle_object same[2] = {object_of(1, 0, 0), object_of(2, 0, 0)};
    find(&r, same, 0, 360);
    CHECK_U64(r.together_count, 1);
    CHECK_U64(r.edge_count, 0);
    CHECK_F64(r.togethers[0].farthest_km, 0.0, 1e-9);
    end(&r);
    struct tle_object follower[2] = {object_of(1, 0, 0), object_of(2, 0.02, 0)};
    find(&r, follower, 0, 360);
    CHECK_U64(r.together_count, 1);
    CHECK_U64(r.edge_count, 0);
    CHECK_F64(r.togethers[0].nearest_km, 2.3, 0.3);
    end(&r);
}

/* Planes cross where the argument of latitude is 0 and 180 degrees, every 45 minutes. */
Test(screen_edges, a_minimum_before_the_start_or_after_the_end_is_at_the_edge)
{
    struct screen_result r;
    struct tle_object crossing[2] = {object_of(1, 0, 0), object_of(2, 0, 2)};
    find(&r, crossing, 5, 60);
    CHECK_U64(r.together_count, 0);
    CHECK_U64(r.edge_count, 1);
    CHECK(r.edges[0].is_start);
    CHECK(r.edges[0].distance_km > 0.0 && r.edges[0].distance_km < 5.0);
    end(&r);
    find(&r, crossing, -605, 60);
    CHECK_U64(r.edge_count, 1);
    CHECK(!r.edges[0].is_start);
    end(&r);
    find(&r, crossing, -305, 61); /* the minimum is inside, both ends are far away */
    CHECK_U64(r.edge_count, 0);
    end(&r);
}
