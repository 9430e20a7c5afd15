/* SPDX-License-Identifier: MIT */
/* test_sky.c: tests of the pair search: on random skies, against all pairs, on every build.
 *
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random.h"
#include "sky.h"

enum { objects = 3000 };

struct random_sky {
    float x[objects], y[objects], z[objects], vx[objects], vy[objects], vz[objects];
    struct sky sky;
};

static double between(test_random *random, double low, double high)
{
    return low + (high - low) * test_random_unit(random);
}

/* Objects in a shell of the given radii, with speeds up to `speed` in any direction; some are
 * absent. */
static struct random_sky *make_sky(test_random *random, double low, double high, double speed)
{
    struct random_sky *s = malloc(sizeof *s);
    for (int i = 0; i < objects; i++) {
        double d[3], length;
        do {
            for (int k = 0; k < 3; k++) d[k] = between(random, -1.0, 1.0);
            length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        } while (length < 0.1 || length > 1.0);
        const double r = between(random, low, high) / length;
        s->x[i] = (float)(d[0] * r), s->y[i] = (float)(d[1] * r), s->z[i] = (float)(d[2] * r);
        s->vx[i] = (float)(0.57 * between(random, -speed, speed));
        s->vy[i] = (float)(0.57 * between(random, -speed, speed));
        s->vz[i] = (float)(0.57 * between(random, -speed, speed));
        if (i % 97 == 0) s->x[i] = SKY_ABSENT;
    }
    s->sky = (struct sky){
        .count = objects, .x = s->x, .y = s->y, .z = s->z, .vx = s->vx, .vy = s->vy, .vz = s->vz};
    return s;
}

/* Smallest distance during the step when both move straight, in double precision. */
static double straight_miss(const struct sky *s, int i, int j, double h)
{
    const double x = (double)s->x[j] - (double)s->x[i], u = (double)s->vx[j] - (double)s->vx[i];
    const double y = (double)s->y[j] - (double)s->y[i], v = (double)s->vy[j] - (double)s->vy[i];
    const double z = (double)s->z[j] - (double)s->z[i], w = (double)s->vz[j] - (double)s->vz[i];
    double t = -(x * u + y * v + z * w) / (u * u + v * v + w * w);
    t = t > h ? h : t < -h ? -h : t;
    return sqrt((x + u * t) * (x + u * t) + (y + v * t) * (y + v * t) + (z + w * t) * (z + w * t));
}

static uint64_t count_near(const struct sky *s, double h, double limit)
{
    uint64_t count = 0;
    for (int i = 0; i < objects; i++) {
        for (int j = i + 1; j < objects; j++) {
            if (s->x[i] == SKY_ABSENT || s->x[j] == SKY_ABSENT) continue;
            count += straight_miss(s, i, j, h) < limit ? 1 : 0;
        }
    }
    return count;
}

static int compare_pairs(const void *left, const void *right)
{
    const struct sky_pair *a = left, *b = right;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b;
}

static void check_sky(const struct random_sky *s, double step, double threshold)
{
    const struct sky_kernels *kernels[3];
    const uint32_t count = sky_kernels_available(kernels, 3);
    const struct sky_rules rules = sky_rules_of(step, threshold, 100.0);
    const uint64_t wanted = count_near(&s->sky, 0.5 * step, threshold);
    struct sky_pairs first = {0};
    for (uint32_t k = 0; k < count; k++) {
        struct sky_grid grid;
        struct sky_pairs found = {0};
        CHECK(sky_grid_init(&grid, objects) == 0);
        kernels[k]->hash(&s->sky, &rules, &grid);
        CHECK(kernels[k]->find_pairs(&grid, &rules, &found) == 0);
        sky_grid_fini(&grid);
        CHECK(sky_pairs_reserve(&found, 1) == 0); /* an array even when it is empty */
        qsort(found.pairs, found.count, sizeof *found.pairs, compare_pairs);
        uint64_t near = 0;
        for (uint32_t i = 0; i < found.count; i++) {
            const struct sky_pair *p = &found.pairs[i];
            CHECK(p->a < p->b);
            CHECK(i == 0 || compare_pairs(p - 1, p) < 0); /* each pair once */
            near += straight_miss(&s->sky, (int)p->a, (int)p->b, 0.5 * step) < threshold ? 1 : 0;
        }
        CHECK_U64(near, wanted);
        if (k == 0) {
            first = found;
        } else {
            CHECK_U64(found.count, first.count);
            const size_t bytes = found.count * sizeof *found.pairs; /* 0: no arrays to compare */
            CHECK(bytes == 0 || memcmp(found.pairs, first.pairs, bytes) == 0);
            sky_pairs_fini(&found);
        }
    }
    sky_pairs_fini(&first);
}

Test(sky, every_pair_that_meets_on_straight_lines_is_found_once_by_every_build)
{
    test_random random = test_random_init(20260811);
    static const struct {
        double low, high, speed, step, threshold;
        bool is_at_seam; /* of the torus, where columns begin again: half a turn from the origin */
    } cases[] = {
        {6900, 7100, 7.7, 10, 5},    /* a low shell */
        {6600, 7400, 10.9, 10, 20},  /* with fast objects */
        {6600, 60000, 9.0, 20, 50},  /* spread over many turns of the torus */
        {42100, 42200, 3.1, 60, 10}, /* far out */
        {6900, 6950, 7.7, 0.5, 1},   /* cells far smaller than the shell */
        {10, 40, 7.0, 1, 5},         /* all in one cell: runs longer than the batch */
        {10, 400, 7.0, 1, 5, true},   {10, 40, 7.0, 1, 5, true},
        {10, 4000, 7.0, 1, 50, true}, /* few in a row: both sides of the seam in one block */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct random_sky *s = make_sky(&random, cases[i].low, cases[i].high, cases[i].speed);
        const struct sky_rules rules = sky_rules_of(cases[i].step, cases[i].threshold, 100.0);
        const float turn = (float)SKY_COLUMNS / ((float)SKY_COLUMNS_NEAR * rules.per_row);
        for (int k = 0; cases[i].is_at_seam && k < objects; k++) s->z[k] += 0.5f * turn;
        check_sky(s, cases[i].step, cases[i].threshold);
        free(s);
    }
}

Test(sky, an_empty_sky_has_no_pairs)
{
    struct sky_grid grid;
    struct sky_pairs found = {0};
    const struct sky sky = {0};
    const struct sky_rules rules = sky_rules_of(10.0, 5.0, 100.0);
    CHECK(sky_grid_init(&grid, 0) == 0);
    sky_kernels_best()->hash(&sky, &rules, &grid);
    CHECK(sky_kernels_best()->find_pairs(&grid, &rules, &found) == 0);
    CHECK_U64(found.count, 0);
    sky_grid_fini(&grid);
    sky_pairs_fini(&found);
}

Test(sky, a_sky_of_slow_objects_gets_smaller_cells)
{
    const struct sky_rules low = sky_rules_of(10.0, 5.0, 100.0), far = sky_rules_of(10.0, 5.0, 3.1);
    CHECK(far.reach < 0.5f * low.reach);
    CHECK(far.per_row > 2.0f * low.per_row);
}
