/* SPDX-License-Identifier: MIT */
/* cmd_screen.c: `weft screen`: the options of the screening job (screen/screen.h) and their limits.
 */
#include "cli.h"
#include "screen/screen.h"

#include <stdio.h>

static const char notes[] =
    "CATALOGUE is a file of two-line elements (TLE), with or without names; without it the "
    "shipped\n"
    "catalogue of January 2018 is taken. --start is UTC (2026-08-11 or 2026-08-11T12:00:00Z); "
    "default: the\n"
    "midnight after the middle one of the elements' epochs. docs/reference/screen.md defines the "
    "result.\n"
    "Screening candidates from public elements, not collision warnings.";

/* A pair is looked for within what two satellites travel in half a step; a threshold beyond that is
 * cheaper with a longer step. */
static int check_limits(const struct screen_options *o)
{
    const double widest = 7.8 * o->step_s;
    if (o->threshold_km > widest) {
        return weft_cli_misuse("screen",
                               "--threshold-km %g is larger than a cell of the grid (%.1f km at "
                               "--step %g); use --step %.1f or a smaller threshold",
                               o->threshold_km, widest, o->step_s, o->threshold_km / 7.8 + 0.05);
    }
    if (o->hours * 3600.0 / o->step_s < 1.0) {
        return weft_cli_misuse("screen", "--hours %g is shorter than one --step of %g s", o->hours,
                               o->step_s);
    }
    if (o->hours * 3600.0 / o->step_s > 4e9) {
        return weft_cli_misuse("screen", "--hours %g is too many steps of %g s", o->hours,
                               o->step_s);
    }
    return WEFT_CLI_CONTINUE;
}

static int run_screen(int argc, char **argv)
{
    char path[4096];
    struct screen_options o = {.path = screen_default_catalogue(path, sizeof path),
                               .out = "out",
                               .hours = 24.0,
                               .step_s = 10.0,
                               .threshold_km = 5.0,
                               .max_age_days = 30.0};
    uint64_t workers = weft_cli_cpu_count(), verify = 0, seed = 1;
    const char *start = NULL, *scene = NULL;
    const weft_cli_option options[] = {
        {"hours", "H", "length of the window (default 24)", WEFT_CLI_NUMBER, &o.hours, 0.0001,
         87660},
        {"step", "S", "seconds between propagations (default 10)", WEFT_CLI_NUMBER, &o.step_s, 0.1,
         60},
        {"threshold-km", "KM", "report approaches below (default 5)", WEFT_CLI_NUMBER,
         &o.threshold_km, 0.001, 400},
        {"workers", "N", "threads (default: CPUs)", WEFT_CLI_COUNT, &workers, 1, 256},
        {"start", "ISO", "begin of the window, UTC", WEFT_CLI_TEXT, &start, 0, 0},
        {"max-age", "DAYS", "leave out elements farther from the window (default 30)",
         WEFT_CLI_NUMBER, &o.max_age_days, 0.01, 36525},
        {"out", "DIR", "where conjunctions.csv goes (default out)", WEFT_CLI_TEXT, &o.out, 0, 0},
        {"verify", "K", "check K random steps by brute force", WEFT_CLI_COUNT, &verify, 0, 1000000},
        {"seed", "N", "which steps --verify takes (default 1)", WEFT_CLI_COUNT, &seed, 0, 0},
        {"scene", "WORLD", "take the satellites of a file of `weft bake`", WEFT_CLI_TEXT, &scene, 0,
         0},
        {"strict", NULL, "refuse a catalogue with a bad line", WEFT_CLI_FLAG, &o.is_strict, 0, 0},
        {"json", NULL, "the summary as one JSON object", WEFT_CLI_FLAG, &o.is_json, 0, 0},
        {0},
    };
    const weft_cli_usage usage = {
        "screen", "[CATALOGUE]",
        "Propagates every satellite of a catalogue and reports which pairs come close.", options,
        notes};
    int first;
    int status = weft_cli_parse(&usage, argc, argv, &first);
    if (status != WEFT_CLI_CONTINUE) return status;
    if (argc - first > 1)
        return weft_cli_misuse("screen", "one catalogue only, not '%s' as well", argv[first + 1]);
    if (first < argc && scene != NULL)
        return weft_cli_misuse("screen", "either a catalogue or --scene, not both");
    if (first < argc) o.path = argv[first];
    if (scene != NULL) o.path = scene;
    o.is_scene = scene != NULL;
    o.workers = (uint32_t)workers;
    o.verify = (uint32_t)verify;
    o.seed = seed;
    o.has_start = start != NULL;
    if (start && moment_parse(start, &o.start)) {
        return weft_cli_misuse("screen", "--start '%s' is not a time such as 2026-08-11T00:00:00Z",
                               start);
    }
    status = check_limits(&o);
    return status == WEFT_CLI_CONTINUE ? screen_run(&o) : status;
}

const weft_cli_command weft_cli_commands_screen[] = {
    {"screen", "which satellites of a catalogue come close to each other", run_screen},
    {0},
};
