/* SPDX-License-Identifier: MIT */
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
#include "screen_plain.h"

/* The default catalogue, screened over a window, and its objects for brute force. */
struct job {
    struct screen_result result;
    struct sgp4_near *near;
    struct sgp4_deep *deep;
    struct approach_object *objects; /* [catalogue] */
    uint32_t *lost_step;
};

static struct job job_init(double step, uint32_t count, double threshold)
{
    char path[400];
    const char *root = getenv("WEFT_SOURCE_DIR");
    struct job job = {0};
    struct screen_result *r = &job.result;
    snprintf(path, sizeof path, "%s/tools/screen/catalogue.tle", root ? root : ".");
    CHECK(tle_read(path, NULL, NULL, &r->catalogue) == TLE_OK);
    r->window = (struct approach_window){.start = moment_of_date(2018, 1, 22),
                                         .step_s = step,
                                         .step_count = count,
                                         .threshold_km = threshold};
    CHECK(screen_plain(r) == 0);
    const uint32_t n = r->catalogue.count;
    job.near = calloc(n, sizeof *job.near);
    job.deep = calloc(n, sizeof *job.deep);
    job.objects = calloc(n, sizeof *job.objects);
    job.lost_step = malloc(n * sizeof *job.lost_step);
    for (uint32_t i = 0; i < n; i++) {
        const struct sgp4_elements *e = &r->catalogue.objects[i].elements;
        job.lost_step[i] = UINT32_MAX;
        if (sgp4_is_deep(e)) {
            sgp4_deep_init(e, &job.deep[i]);
            job.objects[i].deep = &job.deep[i];
        } else {
            sgp4_near_init(e, &job.near[i]);
            job.objects[i].near = &job.near[i];
        }
    }
    for (uint32_t i = 0; i < r->loss_count; i++) {
        job.lost_step[r->losses[i].object] = r->losses[i].step;
    }
    return job;
}

static void job_fini(struct job *job)
{
    screen_result_fini(&job->result);
    free(job->near);
    free(job->deep);
    free(job->objects);
    free(job->lost_step);
}

static int is_in(const struct brute_list *list, const struct screen_approach *item)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct brute_approach *other = &list->items[i];
        if (other->a == item->object_a && other->b == item->object_b &&
            other->approach.tca_s == item->tca_s && other->approach.miss_km == item->miss_km) {
            return 1;
        }
    }
    return 0;
}

static void check_against_brute_force(double step, uint32_t steps, double threshold,
                                      uint32_t checked)
{
    struct job job = job_init(step, steps, threshold);
    const struct screen_result *r = &job.result;
    uint32_t total = 0;
    for (uint32_t n = 0; n < checked; n++) {
        struct brute brute = {.kernels = sgp4_kernels_best(),
                              .sky_kernels = sky_kernels_best(),
                              .window = &r->window,
                              .objects = job.objects,
                              .count = r->catalogue.count,
                              .step = n * (steps - 1) / (checked - 1)};
        struct brute_list all = {0};
        CHECK(brute_init(&brute, job.lost_step) == 0);
        CHECK(brute_rows(&brute, 0, brute.count, &all) == 0);
        uint32_t mine = 0;
        for (uint32_t i = 0; i < r->approach_count; i++) {
            if (r->approaches[i].step != brute.step) continue;
            CHECK(is_in(&all, &r->approaches[i]));
            mine++;
        }
        CHECK_U64(mine, all.count);
        total += all.count;
        brute_list_fini(&all);
        brute_fini(&brute);
    }
    CHECK(total > 0);
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
    struct job coarse = job_init(20.0, 720, 20.0), fine = job_init(5.0, 2880, 20.0);
    const struct screen_result *a = &coarse.result, *b = &fine.result;
    CHECK(a->approach_count > 50);
    CHECK_U64(a->approach_count, b->approach_count);
    for (uint32_t i = 0; i < a->approach_count; i++) {
        uint32_t partners = 0;
        for (uint32_t k = 0; k < b->approach_count; k++) {
            const struct screen_approach *p = &a->approaches[i], *q = &b->approaches[k];
            if (p->object_a != q->object_a || p->object_b != q->object_b) continue;
            if (fabs(p->tca_s - q->tca_s) > 1e-3) continue;
            CHECK_F64(p->miss_km, q->miss_km, 1e-6);
            partners++;
        }
        CHECK_U64(partners, 1);
    }
    job_fini(&coarse);
    job_fini(&fine);
}

Test(approach, two_objects_with_the_same_elements_have_none)
{
    struct job job = job_init(10.0, 100, 5.0);
    for (uint32_t k = 0; k < 100; k++) {
        const struct approach_suspect same = {.a = job.objects[0], .b = job.objects[0], .step = k};
        struct approach approach;
        approach_refine(sgp4_kernels_best(), &job.result.window, &same, 1, &approach);
        CHECK(!approach.is_below_threshold);
    }
    job_fini(&job);
}
