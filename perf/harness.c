/* SPDX-License-Identifier: MIT */
/* harness.c: selection, repetition and report of benchmarks (bench.h, harness.h).
 *
 * A case has variants: weft's own, raw and peers. Each gets a number of calls per sample such that
 * a sample lasts at least SAMPLE_NS; then rounds of one sample per variant are taken in turn. The
 * clock is read twice per sample, or twice per call when the case has a `prepare`. With peers,
 * every sample begins on a machine at rest: threads of a variant may spin for milliseconds after
 * its last call (libgomp's: 300,000 pauses, 7.5 ms), which the next variant would pay for.
 */
#include "harness.h"

#include "cli.h"
#include "peer.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

extern const weft_bench_entry *const weft_bench_table[];

enum {
    SAMPLE_NS = 2000000,
    REST_NS = 20000000,
    MAX_CALLS = 1 << 22,
    MAX_PREPARED_CALLS = 64,
    WARM_UP_ROUNDS = 2,
    MAX_VARIANTS = 2 + WEFT_BENCH_MAX_PEERS,
    MAX_NAMES = 1024,
    CASE_COLUMNS = 16,
};

/* Owner: weft_bench_run_all. Constant inside one benchmark except the counts. */
struct weft_bench {
    const weft_bench_config *config;
    const weft_bench_entry *entry;
    uint32_t failures, lines; /* lines: cases measured */
};

/* One implementation of the work of a case. Invariant: samples has config->reps values. */
typedef struct variant {
    const char *name; /* "run", "raw" or the peer's */
    weft_bench_fn *run;
    void *data;
    uint32_t calls;     /* per sample */
    double *samples;    /* in the order they were taken: those of one round belong together */
    uint32_t disturbed; /* samples in which a thread of ours was put off its CPU */
    double median, min;
    double paired; /* median over the rounds of ours / this one; summarise */
} variant;

/* A case being measured: its variants and how to turn ns into its unit. */
typedef struct session {
    weft_bench *bench;
    const weft_bench_measure *measure;
    double ns_per_figure; /* figure = ns of a call / ns_per_figure */
    uint32_t count;
    variant variants[MAX_VARIANTS];
} session;

void *weft_bench_zeroed(size_t count, size_t bytes)
{
    void *memory = reallocarray(NULL, count, bytes);
    if (memory) explicit_bzero(memory, count * bytes); /* memset would become calloc again */
    return memory;
}

uint64_t weft_bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint32_t weft_bench_workers(const weft_bench *bench)
{
    return bench->config->workers;
}

uint32_t weft_bench_reps(const weft_bench *bench)
{
    return bench->config->reps;
}

void weft_bench_fail(weft_bench *bench, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    weft_cli_progress_clear();
    fprintf(stderr, "weft bench: %s: ", bench->entry->name);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    bench->failures++;
}

/* Names for all the benchmarks of a layer whose names begin otherwise. */
static const struct {
    const char *name;
    const char *beginnings[8];
} groups[] = {
    {"storage",
     {"create.", "destroy", "iter.move3", "iter.frag", "move.", "get", "alloc.", "memory."}},
    {"query", {"query.", "filter.", "shared.", "enable."}},
    {"schedule", {"schedule.", "frame.", "playback.", "rollback", "storm."}},
};
enum {
    GROUPS = sizeof groups / sizeof *groups,
    BEGINNINGS = sizeof groups->beginnings / sizeof(char *)
};

static bool is_in_group(const char *name, const char *bench)
{
    for (uint32_t i = 0; i < GROUPS; i++) {
        if (strcmp(name, groups[i].name) != 0) continue;
        for (uint32_t k = 0; k < BEGINNINGS && groups[i].beginnings[k]; k++) {
            const char *beginning = groups[i].beginnings[k];
            if (strncmp(bench, beginning, strlen(beginning)) == 0) return true;
        }
    }
    return false;
}

/* Does the command-line name select the benchmark (and, if `label`, the case)? */
static bool selects(const char *name, const char *bench, const char *label)
{
    if (is_in_group(name, bench)) return true;
    const char *slash = strchr(name, '/');
    const size_t length = slash ? (size_t)(slash - name) : strlen(name);
    if (length == 0 || strncmp(name, bench, length) != 0) return false;
    return !slash || !label || strcmp(slash + 1, label) == 0;
}

bool weft_bench_wants(const weft_bench *bench, const char *label)
{
    const weft_bench_config *config = bench->config;
    for (uint32_t i = 0; i < config->name_count; i++) {
        if (selects(config->names[i], bench->entry->name, label)) return true;
    }
    return config->name_count == 0;
}

static bool is_selected(const weft_bench_config *config, const weft_bench_entry *entry)
{
    if (config->name_count == 0) return config->with_slow || !entry->is_slow;
    for (uint32_t i = 0; i < config->name_count; i++) {
        const char *name = config->names[i];
        if (!selects(name, entry->name, NULL)) continue;
        const bool is_exact = strncmp(name, entry->name, strlen(entry->name)) == 0;
        if (config->with_slow || !entry->is_slow || is_exact) return true;
    }
    return false;
}

/* ns of one call, over `calls` calls. */
static double sample(const session *s, const variant *v, uint32_t calls)
{
    uint64_t sum = 0;
    if (s->measure->prepare) {
        for (uint32_t i = 0; i < calls; i++) {
            s->measure->prepare(s->measure->data);
            const uint64_t start = weft_bench_now();
            v->run(v->data);
            sum += weft_bench_now() - start;
        }
    } else {
        const uint64_t start = weft_bench_now();
        for (uint32_t i = 0; i < calls; i++) v->run(v->data);
        sum = weft_bench_now() - start;
    }
    return (double)sum / calls;
}

/* Lets the threads of the variant before fall asleep, then wakes this one's: untimed calls for as
 * long as a sample takes. A core that was asleep takes three times as long for half a millisecond,
 * and a variant that blocks until it has come must not be given more time than one that goes on. */
static void rest(const session *s, const variant *v)
{
    const struct timespec pause = {.tv_nsec = REST_NS};
    if (!s->measure->peers[0].name) return;
    nanosleep(&pause, NULL);
    const uint64_t end = weft_bench_now() + SAMPLE_NS;
    do sample(s, v, 1 + v->calls / 8);
    while (weft_bench_now() < end);
}

/* Finds calls per sample: enough for SAMPLE_NS, from samples that grow until they can be
 * trusted. */
static void calibrate(const session *s, variant *v)
{
    const uint32_t limit = s->measure->prepare ? MAX_PREPARED_CALLS : MAX_CALLS;
    v->calls = 1;
    for (;;) {
        const double ns = sample(s, v, v->calls);
        if (ns * v->calls >= SAMPLE_NS / 2.0 || v->calls >= limit) {
            double wanted = SAMPLE_NS / (ns > 0.1 ? ns : 0.1) + 1;
            v->calls = wanted < limit ? (uint32_t)wanted : limit;
            return;
        }
        v->calls = v->calls * 4 < limit ? v->calls * 4 : limit;
    }
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double weft_bench_median(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, compare_numbers);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Threads of peers must be there, each on its CPU, before the caller is pinned: they inherit its
 * mask, and choose their CPU out of it. */
static void pin(const session *s)
{
    weft_bench_unpin_threads();
    const weft_peer *const peers[] = {weft_peer_openmp(), weft_peer_tbb()};
    for (uint32_t i = 0; i < 2 && s->measure->peers[0].name; i++)
        if (peers[i]) peers[i]->start(s->measure->workers);
    weft_bench_pin_threads();
}

/* How often a thread of this process had to leave its CPU to another program. */
static long preemptions(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

static void take_sample(const session *s, variant *v, uint32_t rep)
{
    rest(s, v);
    const long before = preemptions();
    const double figure = sample(s, v, v->calls) / s->ns_per_figure;
    if (rep < WARM_UP_ROUNDS) return;
    v->samples[rep - WARM_UP_ROUNDS] = figure;
    v->disturbed += preemptions() != before;
}

static void take_samples(session *s)
{
    const uint32_t reps = s->bench->config->reps;
    const bool is_parallel = s->measure->workers > 1 && weft_bench_has_workers();
    const bool is_pinned = !s->measure->is_free && (s->bench->config->is_pinned || is_parallel);
    const bool was_pinned = weft_bench_is_pinned();
    if (s->measure->is_free) weft_bench_unpin_threads();
    if (is_pinned) pin(s);
    for (uint32_t i = 0; i < s->count; i++) calibrate(s, &s->variants[i]);
    for (uint32_t rep = 0; rep < reps + WARM_UP_ROUNDS; rep++) {
        for (uint32_t i = s->count; i-- > 0;) /* raw before ours: ours is variant 0 */
            take_sample(s, &s->variants[i], rep);
    }
    if (is_pinned && !was_pinned) weft_bench_unpin_threads();
}

/* What the columns are, once, and the name of the benchmark above its cases. */
static void print_header(const weft_bench_entry *entry)
{
    static const weft_bench_entry *last;
    if (last == NULL)
        printf("%-*s %2s %9s %9s %-11s %-9s %8s %5s\n", CASE_COLUMNS + 2, "benchmark, case", "w",
               "median", "minimum", "unit", "beside", "median", "ratio");
    if (last != entry) puts(entry->name);
    last = entry;
}

/* The case beside variant `against`, or alone: 0. The figures of ours stand in its first line. */
static void print_text(const session *s, uint32_t against)
{
    const variant *ours = &s->variants[0], *beside = &s->variants[against];
    const weft_bench_measure *m = s->measure;
    if (against == 0 && s->count > 1) return; /* they stand beside the first peer */
    if (against < 2) {
        print_header(s->bench->entry);
        printf("  %-*s", CASE_COLUMNS, m->name);
        if (strlen(m->name) > CASE_COLUMNS) printf("\n  %*s", CASE_COLUMNS, "");
        printf(" %2u %9.4g %9.4g %-*s", m->workers, ours->median, ours->min, against ? 11 : 0,
               m->unit);
    } else {
        printf("%53s", "");
    }
    if (against)
        printf(" %-9s %8.4g %5.3g", beside->name, beside->median, ours->median / beside->median);
    putchar('\n');
    fflush(stdout);
}

static void print_json(const session *s, uint32_t index)
{
    const variant *ours = &s->variants[0], *against = index == 0 ? NULL : &s->variants[index];
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "bench", s->bench->entry->name);
    weft_json_text(&json, "case", s->measure->name);
    weft_json_count(&json, "workers", s->measure->workers);
    if (against && strcmp(against->name, "raw") != 0) {
        weft_json_text(&json, "peer", against->name);
    }
    weft_json_text(&json, "unit", s->measure->unit);
    weft_json_number(&json, "median", ours->median);
    weft_json_number(&json, "min", ours->min);
    if (against) {
        weft_json_number(&json, "raw", against->median);
        weft_json_number(&json, "ratio", ours->median / against->median);
        weft_json_number(&json, "paired", against->paired);
    }
    if (s->bench->config->with_samples) {
        weft_json_count(&json, "disturbed",
                        against && against->disturbed > ours->disturbed ? against->disturbed
                                                                        : ours->disturbed);
        weft_json_numbers(&json, "samples", ours->samples, s->bench->config->reps);
        if (against) {
            weft_json_numbers(&json, "raw_samples", against->samples, s->bench->config->reps);
        }
    }
    weft_json_end(&json);
}

static void print_session(const session *s)
{
    void (*print)(const session *, uint32_t) = s->bench->config->is_json ? print_json : print_text;
    const bool has_raw = s->measure->raw != NULL;
    weft_cli_progress_clear();
    print(s, has_raw ? 1 : 0);
    for (uint32_t i = has_raw ? 2 : 1; i < s->count; i++) print(s, i);
}

static double ns_of_unit(const char *unit)
{
    static const struct {
        const char *prefix;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    for (uint32_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const size_t n = strlen(units[i].prefix);
        if (strncmp(unit, units[i].prefix, n) == 0 && (!unit[n] || unit[n] == '/')) {
            return units[i].ns;
        }
    }
    return 0;
}

static void add_variant(session *s, const char *name, weft_bench_fn *run, void *data)
{
    s->variants[s->count++] = (variant){.name = name, .run = run, .data = data};
}

/* Lists the variants and gives each its samples, out of one block that the caller frees; as many
 * values stand behind them for summarise. */
static double *open_session(session *s)
{
    const weft_bench_measure *m = s->measure;
    const uint32_t reps = s->bench->config->reps;
    add_variant(s, "run", m->run, m->data);
    if (m->raw) add_variant(s, "raw", m->raw, m->data);
    for (uint32_t i = 0; i < WEFT_BENCH_MAX_PEERS && m->peers[i].name; i++) {
        const weft_bench_peer *peer = &m->peers[i];
        add_variant(s, peer->name, peer->run, peer->data ? peer->data : m->data);
    }
    double *block = calloc(((size_t)s->count + 1) * reps, sizeof *block);
    for (uint32_t i = 0; block && i < s->count; i++) {
        s->variants[i].samples = block + (size_t)i * reps;
    }
    return block;
}

/* `room` holds as many values as there are samples. A ratio of two samples of one round does not
 * see that the machine was slower in the next. */
static void summarise(const session *s, variant *v, double *room)
{
    const uint32_t reps = s->bench->config->reps;
    for (uint32_t i = 0; i < reps; i++) room[i] = s->variants[0].samples[i] / v->samples[i];
    v->paired = weft_bench_median(room, reps);
    memcpy(room, v->samples, reps * sizeof room[0]);
    v->median = weft_bench_median(room, reps);
    v->min = room[0]; /* sorted */
}

weft_bench_result weft_bench_run(weft_bench *bench, const weft_bench_measure *measure)
{
    weft_bench_result result = {0};
    if (!weft_bench_wants(bench, measure->name)) return result;
    weft_bench_measure m = *measure;
    if (!m.workers) m.workers = bench->config->workers;
    session s = {.bench = bench, .measure = &m};
    s.ns_per_figure = ns_of_unit(m.unit) * (m.items > 0 ? m.items : 1);
    if (s.ns_per_figure == 0) {
        weft_bench_fail(bench, "unit '%s' of case %s must start with ns, us, ms or s", m.unit,
                        m.name);
        return result;
    }
    bench->lines++;
    weft_cli_progress("%s %s", bench->entry->name, m.name);
    double *block = open_session(&s);
    if (!block) {
        weft_bench_fail(bench, "no memory for the samples");
        return result;
    }
    take_samples(&s);
    for (uint32_t i = 0; i < s.count; i++)
        summarise(&s, &s.variants[i], block + (size_t)s.count * bench->config->reps);
    print_session(&s);
    result.median = s.variants[0].median;
    result.min = s.variants[0].min;
    result.raw = m.raw ? s.variants[1].median : 0;
    result.ratio = m.raw ? result.median / result.raw : 0;
    const uint32_t first_peer = m.raw ? 2 : 1;
    for (uint32_t i = first_peer; i < s.count; i++)
        result.peers[i - first_peer] = s.variants[i].median;
    free(block);
    return result;
}

void weft_bench_value(weft_bench *bench, const char *name, const char *unit, uint32_t workers,
                      double value)
{
    if (!weft_bench_wants(bench, name)) return;
    bench->lines++;
    const weft_bench_measure m = {.name = name, .unit = unit, .workers = workers};
    session s = {.bench = bench, .measure = &m, .count = 1};
    weft_bench_config config = *bench->config;
    weft_bench once = *bench;
    config.reps = 1;
    once.config = &config;
    s.bench = &once;
    s.variants[0] = (variant){.name = "run", .samples = &value, .median = value, .min = value};
    print_session(&s);
}

static void list_entry(const weft_bench_entry *e, bool is_json)
{
    if (!is_json) {
        char text[256];
        snprintf(text, sizeof text, "%s%s", e->summary, e->is_slow ? " (slow)" : "");
        weft_cli_print_text(text, (uint32_t)printf("%-26s ", e->name), 27);
        return;
    }
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "bench", e->name);
    weft_json_text(&json, "summary", e->summary);
    weft_json_bool(&json, "slow", e->is_slow);
    weft_json_end(&json);
}

void weft_bench_list(const weft_bench_config *config)
{
    for (uint32_t i = 0; weft_bench_table[i]; i++) {
        for (const weft_bench_entry *e = weft_bench_table[i]; e->name; e++) {
            bool is_listed = config->name_count == 0;
            for (uint32_t k = 0; k < config->name_count; k++)
                is_listed = is_listed || selects(config->names[k], e->name, NULL);
            if (is_listed) list_entry(e, config->is_json);
        }
    }
}

const char *weft_bench_unknown_name(const weft_bench_config *config, const char **near)
{
    const char *names[MAX_NAMES + GROUPS + 1] = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; weft_bench_table[i]; i++) {
        for (const weft_bench_entry *e = weft_bench_table[i]; e->name && count < MAX_NAMES; e++) {
            names[count++] = e->name;
        }
    }
    for (uint32_t i = 0; i < config->name_count; i++) {
        bool is_known = false;
        for (uint32_t k = 0; k < count && !is_known; k++) {
            is_known = selects(config->names[i], names[k], NULL);
        }
        if (is_known) continue;
        for (uint32_t k = 0; k < GROUPS; k++) names[count + k] = groups[k].name;
        *near = weft_cli_nearest(config->names[i], names);
        return config->names[i];
    }
    return NULL;
}

/* A case named on the command line that the benchmark does not have, or NULL. */
static const char *missing_case(const weft_bench *bench)
{
    const weft_bench_config *config = bench->config;
    if (bench->lines != 0 || bench->failures != 0) return NULL;
    for (uint32_t i = 0; i < config->name_count; i++)
        if (strchr(config->names[i], '/') && selects(config->names[i], bench->entry->name, NULL))
            return config->names[i];
    return NULL;
}

int weft_bench_run_all(const weft_bench_config *config)
{
    int status = WEFT_CLI_OK;
    const weft_bench_ticks start = weft_bench_read_ticks();
    for (uint32_t i = 0; weft_bench_table[i]; i++) {
        for (const weft_bench_entry *e = weft_bench_table[i]; e->name; e++) {
            if (!is_selected(config, e)) continue;
            weft_bench bench = {.config = config, .entry = e};
            weft_cli_progress("%s", e->name);
            e->run(&bench);
            const char *missing = missing_case(&bench);
            if (missing)
                return weft_cli_misuse("bench",
                                       "no case '%s' with %u workers; `weft bench %s` "
                                       "has them all",
                                       missing, config->workers, e->name);
            if (bench.failures) status = WEFT_CLI_FAILED;
        }
    }
    weft_cli_progress_clear();
    weft_bench_print_machine(start, config->is_json);
    return status;
}
