/* SPDX-License-Identifier: MIT */
/* stress_world.c: stress scenarios over a whole world, through the public headers only.
 *
 * churn: the owner creates, destroys, changes and shares, one by one and in arrays.
 *
 * commands: systems record creation, destruction and changes from all workers; played back each
 * step.
 *
 * systems: a random set of systems over random archetypes: order, fusion and stages.
 *
 * world: all of it in one world.
 *
 * What a row does follows from its own Seed component, which every step stirs, never from the
 * worker: so the world hash, layout included, is the same for every number of workers. After
 * each round the world must pass weft_world_validate and stay within its memory bound. With
 * --faults memory is refused now and then: calls may fail then, the world must still be
 * valid; then the hash repeats for churn only, where the owner alone allocates.
 */
#include "stress.h"

#include <weft/weft.h>

#include <stdlib.h>

enum { TAGS = 6, POPULATION = 20000, STEPS = 12, OPERATIONS = 4000, SYSTEMS = 14, SHARES = 24 };

/* Stirred each step; decides what its row does. */
typedef struct seed_value {
    uint64_t state;
} seed_value;

/* State of every scenario here. Owner: the stress runner's thread; systems read the constants
 * and write only their rows. */
typedef struct world_state {
    weft_world *world;
    weft_component seed, value, shared, tags[TAGS];
    weft_archetype plain;
    weft_entity *entities; /* scratch of churn: POPULATION * 2 handles */
    uint64_t death;        /* per 1024: raised when the world is too full; constant during a step */
    uint64_t bytes_first;  /* memory after the first round: the bound of the others */
} world_state;

static uint64_t stir(seed_value *seed)
{
    return weft_stress_random(&seed->state);
}

static bool open_world(weft_stress *stress, world_state *s)
{
    static const char *const names[TAGS] = {"T0", "T1", "T2", "T3", "T4", "T5"};
    const weft_world_desc desc = {
        .workers = stress->workers, .allocator = stress->allocator, .os = stress->os};
    const weft_result result = weft_world_create(&desc, &s->world);
    if (result != WEFT_OK) {
        weft_stress_error(stress, "cannot create a world: %s", weft_result_name(result));
        return false;
    }
    s->seed = WEFT_COMPONENT(s->world, seed_value);
    s->value = weft_component_create_plain(s->world, "Value", 24, 8, 0);
    s->shared = weft_component_create_plain(s->world, "Group", 4, 4, WEFT_SHARED);
    for (int i = 0; i < TAGS; i++) {
        s->tags[i] =
            weft_component_create_plain(s->world, names[i], i % 2 ? 8u : 0u, i % 2 ? 8u : 1u, 0);
    }
    return true;
}

/* `count` entities with seeds drawn from *random. */
static void populate(world_state *s, uint32_t count, uint64_t *random)
{
    seed_value *seeds = calloc(count, sizeof *seeds);
    for (uint32_t i = 0; seeds && i < count; i++) seeds[i].state = weft_stress_random(random);
    if (seeds) {
        weft_entity_create_filled(s->world, WEFT_ARCHETYPE(s->world, s->seed, s->value),
                                  WEFT_VALUES({s->seed, seeds}), count, s->entities);
    }
    free(seeds);
    s->plain = weft_entity_archetype(s->world, s->entities[0]);
}

static void destroy_state(void *state)
{
    world_state *s = state;
    weft_world_destroy(s->world);
    free(s->entities);
    free(s);
}

static void *create_state(weft_stress *stress)
{
    world_state *s = calloc(1, sizeof *s);
    if (s) s->entities = calloc(POPULATION * 2, sizeof *s->entities);
    if (!s || !s->entities || !open_world(stress, s)) {
        if (s) free(s->entities);
        free(s);
        return NULL;
    }
    uint64_t random = stress->seed;
    populate(s, POPULATION, &random);
    return s;
}

/* Invariants, memory bound, hash: the end of every round. */
static uint64_t check_world(weft_stress *stress, world_state *s)
{
    weft_stress_refuse_memory(stress, false);
    if (weft_world_validate(s->world) != WEFT_OK) {
        weft_stress_error(stress, "the world is not valid: %s", weft_world_error(s->world)->text);
    }
    weft_world_stats stats;
    weft_world_stats_get(s->world, &stats, sizeof stats);
    if (!s->bytes_first) s->bytes_first = stats.bytes_total;
    if (stats.bytes_total > s->bytes_first * 4 + (64u << 20)) {
        weft_stress_error(stress, "memory grew from %llu to %llu bytes at %llu entities",
                          (unsigned long long)s->bytes_first, (unsigned long long)stats.bytes_total,
                          (unsigned long long)stats.entities);
    }
    return weft_world_hash(s->world, WEFT_HASH_LAYOUT);
}

/* A call that may fail only when faults are injected. */
static void expect_ok(weft_stress *stress, const world_state *s, weft_result result,
                      const char *what)
{
    if (result == WEFT_OK) return;
    if (stress->with_faults && result == WEFT_OUT_OF_MEMORY) return;
    weft_stress_error(stress, "%s: %s: %s", what, weft_result_name(result),
                      weft_world_error(s->world)->text);
}

/* churn */

static void churn_one(weft_stress *stress, world_state *s, weft_entity e, uint64_t draw)
{
    const weft_component tag = s->tags[(draw >> 8) % TAGS];
    const uint32_t group = (uint32_t)(draw >> 20) % SHARES;
    switch (draw % 8) {
    case 0:
    case 1:
        expect_ok(stress, s, weft_entity_add(s->world, e, tag), "add");
        break;
    case 2:
    case 3:
        expect_ok(stress, s, weft_entity_remove(s->world, e, tag), "remove");
        break;
    case 4:
        expect_ok(stress, s, weft_entity_set_shared(s->world, e, s->shared, &group), "set_shared");
        break;
    case 5:
        expect_ok(stress, s, weft_entity_remove(s->world, e, s->shared), "remove shared");
        break;
    case 6: {
        const seed_value seed = {draw};
        expect_ok(stress, s, weft_entity_set(s->world, e, s->seed, &seed, sizeof seed), "set");
        break;
    }
    default:
        expect_ok(stress, s, weft_entity_destroy(s->world, e), "destroy");
        break;
    }
}

static uint64_t churn_round(weft_stress *stress, void *state)
{
    world_state *s = state;
    uint64_t random = stress->seed;
    weft_stress_refuse_memory(stress, true);
    const weft_query all = weft_query_create(
        s->world, &(weft_query_desc){.terms = {{s->seed, WEFT_READ, WEFT_ALL, 0}}});
    for (int i = 0; i < OPERATIONS; i++) {
        const uint64_t n = weft_query_entities(s->world, all, s->entities, POPULATION * 2);
        const uint64_t known = n < POPULATION * 2 ? n : POPULATION * 2;
        for (int k = 0; k < 64 && known; k++, i++) { /* 64 changes per look at who is there */
            const weft_entity e = s->entities[weft_stress_random(&random) % known];
            if (weft_entity_is_alive(s->world, e)) {
                churn_one(stress, s, e, weft_stress_random(&random));
            } else if (weft_entity_destroy(s->world, e) != WEFT_STALE_ENTITY) {
                weft_stress_error(stress, "a dead entity could be destroyed again");
            }
        }
        if (known < POPULATION) {
            const weft_component set[] = {s->seed, s->tags[weft_stress_random(&random) % TAGS]};
            expect_ok(stress, s,
                      weft_entity_create_many(s->world, weft_archetype_create(s->world, set, 2), 32,
                                              NULL),
                      "create");
        }
    }
    weft_query_destroy(s->world, all);
    return check_world(stress, s);
}

/* commands */

/* Births, deaths and changes of the rows of a slice, recorded from whatever worker runs it. */
static void live(weft_slice *slice, void *user)
{
    const world_state *s = user;
    seed_value *seeds = weft_slice_write(slice, 0);
    const weft_entity *entities = weft_slice_entities(slice);
    weft_recorder *commands = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        const uint64_t draw = stir(&seeds[i]);
        const weft_component tag = s->tags[(draw >> 32) % TAGS];
        if (draw % 1024 < 12) {
            const seed_value child = {draw * 3};
            const weft_entity e = weft_recorder_create_entity(commands, s->plain);
            weft_recorder_set(commands, e, s->seed, &child, sizeof child);
            if (draw & 4096) weft_recorder_add(commands, e, tag);
        } else if (draw % 1024 < 12 + s->death) {
            weft_recorder_destroy_entity(commands, entities[i]);
        } else if (draw % 1024 < 64) {
            weft_recorder_add(commands, entities[i], tag);
            if (draw & 8192)
                weft_recorder_remove(commands, entities[i], s->tags[(draw >> 40) % TAGS]);
        } else if (draw % 1024 < 80) {
            const uint32_t group = (uint32_t)(draw >> 20) % SHARES;
            weft_recorder_set_shared(commands, entities[i], s->shared, &group);
        }
    }
}

static void *commands_create(weft_stress *stress)
{
    world_state *s = create_state(stress);
    if (!s) return NULL;
    const weft_system_desc desc = {.name = "live",
                                   .run = live,
                                   .user = s,
                                   .effects = WEFT_RECORDS_ANY,
                                   .over.rows.terms = {{s->seed, WEFT_WRITE, WEFT_ALL, 0}}};
    if (weft_system_create(s->world, &desc).id) return s;
    weft_stress_error(stress, "%s", weft_world_error(s->world)->text);
    destroy_state(s);
    return NULL;
}

static uint64_t step_round(weft_stress *stress, void *state)
{
    world_state *s = state;
    weft_stress_refuse_memory(stress, true);
    for (int i = 0; i < STEPS; i++) {
        weft_world_stats stats;
        weft_world_stats_get(s->world, &stats, sizeof stats);
        s->death = stats.entities > POPULATION ? 24 : 6;
        expect_ok(stress, s, weft_world_step(s->world, 1.0f / 64), "step");
    }
    return check_world(stress, s);
}

/* systems */

/* Adds what it reads to what it writes: any change of order changes the sums. */
static void mix_columns(weft_slice *slice, void *user)
{
    (void)user;
    uint64_t *to = weft_slice_write(slice, 0);
    const seed_value *from = weft_slice_read(slice, 1);
    for (uint32_t i = 0; to && from && i < weft_slice_count(slice); i++) {
        to[i] = to[i] * 0x9e3779b97f4a7c15u + (from[i].state ^ slice->first);
    }
}

static void stir_seeds(weft_slice *slice, void *user)
{
    (void)user;
    seed_value *seeds = weft_slice_write(slice, 0);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) stir(&seeds[i]);
}

/* One random system: mixes into one of the tags with bytes, with or without another tag. */
static bool add_system(world_state *s, int number, uint64_t draw)
{
    const char name[3] = {'s', (char)('a' + number), 0};
    weft_system_desc desc = {.name = name, .run = mix_columns};
    desc.over.rows.terms[0] = (weft_term){s->tags[1 + 2 * (draw % 3)], WEFT_WRITE, WEFT_ALL, 0};
    desc.over.rows.terms[1] = (weft_term){s->seed, WEFT_READ, WEFT_ALL, 0};
    if (draw & 64) {
        desc.over.rows.terms[2] = (weft_term){s->tags[2 * (draw >> 8 & 1)], WEFT_NO_ACCESS,
                                              draw & 128 ? WEFT_ALL : WEFT_NONE, 0};
    }
    if (draw % 7 == 0) {
        desc.run = stir_seeds;
        desc.over.rows.terms[0] = (weft_term){s->seed, WEFT_WRITE, WEFT_ALL, 0};
        desc.over.rows.terms[1] = (weft_term){{0}, WEFT_READ, WEFT_ALL, 0};
        desc.over.rows.terms[2] = desc.over.rows.terms[1];
    }
    if (draw % 11 == 0) desc.flags = WEFT_SYSTEM_SERIAL;
    if (draw % 13 == 0) desc.flags = WEFT_SYSTEM_NOT_FUSED;
    return weft_system_create(s->world, &desc).id != 0;
}

static bool add_systems(weft_stress *stress, world_state *s)
{
    uint64_t random = stress->seed ^ 0x5ca1ab1e;
    for (uint32_t i = 0; i < POPULATION; i++) {
        for (int t = 0; t < TAGS; t++) {
            if (weft_stress_random(&random) & 1)
                weft_entity_add(s->world, s->entities[i], s->tags[t]);
        }
    }
    for (int i = 0; i < SYSTEMS; i++) {
        if (add_system(s, i, weft_stress_random(&random))) continue;
        weft_stress_error(stress, "%s", weft_world_error(s->world)->text);
        return false;
    }
    return true;
}

static void *schedule_create(weft_stress *stress)
{
    world_state *s = create_state(stress);
    if (!s || add_systems(stress, s)) return s;
    destroy_state(s);
    return NULL;
}

/* world */

static void *whole_create(weft_stress *stress)
{
    world_state *s = commands_create(stress);
    if (!s || add_systems(stress, s)) return s;
    destroy_state(s);
    return NULL;
}

static uint64_t whole_round(weft_stress *stress, void *state)
{
    world_state *s = state;
    const uint64_t stepped = step_round(stress, s);
    const uint64_t churned = churn_round(stress, s);
    weft_world_compact(s->world, stress->round % 3 ? 1000 : UINT64_MAX);
    return stepped ^ churned * 3 ^ check_world(stress, s);
}

const weft_stress_scenario weft_stress_scenarios_world[] = {
    {"churn", "the owner creates, destroys, adds, removes, shares", create_state, churn_round,
     destroy_state, 0, false},
    {"commands", "births, deaths and changes recorded by all workers", commands_create, step_round,
     destroy_state, 0, false},
    {"systems", "random systems over random archetypes", schedule_create, step_round, destroy_state,
     0, false},
    {"world", "churn, commands, schedule and compaction in one world", whole_create, whole_round,
     destroy_state, 0, false},
    {0},
};
