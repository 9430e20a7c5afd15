/* SPDX-License-Identifier: MIT */
/* screen_report.c: the summary for people: at most 80 columns, figures rounded to what they are
 * worth.
 */
#include "screen_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "screen_rank.h"

enum { LINES_SHOWN = 5 }; /* of lists whose rest is in a file */

const char screen_disclaimer[] =
    "screening candidates from public elements, not collision warnings";

/* Approaches below a distance; those of two members of one group. */
uint32_t screen_count_below(const struct screen_result *r, double km)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->approach_count; i++) count += r->approaches[i].miss_km < km ? 1 : 0;
    return count;
}

uint32_t screen_count_inside(const struct screen_result *r)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->approach_count; i++) {
        const uint32_t a = r->groups.group_of[r->approaches[i].object_a];
        count += a != 0 && a == r->groups.group_of[r->approaches[i].object_b] ? 1 : 0;
    }
    return count;
}

/* 16089 as 16,089. */
static const char *grouped(uint64_t value, char text[32])
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *to = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

/* ---- what was read, what was done ---- */

static void print_catalogue(const struct screen_options *o, const struct screen_result *r)
{
    char all[32], near[32], deep[32], members[32];
    const char *slash = strrchr(o->path, '/');
    printf("catalogue  %s\n           %s objects (%s near-earth, %s deep-space)\n           "
           "%u bad lines, %u duplicates\n",
           strcmp(o->path, "-") == 0 ? "standard input"
           : slash                   ? slash + 1
                                     : o->path,
           grouped(r->catalogue.count, all), grouped(r->near_count, near),
           grouped(r->deep_count, deep), r->catalogue.bad_lines, r->catalogue.duplicates);
    if (r->stale_count != 0)
        printf("left out   %s objects, elements more than %g days from the window\n",
               grouped(r->stale_count, all), o->max_age_days);
    printf("groups     ");
    for (uint32_t g = 1; g < r->groups.count && g <= 2; g++) {
        printf("%s %s, ", r->groups.groups[g].name, grouped(r->groups.groups[g].count, members));
    }
    printf("%u in all; %s satellites in none\n", r->groups.count - 1,
           grouped(r->groups.groups[0].count, members));
}

static void print_done(const struct screen_result *r)
{
    char compared[32], found[32], near[32], inside[32];
    const struct screen_counts *c = &r->counts;
    printf("done       %.1f M states, %.1f M by theory, in %.2f s (%.1f M/s), %s M pairs\n",
           (double)c->states / 1e6, (double)c->propagations / 1e6, c->screen_s,
           (double)c->states / 1e6 / c->screen_s, grouped(c->pairs_compared / 1000000, compared));
    printf("found      %s approaches < %g km, %s < 1 km, %s inside one group\n",
           grouped(r->approach_count, found), r->window.threshold_km,
           grouped(screen_count_below(r, 1.0), near), grouped(screen_count_inside(r), inside));
    if (r->hidden_count != 0)
        printf("           %s more that the filter leaves out\n", grouped(r->hidden_count, found));
    if (r->edge_count != 0)
        printf("           %s more whose minimum lies beyond the window (at_edge)\n",
               grouped(r->edge_count, found));
}

static void print_ended(const struct screen_result *r)
{
    for (uint32_t i = 0; i < r->loss_count && i < LINES_SHOWN; i++) {
        const struct tle_object *object = &r->catalogue.objects[r->losses[i].object];
        char time[MOMENT_TEXT_BYTES];
        const double seconds = approach_step_middle(&r->window, r->losses[i].step);
        moment_format(moment_add_seconds(r->window.start, seconds), time);
        printf("%-10s %s (%u) %.16sZ: %s\n", i == 0 ? "ended" : "", object->name, object->number,
               time, sgp4_error_text(r->losses[i].error));
    }
    if (r->loss_count > LINES_SHOWN)
        printf("           and %u more\n", (unsigned)(r->loss_count - LINES_SHOWN));
}

static void print_togethers(const struct screen_options *o, const struct screen_result *r)
{
    if (r->together_count == 0) return;
    const uint32_t count = r->together_count;
    printf("together   %u pair%s within %g km all the time (stations, formations)", (unsigned)count,
           count == 1 ? "" : "s", r->window.threshold_km);
    printf("%s\n", o->out ? "" : ":");
    for (uint32_t i = 0; i < count && i < LINES_SHOWN; i++) {
        const struct screen_together *t = &r->togethers[i];
        char farthest[SCREEN_WORDS_BYTES];
        screen_rank_distance(t->farthest_km, farthest);
        printf("           %s x %s: at most %s\n", r->catalogue.objects[t->object_a].name,
               r->catalogue.objects[t->object_b].name, farthest);
    }
    if (count > LINES_SHOWN) printf("           and %u more\n", (unsigned)(count - LINES_SHOWN));
}

/* ---- the closest pairs ---- */

static void print_object(const struct screen_result *r, uint32_t object, double age_days)
{
    const struct tle_object *it = &r->catalogue.objects[object];
    printf("%s (%u) %.1f d%s", it->name, it->number, age_days,
           fabs(age_days) > SCREEN_STALE_DAYS ? " old" : "");
}

static void print_pair(const struct screen_result *r, const struct screen_ranked *p, uint32_t rank)
{
    char time[MOMENT_TEXT_BYTES], miss[SCREEN_WORDS_BYTES], direction[SCREEN_WORDS_BYTES],
        reason[SCREEN_WORDS_BYTES];
    moment_format(moment_add_seconds(r->window.start, p->approach->tca_s), time);
    screen_rank_distance(p->approach->miss_km, miss);
    screen_rank_direction(p, direction);
    screen_rank_reason(r, p, reason);
    printf("%3u %9s %7.3f km/s  %.19sZ  %s\n", (unsigned)rank, miss, p->approach->vrel_km_s, time,
           direction);
    printf("              ");
    print_object(r, p->approach->object_a, p->age_days_a);
    printf(" x ");
    print_object(r, p->approach->object_b, p->age_days_b);
    printf("\n              %s\n", reason);
}

static void print_closest(const struct screen_options *o, const struct screen_result *r)
{
    struct screen_ranking ranking;
    char pairs[32];
    if (o->top == 0 || screen_rank(r, o->top, &ranking)) return;
    if (ranking.count > 0)
        printf("closest    %u of %s pairs, each once; d: days since epoch\n",
               (unsigned)ranking.count, grouped(ranking.pair_count, pairs));
    for (uint32_t i = 0; i < ranking.count; i++) print_pair(r, &ranking.pairs[i], i + 1);
    screen_ranking_fini(&ranking);
}

static void print_check(const struct screen_result *r)
{
    char pairs[32];
    const struct screen_check *k = &r->check;
    if (k->steps == 0) return;
    printf("check      brute force over %s M pairs at %u random steps: %u = %u, %s   %s\n",
           grouped(k->pairs / 1000000, pairs), k->steps, k->found, k->expected,
           k->is_identical ? "identical" : "NOT identical", k->is_identical ? "PASS" : "FAIL");
}

struct screen_old screen_count_old(const struct screen_result *r)
{
    const double end = (double)r->window.step_count * r->window.step_s;
    struct screen_old old = {.count = 0};
    for (uint32_t i = 0; i < r->catalogue.count; i++) {
        const double from_start = screen_age_days(r, i, 0.0), from_end = screen_age_days(r, i, end);
        const double age = from_start > 0.0 ? from_start : from_end < 0.0 ? -from_end : 0.0;
        old.count += age > SCREEN_STALE_DAYS ? 1 : 0;
        if (age > old.oldest_days) old.oldest = i;
        if (age > old.oldest_days) old.oldest_days = age;
    }
    return old;
}

void screen_report_warn(const struct screen_result *r)
{
    const struct screen_old old = screen_count_old(r);
    if (old.count == 0) return;
    const struct tle_object *oldest = &r->catalogue.objects[old.oldest];
    fprintf(stderr,
            "weft screen: warning: %u of %u objects have elements of more than %g days from\n"
            "the window (the oldest %.1f days: %s, %u); their places may be\n"
            "off by tens of kilometres.\n",
            (unsigned)old.count, (unsigned)r->catalogue.count, SCREEN_STALE_DAYS, old.oldest_days,
            oldest->name, (unsigned)oldest->number);
    if (2 * old.count > r->catalogue.count)
        fputs("The window is far from the epochs: take a newer catalogue, or another --start.\n",
              stderr);
}

void screen_report_text(const struct screen_options *o, const struct screen_result *r)
{
    char start[MOMENT_TEXT_BYTES];
    moment_format(r->window.start, start);
    print_catalogue(o, r);
    printf("window     %.19sZ + %g h, step %g s, threshold %g km\n", start, o->hours,
           r->window.step_s, r->window.threshold_km);
    print_done(r);
    print_ended(r);
    print_togethers(o, r);
    print_closest(o, r);
    print_check(r);
    printf("time       %.2f s reading, %.2f s screening, %.2f s checking; %u worker%s, %s\n",
           r->counts.load_s, r->counts.screen_s, r->counts.check_s, r->counts.workers,
           r->counts.workers == 1 ? "" : "s", r->counts.kernels);
    if (o->out)
        printf("wrote      %s/conjunctions.csv, together.csv, meta.json%s\n", o->out,
               o->has_page ? ", index.html" : "");
    printf("note       %s\n", screen_disclaimer);
}
