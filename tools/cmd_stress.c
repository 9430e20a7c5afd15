/* SPDX-License-Identifier: MIT */
/* cmd_stress.c: `weft stress`: options of the stress runner (stress_runner.h).
 */
#include "cli.h"
#include "cli_ranks.h"
#include "endurance.h"
#include "everything_stress.h"
#include "inspect_option.h"
#include "stress_runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static uint64_t fresh_seed(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t state = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return weft_stress_random(&state);
}

/* One of several: its share of the time that is left. */
static uint64_t run_share(weft_stress_config *config, const weft_stress_scenario *scenario)
{
    if (config->deadline > 0) {
        const double left = config->deadline - weft_stress_now();
        config->seconds = left > 0 ? left / config->left : 0;
        config->left--;
    }
    return weft_stress_run(config, scenario);
}

static void report_total(const weft_stress_config *config, uint32_t scenarios, double seconds,
                         double allowed, uint64_t errors)
{
    if (config->is_json) {
        weft_json json;
        weft_json_begin(&json, stdout);
        weft_json_count(&json, "scenarios", scenarios);
        weft_json_number(&json, "seconds", seconds);
        weft_json_count(&json, "errors", errors);
        weft_json_end(&json);
    } else if (config->deadline > 0) {
        printf("%-14s scenarios %u  %.1f s of %.1f s  errors %" PRIu64 "\n", "total", scenarios,
               seconds, allowed, errors);
    } else {
        printf("%-14s scenarios %u  %.1f s  errors %" PRIu64 "\n", "total", scenarios, seconds,
               errors);
    }
    fflush(stdout);
}

static uint64_t run_once(weft_stress_config config, char **names, int count, uint32_t scenarios)
{
    const double begin = weft_stress_now(), allowed = config.seconds;
    uint64_t errors = 0;
    config.left = scenarios;
    if ((scenarios > 1 || config.is_bounded) && config.rounds == 0)
        config.deadline = begin + config.seconds;
    for (int i = 0; i < count; i++) {
        const char *near;
        const weft_stress_scenario *one = weft_stress_find(names[i], &near);
        if (one) errors += run_share(&config, one);
        for (uint32_t k = 0; !one && k < weft_stress_count(); k++)
            errors += run_share(&config, weft_stress_at(k));
    }
    if (scenarios > 1) report_total(&config, scenarios, weft_stress_now() - begin, allowed, errors);
    return errors;
}

/* `*one`: the scenario, NULL for all of them. */
static int find_scenario(const char *name, const weft_stress_scenario **one)
{
    const char *near = NULL;
    *one = NULL;
    if (strcmp(name, "all") == 0) return WEFT_CLI_CONTINUE;
    if ((*one = weft_stress_find(name, &near))) return WEFT_CLI_CONTINUE;
    if (near) return weft_cli_misuse("stress", "no scenario '%s'; did you mean '%s'?", name, near);
    return weft_cli_misuse("stress", "no scenario '%s'; see --list", name);
}

static int list(char *const *names, int count, bool is_json)
{
    const weft_stress_scenario *one;
    for (int i = 0; i < count; i++) {
        int status = find_scenario(names[i], &one);
        if (status != WEFT_CLI_CONTINUE) return status;
    }
    weft_stress_list(names, count, is_json);
    return WEFT_CLI_OK;
}

/* Finds all the names first, so that a misspelt one costs no minutes of running. */
static int run_names(weft_stress_config *config, char **names, int count, uint64_t until_fail)
{
    uint32_t scenarios = 0;
    bool has_world = false;
    for (int i = 0; i < count; i++) {
        const weft_stress_scenario *one;
        int status = find_scenario(names[i], &one);
        if (status != WEFT_CLI_CONTINUE) return status;
        scenarios += one ? 1 : weft_stress_count();
        has_world = has_world || one == NULL || !one->has_no_world;
        if (config->from && !(one && weft_stress_is_round_alone(one)))
            return weft_cli_misuse("stress", "--from: '%s' keeps state between rounds", names[i]);
    }
    if (config->is_inspected && !has_world)
        return weft_cli_misuse("stress", "--inspect: '%s' makes no world to look at", names[0]);
    for (uint64_t k = 0; k < until_fail; k++) {
        if (run_once(*config, names, count, scenarios) != 0) return WEFT_CLI_FOUND;
    }
    return WEFT_CLI_OK;
}

/* Scenarios that stand alone: over ranks, in weft-shards; by the clock, in endurance. */
static bool names(int argc, char **argv, const char *scenario)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], scenario) == 0) return true;
    return false;
}

/* "everything" alone: what was drawn is printed, too. */
static int run_everything(weft_stress_config *config, char **name, uint64_t until, bool is_shrink,
                          bool are_cells)
{
    if (is_shrink && config->is_json)
        return weft_cli_misuse("stress", "--shrink prints a C program, --json objects");
    if (is_shrink)
        return weft_stress_shrink(config->seed, config->from,
                                  config->rounds == 0 ? 1 : config->rounds);
    int result = run_names(config, name, 1, until);
    weft_stress_cells(config->is_json, are_cells);
    return result;
}

static const char notes[] =
    "`weft stress shard` runs over the ranks of mpirun, alone; see its --help.\n"
    "`weft stress endurance` lives for hours, alone; see its --help.\n"
    "The same scenario and seed print the same world hash for every\n"
    "--workers and --seconds: it covers a fixed number of rounds. A scenario ends\n"
    "with --seconds, after one round at least, and has no hash when the time ends\n"
    "before its rounds; several get equal parts of what is left. One alone runs them\n"
    "to their end without --seconds, and nothing more with --seconds 0.\n"
    "A failure, a crash and Ctrl-C print the command that repeats it. A result that\n"
    "depends on the order of execution is told with step, system, entity and values;\n"
    "which worker ran which slice goes to a file for --replay.\n"
    "Each round is checked: invariants, exact counts, hashes, and that\n"
    "the process stays within twice its first memory and 512 MiB.";

static int run_stress(int argc, char **argv)
{
    if (names(argc, argv, "shard")) return weft_cli_ranks_start(argv);
    if (names(argc, argv, "endurance")) return endurance_command(argc, argv);
    uint64_t seed = fresh_seed(), workers = weft_cli_cpu_count(), rounds = 0, from = 0, until = 1;
    const char *replay = NULL;
    double seconds = -1;
    const char *inspect = NULL;
    bool is_list = false, is_json = false, with_faults = false;
    bool is_shrink = false, are_cells = false;
    const weft_cli_option options[] = {
        {"seed", "S", "decides what every round does (default: from the clock)", WEFT_CLI_COUNT,
         &seed, 0, 0},
        {"seconds", "T", "how long in all, shared by the scenarios (default 10)", WEFT_CLI_NUMBER,
         &seconds, 0, 1e9},
        {"rounds", "N", "run exactly N rounds instead", WEFT_CLI_COUNT, &rounds, 1, 4e9},
        {"workers", "N", "workers (default: CPUs); the hash does not depend on it", WEFT_CLI_COUNT,
         &workers, 1, 256},
        {"from", "K", "begin with round K (scenarios whose rounds keep no state)", WEFT_CLI_COUNT,
         &from, 0, 4e9},
        {"until-fail", "N", "the same N times, until one fails", WEFT_CLI_COUNT, &until, 1, 1e9},
        {"replay", "FILE", "the order of execution that a failure left", WEFT_CLI_TEXT, &replay, 0,
         0},
        {"faults", NULL, "inject refused memory, late workers, forced steals", WEFT_CLI_FLAG,
         &with_faults, 0, 0},
        {"shrink", NULL, "everything: print the first failing round as a short C program",
         WEFT_CLI_FLAG, &is_shrink, 0, 0},
        {"cells", NULL, "everything: list what was not drawn", WEFT_CLI_FLAG, &are_cells, 0, 0},
        {"list", NULL, "name and summary of every scenario", WEFT_CLI_FLAG, &is_list, 0, 0},
        {"inspect", WEFT_INSPECT_OPTION, &inspect, 0, 0},
        {"json", NULL, "one JSON object per line", WEFT_CLI_FLAG, &is_json, 0, 0},
        {0},
    };
    const weft_cli_usage usage = {.command = "stress",
                                  .arguments = "NAME ...|all",
                                  .summary = "Drives the engine hard and checks it.",
                                  .options = options,
                                  .notes = notes,
                                  .examples = "weft stress determinism --seconds 60\n"
                                              "weft stress all --seed 7 --workers 8 --faults\n"
                                              "weft stress playback --rounds 100 --until-fail 50"};
    int first;
    int status = weft_cli_parse(&usage, argc, argv, &first);
    if (status == WEFT_CLI_CONTINUE) status = weft_cli_inspect("stress", inspect);
    if (status != WEFT_CLI_CONTINUE) return status;
    if (is_list) return list(argv + first, argc - first, is_json);
    if (replay && first < argc)
        return weft_cli_misuse("stress", "--replay takes no scenario: its file says which");
    if (replay) return weft_stress_replay(replay);
    if (first == argc) return weft_cli_misuse("stress", "name a scenario, or 'all'; see --list");
    weft_stress_config config = {
        .seed = seed,
        .seconds = seconds < 0 ? 10 : seconds,
        .is_bounded = seconds > 0,
        .workers = (uint32_t)workers,
        .rounds = (uint32_t)rounds,
        .from = (uint32_t)from,
        .with_faults = with_faults,
        .is_json = is_json,
        .is_inspected = inspect != NULL,
    };
    if (argc - first == 1 && strcmp(argv[first], "everything") == 0)
        return run_everything(&config, argv + first, until, is_shrink, are_cells);
    if (is_shrink || are_cells)
        return weft_cli_misuse("stress", "--shrink and --cells are for 'everything' alone");
    return run_names(&config, argv + first, argc - first, until);
}

const weft_cli_command weft_cli_commands_stress[] = {
    {"stress", "seeded stress scenarios, checked and hashed", run_stress},
    {0},
};
