/* SPDX-License-Identifier: MIT */
/* screen_check.c: brute force at some steps, as loop jobs over blocks of rows, compared with what
 * the run reported for the same steps.
 *
 * The objects are initialised again from the catalogue: nothing of the world is used but the
 * step at which objects were lost.
 */
#include "screen_check.h"

#include <stdlib.h>

#include "brute.h"
#include "screen_objects.h"

enum { rows_per_block = 128 };

/* One step under way: a list per block, so that the order of blocks does not matter. */
struct sweep {
    struct brute brute;
    struct brute_list *of_block;
    uint32_t block_count;
};

static int search_blocks(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    struct sweep *s = argument;
    (void)job;
    for (uint32_t block = begin; block < end; block++) {
        const uint32_t first = block * rows_per_block, last = first + rows_per_block;
        if (brute_rows(&s->brute, first, last < s->brute.count ? last : s->brute.count,
                       &s->of_block[block])) {
            return 1;
        }
    }
    return 0;
}

static int is_same(const struct screen_approach *found, const struct brute_approach *expected)
{
    return found->object_a == expected->a && found->object_b == expected->b &&
           found->tca_s == expected->approach.tca_s &&
           found->miss_km == expected->approach.miss_km &&
           found->vrel_km_s == expected->approach.vrel_km_s;
}

/* Counts the run's approaches of the step, and those brute force found as well. */
static void compare_step(const struct screen_result *r, const struct sweep *s,
                         struct screen_check *check)
{
    for (uint32_t b = 0; b < s->block_count; b++) check->expected += s->of_block[b].count;
    for (uint32_t i = 0; i < r->approach_count; i++) {
        const struct screen_approach *found = &r->approaches[i];
        if (found->step != s->brute.step) continue;
        check->found++;
        const struct brute_list *list = &s->of_block[found->object_a / rows_per_block];
        for (uint32_t k = 0; k < list->count; k++) {
            check->matched += is_same(found, &list->items[k]) ? 1 : 0;
        }
    }
}

static int check_step(weft_job_pool *pool, const struct screen_objects *o, uint32_t step,
                      struct screen_result *r)
{
    const uint32_t count = r->catalogue.count;
    struct sweep s = {.block_count = (count + rows_per_block - 1) / rows_per_block};
    s.brute = (struct brute){.kernels = sgp4_kernels_best(),
                             .sky_kernels = sky_kernels_best(),
                             .window = &r->window,
                             .objects = o->all,
                             .count = count,
                             .step = step};
    s.of_block = calloc(s.block_count, sizeof *s.of_block);
    int result = s.of_block && brute_init(&s.brute, o->lost_step) == 0 ? 0 : -1;
    if (result == 0) {
        const weft_job_for_desc loop = {.fn = search_blocks,
                                        .argument = &s,
                                        .count = s.block_count,
                                        .grain = 1,
                                        .name = "brute force"};
        result = weft_job_for(weft_job_pool_owner(pool), &loop, NULL) == WEFT_OK ? 0 : -1;
    }
    if (result == 0) {
        compare_step(r, &s, &r->check);
        r->check.pairs += (uint64_t)count * (count - 1) / 2;
        r->check.steps++;
    }
    for (uint32_t b = 0; s.of_block && b < s.block_count; b++) brute_list_fini(&s.of_block[b]);
    free(s.of_block);
    brute_fini(&s.brute);
    return result;
}

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int screen_check_run(weft_job_pool *pool, const struct screen_options *options,
                     struct screen_result *r)
{
    struct screen_objects o;
    uint64_t state = options->seed;
    r->check = (struct screen_check){.steps = 0};
    if (screen_objects_init(&o, r)) return -1;
    /* A step is taken with the probability that leaves the right number: K different ones. */
    uint32_t wanted =
        options->verify < r->window.step_count ? options->verify : r->window.step_count;
    int result = 0;
    for (uint32_t step = 0; step < r->window.step_count && wanted > 0 && result == 0; step++) {
        if (next_random(&state) % (r->window.step_count - step) >= wanted) continue;
        wanted--;
        result = check_step(pool, &o, step, r);
    }
    screen_objects_fini(&o);
    r->check.is_identical =
        r->check.expected == r->check.found && r->check.matched == r->check.found;
    return result;
}
