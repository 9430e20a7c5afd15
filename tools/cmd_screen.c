/* SPDX-License-Identifier: MIT */
/* cmd_screen.c: `weft screen`: the options of the screening job (screen/screen.h) and their limits.
 */
#include "cli.h"
#include "cli_ranks.h"
#include "inspect_option.h"
#include "screen/screen.h"

#include <stdio.h>
#include <string.h>

static const char notes[] =
    "CATALOGUE is a file of two-line elements (TLE), or of OMM as CSV or JSON; '-' is "
    "standard input; without it the shipped catalogue of January 2018 is taken.\n"
    "--start is UTC (2026-08-11 or 2026-08-11T12:00:00Z); default: the midnight after "
    "the middle one of the elements' epochs. NAME of --object is a catalogue number or "
    "part of a name, or several with commas between; groups are first words of names.\n"
    "docs/reference/screen.md defines the result.\n"
    "Screening candidates from public elements, not collision warnings.";

static const char examples[] = "weft screen active.tle --report report\n"
                               "weft screen active.tle --object ISS --max-km 2\n"
                               "weft screen active.tle --exclude-group STARLINK --top 20\n"
                               "weft screen - --json < active.json | grep '\"approach\"'\n"
                               "mpirun -np 4 weft screen --shards active.tle";

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

/* What of the options excludes each other, or is outside the search. */
static int check_choices(const struct screen_options *o, const char *out, const char *report)
{
    if (o->max_km > o->threshold_km) {
        return weft_cli_misuse("screen",
                               "--max-km %g is beyond --threshold-km %g, below which is "
                               "searched; raise that one",
                               o->max_km, o->threshold_km);
    }
    if (out && report) {
        return weft_cli_misuse("screen",
                               "--report writes all files to its folder: leave out --out");
    }
    return WEFT_CLI_CONTINUE;
}

/* The names that filters ask for are not empty. */
static int check_names(const struct screen_options *o)
{
    const struct {
        const char *option, *value;
    } names[] = {{"object", o->objects}, {"group", o->group}, {"exclude-group", o->without_group}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].value != NULL && names[i].value[strspn(names[i].value, ", ")] == '\0')
            return weft_cli_misuse("screen",
                                   "--%s '%s' names nothing: give a name, or leave it out",
                                   names[i].option, names[i].value);
    return WEFT_CLI_CONTINUE;
}

/* The catalogue: an argument, or --scene. */
static int take_path(struct screen_options *o, int count, char **arguments, const char *scene)
{
    if (count > 1)
        return weft_cli_misuse("screen", "one catalogue only, not '%s' as well", arguments[1]);
    if (count == 1 && scene != NULL)
        return weft_cli_misuse("screen", "either a catalogue or --scene, not both");
    if (count == 1) o->path = arguments[0];
    if (scene != NULL) o->path = scene;
    o->is_scene = scene != NULL;
    return WEFT_CLI_CONTINUE;
}

static int take_start(struct screen_options *o, const char *start)
{
    o->has_start = start != NULL;
    if (start == NULL || moment_parse(start, &o->start) == 0) return WEFT_CLI_CONTINUE;
    return weft_cli_misuse("screen", "--start '%s' is not a time such as 2026-08-11T00:00:00Z",
                           start);
}

/* The options as they stand on the command line, and where they go when they are whole. */
struct given {
    struct screen_options o;
    uint64_t workers, verify, top;
    const char *start, *inspect, *scene, *out, *report;
    bool shards;
};

static int parse(struct given *g, int argc, char **argv, int *first)
{
    struct screen_options *o = &g->o;
    const weft_cli_option options[] = {
        {"hours", "H", "length of the window (default 24)", WEFT_CLI_NUMBER, &o->hours, 0.0001,
         87660},
        {"start", "ISO", "begin of the window, UTC", WEFT_CLI_TEXT, &g->start, 0, 0},
        {"step", "S", "seconds between states (default 10)", WEFT_CLI_NUMBER, &o->step_s, 0.1, 60},
        {"threshold-km", "KM", "report approaches below (default 5)", WEFT_CLI_NUMBER,
         &o->threshold_km, 0.001, 400},
        {"max-age", "DAYS", "leave out elements farther away (default 30)", WEFT_CLI_NUMBER,
         &o->max_age_days, 0.01, 36525},
        {"top", "N", "closest pairs to show (default 10); --json: only these", WEFT_CLI_COUNT,
         &g->top, 0, 100000},
        {"object", "NAME", "only approaches of these objects", WEFT_CLI_TEXT, &o->objects, 0, 0},
        {"group", "NAME", "only approaches with a member of the group", WEFT_CLI_TEXT, &o->group, 0,
         0},
        {"exclude-group", "NAME", "none with a member of the group", WEFT_CLI_TEXT,
         &o->without_group, 0, 0},
        {"max-km", "KM", "show only approaches below", WEFT_CLI_NUMBER, &o->max_km, 1e-6, 400},
        {"out", "DIR", "where conjunctions.csv goes (default out)", WEFT_CLI_TEXT, &g->out, 0, 0},
        {"report", "DIR", "the same, and a page with pictures, index.html", WEFT_CLI_TEXT,
         &g->report, 0, 0},
        {"workers", "N", "threads (default: CPUs)", WEFT_CLI_COUNT, &g->workers, 1, 256},
        {"verify", "K", "check K random steps by brute force", WEFT_CLI_COUNT, &g->verify, 0,
         1000000},
        {"seed", "N", "which steps --verify takes (default 1)", WEFT_CLI_COUNT, &o->seed, 0, 0},
        {"scene", "WORLD", "take the satellites of a file of `weft bake`", WEFT_CLI_TEXT, &g->scene,
         0, 0},
        {"inspect", WEFT_INSPECT_OPTION, &g->inspect, 0, 0},
        {"strict", NULL, "refuse a catalogue with a bad line", WEFT_CLI_FLAG, &o->is_strict, 0, 0},
        {"shards", NULL, "cut the window over the ranks of mpirun", WEFT_CLI_FLAG, &g->shards, 0,
         0},
        {"json", NULL, "approaches and summary, one JSON object per line", WEFT_CLI_FLAG,
         &o->is_json, 0, 0},
        {0},
    };
    const weft_cli_usage usage = {
        .command = "screen",
        .arguments = "[CATALOGUE]",
        .summary = "Propagates every satellite of a catalogue and reports which pairs come close.",
        .options = options,
        .notes = notes,
        .examples = examples};
    return weft_cli_parse(&usage, argc, argv, first);
}

/* All but rank 0 work without a word: no files, no lines. */
static void set_rank(struct screen_options *o, const weft_cli_ranks *ranks)
{
    o->ranks = ranks;
    if (ranks->rank == 0) return;
    o->out = NULL;
    o->has_page = false;
    o->is_quiet = true;
}

static int run_screen(int argc, char **argv)
{
    char path[4096];
    struct given g = {.o = {.path = screen_default_catalogue(path, sizeof path),
                            .hours = 24.0,
                            .step_s = 10.0,
                            .threshold_km = 5.0,
                            .max_age_days = 30.0,
                            .seed = 1},
                      .workers = weft_cli_cpu_count(),
                      .top = UINT64_MAX};
    int first;
    int status = parse(&g, argc, argv, &first);
    if (status != WEFT_CLI_CONTINUE) return status;
    struct screen_options *o = &g.o;
    o->workers = (uint32_t)g.workers;
    o->verify = (uint32_t)g.verify;
    o->is_top = g.top != UINT64_MAX;
    o->top = o->is_top ? (uint32_t)g.top : 10;
    o->has_page = g.report != NULL;
    o->out = g.report ? g.report : g.out ? g.out : "out";
    status = take_path(o, argc - first, argv + first, g.scene);
    if (status == WEFT_CLI_CONTINUE) status = take_start(o, g.start);
    if (status == WEFT_CLI_CONTINUE) status = check_choices(o, g.out, g.report);
    if (status == WEFT_CLI_CONTINUE) status = check_limits(o);
    if (status == WEFT_CLI_CONTINUE) status = check_names(o);
    if (status != WEFT_CLI_CONTINUE) return status;
    if (g.shards) {
        if (!weft_cli_ranks_here) return weft_cli_ranks_start(argv);
        set_rank(o, weft_cli_ranks_here);
    }
    if (!o->ranks || o->ranks->rank == 0) status = weft_cli_inspect("screen", g.inspect);
    return status == WEFT_CLI_CONTINUE ? screen_run(o) : status;
}

const weft_cli_command weft_cli_commands_screen[] = {
    {"screen", "which satellites of a catalogue come close to each other", run_screen},
    {0},
};
