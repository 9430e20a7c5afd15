/* SPDX-License-Identifier: MIT */
/* test_observer_random.c: observers against a naive model: random changes by all ways, then all
 * entities are asked what they have, and what differs from the answers before is what observers
 * must have been told, each once. */
#include "check.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <weft/observer.h>
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
    weft_component value, tag, other;
    weft_archetype archetypes[4];
    weft_query all;
    place before[INDICES], now[INDICES];
    place told[EVENTS][INDICES];
    uint32_t told_count[EVENTS];
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
    switch (rand() % 4) {
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
        weft_archetype archetype = b->archetypes[(uint32_t)rand() % 4];
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

static void run_and_compare(bed *b)
{
    memset(b->told, 0, sizeof b->told);
    memset(b->told_count, 0, sizeof b->told_count);
    memcpy(b->before, b->now, sizeof b->before);
    CHECK_OK(rand() % 2 == 0 ? weft_observers_run(b->world) : weft_world_step(b->world, 0.1f));
    ask_all(b);
    compare(b);
}

static void bed_open(bed *b, uint32_t workers)
{
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &b->world));
    b->value = weft_component_create_plain(b->world, "value", 4, 4, 0);
    b->tag = weft_component_create_plain(b->world, "tag", 0, 1, 0);
    b->other = weft_component_create_plain(b->world, "other", 64, 64, 0);
    b->all = weft_query_create(b->world, &(weft_query_desc){0});
    b->archetypes[0] = weft_archetype_create(b->world, NULL, 0);
    b->archetypes[1] = WEFT_ARCHETYPE(b->world, b->value);
    b->archetypes[2] = WEFT_ARCHETYPE(b->world, b->value, b->tag);
    b->archetypes[3] = WEFT_ARCHETYPE(b->world, b->other, b->value);
    static const char *const names[EVENTS] = {"", "a", "b", "c", "d", "e"};
    for (uint32_t e = WEFT_ON_ADDED; e <= WEFT_ON_DESTROYED; e++)
        weft_observer_create(
            b->world,
            &(weft_observer_desc){
                .name = names[e], .on = e, .component = b->value, .run = listen, .user = b});
}

Test(observer_random, what_is_told_is_what_differs)
{
    bed *b = calloc(1, sizeof *b);
    bed_open(b, 1);
    srand(176);
    weft_snapshot *snapshot = NULL;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (int i = rand() % 3; i >= 0; i--) change_some(b);
        if (round % 16 == 5) CHECK_OK(weft_snapshot_take(b->world, NULL, &snapshot));
        if (round % 16 == 11) {
            CHECK_OK(weft_snapshot_restore(b->world, snapshot));
            weft_snapshot_destroy(snapshot);
            snapshot = NULL;
        }
        run_and_compare(b);
        if (weft_query_count(b->world, b->all) > INDICES / 2)
            CHECK_OK(weft_query_destroy_entities(b->world, b->all));
    }
    weft_snapshot_destroy(snapshot);
    CHECK_OK(weft_world_validate(b->world));
    weft_world_destroy(b->world);
    free(b);
}
