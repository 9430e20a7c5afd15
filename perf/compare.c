/* SPDX-License-Identifier: MIT */
/* compare.c: `weft bench --compare BEFORE AFTER`: two saved runs (--json --samples), with
 * intervals.
 *
 * The figure of a run is its median; where both runs carry samples of raw, it is the median of the
 * paired quotients ours / raw, because that takes out the speed the machine happened to have. The
 * interval of after / before is a percentile bootstrap (Efron 1979): 95 %, RESAMPLES redraws with a
 * fixed seed, so that the same files print the same table. A change counts as one only when the
 * interval does not contain 1. It reads what weft bench writes, not JSON in general.
 */
#include "harness.h"

#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 2000, MAX_SAMPLES = 10000, KEY_BYTES = 192, LINE_BYTES = 1 << 20 };

/* One line of a saved run. Owner: its run. Invariant: `figures` holds `count` > 0 values. */
typedef struct saved_line {
    char key[KEY_BYTES]; /* bench, case, workers, peer: equal keys are compared */
    double *figures;     /* ours, or ours / raw pairwise */
    uint32_t count;
    bool is_relative; /* figures are quotients */
    struct saved_line *next;
} saved_line;

/* The text of a member: copies the string or number after "name": into `out`; false if absent. */
static bool find_member(const char *line, const char *name, char *out, size_t bytes)
{
    char pattern[32];
    snprintf(pattern, sizeof pattern, "\"%s\":", name);
    const char *at = strstr(line, pattern);
    if (!at) return false;
    at += strlen(pattern);
    const bool is_text = *at == '"';
    at += is_text;
    const size_t length = strcspn(at, is_text ? "\"" : ",}");
    snprintf(out, bytes, "%.*s", (int)length, at);
    return true;
}

/* The numbers of an array member; returns how many. */
static uint32_t find_numbers(const char *line, const char *name, double *out)
{
    char pattern[32];
    snprintf(pattern, sizeof pattern, "\"%s\":[", name);
    const char *at = strstr(line, pattern);
    uint32_t count = 0;
    if (!at) return 0;
    at += strlen(pattern);
    while (count < MAX_SAMPLES) {
        char *end;
        const double value = strtod(at, &end);
        if (end == at) break;
        out[count++] = value;
        if (*end != ',') break;
        at = end + 1;
    }
    return count;
}

static saved_line *parse_line(const char *line)
{
    static double ours[MAX_SAMPLES], raw[MAX_SAMPLES];
    char bench[64], label[64], workers[16] = "", peer[32] = "";
    if (!find_member(line, "bench", bench, sizeof bench)) return NULL;
    if (!find_member(line, "case", label, sizeof label)) return NULL;
    find_member(line, "workers", workers, sizeof workers);
    find_member(line, "peer", peer, sizeof peer);
    uint32_t count = find_numbers(line, "samples", ours);
    const uint32_t raw_count = find_numbers(line, "raw_samples", raw);
    if (count == 0) { /* saved without --samples: the median alone, no interval */
        char median[32];
        if (!find_member(line, "median", median, sizeof median)) return NULL;
        ours[0] = strtod(median, NULL);
        count = 1;
    }
    saved_line *saved = calloc(1, sizeof *saved);
    if (saved) saved->figures = malloc(count * sizeof(double));
    if (!saved || !saved->figures) {
        free(saved);
        return NULL;
    }
    snprintf(saved->key, KEY_BYTES, "%s/%s/%s/%s", bench, label, workers, peer);
    saved->count = count;
    saved->is_relative = raw_count == count;
    for (uint32_t i = 0; i < count; i++) {
        saved->figures[i] = saved->is_relative ? ours[i] / raw[i] : ours[i];
    }
    return saved;
}

static void free_lines(saved_line *line)
{
    while (line) {
        saved_line *next = line->next;
        free(line->figures);
        free(line);
        line = next;
    }
}

/* All benchmark lines of a file, in order. Returns WEFT_CLI_OK, or the status to end with, already
 * reported: the file cannot be read, or holds none. */
static int read_run(const char *path, saved_line **first)
{
    FILE *file = fopen(path, "re");
    if (!file) return weft_cli_fail("bench", "%s: %s", path, strerror(errno));
    saved_line **last = first;
    char *text = malloc(LINE_BYTES);
    /* a longer line, or one without an end, is none of ours: files may be endless (/dev/zero) */
    while (text && fgets(text, LINE_BYTES, file) && strlen(text) < LINE_BYTES - 1 && *text) {
        *last = parse_line(text);
        if (*last) last = &(*last)->next;
    }
    free(text);
    fclose(file);
    if (*first) return WEFT_CLI_OK;
    return weft_cli_misuse("bench", "%s holds no benchmark lines: save a run with --json", path);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double median_redrawn(const saved_line *line, uint64_t *random)
{
    static double drawn[MAX_SAMPLES];
    for (uint32_t i = 0; i < line->count; i++) {
        drawn[i] = line->figures[next_random(random) % line->count];
    }
    return weft_bench_median(drawn, line->count);
}

/* What came out for one key. low..high is the 95 % interval of after / before. */
typedef struct change {
    double before, after, low, high;
} change;

static change compare_lines(saved_line *before, saved_line *after)
{
    static double quotients[RESAMPLES];
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = 0; i < RESAMPLES; i++) {
        const double b = median_redrawn(before, &random);
        quotients[i] = median_redrawn(after, &random) / b;
    }
    weft_bench_median(quotients, RESAMPLES); /* sorts */
    return (change){
        .before = weft_bench_median(before->figures, before->count),
        .after = weft_bench_median(after->figures, after->count),
        .low = quotients[RESAMPLES * 25 / 1000],
        .high = quotients[RESAMPLES * 975 / 1000],
    };
}

static const char *verdict(const saved_line *before, const saved_line *after, change c)
{
    if (before->count < 5 || after->count < 5) return "unknown";
    return c.high < 1 ? "faster" : c.low > 1 ? "slower" : "same";
}

static void print_change(const char *key, const saved_line *before, const saved_line *after,
                         change c, bool is_json)
{
    const char *says = verdict(before, after, c);
    if (!is_json) {
        printf("%-44s %10.4g -> %-10.4g %s  x %.3f  [%.3f, %.3f]  %s\n", key, c.before, c.after,
               before->is_relative ? "of raw" : "      ", c.after / c.before, c.low, c.high, says);
        return;
    }
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "key", key);
    weft_json_number(&json, "before", c.before);
    weft_json_number(&json, "after", c.after);
    weft_json_bool(&json, "of_raw", before->is_relative);
    weft_json_number(&json, "change", c.after / c.before);
    weft_json_number(&json, "low", c.low);
    weft_json_number(&json, "high", c.high);
    weft_json_text(&json, "verdict", says);
    weft_json_end(&json);
}

static int compare_runs(saved_line *before, saved_line *after, bool is_json)
{
    uint32_t compared = 0;
    for (saved_line *a = after; a; a = a->next) {
        for (saved_line *b = before; b; b = b->next) {
            if (strcmp(a->key, b->key) != 0 || a->is_relative != b->is_relative) continue;
            print_change(a->key, b, a, compare_lines(b, a), is_json);
            compared++;
            break;
        }
    }
    if (!compared)
        return weft_cli_misuse("bench", "the two runs have no case in common: save both with the "
                                        "same names, workers and --samples");
    return WEFT_CLI_OK;
}

int weft_bench_compare(const char *before_path, const char *after_path, bool is_json)
{
    saved_line *before = NULL, *after = NULL;
    int status = read_run(before_path, &before);
    if (status == WEFT_CLI_OK) status = read_run(after_path, &after);
    if (status == WEFT_CLI_OK) status = compare_runs(before, after, is_json);
    free_lines(before);
    free_lines(after);
    return status;
}
