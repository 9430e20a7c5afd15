/* SPDX-License-Identifier: MIT */
/* stress_endurance.c: `weft stress endurance`: the clock of the run, and its command.
 *
 * A step begins every 2 ms of wall time; one that comes late delays the rest, nothing is caught
 * up. The world hash that is printed is that of the main world after the first epoch, which
 * always runs; it does not depend on time, workers, pages and ranks. */
#include "endurance.h"

#include "atomic.h"
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STEP_SECONDS 0.002
#define SECONDS_MIN 60           /* less has too few samples in a tenth */
#define WARM_UP_SECONDS 24       /* at least: lists and arenas have the size that they keep */
#define VERSIONS_PASS (1u << 27) /* each tenth of a run: as in six hours of steps of 2 ms */

void endurance_fail(endurance *e, const char *format, ...)
{
    va_list list;
    weft_cli_progress_clear();
    fprintf(stderr, "weft stress endurance: step %" PRIu64 ": ", e->step);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    e->errors++;
}

bool endurance_ok(endurance *e, weft_world *world, weft_result result, const char *what)
{
    if (result == WEFT_OK) return true;
    endurance_fail(e, "%s: %s: %s", what, weft_result_name(result), weft_world_error(world)->text);
    return false;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void sleep_until(double when)
{
    const struct timespec t = {.tv_sec = (time_t)when,
                               .tv_nsec = (long)((when - (double)(time_t)when) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) continue;
}

static bool folder_make(endurance *e)
{
    const char *where = getenv("TMPDIR");
    const int length =
        snprintf(e->folder, sizeof e->folder, "%s/weft-endurance-XXXXXX", where ? where : "/tmp");
    if (length >= (int)sizeof e->folder || mkdtemp(e->folder) == NULL) return false;
    snprintf(e->document, sizeof e->document, "%s/scene.weft", e->folder);
    snprintf(e->sections, sizeof e->sections, "%s/s.wss", e->folder);
    snprintf(e->saved, sizeof e->saved, "%s/world", e->folder);
    return true;
}

static void folder_remove(const endurance *e)
{
    unlink(e->document);
    unlink(e->sections);
    unlink(e->saved);
    if (rmdir(e->folder) != 0)
        fprintf(stderr, "weft stress endurance: %s stays: %s\n", e->folder, strerror(errno));
}

/* The run in time. Owner: run. */
typedef struct pace {
    double begin, due, seconds;
    uint64_t epochs; /* not 0: so many, without waiting; figures are not judged */
    uint64_t late;   /* steps that began late */
    uint64_t hash;   /* after the first epoch */
    uint32_t tenth;  /* that is under way; 0: the warm-up */
    endurance_table table;
} pace;

/* For who looks at the file of a run that is not over. */
static void say_tenth(const pace *p, uint64_t step, double elapsed)
{
    const endurance_table *t = &p->table;
    weft_cli_progress_clear();
    printf("%6.0f s  step %" PRIu64, elapsed, step);
    for (uint32_t i = 0; i < 2 && t->tenths > 0; i++)
        printf("  %s %.0f", t->figures[i].name, t->figures[i].means[t->tenths - 1]);
    putchar('\n');
    fflush(stdout);
}

/* The guest goes, streams settle, and when the warm-up is over, figures are taken. */
static void end_epoch(endurance *e, pace *p, double elapsed)
{
    const double warm_up = fmax(p->seconds / 10, WARM_UP_SECONDS);
    endurance_guest_go(e);
    endurance_settle(e);
    endurance_ok(e, e->world, weft_world_validate(e->world), "validate");
    if (e->step == ENDURANCE_EPOCH) p->hash = weft_world_hash(e->world, WEFT_HASH_LAYOUT);
    if (p->tenth > 0 || p->epochs) endurance_measure(e, &p->table);
    if (!p->epochs && elapsed >= warm_up + (p->seconds - warm_up) / 9 * p->tenth) {
        endurance_tenth_end(&p->table);
        endurance_pass(e, VERSIONS_PASS);
        p->tenth++;
        if (!e->is_json) say_tenth(p, e->step, elapsed);
    }
}

static void begin_epoch(endurance *e, const pace *p, double elapsed)
{
    endurance_guest_come(e);
    endurance_ranks_look(e, false);
    if (p->epochs) {
        weft_cli_progress("endurance: step %" PRIu64 " of %" PRIu64, e->step,
                          p->epochs * ENDURANCE_EPOCH);
    } else {
        weft_cli_progress("endurance: %.0f of %.0f s, step %" PRIu64, elapsed, p->seconds, e->step);
    }
}

static weft_a32 x_asks_to_stop;

static void on_stop(int number)
{
    (void)number;
    at_store_rlx(&x_asks_to_stop, 1); /* rlx: a flag, nothing hangs on it */
}

/* Before an epoch: whether the run is over. */
static bool is_over(const pace *p, uint64_t epoch, double now)
{
    if (p->epochs) return epoch >= p->epochs;
    return now - p->begin >= p->seconds && p->table.tenths > 1;
}

static void run_steps(endurance *e, pace *p)
{
    /* Once more, and it ends the process. */
    const struct sigaction stop = {.sa_handler = on_stop, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    p->begin = p->due = seconds_now();
    for (; e->errors == 0; e->step++) {
        const double now = seconds_now();
        e->is_stopped = at_load_rlx(&x_asks_to_stop) != 0; /* rlx: as in on_stop */
        if (e->is_stopped) break;
        if (e->step % ENDURANCE_EPOCH == 0) {
            if (e->step != 0) end_epoch(e, p, now - p->begin);
            if (is_over(p, e->step / ENDURANCE_EPOCH, now)) break;
            begin_epoch(e, p, now - p->begin);
        }
        endurance_act(e);
        if (e->step % 4 == 0) endurance_guest_step(e);
        endurance_ok(e, e->world, weft_world_step(e->world, (float)STEP_SECONDS), "step");
        p->due += STEP_SECONDS;
        if (p->epochs) {
            p->due = now;
        } else if (now < p->due) {
            sleep_until(p->due);
        } else {
            p->due = now;
            p->late++;
        }
    }
    endurance_guest_go(e);
    endurance_tenth_end(&p->table);
    if (e->errors == 0 && !e->is_stopped && !p->epochs) endurance_table_judge(e, &p->table);
}

static void report(endurance *e, const pace *p, uint32_t runs, uint64_t events)
{
    const double seconds = seconds_now() - p->begin;
    weft_cli_progress_clear();
    endurance_table_print(e, &p->table);
    if (e->is_json) {
        weft_json json;
        weft_json_begin(&json, stdout);
        weft_json_text(&json, "scenario", "endurance");
        weft_json_hash(&json, "seed", e->seed);
        weft_json_count(&json, "workers", e->workers);
        weft_json_count(&json, "steps", e->step);
        weft_json_count(&json, "late", p->late);
        weft_json_number(&json, "seconds", seconds);
        weft_json_count(&json, "samples", p->table.all);
        weft_json_count(&json, "guests", e->step / ENDURANCE_EPOCH);
        weft_json_count(&json, "events", events);
        weft_json_count(&json, "runs_over_ranks", runs);
        weft_json_hash(&json, "hash", p->hash);
        weft_json_bool(&json, "stopped", e->is_stopped);
        weft_json_count(&json, "errors", e->errors);
        weft_json_end(&json);
        return;
    }
    printf("%s  %.0f s  steps %" PRIu64 " (%" PRIu64 " late)  samples %u\n"
           "other worlds %" PRIu64 "  events of the page %" PRIu64 "  runs over ranks %u\n"
           "world hash 0x%016" PRIx64 "  errors %u\n",
           e->is_stopped ? "stopped:" : "ran", seconds, e->step, p->late, p->table.all,
           e->step / ENDURANCE_EPOCH, events, runs, p->hash, e->errors);
}

static void begin_say(const endurance *e, const pace *p)
{
    if (e->is_json) return;
    printf("endurance            seed 0x%016" PRIx64 "  workers %u  ", e->seed, e->workers);
    if (p->epochs) {
        printf("%" PRIu64 " epochs\n", p->epochs);
    } else {
        printf("%.0f s\n", p->seconds);
    }
    if (e->page == NULL) puts("no page: built without libweft-inspect (package libmicrohttpd-dev)");
    if (e->ranks == NULL) puts("no ranks: the program weft-shards is not beside this one");
    fflush(stdout);
}

static void end(endurance *e, pace *p)
{
    const bool has_page = e->page != NULL, has_ranks = e->ranks != NULL;
    endurance_ranks_look(e, true);
    const uint64_t events = endurance_page_events(e);
    endurance_page_close(e);
    const uint32_t runs = endurance_ranks_end(e);
    if (has_page && events == 0 && !e->is_stopped) endurance_fail(e, "the page got no events");
    if (has_ranks && runs == 0 && !e->is_stopped) endurance_fail(e, "no run over ranks ended");
    endurance_let_go(e);
    if (e->world && weft_world_destroy(e->world) != WEFT_OK)
        endurance_fail(e, "destroy: %s", weft_world_error(e->world)->text);
    folder_remove(e);
    report(e, p, runs, events);
}

static int run(endurance *e, pace *p)
{
    if (!folder_make(e))
        return weft_cli_fail("stress", "endurance: no folder for its files: %s", strerror(errno));
    e->random = e->seed;
    endurance_ranks_begin(e);
    if (endurance_bed_make(e)) {
        endurance_age(e);
        endurance_page_open(e);
        begin_say(e, p);
        if (endurance_documents_make(e)) run_steps(e, p);
    }
    end(e, p);
    return e->errors || e->is_stopped ? WEFT_CLI_FOUND : WEFT_CLI_OK;
}

int endurance_command(int argc, char **argv)
{
    static endurance e;
    static pace p;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    uint64_t workers = weft_cli_cpu_count();
    double hours = 0, seconds = 0;
    const weft_cli_option options[] = {
        {"hours", "H", "how long (default: 1)", WEFT_CLI_NUMBER, &hours, 0, 1e5, 0},
        {"seconds", "T", "the same in seconds, 60 at least; both are added", WEFT_CLI_NUMBER,
         &seconds, 0, 1e9, 0},
        {"epochs", "N", "N times 1,000 steps instead, without waits; nothing is judged",
         WEFT_CLI_COUNT, &p.epochs, 1, 1e9, 0},
        {"seed", "S", "decides what happens in each step (default: from the clock)", WEFT_CLI_COUNT,
         &seed, 0, 0, 0},
        {"workers", "N", "workers (default: CPUs); the hash does not depend on it", WEFT_CLI_COUNT,
         &workers, 1, 256, 0},
        {"json", NULL, "one JSON object per line", WEFT_CLI_FLAG, &e.is_json, 0, 0, 0},
        {0},
    };
    const weft_cli_usage usage = {
        .command = "stress",
        .arguments = "endurance",
        .summary = "A world lives for hours: what it has must stay what it was.",
        .options = options,
        .notes =
            "20,000 entities, a step each 2 ms. Sections, documents, other worlds, snapshots,\n"
            "queries, systems, observers, names, groups and blobs come and go; an inspector's\n"
            "page is connected; runs over 1, 2 and 3 ranks follow each other; versions begin\n"
            "near their ends. The figures of the table are taken every 1,000 steps, once the\n"
            "first tenth of the time (24 s at least) is over. The mean of each later tenth is\n"
            "within 5 % of that of the second one, or within the slack that the table allows;\n"
            "if not, the run fails (1) and names the figure. Ctrl-C ends it with the table so\n"
            "far. The world hash is that after 1,000 steps: the same for each run of a seed.\n"
            "Files go to TMPDIR. Runs over ranks need mpirun, and weft-shards beside weft.",
        .examples = "weft stress endurance --hours 8\n"
                    "weft stress endurance --seconds 60 --seed 1\n"
                    "weft stress endurance --epochs 3"};
    int first;
    const int status = weft_cli_parse(&usage, argc, argv, &first);
    if (status != WEFT_CLI_CONTINUE) return status;
    if (argc - first != 1 || strcmp(argv[first], "endurance") != 0)
        return weft_cli_misuse("stress", "endurance runs alone");
    p.seconds = hours * 3600 + seconds;
    if (p.seconds > 0 && p.epochs)
        return weft_cli_misuse("stress", "--epochs runs by steps, --hours and --seconds by time");
    if (p.seconds > 0 && p.seconds < SECONDS_MIN)
        return weft_cli_misuse("stress", "endurance needs %d s to judge growth; --epochs runs less",
                               SECONDS_MIN);
    if (p.seconds <= 0) p.seconds = 3600;
    e.seed = seed;
    e.workers = (uint32_t)workers;
    return run(&e, &p);
}
