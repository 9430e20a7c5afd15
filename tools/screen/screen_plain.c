/* SPDX-License-Identifier: MIT */
/* screen_plain.c: propagate, hash, pair and refine, batch by batch, on the calling thread.
 */
#include "screen_plain.h"

#include <stdlib.h>

#include "ephemeris.h"

enum { steps_per_batch = 32 };

/* The job's memory: near-earth objects have the places before the deep-space ones. */
struct plain {
    struct screen_result *result;
    struct sgp4_near *near;
    struct sgp4_deep *deep;
    struct ephemeris_fate *fates;
    uint32_t *object_of; /* [place]: in the catalogue */
    uint32_t *lost_step; /* [place]: UINT32_MAX while it lives */
    struct ephemeris ephemeris;
    struct sky_grid grid;
    struct sky_pairs pairs;
    uint32_t approach_capacity;
};

static void plain_fini(struct plain *p)
{
    free(p->near);
    free(p->deep);
    free(p->fates);
    free(p->object_of);
    free(p->lost_step);
    ephemeris_fini(&p->ephemeris);
    sky_grid_fini(&p->grid);
    sky_pairs_fini(&p->pairs);
}

static void place_objects(struct plain *p)
{
    struct screen_result *r = p->result;
    for (int is_deep = 0; is_deep < 2; is_deep++) {
        for (uint32_t i = 0; i < r->catalogue.count; i++) {
            const struct sgp4_elements *e = &r->catalogue.objects[i].elements;
            if (sgp4_is_deep(e) != is_deep) continue;
            p->lost_step[r->near_count + r->deep_count] = UINT32_MAX;
            p->object_of[r->near_count + r->deep_count] = i;
            if (is_deep) {
                sgp4_deep_init(e, &p->deep[r->deep_count++]);
            } else {
                sgp4_near_init(e, &p->near[r->near_count++]);
            }
        }
    }
}

static int plain_init(struct plain *p, struct screen_result *r)
{
    const uint32_t count = r->catalogue.count;
    *p = (struct plain){.result = r, .near = calloc(count, sizeof *p->near)};
    p->deep = calloc(count, sizeof *p->deep);
    p->fates = calloc(count, sizeof *p->fates);
    p->object_of = calloc(count, sizeof *p->object_of);
    p->lost_step = malloc(count * sizeof *p->lost_step);
    r->losses = calloc(count, sizeof *r->losses);
    if (!p->near || !p->deep || !p->fates || !p->object_of || !p->lost_step || !r->losses)
        return -1;
    if (ephemeris_init(&p->ephemeris, steps_per_batch, count)) return -1;
    p->ephemeris.kernels = sgp4_kernels_best();
    p->ephemeris.sky_kernels = sky_kernels_best();
    p->ephemeris.window = &r->window;
    p->ephemeris.object_count = count;
    place_objects(p);
    return sky_grid_init(&p->grid, count);
}

static void propagate(struct plain *p)
{
    struct screen_result *r = p->result;
    ephemeris_near(&p->ephemeris, p->near, r->near_count, 0, p->fates);
    ephemeris_deep(&p->ephemeris, p->deep, r->deep_count, r->near_count, p->fates + r->near_count);
    for (uint32_t i = 0; i < p->ephemeris.object_count; i++) {
        if (p->fates[i].error == 0 || p->lost_step[i] != UINT32_MAX) continue;
        p->lost_step[i] = p->fates[i].step;
        r->losses[r->loss_count++] = (struct screen_loss){
            .object = p->object_of[i], .step = p->fates[i].step, .error = p->fates[i].error};
    }
}

/* An object lost in an earlier batch may come back to valid states: it stays lost. */
static void hide_lost(const struct plain *p, const struct sky *sky)
{
    for (uint32_t i = 0; i < sky->count; i++) {
        if (p->lost_step[i] < p->ephemeris.first_step) sky->x[i] = SKY_ABSENT;
    }
}

static struct approach_object object_at(const struct plain *p, uint32_t place)
{
    const uint32_t near_count = p->result->near_count;
    if (place < near_count) return (struct approach_object){.near = &p->near[place]};
    return (struct approach_object){.deep = &p->deep[place - near_count]};
}

static int keep_approach(struct plain *p, const struct sky_pair *pair, uint32_t step,
                         const struct approach *found)
{
    struct screen_result *r = p->result;
    if (r->approach_count == p->approach_capacity) {
        const uint32_t capacity = 2 * p->approach_capacity + 1024;
        struct screen_approach *grown = realloc(r->approaches, capacity * sizeof *grown);
        if (!grown) return -1;
        r->approaches = grown;
        p->approach_capacity = capacity;
    }
    const uint32_t a = p->object_of[pair->a], b = p->object_of[pair->b];
    r->approaches[r->approach_count++] = (struct screen_approach){
        .tca_s = found->tca_s,
        .miss_km = found->miss_km,
        .vrel_km_s = found->vrel_km_s,
        .object_a = a < b ? a : b,
        .object_b = a < b ? b : a,
        .step = step,
    };
    return 0;
}

static int refine(struct plain *p, uint32_t step)
{
    for (uint32_t begin = 0; begin < p->pairs.count; begin += SGP4_LANES) {
        struct approach_suspect suspects[SGP4_LANES];
        struct approach approaches[SGP4_LANES];
        const uint32_t left = p->pairs.count - begin, count = left < SGP4_LANES ? left : SGP4_LANES;
        const struct sky_pair *pair = p->pairs.pairs + begin;
        for (uint32_t i = 0; i < count; i++) {
            suspects[i] = (struct approach_suspect){
                .a = object_at(p, pair[i].a), .b = object_at(p, pair[i].b), .step = step};
        }
        approach_refine(p->ephemeris.kernels, &p->result->window, suspects, count, approaches);
        for (uint32_t i = 0; i < count; i++) {
            if (!approaches[i].is_below_threshold) continue;
            if (keep_approach(p, &pair[i], step, &approaches[i])) return -1;
        }
    }
    return 0;
}

static int batch(struct plain *p, uint32_t first_step)
{
    const struct approach_window *window = &p->result->window;
    const uint32_t left = window->step_count - first_step;
    const struct sky_rules rules = sky_rules_of(window->step_s, window->threshold_km, 100.0);
    p->ephemeris.first_step = first_step;
    p->ephemeris.step_count = left < steps_per_batch ? left : steps_per_batch;
    propagate(p);
    for (uint32_t k = 0; k < p->ephemeris.step_count; k++) {
        const struct sky sky = ephemeris_sky(&p->ephemeris, k);
        hide_lost(p, &sky);
        p->pairs.count = 0;
        p->ephemeris.sky_kernels->hash(&sky, &rules, &p->grid);
        if (p->ephemeris.sky_kernels->find_pairs(&p->grid, &rules, &p->pairs)) return -1;
        if (refine(p, first_step + k)) return -1;
    }
    return 0;
}

int screen_plain(struct screen_result *result)
{
    struct plain p;
    int status = plain_init(&p, result);
    for (uint32_t k = 0; k < result->window.step_count && status == 0; k += steps_per_batch) {
        status = batch(&p, k);
    }
    if (status == 0) screen_result_sort(result);
    plain_fini(&p);
    return status;
}
