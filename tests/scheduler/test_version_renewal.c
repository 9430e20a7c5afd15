/* SPDX-License-Identifier: MIT */
/* test_version_renewal.c: change versions do not end: a clock that jumps over many ends of 32 bits,
 * beside a model that counts in 64: systems that run now and then, filters, the order of chunks,
 * SPARSE values, observers, relations, snapshots. */
#include "random.h"
#include "version_renewal.h"
#include "world_state.h"

#include <weft/observer.h>
#include <weft/snapshot.h>
#include <weft/weft.h>

#include "chunk_state.h"
#include "plain.h"
#include "world_view.h"

#include <stdio.h>
#include <string.h>

#define ROWS 1500u
#define SYSTEMS 6u
#define FILTERS 4u
#define KEPT 3u
#define CHILDREN 40u

/* When things were written and seen; a value, which snapshots keep. */
typedef struct times {
    uint64_t slice[ROWS]; /* [row]: of its slice */
    uint64_t order, sparse;
    uint64_t seen[SYSTEMS];
    uint64_t order_seen;
    uint32_t parent[CHILDREN]; /* row */
} times;

typedef struct stage {
    weft_world *world;
    weft_component a, b, c, parent;
    weft_entity rows[ROWS], children[CHILDREN];
    weft_system systems[SYSTEMS];
    weft_query filters[FILTERS], order, sparse;
    uint64_t since[FILTERS], order_since, sparse_since;
    bool met[SYSTEMS][ROWS];
    bool runs[SYSTEMS];
    uint32_t told, changed;
    uint64_t now;
    times times;
    struct {
        weft_snapshot *snapshot;
        times times;
        uint64_t hash;
    } kept[KEPT];
} stage;

/* Of one system. */
typedef struct eye {
    stage *stage;
    uint32_t number;
} eye;
static eye eyes[SYSTEMS];

static uint32_t number_of(const stage *s, weft_entity entity)
{
    return entity.index - s->rows[0].index;
}

static void see(weft_slice *slice, void *user)
{
    const eye *e = user;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        e->stage->met[e->number][number_of(e->stage, weft_slice_entities(slice)[i])] = true;
}

static void tell(const weft_observation *observation, void *user)
{
    ((stage *)user)->told += observation->count;
}

static void begin(stage *s, uint32_t workers)
{
    memset(s, 0, sizeof *s);
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &s->world));
    s->a = weft_component_create_plain(s->world, "a", 4, 4, 0);
    s->b = weft_component_create_plain(s->world, "b", 4, 4, WEFT_SPARSE);
    s->c = weft_component_create_plain(s->world, "c", 4, 4, 0);
    s->parent = weft_component_parent(s->world);
    CHECK_OK(weft_entity_create_many(s->world, WEFT_ARCHETYPE(s->world, s->a), ROWS, s->rows));
    for (uint32_t i = 0; i < 5; i++) CHECK_OK(weft_entity_add(s->world, s->rows[i * 100], s->b));
    CHECK_OK(weft_entity_create_many(s->world, WEFT_ARCHETYPE(s->world, s->parent), CHILDREN,
                                     s->children));
    CHECK(weft_entity_create(s->world, WEFT_ARCHETYPE(s->world, s->c)).version != 0);
    for (uint32_t i = 0; i < SYSTEMS; i++) {
        static const char *const names[SYSTEMS] = {"0", "1", "2", "3", "4", "5"};
        eyes[i] = (eye){s, i};
        s->systems[i] =
            weft_system_create(s->world, &(weft_system_desc){.name = names[i],
                                                             .run = see,
                                                             .user = &eyes[i],
                                                             .over.rows.terms = {{s->a}},
                                                             .skips_unchanged = true});
        CHECK(s->systems[i].id != 0);
    }
    CHECK(weft_observer_create(
              s->world,
              &(weft_observer_desc){
                  .name = "tell", .on = WEFT_ON_CHANGED, .component = s->a, .run = tell, .user = s})
              .id != 0);
    for (uint32_t i = 0; i < FILTERS; i++)
        s->filters[i] = weft_query_create(s->world, &(weft_query_desc){.terms = {{s->a}}});
    s->order = weft_query_create(s->world, &(weft_query_desc){.terms = {{s->c}}});
    s->sparse = weft_query_create(s->world, &(weft_query_desc){.terms = {{s->b}}});
    s->now = 1;
    for (uint32_t i = 0; i < ROWS; i++) s->times.slice[i] = s->now;
    s->times.order = s->times.sparse = s->now;
    for (uint32_t i = 0; i < CHILDREN; i++) s->times.parent[i] = UINT32_MAX;
}

/* About as many versions as that pass, not all in one call: none takes that many. */
static void jump(const stage *s, uint32_t versions)
{
    for (uint32_t i = 0; i < 16; i++) {
        weft__front(s->world)->version += versions / 16;
        (void)weft_world_advance_change_version(s->world);
    }
}

static uint32_t shift_of(const stage *s, uint32_t number, weft__chunk **chunk, uint32_t *row)
{
    *chunk = weft__entity_row(s->world, s->rows[number], row);
    return (*chunk)->layout->slice_shift;
}

static void write_row(stage *s, uint32_t number)
{
    weft__chunk *chunk, *other;
    uint32_t row, at, shift = shift_of(s, number, &chunk, &row);
    *(uint32_t *)weft_entity_write(s->world, s->rows[number], s->a) += 1;
    s->now++;
    for (uint32_t i = 0; i < ROWS; i++) {
        (void)shift_of(s, i, &other, &at);
        if (other == chunk && at >> shift == row >> shift) s->times.slice[i] = s->now;
    }
    s->changed++;
}

static void filter_set(stage *s, uint32_t i)
{
    uint32_t since = weft_world_advance_change_version(s->world);
    CHECK_OK(weft_query_filter_changed(s->world, s->filters[i], s->a, since));
    s->since[i] = s->now;
}

static void filters_set(stage *s)
{
    for (uint32_t i = 0; i < FILTERS; i++) filter_set(s, i);
    uint32_t since = weft_world_advance_change_version(s->world);
    CHECK_OK(weft_query_filter_order(s->world, s->order, since));
    CHECK_OK(weft_query_filter_changed(s->world, s->sparse, s->b, since));
    s->order_since = s->sparse_since = s->now;
}

static void filters_check(const stage *s)
{
    for (uint32_t i = 0; i < FILTERS; i++) {
        uint64_t expected = 0;
        for (uint32_t k = 0; k < ROWS; k++) expected += s->times.slice[k] > s->since[i];
        CHECK_U64(weft_query_count(s->world, s->filters[i]), expected);
    }
    CHECK(weft_query_is_empty(s->world, s->order) == (s->times.order <= s->order_since));
    CHECK(weft_query_is_empty(s->world, s->sparse) == (s->times.sparse <= s->sparse_since));
}

/* A step in which a drawn part of the systems runs. */
static void step(stage *s, test_random *random)
{
    for (uint32_t i = 0; i < SYSTEMS; i++) {
        s->runs[i] = test_random_below(random, 1 + 2 * i * i) == 0; /* the first one always */
        CHECK_OK(weft_system_enable(s->world, s->systems[i], s->runs[i]));
    }
    memset(s->met, 0, sizeof s->met);
    s->told = 0;
    CHECK_OK(weft_world_step(s->world, 1));
    for (uint32_t i = 0; i < SYSTEMS; i++) {
        for (uint32_t k = 0; k < ROWS; k++)
            CHECK(s->met[i][k] == (s->runs[i] && s->times.slice[k] > s->times.seen[i]));
        if (s->runs[i]) s->times.seen[i] = s->now;
    }
    s->now++;
}

static void children_check(const stage *s)
{
    for (uint32_t i = 0; i < CHILDREN; i++) {
        weft_entity parent = weft_relation_target(s->world, s->children[i], s->parent);
        if (s->times.parent[i] == UINT32_MAX)
            CHECK(weft_entity_is_null(parent));
        else
            CHECK(weft_entity_equal(parent, s->rows[s->times.parent[i]]));
    }
}

static uint64_t hash_of(const stage *s)
{
    return weft_world_hash(s->world, WEFT_HASH_CONTENT);
}

static void snapshot(stage *s, test_random *random)
{
    uint32_t at = (uint32_t)test_random_below(random, KEPT);
    const weft_snapshot *previous = s->kept[(at + 1) % KEPT].snapshot;
    if (s->kept[at].snapshot != NULL && test_random_below(random, 2) == 0) {
        CHECK_OK(weft_snapshot_restore(s->world, s->kept[at].snapshot));
        CHECK_U64(hash_of(s), s->kept[at].hash);
        s->times = s->kept[at].times;
        filters_set(s);
        step(s, random); /* what observers are told of a restore is not asked here */
        s->changed = 0;
        return;
    }
    weft_snapshot_destroy(s->kept[at].snapshot);
    CHECK_OK(weft_snapshot_take(s->world, previous, &s->kept[at].snapshot));
    s->kept[at].times = s->times;
    s->kept[at].hash = hash_of(s);
}

static void act(stage *s, test_random *random)
{
    uint32_t number = (uint32_t)test_random_below(random, ROWS);
    uint32_t child = (uint32_t)test_random_below(random, CHILDREN);
    switch (test_random_below(random, 12)) {
    case 0:
        write_row(s, number);
        break;
    case 1:
        filter_set(s, (uint32_t)test_random_below(random, FILTERS));
        break;
    case 2:
        CHECK(weft_entity_create(s->world, WEFT_ARCHETYPE(s->world, s->c)).version != 0);
        s->times.order = ++s->now;
        break;
    case 3:
        *(uint32_t *)weft_entity_write(s->world, s->rows[200], s->b) += 1;
        s->times.sparse = ++s->now;
        break;
    case 4:
        CHECK_OK(weft_relation_set(s->world, s->children[child], s->parent, s->rows[number]));
        s->times.parent[child] = number;
        break;
    case 5:
        snapshot(s, random);
        break;
    case 6:
        filters_set(s);
        break;
    case 7:
        break;
    default:
        jump(s, WEFT__VERSION_RENEWAL / (uint32_t)(1 + test_random_below(random, 4)) - 5);
    }
}

static void run(uint32_t workers, uint64_t seed)
{
    static stage s;
    test_random random = test_random_init(seed);
    begin(&s, workers);
    filters_set(&s);
    for (uint32_t round = 0; round < 300; round++) {
        for (uint64_t acts = 1 + test_random_below(&random, 8); acts > 0; acts--) {
            act(&s, &random);
            filters_check(&s);
        }
        uint32_t changed = s.changed;
        s.changed = 0;
        step(&s, &random);
        if (changed <= 1 && s.told <= 1) CHECK_U64(s.told, changed);
        children_check(&s);
        if (round % 16 == 0) CHECK_OK(weft_world_validate(s.world));
    }
    CHECK(weft__front(s.world)->renewals > 20);
    for (uint32_t i = 0; i < KEPT; i++) weft_snapshot_destroy(s.kept[i].snapshot);
    CHECK_OK(weft_world_destroy(s.world));
}

PLAIN_TEST(what_changed_is_known_over_many_ends_of_versions)
{
    for (uint64_t seed = 1; seed <= 12; seed++) run(1 + seed % 2, seed);
}

PLAIN_TEST(a_renewal_keeps_what_is_newer_than_what)
{
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    weft_component a = weft_component_create_plain(world, "a", 4, 4, 0);
    weft_entity e = weft_entity_create(world, WEFT_ARCHETYPE(world, a));
    weft_query query = weft_query_create(world, &(weft_query_desc){.terms = {{a}}});
    for (uint32_t near = 0; near < 4; near++) { /* also where 0, which is no version, comes */
        uint32_t since = weft_world_advance_change_version(world);
        CHECK_OK(weft_query_filter_changed(world, query, a, since));
        weft__front(world)->version = WEFT__VERSION_KEPT + near;
        weft__front(world)->renewed = 1;
        weft__versions_renew(world);
        CHECK_U64(weft_query_count(world, query), 0);
        CHECK(weft_entity_change_version(world, e, a) != 0);
        weft_entity_write(world, e, a);
        for (uint32_t hop = 0; hop < 12; hop++) {
            weft__front(world)->version += WEFT__VERSION_RENEWAL;
            weft_world_advance_change_version(world);
            CHECK_U64(weft_query_count(world, query), 1);
        }
    }
    CHECK_OK(weft_world_destroy(world));
}

/* A world in which nothing has looked, with one entity of `a`. */
typedef struct spot {
    weft_world *world;
    weft_component a;
    weft_entity entity;
} spot;

static spot spot_begin(uint32_t workers)
{
    spot s;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers}, &s.world));
    weft__front(s.world)->version = weft__front(s.world)->renewed = 1000;
    s.a = weft_component_create_plain(s.world, "a", 4, 4, 0);
    s.entity = weft_entity_create(s.world, WEFT_ARCHETYPE(s.world, s.a));
    (void)weft_world_advance_change_version(s.world);
    return s;
}

static void wait_for(weft_world *world, uint32_t version)
{
    weft__world_front *front = weft__front(world);
    while (version - front->version > WEFT__VERSION_RENEWAL / 16) {
        front->version += WEFT__VERSION_RENEWAL / 16;
        (void)weft_world_advance_change_version(world);
    }
    front->version = version;
}

static void long_wait(weft_world *world)
{
    wait_for(world, weft__front(world)->version + 2 * WEFT__VERSION_KEPT - 1);
}

PLAIN_TEST(a_relation_finds_what_changed_long_before_it_looked)
{
    for (uint32_t workers = 1; workers <= 2; workers++) {
        spot s = spot_begin(workers);
        weft_component parent = weft_component_parent(s.world);
        weft_entity parents[2] = {s.entity,
                                  weft_entity_create(s.world, WEFT_ARCHETYPE(s.world, s.a))};
        weft_entity child = weft_entity_create(s.world, WEFT_ARCHETYPE(s.world, parent));
        for (uint32_t round = 0; round < 8; round++) {
            uint32_t count[2];
            CHECK_OK(weft_relation_set(s.world, child, parent, parents[round % 2]));
            if (round % 3 != 0) long_wait(s.world);
            CHECK_OK(weft_relation_settle(s.world));
            for (uint32_t i = 0; i < 2; i++)
                (void)weft_relation_sources(s.world, parent, parents[i], &count[i]);
            CHECK_U64(count[round % 2], 1);
            CHECK_U64(count[1 - round % 2], 0);
            CHECK_OK(weft_world_validate(s.world));
            long_wait(s.world); /* what was seen is old, too */
        }
        CHECK_OK(weft_world_destroy(s.world));
    }
}

/* The stamps of the entity's chunk get the numbers that they have now, after many versions. */
static void numbers_repeat(const spot *s)
{
    uint32_t row, version = weft_entity_change_version(s->world, s->entity, s->a);
    uint32_t order = weft__entity_row(s->world, s->entity, &row)->order_version;
    long_wait(s->world);
    long_wait(s->world);
    wait_for(s->world, order + WEFT__VERSION_KEPT);
    weft__versions_renew(s->world);
    CHECK_U64(weft__entity_row(s->world, s->entity, &row)->order_version, order);
    weft__front(s->world)->version = weft__front(s->world)->renewed = version;
}

PLAIN_TEST(an_observer_is_told_where_the_number_of_the_last_change_comes_again)
{
    stage told = {0};
    spot s = spot_begin(1);
    weft_observer_create(
        s.world,
        &(weft_observer_desc){
            .name = "tell", .on = WEFT_ON_CHANGED, .component = s.a, .run = tell, .user = &told});
    CHECK_OK(weft_world_step(s.world, 1));
    CHECK_OK(weft_world_step(s.world, 1));
    for (uint32_t round = 1; round < 8; round++) {
        told.told = 0;
        if (round % 2 == 0) numbers_repeat(&s);
        *(uint32_t *)weft_entity_write(s.world, s.entity, s.a) = round;
        if (round % 4 >= 2) long_wait(s.world);
        CHECK_OK(weft_world_step(s.world, 1));
        CHECK_U64(told.told, 1);
        CHECK_OK(weft_world_step(s.world, 1));
        CHECK_U64(told.told, 1);
    }
    CHECK_OK(weft_world_destroy(s.world));
}

PLAIN_TEST(a_snapshot_knows_what_changed_where_numbers_of_versions_come_again)
{
    spot s = spot_begin(1);
    weft_snapshot *snapshot, *later;
    *(uint32_t *)weft_entity_write(s.world, s.entity, s.a) = 7;
    uint32_t version = weft_entity_change_version(s.world, s.entity, s.a);
    CHECK_OK(weft_snapshot_take(s.world, NULL, &snapshot));
    wait_for(s.world, version);
    *(uint32_t *)weft_entity_write(s.world, s.entity, s.a) = 8;
    CHECK_U64(weft_entity_change_version(s.world, s.entity, s.a), version);
    CHECK_OK(weft_snapshot_take(s.world, snapshot, &later));
    CHECK_OK(weft_snapshot_restore(s.world, snapshot));
    CHECK_U64(*(const uint32_t *)weft_entity_read(s.world, s.entity, s.a), 7);
    CHECK_OK(weft_snapshot_restore(s.world, later));
    CHECK_U64(*(const uint32_t *)weft_entity_read(s.world, s.entity, s.a), 8);
    weft_snapshot_destroy(snapshot);
    weft_snapshot_destroy(later);
    CHECK_OK(weft_world_destroy(s.world));
}

PLAIN_TEST(a_creation_counts_where_the_number_of_the_last_one_comes_again)
{
    spot s = spot_begin(1);
    weft_query query = weft_query_create(s.world, &(weft_query_desc){.terms = {{s.a}}});
    weft_archetype archetype = WEFT_ARCHETYPE(s.world, s.a);
    for (uint32_t i = 0; i < 3; i++) weft_entity_create(s.world, archetype);
    uint32_t version = weft_entity_change_version(s.world, s.entity, s.a);
    wait_for(s.world, version - 1);
    uint32_t since = weft_world_advance_change_version(s.world);
    CHECK_OK(weft_query_filter_changed(s.world, query, s.a, since));
    CHECK_U64(weft_query_count(s.world, query), 0);
    weft_entity_create(s.world, archetype);
    CHECK_U64(weft_query_count(s.world, query), 5);
    CHECK_OK(weft_world_destroy(s.world));
}

PLAIN_TEST(archetypes_that_ended_are_passed_over)
{
    spot s = spot_begin(1);
    for (uint32_t i = 0; i < 200; i++) { /* an archetype each, left by its entity */
        char name[16];
        snprintf(name, sizeof name, "tag %u", i);
        weft_component tag = weft_component_create_plain(s.world, name, 0, 1, 0);
        CHECK_OK(weft_entity_add(s.world, s.entity, tag));
        CHECK_OK(weft_entity_remove(s.world, s.entity, tag));
    }
    (void)weft_world_compact(s.world, UINT64_MAX);
    long_wait(s.world);
    CHECK(weft__front(s.world)->renewals != 0);
    CHECK_OK(weft_world_destroy(s.world));
}
