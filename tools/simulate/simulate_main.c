/* SPDX-License-Identifier: MIT */
/* simulate_main.c: the program weft-simulate, run by `weft simulate`: a recording, or an artificial
 * frame, on each of a list of worker counts. A program of its own because the job system in it is
 * compiled with other atomics. */
#include "simulate.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { RUNS_MAX = 32 };

static uint32_t parse_counts(const char *text, uint32_t *counts)
{
    uint32_t count = 0;
    while (*text != '\0' && count < RUNS_MAX) {
        char *end;
        unsigned long value = strtoul(text, &end, 10);
        if (end == text || value < 1 || value > 256 || (*end != '\0' && *end != ',')) return 0;
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

/* One line on a terminal, erased when `done` is `count`. */
static void show_progress(uint32_t done, uint32_t count, uint32_t workers)
{
    if (isatty(STDERR_FILENO) == 0) return;
    if (done == count)
        fprintf(stderr, "\r\033[K");
    else
        fprintf(stderr, "\rsimulating %u workers (%u of %u)", workers, done + 1, count);
}

static int simulate(const sim_costs *costs, const sim_machine *machine, const char *list,
                    bool is_json)
{
    uint32_t counts[RUNS_MAX], count = parse_counts(list, counts);
    if (count == 0)
        return weft_cli_misuse("simulate", "--workers '%s' is not a list such as 1,2,64", list);
    sim_result one;
    weft_result result = sim_run(costs, machine, 1, &one);
    if (!is_json) print_head(costs, machine);
    for (uint32_t i = 0; i < count && result == WEFT_OK; i++) {
        sim_result r;
        show_progress(i, count, counts[i]);
        result = sim_run(costs, machine, counts[i], &r);
        show_progress(count, count, 0);
        r.speedup = one.frame_ns / r.frame_ns;
        if (result == WEFT_OK) (is_json ? print_json : print_row)(&r);
    }
    if (result != WEFT_OK) return weft_cli_fail("simulate", "%s", weft_result_text(result));
    if (fflush(stdout) != 0 || ferror(stdout))
        return weft_cli_fail("simulate", "cannot write to standard output");
    return WEFT_CLI_OK;
}

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

/* Reads the file, or makes the artificial frame. */
static int load(const char *path, const char *artificial, sim_costs *costs)
{
    if (artificial != NULL) {
        unsigned long n[3] = {0};
        if (!parse_artificial(artificial, n) || n[0] > ARTIFICIAL_SLICES_MAX ||
            n[1] > ARTIFICIAL_NS_MAX || n[2] > UINT32_MAX)
            return weft_cli_misuse("simulate",
                                   "--artificial '%s' is not SLICESxNS[xBYTES] with up to a "
                                   "million slices of up to a second",
                                   artificial);
        if (sim_costs_make(costs, 5, (uint32_t)n[0], (uint32_t)n[1], (uint32_t)n[2]))
            return WEFT_CLI_CONTINUE;
        return weft_cli_fail("simulate", "out of memory");
    }
    FILE *file = fopen(path, "r");
    if (file == NULL) return weft_cli_fail("simulate", "%s: %s", path, strerror(errno));
    uint32_t line;
    const char *problem = sim_costs_read(file, costs, &line);
    fclose(file);
    if (problem != NULL) return weft_cli_fail("simulate", "%s:%u: %s", path, line, problem);
    if (costs->lost > 0)
        fprintf(stderr, "weft simulate: %s: %llu events are missing\n", path,
                (unsigned long long)costs->lost);
    return WEFT_CLI_CONTINUE;
}

int main(int argc, char **argv)
{
    sim_machine machine = sim_machine_default;
    const char *list = "1,2,4,8,16,32,64,128,256", *artificial = NULL;
    double bandwidth = 0;
    bool is_json = false;
    const weft_cli_option options[] = {
        {"workers", "LIST", "worker counts (default 1,2,4,...,256)", WEFT_CLI_TEXT, &list, 0, 0},
        {"bandwidth", "GB/S", "of the memory bus; 0 is unlimited (default)", WEFT_CLI_NUMBER,
         &bandwidth, 0, 100000},
        {"transfer-ns", "NS", "a cache line to another core (default 60)", WEFT_CLI_NUMBER,
         &machine.transfer_ns, 1, 10000},
        {"wake-ns", "NS", "futex wake to run (default 8000)", WEFT_CLI_NUMBER, &machine.wake_ns,
         100, 1000000},
        {"artificial", "CxNS", "instead of FILE: C slices of NS nanoseconds (xBYTES)",
         WEFT_CLI_TEXT, &artificial, 0, 0},
        {"json", NULL, "one JSON object per worker count", WEFT_CLI_FLAG, &is_json, 0, 0},
        {0},
    };
    const weft_cli_usage usage = {
        "simulate", "[FILE.slices]",
        "Runs the job system over a recorded frame on machines this one is not.", options,
        "Record with WEFT_TRACE=FILE.slices and one worker. docs/design/simulation.md says\n"
        "what is modelled. Every line of the result is labelled simulated."};
    int first;
    int status = weft_cli_parse(&usage, argc, argv, &first);
    if (status != WEFT_CLI_CONTINUE) return status;
    if (argc - first != (artificial == NULL ? 1 : 0))
        return weft_cli_misuse("simulate", "name one FILE.slices, or --artificial");
    machine.bandwidth = bandwidth * 1000;
    sim_costs costs = {0};
    status = load(argc > first ? argv[first] : NULL, artificial, &costs);
    if (status == WEFT_CLI_CONTINUE) status = simulate(&costs, &machine, list, is_json);
    sim_costs_free(&costs);
    return status;
}
