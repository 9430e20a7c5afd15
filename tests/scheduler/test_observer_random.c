/* SPDX-License-Identifier: MIT */
/* test_observer_random.c: observers against a naive model: random changes by all ways, parents that
 * die with their children among them; then all entities are asked what they have, and what differs
 * from the answers before is what observers must have been told, each once. With observers that
 * record, what is told must lead from the world as it was told before to the world as it is. */
#include "check.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <weft/observer.h>
#include <weft/snapshot.h>
#include <weft/weft.h>

enum { INDICES = 4096, EVENTS = 6, ROUNDS = 400 };

/* What lives at an index. */
typedef struct place {
    weft_entity entity; /* null: none */
    bool has;
    uint32_t value;
} place;

typedef struct bed {
    weft_world *world;
    weft_component value, tag, other, parent;
    weft_archetype archetypes[5];
    weft_query all;
    place before[INDICES], now[INDICES];
    place told[EVENTS][INDICES];
    uint32_t told_count[EVENTS];
    place shadow[INDICES]; /* what was told, applied */
} bed;

static void listen(const weft_observation *o, void *user)
{
    bed *b = user;
    for (uint32_t i = 0; i < o->count; i++) {
        place *p = &b->told[o->event][weft_entity_index(o->entities[i])];
        CHECK(weft_entity_is_null(p->entity)); /* once */
        p->entity = o->entities[i];
        p->value = o->values == NULL ? 0 : ((const uint32_t *)o->values)[i];
        b->told_count[o->event]++;
    }
}

static void ask_all(bed *b)
{
    memset(b->now, 0, sizeof b->now);
    weft_cursor c = weft_query_begin(b->world, b->all);
    while (weft_query_next(&c))
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++) {
            weft_entity entity = weft_slice_entities(&c.slice)[i];
            b->now[weft_entity_index(entity)].entity = entity;
        }
    for (uint32_t i = 0; i < INDICES; i++) {
        if (weft_entity_is_null(b->now[i].entity)) continue;
        const uint32_t *value = weft_entity_has(b->world, b->now[i].entity, b->value)
                                    ? weft_entity_read(b->world, b->now[i].entity, b->value)
                                    : NULL;
        b->now[i].has = value != NULL;
        b->now[i].value = value == NULL ? 0 : *value;
    }
}

static void expect(bed *b, uint32_t event, bool is_due, const place *p, uint32_t *count)
{
    const place *told = &b->told[event][weft_entity_index(p->entity)];
    if (!is_due) return;
    ++*count;
    CHECK(weft_entity_equal(told->entity, p->entity));
    bool has_old =
        event == WEFT_ON_REMOVED || event == WEFT_ON_CHANGED || event == WEFT_ON_DESTROYED;
    if (has_old) CHECK_U64(told->value, b->before[weft_entity_index(p->entity)].value);
}

static void compare(bed *b)
{
    uint32_t count[EVENTS] = {0};
    for (uint32_t i = 0; i < INDICES; i++) {
        const place *old = &b->before[i], *now = &b->now[i];
        bool is_same = weft_entity_equal(old->entity, now->entity);
        expect(b, WEFT_ON_ADDED, now->has && !(is_same && old->has), now, &count[WEFT_ON_ADDED]);
        expect(b, WEFT_ON_CREATED, now->has && !is_same, now, &count[WEFT_ON_CREATED]);
        expect(b, WEFT_ON_REMOVED, old->has && !(is_same && now->has), old,
               &count[WEFT_ON_REMOVED]);
        expect(b, WEFT_ON_DESTROYED, old->has && !is_same, old, &count[WEFT_ON_DESTROYED]);
        expect(b, WEFT_ON_CHANGED, old->has && now->has && is_same && old->value != now->value, now,
               &count[WEFT_ON_CHANGED]);
    }
    for (uint32_t e = WEFT_ON_ADDED; e <= WEFT_ON_DESTROYED; e++)
        CHECK_U64(b->told_count[e], count[e]);
}

static weft_entity some(const bed *b)
{
    for (uint32_t tries = 0; tries < 50; tries++) {
        weft_entity entity = b->now[(uint32_t)rand() % INDICES].entity;
        if (!weft_entity_is_null(entity) && weft_entity_is_alive(b->world, entity)) return entity;
    }
    return (weft_entity){0, 0};
}

static void change_one(bed *b, weft_entity entity, weft_recorder *r)
{
    const weft_component of[] = {b->value, b->tag, b->other};
    weft_component component = of[(uint32_t)rand() % 3];
    uint32_t value = (uint32_t)rand() % 3;
    if (weft_entity_is_null(entity)) return;
    const weft_target parent = {some(b)};
    switch (rand() % 5) {
    case 0:
        CHECK_OK(r == NULL ? weft_entity_destroy(b->world, entity)
                           : weft_recorder_destroy_entity(r, entity));
        break;
    case 1:
        CHECK_OK(r == NULL ? weft_entity_add(b->world, entity, component)
                           : weft_recorder_add(r, entity, component));
        break;
    case 2:
        CHECK_OK(r == NULL ? weft_entity_remove(b->world, entity, component)
                           : weft_recorder_remove(r, entity, component));
        break;
    case 3:
        if (weft_entity_is_null(parent.entity)) break;
        CHECK_OK(r == NULL ? weft_entity_set(b->world, entity, b->parent, &parent, sizeof parent)
                           : weft_recorder_set(r, entity, b->parent, &parent, sizeof parent));
        break;
    default:
        CHECK_OK(r == NULL ? weft_entity_set(b->world, entity, b->value, &value, sizeof value)
                           : weft_recorder_set(r, entity, b->value, &value, sizeof value));
    }
}

static void change_some(bed *b)
{
    weft_recorder *r = NULL;
    uint32_t way = (uint32_t)rand() % 4, count = way == 2 ? 300 : 10;
    if (way == 3) {
        if (rand() % 3 == 0) CHECK_OK(weft_query_remove(b->world, b->all, b->tag));
        if (rand() % 3 == 0) CHECK_OK(weft_query_add(b->world, b->all, b->value));
        return;
    }
    if (way != 0) CHECK_OK(weft_recorder_create(b->world, &r));
    for (uint32_t i = 0; i < count; i++) {
        weft_archetype archetype = b->archetypes[(uint32_t)rand() % 5];
        if (rand() % 3 != 0)
            change_one(b, some(b), r);
        else if (r != NULL)
            CHECK(weft_recorder_create_entity(r, archetype).version != 0);
        else
            CHECK(weft_entity_create(b->world, archetype).version != 0);
    }
    if (r == NULL) return;
    CHECK_OK(weft_recorder_play(r));
    weft_recorder_destroy(r);
}

/* Cycles of parents are cut, and said. */
static void run(const bed *b)
{
    weft_result result =
        rand() % 2 == 0 ? weft_observers_run(b->world) : weft_world_step(b->world, 0.1f);
    if (result != WEFT_CYCLE) CHECK_OK(result);
    if (result == WEFT_CYCLE) CHECK(strstr(weft_world_error(b->world)->text, "rounds") == NULL);
}

static void run_and_compare(bed *b)
{
    memset(b->told, 0, sizeof b->told);
    memset(b->told_count, 0, sizeof b->told_count);
    memcpy(b->before, b->now, sizeof b->before);
    run(b);
    ask_all(b);
    compare(b);
}

static void bed_open(bed *b, uint32_t workers)
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &b->world));
    b->value = weft_component_create_plain(b->world, "value", 4, 4, 0);
    b->tag = weft_component_create_plain(b->world, "tag", 0, 1, 0);
    b->other = weft_component_create_plain(b->world, "other", 64, 64, 0);
    b->parent = weft_component_parent(b->world);
    b->all = weft_query_create(b->world, &(weft_query_desc){0});
    b->archetypes[0] = weft_archetype_create(b->world, NULL, 0);
    b->archetypes[1] = WEFT_ARCHETYPE(b->world, b->value);
    b->archetypes[2] = WEFT_ARCHETYPE(b->world, b->value, b->tag);
    b->archetypes[3] = WEFT_ARCHETYPE(b->world, b->other, b->value);
    b->archetypes[4] = WEFT_ARCHETYPE(b->world, b->value, b->parent);
}

static void observe(bed *b, const char *name, uint32_t on,
                    void (*run_fn)(const weft_observation *, void *), bool is_parallel)
{
    const weft_observer_desc desc = {.name = name,
                                     .on = on,
                                     .component = b->value,
                                     .run = run_fn,
                                     .user = b,
                                     .is_parallel = is_parallel};
    CHECK(weft_observer_create(b->world, &desc).id != 0);
}

/* The hash of the world at the end. */
static uint64_t random_changes(bed *b, void (*check)(bed *b))
{
    weft_snapshot *snapshot = NULL;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (int i = rand() % 3; i >= 0; i--) change_some(b);
        if (round % 16 == 5) CHECK_OK(weft_snapshot_take(b->world, NULL, &snapshot));
        if (round % 16 == 11) {
            CHECK_OK(weft_snapshot_restore(b->world, snapshot));
            weft_snapshot_destroy(snapshot);
            snapshot = NULL;
        }
        check(b);
        if (weft_query_count(b->world, b->all) > INDICES / 2)
            CHECK_OK(weft_query_destroy_entities(b->world, b->all));
    }
    weft_snapshot_destroy(snapshot);
    CHECK_OK(weft_world_validate(b->world));
    uint64_t hash = weft_world_hash(b->world, WEFT_HASH_LAYOUT);
    weft_world_destroy(b->world);
    free(b);
    return hash;
}

Test(observer_random, what_is_told_is_what_differs)
{
    static const char *const names[EVENTS] = {"", "a", "b", "c", "d", "e"};
    bed *b = calloc(1, sizeof *b);
    bed_open(b, 1);
    for (uint32_t e = WEFT_ON_ADDED; e <= WEFT_ON_DESTROYED; e++)
        observe(b, names[e], e, listen, false);
    srand(176);
    random_changes(b, run_and_compare);
}

/* ---- with observers that record ---- */

static void apply(const weft_observation *o, void *user)
{
    bed *b = user;
    for (uint32_t i = 0; i < o->count; i++) {
        place *p = &b->shadow[weft_entity_index(o->entities[i])];
        bool is_known = p->has && weft_entity_equal(p->entity, o->entities[i]);
        CHECK(o->event == WEFT_ON_ADDED ? !p->has : is_known);
        if (o->values != NULL) CHECK_U64(((const uint32_t *)o->values)[i], p->value);
        p->has = o->event != WEFT_ON_REMOVED;
        p->entity = o->entities[i];
        if (p->has)
            p->value = *(const uint32_t *)weft_entity_read(o->world, o->entities[i], o->component);
    }
}

/* Changes that end: entities move, die, are created without the component, and count up to 2. */
static void react(const weft_observation *o, void *user)
{
    const bed *b = user;
    for (uint32_t i = 0; i < o->count; i++) {
        weft_entity entity = o->entities[i];
        if (o->event == WEFT_ON_REMOVED) {
            if (weft_entity_is_alive(o->world, entity))
                CHECK_OK(weft_recorder_remove(o->commands, entity, b->other));
            else if (weft_entity_index(entity) % 4 == 0)
                CHECK(weft_recorder_create_entity(o->commands, b->archetypes[0]).version != 0);
            continue;
        }
        uint32_t value = *(const uint32_t *)weft_entity_read(o->world, entity, o->component) + 1;
        uint32_t way = (weft_entity_index(entity) + value) % 8;
        if (way == 0) CHECK_OK(weft_recorder_destroy_entity(o->commands, entity));
        if (way == 1) CHECK_OK(weft_recorder_add(o->commands, entity, b->other));
        if (way == 2) CHECK_OK(weft_recorder_remove(o->commands, entity, b->value));
        if (way > 2 && value < 3)
            CHECK_OK(weft_recorder_set(o->commands, entity, b->value, &value, sizeof value));
    }
}

static void run_and_follow(bed *b)
{
    run(b);
    ask_all(b);
    for (uint32_t i = 0; i < INDICES; i++) {
        const place *told = &b->shadow[i], *now = &b->now[i];
        CHECK(told->has == now->has);
        if (!now->has) continue;
        CHECK(weft_entity_equal(told->entity, now->entity));
        CHECK_U64(told->value, now->value);
    }
}

static uint64_t follow(uint32_t workers)
{
    bed *b = calloc(1, sizeof *b);
    bed_open(b, workers);
    observe(b, "removed", WEFT_ON_REMOVED, apply, false);
    observe(b, "added", WEFT_ON_ADDED, apply, false);
    observe(b, "changed", WEFT_ON_CHANGED, apply, false);
    observe(b, "react to added", WEFT_ON_ADDED, react, true);
    observe(b, "react to changed", WEFT_ON_CHANGED, react, true);
    observe(b, "react to removed", WEFT_ON_REMOVED, react, true);
    srand(1766);
    return random_changes(b, run_and_follow);
}

Test(observer_random, what_is_told_in_rounds_leads_to_the_world_as_it_is)
{
    CHECK_U64(follow(3), follow(1));
}
