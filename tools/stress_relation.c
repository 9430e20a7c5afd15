/* SPDX-License-Identifier: MIT */
/* stress_relation.c: random systems on a world with relations and observers: one result for every
 * way to run them.
 *
 * Systems give entities other parents, by commands and by writing fields (cycles included),
 * create children, destroy parents, clear the fields of another relation, run by depth on what
 * their parents have, and read the lists of sources. Observers, some of them parallel, record
 * what depends on the order of what they are told. A round steps such a world on 1, 2, 3, 4, 8,
 * 16 and 64 workers, fused and not, in random legal orders; the layout hash must be the same
 * after every step. A step that cut a cycle says so: that is no failure, and part of the result. */
#include "stress.h"

#include <weft/finder.h>
#include <weft/observer.h>
#include <weft/relation.h>
#include <weft/type.h>
#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>

enum { ENTITIES = 700, CROWD = 9000, STEPS = 4, KINDS = 7, SYSTEMS = 8, WATCHERS = 6, POOLS = 7 };

static const uint32_t pool_workers[POOLS] = {1, 2, 3, 4, 8, 16, 64};

typedef struct forest forest;

/* A system: what it does is its kind. Owner: the forest; constant while steps run. */
typedef struct gardener {
    forest *owner;
    uint64_t seed;
} gardener;

/* One world. `parent`, `friend_of`: relations; `value`: what systems compute; `wish`: an entity,
 * for the next parent. */
struct forest {
    weft_world *world;
    weft_component parent, friend_of, value, wish;
    weft_archetype child;
    gardener gardeners[SYSTEMS];
    gardener watchers[WATCHERS]; /* observers */
    weft_component news, echo;   /* what observers set */
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t state = a ^ (b + 0x9e3779b97f4a7c15u);
    return weft_stress_random(&state);
}

static uint64_t bits_of(weft_entity entity)
{
    return (uint64_t)entity.version << 32 | entity.index;
}

/* ---- what systems do: terms {value, wish, parent (optional), friend_of (optional)} ---- */

static bool wants(const gardener *g, weft_entity self, uint64_t value, uint32_t rarity)
{
    return mix(g->seed ^ value, bits_of(self)) % rarity == 0;
}

static void reparent_by_commands(weft_slice *s, void *user)
{
    const gardener *g = user;
    const uint64_t *values = weft_slice_read(s, 0);
    const weft_target *wishes = weft_slice_read(s, 1);
    for (uint32_t i = 0; i < s->count; i++)
        if (wants(g, s->entities[i], values[i], 6))
            weft_recorder_set(weft_slice_recorder(s), s->entities[i], g->owner->parent, &wishes[i],
                              sizeof wishes[i]);
}

static void reparent_in_place(weft_slice *s, void *user)
{
    const gardener *g = user;
    const uint64_t *values = weft_slice_read(s, 0);
    const weft_target *wishes = weft_slice_read(s, 1);
    weft_target *parents = weft_slice_write(s, 2);
    for (uint32_t i = 0; parents != NULL && i < s->count; i++)
        if (wants(g, s->entities[i], values[i], 7)) parents[i] = wishes[i];
}

static void befriend(weft_slice *s, void *user)
{
    const gardener *g = user;
    const uint64_t *values = weft_slice_read(s, 0);
    const weft_target *wishes = weft_slice_read(s, 1);
    for (uint32_t i = 0; i < s->count; i++)
        if (wants(g, s->entities[i], values[i], 5))
            weft_recorder_set(weft_slice_recorder(s), s->entities[i], g->owner->friend_of,
                              &wishes[i], sizeof wishes[i]);
}

static void bear(weft_slice *s, void *user)
{
    const gardener *g = user;
    const uint64_t *values = weft_slice_read(s, 0);
    for (uint32_t i = 0; i < s->count; i++) {
        if (!wants(g, s->entities[i], values[i], 17)) continue;
        weft_recorder *commands = weft_slice_recorder(s);
        weft_target self = {s->entities[i]};
        weft_entity made = weft_recorder_create_entity(commands, g->owner->child);
        weft_recorder_set(commands, made, g->owner->parent, &self, sizeof self);
        weft_recorder_set(commands, made, g->owner->wish, &self, sizeof self);
    }
}

static void fell(weft_slice *s, void *user)
{
    const gardener *g = user;
    const uint64_t *values = weft_slice_read(s, 0);
    for (uint32_t i = 0; i < s->count; i++) {
        if (wants(g, s->entities[i], values[i], 60))
            weft_recorder_destroy_entity(weft_slice_recorder(s), s->entities[i]);
        else if (wants(g, s->entities[i], values[i], 13))
            weft_recorder_remove(weft_slice_recorder(s), s->entities[i], g->owner->parent);
    }
}

/* By depth: what the parent has is final. */
static void descend(weft_slice *s, void *user)
{
    const gardener *g = user;
    uint64_t *values = weft_slice_write(s, 0);
    const weft_target *parents = weft_slice_read(s, 2);
    weft_finder finder = weft_slice_finder(s, g->owner->value);
    for (uint32_t i = 0; i < s->count; i++) {
        const uint64_t *above =
            parents == NULL ? NULL : weft_finder_read(&finder, parents[i].entity);
        values[i] = mix(values[i], above == NULL ? g->seed : *above);
    }
}

/* The lists of sources of both relations. */
static void count(weft_slice *s, void *user)
{
    const gardener *g = user;
    const weft_world *world = g->owner->world;
    uint64_t *values = weft_slice_write(s, 0);
    const weft_component relations[] = {g->owner->parent, g->owner->friend_of};
    for (uint32_t i = 0; i < s->count; i++)
        for (uint32_t r = 0; r < 2; r++) {
            uint32_t many;
            const weft_entity *list =
                weft_relation_sources(world, relations[r], s->entities[i], &many);
            for (uint32_t k = 0; k < many; k++) values[i] = mix(values[i], bits_of(list[k]));
        }
}

typedef void work_fn(weft_slice *slice, void *user);
static work_fn *const works[KINDS] = {
    reparent_by_commands, reparent_in_place, befriend, bear, fell, descend, count};

static bool add_system(forest *f, uint32_t number, uint32_t kind)
{
    char name[24];
    snprintf(name, sizeof name, "system%u", number);
    bool is_writer = kind >= 5, in_place = kind == 1;
    weft_system_desc desc = {
        .name = name,
        .run = works[kind],
        .user = &f->gardeners[number],
        .over.rows = {.terms = {{f->value, is_writer ? WEFT_WRITE : WEFT_READ},
                                {f->wish, WEFT_READ},
                                {f->parent, in_place ? WEFT_WRITE : WEFT_READ, WEFT_OPTIONAL, 0},
                                {f->friend_of, WEFT_READ, WEFT_OPTIONAL, 0}}}};
    if (kind == 0 || kind == 2 || kind == 3 || kind == 4) desc.effects = WEFT_RECORDS_ANY;
    if (kind == 5) desc.by_depth = f->parent;
    if (kind == 5) desc.lookups[0] = (weft_lookup){f->value, WEFT_READ};
    return weft_system_create(f->world, &desc).id != 0;
}

/* ---- observers ---- */

/* Counts at an entity what happened to others, in order; a few are set free, or get a child. */
static void watch(const weft_observation *o, void *user)
{
    const gardener *g = user;
    const forest *f = g->owner;
    uint64_t sum = mix(g->seed, o->event);
    for (uint32_t i = 0; i < o->count; i++) {
        weft_entity entity = o->entities[i];
        sum = mix(sum, bits_of(entity));
        if (o->values != NULL) sum = mix(sum, bits_of(((const weft_target *)o->values)[i].entity));
        if (o->event != WEFT_ON_ADDED && o->event != WEFT_ON_CREATED) continue;
        if (wants(g, entity, 0, 9)) weft_recorder_remove(o->commands, entity, o->component);
        if (wants(g, entity, 1, 7))
            weft_recorder_set(o->commands, entity, f->news, &sum, sizeof sum);
    }
    if (o->count > 20 || sum % 3 == 0) return;
    weft_entity made = weft_recorder_create_entity(o->commands, f->child);
    weft_recorder_set(o->commands, made, f->value, &sum, sizeof sum);
}

/* Many: moves about half of them, in order. */
static void pass_on(const weft_observation *o, void *user)
{
    const gardener *g = user;
    const uint64_t *before = o->values;
    for (uint32_t i = 0; i < o->count; i++) {
        const uint64_t *echo = weft_entity_read(o->world, o->entities[i], g->owner->echo);
        uint64_t next = mix(before[i], echo == NULL ? 0 : *echo);
        if (wants(g, o->entities[i], before[i], 2))
            weft_recorder_remove(o->commands, o->entities[i], g->owner->echo);
        else
            weft_recorder_set(o->commands, o->entities[i], g->owner->echo, &next, sizeof next);
    }
}

static void renew(weft_slice *s, void *user)
{
    const gardener *g = user;
    uint64_t *news = weft_slice_write(s, 0);
    for (uint32_t i = 0; i < s->count; i++)
        news[i] = mix(news[i], bits_of(s->entities[i]) ^ g->seed);
}

static bool add_observers(forest *f)
{
    static const char *const names[WATCHERS] = {"added",   "removed",   "changed",
                                                "created", "destroyed", "pass on"};
    const weft_component of[] = {f->parent,    f->friend_of, f->parent,
                                 f->friend_of, f->parent,    f->news};
    const weft_system_desc system = {.name = "renew",
                                     .run = renew,
                                     .user = &f->watchers[0],
                                     .over.rows = {.terms = {{f->news, WEFT_WRITE}}}};
    for (uint32_t i = 0; i < WATCHERS; i++) {
        const weft_observer_desc desc = {.name = names[i],
                                         .on = i < 5 ? WEFT_ON_ADDED + i : WEFT_ON_CHANGED,
                                         .component = of[i],
                                         .run = i < 5 ? watch : pass_on,
                                         .user = &f->watchers[i],
                                         .before = i == 3 ? names[1] : NULL,
                                         .is_parallel = i % 2 != 0};
        f->watchers[i] = (gardener){f, i};
        if (weft_observer_create(f->world, &desc).id == 0) return false;
    }
    return weft_system_create(f->world, &system).id != 0;
}

/* ---- worlds ---- */

static void forest_end(forest *f)
{
    if (f != NULL) weft_world_destroy(f->world);
    free(f);
}

/* Wishes lead to lower indices mostly: few cycles. */
static bool populate(forest *f, uint64_t *random)
{
    weft_entity made[ENTITIES];
    weft_archetype kinds[] = {WEFT_ARCHETYPE(f->world, f->value, f->wish),
                              WEFT_ARCHETYPE(f->world, f->value, f->wish, f->parent),
                              WEFT_ARCHETYPE(f->world, f->value, f->wish, f->friend_of)};
    for (uint32_t i = 0; i < ENTITIES; i++) {
        uint64_t roll = weft_stress_random(random);
        made[i] = weft_entity_create(f->world, kinds[roll % 3]);
        uint32_t limit = roll % 97 == 0 || i == 0 ? i + 1 : i;
        weft_target wish = {made[weft_stress_random(random) % limit]};
        if (weft_entity_set(f->world, made[i], f->wish, &wish, sizeof wish) != WEFT_OK)
            return false;
    }
    /* more than a batch of news */
    weft_archetype crowd = WEFT_ARCHETYPE(f->world, f->friend_of, f->news);
    return weft_entity_create_many(f->world, crowd, CROWD, NULL) == WEFT_OK;
}

static forest *forest_begin(const weft_stress *stress, uint64_t seed, uint32_t workers,
                            const weft_schedule_desc *options)
{
    static const weft_field field = {"entity", WEFT_FIELD_ENTITY, 0, 1};
    const weft_world_desc desc = {
        .workers = workers, .allocator = stress->allocator, .os = stress->os};
    forest *f = calloc(1, sizeof *f);
    uint64_t random = seed;
    if (f == NULL || weft_world_create(&desc, &f->world) != WEFT_OK) {
        free(f);
        return NULL;
    }
    f->parent = weft_component_parent(f->world);
    f->friend_of = weft_component_instance_of(f->world);
    f->value = weft_component_create_plain(f->world, "value", 8, 8, 0);
    f->wish = weft_component_create(f->world, &(weft_component_desc){.name = "wish",
                                                                     .size = sizeof(weft_target),
                                                                     .alignment = 4,
                                                                     .fields = &field,
                                                                     .field_count = 1});
    f->news = weft_component_create_plain(f->world, "news", 8, 8, 0);
    f->echo = weft_component_create_plain(f->world, "echo", 8, 8, 0);
    f->child = WEFT_ARCHETYPE(f->world, f->value, f->wish, f->parent);
    bool is_made = f->child.id != 0 && add_observers(f) && populate(f, &random) &&
                   weft_schedule_set(f->world, options) == WEFT_OK;
    for (uint32_t i = 0; is_made && i < SYSTEMS; i++) {
        f->gardeners[i] = (gardener){f, weft_stress_random(&random)};
        uint32_t kind = i < 2 ? 5 + i : (uint32_t)(weft_stress_random(&random) % KINDS);
        is_made = add_system(f, i, kind);
    }
    if (is_made) return f;
    forest_end(f);
    return NULL;
}

/* ---- rounds ---- */

static bool run_way(weft_stress *stress, uint32_t workers, const weft_schedule_desc *options,
                    uint64_t hashes[STEPS])
{
    forest *f = forest_begin(stress, stress->seed, workers, options);
    if (f == NULL) {
        weft_stress_error(stress, "a forest could not be made");
        return false;
    }
    bool is_good = true;
    for (uint32_t i = 0; is_good && i < STEPS; i++) {
        weft_result result = weft_world_step(f->world, 0.5f);
        is_good =
            (result == WEFT_OK || result == WEFT_CYCLE) && weft_world_validate(f->world) == WEFT_OK;
        hashes[i] = mix(weft_world_hash(f->world, WEFT_HASH_LAYOUT), (uint64_t)result);
        if (!is_good)
            weft_stress_error(stress, "%u workers, step %u: %s", workers, i,
                              weft_world_error(f->world)->text);
    }
    forest_end(f);
    return is_good;
}

static void compare(weft_stress *stress, uint32_t workers, const weft_schedule_desc *options,
                    const uint64_t expected[STEPS])
{
    uint64_t hashes[STEPS];
    if (!run_way(stress, workers, options, hashes)) return;
    for (uint32_t i = 0; i < STEPS; i++)
        if (hashes[i] != expected[i]) {
            weft_stress_error(stress, "step %u differs with %u workers, %s, shuffle %#llx", i,
                              workers, options->without_fusion ? "not fused" : "fused",
                              (unsigned long long)options->shuffle_seed);
            return;
        }
}

uint64_t weft_stress_relations(weft_stress *stress)
{
    uint64_t expected[STEPS], random = stress->seed;
    if (!run_way(stress, 1, &(weft_schedule_desc){.without_parallel = true}, expected)) return 0;
    for (uint32_t i = 0; i < 4 * POOLS; i++)
        compare(stress, pool_workers[i % POOLS],
                &(weft_schedule_desc){.shuffle_seed =
                                          i < 2 * POOLS ? 0 : weft_stress_random(&random) | 1,
                                      .without_fusion = i / POOLS % 2 == 1,
                                      .is_always_parallel = true},
                expected);
    return expected[STEPS - 1];
}

static uint64_t relations_round(weft_stress *stress, void *state)
{
    (void)state;
    return weft_stress_relations(stress);
}

const weft_stress_scenario weft_stress_scenarios_relation[] = {
    {"relations", "random hierarchies and observers: one result for workers 1..64, shuffled orders",
     NULL, relations_round, NULL, 8, false},
    {0},
};
