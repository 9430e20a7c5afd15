/* SPDX-License-Identifier: MIT */
/* stress_runner.c: runs stress scenarios (stress.h): rounds, hash, bound of memory. What is said
 * about them is in stress_report.c, what is injected in stress_faults.c.
 *
 * The seed of round k is drawn from --seed and k alone, so a failure in round k is repeated by
 * running k + 1 rounds with the same seed. Errors may be reported from any thread; their count is
 * the only shared state here.
 */
#include "stress_runner.h"

#include "cli.h"
#include "stress_faults.h"
#include "stress_report.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

extern const weft_stress_scenario *const weft_stress_table[];

enum { DEFAULT_ROUNDS = 4, MAX_SCENARIOS = 256, MAX_PRINTED_ERRORS = 20 };
enum { MEMORY_SLACK_BYTES = 512 << 20 };

/* Guards error_count and the order of lines on stderr: a mutex, because a reporting thread is
 * already in the exceptional case. One run at a time: weft_stress_run resets the count. */
static pthread_mutex_t error_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t error_count;

double weft_stress_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t errors_so_far(void)
{
    pthread_mutex_lock(&error_lock);
    const uint64_t count = error_count;
    pthread_mutex_unlock(&error_lock);
    return count;
}

void weft_stress_error(weft_stress *stress, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    pthread_mutex_lock(&error_lock);
    if (error_count++ < MAX_PRINTED_ERRORS) {
        weft_cli_progress_clear();
        fprintf(stderr, "weft stress: round %u: ", stress->round);
        vfprintf(stderr, format, list);
        fputc('\n', stderr);
    }
    pthread_mutex_unlock(&error_lock);
    va_end(list);
}

bool weft_stress_has_errors(void)
{
    return errors_so_far() != 0;
}

uint32_t weft_stress_count(void)
{
    uint32_t count = 0;
    while (weft_stress_at(count)) count++;
    return count;
}

const weft_stress_scenario *weft_stress_at(uint32_t index)
{
    for (uint32_t i = 0; weft_stress_table[i]; i++) {
        for (const weft_stress_scenario *s = weft_stress_table[i]; s->name; s++) {
            if (index-- == 0) return s;
        }
    }
    return NULL;
}

const weft_stress_scenario *weft_stress_find(const char *name, const char **near)
{
    const char *names[MAX_SCENARIOS + 2] = {"all"};
    const weft_stress_scenario *s;
    for (uint32_t i = 0; (s = weft_stress_at(i)) && i < MAX_SCENARIOS; i++) {
        if (strcmp(s->name, name) == 0) return s;
        names[i + 1] = s->name;
    }
    *near = weft_cli_nearest(name, names);
    return NULL;
}

static bool is_named(const char *name, char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0 || strcmp(names[i], "all") == 0) return true;
    }
    return count == 0;
}

void weft_stress_list(char *const *names, int count, bool is_json)
{
    const weft_stress_scenario *s;
    for (uint32_t i = 0; (s = weft_stress_at(i)); i++) {
        if (!is_named(s->name, names, count)) continue;
        if (!is_json) {
            weft_cli_print_text(s->summary, (uint32_t)printf("%-20s ", s->name), 21);
            continue;
        }
        weft_json json;
        weft_json_begin(&json, stdout);
        weft_json_text(&json, "scenario", s->name);
        weft_json_text(&json, "summary", s->summary);
        weft_json_end(&json);
    }
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    uint64_t state = hash ^ value;
    return weft_stress_random(&state);
}

void weft_stress_refuse_memory(weft_stress *stress, bool is_allowed)
{
    if (stress->faults) weft_stress_faults_refuse(stress->faults, stress->seed, is_allowed);
}

uint64_t weft_stress_seed_of(uint64_t seed, uint32_t round)
{
    return mix(seed, round);
}

/* The process may grow to twice what the hashed rounds needed and some slack (what a sanitizer or
 * an allocator keeps for itself): more is a leak. */
static void check_memory(weft_stress *stress, uint64_t *bytes_first, bool is_hashed,
                         weft_stress_outcome *outcome)
{
    const uint64_t bytes = weft_stress_memory();
    if (bytes > outcome->bytes) outcome->bytes = bytes;
    if (is_hashed) *bytes_first = outcome->bytes;
    if (bytes > 2 * *bytes_first + MEMORY_SLACK_BYTES)
        weft_stress_error(stress, "the process grew from %" PRIu64 " to %" PRIu64 " MiB",
                          *bytes_first >> 20, bytes >> 20);
}

static bool is_enough(const weft_stress_config *config, uint32_t done, uint32_t hashed,
                      double elapsed)
{
    if (config->rounds) return done >= config->rounds;
    if (done > 0 && config->deadline > 0) return elapsed >= config->seconds;
    return done >= hashed && elapsed >= config->seconds;
}

/* Runs rounds until enough: the hashed ones always, then by count or by time, until an error. */
static void run_rounds(const weft_stress_config *config, const weft_stress_scenario *scenario,
                       weft_stress *stress, void *state, weft_stress_outcome *outcome)
{
    const double start = weft_stress_now();
    const uint32_t hashed = scenario->rounds ? scenario->rounds : DEFAULT_ROUNDS;
    uint64_t bytes_first = 0;
    for (uint32_t done = 0; errors_so_far() == 0; done++) {
        const double elapsed = weft_stress_now() - start;
        if (is_enough(config, done, hashed, elapsed)) break;
        stress->round = config->from + done;
        stress->seed = weft_stress_seed_of(config->seed, stress->round);
        weft_stress_watch(config, scenario, stress->round);
        const uint64_t world = scenario->round(stress, state);
        weft_stress_refuse_memory(stress, false);
        if (done < hashed) outcome->hash = mix(outcome->hash, world);
        check_memory(stress, &bytes_first, done < hashed, outcome);
        outcome->rounds = done + 1;
        char left[64] = "";
        if (config->deadline > 0)
            snprintf(left, sizeof left, "; %u scenarios behind it, %.0f s left", config->left,
                     fmax(0, config->deadline - weft_stress_now()));
        weft_cli_progress("%s: round %u, %.0f s, %" PRIu64 " MiB%s", scenario->name, stress->round,
                          elapsed, outcome->bytes >> 20, left);
    }
    outcome->hashed = config->rounds || outcome->rounds >= hashed ? 0 : hashed;
}

uint64_t weft_stress_run(const weft_stress_config *config, const weft_stress_scenario *scenario)
{
    const double start = weft_stress_now();
    weft_stress_faults faults;
    weft_stress stress = {
        .seed = config->seed, .workers = config->workers, .with_faults = config->with_faults};
    weft_stress_outcome outcome = {0};
    if (config->with_faults) {
        weft_stress_faults_init(&faults, config->seed);
        stress.faults = &faults;
        stress.allocator = faults.allocator;
        stress.os = &faults.table;
    }
    pthread_mutex_lock(&error_lock);
    error_count = 0;
    pthread_mutex_unlock(&error_lock);
    weft_stress_watch(config, scenario, config->from);
    void *state = scenario->create ? scenario->create(&stress) : NULL;
    if (scenario->create && !state) {
        weft_stress_error(&stress, "%s: cannot create its state", scenario->name);
    } else {
        run_rounds(config, scenario, &stress, state, &outcome);
        if (scenario->destroy) scenario->destroy(state);
    }
    if (config->with_faults) {
        outcome.refused = at_plain(&faults.x_refused);
        outcome.delayed = at_plain(&faults.x_delayed);
    }
    outcome.errors = errors_so_far();
    outcome.seconds = weft_stress_now() - start;
    weft_stress_report(config, scenario, &outcome);
    return outcome.errors;
}
