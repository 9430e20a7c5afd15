/* SPDX-License-Identifier: MIT */
/* demo_run.c: a run of a model from beginning to end: world, shard, entities or a checkpoint,
 * steps, hashes, a checkpoint.
 */
#include "demo.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli.h"

extern const demo_model demo_flock, demo_lj, demo_satellites, demo_sheep;

const demo_model *const demo_models[] = {&demo_flock, &demo_sheep, &demo_lj, &demo_satellites,
                                         NULL};

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool demo_is_first(void)
{
    return weft_ranks_rank() == 0;
}

weft_result demo_count(const demo *run, uint64_t *count)
{
    weft_shard_stats stats;
    weft_shard_stats_get(run->shard, &stats, sizeof stats);
    *count = stats.rows;
    return weft_ranks_sum(count, 1);
}

/* What went wrong on this rank. Where it went wrong on another one, that one says it. */
static void tell(const demo *run, const char *what, weft_result result)
{
    const weft_error *error = run->world ? weft_world_error(run->world) : NULL;
    const char *text = weft_ranks_error()->text;
    if (text[0] == '\0' && error && error->code != WEFT_OK) text = error->text;
    if (text[0] == '\0') text = weft_result_text(result);
    if (result != WEFT_CANCELLED) weft_cli_fail("shard-demo", "%s: %s", what, text);
}

/* All ranks learn of a failure of one. */
static weft_result together(const demo *run, const char *what, weft_result result)
{
    if (result != WEFT_OK) tell(run, what, result);
    const weft_result all = weft_ranks_agree(result);
    return result != WEFT_OK ? result : all;
}

static weft_result create(demo *run)
{
    const weft_world_desc desc = {.name = run->model->name, .workers = run->options->workers};
    weft_shard_desc shard = {.seed = run->options->seed,
                             .balance_every = run->options->balance_every};
    weft_result result = weft_world_create(&desc, &run->world);
    if (result == WEFT_OK) result = run->model->describe(run, &shard);
    result = together(run, "cannot describe the model", result);
    if (result != WEFT_OK) return result;
    result = weft_shard_create(run->world, &shard, &run->shard);
    if (result == WEFT_OK) {
        weft_shard_info_get(run->shard, &run->info, sizeof run->info);
        result = run->model->systems(run);
    }
    return together(run, "cannot make the model", result);
}

/* A checkpoint, or entities as the model begins. */
static weft_result fill(demo *run)
{
    weft_result result;
    if (run->options->load) {
        result = weft_shard_load(run->shard, run->options->load);
        weft_shard_info_get(run->shard, &run->info, sizeof run->info); /* the seed is its own */
        return together(run, "cannot load", result);
    }
    result = together(run, "cannot create the entities", run->model->populate(run));
    if (result != WEFT_OK) return result;
    return together(run, "cannot give out numbers", weft_shard_sync(run->shard));
}

static weft_result print_hash(demo *run)
{
    const uint64_t *hash = run->hash;
    uint64_t count;
    weft_result result = weft_shard_hash(run->shard, run->hash);
    if (result == WEFT_OK) result = demo_count(run, &count);
    if (result != WEFT_OK || !demo_is_first() || run->options->is_quiet) return result;
    const uint64_t tick = weft_shard_tick(run->shard);
    if (run->options->is_json)
        printf("{\"type\":\"hash\",\"model\":\"%s\",\"tick\":%" PRIu64 ",\"entities\":%" PRIu64
               ",\"hash\":\"%016" PRIx64 "%016" PRIx64 "\"}\n",
               run->model->name, tick, count, hash[0], hash[1]);
    else
        printf("tick %" PRIu64 ": %" PRIu64 " entities, hash %016" PRIx64 "%016" PRIx64 "\n", tick,
               count, hash[0], hash[1]);
    fflush(stdout); /* mpirun reads it through a pipe */
    return WEFT_OK;
}

static weft_result after_step(demo *run)
{
    const weft_result result = run->model->after_step ? run->model->after_step(run) : WEFT_OK;
    return together(run, "after a step", result);
}

static weft_result save(demo *run)
{
    return together(run, "cannot save", weft_shard_save(run->shard, run->options->save));
}

/* ---- signals: what batch systems send some time before they end a job ---- */

static volatile sig_atomic_t x_asked; /* 1: a checkpoint; 2: and an end */

static void on_signal(int number)
{
    if (number == SIGTERM || x_asked == 0) x_asked = number == SIGTERM ? 2 : 1;
}

static void catch_signals(void)
{
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGUSR1, &action, NULL);
}

/* What any rank was asked for since the last step. Collective. */
static weft_result take_signal(uint64_t *asked)
{
    *asked = (uint64_t)x_asked;
    x_asked = 0;
    return weft_ranks_max(asked, 1);
}

static weft_result steps(demo *run)
{
    const demo_options *o = run->options;
    uint64_t asked = 0;
    if (o->save) catch_signals();
    for (uint32_t i = 0; i < o->ticks && asked < 2; i++) {
        const double begin = seconds_now();
        weft_result result = together(run, "a step", weft_shard_step(run->shard, run->model->dt));
        run->has_stepped = true;
        if (result == WEFT_OK) result = after_step(run);
        *(i == 0 ? &run->first_s : &run->rest_s) += seconds_now() - begin;
        const uint64_t tick = weft_shard_tick(run->shard);
        if (result == WEFT_OK && o->hash_every && tick % o->hash_every == 0)
            result = print_hash(run);
        if (result == WEFT_OK && o->save) result = take_signal(&asked);
        if (result == WEFT_OK && (asked == 1 || (o->save_every && tick % o->save_every == 0)))
            result = save(run);
        if (result != WEFT_OK) return result;
    }
    return WEFT_OK;
}

/* Sums over ranks, as rank 0 prints them. */
static weft_result print_end(demo *run)
{
    weft_shard_stats s;
    weft_shard_stats_get(run->shard, &s, sizeof s);
    uint64_t sums[] = {s.ghosts, s.value_bytes, s.header_bytes, s.rows_left, s.sectors_moved};
    const weft_result result = weft_ranks_sum(sums, sizeof sums / sizeof *sums);
    if (result != WEFT_OK || !demo_is_first() || run->options->is_quiet) return result;
    const uint32_t workers = weft_job_pool_worker_count(weft_world_pool(run->world));
    if (!run->options->is_json) {
        printf("%u rank%s x %u worker%s, %u sectors: %.3f s the first step, %.3f s the others\n"
               "ghosts %" PRIu64 ", value bytes sent %" PRIu64 ", others %" PRIu64
               ", rows that changed ranks %" PRIu64 ", sectors %" PRIu64 "\n",
               run->info.ranks, run->info.ranks == 1 ? "" : "s", workers, workers == 1 ? "" : "s",
               run->info.sectors, run->first_s, run->rest_s, sums[0], sums[1], sums[2], sums[3],
               sums[4]);
        return WEFT_OK;
    }
    printf("{\"type\":\"run\",\"model\":\"%s\",\"ranks\":%u,\"workers\":%u,\"sectors\":%u,"
           "\"first_s\":%.6g,\"rest_s\":%.6g,\"ghosts\":%" PRIu64 ",\"value_bytes\":%" PRIu64
           ",\"header_bytes\":%" PRIu64 ",\"rows_left\":%" PRIu64 ",\"sectors_moved\":%" PRIu64
           "}\n",
           run->model->name, run->info.ranks, workers, run->info.sectors, run->first_s, run->rest_s,
           sums[0], sums[1], sums[2], sums[3], sums[4]);
    return WEFT_OK;
}

static weft_result run_all(demo *run)
{
    weft_result result = create(run);
    if (result == WEFT_OK) result = fill(run);
    if (result == WEFT_OK) result = after_step(run);
    if (result == WEFT_OK) result = steps(run);
    if (result == WEFT_OK && run->model->report && !run->options->is_quiet)
        result = run->model->report(run);
    if (result == WEFT_OK && run->options->save) result = save(run);
    if (result == WEFT_OK) result = print_hash(run);
    return result == WEFT_OK ? print_end(run) : result;
}

int demo_run(const demo_model *model, const demo_options *options, uint64_t hash[2])
{
    demo run = {.model = model, .options = options};
    const weft_result result = run_all(&run);
    if (run.shard) weft_shard_destroy(run.shard);
    if (model->end) model->end(&run);
    if (run.world) weft_world_destroy(run.world);
    if (hash) hash[0] = run.hash[0], hash[1] = run.hash[1];
    return result == WEFT_OK ? WEFT_CLI_OK : WEFT_CLI_FAILED;
}
