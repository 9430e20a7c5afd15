/* test_approach.c: tests of the whole search without the engine: propagate, hash, pair, refine on
 * one thread against brute force.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "approach.h"
#include "brute.h"
#include "check.h"
#include "ephemeris.h"
#include "tle.h"

/* The default catalogue ready to propagate: near-earth objects first. */
struct job {
    struct sgp4_near *near;
    struct sgp4_deep *deep;
    struct approach_object *objects;
    uint32_t *lost_step;
    uint32_t near_count, deep_count, count;
};

static struct job job_init(void)
{
    char path[400];
    const char *root = getenv("WEFT_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tools/screen/catalogue.tle", root ? root : ".");
    struct tle_catalogue catalogue;
    CHECK(tle_read(path, NULL, NULL, &catalogue) == TLE_OK);
    struct job job = {.count = catalogue.count};
    job.near = calloc(job.count, sizeof *job.near);
    job.deep = calloc(job.count, sizeof *job.deep);
    job.objects = calloc(job.count, sizeof *job.objects);
    job.lost_step = malloc(job.count * sizeof *job.lost_step);
    for (uint32_t i = 0; i < job.count; i++) {
        const struct sgp4_elements *e = &catalogue.objects[i].elements;
        if (sgp4_is_deep(e)) {
            sgp4_deep_init(e, &job.deep[job.deep_count++]);
        } else {
            sgp4_near_init(e, &job.near[job.near_count++]);
        }
    }
    for (uint32_t i = 0; i < job.count; i++) {
        if (i < job.near_count) {
            job.objects[i].near = &job.near[i];
        } else {
            job.objects[i].deep = &job.deep[i - job.near_count];
        }
        job.lost_step[i] = UINT32_MAX;
    }
    tle_catalogue_fini(&catalogue);
    return job;
}

static void job_fini(struct job *job)
{
    free(job->near);
    free(job->deep);
    free(job->objects);
    free(job->lost_step);
}

/* Steps [0, step_count) as weft screen does them; approaches below the threshold, with their
 * step in `step[]`. */
static struct brute_list screen(struct job *job, const struct approach_window *window,
                                uint32_t **steps)
{
    struct ephemeris e;
    struct sky_grid grid;
    struct sky_pairs found = {0};
    struct brute_list list = {0};
    struct ephemeris_fate *fates = malloc(job->count * sizeof *fates);
    const struct sky_rules rules = sky_rules_of(window->step_s, window->threshold_km, 100.0);
    CHECK(ephemeris_init(&e, 16, job->count) == 0 && sky_grid_init(&grid, job->count) == 0);
    e.kernels = sgp4_kernels_best(), e.sky_kernels = sky_kernels_best(), e.window = window;
    e.object_count = job->count;
    *steps = malloc(1 << 20);
    for (uint32_t k = 0; k < window->step_count; k++) {
        if (k % 16 == 0) {
            e.first_step = k;
            e.step_count = window->step_count - k < 16 ? window->step_count - k : 16;
            ephemeris_near(&e, job->near, job->near_count, 0, fates);
            ephemeris_deep(&e, job->deep, job->deep_count, job->near_count,
                           fates + job->near_count);
            for (uint32_t i = 0; i < job->count; i++) {
                if (fates[i].error && job->lost_step[i] == UINT32_MAX)
                    job->lost_step[i] = fates[i].step;
            }
        }
        const struct sky sky = ephemeris_sky(&e, k % 16);
        found.count = 0;
        e.sky_kernels->hash(&sky, &rules, &grid);
        CHECK(e.sky_kernels->find_pairs(&grid, &rules, &found) == 0);
        struct approach_suspect *suspects = calloc(found.count + 1, sizeof *suspects);
        struct approach *approaches = calloc(found.count + 1, sizeof *approaches);
        for (uint32_t i = 0; i < found.count; i++) {
            suspects[i] = (struct approach_suspect){.a = job->objects[found.pairs[i].a],
                                                    .b = job->objects[found.pairs[i].b],
                                                    .step = k};
        }
        approach_refine(e.kernels, window, suspects, found.count, approaches);
        for (uint32_t i = 0; i < found.count; i++) {
            if (!approaches[i].is_below_threshold) continue;
            list.items = realloc(list.items, (list.count + 1) * sizeof *list.items);
            (*steps)[list.count] = k;
            list.items[list.count++] =
                (struct brute_approach){found.pairs[i].a, found.pairs[i].b, approaches[i]};
        }
        free(suspects);
        free(approaches);
    }
    ephemeris_fini(&e);
    sky_grid_fini(&grid);
    sky_pairs_fini(&found);
    free(fates);
    return list;
}

static struct approach_window window_of(double step, uint32_t count, double threshold)
{
    return (struct approach_window){.start = moment_of_date(2018, 1, 22),
                                    .step_s = step,
                                    .step_count = count,
                                    .threshold_km = threshold};
}

static int is_in(const struct brute_list *list, const struct brute_approach *item)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct brute_approach *other = &list->items[i];
        if (other->a == item->a && other->b == item->b &&
            other->approach.tca_s == item->approach.tca_s &&
            other->approach.miss_km == item->approach.miss_km) {
            return 1;
        }
    }
    return 0;
}

static void check_against_brute_force(double step, uint32_t steps, double threshold,
                                      uint32_t checked)
{
    struct job job = job_init();
    const struct approach_window window = window_of(step, steps, threshold);
    uint32_t *step_of;
    struct brute_list found = screen(&job, &window, &step_of);
    uint32_t total = 0;
    for (uint32_t n = 0; n < checked; n++) {
        struct brute brute = {.kernels = sgp4_kernels_best(),
                              .sky_kernels = sky_kernels_best(),
                              .window = &window,
                              .objects = job.objects,
                              .count = job.count,
                              .step = n * (steps - 1) / (checked - 1)};
        struct brute_list all = {0};
        CHECK(brute_init(&brute, job.lost_step) == 0);
        CHECK(brute_rows(&brute, 0, job.count, &all) == 0);
        uint32_t mine = 0;
        for (uint32_t i = 0; i < found.count; i++) {
            if (step_of[i] != brute.step) continue;
            CHECK(is_in(&all, &found.items[i]));
            mine++;
        }
        CHECK_U64(mine, all.count);
        total += all.count;
        brute_list_fini(&all);
        brute_fini(&brute);
    }
    CHECK(total > 0);
    free(step_of);
    brute_list_fini(&found);
    job_fini(&job);
}

Test(approach, the_search_finds_what_brute_force_finds_at_ten_seconds)
{
    check_against_brute_force(10.0, 600, 30.0, 40);
}

Test(approach, the_search_finds_what_brute_force_finds_at_one_second)
{
    check_against_brute_force(1.0, 2000, 7.5, 2000);
}

Test(approach, the_search_finds_what_brute_force_finds_at_a_minute)
{
    check_against_brute_force(60.0, 300, 100.0, 20);
}

Test(approach, the_length_of_the_step_does_not_change_what_is_found)
{
    struct job job = job_init();
    const struct approach_window coarse = window_of(20.0, 720, 20.0),
                                 fine = window_of(5.0, 2880, 20.0);
    uint32_t *coarse_steps, *fine_steps;
    struct brute_list a = screen(&job, &coarse, &coarse_steps),
                      b = screen(&job, &fine, &fine_steps);
    CHECK(a.count > 50);
    CHECK_U64(a.count, b.count);
    for (uint32_t i = 0; i < a.count; i++) {
        uint32_t partners = 0;
        for (uint32_t k = 0; k < b.count; k++) {
            const struct brute_approach *p = &a.items[i], *q = &b.items[k];
            if (p->a != q->a || p->b != q->b || fabs(p->approach.tca_s - q->approach.tca_s) > 1e-3)
                continue;
            CHECK_F64(p->approach.miss_km, q->approach.miss_km, 1e-6);
            partners++;
        }
        CHECK_U64(partners, 1);
    }
    free(coarse_steps);
    free(fine_steps);
    brute_list_fini(&a);
    brute_list_fini(&b);
    job_fini(&job);
}

Test(approach, two_objects_with_the_same_elements_have_none)
{
    struct job job = job_init();
    const struct approach_window window = window_of(10.0, 100, 5.0);
    for (uint32_t k = 0; k < 100; k++) {
        const struct approach_suspect same = {.a = job.objects[0], .b = job.objects[0], .step = k};
        struct approach approach;
        approach_refine(sgp4_kernels_best(), &window, &same, 1, &approach);
        CHECK(!approach.is_below_threshold);
    }
    job_fini(&job);
}
