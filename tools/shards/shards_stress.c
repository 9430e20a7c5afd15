/* SPDX-License-Identifier: MIT */
/* shards_stress.c: rounds, drawn from the seed and the number of the round alone, so the hash of a
 * number of rounds is the same for any number of ranks and workers.
 */
#include "shards_stress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weft/random.h>

#include "cli.h"
#include "demo.h"

enum { rounds_hashed = 4, path_bytes = 512 };

/* What the command line asks for, and what came of it. */
typedef struct stress {
    uint64_t seed, workers, rounds, hash, errors;
    double seconds;
    bool is_json;
    char path[path_bytes]; /* of the checkpoint; the same on all ranks */
} stress;

/* One round. */
typedef struct stress_round {
    const demo_model *model;
    demo_options options;
    uint32_t first_ticks; /* before the checkpoint */
} stress_round;

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static stress_round draw(const stress *s, uint64_t number)
{
    weft_random random = weft_random_of(s->seed, number, 0, 0);
    uint32_t models = 0;
    while (demo_models[models]) models++;
    stress_round r = {.model = demo_models[weft_random_below(&random, models)]};
    r.options.size = 600 + weft_random_below(&random, 1400);
    r.options.seed = weft_random_u64(&random);
    r.options.ticks = 4 + weft_random_below(&random, 40);
    r.first_ticks = 1 + weft_random_below(&random, r.options.ticks - 1);
    r.options.balance_every = 1 + weft_random_below(&random, 8);
    r.options.workers = (uint32_t)s->workers;
    r.options.is_quiet = true;
    return r;
}

static int run_round(stress *s, uint64_t number)
{
    stress_round r = draw(s, number);
    uint64_t whole[2], halves[2];
    const uint32_t ticks = r.options.ticks;
    int status = demo_run(r.model, &r.options, whole);
    r.options.ticks = r.first_ticks;
    r.options.save = s->path;
    if (status == WEFT_CLI_OK) status = demo_run(r.model, &r.options, halves);
    r.options.ticks = ticks - r.first_ticks;
    r.options.save = NULL;
    r.options.load = s->path;
    if (status == WEFT_CLI_OK) status = demo_run(r.model, &r.options, halves);
    if (status != WEFT_CLI_OK) return status;
    if (number < (s->rounds ? s->rounds : rounds_hashed))
        s->hash = (s->hash ^ whole[0] ^ (whole[1] << 1)) * UINT64_C(0x9E3779B97F4A7C15);
    if (memcmp(whole, halves, sizeof whole) == 0) return WEFT_CLI_OK;
    s->errors++;
    if (demo_is_first())
        weft_cli_fail("stress",
                      "round %" PRIu64 ": %s of %u, %u steps: hash %016" PRIx64
                      " in one go, %016" PRIx64 " with a checkpoint after %u steps",
                      number, r.model->name, r.options.size, ticks, whole[0], halves[0],
                      r.first_ticks);
    return WEFT_CLI_OK;
}

/* Rank 0 has the clock. */
static weft_result is_due(const stress *s, uint64_t number, double begin, bool *due)
{
    *due = s->rounds ? number < s->rounds
                     : number < rounds_hashed || seconds_now() - begin < s->seconds;
    return weft_ranks_broadcast(due, sizeof *due);
}

static void print_end(const stress *s, uint64_t rounds, double seconds)
{
    if (!demo_is_first()) return;
    if (!s->is_json) {
        printf("shard          seed 0x%016" PRIx64 "  ranks %u  workers %u  rounds %" PRIu64
               "  %.1f s  hash 0x%016" PRIx64 "  errors %" PRIu64 "\n",
               s->seed, weft_ranks_count(), (uint32_t)s->workers, rounds, seconds, s->hash,
               s->errors);
        return;
    }
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "scenario", "shard");
    weft_json_hash(&json, "seed", s->seed);
    weft_json_count(&json, "ranks", weft_ranks_count());
    weft_json_count(&json, "workers", s->workers);
    weft_json_count(&json, "rounds", rounds);
    weft_json_number(&json, "seconds", seconds);
    weft_json_hash(&json, "hash", s->hash);
    weft_json_count(&json, "errors", s->errors);
    weft_json_end(&json);
}

static int run(stress *s)
{
    const double begin = seconds_now();
    uint64_t number = 0;
    int status = WEFT_CLI_OK;
    bool due;
    const char *folder = getenv("TMPDIR");
    snprintf(s->path, sizeof s->path, "%s/weft-stress-shard-%ld", folder ? folder : "/tmp",
             (long)getpid());
    if (weft_ranks_broadcast(s->path, sizeof s->path) != WEFT_OK ||
        weft_ranks_broadcast(&s->seed, sizeof s->seed) != WEFT_OK)
        return weft_cli_fail("stress", "%s", weft_ranks_error()->text);
    for (;; number++) {
        if (is_due(s, number, begin, &due) != WEFT_OK)
            return weft_cli_fail("stress", "%s", weft_ranks_error()->text);
        if (!due || status != WEFT_CLI_OK) break;
        status = run_round(s, number);
    }
    if (demo_is_first()) unlink(s->path);
    print_end(s, number, seconds_now() - begin);
    return s->errors ? WEFT_CLI_FOUND : status;
}

int shards_stress(int argc, char **argv)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    stress s = {.seed = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
                .workers = weft_cli_cpu_count(),
                .seconds = 10};
    const weft_cli_option options[] = {
        {"seed", "S", "decides what every round does (default: from the clock)", WEFT_CLI_COUNT,
         &s.seed, 0, 0},
        {"seconds", "T", "how long (default 10)", WEFT_CLI_NUMBER, &s.seconds, 0, 1e9},
        {"rounds", "N", "run exactly N rounds instead", WEFT_CLI_COUNT, &s.rounds, 1, 4e9},
        {"workers", "N", "threads of each rank (default: CPUs)", WEFT_CLI_COUNT, &s.workers, 1,
         256},
        {"json", NULL, "one JSON object per line", WEFT_CLI_FLAG, &s.is_json, 0, 0},
        {0},
    };
    const weft_cli_usage usage = {
        .command = "stress",
        .arguments = "shard",
        .summary = "Models over ranks, in one go and with a checkpoint in the middle.",
        .options = options,
        .notes = "The same seed and rounds print the same hash for any number of ranks and\n"
                 "workers.",
        .examples = "mpirun -np 3 weft stress shard --rounds 20"};
    int first;
    const int status = weft_cli_parse(&usage, argc, argv, &first);
    if (status != WEFT_CLI_CONTINUE) return status;
    if (argc - first != 1 || strcmp(argv[first], "shard") != 0)
        return weft_cli_misuse("stress", "over ranks there is one scenario: shard");
    return run(&s);
}
