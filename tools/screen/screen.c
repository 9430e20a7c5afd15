/* SPDX-License-Identifier: MIT */
/* screen.c: the job from beginning to end. Each stage says on stderr what went wrong, cleans up
 * nothing that is not its own, and the job stops at the first that fails.
 */
#include "screen.h"

#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "cli_ranks.h"
#include "screen_check.h"
#include "screen_edges.h"
#include "screen_files.h"
#include "screen_filter.h"
#include "screen_json.h"
#include "screen_page.h"
#include "screen_report.h"
#include "screen_scene.h"
#include "screen_shards.h"
#include "screen_world.h"

enum { problems_shown = 20 };

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Rank 0, or this process is alone: it reads, writes and prints. */
static bool is_first(const struct screen_options *o)
{
    return !o->ranks || o->ranks->rank == 0;
}

/* ---- the catalogue ---- */

const char *screen_default_catalogue(char *path, size_t capacity)
{
    static const char *const places[] = {"tools/screen/catalogue.tle",
                                         "../share/weft/catalogue.tle",
                                         "../../tools/screen/catalogue.tle"};
    char program[4096];
    if (access(places[0], R_OK) == 0) return places[0];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return places[0];
    program[length] = '\0';
    const char *folder = dirname(program);
    for (size_t i = 1; i < sizeof places / sizeof *places; i++) {
        const int written = snprintf(path, capacity, "%s/%s", folder, places[i]);
        if (written > 0 && (size_t)written < capacity && access(path, R_OK) == 0) return path;
    }
    return places[0];
}

static void show_problem(void *user, const struct tle_problem *problem)
{
    uint32_t *shown = user;
    if (problem->line != 0 && (*shown)++ >= problems_shown) return; /* line 0: why it ended */
    if (problem->line == 0) {
        fprintf(stderr, "%s: %s\n", problem->path, problem->reason);
    } else {
        fprintf(stderr, "%s:%llu:%u: %s\n", problem->path, (unsigned long long)problem->line,
                (unsigned)problem->column, problem->reason);
    }
}

static int read_catalogue(const struct screen_options *o, struct screen_result *r)
{
    uint32_t problems = 0;
    const enum tle_result result = (o->is_scene ? screen_scene_read : tle_read)(
        o->path, show_problem, &problems, &r->catalogue);
    if (problems > problems_shown) {
        fprintf(stderr, "%s: %u more problems\n", o->path, (unsigned)(problems - problems_shown));
    }
    if (result == TLE_NO_MEMORY) return weft_cli_fail("screen", "out of memory");
    if (result == TLE_FILE) return WEFT_CLI_FAILED; /* the reason is on stderr */
    if (o->is_strict && problems > 0) {
        return weft_cli_find("screen",
                             "%s has %u bad lines and %u duplicates: correct them, or "
                             "leave out --strict to skip them",
                             o->path, (unsigned)r->catalogue.bad_lines,
                             (unsigned)r->catalogue.duplicates);
    }
    if (r->catalogue.count == 0) {
        return weft_cli_find("screen",
                             "%s has no readable object: it must be two-line elements "
                             "(TLE text) or OMM (CSV, JSON), such as celestrak.org offers",
                             o->path);
    }
    return WEFT_CLI_OK;
}

static int compare_days(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* Default start: the midnight after the middle one of the epochs, where elements are best. */
static int choose_window(const struct screen_options *o, struct screen_result *r)
{
    r->window.step_s = o->step_s;
    r->window.threshold_km = o->threshold_km;
    r->window.step_count = (uint32_t)(o->hours * 3600.0 / o->step_s + 0.5);
    r->window.start = o->start;
    if (o->has_start) return WEFT_CLI_OK;
    double *days = malloc(r->catalogue.count * sizeof *days);
    if (!days) return weft_cli_fail("screen", "out of memory");
    for (uint32_t i = 0; i < r->catalogue.count; i++) {
        days[i] = r->catalogue.objects[i].elements.epoch_day;
    }
    qsort(days, r->catalogue.count, sizeof *days, compare_days);
    r->window.start = (struct moment){.day = days[r->catalogue.count / 2] + 1.0};
    free(days);
    return WEFT_CLI_OK;
}

double screen_age_days(const struct screen_result *r, uint32_t object, double seconds)
{
    const struct sgp4_elements *e = &r->catalogue.objects[object].elements;
    const struct moment epoch = {.day = e->epoch_day, .fraction = e->epoch_fraction};
    return (moment_seconds_between(epoch, r->window.start) + seconds) / 86400.0;
}

/* Days from an epoch to the nearest moment of the window. */
static double age_days(const struct screen_options *o, const struct screen_result *r,
                       uint32_t object)
{
    const double from_start = screen_age_days(r, object, 0.0);
    if (from_start >= 0.0) return from_start;
    return fmax(0.0, -from_start - o->hours / 24.0);
}

/* Leaves out objects whose elements are too far from the window to mean anything: their places
 * would be off by more than an orbit, and deep-space ones are integrated all the way. */
static int drop_stale(const struct screen_options *o, struct screen_result *r)
{
    struct tle_catalogue *c = &r->catalogue;
    uint32_t kept = 0;
    double nearest = HUGE_VAL;
    for (uint32_t i = 0; i < c->count; i++) {
        const double age = age_days(o, r, i);
        nearest = fmin(nearest, age);
        if (age <= o->max_age_days) c->objects[kept++] = c->objects[i];
    }
    r->stale_count = c->count - kept;
    c->count = kept;
    if (kept > 0) return WEFT_CLI_OK;
    char start[MOMENT_TEXT_BYTES];
    moment_format(r->window.start, start);
    return weft_cli_find("screen",
                         "all elements of %s are too far from the window at %s (the nearest by "
                         "%.0f days, the limit is %g): take a newer catalogue or another --start, "
                         "or raise --max-age",
                         o->path, start, nearest, o->max_age_days);
}

static int find_groups(struct screen_result *r)
{
    return constellations_init(&r->groups, &r->catalogue) == 0
               ? WEFT_CLI_OK
               : weft_cli_fail("screen", "out of memory");
}

/* ---- frames ---- */

/* What changes from batch to batch, set before the frame: constants for the systems. */
static void begin_batch(struct screen_world *w, uint32_t first_step, uint32_t end_step)
{
    const uint32_t left = end_step - first_step;
    const uint32_t near = (uint32_t)weft_query_count(w->world, w->near_query);
    const uint32_t deep = (uint32_t)weft_query_count(w->world, w->deep_query);
    w->ephemeris.first_step = first_step;
    w->ephemeris.step_count = left < w->ephemeris.step_capacity ? left : w->ephemeris.step_capacity;
    w->ephemeris.object_count = near + deep;
    struct screen_places *places = weft_resource_write(w->world, w->types.deep_places);
    places->first = near;
    for (uint32_t i = 0; i < w->bounds.worker_count; i++) {
        w->bounds.of_worker[i].fastest_km_s = 0.0f;
        w->bounds.of_worker[i].propagations = 0;
    }
}

static int end_batch(const struct screen_world *w, struct screen_counts *counts)
{
    counts->states += (uint64_t)w->ephemeris.object_count * w->ephemeris.step_count;
    for (uint32_t i = 0; i < w->bounds.worker_count; i++)
        counts->propagations += w->bounds.of_worker[i].propagations;
    for (uint32_t k = 0; k < w->ephemeris.step_count; k++) {
        if (w->suspects.is_failed[k]) return -1;
        counts->suspects += w->suspects.of_step[k].count;
    }
    return w->events.is_failed ? -1 : 0;
}

static void show_progress(const struct screen_world *w, uint32_t done, uint32_t all, double seconds)
{
    if (w->options->is_quiet) return;
    weft_cli_progress_of("screening", done, all, "steps", seconds);
}

static int compare_approaches(const void *left, const void *right)
{
    const struct screen_approach *a = left, *b = right;
    if (a->tca_s != b->tca_s) return a->tca_s < b->tca_s ? -1 : 1;
    if (a->object_a != b->object_a) return a->object_a < b->object_a ? -1 : 1;
    return a->object_b < b->object_b ? -1 : a->object_b > b->object_b;
}

/* With --json: the approaches of this batch, which are after those of all batches before. */
static void print_batch(struct screen_world *w, const struct screen_result *r, uint32_t first)
{
    const uint32_t count = w->events.count - first;
    if (!r->filter || count == 0) return;
    struct screen_approach *items = w->events.items + first;
    qsort(items, count, sizeof *items, compare_approaches);
    for (uint32_t i = 0; i < count; i++)
        if (screen_filter_takes(r->filter, items[i].object_a, items[i].object_b, items[i].miss_km))
            screen_json_approaches(r, &items[i], 1);
}

static int step_world(struct screen_world *w, struct screen_result *r)
{
    struct screen_counts *counts = &r->counts;
    const double begin = seconds_now();
    for (uint32_t step = r->first_step; step < r->end_step;) {
        const uint32_t found = w->events.count;
        begin_batch(w, step, r->end_step);
        const float dt = (float)(w->ephemeris.step_count * w->window.step_s);
        if (weft_world_step(w->world, dt) != WEFT_OK) {
            return weft_cli_fail("screen", "%s", weft_world_error(w->world)->text);
        }
        if (end_batch(w, counts)) return weft_cli_fail("screen", "out of memory");
        step += w->ephemeris.step_count;
        print_batch(w, r, found);
        show_progress(w, step - r->first_step, r->end_step - r->first_step, seconds_now() - begin);
    }
    for (uint32_t k = 0; k < w->ephemeris.step_capacity; k++) {
        counts->pairs_compared += w->suspects.of_step[k].tested;
    }
    if (!w->options->is_quiet) weft_cli_progress_clear();
    return WEFT_CLI_OK;
}

/* ---- the result ---- */

static int compare_losses(const void *left, const void *right)
{
    const struct screen_loss *a = left, *b = right;
    return a->object < b->object ? -1 : a->object > b->object;
}

void screen_result_sort(struct screen_result *r)
{
    if (r->approach_count > 0) {
        qsort(r->approaches, r->approach_count, sizeof *r->approaches, compare_approaches);
    }
    if (r->loss_count > 0) qsort(r->losses, r->loss_count, sizeof *r->losses, compare_losses);
}

/* Copies a component of all entities that have it. NULL without memory. */
static void *collect(const struct screen_world *w, weft_query query, weft_component component,
                     size_t size, uint32_t *count)
{
    const uint64_t rows = weft_query_count(w->world, query);
    void *values = malloc((size_t)rows * size + 1);
    *count = (uint32_t)rows;
    if (values) weft_query_read_values(w->world, query, component, values, rows);
    return values;
}

/* The list of approaches changes hands; losses are still entities. */
static int collect_results(struct screen_world *w, struct screen_result *r)
{
    r->approaches = w->events.items;
    r->approach_count = w->events.count;
    w->events = (struct screen_event_list){.items = NULL};
    r->losses = collect(w, w->loss_query, w->types.loss, sizeof *r->losses, &r->loss_count);
    if (!r->losses) return weft_cli_fail("screen", "out of memory");
    screen_result_sort(r);
    return WEFT_CLI_OK;
}

static int check(const struct screen_world *w, struct screen_result *r)
{
    if (w->options->verify == 0) return WEFT_CLI_OK;
    if (screen_check_run(weft_world_pool(w->world), w->options, r)) {
        return weft_cli_fail("screen", "out of memory");
    }
    return WEFT_CLI_OK;
}

/* Makes the world and steps it through this process's part of the window. */
static int search_part(struct screen_world *w, const struct screen_options *o,
                       struct screen_result *r)
{
    int status = screen_world_create(w, o, r) == 0 ? WEFT_CLI_OK : WEFT_CLI_FAILED;
    const double begin = seconds_now();
    if (status == WEFT_CLI_OK) status = step_world(w, r);
    if (status == WEFT_CLI_OK) status = collect_results(w, r);
    r->counts.screen_s += seconds_now() - begin;
    if (status != WEFT_CLI_OK) return status;
    r->counts.workers = weft_job_pool_worker_count(weft_world_pool(w->world));
    r->counts.kernels = w->ephemeris.kernels->name;
    return WEFT_CLI_OK;
}

/* The part of a rank; again when objects turn out to have ended in an earlier part. */
static int search_parts(struct screen_world *w, const struct screen_options *o,
                        struct screen_result *r)
{
    bool again;
    int status = screen_shards_look_ahead(o, r);
    if (status != WEFT_CLI_OK) return status;
    status = screen_shards_settle(o, search_part(w, o, r), r, &again);
    if (status == WEFT_CLI_OK && again) {
        screen_world_destroy(w);
        free(r->approaches);
        free(r->losses);
        r->approaches = NULL;
        r->losses = NULL;
        r->counts.states = r->counts.propagations = 0;
        r->counts.pairs_compared = r->counts.suspects = 0;
        status = search_part(w, o, r);
    }
    return screen_shards_join(o, status, r);
}

int screen_search(const struct screen_options *o, struct screen_result *r)
{
    struct screen_world w = {.world = NULL};
    int status = o->ranks ? search_parts(&w, o, r) : search_part(&w, o, r);
    const double middle = seconds_now();
    if (status == WEFT_CLI_OK && is_first(o)) status = check(&w, r);
    r->counts.check_s = seconds_now() - middle;
    screen_world_destroy(&w);
    return status;
}

void screen_result_fini(struct screen_result *r)
{
    tle_catalogue_fini(&r->catalogue);
    constellations_fini(&r->groups);
    free(r->approaches);
    free(r->losses);
    free(r->togethers);
    free(r->edges);
    free(r->is_gone);
}

int screen_load(const struct screen_options *o, struct screen_result *r)
{
    const double begin = seconds_now();
    int status = WEFT_CLI_OK;
    if (is_first(o)) {
        status = read_catalogue(o, r);
        if (status == WEFT_CLI_OK) status = choose_window(o, r);
        if (status == WEFT_CLI_OK) status = drop_stale(o, r);
    }
    r->end_step = r->window.step_count;
    if (o->ranks) status = screen_shards_begin(o, status, r);
    if (status == WEFT_CLI_OK) status = find_groups(r);
    r->counts.load_s = seconds_now() - begin;
    return status;
}

/* What was found beside the search, and what of it is told. */
static int finish(const struct screen_options *o, const struct screen_filter *filter,
                  struct screen_result *r)
{
    if (screen_edges_find(r)) return weft_cli_fail("screen", "out of memory");
    screen_filter_apply(filter, r);
    if (screen_files_write(o, r)) return WEFT_CLI_FAILED;
    if (o->has_page && screen_page_write(o, r)) return WEFT_CLI_FAILED;
    if (o->is_json && o->ranks && !o->is_top)
        screen_json_approaches(r, r->approaches, r->approach_count);
    if (o->is_json)
        screen_json_end(o, r);
    else
        screen_report_text(o, r);
    fflush(stdout);
    if (!o->is_json) screen_report_warn(r);
    return r->check.steps == 0 || r->check.is_identical ? WEFT_CLI_OK : WEFT_CLI_FOUND;
}

static int run(const struct screen_options *o, struct screen_result *r)
{
    struct screen_filter filter = {.is_named = NULL};
    int status = screen_files_prepare(o);
    if (status == WEFT_CLI_OK) status = screen_load(o, r);
    if (status == WEFT_CLI_OK) status = screen_filter_init(&filter, o, r);
    if (status == WEFT_CLI_OK) {
        r->filter = o->is_json && !o->is_top && !o->ranks ? &filter : NULL;
        status = screen_search(o, r);
    }
    if (status == WEFT_CLI_OK && is_first(o)) status = finish(o, &filter, r);
    screen_filter_fini(&filter);
    return status;
}

int screen_run(const struct screen_options *options)
{
    struct screen_result result = {.approaches = NULL};
    const int status = run(options, &result);
    screen_result_fini(&result);
    return status;
}
