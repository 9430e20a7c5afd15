/* SPDX-License-Identifier: MIT */
/* screen_page.c: the report page: a summary, the closest pairs, three pictures, what is beside the
 * approaches, links to the files.
 */
#include "screen_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "asset.h"
#include "cli.h"
#include "cli_file.h"
#include "orbit_math.h"
#include "screen_objects.h"
#include "screen_page_svg.h"
#include "screen_rank.h"
#include "screen_report.h"

enum { TIME_COLUMNS = 96, MISS_ROWS = 40, MAP_COLUMNS = 90, MAP_ROWS = 45, ALTITUDE_BINS = 80 };
enum { LIST_MOST = 200 };
#define ALTITUDE_TOP_KM 2000.0

/* What the pictures show. Owner: screen_page_write. */
struct page {
    FILE *out;
    const struct screen_options *options;
    const struct screen_result *result;
    struct screen_ranking ranking; /* the pairs of the table: the points of the pictures */
    uint32_t miss_of_time[TIME_COLUMNS * MISS_ROWS];
    uint32_t places[MAP_COLUMNS * MAP_ROWS];
    uint32_t altitudes[ALTITUDE_BINS];
    uint32_t above; /* approaches above ALTITUDE_TOP_KM */
};

/* ---- where it happens ---- */

/* Degrees and km; the Earth as an ellipsoid, its rotation by the sidereal time of 1982. */
struct ground {
    double latitude, longitude, altitude_km;
};

static struct ground ground_of(const struct screen_result *r, const struct approach_view *view,
                               double seconds)
{
    const double degrees = 180.0 / ORBIT_PI, flattening = 1.0 / 298.257223563;
    const struct moment at = moment_add_seconds(r->window.start, seconds);
    const double days = at.day - 2451545.0 + at.fraction;
    const double sidereal = 280.46061837 + 360.98564736629 * days;
    const double radius = sqrt(view->x * view->x + view->y * view->y + view->z * view->z);
    const double plane = sqrt(view->x * view->x + view->y * view->y);
    const double sine = view->z / radius;
    const double east = atan2(view->y, view->x) * degrees - sidereal;
    const double squash = (1.0 - flattening) * (1.0 - flattening);
    return (struct ground){.latitude = atan2(view->z, plane * squash) * degrees,
                           .longitude = east - 360.0 * floor((east + 180.0) / 360.0),
                           .altitude_km = radius - 6378.137 * (1.0 - flattening * sine * sine)};
}

static uint32_t bin_of(double value, double low, double high, uint32_t bins)
{
    const double bin = (value - low) / (high - low) * bins;
    return bin <= 0.0 ? 0 : bin >= bins ? bins - 1 : (uint32_t)bin;
}

static double hours_of(const struct screen_result *r)
{
    return (double)r->window.step_count * r->window.step_s / 3600.0;
}

static void count_approach(struct page *p, const struct screen_approach *approach,
                           const struct approach_view *view)
{
    const struct screen_result *r = p->result;
    const struct ground g = ground_of(r, view, approach->tca_s);
    const uint32_t column = bin_of(approach->tca_s / 3600.0, 0, hours_of(r), TIME_COLUMNS);
    const uint32_t row = bin_of(approach->miss_km, 0, r->window.threshold_km, MISS_ROWS);
    p->miss_of_time[row * TIME_COLUMNS + column]++;
    p->places[bin_of(g.latitude, -90, 90, MAP_ROWS) * MAP_COLUMNS +
              bin_of(g.longitude, -180, 180, MAP_COLUMNS)]++;
    if (g.altitude_km < ALTITUDE_TOP_KM)
        p->altitudes[bin_of(g.altitude_km, 0, ALTITUDE_TOP_KM, ALTITUDE_BINS)]++;
    else
        p->above++;
}

static int count_all(struct page *p)
{
    const struct screen_result *r = p->result;
    struct screen_objects objects;
    if (screen_objects_init(&objects, r)) return -1;
    for (uint32_t begin = 0; begin < r->approach_count; begin += SGP4_LANES) {
        struct approach_suspect pairs[SGP4_LANES];
        struct approach_view views[SGP4_LANES];
        double seconds[SGP4_LANES];
        const uint32_t left = r->approach_count - begin, n = left < SGP4_LANES ? left : SGP4_LANES;
        const struct screen_approach *approaches = r->approaches + begin;
        for (uint32_t i = 0; i < n; i++) {
            pairs[i].a = objects.all[approaches[i].object_a];
            pairs[i].b = objects.all[approaches[i].object_b];
            seconds[i] = approaches[i].tca_s;
        }
        approach_look(sgp4_kernels_best(), &r->window, pairs, seconds, n, views);
        for (uint32_t i = 0; i < n; i++) count_approach(p, &approaches[i], &views[i]);
    }
    screen_objects_fini(&objects);
    return 0;
}

/* ---- the page ---- */

/* After the look of all pages (tools/look/look.css). */
static const char head[] =
    "main{max-width:72rem;margin:0 auto;padding:1.5rem 1rem}\n"
    "h2{margin:2rem 0 .5rem}p{margin:.25rem 0}.note{margin:.5rem 0;max-width:none}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:1rem 0}"
    "dt{color:var(--soft)}dd{margin:0}\n"
    ".panel{overflow-x:auto}.when{white-space:nowrap}td.old{color:var(--bad)}.why{min-width:9rem}"
    ".panel th,.panel td{padding:6px 8px}"
    "\n"
    ".chart .frame{fill:none;stroke:var(--strong-line)}.chart .shade{fill:var(--s1)}"
    ".chart .bar{fill:var(--s1)}.chart .point{fill:var(--s3);stroke:var(--panel)}\n"
    "</style></head><body><main>\n";

static void write_head(FILE *out)
{
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<title>weft screen: close approaches</title>\n<style>\n",
          out);
    fwrite(weft_look[0].bytes, 1, weft_look[0].count, out);
    fputs(head, out);
}

static void term(FILE *out, const char *name)
{
    fprintf(out, "<dt>%s</dt><dd>", name);
}

static void write_summary(const struct page *p)
{
    const struct screen_result *r = p->result;
    const char *path = strcmp(p->options->path, "-") == 0 ? "standard input" : p->options->path;
    const char *slash = strrchr(path, '/');
    char start[MOMENT_TEXT_BYTES], end[MOMENT_TEXT_BYTES];
    moment_format(r->window.start, start);
    moment_format(moment_add_seconds(r->window.start, 3600.0 * hours_of(r)), end);
    fprintf(p->out, "<h1>Close approaches</h1>\n<p class=\"soft\">%.16sZ to %.16sZ</p>\n", start,
            end);
    fprintf(p->out, "<p class=\"note warn\">%c%s.</p>\n<dl>\n", screen_disclaimer[0] - 'a' + 'A',
            screen_disclaimer + 1);
    term(p->out, "Catalogue");
    svg_text(p->out, slash ? slash + 1 : path);
    fprintf(p->out, ", %u objects (%u near-earth, %u deep-space)</dd>\n", r->catalogue.count,
            r->near_count, r->deep_count);
    term(p->out, "Found");
    fprintf(p->out, "%u approaches of %u pairs below %g km, %u below 1 km, %u inside one group",
            r->approach_count, p->ranking.pair_count, r->window.threshold_km,
            screen_count_below(r, 1.0), screen_count_inside(r));
    if (r->hidden_count > 0) fprintf(p->out, "; the filter leaves out %u more", r->hidden_count);
    fputs("</dd>\n", p->out);
    term(p->out, "Beside them");
    fprintf(p->out,
            "%u with their minimum beyond the window, %u pairs together all the time, "
            "%u satellites ended</dd>\n",
            r->edge_count, r->together_count, r->loss_count);
    term(p->out, "Files");
    fputs("<a href=\"conjunctions.csv\">conjunctions.csv</a>, <a href=\"together.csv\">together.csv"
          "</a>, <a href=\"meta.json\">meta.json</a></dd>\n</dl>\n",
          p->out);
}

static void write_object(const struct page *p, uint32_t object, double age_days)
{
    const struct tle_object *it = &p->result->catalogue.objects[object];
    fputs("<td class=\"when\">", p->out);
    svg_text(p->out, it->name);
    fprintf(p->out, " <span class=\"soft\">%u</span></td><td class=\"number%s\">%.1f</td>",
            it->number, fabs(age_days) > SCREEN_STALE_DAYS ? " old" : "", age_days);
}

static void write_pair(const struct page *p, uint32_t rank)
{
    const struct screen_ranked *pair = &p->ranking.pairs[rank];
    const struct screen_approach *a = pair->approach;
    char time[MOMENT_TEXT_BYTES], miss[SCREEN_WORDS_BYTES], direction[SCREEN_WORDS_BYTES],
        reason[SCREEN_WORDS_BYTES];
    moment_format(moment_add_seconds(p->result->window.start, a->tca_s), time);
    screen_rank_distance(a->miss_km, miss);
    screen_rank_direction(pair, direction);
    screen_rank_reason(p->result, pair, reason);
    fprintf(
        p->out,
        "<tr><td class=\"number\">%u</td><td class=\"number\">%s</td><td class=\"number\">%.3f</td>"
        "<td class=\"when\">%.10s %.8s</td>",
        rank + 1, miss, a->vrel_km_s, time, time + 11);
    write_object(p, a->object_a, pair->age_days_a);
    write_object(p, a->object_b, pair->age_days_b);
    fprintf(p->out, "<td class=\"when\">%s</td><td class=\"why\">", direction);
    svg_text(p->out, reason);
    fputs("</td></tr>\n", p->out);
}

/* Nothing to list or to draw. */
static void write_nothing(const struct page *p)
{
    const struct screen_result *r = p->result;
    fprintf(p->out,
            "<h2>No approaches</h2>\n<p>No two of the %u objects come closer than %g km in these "
            "%g hours%s. Look farther by --threshold-km or longer by --hours.</p>\n",
            r->catalogue.count, r->window.threshold_km, hours_of(r),
            r->hidden_count > 0 ? " that the filter shows" : "");
}

static void write_pairs(const struct page *p)
{
    fprintf(p->out,
            "<h2>The closest pairs</h2>\n<p class=\"soft\">%u of %u pairs, each with its "
            "closest approach; times UTC, d: days since the epoch of the elements "
            "(marked when more than %g).</p>\n",
            p->ranking.count, p->ranking.pair_count, SCREEN_STALE_DAYS);
    if (p->ranking.count == 0) {
        fputs("<p>None is shown: --top 0.</p>\n", p->out);
        return;
    }
    fputs("<div class=\"panel\"><table><thead><tr><th></th><th class=\"number\">miss</th>"
          "<th class=\"number\">km/s</th><th>closest at</th><th>object</th><th "
          "class=\"number\">d</th>"
          "<th>object</th><th class=\"number\">d</th><th>direction</th><th>why</th></tr></thead>"
          "<tbody>\n",
          p->out);
    for (uint32_t i = 0; i < p->ranking.count; i++) write_pair(p, i);
    fputs("</tbody></table></div>\n", p->out);
}

/* ---- the pictures ---- */

static void point_title(const struct page *p, const struct screen_ranked *pair,
                        struct svg_point *point)
{
    char miss[SCREEN_WORDS_BYTES];
    screen_rank_distance(pair->approach->miss_km, miss);
    snprintf(point->title, sizeof point->title, "%s x %s: %.20s",
             p->result->catalogue.objects[pair->approach->object_a].name,
             p->result->catalogue.objects[pair->approach->object_b].name, miss);
}

/* A point per pair of the table; is_map: on the ground, else miss over time. */
static void write_points(const struct page *p, const struct svg_chart *chart, bool is_map)
{
    for (uint32_t i = 0; i < p->ranking.count; i++) {
        const struct screen_ranked *pair = &p->ranking.pairs[i];
        const struct ground g = ground_of(p->result, &pair->view, pair->approach->tca_s);
        struct svg_point point = {.x = is_map ? g.longitude : pair->approach->tca_s / 3600.0,
                                  .y = is_map ? g.latitude : pair->approach->miss_km};
        point_title(p, pair, &point);
        svg_chart_points(chart, &point, 1);
    }
}

static void write_miss(const struct page *p)
{
    const double hours = hours_of(p->result), km = p->result->window.threshold_km;
    const struct svg_chart chart = {
        .out = p->out,
        .name = "Miss distance over time",
        .x = {0, hours, svg_tick(hours, 6), "hours from the start", NULL},
        .y = {0, km, svg_tick(km, 4), "miss, km", NULL}};
    fputs(
        "<h2>Miss distance over time</h2>\n<p class=\"soft\">Shades: how many approaches; points: "
        "the pairs of the table.</p>\n",
        p->out);
    svg_chart_begin(&chart);
    svg_chart_density(&chart, p->miss_of_time, TIME_COLUMNS, MISS_ROWS);
    write_points(p, &chart, false);
    svg_chart_end(&chart);
}

/* 3 as 1000. */
static const char *power_label(double value, char text[32])
{
    snprintf(text, 32, "%.0f", pow(10.0, value));
    return text;
}

static void write_altitudes(const struct page *p)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < ALTITUDE_BINS; i++)
        most = p->altitudes[i] > most ? p->altitudes[i] : most;
    const struct svg_chart chart = {.out = p->out,
                                    .name = "Altitudes of the approaches",
                                    .x = {0, ALTITUDE_TOP_KM, 250, "altitude, km", NULL},
                                    .y = {-0.3, 0.1 + log10(most), 1, "approaches", power_label}};
    fprintf(p->out,
            "<h2>At which altitude</h2>\n<p class=\"soft\">Approaches per %g km; %u are above "
            "%g km.</p>\n",
            ALTITUDE_TOP_KM / ALTITUDE_BINS, p->above, ALTITUDE_TOP_KM);
    svg_chart_begin(&chart);
    svg_chart_bars(&chart, p->altitudes, ALTITUDE_BINS);
    svg_chart_end(&chart);
}

static void write_map(const struct page *p)
{
    const struct svg_chart chart = {.out = p->out,
                                    .name = "Places on the ground below the approaches",
                                    .x = {-180, 180, 30, "longitude, degrees east", NULL},
                                    .y = {-90, 90, 30, "latitude, degrees north", NULL}};
    fputs(
        "<h2>Where</h2>\n<p class=\"soft\">The ground below: shades how many, points the pairs of "
        "the table.</p>\n",
        p->out);
    svg_chart_begin(&chart);
    svg_chart_density(&chart, p->places, MAP_COLUMNS, MAP_ROWS);
    write_points(p, &chart, true);
    svg_chart_end(&chart);
}

/* ---- beside the approaches ---- */

static void write_togethers(const struct page *p)
{
    const struct screen_result *r = p->result;
    if (r->together_count == 0) return;
    fprintf(
        p->out,
        "<h2>Together</h2>\n<p class=\"soft\">Within %g km all the time: modules of stations, "
        "formations.</p>\n<div class=\"panel\"><table><thead><tr><th>object</th><th>object</th>"
        "<th class=\"number\">nearest</th><th class=\"number\">farthest</th></tr></thead><tbody>\n",
        r->window.threshold_km);
    for (uint32_t i = 0; i < r->together_count && i < LIST_MOST; i++) {
        const struct screen_together *t = &r->togethers[i];
        char nearest[SCREEN_WORDS_BYTES], farthest[SCREEN_WORDS_BYTES];
        screen_rank_distance(t->nearest_km, nearest);
        screen_rank_distance(t->farthest_km, farthest);
        fputs("<tr><td>", p->out);
        svg_text(p->out, r->catalogue.objects[t->object_a].name);
        fputs("</td><td>", p->out);
        svg_text(p->out, r->catalogue.objects[t->object_b].name);
        fprintf(p->out, "</td><td class=\"number\">%s</td><td class=\"number\">%s</td></tr>\n",
                nearest, farthest);
    }
    fputs("</tbody></table></div>\n", p->out);
}

static void write_ended(const struct page *p)
{
    const struct screen_result *r = p->result;
    if (r->loss_count == 0) return;
    fputs("<h2>Ended in the window</h2>\n<ul>\n", p->out);
    for (uint32_t i = 0; i < r->loss_count && i < LIST_MOST; i++) {
        char time[MOMENT_TEXT_BYTES];
        const double seconds = approach_step_middle(&r->window, r->losses[i].step);
        moment_format(moment_add_seconds(r->window.start, seconds), time);
        fputs("<li>", p->out);
        svg_text(p->out, r->catalogue.objects[r->losses[i].object].name);
        fprintf(p->out, " (%u), %.16sZ: %s</li>\n",
                r->catalogue.objects[r->losses[i].object].number, time,
                sgp4_error_text(r->losses[i].error));
    }
    fputs("</ul>\n", p->out);
}

int screen_page_write(const struct screen_options *o, const struct screen_result *r)
{
    weft_cli_file file;
    struct page *p = calloc(1, sizeof *p);
    if (!p) return -1;
    p->options = o;
    p->result = r;
    int status = screen_rank(r, o->top, &p->ranking);
    if (status == 0) status = count_all(p);
    if (status != 0) weft_cli_fail("screen", "out of memory");
    if (status == 0) status = weft_cli_file_begin(&file, "screen", o->out, "index.html");
    if (status == 0) {
        p->out = file.stream;
        write_head(p->out);
        write_summary(p);
        if (r->approach_count == 0) write_nothing(p);
        if (r->approach_count != 0) write_pairs(p);
        if (r->approach_count != 0) write_miss(p);
        if (r->approach_count != 0) write_altitudes(p);
        if (r->approach_count != 0) write_map(p);
        write_togethers(p);
        write_ended(p);
        fputs("</main></body></html>\n", p->out);
        status = weft_cli_file_end(&file);
    }
    screen_ranking_fini(&p->ranking);
    free(p);
    return status;
}
