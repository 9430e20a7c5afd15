/* SPDX-License-Identifier: MIT */
/* compare.c: `weft bench --compare BEFORE AFTER`: two saved runs (--json --samples), with
 * intervals.
 *
 * The figure of a run is its median; where both runs carry samples of raw, it is the median of the
 * paired quotients ours / raw, because that takes out the speed the machine happened to have. The
 * interval of after / before is a percentile bootstrap (Efron 1979): 95 %, RESAMPLES redraws with a
 * fixed seed, so that the same files print the same table. A change counts as one only when the
 * interval does not contain 1 and the change is larger than the noise: NOISES times the spread of
 * the samples within both runs, and as much of the spread of the changes of all cases, which holds
 * what differs from run to run (the same binary twice differs by it). And the fastest tenth of the
 * samples must have changed as much: other programs only ever add time, and what they add differs
 * from run to run, so a median alone may be theirs. It reads what weft bench writes, not JSON in
 * general.
 */
#include "harness.h"

#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHANGE_MIN 0.03 /* a smaller change is none: two runs of one binary differ by it */
#define NOISES 3.0

enum {
    RESAMPLES = 2000,
    MAX_SAMPLES = 10000,
    KEY_BYTES = 192,
    LINE_BYTES = 1 << 20,
    KEY_COLUMNS = 30
};

/* One line of a saved run. Owner: its run. Invariant: `figures` holds `count` > 0 values. */
typedef struct saved_line {
    char key[KEY_BYTES]; /* bench, case, workers, peer: equal keys are compared */
    double *figures;     /* ours, or ours / raw pairwise */
    uint32_t count;
    uint32_t disturbed; /* figures that were taken while another program had a CPU of ours */
    bool is_relative;   /* figures are quotients */
    bool is_rate;       /* more is faster: rates, speed-ups */
    bool is_derived;    /* made of other cases: no part of the total */
    struct saved_line *next;
} saved_line;

/* Behind the colon of a member, and behind blanks; NULL: there is none. */
static const char *member_at(const char *line, const char *name)
{
    static const char blanks[] = " \t";
    char pattern[32];
    snprintf(pattern, sizeof pattern, "\"%s\"", name);
    for (const char *at = line; (at = strstr(at, pattern)) != NULL;) {
        at += strlen(pattern);
        at += strspn(at, blanks);
        if (*at == ':') return at + 1 + strspn(at + 1, blanks);
    }
    return NULL;
}

/* The text of a member: copies the string or number after "name": into `out`; false if absent. */
static bool find_member(const char *line, const char *name, char *out, size_t bytes)
{
    const char *at = member_at(line, name);
    if (!at) return false;
    const bool is_text = *at == '"';
    at += is_text;
    const size_t length = strcspn(at, is_text ? "\"" : ",} \t");
    snprintf(out, bytes, "%.*s", (int)length, at);
    return true;
}

/* The numbers of an array member; returns how many. */
static uint32_t find_numbers(const char *line, const char *name, double *out)
{
    const char *at = member_at(line, name);
    uint32_t count = 0;
    if (!at || *at++ != '[') return 0;
    while (count < MAX_SAMPLES) {
        char *end;
        const double value = strtod(at, &end);
        if (end == at) break;
        out[count++] = value;
        end += strspn(end, " \t");
        if (*end != ',') break;
        at = end + 1;
    }
    return count;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static saved_line *parse_line(const char *line)
{
    static double ours[MAX_SAMPLES], raw[MAX_SAMPLES];
    char bench[64], label[64], workers[16] = "", peer[32] = "", text[32], unit[32] = "";
    if (!ends_with(line, "}") && !ends_with(line, "}\n")) return NULL; /* cut */
    if (!find_member(line, "bench", bench, sizeof bench)) return NULL;
    if (!find_member(line, "case", label, sizeof label)) return NULL;
    find_member(line, "workers", workers, sizeof workers);
    find_member(line, "peer", peer, sizeof peer);
    find_member(line, "unit", unit, sizeof unit);
    uint32_t count = find_numbers(line, "samples", ours);
    const uint32_t raw_count = find_numbers(line, "raw_samples", raw);
    if (count == 0) { /* saved without --samples: the median alone, no interval */
        if (!find_member(line, "median", text, sizeof text)) return NULL;
        ours[0] = strtod(text, NULL);
        count = 1;
    }
    saved_line *saved = calloc(1, sizeof *saved);
    if (saved) saved->figures = malloc(count * sizeof(double));
    if (!saved || !saved->figures) {
        free(saved);
        return NULL;
    }
    snprintf(saved->key, KEY_BYTES, "%s/%s/%s%s%s", bench, label, workers, peer[0] ? "/" : "",
             peer);
    saved->count = count;
    saved->is_derived = strstr(label, "speedup") != NULL;
    saved->is_rate = saved->is_derived || ends_with(unit, "M/s") || ends_with(unit, "B/s");
    if (find_member(line, "disturbed", text, sizeof text))
        saved->disturbed = (uint32_t)strtoul(text, NULL, 10);
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
    if (!file)
        return weft_cli_fail("bench", "cannot open %s: %s; save runs with --json --samples > FILE",
                             path, strerror(errno));
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

/* What came out for one key. low..high is the 95 % interval of `ratio`; all 0: one of the
 * figures is not above zero, or not finite. */
typedef struct change {
    const saved_line *before, *after;
    double median_before, median_after, low, high;
    double ratio;  /* after / before, of rates before / after; below 1: faster */
    double least;  /* the same of their tenth percentiles */
    double spread; /* of the samples of both runs, relative: one standard deviation */
} change;

/* 1.4826 times the median distance from the median: the standard deviation of a normal spread. */
static double spread_of(double *values, uint32_t count)
{
    static double distances[MAX_SAMPLES];
    const double middle = weft_bench_median(values, count);
    for (uint32_t i = 0; i < count; i++) distances[i] = fabs(values[i] - middle);
    return 1.4826 * weft_bench_median(distances, count);
}

/* The tenth percentile: what the case takes when little else runs. */
static double tenth_of(const saved_line *line)
{
    static double sorted[MAX_SAMPLES];
    memcpy(sorted, line->figures, line->count * sizeof sorted[0]);
    weft_bench_median(sorted, line->count); /* sorts */
    return sorted[line->count / 10];
}

static change compare_lines(const saved_line *before, const saved_line *after)
{
    static double quotients[RESAMPLES];
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
    change c = {.before = before, .after = after};
    c.median_before = weft_bench_median(before->figures, before->count);
    c.median_after = weft_bench_median(after->figures, after->count);
    const saved_line *above = before->is_rate ? before : after;
    const saved_line *below = before->is_rate ? after : before;
    const double ratio =
        before->is_rate ? c.median_before / c.median_after : c.median_after / c.median_before;
    if (!(ratio > 0) || !isfinite(ratio)) return c; /* a count of 0: nothing to divide by */
    for (uint32_t i = 0; i < RESAMPLES; i++) {
        const double b = median_redrawn(below, &random);
        quotients[i] = b > 0 ? median_redrawn(above, &random) / b : ratio;
    }
    weft_bench_median(quotients, RESAMPLES); /* sorts */
    c.ratio = ratio;
    c.least = before->is_rate ? ratio : tenth_of(after) / tenth_of(before);
    c.low = quotients[RESAMPLES * 25 / 1000];
    c.high = quotients[RESAMPLES * 975 / 1000];
    c.spread = hypot(spread_of(before->figures, before->count) / c.median_before,
                     spread_of(after->figures, after->count) / c.median_after);
    return c;
}

/* How far the changes of all cases lie from the middle one; 0 of few cases. */
static double noise_of(const change *changes, uint32_t count)
{
    static double logs[MAX_SAMPLES];
    uint32_t known = 0;
    for (uint32_t i = 0; i < count && known < MAX_SAMPLES; i++)
        if (changes[i].ratio > 0 && !changes[i].before->is_derived)
            logs[known++] = log(changes[i].ratio);
    return known < 8 ? 0.0 : spread_of(logs, known);
}

/* The least change that counts. */
static double threshold_of(const change *c, double noise)
{
    return fmax(CHANGE_MIN, NOISES * fmax(c->spread, noise));
}

/* In more than a quarter of the samples another program had a CPU of ours for a time. */
static bool is_disturbed(const saved_line *line)
{
    return 4 * line->disturbed > line->count;
}

static const char *verdict(const change *c, double noise)
{
    if (c->ratio <= 0 || c->before->count < 5 || c->after->count < 5) return "unknown";
    if (is_disturbed(c->before) || is_disturbed(c->after)) return "disturbed";
    const double least = 1.0 + threshold_of(c, noise);
    if (c->high < 1 && fmax(c->ratio, c->least) < 1.0 / least) return "faster";
    return c->low > 1 && fmin(c->ratio, c->least) > least ? "slower" : "same";
}

static void print_head(void)
{
    puts("change: after / before, of rates before / after; below 1 is faster\n"
         "low, high: its 95 % interval; an x: a multiple of what stands beside\n");
    printf("%-*s %8s %8s %6s %6s %6s  %s\n", KEY_COLUMNS, "benchmark/case/workers/beside", "before",
           "after", "change", "low", "high", "verdict");
}

/* Three digits in six columns. */
static const char *format_change(double value, char text[16])
{
    snprintf(text, 16, value < 10 ? "%.3f" : value < 100 ? "%.2f" : "%.0f", value);
    return text;
}

/* A line of 80 columns; a long name has one of its own. */
static void print_change(const change *c, double noise)
{
    const char *key = c->before->key, *mark = c->before->is_relative ? "x" : "";
    char figures[2][16], changes[3][16] = {"-", "-", "-"};
    snprintf(figures[0], 16, "%.3g%s", c->median_before, mark);
    snprintf(figures[1], 16, "%.3g%s", c->median_after, mark);
    if (c->ratio > 0) {
        format_change(c->ratio, changes[0]);
        format_change(c->low, changes[1]);
        format_change(c->high, changes[2]);
    }
    printf("%-*s", KEY_COLUMNS, key);
    if (strlen(key) > KEY_COLUMNS) printf("\n%*s", KEY_COLUMNS, "");
    printf(" %8s %8s %6s %6s %6s  %s\n", figures[0], figures[1], changes[0], changes[1], changes[2],
           verdict(c, noise));
}

static void print_change_json(const change *c, double noise)
{
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "key", c->before->key);
    weft_json_number(&json, "before", c->median_before);
    weft_json_number(&json, "after", c->median_after);
    weft_json_bool(&json, "of_raw", c->before->is_relative);
    if (c->ratio > 0) {
        weft_json_number(&json, "change", c->ratio);
        weft_json_number(&json, "low", c->low);
        weft_json_number(&json, "high", c->high);
        weft_json_number(&json, "least", threshold_of(c, noise));
    }
    weft_json_text(&json, "verdict", verdict(c, noise));
    weft_json_end(&json);
}

/* What the table does not say by itself. */
static void print_notes(uint32_t unknown, uint32_t left_out)
{
    if (unknown)
        printf("unknown: fewer than 5 samples in a run (save both with --samples --reps 11),\n"
               "  a speed-up, which is one figure, or not above zero\n");
    if (left_out)
        printf("left out: %u lines that the other run does not have, or has without samples:\n"
               "  save both with the same names, --workers and --samples\n",
               left_out);
}

/* How many of each verdict, and the geometric mean of all changes. */
static void print_total(const change *changes, uint32_t count, uint32_t left_out, double noise,
                        bool is_json)
{
    static const char *const words[] = {"slower", "faster", "same", "unknown", "disturbed"};
    uint32_t counts[5] = {0}, known = 0;
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *says = verdict(&changes[i], noise);
        for (int k = 0; k < 5; k++) counts[k] += strcmp(says, words[k]) == 0 ? 1 : 0;
        if (changes[i].ratio <= 0 || changes[i].before->is_derived) continue;
        sum += log(changes[i].ratio);
        known++;
    }
    const double mean = known ? exp(sum / known) : 1.0;
    if (!is_json) {
        printf("total: x %.3f, the geometric mean of %u cases, speed-ups left out; noise %.1f %%\n"
               "  %u slower, %u faster, %u same, %u unknown, %u disturbed by other programs\n",
               mean, known, 100 * noise, counts[0], counts[1], counts[2], counts[3], counts[4]);
        print_notes(counts[3], left_out);
        return;
    }
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "total", "geometric mean");
    weft_json_count(&json, "cases", known);
    weft_json_number(&json, "change", mean);
    weft_json_number(&json, "noise", noise);
    for (int k = 0; k < 5; k++) weft_json_count(&json, words[k], counts[k]);
    weft_json_count(&json, "left_out", left_out);
    weft_json_end(&json);
}

static uint32_t pair_lines(const saved_line *before, const saved_line *after, change *changes)
{
    uint32_t count = 0;
    for (const saved_line *a = after; a; a = a->next) {
        for (const saved_line *b = before; b; b = b->next) {
            if (strcmp(a->key, b->key) != 0 || a->is_relative != b->is_relative) continue;
            changes[count++] = compare_lines(b, a);
            break;
        }
    }
    return count;
}

static uint32_t count_lines(const saved_line *line)
{
    uint32_t count = 0;
    for (; line; line = line->next) count++;
    return count;
}

/* Slower cases by more than `fail_over` percent. */
static uint32_t count_slower(const change *changes, uint32_t count, double noise, double fail_over)
{
    uint32_t slower = 0;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(verdict(&changes[i], noise), "slower") == 0 &&
            100 * (changes[i].ratio - 1) > fail_over)
            slower++;
    return slower;
}

static int compare_runs(const saved_line *before, const saved_line *after, bool is_json,
                        double fail_over)
{
    const uint32_t lines = count_lines(after);
    change *changes = calloc((size_t)lines + 1, sizeof *changes);
    if (!changes) return weft_cli_fail("bench", "out of memory");
    const uint32_t count = pair_lines(before, after, changes);
    const double noise = noise_of(changes, count);
    if (count > 0 && !is_json) print_head();
    for (uint32_t i = 0; i < count; i++)
        (is_json ? print_change_json : print_change)(&changes[i], noise);
    const uint32_t left_out = lines + count_lines(before) - 2 * count;
    if (count > 0) print_total(changes, count, left_out, noise, is_json);
    const uint32_t slower = fail_over < 0 ? 0 : count_slower(changes, count, noise, fail_over);
    free(changes);
    if (slower > 0 && !is_json)
        printf("%u case%s slower by more than %g %%\n", slower, slower == 1 ? "" : "s", fail_over);
    if (count > 0) return slower > 0 ? WEFT_CLI_FOUND : WEFT_CLI_OK;
    return weft_cli_misuse("bench", "the two runs have no case in common: save both with the "
                                    "same names, workers and --samples");
}

int weft_bench_compare(const char *before_path, const char *after_path, bool is_json,
                       double fail_over)
{
    saved_line *before = NULL, *after = NULL;
    int status = read_run(before_path, &before);
    if (status == WEFT_CLI_OK) status = read_run(after_path, &after);
    if (status == WEFT_CLI_OK) status = compare_runs(before, after, is_json, fail_over);
    free_lines(before);
    free_lines(after);
    return status;
}
