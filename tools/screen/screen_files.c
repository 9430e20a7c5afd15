/* SPDX-License-Identifier: MIT */
/* screen_files.c: fixed formats, fixed order, no locale (the program never sets one).
 */
#include "screen_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "cli_file.h"

#include <weft/base.h>

static const char approaches_csv[] = "conjunctions.csv";

int screen_files_prepare(const struct screen_options *o)
{
    static const char *const names[] = {approaches_csv, "together.csv", "meta.json", "index.html"};
    char path[WEFT_CLI_PATH_BYTES];
    for (size_t i = 0; o->out && i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", o->out, names[i]);
        if (weft_cli_file_apart("screen", path, o->path)) return WEFT_CLI_USAGE;
    }
    return o->out && weft_cli_file_probe("screen", o->out, approaches_csv) ? WEFT_CLI_FAILED
                                                                           : WEFT_CLI_OK;
}

/* ---- conjunctions.csv, together.csv ---- */

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

static void write_line(FILE *file, const struct screen_result *r,
                       const struct screen_approach *approach, const char *edge)
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
    fprintf(file, ",%.3f,%.3f,%s\n", screen_age_days(r, approach->object_a, approach->tca_s),
            screen_age_days(r, approach->object_b, approach->tca_s), edge);
}

/* Those of one end of the window. */
static void write_edges(FILE *file, const struct screen_result *r, bool is_start)
{
    const double end = (double)r->window.step_count * r->window.step_s;
    for (uint32_t i = 0; i < r->edge_count; i++) {
        const struct screen_edge *e = &r->edges[i];
        if (e->is_start != is_start) continue;
        const struct screen_approach line = {.tca_s = is_start ? 0.0 : end,
                                             .miss_km = e->distance_km,
                                             .vrel_km_s = e->vrel_km_s,
                                             .object_a = e->object_a,
                                             .object_b = e->object_b};
        write_line(file, r, &line, is_start ? "start" : "end");
    }
}

int screen_files_approaches(const struct screen_options *o, const struct screen_result *r)
{
    weft_cli_file file;
    if (weft_cli_file_begin(&file, "screen", o->out, approaches_csv)) return -1;
    fputs("norad_a,norad_b,tca_utc,miss_km,vrel_km_s,name_a,name_b,days_since_epoch_a,"
          "days_since_epoch_b,at_edge\n",
          file.stream);
    write_edges(file.stream, r, true);
    for (uint32_t i = 0; i < r->approach_count; i++)
        write_line(file.stream, r, &r->approaches[i], "");
    write_edges(file.stream, r, false);
    return weft_cli_file_end(&file);
}

static int write_togethers(const struct screen_options *o, const struct screen_result *r)
{
    weft_cli_file file;
    if (weft_cli_file_begin(&file, "screen", o->out, "together.csv")) return -1;
    fputs("norad_a,norad_b,nearest_km,farthest_km,name_a,name_b\n", file.stream);
    for (uint32_t i = 0; i < r->together_count; i++) {
        const struct screen_together *t = &r->togethers[i];
        const struct tle_object *a = &r->catalogue.objects[t->object_a];
        const struct tle_object *b = &r->catalogue.objects[t->object_b];
        fprintf(file.stream, "%" PRIu32 ",%" PRIu32 ",%.6f,%.6f,", a->number, b->number,
                t->nearest_km, t->farthest_km);
        write_name(file.stream, a->name);
        fputc(',', file.stream);
        write_name(file.stream, b->name);
        fputc('\n', file.stream);
    }
    return weft_cli_file_end(&file);
}

/* ---- meta.json ---- */

static void json_moment(weft_json *json, const char *name, const struct screen_result *r,
                        double seconds)
{
    char text[MOMENT_TEXT_BYTES];
    moment_format(moment_add_seconds(r->window.start, seconds), text);
    weft_json_text(json, name, text);
}

static void json_catalogue(weft_json *json, const struct screen_options *o,
                           const struct screen_result *r)
{
    const char *slash = strrchr(o->path, '/');
    weft_json_open(json, "catalogue");
    weft_json_text(json, "file", slash ? slash + 1 : o->path);
    if (r->catalogue.bytes > 0) {
        weft_json_count(json, "cksum", r->catalogue.cksum);
        weft_json_count(json, "bytes", r->catalogue.bytes);
    }
    weft_json_count(json, "objects", r->catalogue.count);
    weft_json_count(json, "bad_lines", r->catalogue.bad_lines);
    weft_json_count(json, "duplicates", r->catalogue.duplicates);
    weft_json_count(json, "left_out", r->stale_count);
    weft_json_number(json, "max_age_days", o->max_age_days);
    weft_json_close(json);
}

static void json_filter(weft_json *json, const struct screen_options *o)
{
    weft_json_open(json, "filter");
    if (o->objects) weft_json_text(json, "object", o->objects);
    if (o->group) weft_json_text(json, "group", o->group);
    if (o->without_group) weft_json_text(json, "exclude_group", o->without_group);
    if (o->max_km != 0.0) weft_json_number(json, "max_km", o->max_km);
    weft_json_close(json);
}

/* The satellites that ended, by catalogue number. */
static void json_ended(weft_json *json, const struct screen_result *r)
{
    weft_json_open(json, "ended");
    for (uint32_t i = 0; i < r->loss_count; i++) {
        const struct tle_object *object = &r->catalogue.objects[r->losses[i].object];
        char number[16];
        snprintf(number, sizeof number, "%" PRIu32, object->number);
        weft_json_open(json, number);
        weft_json_text(json, "name", object->name);
        json_moment(json, "utc", r, approach_step_middle(&r->window, r->losses[i].step));
        weft_json_text(json, "reason", sgp4_error_text(r->losses[i].error));
        weft_json_close(json);
    }
    weft_json_close(json);
}

static int write_meta(const struct screen_options *o, const struct screen_result *r)
{
    weft_cli_file file;
    weft_json json;
    char version[32];
    if (weft_cli_file_begin(&file, "screen", o->out, "meta.json")) return -1;
    snprintf(version, sizeof version, "%d.%d.%d", WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR,
             WEFT_VERSION_PATCH);
    weft_json_begin(&json, file.stream);
    weft_json_text(&json, "weft_version", version);
    json_catalogue(&json, o, r);
    json_moment(&json, "start_utc", r, 0.0);
    json_moment(&json, "end_utc", r, (double)r->window.step_count * r->window.step_s);
    weft_json_number(&json, "step_s", r->window.step_s);
    weft_json_number(&json, "threshold_km", r->window.threshold_km);
    json_filter(&json, o);
    weft_json_count(&json, "approaches", r->approach_count);
    weft_json_count(&json, "not_taken_by_filter", r->hidden_count);
    weft_json_count(&json, "at_edge", r->edge_count);
    weft_json_count(&json, "together", r->together_count);
    json_ended(&json, r);
    weft_json_end(&json);
    return weft_cli_file_end(&file);
}

int screen_files_write(const struct screen_options *o, const struct screen_result *r)
{
    if (!o->out) return 0;
    return screen_files_approaches(o, r) || write_togethers(o, r) || write_meta(o, r) ? -1 : 0;
}
