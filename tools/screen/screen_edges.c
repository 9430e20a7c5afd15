/* SPDX-License-Identifier: MIT */
/* screen_edges.c: a sweep along x at both ends of the window finds the pairs within the threshold;
 * approach_follow tells what becomes of them.
 */
#include "screen_edges.h"

#include <stdlib.h>
#include <string.h>

#include "screen_objects.h"

/* An object at one end of the window. */
struct place {
    double x, y, z;
    uint32_t object;
};

struct pair {
    uint32_t a, b;
};

/* Owner: screen_edges_find. */
struct search {
    struct screen_result *result;
    const struct sgp4_kernels *kernels;
    struct screen_objects objects;
    struct place *places;
    struct pair *pairs;
    uint32_t count, capacity;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return a->x < b->x ? -1 : a->x > b->x;
}

static int compare_pairs(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b;
}

static struct approach_suspect suspect_of(const struct search *s, uint32_t a, uint32_t b)
{
    return (struct approach_suspect){.a = s->objects.all[a], .b = s->objects.all[b]};
}

/* Where all objects are that have not ended before `seconds`; returns how many. */
static uint32_t place_all(struct search *s, double seconds, uint32_t step)
{
    const struct screen_result *r = s->result;
    uint32_t count = 0;
    for (uint32_t begin = 0; begin < r->catalogue.count; begin += SGP4_LANES) {
        struct approach_suspect pairs[SGP4_LANES];
        struct approach_view views[SGP4_LANES];
        double times[SGP4_LANES];
        const uint32_t left = r->catalogue.count - begin, n = left < SGP4_LANES ? left : SGP4_LANES;
        for (uint32_t i = 0; i < n; i++) {
            pairs[i] = suspect_of(s, begin + i, begin + i);
            times[i] = seconds;
        }
        approach_look(s->kernels, &r->window, pairs, times, n, views);
        for (uint32_t i = 0; i < n; i++) {
            if (s->objects.lost_step[begin + i] <= step) continue;
            s->places[count++] = (struct place){views[i].x, views[i].y, views[i].z, begin + i};
        }
    }
    return count;
}

static int add_pair(struct search *s, uint32_t a, uint32_t b)
{
    if (s->count == s->capacity) {
        const uint32_t capacity = 2 * s->capacity + 256;
        struct pair *grown = realloc(s->pairs, capacity * sizeof *grown);
        if (!grown) return -1;
        s->pairs = grown;
        s->capacity = capacity;
    }
    s->pairs[s->count++] = (struct pair){a < b ? a : b, a < b ? b : a};
    return 0;
}

static int add_near(struct search *s, uint32_t place_count)
{
    const double limit = s->result->window.threshold_km;
    const struct place *p = s->places;
    for (uint32_t i = 0; i < place_count; i++) {
        for (uint32_t k = i + 1; k < place_count && p[k].x - p[i].x < limit; k++) {
            const double x = p[k].x - p[i].x, y = p[k].y - p[i].y, z = p[k].z - p[i].z;
            if (!(x * x + y * y + z * z < limit * limit)) continue;
            if (add_pair(s, p[i].object, p[k].object)) return -1;
        }
    }
    return 0;
}

static int find_pairs(struct search *s)
{
    const struct approach_window *w = &s->result->window;
    const uint32_t steps[2] = {0, w->step_count};
    for (int end = 0; end < 2; end++) {
        const uint32_t last = end == 0 ? 0 : w->step_count - 1;
        const uint32_t count = place_all(s, approach_step_begin(w, steps[end]), last);
        if (count > 1) qsort(s->places, count, sizeof *s->places, compare_places);
        if (add_near(s, count)) return -1;
    }
    if (s->count > 1) qsort(s->pairs, s->count, sizeof *s->pairs, compare_pairs);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (kept == 0 || compare_pairs(&s->pairs[kept - 1], &s->pairs[i]) != 0)
            s->pairs[kept++] = s->pairs[i];
    s->count = kept;
    return 0;
}

static void add_edge(struct screen_result *r, const struct pair *pair,
                     const struct approach_span *span, bool is_start)
{
    r->edges[r->edge_count++] =
        (struct screen_edge){.object_a = pair->a,
                             .object_b = pair->b,
                             .is_start = is_start,
                             .distance_km = is_start ? span->first_km : span->last_km,
                             .vrel_km_s = is_start ? span->first_vrel_km_s : span->last_vrel_km_s};
}

static void classify(const struct search *s, const struct pair *pair,
                     const struct approach_span *span)
{
    struct screen_result *r = s->result;
    const double limit = r->window.threshold_km;
    const uint32_t last = r->window.step_count - 1;
    const bool is_whole =
        s->objects.lost_step[pair->a] > last && s->objects.lost_step[pair->b] > last;
    if (is_whole && span->is_valid && span->farthest_km < limit) {
        r->togethers[r->together_count++] =
            (struct screen_together){pair->a, pair->b, span->nearest_km, span->farthest_km};
        return;
    }
    if (span->first_km < limit && span->first_rate >= 0.0) add_edge(r, pair, span, true);
    if (is_whole && span->last_km < limit && span->last_rate < 0.0) add_edge(r, pair, span, false);
}

static int follow_pairs(struct search *s)
{
    struct screen_result *r = s->result;
    r->togethers = calloc((size_t)s->count + 1, sizeof *r->togethers);
    r->edges = calloc(2 * (size_t)s->count + 1, sizeof *r->edges);
    if (!r->togethers || !r->edges) return -1;
    for (uint32_t begin = 0; begin < s->count; begin += SGP4_LANES) {
        struct approach_suspect suspects[SGP4_LANES];
        struct approach_span spans[SGP4_LANES];
        const uint32_t left = s->count - begin, n = left < SGP4_LANES ? left : SGP4_LANES;
        for (uint32_t i = 0; i < n; i++)
            suspects[i] = suspect_of(s, s->pairs[begin + i].a, s->pairs[begin + i].b);
        approach_follow(s->kernels, &r->window, suspects, n, spans);
        for (uint32_t i = 0; i < n; i++) classify(s, &s->pairs[begin + i], &spans[i]);
    }
    return 0;
}

int screen_edges_find(struct screen_result *result)
{
    struct search s = {.result = result, .kernels = sgp4_kernels_best()};
    if (screen_objects_init(&s.objects, result)) return -1;
    s.places = calloc((size_t)result->catalogue.count + 1, sizeof *s.places);
    const int status = s.places && find_pairs(&s) == 0 && follow_pairs(&s) == 0 ? 0 : -1;
    screen_objects_fini(&s.objects);
    free(s.places);
    free(s.pairs);
    return status;
}
