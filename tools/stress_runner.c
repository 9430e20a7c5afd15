/* stress_runner.c: runs stress scenarios (stress.h): rounds, hash, report, the line that repeats a
 * failure.
 *
 * The seed of round k is drawn from --seed and k alone, so a failure in round k is repeated by
 * running k + 1 rounds with the same seed. Errors may be reported from any thread; their count is
 * the only shared state here.
 */
#include "stress_runner.h"

#include "cli.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

extern const weft_stress_scenario *const weft_stress_table[];

enum { DEFAULT_ROUNDS = 4, MAX_SCENARIOS = 256, MAX_PRINTED_ERRORS = 20 };

/* Guards error_count and the order of lines on stderr: a mutex, because a reporting thread is
 * already in the exceptional case. One run at a time: weft_stress_run resets the count. */
static pthread_mutex_t error_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t error_count;

static double seconds_now(void)
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

void weft_stress_list(bool is_json)
{
    const weft_stress_scenario *s;
    for (uint32_t i = 0; (s = weft_stress_at(i)); i++) {
        if (!is_json) {
            printf("%-20s %s\n", s->name, s->summary);
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

static void report(const weft_stress_config *config, const weft_stress_scenario *scenario,
                   uint32_t rounds, uint64_t hash, uint64_t errors, double seconds)
{
    weft_cli_progress_clear();
    if (!config->is_json) {
        printf("%-20s seed 0x%016" PRIx64
               "  workers %u  rounds %u  %.1f s  world hash 0x%016" PRIx64 "  errors %" PRIu64 "\n",
               scenario->name, config->seed, config->workers, rounds, seconds, hash, errors);
        fflush(stdout);
        return;
    }
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "scenario", scenario->name);
    weft_json_hash(&json, "seed", config->seed);
    weft_json_count(&json, "workers", config->workers);
    weft_json_count(&json, "rounds", rounds);
    weft_json_number(&json, "seconds", seconds);
    weft_json_hash(&json, "hash", hash);
    weft_json_count(&json, "errors", errors);
    weft_json_end(&json);
}

/* Runs rounds until enough: the hashed ones always, then by count or by time, until an error. */
static uint32_t run_rounds(const weft_stress_config *config, const weft_stress_scenario *scenario,
                           weft_stress *stress, void *state, uint64_t *hash)
{
    const double start = seconds_now();
    const uint32_t hashed = scenario->rounds ? scenario->rounds : DEFAULT_ROUNDS;
    uint32_t round = 0;
    for (; errors_so_far() == 0; round++) {
        const double elapsed = seconds_now() - start;
        const bool is_enough = config->rounds ? round >= config->rounds
                                              : round >= hashed && elapsed >= config->seconds;
        if (is_enough) break;
        stress->round = round;
        stress->seed = mix(config->seed, round);
        const uint64_t world = scenario->round(stress, state);
        if (round < hashed) *hash = mix(*hash, world);
        weft_cli_progress("%s: round %u, %.0f of %.0f s", scenario->name, round + 1, elapsed,
                          config->seconds);
    }
    return round;
}

uint64_t weft_stress_run(const weft_stress_config *config, const weft_stress_scenario *scenario)
{
    const double start = seconds_now();
    weft_stress stress = {
        .seed = config->seed, .workers = config->workers, .with_faults = config->with_faults};
    uint64_t hash = 0;
    uint32_t rounds = 0;
    pthread_mutex_lock(&error_lock);
    error_count = 0;
    pthread_mutex_unlock(&error_lock);
    void *state = scenario->create ? scenario->create(&stress) : NULL;
    if (scenario->create && !state) {
        weft_stress_error(&stress, "%s: cannot create its state", scenario->name);
    } else {
        rounds = run_rounds(config, scenario, &stress, state, &hash);
        if (scenario->destroy) scenario->destroy(state);
    }
    const uint64_t errors = errors_so_far();
    report(config, scenario, rounds, hash, errors, seconds_now() - start);
    if (errors) {
        fprintf(stderr, "repeat: weft stress %s --seed 0x%" PRIx64 " --workers %u --rounds %u%s\n",
                scenario->name, config->seed, config->workers, rounds,
                config->with_faults ? " --faults" : "");
    }
    return errors;
}
