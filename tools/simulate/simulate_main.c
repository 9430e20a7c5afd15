/* SPDX-License-Identifier: MIT */
/* simulate_main.c: the program weft-simulate, run by `weft simulate`: recordings of a run, or an
 * artificial frame, on each of a list of worker counts. A program of its own because the job
 * system in it is compiled with other atomics. */
#include "simulate.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"

enum { RUNS_MAX = 32, WORKERS_MAX = 256, RANKS_MAX = 4096 };

/* The command line. Units are those of the options until main has read them. */
struct asked {
    sim_machine machine;
    sim_network network;
    const char *workers, *ranks, *artificial; /* NULL: not given */
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

static void print_json(const sim_result *r)
{
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "kind", "simulated");
    weft_json_count(&json, "workers", r->workers);
    weft_json_number(&json, "frame_us", r->frame_ns / 1000);
    weft_json_number(&json, "speedup", r->speedup);
    weft_json_number(&json, "utilisation", r->utilisation);
    weft_json_number(&json, "steals_per_frame", r->stolen);
    weft_json_number(&json, "parks_per_frame", r->parked);
    weft_json_number(&json, "wakes_per_frame", r->wakes);
    weft_json_end(&json);
}

static void print_row(const sim_result *r)
{
    printf("simulated %7u %12.2f %9.2f %11.1f%% %9.1f %9.1f %9.1f\n", r->workers,
           r->frame_ns / 1000, r->speedup, 100 * r->utilisation, r->stolen, r->parked, r->wakes);
}

static void print_head(const sim_costs *c, const sim_machine *m)
{
    double frames = c->frame_count;
    printf("simulated machine: transfer %g ns, wake %g ns, bandwidth %g GB/s%s\n", m->transfer_ns,
           m->wake_ns, m->bandwidth / 1000, m->bandwidth > 0 ? "" : " (0: unlimited)");
    printf("simulated frame: work %.2f us, shortest possible %.2f us, mean of %u\n",
           (double)sim_costs_work(c) / 1000 / frames, (double)sim_costs_span(c) / 1000 / frames,
           c->frame_count);
    printf("%-9s %7s %12s %9s %12s %9s %9s %9s\n", "kind", "workers", "frame us", "speed-up",
           "utilisation", "steals", "parks", "wakes");
}

/* ---- what limits the speed-up */

static void print_limit_json(const sim_costs *costs, const sim_stage_limit *row, uint32_t workers)
{
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "kind", "simulated limit");
    weft_json_count(&json, "workers", workers);
    weft_json_text(&json, "stage", row->is_owner ? "(owner)" : sim_costs_title(costs, row->number));
    if (!row->is_owner) weft_json_count(&json, "number", row->number);
    weft_json_number(&json, "work_us", row->work_us);
    weft_json_number(&json, "frame_us", row->frame_us);
    weft_json_number(&json, "slices", row->slices);
    weft_json_number(&json, "longest_us", row->longest_us);
    weft_json_text(&json, "limit", sim_limit_text(row->limit));
    weft_json_end(&json);
}

static void print_limit(const sim_costs *costs, const sim_stage_limit *row, double frame_us)
{
    char name[SIM_TITLE_BYTES + 16];
    const char *title = row->is_owner ? "(owner)" : sim_costs_title(costs, row->number);
    if (title[0] == '\0')
        snprintf(name, sizeof name, "stage %u", row->number);
    else
        snprintf(name, sizeof name, strlen(title) > 30 ? "%.27s..." : "%s", title);
    printf("%-30s %9.2f %9.2f %5.1f%% %8.1f %9.2f  %s\n", name, row->work_us, row->frame_us,
           100 * row->frame_us / frame_us, row->slices, row->longest_us,
           sim_limit_text(row->limit));
}

static bool print_limits(const sim_costs *costs, const sim_result *result, bool is_json)
{
    uint32_t count;
    sim_stage_limit *rows = sim_limits_make(costs, result, &count);
    if (rows == NULL) return false;
    if (!is_json)
        printf("\nwhat limits it on %u workers (simulated; us per frame)\n"
               "%-30s %9s %9s %6s %8s %9s  %s\n",
               result->workers, "stage", "1 worker", "now", "", "slices", "longest", "limit");
    for (uint32_t i = 0; i < count; i++) {
        if (is_json)
            print_limit_json(costs, &rows[i], result->workers);
        else
            print_limit(costs, &rows[i], result->frame_ns / 1000);
    }
    free(rows);
    return true;
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

/* Every worker count of the list; `stage_ps` holds that of the last one. */
static weft_result run_list(const sim_costs *costs, const sim_machine *machine, progress *p,
                            sim_result *last, bool is_json)
{
    double one_ns = 0;
    uint64_t *stage_ps = last->stage_ps;
    for (p->at = 0; p->at < p->count; p->at++) {
        memset(stage_ps, 0, costs->number_end * sizeof *stage_ps);
        sim_result r = {.workers = p->counts[p->at], .stage_ps = stage_ps};
        weft_result result = sim_run(costs, machine, show_progress, p, &r);
        weft_cli_progress_clear();
        if (result != WEFT_OK) return result;
        if (one_ns <= 0) { /* the first is what the others are compared with, or one worker */
            sim_result one = r;
            one.workers = 1;
            one.stage_ps = NULL;
            if (r.workers != 1) result = sim_run(costs, machine, show_progress, p, &one);
            weft_cli_progress_clear();
            if (result != WEFT_OK) return result;
            one_ns = one.frame_ns;
        }
        r.speedup = one_ns / r.frame_ns;
        (is_json ? print_json : print_row)(&r);
        fflush(stdout);
        *last = r;
    }
    return WEFT_OK;
}

static int simulate(const sim_costs *costs, const sim_machine *machine, const char *list,
                    bool is_json, bool has_limits)
{
    uint32_t counts[RUNS_MAX], count = parse_counts(list, WORKERS_MAX, counts);
    if (count == 0)
        return weft_cli_misuse("simulate", "--workers '%s' is not a list such as 1,2,64", list);
    progress p = {counts, count, 0, now_ns(), 0};
    sim_result last = {.stage_ps = malloc(costs->number_end * sizeof *last.stage_ps)};
    weft_result result = WEFT_OUT_OF_MEMORY;
    if (!is_json) print_head(costs, machine);
    if (last.stage_ps != NULL) result = run_list(costs, machine, &p, &last, is_json);
    if (result == WEFT_OK && (has_limits || !is_json) && !print_limits(costs, &last, is_json))
        result = WEFT_OUT_OF_MEMORY;
    free(last.stage_ps);
    if (result != WEFT_OK) return weft_cli_fail("simulate", "%s", weft_result_text(result));
    if (fflush(stdout) != 0 || ferror(stdout))
        return weft_cli_fail("simulate", "cannot write to standard output");
    return WEFT_CLI_OK;
}

/* ---- ranks */

static void print_rank(const sim_rank_result *r, uint32_t workers, bool is_json)
{
    const double efficiency = r->speedup / r->ranks;
    if (!is_json) {
        printf("simulated %7u %12.2f %9.2f %11.1f%% %8.1f%% %12.2f %8.1f%%\n", r->ranks,
               r->frame_ns / 1000, r->speedup, 100 * efficiency, 100 * r->border,
               r->exchange_ns / 1000, 100 * r->hidden);
        return;
    }
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "kind", "simulated ranks");
    weft_json_count(&json, "ranks", r->ranks);
    weft_json_count(&json, "workers", workers);
    weft_json_number(&json, "frame_us", r->frame_ns / 1000);
    weft_json_number(&json, "speedup", r->speedup);
    weft_json_number(&json, "efficiency", efficiency);
    weft_json_number(&json, "border", r->border);
    weft_json_number(&json, "exchange_us", r->exchange_ns / 1000);
    weft_json_number(&json, "hidden", r->hidden);
    weft_json_end(&json);
}

static void print_network(const sim_network *n, uint32_t workers)
{
    printf("simulated network: latency %g us, %g GB/s, reach %g of the side, imbalance %g, halo "
           "%.3g MB\n%s, %u worker%s each\n"
           "%-9s %7s %12s %9s %12s %9s %12s %9s\n",
           n->latency_ns / 1000, n->bandwidth / 1000, n->reach, n->imbalance, n->halo_bytes / 1e6,
           n->is_weak ? "each rank has the recorded world" : "the ranks share the recorded world",
           workers, workers == 1 ? "" : "s", "kind", "ranks", "frame us", "speed-up", "efficiency",
           "border", "exchange us", "hidden");
}

/* A list of rank counts; each rank has the first number of workers of the other list. */
static int simulate_ranks(const sim_costs *costs, const sim_machine *machine,
                          const struct asked *asked)
{
    uint32_t counts[RUNS_MAX], workers[RUNS_MAX];
    const uint32_t count = parse_counts(asked->ranks, RANKS_MAX, counts);
    if (count == 0)
        return weft_cli_misuse("simulate", "--ranks '%s' is not a list such as 2,64,4096",
                               asked->ranks);
    if (parse_counts(asked->workers ? asked->workers : "1", WORKERS_MAX, workers) != 1)
        return weft_cli_misuse("simulate", "--workers '%s': with --ranks it is one number",
                               asked->workers);
    sim_result one = {.workers = workers[0]};
    progress p = {workers, 1, 0, now_ns(), 0};
    const weft_result result = sim_run(costs, machine, show_progress, &p, &one);
    weft_cli_progress_clear();
    if (result != WEFT_OK) return weft_cli_fail("simulate", "%s", weft_result_text(result));
    sim_network network = asked->network;
    if (network.halo_bytes <= 0) network.halo_bytes = sim_costs_widest(costs);
    if (!asked->is_json) print_network(&network, workers[0]);
    for (uint32_t i = 0; i < count; i++) {
        sim_rank_result r;
        sim_ranks(&network, one.frame_ns, counts[i], &r);
        print_rank(&r, workers[0], asked->is_json);
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
    if (file == NULL) return weft_cli_fail("simulate", "%s: %s", path, strerror(errno));
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
        {"limits", NULL, "with --json: what limits each stage, too", WEFT_CLI_FLAG, &a->has_limits,
         0, 0},
        {0},
    };
    const weft_cli_usage usage = {
        "simulate",
        "[FILE.slices ...]",
        "Runs the job system over a recorded frame on machines this one is not.",
        options,
        "Record with WEFT_TRACE=FILE.slices WEFT_WORKERS=1, best several times: of recordings of\n"
        "the same run the least of each cost counts. docs/design/simulation.md says what is\n"
        "modelled. Every line of the result is labelled simulated.",
        "WEFT_TRACE=day.slices WEFT_WORKERS=1 weft screen && weft simulate day.slices\n"
        "weft simulate a.slices b.slices --workers 1,8,64 --json\n"
        "weft simulate --artificial 2048x2000 --workers 64"};
    return weft_cli_parse(&usage, argc, argv, first);
}

int main(int argc, char **argv)
{
    struct asked a = {.machine = sim_machine_default};
    a.network = (sim_network){.latency_ns = 2, .bandwidth = 12.5, .reach = 0.01, .imbalance = 0.1};
    a.machine.bandwidth = 0;
    int first;
    int status = parse(&a, argc, argv, &first);
    if (status != WEFT_CLI_CONTINUE) return status;
    if ((argc > first) == (a.artificial != NULL))
        return weft_cli_misuse("simulate", "name recordings, FILE.slices, or --artificial");
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
    if (status == WEFT_CLI_CONTINUE && a.ranks != NULL)
        status = simulate_ranks(&costs, &a.machine, &a);
    else if (status == WEFT_CLI_CONTINUE)
        status = simulate(&costs, &a.machine, a.workers ? a.workers : "1,2,4,8,16,32,64,128,256",
                          a.is_json, a.has_limits);
    sim_costs_free(&costs);
    return status;
}
