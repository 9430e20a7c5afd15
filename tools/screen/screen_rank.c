/* SPDX-License-Identifier: MIT */
/* screen_rank.c: sorts the approaches by pair to fold them, and the pairs by their miss.
 */
#include "screen_rank.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen_objects.h"

/* Slower than this relative to each other, two objects share an orbit. */
#define ALONGSIDE_KM_S 0.2

static int compare_by_pair(const void *left, const void *right)
{
    const struct screen_approach *a = *(const struct screen_approach *const *)left;
    const struct screen_approach *b = *(const struct screen_approach *const *)right;
    if (a->object_a != b->object_a) return a->object_a < b->object_a ? -1 : 1;
    if (a->object_b != b->object_b) return a->object_b < b->object_b ? -1 : 1;
    if (a->miss_km != b->miss_km) return a->miss_km < b->miss_km ? -1 : 1;
    return a->tca_s < b->tca_s ? -1 : a->tca_s > b->tca_s;
}

static int compare_by_miss(const void *left, const void *right)
{
    const struct screen_ranked *a = left, *b = right;
    if (a->approach->miss_km != b->approach->miss_km)
        return a->approach->miss_km < b->approach->miss_km ? -1 : 1;
    return a->approach < b->approach ? -1 : a->approach > b->approach;
}

static bool is_same_pair(const struct screen_approach *a, const struct screen_approach *b)
{
    return a->object_a == b->object_a && a->object_b == b->object_b;
}

static int compare_together(const void *key, const void *item)
{
    const struct screen_approach *a = key;
    const struct screen_together *t = item;
    if (a->object_a != t->object_a) return a->object_a < t->object_a ? -1 : 1;
    return a->object_b < t->object_b ? -1 : a->object_b > t->object_b;
}

static bool is_together(const struct screen_result *r, const struct screen_approach *approach)
{
    return r->together_count > 0 && bsearch(approach, r->togethers, r->together_count,
                                            sizeof *r->togethers, compare_together) != NULL;
}

/* One entry per pair, in any order. Returns how many. */
static uint32_t fold(const struct screen_result *r, const struct screen_approach **sorted,
                     struct screen_ranked *pairs)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->approach_count; i++) sorted[i] = &r->approaches[i];
    if (r->approach_count > 1)
        qsort(sorted, r->approach_count, sizeof(struct screen_approach *), compare_by_pair);
    for (uint32_t i = 0; i < r->approach_count; i++) {
        if (i > 0 && is_same_pair(sorted[i], sorted[i - 1])) {
            if (count > 0 && is_same_pair(pairs[count - 1].approach, sorted[i]))
                pairs[count - 1].times++;
            continue;
        }
        if (is_together(r, sorted[i])) continue;
        pairs[count++] = (struct screen_ranked){.approach = sorted[i], .times = 1};
    }
    if (count > 1) qsort(pairs, count, sizeof *pairs, compare_by_miss);
    return count;
}

static int look(const struct screen_result *r, struct screen_ranking *ranking)
{
    struct screen_objects objects;
    struct approach_view *views = calloc((size_t)ranking->count + 1, sizeof *views);
    struct approach_suspect *suspects = calloc((size_t)ranking->count + 1, sizeof *suspects);
    double *seconds = calloc((size_t)ranking->count + 1, sizeof *seconds);
    int status = views && suspects && seconds && screen_objects_init(&objects, r) == 0 ? 0 : -1;
    for (uint32_t i = 0; status == 0 && i < ranking->count; i++) {
        const struct screen_approach *p = ranking->pairs[i].approach;
        suspects[i].a = objects.all[p->object_a];
        suspects[i].b = objects.all[p->object_b];
        seconds[i] = p->tca_s;
    }
    if (status == 0) {
        approach_look(sgp4_kernels_best(), &r->window, suspects, seconds, ranking->count, views);
        for (uint32_t i = 0; i < ranking->count; i++) {
            struct screen_ranked *p = &ranking->pairs[i];
            p->view = views[i];
            p->age_days_a = screen_age_days(r, p->approach->object_a, p->approach->tca_s);
            p->age_days_b = screen_age_days(r, p->approach->object_b, p->approach->tca_s);
        }
        screen_objects_fini(&objects);
    }
    free(views);
    free(suspects);
    free(seconds);
    return status;
}

int screen_rank(const struct screen_result *r, uint32_t most, struct screen_ranking *ranking)
{
    const size_t count = (size_t)r->approach_count + 1;
    const struct screen_approach **sorted = calloc(count, sizeof(struct screen_approach *));
    *ranking = (struct screen_ranking){.pairs = calloc(count, sizeof *ranking->pairs)};
    int status = sorted && ranking->pairs ? 0 : -1;
    if (status == 0) {
        ranking->pair_count = fold(r, sorted, ranking->pairs);
        ranking->count = ranking->pair_count < most ? ranking->pair_count : most;
        status = look(r, ranking);
    }
    free(sorted);
    if (status != 0) screen_ranking_fini(ranking);
    return status;
}

void screen_ranking_fini(struct screen_ranking *ranking)
{
    free(ranking->pairs);
    *ranking = (struct screen_ranking){.pairs = NULL};
}

/* ---- words ---- */

void screen_rank_direction(const struct screen_ranked *pair, char text[SCREEN_WORDS_BYTES])
{
    const double angle = pair->view.angle_degrees;
    const char *word = angle < 30.0 ? "same way" : angle > 150.0 ? "head-on" : "crossing";
    snprintf(text, SCREEN_WORDS_BYTES, "%s %.0f°", word, angle);
}

void screen_rank_reason(const struct screen_result *r, const struct screen_ranked *pair,
                        char text[SCREEN_WORDS_BYTES])
{
    const struct screen_approach *p = pair->approach;
    const uint32_t group = r->groups.group_of ? r->groups.group_of[p->object_a] : 0;
    const bool is_inside = group != 0 && group == r->groups.group_of[p->object_b];
    const double oldest = fmax(fabs(pair->age_days_a), fabs(pair->age_days_b));
    char times[32] = "";
    if (pair->times > 1) snprintf(times, sizeof times, ", meet %u times", (unsigned)pair->times);
    snprintf(text, SCREEN_WORDS_BYTES, "%s%s%s%s%s",
             p->vrel_km_s < ALONGSIDE_KM_S ? "fly together" : "orbits cross",
             is_inside ? ", both of " : "", is_inside ? r->groups.groups[group].name : "", times,
             oldest > SCREEN_STALE_DAYS ? ", old elements" : "");
}

void screen_rank_distance(double km, char text[SCREEN_WORDS_BYTES])
{
    if (km < 0.9995)
        snprintf(text, SCREEN_WORDS_BYTES, "%.0f m", km * 1000.0);
    else
        snprintf(text, SCREEN_WORDS_BYTES, "%.2f km", km);
}
