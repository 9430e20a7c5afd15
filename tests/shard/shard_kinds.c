/* SPDX-License-Identifier: MIT */
/* shard_kinds.c: what a sharded world may have, kind by kind: run_shard.py runs it on several
 * numbers of ranks and compares what it prints.
 *
 *     shard_kinds [--only NAME] [--workers N]
 *
 * Each case is a small world of its own. Rank 0 prints for each a line: "case NAME: same", the hash
 * and what else must be the same on any number of ranks; or "case NAME: refused", and why: then
 * every number of ranks refuses it, also one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/buffers.h>
#include <weft/observer.h>
#include <weft/relation.h>
#include <weft/shard.h>
#include <weft/type.h>

#include "ranks_leaks.h"

typedef struct Place { /* the key */
    float x, y;
} Place;
typedef struct Link {
    weft_entity to;
} Link;

static const weft_field link_fields[] = {{.name = "to", .kind = WEFT_FIELD_ENTITY}};
static uint32_t workers = 1;

/* What a case has; ended by case_end. */
static struct {
    weft_world *world;
    weft_shard *shard;
    weft_shard_info info;
    weft_component place, link, other; /* other: another kind of link */
    weft_archetype person, baby;
    uint64_t more;      /* what else must be the same */
    char refusal[1024]; /* "": none */
} at;

static void check(weft_result result, const char *what)
{
    if (result == WEFT_OK) return;
    fprintf(stderr, "rank %u: %s: %s: %s; %s\n", weft_ranks_rank(), what, weft_result_name(result),
            weft_ranks_error()->text, weft_world_error(at.world)->text);
    weft_ranks_abort(2);
}

/* ---- worlds ---- */

static weft_component link_create(const char *name, uint32_t flags)
{
    const weft_component_desc desc = {.name = name,
                                      .size = sizeof(Link),
                                      .alignment = _Alignof(Link),
                                      .flags = flags,
                                      .fields = link_fields,
                                      .field_count = 1};
    return weft_component_create(at.world, &desc);
}

static void world_begin(void)
{
    memset(&at, 0, sizeof at);
    check(weft_world_create(&(weft_world_desc){.workers = workers}, &at.world), "a world");
    at.place = WEFT_COMPONENT(at.world, Place);
    at.link = link_create("Link", 0);
}

/* After all components with references. */
static void shard_begin(void)
{
    const weft_shard_desc desc = {
        .key = at.place,
        .halo = {at.place},
        .grid = {.dimensions = 2, .cells = {10, 10}, .most = {100, 100}, .reach = 2},
        .balance_every = UINT32_MAX};
    check(weft_shard_create(at.world, &desc, &at.shard), "weft_shard_create");
    weft_shard_info_get(at.shard, &at.info, sizeof at.info);
    at.person = WEFT_ARCHETYPE(at.world, at.info.gid, at.place, at.link);
    at.baby = WEFT_ARCHETYPE(at.world, at.info.gid, at.place);
}

/* 40 rows all over the box, each on its rank. */
static void people_create(weft_archetype archetype)
{
    for (int i = 0; i < 40; i++) {
        const Place place = {(float)(i * 37 % 100), (float)(i * 61 % 100)};
        if (!weft_shard_is_mine(at.shard, &place)) continue;
        const weft_entity e = weft_entity_create(at.world, archetype);
        check(weft_entity_set(at.world, e, at.place, &place, sizeof place), "a place");
    }
    check(weft_shard_sync(at.shard), "weft_shard_sync");
}

static void case_end(void)
{
    weft_shard_destroy(at.shard);
    check(weft_world_destroy(at.world), "weft_world_destroy");
    at.world = NULL;
}

/* ---- newborns with equal values ---- */

static weft_entity baby_create(weft_recorder *recorder, weft_archetype archetype)
{
    const weft_entity baby = weft_recorder_create_entity(recorder, archetype);
    weft_recorder_set(recorder, baby, at.place, &(Place){55, 55}, sizeof(Place));
    return baby;
}

static void link_to(weft_recorder *recorder, weft_entity from, weft_entity to)
{
    weft_recorder_set(recorder, from, at.link, &(Link){to}, sizeof(Link));
}

/* Runs once over all people: `user` bears. */
typedef void bear_fn(weft_recorder *recorder, weft_entity parent, uint64_t gid);

static void bear(weft_slice *slice, void *user)
{
    const weft_entity *entities = weft_slice_entities(slice);
    const uint64_t *gids = weft_slice_read(slice, 0);
    bear_fn *const *fn = user;
    if (weft_shard_tick(at.shard) != 0) return;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        (*fn)(weft_slice_recorder(slice), entities[i], gids[i]);
}

static void births_of(bear_fn *fn, uint32_t flags)
{
    world_begin();
    at.other = link_create("Other", flags);
    shard_begin();
    people_create((flags & (WEFT_BUFFER | WEFT_SHARED)) == 0
                      ? at.person
                      : WEFT_ARCHETYPE(at.world, at.info.gid, at.place, at.other));
    const weft_system_desc desc = {.name = "bear",
                                   .run = bear,
                                   .user = &fn,
                                   .over.rows.terms = {{at.info.gid}, {at.place}},
                                   .effects = WEFT_RECORDS_ANY};
    if (weft_system_create(at.world, &desc).id == 0) check(WEFT_INVALID_ARGUMENT, "bear");
    for (int step = 0; step < 3; step++) check(weft_shard_step(at.shard, 1), "weft_shard_step");
}

static void births(bear_fn *fn)
{
    births_of(fn, 0);
}

static void bear_twin(weft_recorder *recorder, weft_entity parent, uint64_t gid)
{
    (void)gid;
    link_to(recorder, parent, baby_create(recorder, at.baby));
}

/* Those of low sectors know theirs. */
static void bear_known_twin(weft_recorder *recorder, weft_entity parent, uint64_t gid)
{
    const weft_entity baby = baby_create(recorder, at.baby);
    if (gid >> 40 < 30) link_to(recorder, parent, baby);
}

static void bear_sparse_twin(weft_recorder *recorder, weft_entity parent, uint64_t gid)
{
    const Link link = {baby_create(recorder, at.baby)};
    (void)gid;
    weft_recorder_set(recorder, parent, at.other, &link, sizeof link);
}

/* The first, the second, or the third of three is new. */
static void bear_listed_twin(weft_recorder *recorder, weft_entity parent, uint64_t gid)
{
    const uint64_t place = (gid >> 40) % 3;
    for (uint64_t i = 0; i < 3; i++) {
        const Link link = {i == place ? baby_create(recorder, at.baby) : parent};
        weft_recorder_append(recorder, parent, at.other, &link, 1);
    }
}

static void bear_shared_twin(weft_recorder *recorder, weft_entity parent, uint64_t gid)
{
    const Link link = {baby_create(recorder, at.baby)};
    (void)gid;
    weft_recorder_set_shared(recorder, parent, at.other, &link);
}

/* Nothing old refers to them; each has one that refers to it. */
static void bear_pair(weft_recorder *recorder, weft_entity parent, uint64_t gid)
{
    (void)parent, (void)gid;
    const weft_entity ship = baby_create(recorder, at.baby);
    link_to(recorder, baby_create(recorder, at.person), ship);
}

/* 1 to 9 rows, the last one of which an old row knows; made in an order that does not matter. */
static void bear_chain(weft_recorder *recorder, weft_entity parent, uint64_t gid)
{
    weft_entity rows[9];
    const uint64_t count = 1 + (gid >> 40) % 9;
    for (uint64_t i = 0; i < count; i++) rows[i] = baby_create(recorder, at.person);
    for (uint64_t i = 0; i + 1 < count; i++)
        if (weft_ranks_count() > 1)
            link_to(recorder, rows[i], rows[i + 1]);
        else
            link_to(recorder, rows[i + 1], rows[i]);
    link_to(recorder, parent, rows[weft_ranks_count() > 1 ? 0 : count - 1]);
}

static void bear_rings(weft_recorder *recorder, weft_entity parent, uint64_t gid)
{
    (void)parent;
    const weft_entity first = baby_create(recorder, at.person);
    weft_entity last = first;
    for (uint64_t i = 0; i < 2 + (gid >> 40) % 3; i++) {
        const weft_entity next = baby_create(recorder, at.person);
        link_to(recorder, next, last);
        last = next;
    }
    link_to(recorder, first, last);
}

/* A mother with four equal children, each with a toy: made in an order that does not matter. */
static void bear_family(weft_recorder *recorder, weft_entity parent, uint64_t gid)
{
    (void)parent, (void)gid;
    weft_entity children[4];
    const weft_entity mother = baby_create(recorder, at.baby);
    for (uint32_t i = 0; i < 4; i++) {
        children[i] = baby_create(recorder, at.person);
        link_to(recorder, children[i], mother);
    }
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t child = weft_ranks_count() > 1 ? 3 - i : i;
        link_to(recorder, baby_create(recorder, at.person), children[child]);
    }
}

static void twins(void)
{
    births(bear_twin);
}

static void known_twins(void)
{
    births(bear_known_twin);
}

static void sparse_twins(void)
{
    births_of(bear_sparse_twin, WEFT_SPARSE);
}

static void listed_twins(void)
{
    births_of(bear_listed_twin, WEFT_BUFFER);
}

static void shared_twins(void)
{
    births_of(bear_shared_twin, WEFT_SHARED);
}

static void pairs(void)
{
    births(bear_pair);
}

static void chains(void)
{
    births(bear_chain);
}

static void rings(void)
{
    births(bear_rings);
}

static void families(void)
{
    births(bear_family);
}

/* ---- rows that change ranks ---- */

typedef struct Amount {
    uint64_t of;
} Amount;

static void walk(weft_slice *slice, void *user)
{
    Place *places = WEFT_WRITE_COLUMN(slice, 1, Place);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        places[i].x += 17;
        if (places[i].x > 100) places[i].x -= 100;
    }
}

/* By what is the same on all ranks: the place where it begins. */
static void give_value(weft_entity e, const Place *place, uint32_t flags)
{
    const Amount amount = {(uint64_t)place->x * 100 + (uint64_t)place->y};
    char name[32];
    snprintf(name, sizeof name, "row %u", (unsigned)amount.of);
    check(weft_entity_set_name(at.world, e, name), "a name");
    if ((flags & WEFT_BUFFER) != 0) {
        const weft_buffers buffer = weft_entity_write_buffer(at.world, e, at.other);
        for (uint64_t i = 0; i < amount.of % 20; i++)
            check(weft_buffers_append(&buffer, 0, &amount, 1), "an element");
    } else if ((flags & WEFT_SHARED) != 0) {
        const Amount group = {amount.of % 3};
        check(weft_entity_set_shared(at.world, e, at.other, &group), "a shared value");
    } else {
        check(weft_entity_set(at.world, e, at.other, &amount, sizeof amount), "a value");
    }
    if ((flags & WEFT_ENABLEABLE) != 0 && amount.of % 2 != 0)
        check(weft_entity_enable(at.world, e, at.other, false), "a bit");
}

static uint64_t sum_names(void)
{
    uint64_t sum = 0;
    const weft_query all =
        weft_query_create(at.world, &(weft_query_desc){.terms = {{at.info.gid}, {at.place}}});
    weft_cursor c = weft_query_begin(at.world, all);
    while (weft_query_next(&c)) {
        const uint64_t *gids = weft_slice_read(&c.slice, 0);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++) {
            const char *name = weft_entity_name(at.world, weft_slice_entities(&c.slice)[i]);
            sum += gids[i] * strtoull(name + (name[0] != '\0' ? 4 : 0), NULL, 10);
        }
    }
    weft_query_end(&c);
    check(weft_ranks_sum(&sum, 1), "weft_ranks_sum");
    return sum;
}

static void walkers(uint32_t flags)
{
    world_begin();
    at.other = weft_component_create_plain(at.world, "Amount", sizeof(Amount), 8, flags);
    shard_begin();
    for (int i = 0; i < 40; i++) {
        const Place place = {(float)(i * 37 % 100), (float)(i * 61 % 100)};
        if (!weft_shard_is_mine(at.shard, &place)) continue;
        const weft_entity e = weft_entity_create(
            at.world, (flags & WEFT_SPARSE) != 0
                          ? at.baby
                          : WEFT_ARCHETYPE(at.world, at.info.gid, at.place, at.other));
        check(weft_entity_set(at.world, e, at.place, &place, sizeof place), "a place");
        give_value(e, &place, flags);
    }
    check(weft_shard_sync(at.shard), "weft_shard_sync");
    const weft_system_desc desc = {
        .name = "walk", .run = walk, .over.rows.terms = {{at.info.gid}, {at.place, WEFT_WRITE}}};
    if (weft_system_create(at.world, &desc).id == 0) check(WEFT_INVALID_ARGUMENT, "walk");
    for (int step = 0; step < 4; step++) check(weft_shard_step(at.shard, 1), "weft_shard_step");
    at.more = sum_names();
}

static void plain_walkers(void)
{
    walkers(0);
}

static void enableable_walkers(void)
{
    walkers(WEFT_ENABLEABLE);
}

static void buffer_walkers(void)
{
    walkers(WEFT_BUFFER);
}

static void shared_walkers(void)
{
    walkers(WEFT_SHARED);
}

static void sparse_walkers(void)
{
    walkers(WEFT_SPARSE);
}

/* A system that skips what did not change, and gives the same when it runs again. */
static void double_x(weft_slice *slice, void *user)
{
    const Place *places = WEFT_READ_COLUMN(slice, 1, Place);
    Amount *amounts = WEFT_WRITE_COLUMN(slice, 2, Amount);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        amounts[i].of = (uint64_t)(2 * places[i].x);
}

static void skipping(void)
{
    plain_walkers();
    const weft_system_desc desc = {
        .name = "double",
        .run = double_x,
        .over.rows.terms = {{at.info.gid}, {at.place}, {at.other, WEFT_WRITE}},
        .after = {"walk"},
        .skips_unchanged = true};
    if (weft_system_create(at.world, &desc).id == 0) check(WEFT_INVALID_ARGUMENT, "double");
    for (int step = 0; step < 4; step++) check(weft_shard_step(at.shard, 1), "weft_shard_step");
}

/* ---- systems that see ghosts ---- */

typedef struct Seen {
    uint32_t rows, moment;
} Seen;

enum { WORKERS_MOST = 64 };
static uint64_t seen[WORKERS_MOST]; /* by the rows of this rank, by worker */

static uint32_t rows_near(const weft_slice *slice)
{
    const uint32_t *near;
    uint32_t rows = 0;
    const uint32_t count =
        weft_shard_near(at.shard, weft_shard_slice_sector(at.shard, slice), &near);
    for (uint32_t i = 0; i < count; i++) {
        weft_shard_rows of;
        if (weft_shard_rows_get(at.shard, near[i], &of)) rows += of.count;
    }
    return rows;
}

static void look_only(weft_slice *slice, void *user)
{
    (void)user;
    seen[weft_slice_worker(slice)] += (uint64_t)rows_near(slice) * weft_slice_count(slice);
}

/* Reads what a command of another system may have set before, or not. */
static void look_and_note(weft_slice *slice, void *user)
{
    const Seen *moments = weft_slice_read(slice, 1);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        seen[weft_slice_worker(slice)] += (uint64_t)rows_near(slice) * (moments[i].moment + 1);
}

static void set_moment(weft_slice *slice, void *user)
{
    const weft_entity *entities = weft_slice_entities(slice);
    (void)user;
    const Seen now = {.moment = (uint32_t)weft_shard_tick(at.shard) + 1};
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        weft_recorder_set(weft_slice_recorder(slice), entities[i], at.other, &now, sizeof now);
}

static void run_steps(int steps)
{
    memset(seen, 0, sizeof seen);
    for (int step = 0; step < steps; step++) {
        check(weft_shard_step(at.shard, 1), "weft_shard_step");
        uint64_t now = 0;
        for (uint32_t i = 0; i < WORKERS_MOST; i++) now += seen[i];
        check(weft_ranks_sum(&now, 1), "weft_ranks_sum");
        at.more = at.more * 1000003 + now;
    }
}

static void only_reads(void)
{
    world_begin();
    shard_begin();
    people_create(at.baby);
    const weft_system_desc desc = {
        .name = "look", .run = look_only, .over.rows.terms = {{at.info.gid}, {at.place}}};
    check(weft_shard_system_create(at.shard, &desc), "look");
    run_steps(3);
}

static void commands_beside(void)
{
    world_begin();
    at.other = WEFT_COMPONENT(at.world, Seen);
    shard_begin();
    people_create(WEFT_ARCHETYPE(at.world, at.info.gid, at.place, at.other));
    const weft_system_desc look = {
        .name = "look", .run = look_and_note, .over.rows.terms = {{at.info.gid}, {at.other}}};
    const weft_system_desc set = {.name = "set",
                                  .run = set_moment,
                                  .over.rows.terms = {{at.info.gid}},
                                  .effects = WEFT_RECORDS_ANY};
    check(weft_shard_system_create(at.shard, &look), "look");
    if (weft_system_create(at.world, &set).id == 0) check(WEFT_INVALID_ARGUMENT, "set");
    run_steps(3);
}

/* ---- deaths of targets ----
 *
 * Each of the people has a child far away, and that one a child at home: each refers to the one
 * above it. Then the people die. */

typedef struct Census {
    uint64_t rows, refer, lead; /* rows; whose link is not null; whose link leads to one alive */
} Census;

static Census census[WORKERS_MOST];

static void count_links(weft_slice *slice, void *user)
{
    const Link *links = WEFT_READ_COLUMN(slice, 1, Link);
    (void)user;
    Census *count = &census[weft_slice_worker(slice)];
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        count->rows++;
        count->refer += links[i].to.version != 0;
    }
}

static void beget(weft_slice *slice, void *user)
{
    const weft_entity *entities = weft_slice_entities(slice);
    const Place *places = WEFT_READ_COLUMN(slice, 1, Place);
    const uint64_t *generations = weft_slice_read(slice, 2);
    weft_recorder *recorder = weft_slice_recorder(slice);
    const uint64_t tick = weft_shard_tick(at.shard);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        if (tick < 2 && generations[i] == tick) {
            const float x = places[i].x < 50 ? places[i].x + 50 : places[i].x - 50;
            const weft_entity child = weft_recorder_create_entity(recorder, at.person);
            const Amount next = {tick + 1};
            weft_recorder_set(recorder, child, at.place, &(Place){x, places[i].y}, sizeof(Place));
            weft_recorder_set(recorder, child, at.other, &next, sizeof next);
            link_to(recorder, child, entities[i]);
        }
        if (tick == 4 && generations[i] == 0) weft_recorder_destroy_entity(recorder, entities[i]);
    }
}

/* What lives of each link after a step, by look-up. */
static uint64_t leading(void)
{
    uint64_t sum = 0;
    const weft_query all =
        weft_query_create(at.world, &(weft_query_desc){.terms = {{at.info.gid}, {at.link}}});
    weft_cursor c = weft_query_begin(at.world, all);
    while (weft_query_next(&c)) {
        const Link *links = weft_slice_read(&c.slice, 1);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++)
            sum += weft_entity_is_alive(at.world, links[i].to);
    }
    weft_query_end(&c);
    (void)weft_query_destroy(at.world, all);
    return sum;
}

/* A chain of three, two ends of which are on one rank; `on_death` -1: no relation. */
static void families_die(int on_death)
{
    world_begin();
    at.other = weft_component_create_plain(at.world, "Amount", sizeof(Amount), 8, 0);
    const weft_relation_desc relation = {.component = at.link,
                                         .on_target_death = (weft_target_death)on_death};
    if (on_death >= 0) check(weft_relation_declare(at.world, &relation), "weft_relation_declare");
    shard_begin();
    at.person = WEFT_ARCHETYPE(at.world, at.info.gid, at.place, at.link, at.other);
    people_create(at.person);
    const weft_system_desc first = {.name = "beget",
                                    .run = beget,
                                    .over.rows.terms = {{at.info.gid}, {at.place}, {at.other}},
                                    .effects = WEFT_RECORDS_ANY};
    const weft_system_desc second = {.name = "count",
                                     .run = count_links,
                                     .over.rows.terms = {{at.info.gid}, {at.link}},
                                     .after = {"beget"}};
    if (weft_system_create(at.world, &first).id == 0) check(WEFT_INVALID_ARGUMENT, "beget");
    if (weft_system_create(at.world, &second).id == 0) check(WEFT_INVALID_ARGUMENT, "count");
    for (int step = 0; step < 7; step++) {
        memset(census, 0, sizeof census);
        check(weft_shard_step(at.shard, 1), "weft_shard_step");
        uint64_t now[3] = {0, 0, leading()};
        for (uint32_t i = 0; i < WORKERS_MOST; i++)
            now[0] += census[i].rows, now[1] += census[i].refer;
        check(weft_ranks_sum(now, 3), "weft_ranks_sum");
        for (int i = 0; i < 3; i++) at.more = at.more * 1000003 + now[i];
    }
}

static void plain_links(void)
{
    families_die(-1);
}

static void clearing_links(void)
{
    families_die(WEFT_ON_TARGET_CLEAR);
}

static void destroying_links(void)
{
    families_die(WEFT_ON_TARGET_DESTROY);
}

static void keeping_links(void)
{
    families_die(WEFT_ON_TARGET_KEEP);
}

/* ---- observers ---- */

static uint64_t told[8]; /* by event: entities, and their values */

static void tell_of(const weft_observation *o, void *user)
{
    const Amount *values = o->values;
    uint64_t *sum = user;
    for (uint32_t i = 0; i < o->count; i++) {
        const Amount *now = o->event == WEFT_ON_ADDED || o->event == WEFT_ON_CREATED
                                ? weft_entity_read(o->world, o->entities[i], at.other)
                                : NULL;
        *sum += 1000 + (values != NULL ? values[i].of : now != NULL ? now->of : 0);
    }
}

static void tell_any(const weft_observation *o, void *user)
{
    uint64_t *sum = user;
    *sum += o->count;
}

/* Drawn by gid and step: some get another value, some die, some bear one far away. */
static void live(weft_slice *slice, void *user)
{
    const weft_entity *entities = weft_slice_entities(slice);
    const uint64_t *gids = weft_slice_read(slice, 0);
    const uint64_t tick = weft_shard_tick(at.shard);
    weft_recorder *recorder = weft_slice_recorder(slice);
    const bool has_links = user != NULL;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        const uint64_t number = (gids[i] + tick) * UINT64_C(0x9E3779B97F4A7C15) >> 40;
        const Amount amount = {number % 7 + tick};
        if (number % 3 == 0)
            weft_recorder_set(recorder, entities[i], at.other, &amount, sizeof amount);
        if (number % 11 == 0) weft_recorder_destroy_entity(recorder, entities[i]);
        if (number % 4 != 0) continue;
        const weft_entity baby = baby_create(recorder, has_links ? at.person : at.baby);
        weft_recorder_set(recorder, baby, at.other, &amount, sizeof amount);
        if (has_links) link_to(recorder, baby, entities[i]);
    }
}

static void observe(const char *name, uint32_t event, weft_component component)
{
    const weft_observer_desc desc = {.name = name,
                                     .on = event,
                                     .component = component,
                                     .run = component.id != 0 ? tell_of : tell_any,
                                     .user = &told[event + (component.id == 0 ? 2 : 0)]};
    if (weft_observer_create(at.world, &desc).id == 0) check(WEFT_INVALID_ARGUMENT, name);
}

static void observed(uint32_t on_death)
{
    memset(told, 0, sizeof told);
    world_begin();
    if (on_death == UINT32_MAX) check(weft_world_destroy(at.world), "weft_world_destroy");
    if (on_death == UINT32_MAX)
        check(weft_world_create(&(weft_world_desc){.workers = workers}, &at.world), "a world");
    if (on_death == UINT32_MAX) at.place = WEFT_COMPONENT(at.world, Place);
    at.other = weft_component_create_plain(at.world, "Amount", sizeof(Amount), 8, 0);
    const weft_relation_desc relation = {.component = at.link,
                                         .on_target_death = (weft_target_death)on_death};
    const bool has_links = on_death != UINT32_MAX;
    if (has_links) check(weft_relation_declare(at.world, &relation), "weft_relation_declare");
    const weft_shard_desc desc = {
        .key = at.place,
        .halo = {at.place, at.other},
        .grid = {.dimensions = 2, .cells = {10, 10}, .most = {100, 100}, .reach = 2},
        .balance_every = 3,
        .balance_above = 1.01};
    check(weft_shard_create(at.world, &desc, &at.shard), "weft_shard_create");
    weft_shard_info_get(at.shard, &at.info, sizeof at.info);
    at.baby = WEFT_ARCHETYPE(at.world, at.info.gid, at.place, at.other);
    if (has_links) at.person = WEFT_ARCHETYPE(at.world, at.info.gid, at.place, at.other, at.link);
    observe("added", WEFT_ON_ADDED, at.other);
    observe("removed", WEFT_ON_REMOVED, at.other);
    observe("changed", WEFT_ON_CHANGED, at.other);
    observe("created", WEFT_ON_CREATED, at.other);
    observe("destroyed", WEFT_ON_DESTROYED, at.other);
    observe("any created", WEFT_ON_CREATED, (weft_component){0});
    observe("any destroyed", WEFT_ON_DESTROYED, (weft_component){0});
    people_create(has_links ? at.person : at.baby);
    const weft_system_desc go = {
        .name = "walk", .run = walk, .over.rows.terms = {{at.info.gid}, {at.place, WEFT_WRITE}}};
    const weft_system_desc be = {.name = "live",
                                 .run = live,
                                 .user = has_links ? &at : NULL,
                                 .over.rows.terms = {{at.info.gid}},
                                 .effects = WEFT_RECORDS_ANY};
    const weft_system_desc look = {
        .name = "look", .run = look_only, .over.rows.terms = {{at.info.gid}, {at.other}}};
    if (weft_system_create(at.world, &go).id == 0) check(WEFT_INVALID_ARGUMENT, "walk");
    if (weft_system_create(at.world, &be).id == 0) check(WEFT_INVALID_ARGUMENT, "live");
    check(weft_shard_system_create(at.shard, &look), "look");
    for (int step = 0; step < 6; step++) check(weft_shard_step(at.shard, 1), "weft_shard_step");
    uint64_t sums[8];
    memcpy(sums, told, sizeof sums);
    check(weft_ranks_sum(sums, 8), "weft_ranks_sum");
    for (uint32_t i = 0; i < 8; i++) at.more = at.more * 1000003 + sums[i];
}

static void observed_rows(void)
{
    observed(UINT32_MAX);
}

static void observed_links(void)
{
    observed(WEFT_ON_TARGET_CLEAR);
}

static void observed_deaths(void)
{
    observed(WEFT_ON_TARGET_DESTROY);
}

/* ---- what is refused ---- */

static void refused(void)
{
    snprintf(at.refusal, sizeof at.refusal, "%s", weft_ranks_error()->text);
}

/* A row with the component. */
static void refused_on_rows(weft_component component)
{
    if (component.id == 0) check(weft_world_error(at.world)->code, "a component");
    shard_begin();
    const weft_entity e =
        weft_entity_create(at.world, WEFT_ARCHETYPE(at.world, at.info.gid, at.place, component));
    if (e.version == 0) check(WEFT_OUT_OF_MEMORY, "a row");
    if (weft_shard_sync(at.shard) != WEFT_OK) refused();
}

static void parents(void)
{
    world_begin();
    refused_on_rows(weft_component_parent(at.world));
}

static void instances(void)
{
    world_begin();
    refused_on_rows(weft_component_instance_of(at.world));
}

static void acyclic_links(void)
{
    world_begin();
    const weft_relation_desc relation = {.component = at.link, .is_acyclic = true};
    check(weft_relation_declare(at.world, &relation), "weft_relation_declare");
    refused_on_rows(at.link);
}

static void linked_groups(void)
{
    world_begin();
    refused_on_rows(weft_component_find(at.world, "LinkedGroup"));
}

static void chunk_values(void)
{
    world_begin();
    refused_on_rows(weft_component_create_plain(at.world, "Amount", sizeof(Amount), 8, WEFT_CHUNK));
}

static void cleanups(void)
{
    world_begin();
    refused_on_rows(
        weft_component_create_plain(at.world, "Amount", sizeof(Amount), 8, WEFT_CLEANUP));
}

static void destruct(void *values, uint32_t count, void *user)
{
    (void)values, (void)count, (void)user;
}

static void owned_memory(void)
{
    world_begin();
    const weft_component_desc desc = {
        .name = "Owned", .size = sizeof(Amount), .alignment = 8, .hooks = {.destruct = destruct}};
    refused_on_rows(weft_component_create(at.world, &desc));
}

static void blobs(void)
{
    static const weft_field field = {.name = "of", .kind = WEFT_FIELD_BLOB};
    world_begin();
    const weft_component_desc desc = {.name = "Mesh",
                                      .size = sizeof(weft_blob_ref),
                                      .alignment = 8,
                                      .fields = &field,
                                      .field_count = 1};
    refused_on_rows(weft_component_create(at.world, &desc));
}

/* Of a row, and of a stub: a list of this rank alone would be wrong. */
static void sources(void)
{
    families_die(WEFT_ON_TARGET_CLEAR);
    const weft_query all =
        weft_query_create(at.world, &(weft_query_desc){.terms = {{at.info.gid}, {at.link}}});
    weft_cursor c = weft_query_begin(at.world, all);
    uint32_t found = 0;
    while (weft_query_next(&c)) {
        const Link *links = weft_slice_read(&c.slice, 1);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++) {
            uint32_t count;
            if (!weft_entity_is_alive(at.world, links[i].to)) continue;
            if (weft_relation_sources(at.world, at.link, links[i].to, &count) != NULL) found++;
            snprintf(at.refusal, sizeof at.refusal, "%s", weft_world_error(at.world)->text);
        }
    }
    weft_query_end(&c);
    if (found != 0) check(WEFT_INVALID_ARGUMENT, "sources");
}

/* On rows that stay where they are. */
static void later_parents(void)
{
    world_begin();
    const weft_component parent = weft_component_parent(at.world);
    shard_begin();
    people_create(at.baby);
    const weft_query all =
        weft_query_create(at.world, &(weft_query_desc){.terms = {{at.info.gid}, {at.place}}});
    check(weft_query_add(at.world, all, parent), "weft_query_add");
    if (weft_shard_step(at.shard, 1) != WEFT_OK) refused();
}

static void between_halves(void)
{
    world_begin();
    shard_begin();
    people_create(at.baby);
    const weft_system_desc look = {
        .name = "look", .run = look_only, .over.rows.terms = {{at.info.gid}, {at.place}}};
    const weft_system_desc push = {.name = "push",
                                   .run = look_only,
                                   .over.rows.terms = {{at.info.gid}},
                                   .after = {"look"},
                                   .before = {"look.border"},
                                   .effects = WEFT_RECORDS_ANY};
    check(weft_shard_system_create(at.shard, &look), "look");
    if (weft_system_create(at.world, &push).id == 0) check(WEFT_INVALID_ARGUMENT, "push");
    if (weft_shard_step(at.shard, 1) != WEFT_OK) refused();
}

/* ---- what is kept ---- */

/* A shard that keeps a component. */
static void kept_begin(weft_component component)
{
    const weft_shard_desc desc = {.key = at.place,
                                  .grid = {.dimensions = 2, .cells = {10, 10}, .most = {100, 100}},
                                  .kept = {component}};
    if (component.id == 0) check(weft_world_error(at.world)->code, "a component");
    if (weft_shard_create(at.world, &desc, &at.shard) != WEFT_OK) refused();
}

static weft_result kept_save(void)
{
    char path[4096];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/kept", folder != NULL ? folder : "/tmp");
    return weft_shard_save(at.shard, path);
}

static void kept_links(void)
{
    world_begin();
    kept_begin(link_create("Camera", WEFT_RESOURCE));
}

static void kept_buffers(void)
{
    world_begin();
    kept_begin(weft_component_create_plain(at.world, "Amount", sizeof(Amount), 8,
                                           WEFT_RESOURCE | WEFT_BUFFER));
}

static void kept_sparse(void)
{
    world_begin();
    kept_begin(weft_component_create_plain(at.world, "Amount", sizeof(Amount), 8, WEFT_SPARSE));
}

/* The entity has another component with references. */
static void kept_rows_with_links(void)
{
    world_begin();
    at.other = weft_component_create_plain(at.world, "Amount", sizeof(Amount), 8, 0);
    kept_begin(at.other);
    (void)weft_entity_create(at.world, WEFT_ARCHETYPE(at.world, at.other, at.link));
    if (kept_save() != WEFT_OK) refused();
}

/* The same on all ranks, made in orders of their own. */
static void kept_rows(void)
{
    world_begin();
    at.other = weft_component_create_plain(at.world, "Amount", sizeof(Amount), 8, 0);
    kept_begin(at.other);
    weft_shard_info_get(at.shard, &at.info, sizeof at.info);
    at.baby = WEFT_ARCHETYPE(at.world, at.info.gid, at.place);
    people_create(at.baby);
    for (uint64_t i = 0; i < 9; i++) {
        const Amount amount = {weft_ranks_rank() % 2 != 0 ? i : 8 - i};
        const weft_entity e = weft_entity_create(at.world, WEFT_ARCHETYPE(at.world, at.other));
        check(weft_entity_set(at.world, e, at.other, &amount, sizeof amount), "a kept value");
    }
    check(kept_save(), "weft_shard_save");
}

static uint32_t first_sector(const void *key, void *user)
{
    (void)key, (void)user;
    return 0;
}

static uint32_t next_only(uint32_t sector, uint32_t *out, uint32_t capacity, void *user)
{
    (void)capacity, (void)user;
    out[0] = (sector + 1) % 9;
    return 1;
}

static uint32_t too_many(uint32_t sector, uint32_t *out, uint32_t capacity, void *user)
{
    const uint32_t *count = user;
    (void)sector, (void)capacity, (void)out;
    return *count;
}

/* What creating the shard says. */
static void refused_neighbours(uint32_t (*neighbours)(uint32_t, uint32_t *, uint32_t, void *),
                               uint32_t count)
{
    world_begin();
    const weft_shard_desc desc = {.sector_count = 9,
                                  .sector_of = first_sector,
                                  .neighbours = neighbours,
                                  .user = &count,
                                  .key = at.place};
    if (weft_shard_create(at.world, &desc, &at.shard) != WEFT_OK) refused();
}

static void one_sided(void)
{
    refused_neighbours(next_only, 0);
}

static void beyond_capacity(void)
{
    refused_neighbours(too_many, 500);
}

static void endless(void)
{
    refused_neighbours(too_many, UINT32_MAX);
}

static uint32_t sector_of_x(const void *key, void *user)
{
    const Place *place = key;
    (void)user;
    return (uint32_t)place->x;
}

static uint32_t none_near(uint32_t sector, uint32_t *out, uint32_t capacity, void *user)
{
    (void)sector, (void)out, (void)capacity, (void)user;
    return 0;
}

/* What the sync says of a row on each rank. */
static void beyond_sectors(void)
{
    world_begin();
    const weft_shard_desc desc = {
        .sector_count = 9, .sector_of = sector_of_x, .neighbours = none_near, .key = at.place};
    check(weft_shard_create(at.world, &desc, &at.shard), "weft_shard_create");
    weft_shard_info_get(at.shard, &at.info, sizeof at.info);
    const weft_entity row =
        weft_entity_create(at.world, WEFT_ARCHETYPE(at.world, at.info.gid, at.place));
    check(weft_entity_set(at.world, row, at.place, &(Place){9, 0}, sizeof(Place)), "a place");
    if (weft_shard_is_mine(at.shard, &(Place){9, 0})) check(WEFT_INVALID_ARGUMENT, "is_mine");
    if (weft_shard_sync(at.shard) != WEFT_OK) refused();
}

/* ---- all of them ---- */

static const struct {
    const char *name;
    void (*run)(void);
    bool is_refused;
} cases[] = {
    {"newborns of equal values, each referred to by one row", twins},
    {"the same, some not referred to", known_twins},
    {"the same, by SPARSE components", sparse_twins},
    {"the same, by BUFFER components", listed_twins},
    {"the same, by SHARED components", shared_twins},
    {"newborns of equal values that refer to newborns", pairs},
    {"chains of newborns of equal values", chains},
    {"rings of newborns of equal values", rings},
    {"newborns of equal values with equal newborns", families},
    {"rows with names and plain values that change ranks", plain_walkers},
    {"the same, with enable bits", enableable_walkers},
    {"the same, with BUFFER components", buffer_walkers},
    {"the same, with SHARED components", shared_walkers},
    {"the same, with SPARSE components", sparse_walkers},
    {"a system that skips what did not change, and gives the same again", skipping},
    {"a system that reads ghosts, where nothing writes them", only_reads},
    {"a system that reads ghosts, beside one with commands", commands_beside},
    {"references to rows that die", plain_links},
    {"relations that are cleared when their target dies", clearing_links},
    {"relations that are destroyed with their target", destroying_links},
    {"relations that are kept when their target dies", keeping_links},
    {"observers of all events, where rows and sectors change ranks", observed_rows},
    {"the same, with ENTITY fields", observed_links},
    {"the same, with relations that are destroyed with their target", observed_deaths},
    {"private entities that checkpoints keep, the same on all ranks", kept_rows},
    {"Parent", parents, true},
    {"acyclic relations, and those by depth", acyclic_links, true},
    {"InstanceOf", instances, true},
    {"weft_relation_sources of a sharded entity", sources, true},
    {"LinkedGroup", linked_groups, true},
    {"CHUNK values", chunk_values, true},
    {"CLEANUP components", cleanups, true},
    {"hooks that own memory", owned_memory, true},
    {"BLOB fields", blobs, true},
    {"Parent, of rows that are there", later_parents, true},
    {"a system with commands between the halves of another", between_halves, true},
    {"a kept resource with references", kept_links, true},
    {"a kept BUFFER resource", kept_buffers, true},
    {"kept private entities with a SPARSE mark", kept_sparse, true},
    {"references of kept private entities", kept_rows_with_links, true},
    {"neighbours that are not symmetric", one_sided, true},
    {"more neighbours than there is room for", beyond_capacity, true},
    {"neighbours without end", endless, true},
    {"a key that sector_of gives no sector", beyond_sectors, true},
};

static void tell(const char *name)
{
    uint64_t hash[2] = {0, 0}, rows = 0;
    if (at.refusal[0] == '\0') {
        check(weft_shard_hash(at.shard, hash), "weft_shard_hash");
        check(weft_world_validate(at.world), "weft_world_validate");
        weft_shard_stats stats;
        weft_shard_stats_get(at.shard, &stats, sizeof stats);
        rows = stats.rows;
        check(weft_ranks_sum(&rows, 1), "weft_ranks_sum");
    }
    if (weft_ranks_rank() != 0) return;
    if (at.refusal[0] != '\0')
        printf("case %s: refused: %s\n", name, at.refusal);
    else
        printf("case %s: same, hash %016" PRIx64 "%016" PRIx64 ", rows %" PRIu64
               ", more %016" PRIx64 "\n",
               name, hash[0], hash[1], rows, at.more);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--only") == 0) only = argv[i + 1];
        if (strcmp(argv[i], "--workers") == 0) workers = (uint32_t)atoi(argv[i + 1]);
    }
    check(start_ranks(&argc, &argv), "weft_ranks_start");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (only != NULL && strstr(cases[i].name, only) == NULL) continue;
        cases[i].run();
        if ((at.refusal[0] != '\0') != cases[i].is_refused) {
            fprintf(stderr, "case %s: %s\n", cases[i].name,
                    at.refusal[0] != '\0' ? at.refusal : "it was not refused");
            weft_ranks_abort(3);
        }
        tell(cases[i].name);
        case_end();
    }
    stop_ranks();
    return 0;
}
