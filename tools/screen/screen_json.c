/* SPDX-License-Identifier: MIT */
/* screen_json.c: see screen_json.h.
 */
#include "screen_json.h"

#include <stdio.h>

#include "json.h"
#include "screen_rank.h"
#include "screen_report.h"

static void begin(weft_json *json, const char *type)
{
    weft_json_begin(json, stdout);
    weft_json_text(json, "type", type);
}

static void member_moment(weft_json *json, const char *name, const struct screen_result *r,
                          double seconds)
{
    char text[MOMENT_TEXT_BYTES];
    moment_format(moment_add_seconds(r->window.start, seconds), text);
    weft_json_text(json, name, text);
}

static void member_pair(weft_json *json, const struct screen_result *r, uint32_t a, uint32_t b)
{
    weft_json_count(json, "norad_a", r->catalogue.objects[a].number);
    weft_json_count(json, "norad_b", r->catalogue.objects[b].number);
    weft_json_text(json, "name_a", r->catalogue.objects[a].name);
    weft_json_text(json, "name_b", r->catalogue.objects[b].name);
}

static void member_ages(weft_json *json, const struct screen_result *r, uint32_t a, uint32_t b,
                        double seconds)
{
    weft_json_number(json, "days_since_epoch_a", screen_age_days(r, a, seconds));
    weft_json_number(json, "days_since_epoch_b", screen_age_days(r, b, seconds));
}

static void member_approach(weft_json *json, const struct screen_result *r,
                            const struct screen_approach *p)
{
    member_pair(json, r, p->object_a, p->object_b);
    member_moment(json, "tca_utc", r, p->tca_s);
    weft_json_number(json, "miss_km", p->miss_km);
    weft_json_number(json, "vrel_km_s", p->vrel_km_s);
    member_ages(json, r, p->object_a, p->object_b, p->tca_s);
}

void screen_json_approaches(const struct screen_result *r, const struct screen_approach *approaches,
                            uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        weft_json json;
        begin(&json, "approach");
        member_approach(&json, r, &approaches[i]);
        weft_json_end(&json);
    }
}

static void closest_pairs(const struct screen_options *o, const struct screen_result *r)
{
    struct screen_ranking ranking;
    if (screen_rank(r, o->top, &ranking)) return;
    for (uint32_t i = 0; i < ranking.count; i++) {
        weft_json json;
        char reason[SCREEN_WORDS_BYTES];
        screen_rank_reason(r, &ranking.pairs[i], reason);
        begin(&json, "approach");
        member_approach(&json, r, ranking.pairs[i].approach);
        weft_json_count(&json, "times", ranking.pairs[i].times);
        weft_json_number(&json, "angle_degrees", ranking.pairs[i].view.angle_degrees);
        weft_json_text(&json, "reason", reason);
        weft_json_end(&json);
    }
    screen_ranking_fini(&ranking);
}

static void edges(const struct screen_result *r)
{
    for (uint32_t i = 0; i < r->edge_count; i++) {
        const struct screen_edge *e = &r->edges[i];
        const double end = (double)r->window.step_count * r->window.step_s;
        weft_json json;
        begin(&json, "at_edge");
        member_pair(&json, r, e->object_a, e->object_b);
        weft_json_text(&json, "at_edge", e->is_start ? "start" : "end");
        member_moment(&json, "tca_utc", r, e->is_start ? 0.0 : end);
        weft_json_number(&json, "miss_km", e->distance_km);
        weft_json_number(&json, "vrel_km_s", e->vrel_km_s);
        weft_json_end(&json);
    }
}

static void togethers(const struct screen_result *r)
{
    for (uint32_t i = 0; i < r->together_count; i++) {
        const struct screen_together *t = &r->togethers[i];
        weft_json json;
        begin(&json, "together");
        member_pair(&json, r, t->object_a, t->object_b);
        weft_json_number(&json, "nearest_km", t->nearest_km);
        weft_json_number(&json, "farthest_km", t->farthest_km);
        weft_json_end(&json);
    }
}

static void ended(const struct screen_result *r)
{
    for (uint32_t i = 0; i < r->loss_count; i++) {
        const struct tle_object *object = &r->catalogue.objects[r->losses[i].object];
        weft_json json;
        begin(&json, "ended");
        weft_json_count(&json, "norad", object->number);
        weft_json_text(&json, "name", object->name);
        member_moment(&json, "utc", r, approach_step_middle(&r->window, r->losses[i].step));
        weft_json_text(&json, "reason", sgp4_error_text(r->losses[i].error));
        weft_json_end(&json);
    }
}

static void member_closest(weft_json *json, const struct screen_result *r)
{
    const struct screen_approach *closest = NULL;
    for (uint32_t i = 0; i < r->approach_count; i++)
        if (!closest || r->approaches[i].miss_km < closest->miss_km) closest = &r->approaches[i];
    if (!closest) return;
    weft_json_open(json, "closest");
    member_approach(json, r, closest);
    weft_json_close(json);
}

static void member_check(weft_json *json, const struct screen_check *check)
{
    if (check->steps == 0) return;
    weft_json_open(json, "check");
    weft_json_count(json, "steps", check->steps);
    weft_json_count(json, "pairs", check->pairs);
    weft_json_count(json, "found", check->found);
    weft_json_count(json, "expected", check->expected);
    weft_json_bool(json, "is_identical", check->is_identical);
    weft_json_close(json);
}

static void member_counts(weft_json *json, const struct screen_result *r)
{
    weft_json_count(json, "workers", r->counts.workers);
    weft_json_text(json, "kernels", r->counts.kernels);
    weft_json_count(json, "states", r->counts.states);
    weft_json_count(json, "propagations", r->counts.propagations);
    weft_json_count(json, "pairs_compared", r->counts.pairs_compared);
    weft_json_count(json, "approaches", r->approach_count);
    weft_json_count(json, "filtered", r->hidden_count);
    weft_json_count(json, "at_edge", r->edge_count);
    weft_json_count(json, "together", r->together_count);
    weft_json_count(json, "below_1_km", screen_count_below(r, 1.0));
    weft_json_count(json, "inside_groups", screen_count_inside(r));
    weft_json_count(json, "lost", r->loss_count);
    weft_json_number(json, "read_s", r->counts.load_s);
    weft_json_number(json, "screen_s", r->counts.screen_s);
    weft_json_number(json, "check_s", r->counts.check_s);
}

static void summary(const struct screen_options *o, const struct screen_result *r)
{
    weft_json json;
    begin(&json, "summary");
    weft_json_text(&json, "catalogue", o->path);
    weft_json_count(&json, "objects", r->catalogue.count);
    weft_json_count(&json, "near_earth", r->near_count);
    weft_json_count(&json, "deep_space", r->deep_count);
    weft_json_count(&json, "bad_lines", r->catalogue.bad_lines);
    weft_json_count(&json, "duplicates", r->catalogue.duplicates);
    weft_json_count(&json, "left_out", r->stale_count);
    const struct screen_old old = screen_count_old(r);
    weft_json_count(&json, "old_elements", old.count);
    weft_json_number(&json, "oldest_days", old.oldest_days);
    member_moment(&json, "start_utc", r, 0.0);
    weft_json_number(&json, "hours", o->hours);
    weft_json_number(&json, "step_s", r->window.step_s);
    weft_json_number(&json, "threshold_km", r->window.threshold_km);
    member_counts(&json, r);
    member_closest(&json, r);
    member_check(&json, &r->check);
    weft_json_text(&json, "note", screen_disclaimer);
    weft_json_end(&json);
}

void screen_json_end(const struct screen_options *o, const struct screen_result *r)
{
    if (o->is_top) closest_pairs(o, r);
    edges(r);
    togethers(r);
    ended(r);
    summary(o, r);
}
