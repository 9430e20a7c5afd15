/* SPDX-License-Identifier: MIT */
/* stress_alloc.c: the two concurrent allocators under all workers: entity ids and units.
 *
 * Every part of a round takes batches of ids and runs of units, checks by an owner table that no
 * other thread holds them, writes into its units, and gives most of them back; the rest are
 * given back by a part of another worker, or twice, in which case exactly one must count. After
 * a round nothing is held: counts and all invariants must be exact. The hash covers how much was
 * allocated, which depends on the seed only.
 */
#include "directory.h"
#include "stress.h"

#include "structure.h"

#include <weft/jobs.h>

#include <stdlib.h>
#include <string.h>

enum { PARTS = 64, TURNS = 60, IDS_MAX = 96, RUNS_MAX = 24, ID_TABLE = 1 << 20 };

/* What one part left for its successor to free. Owner: the part, then (next phase) its reader. */
typedef struct leftover {
    weft_entity ids[IDS_MAX];
    uint32_t id_count;
    weft__run runs[RUNS_MAX];
    uint32_t run_count;
    uint64_t allocated; /* ids and units, for the hash */
    weft_a32 x_killed;  /* ids whose free counted, by the thread that freed them */
} leftover;

/* State of the scenario. Owner: the stress runner's thread; parts write their leftover. */
typedef struct alloc_state {
    weft_stress *stress; /* of the running round */
    weft_world *world;
    leftover parts[PARTS];
    weft_a32 *x_holders; /* [id index]: parts that hold it, 0 or 1 */
} alloc_state;

static void *open_state(weft_stress *stress)
{
    const weft_world_desc desc = {
        .workers = stress->workers, .allocator = stress->allocator, .os = stress->os};
    alloc_state *s = calloc(1, sizeof *s);
    if (s != NULL) s->x_holders = calloc(ID_TABLE, sizeof *s->x_holders);
    if (s != NULL && s->x_holders != NULL && weft_world_create(&desc, &s->world) == WEFT_OK)
        return s;
    weft_stress_error(stress, "no world");
    if (s != NULL) free(s->x_holders);
    free(s);
    return NULL;
}

static void close_state(void *state)
{
    alloc_state *s = state;
    weft_world_destroy(s->world);
    free(s->x_holders);
    free(s);
}

static void hold(alloc_state *s, weft_entity id)
{
    /* relaxed: a count per id; the allocator orders its owners, which is what is being tested */
    if (id.index >= ID_TABLE || at_add_rlx(&s->x_holders[id.index], 1u) != 0)
        weft_stress_error(s->stress, "id %u:%u was given out twice", id.index, id.version);
}

static void let_go(alloc_state *s, weft_entity id)
{
    at_sub_rlx(&s->x_holders[id.index], 1u); /* relaxed: as hold */
}

static void take_ids(alloc_state *s, leftover *mine, uint64_t *random, uint32_t *home)
{
    uint32_t count = 1 + (uint32_t)(weft_stress_random(random) % IDS_MAX);
    if (count > IDS_MAX - mine->id_count) count = IDS_MAX - mine->id_count;
    weft_entity *ids = mine->ids + mine->id_count;
    if (weft__directory_allocate_any(&s->world->directory, home, count, ids) != WEFT_OK) {
        if (!s->stress->with_faults) weft_stress_error(s->stress, "no ids");
        return;
    }
    for (uint32_t i = 0; i < count; i++) hold(s, ids[i]);
    mine->id_count += count;
    mine->allocated += count;
}

static void give_ids(alloc_state *s, leftover *mine, uint64_t *random)
{
    uint32_t count = (uint32_t)(weft_stress_random(random) % (mine->id_count + 1));
    weft_entity *ids = mine->ids + mine->id_count - count;
    for (uint32_t i = 0; i < count; i++) let_go(s, ids[i]);
    uint32_t died = weft__directory_free_any(&s->world->directory, ids, count);
    if (died != count) weft_stress_error(s->stress, "%u of %u ids died", died, count);
    mine->id_count -= count;
}

static void take_run(alloc_state *s, leftover *mine, uint64_t *random, uint32_t worker)
{
    if (mine->run_count == RUNS_MAX) return;
    weft__run *run = &mine->runs[mine->run_count];
    uint32_t count = 1u << weft_stress_random(random) % 7;
    if (weft__units_allocate(&s->world->units, count, 2 * worker, run) != WEFT_OK) {
        if (!s->stress->with_faults) weft_stress_error(s->stress, "no units");
        return;
    }
    mine->run_count++;
    mine->allocated += count;
    uint64_t *words = run->memory; /* first and last word tell who owns the run */
    uint64_t *last = words + run->count * WEFT__UNIT_BYTES / 8 - 1;
    if (run->is_zero && (*words | *last) != 0)
        weft_stress_error(s->stress, "fresh unit %u is not zero", run->first);
    *words = *last = (uint64_t)(uintptr_t)run->memory ^ run->count;
}

static void give_run(alloc_state *s, weft__run run)
{
    const uint64_t *words = run.memory, *last = words + run.count * WEFT__UNIT_BYTES / 8 - 1;
    if (*words != ((uint64_t)(uintptr_t)run.memory ^ run.count) || *last != *words)
        weft_stress_error(s->stress, "unit %u was written by another owner", run.first);
    if (weft__units_free(&s->world->units, run.first, run.count) != WEFT_OK)
        weft_stress_error(s->stress, "unit %u was not in use", run.first);
}

static int part_take(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    alloc_state *s = argument;
    uint32_t worker = weft_job_worker_index(job), home = worker;
    for (uint32_t part = begin; part < end; part++) {
        leftover *mine = &s->parts[part];
        *mine = (leftover){0};
        uint64_t random = s->stress->seed + part * UINT64_C(0x9e3779b97f4a7c15);
        for (uint32_t turn = 0; turn < TURNS; turn++) {
            take_ids(s, mine, &random, &home);
            take_run(s, mine, &random, worker);
            if (turn % 2 == 0) give_ids(s, mine, &random);
            if (mine->run_count != 0 && weft_stress_random(&random) % 4 != 0)
                give_run(s, mine->runs[--mine->run_count]);
        }
    }
    return 0;
}

/* Each leftover is freed by two parts: ids by both (one wins each), units by the first. */
static int part_give(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    alloc_state *s = argument;
    (void)job;
    for (uint32_t part = begin; part < end; part++) {
        const leftover *left = &s->parts[part % PARTS];
        uint32_t died = weft__directory_free_any(&s->world->directory, left->ids, left->id_count);
        /* relaxed: a sum read after the loop */
        at_add_rlx(&s->parts[part % PARTS].x_killed, died);
        for (uint32_t i = 0; i < left->run_count && part < PARTS; i++) give_run(s, left->runs[i]);
    }
    return 0;
}

static void run_loop(alloc_state *s, weft_job_for_fn fn, uint32_t count)
{
    weft_job_for_desc loop = {.fn = fn, .argument = s, .count = count, .grain = 1};
    if (weft_job_for(weft_job_pool_owner(weft_world_pool(s->world)), &loop, NULL) != WEFT_OK)
        weft_stress_error(s->stress, "the loop failed");
}

static uint64_t run_round(weft_stress *stress, void *state)
{
    alloc_state *s = state;
    s->stress = stress;
    weft_stress_refuse_memory(stress, true);
    run_loop(s, part_take, PARTS);
    weft_stress_refuse_memory(stress, false);
    memset(s->x_holders, 0, ID_TABLE * sizeof *s->x_holders);
    run_loop(s, part_give, 2 * PARTS);
    uint64_t hash = HASH_K0;
    for (uint32_t part = 0; part < PARTS; part++) {
        const leftover *left = &s->parts[part];
        hash = hash_word(hash, left->allocated);
        if (at_plain(&left->x_killed) != left->id_count)
            weft_stress_error(stress, "part %u: %u of %u ids died by two frees", part,
                              at_plain(&left->x_killed), left->id_count);
    }
    uint64_t alive = weft__directory_alive(&s->world->directory);
    uint64_t used = weft__units_used(&s->world->units);
    if (alive != 0 || used != 0)
        weft_stress_error(stress, "%llu ids and %llu units are left", (unsigned long long)alive,
                          (unsigned long long)used);
    if (weft_world_validate(s->world) != WEFT_OK)
        weft_stress_error(stress, "%s", weft_world_error(s->world)->text);
    return hash;
}

const weft_stress_scenario weft_stress_scenarios_alloc[] = {
    {"alloc", "entity ids and units from all workers, given back by others and twice", open_state,
     run_round, close_state, 0, true},
    {0}};
