/* SPDX-License-Identifier: MIT */
/* simulate_main.c: the program weft-simulate, run by `weft simulate`: recordings of a run, or an
 * artificial frame, on each of a list of worker counts. A program of its own because the job
 * system in it is compiled with other atomics. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "cli_file.h"
#include "simulate_report.h"

enum { RUNS_MAX = 32, WORKERS_MAX = 256, RANKS_MAX = 4096 };

/* The command line. Units are those of the options until main has read them. */
struct asked {
    sim_machine machine;
    sim_network network;
    const char *workers, *ranks, *artificial, *timeline; /* NULL: not given */
    uint32_t worker_counts[RUNS_MAX], worker_list;       /* of `workers`; numbers in the list */
    uint32_t rank_counts[RUNS_MAX], rank_list;           /* of `ranks` */
    bool is_json, has_limits, is_taken;
};

static uint32_t parse_counts(const char *text, uint32_t most, uint32_t *counts)
{
    uint32_t count = 0;
    while (*text != '\0' && count < RUNS_MAX) {
        char *end;
        unsigned long value = strtoul(text, &end, 10);
        if (end == text || value < 1 || value > most || (*end != '\0' && *end != ',')) return 0;
        counts[count++] = (uint32_t)value;
        if (*end == '\0') return count;
        text = end + 1;
    }
    return 0;
}

/* ---- runs */

/* What the progress line needs: runs with more workers take longer. Owner: simulate. */
typedef struct progress {
    const uint32_t *counts;
    uint32_t count, at;
    uint64_t begin_ns, shown_ns;
} progress;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void show_progress(void *user, uint32_t done, uint32_t frames)
{
    progress *p = user;
    uint64_t now = now_ns();
    if (now - p->shown_ns < 200000000u) return;
    p->shown_ns = now;
    double part = 0, whole = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        double weight = 1 + p->counts[i];
        whole += weight;
        if (i < p->at) part += weight;
        if (i == p->at) part += weight * done / frames;
    }
    double seconds = (double)(now - p->begin_ns) / 1e9;
    weft_cli_progress("simulating %u workers (%u of %u): frame %u of %u, %.0f %%, %.0f s left",
                      p->counts[p->at], p->at + 1, p->count, done, frames, 100 * part / whole,
                      seconds * (whole - part) / part);
}

/* Forgets the times of the run before. */
static void clear(const sim_costs *costs, sim_result *r)
{
    memset(r->stage_ps, 0, costs->number_end * sizeof *r->stage_ps);
    memset(r->node_ps, 0, costs->node_count * sizeof *r->node_ps);
    memset(r->graph_ps, 0, costs->graph_count * sizeof *r->graph_ps);
    memset(r->graph_runs, 0, costs->graph_count * sizeof *r->graph_runs);
}

/* The mean frame on one worker, what the others are compared with. */
static weft_result run_one(const sim_costs *costs, const sim_machine *machine, progress *p,
                           double *ns)
{
    sim_result one = {.workers = 1};
    weft_result result = sim_run(costs, machine, show_progress, p, &one);
    weft_cli_progress_clear();
    *ns = one.frame_ns;
    return result;
}

/* Every worker count of the list; `last` holds the times of the last one. */
static weft_result run_list(const sim_costs *costs, const struct asked *asked, progress *p,
                            sim_result *last)
{
    const double frames = costs->frame_count, work_ns = (double)sim_costs_work(costs) / frames;
    const uint64_t span_ns = sim_costs_span(costs);
    double one_ns = 0;
    if (!asked->is_json) sim_report_head(costs, &asked->machine, span_ns);
    for (p->at = 0; p->at < p->count; p->at++) {
        clear(costs, last);
        sim_result r = *last;
        r.workers = p->counts[p->at];
        if (p->at + 1 < p->count) r.timeline = NULL;
        weft_result result = sim_run(costs, &asked->machine, show_progress, p, &r);
        weft_cli_progress_clear();
        if (result == WEFT_OK && r.workers == 1) one_ns = r.frame_ns;
        if (result == WEFT_OK && one_ns <= 0) result = run_one(costs, &asked->machine, p, &one_ns);
        if (result != WEFT_OK) return result;
        r.speedup = one_ns / r.frame_ns;
        sim_report_result(&r, fmax((double)span_ns / frames, work_ns / r.workers), asked->is_json);
        fflush(stdout);
        r.timeline = last->timeline;
        *last = r;
    }
    return WEFT_OK;
}

/* Says itself what is wrong. */
static int write_timeline(const sim_timeline *timeline, const char *path, uint32_t workers)
{
    weft_cli_file file;
    if (timeline->has_failed) return weft_cli_fail("simulate", "no memory for the time line");
    if (weft_cli_file_begin(&file, "simulate", NULL, path) != 0) return WEFT_CLI_FAILED;
    sim_timeline_write(timeline, workers, file.stream);
    return weft_cli_file_end(&file) == 0 ? WEFT_CLI_OK : WEFT_CLI_FAILED;
}

static int simulate(const sim_costs *costs, const struct asked *asked)
{
    progress p = {asked->worker_counts, asked->worker_list, 0, now_ns(), 0};
    sim_timeline timeline = {0};
    sim_result last = {
        .stage_ps = calloc(costs->number_end + 1u, sizeof *last.stage_ps),
        .node_ps = calloc(costs->node_count + 1u, sizeof *last.node_ps),
        .graph_ps = calloc(costs->graph_count + 1u, sizeof *last.graph_ps),
        .graph_runs = calloc(costs->graph_count + 1u, sizeof *last.graph_runs),
        .timeline = asked->timeline != NULL ? &timeline : NULL,
    };
    weft_result result = WEFT_OUT_OF_MEMORY;
    if (last.stage_ps != NULL && last.node_ps != NULL && last.graph_ps != NULL &&
        last.graph_runs != NULL)
        result = run_list(costs, asked, &p, &last);
    if (result == WEFT_OK && (asked->has_limits || !asked->is_json) &&
        !sim_report_limits(costs, &last, asked->is_json))
        result = WEFT_OUT_OF_MEMORY;
    int status = WEFT_CLI_OK;
    if (result == WEFT_OK && asked->timeline != NULL)
        status = write_timeline(&timeline, asked->timeline, last.workers);
    free(timeline.parts);
    free(last.stage_ps);
    free(last.node_ps);
    free(last.graph_ps);
    free(last.graph_runs);
    if (result != WEFT_OK) return weft_cli_fail("simulate", "%s", weft_result_text(result));
    if (status == WEFT_CLI_OK && (fflush(stdout) != 0 || ferror(stdout)))
        return weft_cli_fail("simulate", "cannot write to standard output");
    return status;
}

/* ---- ranks */

/* Each rank has the first number of workers of the other list. */
static int simulate_ranks(const sim_costs *costs, const struct asked *asked)
{
    sim_result one = {.workers = asked->worker_counts[0]};
    progress p = {asked->worker_counts, 1, 0, now_ns(), 0};
    const weft_result result = sim_run(costs, &asked->machine, show_progress, &p, &one);
    weft_cli_progress_clear();
    if (result != WEFT_OK) return weft_cli_fail("simulate", "%s", weft_result_text(result));
    sim_network network = asked->network;
    if (network.halo_bytes <= 0) network.halo_bytes = sim_costs_widest(costs);
    if (!asked->is_json) sim_report_network(&network, one.workers);
    for (uint32_t i = 0; i < asked->rank_list; i++) {
        sim_rank_result r;
        sim_ranks(&network, one.frame_ns, asked->rank_counts[i], &r);
        sim_report_rank(&r, one.workers, asked->is_json);
    }
    return WEFT_CLI_OK;
}

/* ---- recordings */

enum { ARTIFICIAL_SLICES_MAX = 1000000, ARTIFICIAL_NS_MAX = 1000000000 };

/* The numbers of "COUNTxNS" or "COUNTxNSxBYTES"; 0 where there is none. */
static bool parse_artificial(const char *text, unsigned long numbers[3])
{
    for (int i = 0; i < 3; i++) {
        char *end;
        if (!isdigit((unsigned char)*text)) return false;
        numbers[i] = strtoul(text, &end, 10);
        if (*end == '\0') return i > 0 && numbers[0] > 0;
        if (*end != 'x') return false;
        text = end + 1;
    }
    return false;
}

static int make_artificial(const char *text, sim_costs *costs)
{
    unsigned long n[3] = {0};
    if (!parse_artificial(text, n) || n[0] > ARTIFICIAL_SLICES_MAX || n[1] > ARTIFICIAL_NS_MAX ||
        n[2] > UINT32_MAX)
        return weft_cli_misuse("simulate",
                               "--artificial '%s' is not SLICESxNS[xBYTES] with up to a "
                               "million slices of up to a second",
                               text);
    if (sim_costs_make(costs, 5, (uint32_t)n[0], (uint32_t)n[1], (uint32_t)n[2]))
        return WEFT_CLI_CONTINUE;
    return weft_cli_fail("simulate", "out of memory");
}

static int read_file(const char *path, sim_costs *costs)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return weft_cli_fail("simulate",
                             "%s: %s\nrecord a run first: WEFT_TRACE=run.slices WEFT_WORKERS=1 "
                             "PROGRAM, then weft simulate run.slices",
                             path, strerror(errno));
    uint32_t line;
    const char *problem = sim_costs_read(file, costs, &line);
    fclose(file);
    if (problem != NULL) return weft_cli_fail("simulate", "%s:%u: %s", path, line, problem);
    return WEFT_CLI_CONTINUE;
}

static void print_outliers(const sim_costs *costs, const sim_worth *worth, char *const *paths)
{
    for (uint32_t i = 0; i < worth->worst_count; i++) {
        const sim_outlier *o = &worth->worst[i];
        const char *title = sim_costs_title(costs, o->number);
        fprintf(stderr, "  %s: frame %u, stage %u%s%s, ", paths[o->recording], o->frame, o->number,
                title[0] != '\0' ? " " : "", title);
        if (o->index == UINT32_MAX)
            fprintf(stderr, "the owner before it");
        else
            fprintf(stderr, "slice %u", o->index);
        fprintf(stderr, ": %.1f us, usually %.1f\n", (double)o->ns / 1000,
                (double)o->usual_ns / 1000);
    }
}

/* The least costs of all recordings. */
static int merge(char *const *paths, uint32_t count, sim_costs *costs)
{
    sim_worth worth = {0};
    int status = read_file(paths[0], costs);
    for (uint32_t i = 1; i < count && status == WEFT_CLI_CONTINUE; i++) {
        sim_costs other;
        status = read_file(paths[i], &other);
        const char *problem =
            status == WEFT_CLI_CONTINUE ? sim_costs_least(costs, &other, i, &worth) : NULL;
        costs->lost += status == WEFT_CLI_CONTINUE ? other.lost : 0;
        sim_costs_free(&other);
        if (problem != NULL)
            status = weft_cli_fail("simulate", "%s is not the same run as %s: %s", paths[i],
                                   paths[0], problem);
    }
    if (status == WEFT_CLI_CONTINUE && worth.outlier_count != 0) {
        fprintf(stderr,
                "weft simulate: %llu costs were far from the least of %u recordings, which "
                "counts:\n",
                (unsigned long long)worth.outlier_count, count);
        print_outliers(costs, &worth, paths);
    }
    return status;
}

enum { EXCESS_PERCENT_MAX = 3 };

/* A recording of a machine that did something else gives figures of that. */
static int judge(const sim_costs *costs, char *const *paths, bool is_taken)
{
    sim_worth worth = {0};
    if (costs->version < 2)
        fprintf(stderr,
                "weft simulate: %s was recorded by an older weft: its stages run one after "
                "the other; record it again to simulate graphs\n",
                paths[0]);
    if (costs->lost > 0)
        fprintf(stderr, "weft simulate: %llu events are missing\n",
                (unsigned long long)costs->lost);
    if (!sim_costs_judge(costs, &worth)) return weft_cli_fail("simulate", "out of memory");
    double percent = 100 * (double)worth.excess_ns / (double)(sim_costs_work(costs) + 1);
    if (worth.outlier_count != 0 && percent >= 0.5) {
        fprintf(stderr,
                "weft simulate: %llu costs are far above those of other frames, %.1f %% of "
                "all time:\n",
                (unsigned long long)worth.outlier_count, percent);
        print_outliers(costs, &worth, paths);
    }
    if ((percent <= EXCESS_PERCENT_MAX && costs->lost == 0) || is_taken) return WEFT_CLI_CONTINUE;
    return weft_cli_fail("simulate",
                         "the recording is implausible: record while nothing else runs, or several "
                         "times and name all of them (the least of each cost counts); --as-it-is "
                         "takes it all the same");
}

static int parse(struct asked *a, int argc, char **argv, int *first)
{
    const weft_cli_option options[] = {
        {"workers", "LIST", "worker counts (default 1,2,4,...,256)", WEFT_CLI_TEXT, &a->workers, 0,
         0},
        {"bandwidth", "GB/S", "of the memory bus; 0 is unlimited (default)", WEFT_CLI_NUMBER,
         &a->machine.bandwidth, 0, 100000},
        {"transfer-ns", "NS", "a cache line to another core (default 60)", WEFT_CLI_NUMBER,
         &a->machine.transfer_ns, 1, 10000},
        {"wake-ns", "NS", "futex wake to run (default 8000)", WEFT_CLI_NUMBER, &a->machine.wake_ns,
         100, 1000000},
        {"artificial", "CxNS", "instead of FILE: C slices of NS nanoseconds (xBYTES)",
         WEFT_CLI_TEXT, &a->artificial, 0, 0},
        {"ranks", "LIST", "rank counts, up to 4096: machines on a network", WEFT_CLI_TEXT,
         &a->ranks, 0, 0},
        {"latency-us", "US", "of a message between ranks (default 2)", WEFT_CLI_NUMBER,
         &a->network.latency_ns, 0, 1e6},
        {"link", "GB/S", "of a rank's network; 0 is unlimited (default 12.5)", WEFT_CLI_NUMBER,
         &a->network.bandwidth, 0, 100000},
        {"reach", "PART", "how far systems look, of the world's side (default 0.01)",
         WEFT_CLI_NUMBER, &a->network.reach, 0, 0.5},
        {"halo-mb", "MB", "halo components of all rows (default: as the widest stage)",
         WEFT_CLI_NUMBER, &a->network.halo_bytes, 0, 1e9},
        {"imbalance", "PART", "the slowest rank above the mean (default 0.1)", WEFT_CLI_NUMBER,
         &a->network.imbalance, 0, 100},
        {"weak", NULL, "each rank has the recorded world, instead of a part", WEFT_CLI_FLAG,
         &a->network.is_weak, 0, 0},
        {"as-it-is", NULL, "do not refuse an implausible recording", WEFT_CLI_FLAG, &a->is_taken, 0,
         0},
        {"json", NULL, "one JSON object per count", WEFT_CLI_FLAG, &a->is_json, 0, 0},
        {"limits", NULL, "with --json: what limits each stage and task, too", WEFT_CLI_FLAG,
         &a->has_limits, 0, 0},
        {"timeline", "FILE", "the last frame on the last count, for Perfetto or speedscope",
         WEFT_CLI_TEXT, &a->timeline, 0, 0},
        {0},
    };
    const weft_cli_usage usage = {
        "simulate",
        "[FILE.slices ...]",
        "Runs the job system over a recorded frame on machines this one is not.",
        options,
        "Record with WEFT_TRACE=FILE.slices WEFT_WORKERS=1, best several times: of recordings of "
        "the same run the least of each cost counts. docs/design/simulation.md says what is "
        "modelled. Every line of the result is labelled simulated.",
        "WEFT_TRACE=day.slices WEFT_WORKERS=1 weft screen\nweft simulate day.slices\n"
        "weft simulate a.slices b.slices --workers 1,8,64 --json\n"
        "weft simulate --artificial 2048x2000 --workers 64"};
    return weft_cli_parse(&usage, argc, argv, first);
}

/* The lists, before any recording is read. */
static int parse_lists(struct asked *a)
{
    const bool has_ranks = a->ranks != NULL;
    const char *workers = a->workers != NULL ? a->workers
                          : has_ranks        ? "1"
                                             : "1,2,4,8,16,32,64,128,256";
    a->worker_list = parse_counts(workers, WORKERS_MAX, a->worker_counts);
    if (a->worker_list == 0)
        return weft_cli_misuse("simulate",
                               "--workers '%s' is not a list of 1 to %d workers, such as 1,2,64",
                               workers, WORKERS_MAX);
    if (!has_ranks) return WEFT_CLI_CONTINUE;
    a->rank_list = parse_counts(a->ranks, RANKS_MAX, a->rank_counts);
    if (a->rank_list == 0)
        return weft_cli_misuse("simulate",
                               "--ranks '%s' is not a list of 1 to %d ranks, such as 2,64,4096",
                               a->ranks, RANKS_MAX);
    if (a->worker_list != 1)
        return weft_cli_misuse("simulate", "--workers '%s': with --ranks it is one number",
                               workers);
    if (a->timeline != NULL || a->has_limits)
        return weft_cli_misuse("simulate", "--timeline and --limits do not go with --ranks");
    return WEFT_CLI_CONTINUE;
}

int main(int argc, char **argv)
{
    struct asked a = {.machine = sim_machine_default};
    a.network = (sim_network){.latency_ns = 2, .bandwidth = 12.5, .reach = 0.01, .imbalance = 0.1};
    a.machine.bandwidth = 0;
    int first;
    int status = parse(&a, argc, argv, &first);
    if (status != WEFT_CLI_CONTINUE) return status;
    unsetenv("WEFT_WORKERS"); /* for programs that are recorded, not for the simulated pool */
    status = parse_lists(&a);
    if (status != WEFT_CLI_CONTINUE) return status;
    if ((argc > first) == (a.artificial != NULL))
        return weft_cli_misuse("simulate", "name recordings, FILE.slices, or --artificial");
    for (int i = first; a.timeline != NULL && i < argc; i++)
        if (weft_cli_file_apart("simulate", a.timeline, argv[i]) != 0) return WEFT_CLI_USAGE;
    a.machine.bandwidth *= 1000;
    a.network.bandwidth *= 1000;
    a.network.latency_ns *= 1000;
    a.network.halo_bytes *= 1e6;
    sim_costs costs = {0};
    if (a.artificial != NULL) {
        status = make_artificial(a.artificial, &costs);
    } else {
        status = merge(argv + first, (uint32_t)(argc - first), &costs);
        if (status == WEFT_CLI_CONTINUE) status = judge(&costs, argv + first, a.is_taken);
    }
    if (status == WEFT_CLI_CONTINUE)
        status = a.ranks != NULL ? simulate_ranks(&costs, &a) : simulate(&costs, &a);
    sim_costs_free(&costs);
    return status;
}
