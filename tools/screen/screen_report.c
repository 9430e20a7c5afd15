/* SPDX-License-Identifier: MIT */
/* screen_report.c: conjunctions.csv and the summary. The file's text depends on the result only:
 * fixed formats, fixed order, no locale (the program never sets one).
 */
#include "screen_report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static const char disclaimer[] =
    "screening candidates from public elements, not collision warnings";

/* ---- conjunctions.csv ---- */

/* Where the file goes. A regular file is replaced when the new one is complete, and a symbolic link
 * to one stays; a FIFO or device is written into as it is. */
struct output {
    char path[SCREEN_PATH_BYTES];
    char part[SCREEN_PATH_BYTES + 8]; /* written first, then renamed */
    bool is_stream;
};

static int cannot_write(const char *path)
{
    weft_cli_fail("screen", "cannot write %s: %s; name another directory with --out", path,
                  strerror(errno));
    return -1;
}

static int output_of(const struct screen_options *o, struct output *out)
{
    struct stat status;
    char *place = NULL;
    const int length = snprintf(out->path, sizeof out->path, "%s/conjunctions.csv", o->out);
    out->is_stream = false;
    if (length <= 0 || length >= SCREEN_PATH_BYTES) {
        weft_cli_fail("screen", "--out: the path is too long");
        return -1;
    }
    if (stat(out->path, &status) == 0) {
        out->is_stream = !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
        errno = EISDIR;
        if (S_ISDIR(status.st_mode)) return cannot_write(out->path);
        if (!out->is_stream) place = realpath(out->path, NULL);
        if (place) snprintf(out->path, sizeof out->path, "%s", place);
        free(place);
    }
    snprintf(out->part, sizeof out->part, "%s.part", out->path);
    return 0;
}

/* A .part that another program put there is overwritten only when it is a plain file. */
static FILE *output_open(const struct output *out)
{
    struct stat status;
    if (out->is_stream) return fopen(out->path, "w");
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const int file = open(out->part, flags, 0666);
    if (file < 0) return NULL;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(file);
        errno = EEXIST;
        return NULL;
    }
    return fdopen(file, "w");
}

int screen_report_prepare(const struct screen_options *o)
{
    struct output out;
    if (!o->out) return 0;
    if (output_of(o, &out)) return -1;
    if (mkdir(o->out, 0777) != 0 && errno != EEXIST) return cannot_write(o->out);
    if (out.is_stream) return 0; /* opened once: its reader would take a second end for the last */
    FILE *file = output_open(&out);
    if (!file) return cannot_write(out.part);
    fclose(file);
    unlink(out.part);
    return 0;
}

/* A name with a comma or a quote goes in quotes, quotes doubled (RFC 4180). */
static void write_name(FILE *file, const char *name)
{
    if (!strpbrk(name, ",\"")) {
        fputs(name, file);
        return;
    }
    fputc('"', file);
    for (; *name; name++) {
        if (*name == '"') fputc('"', file);
        fputc(*name, file);
    }
    fputc('"', file);
}

static void write_approach(FILE *file, const struct screen_result *r,
                           const struct screen_approach *approach)
{
    const struct tle_object *a = &r->catalogue.objects[approach->object_a];
    const struct tle_object *b = &r->catalogue.objects[approach->object_b];
    char time[MOMENT_TEXT_BYTES];
    moment_format(moment_add_seconds(r->window.start, approach->tca_s), time);
    fprintf(file, "%" PRIu32 ",%" PRIu32 ",%s,%.6f,%.6f,", a->number, b->number, time,
            approach->miss_km, approach->vrel_km_s);
    write_name(file, a->name);
    fputc(',', file);
    write_name(file, b->name);
    fputc('\n', file);
}

int screen_report_csv(const struct screen_options *o, const struct screen_result *r)
{
    struct output out;
    if (!o->out) return 0;
    if (output_of(o, &out)) return -1;
    const char *name = out.is_stream ? out.path : out.part;
    FILE *file = output_open(&out);
    if (!file) return cannot_write(name);
    fputs("norad_a,norad_b,tca_utc,miss_km,vrel_km_s,name_a,name_b\n", file);
    for (uint32_t i = 0; i < r->approach_count; i++) write_approach(file, r, &r->approaches[i]);
    const bool is_written =
        !ferror(file) && fflush(file) == 0 && (out.is_stream || fsync(fileno(file)) == 0);
    const int reason = errno;
    bool is_done = fclose(file) == 0 && is_written;
    if (!is_written) errno = reason;
    if (is_done && !out.is_stream) is_done = rename(out.part, out.path) == 0;
    if (is_done) return 0;
    cannot_write(name);
    if (!out.is_stream) unlink(out.part);
    return -1;
}

/* ---- the summary ---- */

static const struct screen_approach *closest_of(const struct screen_result *r)
{
    const struct screen_approach *closest = NULL;
    for (uint32_t i = 0; i < r->approach_count; i++) {
        if (!closest || r->approaches[i].miss_km < closest->miss_km) closest = &r->approaches[i];
    }
    return closest;
}

/* Approaches below a distance; those of two members of one constellation. */
static uint32_t count_below(const struct screen_result *r, double km)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->approach_count; i++) count += r->approaches[i].miss_km < km ? 1 : 0;
    return count;
}

static uint32_t count_inside_groups(const struct screen_result *r)
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

static void print_catalogue(const struct screen_options *o, const struct screen_result *r)
{
    char all[32], near[32], deep[32], members[32];
    const char *slash = strrchr(o->path, '/');
    printf(
        "catalogue  %s   %s objects (%s near-earth, %s deep-space), %u bad lines, %u duplicates\n",
        slash ? slash + 1 : o->path, grouped(r->catalogue.count, all), grouped(r->near_count, near),
        grouped(r->deep_count, deep), r->catalogue.bad_lines, r->catalogue.duplicates);
    if (r->stale_count != 0)
        printf("left out   %s objects: elements more than %g days from the window (--max-age)\n",
               grouped(r->stale_count, all), o->max_age_days);
    printf("groups     ");
    for (uint32_t g = 1; g < r->groups.count && g <= 4; g++) {
        printf("%s %s, ", r->groups.groups[g].name, grouped(r->groups.groups[g].count, members));
    }
    printf("%u in all, %s satellites in none\n", r->groups.count - 1,
           grouped(r->groups.groups[0].count, members));
}

static void print_done(const struct screen_result *r)
{
    char compared[32], found[32], near[32], inside[32];
    const struct screen_counts *c = &r->counts;
    printf("done       %.1f M propagations in %.2f s (%.1f M/s)   %s M pairs compared\n",
           (double)c->propagations / 1e6, c->screen_s, (double)c->propagations / 1e6 / c->screen_s,
           grouped(c->pairs_compared / 1000000, compared));
    printf(
        "found      %s approaches < %g km, %s < 1 km, %s inside one group; %u satellites ended\n",
        grouped(r->approach_count, found), r->window.threshold_km,
        grouped(count_below(r, 1.0), near), grouped(count_inside_groups(r), inside), r->loss_count);
}

static void print_closest(const struct screen_result *r)
{
    const struct screen_approach *closest = closest_of(r);
    if (!closest) return;
    const struct tle_object *a = &r->catalogue.objects[closest->object_a];
    const struct tle_object *b = &r->catalogue.objects[closest->object_b];
    char time[MOMENT_TEXT_BYTES];
    moment_format(moment_add_seconds(r->window.start, closest->tca_s), time);
    printf("closest    %.6f km  %s (%u) x %s (%u)  %s  vrel %.3f km/s\n", closest->miss_km, a->name,
           a->number, b->name, b->number, time, closest->vrel_km_s);
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

static void print_text(const struct screen_options *o, const struct screen_result *r)
{
    char start[MOMENT_TEXT_BYTES];
    moment_format(r->window.start, start);
    print_catalogue(o, r);
    printf("window     %s + %g h, step %g s, threshold %g km, %u worker%s, %s\n", start, o->hours,
           r->window.step_s, r->window.threshold_km, r->counts.workers,
           r->counts.workers == 1 ? "" : "s", r->counts.kernels);
    print_done(r);
    print_closest(r);
    print_check(r);
    printf("time       %.2f s reading, %.2f s screening, %.2f s checking\n", r->counts.load_s,
           r->counts.screen_s, r->counts.check_s);
    if (o->out) printf("wrote      %s/conjunctions.csv\n", o->out);
    printf("note       %s\n", disclaimer);
}

static void json_closest(weft_json *json, const struct screen_result *r)
{
    const struct screen_approach *closest = closest_of(r);
    if (!closest) return;
    char time[MOMENT_TEXT_BYTES];
    moment_format(moment_add_seconds(r->window.start, closest->tca_s), time);
    weft_json_open(json, "closest");
    weft_json_count(json, "norad_a", r->catalogue.objects[closest->object_a].number);
    weft_json_count(json, "norad_b", r->catalogue.objects[closest->object_b].number);
    weft_json_text(json, "tca_utc", time);
    weft_json_number(json, "miss_km", closest->miss_km);
    weft_json_number(json, "vrel_km_s", closest->vrel_km_s);
    weft_json_close(json);
}

static void json_check(weft_json *json, const struct screen_check *check)
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

static void print_json(const struct screen_options *o, const struct screen_result *r)
{
    char start[MOMENT_TEXT_BYTES];
    weft_json json;
    moment_format(r->window.start, start);
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "catalogue", o->path);
    weft_json_count(&json, "objects", r->catalogue.count);
    weft_json_count(&json, "near_earth", r->near_count);
    weft_json_count(&json, "deep_space", r->deep_count);
    weft_json_count(&json, "bad_lines", r->catalogue.bad_lines);
    weft_json_count(&json, "duplicates", r->catalogue.duplicates);
    weft_json_count(&json, "left_out", r->stale_count);
    weft_json_text(&json, "start_utc", start);
    weft_json_number(&json, "hours", o->hours);
    weft_json_number(&json, "step_s", r->window.step_s);
    weft_json_number(&json, "threshold_km", r->window.threshold_km);
    weft_json_count(&json, "workers", r->counts.workers);
    weft_json_text(&json, "kernels", r->counts.kernels);
    weft_json_count(&json, "propagations", r->counts.propagations);
    weft_json_count(&json, "pairs_compared", r->counts.pairs_compared);
    weft_json_count(&json, "approaches", r->approach_count);
    weft_json_count(&json, "below_1_km", count_below(r, 1.0));
    weft_json_count(&json, "inside_groups", count_inside_groups(r));
    weft_json_count(&json, "lost", r->loss_count);
    weft_json_number(&json, "read_s", r->counts.load_s);
    weft_json_number(&json, "screen_s", r->counts.screen_s);
    weft_json_number(&json, "check_s", r->counts.check_s);
    json_closest(&json, r);
    json_check(&json, &r->check);
    weft_json_text(&json, "note", disclaimer);
    weft_json_end(&json);
}

void screen_report_summary(const struct screen_options *options, const struct screen_result *result)
{
    if (options->is_json) {
        print_json(options, result);
    } else {
        print_text(options, result);
    }
    fflush(stdout);
}
